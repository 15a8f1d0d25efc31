//! LU factorisation with partial pivoting: factorise once, back-substitute per iteration.
//!
//! # Reference
//! Golub and Van Loan, *Matrix Computations*, 4th ed., algorithms 3.2.1, 3.4.1 (pivoting) and section 3.2.11
//! (blocking); Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., theorem 9.3 (error).
//! Barenbrug's thesis, section 3.4.6, relies on diagonal dominance and does not pivot; we always pivot.
//!
//! # Symbols
//! `A` matrix, `P` permutation, `L` unit lower triangle, `U` upper triangle, `n` order, ε unit round-off.
//!
//! # Formula
//! ```text
//! P A = L U
//! p_k = argmax_{i ≥ k} |a_ik|   (lowest row on a tie)
//! l_ik = a_ik / u_kk,   a_ij ← a_ij − l_ik u_kj
//! ```
//!
//! # Cost
//! 2/3 n³ operations to factorise, in panels of 32 columns; 2 n² per right-hand side. Allocates only when the
//! order exceeds every earlier one.
//!
//! # Numerics
//! Backward error at most n ε |L||U|, multipliers at most 1. A pivot counts as zero when it is below
//! `8 n ε Σ_m |l_km u_mk|`, that is, below the rounding error of its own computation. That test does not depend
//! on the units of rows and columns, unlike a comparison with the largest entry. A matrix that is singular only
//! before its entries are rounded can pass it when its leading block is badly conditioned; the residual tells.
//!
//! # Failure
//! [`MathError::Singular`] with step and pivot; [`MathError::NonFinite`]; [`MathError::WrongLength`];
//! [`MathError::NotPrepared`] for a solve without a successful factorisation.
//!
//! # Tested by
//! `lu_residual_is_below_1e_12_and_one_factorisation_serves_many_sides`, `a_singular_matrix_names_its_pivot`,
//! `scaling_rows_and_columns_does_not_make_a_matrix_singular`, and against faer in `tests/dense_oracle.rs`.

use super::kernels::{axpy, dot, sub4};
use super::matrix::{MatMut, MatRef, Matrix, check_len, check_ready};
use crate::MathError;

/// Columns per panel: the panel of U (32 rows) then stays in the second-level cache for orders up to 1000.
const PANEL: usize = 32;
/// Safety factor on the rounding error of a pivot.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Factors of a square matrix, with their storage.
#[derive(Debug, Clone, Default)]
pub struct Lu {
    factors: Matrix,
    /// Row exchanged with row k at step k.
    swaps: Vec<u32>,
    ready: bool,
}

impl Lu {
    /// Storage for matrices up to order `n`.
    #[must_use]
    pub fn with_capacity(n: usize) -> Self {
        Self { factors: Matrix::zeros(n, n), swaps: Vec::with_capacity(n), ready: false }
    }

    /// Order of the matrix last given.
    #[inline]
    #[must_use]
    pub fn order(&self) -> usize {
        self.factors.rows()
    }

    /// Factorises a square matrix.
    ///
    /// # Errors
    /// [`MathError::Singular`], [`MathError::NonFinite`] or [`MathError::WrongLength`]; the factors are then
    /// not usable.
    pub fn factor(&mut self, a: MatRef<'_>) -> Result<(), MathError> {
        self.ready = false;
        let n = a.check_square()?;
        self.factors.copy_from(a);
        self.swaps.clear();
        for start in (0..n).step_by(PANEL) {
            let end = (start + PANEL).min(n);
            self.factor_panel(start, end)?;
            self.update_trailing(start, end);
        }
        self.ready = true;
        Ok(())
    }

