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
    detect::Detect,
    flight::Flyer,
    forces::refuse_unknown_forces,
    impact::{Impacts, rest_speed},
    joined::Joined,
    normals::Normals,
    params::TimeSteppingParams,
    repay::Debts,
    rest::Resting,
    sites::Sites,
    sleep::Sleep,
    soft::SoftContacts,
    stiff::Stiff,
    turn_limit,
    watched::Horizon,
};
use crate::{errors, scale::Scale};
use constraint_dynamics::{
    Delassus, Islands, PoolBody, PoolContact, WarmStart,
    normals::NormalSweeps,
    pool::{PoolBlock, PoolWorkspace, PreparedPool},
    soft::SoftParams,
    soften::Softener,
};
use sim_math::glam::DVec3;
use sim_traits::{BroadPhase, Executor, NarrowPhase, RowSolver};
use sim_world::{
    Body, Change, ControllerId, EventKind, Mark, SnapshotError, StepError, StepReport, Stepper, World,
};

/// How contacts are answered.
#[derive(Debug)]
#[non_exhaustive]
pub enum ContactMethod {
    /// One problem per island and step, by a contact law: no penetration, friction to the residual that the law states.
    Law(Box<dyn RowSolver>),
    /// Stiff springs in substeps: a few millimetres deep, and many times faster. [`TimeSteppingParams::soft`] goes with it.
    Soft(SoftParams),
}

impl ContactMethod {
    /// With a contact law.
    pub fn law(law: impl RowSolver + 'static) -> Self {
        Self::Law(Box::new(law))
    }

    /// The contact law, if there is one.
    pub(super) fn solver(&mut self) -> Option<&mut dyn RowSolver> {
        match self {
            Self::Law(law) => Some(law.as_mut()),
            Self::Soft(_) => None,
        }
    }
}

/// The exchangeable parts of the stepper.
#[derive(Debug)]
pub struct TimeParts {
    /// Which boxes overlap. It must be empty.
    pub broad_phase: Box<dyn BroadPhase>,
    /// Where two shapes touch.
    pub narrow_phase: Box<dyn NarrowPhase>,
    /// What impulses contacts exert.
    pub contacts: ContactMethod,
    /// Where threads come from.
    pub executor: Box<dyn Executor>,
}

/// An island of a problem: where its contacts start and end in the order of islands, and its blocks of joints.
#[derive(Debug, Clone, Copy)]
pub(super) struct IslandSpan {
    pub(super) contacts: [u32; 2],
    pub(super) blocks: [u32; 2],
}

/// What an island with joints needs besides.
#[derive(Debug, Default)]
pub(super) struct Mixed {
    /// Blocks of all islands, in their order.
    pub(super) order: Vec<u32>,
    /// Those of the present island, and its problem.
    pub(super) blocks: Vec<PoolBlock>,
    pub(super) delassus: Delassus,
    pub(super) impulses: Vec<DVec3>,
    /// A correction was not solved.
    pub(super) jammed: bool,
}

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
#[derive(Debug)]
pub struct TimeStepping {
    pub(super) parts: TimeParts,
    /// As given: lengths are shares of `radius`.
    pub(super) given: TimeSteppingParams,
    /// The same with lengths in metres.
    pub(super) params: TimeSteppingParams,
    /// Radius of the smallest free body, m.
    pub(super) radius: f64,
    /// How far from the origin bodies were when it was found, m.
    pub(super) farthest: f64,
    pub(super) detect: Detect,
    /// Contacts as rows, for a contact law.
    pub(super) sites: Sites,
    /// What neighbours make of contacts.
    pub(super) neighbours: Normals,
    /// Contacts as manifolds, for the soft solver.
    pub(super) soft: Option<SoftContacts>,
    pub(super) warm: WarmStart,
    pub(super) resting: Resting,
    pub(super) debts: Debts,
    pub(super) stiff: Stiff,
    pub(super) sleep: Sleep,
    /// Length of the step whose impulses are remembered, s.
    pub(super) last_step: f64,
    pub(super) seen: Option<Mark>,
    pub(super) reached: f64,
    /// The world was changed from outside, and overlaps have not been opened since.
    looked: bool,
    pub(super) advances: u64,
    pub(super) report: StepReport,
    pub(super) pool: Vec<PoolBody>,
    pub(super) flyers: Vec<Flyer>,
    pub(super) joined: Joined,
    /// An island with joints: W, laws, blocks, impulses.
    pub(super) mixed: Mixed,
    pub(super) islands: Islands,
    /// Sites of the present problem, and the same in the order of islands.
    pub(super) chosen: Vec<u32>,
    pub(super) order: Vec<u32>,
    /// Islands to be solved.
    pub(super) spans: Vec<IslandSpan>,
    /// By site: flies to a bounce.
    pub(super) bouncing: Vec<bool>,
    pub(super) contacts: Vec<PoolContact>,
    pub(super) impulses: Vec<DVec3>,
    pub(super) delassus: Delassus,
    pub(super) pool_workspace: PoolWorkspace,
    pub(super) impacts: Impacts,
    pub(super) prepared: PreparedPool,
    pub(super) softener: Softener,
    pub(super) normals: NormalSweeps,
    pub(super) local_starts: Vec<u32>,
    pub(super) local_columns: Vec<u32>,
    /// Contacts that began or ended in the present step.
    pub(super) begun: Vec<EventKind>,
    trace: Option<Vec<Stage>>,
}

