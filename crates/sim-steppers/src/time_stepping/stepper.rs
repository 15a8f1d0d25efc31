//! The loop of time stepping.
//!
//! # Reference
//!
//! Cline (2002), section 4.3: nine stages, with contacts found at the end of a step used by the next.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | h | length of a step, dt over the number of substeps, less where cut | s |
//!
//! # Formula
//!
//! ```text
//! for each step:  0 bodies read   1 impacts at this time   2 step cut at the first bounce   3 forces   4 rows   5 contact problem → v⁺
//!                 6 bodies on their pieces, time moves     7 boxes, pairs, contacts         8 overlaps opened     9 events
//! ```
//!
//! # Cost
//!
//! One detection and one contact problem per step.
//!
//! # Numerics
//!
//! An advance is cut into equal steps no longer than h, so its end is met exactly. First order in h; exact for bodies that nothing touches.
//!
//! # Failure
//!
//! [`StepError`]; the world is then at the end of the last whole step.
//!
//! # Tested by
//!
//! `stages_come_in_order`, and `tests/time_*.rs`

use super::{
    contact::{self, Length},
    contact_events, correct, flight, forces, impact, joined,
    params::TimeSteppingParams,
    patches, quarantine, saved, sites,
    sleep::{self, Sleep},
    soft::SoftContacts,
    state::{Books, Detection, Problem, Setup, StepBodies},
    struck, trees, turn_limit,
};
use crate::{errors, parts::Parts, scale::Scale};
use sim_traits::NarrowPhase;
use sim_world::{
    Body, Change, ControllerId, Mark, Part, SnapshotError, StepError, StepReport, Stepper, StepperAccess,
    World,
};

/// Stages of a step, as a trace shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// States are read.
    Read,
    /// Bounces at this time.
    Impacts,
    /// The step is cut at the first bounce within.
    Cut,
    /// Velocities without contact.
    Forces,
    /// Contact rows are assembled.
    Rows,
    /// The contact problem.
    Solve,
    /// Bodies are moved.
    Move,
    /// Contacts are found.
    Detect,
    /// Overlaps are opened.
    Correct,
}

/// Fixed steps, contacts solved together.
///
/// It owns what a step reads and writes; the files beside this one have functions of these structs.
#[derive(Debug)]
pub struct TimeStepping {
    pub(super) setup: Setup,
    pub(super) found: Detection,
    pub(super) bodies: StepBodies,
    pub(super) problem: Problem,
    pub(super) books: Books,
    pub(super) sleep: Sleep,
    /// Contacts as manifolds, for the soft solver.
    pub(super) soft: Option<SoftContacts>,
    /// The world that it knows, and the time at which it left it.
    pub(super) seen: Option<Mark>,
    pub(super) reached: f64,
    /// The world was changed from outside, and overlaps have not been opened since.
    looked: bool,
}

