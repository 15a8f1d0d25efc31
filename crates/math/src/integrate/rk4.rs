//! The classical Runge-Kutta method of order 4.
//!
//! # Reference
//! Hairer, Nørsett, Wanner, *Solving Ordinary Differential Equations I* (1993), II.1; Mirtich,
//! *Impulse-based Dynamic Simulation* (1996), 7.4; Barenbrug (2000), 3.2.4.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `k1` … | slopes at the start, twice at the middle, at the end | 1/s |
//!
//! # Formula
//! ```text
//! k₁ = f(t, y)   k₂ = f(t + h/2, y + h k₁/2)   k₃ = f(t + h/2, y + h k₂/2)   k₄ = f(t + h, y + h k₃)
//! y' = y + h (k₁ + 2 k₂ + 2 k₃ + k₄)/6
//! ```
//!
//! # Cost
//! Four evaluations, four rows of scratch.
//!
//! # Numerics
//! Order 4. Stages are projected: this is the same method applied to f ∘ projection, a smooth field with the
//! same solution, so the order stays.
//!
//! # Failure
//! [`IntegrateError`]: bad input, a state that is no longer finite, or an abort; the state is restored.
//!
//! # Tested by
//! `rk4_has_order_four`, `rk4_is_exact_for_cubic_quadrature`, `rk4_pendulum_keeps_energy_to_1e_12`.

use super::integrator::{aborted, axpy, fixed_step};
use super::{IntegrateError, IntegrateReport, Integrator, OdeScratch, OdeSystem};

/// The classical Runge-Kutta method of order 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rk4;

/// One step from `y` with the slope `k1` at its start given. Writes an unprojected state to `next`.
pub(super) fn rk4_step(
    system: &mut dyn OdeSystem,
    t: f64,
    h: f64,
    y: &[f64],
    k1: &[f64],
    k: &mut [f64],
    stage: &mut [f64],
    next: &mut [f64],
) -> Result<(), IntegrateError> {
    let middle = t + 0.5 * h;
    axpy(next, y, h / 6.0, k1);
    axpy(stage, y, 0.5 * h, k1);
    for (time, weight, reach) in [(middle, h / 3.0, 0.5 * h), (middle, h / 3.0, h), (t + h, h / 6.0, 0.0)] {
        system.project(stage);
        system.derivative(time, stage, k).map_err(aborted(time))?;
        for i in 0..y.len() {
            next[i] += weight * k[i];
            stage[i] = y[i] + reach * k[i];
        }
    }
    Ok(())
}

impl Integrator for Rk4 {
    fn name(&self) -> &'static str {
        "RK4"
    }

    fn order(&self) -> u32 {
        4
    }

    fn scratch_rows(&self) -> usize {
        4
    }

    fn advance(
        &self,
        system: &mut dyn OdeSystem,
        t: f64,
        dt: f64,
        y: &mut [f64],
        scratch: &mut OdeScratch,
    ) -> Result<IntegrateReport, IntegrateError> {
        let [k1, k, stage, next] = scratch.rows::<4>(y.len());
        fixed_step(system, t, dt, y, next, 4, |system, y, next| {
            system.derivative(t, y, k1).map_err(aborted(t))?;
            rk4_step(system, t, dt, y, k1, k, stage, next)
        })
    }
}
