//! Linear systems of at most seven unknowns: what a warm start of a few contacts comes down to.
//!
//! The whole matrix is gathered before the first row is touched, so that no vector waits for the numbers just
//! written to it, and whole rows are eliminated, whose length the compiler knows.
//!
//! # Reference
//! Golub, Van Loan, *Matrix Computations* (2013), 3.4, the outer product form.
//! # Symbols
//! Row i holds row i of A, then `b_i`, then zeros; u = what is left of A above its diagonal, y = what is left of b.
//! # Formula
//! ```text
//! for each k:  exchange row k with the one of rows k.. whose |a_ik| is largest
//!              row i −= (a_ik / a_kk) · row k   for i > k
//! from the last k down:  x_k = y_k / u_kk,  y_i −= u_ik x_k   for i < k
//! ```
//! # Cost
//! n³/3 multiply-adds in name; in fact two vectors for each pair of rows.
//! # Numerics
//! Row pivoting for general matrices, none for positive definite ones. A pivot below n·ε of the largest entry that its
//! column (of the definite: its diagonal) had at the start counts as 0.
//! # Failure
//! False for a singular matrix, or one that is not positive definite.
//! # Tested by
//! `tiny_systems_are_solved_as_by_the_dense_factorisation`, `singular_tiny_systems_are_refused`.

use crate::kernels::larger;

/// Largest system: one number of a row is for b.
pub(crate) const TINY: usize = WIDTH - 1;

const WIDTH: usize = 8;

type Row = [f64; WIDTH];

/// Solves A x = b with at most [`TINY`] unknowns, where `row(i, out)` writes row i of A and then `b_i`
/// into the front of eight zeros. False if A is
/// singular, or with `DEFINITE` if A, which is then taken to be symmetric, is not positive definite.
pub(crate) fn solve_tiny<const DEFINITE: bool>(x: &mut [f64], row: impl Fn(usize, &mut [f64])) -> bool {
    #[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
    {
        #[allow(unsafe_code, reason = "a function for some processors only; its body is safe code")]
        #[target_feature(enable = "avx2")]
        unsafe fn with_avx2<const DEFINITE: bool>(x: &mut [f64], row: impl Fn(usize, &mut [f64])) -> bool {
            solve::<DEFINITE>(x, row)
        }
        if crate::wide::available() {
            #[allow(unsafe_code, reason = "calls what this processor has been found to have")]
            // SAFETY: the processor has AVX2.
            return unsafe { with_avx2::<DEFINITE>(x, row) };
        }
    }
    solve::<DEFINITE>(x, row)
}

#[inline(always)]
fn solve<const DEFINITE: bool>(x: &mut [f64], row: impl Fn(usize, &mut [f64])) -> bool {
    let n = x.len();
    if n > TINY {
        return false;
    }
    let mut a = [[0.0; WIDTH]; TINY];
    let mut inv = [0.0; TINY];
    let mut floor = [0.0; WIDTH];
    for i in 0..n {
        row(i, &mut a[i]);
    }
    for i in 0..n {
        for l in 0..WIDTH {
            floor[l] = larger(floor[l], a[i][l].abs());
        }
    }
    let tiny = n as f64 * f64::EPSILON;
    for k in 0..n {
        let mut size = a[k][k];
        if !DEFINITE {
            let mut at = k;
            size = size.abs();
            for i in k + 1..n {
                let v = a[i][k].abs();
                (size, at) = if v > size { (v, i) } else { (size, at) };
            }
            if at != k {
                a.swap(k, at);
            }
        }
        if size.is_nan() || size <= tiny * floor[k] || size == f64::INFINITY {
            return false;
        }
        let pivot = a[k];
        inv[k] = 1.0 / pivot[k];
        for i in k + 1..n {
            let s = a[i][k] * inv[k];
            for l in 0..WIDTH {
                a[i][l] -= s * pivot[l];
            }
        }
    }
    let mut y: Row = [0.0; WIDTH];
    for i in 0..n {
        y[i] = a[i][n];
    }
    for k in (0..n).rev() {
        let value = y[k] * inv[k];
        x[k] = value;
        for i in 0..k {
            y[i] -= a[i][k] * value;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::Lu;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn tiny_systems_are_solved_as_by_the_dense_factorisation() {
        let mut random = SplitMix64(26);
        let mut lu = Lu::default();
        let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        for case in 0..400 {
            let n = case % (TINY + 1);
            let b: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
            let mut a: Vec<f64> = (0..n * n).map(|_| random.range(-1.0, 1.0)).collect();
            let spd: Vec<f64> = (0..n * n)
                .map(|e| (0..n).map(|k| a[e / n * n + k] * a[e % n * n + k]).sum::<f64>())
                .enumerate()
                .map(|(e, v)| if e / n == e % n { v + 0.1 } else { v })
                .collect();
            // Zeros on the diagonal: rows must be exchanged.
            (0..n / 2 * 2).for_each(|i| a[i * n + i] = 0.0);
            let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
            for (matrix, definite) in [(&a, false), (&spd, false), (&spd, true)] {
                let row = |i: usize, out: &mut [f64]| {
                    out[..n].copy_from_slice(&matrix[i * n..][..n]);
                    out[n] = b[i];
                };
                assert!(if definite {
                    solve_tiny::<true>(&mut x, row)
                } else {
                    solve_tiny::<false>(&mut x, row)
                });
                assert!(lu.solve_riding(&mut y, row));
                let scale = 1.0 + y.iter().fold(0.0, |m: f64, y| m.max(y.abs()));
                assert!(distance(&x, &y) < 1e-11 * scale, "n = {n}: {}", distance(&x, &y));
            }
        }
    }

    #[test]
    fn singular_tiny_systems_are_refused() {
        let mut random = SplitMix64(27);
        let mut x = [0.0; TINY + 1];
        for n in 2..=TINY {
            let mut a: Vec<f64> = (0..n * n).map(|_| random.range(-1.0, 1.0)).collect();
            // Two rows are multiples of each other, as those of opposing directions of friction.
            for j in 0..n {
                a[(n - 1) * n + j] = -a[j];
            }
            let row = |i: usize, out: &mut [f64]| out[..n].copy_from_slice(&a[i * n..][..n]);
            assert!(!solve_tiny::<false>(&mut x[..n], row), "n = {n}");
        }
        for bad in [0.0, f64::NAN, f64::INFINITY] {
            assert!(!solve_tiny::<false>(&mut x[..1], |_, out| out[0] = bad));
            assert!(!solve_tiny::<false>(&mut x[..3], |_, out| out[..3].fill(bad)));
            assert!(!solve_tiny::<true>(&mut x[..1], |_, out| out[0] = bad));
        }
        assert!(!solve_tiny::<true>(&mut x[..1], |_, out| out[0] = -1.0));
        // Positive semidefinite of rank 1, indefinite, and too large.
        assert!(!solve_tiny::<true>(&mut x[..2], |_, out| out[..2].fill(1.0)));
        assert!(
            !solve_tiny::<true>(&mut x[..2], |i, out| out[..2].copy_from_slice(&[[1.0, 2.0], [2.0, 1.0]][i]))
        );
        assert!(!solve_tiny::<false>(&mut x, |i, out| out[i] = 1.0));
    }
}
