//! Linear systems with five diagonals on either side, as spline fitting has them.
//!
//! Elimination without pivoting: the matrices are totally positive (B-spline collocation) or symmetric
//! positive definite (penalised least squares), for which it is stable; see de Boor, *A Practical Guide to
//! Splines*, chapter XIII. O(n) time.

use crate::MathError;

/// Diagonals on each side.
pub(super) const HALF: usize = 5;
const WIDTH: usize = 2 * HALF + 1;

/// Square matrix; row i holds columns i - 5 to i + 5.
#[derive(Debug, Clone)]
pub(super) struct Banded {
    rows: Vec<[f64; WIDTH]>,
}

impl Banded {
    pub(super) fn zero(n: usize) -> Self {
        Self { rows: vec![[0.0; WIDTH]; n] }
    }

    /// Adds to entry (i, j), which lies in the band.
    pub(super) fn add(&mut self, i: usize, j: usize, value: f64) {
        self.rows[i][j + HALF - i] += value;
    }

    /// Solves in place for several right-hand sides, which become the solutions.
    pub(super) fn solve<const N: usize>(mut self, b: &mut [[f64; N]]) -> Result<(), MathError> {
        let n = self.rows.len();
        for k in 0..n {
            let pivot = self.rows[k][HALF];
            // NaN fails the comparison too. The entries of a row are at most 1 or positive: no scaling needed.
            if !(pivot.abs() > f64::MIN_POSITIVE && pivot.is_finite()) {
                return Err(MathError::NotPositive { what: "pivot of spline fit", index: k, value: pivot });
            }
            let above = self.rows[k];
            for i in k + 1..n.min(k + HALF + 1) {
                let shift = i - k;
                let factor = self.rows[i][HALF - shift] / pivot;
                if factor == 0.0 {
                    continue;
                }
                for c in 1..=HALF {
                    self.rows[i][HALF - shift + c] -= factor * above[HALF + c];
                }
                let known = b[k];
                for (x, y) in b[i].iter_mut().zip(known) {
                    *x -= factor * y;
                }
            }
        }
        for i in (0..n).rev() {
            for c in 1..=HALF.min(n - 1 - i) {
                let entry = self.rows[i][HALF + c];
                let known = b[i + c];
                for (x, y) in b[i].iter_mut().zip(known) {
                    *x -= entry * y;
                }
            }
            for x in &mut b[i] {
                *x /= self.rows[i][HALF];
            }
        }
        Ok(())
    }
}
