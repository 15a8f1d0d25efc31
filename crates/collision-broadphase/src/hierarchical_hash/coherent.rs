//! Coherent hierarchical hash: tiles and pairs are kept, and only tiles entered or left are touched.
//!
//! # Reference
//! Mirtich (1996), section 2.4.2; Fontijne (2000), sections 2.3.2 and 2.3.3. Two lists per tile (native and
//! passing boxes) are our addition: with one list, small boxes that meet only on coarse tiles cost time.
//!
//! # Symbols
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `native` | res(X), native resolution | finest level at which the box touches at most t tiles | - |
//! | `threshold` | t, `t_f` | that number, larger for fixed boxes | tiles |
//! | `shared` | C, shared tile counter | tiles that a pair shares at the coarser of its native levels | tiles |
//! | `patience` | hysteresis | updates that a pair survives with nothing shared | updates |
//! | all over | all over | state of a box that needs more than 4 t tiles on the coarsest level | - |
//!
//! # Formula
//! ```text
//! X and Y are close  ⇔  they share a tile at level max(native X, native Y)   (levels counted from the finest)
//! native(X) rises when count(X, native) > t, falls when count(X, native - 1) ≤ t / 2
//! insert(X, tile):  for Y in natives(tile) ∪ (X native here ? passers(tile) : ∅):  shared(X, Y) += 1
//! ```
//!
//! # Cost
//! An update is O(tiles entered or left + boxes met there); a box that stays in its tiles costs six
//! multiplications and a comparison. Memory O(n t log R + pairs). Lists cost O(pairs).
//!
//! # Numerics
//! See `levels.rs`. Pairs are a superset of the overlaps; with `exact` each is tested on the given numbers.
//!
//! # Failure
//! Errors of the seam only.
//!
//! # Tested by
//! `coherent_hash_conforms`, `counters_equal_a_recount_and_nothing_leaks`, `incremental_equals_rebuilt_and_saves_the_work`, and one test for each
//! rule at the end of this file.

use super::{
    levels::{Levels, Range, key},
    pair_table::{PairTable, PlaneCache},
};
use crate::{
    brute_force::{scan_box, scan_ray},
    proxies::{NONE, Proxies},
};
use sim_math::Aabb;
use sim_traits::{BroadPhase, BroadPhaseError, FixedMap, Pair, PairChanges, ProxyId, ProxyKind, Ray};
use std::ops::ControlFlow;

/// Tunables of [`CoherentHash`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CoherentHashParams {
    /// Tile sizes; default for boxes of 0.1 m to 10 m with ratio 2. Boxes outside still work: smaller ones crowd
    /// the finest tiles, larger ones take more tiles or go all over.
    pub levels: Levels,
    /// Tiles that a moving box may touch at its native level, default 8. Raising it gives finer tiles, fewer
    /// false pairs and more work per move.
    pub threshold: u32,
    /// The same for fixed boxes, default 64: they pay once.
    pub threshold_fixed: u32,
    /// Updates that a pair survives after its last shared tile, default 0. Raising it saves pairs that come and
    /// go, and reports some longer (unless `exact`).
    pub patience: u32,
    /// Test boxes before reporting pairs, default true.
    pub exact: bool,
    /// Keep tiles between updates, default true. False rebuilds everything at each update, for comparison.
    pub coherent: bool,
}

impl Default for CoherentHashParams {
    fn default() -> Self {
        // The sizes and ratios are valid; the other branch is never taken.
        let levels = Levels::fewest(0.1, 10.0, 0.5, 1.0).unwrap_or(Levels::ONE);
        Self { levels, threshold: 8, threshold_fixed: 64, patience: 0, exact: true, coherent: true }
    }
}

/// What a [`CoherentHash`] holds and has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoherentHashReport {
    /// Boxes.
    pub objects: usize,
    /// Pairs in the table, overlapping or not.
    pub active_pairs: usize,
    /// Pairs created since construction.
    pub pairs_created: u64,
    /// Tiles with at least one box.
    pub tiles: usize,
    /// Entries in tiles.
    pub labels: usize,
    /// Boxes in the state all over.
    pub all_over: usize,
    /// Changes of native level since construction.
    pub level_changes: u64,
    /// Tiles entered or left since construction: the work that coherence could not save.
    pub tile_moves: u64,
    /// Box tests of close but separate pairs that the plane of last time decided, since construction.
    pub plane_hits: u64,
    /// Those that needed another plane.
    pub plane_misses: u64,
}

