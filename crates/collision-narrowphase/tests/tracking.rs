//! Voronoi regions, contact tracking, and what closest features say about a pair.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "tests report, and compare with std")]

use collision_narrowphase::{
    Polyhedron, VClip,
    tracking::{in_region, track},
    vclip::vclip,
};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    rotation::frame_from_normal,
    testkit::SplitMix64,
};
use sim_traits::{FeatureId, NarrowPhase, PairCache, Shape};

fn features(p: &Polyhedron) -> Vec<FeatureId> {
    let count = |n: usize| 0..n as u32;
    let vertices = count(p.vertices().len()).map(FeatureId::vertex);
    let edges = count(p.edges().len()).map(FeatureId::edge);
    vertices.chain(edges).chain(count(p.faces().len()).map(FeatureId::face)).collect()
}

fn distance_to(p: &Polyhedron, feature: FeatureId, x: DVec3) -> f64 {
    match feature.dimension() {
        Some(0) => (x - p.position(feature.index())).length(),
        Some(1) => {
            let [t, h] = p.segment(feature.index());
            let s = ((x - t).dot(h - t) / (h - t).length_squared()).clamp(0.0, 1.0);
            (x - t.lerp(h, s)).length()
        }
        _ => {
            let inside = p.sides(feature.index()).iter().all(|s| s.plane.height(x) <= 0.0);
            if inside { p.faces()[feature.index() as usize].height(x).abs() } else { f64::INFINITY }
        }
    }
}

// proves: FON-34
#[test]
fn voronoi_regions_tile_the_outside_and_name_the_nearest_feature() {
    let mut random = SplitMix64(7);
    for p in [Polyhedron::random(20, 1).unwrap(), Polyhedron::dodecahedron(1.0).unwrap()] {
        let all = features(&p);
        for _ in 0..2000 {
            let x = random.vec3(2.0);
            if p.contains(x) {
                continue;
            }
            let nearest = all.iter().map(|f| distance_to(&p, *f, x)).fold(f64::INFINITY, f64::min);
            let above =
                |f: &&FeatureId| f.dimension() != Some(2) || p.faces()[f.index() as usize].height(x) > 0.0;
            let mine: Vec<FeatureId> =
                all.iter().filter(above).filter(|f| in_region(&p, **f, x, 1e-12)).copied().collect();
            assert!(!mine.is_empty());
            for f in mine {
                assert!((distance_to(&p, f, x) - nearest).abs() < 1e-10);
            }
        }
    }
}

// proves: FON-42
#[test]
fn a_cube_on_a_floor_keeps_its_four_contacts_until_one_leaves_the_border() {
    let floor = Polyhedron::cuboid(DVec3::new(1.0, 1.0, 0.1)).unwrap();
    let cube = Polyhedron::cuboid(DVec3::splat(0.2)).unwrap();
    let bottom: Vec<u32> = (0..8).filter(|v| cube.position(*v).z < 0.0).collect();
    let valid = |x: f64, tilt: f64| {
        let pose = Pose::new(DVec3::new(x, 0.0, 0.301 + tilt), DQuat::from_rotation_y(tilt));
        bottom
            .iter()
            .filter(|v| {
                let t = track(&floor, &cube, &pose, [FeatureId::face(5), FeatureId::vertex(**v)]).unwrap();
                assert_eq!(t.normal, DVec3::NEG_Z);
                let gap = t.contact.point_a - t.contact.point_b - t.contact.separation * t.normal;
                assert!(gap.length() < 1e-15);
                t.valid
            })
            .count()
    };
    assert_eq!(valid(0.0, 0.0), 4);
    assert_eq!(valid(0.5, 0.0), 4);
    assert_eq!(valid(0.9, 0.0), 2);
    assert_eq!(valid(1.3, 0.0), 0);
    // A small tilt keeps all four; tipped over, the bottom corners on the far side are no contacts any more.
    assert_eq!(valid(0.0, 1e-10), 4);
    assert_eq!(valid(0.0, 0.3), 2);
}

