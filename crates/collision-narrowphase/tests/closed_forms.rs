//! Closed forms against searches and certificates, at hostile poses.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "tests report, and compare with std")]

mod common;

use collision_narrowphase::{
    Analytic, Polyhedron,
    gjk::gjk,
    pairs::{capsule_cuboid, cuboid_cuboid::cuboid_cuboid},
    shapes::Frustum,
};
use common::{
    hostile_pose,
    oracle::{Oracle, exceeds},
};
use sim_math::testkit::soak::{cases as soaked, random as seeded};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{Capsule, Cuboid, Cylinder, NarrowPhase, PairCache, Separation, Shape, Sphere};

/// Random direction of the segment and place of its middle, often parallel to the box, touching it or through it.
fn capsule_pose(random: &mut SplitMix64, half: DVec3, capsule: &Capsule) -> Pose {
    let small = [0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-5][random.below(6)];
    let axis = [DVec3::X, DVec3::Y, DVec3::Z][random.below(3)];
    let turn = match random.below(3) {
        0 => random.unit_quat(),
        1 => DQuat::from_rotation_arc(DVec3::Z, axis),
        _ => (DQuat::from_scaled_axis(random.vec3(small)) * DQuat::from_rotation_arc(DVec3::Z, axis))
            .normalize(),
    };
    let reach = half.max_element() + capsule.half_height() + capsule.radius();
    let place = match random.below(3) {
        0 => random.vec3(1.2 * reach),
        1 => random.vec3(1.0) * half,
        _ => {
            // A corner, an edge or a face of the box, moved out by the radius or so.
            let on = DVec3::new(
                [-1.0, 0.3, 1.0][random.below(3)],
                [-1.0, 0.3, 1.0][random.below(3)],
                [-1.0, 0.3, 1.0][random.below(3)],
            ) * half;
            let by = [0.0, small, capsule.radius(), capsule.radius() + small][random.below(4)];
            let end = [-1.0, 0.0, 1.0][random.below(3)] * capsule.half_height();
            on + by * on.signum() - turn * (end * DVec3::Z)
        }
    };
    // The box in the capsule's frame.
    Pose::new(place, turn).inverse()
}

/// Lower bound by the gap along the normal, upper bound by the witnesses, both to 1e-9 of the size.
fn certified(
    capsule: &Capsule,
    half: DVec3,
    pose: &Pose,
    found: &Separation,
    size: f64,
) -> Result<(), String> {
    let n = found.normal;
    let in_box = pose.inverse_transform_vector(n);
    let top = n.dot(pose.translation) + half.dot(in_box.abs());
    let low = -capsule.half_height() * n.z.abs() - capsule.radius();
    let gap = low - top;
    if exceeds((gap - found.distance).abs(), 1e-9 * size) {
        return Err(format!("gap along the normal {gap:e}"));
    }
    let beyond = (pose.inverse_transform_point(found.point_b).abs() - half).max_element();
    let z = found.point_a.z.clamp(-capsule.half_height(), capsule.half_height());
    let outside = (found.point_a - z * DVec3::Z).length() - capsule.radius();
    let span = (found.point_a - found.point_b - found.distance * n).length();
    if exceeds(beyond.max(outside), 1e-9 * size) || exceeds(span, 1e-12 * size) {
        return Err(format!("witnesses: {beyond:e} beyond, {outside:e} outside, span {span:e}"));
    }
    Ok(())
}

/// Distance of segment and box by ternary search of a convex function.
fn searched(capsule: &Capsule, half: DVec3, pose: &Pose) -> f64 {
    let at = |t: f64| {
        let x = pose.inverse_transform_point(t * capsule.half_height() * DVec3::Z);
        (x - x.clamp(-half, half)).length()
    };
    let (mut low, mut high) = (-1.0, 1.0);
    for _ in 0..80 {
        let (s, t) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if at(s) <= at(t) { high = t } else { low = s }
    }
    at(0.5 * (low + high)) - capsule.radius()
}

