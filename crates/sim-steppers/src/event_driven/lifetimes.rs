//! When pairs begin to be watched, when they end, and for how long they are kept.
//!
//! The broad phase says at each window which boxes came together and which came apart; a box renewed in between finds more. A
//! pair that ended lingers: who bounces comes back (Mirtich 1996, section 2.4.3, whose pairs leave only when they are due).

use super::{
    look::{Sides, look},
    pairs::ActivePair,
    state::{Books, Setup, Tables},
    stepper::Item,
};
use sim_traits::Pair;
use sim_world::{Rest, StepError, World};

/// Rank of boxes that are left among events of equal time: just before all pairs.
const BOXES_RANK: u64 = (1 << 32) - 1;
/// Windows for which a pair is kept after its boxes came apart.
const LINGER: u8 = 20;

/// Begins to watch a pair, if its colliders can meet and it is not watched already.
pub(super) fn activate(
    setup: &Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &World,
    key: Pair,
    time: f64,
    reported: bool,
) -> Result<(), StepError> {
    if let Some((slot, pair)) =
        tables.pairs.find(key).and_then(|slot| Some((slot, tables.pairs.get_mut(slot)?)))
    {
        let again = pair.ended.take().is_some();
        pair.reported |= reported;
        if again && !reported {
            tables.extra.push(slot);
        }
        return Ok(());
    }
    let (Some((a_id, a)), Some((b_id, b))) =
        (world.collider_in_slot(key.a.0), world.collider_in_slot(key.b.0))
    else {
        return Ok(());
    };
    let sensor = world.may_sense(a, b).then_some(u8::from(!a.is_sensor()));
    if sensor.is_none() && !world.may_collide(a, b) {
        return Ok(());
    }
    let item = Item::Check(tables.pairs.next_slot());
    let event = tables.queue.schedule_ranked(time, ActivePair::rank(key), item)?;
    let slot = tables.pairs.insert(key, [a.body().index(), b.body().index()], event);
    if let Some(pair) = tables.pairs.get_mut(slot) {
        (pair.names, pair.sensor, pair.reported) = ([a_id, b_id], sensor, reported);
    }
    if !reported {
        tables.extra.push(slot);
    }
    measure(setup, tables, books, world, slot, time)
}

/// Computes the distance of a pair and schedules its first check.
pub(super) fn measure(
    setup: &Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &World,
    slot: u32,
    time: f64,
) -> Result<(), StepError> {
    let Some(pair) = tables.pairs.get_mut(slot) else { return Ok(()) };
    if pair.sensor.is_some() {
        // The look itself lists what it finds.
        return Ok(tables.queue.reschedule_ranked(pair.event, time)?);
    }
    let Some(sides) = Sides::of(world, pair) else { return Ok(()) };
    books.report.distances += 1;
    let seen = look(&sides, setup.parts.narrow_phase.as_ref(), &mut pair.cache, time)?;
    let Some(seen) = seen.filter(|s| s.distance >= -setup.params.overlap_tolerance) else {
        let depth = seen.map_or(f64::NAN, |s| -s.distance);
        return Err(StepError::Overlap { pair: sides.name, depth, time });
    };
    let states = Some((&seen.states, seen.closing));
    let date = pair.predict(&sides, &setup.params, time, seen.distance, seen.normal, states);
    // Who sleeps is in contact with what holds it.
    let asleep = sides.bodies.iter().any(|b| b.rest() == Rest::Asleep);
    pair.touching |= asleep && seen.distance <= 2.0 * setup.params.envelope();
    // A pair that approaches inside the envelope is due at once.
    let due = seen.closing > 0.0 && seen.distance <= setup.params.envelope();
    tables.queue.reschedule_ranked(pair.event, if due { time } else { date })?;
    Ok(())
}

/// Renews the boxes that a body does not stay in, and begins to watch what the new ones meet.
pub(super) fn renew_boxes(
    setup: &mut Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &World,
    body: u32,
    time: f64,
) -> Result<(), StepError> {
    if !tables.boxes.renew(world, &mut setup.parts, &setup.params, body, time)? {
        return Ok(());
    }
    books.report.resweeps += 1;
    let met = std::mem::take(&mut tables.boxes.met);
    let result = met.iter().try_for_each(|&key| activate(setup, tables, books, world, key, time, false));
    tables.boxes.met = met;
    result?;
    await_leave(setup, tables)
}

