//! Lemke's method: follows a path of almost complementary bases until the artificial variable leaves.
//!
//! # Reference
//! Lemke (1965); Cline, *Rigid Body Simulation with Contact and Constraints* (2002), 2.7.1 and 4.8, with the
//! repaired ratio test; Cottle, Pang, Stone, *The Linear Complementarity Problem* (1992), 4.4.
//! # Symbols
//! | code | paper | meaning |
//! |---|---|---|
//! | `cover` | d | covering vector: w = M z + q + d z₀ |
//! | artificial | z₀ | falls from −min q/d to 0 along the path |
//! | `basis` | B | see the module on the basis |
//! # Formula
//! ```text
//! q ≥ 0: z = 0.   t = argmin q_i/d_i (last of equals), z₀ enters for w_t, then z_t enters:
//!   entering variable grows until a basic one is 0; that one leaves (ratio test); its complement enters next;
//!   z₀ leaves: solved.  nothing blocks: ray.
//! ```
//! # Cost
//! O(n²) a pivot. About n pivots on problems from mechanics, 2ⁿ in the worst case.
//! # Numerics
//! The problem is equilibrated by powers of two and never copied as a whole; the answer is computed afresh from
//! the last basis, refined, and checked against the original numbers.
//! # Failure
//! [`LcpError::Ray`] (then [`LemkeWorkspace::ray`] has the ray; no solution for copositive-plus M),
//! [`LcpError::Budget`] when pivots ran out or the check failed.
//! # Tested by
//! `known_vectors_with_their_pivot_counts`, `lemke_conforms`, `lemke_equals_enumeration`.

use super::TieRule;
use super::ratio_test::{Tie, ratio_test};
use crate::basis::{Basis, Place, Var};
use crate::certificate::Certificate;
use crate::kernels::{grow, max_abs};
use crate::scaling::Scaling;
use sim_traits::{LcpError, LcpProblem, LcpReport, LcpSolver};

/// Tunables of [`lemke`]. Tolerances refer to equilibrated data, where the numbers are near 1.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LemkeParams {
    /// A basic variable blocks only if it falls faster than this times max(1, fastest rate). Default 1e-9.
    /// Raising it avoids pivots on noise and risks overlooking a real one.
    pub pivot_tolerance: f64,
    /// Ratios this close, relative to 1 + θ, count as equal. Default 1e-11. Raising it hands more choices to the
    /// lexicographic rule and lets basic values go a little below 0.
    pub tie_tolerance: f64,
    /// How ties are broken. Default lexicographic.
    pub tie_rule: TieRule,
    /// Let the artificial variable leave whenever it is tied. Default true.
    pub prefer_artificial: bool,
    /// Accept the end of a ray if it happens to solve the problem. Default true.
    pub accept_solved_ray: bool,
    /// Scale rows and columns first. Default true.
    pub equilibrate: bool,
    /// Form the basis inverse anew when its error exceeds this. Default 1e-8.
    pub refactor_error: f64,
    /// Most pivots; 0 means 50 n + 50. Default 0.
    pub max_pivots: u32,
    /// An answer is accepted if [`Certificate::holds`] at this tolerance. Default 1e-10.
    pub tolerance: f64,
}

impl Default for LemkeParams {
    fn default() -> Self {
        Self {
            pivot_tolerance: 1e-9,
            tie_tolerance: 1e-11,
            tie_rule: TieRule::Lexicographic,
            prefer_artificial: true,
            accept_solved_ray: true,
            equilibrate: true,
            refactor_error: 1e-8,
            max_pivots: 0,
            tolerance: 1e-10,
        }
    }
}

/// Where the path starts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Start<'a> {
    /// All w basic, covering vector of ones.
    #[default]
    Cold,
    /// All w basic, this covering vector: n positive numbers.
    Cover(&'a [f64]),
    /// The basis in which exactly the marked z are basic: n marks, say [`LemkeWorkspace::active`] of a similar
    /// problem. The positive part of a solution is such a set unless the solution is degenerate (contacts that
    /// slide without load are). If the basis is singular, the start is cold.
    Warm(&'a [bool]),
}

/// How the method came to its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LemkeEnd {
    /// q ≥ 0, so z = 0 without any pivot.
    Trivial,
    /// The basis of the warm start solves the problem without any pivot.
    WarmBasis,
    /// The artificial variable left the basis.
    Solved,
    /// The path ended in a ray whose start happens to solve the problem.
    SolvedRay,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LemkeReport {
    /// How it ended.
    pub end: LemkeEnd,
    /// Pivots after the one that brought the artificial variable in.
    pub pivots: u32,
    /// How often the basis inverse was formed anew.
    pub refactorisations: u32,
    /// Smallest value of a basic variable at any time, relative to |q|∞ and equilibrated: the invariant of the
    /// ratio test says that it is not below −tolerance.
    pub worst_basic: f64,
    /// Multiply-adds in the basis, counted by the sizes of the loops: O(n²) a pivot.
    pub operations: u64,
    /// The answer, measured.
    pub certificate: Certificate,
}

/// A ray: every `point + t · direction`, t ≥ 0, keeps z, w, z₀ ≥ 0 and complementarity, with z₀ > 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray<'a> {
    /// z at the start of the ray.
    pub point: &'a [f64],
    /// Rate of z along the ray, not negative.
    pub direction: &'a [f64],
    /// The artificial variable at the start, in units of the scaled right-hand side (largest |q| in [1, 2)).
    pub artificial: f64,
}

