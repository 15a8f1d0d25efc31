//! Plain hierarchical hash: built anew for each list, nothing kept.
//!
//! # Reference
//! Mirtich (1996), section 2.4.1 (the standard variant). The table is a counting sort by hash value.
//!
//! # Symbols
//! | code | paper | meaning |
//! |---|---|---|
//! | `native` | res(X) | level at which the box is stored |
//! | `Entry` | label | a box in one of its native tiles |
//!
//! # Formula
//! ```text
//! store X in its tiles at native(X)
//! for each level l ≥ native(X) and each tile of X at l:  meet those stored there
//! (X, Y) counts in the lowest tile they share at l: on each axis it is the first of X or of Y; at equal levels the larger slot looks for the smaller
//! ```
//!
//! # Cost
//! O(n log R + c) for sizes 1 : R and c close pairs; O(n) memory.
//!
//! # Numerics
//! See `levels.rs`. Pairs are tested on the given numbers: exact.
//!
//! # Failure
//! Errors of the seam only.
//!
//! # Tested by
//! `plain_hash_conforms`; `the_coherent_and_the_plain_hash_agree`.

use super::levels::{Levels, Range, key};
use crate::{
    brute_force::{scan_box, scan_ray},
    changes::ReportedPairs,
    proxies::Proxies,
};
use sim_math::Aabb;
use sim_traits::{BroadPhase, BroadPhaseError, Pair, PairChanges, ProxyId, ProxyKind, Ray};
use std::ops::ControlFlow;

/// Tunables of [`PlainHash`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PlainHashParams {
    /// Tile sizes; `None` (the default) fits them to the boxes at each build, with a ratio of 16.
    pub levels: Option<Levels>,
    /// Tiles that a box may touch at its native level, default 8.
    pub threshold: u32,
}

impl Default for PlainHashParams {
    fn default() -> Self {
        Self { levels: None, threshold: 8 }
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u64,
    slot: u32,
    /// On which axes the tile is the box's first.
    first: u32,
    /// The box with rounded corners. Rounding keeps order, so boxes that overlap still do.
    fat: Fat,
}

#[derive(Debug, Clone, Copy, Default)]
struct Fat {
    lo: [f32; 3],
    hi: [f32; 3],
}

impl Fat {
    #[inline]
    fn new(aabb: &Aabb) -> Self {
        let round = |x: [f64; 3]| [x[0] as f32, x[1] as f32, x[2] as f32];
        Self { lo: round(aabb.min.to_array()), hi: round(aabb.max.to_array()) }
    }

