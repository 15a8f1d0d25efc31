//! The loop.
//!
//! # Reference
//!
//! Barenbrug (2000), 3.4: one frame.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | h | length of a step, at most dt | s |
//!
//! # Formula
//!
//! ```text
//! for each step:  1 bodies read   2 forces   3 joints   4 reaction forces   5 bodies moved   6 loads, timers, controllers
//! ```
//!
//! # Cost
//!
//! Bounded: steps are never cut.
//!
//! # Numerics
//!
//! An advance is cut into equal steps no longer than dt. Bodies that no joint holds and no force changes fly on exactly. Joints are met at the end of each step to the
//! error asked for. The order is that of the integrator, Heun's by default.
//!
//! # Failure
//!
//! [`StepError`]; the world is then at the end of the last whole step. A body whose numbers stop being finite is frozen.
//!
//! # Tested by
//!
//! `tests/reaction_*.rs`

use super::{
    book::{self, BookScratch},
    params::{Collisions, ReactionForceParams},
    read::{self, Bodies, Joints},
    saved,
};
use crate::errors;
use constraint_dynamics::reaction::{
    ReactionError, ReactionReport, ReactionState, ReactionWorkspace, SolverEvent, solve_frame,
};
use rigid_impulse::BodyError;
use sim_math::integrate::{Heun, Integrator};
use sim_traits::{BodyId, JointId};
use sim_world::{
    ControllerId, Law, Mark, Rest, SnapshotError, StepError, StepReport, Stepper, StepperAccess, World,
};

/// Fixed steps; forces of joints found through the integrator.
///
/// ```
/// use sim_math::glam::DVec3;
/// use sim_steppers::ReactionForce;
/// use sim_traits::Sphere;
/// use sim_world::{Body, Joint, JointPartner, Stepper, StepperAccess, World};
///
/// // A pendulum, let go from the horizontal.
/// let mut world = World::new([0.0, 0.0, -9.81])?;
/// let bob = world.add(Body::free().shape(Sphere::new(0.1)?).mass(2.0).at([1.0, 0.0, 0.0]))?;
/// let joint = world.add_joint(Joint::ball(JointPartner::World, bob).anchor([0.0; 3]))?;
/// let mut stepper = ReactionForce::default();
/// stepper.advance(&mut world, 1.0)?;
/// assert!(world.joint_error(joint)?.linear < 1e-5);
/// assert!((world.kinetic_energy() + world.potential_energy()).abs() < 1e-2);
/// println!("it pulls with {} N", world.joint(joint)?.reaction().linear.length());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ReactionForce {
    params: ReactionForceParams,
    integrator: Box<dyn Integrator>,
    test: Option<Box<dyn Integrator>>,
    pub(super) state: ReactionState,
    workspace: ReactionWorkspace,
    bodies: Bodies,
    pub(super) joints: Joints,
    scratch: BookScratch,
    due: Vec<ControllerId>,
    report: StepReport,
    last: ReactionReport,
    notes: Vec<(f64, SolverNote)>,
    /// The world that it knows, and the time at which it left it.
    seen: Option<Mark>,
    reached: f64,
}

/// Something that happened to the solver, with the joint that it happened to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolverNote {
    /// First joint of the mechanism.
    pub joint: JointId,
    /// What.
    pub event: SolverEvent,
}

impl Default for ReactionForce {
    fn default() -> Self {
        Self::new(ReactionForceParams::default())
    }
}

impl ReactionForce {
    /// With Heun's method, and parameters, which the first use checks.
    #[must_use]
    pub fn new(params: ReactionForceParams) -> Self {
        Self {
            params,
            integrator: Box::new(Heun),
            test: None,
            state: ReactionState::default(),
            workspace: ReactionWorkspace::default(),
            bodies: Bodies::default(),
            joints: Joints::default(),
            scratch: BookScratch::default(),
            due: Vec::new(),
            report: StepReport::default(),
            last: ReactionReport::default(),
            notes: Vec::new(),
            seen: None,
            reached: 0.0,
        }
    }

    /// With another integrator, of rotations: translations are exact.
    #[must_use]
    pub fn integrator(mut self, integrator: impl Integrator + 'static) -> Self {
        self.integrator = Box::new(integrator);
        self
    }

