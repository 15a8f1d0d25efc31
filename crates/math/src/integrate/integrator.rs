//! The seam: an object-safe integrator, its scratch, its report and its errors.

use super::{Abort, Flow, OdeSystem};
use crate::MathError;
use std::fmt::Debug;
use thiserror::Error;

/// Why an advance failed. The state is then what it was on entry, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum IntegrateError {
    /// A time, a step, a tolerance, a moment or a slice length is unusable.
    #[error(transparent)]
    Input(#[from] MathError),
    /// A component of the new state is NaN or infinite.
    #[error("state component {index} became {value} at t = {t}")]
    NonFinite {
        /// Position in the state.
        index: usize,
        /// The number it became.
        value: f64,
        /// Time at the start of the step that failed, s.
        t: f64,
    },
    /// Error control asked for a step below the smallest allowed.
    #[error("step {step} at t = {t} is below the smallest allowed, error ratio {error}")]
    StepTooSmall {
        /// Time reached, s.
        t: f64,
        /// The step asked for, s.
        step: f64,
        /// Error of the last attempt over its tolerance.
        error: f64,
    },
    /// The interval was not finished within the allowed number of sub-steps.
    #[error("stopped at t = {t} after {steps} sub-steps")]
    MaxSteps {
        /// Time reached, s.
        t: f64,
        /// Sub-steps tried, accepted or not.
        steps: u32,
    },
    /// The system asked to stop.
    #[error("aborted at t = {t} with code {code}")]
    Aborted {
        /// Time of the evaluation or of the accepted state that aborted, s.
        t: f64,
        /// The code of [`Abort`].
        code: u64,
    },
}

/// What an advance did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct IntegrateReport {
    /// Time of the returned state, s: the end of the interval unless the system said [`Flow::Stop`].
    pub t: f64,
    /// Calls of the derivative.
    pub evaluations: u32,
    /// Sub-steps that were kept.
    pub accepted: u32,
    /// Sub-steps that error control threw away.
    pub rejected: u32,
    /// Step that error control would try next, s; the given step for fixed-step methods.
    pub next_step: f64,
}

/// Numbers an integrator works on, owned by the caller. Grows when a larger problem needs it and never
/// shrinks; its old contents never influence a result.
#[derive(Debug, Clone, Default)]
pub struct OdeScratch {
    data: Vec<f64>,
}

impl OdeScratch {
    /// Scratch that is large enough for `integrator` on states of length `dim`.
    #[must_use]
    pub fn new(integrator: &dyn Integrator, dim: usize) -> Self {
        Self { data: vec![0.0; integrator.scratch_rows() * dim] }
    }

    /// Numbers held at present.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.data.len()
    }

    /// `N` rows of length `dim`.
    pub(super) fn rows<const N: usize>(&mut self, dim: usize) -> [&mut [f64]; N] {
        if self.data.len() < N * dim {
            self.data.resize(N * dim, 0.0);
        }
        let mut rest = self.data.as_mut_slice();
        std::array::from_fn(|_| {
            let (row, tail) = std::mem::take(&mut rest).split_at_mut(dim);
            rest = tail;
            row
        })
    }
}

/// Advances a system in time. Object-safe; one value serves any number of systems and threads.
pub trait Integrator: Debug + Send + Sync {
    /// Short name for reports.
    fn name(&self) -> &'static str;

    /// Order of the global error.
    fn order(&self) -> u32;

    /// Rows of scratch, each of the length of the state.
    fn scratch_rows(&self) -> usize;

    /// Mean place in the step, from 0 to 1, at which it samples the derivative: where a force that moves with the state is taken.
    fn sample_fraction(&self) -> f64 {
        0.5
    }

    /// Replaces `y` at time `t` by the state at `t + dt`; `dt` may be negative or zero.
    ///
    /// # Errors
    /// [`IntegrateError`]; `y` is then as on entry, bit for bit.
    fn advance(
        &self,
        system: &mut dyn OdeSystem,
        t: f64,
        dt: f64,
        y: &mut [f64],
        scratch: &mut OdeScratch,
    ) -> Result<IntegrateReport, IntegrateError>;
}

/// Checks shared by all integrators.
pub(super) fn check_input(dim: usize, t: f64, dt: f64, y: &[f64]) -> Result<(), IntegrateError> {
    if y.len() != dim {
        return Err(MathError::WrongLength { what: "state", expected: dim, got: y.len() }.into());
    }
    MathError::check_finite("time and step", &[t, dt])?;
    MathError::check_finite("state component", y)?;
    Ok(())
}

/// `Ok` if the state is finite.
pub(super) fn check_state(t: f64, y: &[f64]) -> Result<(), IntegrateError> {
    match y.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(IntegrateError::NonFinite { index, value: y[index], t }),
        None => Ok(()),
    }
}

/// Turns the wish of the system into the error that names the time.
pub(super) fn aborted(t: f64) -> impl Fn(Abort) -> IntegrateError {
    move |abort| IntegrateError::Aborted { t, code: abort.code }
}

/// out = y + h k.
pub(super) fn axpy(out: &mut [f64], y: &[f64], h: f64, k: &[f64]) {
    for ((out, y), k) in out.iter_mut().zip(y).zip(k) {
        *out = y + h * k;
    }
}

/// Runs one step of a fixed-step method: `stages` fills `next` from `y`, and only a finite, projected state
/// that the system accepts is copied back.
pub(super) fn fixed_step(
    system: &mut dyn OdeSystem,
    t: f64,
    dt: f64,
    y: &mut [f64],
    next: &mut [f64],
    evaluations: u32,
    stages: impl FnOnce(&mut dyn OdeSystem, &[f64], &mut [f64]) -> Result<(), IntegrateError>,
) -> Result<IntegrateReport, IntegrateError> {
    check_input(system.dim(), t, dt, y)?;
    let mut report = IntegrateReport { t: t + dt, next_step: dt, ..Default::default() };
    if dt == 0.0 {
        return Ok(report);
    }
    stages(system, y, next)?;
    system.project(next);
    check_state(t, next)?;
    // Nothing is left of the interval, so `Flow::Stop` and `Flow::Continue` are the same here.
    let (Flow::Continue | Flow::Stop) = system.accepted(t + dt, next).map_err(aborted(t + dt))?;
    y.copy_from_slice(next);
    report.evaluations = evaluations;
    report.accepted = 1;
    Ok(report)
}
