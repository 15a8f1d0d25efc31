//! Linear systems of a few dozen unknowns at most, gathered, eliminated and solved in one go.
//!
//! Rows have a fixed length, so no loop has a tail and few have checks: for blocks of this size that, and not the
//! arithmetic, is what the general factorisations spend their time on.
//!
//! # Reference
//! Golub, Van Loan, *Matrix Computations* (2013), 3.4 and 4.2, row by row as in the module on dense factorisations.
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | tile | four columns |
//! | quad | four rows of U |
//! | `ride` | the column after the last, which holds b and becomes L⁻¹ b |
//! | `inv` | inverse pivots; 0 for rows that are not there yet |
//! # Formula
//! ```text
//! row i of U = row i of A minus Σ_{k<i} l_ik · row k of U,     l_ik = a_ik / u_kk as the elimination leaves it
//! x_i = −(Σ_{j>i} u_ij x_j + u_i,ride x_ride) / u_ii           with x_ride = −1
//! ```
//! Rows of a quad that are not there yet are 0 and add nothing.
//! # Cost
//! n³/3 multiply-adds, n³/6 if the matrix is symmetric. No allocation.
//! # Numerics
//! As the dense factorisations: column pivoting with a threshold of 1/4, none for positive definite matrices, and a
//! pivot below n·ε of what the row or its diagonal entry was before counts as 0.
//! # Failure
//! False for a singular matrix, or one that is not positive definite.
//! # Tested by
//! `small_systems_are_solved_as_by_the_dense_factorisations`, `singular_small_systems_are_refused`.

/// Largest system: one column of the last tile is for b.
pub(crate) const SMALL: usize = 4 * TILES - 1;

const TILES: usize = 8;

type Row = [[f64; 4]; TILES];

/// Memory of the solver.
#[derive(Debug, Clone)]
pub(crate) struct Small {
    u: [[Row; 4]; TILES],
    inv: [[f64; 4]; TILES],
    /// Unknown of each column, and its name.
    unknown: [u32; 4 * TILES],
    column: [u32; 4 * TILES],
}

impl Default for Small {
    fn default() -> Self {
        let row = [[0.0; 4]; TILES];
        Self { u: [[row; 4]; TILES], inv: row, unknown: [0; 4 * TILES], column: [0; 4 * TILES] }
    }
}

impl Small {
    /// Solves A x = b for symmetric positive definite A, with at most [`SMALL`] unknowns. `row(i, out)` writes row i
    /// of A from the diagonal on and then `b_i`. False if A is not positive definite.
    pub(crate) fn solve_definite(&mut self, x: &mut [f64], row: impl Fn(usize, &mut [f64])) -> bool {
        #[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
        {
            #[allow(unsafe_code, reason = "a function for some processors only; its body is safe code")]
            #[target_feature(enable = "avx2")]
            unsafe fn with_avx2(s: &mut Small, x: &mut [f64], row: impl Fn(usize, &mut [f64])) -> bool {
                s.definite(x, row)
            }
            if x.len() >= crate::wide::ROW / 4 && crate::wide::available() {
                #[allow(unsafe_code, reason = "calls what this processor has been found to have")]
                // SAFETY: the processor has AVX2.
                return unsafe { with_avx2(self, x, row) };
            }
        }
        self.definite(x, row)
    }

    #[inline(always)]
    fn definite(&mut self, x: &mut [f64], row: impl Fn(usize, &mut [f64])) -> bool {
        let n = x.len();
        let tiny = n as f64 * f64::EPSILON;
        for i in 0..n {
            let (g, r) = (i / 4, i % 4);
            self.clear_quad(i);
            let mut current: Row = [[0.0; 4]; TILES];
            row(i, &mut current.as_flattened_mut()[i..=n]);
            let diagonal = current[g][r];
            for q in 0..i.div_ceil(4) {
                let (u, inv) = (&self.u[q], &self.inv[q]);
                let s: [f64; 4] = std::array::from_fn(|k| -u[k][g][r] * inv[k]);
                combine(&mut current, u, s, g, n);
            }
            let d = current[g][r];
            if d.is_nan() || d <= diagonal.abs() * tiny {
                return false;
            }
            self.u[g][r] = current;
            self.inv[g][r] = 1.0 / d;
        }
        self.back_substitute(x, |i| i);
        true
    }

