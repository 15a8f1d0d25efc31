//! Depth of smooth shapes deep inside each other, where whole rings of directions are nearly equally good, and of maps
//! that the library does not know.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]

use collision_narrowphase::{
    Polyhedron,
    gjk::gjk,
    shapes::{Ellipsoid, Frustum, Rounded},
};
use sim_math::testkit::soak::{cases as soaked, random as seeded};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    ops,
    testkit::SplitMix64,
};
use sim_traits::{Cuboid, Cylinder, PairCache, Shape, SupportMap};
use std::{any::Any, sync::Arc};

fn shape(random: &mut SplitMix64) -> Shape {
    let (r, s, h) = (random.range(0.05, 0.8), random.range(0.05, 0.8), random.range(0.1, 1.0));
    // Some nearly round.
    let s = if random.below(3) == 0 { r * (1.0 + random.range(-1e-3, 1e-3)) } else { s };
    match random.below(7) {
        0 => Frustum::new(r, s, h).unwrap().into(),
        1 => Frustum::cone(r, h).unwrap().into(),
        2 => Cylinder::new(r, h).unwrap().into(),
        3 => Ellipsoid::new(DVec3::new(r, s, h)).unwrap().into(),
        4 => Rounded::new(Arc::new(Frustum::new(r, s, h).unwrap()), 0.1).unwrap().into(),
        5 => Polyhedron::cone(r, h, 9).unwrap().into(),
        _ => Cuboid::new(DVec3::new(r, s, h)).unwrap().into(),
    }
}

fn pose(random: &mut SplitMix64) -> Pose {
    match random.below(3) {
        0 => Pose::new(random.unit_vec3() * random.range(0.0, 1.2), random.unit_quat()),
        // On one axis.
        1 => Pose::new(DVec3::Z * random.range(0.0, 1.5), DQuat::from_rotation_z(random.range(0.0, 6.3))),
        // Axes in one plane.
        _ => Pose::new(
            DVec3::new(random.range(-1.0, 1.0), 0.0, random.range(-1.0, 1.0)),
            DQuat::from_rotation_y(random.range(0.0, 6.3)),
        ),
    }
}

/// Support maps that the library does not know.
#[derive(Debug)]
enum Custom {
    /// What two balls of this radius share, with a sharp rim of the first radius.
    Lens(f64, f64),
    /// |x / a|ᵖ + |y / b|ᵖ + |z / c|ᵖ ≤ 1.
    Super(DVec3, f64),
    /// Hull of two balls on the z axis.
    Sweep([f64; 2], f64),
    /// A box and a cylinder added up: flat, ruled and sharp parts.
    Sum(DVec3, f64, f64),
}

impl SupportMap for Custom {
    fn support(&self, d: DVec3) -> DVec3 {
        let n = d.normalize_or_zero();
        match *self {
            Self::Lens(rim, radius) => {
                let up = 1.0_f64.copysign(n.z);
                let cap = radius * n - up * (radius * radius - rim * rim).sqrt() * DVec3::Z;
                if up * cap.z > 0.0 { cap } else { rim * n.with_z(0.0).normalize_or(DVec3::X) }
            }
            Self::Super(half, p) => {
                let q = p / (p - 1.0);
                let m = (half * n).abs().to_array();
                let norm = ops::powf(m.iter().map(|m| ops::powf(*m, q)).sum(), 1.0 / q);
                half * DVec3::from_array(m.map(|m| ops::powf(m / norm, q - 1.0))).copysign(n)
            }
            Self::Sweep(radii, h) => {
                let ends = [radii[0] * n - h * DVec3::Z, radii[1] * n + h * DVec3::Z];
                if n.dot(ends[0]) >= n.dot(ends[1]) { ends[0] } else { ends[1] }
            }
            Self::Sum(half, r, h) => {
                half.copysign(n) + (r * n.with_z(0.0).normalize_or_zero()).with_z(h.copysign(n.z))
            }
        }
    }
    fn bounding_radius(&self) -> f64 {
        2.0
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn name(&self) -> &'static str {
        "custom"
    }
}

fn custom(random: &mut SplitMix64, dense: &[Polyhedron]) -> Shape {
    let (r, s, h) = (random.range(0.05, 0.8), random.range(0.05, 0.8), random.range(0.1, 1.0));
    let s = if random.below(3) == 0 { r * (1.0 + random.range(-1e-3, 1e-3)) } else { s };
    let map = match random.below(5) {
        0 => Custom::Lens(r, r * (1.0 + s)),
        1 => Custom::Super(DVec3::new(r, s, h), random.range(1.2, 6.0)),
        2 => Custom::Sweep([r, s], h),
        3 => Custom::Sum(DVec3::new(r, s, h), s, r),
        _ => return dense[random.below(dense.len())].clone().into(),
    };
    Shape::Convex(Arc::new(map))
}

#[test]
fn soak_every_overlap_of_smooth_shapes_has_a_depth() {
    overlaps(61, soaked(4000), shape);
}

// Hulls with more faces than EPA has room for are among them.
#[test]
fn soak_every_overlap_of_custom_maps_has_a_depth() {
    let dense = [
        Polyhedron::icosphere(0.7, 3).unwrap(),
        Polyhedron::tube(0.5, 0.5, 200).unwrap(),
        Polyhedron::cone(0.5, 0.5, 150).unwrap(),
    ];
    overlaps(
        62,
        soaked(4000),
        |random| {
            if random.below(3) == 0 { shape(random) } else { custom(random, &dense) }
        },
    );
}

fn overlaps(seed: u64, total: u64, shape: impl Fn(&mut SplitMix64) -> Shape) {
    let mut random = seeded(seed);
    let mut overlaps = 0;
    for case in 0..total {
        let (a, b) = (shape(&mut random), shape(&mut random));
        let pose = pose(&mut random);
        let found = gjk(&a, &b, &pose, &mut PairCache::default())
            .unwrap_or_else(|error| panic!("{error} case {case} {} {} {pose:?}", brief(&a), brief(&b)));
        if found.distance >= 0.0 {
            continue;
        }
        overlaps += 1;
        // How far the shapes reach into each other along a direction: no direction may need less.
        let reach = |n: DVec3| {
            let in_b = pose.inverse_transform_vector(n);
            n.dot(pose.transform_point(b.support(in_b).unwrap()) - a.support(-n).unwrap())
        };
        let depth = -found.distance;
        let say = || format!("{found:?} case {case} {} {} {pose:?}", brief(&a), brief(&b));
        assert!((reach(found.normal) - depth).abs() < 1e-9, "{}: {}", reach(found.normal), say());
        for k in 0..60 {
            let d = if k % 3 == 0 { random.unit_vec3() } else { found.normal + random.vec3(1e-2) };
            let d = d.normalize();
            assert!(reach(d) >= depth - 1e-9, "{} along {d}: {}", reach(d), say());
        }
        let span = found.point_a - found.point_b - found.distance * found.normal;
        assert!(span.length() < 1e-9, "{}", say());
    }
    assert!(2 * overlaps > total, "{overlaps}");
}

/// All of a small shape, the first corners of a large one.
fn brief(shape: &Shape) -> String {
    format!("{shape:?}").chars().take(200).collect()
}
