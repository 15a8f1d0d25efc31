//! Springs, drag and torques under time stepping.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{assert_close, glam::DVec3, ops};
use sim_steppers::TimeSteppingParams;
use sim_world::{Anchor, ForceGenerator, Stepper, World};
use timed::{G, ball, brick, cone, earth};

#[test]
fn a_weight_hangs_from_its_spring_at_any_stiffness() {
    for stiffness in [100.0, 1e4, 1e8] {
        let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
        let id = world.add(ball(0.1, 0.5, 0.0).mass(2.0).at([0.0, 0.0, -1.0])).unwrap();
        let spring = ForceGenerator::Spring {
            a: Anchor::World(DVec3::ZERO),
            b: Anchor::Body(id, DVec3::ZERO),
            stiffness,
            damping: 5.0,
            rest_length: 1.0,
        };
        world.add_force(spring).unwrap();
        let mut stepper = cone(|_| {});
        let report = stepper.advance(&mut world, 20.0).unwrap();
        // Static load: extension m g / k.
        assert_close!(world[id].position().z, -1.0 - 2.0 * G / stiffness, abs = 1e-6);
        assert!(world.kinetic_energy() < 1e-9);
        let e = report.energy;
        assert!(e.remainder().abs() < 1e-12 * e.flowed && e.stepping < 0.0 && e.forces < 0.0, "{e:?}");
        let left = report.momentum.remainder().linear.length();
        assert!(left < 1e-9, "{left}");
    }
}

#[test]
fn an_undamped_spring_swings_with_its_frequency_as_the_step_shrinks() {
    let mut errors = Vec::new();
    for dt in [1e-3, 5e-4, 2.5e-4] {
        let mut world = World::new(DVec3::ZERO).unwrap();
        let id = world.add(ball(0.1, 0.5, 0.0).mass(1.0).at([1.5, 0.0, 0.0])).unwrap();
        let spring = ForceGenerator::Spring {
            a: Anchor::World(DVec3::ZERO),
            b: Anchor::Body(id, DVec3::ZERO),
            stiffness: 4.0,
            damping: 0.0,
            rest_length: 1.0,
        };
        world.add_force(spring).unwrap();
        cone(|p: &mut TimeSteppingParams| p.dt = dt).advance(&mut world, 1.0).unwrap();
        errors.push((world[id].position().x - 1.0 - 0.5 * ops::cos(2.0)).abs());
    }
    assert!(errors[0] / errors[1] > 1.8 && errors[1] / errors[2] > 1.8 && errors[2] < 1e-3, "{errors:?}");
}

#[test]
fn drag_gives_the_terminal_speed_and_a_torque_spins() {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    let id = world.add(ball(0.1, 0.5, 0.0).mass(2.0)).unwrap();
    world.add_force(ForceGenerator::Drag { body: id, linear: 4.0, angular: 0.1 }).unwrap();
    world
        .add_force(ForceGenerator::Constant { body: id, force: DVec3::ZERO, torque: DVec3::Z * 0.2 })
        .unwrap();
    let mut stepper = cone(|_| {});
    stepper.advance(&mut world, 20.0).unwrap();
    let v = world[id].velocity();
    assert_close!(v.linear.z, -2.0 * G / 4.0, rel = 1e-9);
    assert_close!(v.angular.z, 2.0, rel = 1e-9);
}

#[test]
fn a_spring_presses_a_block_to_the_floor_and_friction_holds_it() {
    // Pulled sideways with less than μ (m g + pressure): it stays.
    let mut world = earth(0.5, 0.0);
    let id = world.add(brick(0.2, 0.2, 0.2, 0.5).mass(1.0).at([0.0, 0.0, 0.2])).unwrap();
    let down = ForceGenerator::Spring {
        a: Anchor::World(DVec3::new(0.0, 0.0, -1.0)),
        b: Anchor::Body(id, DVec3::ZERO),
        stiffness: 50.0,
        damping: 0.0,
        rest_length: 1.0,
    };
    world.add_force(down).unwrap();
    world
        .add_force(ForceGenerator::Constant { body: id, force: DVec3::X * 9.0, torque: DVec3::ZERO })
        .unwrap();
    let mut stepper = cone(|_| {});
    stepper.advance(&mut world, 1.0).unwrap();
    let start = world[id].position();
    stepper.advance(&mut world, 5.0).unwrap();
    assert!((world[id].position() - start).length() < 1e-9);
    let contact = world.contacts()[0];
    assert_close!(contact.impulse.z.abs() / 5.0, G + 50.0 * 0.2, rel = 1e-6);
}
