//! A broad phase of one's own in sixty lines, and the conformance kit that judges it.
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use sim_math::Aabb;
use sim_traits::{
    BroadPhase, BroadPhaseError, Pair, PairChanges, ProxyId, ProxyKind, Ray,
    testkit::broad_phase::{Effort, conformance},
};
use std::{collections::BTreeMap, ops::ControlFlow};

/// Every box in a sorted map; every question looks at all of them.
#[derive(Debug, Default)]
struct SortedMap {
    boxes: BTreeMap<ProxyId, (ProxyKind, Aabb)>,
    reported: Vec<Pair>,
}

impl BroadPhase for SortedMap {
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
        BroadPhaseError::check_box(id, aabb)?;
        if self.boxes.contains_key(&id) {
            return Err(BroadPhaseError::Duplicate { id });
        }
        self.boxes.insert(id, (kind, *aabb));
        Ok(())
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
        self.boxes.remove(&id).map(drop).ok_or(BroadPhaseError::Unknown { id })
    }

    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        if ids.len() != boxes.len() {
            return Err(BroadPhaseError::BatchLength { ids: ids.len(), boxes: boxes.len() });
        }
        for (&id, aabb) in ids.iter().zip(boxes) {
            BroadPhaseError::check_box(id, aabb)?;
            self.boxes.get(&id).ok_or(BroadPhaseError::Unknown { id })?;
        }
        for (id, aabb) in ids.iter().zip(boxes) {
            self.boxes.entry(*id).and_modify(|entry| entry.1 = *aabb);
        }
        Ok(())
    }

    fn pairs(&mut self, out: &mut Vec<Pair>) {
        out.clear();
        for (&a, (kind_a, box_a)) in &self.boxes {
            for (&b, (kind_b, box_b)) in self.boxes.range(..a) {
                if (*kind_a, *kind_b) != (ProxyKind::Fixed, ProxyKind::Fixed) && box_a.overlaps(box_b) {
                    out.push(Pair::new(a, b));
                }
            }
        }
    }

    fn pair_changes(&mut self, out: &mut PairChanges) {
        let mut now = Vec::new();
        self.pairs(&mut now);
        out.begun = now.iter().filter(|p| !self.reported.contains(p)).copied().collect();
        out.ended = self.reported.iter().filter(|p| !now.contains(p)).copied().collect();
        self.reported = now;
    }

    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        let _ = self.boxes.iter().filter(|(_, b)| b.1.overlaps(aabb)).try_for_each(|(&id, _)| visit(id));
    }

    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
        let mut t_max = ray.t_max;
        for (&id, (_, aabb)) in &self.boxes {
            if aabb.ray_interval(ray.origin, ray.direction, t_max).is_some() {
                t_max = t_max.min(visit(id));
            }
        }
    }

    fn len(&self) -> usize {
        self.boxes.len()
    }

    fn is_exact(&self) -> bool {
        true
    }
}

fn main() -> Result<(), String> {
    let effort = Effort::default();
    conformance(&mut || Box::new(SortedMap::default()), &effort)?;
    println!("SortedMap conforms: {} scripts of {} calls each.", effort.scripts, effort.calls);

    let mut broad = SortedMap::default();
    let bad = Aabb { min: sim_math::glam::DVec3::ONE, max: sim_math::glam::DVec3::ZERO };
    if let Err(error) = broad.insert(ProxyId(7), ProxyKind::Moving, &bad) {
        println!("An inverted box is refused: {error}");
    }
    Ok(())
}
