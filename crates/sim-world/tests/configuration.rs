//! Stacked vectors of a world against its bodies one by one.
#![allow(clippy::unwrap_used, reason = "tests")]

use sim_math::{Pose, glam::DVec3, spatial::Motion, testkit::SplitMix64};
use sim_traits::{BodyId, Cuboid, HalfSpace, Sphere};
use sim_world::{Body, ColliderBuilder, World};

/// Bodies of all kinds, one removed, with centres of mass beside the origins of their frames.
fn world(random: &mut SplitMix64) -> (World, Vec<BodyId>) {
    let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
    let mut free = Vec::new();
    world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    for k in 0..12 {
        let beside =
            ColliderBuilder::new(Sphere::new(0.2).unwrap()).at(Pose::from_translation(random.vec3(0.5)));
        let body = Body::free().shape(Cuboid::new(DVec3::new(0.1, 0.2, 0.3)).unwrap()).collider(beside);
        let body = body.at(random.vec3(5.0)).turned(random.unit_quat()).moving(random.vec3(1.0));
        free.push(world.add(body.spinning(random.vec3(2.0))).unwrap());
        if k % 4 == 0 {
            world.add(Body::fixed().shape(Sphere::new(0.1).unwrap()).at(random.vec3(9.0))).unwrap();
        }
    }
    world.remove(free.remove(5)).unwrap();
    (world, free)
}

// proves: CLI-10
#[test]
fn vectors_and_bodies_tell_the_same() {
    let mut random = SplitMix64(31);
    let (mut world, free) = world(&mut random);
    let (mut q, mut v) = (Vec::new(), Vec::new());
    world.configuration(&mut q);
    world.twists(&mut v);
    assert_eq!((q.len(), v.len()), (7 * free.len(), 6 * free.len()));
    let listed: Vec<BodyId> = world.bodies().filter(|(_, b)| b.is_free()).map(|(id, _)| id).collect();
    assert_eq!(listed, free);
    // A body that is written is seen in the vectors, in its place alone.
    let (pose, twist) = (Pose::new(random.vec3(3.0), random.unit_quat()), Motion::new(DVec3::X, DVec3::Y));
    world.teleport(free[3], pose).unwrap();
    world.set_velocity(free[3], twist).unwrap();
    let (mut r, mut u) = (Vec::new(), Vec::new());
    world.configuration(&mut r);
    world.twists(&mut u);
    for k in 0..free.len() {
        assert_eq!(q[7 * k..7 * k + 7] == r[7 * k..7 * k + 7], k != 3);
        assert_eq!(v[6 * k..6 * k + 6] == u[6 * k..6 * k + 6], k != 3);
    }
    assert_eq!(u[18..24], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    // What is written in the vectors is seen in the bodies, one by one.
    let mut other = world.clone();
    for (k, &id) in free.iter().enumerate() {
        let (center, turn) = (random.vec3(4.0), random.unit_quat());
        r[7 * k..7 * k + 3].copy_from_slice(&center.to_array());
        r[7 * k + 3..7 * k + 7].copy_from_slice(&turn.to_array());
        u[6 * k..6 * k + 6].copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, k as f64]);
        let from_center = other[id].user_pose().inverse_transform_point(other[id].center());
        let user = Pose::new(center - turn * from_center, turn);
        other.teleport(id, user).unwrap();
        other
            .set_velocity(id, Motion::new(DVec3::new(1.0, 2.0, 3.0), DVec3::new(4.0, 5.0, k as f64)))
            .unwrap();
    }
    world.set_configuration(&r).unwrap();
    world.set_twists(&u).unwrap();
    for &id in &free {
        let [a, b] = [&world, &other].map(|w| *w[id].state());
        assert!((a.pose().translation - b.pose().translation).length() < 1e-14);
        assert!(a.pose().rotation.angle_between(b.pose().rotation) < 1e-7 && a.velocity == b.velocity);
    }
}

#[test]
fn what_is_read_and_written_changes_nothing() {
    let (mut world, _) = world(&mut SplitMix64(32));
    let before = world.digest();
    let (mut q, mut v) = (Vec::new(), Vec::new());
    world.configuration(&mut q);
    world.twists(&mut v);
    world.set_configuration(&q).unwrap();
    world.set_twists(&v).unwrap();
    assert_eq!(world.digest(), before);
}

#[test]
fn wrong_vectors_change_nothing_and_name_the_body() {
    let (mut world, free) = world(&mut SplitMix64(33));
    let before = world.digest();
    let (mut q, mut v) = (Vec::new(), Vec::new());
    world.configuration(&mut q);
    world.twists(&mut v);
    let short = world.set_configuration(&q[1..]).unwrap_err().to_string();
    assert_eq!(short, format!("configuration has {} numbers, expected {}", q.len() - 1, q.len()));
    assert!(world.set_twists(&q).unwrap_err().to_string().starts_with("twists has"));
    q[0] += 1.0;
    q[7 + 6] = f64::NAN;
    let error = world.set_configuration(&q).unwrap_err().to_string();
    assert!(error.starts_with(&free[1].to_string()), "{error}");
    v[0] += 1.0;
    v[12] = f64::INFINITY;
    let error = world.set_twists(&v).unwrap_err().to_string();
    assert!(error.starts_with(&free[2].to_string()) && error.contains("velocity"), "{error}");
    assert_eq!(world.digest(), before);
}
