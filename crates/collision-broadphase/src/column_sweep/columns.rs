//! Columns: boxes sorted along one axis inside the cells of a grid over the other two.
//!
//! # Reference
//! The two-axis variant of sweep and prune named in Mirtich (1996), section 2.4.4, on a grid; own layout.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `axes[0]` | sweep axis, the one of largest spread | - |
//! | `cell` | side of a column | m |
//! | `side` | columns per grid side, a power of two; the grid is a torus | - |
//! | `starts here` | the column is the first of the box on that grid axis | - |
//!
//! # Formula
//! ```text
//! column(y, z) = (⌊y / cell⌋ mod side, ⌊z / cell⌋ mod side)
//! a pair counts in a column  ⇔  on both grid axes a or b starts here
//! ```
//! Exactly one column fulfils this for two overlapping boxes: the lower corner of the intersection of their
//! ranges. On the torus two different cells of overlapping boxes never meet, because a box spans at most
//! [`MAX_SPAN`] cells and the torus has at least 32; boxes that meet only by wrapping fail the box test.
//! So the grid needs no bounds, and outliers or far clusters cost nothing.
//!
//! # Cost
//! Build O(n) (radix sort of 32-bit keys), sweep O(n + tests), query O(columns + hits).
//!
//! # Numerics
//! Boxes are kept as `f32` relative to an origin and rounded outwards, so every overlap is found and false
//! ones are possible: callers test again in `f64`.
//!
//! # Failure
//! None. Boxes that span more than [`MAX_SPAN`] cells go to the list `huge`.
//!
//! # Tested by
//! `all_equal_brute_force_on_moving_scenes`, `rays_in_a_large_scene_meet_what_brute_force_meets`.

use super::predict::Track;
use crate::proxies::NONE;
use sim_math::{Aabb, glam::DVec3};
use sim_traits::ProxyId;

/// More cells than this on a grid axis make a box huge.
pub(super) const MAX_SPAN: i32 = 8;

/// Column side in mean box extents, least and most: small for boxes of one size, large where sizes differ. Flat
/// optima, see the bench `collision_broadphase/w1`.
const CELL_EXTENTS: (f64, f64) = (2.2, 5.0);

/// A conservative box in the order of the sweep's axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fat {
    pub(super) lo: [f32; 3],
    pub(super) hi: [f32; 3],
}

impl Fat {
    const EMPTY: Self = Self { lo: [f32::MAX; 3], hi: [f32::MIN; 3] };

    #[inline]
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        (self.lo[0] <= other.hi[0])
            & (other.lo[0] <= self.hi[0])
            & (self.lo[1] <= other.hi[1])
            & (other.lo[1] <= self.hi[1])
            & (self.lo[2] <= other.hi[2])
            & (other.lo[2] <= self.hi[2])
    }
}

/// Which axis is which, and where zero is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) axes: [usize; 3],
    pub(super) origin: DVec3,
}

impl Frame {
    /// Rounds outwards by one unit in the last place and more; monotone, so order is kept.
    #[inline]
    fn fat(&self, aabb: &Aabb) -> Fat {
        let mut fat = Fat { lo: [0.0; 3], hi: [0.0; 3] };
        let (lo, hi) = ((aabb.min - self.origin).to_array(), (aabb.max - self.origin).to_array());
        for (d, &axis) in self.axes.iter().enumerate() {
            let (l, h) =
                ((lo[axis] as f32).clamp(f32::MIN, f32::MAX), (hi[axis] as f32).clamp(f32::MIN, f32::MAX));
            fat.lo[d] = l - l.abs() * 1.2e-7 - f32::MIN_POSITIVE;
            fat.hi[d] = h + h.abs() * 1.2e-7 + f32::MIN_POSITIVE;
        }
        fat
    }
}

/// First cell and number of further cells on the two grid axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cells {
    pub(super) first: [i32; 2],
    pub(super) last: [i32; 2],
}

/// An entry of a gathered column: 32 bytes that the sweep reads in a straight line.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// lo1, lo2, -hi1, -hi2: two boxes overlap on the grid axes if each lane of one is at most the opposite lane of
    /// the other negated. One comparison of four lanes.
    sides: [f32; 4],
    lo: f32,
    hi: f32,
    /// Place in the column.
    at: u32,
    bits: u32,
}

