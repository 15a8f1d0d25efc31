//! Velocities of trees after the forces of a step, and the rows at their joints.
//!
//! # Reference
//!
//! Featherstone (2008), chapter 7; dampers and springs implicitly as Cline (2002), section 2.7.4.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | M, M̂ | mass matrix; M + h C + h² K with dampers C and springs K of the joints | |
//! | τ | forces of actuators | N·m, N |
//! | v* | velocities after forces | rad/s, m/s |
//!
//! # Formula
//!
//! ```text
//! v* = v + M̂⁻¹ h (τ + Jᵀ m g − C v − K (q + h v − q₀))       turning of links is motion, not force: see `motion`
//! limit     x/h + u ≥ 0,  p ≥ 0       motor   u + (k x − c s)/(h k + c) + p/(h (h k + c)) = 0,  |p| ≤ h most       friction   u = 0,  |p| ≤ h most
//! ```
//!
//! # Cost
//!
//! One factorisation and two passes per tree; a row for each motor, dry friction, and limit near enough.
//!
//! # Numerics
//!
//! Stable for any stiffness and damping. Limits beyond reach have no row; where the solution goes through one, the problem is solved with all of them.
//!
//! # Failure
//!
//! [`StepError::Tree`] where a joint moves no inertia.
//!
//! # Tested by
//!
//! `tests/time_trees.rs`

use super::{DofKind, DofRow, TreeStep, failed};
use crate::time_stepping::state::StepBodies;
use sim_math::spatial::Force;
use sim_traits::{Bounds, DynamicsError, joint::JointMotor};
use sim_world::{StepError, World};

/// Rows of limits are there within so many times the way of a step, and within this share of the range.
const REACH: f64 = 2.0;
const NEAR: f64 = 0.01;
/// Dampers and springs that change the velocity of their joint by more than this share in a step are stiff.
const STIFF: f64 = 0.1;
/// How far beyond a limit a solution may go before all limits have rows, rad or m.
const BEYOND: f64 = 1e-9;

/// Velocities after the forces of a step of `h` seconds, into the pool and the steps of the bodies.
pub(in crate::time_stepping) fn kick(
    bodies: &mut StepBodies,
    world: &World,
    h: f64,
) -> Result<(), StepError> {
    let StepBodies { pool, body_steps, trees } = bodies;
    for step in &mut trees.all {
        let Some((id, tree)) = world.tree_in_slot(step.slot) else { continue };
        let fail = failed(world, id);
        step.ahead = None;
        step.exerted = super::Exerted::default();
        step.pushed = false;
        let motors = tree.motors();
        push(step, tree.forces(), h).map_err(&fail)?;
        write_rows(step, motors, h);
        let v = std::mem::take(&mut step.free);
        let slots = std::mem::take(&mut step.slots);
        let written = step.link_velocities(&v, |k, motion| {
            let slot = slots[k] as usize;
            body_steps[slot].force_change = motion - body_steps[slot].start;
            pool[slot].velocity = motion;
        });
        (step.free, step.slots) = (v, slots);
        written.map_err(&fail)?;
        step.v.copy_from_slice(&step.free);
    }
    Ok(())
}

/// Factors M̂ and writes v*.
fn push(step: &mut TreeStep, forces: &[f64], h: f64) -> Result<(), DynamicsError> {
    let model = step.model.clone();
    step.stiff = step.pulls.iter().any(|pull| *pull != step.pulls[0]);
    for (k, dof) in model.dofs().iter().enumerate() {
        let v = step.start.v[k];
        let mut force = forces[k] - dof.damping * v;
        if let Some(at) = model.dof_coordinate(k as u32) {
            force -= dof.stiffness * (step.start.q[at] + h * v - dof.rest);
        }
        step.tau[k] = h * force;
        step.extra[k] = h * dof.damping + h * h * dof.stiffness;
    }
    step.whitened.factor(&model, &step.start.q, &[], &mut step.ws)?;
    for k in 0..model.v_len() {
        // Stiff beside the inertia that the joint moves.
        step.stiff |= step.extra[k] > STIFF * step.whitened.pivot(k);
    }
    if step.extra.iter().any(|e| *e > 0.0) {
        step.whitened.factor(&model, &step.start.q, &step.extra, &mut step.ws)?;
    }
    for k in 0..step.on_links.len() {
        let frame = &step.world_from_link[k];
        let force = frame.inverse_transform_vector(step.pulls[k] * (step.masses[k] * h));
        step.on_links[k] = Force::at_offset(step.centers[k].translation, force);
    }
    step.whitened.forces(&model, &step.tau, &step.on_links, &mut step.x)?;
    step.free.copy_from_slice(&step.start.v);
    step.whitened.add_velocity(&model, &step.x, &mut step.free)
}

