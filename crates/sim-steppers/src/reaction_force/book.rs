//! What a step of reaction forces gives back to the world: poses, loads of joints, accounts.
//!
//! # Reference
//!
//! Barenbrug (2000), 3.4.1 and 4.1.2: every reaction force can be read, and joints break at the end of a frame.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | R, u | value of a row, its velocity | N, m/s; N·m, rad/s |
//!
//! # Formula
//!
//! ```text
//! work of a row      R h (u₀ + u₁)/2
//! work of a force    F·(z₁ − z₀) + M·(ω₀ + ω₁) h/2
//! ```
//!
//! # Cost
//!
//! One pass over bodies, forces and joints.
//!
//! # Numerics
//!
//! What the integrator does not meet is left in the remainder of the energy account.
//!
//! # Failure
//!
//! A pose that cannot be names its body.
//!
//! # Tested by
//!
//! `the_load_of_a_joint_is_the_weight`, `joints_break_at_their_load`

use super::read::{Bodies, Joints};
use constraint_dynamics::{
    joints::{JointRows, RowLaw},
    reaction::{Bound, ReactionWorkspace},
};
use sim_math::{Pose, glam::DVec3, spatial::Force};
use sim_world::{ForceWork, JointWork, StepError, StepperAccess};

/// Buffers of [`follow_joints`].
#[derive(Debug, Default)]
pub(super) struct BookScratch {
    rows: JointRows,
    poses: Vec<Pose>,
}

/// Puts the free bodies where the step has brought them at time `end`.
pub(super) fn move_bodies(
    bodies: &Bodies,
    workspace: &ReactionWorkspace,
    world: &mut StepperAccess<'_>,
    end: f64,
) -> Result<(), StepError> {
    let h = end - world.time();
    for (k, (body, id)) in bodies.all.iter().zip(&bodies.ids).enumerate() {
        if !body.is_free() {
            continue;
        }
        let next = workspace.next[k];
        let [push, springs] = bodies.pushes[k];
        if push != Force::ZERO {
            let moved = next.pose.translation - body.state.pose.translation;
            let turned = (body.state.velocity.angular + next.velocity.angular) * (0.5 * h);
            let work = |f: Force| f.linear.dot(moved) + f.moment.dot(turned);
            let center = (body.state.pose.translation + next.pose.translation) * 0.5;
            let (impulse, moment) = (push.linear * h, push.moment * h);
            let springs = work(springs);
            world.book_force(center, &ForceWork { springs, others: work(push) - springs, impulse, moment });
        }
        world.arrive(id.index(), end, next.pose, next.velocity).map_err(StepError::from)?;
    }
    Ok(())
}

/// Enters what joints did in the account, given the bodies at the start of the step.
pub(super) fn book_joints(
    joints: &Joints,
    bodies: &Bodies,
    workspace: &ReactionWorkspace,
    world: &mut StepperAccess<'_>,
    h: f64,
) {
    let mut work = JointWork::default();
    for k in 0..joints.ids.len() {
        for row in workspace.rows_of(k) {
            let Some((about, [now, end], _)) = workspace.row(row) else { continue };
            let done = workspace.values[row] * h * 0.5 * (now[1] + end[1]);
            match about.law {
                RowLaw::Hold => work.joints += done,
                RowLaw::Limit { .. } => work.limits += done,
                RowLaw::Drive { .. } => work.drives += done,
                RowLaw::Friction { .. } => work.friction += done,
            }
        }
        for (s, site) in workspace.sites_of(k).iter().enumerate() {
            let body = &bodies.all[site.body as usize];
            if body.is_free() {
                let exerted = workspace.exerted(k, s);
                let point = body.state.pose.transform_point(site.point);
                work.impulse += exerted.linear * h;
                work.moment += (point.cross(exerted.linear) + exerted.moment) * h;
            }
        }
    }
    world.book_joint_work(&work);
}

/// Loads, limits and angles of joints at the end of the step, which is the world's time; gives the number of joints that broke.
pub(super) fn follow_joints(
    joints: &Joints,
    bodies: &Bodies,
    workspace: &ReactionWorkspace,
    world: &mut StepperAccess<'_>,
    h: f64,
    scratch: &mut BookScratch,
) -> u64 {
    let (time, mut broken) = (world.time(), 0);
    for (k, &id) in joints.ids.iter().enumerate() {
        let model = &joints.all.joints[k].model;
        let numbers = &joints.all.joints[k].bodies;
        let pose = |number: u32| bodies.all[numbers[number as usize] as usize].state.pose;
        let mut reaction = Force::ZERO;
        if let Some(anchor) = model.anchors.get(1) {
            let on_world = anchor.is_world();
            let point = if on_world { anchor.frame } else { pose(anchor.body) * anchor.frame }.translation;
            for (s, site) in workspace.sites_of(k).iter().enumerate() {
                // On the world acts what acts on nobody else.
                let sign = if on_world { -1.0 } else { f64::from(u8::from(s == anchor.body as usize)) };
                let Force { moment, linear } = workspace.exerted(k, s);
                let arm = bodies.all[site.body as usize].state.pose.transform_point(site.point) - point;
                reaction += Force::new(moment + arm.cross(linear), linear) * sign;
            }
        }
        let slot = id.index();
        scratch.poses.clear();
        scratch.poses.extend(numbers.iter().map(|&b| workspace.next[b as usize].pose));
        scratch.rows.clear();
        let Some((_, joint)) = world.joint_in_slot_mut(slot) else { continue };
        joint.rows(&scratch.poses, &[], &mut scratch.rows);
        let impulses = joint.impulses_mut();
        impulses.clear();
        let mut rows = workspace.rows_of(k);
        for block in &scratch.rows.blocks {
            let mut value = DVec3::ZERO;
            let count = usize::from(block.rows);
            rows.by_ref().take(count).enumerate().for_each(|(i, row)| value[i] = workspace.values[row] * h);
            impulses.push(value);
        }
        let mut row = workspace.rows_of(k).start;
        for block in &scratch.rows.blocks {
            if let Some((axis, high)) = block.limit {
                let reached = workspace.row(row).is_some_and(|(_, _, bound)| bound == Bound::Free);
                world.joint_at_limit(id, axis as usize, high, reached, time);
            }
            row += usize::from(block.rows);
        }
        broken += u64::from(world.load_joint(id, reaction, 0.0, time));
    }
    broken
}
