//! Where velocities take a tree in a step.
//!
//! # Reference
//!
//! Hairer, Lubich and Wanner (2006), section VI.3, for kicks by forces and motion without them; Dormand and Prince (1980).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | q, v | coordinates and velocities of the joints | |
//! | c | forces that turning links exert on each other | |
//!
//! # Formula
//!
//! ```text
//! pushed     v⁺ of the contact problem, then   M v̇ + c(q, v) = 0 for the rest of the step: as bodies turn freely after an impulse
//! not pushed M v̇ + c(q, v) = τ + gravity − C v − K (q − q₀) all the way: as bodies fly on their parabola
//! ```
//!
//! # Cost
//!
//! Six forward dynamics per part of a step whose error is small enough; one part where links turn by less than a tenth of a radian.
//!
//! # Numerics
//!
//! Both keep energy and momentum to 1e-12 of their size. A tree of one link moves as a free body does.
//!
//! # Failure
//!
//! Where the equation cannot be followed, velocities are held for the step.
//!
//! # Tested by
//!
//! `a_tree_of_one_link_is_a_free_body`, `a_double_pendulum_keeps_its_energy`

use super::{TreeStep, failed, is_awake};
use crate::time_stepping::state::StepBodies;
use articulated_featherstone::{State, Workspace, aba, integrate, position_rate};
use sim_math::{
    Pose,
    glam::DVec3,
    integrate::{Abort, AdaptiveParams, DormandPrince, OdeSystem},
    spatial::Motion,
};
use sim_traits::DynamicsError;
use sim_world::{StepError, StepperAccess, Tree, World};

/// Error of a part of a step, share of a number and absolute.
const TOLERANCE: f64 = 1e-12;
/// Most parts of a step.
const PARTS: u32 = 1000;

/// The equation of a tree: coordinates, velocities, and the work of actuators and dampers.
struct Way<'a> {
    step: Moving<'a>,
    /// Forces act.
    forced: bool,
    forces: &'a [f64],
}

/// What of a tree its equation needs.
struct Moving<'a> {
    model: &'a articulated_featherstone::Model,
    state: &'a mut State,
    ws: &'a mut Workspace,
    tau: &'a mut [f64],
}

impl OdeSystem for Way<'_> {
    fn dim(&self) -> usize {
        self.step.model.q_len() + self.step.model.v_len() + 1
    }

    fn derivative(&mut self, _: f64, y: &[f64], dydt: &mut [f64]) -> Result<(), Abort> {
        let Moving { model, state, ws, tau } = &mut self.step;
        let (nq, nv) = (model.q_len(), model.v_len());
        state.q.copy_from_slice(&y[..nq]);
        state.v.copy_from_slice(&y[nq..nq + nv]);
        let mut power = 0.0;
        for (k, dof) in model.dofs().iter().enumerate() {
            tau[k] = 0.0;
            if self.forced {
                let v = state.v[k];
                tau[k] = self.forces[k] - dof.damping * v;
                power += tau[k] * v;
                if let Some(at) = model.dof_coordinate(k as u32) {
                    tau[k] -= dof.stiffness * (state.q[at] - dof.rest);
                }
            }
        }
        let stop = |_| Abort { code: 0 };
        position_rate(model, &state.q, &state.v, &mut dydt[..nq]).map_err(stop)?;
        aba(model, state, tau, &[], ws).map_err(stop)?;
        dydt[nq..nq + nv].copy_from_slice(ws.qdd());
        dydt[nq + nv] = power;
        Ok(())
    }

    fn project(&mut self, y: &mut [f64]) {
        let Moving { model, tau, .. } = &mut self.step;
        tau.fill(0.0);
        // Quaternions become unit ones; one that cannot is found by the next evaluation.
        let _ = integrate(model, &mut y[..model.q_len()], tau, 0.0);
    }
}

/// Moves the tree by a step of `h` seconds into its end, if that is not known already.
pub(super) fn advance(step: &mut TreeStep, tree: &Tree, h: f64) -> Result<(), DynamicsError> {
    if step.ahead == Some(h) && step.ahead_v == step.v {
        return Ok(());
    }
    let kicked = step.is_kicked();
    let model = step.model.clone();
    let (nq, nv) = (model.q_len(), model.v_len());
    let from = if kicked { &step.v } else { &step.start.v };
    step.y[..nq].copy_from_slice(&step.start.q);
    step.y[nq..nq + nv].copy_from_slice(from);
    step.y[nq + nv] = 0.0;
    step.end.base = step.start.base;
    let pull = if kicked { DVec3::ZERO } else { step.pulls[0] };
    // Gravity enters as an acceleration of the base.
    let up = step.start.base.world_from_base.inverse_transform_vector(-pull);
    step.end.base.acceleration = Motion::new(DVec3::ZERO, up);
    let at_rest = kicked && from.iter().all(|v| *v == 0.0);
    let mut moved = at_rest;
    if !at_rest {
        let moving = Moving { model: &model, state: &mut step.end, ws: &mut step.ws, tau: &mut step.tau };
        let mut way = Way { step: moving, forced: !kicked, forces: tree.forces() };
        let mut params = AdaptiveParams::with_tolerance(TOLERANCE, TOLERANCE);
        params.max_steps = PARTS;
        let mut hint = Some(h);
        let integrator = DormandPrince::new(params);
        let done = integrator.advance_dense(
            &mut way,
            0.0,
            h,
            &mut step.y,
            &mut hint,
            &mut step.scratch,
            &mut |_| {},
        );
        moved = done.is_ok();
    }
    if moved {
        step.end.q.copy_from_slice(&step.y[..nq]);
        step.end.v.copy_from_slice(&step.y[nq..nq + nv]);
        step.way_work = step.y[nq + nv];
    } else {
        step.end.q.copy_from_slice(&step.start.q);
        step.end.v.copy_from_slice(&step.v);
        integrate(&model, &mut step.end.q, &step.v, h)?;
        step.way_work = 0.0;
        step.stiff = true;
    }
    step.end.base = step.start.base;
    let mut links = std::mem::take(&mut step.end_links);
    let placed = tree.link_states(&step.end, &mut step.ws, &mut links);
    step.end_links = links;
    placed?;
    step.ahead = Some(h);
    step.ahead_v.copy_from_slice(&step.v);
    Ok(())
}

/// Where a link will be after `h` seconds with the present velocities of its tree.
pub(in crate::time_stepping) fn pose_ahead(
    bodies: &mut StepBodies,
    world: &World,
    slot: u32,
    h: f64,
) -> Option<Pose> {
    let (tree, link) = bodies.trees.link(slot)?;
    let step = &mut bodies.trees.all[tree as usize];
    let (_, tree) = world.tree_in_slot(step.slot)?;
    // A joint holds it.
    step.pushed = true;
    advance(step, tree, h).ok()?;
    Some(step.end_links[link as usize].0)
}

/// Puts the trees where the step takes them; `next` is the time of its end.
pub(in crate::time_stepping) fn launch_trees(
    bodies: &mut StepBodies,
    world: &mut StepperAccess<'_>,
    next: f64,
) -> Result<(), StepError> {
    for step in &mut bodies.trees.all {
        let awake = is_awake(step, world);
        if let Some((id, tree)) = world.tree_in_slot(step.slot).filter(|_| awake) {
            advance(step, tree, next - world.time()).map_err(failed(world, id))?;
        }
    }
    Ok(())
}
