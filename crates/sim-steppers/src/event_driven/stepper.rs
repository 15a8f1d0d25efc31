//! The event loop.
//!
//! # Reference
//!
//! Mirtich (1996), sections 2.3, 2.4.3 and 8.2 (bodies with times of their own); Fontijne (2000), section 3.8.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | window | time for which all swept boxes are good | s |
//! | check | a look at a pair, not later than it can collide | - |
//!
//! # Formula
//!
//! ```text
//! while the first event is due:
//!   window:  new boxes, new pairs, lost pairs
//!   boxes:   new ones for those that are about to be left
//!   timer:   list it, schedule the next
//!   control: bring all bodies to the time, call the controller, take notice of what it changed
//!   pieces:  integrate on from where the pieces of a cluster end
//!   check:   distance d, closing speed c
//!            c > 0 inside the envelope: slow → micro-collision here;  fast → locate the root, come back then
//!            a collision begins new pieces for its two bodies, and carries over the bounds of their pairs
//!            else: look again when the bound is used up
//! ```
//!
//! A body is evaluated at the times of its own events only, always from the start of its piece: nobody else is moved.
//!
//! # Cost
//!
//! O(log pairs + neighbours) per event, O(bodies) per window; no allocation once tables have grown.
//!
//! # Numerics
//!
//! Events of equal time come in the order window, timers, controllers, ends of pieces, boxes, pairs by collider slots. How an interval is cut into advances
//! does not change a bit of the result.
//!
//! # Failure
//!
//! [`StepError`]: overlap, budget, a state that is not finite. The world is then at the time of the event, and the event
//! is still due.
//!
//! # Tested by
//!
//! `tests/`: `main_loop.rs`, `every_event.rs`, `bouncing.rs`, `fast.rs`, `resting.rs`, `changes.rs`, `same_bits.rs`

use super::{
    boxes::Boxes,
    halting::{halting, lift_off},
    lend::Lent,
    locate::{Found, after, locate, resolution},
    look::{Look, Sides, look},
    pairs::PairTable,
    params::{EventDrivenParams, Scaled},
    phase::{Phase, relaunch},
    respond::{Changed, Means, Outcome, respond},
    sleep::Sleep,
    strike::{Strike, Struck},
    touch::{cramped, leave},
};
use crate::{
    errors::{self, of_world},
    scale::Scale,
};
use rigid_impulse::{Body as RigidState, CollisionKind, EventId, EventQueue};
use sim_math::glam::DVec3;
use sim_traits::{BroadPhase, Executor, ImpactLaw, Manifold, NarrowPhase, Pair};
use sim_world::{
    Collision, Contact, ControllerId, Event, EventKind, Listing, Mark, SnapshotError, StepError, StepReport,
    Stepper, TimerId, World, WorldError,
};

/// The exchangeable parts of the stepper.
#[derive(Debug)]
pub struct Parts {
    /// Which boxes overlap. It must be empty.
    pub broad_phase: Box<dyn BroadPhase>,
    /// How far apart two shapes are.
    pub narrow_phase: Box<dyn NarrowPhase>,
    /// What impulse a collision exerts.
    pub impact_law: Box<dyn ImpactLaw>,
    /// Where threads come from.
    pub executor: Box<dyn Executor>,
}

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Item {
    Window,
    /// Somebody may leave its box.
    Boxes,
    Timer(TimerId),
    /// A controller acts.
    Control(ControllerId),
    /// The pieces of a cluster end.
    Pieces(u32),
    Check(u32),
}

