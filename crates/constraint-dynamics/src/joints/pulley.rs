//! A rope over pulleys without friction: the polygon through many points keeps its length, or gets no longer.
//!
//! # Reference
//!
//! Barenbrug (2000), 4.1.12 (multibar, multirope), with the signs of its forces repaired.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | pₖ | points | m |
//! | dₖ, eₖ | p_{k+1} − pₖ and its direction | m, - |
//! | l | length | m |
//!
//! # Formula
//!
//! ```text
//! bar     x = Σ |dₖ| − l         hold
//! rope    x = l − Σ |dₖ| ≥ 0
//! rates   (Σ |dₖ|)˙ = Σ (e_{k−1} − eₖ)·ṗₖ,  with e of no segment = 0
//! ```
//!
//! # Cost
//!
//! One row; a side for each body.
//!
//! # Numerics
//!
//! Inner points slide along the rope. A body may have several points: they add up in one side.
//!
//! # Failure
//!
//! A segment without length has no direction and adds nothing.
//!
//! # Tested by
//!
//! `rates_of_pulleys`, `atwoods_machine`, `a_block_and_tackle`

use super::{
    RowLaw,
    write::{Started, Writer},
};
use sim_math::glam::DVec3;
use sim_traits::joint::JointAnchor;

pub(super) fn bar(points: &[JointAnchor], length: f64, out: &mut Writer<'_>) {
    let block = out.start();
    let sum = add(points, 1.0, block, out);
    out.hold(block, 1, DVec3::new(sum - length, 0.0, 0.0));
}

pub(super) fn rope(points: &[JointAnchor], length: f64, restitution: f64, out: &mut Writer<'_>) {
    if out.values_only {
        return;
    }
    let block = out.start();
    let sum = add(points, -1.0, block, out);
    out.finish(block, &[RowLaw::Limit { restitution }], DVec3::new(length - sum, 0.0, 0.0), DVec3::ZERO);
}

/// Adds the rate of the length, times a sign, and gives the length.
fn add(points: &[JointAnchor], sign: f64, block: Started, out: &mut Writer<'_>) -> f64 {
    let mut sum = 0.0;
    for pair in points.windows(2) {
        let (a, b) = (out.place(&pair[0]), out.place(&pair[1]));
        let d = b.origin - a.origin;
        let length = d.length();
        sum += length;
        if length > 0.0 {
            out.force(block, 0, &a, a.origin, d * (-sign / length));
            out.force(block, 0, &b, b.origin, d * (sign / length));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::{JointRows, rows, testkit};
    use sim_math::{Pose, glam::DVec3};
    use sim_traits::joint::{JointAnchor, JointKind, JointModel};

    fn at(body: u32, x: f64, y: f64, z: f64) -> JointAnchor {
        JointAnchor::new(body, Pose::from_translation(DVec3::new(x, y, z)))
    }

    #[test]
    fn rates_of_pulleys() {
        let points = [
            at(0, 0.1, 0.0, 0.2),
            at(1, 0.0, 0.3, 0.0),
            at(JointAnchor::WORLD, 0.0, 0.0, 4.0),
            at(1, 0.3, 0.0, 0.1),
            at(2, 0.0, 0.0, 0.0),
        ];
        testkit::check_rates_of(&JointModel::new(JointKind::MultiBar { length: 2.0 }, points), 3);
        testkit::check_rates_of(
            &JointModel::new(JointKind::MultiRope { length: 2.0, restitution: 0.0 }, points),
            3,
        );
    }

    /// Forces of the rope on two bodies on a vertical line each, from W = Σ f²/m and u̇ = Σ f·g.
    fn accelerations(points: &[JointAnchor], masses: [f64; 2], poses: [Pose; 2]) -> [f64; 2] {
        let g = 9.81;
        let mut out = JointRows::default();
        rows(
            &JointModel::new(JointKind::MultiBar { length: 1.0 }, points.to_vec()),
            &poses,
            &mut [],
            &mut out,
        );
        let sides = out.sides_of(&out.blocks[0]);
        let force = |body: u32| sides.iter().find(|s| s.body == body).unwrap().forces.x_axis;
        let f = [force(0), force(1)];
        let w = f[0].length_squared() / masses[0] + f[1].length_squared() / masses[1];
        let tension = (f[0].z + f[1].z) * g / w;
        [0, 1].map(|k| f[k].z * tension / masses[k] - g)
    }

    // proves: DYN-73
    #[test]
    fn atwoods_machine() {
        let world = JointAnchor::WORLD;
        let points =
            [at(0, 0.0, 0.0, 0.0), at(world, 0.0, 0.0, 0.0), at(world, 1.0, 0.0, 0.0), at(1, 0.0, 0.0, 0.0)];
        let poses = [DVec3::new(0.0, 0.0, -2.0), DVec3::new(1.0, 0.0, -3.0)].map(Pose::from_translation);
        let (m1, m2) = (3.0, 2.0);
        let a = accelerations(&points, [m1, m2], poses);
        let expected = 9.81 * (m1 - m2) / (m1 + m2);
        assert!((a[0] + expected).abs() < 1e-14 && (a[1] - expected).abs() < 1e-14, "{a:?}");
    }

    // proves: DYN-73
    #[test]
    fn a_block_and_tackle() {
        // The rope ends at the ceiling, goes round a loose pulley (body 0) and over a fixed one to body 1: 2 to 1.
        let world = JointAnchor::WORLD;
        let points = [
            at(world, 0.0, 0.0, 0.0),
            at(0, 0.0, 0.0, 0.0),
            at(world, 0.0, 0.0, 0.0),
            at(world, 1.0, 0.0, 0.0),
            at(1, 0.0, 0.0, 0.0),
        ];
        let poses = [DVec3::new(0.0, 0.0, -2.0), DVec3::new(1.0, 0.0, -3.0)].map(Pose::from_translation);
        let (m1, m2) = (3.0, 2.0);
        let a = accelerations(&points, [m1, m2], poses);
        // 2 a₁ = −a₂:  m₁ a₁ = 2 T − m₁ g,  m₂ a₂ = T − m₂ g.
        let expected = 9.81 * (2.0 * m2 - m1) / (m1 + 4.0 * m2);
        assert!((a[0] - expected).abs() < 1e-14 && (a[1] + 2.0 * expected).abs() < 1e-14, "{a:?}");
    }
}
