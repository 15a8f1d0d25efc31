//! Questions to a world, each against brute force over all colliders.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use collision_broadphase::{BruteForce, CoherentHash, DynamicTree};
use collision_narrowphase::{Polyhedron, default_chain, ray::ray_cast};
use sim_math::{Pose, glam::DVec3, testkit::SplitMix64};
use sim_traits::{
    BroadPhase, Capsule, ColliderId, Cuboid, Cylinder, HalfSpace, NarrowPhase, PairCache, Ray, Shape, Sphere,
};
use sim_world::{Body, Collider, ColliderBuilder, Groups, QueryError, QueryFilter, QueryIndex, World};
use std::sync::Arc;

fn shape(random: &mut SplitMix64) -> Shape {
    let size = |random: &mut SplitMix64| random.range(0.1, 0.8);
    match random.below(5) {
        0 => Sphere::new(size(random)).unwrap().into(),
        1 => Capsule::new(size(random), size(random)).unwrap().into(),
        2 => Cuboid::new(DVec3::new(size(random), size(random), size(random))).unwrap().into(),
        3 => Cylinder::new(size(random), size(random)).unwrap().into(),
        _ => Shape::Convex(Arc::new(Polyhedron::dodecahedron(size(random)).unwrap())),
    }
}

/// Thirty bodies of one to three shapes, some sensors, some in other groups, and a floor.
fn world(random: &mut SplitMix64) -> World {
    let mut world = World::new(DVec3::ZERO).unwrap();
    world.add(Body::fixed().shape(HalfSpace::up()).at([0.0, 0.0, -4.0])).unwrap();
    for _ in 0..30 {
        let mut body = if random.below(4) == 0 { Body::fixed() } else { Body::free() };
        for k in 0..1 + random.below(3) {
            let mut part = ColliderBuilder::new(shape(random))
                .at(Pose::new(random.vec3(0.5), random.unit_quat()))
                .groups(Groups { member: 1 << random.below(3), mask: u32::MAX });
            if k > 0 && random.below(3) == 0 {
                part = part.sensor();
            }
            body = body.collider(part);
        }
        world.add(body.pose(Pose::new(random.vec3(4.0), random.unit_quat()))).unwrap();
    }
    world
}

fn filter(random: &mut SplitMix64, world: &World) -> QueryFilter {
    let mask = [u32::MAX, 1, 2, 6][random.below(4)];
    let bodies: Vec<_> = world.bodies().map(|(id, _)| id).collect();
    QueryFilter {
        groups: Groups { member: u32::MAX, mask },
        sensors: random.below(2) == 0,
        except: (random.below(2) == 0).then(|| bodies[random.below(bodies.len())]),
    }
}

/// The colliders that a question is about, said again in other words.
fn admitted<'a>(world: &'a World, filter: &QueryFilter) -> Vec<(ColliderId, &'a Collider, Pose)> {
    world
        .colliders()
        .filter(|(_, c)| filter.sensors || !c.is_sensor())
        .filter(|(_, c)| filter.groups.mask & c.groups().member != 0)
        .filter(|(_, c)| filter.except.is_none_or(|e| e != c.body()))
        .map(|(id, c)| (id, c, *world[c.body()].state().pose() * c.extent().body_from_shape))
        .collect()
}

fn indices(world: &World) -> Vec<QueryIndex> {
    let phases: Vec<Box<dyn BroadPhase>> = vec![
        Box::new(BruteForce::default()),
        Box::new(DynamicTree::default()),
        Box::new(CoherentHash::default()),
    ];
    let mut all: Vec<_> = phases.into_iter().map(QueryIndex::new).collect();
    all.iter_mut().for_each(|index| index.refresh(world).unwrap());
    all
}

