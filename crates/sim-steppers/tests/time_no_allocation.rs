//! A warmed-up step of time does not allocate.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{
    glam::DVec3,
    testkit::allocations::{CountingAllocator, allocations},
};
use sim_world::{Anchor, ForceGenerator, Joint, JointMotor, JointPartner, Listing, Stepper, World};
use timed::{ball, brick, cone, earth, rows, soft};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A pyramid at rest beside balls that roll.
fn scene() -> World {
    let mut world = earth(0.5, 0.0);
    world.listing = Listing::All;
    let list: Vec<(f64, usize)> = (0..5).map(|k| (0.525 * k as f64, 5 - k)).collect();
    rows(&mut world, DVec3::splat(0.5), 1.05, &list, 0.5);
    for k in 0..5 {
        world.add(ball(0.2, 0.5, 0.0).at([f64::from(k), 3.0, 0.2]).moving([0.0, 1.0, 0.0])).unwrap();
    }
    world
}

#[test]
fn a_warmed_up_step_does_not_allocate() {
    for (name, mut stepper) in [("soft", soft(|_| {})), ("cone", cone(|_| {}))] {
        let mut world = scene();
        // Longer than what is counted, so that the list of events has room.
        for duration in [1.0, 1.0, 0.5] {
            stepper.advance(&mut world, duration).unwrap();
        }
        let (count, report) = allocations(|| stepper.advance(&mut world, 0.5).unwrap());
        assert!(report.micro_collisions > 100, "{report}");
        assert_eq!(count, 0, "{name}: {report}");
    }
}

/// A chain that swings, and a hatch with a motor that lies on the floor.
#[test]
fn a_warmed_up_step_with_joints_does_not_allocate() {
    let mut world = earth(0.5, 0.0);
    let mut before = JointPartner::World;
    for k in 0..8 {
        let center = DVec3::new(0.4 * f64::from(k) + 0.2, 0.0, 5.0);
        let next = world.add(ball(0.1, 0.5, 0.0).at(center)).unwrap();
        let joint = Joint::ball(before, next).anchor(center - DVec3::X * 0.2);
        world.add_joint(joint).unwrap();
        before = next.into();
    }
    let hatch = world.add(brick(0.5, 0.3, 0.05, 0.5).at([0.0, 3.0, 0.3])).unwrap();
    let hinge = Joint::hinge(JointPartner::World, hatch).anchor([-0.5, 3.0, 0.3]).axis([0.0, 1.0, 0.0]);
    world.add_joint(hinge.motor(JointMotor::velocity(0.5, 1.0)).limits(-2.0, 2.0)).unwrap();
    let mut stepper = cone(|_| {});
    for duration in [1.0, 1.0] {
        stepper.advance(&mut world, duration).unwrap();
    }
    let (count, report) = allocations(|| stepper.advance(&mut world, 0.2).unwrap());
    assert!(report.solver.iterations > 50, "{report}");
    assert_eq!(count, 0, "{report}");
}

/// Springs, drag and a servo on what hangs, lies and spins, beside balls that bounce and, where that is known, a ball that rolls out.
#[test]
fn a_warmed_up_step_with_springs_and_bounces_does_not_allocate() {
    for (name, mut stepper) in [("soft", soft(|_| {})), ("cone", cone(|_| {}))] {
        let mut world = earth(0.5, 0.0);
        let mut before = Anchor::World(DVec3::Z * 5.0);
        for k in 0..8 {
            let at = DVec3::new(0.4 * f64::from(k) + 0.2, 0.0, 5.0);
            let next = Anchor::Body(world.add(ball(0.1, 0.5, 0.0).mass(1.0).at(at)).unwrap(), DVec3::ZERO);
            let (a, b) = (before, next);
            let spring = ForceGenerator::Spring { a, b, stiffness: 500.0, damping: 1.0, rest_length: 0.3 };
            world.add_force(spring).unwrap();
            before = next;
        }
        let block = world.add(brick(0.2, 0.2, 0.2, 0.5).mass(1.0).at([0.0, 3.0, 0.2])).unwrap();
        let (a, b) = (Anchor::World(DVec3::new(1.0, 3.0, 0.0)), Anchor::Body(block, DVec3::ZERO));
        world.add_force(ForceGenerator::Muscle { a, b, tension: 2.0, damping: 0.5 }).unwrap();
        world.add_force(ForceGenerator::Drag { body: block, linear: 0.1, angular: 0.1 }).unwrap();
        let wheel = world.add(ball(0.2, 0.5, 0.0).at([0.0, 5.0, 4.0])).unwrap();
        let (axis, rate) = (DVec3::Y, 5.0);
        let servo = ForceGenerator::Servo { body: wheel, axis, rate, gain: 1.0, limit: 2.0 };
        world.add_force(servo).unwrap();
        for k in 0..4 {
            world.add(ball(0.1, 0.5, 0.98).at([f64::from(k), -3.0, 1.0 + 0.2 * f64::from(k)])).unwrap();
        }
        if name == "cone" {
            let roller = ball(0.2, 0.5, 0.0).rolling_friction(1e-3).at([-9.0, -6.0, 0.2]);
            world.add(roller.moving([2.0, 0.0, 0.0]).spinning([0.0, 10.0, 0.0])).unwrap();
        }
        for duration in [2.0, 2.0, 2.0] {
            stepper.advance(&mut world, duration).unwrap();
        }
        let (count, report) = allocations(|| stepper.advance(&mut world, 0.5).unwrap());
        assert!(report.collisions > 0 && report.energy.forces != 0.0, "{name}: {report}");
        assert_eq!(count, 0, "{name}: {report}");
    }
}
