//! A point that stays on a surface.
//!
//! # Reference
//!
//! Barenbrug (2000), 4.1.4 (point-to-surface).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | q, n | closest point of the surface to `p_b`, its normal | m, - |
//!
//! # Formula
//!
//! ```text
//! hold       x = n·(p_b − q)                        a distance with a sign
//! friction   two rows across n
//! rates      ẋ = n·(velocity of p_b − velocity of the point of a at p_b)     q moves across n, and ṅ is across p_b − q
//! ```
//!
//! # Cost
//!
//! One row, two with friction.
//!
//! # Numerics
//!
//! Exact at any error, as long as the closest point is unique.
//!
//! # Failure
//!
//! Where the surface has no closest point nothing is held.
//!
//! # Tested by
//!
//! `rates_of_a_point_on_a_surface`, `on_a_ball_as_on_a_rod`

use super::{
    RowLaw,
    write::{Placed, Writer},
};
use sim_math::{glam::DVec3, rotation::frame_across};
use sim_traits::joint::JointSurface;

pub(super) fn rows(a: &Placed, b: &Placed, patch: &JointSurface, friction: f64, out: &mut Writer<'_>) {
    let surface = patch.get();
    let p = a.local(b.origin);
    let Ok(near) = surface.closest(p) else { return };
    let n = surface.normal(near.u, near.v);
    if out.values_only {
        return;
    }
    let block = out.start();
    out.shift(block, 0, a, b, b.origin, a.axes * n);
    out.hold(block, 1, DVec3::new(n.dot(p - near.point), 0.0, 0.0));
    if let (true, Ok(frame)) = (friction > 0.0, frame_across(n)) {
        let block = out.start();
        for (row, t) in [frame.x_axis, frame.y_axis].into_iter().enumerate() {
            out.shift(block, row, a, b, b.origin, a.axes * t);
        }
        out.finish(block, &[RowLaw::Friction { most: friction }; 2], DVec3::ZERO, DVec3::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{JointRows, rows, testkit};
    use sim_math::{Pose, glam::DVec3};
    use sim_traits::joint::{JointAnchor, JointKind, JointModel, JointPatch, JointSurface};

    fn on(patch: JointPatch) -> JointKind {
        JointKind::Surface { surface: JointSurface::new(patch).unwrap(), friction: 0.0 }
    }

    #[test]
    fn rates_of_a_point_on_a_surface() {
        let frame = Pose::from_translation(DVec3::new(0.3, 0.2, -1.7));
        testkit::check_rates(
            on(JointPatch::Plane { origin: DVec3::Y, normal: DVec3::new(1.0, 2.0, 3.0) }),
            &[],
        );
        testkit::check_rates(on(JointPatch::Ellipsoid { frame, radii: DVec3::new(1.5, 2.0, 1.8) }), &[]);
    }

    #[test]
    fn on_a_ball_as_on_a_rod() {
        let both = [
            on(JointPatch::Ellipsoid { frame: Pose::IDENTITY, radii: DVec3::splat(0.7) }),
            JointKind::Distance { length: 0.7 },
        ];
        let pose = [Pose::from_translation(DVec3::new(0.3, 0.5, -0.6))];
        let [a, b] = both.map(|kind| {
            let anchors = [
                JointAnchor::world(Pose::IDENTITY),
                JointAnchor::new(0, Pose::from_translation(DVec3::X * 0.1)),
            ];
            let mut out = JointRows::default();
            rows(&JointModel::new(kind, anchors), &pose, &mut [], &mut out);
            out
        });
        assert!((a.blocks[0].position - b.blocks[0].position).length() < 1e-14);
        assert!((a.sides[0].forces.x_axis - b.sides[0].forces.x_axis).length() < 1e-14);
        assert!((a.sides[0].moments.x_axis - b.sides[0].moments.x_axis).length() < 1e-14);
    }
}
