//! Timers, events and contacts of a world.

use super::{Change, World, check_finite};
use crate::{
    access::StepperAccess,
    error::WorldError,
    events::{Contact, Event, EventKind, Listing, Timer, TimerId},
};
use sim_math::glam::DVec3;

impl World {
    /// Sets a timer that goes off at `first`, `first + period`, … (s); a `first` in the past counts from the world's time.
    ///
    /// # Errors
    /// A period that is not positive and finite, a time that is not finite.
    pub fn add_timer(&mut self, first: f64, period: f64) -> Result<TimerId, WorldError> {
        self.add_timer_at(Timer::every(period).starting(first))
    }

    /// Sets a timer with times of its own, such as [`Timer::once`]; a first time in the past counts from the world's time.
    ///
    /// # Errors
    /// As [`World::add_timer`].
    pub fn add_timer_at(&mut self, times: Timer) -> Result<TimerId, WorldError> {
        let timer = self.check_timer(times, ["timer period", "timer start"])?;
        let id = self.timers.insert(timer);
        self.note(Change::Timer(id));
        Ok(id)
    }

    /// Times that can be, none of them in the past.
    pub(super) fn check_timer(&self, timer: Timer, what: [&'static str; 2]) -> Result<Timer, WorldError> {
        if !(timer.period > 0.0 && timer.period.is_finite()) {
            return Err(WorldError::NotPositive { what: what[0], value: timer.period });
        }
        check_finite(what[1], DVec3::splat(timer.first))?;
        Ok(Timer { first: timer.first.max(self.time), ..timer })
    }

    /// Stops a timer and gives it back.
    ///
    /// # Errors
    /// There is no such timer.
    pub fn remove_timer(&mut self, id: TimerId) -> Result<Timer, WorldError> {
        let timer = self.timers.remove(id).ok_or(WorldError::UnknownTimer { id })?;
        self.note(Change::Timer(id));
        Ok(timer)
    }

    /// What happened during the last advance, in order of time.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// A timer, if it runs.
    #[must_use]
    pub fn timer(&self, id: TimerId) -> Option<&Timer> {
        self.timers.get(id)
    }

    /// All timers in the order of their slots.
    pub fn timers(&self) -> impl Iterator<Item = (TimerId, &Timer)> {
        self.timers.iter()
    }

    /// Adds an event to the list.
    pub(crate) fn list(&mut self, event: Event) {
        if self.listing != Listing::Nothing {
            self.events.push(event);
        }
    }

    /// Contacts of the last advance, by slots of their colliders.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }
}

impl StepperAccess<'_> {
    /// Adds an event to the list.
    pub fn list(&mut self, event: Event) {
        self.world.list(event);
    }

    /// Lets a timer go off: lists the event and counts.
    pub fn fire_timer(&mut self, id: TimerId, time: f64) {
        if let Some(timer) = self.world.timers.get_mut(id) {
            let kind = EventKind::Timer { timer: id, count: timer.count };
            timer.count += 1;
            self.world.list(Event { time, kind });
        }
    }

    /// Empties the list of events: the first thing an advance does.
    pub fn clear_events(&mut self) {
        self.world.events.clear();
    }

    /// The list of contacts, to be filled: for steppers.
    pub fn contacts_mut(&mut self) -> &mut Vec<Contact> {
        &mut self.world.contacts
    }
}
