//! Products of matrices and vectors.
//!
//! # Reference
//! The definitions; the loop orders are those that read row-major storage along rows.
//!
//! # Symbols
//! `a` is m x k, `b` is k x n, `x`, `y` vectors.
//!
//! # Formula
//! ```text
//! mul_vec            y_i = dot(a_i, x)
//! mul_transpose_vec  y   = Σ_i x_i a_i                  (i ascending)
//! mul                c_i = Σ_k a_ik b_k                 (k ascending, four at a time)
//! mul_a_transposed_b c_ij = dot(a_i, b_j)
//! ```
//!
//! # Cost
//! 2 m k n operations, no allocation.
//!
//! # Numerics
//! Componentwise error at most k ε |a| |b|. The order is fixed, so results repeat bit for bit.
//!
//! # Failure
//! [`MathError::WrongLength`] if the shapes do not fit. Non-finite entries pass through, as IEEE 754 has it.
//!
//! # Tested by
//! `products_equal_the_definition`, `shapes_that_do_not_fit_are_errors`.

use super::kernels::{axpy, dot, sub4};
use super::matrix::{MatMut, MatRef, check_len};
use crate::MathError;

/// `y = a x`.
///
/// # Errors
/// [`MathError::WrongLength`] if the shapes do not fit.
pub fn mul_vec(a: MatRef<'_>, x: &[f64], y: &mut [f64]) -> Result<(), MathError> {
    check_len("x", x.len(), a.cols())?;
    check_len("y", y.len(), a.rows())?;
    for (i, y) in y.iter_mut().enumerate() {
        *y = dot(a.row(i), x);
    }
    Ok(())
}

/// `y = aᵀ x`.
///
/// # Errors
/// [`MathError::WrongLength`] if the shapes do not fit.
pub fn mul_transpose_vec(a: MatRef<'_>, x: &[f64], y: &mut [f64]) -> Result<(), MathError> {
    check_len("x", x.len(), a.rows())?;
    check_len("y", y.len(), a.cols())?;
    y.fill(0.0);
    for (i, &x) in x.iter().enumerate() {
        axpy(x, a.row(i), y);
    }
    Ok(())
}

/// `r = b − a x`.
///
/// # Errors
/// [`MathError::WrongLength`] if the shapes do not fit.
pub fn residual(a: MatRef<'_>, x: &[f64], b: &[f64], r: &mut [f64]) -> Result<(), MathError> {
    check_len("b", b.len(), a.rows())?;
    mul_vec(a, x, r)?;
    for (r, b) in r.iter_mut().zip(b) {
        *r = b - *r;
    }
    Ok(())
}

/// `c = a b`.
///
/// # Errors
/// [`MathError::WrongLength`] if the shapes do not fit.
pub fn mul(a: MatRef<'_>, b: MatRef<'_>, mut c: MatMut<'_>) -> Result<(), MathError> {
    check_len("rows of b", b.rows(), a.cols())?;
    check_len("rows of c", c.rows(), a.rows())?;
    check_len("columns of c", c.cols(), b.cols())?;
    for i in 0..a.rows() {
        let (a_row, c_row) = (a.row(i), c.row_mut(i));
        c_row.fill(0.0);
        let mut k = 0;
        while k + 4 <= a_row.len() {
            let factors = [-a_row[k], -a_row[k + 1], -a_row[k + 2], -a_row[k + 3]];
            sub4(factors, [b.row(k), b.row(k + 1), b.row(k + 2), b.row(k + 3)], c_row);
            k += 4;
        }
        for (k, &factor) in a_row.iter().enumerate().skip(k) {
            axpy(factor, b.row(k), c_row);
        }
    }
    Ok(())
}

/// `c = a bᵀ`.
///
/// # Errors
/// [`MathError::WrongLength`] if the shapes do not fit.
pub fn mul_a_transposed_b(a: MatRef<'_>, b: MatRef<'_>, mut c: MatMut<'_>) -> Result<(), MathError> {
    check_len("columns of b", b.cols(), a.cols())?;
    check_len("rows of c", c.rows(), a.rows())?;
    check_len("columns of c", c.cols(), b.rows())?;
    for i in 0..a.rows() {
        for (j, c) in c.row_mut(i).iter_mut().enumerate() {
            *c = dot(a.row(i), b.row(j));
        }
    }
    Ok(())
}

