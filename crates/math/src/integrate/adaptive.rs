//! Error control shared by the adaptive integrators: tolerances, step limits, the loop over sub-steps.

use super::integrator::{aborted, check_input, check_state};
use super::{Flow, IntegrateError, IntegrateReport, OdeSystem};
use crate::MathError;

/// Tolerances and limits of an adaptive integrator.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AdaptiveParams {
    /// Relative error allowed per sub-step and component. Default 1e-9; larger is faster.
    pub relative: f64,
    /// Absolute error allowed per sub-step and component, in the unit of the component. Default 1e-12.
    pub absolute: f64,
    /// Step to try first, s. `None`, the default, takes a hundredth of the time in which the state would
    /// change by its own size.
    pub first_step: Option<f64>,
    /// Smallest step, s. Default 0: only round-off of the time limits it. Larger fails sooner.
    pub min_step: f64,
    /// Largest step, s. Default infinite. Smaller catches events that a long step would jump over.
    pub max_step: f64,
    /// Sub-steps per advance, accepted or not. Default 1 000 000.
    pub max_steps: u32,
    /// Factor on every proposed step, below 1. Default 0.9; smaller rejects less often but steps more.
    pub safety: f64,
    /// Largest factor from one step to the next. Default 5.
    pub max_growth: f64,
    /// Smallest factor from one attempt to the next. Default 0.1.
    pub max_shrink: f64,
}

impl Default for AdaptiveParams {
    fn default() -> Self {
        Self {
            relative: 1e-9,
            absolute: 1e-12,
            first_step: None,
            min_step: 0.0,
            max_step: f64::INFINITY,
            max_steps: 1_000_000,
            safety: 0.9,
            max_growth: 5.0,
            max_shrink: 0.1,
        }
    }
}

impl AdaptiveParams {
    /// Default limits with the given tolerances.
    #[must_use]
    pub fn with_tolerance(relative: f64, absolute: f64) -> Self {
        Self { relative, absolute, ..Self::default() }
    }

    /// Checks every field.
    ///
    /// # Errors
    /// [`MathError`] naming the field and its value.
    pub fn validate(&self) -> Result<(), MathError> {
        let check = |what, value: f64, ok: bool, domain| {
            if ok { Ok(()) } else { Err(MathError::OutOfDomain { what, value, domain }) }
        };
        let first = self.first_step.unwrap_or(1.0);
        check("relative tolerance", self.relative, self.relative >= 0.0, "[0, inf]")?;
        check("absolute tolerance", self.absolute, self.absolute >= 0.0, "[0, inf]")?;
        check("sum of tolerances", 0.0, self.relative + self.absolute > 0.0, "(0, inf]")?;
        check("first step", first, first.is_finite() && first > 0.0, "(0, inf)")?;
        check("min step", self.min_step, self.min_step.is_finite() && self.min_step >= 0.0, "[0, inf)")?;
        check("max step", self.max_step, self.max_step > 0.0 && self.max_step >= self.min_step, "(0, inf]")?;
        check("max steps", f64::from(self.max_steps), self.max_steps > 0, "[1, inf)")?;
        check("safety", self.safety, self.safety > 0.0 && self.safety < 1.0, "(0, 1)")?;
        check(
            "max growth",
            self.max_growth,
            self.max_growth.is_finite() && self.max_growth > 1.0,
            "(1, inf)",
        )?;
        check("max shrink", self.max_shrink, self.max_shrink > 0.0 && self.max_shrink < 1.0, "(0, 1)")
    }

    /// Error of one component over what is allowed.
    #[inline]
    pub(super) fn ratio(&self, error: f64, before: f64, after: f64) -> f64 {
        let allowed = self.absolute + self.relative * before.abs().max(after.abs());
        // A component that is exactly zero under a purely relative tolerance has no error to speak of.
        if error == 0.0 { 0.0 } else { error.abs() / allowed }
    }
}

