//! Height fields: the same as a mesh of the same triangles.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]

use collision_narrowphase::{
    Polyhedron, default_chain,
    height_field::{FieldError, HeightField},
    mesh::TriMesh,
};
use sim_math::testkit::soak::{cases as soaked, random as seeded};
use sim_math::{
    Pose,
    glam::{DVec2, DVec3},
};
use sim_traits::{Capsule, Cuboid, HalfSpace, NarrowPhase, PairCache, Ray, Shape, Sphere};

fn hills() -> (HeightField, TriMesh) {
    let mut random = seeded(5);
    let heights: Vec<f64> = (0..63).map(|_| random.range(0.0, 0.6)).collect();
    let field = HeightField::new(9, 7, DVec2::new(0.5, 0.4), heights.clone(), 2.0).unwrap();
    let points: Vec<DVec3> = (0..63)
        .map(|k| DVec3::new(0.5 * f64::from(k / 7), 0.4 * f64::from(k % 7), heights[k as usize]))
        .collect();
    let mut triangles = Vec::new();
    for i in 0..8 {
        for j in 0..6 {
            let p = i * 7 + j;
            triangles.extend([[p, p + 7, p + 8], [p, p + 8, p + 1]]);
        }
    }
    (field, TriMesh::sheet(&points, &triangles).unwrap())
}

#[test]
fn rays_equal_those_of_a_mesh() {
    let (field, mesh) = hills();
    let mut random = seeded(6);
    let mut hits = 0;
    for _ in 0..soaked(100_000) {
        let mut ray = Ray {
            origin: DVec3::new(random.range(-2.0, 6.0), random.range(-2.0, 5.0), random.range(-1.0, 2.0)),
            direction: random.vec3(1.0),
            t_max: if random.below(4) == 0 { random.range(0.0, 5.0) } else { f64::INFINITY },
        };
        // Straight down, along rows and columns, through points of the grid.
        match random.below(6) {
            0 => ray.direction = DVec3::NEG_Z,
            1 => (ray.direction.x, ray.origin.x) = (0.0, 0.5 * (ray.origin.x / 0.5).round()),
            2 => ray.direction = mesh.points()[random.below(63)] - ray.origin,
            _ => {}
        }
        let (a, b) = (field.ray_cast(&ray).unwrap(), mesh.ray_cast(&ray).unwrap());
        assert_eq!(a.is_some(), b.is_some(), "{ray:?} {a:?} {b:?}");
        if let (Some(a), Some(b)) = (a, b) {
            hits += 1;
            assert!((a.t - b.t).abs() * ray.direction.length() < 1e-12, "{ray:?} {a:?} {b:?}");
        }
    }
    assert!(hits > 10_000, "{hits}");
    assert!(field.ray_cast(&Ray { origin: DVec3::ZERO, direction: DVec3::ZERO, t_max: 1.0 }).is_err());
}

#[test]
fn contacts_and_distances_equal_those_of_a_mesh() {
    let (field, mesh) = hills();
    let (field, mesh) = (Shape::from(field), Shape::from(mesh));
    let chain = default_chain();
    let shapes: [Shape; 4] = [
        Sphere::new(0.3).unwrap().into(),
        Capsule::new(0.15, 0.4).unwrap().into(),
        Cuboid::new(DVec3::new(0.4, 0.25, 0.15)).unwrap().into(),
        Polyhedron::tetrahedron(0.4).unwrap().into(),
    ];
    let mut random = seeded(7);
    let mut touching = 0;
    for _ in 0..soaked(5000) {
        let shape = &shapes[random.below(4)];
        let at = DVec3::new(random.range(-0.5, 4.5), random.range(-0.5, 3.0), random.range(0.5, 1.5));
        let pose = Pose::new(at, random.unit_quat()).inverse();
        let d = |other: &Shape| {
            chain.separation(shape, other, &pose, &mut PairCache::default()).unwrap().distance
        };
        let (x, y) = (d(&field), d(&mesh));
        if y > 0.0 {
            assert!((x - y).abs() < 1e-14, "{x} {y}");
        } else {
            touching += 1;
            assert!(x < 1e-9);
        }
        // Beside the border a sheet has contacts from below, the ground has not.
        if y > 0.0 && (0.6..3.4).contains(&at.x) && (0.6..1.8).contains(&at.y) {
            let contacts = |other: &Shape| {
                let mut out = Vec::new();
                chain.manifolds(shape, other, &pose, 0.05, &mut PairCache::default(), &mut out).unwrap();
                out
            };
            let (p, q) = (contacts(&field), contacts(&mesh));
            assert_eq!(p.len(), q.len());
            for (m, n) in p.iter().zip(&q) {
                assert!((m.normal - n.normal).length() < 1e-12 && m.points().len() == n.points().len());
            }
        }
    }
    assert!(touching > 300, "{touching}");
}