/// Boxes of one tile: first labels of two lists.
#[derive(Debug, Clone, Copy)]
struct Tile {
    natives: u32,
    passers: u32,
}

/// A box in a tile, and the next label of the list.
#[derive(Debug, Clone, Copy)]
struct Label {
    slot: u32,
    next: u32,
}

/// All labels in one pool: a tile that fills up takes memory that another has given back.
#[derive(Debug, Clone)]
struct Labels {
    pool: Vec<Label>,
    free: u32,
}

impl Labels {
    #[inline]
    fn slots(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = first;
        std::iter::from_fn(move || {
            let label = self.pool.get(at as usize)?;
            at = label.next;
            Some(label.slot)
        })
    }

    #[inline]
    fn push(&mut self, list: &mut u32, slot: u32) {
        let label = Label { slot, next: *list };
        if self.free == NONE {
            *list = self.pool.len() as u32;
            self.pool.push(label);
        } else {
            *list = self.free;
            self.free = std::mem::replace(&mut self.pool[*list as usize], label).next;
        }
    }

    /// Takes a slot out of a list; false if it is not there.
    #[inline]
    fn take(&mut self, list: &mut u32, slot: u32) -> bool {
        let (mut before, mut at) = (NONE, *list);
        while at != NONE {
            let label = self.pool[at as usize];
            if label.slot == slot {
                if before == NONE {
                    *list = label.next;
                } else {
                    self.pool[before as usize].next = label.next;
                }
                self.pool[at as usize].next = self.free;
                self.free = at;
                return true;
            }
            (before, at) = (at, label.next);
        }
        false
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Native level.
    Tiles(u8),
    AllOver,
}

/// Coherent hierarchical hash.
///
/// Pairs come in order of creation, with the last moved into the place of one that ended; changes in the same
/// order.
#[derive(Debug, Clone)]
pub struct CoherentHash {
    params: CoherentHashParams,
    proxies: Proxies,
    places: Vec<Place>,
    /// Ranges by slot and level; only native and coarser levels are meaningful.
    ranges: Vec<Range>,
    map: FixedMap<u64, u32>,
    tiles: Vec<Tile>,
    free_tiles: Vec<u32>,
    labels: Labels,
    pairs: PairTable,
    all_over: Vec<u32>,
    ended: Vec<Pair>,
    dirty: bool,
    planes: PlaneCache,
    slots: Vec<u32>,
    report: CoherentHashReport,
}

impl Default for CoherentHash {
    fn default() -> Self {
        Self::new(CoherentHashParams::default())
    }
}

/// Boxes that need more than this many times the threshold on the coarsest level go all over.
const ALL_OVER: u64 = 4;

impl CoherentHash {
    /// Empty, with the given tunables.
    #[must_use]
    pub fn new(params: CoherentHashParams) -> Self {
        Self {
            params,
            proxies: Proxies::default(),
            places: Vec::new(),
            ranges: Vec::new(),
            map: FixedMap::default(),
            tiles: Vec::new(),
            free_tiles: Vec::new(),
            labels: Labels { pool: Vec::new(), free: NONE },
            pairs: PairTable::default(),
            all_over: Vec::new(),
            ended: Vec::new(),
            dirty: false,
            planes: PlaneCache::default(),
            slots: Vec::new(),
            report: CoherentHashReport::default(),
        }
    }

    /// Counters and sizes.
    #[must_use]
    pub fn report(&self) -> CoherentHashReport {
        CoherentHashReport {
            objects: self.proxies.len(),
            active_pairs: self.pairs.len(),
            pairs_created: self.pairs.created(),
            tiles: self.map.len(),
            all_over: self.all_over.len(),
            plane_hits: self.planes.hits,
            plane_misses: self.planes.misses,
            ..self.report
        }
    }

