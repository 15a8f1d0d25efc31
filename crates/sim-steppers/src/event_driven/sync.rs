//! Changes by the user, brought into the tables of the stepper.

use super::{
    check, clusters, control, lifetimes,
    look::Sides,
    pairs::ActivePair,
    sleep,
    state::{Books, Response, Setup, Tables},
    stepper::Item,
};
use crate::scale::Scale;
use sim_traits::Pair;
use sim_world::{Body, Change, StepError, StepperAccess, World};

/// Takes notice of all changes since the last call; starts afresh with a world that it does not know.
pub(super) fn sync(
    setup: &mut Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
) -> Result<(), StepError> {
    world.refuse_joints("event-driven")?;
    world.refuse_locked_axes("event-driven has no locked axes")?;
    world.refuse_traction("event-driven has no rolling or torsional friction and no moving surfaces")?;
    world.refuse_trees("event-driven")?;
    let known = tables.seen == Some(world.mark_before_changes())
        && tables.reached.to_bits() == world.time().to_bits();
    let result = if known {
        sync_changes(setup, tables, response, books, world)
    } else {
        rebuild(setup, tables, response, books, world)
    };
    // After an error nothing is certain: start afresh next time.
    tables.seen = result.is_ok().then(|| world.mark());
    tables.reached = world.time();
    if result.is_ok() {
        world.forget_changes();
    }
    result
}

fn rebuild(
    setup: &mut Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
) -> Result<(), StepError> {
    setup.given.validate()?;
    setup.set_scale(Scale::of(world, Body::center));
    let time = world.time();
    tables.pairs.clear();
    tables.queue.clear();
    tables.boxes.clear(&mut setup.parts)?;
    tables.timers.clear();
    tables.controllers.clear();
    tables.clusters.clear();
    tables.extra.clear();
    tables.leave = None;
    tables.sleep.anchors.clear();
    response.lent.0.clear();
    tables.boxes.until = time + setup.params.window;
    tables.queue.schedule_ranked(tables.boxes.until, 0, Item::Window)?;
    for slot in 0..world.body_slots() as u32 {
        tables.boxes.place(world, &mut setup.parts, &setup.params, slot, time)?;
    }
    lifetimes::await_leave(setup, tables)?;
    for (timer, _) in world.timers() {
        control::sync_timer(tables, world, timer)?;
    }
    control::sync_controllers(tables, world)?;
    clusters::sync_clusters(tables, world)?;
    // Changes before now are no changes to us: ask for the pairs themselves.
    let mut all = std::mem::take(&mut tables.boxes.met);
    setup.parts.broad_phase.pair_changes(&mut tables.boxes.changes);
    setup.parts.broad_phase.pairs(&mut all);
    let result =
        all.iter().try_for_each(|&key| lifetimes::activate(setup, tables, books, world, key, time, true));
    tables.boxes.met = all;
    result
}