/// From collision to collision; `docs/architecture.md` says what happens at each event.
#[derive(Debug)]
pub struct EventDriven {
    pub(super) parts: Parts,
    /// As given.
    pub(super) given: EventDrivenParams,
    /// Of the world that it knows.
    pub(super) scale: Scale,
    /// The same with lengths in metres.
    pub(super) params: Scaled,
    pub(super) queue: EventQueue<Item>,
    pub(super) pairs: PairTable,
    pub(super) boxes: Boxes,
    pub(super) timers: Vec<(TimerId, EventId)>,
    pub(super) controllers: Vec<(ControllerId, EventId)>,
    /// Ends of the pieces of clusters, by their number.
    pub(super) clusters: Vec<EventId>,
    /// Clusters with a body that the user pushed.
    pub(super) marked: Vec<u32>,
    /// Mark of the world whose tables these are.
    pub(super) seen: Option<Mark>,
    /// Its time when it was last seen, s.
    pub(super) reached: f64,
    /// Pairs found by a renewed box that the broad phase has not reported yet.
    pub(super) extra: Vec<u32>,
    pub(super) manifolds: Vec<Manifold>,
    pub(super) report: StepReport,
    pub(super) sleep: Sleep,
    /// Number of the advance, for sums of impulses.
    pub(super) advances: u64,
    /// Ends of contacts, by pair, not listed yet.
    pub(super) pending: Vec<(Pair, EventKind)>,
    pub(super) phase: Phase,
    pub(super) strike: Strike,
    /// Energy that collision phases lent to bodies.
    pub(super) lent: Lent,
    /// Scratch: impulses of the present collision.
    outcome: Outcome,
    states: Vec<RigidState>,
    /// The event of the first box that is left before the window ends.
    pub(super) leave: Option<EventId>,
    /// Scratch: pairs to drop.
    pub(super) gone: Vec<u32>,
}

