//! Quaternion kinematics: rates from angular velocity and back, exponential and logarithm, double cover.
//!
//! # Reference
//! Cline 2002, 2.1.3 and 2.2.2; Mirtich 1996, A.4; Barenbrug 2000, 3.2.1 with its q̇ repaired (as printed it
//! belongs to the transposed matrix and gives Ȧ = −ω̃A); Arnold 1997, 2.1.2, whose A is the transpose of R.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `q` | body to world, vector part first, scalar last | – |
//! | `omega` | angular velocity in world axes | rad/s |
//! | `omega_body` | angular velocity in body axes | rad/s |
//! | `q_dot` | dq/dt, four plain numbers in a `DQuat` | 1/s |
//!
//! # Formula
//! ```text
//! q̇ = ½ (ω|0) ⊗ q = ½ q ⊗ (ω_body|0)         ω = 2 vec(q̇ ⊗ q⁻¹),  ω_body = 2 vec(q⁻¹ ⊗ q̇)
//! exp(φ) = (φ sin(|φ|/2)/|φ| | cos(|φ|/2))   log(v|w) = 2 v atan2(|v|, w) / |v|   (w ≥ 0)
//! Ṙ = ω̃ R = R ω̃_body
//! ```
//! # Cost
//! A dozen multiplications for rates; one sine and cosine for `quat_exp`, one arc tangent for `quat_log`,
//! neither near zero, where a series is used.
//!
//! # Numerics
//! Rates and their inverses hold for quaternions that are not quite unit (Runge-Kutta stages). The logarithm
//! returns the shorter way, angle in [0, π]; its derivative is unbounded at π.
//!
//! # Failure
//! [`renormalize`] and the conversions that need a direction return [`MathError::NotUnit`] or
//! [`MathError::NonFinite`]; the kinematic maps are total for non-zero quaternions.
//!
//! # Tested by
//! `rates_round_trip_and_match_the_printed_rows`, `matrix_rate_is_omega_cross_matrix`,
//! `constant_spin_returns_after_one_turn`, `exponential_and_logarithm_are_inverse`.

use super::check_rotation;
use crate::{MathError, ops};
use glam::{DMat3, DQuat, DVec3};

/// Below this squared half angle the series of sine and arc tangent are exact to rounding with three terms.
const SERIES: f64 = 1e-5;

/// q̇ for an angular velocity in world axes, rad/s.
#[inline]
#[must_use]
pub fn quat_rate_world(q: DQuat, omega: DVec3) -> DQuat {
    let v = q.xyz();
    let half = omega * 0.5;
    DQuat::from_vec4((half * q.w + half.cross(v)).extend(-half.dot(v)))
}

/// q̇ for an angular velocity in body axes, rad/s.
#[inline]
#[must_use]
pub fn quat_rate_body(q: DQuat, omega_body: DVec3) -> DQuat {
    let v = q.xyz();
    let half = omega_body * 0.5;
    DQuat::from_vec4((half * q.w + v.cross(half)).extend(-half.dot(v)))
}

/// Angular velocity in world axes, rad/s, of a quaternion that changes at the rate `q_dot`.
///
/// A change of length in `q_dot` is ignored, and `q` need not be unit, only non-zero.
#[inline]
#[must_use]
pub fn omega_world_from_rate(q: DQuat, q_dot: DQuat) -> DVec3 {
    let (v, v_dot) = (q.xyz(), q_dot.xyz());
    (v_dot * q.w - v * q_dot.w - v_dot.cross(v)) * (2.0 / q.length_squared())
}

/// Angular velocity in body axes, rad/s, of a quaternion that changes at the rate `q_dot`.
///
/// A change of length in `q_dot` is ignored, and `q` need not be unit, only non-zero.
#[inline]
#[must_use]
pub fn omega_body_from_rate(q: DQuat, q_dot: DQuat) -> DVec3 {
    let (v, v_dot) = (q.xyz(), q_dot.xyz());
    (v_dot * q.w - v * q_dot.w - v.cross(v_dot)) * (2.0 / q.length_squared())
}

/// The unit quaternion of a rotation vector: axis times angle, radians.
#[inline]
#[must_use]
pub fn quat_exp(rotation_vector: DVec3) -> DQuat {
    let half = rotation_vector * 0.5;
    let x = half.length_squared();
    // sin(h)/h and cos(h) in x = h², h the half angle: the first terms left out are below 1e-17 at h = 1/16,
    // so small steps of an integrator need neither root nor sine.
    let (sine_over_angle, cosine) = if x < 1.0 / 256.0 {
        (
            1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0))),
            1.0 - x / 2.0 * (1.0 - x / 12.0 * (1.0 - x / 30.0 * (1.0 - x / 56.0 * (1.0 - x / 90.0)))),
        )
    } else {
        let angle = x.sqrt();
        let (sine, cosine) = ops::sin_cos(angle);
        (sine / angle, cosine)
    };
    DQuat::from_vec4((half * sine_over_angle).extend(cosine))
}

