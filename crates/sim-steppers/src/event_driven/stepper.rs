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
    check, clusters, control, lifetimes,
    params::EventDrivenParams,
    quarantine::{self, culprit},
    saved, sleep,
    state::{Books, Response, Setup, Tables},
    sync,
};
use crate::{errors, parts::Parts, scale::Scale};
use rigid_impulse::EventId;
use sim_traits::NarrowPhase;
use sim_world::{
    ControllerId, Part, SnapshotError, StepError, StepReport, Stepper, StepperAccess, TimerId, World,
    WorldError,
};

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
///
/// It owns what events read and write; the files beside this one have functions of these structs.
#[derive(Debug)]
pub struct EventDriven {
    pub(super) setup: Setup,
    pub(super) tables: Tables,
    pub(super) response: Response,
    pub(super) books: Books,
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
            setup: Setup::new(parts, params),
            tables: Tables::default(),
            response: Response::default(),
            books: Books::default(),
        }
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.setup.parts
    }

    /// The parameters, as given.
    #[must_use]
    pub fn params(&self) -> &EventDrivenParams {
        &self.setup.given
    }

    /// The collision envelope in force, m: that of the world which was last prepared or advanced.
    #[must_use]
    pub fn envelope(&self) -> f64 {
        self.setup.params.envelope()
    }

    /// Number of pairs that are being watched.
    #[must_use]
    pub fn active_pairs(&self) -> usize {
        self.tables.pairs.iter().count()
    }

    /// When the next event is due, s: nothing happens before. For programs that look at every event.
    #[must_use]
    pub fn next_event(&self) -> Option<f64> {
        self.tables.queue.peek().map(|(time, _, _)| time)
    }

    /// Runs to `target` (s); bodies that stop being finite are left behind.
    pub(super) fn run_guarded(
        &mut self,
        world: &mut StepperAccess<'_>,
        target: f64,
    ) -> Result<(), (f64, StepError)> {
        loop {
            let (time, error) = match self.run(world, target) {
                Ok(()) => match world.set_time_by(self.setup.parts.executor.as_ref(), target) {
                    Ok(()) => return Ok(()),
                    Err(error) => (target, StepError::from(error)),
                },
                Err(stopped) => stopped,
            };
            let Some(body) = culprit(world, &error, time) else { return Err((time, error)) };
            world.quarantine(body, time).map_err(|_| (time, error))?;
            self.books.report.quarantined += 1;
            // The others stay on their pieces; there may be more of the same kind.
            while let Err(error) = world.set_time_by(self.setup.parts.executor.as_ref(), time) {
                let error = StepError::from(error);
                let Some(body) = culprit(world, &error, time) else { return Err((time, error)) };
                world.quarantine(body, time).map_err(|_| (time, error))?;
                self.books.report.quarantined += 1;
            }
            let lasting = quarantine::lasting(&self.tables);
            self.tables.seen = None;
            sync::sync(&mut self.setup, &mut self.tables, &mut self.response, &mut self.books, world)
                .map_err(|error| (time, error))?;
            quarantine::go_on(&mut self.tables, lasting);
        }
    }

    pub(super) fn run(&mut self, world: &mut StepperAccess<'_>, target: f64) -> Result<(), (f64, StepError)> {
        let mut last = world.time();
        while let Some((time, event, &item)) = self.tables.queue.peek() {
            if time > target {
                break;
            }
            last = last.max(time);
            self.books.report.events += 1;
            if self.books.report.events > self.setup.params.max_events {
                return Err((last, check::budget(&self.setup, &self.tables, &self.books, world, item)));
            }
            self.handle(world, last, event, item).map_err(|error| (last, error))?;
        }
        Ok(())
    }

    fn handle(
        &mut self,
        world: &mut StepperAccess<'_>,
        time: f64,
        event: EventId,
        item: Item,
    ) -> Result<(), StepError> {
        match item {
            Item::Window => {
                self.books.report.windows += 1;
                self.tables.boxes.refresh(world, &mut self.setup.parts, &self.setup.params, time)?;
                self.setup.set_scale(Scale { farthest: self.tables.boxes.farthest(), ..self.setup.scale });
                lifetimes::age_pairs(&mut self.tables)?;
                lifetimes::apply_pair_changes(&self.setup, &mut self.tables, &mut self.books, world, time)?;
                check::list_pending(&mut self.tables, world, time);
                sleep::settle(&mut self.setup, &mut self.tables, &mut self.books, world, time)?;
                self.tables.queue.reschedule_ranked(event, self.tables.boxes.until)?;
                lifetimes::await_leave(&self.setup, &mut self.tables)?;
            }
            Item::Boxes => {
                lifetimes::renew_left_boxes(&mut self.setup, &mut self.tables, &mut self.books, world, time)?;
            }
            Item::Timer(timer) => {
                world.fire_timer(timer, time);
                match world.timer(timer) {
                    Some(next) => self.tables.queue.reschedule_ranked(event, next.next())?,
                    None => self.tables.queue.reschedule_ranked(event, f64::INFINITY)?,
                }
            }
            Item::Control(controller) => control::control(
                &mut self.setup,
                &mut self.tables,
                &mut self.response,
                &mut self.books,
                world,
                controller,
                time,
            )?,
            Item::Pieces(cluster) => {
                world.continue_cluster(cluster, time).map_err(StepError::from)?;
                clusters::cluster_changed(
                    &mut self.setup,
                    &mut self.tables,
                    &mut self.books,
                    world,
                    cluster,
                    None,
                    time,
                )?;
            }
            Item::Check(slot) => check::check(
                &mut self.setup,
                &mut self.tables,
                &mut self.response,
                &mut self.books,
                world,
                slot,
                time,
            )?,
        }
        Ok(())
    }
}

