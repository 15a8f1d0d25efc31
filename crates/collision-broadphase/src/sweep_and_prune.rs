//! Sweep and prune: box ends sorted on three axes, kept sorted by insertion as boxes move.
//!
//! # Reference
//! Baraff (1992) and Cohen et al. (1995), as the comparator of Mirtich (1996), section 2.4.4.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `End` | lower or upper end of a box on one axis |
//! | swap | an exchange of neighbouring ends in the insertion sort |
//!
//! # Formula
//! ```text
//! a lower end passes below an upper end:  the two may overlap now, test the boxes
//! an upper end passes below a lower end:  the two are apart
//! equal ends:  lower before upper, so that touching boxes overlap
//! ```
//! All boxes are changed before sorting, so the test at a swap sees the final boxes, and every pair whose
//! state changes has a swap that says so.
//!
//! # Cost
//! O(n + swaps) per update. Swaps are few for coherent motion without clusters, but O(n²) when many boxes share
//! an interval on an axis and tremble there, as dice on a floor do on the vertical axis.
//!
//! # Numerics
//! Comparisons of the given numbers only: exact.
//!
//! # Failure
//! Errors of the seam only.
//!
//! # Tested by
//! `sweep_and_prune_conforms`, `dice_on_a_floor_swap_on_the_vertical_axis`.

use crate::{
    brute_force::{scan_box, scan_ray},
    changes::ChangeLog,
    proxies::Proxies,
};
use sim_math::Aabb;
use sim_traits::{BroadPhase, BroadPhaseError, FixedMap, Pair, PairChanges, ProxyId, ProxyKind, Ray};
use std::ops::ControlFlow;

/// What a [`SweepAndPrune`] holds and has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepAndPruneReport {
    /// Swaps since construction, by axis.
    pub swaps: [u64; 3],
    /// Overlapping pairs.
    pub pairs: usize,
}

/// End of a box; the lowest bit of `slot_and_side` is 1 for the upper end.
#[derive(Debug, Clone, Copy)]
struct End {
    value: f64,
    slot_and_side: u32,
}

impl End {
    #[inline]
    fn slot(self) -> u32 {
        self.slot_and_side >> 1
    }

    #[inline]
    fn is_upper(self) -> bool {
        self.slot_and_side & 1 == 1
    }

    /// True if `self` must stand before `other`.
    #[inline]
    fn before(self, other: Self) -> bool {
        self.value < other.value || (self.value <= other.value && !self.is_upper() && other.is_upper())
    }
}

/// Overlapping pairs of slots: dense, found by a map.
#[derive(Debug, Clone, Default)]
struct Pairs {
    list: Vec<(u32, u32)>,
    map: FixedMap<u64, u32>,
    log: ChangeLog,
}

impl Pairs {
    #[inline]
    fn key(a: u32, b: u32) -> u64 {
        (u64::from(a.min(b)) << 32) | u64::from(a.max(b))
    }

    fn add(&mut self, a: u32, b: u32, proxies: &Proxies) {
        let next = self.list.len() as u32;
        if *self.map.entry(Self::key(a, b)).or_insert(next) == next {
            self.list.push((a, b));
            self.log.push(proxies.pair(a, b), true);
        }
    }

    fn take(&mut self, a: u32, b: u32, proxies: &Proxies) {
        if let Some(at) = self.map.remove(&Self::key(a, b)) {
            self.log.push(proxies.pair(a, b), false);
            self.list.swap_remove(at as usize);
            if let Some(&(x, y)) = self.list.get(at as usize) {
                self.map.insert(Self::key(x, y), at);
            }
        }
    }
}

/// Sweep and prune. Pairs in order of discovery with the last moved into the place of one that ended; changes
/// ascending.
#[derive(Debug, Clone, Default)]
pub struct SweepAndPrune {
    proxies: Proxies,
    axes: [Vec<End>; 3],
    pairs: Pairs,
    slots: Vec<u32>,
    dead: Vec<u32>,
    /// Boxes that a sweep is inside of.
    open: Vec<u32>,
    /// Boxes at the last refresh, by slot: two that did not overlap then are no pair that could end.
    seen: Vec<Aabb>,
    fresh: usize,
    dirty: bool,
    report: SweepAndPruneReport,
}

impl SweepAndPrune {
    /// Counters and sizes.
    #[must_use]
    pub fn report(&self) -> SweepAndPruneReport {
        SweepAndPruneReport { pairs: self.pairs.list.len(), ..self.report }
    }

    fn refresh(&mut self) {
        if !std::mem::take(&mut self.dirty) {
            return;
        }
        self.pairs.log.begin_phase();
        self.bury();
        self.read_values();
        // Inserting many boxes one by one would be quadratic.
        if std::mem::take(&mut self.fresh) > 16 {
            self.sort_all();
        } else {
            for axis in 0..3 {
                self.insertion_sort(axis);
            }
        }
        self.seen.clone_from(&self.proxies.boxes);
    }

