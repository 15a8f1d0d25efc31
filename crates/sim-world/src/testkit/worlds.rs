//! Small worlds in which every kind of thing happens that a stepper must be able to stop, cut, save and repeat.

use crate::{
    Anchor, Body, BodyBuilder, Callback, ColliderBuilder, ForceField, ForceGenerator, Pid, Quantity, World,
    WorldError, force::Field, snapshot::Registry,
};
use rigid_impulse::{BodyModel, BodyState, motion::Shaker};
use sim_math::{
    Aabb, Pose,
    glam::{DQuat, DVec3},
    spatial::Force,
};
use sim_traits::{BodyId, Cuboid, CustomShape, HalfSpace, Shape, Sphere};
use std::{any::Any, fmt::Display, sync::Arc};

/// A world, and what its user does with it.
#[derive(Debug, Clone)]
pub struct Scene {
    /// What it is called in messages.
    pub name: &'static str,
    /// As it is at the start.
    pub world: World,
    /// The user adds, removes, pushes and moves bodies between advances: [`edit`].
    pub edited: bool,
}

pub(super) fn text(error: impl Display) -> String {
    error.to_string()
}

fn ball(radius: f64) -> Result<BodyBuilder, String> {
    Ok(Body::free().shape(Sphere::new(radius).map_err(text)?))
}

fn block(half: [f64; 3]) -> Result<BodyBuilder, String> {
    Ok(Body::free().shape(Cuboid::new(half.into()).map_err(text)?))
}

fn empty() -> Result<World, String> {
    World::new([0.0, 0.0, -9.81]).map_err(text)
}

fn floor() -> Result<World, String> {
    let mut world = empty()?;
    world.add(Body::fixed().shape(HalfSpace::up())).map_err(text)?;
    Ok(world)
}

/// Free flight: spinning bodies of all kinds of inertia, and one that flies alone.
fn flight() -> Result<World, String> {
    let mut world = empty()?;
    for (k, half) in (0..).zip([[0.1, 0.2, 0.3], [0.1, 0.1, 0.3], [0.2, 0.2, 0.2]]) {
        let body = block(half)?.at([f64::from(k), 0.0, 1.0]).spinning([1.0, 2.0, -0.7]);
        world.add(body.moving([0.1, -0.3, 2.0])).map_err(text)?;
    }
    world.add(ball(0.1)?.at([0.0, 3.0, 0.0]).moving([0.5, 0.0, 1.0])).map_err(text)?;
    Ok(world)
}

/// A ball that bounces through a sensor, and one that rolls.
pub(super) fn bounce() -> Result<World, String> {
    let mut world = floor()?;
    let sensor = ColliderBuilder::new(Sphere::new(0.2).map_err(text)?).sensor();
    world.add(Body::fixed().collider(sensor).at([0.05, 0.0, 0.3])).map_err(text)?;
    let body = ball(0.1)?.at([0.0, 0.0, 0.3]).restitution(0.7).friction(0.5);
    world.add(body.moving([0.6, 0.0, -0.5]).spinning([0.0, 3.0, 1.0])).map_err(text)?;
    world.add(ball(0.1)?.at([0.0, 1.0, 0.1 + 1e-4]).moving([0.5, 0.0, 0.0])).map_err(text)?;
    Ok(world)
}

/// Three blocks, a little apart and a little askew.
fn stack() -> Result<World, String> {
    let mut world = floor()?;
    for k in 0..3 {
        let at = [0.01 * f64::from(k), 0.0, 0.1 + 0.201 * f64::from(k)];
        world
            .add(block([0.15, 0.12, 0.1])?.at(at).turned(DQuat::from_rotation_z(0.1 * f64::from(k))))
            .map_err(text)?;
    }
    Ok(world)
}

/// A block that bounces and a ball on a damped spring between them, another spring to the sky, and drag.
fn spring() -> Result<World, String> {
    let mut world = floor()?;
    let low = world.add(block([0.1, 0.1, 0.05])?.at([0.0, 0.0, 0.12]).restitution(0.4)).map_err(text)?;
    let high = world.add(ball(0.1)?.at([0.1, 0.0, 0.7]).moving([0.0, 0.2, 0.0])).map_err(text)?;
    let (a, b) = (Anchor::Body(low, DVec3::new(0.05, 0.0, 0.05)), Anchor::Body(high, DVec3::ZERO));
    let (stiffness, damping, rest_length) = (300.0, 1.0, 0.4);
    world.add_force(ForceGenerator::Spring { a, b, stiffness, damping, rest_length }).map_err(text)?;
    let (a, b) = (Anchor::Body(high, DVec3::ZERO), Anchor::World(DVec3::new(0.0, 0.0, 1.5)));
    let (stiffness, damping, rest_length) = (100.0, 0.0, 0.5);
    world.add_force(ForceGenerator::Spring { a, b, stiffness, damping, rest_length }).map_err(text)?;
    world.add_force(ForceGenerator::Drag { body: high, linear: 0.2, angular: 0.01 }).map_err(text)?;
    Ok(world)
}

