//! Factorisation `L D Lᵀ` of symmetric, possibly indefinite matrices with Bunch-Kaufman pivoting.
//!
//! Saddle-point systems of constrained dynamics are symmetric and indefinite: Cholesky refuses them and LU
//! does twice the work. Pivoting is Bunch and Kaufman's partial strategy with 1x1 and 2x2 pivots, not the
//! diagonal pivoting that suits semidefinite matrices only; for the rank of a semidefinite matrix use
//! [`super::Svd`].
//!
//! # Reference
//! Bunch and Kaufman 1977; Golub and Van Loan, *Matrix Computations*, 4th ed., section 4.4; Higham, 2nd ed.,
//! algorithm 11.2.
//!
//! # Symbols
//! `A` matrix, `P` permutation, `L` unit lower triangle, `D` block diagonal, α = (1 + √17)/8, `w` column of the
//! active part before division.
//!
//! # Formula
//! ```text
//! P A Pᵀ = L D Lᵀ
//! 1x1:  l_i = w_i / d                 a_ij ← a_ij − l_i w_j
//! 2x2:  (l_i, l_i') = (w_i, w_i') D⁻¹   a_ij ← a_ij − l_i w_j − l_i' w_j'
//! 1x1 at k if |a_kk| ≥ α λ or |a_kk| σ ≥ α λ²; 1x1 at r if |a_rr| ≥ α σ; else 2x2 of k and r
//! (λ = largest |a_ik| below the diagonal, in row r; σ = largest off-diagonal of row r)
//! ```
//!
//! # Cost
//! n³/3 operations to factorise, 2 n² per right-hand side. Only the lower triangle of `A` is read. Allocates
//! only when the order exceeds every earlier one.
//!
//! # Numerics
//! Backward stable in the normwise sense; entries of L are not bounded, which is harmless for solving. A column
//! counts as zero when all of it is below `8 n ε √(s_i s_k)`, with `s_i` the sum of magnitudes subtracted from
//! diagonal i: rows and columns may have different units.
//!
//! # Failure
//! [`MathError::Singular`] with step and diagonal value; [`MathError::NonFinite`], [`MathError::WrongLength`],
//! [`MathError::NotPrepared`].
//!
//! # Tested by
//! `saddle_point_systems_are_solved`, `inertia_counts_signs_of_eigenvalues`, `factors_give_the_matrix_back`, and
//! against faer in `tests/dense_oracle.rs`.

use super::kernels::{axpy, dot};
use super::matrix::{MatMut, MatRef, Matrix, check_len, check_ready};
use crate::MathError;

/// Role of a diagonal position in `D`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pivot {
    Single,
    First,
    Second,
}

/// Numbers of positive and negative eigenvalues of a regular symmetric matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inertia {
    /// Positive eigenvalues.
    pub positive: usize,
    /// Negative eigenvalues.
    pub negative: usize,
}

/// Factors of a symmetric matrix, with their storage.
#[derive(Debug, Clone, Default)]
pub struct Ldlt {
    /// L below the diagonal, D on it; the off-diagonal of a 2x2 pivot sits at its place in the lower triangle.
    factors: Matrix,
    pivots: Vec<Pivot>,
    /// Position k of the permuted matrix holds row `order[k]` of the original.
    order: Vec<u32>,
    /// Column(s) of the active part before division.
    column: [Vec<f64>; 2],
    /// Magnitudes subtracted from each diagonal entry so far, plus its own.
    size: Vec<f64>,
    scratch: Vec<f64>,
    ready: bool,
}

impl Ldlt {
    /// Order of the matrix last given.
    #[inline]
    #[must_use]
    pub fn order(&self) -> usize {
        self.factors.rows()
    }

    /// Factorises a symmetric matrix; reads its lower triangle.
    ///
    /// # Errors
    /// [`MathError::Singular`], [`MathError::NonFinite`] or [`MathError::WrongLength`]; the factors are then
    /// not usable.
    pub fn factor(&mut self, a: MatRef<'_>) -> Result<(), MathError> {
        self.ready = false;
        let n = a.check_square()?;
        self.factors.copy_from(a);
        self.pivots.clear();
        self.order.clear();
        self.order.extend(0..n as u32);
        self.size.clear();
        self.size.extend((0..n).map(|i| a.row(i)[i].abs()));
        self.scratch.clear();
        self.scratch.resize(n, 0.0);
        for column in &mut self.column {
            column.clear();
            column.resize(n, 0.0);
        }
        let mut k = 0;
        while k < n {
            let (target, two) = self.choose(k)?;
            self.exchange(k + usize::from(two), target, k, two);
            if two {
                self.eliminate_two(k);
                self.pivots.extend([Pivot::First, Pivot::Second]);
                k += 2;
            } else {
                self.eliminate_one(k);
                self.pivots.push(Pivot::Single);
                k += 1;
            }
        }
        self.ready = true;
        Ok(())
    }

