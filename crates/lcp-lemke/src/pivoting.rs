//! Principal pivoting for symmetric positive semidefinite matrices: one unknown after the other is brought to
//! complementarity while those done before stay so.
//!
//! # Reference
//! Dantzig and Cottle; Cottle, Pang, Stone (1992), 4.2 and 4.3 (Keller's method for semidefinite matrices);
//! Baraff (1994) for contact forces.
//! # Symbols
//! C = basic columns, s = driving unknown, σ = rates of all w when `z_s` grows (Schur complement column).
//! # Formula
//! ```text
//! for s with w_s < 0: grow z_s until
//!   w_s = 0           s joins C, next s
//!   z_j = 0, j in C   j leaves C, go on
//!   w_j = 0, j done   j joins C, go on
//!   nothing           infeasible
//! ```
//! # Cost
//! O(n²) a pivot, with no artificial variable: about as many pivots as C has members.
//! # Numerics
//! In a semidefinite matrix a row that blocks has a positive pivot of its own, so C never becomes singular.
//! When rounding lets `z_s` pass the point where `w_s` = 0 into a null vector of M, where nothing moves and nothing
//! blocks, it goes back along it until it, or a member of C that it then replaces, is 0.
//! # Failure
//! [`LcpError::NotSymmetric`]; [`LcpError::Ray`] when nothing blocks; [`LcpError::Budget`].
//! # Tested by
//! `principal_pivoting_conforms`, `solvers_agree_on_positive_definite_problems`,
//! `principal_pivoting_comes_back_from_null_vectors`.

use crate::basis::{Basis, NONE, Place, Var};
use crate::certificate::Certificate;
use crate::kernels::{grow, max_abs};
use crate::lemke::scaled_column;
use crate::scaling::Scaling;
use sim_traits::{LcpError, LcpProblem, LcpReport, LcpSolver};
use std::ops::Range;

/// The first pair of entries that differ by more than `tolerance` of the larger row maximum, as an error.
///
/// # Errors
/// [`LcpError::NotSymmetric`] with row, column and difference.
pub fn check_symmetric(problem: &LcpProblem<'_>, tolerance: f64) -> Result<(), LcpError> {
    let (n, m) = (problem.len(), problem.m());
    // In tiles, so that reading columns stays in the cache; details only when something is wrong.
    const TILE: usize = 32;
    // The last row first: there friction problems show their asymmetry at once.
    if let Some(last) = n.checked_sub(1) {
        first_asymmetry(problem, tolerance, last..n, 0..last)?;
    }
    for i0 in (0..n).step_by(TILE).rev() {
        for j0 in (0..=i0).step_by(TILE) {
            let mut same = true;
            for i in i0..(i0 + TILE).min(n) {
                let end = (j0 + TILE).min(i).max(j0);
                let mut at = j0 * n + i;
                for a in &m[i * n + j0..i * n + end] {
                    same &= (a - m[at]).abs() <= tolerance * a.abs();
                    at += n;
                }
            }
            if !same {
                first_asymmetry(problem, tolerance, i0..(i0 + TILE).min(n), j0..j0 + TILE)?;
            }
        }
    }
    Ok(())
}

/// Looks more closely at a tile: a difference may be rounding beside the diagonal.
fn first_asymmetry(
    problem: &LcpProblem<'_>,
    tolerance: f64,
    rows: Range<usize>,
    columns: Range<usize>,
) -> Result<(), LcpError> {
    let (n, m) = (problem.len(), problem.m());
    for i in rows {
        for j in columns.start..columns.end.min(i) {
            let difference = (m[i * n + j] - m[j * n + i]).abs();
            if difference > tolerance * m[i * n + j].abs()
                && difference > tolerance * (m[i * n + i] * m[j * n + j]).abs().sqrt()
            {
                return Err(LcpError::NotSymmetric { row: j, column: i, difference });
            }
        }
    }
    Ok(())
}

