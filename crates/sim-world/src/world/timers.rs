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
        if !(period > 0.0 && period.is_finite()) {
            return Err(WorldError::NotPositive { what: "timer period", value: period });
        }
        check_finite("timer start", DVec3::splat(first))?;
        self.timers.push(Some(Timer { first: first.max(self.time), period, count: 0 }));
        let id = TimerId((self.timers.len() - 1) as u32);
        self.note(Change::Timer(id));
        Ok(id)
    }

    /// Stops a timer; false if it was not there.
    pub fn remove_timer(&mut self, id: TimerId) -> bool {
        let there = self.timers.get_mut(id.0 as usize).and_then(Option::take).is_some();
        if there {
            self.note(Change::Timer(id));
        }
        there
    }

    /// What happened during the last advance, in order of time.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// A timer, if it runs.
    #[must_use]
    pub fn timer(&self, id: TimerId) -> Option<&Timer> {
        self.timers.get(id.0 as usize)?.as_ref()
    }

    /// All timers.
    pub fn timers(&self) -> impl Iterator<Item = (TimerId, &Timer)> {
        self.timers.iter().enumerate().filter_map(|(k, t)| Some((TimerId(k as u32), t.as_ref()?)))
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
        if let Some(timer) = self.world.timers.get_mut(id.0 as usize).and_then(Option::as_mut) {
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
