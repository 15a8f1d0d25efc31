//! LU and Cholesky factorisation of a block that is gathered from a larger matrix, without allocation.
//!
//! The factorisations of `sim-math` take whole matrices; here the active block is written row by row into the
//! factor, which saves a copy and a check at each round of the solvers.
//!
//! # Reference
//! Golub, Van Loan, *Matrix Computations* (2013), 3.4 and 4.2, blocked right-looking forms.
//! # Symbols
//! P A = L U with unit lower L, both in one row-major array.
//! # Formula
//! ```text
//! for each panel of 32 columns: eliminate inside the panel, U₁₂ = L₁₁⁻¹ A₁₂, A₂₂ −= L₂₁ U₁₂
//! ```
//! # Cost
//! 2n³/3 (LU) or n³/3 (Cholesky) operations, in panels that stay in the cache.
//! # Numerics
//! Row pivoting; Cholesky stops at a pivot below n·ε of its diagonal entry.
//! # Failure
//! `factor` is false for a singular matrix, or one that is not positive definite.
//! # Tested by
//! `lu_solves_random_systems`, `cholesky_solves_and_refuses_indefinite_ones`.

use crate::kernels::{axpy, combine_rows, dot, grow};

const PANEL: usize = 32;

/// LU factors of one matrix.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lu {
    n: usize,
    a: Vec<f64>,
    swaps: Vec<u32>,
    factors: Vec<f64>,
}

impl Lu {
    /// Makes room for an n x n matrix.
    pub(crate) fn reserve(&mut self, n: usize) {
        grow(&mut self.a, n * n);
        grow(&mut self.swaps, n);
        grow(&mut self.factors, PANEL);
    }

    /// Factorises the matrix whose row i is written by `row(i, out)`; false if it is singular.
    pub(crate) fn factor(&mut self, n: usize, mut row: impl FnMut(usize, &mut [f64])) -> bool {
        self.n = n;
        self.reserve(n);
        let mut scale = 0.0_f64;
        for i in 0..n {
            row(i, &mut self.a[i * n..][..n]);
            scale = self.a[i * n..][..n].iter().fold(scale, |s, v| s.max(v.abs()));
        }
        let floor = scale * n as f64 * f64::EPSILON;
        let mut start = 0;
        while start < n {
            let end = (start + PANEL).min(n);
            if !self.factor_panel(start, end, floor) {
                return false;
            }
            self.update_right(start, end);
            start = end;
        }
        true
    }

    /// Eliminates columns start..end in all rows below; row swaps act on whole rows.
    fn factor_panel(&mut self, start: usize, end: usize, floor: f64) -> bool {
        let n = self.n;
        for k in start..end {
            let mut at = k;
            let mut size = self.a[k * n + k].abs();
            for r in k + 1..n {
                let candidate = self.a[r * n + k].abs();
                if candidate > size {
                    (at, size) = (r, candidate);
                }
            }
            if size <= floor || size.is_nan() {
                return false;
            }
            self.swaps[k] = at as u32;
            let (upper, lower) = self.a.split_at_mut((k + 1) * n);
            let pivot_row = &mut upper[k * n..];
            if at != k {
                pivot_row.swap_with_slice(&mut lower[(at - k - 1) * n..][..n]);
            }
            let inv = 1.0 / pivot_row[k];
            let right = &pivot_row[k + 1..end];
            for row in lower.chunks_exact_mut(n).take(n - k - 1) {
                let f = row[k] * inv;
                row[k] = f;
                axpy(&mut row[k + 1..end], -f, right);
            }
        }
        true
    }

    /// U₁₂ = L₁₁⁻¹ A₁₂ and A₂₂ −= L₂₁ U₁₂, row by row, so that the panel's rows of U stay in the cache.
    fn update_right(&mut self, start: usize, end: usize) {
        let n = self.n;
        if end == n {
            return;
        }
        for r in start + 1..n {
            let width = r.min(end) - start;
            let (upper, lower) = self.a.split_at_mut(r * n);
            for (f, l) in self.factors.iter_mut().zip(&lower[start..start + width]) {
                *f = -l;
            }
            combine_rows(&mut lower[end..n], &upper[start * n + end..], n, &self.factors[..width]);
        }
    }

    /// x ← A⁻¹ x.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let n = self.n;
        for k in 0..n {
            x.swap(k, self.swaps[k] as usize);
        }
        for i in 1..n {
            x[i] -= dot(&self.a[i * n..][..i], &x[..i]);
        }
        for i in (0..n).rev() {
            let row = &self.a[i * n..][..n];
            x[i] = (x[i] - dot(&row[i + 1..], &x[i + 1..n])) / row[i];
        }
    }
}

/// Cholesky factor of one symmetric positive definite matrix: A = Uᵀ U, the upper triangle by rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cholesky {
    n: usize,
    u: Vec<f64>,
    factors: Vec<f64>,
    inv_diagonal: Vec<f64>,
}

impl Cholesky {
    /// Makes room for an n x n matrix.
    pub(crate) fn reserve(&mut self, n: usize) {
        grow(&mut self.u, n * n);
        grow(&mut self.factors, n);
        grow(&mut self.inv_diagonal, n);
    }

    /// Factorises the matrix whose row i, from the diagonal on, is written by `row(i, out)` with n − i numbers.
    pub(crate) fn factor(&mut self, n: usize, mut row: impl FnMut(usize, &mut [f64])) -> bool {
        self.n = n;
        self.reserve(n);
        let floor = n as f64 * f64::EPSILON;
        for i in 0..n {
            // Row i minus a combination of the rows above it: no sum across a vector, all reads in a row.
            let (above, rest) = self.u.split_at_mut(i * n);
            let current = &mut rest[i..n];
            row(i, current);
            let diagonal = current[0];
            for (f, c) in self.factors.iter_mut().zip(above.chunks_exact(n)) {
                *f = -c[i];
            }
            if i > 0 {
                combine_rows(current, &above[i..], n, &self.factors[..i]);
            }
            let d = current[0];
            if d.is_nan() || d <= diagonal.abs() * floor {
                return false;
            }
            let inv = 1.0 / d.sqrt();
            self.inv_diagonal[i] = inv;
            for v in current {
                *v *= inv;
            }
        }
        true
    }

    /// x ← A⁻¹ x.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            x[i] *= self.inv_diagonal[i];
            let f = x[i];
            axpy(&mut x[i + 1..n], -f, &self.u[i * n + i + 1..][..n - i - 1]);
        }
        for i in (0..n).rev() {
            let row = &self.u[i * n + i + 1..][..n - i - 1];
            x[i] = (x[i] - dot(row, &x[i + 1..n])) * self.inv_diagonal[i];
        }
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
        assert!(!lu.factor(1, |_, out| out.fill(f64::NAN)));
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
            assert!(cholesky.factor(n, |i, out| out.copy_from_slice(&a[i * n..][i..n])));
            let mut x = b.clone();
            cholesky.solve(&mut x);
            assert!(residual(n, &a, &x, &b) < 1e-11);
            a[n * n - 1] = -1.0;
            assert!(!cholesky.factor(n, |i, out| out.copy_from_slice(&a[i * n..][i..n])));
        }
    }
}
