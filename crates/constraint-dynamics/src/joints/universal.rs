//! Two axes that stay across, each fixed to one body: Cardan's joint.
//!
//! # Reference
//!
//! Cline (2002), 4.4.1, whose row lacks the factor 1/cos β.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `a`, `b` | the two anchors; x, y, z their axes in the world | - |
//! | p | origin of an anchor | m |
//! | r | from the centre of mass of a body to the point where the row acts | m |
//! | ω, v | angular velocity; velocity of the centre of mass | rad/s, m/s |
//! | β | how much the axes are less than a right angle apart | rad |
//! | α₁, α₂ | turn of b's axis about a's, and of b about its own | rad |
//!
//! # Formula
//!
//! ```text
//! hold    x = p_b − p_a                       as a ball joint
//! hold    β = atan2(z_a·z_b, |z_a × z_b|)     β̇ = ω·(z_b × z_a)/|z_a × z_b|
//! free    α₁ = angle of z_b about z_a, from x_a        in a's axes c = z_b:  α̇₁ = ω·(c × g),  g = (−c_y, c_x, 0)/(c_x² + c_y²)
//! free    α₂ = −angle of z_a about z_b, from x_b       likewise in b's axes
//! ```
//!
//! # Cost
//!
//! Four rows.
//!
//! # Numerics
//!
//! The row of β has length one.
//!
//! # Failure
//!
//! Where the axes are parallel neither angle is defined: x of a is the row, the angles keep their values.
//!
//! # Tested by
//!
//! `rates_of_a_universal_joint`, `cardan_has_his_ratio`

use super::{
    axis, rotation,
    write::{Placed, Writer},
};
use sim_math::{glam::DVec3, ops};

pub(super) fn rows(a: &Placed, b: &Placed, memory: &mut [f64], out: &mut Writer<'_>) {
    out.hold_point(a, b);
    let (za, zb) = (a.axes.z_axis, b.axes.z_axis);
    let across = zb.cross(za);
    let sine = across.length();
    let row = if sine > 1e-9 { across / sine } else { a.axes.x_axis };
    out.hold_angles(a, b, DVec3::new(ops::atan2(za.dot(zb), sine), 0.0, 0.0), &[row]);
    for (k, (own, other, sign)) in [(a, zb, 1.0), (b, za, -1.0)].into_iter().enumerate() {
        let c = own.axes.transpose() * other;
        let square = c.x * c.x + c.y * c.y;
        let (angle, moment) = if square > 1e-18 {
            memory[k] = rotation::unwrap(sign * ops::atan2(c.y, c.x), memory[k]);
            // Seen from a, z_b turns with ω; seen from b, z_a turns with −ω, and the angle counts the other way: the signs cancel.
            (memory[k], own.axes * c.cross(DVec3::new(-c.y, c.x, 0.0) / square))
        } else {
            (memory[k], own.axes.z_axis)
        };
        axis::angle(out, k, angle, a, b, moment);
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testkit, *};
    use crate::joints::{JointRows, begin, coordinates};
    use sim_math::{
        Pose,
        glam::{DMat3, DQuat},
    };
    use sim_traits::joint::{JointAnchor, JointKind, JointModel};

    #[test]
    fn rates_of_a_universal_joint() {
        testkit::check_rates(JointKind::Universal, &[testkit::busy_axis(), testkit::busy_axis()]);
    }

    /// Two shafts at an angle β: the driven one turns by cos β/(1 − sin² β cos² α) of the driving one.
    // proves: CLI-68
    #[test]
    fn cardan_has_his_ratio() {
        let beta = 0.6;
        let driven = DVec3::new(0.0, ops::sin(beta), ops::cos(beta));
        for k in 0..12 {
            let alpha = 0.1 + 0.5 * f64::from(k);
            // Arms of the cross: one on the driving shaft (along z), at angle α from x; the other across it and the driven one.
            let first = DVec3::new(ops::cos(alpha), ops::sin(alpha), 0.0);
            let second = driven.cross(first).normalize();
            let frame = |x: DVec3, z: DVec3| {
                Pose::from_rotation(DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z)))
            };
            let anchors =
                [JointAnchor::new(0, frame(second, first)), JointAnchor::new(1, frame(first, second))];
            let joint = JointModel::new(JointKind::Universal, anchors);
            let poses = [Pose::IDENTITY; 2];
            let mut memory = [0.0; 2];
            begin(&joint, &poses, &mut memory);
            let mut rows = JointRows::default();
            super::super::rows(&joint, &poses, &mut memory, &mut rows);
            let n = rows.sides_of(&rows.blocks[1])[1].moments.x_axis;
            // The held row lets the shafts turn so that n·(ω₂ driven) = n·(ω₁ z). α counts from the plane across both shafts.
            let ratio = n.dot(DVec3::Z) / n.dot(driven);
            let (s, c) = (ops::sin(beta), ops::cos(alpha));
            let expected = ops::cos(beta) / (1.0 - s * s * (1.0 - c * c));
            assert!((ratio - expected).abs() < 1e-13, "{alpha}: {ratio} {expected}");
            rows.clear();
            coordinates(&joint, &poses, &mut memory, &mut rows);
            assert!(rows.blocks.iter().all(|b| b.position.x.abs() < 1e-12));
        }
    }
}
