//! The seam between a world and what moves it on in time.

use crate::{
    ControllerId, EnergyAccount, MomentumAccount, Part, SnapshotError, StepperAccess, World, WorldError,
    part::AsAny,
};
use rigid_impulse::{BodyError, EventError};
use sim_math::MathError;
use sim_traits::{
    BodyId, BroadPhaseError, ColliderId, DynamicsError, ImpactError, JointId, NarrowPhase, NarrowPhaseError,
    RowError, TreeId,
};
use std::fmt::{self, Debug};
use thiserror::Error;

/// Two colliders and their bodies, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairName {
    /// Their bodies.
    pub bodies: [BodyId; 2],
    /// The colliders.
    pub colliders: [ColliderId; 2],
}

impl fmt::Display for PairName {
    /// `body 0 and body 1`; the colliders are in the fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {}", self.bodies[0], self.bodies[1])
    }
}

/// Why a world could not be moved on. Its state is then that of the last event, and may be moved on again.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum StepError {
    /// A duration that is negative or not finite.
    #[error("duration must be finite and not negative, got {value}")]
    Duration {
        /// What was given, s.
        value: f64,
    },
    /// A parameter that makes no sense.
    #[error("{what}: {value} is out of range")]
    Parameter {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Two colliders overlap at the start, or after a change by the user.
    #[error("{pair} overlap by {depth} m at t = {time} s")]
    Overlap {
        /// Which pair.
        pair: PairName,
        /// How deep, m.
        depth: f64,
        /// When, s.
        time: f64,
    },
    /// A pair (or the whole world) used up its events.
    #[error("{pair} used up the budget of {events} events at t = {time} s, {separation:e} m apart")]
    Budget {
        /// The pair that used most.
        pair: PairName,
        /// The budget.
        events: u64,
        /// When, s.
        time: f64,
        /// Its last known distance, m.
        separation: f64,
    },
    /// No distance could be computed.
    #[error("{pair}: {source}")]
    NarrowPhase {
        /// Which pair.
        pair: PairName,
        /// Why.
        source: Box<NarrowPhaseError>,
    },
    /// The broad phase refused a box.
    #[error(transparent)]
    BroadPhase(#[from] BroadPhaseError),
    /// The impact law gave no impulse.
    #[error("{pair}: {source}")]
    Impact {
        /// Which pair.
        pair: PairName,
        /// Why.
        source: ImpactError,
    },
    /// A contact frame could not be built.
    #[error("{pair}: {source}")]
    Contact {
        /// Which pair.
        pair: PairName,
        /// Why.
        source: MathError,
    },
    /// The state of a body stopped being finite.
    #[error("{body}: {source}")]
    Body {
        /// Which body.
        body: BodyId,
        /// What is wrong.
        source: BodyError,
    },
    /// A controller failed.
    #[error("{controller} at t = {time} s: {source}")]
    Controller {
        /// Which controller.
        controller: ControllerId,
        /// When, s.
        time: f64,
        /// What it reported.
        source: Box<WorldError>,
    },
    /// The stepper cannot run a joint.
    #[error("{joint} ({kind}): the {stepper} stepper cannot run joints yet")]
    UnsupportedJoint {
        /// Which joint.
        joint: JointId,
        /// Its kind.
        kind: &'static str,
        /// Which stepper.
        stepper: &'static str,
    },
    /// The stepper cannot run a tree.
    #[error("{tree} ({name:?}): the {stepper} stepper cannot run trees yet")]
    UnsupportedTree {
        /// Which tree.
        tree: TreeId,
        /// Its name.
        name: String,
        /// Which stepper.
        stepper: &'static str,
    },
    /// The equations of a tree have no answer.
    #[error("{tree} at t = {time} s: {source}")]
    Tree {
        /// Which tree.
        tree: TreeId,
        /// When, s.
        time: f64,
        /// Why.
        source: DynamicsError,
    },
    /// The stepper cannot do this.
    #[error("{body}: {what}")]
    Unsupported {
        /// Which body.
        body: BodyId,
        /// What it cannot do.
        what: &'static str,
    },
    /// The contact law gave no impulses.
    #[error("{body} and {others} other bodies at t = {time} s: {source}")]
    ContactLaw {
        /// A body of the group.
        body: BodyId,
        /// How many others are in it.
        others: usize,
        /// When, s.
        time: f64,
        /// Why.
        source: RowError,
    },
    /// The world refused what the stepper or a controller asked for.
    #[error(transparent)]
    World(Box<WorldError>),
    /// A body or collider that the stepper has in its tables is not in the world: a defect.
    #[error("there is no {what} in slot {slot} at t = {time} s")]
    EmptySlot {
        /// Body or collider.
        what: &'static str,
        /// Its slot; the largest number if not even that is known.
        slot: u32,
        /// When, s.
        time: f64,
    },
    /// The event queue refused an event: a defect.
    #[error(transparent)]
    Queue(#[from] EventError),
}

impl From<WorldError> for StepError {
    /// What is wrong with a body is named as such, so that a stepper can leave it behind.
    fn from(error: WorldError) -> Self {
        match error {
            WorldError::Body { body, source } => Self::Body { body, source },
            other => Self::World(Box::new(other)),
        }
    }
}

/// What a stepper did that solves contacts together; all zero for others.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct SolverReport {
    /// Steps of time taken.
    pub steps: u64,
    /// Steps cut short at an impact.
    pub cuts: u64,
    /// Contact problems solved, one per island and step.
    pub islands: u64,
    /// Most contacts in one problem.
    pub largest: u64,
    /// Iterations of the contact law.
    pub iterations: u64,
    /// Contacts visited in these iterations, all problems together.
    pub visits: u64,
    /// Most contact points within reach at one time.
    pub points: u64,
    /// Problems on which the contact law used up its budget.
    pub unsolved: u64,
    /// Largest residual of a solution, m/s.
    pub residual: f64,
    /// Largest |`p_t`| − μ `p_z` of an impulse, N·s.
    pub cone_violation: f64,
    /// Deepest overlap at the end of a step, m.
    pub deepest: f64,
    /// Largest acceleration of a body in contact in the last step, m/s²: what forces and contacts leave unbalanced.
    pub imbalance: f64,
    /// Potential energy added by moving overlapping bodies apart, J: the account tells who paid for it.
    pub lifted: f64,
}

impl SolverReport {
    /// Counts the iterations of a problem of so many contacts.
    pub fn count(&mut self, iterations: u32, contacts: usize) {
        self.iterations += u64::from(iterations);
        self.visits += u64::from(iterations) * contacts as u64;
    }

    /// Adds a later report.
    #[must_use]
    pub fn then(self, later: &Self) -> Self {
        Self {
            steps: self.steps + later.steps,
            cuts: self.cuts + later.cuts,
            islands: self.islands + later.islands,
            largest: self.largest.max(later.largest),
            iterations: self.iterations + later.iterations,
            visits: self.visits + later.visits,
            points: self.points.max(later.points),
            unsolved: self.unsolved + later.unsolved,
            residual: self.residual.max(later.residual),
            cone_violation: self.cone_violation.max(later.cone_violation),
            deepest: self.deepest.max(later.deepest),
            imbalance: later.imbalance,
            lifted: self.lifted + later.lifted,
        }
    }
}

/// What happened during one advance.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct StepReport {
    /// World time reached, s.
    pub time: f64,
    /// Events handled, of all kinds.
    pub events: u64,
    /// Distance computations.
    pub distances: u64,
    /// Collisions above the micro-collision threshold.
    pub collisions: u64,
    /// Micro-collisions.
    pub micro_collisions: u64,
    /// Sweeps over contacts in collision phases.
    pub sweeps: u64,
    /// Broad-phase refreshes of all boxes.
    pub windows: u64,
    /// Single boxes renewed in between, because a collision sent the body out of its box.
    pub resweeps: u64,
    /// Largest distance at which a collision above the threshold was answered, m.
    pub worst_root: f64,
    /// The pair with most events in one window, and how many.
    pub busiest: Option<(PairName, u32)>,
    /// Bodies frozen because their state stopped being finite.
    pub quarantined: u32,
    /// Bodies that fell asleep.
    pub fell_asleep: u32,
    /// Bodies that woke up.
    pub woke_up: u32,
    /// What a stepper did that solves contacts together.
    pub solver: SolverReport,
    /// Where energy came from and went to.
    pub energy: EnergyAccount,
    /// Where momentum came from and went to.
    pub momentum: MomentumAccount,
}

