//! Dynamic tree: box trees that are refitted as boxes move and rebuilt when they have become poor.
//!
//! # Reference
//! The tree is [`sim_math::box_tree`]: incremental insertion by surface area with rotations, refit, rebuild.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | cost | summed surface area of inner boxes over that of the root | - |
//!
//! # Formula
//! ```text
//! few boxes moved (under 1 / 8):  each is given its new box, from the leaf upwards
//! many moved:                     one refit of the whole tree
//! cost > 1.5 cost after the last rebuild:  rebuild, looked at every 16 refits
//! ```
//!
//! # Cost
//! O(n) per refit, O(n + visited node pairs) per list. Box and ray visits O(log n + hits), which is what this
//! broad phase is best at.
//!
//! # Numerics
//! Comparisons of the given numbers only: exact.
//!
//! # Failure
//! Errors of the seam only.
//!
//! # Tested by
//! `dynamic_tree_conforms`, `all_equal_brute_force_on_moving_scenes`.

use crate::{
    brute_force::scan_ray,
    changes::ReportedPairs,
    proxies::{Proxies, Tenant},
};
use sim_math::{Aabb, box_tree::BoxTree};
use sim_traits::{BroadPhase, BroadPhaseError, Pair, PairChanges, ProxyId, ProxyKind, Ray};
use std::ops::ControlFlow;

/// Trees of moving and of fixed boxes. Lists in the order of a walk through the trees, changes ascending.
#[derive(Debug, Clone, Default)]
pub struct DynamicTree {
    proxies: Proxies,
    moving: BoxTree,
    fixed: BoxTree,
    slots: Vec<u32>,
    reported: ReportedPairs,
    refits: u32,
    inserted: usize,
    built_cost: f64,
}

impl DynamicTree {
    fn tree(&mut self, slot: u32) -> &mut BoxTree {
        if self.proxies.is_fixed(slot) { &mut self.fixed } else { &mut self.moving }
    }

    /// Rebuilds the tree of moving boxes if refits have made it poor, or if most of it was inserted singly.
    fn care(&mut self) {
        self.refits += 1;
        let grown = self.inserted > self.moving.len() / 2;
        if !grown && self.refits % 16 != 0 {
            return;
        }
        if grown || self.moving.cost() > 1.5 * self.built_cost {
            self.moving.rebuild();
            self.built_cost = self.moving.cost();
            self.inserted = 0;
        }
    }
}

fn list_pairs(proxies: &Proxies, moving: &BoxTree, fixed: &BoxTree, out: &mut Vec<Pair>) {
    out.clear();
    let mut push = |a: u32, b: u32| {
        out.push(proxies.pair(a, b));
        ControlFlow::Continue(())
    };
    let _ = moving.visit_pairs(&mut push);
    let _ = moving.visit_pairs_with(fixed, &mut push);
}

impl BroadPhase for DynamicTree {
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
        let slot = self.proxies.insert(id, kind, aabb)?;
        let inserted = self.tree(slot).insert(slot, *aabb);
        debug_assert!(inserted.is_ok(), "{inserted:?}");
        self.inserted += usize::from(kind == ProxyKind::Moving);
        Ok(())
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
        let (slot, tenant) = self.proxies.remove(id)?;
        let tree = if tenant == Tenant::Fixed { &mut self.fixed } else { &mut self.moving };
        let removed = tree.remove(slot);
        debug_assert!(removed.is_ok(), "{removed:?}");
        self.proxies.release(slot);
        Ok(())
    }

    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        let mut slots = std::mem::take(&mut self.slots);
        let checked = self.proxies.resolve(ids, boxes, &mut slots);
        if checked.is_ok() {
            let many = slots.len() > self.moving.len() / 8;
            for (&slot, aabb) in slots.iter().zip(boxes) {
                self.proxies.boxes[slot as usize] = *aabb;
                if !many || self.proxies.is_fixed(slot) {
                    let set = self.tree(slot).set_box(slot, *aabb);
                    debug_assert!(set.is_ok(), "{set:?}");
                }
            }
            if many {
                let all = &self.proxies.boxes;
                let refitted = self.moving.refit_all(|slot| all[slot as usize]);
                debug_assert!(refitted.is_ok(), "{refitted:?}");
                self.care();
            }
        }
        self.slots = slots;
        checked
    }

    fn pairs(&mut self, out: &mut Vec<Pair>) {
        list_pairs(&self.proxies, &self.moving, &self.fixed, out);
    }

    fn pair_changes(&mut self, out: &mut PairChanges) {
        let Self { proxies, moving, fixed, reported, .. } = self;
        reported.report(out, |list| list_pairs(proxies, moving, fixed, list));
    }

    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        let mut offer = |slot: u32| visit(self.proxies.ids[slot as usize]);
        if self.moving.visit_overlaps(aabb, &mut offer).is_continue() {
            let _ = self.fixed.visit_overlaps(aabb, &mut offer);
        }
    }

    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
        let mut offer = |slot: u32, _: f64, _: f64| visit(self.proxies.ids[slot as usize]);
        let after = self.moving.visit_ray(ray.origin, ray.direction, ray.t_max, &mut offer);
        match after {
            Ok(t_max) if t_max >= 0.0 => {
                let _ = self.fixed.visit_ray(ray.origin, ray.direction, t_max, &mut offer);
            }
            Ok(_) => {}
            // The tree refuses rays that are not finite; the definition of the seam still has an answer.
            Err(_) => scan_ray(&self.proxies, ray, visit),
        }
    }

    fn len(&self) -> usize {
        self.proxies.len()
    }

    fn is_exact(&self) -> bool {
        true
    }
}
