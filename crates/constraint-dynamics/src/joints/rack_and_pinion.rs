//! A rack that is shifted by a wheel.
//!
//! # Reference
//!
//! The rolling of a circle on its tangent.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | θ | angle of anchor 1 (pinion) seen from 0 | rad |
//! | d | shift of anchor 3 (rack) along z of 2 | m |
//! | w | radius of the pinion | m |
//!
//! # Formula
//!
//! ```text
//! hold    x = d − w θ − phase
//! rates   ḋ = z·(velocity of the rack − velocity of the carrier, both at the rack's anchor)
//! ```
//!
//! # Cost
//!
//! One row.
//!
//! # Numerics
//!
//! The angle is unwrapped.
//!
//! # Failure
//!
//! As `rotation`.
//!
//! # Tested by
//!
//! `rates_of_a_rack`, `a_rack_moves_with_the_rim`

use super::{
    rotation,
    write::{Placed, Writer},
};
use sim_math::glam::DVec3;

pub(super) fn rows(
    carrier: &Placed,
    pinion: &Placed,
    guide: &Placed,
    rack: &Placed,
    radius: f64,
    phase: f64,
    memory: &mut f64,
    out: &mut Writer<'_>,
) {
    let (theta, moment) = rotation::twist(carrier, pinion, memory);
    let z = guide.axes.z_axis;
    let block = out.start();
    out.turn(block, 0, carrier, pinion, moment * -radius);
    out.shift(block, 0, guide, rack, rack.origin, z);
    out.hold(block, 1, DVec3::new(z.dot(rack.origin - guide.origin) - radius * theta - phase, 0.0, 0.0));
}

#[cfg(test)]
mod tests {
    use super::super::{JointRows, rows, testkit};
    use sim_math::{
        Pose,
        glam::{DQuat, DVec3},
        spatial::Motion,
    };
    use sim_traits::joint::{JointAnchor, JointKind, JointModel};

    #[test]
    fn rates_of_a_rack() {
        let mut random = testkit::random(4);
        for carriers in [[0, 0], [0, 3], [JointAnchor::WORLD, JointAnchor::WORLD]] {
            let anchors = [carriers[0], 1, carriers[1], 2].map(|body| testkit::anchor(&mut random, body));
            testkit::check_rates_of(
                &JointModel::new(JointKind::RackAndPinion { radius: 0.3, phase: 0.1 }, anchors),
                4,
            );
        }
    }

    #[test]
    fn a_rack_moves_with_the_rim() {
        let guide = Pose::from_rotation(DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2));
        let anchors = [
            JointAnchor::world(Pose::IDENTITY),
            JointAnchor::new(0, Pose::IDENTITY),
            JointAnchor::world(guide),
            JointAnchor::new(1, guide),
        ];
        let mut out = JointRows::default();
        let joint = JointModel::new(JointKind::RackAndPinion { radius: 0.3, phase: 0.0 }, anchors);
        rows(&joint, &[Pose::IDENTITY; 2], &mut [0.0], &mut out);
        let motions = [Motion::new(DVec3::Z * 2.0, DVec3::ZERO), Motion::new(DVec3::ZERO, DVec3::X * 0.6)];
        assert!(out.velocity(&out.blocks[0], &motions).length() < 1e-15);
    }
}
