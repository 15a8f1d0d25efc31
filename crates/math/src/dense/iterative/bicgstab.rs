//! Stabilised biconjugate gradients for unsymmetric matrices.
//!
//! # Reference
//! van der Vorst 1992; Saad, *Iterative Methods for Sparse Linear Systems*, 2nd ed., algorithm 7.7, with the
//! diagonal preconditioner from the right. Barenbrug's thesis uses a biconjugate gradient with the transpose;
//! this variant needs no transpose and converges more smoothly.
//!
//! # Symbols
//! `r` residual, `r̂` shadow residual, `p` direction, `v` = A M⁻¹ p, `s` half-step residual, `t` = A M⁻¹ s, `M`
//! magnitudes of the diagonal.
//!
//! # Formula
//! ```text
//! α = r̂·r / r̂·v,   s = r − α v,   ω = t·s / t·t
//! x ← x + α M⁻¹p + ω M⁻¹s,   r ← s − ω t,   β = (r̂·r' / r̂·r)(α/ω),   p ← r' + β (p − ω v)
//! ```
//!
//! # Cost
//! Two products with A and about 20 n operations per iteration. No allocation once the workspace has the size.
//!
//! # Numerics
//! When r̂·r or ω vanishes the iteration starts again from the best `x` with r̂ = r. Convergence is accepted
//! only on the true residual.
//!
//! # Failure
//! [`MathError::NotConverged`] at the limit or when a restart makes no progress; `x` then holds the best
//! iterate. Some singular matrices (range and null space overlap) defeat it: [`super::cgls`] does not mind.
//!
//! # Tested by
//! `unsymmetric_systems_are_solved`, `a_redundant_unsymmetric_system_is_solved`, `failure_leaves_the_best_iterate`.

use super::super::kernels::{axpy, dot};
use super::{
    IterationReport, IterativeParams, IterativeWorkspace, LinearOperator, begin, finish, norm, precondition,
    true_residual,
};
use crate::MathError;

const WHAT: &str = "biconjugate gradient";
/// Restarts without progress before giving up.
const MAX_STALLS: usize = 3;

/// Solves `A x = b`, starting from the `x` given.
///
/// # Errors
/// [`MathError::NotConverged`], [`MathError::WrongLength`], [`MathError::NonFinite`].
pub fn bicgstab(
    a: &dyn LinearOperator,
    b: &[f64],
    x: &mut [f64],
    params: &IterativeParams,
    ws: &mut IterativeWorkspace,
) -> Result<IterationReport, MathError> {
    let size = begin(a, b, x, params, ws)?;
    if size == 0.0 {
        x.fill(0.0);
        return finish(WHAT, 0, 0.0, size, params);
    }
    let [r, shadow, p, v, s, t, scaled, best] = &mut ws.vectors;
    let d = &ws.inverse_diagonal;
    let target = params.tolerance * size;
    let limit = params.limit(b.len());
    let (mut iterations, mut stalls) = (0, 0);
    let mut best_residual = true_residual(a, b, x, r)?;
    best.copy_from_slice(x);
    while best_residual > target && iterations < limit && stalls < MAX_STALLS {
        // One run of the recurrence, from the best iterate.
        x.copy_from_slice(best);
        true_residual(a, b, x, r)?;
        shadow.copy_from_slice(r);
        p.copy_from_slice(r);
        let mut rho = dot(shadow, r);
        while iterations < limit {
            precondition(d, p, scaled);
            a.apply(scaled, v)?;
            let denominator = dot(shadow, v);
            if denominator.abs() <= f64::EPSILON * norm(shadow) * norm(v) || !denominator.is_finite() {
                break;
            }
            iterations += 1;
            let alpha = rho / denominator;
            axpy(alpha, scaled, x);
            s.copy_from_slice(r);
            axpy(-alpha, v, s);
            precondition(d, s, scaled);
            a.apply(scaled, t)?;
            let tt = dot(t, t);
            let omega = if tt > 0.0 { dot(t, s) / tt } else { 0.0 };
            axpy(omega, scaled, x);
            r.copy_from_slice(s);
            axpy(-omega, t, r);
            if norm(r) <= 0.1 * target || omega == 0.0 || !omega.is_finite() {
                break;
            }
            let next = dot(shadow, r);
            if next.abs() <= f64::EPSILON * norm(shadow) * norm(r) {
                break;
            }
            let beta = (next / rho) * (alpha / omega);
            rho = next;
            for ((p, r), v) in p.iter_mut().zip(&*r).zip(&*v) {
                *p = r + beta * (*p - omega * v);
            }
        }
        let residual = true_residual(a, b, x, r)?;
        // A run must at least halve the residual to count as progress.
        stalls = if residual <= 0.5 * best_residual { 0 } else { stalls + 1 };
        if residual < best_residual {
            best_residual = residual;
            best.copy_from_slice(x);
        }
    }
    x.copy_from_slice(best);
    finish(WHAT, iterations, best_residual, size, params)
}

