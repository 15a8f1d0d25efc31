//! Does not turn, goes anywhere.
//!
//! # Reference
//!
//! Barenbrug (2000), 4.1.8, with the rotation vector in place of three dot products.
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
//! hold    φ = 0                                        three rows
//! free    x_a, y_a, z_a · (p_b − p_a)
//! ```
//!
//! # Cost
//!
//! Three rows.
//!
//! # Numerics
//!
//! One root, not four.
//!
//! # Failure
//!
//! As `rotation`.
//!
//! # Tested by
//!
//! `rates_of_an_orientation`

use super::{
    axis, weld,
    write::{Placed, Writer},
};

pub(super) fn rows(a: &Placed, b: &Placed, out: &mut Writer<'_>) {
    weld::hold_rotation(a, b, out);
    for (k, axis) in [a.axes.x_axis, a.axes.y_axis, a.axes.z_axis].into_iter().enumerate() {
        axis::shift(out, k, a, b, axis);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testkit;
    use sim_traits::joint::JointKind;

    #[test]
    fn rates_of_an_orientation() {
        testkit::check_rates(JointKind::Orientation, &[testkit::busy_axis(); 3]);
    }
}