// proves: FON-43, MIR-17, MIR-18, FON-15
#[test]
fn normals_and_features_are_consistent_for_every_kind_of_contact() {
    let cube = Polyhedron::cuboid(DVec3::ONE).unwrap();
    let tip = Polyhedron::cone(1.0, 1.0, 6).unwrap();
    for d in [1.0, 1e-3, 1e-6, 1e-9] {
        // Vertex over face: the face's normal.
        let over = Pose::new(DVec3::new(0.1, 0.2, 2.0 + d), DQuat::from_rotation_x(std::f64::consts::PI));
        let found = vclip(&cube, &tip, &over, &mut PairCache::default()).unwrap();
        assert!((found.separation.normal - DVec3::NEG_Z).length() < 1e-14);
        assert!((found.separation.distance - d).abs() < 1e-14);
        assert_eq!(found.features[0], FeatureId::face(5));
        assert_eq!(found.features[1].dimension(), Some(0));
        // Crossed edges: the common normal of both. B stands on an edge, turned about the vertical.
        let on_edge = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
        let q = DQuat::from_rotation_z(0.5) * on_edge;
        let roof =
            Polyhedron::hull(&cube.vertices().iter().map(|v| on_edge * v.position).collect::<Vec<_>>());
        let roof = roof.unwrap();
        let above = Pose::new(DVec3::new(0.1, 0.05, 2.0 * 2.0_f64.sqrt() + d), q);
        let found = vclip(&roof, &cube, &above, &mut PairCache::default()).unwrap();
        assert!(found.features.iter().all(|f| f.dimension() == Some(1)), "{found:?}");
        let u1 = roof.edges()[found.features[0].index() as usize].direction;
        let u2 = above.transform_vector(cube.edges()[found.features[1].index() as usize].direction);
        assert!((u1.cross(u2).normalize().dot(found.separation.normal).abs() - 1.0).abs() < 1e-14);
        assert!((found.separation.distance - d).abs() < 1e-14);
        // Corner to corner along the diagonal.
        let diagonal = DVec3::ONE.normalize();
        let corner = Pose::from_translation(DVec3::splat(2.0) + d * diagonal);
        let found = vclip(&cube, &cube, &corner, &mut PairCache::default()).unwrap();
        assert!((found.separation.distance - d).abs() < 1e-14);
        assert!((found.separation.normal + diagonal).length() < 1e-5_f64.max(1e-15 / d));
        // Features hold the points.
        let on = |p: &Polyhedron, f: FeatureId, x: DVec3| distance_to(p, f, x) < 1e-12;
        assert!(on(&cube, found.features[0], found.separation.point_a));
        assert!(on(&cube, found.features[1], corner.inverse_transform_point(found.separation.point_b)));
        // Contact within ε if and only if d < ε.
        for epsilon in [0.5 * d, 2.0 * d] {
            let mut out = Vec::new();
            let shape = Shape::from(cube.clone());
            VClip.manifolds(&shape, &shape, &corner, epsilon, &mut PairCache::default(), &mut out).unwrap();
            assert_eq!(out.is_empty(), epsilon < d);
        }
    }
}

// proves: FON-45
#[test]
fn results_do_not_depend_on_a_common_motion() {
    let mut random = SplitMix64(9);
    let (a, b) = (Polyhedron::random(20, 1).unwrap(), Polyhedron::dodecahedron(0.5).unwrap());
    for _ in 0..2000 {
        let (pose_a, pose_b) = (
            Pose::new(random.vec3(2.0), random.unit_quat()),
            Pose::new(random.vec3(2.0), random.unit_quat()),
        );
        let common = Pose::new(random.vec3(5.0), random.unit_quat());
        let one = vclip(&a, &b, &pose_a.inverse_mul(&pose_b), &mut PairCache::default()).unwrap();
        let moved = (common * pose_a).inverse_mul(&(common * pose_b));
        let two = vclip(&a, &b, &moved, &mut PairCache::default()).unwrap();
        assert!((one.separation.distance - two.separation.distance).abs() < 1e-13);
        assert!((one.separation.point_a - two.separation.point_a).length() < 1e-6);
    }
}

// proves: ARN-33
#[test]
fn relative_velocity_in_the_contact_frame_has_the_right_sign_and_turns_with_the_tangents() {
    let mut random = SplitMix64(17);
    let (a, b) = (Polyhedron::cuboid(DVec3::splat(0.5)).unwrap(), Polyhedron::dodecahedron(0.5).unwrap());
    for _ in 0..500 {
        let a_from_b = Pose::new(random.unit_vec3() * 1.6, random.unit_quat());
        let found = vclip(&a, &b, &a_from_b, &mut PairCache::default()).unwrap().separation;
        if found.distance <= 0.0 {
            continue;
        }
        // Two bodies in A's axes with velocity and spin about their own origins.
        let (va, wa, vb, wb) = (random.vec3(1.0), random.vec3(1.0), random.vec3(1.0), random.vec3(1.0));
        let u = va + wa.cross(found.point_a) - vb - wb.cross(found.point_b - a_from_b.translation);
        let contact_from_a = frame_from_normal(found.normal).unwrap().transpose();
        let seen = contact_from_a * u;
        assert!((seen.z - found.normal.dot(u)).abs() < 1e-14);
        // Other tangents: the same normal part, the tangential part turned.
        let turn = DQuat::from_rotation_z(random.range(0.0, 6.0));
        let other = turn * seen;
        assert!((other.z - seen.z).abs() < 1e-14);
        assert!((other.truncate().length() - seen.truncate().length()).abs() < 1e-13);
        // Moving A against the normal approaches: v_z < 0, and the distance falls at that rate.
        let step = 1e-6;
        let nearer = Pose::new(a_from_b.translation + step * found.normal, a_from_b.rotation);
        let after = vclip(&a, &b, &nearer, &mut PairCache::default()).unwrap().separation;
        assert!((contact_from_a * -found.normal).z < 0.0);
        assert!((found.distance - after.distance - step).abs() < 1e-9 * 100.0);
    }
}
