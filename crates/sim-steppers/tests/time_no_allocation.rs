//! A warmed-up step of time does not allocate.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{
    Pose,
    glam::DVec3,
    testkit::allocations::{CountingAllocator, allocations},
};
use sim_world::{Joint, JointMotor, JointPartner, LinkBuilder, Listing, Stepper, Tree, TreeJoint, World};
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

/// A chain with limits and dry friction that falls on the floor, and a body beside it.
#[test]
fn a_warmed_up_step_with_trees_does_not_allocate() {
    let mut world = earth(0.5, 0.0);
    let mut tree = Tree::builder("chain");
    for k in 0..6 {
        let joint = if k == 0 { TreeJoint::Free } else { TreeJoint::Revolute { axis: DVec3::Y } };
        let mut link = LinkBuilder::new(format!("{k}"), joint).body(brick(0.15, 0.1, 0.1, 0.5));
        link = if k == 0 {
            link.start(&[0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], &[0.0; 6])
        } else {
            let place = Pose::from_translation(DVec3::X * 0.32);
            link.on(format!("{}", k - 1)).at(place).limits(-0.8, 0.8).dry_friction(0.1).damping(0.1)
        };
        tree = tree.link(link);
    }
    let tree = world.add_tree(tree).unwrap();
    let mut stepper = cone(|_| {});
    let mut forces = [0.0; 11];
    for k in 0..40 {
        forces[6..].fill(if k % 2 == 0 { 5.0 } else { -5.0 });
        world.set_tree_forces(tree, &forces).unwrap();
        stepper.advance(&mut world, 0.1).unwrap();
    }
    let (count, report) = allocations(|| stepper.advance(&mut world, 0.2).unwrap());
    assert!(report.solver.iterations > 10, "{report}");
    assert_eq!(count, 0, "{report}");
}
