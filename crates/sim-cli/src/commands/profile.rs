//! Where the time goes: parts that watch a clock.
//!
//! Detection is what the broad and the narrow phase take, response what the impact law takes; both include about 40 ns a
//! call for the clock. Control is measured by the run. Dynamics is the rest: motion of bodies, bounds, the event queue.

use sim_core::steppers::Parts;
use sim_math::{Aabb, Pose, glam::DVec3};
use sim_traits::{
    BroadPhase, BroadPhaseError, Impact, ImpactError, ImpactLaw, Manifold, NarrowPhase, NarrowPhaseError,
    Pair, PairCache, PairChanges, ProxyId, ProxyKind, Ray, Separation, Shape,
};
use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Nanoseconds and calls.
#[derive(Debug, Default)]
pub struct Meter {
    nanos: AtomicU64,
    calls: AtomicU64,
}

impl Meter {
    fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let out = work();
        self.nanos.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        self.calls.fetch_add(1, Relaxed);
        out
    }

    /// Time so far.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Relaxed))
    }

    /// Calls so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }
}

/// Meters of all parts.
#[derive(Debug, Clone, Default)]
pub struct Meters {
    /// Watch the clock.
    pub clock: bool,
    /// Broad phase.
    pub broad: Arc<Meter>,
    /// Narrow phase.
    pub narrow: Arc<Meter>,
    /// Impact law.
    pub impact: Arc<Meter>,
}

impl Meters {
    /// The parts, each with its meter.
    #[must_use]
    pub fn wrap(&self, mut parts: Parts) -> Parts {
        if !self.clock {
            return parts;
        }
        parts.broad_phase = Box::new(Metered { part: parts.broad_phase, meter: self.broad.clone() });
        parts.narrow_phase = Box::new(Metered { part: parts.narrow_phase, meter: self.narrow.clone() });
        parts.impact_law = Box::new(Metered { part: parts.impact_law, meter: self.impact.clone() });
        parts
    }
}

#[derive(Debug)]
struct Metered<T: ?Sized> {
    meter: Arc<Meter>,
    part: Box<T>,
}

impl BroadPhase for Metered<dyn BroadPhase> {
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
        self.meter.time(|| self.part.insert(id, kind, aabb))
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
        self.meter.time(|| self.part.remove(id))
    }

    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        self.meter.time(|| self.part.update(ids, boxes))
    }

    fn pairs(&mut self, out: &mut Vec<Pair>) {
        self.meter.time(|| self.part.pairs(out));
    }

    fn pair_changes(&mut self, out: &mut PairChanges) {
        self.meter.time(|| self.part.pair_changes(out));
    }

    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        self.meter.time(|| self.part.visit_box(aabb, visit));
    }

    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
        self.meter.time(|| self.part.visit_ray(ray, visit));
    }

    fn len(&self) -> usize {
        self.part.len()
    }

    fn is_exact(&self) -> bool {
        self.part.is_exact()
    }
}

impl NarrowPhase for Metered<dyn NarrowPhase> {
    fn separation(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        cache: &mut PairCache,
    ) -> Result<Separation, NarrowPhaseError> {
        self.meter.time(|| self.part.separation(a, b, a_from_b, cache))
    }

    fn manifolds(
        &self,
        a: &Shape,
        b: &Shape,
        a_from_b: &Pose,
        margin: f64,
        cache: &mut PairCache,
        out: &mut Vec<Manifold>,
    ) -> Result<(), NarrowPhaseError> {
        self.meter.time(|| self.part.manifolds(a, b, a_from_b, margin, cache, out))
    }
}

impl ImpactLaw for Metered<dyn ImpactLaw> {
    fn impulse(&self, impact: &Impact) -> Result<DVec3, ImpactError> {
        self.meter.time(|| self.part.impulse(impact))
    }
}
