//! Owned row-major matrices and their views.
//!
//! A view is a shape, a row stride and a slice, so that a row is a plain `&[f64]`, a block is a view again,
//! and neither allocates. Columns are iterators.

use super::kernels;
use crate::MathError;
use std::ops::{Index, IndexMut};

/// A dense matrix that owns its entries, row by row.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Matrix {
    data: Vec<f64>,
    rows: usize,
    cols: usize,
}

/// A read-only view of a matrix or of a block of one: row `i` starts at `i * stride`.
#[derive(Debug, Clone, Copy)]
pub struct MatRef<'a> {
    data: &'a [f64],
    rows: usize,
    cols: usize,
    stride: usize,
}

/// A view through which entries can be changed.
#[derive(Debug)]
pub struct MatMut<'a> {
    data: &'a mut [f64],
    rows: usize,
    cols: usize,
    stride: usize,
}

/// Slice that holds `rows` rows of `cols` entries at `stride`, or the error that says what is missing.
fn check_storage(len: usize, rows: usize, cols: usize, stride: usize) -> Result<usize, MathError> {
    if stride < cols {
        return Err(MathError::WrongLength { what: "row stride", expected: cols, got: stride });
    }
    let needed =
        if rows == 0 { Some(0) } else { (rows - 1).checked_mul(stride).and_then(|n| n.checked_add(cols)) };
    match needed {
        Some(needed) if needed <= len => Ok(needed),
        _ => Err(MathError::WrongLength {
            what: "matrix storage",
            expected: needed.unwrap_or(usize::MAX),
            got: len,
        }),
    }
}

fn check_block(
    row: usize,
    col: usize,
    rows: usize,
    cols: usize,
    of: (usize, usize),
) -> Result<(), MathError> {
    let (row_end, col_end) = (row.saturating_add(rows), col.saturating_add(cols));
    if row_end > of.0 {
        return Err(MathError::OutOfRange { what: "block row end", index: row_end, limit: of.0 });
    }
    if col_end > of.1 {
        return Err(MathError::OutOfRange { what: "block column end", index: col_end, limit: of.1 });
    }
    Ok(())
}

/// `Ok` if a factorisation is there and `len` rows fit its order.
pub(super) fn check_ready(
    what: &'static str,
    ready: bool,
    len: usize,
    order: usize,
) -> Result<(), MathError> {
    if !ready {
        return Err(MathError::NotPrepared { what });
    }
    check_len("right-hand side", len, order)
}

/// `Ok` if a vector has the expected length.
pub(crate) fn check_len(what: &'static str, got: usize, expected: usize) -> Result<(), MathError> {
    if got == expected { Ok(()) } else { Err(MathError::WrongLength { what, expected, got }) }
}

impl Matrix {
    /// A matrix of zeros.
    #[must_use]
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { data: vec![0.0; rows * cols], rows, cols }
    }

    /// The unit matrix of order `n`.
    #[must_use]
    pub fn identity(n: usize) -> Self {
        let mut m = Self::zeros(n, n);
        for i in 0..n {
            m[(i, i)] = 1.0;
        }
        m
    }

    /// Takes entries given row by row.
    ///
    /// # Errors
    /// [`MathError::WrongLength`] unless there are `rows * cols` of them.
    pub fn from_row_major(rows: usize, cols: usize, data: Vec<f64>) -> Result<Self, MathError> {
        match rows.checked_mul(cols) {
            Some(n) if n == data.len() => Ok(Self { data, rows, cols }),
            n => Err(MathError::WrongLength {
                what: "matrix entries",
                expected: n.unwrap_or(usize::MAX),
                got: data.len(),
            }),
        }
    }

    /// Copies rows written out as arrays.
    #[must_use]
    pub fn from_rows<const C: usize>(rows: &[[f64; C]]) -> Self {
        Self { data: rows.concat(), rows: rows.len(), cols: C }
    }

    /// Entry (i, j) = `f(i, j)`, called row by row.
    #[must_use]
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            for j in 0..cols {
                data.push(f(i, j));
            }
        }
        Self { data, rows, cols }
    }

    /// Number of rows.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline]
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All entries, row by row.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All entries, row by row.
    #[inline]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Changes the shape and sets every entry to zero; allocates only if it never was this large.
    pub fn reset(&mut self, rows: usize, cols: usize) {
        self.data.clear();
        self.data.resize(rows * cols, 0.0);
        self.rows = rows;
        self.cols = cols;
    }

    /// Becomes a copy of `other`; allocates only if it never was this large.
    pub fn copy_from(&mut self, other: MatRef<'_>) {
        self.data.clear();
        for i in 0..other.rows {
            self.data.extend_from_slice(other.row(i));
        }
        self.rows = other.rows;
        self.cols = other.cols;
    }

    /// The transpose, newly allocated.
    #[must_use]
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    /// View of the whole matrix.
    #[inline]
    #[must_use]
    pub fn as_ref(&self) -> MatRef<'_> {
        MatRef { data: &self.data, rows: self.rows, cols: self.cols, stride: self.cols }
    }

    /// Changeable view of the whole matrix.
    #[inline]
    #[must_use]
    pub fn as_mut(&mut self) -> MatMut<'_> {
        MatMut { data: &mut self.data, rows: self.rows, cols: self.cols, stride: self.cols }
    }

    /// Row `i` as a slice; like a slice index, out of range panics.
    #[inline]
    #[must_use]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i` as a slice; like a slice index, out of range panics.
    #[inline]
    #[must_use]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.row(i)[j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.row_mut(i)[j]
    }
}

