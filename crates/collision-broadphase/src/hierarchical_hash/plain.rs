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
//! | `first` | - | on which axes the tile is the box's first |
//!
//! # Formula
//! ```text
//! store X in its tiles at native(X)
//! same level:    meet the others in each tile
//! coarser level: for each l > native(X) and each tile of X at l: meet those stored there
//! (X, Y) counts in the lowest tile they share at l: on each axis it is the first of X or of Y
//! ```
//!
//! # Cost
//! O(n log R + c) for sizes 1 : R and c close pairs; O(n) memory, no allocation once warmed up.
//!
//! # Numerics
//! Tiles are counted in saturated 32-bit integers and named modulo 512 on each axis: far tiles may share a list, and
//! the box test takes out what that adds. Boxes are compared as rounded `f32` first, which keeps order, so that
//! boxes that overlap still do; pairs are then tested on the given numbers: exact.
//!
//! # Failure
//! Errors of the seam only.
//!
//! # Tested by
//! `plain_hash_conforms`; `the_coherent_and_the_plain_hash_agree`; `work_grows_like_boxes_and_pairs`.

use super::levels::Levels;
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
    /// Tile sizes; `None` (the default) fits them to the boxes at each build, with a ratio of 2.
    pub levels: Option<Levels>,
    /// Tiles that a box may touch at its native level, default 27.
    pub threshold: u32,
}

impl Default for PlainHashParams {
    fn default() -> Self {
        Self { levels: None, threshold: 27 }
    }
}

/// A box in one of its tiles: 32 bytes that the tests read in a straight line.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// lo0, lo1, lo2, -hi0: two boxes overlap if each side of one is at most the limit that the other sets.
    sides: [f32; 4],
    /// -hi1, -hi2.
    more: [f32; 2],
    key: u32,
    /// `first` in the top three bits.
    slot: u32,
}

const SLOT: u32 = (1 << 29) - 1;
const ALL_FIRST: u32 = !SLOT;

/// What a box allows the sides of another to be.
#[derive(Debug, Clone, Copy)]
struct Limits {
    sides: [f32; 4],
    more: [f32; 2],
}

impl Entry {
    fn new(aabb: &Aabb) -> Self {
        let (lo, hi) = (aabb.min.as_vec3(), aabb.max.as_vec3());
        Self { sides: [lo.x, lo.y, lo.z, -hi.x], more: [-hi.y, -hi.z], key: 0, slot: 0 }
    }

    #[inline]
    fn limits(&self) -> Limits {
        let ([a, b, c, d], [e, f]) = (self.sides, self.more);
        Limits { sides: [-d, -e, -f, -a], more: [-b, -c] }
    }

    #[inline]
    fn meets(&self, limits: &Limits) -> bool {
        let mut hit = true;
        for (side, limit) in self.sides.iter().zip(&limits.sides) {
            hit &= side <= limit;
        }
        hit & (self.more[0] <= limits.more[0]) & (self.more[1] <= limits.more[1])
    }
}

/// Tiles of a box at one level.
#[derive(Debug, Clone, Copy)]
struct Tiles {
    lo: [i32; 3],
    hi: [i32; 3],
}

/// Floor as a saturating integer.
#[inline]
fn floor(x: f64) -> i32 {
    let t = x as i32;
    t.saturating_sub(i32::from(f64::from(t) > x))
}

impl Tiles {
    #[inline]
    fn new(aabb: &Aabb, inverse: f64) -> Self {
        let at = |x: f64| floor(x * inverse);
        Self {
            lo: [at(aabb.min.x), at(aabb.min.y), at(aabb.min.z)],
            hi: [at(aabb.max.x), at(aabb.max.y), at(aabb.max.z)],
        }
    }

    #[inline]
    fn count(&self) -> u64 {
        let side = |k: usize| u64::from(self.hi[k].abs_diff(self.lo[k])) + 1;
        side(0).saturating_mul(side(1)).saturating_mul(side(2))
    }