    #[inline]
    fn overlaps(&self, other: &Self) -> bool {
        let mut hit = true;
        for k in 0..3 {
            hit &= (self.lo[k] <= other.hi[k]) & (other.lo[k] <= self.hi[k]);
        }
        hit
    }
}

/// Bits of the axes on which `tile` is the first of `range`.
#[inline]
fn first_bits(range: &Range, tile: [i64; 3]) -> u32 {
    (0..3).fold(0, |bits, k| bits | (u32::from(tile[k] == range.lo[k]) << k))
}

/// The structure of one build.
#[derive(Debug, Clone, Default)]
struct Table {
    native: Vec<u8>,
    ranges: Vec<Range>,
    entries: Vec<Entry>,
    sorted: Vec<Entry>,
    starts: Vec<u32>,
    shift: u32,
    huge: Vec<u32>,
    /// Levels at which something is stored.
    occupied: u64,
}

const HUGE: u8 = u8::MAX;

/// Plain hierarchical hash. Pairs come in ascending order of the slot that looks, changes ascending.
#[derive(Debug, Clone, Default)]
pub struct PlainHash {
    params: PlainHashParams,
    proxies: Proxies,
    table: Table,
    slots: Vec<u32>,
    reported: ReportedPairs,
}

impl PlainHash {
    /// Empty, with the given tunables.
    #[must_use]
    pub fn new(params: PlainHashParams) -> Self {
        Self { params, ..Self::default() }
    }
}

/// Levels for the sizes present, infinite ones left out.
fn fit_levels(proxies: &Proxies) -> Levels {
    let (mut min, mut max) = (f64::INFINITY, 0.0_f64);
    for slot in proxies.live() {
        let size = proxies.boxes[slot as usize].size().max_element();
        if size > 1e-9 && size < 1e12 {
            (min, max) = (min.min(size), max.max(size));
        }
    }
    Levels::fewest(min, max, 0.0625, 1.0).unwrap_or(Levels::ONE)
}

impl Table {
    #[inline]
    fn bucket(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    fn build(&mut self, proxies: &Proxies, levels: &Levels, threshold: u64) {
        self.native.clear();
        self.ranges.clear();
        self.entries.clear();
        self.huge.clear();
        self.occupied = 0;
        for slot in 0..proxies.slots() as u32 {
            let aabb = &proxies.boxes[slot as usize];
            let native = if proxies.is_live(slot) { levels.native(aabb, threshold) } else { None };
            let range = levels.range(native.unwrap_or(0), aabb);
            self.native.push(native.map_or(HUGE, |l| l as u8));
            self.ranges.push(range);
            match native {
                Some(level) => {
                    self.occupied |= 1 << level;
                    let fat = Fat::new(aabb);
                    range.for_each(|tile| {
                        let first = first_bits(&range, tile);
                        self.entries.push(Entry { key: key(level, tile), slot, first, fat });
                    });
                }
                None if proxies.is_live(slot) => self.huge.push(slot),
                None => {}
            }
        }
        self.sort();
    }

    fn sort(&mut self) {
        let bits = (self.entries.len().max(8)).next_power_of_two().ilog2() + 1;
        self.shift = 64 - bits;
        self.starts.clear();
        self.starts.resize((1 << bits) + 1, 0);
        for i in 0..self.entries.len() {
            let b = self.bucket(self.entries[i].key);
            self.starts[b] += 1;
        }
        let mut total = 0;
        for start in &mut self.starts {
            total += std::mem::replace(start, total);
        }
        self.sorted.clear();
        self.sorted.resize(self.entries.len(), Entry { key: 0, slot: 0, first: 0, fat: Fat::default() });
        for i in 0..self.entries.len() {
            let entry = self.entries[i];
            let b = self.bucket(entry.key);
            self.sorted[self.starts[b] as usize] = entry;
            self.starts[b] += 1;
        }
        let last = self.starts.len() - 1;
        self.starts.copy_within(..last, 1);
        self.starts[0] = 0;
    }

    #[inline]
    fn meet(&self, level: usize, range: &Range, fat: &Fat, mut found: impl FnMut(u32)) {
        range.for_each(|tile| {
            let k = key(level, tile);
            let first = first_bits(range, tile);
            let b = self.bucket(k);
            for e in &self.sorted[self.starts[b] as usize..self.starts[b + 1] as usize] {
                if (e.key == k) & ((e.first | first) == 7) && e.fat.overlaps(fat) {
                    found(e.slot);
                }
            }
        });
    }
}

fn list_pairs(proxies: &Proxies, table: &mut Table, params: &PlainHashParams, out: &mut Vec<Pair>) {
    out.clear();
    let levels = params.levels.unwrap_or_else(|| fit_levels(proxies));
    table.build(proxies, &levels, u64::from(params.threshold.max(1)));
    let table = &*table;
    for slot in 0..proxies.slots() as u32 {
        let native = table.native[slot as usize];
        if native == HUGE {
            continue;
        }
        let mut consider = |other: u32| {
            if proxies.may_pair(slot, other) && proxies.overlap(slot, other) {
                out.push(proxies.pair(slot, other));
            }
        };
        let (native, aabb) = (usize::from(native), &proxies.boxes[slot as usize]);
        let fat = Fat::new(aabb);
        for level in native..levels.len() {
            if table.occupied >> level & 1 == 0 {
                continue;
            }
            if level == native {
                table.meet(level, &table.ranges[slot as usize], &fat, |other| {
                    if other < slot {
                        consider(other);
                    }
                });
            } else {
                table.meet(level, &levels.range(level, aabb), &fat, &mut consider);
            }
        }
        for &other in &table.huge {
            consider(other);
        }
    }
    for (n, &a) in table.huge.iter().enumerate() {
        for &b in &table.huge[..n] {
            if proxies.may_pair(a, b) && proxies.overlap(a, b) {
                out.push(proxies.pair(a, b));
            }
        }
    }
}

impl BroadPhase for PlainHash {
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
        list_pairs(&self.proxies, &mut self.table, &self.params, out);
    }

    fn pair_changes(&mut self, out: &mut PairChanges) {
        let Self { proxies, table, params, reported, .. } = self;
        reported.report(out, |list| list_pairs(proxies, table, params, list));
    }

    /// Looks at every box: between lists there is no structure.
    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        scan_box(&self.proxies, aabb, visit);
    }

    /// Looks at every box.
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
