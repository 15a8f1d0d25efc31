//! Problems with bounds on z, fixed or proportional to another unknown (friction by boxes).
//!
//! # Reference
//! Baraff (1994) and the boxed problems of game engines (bounds, friction index); Cottle, Pang, Stone (1992),
//! 1.5, for the reduction to a pure problem.
//! # Symbols
//! lo, hi = bounds; μ and f = factor and index of a bound −μ `z_f` ≤ `z_i` ≤ μ `z_f`.
//! # Formula
//! ```text
//! lo ≤ z ≤ hi,  w = M z + q:   w_i ≥ 0 at lo, ≤ 0 at hi, = 0 between
//! [lo, ∞):  z = lo + y              (−∞, hi]: z = hi − y, row negated          (−∞, ∞): free unknown
//! [lo, hi]: z = lo + y, w + s ⟂ y, hi − lo − y ⟂ s            friction: z = −μ z_f + y, 2 μ z_f − y ⟂ s
//! ```
//! # Cost
//! A mixed problem with one more unknown for each two-sided bound, solved through its Schur form.
//! # Numerics
//! With fixed bounds and semidefinite M the reduced matrix is semidefinite, so Lemke's method solves it if
//! anything does. With friction it is not; when it ends in a ray, sweeps with clamping take over.
//! # Failure
//! Bad bounds or indices are errors; [`LcpError::Budget`] with the best iterate.
//! # Tested by
//! `boxed_problems_satisfy_their_conditions`, `box_friction_slides_and_sticks_as_in_closed_form`.

use crate::driver::Driver;
use crate::kernels::{dot, grow, max_abs};
use crate::mixed::{MixedLcp, MixedSolver};
use sim_traits::{LcpError, LcpProblem, LcpReport};

/// Bounds of one unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Bound {
    /// lo ≤ z ≤ hi; infinite values mean no bound.
    Fixed {
        /// Lower bound.
        lo: f64,
        /// Upper bound.
        hi: f64,
    },
    /// |z| ≤ factor · z of another unknown, which must have the bounds [0, ∞).
    Friction {
        /// Friction coefficient, not negative.
        factor: f64,
        /// Index of the other unknown.
        normal: u32,
    },
}

impl Bound {
    /// z ≥ 0.
    pub const NON_NEGATIVE: Self = Self::Fixed { lo: 0.0, hi: f64::INFINITY };
    /// Any z: an equation.
    pub const FREE: Self = Self::Fixed { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

    /// The interval at a given z.
    fn interval(&self, z: &[f64]) -> (f64, f64) {
        match *self {
            Self::Fixed { lo, hi } => (lo, hi),
            Self::Friction { factor, normal } => {
                let limit = factor * z[normal as usize].max(0.0);
                (-limit, limit)
            }
        }
    }
}

/// A problem with bounds, borrowed and checked.
#[derive(Debug, Clone, Copy)]
pub struct BoxedLcp<'a> {
    problem: LcpProblem<'a>,
    bounds: &'a [Bound],
}

impl<'a> BoxedLcp<'a> {
    /// From a matrix, a right-hand side and one bound for each unknown.
    ///
    /// # Errors
    /// A number that is not finite (bounds may be infinite, not NaN), lengths that differ, lo > hi, a negative
    /// friction factor, or a friction index whose unknown is not bounded by [0, ∞).
    pub fn new(m: &'a [f64], q: &'a [f64], bounds: &'a [Bound]) -> Result<Self, LcpError> {
        let problem = LcpProblem::new(m, q)?;
        if bounds.len() != q.len() {
            return Err(LcpError::WrongLength { what: "bounds", expected: q.len(), got: bounds.len() });
        }
        for (index, bound) in bounds.iter().enumerate() {
            match *bound {
                Bound::Fixed { lo, hi } => {
                    let fine = lo <= hi && lo < f64::INFINITY && hi > f64::NEG_INFINITY;
                    if !fine {
                        return Err(LcpError::NotAllowed { what: "lower bound", index, value: lo });
                    }
                }
                Bound::Friction { factor, normal } => {
                    if !(factor >= 0.0 && factor.is_finite()) {
                        return Err(LcpError::NotAllowed { what: "friction factor", index, value: factor });
                    }
                    if bounds.get(normal as usize) != Some(&Bound::NON_NEGATIVE) {
                        let value = f64::from(normal);
                        return Err(LcpError::NotAllowed { what: "friction index", index, value });
                    }
                }
            }
        }
        Ok(Self { problem, bounds })
    }