impl EventDriven {
    /// With default parameters.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self::with(parts, EventDrivenParams::default())
    }

    /// With parameters, which the first use checks.
    #[must_use]
    pub fn with(parts: Parts, params: EventDrivenParams) -> Self {
        Self {
            parts,
            given: params,
            scale: Scale::default(),
            params: params.in_metres(&Scale::default()),
            queue: EventQueue::default(),
            pairs: PairTable::default(),
            boxes: Boxes::default(),
            timers: Vec::new(),
            controllers: Vec::new(),
            clusters: Vec::new(),
            marked: Vec::new(),
            seen: None,
            reached: 0.0,
            extra: Vec::new(),
            manifolds: Vec::new(),
            report: StepReport::default(),
            sleep: Sleep::default(),
            advances: 0,
            pending: Vec::new(),
            phase: Phase::default(),
            strike: Strike::default(),
            lent: Lent::default(),
            outcome: Outcome::default(),
            states: Vec::new(),
            leave: None,
            gone: Vec::new(),
        }
    }

    /// The parameters, as given.
    #[must_use]
    pub fn params(&self) -> &EventDrivenParams {
        &self.given
    }

    /// The collision envelope in force, m: that of the world which was last prepared or advanced.
    #[must_use]
    pub fn envelope(&self) -> f64 {
        self.params.envelope()
    }

    /// Takes lengths that are not given from a scale.
    pub(super) fn set_scale(&mut self, scale: Scale) {
        self.scale = scale;
        self.params = self.given.in_metres(&scale);
    }

    /// Number of pairs that are being watched.
    #[must_use]
    pub fn active_pairs(&self) -> usize {
        self.pairs.iter().count()
    }

    /// When the next event is due, s: nothing happens before. For programs that look at every event.
    #[must_use]
    pub fn next_event(&self) -> Option<f64> {
        self.queue.peek().map(|(time, _, _)| time)
    }

    pub(super) fn run(&mut self, world: &mut World, target: f64) -> Result<(), (f64, StepError)> {
        let mut last = world.time();
        while let Some((time, event, &item)) = self.queue.peek() {
            if time > target {
                break;
            }
            last = last.max(time);
            self.report.events += 1;
            if self.report.events > self.params.max_events {
                return Err((last, self.budget(world, item)));
            }
            self.handle(world, last, event, item).map_err(|error| (last, error))?;
        }
        Ok(())
    }

    fn handle(&mut self, world: &mut World, time: f64, event: EventId, item: Item) -> Result<(), StepError> {
        match item {
            Item::Window => {
                self.report.windows += 1;
                self.boxes.refresh(world, &mut self.parts, &self.params, time)?;
                self.set_scale(Scale { farthest: self.boxes.farthest(), ..self.scale });
                self.age_pairs()?;
                self.apply_pair_changes(world, time)?;
                self.list_pending(world, time);
                self.settle(world, time)?;
                self.queue.reschedule_ranked(event, self.boxes.until)?;
                self.await_leave()?;
            }
            Item::Boxes => self.renew_left_boxes(world, time)?,
            Item::Timer(timer) => {
                world.fire_timer(timer, time);
                match world.timer(timer) {
                    Some(next) => self.queue.reschedule_ranked(event, next.next())?,
                    None => self.queue.reschedule_ranked(event, f64::INFINITY)?,
                }
            }
            Item::Control(controller) => self.control(world, controller, time)?,
            Item::Pieces(cluster) => {
                world.continue_cluster(cluster, time).map_err(of_world)?;
                self.cluster_changed(world, cluster, None, time)?;
            }
            Item::Check(slot) => self.check(world, slot, time)?,
        }
        Ok(())
    }

    /// A look at a pair that may collide now.
    pub(super) fn check(&mut self, world: &mut World, slot: u32, time: f64) -> Result<(), StepError> {
        match self.pairs.get(slot) {
            Some(pair) if pair.sensor.is_some() => return self.sense(world, slot, time),
            // Its boxes are apart: it cannot collide, and is due only because its bound is used up.
            Some(pair) if pair.ended.is_some() => return self.drop_pair(slot),
            _ => {}
        }
        let Self { parts, params, pairs, report, .. } = self;
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
            self.pending.push((pair.key, pair.notice(false)));
            self.list_pending(world, time);
            // The borrows of the tables ended with the listing.
            return self.check(world, slot, time);
        }
        let collides = closing > 0.0 && distance <= params.envelope();
        if params.sleep.is_some() {
            if let Some(sleeper) = self.disturbs(world, slot, collides, time) {
                // Once awake they are looked at again, with motions of their own.
                self.wake_island(world, sleeper, time)?;
                return self.check(world, slot, time);
            }
        }
        let Self { parts, params, pairs, report, queue, manifolds, outcome, .. } = self;
        let Some(pair) = pairs.get_mut(slot) else { return Ok(()) };
        let Some(sides) = Sides::of(world, pair) else { return Ok(()) };
        let narrow = parts.narrow_phase.as_ref();
        if let Some(speed) = halting(&sides, &seen, params, pair.events) {
            let mut means = Means { narrow, law: parts.impact_law.as_ref(), params, manifolds };
            outcome.of_pair(pair.bodies, &seen);
            lift_off(&sides, &mut means, &mut pair.cache, slot, &seen, speed, outcome)?;
            // Whoever is wedged between others is let go by all of them at once, whatever the handling.
            let outcome = std::mem::take(outcome);
            let result = self.collision_phase(world, slot, time, &seen, &outcome);
            self.outcome = outcome;
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
            let bound =
                pair.predict(&sides, params, time, distance, seen.normal, Some((&seen.states, closing)));
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
        if params.together() && closing < slow {
            if let Some(time_to_hop) = leave(&sides, &seen, params, pair.fall(time, closing)) {
                let date =
                    pair.predict(&sides, params, time, distance, seen.normal, Some((&seen.states, closing)));
                queue.reschedule_ranked(pair.event, date.min(time + time_to_hop))?;
                return Ok(());
            }
            outcome.of_pair(pair.bodies, &seen);
            let outcome = std::mem::take(outcome);
            let result = self.collided(world, slot, time, &seen, &outcome);
            self.outcome = outcome;
            return result;
        }
        let fast = closing >= slow;
        let mut outcome = std::mem::take(outcome);
        let result = self.answer(world, slot, time, &seen, fast, &mut outcome);
        self.outcome = outcome;
        result
    }

    /// Answers a collision of a pair, `fast` if it is an impact at its root.
    fn answer(
        &mut self,
        world: &mut World,
        slot: u32,
        time: f64,
        seen: &Look,
        fast: bool,
        outcome: &mut Outcome,
    ) -> Result<(), StepError> {
        if fast {
            // Who joins an impact inside the envelope has no root.
            self.report.worst_root = self.report.worst_root.max(seen.distance.abs());
        }
        let struck = if fast { self.strike(world, slot, time, seen, outcome)? } else { Struck::Alone };
        match struck {
            Struck::Together => {}
            Struck::Asleep(sleeper) => {
                // Once it is awake the pair is looked at again.
                self.wake_island(world, sleeper, time)?;
                return self.check(world, slot, time);
            }
            Struck::Alone => {
                let Self { parts, params, pairs, manifolds, .. } = self;
                let Some(pair) = pairs.get_mut(slot) else { return Ok(()) };
                let Some(sides) = Sides::of(world, pair) else { return Ok(()) };
                let narrow = parts.narrow_phase.as_ref();
                let means = Means { narrow, law: parts.impact_law.as_ref(), params, manifolds };
                outcome.of_pair(pair.bodies, seen);
                respond(world, &sides, &means, slot, seen, fast, outcome)?;
            }
        }
        self.collided(world, slot, time, seen, outcome)
    }

    /// A pair got impulses: new pieces for its bodies, new bounds for them and their neighbours.
    fn collided(
        &mut self,
        world: &mut World,
        slot: u32,
        time: f64,
        seen: &Look,
        outcome: &Outcome,
    ) -> Result<(), StepError> {
        if self.params.together() {
            return self.collision_phase(world, slot, time, seen, outcome);
        }
        // Impulse after impulse, so that the books follow each.
        let mut states = std::mem::take(&mut self.states);
        states.clear();
        states.extend(outcome.bodies.iter().map(|body| body.before));
        for (slot, collision) in &outcome.collisions {
            let Some(pair) = self.pairs.get(*slot) else { continue };
            let at = pair.bodies.map(|b| outcome.bodies.iter().position(|c| c.slot == b));
            let [Some(a), Some(b)] = at else { continue };
            world.book_collisions(&[states[a], states[b]], std::slice::from_ref(collision));
            for (k, impulse) in [(a, collision.impulse), (b, -collision.impulse)] {
                states[k].apply_impulse(collision.point, impulse);
            }
            self.note_collision(world, *slot, time, collision);
        }
        self.states = states;
        let moved = |body: &&Changed| body.after.velocity != body.before.velocity;
        for body in outcome.bodies.iter().filter(moved) {
            relaunch(world, body.slot, time, &body.after)?;
        }
        // The new pieces are in the world now: the pair itself has an exact distance, the others carry theirs over.
        for body in outcome.bodies.iter().filter(moved) {
            if world.body_in_slot(body.slot).is_some_and(|(_, b)| b.is_free()) {
                self.motion_changed(world, body.slot, Some(slot), time)?;
                self.neighbours_changed(world, body.slot, time)?;
            }
        }
        if let (Some(pair), params) = (self.pairs.get_mut(slot), &self.params) {
            if let Some(sides) = Sides::of(world, pair) {
                let after = pair.bodies.map(|b| outcome.bodies.iter().find(|c| c.slot == b));
                let [Some(a), Some(b)] = after else { return Ok(()) };
                let states = [a.after, b.after];
                let date = pair.next_look(&sides, params, time, &seen.closest(), &states);
                self.queue.reschedule_ranked(pair.event, date)?;
            }
        }
        Ok(())
    }

    /// Counts an impulse, adds it to the contact of its pair, and lists what the user is to know.
    pub(super) fn note_collision(&mut self, world: &mut World, slot: u32, time: f64, c: &Collision) {
        let Some(pair) = self.pairs.get_mut(slot) else { return };
        let first = !std::mem::replace(&mut pair.touching, true);
        let sum = match pair.contact {
            Some((advance, before)) if advance == self.advances => (before.impulse, before.count),
            _ => (DVec3::ZERO, 0),
        };
        let Collision { point, normal, separation, .. } = *c;
        let (impulse, count) = (sum.0 + c.impulse, sum.1 + 1);
        let [a, b] = pair.names;
        let contact = Contact { a, b, point, normal, separation, impulse, count, time };
        pair.contact = Some((self.advances, contact));
        let ordinary = c.kind == CollisionKind::Ordinary;
        if ordinary {
            self.report.collisions += 1;
        } else {
            self.report.micro_collisions += 1;
        }
        if first {
            let kind = pair.notice(true);
            world.list(Event { time, kind });
        }
        if ordinary || world.listing == Listing::All {
            world.list(Event { time, kind: EventKind::Collision(*c) });
        }
    }

    /// A body got another motion: bounds of its pairs, except one, are carried over, and its boxes renewed if it leaves them.
    pub(super) fn motion_changed(
        &mut self,
        world: &World,
        body: u32,
        except: Option<u32>,
        time: f64,
    ) -> Result<(), StepError> {
        for k in 0..self.pairs.of_body(body).len() {
            let slot = self.pairs.of_body(body)[k];
            if Some(slot) == except {
                continue;
            }
            let Some(pair) = self.pairs.get_mut(slot).filter(|p| !p.in_phase) else { continue };
            if pair.sensor.is_some() {
                self.sense_later(world, slot, time)?;
                continue;
            }
            let Some(sides) = Sides::of(world, pair) else { continue };
            let date = pair.carry_over(&sides, &self.params, time);
            self.queue.reschedule_ranked(pair.event, date)?;
        }
        self.renew_boxes(world, body, time)
    }

    /// Lists the ends of contacts; by pair, so that the order of tables and broad phase does not show.
    pub(super) fn list_pending(&mut self, world: &mut World, time: f64) {
        self.pending.sort_unstable_by_key(|(key, _)| *key);
        for (_, kind) in self.pending.drain(..) {
            world.list(Event { time, kind });
        }
    }

    /// Fills the world's list of contacts.
    fn list_contacts(&mut self, world: &mut World) {
        let (advance, list) = (self.advances, world.contacts_mut());
        list.clear();
        list.extend(self.pairs.iter().filter(|(_, p)| p.touching).filter_map(|(_, pair)| {
            let (last, mut contact) = pair.contact?;
            if last != advance {
                (contact.impulse, contact.count) = (DVec3::ZERO, 0);
            }
            Some(contact)
        }));
        list.sort_unstable_by_key(|c| (c.a.index(), c.b.index()));
    }

    /// The whole budget is gone: name the pair that used most of it.
    fn budget(&self, world: &World, item: Item) -> StepError {
        let events = self.params.max_events;
        let time = self.queue.peek().map_or(world.time(), |(time, _, _)| time);
        let slot = match item {
            Item::Check(slot) => {
                self.pairs.get(slot).and_then(|p| Some((Sides::of(world, p)?.name, p.distance)))
            }
            Item::Window | Item::Boxes | Item::Timer(_) | Item::Control(_) | Item::Pieces(_) => None,
        };
        match self.report.busiest.map(|(name, _)| (name, f64::NAN)).or(slot) {
            Some((pair, separation)) => StepError::Budget { pair, events, time, separation },
            None => StepError::Parameter { what: "most events", value: events as f64 },
        }
    }
}

