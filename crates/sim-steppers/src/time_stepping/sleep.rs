//! Sleeping: islands that lie still are left out of steps until something happens to them.
//!
//! # Reference
//!
//! Fontijne (2000), section 3.12, as under [`EventDriven`](crate::EventDriven).
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
//! moved = |x − x_anchor| + 2 r |Im(q q_anchor⁻¹)|:   above `motion` the anchor is set anew;   calm: not moved for `after` seconds
//! asleep: all bodies of an island are calm, and no scripted body that touches it moves
//! awake: a contact that closes within the step, g + h u < 0, or a touching script that moves; a push, a teleport, a force or a filter of one of them;
//!        the loss of a contact by removal; another gravity; other materials
//! ```
//!
//! All wake-ups go to the whole island, at the start of a step.
//!
//! # Cost
//!
//! O(bodies + pairs) per step, a few operations each; a sleeping island costs nothing else.
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
//! `tests/time_sleeping.rs`

use super::{
    candidate::Candidate,
    joined::Joined,
    state::{Books, Detection, Setup},
};
use crate::{anchor::Anchor, setters::setters};
use constraint_dynamics::Islands;
use sim_math::{glam::DVec3, spatial::Motion};
use sim_traits::ColliderId;
use sim_world::{Body, Change, Rest, StepError, StepperAccess, World};

/// When bodies fall asleep under time stepping.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TimeSleepParams {
    /// Time without motion after which a body is calm, s. Default 0.5.
    pub after: f64,
    /// What counts as no motion, m. Default 1e-3.
    pub motion: f64,
}

impl Default for TimeSleepParams {
    fn default() -> Self {
        Self { after: 0.5, motion: 1e-3 }
    }
}

impl TimeSleepParams {
    setters! { after: f64, motion: f64 }
}

/// Anchors by body slot, and scratch.
#[derive(Debug, Default)]
pub(super) struct Sleep {
    pub(super) anchors: Vec<Option<Anchor>>,
    calm: Vec<bool>,
    islands: Islands,
    touching: Vec<u32>,
    stack: Vec<u32>,
}

fn is_asleep(world: &World, slot: u32) -> bool {
    world.body_in_slot(slot).is_some_and(|(_, b)| b.rest() == Rest::Asleep)
}

fn is_free(world: &World, slot: u32) -> bool {
    world.body_in_slot(slot).is_some_and(|(_, b)| b.is_free())
}

/// True if a script moves the body now.
fn is_driven(world: &World, slot: u32) -> bool {
    let moves = |b: &Body| !b.is_free() && !b.is_fixed() && b.velocity() != Motion::ZERO;
    world.body_in_slot(slot).is_some_and(|(_, b)| moves(b))
}

/// At the end of a step: islands that are calm fall asleep.
pub(super) fn settle(
    setup: &Setup,
    found: &Detection,
    joined: &Joined,
    books: &mut Books,
    sleep: &mut Sleep,
    world: &mut StepperAccess<'_>,
) -> Result<(), StepError> {
    let Some(params) = setup.params.sleep else { return Ok(()) };
    let (time, count) = (world.time(), world.body_slots());
    sleep.anchors.resize(count, None);
    sleep.calm.clear();
    sleep.calm.resize(count, false);
    let mut any = false;
    for slot in 0..count as u32 {
        let Some((id, body)) = world.body_in_slot(slot) else { continue };
        if !body.is_free() || body.rest() != Rest::Awake {
            continue;
        }
        let (radius, pose) = (found.detect.travels.radius(slot), body.state().pose());
        let anchor = &mut sleep.anchors[slot as usize];
        let long = Anchor::hold(anchor, id, pose, radius, params.motion, time) >= params.after;
        // What joints hold and links stay awake; forces that depend on the state need no touch to move a body again, and one that floats has nothing to lie on.
        let pulled = world.gravity() + body.pull() != DVec3::ZERO;
        let calm =
            long && pulled && !body.has_stateful_forces() && !joined.holds(slot) && body.tree().is_none();
        sleep.calm[slot as usize] = calm;
        any |= calm;
    }
    if !any {
        return Ok(());
    }
    sleep.touching.clear();
    for (k, pair) in (0..).zip(&found.detect.candidates) {
        if pair.touching && pair.sensor.is_none() {
            sleep.touching.push(k);
            // What a script moves, or what sleeps already without its neighbour, is no place to lie.
            for side in 0..2 {
                if is_driven(world, pair.bodies[side]) {
                    sleep.calm[pair.bodies[1 - side] as usize] = false;
                }
            }
        }
    }
    let candidates = &found.detect.candidates;
    let pairs = sleep.touching.iter().map(|k| candidates[*k as usize].bodies);
    sleep.islands.find(count, pairs, |slot| is_free(world, slot));
    for island in 0..sleep.islands.len() {
        let bodies = || {
            let members = sleep.islands.contacts(island).iter();
            let slots = members.flat_map(|m| candidates[sleep.touching[*m as usize] as usize].bodies);
            slots.filter(|slot| is_free(world, *slot))
        };
        let calm = |slot: u32| sleep.calm[slot as usize] || is_asleep(world, slot);
        if bodies().all(calm) && bodies().any(|slot| !is_asleep(world, slot)) {
            sleep.stack.extend(bodies());
        }
    }
    let mut stack = std::mem::take(&mut sleep.stack);
    stack.sort_unstable();
    stack.dedup();
    for slot in stack.drain(..) {
        if let Some((id, body)) = world.body_in_slot(slot) {
            if body.rest() == Rest::Awake {
                world.put_to_sleep(id, time).map_err(StepError::from)?;
                books.report.fell_asleep += 1;
            }
        }
    }
    sleep.stack = stack;
    Ok(())
}

