//! Spectral synthesis: the set-point of a joint as a periodic function of time, given by a few Fourier coefficients.
//!
//! # Reference
//!
//! Arnold (1997), section 3.2.2 and figure 3.3. The gait offset is half a period N Δ/2 (the printed text has Nδ/2).
//!
//! # Symbols
//!
//! | code | paper | meaning |
//! |---|---|---|
//! | `coefficients` | `H_n` | n = 0 … N/2 − 1; `H_0` is real, H_{N−n} its conjugate, H_{N/2} = 0 |
//! | `samples` | `h_k` | values at t = k Δ |
//! | `resolution` | Δ | time between samples, s |
//! | `decay` | n₀ | harmonics over which the variance falls to 1/e |
//!
//! # Formula
//!
//! ```text
//! h_k = (1/N) [ H_0 + 2 Σ_{n=1}^{N/2−1} ( Re H_n cos(2π k n/N) + Im H_n sin(2π k n/N) ) ]
//! h(t): straight lines between h_k, period N Δ
//! random: Re, Im ~ N(0, σ_n²),  σ_n² = σ_0² e^{−n/n₀},   σ_0 = N rms / √(1 + 4 Σ_{n≥1} e^{−n/n₀})
//! mutation: H_n += N(0, (strength · 0.05 σ_n)²);   shift by τ: H_n ← H_n e^{2πi n τ/(N Δ)}, τ ~ N(0, (strength · 0.03 N Δ)²)
//! ```
//!
//! # Cost
//!
//! N²/2 operations once per creature; one interpolation per call.
//!
//! # Numerics
//!
//! Angles are reduced as whole numbers, k n mod N, before sines are taken.
//!
//! # Failure
//!
//! Coefficients that are not finite, or of another number than the design's, are refused by the check of the creature.
//!
//! # Tested by
//!
//! `samples_are_the_inverse_transform`, `one_coefficient_is_a_sinusoid`, `courses_are_continuous_and_periodic`, `variances_fall_as_designed`,
//! `a_shift_keeps_the_size_of_every_coefficient`

use crate::{genome::Rate, random::Random};
use serde::{Deserialize, Serialize};
use sim_math::ops;
use std::f64::consts::TAU;

/// What the spectra of a run have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct SpectrumDesign {
    /// Samples in a period, N: even, at least 4. Default 16, so seven harmonics.
    pub samples: usize,
    /// Harmonics over which the variance falls to 1/e. Default 2.
    pub decay: f64,
    /// Root of the mean square of a random course, rad. Default 0.5.
    pub rms: f64,
}

impl Default for SpectrumDesign {
    fn default() -> Self {
        Self { samples: 16, decay: 2.0, rms: 0.5 }
    }
}

impl SpectrumDesign {
    /// Number of coefficients.
    #[must_use]
    pub fn len(&self) -> usize {
        self.samples / 2
    }

    /// True for a design without coefficients, which no creature has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Standard deviation of both parts of coefficient n.
    #[must_use]
    pub fn deviation(&self, n: usize) -> f64 {
        let sum: f64 = (1..self.len()).map(|n| ops::exp(-(n as f64) / self.decay)).sum();
        let first = self.samples as f64 * self.rms / (1.0 + 4.0 * sum).sqrt();
        first * ops::exp(-0.5 * n as f64 / self.decay)
    }
}

/// Share of its standard deviation by which a mutation of strength 1 changes a coefficient, and share of the period by which it shifts the course.
const COEFFICIENT: f64 = 0.05;
const SHIFT: f64 = 0.03;

/// A periodic function of time as coefficients: real and imaginary part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spectrum(pub Vec<[f64; 2]>);

impl Spectrum {
    /// A random one, low harmonics the largest.
    #[must_use]
    pub fn random(design: &SpectrumDesign, random: &mut Random) -> Self {
        let mut draw = |n: usize| {
            let deviation = design.deviation(n);
            let (re, im) = (deviation * random.normal(), deviation * random.normal());
            if n == 0 { [re, 0.0] } else { [re, im] }
        };
        Self((0..design.len()).map(&mut draw).collect())
    }

