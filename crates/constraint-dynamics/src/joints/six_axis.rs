//! A joint each of whose six axes is free, locked, limited or driven.
//!
//! # Reference
//!
//! Shifts along the axes of a; rotation vectors in place of Euler's angles.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `a`, `b` | the two anchors; x, y, z their axes in the world | - |
//! | p | origin of an anchor | m |
//! | ω, v | angular velocity; velocity of the centre of mass | rad/s, m/s |
//! | φ | rotation vector of b seen from a | rad |
//! | s, θ | swing across and angle about the only axis that is free | rad |
//!
//! # Formula
//!
//! ```text
//! shifts              x_a, y_a, z_a · (p_b − p_a)
//! one rotation free   s = 0, θ about it                   as a hinge, for any number of turns
//! else                parts of φ, held, limited or free
//! ```
//!
//! # Cost
//!
//! A row for each locked axis, and what acts on the others.
//!
//! # Numerics
//!
//! With two free rotations the third part of φ is held: b swings without twist (a joint of constant velocity).
//!
//! # Failure
//!
//! As `rotation`; parts of φ jump at half a turn.
//!
//! # Tested by
//!
//! `rates_of_a_six_axis_joint`, `one_free_rotation_is_a_hinge`

use super::{
    axis, hinge, rotation, weld,
    write::{Placed, Writer},
};
use sim_math::glam::DVec3;

pub(super) fn rows(a: &Placed, b: &Placed, memory: &mut f64, out: &mut Writer<'_>) {
    let locked = |k: usize| out.axes.get(k).is_some_and(|axis| axis.locked);
    let free = [0, 1, 2].map(|k| !locked(3 + k));
    let held: Vec3 = [0, 1, 2].map(locked);
    let shifts = [a.axes.x_axis, a.axes.y_axis, a.axes.z_axis];
    hold_shifts(a, b, &shifts, held, out);
    for k in 0..3 {
        if !held[k] || out.values_only {
            axis::shift(out, k, a, b, shifts[k]);
        }
    }
    let only = match free {
        [true, false, false] => Some(0),
        [false, true, false] => Some(1),
        [false, false, true] => Some(2),
        _ => None,
    };
    if free == [false; 3] && !out.values_only {
        weld::hold_rotation(a, b, out);
        return;
    }
    if let (Some(k), false) = (only, out.values_only) {
        about(a, b, k, memory, out);
        return;
    }
    let (phi, moments) = rotation::log(a, b);
    for k in 0..3 {
        if only == Some(k) {
            about(a, b, k, memory, out);
        } else {
            // A row of `axis` holds what is locked.
            axis::angle(out, 3 + k, phi[k], a, b, moments.col(k));
        }
    }
}

type Vec3 = [bool; 3];

/// One free rotation.
fn about(a: &Placed, b: &Placed, k: usize, memory: &mut f64, out: &mut Writer<'_>) {
    let (a, b) = (a.with_z(k), b.with_z(k));
    hinge::hold_swing(&a, &b, out);
    let (angle, moment) = rotation::twist(&a, &b, memory);
    axis::angle(out, 3 + k, angle, &a, &b, moment);
}

fn hold_shifts(a: &Placed, b: &Placed, axes: &[DVec3; 3], held: Vec3, out: &mut Writer<'_>) {
    let mut chosen = [DVec3::ZERO; 3];
    let mut count = 0;
    for k in 0..3 {
        if held[k] {
            chosen[count] = axes[k];
            count += 1;
        }
    }
    if count > 0 {
        out.hold_along(a, b, &chosen[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{JointRows, RowLaw, testkit};
    use sim_math::glam::{DQuat, DVec3};
    use sim_traits::joint::{JointAxis, JointKind};

    #[test]
    fn rates_of_a_six_axis_joint() {
        for locked in 0..64_u32 {
            let axes = [0, 1, 2, 3, 4, 5].map(|k| match locked >> k & 1 {
                1 => JointAxis::locked(),
                _ => testkit::busy_axis(),
            });
            testkit::check_rates(JointKind::SixAxis, &axes);
        }
    }

    #[test]
    fn one_free_rotation_is_a_hinge() {
        let turn = |k: usize, angle: f64| DQuat::from_axis_angle([DVec3::X, DVec3::Y, DVec3::Z][k], angle);
        for k in 0..3 {
            let axes = [0, 1, 2, 3, 4, 5].map(|n| {
                if n == 3 + k { JointAxis::default().limits(-1.0, 9.0) } else { JointAxis::locked() }
            });
            let rows: JointRows = testkit::on_world(JointKind::SixAxis, &axes, turn(k, 1.3), DVec3::ZERO);
            let held = rows.blocks.iter().filter(|b| b.laws[0] == RowLaw::Hold);
            assert!(held.clone().map(|b| b.rows).sum::<u8>() == 5);
            assert!(held.clone().all(|b| b.position.length() < 1e-15));
            let limit = rows.blocks.iter().find(|b| matches!(b.laws[0], RowLaw::Limit { .. })).unwrap();
            assert!((limit.position.x - 2.3).abs() < 1e-15, "{k}");
        }
    }
}
