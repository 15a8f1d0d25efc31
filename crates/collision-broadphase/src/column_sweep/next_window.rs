//! The find: tracks, columns and pairs of the next window, made piece by piece while the present one runs.
//!
//! # Reference
//! Own.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `begins` | step of the present window that is step 0 of the next | steps |
//! | restless | boxes that the pieces made so far do not describe: new, or off their next track | - |
//! | misplaced | fixed boxes that are not where the columns of fixed boxes say | - |
//! | lead | steps over which a find is spread | steps |
//!
//! # Formula
//! ```text
//! next track   = present line with a later origin of time, or another line from the last step's motion
//! pair of the next window:  sure at its step 0, or looked at there
//! switch at step `begins`:  look at the unsure pairs, work in restless boxes; all others are right as they are
//! ```
//! Present pairs stay exact until the switch and the next ones are exact from it on, so a switch changes no pair and
//! needs no comparison with the past. Only a find *at once* (many boxes new or off their track) has to compare:
//! the pairs of those boxes before and after.
//!
//! # Cost
//! O(n + candidates) for a find, in about equal shares over `lead` steps; the largest indivisible share is sorting.
//! Twice the memory of one window.
//!
//! # Numerics
//! See `predict.rs`. If the boxes have moved so far that the origin costs digits, the find is made at once.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `finds_in_pieces_agree_with_brute_force`, `all_equal_brute_force_on_moving_scenes`, `soak_column_sweep`.

use super::{
    ColumnSweep, DEAD, HINTED, MISPLACED, PENDING, RESTLESS, RETRACKED, STAGED,
    columns::{Columns, Guest, mean_center},
    pair_store::PairStore,
    predict::{NEVER, Track, classify},
};
use crate::proxies::{NONE, Proxies, Tenant};
use sim_math::{Aabb, glam::DVec3};
use sim_traits::Pair;
use std::ops::Range;

/// Steps over which a find is spread if the window is long enough: more would flatten the load further, but every
/// box that leaves its track meanwhile has to be worked in twice.
const LEAD: u32 = 8;

/// What comes next in a find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Stage {
    #[default]
    Idle,
    /// Tracks and swept boxes, from this slot on.
    Tracks(usize),
    Sort,
    Scatter,
    /// Pairs of moving boxes, from this column on.
    Sweep(usize),
    Huge,
    /// Pairs of moving and fixed boxes, from this slot on.
    Fixed(usize),
    Ready,
}

impl Stage {
    /// Stages after this one, Huge counted with Sweep.
    fn left(self) -> u32 {
        match self {
            Self::Idle | Self::Ready => 0,
            Self::Tracks(_) => 4,
            Self::Sort => 3,
            Self::Scatter => 2,
            Self::Sweep(_) => 1,
            Self::Huge | Self::Fixed(_) => 0,
        }
    }
}

/// The next window in the making.
#[derive(Debug, Clone, Default)]
pub(super) struct Next {
    pub(super) stage: Stage,
    pub(super) begins: u32,
    pub(super) window: u32,
    pub(super) origin: DVec3,
    pub(super) tracks: Vec<Track>,
    columns: Columns,
    pub(super) store: PairStore,
    axes: [usize; 3],
    pub(super) restless: Vec<u32>,
    /// So many of the dead slots are in no structure of the next window.
    forgotten: usize,
    sample: Vec<Aabb>,
}

impl Next {
    /// Forgets a box that is gone or has left its track.
    pub(super) fn forget(&mut self, slot: u32) {
        if self.stage != Stage::Idle && (slot as usize) < self.store.slots() {
            self.store.kill(slot);
        }
    }
}

/// Some boxes of one kind, at least 16 if there are as many.
fn take_sample(proxies: &Proxies, kind: Tenant, out: &mut Vec<Aabb>) {
    for stride in [proxies.slots() / 1000 + 1, 1] {
        out.clear();
        let slots = (0..proxies.slots()).step_by(stride).filter(|&s| proxies.tenants[s] == kind);
        out.extend(slots.map(|s| proxies.boxes[s]));
        if out.len() >= 16 {
            return;
        }
    }
}

impl ColumnSweep {
    /// Steps over which the next find is spread.
    fn lead(&self) -> u32 {
        self.window.min(LEAD)
    }

