//! Quintic splines through, or near, sampled numbers.
//!
//! # Reference
//! De Boor, *A Practical Guide to Splines* (2001), chapters X, XIII and XIV; the end condition is
//! not-a-knot. Motion capture as a use: Cline (2002), section 5.1.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `times` | `t_i`, increasing | s |
//! | `penalty` | λ | s⁵ |
//! | `knots` | all times but the second, third and their mirror images; ends six-fold | s |
//! | `coefficients` | `c_j` of the B-splines of degree five | as the data |
//!
//! # Formula
//! ```text
//! f(t) = Σ c_j B_j(t)
//! λ = 0:  f(t_i) = y_i
//! λ > 0:  min Σ |f(t_i) - y_i|² + λ ∫ |f'''|² dt        (passes frequencies below (λ h)^(-1/6) rad/s)
//! ```
//! Degree five because the second derivative is wanted: it is then a cubic with two continuous derivatives
//! of its own, and its error falls with h⁴ instead of the h² of a cubic spline.
//!
//! # Cost
//! O(n) for fitting, O(log n) for a sample; sampling does not allocate.
//!
//! # Numerics
//! The second derivative is off by h⁴/720 |f⁽⁶⁾| inside and by up to 0.6 h⁴ |f⁽⁶⁾| in the eight intervals at
//! each end: 1.8e-9 and 7.4e-7 for sin t at 30 Hz (asserted). Noise of size ε in the data becomes several
//! ε/h² in it: use a penalty.
//!
//! The band matrix is solved with partial pivoting by [`crate::dense::BandedLu`]; a penalty so large that it
//! drowns the samples (beyond about 1e14 times their weight) is reported as singular.
//!
//! # Failure
//! Fewer than six samples, times that do not increase, numbers that are not finite, sampling outside the
//! interval.
//!
//! # Tested by
//! `sine_at_30_hz_has_bounded_acceleration_error`, `acceleration_error_is_of_fourth_order`,
//! `quintic_polynomials_are_reproduced`, `heavy_smoothing_is_the_least_squares_parabola`

use crate::MathError;
use crate::dense::{BandMatrix, BandedLu};

/// Fewest samples that determine a polynomial of degree five.
pub const MIN_SAMPLES: usize = 6;
const DEGREE: usize = 5;

/// The penalty with which smoothing passes half the amplitude at angular frequency `omega` (rad/s) of data
/// sampled every `step` seconds; lower frequencies pass, higher ones are damped with their sixth power.
///
/// # Errors
/// A number that is not positive and finite.
pub fn penalty_for_cutoff(omega: f64, step: f64) -> Result<f64, MathError> {
    MathError::check_positive("cutoff frequency", 0, omega)?;
    MathError::check_positive("sampling step", 0, step)?;
    Ok(1.0 / (step * crate::ops::powi(omega, 6)))
}

/// `N` functions of time, each a spline of degree five.
#[derive(Debug, Clone, PartialEq)]
pub struct QuinticSpline<const N: usize> {
    knots: Vec<f64>,
    coefficients: Vec<[f64; N]>,
}

impl<const N: usize> QuinticSpline<N> {
    /// The spline through all samples: times in seconds, increasing; values in any unit.
    ///
    /// # Errors
    /// Fewer than six samples, different lengths, times that do not increase, numbers that are not finite.
    pub fn interpolate(times: &[f64], values: &[[f64; N]]) -> Result<Self, MathError> {
        Self::smooth(times, values, 0.0)
    }

    /// The spline that balances closeness to the samples against its third derivative; `penalty` in s⁵, see
    /// [`penalty_for_cutoff`]. Zero interpolates.
    ///
    /// # Errors
    /// As [`QuinticSpline::interpolate`]; also a penalty that is negative or not finite.
    pub fn smooth(times: &[f64], values: &[[f64; N]], penalty: f64) -> Result<Self, MathError> {
        check_samples(times, values)?;
        MathError::check_not_negative("penalty", 0, penalty)?;
        let n = times.len();
        let mut knots = vec![times[0]; DEGREE + 1];
        knots.extend_from_slice(&times[3..n - 3]);
        knots.extend([times[n - 1]; DEGREE + 1]);
        let mut matrix = BandMatrix::zeros(n, DEGREE, DEGREE);
        let mut coefficients;
        if penalty == 0.0 {
            coefficients = values.to_vec();
            for (i, &t) in times.iter().enumerate() {
                let span = span_of(&knots, t);
                for (k, b) in basis(&knots, span, t, 0).into_iter().enumerate() {
                    // A zero may lie outside the band; nothing else can (Schoenberg-Whitney).
                    if b != 0.0 {
                        matrix.add(i, span - DEGREE + k, b)?;
                    }
                }
            }
        } else {
            coefficients = vec![[0.0; N]; n];
            for (&t, value) in times.iter().zip(values) {
                let span = span_of(&knots, t);
                let b = basis(&knots, span, t, 0);
                for k in 0..=DEGREE {
                    for (c, y) in coefficients[span - DEGREE + k].iter_mut().zip(value) {
                        *c += b[k] * y;
                    }
                }
                add_gram(&mut matrix, span, &b, 1.0)?;
            }
            add_roughness(&mut matrix, &knots, penalty)?;
        }
        let mut lu = BandedLu::default();
        lu.factor(&matrix)?;
        for k in 0..N {
            let mut column: Vec<f64> = coefficients.iter().map(|c| c[k]).collect();
            lu.solve_in_place(&mut column)?;
            coefficients.iter_mut().zip(column).for_each(|(c, x)| c[k] = x);
        }
        for c in &coefficients {
            MathError::check_finite("spline coefficient", c)?;
        }
        Ok(Self { knots, coefficients })
    }

