//! Joints of a cluster between events: multipliers that keep what they hold.
//!
//! | file | concern |
//! |---|---|
//! | `mod` | rows of a cluster, and the forces that they exert |
//! | `settle` | states that joints admit: projections, limits that are hit |
//! | `modes` | which rows hold, push, slip; and when that changes |
//!
//! # Reference
//!
//! Cline (2002), sections 3.3 to 3.5: constraints at the level of accelerations.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | u = J v + d | velocity of rows, with drift d of moving targets | m/s, rad/s |
//! | k | du/dt at constant velocities of the bodies | m/s², rad/s² |
//! | a | accelerations without joints | m/s², rad/s² |
//! | λ | forces of the rows that hold | N, N·m |
//! | δ | step of the difference quotient | s |
//!
//! # Formula
//!
//! ```text
//! J M⁻¹ Jᵀ λ = −(k + J a)
//! k = (45 (u(δ) − u(−δ)) − 9 (u(2δ) − u(−2δ)) + u(3δ) − u(−3δ)) / (60 δ),   δ = `TURN`/fastest turn
//! ```
//!
//! # Cost
//!
//! Seven evaluations of all rows, and a factor of their response: linear in the length of a chain.
//!
//! # Numerics
//!
//! k is found by differences of order six, for every kind of joint alike: to some 1e-14 of its size.
//!
//! # Failure
//!
//! A joint that has no rows for a while (a wheel that lies flat) ends the integration with an error that names a body of it.
//!
//! # Tested by
//!
//! `tests/event_joints.rs` of `sim-steppers`

mod modes;
mod settle;

pub(crate) use modes::Acting;

use crate::{joint::Joint, world::World};
use constraint_dynamics::{
    PoolBody,
    held::{Held, HeldSide},
    joints::{BodyInverse, JointRows, RowLaw},
};
use modes::Check;
use rigid_impulse::{BodyModel, BodyState};
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    integrate::Abort,
    rotation::quat_exp,
    spatial::{Force, Motion},
};
use sim_traits::{BodyId, joint::JointKind};

/// Turn of the fastest body in a step of the difference quotient, rad.
const TURN: f64 = 0.01;
/// Slowest turn that counts, rad/s.
const SLOW: f64 = 0.5;
/// Weights of a difference quotient of order six, and where.
const WEIGHTS: [(f64, f64); 6] = [
    (-3.0, -1.0 / 60.0),
    (-2.0, 9.0 / 60.0),
    (-1.0, -45.0 / 60.0),
    (1.0, 45.0 / 60.0),
    (2.0, -9.0 / 60.0),
    (3.0, 1.0 / 60.0),
];

/// A joint of the cluster: its slot, its bodies and blocks in the lists.
#[derive(Debug, Clone, Copy)]
struct Span {
    slot: u32,
    bodies: [u32; 2],
    blocks: [u32; 2],
}

/// The joints of a cluster, and memory for them.
#[derive(Debug, Default)]
pub(crate) struct Linkage {
    spans: Vec<Span>,
    /// Bodies of joints, as numbers of the pool: first those that move, then others.
    bodies: Vec<u32>,
    others: Vec<BodyId>,
    /// Of those that move.
    pub(super) models: Vec<BodyModel>,
    pub(crate) pool: Vec<PoolBody>,
    poses: Vec<Pose>,
    rows: JointRows,
    ahead: JointRows,
    /// How each row of each block acts.
    pub(crate) acting: Vec<[Acting; 3]>,
    held: Held,
    /// Block and row of each row of `held`.
    held_rows: Vec<[u32; 2]>,
    /// Rows whose rates are asked for besides.
    watched: Vec<[u32; 2]>,
    /// By block: its joint.
    span_of: Vec<u32>,
    lambda: Vec<f64>,
    rates: Vec<f64>,
    /// Forces of all rows, by block.
    pub(crate) exerted: Vec<DVec3>,
    // Scratch.
    local: Vec<Pose>,
    inverses: Vec<BodyInverse>,
    memory: Vec<f64>,
    shifted: Vec<(Pose, Motion)>,
    accelerations: Vec<Motion>,
    checks: Vec<Check>,
    /// Rows that do the other thing than was decided for them, and those that are left alone.
    flips: Vec<[u32; 2]>,
    ignored: Vec<[u32; 2]>,
    settling: settle::Settling,
    choosing: modes::Choosing,
}