/// A block on a platform that shakes.
fn platform() -> Result<World, String> {
    let mut world = empty()?;
    let (center, amplitude) = (DVec3::ZERO, DVec3::new(0.1, 0.0, 0.05));
    let shaker = Shaker { center, amplitude, rate: 9.0, phase: 0.3, radius: 0.0 };
    let shape = Cuboid::new(DVec3::new(0.5, 0.5, 0.05)).map_err(text)?;
    world.add(Body::scripted(shaker).shape(shape)).map_err(text)?;
    world.add(block([0.1, 0.1, 0.1])?.at([0.0, 0.0, 0.2]).friction(0.4).restitution(0.3)).map_err(text)?;
    Ok(world)
}

/// Pushes its first body, and remembers how often.
fn nudge(world: &mut World, bodies: &[BodyId], memory: &mut Vec<f64>) -> Result<(), WorldError> {
    let Some(&id) = bodies.first() else { return Ok(()) };
    let calls = memory.first().copied().unwrap_or(0.0) + 1.0;
    *memory = vec![calls];
    let (mass, center) = (world.body(id)?.mass(), world.body(id)?.center());
    world.apply_impulse(id, center, DVec3::new(0.2, 0.1 * calls, 0.3) * mass)
}

/// A ball held at a speed, a block that is pushed at times of its own, and a timer.
fn controlled() -> Result<World, String> {
    let mut world = floor()?;
    let held = world.add(ball(0.1)?.at([0.0, 0.0, 0.3]).restitution(0.5)).map_err(text)?;
    let (force, torque) = (DVec3::ZERO, DVec3::ZERO);
    let motor = world.add_force(ForceGenerator::Constant { body: held, force, torque }).map_err(text)?;
    let pid = Pid::new(held, motor, Quantity::Velocity(DVec3::X), 0.03).gains(20.0, 4.0, 0.0).toward(0.5);
    world.add_controller(0.011, 0.03, pid).map_err(text)?;
    let pushed = world.add(block([0.1, 0.1, 0.1])?.at([1.0, 0.0, 0.15])).map_err(text)?;
    world.add_controller(0.02, 0.071, Callback::new("nudge", nudge, vec![pushed], vec![])).map_err(text)?;
    world.add_timer(0.05, 0.037).map_err(text)?;
    Ok(world)
}

/// The worlds of the kit.
///
/// # Errors
/// None, unless shapes or worlds refuse what they took before.
pub fn scenes() -> Result<Vec<Scene>, String> {
    let of = |name, world, edited| Scene { name, world, edited };
    Ok(vec![
        of("flight", flight()?, false),
        of("bounce", bounce()?, false),
        of("stack", stack()?, false),
        of("spring", spring()?, false),
        of("platform", platform()?, false),
        of("controlled", controlled()?, false),
        of("edited stack", stack()?, true),
        of("edited springs", spring()?, true),
    ])
}

/// What snapshots of these worlds need.
#[must_use]
pub fn registry() -> Registry {
    Registry::new().controller(Callback::new("nudge", nudge, vec![], vec![]))
}

/// What the user of an edited scene does after the `k`-th advance.
///
/// # Errors
/// None, unless the world refuses what is in order.
pub fn edit(world: &mut World, k: u32) -> Result<(), String> {
    const NEW: u64 = 77;
    let free = |world: &World| world.bodies().find(|(_, b)| b.is_free() && b.tag() != NEW).map(|(id, _)| id);
    let Some(first) = free(world) else { return Ok(()) };
    let high = DVec3::new(0.02, 0.0, 1.5 + 0.3 * f64::from(k));
    match k % 4 {
        0 => {
            world.add(ball(0.1)?.at(high).moving([0.0, 0.0, -4.0]).tag(NEW)).map_err(text)?;
            world.add(ball(0.1)?.at(high + DVec3::X).tag(NEW)).map_err(text)?;
        }
        1 => {
            // The one that was added first goes, and something else takes its slot.
            let old = world.bodies().find(|(_, b)| b.tag() == NEW).map(|(id, _)| id);
            old.map_or(Ok(()), |id| world.remove(id).map(drop)).map_err(text)?;
            world.add(block([0.1, 0.05, 0.1])?.at(high).tag(NEW)).map_err(text)?;
        }
        2 => {
            let (mass, center) = (world[first].mass(), world[first].center());
            world.apply_impulse(first, center, DVec3::new(0.3, 0.0, 0.4) * mass).map_err(text)?;
        }
        _ => {
            world.teleport(first, Pose::from_translation(high)).map_err(text)?;
            world.set_gravity([0.5, 0.0, -9.0]).map_err(text)?;
        }
    }
    Ok(())
}

