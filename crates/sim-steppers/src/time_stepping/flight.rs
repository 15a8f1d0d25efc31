//! Velocities without contact, and the pieces that bodies are put on.
//!
//! A body that nothing touches flies on its parabola, exactly. A body in contact is moved by the velocity that the contact
//! problem gives it, along a straight line: gravity and contact have changed that velocity together at the start of the step.

use super::state::StepBodies;
use crate::pooled::pooled;
use constraint_dynamics::PoolBody;
use rigid_impulse::BodyState;
use sim_math::{
    glam::{DMat3, DVec3},
    spatial::{Force, Motion},
};
use sim_world::{Body, Law, Piece, Rest, StepperAccess, World, WorldError};

/// A body during a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyStep {
    /// Acceleration by gravity and constant forces, m/s².
    pub(super) acceleration: DVec3,
    /// Velocity at the start of the step, after impacts.
    pub(super) start: Motion,
    /// Change of velocity by all forces in the step.
    pub(super) force_change: Motion,
    /// Forces act on it that are not constant, or a torque.
    pub(super) driven: bool,
    /// Those that are no blocks of the problem, N and N·m.
    pub(super) wrench: Force,
    /// An impact changed its velocity.
    pub(super) struck: bool,
    /// A contact of the problem of the step does.
    pub(super) hit: bool,
    /// A contact of the step pushed it.
    pub(super) pushed: bool,
}

const NOTHING: PoolBody =
    PoolBody { center: DVec3::ZERO, inverse_mass: 0.0, inverse_inertia: DMat3::ZERO, velocity: Motion::ZERO };

/// Reads the bodies of the world.
pub(super) fn read_bodies(bodies: &mut StepBodies, world: &World) {
    bodies.pool.clear();
    bodies.body_steps.clear();
    for slot in 0..world.body_slots() as u32 {
        let (mut body, mut acceleration) = (NOTHING, DVec3::ZERO);
        if let Some((_, found)) = world.body_in_slot(slot) {
            body = pooled(found.model(), found.state());
            if found.rest() != Rest::Awake {
                (body.inverse_mass, body.inverse_inertia) = (0.0, DMat3::ZERO);
            } else if found.is_free() {
                acceleration = world.gravity() + found.pull();
            }
        }
        bodies.pool.push(body);
        let start = body.velocity;
        bodies.body_steps.push(BodyStep {
            acceleration,
            start,
            force_change: Motion::ZERO,
            driven: false,
            wrench: Force::ZERO,
            struck: false,
            hit: false,
            pushed: false,
        });
    }
}

/// The same without the pool, which the soft solver does not need.
pub(super) fn read_body_steps(bodies: &mut StepBodies, world: &World) {
    bodies.body_steps.clear();
    for slot in 0..world.body_slots() as u32 {
        let found = world.body_in_slot(slot).map(|(_, body)| body);
        let pulled = found.filter(|body| body.is_free() && body.rest() == Rest::Awake);
        bodies.body_steps.push(BodyStep {
            acceleration: pulled.map_or(DVec3::ZERO, |body| world.gravity() + body.pull()),
            start: found.map_or(Motion::ZERO, |body| body.state().velocity),
            force_change: Motion::ZERO,
            driven: false,
            wrench: Force::ZERO,
            struck: false,
            hit: false,
            pushed: false,
        });
    }
}

/// True if a body is on the parabola on which gravity and constant forces keep it.
pub(super) fn flies_on(bodies: &StepBodies, body: &Body, slot: u32) -> bool {
    let falls = bodies.body_steps[slot as usize].acceleration;
    matches!(body.piece().law(), Law::Ballistic { acceleration, .. } if *acceleration == falls)
}

/// Puts every body on the piece of the step that begins at the world's time.
pub(super) fn launch(bodies: &StepBodies, world: &mut StepperAccess<'_>) -> Result<(), WorldError> {
    let time = world.time();
    for slot in 0..bodies.pool.len() as u32 {
        let Some((id, body)) = world.body_in_slot(slot) else { continue };
        if !body.is_free() || body.rest() != Rest::Awake || bodies.trees.is_link(slot) {
            continue;
        }
        let (body_step, pool) = (bodies.body_steps[slot as usize], bodies.pool[slot as usize]);
        let mut state: BodyState = *body.state();
        if body_step.pushed {
            // What lies still on a piece that says so stays on it.
            let lies = pool.velocity == Motion::ZERO && state.velocity == Motion::ZERO;
            if lies
                && matches!(body.piece().law(), Law::Ballistic { acceleration, .. } if *acceleration == DVec3::ZERO)
            {
                continue;
            }
            state.velocity = pool.velocity;
            let piece = Piece::ballistic(time, body.model(), state, DVec3::ZERO);
            world.set_piece(id, piece);
        } else {
            if body_step.struck || !flies_on(bodies, body, slot) {
                state.velocity = body_step.start;
                world.relaunch(id, time, state)?;
            }
        }
    }
    Ok(())
}
