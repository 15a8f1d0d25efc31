//! Shapes of one size and the ways in which they lie on each other.

use collision_narrowphase::{
    Polyhedron, default_chain,
    shapes::{Ellipsoid, Frustum, Rounded},
};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{Capsule, Cuboid, Cylinder, NarrowPhase, PairCache, Shape, Sphere};
use std::sync::Arc;

/// Poses on the way of a pair, which goes there and back.
pub(crate) const POSES: usize = 256;

/// Names of the shapes.
pub(crate) const SHAPES: [&str; 11] = [
    "box",
    "ball",
    "capsule",
    "cylinder",
    "cone",
    "frustum",
    "ellipsoid",
    "rounded",
    "hull10",
    "hull30",
    "hull50",
];

/// How a pair meets: the name, and the gap in metres (shapes are about a metre across).
pub(crate) const STATES: [(&str, f64); 5] =
    [("resting", -1e-4), ("lying", -1e-4), ("tumbling", -1e-4), ("touching", 0.0), ("apart", 1e-3)];

/// The shape of a name.
pub(crate) fn shape(name: &str) -> Option<Shape> {
    let half = DVec3::new(0.45, 0.4, 0.35);
    Some(match name {
        "box" => Cuboid::new(half).ok()?.into(),
        "ball" => Sphere::new(0.5).ok()?.into(),
        "capsule" => Capsule::new(0.3, 0.3).ok()?.into(),
        "cylinder" => Cylinder::new(0.4, 0.4).ok()?.into(),
        "cone" => Frustum::cone(0.5, 0.4).ok()?.into(),
        "frustum" => Frustum::new(0.5, 0.3, 0.4).ok()?.into(),
        "ellipsoid" => Ellipsoid::new(DVec3::new(0.5, 0.4, 0.3)).ok()?.into(),
        "rounded" => Rounded::new(Arc::new(Polyhedron::cuboid(half - 0.05).ok()?), 0.05).ok()?.into(),
        "hull10" => Polyhedron::random(10, 1).ok()?.into(),
        "hull30" => Polyhedron::random(30, 2).ok()?.into(),
        "hull50" => Polyhedron::random(50, 3).ok()?.into(),
        _ => return None,
    })
}

/// Poses of B in A's frame along a slow motion, each at the gap asked for.
pub(crate) fn poses(a: &Shape, b: &Shape, state: &str, gap: f64) -> Vec<Pose> {
    let mut random = SplitMix64(7);
    let (first, spin, side) = (random.unit_quat(), random.unit_vec3(), random.unit_vec3());
    let chain = default_chain();
    let mut cache = PairCache::default();
    let at = |k: usize| {
        let t = k as f64;
        let turn = DQuat::from_rotation_z(0.3 + 0.01 * t);
        let tilt = DQuat::from_rotation_x(1e-3 * sim_math::ops::sin(0.1 * t));
        let (orientation, from, shift) = match state {
            "resting" => (turn * tilt, DVec3::Z, DVec3::new(0.1 - 1e-3 * t, 0.05, 0.0)),
            "lying" => {
                let on_side = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
                (turn * tilt * on_side, DVec3::Z, DVec3::new(0.1 - 1e-3 * t, 0.05, 0.0))
            }
            _ => {
                let from = DQuat::from_rotation_z(0.01 * t) * side;
                (DQuat::from_axis_angle(spin, 0.01 * t) * first, from, DVec3::ZERO)
            }
        };
        (orientation.normalize(), from, shift)
    };
    let mut height = 2.5;
    let mut place = |k: usize| {
        let (orientation, from, shift) = at(k);
        // The gap changes with the height as the normal leans.
        for _ in 0..8 {
            let pose = Pose::new(shift + height * from, orientation);
            let Ok(found) = chain.separation(a, b, &pose, &mut cache) else { break };
            let rate = (-found.normal.dot(from)).max(0.2);
            height += (gap - found.distance) / rate;
            if (gap - found.distance).abs() < 1e-12 {
                break;
            }
        }
        Pose::new(shift + height * from, orientation)
    };
    let there: Vec<Pose> = (0..POSES / 2).map(&mut place).collect();
    there.iter().chain(there.iter().rev()).copied().collect()
}