#[test]
fn ray_casts_agree_with_brute_force() {
    let (mut random, mut hits, narrow) = (SplitMix64(1), 0, default_chain());
    for _ in 0..20 {
        let world = world(&mut random);
        let indices = indices(&world);
        for _ in 0..100 {
            let t_max = [f64::INFINITY, random.range(0.0, 5.0)][random.below(2)];
            let direction = random.unit_vec3() * random.range(0.1, 3.0);
            let ray = Ray { origin: random.vec3(6.0), direction, t_max };
            let filter = filter(&mut random, &world);
            let mut expected: Vec<(f64, ColliderId)> = Vec::new();
            for (id, collider, pose) in admitted(&world, &filter) {
                let local = Ray {
                    origin: pose.inverse_transform_point(ray.origin),
                    direction: pose.inverse_transform_vector(ray.direction),
                    t_max,
                };
                expected.extend(ray_cast(collider.shape(), &local).unwrap().map(|h| (h.t, id)));
            }
            expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.index().cmp(&b.1.index())));
            for index in &indices {
                let mut all = Vec::new();
                index.ray_all(&world, &ray, &filter, &mut all).unwrap();
                assert_eq!(all.iter().map(|h| (h.t, h.collider)).collect::<Vec<_>>(), expected);
                let first = index.ray_first(&world, &ray, &filter).unwrap();
                assert_eq!(first, all.first().copied());
            }
            // The point lies on the surface, by a distance that knows nothing of rays.
            if let Some(first) = indices[0].ray_first(&world, &ray, &filter).unwrap().filter(|h| h.t > 0.0) {
                hits += 1;
                let (_, collider, pose) =
                    admitted(&world, &filter).into_iter().find(|(id, ..)| *id == first.collider).unwrap();
                let probe = Sphere::new(0.01).unwrap().into();
                let outside = Pose::from_translation(first.point + first.normal * 0.01);
                let a_from_b = outside.inverse_mul(&pose);
                let gap = narrow.separation(&probe, collider.shape(), &a_from_b, &mut PairCache::default());
                assert!(gap.unwrap().distance.abs() < 1e-8, "{first:?}");
            }
        }
    }
    assert!(hits > 500, "{hits}");
}

#[test]
fn overlaps_and_closest_bodies_agree_with_brute_force() {
    let (mut random, narrow) = (SplitMix64(2), default_chain());
    let (mut overlapping, mut apart) = (0, 0);
    for _ in 0..20 {
        let world = world(&mut random);
        let indices = indices(&world);
        for _ in 0..30 {
            let (probe, pose) = (shape(&mut random), Pose::new(random.vec3(8.0), random.unit_quat()));
            let filter = filter(&mut random, &world);
            let max = [f64::INFINITY, random.range(0.0, 3.0)][random.below(2)];
            let mut distances: Vec<(f64, ColliderId)> = Vec::new();
            for (id, collider, placed) in admitted(&world, &filter) {
                let a_from_b = pose.inverse_mul(&placed);
                let found = narrow.separation(&probe, collider.shape(), &a_from_b, &mut PairCache::default());
                distances.push((found.unwrap().distance, id));
            }
            let expected: Vec<_> = distances.iter().filter(|d| d.0 <= 0.0).map(|d| d.1).collect();
            let nearest = distances
                .iter()
                .filter(|d| d.0 <= max)
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.index().cmp(&b.1.index())));
            for index in &indices {
                let mut touched = Vec::new();
                index.overlaps(&world, &narrow, &probe, &pose, &filter, &mut touched).unwrap();
                assert_eq!(touched, expected);
                let closest = index.closest(&world, &narrow, &probe, &pose, max, &filter).unwrap();
                assert_eq!(closest.map(|c| (c.distance, c.collider)), nearest.copied());
            }
            overlapping += usize::from(!expected.is_empty());
            apart += usize::from(nearest.is_some_and(|n| n.0 > 0.0));
        }
    }
    assert!(overlapping > 50 && apart > 50, "{overlapping} {apart}");
}

