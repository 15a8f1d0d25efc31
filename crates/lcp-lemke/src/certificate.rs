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
    /// Largest relative violation: −`z_i`/|z|∞, −`w_i`/`s_i`, or min(`z_i`/|z|∞, `w_i`/`s_i`). An upper bound where
    /// it is rounding only: for a row in which |`w_i`| is below 1e-13 of |`q_i`| + |z|∞ |`m_ii`| ≤ `s_i`, that smaller
    /// number stands for `s_i`, which saves a pass over the row.
    pub relative: f64,
}

impl Certificate {
    /// Measures `z`. Everything is infinite if `z` has the wrong length or is not finite.
    #[must_use]
    pub fn measure(problem: &LcpProblem<'_>, z: &[f64]) -> Self {
        if z.len() != problem.len() {
            return NOTHING;
        }
        let n = z.len();
        let mut measure = Measure::new(z);
        let mut w = [0.0; 32];
        for first in (0..n).step_by(w.len()) {
            let w = &mut w[..(n - first).min(32)];
            rows_times(w, &problem.m()[first * n..], n, z);
            for (w, q) in w.iter_mut().zip(&problem.q()[first..]) {
                *w += q;
            }
            measure.add(problem, z, first, w);
        }
        measure.end()
    }

    /// As [`Certificate::measure`] for n numbers z whose w = M z + q have been computed already.
    pub(crate) fn of_slacks(problem: &LcpProblem<'_>, z: &[f64], w: &[f64]) -> Self {
        let mut measure = Measure::new(z);
        measure.add(problem, z, 0, w);
        measure.end()
    }

    /// Whether both the residual and the relative violation are at most `tolerance`.
    #[inline]
    #[must_use]
    pub fn holds(&self, tolerance: f64) -> bool {
        self.residual <= tolerance && self.relative <= tolerance
    }
}

const NOTHING: Certificate = Certificate {
    min_z: f64::NEG_INFINITY,
    min_w: f64::NEG_INFINITY,
    complementarity: f64::INFINITY,
    residual: f64::INFINITY,
    relative: f64::INFINITY,
};

/// Relative violations below this may be reported larger than they are, see [`Certificate::relative`].
const ROUNDING: f64 = 1e-13;

