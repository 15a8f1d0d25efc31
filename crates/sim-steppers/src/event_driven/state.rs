//! What the event loop reads and writes, by concern. Functions of this module take the structs that they need, and no others.

use super::{
    boxes::Boxes,
    lend::Lent,
    pairs::PairTable,
    params::{EventDrivenParams, Scaled},
    phase::Phase,
    respond::Outcome,
    sleep::Sleep,
    stepper::Item,
    strike::Strike,
};
use crate::{parts::Parts, scale::Scale};
use rigid_impulse::{BodyState, EventId, EventQueue};
use sim_traits::{Manifold, Pair};
use sim_world::{ControllerId, EventKind, Mark, StepReport, TimerId};

/// What the user chose: parts and parameters.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) parts: Parts,
    /// As given.
    pub(super) given: EventDrivenParams,
    /// Of the world that it knows.
    pub(super) scale: Scale,
    /// The same with lengths in metres.
    pub(super) params: Scaled,
}

impl Setup {
    pub(super) fn new(parts: Parts, given: EventDrivenParams) -> Self {
        let scale = Scale::default();
        Self { parts, given, scale, params: given.in_metres(&scale) }
    }

    /// Takes lengths that are not given from a scale.
    pub(super) fn set_scale(&mut self, scale: Scale) {
        self.scale = scale;
        self.params = self.given.in_metres(&scale);
    }
}

/// What is known of the world, and what is due when.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) queue: EventQueue<Item>,
    pub(super) pairs: PairTable,
    pub(super) boxes: Boxes,
    /// Dates of timers and controllers, by their slots.
    pub(super) timers: Vec<Option<(TimerId, EventId)>>,
    pub(super) controllers: Vec<Option<(ControllerId, EventId)>>,
    /// Ends of the pieces of clusters, by their number.
    pub(super) clusters: Vec<EventId>,
    /// Which numbering of clusters this is: [`World::clusters_found`](sim_world::World::clusters_found).
    pub(super) clusters_found: u64,
    /// Clusters with a body that the user pushed.
    pub(super) marked: Vec<u32>,
    /// The event of the first box that is left before the window ends.
    pub(super) leave: Option<EventId>,
    /// Pairs found by a renewed box that the broad phase has not reported yet.
    pub(super) extra: Vec<u32>,
    /// Ends of contacts, by pair, not listed yet.
    pub(super) pending: Vec<(Pair, EventKind)>,
    pub(super) sleep: Sleep,
    /// Mark of the world whose tables these are.
    pub(super) seen: Option<Mark>,
    /// Its time when it was last seen, s.
    pub(super) reached: f64,
    /// Scratch: pairs to drop.
    pub(super) gone: Vec<u32>,
}

/// How collisions are answered.
#[derive(Debug, Default)]
pub(super) struct Response {
    pub(super) phase: Phase,
    pub(super) strike: Strike,
    /// Energy that collision phases lent to bodies.
    pub(super) lent: Lent,
    /// Scratch: impulses of the present collision, manifolds, states.
    pub(super) outcome: Outcome,
    pub(super) manifolds: Vec<Manifold>,
    pub(super) states: Vec<BodyState>,
}

/// What is told of a run.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) report: StepReport,
    /// Number of the advance, for sums of impulses.
    pub(super) advances: u64,
}
