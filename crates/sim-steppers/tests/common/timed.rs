//! Time stepping with each law, and scenes for it.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test program uses some of these helpers"
)]

use constraint_dynamics::{ConeGaussSeidel, ConeNewton, Greedy, PolyhedralCone, soft::SoftParams};
use lcp_lemke::Driver;
use sim_math::glam::{DQuat, DVec3};
use sim_steppers::{Parts, TimeStepping, TimeSteppingParams};
use sim_traits::{BodyId, Cuboid, Executor, HalfSpace, RowSolver, Serial, Shape, Sphere};
use sim_world::{Body, BodyBuilder, World};

pub const G: f64 = 9.81;

pub fn timed(law: impl RowSolver + 'static, change: impl FnOnce(&mut TimeSteppingParams)) -> TimeStepping {
    let mut params = TimeSteppingParams::default();
    change(&mut params);
    let parts = Parts::default().contact_law(law);
    TimeStepping::with(parts, params)
}

pub fn cone(change: impl FnOnce(&mut TimeSteppingParams)) -> TimeStepping {
    timed(ConeNewton::default(), change)
}

/// Soft contacts.
pub fn soft(change: impl FnOnce(&mut TimeSteppingParams)) -> TimeStepping {
    soft_on(Serial, change)
}

/// Soft contacts with threads.
pub fn soft_on(
    executor: impl Executor + 'static,
    change: impl FnOnce(&mut TimeSteppingParams),
) -> TimeStepping {
    let mut params = TimeSteppingParams::default();
    change(&mut params);
    let parts = Parts::default().soft(SoftParams::default()).executor(executor);
    TimeStepping::with(parts, params)
}

/// Every law, with steps of `dt` seconds.
pub fn laws(dt: f64) -> [(&'static str, TimeStepping); 4] {
    let change = |p: &mut TimeSteppingParams| p.dt = dt;
    [
        ("newton", timed(ConeNewton::default(), change)),
        ("cone", timed(ConeGaussSeidel::default(), change)),
        ("greedy", timed(Greedy::default(), change)),
        ("lemke", timed(PolyhedralCone::new(Driver::default()), change)),
    ]
}

/// Earth with a floor whose friction does not matter: surfaces are combined by their geometric mean.
pub fn earth(mu: f64, e: f64) -> World {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    world.add(Body::fixed().shape(HalfSpace::up()).friction(mu).restitution(e)).unwrap();
    world
}

pub fn ball(radius: f64, mu: f64, e: f64) -> BodyBuilder {
    Body::free().shape(Sphere::new(radius).unwrap()).friction(mu).restitution(e)
}

pub fn brick(x: f64, y: f64, z: f64, mu: f64) -> BodyBuilder {
    let shape: Shape = Cuboid::new(DVec3::new(x, y, z)).unwrap().into();
    Body::free().shape(shape).friction(mu)
}

/// A slope that falls along the heading (rad) with this tangent, and a box on it.
pub fn slope(tangent: f64, heading: f64, mu: f64) -> (World, BodyId, DVec3) {
    let mut world = World::new(DVec3::new(0.0, 0.0, -G)).unwrap();
    let turn = DQuat::from_rotation_z(heading) * DQuat::from_rotation_y(sim_math::ops::atan(tangent));
    world.add(Body::fixed().shape(HalfSpace::up()).turned(turn).friction(mu)).unwrap();
    let body = world.add(brick(0.5, 0.4, 0.3, mu).at(turn * DVec3::new(0.0, 0.0, 0.3)).turned(turn)).unwrap();
    (world, body, turn * DVec3::X)
}

pub fn energy(world: &World) -> f64 {
    world.kinetic_energy() + world.potential_energy()
}

/// Rows of bricks; each row begins at x and has so many, touching the row below.
pub fn rows(world: &mut World, half: DVec3, pitch: f64, rows: &[(f64, usize)], mu: f64) -> Vec<BodyId> {
    let mut ids = Vec::new();
    for (k, &(x, count)) in rows.iter().enumerate() {
        for n in 0..count {
            let at = DVec3::new(x + pitch * n as f64, 0.0, half.z * (2 * k + 1) as f64);
            ids.push(world.add(brick(half.x, half.y, half.z, mu).at(at)).unwrap());
        }
    }
    ids
}

pub fn positions(world: &World, ids: &[BodyId]) -> Vec<DVec3> {
    ids.iter().map(|id| world[*id].position()).collect()
}

/// Largest distance between two lists of positions.
pub fn drift(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (*x - *y).length()).fold(0.0, f64::max)
}