impl Stepper for EventDriven {
    fn kind(&self) -> &'static str {
        "event-driven"
    }

    fn prepare(&mut self, world: &mut World) -> Result<(), StepError> {
        self.sync(world)
    }

    fn advance(&mut self, world: &mut World, duration: f64) -> Result<StepReport, StepError> {
        let target = errors::target(world.time(), duration)?;
        self.report = StepReport::default();
        self.advances += 1;
        world.clear_events();
        self.sync(world)?;
        world.open_account();
        self.list_pending(world, world.time());
        let result = self.run_guarded(world, target);
        let reached = result.as_ref().map_or_else(|(time, _)| *time, |()| target);
        let moved = match &result {
            Ok(()) => Ok(()),
            Err(_) => world.set_time_by(self.parts.executor.as_ref(), reached),
        };
        self.list_contacts(world);
        (self.report.energy, self.report.momentum) = world.close_account();
        self.report.time = reached;
        self.reached = reached;
        if matches!(&result, Err((_, error)) if !matches!(error, StepError::Budget { .. })) {
            // The tables may be half changed.
            self.seen = None;
        }
        result.map_err(|(_, error)| error)?;
        match moved {
            Ok(()) => Ok(self.report),
            Err(WorldError::Body { body, source }) => Err(StepError::Body { body, source }),
            Err(_) => Ok(self.report),
        }
    }

    fn save(&self, world: &World) -> Result<Vec<u8>, SnapshotError> {
        self.save_tables(world)
    }

    fn load(&mut self, world: &World, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.load_tables(world, bytes)
    }
}