    /// Steps that are left for a find, the given one included.
    fn steps_left(&self, step: u32) -> u32 {
        self.ends.saturating_sub(step) + 1
    }

    /// Ends the window as soon as a find can be spread, because single boxes have become many.
    pub(super) fn hurry(&mut self) {
        if self.next.stage == Stage::Idle {
            self.ends = self.ends.min(self.step + self.lead());
        }
    }

    /// Slots whose tracks are renewed in a step; their boxes need the rates of that step.
    pub(super) fn staging_at(&self, step: u32) -> Range<usize> {
        let left = self.steps_left(step);
        // Slots that came after the find began are not part of it.
        let (at, slots) = match self.next.stage {
            Stage::Idle if left <= self.lead() => (0, self.proxies.slots()),
            Stage::Tracks(at) => (at, self.next.tracks.len()),
            _ => return 0..0,
        };
        // The first quarter of the lead.
        let share = left.saturating_sub(3 * self.lead() / 4).max(1) as usize;
        at..(at + slots.saturating_sub(at).div_ceil(share)).min(slots)
    }

    /// The share of the next find that belongs to this step.
    pub(super) fn advance(&mut self) {
        let left = self.steps_left(self.step);
        let mut slice = self.staging_at(self.step);
        if self.next.stage == Stage::Idle && (left > self.lead() || !self.begin_next(self.ends, false)) {
            return;
        }
        loop {
            let columns = self.next.columns.count();
            let later = u32::from(self.fixed.len() > 0);
            match self.next.stage {
                Stage::Tracks(_) => self.stage_tracks(slice),
                Stage::Sort => self.next.columns.sort_staged(),
                Stage::Scatter => self.next.columns.scatter(),
                Stage::Sweep(at) => {
                    let share = (left - later.min(left - 1)) as usize;
                    self.sweep_columns(at, self.next.columns.work(at).div_ceil(share));
                }
                Stage::Huge => self.sweep_huge(),
                Stage::Fixed(at) => {
                    let slots = self.next.tracks.len();
                    self.sweep_fixed(at..at + (slots - at).div_ceil(left as usize));
                }
                Stage::Idle | Stage::Ready => return,
            }
            self.next.stage = match self.next.stage {
                Stage::Tracks(at) if at >= self.next.tracks.len() => Stage::Sort,
                Stage::Sort => Stage::Scatter,
                Stage::Scatter => Stage::Sweep(0),
                Stage::Sweep(at) if at >= columns => Stage::Huge,
                Stage::Huge => Stage::Fixed(0),
                Stage::Fixed(at) if at >= self.next.tracks.len() => Stage::Ready,
                unfinished => unfinished,
            };
            let over = left > 1 && left > self.next.stage.left() && self.next.stage != Stage::Huge;
            if over {
                return;
            }
            slice = match self.next.stage {
                Stage::Tracks(at) => at..self.next.tracks.len(),
                _ => 0..0,
            };
        }
    }

    /// Starts a find for a window that begins at step `begins` of the present one. Refuses, unless `at_once`, if
    /// the columns of fixed boxes or the origin must change, because present tracks depend on them.
    fn begin_next(&mut self, begins: u32, at_once: bool) -> bool {
        let mut sample = std::mem::take(&mut self.next.sample);
        take_sample(&self.proxies, Tenant::Moving, &mut sample);
        let (center, old) = (mean_center(&sample), self.origin);
        // The origin follows the boxes only when it would cost digits.
        let far = center != old
            && (center - old).abs().max_element()
                > 0.1 * center.abs().max_element().max(old.abs().max_element());
        let crowd = 64 + self.proxies.len() / 32;
        let begin = at_once || !(far || self.misplaced.len() > crowd || self.dead_fixed.len() > crowd);
        if begin {
            let next = &mut self.next;
            next.stage = Stage::Tracks(0);
            (next.begins, next.origin) = (begins, if far { center } else { old });
            next.axes = next.columns.begin(&sample, Some(next.origin));
            next.tracks.resize(self.proxies.slots(), Track::REST);
            next.store.clear(self.proxies.slots(), next.window);
            next.restless.clear();
            next.forgotten = self.dead.len();
        }
        self.next.sample = sample;
        begin
    }

