//! Singular value decomposition by one-sided Jacobi rotations, and least squares with it.
//!
//! The only solver here that handles contradictory equations, and the slowest.
//!
//! # Reference
//! Hestenes 1958; de Rijk 1989 (ordering by norm); Golub and Van Loan, *Matrix Computations*, 4th ed.,
//! section 8.6.3; Demmel and Veselić 1992 (accuracy).
//!
//! # Symbols
//! `A` m x n, `U` and `V` orthonormal columns, σ singular values in decreasing order, p = min(m, n);
//! `w_i` column i of the work matrix, which tends to `σ_i u_i`.
//!
//! # Formula
//! ```text
//! A = U Σ Vᵀ,   x = Σ_{σ_i > τ σ_1} v_i (u_i·b) / σ_i
//! for each pair of columns: ζ = (|w_j|² − |w_i|²) / (2 w_i·w_j),  t = sign(ζ) / (|ζ| + √(1 + ζ²)),
//!                           c = 1/√(1 + t²),  s = c t;  rotate (w_i, w_j) and (v_i, v_j) by (c, s)
//! ```
//!
//! # Cost
//! About 6 to 10 sweeps of p²/2 pairs with O(m + n) each. Columns are stored as rows, so every pair is two
//! contiguous slices. Allocates only when the size exceeds every earlier one.
//!
//! # Numerics
//! Stops when no pair has `|w_i·w_j| > ε p |w_i||w_j|`; columns below `ε p σ_1` count as zero. Singular values are
//! accurate to about `ε σ_1 p`, and better for matrices with scaled columns.
//! Truncation τ: 1e-9 by default; the solution changes by jumps as σ crosses it.
//!
//! # Failure
//! [`MathError::NonFinite`]; [`MathError::WrongLength`]; [`MathError::NotConverged`] after 60 sweeps;
//! [`MathError::NotPrepared`].
//!
//! # Tested by
//! `two_contradictory_equations_give_the_mid_point`, `factors_give_the_matrix_back_and_are_orthonormal`,
//! `pseudo_inverse_satisfies_the_four_conditions_of_penrose`, and against faer in `tests/dense_oracle.rs`.

use super::kernels::{axpy, dot, max_abs, norm, scale};
use super::matrix::{MatMut, MatRef, Matrix, check_len};
use crate::MathError;

const MAX_SWEEPS: usize = 60;

/// Singular values and vectors of a matrix, with their storage.
#[derive(Debug, Clone)]
pub struct Svd {
    /// Row i is the left singular vector i.
    left: Matrix,
    /// Row i is the right singular vector i.
    right: Matrix,
    values: Vec<f64>,
    squares: Vec<f64>,
    shape: (usize, usize),
    sweeps: usize,
    ready: bool,
    /// Singular values up to this fraction of the largest count as zero. Default 1e-9, in [0, 1); raising it
    /// gives smaller solutions and larger residuals.
    pub truncation: f64,
}

impl Default for Svd {
    fn default() -> Self {
        Self {
            left: Matrix::default(),
            right: Matrix::default(),
            values: Vec::new(),
            squares: Vec::new(),
            shape: (0, 0),
            sweeps: 0,
            ready: false,
            truncation: 1e-9,
        }
    }
}

/// Two different rows of a matrix, the first with the smaller index.
fn pair(m: &mut Matrix, i: usize, j: usize) -> (&mut [f64], &mut [f64]) {
    let cols = m.cols();
    let (head, tail) = m.as_mut_slice().split_at_mut(j * cols);
    (&mut head[i * cols..(i + 1) * cols], &mut tail[..cols])
}