/// Memory of [`lemke`]; reuse never changes a result, and a solve of the same size allocates nothing.
#[derive(Debug, Clone, Default)]
pub struct LemkeWorkspace {
    pub(super) basis: Basis,
    pub(super) scaling: Scaling,
    pub(super) q: Vec<f64>,
    pub(super) cover: Vec<f64>,
    pub(super) ties: Vec<Tie>,
    ratios: Vec<f64>,
    pub(super) factor: crate::dense::Lu,
    pub(super) trial: Vec<f64>,
    ray_point: Vec<f64>,
    ray_direction: Vec<f64>,
    ray_artificial: Option<f64>,
    pub(super) refactorisations: u32,
    worst_basic: f64,
}

impl LemkeWorkspace {
    /// With room for problems of up to `n` unknowns.
    #[must_use]
    pub fn with_capacity(n: usize) -> Self {
        let mut ws = Self::default();
        ws.reserve(n);
        ws
    }

    pub(crate) fn reserve(&mut self, n: usize) {
        self.basis.reset(n);
        for v in [&mut self.q, &mut self.cover, &mut self.trial, &mut self.ray_point, &mut self.ray_direction]
        {
            grow(v, n);
        }
        self.ties.reserve((2 * n + 2).saturating_sub(self.ties.len()));
        grow(&mut self.ratios, 2 * n + 1);
        self.factor.reserve(n);
        self.scaling.reserve(n);
    }

    /// The ray in which the last solve ended, if it did.
    #[must_use]
    pub fn ray(&self) -> Option<Ray<'_>> {
        let n = self.basis.rows();
        let artificial = self.ray_artificial?;
        Some(Ray { point: &self.ray_point[..n], direction: &self.ray_direction[..n], artificial })
    }

    /// Writes the marks of the basic z after a solve, for [`Start::Warm`]: n marks, more are cleared.
    pub fn active(&self, marks: &mut [bool]) {
        marks.fill(false);
        for &column in &self.basis.slot_column[..self.basis.len] {
            if let Some(mark) =
                marks.get_mut(column as usize).filter(|_| (column as usize) < self.basis.rows())
            {
                *mark = true;
            }
        }
    }

    /// ‖K K⁻¹ − 1‖ of the basis inverse that the last solve left, entrywise.
    #[must_use]
    pub fn inverse_error(&self) -> f64 {
        self.basis.inverse_error()
    }

    /// Loads the scaled column `s` into the basis as the one that enters.
    pub(super) fn load_column(&mut self, problem: &LcpProblem<'_>, s: usize) {
        let n = problem.len();
        let entering = &mut self.basis.entering[..n];
        scaled_column(problem, &self.scaling, s, entering);
    }

    /// z of the current basis in the caller's units.
    pub(super) fn read_z(&self, z: &mut [f64]) {
        z.fill(0.0);
        for slot in 0..self.basis.len {
            let column = self.basis.slot_column[slot] as usize;
            if column < z.len() {
                z[column] = self.unscale(column, self.basis.value[slot].max(0.0));
            }
        }
    }

    fn unscale(&self, column: usize, value: f64) -> f64 {
        if self.scaling.active {
            value * self.scaling.column()[column] / self.scaling.rhs
        } else {
            value / self.scaling.rhs
        }
    }

    fn keep_ray(&mut self, entering: Var, z: &[f64]) {
        let n = z.len();
        self.ray_point[..n].copy_from_slice(z);
        self.ray_direction[..n].fill(0.0);
        for slot in 0..self.basis.len {
            let column = self.basis.slot_column[slot] as usize;
            if column < n {
                self.ray_direction[column] = self.unscale(column, self.basis.delta[slot].max(0.0));
            }
        }
        if let Var::Z(s) = entering {
            self.ray_direction[s as usize] = self.unscale(s as usize, 1.0);
        }
        self.ray_artificial = Some(self.basis.artificial().map_or(0.0, |p| self.basis.value[p]));
    }
}