    fn stage_tracks(&mut self, slots: Range<usize>) {
        let (begins, window) = (self.next.begins, self.next.window);
        let end = slots.end;
        for s in slots {
            match self.proxies.tenants[s] {
                Tenant::Free => continue,
                Tenant::Moving => {
                    let (mut track, other) = self.renewed(s, begins, window);
                    if self.next.origin != self.origin {
                        track = self.transplanted(s, &track);
                    }
                    self.next.tracks[s] = track;
                    self.next.columns.push(s as u32, track.swept(0, window, self.next.axes));
                    self.flags[s] |= STAGED | if other { RETRACKED } else { 0 };
                }
                Tenant::Fixed => {
                    self.next.tracks[s] = self.tracks[s].later(0, window);
                    self.flags[s] |= STAGED;
                }
            }
            self.flags[s] &= !HINTED;
        }
        self.next.stage = Stage::Tracks(end);
    }

    /// Sweeps columns from `at` on until so much work is done.
    fn sweep_columns(&mut self, at: usize, work: usize) {
        let Next { columns, store, tracks, window, .. } = &mut self.next;
        let (proxies, flags) = (&self.proxies, &self.flags);
        let load = |slot: u32| {
            let s = slot as usize;
            (flags[s] & (DEAD | RESTLESS) == 0).then(|| (proxies.ids[s], &tracks[s]))
        };
        let end = columns.sweep(at, work, load, |a, b| add_found(store, *window, a, b));
        self.next.stage = Stage::Sweep(end);
    }

    fn sweep_huge(&mut self) {
        let Next { columns, store, tracks, window, .. } = &mut self.next;
        let (proxies, flags) = (&self.proxies, &self.flags);
        let guest = |slot: u32| Guest { slot, id: proxies.ids[slot as usize], track: &tracks[slot as usize] };
        columns.sweep_huge(|a, b| {
            if (flags[a as usize] | flags[b as usize]) & (DEAD | RESTLESS) == 0 {
                add_found(store, *window, guest(a), guest(b));
            }
        });
    }

    fn sweep_fixed(&mut self, slots: Range<usize>) {
        let Next { store, tracks, window, origin, .. } = &mut self.next;
        let (proxies, flags) = (&self.proxies, &self.flags);
        let guest = |slot: u32| Guest { slot, id: proxies.ids[slot as usize], track: &tracks[slot as usize] };
        let end = if self.fixed.len() > 0 { slots.end } else { tracks.len() };
        for s in slots {
            if self.fixed.len() > 0
                && proxies.tenants[s] == Tenant::Moving
                && flags[s] & (STAGED | DEAD | RESTLESS) == STAGED
            {
                let swept = tracks[s].swept_box(0, *window, *origin);
                self.fixed.query(&swept, |b| {
                    if flags[b as usize] & (DEAD | RESTLESS | MISPLACED) == 0 {
                        add_found(store, *window, guest(s as u32), guest(b));
                    }
                });
            }
        }
        self.next.stage = Stage::Fixed(end);
    }

    /// The next window does not describe this box: it is worked in after the switch.
    pub(super) fn make_restless(&mut self, slot: u32) {
        let s = slot as usize;
        let yet_to_come = match self.next.stage {
            Stage::Idle => true,
            // Slots beyond the tracks were not there when the find began.
            Stage::Tracks(at) => s >= at && s < self.next.tracks.len(),
            _ => false,
        };
        if !yet_to_come && self.flags[s] & (RESTLESS | DEAD) == 0 {
            self.flags[s] = (self.flags[s] | RESTLESS) & !RETRACKED;
            self.next.restless.push(slot);
            self.next.forget(slot);
        }
    }

