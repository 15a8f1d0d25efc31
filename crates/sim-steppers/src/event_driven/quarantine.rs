//! Bodies whose state stops being finite: frozen and reported, while the rest goes on.
//!
//! A user's force, script or impact law can be NaN; numbers can overflow. The error that names the body is caught at the
//! time of the event: the body is frozen at its last finite state, without contacts, the tables are built afresh, and
//! the advance goes on. A body is frozen once, so there are at most as many new beginnings as bodies.

use super::{pairs::ActivePair, state::Tables};
use sim_traits::{BodyId, ColliderId, NarrowPhaseError, Pair};
use sim_world::{Contact, EventKind, PairName, Rest, StepError, World};

/// A contact, or what is inside a sensor: how it is called, the event of its end, and what it exerted.
#[derive(Debug)]
pub(super) struct Lasting {
    key: Pair,
    names: [ColliderId; 2],
    end: EventKind,
    contact: Option<(u64, Contact)>,
}

/// The free body that an error blames, if a state that is not finite is behind it.
pub(super) fn culprit(world: &World, error: &StepError, time: f64) -> Option<BodyId> {
    let free = |id: &BodyId| world.get(*id).is_some_and(|b| b.is_free() && b.rest() != Rest::Quarantined);
    let broken = |pair: &PairName| {
        pair.bodies.into_iter().filter(free).find(|id| {
            !world.get(*id).is_some_and(|b| {
                b.at(time).is_ok_and(|s| s.pose().is_finite() && s.velocity.linear.is_finite())
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

/// Contacts, and what is inside sensors.
pub(super) fn lasting(tables: &Tables) -> Vec<Lasting> {
    let of = |p: &ActivePair| Lasting { key: p.key, names: p.names, end: p.event(false), contact: p.contact };
    tables.pairs.iter().filter(|(_, p)| p.touching).map(|(_, p)| of(p)).collect()
}

/// Contacts outlast new tables: they have begun already. Those that are gone have ended.
pub(super) fn go_on(tables: &mut Tables, lasting: Vec<Lasting>) {
    for Lasting { key, names, end, contact } in lasting {
        let slot = tables.pairs.find(key);
        match slot.and_then(|slot| tables.pairs.get_mut(slot)).filter(|pair| pair.names == names) {
            Some(pair) => (pair.touching, pair.contact) = (true, contact),
            None => tables.pending.push((key, end)),
        }
    }
}