    fn threshold(&self, slot: u32) -> u64 {
        let fixed = self.proxies.is_fixed(slot);
        u64::from(if fixed { self.params.threshold_fixed } else { self.params.threshold }.max(1))
    }

    #[inline]
    fn range_index(&self, slot: u32, level: usize) -> usize {
        slot as usize * self.params.levels.len() + level
    }

    /// Where a box belongs that is not in the tiles yet.
    fn fresh_place(&self, slot: u32) -> Place {
        let (aabb, t) = (&self.proxies.boxes[slot as usize], self.threshold(slot));
        let top = self.params.levels.len() - 1;
        match self.params.levels.native(aabb, t) {
            Some(level) => Place::Tiles(level as u8),
            None if self.params.levels.count(top, aabb) <= ALL_OVER * t => Place::Tiles(top as u8),
            None => Place::AllOver,
        }
    }

    /// Where a box at `native` belongs now: it moves to another level only when it must, or gains much.
    fn next_place(&self, slot: u32, native: usize, range: &Range) -> Place {
        let (aabb, t) = (&self.proxies.boxes[slot as usize], self.threshold(slot));
        let (levels, top) = (&self.params.levels, self.params.levels.len() - 1);
        let count = range.count();
        if count > t {
            let coarser = (native..=top).find(|&l| levels.count(l, aabb) <= t);
            return match coarser {
                Some(level) => Place::Tiles(level as u8),
                None if levels.count(top, aabb) <= ALL_OVER * t => Place::Tiles(top as u8),
                None => Place::AllOver,
            };
        }
        // A finer level has at least as many tiles, so most boxes are done here.
        if native > 0 && 2 * count <= t {
            let finer = (0..native).find(|&l| 2 * levels.count(l, aabb) <= t);
            return Place::Tiles(finer.unwrap_or(native) as u8);
        }
        Place::Tiles(native as u8)
    }

    fn enter(&mut self, slot: u32, place: Place) {
        self.places[slot as usize] = place;
        match place {
            Place::AllOver => {
                for other in 0..self.proxies.slots() as u32 {
                    if other != slot && self.proxies.is_live(other) && self.proxies.may_pair(slot, other) {
                        self.pairs.share(slot, other);
                    }
                }
                self.all_over.push(slot);
            }
            Place::Tiles(native) => {
                for level in usize::from(native)..self.params.levels.len() {
                    let range = self.params.levels.range(level, &self.proxies.boxes[slot as usize]);
                    let at = self.range_index(slot, level);
                    self.ranges[at] = range;
                    range.for_each(|tile| self.enter_tile(slot, level, level == usize::from(native), tile));
                }
            }
        }
    }

    fn leave(&mut self, slot: u32) {
        match self.places[slot as usize] {
            Place::AllOver => {
                self.all_over.retain(|&s| s != slot);
                for other in 0..self.proxies.slots() as u32 {
                    if other != slot && self.proxies.is_live(other) && self.proxies.may_pair(slot, other) {
                        self.pairs.part(slot, other, self.params.patience);
                    }
                }
            }
            Place::Tiles(native) => {
                for level in usize::from(native)..self.params.levels.len() {
                    let range = self.ranges[self.range_index(slot, level)];
                    range.for_each(|tile| self.leave_tile(slot, level, level == usize::from(native), tile));
                }
            }
        }
    }

    fn enter_tile(&mut self, slot: u32, level: usize, native: bool, tile: [i64; 3]) {
        self.report.tile_moves += 1;
        self.report.labels += 1;
        let (tiles, free) = (&mut self.tiles, &mut self.free_tiles);
        let at = *self.map.entry(key(level, tile)).or_insert_with(|| {
            free.pop().unwrap_or_else(|| {
                tiles.push(Tile { natives: NONE, passers: NONE });
                tiles.len() as u32 - 1
            })
        });
        let tile = &mut tiles[at as usize];
        let passers = if native { tile.passers } else { NONE };
        for other in self.labels.slots(tile.natives).chain(self.labels.slots(passers)) {
            if self.proxies.may_pair(slot, other) {
                self.pairs.share(slot, other);
            }
        }
        self.labels.push(if native { &mut tile.natives } else { &mut tile.passers }, slot);
    }

