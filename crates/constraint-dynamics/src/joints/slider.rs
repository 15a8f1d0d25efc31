//! Shifts along one axis and does not turn.
//!
//! # Reference
//!
//! Barenbrug (2000), 4.1.9 (prism).
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
//! | d | shift | m |
//!
//! # Formula
//!
//! ```text
//! hold    φ = 0                                                three rows
//! hold    x_a·(p_b − p_a), y_a·(p_b − p_a)                     two rows
//! free    d = z_a·(p_b − p_a)
//! rates   ẋ = x_a·(velocity of b − velocity of a, both at p_b): r_a goes from the centre of a to p_b
//! ```
//!
//! # Cost
//!
//! Five rows.
//!
//! # Numerics
//!
//! Exact at any error: the axes turn with a, which the arm to `p_b` accounts for.
//!
//! # Failure
//!
//! As `rotation`.
//!
//! # Tested by
//!
//! `rates_of_a_slider`, `what_slides_on_an_incline_falls_with_g_sin`

use super::{
    axis, weld,
    write::{Placed, Writer},
};

pub(super) fn rows(a: &Placed, b: &Placed, out: &mut Writer<'_>) {
    weld::hold_rotation(a, b, out);
    out.hold_along(a, b, &[a.axes.x_axis, a.axes.y_axis]);
    axis::shift(out, 0, a, b, a.axes.z_axis);
}

#[cfg(test)]
mod tests {
    use super::super::testkit;
    use sim_math::{
        Pose,
        glam::{DMat3, DVec3},
        ops,
    };
    use sim_traits::joint::{JointAxis, JointKind};

    #[test]
    fn rates_of_a_slider() {
        testkit::check_rates(JointKind::Slider, &[testkit::busy_axis()]);
    }

    // proves: DYN-69
    #[test]
    fn what_slides_on_an_incline_falls_with_g_sin() {
        // z is the axis: gravity is inclined instead.
        let (m, g, slope) = (3.0, 9.81, 0.4);
        let gravity = DVec3::new(0.0, ops::cos(slope), ops::sin(slope)) * (m * g);
        let anchor = Pose::from_translation(DVec3::new(0.1, -0.2, 0.3));
        let pose = Pose::from_translation(DVec3::new(-0.1, 0.2, 1.3));
        let inertia = DMat3::from_diagonal(DVec3::new(0.1, 0.2, 0.3));
        let motion = testkit::acceleration(
            JointKind::Slider,
            &[JointAxis::default()],
            anchor,
            pose,
            (m, inertia),
            gravity,
        );
        assert!((motion.linear - DVec3::Z * (g * ops::sin(slope))).length() < 1e-12);
        assert!(motion.angular.length() < 1e-12);
    }
}
