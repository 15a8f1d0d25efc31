//! Boxes, pairs, contacts within reach of a step.
//!
//! Contacts are looked for as far as bodies can travel in a step, before they touch: a contact at a distance lets its bodies
//! come as close as the distance, and no closer, so that fast bodies do not pass through thin ones.
//!
//! Nothing is looked for twice. Boxes are larger than they need be, and renewed when a body may have left its box; pairs change only with boxes;
//! a pair is looked at again when its bodies have moved more than what was found of them allows. A pile at rest costs a few comparisons.

use super::{
    candidate::{Candidate, Horizon, Known, Sensor},
    contact_events::Exerted,
    travel::Travels,
};
use crate::parts::Parts;
use sim_math::Aabb;
use sim_traits::{ColliderId, Pair, PairChanges, ProxyId, ProxyKind, for_each_mut};
use sim_world::{Body, Collider, EventKind, StepError, World};

/// Slack of a box beyond the next step: this share of the body's size. More means fewer renewals, and more pairs that come to nothing.
const SLACK: f64 = 0.05;

/// Pairs to be looked at, and threads, from which on these share them: what a thread finds has to come back from its cache, which costs as much as two
/// threads gain.
const MANY: usize = 512;
const THREADS: usize = 3;

/// The box of a collider in the broad phase.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Placed {
    pub(super) id: ColliderId,
    pub(super) aabb: Aabb,
    /// The box is good while path and reach of the body stay below this sum, m.
    pub(super) until: f64,
}

/// What a detection saw.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// A body has moved.
    pub(super) moved: bool,
    /// Contacts were found anew.
    pub(super) renewed: bool,
}

/// Boxes and pairs.
#[derive(Debug, Default)]
pub(super) struct Detect {
    /// By collider slot.
    pub(super) placed: Vec<Option<Placed>>,
    pub(super) travels: Travels,
    ids: Vec<ProxyId>,
    boxes: Vec<Aabb>,
    pairs: Vec<Pair>,
    changes: PairChanges,
    /// Pairs may have changed.
    stale: bool,
    /// What meets what may have changed.
    pairs_invalid: bool,
    pub(super) candidates: Vec<Candidate>,
    /// Those that were looked at.
    pub(super) due: Vec<u32>,
    is_due: Vec<bool>,
    before: Vec<Candidate>,
    pub(super) exerted: Exerted,
    /// Memory of pairs that are gone.
    #[allow(clippy::vec_box, reason = "the boxes themselves are used again")]
    spare: Vec<Box<Known>>,
    /// Places of their manifolds among those of the soft solver.
    pub(super) released: Vec<[u32; 2]>,
    /// Ends of contacts of pairs that were dropped.
    pub(super) pending: Vec<EventKind>,
    pub(super) distances: u64,
}

/// Box of a collider now, grown.
fn grown_box(body: &Body, collider: &Collider, by: f64) -> Aabb {
    collider.shape().aabb(&(*body.state().pose() * collider.extent().body_from_shape)).grown(by)
}

impl Detect {
    /// Forgets all pairs, and empties the broad phase.
    pub(super) fn clear(&mut self, parts: &mut Parts) -> Result<(), StepError> {
        for slot in 0..self.placed.len() {
            if self.placed[slot].take().is_some() {
                parts.broad_phase.remove(ProxyId(slot as u32))?;
            }
        }
        self.travels.clear();
        self.candidates.clear();
        self.exerted.clear();
        self.pending.clear();
        self.released.clear();
        self.invalidate_pairs();
        Ok(())
    }

    /// Something about the bodies has changed that their motion does not show: every pair is looked at again.
    pub(super) fn invalidate(&mut self) {
        self.invalidate_pairs();
        self.candidates.iter_mut().for_each(Candidate::invalidate);
    }

    /// What meets what may have changed.
    pub(super) fn invalidate_pairs(&mut self) {
        (self.stale, self.pairs_invalid) = (true, true);
    }

    /// Renews boxes and pairs, and finds all contacts within reach of the next step.
    pub(super) fn run(
        &mut self,
        world: &World,
        parts: &mut Parts,
        horizon: &Horizon,
    ) -> Result<Seen, StepError> {
        let moved = self.travels.follow(world, horizon.h);
        let renewed = self.renew(world, parts, horizon)?;
        Ok(Seen { moved, renewed })
    }

