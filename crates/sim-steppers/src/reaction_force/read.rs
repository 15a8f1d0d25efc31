//! Bodies, forces and joints of a world, as reaction forces see them.
//!
//! # Reference
//!
//! Barenbrug (2000), 2.2, 3.2.3 and 4.2.1: bodies that somebody else moves have the state of the new frame; forces are constant over a frame, springs are asked
//! where their ends will be in the middle of it.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | h | length of the step | s |
//!
//! # Formula
//!
//! ```text
//! force and moment over the step = those at time t + h/2 with the poses x + ½ h ẋ and the velocities of now
//! ```
//!
//! # Cost
//!
//! One pass over bodies and forces.
//!
//! # Numerics
//!
//! The prediction by half a step makes the energy of a spring drift with h³ instead of h². Explicit all the same: h √(k/m) must stay below about 1.
//!
//! # Failure
//!
//! A force that is not finite names its body.
//!
//! # Tested by
//!
//! `a_spring_that_looks_half_a_step_ahead_keeps_its_energy`

use constraint_dynamics::reaction::{
    BodyState, JointConstraint, JointConstraints, Mobility, ReactionBody, ReactionState,
};
use rigid_impulse::{BodyError, BodyKind, BodyModel, BodyState as RigidState};
use sim_math::{
    Pose,
    glam::DVec3,
    rotation::quat_exp,
    spatial::{Force, Motion},
};
use sim_traits::{BodyId, JointId};
use sim_world::{Rest, StepError, World};

/// Bodies of the world that take part.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    /// As the kernels see them.
    pub(super) all: Vec<ReactionBody>,
    /// Their names.
    pub(super) ids: Vec<BodyId>,
    /// Number in `all` of the body in each slot, or `u32::MAX`.
    pub(super) number: Vec<u32>,
    /// Wrench over the step of forces that depend on the state, about the centre, and the part of it of elastic springs.
    pub(super) pushes: Vec<[Force; 2]>,
}

/// Joints of the world that are active.
#[derive(Debug, Default)]
pub(super) struct Joints {
    pub(super) all: JointConstraints,
    pub(super) ids: Vec<JointId>,
}

/// Reads the bodies that joints hold or forces act on that depend on the state, at the start of a step of `h` seconds.
pub(super) fn read_bodies(bodies: &mut Bodies, world: &World, h: f64) -> Result<(), StepError> {
    let Bodies { all, ids, number, pushes } = bodies;
    all.clear();
    ids.clear();
    number.clear();
    pushes.clear();
    number.resize(world.body_slots(), u32::MAX);
    let end = world.time() + h;
    let mut take = |id: BodyId| -> Result<(), StepError> {
        let Some(body) = world.get(id) else { return Ok(()) };
        let place = &mut number[id.index() as usize];
        if *place != u32::MAX {
            return Ok(());
        }
        *place = all.len() as u32;
        let state = of(body.state());
        let moved = |state| ReactionBody { mobility: Mobility::Moved(state), state, given: Force::ZERO };
        let still = BodyState { velocity: Motion::ZERO, ..state };
        all.push(match (body.kind(), body.rest()) {
            (BodyKind::Free(mass), Rest::Awake) => {
                let weight = (world.gravity() + body.pull()) * mass.mass();
                let mobility = Mobility::Free { mass: mass.mass(), moments: mass.moments() };
                ReactionBody { mobility, state, given: Force::new(DVec3::ZERO, weight) }
            }
            (BodyKind::Scripted, _) => {
                let next = body.at(end).map_err(|source| StepError::Body { body: id, source })?;
                ReactionBody { mobility: Mobility::Moved(of(&next)), state, given: Force::ZERO }
            }
            _ => moved(still),
        });
        ids.push(id);
        pushes.push([Force::ZERO; 2]);
        Ok(())
    };
    for (_, joint) in world.joints().filter(|(_, j)| j.is_active()) {
        joint.bodies().iter().try_for_each(|id| take(*id))?;
    }
    for (_, force) in world.forces().filter(|(_, f)| !f.is_uniform()) {
        force.bodies().try_for_each(&mut take)?;
    }
    Ok(())
}

/// Adds the forces that depend on the state.
pub(super) fn read_forces(bodies: &mut Bodies, world: &World, h: f64) -> Result<(), StepError> {
    let Bodies { all, ids, number, pushes } = bodies;
    let middle = |id: BodyId| -> Option<(&BodyModel, RigidState)> {
        let body = world.get(id)?;
        let mut state = *body.state();
        let (pose, v) = (*state.pose(), state.velocity);
        let rotation = (quat_exp(v.angular * (0.5 * h)) * pose.rotation).normalize();
        // A pose that is not finite stays where it was: the push says what is wrong.
        let _ = state.set_pose(Pose::new(pose.translation + v.linear * (0.5 * h), rotation));
        Some((body.model(), state))
    };
    for (_, force) in world.forces().filter(|(_, f)| !f.is_uniform()) {
        let elastic = world.is_elastic(force);
        force.apply(world.time() + 0.5 * h, &middle, &mut |id, push| {
            let k = number.get(id.index() as usize).copied().unwrap_or(u32::MAX) as usize;
            if let Some([all, springs]) = pushes.get_mut(k) {
                *all += push;
                if elastic {
                    *springs += push;
                }
            }
        });
    }
    for ((body, push), id) in all.iter_mut().zip(pushes.iter()).zip(ids.iter()) {
        if !body.is_free() {
            continue;
        }
        body.given += push[0];
        let numbers = body.given.to_array().into_iter().chain(body.state.velocity.to_array());
        // Of what cannot be squared no error can be taken.
        if let Some(value) = numbers.map(|x| x * x).find(|x| !x.is_finite()) {
            let source = BodyError::NonFinite { what: "force or velocity", value };
            return Err(StepError::Body { body: *id, source });
        }
    }
    Ok(())
}

/// Takes over the active joints of the world; what rows remember goes with their joints.
pub(super) fn read_joints(joints: &mut Joints, state: &mut ReactionState, bodies: &Bodies, world: &World) {
    let mut active = world.joints().filter(|(_, j)| j.is_active()).map(|(id, _)| id);
    let same = joints.ids.iter().all(|id| active.next() == Some(*id)) && active.next().is_none();
    if !same {
        let old = std::mem::take(&mut joints.ids);
        joints.ids.extend(world.joints().filter(|(_, j)| j.is_active()).map(|(id, _)| id));
        state.reorder(joints.ids.iter().map(|id| old.iter().position(|o| o == id)));
        joints.all.joints.clear();
    }
    let known = joints.all.joints.len();
    for (k, (_, joint)) in world.joints().filter(|(_, j)| j.is_active()).enumerate() {
        let numbers = joint.bodies().iter().map(|b| bodies.number[b.index() as usize]);
        if k < known {
            let constraint = &mut joints.all.joints[k];
            if constraint.model != *joint.model() {
                constraint.model.clone_from(joint.model());
            }
            constraint.memory.clear();
            constraint.memory.extend_from_slice(joint.memory());
            constraint.bodies.clear();
            constraint.bodies.extend(numbers);
        } else {
            joints.all.joints.push(JointConstraint {
                model: joint.model().clone(),
                bodies: numbers.collect(),
                memory: joint.memory().to_vec(),
                stiffness: 1.0,
            });
        }
    }
}

fn of(state: &RigidState) -> BodyState {
    BodyState { pose: *state.pose(), velocity: state.velocity }
}
