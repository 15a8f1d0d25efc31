//! What a stepper may do with a world, and nobody else.

use crate::World;
use std::ops::Deref;

/// A world that is being moved on in time: the only way to move its clock, to put bodies on other pieces of motion and to enter work in the account.
/// It reads like the world itself.
///
/// [`Stepper::prepare`](crate::Stepper::prepare) and [`Stepper::advance`](crate::Stepper::advance) make one and hand it to
/// [`Stepper::prepare_with`](crate::Stepper::prepare_with) and [`Stepper::advance_with`](crate::Stepper::advance_with). Nobody else gets one, so that a program
/// cannot ruin a run by setting its clock:
///
/// ```compile_fail,E0599
/// let mut world = sim_world::World::new([0.0, 0.0, -9.81])?;
/// world.set_time(1.0)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A stepper of your own gets it in the same way. This one lets bodies fly through each other:
///
/// ```
/// use sim_traits::Sphere;
/// use sim_world::{Body, StepError, StepReport, Stepper, StepperAccess, World, WorldError};
///
/// #[derive(Debug)]
/// struct Flight;
///
/// impl Stepper for Flight {
///     fn kind(&self) -> &'static str {
///         "flight"
///     }
///     fn prepare_with(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
///         world.forget_changes();
///         Ok(())
///     }
///     fn advance_with(&mut self, world: &mut StepperAccess<'_>, duration: f64) -> Result<StepReport, StepError> {
///         world.clear_events();
///         self.prepare_with(world)?;
///         world.open_account();
///         world.set_time(world.time() + duration)?;
///         let mut report = StepReport::default();
///         (report.energy, report.momentum) = world.close_account();
///         report.time = world.time();
///         Ok(report)
///     }
/// }
///
/// let mut world = World::new([0.0, 0.0, -9.81])?;
/// let ball = world.add(Body::free().shape(Sphere::new(0.1)?))?;
/// Flight.advance(&mut world, 0.5)?;
/// assert!((world[ball].position().z + 0.5 * 9.81 * 0.25).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// | methods | concern |
/// |---|---|
/// | [`set_time`](StepperAccess::set_time), [`set_piece`](StepperAccess::set_piece), [`relaunch`](StepperAccess::relaunch), [`arrive`](StepperAccess::arrive), [`continue_cluster`](StepperAccess::continue_cluster) | motion |
/// | [`put_right`](StepperAccess::put_right), [`slow_down`](StepperAccess::slow_down) | overlaps |
/// | [`put_to_sleep`](StepperAccess::put_to_sleep), [`wake`](StepperAccess::wake), [`quarantine`](StepperAccess::quarantine) | rest |
/// | [`open_account`](StepperAccess::open_account), [`close_account`](StepperAccess::close_account), `book_...` | energy and momentum |
/// | [`list`](StepperAccess::list), [`clear_events`](StepperAccess::clear_events), [`contacts_mut`](StepperAccess::contacts_mut) | what is reported |
/// | [`fire_timer`](StepperAccess::fire_timer), [`run_controller`](StepperAccess::run_controller) | who acts at its own times |
/// | [`joint_in_slot_mut`](StepperAccess::joint_in_slot_mut), [`load_joint`](StepperAccess::load_joint), [`joint_at_limit`](StepperAccess::joint_at_limit) | joints |
/// | [`arrive_tree`](StepperAccess::arrive_tree), [`put_tree_right`](StepperAccess::put_tree_right) | trees |
/// | [`forget_changes`](StepperAccess::forget_changes) | changes by the user |
#[derive(Debug)]
pub struct StepperAccess<'a> {
    pub(crate) world: &'a mut World,
}

impl<'a> StepperAccess<'a> {
    pub(crate) fn new(world: &'a mut World) -> Self {
        Self { world }
    }
}

impl Deref for StepperAccess<'_> {
    type Target = World;

    #[inline]
    fn deref(&self) -> &World {
        self.world
    }
}
