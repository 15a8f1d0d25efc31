//! Turns about one axis.
//!
//! # Reference
//!
//! Cline (2002), 4.4.1; Barenbrug (2000), 4.1.5 (line hinge).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `a`, `b` | the two anchors; x, y, z their axes in the world | - |
//! | p | origin of an anchor | m |
//! | r | from the centre of mass of a body to the point where the row acts | m |
//! | ω, v | angular velocity; velocity of the centre of mass | rad/s, m/s |
//! | s, θ | swing (forbidden) and angle, see `rotation` | rad |
//!
//! # Formula
//!
//! ```text
//! hold    x = p_b − p_a          as a ball joint
//! hold    x = s                  two rows, across z
//! free    θ, about (z_a + z_b)/(1 + z_a·z_b)
//! ```
//!
//! # Cost
//!
//! Five rows.
//!
//! # Numerics
//!
//! One Newton step puts the axis right, however far off; θ goes on for turns.
//!
//! # Failure
//!
//! As `rotation`.
//!
//! # Tested by
//!
//! `rates_of_a_hinge`, `a_forbidden_angle_is_returned_with_its_sign`, `the_angle_of_a_hinge_is_unwrapped`, `a_compound_pendulum_has_its_frequency`

use super::{
    axis, rotation,
    write::{Placed, Writer},
};

pub(super) fn rows(a: &Placed, b: &Placed, memory: &mut f64, out: &mut Writer<'_>) {
    out.hold_point(a, b);
    hold_swing(a, b, out);
    let (angle, moment) = rotation::twist(a, b, memory);
    axis::angle(out, 0, angle, a, b, moment);
}

/// Holds z of `b` along z of `a`.
pub(super) fn hold_swing(a: &Placed, b: &Placed, out: &mut Writer<'_>) {
    let (s, moments) = rotation::swing(a, b);
    out.hold_angles(a, b, sim_math::glam::DVec3::new(s[0], s[1], 0.0), &moments);
}

#[cfg(test)]
mod tests {
    use super::super::{JointRows, begin, coordinates, testkit};
    use sim_math::{
        Pose,
        glam::{DMat3, DQuat, DVec3},
    };
    use sim_traits::joint::{JointAnchor, JointAxis, JointKind, JointModel};

    #[test]
    fn rates_of_a_hinge() {
        testkit::check_rates(JointKind::Hinge, &[]);
        testkit::check_rates(JointKind::Hinge, &[testkit::busy_axis()]);
    }

    // proves: CLI-69
    #[test]
    fn a_forbidden_angle_is_returned_with_its_sign() {
        for (axis, expected) in [(DVec3::X, DVec3::X), (DVec3::Y, DVec3::Y)] {
            for angle in [0.01, -0.01, 1.0, -3.0] {
                let rows = testkit::on_world(
                    JointKind::Hinge,
                    &[],
                    DQuat::from_axis_angle(axis, angle),
                    DVec3::ZERO,
                );
                assert!((rows.blocks[1].position - expected * angle).length() < 1e-14);
            }
        }
    }

    #[test]
    fn the_angle_of_a_hinge_is_unwrapped() {
        let joint = JointModel::new(
            JointKind::Hinge,
            [JointAnchor::world(Pose::IDENTITY), JointAnchor::new(0, Pose::IDENTITY)],
        );
        let mut memory = [0.0];
        begin(&joint, &[Pose::IDENTITY], &mut memory);
        for k in 0..100 {
            let angle = f64::from(k) * 0.7;
            let mut out = JointRows::default();
            coordinates(&joint, &[Pose::from_rotation(DQuat::from_rotation_z(angle))], &mut memory, &mut out);
            assert!((out.blocks[0].position.x - angle).abs() < 1e-12, "{k}");
        }
    }

    /// A bar of length l that hangs in a hinge at its end: the equation of motion from the rows, θ̈ = −(3/2) (g/l) sin θ.
    #[test]
    fn a_compound_pendulum_has_its_frequency() {
        let (m, l, g) = (2.0, 0.8, 9.81);
        for angle in [0.0, 0.3, 1.2, 2.5] {
            let rotation = DQuat::from_rotation_z(angle);
            // At angle zero the bar hangs along −y.
            let center = rotation * DVec3::new(0.0, -0.5 * l, 0.0);
            let inertia = DMat3::from_diagonal(DVec3::new(m * l * l / 12.0, 1e-4, m * l * l / 12.0));
            let axis = JointAxis::default();
            let acceleration = testkit::acceleration(
                JointKind::Hinge,
                &[axis],
                Pose::from_translation(DVec3::new(0.0, 0.5 * l, 0.0)),
                Pose::new(center, rotation),
                (m, inertia),
                DVec3::new(0.0, -m * g, 0.0),
            );
            let expected = -1.5 * g / l * sim_math::ops::sin(angle);
            assert!((acceleration.angular.z - expected).abs() < 1e-12 * g, "{angle}");
            assert!(acceleration.angular.x.abs() < 1e-12 && acceleration.angular.y.abs() < 1e-12);
        }
    }
}
