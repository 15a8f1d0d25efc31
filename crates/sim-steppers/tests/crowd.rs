//! A crowd with e = 1 in a closed box keeps its energy under time stepping.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{glam::DVec3, testkit::SplitMix64};
use sim_traits::HalfSpace;
use sim_world::{Body, Stepper, World};
use timed::{ball, brick, cone, energy};

/// Balls and boxes in a box of 4 m, 3 m and 3 m.
fn crowd(gravity: f64, size: f64, seed: u64) -> World {
    let mut world = World::new(DVec3::Z * -gravity).unwrap();
    let (low, high) = (DVec3::new(-2.0, -1.5, 0.0) * size, DVec3::new(2.0, 1.5, 3.0) * size);
    for axis in DVec3::AXES {
        for (normal, at) in [(axis, low), (-axis, high)] {
            let wall = Body::fixed().shape(HalfSpace::new(normal).unwrap()).at(axis * at.dot(axis));
            world.add(wall.restitution(1.0).friction(0.0)).unwrap();
        }
    }
    let mut random = SplitMix64(seed);
    for k in 0..64 {
        let cell = DVec3::new(
            f64::from(k % 4) - 1.5,
            f64::from(k / 4 % 4) * 0.7 - 1.05,
            0.4 + 0.7 * f64::from(k / 16),
        );
        let body = if k % 2 == 0 {
            ball(0.2 * size, 0.0, 1.0)
        } else {
            brick(0.22 * size, 0.15 * size, 0.1 * size, 0.0).restitution(1.0)
        };
        let body = body.at(cell * size).turned(random.unit_quat()).moving(random.vec3(3.0 * size.sqrt()));
        world.add(body.spinning(random.vec3(5.0) / size.sqrt())).unwrap();
    }
    world
}

#[test]
fn sixty_four_elastic_bodies_keep_their_energy() {
    let soak = std::env::var_os("TUMBLESTONE_SOAK").is_some();
    let seconds = if soak { 60 } else { 3 };
    for (gravity, size, seed) in [(9.81, 1.0, 1), (0.0, 1.0, 2), (9.81, 0.25, 3)] {
        let mut world = crowd(gravity, size, seed);
        let mut stepper = cone(|p| p.dt = 1.0 / 240.0);
        let first = energy(&world);
        let (mut worst, mut lost, mut remainder) = (0.0_f64, 0.0_f64, 0.0_f64);
        let mut collisions = 0;
        for _ in 0..seconds {
            let report = stepper.advance(&mut world, 1.0).unwrap();
            worst = worst.max((energy(&world) / first - 1.0).abs());
            lost += report.energy.impact;
            remainder += report.energy.remainder();
            collisions += report.collisions;
        }
        let [lost, remainder] = [lost, remainder].map(|x| x / first);
        println!(
            "gravity {gravity}, size {size}: energy within {worst:e}, impacts {lost:e}, remainder {remainder:e}, {collisions} collisions"
        );
        assert!(worst < 1e-3, "gravity {gravity}, size {size}: {worst}");
        assert!(lost < 1e-12, "gravity {gravity}, size {size}: impacts made {lost}");
        assert!(collisions > 100 * seconds, "{collisions} collisions");
    }
}
