//! Column sweep with a persistent list of pairs: the default for many moving boxes.
//!
//! # Reference
//! Own. The finder is a sweep in grid columns (see `columns.rs`), the upkeep between two finds is by
//! certificates (see `predict.rs`).
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | window | steps between two full finds | steps |
//! | step | one call of `pairs` or `pair_changes` after boxes were updated | - |
//! | record | a pair that may overlap in the window | - |
//! | pending | boxes that broke their promise or are new, not yet worked in | - |
//! | extra | boxes worked in since the last find; they are not in the columns | - |
//!
//! # Formula
//! ```text
//! find (every window):  rates from the last step, swept boxes, columns, sweep;
//!                       records of all pairs that overlap now or may overlap in the window
//! step:                 promise of every box; look at the records that are due;
//!                       boxes that broke their promise: look at their records, query the columns, new promise
//! ```
//! Both the find and the upkeep are exact, so a find changes no pair and needs no comparison with the past.
//!
//! # Cost
//! A step is O(boxes + due records + broken promises), a find O(n + candidates). No allocation once warmed up.
//! Memory about 250 B per box and 40 B per pair. The window shrinks when many promises break.
//!
//! # Numerics
//! A pair is decided by comparing the given `f64` corners; predictions only decide when to look.
//!
//! # Failure
//! Errors of the seam only.
//!
//! # Tested by
//! `column_sweep_conforms`, `column_sweep_equals_brute_force_on_*`, `soak_*`; bench `broadphase/w1`.

mod columns;
mod pair_store;
mod predict;
mod rays;

use crate::proxies::{NONE, Proxies, Tenant};
use columns::Columns;
use pair_store::PairStore;
use predict::{NEVER, Rate, Track, classify, next_look, rate_between, turn};
use sim_math::{Aabb, glam::DVec3};
use sim_traits::{BroadPhase, BroadPhaseError, Pair, PairChanges, ProxyId, ProxyKind, Ray};
use std::ops::ControlFlow;

/// Tunables of [`ColumnSweep`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ColumnSweepParams {
    /// Largest number of steps between two full finds, default 24, at least 1. Raising it makes finds rarer,
    /// but each finds more pairs that may touch, and more boxes break their promise.
    pub max_window: u32,
    /// Deviation from straight motion that a box is granted, as a fraction of its longest side; default 0.0005.
    /// Raising it saves broken promises and costs more looks at pairs.
    pub slack: f64,
}

impl Default for ColumnSweepParams {
    fn default() -> Self {
        Self { max_window: 24, slack: 0.0005 }
    }
}

/// What a [`ColumnSweep`] holds and has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ColumnSweepReport {
    /// Full finds since construction.
    pub finds: u64,
    /// Steps since construction.
    pub steps: u64,
    /// Looks at pairs that were due, since construction.
    pub looks: u64,
    /// Boxes that broke their promise or were new, since construction.
    pub broken: u64,
    /// Pairs that may overlap in the present window.
    pub records: usize,
    /// Pairs that overlap now.
    pub pairs: usize,
    /// Present length of the window, steps.
    pub window: u32,
}

const NO_RATE: Rate = [[0.0; 4]; 2];

const PENDING: u8 = 1;
const EXTRA: u8 = 2;
const HINTED: u8 = 4;
const DEAD: u8 = 8;

/// Column sweep with a persistent list of pairs.
///
/// Lists come in an order that follows from the calls made: `pairs` in order of discovery with the last pair
/// moved into the place of one that ended; `pair_changes` in order of discovery if one step was taken since
/// the last report, else ascending. Sort if the same boxes must give the same order whatever went before.
#[derive(Debug, Clone)]
pub struct ColumnSweep {
    params: ColumnSweepParams,
    proxies: Proxies,
    tracks: Vec<Track>,
    flags: Vec<u8>,
    /// Rates for the next find, of boxes with the flag `HINTED`.
    hints: Vec<Rate>,
    /// Last step in which a box was given anew.
    touched_at: Vec<u32>,
    /// Origin of tracks and of the columns of moving boxes, metres.
    origin: DVec3,
    moving: Columns,
    fixed: Columns,
    fixed_dirty: bool,
    extras: Vec<(u32, Aabb)>,
    pending: Vec<u32>,
    dead: Vec<u32>,
    store: PairStore,
    step: u32,
    window: u32,
    /// Steps taken in the last window, and its origin.
    past: (u32, DVec3),
    moving_len: usize,
    touched: usize,
    /// Marks partners during one walk.
    seen: Vec<u32>,
    token: u32,
    slots: Vec<u32>,
    found: Vec<u32>,
    before: Vec<Pair>,
    after: Vec<Pair>,
    report: ColumnSweepReport,
}