impl StepReport {
    /// Energy that came from nowhere, J, never negative: see [`EnergyAccount::gain`].
    #[must_use]
    pub fn energy_gain(&self) -> f64 {
        self.energy.gain()
    }

    /// [`StepReport::energy_gain`] if it is more than a millionth of the energy that flowed and `allowed` (J): a rise without a cause.
    /// Micro-collisions may lift every touching body by the collision envelope: m g ε is allowed there.
    #[must_use]
    pub fn unexplained_energy(&self, allowed: f64) -> Option<f64> {
        let gain = self.energy_gain();
        (gain > 1e-6 * self.energy.flowed + allowed).then_some(gain)
    }

    /// Adds a later report.
    #[must_use]
    pub fn then(self, later: &Self) -> Self {
        let busiest = match (self.busiest, later.busiest) {
            (Some(x), Some(y)) => Some(if y.1 > x.1 { y } else { x }),
            (x, y) => x.or(y),
        };
        Self {
            time: later.time,
            events: self.events + later.events,
            distances: self.distances + later.distances,
            collisions: self.collisions + later.collisions,
            micro_collisions: self.micro_collisions + later.micro_collisions,
            sweeps: self.sweeps + later.sweeps,
            windows: self.windows + later.windows,
            resweeps: self.resweeps + later.resweeps,
            worst_root: self.worst_root.max(later.worst_root),
            busiest,
            quarantined: self.quarantined + later.quarantined,
            fell_asleep: self.fell_asleep + later.fell_asleep,
            woke_up: self.woke_up + later.woke_up,
            solver: self.solver.then(&later.solver),
            energy: self.energy.then(&later.energy),
            momentum: self.momentum.then(&later.momentum),
        }
    }
}

