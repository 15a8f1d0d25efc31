//! Conjugate gradients on the normal equations (CGLS): any matrix, at the price of its condition squared.
//!
//! # Reference
//! Björck, *Numerical Methods for Least Squares Problems* (1996), section 7.4.1.
//!
//! # Symbols
//! `r` = b − A x, `g` = Aᵀ r, `p` direction, `q` = A p, γ = g·g.
//!
//! # Formula
//! ```text
//! α = γ / q·q,   x ← x + α p,   r ← r − α q,   g = Aᵀ r,   β = γ'/γ,   p ← g + β p
//! ```
//!
//! # Cost
//! One product with A and one with Aᵀ per iteration. No allocation once the workspace has the size.
//!
//! # Numerics
//! Never forms `AᵀA`. The residual falls in every iteration. Started from x = 0 it converges to the least-squares
//! solution of least norm, slowly when A is badly conditioned.
//!
//! # Failure
//! [`MathError::NotConverged`] at the limit, or when Aᵀ r vanishes with r left over: the system is
//! contradictory and `x` is then its least-squares solution.
//!
//! # Tested by
//! `singular_systems_of_every_kind_are_solved`, `a_contradictory_system_ends_at_least_squares`.

use super::super::kernels::{axpy, dot};
use super::{
    IterationReport, IterativeParams, IterativeWorkspace, LinearOperator, begin, finish, norm, true_residual,
};
use crate::MathError;

const WHAT: &str = "conjugate gradient on the normal equations";

/// Solves `A x = b`, starting from the `x` given.
///
/// # Errors
/// [`MathError::NotConverged`], [`MathError::WrongLength`], [`MathError::NonFinite`].
pub fn cgls(
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
    let [r, g, p, q, ..] = &mut ws.vectors;
    let target = params.tolerance * size;
    let limit = params.limit(b.len());
    let mut residual = true_residual(a, b, x, r)?;
    a.apply_transposed(r, g)?;
    p.copy_from_slice(g);
    let mut gamma = dot(g, g);
    let first_gradient = norm(g);
    let mut iterations = 0;
    while residual > target && iterations < limit && norm(g) > f64::EPSILON * first_gradient {
        a.apply(p, q)?;
        let curvature = dot(q, q);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        iterations += 1;
        let alpha = gamma / curvature;
        axpy(alpha, p, x);
        axpy(-alpha, q, r);
        residual = norm(r);
        a.apply_transposed(r, g)?;
        let next = dot(g, g);
        let beta = next / gamma;
        gamma = next;
        for (p, g) in p.iter_mut().zip(&*g) {
            *p = g + beta * *p;
        }
    }
    residual = true_residual(a, b, x, r)?;
    finish(WHAT, iterations, residual, size, params)
}

#[cfg(test)]
mod tests {
    use super::super::super::{Matrix, mul};
    use super::*;
    use crate::testkit::SplitMix64;

    #[test]
    fn singular_systems_of_every_kind_are_solved() {
        let mut ws = IterativeWorkspace::default();
        let mut stream = SplitMix64(21);
        for (n, rank) in [(3, 1), (6, 4), (12, 6), (15, 15)] {
            let left = Matrix::from_fn(n, rank, |_, _| stream.range(-1.0, 1.0));
            let right = Matrix::from_fn(rank, n, |_, _| stream.range(-1.0, 1.0));
            let mut a = Matrix::zeros(n, n);
            mul(left.as_ref(), right.as_ref(), a.as_mut()).unwrap();
            let y: Vec<f64> = (0..n).map(|_| stream.range(-1.0, 1.0)).collect();
            let (mut b, mut x) = (vec![0.0; n], vec![0.0; n]);
            a.apply(&y, &mut b).unwrap();
            let report = cgls(&a, &b, &mut x, &IterativeParams::with_tolerance(1e-8), &mut ws).unwrap();
            let mut r = vec![0.0; n];
            assert!(true_residual(&a, &b, &x, &mut r).unwrap() <= 1e-8 * norm(&b), "{report:?}");
        }
    }

    #[test]
    fn a_contradictory_system_ends_at_least_squares() {
        let mut ws = IterativeWorkspace::default();
        let a = Matrix::from_rows(&[[1.0, 0.0], [1.0, 0.0]]);
        let mut x = [0.0; 2];
        let found = cgls(&a, &[1.0, 3.0], &mut x, &IterativeParams::default(), &mut ws);
        assert!(matches!(found, Err(MathError::NotConverged { .. })));
        crate::assert_close!(x[0], 2.0, abs = 1e-14);
        crate::assert_close!(x[1], 0.0, abs = 1e-14);
    }
}
