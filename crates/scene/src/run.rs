//! A scene on its way: world and stepper together.

use crate::{format::SceneError, lower::Setup};
use sim_steppers::Parts;
use sim_world::{StepReport, Stepper, World};
use std::time::Duration;

/// A run of a scene.
///
/// ```
/// use scene::{builtin, run::Run};
///
/// let mut run = Run::new(builtin::setup("dominos")?)?;
/// run.advance_to(0.1)?;
/// assert_eq!(run.world().time(), 0.1);
/// # Ok::<(), scene::SceneError>(())
/// ```
#[derive(Debug)]
pub struct Run {
    setup: Setup,
    stepper: Box<dyn Stepper>,
    report: StepReport,
}

impl Run {
    /// With the parts that the scene asks for.
    ///
    /// # Errors
    /// Bodies that overlap, or what the stepper cannot do.
    pub fn new(setup: Setup) -> Result<Self, SceneError> {
        let parts = setup.choice.parts();
        Self::with_parts(setup, parts)
    }

    /// With other parts.
    ///
    /// # Errors
    /// Bodies that overlap, or what the stepper cannot do.
    pub fn with_parts(mut setup: Setup, parts: Parts) -> Result<Self, SceneError> {
        let mut stepper = setup.choice.stepper_with(parts);
        if let Err(error) = stepper.prepare(&mut setup.world) {
            return Err(setup.explain(&error));
        }
        Ok(Self { setup, stepper, report: StepReport::default() })
    }

    /// The world now.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.setup.world
    }

    /// What the scene says.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// What happened since the beginning.
    #[must_use]
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// How often controllers acted.
    #[must_use]
    pub fn acts(&self) -> u64 {
        self.setup.control.acts()
    }

    /// Time that controllers took.
    #[must_use]
    pub fn control_time(&self) -> Duration {
        self.setup.control.time()
    }

    /// Moves on to `time` (s); controllers act at their times on the way, those due at `time` itself included.
    ///
    /// # Errors
    /// A time in the past, or what the stepper or a controller says, with the names of the scene.
    pub fn advance_to(&mut self, time: f64) -> Result<(), SceneError> {
        self.advance_watching(time, &mut |_| {})
    }

    /// As [`Run::advance_to`], and shows the world there, while its events are still listed.
    ///
    /// # Errors
    /// As [`Run::advance_to`].
    pub fn advance_watching(&mut self, time: f64, watch: &mut dyn FnMut(&World)) -> Result<(), SceneError> {
        self.stretch(time)?;
        watch(&self.setup.world);
        Ok(())
    }

    fn stretch(&mut self, stop: f64) -> Result<(), SceneError> {
        let duration = stop - self.setup.world.time();
        match self.stepper.advance(&mut self.setup.world, duration) {
            Ok(report) => {
                self.report = self.report.then(&report);
                Ok(())
            }
            Err(error) => Err(self.setup.explain(&error)),
        }
    }
}
