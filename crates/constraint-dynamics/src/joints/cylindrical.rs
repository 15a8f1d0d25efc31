//! Turns about one axis and shifts along it.
//!
//! # Reference
//!
//! Barenbrug (2000), 4.1.6 (cylinder joint).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `a`, `b` | the two anchors; x, y, z their axes in the world | - |
//! | p | origin of an anchor | m |
//! | r | from the centre of mass of a body to the point where the row acts | m |
//! | ω, v | angular velocity; velocity of the centre of mass | rad/s, m/s |
//!
//! # Formula
//!
//! ```text
//! hold    x_a·(p_b − p_a), y_a·(p_b − p_a);   swing s      two rows each
//! free    angle θ, shift z_a·(p_b − p_a)
//! ```
//!
//! # Cost
//!
//! Four rows.
//!
//! # Numerics
//!
//! As slider and hinge.
//!
//! # Failure
//!
//! As `rotation`.
//!
//! # Tested by
//!
//! `rates_of_a_cylindrical_joint`

use super::{
    axis, hinge, rotation,
    write::{Placed, Writer},
};

pub(super) fn rows(a: &Placed, b: &Placed, memory: &mut f64, out: &mut Writer<'_>) {
    hold(a, b, out);
    let (angle, moment) = rotation::twist(a, b, memory);
    axis::angle(out, 0, angle, a, b, moment);
    axis::shift(out, 1, a, b, a.axes.z_axis);
}

/// Holds z and origin of `b` on the z axis of `a`.
pub(super) fn hold(a: &Placed, b: &Placed, out: &mut Writer<'_>) {
    out.hold_along(a, b, &[a.axes.x_axis, a.axes.y_axis]);
    hinge::hold_swing(a, b, out);
}

#[cfg(test)]
mod tests {
    use super::super::testkit;
    use sim_traits::joint::JointKind;

    #[test]
    fn rates_of_a_cylindrical_joint() {
        testkit::check_rates(JointKind::Cylindrical, &[testkit::busy_axis(), testkit::busy_axis()]);
    }
}