impl TimeStepping {
    /// With default parameters.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self::with(parts, TimeSteppingParams::default())
    }

    /// With parameters, which the first use checks.
    #[must_use]
    pub fn with(parts: Parts, params: TimeSteppingParams) -> Self {
        let soft = SoftContacts::of(&parts.contacts);
        Self {
            setup: Setup::new(parts, params),
            found: Detection::default(),
            bodies: StepBodies::default(),
            problem: Problem::default(),
            books: Books::default(),
            sleep: Sleep::default(),
            soft,
            seen: None,
            reached: 0.0,
            looked: false,
        }
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.setup.parts
    }

    /// The parameters, as given.
    #[must_use]
    #[allow(clippy::misnamed_getters, reason = "the field of that name has lengths in metres")]
    pub fn params(&self) -> &TimeSteppingParams {
        &self.setup.given
    }

    /// Begins to record the stages of steps; [`TimeStepping::take_trace`] gives them.
    pub fn record_stages(&mut self) {
        self.books.trace = Some(Vec::new());
    }

    /// The stages recorded since [`TimeStepping::record_stages`].
    pub fn take_trace(&mut self) -> Vec<Stage> {
        self.books.trace.take().unwrap_or_default()
    }

    /// Takes notice of the world; starts afresh with one that it does not know, and looks for contacts if anything changed.
    fn sync(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
        let known = self.seen == Some(world.mark_before_changes())
            && self.reached.to_bits() == world.time().to_bits();
        if known && world.changes().is_empty() {
            return Ok(());
        }
        self.seen = None;
        self.setup.given.validate()?;
        if self.soft.is_some() {
            world.refuse_joints("soft time stepping")?;
            world.refuse_locked_axes("soft time stepping has no locked axes")?;
            world.refuse_traction(
                "soft time stepping has no rolling or torsional friction and no moving surfaces",
            )?;
            world.refuse_trees("soft time stepping")?;
        }
        self.find_scale(world);
        self.found.detect.invalidate();
        if known {
            for k in 0..world.changes().len() {
                if let Change::Moved(body) = world.changes()[k] {
                    let colliders = world.get(body).map(|b| b.colliders().to_vec()).unwrap_or_default();
                    for collider in colliders {
                        self.found.detect.replace(&mut self.setup.parts, collider.index())?;
                    }
                }
            }
        } else {
            self.found.detect.clear(&mut self.setup.parts)?;
            self.found.sites.clear();
            if let Some(soft) = &mut self.soft {
                soft.patches.clear();
                soft.guard.owed.clear();
            }
            self.problem.memory.last_step = 0.0;
            self.problem.memory.debts.given_way = 0.0;
        }
        sleep::wake_changed(&self.setup, &self.found, &mut self.books, &mut self.sleep, world, known);
        self.find_contacts(world)?;
        self.looked = true;
        self.seen = Some(world.mark());
        self.reached = world.time();
        world.forget_changes();
        Ok(())
    }

    /// Lengths in metres, from the sizes of the bodies that the world has now.
    pub(super) fn find_scale(&mut self, world: &World) {
        let Scale { radius, farthest } = Scale::of(world, Body::position);
        self.setup.set_scale(radius, farthest);
    }

    /// Finds the contacts within reach of the next step.
    pub(super) fn find_contacts(&mut self, world: &World) -> Result<(), StepError> {
        let Self { setup, found, soft, .. } = self;
        match soft {
            Some(soft) => patches::follow_patches(setup, found, soft, world),
            None => sites::follow_sites(setup, found, world, 0.0),
        }
    }

    fn run(&mut self, world: &mut StepperAccess<'_>, target: f64) -> Result<(), StepError> {
        let start = world.time();
        let duration = target - start;
        let count = (duration / self.setup.params.step() * (1.0 - 1e-9)).ceil().max(1.0);
        if std::mem::take(&mut self.looked) {
            let Self { setup, found, bodies, problem, books, soft, .. } = self;
            if soft.is_none() {
                correct::correct(setup, found, bodies, problem, books, world, true)?;
            }
        }
        self.control(world)?;
        let mut k = 0.0;
        while k < count && duration > 0.0 {
            k += 1.0;
            // The product first: multiples of a step that is a power of two are then exact, and no cut of an advance there changes a bit.
            let end = if k < count { start + duration * k / count } else { target };
            let mut cuts = [0; 2];
            while world.time() < end {
                let stop = self.next_control(world, end);
                if self.soft.is_some() {
                    self.soft_step(world, stop)?;
                } else {
                    self.step(world, stop, &mut cuts)?;
                }
            }
        }
        Ok(())
    }

    /// Rounding of dates, s: a controller is due at a time that is so near.
    fn rounding(&self) -> f64 {
        1e-9 * self.setup.params.step()
    }

    /// The time at which a step ends because a controller acts, s; `end` at most.
    fn next_control(&self, world: &World, end: f64) -> f64 {
        let first = world.controllers().map(|(_, timer)| timer.next()).fold(f64::INFINITY, f64::min);
        // Those that are due have acted.
        if first < end - self.rounding() { first.max(world.time()) } else { end }
    }

    /// One step that ends at `end`, or earlier where it is cut: so often at bounces and for turning bodies.
    fn step(
        &mut self,
        world: &mut StepperAccess<'_>,
        end: f64,
        cuts: &mut [u32; 2],
    ) -> Result<(), StepError> {
        let Self { setup, found, bodies, problem, books, sleep, .. } = self;
        let time = world.time();
        let solver = &mut books.report.solver;
        solver.steps += 1;
        solver.points = solver.points.max(found.sites.all.len() as u64);
        sleep::wake_disturbed(setup, found, books, sleep, world, end - time);
        books.trace(Stage::Read);
        flight::read_bodies(bodies, world);
        let runaways = quarantine::freeze_runaways(bodies, books, world)?;
        if quarantine::freeze_forced(bodies, books, world)? || runaways {
            // Their boxes reached everybody.
            found.detect.invalidate_pairs();
            sites::follow_sites(setup, found, world, 0.0)?;
            flight::read_bodies(bodies, world);
            forces::read_wrenches(bodies, world);
        }
        trees::read_trees(bodies, world)?;
        joined::read_joints(bodies, &mut problem.joined, world);
        books.trace(Stage::Impacts);
        let whole = end - time;
        let mut h = whole;
        let may_cut = cuts[0] < setup.params.max_cuts;
        impact::impacts(setup, found, bodies, problem, books, world, if may_cut { 0.0 } else { whole })?;
        struck::reach_after_impacts(setup, found, bodies, world, whole)?;
        books.trace(Stage::Cut);
        let bouncing = may_cut.then_some(whole);
        h = h.min(impact::find_bounces(setup, found, bodies, problem, bouncing));
        if may_cut {
            h = impact::first_root(setup, found, bodies, world, h);
        }
        let bounce = h;
        let may_shorten = cuts[1] < turn_limit::MOST;
        if may_shorten {
            h = turn_limit::turn_limit(found, bodies, h);
            h = joined::swing_limit(bodies, &mut problem.joined, &problem.memory, h, whole);
        }
        let is_cut = |h: f64| h < whole && time + h < end && time + h > time;
        h = if is_cut(h) { time + h - time } else { whole };
        let length = Length { h, bouncing, may_shorten };
        h = contact::solve_contacts(setup, found, bodies, problem, books, world, length)?;
        let next = if is_cut(h) { time + h } else { end };
        if next < end {
            cuts[usize::from(h < bounce)] += 1;
            books.report.solver.cuts += 1;
        }
        if quarantine::freeze_lost(bodies, books, world)? {
            found.detect.invalidate_pairs();
        }
        books.trace(Stage::Move);
        trees::launch_trees(bodies, world, next)?;
        flight::launch(bodies, world).map_err(StepError::from)?;
        trees::book_trees(bodies, world, next)?;
        contact_events::fire_timers(books, world, next);
        world.set_time(next).map_err(StepError::from)?;
        books.trace(Stage::Detect);
        sites::follow_sites(setup, found, world, 0.0)?;
        correct::correct(setup, found, bodies, problem, books, world, false)?;
        let deepest = found.sites.all.iter().map(|s| -s.gap).fold(0.0, f64::max);
        books.report.solver.deepest = books.report.solver.deepest.max(deepest);
        contact_events::record(setup, found, books, world);
        sleep::settle(setup, found, &problem.joined, books, sleep, world)?;
        books.report.events += 1;
        self.control(world)
    }

    /// Controllers that are due act; what they change is noticed.
    pub(super) fn control(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
        let time = world.time();
        self.reached = time;
        let until = time + self.rounding();
        let due: Vec<ControllerId> =
            world.controllers().filter(|(_, timer)| timer.next() <= until).map(|(id, _)| id).collect();
        for controller in due {
            let failed = |source| StepError::Controller { controller, time, source: Box::new(source) };
            world.run_controller(controller).map_err(failed)?;
            self.books.report.events += 1;
        }
        self.sync(world)
    }
}

impl Stepper for TimeStepping {
    fn kind(&self) -> &'static str {
        "time-stepping"
    }

    fn prepare_with(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
        self.sync(world)
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
        self.sync(world)?;
        world.open_account();
        let distances = self.found.detect.distances;
        let result = self.run(world, target);
        contact_events::list_contacts(&self.found, &self.books, world);
        (self.books.report.energy, self.books.report.momentum) = world.close_account();
        self.books.report.time = world.time();
        self.books.report.distances = self.found.detect.distances - distances;
        self.reached = world.time();
        if result.is_err() {
            self.seen = None;
        }
        result.map(|()| self.books.report)
    }

    fn set_part(&mut self, part: Part) -> Result<(), Part> {
        match part {
            Part::Executor(part) => {
                self.setup.parts.executor = part;
                return Ok(());
            }
            Part::ImpactLaw(_) => return Err(part),
            // What the old one holds goes with it.
            Part::BroadPhase(_) => self.found = Detection::default(),
            _ => {}
        }
        self.setup.parts.set(part)?;
        self.soft = SoftContacts::of(&self.setup.parts.contacts);
        self.seen = None;
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
