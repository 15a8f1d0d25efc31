//! Bodies that are changed while they run: colliders, mass, friction, gravity, and whether they are free; under every stepper.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/timed.rs"]
mod timed;

use sim_math::{
    Pose,
    glam::DVec3,
    mass::{Amount, solid},
    spatial::Motion,
};
use sim_traits::{BodyId, Cuboid, HalfSpace, Sphere};
use sim_world::{Anchor, Body, ColliderBuilder, ForceGenerator, Rest, Screw, Stepper, World, WorldError};
use std::sync::Arc;

fn steppers() -> Vec<(&'static str, Box<dyn Stepper>)> {
    vec![
        ("events", Box::new(common::stepper())),
        ("steps", Box::new(timed::cone(|_| {}))),
        ("soft", Box::new(timed::soft(|_| {}))),
    ]
}

fn earth() -> World {
    let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
    world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    world
}

fn cube(half: f64) -> sim_world::BodyBuilder {
    Body::free().shape(Cuboid::new(DVec3::splat(half)).unwrap())
}

fn height(world: &World, id: BodyId) -> f64 {
    world[id].position().z
}

#[test]
fn a_pile_falls_when_its_support_becomes_free_and_stands_again_when_that_is_fixed() {
    for (name, mut stepper) in steppers() {
        let mut world = earth();
        let shelf = Body::fixed().shape(Cuboid::new(DVec3::new(0.5, 0.5, 0.05)).unwrap());
        let shelf = world.add(shelf.at([0.0, 0.0, 2.0])).unwrap();
        let pile: Vec<_> =
            (0..3).map(|k| world.add(cube(0.1).at([0.0, 0.0, 2.15 + 0.2 * f64::from(k)])).unwrap()).collect();
        stepper.advance(&mut world, 0.5).unwrap();
        assert!((height(&world, pile[2]) - 2.55).abs() < 1e-3, "{name}: {}", height(&world, pile[2]));
        world.set_free(shelf).unwrap();
        let report = stepper.advance(&mut world, 0.2).unwrap();
        let fallen = 0.5 * 9.81 * 0.04;
        for (id, start) in pile.iter().zip([2.15, 2.35, 2.55]).chain([(&shelf, 2.0)]) {
            let off = height(&world, *id) - (start - fallen);
            assert!(off.abs() < 0.02, "{name}: {off} off");
        }
        assert!(report.energy.remainder().abs() < 1e-6 * report.energy.flowed, "{name}: {:?}", report.energy);
        // Stopped in mid-air, it carries the pile again.
        world.set_fixed(shelf).unwrap();
        let stopped = height(&world, shelf);
        stepper.advance(&mut world, 1.0).unwrap();
        assert_eq!((height(&world, shelf), world[shelf].velocity()), (stopped, Motion::ZERO));
        assert!((height(&world, pile[0]) - stopped - 0.15).abs() < 0.01, "{name}");
        assert!((world[shelf].mass(), world[shelf].is_fixed()) == (f64::INFINITY, true));
    }
}

#[test]
fn free_to_fixed_and_back_is_the_same_body_again() {
    for (name, mut stepper) in steppers() {
        let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
        let offset = Pose::from_translation(DVec3::new(0.1, 0.0, 0.05));
        let body = cube(0.1).shape_at(Sphere::new(0.1).unwrap(), offset).spinning([1.0, 2.0, 3.0]);
        let id = world.add(body.at([0.0, 0.0, 5.0])).unwrap();
        let (mass, pose) = (*world[id].kind(), world[id].pose());
        let places: Vec<_> = world[id]
            .colliders()
            .iter()
            .map(|c| world.collider(*c).unwrap().world_pose(&world[id]))
            .collect();
        world.set_fixed(id).unwrap();
        stepper.advance(&mut world, 0.3).unwrap();
        let same = |a: &Pose, b: &Pose| {
            (a.translation - b.translation).length() < 1e-14 && a.rotation.dot(b.rotation).abs() > 1.0 - 1e-14
        };
        assert!(same(&world[id].pose(), &pose), "{name}");
        world.set_free(id).unwrap();
        assert!(same(&world[id].pose(), &pose) && *world[id].kind() == mass, "{name}");
        for (c, before) in world[id].colliders().iter().zip(&places) {
            assert!(same(&world.collider(*c).unwrap().world_pose(&world[id]), before), "{name}");
        }
        let center = world[id].center().z;
        stepper.advance(&mut world, 0.5).unwrap();
        assert!((world[id].center().z - center + 0.5 * 9.81 * 0.25).abs() < 0.02, "{name}");
    }
}

