//! Motions that begin anew because something about their bodies changed.
//!
//! # Reference
//!
//! Tarjan (1975) for the union-find behind [`cluster::find`](crate::force::cluster::find).
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | outdated | a body whose motion ended at the world's time; what it does from there on is not found yet |
//! | cluster | bodies that are integrated together, because springs connect them |
//!
//! # Formula
//!
//! ```text
//! change of a body:   book its motion and that of its cluster up to now, with the forces of before; note them as outdated
//! before a stepper looks:   clusters anew if the forces that make them changed;   constant forces summed;   one piece for each, one step for each cluster
//! ```
//!
//! # Cost
//!
//! A change costs as much as the cluster that it is the first to touch since a stepper looked, and nothing that grows with the world
//! after that. So n springs in a chain are added in O(n). Renewal: O(bodies + forces) if clusters changed, otherwise as much as there is outdated.
//!
//! # Numerics
//!
//! Constant forces are summed afresh, in the order of their slots: adding and removing one leaves no rounding.
//!
//! # Failure
//!
//! A motion that is not finite, naming the body; all that is outdated stays so, and can be changed once more.
//!
//! # Tested by
//!
//! `changes_cost_the_same_however_many_there_are`, `tests/forces.rs` and `tests/editing.rs` of `sim-steppers`

use super::{Change, World};
use crate::{
    body::Rest,
    error::WorldError,
    force::{ForceGenerator, ForceId, cluster},
    piece::Piece,
};
use rigid_impulse::BodyError;
use sim_math::glam::DVec3;
use sim_traits::BodyId;