impl Linkage {
    /// Takes the joints of a cluster whose moving bodies are `ids`, by slot, and how their rows act in the present pieces.
    pub(crate) fn begin(&mut self, world: &World, cluster: usize, ids: &[BodyId]) {
        self.spans.clear();
        self.bodies.clear();
        self.others.clear();
        self.acting.clear();
        self.watched.clear();
        self.span_of.clear();
        self.models.clear();
        self.models.extend(ids.iter().map(|id| world.get(*id).map_or(BodyModel::FIXED, |b| *b.model())));
        let Some(cluster) = world.clusters.get(cluster) else { return };
        for &slot in &cluster.joints {
            let Some((_, joint)) = world.joint_in_slot(slot) else { continue };
            let first = self.bodies.len() as u32;
            for body in joint.bodies() {
                let number = match ids.binary_search(body) {
                    Ok(k) => k,
                    Err(_) => {
                        let known = self.others.iter().position(|b| b == body);
                        ids.len()
                            + known.unwrap_or_else(|| {
                                self.others.push(*body);
                                self.others.len() - 1
                            })
                    }
                };
                self.bodies.push(number as u32);
            }
            let bodies = [first, self.bodies.len() as u32];
            let start = self.acting.len() as u32;
            self.acting.extend_from_slice(&joint.acting);
            self.span_of.resize(self.acting.len(), self.spans.len() as u32);
            self.spans.push(Span { slot, bodies, blocks: [start, self.acting.len() as u32] });
        }
    }

    /// Puts the bodies where they are at `time` (s).
    pub(crate) fn place(&mut self, world: &World, time: f64, states: &[BodyState]) {
        self.pool.clear();
        self.poses.clear();
        for (state, model) in states.iter().zip(&self.models) {
            self.poses.push(*state.pose());
            self.pool.push(PoolBody {
                center: state.pose().translation,
                inverse_mass: model.inverse_mass(),
                inverse_inertia: state.inverse_inertia(model),
                velocity: state.velocity,
            });
        }
        for &id in &self.others {
            let (pose, velocity) = motion_of(world, id, time);
            self.poses.push(pose);
            self.pool.push(PoolBody {
                center: pose.translation,
                inverse_mass: 0.0,
                inverse_inertia: DMat3::ZERO,
                velocity,
            });
        }
    }

    /// Rows of all joints with bodies at these poses; false if a joint has others than it had.
    fn rows_at(&mut self, world: &World, ahead: bool) -> bool {
        let Self { spans, bodies, poses, shifted, pool, local, inverses, memory, .. } = self;
        let rows = if ahead { &mut self.ahead } else { &mut self.rows };
        rows.clear();
        let mut same = true;
        for span in spans.iter() {
            let Some((_, joint)) = world.joint_in_slot(span.slot) else { continue };
            let numbers = &bodies[span.bodies[0] as usize..span.bodies[1] as usize];
            local.clear();
            inverses.clear();
            for &k in numbers {
                local.push(if ahead { shifted[k as usize].0 } else { poses[k as usize] });
                let body = &pool[k as usize];
                inverses.push(BodyInverse { mass: body.inverse_mass, inertia: body.inverse_inertia });
            }
            joint.soft_rows_at(local, inverses, memory, rows);
            same &= rows.blocks.len() == span.blocks[1] as usize;
        }
        same
    }

