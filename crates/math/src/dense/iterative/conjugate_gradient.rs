//! Conjugate gradients for symmetric positive (semi)definite matrices.
//!
//! # Reference
//! Hestenes and Stiefel 1952; Golub and Van Loan, *Matrix Computations*, 4th ed., algorithm 11.5.1.
//!
//! # Symbols
//! `r` residual, `z` preconditioned residual, `p` direction, `q` = A p, `d` diagonal of A.
//!
//! # Formula
//! ```text
//! z = r / |d|,   α = r·z / p·A p,   x ← x + α p,   r ← r − α A p
//! β = r'·z' / r·z,   p ← z' + β p
//! ```
//!
//! # Cost
//! One product with A and about 10 n operations per iteration; n iterations in exact arithmetic, fewer for
//! clustered eigenvalues. No allocation once the workspace has the size.
//!
//! # Numerics
//! The recurrence for `r` drifts from b − A x; convergence is accepted only on the latter, else the iteration
//! starts again from the present `x`. On a singular but consistent system it converges to one solution.
//!
//! # Failure
//! [`MathError::NotConverged`] when the limit is reached or a direction has no positive curvature (A is not
//! semidefinite, or the system is contradictory); `x` then holds the last iterate.
//!
//! # Tested by
//! `a_redundant_consistent_system_is_solved`, `dense_and_sparse_take_the_same_path`,
//! `contradictory_systems_are_reported`.

use super::super::kernels::{axpy, dot};
use super::{
    IterationReport, IterativeParams, IterativeWorkspace, LinearOperator, begin, finish, precondition,
    true_residual,
};
use crate::MathError;

const WHAT: &str = "conjugate gradient";

