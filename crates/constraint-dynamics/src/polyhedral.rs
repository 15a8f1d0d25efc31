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
//! Friction against turning is the same once more: directions across, and two about the normal, with the coefficients of rolling and torsion and the
//! λ of its contact.
//!
//! A row with bounds l and h, one of which may be infinite, or both:
//!
//! ```text
//! l = 0, h = ∞:   u ≥ 0 ⊥ x ≥ 0,  p = x
//! both finite:    u + ν ≥ 0 ⊥ x ≥ 0,   h − l − x ≥ 0 ⊥ ν ≥ 0,   p = l + x
//! equality:       u ≥ 0 ⊥ x ≥ 0,   −u ≥ 0 ⊥ y ≥ 0,   p = x − y
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
//! [`RowError::Budget`] with the last impulses where sweeps have not settled, as between bodies that are squeezed. Without blocks
//! [`RowError::TooLarge`], and [`RowError::NoSolution`] for a ray.
//!
//! # Tested by
//!
//! `cones_conform`, `facets_err_as_they_should`, `blocks_settle_on_what_one_problem_gives`, `slip_variable_is_the_largest_slip`

use crate::{contradiction, gauss_seidel::SURE};
use sim_math::{
    glam::{DVec2, DVec3},
    ops,
};
use sim_traits::{Law, LcpError, LcpProblem, LcpSolver, RowError, RowProblem, RowReport, RowSolver, Turning};
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

/// An unknown that is an impulse of at least 0 beyond `low` along a direction.
#[derive(Debug, Clone, Copy)]
struct Unit {
    /// Which block of those that are solved.
    block: usize,
    direction: DVec3,
    low: f64,
    /// The most that it may be, if there is one.
    span: Option<f64>,
}

impl Unit {
    fn along(block: usize, direction: DVec3) -> Self {
        Self { block, direction, low: 0.0, span: None }
    }
}

/// The direction of the slip of a velocity.
fn aligned(b: DVec3) -> DVec2 {
    let slip = b.truncate();
    if slip.length() > 1e-12 * b.length() && slip != DVec2::ZERO { slip / slip.length() } else { DVec2::X }
}

fn sides_of(params: &PolyhedralParams) -> usize {
    params.directions.max(4).next_multiple_of(2) as usize
}

/// Appends m directions that are closed under negation to the last bit.
fn polygon(first: DVec2, m: usize, axes: &mut Vec<DVec2>) {
    let (start, half) = (axes.len(), m / 2);
    for k in 0..half {
        let (s, c) = ops::sin_cos(2.0 * PI * k as f64 / m as f64);
        axes.push(first * c + DVec2::new(-first.y, first.x) * s);
    }
    for k in 0..half {
        let opposite = -axes[start + k];
        axes.push(opposite);
    }
}

/// Unknowns that push in directions of one plane or line, and what bounds their sum.
#[derive(Debug, Clone, Copy)]
struct Facets {
    /// First unit, and one beyond the last.
    units: [usize; 2],
    /// Coefficient of friction, rolling or torsion.
    coefficient: f64,
    load: Load,
}

/// The normal impulse by which facets are bounded.
#[derive(Debug, Clone, Copy)]
enum Load {
    /// An unknown.
    Unit(usize),
    /// Of a contact that is not solved for, N·s.
    Given(f64),
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
    units: Vec<Unit>,
    /// Those of contacts first.
    facets: Vec<Facets>,
    /// Where the units of blocks after the contacts start.
    starts: Vec<usize>,
    /// Relative velocities without the impulses of the block, m/s.
    velocity: Vec<DVec3>,
}

impl PolyhedralCone {
    /// With default parameters.
    #[must_use]
    pub fn new(lcp: impl Into<Box<dyn LcpSolver>>) -> Self {
        Self::with(lcp, PolyhedralParams::default())
    }

    /// With parameters.
    #[must_use]
    pub fn with(lcp: impl Into<Box<dyn LcpSolver>>, params: PolyhedralParams) -> Self {
        let (matrix, rhs, z) = (Vec::new(), Vec::new(), Vec::new());
        let (spans, axes, units, velocity) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (starts, facets, lcp) = (Vec::new(), Vec::new(), lcp.into());
        Self { params, lcp, matrix, rhs, z, spans, axes, units, facets, starts, velocity }
    }

    fn sides(&self) -> usize {
        sides_of(&self.params)
    }

    /// Slip variables γ of the last solution, m/s; 0 for contacts without friction.
    pub fn slip_variables(&self) -> impl Iterator<Item = f64> + '_ {
        let mut next = self.units.len();
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

