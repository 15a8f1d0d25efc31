//! Worlds and steppers for the scenes.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test program uses some of these helpers"
)]

use collision_narrowphase::default_chain;
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
};
use sim_steppers::{EventDriven, EventDrivenParams, Parts};
use sim_traits::{Cuboid, HalfSpace, NarrowPhase, PairCache, Shape, Sphere};
use sim_world::{Body, BodyBuilder, Collision, EventKind, World};

pub const G: f64 = 9.81;

pub fn parts() -> Parts {
    Parts::default()
}

pub fn stepper() -> EventDriven {
    EventDriven::new(parts())
}

pub fn stepper_with(change: impl FnOnce(&mut EventDrivenParams)) -> EventDriven {
    let mut params = EventDrivenParams::default();
    change(&mut params);
    EventDriven::with(parts(), params)
}

/// Earth with a floor.
pub fn earth() -> World {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    world.add(Body::fixed().shape(HalfSpace::up())).unwrap();
    world
}

pub fn ball(radius: f64) -> BodyBuilder {
    Body::free().shape(Sphere::new(radius).unwrap())
}

pub fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Cuboid::new(DVec3::new(x, y, z)).unwrap().into()
}

pub fn energy(world: &World) -> f64 {
    world.kinetic_energy() + world.potential_energy()
}

/// Ordinary collisions of the last advance, with their times.
pub fn impacts(world: &World) -> Vec<(f64, Collision)> {
    let collision = |kind: &EventKind| match kind {
        EventKind::Collision(c) => Some(*c),
        _ => None,
    };
    world.events().iter().filter_map(|e| Some((e.time, collision(&e.kind)?))).collect()
}

/// Brute force: the smallest distance between colliders of different bodies that can collide.
pub fn smallest_separation(world: &World) -> f64 {
    let narrow = default_chain();
    let colliders: Vec<_> = world.colliders().map(|(_, c)| c).collect();
    let pose = |c: &sim_world::Collider| *world[c.body()].state().pose() * c.extent().body_from_shape;
    let mut least = f64::INFINITY;
    for (k, a) in colliders.iter().enumerate() {
        for b in colliders[k + 1..].iter().filter(|b| world.may_collide(a, b)) {
            let a_from_b = pose(a).inverse_mul(&pose(b));
            let found = narrow.separation(a.shape(), b.shape(), &a_from_b, &mut PairCache::default());
            least = least.min(found.unwrap().distance);
        }
    }
    least
}

/// A cube standing on a corner, lowest point at `height`.
pub fn cube_on_corner(half: f64, height: f64) -> BodyBuilder {
    let rotation = DQuat::from_rotation_arc(DVec3::ONE.normalize(), DVec3::Z);
    let z = height + half * 3.0_f64.sqrt();
    Body::free().shape(cuboid(half, half, half)).pose(Pose::new(DVec3::new(0.0, 0.0, z), rotation))
}
