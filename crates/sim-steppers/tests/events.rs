//! What is listed: contacts, sensors, filters, contact forces.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{G, ball, cuboid, earth, stepper};
use sim_math::{Pose, glam::DVec3, spatial::Motion, testkit::SplitMix64};
use sim_traits::{BodyId, Sphere};
use sim_world::{Body, ColliderBuilder, Event, EventKind, Groups, Stepper, World};

fn collider(world: &World, body: BodyId) -> sim_traits::ColliderId {
    world[body].colliders()[0]
}

#[test]
fn contact_begins_and_ends_with_every_bounce() {
    let mut world = earth();
    let id = world.add(ball(0.1).at([0.0, 0.0, 1.1]).restitution(0.8)).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 2.0).unwrap();
    let began = |e: &&Event| matches!(e.kind, EventKind::ContactBegan { .. });
    let ended = |e: &&Event| matches!(e.kind, EventKind::ContactEnded { .. });
    let (begins, ends): (Vec<_>, Vec<_>) =
        (world.events().iter().filter(began).collect(), world.events().iter().filter(ended).collect());
    // Impacts at t₁ and t₁ + 2 e v/g.
    let fall = (2.0 / G).sqrt();
    let speed = 0.8 * G * fall;
    assert!((begins[0].time - fall).abs() < 1e-9);
    assert!((begins[1].time - fall - 2.0 * speed / G).abs() < 1e-9);
    assert_eq!(begins.len(), ends.len());
    // Apart after two envelopes at the speed of the bounce.
    let after = 2.0 * stepper.envelope() / speed;
    assert!((ends[0].time - fall - after).abs() < 0.1 * after, "{:?}", ends[0]);
    let floor = world.bodies().next().unwrap().0;
    let (a, b) = (collider(&world, floor), collider(&world, id));
    assert_eq!(begins[0].kind, EventKind::ContactBegan { a, b });
    assert_eq!(ends[0].kind, EventKind::ContactEnded { a, b });
}

#[test]
fn removing_a_body_in_contact_ends_the_contact() {
    let mut world = earth();
    let id = world.add(ball(0.1).at([0.0, 0.0, 0.1005])).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 0.5).unwrap();
    assert_eq!(world.contacts().len(), 1);
    world.remove(id).unwrap();
    stepper.advance(&mut world, 0.1).unwrap();
    assert!(matches!(world.events()[0].kind, EventKind::ContactEnded { .. }), "{:?}", world.events());
    assert!(world.contacts().is_empty());
}

#[test]
fn a_sensor_reports_a_ball_that_flies_through_and_does_not_push_it() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let gate = ColliderBuilder::new(cuboid(0.5, 1.0, 1.0)).sensor();
    let gate = world.add(Body::fixed().collider(gate).at([3.0, 0.0, 0.0])).unwrap();
    let id =
        world.add(ball(0.25).at([0.0, 0.0, 0.0]).moving([2.0, 0.0, 0.0]).spinning([9.0, 1.0, 2.0])).unwrap();
    let report = stepper().advance(&mut world, 4.0).unwrap();
    assert_eq!(report.collisions + report.micro_collisions, 0);
    assert!((world[id].position() - DVec3::new(8.0, 0.0, 0.0)).length() < 1e-12);
    let (sensor, other) = (collider(&world, gate), collider(&world, id));
    let [enters, leaves] = world.events() else { panic!("{:?}", world.events()) };
    assert_eq!(enters.kind, EventKind::SensorEntered { sensor, other });
    assert_eq!(leaves.kind, EventKind::SensorLeft { sensor, other });
    // Enters at x = 2.25, leaves at x = 3.75.
    assert!((enters.time - 1.125).abs() < 1e-7, "{enters:?}");
    assert!((leaves.time - 1.875).abs() < 1e-7, "{leaves:?}");
}

#[test]
fn a_body_that_begins_inside_a_sensor_is_reported_and_so_is_its_removal() {
    let mut world = earth();
    let zone = ColliderBuilder::new(Sphere::new(1.0).unwrap()).sensor();
    world.add(Body::fixed().collider(zone).at([0.0, 0.0, 0.5])).unwrap();
    let id = world.add(Body::free().shape(cuboid(0.1, 0.1, 0.1)).at([0.0, 0.0, 0.2])).unwrap();
    let mut stepper = stepper();
    // The floor, too, is in the zone; both are fixed and say nothing.
    let report = stepper.advance(&mut world, 1.0).unwrap();
    let entered = |e: &&Event| matches!(e.kind, EventKind::SensorEntered { .. });
    assert_eq!(world.events().iter().filter(entered).count(), 1, "{:?}", world.events());
    assert!(report.micro_collisions > 10);
    world.teleport(id, Pose::from_translation(DVec3::new(5.0, 0.0, 0.11))).unwrap();
    stepper.advance(&mut world, 0.1).unwrap();
    let left = |e: &&Event| matches!(e.kind, EventKind::SensorLeft { .. });
    assert_eq!(world.events().iter().filter(left).count(), 1, "{:?}", world.events());
    world.teleport(id, Pose::from_translation(DVec3::new(0.0, 0.0, 0.11))).unwrap();
    stepper.advance(&mut world, 0.1).unwrap();
    assert_eq!(world.events().iter().filter(entered).count(), 1, "{:?}", world.events());
    world.remove(id).unwrap();
    stepper.advance(&mut world, 0.1).unwrap();
    assert_eq!(world.events().iter().filter(left).count(), 1, "{:?}", world.events());
}

