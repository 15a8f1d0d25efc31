//! A look at a pair that may collide now, and what follows from it.

use super::{
    clusters,
    halting::{halting, lift_off},
    lifetimes,
    locate::{Found, after, locate, resolution},
    look::{Look, Sides, look},
    phase::{self, relaunch},
    respond::{Changed, Means, Outcome, respond},
    sense, sleep,
    state::{Books, Response, Setup, Tables},
    stepper::Item,
    strike::{self, Struck},
    touch::{cramped, leave},
};
use rigid_impulse::{BodyState, CollisionKind};
use sim_math::glam::DVec3;
use sim_world::{Body, Collision, Contact, Event, EventKind, Listing, StepError, StepperAccess, World};

/// A look at a pair that may collide now.
pub(super) fn check(
    setup: &mut Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    slot: u32,
    time: f64,
) -> Result<(), StepError> {
    match tables.pairs.get(slot) {
        Some(pair) if pair.sensor.is_some() => return sense::sense(setup, tables, books, world, slot, time),
        // Its boxes are apart: it cannot collide, and is due only because its bound is used up.
        Some(pair) if pair.ended.is_some() => return lifetimes::drop_pair(tables, slot),
        _ => {}
    }
    let Setup { parts, params, .. } = setup;
    let Tables { pairs, .. } = tables;
    let Books { report, .. } = books;
    let Some(pair) = pairs.get_mut(slot) else { return Ok(()) };
    let Some(sides) = Sides::of(world, pair) else { return Ok(()) };
    let narrow = parts.narrow_phase.as_ref();
    let located = pair.aimed;
    pair.events += 1;
    if report.busiest.is_none_or(|(_, most)| pair.events > most) {
        report.busiest = Some((sides.name, pair.events));
    }
    if pair.events > params.max_pair_events {
        let (events, separation) = (u64::from(params.max_pair_events), pair.distance);
        pair.events = 0;
        return Err(StepError::Budget { pair: sides.name, events, time, separation });
    }
    report.distances += 1;
    let seen = look(&sides, narrow, &mut pair.cache, time)?;
    let seen = seen.filter(|s| s.distance >= -params.overlap_tolerance).ok_or_else(|| {
        let depth = seen.map_or(f64::NAN, |s| -s.distance);
        StepError::Overlap { pair: sides.name, depth, time }
    })?;
    let (distance, closing) = (seen.distance, seen.closing);
    if pair.touching && distance > 2.0 * params.envelope() {
        pair.touching = false;
        tables.pending.push((pair.key, pair.event(false)));
        list_pending(tables, world, time);
        // The borrows of the tables ended with the listing.
        return check(setup, tables, response, books, world, slot, time);
    }
    let collides = closing > 0.0 && distance <= params.envelope();
    if params.sleep.is_some() {
        if let Some(sleeper) = sleep::disturbs(tables, world, slot, collides, time) {
            // Once awake they are looked at again, with motions of their own.
            sleep::wake_island(setup, tables, books, world, sleeper, time)?;
            return check(setup, tables, response, books, world, slot, time);
        }
    }
    let Setup { parts, params, .. } = setup;
    let Tables { pairs, queue, .. } = tables;
    let Response { manifolds, outcome, .. } = response;
    let Books { report, .. } = books;
    let Some(pair) = pairs.get_mut(slot) else { return Ok(()) };
    let Some(sides) = Sides::of(world, pair) else { return Ok(()) };
    let narrow = parts.narrow_phase.as_ref();
    if let Some(speed) = halting(&sides, &seen, params, pair.events) {
        let mut means = Means { narrow, law: parts.impact_law.as_ref(), params, manifolds };
        outcome.of_pair(pair.bodies, &seen);
        lift_off(&sides, &mut means, &mut pair.cache, slot, &seen, speed, outcome)?;
        // Whoever is wedged between others is let go by all of them at once, whatever the handling.
        let outcome = std::mem::take(outcome);
        let result =
            phase::collision_phase(setup, tables, response, books, world, slot, time, &seen, &outcome);
        response.outcome = outcome;
        return result;
    }
    let cramped = cramped(&sides, &seen, params);
    if !(closing > 0.0 && distance <= params.envelope() || cramped) {
        let date = pair.next_look(&sides, params, time, &seen.closest(), &seen.states);
        queue.reschedule_ranked(pair.event, date)?;
        return Ok(());
    }
    let slow = params.slow(&sides);
    let at_root =
        distance <= resolution(params, time, closing) || (located && distance <= params.root_tolerance);
    if closing >= slow && !at_root {
        let (found, count) = locate(&sides, narrow, params, &mut pair.cache, time, &seen, slow)?;
        report.distances += count;
        let bound = pair.predict(&sides, params, time, distance, seen.normal, Some((&seen.states, closing)));
        let (date, aimed) = match found {
            Found::Impact(date) => (date, true),
            Found::Nothing(date) => (date.max(bound), false),
        };
        if date > bound {
            // A bound that stays good until then is what `carry_over` needs if something else happens first.
            pair.predict(&sides, params, time, distance, seen.normal, None);
        }
        pair.aimed = aimed;
        queue.reschedule_ranked(pair.event, date.max(after(time)))?;
        return Ok(());
    }
    if (params.together() || sides.bodies.iter().any(|b| is_linked(world, b))) && closing < slow {
        if let Some(time_to_hop) = leave(&sides, &seen, params, pair.fall(time, closing)) {
            let date =
                pair.predict(&sides, params, time, distance, seen.normal, Some((&seen.states, closing)));
            queue.reschedule_ranked(pair.event, date.min(time + time_to_hop))?;
            return Ok(());
        }
        outcome.of_pair(pair.bodies, &seen);
        let outcome = std::mem::take(outcome);
        let result = collided(setup, tables, response, books, world, slot, time, &seen, &outcome);
        response.outcome = outcome;
        return result;
    }
    let fast = closing >= slow;
    let mut outcome = std::mem::take(outcome);
    let result = answer(setup, tables, response, books, world, slot, time, &seen, fast, &mut outcome);
    response.outcome = outcome;
    result
}

