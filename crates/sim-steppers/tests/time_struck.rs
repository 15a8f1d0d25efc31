//! Bodies that are struck onto others within a step: nobody looked for contacts so far before the blow.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they found"
)]

#[path = "common/timed.rs"]
mod timed;

use sim_math::glam::DVec3;
use sim_traits::{Cuboid, Sphere};
use sim_world::{Body, Stepper, World};
use timed::cone;

/// Deepest overlap of any two of a row of balls and the wall behind it, share of the radius: the first ball is heavy and flies at the others, which
/// are at rest.
fn deepest(radius: f64, speed: f64, e: f64, balls: usize) -> f64 {
    let mut world = World::new(DVec3::ZERO).unwrap();
    let wall = Cuboid::new(DVec3::new(0.05, 20.0, 20.0) * radius).unwrap();
    let face = 3.0 * radius * balls as f64;
    world.add(Body::fixed().shape(wall).at([face + 0.05 * radius, 0.0, 0.0]).restitution(e)).unwrap();
    let mut ids = Vec::new();
    for k in 0..balls {
        let ball = Body::free().shape(Sphere::new(radius).unwrap()).restitution(e);
        let (mass, v) = if k == 0 { (1000.0, speed * radius * 60.0) } else { (1.0, 0.0) };
        // A little beside the line, so that it does not stay one.
        let at = [3.0 * radius * k as f64, 0.1 * radius * (k % 2) as f64, 0.0];
        ids.push(world.add(ball.mass(mass).at(at).moving([v, 0.0, 0.0])).unwrap());
    }
    let mut stepper = cone(|_| {});
    let mut deepest = 0.0_f64;
    for _ in 0..4 {
        stepper.advance(&mut world, 1.0 / 60.0).unwrap();
        for (k, a) in ids.iter().enumerate() {
            let at = world[*a].center();
            // Who has left the row beside the wall is free.
            if at.y.abs().max(at.z.abs()) < 20.0 * radius {
                deepest = deepest.max(at.x + radius - face);
            }
            for b in &ids[k + 1..] {
                deepest = deepest.max(2.0 * radius - (world[*b].center() - at).length());
            }
        }
    }
    deepest / radius
}

#[test]
fn balls_struck_within_a_step_stop_at_what_they_are_struck_onto() {
    for radius in [1e-3, 1.0] {
        for speed in [1.5, 3.0, 6.0] {
            for e in [0.0, 0.5, 1.0] {
                for balls in [2, 4] {
                    let found = deepest(radius, speed, e, balls);
                    assert!(
                        found < 1e-3,
                        "{balls} balls of {radius} m, {speed} radii per step, e = {e}: {found:.2e}"
                    );
                }
            }
        }
    }
}