/// Principal pivoting with its memory.
#[derive(Debug, Clone)]
pub struct PrincipalPivoting {
    /// A basic variable blocks only if it falls faster than this times max(1, fastest rate). Default 1e-10.
    pub pivot_tolerance: f64,
    /// An answer is accepted if [`Certificate::holds`] at this tolerance. Default 1e-10.
    pub tolerance: f64,
    /// Most pivots; 0 means 50 n + 50. Default 0.
    pub max_pivots: u32,
    basis: Basis,
    scaling: Scaling,
    q: Vec<f64>,
    done: Vec<bool>,
}

impl Default for PrincipalPivoting {
    fn default() -> Self {
        Self {
            pivot_tolerance: 1e-10,
            tolerance: 1e-10,
            max_pivots: 0,
            basis: Basis::default(),
            scaling: Scaling::default(),
            q: Vec::new(),
            done: Vec::new(),
        }
    }
}

/// Slack above this, with |q|∞ scaled to 1, counts as not negative.
const SLACK_TOLERANCE: f64 = 1e-12;

/// Slack above this that nothing moves counts as 0: so much may have gathered on the way.
const FLAT_TOLERANCE: f64 = 1e-9;

/// What stops the driving unknown.
#[derive(Clone, Copy)]
enum Block {
    Driver,
    Slot(usize),
    Row(usize),
}

impl PrincipalPivoting {
    /// Makes room for problems of up to `n` unknowns.
    pub fn reserve(&mut self, n: usize) {
        self.basis.reset(n);
        self.scaling.reserve(n);
        grow(&mut self.q, n);
        grow(&mut self.done, n);
    }

    fn enter(&mut self, problem: &LcpProblem<'_>, s: usize) {
        scaled_column(problem, &self.scaling, s, &mut self.basis.entering[..problem.len()]);
        self.basis.rates_of_z();
    }

    /// The first block when `z_s` grows along the current rates, with the step.
    fn ratio(&self, s: usize) -> Option<(Block, f64)> {
        let (b, n) = (&self.basis, self.basis.rows());
        let (delta, slack_delta) = (&b.delta[..b.len], &b.slack_delta[..n]);
        let floor = self.pivot_tolerance * max_abs(delta).max(max_abs(slack_delta)).max(1.0);
        let mut best: Option<(Block, f64, f64)> = None;
        let mut offer = |block, step: f64, pivot: f64| {
            // Of nearly equal steps the one with the larger pivot is safer.
            let better = best.is_none_or(|(_, least, size)| {
                step < least - 1e-12 * (1.0 + least)
                    || (step <= least + 1e-12 * (1.0 + least) && pivot > size)
            });
            if better {
                best = Some((block, step, pivot));
            }
        };
        if slack_delta[s] > floor {
            offer(Block::Driver, (-b.slack[s]).max(0.0) / slack_delta[s], f64::INFINITY);
        }
        for (slot, (x, d)) in b.value.iter().zip(delta).enumerate() {
            if *d < -floor {
                offer(Block::Slot(slot), x.max(0.0) / -d, -d);
            }
        }
        for (i, (x, d)) in b.slack.iter().zip(slack_delta).enumerate() {
            if *d < -floor && i != s && self.done[i] && b.row_active[i] == NONE {
                offer(Block::Row(i), x.max(0.0) / -d, -d);
            }
        }
        best.map(|(block, step, _)| (block, step))
    }

    /// How far the driving unknown can go back from `driven` along the current rates, and who stops it.
    fn retreat(&self, driven: f64) -> (f64, Option<usize>) {
        let delta = &self.basis.delta[..self.basis.len];
        let floor = self.pivot_tolerance * max_abs(delta).max(1.0);
        let mut best = (driven, None);
        for (slot, (x, d)) in self.basis.value.iter().zip(delta).enumerate() {
            let step = x.max(0.0) / d;
            if *d > floor && step < best.0 {
                best = (step, Some(slot));
            }
        }
        best
    }

