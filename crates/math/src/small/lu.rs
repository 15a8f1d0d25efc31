//! LU factorisation with scaled partial pivoting: solve, inverse and determinant of a small regular matrix.
//!
//! # Reference
//! Golub and Van Loan, *Matrix Computations*, 4th ed., 3.4 (outer-product order, row pivoting with implicit
//! row scaling).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `l` | L below the diagonal; the unit diagonal is not stored |
//! | `u` | U on and above the diagonal; below it is debris |
//! | `row[k]` | row of A that became row k |
//! | `size` | Σ of magnitudes of the terms that made a pivot: what its rounding error is relative to |
//!
//! # Formula
//! ```text
//! P A = L U,   u_ij = a_ij − Σ_{k<i} l_ik u_kj,   l_ij = (a_ij − Σ_{k<j} l_ik u_kj) / u_jj
//! ```
//! # Cost
//! N³/2 multiply-adds to factor, as many again for the magnitudes; N² to solve. No allocation.
//!
//! # Numerics
//! Rows are compared after division by their largest entry, so that equations in different units (N and N·m)
//! compete fairly. A pivot that is smaller than N ε times the magnitudes it was subtracted from carries no
//! digit and is refused. The test sees the rounding of one pivot, not what earlier pivots handed down: of
//! random singular integer 6x6 matrices 1.4 % pass it, with a [`Lu::reciprocal_condition`] below 1e-14. Ask
//! for that number where a nearly singular matrix is possible and its solution matters.
//!
//! # Failure
//! [`MathError::NonFinite`] for a bad entry; [`MathError::Singular`] with the elimination step and the pivot.
//!
//! # Tested by
//! `residual_is_small_compared_with_the_condition`, `singular_matrices_are_refused_or_show_in_the_condition`,
//! `rows_in_very_different_units_are_solved`.

use super::{check_finite, identity, norm_one};
use crate::MathError;

/// P A = L U of an N by N matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lu<const N: usize> {
    l: [[f64; N]; N],
    u: [[f64; N]; N],
    row: [usize; N],
    odd_swaps: bool,
}

impl<const N: usize> Lu<N> {
    /// Factorises `a`.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] or [`MathError::Singular`].
    #[inline]
    pub fn factor(a: &[[f64; N]; N]) -> Result<Self, MathError> {
        check_finite(a)?;
        let mut u = *a;
        let mut l = [[0.0; N]; N];
        let mut size = a.map(|row| row.map(f64::abs));
        let mut scale = size.map(|row| row.iter().fold(0.0, |m: f64, x| m.max(*x)));
        let mut row: [usize; N] = std::array::from_fn(|i| i);
        let mut odd_swaps = false;
        for k in 0..N {
            let (mut pivot, mut best) = (k, -1.0);
            for i in k..N {
                let relative = if scale[i] > 0.0 { u[i][k].abs() / scale[i] } else { 0.0 };
                if relative > best {
                    (pivot, best) = (i, relative);
                }
            }
            if pivot != k {
                u.swap(pivot, k);
                l.swap(pivot, k);
                size.swap(pivot, k);
                scale.swap(pivot, k);
                row.swap(pivot, k);
                odd_swaps = !odd_swaps;
            }
            let value = u[k][k];
            // Negated, so that an overflow to infinity or NaN is refused too.
            let has_digits = value.abs() > N as f64 * f64::EPSILON * size[k][k];
            if !has_digits || !value.is_finite() {
                return Err(MathError::Singular { what: "matrix", pivot: k, value });
            }
            let inverse = 1.0 / value;
            let pivot_row = u[k];
            for i in k + 1..N {
                let factor = u[i][k] * inverse;
                l[i][k] = factor;
                // Whole rows: columns up to k are finished and never read again, a fixed length vectorises.
                for j in 0..N {
                    let term = factor * pivot_row[j];
                    u[i][j] -= term;
                    size[i][j] += term.abs();
                }
            }
        }
        Ok(Self { l, u, row, odd_swaps })
    }

    /// The x of A x = b.
    #[inline]
    #[must_use]
    pub fn solve(&self, b: [f64; N]) -> [f64; N] {
        let mut x: [f64; N] = std::array::from_fn(|i| b[self.row[i]]);
        for i in 1..N {
            for k in 0..i {
                x[i] -= self.l[i][k] * x[k];
            }
        }
        for i in (0..N).rev() {
            for k in i + 1..N {
                x[i] -= self.u[i][k] * x[k];
            }
            x[i] /= self.u[i][i];
        }
        x
    }

    /// The inverse of A. To apply it once, [`Lu::solve`] is cheaper and more accurate.
    #[inline]
    #[must_use]
    pub fn inverse(&self) -> [[f64; N]; N] {
        let unit = identity::<N>();
        let columns: [[f64; N]; N] = std::array::from_fn(|j| self.solve(unit[j]));
        super::transpose(&columns)
    }

    /// The determinant of A.
    #[inline]
    #[must_use]
    pub fn determinant(&self) -> f64 {
        let sign = if self.odd_swaps { -1.0 } else { 1.0 };
        (0..N).fold(sign, |d, i| d * self.u[i][i])
    }