impl Default for ColumnSweep {
    fn default() -> Self {
        Self::new(ColumnSweepParams::default())
    }
}

impl ColumnSweep {
    /// Empty, with the given tunables; values out of range are moved into it.
    #[must_use]
    pub fn new(params: ColumnSweepParams) -> Self {
        let slack = if params.slack.is_finite() { params.slack.clamp(0.0, 1.0) } else { 0.0005 };
        let max_window = params.max_window.clamp(1, 1000);
        let mut store = PairStore::default();
        store.clear(0, max_window);
        Self {
            params: ColumnSweepParams { max_window, slack },
            proxies: Proxies::default(),
            tracks: Vec::new(),
            flags: Vec::new(),
            hints: Vec::new(),
            touched_at: Vec::new(),
            origin: DVec3::ZERO,
            moving: Columns::default(),
            fixed: Columns::default(),
            fixed_dirty: false,
            extras: Vec::new(),
            pending: Vec::new(),
            dead: Vec::new(),
            store,
            step: 0,
            window: max_window,
            past: (0, DVec3::ZERO),
            moving_len: 0,
            touched: 0,
            seen: Vec::new(),
            token: 0,
            slots: Vec::new(),
            found: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            report: ColumnSweepReport::default(),
        }
    }

    /// Counters and sizes.
    #[must_use]
    pub fn report(&self) -> ColumnSweepReport {
        ColumnSweepReport {
            records: self.store.records(),
            pairs: self.store.pairs().len(),
            window: self.window,
            ..self.report
        }
    }

    fn mark_pending(&mut self, slot: u32, hint: Rate) {
        let s = slot as usize;
        if self.flags[s] & PENDING == 0 {
            self.flags[s] |= PENDING | HINTED;
            self.hints[s] = hint;
            self.pending.push(slot);
        }
    }

    /// Brings pairs up to date with the boxes.
    fn refresh(&mut self) {
        if self.touched == 0 && self.pending.is_empty() {
            return;
        }
        self.store.log.begin_phase();
        if self.touched > 0 {
            self.step += 1;
            self.report.steps += 1;
            if self.touched != self.moving_len {
                self.check_untouched();
            }
            self.touched = 0;
            self.look_at_due();
        }
        self.report.broken += self.pending.len() as u64;
        let n = self.proxies.len();
        let crowded = self.pending.len() > 64 + n / 32 || self.extras.len() > 256 + n / 16;
        if crowded {
            // Shorter windows until promises hold again.
            if self.step > 0 {
                self.window = self.step.min(self.params.max_window);
            }
            self.find();
        } else if self.step >= self.window {
            self.window = (self.window * 2).min(self.params.max_window);
            self.find();
        } else {
            self.work_in_pending();
        }
    }

    /// Boxes that were not given anew stand still, whatever they promised.
    fn check_untouched(&mut self) {
        for slot in 0..self.proxies.slots() as u32 {
            let s = slot as usize;
            if self.proxies.tenants[s] == Tenant::Moving
                && self.touched_at[s] != self.step
                && self.flags[s] & PENDING == 0
                && !self.tracks[s].holds(&self.proxies.boxes[s], self.origin, self.step)
            {
                self.mark_pending(slot, NO_RATE);
            }
        }
    }

    /// Looks at the records of this step. Loads and tests run in batches without branches, so that the
    /// processor has many of the scattered reads under way at once.
    fn look_at_due(&mut self) {
        const BATCH: usize = 64;
        let day = self.store.take_day(self.step);
        let mut ends = [(0_u32, 0_u32, 0_u32); BATCH];
        let mut overlaps = [false; BATCH];
        for batch in day.chunks(BATCH) {
            let mut n = 0;
            for &r in batch {
                let record = self.store.record(r);
                ends[n] = (r, record.a, record.b);
                n += usize::from(record.due == self.step);
            }
            for (overlap, &(_, a, b)) in overlaps.iter_mut().zip(&ends[..n]) {
                *overlap = self.proxies.overlap(a, b);
            }
            self.report.looks += n as u64;
            for (&overlap, &(r, a, b)) in overlaps.iter().zip(&ends[..n]) {
                self.settle(r, a, b, overlap);
            }
        }
        self.store.return_day(self.step, day);
    }

