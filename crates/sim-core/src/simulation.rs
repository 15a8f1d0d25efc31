//! A world and the stepper that moves it on.

use crate::builder::{BuildError, SimulationBuilder};
use collision_broadphase::DynamicTree;
use sim_steppers::{Parts, TimeStepping};
use sim_world::{Part, QueryIndex, Registry, SnapshotError, StepError, StepReport, Stepper, World};
use std::sync::{Mutex, PoisonError};

/// A world that moves.
#[derive(Debug)]
pub struct Simulation {
    world: World,
    stepper: Box<dyn Stepper>,
    total: StepReport,
    /// Boxes of the colliders, for questions; refreshed by the first question after a change.
    pub(crate) index: Mutex<QueryIndex>,
}

impl Simulation {
    /// With the default part for every seam: time stepping with exact friction cones, steps of 1/60 s. What is wrong with the world the first advance
    /// reports; the [builder](Simulation::builder) looks at once.
    #[must_use]
    pub fn new(world: World) -> Self {
        Self::from_parts(world, Box::new(TimeStepping::new(Parts::default())))
    }

    pub(crate) fn from_parts(world: World, stepper: Box<dyn Stepper>) -> Self {
        let index = Mutex::new(QueryIndex::new(DynamicTree::default()));
        Self { world, stepper, total: StepReport::default(), index }
    }

    /// With parts of one's own.
    pub fn builder(world: World) -> SimulationBuilder {
        SimulationBuilder::new(world)
    }

    /// Moves on by `duration` ≥ 0 seconds; returns what happened.
    ///
    /// # Errors
    /// See [`StepError`]; the world is then at the time of the last event.
    pub fn advance(&mut self, duration: f64) -> Result<StepReport, StepError> {
        self.index.get_mut().unwrap_or_else(PoisonError::into_inner).forget();
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

    /// The stepper, if it is of this type.
    ///
    /// ```
    /// use sim_core::prelude::*;
    ///
    /// let sim = Simulation::new(World::new([0.0; 3])?);
    /// let step = sim.stepper_as::<TimeStepping>().map(|stepper| stepper.params().dt);
    /// assert_eq!(step, Some(1.0 / 60.0));
    /// assert!(sim.stepper_as::<EventDriven>().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stepper_as<T: Stepper + 'static>(&self) -> Option<&T> {
        // Of the stepper, not of its box.
        (*self.stepper).as_any().downcast_ref()
    }

    /// The stepper to be changed, if it is of this type.
    pub fn stepper_as_mut<T: Stepper + 'static>(&mut self) -> Option<&mut T> {
        (*self.stepper).as_any_mut().downcast_mut()
    }

    /// Exchanges a part between two advances.
    ///
    /// # Errors
    /// The stepper has no use for it; nothing has changed then.
    pub fn set_part(&mut self, part: Part) -> Result<(), BuildError> {
        let stepper = self.stepper.kind();
        self.stepper.set_part(part).map_err(|part| BuildError::UnusedPart { part: part.name(), stepper })
    }
}