/// The shortest rotation vector (axis times angle in [0, π], radians) of a unit quaternion.
///
/// `q` and `-q` give the same vector, except at exactly half a turn, where they give opposite ones.
#[inline]
#[must_use]
pub fn quat_log(q: DQuat) -> DVec3 {
    let v = q.xyz();
    let squared = v.length_squared();
    // Both signs of a zero w are taken as positive.
    let (v, w) = if q.w < 0.0 { (-v, -q.w) } else { (v, q.w.abs()) };
    let ratio = squared / (w * w);
    if ratio < SERIES {
        v * (2.0 / w * (1.0 - ratio * (1.0 / 3.0 - ratio * (0.2 - ratio / 7.0))))
    } else {
        let sine = squared.sqrt();
        v * (2.0 * ops::atan2(sine, w) / sine)
    }
}

/// The same quaternion with length 1.
///
/// # Errors
/// [`MathError::NonFinite`] or, for zero, [`MathError::NotUnit`].
#[inline]
pub fn renormalize(q: DQuat) -> Result<DQuat, MathError> {
    let squared = q.length_squared();
    if squared.is_normal() {
        return Ok(q * (1.0 / squared.sqrt()));
    }
    MathError::check_finite("quaternion", &q.to_array())?;
    // Squares that overflowed or vanished: scale first.
    let largest = q.to_array().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if largest == 0.0 {
        return Err(MathError::NotUnit { what: "quaternion", length: 0.0 });
    }
    let scaled = q / largest;
    Ok(scaled * (1.0 / scaled.length()))
}

/// Rotation by `angle` radians about `axis`, which may have any non-zero length.
///
/// # Errors
/// [`MathError::NonFinite`], or [`MathError::NotUnit`] for an axis without direction.
#[inline]
pub fn quat_from_axis_angle(axis: DVec3, angle: f64) -> Result<DQuat, MathError> {
    MathError::check_finite("axis", &axis.to_array())?;
    MathError::check_finite("angle", &[angle])?;
    let largest = axis.abs().max_element();
    if largest == 0.0 {
        return Err(MathError::NotUnit { what: "axis", length: 0.0 });
    }
    let direction = (axis / largest).normalize();
    let (sine, cosine) = ops::sin_cos(0.5 * angle);
    Ok(DQuat::from_vec4((direction * sine).extend(cosine)))
}

/// Rotation matrix of a quaternion of any non-zero length, as if it were normalised first.
///
/// Runge-Kutta stages leave the unit sphere a little; their matrix must still be a rotation.
#[inline]
#[must_use]
pub fn mat3_from_quat(q: DQuat) -> DMat3 {
    let s = 2.0 / q.length_squared();
    let (x, y, z) = (q.x * s, q.y * s, q.z * s);
    let (wx, wy, wz) = (q.w * x, q.w * y, q.w * z);
    let (xx, yy, zz) = (q.x * x, q.y * y, q.z * z);
    let (xy, xz, yz) = (q.x * y, q.x * z, q.y * z);
    DMat3::from_cols(
        DVec3::new(1.0 - (yy + zz), xy + wz, xz - wy),
        DVec3::new(xy - wz, 1.0 - (xx + zz), yz + wx),
        DVec3::new(xz + wy, yz - wx, 1.0 - (xx + yy)),
    )
}

/// Unit quaternion of a rotation matrix, with w ≥ 0 or, at half a turn, its first non-zero entry positive.
///
/// # Errors
/// [`MathError::NonFinite`], or [`MathError::NotRotation`] if an entry of `RᵀR` is off by more than 1e-6.
#[inline]
pub fn quat_from_mat3(r: DMat3) -> Result<DQuat, MathError> {
    check_rotation("rotation matrix", r)?;
    let q = renormalize(DQuat::from_mat3(&r))?;
    let leading = [q.w, q.x, q.y, q.z].into_iter().find(|c| *c != 0.0).unwrap_or(1.0);
    Ok(if leading < 0.0 { -q } else { q })
}

/// Angle in [0, π], radians, of the rotation that leads from `a` to `b`, the shorter way.
#[inline]
#[must_use]
pub fn rotation_angle(a: DQuat, b: DQuat) -> f64 {
    let between = a.conjugate() * b;
    2.0 * ops::atan2(between.xyz().length(), between.w.abs())
}

/// True if `a` and `b` are the same rotation to within `tolerance` radians; q and −q are.
#[inline]
#[must_use]
pub fn same_rotation(a: DQuat, b: DQuat, tolerance: f64) -> bool {
    rotation_angle(a, b) <= tolerance
}

#[cfg(test)]
mod tests;