    /// First and last time, s.
    #[inline]
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        (self.knots[0], self.knots[self.knots.len() - 1])
    }

    /// Values, first and second derivatives at `time`.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] or [`MathError::OutsideInterval`] for a time outside the interval.
    pub fn sample(&self, time: f64) -> Result<[[f64; N]; 3], MathError> {
        let (low, high) = self.interval();
        MathError::check_finite("time", &[time])?;
        if time < low || time > high {
            return Err(MathError::OutsideInterval { what: "time", index: 0, value: time, low, high });
        }
        let span = span_of(&self.knots, time);
        let local = &self.coefficients[span - DEGREE..=span];
        Ok(std::array::from_fn(|order| {
            let b = basis(&self.knots, span, time, order);
            let mut sum = [0.0; N];
            for (c, weight) in local.iter().zip(b) {
                for (s, x) in sum.iter_mut().zip(c) {
                    *s += weight * x;
                }
            }
            sum
        }))
    }
}

fn check_samples<const N: usize>(times: &[f64], values: &[[f64; N]]) -> Result<(), MathError> {
    if times.len() < MIN_SAMPLES {
        return Err(MathError::TooFew { what: "samples", needed: MIN_SAMPLES, got: times.len() });
    }
    if values.len() != times.len() {
        let (expected, got) = (times.len(), values.len());
        return Err(MathError::WrongLength { what: "values", expected, got });
    }
    MathError::check_finite("time", times)?;
    for (index, sample) in values.iter().enumerate() {
        if let Some(&value) = sample.iter().find(|x| !x.is_finite()) {
            return Err(MathError::NonFinite { what: "value", index, value });
        }
    }
    for (i, pair) in times.windows(2).enumerate() {
        if pair[1] <= pair[0] {
            let value = pair[1] - pair[0];
            return Err(MathError::NotPositive { what: "time step before sample", index: i + 1, value });
        }
    }
    Ok(())
}

/// Index k with knots[k] ≤ t < knots[k + 1]; the last interval is closed. `t` lies between the ends.
fn span_of(knots: &[f64], t: f64) -> usize {
    let interior = &knots[DEGREE + 1..knots.len() - DEGREE - 1];
    DEGREE + interior.partition_point(|&k| k <= t)
}

/// Derivatives of the given order of the six B-splines that do not vanish between knots `span` and
/// `span + 1`. Raising the degree by one either blends (recurrence) or, for the last `order` steps,
/// differentiates.
fn basis(knots: &[f64], span: usize, t: f64, order: usize) -> [f64; DEGREE + 1] {
    let mut b = [0.0; DEGREE + 1];
    b[0] = 1.0;
    for degree in 1..=DEGREE {
        let mut next = [0.0; DEGREE + 1];
        for j in 0..degree {
            // B-spline of the lower degree over the knots i to i + degree.
            let i = span + 1 + j - degree;
            let share = b[j] / (knots[i + degree] - knots[i]);
            if degree > DEGREE - order {
                next[j] -= degree as f64 * share;
                next[j + 1] += degree as f64 * share;
            } else {
                next[j] += (knots[i + degree] - t) * share;
                next[j + 1] += (t - knots[i]) * share;
            }
        }
        b = next;
    }
    b
}

fn add_gram(
    matrix: &mut BandMatrix,
    span: usize,
    b: &[f64; DEGREE + 1],
    weight: f64,
) -> Result<(), MathError> {
    for j in 0..=DEGREE {
        for k in 0..=DEGREE {
            matrix.add(span - DEGREE + j, span - DEGREE + k, weight * b[j] * b[k])?;
        }
    }
    Ok(())
}

