//! The embedded Runge-Kutta pair of Dormand and Prince, order 5(4), with dense output of order 4.
//!
//! # Reference
//! Dormand, Prince, *A family of embedded Runge-Kutta formulae* (J. Comp. Appl. Math. 6, 1980); Hairer,
//! Nørsett, Wanner, *Solving Ordinary Differential Equations I* (1993), table II.5.2, II.6 (dense output),
//! and IV.2 of volume II (step control with memory).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `k[i]` | slopes of the seven stages; the seventh is the first of the next step |
//! | `A`, `C` | stage weights and nodes |
//! | `E` | difference of the weights of order 5 and 4 |
//! | `D` | weights of the fourth correction of the interpolant |
//! | θ | fraction of the step, 0 to 1 |
//!
//! # Formula
//! ```text
//! kᵢ = f(t + Cᵢ h, y + h Σⱼ Aᵢⱼ kⱼ)     y' = stage 7     error = h Σ Eᵢ kᵢ
//! h' = 0.9 h error^(−0.17) previous_error^(0.04)
//! y(t + θh) = r₁ + θ(r₂ + (1−θ)(r₃ + θ(r₄ + (1−θ) r₅)))
//! r₁ = y, r₂ = y' − y, r₃ = h k₁ − r₂, r₄ = r₂ − h k₇ − r₃, r₅ = h Σ Dᵢ kᵢ
//! ```
//!
//! # Cost
//! Six evaluations per sub-step, accepted or not, and one at the start; nine rows of scratch.
//!
//! # Numerics
//! Step control with memory damps the alternation of too long and too short steps. For tolerances down to
//! about 1e-13; below, round-off decides.
//!
//! # Failure
//! [`IntegrateError`]; on any error the state is that of the start of the advance, bit for bit.
//!
//! # Tested by
//! `dormand_prince_has_order_five`, `dense_output_has_order_four_and_meets_both_ends`,
//! `dense_output_finds_the_pendulum_period`,
//! `dormand_prince_error_follows_the_tolerance`, `adaptive_limits_are_reported_with_time_and_value`.

use super::adaptive::{AdaptiveParams, Trial, drive};
use super::integrator::aborted;
use super::{IntegrateError, IntegrateReport, Integrator, OdeScratch, OdeSystem};
use crate::{MathError, ops};

const C: [f64; 7] = [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0];
const A: [[f64; 6]; 7] = [
    [0.0; 6],
    [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339_200.0, 22.0 / 525.0, -1.0 / 40.0];
const D: [f64; 7] = [
    -12_715_105_075.0 / 11_282_082_432.0,
    0.0,
    87_487_479_700.0 / 32_700_410_799.0,
    -10_690_763_975.0 / 1_880_347_072.0,
    701_980_252_875.0 / 199_316_789_632.0,
    -1_453_857_185.0 / 822_651_844.0,
    69_997_945.0 / 29_380_423.0,
];

/// Weight of the previous error in step control.
const MEMORY: f64 = 0.04;

/// Adaptive Dormand-Prince 5(4).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DormandPrince {
    /// Tolerances and limits.
    pub params: AdaptiveParams,
}

/// One accepted sub-step, to be evaluated anywhere inside.
#[derive(Debug)]
pub struct DenseStep<'a> {
    /// Time at the start, s.
    pub t: f64,
    /// Length, s; negative when time runs backwards.
    pub h: f64,
    /// State at the start.
    pub start: &'a [f64],
    /// State at the end.
    pub end: &'a [f64],
    k: &'a [&'a mut [f64]; 7],
}

impl DenseStep<'_> {
    /// Writes the state at `time`. The interpolant has order 4: its local error is O(h⁵).
    ///
    /// # Errors
    /// [`MathError::OutOfDomain`] for a time outside the sub-step, [`MathError::WrongLength`] for `out`.
    pub fn evaluate(&self, time: f64, out: &mut [f64]) -> Result<(), MathError> {
        let theta = (time - self.t) / self.h;
        // Callers compute `time` from sums; allow their last bits.
        if !(-1e-9..=1.0 + 1e-9).contains(&theta) {
            return Err(MathError::OutOfDomain { what: "time", value: time, domain: "the sub-step" });
        }
        if out.len() != self.start.len() {
            return Err(MathError::WrongLength { what: "out", expected: self.start.len(), got: out.len() });
        }
        let rest = 1.0 - theta;
        for (i, out) in out.iter_mut().enumerate() {
            let r2 = self.end[i] - self.start[i];
            let r3 = self.h * self.k[0][i] - r2;
            let r4 = r2 - self.h * self.k[6][i] - r3;
            let mut r5 = 0.0;
            for (d, k) in D.iter().zip(self.k) {
                r5 += d * k[i];
            }
            r5 *= self.h;
            *out = self.start[i] + theta * (r2 + rest * (r3 + theta * (r4 + rest * r5)));
        }
        Ok(())
    }
}

