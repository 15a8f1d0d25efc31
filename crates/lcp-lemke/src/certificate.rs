//! What is known about an answer: measured after the solve, from the problem alone.

use crate::kernels::{larger, max_abs, rows_times, sum_abs};
use sim_traits::LcpProblem;

/// How far z and w = M z + q are from z ≥ 0, w ≥ 0, zᵀw = 0.
///
/// The relative numbers compare each `w_i` with the size of the terms it is made of,
/// `s_i` = |`q_i`| + |z|∞ Σ |`m_ij`|, and each `z_i` with |z|∞: they do not change when a row of the problem is
/// multiplied by a factor, so a problem with tiny numbers cannot pass by being tiny.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// Smallest `z_i`.
    pub min_z: f64,
    /// Smallest `w_i`.
    pub min_w: f64,
    /// Largest |`z_i` `w_i`|.
    pub complementarity: f64,
    /// max |min(`z_i`, `w_i`)| / max(1, |q|∞), as [`LcpProblem::residual`].
    pub residual: f64,
    /// Largest relative violation: −`z_i`/|z|∞, −`w_i`/`s_i`, or min(`z_i`/|z|∞, `w_i`/`s_i`).
    pub relative: f64,
}

impl Certificate {
    /// Measures `z`. Everything is infinite if `z` has the wrong length or is not finite.
    #[must_use]
    pub fn measure(problem: &LcpProblem<'_>, z: &[f64]) -> Self {
        const NOTHING: Certificate = Certificate {
            min_z: f64::NEG_INFINITY,
            min_w: f64::NEG_INFINITY,
            complementarity: f64::INFINITY,
            residual: f64::INFINITY,
            relative: f64::INFINITY,
        };
        if z.len() != problem.len() || z.iter().any(|v| !v.is_finite()) {
            return NOTHING;
        }
        if z.is_empty() {
            return Self { min_z: 0.0, min_w: 0.0, complementarity: 0.0, residual: 0.0, relative: 0.0 };
        }
        // Far from the smallest number, so that the inverse is finite.
        let z_scale = larger(max_abs(z), 1e-300);
        let inv_z_scale = 1.0 / z_scale;
        let mut c = Self {
            min_z: f64::INFINITY,
            min_w: f64::INFINITY,
            complementarity: 0.0,
            residual: 0.0,
            relative: 0.0,
        };
        let mut q_scale = 1.0_f64;
        let n = z.len();
        for first in (0..n).step_by(4) {
            let mut products = [0.0; 4];
            let rows = (n - first).min(4);
            rows_times(&mut products[..rows], &problem.m()[first * n..], n, z);
            for (k, product) in products[..rows].iter().enumerate() {
                let i = first + k;
                let (z_i, q_i, w_i) = (z[i], problem.q()[i], product + problem.q()[i]);
                if !w_i.is_finite() {
                    return NOTHING;
                }
                q_scale = larger(q_scale, q_i.abs());
                c.min_z = c.min_z.min(z_i);
                c.min_w = c.min_w.min(w_i);
                c.complementarity = larger(c.complementarity, (z_i * w_i).abs());
                c.residual = larger(c.residual, z_i.min(w_i).abs());
                // Most rows have z = 0 and w ≥ 0 and need no scale.
                if z_i != 0.0 || w_i < 0.0 {
                    let w_scale = larger(sum_abs(problem.row(i)) * z_scale + q_i.abs(), f64::MIN_POSITIVE);
                    c.relative = larger(c.relative, (z_i * inv_z_scale).min(w_i / w_scale).abs());
                }
            }
        }
        c.residual /= q_scale;
        c
    }

    /// Whether both the residual and the relative violation are at most `tolerance`.
    #[inline]
    #[must_use]
    pub fn holds(&self, tolerance: f64) -> bool {
        self.residual <= tolerance && self.relative <= tolerance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const M: [f64; 4] = [2.0, 1.0, 1.0, 2.0];
    const Q: [f64; 2] = [-5.0, -6.0];

    // proves: CLI-29
    #[test]
    fn every_kind_of_violation_is_measured() {
        let problem = LcpProblem::new(&M, &Q).unwrap();
        let good = Certificate::measure(&problem, &[4.0 / 3.0, 7.0 / 3.0]);
        assert!(good.holds(1e-15) && good.min_z > 1.3 && good.min_w.abs() < 1e-15);
        let negative = Certificate::measure(&problem, &[-1.0, 3.5]);
        assert_eq!((negative.min_z, negative.min_w), (-1.0, -3.5));
        let slack = Certificate::measure(&problem, &[5.0, 5.0]);
        assert_eq!((slack.min_z, slack.min_w, slack.complementarity), (5.0, 9.0, 50.0));
        assert_eq!(slack.residual, 5.0 / 6.0);
        let below = Certificate::measure(&problem, &[1.0, 1.0]);
        assert_eq!((below.min_w, below.residual), (-3.0, 0.5));
        for bad in [&[f64::NAN, 0.0][..], &[1.0], &[f64::INFINITY, 1.0]] {
            assert_eq!(Certificate::measure(&problem, bad).residual, f64::INFINITY);
        }
    }

    #[test]
    fn tiny_problems_cannot_pass_by_being_tiny() {
        let q = [-1e-14, -1e-14];
        let problem = LcpProblem::new(&M, &q).unwrap();
        let zero = Certificate::measure(&problem, &[0.0, 0.0]);
        assert!(zero.residual < 1e-13 && zero.relative == 1.0 && !zero.holds(1e-10));
        let third = 1e-14 / 3.0;
        assert!(Certificate::measure(&problem, &[third, third]).holds(1e-10));
    }

    #[test]
    fn residual_equals_that_of_the_problem() {
        let mut random = sim_math::testkit::SplitMix64(5);
        for _ in 0..500 {
            let n = random.below(9);
            let m: Vec<f64> = (0..n * n).map(|_| random.range(-1.0, 1.0)).collect();
            let q: Vec<f64> = (0..n).map(|_| random.range(-3.0, 3.0)).collect();
            let z: Vec<f64> = (0..n).map(|_| random.range(-0.1, 1.0)).collect();
            let problem = LcpProblem::new(&m, &q).unwrap();
            let difference = Certificate::measure(&problem, &z).residual - problem.residual(&z);
            assert!(difference.abs() < 1e-15);
        }
    }
}
