//! Saved and restored runs of time stepping continue to the bit.
#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{glam::DVec3, testkit::SplitMix64};
use sim_world::{Registry, SnapshotError, Stepper, World};
use timed::{ball, brick, cone, earth};

fn heap() -> World {
    let mut random = SplitMix64(12);
    let mut world = earth(0.5, 0.3);
    for k in 0..8 {
        let at = DVec3::new(f64::from(k % 2) * 0.5, 0.1 * f64::from(k), 0.5 + 0.6 * f64::from(k / 2));
        let body = if k % 2 == 0 { ball(0.2, 0.5, 0.3) } else { brick(0.2, 0.2, 0.2, 0.5).restitution(0.3) };
        world.add(body.at(at).turned(random.unit_quat())).unwrap();
    }
    world
}

#[test]
fn a_restored_run_continues_to_the_bit() {
    let registry = Registry::default();
    let mut world = heap();
    let mut stepper = cone(|_| {});
    stepper.advance(&mut world, 0.7).unwrap();
    let (saved, tables) = (world.snapshot(&registry).unwrap(), stepper.save(&world).unwrap());
    assert!(!tables.is_empty());
    stepper.advance(&mut world, 0.5).unwrap();

    let mut restored = World::restore(&saved, &registry).unwrap();
    let mut fresh = cone(|_| {});
    fresh.load(&restored, &tables).unwrap();
    let report = fresh.advance(&mut restored, 0.5).unwrap();
    assert!(report.solver.iterations > 0, "it was no rest that was compared");
    for ((_, x), (_, y)) in world.bodies().zip(restored.bodies()) {
        assert_eq!(x.state(), y.state());
    }
    assert_eq!(world.contacts(), restored.contacts());

    // Other parameters, and damaged bytes, are errors; the stepper then starts afresh.
    let mut other = cone(|p| p.dt = 0.01);
    assert!(matches!(other.load(&restored, &tables), Err(SnapshotError::Mismatch { .. })));
    for cut in [1, 10, tables.len() / 2, tables.len() - 1] {
        assert!(cone(|_| {}).load(&restored, &tables[..cut]).is_err(), "{cut} bytes");
    }
    other.advance(&mut restored, 0.1).unwrap();
}

#[test]
fn jointed_worlds_continue_to_the_bit() {
    use sim_world::{Joint, JointMotor, JointPartner};
    let registry = Registry::default();
    let mut world = heap();
    let ids: Vec<_> = world.bodies().filter(|(_, b)| b.is_free()).map(|(id, _)| id).collect();
    let hinge = Joint::hinge(ids[0], ids[1]).axis([0.0, 1.0, 0.0]).motor(JointMotor::velocity(3.0, 5.0));
    let hinge = world.add_joint(hinge).unwrap();
    world.add_joint(Joint::ball(JointPartner::World, ids[2]).anchor([0.0, 0.0, 2.5])).unwrap();
    world.add_joint(Joint::rope(ids[3], ids[4])).unwrap();
    let mut stepper = cone(|_| {});
    stepper.advance(&mut world, 0.5).unwrap();
    assert!(world.joint_value(hinge, 0).unwrap().abs() > 0.1);
    let (saved, tables) = (world.snapshot(&registry).unwrap(), stepper.save(&world).unwrap());
    stepper.advance(&mut world, 0.5).unwrap();
    let mut restored = World::restore(&saved, &registry).unwrap();
    let mut fresh = cone(|_| {});
    fresh.load(&restored, &tables).unwrap();
    fresh.advance(&mut restored, 0.5).unwrap();
    assert_eq!(world.digest(), restored.digest());
}

#[test]
fn worlds_with_trees_continue_to_the_bit() {
    use sim_math::Pose;
    use sim_world::{LinkBuilder, Tree, TreeJoint};
    let registry = Registry::default();
    let mut world = heap();
    let mut tree = Tree::builder("worm");
    for k in 0..4 {
        let joint =
            if k == 0 { TreeJoint::Free } else { TreeJoint::Universal { first: DVec3::Y, second: DVec3::Z } };
        let mut link = LinkBuilder::new(format!("{k}"), joint).body(brick(0.15, 0.1, 0.1, 0.5)).damping(0.1);
        link = if k == 0 {
            link.start(&[-0.4, 0.1, 3.0, 0.0, 0.0, 0.0, 1.0], &[1.0, 0.0, 2.0, 0.0, 0.0, 0.0])
        } else {
            let place = Pose::from_translation(DVec3::X * 0.35);
            link.on(format!("{}", k - 1)).at(place).limits(-0.8, 0.8).dry_friction(0.1)
        };
        tree = tree.link(link);
    }
    let id = world.add_tree(tree).unwrap();
    let mut stepper = cone(|_| {});
    stepper.advance(&mut world, 1.0).unwrap();
    let (saved, tables) = (world.snapshot(&registry).unwrap(), stepper.save(&world).unwrap());
    let report = stepper.advance(&mut world, 0.5).unwrap();
    assert!(report.solver.iterations > 0, "it was no rest that was compared");
    let mut restored = World::restore(&saved, &registry).unwrap();
    let mut fresh = cone(|_| {});
    fresh.load(&restored, &tables).unwrap();
    fresh.advance(&mut restored, 0.5).unwrap();
    assert_eq!(world.tree(id).unwrap().coordinates(), restored.tree(id).unwrap().coordinates());
    assert_eq!(world.digest(), restored.digest());
    // Damaged bytes are errors, never another tree.
    for cut in 1..saved.len() {
        if cut % 37 == 0 {
            assert!(World::restore(&saved[..cut], &registry).is_err(), "{cut} bytes");
        }
    }
}