    /// Rows where the bodies are. The first time it says how many blocks joints have: `fresh`.
    fn read(&mut self, world: &World, fresh: bool) -> bool {
        if fresh {
            self.acting.clear();
            self.span_of.clear();
            for k in 0..self.spans.len() {
                // One joint after the other, to know the blocks of each.
                let (slot, [from, to]) = (self.spans[k].slot, self.spans[k].bodies);
                let Some((_, joint)) = world.joint_in_slot(slot) else { continue };
                self.local.clear();
                self.local
                    .extend(self.bodies[from as usize..to as usize].iter().map(|b| self.poses[*b as usize]));
                self.ahead.clear();
                joint.rows_at(&self.local, &mut self.memory, &mut self.ahead);
                let start = self.acting.len() as u32;
                self.acting.resize(self.acting.len() + self.ahead.blocks.len(), [Acting::Off; 3]);
                self.spans[k].blocks = [start, self.acting.len() as u32];
                self.span_of.resize(self.acting.len(), k as u32);
            }
        }
        let same = self.rows_at(world, false);
        self.exerted.clear();
        self.exerted.resize(self.acting.len(), DVec3::ZERO);
        same && self.rows.blocks.len() == self.acting.len()
    }

    /// Factors the rows that hold.
    fn hold(&mut self) {
        self.held.clear(self.pool.len());
        self.held_rows.clear();
        for span in &self.spans {
            let numbers = &self.bodies[span.bodies[0] as usize..span.bodies[1] as usize];
            for b in span.blocks[0]..span.blocks[1] {
                let block = &self.rows.blocks[b as usize];
                for i in 0..usize::from(block.rows) {
                    if self.acting[b as usize][i] == Acting::Held {
                        self.held.rows.add(sides_of(&self.rows, b, i, numbers));
                        self.held_rows.push([b, i as u32]);
                    }
                }
            }
        }
        self.held.factor(&self.pool);
    }

    /// Velocity of a row against what it is to be, m/s or rad/s, with bodies as they are in the pool.
    fn slip(&self, span: &Span, b: u32, i: usize) -> f64 {
        let numbers = &self.bodies[span.bodies[0] as usize..span.bodies[1] as usize];
        let block = &self.rows.blocks[b as usize];
        let target = match block.laws[i] {
            RowLaw::Drive { speed, .. } => speed,
            _ => 0.0,
        };
        let sides = sides_of(&self.rows, b, i, numbers);
        let u: f64 = sides.map(|s| s.velocity(self.pool[s.body as usize].velocity)).sum();
        u + block.drift[i] - target
    }

    /// Adds the wrenches of all joints to those of other forces, with bodies where they are placed at `time` (s).
    pub(crate) fn exert(
        &mut self,
        world: &World,
        time: f64,
        states: &[BodyState],
        wrenches: &mut [Force],
    ) -> Result<(), Abort> {
        self.place(world, time, states);
        if !self.read(world, false) {
            return Err(self.abort());
        }
        self.hold();
        self.drive(wrenches);
        self.lambda.clear();
        if self.held.is_empty() && self.watched.is_empty() {
            return Ok(());
        }
        self.find_rates(world, time)?;
        self.accelerations.clear();
        for (k, wrench) in wrenches.iter().enumerate() {
            self.accelerations.push(self.acceleration(world, k, &states[k], wrench));
        }
        // Accelerations of the others are in the rates.
        self.accelerations.resize(self.pool.len(), Motion::ZERO);
        for row in 0..self.held.len() {
            let of = |s: &HeldSide| s.velocity(self.accelerations[s.body as usize]);
            let felt: f64 = self.held.rows.of(row).iter().map(of).sum();
            self.lambda.push(-(self.rates[row] + felt));
        }
        self.held.solve(&mut self.lambda);
        for (row, &force) in self.lambda.iter().enumerate() {
            let [b, i] = self.held_rows[row];
            self.exerted[b as usize][i as usize] = force;
            for side in self.held.rows.of(row) {
                if let Some(wrench) = wrenches.get_mut(side.body as usize) {
                    wrench.linear += side.force * force;
                    wrench.moment += side.moment * force;
                }
            }
        }
        Ok(())
    }