impl TimeStepping {
    /// With default parameters.
    #[must_use]
    pub fn new(parts: TimeParts) -> Self {
        Self::with(parts, TimeSteppingParams::default())
    }

    /// With parameters, which the first use checks.
    #[must_use]
    pub fn with(parts: TimeParts, params: TimeSteppingParams) -> Self {
        let soft = match &parts.contacts {
            ContactMethod::Law(_) => None,
            ContactMethod::Soft(params) => Some(SoftContacts::new(*params)),
        };
        Self {
            parts,
            given: params,
            params,
            radius: 1.0,
            farthest: 0.0,
            detect: Detect::default(),
            sites: Sites::default(),
            neighbours: Normals::default(),
            soft,
            warm: WarmStart::default(),
            resting: Resting::default(),
            debts: Debts::default(),
            stiff: Stiff::default(),
            sleep: Sleep::default(),
            last_step: 0.0,
            seen: None,
            reached: 0.0,
            looked: false,
            advances: 0,
            report: StepReport::default(),
            pool: Vec::new(),
            flyers: Vec::new(),
            joined: Joined::default(),
            mixed: Mixed::default(),
            islands: Islands::default(),
            chosen: Vec::new(),
            order: Vec::new(),
            spans: Vec::new(),
            bouncing: Vec::new(),
            contacts: Vec::new(),
            impulses: Vec::new(),
            delassus: Delassus::default(),
            pool_workspace: PoolWorkspace::default(),
            impacts: Impacts::default(),
            prepared: PreparedPool::default(),
            softener: Softener::default(),
            normals: NormalSweeps::default(),
            local_starts: Vec::new(),
            local_columns: Vec::new(),
            begun: Vec::new(),
            trace: None,
        }
    }

    /// The parameters, as given.
    #[must_use]
    #[allow(clippy::misnamed_getters, reason = "the field of that name has lengths in metres")]
    pub fn params(&self) -> &TimeSteppingParams {
        &self.given
    }

    /// Begins to record the stages of steps; [`TimeStepping::take_trace`] gives them.
    pub fn record_stages(&mut self) {
        self.trace = Some(Vec::new());
    }

    /// The stages recorded since [`TimeStepping::record_stages`].
    pub fn take_trace(&mut self) -> Vec<Stage> {
        self.trace.take().unwrap_or_default()
    }

    pub(super) fn trace(&mut self, stage: Stage) {
        if let Some(trace) = &mut self.trace {
            trace.push(stage);
        }
    }

    /// Takes notice of the world; starts afresh with one that it does not know, and looks for contacts if anything changed.
    fn sync(&mut self, world: &mut World) -> Result<(), StepError> {
        let known = self.seen == Some(world.mark_before_changes())
            && self.reached.to_bits() == world.time().to_bits();
        if known && world.changes().is_empty() {
            return Ok(());
        }
        self.seen = None;
        self.given.validate()?;
        refuse_unknown_forces(world)?;
        if self.soft.is_some() {
            world.refuse_joints("soft time stepping")?;
        }
        self.find_scale(world);
        self.detect.doubt();
        if known {
            for k in 0..world.changes().len() {
                if let Change::Moved(body) = world.changes()[k] {
                    let colliders = world.get(body).map(|b| b.colliders().to_vec()).unwrap_or_default();
                    for collider in colliders {
                        self.detect.replace(&mut self.parts, collider.index())?;
                    }
                }
            }
        } else {
            self.detect.clear(&mut self.parts)?;
            self.sites.clear();
            self.warm.clear();
            if let Some(soft) = &mut self.soft {
                soft.patches.clear();
                soft.guard.owed.clear();
            }
            self.last_step = 0.0;
            self.debts.given_way = 0.0;
        }
        self.wake_changed(world, known);
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
        self.set_scale(radius, farthest);
    }

