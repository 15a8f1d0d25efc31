//! LU and Cholesky factorisation of a block that is gathered from a larger matrix, without allocation.
//!
//! The factorisations of `sim-math` take whole matrices; here the active block is written row by row into the
//! factor, which saves a copy and a check at each round of the solvers, and a right-hand side can ride along.
//!
//! # Reference
//! Golub, Van Loan, *Matrix Computations* (2013), 3.4 and 4.2, in the order row by row.
//! # Symbols
//! A P = L U with unit lower L and a permutation P of the columns, both factors in one row-major array;
//! A = Uᵀ D⁻¹ U for Cholesky. b = an extra column, which ends up as L⁻¹ b.
//! # Formula
//! ```text
//! row i of U = row i of A minus Σ_{k<i} l_ik · row k of U,   l_ik = u_ki / u_kk for Cholesky
//! ```
//! # Cost
//! n³/3 (LU) or n³/6 (Cholesky) multiply-adds, four rows of U at a time; groups of four rows share their reads of U.
//! # Numerics
//! LU takes the largest entry of each reduced row as pivot, which bounds all of U as row pivoting bounds L.
//! Cholesky does without. A pivot below n·ε of what the row (LU) or its diagonal entry (Cholesky) was before is 0.
//! # Failure
//! `factor` is false for a singular matrix, or one that is not positive definite.
//! # Tested by
//! `lu_solves_random_systems`, `cholesky_solves_and_refuses_indefinite_ones`, `a_riding_column_is_solved_for_too`.

use crate::kernels::{combine_rows, dot, grow, max_abs};

/// Rows that are reduced by the finished part of U together, and to a multiple of which rows are padded.
const GROUP: usize = 4;

/// Distance of rows of `width` numbers: whole vectors, so that no loop over a row has a tail.
fn padded(width: usize) -> usize {
    width.max(1).next_multiple_of(GROUP)
}

/// LU factors of one matrix.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lu {
    n: usize,
    stride: usize,
    a: Vec<f64>,
    inv_diagonal: Vec<f64>,
    /// Columns that were exchanged, in order.
    swaps: Vec<(u32, u32)>,
}

impl Lu {
    /// Makes room for an n x n matrix and a riding column.
    pub(crate) fn reserve(&mut self, n: usize) {
        grow(&mut self.a, n * padded(n + 1));
        self.swaps.reserve(n.saturating_sub(self.swaps.len()));
        grow(&mut self.inv_diagonal, n);
    }

    /// Factorises the matrix whose row i is written by `row(i, out)` with n numbers; false if it is singular.
    pub(crate) fn factor(&mut self, n: usize, row: impl FnMut(usize, &mut [f64])) -> bool {
        self.factor_wide(n, n, row)
    }

    /// Solves A x = b where `row(i, out)` writes row i of A and then `b_i`, n + 1 numbers; false if A is singular.
    pub(crate) fn solve_riding(&mut self, x: &mut [f64], row: impl FnMut(usize, &mut [f64])) -> bool {
        let n = x.len();
        if !self.factor_wide(n, n + 1, row) {
            return false;
        }
        for (x, row) in x.iter_mut().zip(self.a.chunks_exact(self.stride)) {
            *x = row[n];
        }
        self.back_substitute(x);
        true
    }

    fn factor_wide(&mut self, n: usize, width: usize, mut row: impl FnMut(usize, &mut [f64])) -> bool {
        let stride = padded(width);
        (self.n, self.stride) = (n, stride);
        self.swaps.clear();
        self.reserve(n);
        let tiny = n as f64 * f64::EPSILON;
        for first in (0..n).step_by(GROUP) {
            let last = (first + GROUP).min(n);
            let (upper, group) = self.a.split_at_mut(first * stride);
            let mut floors = [0.0; GROUP];
            for (i, current) in (first..last).zip(group.chunks_exact_mut(stride)) {
                row(i, &mut current[..width]);
                current[width..].fill(0.0);
                floors[i - first] = max_abs(&current[..n]) * tiny;
                for &(k, at) in &self.swaps {
                    current.swap(k as usize, at as usize);
                }
                reduce(current, upper, 0..first, &self.inv_diagonal);
            }
            for i in first..last {
                let (upper, rest) = self.a.split_at_mut(i * stride);
                let current = &mut rest[..stride];
                reduce(current, upper, first..i, &self.inv_diagonal);
                let size = max_abs(&current[i..n]);
                if size.is_nan() || size <= floors[i - first] || size == f64::INFINITY {
                    return false;
                }
                // The diagonal entry will do if it is not much smaller: then nothing moves.
                if current[i].abs() < 0.25 * size {
                    let at = i + current[i..n].iter().position(|v| v.abs() >= size).unwrap_or(0);
                    self.swaps.push((i as u32, at as u32));
                    for row in self.a[..last * stride].chunks_exact_mut(stride) {
                        row.swap(i, at);
                    }
                }
                self.inv_diagonal[i] = 1.0 / self.a[i * stride + i];
            }
        }
        true
    }

