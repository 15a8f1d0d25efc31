//! Contact events, contact forces, sensors.

use super::{stepper::TimeStepping, watched::Watched};
use sim_math::glam::DVec3;
use sim_world::{Collision, Contact, Event, Rest, World};

impl Watched {
    /// Adds an impulse to what the pair exerted in this advance.
    pub(super) fn exert(&mut self, advance: u64, collision: &Collision, time: f64) {
        self.pushed |= collision.impulse != DVec3::ZERO;
        let (impulse, count) = match &self.rest.contact {
            Some((last, contact)) if *last == advance => (contact.impulse, contact.count),
            _ => (DVec3::ZERO, 0),
        };
        let contact = Contact {
            a: collision.a,
            b: collision.b,
            point: collision.point,
            normal: collision.normal,
            separation: collision.separation,
            impulse: impulse + collision.impulse,
            count: count + 1,
            time,
        };
        self.rest.contact = Some((advance, contact));
    }
}

impl TimeStepping {
    /// After a step: contacts that ended, sensors entered and left.
    pub(super) fn notice(&mut self, world: &mut World) {
        let time = world.time();
        for kind in self.detect.pending.drain(..) {
            world.list(Event { time, kind });
        }
        let sleeps = |slot: u32| {
            world.body_in_slot(slot).is_some_and(|(_, b)| b.rest() == Rest::Asleep || b.is_fixed())
        };
        self.begun.clear();
        for pair in &mut self.detect.watched {
            if self.params.sleep.is_some() && pair.bodies.into_iter().all(sleeps) {
                continue;
            }
            let touching = if pair.sensor.is_some() {
                pair.distance <= 0.0
            } else {
                pair.pushed || (pair.touching && pair.distance <= self.params.touch)
            };
            pair.pushed = false;
            if touching != pair.touching {
                pair.touching = touching;
                self.begun.push(pair.notice(touching));
            }
        }
        self.begun.drain(..).for_each(|kind| world.list(Event { time, kind }));
    }

    /// Fills the world's list of contacts.
    pub(super) fn list_contacts(&self, world: &mut World) {
        let (advance, list) = (self.advances, world.contacts_mut());
        list.clear();
        let in_contact = self.detect.watched.iter().filter(|p| p.touching && p.sensor.is_none());
        list.extend(in_contact.filter_map(|pair| {
            let (last, mut contact) = pair.rest.contact?;
            if last != advance {
                (contact.impulse, contact.count) = (DVec3::ZERO, 0);
            }
            Some(contact)
        }));
        list.sort_unstable_by_key(|c| (c.a.index(), c.b.index()));
    }
}