/// A shape that nobody knows how to measure.
#[derive(Debug)]
struct Blob;

impl CustomShape for Blob {
    fn aabb(&self, pose: &Pose) -> Aabb {
        Aabb::from_center_half_extents(pose.translation, DVec3::ONE)
    }

    fn bounding_radius(&self) -> f64 {
        2.0
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        "blob"
    }
}

/// A force that is no number from 0.1 s on.
#[derive(Debug)]
struct Broken;

impl ForceField for Broken {
    fn wrench(&self, t: f64, _: &BodyModel, _: &BodyState) -> Force {
        Force::new(DVec3::ZERO, DVec3::splat(if t < 0.1 { 0.0 } else { f64::NAN }))
    }
}

/// Worlds that some steppers refuse at once, and others do not.
///
/// # Errors
/// As [`scenes`].
pub fn doubtful() -> Result<Vec<(&'static str, World)>, String> {
    let mut sunk = bounce()?;
    sunk.add(ball(0.1)?.at([3.0, 0.0, 0.06])).map_err(text)?;
    let mut inside = bounce()?;
    for x in [3.0, 3.15] {
        inside.add(block([0.1, 0.1, 0.1])?.at([x, 0.0, 1.0])).map_err(text)?;
    }
    let mut custom = bounce()?;
    custom.add(Body::fixed().shape(Shape::Custom(Arc::new(Blob))).at([0.0, 0.0, 0.5])).map_err(text)?;
    let mut all = vec![("ball in the floor", sunk), ("block in a block", inside), ("unknown shape", custom)];
    for name in ["muscle", "servo", "field"] {
        let mut world = bounce()?;
        let body = world.add(ball(0.1)?.at([3.0, 0.0, 1.0])).map_err(text)?;
        let force = match name {
            "muscle" => {
                let (a, b) = (Anchor::Body(body, DVec3::ZERO), Anchor::World(DVec3::new(3.0, 1.0, 1.0)));
                ForceGenerator::Muscle { a, b, tension: 1.0, damping: 0.1 }
            }
            "servo" => ForceGenerator::Servo { body, axis: DVec3::X, rate: 1.0, gain: 0.1, limit: 1.0 },
            _ => ForceGenerator::Field { body, field: Field(Arc::new(Broken)) },
        };
        world.add_force(force).map_err(text)?;
        all.push((name, world));
    }
    Ok(all)
}

/// Worlds with a body, the last, whose state stops being finite; it is far from all others.
///
/// # Errors
/// As [`scenes`].
pub fn broken() -> Result<Vec<(&'static str, World, BodyId)>, String> {
    let mut all = Vec::new();
    for (name, acceleration) in [("NaN", f64::NAN), ("1e160 m/s²", 1e160), ("1e307 m/s²", 1e307)] {
        let mut world = bounce()?;
        let body = world.add(ball(0.1)?.at([30.0, 0.0, 1.0])).map_err(text)?;
        let force = DVec3::X * acceleration * world[body].mass();
        let force = if acceleration.is_nan() {
            ForceGenerator::Field { body, field: Field(Arc::new(Broken)) }
        } else {
            ForceGenerator::Constant { body, force, torque: DVec3::ZERO }
        };
        world.add_force(force).map_err(text)?;
        all.push((name, world, body));
    }
    Ok(all)
}

/// Fails from one call to another: memory is calls so far, first that fails, first that does not.
fn fail(world: &mut World, bodies: &[BodyId], memory: &mut Vec<f64>) -> Result<(), WorldError> {
    let [calls, from, until] = memory[..] else { return Ok(()) };
    *memory = vec![calls + 1.0, from, until];
    if calls < from || calls >= until {
        return Ok(());
    }
    // What it did before stays done.
    let id = bodies.first().copied().unwrap_or(BodyId::new(0, 0));
    let velocity = world.body(id)?.velocity();
    world.set_velocity(id, velocity)?;
    Err(WorldError::UnknownBody { id: BodyId::new(u32::MAX, 0) })
}

/// A world with a controller that fails at these of its calls, and a body that flies alone.
///
/// # Errors
/// As [`scenes`].
pub fn failing(calls: [f64; 2]) -> Result<World, String> {
    let mut world = bounce()?;
    let body = world.add(ball(0.1)?.at([5.0, 0.0, 2.0]).moving([1.0, 0.0, 1.0])).map_err(text)?;
    let memory = vec![0.0, calls[0], calls[1]];
    world.add_controller(0.02, 0.05, Callback::new("fail", fail, vec![body], memory)).map_err(text)?;
    Ok(world)
}