    /// x ← A⁻¹ x.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        for (i, row) in self.a.chunks_exact(self.stride).take(self.n).enumerate().skip(1) {
            x[i] -= dot(&row[..i], &x[..i]);
        }
        self.back_substitute(x);
    }

    /// x ← P U⁻¹ x.
    fn back_substitute(&self, x: &mut [f64]) {
        let (n, stride) = (self.n, self.stride);
        for i in (0..n).rev() {
            let row = &self.a[i * stride..][i + 1..n];
            x[i] = (x[i] - dot(row, &x[i + 1..n])) * self.inv_diagonal[i];
        }
        for &(k, at) in self.swaps.iter().rev() {
            x.swap(k as usize, at as usize);
        }
    }
}

/// Eliminates the columns `range` of `current` by these rows of `u`, which are as long; the factors take their place.
/// The range starts at a multiple of [`GROUP`].
fn reduce(current: &mut [f64], u: &[f64], range: std::ops::Range<usize>, inv_diagonal: &[f64]) {
    let stride = current.len();
    for k in range.clone().step_by(GROUP) {
        let count = (range.end - k).min(GROUP);
        let (head, tail) = current[k..].split_at_mut(GROUP);
        let mut s = [0.0; GROUP];
        for b in 0..count {
            let row = &u[(k + b) * stride + k..][..GROUP];
            let l = head[b] * inv_diagonal[k + b];
            head[b] = l;
            s[b] = -l;
            for a in b + 1..GROUP {
                head[a] -= l * row[a];
            }
        }
        combine_rows(tail, &u[k * stride + k + GROUP..], stride, &s[..count]);
    }
}

/// Solves with one symmetric positive definite matrix: A = Uᵀ D⁻¹ U with D the diagonal of U, its upper triangle by
/// rows. (Cholesky's factor is D^-½ U; without the roots each row waits for one division only.)
#[derive(Debug, Clone, Default)]
pub(crate) struct Cholesky {
    u: Vec<f64>,
    factors: Vec<f64>,
    inv_diagonal: Vec<f64>,
}

impl Cholesky {
    /// Makes room for an n x n matrix and a riding column.
    pub(crate) fn reserve(&mut self, n: usize) {
        grow(&mut self.u, n * padded(n + 1));
        grow(&mut self.factors, n);
        grow(&mut self.inv_diagonal, n);
    }