    /// With an integrator of its own for test forces.
    #[must_use]
    pub fn test_integrator(mut self, integrator: impl Integrator + 'static) -> Self {
        self.test = Some(Box::new(integrator));
        self
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &ReactionForceParams {
        &self.params
    }

    /// Changes parameters while it runs; the next use checks them.
    pub fn params_mut(&mut self) -> &mut ReactionForceParams {
        &mut self.params
    }

    /// What the last step took, and the error that is left of all joints together.
    #[must_use]
    pub fn last_step(&self) -> &ReactionReport {
        &self.last
    }

    /// What happened to the solver in the last advance, with times (s).
    #[must_use]
    pub fn notes(&self) -> &[(f64, SolverNote)] {
        &self.notes
    }

    pub(super) fn knows(&self, world: &World) -> bool {
        self.seen == Some(world.mark_before_changes()) && self.reached.to_bits() == world.time().to_bits()
    }

    pub(super) fn forget(&mut self) {
        self.seen = None;
        self.state = ReactionState::default();
        self.joints = Joints::default();
    }

    /// Goes on with saved tables.
    #[cfg(feature = "serde")]
    pub(super) fn remember(&mut self, world: &World, state: ReactionState, joints: Vec<JointId>) {
        self.state = state;
        self.joints.ids = joints;
        self.seen = Some(world.mark_before_changes());
        self.reached = world.time();
    }

    /// Takes notice of the world; starts afresh with one that it does not know.
    fn sync(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
        let known = self.knows(world);
        if known && world.changes().is_empty() {
            return Ok(());
        }
        self.seen = None;
        self.params.validate()?;
        if self.params.collisions == Collisions::Refuse {
            refuse_collisions(world)?;
        }
        if !known {
            self.forget();
        }
        for slot in 0..world.body_slots() as u32 {
            if let Some((id, _)) = world.body_in_slot(slot) {
                self.report.woke_up += u32::from(world.wake(id, world.time()));
            }
        }
        self.note(world);
        Ok(())
    }

    fn note(&mut self, world: &mut StepperAccess<'_>) {
        world.forget_changes();
        self.seen = Some(world.mark());
        self.reached = world.time();
    }

    fn run(&mut self, world: &mut StepperAccess<'_>, target: f64) -> Result<(), StepError> {
        let start = world.time();
        let duration = target - start;
        if duration <= 0.0 {
            return Ok(());
        }
        let count = (duration / self.params.dt * (1.0 - 1e-9)).ceil().max(1.0);
        let mut k = 0.0;
        while k < count {
            k += 1.0;
            // The product first: multiples of a step that is a power of two are then exact, and no cut of an advance there changes a bit.
            let end = if k < count { start + duration * k / count } else { target };
            if end > world.time() {
                self.step(world, end)?;
            }
        }
        Ok(())
    }

    fn step(&mut self, world: &mut StepperAccess<'_>, end: f64) -> Result<(), StepError> {
        let h = end - world.time();
        self.solve(world, h)?;
        launch(&self.bodies, world)?;
        book::book_joints(&self.joints, &self.bodies, &self.workspace, world, h);
        book::move_bodies(&self.bodies, &self.workspace, world, end)?;
        while let Err(error) = world.set_time(end).map_err(StepError::from) {
            self.freeze(world, error)?;
        }
        let Self { joints, bodies, workspace, scratch, .. } = self;
        let broken = book::follow_joints(joints, bodies, workspace, world, h, scratch);
        self.report.events += 1 + broken;
        self.count();
        for &event in &self.workspace.events {
            let (SolverEvent::Switched { constraint, .. } | SolverEvent::NotConverged { constraint, .. }) =
                event
            else {
                continue;
            };
            if let Some(&joint) = self.joints.ids.get(constraint as usize) {
                self.notes.push((end, SolverNote { joint, event }));
            }
        }
        fire_timers(&mut self.report, world, end);
        self.control(world)
    }

    /// Finds the reaction forces; bodies whose numbers cannot be gone on with are frozen.
    fn solve(&mut self, world: &mut StepperAccess<'_>, h: f64) -> Result<(), StepError> {
        loop {
            let found = read::read_bodies(&mut self.bodies, world, h)
                .and_then(|()| read::read_forces(&mut self.bodies, world, h));
            if let Err(error) = found {
                self.freeze(world, error)?;
                continue;
            }
            read::read_joints(&mut self.joints, &mut self.state, &self.bodies, world);
            let solved = solve_frame(
                &self.bodies.all,
                &mut self.joints.all,
                &mut self.state,
                &self.params.reaction,
                &*self.integrator,
                self.test.as_deref(),
                h,
                &mut self.workspace,
            );
            match solved {
                Ok(report) => {
                    self.last = report;
                    return Ok(());
                }
                Err(ReactionError::Body { body, .. }) if (body as usize) < self.bodies.ids.len() => {
                    let source = BodyError::NonFinite { what: "state", value: f64::NAN };
                    self.freeze(world, StepError::Body { body: self.bodies.ids[body as usize], source })?;
                }
                Err(ReactionError::Parameter { what, value }) => {
                    return Err(StepError::Parameter { what, value });
                }
                Err(_) => return Err(StepError::Parameter { what: "joints", value: f64::NAN }),
            }
        }
    }

    /// Freezes the body that an error names, if it moves.
    fn freeze(&mut self, world: &mut StepperAccess<'_>, error: StepError) -> Result<(), StepError> {
        let StepError::Body { body, .. } = error else { return Err(error) };
        if !world.get(body).is_some_and(|b| b.is_free() && b.rest() != Rest::Quarantined) {
            return Err(error);
        }
        world.quarantine(body, world.time()).map_err(StepError::from)?;
        self.report.quarantined += 1;
        Ok(())
    }

    fn count(&mut self) {
        let (solver, last) = (&mut self.report.solver, &self.last);
        solver.steps += 1;
        solver.islands += last.parts as u64;
        solver.largest = solver.largest.max(last.unknowns as u64);
        solver.iterations += u64::from(last.iterations);
        solver.unsolved += u64::from(last.unsolved);
        solver.residual = solver.residual.max(last.error);
    }

    /// Controllers that were due within the step act at its end; what they change is noticed.
    fn control(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
        let time = world.time();
        self.reached = time;
        self.due.clear();
        self.due.extend(world.controllers().filter(|(_, timer)| timer.next() <= time).map(|(id, _)| id));
        for k in 0..self.due.len() {
            let controller = self.due[k];
            let failed = |source| StepError::Controller { controller, time, source: Box::new(source) };
            world.run_controller(controller).map_err(failed)?;
            self.report.events += 1;
        }
        self.sync(world)
    }
}

/// `Ok` for a world in which nothing can collide.
fn refuse_collisions(world: &World) -> Result<(), StepError> {
    let what =
        "this stepper finds no contacts: let bodies pass through each other, or have it ignore collisions";
    let all: Vec<_> = world.colliders().collect();
    for (k, (_, a)) in all.iter().enumerate() {
        if let Some((_, b)) =
            all[..k].iter().find(|(_, b)| world.may_collide(a, b) && !world.ignores(a.body(), b.body()))
        {
            let free = |id: BodyId| world.get(id).is_some_and(sim_world::Body::is_free);
            let body = if free(a.body()) { a.body() } else { b.body() };
            return Err(StepError::Unsupported { body, what });
        }
    }
    Ok(())
}

/// Bodies that fly alone go on under gravity and constant forces.
fn launch(bodies: &Bodies, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
    let time = world.time();
    for slot in 0..world.body_slots() as u32 {
        let Some((id, body)) = world.body_in_slot(slot) else { continue };
        if !body.is_free() || body.rest() != Rest::Awake || bodies.number[slot as usize] != u32::MAX {
            continue;
        }
        let falls = world.gravity() + body.pull();
        let flies =
            matches!(body.piece().law(), Law::Ballistic { acceleration, .. } if *acceleration == falls);
        if !flies {
            let state = *body.state();
            world.relaunch(id, time, state).map_err(StepError::from)?;
        }
    }
    Ok(())
}

fn fire_timers(report: &mut StepReport, world: &mut StepperAccess<'_>, until: f64) {
    loop {
        let due = world.timers().map(|(id, timer)| (timer.next(), id)).filter(|(date, _)| *date <= until);
        let Some((date, id)) = due.min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1))) else { return };
        world.fire_timer(id, date);
        report.events += 1;
    }
}

impl Stepper for ReactionForce {
    fn kind(&self) -> &'static str {
        "reaction-force"
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
        self.report = StepReport::default();
        self.notes.clear();
        world.clear_events();
        self.sync(world)?;
        world.open_account();
        let result = self.run(world, target);
        (self.report.energy, self.report.momentum) = world.close_account();
        self.report.time = world.time();
        self.reached = world.time();
        if result.is_err() {
            self.seen = None;
        }
        result.map(|()| self.report)
    }

    fn save(&self, world: &World) -> Result<Vec<u8>, SnapshotError> {
        saved::save_tables(self, world)
    }

    fn load(&mut self, world: &World, bytes: &[u8]) -> Result<(), SnapshotError> {
        saved::load_tables(self, world, bytes)
    }
}
