//! A warmed-up world moves on without allocating.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{ball, cuboid, earth, stepper, stepper_with};
use sim_math::glam::DVec3;
use sim_math::testkit::allocations::{CountingAllocator, allocations};
use sim_steppers::{ContactHandling, SleepParams};
use sim_world::{Anchor, Body, ColliderBuilder, EventKind, ForceGenerator, Listing, Rest, Stepper};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn count(handling: ContactHandling) {
    let mut world = earth();
    world.listing = Listing::All;
    for k in 0..12 {
        let at = [0.5 * f64::from(k % 4), 0.5 * f64::from(k / 4), 0.4];
        let body = if k % 2 == 0 { ball(0.15) } else { Body::free().shape(cuboid(0.15, 0.1, 0.12)) };
        world.add(body.at(at).spinning([1.0, 0.5, 0.2]).restitution(0.4)).unwrap();
    }
    let mut stepper = stepper_with(|p| p.contact_handling = handling);
    // Longer than what is counted, so that the list of events has room.
    for duration in [1.0, 1.0, 0.5] {
        stepper.advance(&mut world, duration).unwrap();
    }
    let (count, report) = allocations(|| stepper.advance(&mut world, 0.5).unwrap());
    assert!(report.micro_collisions > 100 && report.windows >= 9, "{report}");
    assert_eq!(count, 0, "{handling:?}: {report}");
}

#[test]
fn a_warmed_up_advance_does_not_allocate() {
    count(ContactHandling::Standard);
    count(ContactHandling::Improved);
}

#[test]
fn a_warmed_up_advance_under_forces_does_not_allocate() {
    let mut world = earth();
    let mut last = None;
    for k in 0..6 {
        let body = if k % 2 == 0 { ball(0.15) } else { Body::free().shape(cuboid(0.15, 0.1, 0.12)) };
        let id = world.add(body.at([0.5 * f64::from(k), 0.0, 0.4]).mass(1.0)).unwrap();
        if let Some(other) = last.replace(id) {
            let (a, b) = (Anchor::Body(other, DVec3::ZERO), Anchor::Body(id, DVec3::ZERO));
            let force = ForceGenerator::Spring { a, b, stiffness: 200.0, damping: 2.0, rest_length: 0.45 };
            world.add_force(force).unwrap();
        }
    }
    let mut stepper = stepper();
    for duration in [1.0, 1.0, 0.5] {
        stepper.advance(&mut world, duration).unwrap();
    }
    let (count, report) = allocations(|| stepper.advance(&mut world, 0.5).unwrap());
    assert!(report.micro_collisions > 50 && report.energy.forces != 0.0, "{report}");
    assert_eq!(count, 0, "{report}");
}

#[test]
fn a_warmed_up_advance_with_sensors_timers_and_sleep_does_not_allocate() {
    let mut world = earth();
    let zone = ColliderBuilder::new(cuboid(3.0, 3.0, 0.5)).sensor();
    world.add(Body::fixed().collider(zone).at([0.0, 0.0, 1.2])).unwrap();
    for k in 0..16 {
        let at = [0.5 * f64::from(k % 4), 0.5 * f64::from(k / 4), if k < 8 { 2.0 } else { 0.1005 }];
        // Half of them bounce through the zone for ever, the others lie down and sleep.
        let body =
            if k < 8 { ball(0.15).restitution(1.0) } else { Body::free().shape(cuboid(0.1, 0.1, 0.1)) };
        world.add(body.at(at).friction(0.5)).unwrap();
    }
    world.add_timer(0.0, 1e-3).unwrap();
    let mut stepper = stepper_with(|p| {
        p.contact_handling = ContactHandling::Improved;
        p.sleep = Some(SleepParams::default());
    });
    for _ in 0..4 {
        stepper.advance(&mut world, 2.0).unwrap();
    }
    let (count, report) = allocations(|| stepper.advance(&mut world, 1.5).unwrap());
    let (asleep, sensed) = (
        world.bodies().filter(|(_, b)| b.rest() == Rest::Asleep).count(),
        world.events().iter().filter(|e| matches!(e.kind, EventKind::SensorLeft { .. })).count(),
    );
    assert!(asleep == 8 && sensed >= 8 && report.collisions >= 8, "{asleep} {sensed} {report}");
    assert_eq!(count, 0, "{report}");
}
