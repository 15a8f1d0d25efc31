//! Islands that lie still sleep under time stepping, and wake when they must.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "helpers of tests; exact results on purpose")]

#[path = "common/timed.rs"]
mod timed;

use rigid_impulse::{Material, SurfacePair};
use sim_math::{
    Pose, assert_close,
    glam::{DQuat, DVec3},
    ops,
    spatial::Motion,
};
use sim_steppers::{TimeSleepParams, TimeStepping, TimeSteppingParams};
use sim_traits::{BodyId, Cuboid, HalfSpace};
use sim_world::{Body, ColliderBuilder, EventKind, Limits, Rest, Script, Stepper, World};
use timed::{G, ball, brick, cone, earth, soft};

fn steppers() -> [TimeStepping; 2] {
    let sleepy = |p: &mut TimeSteppingParams| p.sleep = Some(TimeSleepParams::default());
    [cone(sleepy), soft(sleepy)]
}

/// Two towers of two bricks each on the floor.
fn towers() -> (World, Vec<BodyId>) {
    let mut world = earth(0.6, 0.0);
    let mut ids = Vec::new();
    for (x, z) in [(0.0, 0.1), (0.0, 0.3), (2.0, 0.1), (2.0, 0.3)] {
        ids.push(world.add(brick(0.2, 0.1, 0.1, 0.6).at([x, 0.0, z])).unwrap());
    }
    (world, ids)
}

fn asleep(world: &World, ids: &[BodyId]) -> Vec<bool> {
    ids.iter().map(|id| world[*id].rest() == Rest::Asleep).collect()
}

#[test]
fn settled_towers_sleep_and_cost_nothing() {
    for mut stepper in steppers() {
        let (mut world, ids) = towers();
        let report = stepper.advance(&mut world, 2.0).unwrap();
        assert_eq!((asleep(&world, &ids), report.fell_asleep), (vec![true; 4], 4));
        let before: Vec<Pose> = ids.iter().map(|id| world[*id].user_pose()).collect();
        let report = stepper.advance(&mut world, 5.0).unwrap();
        assert_eq!((report.distances, report.micro_collisions, report.woke_up), (0, 0, 0));
        assert_eq!(before, ids.iter().map(|id| world[*id].user_pose()).collect::<Vec<_>>());
        assert!(report.momentum.remainder().linear.length() < 1e-9, "{:?}", report.momentum);
        assert_eq!(report.energy.remainder(), 0.0);
        assert!(world.contacts().len() >= 4, "they still touch");
    }
}

#[test]
fn a_collision_wakes_the_tower_that_is_hit_and_no_other() {
    for mut stepper in steppers() {
        let (mut world, ids) = towers();
        stepper.advance(&mut world, 2.0).unwrap();
        world.add(ball(0.1, 0.5, 0.0).at([-1.0, 0.0, 0.3]).moving([6.0, 0.0, 1.0])).unwrap();
        stepper.advance(&mut world, 0.5).unwrap();
        assert_eq!(asleep(&world, &ids)[2..], [true, true]);
        assert!(world[ids[1]].position().x > 0.02, "{}", world[ids[1]].position());
        let woke = |id: BodyId| world.events().iter().any(|e| e.kind == EventKind::WokeUp { body: id });
        assert!(woke(ids[0]) && woke(ids[1]) && !woke(ids[2]));
        // They settle, and sleep again.
        stepper.advance(&mut world, 6.0).unwrap();
        assert_eq!(asleep(&world, &ids[..2]), [true, true]);
    }
}

#[test]
fn pushes_removals_and_gravity_wake() {
    for mut stepper in steppers() {
        let (mut world, ids) = towers();
        stepper.advance(&mut world, 2.0).unwrap();
        world.set_velocity(ids[0], Motion::new(DVec3::ZERO, DVec3::X)).unwrap();
        stepper.advance(&mut world, 0.1).unwrap();
        assert_eq!(asleep(&world, &ids), [false, false, true, true]);
        // What lay on a body that is gone falls.
        world.remove(ids[2]).unwrap();
        stepper.advance(&mut world, 0.3).unwrap();
        assert!(world[ids[3]].position().z < 0.15, "{}", world[ids[3]].position());
        stepper.advance(&mut world, 4.0).unwrap();
        assert_eq!(asleep(&world, &[ids[0], ids[1], ids[3]]), [true; 3]);
        world.set_gravity([1.0, 0.0, 9.81]).unwrap();
        stepper.advance(&mut world, 0.2).unwrap();
        assert!(world[ids[0]].velocity().linear.z > 1.5);
    }
}

/// Still for two seconds, then on its way.
#[derive(Debug)]
struct Late;

impl Script for Late {
    fn pose(&self, time: f64) -> Pose {
        Pose::from_translation(DVec3::new((time - 2.0).max(0.0), 0.0, 0.1))
    }

    fn velocity(&self, time: f64) -> Motion {
        Motion::new(DVec3::ZERO, if time >= 2.0 { DVec3::X } else { DVec3::ZERO })
    }

    fn limits(&self) -> Limits {
        Limits { speed: 1.0, angular: 0.0, acceleration: 0.0, angular_acceleration: 0.0 }
    }
}

#[test]
fn a_script_that_begins_to_move_wakes_what_lies_on_it() {
    for mut stepper in steppers() {
        let mut world = earth(0.6, 0.0);
        let cart = Cuboid::new(DVec3::new(0.5, 0.5, 0.1)).unwrap();
        world.add(Body::scripted(Late).shape(cart).friction(0.6)).unwrap();
        let id = world.add(brick(0.2, 0.2, 0.1, 0.6).at([0.0, 0.0, 0.3])).unwrap();
        stepper.advance(&mut world, 1.9).unwrap();
        assert_eq!(world[id].rest(), Rest::Asleep);
        stepper.advance(&mut world, 1.1).unwrap();
        assert_eq!(world[id].rest(), Rest::Awake);
        let x = world[id].position().x;
        assert!(x > 0.8 && x < 1.01, "carried to {x}");
    }
}

#[test]
fn what_lies_on_a_slope_that_turns_to_ice_slides() {
    let sleep = |params: &mut TimeSteppingParams, on: bool| params.sleep = on.then(TimeSleepParams::default);
    for on in [false, true] {
        for mut stepper in [cone(|p| sleep(p, on)), soft(|p| sleep(p, on))] {
            let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
            let tilt = Pose::new(DVec3::ZERO, DQuat::from_rotation_y(0.2));
            let stone = world.materials_mut().add(Material::new(0.6, 0.0, 1000.0).unwrap());
            let floor = ColliderBuilder::new(HalfSpace::up()).material(stone);
            world.add(Body::fixed().collider(floor).pose(tilt)).unwrap();
            let half = DVec3::new(0.2, 0.1, 0.1);
            let block = ColliderBuilder::new(Cuboid::new(half).unwrap()).material(stone);
            let lying = tilt * Pose::from_translation(DVec3::Z * 0.1);
            let id = world.add(Body::free().collider(block).pose(lying)).unwrap();
            stepper.advance(&mut world, 2.0).unwrap();
            assert_eq!(world[id].rest() == Rest::Asleep, on);
            let before = world[id].position();
            let ice = SurfacePair { friction: 0.0, restitution: 0.0 };
            world.materials_mut().set_pair(stone, stone, ice).unwrap();
            stepper.advance(&mut world, 1.0).unwrap();
            // ½ g sin 0.2 in the first second, to first order in the step.
            let way = (world[id].position() - before).length();
            assert_close!(way, 0.5 * G * ops::sin(0.2), rel = 0.03);
        }
    }
}
