//! The same world under exact time stepping and under reaction forces.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test program uses some of these helpers"
)]

use collision_broadphase::CoherentHash;
use collision_narrowphase::default_chain;
use constraint_dynamics::ConeNewton;
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
};
use sim_steppers::{
    Collisions, ContactMethod, ReactionForce, ReactionForceParams, TimeParts, TimeStepping,
    TimeSteppingParams,
};
use sim_traits::{
    BodyId, Cuboid, Cylinder, Serial, Sphere,
    joint::{JointPatch, JointSurface},
};
use sim_world::{Body, Joint, JointBuilder, JointPartner, Stepper, World};

pub const G: f64 = 9.81;
pub const GROUND: JointPartner = JointPartner::World;

pub fn stepping(dt: f64) -> TimeStepping {
    let mut params = TimeSteppingParams::default();
    params.dt = dt;
    let parts = TimeParts {
        broad_phase: Box::new(CoherentHash::default()),
        narrow_phase: Box::new(default_chain()),
        contacts: ContactMethod::law(ConeNewton::default()),
        executor: Box::new(Serial),
    };
    TimeStepping::with(parts, params)
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

/// A disc of 1 kg whose axle is y, on the floor z = 0 or another plane.
pub fn disc(world: &mut World, radius: f64, at: DVec3) -> BodyId {
    let shape = Cylinder::new(radius, 0.01).unwrap();
    // The cylinder stands along z; its axle is turned to y.
    let turn = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    world.add(Body::free().shape_at(shape, Pose::from_rotation(turn)).mass(1.0).at(at)).unwrap()
}

pub fn wheel(id: BodyId, at: Pose, radius: f64) -> JointBuilder {
    let plane = JointSurface::new(JointPatch::Plane { origin: DVec3::ZERO, normal: DVec3::Z }).unwrap();
    let axle = Pose::from_rotation(DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2));
    Joint::wheel(GROUND, id, plane, radius).frames(Pose::IDENTITY, at * axle)
}
