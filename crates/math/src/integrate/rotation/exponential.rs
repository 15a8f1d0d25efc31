//! Attitude after a step with a constant angular velocity, by the exponential map [`quat_exp`].
//!
//! # Reference
//! Grassia, *Practical parameterization of rotations using the exponential map* (J. Graphics Tools 3, 1998).
//!
//! # Symbols
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | `v` | rotation vector: axis times angle | that of the caller | rad |
//! | `q` | attitude | world from body | - |
//! | `omega_body`, `omega_world` | angular velocity | body, world | rad/s |
//!
//! # Formula
//! ```text
//! exp(v) = (v sin(|v|/2)/|v|, cos(|v|/2))        q' = q exp(ω_body dt) = exp(ω_world dt) q
//! ```
//!
//! # Cost
//! One `sin_cos` and one `sqrt`; neither for angles below 1/8 rad, where two short series serve.
//!
//! # Numerics
//! The series is good to the last bit where it is used, so there is no loss near zero. One Newton step for
//! the inverse root renormalises without a `sqrt`: the norm stays within a few 1e-16 of 1 for any number of
//! steps.
//!
//! # Failure
//! None: input that is not finite gives a quaternion that is not finite. Callers check their state.
//!
//! # Tested by
//! `exponential_matches_axis_angle_for_all_sizes`, `body_and_world_steps_agree`,
//! `a_million_steps_keep_the_norm_and_a_turn_returns`.

use crate::rotation::quat_exp;
use glam::{DQuat, DVec3};

/// Attitude after `dt` seconds at constant `omega_body`, rad/s in body axes.
#[inline]
#[must_use]
pub fn rotate_body(q: DQuat, omega_body: DVec3, dt: f64) -> DQuat {
    renormalize(q * quat_exp(omega_body * dt))
}

/// Attitude after `dt` seconds at constant `omega_world`, rad/s in world axes.
#[inline]
#[must_use]
pub fn rotate_world(q: DQuat, omega_world: DVec3, dt: f64) -> DQuat {
    renormalize(quat_exp(omega_world * dt) * q)
}

/// Scales a quaternion that is already near unit length: one Newton step for 1/√x at x = 1. The general
/// [`crate::rotation::renormalize`] checks its input, which the inside of an integrator need not.
#[inline]
pub(super) fn renormalize(q: DQuat) -> DQuat {
    let squared = q.length_squared();
    if (squared - 1.0).abs() < 1e-7 { q * (1.5 - 0.5 * squared) } else { q.normalize() }
}
