//! Overlaps of links opened, and joints brought back to their limits, without touching velocities.
//!
//! # Reference
//!
//! As [`correct`](crate::time_stepping::correct), with the mass matrix of trees.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | g | gaps of contacts, what joints hold, distances to limits | m, rad |
//! | dq | change of configuration, as a velocity held for a second | |
//!
//! # Formula
//!
//! ```text
//! J_n dq + g ≥ 0 ⊥ λ ≥ 0,   dq = M⁻¹ Jᵀ λ
//! ```
//!
//! # Cost
//!
//! One problem without friction per repetition.
//!
//! # Numerics
//!
//! A link moves by at most a tenth of a radian and a fifth of the smallest link at a time.
//!
//! # Failure
//!
//! What is not solved stays, and is seen in the report.
//!
//! # Tested by
//!
//! `links_pushed_into_the_ground_come_out`

use super::{
    DofKind, DofRow, TreeStep, failed,
    problem::{self, TreeSpan},
};
use crate::time_stepping::state::{Books, Problem, Setup, StepBodies};
use articulated_featherstone::integrate;
use sim_math::{glam::DVec3, spatial::Motion};
use sim_traits::Bounds;
use sim_world::{StepError, StepperAccess, World};

/// Largest turn of a correction, rad, and shift, share of the smallest link.
const TURN: f64 = 0.1;
const SHIFT: f64 = 0.2;
/// Beyond a limit by less, rad or m, is left alone.
const SLACK: f64 = 1e-10;

/// How far joints are beyond their limits, rad or m.
pub(in crate::time_stepping) fn limits_off<'a>(trees: impl IntoIterator<Item = &'a TreeStep>) -> f64 {
    let mut most = 0.0_f64;
    for step in trees {
        for (k, dof) in step.model.dofs().iter().enumerate() {
            let Some(at) = step.model.dof_coordinate(k as u32) else { continue };
            let q = step.start.q[at];
            most = most.max(dof.lower - q).max(q - dof.upper);
        }
    }
    if most > SLACK { most } else { 0.0 }
}

/// Factors the trees where they are, at rest, with rows of limits.
pub(in crate::time_stepping) fn prepare(bodies: &mut StepBodies, world: &World) -> Result<(), StepError> {
    for step in &mut bodies.trees.all {
        let model = step.model.clone();
        step.whitened.factor(&model, &step.start.q, &[], &mut step.ws).map_err(failed(world, step.id))?;
        step.v.fill(0.0);
        step.free.fill(0.0);
        (step.pushed, step.ahead) = (false, None);
        step.rows.clear();
        for (k, dof) in model.dofs().iter().enumerate() {
            let Some(at) = model.dof_coordinate(k as u32) else { continue };
            let q = step.start.q[at];
            for (x, sign) in [(q - dof.lower, 1.0), (dof.upper - q, -1.0)] {
                if x.is_finite() {
                    step.rows.push(DofRow {
                        dof: k as u32,
                        kind: DofKind::Limit,
                        sign,
                        bounds: Bounds::NONE.with(0, 0.0, f64::INFINITY),
                        bias: x,
                        impulse: 0.0,
                    });
                }
            }
        }
    }
    Ok(())
}

/// Solves the correction of an island with trees, whose contacts have their gaps as biases and whose blocks are chosen; true if it was solved.
pub(in crate::time_stepping) fn correct_island(
    setup: &mut Setup,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    points: u32,
    accuracy: f64,
) -> bool {
    let mut trees = std::mem::take(&mut bodies.trees.problem);
    let span = TreeSpan {
        contacts: [0, problem.contacts.len() as u32],
        points,
        blocks: [0, problem.mixed.order.len() as u32],
        trees: [0, trees.order.len() as u32],
    };
    let mut done = false;
    if problem::gather(bodies, problem, &mut trees, &span).is_ok() {
        let count = trees.delassus.velocity.len();
        trees.impulses.clear();
        trees.impulses.resize(count, DVec3::ZERO);
        if let Ok(found) = problem::solve_gathered(setup, bodies, problem, &mut trees, &span, accuracy) {
            books.report.solver.count(found.iterations, count);
            problem.mixed.jammed |= !found.solved;
            done = problem::apply(bodies, problem, &trees, &span).is_ok();
        }
    }
    bodies.trees.problem = trees;
    done
}

/// Moves the trees by the twists that a correction gave them; true if any moved.
pub(in crate::time_stepping) fn shift_trees(
    bodies: &mut StepBodies,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    user: bool,
) -> Result<bool, StepError> {
    let mut any = false;
    let StepBodies { pool, trees, .. } = bodies;
    for step in trees.all.iter_mut().filter(|step| step.pushed) {
        step.pushed = false;
        let (mut shrink, mut size) = (1.0_f64, f64::INFINITY);
        for slot in &step.slots {
            let Some((_, body)) = world.body_in_slot(*slot) else { continue };
            let sizes = body.colliders().iter().filter_map(|c| world.collider(*c).ok());
            size = sizes.map(|c| c.extent().radius).fold(size, f64::min);
        }
        for slot in &step.slots {
            let twist: Motion = pool[*slot as usize].velocity;
            shrink = shrink.min(TURN / twist.angular.length()).min(SHIFT * size / twist.linear.length());
        }
        let finite = step.v.iter().all(|v| v.is_finite());
        if !finite || shrink <= 0.0 || step.v.iter().all(|v| *v == 0.0) {
            continue;
        }
        let Some((id, tree)) = world.tree_in_slot(step.slot) else { continue };
        let fail = failed(world, id);
        step.end.q.copy_from_slice(&step.start.q);
        step.end.v.copy_from_slice(&step.start.v);
        step.end.base = step.start.base;
        integrate(&step.model, &mut step.end.q, &step.v, shrink).map_err(&fail)?;
        tree.link_states(&step.end, &mut step.ws, &mut step.end_links).map_err(&fail)?;
        let lifted = world.put_tree_right(step.slot, &step.end, &step.end_links, user);
        books.report.solver.lifted += lifted;
        any = true;
    }
    Ok(any)
}
