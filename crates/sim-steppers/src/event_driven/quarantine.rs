//! Bodies whose state stops being finite: frozen and reported, while the rest goes on.
//!
//! A user's force, script or impact law can be NaN; numbers can overflow. The error that names the body is caught at the
//! time of the event: the body is frozen at its last finite state, without contacts, the tables are built afresh, and
//! the advance goes on. A body is frozen once, so there are at most as many new beginnings as bodies.

use super::{pairs::ActivePair, stepper::EventDriven};
use sim_traits::{BodyId, ColliderId, NarrowPhaseError, Pair};
use sim_world::{Contact, EventKind, PairName, Rest, StepError, World};

/// A contact, or what is inside a sensor: how it is called, the event of its end, and what it exerted.
#[derive(Debug)]
struct Lasting {
    key: Pair,
    names: [ColliderId; 2],
    end: EventKind,
    contact: Option<(u64, Contact)>,
}

/// The free body that an error blames, if a state that is not finite is behind it.
fn culprit(world: &World, error: &StepError, time: f64) -> Option<BodyId> {
    let free = |id: &BodyId| world.get(*id).is_some_and(|b| b.is_free() && b.rest() != Rest::Quarantined);
    let broken = |pair: &PairName| {
        pair.bodies.into_iter().filter(free).find(|id| {
            !world.get(*id).is_some_and(|b| {
                b.piece().at(time).is_ok_and(|s| s.pose().is_finite() && s.velocity.linear.is_finite())
            })
        })
    };
    match error {
        StepError::Body { body, .. } => Some(*body).filter(free),
        StepError::NarrowPhase { pair, source }
            if matches!(**source, NarrowPhaseError::NonFinitePose { .. }) =>
        {
            broken(pair)
        }
        StepError::Contact { pair, .. } | StepError::Impact { pair, .. } => broken(pair),
        _ => None,
    }
}

impl EventDriven {
    /// Runs to `target` (s); bodies that stop being finite are left behind.
    pub(super) fn run_guarded(&mut self, world: &mut World, target: f64) -> Result<(), (f64, StepError)> {
        loop {
            let (time, error) = match self.run(world, target) {
                Ok(()) => match world.set_time_by(self.parts.executor.as_ref(), target) {
                    Ok(()) => return Ok(()),
                    Err(error) => (target, crate::errors::of_world(error)),
                },
                Err(stopped) => stopped,
            };
            let Some(body) = culprit(world, &error, time) else { return Err((time, error)) };
            world.quarantine(body, time).map_err(|_| (time, error))?;
            self.report.quarantined += 1;
            // The others stay on their pieces; there may be more of the same kind.
            while let Err(error) = world.set_time_by(self.parts.executor.as_ref(), time) {
                let error = crate::errors::of_world(error);
                let Some(body) = culprit(world, &error, time) else { return Err((time, error)) };
                world.quarantine(body, time).map_err(|_| (time, error))?;
                self.report.quarantined += 1;
            }
            let lasting = self.lasting();
            self.seen = None;
            self.sync(world).map_err(|error| (time, error))?;
            self.go_on(lasting);
        }
    }

    /// Contacts, and what is inside sensors.
    fn lasting(&self) -> Vec<Lasting> {
        let of =
            |p: &ActivePair| Lasting { key: p.key, names: p.names, end: p.notice(false), contact: p.contact };
        self.pairs.iter().filter(|(_, p)| p.touching).map(|(_, p)| of(p)).collect()
    }

    /// Contacts outlast new tables: they have begun already. Those that are gone have ended.
    fn go_on(&mut self, lasting: Vec<Lasting>) {
        for Lasting { key, names, end, contact } in lasting {
            let slot = self.pairs.find(key);
            match slot.and_then(|slot| self.pairs.get_mut(slot)).filter(|pair| pair.names == names) {
                Some(pair) => (pair.touching, pair.contact) = (true, contact),
                None => self.pending.push((key, end)),
            }
        }
    }
}
