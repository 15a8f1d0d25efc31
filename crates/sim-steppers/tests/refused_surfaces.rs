//! Steppers that know no rolling friction, no moving surfaces and no locked axes say so before they move anything.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;
#[path = "common/timed.rs"]
mod timed;

use common::stepper;
use sim_math::glam::DVec3;
use sim_traits::Sphere;
use sim_world::{Body, LockedAxes, StepError, Stepper, Traction, World};

#[test]
fn they_are_refused_by_name_and_taking_them_away_helps() {
    let steppers: [Box<dyn Stepper>; 2] = [Box::new(stepper()), Box::new(timed::soft(|_| {}))];
    for mut stepper in steppers {
        let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
        let ball = world.add(Body::free().shape(Sphere::new(0.1).unwrap()).at(DVec3::Z)).unwrap();
        stepper.advance(&mut world, 0.01).unwrap();
        let collider = world[ball].colliders()[0];
        let mut refuses = |world: &mut World| {
            let error = stepper.prepare(world).unwrap_err();
            assert!(matches!(error, StepError::Unsupported { body, .. } if body == ball), "{error}");
            assert!(stepper.advance(world, 0.01).is_err());
        };
        let plain = Traction::default();
        world.set_traction(collider, Traction { rolling_friction: Some(0.01), ..plain }).unwrap();
        refuses(&mut world);
        world.set_traction(collider, Traction { surface_velocity: DVec3::X, ..plain }).unwrap();
        refuses(&mut world);
        world.set_traction(collider, plain).unwrap();
        world.set_locked_axes(ball, LockedAxes::plane(1)).unwrap();
        refuses(&mut world);
        world.set_locked_axes(ball, LockedAxes::default()).unwrap();
        stepper.prepare(&mut world).unwrap();
        stepper.advance(&mut world, 0.01).unwrap();
    }
}