/// One adaptive method: trial steps with an error estimate.
pub(super) trait Trial {
    /// Writes the slope at (t, y) where the trials expect it.
    fn first_slope(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<(), IntegrateError>;

    /// The slope that was written last.
    fn slope(&self) -> &[f64];

    /// Tries a step of `h`; returns the largest error ratio (NaN if the trial is not finite) and the number
    /// of evaluations. The projected result is then [`Trial::result`].
    fn attempt(
        &mut self,
        system: &mut dyn OdeSystem,
        t: f64,
        h: f64,
        y: &[f64],
    ) -> Result<(f64, u32), IntegrateError>;

    /// The state of the last attempt.
    fn result(&self) -> &[f64];

    /// Called when the last attempt was kept, with the old state. Returns true if the slope at the new state
    /// is already known.
    fn keep(&mut self, t: f64, h: f64, y: &[f64]) -> bool;

    /// Factor for the next step after an attempt with the given error ratio, before limits.
    fn factor(&mut self, error: f64, accepted: bool) -> f64;
}

/// Runs sub-steps over the whole interval. `hint` is the step to try first and becomes the one to try next.
pub(super) fn drive(
    params: &AdaptiveParams,
    system: &mut dyn OdeSystem,
    t: f64,
    dt: f64,
    y: &mut [f64],
    saved: &mut [f64],
    hint: &mut Option<f64>,
    trial: &mut dyn Trial,
) -> Result<IntegrateReport, IntegrateError> {
    params.validate()?;
    check_input(system.dim(), t, dt, y)?;
    if let Some(step) = *hint {
        if !(step.is_finite() && step > 0.0) {
            let domain = "(0, inf)";
            return Err(MathError::OutOfDomain { what: "step hint", value: step, domain }.into());
        }
    }
    if dt == 0.0 {
        return Ok(IntegrateReport { t, next_step: hint.unwrap_or(0.0), ..Default::default() });
    }
    saved.copy_from_slice(y);
    let outcome = sub_steps(params, system, t, dt, y, *hint, trial);
    match &outcome {
        Ok(report) => *hint = Some(report.next_step),
        Err(_) => y.copy_from_slice(saved),
    }
    outcome
}

fn sub_steps(
    params: &AdaptiveParams,
    system: &mut dyn OdeSystem,
    t: f64,
    dt: f64,
    y: &mut [f64],
    hint: Option<f64>,
    trial: &mut dyn Trial,
) -> Result<IntegrateReport, IntegrateError> {
    let (end, direction) = (t + dt, dt.signum());
    let mut report = IntegrateReport { t, ..Default::default() };
    trial.first_slope(system, t, y)?;
    report.evaluations += 1;
    let mut step =
        hint.unwrap_or_else(|| guess(params, y, trial.slope(), dt)).min(params.max_step).max(params.min_step);
    loop {
        if report.accepted + report.rejected >= params.max_steps {
            return Err(IntegrateError::MaxSteps { t: report.t, steps: params.max_steps });
        }
        let remaining = (end - report.t).abs();
        // A sliver left over by round-off would cost a whole sub-step.
        let last = step >= remaining * (1.0 - 1e-10);
        let h = if last { remaining } else { step };
        let (error, evaluations) = trial.attempt(system, report.t, direction * h, y)?;
        report.evaluations += evaluations;
        let accepted = error <= 1.0;
        let factor =
            if error.is_finite() { trial.factor(error, accepted) * params.safety } else { params.max_shrink };
        if !accepted {
            report.rejected += 1;
            step = h * factor.clamp(params.max_shrink, 0.95);
            if step < params.min_step || step <= 4.0 * f64::EPSILON * report.t.abs().max(end.abs()) {
                check_state(report.t, trial.result())?;
                return Err(IntegrateError::StepTooSmall { t: report.t, step, error });
            }
            continue;
        }
        check_state(report.t, trial.result())?;
        let slope_known = trial.keep(report.t, direction * h, y);
        y.copy_from_slice(trial.result());
        report.t = if last { end } else { report.t + direction * h };
        report.accepted += 1;
        let grown = h * factor.clamp(params.max_shrink, params.max_growth);
        // The last sub-step may have been cut short: what was planned before is then still a fair guess.
        step = if last { step.max(grown) } else { grown }.min(params.max_step).max(params.min_step);
        report.next_step = step;
        let flow = system.accepted(report.t, y).map_err(aborted(report.t))?;
        if last || flow == Flow::Stop {
            return Ok(report);
        }
        if !slope_known {
            trial.first_slope(system, report.t, y)?;
            report.evaluations += 1;
        }
    }
}

/// First step if the caller has no idea: a hundredth of the time scale |y| / |ẏ|, in units of the tolerance.
fn guess(params: &AdaptiveParams, y: &[f64], slope: &[f64], dt: f64) -> f64 {
    let (mut size, mut rate) = (0.0_f64, 0.0_f64);
    for (y, k) in y.iter().zip(slope) {
        size = size.max(params.ratio(*y, *y, *y));
        rate = rate.max(params.ratio(*k, *y, *y));
    }
    let scale = 0.01 * size / rate;
    if scale.is_finite() && scale > 0.0 { scale.min(dt.abs()) } else { 1e-3 * dt.abs() }
}
