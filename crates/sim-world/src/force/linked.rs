//! One step of a cluster that joints hold together: admissible states at both ends, and an end where rows begin to act otherwise.
//!
//! # Reference
//!
//! As [`integrate`](super::integrate), with the multipliers of [`linkage`](crate::linkage).
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | g | what must not become negative while rows act as they do, see `linkage::modes` | - |
//! | τ | time since the start of the piece | s |
//!
//! # Formula
//!
//! ```text
//! settle the velocities, choose how rows act, integrate one step, put its end right
//! the first τ with g(τ) = 0 ends the piece; one that is at its start turns its row over, and the piece is tried again
//! ```
//!
//! # Cost
//!
//! About twice that of the same step without joints, and a solution of the rows for each look at forces.
//!
//! # Numerics
//!
//! g is looked at on the polynomials that bodies move on, not on an estimate of them.
//!
//! # Failure
//!
//! As `integrate`. Rows that change all the time (at most [`TRIES`] changes at one time) are left as they are for a piece.
//!
//! # Tested by
//!
//! `tests/event_joints.rs` of `sim-steppers`

use super::integrate::{ForceScratch, LONGEST};
use crate::{
    error::WorldError,
    events::{Event, EventKind},
    joint::limit_bit,
    linkage::Acting,
    work::JointWork,
    world::World,
};
use constraint_dynamics::joints::JointRows;
use rigid_impulse::{BodyError, BodyState};
use sim_math::{
    Pose,
    integrate::{Abort, IntegrateError},
    spatial::Force,
};
use sim_traits::{BodyId, JointId};

/// What joints hold is put right over a piece if it is off by no more than this, m or rad.
const APART: f64 = 0.01;
/// Most changes of rows at one time.
pub(super) const TRIES: usize = 16;
/// Looks at g in a piece.
const LOOKS: u32 = 8;
/// Steps of the search for a root.
const STEPS: usize = 80;
/// A root before this is at the start, s.
const SOON: f64 = 1e-10;

/// What joints are to know when the pieces begin.
#[derive(Debug, Default)]
pub(super) struct LinkedNext {
    /// Slot, reaction, rows and memory of each.
    joints: Vec<(u32, Force, [u32; 2], [u32; 2])>,
    acting: Vec<[Acting; 3]>,
    memory: Vec<f64>,
    /// Slot, axis, upper, borne, hit.
    limits: Vec<(u32, u32, bool, bool, bool)>,
    broken: Vec<(JointId, Force)>,
    work: JointWork,
    local: Vec<Pose>,
    rows: JointRows,
    remembered: Vec<f64>,
    /// g at two times.
    looks: [Vec<[f64; 2]>; 2],
    mid: Vec<[f64; 2]>,
    /// Before velocities were settled.
    first: Vec<BodyState>,
}

impl ForceScratch {
    fn named(&self, error: &Abort, time: f64) -> WorldError {
        let unknown = BodyId::new(u32::MAX, u32::MAX);
        let body = self.ids.get(error.code as usize).or(self.ids.first()).copied().unwrap_or(unknown);
        let source = BodyError::Rotation(IntegrateError::Aborted { t: time, code: error.code });
        WorldError::Body { body, source }
    }
}

impl World {
    /// A step of a cluster with joints: `scratch` has its bodies and their states at `time` (s).
    pub(super) fn step_linked(
        &self,
        cluster: usize,
        time: f64,
        hint: &mut Option<f64>,
        scratch: &mut ForceScratch,
    ) -> Result<(), WorldError> {
        scratch.linked.first.clone_from(&scratch.starts);
        scratch.link.begin(self, cluster, &scratch.ids);
        let settled = scratch.link.settle(self, time, &mut scratch.starts);
        settled.map_err(|error| scratch.named(&error, time))?;
        if let Some((slot, error)) = scratch.link.worst().filter(|(_, error)| *error > APART) {
            if let Some((joint, j)) = self.joint_in_slot(slot) {
                let kind = j.model().kind.name();
                return Err(WorldError::JointApart { joint, kind, error, tolerance: APART });
            }
        }
        for _ in 0..TRIES {
            self.exert_free(cluster, time, scratch);
            let ForceScratch { link, starts, free, .. } = scratch;
            let chosen = link.choose(self, time, starts, free);
            chosen.map_err(|error| scratch.named(&error, time))?;
            let length = self.try_step(cluster, time, LONGEST, hint, scratch)?;
            let end = self.first_change(cluster, time, length, scratch);
            match end.map_err(|error| scratch.named(&error, time))? {
                None => break,
                Some((tau, check)) if tau <= SOON => scratch.link.turn_over(check),
                Some((tau, _)) => {
                    // What was planned without the change is planned still.
                    let mut short = Some(tau);
                    self.try_step(cluster, time, tau, &mut short, scratch)?;
                    break;
                }
            }
        }
        self.note_joints(cluster, time, scratch).map_err(|error| scratch.named(&error, time))
    }

