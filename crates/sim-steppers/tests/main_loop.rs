//! The order of events, and what each of them touches.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{G, ball, cuboid, earth, stepper, stepper_with};
use sim_math::glam::DVec3;
use sim_steppers::{ContactHandling, EventDriven, Micro};
use sim_world::{Body, EventKind, Stepper, World};

/// What happens until `until` (s), event by event: `W`indow, `T`imer, `C`ollision, each with its time.
fn trace(world: &mut World, stepper: &mut EventDriven, until: f64) -> Vec<(char, f64)> {
    stepper.prepare(world).unwrap();
    let mut trace = Vec::new();
    while let Some(next) = stepper.next_event().filter(|next| *next <= until) {
        let wait = next - world.time();
        let report = stepper.advance(world, wait).unwrap();
        let time = world.time();
        trace.extend((0..report.windows).map(|_| ('W', time)));
        for event in world.events() {
            match event.kind {
                EventKind::Timer { .. } => trace.push(('T', event.time)),
                EventKind::Collision(_) => trace.push(('C', event.time)),
                _ => {}
            }
        }
    }
    trace
}

// proves: FON-79
#[test]
fn windows_timers_and_collisions_come_in_the_order_of_time() {
    let mut world = earth();
    let fall = 0.13;
    world.add(ball(0.1).at([0.0, 0.0, 0.1 + 0.5 * G * fall * fall]).restitution(0.9)).unwrap();
    world.add_timer(0.05, 0.07).unwrap();
    let trace = trace(&mut world, &mut stepper(), 0.21);
    let order: String = trace.iter().map(|(kind, _)| *kind).collect();
    // 0.05 W and T together, 0.10 W, 0.12 T, 0.13 C, 0.15 W, 0.19 T, 0.20 W.
    assert_eq!(order, "WTWTCWTW", "{trace:?}");
    let expected = [0.05, 0.05, 0.1, 0.12, fall, 0.15, 0.19, 0.2];
    for ((kind, time), expected) in trace.into_iter().zip(expected) {
        assert!((time - expected).abs() < 1e-11, "{kind} at {time} instead of {expected}");
    }
}

// proves: MIR-36
#[test]
fn a_new_pair_that_meets_earlier_brings_the_next_event_forward() {
    let mut world = World::new(DVec3::ZERO).unwrap();
    world.add(ball(0.1)).unwrap();
    let far = world.add(ball(0.1).at([2.0, 0.0, 0.0])).unwrap();
    let mut stepper = stepper();
    stepper.advance(&mut world, 0.01).unwrap();
    assert_eq!(stepper.active_pairs(), 0);
    // Nothing is due but the next window.
    assert!((stepper.next_event().unwrap() - 0.05).abs() < 1e-12);
    let push = DVec3::X * (-100.0 * world[far].mass());
    world.apply_impulse(far, DVec3::X * 2.0, push).unwrap();
    stepper.prepare(&mut world).unwrap();
    assert_eq!(stepper.active_pairs(), 1);
    let next = stepper.next_event().unwrap();
    assert!(next <= 0.01 + 1.8 / 100.0 + 1e-12, "next at {next}");
    assert_eq!(stepper.advance(&mut world, 0.03).unwrap().collisions, 1);
}

// proves: MIR-29
#[test]
fn a_collision_costs_its_neighbours_and_not_the_world() {
    let cost = |n: i32| {
        let mut world = earth();
        for k in 0..n {
            let at = [3.0 * f64::from(k % 8), 3.0 * f64::from(k / 8), 0.6 + 0.01 * f64::from(k % 5)];
            world.add(Body::free().shape(cuboid(0.1, 0.2, 0.15)).at(at).spinning([1.0, 2.0, 0.5])).unwrap();
        }
        let report = stepper().advance(&mut world, 1.0).unwrap();
        let impulses = (report.collisions + report.micro_collisions) as f64;
        (report.distances as f64 / impulses, (report.events - report.windows) as f64 / impulses)
    };
    let (few, many) = (cost(8), cost(64));
    println!("{few:?} {many:?}");
    assert!(many.0 < 1.3 * few.0 && many.1 < 1.3 * few.1, "{few:?} {many:?}");
}

// proves: MIR-35
#[test]
fn a_pair_at_the_border_of_boxes_does_not_come_and_go() {
    // The ball bounces between touching distance and outside the box of the table, several times a second.
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    world.add(Body::fixed().shape(cuboid(0.5, 0.5, 0.5)).at([0.0, 0.0, -0.5])).unwrap();
    world.add(ball(0.05).at([0.0, 0.0, 0.05 + 0.15]).restitution(1.0)).unwrap();
    let mut stepper = stepper_with(|p| p.micro = Micro::Off);
    stepper.prepare(&mut world).unwrap();
    let (mut changes, mut before, mut bounces) = (0, stepper.active_pairs(), 0);
    while world.time() < 20.0 {
        bounces += stepper.advance(&mut world, 0.05).unwrap().collisions;
        let now = stepper.active_pairs();
        changes += u32::from(now != before);
        before = now;
    }
    println!("{changes} changes in {bounces} bounces");
    assert!(bounces > 50 && changes <= 2, "{changes} changes in {bounces} bounces");
}

#[test]
fn an_approach_from_afar_costs_the_same_under_both_kinds_of_contact_handling() {
    let count = |handling| {
        let mut world = earth();
        let block = Body::free().shape(cuboid(0.1, 0.2, 0.3)).at([0.0, 0.0, 2.0]);
        world.add(block.spinning([3.0, 2.0, 1.0])).unwrap();
        // The floor is 1.6 m away at least: 0.57 s of fall.
        stepper_with(|p| p.contact_handling = handling).advance(&mut world, 0.5).unwrap().distances
    };
    let [standard, improved] = [ContactHandling::Standard, ContactHandling::Improved].map(count);
    assert_eq!(standard, improved);
    assert!(standard < 20, "{standard}");
}
