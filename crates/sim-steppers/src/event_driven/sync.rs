//! Changes by the user, brought into the tables of the stepper.

use super::{
    look::Sides,
    pairs::ActivePair,
    stepper::{EventDriven, Item},
};
use crate::scale::Scale;
use sim_traits::Pair;
use sim_world::{Body, Change, StepError, World};

impl EventDriven {
    /// Takes notice of all changes since the last call; starts afresh with a world that it does not know.
    pub(super) fn sync(&mut self, world: &mut World) -> Result<(), StepError> {
        world.refuse_joints("event-driven")?;
        let known = self.seen == Some(world.mark_before_changes())
            && self.reached.to_bits() == world.time().to_bits();
        let result = if known { self.sync_changes(world) } else { self.rebuild(world) };
        // After an error nothing is certain: start afresh next time.
        self.seen = result.is_ok().then(|| world.mark());
        self.reached = world.time();
        if result.is_ok() {
            world.forget_changes();
        }
        result
    }

    fn rebuild(&mut self, world: &mut World) -> Result<(), StepError> {
        self.given.validate()?;
        self.set_scale(Scale::of(world, Body::center));
        let time = world.time();
        self.pairs.clear();
        self.queue.clear();
        self.boxes.clear(&mut self.parts)?;
        self.timers.clear();
        self.controllers.clear();
        self.clusters.clear();
        self.extra.clear();
        self.leave = None;
        self.sleep.anchors.clear();
        self.lent.0.clear();
        self.boxes.until = time + self.params.window;
        self.queue.schedule_ranked(self.boxes.until, 0, Item::Window)?;
        for slot in 0..world.body_slots() as u32 {
            self.boxes.place(world, &mut self.parts, &self.params, slot, time)?;
        }
        self.await_leave()?;
        for (timer, _) in world.timers() {
            self.sync_timer(world, timer)?;
        }
        self.sync_controllers(world)?;
        self.sync_clusters(world)?;
        // Changes before now are no changes to us: ask for the pairs themselves.
        let mut all = std::mem::take(&mut self.boxes.met);
        self.parts.broad_phase.pair_changes(&mut self.boxes.changes);
        self.parts.broad_phase.pairs(&mut all);
        let result = all.iter().try_for_each(|&key| self.activate(world, key, time, true));
        self.boxes.met = all;
        result
    }

    pub(super) fn sync_changes(&mut self, world: &mut World) -> Result<(), StepError> {
        let time = world.time();
        if world.changes().is_empty() {
            return Ok(());
        }
        if world.changes().iter().any(|c| matches!(c, Change::Added(_) | Change::Removed(_))) {
            let Scale { radius, farthest } = Scale::of(world, Body::center);
            self.set_scale(Scale { radius, farthest: farthest.max(self.scale.farthest) });
        }
        self.sync_clusters(world)?;
        let mut removed = false;
        for k in 0..world.changes().len() {
            match world.changes()[k] {
                Change::Removed(collider) => {
                    removed = true;
                    let slot = collider.index();
                    self.boxes.remove(&mut self.parts, slot)?;
                    let of = |p: &ActivePair| p.key.a.0 == slot || p.key.b.0 == slot;
                    let gone: Vec<_> =
                        self.pairs.iter().filter(|(_, p)| of(p)).map(|(k, p)| (k, p.bodies)).collect();
                    for (k, bodies) in gone {
                        // Who leaned on it falls.
                        for body in bodies {
                            self.wake_island(world, body, time)?;
                        }
                        self.drop_pair(k)?;
                    }
                }
                Change::Added(body) | Change::Moved(body) => {
                    // A new collider may take the slot of one that is gone: its pairs are others, though they have the same names there.
                    if std::mem::take(&mut removed) {
                        self.take_pair_changes(world, time)?;
                    }
                    self.lent.forget(body.index());
                    self.boxes.place(world, &mut self.parts, &self.params, body.index(), time)?;
                    self.await_leave()?;
                    self.wake_island(world, body.index(), time)?;
                    self.measure_again(world, body.index(), time)?;
                    self.mark_cluster(world, body.index());
                }
                Change::Pushed(body) => {
                    self.wake_island(world, body.index(), time)?;
                    self.motion_changed(world, body.index(), None, time)?;
                    self.mark_cluster(world, body.index());
                }
                Change::Filtered(body) => {
                    self.wake_island(world, body.index(), time)?;
                    self.filter_again(world, body.index(), time)?;
                }
                Change::Materials => {
                    for body in 0..world.body_slots() as u32 {
                        self.wake_island(world, body, time)?;
                    }
                }
                Change::Timer(timer) => self.sync_timer(world, timer)?,
                Change::Controller(controller) => self.sync_controller(world, controller)?,
                _ => {}
            }
        }
        // Once for each, however many of its bodies were pushed.
        while let Some(cluster) = self.marked.pop() {
            self.cluster_changed(world, cluster, None, time)?;
        }
        self.take_pair_changes(world, time)
    }

    fn mark_cluster(&mut self, world: &World, body: u32) {
        let cluster = world.body_in_slot(body).and_then(|(_, b)| b.cluster());
        if let Some(cluster) = cluster.filter(|c| !self.marked.contains(c)) {
            self.marked.push(cluster);
        }
    }

    /// After a jump no bound holds: computes the distances of all pairs of a body.
    fn measure_again(&mut self, world: &World, body: u32, time: f64) -> Result<(), StepError> {
        for k in 0..self.pairs.of_body(body).len() {
            let slot = self.pairs.of_body(body)[k];
            self.measure(world, slot, time)?;
        }
        Ok(())
    }

    /// Pairs of a body that no longer meet go, those that meet now come.
    fn filter_again(&mut self, world: &World, body: u32, time: f64) -> Result<(), StepError> {
        let of_body: Vec<u32> = self.pairs.of_body(body).to_vec();
        for slot in of_body {
            let meets =
                self.pairs.get(slot).and_then(|p| Some((p.sensor, Sides::of(world, p)?))).is_some_and(
                    |(sensor, sides)| {
                        let [a, b] = sides.colliders;
                        if sensor.is_some() { world.may_sense(a, b) } else { world.may_collide(a, b) }
                    },
                );
            if !meets {
                self.drop_pair(slot)?;
            }
        }
        // What is begun here must be known to the broad phase as reported, or it would not say when it ends.
        self.take_pair_changes(world, time)?;
        let mut all = std::mem::take(&mut self.boxes.met);
        self.parts.broad_phase.pairs(&mut all);
        let of = |key: &Pair| {
            [key.a, key.b]
                .iter()
                .any(|k| world.collider_in_slot(k.0).is_some_and(|(_, c)| c.body().index() == body))
        };
        let result = all.iter().filter(|k| of(k)).try_for_each(|&key| self.activate(world, key, time, true));
        self.boxes.met = all;
        result
    }
}