    /// The row to bring to the pivot position, and whether the pivot is 2x2.
    fn choose(&self, k: usize) -> Result<(usize, bool), MathError> {
        let n = self.order();
        let a = &self.factors;
        let diagonal = a[(k, k)].abs();
        let (mut r, mut lambda) = (k, 0.0);
        let tolerance = 8.0 * f64::EPSILON * n as f64;
        let mut negligible = diagonal <= tolerance * self.size[k];
        for i in k + 1..n {
            let entry = a[(i, k)].abs();
            negligible &= entry <= tolerance * (self.size[i] * self.size[k]).sqrt();
            if entry > lambda {
                (r, lambda) = (i, entry);
            }
        }
        if negligible || (diagonal == 0.0 && lambda == 0.0) {
            return Err(MathError::Singular { what: "LDL^T matrix", pivot: k, value: a[(k, k)] });
        }
        let alpha = (1.0 + 17.0_f64.sqrt()) / 8.0;
        if diagonal >= alpha * lambda {
            return Ok((k, false));
        }
        let mut sigma = 0.0_f64;
        for j in k..r {
            sigma = sigma.max(a[(r, j)].abs());
        }
        for i in r + 1..n {
            sigma = sigma.max(a[(i, r)].abs());
        }
        // σ ≥ λ > 0 here; the quotient keeps λ² from overflowing.
        if diagonal >= alpha * lambda * (lambda / sigma) {
            return Ok((k, false));
        }
        Ok((r, a[(r, r)].abs() < alpha * sigma))
    }

    /// Exchanges rows and columns `to` and `from` ≥ `to` of the active part that starts at `k`, and of L.
    fn exchange(&mut self, to: usize, from: usize, k: usize, two: bool) {
        if to == from {
            return;
        }
        let n = self.order();
        let a = &mut self.factors;
        for i in from + 1..n {
            a.row_mut(i).swap(to, from);
        }
        for j in to + 1..from {
            let (x, y) = (a[(j, to)], a[(from, j)]);
            a[(j, to)] = y;
            a[(from, j)] = x;
        }
        let (x, y) = (a[(to, to)], a[(from, from)]);
        a[(to, to)] = y;
        a[(from, from)] = x;
        // Rows of L found so far, and the first column of a 2x2 pivot.
        let columns = if two { k + 1 } else { k };
        if let Some((x, y)) = a.as_mut().two_rows_mut(to, from) {
            x[..columns].swap_with_slice(&mut y[..columns]);
        }
        self.order.swap(to, from);
        self.size.swap(to, from);
    }

    fn eliminate_one(&mut self, k: usize) {
        let n = self.order();
        let pivot = self.factors[(k, k)];
        let w = &mut self.column[0];
        for (i, w) in w.iter_mut().enumerate().skip(k + 1) {
            *w = self.factors[(i, k)];
        }
        for i in k + 1..n {
            let l = w[i] / pivot;
            let row = self.factors.row_mut(i);
            row[k] = l;
            axpy(-l, &w[k + 1..=i], &mut row[k + 1..=i]);
            self.size[i] += (l * w[i]).abs();
        }
    }

    fn eliminate_two(&mut self, k: usize) {
        let n = self.order();
        // Both rows of D divided by the off-diagonal, which is the largest entry: no overflow.
        let off = self.factors[(k + 1, k)];
        let (d1, d2) = (self.factors[(k + 1, k + 1)] / off, self.factors[(k, k)] / off);
        let t = 1.0 / (d1 * d2 - 1.0) / off;
        let [w, v] = &mut self.column;
        for i in k + 2..n {
            (w[i], v[i]) = (self.factors[(i, k)], self.factors[(i, k + 1)]);
        }
        for i in k + 2..n {
            let (l, m) = (t * (d1 * w[i] - v[i]), t * (d2 * v[i] - w[i]));
            let row = self.factors.row_mut(i);
            (row[k], row[k + 1]) = (l, m);
            axpy(-l, &w[k + 2..=i], &mut row[k + 2..=i]);
            axpy(-m, &v[k + 2..=i], &mut row[k + 2..=i]);
            self.size[i] += (l * w[i]).abs() + (m * v[i]).abs();
        }
    }

    fn check_ready(&self, len: usize) -> Result<(), MathError> {
        check_ready("LDL^T", self.ready, len, self.order())
    }

