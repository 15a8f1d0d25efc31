//! Timers and controllers as events at their exact times.

use super::{
    check,
    state::{Books, Response, Setup, Tables},
    stepper::Item,
    sync,
};
use rigid_impulse::EventId;
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
    if let Some(event) = known(&tables.controllers, controller.index(), controller) {
        let next = world.controller_timer(controller).map_or(f64::INFINITY, sim_world::Timer::next);
        tables.queue.reschedule_ranked(event, next)?;
    }
    result.map_err(|source| match source {
        // A state that is not finite is the body's fault, and can be left behind.
        WorldError::Body { body, source } => StepError::Body { body, source },
        source => StepError::Controller { controller, time, source: Box::new(source) },
    })
}

/// The date of the one in a slot, if it is the one that is meant.
fn known<I: PartialEq>(dates: &[Option<(I, EventId)>], slot: u32, id: I) -> Option<EventId> {
    dates.get(slot as usize)?.as_ref().filter(|(known, _)| *known == id).map(|(_, event)| *event)
}

/// Enters a date in a slot.
pub(super) fn enter<I>(dates: &mut Vec<Option<(I, EventId)>>, slot: u32, date: (I, EventId)) {
    let slot = slot as usize;
    if dates.len() <= slot {
        dates.resize_with(slot + 1, || None);
    }
    dates[slot] = Some(date);
}

/// Schedules a timer, or stops it.
pub(super) fn sync_timer(tables: &mut Tables, world: &World, timer: TimerId) -> Result<(), StepError> {
    match (world.timer(timer), known(&tables.timers, timer.index(), timer)) {
        (Some(record), None) => {
            let rank = 1 + u64::from(timer.index());
            let event = tables.queue.schedule_ranked(record.next(), rank, Item::Timer(timer))?;
            enter(&mut tables.timers, timer.index(), (timer, event));
        }
        (None, Some(event)) => {
            tables.timers[timer.index() as usize] = None;
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
    match (world.controller_timer(controller), known(&tables.controllers, controller.index(), controller)) {
        (Some(timer), None) => {
            let rank = FIRST_RANK + u64::from(controller.index());
            let event = tables.queue.schedule_ranked(timer.next(), rank, Item::Control(controller))?;
            enter(&mut tables.controllers, controller.index(), (controller, event));
        }
        (None, Some(event)) => {
            tables.controllers[controller.index() as usize] = None;
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