#[test]
fn soak_capsule_and_box_agree_with_search_and_certificate() {
    let mut random = seeded(41);
    let (mut apart, mut through) = (0, 0);
    let cases = soaked(100_000);
    for case in 0..cases {
        let scale = [1.0, 1e-3, 100.0][random.below(3)];
        let half =
            scale * [DVec3::ONE, DVec3::new(1.0, 0.3, 0.1), DVec3::new(1.0, 1.0, 1e-4)][random.below(3)];
        let capsule = Capsule::new(
            scale * [0.3, 1e-3, 1.0][random.below(3)],
            scale * [0.5, 2.0, 1e-3][random.below(3)],
        )
        .unwrap();
        let pose = capsule_pose(&mut random, half, &capsule);
        let found = capsule_cuboid(&capsule, &Cuboid::new(half).unwrap(), &pose);
        let size = half.length() + capsule.half_height() + capsule.radius();
        if let Err(message) = certified(&capsule, half, &pose, &found, size) {
            panic!("case {case}, {capsule:?}, box {half}, {pose:?}: {message} {found:?}");
        }
        let search = searched(&capsule, half, &pose);
        if search > -capsule.radius() + 1e-8 * size {
            apart += 1;
            assert!((search - found.distance).abs() <= 1e-9 * size, "{case}: {search:e} {found:?}");
        } else {
            through += 1;
        }
        if case % 10 == 0 {
            let shapes = (Shape::from(capsule), Shape::from(Cuboid::new(half).unwrap()));
            let other = gjk(&shapes.0, &shapes.1, &pose, &mut PairCache::default()).unwrap();
            assert!((other.distance - found.distance).abs() <= 1e-9 * size, "{case}: {other:?} {found:?}");
        }
    }
    println!("{apart} apart, {through} through");
    assert!(5 * apart > cases && 10 * through > cases);
}

#[test]
fn spheres_touch_solids_of_revolution_where_gjk_finds_it() {
    let mut random = seeded(44);
    let shapes: [Shape; 4] = [
        Cylinder::new(0.4, 0.3).unwrap().into(),
        Frustum::new(0.5, 0.2, 0.3).unwrap().into(),
        Frustum::new(0.1, 0.6, 0.1).unwrap().into(),
        Frustum::cone(0.3, 0.5).unwrap().into(),
    ];
    let mut inside = 0;
    for case in 0..soaked(3_000) {
        let ball: Shape = Sphere::new([0.2, 1e-3][random.below(2)]).unwrap().into();
        let solid = &shapes[random.below(4)];
        let mut place = random.vec3(0.9);
        if random.below(5) == 0 {
            // On the axis, or beside it by rounding.
            let beside = [0.0, 1e-17, 1e-12][random.below(3)];
            place = DVec3::new(beside, 0.0, place.z);
        }
        let turn = random.unit_quat();
        let pose = Pose::new(-(turn * place), turn);
        let found = Analytic.separation(&ball, solid, &pose, &mut PairCache::default()).unwrap();
        let other = gjk(&ball, solid, &pose, &mut PairCache::default()).unwrap();
        inside += usize::from(found.distance < -ball.bounding_radius());
        assert!((found.distance - other.distance).abs() < 1e-9, "{case} {place}: {found:?} {other:?}");
        // The solid ends at B's point, and the sphere at A's.
        let in_b = pose.inverse_transform_vector(found.normal);
        let reach = solid.support(in_b).unwrap().dot(in_b);
        assert!(
            (reach - pose.inverse_transform_point(found.point_b).dot(in_b)).abs() < 1e-12,
            "{case} {found:?}"
        );
        assert!((found.point_a + ball.bounding_radius() * found.normal).length() < 1e-15);
        let mirrored = Analytic.separation(solid, &ball, &pose.inverse(), &mut PairCache::default()).unwrap();
        assert!((mirrored.distance - found.distance).abs() < 1e-12);
    }
    assert!(inside > 100, "{inside}");
}

#[test]
fn soak_boxes_equal_the_oracle_at_hostile_poses() {
    let mut halves = vec![DVec3::new(1.0, 1e-4, 1e-4), DVec3::new(1.0, 1.0, 1e-4)];
    for size in [1.0, 1e-3, 100.0] {
        halves.extend([DVec3::ONE, DVec3::new(1.0, 0.3, 0.1), DVec3::splat(0.5)].map(|h| size * h));
    }
    let shapes: Vec<Polyhedron> = halves.iter().map(|h| Polyhedron::cuboid(*h).unwrap()).collect();
    let mut random = seeded(43);
    for case in 0..soaked(100_000) {
        let (i, j) = (random.below(shapes.len()), random.below(shapes.len()));
        let (kind, pose) = hostile_pose(&shapes[i], &shapes[j], &mut random);
        let [p, q] = [halves[i], halves[j]].map(|h| Cuboid::new(h).unwrap());
        let found = cuboid_cuboid(&p, &q, &pose).unwrap();
        if let Err(message) = Oracle::new(&shapes[i], &shapes[j], &pose).judge(&found) {
            panic!("case {case}, {kind}, boxes {i} {j}, {pose:?}: {message} {found:?}");
        }
    }
}