    /// Directions of friction of the contacts of a block, of which there are `contacts`.
    fn choose_directions(&mut self, problem: &RowProblem<'_>, block: &Range<usize>, contacts: usize) {
        self.spans.clear();
        self.axes.clear();
        let m = self.sides();
        let friction = &problem.friction()[block.start.min(problem.friction().len())..];
        for (b, &mu) in self.velocity[..contacts].iter().zip(friction) {
            let start = self.axes.len();
            if mu == 0.0 {
                self.spans.push((start, 0));
                continue;
            }
            polygon(if self.params.align { aligned(*b) } else { DVec2::X }, m, &mut self.axes);
            self.spans.push((start, m));
        }
    }

    /// The unknowns that are impulses: normals, directions of friction, rows with bounds.
    fn choose_units(&mut self, problem: &RowProblem<'_>, block: &Range<usize>, contacts: usize, p: &[DVec3]) {
        self.units.clear();
        self.units.extend((0..contacts).map(|c| Unit::along(c, DVec3::Z)));
        self.facets.clear();
        for (c, &(start, m)) in self.spans.iter().enumerate() {
            let first = self.units.len();
            self.units
                .extend(self.axes[start..start + m].iter().map(|axis| Unit::along(c, axis.extend(0.0))));
            if m > 0 {
                let coefficient = problem.friction()[block.start + c];
                let units = [first, self.units.len()];
                self.facets.push(Facets { units, coefficient, load: Load::Unit(c) });
            }
        }
        self.starts.clear();
        for c in contacts..block.len() {
            self.starts.push(self.units.len());
            let bounds = match problem.law(block.start + c) {
                Law::Bounded(bounds) => bounds,
                Law::Turning(turning) => {
                    let contact = turning.contact as usize;
                    let load = match contact.checked_sub(block.start).filter(|&unit| unit < contacts) {
                        Some(unit) => Load::Unit(unit),
                        None => Load::Given(p[contact].z.max(0.0)),
                    };
                    self.choose_turning(&turning, c, load);
                    continue;
                }
                _ => continue,
            };
            for row in (0..3).filter(|&row| bounds.is_used(row)) {
                let (low, high, axis) = (bounds.low[row], bounds.high[row], DVec3::AXES[row]);
                match (low.is_finite(), high.is_finite()) {
                    (true, true) => {
                        self.units.push(Unit { low, span: Some(high - low), ..Unit::along(c, axis) });
                    }
                    (true, false) => self.units.push(Unit { low, ..Unit::along(c, axis) }),
                    (false, true) => self.units.push(Unit { low: -high, ..Unit::along(c, -axis) }),
                    (false, false) => self.units.extend([Unit::along(c, axis), Unit::along(c, -axis)]),
                }
            }
        }
        self.starts.push(self.units.len());
    }

    /// The unknowns of friction against turning of a block.
    fn choose_turning(&mut self, turning: &Turning, c: usize, load: Load) {
        let mut add = |units: &mut Vec<Unit>, axes: &mut dyn Iterator<Item = DVec3>, coefficient: f64| {
            if coefficient > 0.0 {
                let first = units.len();
                units.extend(axes.map(|axis| Unit::along(c, axis)));
                self.facets.push(Facets { units: [first, units.len()], coefficient, load });
            }
        };
        let start = self.axes.len();
        let first = if self.params.align { aligned(self.velocity[c]) } else { DVec2::X };
        polygon(first, sides_of(&self.params), &mut self.axes);
        let across = &mut self.axes[start..].iter().map(|axis| axis.extend(0.0));
        add(&mut self.units, across, turning.rolling);
        add(&mut self.units, &mut [DVec3::Z, DVec3::NEG_Z].into_iter(), turning.torsional);
        self.axes.truncate(start);
    }

    fn build(&mut self, problem: &RowProblem<'_>, block: &Range<usize>, contacts: usize) -> usize {
        let Self { units, spans, facets, starts, matrix, rhs, velocity, .. } = self;
        // Numbers of the units of a block.
        let of = |d: usize| match d.checked_sub(contacts) {
            None => (d..d + 1).chain(contacts + spans[d].0..contacts + spans[d].0 + spans[d].1),
            Some(k) => (starts[k]..starts[k + 1]).chain(0..0),
        };
        let bounded = units.iter().filter(|unit| unit.span.is_some()).count();
        let n = units.len() + facets.len() + bounded;
        matrix.clear();
        matrix.resize(n * n, 0.0);
        rhs.clear();
        rhs.resize(n, 0.0);
        for (i, a) in units.iter().enumerate() {
            rhs[i] = a.direction.dot(velocity[a.block]);
            for (d, w) in problem.row(block.start + a.block).filter(|(d, _)| block.contains(d)) {
                let d = d - block.start;
                for j in of(d) {
                    let b = &units[j];
                    let response = a.direction.dot(*w * b.direction);
                    matrix[i * n + j] = response;
                    // What the lower bound of the other has done already.
                    if b.low != 0.0 {
                        rhs[i] += response * b.low;
                    }
                }
            }
        }
        let mut slip = units.len();
        for &Facets { units: [first, end], coefficient, load } in &*facets {
            match load {
                Load::Unit(normal) => matrix[slip * n + normal] = coefficient,
                Load::Given(normal) => rhs[slip] = coefficient * normal,
            }
            for k in first..end {
                matrix[k * n + slip] = 1.0;
                matrix[slip * n + k] = -1.0;
            }
            slip += 1;
        }
        for (i, unit) in units.iter().enumerate() {
            if let Some(span) = unit.span {
                matrix[i * n + slip] = 1.0;
                matrix[slip * n + i] = -1.0;
                rhs[slip] = span;
                slip += 1;
            }
        }
        n
    }
}

