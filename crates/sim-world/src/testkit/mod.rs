//! Conformance kit of the seam of this crate: what any [`Stepper`](crate::Stepper) must pass (feature `testkit`).
//!
//! The kit moves small worlds, looks at time, digest, events and contacts, and returns the first violation as text.
//! It asks for nothing about physics: that a run can be stopped, cut, saved, repeated and handed over, and what errors leave behind.

use crate::{StepperAccess, World};

pub mod stepper;
pub mod worlds;

#[cfg(test)]
mod naive;

/// Lets a test do with a world what only a stepper may: set its clock, load a joint, forget changes.
///
/// ```
/// use sim_world::{World, testkit};
///
/// let mut world = World::new([0.0, 0.0, -9.81])?;
/// testkit::as_stepper(&mut world, |world| world.set_time(1.0))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn as_stepper<T>(world: &mut World, act: impl FnOnce(&mut StepperAccess<'_>) -> T) -> T {
    // A motion that is not finite stays as it was.
    let _ = world.renew_motions();
    act(&mut StepperAccess::new(world))
}