    /// What joints exert at the start of the pieces, and what settling did.
    fn note_joints(&self, cluster: usize, time: f64, scratch: &mut ForceScratch) -> Result<(), Abort> {
        self.exert_free(cluster, time, scratch);
        let ForceScratch { link, starts, free, linked, .. } = scratch;
        link.exert(self, time, starts, free)?;
        let LinkedNext {
            joints, acting, memory, limits, broken, work, local, rows, remembered, first, ..
        } = linked;
        joints.clear();
        acting.clear();
        memory.clear();
        broken.clear();
        for (slot, acts) in link.actings() {
            let Some((id, joint)) = self.joint_in_slot(slot) else { continue };
            let (from, start) = (acting.len() as u32, memory.len() as u32);
            acting.extend_from_slice(acts);
            let reaction = link.reaction(joint, slot, local);
            rows.clear();
            joint.rows_at(local, remembered, rows);
            memory.extend_from_slice(remembered);
            joints.push((slot, reaction, [from, acting.len() as u32], [start, memory.len() as u32]));
            let most = joint.breaking();
            // Where a piece was ended because a joint would break, the load is rounding from what it bears.
            if reaction.linear.length() * (1.0 + 1e-9) > most.force
                || reaction.moment.length() * (1.0 + 1e-9) > most.torque
            {
                broken.push((id, reaction));
            }
        }
        limits.clear();
        limits.extend(link.limits());
        let (joints, impulse, moment) = link.change(first, starts);
        *work = JointWork { joints, impulse, moment, ..JointWork::default() };
        Ok(())
    }

    /// Tells the joints, once the pieces of their bodies have begun.
    pub(super) fn commit_joints(&mut self, time: f64, linked: &mut LinkedNext) {
        self.account.joint_work(&linked.work);
        for &(slot, reaction, rows, memory) in &linked.joints {
            let Some((_, joint)) = self.joints.at_mut::<JointId>(slot) else { continue };
            joint.reaction = reaction;
            joint.acting.clear();
            joint.acting.extend_from_slice(&linked.acting[rows[0] as usize..rows[1] as usize]);
            let memory = &linked.memory[memory[0] as usize..memory[1] as usize];
            if memory.len() == joint.memory.len() {
                joint.memory.copy_from_slice(memory);
            }
        }
        for &(slot, axis, high, borne, hit) in &linked.limits {
            let Some((id, joint)) = self.joints.at_mut::<JointId>(slot) else { continue };
            let Some(bit) = limit_bit(axis as usize, high) else { continue };
            let before = joint.at_limits & bit != 0 && !hit;
            let reached = borne || hit;
            joint.at_limits = if reached { joint.at_limits | bit } else { joint.at_limits & !bit };
            if reached && !before {
                self.list(Event { time, kind: EventKind::JointLimit { joint: id, axis, high } });
            }
        }
        for (joint, load) in linked.broken.drain(..) {
            if !self.overloaded.iter().any(|(id, ..)| *id == joint) {
                self.overloaded.push((joint, load, 0.0));
            }
        }
    }