/// Rows of limits, motors and dry friction.
fn write_rows(step: &mut TreeStep, motors: &[Option<JointMotor>], h: f64) {
    step.rows.clear();
    for (k, dof) in step.model.dofs().iter().enumerate() {
        let place = step.model.dof_coordinate(k as u32);
        let known = step.impulses[k];
        let row = |kind, sign, low, high, compliance, bias: f64, impulse: f64| {
            let mut bounds = Bounds::NONE.with(0, low, high);
            bounds.compliance.x = compliance;
            DofRow { dof: k as u32, kind, sign, bounds, bias, impulse }
        };
        if let Some(at) = place {
            let q = step.start.q[at];
            let range = dof.upper - dof.lower;
            let near = if range.is_finite() { NEAR * range } else { NEAR };
            let reach = REACH * h * step.start.v[k].abs().max(step.free[k].abs()) + near;
            for (x, sign) in [(q - dof.lower, 1.0), (dof.upper - q, -1.0)] {
                if x.is_finite() && (x < reach || step.all_limits) {
                    let p = (known[0] * sign).max(0.0);
                    step.rows.push(row(DofKind::Limit, sign, 0.0, f64::INFINITY, 0.0, x.max(0.0) / h, p));
                }
            }
        }
        match motors[k] {
            Some(JointMotor::Velocity { speed, most }) if most > 0.0 => {
                step.rows.push(row(DofKind::Motor, 1.0, -most * h, most * h, 0.0, -speed, known[1]));
            }
            Some(JointMotor::Position { target, speed, stiffness, damping, most }) if most > 0.0 => {
                let stiff = h * stiffness + damping;
                if stiff > 0.0 {
                    let x = place.map_or(0.0, |at| step.start.q[at] - target);
                    let bias = (stiffness * x - damping * speed) / stiff;
                    let give = 1.0 / (h * stiff);
                    step.rows.push(row(DofKind::Motor, 1.0, -most * h, most * h, give, bias, known[1]));
                }
            }
            _ => {}
        }
        if dof.dry_friction > 0.0 {
            let most = dof.dry_friction * h;
            step.rows.push(row(DofKind::Friction, 1.0, -most, most, 0.0, 0.0, known[2]));
        }
    }
}

/// True if the solution goes through limits that had no rows: they have them from now on.
pub(in crate::time_stepping) fn missed_limits(bodies: &mut StepBodies, h: f64) -> bool {
    let mut any = false;
    for step in bodies.trees.all.iter_mut().filter(|step| !step.all_limits) {
        let through = |k: usize, at: usize| {
            let (dof, q) = (&step.model.dofs()[k], step.start.q[at]);
            let has = |sign: f64| {
                step.rows.iter().any(|row| {
                    row.dof as usize == k && row.kind == DofKind::Limit && (row.sign - sign).abs() < 1.0
                })
            };
            let end = q + h * step.v[k];
            (end < dof.lower - BEYOND && !has(1.0)) || (end > dof.upper + BEYOND && !has(-1.0))
        };
        let mut places =
            (0..step.model.v_len()).filter_map(|k| Some((k, step.model.dof_coordinate(k as u32)?)));
        let missed = places.any(|(k, at)| through(k, at));
        step.all_limits = missed;
        any |= missed;
    }
    any
}