/// Column `s` of R M C.
pub(crate) fn scaled_column(problem: &LcpProblem<'_>, scaling: &Scaling, s: usize, out: &mut [f64]) {
    let rows = problem.m().chunks_exact(problem.len().max(1));
    if scaling.active {
        let c = scaling.column()[s];
        for ((o, row), r) in out.iter_mut().zip(rows).zip(scaling.row()) {
            *o = r * row[s] * c;
        }
    } else {
        for (o, row) in out.iter_mut().zip(rows) {
            *o = row[s];
        }
    }
}

/// Solves the problem by Lemke's method. On [`LcpError::Ray`] and [`LcpError::Budget`] `z` has the last iterate.
///
/// # Errors
/// `z` or the start has the wrong length, a covering vector is not positive, the path ends in a ray, the pivots
/// run out, or the answer does not pass the check.
pub fn lemke(
    problem: &LcpProblem<'_>,
    params: &LemkeParams,
    start: Start<'_>,
    ws: &mut LemkeWorkspace,
    z: &mut [f64],
) -> Result<LemkeReport, LcpError> {
    lemke_after(problem, params, start, false, ws, z)
}

/// As [`lemke`]; `tried` says that the basis of a warm start is known not to be the answer.
pub(crate) fn lemke_after(
    problem: &LcpProblem<'_>,
    params: &LemkeParams,
    start: Start<'_>,
    tried: bool,
    ws: &mut LemkeWorkspace,
    z: &mut [f64],
) -> Result<LemkeReport, LcpError> {
    let n = problem.len();
    check_input(n, start, z)?;
    ws.ray_artificial = None;
    ws.refactorisations = 0;
    ws.worst_basic = f64::INFINITY;
    if problem.q().iter().all(|q| *q >= 0.0) {
        z.fill(0.0);
        ws.basis.reset(n);
        return Ok(report(ws, LemkeEnd::Trivial, 0, Certificate::measure(problem, z)));
    }
    ws.reserve(n);
    ws.scaling.compute(problem, params.equilibrate);
    for (i, (out, q)) in ws.q.iter_mut().zip(problem.q()).enumerate() {
        *out = q * ws.scaling.row()[i] * ws.scaling.rhs;
    }
    let entering = match start {
        Start::Warm(guess) => match super::warm::start(problem, params, guess, tried, ws, z) {
            super::warm::Warm::Solved(certificate) => {
                return Ok(report(ws, LemkeEnd::WarmBasis, 0, certificate));
            }
            super::warm::Warm::Entering(var) => var,
            super::warm::Warm::Singular => cold_start(ws, n, None),
        },
        Start::Cover(cover) => cold_start(ws, n, Some(cover)),
        Start::Cold => cold_start(ws, n, None),
    };
    follow_path(problem, params, entering, ws, z)
}

fn check_input(n: usize, start: Start<'_>, z: &[f64]) -> Result<(), LcpError> {
    if z.len() != n {
        return Err(LcpError::WrongLength { what: "z", expected: n, got: z.len() });
    }
    let (what, given) = match start {
        Start::Cold => return Ok(()),
        Start::Cover(cover) => ("covering vector", cover),
        Start::Warm(guess) if guess.len() == n => return Ok(()),
        Start::Warm(guess) => {
            return Err(LcpError::WrongLength { what: "warm start", expected: n, got: guess.len() });
        }
    };
    if given.len() != n {
        return Err(LcpError::WrongLength { what, expected: n, got: given.len() });
    }
    if let Some(index) = given.iter().position(|v| !v.is_finite()) {
        return Err(LcpError::NonFinite { what, index, value: given[index] });
    }
    if let Start::Cover(cover) = start {
        if let Some(index) = cover.iter().position(|v| *v <= 0.0) {
            return Err(LcpError::NotPositive { what, index, value: cover[index] });
        }
    }
    Ok(())
}

fn report(ws: &LemkeWorkspace, end: LemkeEnd, pivots: u32, certificate: Certificate) -> LemkeReport {
    let worst_basic = if ws.worst_basic == f64::INFINITY { 0.0 } else { ws.worst_basic };
    let (refactorisations, operations) = (ws.refactorisations, ws.basis.operations);
    LemkeReport { end, pivots, refactorisations, worst_basic, operations, certificate }
}