    /// Renews boxes and pairs, and finds the contacts within the reach that the travels tell; true if any were found anew.
    pub(super) fn renew(
        &mut self,
        world: &World,
        parts: &mut Parts,
        horizon: &Horizon,
    ) -> Result<bool, StepError> {
        let renewed = self.meet(world, parts, horizon.margin)?;
        Ok(renewed | self.look(world, parts, horizon)?)
    }

    /// Renews boxes and pairs; true if the list of pairs has changed.
    pub(super) fn meet(&mut self, world: &World, parts: &mut Parts, margin: f64) -> Result<bool, StepError> {
        let mut renewed = false;
        self.place(world, parts, margin)?;
        if self.stale {
            parts.broad_phase.pair_changes(&mut self.changes);
            self.changes.begun.sort_unstable();
            self.changes.ended.sort_unstable();
            // Boxes are renewed more often than pairs change.
            if self.pairs_invalid {
                parts.broad_phase.pairs(&mut self.pairs);
                self.pairs.sort_unstable();
                self.follow(world);
                renewed = true;
            } else if !(self.changes.begun.is_empty() && self.changes.ended.is_empty()) {
                self.follow_changes(world);
                renewed = true;
            }
            (self.stale, self.pairs_invalid) = (false, false);
        }
        Ok(renewed)
    }

    fn place(&mut self, world: &World, parts: &mut Parts, margin: f64) -> Result<(), StepError> {
        self.placed.resize(self.placed.len().max(world.collider_slots()), None);
        self.ids.clear();
        self.boxes.clear();
        for slot in 0..self.placed.len() as u32 {
            let found = world.collider_in_slot(slot).and_then(|(id, c)| Some((id, c, world.get(c.body())?)));
            let known = self.placed[slot as usize].filter(|p| found.is_some_and(|(id, _, _)| id == p.id));
            if known.is_none() && self.placed[slot as usize].take().is_some() {
                parts.broad_phase.remove(ProxyId(slot))?;
                self.stale = true;
            }
            let Some((id, collider, body)) = found else { continue };
            let owner = collider.body().index();
            let needed = self.travels.path(owner) + self.travels.reach(owner);
            if known.is_some_and(|p| needed <= p.until || body.is_fixed()) {
                continue;
            }
            let slack = if body.is_fixed() {
                0.0
            } else {
                self.travels.reach(owner) + SLACK * self.travels.radius(owner)
            };
            let placed = Placed {
                id,
                aabb: grown_box(body, collider, slack + margin),
                until: self.travels.path(owner) + slack,
            };
            if known.is_none() {
                let kind = if body.is_fixed() { ProxyKind::Fixed } else { ProxyKind::Moving };
                parts.broad_phase.insert(ProxyId(slot), kind, &placed.aabb)?;
            } else {
                self.ids.push(ProxyId(slot));
                self.boxes.push(placed.aabb);
            }
            self.placed[slot as usize] = Some(placed);
            self.stale = true;
        }
        if !self.ids.is_empty() {
            parts.broad_phase.update(&self.ids, &self.boxes)?;
        }
        Ok(())
    }

    /// Puts boxes that were saved back into the broad phase, which is empty.
    #[cfg(feature = "serde")]
    pub(super) fn put_back(&mut self, world: &World, parts: &mut Parts) -> Result<(), StepError> {
        for (slot, placed) in (0..).zip(&self.placed) {
            let Some(placed) = placed else { continue };
            let body = world.collider_in_slot(slot).and_then(|(_, c)| world.get(c.body()));
            let kind = if body.is_some_and(Body::is_fixed) { ProxyKind::Fixed } else { ProxyKind::Moving };
            parts.broad_phase.insert(ProxyId(slot), kind, &placed.aabb)?;
        }
        parts.broad_phase.pair_changes(&mut self.changes);
        (self.stale, self.pairs_invalid) = (false, false);
        Ok(())
    }

    /// A fixed body was put elsewhere.
    pub(super) fn replace(&mut self, parts: &mut Parts, slot: u32) -> Result<(), StepError> {
        if let Some(placed) = self.placed.get_mut(slot as usize) {
            if placed.take().is_some() {
                parts.broad_phase.remove(ProxyId(slot))?;
                self.stale = true;
            }
        }
        Ok(())
    }

    /// Takes leave of a pair.
    fn drop_pair(&mut self, gone: Candidate) {
        if gone.touching {
            self.pending.push(gone.event(false));
        }
        if gone.span[1] > 0 {
            self.released.push(gone.span);
        }
        self.exerted.release(&gone);
        self.spare.push(gone.rest);
    }

