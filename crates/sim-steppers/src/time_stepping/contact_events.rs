//! Contact events, contact forces, sensors.

use super::{
    candidate::Candidate,
    state::{Books, Detection, Setup},
};
pub(super) use crate::push::Push;
use sim_math::glam::DVec3;
use sim_world::{Contact, Event, Rest, StepperAccess};

/// A pair that has exerted nothing yet.
pub(super) const NONE: u32 = u32::MAX;

/// What pairs exert on each other: apart from all else that is known of them and close together, because every step goes through it.
#[derive(Debug, Default)]
pub(super) struct Exerted {
    /// The advance of the last impulse, and the contact.
    all: Vec<(u64, Contact)>,
    /// Places of pairs that are gone.
    holes: Vec<u32>,
}

impl Exerted {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.holes.clear();
    }

    /// Of a pair, with the advance in which it was exerted.
    #[cfg(feature = "serde")]
    pub(super) fn of(&self, pair: &Candidate) -> Option<(u64, Contact)> {
        self.all.get(pair.record as usize).copied()
    }

    /// Takes what is known of a pair from elsewhere.
    pub(super) fn put(&mut self, pair: &mut Candidate, known: (u64, Contact)) {
        match self.all.get_mut(pair.record as usize) {
            Some(place) => *place = known,
            None => match self.holes.pop() {
                Some(hole) => {
                    self.all[hole as usize] = known;
                    pair.record = hole;
                }
                None => {
                    pair.record = self.all.len() as u32;
                    self.all.push(known);
                }
            },
        }
    }

    /// Takes leave of a pair.
    pub(super) fn release(&mut self, pair: &Candidate) {
        if pair.record != NONE {
            self.holes.push(pair.record);
        }
    }

    /// Adds an impulse to what a pair exerted in this advance.
    pub(super) fn add(&mut self, pair: &mut Candidate, advance: u64, push: &Push, time: f64) {
        pair.pushed |= push.impulse != DVec3::ZERO;
        if pair.record == NONE {
            let [a, b] = pair.rest.names;
            let Push { point, normal, separation, .. } = *push;
            let nothing = Contact { a, b, point, normal, separation, impulse: DVec3::ZERO, count: 0, time };
            self.put(pair, (advance, nothing));
        }
        let Some((last, contact)) = self.all.get_mut(pair.record as usize) else { return };
        if *last != advance {
            (*last, contact.impulse, contact.count) = (advance, DVec3::ZERO, 0);
        }
        (contact.point, contact.normal, contact.separation) = (push.point, push.normal, push.separation);
        contact.impulse += push.impulse;
        contact.count += 1;
        contact.time = time;
    }
}

/// After a step: contacts that ended, sensors entered and left.
pub(super) fn record(setup: &Setup, found: &mut Detection, books: &mut Books, world: &mut StepperAccess<'_>) {
    let time = world.time();
    for kind in found.detect.pending.drain(..) {
        world.list(Event { time, kind });
    }
    let sleeps =
        |slot: u32| world.body_in_slot(slot).is_some_and(|(_, b)| b.rest() == Rest::Asleep || b.is_fixed());
    books.begun.clear();
    for pair in &mut found.detect.candidates {
        if setup.params.sleep.is_some() && pair.bodies.into_iter().all(sleeps) {
            continue;
        }
        let touching = if pair.sensor.is_some() {
            pair.distance <= 0.0
        } else {
            pair.pushed || (pair.touching && pair.distance <= setup.params.touch)
        };
        pair.pushed = false;
        if touching != pair.touching {
            pair.touching = touching;
            books.begun.push(pair.event(touching));
        }
    }
    books.begun.drain(..).for_each(|kind| world.list(Event { time, kind }));
}

/// Fills the world's list of contacts: in the order of pairs, which is that of colliders.
pub(super) fn list_contacts(found: &Detection, books: &Books, world: &mut StepperAccess<'_>) {
    let list = world.contacts_mut();
    list.clear();
    for pair in found.detect.candidates.iter().filter(|p| p.touching && p.sensor.is_none()) {
        let Some((last, contact)) = found.detect.exerted.all.get(pair.record as usize) else { continue };
        list.push(*contact);
        if *last != books.advances {
            list.last_mut().into_iter().for_each(|c| (c.impulse, c.count) = (DVec3::ZERO, 0));
        }
    }
    debug_assert!(list.is_sorted_by_key(|c| (c.a.index(), c.b.index())));
}

/// Timers that are due until a time.
pub(super) fn fire_timers(books: &mut Books, world: &mut StepperAccess<'_>, until: f64) {
    let mut due = std::mem::take(&mut books.due);
    loop {
        // All that are due once; those with a period shorter than the step are due again.
        let dates = world.timers().map(|(id, timer)| (timer.next(), id)).filter(|(date, _)| *date <= until);
        due.clear();
        due.extend(dates);
        due.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        if due.is_empty() {
            break;
        }
        // As long as nobody is due twice.
        let again = |id| world.timer(id).map_or(f64::INFINITY, |t| t.next() + t.period);
        let together = due.iter().map(|(_, id)| again(*id)).fold(f64::INFINITY, f64::min);
        for (k, &(date, id)) in due.iter().enumerate() {
            if k == 0 || date < together {
                world.fire_timer(id, date);
                books.report.events += 1;
            }
        }
    }
    books.due = due;
}