/// A box as the receiver of pairs sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guest<'a> {
    pub(super) slot: u32,
    pub(super) id: ProxyId,
    pub(super) track: &'a Track,
}

/// Scratch of the sweep: what is needed of one column's boxes, side by side. Without the copies every pair would wait
/// for its two tracks from far memory.
#[derive(Debug, Clone, Default)]
struct Column {
    entries: Vec<Entry>,
    hits: Vec<u32>,
    names: Vec<(u32, ProxyId)>,
    tracks: Vec<Track>,
}

/// The structure. Slots of the caller are the payload.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub(super) frame: Frame,
    pub(super) inv_cell: f32,
    side_bits: u32,
    /// Longest box along the sweep axis.
    pub(super) longest: f32,
    /// Of all boxes that are not huge.
    pub(super) bounds: Fat,
    /// Slots and boxes, ascending along the sweep axis.
    pub(super) slots: Vec<u32>,
    pub(super) fats: Vec<Fat>,
    /// Start of each column in `entries`.
    starts: Vec<u32>,
    /// Index into `slots`, with "starts here" in the two top bits.
    entries: Vec<u32>,
    pub(super) huge: Vec<(u32, Fat)>,
    staged: Vec<(u32, Fat)>,
    /// Cells of the boxes in `fats`.
    ranges: Vec<Cells>,
    keys: Vec<u64>,
    keys_swap: Vec<u64>,
    column: Column,
}

/// Index part of an entry.
pub(super) const INDEX: u32 = (1 << 30) - 1;

impl Default for Columns {
    fn default() -> Self {
        Self {
            frame: Frame { axes: [0, 1, 2], origin: DVec3::ZERO },
            inv_cell: 1.0,
            side_bits: 5,
            longest: 0.0,
            bounds: Fat::EMPTY,
            slots: Vec::new(),
            fats: Vec::new(),
            starts: vec![0; (1 << 10) + 1],
            entries: Vec::new(),
            huge: Vec::new(),
            staged: Vec::new(),
            ranges: Vec::new(),
            keys: Vec::new(),
            keys_swap: Vec::new(),
            column: Column::default(),
        }
    }
}

#[inline]
fn cell(x: f32, inv_cell: f32) -> i32 {
    // A cast truncates towards zero and saturates: still monotone, and cheaper than a floor.
    let scaled = x * inv_cell;
    let t = scaled as i32;
    t.saturating_sub(i32::from((t as f32) > scaled))
}

impl Columns {
    /// Starts anew: chooses the sweep axis, that of largest spread, from a sample of boxes.
    ///
    /// The origin is kept if `origin` is given, else it is the mean of the sample. Returns the order of axes.
    pub(super) fn begin(&mut self, sample: &[Aabb], origin: Option<DVec3>) -> [usize; 3] {
        let center = mean_center(sample);
        self.frame.origin = origin.unwrap_or(center);
        // Mean distance, not variance: a few outliers must not decide alone.
        let mut spread = DVec3::ZERO;
        for b in sample.iter().filter(|b| is_finite(b)) {
            spread += (b.center() - center).abs();
        }
        let widest = if spread.x >= spread.y && spread.x >= spread.z {
            0
        } else if spread.y >= spread.z {
            1
        } else {
            2
        };
        self.frame.axes = [widest, (widest + 1) % 3, (widest + 2) % 3];
        self.staged.clear();
        self.frame.axes
    }

    /// A box relative to the origin, in the order of axes.
    #[inline]
    pub(super) fn push(&mut self, slot: u32, fat: Fat) {
        self.staged.push((slot, fat));
    }

    /// A box in the world.
    pub(super) fn push_box(&mut self, slot: u32, aabb: &Aabb) {
        self.staged.push((slot, self.frame.fat(aabb)));
    }

    /// Sorts the boxes pushed since [`begin`](Self::begin); [`scatter`](Self::scatter) then makes them the content.
    pub(super) fn sort_staged(&mut self) {
        self.choose_cell();
        self.sort();
    }

