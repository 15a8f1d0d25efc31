//! Friction cones with flat sides, as a linear complementarity problem.
//!
//! # Reference
//!
//! Stewart and Trinkle (1996); Anitescu and Potra (1997); Cline (2002), section 2.7.3 (with the sign of the slip row corrected).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `d_k` | m directions across, closed under negation | - |
//! | λ | normal impulse | N·s |
//! | β | impulse along each `d_k` | N·s |
//! | γ | largest slip speed among the directions | m/s |
//!
//! # Formula
//!
//! ```text
//! u_z         ≥ 0 ⊥ λ   ≥ 0
//! d_k·u_t + γ ≥ 0 ⊥ β_k ≥ 0
//! μ λ − Σ β_k ≥ 0 ⊥ γ   ≥ 0        u = W p + b,  p = (Σ β_k d_k, λ)
//! ```
//!
//! # Cost
//!
//! (2 + m) unknowns per contact in one dense problem: cubic at worst. Larger problems, and those whose one problem ends on a ray, are
//! swept block by block, from the guess: each block is such a problem with the impulses of the others given, and the number of sweeps is bounded.
//!
//! # Numerics
//!
//! The polygon is inscribed: friction is at least cos(π/m) of μ times the normal impulse, off by at most π/m in direction. The first direction
//! is that of the slip without impulses, against which friction is then exact.
//!
//! # Failure
//!
//! [`ContactError::Budget`] with the last impulses where sweeps have not settled, as between bodies that are squeezed. Without blocks
//! [`ContactError::TooLarge`], and [`ContactError::NoSolution`] for a ray.
//!
//! # Tested by
//!
//! `cones_conform`, `facets_err_as_they_should`, `blocks_settle_on_what_one_problem_gives`, `slip_variable_is_the_largest_slip`

use sim_math::{
    glam::{DVec2, DVec3},
    ops,
};
use sim_traits::{
    ContactError, ContactProblem, ContactReport, ContactSolver, LcpError, LcpProblem, LcpSolver,
};
use std::{f64::consts::PI, ops::Range};

/// Sweeps before blocks go half the way only. Tuned: see `blocks_settle_on_what_one_problem_gives`.
const FULL_SWEEPS: u32 = 20;

/// Tunables of [`PolyhedralCone`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PolyhedralParams {
    /// Sides of a cone, an even number from 4 on; others are raised to the next. Default 8.
    pub directions: u32,
    /// The first direction is that of the slip without impulses. Default true.
    pub align: bool,
    /// Most contacts in one problem; more are swept by blocks. Default 64.
    pub max_contacts: usize,
    /// Contacts of a block; 0 refuses what is not one problem. Default 4.
    pub block: usize,
    /// Most sweeps over all blocks. Default 100.
    pub max_sweeps: u32,
    /// Sweeps end when no contact changes its velocity by more than this share of the largest that is to be answered. Default 1e-9.
    pub tolerance: f64,
}

impl Default for PolyhedralParams {
    fn default() -> Self {
        Self { directions: 8, align: true, max_contacts: 64, block: 4, max_sweeps: 100, tolerance: 1e-9 }
    }
}

/// Cones with flat sides, solved by any [`LcpSolver`].
#[derive(Debug)]
pub struct PolyhedralCone {
    /// Tunables.
    pub params: PolyhedralParams,
    lcp: Box<dyn LcpSolver>,
    matrix: Vec<f64>,
    rhs: Vec<f64>,
    z: Vec<f64>,
    /// Per contact: first friction unknown, and the directions there.
    spans: Vec<(usize, usize)>,
    axes: Vec<DVec2>,
    /// Relative velocities without the impulses of the block, m/s.
    velocity: Vec<DVec3>,
}

impl PolyhedralCone {
    /// With default parameters.
    #[must_use]
    pub fn new(lcp: Box<dyn LcpSolver>) -> Self {
        Self::with(lcp, PolyhedralParams::default())
    }

