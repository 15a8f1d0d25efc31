//! LU factorisation of banded matrices: linear time in the order for a fixed bandwidth.
//!
//! # Reference
//! Golub and Van Loan, *Matrix Computations*, 4th ed., section 4.3.5 (band Gaussian elimination with pivoting).
//! Barenbrug's thesis, section 3.4.6, uses a band solver for chains of constraints, without pivoting and with
//! an operation count that does not add up; the counts below are ours.
//!
//! # Symbols
//! `kl`, `ku` diagonals below and above the main one, `n` order, ε unit round-off.
//!
//! # Formula
//! ```text
//! entry (i, j) of a band matrix is at row i, position j − i + kl,  0 ≤ position ≤ kl + ku
//! elimination as in dense LU; exchanging rows up to kl apart widens U to kl + ku diagonals
//! ```
//!
//! # Cost
//! At most n kl (kl + ku + 1) multiply-adds to factorise and n (2 kl + ku + 1) per right-hand side; storage
//! n (2 kl + ku + 1). Allocates only when the storage exceeds every earlier one. With kl = ku = b this beats
//! dense elimination about when 2b + 1 < n/2, which is what [`super::LinearSolver`] asks.
//!
//! # Numerics
//! As dense LU with partial pivoting. A pivot counts as zero when it is below 8 (kl + ku + 1) ε times the
//! largest entry of its original row, and of its original column.
//!
//! # Failure
//! [`MathError::Singular`] with step and pivot; [`MathError::OutOfRange`] for an entry outside the band;
//! [`MathError::NonFinite`], [`MathError::WrongLength`], [`MathError::NotPrepared`].
//!
//! # Tested by
//! `banded_equals_dense`, `operations_grow_linearly_with_the_length_of_a_chain`, and against faer in
//! `tests/dense_oracle.rs`.

use super::kernels::{axpy, dot};
use super::matrix::{MatRef, check_len, check_ready};
use crate::MathError;

/// A square matrix that is zero outside a band, stored by rows of the band.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BandMatrix {
    data: Vec<f64>,
    n: usize,
    lower: usize,
    upper: usize,
}

impl BandMatrix {
    /// Zeros of order `n` with `lower` and `upper` diagonals beside the main one.
    #[must_use]
    pub fn zeros(n: usize, lower: usize, upper: usize) -> Self {
        let mut m = Self::default();
        m.reset(n, lower, upper);
        m
    }

    /// Changes the shape and sets every entry to zero, keeping the storage.
    pub fn reset(&mut self, n: usize, lower: usize, upper: usize) {
        (self.n, self.lower, self.upper) =
            (n, lower.min(n.saturating_sub(1)), upper.min(n.saturating_sub(1)));
        self.data.clear();
        self.data.resize(n * self.width(), 0.0);
    }

    /// Becomes the band of a dense matrix; entries outside the band are not looked at.
    ///
    /// # Errors
    /// [`MathError::WrongLength`] unless the matrix is square.
    pub fn copy_from_dense(&mut self, a: MatRef<'_>, lower: usize, upper: usize) -> Result<(), MathError> {
        check_len("columns of a square matrix", a.cols(), a.rows())?;
        self.reset(a.rows(), lower, upper);
        for i in 0..self.n {
            let (first, last) = self.columns(i);
            let start = self.position(i, first);
            self.data[start..start + last - first].copy_from_slice(&a.row(i)[first..last]);
        }
        Ok(())
    }

    fn width(&self) -> usize {
        self.lower + self.upper + 1
    }

    /// Columns of row `i` inside the band, as a half-open range.
    fn columns(&self, i: usize) -> (usize, usize) {
        (i.saturating_sub(self.lower), (i + self.upper + 1).min(self.n))
    }

    fn position(&self, i: usize, j: usize) -> usize {
        i * self.width() + j + self.lower - i
    }

    /// Order of the matrix.
    #[inline]
    #[must_use]
    pub fn order(&self) -> usize {
        self.n
    }

    /// Numbers of diagonals below and above the main one.
    #[inline]
    #[must_use]
    pub fn bandwidth(&self) -> (usize, usize) {
        (self.lower, self.upper)
    }

    /// Entry (i, j); zero outside the band.
    #[must_use]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        if i >= self.n || j >= self.n || j + self.lower < i || j > i + self.upper {
            return 0.0;
        }
        self.data[self.position(i, j)]
    }

    /// Adds `value` to entry (i, j).
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] outside the band.
    pub fn add(&mut self, i: usize, j: usize, value: f64) -> Result<(), MathError> {
        if i >= self.n {
            return Err(MathError::OutOfRange { what: "band row", index: i, limit: self.n });
        }
        let (first, last) = self.columns(i);
        if !(first..last).contains(&j) {
            return Err(MathError::OutOfRange { what: "band column", index: j, limit: last });
        }
        let position = self.position(i, j);
        self.data[position] += value;
        Ok(())
    }

    /// `y = A x`.
    ///
    /// # Errors
    /// [`MathError::WrongLength`].
    pub fn mul_vec(&self, x: &[f64], y: &mut [f64]) -> Result<(), MathError> {
        check_len("x", x.len(), self.n)?;
        check_len("y", y.len(), self.n)?;
        for (i, y) in y.iter_mut().enumerate() {
            let (first, last) = self.columns(i);
            let start = self.position(i, first);
            *y = dot(&self.data[start..start + last - first], &x[first..last]);
        }
        Ok(())
    }
}

