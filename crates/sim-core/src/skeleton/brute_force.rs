//! Broad phase that compares every box with every other: slow, obvious, the measure of all others.

use sim_math::Aabb;
use sim_traits::{BroadPhase, BroadPhaseError, Pair, PairChanges, ProxyId, ProxyKind, Ray};
use std::ops::ControlFlow;

/// A list of boxes. Pairs and visits come in ascending order of ids.
#[derive(Debug, Clone, Default)]
pub struct BruteForce {
    slots: Vec<Option<(ProxyKind, Aabb)>>,
    len: usize,
    reported: Vec<Pair>,
    current: Vec<Pair>,
}

impl BruteForce {
    fn present(&self) -> impl Iterator<Item = (ProxyId, ProxyKind, &Aabb)> {
        (0..)
            .zip(&self.slots)
            .filter_map(|(i, slot)| slot.as_ref().map(|(kind, aabb)| (ProxyId(i), *kind, aabb)))
    }

    fn slot(&mut self, id: ProxyId) -> Result<&mut (ProxyKind, Aabb), BroadPhaseError> {
        self.slots.get_mut(id.index()).and_then(Option::as_mut).ok_or(BroadPhaseError::Unknown { id })
    }
}

impl BroadPhase for BruteForce {
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
        BroadPhaseError::check_box(id, aabb)?;
        if self.slot(id).is_ok() {
            return Err(BroadPhaseError::Duplicate { id });
        }
        if self.slots.len() <= id.index() {
            self.slots.resize(id.index() + 1, None);
        }
        self.slots[id.index()] = Some((kind, *aabb));
        self.len += 1;
        Ok(())
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
        self.slot(id)?;
        self.slots[id.index()] = None;
        self.len -= 1;
        Ok(())
    }

    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        if ids.len() != boxes.len() {
            return Err(BroadPhaseError::BatchLength { ids: ids.len(), boxes: boxes.len() });
        }
        for (&id, aabb) in ids.iter().zip(boxes) {
            BroadPhaseError::check_box(id, aabb)?;
            self.slot(id)?;
        }
        for (&id, aabb) in ids.iter().zip(boxes) {
            self.slot(id)?.1 = *aabb;
        }
        Ok(())
    }

    fn pairs(&mut self, out: &mut Vec<Pair>) {
        out.clear();
        for (a, kind_a, box_a) in self.present() {
            for (b, kind_b, box_b) in self.present().skip_while(|x| x.0 <= a) {
                if (kind_a == ProxyKind::Moving || kind_b == ProxyKind::Moving) && box_a.overlaps(box_b) {
                    out.push(Pair { a, b });
                }
            }
        }
    }

    fn pair_changes(&mut self, out: &mut PairChanges) {
        let mut current = std::mem::take(&mut self.current);
        self.pairs(&mut current);
        out.begun.clear();
        out.ended.clear();
        // Both lists ascend, so a pair is looked up by bisection.
        out.begun.extend(current.iter().filter(|p| self.reported.binary_search(p).is_err()));
        out.ended.extend(self.reported.iter().filter(|p| current.binary_search(p).is_err()));
        self.current = std::mem::replace(&mut self.reported, current);
    }

    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        let _ = self.present().filter(|x| x.2.overlaps(aabb)).try_for_each(|x| visit(x.0));
    }

    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
        let mut t_max = ray.t_max;
        for (id, _, aabb) in self.present() {
            if aabb.ray_interval(ray.origin, ray.direction, t_max).is_some() {
                t_max = t_max.min(visit(id));
            }
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn is_exact(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_traits::testkit::broad_phase::{Effort, conformance};

    #[test]
    fn brute_force_conforms() {
        conformance(&mut || Box::new(BruteForce::default()), &Effort::default()).unwrap();
    }
}