impl fmt::Display for StepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "t = {:.6} s: {} events, {} distances, {} collisions, {} micro-collisions, worst root {:.1e} m",
            self.time, self.events, self.distances, self.collisions, self.micro_collisions, self.worst_root
        )
    }
}

sim_traits::into_box!(Stepper);

/// Moves a world on in time.
///
/// **Contract.** `advance` brings the world's time to exactly `time + duration` and every body's present state with it,
/// or returns an error that names what stopped it; the world is then at the time of the last event, intact.
/// Changes that the user makes between two calls are noticed through [`World::changes`]. A stepper has caches only: a fresh one
/// continues any world. It knows its world by [`World::mark_before_changes`] and the time at which it left it, and starts afresh with any other,
/// clones included. The conformance kit (`testkit::stepper`, feature `testkit`) asks for all this.
///
/// **Determinism.** A function of the world, of the sequence of calls, and of its parts.
pub trait Stepper: Debug + Send + Sync + AsAny {
    /// Short name, such as `"event-driven"`.
    fn kind(&self) -> &'static str;

    /// What [`Stepper::prepare`] does.
    ///
    /// # Errors
    /// What [`Stepper::advance`] would report at once.
    fn prepare_with(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError>;

    /// What [`Stepper::advance`] does.
    ///
    /// # Errors
    /// See [`StepError`].
    fn advance_with(&mut self, world: &mut StepperAccess<'_>, duration: f64)
    -> Result<StepReport, StepError>;

    /// Looks at the world without moving it: finds initial overlaps and what the stepper cannot do. It changes no result; bodies that sleep beside
    /// what the user changed may wake up here, and are then listed here instead of in the next advance. Implementers write [`Stepper::prepare_with`].
    ///
    /// # Errors
    /// What [`Stepper::advance`] would report at once.
    fn prepare(&mut self, world: &mut World) -> Result<(), StepError> {
        world.renew_motions()?;
        self.prepare_with(&mut StepperAccess::new(world))
    }

    /// Moves the world on by `duration` ≥ 0 seconds. Implementers write [`Stepper::advance_with`].
    ///
    /// # Errors
    /// See [`StepError`].
    fn advance(&mut self, world: &mut World, duration: f64) -> Result<StepReport, StepError> {
        world.renew_motions()?;
        self.advance_with(&mut StepperAccess::new(world), duration)
    }

    /// Exchanges a part, before the first advance or between two. All parts but the executor make it start afresh with its world.
    ///
    /// # Errors
    /// Gives the part back if the stepper has no use for it; nothing has changed then.
    fn set_part(&mut self, part: Part) -> Result<(), Part> {
        Err(part)
    }

    /// The narrow phase that it works with, so that questions about its world are answered by the same; `None` if it has none.
    fn narrow_phase(&self) -> Option<&dyn NarrowPhase> {
        None
    }

    /// What of its tables influences the bits of a continuation of this world, as bytes; empty if nothing does.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    fn save(&self, world: &World) -> Result<Vec<u8>, SnapshotError> {
        let _ = world;
        Ok(Vec::new())
    }

    /// Takes over what [`Stepper::save`] gave for the same world and the same parameters. After an error the stepper
    /// starts afresh.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    fn load(&mut self, world: &World, bytes: &[u8]) -> Result<(), SnapshotError> {
        let _ = world;
        if bytes.is_empty() { Ok(()) } else { Err(SnapshotError::Mismatch { what: "stepper" }) }
    }
}
