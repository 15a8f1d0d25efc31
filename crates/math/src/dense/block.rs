//! Sub-matrices and sub-vectors: assign, add, extract.
//!
//! System matrices are put together from small blocks, one per pair of constraints. Views
//! ([`MatRef::block`], [`MatMut::block_mut`]) do this without copying; the functions here copy.

use super::kernels::axpy;
use super::matrix::{MatMut, MatRef, check_len};
use crate::MathError;

/// Copies `block` into `matrix` with its first entry at (row, col).
///
/// # Errors
/// [`MathError::OutOfRange`] if it sticks out; `matrix` is then unchanged.
pub fn assign_block(
    matrix: &mut MatMut<'_>,
    row: usize,
    col: usize,
    block: MatRef<'_>,
) -> Result<(), MathError> {
    let mut target = matrix.block_mut(row, col, block.rows(), block.cols())?;
    for i in 0..block.rows() {
        target.row_mut(i).copy_from_slice(block.row(i));
    }
    Ok(())
}

/// Adds `factor * block` to `matrix` with its first entry at (row, col).
///
/// # Errors
/// [`MathError::OutOfRange`] if it sticks out; `matrix` is then unchanged.
pub fn add_block(
    matrix: &mut MatMut<'_>,
    row: usize,
    col: usize,
    factor: f64,
    block: MatRef<'_>,
) -> Result<(), MathError> {
    let mut target = matrix.block_mut(row, col, block.rows(), block.cols())?;
    for i in 0..block.rows() {
        axpy(factor, block.row(i), target.row_mut(i));
    }
    Ok(())
}

/// Copies the block of `matrix` that starts at (row, col) and has the shape of `out` into `out`.
///
/// # Errors
/// [`MathError::OutOfRange`] if it sticks out; `out` is then unchanged.
pub fn extract_block(
    matrix: MatRef<'_>,
    row: usize,
    col: usize,
    mut out: MatMut<'_>,
) -> Result<(), MathError> {
    let source = matrix.block(row, col, out.rows(), out.cols())?;
    for i in 0..source.rows() {
        out.row_mut(i).copy_from_slice(source.row(i));
    }
    Ok(())
}

fn range(start: usize, len: usize, limit: usize) -> Result<std::ops::Range<usize>, MathError> {
    let end = start.saturating_add(len);
    if end > limit {
        return Err(MathError::OutOfRange { what: "sub-vector end", index: end, limit });
    }
    Ok(start..end)
}

/// Copies `part` into `vector` from position `start`.
///
/// # Errors
/// [`MathError::OutOfRange`] if it sticks out; `vector` is then unchanged.
pub fn assign_sub_vector(vector: &mut [f64], start: usize, part: &[f64]) -> Result<(), MathError> {
    let range = range(start, part.len(), vector.len())?;
    vector[range].copy_from_slice(part);
    Ok(())
}

