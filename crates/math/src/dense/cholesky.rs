//! Cholesky factorisation of symmetric positive definite matrices.
//!
//! # Reference
//! Golub and Van Loan, *Matrix Computations*, 4th ed., section 4.2; Higham, 2nd ed., theorem 10.3.
//!
//! # Symbols
//! `A` matrix, `L` lower triangle with positive diagonal, `n` order, ε unit round-off.
//!
//! # Formula
//! ```text
//! A = L Lᵀ
//! l_ij = (a_ij − Σ_{k<j} l_ik l_jk) / l_jj,   l_ii = √(a_ii − Σ_{k<i} l_ik²)
//! ```
//!
//! # Cost
//! n³/3 operations to factorise, row by row with contiguous dot products; 2 n² per right-hand side.
//! Allocates only when the order exceeds every earlier one. Only the lower triangle of `A` is read.
//!
//! # Numerics
//! No pivoting is needed: entries of L are bounded by `√a_ii`. A pivot below `8 n ε a_ii` counts as zero.
//!
//! # Failure
//! [`MathError::NotPositive`] with row and pivot if the matrix is indefinite, [`MathError::Singular`] if it is
//! semidefinite to rounding; [`MathError::NonFinite`], [`MathError::WrongLength`], [`MathError::NotPrepared`].
//!
//! # Tested by
//! `factors_give_the_matrix_back`, `solutions_agree_with_lu`, `indefinite_and_semidefinite_are_told_apart`,
//! and against faer in `tests/dense_oracle.rs`.

use super::kernels::{axpy, dot, scale};
use super::matrix::{MatMut, MatRef, Matrix, check_len, check_ready};
use crate::MathError;

/// Lower triangular factor with its storage.
#[derive(Debug, Clone, Default)]
pub struct Cholesky {
    lower: Matrix,
    ready: bool,
}

impl Cholesky {
    /// Order of the matrix last given.
    #[inline]
    #[must_use]
    pub fn order(&self) -> usize {
        self.lower.rows()
    }

    /// Factorises a symmetric positive definite matrix; reads its lower triangle.
    ///
    /// # Errors
    /// See the module's *Failure*; the factor is then not usable.
    pub fn factor(&mut self, a: MatRef<'_>) -> Result<(), MathError> {
        self.ready = false;
        let n = a.check_square()?;
        self.lower.reset(n, n);
        let tolerance = 8.0 * f64::EPSILON * n as f64;
        for i in 0..n {
            let (done, rest) = self.lower.as_mut_slice().split_at_mut(i * n);
            let (a_row, l_row) = (a.row(i), &mut rest[..n]);
            for j in 0..i {
                let other = &done[j * n..j * n + j + 1];
                l_row[j] = (a_row[j] - dot(&l_row[..j], other)) / other[j];
            }
            let pivot = a_row[i] - dot(&l_row[..i], &l_row[..i]);
            let negligible = tolerance * a_row[i].abs();
            if pivot < -negligible {
                return Err(MathError::NotPositive { what: "Cholesky pivot", index: i, value: pivot });
            }
            if pivot <= negligible {
                return Err(MathError::Singular { what: "Cholesky matrix", pivot: i, value: pivot });
            }
            l_row[i] = pivot.sqrt();
        }
        self.ready = true;
        Ok(())
    }

