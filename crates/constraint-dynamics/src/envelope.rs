//! Factors of a symmetric matrix with a short envelope.
//!
//! # Reference
//!
//! Jennings (1966).
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | `first` | first column of each row that is not zero |
//!
//! # Formula
//!
//! ```text
//! L_ij = (A_ij − Σ_k L_ik L_jk) / L_jj,   L_ii = √(A_ii − Σ_k L_ik²),   k from the later of both first columns
//! indefinite:  C_ij = A_ij − Σ_k C_ik L_jk,   L_ij = C_ij / D_j,   D_i = A_ii − Σ_k C_ik L_ik
//! ```
//!
//! # Cost
//!
//! n b² for a mean row length b; no allocation once grown.
//!
//! # Numerics
//!
//! No pivoting: for positive definite matrices, and, as L D Lᵀ, for quasi-definite ones, whose pivots have one sign for each kind of variable in any order.
//!
//! # Failure
//!
//! A pivot that is not positive, or, indefinite, that is zero or not a number: `false`.
//!
//! # Tested by
//!
//! `factors_solve_random_envelopes`, `indefinite_factors_solve_quasi_definite_systems`

use sim_math::dense::dot;

/// Lower triangle row by row, each from its first entry to the diagonal; factors after [`Envelope::factor`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Envelope {
    first: Vec<u32>,
    starts: Vec<usize>,
    data: Vec<f64>,
    factored: bool,
    /// A row of C.
    scaled: Vec<f64>,
}

impl Envelope {
    /// All zero, with these first columns.
    pub(crate) fn reset(&mut self, first: impl Iterator<Item = u32>) {
        self.first.clear();
        self.starts.clear();
        let mut end = 0;
        for (i, f) in first.enumerate() {
            self.first.push(f);
            self.starts.push(end);
            end += i + 1 - f as usize;
        }
        self.starts.push(end);
        self.data.clear();
        self.data.resize(end, 0.0);
        self.factored = false;
    }

    /// True if the factors are there.
    pub(crate) fn is_factored(&self) -> bool {
        self.factored
    }

    /// Adds to entry (i, j), j ≤ i, inside the envelope.
    #[inline]
    pub(crate) fn add(&mut self, i: usize, j: usize, x: f64) {
        self.data[self.starts[i] + j - self.first[i] as usize] += x;
    }

    /// Replaces the matrix by its factor; false if it is not positive definite.
    pub(crate) fn factor(&mut self) -> bool {
        for i in 0..self.first.len() {
            let fi = self.first[i] as usize;
            let (done, rest) = self.data.split_at_mut(self.starts[i]);
            let row = &mut rest[..=i - fi];
            for j in fi..i {
                let fj = self.first[j] as usize;
                let from = fi.max(fj);
                let other = &done[self.starts[j]..self.starts[j + 1]];
                let sum = dot(&row[from - fi..j - fi], &other[from - fj..j - fj]);
                row[j - fi] = (row[j - fi] - sum) / other[j - fj];
            }
            let (head, last) = row.split_at_mut(i - fi);
            let pivot = last[0] - dot(head, head);
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            last[0] = pivot.sqrt();
        }
        self.factored = true;
        true
    }

    /// Replaces the matrix by L and D; false if there is a pivot that is zero or not a number.
    pub(crate) fn factor_indefinite(&mut self) -> bool {
        let scaled = &mut self.scaled;
        for i in 0..self.first.len() {
            let fi = self.first[i] as usize;
            let (done, rest) = self.data.split_at_mut(self.starts[i]);
            let row = &mut rest[..=i - fi];
            scaled.clear();
            scaled.extend_from_slice(row);
            for j in fi..i {
                let fj = self.first[j] as usize;
                let from = fi.max(fj);
                let other = &done[self.starts[j]..self.starts[j + 1]];
                scaled[j - fi] -= dot(&scaled[from - fi..j - fi], &other[from - fj..j - fj]);
                row[j - fi] = scaled[j - fi] / other[j - fj];
            }
            let pivot = scaled[i - fi] - dot(&scaled[..i - fi], &row[..i - fi]);
            if !pivot.is_finite() || pivot == 0.0 {
                return false;
            }
            row[i - fi] = pivot;
        }
        self.factored = true;
        true
    }

