//! Contact manifolds: patches, reduction, stable names.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "tests report, and compare with std")]

use collision_narrowphase::{
    Analytic, BruteForce, Gjk, LinCanny, Polyhedron, VClip, default_chain,
    pairs::{cuboid_cuboid::cuboid_cuboid_manifold, half_space_manifold},
    shapes::{Ellipsoid, Frustum},
};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    testkit::SplitMix64,
};
use sim_traits::{
    Capsule, Cuboid, Cylinder, FeatureId, HalfSpace, Manifold, NarrowPhase, PairCache, Shape, Sphere,
};

fn manifold(narrow: &dyn NarrowPhase, a: &Shape, b: &Shape, pose: &Pose, margin: f64) -> Manifold {
    let mut out = Vec::new();
    narrow.manifolds(a, b, pose, margin, &mut PairCache::default(), &mut out).unwrap();
    assert!(out.len() <= 1);
    out.pop().unwrap_or_default()
}

fn area(m: &Manifold) -> f64 {
    // Points in cyclic order about their middle.
    let middle = m.points().iter().map(|p| p.point_a).sum::<DVec3>() / m.points().len() as f64;
    let (x, y) = m.normal.any_orthonormal_pair();
    let mut flat: Vec<(f64, f64)> =
        m.points().iter().map(|p| p.point_a - middle).map(|d| (d.dot(x), d.dot(y))).collect();
    flat.sort_by(|p, q| p.1.atan2(p.0).total_cmp(&q.1.atan2(q.0)));
    let n = flat.len();
    (0..n).map(|k| flat[k].0 * flat[(k + 1) % n].1 - flat[k].1 * flat[(k + 1) % n].0).sum::<f64>() * 0.5
}

// proves: CLI-76, CLI-77, ARN-31
#[test]
fn a_box_on_a_box_has_four_points_that_span_the_patch() {
    let half = DVec3::new(0.5, 0.4, 0.3);
    let (cuboid, ground) =
        (Shape::from(Cuboid::new(half).unwrap()), Shape::from(Cuboid::new(DVec3::ONE).unwrap()));
    let (poly, base) = (
        Shape::from(Polyhedron::cuboid(half).unwrap()),
        Shape::from(Polyhedron::cuboid(DVec3::ONE).unwrap()),
    );
    for gap in [0.01, 0.0, -0.02] {
        for yaw in [0.0, 0.3, 1.2] {
            let pose = Pose::new(DVec3::new(0.1, 0.2, 1.3 + gap), DQuat::from_rotation_z(yaw));
            for (narrow, a, b) in [
                (&Analytic as &dyn NarrowPhase, &ground, &cuboid),
                (&VClip, &base, &poly),
                (&BruteForce, &base, &poly),
                (&Gjk, &base, &poly),
                (&Gjk, &ground, &cuboid),
            ] {
                let m = manifold(narrow, a, b, &pose, 0.02);
                assert_eq!(m.points().len(), 4, "{narrow:?} {gap} {yaw}");
                assert!((area(&m) - 4.0 * half.x * half.y).abs() < 1e-8, "{narrow:?} {}", area(&m));
                for p in m.points() {
                    assert!((m.normal.dot(p.point_a - p.point_b) - p.separation).abs() < 1e-12);
                    assert!((p.separation - gap).abs() < 1e-9);
                }
            }
        }
    }
}