    /// Column side from the mean extent of a sample without its largest twentieth.
    fn choose_cell(&mut self) {
        let stride = self.staged.len() / 500 + 1;
        let mut extents = [0.0_f32; 512];
        let mut n = 0;
        for ((_, fat), e) in self.staged.iter().step_by(stride).zip(&mut extents) {
            *e = (fat.hi[1] - fat.lo[1]).max(fat.hi[2] - fat.lo[2]);
            n += 1;
        }
        let extents = &mut extents[..n];
        extents.sort_unstable_by(f32::total_cmp);
        let kept = &extents[..n - n / 20];
        let (mut sum, mut count) = (0.0, 0.0);
        for &e in kept.iter().filter(|e| e.is_finite()) {
            sum += f64::from(e);
            count += 1.0;
        }
        let mean = if count > 0.0 { sum / count } else { 1.0 };
        let large = extents.get(n - n / 100 - usize::from(n > 0)).map_or(mean, |&e| f64::from(e));
        let spread = if mean > 0.0 && large.is_finite() { large / mean } else { CELL_EXTENTS.1 };
        let cell = ((1.2 + spread).clamp(CELL_EXTENTS.0, CELL_EXTENTS.1) * mean).clamp(1e-30, 1e30);
        self.inv_cell = (1.0 / cell) as f32;
        let columns = self.staged.len().max(1).ilog2();
        self.side_bits = (columns.div_ceil(2)).clamp(5, 10);
    }

    #[inline]
    pub(super) fn cells(&self, fat: &Fat) -> Cells {
        let at = |x| cell(x, self.inv_cell);
        Cells { first: [at(fat.lo[1]), at(fat.lo[2])], last: [at(fat.hi[1]), at(fat.hi[2])] }
    }

    #[inline]
    fn column_index(&self, y: i32, z: i32) -> usize {
        let mask = (1_usize << self.side_bits) - 1;
        ((y as usize & mask) << self.side_bits) | (z as usize & mask)
    }

    #[inline]
    fn is_huge(cells: &Cells) -> bool {
        (0..2).any(|d| cells.last[d].saturating_sub(cells.first[d]) >= MAX_SPAN)
    }