    /// The lower triangular factor; zero above the diagonal.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`].
    pub fn lower(&self) -> Result<MatRef<'_>, MathError> {
        self.check_ready(self.order())?;
        Ok(self.lower.as_ref())
    }

    fn check_ready(&self, len: usize) -> Result<(), MathError> {
        check_ready("Cholesky", self.ready, len, self.order())
    }

    /// Replaces the right-hand side `x` by the solution of `A x = b`.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`], [`MathError::WrongLength`] or [`MathError::NonFinite`].
    pub fn solve_in_place(&self, x: &mut [f64]) -> Result<(), MathError> {
        self.check_ready(x.len())?;
        MathError::check_finite("right-hand side", x)?;
        for i in 0..x.len() {
            let row = self.lower.row(i);
            x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
        }
        for i in (0..x.len()).rev() {
            let row = self.lower.row(i);
            let (rest, tail) = x.split_at_mut(i);
            tail[0] /= row[i];
            axpy(-tail[0], &row[..i], rest);
        }
        Ok(())
    }

    /// Solves `A x = b`.
    ///
    /// # Errors
    /// As [`Cholesky::solve_in_place`].
    pub fn solve(&self, b: &[f64], x: &mut [f64]) -> Result<(), MathError> {
        check_len("right-hand side", b.len(), self.order())?;
        check_len("solution", x.len(), self.order())?;
        x.copy_from_slice(b);
        self.solve_in_place(x)
    }

    /// Replaces the columns of `x` by the solutions of `A X = B`, working along rows.
    ///
    /// # Errors
    /// As [`Cholesky::solve_in_place`].
    pub fn solve_matrix_in_place(&self, mut x: MatMut<'_>) -> Result<(), MathError> {
        self.check_ready(x.rows())?;
        x.as_ref().check_finite()?;
        for i in 0..x.rows() {
            for k in 0..i {
                if let Some((target, source)) = x.two_rows_mut(i, k) {
                    axpy(-self.lower[(i, k)], source, target);
                }
            }
            scale(1.0 / self.lower[(i, i)], x.row_mut(i));
        }
        for i in (0..x.rows()).rev() {
            scale(1.0 / self.lower[(i, i)], x.row_mut(i));
            for k in 0..i {
                if let Some((target, source)) = x.two_rows_mut(k, i) {
                    axpy(-self.lower[(i, k)], source, target);
                }
            }
        }
        Ok(())
    }

    /// Writes the inverse of the factorised matrix.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`] or [`MathError::WrongLength`].
    pub fn inverse(&self, mut out: MatMut<'_>) -> Result<(), MathError> {
        self.check_ready(out.rows())?;
        check_len("columns of the inverse", out.cols(), self.order())?;
        out.set_identity();
        self.solve_matrix_in_place(out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lu, mul, mul_a_transposed_b};
    use super::*;
    use crate::assert_close;
    use crate::testkit::SplitMix64;

    fn spd(n: usize, rank: usize, seed: u64) -> Matrix {
        let mut stream = SplitMix64(seed);
        let g = Matrix::from_fn(n, rank, |i, j| stream.range(-1.0, 1.0) + if i == j { 3.0 } else { 0.0 });
        let mut a = Matrix::zeros(n, n);
        mul_a_transposed_b(g.as_ref(), g.as_ref(), a.as_mut()).unwrap();
        a
    }

    #[test]
    fn factors_give_the_matrix_back() {
        let mut cholesky = Cholesky::default();
        for n in [1, 2, 5, 17, 50] {
            let a = spd(n, n + 5, n as u64);
            cholesky.factor(a.as_ref()).unwrap();
            let mut product = Matrix::zeros(n, n);
            let lower = cholesky.lower().unwrap();
            mul_a_transposed_b(lower, lower, product.as_mut()).unwrap();
            for i in 0..n {
                for j in 0..n {
                    let size = (a[(i, i)] * a[(j, j)]).sqrt();
                    assert_close!(product[(i, j)], a[(i, j)], abs = 1e-14 * size);
                }
            }
        }
    }

    #[test]
    fn solutions_agree_with_lu() {
        let (mut cholesky, mut lu) = (Cholesky::default(), Lu::default());
        for n in [1, 3, 8, 30] {
            let a = spd(n, n + 8, 40 + n as u64);
            cholesky.factor(a.as_ref()).unwrap();
            lu.factor(a.as_ref()).unwrap();
            let b: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
            let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
            cholesky.solve(&b, &mut x).unwrap();
            lu.solve(&b, &mut y).unwrap();
            for i in 0..n {
                assert_close!(x[i], y[i], rel = 1e-9, abs = 1e-9);
            }
            let (mut inverse, mut product) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
            cholesky.inverse(inverse.as_mut()).unwrap();
            mul(a.as_ref(), inverse.as_ref(), product.as_mut()).unwrap();
            for i in 0..n {
                for j in 0..n {
                    assert_close!(product[(i, j)], f64::from(u8::from(i == j)), abs = 1e-10);
                }
            }
        }
    }

    #[test]
    fn indefinite_and_semidefinite_are_told_apart() {
        let mut cholesky = Cholesky::default();
        let indefinite = Matrix::from_rows(&[[1.0, 2.0], [2.0, 1.0]]);
        assert_eq!(
            cholesky.factor(indefinite.as_ref()),
            Err(MathError::NotPositive { what: "Cholesky pivot", index: 1, value: -3.0 })
        );
        assert!(matches!(cholesky.solve_in_place(&mut [0.0; 2]), Err(MathError::NotPrepared { .. })));
        for seed in 0..50 {
            let a = spd(10, 6, seed);
            let found = cholesky.factor(a.as_ref());
            assert!(matches!(found, Err(MathError::Singular { pivot: 6, .. })), "{found:?}");
        }
        assert!(matches!(
            cholesky.factor(Matrix::zeros(1, 1).as_ref()),
            Err(MathError::Singular { pivot: 0, .. })
        ));
        assert!(cholesky.factor(Matrix::zeros(1, 2).as_ref()).is_err());
        let nan = Matrix::from_rows(&[[f64::NAN]]);
        assert!(matches!(cholesky.factor(nan.as_ref()), Err(MathError::NonFinite { .. })));
    }
}
