//! Round bodies that roll and spin fast cost no more looks than slow ones: what turns about its own axis of symmetry stays where it is.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, which say what they measured"
)]

mod common;

use collision_narrowphase::shapes::{Ellipsoid, Frustum};
use common::{G, cuboid, earth, smallest_separation, stepper};
use sim_math::glam::{DQuat, DVec3};
use sim_traits::{Capsule, Cylinder, Shape, Sphere};
use sim_world::{Body, Stepper, World};
use std::f64::consts::FRAC_PI_2;

const STEP: f64 = 1.0 / 60.0;

/// Most events and mean number of events in a step of 1/60 s, over a second.
fn cost(world: &mut World) -> (u64, f64) {
    let (mut most, mut sum) = (0, 0);
    let mut stepper = stepper();
    for _ in 0..60 {
        let report = stepper.advance(world, STEP).unwrap();
        let e = &report.energy;
        assert!(e.remainder().abs() <= 1e-9 * (e.flowed + e.start));
        assert!(smallest_separation(world) > -1e-12);
        most = most.max(report.events);
        sum += report.events;
    }
    (most, sum as f64 / 60.0)
}

/// A body of a size (m) about its axis z, how it lies on the floor, and how high.
fn round(name: &str, s: f64) -> (Shape, DQuat, f64) {
    let flat = DQuat::IDENTITY;
    let lying = DQuat::from_rotation_x(FRAC_PI_2);
    match name {
        "ball" => (Sphere::new(s).unwrap().into(), flat, 1.0),
        "roller" => (Cylinder::new(s, 0.7 * s).unwrap().into(), lying, 1.0),
        "puck" => (Cylinder::new(s, 0.3 * s).unwrap().into(), flat, 0.3),
        "capsule" => (Capsule::new(0.5 * s, 0.8 * s).unwrap().into(), lying, 0.5),
        "frustum" => (Frustum::new(0.8 * s, 0.4 * s, 0.5 * s).unwrap().into(), flat, 0.6),
        "spheroid" => (Ellipsoid::new(DVec3::new(0.6, 0.6, 1.0) * s).unwrap().into(), lying, 0.6),
        "egg" => (Ellipsoid::new(DVec3::new(0.6, 0.6, 1.0) * s).unwrap().into(), flat, 1.0),
        "ellipsoid" => (Ellipsoid::new(DVec3::new(0.6, 0.7, 1.0) * s).unwrap().into(), lying, 0.7),
        _ => (cuboid(0.5 * s, 0.6 * s, 0.7 * s), flat, 0.7),
    }
}

const NAMES: [&str; 9] =
    ["ball", "roller", "puck", "capsule", "frustum", "spheroid", "egg", "ellipsoid", "box"];

/// A body on the floor that rolls or spins about its axis so fast that points of it have `ratio` times the acceleration of gravity.
fn spinning(name: &str, size: f64, ratio: f64, mu: f64) -> World {
    let (shape, turn, height) = round(name, size);
    let mut world = earth();
    let spin = (ratio * G / size).sqrt();
    let axis = turn * DVec3::Z;
    let body = Body::free().shape(shape).turned(turn).at([0.0, 0.0, height * size * 1.001]);
    let along = axis.cross(DVec3::Z) * (spin * height * size);
    world.add(body.spinning(axis * spin).moving(along).friction(mu).restitution(0.3)).unwrap();
    world
}

#[test]
fn what_spins_fast_costs_no_more_than_what_rests() {
    for name in NAMES {
        for size in [1e-3, 0.1, 10.0] {
            for mu in [0.0, 0.5] {
                let slow = cost(&mut spinning(name, size, 0.0, mu));
                for ratio in [1.0, 300.0, 3000.0] {
                    let (most, mean) = cost(&mut spinning(name, size, ratio, mu));
                    println!(
                        "{name} of {size} m, {ratio} g, friction {mu}: {most}, {mean:.1} a step; at rest {slow:?}"
                    );
                    // Without knowing what is round: up to 65 times as many.
                    assert!(
                        mean < 2.5 * slow.1 + 3.0,
                        "{name} of {size} m: {mean} events a step, {slow:?} at rest"
                    );
                    // Who is thrown off the floor falls back, and tumbles.
                    let few = 6 * slow.0 + 70;
                    assert!(most < few, "{name} of {size} m: {most} events in a step, {slow:?} at rest");
                }
            }
        }
    }
}
