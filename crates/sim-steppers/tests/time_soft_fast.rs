//! Bodies that fly several sizes in a step under soft contacts: the solver alone does not see all that they hit.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they found"
)]

#[path = "common/timed.rs"]
mod timed;

use sim_math::glam::DVec3;
use sim_traits::{Cuboid, HalfSpace, Sphere};
use sim_world::{Body, EnergyAccount, Stepper, World};
use timed::soft;

/// Largest share of the energy that flowed that no cause explains.
fn unexplained(account: &EnergyAccount) -> f64 {
    account.remainder().abs() / (account.flowed + account.start)
}

/// A ball that bounces between two walls, several times in a step, loses neither time along them nor speed, and stays between.
#[test]
fn a_ball_bounces_between_walls_many_times_in_a_step() {
    for radius in [1e-3, 1.0] {
        for speed in [1.0, 3.0, 8.0] {
            let mut world = World::new(DVec3::ZERO).unwrap();
            for side in [-1.0, 1.0] {
                let wall = HalfSpace::new(DVec3::Y * -side).unwrap();
                let at = DVec3::Y * (1.4 * radius * side);
                world.add(Body::fixed().shape(wall).at(at).friction(0.0).restitution(1.0)).unwrap();
            }
            let v = DVec3::new(2.0, speed, 0.0) * (60.0 * radius);
            let ball = Body::free().shape(Sphere::new(radius).unwrap()).mass(1.0).friction(0.0);
            let id = world.add(ball.restitution(1.0).moving(v)).unwrap();
            let (mut stepper, mut account) = (soft(|_| {}), EnergyAccount::default());
            for step in 1..=60 {
                account = account.then(&stepper.advance(&mut world, 1.0 / 60.0).unwrap().energy);
                let (at, now) = (world[id].center() / radius, world[id].velocity().linear);
                assert!(at.y.abs() < 0.4 + 0.06, "{radius} m, {speed} radii per step: {at}");
                assert!(
                    (at.x - 2.0 * f64::from(step)).abs() < 1e-9,
                    "{radius} m, {speed} radii per step: {at}"
                );
                assert!((now.length() / v.length() - 1.0).abs() < 1e-12, "{now}");
            }
            assert!(unexplained(&account) < 1e-12, "{account:?}");
        }
    }
}

/// A ball at rest is struck by a fast one and flies at a thin wall, which nobody expected it to reach in that step.
#[test]
fn what_is_struck_in_a_step_does_not_pass_through_a_thin_wall() {
    for radius in [1e-3, 1.0] {
        for speed in [4.0, 16.0] {
            for e in [0.0, 0.5, 1.0] {
                let mut world = World::new(DVec3::ZERO).unwrap();
                let wall = Cuboid::new(DVec3::new(0.05, 20.0, 20.0) * radius).unwrap();
                world.add(Body::fixed().shape(wall).at([10.0 * radius, 0.0, 0.0]).restitution(e)).unwrap();
                let ball = || Body::free().shape(Sphere::new(radius).unwrap()).mass(1.0).restitution(e);
                let v = DVec3::X * (60.0 * speed * radius);
                let ids = [ball().moving(v).at([0.0; 3]), ball().at([3.0 * radius, 0.3 * radius, 0.0])]
                    .map(|body| world.add(body).unwrap());
                let (mut stepper, mut account) = (soft(|_| {}), EnergyAccount::default());
                for _ in 0..4 {
                    account = account.then(&stepper.advance(&mut world, 1.0 / 60.0).unwrap().energy);
                    for id in ids {
                        let x = world[id].center().x / radius;
                        assert!(x < 9.0 + 0.05, "{radius} m, {speed} radii per step, e = {e}: {x}");
                    }
                    let apart = (world[ids[0]].center() - world[ids[1]].center()).length() / radius;
                    assert!(apart > 2.0 - 0.1, "{radius} m, {speed} radii per step, e = {e}: {apart}");
                }
                assert!(unexplained(&account) < 1e-9, "e = {e}: {account:?}");
                assert!(account.end <= account.start * (1.0 + 1e-12), "e = {e}: {account:?}");
            }
        }
    }
}

/// Something heavy presses something light into a corner: it is stopped there, instead of being pushed through.
#[test]
fn what_is_heavy_does_not_press_what_is_light_through_a_corner() {
    for mass in [10.0, 1000.0] {
        for speed in [0.1, 0.5] {
            let mut world = World::new(DVec3::ZERO).unwrap();
            for normal in [DVec3::X, DVec3::Y, DVec3::Z] {
                let wall = HalfSpace::new(normal).unwrap();
                world.add(Body::fixed().shape(wall).at(normal * -1.0).friction(0.3)).unwrap();
            }
            let ball = |mass: f64| Body::free().shape(Sphere::new(1.0).unwrap()).mass(mass).friction(0.3);
            let light = world.add(ball(1.0)).unwrap();
            let along = DVec3::new(1.0, 1.0, 0.8).normalize();
            let heavy = ball(mass).at(along * 2.2).moving(along * (-60.0 * speed));
            let heavy = world.add(heavy).unwrap();
            let mut stepper = soft(|_| {});
            let mut deepest = 0.0_f64;
            for _ in 0..60 {
                stepper.advance(&mut world, 1.0 / 60.0).unwrap();
                deepest = deepest.max(-world[light].center().min_element());
                deepest = deepest.max(2.0 - (world[light].center() - world[heavy].center()).length());
            }
            println!("{mass} kg at {speed} radii per step: {deepest:.2e}");
            assert!(deepest < 0.2, "{mass} kg at {speed} radii per step: {deepest}");
        }
    }
}