    pub(super) fn set_scale(&mut self, radius: f64, farthest: f64) {
        (self.radius, self.farthest) = (radius, farthest);
        self.params = self.given.in_metres(radius, farthest);
    }

    /// Finds the contacts within reach of the next step.
    pub(super) fn find_contacts(&mut self, world: &World) -> Result<(), StepError> {
        self.follow_contacts(world, 0.0)
    }

    /// The same after bodies were put right: contacts found before are followed where their bodies have moved by less than `lenient` (m) since.
    pub(super) fn follow_contacts(&mut self, world: &World, lenient: f64) -> Result<(), StepError> {
        let mut horizon = Horizon::new(&self.params, self.params.step(), self.soft.is_some());
        horizon.lenient = lenient;
        let seen = self.detect.run(world, &mut self.parts, &horizon)?;
        match &mut self.soft {
            Some(soft) => {
                self.detect.released.drain(..).for_each(|span| soft.patches.release(span));
                let Detect { watched, due, .. } = &mut self.detect;
                if seen.renewed {
                    self.neighbours.judge(world, watched, Some(due), [self.params.step(), self.params.slop]);
                }
                soft.patches.read(world, watched, due, 10.0 * self.params.margin);
                Ok(())
            }
            None if !seen.moved && !seen.renewed => Ok(()),
            None => self.read_sites(world),
        }
    }

    /// Contacts as rows, with normals that know their neighbours.
    pub(super) fn read_sites(&mut self, world: &World) -> Result<(), StepError> {
        let watched = &mut self.detect.watched;
        self.neighbours.judge(world, watched, None, [self.params.step(), self.params.slop]);
        let (trails, params) = (&self.detect.trails, &self.params);
        self.sites.read(world, watched, |bodies| rest_speed(world, trails, params, bodies))
    }

    fn run(&mut self, world: &mut World, target: f64) -> Result<(), StepError> {
        let start = world.time();
        let duration = target - start;
        let count = (duration / self.params.step() * (1.0 - 1e-9)).ceil().max(1.0);
        if std::mem::take(&mut self.looked) {
            self.correct(world, true)?;
        }
        let mut k = 0.0;
        while k < count && duration > 0.0 {
            k += 1.0;
            // The product first: multiples of a step that is a power of two are then exact, and no cut of an advance there changes a bit.
            let end = if k < count { start + duration * k / count } else { target };
            let mut cuts = [0; 2];
            while world.time() < end {
                if self.soft.is_some() {
                    self.soft_step(world, end)?;
                } else {
                    self.step(world, end, &mut cuts)?;
                }
            }
        }
        Ok(())
    }

    /// One step that ends at `end`, or earlier where it is cut: so often at bounces and for turning bodies.
    fn step(&mut self, world: &mut World, end: f64, cuts: &mut [u32; 2]) -> Result<(), StepError> {
        let time = world.time();
        self.report.solver.steps += 1;
        self.report.solver.points = self.report.solver.points.max(self.sites.all.len() as u64);
        self.wake_disturbed(world, end - time);
        self.trace(Stage::Read);
        self.read_bodies(world);
        if self.freeze_runaways(world)? {
            self.read_bodies(world);
        }
        self.read_joints(world);
        self.trace(Stage::Impacts);
        let whole = end - time;
        let mut h = whole;
        let may_cut = cuts[0] < self.params.max_cuts;
        self.impacts(world, if may_cut { 0.0 } else { whole })?;
        self.reach_after_impacts(world, whole)?;
        self.trace(Stage::Cut);
        let bouncing = may_cut.then_some(whole);
        h = h.min(self.find_bounces(bouncing));
        if may_cut {
            h = self.first_root(world, h);
        }
        let bounce = h;
        let may_shorten = cuts[1] < turn_limit::MOST;
        if may_shorten {
            h = self.swing_limit(self.turn_limit(h), whole);
        }
        let is_cut = |h: f64| h < whole && time + h < end && time + h > time;
        h = if is_cut(h) { time + h - time } else { whole };
        h = self.solve_contacts(world, h, bouncing, may_shorten)?;
        let next = if is_cut(h) { time + h } else { end };
        if next < end {
            cuts[usize::from(h < bounce)] += 1;
            self.report.solver.cuts += 1;
        }
        self.quarantine(world)?;
        self.trace(Stage::Move);
        self.launch(world).map_err(errors::of_world)?;
        self.fire_timers(world, next);
        world.set_time(next).map_err(errors::of_world)?;
        self.trace(Stage::Detect);
        self.find_contacts(world)?;
        self.correct(world, false)?;
        let deepest = self.sites.all.iter().map(|s| -s.gap).fold(0.0, f64::max);
        self.report.solver.deepest = self.report.solver.deepest.max(deepest);
        self.notice(world);
        self.settle(world)?;
        self.report.events += 1;
        self.control(world)
    }