impl<'a> MatRef<'a> {
    /// View of a slice as a matrix with the given row stride.
    ///
    /// # Errors
    /// [`MathError::WrongLength`] if the stride is below `cols` or the slice too short.
    pub fn new(data: &'a [f64], rows: usize, cols: usize, stride: usize) -> Result<Self, MathError> {
        let needed = check_storage(data.len(), rows, cols, stride)?;
        Ok(Self { data: &data[..needed], rows, cols, stride })
    }

    /// Number of rows.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline]
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i` as a slice; like a slice index, out of range panics.
    #[inline]
    #[must_use]
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.data[i * self.stride..i * self.stride + self.cols]
    }

    /// Entries of column `j` from top to bottom; empty if there is no such column.
    pub fn column(&self, j: usize) -> impl DoubleEndedIterator<Item = f64> + ExactSizeIterator + 'a {
        let (data, stride) = (self.data, self.stride);
        let rows = if j < self.cols { self.rows } else { 0 };
        (0..rows).map(move |i| data[i * stride + j])
    }

    /// The block of `rows` x `cols` whose first entry is (row, col), without copying.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] if it sticks out.
    pub fn block(&self, row: usize, col: usize, rows: usize, cols: usize) -> Result<MatRef<'a>, MathError> {
        check_block(row, col, rows, cols, (self.rows, self.cols))?;
        if rows == 0 || cols == 0 {
            return Ok(MatRef { data: &[], rows, cols, stride: 0 });
        }
        Ok(MatRef { data: &self.data[row * self.stride + col..], rows, cols, stride: self.stride })
    }

    /// Fails unless the matrix is square and every entry is finite; gives its order.
    ///
    /// # Errors
    /// [`MathError::WrongLength`] or [`MathError::NonFinite`] with the row-major position of the entry.
    pub fn check_square(&self) -> Result<usize, MathError> {
        check_len("columns of a square matrix", self.cols, self.rows)?;
        self.check_finite()?;
        Ok(self.rows)
    }

    /// Fails unless every entry is finite.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] with the row-major position of the entry.
    pub fn check_finite(&self) -> Result<(), MathError> {
        for i in 0..self.rows {
            if let Some(j) = self.row(i).iter().position(|x| !x.is_finite()) {
                return Err(MathError::NonFinite {
                    what: "matrix entry",
                    index: i * self.cols + j,
                    value: self.row(i)[j],
                });
            }
        }
        Ok(())
    }

    /// Largest magnitude of all entries.
    #[must_use]
    pub fn max_abs(&self) -> f64 {
        (0..self.rows).fold(0.0, |m, i| m.max(kernels::max_abs(self.row(i))))
    }

    /// True if `|a_ij − a_ji| ≤ tolerance (|a_ij| + |a_ji|)` everywhere.
    #[must_use]
    pub fn is_symmetric(&self, tolerance: f64) -> bool {
        self.rows == self.cols
            && (0..self.rows).all(|i| {
                (0..i).all(|j| {
                    let (a, b) = (self.row(i)[j], self.row(j)[i]);
                    (a - b).abs() <= tolerance * (a.abs() + b.abs())
                })
            })
    }

    /// Numbers of diagonals with a non-zero entry below and above the main one.
    #[must_use]
    pub fn bandwidth(&self) -> (usize, usize) {
        let (mut lower, mut upper) = (0, 0);
        for i in 0..self.rows {
            let row = self.row(i);
            if let Some(first) = row.iter().position(|&x| x != 0.0) {
                lower = lower.max(i.saturating_sub(first));
            }
            if let Some(last) = row.iter().rposition(|&x| x != 0.0) {
                upper = upper.max(last.saturating_sub(i));
            }
        }
        (lower, upper)
    }
}

impl Index<(usize, usize)> for MatRef<'_> {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.stride..i * self.stride + self.cols][j]
    }
}

impl<'a> From<&'a Matrix> for MatRef<'a> {
    #[inline]
    fn from(m: &'a Matrix) -> Self {
        m.as_ref()
    }
}

impl<'a> MatMut<'a> {
    /// Changeable view of a slice as a matrix with the given row stride.
    ///
    /// # Errors
    /// [`MathError::WrongLength`] if the stride is below `cols` or the slice too short.
    pub fn new(data: &'a mut [f64], rows: usize, cols: usize, stride: usize) -> Result<Self, MathError> {
        let needed = check_storage(data.len(), rows, cols, stride)?;
        Ok(Self { data: &mut data[..needed], rows, cols, stride })
    }

    /// Number of rows.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline]
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Read-only view of the same entries.
    #[inline]
    #[must_use]
    pub fn as_ref(&self) -> MatRef<'_> {
        MatRef { data: self.data, rows: self.rows, cols: self.cols, stride: self.stride }
    }

    /// The same view again, for handing on while keeping this one.
    #[inline]
    #[must_use]
    pub fn reborrow(&mut self) -> MatMut<'_> {
        MatMut { data: self.data, rows: self.rows, cols: self.cols, stride: self.stride }
    }

    /// Row `i` as a slice; like a slice index, out of range panics.
    #[inline]
    #[must_use]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.stride..i * self.stride + self.cols]
    }

    /// Entries of column `j` from top to bottom; empty if there is no such column.
    pub fn column_mut(&mut self, j: usize) -> impl Iterator<Item = &mut f64> {
        let rows = if j < self.cols { self.rows } else { 0 };
        let start = j.min(self.data.len());
        self.data[start..].iter_mut().step_by(self.stride.max(1)).take(rows)
    }

    /// Two different rows at once; `None` if they are the same or out of range.
    pub fn two_rows_mut(&mut self, i: usize, j: usize) -> Option<(&mut [f64], &mut [f64])> {
        if i == j || i >= self.rows || j >= self.rows {
            return None;
        }
        let (lo, hi) = (i.min(j), i.max(j));
        let (head, tail) = self.data.split_at_mut(hi * self.stride);
        let low = &mut head[lo * self.stride..lo * self.stride + self.cols];
        let high = &mut tail[..self.cols];
        Some(if i < j { (low, high) } else { (high, low) })
    }

    /// The block of `rows` x `cols` whose first entry is (row, col), without copying.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] if it sticks out.
    pub fn block_mut(
        &mut self,
        row: usize,
        col: usize,
        rows: usize,
        cols: usize,
    ) -> Result<MatMut<'_>, MathError> {
        check_block(row, col, rows, cols, (self.rows, self.cols))?;
        if rows == 0 || cols == 0 {
            return Ok(MatMut { data: &mut [], rows, cols, stride: 0 });
        }
        Ok(MatMut { data: &mut self.data[row * self.stride + col..], rows, cols, stride: self.stride })
    }

    /// Sets every entry.
    pub fn fill(&mut self, value: f64) {
        for i in 0..self.rows {
            self.row_mut(i).fill(value);
        }
    }

    /// Ones on the diagonal, zeros elsewhere.
    pub fn set_identity(&mut self) {
        for i in 0..self.rows {
            let row = self.row_mut(i);
            row.fill(0.0);
            if let Some(x) = row.get_mut(i) {
                *x = 1.0;
            }
        }
    }

    /// Exchanges two rows; nothing happens if either is out of range.
    pub fn swap_rows(&mut self, i: usize, j: usize) {
        if let Some((a, b)) = self.two_rows_mut(i, j) {
            a.swap_with_slice(b);
        }
    }
}

impl Index<(usize, usize)> for MatMut<'_> {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.stride..i * self.stride + self.cols][j]
    }
}

impl IndexMut<(usize, usize)> for MatMut<'_> {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.row_mut(i)[j]
    }
}
