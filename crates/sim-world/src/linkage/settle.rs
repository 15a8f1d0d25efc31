//! States that joints admit: what is held is put right at the ends of pieces, limits that are hit bounce.
//!
//! # Reference
//!
//! Ascher, Chin, Petzold and Reich (1995): projections after each step of integration; [`constraint_dynamics::restitution`] for limits that are hit.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | x, u | positions and velocities of the rows that hold: to be zero | m, rad |
//!
//! # Formula
//!
//! ```text
//! places      Δq = −M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ x,  again until x is rounding
//! velocities  Δv = −M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ u
//! ```
//!
//! # Cost
//!
//! One factor of the rows that hold for each round.
//!
//! # Numerics
//!
//! The end of a piece is put right before the piece is made, so that nothing jumps: x there is rounding, for ever. Bounces slower than `BOUNCE` end a sequence of bounces.
//!
//! # Failure
//!
//! A place that is not finite names its body.
//!
//! # Tested by
//!
//! `tests/event_joints.rs` of `sim-steppers`

use super::{Acting, Linkage, sides_of};
use crate::world::World;
use constraint_dynamics::{
    joints::RowLaw,
    restitution::{Bounce, Impact, ImpactJoints},
};
use rigid_impulse::BodyState;
use sim_math::{Pose, glam::DVec3, integrate::Abort, rotation::quat_exp, spatial::Motion};

/// Most rounds of a correction of places.
const ROUNDS: usize = 4;
/// A limit is reached from here on, m or rad.
pub(super) const TOUCH: f64 = 1e-9;
/// Speed that counts as none, m/s or rad/s.
pub(super) const REST: f64 = 1e-7;
/// Positions of limits that are put right at most, m or rad.
const BEYOND: f64 = 1e-6;
/// Bounces slower than this are none, m/s or rad/s.
const BOUNCE: f64 = 1e-4;

/// Memory for limits that are hit.
#[derive(Debug, Default)]
pub(super) struct Settling {
    law: Impact,
    joints: ImpactJoints,
    /// Blocks of limits that were hit.
    pub(super) hit: Vec<u32>,
    limits: Vec<u32>,
    x: Vec<f64>,
}

impl Linkage {
    /// Makes velocities admissible at the start of a piece: what is held stands still, limits that are hit bounce.
    pub(crate) fn settle(&mut self, world: &World, time: f64, states: &mut [BodyState]) -> Result<(), Abort> {
        self.place(world, time, states);
        self.settling.hit.clear();
        self.flips.clear();
        self.ignored.clear();
        if !self.read(world, true) {
            return Err(self.abort());
        }
        for (acting, block) in self.acting.iter_mut().zip(&self.rows.blocks) {
            for i in 0..usize::from(block.rows) {
                let endless = |most: f64, damping: f64| damping == f64::INFINITY && most == f64::INFINITY;
                acting[i] = match block.laws[i] {
                    RowLaw::Hold => Acting::Held,
                    RowLaw::Drive { damping, most, .. } if endless(most, damping) => Acting::Held,
                    _ => Acting::Off,
                };
            }
        }
        self.hold();
        self.stop_rows();
        self.bounce();
        self.take_velocities(states);
        Ok(())
    }

    /// Takes from the velocities in the pool what rows that hold do not let happen.
    pub(super) fn stop_rows(&mut self) {
        let mut x = std::mem::take(&mut self.settling.x);
        x.clear();
        for &[b, i] in &self.held_rows {
            let span = self.spans[self.span_of[b as usize] as usize];
            x.push(-self.slip(&span, b, i as usize));
        }
        self.held.solve(&mut x);
        for (row, p) in x.iter().enumerate() {
            self.held.rows.push(&mut self.pool, row, *p);
        }
        self.settling.x = x;
    }

    /// Limits that are reached and approach bounce, all at once.
    fn bounce(&mut self) {
        let Self {
            settling: Settling { law, joints, hit, limits, .. },
            rows,
            acting,
            spans,
            bodies,
            pool,
            ..
        } = self;
        joints.clear(pool.len());
        limits.clear();
        for span in spans.iter() {
            let numbers = &bodies[span.bodies[0] as usize..span.bodies[1] as usize];
            for b in span.blocks[0]..span.blocks[1] {
                let block = &rows.blocks[b as usize];
                for i in 0..usize::from(block.rows) {
                    let sides = || sides_of(rows, b, i, numbers);
                    match block.laws[i] {
                        _ if acting[b as usize][i] == Acting::Held => joints.held.rows.add(sides()),
                        RowLaw::Limit { restitution } if block.position[i] <= TOUCH => {
                            let u: f64 = sides().map(|s| s.velocity(pool[s.body as usize].velocity)).sum();
                            let back = -restitution * u;
                            let restitution = if back < BOUNCE { 0.0 } else { restitution };
                            joints.limit(sides(), Bounce { restitution, rest: REST });
                            limits.push(b);
                        }
                        _ => {}
                    }
                }
            }
        }
        if limits.is_empty() {
            return;
        }
        joints.finish(pool);
        // A problem that cannot be is none that joints make: their rows were checked.
        if law.run_with(pool, &[], &[], joints).is_ok() {
            let struck = law.limit_impulses().iter().zip(limits.iter()).filter(|(p, _)| **p > 0.0);
            hit.extend(struck.map(|(_, b)| *b));
        }
    }