impl DormandPrince {
    /// Integrator with the given tolerances and limits.
    #[must_use]
    pub fn new(params: AdaptiveParams) -> Self {
        Self { params }
    }

    /// Like [`Integrator::advance`], with a step `hint` as in [`super::StepDoubling::advance_from`] and a
    /// visitor that sees every accepted sub-step before [`OdeSystem::accepted`] does.
    ///
    /// # Errors
    /// [`IntegrateError`]; `y` and `hint` are then as on entry.
    pub fn advance_dense(
        &self,
        system: &mut dyn OdeSystem,
        t: f64,
        dt: f64,
        y: &mut [f64],
        hint: &mut Option<f64>,
        scratch: &mut OdeScratch,
        visit: &mut dyn FnMut(&DenseStep<'_>),
    ) -> Result<IntegrateReport, IntegrateError> {
        let [saved, next, k1, k2, k3, k4, k5, k6, k7] = scratch.rows::<9>(y.len());
        let k = [k1, k2, k3, k4, k5, k6, k7];
        let mut trial = Embedded { params: &self.params, k, next, previous: 1e-4, visit };
        drive(&self.params, system, t, dt, y, saved, hint, &mut trial)
    }
}

struct Embedded<'a, 'v> {
    params: &'a AdaptiveParams,
    k: [&'a mut [f64]; 7],
    next: &'a mut [f64],
    previous: f64,
    visit: &'v mut dyn FnMut(&DenseStep<'_>),
}

impl Trial for Embedded<'_, '_> {
    fn first_slope(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<(), IntegrateError> {
        system.derivative(t, y, self.k[0]).map_err(aborted(t))
    }

    fn slope(&self) -> &[f64] {
        self.k[0]
    }

    fn attempt(
        &mut self,
        system: &mut dyn OdeSystem,
        t: f64,
        h: f64,
        y: &[f64],
    ) -> Result<(f64, u32), IntegrateError> {
        for stage in 1..7 {
            let (known, unknown) = self.k.split_at_mut(stage);
            for (i, next) in self.next.iter_mut().enumerate() {
                let mut sum = 0.0;
                for (a, k) in A[stage].iter().zip(known.iter()) {
                    sum += a * k[i];
                }
                *next = y[i] + h * sum;
            }
            system.project(self.next);
            let time = t + C[stage] * h;
            system.derivative(time, self.next, unknown[0]).map_err(aborted(time))?;
        }
        // The seventh stage is the result of order 5.
        let mut worst = 0.0_f64;
        for i in 0..y.len() {
            let mut error = 0.0;
            for (e, k) in E.iter().zip(&self.k) {
                error += e * k[i];
            }
            let ratio = self.params.ratio(h * error, y[i], self.next[i]);
            if ratio.is_nan() || !self.next[i].is_finite() {
                return Ok((f64::NAN, 6));
            }
            worst = worst.max(ratio);
        }
        Ok((worst, 6))
    }

    fn result(&self) -> &[f64] {
        self.next
    }

    fn keep(&mut self, t: f64, h: f64, y: &[f64]) -> bool {
        (self.visit)(&DenseStep { t, h, start: y, end: self.next, k: &self.k });
        self.k.swap(0, 6);
        true
    }

    fn factor(&mut self, error: f64, accepted: bool) -> f64 {
        if !accepted {
            return ops::powf(error, -0.2);
        }
        let previous = std::mem::replace(&mut self.previous, error.max(1e-4));
        // The floor keeps a vanishing error from asking for more than any growth limit allows.
        ops::powf(error.max(1e-12), -(0.2 - 0.75 * MEMORY)) * ops::powf(previous, MEMORY)
    }
}

impl Integrator for DormandPrince {
    fn name(&self) -> &'static str {
        "Dormand-Prince 5(4)"
    }

    fn order(&self) -> u32 {
        5
    }

    fn scratch_rows(&self) -> usize {
        9
    }

    fn advance(
        &self,
        system: &mut dyn OdeSystem,
        t: f64,
        dt: f64,
        y: &mut [f64],
        scratch: &mut OdeScratch,
    ) -> Result<IntegrateReport, IntegrateError> {
        self.advance_dense(system, t, dt, y, &mut self.params.first_step.clone(), scratch, &mut |_| {})
    }
}
