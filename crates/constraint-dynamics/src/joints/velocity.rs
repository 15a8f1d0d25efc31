//! Two points that have the same velocity.
//!
//! # Reference
//!
//! Barenbrug (2000), 4.1.2 (vtv).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `a`, `b` | the two anchors; x, y, z their axes in the world | - |
//! | p | origin of an anchor | m |
//! | ω, v | angular velocity; velocity of the centre of mass | rad/s, m/s |
//!
//! # Formula
//!
//! ```text
//! hold    x = 0,  u = velocity of p_b − velocity of p_a      three rows, on velocities alone
//! ```
//!
//! # Cost
//!
//! Three rows.
//!
//! # Numerics
//!
//! What the points drift apart is not taken back: x is always zero.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `velocities_are_those_of_the_points`

use super::{
    RowLaw,
    write::{Placed, Writer},
};
use sim_math::glam::DVec3;

pub(super) fn rows(a: &Placed, b: &Placed, out: &mut Writer<'_>) {
    if out.values_only {
        return;
    }
    let block = out.start();
    for (row, axis) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
        out.force(block, row, a, a.origin, -axis);
        out.force(block, row, b, b.origin, axis);
    }
    out.finish(block, &[RowLaw::Hold; 3], DVec3::ZERO, DVec3::ZERO);
}

#[cfg(test)]
mod tests {
    use super::super::{JointRows, rows, testkit};
    use sim_math::{glam::DVec3, spatial::Motion};
    use sim_traits::joint::{JointKind, JointModel};

    #[test]
    fn velocities_are_those_of_the_points() {
        let mut random = testkit::random(11);
        for _ in 0..100 {
            let poses = [testkit::pose(&mut random), testkit::pose(&mut random)];
            let anchors = [testkit::anchor(&mut random, 0), testkit::anchor(&mut random, 1)];
            let motions = [0, 1].map(|_| Motion::new(random.vec3(1.0), random.vec3(1.0)));
            let mut out = JointRows::default();
            rows(&JointModel::new(JointKind::Velocity, anchors), &poses, &mut [], &mut out);
            let point = |k: usize| {
                let arm = poses[k].transform_vector(anchors[k].frame.translation);
                motions[k].linear + motions[k].angular.cross(arm)
            };
            let u = out.velocity(&out.blocks[0], &motions);
            assert!((u - (point(1) - point(0))).length() < 1e-14);
            assert_eq!(out.blocks[0].position, DVec3::ZERO);
        }
    }
}