    /// Solves with L and D, in place.
    pub(crate) fn solve_indefinite(&self, x: &mut [f64]) {
        let n = self.first.len();
        for i in 0..n {
            let (f, row) = (self.first[i] as usize, &self.data[self.starts[i]..self.starts[i + 1]]);
            x[i] -= dot(&row[..i - f], &x[f..i]);
        }
        for (x, end) in x.iter_mut().zip(&self.starts[1..]) {
            *x /= self.data[end - 1];
        }
        for i in (0..n).rev() {
            let (f, row) = (self.first[i] as usize, &self.data[self.starts[i]..self.starts[i + 1]]);
            let xi = x[i];
            x[f..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * xi);
        }
    }

    /// Solves with the factor, in place.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let n = self.first.len();
        for i in 0..n {
            let (f, row) = (self.first[i] as usize, &self.data[self.starts[i]..self.starts[i + 1]]);
            x[i] = (x[i] - dot(&row[..i - f], &x[f..i])) / row[i - f];
        }
        for i in (0..n).rev() {
            let (f, row) = (self.first[i] as usize, &self.data[self.starts[i]..self.starts[i + 1]]);
            x[i] /= row[i - f];
            let xi = x[i];
            x[f..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * xi);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn factors_solve_random_envelopes() {
        let mut random = SplitMix64(3);
        for _ in 0..50 {
            let n = 1 + random.below(30);
            let first: Vec<u32> = (0..n).map(|i| random.below(i + 1) as u32).collect();
            let mut a = vec![0.0; n * n];
            let mut envelope = Envelope::default();
            envelope.reset(first.iter().copied());
            for i in 0..n {
                for j in first[i] as usize..=i {
                    let x = if i == j { n as f64 } else { random.range(-1.0, 1.0) };
                    envelope.add(i, j, x);
                    (a[i * n + j], a[j * n + i]) = (x, x);
                }
            }
            let x: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
            let mut b: Vec<f64> = (0..n).map(|i| dot(&a[i * n..(i + 1) * n], &x)).collect();
            assert!(envelope.factor());
            envelope.solve(&mut b);
            assert!(x.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-12));
        }
        let mut indefinite = Envelope::default();
        assert!(!indefinite.is_factored());
        indefinite.reset([0, 0].into_iter());
        indefinite.add(0, 0, 1.0);
        indefinite.add(1, 0, 2.0);
        indefinite.add(1, 1, 1.0);
        assert!(!indefinite.factor());
    }

    #[test]
    fn indefinite_factors_solve_quasi_definite_systems() {
        let mut random = SplitMix64(5);
        for _ in 0..50 {
            let n = 1 + random.below(30);
            let first: Vec<u32> = (0..n).map(|i| random.below(i + 1) as u32).collect();
            let signs: Vec<f64> = (0..n).map(|_| if random.unit() < 0.4 { -1.0 } else { 1.0 }).collect();
            let mut a = vec![0.0; n * n];
            let mut envelope = Envelope::default();
            envelope.reset(first.iter().copied());
            for i in 0..n {
                for j in first[i] as usize..=i {
                    // Variables of one kind hang together weakly, of two kinds as they like.
                    let weak = if signs[i] == signs[j] { 1.0 } else { 30.0 };
                    let x = if i == j { signs[i] * n as f64 } else { random.range(-weak, weak) };
                    envelope.add(i, j, x);
                    (a[i * n + j], a[j * n + i]) = (x, x);
                }
            }
            let x: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
            let mut b: Vec<f64> = (0..n).map(|i| dot(&a[i * n..(i + 1) * n], &x)).collect();
            assert!(envelope.factor_indefinite() && envelope.is_factored());
            envelope.solve_indefinite(&mut b);
            assert!(x.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-10), "{x:?} {b:?}");
        }
    }
}
