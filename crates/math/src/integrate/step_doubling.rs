//! RK4 with step doubling: two half steps against one full step give the error, and one order more.
//!
//! # Reference
//! Mirtich, *Impulse-based Dynamic Simulation* (1996), 7.4; Fontijne, *Rigid body simulation and evolution
//! of virtual creatures* (2000), 3.8.2; Hairer, Nørsett, Wanner (1993), II.4.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `full`, y₁ | result of one step h |
//! | `two`, y₂ | result of two steps h/2 |
//! | `k1` | slope at the start, shared by both |
//!
//! # Formula
//! ```text
//! Δ = y₂ − y₁      error = max |Δᵢ| / (absolute + relative max(|yᵢ|, |y₂ᵢ|))      accept if error ≤ 1
//! y' = y₂ + Δ/15   (order 5; y₂ alone has order 4)
//! h' = 0.9 h error^(−1/5) after success, 0.9 h error^(−1/4) after failure
//! ```
//!
//! # Cost
//! 11 evaluations for an accepted sub-step: 4 + 4 + 4 with the first slope shared. A retry from the same
//! state keeps that slope and costs 10.
//!
//! # Numerics
//! Δ estimates the error of y₂ times 15, so control is conservative by that factor.
//!
//! # Failure
//! [`IntegrateError`]; on any error, an [`super::Abort`] among them, the state is that of the start of the
//! advance, bit for bit, so the caller can act and start again with a shorter interval.
//!
//! # Tested by
//! `step_doubling_has_order_five_and_four_without_extrapolation`,
//! `step_doubling_takes_eleven_evaluations_per_step`, `error_control_follows_a_stiffening_pendulum`,
//! `abort_restores_the_state_bit_for_bit`.

use super::adaptive::{AdaptiveParams, Trial, drive};
use super::integrator::aborted;
use super::rk4::rk4_step;
use super::{IntegrateError, IntegrateReport, Integrator, OdeScratch, OdeSystem};
use crate::ops;

/// Adaptive RK4 by step doubling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepDoubling {
    /// Tolerances and limits.
    pub params: AdaptiveParams,
    /// Add Δ/15 to the result, which makes it of order 5. Default true.
    pub extrapolate: bool,
}

impl Default for StepDoubling {
    fn default() -> Self {
        Self::new(AdaptiveParams::default())
    }
}

impl StepDoubling {
    /// Integrator of order 5 with the given tolerances and limits.
    #[must_use]
    pub fn new(params: AdaptiveParams) -> Self {
        Self { params, extrapolate: true }
    }

    /// Like [`Integrator::advance`], with the step to try first in `hint`, which becomes the step to try
    /// next; it belongs to the caller's state if runs must continue exactly.
    ///
    /// # Errors
    /// [`IntegrateError`]; `y` and `hint` are then as on entry.
    pub fn advance_from(
        &self,
        system: &mut dyn OdeSystem,
        t: f64,
        dt: f64,
        y: &mut [f64],
        hint: &mut Option<f64>,
        scratch: &mut OdeScratch,
    ) -> Result<IntegrateReport, IntegrateError> {
        let [saved, k1, k, slope_middle, stage, full, middle, two] = scratch.rows::<8>(y.len());
        let mut trial = Doubling { owner: self, k1, k, slope_middle, stage, full, middle, two };
        drive(&self.params, system, t, dt, y, saved, hint, &mut trial)
    }
}

struct Doubling<'a> {
    owner: &'a StepDoubling,
    k1: &'a mut [f64],
    k: &'a mut [f64],
    slope_middle: &'a mut [f64],
    stage: &'a mut [f64],
    full: &'a mut [f64],
    middle: &'a mut [f64],
    two: &'a mut [f64],
}

impl Trial for Doubling<'_> {
    fn first_slope(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<(), IntegrateError> {
        system.derivative(t, y, self.k1).map_err(aborted(t))
    }

    fn slope(&self) -> &[f64] {
        self.k1
    }

    fn attempt(
        &mut self,
        system: &mut dyn OdeSystem,
        t: f64,
        h: f64,
        y: &[f64],
    ) -> Result<(f64, u32), IntegrateError> {
        let (half, t_middle) = (0.5 * h, t + 0.5 * h);
        rk4_step(system, t, h, y, self.k1, self.k, self.stage, self.full)?;
        rk4_step(system, t, half, y, self.k1, self.k, self.stage, self.middle)?;
        system.project(self.full);
        system.project(self.middle);
        system.derivative(t_middle, self.middle, self.slope_middle).map_err(aborted(t_middle))?;
        rk4_step(system, t_middle, half, self.middle, self.slope_middle, self.k, self.stage, self.two)?;
        system.project(self.two);
        let mut worst = 0.0_f64;
        for ((y, full), two) in y.iter().zip(self.full.iter()).zip(self.two.iter_mut()) {
            let delta = *two - full;
            let ratio = self.owner.params.ratio(delta, *y, *two);
            // `f64::max` would drop a NaN.
            worst = if ratio.is_nan() || ratio > worst { ratio } else { worst };
            if self.owner.extrapolate {
                *two += delta / 15.0;
            }
            if worst.is_nan() {
                return Ok((f64::NAN, 10));
            }
        }
        if self.owner.extrapolate {
            system.project(self.two);
        }
        Ok((worst, 10))
    }

    fn result(&self) -> &[f64] {
        self.two
    }

    fn keep(&mut self, _t: f64, _h: f64, _y: &[f64]) -> bool {
        false
    }

    fn factor(&mut self, error: f64, accepted: bool) -> f64 {
        let exponent = if accepted { -0.2 } else { -0.25 };
        if error > 0.0 {
            ops::powf(error, exponent)
        } else {
            self.owner.params.max_growth / self.owner.params.safety
        }
    }
}

impl Integrator for StepDoubling {
    fn name(&self) -> &'static str {
        "RK4 step doubling"
    }

    fn order(&self) -> u32 {
        if self.extrapolate { 5 } else { 4 }
    }

    fn scratch_rows(&self) -> usize {
        8
    }

    fn advance(
        &self,
        system: &mut dyn OdeSystem,
        t: f64,
        dt: f64,
        y: &mut [f64],
        scratch: &mut OdeScratch,
    ) -> Result<IntegrateReport, IntegrateError> {
        self.advance_from(system, t, dt, y, &mut self.params.first_step.clone(), scratch)
    }
}
