//! Sleeping: groups of bodies that only micro-collide are frozen until something happens to them.
//!
//! # Reference
//!
//! Fontijne (2000), section 3.12, who proposes it and warns of wake-ups that are inconsistent.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | anchor | pose since which a body has not moved farther than `motion` | - |
//! | island | bodies connected by contacts, not through fixed or scripted ones | - |
//!
//! # Formula
//!
//! ```text
//! moved = |x − x_anchor| + 2 r |v|,  v the vector part of q q_anchor⁻¹:   above `motion` the anchor is set anew
//! calm: pressed by an acceleration, and not moved for `after` seconds
//! asleep: at the end of a window all bodies of an island are calm, and no scripted body that touches it moves
//! awake: a collision with one of them; a push, a teleport, a force or a filter of one of them; the loss of a
//!        contact by removal; another gravity; other materials; a scripted body in contact that begins to move
//! ```
//!
//! All wake-ups go to the whole island, at the time of what happened, before it is answered.
//!
//! # Cost
//!
//! O(free bodies + pairs) per window. Sleeping islands cost no events.
//!
//! # Numerics
//!
//! A body keeps its pose to the bit and loses its velocity, which the energy account books under `sleep`.
//!
//! # Failure
//!
//! [`StepError::Body`] for a state that is not finite.
//!
//! # Tested by
//!
//! `tests/sleeping.rs`

use super::{
    check,
    look::Sides,
    pairs::ActivePair,
    state::{Books, Setup, Tables},
};
use crate::{anchor::Anchor, setters::setters};
use sim_math::spatial::Motion;
use sim_world::{Body, Rest, StepError, StepperAccess, World};

/// When bodies fall asleep.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SleepParams {
    /// Time without motion after which a body is calm, s. Default 0.5. Longer is safer and costs more.
    pub after: f64,
    /// What counts as no motion, as a multiple of the envelope. Default 2: the hops of resting bodies stay below 1.
    pub motion: f64,
}

impl Default for SleepParams {
    fn default() -> Self {
        Self { after: 0.5, motion: 2.0 }
    }
}

impl SleepParams {
    setters! { after: f64, motion: f64 }
}

/// Anchors by body slot, and scratch.
#[derive(Debug, Default)]
pub(super) struct Sleep {
    pub(super) anchors: Vec<Option<Anchor>>,
    /// Union-find over body slots.
    parent: Vec<u32>,
    /// By root: the island may sleep.
    ready: Vec<bool>,
    stack: Vec<u32>,
}

fn root(parent: &mut [u32], mut k: u32) -> u32 {
    while parent[k as usize] != k {
        parent[k as usize] = parent[parent[k as usize] as usize];
        k = parent[k as usize];
    }
    k
}

/// Largest distance of a point of the body from its centre, m.
fn radius(world: &World, body: &Body) -> f64 {
    let colliders = body.colliders().iter();
    colliders.filter_map(|c| Some(world.collider(*c).ok()?.extent().spin_radius)).fold(0.0, f64::max)
}

