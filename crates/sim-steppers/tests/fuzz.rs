//! Random worlds: every kind of shape, material and body, with changes by the user in mid-run.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests fail by panicking; a soak says what it ran"
)]

mod common;

use collision_narrowphase::{Polyhedron, default_chain};
use common::{parts, smallest_separation};
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
    ops,
    testkit::{SplitMix64, soak},
};
use sim_steppers::{ContactHandling, EventDriven, EventDrivenParams, SleepParams};
use sim_traits::{BodyId, Capsule, Cuboid, Cylinder, HalfSpace, NarrowPhase, PairCache, Shape, Sphere};
use sim_world::{
    Anchor, Body, BodyBuilder, ColliderBuilder, ForceGenerator, Groups, Screw, StepReport, Stepper, World,
};

/// Worlds in CI, and events in each.
const WORLDS: u64 = 100;
const EVENTS: u64 = 10_000;
/// A world that needs more frames than this makes no progress.
const FRAMES: u64 = 100_000;

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
        0 => drop(world.remove(id).unwrap()),
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

/// What a world has besides bodies: nothing, or forces, sensors, timers, sleep and filters that change.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    Furnished,
}

/// A free body drawn at random, if there is one.
fn any_free(world: &World, random: &mut SplitMix64) -> Option<BodyId> {
    let free: Vec<BodyId> = world.bodies().filter(|(_, b)| b.is_free()).map(|(id, _)| id).collect();
    free.get(random.below(free.len().max(1))).copied()
}

/// A spring, a damper or a constant pull, each of the order of the weight.
fn force(world: &World, random: &mut SplitMix64, size: f64) -> Option<ForceGenerator> {
    let (body, other) = (any_free(world, random)?, any_free(world, random)?);
    let (mass, rate) = (world[body].mass(), speed(size) / size);
    Some(match random.below(4) {
        0 => ForceGenerator::Drag {
            body,
            linear: mass * rate * random.range(0.0, 1.0),
            angular: mass * rate * size * size * random.range(0.0, 0.1),
        },
        1 => ForceGenerator::Constant {
            body,
            force: random.vec3(5.0 * mass),
            torque: random.vec3(mass * size),
        },
        k => {
            let end = Anchor::Body(other, random.vec3(0.2 * size));
            let world_end = Anchor::World(DVec3::Z * (2.0 * size) + random.vec3(size));
            ForceGenerator::Spring {
                a: Anchor::Body(body, random.vec3(0.2 * size)),
                b: if k == 2 && body != other { end } else { world_end },
                stiffness: mass * rate * rate * ops::exp(random.range(-3.0, 3.0)),
                damping: mass * rate * coefficient(random, 1.0),
                rest_length: size * coefficient(random, 1.5),
            }
        }
    })
}

/// Sensors, timers and forces.
fn furnish(world: &mut World, random: &mut SplitMix64, size: f64) {
    if random.below(2) == 0 {
        let zone = ColliderBuilder::new(shape(random, 3.0 * size)).sensor();
        world.add(Body::fixed().collider(zone).at(DVec3::Z * size)).unwrap();
    }
    if random.below(2) == 0 {
        world.add_timer(0.0, size / speed(size) * random.range(0.01, 1.0)).unwrap();
    }
    for _ in 0..random.below(4) {
        if let Some(force) = force(world, random, size) {
            world.add_force(force).unwrap();
        }
    }
}

/// Changes that only furnished worlds see.
fn refurnish(world: &mut World, random: &mut SplitMix64, size: f64) {
    let (Some(a), Some(b)) = (any_free(world, random), any_free(world, random)) else { return };
    match random.below(5) {
        0 if a != b => {
            let ignored = world.ignores(a, b);
            world.ignore(a, b, !ignored).unwrap();
            if overlaps(world, a, &default_chain()) {
                world.ignore(a, b, true).unwrap();
            }
        }
        1 => {
            let part = world[a].colliders()[0];
            let (before, kind) = (world.collider(part).unwrap().groups(), 2 << random.below(2));
            world.set_groups(part, Groups { member: kind, mask: !kind }).unwrap();
            if overlaps(world, a, &default_chain()) {
                world.set_groups(part, before).unwrap();
            }
        }
        2 if world.gravity() != DVec3::ZERO => {
            let pull =
                DVec3::new(random.range(-3.0, 3.0), random.range(-3.0, 3.0), random.range(-15.0, -3.0));
            world.set_gravity(pull).unwrap();
        }
        3 => {
            if let Some(force) = force(world, random, size) {
                world.add_force(force).unwrap();
            }
        }
        _ => {
            let forces: Vec<_> = world.forces().map(|(id, _)| id).collect();
            if let Some(&id) = forces.get(random.below(forces.len().max(1))) {
                world.remove_force(id).unwrap();
            }
        }
    }
}

