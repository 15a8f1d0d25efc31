//! Steppers that cannot run joints say so before they move anything.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "exact results on purpose")]

mod common;
#[path = "common/timed.rs"]
mod timed;

use common::stepper;
use sim_math::glam::DVec3;
use sim_traits::Sphere;
use sim_world::{Body, Joint, JointPartner, LinkBuilder, StepError, Stepper, Tree, TreeJoint, World};

#[test]
fn joints_are_refused_by_name_and_removing_them_helps() {
    let steppers: [Box<dyn Stepper>; 2] = [Box::new(stepper()), Box::new(timed::soft(|_| {}))];
    for mut stepper in steppers {
        let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
        let ball = world.add(Body::free().shape(Sphere::new(0.1).unwrap()).at(DVec3::Z)).unwrap();
        stepper.advance(&mut world, 0.01).unwrap();
        let joint = world.add_joint(Joint::hinge(JointPartner::World, ball)).unwrap();
        for error in
            [stepper.prepare(&mut world).unwrap_err(), stepper.advance(&mut world, 0.01).unwrap_err()]
        {
            assert!(matches!(error, StepError::UnsupportedJoint { joint: j, .. } if j == joint), "{error}");
            assert!(error.to_string().starts_with("joint 0 (hinge): the "), "{error}");
        }
        assert_eq!(world.time(), 0.01);
        world.remove_joint(joint).unwrap();
        stepper.prepare(&mut world).unwrap();
        stepper.advance(&mut world, 0.01).unwrap();
        assert_eq!(world.time(), 0.02);
    }
}

#[test]
fn trees_are_refused_by_name() {
    let steppers: [Box<dyn Stepper>; 2] = [Box::new(stepper()), Box::new(timed::soft(|_| {}))];
    for mut stepper in steppers {
        let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
        let ball = Body::free().shape(Sphere::new(0.1).unwrap());
        let link = LinkBuilder::new("bob", TreeJoint::Revolute { axis: DVec3::Y }).body(ball);
        let tree = world.add_tree(Tree::builder("clock").link(link)).unwrap();
        for error in
            [stepper.prepare(&mut world).unwrap_err(), stepper.advance(&mut world, 0.01).unwrap_err()]
        {
            assert!(matches!(error, StepError::UnsupportedTree { tree: t, .. } if t == tree), "{error}");
            assert!(error.to_string().starts_with("tree 0 (\"clock\"): the "), "{error}");
        }
        world.remove_tree(tree).unwrap();
        stepper.advance(&mut world, 0.01).unwrap();
    }
}