    /// Values at the samples of a period.
    #[must_use]
    pub fn values(&self, samples: usize) -> Vec<f64> {
        (0..samples)
            .map(|k| {
                let sum: f64 = (1..self.0.len())
                    .map(|n| {
                        let angle = TAU * (k * n % samples) as f64 / samples as f64;
                        let (sin, cos) = ops::sin_cos(angle);
                        2.0 * (self.0[n][0] * cos + self.0[n][1] * sin)
                    })
                    .sum();
                (self.0.first().map_or(0.0, |h| h[0]) + sum) / samples as f64
            })
            .collect()
    }

    /// The same course later by a share of the period.
    #[must_use]
    pub fn shifted(&self, share: f64) -> Self {
        let turned = |(n, [re, im]): (usize, &[f64; 2])| {
            let (sin, cos) = ops::sin_cos(TAU * n as f64 * share);
            [re * cos - im * sin, re * sin + im * cos]
        };
        Self(self.0.iter().enumerate().map(turned).collect())
    }

    /// Noise on every coefficient, then a shift in time.
    pub fn mutate(&mut self, design: &SpectrumDesign, rate: Rate, random: &mut Random) {
        for (n, [re, im]) in self.0.iter_mut().enumerate() {
            let deviation = COEFFICIENT * design.deviation(n);
            *re += deviation * rate.draw(random).unwrap_or(0.0);
            let change = rate.draw(random).unwrap_or(0.0);
            if n > 0 {
                *im += deviation * change;
            }
        }
        if let Some(change) = rate.draw(random) {
            *self = self.shifted(SHIFT * change);
        }
    }

    /// The root of the sum of the squares of all differences.
    #[must_use]
    pub fn distance(&self, other: &Self) -> f64 {
        let pairs = self.0.iter().zip(&other.0);
        pairs.map(|(a, b)| (a[0] - b[0]).powi2() + (a[1] - b[1]).powi2()).sum::<f64>().sqrt()
    }
}

trait Square {
    fn powi2(self) -> f64;
}

impl Square for f64 {
    fn powi2(self) -> f64 {
        self * self
    }
}

/// A course ready to be asked: samples and their spacing.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    values: Vec<f64>,
    resolution: f64,
}

impl Course {
    /// Of a spectrum, with `samples` values in a period and so many seconds between them.
    #[must_use]
    pub fn new(spectrum: &Spectrum, samples: usize, resolution: f64) -> Self {
        Self { values: spectrum.values(samples), resolution }
    }

    /// Length of a period, s.
    #[must_use]
    pub fn period(&self) -> f64 {
        self.values.len() as f64 * self.resolution
    }

