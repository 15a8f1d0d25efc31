//! What slides fast, on the ground, on what slides itself, in stacks and on scripted bodies: friction takes energy, and what it takes pays back nothing of what
//! micro-collisions lend. Their work along the normal stays below m g ε of the bodies that touch, and has no trend.
//! `TUMBLESTONE_SOAK` runs a minute.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, which say what they measured"
)]

mod common;

use common::{G, cuboid, earth, energy, parts};
use rigid_impulse::motion::Shaker;
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    ops,
    spatial::Motion,
};
use sim_steppers::{EventDriven, EventDrivenParams};
use sim_traits::{Cylinder, HalfSpace, Shape};
use sim_world::{Body, BodyBuilder, Screw, Stepper, World};

/// Scales of a body, m.
const SIZES: [f64; 3] = [0.01, 0.3, 10.0];

fn seconds() -> usize {
    if std::env::var_os("TUMBLESTONE_SOAK").is_some() { 60 } else { 6 }
}

fn drum(radius: f64, half: f64) -> Shape {
    Cylinder::new(radius, half).unwrap().into()
}

/// A cup that slides over a tray, which slides over the floor against a stop.
fn cup_on_tray(size: f64, mu: f64, e: f64) -> World {
    let (mut world, speed) = (earth(), (G * size).sqrt());
    let surface = |b: BodyBuilder| b.friction(mu).restitution(e);
    world
        .add(surface(Body::fixed().shape(cuboid(0.1 * size, 2.0 * size, size))).at([4.0 * size, 0.0, 0.0]))
        .unwrap();
    let tray = surface(Body::free().shape(cuboid(size, 0.7 * size, 0.05 * size)).density(700.0));
    world.add(tray.friction(0.3 * mu).at([0.0, 0.0, 0.05 * size]).moving([2.5 * speed, 0.0, 0.0])).unwrap();
    let cup = surface(Body::free().shape(drum(0.15 * size, 0.2 * size)).density(2000.0));
    world.add(cup.at([-0.7 * size, 0.0, 0.3 * size]).moving([4.0 * speed, 0.3 * speed, 0.0])).unwrap();
    world
}

/// Slabs on each other, each sliding another way.
fn sliding_stack(size: f64, mu: f64, e: f64) -> World {
    let (mut world, speed) = (earth(), (G * size).sqrt());
    for (k, (x, y)) in [(3.0, 0.0), (1.0, 1.5), (-2.0, 0.5), (2.0, -1.0)].into_iter().enumerate() {
        let half = 1.0 - 0.2 * k as f64;
        let body =
            Body::free().shape(cuboid(half * size, half * size, 0.1 * size)).friction(mu).restitution(e);
        let z = (0.1 + 0.2 * k as f64) * size;
        world.add(body.at([0.0, 0.0, z]).moving(DVec3::new(x, y, 0.0) * speed)).unwrap();
    }
    world
}

/// A block and a stack of two on a table that a script moves.
fn on_table(size: f64, mu: f64, e: f64, shaken: bool) -> World {
    let mut world = World::new(DVec3::Z * -G).unwrap();
    let speed = (G * size).sqrt();
    let slab = cuboid(20.0 * size, 20.0 * size, 0.5 * size);
    let center = DVec3::Z * (-0.5 * size);
    let table = if shaken {
        let rate = 2.0 * (G / size).sqrt();
        let amplitude = DVec3::new(0.5, 0.2, 0.0) * size;
        Body::scripted(Shaker { center, amplitude, rate, phase: 0.3, radius: 40.0 * size })
    } else {
        let velocity = Motion::new(DVec3::ZERO, DVec3::new(2.0, 0.0, 0.0) * speed);
        Body::scripted(Screw { start: Pose::from_translation(center), velocity })
    };
    world.add(table.shape(slab).friction(mu).restitution(e)).unwrap();
    let block = |x: f64, z: f64| {
        let body = Body::free().shape(cuboid(0.3 * size, 0.2 * size, 0.1 * size)).friction(mu).restitution(e);
        body.at(DVec3::new(x, 0.0, z) * size)
    };
    world.add(block(0.0, 0.1).moving([3.0 * speed, 0.0, 0.0])).unwrap();
    world.add(block(2.0, 0.1)).unwrap();
    world.add(block(2.0, 0.3).moving([0.0, speed, 0.0]).spinning(DVec3::Z * (2.0 * speed / size))).unwrap();
    world
}

