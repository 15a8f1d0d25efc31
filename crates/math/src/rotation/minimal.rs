//! The smallest rotation that takes one direction to another, and frames that follow a direction by it.
//!
//! # Reference
//! Barenbrug 2000, 4.1.3, with the unit length of a × b restored in its re-basing formula.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `a`, `b` | old and new unit direction |
//! | `k` | unit axis, a × b / |a × b| where that has a direction |
//!
//! # Formula
//! ```text
//! a·b ≥ 0:  q = (a × b | 1 + a·b) / |…|
//! a·b < 0:  q = minimal(−a → b) ⊗ (k | 0)        a half turn about k ⟂ a, then the small rest
//! in vectors:  R x = (x·a) b + (x·k) k + (x·(a × k)) (b × k)
//! ```
//! # Cost
//! One or two square roots; no transcendental function.
//!
//! # Numerics
//! q a = b to a few ε for every pair, opposite ones included: the usual single formula divides by 1 + a·b and
//! loses half the digits there. Opposite directions have no unique smallest rotation; the half turn is then
//! about the first axis of the frame that follows.
//!
//! # Failure
//! [`MathError::NotUnit`] for a direction whose squared length is off by more than 1e-8;
//! [`MathError::NotRotation`] for a frame that is not one.
//!
//! # Tested by
//! `minimal_rotation_hits_its_target_with_the_smallest_angle`, `rebasing_equals_the_vector_formula`,
//! `frame_stays_orthonormal_over_a_million_rebasings`.

use super::{check_rotation, check_unit, frame_from_normal};
use crate::MathError;
use glam::{DMat3, DQuat, DVec3};

/// The rotation with the smallest angle that takes the unit vector `a` to the unit vector `b`.
///
/// For opposite vectors it is half a turn about an axis that depends on `a` alone.
///
/// # Errors
/// [`MathError::NotUnit`].
#[inline]
pub fn minimal_rotation(a: DVec3, b: DVec3) -> Result<DQuat, MathError> {
    check_unit("first direction", a)?;
    check_unit("second direction", b)?;
    if a.dot(b) >= 0.0 {
        return Ok(acute(a, b));
    }
    Ok(obtuse(a, b, frame_from_normal(a)?.x_axis))
}

/// The right-handed frame whose last column is `new_axis`, turned from `frame` by the smallest rotation.
///
/// Constraint directions across a moving tangent are carried along by it without needless spin about the
/// tangent. The result is orthonormal to rounding however often it is repeated, and its last column is
/// `new_axis` bit for bit. For an axis that reverses, the frame turns about its own first column.
///
/// # Errors
/// [`MathError::NotUnit`], [`MathError::NotRotation`], [`MathError::NonFinite`].
#[inline]
pub fn rebase_frame(frame: DMat3, new_axis: DVec3) -> Result<DMat3, MathError> {
    check_rotation("frame", frame)?;
    check_unit("new axis", new_axis)?;
    let (a, b) = (frame.z_axis, new_axis);
    let q = if a.dot(b) >= 0.0 { acute(a, b) } else { obtuse(a, b, frame.x_axis) };
    let turned = q * frame.x_axis;
    // b may be off unit length by the tolerance, so divide it out of the projection.
    let x = (turned - b * (turned.dot(b) / b.length_squared())).normalize();
    let y = b.cross(x).normalize();
    Ok(DMat3::from_cols(x, y, b))
}

/// Smallest rotation for an angle up to 90 degrees.
#[inline]
fn acute(a: DVec3, b: DVec3) -> DQuat {
    DQuat::from_vec4(a.cross(b).extend(1.0 + a.dot(b))).normalize()
}