    /// Controllers that were due within the step act at its end; what they change is noticed.
    pub(super) fn control(&mut self, world: &mut World) -> Result<(), StepError> {
        let time = world.time();
        self.reached = time;
        let due: Vec<ControllerId> =
            world.controllers().filter(|(_, timer)| timer.next() <= time).map(|(id, _)| id).collect();
        for controller in due {
            let failed = |source| StepError::Controller { controller, time, source: Box::new(source) };
            world.run_controller(controller).map_err(failed)?;
            self.report.events += 1;
        }
        self.sync(world)
    }

    /// Bodies whose velocity or acceleration cannot be squared are frozen, before they spoil the numbers of others; true if there were any.
    pub(super) fn freeze_runaways(&mut self, world: &mut World) -> Result<bool, StepError> {
        let mut found = false;
        for (slot, flyer) in (0..).zip(&self.flyers) {
            let numbers = [flyer.start.linear, flyer.start.angular, flyer.acceleration];
            if numbers.into_iter().all(|x| x.length_squared().is_finite()) {
                continue;
            }
            if let Some((id, _)) = world.body_in_slot(slot).filter(|(_, b)| b.is_free()) {
                world.quarantine(id, world.time()).map_err(errors::of_world)?;
                self.report.quarantined += 1;
                self.detect.doubt_pairs();
                found = true;
            }
        }
        if found {
            // Its boxes reached everybody.
            self.find_contacts(world)?;
        }
        Ok(found)
    }

    /// Bodies whose velocity stopped being finite are frozen.
    fn quarantine(&mut self, world: &mut World) -> Result<(), StepError> {
        for slot in 0..self.pool.len() {
            let finite = self.pool[slot].velocity.to_array().iter().all(|x| x.is_finite());
            if finite || !self.pool[slot].is_movable() {
                continue;
            }
            if let Some((id, _)) = world.body_in_slot(slot as u32) {
                world.quarantine(id, world.time()).map_err(errors::of_world)?;
                self.report.quarantined += 1;
                self.detect.doubt_pairs();
                (self.flyers[slot].pushed, self.flyers[slot].struck) = (false, false);
                self.flyers[slot].acceleration = DVec3::ZERO;
                self.pool[slot].inverse_mass = 0.0;
            }
        }
        Ok(())
    }

    pub(super) fn fire_timers(&mut self, world: &mut World, until: f64) {
        loop {
            let due = world.timers().map(|(id, timer)| (timer.next(), id)).filter(|(date, _)| *date <= until);
            let Some((date, id)) = due.min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1))) else { return };
            world.fire_timer(id, date);
            self.report.events += 1;
        }
    }
}

impl Stepper for TimeStepping {
    fn kind(&self) -> &'static str {
        "time-stepping"
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
        let distances = self.detect.distances;
        let result = self.run(world, target);
        self.list_contacts(world);
        (self.report.energy, self.report.momentum) = world.close_account();
        self.report.time = world.time();
        self.report.distances = self.detect.distances - distances;
        self.reached = world.time();
        if result.is_err() {
            self.seen = None;
        }
        result.map(|()| self.report)
    }

    fn save(&self, world: &World) -> Result<Vec<u8>, SnapshotError> {
        self.save_tables(world)
    }

    fn load(&mut self, world: &World, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.load_tables(world, bytes)
    }
}