    /// Key of each tile, and `first` bits.
    #[inline]
    fn for_each(&self, level: u32, mut visit: impl FnMut(u32, u32)) {
        for x in self.lo[0]..=self.hi[0] {
            let (kx, fx) = ((level << 27) | ((x as u32 & 511) << 18), u32::from(x == self.lo[0]) << 29);
            for y in self.lo[1]..=self.hi[1] {
                let (ky, fy) = (kx | ((y as u32 & 511) << 9), fx | (u32::from(y == self.lo[1]) << 30));
                for z in self.lo[2]..=self.hi[2] {
                    visit(ky | (z as u32 & 511), fy | (u32::from(z == self.lo[2]) << 31));
                }
            }
        }
    }
}

/// The structure of one build.
#[derive(Debug, Clone, Default)]
struct Table {
    /// Level of each slot, [`HUGE`] or [`EMPTY`].
    native: Vec<u8>,
    entries: Vec<Entry>,
    sorted: Vec<Entry>,
    starts: Vec<u32>,
    shift: u32,
    huge: Vec<u32>,
    /// Levels at which something is stored, and the inverse of each tile side.
    occupied: u64,
    inverse: [f64; 32],
    hits: Vec<u32>,
    report: PlainHashReport,
}

const HUGE: u8 = u8::MAX;
const EMPTY: u8 = u8::MAX - 1;

/// What a [`PlainHash`] did for its last list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlainHashReport {
    /// Entries in tiles.
    pub labels: usize,
    /// Entries that boxes met in tiles, overlapping or not.
    pub meetings: u64,
    /// Levels that tile sizes have.
    pub levels: usize,
}

/// Plain hierarchical hash. Pairs come in an order that depends on the present boxes and slots alone, changes
/// ascending.
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

    /// Counters of the last list.
    #[must_use]
    pub fn report(&self) -> PlainHashReport {
        self.table.report
    }
}

/// Levels for the sizes present, infinite ones left out: from half again the mean, because tiny boxes may crowd a
/// tile but each level costs every box a look, to a little more than half the largest.
fn fit_levels(proxies: &Proxies) -> Levels {
    let (mut count, mut sum, mut max) = (0.0, 0.0, 0.0_f64);
    for slot in proxies.live() {
        let size = proxies.boxes[slot as usize].size().max_element();
        if size > 1e-9 && size < 1e12 {
            (count, sum, max) = (count + 1.0, sum + size, max.max(size));
        }
    }
    let finest = 1.5 * sum / count;
    Levels::fewest(finest, finest.max(0.6 * max), 0.5, 1.0).unwrap_or(Levels::ONE)
}

impl Table {
    #[inline]
    fn bucket(&self, key: u32) -> usize {
        (key.wrapping_mul(0x9E37_79B1) >> self.shift) as usize
    }

