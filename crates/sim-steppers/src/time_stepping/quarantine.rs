//! Bodies whose numbers cannot be gone on with are frozen where they are, before they spoil those of others.

use super::{
    forces,
    state::{Books, StepBodies},
};
use sim_math::{glam::DVec3, spatial::Force};
use sim_world::{StepError, StepperAccess};

/// Freezes bodies whose velocity or acceleration cannot be squared; true if there were any.
pub(super) fn freeze_runaways(
    bodies: &StepBodies,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
) -> Result<bool, StepError> {
    let mut any = false;
    for (slot, body_step) in (0..).zip(&bodies.body_steps) {
        let numbers = [body_step.start.linear, body_step.start.angular, body_step.acceleration];
        if numbers.into_iter().all(|x| x.length_squared().is_finite()) {
            continue;
        }
        if let Some((id, _)) = world.body_in_slot(slot).filter(|(_, b)| b.is_free()) {
            world.quarantine(id, world.time()).map_err(StepError::from)?;
            books.report.quarantined += 1;
            any = true;
        }
    }
    Ok(any)
}

/// Reads the forces that are no blocks of the problem, and freezes bodies on which one is not finite; true if there were any.
pub(super) fn freeze_forced(
    bodies: &mut StepBodies,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
) -> Result<bool, StepError> {
    let mut any = false;
    // Frozen bodies feel no forces: one less in every round.
    while let Some(id) = forces::read_wrenches(bodies, world) {
        world.quarantine(id, world.time()).map_err(StepError::from)?;
        books.report.quarantined += 1;
        any = true;
        bodies.body_steps.iter_mut().for_each(|body_step| body_step.wrench = Force::ZERO);
    }
    Ok(any)
}

/// Freezes bodies whose velocity in the pool is not finite any more; true if there were any.
pub(super) fn freeze_lost(
    bodies: &mut StepBodies,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
) -> Result<bool, StepError> {
    let mut any = false;
    for (slot, (body, body_step)) in (0..).zip(bodies.pool.iter_mut().zip(&mut bodies.body_steps)) {
        let finite = body.velocity.to_array().iter().all(|x| x.is_finite());
        if finite || !body.is_movable() {
            continue;
        }
        if let Some((id, _)) = world.body_in_slot(slot) {
            world.quarantine(id, world.time()).map_err(StepError::from)?;
            books.report.quarantined += 1;
            (body_step.pushed, body_step.struck) = (false, false);
            body_step.acceleration = DVec3::ZERO;
            body.inverse_mass = 0.0;
            any = true;
        }
    }
    Ok(any)
}