fn rotate((x, y): (&mut [f64], &mut [f64]), c: f64, s: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

impl Svd {
    /// Decomposes a matrix of any shape.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] or [`MathError::NotConverged`]; the factors are then not usable.
    pub fn factor(&mut self, a: MatRef<'_>) -> Result<(), MathError> {
        self.ready = false;
        a.check_finite()?;
        let (m, n) = (a.rows(), a.cols());
        self.shape = (m, n);
        let (p, q) = (m.min(n), m.max(n));
        // A power of two near 1 / largest keeps squares in range and rounds nothing.
        let largest = a.max_abs();
        let unit = if largest > 0.0 { power_of_two_below(largest) } else { 1.0 };
        // Work on the shorter side: columns of A if it is tall, else of Aᵀ. Stored as rows.
        let (work, other) =
            if m >= n { (&mut self.left, &mut self.right) } else { (&mut self.right, &mut self.left) };
        work.reset(p, q);
        other.reset(p, p);
        for i in 0..p {
            other[(i, i)] = 1.0;
            for j in 0..q {
                work[(i, j)] = (if m >= n { a.row(j)[i] } else { a.row(i)[j] }) / unit;
            }
        }
        self.squares.clear();
        self.squares.resize(p, 0.0);
        let mut rotated = true;
        self.sweeps = 0;
        while rotated {
            if self.sweeps == MAX_SWEEPS {
                return Err(MathError::NotConverged {
                    what: "singular value decomposition",
                    iterations: MAX_SWEEPS,
                    residual: worst_cosine(work),
                });
            }
            rotated = sweep(work, other, &mut self.squares);
            self.sweeps += 1;
        }
        self.values.clear();
        for i in 0..p {
            let row = work.row_mut(i);
            let length = norm(row);
            self.values.push(length * unit);
            if length > 0.0 {
                scale(1.0 / length, row);
            }
        }
        sort_by_value(&mut self.values, work, other);
        self.ready = true;
        Ok(())
    }

    fn check_ready(&self) -> Result<(), MathError> {
        if self.ready { Ok(()) } else { Err(MathError::NotPrepared { what: "SVD" }) }
    }

    /// Singular values in decreasing order.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`].
    pub fn singular_values(&self) -> Result<&[f64], MathError> {
        self.check_ready()?;
        Ok(&self.values)
    }

    /// Left singular vectors as rows; a row is zero or unit length, zero only beside a zero singular value.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`].
    pub fn left(&self) -> Result<MatRef<'_>, MathError> {
        self.check_ready()?;
        Ok(self.left.as_ref())
    }

    /// Right singular vectors as rows; a row is zero or unit length, zero only beside a zero singular value.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`].
    pub fn right(&self) -> Result<MatRef<'_>, MathError> {
        self.check_ready()?;
        Ok(self.right.as_ref())
    }

    /// Number of singular values above `truncation` times the largest.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`].
    pub fn rank(&self) -> Result<usize, MathError> {
        self.check_ready()?;
        let floor = self.truncation * self.values.first().copied().unwrap_or(0.0);
        Ok(self.values.iter().take_while(|&&s| s > floor).count())
    }

    /// Largest over smallest singular value; infinite for a singular matrix, 1 for an empty one.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`].
    pub fn condition(&self) -> Result<f64, MathError> {
        self.check_ready()?;
        Ok(match (self.values.first(), self.values.last()) {
            (Some(&first), Some(&last)) if last > 0.0 => first / last,
            (Some(_), _) => f64::INFINITY,
            _ => 1.0,
        })
    }

    /// Sweeps the last decomposition took.
    #[inline]
    #[must_use]
    pub fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// Least-squares solution of least norm of `A x = b`.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`], [`MathError::WrongLength`] or [`MathError::NonFinite`].
    pub fn solve(&self, b: &[f64], x: &mut [f64]) -> Result<(), MathError> {
        let rank = self.rank()?;
        check_len("right-hand side", b.len(), self.shape.0)?;
        check_len("solution", x.len(), self.shape.1)?;
        MathError::check_finite("right-hand side", b)?;
        x.fill(0.0);
        for i in 0..rank {
            axpy(dot(self.left.row(i), b) / self.values[i], self.right.row(i), x);
        }
        Ok(())
    }

    /// Writes the Moore-Penrose inverse, n x m.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`] or [`MathError::WrongLength`].
    pub fn pseudo_inverse(&self, mut out: MatMut<'_>) -> Result<(), MathError> {
        let rank = self.rank()?;
        check_len("rows of the pseudo-inverse", out.rows(), self.shape.1)?;
        check_len("columns of the pseudo-inverse", out.cols(), self.shape.0)?;
        out.fill(0.0);
        for k in 0..rank {
            for i in 0..self.shape.1 {
                axpy(self.right[(k, i)] / self.values[k], self.left.row(k), out.row_mut(i));
            }
        }
        Ok(())
    }
}

/// Largest power of two not above x > 0, at least the smallest normal number.
fn power_of_two_below(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0x7FF0_0000_0000_0000).max(f64::MIN_POSITIVE)
}