    /// Replaces the right-hand side `x` by the solution of `A x = b`.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`], [`MathError::WrongLength`] or [`MathError::NonFinite`].
    pub fn solve_in_place(&mut self, x: &mut [f64]) -> Result<(), MathError> {
        self.check_ready(x.len())?;
        MathError::check_finite("right-hand side", x)?;
        let n = x.len();
        let y = &mut self.scratch;
        for (y, &from) in y.iter_mut().zip(&self.order) {
            *y = x[from as usize];
        }
        for i in 0..n {
            // Inside a 2x2 pivot the lower triangle holds D, not L.
            let width = if self.pivots[i] == Pivot::Second { i - 1 } else { i };
            y[i] -= dot(&self.factors.row(i)[..width], &y[..width]);
        }
        let mut k = 0;
        while k < n {
            if self.pivots[k] == Pivot::Single {
                y[k] /= self.factors[(k, k)];
                k += 1;
            } else {
                let off = self.factors[(k + 1, k)];
                let (d1, d2) = (self.factors[(k + 1, k + 1)] / off, self.factors[(k, k)] / off);
                let t = 1.0 / (d1 * d2 - 1.0);
                let (p, q) = (y[k] / off, y[k + 1] / off);
                (y[k], y[k + 1]) = (t * (d1 * p - q), t * (d2 * q - p));
                k += 2;
            }
        }
        for i in (1..n).rev() {
            let width = if self.pivots[i] == Pivot::Second { i - 1 } else { i };
            let (rest, tail) = y.split_at_mut(i);
            axpy(-tail[0], &self.factors.row(i)[..width], &mut rest[..width]);
        }
        for (y, &to) in y.iter().zip(&self.order) {
            x[to as usize] = *y;
        }
        Ok(())
    }