/// Renews all boxes that may be left now.
pub(super) fn renew_left_boxes(
    setup: &mut Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &World,
    time: f64,
) -> Result<(), StepError> {
    for slot in 0..tables.boxes.leaves.len() {
        if tables.boxes.leaves[slot] > time {
            continue;
        }
        if let Some((_, collider)) = world.collider_in_slot(slot as u32) {
            renew_boxes(setup, tables, books, world, collider.body().index(), time)?;
        }
    }
    await_leave(setup, tables)
}

/// Schedules the next time that somebody may leave its box; never, if boxes are made for whole windows.
pub(super) fn await_leave(setup: &Setup, tables: &mut Tables) -> Result<(), StepError> {
    if setup.params.sweep >= 1.0 {
        return Ok(());
    }
    let date = tables.boxes.first_leave();
    match tables.leave {
        Some(event) => tables.queue.reschedule_ranked(event, date)?,
        None => tables.leave = Some(tables.queue.schedule_ranked(date, BOXES_RANK, Item::Boxes)?),
    }
    Ok(())
}

/// Asks the broad phase what changed, and follows.
pub(super) fn take_pair_changes(
    setup: &mut Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &World,
    time: f64,
) -> Result<(), StepError> {
    setup.parts.broad_phase.pair_changes(&mut tables.boxes.changes);
    apply_pair_changes(setup, tables, books, world, time)
}

pub(super) fn apply_pair_changes(
    setup: &Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &World,
    time: f64,
) -> Result<(), StepError> {
    let changes = std::mem::take(&mut tables.boxes.changes);
    // In this order: a pair whose box was taken out and put back may have ended and begun.
    for &key in &changes.ended {
        if let Some(slot) = tables.pairs.find(key) {
            end_pair(tables, slot)?;
        }
    }
    for &key in &changes.begun {
        activate(setup, tables, books, world, key, time, true)?;
    }
    tables.boxes.changes = changes;
    // Found in between, and not confirmed: their boxes are apart again.
    let mut extra = std::mem::take(&mut tables.extra);
    for slot in extra.drain(..) {
        if tables.pairs.get(slot).is_some_and(|pair| !pair.reported) {
            end_pair(tables, slot)?;
        }
    }
    tables.extra = extra;
    Ok(())
}

/// The boxes of a pair are apart: it is kept for a while, because who bounces comes back. Its bounds stay good meanwhile.
fn end_pair(tables: &mut Tables, slot: u32) -> Result<(), StepError> {
    let Some(pair) = tables.pairs.get_mut(slot) else { return Ok(()) };
    if pair.sensor.is_some() {
        return drop_pair(tables, slot);
    }
    (pair.reported, pair.ended) = (false, Some(pair.ended.unwrap_or(0)));
    if std::mem::take(&mut pair.touching) {
        let event = (pair.key, pair.event(false));
        tables.pending.push(event);
    }
    Ok(())
}

/// A window has passed: counts of events begin anew, and pairs that ended long ago go.
pub(super) fn age_pairs(tables: &mut Tables) -> Result<(), StepError> {
    let mut gone = std::mem::take(&mut tables.gone);
    gone.clear();
    for (slot, pair) in tables.pairs.iter_mut() {
        pair.events = 0;
        pair.ended = pair.ended.map(|age| age.saturating_add(1));
        if pair.ended.is_some_and(|age| age > LINGER) {
            gone.push(slot);
        }
    }
    let result = gone.iter().try_for_each(|&slot| drop_pair(tables, slot));
    tables.gone = gone;
    result
}

pub(super) fn drop_pair(tables: &mut Tables, slot: u32) -> Result<(), StepError> {
    if let Some(pair) = tables.pairs.remove(slot) {
        if pair.touching {
            tables.pending.push((pair.key, pair.event(false)));
        }
        tables.queue.cancel(pair.event)?;
    }
    Ok(())
}
