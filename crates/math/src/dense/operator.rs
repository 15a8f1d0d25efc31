//! Square matrices seen only through their products: what iterative solvers ask of them.

use super::matrix::{MatRef, check_len};
use super::{Matrix, mul_transpose_vec, mul_vec};
use crate::MathError;

/// A square matrix given by its products.
///
/// Implementations are deterministic: the same input gives the same bits.
pub trait LinearOperator {
    /// Number of rows and of columns.
    fn order(&self) -> usize;

    /// `y = A x`; both have length [`LinearOperator::order`].
    ///
    /// # Errors
    /// [`MathError::WrongLength`].
    fn apply(&self, x: &[f64], y: &mut [f64]) -> Result<(), MathError>;

    /// `y = Aᵀ x`; both have length [`LinearOperator::order`].
    ///
    /// # Errors
    /// [`MathError::WrongLength`].
    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) -> Result<(), MathError>;

    /// Writes the main diagonal, for preconditioning.
    ///
    /// # Errors
    /// [`MathError::WrongLength`].
    fn diagonal(&self, out: &mut [f64]) -> Result<(), MathError>;
}

impl LinearOperator for MatRef<'_> {
    fn order(&self) -> usize {
        self.rows().min(self.cols())
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) -> Result<(), MathError> {
        mul_vec(*self, x, y)
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) -> Result<(), MathError> {
        mul_transpose_vec(*self, x, y)
    }

    fn diagonal(&self, out: &mut [f64]) -> Result<(), MathError> {
        check_len("diagonal", out.len(), self.order())?;
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.row(i)[i];
        }
        Ok(())
    }
}

impl LinearOperator for Matrix {
    fn order(&self) -> usize {
        self.as_ref().order()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) -> Result<(), MathError> {
        mul_vec(self.as_ref(), x, y)
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) -> Result<(), MathError> {
        mul_transpose_vec(self.as_ref(), x, y)
    }

    fn diagonal(&self, out: &mut [f64]) -> Result<(), MathError> {
        self.as_ref().diagonal(out)
    }
}

/// A square matrix in compressed rows: only non-zero entries are stored and multiplied.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseMatrix {
    /// Entries of row i at `offsets[i]..offsets[i + 1]`; one more than there are rows.
    offsets: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// Matrix of order `n` from (row, column, value); entries at the same place add up in the order given.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] or [`MathError::NonFinite`] with the index of the entry.
    pub fn from_triplets(n: usize, triplets: &[(u32, u32, f64)]) -> Result<Self, MathError> {
        for (index, &(i, j, value)) in triplets.iter().enumerate() {
            let largest = i.max(j) as usize;
            if largest >= n {
                return Err(MathError::OutOfRange { what: "sparse entry", index: largest, limit: n });
            }
            if !value.is_finite() {
                return Err(MathError::NonFinite { what: "sparse entry", index, value });
            }
        }
        let mut sorted = triplets.to_vec();
        sorted.sort_by_key(|&(i, j, _)| (i, j));
        let mut matrix = Self { offsets: vec![0; n + 1], ..Self::default() };
        let mut previous = None;
        for (i, j, value) in sorted {
            if previous == Some((i, j)) {
                if let Some(last) = matrix.values.last_mut() {
                    *last += value;
                }
                continue;
            }
            previous = Some((i, j));
            matrix.offsets[i as usize + 1] += 1;
            matrix.columns.push(j);
            matrix.values.push(value);
        }
        for i in 0..n {
            matrix.offsets[i + 1] += matrix.offsets[i];
        }
        Ok(matrix)
    }

    /// Becomes the non-zero entries of a square dense matrix, keeping the storage.
    ///
    /// # Errors
    /// [`MathError::WrongLength`] unless the matrix is square.
    pub fn copy_from_dense(&mut self, a: MatRef<'_>) -> Result<(), MathError> {
        check_len("columns of a square matrix", a.cols(), a.rows())?;
        self.offsets.clear();
        self.columns.clear();
        self.values.clear();
        self.offsets.push(0);
        for i in 0..a.rows() {
            for (j, &value) in a.row(i).iter().enumerate() {
                if value != 0.0 {
                    self.columns.push(j as u32);
                    self.values.push(value);
                }
            }
            self.offsets.push(self.values.len() as u32);
        }
        Ok(())
    }

    /// Number of stored entries.
    #[inline]
    #[must_use]
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        (&self.columns[range.clone()], &self.values[range])
    }
}

impl LinearOperator for SparseMatrix {
    fn order(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) -> Result<(), MathError> {
        check_len("x", x.len(), self.order())?;
        check_len("y", y.len(), self.order())?;
        for (i, y) in y.iter_mut().enumerate() {
            let (columns, values) = self.row(i);
            *y = columns.iter().zip(values).fold(0.0, |s, (&j, v)| s + v * x[j as usize]);
        }
        Ok(())
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) -> Result<(), MathError> {
        check_len("x", x.len(), self.order())?;
        check_len("y", y.len(), self.order())?;
        y.fill(0.0);
        for (i, &x) in x.iter().enumerate() {
            let (columns, values) = self.row(i);
            for (&j, &v) in columns.iter().zip(values) {
                y[j as usize] += v * x;
            }
        }
        Ok(())
    }

    fn diagonal(&self, out: &mut [f64]) -> Result<(), MathError> {
        check_len("diagonal", out.len(), self.order())?;
        for (i, out) in out.iter_mut().enumerate() {
            let (columns, values) = self.row(i);
            *out = columns.binary_search(&(i as u32)).map_or(0.0, |k| values[k]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::SplitMix64;

    #[test]
    fn sparse_and_dense_products_agree() {
        let mut stream = SplitMix64(11);
        let n = 17;
        let mut triplets = Vec::new();
        let mut dense = Matrix::zeros(n, n);
        for _ in 0..80 {
            let (i, j, value) = (stream.below(n), stream.below(n), stream.range(-1.0, 1.0));
            triplets.push((i as u32, j as u32, value));
            dense[(i, j)] += value;
        }
        let sparse = SparseMatrix::from_triplets(n, &triplets).unwrap();
        let mut copied = SparseMatrix::default();
        copied.copy_from_dense(dense.as_ref()).unwrap();
        assert_eq!(sparse, copied);
        assert!(sparse.stored() < 80);
        let x: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
        let (mut y, mut z) = (vec![0.0; n], vec![0.0; n]);
        for transposed in [false, true] {
            if transposed {
                sparse.apply_transposed(&x, &mut y).unwrap();
                dense.apply_transposed(&x, &mut z).unwrap();
            } else {
                sparse.apply(&x, &mut y).unwrap();
                dense.apply(&x, &mut z).unwrap();
            }
            for (y, z) in y.iter().zip(&z) {
                crate::assert_close!(*y, *z, abs = 1e-12);
            }
        }
        sparse.diagonal(&mut y).unwrap();
        dense.diagonal(&mut z).unwrap();
        assert_eq!(y, z);
    }

    #[test]
    fn bad_triplets_are_errors() {
        assert!(matches!(SparseMatrix::from_triplets(2, &[(0, 2, 1.0)]), Err(MathError::OutOfRange { .. })));
        assert!(matches!(
            SparseMatrix::from_triplets(2, &[(0, 0, 1.0), (1, 0, f64::NAN)]),
            Err(MathError::NonFinite { index: 1, .. })
        ));
        let empty = SparseMatrix::default();
        assert_eq!(empty.order(), 0);
        empty.apply(&[], &mut []).unwrap();
    }
}