/// One pass over all pairs; true if something was rotated.
fn sweep(work: &mut Matrix, other: &mut Matrix, squares: &mut [f64]) -> bool {
    let p = work.rows();
    for (i, s) in squares.iter_mut().enumerate() {
        *s = dot(work.row(i), work.row(i));
    }
    let threshold = f64::EPSILON * p as f64;
    let floor = threshold * threshold * max_abs(squares);
    let mut rotated = false;
    for i in 0..p {
        // De Rijk: the longest remaining column first, which speeds up convergence and nearly sorts.
        let longest = (i + 1..p).fold(i, |best, k| if squares[k] > squares[best] { k } else { best });
        if longest != i {
            work.as_mut().swap_rows(i, longest);
            other.as_mut().swap_rows(i, longest);
            squares.swap(i, longest);
        }
        for j in i + 1..p {
            let gamma = dot(work.row(i), work.row(j));
            let (alpha, beta) = (squares[i], squares[j]);
            if beta <= floor || alpha <= floor || gamma.abs() <= threshold * alpha.sqrt() * beta.sqrt() {
                continue;
            }
            rotated = true;
            let zeta = (beta - alpha) / (2.0 * gamma);
            let t = if zeta >= 0.0 { 1.0 } else { -1.0 } / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            let s = c * t;
            rotate(pair(work, i, j), c, s);
            rotate(pair(other, i, j), c, s);
            squares[i] = dot(work.row(i), work.row(i));
            squares[j] = dot(work.row(j), work.row(j));
        }
    }
    rotated
}

fn worst_cosine(work: &Matrix) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..work.rows() {
        for j in 0..i {
            let size = norm(work.row(i)) * norm(work.row(j));
            if size > 0.0 {
                worst = worst.max(dot(work.row(i), work.row(j)).abs() / size);
            }
        }
    }
    worst
}