    fn sort(&mut self) {
        self.huge.clear();
        self.keys.clear();
        self.longest = 0.0;
        self.bounds = Fat::EMPTY;
        for (i, (slot, fat)) in self.staged.iter().enumerate() {
            if Self::is_huge(&self.cells(fat)) {
                self.huge.push((*slot, *fat));
            } else {
                let bits = fat.lo[0].to_bits();
                let key = bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000); // order of floats as integers
                self.keys.push((u64::from(key) << 32) | i as u64);
                self.longest = self.longest.max(fat.hi[0] - fat.lo[0]);
                for d in 0..3 {
                    self.bounds.lo[d] = self.bounds.lo[d].min(fat.lo[d]);
                    self.bounds.hi[d] = self.bounds.hi[d].max(fat.hi[d]);
                }
            }
        }
        radix_sort(&mut self.keys, &mut self.keys_swap);
        self.slots.clear();
        self.fats.clear();
        for &key in &self.keys {
            let (slot, fat) = self.staged[key as u32 as usize];
            self.slots.push(slot);
            self.fats.push(fat);
        }
    }

    /// Counting sort of the boxes into their columns; inside a column the order along the sweep axis stays.
    pub(super) fn scatter(&mut self) {
        let columns = 1_usize << (2 * self.side_bits);
        self.starts.clear();
        self.starts.resize(columns + 1, 0);
        let (bits, mask) = (self.side_bits, (1_usize << self.side_bits) - 1);
        let index = move |y: i32, z: i32| ((y as usize & mask) << bits) | (z as usize & mask);
        self.ranges.clear();
        for fat in &self.fats {
            let at = |x| cell(x, self.inv_cell);
            let c = Cells { first: [at(fat.lo[1]), at(fat.lo[2])], last: [at(fat.hi[1]), at(fat.hi[2])] };
            self.ranges.push(c);
            for y in c.first[0]..=c.last[0] {
                for z in c.first[1]..=c.last[1] {
                    self.starts[index(y, z)] += 1;
                }
            }
        }
        let mut total = 0;
        for start in &mut self.starts {
            total += std::mem::replace(start, total);
        }
        self.entries.clear();
        self.entries.resize(total as usize, 0);
        for (i, c) in self.ranges.iter().enumerate() {
            for y in c.first[0]..=c.last[0] {
                for z in c.first[1]..=c.last[1] {
                    let bits = (u32::from(y == c.first[0]) << 30) | (u32::from(z == c.first[1]) << 31);
                    let at = &mut self.starts[index(y, z)];
                    self.entries[*at as usize] = i as u32 | bits;
                    *at += 1;
                }
            }
        }
        // Each start has moved to the start of the next column.
        self.starts.copy_within(..columns, 1);
        self.starts[0] = 0;
    }

    /// Number of columns.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Work of sweeping from a column to the last: entries, and a little for each column.
    pub(super) fn work(&self, from: usize) -> usize {
        8 * (self.entries.len() - self.starts[from] as usize) + (self.count() - from)
    }

    /// Calls `found` once for each pair of boxes, none of them huge, that overlap as `f32` boxes, in columns from
    /// `from` on until so much work is done; returns the next column. `load` gives id and track of a slot, or `None`
    /// to leave it out.
    pub(super) fn sweep<'t>(
        &mut self,
        from: usize,
        work: usize,
        mut load: impl FnMut(u32) -> Option<(ProxyId, &'t Track)>,
        mut found: impl FnMut(Guest<'_>, Guest<'_>),
    ) -> usize {
        let mut column = std::mem::take(&mut self.column);
        let (mut at, until) = (from, self.work(from).saturating_sub(work));
        while at < self.count() && self.work(at) > until {
            let entries = &self.entries[self.starts[at] as usize..self.starts[at + 1] as usize];
            if entries.len() > 1 {
                column.gather(entries, &self.slots, &self.fats, &mut load);
                column.sweep(&mut found);
            }
            at += 1;
        }
        self.column = column;
        at
    }

    /// The same for pairs with a huge box.
    pub(super) fn sweep_huge(&self, mut found: impl FnMut(u32, u32)) {
        for (n, (slot, fat)) in self.huge.iter().enumerate() {
            self.scan(fat, |other| found(*slot, other));
            for (other, other_fat) in &self.huge[..n] {
                if fat.overlaps(other_fat) {
                    found(*slot, *other);
                }
            }
        }
    }

    /// Boxes that are not huge, by position along the sweep axis only.
    fn scan(&self, query: &Fat, mut found: impl FnMut(u32)) {
        let begin = self.fats.partition_point(|f| f.lo[0] < query.lo[0] - self.longest);
        for (fat, &slot) in self.fats[begin..].iter().zip(&self.slots[begin..]) {
            if fat.lo[0] > query.hi[0] {
                break;
            }
            if fat.overlaps(query) {
                found(slot);
            }
        }
    }

    /// Calls `found` once for each box that overlaps `aabb` as an `f32` box.
    pub(super) fn query(&self, aabb: &Aabb, mut found: impl FnMut(u32)) {
        let query = &self.frame.fat(aabb);
        for (slot, fat) in &self.huge {
            if fat.overlaps(query) {
                found(*slot);
            }
        }
        let cells = self.cells(query);
        if Self::is_huge(&cells) {
            return self.scan(query, found);
        }
        for y in cells.first[0]..=cells.last[0] {
            for z in cells.first[1]..=cells.last[1] {
                let bits = (u32::from(y == cells.first[0]) << 30) | (u32::from(z == cells.first[1]) << 31);
                self.query_column(self.column(y, z), query, bits, &mut found);
            }
        }
    }

    #[inline]
    pub(super) fn column(&self, y: i32, z: i32) -> &[u32] {
        let index = self.column_index(y, z);
        &self.entries[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    #[inline]
    fn query_column(&self, column: &[u32], query: &Fat, bits: u32, found: &mut impl FnMut(u32)) {
        let fat = |e: u32| &self.fats[(e & INDEX) as usize];
        let begin = column.partition_point(|&e| fat(e).lo[0] < query.lo[0] - self.longest);
        for &e in &column[begin..] {
            let f = fat(e);
            if f.lo[0] > query.hi[0] {
                break;
            }
            if ((e | bits) >> 30) == 3 && f.overlaps(query) {
                found(self.slots[(e & INDEX) as usize]);
            }
        }
    }

    /// Slots in the structure.
    pub(super) fn len(&self) -> usize {
        self.slots.len() + self.huge.len()
    }
}

impl Column {
    fn gather<'t>(
        &mut self,
        entries: &[u32],
        slots: &[u32],
        fats: &[Fat],
        load: &mut impl FnMut(u32) -> Option<(ProxyId, &'t Track)>,
    ) {
        self.entries.clear();
        self.names.clear();
        self.tracks.clear();
        for &e in entries {
            let i = (e & INDEX) as usize;
            let Some((id, track)) = load(slots[i]) else { continue };
            let Fat { lo, hi } = fats[i];
            let sides = [lo[1], lo[2], -hi[1], -hi[2]];
            let at = self.entries.len() as u32;
            self.entries.push(Entry { sides, lo: lo[0], hi: hi[0], at, bits: e >> 30 });
            self.names.push((slots[i], id));
            self.tracks.push(*track);
        }
        if self.hits.len() < entries.len() {
            self.hits.resize(entries.len().next_power_of_two(), NONE);
        }
    }

    /// The hot loop. Storing every slot and advancing by the outcome of the test (no branch) is two to three
    /// times faster than a branch that goes either way.
    fn sweep(&mut self, found: &mut impl FnMut(Guest<'_>, Guest<'_>)) {
        let (names, tracks, hits) = (&self.names[..], &self.tracks[..], &mut self.hits[..]);
        let guest = |at: u32| {
            let (slot, id) = names[at as usize];
            Guest { slot, id, track: &tracks[at as usize] }
        };
        let mut rest = &self.entries[..];
        while let Some((own, others)) = rest.split_first() {
            rest = others;
            let [a, b, c, d] = own.sides;
            let limits = [-c, -d, -a, -b];
            let mut len = 0;
            for other in others {
                if other.lo > own.hi {
                    break;
                }
                let mut hit = (other.bits | own.bits) == 3;
                for (side, limit) in other.sides.iter().zip(&limits) {
                    hit &= side <= limit;
                }
                hits[len] = other.at;
                len += usize::from(hit);
            }
            for &other in &hits[..len] {
                found(guest(own.at), guest(other));
            }
        }
    }
}

fn is_finite(aabb: &Aabb) -> bool {
    aabb.min.is_finite() && aabb.max.is_finite() && aabb.size().is_finite()
}

/// Mean of the centres of finite boxes; zero if there is none.
pub(super) fn mean_center(boxes: &[Aabb]) -> DVec3 {
    let (mut count, mut sum) = (0.0, DVec3::ZERO);
    for b in boxes.iter().filter(|b| is_finite(b)) {
        count += 1.0;
        sum += b.center();
    }
    let mean = sum / count;
    if mean.is_finite() { mean } else { DVec3::ZERO }
}

/// Sorts by the upper 32 bits, stable: three passes of 11 bits.
fn radix_sort(keys: &mut Vec<u64>, swap: &mut Vec<u64>) {
    const BITS: u32 = 11;
    let mut counts = [[0_u32; 1 << BITS]; 3];
    let digit = |key: u64, pass: usize| ((key >> (32 + BITS * pass as u32)) & ((1 << BITS) - 1)) as usize;
    for &key in keys.iter() {
        for (pass, count) in counts.iter_mut().enumerate() {
            count[digit(key, pass)] += 1;
        }
    }
    swap.clear();
    swap.resize(keys.len(), 0);
    for (pass, count) in counts.iter_mut().enumerate() {
        let mut total = 0;
        for c in count.iter_mut() {
            total += std::mem::replace(c, total);
        }
        for &key in keys.iter() {
            let at = &mut count[digit(key, pass)];
            swap[*at as usize] = key;
            *at += 1;
        }
        std::mem::swap(keys, swap);
    }
}