#[test]
fn the_ground_is_solid_below() {
    let (field, _) = hills();
    let mut random = seeded(8);
    for _ in 0..5000 {
        let p = DVec3::new(random.range(-1.0, 5.0), random.range(-1.0, 3.5), random.range(-3.0, 1.0));
        let up = Ray { origin: p.with_z(10.0), direction: DVec3::NEG_Z, t_max: f64::INFINITY };
        match (field.ray_cast(&up).unwrap(), field.height_at(p.truncate())) {
            (Some(hit), Some(height)) => {
                assert!((10.0 - hit.t - height).abs() < 1e-12);
                // The lowest point is somewhere in 0..0.6, and 2 m below it the ground ends.
                if p.z > -1.4 {
                    assert_eq!(field.contains(p), p.z <= height);
                } else if p.z < -2.0 {
                    assert!(!field.contains(p));
                }
            }
            (None, None) => assert!(!field.contains(p)),
            other => panic!("{p} {other:?}"),
        }
    }
    // A ball that has sunk in is pushed up.
    let chain = default_chain();
    let flat = Shape::from(HeightField::new(5, 5, DVec2::ONE, vec![0.0; 25], 10.0).unwrap());
    let ball = Shape::from(Sphere::new(0.1).unwrap());
    let deep = Pose::from_translation(DVec3::new(2.2, 2.1, -0.5)).inverse();
    let found = chain.separation(&ball, &flat, &deep, &mut PairCache::default()).unwrap();
    assert!((found.distance + 0.6).abs() < 1e-12 && (found.normal - DVec3::Z).length() < 1e-12);
    let mut out = Vec::new();
    let plane = HalfSpace::up().into();
    assert!(
        chain.manifolds(&flat, &plane, &Pose::IDENTITY, 0.0, &mut PairCache::default(), &mut out).is_err()
    );
}

#[test]
fn bad_grids_are_errors() {
    let new = |c, r, p: DVec2, h: Vec<f64>, d| HeightField::new(c, r, p, h, d).map(drop);
    assert!(new(2, 2, DVec2::ONE, vec![0.0; 4], 1.0).is_ok());
    assert_eq!(new(1, 2, DVec2::ONE, vec![0.0; 2], 1.0), Err(FieldError::BadSize { columns: 1, rows: 2 }));
    assert!(matches!(new(usize::MAX, 2, DVec2::ONE, vec![], 1.0), Err(FieldError::BadSize { .. })));
    assert_eq!(
        new(2, 2, DVec2::ONE, vec![0.0; 5], 1.0),
        Err(FieldError::WrongLength { columns: 2, rows: 2, got: 5 })
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            new(2, 2, DVec2::new(1.0, bad), vec![0.0; 4], 1.0),
            Err(FieldError::BadLength { .. })
        ));
        assert!(matches!(new(2, 2, DVec2::ONE, vec![0.0; 4], bad), Err(FieldError::BadLength { .. })));
    }
    match new(2, 2, DVec2::ONE, vec![0.0, 0.0, f64::NAN, 0.0], 1.0) {
        Err(FieldError::NonFinite { index: 2, .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_round_rim_that_sinks_into_flat_ground_is_as_deep_as_its_lowest_point() {
    use collision_narrowphase::{default_chain, height_field::HeightField, shapes::Frustum};
    use sim_math::{
        Pose,
        glam::{DVec2, DVec3},
        testkit::SplitMix64,
    };
    use sim_traits::{NarrowPhase, PairCache, Shape};
    let ground: Shape = HeightField::new(5, 5, DVec2::ONE, vec![0.0; 25], 1.0).unwrap().into();
    let cone: Shape = Frustum::cone(0.25, 0.19).unwrap().into();
    let mut random = SplitMix64(218);
    for _ in 0..200 {
        let turn = random.unit_quat();
        let lowest = (turn * cone.support(turn.inverse() * DVec3::NEG_Z).unwrap()).z;
        let depth = random.range(1e-4, 1e-2);
        let at = DVec3::new(random.range(1.0, 3.0), random.range(1.0, 3.0), -lowest - depth);
        let found = default_chain().separation(
            &cone,
            &ground,
            &Pose::new(at, turn).inverse(),
            &mut PairCache::default(),
        );
        let found = found.unwrap().distance;
        assert!((found + depth).abs() < 1e-9, "{found} instead of {}", -depth);
    }
}
