//! Equilibration: row and column factors that bring a matrix to entries near 1.
//!
//! For positive diagonal R and C the problem (R M C, R q) has the solution C⁻¹z: scaling changes no answer,
//! but makes tolerances mean the same for every row. All factors are powers of two, so scaling is exact.
//!
//! # Reference
//! Ruiz, *A scaling algorithm to equilibrate both rows and columns norms in matrices* (2001).
//! # Symbols
//! `row` = diagonal of R, `column` = diagonal of C, `rhs` = factor of q (and of z).
//! # Formula
//! ```text
//! repeat: r_i ← r_i / √max_j |r_i m_ij c_j|,  c_j ← c_j / √max_i |r_i m_ij c_j|     then round to powers of two
//! ```
//! # Cost
//! One pass over M if it is well scaled already (the usual case), else up to thirty.
//! # Numerics
//! Exact. A symmetric matrix keeps its symmetry, as R = C then.
//! # Failure
//! None. Zero rows and columns keep the factor 1.
//! # Tested by
//! `scaling_brings_bad_matrices_near_one`, `well_scaled_matrices_are_left_alone`.

use crate::kernels::{grow, larger, max_abs};
use sim_traits::LcpProblem;

/// Rows and columns whose largest entry is within this factor of 1 count as well scaled.
const WELL_SCALED: f64 = 64.0;

/// Factors of a problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scaling {
    row: Vec<f64>,
    column: Vec<f64>,
    row_max: Vec<f64>,
    column_max: Vec<f64>,
    /// False if all row and column factors are 1.
    pub(crate) active: bool,
    /// Factor of the right-hand side: the largest |`rhs · row_i · q_i`| is in [1, 2).
    pub(crate) rhs: f64,
}

impl Scaling {
    /// Row factors.
    pub(crate) fn row(&self) -> &[f64] {
        &self.row
    }

    /// Column factors.
    pub(crate) fn column(&self) -> &[f64] {
        &self.column
    }

    /// Makes room for n rows and columns.
    pub(crate) fn reserve(&mut self, n: usize) {
        for v in [&mut self.row, &mut self.column, &mut self.row_max, &mut self.column_max] {
            grow(v, n);
        }
    }

    /// Finds the factors; with `equilibrate` false only the right-hand side is scaled.
    pub(crate) fn compute(&mut self, problem: &LcpProblem<'_>, equilibrate: bool) {
        let n = problem.len();
        self.reserve(n);
        self.row[..n].fill(1.0);
        self.column[..n].fill(1.0);
        self.active = false;
        if equilibrate {
            self.ruiz(problem);
        }
        let largest = problem.q().iter().zip(&self.row).fold(0.0_f64, |m, (q, r)| m.max((q * r).abs()));
        self.rhs = 1.0 / power_of_two(largest);
    }

    fn ruiz(&mut self, problem: &LcpProblem<'_>) {
        let n = problem.len();
        let (row_max, column_max) = (&mut self.row_max[..n], &mut self.column_max[..n]);
        if is_fine(problem) {
            return;
        }
        for i in 0..n {
            row_max[i] = max_abs(problem.row(i));
        }
        column_max.fill(0.0);
        for i in 0..n {
            for (m, v) in column_max.iter_mut().zip(problem.row(i)) {
                *m = larger(*m, v.abs());
            }
        }
        self.active = true;
        for _ in 0..30 {
            for i in 0..n {
                if row_max[i] > 0.0 {
                    self.row[i] /= row_max[i].sqrt();
                }
                if column_max[i] > 0.0 {
                    self.column[i] /= column_max[i].sqrt();
                }
            }
            column_max.fill(0.0);
            for i in 0..n {
                let r = self.row[i];
                let mut largest = 0.0_f64;
                for ((v, c), m) in problem.row(i).iter().zip(&self.column).zip(column_max.iter_mut()) {
                    let size = (r * v * c).abs();
                    largest = larger(largest, size);
                    *m = larger(*m, size);
                }
                row_max[i] = largest;
            }
            let near = |m: &f64| *m == 0.0 || (*m <= 2.0 && *m >= 0.5);
            if row_max.iter().all(near) && column_max.iter().all(near) {
                break;
            }
        }
        for f in self.row[..n].iter_mut().chain(&mut self.column[..n]) {
            *f = power_of_two(*f);
        }
    }
}

/// Whether the largest entry of each row and column is within the bounds, or all are 0. With no entry above the upper
/// bound, one that is large enough settles a row and a column: mostly that on the diagonal.
fn is_fine(problem: &LcpProblem<'_>) -> bool {
    let (n, m) = (problem.len(), problem.m());
    let large = |v: &f64| v.abs() >= 1.0 / WELL_SCALED;
    let zero = |v: &f64| *v == 0.0;
    max_abs(m) <= WELL_SCALED
        && (0..n).all(|k| {
            let (row, column) = (|| problem.row(k).iter(), || m[k..].iter().step_by(n));
            large(&m[k * n + k])
                || (row().any(large) || row().all(zero)) && (column().any(large) || column().all(zero))
        })
}

/// The power of two at or below x; 1 for zero, subnormal and huge x, which no sane problem has.
#[inline]
pub(crate) fn power_of_two(x: f64) -> f64 {
    let power = f64::from_bits(x.to_bits() & 0x7FF0_0000_0000_0000);
    if (1e-150..=1e150).contains(&power) { power } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn scaling_brings_bad_matrices_near_one() {
        let mut random = SplitMix64(3);
        for _ in 0..200 {
            let n = 1 + random.below(12);
            let factors: Vec<f64> =
                (0..2 * n).map(|_| sim_math::ops::exp(random.range(-18.0, 18.0))).collect();
            let m: Vec<f64> =
                (0..n * n).map(|k| factors[k / n] * factors[n + k % n] * random.range(0.1, 1.0)).collect();
            let q = vec![1.0; n];
            let problem = LcpProblem::new(&m, &q).unwrap();
            let mut scaling = Scaling::default();
            scaling.compute(&problem, true);
            for i in 0..n {
                let row: Vec<f64> =
                    (0..n).map(|j| scaling.row()[i] * m[i * n + j] * scaling.column()[j]).collect();
                assert!((0.02..=64.0).contains(&max_abs(&row)), "row {i}: {row:?}");
            }
        }
    }

    #[test]
    fn well_scaled_matrices_are_left_alone() {
        let problem = LcpProblem::new(&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0]).unwrap();
        let mut scaling = Scaling::default();
        scaling.compute(&problem, true);
        assert!(!scaling.active);
        assert_eq!(scaling.rhs, 0.25);
        assert_eq!(power_of_two(-12.0), 8.0);
        assert_eq!(power_of_two(0.0), 1.0);
    }
}