    #[inline]
    fn stored(&self, bucket: usize) -> &[Entry] {
        &self.sorted[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }

    fn build(&mut self, proxies: &Proxies, levels: &Levels, threshold: u64) {
        self.native.clear();
        self.entries.clear();
        self.huge.clear();
        self.occupied = 0;
        for level in 0..levels.len() {
            self.inverse[level] = 1.0 / levels.tile(level);
        }
        for slot in 0..proxies.slots() as u32 {
            if !proxies.is_live(slot) {
                self.native.push(EMPTY);
                continue;
            }
            let aabb = &proxies.boxes[slot as usize];
            // A box longer than the allowed number of tiles need not be counted.
            let most = aabb.size().max_element() / threshold as f64;
            let from = (0..levels.len()).find(|&l| most * self.inverse[l] <= 1.0).unwrap_or(levels.len());
            let native = (from..levels.len())
                .map(|l| (l, Tiles::new(aabb, self.inverse[l])))
                .find(|(_, tiles)| tiles.count() <= threshold);
            let Some((level, tiles)) = native else {
                self.native.push(HUGE);
                self.huge.push(slot);
                continue;
            };
            self.native.push(level as u8);
            self.occupied |= 1 << level;
            let entry = Entry::new(aabb);
            tiles.for_each(level as u32, |key, first| {
                self.entries.push(Entry { key, slot: slot | first, ..entry });
            });
        }
        self.sort();
    }

    fn sort(&mut self) {
        let bits = (self.entries.len().max(8)).next_power_of_two().ilog2().min(31);
        self.shift = 32 - bits;
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
        self.sorted.resize(self.entries.len(), Entry::default());
        let mut longest = 0;
        for i in 0..self.entries.len() {
            let entry = self.entries[i];
            let b = self.bucket(entry.key);
            self.sorted[self.starts[b] as usize] = entry;
            self.starts[b] += 1;
        }
        let last = self.starts.len() - 1;
        self.starts.copy_within(..last, 1);
        self.starts[0] = 0;
        for range in self.starts.windows(2) {
            longest = longest.max(range[1] - range[0]);
        }
        if self.hits.len() < longest as usize {
            self.hits.resize((longest as usize).next_power_of_two(), 0);
        }
    }

    /// Entries of a tile that overlap a box there, branch-free: a store each, and the length moves on by the outcome.
    #[inline]
    fn meet(entries: &[Entry], key: u32, first: u32, limits: &Limits, hits: &mut [u32]) -> usize {
        let mut len = 0;
        for e in entries {
            let hit = (e.key == key) & ((e.slot | first) & ALL_FIRST == ALL_FIRST) & e.meets(limits);
            hits[len] = e.slot & SLOT;
            len += usize::from(hit);
        }
        len
    }
}

fn list_pairs(proxies: &Proxies, table: &mut Table, params: &PlainHashParams, out: &mut Vec<Pair>) {
    out.clear();
    let levels = params.levels.unwrap_or_else(|| fit_levels(proxies));
    table.build(proxies, &levels, u64::from(params.threshold.max(1)));
    let mut hits = std::mem::take(&mut table.hits);
    let mut meetings = 0;
    let mut consider = |slot: u32, other: u32| {
        if proxies.may_pair(slot, other) && proxies.overlap(slot, other) {
            out.push(proxies.pair(slot, other));
        }
    };
    // Boxes of one level meet in the tiles.
    for bucket in table.starts.windows(2) {
        let mut rest = &table.sorted[bucket[0] as usize..bucket[1] as usize];
        while let Some((own, others)) = rest.split_first() {
            rest = others;
            meetings += others.len() as u64;
            let len = Table::meet(others, own.key, own.slot, &own.limits(), &mut hits);
            for &other in &hits[..len] {
                consider(own.slot & SLOT, other);
            }
        }
    }
    for slot in 0..proxies.slots() as u32 {
        let native = table.native[slot as usize];
        if native >= EMPTY {
            continue;
        }
        let aabb = &proxies.boxes[slot as usize];
        let limits = Entry::new(aabb).limits();
        let mut coarser = table.occupied & (!1 << native);
        while coarser != 0 {
            let level = coarser.trailing_zeros();
            coarser &= coarser - 1;
            Tiles::new(aabb, table.inverse[level as usize]).for_each(level, |key, first| {
                let stored = table.stored(table.bucket(key));
                meetings += stored.len() as u64;
                let len = Table::meet(stored, key, first, &limits, &mut hits);
                for &other in &hits[..len] {
                    consider(slot, other);
                }
            });
        }
        for &other in &table.huge {
            consider(slot, other);
        }
    }
    for (n, &a) in table.huge.iter().enumerate() {
        for &b in &table.huge[..n] {
            consider(a, b);
        }
    }
    table.hits = hits;
    table.report = PlainHashReport { labels: table.entries.len(), meetings, levels: levels.len() };
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

    /// Looks at every box: between lists there is no structure, and building one costs more than a look at all.
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
