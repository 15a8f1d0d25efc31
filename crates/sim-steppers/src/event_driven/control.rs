//! Timers and controllers as events at their exact times.

use super::{
    check,
    state::{Books, Response, Setup, Tables},
    stepper::Item,
    sync,
};
use sim_world::{ControllerId, StepError, StepperAccess, TimerId, World, WorldError};

/// Rank of the first controller among events of equal time: after all timers.
const FIRST_RANK: u64 = 1 << 30;

/// Lets a controller act at `time` (s), and takes notice of what it changed.
pub(super) fn control(
    setup: &mut Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    controller: ControllerId,
    time: f64,
) -> Result<(), StepError> {
    world.set_time_by(setup.parts.executor.as_ref(), time).map_err(StepError::from)?;
    let result = world.run_controller(controller);
    sync::sync_changes(setup, tables, response, books, world)?;
    world.forget_changes();
    tables.seen = Some(world.mark());
    check::list_pending(tables, world, time);
    if let Some(&(_, event)) = tables.controllers.iter().find(|(id, _)| *id == controller) {
        let next = world.controller_timer(controller).map_or(f64::INFINITY, sim_world::Timer::next);
        tables.queue.reschedule_ranked(event, next)?;
    }
    result.map_err(|source| match source {
        // A state that is not finite is the body's fault, and can be left behind.
        WorldError::Body { body, source } => StepError::Body { body, source },
        source => StepError::Controller { controller, time, source: Box::new(source) },
    })
}

/// Schedules a timer, or stops it.
pub(super) fn sync_timer(tables: &mut Tables, world: &World, timer: TimerId) -> Result<(), StepError> {
    let known = tables.timers.iter().position(|(id, _)| *id == timer);
    match (world.timer(timer), known) {
        (Some(record), None) => {
            let rank = 1 + u64::from(timer.index());
            let event = tables.queue.schedule_ranked(record.next(), rank, Item::Timer(timer))?;
            tables.timers.push((timer, event));
        }
        (None, Some(k)) => {
            let (_, event) = tables.timers.swap_remove(k);
            tables.queue.cancel(event)?;
        }
        _ => {}
    }
    Ok(())
}

/// Schedules a controller, or forgets it.
pub(super) fn sync_controller(
    tables: &mut Tables,
    world: &World,
    controller: ControllerId,
) -> Result<(), StepError> {
    let known = tables.controllers.iter().position(|(id, _)| *id == controller);
    match (world.controller_timer(controller), known) {
        (Some(timer), None) => {
            let rank = FIRST_RANK + u64::from(controller.index());
            let event = tables.queue.schedule_ranked(timer.next(), rank, Item::Control(controller))?;
            tables.controllers.push((controller, event));
        }
        (None, Some(k)) => {
            let (_, event) = tables.controllers.swap_remove(k);
            tables.queue.cancel(event)?;
        }
        _ => {}
    }
    Ok(())
}

/// Schedules all controllers.
pub(super) fn sync_controllers(tables: &mut Tables, world: &World) -> Result<(), StepError> {
    world.controllers().try_for_each(|(id, _)| sync_controller(tables, world, id))
}
