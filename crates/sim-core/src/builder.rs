//! Simulations from parts.

use crate::Simulation;
use constraint_dynamics::soft::SoftParams;
use sim_steppers::{EventDriven, EventDrivenParams, Parts, TimeStepping, TimeSteppingParams};
use sim_traits::{BroadPhase, Executor, ImpactLaw, NarrowPhase, RowSolver};
use sim_world::{Part, StepError, Stepper, World};
use thiserror::Error;

/// Why a simulation was not built.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A part that the stepper has no use for.
    #[error("{part} is not used by the {stepper} stepper")]
    UnusedPart {
        /// Which part.
        part: &'static str,
        /// Which stepper.
        stepper: &'static str,
    },
    /// Parameters beside a stepper that was given, or for two steppers.
    #[error("parameters are given for the {given} stepper, but the stepper is {stepper}")]
    UnusedParams {
        /// Whose parameters.
        given: &'static str,
        /// Which stepper.
        stepper: &'static str,
    },
    /// The stepper refuses the world.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Parameters of a stepper of this engine; they choose it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "one per simulation")]
pub enum StepperParams {
    /// For [`TimeStepping`].
    Time(TimeSteppingParams),
    /// For [`EventDriven`].
    Events(EventDrivenParams),
}

impl From<TimeSteppingParams> for StepperParams {
    fn from(params: TimeSteppingParams) -> Self {
        Self::Time(params)
    }
}

impl From<EventDrivenParams> for StepperParams {
    fn from(params: EventDrivenParams) -> Self {
        Self::Events(params)
    }
}

impl StepperParams {
    /// A stepper with these parameters and default parts.
    fn stepper(self) -> Box<dyn Stepper> {
        match self {
            Self::Time(params) => TimeStepping::with(Parts::default(), params).into(),
            Self::Events(params) => EventDriven::with(Parts::default(), params).into(),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Time(_) => "time-stepping",
            Self::Events(_) => "event-driven",
        }
    }
}

/// Time stepping with a contact law, and the default part for every other seam.
#[must_use]
pub fn time_stepping(law: impl Into<Box<dyn RowSolver>>, params: TimeSteppingParams) -> TimeStepping {
    TimeStepping::with(Parts::default().contact_law(law), params)
}

/// Time stepping with soft contacts, and the default part for every seam: for large scenes.
///
/// ```
/// use sim_core::prelude::*;
///
/// let mut world = World::new([0.0, 0.0, -9.81])?;
/// world.add(Body::fixed().shape(HalfSpace::up()))?;
/// let block = world.add(Body::free().shape(Cuboid::new([0.5, 0.5, 0.1].into())?).at([0.0, 0.0, 0.1]))?;
/// let mut sim = Simulation::builder(world).soft(SoftParams::default()).build()?;
/// sim.advance(1.0)?;
/// assert!((sim.world()[block].position().z - 0.1).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn soft_stepping(soft: SoftParams, params: TimeSteppingParams) -> TimeStepping {
    TimeStepping::with(Parts::default().soft(soft), params)
}

/// A simulation to be built from parts.
///
/// Setters take a part of any type, or a box that was chosen at run time, in any order; a part that is set twice is the last one. Parts are put into the
/// stepper that is given, or into a default one.
///
/// ```
/// use sim_core::{broadphase::DynamicTree, prelude::*};
///
/// let world = World::new([0.0, 0.0, -9.81])?;
/// let stepper = time_stepping(Greedy::default(), TimeSteppingParams::default().dt(0.01));
/// let sim = Simulation::builder(world).broad_phase(DynamicTree::default()).stepper(stepper).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing happens before `build`"]
pub struct SimulationBuilder {
    world: World,
    parts: Vec<Part>,
    params: Option<StepperParams>,
    stepper: Option<Box<dyn Stepper>>,
}

impl SimulationBuilder {
    pub(crate) fn new(world: World) -> Self {
        Self { world, parts: Vec::new(), params: None, stepper: None }
    }

    /// Which boxes overlap; it must be empty.
    pub fn broad_phase(self, part: impl Into<Box<dyn BroadPhase>>) -> Self {
        self.part(Part::BroadPhase(part.into()))
    }

    /// How far apart two shapes are, and where they touch.
    pub fn narrow_phase(self, part: impl Into<Box<dyn NarrowPhase>>) -> Self {
        self.part(Part::NarrowPhase(part.into()))
    }

    /// What impulse a collision exerts; asks for [`EventDriven`] where no stepper is given.
    pub fn impact(self, part: impl Into<Box<dyn ImpactLaw>>) -> Self {
        self.part(Part::ImpactLaw(part.into()))
    }

    /// What impulses all contacts and joints of an island exert; for [`TimeStepping`].
    pub fn contact_law(self, part: impl Into<Box<dyn RowSolver>>) -> Self {
        self.part(Part::ContactLaw(part.into()))
    }

    /// Contacts as stiff springs in place of a contact law, for large scenes; for [`TimeStepping`].
    pub fn soft(self, params: SoftParams) -> Self {
        self.part(Part::SoftContacts(params))
    }

    /// Where threads come from.
    pub fn executor(self, part: impl Into<Box<dyn Executor>>) -> Self {
        self.part(Part::Executor(part.into()))
    }

    /// A part that was chosen at run time, perhaps by [`parts`](crate::parts).
    pub fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Parameters of a stepper; they ask for it.
    pub fn params(mut self, params: impl Into<StepperParams>) -> Self {
        self.params = Some(params.into());
        self
    }

    /// The stepper. Default [`TimeStepping`]; [`EventDriven`] if its parameters or an impact law are given.
    pub fn stepper(mut self, stepper: impl Into<Box<dyn Stepper>>) -> Self {
        self.stepper = Some(stepper.into());
        self
    }

    /// Puts it together and looks at the world.
    ///
    /// # Errors
    /// Parts or parameters that the stepper has no use for; what it finds wrong with the world, such as an overlap.
    pub fn build(self) -> Result<Simulation, BuildError> {
        let Self { mut world, parts, params, stepper } = self;
        if let (Some(params), Some(stepper)) = (&params, &stepper) {
            return Err(BuildError::UnusedParams { given: params.kind(), stepper: stepper.kind() });
        }
        let mut stepper = stepper.unwrap_or_else(|| {
            let has_impact_law = parts.iter().any(|part| matches!(part, Part::ImpactLaw(_)));
            let usual = if has_impact_law {
                EventDrivenParams::default().into()
            } else {
                TimeSteppingParams::default().into()
            };
            params.unwrap_or(usual).stepper()
        });
        for part in parts {
            let kind = stepper.kind();
            let unused = |part: Part| BuildError::UnusedPart { part: part.name(), stepper: kind };
            stepper.set_part(part).map_err(unused)?;
        }
        stepper.prepare(&mut world)?;
        Ok(Simulation::from_parts(world, stepper))
    }
}