#[test]
fn the_body_closest_to_a_point_is_that_of_the_closed_form() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let mut random = SplitMix64(3);
    let balls: Vec<_> = (0..40)
        .map(|_| {
            let (at, radius) = (random.vec3(10.0), random.range(0.1, 0.5));
            (world.add(Body::free().shape(Sphere::new(radius).unwrap()).at(at)).unwrap(), at, radius)
        })
        .collect();
    let narrow = default_chain();
    for index in &indices(&world) {
        for _ in 0..200 {
            let point = random.vec3(12.0);
            let distance = |ball: &(_, DVec3, f64)| (ball.1 - point).length() - ball.2;
            let nearest = balls.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
            let found = index
                .closest_to_point(&world, &narrow, point, f64::INFINITY, &QueryFilter::default())
                .unwrap()
                .unwrap();
            assert_eq!(found.body, nearest.0);
            assert!((found.distance - distance(nearest)).abs() < 1e-12);
            let surface = nearest.1 + (point - nearest.1).normalize() * nearest.2;
            assert!((found.point - surface).length() < 1e-9);
            let near = index.closest_to_point(&world, &narrow, point, 0.1, &QueryFilter::default()).unwrap();
            assert_eq!(near.is_some(), distance(nearest) <= 0.1);
        }
    }
}

#[test]
fn an_index_follows_its_world_and_says_when_it_does_not() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let ball = Body::free().shape(Sphere::new(0.5).unwrap());
    let a = world.add(ball.clone().at([3.0, 0.0, 0.0])).unwrap();
    let mut index = QueryIndex::new(DynamicTree::default());
    let ray = Ray { origin: DVec3::ZERO, direction: DVec3::X, t_max: f64::INFINITY };
    let first = |index: &QueryIndex, world: &World| index.ray_first(world, &ray, &QueryFilter::default());
    assert!(matches!(first(&index, &world), Err(QueryError::Stale { .. })));
    index.refresh(&world).unwrap();
    assert_eq!(first(&index, &world).unwrap().unwrap().t.to_bits(), 2.5_f64.to_bits());
    world.teleport(a, Pose::from_translation(DVec3::X * 5.0)).unwrap();
    assert!(matches!(first(&index, &world), Err(QueryError::Stale { .. })));
    index.refresh(&world).unwrap();
    assert_eq!(first(&index, &world).unwrap().unwrap().t.to_bits(), 4.5_f64.to_bits());
    // Its slot gets a tenant of another kind.
    world.remove(a).unwrap();
    let b = world.add(Body::fixed().shape(Sphere::new(1.0).unwrap()).at([9.0, 0.0, 0.0])).unwrap();
    index.refresh(&world).unwrap();
    let hit = first(&index, &world).unwrap().unwrap();
    assert_eq!((hit.body, hit.t), (b, 8.0));
    world.remove(b).unwrap();
    index.refresh(&world).unwrap();
    assert_eq!(first(&index, &world).unwrap(), None);
}

#[test]
fn bad_questions_are_errors() {
    let world = World::new(DVec3::ZERO).unwrap();
    let mut index = QueryIndex::new(DynamicTree::default());
    index.refresh(&world).unwrap();
    let filter = QueryFilter::default();
    for ray in [
        Ray { origin: DVec3::NAN, direction: DVec3::X, t_max: 1.0 },
        Ray { origin: DVec3::ZERO, direction: DVec3::ZERO, t_max: 1.0 },
        Ray { origin: DVec3::ZERO, direction: DVec3::X, t_max: -1.0 },
    ] {
        assert!(matches!(index.ray_first(&world, &ray, &filter), Err(QueryError::Ray(_))), "{ray:?}");
    }
    let narrow = default_chain();
    let nowhere = DVec3::splat(f64::INFINITY);
    assert!(index.closest_to_point(&world, &narrow, nowhere, 1.0, &filter).is_err());
    assert!(index.closest_to_point(&world, &narrow, DVec3::ZERO, f64::NAN, &filter).is_err());
    assert_eq!(index.closest_to_point(&world, &narrow, DVec3::ZERO, f64::INFINITY, &filter).unwrap(), None);
}