    /// Velocities of the pool into states.
    pub(super) fn take_velocities(&self, states: &mut [BodyState]) {
        for (state, body) in states.iter_mut().zip(&self.pool) {
            state.velocity = body.velocity;
        }
    }

    /// Puts the end of a piece right: places, then velocities.
    pub(crate) fn put_right(
        &mut self,
        world: &World,
        time: f64,
        states: &mut [BodyState],
    ) -> Result<(), Abort> {
        for round in 0..=ROUNDS {
            self.place(world, time, states);
            if !self.read(world, false) {
                return Err(self.abort());
            }
            self.hold();
            if round == ROUNDS {
                break;
            }
            let mut x = std::mem::take(&mut self.settling.x);
            x.clear();
            let mut worst = 0.0_f64;
            for &[b, i] in &self.held_rows {
                let block = &self.rows.blocks[b as usize];
                let off = match block.laws[i as usize] {
                    RowLaw::Hold => block.position[i as usize],
                    // One that began beyond its limit stays there.
                    RowLaw::Limit { .. } if block.position[i as usize].abs() < BEYOND => {
                        block.position[i as usize]
                    }
                    // What is held there is a velocity.
                    RowLaw::Limit { .. } | RowLaw::Drive { .. } | RowLaw::Friction { .. } => 0.0,
                };
                worst = worst.max(off.abs());
                x.push(-off);
            }
            if worst <= 4.0 * f64::EPSILON {
                self.settling.x = x;
                break;
            }
            self.held.solve(&mut x);
            let mut steps = std::mem::take(&mut self.accelerations);
            steps.clear();
            steps.resize(self.pool.len(), Motion::ZERO);
            for (row, p) in x.iter().enumerate() {
                for side in self.held.rows.of(row) {
                    let body = &self.pool[side.body as usize];
                    steps[side.body as usize].linear += side.force * (p * body.inverse_mass);
                    steps[side.body as usize].angular += body.inverse_inertia * (side.moment * *p);
                }
            }
            for (k, (state, step)) in states.iter_mut().zip(&steps).enumerate() {
                let pose = state.pose();
                let moved = Pose::new(
                    pose.translation + step.linear,
                    (quat_exp(step.angular) * pose.rotation).normalize(),
                );
                state.set_pose(moved).map_err(|_| Abort { code: k as u64 })?;
            }
            self.accelerations = steps;
            self.settling.x = x;
            if worst <= 1e-14 {
                // The last round was for rounding.
                self.place(world, time, states);
                if !self.read(world, false) {
                    return Err(self.abort());
                }
                self.hold();
                break;
            }
        }
        self.stop_rows();
        self.take_velocities(states);
        Ok(())
    }

    /// Limits of joints as they are now: slot of the joint, free axis, upper one, borne, hit.
    pub(crate) fn limits(&self) -> impl Iterator<Item = (u32, u32, bool, bool, bool)> {
        self.spans.iter().flat_map(move |span| {
            (span.blocks[0]..span.blocks[1]).filter_map(move |b| {
                let (axis, high) = self.rows.blocks.get(b as usize)?.limit?;
                let borne = self.acting[b as usize][0] == Acting::Held;
                Some((span.slot, axis, high, borne, self.settling.hit.contains(&b)))
            })
        })
    }

    /// Largest error of what is held: a joint with it, m or rad.
    pub(crate) fn worst(&self) -> Option<(u32, f64)> {
        let mut worst: Option<(u32, f64)> = None;
        for span in &self.spans {
            for b in span.blocks[0]..span.blocks[1] {
                let block = &self.rows.blocks[b as usize];
                for i in 0..usize::from(block.rows) {
                    let x = block.position[i];
                    let off = match block.laws[i] {
                        RowLaw::Hold => x.abs(),
                        _ => continue,
                    };
                    if worst.is_none_or(|(_, most)| off > most) {
                        worst = Some((span.slot, off));
                    }
                }
            }
        }
        worst
    }
}

impl Linkage {
    /// What changes of velocity at one time are: kinetic energy, momentum, angular momentum about the world's origin.
    pub(crate) fn change(&self, before: &[BodyState], after: &[BodyState]) -> (f64, DVec3, DVec3) {
        let mut out = (0.0, DVec3::ZERO, DVec3::ZERO);
        for ((model, from), to) in self.models.iter().zip(before).zip(after) {
            let linear = (to.velocity.linear - from.velocity.linear) / model.inverse_mass();
            out.0 += to.kinetic_energy(model) - from.kinetic_energy(model);
            out.1 += linear;
            out.2 += from.pose().translation.cross(linear) + to.spin(model) - from.spin(model);
        }
        out
    }
}