/// Copies `out.len()` entries of `vector` from position `start` into `out`.
///
/// # Errors
/// [`MathError::OutOfRange`] if they stick out; `out` is then unchanged.
pub fn extract_sub_vector(vector: &[f64], start: usize, out: &mut [f64]) -> Result<(), MathError> {
    let range = range(start, out.len(), vector.len())?;
    check_len("sub-vector", range.len(), out.len())?;
    out.copy_from_slice(&vector[range]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Matrix;
    use super::*;

    fn numbered(rows: usize, cols: usize) -> Matrix {
        Matrix::from_fn(rows, cols, |i, j| (10 * i + j) as f64)
    }

    // proves: DYN-115
    #[test]
    fn an_assigned_block_is_extracted_again_and_nothing_else_changes() {
        for (row, col, rows, cols) in
            [(0, 0, 5, 6), (1, 2, 3, 2), (4, 5, 1, 1), (2, 3, 0, 2), (5, 6, 0, 0), (0, 1, 5, 0)]
        {
            let before = numbered(5, 6);
            let mut matrix = before.clone();
            let block = Matrix::from_fn(rows, cols, |i, j| -1.0 - (i * cols + j) as f64);
            assign_block(&mut matrix.as_mut(), row, col, block.as_ref()).unwrap();
            let mut back = Matrix::zeros(rows, cols);
            extract_block(matrix.as_ref(), row, col, back.as_mut()).unwrap();
            assert_eq!(back, block);
            for i in 0..5 {
                for j in 0..6 {
                    let inside = (row..row + rows).contains(&i) && (col..col + cols).contains(&j);
                    if !inside {
                        assert_eq!(matrix[(i, j)].to_bits(), before[(i, j)].to_bits());
                    }
                }
            }
            add_block(&mut matrix.as_mut(), row, col, -1.0, block.as_ref()).unwrap();
            extract_block(matrix.as_ref(), row, col, back.as_mut()).unwrap();
            assert_eq!(back, Matrix::zeros(rows, cols));
        }
        let mut vector = [0.0, 1.0, 2.0, 3.0];
        assign_sub_vector(&mut vector, 1, &[8.0, 9.0]).unwrap();
        assert_eq!(vector, [0.0, 8.0, 9.0, 3.0]);
        let mut part = [0.0; 2];
        extract_sub_vector(&vector, 2, &mut part).unwrap();
        assert_eq!(part, [9.0, 3.0]);
    }

    #[test]
    fn blocks_that_stick_out_are_errors_and_leave_the_target_alone() {
        let mut matrix = numbered(3, 3);
        let block = Matrix::zeros(2, 2);
        assert_eq!(
            assign_block(&mut matrix.as_mut(), 2, 0, block.as_ref()),
            Err(MathError::OutOfRange { what: "block row end", index: 4, limit: 3 })
        );
        assert!(assign_block(&mut matrix.as_mut(), 0, usize::MAX, block.as_ref()).is_err());
        assert!(add_block(&mut matrix.as_mut(), 0, 2, 1.0, block.as_ref()).is_err());
        assert_eq!(matrix, numbered(3, 3));
        let mut vector = [0.0; 3];
        assert!(assign_sub_vector(&mut vector, 2, &[1.0, 2.0]).is_err());
        assert!(extract_sub_vector(&vector, usize::MAX, &mut [0.0; 2]).is_err());
    }

    #[test]
    fn views_of_views_address_the_same_entries() {
        let mut matrix = numbered(6, 7);
        let outer = matrix.as_ref().block(1, 1, 4, 5).unwrap();
        let inner = outer.block(1, 2, 2, 2).unwrap();
        assert_eq!(inner.row(1), [33.0 + 10.0 * 0.0, 34.0]);
        assert_eq!(outer.column(4).collect::<Vec<_>>(), [15.0, 25.0, 35.0, 45.0]);
        assert_eq!(outer.column(5).count(), 0);
        let mut view = matrix.as_mut();
        let mut block = view.block_mut(4, 5, 2, 2).unwrap();
        for x in block.column_mut(1) {
            *x = -1.0;
        }
        block.swap_rows(0, 1);
        assert_eq!(matrix.row(4)[5..], [55.0, -1.0]);
        assert_eq!(matrix.row(5)[5..], [45.0, -1.0]);
    }

    #[test]
    fn views_over_short_storage_are_errors() {
        let data = [0.0; 10];
        assert!(MatRef::new(&data, 3, 3, 3).is_ok());
        assert!(MatRef::new(&data, 3, 3, 4).is_err());
        assert!(MatRef::new(&data, 3, 2, 4).is_ok());
        assert!(MatRef::new(&data, 2, 3, 2).is_err());
        assert!(MatRef::new(&data, usize::MAX, 3, 3).is_err());
        assert!(Matrix::from_row_major(2, 3, vec![0.0; 5]).is_err());
        assert!(Matrix::from_row_major(usize::MAX, 3, vec![0.0; 5]).is_err());
    }
}