    /// The first time since the start of the pieces in `scratch.next` at which rows act otherwise, s, and which check says so.
    fn first_change(
        &self,
        cluster: usize,
        time: f64,
        length: f64,
        scratch: &mut ForceScratch,
    ) -> Result<Option<(f64, usize)>, Abort> {
        if scratch.link.checks() == 0 {
            return Ok(None);
        }
        let [mut before, mut after] = std::mem::take(&mut scratch.linked.looks);
        self.look_at(cluster, time, 0.0, scratch, &mut before)?;
        let (mut from, mut found) = (0.0, None);
        for k in 1..=LOOKS {
            let to = length * f64::from(k) / f64::from(LOOKS);
            self.look_at(cluster, time, to, scratch, &mut after)?;
            let mut first: Option<(f64, usize)> = None;
            for check in 0..after.len() {
                let sides = [before[check], after[check]];
                if let Some(root) = self.root(cluster, time, [from, to], sides, check, scratch)? {
                    if first.is_none_or(|(earliest, _)| root < earliest) {
                        first = Some((root, check));
                    }
                }
            }
            if first.is_some() {
                found = first;
                break;
            }
            std::mem::swap(&mut before, &mut after);
            from = to;
        }
        scratch.linked.looks = [before, after];
        Ok(found)
    }

    /// Root of one g between two times, if it is negative at the end, or where its position turns.
    fn root(
        &self,
        cluster: usize,
        time: f64,
        [mut from, mut to]: [f64; 2],
        [before, after]: [[f64; 2]; 2],
        check: usize,
        scratch: &mut ForceScratch,
    ) -> Result<Option<f64>, Abort> {
        let mut mid = std::mem::take(&mut scratch.linked.mid);
        let mut at = |t: f64, scratch: &mut ForceScratch| -> Result<[f64; 2], Abort> {
            self.look_at(cluster, time, t, scratch, &mut mid)?;
            Ok(mid[check])
        };
        let mut result = Ok(None);
        let (mut low, mut high) = (before[0], after[0]);
        if high >= -1.0 && before[1] < 0.0 && after[1] > 0.0 && low > -1.0 {
            // The position of a limit turns in between: its smallest value.
            let (mut a, mut b) = (from, to);
            for _ in 0..30 {
                let t = 0.5 * (a + b);
                let g = match at(t, scratch) {
                    Ok(g) => g,
                    Err(error) => {
                        result = Err(error);
                        break;
                    }
                };
                if g[0] < -1.0 {
                    (to, high) = (t, g[0]);
                    break;
                }
                if g[1] < 0.0 { a = t } else { b = t }
            }
        }
        if result.is_ok() && high < -1.0 {
            result = (|| {
                // One that begins at zero may rise first: a start from which it falls.
                let mut shrink = to;
                while low <= 0.0 {
                    shrink *= 0.25;
                    if shrink <= from + SOON {
                        return Ok(Some(from));
                    }
                    let g = at(shrink, scratch)?[0];
                    if g > 0.0 {
                        (from, low) = (shrink, g);
                    } else if g < -1.0 {
                        (to, high) = (shrink, g);
                    }
                }
                // Illinois' method, to the least distance of times.
                for _ in 0..STEPS {
                    let share = low / (low - high);
                    let t = from + (to - from) * if share > 0.0 && share < 1.0 { share } else { 0.5 };
                    if t <= from || t >= to || to - from < 1e-15 {
                        break;
                    }
                    let g = at(t, scratch)?[0];
                    if g.abs() <= 0.1 {
                        return Ok(Some(t));
                    }
                    if g > 0.0 {
                        (from, low) = (t, g);
                        high *= 0.5;
                    } else {
                        (to, high) = (t, g);
                        low *= 0.5;
                    }
                }
                Ok(Some(from))
            })();
        }
        scratch.linked.mid = mid;
        result
    }

    /// All g at a time since the start of the pieces, s.
    fn look_at(
        &self,
        cluster: usize,
        time: f64,
        tau: f64,
        scratch: &mut ForceScratch,
        out: &mut Vec<[f64; 2]>,
    ) -> Result<(), Abort> {
        scratch.states.clear();
        for k in 0..scratch.next.len() {
            let (_, start, dense) = &scratch.next[k];
            let state = dense.at(start, tau).map_err(|_| Abort { code: k as u64 })?;
            scratch.states.push(state);
        }
        if scratch.link.checks_forces() {
            self.exert_on_states(cluster, time + tau, scratch);
            let ForceScratch { link, states, free, .. } = scratch;
            link.exert(self, time + tau, states, free)?;
        } else {
            let ForceScratch { link, states, .. } = scratch;
            link.look(self, time + tau, states)?;
        }
        scratch.link.measure(self, out);
        Ok(())
    }
}
