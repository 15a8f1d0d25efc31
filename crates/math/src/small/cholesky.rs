//! Cholesky factorisation of a small symmetric positive definite matrix.
//!
//! # Reference
//! Golub and Van Loan, *Matrix Computations*, 4th ed., algorithm 4.2.1.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `l` | lower triangle; the diagonal holds 1 / `l_jj` |
//!
//! # Formula
//! ```text
//! A = L Lᵀ,   d_j = a_jj − Σ_{k<j} l_jk²,   l_jj = √d_j,   l_ij = (a_ij − Σ_{k<j} l_ik l_jk) / l_jj
//! ```
//! # Cost
//! N³/6 multiply-adds and N square roots to factor, N² to solve. No allocation.
//!
//! # Numerics
//! Only the lower triangle of the input is read. No pivoting is needed. The test for definiteness,
//! `d_j` > N ε `a_jj`, does not change when rows and columns are rescaled together, so moments in kg·m² and
//! masses in kg may differ by any factor.
//!
//! # Failure
//! [`MathError::NotPositive`] with the pivot and its value; [`MathError::NonFinite`] for a bad entry.
//!
//! # Tested by
//! `factor_reproduces_the_matrix`, `solve_agrees_with_lu`, `definiteness_test_ignores_units`.

use super::{check_finite, identity};
use crate::MathError;

/// A = L Lᵀ of an N by N symmetric positive definite matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cholesky<const N: usize> {
    l: [[f64; N]; N],
}

impl<const N: usize> Cholesky<N> {
    /// Factorises `a`, of which the lower triangle is read.
    ///
    /// # Errors
    /// [`MathError::NotPositive`] or [`MathError::NonFinite`].
    #[inline]
    pub fn factor(a: &[[f64; N]; N]) -> Result<Self, MathError> {
        let mut l = [[0.0; N]; N];
        for j in 0..N {
            let mut d = a[j][j];
            for k in 0..j {
                d -= l[j][k] * l[j][k];
            }
            // A NaN or an infinity anywhere in the triangle reaches d and fails this comparison.
            let positive = d > N as f64 * f64::EPSILON * a[j][j];
            if !positive {
                check_finite(a)?;
                return Err(MathError::NotPositive { what: "Cholesky pivot", index: j, value: d });
            }
            let inverse = 1.0 / d.sqrt();
            l[j][j] = inverse;
            for i in j + 1..N {
                let mut s = a[i][j];
                for k in 0..j {
                    s -= l[i][k] * l[j][k];
                }
                l[i][j] = s * inverse;
            }
        }
        Ok(Self { l })
    }

    /// The x of A x = b.
    #[inline]
    #[must_use]
    pub fn solve(&self, b: [f64; N]) -> [f64; N] {
        let l = &self.l;
        let mut x = b;
        for i in 0..N {
            for k in 0..i {
                x[i] -= l[i][k] * x[k];
            }
            x[i] *= l[i][i];
        }
        for i in (0..N).rev() {
            for k in i + 1..N {
                x[i] -= l[k][i] * x[k];
            }
            x[i] *= l[i][i];
        }
        x
    }

    /// The inverse of A, exactly symmetric.
    #[inline]
    #[must_use]
    pub fn inverse(&self) -> [[f64; N]; N] {
        let unit = identity::<N>();
        let mut m: [[f64; N]; N] = std::array::from_fn(|j| self.solve(unit[j]));
        for i in 0..N {
            for j in 0..i {
                m[j][i] = m[i][j];
            }
        }
        m
    }

    /// The lower factor L, zeros above the diagonal.
    #[inline]
    #[must_use]
    pub fn lower(&self) -> [[f64; N]; N] {
        let mut l = self.l;
        for (i, row) in l.iter_mut().enumerate() {
            row[i] = 1.0 / row[i];
        }
        l
    }

    /// The determinant of A.
    #[inline]
    #[must_use]
    pub fn determinant(&self) -> f64 {
        (0..N).fold(1.0, |d, i| d / (self.l[i][i] * self.l[i][i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        small::{Lu, mul, mul_vec, samples, transpose},
        testkit::SplitMix64,
    };

    #[test]
    fn factor_reproduces_the_matrix() {
        let mut random = SplitMix64(11);
        for _ in 0..2000 {
            let a = samples::positive_definite::<6>(&mut random);
            let l = Cholesky::factor(&a).unwrap().lower();
            assert!(samples::distance(&mul(&l, &transpose(&l)), &a) < 1e-14 * 6.0);
        }
    }

    // proves: FON-06
    #[test]
    fn solve_agrees_with_lu() {
        let mut random = SplitMix64(12);
        for _ in 0..5000 {
            let a = samples::positive_definite::<6>(&mut random);
            let b: [f64; 6] = std::array::from_fn(|_| random.range(-1.0, 1.0));
            let (cholesky, lu) = (Cholesky::factor(&a).unwrap(), Lu::factor(&a).unwrap());
            let (x, y) = (cholesky.solve(b), lu.solve(b));
            let condition = 1.0 / lu.reciprocal_condition(&a);
            let residual = mul_vec(&a, x);
            for i in 0..6 {
                assert!((residual[i] - b[i]).abs() < 1e-12);
                assert!((x[i] - y[i]).abs() < 1e-14 * condition);
            }
            assert!(samples::distance(&mul(&a, &cholesky.inverse()), &identity()) < 1e-13 * condition);
            let (d, e) = (cholesky.determinant(), lu.determinant());
            assert!((d - e).abs() < 1e-12 * d.abs());
        }
    }

    #[test]
    fn definiteness_test_ignores_units() {
        let a = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]];
        let units = [1e-8, 1.0, 1e9];
        let scaled = std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] * units[i] * units[j]));
        assert!(Cholesky::<3>::factor(&scaled).is_ok());
        let semidefinite = [[1.0, 1.0], [1.0, 1.0]];
        assert!(matches!(Cholesky::factor(&semidefinite), Err(MathError::NotPositive { index: 1, .. })));
    }

    #[test]
    fn every_non_finite_entry_is_refused() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (i, j) in [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)] {
                let mut a = [[2.0, 0.5, 0.1], [0.5, 2.0, 0.1], [0.1, 0.1, 2.0]];
                a[i][j] = bad;
                a[j][i] = bad;
                assert!(matches!(Cholesky::factor(&a), Err(MathError::NonFinite { .. })), "{bad} {i} {j}");
            }
        }
    }
}