    #[inline]
    fn look(&mut self, r: u32, a: u32, b: u32) {
        self.settle(r, a, b, self.proxies.overlap(a, b));
    }

    #[inline]
    fn settle(&mut self, r: u32, a: u32, b: u32, overlap: bool) {
        self.store.set_overlap(r, overlap, || self.proxies.pair(a, b));
        let (track_a, track_b) = (&self.tracks[a as usize], &self.tracks[b as usize]);
        self.store.schedule(r, next_look(track_a, track_b, self.step, self.window, overlap));
    }

    /// Extent that scales the slack, metres.
    fn slack(&self, s: usize) -> f32 {
        let size = self.proxies.boxes[s].size().max_element();
        if size.is_finite() { (self.params.slack * size) as f32 } else { 0.0 }
    }

    fn new_track(&self, s: usize, now: u32) -> Track {
        let aabb = &self.proxies.boxes[s];
        if self.proxies.tenants[s] == Tenant::Fixed {
            return Track::new(aabb, self.origin, NO_RATE, 0.0, now, self.window);
        }
        let old = self.tracks[s].rate;
        let slack = self.slack(s);
        let (hinted, broken) = (self.flags[s] & HINTED != 0, self.flags[s] & PENDING != 0);
        let rate = if hinted { self.hints[s] } else { old };
        let (turn_by, speed) = (turn(&rate, &old), turn(&rate, &NO_RATE));
        // What a box has needed so far: more after a broken promise, less after kept ones; slowly less when it
        // hardly moves, because resting boxes tremble again and again.
        let needed = self.tracks[s].tol()
            * match (broken, hinted) {
                (true, _) => 2.0,
                (false, false) => 1.0,
                (false, true) if speed < 4.0 * slack => 0.9,
                (false, true) => 0.5,
            };
        if turn_by > 0.0 && speed < 40.0 * slack {
            // Slow and not steady: trembling at rest. The mean of the last window says more than its last step.
            let (steps, origin) = if now > 0 { (now, self.origin) } else { self.past };
            let mean = self.tracks[s].mean_rate(aabb, origin, steps);
            let tremble = turn(&rate, &mean);
            if tremble > 0.6 * speed {
                let tol = (slack + 2.0 * tremble).max(needed).min(400.0 * slack);
                return Track::new(aabb, self.origin, mean, tol, now, self.window);
            }
        }
        let tol = (slack + (0.6 * self.window as f32 + 1.5) * turn_by).max(needed).min(400.0 * slack);
        Track::new(aabb, self.origin, rate, tol, now, self.window)
    }

    /// Single boxes that broke their promise, or are new.
    fn work_in_pending(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        for &slot in &pending {
            if self.flags[slot as usize] & DEAD == 0 {
                self.work_in(slot);
            }
        }
        self.pending = pending;
        self.pending.clear();
    }

    fn work_in(&mut self, slot: u32) {
        let s = slot as usize;
        self.tracks[s] = self.new_track(s, self.step);
        self.token = self.token.wrapping_add(1);
        let mut r = self.store.first(slot);
        while r != NONE {
            let record = self.store.record(r);
            if !record.is_dead() {
                self.seen[(record.a ^ record.b ^ slot) as usize] = self.token;
                self.look(r, record.a, record.b);
            }
            r = self.store.next(slot, r);
        }
        let swept = self.tracks[s].swept_box(self.step, self.window, self.origin);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let stale = PENDING | EXTRA | DEAD;
        self.moving.query(&swept, |o| found.push(o));
        if !self.proxies.is_fixed(slot) {
            self.fixed.query(&swept, |o| found.push(o));
        }
        found.retain(|&o| self.flags[o as usize] & stale == 0);
        found.extend(self.extras.iter().filter(|e| e.1.overlaps(&swept)).map(|e| e.0));
        for &other in &found {
            if other != slot && self.seen[other as usize] != self.token && self.proxies.may_pair(slot, other)
            {
                self.add_candidate(slot, other);
            }
        }
        self.found = found;
        self.flags[s] &= !(PENDING | HINTED);
        if self.flags[s] & EXTRA == 0 {
            self.flags[s] |= EXTRA;
            self.extras.push((slot, swept));
        } else if let Some(extra) = self.extras.iter_mut().find(|e| e.0 == slot) {
            extra.1 = swept;
        }
    }