impl Stepper for EventDriven {
    fn kind(&self) -> &'static str {
        "event-driven"
    }

    fn prepare_with(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
        sync::sync(&mut self.setup, &mut self.tables, &mut self.response, &mut self.books, world)
    }

    fn advance_with(
        &mut self,
        world: &mut StepperAccess<'_>,
        duration: f64,
    ) -> Result<StepReport, StepError> {
        let target = errors::target(world.time(), duration)?;
        self.books.report = StepReport::default();
        self.books.advances += 1;
        world.clear_events();
        sync::sync(&mut self.setup, &mut self.tables, &mut self.response, &mut self.books, world)?;
        world.open_account();
        check::list_pending(&mut self.tables, world, world.time());
        let result = self.run_guarded(world, target);
        let reached = result.as_ref().map_or_else(|(time, _)| *time, |()| target);
        let moved = match &result {
            Ok(()) => Ok(()),
            Err(_) => world.set_time_by(self.setup.parts.executor.as_ref(), reached),
        };
        check::list_contacts(&self.tables, &self.books, world);
        (self.books.report.energy, self.books.report.momentum) = world.close_account();
        self.books.report.time = reached;
        self.tables.reached = reached;
        if matches!(&result, Err((_, error)) if !matches!(error, StepError::Budget { .. })) {
            // The tables may be half changed.
            self.tables.seen = None;
        }
        result.map_err(|(_, error)| error)?;
        match moved {
            Ok(()) => Ok(self.books.report),
            Err(WorldError::Body { body, source }) => Err(StepError::Body { body, source }),
            Err(_) => Ok(self.books.report),
        }
    }

    fn set_part(&mut self, part: Part) -> Result<(), Part> {
        match part {
            Part::Executor(part) => {
                self.setup.parts.executor = part;
                return Ok(());
            }
            Part::ContactLaw(_) | Part::SoftContacts(_) => return Err(part),
            // What the old one holds goes with it.
            Part::BroadPhase(_) => self.tables.boxes = Boxes::default(),
            _ => {}
        }
        self.setup.parts.set(part)?;
        self.tables.seen = None;
        Ok(())
    }

    fn narrow_phase(&self) -> Option<&dyn NarrowPhase> {
        Some(self.setup.parts.narrow_phase.as_ref())
    }

    fn save(&self, world: &World) -> Result<Vec<u8>, SnapshotError> {
        saved::save_tables(self, world)
    }

    fn load(&mut self, world: &World, bytes: &[u8]) -> Result<(), SnapshotError> {
        saved::load_tables(self, world, bytes)
    }
}