#[test]
fn what_ends_at_one_time_is_listed_in_the_order_of_colliders() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let mut random = SplitMix64(3);
    let mut balls: Vec<BodyId> = Vec::new();
    for _ in 0..30 {
        balls.push(world.add(ball(0.01).at(random.vec3(1.0)).moving(random.vec3(0.1))).unwrap());
    }
    let zone = ColliderBuilder::new(cuboid(1.5, 1.5, 1.5)).sensor();
    let zone = world.add(Body::fixed().collider(zone)).unwrap();
    let mut stepper = stepper();
    for _ in 0..5 {
        stepper.advance(&mut world, 0.1).unwrap();
        for &id in &balls {
            world.set_velocity(id, Motion::new(DVec3::ZERO, random.vec3(1.0))).unwrap();
        }
    }
    world.teleport(zone, Pose::from_translation(DVec3::X * 50.0)).unwrap();
    stepper.advance(&mut world, 0.01).unwrap();
    let other = |e: &Event| match e.kind {
        EventKind::SensorLeft { other, .. } => Some(other.index()),
        _ => None,
    };
    let left: Vec<_> = world.events().iter().filter_map(other).collect();
    assert!(left.len() == 30 && left.is_sorted(), "{left:?}");
}

#[test]
fn groups_and_ignored_pairs_can_be_changed_at_run_time() {
    let mut world = earth();
    let table = world.add(Body::fixed().shape(cuboid(1.0, 1.0, 0.05)).at([0.0, 0.0, 1.0])).unwrap();
    let a = world.add(ball(0.1).at([0.0, 0.0, 1.2])).unwrap();
    let b = world.add(ball(0.1).at([0.5, 0.0, 1.2])).unwrap();
    world.ignore(a, table, true).unwrap();
    assert!(world.ignores(table, a) && !world.ignores(table, b));
    let mut stepper = stepper();
    stepper.advance(&mut world, 1.0).unwrap();
    assert!((world[a].position().z - 0.1).abs() < 2e-3, "{}", world[a].position());
    assert!((world[b].position().z - 1.15).abs() < 2e-3, "{}", world[b].position());
    // In mid-run: the other one falls through by its groups.
    let shape = collider(&world, table);
    world.set_groups(shape, Groups { member: 1, mask: 0 }).unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
    assert!((world[b].position().z - 0.1).abs() < 2e-3, "{}", world[b].position());
    // Back again, for the one that is above.
    world.teleport(a, Pose::from_translation(DVec3::new(0.0, 0.0, 1.5))).unwrap();
    world.set_groups(shape, Groups::default()).unwrap();
    world.ignore(table, a, false).unwrap();
    stepper.advance(&mut world, 1.0).unwrap();
    assert!((world[a].position().z - 1.15).abs() < 2e-3, "{}", world[a].position());
}

#[test]
fn shapes_of_one_body_never_collide_with_each_other() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let body = ball(0.3).shape_at(cuboid(0.3, 0.2, 0.2), Pose::from_translation(DVec3::X * 0.2));
    let id = world.add(body.spinning([1.0, 2.0, 3.0])).unwrap();
    let report = stepper().advance(&mut world, 1.0).unwrap();
    assert_eq!((report.collisions, report.micro_collisions), (0, 0));
    assert_eq!(world[id].colliders().len(), 2);
}

#[test]
fn the_mean_force_of_a_contact_is_the_weight_on_it() {
    let mut world = earth();
    let id = world.add(Body::free().shape(cuboid(0.1, 0.1, 0.1)).mass(3.0).at([0.0, 0.0, 0.101])).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 1.0).unwrap();
    stepper.advance(&mut world, 2.0).unwrap();
    let [contact] = world.contacts() else { panic!("{:?}", world.contacts()) };
    // A is the floor: it is pushed down.
    let force = -contact.impulse / 2.0;
    assert!((force.z - 3.0 * G).abs() < 0.02 * 3.0 * G, "{force}");
    assert_eq!(contact.b, collider(&world, id));
    assert!(contact.normal.z < -0.999 && contact.separation < 1e-3 && contact.count > 10, "{contact:?}");
    assert!(contact.time > 2.9 && contact.time <= 3.0);
}

#[test]
fn timers_are_listed_between_collisions_in_order_of_time() {
    let mut world = earth();
    world.add(ball(0.1).at([0.0, 0.0, 1.1]).restitution(0.8)).unwrap();
    let timer = world.add_timer(0.1, 0.1).unwrap();
    stepper().advance(&mut world, 2.0).unwrap();
    assert!(world.events().is_sorted_by(|a, b| a.time <= b.time));
    let fired = world.events().iter().filter_map(|e| match e.kind {
        EventKind::Timer { timer: t, count } if t == timer => Some((count, e.time)),
        _ => None,
    });
    let fired: Vec<_> = fired.collect();
    assert_eq!(fired.len(), 20);
    for (k, (count, time)) in fired.into_iter().enumerate() {
        assert_eq!((count, time), (k as u64, 0.1 + 0.1 * k as f64));
    }
}