/// Answers a collision of a pair, `fast` if it is an impact at its root.
fn answer(
    setup: &mut Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    slot: u32,
    time: f64,
    seen: &Look,
    fast: bool,
    outcome: &mut Outcome,
) -> Result<(), StepError> {
    if fast {
        // Who joins an impact inside the envelope has no root.
        books.report.worst_root = books.report.worst_root.max(seen.distance.abs());
    }
    let struck = if fast {
        strike::strike(setup, tables, response, books, world, slot, time, seen, outcome)?
    } else {
        Struck::Alone
    };
    match struck {
        Struck::Together => {}
        Struck::Asleep(sleeper) => {
            // Once it is awake the pair is looked at again.
            sleep::wake_island(setup, tables, books, world, sleeper, time)?;
            return check(setup, tables, response, books, world, slot, time);
        }
        Struck::Alone => {
            let Setup { parts, params, .. } = setup;
            let Tables { pairs, .. } = tables;
            let Response { manifolds, .. } = response;
            let Some(pair) = pairs.get_mut(slot) else { return Ok(()) };
            let Some(sides) = Sides::of(world, pair) else { return Ok(()) };
            let narrow = parts.narrow_phase.as_ref();
            let means = Means { narrow, law: parts.impact_law.as_ref(), params, manifolds };
            outcome.of_pair(pair.bodies, seen);
            respond(world, &sides, &means, slot, seen, fast, outcome)?;
        }
    }
    collided(setup, tables, response, books, world, slot, time, seen, outcome)?;
    outcome.broken.drain(..).for_each(|(joint, impulse)| world.overload_joint(joint, impulse));
    Ok(())
}

/// True if joints hold a body.
fn is_linked(world: &World, body: &Body) -> bool {
    body.cluster().is_some_and(|c| world.is_linked(c as usize))
}

/// True if joints hold a body of a pair.
fn linked(world: &World, tables: &Tables, slot: u32) -> bool {
    let bodies = tables.pairs.get(slot).map(|p| p.bodies).unwrap_or_default();
    bodies.iter().any(|b| world.body_in_slot(*b).is_some_and(|(_, body)| is_linked(world, body)))
}

/// A pair got impulses: new pieces for its bodies, new bounds for them and their neighbours.
fn collided(
    setup: &mut Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    slot: u32,
    time: f64,
    seen: &Look,
    outcome: &Outcome,
) -> Result<(), StepError> {
    if setup.params.together() || outcome.joints.is_some() || linked(world, tables, slot) {
        return phase::collision_phase(setup, tables, response, books, world, slot, time, seen, outcome);
    }
    // Impulse after impulse, so that the books follow each.
    let mut states = std::mem::take(&mut response.states);
    states.clear();
    states.extend(outcome.bodies.iter().map(|body| body.before));
    for (slot, collision) in &outcome.collisions {
        let Some(pair) = tables.pairs.get(*slot) else { continue };
        let at = pair.bodies.map(|b| outcome.bodies.iter().position(|c| c.slot == b));
        let [Some(a), Some(b)] = at else { continue };
        let Some(sides) = Sides::of(world, pair) else { continue };
        let (kinds, models) = (sides.bodies.map(|body| *body.kind()), sides.models());
        let velocities = |states: &[BodyState]| [a, b].map(|k| states[k].velocity_at(collision.point));
        let before = velocities(&states);
        states[a].apply_impulse(models[0], collision.point, collision.impulse);
        states[b].apply_impulse(models[1], collision.point, -collision.impulse);
        world.book_collision(collision, kinds, before, velocities(&states));
        note_collision(tables, books, world, *slot, time, collision);
    }
    response.states = states;
    let moved = |body: &&Changed| body.after.velocity != body.before.velocity;
    for body in outcome.bodies.iter().filter(moved) {
        relaunch(world, body.slot, time, &body.after)?;
    }
    // The new pieces are in the world now: the pair itself has an exact distance, the others carry theirs over.
    for body in outcome.bodies.iter().filter(moved) {
        if world.body_in_slot(body.slot).is_some_and(|(_, b)| b.is_free()) {
            motion_changed(setup, tables, books, world, body.slot, Some(slot), time)?;
            clusters::neighbours_changed(setup, tables, books, world, body.slot, time)?;
        }
    }
    if let (Some(pair), params) = (tables.pairs.get_mut(slot), &setup.params) {
        if let Some(sides) = Sides::of(world, pair) {
            let after = pair.bodies.map(|b| outcome.bodies.iter().find(|c| c.slot == b));
            let [Some(a), Some(b)] = after else { return Ok(()) };
            let states = [a.after, b.after];
            let date = pair.next_look(&sides, params, time, &seen.closest(), &states);
            tables.queue.reschedule_ranked(pair.event, date)?;
        }
    }
    Ok(())
}