#[test]
fn a_body_that_follows_a_script_from_now_on_pushes_and_flies_on_when_it_is_let_go() {
    for (name, mut stepper) in steppers() {
        let mut world = earth();
        let id = world.add(cube(0.1).friction(0.0).at([0.0, 0.0, 0.1])).unwrap();
        let other = world.add(cube(0.1).friction(0.0).at([0.5, 0.0, 0.1])).unwrap();
        stepper.advance(&mut world, 0.1).unwrap();
        let velocity = Motion::new(DVec3::ZERO, DVec3::X);
        let start = Pose::from_translation(world[id].position() - DVec3::X * world.time());
        world.set_scripted(id, Arc::new(Screw { start, velocity })).unwrap();
        stepper.advance(&mut world, 1.0).unwrap();
        assert!((world[id].position().x - 1.0).abs() < 1e-12, "{name}");
        assert!(world[other].position().x > 1.19, "{name}: {}", world[other].position());
        world.set_free(id).unwrap();
        assert_eq!(world[id].velocity(), velocity);
        stepper.advance(&mut world, 0.5).unwrap();
        assert!((world[id].position().x - 1.5).abs() < 0.02, "{name}: {}", world[id].position());
    }
}

#[test]
fn a_collider_that_is_added_makes_contact_and_one_that_is_removed_lets_fall() {
    for (name, mut stepper) in steppers() {
        let mut world = earth();
        // A sensor has no mass and pushes nothing: it falls through the ground.
        let properties = solid::sphere(0.1, Amount::Mass(1.0)).unwrap();
        let id = world.add(Body::free().mass_properties(properties).at([0.0, 0.0, 1.0])).unwrap();
        stepper.advance(&mut world, 0.3).unwrap();
        let ball = world.add_collider(id, ColliderBuilder::new(Sphere::new(0.1).unwrap())).unwrap();
        stepper.advance(&mut world, 1.0).unwrap();
        assert!((height(&world, id) - 0.1).abs() < 1e-3, "{name}: {}", height(&world, id));
        // A larger one below lifts nothing, because it is above the ground; without the first it falls until that touches.
        let above = ColliderBuilder::new(Sphere::new(0.05).unwrap());
        world.add_collider(id, above).unwrap();
        let gone = world.remove_collider(ball).unwrap();
        assert_eq!(gone.body(), id);
        assert!(world.collider(ball).is_err() && world.remove_collider(ball).is_err());
        stepper.advance(&mut world, 1.0).unwrap();
        assert!((height(&world, id) - 0.05).abs() < 1e-3, "{name}: {}", height(&world, id));
    }
}

#[test]
fn another_mass_keeps_velocities_and_is_booked() {
    for (name, mut stepper) in steppers() {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let id = world.add(cube(0.1).mass(2.0).moving([3.0, 0.0, 0.0]).spinning([0.0, 1.0, 0.0])).unwrap();
        let before = stepper.advance(&mut world, 0.1).unwrap();
        let (velocity, energy) = (world[id].velocity(), world.kinetic_energy());
        world.set_mass(id, 6.0).unwrap();
        assert_eq!((world[id].velocity(), world[id].mass()), (velocity, 6.0));
        assert!((world.kinetic_energy() - 3.0 * energy).abs() < 1e-12 * energy);
        let both = before.then(&stepper.advance(&mut world, 0.1).unwrap());
        assert!((both.energy.outside - 2.0 * energy).abs() < 1e-9 * energy, "{name}: {:?}", both.energy);
        assert!(both.energy.remainder().abs() < 1e-9 * energy, "{name}");
        // Another centre of mass: the points of the body keep their velocities.
        let point = world[id].position() + DVec3::new(0.05, 0.02, 0.03);
        let there = world[id].velocity_at(point);
        let shifted = solid::cuboid(DVec3::splat(0.1), Amount::Mass(6.0)).unwrap();
        let shifted = shifted.transformed(&Pose::from_translation(DVec3::new(0.0, 0.04, 0.0)));
        let pose = world[id].pose();
        world.set_mass_properties(id, shifted).unwrap();
        assert!((world[id].velocity_at(point) - there).length() < 1e-12, "{name}");
        assert!((world[id].pose().translation - pose.translation).length() < 1e-14, "{name}");
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(world.set_mass(id, bad), Err(WorldError::Body { body, .. }) if body == id));
        }
    }
}

