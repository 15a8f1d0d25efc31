//! Bodies under torque: splitting around the exact free motion, and a Lie-group Runge-Kutta method of order 4.
//!
//! # Reference
//! Hairer, Lubich, Wanner, *Geometric Numerical Integration* (2006), II.5 and VII.5.3 (splitting), IV.8
//! (Munthe-Kaas methods).
//!
//! # Symbols
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | `torque` | τ, of time, attitude and body rates | world | N·m |
//! | `momentum`, L | angular momentum | world | kg·m²/s |
//! | σ | rotation vector since the start of the step | world | rad |
//!
//! # Formula
//! ```text
//! drift-kick-drift:  free motion h/2;  L' = τ at the middle by the midpoint rule, h;  free motion h/2
//! Lie RK4:           σ̇ = ω − σ×ω/2 + σ×(σ×ω)/12,  L̇ = τ,  ω = R I⁻¹ Rᵀ L,  R = exp(σ) R₀;  classical weights
//! ```
//!
//! # Cost
//! Two free half steps and two torques, or four torques and five exponentials.
//!
//! # Numerics
//! Without torque the first is exact and the second keeps the world momentum to round-off. The first is
//! symmetric for torques that depend on the attitude alone: no energy drift on periodic motions.
//!
//! # Failure
//! [`IntegrateError`] for input or results that are not finite.
//!
//! # Tested by
//! `drift_kick_drift_has_order_two_and_lie_rk4_order_four`, `lie_rk4_keeps_free_momentum`,
//! `heavy_top_keeps_energy_under_both_methods`.

use super::exponential::renormalize;
use super::torque_free::{TorqueFreeBody, check_result};
use crate::MathError;
use crate::integrate::IntegrateError;
use crate::rotation::check_unit_quat;
use crate::rotation::quat_exp;
use glam::{DQuat, DVec3};

/// Torque in world axes, N·m, from time, attitude and body rates.
type Torque<'a> = dyn FnMut(f64, DQuat, DVec3) -> DVec3 + 'a;

fn check(q: DQuat, omega_body: DVec3, t: f64, dt: f64) -> Result<(), MathError> {
    check_unit_quat("attitude quaternion", q)?;
    MathError::check_finite("angular velocity", &omega_body.to_array())?;
    MathError::check_finite("time and step", &[t, dt])
}

/// One step of order 2: half a step of exact free motion, a torque impulse, half a step of free motion.
///
/// `torque(t, q, omega_body)` returns N·m in world axes. Returns the attitude and the body rates, rad/s.
///
/// # Errors
/// [`IntegrateError`] for input or results that are not finite.
pub fn drift_kick_drift(
    body: &TorqueFreeBody,
    q: DQuat,
    omega_body: DVec3,
    t: f64,
    dt: f64,
    torque: &mut Torque<'_>,
) -> Result<(DQuat, DVec3), IntegrateError> {
    check(q, omega_body, t, dt)?;
    let middle = t + 0.5 * dt;
    let (q, w) = body.step(q, omega_body, 0.5 * dt)?;
    let inverse = q.conjugate();
    // The midpoint rule keeps order 2 for torques that depend on the rates.
    let half = w + inverse * torque(middle, q, w) / body.moments() * (0.5 * dt);
    let w = w + inverse * torque(middle, q, half) / body.moments() * dt;
    check_result(q, w)?;
    body.step(q, w, 0.5 * dt)
}

/// One step of order 4 on the rotation group, with the momentum in world axes.
///
/// `torque(t, q, omega_body)` returns N·m in world axes. Returns the attitude and the body rates, rad/s.
///
/// # Errors
/// [`IntegrateError`] for input or results that are not finite.
pub fn lie_rk4(
    body: &TorqueFreeBody,
    q: DQuat,
    omega_body: DVec3,
    t: f64,
    dt: f64,
    torque: &mut Torque<'_>,
) -> Result<(DQuat, DVec3), IntegrateError> {
    check(q, omega_body, t, dt)?;
    let momentum = q * body.momentum_body(omega_body);
    let mut slope = |t: f64, sigma: DVec3, momentum: DVec3| {
        let q = renormalize(quat_exp(sigma) * q);
        let w = q.conjugate() * momentum / body.moments();
        let omega = q * w;
        let across = sigma.cross(omega);
        (omega - 0.5 * across + sigma.cross(across) / 12.0, torque(t, q, w))
    };
    let h = 0.5 * dt;
    let (s1, l1) = slope(t, DVec3::ZERO, momentum);
    let (s2, l2) = slope(t + h, s1 * h, momentum + l1 * h);
    let (s3, l3) = slope(t + h, s2 * h, momentum + l2 * h);
    let (s4, l4) = slope(t + dt, s3 * dt, momentum + l3 * dt);
    let sigma = (s1 + 2.0 * (s2 + s3) + s4) * (dt / 6.0);
    let impulse = (l1 + 2.0 * (l2 + l3) + l4) * (dt / 6.0);
    // In body axes and as a change of the old momentum: what rounding leaves then has no preferred sign.
    let inverse = q.conjugate();
    let turn = quat_exp(inverse * sigma);
    let kept = body.momentum_body(omega_body) + inverse * impulse;
    let (u, cross) = (turn.xyz(), turn.xyz().cross(kept));
    let change = 2.0 * (u.cross(cross) - turn.w * cross);
    let w = omega_body + (inverse * impulse + change) / body.moments();
    let q = renormalize(q * turn);
    check_result(q, w)?;
    Ok((q, w))
}