    /// With parameters.
    #[must_use]
    pub fn with(lcp: Box<dyn LcpSolver>, params: PolyhedralParams) -> Self {
        let (matrix, rhs, z) = (Vec::new(), Vec::new(), Vec::new());
        Self { params, lcp, matrix, rhs, z, spans: Vec::new(), axes: Vec::new(), velocity: Vec::new() }
    }

    fn sides(&self) -> usize {
        (self.params.directions.max(4).next_multiple_of(2)) as usize
    }

    /// Slip variables γ of the last solution, m/s; 0 for contacts without friction.
    pub fn slip_variables(&self) -> impl Iterator<Item = f64> + '_ {
        let mut next = self.spans.len() + self.axes.len();
        self.spans.iter().map(move |(_, m)| {
            if *m == 0 {
                return 0.0;
            }
            next += 1;
            self.z.get(next - 1).copied().unwrap_or(0.0)
        })
    }

    /// Directions of a contact, contact frame; none without friction.
    #[must_use]
    pub fn directions(&self, contact: usize) -> &[DVec2] {
        let Some(&(start, m)) = self.spans.get(contact) else { return &[] };
        &self.axes[start..start + m]
    }

    fn choose_directions(&mut self, problem: &ContactProblem<'_>, block: &Range<usize>) {
        self.spans.clear();
        self.axes.clear();
        let m = self.sides();
        for (b, &mu) in self.velocity.iter().zip(&problem.friction()[block.clone()]) {
            let start = self.axes.len();
            if mu == 0.0 {
                self.spans.push((start, 0));
                continue;
            }
            let slip = b.truncate();
            let first = if self.params.align && slip.length() > 1e-12 * b.length() && slip != DVec2::ZERO {
                slip / slip.length()
            } else {
                DVec2::X
            };
            let half = m / 2;
            for k in 0..half {
                let (s, c) = ops::sin_cos(2.0 * PI * k as f64 / m as f64);
                self.axes.push(first * c + DVec2::new(-first.y, first.x) * s);
            }
            for k in 0..half {
                // Closed under negation to the last bit.
                let opposite = -self.axes[start + k];
                self.axes.push(opposite);
            }
            self.spans.push((start, m));
        }
    }

    fn build(&mut self, problem: &ContactProblem<'_>, block: &Range<usize>) -> usize {
        let contacts = block.len();
        let friction = self.axes.len();
        let slips = self.spans.iter().filter(|(_, m)| *m > 0).count();
        let n = contacts + friction + slips;
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        self.rhs.clear();
        self.rhs.resize(n, 0.0);
        let mut slip = contacts + friction;
        for c in 0..contacts {
            let (start, m) = self.spans[c];
            let b = self.velocity[c];
            self.rhs[c] = b.z;
            for k in start..start + m {
                self.rhs[contacts + k] = self.axes[k].dot(b.truncate());
            }
            for (d, w) in problem.row(block.start + c).filter(|(d, _)| block.contains(d)) {
                let d = d - block.start;
                let (other, others) = self.spans[d];
                self.matrix[c * n + d] = w.z_axis.z;
                for j in other..other + others {
                    let image = *w * self.axes[j].extend(0.0);
                    self.matrix[c * n + contacts + j] = image.z;
                    for k in start..start + m {
                        self.matrix[(contacts + k) * n + contacts + j] = self.axes[k].dot(image.truncate());
                    }
                }
                for k in start..start + m {
                    self.matrix[(contacts + k) * n + d] = self.axes[k].dot(w.z_axis.truncate());
                }
            }
            if m > 0 {
                self.matrix[slip * n + c] = problem.friction()[block.start + c];
                for k in start..start + m {
                    self.matrix[(contacts + k) * n + slip] = 1.0;
                    self.matrix[slip * n + contacts + k] = -1.0;
                }
                slip += 1;
            }
        }
        n
    }
}