    /// 1 / (‖A‖ ‖A⁻¹‖) in the column-sum norm, in (0, 1]: about 1e-k means that k digits are lost.
    ///
    /// `a` is the matrix that was factorised.
    #[inline]
    #[must_use]
    pub fn reciprocal_condition(&self, a: &[[f64; N]; N]) -> f64 {
        1.0 / (norm_one(a) * norm_one(&self.inverse()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        small::{mul, mul_vec, samples},
        testkit::SplitMix64,
    };

    fn worst_residual<const N: usize>(seed: u64, count: usize) -> f64 {
        let mut random = SplitMix64(seed);
        let mut worst: f64 = 0.0;
        for _ in 0..count {
            let mut a = samples::any::<N>(&mut random);
            if random.below(3) == 0 {
                // Nearly dependent rows: conditions up to about 1e12.
                let tiny = crate::ops::powf(10.0, random.range(-10.0, -2.0));
                a[N - 1] = std::array::from_fn(|j| a[0][j] + a[1][j] + tiny * a[N - 1][j]);
            }
            let x: [f64; N] = std::array::from_fn(|_| random.range(-1.0, 1.0));
            let b = mul_vec(&a, x);
            let lu = Lu::factor(&a).unwrap();
            let y = lu.solve(b);
            let condition = 1.0 / lu.reciprocal_condition(&a);
            for i in 0..N {
                // Backward stable: the residual does not know the condition, the error does.
                worst = worst.max((mul_vec(&a, y)[i] - b[i]).abs());
                assert!((y[i] - x[i]).abs() < 1e-12 * condition, "{y:?} {x:?} {condition:e}");
            }
            let product = mul(&a, &lu.inverse());
            assert!(samples::distance(&product, &identity()) < 1e-12 * condition);
        }
        worst
    }

    // proves: FON-06
    #[test]
    fn residual_is_small_compared_with_the_condition() {
        // The residual is scaled by the condition number in the check; here it needs no such help.
        assert!(worst_residual::<6>(1, 20_000) < 1e-12);
        assert!(worst_residual::<3>(2, 20_000) < 1e-12);
        assert!(worst_residual::<10>(3, 1000) < 1e-12);
    }

    #[test]
    fn determinant_is_that_of_glam_and_flips_with_a_swap() {
        let mut random = SplitMix64(7);
        for _ in 0..1000 {
            let a = samples::any::<3>(&mut random);
            let reference = glam::DMat3::from_cols_array_2d(&a).determinant();
            assert!((Lu::factor(&a).unwrap().determinant() - reference).abs() < 1e-14);
            let swapped = [a[1], a[0], a[2]];
            assert!((Lu::factor(&swapped).unwrap().determinant() + reference).abs() < 1e-14);
        }
    }

    #[test]
    fn singular_matrices_are_refused_or_show_in_the_condition() {
        assert_eq!(
            Lu::factor(&[[0.0; 3]; 3]),
            Err(MathError::Singular { what: "matrix", pivot: 0, value: 0.0 })
        );
        let magic = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]];
        assert!(matches!(Lu::factor(&magic), Err(MathError::Singular { pivot: 2, .. })));
        // Random small integers with one dependent row: singular exactly, noise after elimination.
        let mut random = SplitMix64(8);
        let mut slipped_through = 0;
        for _ in 0..2000 {
            let mut a: [[f64; 6]; 6] =
                std::array::from_fn(|_| std::array::from_fn(|_| random.range(-4.0, 5.0).floor()));
            a[4] = std::array::from_fn(|j| a[0][j] - 2.0 * a[2][j] + a[5][j]);
            match Lu::factor(&a) {
                Err(MathError::Singular { .. }) => {}
                Ok(lu) => {
                    slipped_through += 1;
                    assert!(lu.reciprocal_condition(&a) < 1e-14, "{a:?}");
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(slipped_through <= 27, "{slipped_through} of 2000");
        let nan = [[1.0, f64::NAN], [0.0, 1.0]];
        assert!(matches!(Lu::factor(&nan), Err(MathError::NonFinite { index: 1, .. })));
    }

    #[test]
    fn rows_in_very_different_units_are_solved() {
        let a = [[1e-30, 2e-30, 0.0], [3e20, -1e20, 1e20], [0.0, 1.0, 1.0]];
        let x = [1.0, -2.0, 3.0];
        // Without row scaling the huge entry of the first row would swallow the second equation.
        let lopsided = [[1.0, 1e20], [1.0, 1.0]];
        let z = Lu::factor(&lopsided).unwrap().solve([1e20, 2.0]);
        assert!((z[0] - 1.0).abs() < 1e-15 && (z[1] - 1.0).abs() < 1e-15, "{z:?}");
        let y = Lu::factor(&a).unwrap().solve(mul_vec(&a, x));
        assert!((0..3).all(|i| (x[i] - y[i]).abs() < 1e-14), "{y:?}");
    }
}
