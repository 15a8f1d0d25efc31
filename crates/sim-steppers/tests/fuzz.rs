//! Random worlds: every kind of shape, material and body, with changes by the user in mid-run.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use collision_narrowphase::{Polyhedron, default_chain};
use common::{parts, smallest_separation};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    ops,
    testkit::{SplitMix64, soak},
};
use sim_steppers::{ContactHandling, EventDriven, EventDrivenParams};
use sim_traits::{BodyId, Capsule, Cuboid, Cylinder, HalfSpace, NarrowPhase, PairCache, Shape, Sphere};
use sim_world::{Body, BodyBuilder, Screw, Stepper, World};

/// Worlds in CI, and events in each.
const WORLDS: u64 = 100;
const EVENTS: u64 = 10_000;

/// A shape whose bounding radius is at most about `size`.
fn shape(random: &mut SplitMix64, size: f64) -> Shape {
    let mut side = || size * random.range(0.15, 0.55);
    let (x, y, z) = (side(), side(), side());
    match random.below(5) {
        0 => Sphere::new(x).unwrap().into(),
        1 => Cuboid::new(DVec3::new(x, y, z)).unwrap().into(),
        2 => Capsule::new(0.5 * x, y).unwrap().into(),
        3 => Cylinder::new(x, y).unwrap().into(),
        _ => {
            let points: Vec<_> = (0..8 + random.below(12)).map(|_| random.unit_vec3() * (x + y)).collect();
            Polyhedron::hull(&points).map_or_else(|_| Sphere::new(x).unwrap().into(), Shape::from)
        }
    }
}

/// One of the ends of the range as often as something in between.
fn coefficient(random: &mut SplitMix64, most: f64) -> f64 {
    match random.below(4) {
        0 => 0.0,
        1 => most,
        _ => random.range(0.0, most),
    }
}

/// The largest speed that things have here: a fall through the room.
fn speed(size: f64) -> f64 {
    (2.0 * 9.81 * 5.0 * size).sqrt()
}

fn body(random: &mut SplitMix64, size: f64) -> BodyBuilder {
    let mut body = Body::free();
    let friction = coefficient(random, 1.5);
    let restitution = coefficient(random, 1.0);
    for k in 0..1 + random.below(3) / 2 {
        let offset = Pose::new(DVec3::X * (size * k as f64 * 0.5), random.unit_quat());
        body = body.shape_at(shape(random, size), offset);
    }
    let spin = if random.below(5) == 0 { 50.0 } else { 2.0 };
    body.density(ops::exp(random.range(3.0, 9.0)))
        .friction(friction)
        .restitution(restitution)
        .moving(random.vec3(0.5 * speed(size)))
        .spinning(random.vec3(spin * speed(size) / size))
}

/// True if the body at the end of the list overlaps something.
fn overlaps(world: &World, id: BodyId, narrow: &dyn NarrowPhase) -> bool {
    let pose = |c: &sim_world::Collider| *world[c.body()].state().pose() * c.extent().body_from_shape;
    world.colliders().filter(|(_, c)| c.body() == id).any(|(_, mine)| {
        world.colliders().filter(|(_, other)| world.may_collide(mine, other)).any(|(_, other)| {
            let a_from_b = pose(mine).inverse_mul(&pose(other));
            let found = narrow.separation(mine.shape(), other.shape(), &a_from_b, &mut PairCache::default());
            found.unwrap().distance < 1e-6
        })
    })
}

/// Adds a body at a free place of the room, if one is found.
fn place(world: &mut World, random: &mut SplitMix64, size: f64, body: &BodyBuilder) -> Option<BodyId> {
    let narrow = default_chain();
    for _ in 0..20 {
        let at = DVec3::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0), random.range(0.4, 1.2))
            * (2.5 * size);
        let id = world.add(body.clone().at(at).turned(random.unit_quat())).unwrap();
        if !overlaps(world, id, &narrow) {
            return Some(id);
        }
        world.remove(id).unwrap();
    }
    None
}