/// Smallest rotation for an angle above 90 degrees; `fallback` is a unit vector across `a`.
#[inline]
fn obtuse(a: DVec3, b: DVec3, fallback: DVec3) -> DQuat {
    let across = a.cross(b);
    let length = across.length();
    // Below 1e-12 the direction of a × b is noise in more than four of its digits.
    let k = if length > 1e-12 { across / length } else { fallback };
    let k = (k - a * (k.dot(a) / a.length_squared())).normalize();
    acute(-a, b) * DQuat::from_vec4(k.extend(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ops,
        rotation::{orthonormality_error, rotation_angle},
        testkit::{SplitMix64, UnitVec, check},
    };

    #[test]
    fn minimal_rotation_hits_its_target_with_the_smallest_angle() {
        fn property(a: UnitVec, b: UnitVec) -> bool {
            let (a, b) = (a.0, b.0);
            let q = minimal_rotation(a, b).unwrap();
            let angle = 2.0 * ops::atan2((a - b).length(), (a + b).length());
            (q * a - b).length() < 1e-15 * 4.0
                && (q.length() - 1.0).abs() < 1e-15 * 4.0
                && (rotation_angle(DQuat::IDENTITY, q) - angle).abs() < 1e-12
        }
        check(91, 50_000, property as fn(UnitVec, UnitVec) -> bool);
        // Every distance from exact reversal.
        let mut random = SplitMix64(92);
        for k in 0..2000 {
            let a = random.unit_vec3();
            let b = (random.vec3(ops::powf(10.0, -0.01 * f64::from(k))) - a).normalize();
            assert!(property(UnitVec(a), UnitVec(b)), "{a} {b}");
            assert!(property(UnitVec(a), UnitVec(-a)));
            assert!(property(UnitVec(a), UnitVec(a)));
        }
    }

    #[test]
    fn rebasing_equals_the_vector_formula() {
        let mut random = SplitMix64(93);
        for _ in 0..20_000 {
            let frame = DMat3::from_quat(random.unit_quat());
            let (a, b) = (frame.z_axis, random.unit_vec3());
            let k = a.cross(b).normalize();
            let oracle = |x: DVec3| b * x.dot(a) + k * x.dot(k) + b.cross(k) * x.dot(a.cross(k));
            let moved = rebase_frame(frame, b).unwrap();
            let digits = 1e-15 * 8.0 / a.cross(b).length();
            assert!((moved.x_axis - oracle(frame.x_axis)).length() < digits);
            assert!((moved.y_axis - oracle(frame.y_axis)).length() < digits);
            assert_eq!(moved.z_axis, b);
        }
    }

    #[test]
    fn standing_still_keeps_the_frame_and_reversal_turns_about_x() {
        let frame = DMat3::from_quat(DQuat::from_xyzw(0.1, -0.5, 0.7, 0.3).normalize());
        let still = rebase_frame(frame, frame.z_axis).unwrap();
        assert!(still.abs_diff_eq(frame, 1e-15));
        let reversed = rebase_frame(frame, -frame.z_axis).unwrap();
        let expected = DMat3::from_cols(frame.x_axis, -frame.y_axis, -frame.z_axis);
        assert!(reversed.abs_diff_eq(expected, 1e-15));
    }

    // proves: DYN-124
    #[test]
    fn frame_stays_orthonormal_over_a_million_rebasings() {
        let mut random = SplitMix64(94);
        let mut frame = frame_from_normal(DVec3::Z).unwrap();
        for step in 0..1_000_000 {
            let t = match step % 1000 {
                0 => -frame.z_axis,
                1 => random.unit_vec3(),
                _ => (frame.z_axis + random.vec3(0.1)).normalize(),
            };
            frame = rebase_frame(frame, t).unwrap();
            assert_eq!(frame.z_axis, t);
            let error = orthonormality_error(frame);
            assert!(error < 1e-15 * 4.0, "step {step}: {error:e}");
        }
        assert!((frame.determinant() - 1.0).abs() < 1e-15 * 4.0);
    }

    #[test]
    fn a_closed_tour_turns_the_frame_by_the_enclosed_solid_angle() {
        // Parallel transport around one octant (X → Y → Z → X): holonomy of a quarter turn.
        let start = DMat3::from_cols(DVec3::Y, DVec3::Z, DVec3::X);
        let mut frame = start;
        let corners = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::X];
        for leg in corners.windows(2) {
            for k in 1..=100 {
                let s = f64::from(k) / 100.0;
                frame = rebase_frame(frame, (leg[0] * (1.0 - s) + leg[1] * s).normalize()).unwrap();
            }
        }
        assert!((frame.x_axis - start.y_axis).length() < 1e-13, "{frame}");
    }

    #[test]
    fn bad_directions_and_frames_are_refused() {
        assert!(matches!(minimal_rotation(DVec3::X * 2.0, DVec3::X), Err(MathError::NotUnit { .. })));
        assert!(matches!(minimal_rotation(DVec3::X, DVec3::NAN), Err(MathError::NotUnit { .. })));
        let mirror = DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0));
        assert!(matches!(rebase_frame(mirror, DVec3::X), Err(MathError::NotRotation { .. })));
        assert!(matches!(rebase_frame(DMat3::IDENTITY * 1.1, DVec3::X), Err(MathError::NotRotation { .. })));
    }
}
