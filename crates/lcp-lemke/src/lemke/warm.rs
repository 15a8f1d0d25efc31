//! Start of Lemke's method from the active set of a similar problem.
//!
//! # Reference
//! Cottle, Pang, Stone (1992), 4.4 (Lemke's method after a principal pivot).
//! # Symbols
//! C = active columns = active rows, x = basic values of that basis.
//! # Formula
//! ```text
//! M_CC z_C = −q_C, w = M z + q.      all ≥ 0: solved without a pivot
//! else cover d with d_C = −M_CC 1, d_i = 1 − M_iC 1: every basic value grows by 1 with z₀, and the path goes on
//! ```
//! # Cost
//! One LU of the active block when the set is right; one inverse of it (three times as much) when it is not.
//! # Numerics
//! For P and positive semidefinite M the transformed problem is of the same class, so the path ends as from a
//! cold start. For other matrices it may end in a ray that the cold start does not have.
//! # Failure
//! A singular active block is told, and the caller starts cold.
//! # Tested by
//! `warm_start_on_the_same_problem_needs_no_pivot`, `warm_start_finds_the_solution_of_a_changed_problem`.

use super::solve::{LemkeParams, LemkeWorkspace, scaled_column};
use crate::basis::{Place, Var};
use crate::certificate::Certificate;
use sim_traits::LcpProblem;

/// What became of the guess.
pub(super) enum Warm {
    Solved(Certificate),
    Entering(Var),
    Singular,
}

pub(super) fn start(
    problem: &LcpProblem<'_>,
    params: &LemkeParams,
    guess: &[bool],
    tried: bool,
    ws: &mut LemkeWorkspace,
    z: &mut [f64],
) -> Warm {
    let n = problem.len();
    ws.basis.reset(n);
    // First the cheap try: solve for the active set and look.
    let active = &mut ws.basis.active_row;
    let mut m = 0;
    for (i, g) in guess.iter().enumerate() {
        if *g {
            active[m] = i as u32;
            m += 1;
        }
    }
    if m > 0 && !tried {
        let active = &ws.basis.active_row[..m];
        let (row, column) = (ws.scaling.row(), ws.scaling.column());
        let scaled = ws.scaling.active;
        let entry = |a: usize, out: &mut [f64]| {
            let i = active[a] as usize;
            let m_row = problem.row(i);
            for (o, &j) in out.iter_mut().zip(active) {
                let v = m_row[j as usize];
                *o = if scaled { row[i] * v * column[j as usize] } else { v };
            }
        };
        if !ws.factor.factor(m, entry) {
            return Warm::Singular;
        }
        for (t, &i) in ws.trial.iter_mut().zip(active) {
            *t = -ws.q[i as usize];
        }
        ws.factor.solve(&mut ws.trial[..m]);
        z.fill(0.0);
        for (t, &j) in ws.trial.iter().zip(active) {
            let j = j as usize;
            z[j] = (t * if scaled { column[j] } else { 1.0 } / ws.scaling.rhs).max(0.0);
        }
        let certificate = Certificate::measure(problem, z);
        if certificate.holds(params.tolerance) {
            return Warm::Solved(certificate);
        }
    }
    build_path_start(problem, guess, ws)
}

/// Inverts the active block and brings the artificial variable in.
fn build_path_start(problem: &LcpProblem<'_>, guess: &[bool], ws: &mut LemkeWorkspace) -> Warm {
    let n = problem.len();
    for (i, g) in guess.iter().enumerate() {
        if *g {
            let scaling = &ws.scaling;
            ws.basis.push_raw(i as u32, i as u32, |out| scaled_column(problem, scaling, i, out));
        }
    }
    if !ws.basis.refactor() {
        return Warm::Singular;
    }
    ws.refactorisations += 1;
    ws.basis.recompute_values(&ws.q);
    let basis = &mut ws.basis;
    let m = basis.len;
    // Cover for which every basic value has rate 1.
    basis.delta[..m].fill(1.0);
    basis.slack_delta[..n].fill(1.0);
    basis.entering[..n].fill(1.0);
    for a in 0..m {
        let row = basis.active_row[a] as usize;
        basis.slack_delta[row] = 0.0;
        basis.entering[row] = 0.0;
    }
    for slot in 0..m {
        let column = &basis.columns[slot * n..][..n];
        for (e, c) in basis.entering.iter_mut().zip(column) {
            *e -= c;
        }
    }
    let mut worst = (Place::Row(0), f64::INFINITY);
    for (slot, x) in basis.value[..m].iter().enumerate() {
        if *x < worst.1 {
            worst = (Place::Slot(slot as u32), *x);
        }
    }
    for (i, x) in basis.slack[..n].iter().enumerate() {
        if basis.row_active[i] == crate::basis::NONE && *x <= worst.1 {
            worst = (Place::Row(i as u32), *x);
        }
    }
    let step = (-worst.1).max(0.0);
    basis.advance(step);
    let left = basis.var(worst.0);
    basis.pivot(Var::Artificial, worst.0, step);
    match left {
        Var::Z(i) => Warm::Entering(Var::W(i)),
        Var::W(i) => Warm::Entering(Var::Z(i)),
        Var::Artificial => Warm::Singular,
    }
}
