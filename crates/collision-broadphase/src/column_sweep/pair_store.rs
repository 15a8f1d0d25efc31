//! Pairs of the present window: who may touch whom, who touches now, and which pair is due when.

use crate::{changes::ChangeLog, proxies::NONE};
use sim_traits::{Pair, PairChanges};

/// One pair of slots that may overlap in this window. The two links thread it into the lists of both slots.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub(super) a: u32,
    pub(super) b: u32,
    next_a: u32,
    next_b: u32,
    /// Place in the list of overlapping pairs, or [`NONE`].
    place: u32,
    /// Step of the next look; entries of the calendar that say otherwise are stale.
    pub(super) due: u32,
}

impl Record {
    #[inline]
    pub(super) fn overlaps(&self) -> bool {
        self.place != NONE
    }

    #[inline]
    pub(super) fn is_dead(&self) -> bool {
        self.a == NONE
    }
}

/// The store.
#[derive(Debug, Clone, Default)]
pub(super) struct PairStore {
    records: Vec<Record>,
    heads: Vec<u32>,
    /// Overlapping pairs as reported, and the record of each.
    pairs: Vec<Pair>,
    record_of: Vec<u32>,
    /// Records by step of their next look.
    calendar: Vec<Vec<u32>>,
    pub(super) log: ChangeLog,
}

impl PairStore {
    /// Forgets all pairs without a word in the log; room for `slots` and for a window of `steps`.
    pub(super) fn clear(&mut self, slots: usize, steps: u32) {
        self.records.clear();
        self.heads.clear();
        self.heads.resize(slots, NONE);
        self.pairs.clear();
        self.record_of.clear();
        self.calendar.resize_with((steps as usize + 1).max(self.calendar.len()), Vec::new);
        for day in &mut self.calendar {
            day.clear();
        }
    }

    pub(super) fn add_slot(&mut self, slot: u32) {
        if self.heads.len() <= slot as usize {
            self.heads.resize(slot as usize + 1, NONE);
        }
    }

    /// Slots there is room for.
    pub(super) fn slots(&self) -> usize {
        self.heads.len()
    }

    #[inline]
    pub(super) fn record(&self, r: u32) -> Record {
        self.records[r as usize]
    }

    pub(super) fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    pub(super) fn records(&self) -> usize {
        self.records.len()
    }

    /// A new record, not overlapping, without a date.
    #[inline]
    pub(super) fn add(&mut self, a: u32, b: u32) -> u32 {
        let r = self.records.len() as u32;
        let (next_a, next_b) = (self.heads[a as usize], self.heads[b as usize]);
        self.records.push(Record { a, b, next_a, next_b, place: NONE, due: NONE });
        self.heads[a as usize] = r;
        self.heads[b as usize] = r;
        r
    }

    #[inline]
    pub(super) fn schedule(&mut self, r: u32, step: u32) {
        let record = &mut self.records[r as usize];
        if step != record.due {
            record.due = step;
            if let Some(day) = self.calendar.get_mut(step as usize) {
                day.push(r);
            }
        }
    }

    #[inline]
    pub(super) fn begin(&mut self, r: u32, pair: Pair) {
        self.records[r as usize].place = self.pairs.len() as u32;
        self.pairs.push(pair);
        self.record_of.push(r);
        self.log.push(pair, true);
    }

    #[inline]
    pub(super) fn end(&mut self, r: u32) {
        let place = self.records[r as usize].place as usize;
        let pair = self.pairs.swap_remove(place);
        self.record_of.swap_remove(place);
        self.records[r as usize].place = NONE;
        if let Some(&moved) = self.record_of.get(place) {
            self.records[moved as usize].place = place as u32;
        }
        self.log.push(pair, false);
    }

    #[inline]
    pub(super) fn set_overlap(&mut self, r: u32, overlap: bool, pair: impl FnOnce() -> Pair) {
        match (self.records[r as usize].overlaps(), overlap) {
            (false, true) => self.begin(r, pair()),
            (true, false) => self.end(r),
            _ => {}
        }
    }

    /// First record of a slot, to be followed by [`next`](Self::next).
    #[inline]
    pub(super) fn first(&self, slot: u32) -> u32 {
        self.heads[slot as usize]
    }

    /// The record after `r` in the list of `slot`. Dead records keep their links and are passed through.
    #[inline]
    pub(super) fn next(&self, slot: u32, r: u32) -> u32 {
        let record = &self.records[r as usize];
        // A dead record has lost `a` but still knows which side it was: `b` is kept for that.
        if record.b == slot { record.next_b } else { record.next_a }
    }

    /// Ends all pairs of a slot and takes its records out of use.
    pub(super) fn kill(&mut self, slot: u32) {
        let mut r = self.first(slot);
        while r != NONE {
            let next = self.next(slot, r);
            if self.records[r as usize].overlaps() {
                self.end(r);
            }
            let record = &mut self.records[r as usize];
            (record.a, record.due) = (NONE, NONE);
            r = next;
        }
        self.heads[slot as usize] = NONE;
    }

    /// Takes the list of a day; give it back with [`return_day`](Self::return_day).
    pub(super) fn take_day(&mut self, step: u32) -> Vec<u32> {
        self.calendar.get_mut(step as usize).map(std::mem::take).unwrap_or_default()
    }

    pub(super) fn return_day(&mut self, step: u32, mut day: Vec<u32>) {
        day.clear();
        if let Some(place) = self.calendar.get_mut(step as usize) {
            *place = day;
        }
    }

    /// Logs the difference between two lists of pairs, both of which are sorted here.
    pub(super) fn log_difference(&mut self, before: &mut Vec<Pair>, after: &mut Vec<Pair>) {
        before.sort_unstable();
        before.dedup();
        after.sort_unstable();
        after.dedup();
        let (mut i, mut j) = (0, 0);
        while i < before.len() || j < after.len() {
            let (x, y) = (before.get(i), after.get(j));
            if let (Some(&x), true) = (x, y.is_none_or(|y| x.is_some_and(|x| x < y))) {
                self.log.push(x, false);
                i += 1;
            } else if let (Some(&y), true) = (y, x.is_none_or(|x| y.is_some_and(|y| y < x))) {
                self.log.push(y, true);
                j += 1;
            } else {
                i += 1;
                j += 1;
            }
        }
    }

    pub(super) fn report(&mut self, out: &mut PairChanges) {
        self.log.report(out, |begun| begun.extend_from_slice(&self.pairs));
    }
}
