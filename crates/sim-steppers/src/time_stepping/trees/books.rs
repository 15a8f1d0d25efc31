//! What a step did to trees, in the account; and trees at their new places.
//!
//! # Reference
//!
//! This project's own: [`sim_world::EnergyAccount`].
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | v, v⁺ | velocities before and after the forces and impulses of a step | |
//! | A | rotor inertias | kg·m² |
//! | V | energy of springs at the joints | J |
//!
//! # Formula
//!
//! ```text
//! kicked    T₁ − T₀ = h m g·J v⁺ + h τ·v⁺ − h v⁺ᵀ C v⁺ + P_s·v⁺ + p·u⁺ − ½ |v⁺ − v|²_M,   motion without forces keeps T
//!   drives    h (τ − C v⁺)·v⁺, and p u⁺ of motors         friction, joints    p u⁺ of dry friction, of limits
//!   stepping  −½ |v⁺ − v|²_M,  h m g·J v⁺ − m g·Δx,  P_s·v⁺ − (V₀ − V₁)
//! not kicked  T₁ − T₀ = m g·Δx + ∫ (τ − C v)·v dt + V₀ − V₁:  the integral is part of the equation, so that the remainder measures the integration
//! a fixed base exerts  ΔP − weight h − impulses of contacts and joints
//! ```
//!
//! # Cost
//!
//! A pass over links and velocities.
//!
//! # Numerics
//!
//! Work of what is implicit is that of the velocities at the end: with it −½ |v⁺ − v|² is of M alone, and ½ (v⁺ − v)ᵀ (h C + h² K)(v⁺ − v) is in drives and springs.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `soak_random_walkers_balance_their_accounts`

use super::{DofKind, TreeStep};
use crate::time_stepping::state::StepBodies;
use articulated_featherstone::Joint;
use sim_math::glam::DVec3;
use sim_world::{JointWork, StepError, StepperAccess, World};

/// Enters the step that has been taken up to `next`, and puts the trees at its end.
pub(in crate::time_stepping) fn book_trees(
    bodies: &mut StepBodies,
    world: &mut StepperAccess<'_>,
    next: f64,
) -> Result<(), StepError> {
    let h = next - world.time();
    for k in 0..bodies.trees.all.len() {
        let step = &mut bodies.trees.all[k];
        if !super::is_awake(step, world) {
            continue;
        }
        for impulses in &mut step.impulses {
            *impulses = [0.0; 3];
        }
        for row in &step.rows {
            let impulse = &mut step.impulses[row.dof as usize];
            match row.kind {
                DofKind::Limit => impulse[0] += row.sign * row.impulse,
                DofKind::Motor => impulse[1] = row.impulse,
                DofKind::Friction => impulse[2] = row.impulse,
            }
        }
        let work = work_of(bodies, world, k, h);
        world.book_joint_work(&work);
        let step = &bodies.trees.all[k];
        world
            .arrive_tree(step.slot, next, &step.end, &step.end_links, &step.impulses)
            .map_err(StepError::from)?;
    }
    Ok(())
}

fn work_of(bodies: &StepBodies, world: &World, k: usize, h: f64) -> JointWork {
    let step = &bodies.trees.all[k];
    let mut work = JointWork::default();
    let Some((_, tree)) = world.tree_in_slot(step.slot) else { return work };
    let dofs = step.model.dofs();
    if step.is_kicked() {
        for (k, dof) in dofs.iter().enumerate() {
            let v = step.v[k];
            work.drives += h * (tree.forces()[k] - dof.damping * v) * v;
            let change = v - step.start.v[k];
            work.stepping -= 0.5 * dof.armature * change * change;
            if let Some(at) = step.model.dof_coordinate(k as u32) {
                work.springs -= h * dof.stiffness * (step.start.q[at] + h * v - dof.rest) * v;
            }
        }
        for (k, slot) in step.slots.iter().enumerate() {
            let body = &bodies.pool[*slot as usize];
            let moved = step.end_links[k].0.translation - body.center;
            work.stepping += step.masses[k] * step.pulls[k].dot(body.velocity.linear * h - moved);
        }
        for row in &step.rows {
            let done = row.impulse * row.sign * step.v[row.dof as usize];
            match row.kind {
                DofKind::Limit => work.limits += done,
                DofKind::Motor => work.drives += done,
                DofKind::Friction => work.friction += done,
            }
        }
    } else {
        work.drives = step.way_work;
        let energy = |q: &[f64]| {
            let of = |(k, dof): (usize, &sim_world::DofParams)| {
                let stretch = step.model.dof_coordinate(k as u32).map_or(0.0, |at| q[at] - dof.rest);
                0.5 * dof.stiffness * stretch * stretch
            };
            dofs.iter().enumerate().map(of).sum::<f64>()
        };
        work.springs = energy(&step.start.q) - energy(&step.end.q);
    }
    if !floats(step) {
        (work.impulse, work.moment) = reaction(bodies, world, k, h);
    }
    work
}

/// True if nothing holds the tree.
fn floats(step: &TreeStep) -> bool {
    (0..step.model.link_count() as u32)
        .filter(|link| step.model.parent(*link).is_none())
        .all(|link| step.model.joint(link) == Some(Joint::Free))
}

/// Impulse and moment about the world's origin that the base exerts.
fn reaction(bodies: &StepBodies, world: &World, k: usize, h: f64) -> (DVec3, DVec3) {
    let step = &bodies.trees.all[k];
    let (mut linear, mut angular) = (-step.exerted.impulse, -step.exerted.moment);
    for (k, slot) in step.slots.iter().enumerate() {
        let Some((_, body)) = world.body_in_slot(*slot) else { continue };
        let (before, mut after) = (*body.state(), *body.state());
        let (pose, velocity) = step.end_links[k];
        if after.set_pose(pose).is_err() {
            continue;
        }
        after.velocity = velocity;
        let momentum = |state: &rigid_impulse::BodyState| {
            let linear = state.velocity.linear * step.masses[k];
            (linear, state.pose().translation.cross(linear) + state.spin(body.model()))
        };
        let ((p0, l0), (p1, l1)) = (momentum(&before), momentum(&after));
        let weight = step.pulls[k] * (step.masses[k] * h);
        let middle = 0.5 * (before.pose().translation + pose.translation);
        linear += p1 - p0 - weight;
        angular += l1 - l0 - middle.cross(weight);
    }
    (linear, angular)
}
