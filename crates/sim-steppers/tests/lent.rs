//! Micro-collisions lend energy and take it back: resting and rocking bodies never have more than m g ε above what they began with,
//! and there is no trend.
//! `TUMBLESTONE_SOAK` runs a minute.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use collision_narrowphase::shapes::Ellipsoid;
use common::{G, ball, cuboid, earth, energy, parts};
use sim_math::{
    glam::{DQuat, DVec3},
    ops,
};
use sim_steppers::{EventDriven, EventDrivenParams};
use sim_traits::{Capsule, Cylinder, Shape};
use sim_world::{Anchor, Body, BodyBuilder, ForceGenerator, Stepper, World};

/// Scales of a body, m.
const SIZES: [f64; 3] = [0.01, 1.0, 10.0];

fn seconds() -> usize {
    if std::env::var_os("TUMBLESTONE_SOAK").is_some() { 60 } else { 8 }
}

/// Bodies on a floor, each given its lowest point's height by bisection, so that it begins in contact.
fn on_floor(bodies: impl IntoIterator<Item = BodyBuilder>, size: f64) -> World {
    let mut world = earth();
    for body in bodies {
        let mut probe = World::new(DVec3::ZERO).unwrap();
        probe.add(Body::fixed().shape(sim_traits::HalfSpace::up())).unwrap();
        let id = probe.add(body.clone().at([0.0, 0.0, 3.0 * size])).unwrap();
        let gap = common::smallest_separation(&probe);
        let height = probe[id].position().z - gap;
        world.add(body.at([4.0 * size * world.bodies().count() as f64, 0.0, height])).unwrap();
    }
    world
}

/// Highest energy above the first in units of m g ε of all bodies, and in the two halves of the time.
fn gains(world: &mut World, params: EventDrivenParams) -> [f64; 3] {
    let mass: f64 = world.bodies().filter(|(_, b)| b.is_free()).map(|(_, b)| b.mass()).sum();
    let unit = mass * G * params.envelope_in(world);
    let mut stepper = EventDriven::with(parts(), params);
    let first = energy(world);
    let mut halves = [f64::NEG_INFINITY; 2];
    let (n, mut booked) = (10 * seconds(), 0.0);
    for k in 0..n {
        let account = stepper.advance(world, 0.1).unwrap().energy;
        booked += account.impact + account.micro + account.friction;
        let now = energy(world) - first;
        assert!((now - booked).abs() < 1e-6 * unit.max(first.abs()), "{now} J, booked {booked}");
        halves[2 * k / n] = halves[2 * k / n].max(now / unit);
    }
    [halves[0].max(halves[1]), halves[0], halves[1]]
}

/// Checks the gains, and says what they are.
fn check(name: &str, world: &mut World, params: EventDrivenParams) -> String {
    let [most, early, late] = gains(world, params);
    assert!(most <= 1.0, "{name}: {most} m g ε above the start");
    // Three eighths may be lent at any time, and as much again is left for want of speed.
    assert!(late <= early.max(0.5) + 0.1, "{name}: {early} then {late} m g ε");
    format!("{name}: at most {most:.3} m g ε above the start, {early:.3} and {late:.3} in the halves")
}

#[test]
fn whoever_rocks_rolls_or_spins_on_a_floor_gains_less_than_a_lift_through_the_envelope() {
    for size in SIZES {
        for (e, mu) in [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.5, 0.5), (1.0, 0.5)] {
            let ellipsoid: Shape = Ellipsoid::new(DVec3::new(0.3, 0.2, 0.1) * size).unwrap().into();
            let coin: Shape = Cylinder::new(0.15 * size, 0.01 * size).unwrap().into();
            let rod: Shape = Capsule::new(0.05 * size, 0.2 * size).unwrap().into();
            let spin = (1.0 / size).sqrt();
            let shapes: [(&str, Shape, DQuat, DVec3); 6] = [
                ("ellipsoid", ellipsoid.clone(), DQuat::from_rotation_y(0.3), DVec3::ZERO),
                (
                    "skew ellipsoid",
                    ellipsoid.clone(),
                    DQuat::from_rotation_y(0.6) * DQuat::from_rotation_x(0.4),
                    DVec3::ZERO,
                ),
                ("top", ellipsoid, DQuat::from_rotation_y(1.4), DVec3::Z * 12.0 * spin),
                (
                    "box",
                    cuboid(0.2 * size, 0.15 * size, 0.1 * size),
                    DQuat::from_rotation_y(0.2),
                    DVec3::ZERO,
                ),
                ("coin", coin, DQuat::from_rotation_x(1.3), DVec3::Z * 8.0 * spin),
                ("rod", rod, DQuat::from_rotation_x(1.57), DVec3::new(0.0, 1.0, 0.3) * spin),
            ];
            for (name, shape, turn, spin) in shapes {
                let body = Body::free().shape(shape).turned(turn).spinning(spin).restitution(e).friction(mu);
                let mut world = on_floor([body], size);
                let name = format!("{name} of {size} m, e = {e}, friction {mu}");
                println!("{}", check(&name, &mut world, EventDrivenParams::for_size(size)));
            }
        }
    }
}

/// Balls side by side on springs, the first pulled aside.
fn cradle(e: f64, stiffness: f64) -> World {
    let mut world = World::new(DVec3::Z * -G).unwrap();
    let sag = 0.5 * G / stiffness;
    for k in 0..4 {
        let x = 0.2 * f64::from(k);
        let (sin, cos) = ops::sin_cos(if k == 0 { 0.5 } else { 0.0 });
        let body = ball(0.1).at([x - sin, 0.0, 1.0 - cos - sag]).mass(1.0);
        let id = world.add(body.restitution(e).friction(0.0)).unwrap();
        for y in [-0.5, 0.5] {
            let a = Anchor::World(DVec3::new(x, y, 1.0));
            let b = Anchor::Body(id, DVec3::ZERO);
            let rest_length = 1.25_f64.sqrt();
            world.add_force(ForceGenerator::Spring { a, b, stiffness, damping: 0.0, rest_length }).unwrap();
        }
    }
    world
}

#[test]
fn cradles_and_boxes_on_springs_gain_less_than_a_lift_through_the_envelope() {
    for (e, stiffness) in [(1.0, 1e3), (0.9, 1e3), (0.0, 1e3)] {
        println!(
            "{}",
            check(&format!("cradle, e = {e}"), &mut cradle(e, stiffness), EventDrivenParams::default())
        );
    }
    // A box that a spring presses on the floor and pulls to and fro.
    for e in [0.0, 1.0] {
        let body = Body::free().shape(cuboid(0.2, 0.15, 0.1)).mass(2.0).restitution(e).friction(0.1);
        let mut world = on_floor([body], 1.0);
        let id = world.bodies().find(|(_, b)| b.is_free()).unwrap().0;
        let x = world[id].position().x;
        let (a, b) = (Anchor::World(DVec3::new(x + 0.8, 0.0, -0.2)), Anchor::Body(id, DVec3::ZERO));
        world
            .add_force(ForceGenerator::Spring { a, b, stiffness: 60.0, damping: 0.0, rest_length: 0.5 })
            .unwrap();
        println!("{}", check(&format!("box on a spring, e = {e}"), &mut world, EventDrivenParams::default()));
    }
}
