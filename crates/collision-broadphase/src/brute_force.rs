//! Every box against every other: the oracle, and the right choice for a handful of boxes.
//!
//! # Reference
//! Definition of the seam [`BroadPhase`]; with `test_boxes` off, broad phase "switched off" as in Fontijne
//! (2000), section 2.6: all pairs go to the narrow phase.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `n` | number of boxes |
//!
//! # Formula
//! ```text
//! (i, j) is a pair  ⇔  i or j moves  ∧  box_i ∩ box_j ≠ ∅
//! ```
//!
//! # Cost
//! O(n²) per list, O(n) per visit, no state but the boxes.
//!
//! # Numerics
//! Comparisons of the given numbers only: exact.
//!
//! # Failure
//! Errors of the seam only.
//!
//! # Tested by
//! `conformance` (kit of the seam); every other broad phase is tested against this one.

use crate::{changes::ReportedPairs, proxies::Proxies};
use sim_math::Aabb;
use sim_traits::{BroadPhase, BroadPhaseError, Pair, PairChanges, ProxyId, ProxyKind, Ray};
use std::ops::ControlFlow;

/// Tests all pairs. Lists are in ascending order of (a, b), visits in ascending order of slots.
#[derive(Debug, Clone)]
pub struct BruteForce {
    proxies: Proxies,
    slots: Vec<u32>,
    reported: ReportedPairs,
    test_boxes: bool,
}

impl Default for BruteForce {
    fn default() -> Self {
        Self {
            proxies: Proxies::default(),
            slots: Vec::new(),
            reported: ReportedPairs::default(),
            test_boxes: true,
        }
    }
}

impl BruteForce {
    /// The broad phase "switched off": every pair that contains a moving box is reported, wherever it is.
    #[must_use]
    pub fn all_pairs() -> Self {
        Self { test_boxes: false, ..Self::default() }
    }
}

fn list_pairs(proxies: &Proxies, test_boxes: bool, out: &mut Vec<Pair>) {
    out.clear();
    let n = proxies.slots() as u32;
    for a in proxies.live() {
        for b in (a + 1)..n {
            if proxies.is_live(b) && proxies.may_pair(a, b) && (!test_boxes || proxies.overlap(a, b)) {
                out.push(proxies.pair(a, b));
            }
        }
    }
}

impl BroadPhase for BruteForce {
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
        self.proxies.insert(id, kind, aabb).map(drop)
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
        let (slot, _) = self.proxies.remove(id)?;
        self.proxies.release(slot);
        Ok(())
    }

    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        self.proxies.resolve(ids, boxes, &mut self.slots)?;
        for (&slot, aabb) in self.slots.iter().zip(boxes) {
            self.proxies.boxes[slot as usize] = *aabb;
        }
        Ok(())
    }

    fn pairs(&mut self, out: &mut Vec<Pair>) {
        list_pairs(&self.proxies, self.test_boxes, out);
        out.sort_unstable();
    }

    fn pair_changes(&mut self, out: &mut PairChanges) {
        self.reported.report(out, |list| list_pairs(&self.proxies, self.test_boxes, list));
    }

    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        scan_box(&self.proxies, aabb, visit);
    }

    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
        scan_ray(&self.proxies, ray, visit);
    }

    fn len(&self) -> usize {
        self.proxies.len()
    }

    fn is_exact(&self) -> bool {
        self.test_boxes
    }
}

/// Box visit by looking at every box.
pub(crate) fn scan_box(proxies: &Proxies, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
    for slot in proxies.live() {
        let s = slot as usize;
        if proxies.boxes[s].overlaps(aabb) && visit(proxies.ids[s]).is_break() {
            return;
        }
    }
}

/// Ray visit by looking at every box.
pub(crate) fn scan_ray(proxies: &Proxies, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
    let mut t_max = ray.t_max;
    for slot in proxies.live() {
        let s = slot as usize;
        if proxies.boxes[s].ray_interval(ray.origin, ray.direction, t_max).is_some() {
            t_max = t_max.min(visit(proxies.ids[s]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::glam::DVec3;

    #[test]
    fn switched_off_it_reports_all_pairs_with_a_moving_box() {
        let mut all = BruteForce::all_pairs();
        for n in 0..6 {
            let kind = if n < 2 { ProxyKind::Fixed } else { ProxyKind::Moving };
            all.insert(
                ProxyId(n),
                kind,
                &Aabb::from_center_half_extents(DVec3::X * 9.0 * f64::from(n), DVec3::ONE),
            )
            .unwrap();
        }
        let mut pairs = Vec::new();
        all.pairs(&mut pairs);
        assert_eq!(pairs.len(), 14);
        assert!(!all.is_exact());
    }
}