    fn leave_tile(&mut self, slot: u32, level: usize, native: bool, tile: [i64; 3]) {
        self.report.tile_moves += 1;
        let k = key(level, tile);
        let Some(&at) = self.map.get(&k) else {
            debug_assert!(false, "slot {slot} is not in tile {tile:?} of level {level}");
            return;
        };
        let tile = &mut self.tiles[at as usize];
        let taken = self.labels.take(if native { &mut tile.natives } else { &mut tile.passers }, slot);
        self.report.labels -= usize::from(taken);
        let passers = if native { tile.passers } else { NONE };
        for other in self.labels.slots(tile.natives).chain(self.labels.slots(passers)) {
            if self.proxies.may_pair(slot, other) {
                self.pairs.part(slot, other, self.params.patience);
            }
        }
        if tile.natives == NONE && tile.passers == NONE {
            self.map.remove(&k);
            self.free_tiles.push(at);
        }
    }

    /// The box of a slot has changed.
    #[inline]
    fn moved(&mut self, slot: u32) {
        let Place::Tiles(native) = self.places[slot as usize] else {
            let place = self.fresh_place(slot);
            if place != Place::AllOver {
                self.leave(slot);
                self.enter(slot, place);
            }
            return;
        };
        let native = usize::from(native);
        let aabb = &self.proxies.boxes[slot as usize];
        let old = &self.ranges[self.range_index(slot, native)];
        // Same native tiles: where tiles nest, the coarser ones are the same as well.
        let settled = self.params.levels.nests() && (native == 0 || 2 * old.count() > self.threshold(slot));
        if settled && self.params.levels.stays(native, aabb, old) {
            return;
        }
        let range = self.params.levels.range(native, aabb);
        let place = self.next_place(slot, native, &range);
        if place == Place::Tiles(native as u8) {
            self.shift(slot, native);
        } else {
            self.report.level_changes += 1;
            self.leave(slot);
            self.enter(slot, place);
        }
    }

    /// Same level: tiles entered first, then tiles left, so that no counter dips to 0 on the way.
    fn shift(&mut self, slot: u32, native: usize) {
        for level in native..self.params.levels.len() {
            let at = self.range_index(slot, level);
            let new = self.params.levels.range(level, &self.proxies.boxes[slot as usize]);
            let old = std::mem::replace(&mut self.ranges[at], new);
            if old == new {
                if self.params.levels.nests() {
                    return;
                }
                continue;
            }
            new.for_each(|tile| {
                if !old.contains(tile) {
                    self.enter_tile(slot, level, level == native, tile);
                }
            });
            old.for_each(|tile| {
                if !new.contains(tile) {
                    self.leave_tile(slot, level, level == native, tile);
                }
            });
        }
    }

    /// Takes all boxes out of their tiles and puts them in again, as a hash without coherence must.
    pub fn rebuild(&mut self) {
        for slot in 0..self.proxies.slots() as u32 {
            if self.proxies.is_live(slot) {
                self.leave(slot);
            }
        }
        for slot in 0..self.proxies.slots() as u32 {
            if self.proxies.is_live(slot) {
                let place = self.fresh_place(slot);
                self.enter(slot, place);
            }
        }
    }