#[test]
fn gravity_may_be_another_for_one_body_and_friction_for_all_its_colliders() {
    for (name, mut stepper) in steppers() {
        let mut world = earth();
        let float = world.add(cube(0.1).at([0.0, 3.0, 2.0]).gravity_factor(0.0)).unwrap();
        let balloon = world.add(cube(0.1).at([0.0, 0.0, 2.0])).unwrap();
        let sled = world.add(cube(0.1).friction(0.0).at([5.0, 0.0, 0.1]).moving([1.0, 0.0, 0.0])).unwrap();
        stepper.advance(&mut world, 0.1).unwrap();
        world.set_gravity_factor(balloon, -0.5).unwrap();
        let (z, v) = (height(&world, balloon), world[balloon].velocity().linear.z);
        let report = stepper.advance(&mut world, 0.4).unwrap();
        let expected = z + v * 0.4 + 0.5 * 0.5 * 9.81 * 0.16;
        assert!((height(&world, balloon) - expected).abs() < 0.01, "{name}");
        assert_eq!(height(&world, float), 2.0);
        assert!(report.energy.remainder().abs() < 1e-9 * report.energy.start, "{name}: {:?}", report.energy);
        assert!((world[sled].velocity().linear.x - 1.0).abs() < 1e-6, "{name}");
        world.set_friction(sled, 1.0).unwrap();
        stepper.advance(&mut world, 1.0).unwrap();
        assert!(world[sled].velocity().linear.x.abs() < 1e-2, "{name}: {}", world[sled].velocity().linear);
        assert!(world.set_friction(sled, -1.0).is_err() && world.set_restitution(sled, 2.0).is_err());
        assert!(world.set_gravity_factor(sled, f64::NAN).is_err());
    }
}

#[test]
fn springs_hold_on_to_bodies_that_become_fixed_or_free() {
    for (name, mut stepper) in steppers() {
        let mut world = World::new([0.0, 0.0, -10.0]).unwrap();
        let hook = world.add(cube(0.1).at([0.0, 0.0, 5.0])).unwrap();
        let load = world.add(cube(0.1).mass(1.0).at([0.0, 0.0, 4.0])).unwrap();
        let [a, b] = [hook, load].map(|id| Anchor::Body(id, DVec3::ZERO));
        world
            .add_force(ForceGenerator::Spring { a, b, stiffness: 100.0, damping: 20.0, rest_length: 1.0 })
            .unwrap();
        world.set_fixed(hook).unwrap();
        stepper.advance(&mut world, 3.0).unwrap();
        assert!((height(&world, load) - 3.9).abs() < 1e-3, "{name}: {}", height(&world, load));
        world.set_free(hook).unwrap();
        let center = |world: &World| {
            [hook, load].map(|id| world[id].center() * world[id].mass()).into_iter().sum::<DVec3>().z
                / [hook, load].map(|id| world[id].mass()).into_iter().sum::<f64>()
        };
        let before = center(&world);
        stepper.advance(&mut world, 0.5).unwrap();
        // Steps of a sixtieth at most fall by ½ g h t more.
        let off = center(&world) - before + 0.5 * 10.0 * 0.25;
        assert!(off.abs() < 0.5 * 10.0 * 0.5 / 60.0 + 1e-3, "{name}: {off}");
    }
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut world = earth();
    let floor = world.bodies().next().unwrap().0;
    let id = world.add(cube(0.1).at([0.0, 0.0, 1.0])).unwrap();
    let before = world.digest();
    assert!(matches!(world.set_free(floor), Err(WorldError::Massless { body }) if body == floor));
    assert!(world.add_collider(id, ColliderBuilder::new(HalfSpace::up())).is_err());
    let bad = ColliderBuilder::new(Sphere::new(0.1).unwrap()).friction(-1.0);
    assert!(world.add_collider(id, bad).is_err());
    let gone = BodyId::new(77, 0);
    assert!(
        world.set_fixed(gone).is_err() && world.set_free(gone).is_err() && world.set_mass(gone, 1.0).is_err()
    );
    assert_eq!((world.digest(), world[id].rest()), (before, Rest::Awake));
}
