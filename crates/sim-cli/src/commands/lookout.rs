//! What the broad phase is told and what it reports, seen from outside: for the boxes and pairs of a recording.

use sim_core::steppers::Parts;
use sim_math::Aabb;
use sim_traits::{BroadPhase, BroadPhaseError, Pair, PairChanges, ProxyId, ProxyKind, Ray};
use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

/// Boxes by proxy, and the pairs of the last report.
#[derive(Debug, Default)]
pub struct Seen {
    /// Box of each proxy, by its number.
    pub boxes: Vec<Option<Aabb>>,
    /// Pairs that overlap, as the broad phase said at its last report.
    pub pairs: BTreeSet<Pair>,
}

impl Seen {
    fn put(&mut self, id: ProxyId, aabb: Option<Aabb>) {
        let slot = id.0 as usize;
        if self.boxes.len() <= slot {
            self.boxes.resize(slot + 1, None);
        }
        self.boxes[slot] = aabb;
    }
}

/// Looks over the shoulder of a broad phase.
#[derive(Debug, Clone, Default)]
pub struct Lookout(Arc<Mutex<Seen>>);

impl Lookout {
    /// The parts with a broad phase that is watched. Its results are the same.
    #[must_use]
    pub fn wrap(&self, mut parts: Parts) -> Parts {
        parts.broad_phase = Box::new(Recorded { part: parts.broad_phase, seen: self.clone() });
        parts
    }

    /// Reads what was seen so far.
    pub fn read<T>(&self, look: impl FnOnce(&Seen) -> T) -> T {
        look(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[derive(Debug)]
struct Recorded {
    part: Box<dyn BroadPhase>,
    seen: Lookout,
}

impl BroadPhase for Recorded {
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
        self.part.insert(id, kind, aabb)?;
        self.seen.write(|seen| seen.put(id, Some(*aabb)));
        Ok(())
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
        self.part.remove(id)?;
        self.seen.write(|seen| seen.put(id, None));
        Ok(())
    }

    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        self.part.update(ids, boxes)?;
        self.seen.write(|seen| ids.iter().zip(boxes).for_each(|(&id, aabb)| seen.put(id, Some(*aabb))));
        Ok(())
    }

    fn pairs(&mut self, out: &mut Vec<Pair>) {
        let before = out.len();
        self.part.pairs(out);
        let all = out.get(before..).unwrap_or_default().iter().copied().collect();
        self.seen.write(|seen| seen.pairs = all);
    }

    fn pair_changes(&mut self, out: &mut PairChanges) {
        self.part.pair_changes(out);
        self.seen.write(|seen| {
            for pair in &out.ended {
                seen.pairs.remove(pair);
            }
            seen.pairs.extend(out.begun.iter().copied());
        });
    }

    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        self.part.visit_box(aabb, visit);
    }

    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
        self.part.visit_ray(ray, visit);
    }

    fn len(&self) -> usize {
        self.part.len()
    }

    fn is_exact(&self) -> bool {
        self.part.is_exact()
    }
}