/// Throws everything about, and sees to it that there are three bodies at least.
fn stir(world: &mut World, random: &mut SplitMix64, size: f64) {
    let free: Vec<BodyId> = world.bodies().filter(|(_, b)| b.is_free()).map(|(id, _)| id).collect();
    for _ in free.len()..3 {
        let new = body(random, size);
        place(world, random, size, &new);
    }
    for id in free {
        let (at, push) = (world[id].center(), random.vec3(speed(size)) * world[id].mass());
        world.apply_impulse(id, at + random.vec3(0.2 * size), push).unwrap();
    }
}

/// Saves world and stepper, restores both, and moves the two pairs on by `dt` (s): they must agree to the bit. Returns what was restored.
#[cfg(feature = "serde")]
fn reload(world: &mut World, stepper: &mut EventDriven, dt: f64) -> Result<(World, EventDriven), String> {
    let registry = sim_world::Registry::new();
    let mut other = World::restore(&world.snapshot(&registry).unwrap(), &registry).unwrap();
    let mut fresh = EventDriven::with(parts(), *stepper.params());
    fresh.load(&other, &stepper.save(world).unwrap()).unwrap();
    let (a, b) = (stepper.advance(world, dt), fresh.advance(&mut other, dt));
    let same = a == b && world.digest() == other.digest() && world.events() == other.events();
    if same { Ok((other, fresh)) } else { Err("the restored world went elsewhere".to_owned()) }
}

/// The account of an advance explains what changed.
fn account(report: &StepReport) -> Result<(), String> {
    let e = &report.energy;
    let moved = [e.start, e.gravity, e.forces, e.scripted, e.impact, e.micro, e.friction, e.sleep];
    let scale: f64 = moved.into_iter().map(f64::abs).sum();
    let left = e.remainder();
    if left.abs() <= 1e-9 * scale { Ok(()) } else { Err(format!("{left} of {scale} J unexplained: {e:?}")) }
}

/// Moves on by `dt` (s), event by event, and looks for overlaps by brute force after each.
fn each_event(
    world: &mut World,
    stepper: &mut EventDriven,
    dt: f64,
    size: f64,
) -> Result<StepReport, String> {
    let (until, mut total) = (world.time() + dt, StepReport::default());
    stepper.prepare(world).map_err(|e| e.to_string())?;
    while world.time() < until {
        let next = stepper.next_event().unwrap_or(until).min(until);
        let wait = (next - world.time()).max(0.0);
        let report = stepper.advance(world, wait).map_err(|e| e.to_string())?;
        total = if total.events == 0 { report } else { total.then(&report) };
        let least = smallest_separation(world);
        if least < -1e-10 * size {
            return Err(format!("t = {}: overlap of {least:e} m after an event", world.time()));
        }
    }
    Ok(total)
}

/// Runs one world; `Err` says what went wrong and where.
fn run(seed: u64, events: u64, kind: Kind) -> Result<u64, String> {
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
    if kind == Kind::Furnished {
        furnish(&mut world, &mut random, size);
        params.sleep = (random.below(2) == 0).then(SleepParams::default);
        params.sweep = [1.0, 1.0, 0.3][random.below(3)];
    }
    let mut stepper = EventDriven::with(parts(), params);
    let (mut done, mut frame, mut before) = (0, 0_u64, 0);
    let dt = 0.05 * size / speed(size).max(1e-3);
    while done < events {
        let report = if seed % 25 == 0 {
            each_event(&mut world, &mut stepper, dt, size)
        } else {
            stepper.advance(&mut world, dt).map_err(|e| e.to_string())
        };
        let report = report.map_err(|e| format!("frame {frame}: {e}"))?;
        done += report.events;
        account(&report).map_err(|e| format!("frame {frame}: {e}"))?;
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
            if kind == Kind::Furnished {
                refurnish(&mut world, &mut random, size);
                #[cfg(feature = "serde")]
                if random.below(8) == 0 {
                    (world, stepper) =
                        reload(&mut world, &mut stepper, dt).map_err(|e| format!("frame {frame}: {e}"))?;
                }
            }
            // Worlds that have come to rest are no test.
            if done < before + 200 {
                stir(&mut world, &mut random, size);
            }
            before = done;
        }
        frame += 1;
        if frame > FRAMES {
            return Err(format!("only {done} events in {frame} frames"));
        }
    }
    Ok(done)
}

/// Runs worlds of a kind, each to its last event.
fn soak_worlds(kind: Kind, first: u64) {
    let mut failures = Vec::new();
    let mut events = 0;
    let worlds = soak::cases(WORLDS);
    for seed in first..first + worlds {
        match run(seed, EVENTS, kind) {
            Ok(done) => events += done,
            Err(what) => failures.push(format!("world {seed}: {what}")),
        }
    }
    println!("{kind:?}: {events} events, {} failures", failures.len());
    assert!(failures.is_empty(), "{} of {worlds}:\n{}", failures.len(), failures.join("\n"));
    assert!(events >= worlds * EVENTS);
}

#[test]
fn soak_random_worlds_neither_stall_nor_explode() {
    soak_worlds(Kind::Plain, 0);
}

#[test]
fn soak_furnished_worlds_neither_stall_nor_explode() {
    soak_worlds(Kind::Furnished, 1 << 32);
}
