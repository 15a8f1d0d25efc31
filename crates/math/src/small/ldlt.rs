//! L D Lᵀ factorisation of a small symmetric matrix, without square roots and without pivoting.
//!
//! # Reference
//! Golub and Van Loan, *Matrix Computations*, 4th ed., 4.1.2; Vanderbei, *Symmetric quasidefinite matrices*
//! (1995), for the class that needs no pivoting.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `l` | strict lower triangle of L |
//! | `d` | diagonal of D |
//!
//! # Formula
//! ```text
//! A = L D Lᵀ,   d_j = a_jj − Σ_{k<j} l_jk² d_k,   l_ij = (a_ij − Σ_{k<j} l_ik l_jk d_k) / d_j
//! ```
//! # Cost
//! N³/6 multiply-adds to factor, N² to solve. No allocation.
//!
//! # Numerics
//! Meant for definite matrices of either sign and for quasi-definite ones (a positive block, a negative block,
//! any coupling), which have this factorisation in every order. An indefinite matrix outside that class may
//! meet a zero pivot although it is regular, or lose digits to a small one: use [`super::Lu`] for those.
//!
//! # Failure
//! [`MathError::Singular`] with the pivot that carries no digit; [`MathError::NonFinite`] for a bad entry.
//!
//! # Tested by
//! `factors_multiply_to_the_matrix`, `quasi_definite_systems_agree_with_lu`, `pivot_signs_are_the_inertia`.

use super::check_finite;
use crate::MathError;

/// A = L D Lᵀ of an N by N symmetric matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ldlt<const N: usize> {
    l: [[f64; N]; N],
    d: [f64; N],
}

impl<const N: usize> Ldlt<N> {
    /// Factorises `a`, of which the lower triangle is read.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] or [`MathError::Singular`].
    #[inline]
    pub fn factor(a: &[[f64; N]; N]) -> Result<Self, MathError> {
        check_finite(a)?;
        let mut l = [[0.0; N]; N];
        let mut d = [0.0; N];
        for j in 0..N {
            let mut value = a[j][j];
            let mut size = value.abs();
            for k in 0..j {
                let term = l[j][k] * l[j][k] * d[k];
                value -= term;
                size += term.abs();
            }
            let has_digits = value.abs() > 2.0 * N as f64 * f64::EPSILON * size;
            if !has_digits || !value.is_finite() {
                return Err(MathError::Singular { what: "symmetric matrix", pivot: j, value });
            }
            d[j] = value;
            let inverse = 1.0 / value;
            for i in j + 1..N {
                let mut s = a[i][j];
                for k in 0..j {
                    s -= l[i][k] * l[j][k] * d[k];
                }
                l[i][j] = s * inverse;
            }
        }
        Ok(Self { l, d })
    }

    /// The x of A x = b.
    #[inline]
    #[must_use]
    pub fn solve(&self, b: [f64; N]) -> [f64; N] {
        let mut x = b;
        for i in 1..N {
            for k in 0..i {
                x[i] -= self.l[i][k] * x[k];
            }
        }
        for i in (0..N).rev() {
            x[i] /= self.d[i];
            for k in i + 1..N {
                x[i] -= self.l[k][i] * x[k];
            }
        }
        x
    }

    /// The pivots: as many are negative as A has negative eigenvalues.
    #[inline]
    #[must_use]
    pub const fn pivots(&self) -> [f64; N] {
        self.d
    }

    /// The unit lower factor L, zeros above the diagonal.
    #[inline]
    #[must_use]
    pub fn lower(&self) -> [[f64; N]; N] {
        let mut l = self.l;
        for (i, row) in l.iter_mut().enumerate() {
            row[i] = 1.0;
        }
        l
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        small::{Lu, SymmetricEigen, mul, samples, transpose},
        testkit::SplitMix64,
    };

    /// [[P, B], [Bᵀ, −Q]] with P and Q positive definite.
    fn quasi_definite(random: &mut SplitMix64) -> [[f64; 6]; 6] {
        let p = samples::positive_definite::<3>(random);
        let q = samples::positive_definite::<3>(random);
        let b = samples::any::<3>(random);
        std::array::from_fn(|i| {
            std::array::from_fn(|j| match (i < 3, j < 3) {
                (true, true) => p[i][j],
                (false, false) => -q[i - 3][j - 3],
                (true, false) => b[i][j - 3],
                (false, true) => b[j][i - 3],
            })
        })
    }

    #[test]
    fn factors_multiply_to_the_matrix() {
        let mut random = SplitMix64(21);
        for _ in 0..2000 {
            let a = quasi_definite(&mut random);
            let f = Ldlt::factor(&a).unwrap();
            let (l, d) = (f.lower(), f.pivots());
            let ld: [[f64; 6]; 6] = std::array::from_fn(|i| std::array::from_fn(|j| l[i][j] * d[j]));
            let growth = ld.iter().flatten().fold(1.0, |m: f64, x| m.max(x.abs()));
            assert!(samples::distance(&mul(&ld, &transpose(&l)), &a) < 1e-14 * growth * growth);
        }
    }

    #[test]
    fn quasi_definite_systems_agree_with_lu() {
        let mut random = SplitMix64(22);
        for _ in 0..2000 {
            let a = quasi_definite(&mut random);
            let b: [f64; 6] = std::array::from_fn(|_| random.range(-1.0, 1.0));
            let lu = Lu::factor(&a).unwrap();
            let condition = 1.0 / lu.reciprocal_condition(&a);
            let (x, y) = (Ldlt::factor(&a).unwrap().solve(b), lu.solve(b));
            assert!((0..6).all(|i| (x[i] - y[i]).abs() < 1e-13 * condition), "{condition:e}");
        }
    }

    #[test]
    fn pivot_signs_are_the_inertia() {
        let mut random = SplitMix64(23);
        let mut seen = [false; 7];
        for _ in 0..2000 {
            let a = samples::symmetric::<6>(&mut random);
            let Ok(f) = Ldlt::factor(&a) else { continue };
            let negative_pivots = f.pivots().iter().filter(|d| **d < 0.0).count();
            let eigen = SymmetricEigen::compute(&a).unwrap();
            let negative_values = eigen.values.iter().filter(|x| **x < 0.0).count();
            assert_eq!(negative_pivots, negative_values, "{a:?}");
            seen[negative_pivots] = true;
        }
        assert!(seen[2] && seen[3] && seen[4]);
    }

    #[test]
    fn zero_pivots_are_refused() {
        let antidiagonal = [[0.0, 1.0], [1.0, 0.0]];
        assert_eq!(
            Ldlt::factor(&antidiagonal),
            Err(MathError::Singular { what: "symmetric matrix", pivot: 0, value: 0.0 })
        );
        let dependent = [[1.0, 2.0], [2.0, 4.0]];
        assert!(matches!(Ldlt::factor(&dependent), Err(MathError::Singular { pivot: 1, .. })));
        assert!(matches!(Ldlt::factor(&[[f64::NAN]]), Err(MathError::NonFinite { index: 0, .. })));
    }
}