#[cfg(test)]
thread_local! {
    static COUNTED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts elementary operations where a cost might grow with the world: for tests.
#[inline]
pub(crate) fn count(operations: usize) {
    #[cfg(test)]
    COUNTED.with(|c| c.set(c.get() + operations as u64));
    let _ = operations;
}

impl World {
    /// Ends the motion of a free body, and of those that are integrated with it, at the world's time. They begin anew when a stepper next looks.
    pub(crate) fn end_motion(&mut self, id: BodyId) {
        count(1);
        let Some(body) = self.bodies.get_mut(id).filter(|b| b.is_free()) else { return };
        body.rest = Rest::Awake;
        if body.outdated {
            return;
        }
        if let Some(cluster) = body.cluster.map(|c| c as usize) {
            let mut scratch = std::mem::take(&mut self.scratch);
            self.book_cluster(cluster, self.time, &mut scratch);
            self.scratch = scratch;
            for k in 0..self.clusters[cluster].members.len() {
                count(1);
                self.end_alone(self.clusters[cluster].members[k]);
            }
        }
        self.end_alone(id);
    }

    fn end_alone(&mut self, id: BodyId) {
        let (gravity, time) = (self.gravity, self.time);
        let Some(body) = self.bodies.get_mut(id).filter(|b| b.rest == Rest::Awake && !b.outdated) else {
            return;
        };
        self.account.flight(body, gravity, time);
        body.outdated = true;
        self.outdated.push(id);
        self.note(Change::Pushed(id));
    }

    /// True if no motion is to begin anew.
    pub(crate) fn is_settled(&self) -> bool {
        self.outdated.is_empty() && !self.regroup
    }

    /// Begins the motions that ended by changes.
    pub(crate) fn renew_motions(&mut self) -> Result<(), WorldError> {
        if self.regroup {
            self.clusters = cluster::find(&mut self.bodies, &self.forces);
            self.clusters_found += 1;
            self.regroup = false;
        }
        if self.outdated.is_empty() {
            return Ok(());
        }
        let mut outdated = std::mem::take(&mut self.outdated);
        outdated.sort_unstable();
        let mut result = Ok(());
        for &id in &outdated {
            self.sum_pulls(id);
        }
        for &id in &outdated {
            let begun = self.renew_motion(id);
            result = result.and(begun);
        }
        outdated.retain(|id| self.bodies.get(*id).is_some_and(|b| b.outdated));
        self.outdated = outdated;
        result
    }

    fn renew_motion(&mut self, id: BodyId) -> Result<(), WorldError> {
        let (time, gravity) = (self.time, self.gravity);
        let Some(body) = self.bodies.get_mut(id).filter(|b| b.outdated) else { return Ok(()) };
        if !body.pull.is_finite() {
            let value = body.pull.length();
            let source = BodyError::NonFinite { what: "acceleration by constant forces", value };
            return Err(WorldError::Body { body: id, source });
        }
        match body.cluster {
            Some(cluster) => self.launch(cluster, time, None),
            None => {
                body.outdated = false;
                body.piece = Piece::ballistic(time, &body.model, body.now, gravity + body.pull);
                Ok(())
            }
        }
    }

    /// Acceleration of a body by constant forces.
    fn sum_pulls(&mut self, id: BodyId) {
        let Some(body) = self.bodies.get(id) else { return };
        let mut total = DVec3::ZERO;
        for &slot in &body.forces {
            if let Some((_, force @ ForceGenerator::Constant { force: pull, .. })) =
                self.forces.at::<ForceId>(slot)
            {
                total += if force.is_uniform() { *pull } else { DVec3::ZERO };
            }
        }
        if let Some(body) = self.bodies.get_mut(id) {
            body.pull = total / body.mass();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Anchor, Body, Callback, ForceGenerator};
    use sim_traits::Sphere;

    fn counted(act: impl FnOnce()) -> u64 {
        COUNTED.with(|c| c.set(0));
        act();
        COUNTED.with(std::cell::Cell::get)
    }

    fn bodies(count: usize) -> (World, Vec<BodyId>) {
        let mut world = World::new([0.0, 0.0, -9.81]).unwrap();
        let ball = Body::free().shape(Sphere::new(0.1).unwrap());
        let ids = (0..count).map(|k| world.add(ball.clone().at([k as f64, 0.0, 0.0])).unwrap()).collect();
        (world, ids)
    }

    fn spring(ends: &[BodyId]) -> ForceGenerator {
        let [a, b] = [ends[0], ends[1]].map(|id| Anchor::Body(id, DVec3::ZERO));
        ForceGenerator::Spring { a, b, stiffness: 10.0, damping: 0.1, rest_length: 1.0 }
    }

    #[test]
    fn changes_cost_the_same_however_many_there_are() {
        // Operations per change: adding a chain, changing it, taking it apart; timers and controllers.
        let costs = |n: usize| {
            let (mut world, ids) = bodies(n + 1);
            let mut forces = Vec::new();
            let added =
                counted(|| forces = ids.windows(2).map(|w| world.add_force(spring(w)).unwrap()).collect());
            let pairs = counted(|| {
                for w in ids.windows(2) {
                    let id = world.add_force(spring(w)).unwrap();
                    world.remove_force(id).unwrap();
                }
            });
            let grouped = counted(|| world.clusters = cluster::find(&mut world.bodies, &world.forces));
            world.regroup = false;
            assert_eq!(world.clusters.len(), 1);
            // All is up to date, as after an advance.
            world.outdated.clear();
            ids.iter().for_each(|id| world.bodies.get_mut(*id).unwrap().outdated = false);
            let removed = counted(|| forces.iter().for_each(|id| drop(world.remove_force(*id).unwrap())));
            let act: crate::Action = |_, _, _| Ok(());
            let acting = counted(|| {
                for k in 0..n {
                    let timer = world.add_timer(0.0, 1.0 + k as f64).unwrap();
                    let id = world.add_controller(0.0, 1.0, Callback::new("x", act, vec![], vec![])).unwrap();
                    if k % 2 == 0 {
                        world.remove_timer(timer).unwrap();
                        world.remove_controller(id).unwrap();
                    }
                }
            });
            [added, pairs, grouped, removed, acting].map(|c| c as f64 / n as f64)
        };
        for cost in costs(100_000).into_iter().zip(costs(1000)) {
            assert!(cost.0 <= 1.01 * cost.1 && cost.0 < 40.0, "{cost:?}");
        }
    }
}