    /// The next window becomes the present one. Its log is empty and off meanwhile: nothing that happens here is
    /// a change.
    pub(super) fn switch(&mut self) {
        debug_assert_eq!((self.next.stage, self.step), (Stage::Ready, self.next.begins));
        self.report.finds += 1;
        for i in 0..self.misplaced.len() {
            self.make_restless(self.misplaced[i]);
        }
        let (slots, next) = (self.proxies.slots(), &mut self.next);
        next.tracks.resize(slots, Track::REST);
        for &slot in &next.restless {
            next.tracks[slot as usize] = self.tracks[slot as usize].later(next.begins, next.window);
            next.store.add_slot(slot);
        }
        std::mem::swap(&mut self.tracks, &mut next.tracks);
        std::mem::swap(&mut self.moving, &mut next.columns);
        std::mem::swap(&mut self.store, &mut next.store);
        (self.origin, self.window, self.ends, self.step) = (next.origin, next.window, next.window, 0);
        next.stage = Stage::Idle;
        for flags in &mut self.flags {
            *flags &= DEAD | MISPLACED;
        }
        self.touched_at.fill(0);
        self.extras.clear();
        self.look_at_due();
        let restless = std::mem::take(&mut self.next.restless);
        for &slot in &restless {
            self.flags[slot as usize] |= PENDING;
        }
        for &slot in &restless {
            if self.flags[slot as usize] & DEAD == 0 {
                self.work_in(slot);
            }
        }
        self.next.restless = restless;
        self.store.log = std::mem::take(&mut self.next.store.log);
        for slot in self.dead.drain(..self.next.forgotten) {
            self.proxies.release(slot);
        }
    }

    /// A find at once, whatever has been prepared: for boxes that are many and new, or off their track.
    pub(super) fn find_at_once(&mut self, window: u32) {
        let mut changed = std::mem::take(&mut self.pending);
        changed.retain(|&slot| self.flags[slot as usize] & DEAD == 0);
        let log = self.store.log.is_on();
        self.before.clear();
        if log {
            list_pairs_of(&self.store, &self.proxies, &changed, &mut self.before);
        }
        for flags in &mut self.flags {
            *flags &= !(STAGED | RESTLESS | RETRACKED);
        }
        self.next.window = window;
        self.begin_next(self.step, true);
        self.rebuild_fixed();
        self.stage_tracks(0..self.proxies.slots());
        self.next.columns.sort_staged();
        self.next.columns.scatter();
        self.sweep_columns(0, usize::MAX);
        self.sweep_huge();
        self.sweep_fixed(0..self.proxies.slots());
        self.next.stage = Stage::Ready;
        self.switch();
        if log {
            self.after.clear();
            list_pairs_of(&self.store, &self.proxies, &changed, &mut self.after);
            self.store.log_difference(&mut self.before, &mut self.after);
        }
        changed.clear();
        self.pending = changed;
    }

    /// New columns of fixed boxes if they have changed, and their tracks.
    fn rebuild_fixed(&mut self) {
        let moved = self.next.origin != self.origin;
        for s in 0..self.proxies.slots() {
            if self.proxies.tenants[s] == Tenant::Fixed && (moved || self.flags[s] & MISPLACED != 0) {
                let aabb = &self.proxies.boxes[s];
                self.tracks[s] = Track::new(aabb, self.next.origin, super::NO_RATE, 0.0, 0, self.next.window);
            }
        }
        if self.misplaced.is_empty() && self.dead_fixed.is_empty() {
            return;
        }
        take_sample(&self.proxies, Tenant::Fixed, &mut self.next.sample);
        self.fixed.begin(&self.next.sample, None);
        for s in 0..self.proxies.slots() {
            if self.proxies.tenants[s] == Tenant::Fixed {
                self.fixed.push_box(s as u32, &self.proxies.boxes[s]);
            }
        }
        self.fixed.sort_staged();
        self.fixed.scatter();
        for slot in self.misplaced.drain(..) {
            self.flags[slot as usize] &= !MISPLACED;
        }
        for slot in self.dead_fixed.drain(..) {
            self.proxies.release(slot);
        }
    }
}

/// A record for two boxes of the next window, if they may touch in it.
#[inline]
fn add_found(store: &mut PairStore, window: u32, a: Guest<'_>, b: Guest<'_>) {
    let (overlap, due) = classify(a.track, b.track, window);
    if !overlap && due == NEVER {
        return;
    }
    let r = store.add(a.slot, b.slot);
    if overlap {
        store.begin(r, Pair::new(a.id, b.id));
    }
    if due != NEVER {
        store.schedule(r, due);
    }
}

/// Appends the overlapping pairs of some slots, some of them twice.
fn list_pairs_of(store: &PairStore, proxies: &Proxies, slots: &[u32], out: &mut Vec<Pair>) {
    for &slot in slots {
        let mut r = store.first(slot);
        while r != NONE {
            let record = store.record(r);
            if !record.is_dead() && record.overlaps() {
                out.push(proxies.pair(record.a, record.b));
            }
            r = store.next(slot, r);
        }
    }
}