    /// Acceleration of body `k` under a wrench.
    fn acceleration(&self, world: &World, k: usize, state: &BodyState, wrench: &Force) -> Motion {
        let body = &self.pool[k];
        let turning = wrench.moment - state.velocity.angular.cross(state.spin(&self.models[k]));
        Motion::new(body.inverse_inertia * turning, world.gravity() + wrench.linear * body.inverse_mass)
    }

    /// Motors, springs, and friction that slips.
    fn drive(&mut self, wrenches: &mut [Force]) {
        for k in 0..self.spans.len() {
            let span = self.spans[k];
            for b in span.blocks[0]..span.blocks[1] {
                for i in 0..usize::from(self.rows.blocks[b as usize].rows) {
                    let block = &self.rows.blocks[b as usize];
                    let force = match (self.acting[b as usize][i], block.laws[i]) {
                        (Acting::Spring, RowLaw::Drive { stiffness, damping, most, .. }) => {
                            let pull = -stiffness * block.position[i] - damping * self.slip(&span, b, i);
                            pull.clamp(-most, most)
                        }
                        (Acting::High, RowLaw::Drive { most, .. } | RowLaw::Friction { most }) => most,
                        (Acting::Low, RowLaw::Drive { most, .. } | RowLaw::Friction { most }) => -most,
                        _ => continue,
                    };
                    self.exerted[b as usize][i] = force;
                    let numbers = &self.bodies[span.bodies[0] as usize..span.bodies[1] as usize];
                    for side in sides_of(&self.rows, b, i, numbers) {
                        if let Some(wrench) = wrenches.get_mut(side.body as usize) {
                            wrench.linear += side.force * force;
                            wrench.moment += side.moment * force;
                        }
                    }
                }
            }
        }
    }

    /// k of the rows that hold.
    fn find_rates(&mut self, world: &World, time: f64) -> Result<(), Abort> {
        let step = TURN / self.fastest_turn(world);
        self.rates.clear();
        self.rates.resize(self.held.len() + self.watched.len(), 0.0);
        let moving = self.pool.len() - self.others.len();
        for (at, weight) in WEIGHTS {
            let dt = at * step;
            self.shifted.clear();
            for (pose, body) in self.poses.iter().zip(&self.pool[..moving]) {
                let Motion { angular, linear } = body.velocity;
                let rotation = quat_exp(angular * dt) * pose.rotation;
                self.shifted.push((Pose::new(pose.translation + linear * dt, rotation), body.velocity));
            }
            for &id in &self.others {
                self.shifted.push(motion_of(world, id, time + dt));
            }
            if !self.rows_at(world, true) {
                return Err(self.abort());
            }
            for (row, &[b, i]) in self.held_rows.iter().chain(&self.watched).enumerate() {
                let [from, to] = self.spans[self.span_of[b as usize] as usize].bodies;
                let numbers = &self.bodies[from as usize..to as usize];
                let sides = sides_of(&self.ahead, b, i as usize, numbers);
                let u: f64 = sides.map(|s| s.velocity(self.shifted[s.body as usize].1)).sum();
                let drift = self.ahead.blocks[b as usize].drift[i as usize];
                self.rates[row] += weight / step * (u + drift);
            }
        }
        Ok(())
    }

    /// How fast rows turn, rad/s: as bodies do, and lines between points that pass each other.
    fn fastest_turn(&self, world: &World) -> f64 {
        let mut most = SLOW;
        for span in &self.spans {
            let Some((_, joint)) = world.joint_in_slot(span.slot) else { continue };
            let length = match joint.model().kind {
                JointKind::Distance { length }
                | JointKind::Rope { length, .. }
                | JointKind::MultiBar { length }
                | JointKind::MultiRope { length, .. } => length,
                _ => 1.0,
            };
            let mut speed = 0.0_f64;
            for anchor in &joint.model().anchors {
                let Some(&k) = self.bodies.get(span.bodies[0] as usize + anchor.body as usize) else {
                    continue;
                };
                if anchor.is_world() || k as usize >= self.pool.len() {
                    continue;
                }
                let v = self.pool[k as usize].velocity;
                most = most.max(v.angular.length());
                speed = speed.max(v.linear.length() + v.angular.length() * anchor.frame.translation.length());
            }
            most = most.max(speed / length.max(0.05));
        }
        if most.is_finite() { most } else { SLOW }
    }

