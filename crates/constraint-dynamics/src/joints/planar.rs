//! Shifts in a plane and turns about its normal.
//!
//! # Reference
//!
//! Barenbrug (2000), 4.1.10 (plane), without its false root: the normals point the same way.
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
//! hold    z_a·(p_b − p_a)                       one row
//! hold    swing s                               two rows
//! free    x_a·(p_b − p_a), y_a·(p_b − p_a), θ
//! ```
//!
//! # Cost
//!
//! Three rows.
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
//! `rates_of_a_planar_joint`

use super::{
    axis, hinge, rotation,
    write::{Placed, Writer},
};

pub(super) fn rows(a: &Placed, b: &Placed, memory: &mut f64, out: &mut Writer<'_>) {
    out.hold_along(a, b, &[a.axes.z_axis]);
    hinge::hold_swing(a, b, out);
    axis::shift(out, 0, a, b, a.axes.x_axis);
    axis::shift(out, 1, a, b, a.axes.y_axis);
    let (angle, moment) = rotation::twist(a, b, memory);
    axis::angle(out, 2, angle, a, b, moment);
}

#[cfg(test)]
mod tests {
    use super::super::testkit;
    use sim_traits::joint::JointKind;

    #[test]
    fn rates_of_a_planar_joint() {
        testkit::check_rates(JointKind::Planar, &[testkit::busy_axis(); 3]);
    }
}