    /// Solves A x = b with at most [`SMALL`] unknowns, whose names are in `columns`. `row(i, columns, out)` writes
    /// the entries of row i in the columns of these names, in any order asked for, and then `b_i`. False if A is
    /// singular.
    pub(crate) fn solve(
        &mut self,
        x: &mut [f64],
        columns: &[u32],
        row: impl Fn(usize, &[u32], &mut [f64]),
    ) -> bool {
        #[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
        {
            #[allow(unsafe_code, reason = "a function for some processors only; its body is safe code")]
            #[target_feature(enable = "avx2")]
            unsafe fn with_avx2(
                s: &mut Small,
                x: &mut [f64],
                columns: &[u32],
                row: impl Fn(usize, &[u32], &mut [f64]),
            ) -> bool {
                s.general(x, columns, row)
            }
            if x.len() >= crate::wide::ROW / 4 && crate::wide::available() {
                #[allow(unsafe_code, reason = "calls what this processor has been found to have")]
                // SAFETY: the processor has AVX2.
                return unsafe { with_avx2(self, x, columns, row) };
            }
        }
        self.general(x, columns, row)
    }

    #[inline(always)]
    fn general(&mut self, x: &mut [f64], columns: &[u32], row: impl Fn(usize, &[u32], &mut [f64])) -> bool {
        let n = x.len();
        let tiny = n as f64 * f64::EPSILON;
        self.column[..n].copy_from_slice(columns);
        for (j, unknown) in self.unknown[..n].iter_mut().enumerate() {
            *unknown = j as u32;
        }
        for i in 0..n {
            let (g, r) = (i / 4, i % 4);
            self.clear_quad(i);
            let mut current: Row = [[0.0; 4]; TILES];
            row(i, &self.column[..n], &mut current.as_flattened_mut()[..=n]);
            let floor = largest(&current.as_flattened()[..n]) * tiny;
            for q in 0..i.div_ceil(4) {
                let (u, inv) = (&self.u[q], &self.inv[q]);
                let mut s = [0.0; 4];
                for k in 0..4 {
                    s[k] = -current[q][k] * inv[k];
                    for l in k + 1..4 {
                        current[q][l] += s[k] * u[k][q][l];
                    }
                }
                combine(&mut current, u, s, q + 1, n);
            }
            let size = largest(&current.as_flattened()[i..n]);
            if size.is_nan() || size <= floor || size == f64::INFINITY {
                return false;
            }
            self.u[g][r] = current;
            if current[g][r].abs() < 0.25 * size {
                let found = current.as_flattened()[i..n].iter().position(|v| v.abs() >= size);
                let at = i + found.unwrap_or(0);
                self.unknown.swap(i, at);
                self.column.swap(i, at);
                for row in &mut self.u.as_flattened_mut()[..=i] {
                    row.as_flattened_mut().swap(i, at);
                }
            }
            self.inv[g][r] = 1.0 / self.u[g][r][g][r];
        }
        let unknown = self.unknown;
        self.back_substitute(x, |i| unknown[i] as usize);
        true
    }

    /// Forgets what an earlier system left in the quad that starts at row `i`.
    fn clear_quad(&mut self, i: usize) {
        if i % 4 == 0 {
            self.u[i / 4] = [[[0.0; 4]; TILES]; 4];
            self.inv[i / 4] = [0.0; 4];
        }
    }

    /// x[place(i)] = unknown of column i.
    #[inline(always)]
    fn back_substitute(&self, x: &mut [f64], place: impl Fn(usize) -> usize) {
        let n = x.len();
        let mut y: Row = [[0.0; 4]; TILES];
        y[n / 4][n % 4] = -1.0;
        for i in (0..n).rev() {
            let (g, r) = (i / 4, i % 4);
            let mut lanes = [0.0; 4];
            for (u, y) in self.u[g][r][g..=n / 4].iter().zip(&y[g..=n / 4]) {
                for l in 0..4 {
                    lanes[l] += u[l] * y[l];
                }
            }
            let sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
            let value = -sum * self.inv[g][r];
            y[g][r] = value;
            x[place(i)] = value;
        }
    }
}

