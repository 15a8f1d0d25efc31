//! Turns about one axis and shifts along it in proportion.
//!
//! # Reference
//!
//! Mirtich (1996), 4.2 (screw motion).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `a`, `b` | the two anchors; x, y, z their axes in the world | - |
//! | p | origin of an anchor | m |
//! | ω, v | angular velocity; velocity of the centre of mass | rad/s, m/s |
//! | h | pitch | m/rad |
//! | θ, d | angle and shift | rad, m |
//!
//! # Formula
//!
//! ```text
//! hold    as a cylindrical joint                    four rows
//! hold    x = d − h θ − phase                       one row
//! free    θ
//! ```
//!
//! # Cost
//!
//! Five rows.
//!
//! # Numerics
//!
//! The angle is unwrapped, so that a nut goes on.
//!
//! # Failure
//!
//! As `rotation`.
//!
//! # Tested by
//!
//! `rates_of_a_screw`, `a_nut_falls_along_its_thread`

use super::{
    axis, cylindrical, rotation,
    write::{Placed, Writer},
};
use sim_math::glam::DVec3;

pub(super) fn rows(a: &Placed, b: &Placed, pitch: f64, phase: f64, memory: &mut f64, out: &mut Writer<'_>) {
    cylindrical::hold(a, b, out);
    let (theta, moment) = rotation::twist(a, b, memory);
    let z = a.axes.z_axis;
    let block = out.start();
    out.shift(block, 0, a, b, b.origin, z);
    out.turn(block, 0, a, b, moment * -pitch);
    out.hold(block, 1, DVec3::new(z.dot(b.origin - a.origin) - pitch * theta - phase, 0.0, 0.0));
    axis::angle(out, 0, theta, a, b, moment);
}

#[cfg(test)]
mod tests {
    use super::super::testkit;
    use sim_math::{
        Pose,
        glam::{DMat3, DVec3},
    };
    use sim_traits::joint::{JointAxis, JointKind};

    #[test]
    fn rates_of_a_screw() {
        testkit::check_rates(JointKind::Screw { pitch: 0.2, phase: 0.1 }, &[testkit::busy_axis()]);
    }

    /// d̈ = g/(1 + J/(m h²)).
    #[test]
    fn a_nut_falls_along_its_thread() {
        let (m, j, h, g) = (0.4, 3e-3, 0.05, 9.81);
        let body = (m, DMat3::from_diagonal(DVec3::new(1e-3, 2e-3, j)));
        let motion = testkit::acceleration(
            JointKind::Screw { pitch: h, phase: 0.0 },
            &[JointAxis::default()],
            Pose::IDENTITY,
            Pose::IDENTITY,
            body,
            DVec3::Z * (m * g),
        );
        let expected = g / (1.0 + j / (m * h * h));
        assert!(
            (motion.linear.z - expected).abs() < 1e-13 && (motion.angular.z - expected / h).abs() < 1e-12
        );
    }
}