#[cfg(test)]
mod tests {
    use super::super::super::Matrix;
    use super::*;
    use crate::testkit::SplitMix64;

    fn dominant(n: usize, seed: u64) -> Matrix {
        let mut stream = SplitMix64(seed);
        Matrix::from_fn(n, n, |i, j| {
            stream.range(-1.0, 1.0) + if i == j { n as f64 * (1.0 + i as f64) } else { 0.0 }
        })
    }

    #[test]
    fn unsymmetric_systems_are_solved() {
        let mut ws = IterativeWorkspace::default();
        for n in [1, 2, 5, 30, 80] {
            let a = dominant(n, n as u64);
            let exact: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7) - 3.0).collect();
            let (mut b, mut x) = (vec![0.0; n], vec![0.0; n]);
            a.apply(&exact, &mut b).unwrap();
            let params = IterativeParams::with_tolerance(1e-13);
            let report = bicgstab(&a, &b, &mut x, &params, &mut ws).unwrap();
            assert!(report.iterations <= n + 10, "{report:?}");
            for (x, exact) in x.iter().zip(&exact) {
                crate::assert_close!(*x, *exact, abs = 1e-10 * norm(&exact_norm(n)));
            }
        }
    }

    #[test]
    fn a_transport_chain_takes_no_more_iterations_than_unknowns() {
        // Unsymmetric and hardly dominant: with a wrong recurrence the iteration stalls and restarts.
        let (n, mut ws) = (60, IterativeWorkspace::default());
        let a = Matrix::from_fn(n, n, |i, j| match (i as i64) - (j as i64) {
            0 => 2.2,
            1 => -1.3,
            -1 => -0.7,
            _ => 0.0,
        });
        let mut x = vec![0.0; n];
        let report = bicgstab(&a, &vec![1.0; n], &mut x, &IterativeParams::default(), &mut ws).unwrap();
        assert!(report.iterations <= n, "{report:?}");
    }

    fn exact_norm(n: usize) -> Vec<f64> {
        (0..n).map(|i| (i as f64 * 0.7) - 3.0).collect()
    }

    // proves: DYN-110
    #[test]
    fn a_redundant_unsymmetric_system_is_solved() {
        let mut ws = IterativeWorkspace::default();
        for seed in 0..20 {
            // Each constraint twice: rows and columns doubled, rank n of order 2n, right-hand side consistent.
            let (n, small) = (7, dominant(7, seed));
            let a = Matrix::from_fn(2 * n, 2 * n, |i, j| small[(i % n, j % n)]);
            let b: Vec<f64> = (0..2 * n).map(|i| 1.0 + (i % n) as f64).collect();
            for tolerance in [0.1, 0.01, 1e-9] {
                let mut x = vec![0.0; 2 * n];
                bicgstab(&a, &b, &mut x, &IterativeParams::with_tolerance(tolerance), &mut ws).unwrap();
                let mut r = vec![0.0; 2 * n];
                let left = true_residual(&a, &b, &x, &mut r).unwrap();
                assert!(left <= tolerance * norm(&b), "{left:e}");
            }
        }
    }

    #[test]
    fn failure_leaves_the_best_iterate() {
        let mut ws = IterativeWorkspace::default();
        // Nilpotent: A b = 0 for this b, so no Krylov space leads to the solution.
        let a = Matrix::from_rows(&[[0.0, 1.0], [0.0, 0.0]]);
        let mut x = [0.0; 2];
        let found = bicgstab(&a, &[1.0, 0.0], &mut x, &IterativeParams::default(), &mut ws);
        assert!(matches!(found, Err(MathError::NotConverged { .. })), "{found:?}");
        assert!(x.iter().all(|x| x.is_finite()));
        let report =
            super::super::cgls(&a, &[1.0, 0.0], &mut x, &IterativeParams::default(), &mut ws).unwrap();
        assert!(report.residual <= 1e-10);
        // A zero right-hand side needs no iteration.
        let report = bicgstab(&a, &[0.0, 0.0], &mut x, &IterativeParams::default(), &mut ws).unwrap();
        assert_eq!((report.iterations, x), (0, [0.0, 0.0]));
    }
}
