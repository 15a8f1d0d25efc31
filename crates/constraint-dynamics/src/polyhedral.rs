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
//! (2 + m) unknowns per contact in one dense problem: cubic at worst, so a limit on contacts.
//!
//! # Numerics
//!
//! The polygon is inscribed: friction is at least cos(π/m) of μ times the normal impulse, off by at most π/m in direction. The first direction
//! is that of the slip without impulses, against which friction is then exact.
//!
//! # Failure
//!
//! [`ContactError::TooLarge`], [`ContactError::NoSolution`] for a ray, [`ContactError::Budget`].
//!
//! # Tested by
//!
//! `cones_conform`, `facets_err_as_they_should`, `slip_variable_is_the_largest_slip`

use sim_math::{
    glam::{DVec2, DVec3},
    ops,
};
use sim_traits::{
    ContactError, ContactProblem, ContactReport, ContactSolver, LcpError, LcpProblem, LcpSolver,
};
use std::f64::consts::PI;

/// Tunables of [`PolyhedralCone`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PolyhedralParams {
    /// Sides of a cone, an even number from 4 on; others are raised to the next. Default 8.
    pub directions: u32,
    /// The first direction is that of the slip without impulses. Default true.
    pub align: bool,
    /// Most contacts in one problem. Default 64.
    pub max_contacts: usize,
}

impl Default for PolyhedralParams {
    fn default() -> Self {
        Self { directions: 8, align: true, max_contacts: 64 }
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
        Self { params, lcp, matrix, rhs, z, spans: Vec::new(), axes: Vec::new() }
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

    fn choose_directions(&mut self, problem: &ContactProblem<'_>) {
        self.spans.clear();
        self.axes.clear();
        let m = self.sides();
        for (b, &mu) in problem.velocity().iter().zip(problem.friction()) {
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

    fn build(&mut self, problem: &ContactProblem<'_>) -> usize {
        let contacts = problem.len();
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
            let b = problem.velocity()[c];
            self.rhs[c] = b.z;
            for k in start..start + m {
                self.rhs[contacts + k] = self.axes[k].dot(b.truncate());
            }
            for (d, block) in problem.row(c) {
                let (other, others) = self.spans[d];
                self.matrix[c * n + d] = block.z_axis.z;
                for j in other..other + others {
                    let image = *block * self.axes[j].extend(0.0);
                    self.matrix[c * n + contacts + j] = image.z;
                    for k in start..start + m {
                        self.matrix[(contacts + k) * n + contacts + j] = self.axes[k].dot(image.truncate());
                    }
                }
                for k in start..start + m {
                    self.matrix[(contacts + k) * n + d] = self.axes[k].dot(block.z_axis.truncate());
                }
            }
            if m > 0 {
                self.matrix[slip * n + c] = problem.friction()[c];
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
        if contacts > limit {
            return Err(ContactError::TooLarge { contacts, limit });
        }
        self.choose_directions(problem);
        let n = self.build(problem);
        self.z.clear();
        self.z.resize(n, 0.0);
        let bad = |e: LcpError| match e {
            LcpError::Ray { iterations } => ContactError::NoSolution { iterations },
            LcpError::Budget { iterations, .. } => ContactError::NoSolution { iterations },
            _ => ContactError::NoSolution { iterations: 0 },
        };
        let lcp = LcpProblem::new(&self.matrix, &self.rhs).map_err(bad)?;
        let report = self.lcp.solve(&lcp, &mut self.z).map_err(bad)?;
        for (c, p) in p.iter_mut().enumerate() {
            let normal = self.z[c].max(0.0);
            let (start, m) = self.spans[c];
            let across = (start..start + m)
                .fold(DVec2::ZERO, |sum, k| sum + self.axes[k] * self.z[contacts + k].max(0.0));
            *p = across.extend(normal);
        }
        Ok(ContactReport { iterations: report.iterations, certificate: problem.certificate(p) })
    }
}