// proves: CLI-74
#[test]
fn detectors_give_equal_contact_sets() {
    let mut random = SplitMix64(3);
    let shapes: Vec<Shape> = vec![
        Polyhedron::cuboid(DVec3::new(0.5, 0.4, 0.3)).unwrap().into(),
        Polyhedron::dodecahedron(0.6).unwrap().into(),
        Polyhedron::tube(0.4, 0.4, 8).unwrap().into(),
    ];
    let mut compared = 0;
    for _ in 0..3000 {
        let (a, b) = (&shapes[random.below(3)], &shapes[random.below(3)]);
        let pose = Pose::new(random.unit_vec3() * random.range(0.6, 1.3), random.unit_quat());
        let sets = [&VClip as &dyn NarrowPhase, &BruteForce].map(|n| manifold(n, a, b, &pose, 0.05));
        assert_eq!(sets[0].points().len(), sets[1].points().len(), "{pose:?} {sets:?}");
        compared += usize::from(!sets[0].points().is_empty());
        for (p, q) in sets[0].points().iter().zip(sets[1].points()) {
            assert!((p.point_a - q.point_a).length() < 1e-7 && (p.separation - q.separation).abs() < 1e-9);
        }
        let mut out = Vec::new();
        if LinCanny.manifolds(a, b, &pose, 0.05, &mut PairCache::default(), &mut out).is_ok() {
            assert_eq!(out.first().map_or(0, |m| m.points().len()), sets[0].points().len());
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn a_ball_of_ten_thousand_facets_touches_a_plane_at_four_points_at_most() {
    let ball = Shape::from(Polyhedron::icosphere(0.5, 5).unwrap());
    let floor = HalfSpace::up();
    let mut random = SplitMix64(4);
    for _ in 0..200 {
        let up = Pose::new(DVec3::new(0.0, 0.0, 0.5001), random.unit_quat());
        let m = half_space_manifold(&ball, &floor, &up.inverse(), 0.01).unwrap();
        assert!((1..=4).contains(&m.points().len()));
    }
}

// proves: ARN-30, DYN-146
#[test]
fn lying_and_standing_shapes_touch_the_ground_as_they_should() {
    let floor = HalfSpace::up();
    let tilt = (0.3_f64 - 0.2).atan2(1.0);
    let lying = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
    let count = |shape: Shape, q: DQuat, height: f64| {
        let pose = Pose::new(DVec3::new(0.0, 0.0, height), q);
        half_space_manifold(&shape, &floor, &pose.inverse(), 1e-6).unwrap().points().len()
    };
    let frustum = || Shape::from(Frustum::new(0.3, 0.2, 0.5).unwrap());
    // On its side a frustum touches along a line: two points; the axis is tilted by the cone's angle.
    let side = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2 + tilt);
    let low = 0.25 * tilt.cos();
    assert_eq!(count(frustum(), side, low), 2);
    assert!(count(frustum(), DQuat::IDENTITY, 0.5) >= 3);
    assert_eq!(count(Cylinder::new(0.3, 0.5).unwrap().into(), lying, 0.3), 2);
    assert!(count(Cylinder::new(0.3, 0.5).unwrap().into(), DQuat::IDENTITY, 0.5) >= 3);
    assert_eq!(count(Capsule::new(0.3, 0.5).unwrap().into(), lying, 0.3), 2);
    assert_eq!(count(Capsule::new(0.3, 0.5).unwrap().into(), DQuat::IDENTITY, 0.8), 1);
    assert_eq!(count(Sphere::new(0.3).unwrap().into(), DQuat::IDENTITY, 0.3), 1);
    assert_eq!(count(Cuboid::new(DVec3::splat(0.3)).unwrap().into(), DQuat::IDENTITY, 0.3), 4);
    // An ellipsoid's lowest point and height, against the closed form √(nᵀQn) and by sampling.
    let radii = DVec3::new(0.2, 0.5, 0.3);
    let ellipsoid = Shape::from(Ellipsoid::new(radii).unwrap());
    let mut random = SplitMix64(8);
    for _ in 0..200 {
        let q = random.unit_quat();
        let n = q.conjugate() * DVec3::Z;
        let reach = (radii * n).length();
        let pose = Pose::new(DVec3::new(0.0, 0.0, reach + 0.01), q);
        let m = half_space_manifold(&ellipsoid, &floor, &pose.inverse(), 0.02).unwrap();
        assert_eq!(m.points().len(), 1);
        assert!((m.points()[0].separation - 0.01).abs() < 1e-14);
        let lowest = (0..500).map(|_| (q * (random.unit_vec3() * radii)).z).fold(f64::INFINITY, f64::min);
        assert!(lowest >= -reach - 1e-14);
    }
}

// proves: ARN-32
#[test]
fn a_plane_feature_gives_the_normal_and_crossed_edges_their_common_one() {
    let cube = Shape::from(Polyhedron::cuboid(DVec3::ONE).unwrap());
    let tetra = Shape::from(Polyhedron::tetrahedron(0.5).unwrap());
    let mut random = SplitMix64(12);
    let (mut faces, mut edges) = (0, 0);
    for _ in 0..3000 {
        let pose = Pose::new(random.unit_vec3() * random.range(1.2, 2.2), random.unit_quat());
        let mut cache = PairCache::default();
        let Ok(found) = VClip.separation(&cube, &tetra, &pose, &mut cache) else { continue };
        if found.distance <= 0.0 {
            continue;
        }
        let [fa, fb] = cache.features;
        let (Shape::Convex(a), Shape::Convex(b)) = (&cube, &tetra) else { continue };
        let a = a.as_any().downcast_ref::<Polyhedron>().unwrap();
        let b = b.as_any().downcast_ref::<Polyhedron>().unwrap();
        match (fa.dimension(), fb.dimension()) {
            (Some(2), _) => {
                faces += 1;
                assert!((found.normal + a.faces()[fa.index() as usize].normal).length() < 1e-13);
            }
            (_, Some(2)) => {
                faces += 1;
                let n = pose.transform_vector(b.faces()[fb.index() as usize].normal);
                assert!((found.normal - n).length() < 1e-13);
            }
            (Some(1), Some(1)) => {
                edges += 1;
                let u = a.edges()[fa.index() as usize].direction;
                let v = pose.transform_vector(b.edges()[fb.index() as usize].direction);
                assert!(u.dot(found.normal).abs() < 1e-12 && v.dot(found.normal).abs() < 1e-12);
            }
            _ => {}
        }
    }
    assert!(faces > 300 && edges > 300, "{faces} {edges}");
    // Parallel edges: two contacts at the ends of their overlap, against the neighbouring face.
    let pose = Pose::new(DVec3::new(0.5, 0.0, 2.0), DQuat::IDENTITY);
    let m = manifold(&VClip, &cube, &cube, &pose, 0.01);
    assert_eq!(m.points().len(), 4);
}

#[test]
fn names_stay_while_boxes_slide_and_turn() {
    let cube = Cuboid::new(DVec3::splat(0.5)).unwrap();
    let pose =
        |k: f64| Pose::new(DVec3::new(0.1 + 1e-4 * k, 0.05, 0.999), DQuat::from_rotation_z(0.01 + 1e-4 * k));
    let names = |k: f64| {
        let m = cuboid_cuboid_manifold(&cube, &cube, &pose(k), 0.02).unwrap();
        let mut names: Vec<[FeatureId; 2]> = m.points().iter().map(|p| p.features).collect();
        names.sort_unstable();
        names
    };
    let first = names(0.0);
    assert_eq!(first.len(), 4);
    let mut unique = first.clone();
    unique.dedup();
    assert_eq!(unique.len(), 4, "names differ from each other");
    for k in 1..200 {
        assert_eq!(names(f64::from(k)), first, "step {k}");
    }
}

#[test]
fn box_manifolds_agree_with_general_ones() {
    let mut random = SplitMix64(21);
    for _ in 0..4000 {
        let half = |r: &mut SplitMix64| DVec3::new(r.range(0.1, 1.0), r.range(0.1, 1.0), r.range(0.1, 1.0));
        let (ha, hb) = (half(&mut random), half(&mut random));
        let pose = Pose::new(random.vec3(1.5), random.unit_quat());
        let (a, b) = (Shape::from(Cuboid::new(ha).unwrap()), Shape::from(Cuboid::new(hb).unwrap()));
        let (p, q) =
            (Shape::from(Polyhedron::cuboid(ha).unwrap()), Shape::from(Polyhedron::cuboid(hb).unwrap()));
        let fast = manifold(&Analytic, &a, &b, &pose, 0.1);
        let slow = manifold(&VClip, &p, &q, &pose, 0.1);
        assert_eq!(fast.points().is_empty(), slow.points().is_empty());
        if let (Some(x), Some(y)) = (fast.deepest(), slow.deepest()) {
            assert!((x.separation - y.separation).abs() < 1e-8, "{} {}", x.separation, y.separation);
        }
    }
}

#[test]
fn parallel_capsules_touch_along_a_line() {
    let capsule = Shape::from(Capsule::new(0.2, 1.0).unwrap());
    let pose = Pose::from_translation(DVec3::new(0.41, 0.0, 0.5));
    let m = manifold(&default_chain(), &capsule, &capsule, &pose, 0.02);
    assert_eq!(m.points().len(), 2);
    let mut z: Vec<f64> = m.points().iter().map(|p| p.point_a.z).collect();
    z.sort_by(f64::total_cmp);
    assert!((z[0] + 0.5).abs() < 1e-12 && (z[1] - 1.0).abs() < 1e-12, "{z:?}");
    for p in m.points() {
        assert!((p.separation - 0.01).abs() < 1e-12);
    }
    let crossed = Pose::new(DVec3::new(0.41, 0.0, 0.0), DQuat::from_rotation_x(1.0));
    assert_eq!(manifold(&default_chain(), &capsule, &capsule, &crossed, 0.02).points().len(), 1);
}
