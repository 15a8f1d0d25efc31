//! Joints of a step with soft contacts: rows for the solver, and what they did for the world.
//!
//! # Reference
//!
//! [`constraint_dynamics::soft::JointSource`], whose solver has all rows of a substep as one linear system.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | I₀, I₁ | inertia of a body before and after the step | kg·m² |
//! | γ | change of angular velocity in the step by gyroscopic torque | rad/s |
//!
//! # Formula
//!
//! ```text
//! read joints → rows at the start of the step   the solver asks for rows in each substep   impulses, work, reactions, limits, loads → world
//! bodies that joints hold turn by the displacement of the solver;   ω₁ᵀ I₁ ω₁/2 − ω₁ᵀ I₀ ω₁/2 + (I₀ γ)·mean ω is booked as stepping
//! ```
//!
//! # Cost
//!
//! Rows of every joint once per substep. No allocation once warmed up.
//!
//! # Numerics
//!
//! What a body does freely it does exactly, by the mean of its gyroscopic torque over the step.
//!
//! # Failure
//!
//! A joint whose rows change in number within a step keeps those of its start.
//!
//! # Tested by
//!
//! `tests/time_soft_joints.rs`

use super::{state::Books, turning::Turning};
use constraint_dynamics::{
    joints::{BodyInverse, JointRows, RowLaw},
    soft::{JointSource, SoftJoints},
};
use sim_math::{Pose, glam::DVec3};
use sim_world::{Body, JointWork, Rest, StepperAccess, World};

/// Blocks and sides of one joint.
#[derive(Debug, Clone, Copy)]
struct Span {
    joint: u32,
    blocks: [u32; 2],
    sides: [u32; 2],
}

/// The joints of a step.
#[derive(Debug, Default)]
pub(super) struct SteppedJoints {
    /// As the solver has them: sides name bodies by slot.
    pub(super) solved: SoftJoints,
    /// At the start of the step: sides name bodies by their number in the joint's list.
    rows: JointRows,
    spans: Vec<Span>,
    /// By slot: held by a joint; and γ.
    pub(super) held: Vec<bool>,
    pub(super) gyros: Vec<DVec3>,
    poses: Vec<Pose>,
    memory: Vec<f64>,
    inverses: Vec<BodyInverse>,
}

/// Rows of the joints of a world, with bodies by slot.
#[derive(Debug)]
pub(super) struct WorldRows<'a> {
    world: &'a World,
    spans: &'a [Span],
    start: &'a JointRows,
    poses: &'a mut Vec<Pose>,
    memory: &'a mut Vec<f64>,
}

impl JointSource for WorldRows<'_> {
    fn rows(&mut self, pose: &dyn Fn(u32) -> Pose, out: &mut JointRows) {
        for span in self.spans {
            let Some((_, joint)) = self.world.joint_in_slot(span.joint) else { continue };
            self.poses.clear();
            self.poses.extend(joint.bodies().iter().map(|id| pose(id.index())));
            let [blocks, sides] = [out.blocks.len(), out.sides.len()];
            joint.rows_at(self.poses, self.memory, out);
            let fits =
                out.blocks.len() == span.blocks[1] as usize && out.sides.len() == span.sides[1] as usize;
            if !fits {
                out.blocks.truncate(blocks);
                out.sides.truncate(sides);
                let of = |range: [u32; 2]| range[0] as usize..range[1] as usize;
                out.blocks.extend_from_slice(&self.start.blocks[of(span.blocks)]);
                out.sides.extend_from_slice(&self.start.sides[of(span.sides)]);
            }
            for side in &mut out.sides[sides..] {
                side.body = joint.bodies().get(side.body as usize).map_or(0, |id| id.index());
            }
        }
    }
}

