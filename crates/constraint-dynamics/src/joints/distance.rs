//! Two points at a distance: a bar; or at most at a distance: a rope.
//!
//! # Reference
//!
//! Barenbrug (2000), 4.1.11, in metres instead of square metres.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `a`, `b` | the two anchors; x, y, z their axes in the world | - |
//! | p | origin of an anchor | m |
//! | r | from the centre of mass of a body to the point where the row acts | m |
//! | ω, v | angular velocity; velocity of the centre of mass | rad/s, m/s |
//! | d | `p_b` − `p_a` | m |
//! | l | length | m |
//!
//! # Formula
//!
//! ```text
//! bar     x = |d| − l        hold
//! rope    x = l − |d| ≥ 0
//! rates   |d|˙ = e·(velocity of p_b − velocity of p_a),  e = d/|d|
//! ```
//!
//! # Cost
//!
//! One row.
//!
//! # Numerics
//!
//! Exact at any error.
//!
//! # Failure
//!
//! For points in one place the direction is z of a.
//!
//! # Tested by
//!
//! `rates_of_bars_and_ropes`, `the_tension_of_a_pendulum`

use super::{
    RowLaw,
    write::{Placed, Started, Writer},
};
use sim_math::glam::DVec3;

pub(super) fn bar(a: &Placed, b: &Placed, length: f64, out: &mut Writer<'_>) {
    let block = out.start();
    let d = add(a, b, 1.0, block, out);
    out.hold(block, 1, DVec3::new(d - length, 0.0, 0.0));
}

pub(super) fn rope(a: &Placed, b: &Placed, length: f64, restitution: f64, out: &mut Writer<'_>) {
    if out.values_only {
        return;
    }
    let block = out.start();
    let d = add(a, b, -1.0, block, out);
    out.finish(block, &[RowLaw::Limit { restitution }], DVec3::new(length - d, 0.0, 0.0), DVec3::ZERO);
}

/// Adds the rate of the distance, times a sign, and gives the distance.
fn add(a: &Placed, b: &Placed, sign: f64, block: Started, out: &mut Writer<'_>) -> f64 {
    let d = b.origin - a.origin;
    let length = d.length();
    let e = if length > 0.0 { d / length } else { a.axes.z_axis } * sign;
    out.force(block, 0, a, a.origin, -e);
    out.force(block, 0, b, b.origin, e);
    length
}

#[cfg(test)]
mod tests {
    use super::super::testkit;
    use sim_math::{
        Pose,
        glam::{DMat3, DVec3},
        ops,
    };
    use sim_traits::joint::JointKind;

    #[test]
    fn rates_of_bars_and_ropes() {
        testkit::check_rates(JointKind::Distance { length: 0.7 }, &[]);
        testkit::check_rates(JointKind::Rope { length: 0.7, restitution: 0.5 }, &[]);
    }

    /// A pendulum at rest at the angle ψ: the rod takes m g cos ψ, and g sin ψ is left.
    #[test]
    fn the_tension_of_a_pendulum() {
        let (m, g, l, psi) = (1.5, 9.81, 0.7, 0.9);
        let pose = Pose::from_translation(DVec3::new(ops::sin(psi), 0.0, -ops::cos(psi)) * l);
        let body = (m, DMat3::IDENTITY);
        let force = DVec3::new(0.0, 0.0, -m * g);
        let motion =
            testkit::acceleration(JointKind::Distance { length: l }, &[], Pose::IDENTITY, pose, body, force);
        assert!((motion.linear.length() - g * ops::sin(psi)).abs() < 1e-13);
        let tension = m * (motion.linear - DVec3::new(0.0, 0.0, -g));
        assert!((tension.length() - m * g * ops::cos(psi)).abs() < 1e-13);
    }
}