/// Selection sort: the sweeps leave the rows almost sorted, and rows move at most once.
fn sort_by_value(values: &mut [f64], work: &mut Matrix, other: &mut Matrix) {
    for i in 0..values.len() {
        let largest =
            (i + 1..values.len()).fold(i, |best, k| if values[k] > values[best] { k } else { best });
        if largest != i {
            values.swap(i, largest);
            work.as_mut().swap_rows(i, largest);
            other.as_mut().swap_rows(i, largest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{mul, mul_a_transposed_b};
    use super::*;
    use crate::assert_close;
    use crate::testkit::SplitMix64;

    fn random(m: usize, n: usize, rank: usize, seed: u64) -> Matrix {
        let mut stream = SplitMix64(seed);
        let left = Matrix::from_fn(m, rank, |_, _| stream.range(-1.0, 1.0));
        let right = Matrix::from_fn(rank, n, |_, _| stream.range(-1.0, 1.0));
        let mut a = Matrix::zeros(m, n);
        mul(left.as_ref(), right.as_ref(), a.as_mut()).unwrap();
        a
    }

    // proves: DYN-111
    #[test]
    fn two_contradictory_equations_give_the_mid_point() {
        let mut svd = Svd::default();
        // One point tied to two different places, each with three equations: it settles half way.
        let (p, q) = ([1.0, 2.0, -3.0], [3.0, -2.0, 5.0]);
        let ties = Matrix::from_fn(6, 3, |i, j| if i % 3 == j { 1.0 } else { 0.0 });
        svd.factor(ties.as_ref()).unwrap();
        let mut x = [0.0; 3];
        svd.solve(&[p, q].concat(), &mut x).unwrap();
        for k in 0..3 {
            assert_close!(x[k], 0.5 * (p[k] + q[k]), abs = 1e-14);
        }
        // The same two constraints as a square system of reaction forces, J = G M⁻¹ Gᵀ: the forces share the
        // load, and what the point feels is the mean demand.
        let mass = 2.0;
        let j = Matrix::from_fn(6, 6, |i, k| if i % 3 == k % 3 { 1.0 / mass } else { 0.0 });
        svd.factor(j.as_ref()).unwrap();
        assert_eq!(svd.rank().unwrap(), 3);
        let mut forces = [0.0; 6];
        svd.solve(&[p, q].concat(), &mut forces).unwrap();
        for k in 0..3 {
            assert_close!(forces[k], forces[k + 3], abs = 1e-13);
            assert_close!((forces[k] + forces[k + 3]) / mass, 0.5 * (p[k] + q[k]), abs = 1e-13);
        }
    }

    #[test]
    fn factors_give_the_matrix_back_and_are_orthonormal() {
        let mut svd = Svd::default();
        for (m, n, rank) in
            [(1, 1, 1), (5, 3, 3), (3, 5, 3), (8, 8, 8), (9, 6, 4), (6, 9, 2), (30, 30, 30), (4, 4, 0)]
        {
            let a = random(m, n, rank, (m * 100 + n) as u64);
            svd.factor(a.as_ref()).unwrap();
            assert_eq!(svd.rank().unwrap(), rank);
            let values = svd.singular_values().unwrap().to_vec();
            assert!(values.windows(2).all(|w| w[0] >= w[1]));
            let size = values[0];
            for i in 0..m {
                for j in 0..n {
                    let sum: f64 =
                        (0..values.len()).map(|k| svd.left[(k, i)] * values[k] * svd.right[(k, j)]).sum();
                    assert_close!(sum, a[(i, j)], abs = 1e-14 * size * (m + n) as f64);
                }
            }
            for vectors in [&svd.left, &svd.right] {
                for i in 0..rank {
                    for j in 0..rank {
                        let expected = f64::from(u8::from(i == j));
                        assert_close!(dot(vectors.row(i), vectors.row(j)), expected, abs = 1e-13);
                    }
                }
            }
        }
        assert!(svd.sweeps() <= 1);
    }

    #[test]
    fn pseudo_inverse_satisfies_the_four_conditions_of_penrose() {
        let mut svd = Svd::default();
        for (m, n, rank) in [(4, 4, 4), (6, 4, 3), (4, 7, 2)] {
            let a = random(m, n, rank, 5 + m as u64);
            svd.factor(a.as_ref()).unwrap();
            let mut x = Matrix::zeros(n, m);
            svd.pseudo_inverse(x.as_mut()).unwrap();
            let product = |p: &Matrix, q: &Matrix| {
                let mut c = Matrix::zeros(p.rows(), q.cols());
                mul(p.as_ref(), q.as_ref(), c.as_mut()).unwrap();
                c
            };
            let (ax, xa) = (product(&a, &x), product(&x, &a));
            let close = |p: &Matrix, q: &Matrix| {
                let scale = p.as_ref().max_abs().max(1.0);
                p.as_slice().iter().zip(q.as_slice()).all(|(p, q)| (p - q).abs() < 1e-12 * scale)
            };
            assert!(close(&product(&ax, &a), &a) && close(&product(&xa, &x), &x));
            assert!(close(&ax.transposed(), &ax) && close(&xa.transposed(), &xa));
        }
    }

    #[test]
    fn known_values_and_condition() {
        let mut svd = Svd::default();
        let a = Matrix::from_rows(&[[3.0, 0.0], [4.0, 5.0]]);
        svd.factor(a.as_ref()).unwrap();
        assert_close!(svd.singular_values().unwrap()[0], 45.0_f64.sqrt(), rel = 1e-15);
        assert_close!(svd.singular_values().unwrap()[1], 5.0_f64.sqrt(), rel = 1e-15);
        assert_close!(svd.condition().unwrap(), 3.0, rel = 1e-14);
        // Extreme sizes neither overflow nor vanish.
        for factor in [1e300, 1e-300] {
            let scaled = Matrix::from_fn(2, 2, |i, j| a[(i, j)] * factor);
            svd.factor(scaled.as_ref()).unwrap();
            assert_close!(svd.singular_values().unwrap()[1], 5.0_f64.sqrt() * factor, rel = 1e-14);
        }
        svd.factor(Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]).as_ref()).unwrap();
        assert!(svd.condition().unwrap() > 1e15);
    }

    #[test]
    fn gram_matrix_has_squared_values() {
        let (mut svd, a) = (Svd::default(), random(7, 5, 5, 9));
        svd.factor(a.as_ref()).unwrap();
        let values = svd.singular_values().unwrap().to_vec();
        let (t, mut gram) = (a.transposed(), Matrix::zeros(5, 5));
        mul_a_transposed_b(t.as_ref(), t.as_ref(), gram.as_mut()).unwrap();
        svd.factor(gram.as_ref()).unwrap();
        for (squared, value) in svd.singular_values().unwrap().iter().zip(&values) {
            assert_close!(*squared, value * value, abs = 1e-14 * values[0] * values[0]);
        }
    }

    #[test]
    fn bad_input_is_an_error() {
        let mut svd = Svd::default();
        assert!(matches!(svd.solve(&[], &mut []), Err(MathError::NotPrepared { .. })));
        assert!(svd.factor(Matrix::from_rows(&[[1.0, f64::NAN]]).as_ref()).is_err());
        assert!(svd.rank().is_err());
        svd.factor(Matrix::identity(2).as_ref()).unwrap();
        assert!(svd.solve(&[1.0], &mut [0.0; 2]).is_err());
        assert!(svd.solve(&[1.0, f64::NAN], &mut [0.0; 2]).is_err());
        assert!(svd.pseudo_inverse(Matrix::zeros(2, 3).as_mut()).is_err());
        svd.factor(Matrix::zeros(0, 3).as_ref()).unwrap();
        let mut x = [1.0; 3];
        svd.solve(&[], &mut x).unwrap();
        assert_eq!(x, [0.0; 3]);
    }
}