    /// Columns `start..end` of all rows below, updating only inside the panel.
    fn factor_panel(&mut self, start: usize, end: usize) -> Result<(), MathError> {
        let n = self.factors.rows();
        for k in start..end {
            let mut pivot_row = k;
            for i in k + 1..n {
                if self.factors[(i, k)].abs() > self.factors[(pivot_row, k)].abs() {
                    pivot_row = i;
                }
            }
            self.swaps.push(pivot_row as u32);
            self.factors.as_mut().swap_rows(k, pivot_row);

            let pivot = self.factors[(k, k)];
            let column = self.factors.as_ref();
            let subtracted: f64 = (0..k).map(|m| (column[(k, m)] * column[(m, k)]).abs()).sum();
            if pivot.abs() <= ROUNDING * n as f64 * subtracted || pivot == 0.0 {
                return Err(MathError::Singular { what: "LU matrix", pivot: k, value: pivot });
            }
            let (upper, lower) = self.factors.as_mut_slice().split_at_mut((k + 1) * n);
            let pivot_tail = &upper[k * n + k + 1..k * n + end];
            for row in lower.chunks_exact_mut(n) {
                let multiplier = row[k] / pivot;
                row[k] = multiplier;
                axpy(-multiplier, pivot_tail, &mut row[k + 1..end]);
            }
        }
        Ok(())
    }

    /// Rows of U right of the panel, then the block below them.
    fn update_trailing(&mut self, start: usize, end: usize) {
        let n = self.factors.rows();
        if end == n {
            return;
        }
        let (panel, below) = self.factors.as_mut_slice().split_at_mut(end * n);
        for i in start + 1..end {
            let (done, row) = panel.split_at_mut(i * n);
            eliminate(&mut row[..n], done, n, start, i, end);
        }
        for row in below.chunks_exact_mut(n) {
            eliminate(row, panel, n, start, end, end);
        }
    }

    fn check_ready(&self, len: usize) -> Result<(), MathError> {
        check_ready("LU", self.ready, len, self.order())
    }

    /// Replaces the right-hand side `x` by the solution of `A x = b`.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`], [`MathError::WrongLength`] or [`MathError::NonFinite`].
    pub fn solve_in_place(&self, x: &mut [f64]) -> Result<(), MathError> {
        self.check_ready(x.len())?;
        MathError::check_finite("right-hand side", x)?;
        for (k, &p) in self.swaps.iter().enumerate() {
            x.swap(k, p as usize);
        }
        for i in 1..x.len() {
            let (done, rest) = x.split_at_mut(i);
            rest[0] -= dot(&self.factors.row(i)[..i], done);
        }
        for i in (0..x.len()).rev() {
            let (head, done) = x.split_at_mut(i + 1);
            let row = self.factors.row(i);
            head[i] = (head[i] - dot(&row[i + 1..], done)) / row[i];
        }
        Ok(())
    }

    /// Solves `A x = b`.
    ///
    /// # Errors
    /// As [`Lu::solve_in_place`].
    pub fn solve(&self, b: &[f64], x: &mut [f64]) -> Result<(), MathError> {
        check_len("right-hand side", b.len(), self.order())?;
        check_len("solution", x.len(), self.order())?;
        x.copy_from_slice(b);
        self.solve_in_place(x)
    }

    /// Replaces `x` by the solution of `Aᵀ x = b`.
    ///
    /// # Errors
    /// As [`Lu::solve_in_place`].
    pub fn solve_transposed_in_place(&self, x: &mut [f64]) -> Result<(), MathError> {
        self.check_ready(x.len())?;
        MathError::check_finite("right-hand side", x)?;
        for i in 0..x.len() {
            let row = self.factors.row(i);
            let (head, rest) = x.split_at_mut(i + 1);
            head[i] /= row[i];
            axpy(-head[i], &row[i + 1..], rest);
        }
        for i in (1..x.len()).rev() {
            let (rest, tail) = x.split_at_mut(i);
            axpy(-tail[0], &self.factors.row(i)[..i], rest);
        }
        for (k, &p) in self.swaps.iter().enumerate().rev() {
            x.swap(k, p as usize);
        }
        Ok(())
    }