    /// Number of unknowns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bounds.len()
    }

    /// True without unknowns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// max |z − clamp(z − w, lo, hi)| / max(1, |q|∞), with the friction bounds taken at z. NaN counts as infinite.
    #[must_use]
    pub fn residual(&self, z: &[f64]) -> f64 {
        if z.len() != self.len() || z.iter().any(|v| v.is_nan()) {
            return f64::INFINITY;
        }
        let mut worst = 0.0_f64;
        for (i, bound) in self.bounds.iter().enumerate() {
            let w = self.problem.slack(i, z);
            if w.is_nan() {
                return f64::INFINITY;
            }
            let (lo, hi) = bound.interval(z);
            worst = worst.max((z[i] - (z[i] - w).max(lo).min(hi)).abs());
        }
        worst / max_abs(self.problem.q()).max(1.0)
    }
}

/// Solves boxed problems, with its memory.
#[derive(Debug, Clone)]
pub struct BoxedSolver {
    /// An answer is accepted at this residual. Default 1e-10.
    pub tolerance: f64,
    /// Most sweeps when Lemke's method fails. Default 10 000.
    pub max_sweeps: u32,
    driver: Driver,
    mixed: MixedSolver,
    blocks: [Vec<f64>; 6],
    place: Vec<Unknown>,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Default for BoxedSolver {
    fn default() -> Self {
        let driver = Driver::default();
        Self {
            tolerance: 1e-10,
            max_sweeps: 10_000,
            driver,
            mixed: MixedSolver::default(),
            blocks: Default::default(),
            place: Vec::new(),
            x: Vec::new(),
            y: Vec::new(),
        }
    }
}

/// How an unknown of the boxed problem appears in the mixed one: z = offset + sign · (x or y)`[at]`.
#[derive(Debug, Clone, Copy, Default)]
struct Unknown {
    free: bool,
    at: usize,
    sign: f64,
    offset: f64,
    /// Index of the extra unknown of a second bound.
    upper: Option<usize>,
}

impl BoxedSolver {
    /// Finds z within its bounds.
    ///
    /// # Errors
    /// `z` has the wrong length, or nothing was found; then `z` has the best iterate.
    pub fn solve(&mut self, problem: &BoxedLcp<'_>, z: &mut [f64]) -> Result<LcpReport, LcpError> {
        if z.len() != problem.len() {
            return Err(LcpError::WrongLength { what: "z", expected: problem.len(), got: z.len() });
        }
        let (free, bounded) = self.place(problem);
        self.assemble(problem, free, bounded)?;
        let [p, q, r, s, u, v] = &self.blocks;
        let (m, n) = (free, bounded);
        let mixed = MixedLcp::new(&p[..m * m], &q[..m * n], &r[..n * m], &s[..n * n], &u[..m], &v[..n])?;
        grow(&mut self.x, m);
        grow(&mut self.y, n);
        let (x, y) = (&mut self.x[..m], &mut self.y[..n]);
        let outcome = self.mixed.solve_schur(&mixed, &mut self.driver, x, y);
        self.read(problem, z);
        let residual = problem.residual(z);
        if residual <= self.tolerance {
            return Ok(LcpReport { iterations: outcome.map_or(0, |report| report.iterations), residual });
        }
        if let Err(error @ LcpError::Singular { .. }) = outcome {
            return Err(error);
        }
        self.sweep(problem, z)
    }