/// Factors of a band matrix, with their storage.
#[derive(Debug, Clone, Default)]
pub struct BandedLu {
    /// Rows of width 2 kl + ku + 1; column j of row i at j − i + kl. Multipliers below, U above.
    data: Vec<f64>,
    swaps: Vec<u32>,
    column_size: Vec<f64>,
    row_size: Vec<f64>,
    n: usize,
    lower: usize,
    upper: usize,
    operations: u64,
    ready: bool,
}

impl BandedLu {
    /// Order of the matrix last given.
    #[inline]
    #[must_use]
    pub fn order(&self) -> usize {
        self.n
    }

    /// Multiply-adds and divisions of the last factorisation.
    #[inline]
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.operations
    }

    fn load(&mut self, a: &BandMatrix) {
        (self.n, self.lower, self.upper) = (a.n, a.lower, a.upper);
        let width = self.width();
        self.data.clear();
        self.data.resize(self.n * width, 0.0);
        self.swaps.clear();
        self.operations = 0;
        for sizes in [&mut self.column_size, &mut self.row_size] {
            sizes.clear();
            sizes.resize(a.n, 0.0);
        }
        for i in 0..a.n {
            let row = &a.data[i * a.width()..(i + 1) * a.width()];
            self.data[i * width..i * width + row.len()].copy_from_slice(row);
            let (first, last) = a.columns(i);
            for j in first..last {
                let entry = a.get(i, j).abs();
                self.column_size[j] = self.column_size[j].max(entry);
                self.row_size[i] = self.row_size[i].max(entry);
            }
        }
    }

    fn width(&self) -> usize {
        2 * self.lower + self.upper + 1
    }

    /// Factorises a band matrix.
    ///
    /// # Errors
    /// [`MathError::Singular`] or [`MathError::NonFinite`]; the factors are then not usable.
    pub fn factor(&mut self, a: &BandMatrix) -> Result<(), MathError> {
        self.ready = false;
        MathError::check_finite("band entry", &a.data)?;
        self.load(a);
        let (n, lower, width) = (self.n, self.lower, self.width());
        let tolerance = 8.0 * f64::EPSILON * (self.lower + self.upper + 1) as f64;
        for k in 0..n {
            let last = (k + lower).min(n - 1);
            // Column k of row i sits at k − i + kl, one step left per row.
            let at = |i: usize| i * width + k + lower - i;
            let mut p = k;
            for i in k + 1..=last {
                if self.data[at(i)].abs() > self.data[at(p)].abs() {
                    p = i;
                }
            }
            let pivot = self.data[at(p)];
            if pivot.abs() <= tolerance * self.row_size[p].min(self.column_size[k]) {
                return Err(MathError::Singular { what: "band matrix", pivot: k, value: pivot });
            }
            let len = (self.lower + self.upper).min(n - 1 - k) + 1;
            self.swaps.push(p as u32);
            if p != k {
                let (head, tail) = self.data.split_at_mut(p * width);
                let from = k + lower - p;
                head[at(k)..at(k) + len].swap_with_slice(&mut tail[from..from + len]);
                self.row_size.swap(k, p);
            }
            let (head, tail) = self.data.split_at_mut((k + 1) * width);
            let pivot_row = &head[at(k) + 1..at(k) + len];
            for i in k + 1..=last {
                let start = at(i) - (k + 1) * width;
                let multiplier = tail[start] / pivot;
                tail[start] = multiplier;
                axpy(-multiplier, pivot_row, &mut tail[start + 1..start + len]);
                self.operations += len as u64;
            }
        }
        self.ready = true;
        Ok(())
    }

    /// Replaces the right-hand side `x` by the solution of `A x = b`.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`], [`MathError::WrongLength`] or [`MathError::NonFinite`].
    pub fn solve_in_place(&self, x: &mut [f64]) -> Result<(), MathError> {
        check_ready("band LU", self.ready, x.len(), self.n)?;
        MathError::check_finite("right-hand side", x)?;
        let (n, lower, width) = (self.n, self.lower, self.width());
        for k in 0..n {
            x.swap(k, self.swaps[k] as usize);
            for i in k + 1..=(k + lower).min(n - 1) {
                x[i] -= self.data[i * width + k + lower - i] * x[k];
            }
        }
        for i in (0..n).rev() {
            let row = &self.data[i * width + lower..(i + 1) * width];
            x[i] = (x[i] - dot(&row[1..], &x[i + 1..])) / row[0];
        }
        Ok(())
    }

    /// Solves `A x = b`.
    ///
    /// # Errors
    /// As [`BandedLu::solve_in_place`].
    pub fn solve(&self, b: &[f64], x: &mut [f64]) -> Result<(), MathError> {
        check_len("right-hand side", b.len(), self.n)?;
        check_len("solution", x.len(), self.n)?;
        x.copy_from_slice(b);
        self.solve_in_place(x)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lu, Matrix, norm};
    use super::*;
    use crate::assert_close;
    use crate::testkit::SplitMix64;

    fn random_band(n: usize, lower: usize, upper: usize, seed: u64) -> BandMatrix {
        let mut stream = SplitMix64(seed);
        let mut a = BandMatrix::zeros(n, lower, upper);
        for i in 0..n {
            for j in 0..n {
                if j + lower >= i && j <= i + upper {
                    a.add(i, j, stream.range(-1.0, 1.0)).unwrap();
                }
            }
        }
        a
    }

    #[test]
    fn banded_equals_dense() {
        let (mut band, mut lu) = (BandedLu::default(), Lu::default());
        for (n, lower, upper) in
            [(1, 0, 0), (2, 1, 0), (5, 0, 2), (6, 2, 1), (10, 3, 3), (40, 1, 4), (40, 5, 2), (7, 9, 9)]
        {
            for seed in 0..20 {
                // A diagonal of random sign and size makes exchanges common but not constant.
                let a = random_band(n, lower, upper, seed);
                let dense = Matrix::from_fn(n, n, |i, j| a.get(i, j));
                assert!(dense.as_ref().bandwidth().0 <= lower && dense.as_ref().bandwidth().1 <= upper);
                band.factor(&a).unwrap();
                lu.factor(dense.as_ref()).unwrap();
                let b: Vec<f64> = (0..n).map(|i| 1.0 - 0.3 * i as f64).collect();
                let (mut x, mut y, mut ax) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
                band.solve(&b, &mut x).unwrap();
                lu.solve(&b, &mut y).unwrap();
                a.mul_vec(&x, &mut ax).unwrap();
                for i in 0..n {
                    assert_close!(ax[i], b[i], abs = 1e-12 * (norm(&x) + norm(&b)));
                }
                let mut copy = BandMatrix::default();
                copy.copy_from_dense(dense.as_ref(), lower, upper).unwrap();
                assert_eq!(copy, a);
                // Same pivots, same eliminations: both err alike, so compare loosely in x.
                let (gap, size) =
                    (x.iter().zip(&y).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max), norm(&x));
                assert!(gap <= 1e-8 * size, "n {n} seed {seed}: {gap:e} of {size:e}");
            }
        }
    }

    // proves: DYN-108
    #[test]
    fn operations_grow_linearly_with_the_length_of_a_chain() {
        // Three rows per joint, neighbours coupled: half-bandwidth 5.
        let chain = |joints: usize| {
            let n = 3 * joints;
            let mut a = BandMatrix::zeros(n, 5, 5);
            for i in 0..n {
                for j in i.saturating_sub(5)..(i + 6).min(n) {
                    if i / 3 + 1 >= j / 3 && j / 3 + 1 >= i / 3 {
                        a.add(i, j, if i == j { 4.0 } else { 0.3 / (1.0 + (i + 2 * j) as f64 % 7.0) })
                            .unwrap();
                    }
                }
            }
            a
        };
        let mut band = BandedLu::default();
        let mut count = |joints: usize| {
            band.factor(&chain(joints)).unwrap();
            band.operations()
        };
        let (c100, c200, c400, c800) = (count(100), count(200), count(400), count(800));
        // Exactly linear: each further hundred joints costs the same.
        assert_eq!(2 * (c200 - c100), c400 - c200);
        assert_eq!(2 * (c400 - c200), c800 - c400);
        assert!(c800 <= 2400 * 5 * 11, "{c800}");
        // Dense elimination of the same chain needs n³/3.
        assert!(c800 * 1000 < 2400 * 2400 * 2400 / 3);
    }

    #[test]
    fn singular_and_bad_input_are_errors() {
        let mut band = BandedLu::default();
        let mut a = BandMatrix::zeros(3, 1, 1);
        a.add(0, 0, 1.0).unwrap();
        a.add(2, 2, 1.0).unwrap();
        assert_eq!(band.factor(&a), Err(MathError::Singular { what: "band matrix", pivot: 1, value: 0.0 }));
        assert!(matches!(band.solve_in_place(&mut [0.0; 3]), Err(MathError::NotPrepared { .. })));
        assert!(a.add(0, 2, 1.0).is_err() && a.add(3, 3, 1.0).is_err());
        a.add(1, 1, f64::NAN).unwrap();
        assert!(matches!(band.factor(&a), Err(MathError::NonFinite { .. })));
        band.factor(&BandMatrix::zeros(0, 4, 4)).unwrap();
        band.solve_in_place(&mut []).unwrap();
    }
}