impl ContactSolver for PolyhedralCone {
    fn kind(&self) -> &'static str {
        "lemke"
    }

    fn cone_error(&self) -> f64 {
        1.0 - ops::cos(PI / self.sides() as f64)
    }

    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        p: &mut [DVec3],
    ) -> Result<ContactReport, ContactError> {
        ContactError::check_guess(problem, p)?;
        let (contacts, limit) = (problem.len(), self.params.max_contacts);
        let blocks = self.params.block > 0;
        if contacts <= limit {
            let whole = self.solve_block(problem, 0..contacts, p);
            if !matches!(whole, Err(ContactError::NoSolution { .. })) || !blocks {
                return Ok(ContactReport { iterations: whole?, certificate: problem.certificate(p) });
            }
        } else if !blocks {
            return Err(ContactError::TooLarge { contacts, limit });
        }
        self.sweep(problem, p)
    }
}

impl PolyhedralCone {
    /// Solves for the contacts of a block, given the impulses of all others; returns iterations. After an error nothing has changed.
    fn solve_block(
        &mut self,
        problem: &ContactProblem<'_>,
        block: Range<usize>,
        p: &mut [DVec3],
    ) -> Result<u32, ContactError> {
        self.velocity.clear();
        for c in block.clone() {
            let others = problem.row(c).filter(|(d, _)| !block.contains(d));
            self.velocity.push(others.fold(problem.velocity()[c], |u, (d, w)| u + *w * p[d]));
        }
        self.choose_directions(problem, &block);
        let n = self.build(problem, &block);
        self.z.clear();
        self.z.resize(n, 0.0);
        let bad = |e: LcpError| match e {
            LcpError::Ray { iterations } => ContactError::NoSolution { iterations },
            LcpError::Budget { iterations, .. } => ContactError::NoSolution { iterations },
            _ => ContactError::NoSolution { iterations: 0 },
        };
        let lcp = LcpProblem::new(&self.matrix, &self.rhs).map_err(bad)?;
        let report = self.lcp.solve(&lcp, &mut self.z).map_err(bad)?;
        let contacts = block.len();
        for (c, p) in p[block].iter_mut().enumerate() {
            let normal = self.z[c].max(0.0);
            let (start, m) = self.spans[c];
            let across = (start..start + m)
                .fold(DVec2::ZERO, |sum, k| sum + self.axes[k] * self.z[contacts + k].max(0.0));
            *p = across.extend(normal);
        }
        Ok(report.iterations)
    }

    /// Solves block after block until nothing changes any more.
    fn sweep(
        &mut self,
        problem: &ContactProblem<'_>,
        p: &mut [DVec3],
    ) -> Result<ContactReport, ContactError> {
        let (n, size) = (problem.len(), self.params.block);
        let tolerance = (self.params.tolerance * problem.scale()).max(problem.accuracy());
        let (mut iterations, mut before) = (0, Vec::with_capacity(size));
        for sweep in 0..self.params.max_sweeps {
            let mut change = 0.0_f64;
            for start in (0..n).step_by(size) {
                let block = start..(start + size).min(n);
                before.clear();
                before.extend_from_slice(&p[block.clone()]);
                match self.solve_block(problem, block.clone(), p) {
                    Ok(pivots) => iterations += pivots,
                    Err(ContactError::NoSolution { iterations: pivots }) => {
                        // One contact at a time; one that has no answer keeps what it has.
                        iterations += pivots;
                        for c in block.clone() {
                            match self.solve_block(problem, c..c + 1, p) {
                                Ok(pivots) => iterations += pivots,
                                Err(ContactError::NoSolution { .. }) => change = f64::INFINITY,
                                Err(error) => return Err(error),
                            }
                        }
                    }
                    Err(error) => return Err(error),
                }
                for (k, c) in block.enumerate() {
                    change = change.max((p[c] - before[k]).length() * problem.diagonal(c).z_axis.z);
                    if sweep >= FULL_SWEEPS {
                        // Blocks that answer each other with other sides of their cones go on for ever: halfway they meet.
                        p[c] = 0.5 * (p[c] + before[k]);
                    }
                }
            }
            if change <= tolerance {
                return Ok(ContactReport { iterations, certificate: problem.certificate(p) });
            }
        }
        Err(ContactError::Budget { iterations, residual: problem.certificate(p).residual })
    }
}