impl SteppedJoints {
    /// True if there are no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.blocks.is_empty()
    }

    /// True if a joint holds the body in a slot.
    pub(super) fn holds(&self, slot: usize) -> bool {
        self.held.get(slot).copied().unwrap_or(false)
    }

    /// Finds the bodies that joints hold, and wakes them.
    pub(super) fn find_held(&mut self, books: &mut Books, world: &mut StepperAccess<'_>) {
        self.held.clear();
        if world.joint_count() == 0 {
            return;
        }
        self.held.resize(world.body_slots(), false);
        for slot in 0..world.joint_slots() as u32 {
            let Some((_, joint)) = world.joint_in_slot(slot).filter(|(_, joint)| joint.is_active()) else {
                continue;
            };
            for id in joint.bodies() {
                if let Some(held) = self.held.get_mut(id.index() as usize) {
                    *held = world.body_in_slot(id.index()).is_some_and(|(_, body)| body.is_free());
                }
            }
        }
        for slot in (0..).zip(&self.held).filter_map(|(slot, held)| held.then_some(slot)) {
            if let Some((id, body)) = world.body_in_slot(slot) {
                if body.rest() == Rest::Asleep {
                    books.report.woke_up += u32::from(world.wake(id, world.time()));
                }
            }
        }
    }

    /// Reads the joints of the world where its bodies are now.
    pub(super) fn read(&mut self, world: &mut StepperAccess<'_>) {
        self.rows.clear();
        self.spans.clear();
        self.solved.impulses.clear();
        for slot in 0..world.joint_slots() as u32 {
            let Some((_, joint)) = world.joint_in_slot(slot).filter(|(_, joint)| joint.is_active()) else {
                continue;
            };
            self.poses.clear();
            self.poses.extend(joint.bodies().iter().map(|id| pose_of(world, id.index())));
            world.joint_inverses(joint, &mut self.inverses);
            let [block, side] = [self.rows.blocks.len(), self.rows.sides.len()];
            let Some((_, joint)) = world.joint_in_slot_mut(slot) else { continue };
            joint.rows(&self.poses, &self.inverses, &mut self.rows);
            let [blocks, sides] = [self.rows.blocks.len(), self.rows.sides.len()];
            let known = joint.impulses().len() == blocks - block;
            let guess = |k: usize| if known { joint.impulses()[k] } else { DVec3::ZERO };
            self.solved.impulses.extend((0..blocks - block).map(guess));
            self.spans.push(Span {
                joint: slot,
                blocks: [block as u32, blocks as u32],
                sides: [side as u32, sides as u32],
            });
        }
        let rows = &mut self.solved.rows;
        rows.blocks.clone_from(&self.rows.blocks);
        rows.sides.clone_from(&self.rows.sides);
        for span in &self.spans {
            let Some((_, joint)) = world.joint_in_slot(span.joint) else { continue };
            for side in &mut rows.sides[span.sides[0] as usize..span.sides[1] as usize] {
                side.body = joint.bodies().get(side.body as usize).map_or(0, |id| id.index());
            }
        }
    }

    /// γ of a body, rad/s, if a joint holds it: zero for others.
    pub(super) fn add_gyro(&mut self, held: Option<&Body>, torque_change: DVec3, h: f64) -> DVec3 {
        let turned = |body: &Body| {
            let turning = Turning::new(body.model(), body.state(), torque_change, h)?;
            Some(turning.velocity - body.state().velocity.angular)
        };
        let gyro = held.and_then(turned).unwrap_or(DVec3::ZERO);
        self.gyros.push(gyro);
        gyro
    }

    /// The rows for the solver, and where it gets them from.
    pub(super) fn split<'a>(&'a mut self, world: &'a World) -> (&'a mut SoftJoints, WorldRows<'a>) {
        let Self { solved, rows, spans, poses, memory, .. } = self;
        (solved, WorldRows { world, spans, start: rows, poses, memory })
    }

    /// The joint that a block belongs to.
    pub(super) fn joint_of(&self, block: usize) -> Option<u32> {
        self.spans.iter().find(|span| block < span.blocks[1] as usize).map(|span| span.joint)
    }

    /// Work of all impulses, J.
    pub(super) fn work(&self) -> JointWork {
        let mut work = JointWork {
            impulse: self.solved.momentum.linear,
            moment: self.solved.momentum.moment,
            ..JointWork::default()
        };
        for (block, done) in self.rows.blocks.iter().zip(&self.solved.work) {
            for i in 0..usize::from(block.rows) {
                *match block.laws[i] {
                    RowLaw::Hold => &mut work.joints,
                    RowLaw::Limit { .. } => &mut work.limits,
                    RowLaw::Drive { .. } => &mut work.drives,
                    RowLaw::Friction { .. } => &mut work.friction,
                } += done[i];
            }
        }
        work
    }

    /// Enters impulses, reactions, limits and loads in the world, at the end of a step of `h` seconds; how many joints broke.
    pub(super) fn tell(&mut self, world: &mut StepperAccess<'_>, h: f64) -> u64 {
        let (time, mut broken) = (world.time() + h, 0);
        for span in &self.spans {
            let blocks = span.blocks[0] as usize..span.blocks[1] as usize;
            let Some((id, joint)) = world.joint_in_slot(span.joint) else { continue };
            self.poses.clear();
            self.poses.extend(joint.bodies().iter().map(|id| pose_of(world, id.index())));
            let exerted = &self.solved.exerted[blocks.clone()];
            let reaction =
                joint.exerted(&self.rows, &self.rows.blocks[blocks.clone()], exerted, &self.poses, h);
            if let Some((_, joint)) = world.joint_in_slot_mut(span.joint) {
                let kept = joint.impulses_mut();
                kept.clear();
                kept.extend_from_slice(&self.solved.impulses[blocks.clone()]);
            }
            for k in blocks {
                let Some((axis, high)) = self.rows.blocks[k].limit else { continue };
                let reached = self.solved.exerted[k] != DVec3::ZERO;
                world.joint_at_limit(id, axis as usize, high, reached, time);
            }
            broken += u64::from(world.load_joint(id, reaction, 0.0, time));
        }
        broken
    }
}

/// Where the centre of mass of the body in a slot is.
fn pose_of(world: &World, slot: u32) -> Pose {
    world.body_in_slot(slot).map_or(Pose::IDENTITY, |(_, body)| *body.state().pose())
}
