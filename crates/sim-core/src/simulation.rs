//! A world and the stepper that moves it on.

use collision_broadphase::CoherentHash;
use collision_narrowphase::default_chain;
use constraint_dynamics::{ConeNewton, soft::SoftParams};
use rigid_impulse::impact::Integrated;
use sim_steppers::{
    ContactMethod, EventDriven, EventDrivenParams, Parts, TimeParts, TimeStepping, TimeSteppingParams,
};
use sim_traits::{BroadPhase, Executor, ImpactLaw, NarrowPhase, RowSolver, Serial};
use sim_world::{Registry, SnapshotError, StepError, StepReport, Stepper, World};
use thiserror::Error;

/// Why a simulation was not built.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A part was given, and a stepper that comes with parts of its own.
    #[error("{part} is not used: the stepper given has parts of its own")]
    UnusedPart {
        /// Which part.
        part: &'static str,
    },
    /// The stepper refuses the world.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// A world that moves.
#[derive(Debug)]
pub struct Simulation {
    world: World,
    stepper: Box<dyn Stepper>,
    total: StepReport,
}

impl Simulation {
    /// With the default part for every seam: time stepping with exact friction cones, steps of 1/60 s. What is wrong with the world the first advance
    /// reports; the [builder](Simulation::builder) looks at once.
    #[must_use]
    pub fn new(world: World) -> Self {
        let stepper = Box::new(time_stepping(ConeNewton::default(), TimeSteppingParams::default()));
        Self { world, stepper, total: StepReport::default() }
    }

    /// With parts of one's own.
    pub fn builder(world: World) -> SimulationBuilder {
        SimulationBuilder {
            world,
            broad_phase: None,
            narrow_phase: None,
            impact_law: None,
            executor: None,
            params: None,
            stepper: None,
        }
    }

    /// Moves on by `duration` ≥ 0 seconds; returns what happened.
    ///
    /// # Errors
    /// See [`StepError`]; the world is then at the time of the last event.
    pub fn advance(&mut self, duration: f64) -> Result<StepReport, StepError> {
        let report = self.stepper.advance(&mut self.world, duration)?;
        self.total = self.total.then(&report);
        Ok(report)
    }

    /// The world at the present time.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, to be changed: the stepper notices.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// The world without its stepper.
    #[must_use]
    pub fn into_world(self) -> World {
        self.world
    }

    /// What happened since the start.
    #[must_use]
    pub fn report(&self) -> &StepReport {
        &self.total
    }

    /// World and tables of the stepper as bytes: what is restored from them continues to the bit. Needs feature `serde`.
    ///
    /// # Errors
    /// A custom shape or script that is not in the registry, naming the body; feature `serde` is off.
    pub fn snapshot(&self, registry: &Registry) -> Result<Vec<u8>, SnapshotError> {
        let (world, tables) = (self.world.snapshot(registry)?, self.stepper.save(&self.world)?);
        #[cfg(feature = "serde")]
        {
            sim_world::snapshot::seal("simulation", 1, &(self.stepper.kind(), world, tables))
        }
        #[cfg(not(feature = "serde"))]
        {
            let _ = (world, tables);
            Err(SnapshotError::NoSerde)
        }
    }

    /// Takes the place of the simulation that was saved; this one must have the same stepper with the same parameters.
    /// The report begins anew. After an error nothing has changed, but the stepper may have to look at its world afresh.
    ///
    /// # Errors
    /// Damaged bytes, another kind or version, another stepper.
    pub fn restore(&mut self, bytes: &[u8], registry: &Registry) -> Result<(), SnapshotError> {
        #[cfg(feature = "serde")]
        {
            let (kind, world, tables): (String, Vec<u8>, Vec<u8>) =
                sim_world::snapshot::open("simulation", 1, bytes)?;
            if kind != self.stepper.kind() {
                return Err(SnapshotError::Mismatch { what: "stepper" });
            }
            let world = World::restore(&world, registry)?;
            self.stepper.load(&world, &tables)?;
            self.world = world;
            self.total = StepReport::default();
            Ok(())
        }
        #[cfg(not(feature = "serde"))]
        {
            let _ = (bytes, registry);
            Err(SnapshotError::NoSerde)
        }
    }

    /// The stepper.
    #[must_use]
    pub fn stepper(&self) -> &dyn Stepper {
        self.stepper.as_ref()
    }
}

/// Time stepping with a contact law, and the default part for every other seam.
#[must_use]
pub fn time_stepping(law: impl RowSolver + 'static, params: TimeSteppingParams) -> TimeStepping {
    TimeStepping::with(time_parts(ContactMethod::law(law)), params)
}