/// `c = aᵀ b`.
///
/// # Errors
/// [`MathError::WrongLength`] if the shapes do not fit.
pub fn mul_transpose_a_b(a: MatRef<'_>, b: MatRef<'_>, mut c: MatMut<'_>) -> Result<(), MathError> {
    check_len("rows of b", b.rows(), a.rows())?;
    check_len("rows of c", c.rows(), a.cols())?;
    check_len("columns of c", c.cols(), b.cols())?;
    c.fill(0.0);
    for k in 0..a.rows() {
        for (i, &factor) in a.row(k).iter().enumerate() {
            axpy(factor, b.row(k), c.row_mut(i));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Matrix;
    use super::*;
    use crate::assert_close;
    use crate::testkit::SplitMix64;

    fn random(random: &mut SplitMix64, rows: usize, cols: usize) -> Matrix {
        Matrix::from_fn(rows, cols, |_, _| random.range(-2.0, 2.0))
    }

    #[test]
    fn products_equal_the_definition() {
        let mut stream = SplitMix64(7);
        for (m, k, n) in [(1, 1, 1), (3, 5, 2), (4, 4, 4), (7, 9, 11), (2, 0, 3), (0, 2, 2)] {
            let (a, b) = (random(&mut stream, m, k), random(&mut stream, k, n));
            let mut c = Matrix::zeros(m, n);
            mul(a.as_ref(), b.as_ref(), c.as_mut()).unwrap();
            let mut c_abt = Matrix::zeros(m, n);
            mul_a_transposed_b(a.as_ref(), b.transposed().as_ref(), c_abt.as_mut()).unwrap();
            let mut c_atb = Matrix::zeros(m, n);
            mul_transpose_a_b(a.transposed().as_ref(), b.as_ref(), c_atb.as_mut()).unwrap();
            for i in 0..m {
                for j in 0..n {
                    let expected: f64 = (0..k).map(|l| a[(i, l)] * b[(l, j)]).sum();
                    assert_close!(c[(i, j)], expected, rel = 1e-14, abs = 1e-14);
                    assert_close!(c_abt[(i, j)], expected, rel = 1e-14, abs = 1e-14);
                    assert_close!(c_atb[(i, j)], expected, rel = 1e-14, abs = 1e-14);
                }
            }
            let x: Vec<f64> = (0..k).map(|_| stream.range(-1.0, 1.0)).collect();
            let (mut y, mut z) = (vec![0.0; m], vec![0.0; m]);
            mul_vec(a.as_ref(), &x, &mut y).unwrap();
            mul_transpose_vec(a.transposed().as_ref(), &x, &mut z).unwrap();
            for i in 0..m {
                let expected: f64 = (0..k).map(|l| a[(i, l)] * x[l]).sum();
                assert_close!(y[i], expected, rel = 1e-14, abs = 1e-14);
                assert_close!(z[i], expected, rel = 1e-14, abs = 1e-14);
            }
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_errors() {
        let (a, b) = (Matrix::zeros(2, 3), Matrix::zeros(2, 3));
        let mut c = Matrix::zeros(2, 3);
        assert!(mul(a.as_ref(), b.as_ref(), c.as_mut()).is_err());
        assert!(mul_a_transposed_b(a.as_ref(), b.as_ref(), c.as_mut()).is_err());
        assert!(mul_transpose_a_b(a.as_ref(), b.as_ref(), c.as_mut()).is_err());
        assert_eq!(
            mul_vec(a.as_ref(), &[1.0; 2], &mut [0.0; 2]),
            Err(MathError::WrongLength { what: "x", expected: 3, got: 2 })
        );
        assert!(mul_transpose_vec(a.as_ref(), &[1.0; 2], &mut [0.0; 2]).is_err());
        assert!(residual(a.as_ref(), &[1.0; 3], &[1.0; 3], &mut [0.0; 2]).is_err());
    }
}
