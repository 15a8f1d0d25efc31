//! Nothing is free.
//!
//! # Reference
//!
//! Barenbrug (2000), 4.1.7 (connector).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `a`, `b` | the two anchors; x, y, z their axes in the world | - |
//! | p | origin of an anchor | m |
//! | r | from the centre of mass of a body to the point where the row acts | m |
//! | ω, v | angular velocity; velocity of the centre of mass | rad/s, m/s |
//! | φ | rotation vector of b seen from a | rad |
//!
//! # Formula
//!
//! ```text
//! hold    x = p_b − p_a        three rows
//! hold    φ = 0                three rows, φ̇ = (1 − ½ φ̃ + k φ̃²) ω
//! ```
//!
//! # Cost
//!
//! Six rows.
//!
//! # Numerics
//!
//! As `rotation`.
//!
//! # Failure
//!
//! As `rotation`.
//!
//! # Tested by
//!
//! `rates_of_a_weld`, `a_weld_carries_what_hangs_on_it`

use super::{
    rotation,
    write::{Placed, Writer},
};

pub(super) fn rows(a: &Placed, b: &Placed, out: &mut Writer<'_>) {
    out.hold_point(a, b);
    hold_rotation(a, b, out);
}

/// Holds all three rotations.
pub(super) fn hold_rotation(a: &Placed, b: &Placed, out: &mut Writer<'_>) {
    let (phi, moments) = rotation::log(a, b);
    out.hold_angles(a, b, phi, &[moments.x_axis, moments.y_axis, moments.z_axis]);
}

#[cfg(test)]
mod tests {
    use super::super::testkit;
    use sim_math::{
        Pose,
        glam::{DMat3, DVec3},
    };
    use sim_traits::joint::JointKind;

    #[test]
    fn rates_of_a_weld() {
        testkit::check_rates(JointKind::Weld, &[]);
    }

    #[test]
    fn a_weld_carries_what_hangs_on_it() {
        let anchor = Pose::from_translation(DVec3::new(-0.5, 0.1, 0.0));
        let body = (2.0, DMat3::from_diagonal(DVec3::new(0.1, 0.2, 0.3)));
        let motion = testkit::acceleration(
            JointKind::Weld,
            &[],
            anchor,
            Pose::IDENTITY,
            body,
            DVec3::new(1.0, -2.0, 3.0),
        );
        assert!(motion.linear.length() < 1e-13 && motion.angular.length() < 1e-13);
    }
}