    /// Solves `A x = b`.
    ///
    /// # Errors
    /// As [`Ldlt::solve_in_place`].
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) -> Result<(), MathError> {
        check_len("right-hand side", b.len(), self.order())?;
        check_len("solution", x.len(), self.order())?;
        x.copy_from_slice(b);
        self.solve_in_place(x)
    }

    /// Writes the inverse of the factorised matrix, row by row: it is symmetric.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`] or [`MathError::WrongLength`].
    pub fn inverse(&mut self, mut out: MatMut<'_>) -> Result<(), MathError> {
        self.check_ready(out.rows())?;
        check_len("columns of the inverse", out.cols(), self.order())?;
        for i in 0..self.order() {
            let row = out.row_mut(i);
            row.fill(0.0);
            row[i] = 1.0;
            self.solve_in_place(row)?;
        }
        Ok(())
    }

    /// Signs of the eigenvalues, by Sylvester's law of inertia those of D.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`].
    pub fn inertia(&self) -> Result<Inertia, MathError> {
        self.check_ready(self.order())?;
        let mut inertia = Inertia { positive: 0, negative: 0 };
        for (k, pivot) in self.pivots.iter().enumerate() {
            match pivot {
                // The determinant of a 2x2 pivot is negative by the choice of α.
                Pivot::First => inertia.positive += 1,
                Pivot::Second => inertia.negative += 1,
                Pivot::Single if self.factors[(k, k)] > 0.0 => inertia.positive += 1,
                Pivot::Single => inertia.negative += 1,
            }
        }
        Ok(inertia)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lu, norm, residual};
    use super::*;
    use crate::assert_close;
    use crate::testkit::SplitMix64;

    fn symmetric(n: usize, seed: u64, zero_diagonal_from: usize) -> Matrix {
        let mut stream = SplitMix64(seed);
        let mut a = Matrix::zeros(n, n);
        for i in 0..n {
            for j in 0..=i {
                let x = if j >= zero_diagonal_from { 0.0 } else { stream.range(-1.0, 1.0) };
                (a[(i, j)], a[(j, i)]) = (x, x);
            }
        }
        a
    }

    #[test]
    fn saddle_point_systems_are_solved() {
        let (mut ldlt, mut lu) = (Ldlt::default(), Lu::default());
        // A zero block below the diagonal of size up to n/2, as multipliers make; n/2 included.
        for (n, free) in [(1, 1), (2, 1), (4, 2), (7, 5), (12, 6), (30, 18), (61, 40)] {
            for seed in 0..20 {
                let a = symmetric(n, seed * 100 + n as u64, free);
                ldlt.factor(a.as_ref()).unwrap();
                lu.factor(a.as_ref()).unwrap();
                let b: Vec<f64> = (0..n).map(|i| (i as f64 - 2.5) / 3.0).collect();
                let (mut x, mut y, mut r) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
                ldlt.solve(&b, &mut x).unwrap();
                lu.solve(&b, &mut y).unwrap();
                residual(a.as_ref(), &x, &b, &mut r).unwrap();
                assert!(norm(&r) <= 1e-13 * n as f64 * (norm(&b) + norm(&x)), "{n}: {:e}", norm(&r));
                let mut inverse = Matrix::zeros(n, n);
                ldlt.inverse(inverse.as_mut()).unwrap();
                let from_inverse: f64 = inverse.row(0).iter().zip(&b).map(|(p, q)| p * q).sum();
                assert_close!(from_inverse, x[0], abs = 1e-9 * (norm(inverse.row(0)) * norm(&b)));
                let condition = inverse.as_ref().max_abs() * n as f64;
                assert_close!(x[0], y[0], abs = 1e-14 * n as f64 * condition * norm(&x).max(1.0));
            }
        }
    }

    #[test]
    fn inertia_counts_signs_of_eigenvalues() {
        let mut ldlt = Ldlt::default();
        let mut stream = SplitMix64(77);
        for n in 1..12 {
            for negative in 0..=n {
                // Congruence with a random regular matrix keeps the signs.
                let g =
                    Matrix::from_fn(n, n, |i, j| stream.range(-1.0, 1.0) + if i == j { 3.0 } else { 0.0 });
                let a = Matrix::from_fn(n, n, |i, j| {
                    (0..n).map(|k| g[(i, k)] * g[(j, k)] * if k < negative { -1.0 } else { 1.0 }).sum()
                });
                ldlt.factor(a.as_ref()).unwrap();
                assert_eq!(ldlt.inertia().unwrap(), Inertia { positive: n - negative, negative });
            }
        }
        ldlt.factor(Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]).as_ref()).unwrap();
        assert_eq!(ldlt.inertia().unwrap(), Inertia { positive: 1, negative: 1 });
    }

    #[test]
    fn factors_give_the_matrix_back() {
        let mut ldlt = Ldlt::default();
        for seed in 0..50 {
            let n = 9;
            let a = symmetric(n, seed, 6);
            ldlt.factor(a.as_ref()).unwrap();
            let f = &ldlt.factors;
            let in_block = |i: usize, j: usize| i == j + 1 && ldlt.pivots[i] == Pivot::Second;
            let l = |i: usize, j: usize| match () {
                () if i == j => 1.0,
                () if i < j || in_block(i, j) => 0.0,
                () => f[(i, j)],
            };
            let d = |i: usize, j: usize| match () {
                () if i == j || in_block(i, j) => f[(i, j)],
                () if in_block(j, i) => f[(j, i)],
                () => 0.0,
            };
            for i in 0..n {
                for j in 0..n {
                    let (mut sum, mut size) = (0.0, 0.0);
                    for p in 0..n {
                        for q in 0..n {
                            sum += l(i, p) * d(p, q) * l(j, q);
                            size += (l(i, p) * d(p, q) * l(j, q)).abs();
                        }
                    }
                    let original = a[(ldlt.order[i] as usize, ldlt.order[j] as usize)];
                    assert_close!(sum, original, abs = 1e-13 * size.max(1.0));
                }
            }
        }
    }

    #[test]
    fn singular_matrices_and_bad_input_are_errors() {
        let mut ldlt = Ldlt::default();
        assert_eq!(
            ldlt.factor(Matrix::zeros(2, 2).as_ref()),
            Err(MathError::Singular { what: "LDL^T matrix", pivot: 0, value: 0.0 })
        );
        assert!(matches!(ldlt.solve_in_place(&mut [0.0; 2]), Err(MathError::NotPrepared { .. })));
        // A constraint given twice: rank n − 1.
        for seed in 0..30 {
            let mut a = symmetric(9, seed, 6);
            for j in 0..9 {
                (a[(8, j)], a[(j, 8)]) = (a[(7, j)], a[(j, 7)]);
            }
            let found = ldlt.factor(a.as_ref());
            assert!(matches!(found, Err(MathError::Singular { pivot: 8, .. })), "{found:?}");
        }
        assert!(ldlt.factor(Matrix::zeros(2, 3).as_ref()).is_err());
        assert!(ldlt.factor(Matrix::from_rows(&[[f64::INFINITY]]).as_ref()).is_err());
        ldlt.factor(Matrix::identity(2).as_ref()).unwrap();
        assert!(ldlt.solve_in_place(&mut [1.0; 3]).is_err());
        assert!(ldlt.solve_in_place(&mut [f64::NAN; 2]).is_err());
    }
}