/// Time stepping with soft contacts, and the default part for every seam: for large scenes. The parameters that go with it are
/// [`TimeSteppingParams::soft`].
///
/// ```
/// use sim_core::prelude::*;
///
/// let mut world = World::new([0.0, 0.0, -9.81])?;
/// world.add(Body::fixed().shape(HalfSpace::up()))?;
/// let block = world.add(Body::free().shape(Cuboid::new([0.5, 0.5, 0.1].into())?).at([0.0, 0.0, 0.1]))?;
/// let stepper = soft_stepping(SoftParams::default(), TimeSteppingParams::soft());
/// let mut sim = Simulation::builder(world).stepper(stepper).build()?;
/// sim.advance(1.0)?;
/// assert!((sim.world()[block].position().z - 0.1).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn soft_stepping(soft: SoftParams, params: TimeSteppingParams) -> TimeStepping {
    TimeStepping::with(time_parts(ContactMethod::Soft(soft)), params)
}

fn time_parts(contacts: ContactMethod) -> TimeParts {
    TimeParts {
        broad_phase: Box::new(CoherentHash::default()),
        narrow_phase: Box::new(default_chain()),
        contacts,
        executor: Box::new(Serial),
    }
}

fn event_parts() -> Parts {
    Parts {
        broad_phase: Box::new(CoherentHash::default()),
        narrow_phase: Box::new(default_chain()),
        impact_law: Box::new(Integrated::default()),
        executor: Box::new(Serial),
    }
}

/// A simulation to be built from parts.
#[derive(Debug)]
#[must_use = "nothing happens before `build`"]
pub struct SimulationBuilder {
    world: World,
    broad_phase: Option<Box<dyn BroadPhase>>,
    narrow_phase: Option<Box<dyn NarrowPhase>>,
    impact_law: Option<Box<dyn ImpactLaw>>,
    executor: Option<Box<dyn Executor>>,
    params: Option<EventDrivenParams>,
    stepper: Option<Box<dyn Stepper>>,
}

impl SimulationBuilder {
    /// Which boxes overlap. Default [`CoherentHash`], which is quickest when few boxes change between two events.
    pub fn broad_phase(mut self, part: impl BroadPhase + 'static) -> Self {
        self.broad_phase = Some(Box::new(part));
        self
    }

    /// How far apart two shapes are. Default [`default_chain`].
    pub fn narrow_phase(mut self, part: impl NarrowPhase + 'static) -> Self {
        self.narrow_phase = Some(Box::new(part));
        self
    }

    /// What impulse a collision exerts; asks for the event-driven stepper. Default there [`Integrated`].
    pub fn impact(mut self, part: impl ImpactLaw + 'static) -> Self {
        self.impact_law = Some(Box::new(part));
        self
    }

    /// Where threads come from. Default [`Serial`].
    pub fn executor(mut self, part: impl Executor + 'static) -> Self {
        self.executor = Some(Box::new(part));
        self
    }

    /// Parameters of the event-driven stepper; asks for it.
    pub fn params(mut self, params: EventDrivenParams) -> Self {
        self.params = Some(params);
        self
    }

    /// A stepper with parts of its own. Default [`TimeStepping`] with [`ConeNewton`]; [`EventDriven`] if an impact law or its parameters are given.
    pub fn stepper(mut self, stepper: impl Stepper + 'static) -> Self {
        self.stepper = Some(Box::new(stepper));
        self
    }

    /// Puts it together and looks at the world.
    ///
    /// # Errors
    /// A part that would not be used; what the stepper finds wrong with the world, such as an overlap.
    pub fn build(self) -> Result<Simulation, BuildError> {
        let mut world = self.world;
        let given = [
            ("broad phase", self.broad_phase.is_some()),
            ("narrow phase", self.narrow_phase.is_some()),
            ("impact law", self.impact_law.is_some()),
            ("executor", self.executor.is_some()),
            ("set of parameters", self.params.is_some()),
        ];
        let mut stepper = match self.stepper {
            Some(stepper) => {
                if let Some(&(part, _)) = given.iter().find(|(_, is_given)| *is_given) {
                    return Err(BuildError::UnusedPart { part });
                }
                stepper
            }
            None if self.impact_law.is_none() && self.params.is_none() => {
                let defaults = time_parts(ContactMethod::law(ConeNewton::default()));
                Box::new(TimeStepping::new(TimeParts {
                    broad_phase: self.broad_phase.unwrap_or(defaults.broad_phase),
                    narrow_phase: self.narrow_phase.unwrap_or(defaults.narrow_phase),
                    executor: self.executor.unwrap_or(defaults.executor),
                    ..defaults
                }))
            }
            None => {
                let defaults = event_parts();
                let parts = Parts {
                    broad_phase: self.broad_phase.unwrap_or(defaults.broad_phase),
                    narrow_phase: self.narrow_phase.unwrap_or(defaults.narrow_phase),
                    impact_law: self.impact_law.unwrap_or(defaults.impact_law),
                    executor: self.executor.unwrap_or(defaults.executor),
                };
                Box::new(EventDriven::with(parts, self.params.unwrap_or_default()))
            }
        };
        stepper.prepare(&mut world)?;
        Ok(Simulation { world, stepper, total: StepReport::default() })
    }
}
