//! Linear algebra of fixed small size, on the stack: 3x3 blocks, the 6x6 of a floating base.
//!
//! Matrices are arrays of rows, `a[row][column]`; the size is a const generic, the routines are written for
//! 3 and 6 and stay sensible to about 12. Larger systems belong to the dense routines of this crate.
//!
//! | need | use |
//! |---|---|
//! | any regular matrix | [`Lu`] |
//! | symmetric positive definite | [`Cholesky`], [`Sym3::solve`](crate::Sym3::solve) |
//! | symmetric quasi-definite, or the signs of the pivots | [`Ldlt`] |
//! | symmetric 3x3 of any signature, fast | [`solve_symmetric3`] |
//! | principal axes of an inertia tensor | [`symmetric_eigen3`] |
//! | eigenvalues of a symmetric matrix | [`SymmetricEigen`] |
//! | rank, singular values, pseudo-inverse of a 3x3 | [`Svd3`] |
//!
//! ```
//! use sim_math::small::{Lu, mul_vec};
//!
//! let a = [[0.0, 2.0, 1.0], [1.0, 0.0, 0.0], [3.0, 1.0, 1.0]];
//! let x = Lu::factor(&a)?.solve([5.0, 1.0, 6.0]);
//! assert!(mul_vec(&a, x).iter().zip([5.0, 1.0, 6.0]).all(|(l, r)| (l - r).abs() < 1e-14));
//! # Ok::<(), sim_math::MathError>(())
//! ```
#![allow(
    clippy::needless_range_loop,
    reason = "triangles are read by row and column: indices are the formula"
)]

mod cholesky;
mod eigen;
mod ldlt;
mod lu;
mod svd3;
mod symmetric3;

pub use cholesky::Cholesky;
pub(crate) use eigen::diagonalize;
pub use eigen::{Eigen3, SymmetricEigen, symmetric_eigen3};
pub use ldlt::Ldlt;
pub use lu::Lu;
pub use svd3::Svd3;
pub use symmetric3::{inverse_symmetric3, solve_symmetric3};

use crate::MathError;

/// A 6x6 matrix as an array of rows, angular rows and columns first.
pub type Mat6 = [[f64; 6]; 6];

/// The identity matrix.
#[inline]
#[must_use]
pub const fn identity<const N: usize>() -> [[f64; N]; N] {
    let mut m = [[0.0; N]; N];
    let mut i = 0;
    while i < N {
        m[i][i] = 1.0;
        i += 1;
    }
    m
}

/// The transposed matrix.
#[inline]
#[must_use]
pub fn transpose<const N: usize>(a: &[[f64; N]; N]) -> [[f64; N]; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// The product A B.
#[inline]
#[must_use]
pub fn mul<const N: usize>(a: &[[f64; N]; N], b: &[[f64; N]; N]) -> [[f64; N]; N] {
    let mut c = [[0.0; N]; N];
    for (row, a_row) in c.iter_mut().zip(a) {
        for (&a_ik, b_row) in a_row.iter().zip(b) {
            for (c_ij, &b_kj) in row.iter_mut().zip(b_row) {
                *c_ij += a_ik * b_kj;
            }
        }
    }
    c
}

/// The product A x.
#[inline]
#[must_use]
pub fn mul_vec<const N: usize>(a: &[[f64; N]; N], x: [f64; N]) -> [f64; N] {
    std::array::from_fn(|i| a[i].iter().zip(&x).fold(0.0, |s, (a, x)| s + a * x))
}

/// Largest magnitude among the entries.
#[inline]
#[must_use]
pub fn max_abs<const N: usize>(a: &[[f64; N]; N]) -> f64 {
    a.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// Largest sum of magnitudes of a column: the matrix norm that goes with Σ|xᵢ|.
#[inline]
#[must_use]
pub fn norm_one<const N: usize>(a: &[[f64; N]; N]) -> f64 {
    (0..N).fold(0.0, |m: f64, j| m.max(a.iter().fold(0.0, |s, row| s + row[j].abs())))
}

/// `Ok` if every entry is finite, else the error with the row-major index of the first that is not.
#[inline]
pub(crate) fn check_finite<const N: usize>(a: &[[f64; N]; N]) -> Result<(), MathError> {
    // Zero times a number is zero, times NaN or infinity NaN: one branch for all entries.
    let probe = a.as_flattened().iter().fold(0.0, |s, x| s + x * 0.0);
    if probe == 0.0 { Ok(()) } else { MathError::check_finite("matrix entry", a.as_flattened()) }
}

/// The solution `x` if it is finite, else the error that names the number of `b` (or of `x`) that is not.
#[inline]
pub(crate) fn checked_solution<const N: usize>(b: [f64; N], x: [f64; N]) -> Result<[f64; N], MathError> {
    // As in `check_finite`: one branch for all entries.
    let probe = x.iter().fold(0.0, |s, x| s + x * 0.0);
    if probe == 0.0 { Ok(x) } else { name_not_finite(b, x) }
}

/// The slow half of [`checked_solution`].
#[cold]
fn name_not_finite<const N: usize>(b: [f64; N], x: [f64; N]) -> Result<[f64; N], MathError> {
    MathError::check_finite("right-hand side", &b)?;
    MathError::check_finite("solution", &x)?;
    Ok(x)
}

#[cfg(test)]
pub(crate) mod samples {
    use super::{mul, transpose};
    use crate::testkit::SplitMix64;

    /// Entries uniform in [-1, 1).
    pub(crate) fn any<const N: usize>(random: &mut SplitMix64) -> [[f64; N]; N] {
        std::array::from_fn(|_| std::array::from_fn(|_| random.range(-1.0, 1.0)))
    }

    /// A Aᵀ + 0.1 · 1.
    pub(crate) fn positive_definite<const N: usize>(random: &mut SplitMix64) -> [[f64; N]; N] {
        let a = any::<N>(random);
        let mut m = mul(&a, &transpose(&a));
        for (i, row) in m.iter_mut().enumerate() {
            row[i] += 0.1;
        }
        m
    }

    /// (A + Aᵀ)/2.
    pub(crate) fn symmetric<const N: usize>(random: &mut SplitMix64) -> [[f64; N]; N] {
        let a = any::<N>(random);
        std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (a[i][j] + a[j][i])))
    }

    /// Largest difference of two matrices.
    pub(crate) fn distance<const N: usize>(a: &[[f64; N]; N], b: &[[f64; N]; N]) -> f64 {
        a.as_flattened().iter().zip(b.as_flattened()).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()))
    }
}