    /// A record for two boxes that come near each other inside a window, if they may touch in its rest.
    fn add_candidate(&mut self, a: u32, b: u32) {
        let overlap = self.proxies.overlap(a, b);
        let due =
            next_look(&self.tracks[a as usize], &self.tracks[b as usize], self.step, self.window, overlap);
        if overlap || due != NEVER {
            let r = self.store.add(a, b);
            if overlap {
                self.store.begin(r, self.proxies.pair(a, b));
            }
            self.store.schedule(r, due);
        }
    }

    /// The same at the start of a window, where all tracks begin; pairs of pending boxes are noted.
    #[inline]
    fn add_found(&mut self, a: u32, b: u32) {
        let (track_a, track_b) = (&self.tracks[a as usize], &self.tracks[b as usize]);
        let (overlap, due) = classify(track_a, track_b, self.window, || self.proxies.overlap(a, b));
        if !overlap && due == NEVER {
            return;
        }
        let r = self.store.add(a, b);
        if overlap {
            let pair = self.proxies.pair(a, b);
            self.store.begin_silently(r, pair);
            if (self.flags[a as usize] | self.flags[b as usize]) & PENDING != 0 {
                self.after.push(pair);
            }
        }
        if due != NEVER {
            self.store.schedule(r, due);
        }
    }

    /// The full find: a new window.
    fn find(&mut self) {
        self.report.finds += 1;
        self.collect_before();
        self.release_dead();
        self.past = (self.step, self.origin);
        self.step = 0;
        self.touched_at.fill(0);
        self.build_columns();
        self.store.clear(self.proxies.slots(), self.window);
        self.after.clear();
        let mut moving = std::mem::take(&mut self.moving);
        moving.sweep(|a, b| self.add_found(a, b));
        if self.fixed.len() > 0 {
            let fixed = std::mem::take(&mut self.fixed);
            for a in moving.all_slots() {
                let swept = self.tracks[a as usize].swept_box(0, self.window, self.origin);
                fixed.query(&swept, |b| self.add_found(a, b));
            }
            self.fixed = fixed;
        }
        self.moving = moving;
        if self.store.log.is_on() {
            self.store.log_difference(&mut self.before, &mut self.after);
        }
        for flags in &mut self.flags {
            *flags &= DEAD;
        }
        self.pending.clear();
        self.extras.clear();
    }

    /// Pairs, as reported so far, of boxes whose certificates are void.
    fn collect_before(&mut self) {
        self.before.clear();
        if !self.store.log.is_on() {
            return;
        }
        for &slot in &self.pending {
            if self.flags[slot as usize] & DEAD != 0 {
                continue;
            }
            let mut r = self.store.first(slot);
            while r != NONE {
                let record = self.store.record(r);
                if !record.is_dead() && record.overlaps() {
                    self.before.push(self.proxies.pair(record.a, record.b));
                }
                r = self.store.next(slot, r);
            }
        }
    }

    fn release_dead(&mut self) {
        for slot in self.dead.drain(..) {
            self.flags[slot as usize] = DEAD;
            self.proxies.release(slot);
        }
    }