    /// Replaces the columns of `x` by the solutions of `A X = B`, working along rows.
    ///
    /// # Errors
    /// As [`Lu::solve_in_place`].
    pub fn solve_matrix_in_place(&self, mut x: MatMut<'_>) -> Result<(), MathError> {
        self.check_ready(x.rows())?;
        x.as_ref().check_finite()?;
        for (k, &p) in self.swaps.iter().enumerate() {
            x.swap_rows(k, p as usize);
        }
        for i in 0..x.rows() {
            for k in 0..i {
                if let Some((target, source)) = x.two_rows_mut(i, k) {
                    axpy(-self.factors[(i, k)], source, target);
                }
            }
        }
        for i in (0..x.rows()).rev() {
            for k in i + 1..x.rows() {
                if let Some((target, source)) = x.two_rows_mut(i, k) {
                    axpy(-self.factors[(i, k)], source, target);
                }
            }
            let pivot = self.factors[(i, i)];
            for x in x.row_mut(i) {
                *x /= pivot;
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

    /// Determinant of the factorised matrix; may overflow to infinity for large orders.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`].
    pub fn determinant(&self) -> Result<f64, MathError> {
        self.check_ready(self.order())?;
        let odd = self.swaps.iter().enumerate().filter(|&(k, &p)| k != p as usize).count() % 2 == 1;
        let product: f64 = (0..self.order()).map(|i| self.factors[(i, i)]).product();
        Ok(if odd { -product } else { product })
    }
}

/// `row[from..] -= Σ_{k = first..last} row[k] · done_k[from..]`, four rows at a time.
fn eliminate(row: &mut [f64], done: &[f64], n: usize, first: usize, last: usize, from: usize) {
    let (multipliers, target) = row.split_at_mut(from);
    let source = |k: usize| &done[k * n + from..(k + 1) * n];
    let mut k = first;
    while k + 4 <= last {
        let l = [multipliers[k], multipliers[k + 1], multipliers[k + 2], multipliers[k + 3]];
        sub4(l, [source(k), source(k + 1), source(k + 2), source(k + 3)], target);
        k += 4;
    }
    for (k, multiplier) in multipliers.iter().enumerate().take(last).skip(k) {
        axpy(-multiplier, source(k), target);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{mul, norm, residual};
    use super::*;
    use crate::assert_close;
    use crate::testkit::SplitMix64;

    fn random(n: usize, seed: u64) -> Matrix {
        let mut stream = SplitMix64(seed);
        Matrix::from_fn(n, n, |_, _| stream.range(-1.0, 1.0))
    }

    // proves: DYN-107
    #[test]
    fn lu_residual_is_below_1e_12_and_one_factorisation_serves_many_sides() {
        let mut lu = Lu::default();
        let mut stream = SplitMix64(3);
        for n in [1, 2, 3, 5, 31, 32, 33, 64, 65, 100, 200] {
            let a = random(n, n as u64);
            lu.factor(a.as_ref()).unwrap();
            for _ in 0..10 {
                let b: Vec<f64> = (0..n).map(|_| stream.range(-1.0, 1.0)).collect();
                let (mut x, mut r) = (vec![0.0; n], vec![0.0; n]);
                lu.solve(&b, &mut x).unwrap();
                residual(a.as_ref(), &x, &b, &mut r).unwrap();
                let relative = norm(&r) / (norm(&b) + norm(a.as_ref().row(0)) * norm(&x));
                assert!(relative <= 1e-13, "order {n}: {relative:e}");
                assert!(norm(&r) <= 1e-12 * norm(&b) * norm(&x).max(1.0), "order {n}: {:e}", norm(&r));
                residual(a.transposed().as_ref(), &x, &b, &mut r).unwrap();
                let mut y = b.clone();
                lu.solve_transposed_in_place(&mut y).unwrap();
                residual(a.transposed().as_ref(), &y, &b, &mut r).unwrap();
                assert!(norm(&r) <= 1e-12 * norm(&b) * norm(&y).max(1.0), "order {n}: {:e}", norm(&r));
            }
        }
    }

    #[test]
    fn inverse_times_matrix_is_the_unit_matrix_and_the_determinant_is_multiplicative() {
        let mut lu = Lu::default();
        for n in [1, 2, 7, 40] {
            let a = random(n, 100 + n as u64);
            let (mut inverse, mut product) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
            lu.factor(a.as_ref()).unwrap();
            lu.inverse(inverse.as_mut()).unwrap();
            mul(a.as_ref(), inverse.as_ref(), product.as_mut()).unwrap();
            for i in 0..n {
                for j in 0..n {
                    assert_close!(product[(i, j)], f64::from(u8::from(i == j)), abs = 1e-11);
                }
            }
            let det = lu.determinant().unwrap();
            lu.factor(inverse.as_ref()).unwrap();
            assert_close!(lu.determinant().unwrap() * det, 1.0, rel = 1e-10);
        }
        lu.factor(Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]).as_ref()).unwrap();
        assert_close!(lu.determinant().unwrap(), -1.0, abs = 0.0);
    }

    #[test]
    fn a_singular_matrix_names_its_pivot() {
        let mut lu = Lu::default();
        let zero_column = Matrix::from_rows(&[[1.0, 0.0, 2.0], [3.0, 0.0, 4.0], [5.0, 0.0, 6.0]]);
        assert_eq!(
            lu.factor(zero_column.as_ref()),
            Err(MathError::Singular { what: "LU matrix", pivot: 1, value: 0.0 })
        );
        assert_eq!(lu.solve_in_place(&mut [0.0; 3]), Err(MathError::NotPrepared { what: "LU" }));
        // Rank n − 1 up to rounding: the last row is a random combination of the others, which are far from
        // dependent.
        let mut stream = SplitMix64(5);
        for n in [2, 5, 20, 60] {
            for seed in 0..50 {
                let mut a = random(n, 1000 + seed);
                for i in 0..n {
                    a[(i, i)] += n as f64;
                }
                let weights: Vec<f64> = (1..n).map(|_| stream.range(-1.0, 1.0)).collect();
                for j in 0..n {
                    a[(n - 1, j)] = (0..n - 1).map(|i| weights[i] * a[(i, j)]).sum();
                }
                let found = lu.factor(a.as_ref());
                assert!(
                    matches!(found, Err(MathError::Singular { pivot, .. }) if pivot == n - 1),
                    "{n}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn scaling_rows_and_columns_does_not_make_a_matrix_singular() {
        let mut lu = Lu::default();
        let a = random(8, 9);
        let scale = |i: usize| crate::ops::powi(2.0, 12 * i as i32 - 40);
        let scaled = Matrix::from_fn(8, 8, |i, j| a[(i, j)] * scale(i) * scale(7 - (3 * j) % 8));
        lu.factor(scaled.as_ref()).unwrap();
        let mut x: Vec<f64> = (0..8).map(scale).collect();
        lu.solve_in_place(&mut x).unwrap();
        let mut r = vec![0.0; 8];
        let b: Vec<f64> = (0..8).map(scale).collect();
        residual(scaled.as_ref(), &x, &b, &mut r).unwrap();
        for i in 0..8 {
            let size: f64 = (0..8).map(|j| (scaled[(i, j)] * x[j]).abs()).sum();
            assert!(r[i].abs() <= 1e-9 * size, "row {i}: {:e} of {size:e}", r[i]);
        }
    }

    #[test]
    fn bad_input_is_an_error() {
        let mut lu = Lu::default();
        assert!(matches!(lu.factor(Matrix::zeros(2, 3).as_ref()), Err(MathError::WrongLength { .. })));
        let bad = Matrix::from_rows(&[[1.0, 0.0], [f64::NAN, 1.0]]);
        assert!(matches!(lu.factor(bad.as_ref()), Err(MathError::NonFinite { index: 2, .. })));
        lu.factor(Matrix::identity(2).as_ref()).unwrap();
        assert!(lu.solve_in_place(&mut [0.0; 3]).is_err());
        assert!(lu.solve_in_place(&mut [f64::INFINITY, 0.0]).is_err());
        assert!(lu.solve(&[1.0], &mut [0.0; 2]).is_err());
        assert!(lu.inverse(Matrix::zeros(2, 3).as_mut()).is_err());
        lu.factor(Matrix::zeros(0, 0).as_ref()).unwrap();
        lu.solve_in_place(&mut []).unwrap();
    }
}