/// Adds `λ ∫ B_j''' B_k''' dt`: products of parabolas, exact with three Gauss points per interval.
fn add_roughness(matrix: &mut BandMatrix, knots: &[f64], penalty: f64) -> Result<(), MathError> {
    let offset = 0.6_f64.sqrt();
    for span in DEGREE..knots.len() - DEGREE - 1 {
        let half = 0.5 * (knots[span + 1] - knots[span]);
        let middle = 0.5 * (knots[span + 1] + knots[span]);
        for (x, weight) in [(-offset, 5.0 / 9.0), (0.0, 8.0 / 9.0), (offset, 5.0 / 9.0)] {
            let b = basis(knots, span, middle + half * x, 3);
            add_gram(matrix, span, &b, penalty * weight * half)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assert_close;
    use crate::ops::{cos, powi, sin};
    use crate::testkit::SplitMix64;

    fn sine(rate: f64, n: usize, phase: f64) -> (Vec<f64>, QuinticSpline<1>) {
        let times: Vec<f64> = (0..n).map(|i| i as f64 / rate).collect();
        let values: Vec<[f64; 1]> = times.iter().map(|&t| [sin(t + phase)]).collect();
        let spline = QuinticSpline::interpolate(&times, &values).unwrap();
        (times, spline)
    }

    /// Greatest error of the second derivative in the middle and in the eight intervals at each end.
    fn acceleration_errors(rate: f64, n: usize, phase: f64) -> (f64, f64) {
        let (times, spline) = sine(rate, n, phase);
        let (mut inside, mut ends) = (0.0_f64, 0.0_f64);
        let last = times[n - 1];
        for k in 0..=20 * (n - 1) {
            let t = (k as f64 / (20.0 * rate)).min(last);
            let error = (spline.sample(t).unwrap()[2][0] + sin(t + phase)).abs();
            if t > 8.0 / rate && t < last - 8.0 / rate {
                inside = inside.max(error);
            } else {
                ends = ends.max(error);
            }
        }
        (inside, ends)
    }

    // proves: CLI-87
    #[test]
    fn sine_at_30_hz_has_bounded_acceleration_error() {
        // Other phases move the largest sixth derivative to the ends, where the fit is worst.
        for phase in [0.0, 0.5, 1.0, 1.5, 2.0] {
            let (inside, ends) = acceleration_errors(30.0, 301, phase);
            let h4 = powi(1.0 / 30.0, 4);
            assert!(inside < h4 / 700.0, "{inside:e}");
            assert!(ends < 0.6 * h4, "{ends:e}");
        }
        // Velocities and values are better still.
        let (_, spline) = sine(30.0, 301, 0.0);
        for k in 0..1000 {
            let t = f64::from(k) * 0.01;
            let [x, v, _] = spline.sample(t).unwrap();
            assert_close!(x[0], sin(t), abs = 1e-9);
            assert_close!(v[0], cos(t), abs = 1e-7);
        }
    }

    #[test]
    fn acceleration_error_is_of_fourth_order() {
        let (coarse, coarse_ends) = acceleration_errors(10.0, 101, 1.0);
        let (fine, fine_ends) = acceleration_errors(20.0, 201, 1.0);
        assert_close!(coarse / fine, 16.0, rel = 0.02);
        assert_close!(coarse_ends / fine_ends, 16.0, rel = 0.25);
    }

    #[test]
    fn quintic_polynomials_are_reproduced() {
        let mut random = SplitMix64(87);
        let p = |t: f64| 1.0 + t * (2.0 + t * (-1.0 + t * (0.5 + t * (0.25 - 0.125 * t))));
        let d2 = |t: f64| -2.0 + t * (3.0 + t * (3.0 - 2.5 * t));
        for n in [6, 7, 8, 9, 20] {
            // Uneven times.
            let mut times = vec![-1.0];
            for i in 1..n {
                times.push(times[i - 1] + 3.0 * random.range(0.5, 1.5) / n as f64);
            }
            let values: Vec<[f64; 1]> = times.iter().map(|&t| [p(t)]).collect();
            let spline = QuinticSpline::interpolate(&times, &values).unwrap();
            for _ in 0..50 {
                let t = random.range(times[0], times[n - 1]);
                let [x, _, a] = spline.sample(t).unwrap();
                assert_close!(x[0], p(t), abs = 1e-12);
                assert_close!(a[0], d2(t), abs = 1e-9);
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_the_spline_also_across_knots() {
        let (_, spline) = sine(5.0, 30, 0.0);
        let h = 1e-5;
        for k in 1..200 {
            let t = f64::from(k) * 0.025;
            let [_, v, a] = spline.sample(t).unwrap();
            let at = |t: f64| spline.sample(t).unwrap();
            assert_close!((at(t + h)[0][0] - at(t - h)[0][0]) / (2.0 * h), v[0], abs = 1e-9);
            assert_close!((at(t + h)[1][0] - at(t - h)[1][0]) / (2.0 * h), a[0], abs = 1e-9);
        }
    }

    #[test]
    fn heavy_smoothing_is_the_least_squares_parabola() {
        let mut random = SplitMix64(11);
        let times: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.1 - 1.95).collect();
        let noise: Vec<f64> = times.iter().map(|_| random.range(-1.0, 1.0)).collect();
        let values: Vec<[f64; 1]> =
            times.iter().zip(&noise).map(|(t, e)| [3.0 + t - 2.0 * t * t + e]).collect();
        let spline = QuinticSpline::smooth(&times, &values, 1e5).unwrap();
        // Normal equations of the parabola, by symmetry of the times: odd moments vanish.
        let moment = |k: i32| times.iter().map(|&t| powi(t, k)).sum::<f64>();
        let data = |k: i32| times.iter().zip(&values).map(|(&t, y)| powi(t, k) * y[0]).sum::<f64>();
        let determinant = moment(0) * moment(4) - moment(2) * moment(2);
        let c = (moment(0) * data(2) - moment(2) * data(0)) / determinant;
        let a = (moment(4) * data(0) - moment(2) * data(2)) / determinant;
        let b = data(1) / moment(2);
        for &t in &times {
            let [x, v, acceleration] = spline.sample(t).unwrap();
            assert_close!(x[0], a + b * t + c * t * t, abs = 1e-3);
            assert_close!(v[0], b + 2.0 * c * t, abs = 1e-3);
            assert_close!(acceleration[0], 2.0 * c, abs = 1e-2);
        }
    }

    #[test]
    fn smoothing_tames_noise_and_passes_the_signal() {
        let (rate, n) = (30.0, 301);
        let mut random = SplitMix64(12);
        let times: Vec<f64> = (0..n).map(|i| i as f64 / rate).collect();
        let values: Vec<[f64; 1]> = times.iter().map(|&t| [sin(t) + random.range(-1e-3, 1e-3)]).collect();
        let worst = |penalty: f64| {
            let spline = QuinticSpline::smooth(&times, &values, penalty).unwrap();
            (30..270)
                .map(|i| (spline.sample(times[i]).unwrap()[2][0] + sin(times[i])).abs())
                .fold(0.0, f64::max)
        };
        let (raw, smoothed) = (worst(0.0), worst(penalty_for_cutoff(6.0, 1.0 / rate).unwrap()));
        assert!(raw > 1.0 && smoothed < 0.05, "{raw} {smoothed}");
        // The cutoff is where half the amplitude passes.
        let omega = 6.0;
        let wave: Vec<[f64; 1]> = times.iter().map(|&t| [sin(omega * t)]).collect();
        let penalty = penalty_for_cutoff(omega, 1.0 / rate).unwrap();
        let spline = QuinticSpline::smooth(&times, &wave, penalty).unwrap();
        let t = 5.25 * std::f64::consts::TAU / omega;
        assert_close!(spline.sample(t).unwrap()[0][0], 0.5, abs = 1e-3);
    }

    #[test]
    fn bad_input_is_refused() {
        let times: Vec<f64> = (0..8).map(f64::from).collect();
        let values = [[0.0]; 8];
        let fails =
            |t: &[f64], y: &[[f64; 1]], p: f64| QuinticSpline::smooth(t, y, p).unwrap_err().to_string();
        assert_eq!(fails(&times[..5], &values[..5], 0.0), "needs at least 6 samples, got 5");
        assert_eq!(fails(&times, &values[..7], 0.0), "values has length 7, expected 8");
        assert_eq!(fails(&times, &values, -1.0), "penalty 0 must not be negative, got -1");
        assert_eq!(fails(&times, &values, f64::NAN), "penalty 0 is not finite: NaN");
        let mut bad = times.clone();
        bad[3] = 2.0;
        assert_eq!(fails(&bad, &values, 0.0), "time step before sample 3 must be positive, got 0");
        bad[3] = f64::INFINITY;
        assert_eq!(fails(&bad, &values, 0.0), "time 3 is not finite: inf");
        let mut wrong = values;
        wrong[6][0] = f64::NAN;
        assert_eq!(fails(&times, &wrong, 0.0), "value 6 is not finite: NaN");
        let spline = QuinticSpline::interpolate(&times, &values).unwrap();
        assert_eq!(spline.sample(7.5).unwrap_err().to_string(), "time 0 is 7.5, outside 0 to 7");
        assert!(spline.sample(f64::NAN).is_err() && spline.sample(-1e-9).is_err());
        assert!(spline.sample(7.0).is_ok() && spline.sample(0.0).is_ok());
        for (omega, step) in [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0)] {
            assert!(penalty_for_cutoff(omega, step).is_err());
        }
    }
}