    /// Takes the ends of removed boxes out; their pairs are gone already.
    fn bury(&mut self) {
        if self.dead.is_empty() {
            return;
        }
        for ends in &mut self.axes {
            ends.retain(|e| self.proxies.is_live(e.slot()));
        }
        for slot in self.dead.drain(..) {
            self.proxies.release(slot);
        }
    }

    fn read_values(&mut self) {
        for (axis, ends) in self.axes.iter_mut().enumerate() {
            for e in ends {
                let aabb = &self.proxies.boxes[e.slot() as usize];
                e.value = if e.is_upper() { aabb.max[axis] } else { aabb.min[axis] };
            }
        }
    }

    fn insertion_sort(&mut self, axis: usize) {
        let Self { proxies, axes, pairs, seen, report, .. } = self;
        let were_apart = |a: u32, b: u32| match (seen.get(a as usize), seen.get(b as usize)) {
            (Some(a), Some(b)) => !a.overlaps(b),
            _ => true,
        };
        let ends = &mut axes[axis];
        for i in 1..ends.len() {
            let end = ends[i];
            // Most ends stand right: nothing is prepared for them.
            if !end.before(ends[i - 1]) {
                continue;
            }
            let mut j = i;
            while j > 0 && end.before(ends[j - 1]) {
                let other = ends[j - 1];
                ends[j] = other;
                j -= 1;
                match (end.is_upper(), other.is_upper()) {
                    (false, true) => {
                        let (a, b) = (end.slot(), other.slot());
                        if a != b && proxies.may_pair(a, b) && proxies.overlap(a, b) {
                            pairs.add(a, b, proxies);
                        }
                    }
                    (true, false) if were_apart(end.slot(), other.slot()) => {}
                    (true, false) => pairs.take(end.slot(), other.slot(), proxies),
                    _ => {}
                }
            }
            report.swaps[axis] += (i - j) as u64;
            ends[j] = end;
        }
    }

    /// Sorts from scratch and finds all pairs by a sweep along x.
    fn sort_all(&mut self) {
        for ends in &mut self.axes {
            ends.sort_by(|a, b| {
                // Two zeros of different sign are equal, as everywhere else.
                (a.value + 0.0)
                    .total_cmp(&(b.value + 0.0))
                    .then(a.is_upper().cmp(&b.is_upper()))
                    .then(a.slot().cmp(&b.slot()))
            });
        }
        let Self { proxies, axes, pairs, open, .. } = self;
        let mut i = 0;
        while let Some(&(a, b)) = pairs.list.get(i) {
            if proxies.overlap(a, b) {
                i += 1;
            } else {
                pairs.take(a, b, proxies);
            }
        }
        open.clear();
        for end in &axes[0] {
            let slot = end.slot();
            if end.is_upper() {
                if let Some(at) = open.iter().position(|&s| s == slot) {
                    open.swap_remove(at);
                }
                continue;
            }
            for &other in open.iter() {
                if proxies.may_pair(slot, other) && proxies.overlap(slot, other) {
                    pairs.add(slot, other, proxies);
                }
            }
            open.push(slot);
        }
    }
}

impl BroadPhase for SweepAndPrune {
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
        let slot = self.proxies.insert(id, kind, aabb)?;
        for ends in &mut self.axes {
            for side in 0..2 {
                ends.push(End { value: f64::INFINITY, slot_and_side: (slot << 1) | side });
            }
        }
        self.fresh += 1;
        self.dirty = true;
        Ok(())
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
        let slot = self.proxies.slot(id).ok_or(BroadPhaseError::Unknown { id })?;
        self.pairs.log.begin_phase();
        let mut i = 0;
        while let Some(&(a, b)) = self.pairs.list.get(i) {
            if a == slot || b == slot {
                self.pairs.take(a, b, &self.proxies);
            } else {
                i += 1;
            }
        }
        let (slot, _) = self.proxies.remove(id)?;
        self.dead.push(slot);
        self.dirty = true;
        Ok(())
    }

    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        self.proxies.resolve(ids, boxes, &mut self.slots)?;
        for (&slot, aabb) in self.slots.iter().zip(boxes) {
            self.proxies.boxes[slot as usize] = *aabb;
        }
        self.dirty = true;
        Ok(())
    }

    fn pairs(&mut self, out: &mut Vec<Pair>) {
        self.refresh();
        out.clear();
        out.extend(self.pairs.list.iter().map(|&(a, b)| self.proxies.pair(a, b)));
    }

    fn pair_changes(&mut self, out: &mut PairChanges) {
        self.refresh();
        // A pair can be found and lost again on different axes of one sort.
        self.pairs.log.net();
        let Pairs { list, log, .. } = &mut self.pairs;
        log.report(out, |begun| begun.extend(list.iter().map(|&(a, b)| self.proxies.pair(a, b))));
    }

    /// Looks at every box: ends are sorted at the next list only, and even sorted ends say where boxes begin, not which
    /// long one still lasts; half of all would have to be looked at on average.
    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        scan_box(&self.proxies, aabb, visit);
    }

    /// Looks at every box, for the same reason.
    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
        scan_ray(&self.proxies, ray, visit);
    }

    fn len(&self) -> usize {
        self.proxies.len()
    }

    fn is_exact(&self) -> bool {
        true
    }
}