pub(super) fn sync_changes(
    setup: &mut Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
) -> Result<(), StepError> {
    let time = world.time();
    if world.changes().is_empty() {
        return Ok(());
    }
    if world.changes().iter().any(|c| matches!(c, Change::Added(_) | Change::Removed(_))) {
        let Scale { radius, farthest } = Scale::of(world, Body::center);
        setup.set_scale(Scale { radius, farthest: farthest.max(setup.scale.farthest) });
    }
    if tables.clusters_found != world.clusters_found() {
        clusters::sync_clusters(tables, world)?;
    }
    let mut removed = false;
    for k in 0..world.changes().len() {
        match world.changes()[k] {
            Change::Removed(collider) => {
                removed = true;
                let slot = collider.index();
                tables.boxes.remove(&mut setup.parts, slot)?;
                let of = |p: &ActivePair| p.key.a.0 == slot || p.key.b.0 == slot;
                let gone: Vec<_> =
                    tables.pairs.iter().filter(|(_, p)| of(p)).map(|(k, p)| (k, p.bodies)).collect();
                for (k, bodies) in gone {
                    // Who leaned on it falls.
                    for body in bodies {
                        sleep::wake_island(setup, tables, books, world, body, time)?;
                    }
                    lifetimes::drop_pair(tables, k)?;
                }
            }
            Change::Added(body) | Change::Moved(body) => {
                // A new collider may take the slot of one that is gone: its pairs are others, though they have the same names there.
                if std::mem::take(&mut removed) {
                    lifetimes::take_pair_changes(setup, tables, books, world, time)?;
                }
                response.lent.forget(body.index());
                tables.boxes.place(world, &mut setup.parts, &setup.params, body.index(), time)?;
                lifetimes::await_leave(setup, tables)?;
                sleep::wake_island(setup, tables, books, world, body.index(), time)?;
                measure_again(setup, tables, books, world, body.index(), time)?;
                mark_cluster(tables, world, body.index());
            }
            Change::Pushed(body) => {
                sleep::wake_island(setup, tables, books, world, body.index(), time)?;
                check::motion_changed(setup, tables, books, world, body.index(), None, time)?;
                mark_cluster(tables, world, body.index());
            }
            Change::Filtered(body) => {
                sleep::wake_island(setup, tables, books, world, body.index(), time)?;
                filter_again(setup, tables, books, world, body.index(), time)?;
            }
            Change::Materials => {
                for body in 0..world.body_slots() as u32 {
                    sleep::wake_island(setup, tables, books, world, body, time)?;
                }
            }
            Change::Timer(timer) => control::sync_timer(tables, world, timer)?,
            Change::Controller(controller) => control::sync_controller(tables, world, controller)?,
            _ => {}
        }
    }
    // Once for each, however many of its bodies were pushed.
    tables.marked.sort_unstable();
    tables.marked.dedup();
    while let Some(cluster) = tables.marked.pop() {
        clusters::cluster_changed(setup, tables, books, world, cluster, None, time)?;
    }
    lifetimes::take_pair_changes(setup, tables, books, world, time)
}

fn mark_cluster(tables: &mut Tables, world: &World, body: u32) {
    let cluster = world.body_in_slot(body).and_then(|(_, b)| b.cluster());
    tables.marked.extend(cluster);
}

/// After a jump no bound holds: computes the distances of all pairs of a body.
fn measure_again(
    setup: &Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &World,
    body: u32,
    time: f64,
) -> Result<(), StepError> {
    for k in 0..tables.pairs.of_body(body).len() {
        let slot = tables.pairs.of_body(body)[k];
        lifetimes::measure(setup, tables, books, world, slot, time)?;
    }
    Ok(())
}

/// Pairs of a body that no longer meet go, those that meet now come.
fn filter_again(
    setup: &mut Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &World,
    body: u32,
    time: f64,
) -> Result<(), StepError> {
    let of_body: Vec<u32> = tables.pairs.of_body(body).to_vec();
    for slot in of_body {
        let meets = tables.pairs.get(slot).and_then(|p| Some((p.sensor, Sides::of(world, p)?))).is_some_and(
            |(sensor, sides)| {
                let [a, b] = sides.colliders;
                if sensor.is_some() { world.may_sense(a, b) } else { world.may_collide(a, b) }
            },
        );
        if !meets {
            lifetimes::drop_pair(tables, slot)?;
        }
    }
    // What is begun here must be known to the broad phase as reported, or it would not say when it ends.
    lifetimes::take_pair_changes(setup, tables, books, world, time)?;
    let mut all = std::mem::take(&mut tables.boxes.met);
    setup.parts.broad_phase.pairs(&mut all);
    let of = |key: &Pair| {
        [key.a, key.b]
            .iter()
            .any(|k| world.collider_in_slot(k.0).is_some_and(|(_, c)| c.body().index() == body))
    };
    let result = all
        .iter()
        .filter(|k| of(k))
        .try_for_each(|&key| lifetimes::activate(setup, tables, books, world, key, time, true));
    tables.boxes.met = all;
    result
}
