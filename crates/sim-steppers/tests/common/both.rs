//! The same world under exact time stepping and under reaction forces.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test program uses some of these helpers"
)]

use sim_math::glam::DVec3;
use sim_steppers::{Collisions, Parts, ReactionForce, ReactionForceParams, TimeStepping, TimeSteppingParams};
use sim_traits::{BodyId, Cuboid, Sphere};
use sim_world::{Body, JointPartner, Stepper, World};

pub const G: f64 = 9.81;
pub const GROUND: JointPartner = JointPartner::World;

pub fn stepping(dt: f64) -> TimeStepping {
    let mut params = TimeSteppingParams::default();
    params.dt = dt;
    TimeStepping::with(Parts::default(), params)
}

pub fn reacting(dt: f64) -> ReactionForce {
    let mut params = ReactionForceParams::default();
    (params.dt, params.collisions) = (dt, Collisions::Ignore);
    ReactionForce::new(params)
}

/// Both, with a name and whether it is the reaction forces.
pub fn both(dt: f64) -> [(bool, Box<dyn Stepper>); 2] {
    [(false, Box::new(stepping(dt))), (true, Box::new(reacting(dt)))]
}

pub fn earth() -> World {
    World::new(DVec3::new(0.0, 0.0, -G)).unwrap()
}

pub fn space() -> World {
    World::new(DVec3::ZERO).unwrap()
}

pub fn ball(world: &mut World, mass: f64, at: DVec3) -> BodyId {
    world.add(Body::free().shape(Sphere::new(0.05).unwrap()).mass(mass).at(at)).unwrap()
}

pub fn block(world: &mut World, mass: f64, half: DVec3, at: DVec3) -> BodyId {
    world.add(Body::free().shape(Cuboid::new(half).unwrap()).mass(mass).at(at)).unwrap()
}

pub fn energy(world: &World) -> f64 {
    world.kinetic_energy() + world.potential_energy()
}