/// Solves `A x = b` for a symmetric positive semidefinite `A`, starting from the `x` given.
///
/// # Errors
/// [`MathError::NotConverged`], [`MathError::WrongLength`], [`MathError::NonFinite`].
pub fn conjugate_gradient(
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
    let [r, z, p, q, ..] = &mut ws.vectors;
    let d = &ws.inverse_diagonal;
    let target = params.tolerance * size;
    let limit = params.limit(b.len());
    let mut iterations = 0;
    loop {
        let start = true_residual(a, b, x, r)?;
        if start <= target || iterations >= limit || !start.is_finite() {
            return finish(WHAT, iterations, start, size, params);
        }
        precondition(d, r, z);
        p.copy_from_slice(z);
        let mut rz = dot(r, z);
        let before = iterations;
        while iterations < limit {
            a.apply(p, q)?;
            let curvature = dot(p, q);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            iterations += 1;
            let alpha = rz / curvature;
            axpy(alpha, p, x);
            axpy(-alpha, q, r);
            // One tenth of the target, so that drift seldom costs a restart.
            if super::norm(r) <= 0.1 * target {
                break;
            }
            precondition(d, r, z);
            let next = dot(r, z);
            let beta = next / rz;
            rz = next;
            for (p, z) in p.iter_mut().zip(&*z) {
                *p = z + beta * *p;
            }
        }
        if iterations == before {
            // No curvature along the very first direction: a restart would repeat itself.
            let last = true_residual(a, b, x, r)?;
            return finish(WHAT, iterations, last, size, params);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Matrix, SparseMatrix, mul_a_transposed_b};
    use super::*;
    use crate::testkit::SplitMix64;

    /// J M⁻¹ Jᵀ of rank `rank` and a right-hand side in its range: redundant constraints that agree.
    fn redundant(n: usize, rank: usize, seed: u64) -> (Matrix, Vec<f64>) {
        let mut stream = SplitMix64(seed);
        let j = Matrix::from_fn(n, rank, |_, _| stream.range(-1.0, 1.0));
        let mut a = Matrix::zeros(n, n);
        mul_a_transposed_b(j.as_ref(), j.as_ref(), a.as_mut()).unwrap();
        let y: Vec<f64> = (0..n).map(|_| stream.range(-1.0, 1.0)).collect();
        let mut b = vec![0.0; n];
        a.apply(&y, &mut b).unwrap();
        (a, b)
    }

    // proves: DYN-110
    #[test]
    fn a_redundant_consistent_system_is_solved() {
        let mut ws = IterativeWorkspace::default();
        for (n, rank) in [(2, 1), (6, 3), (20, 12), (40, 39), (10, 10)] {
            for tolerance in [0.1, 0.01, 1e-10] {
                let (a, b) = redundant(n, rank, n as u64);
                let mut x = vec![0.0; n];
                let report =
                    conjugate_gradient(&a, &b, &mut x, &IterativeParams::with_tolerance(tolerance), &mut ws)
                        .unwrap();
                let mut r = vec![0.0; n];
                let left = true_residual(&a, &b, &x, &mut r).unwrap();
                assert!(left <= tolerance * super::super::norm(&b), "{left:e} after {report:?}");
            }
        }
        // Two point-to-point constraints given twice, as a plain example.
        let a = Matrix::from_rows(&[[2.0, 2.0], [2.0, 2.0]]);
        let mut x = [0.0; 2];
        conjugate_gradient(&a, &[4.0, 4.0], &mut x, &IterativeParams::default(), &mut ws).unwrap();
        crate::assert_close!(x[0] + x[1], 2.0, abs = 1e-12);
    }

    #[test]
    fn dense_and_sparse_take_the_same_path() {
        let mut ws = IterativeWorkspace::default();
        let n = 60;
        let mut a = Matrix::zeros(n, n);
        for i in 0..n {
            a[(i, i)] = 2.5;
            if i + 1 < n {
                (a[(i, i + 1)], a[(i + 1, i)]) = (-1.0, -1.0);
            }
        }
        let mut sparse = SparseMatrix::default();
        sparse.copy_from_dense(a.as_ref()).unwrap();
        let b: Vec<f64> = (0..n).map(|i| f64::from(i as u32 % 5)).collect();
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
        let params = IterativeParams::with_tolerance(1e-12);
        let dense_report = conjugate_gradient(&a, &b, &mut x, &params, &mut ws).unwrap();
        let sparse_report = conjugate_gradient(&sparse, &b, &mut y, &params, &mut ws).unwrap();
        assert_eq!(dense_report.iterations, sparse_report.iterations);
        for (x, y) in x.iter().zip(&y) {
            crate::assert_close!(*x, *y, abs = 1e-11);
        }
    }

    #[test]
    fn the_diagonal_preconditioner_makes_a_diagonal_matrix_trivial() {
        let mut ws = IterativeWorkspace::default();
        let a = Matrix::from_fn(30, 30, |i, j| if i == j { crate::ops::powi(2.0, i as i32) } else { 0.0 });
        let b = vec![1.0; 30];
        let mut x = vec![0.0; 30];
        let report = conjugate_gradient(&a, &b, &mut x, &IterativeParams::default(), &mut ws).unwrap();
        assert_eq!(report.iterations, 1);
    }

    #[test]
    fn contradictory_systems_are_reported() {
        let mut ws = IterativeWorkspace::default();
        let a = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]);
        let mut x = [0.0; 2];
        let found = conjugate_gradient(&a, &[1.0, 3.0], &mut x, &IterativeParams::default(), &mut ws);
        assert!(
            matches!(found, Err(MathError::NotConverged { residual, .. }) if residual > 0.1),
            "{found:?}"
        );
        assert!(x.iter().all(|x| x.is_finite()));
        assert!(conjugate_gradient(&a, &[1.0], &mut x, &IterativeParams::default(), &mut ws).is_err());
        assert!(
            conjugate_gradient(&a, &[1.0, f64::NAN], &mut x, &IterativeParams::default(), &mut ws).is_err()
        );
        let bad = IterativeParams::with_tolerance(0.0);
        assert!(matches!(
            conjugate_gradient(&a, &[1.0, 1.0], &mut x, &bad, &mut ws),
            Err(MathError::NotPositive { .. })
        ));
    }
}