    /// Gives every unknown its place; returns the sizes of the mixed problem.
    fn place(&mut self, problem: &BoxedLcp<'_>) -> (usize, usize) {
        let (mut free, mut bounded) = (0, 0);
        self.place.clear();
        for bound in problem.bounds {
            let (sign, offset, is_free) = match *bound {
                Bound::Fixed { lo, .. } if lo.is_finite() => (1.0, lo, false),
                Bound::Fixed { hi, .. } if hi.is_finite() => (-1.0, hi, false),
                Bound::Fixed { .. } => (1.0, 0.0, true),
                Bound::Friction { .. } => (1.0, 0.0, false),
            };
            let counter = if is_free { &mut free } else { &mut bounded };
            self.place.push(Unknown { free: is_free, at: *counter, sign, offset, upper: None });
            *counter += 1;
        }
        for (unknown, bound) in self.place.iter_mut().zip(problem.bounds) {
            let two_sided = match bound {
                Bound::Fixed { lo, hi } => lo.is_finite() && hi.is_finite(),
                Bound::Friction { .. } => true,
            };
            if two_sided {
                unknown.upper = Some(bounded);
                bounded += 1;
            }
        }
        (free, bounded)
    }

    /// Fills the six blocks.
    fn assemble(&mut self, problem: &BoxedLcp<'_>, m: usize, n: usize) -> Result<(), LcpError> {
        for (block, len) in self.blocks.iter_mut().zip([m * m, m * n, n * m, n * n, m, n]) {
            grow(block, len);
            block[..len].fill(0.0);
        }
        let [p, q, r, s, u, v] = &mut self.blocks;
        for (i, row) in self.place.iter().enumerate() {
            let mut constant = problem.problem.q()[i];
            let (to_x, to_y, width) = if row.free { (&mut *p, &mut *q, m) } else { (&mut *r, &mut *s, m) };
            let (x_row, y_row) = (&mut to_x[row.at * width..][..m], &mut to_y[row.at * n..][..n]);
            for (j, column) in self.place.iter().enumerate() {
                let entry = row.sign * problem.problem.row(i)[j];
                constant += problem.problem.row(i)[j] * column.offset;
                if column.free {
                    x_row[column.at] += entry;
                } else {
                    y_row[column.at] += entry * column.sign;
                    if let Bound::Friction { factor, normal } = problem.bounds[j] {
                        // z_j = −μ z_f + y_j.
                        y_row[self.place[normal as usize].at] -= factor * entry;
                    }
                }
            }
            let rhs = if row.free { &mut u[row.at] } else { &mut v[row.at] };
            *rhs = row.sign * constant;
            if let Some(upper) = row.upper {
                y_row[upper] += 1.0;
                let slack_row = &mut s[upper * n..][..n];
                slack_row[row.at] -= 1.0;
                match problem.bounds[i] {
                    Bound::Fixed { lo, hi } => v[upper] = hi - lo,
                    Bound::Friction { factor, normal } => {
                        slack_row[self.place[normal as usize].at] += 2.0 * factor;
                    }
                }
            }
        }
        Ok(())
    }

    fn read(&self, problem: &BoxedLcp<'_>, z: &mut [f64]) {
        for (z, unknown) in z.iter_mut().zip(&self.place) {
            let value = if unknown.free { self.x[unknown.at] } else { self.y[unknown.at] };
            *z = unknown.offset + unknown.sign * value;
        }
        for i in 0..z.len() {
            if let Bound::Friction { factor, normal } = problem.bounds[i] {
                z[i] -= factor * z[normal as usize];
            }
        }
        // Rounding may leave the box by a little.
        for i in 0..z.len() {
            let (lo, hi) = problem.bounds[i].interval(z);
            z[i] = z[i].max(lo).min(hi);
        }
    }

    /// Sweeps with clamping, from the iterate in `z`.
    fn sweep(&self, problem: &BoxedLcp<'_>, z: &mut [f64]) -> Result<LcpReport, LcpError> {
        for v in z.iter_mut().filter(|v| !v.is_finite()) {
            *v = 0.0;
        }
        for sweeps in 0..=self.max_sweeps {
            let residual = if sweeps % 8 == 0 { problem.residual(z) } else { f64::INFINITY };
            if residual <= self.tolerance {
                return Ok(LcpReport { iterations: sweeps, residual });
            }
            for (i, bound) in problem.bounds.iter().enumerate() {
                let row = problem.problem.row(i);
                if row[i] > 0.0 {
                    let w = dot(row, z) + problem.problem.q()[i];
                    let (lo, hi) = bound.interval(z);
                    z[i] = (z[i] - w / row[i]).max(lo).min(hi);
                }
            }
        }
        Err(LcpError::Budget { iterations: self.max_sweeps, residual: problem.residual(z) })
    }
}
