//! Heun's method, the Runge-Kutta method of order 2 with the trapezoidal rule.
//!
//! # Reference
//! Barenbrug (2000), appendix B ("RK2"); Hairer, Nørsett, Wanner, *Solving Ordinary Differential
//! Equations I* (1993), II.1.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `k1`, `k2` | slopes at the start and at the predicted end | 1/s |
//!
//! # Formula
//! ```text
//! k₁ = f(t, y)     k₂ = f(t + h, y + h k₁)     y' = y + h (k₁ + k₂)/2
//! ```
//!
//! # Cost
//! Two evaluations, three rows of scratch.
//!
//! # Numerics
//! Order 2; a constant force is exact in position and velocity. On an undamped oscillation of angular
//! frequency w the amplitude grows by (h w)⁴/8 per step.
//!
//! # Failure
//! [`IntegrateError`]: bad input, a state that is no longer finite, or an abort; the state is restored.
//!
//! # Tested by
//! `heun_has_order_two`.

use super::integrator::{aborted, axpy, fixed_step};
use super::{IntegrateError, IntegrateReport, Integrator, OdeScratch, OdeSystem};

/// Heun's method of order 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heun;

impl Integrator for Heun {
    fn name(&self) -> &'static str {
        "Heun"
    }

    fn order(&self) -> u32 {
        2
    }

    fn scratch_rows(&self) -> usize {
        3
    }

    fn advance(
        &self,
        system: &mut dyn OdeSystem,
        t: f64,
        dt: f64,
        y: &mut [f64],
        scratch: &mut OdeScratch,
    ) -> Result<IntegrateReport, IntegrateError> {
        let [k1, k2, next] = scratch.rows::<3>(y.len());
        fixed_step(system, t, dt, y, next, 2, |system, y, next| {
            system.derivative(t, y, k1).map_err(aborted(t))?;
            axpy(next, y, dt, k1);
            system.project(next);
            system.derivative(t + dt, next, k2).map_err(aborted(t + dt))?;
            for i in 0..y.len() {
                next[i] = y[i] + 0.5 * dt * (k1[i] + k2[i]);
            }
            Ok(())
        })
    }
}
