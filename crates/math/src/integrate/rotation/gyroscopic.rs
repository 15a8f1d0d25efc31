//! Gyroscopic torque taken implicitly: stable at any step for first-order time stepping.
//!
//! # Reference
//! Catto, *Numerical methods* (Game Developers Conference 2015), for the single Newton step in body axes.
//!
//! # Symbols
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | `w` | unknown rates ω⁺ | body | rad/s |
//! | `f` | residual | body | kg·m²/s |
//! | `jacobian` | ∂f/∂ω⁺ | body | kg·m² |
//!
//! # Formula
//! ```text
//! f(ω⁺) = I (ω⁺ − ω) + h ω⁺ × I ω⁺ = 0        ∂f/∂ω⁺ = I + h ([ω⁺]ₓ I − [I ω⁺]ₓ)
//! ```
//!
//! # Cost
//! One 3x3 inverse per Newton step.
//!
//! # Numerics
//! Order 1. The solution has 2E⁺ = ω⁺·Iω ≤ 2√(E⁺E), so E⁺ ≤ E for every h: it damps and never gains. One
//! Newton step, the usual choice, keeps that up to terms of order h³.
//!
//! # Failure
//! [`IntegrateError::Input`] for unusable input or a singular Jacobian, [`IntegrateError::NonFinite`] for a
//! result that overflows.
//!
//! # Tested by
//! `implicit_gyroscopic_never_gains_energy`, `implicit_gyroscopic_has_order_one`.

use super::torque_free::{TorqueFreeBody, check_result};
use crate::MathError;
use crate::integrate::IntegrateError;
use crate::rotation::{cross_matrix, cross_times_mat3};
use glam::{DMat3, DQuat, DVec3};

/// Body rates after `dt` seconds of free motion by implicit Euler, with `newton_steps` ≥ 1 (1 is usual).
///
/// # Errors
/// [`IntegrateError`] for input that is not finite, no Newton steps, or a singular Jacobian.
pub fn implicit_gyroscopic(
    body: &TorqueFreeBody,
    omega_body: DVec3,
    dt: f64,
    newton_steps: u32,
) -> Result<DVec3, IntegrateError> {
    MathError::check_finite("angular velocity", &omega_body.to_array())?;
    MathError::check_finite("step", &[dt])?;
    if newton_steps == 0 {
        return Err(MathError::NotPositive { what: "Newton steps", index: 0, value: 0.0 }.into());
    }
    let inertia = DMat3::from_diagonal(body.moments());
    let mut w = omega_body;
    for _ in 0..newton_steps {
        let momentum = body.momentum_body(w);
        let residual = body.moments() * (w - omega_body) + w.cross(momentum) * dt;
        let jacobian = inertia + (cross_times_mat3(w, inertia) - cross_matrix(momentum)) * dt;
        let determinant = jacobian.determinant();
        if determinant == 0.0 || !determinant.is_finite() {
            let domain = "finite and not 0";
            let what = "determinant of the gyroscopic Jacobian";
            return Err(MathError::OutOfDomain { what, value: determinant, domain }.into());
        }
        w -= jacobian.inverse() * residual;
    }
    check_result(DQuat::IDENTITY, w)?;
    Ok(w)
}