    /// One update has passed.
    fn refresh(&mut self) {
        if !std::mem::take(&mut self.dirty) {
            return;
        }
        if !self.params.coherent {
            self.rebuild();
        }
        let (proxies, ended) = (&self.proxies, &mut self.ended);
        self.pairs.tick(|e| {
            if e.reported {
                ended.push(proxies.pair(e.a, e.b));
            }
        });
    }
}

impl BroadPhase for CoherentHash {
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
        let slot = self.proxies.insert(id, kind, aabb)?;
        if slot as usize == self.places.len() {
            self.places.push(Place::AllOver);
            let empty = Range { lo: [0; 3], hi: [0; 3] };
            self.ranges.resize(self.ranges.len() + self.params.levels.len(), empty);
        }
        for i in 0..self.all_over.len() {
            let other = self.all_over[i];
            if self.proxies.may_pair(slot, other) {
                self.pairs.share(slot, other);
            }
        }
        let place = self.fresh_place(slot);
        self.enter(slot, place);
        Ok(())
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
        let slot = self.proxies.slot(id).ok_or(BroadPhaseError::Unknown { id })?;
        self.leave(slot);
        for i in 0..self.all_over.len() {
            let other = self.all_over[i];
            if self.proxies.may_pair(slot, other) {
                self.pairs.part(slot, other, 0);
            }
        }
        let (proxies, ended) = (&self.proxies, &mut self.ended);
        self.pairs.forget(slot, |e| {
            if e.reported {
                ended.push(proxies.pair(e.a, e.b));
            }
        });
        let (slot, _) = self.proxies.remove(id)?;
        self.proxies.release(slot);
        Ok(())
    }

    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        let mut slots = std::mem::take(&mut self.slots);
        let checked = self.proxies.resolve(ids, boxes, &mut slots);
        if checked.is_ok() {
            for (&slot, aabb) in slots.iter().zip(boxes) {
                self.proxies.boxes[slot as usize] = *aabb;
                if self.params.coherent {
                    self.moved(slot);
                }
            }
            self.dirty = true;
        }
        self.slots = slots;
        checked
    }

    fn pairs(&mut self, out: &mut Vec<Pair>) {
        self.refresh();
        out.clear();
        let (proxies, exact, planes) = (&self.proxies, self.params.exact, &mut self.planes);
        for e in self.pairs.entries_mut() {
            let (a, b) = (&proxies.boxes[e.a as usize], &proxies.boxes[e.b as usize]);
            if !exact || e.overlap(a, b, planes) {
                out.push(proxies.pair(e.a, e.b));
            }
        }
    }

    fn pair_changes(&mut self, out: &mut PairChanges) {
        self.refresh();
        out.begun.clear();
        out.ended.clear();
        out.ended.append(&mut self.ended);
        for e in self.pairs.entries_mut() {
            let (a, b) = (&self.proxies.boxes[e.a as usize], &self.proxies.boxes[e.b as usize]);
            let now = !self.params.exact || e.overlap(a, b, &mut self.planes);
            if now != e.reported {
                let list = if now { &mut out.begun } else { &mut out.ended };
                list.push(self.proxies.pair(e.a, e.b));
                e.reported = now;
            }
        }
    }

    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        let levels = &self.params.levels;
        let tiles = (0..levels.len()).fold(0, |n: u64, l| n.saturating_add(levels.count(l, aabb)));
        let stale = self.dirty && !self.params.coherent;
        if stale || tiles > self.proxies.len() as u64 {
            return scan_box(&self.proxies, aabb, visit);
        }
        let mut stopped = false;
        let mut offer = |slot: u32| {
            let s = slot as usize;
            if !stopped && self.proxies.boxes[s].overlaps(aabb) {
                stopped = visit(self.proxies.ids[s]).is_break();
            }
        };
        for &slot in &self.all_over {
            offer(slot);
        }
        for level in 0..levels.len() {
            let range = levels.range(level, aabb);
            range.for_each(|tile| {
                let Some(&at) = self.map.get(&key(level, tile)) else { return };
                for slot in self.labels.slots(self.tiles[at as usize].natives) {
                    // Of all common tiles the lowest speaks for the box.
                    if range.corner(&self.ranges[self.range_index(slot, level)]) == tile {
                        offer(slot);
                    }
                }
            });
        }
    }

    /// Looks at every box: a long ray crosses tiles of all levels, most of them empty, and this broad phase is for few
    /// boxes. [`DynamicTree`](crate::DynamicTree) and [`ColumnSweep`](crate::ColumnSweep) follow the ray.
    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
        scan_ray(&self.proxies, ray, visit);
    }

    fn len(&self) -> usize {
        self.proxies.len()
    }

    fn is_exact(&self) -> bool {
        // Visits are always exact; pairs only if asked for.
        self.params.exact
    }
}

#[cfg(test)]
mod tests;