impl RowSolver for PolyhedralCone {
    fn kind(&self) -> &'static str {
        "lemke"
    }

    fn cone_error(&self) -> f64 {
        1.0 - ops::cos(PI / self.sides() as f64)
    }

    fn solve(&mut self, problem: &RowProblem<'_>, p: &mut [DVec3]) -> Result<RowReport, RowError> {
        RowError::check_guess(problem, p)?;
        let (blocks, limit) = (problem.len(), self.params.max_contacts);
        let sweeps = self.params.block > 0;
        if blocks <= limit {
            let whole = self.solve_block(problem, 0..blocks, p);
            if !matches!(whole, Err(RowError::NoSolution { .. })) || !sweeps {
                return Ok(RowReport { iterations: whole?, certificate: problem.certificate(p) });
            }
            if let Some(error) = contradiction::find(problem, SURE * problem.scale(), 0, p) {
                return Err(error);
            }
        } else if !sweeps {
            return Err(RowError::TooLarge { blocks, limit });
        }
        self.sweep(problem, p)
    }
}

impl PolyhedralCone {
    /// Solves for the contacts of a block, given the impulses of all others; returns iterations. After an error nothing has changed.
    fn solve_block(
        &mut self,
        problem: &RowProblem<'_>,
        block: Range<usize>,
        p: &mut [DVec3],
    ) -> Result<u32, RowError> {
        self.velocity.clear();
        for c in block.clone() {
            let others = problem.row(c).filter(|(d, _)| !block.contains(d));
            self.velocity.push(others.fold(problem.velocity()[c], |u, (d, w)| u + *w * p[d]));
        }
        let contacts = problem.friction().len().clamp(block.start, block.end) - block.start;
        self.choose_directions(problem, &block, contacts);
        self.choose_units(problem, &block, contacts, p);
        let n = self.build(problem, &block, contacts);
        self.z.clear();
        self.z.resize(n, 0.0);
        let bad = |e: LcpError| match e {
            LcpError::Ray { iterations } => RowError::NoSolution { iterations },
            LcpError::Budget { iterations, .. } => RowError::NoSolution { iterations },
            _ => RowError::NoSolution { iterations: 0 },
        };
        let lcp = LcpProblem::new(&self.matrix, &self.rhs).map_err(bad)?;
        let report = self.lcp.solve(&lcp, &mut self.z).map_err(bad)?;
        let p = &mut p[block];
        p.fill(DVec3::ZERO);
        for (unit, z) in self.units.iter().zip(&self.z) {
            let most = unit.span.unwrap_or(f64::INFINITY);
            p[unit.block] += unit.direction * (unit.low + z.max(0.0).min(most));
        }
        Ok(report.iterations)
    }

    /// Solves block after block until nothing changes any more.
    fn sweep(&mut self, problem: &RowProblem<'_>, p: &mut [DVec3]) -> Result<RowReport, RowError> {
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
                    Err(RowError::NoSolution { iterations: pivots }) => {
                        // One contact at a time; one that has no answer keeps what it has.
                        iterations += pivots;
                        for c in block.clone() {
                            match self.solve_block(problem, c..c + 1, p) {
                                Ok(pivots) => iterations += pivots,
                                Err(RowError::NoSolution { .. }) => change = f64::INFINITY,
                                Err(error) => return Err(error),
                            }
                        }
                    }
                    Err(error) => return Err(error),
                }
                for (k, c) in block.enumerate() {
                    change = change.max((p[c] - before[k]).length() * problem.size(c));
                    if sweep >= FULL_SWEEPS {
                        // Blocks that answer each other with other sides of their cones go on for ever: halfway they meet.
                        p[c] = 0.5 * (p[c] + before[k]);
                    }
                }
            }
            if change <= tolerance {
                return Ok(RowReport { iterations, certificate: problem.certificate(p) });
            }
        }
        Err(RowError::Budget { iterations, residual: problem.certificate(p).residual })
    }
}