/// At the end of a window: islands that are calm fall asleep.
pub(super) fn settle(
    setup: &mut Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    time: f64,
) -> Result<(), StepError> {
    let Some(params) = setup.params.sleep else { return Ok(()) };
    let limit = params.motion * setup.params.envelope();
    let count = world.body_slots();
    let sleep = &mut tables.sleep;
    sleep.anchors.resize(count, None);
    sleep.parent.clear();
    sleep.parent.extend(0..count as u32);
    sleep.ready.clear();
    sleep.ready.resize(count, true);
    let mut any = false;
    // Who is calm.
    for slot in 0..count as u32 {
        let Some((id, body)) = world.body_in_slot(slot) else { continue };
        if !body.is_free() || body.rest() != Rest::Awake {
            continue;
        }
        let state = body.at(time).map_err(|source| StepError::Body { body: id, source })?;
        let anchor = &mut sleep.anchors[slot as usize];
        let long = Anchor::hold(anchor, id, state.pose(), radius(world, body), limit, time) >= params.after;
        // Forces that depend on the state need no touch to move a body again.
        let calm = long && body.piece().acceleration() > 0.0 && !body.has_stateful_forces();
        sleep.ready[slot as usize] = calm;
        any |= calm;
    }
    if !any {
        return Ok(());
    }
    // Who hangs together; the readiness of an island is that of all its members.
    let free = |slot: u32| world.body_in_slot(slot).is_some_and(|(_, b)| b.is_free());
    for (_, pair) in tables.pairs.iter().filter(|(_, p)| p.touching && p.sensor.is_none()) {
        let [a, b] = pair.bodies;
        if free(a) && free(b) {
            let (a, b) = (root(&mut sleep.parent, a), root(&mut sleep.parent, b));
            let (low, high) = (a.min(b), a.max(b));
            sleep.parent[high as usize] = low;
            sleep.ready[low as usize] &= sleep.ready[high as usize];
        } else if moves_script(world, pair, time) {
            for slot in pair.bodies {
                let top = root(&mut sleep.parent, slot);
                sleep.ready[top as usize] = false;
            }
        }
    }
    for slot in 0..count as u32 {
        let Some((id, body)) = world.body_in_slot(slot) else { continue };
        let top = root(&mut tables.sleep.parent, slot);
        if body.is_free() && body.rest() == Rest::Awake && tables.sleep.ready[top as usize] {
            world.put_to_sleep(id, time).map_err(StepError::from)?;
            books.report.fell_asleep += 1;
            check::motion_changed(setup, tables, books, world, slot, None, time)?;
        }
    }
    Ok(())
}

/// Wakes the island of a body at `time` (s): the body itself, if it sleeps, and all that touch it. True if anyone woke.
pub(super) fn wake_island(
    setup: &mut Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    slot: u32,
    time: f64,
) -> Result<bool, StepError> {
    let mut stack = std::mem::take(&mut tables.sleep.stack);
    stack.clear();
    stack.push(slot);
    let mut first = 0;
    // Breadth first; `stack[..first]` are done. Only sleepers are passed through, but for the body itself.
    while first < stack.len() {
        let body = stack[first];
        first += 1;
        for &k in tables.pairs.of_body(body) {
            let Some(pair) = tables.pairs.get(k).filter(|p| p.touching && p.sensor.is_none()) else {
                continue;
            };
            let other = if pair.bodies[0] == body { pair.bodies[1] } else { pair.bodies[0] };
            let asleep = world.body_in_slot(other).is_some_and(|(_, b)| b.rest() == Rest::Asleep);
            if asleep && !stack.contains(&other) {
                stack.push(other);
            }
        }
    }
    // By slot, so that the order of the tables does not show.
    stack.sort_unstable();
    let mut woke = false;
    for &slot in &stack {
        if let Some((id, _)) = world.body_in_slot(slot) {
            if world.wake(id, time) {
                woke = true;
                books.report.woke_up += 1;
            }
            // Who was pushed is not calm, even if it has not moved yet.
            if let Some(anchor) = tables.sleep.anchors.get_mut(slot as usize) {
                *anchor = None;
            }
        }
    }
    if woke {
        for &slot in &stack {
            check::motion_changed(setup, tables, books, world, slot, None, time)?;
        }
    }
    tables.sleep.stack = stack;
    Ok(woke)
}

/// True if a look at a pair must wake a sleeper before anything else: something approaches it within the envelope, or
/// a scripted body in contact moves.
pub(super) fn disturbs(tables: &Tables, world: &World, slot: u32, collides: bool, time: f64) -> Option<u32> {
    let pair = tables.pairs.get(slot)?;
    let sleeper = pair
        .bodies
        .into_iter()
        .find(|&b| world.body_in_slot(b).is_some_and(|(_, b)| b.rest() == Rest::Asleep))?;
    (collides || (pair.touching && moves_script(world, pair, time))).then_some(sleeper)
}

/// True if one side is scripted and moves at `time` (s).
fn moves_script(world: &World, pair: &ActivePair, time: f64) -> bool {
    let Some(sides) = Sides::of(world, pair) else { return false };
    sides
        .bodies
        .iter()
        .any(|b| !b.is_free() && !b.is_fixed() && b.at(time).is_ok_and(|s| s.velocity != Motion::ZERO))
}