/// A room with a floor and four leaning walls, open above; sometimes with a turning paddle on the floor's middle.
fn room(random: &mut SplitMix64, size: f64) -> World {
    let gravity = if random.below(6) == 0 { 0.0 } else { -9.81 };
    let mut world = World::new(DVec3::new(0.0, 0.0, gravity)).unwrap();
    let mut wall = |normal: DVec3, at: DVec3| {
        let half_space = HalfSpace::new(normal).unwrap();
        world.add(Body::fixed().shape(half_space).at(at).friction(0.5).restitution(0.5)).unwrap();
    };
    wall(DVec3::Z, DVec3::ZERO);
    for k in 0..4 {
        let outwards = DQuat::from_rotation_z(f64::from(k) * std::f64::consts::FRAC_PI_2) * DVec3::X;
        wall(DVec3::Z * 0.3 - outwards, outwards * (4.0 * size));
    }
    if gravity == 0.0 {
        wall(DVec3::NEG_Z, DVec3::Z * (10.0 * size));
    }
    if random.below(3) == 0 {
        let shape = Cuboid::new(DVec3::new(2.0, 0.2, 0.2) * size).unwrap();
        let start = Pose::from_translation(DVec3::Z * (0.25 * size));
        let script = Screw { start, velocity: sim_math::spatial::Motion::new(DVec3::Z * 3.0, DVec3::ZERO) };
        world.add(Body::scripted(script).shape(shape).friction(0.3).restitution(0.4)).unwrap();
    }
    world
}

fn change(world: &mut World, random: &mut SplitMix64, size: f64) {
    let free: Vec<BodyId> = world.bodies().filter(|(_, b)| b.is_free()).map(|(id, _)| id).collect();
    let Some(&id) = free.get(random.below(free.len().max(1))) else { return };
    match random.below(4) {
        0 => world.remove(id).unwrap(),
        1 => {
            let new = body(random, size);
            place(world, random, size, &new);
        }
        2 => {
            let (at, push) = (world[id].center(), random.vec3(speed(size)) * world[id].mass());
            world.apply_impulse(id, at + random.vec3(0.2 * size), push).unwrap();
        }
        _ => {
            let before = world[id].user_pose();
            let target = Pose::new(DVec3::Z * (size * random.range(3.0, 6.0)), random.unit_quat());
            world.teleport(id, target).unwrap();
            if overlaps(world, id, &default_chain()) {
                world.teleport(id, before).unwrap();
            }
        }
    }
}

/// Runs one world; `Err` says what went wrong and where.
fn run(seed: u64, events: u64) -> Result<u64, String> {
    let mut random = soak::random(seed);
    let size = ops::exp(random.range(ops::ln(1e-3), ops::ln(10.0)));
    let mut world = room(&mut random, size);
    for _ in 0..3 + random.below(10) {
        let new = body(&mut random, size);
        place(&mut world, &mut random, size, &new);
    }
    let mut params = EventDrivenParams::for_size(size);
    if random.below(2) == 0 {
        params.contact_handling = ContactHandling::Improved;
    }
    let mut stepper = EventDriven::with(parts(), params);
    let (mut done, mut frame) = (0, 0_u64);
    let dt = 0.05 * size / speed(size).max(1e-3);
    while done < events && frame < 4000 {
        let report = stepper.advance(&mut world, dt).map_err(|e| format!("frame {frame}: {e}"))?;
        done += report.events;
        for (id, body) in world.bodies() {
            let state = body.state();
            if !(state.pose().translation.is_finite()
                && body.velocity().to_array().iter().all(|x| x.is_finite()))
            {
                return Err(format!("frame {frame}: {id} is at {:?}", state.pose()));
            }
        }
        if frame % 50 == 0 {
            let least = smallest_separation(&world);
            if least < -1e-10 * size {
                return Err(format!("frame {frame}, t = {}: overlap of {least:e} m", world.time()));
            }
            change(&mut world, &mut random, size);
        }
        frame += 1;
    }
    Ok(done)
}

#[test]
fn soak_random_worlds_neither_stall_nor_explode() {
    let mut failures = Vec::new();
    let mut events = 0;
    for seed in 0..soak::cases(WORLDS) {
        match run(seed, EVENTS) {
            Ok(done) => events += done,
            Err(what) => failures.push(format!("world {seed}: {what}")),
        }
    }
    println!("{events} events, {} failures", failures.len());
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), soak::cases(WORLDS), failures.join("\n"));
}