    /// Brings unknown s to complementarity.
    fn drive(
        &mut self,
        problem: &LcpProblem<'_>,
        s: usize,
        pivots: &mut u32,
        limit: u32,
    ) -> Result<(), LcpError> {
        let mut driven = 0.0;
        // Slack within rounding of 0 needs no driving; but z_s must join C once it has moved.
        while driven > 0.0 || self.basis.slack[s] < -SLACK_TOLERANCE {
            if *pivots >= limit {
                return Err(LcpError::Budget { iterations: *pivots, residual: f64::INFINITY });
            }
            self.enter(problem, s);
            *pivots += 1;
            let Some((block, step)) = self.ratio(s) else {
                // Along a null vector of M no w moves. If this w is 0 but for rounding, z_s need not be there at all:
                // back until it is 0, or until a basic z is, which then leaves.
                if self.basis.slack[s] < -FLAT_TOLERANCE {
                    return Err(LcpError::Ray { iterations: *pivots });
                }
                let (step, leaving) = self.retreat(driven);
                self.basis.advance(-step);
                driven -= step;
                let Some(slot) = leaving else { break };
                let j = self.basis.slot_column[slot];
                self.basis.rates_of_w(j);
                self.basis.pivot(Var::W(j), Place::Slot(slot as u32), 0.0);
                // Without j the columns are independent, and z_s takes its place with the value it has.
                self.enter(problem, s);
                self.basis.pivot(Var::Z(s as u32), Place::Row(s as u32), driven);
                break;
            };
            self.basis.advance(step);
            driven += step;
            match block {
                Block::Driver => {
                    self.basis.pivot(Var::Z(s as u32), Place::Row(s as u32), driven);
                    break;
                }
                Block::Slot(slot) => {
                    let j = self.basis.slot_column[slot];
                    self.basis.rates_of_w(j);
                    self.basis.pivot(Var::W(j), Place::Slot(slot as u32), 0.0);
                }
                Block::Row(j) => {
                    self.enter(problem, j);
                    self.basis.pivot(Var::Z(j as u32), Place::Row(j as u32), 0.0);
                }
            }
        }
        Ok(())
    }

    fn read_z(&mut self, z: &mut [f64]) {
        self.basis.recompute_values(&self.q);
        z.fill(0.0);
        for slot in 0..self.basis.len {
            let column = self.basis.slot_column[slot] as usize;
            z[column] = self.basis.value[slot].max(0.0) * self.scaling.column()[column] / self.scaling.rhs;
        }
    }
}

impl LcpSolver for PrincipalPivoting {
    fn solve(&mut self, problem: &LcpProblem<'_>, z: &mut [f64]) -> Result<LcpReport, LcpError> {
        let n = problem.len();
        if z.len() != n {
            return Err(LcpError::WrongLength { what: "z", expected: n, got: z.len() });
        }
        check_symmetric(problem, 1e-12)?;
        self.reserve(n);
        self.scaling.compute(problem, true);
        for i in 0..n {
            self.q[i] = problem.q()[i] * self.scaling.row()[i] * self.scaling.rhs;
        }
        self.basis.slack[..n].copy_from_slice(&self.q[..n]);
        self.done[..n].fill(false);
        let limit = if self.max_pivots > 0 { self.max_pivots } else { 50 * n as u32 + 50 };
        let mut pivots = 0;
        let mut outcome = Ok(());
        for s in 0..n {
            outcome = self.drive(problem, s, &mut pivots, limit);
            if outcome.is_err() {
                break;
            }
            self.done[s] = true;
        }
        self.read_z(z);
        let mut certificate = Certificate::measure(problem, z);
        if outcome.is_ok() && !certificate.holds(self.tolerance) && self.basis.refactor() {
            self.read_z(z);
            certificate = Certificate::measure(problem, z);
        }
        if certificate.holds(self.tolerance) {
            return Ok(LcpReport { iterations: pivots, residual: certificate.residual });
        }
        match outcome {
            Err(LcpError::Ray { iterations }) => Err(LcpError::Ray { iterations }),
            _ => Err(LcpError::Budget { iterations: pivots, residual: certificate.residual }),
        }
    }
}
