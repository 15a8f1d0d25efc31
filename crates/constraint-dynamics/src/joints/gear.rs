//! Two wheels whose angles keep a ratio, on one carrier or two, which may move.
//!
//! # Reference
//!
//! Willis's equation of planetary gears.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | θ₁ | angle of anchor 1 seen from 0 | rad |
//! | θ₂ | angle of anchor 3 seen from 2 | rad |
//! | ι | ratio | - |
//!
//! # Formula
//!
//! ```text
//! hold    x = θ₁ − ι θ₂ − phase
//! rates   θ̇ₖ as in `rotation`; a carrier that both wheels share feels both
//! ```
//!
//! # Cost
//!
//! One row; up to four sides.
//!
//! # Numerics
//!
//! The angles are unwrapped: the ratio holds for any number of turns.
//!
//! # Failure
//!
//! As `rotation`.
//!
//! # Tested by
//!
//! `rates_of_gears`, `a_planetary_gear_obeys_willis`

use super::{
    rotation,
    write::{Placed, Writer},
};
use sim_math::glam::DVec3;

pub(super) fn rows(
    carrier: &Placed,
    wheel: &Placed,
    second_carrier: &Placed,
    second: &Placed,
    ratio: f64,
    phase: f64,
    memory: &mut [f64],
    out: &mut Writer<'_>,
) {
    let (theta1, moment1) = rotation::twist(carrier, wheel, &mut memory[0]);
    let (theta2, moment2) = rotation::twist(second_carrier, second, &mut memory[1]);
    let block = out.start();
    out.turn(block, 0, carrier, wheel, moment1);
    out.turn(block, 0, second_carrier, second, moment2 * -ratio);
    out.hold(block, 1, DVec3::new(theta1 - ratio * theta2 - phase, 0.0, 0.0));
}

#[cfg(test)]
mod tests {
    use super::super::{JointRows, rows, testkit};
    use sim_math::{Pose, glam::DVec3, spatial::Motion};
    use sim_traits::joint::{JointAnchor, JointKind, JointModel};

    #[test]
    fn rates_of_gears() {
        let mut random = testkit::random(3);
        for carriers in [[0, 0], [0, 3], [JointAnchor::WORLD, JointAnchor::WORLD]] {
            let anchors = [carriers[0], 1, carriers[1], 2].map(|body| testkit::anchor(&mut random, body));
            testkit::check_rates_of(
                &JointModel::new(JointKind::Gear { ratio: -1.7, phase: 0.3 }, anchors),
                4,
            );
        }
    }

    /// Of speeds seen from the carrier, sun over ring is minus teeth of the ring over teeth of the sun.
    #[test]
    fn a_planetary_gear_obeys_willis() {
        let at = |body| JointAnchor::new(body, Pose::IDENTITY);
        let gear = JointModel::new(
            JointKind::Gear { ratio: -60.0 / 24.0, phase: 0.0 },
            [at(0), at(1), at(0), at(2)],
        );
        let mut out = JointRows::default();
        rows(&gear, &[Pose::IDENTITY; 3], &mut [0.0; 2], &mut out);
        let spin = |w: f64| Motion::new(DVec3::Z * w, DVec3::ZERO);
        // The ring stands still: the sun turns 1 + 60/24 times as fast as the carrier.
        let u = out.velocity(&out.blocks[0], &[spin(2.0), spin(2.0 * 3.5), spin(0.0)]);
        assert!(u.length() < 1e-14, "{u}");
        assert_eq!(out.sides_of(&out.blocks[0]).len(), 3);
    }
}