    /// New tracks of moving boxes, and columns; the fixed ones only if something changed.
    fn build_columns(&mut self) {
        let slots = self.proxies.slots();
        let stride = slots / 1000 + 1;
        let sample = of_kind(&self.proxies, Tenant::Moving).map(|b| b.1).step_by(stride);
        let (center, old) = (columns::mean_center(sample.clone()), self.origin);
        // The origin follows the boxes only when it would cost digits, because fixed tracks depend on it.
        let far = (center - old).abs().max_element()
            > 0.1 * center.abs().max_element().max(old.abs().max_element());
        let retrack_fixed = far && center != old;
        self.origin = if retrack_fixed { center } else { old };
        let axes = self.moving.begin(sample, Some(self.origin));
        for s in 0..slots {
            if self.proxies.tenants[s] == Tenant::Moving {
                let track = self.new_track(s, 0);
                self.tracks[s] = track;
                self.moving.push(s as u32, track.swept(0, self.window, axes));
            } else if self.flags[s] & PENDING != 0 || retrack_fixed {
                self.tracks[s] = self.new_track(s, 0);
            }
        }
        self.moving.finish();
        if self.fixed_dirty {
            let of_kind = |kind: Tenant| of_kind(&self.proxies, kind);
            self.fixed.begin(of_kind(Tenant::Fixed).map(|b| b.1).step_by(stride), None);
            for (slot, aabb) in of_kind(Tenant::Fixed) {
                self.fixed.push_box(slot, &aabb);
            }
            self.fixed.finish();
            self.fixed_dirty = false;
        }
    }
}

/// Slots and boxes of one kind.
fn of_kind(proxies: &Proxies, kind: Tenant) -> impl Iterator<Item = (u32, Aabb)> + Clone + '_ {
    let live = (0..proxies.slots()).filter(move |&s| proxies.tenants[s] == kind);
    live.map(move |s| (s as u32, proxies.boxes[s]))
}

impl BroadPhase for ColumnSweep {
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError> {
        let slot = self.proxies.insert(id, kind, aabb)?;
        let s = slot as usize;
        if s == self.tracks.len() {
            self.tracks.push(Track::REST);
            self.touched_at.push(0);
            self.flags.push(0);
            self.hints.push(NO_RATE);
            self.seen.push(0);
        }
        self.tracks[s] = Track::REST;
        self.touched_at[s] = 0;
        self.flags[s] = 0;
        self.store.add_slot(slot);
        self.mark_pending(slot, NO_RATE);
        match kind {
            ProxyKind::Moving => self.moving_len += 1,
            ProxyKind::Fixed => self.fixed_dirty = true,
        }
        Ok(())
    }

    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError> {
        let (slot, tenant) = self.proxies.remove(id)?;
        let s = slot as usize;
        if self.store.log.is_on() {
            self.store.log.begin_phase();
        }
        self.store.kill(slot);
        if self.flags[s] & EXTRA != 0 {
            self.extras.retain(|e| e.0 != slot);
        }
        self.dead.push(slot);
        if tenant == Tenant::Moving {
            self.moving_len -= 1;
            self.touched -= usize::from(self.touched_at[s] == self.step + 1);
        } else {
            self.fixed_dirty = true;
        }
        self.flags[s] |= DEAD;
        Ok(())
    }

    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        let mut slots = std::mem::take(&mut self.slots);
        let checked = self.proxies.resolve(ids, boxes, &mut slots);
        if checked.is_ok() {
            let next = self.step + 1;
            let hint_all = next >= self.window;
            for (&slot, aabb) in slots.iter().zip(boxes) {
                let s = slot as usize;
                let old = std::mem::replace(&mut self.proxies.boxes[s], *aabb);
                if self.proxies.tenants[s] == Tenant::Moving {
                    self.touched += usize::from(self.touched_at[s] != next);
                    self.touched_at[s] = next;
                } else {
                    // Fixed boxes promise to stay exactly where they are: their columns have no slack.
                    if old != *aabb {
                        self.fixed_dirty = true;
                        self.mark_pending(slot, NO_RATE);
                    }
                    continue;
                }
                if !self.tracks[s].holds(aabb, self.origin, next) {
                    self.mark_pending(slot, rate_between(&old, aabb));
                } else if hint_all {
                    self.hints[s] = rate_between(&old, aabb);
                    self.flags[s] |= HINTED;
                }
            }
        }
        self.slots = slots;
        checked
    }

    fn pairs(&mut self, out: &mut Vec<Pair>) {
        self.refresh();
        out.clear();
        out.extend_from_slice(self.store.pairs());
    }

    fn pair_changes(&mut self, out: &mut PairChanges) {
        self.refresh();
        self.store.report(out);
    }

    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>) {
        rays::visit_box(self, aabb, visit);
    }

    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64) {
        rays::visit_ray(self, ray, visit);
    }

    fn len(&self) -> usize {
        self.proxies.len()
    }

    fn is_exact(&self) -> bool {
        true
    }
}