/// Brings the artificial variable in for the worst row; returns the variable that enters next.
fn cold_start(ws: &mut LemkeWorkspace, n: usize, cover: Option<&[f64]>) -> Var {
    ws.basis.reset(n);
    match cover {
        Some(d) => {
            for i in 0..n {
                ws.cover[i] = d[i] * ws.scaling.row()[i];
            }
        }
        None => ws.cover[..n].fill(1.0),
    }
    let basis = &mut ws.basis;
    basis.slack[..n].copy_from_slice(&ws.q[..n]);
    // Rows tied with t start lexicographically positive only if t is the last of them.
    let mut t = 0;
    for i in 1..n {
        if ws.q[i] / ws.cover[i] <= ws.q[t] / ws.cover[t] {
            t = i;
        }
    }
    basis.entering[..n].copy_from_slice(&ws.cover[..n]);
    basis.slack_delta[..n].copy_from_slice(&ws.cover[..n]);
    let step = -ws.q[t] / ws.cover[t];
    let worst = basis.advance(step);
    ws.worst_basic = ws.worst_basic.min(worst);
    basis.pivot(Var::Artificial, Place::Row(t as u32), step);
    Var::Z(t as u32)
}

/// Rates of the entering variable; forms the inverse anew if they show that it is bad.
fn rates(problem: &LcpProblem<'_>, params: &LemkeParams, entering: Var, ws: &mut LemkeWorkspace) {
    for attempt in 0..2 {
        let error = match entering {
            Var::W(row) => ws.basis.rates_of_w(row),
            Var::Z(s) => {
                ws.load_column(problem, s as usize);
                ws.basis.rates_of_z()
            }
            Var::Artificial => 0.0,
        };
        let limit = params.refactor_error;
        let fine = error <= limit || error <= limit * max_abs(&ws.basis.delta[..ws.basis.len]);
        if attempt == 1 || fine || !ws.basis.refactor() {
            return;
        }
        ws.refactorisations += 1;
        ws.basis.recompute_values(&ws.q);
    }
}

fn follow_path(
    problem: &LcpProblem<'_>,
    params: &LemkeParams,
    mut entering: Var,
    ws: &mut LemkeWorkspace,
    z: &mut [f64],
) -> Result<LemkeReport, LcpError> {
    let limit = if params.max_pivots > 0 { params.max_pivots } else { 50 * problem.len() as u32 + 50 };
    let mut pivots = 0;
    while pivots < limit {
        rates(problem, params, entering, ws);
        let Some(leaving) = ratio_test(&ws.basis, params, &mut ws.ratios, &mut ws.ties) else {
            ws.read_z(z);
            ws.keep_ray(entering, z);
            let certificate = Certificate::measure(problem, z);
            if params.accept_solved_ray && certificate.holds(params.tolerance) {
                return Ok(report(ws, LemkeEnd::SolvedRay, pivots, certificate));
            }
            return Err(LcpError::Ray { iterations: pivots });
        };
        pivots += 1;
        let worst = ws.basis.advance(leaving.step);
        ws.worst_basic = ws.worst_basic.min(worst);
        let left = ws.basis.var(leaving.place);
        ws.basis.pivot(entering, leaving.place, leaving.step);
        entering = match left {
            Var::Z(i) => Var::W(i),
            Var::W(i) => Var::Z(i),
            Var::Artificial => return finish(problem, params, pivots, ws, z),
        };
        if pivots % 64 == 0 {
            ws.basis.recompute_values(&ws.q);
        }
    }
    ws.read_z(z);
    Err(LcpError::Budget { iterations: pivots, residual: Certificate::measure(problem, z).residual })
}

/// Computes the answer from the last basis and checks it; a bad inverse gets one more chance.
fn finish(
    problem: &LcpProblem<'_>,
    params: &LemkeParams,
    pivots: u32,
    ws: &mut LemkeWorkspace,
    z: &mut [f64],
) -> Result<LemkeReport, LcpError> {
    ws.basis.refine_slots(&ws.q, 1);
    ws.read_z(z);
    let mut certificate = Certificate::measure(problem, z);
    if !certificate.holds(params.tolerance) && ws.basis.refactor() {
        ws.refactorisations += 1;
        ws.basis.recompute_values(&ws.q);
        ws.read_z(z);
        certificate = Certificate::measure(problem, z);
    }
    if certificate.holds(params.tolerance) {
        Ok(report(ws, LemkeEnd::Solved, pivots, certificate))
    } else {
        Err(LcpError::Budget { iterations: pivots, residual: certificate.residual })
    }
}

/// [`lemke`] as an [`LcpSolver`]: cold starts, so each answer depends on its problem alone.
#[derive(Debug, Clone, Default)]
pub struct Lemke {
    /// Tunables.
    pub params: LemkeParams,
    /// Memory, and the ray of the last solve.
    pub workspace: LemkeWorkspace,
}

impl LcpSolver for Lemke {
    fn solve(&mut self, problem: &LcpProblem<'_>, z: &mut [f64]) -> Result<LcpReport, LcpError> {
        let report = lemke(problem, &self.params, Start::Cold, &mut self.workspace, z)?;
        Ok(LcpReport { iterations: report.pivots, residual: report.certificate.residual })
    }
}
