//! Upkeep of pairs between two finds: looks that are due, broken promises, new boxes.
//!
//! Everything here is exact: a pair is decided by the given boxes, tracks only say when to look.

use super::{
    ColumnSweep, DEAD, EXTRA, HINTED, MISPLACED, NO_RATE, PENDING, RETRACKED,
    predict::{NEVER, Track, next_look, turn},
};
use crate::proxies::{NONE, Tenant};

impl ColumnSweep {
    /// Boxes that were not given anew stand still, whatever they promised.
    pub(super) fn check_untouched(&mut self) {
        for slot in 0..self.proxies.slots() as u32 {
            let s = slot as usize;
            if self.proxies.tenants[s] == Tenant::Moving && self.touched_at[s] != self.step {
                self.check_promises(slot, self.step, || NO_RATE);
            }
        }
    }

    /// Notes a broken promise of this window or of the next; `rate` is the last step's.
    #[inline]
    pub(super) fn check_promises(&mut self, slot: u32, step: u32, rate: impl FnOnce() -> super::Rate) {
        let s = slot as usize;
        let (aabb, k) = (&self.proxies.boxes[s], step as i32);
        if !self.tracks[s].holds(aabb, self.origin, k) {
            self.mark_pending(slot, rate());
        } else if self.flags[s] & RETRACKED != 0
            && !self.next.tracks[s].holds(aabb, self.next.origin, k - self.next.begins as i32)
        {
            self.make_restless(slot);
        }
    }

    /// Looks at the records of this step. Loads and tests run in batches without branches, so that the
    /// processor has many of the scattered reads under way at once.
    pub(super) fn look_at_due(&mut self) {
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
    fn settle(&mut self, r: u32, a: u32, b: u32, overlap: bool) {
        self.store.set_overlap(r, overlap, || self.proxies.pair(a, b));
        let (track_a, track_b) = (&self.tracks[a as usize], &self.tracks[b as usize]);
        self.store.schedule(r, next_look(track_a, track_b, self.step, self.window, overlap));
    }

    /// Deviation that a box is granted at least, metres.
    fn slack(&self, s: usize) -> f32 {
        let size = self.proxies.boxes[s].size().max_element();
        if size.is_finite() { (self.params.slack * size) as f32 } else { 0.0 }
    }

    /// A promise for a window of `last` steps that begins `begins` steps after the present one did. The flag
    /// tells whether it is another line than that of the present promise.
    pub(super) fn renewed(&self, s: usize, begins: u32, last: u32) -> (Track, bool) {
        let (aabb, track) = (&self.proxies.boxes[s], &self.tracks[s]);
        let now = self.step as i32 - begins as i32;
        if self.proxies.tenants[s] == Tenant::Fixed {
            return (Track::new(aabb, self.origin, NO_RATE, 0.0, 0, last), true);
        }
        let (hinted, broken) = (self.flags[s] & HINTED != 0, self.flags[s] & PENDING != 0);
        if !hinted {
            return (track.later(begins, last), false);
        }
        let (slack, rate) = (self.slack(s), self.hints[s]);
        // A rate that was the same when it was noted last is to be trusted, whatever the line says.
        let speed = turn(&rate, &NO_RATE);
        let steady = rate[0][3] <= 0.1 * speed;
        let turn_by = if steady { rate[0][3] } else { turn(&rate, &track.rate) };
        let (tol, least) = (track.tol(), slack.max(track.least_tol()));
        let strayed = turn(&rate, &track.rate) * last as f32;
        if !broken && strayed <= 0.25 * tol && tol <= 1.2 * least {
            return (track.later(begins, last), false);
        }
        if !steady && speed < 40.0 * slack && turn_by > 0.5 * speed {
            // Slow and not steady: perhaps trembling at rest. The mean of many steps says more than the last.
            let (mean, steps) = match self.step {
                0..4 => (track.rate, 8),
                step => (track.mean_rate(aabb, self.origin, step), step),
            };
            let off = track.deviation(aabb, self.origin, self.step as i32);
            if turn(&mean, &NO_RATE) * steps as f32 <= 2.5 * tol && off <= 3.0 * tol {
                if !broken && self.step < 8 {
                    return (track.later(begins, last), false);
                }
                // The tolerance creeps down until a promise breaks: few of those cost less than looking at many
                // pairs too often.
                let fade = if tol > 1.7 * slack { 0.97 } else { 0.998 };
                let tol = (fade * tol).min(2.0 * (slack + speed)).max(1.1 * off).max(slack);
                let rest = track.resting(aabb, self.origin, self.step, tol, speed, self.window);
                return (rest.later(begins, last), true);
            }
        }
        // What a box has needed so far: more after a broken promise, less after kept ones.
        let off = track.deviation(aabb, self.origin, self.step as i32);
        let needed = if broken && !steady { 2.0 * tol } else { (3.0 * off).min(0.5 * tol) };
        let tol = (slack + (0.6 * last as f32 + 1.5) * turn_by).max(needed).min(400.0 * slack);
        (Track::new(aabb, self.origin, rate, tol, now, last), true)
    }

    /// A track of the same motion from now on, relative to the origin of the next window.
    pub(super) fn transplanted(&self, s: usize, track: &Track) -> Track {
        // The old tolerance has rounding in it that is no more.
        let tol = track.tol().min(400.0 * self.slack(s));
        Track::new(&self.proxies.boxes[s], self.next.origin, track.rate, tol, 0, self.next.window)
    }

    /// Single boxes that broke their promise, or are new.
    pub(super) fn work_in_pending(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        for &slot in &pending {
            let s = slot as usize;
            if self.flags[s] & DEAD == 0 {
                self.tracks[s] = self.renewed(s, 0, self.window).0;
                self.work_in(slot);
            }
        }
        self.pending = pending;
        self.pending.clear();
    }

    /// Looks at all pairs of a box that has a new track and finds its other partners.
    pub(super) fn work_in(&mut self, slot: u32) {
        let s = slot as usize;
        self.token = self.token.wrapping_add(1);
        let mut r = self.store.first(slot);
        while r != NONE {
            let record = self.store.record(r);
            if !record.is_dead() {
                self.seen[(record.a ^ record.b ^ slot) as usize] = self.token;
                self.settle(r, record.a, record.b, self.proxies.overlap(record.a, record.b));
            }
            r = self.store.next(slot, r);
        }
        let swept = self.tracks[s].swept_box(self.step, self.window, self.origin);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        self.moving.query(&swept, |o| found.push(o));
        if !self.proxies.is_fixed(slot) {
            self.fixed.query(&swept, |o| found.push(o));
        }
        found.retain(|&o| self.flags[o as usize] & (PENDING | EXTRA | MISPLACED | DEAD) == 0);
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
}
