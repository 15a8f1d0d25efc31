//! The Euler family: explicit, semi-implicit, and the modified and double variants of *Dynamo*.
//!
//! # Reference
//! Barenbrug, *Designing a class library for interactive simulation of rigid body dynamics* (2000),
//! appendix B, for the modified and double variants; Hairer, Lubich, Wanner, *Geometric Numerical
//! Integration* (2006), I.1.2, for the semi-implicit one.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `dt`, h | step | s |
//! | `prediction`, c | how far the acceleration is already applied to the velocity that moves q | s |
//!
//! # Formula
//! ```text
//! f_c(t, (q, v)) = (G(q)(v + c a), a)
//! explicit       y + h f₀        c = 0
//! modified       y + h f_c       c = h/2       reproduces ½ a h² of a constant force
//! semi-implicit  y + h f_c       c = h         v first, then q with the new v
//! double         two modified steps of h/2     c = h/4
//! ```
//!
//! # Cost
//! One evaluation per step, two for the double variant; two rows of scratch.
//!
//! # Numerics
//! All are of order 1. With c > 0 a force changes the position in the very step it acts in, which reaction
//! force methods need: with c = 0 a constraint on positions alone has a zero Jacobian. The semi-implicit
//! variant is symplectic for a separable mechanical system.
//!
//! # Failure
//! [`IntegrateError`]: bad input, a state that is no longer finite, or an abort; the state is restored.
//!
//! # Tested by
//! `euler_variants_have_order_one`, `constant_force_is_exact_for_modified_and_double_euler`,
//! `torque_turns_the_body_in_one_modified_euler_step`, `semi_implicit_euler_keeps_oscillator_energy_bounded`.

use super::integrator::{aborted, axpy, fixed_step};
use super::{IntegrateError, IntegrateReport, Integrator, OdeScratch, OdeSystem};

/// One Euler step with prediction length `fraction · dt`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Euler {
    fraction: f64,
    name: &'static str,
}

impl Euler {
    /// y + h f: positions move with the old velocity.
    pub const EXPLICIT: Self = Self { fraction: 0.0, name: "explicit Euler" };
    /// Positions move with the mean of the old and the new velocity (*Dynamo*'s ρ = ½).
    pub const MODIFIED: Self = Self { fraction: 0.5, name: "modified Euler" };
    /// Positions move with the new velocity.
    pub const SEMI_IMPLICIT: Self = Self { fraction: 1.0, name: "semi-implicit Euler" };
}

fn euler_step(
    system: &mut dyn OdeSystem,
    t: f64,
    h: f64,
    fraction: f64,
    y: &[f64],
    k: &mut [f64],
    next: &mut [f64],
) -> Result<(), IntegrateError> {
    system.predicted_derivative(t, y, fraction * h, k).map_err(aborted(t))?;
    axpy(next, y, h, k);
    Ok(())
}

impl Integrator for Euler {
    fn name(&self) -> &'static str {
        self.name
    }

    fn order(&self) -> u32 {
        1
    }

    fn scratch_rows(&self) -> usize {
        2
    }

    fn sample_fraction(&self) -> f64 {
        0.0
    }

    fn advance(
        &self,
        system: &mut dyn OdeSystem,
        t: f64,
        dt: f64,
        y: &mut [f64],
        scratch: &mut OdeScratch,
    ) -> Result<IntegrateReport, IntegrateError> {
        let [k, next] = scratch.rows::<2>(y.len());
        fixed_step(system, t, dt, y, next, 1, |system, y, next| {
            euler_step(system, t, dt, self.fraction, y, k, next)
        })
    }
}

/// Two modified Euler steps of half the length (*Dynamo*'s double Euler).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DoubleEuler;

impl Integrator for DoubleEuler {
    fn name(&self) -> &'static str {
        "double Euler"
    }

    fn order(&self) -> u32 {
        1
    }

    fn scratch_rows(&self) -> usize {
        3
    }

    fn sample_fraction(&self) -> f64 {
        0.25
    }

    fn advance(
        &self,
        system: &mut dyn OdeSystem,
        t: f64,
        dt: f64,
        y: &mut [f64],
        scratch: &mut OdeScratch,
    ) -> Result<IntegrateReport, IntegrateError> {
        let [k, middle, next] = scratch.rows::<3>(y.len());
        fixed_step(system, t, dt, y, next, 2, |system, y, next| {
            euler_step(system, t, 0.5 * dt, 0.5, y, k, middle)?;
            system.project(middle);
            euler_step(system, t + 0.5 * dt, 0.5 * dt, 0.5, middle, k, next)
        })
    }
}