/// `current` += Σ `s_k` · row k of the quad, from tile `first` to the one of the riding column.
#[inline(always)]
fn combine(current: &mut Row, u: &[Row; 4], s: [f64; 4], first: usize, n: usize) {
    // Flat: told of the tiles, the compiler takes one column from each of two.
    let columns = 4 * first..(n / 4 + 1) * 4;
    if columns.is_empty() {
        return;
    }
    let row = |k: usize| &u[k].as_flattened()[columns.clone()];
    let (a, b, c, d) = (row(0), row(1), row(2), row(3));
    let y = &mut current.as_flattened_mut()[columns.clone()];
    let rows = a.chunks_exact(4).zip(b.chunks_exact(4)).zip(c.chunks_exact(4)).zip(d.chunks_exact(4));
    for (y, (((a, b), c), d)) in y.chunks_exact_mut(4).zip(rows) {
        for l in 0..4 {
            y[l] += (s[0] * a[l] + s[1] * b[l]) + (s[2] * c[l] + s[3] * d[l]);
        }
    }
}

/// Largest |x|; NaN is passed over, and shows in the pivot.
fn largest(x: &[f64]) -> f64 {
    crate::kernels::max_abs(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::{Cholesky, Lu};
    use sim_math::testkit::SplitMix64;

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn small_systems_are_solved_as_by_the_dense_factorisations() {
        let mut random = SplitMix64(24);
        let (mut small, mut lu, mut cholesky) = (Small::default(), Lu::default(), Cholesky::default());
        // Down again after up, so that what a larger system left behind would show.
        for n in (0..=SMALL).chain((0..SMALL).rev()) {
            let b: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
            let mut a: Vec<f64> = (0..n * n).map(|_| random.range(-1.0, 1.0)).collect();
            (0..n / 2 * 2).for_each(|i| a[i * n + i] = 0.0);
            let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
            let names: Vec<u32> = (0..n as u32).map(|j| 2 * j + 1).collect();
            assert!(small.solve(&mut x, &names, |i, columns, out| {
                for (o, j) in out.iter_mut().zip(columns) {
                    *o = a[i * n + *j as usize / 2];
                }
                out[n] = b[i];
            }));
            assert!(lu.solve_riding(&mut y, |i, out| {
                out[..n].copy_from_slice(&a[i * n..][..n]);
                out[n] = b[i];
            }));
            assert!(distance(&x, &y) < 1e-10, "n = {n}: {}", distance(&x, &y));
            let mut spd = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    spd[i * n + j] = (0..n).map(|k| a[i * n + k] * a[j * n + k]).sum();
                }
                spd[i * n + i] += 0.1;
            }
            let fill = |i: usize, out: &mut [f64]| {
                out[..n - i].copy_from_slice(&spd[i * n..][i..n]);
                out[n - i] = b[i];
            };
            assert!(small.solve_definite(&mut x, fill) && cholesky.solve_riding(&mut y, fill));
            assert!(distance(&x, &y) < 1e-11, "n = {n}: {}", distance(&x, &y));
        }
    }

    #[test]
    fn singular_small_systems_are_refused() {
        let mut small = Small::default();
        let mut x = [0.0; 5];
        let mut random = SplitMix64(25);
        let mut a: Vec<f64> = (0..25).map(|_| random.range(-1.0, 1.0)).collect();
        // The last row is the sum of the first two, but for rounding.
        for j in 0..5 {
            a[20 + j] = a[j] + a[5 + j];
        }
        assert!(!small.solve(&mut x, &[0, 1, 2, 3, 4], |i, columns, out| {
            for (o, j) in out.iter_mut().zip(columns) {
                *o = a[i * 5 + *j as usize];
            }
        }));
        for bad in [0.0, f64::NAN, f64::INFINITY] {
            assert!(!small.solve(&mut x[..1], &[0], |_, _, out| out.fill(bad)));
        }
        for bad in [0.0, -1.0, f64::NAN] {
            assert!(!small.solve_definite(&mut x[..1], |_, out| out.fill(bad)));
        }
        // Positive semidefinite of rank 1.
        assert!(!small.solve_definite(&mut x[..2], |_, out| out.fill(1.0)));
    }
}