    /// Solves A x = b where `row(i, out)` writes row i of A from the diagonal on and then `b_i`, n − i + 1 numbers;
    /// false if A is not positive definite.
    pub(crate) fn solve_riding(&mut self, x: &mut [f64], mut row: impl FnMut(usize, &mut [f64])) -> bool {
        let n = x.len();
        let stride = padded(n + 1);
        self.reserve(n);
        let floor = n as f64 * f64::EPSILON;
        for i in 0..n {
            let (above, rest) = self.u.split_at_mut(i * stride);
            let current = &mut rest[..stride];
            row(i, &mut current[i..=n]);
            current[n + 1..].fill(0.0);
            // Some numbers before the diagonal come along, to make whole vectors; nothing reads them.
            let first = i - i % GROUP;
            current[first..i].fill(0.0);
            let diagonal = current[i];
            let pairs = above.chunks_exact(stride).zip(&self.inv_diagonal);
            for (f, (c, inv)) in self.factors.iter_mut().zip(pairs) {
                *f = -c[i] * inv;
            }
            if i > 0 {
                combine_rows(&mut current[first..], &above[first..], stride, &self.factors[..i]);
            }
            let d = current[i];
            if d.is_nan() || d <= diagonal.abs() * floor {
                return false;
            }
            self.inv_diagonal[i] = 1.0 / d;
        }
        for i in (0..n).rev() {
            let row = &self.u[i * stride..][i + 1..=n];
            x[i] = (row[n - i - 1] - dot(&row[..n - i - 1], &x[i + 1..])) * self.inv_diagonal[i];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    fn residual(n: usize, a: &[f64], x: &[f64], b: &[f64]) -> f64 {
        (0..n).map(|i| (dot(&a[i * n..][..n], x) - b[i]).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn lu_solves_random_systems() {
        let mut random = SplitMix64(21);
        let mut lu = Lu::default();
        for n in [1, 2, 3, 7, 31, 32, 33, 64, 70, 130] {
            let a: Vec<f64> = (0..n * n).map(|_| random.range(-1.0, 1.0)).collect();
            let b: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
            assert!(lu.factor(n, |i, out| out.copy_from_slice(&a[i * n..][..n])));
            let mut x = b.clone();
            lu.solve(&mut x);
            assert!(residual(n, &a, &x, &b) < 1e-11, "n = {n}: {}", residual(n, &a, &x, &b));
        }
        assert!(!lu.factor(2, |_, out| out.fill(1.0)));
        assert!(!lu.factor(1, |_, out| out.fill(0.0)));
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(!lu.factor(1, |_, out| out.fill(bad)));
        }
        // The fifth row is the sum of the first two, but for rounding.
        let mut a: Vec<f64> = (0..25).map(|_| random.range(-1.0, 1.0)).collect();
        for j in 0..5 {
            a[20 + j] = a[j] + a[5 + j];
        }
        assert!(!lu.factor(5, |i, out| out.copy_from_slice(&a[i * 5..][..5])));
    }

    #[test]
    fn a_riding_column_is_solved_for_too() {
        let mut random = SplitMix64(23);
        let mut lu = Lu::default();
        for n in [0, 1, 2, 3, 4, 5, 9, 33] {
            let mut a: Vec<f64> = (0..n * n).map(|_| random.range(-1.0, 1.0)).collect();
            // Zeros on the diagonal: columns must be exchanged.
            (0..n / 2 * 2).for_each(|i| a[i * n + i] = 0.0);
            let b: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
            let mut x = vec![0.0; n];
            assert!(lu.solve_riding(&mut x, |i, out| {
                out[..n].copy_from_slice(&a[i * n..][..n]);
                out[n] = b[i];
            }));
            assert!(residual(n, &a, &x, &b) < 1e-12, "n = {n}: {}", residual(n, &a, &x, &b));
            // The factors serve another right-hand side as well.
            let c: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
            x.copy_from_slice(&c);
            lu.solve(&mut x);
            assert!(residual(n, &a, &x, &c) < 1e-12, "n = {n}: {}", residual(n, &a, &x, &c));
        }
    }

    #[test]
    fn cholesky_solves_and_refuses_indefinite_ones() {
        let mut random = SplitMix64(22);
        let mut cholesky = Cholesky::default();
        for n in [1, 2, 5, 17, 40] {
            let g: Vec<f64> = (0..n * n).map(|_| random.range(-1.0, 1.0)).collect();
            let mut a: Vec<f64> =
                (0..n * n).map(|k| dot(&g[k / n * n..][..n], &g[k % n * n..][..n])).collect();
            for i in 0..n {
                a[i * n + i] += 0.1;
            }
            let b: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
            let fill = |a: &[f64], i: usize, out: &mut [f64]| {
                out[..n - i].copy_from_slice(&a[i * n..][i..n]);
                out[n - i] = b[i];
            };
            let mut x = vec![0.0; n];
            assert!(cholesky.solve_riding(&mut x, |i, out| fill(&a, i, out)));
            assert!(residual(n, &a, &x, &b) < 1e-11);
            a[n * n - 1] = -1.0;
            assert!(!cholesky.solve_riding(&mut x, |i, out| fill(&a, i, out)));
        }
    }
}