    /// An error that names the first body.
    fn abort(&self) -> Abort {
        Abort { code: 0 }
    }

    /// Each joint: its slot, and how its rows act.
    pub(crate) fn actings(&self) -> impl Iterator<Item = (u32, &[[Acting; 3]])> {
        let of = |s: &Span| (s.slot, &self.acting[s.blocks[0] as usize..s.blocks[1] as usize]);
        self.spans.iter().map(of)
    }

    /// What a joint exerts on its second partner, with forces by block and the rows that were read last.
    pub(crate) fn reaction(&self, joint: &Joint, slot: u32, local: &mut Vec<Pose>) -> Force {
        let Some(span) = self.spans.iter().find(|s| s.slot == slot) else { return Force::ZERO };
        local.clear();
        let numbers = &self.bodies[span.bodies[0] as usize..span.bodies[1] as usize];
        local.extend(numbers.iter().map(|k| self.poses[*k as usize]));
        let blocks = span.blocks[0] as usize..span.blocks[1] as usize;
        let (rows, forces) = (&self.rows.blocks[blocks.clone()], &self.exerted[blocks]);
        joint.exerted(&self.rows, rows, forces, local, 1.0)
    }

    /// Power of the rows, W: what is held, drives, friction; for bodies as they are placed, after [`Linkage::exert`].
    pub(crate) fn power(&self) -> [f64; 3] {
        let mut out = [0.0; 3];
        for span in &self.spans {
            let numbers = &self.bodies[span.bodies[0] as usize..span.bodies[1] as usize];
            for b in span.blocks[0]..span.blocks[1] {
                let block = &self.rows.blocks[b as usize];
                for i in 0..usize::from(block.rows) {
                    let force = self.exerted[b as usize][i];
                    if force == 0.0 {
                        continue;
                    }
                    // Of the cluster: what scripts do is theirs.
                    let moving = self.pool.len() - self.others.len();
                    let sides = sides_of(&self.rows, b, i, numbers).filter(|s| (s.body as usize) < moving);
                    let u: f64 = sides.map(|s| s.velocity(self.pool[s.body as usize].velocity)).sum();
                    let kind = match block.laws[i] {
                        RowLaw::Hold | RowLaw::Limit { .. } => 0,
                        RowLaw::Drive { .. } => 1,
                        RowLaw::Friction { .. } => 2,
                    };
                    out[kind] += force * u;
                }
            }
        }
        out
    }

    /// Load of a joint as a share of what it bears.
    fn load(&self, joint: &Joint, slot: u32, local: &mut Vec<Pose>) -> f64 {
        let most = joint.breaking();
        if most.force == f64::INFINITY && most.torque == f64::INFINITY {
            return 0.0;
        }
        let reaction = self.reaction(joint, slot, local);
        let share = |load: f64, most: f64| if most > 0.0 { load / most } else { load * f64::INFINITY };
        share(reaction.linear.length(), most.force).max(share(reaction.moment.length(), most.torque))
    }
}

/// One row of a block for bodies of the pool.
fn sides_of<'a>(
    rows: &'a JointRows,
    block: u32,
    row: usize,
    numbers: &'a [u32],
) -> impl Iterator<Item = HeldSide> + 'a {
    rows.sides_of(&rows.blocks[block as usize]).iter().filter_map(move |side| {
        let body = *numbers.get(side.body as usize)?;
        Some(HeldSide { body, moment: side.moments.col(row), force: side.forces.col(row) })
    })
}

/// Where a body that does not move with the cluster is at a time, s.
fn motion_of(world: &World, id: BodyId, time: f64) -> (Pose, Motion) {
    match world.get(id).map(|body| body.at(time)) {
        Some(Ok(state)) => (*state.pose(), state.velocity),
        _ => (Pose::IDENTITY, Motion::ZERO),
    }
}
