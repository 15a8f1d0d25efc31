//! Every query on every shape.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]

use collision_narrowphase::{
    Polyhedron,
    cast::{CastParams, shape_cast},
    compound::CompoundBuilder,
    contain::contains_point,
    default_chain,
    height_field::HeightField,
    intersects,
    mesh::TriMesh,
    ray::{ray_cast, ray_cast_batch},
    shapes::{Ellipsoid, Frustum, Rounded},
};
use sim_math::testkit::soak::{cases as soaked, random as seeded};
use sim_math::{
    Pose,
    glam::{DVec2, DVec3},
};
use sim_traits::{Capsule, Cuboid, Cylinder, HalfSpace, NarrowPhase, PairCache, Ray, Serial, Shape, Sphere};
use std::sync::Arc;

/// Bounded shapes, then a half-space.
fn all() -> Vec<Shape> {
    let chair = CompoundBuilder::chair(0.6, 1.0, 0.1).unwrap().build().unwrap();
    let cuboid = Polyhedron::cuboid(DVec3::new(0.3, 0.4, 0.2)).unwrap();
    vec![
        Sphere::new(0.5).unwrap().into(),
        Capsule::new(0.2, 0.4).unwrap().into(),
        Cuboid::new(DVec3::new(0.3, 0.5, 0.4)).unwrap().into(),
        Cylinder::new(0.4, 0.3).unwrap().into(),
        Frustum::new(0.5, 0.2, 0.4).unwrap().into(),
        Ellipsoid::new(DVec3::new(0.3, 0.5, 0.7)).unwrap().into(),
        Rounded::new(Arc::new(cuboid), 0.1).unwrap().into(),
        Polyhedron::random(20, 3).unwrap().into(),
        chair.into(),
        TriMesh::torus(0.6, 0.25, 14, 8).unwrap().into(),
        HeightField::new(4, 4, DVec2::splat(0.4), (0..16).map(|k| 0.1 * f64::from(k % 3)).collect(), 0.5)
            .unwrap()
            .into(),
        HalfSpace::up().into(),
    ]
}

#[test]
fn containment_agrees_with_distance() {
    let mut random = seeded(1);
    let chain = default_chain();
    let probe = Shape::from(Sphere::new(1e-6).unwrap());
    for shape in all() {
        let mut inside = 0;
        for _ in 0..soaked(1500) {
            let p = random.vec3(1.1);
            let contained = contains_point(&shape, p);
            let d = chain
                .separation(&shape, &probe, &Pose::from_translation(p), &mut PairCache::default())
                .unwrap()
                .distance
                + 1e-6;
            inside += u32::from(contained);
            // The ground of a height field has sides that a probe below does not feel.
            if d.abs() > 1e-8 && (shape.name() != "height field" || d > 0.0 || contained) {
                assert_eq!(contained, d < 0.0, "{} {p} {d}", shape.name());
            }
        }
        assert!(inside > 10, "{} {inside}", shape.name());
        assert!(!contains_point(&shape, DVec3::NAN));
    }
}

#[test]
fn rays_enter_where_points_begin_to_be_inside() {
    let mut random = seeded(2);
    for shape in all() {
        let (mut hits, mut rays, mut single) = (0, Vec::new(), Vec::new());
        for _ in 0..soaked(1500) {
            let origin = random.vec3(2.0);
            let target = random.vec3(0.5);
            let ray = Ray {
                origin,
                direction: target - origin,
                t_max: if random.below(3) == 0 { 0.7 } else { 2.0 },
            };
            let found = ray_cast(&shape, &ray).unwrap();
            rays.push(ray);
            single.push(found);
            let at = |t: f64| origin + t * ray.direction;
            let end = found.map_or(ray.t_max, |h| h.t);
            for k in 0..20 {
                // Nothing inside before the hit (a shade before: the surface is found to 1e-10).
                let t = (end - 1e-6) * f64::from(k) / 20.0;
                if t > 0.0 && end > 0.0 && shape.name() != "height field" {
                    assert!(!contains_point(&shape, at(t)), "{} {ray:?} {found:?} {t}", shape.name());
                }
            }
            if let Some(hit) = found {
                hits += 1;
                assert!((hit.normal.length() - 1.0).abs() < 1e-9);
                assert!(hit.normal.dot(ray.direction) <= 1e-9, "{} {hit:?}", shape.name());
                assert_eq!(hit.t == 0.0, contains_point(&shape, origin), "{} {ray:?}", shape.name());
            }
        }
        assert!(hits > 100, "{} {hits}", shape.name());
        let mut batch = vec![None; rays.len()];
        ray_cast_batch(&shape, &rays, &mut batch, &Serial).unwrap();
        assert_eq!(batch, single);
        assert!(ray_cast_batch(&shape, &rays, &mut batch[1..], &Serial).is_err());
    }
}