    /// The value at a time, s; negative times are as good as others.
    #[must_use]
    pub fn at(&self, time: f64) -> f64 {
        let n = self.values.len();
        if n == 0 {
            return 0.0;
        }
        let place = (time / self.resolution).rem_euclid(n as f64);
        let floor = place.floor();
        let k = floor as usize % n;
        let share = place - floor;
        self.values[k] * (1.0 - share) + self.values[(k + 1) % n] * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design() -> SpectrumDesign {
        SpectrumDesign::default()
    }

    // proves: ARN-83
    #[test]
    fn samples_are_the_inverse_transform() {
        let mut random = Random::new(1);
        for _ in 0..50 {
            let spectrum = Spectrum::random(&design(), &mut random);
            let n = 16_usize;
            // The whole spectrum, Hermitian, transformed as a sum of complex numbers.
            let full = |k: usize| match k {
                0..8 => spectrum.0[k],
                8 => [0.0, 0.0],
                _ => [spectrum.0[n - k][0], -spectrum.0[n - k][1]],
            };
            let values = spectrum.values(n);
            let mut power = 0.0;
            for (k, value) in values.iter().enumerate() {
                let (mut re, mut im) = (0.0, 0.0);
                for m in 0..n {
                    let (sin, cos) = ops::sin_cos(-TAU * (k * m) as f64 / n as f64);
                    let h = full(m);
                    re += (h[0] * cos - h[1] * sin) / n as f64;
                    im += (h[0] * sin + h[1] * cos) / n as f64;
                }
                assert!((re - value).abs() < 1e-14 && im.abs() < 1e-14, "{re} {im} {value}");
                power += value * value;
            }
            // Parseval.
            let spectral: f64 = (0..n).map(|m| full(m)[0].powi2() + full(m)[1].powi2()).sum();
            assert!((power - spectral / n as f64).abs() < 1e-13);
        }
    }

    // proves: ARN-102
    #[test]
    fn one_coefficient_is_a_sinusoid() {
        let mut spectrum = Spectrum(vec![[0.0, 0.0]; 8]);
        spectrum.0[2] = [8.0 * 0.6, 8.0 * 0.8];
        for (k, value) in spectrum.values(16).iter().enumerate() {
            let angle = TAU * 2.0 * k as f64 / 16.0;
            assert!((value - (0.6 * ops::cos(angle) + 0.8 * ops::sin(angle))).abs() < 1e-14);
        }
    }

    // proves: ARN-84
    #[test]
    fn courses_are_continuous_and_periodic() {
        let mut random = Random::new(2);
        for _ in 0..50 {
            let course = Course::new(&Spectrum::random(&design(), &mut random), 16, random.range(0.025, 0.2));
            let steepest = (0..16)
                .map(|k| (course.values[k] - course.values[(k + 1) % 16]).abs() / course.resolution)
                .fold(0.0, f64::max);
            for _ in 0..100 {
                let t = random.range(-10.0, 10.0);
                assert!((course.at(t + course.period()) - course.at(t)).abs() < 1e-12 * (1.0 + steepest));
                let dt = 1e-6;
                assert!((course.at(t + dt) - course.at(t)).abs() <= steepest * dt + 1e-12);
            }
            for (k, value) in course.values.iter().enumerate() {
                assert!((course.at(k as f64 * course.resolution) - value).abs() < 1e-12);
            }
        }
    }

    // proves: ARN-85
    #[test]
    fn a_shift_by_half_a_period_is_the_course_of_the_other_side() {
        let mut random = Random::new(3);
        let spectrum = Spectrum::random(&design(), &mut random);
        let course = Course::new(&spectrum, 16, 0.1);
        let other = Course::new(&spectrum.shifted(0.5), 16, 0.1);
        for k in 0..200 {
            let t = 0.013 * f64::from(k);
            assert!((other.at(t + 0.5 * course.period()) - course.at(t)).abs() < 1e-12);
        }
    }

    // proves: ARN-86
    #[test]
    fn variances_fall_as_designed() {
        let mut random = Random::new(4);
        let n = 20_000;
        let mut squares = [0.0; 8];
        let mut power = 0.0;
        for _ in 0..n {
            let spectrum = Spectrum::random(&design(), &mut random);
            for (sum, h) in squares.iter_mut().zip(&spectrum.0) {
                *sum += h[0] * h[0];
            }
            assert_eq!(spectrum.0[0][1], 0.0);
            power += spectrum.values(16).iter().map(|h| h * h).sum::<f64>() / 16.0;
        }
        let n = f64::from(n);
        for (k, sum) in squares.iter().enumerate() {
            let wanted = squares[0] / n * ops::exp(-(k as f64) / 2.0);
            assert!((sum / n / wanted - 1.0).abs() < 8.0 * (2.0 / n).sqrt(), "{k}: {} {wanted}", sum / n);
        }
        assert!(((power / n).sqrt() - 0.5).abs() < 0.01, "{}", (power / n).sqrt());
    }

    // proves: ARN-88
    #[test]
    fn a_shift_keeps_the_size_of_every_coefficient() {
        let mut random = Random::new(5);
        let spectrum = Spectrum::random(&design(), &mut random);
        for _ in 0..100 {
            let moved = spectrum.shifted(random.normal());
            for (a, b) in spectrum.0.iter().zip(&moved.0) {
                assert!((a[0].powi2() + a[1].powi2() - b[0].powi2() - b[1].powi2()).abs() < 1e-12);
            }
        }
        // The change of the course is in proportion to the strength of the mutation.
        let change = |strength: f64| {
            let mut sum = 0.0;
            for seed in 0..400 {
                let mut child = spectrum.clone();
                child.mutate(&design(), Rate { probability: 1.0, strength }, &mut Random::new(seed));
                let pairs = spectrum.values(16).into_iter().zip(child.values(16));
                sum += pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / 16.0 / 400.0;
            }
            sum.sqrt()
        };
        let [small, large] = [0.1, 0.2].map(change);
        assert!((large / small - 2.0).abs() < 0.05, "{small} {large}");
    }
}
