//! Column sweep with a persistent list of pairs: the default for many moving boxes.
//!
//! # Reference
//! Own. The finder is a sweep in grid columns (`columns.rs`), made piece by piece (`next_window.rs`); the upkeep between
//! two finds (`upkeep.rs`) is by certificates (`predict.rs`).
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | window | steps between two finds | steps |
//! | step | one call of `pairs` or `pair_changes` after boxes were updated | - |
//! | record | a pair that may overlap in the window | - |
//! | pending | boxes that broke their promise or are new, not yet worked in | - |
//! | extra | boxes worked in since the window began; they are not in the columns | - |
//!
//! # Formula
//! ```text
//! step:   promise of every box; look at the records that are due;
//!         boxes that broke their promise: look at their records, query the columns, new promise
//! find:   rates from the last step, swept boxes, columns, sweep; records of all pairs that overlap or may overlap
//!         in the next window; spread over the last eight steps of the present one
//! ```
//! Both the find and the upkeep are exact, so that the switch to a new window changes no pair.
//!
//! # Cost
//! A step is O(boxes + due records + broken promises), a find O(n + candidates). No allocation once warmed up.
//! Memory about 400 B per box and 80 B per pair. The window shrinks when many promises break, and grows when boxes are
//! calm. A find is made at once, in one step, only if a sixteenth of the boxes is new or off its track.
//!
//! # Numerics
//! A pair is decided by comparing the given `f64` corners; predictions only decide when to look.
//!
//! # Failure
//! Errors of the seam only.
//!
//! # Tested by
//! `column_sweep_conforms`, `all_equal_brute_force_on_moving_scenes`, `finds_in_pieces_agree_with_brute_force`,
//! `soak_column_sweep`; bench `collision_broadphase/w1`.

mod columns;
mod next_window;
mod pair_store;
mod predict;
mod rays;
mod upkeep;

use crate::proxies::{Proxies, Tenant};
use columns::Columns;
use next_window::{Next, Stage};
use pair_store::PairStore;
use predict::{Rate, Track, rate_between, turn};
use sim_math::{Aabb, glam::DVec3};
use sim_traits::{BroadPhase, BroadPhaseError, Pair, PairChanges, ProxyId, ProxyKind, Ray};
use std::ops::ControlFlow;