/// At the start of a step of `h` seconds: what is about to be touched wakes up.
pub(super) fn wake_disturbed(
    setup: &Setup,
    found: &Detection,
    books: &mut Books,
    sleep: &mut Sleep,
    world: &mut StepperAccess<'_>,
    h: f64,
) {
    if setup.params.sleep.is_none() {
        return;
    }
    for k in 0..found.detect.candidates.len() {
        let pair = &found.detect.candidates[k];
        let [a, b] = pair.bodies;
        let (sleeper, other) = match (is_asleep(world, a), is_asleep(world, b)) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            _ => continue,
        };
        let active = is_driven(world, other) || is_free(world, other);
        if pair.sensor.is_none() && active && closes(world, pair, h) {
            wake_island(found, books, sleep, world, sleeper);
        }
    }
}

/// Wakes a body, if it sleeps, and all sleepers that hang together with it.
pub(super) fn wake_island(
    found: &Detection,
    books: &mut Books,
    sleep: &mut Sleep,
    world: &mut StepperAccess<'_>,
    slot: u32,
) {
    let mut stack = std::mem::take(&mut sleep.stack);
    stack.clear();
    stack.push(slot);
    let mut first = 0;
    // Breadth first; `stack[..first]` are done. Only sleepers are passed through, but for the body itself.
    while first < stack.len() {
        let body = stack[first];
        first += 1;
        for pair in found.detect.candidates.iter().filter(|p| p.touching && p.sensor.is_none()) {
            let other = match pair.bodies {
                [a, b] if a == body => b,
                [a, b] if b == body => a,
                _ => continue,
            };
            if is_asleep(world, other) && !stack.contains(&other) {
                stack.push(other);
            }
        }
    }
    // By slot, so that the order of the tables does not show.
    stack.sort_unstable();
    for slot in stack.drain(..) {
        if let Some((id, _)) = world.body_in_slot(slot) {
            books.report.woke_up += u32::from(world.wake(id, world.time()));
            // Who was pushed is not calm, even if it has not moved yet.
            if let Some(anchor) = sleep.anchors.get_mut(slot as usize) {
                *anchor = None;
            }
        }
    }
    sleep.stack = stack;
}

/// Wakes those whom a change by the user concerns; all, if that is of materials, or nothing sleeps under this stepper.
pub(super) fn wake_changed(
    setup: &Setup,
    found: &Detection,
    books: &mut Books,
    sleep: &mut Sleep,
    world: &mut StepperAccess<'_>,
    known: bool,
) {
    if setup.params.sleep.is_none() || !known || world.changes().contains(&Change::Materials) {
        for slot in 0..world.body_slots() as u32 {
            if let Some((id, _)) = world.body_in_slot(slot) {
                books.report.woke_up += u32::from(world.wake(id, world.time()));
            }
        }
        // Nobody is calm, even if it has not moved yet.
        sleep.anchors.clear();
        return;
    }
    for k in 0..world.changes().len() {
        match world.changes()[k] {
            Change::Added(body) | Change::Moved(body) | Change::Pushed(body) | Change::Filtered(body) => {
                wake_island(found, books, sleep, world, body.index());
            }
            Change::Removed(collider) => wake_neighbours(found, books, sleep, world, collider),
            _ => {}
        }
    }
}

/// Wakes what touched a collider that is gone.
fn wake_neighbours(
    found: &Detection,
    books: &mut Books,
    sleep: &mut Sleep,
    world: &mut StepperAccess<'_>,
    gone: ColliderId,
) {
    for k in 0..found.detect.candidates.len() {
        let pair = &found.detect.candidates[k];
        if pair.touching && pair.sensor.is_none() && pair.rest.names.contains(&gone) {
            let [a, b] = pair.bodies;
            wake_island(found, books, sleep, world, if pair.rest.names[0] == gone { b } else { a });
        }
    }
}

/// True if a contact of the pair closes within a step of `h` seconds, or touches and is moved by a script.
fn closes(world: &World, pair: &Candidate, h: f64) -> bool {
    let Some(([a, b], bodies)) = pair.sides(world) else { return false };
    let pose = |k: usize, c: &sim_world::Collider| *bodies[k].state().pose() * c.extent().body_from_shape;
    let (world_from_a, world_from_b) = (pose(0, a), pose(1, b));
    let moved = world_from_a.inverse_mul(&world_from_b) * pair.rest.found.a_from_b.inverse();
    let pull = |body: &Body| {
        if body.is_free() && body.rest() == Rest::Awake { world.gravity() + body.pull() } else { DVec3::ZERO }
    };
    let force_change = (pull(bodies[0]) - pull(bodies[1])) * h;
    let driven = pair.touching && pair.bodies.iter().any(|slot| is_driven(world, *slot));
    let nears = |manifold: &sim_traits::Manifold| {
        let n = world_from_a.transform_vector(manifold.normal);
        manifold.points().iter().any(|point| {
            let on_b = moved.transform_point(point.point_b);
            let at = world_from_a.transform_point(0.5 * (point.point_a + on_b));
            let gap = manifold.normal.dot(point.point_a - on_b);
            let u = bodies[0].state().velocity_at(at) - bodies[1].state().velocity_at(at) + force_change;
            // A little more than a step: who arrives just at its end would be stopped by a sleeper.
            gap + 1.01 * h * n.dot(u) < 0.0
        })
    };
    driven || pair.rest.found.manifolds.iter().any(nears)
}
