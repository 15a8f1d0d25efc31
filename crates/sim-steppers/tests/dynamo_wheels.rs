//! Wheels that roll without slip, under exact time stepping and under reaction forces.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "common/mechanisms.rs"]
mod common;

use common::{G, GROUND, block, both, disc, earth, energy, reacting, wheel};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    integrate::Rk4,
    ops,
    spatial::Motion,
};
use sim_world::{Joint, Stepper, World};

// proves-part: DYN-76
// Down an incline, a = g sin α/(1 + J/mr²); and in a steady turn on a circle.
#[test]
fn discs_roll_down_and_around() {
    for (reacts, mut stepper) in both(1.0 / 480.0) {
        let (slope, r) = (0.3, 0.3);
        let mut world = World::new(DVec3::new(ops::sin(slope), 0.0, -ops::cos(slope)) * G).unwrap();
        let id = disc(&mut world, r, DVec3::Z * r);
        let inertia = 0.5;
        world.add_joint(wheel(id, Pose::from_translation(DVec3::Z * r), r)).unwrap();
        stepper.advance(&mut world, 1.0).unwrap();
        let expected = 0.5 * G * ops::sin(slope) / (1.0 + inertia);
        println!("reaction forces {reacts}: rolled {}, expected {expected}", world[id].position().x);
        assert!((world[id].position().x / expected - 1.0).abs() < if reacts { 1e-4 } else { 1e-2 });
        let slip = world[id].velocity().linear.x - world[id].velocity().angular.y * r;
        assert!(slip.abs() < 1e-5, "{slip}");
    }
}

// proves: DYN-77
#[test]
fn a_coin_that_lies_flat_is_let_go() {
    for (reacts, mut stepper) in both(1.0 / 480.0) {
        let mut world = earth();
        let r = 0.3;
        let id = disc(&mut world, r, DVec3::Z * r);
        let tilt = DQuat::from_rotation_x(0.2);
        let pose = Pose::new(tilt * (DVec3::Z * r), tilt);
        world.teleport(id, pose).unwrap();
        world.add_joint(wheel(id, pose, r)).unwrap();
        let mut let_go = None;
        for _ in 0..480 {
            stepper.advance(&mut world, 1.0 / 480.0).unwrap();
            let axle = world[id].user_pose().rotation * DVec3::Y;
            let lowest = world[id].position().z - r * (1.0 - axle.z * axle.z).sqrt();
            if let_go.is_none() && lowest < -1e-3 {
                let_go = Some(axle.z.abs());
            }
        }
        println!("reaction forces {reacts}: let go at |n·a| = {let_go:?}");
        // Beyond 15 degrees from lying flat.
        let least = ops::cos(15.0_f64.to_radians());
        assert!((least..least + 0.03).contains(&let_go.unwrap()));
    }
}

// proves: DYN-78
#[test]
fn a_free_wheel_keeps_its_energy() {
    let mut world = earth();
    let r = 0.3;
    let id = disc(&mut world, r, DVec3::Z * r);
    world.add_joint(wheel(id, Pose::from_translation(DVec3::Z * r), r)).unwrap();
    world.set_velocity(id, Motion::new(DVec3::Y * 5.0, DVec3::X * 1.5)).unwrap();
    let start = world.kinetic_energy();
    for (name, mut stepper) in [("heun", reacting(0.01)), ("rk4", reacting(0.01).integrator(Rk4))] {
        let mut world = world.clone();
        stepper.advance(&mut world, 100.0).unwrap();
        let drift = world.kinetic_energy() / start - 1.0;
        println!("{name}: energy of a wheel off by {drift:e} after 10⁴ steps, at {}", world[id].position());
        assert!(drift.abs() < 1e-6 && (world[id].position().x - 150.0).abs() < 1e-3);
    }
}

// proves: DYN-122
// A four-bar linkage beside a wheel on a hinge: loops and rolling in one world.
#[test]
fn loops_and_rolling_mix() {
    for (reacts, mut stepper) in both(1.0 / 480.0) {
        let mut world = earth();
        let bars = [
            (DVec3::new(0.0, 0.0, 0.5), DVec3::new(0.02, 0.02, 0.5), DVec3::new(0.0, 0.0, 0.0)),
            (DVec3::new(0.5, 0.0, 1.0), DVec3::new(0.5, 0.02, 0.02), DVec3::new(0.0, 0.0, 1.0)),
            (DVec3::new(1.0, 0.0, 0.5), DVec3::new(0.02, 0.02, 0.5), DVec3::new(1.0, 0.0, 1.0)),
        ]
        .map(|(at, half, pin)| (block(&mut world, 1.0, half, at + DVec3::Y * 5.0), pin + DVec3::Y * 5.0));
        let mut pins = vec![];
        let mut before = GROUND;
        for (id, pin) in bars {
            pins.push(world.add_joint(Joint::hinge(before, id).anchor(pin).axis([0.0, 1.0, 0.0])).unwrap());
            before = id.into();
        }
        pins.push(
            world
                .add_joint(Joint::hinge(before, GROUND).anchor([1.0, 5.0, 0.0]).axis([0.0, 1.0, 0.0]))
                .unwrap(),
        );
        world.set_velocity(bars[0].0, Motion::new(DVec3::Y * 0.5, DVec3::X * 0.25)).unwrap();
        world.set_velocity(bars[1].0, Motion::new(DVec3::ZERO, DVec3::X * 0.5)).unwrap();
        world.set_velocity(bars[2].0, Motion::new(DVec3::Y * 0.5, DVec3::X * 0.25)).unwrap();
        // A cart: a wheel on a hinge of a frame that does not turn.
        let r = 0.3;
        let id = disc(&mut world, r, DVec3::Z * r);
        let frame = block(&mut world, 2.0, DVec3::new(0.1, 0.05, 0.1), DVec3::new(0.0, 0.3, r));
        pins.push(world.add_joint(wheel(id, Pose::from_translation(DVec3::Z * r), r)).unwrap());
        pins.push(
            world.add_joint(Joint::hinge(frame, id).anchor([0.0, 0.0, r]).axis([0.0, 1.0, 0.0])).unwrap(),
        );
        world.add_joint(Joint::orientation(GROUND, frame)).unwrap();
        world.set_velocity(id, Motion::new(DVec3::Y * 2.0, DVec3::X * 0.6)).unwrap();
        world.set_velocity(frame, Motion::new(DVec3::ZERO, DVec3::X * 0.6)).unwrap();
        let start = energy(&world);
        for _ in 0..10 {
            stepper.advance(&mut world, 0.05).unwrap();
            for &pin in &pins {
                let miss = world.joint_error(pin).unwrap();
                assert!(miss.linear < 2e-5 && miss.angular < 1e-4, "reaction forces {reacts}: {miss:?}");
            }
        }
        println!(
            "reaction forces {reacts}: cart at {}, energy {start} -> {}",
            world[id].position().x,
            energy(&world)
        );
        assert!((world[id].position().x - 0.3).abs() < 1e-3 && (energy(&world) / start - 1.0).abs() < 2e-2);
        assert!((world[bars[1].0].position().x - 0.5).abs() > 0.1, "the linkage moves");
    }
}