/// Slides down a slope that is too steep to stick, spinning.
fn down_a_slope(size: f64, mu: f64, e: f64) -> World {
    let mut world = World::new(DVec3::Z * -G).unwrap();
    let slope = DQuat::from_rotation_y(ops::atan2(1.3 * mu, 1.0));
    let up = slope * DVec3::Z;
    world.add(Body::fixed().shape(HalfSpace::new(up).unwrap()).friction(mu).restitution(e)).unwrap();
    let speed = (G * size).sqrt();
    let block = Body::free().shape(cuboid(0.5 * size, 0.4 * size, 0.1 * size)).friction(mu).restitution(e);
    world.add(block.turned(slope).at(up * (0.1 * size)).spinning(up * (3.0 * speed / size))).unwrap();
    let puck = Body::free().shape(drum(0.3 * size, 0.1 * size)).friction(mu).restitution(e).turned(slope);
    let at = slope * DVec3::Y * (3.0 * size) + up * (0.1 * size);
    world
        .add(puck.at(at).moving(slope * DVec3::X * (2.0 * speed)).spinning(up * (9.0 * speed / size)))
        .unwrap();
    world
}

/// Highest sum of the work of micro-collisions along the normal, in units of m g ε of all free bodies, in both halves of the time; and the highest
/// energy above the start and all work.
fn gains(world: &mut World, params: EventDrivenParams) -> ([f64; 3], u64) {
    let mass: f64 = world.bodies().filter(|(_, b)| b.is_free()).map(|(_, b)| b.mass()).sum();
    let unit = mass * G * params.envelope_in(world);
    let mut stepper = EventDriven::with(parts(), params);
    let first = energy(world);
    let (n, mut micro, mut work, mut events) = (20 * seconds(), 0.0, 0.0, 0);
    let (mut halves, mut above) = ([0.0_f64; 2], 0.0_f64);
    for k in 0..n {
        let report = stepper.advance(world, 0.05).unwrap();
        events += report.events;
        let account = report.energy;
        micro += account.micro;
        work += account.scripted;
        halves[2 * k / n] = halves[2 * k / n].max(micro / unit);
        above = above.max((energy(world) - first - work) / unit);
        assert!(account.remainder().abs() <= 1e-9 * (account.flowed + account.start));
    }
    ([halves[0], halves[1], above], events)
}

fn check(name: &str, world: &mut World) {
    let ([early, late, above], events) = gains(world, EventDrivenParams::default());
    println!("{name}: micro {early:.3}, {late:.3}; above {above:.3}; {events} events");
    assert!(early.max(late) <= 1.0 && above <= 1.0, "{name}: {early}, {late}, {above} m g ε");
    // Three quarters may be lent along normals at any time.
    assert!(late <= early.max(0.75) + 0.25, "{name}: {early} then {late} m g ε");
}

#[test]
fn what_slides_gains_less_than_a_lift_through_the_envelope() {
    for size in SIZES {
        for (mu, e) in [(0.05, 0.0), (0.3, 0.0), (0.3, 0.5), (0.6, 0.2), (0.3, 1.0)] {
            let name = |what: &str| format!("{what} of {size} m, friction {mu}, e = {e}");
            check(&name("cup on a tray"), &mut cup_on_tray(size, mu, e));
            check(&name("sliding stack"), &mut sliding_stack(size, mu, e));
            check(&name("shaken table"), &mut on_table(size, mu, e, true));
            check(&name("belt"), &mut on_table(size, mu, e, false));
            check(&name("slope"), &mut down_a_slope(size, mu, e));
        }
    }
}