/// Tunables of [`ColumnSweep`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ColumnSweepParams {
    /// Largest number of steps between two full finds, default 24, at least 1; four times as many while boxes are so
    /// calm that few pairs are found in vain. Raising it makes finds rarer, but each finds more pairs that may
    /// touch, and more boxes break their promise.
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
/// Has a track in the next window.
const STAGED: u8 = 16;
/// Is worked in after the switch to the next window, see `next_window.rs`.
const RESTLESS: u8 = 32;
/// Its next track is not the present line: both promises are checked.
const RETRACKED: u8 = 64;
/// A fixed box that is not where the columns of fixed boxes say.
const MISPLACED: u8 = 128;

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
    extras: Vec<(u32, Aabb)>,
    pending: Vec<u32>,
    misplaced: Vec<u32>,
    /// Slots whose boxes are gone but still in columns.
    dead: Vec<u32>,
    dead_fixed: Vec<u32>,
    store: PairStore,
    next: Next,
    step: u32,
    /// Steps for which tracks and records are made, and the step of the switch to the next window, not later.
    window: u32,
    ends: u32,
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
            extras: Vec::new(),
            pending: Vec::new(),
            misplaced: Vec::new(),
            dead: Vec::new(),
            dead_fixed: Vec::new(),
            store,
            next: Next::default(),
            step: 0,
            window: max_window,
            ends: max_window,
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

    /// Keeps a rate for the next track, and in its fourth lane how much it differs from the one kept before.
    fn note_rate(&mut self, s: usize, mut rate: Rate) {
        rate[0][3] = turn(&rate, &self.hints[s]);
        self.hints[s] = rate;
        self.flags[s] |= HINTED;
    }

    fn mark_pending(&mut self, slot: u32, hint: Rate) {
        let s = slot as usize;
        if self.flags[s] & PENDING == 0 {
            self.flags[s] |= PENDING;
            self.note_rate(s, hint);
            self.pending.push(slot);
            self.make_restless(slot);
        }
    }

    fn misplace(&mut self, slot: u32) {
        if self.flags[slot as usize] & MISPLACED == 0 {
            self.flags[slot as usize] |= MISPLACED;
            self.misplaced.push(slot);
        }
    }

    /// Length of the window after the present one, steps.
    fn next_window(&self) -> u32 {
        let (records, pairs) = (self.store.records(), self.store.pairs().len());
        let calm = 16 * (records - pairs) <= pairs + self.proxies.len();
        let cut_short = self.ends < self.window;
        let (next, most) = match (calm, cut_short) {
            // A window that turned out too long has cost a few pairs found in vain, so the next may be longer still.
            (true, _) => (4 * self.ends, 4 * self.params.max_window),
            (false, true) => (self.ends, self.params.max_window),
            (false, false) => (2 * self.window, self.params.max_window),
        };
        next.clamp(1, most)
    }

    /// Brings pairs up to date with the boxes.
    fn refresh(&mut self) {
        if self.touched == 0 && self.pending.is_empty() {
            return;
        }
        self.store.log.begin_phase();
        let stepped = self.touched > 0;
        if stepped {
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
        let crowded = self.pending.len() > 64 + n / 16
            || self.extras.len() > 512 + n / 4
            || self.next.restless.len() > 256 + n / 16;
        if crowded {
            // Shorter windows until promises hold again.
            let window = if self.step > 0 { self.step.clamp(4, self.window.max(4)) } else { self.window };
            let window = window.min(self.params.max_window);
            return self.find_at_once(window);
        }
        self.work_in_pending();
        if stepped {
            if self.extras.len() > 128 + n / 8 {
                self.hurry();
            }
            let longer = self.next_window();
            if self.next.stage == Stage::Idle {
                self.next.window = longer;
            }
            self.advance();
            if self.step >= self.ends {
                if self.next.stage == Stage::Ready { self.switch() } else { self.find_at_once(longer) }
            }
        }
    }
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
        self.hints[s] = NO_RATE;
        self.touched_at[s] = 0;
        self.flags[s] = 0;
        self.store.add_slot(slot);
        self.mark_pending(slot, NO_RATE);
        match kind {
            ProxyKind::Moving => self.moving_len += 1,
            ProxyKind::Fixed => self.misplace(slot),
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
        self.next.forget(slot);
        if self.flags[s] & EXTRA != 0 {
            self.extras.retain(|e| e.0 != slot);
        }
        if tenant == Tenant::Moving {
            self.dead.push(slot);
            self.moving_len -= 1;
            self.touched -= usize::from(self.touched_at[s] == self.step + 1);
        } else {
            self.dead_fixed.push(slot);
            self.misplaced.retain(|&m| m != slot);
        }
        self.flags[s] |= DEAD;
        Ok(())
    }

    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError> {
        let mut slots = std::mem::take(&mut self.slots);
        let checked = self.proxies.resolve(ids, boxes, &mut slots);
        if checked.is_ok() {
            let next = self.step + 1;
            let staging = self.staging_at(next);
            for (&slot, aabb) in slots.iter().zip(boxes) {
                let s = slot as usize;
                let old = std::mem::replace(&mut self.proxies.boxes[s], *aabb);
                if self.proxies.tenants[s] == Tenant::Moving {
                    self.touched += usize::from(self.touched_at[s] != next);
                    self.touched_at[s] = next;
                } else {
                    // Fixed boxes promise to stay exactly where they are: their columns have no slack.
                    if old != *aabb {
                        self.mark_pending(slot, NO_RATE);
                        self.misplace(slot);
                    }
                    continue;
                }
                self.check_promises(slot, next, || rate_between(&old, aabb));
                if staging.contains(&s) && self.flags[s] & PENDING == 0 {
                    self.note_rate(s, rate_between(&old, aabb));
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