/// Counts an impulse, adds it to the contact of its pair, and lists what the user is to know.
pub(super) fn note_collision(
    tables: &mut Tables,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    slot: u32,
    time: f64,
    c: &Collision,
) {
    let Some(pair) = tables.pairs.get_mut(slot) else { return };
    let first = !std::mem::replace(&mut pair.touching, true);
    let sum = match pair.contact {
        Some((advance, before)) if advance == books.advances => (before.impulse, before.count),
        _ => (DVec3::ZERO, 0),
    };
    let Collision { point, normal, separation, .. } = *c;
    let (impulse, count) = (sum.0 + c.impulse, sum.1 + 1);
    let [a, b] = pair.names;
    let contact = Contact { a, b, point, normal, separation, impulse, count, time };
    pair.contact = Some((books.advances, contact));
    let ordinary = c.kind == CollisionKind::Ordinary;
    if ordinary {
        books.report.collisions += 1;
    } else {
        books.report.micro_collisions += 1;
    }
    if first {
        let kind = pair.event(true);
        world.list(Event { time, kind });
    }
    if ordinary || world.listing == Listing::All {
        world.list(Event { time, kind: EventKind::Collision(*c) });
    }
}

/// A body got another motion: bounds of its pairs, except one, are carried over, and its boxes renewed if it leaves them.
pub(super) fn motion_changed(
    setup: &mut Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &World,
    body: u32,
    except: Option<u32>,
    time: f64,
) -> Result<(), StepError> {
    for k in 0..tables.pairs.of_body(body).len() {
        let slot = tables.pairs.of_body(body)[k];
        if Some(slot) == except {
            continue;
        }
        let Some(pair) = tables.pairs.get_mut(slot).filter(|p| !p.in_phase) else { continue };
        if pair.sensor.is_some() {
            sense::sense_later(setup, tables, world, slot, time)?;
            continue;
        }
        let Some(sides) = Sides::of(world, pair) else { continue };
        let date = pair.carry_over(&sides, &setup.params, time);
        tables.queue.reschedule_ranked(pair.event, date)?;
    }
    lifetimes::renew_boxes(setup, tables, books, world, body, time)
}

/// Lists the ends of contacts; by pair, so that the order of tables and broad phase does not show.
pub(super) fn list_pending(tables: &mut Tables, world: &mut StepperAccess<'_>, time: f64) {
    tables.pending.sort_unstable_by_key(|(key, _)| *key);
    for (_, kind) in tables.pending.drain(..) {
        world.list(Event { time, kind });
    }
}

/// Fills the world's list of contacts.
pub(super) fn list_contacts(tables: &Tables, books: &Books, world: &mut StepperAccess<'_>) {
    let (advance, list) = (books.advances, world.contacts_mut());
    list.clear();
    list.extend(tables.pairs.iter().filter(|(_, p)| p.touching).filter_map(|(_, pair)| {
        let (last, mut contact) = pair.contact?;
        if last != advance {
            (contact.impulse, contact.count) = (DVec3::ZERO, 0);
        }
        Some(contact)
    }));
    list.sort_unstable_by_key(|c| (c.a.index(), c.b.index()));
}

/// The whole budget is gone: name the pair that used most of it.
pub(super) fn budget(setup: &Setup, tables: &Tables, books: &Books, world: &World, item: Item) -> StepError {
    let events = setup.params.max_events;
    let time = tables.queue.peek().map_or(world.time(), |(time, _, _)| time);
    let slot = match item {
        Item::Check(slot) => {
            tables.pairs.get(slot).and_then(|p| Some((Sides::of(world, p)?.name, p.distance)))
        }
        Item::Window | Item::Boxes | Item::Timer(_) | Item::Control(_) | Item::Pieces(_) => None,
    };
    match books.report.busiest.map(|(name, _)| (name, f64::NAN)).or(slot) {
        Some((pair, separation)) => StepError::Budget { pair, events, time, separation },
        None => StepError::Parameter { what: "most events", value: events as f64 },
    }
}