#[inline]
fn smaller(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// Four certificates in the making, each of every fourth row, so that four rows go at once.
struct Lanes {
    /// Not finite if any number is not.
    sum: [f64; 4],
    q_scale: [f64; 4],
    min_z: [f64; 4],
    min_w: [f64; 4],
    complementarity: [f64; 4],
    residual: [f64; 4],
}

impl Default for Lanes {
    fn default() -> Self {
        let (zero, infinite) = ([0.0; 4], [f64::INFINITY; 4]);
        Self {
            sum: zero,
            q_scale: zero,
            min_z: infinite,
            min_w: infinite,
            complementarity: zero,
            residual: zero,
        }
    }
}

impl Lanes {
    #[inline]
    fn add(&mut self, l: usize, z: f64, w: f64, q: f64) {
        self.sum[l] += 0.0 * z + 0.0 * w;
        self.q_scale[l] = larger(self.q_scale[l], q.abs());
        self.min_z[l] = smaller(self.min_z[l], z);
        self.min_w[l] = smaller(self.min_w[l], w);
        self.complementarity[l] = larger(self.complementarity[l], (z * w).abs());
        self.residual[l] = larger(self.residual[l], smaller(z, w).abs());
    }
}

/// A certificate in the making, some rows at a time.
struct Measure {
    certificate: Certificate,
    finite: bool,
    z_scale: f64,
    q_scale: f64,
}

impl Measure {
    fn new(z: &[f64]) -> Self {
        let zero = if z.is_empty() { 0.0 } else { f64::INFINITY };
        let certificate =
            Certificate { min_z: zero, min_w: zero, complementarity: 0.0, residual: 0.0, relative: 0.0 };
        // Far from the smallest number, so that the inverse is finite.
        let z_scale = larger(max_abs(z), 1e-300);
        Self { certificate, finite: true, z_scale, q_scale: 1.0 }
    }

    /// Adds the rows from `first` on, with their w.
    fn add(&mut self, problem: &LcpProblem<'_>, z: &[f64], first: usize, w: &[f64]) {
        let (z, q) = (&z[first..][..w.len()], &problem.q()[first..][..w.len()]);
        let mut lanes = Lanes::default();
        let quads = z.chunks_exact(4).zip(w.chunks_exact(4)).zip(q.chunks_exact(4));
        for ((z, w), q) in quads {
            for l in 0..4 {
                lanes.add(l, z[l], w[l], q[l]);
            }
        }
        for i in w.len() - w.len() % 4..w.len() {
            lanes.add(0, z[i], w[i], q[i]);
        }
        let mut c = self.certificate;
        let most = |v: [f64; 4]| larger(larger(v[0], v[1]), larger(v[2], v[3]));
        let least = |v: [f64; 4]| smaller(smaller(v[0], v[1]), smaller(v[2], v[3]));
        self.finite &= lanes.sum.iter().sum::<f64>().is_finite();
        self.q_scale = larger(self.q_scale, most(lanes.q_scale));
        c.min_z = smaller(c.min_z, least(lanes.min_z));
        c.min_w = smaller(c.min_w, least(lanes.min_w));
        c.complementarity = larger(c.complementarity, most(lanes.complementarity));
        c.residual = larger(c.residual, most(lanes.residual));
        let inv_z_scale = 1.0 / self.z_scale;
        for (k, ((z, w), q)) in z.iter().zip(w).zip(q).enumerate() {
            // Most rows have z = 0 and w ≥ 0, and are fine.
            if *z != 0.0 || *w < 0.0 {
                let row = problem.row(first + k);
                let least = larger(row[first + k].abs() * self.z_scale + q.abs(), f64::MIN_POSITIVE);
                let mut ratio = w / least;
                if ratio.abs() > ROUNDING {
                    ratio = w / larger(sum_abs(row) * self.z_scale + q.abs(), f64::MIN_POSITIVE);
                }
                c.relative = larger(c.relative, smaller(z * inv_z_scale, ratio).abs());
            }
        }
        self.certificate = c;
    }

    fn end(self) -> Certificate {
        let mut certificate = self.certificate;
        certificate.residual /= self.q_scale;
        if self.finite { certificate } else { NOTHING }
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
    fn relative_violations_above_rounding_are_exact() {
        // A small diagonal beside a large entry: the bound from the diagonal alone is 1e6 times the violation.
        let m = [1e-6, 1.0, 1.0, 1e-6];
        for violation in [1e-3, 1e-7, 1e-10] {
            let q = [violation - 1.0 - 1e-6, -1.0 - 1e-6];
            let problem = LcpProblem::new(&m, &q).unwrap();
            let expected = violation / (q[0].abs() + 1.0 + 1e-6);
            let relative = Certificate::measure(&problem, &[1.0, 1.0]).relative;
            assert!((relative / expected - 1.0).abs() < 1e-5, "{relative:e} for {expected:e}");
        }
    }

    #[test]
    fn overflow_in_w_is_no_answer() {
        let problem = LcpProblem::new(&[1e300, 0.0, 0.0, 1.0], &[-1.0, -1.0]).unwrap();
        let z = [1e10, 1.0];
        assert_eq!(Certificate::measure(&problem, &z).residual, f64::INFINITY);
        assert_eq!(Certificate::of_slacks(&problem, &z, &[f64::INFINITY, 0.0]).residual, f64::INFINITY);
    }

    #[test]
    fn residual_equals_that_of_the_problem() {
        let mut random = sim_math::testkit::SplitMix64(5);
        for _ in 0..500 {
            // Past 32 the rows come in several parts.
            let n = if random.below(10) == 0 { random.below(80) } else { random.below(9) };
            let m: Vec<f64> = (0..n * n).map(|_| random.range(-1.0, 1.0)).collect();
            let q: Vec<f64> = (0..n).map(|_| random.range(-3.0, 3.0)).collect();
            let z: Vec<f64> = (0..n).map(|_| random.range(-0.1, 1.0)).collect();
            let problem = LcpProblem::new(&m, &q).unwrap();
            let difference = Certificate::measure(&problem, &z).residual - problem.residual(&z);
            assert!(difference.abs() < 1e-14);
        }
    }
}
