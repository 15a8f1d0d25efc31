//! Equalities that no velocity can obey together.
//!
//! # Reference
//!
//! Tikhonov regularisation of the equalities alone.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | W, b | of the rows that are equalities | 1/kg, m/s |
//! | ε | 10⁻¹⁰ of what a row gives way | 1/kg |
//!
//! # Formula
//!
//! ```text
//! (W + ε) p = −b,  (W + ε) p' = −b + ε p;   what p leaves of a row is more than the tolerance, and p' leaves more than half of it:   contradictory
//! ```
//!
//! # Cost
//!
//! A dense factorisation; only where a solver has failed.
//!
//! # Numerics
//!
//! p is bounded by |b|/ε, and the velocities of rows that contradict each other are as small as they can all be.
//!
//! # Failure
//!
//! More than [`MOST`] rows are not looked at.
//!
//! # Tested by
//!
//! The conformance kit of row solvers.

use sim_math::{dense::dot, glam::DVec3};
use sim_traits::{Law, RowError, RowProblem};

/// Most rows that are looked at.
const MOST: usize = 400;
/// Share of what a row gives way by which it is regularised.
const EPSILON: f64 = 1e-10;
/// Share of it that stays, at least, when it is solved once more.
const STAYS: f64 = 0.5;

/// The error of a problem whose equalities contradict each other by more than `tolerance` (m/s), with impulses that leave as little as may be in `p`;
/// nothing if they do not, or if W is not there.
pub(crate) fn find(
    problem: &RowProblem<'_>,
    tolerance: f64,
    iterations: u32,
    p: &mut [DVec3],
) -> Option<RowError> {
    let first = problem.friction().len();
    let mut rows: Vec<(usize, usize)> = Vec::new();
    for (c, law) in (first..).zip(problem.laws()) {
        if let Law::Bounded(bounds) = law {
            rows.extend((0..3).filter(|&row| bounds.holds(row)).map(|row| (c, row)));
        }
    }
    let n = rows.len();
    if n == 0 || n > MOST || !problem.has_rows() {
        return None;
    }
    // L Lᵀ = W + ε, row by row.
    let mut l = vec![0.0; n * n];
    let mut epsilon = vec![0.0; n];
    for i in 0..n {
        let (c, row) = rows[i];
        epsilon[i] = EPSILON * problem.diagonal(c).col(row)[row].max(1e-12 * problem.size(c));
        let (done, rest) = l.split_at_mut(i * n);
        for j in 0..=i {
            let (d, column) = rows[j];
            let entry = problem.row(c).find(|(k, _)| *k == d).map_or(0.0, |(_, w)| w.col(column)[row]);
            if j < i {
                let other = &done[j * n..j * n + j + 1];
                rest[j] = (entry - dot(&rest[..j], &other[..j])) / other[j];
            } else {
                let pivot = entry + epsilon[i] - dot(&rest[..i], &rest[..i]);
                rest[i] = pivot.max(0.1 * epsilon[i]).sqrt();
            }
        }
    }
    let solve = |x: &mut [f64]| {
        for i in 0..n {
            x[i] = (x[i] - dot(&l[i * n..i * n + i], &x[..i])) / l[i * n + i];
        }
        for i in (0..n).rev() {
            x[i] /= l[i * n + i];
            let xi = x[i];
            (0..i).for_each(|j| x[j] -= l[i * n + j] * xi);
        }
    };
    let mut x: Vec<f64> = rows.iter().map(|&(c, row)| -problem.velocity()[c][row]).collect();
    solve(&mut x);
    // Once more from there: what can be obeyed nearly is.
    let mut y: Vec<f64> =
        (0..n).map(|i| epsilon[i] * x[i] - problem.velocity()[rows[i].0][rows[i].1]).collect();
    solve(&mut y);
    let mut answer = vec![DVec3::ZERO; p.len()];
    for (&(c, row), y) in rows.iter().zip(&y) {
        answer[c][row] = *y;
    }
    let after: Vec<f64> =
        rows.iter().map(|&(c, row)| problem.relative_velocity(c, &answer)[row].abs()).collect();
    for (&(c, row), x) in rows.iter().zip(&x) {
        answer[c][row] = *x;
    }
    let (mut worst, mut blocks) = ((0, 0.0), Vec::new());
    for (&(c, row), after) in rows.iter().zip(&after) {
        let left = problem.relative_velocity(c, &answer)[row].abs();
        if left > tolerance && *after > STAYS * left {
            blocks.push(c);
            if left > worst.1 {
                worst = (c, left);
            }
        }
    }
    blocks.dedup();
    if blocks.is_empty() {
        return None;
    }
    p.copy_from_slice(&answer);
    let (block, residual) = worst;
    Some(RowError::Contradictory { block, others: blocks.len() - 1, iterations, residual })
}