    /// The pair of two colliders, if they have to do with each other: their names, their bodies, which is the sensor.
    fn meeting(world: &World, key: Pair) -> Option<([ColliderId; 2], [u32; 2], Option<Sensor>)> {
        let ((a_id, a), (b_id, b)) = (world.collider_in_slot(key.a.0)?, world.collider_in_slot(key.b.0)?);
        let sensor = world.may_sense(a, b).then_some(if a.is_sensor() { Sensor::A } else { Sensor::B });
        let meets = sensor.is_some() || world.may_collide(a, b);
        meets.then_some(([a_id, b_id], [a.body().index(), b.body().index()], sensor))
    }

    /// Keeps what is remembered of pairs that go on; both lists are sorted.
    fn follow(&mut self, world: &World) {
        let mut old = std::mem::replace(&mut self.candidates, std::mem::take(&mut self.before));
        let mut rest = old.drain(..).peekable();
        for k in 0..self.pairs.len() {
            let key = self.pairs[k];
            let Some((names, bodies, sensor)) = Self::meeting(world, key) else { continue };
            while let Some(gone) = rest.next_if(|w| w.key < key) {
                self.drop_pair(gone);
            }
            match rest.next_if(|w| w.key == key) {
                Some(same) if same.rest.names == names && same.sensor == sensor => self.candidates.push(same),
                other => {
                    other.into_iter().for_each(|gone| self.drop_pair(gone));
                    self.candidates.push(Candidate::new(key, names, bodies, sensor, self.spare.pop()));
                }
            }
        }
        rest.for_each(|gone| self.drop_pair(gone));
        self.before = old;
    }

    /// The same where only the changes can have changed anything.
    fn follow_changes(&mut self, world: &World) {
        let changes = std::mem::take(&mut self.changes);
        let mut old = std::mem::replace(&mut self.candidates, std::mem::take(&mut self.before));
        let (mut ended, mut begun) = (changes.ended.iter().peekable(), changes.begun.iter().peekable());
        for pair in old.drain(..) {
            while let Some(key) = begun.next_if(|key| **key < pair.key) {
                self.begin(world, *key);
            }
            while ended.next_if(|key| **key < pair.key).is_some() {}
            let goes_on = begun.next_if(|key| **key == pair.key).is_some();
            if ended.next_if(|key| **key == pair.key).is_some() && !goes_on {
                self.drop_pair(pair);
            } else {
                self.candidates.push(pair);
            }
        }
        begun.for_each(|key| self.begin(world, *key));
        self.before = old;
        self.changes = changes;
    }

    fn begin(&mut self, world: &World, key: Pair) {
        if let Some((names, bodies, sensor)) = Self::meeting(world, key) {
            self.candidates.push(Candidate::new(key, names, bodies, sensor, self.spare.pop()));
        }
    }

    /// Looks at the pairs; true if any was looked at again.
    fn look(&mut self, world: &World, parts: &Parts, horizon: &Horizon) -> Result<bool, StepError> {
        let before = self.distances;
        let (narrow, executor) = (parts.narrow_phase.as_ref(), parts.executor.as_ref());
        let (placed, travels) = (&self.placed[..], &self.travels);
        self.due.clear();
        for (k, pair) in (0..).zip(&mut self.candidates) {
            if pair.is_due(placed, travels, horizon) {
                self.due.push(k);
            }
        }
        if self.due.len() < MANY || executor.parallelism() < THREADS {
            for &k in &self.due {
                self.candidates[k as usize].look(world, narrow, travels, horizon);
            }
        } else {
            self.is_due.clear();
            self.is_due.resize(self.candidates.len(), false);
            self.due.iter().for_each(|k| self.is_due[*k as usize] = true);
            let is_due = &self.is_due;
            for_each_mut(executor, &mut self.candidates, &|k, pair| {
                if is_due[k] {
                    pair.look(world, narrow, travels, horizon);
                }
            });
        }
        // Only those that were due can be fresh.
        for pair in self.due.iter().map(|k| &self.candidates[*k as usize]).filter(|pair| pair.fresh) {
            self.distances += 1;
            if let Some((source, pair)) = pair.rest.failure.clone().zip(pair.name(world)) {
                return Err(StepError::NarrowPhase { pair, source });
            }
        }
        Ok(self.distances > before)
    }
}
