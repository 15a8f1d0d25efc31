//! Errors of rotations that are good up to half a turn, and angles that are unwrapped.
//!
//! # Reference
//!
//! Cline (2002), 4.4.1, with the three angles replaced by rotation vectors; Barenbrug (2000), 4.1.8, without its false roots.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | φ | rotation vector of b seen from a, in a's axes | rad |
//! | `z_a`, `z_b` | the two z axes; c is `z_b` in a's axes | - |
//! | s | swing: rotation vector of the smallest rotation from `z_a` to `z_b` | rad |
//! | θ | twist: angle of the rest, about `z_a` | rad |
//! | ω | angular velocity of b against a | rad/s |
//!
//! # Formula
//!
//! ```text
//! log:    φ̇ = (1 − ½ φ̃ + k φ̃²) ω,   k = (1 − ½|φ| cot ½|φ|) / |φ|²
//! swing:  s = z_a × z_b · α/sin α, two components;   α = angle(z_a, z_b);   ċ = ω × c
//! twist:  θ = 2 atan2(Q_z, Q_w);   θ̇ = ω·(z_a + z_b) / (1 + z_a·z_b)
//! ```
//!
//! # Cost
//!
//! One arc tangent each, and a cotangent for the logarithm.
//!
//! # Numerics
//!
//! A Newton step on any of them meets a single joint in one step, however far off, because along their own direction they grow as the angle
//! does. Near zero series are used.
//!
//! # Failure
//!
//! At half a turn the direction of the error is not unique: x of a is taken. The twist is not defined where the swing is half a turn: the
//! angle of before is kept.
//!
//! # Tested by
//!
//! `rotation_errors_have_these_rates`, `angles_go_on_for_turns`, `rotations_by_nearly_half_a_turn_are_finite`

use super::write::Placed;
use sim_math::{
    glam::{DMat3, DVec3},
    ops,
    rotation::quat_log,
};
use std::f64::consts::{PI, TAU};

/// Rotation vector of `b` seen from `a`, in the axes of `a`; column i is how component i feels `b` turn (world axes).
pub(super) fn log(a: &Placed, b: &Placed) -> (DVec3, DMat3) {
    let phi = quat_log(a.rotation.conjugate() * b.rotation);
    let square = phi.length_squared();
    let k = if square < 1e-3 {
        1.0 / 12.0 + square / 720.0 * (1.0 + square / 42.0 * (1.0 + square / 40.0))
    } else {
        let half = 0.5 * square.sqrt();
        let (sine, cosine) = ops::sin_cos(half);
        (1.0 - half * cosine / sine) / square
    };
    // Column i of the transposed inverse Jacobian, eᵢ + ½ φ × eᵢ + k φ × (φ × eᵢ), in the world.
    let column = |e: DVec3| {
        let across = phi.cross(e);
        a.axes * (e + across * 0.5 + phi.cross(across) * k)
    };
    (phi, DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z)))
}

/// Swing of z of `b` away from z of `a` as two components along x and y of `a`, and how they feel `b` turn (world axes).
pub(super) fn swing(a: &Placed, b: &Placed) -> ([f64; 2], [DVec3; 2]) {
    let c = a.axes.transpose() * b.axes.z_axis;
    let square = c.x * c.x + c.y * c.y;
    let sine = square.sqrt();
    if sine < 1e-12 && c.z < 0.0 {
        return ([PI, 0.0], [a.axes.x_axis, a.axes.y_axis]);
    }
    let angle = ops::atan2(sine, c.z);
    // α/sin α, and minus its derivative by cos α.
    let (factor, slope) = if angle < 1e-2 {
        let t = angle * angle;
        (
            1.0 + t / 6.0 * (1.0 + t * (7.0 / 60.0) * (1.0 + t * (31.0 / 294.0))),
            1.0 / 3.0 + t * (2.0 / 15.0 + t * (2.0 / 63.0 + t * (13.0 / 1890.0))),
        )
    } else {
        (angle / sine, (sine - angle * c.z) / (square * sine))
    };
    // s = factor (−c_y, c_x); the rate of a function f of c is ω·(c × ∂f/∂c).
    let x = c.cross(DVec3::new(0.0, -factor, c.y * slope));
    let y = c.cross(DVec3::new(factor, 0.0, -c.x * slope));
    ([-c.y * factor, c.x * factor], [a.axes * x, a.axes * y])
}

/// Angle of `b` about z, unwrapped to the turn that is nearest to `memory`, which is replaced by it; and how it feels `b` turn.
pub(super) fn twist(a: &Placed, b: &Placed, memory: &mut f64) -> (f64, DVec3) {
    let q = a.rotation.conjugate() * b.rotation;
    let (za, zb) = (a.axes.z_axis, b.axes.z_axis);
    // (1 + z_a·z_b)/2, without cancellation.
    let square = q.z * q.z + q.w * q.w;
    if square < 1e-24 {
        return (*memory, za);
    }
    *memory = unwrap(2.0 * ops::atan2(q.z, q.w), *memory);
    (*memory, (za + zb) / (2.0 * square))
}

/// The angle that differs from `angle` by whole turns and is nearest to `before`.
pub(super) fn unwrap(angle: f64, before: f64) -> f64 {
    let turns = ((before - angle) / TAU).round();
    if turns.is_finite() { angle + turns * TAU } else { angle }
}