#[test]
fn intersection_distance_contact_and_cast_agree_on_all_pairs() {
    let mut random = seeded(3);
    let chain = default_chain();
    let shapes = all();
    let params = CastParams::until(1.0);
    let mut counted = [0_u32; 2];
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            for _ in 0..soaked(6) {
                let pose = Pose::new(random.unit_vec3() * random.range(0.3, 2.2), random.unit_quat());
                let mut cache = PairCache::default();
                let Ok(found) = chain.separation(a, b, &pose, &mut cache) else {
                    // Surfaces against each other, and the half-space against itself.
                    assert!(i >= 9 && j >= 9, "{} {}", a.name(), b.name());
                    assert!(intersects(a, b, &pose).is_err());
                    continue;
                };
                assert!((found.point_a - found.point_b - found.distance * found.normal).length() < 1e-8);
                if found.distance.abs() > 1e-7 {
                    let touch = intersects(a, b, &pose).unwrap();
                    assert_eq!(touch, found.distance < 0.0, "{} {} {found:?}", a.name(), b.name());
                    counted[usize::from(touch)] += 1;
                }
                let mut out = Vec::new();
                if chain.manifolds(a, b, &pose, 0.0, &mut cache, &mut out).is_ok()
                    && found.distance.abs() > 1e-7
                {
                    assert_eq!(out.is_empty(), found.distance > 0.0, "{} {} {found:?}", a.name(), b.name());
                }
                // Moving B along the normal by less than the distance meets nothing.
                if found.distance > 0.01 {
                    let go = |way: f64| {
                        shape_cast(b, &pose, way * found.normal, a, &Pose::IDENTITY, &params).unwrap()
                    };
                    assert!(go(0.99 * found.distance - 1e-5).is_none(), "{} {}", a.name(), b.name());
                    let hit = go(1.01 * found.distance + 1e-5).unwrap();
                    assert!(hit.time > 0.9 && hit.converged, "{} {} {hit:?}", a.name(), b.name());
                }
            }
        }
    }
    assert!(counted.iter().all(|c| *c > 100), "{counted:?}");
}

#[test]
fn a_rounded_box_lies_on_four_contacts() {
    let chain = default_chain();
    let core = Polyhedron::cuboid(DVec3::new(0.3, 0.4, 0.2)).unwrap();
    let rounded = Shape::from(Rounded::new(Arc::new(core), 0.1).unwrap());
    let floors: [Shape; 2] = [HalfSpace::up().into(), TriMesh::terrain(10, 0.3, |_, _| 0.0).unwrap().into()];
    for floor in floors {
        let pose = Pose::from_translation(DVec3::new(0.02, 0.05, 0.299)).inverse();
        let mut out = Vec::new();
        chain.manifolds(&rounded, &floor, &pose, 0.01, &mut PairCache::default(), &mut out).unwrap();
        assert_eq!((out.len(), out[0].points().len()), (1, 4), "{}", floor.name());
        for p in out[0].points() {
            assert!((p.separation + 0.001).abs() < 1e-9);
            assert!((p.point_a.abs() - DVec3::new(0.3, 0.4, 0.3)).length() < 1e-9, "{}", p.point_a);
        }
    }
}
