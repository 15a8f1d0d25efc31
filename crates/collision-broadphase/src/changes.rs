//! Pair changes: the difference of two lists, for broad phases that know only the present one, and a log of
//! single changes for the others.

use sim_traits::{Pair, PairChanges};

/// Remembers the last reported pairs, ascending.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReportedPairs {
    last: Vec<Pair>,
    now: Vec<Pair>,
}

impl ReportedPairs {
    /// Fills the present list (any order) by `list`, writes both differences in ascending order, and remembers.
    pub(crate) fn report(&mut self, out: &mut PairChanges, list: impl FnOnce(&mut Vec<Pair>)) {
        list(&mut self.now);
        self.now.sort_unstable();
        out.begun.clear();
        out.ended.clear();
        difference(&self.now, &self.last, &mut out.begun);
        difference(&self.last, &self.now, &mut out.ended);
        std::mem::swap(&mut self.now, &mut self.last);
    }
}

/// Appends what is in `a` but not in `b`; both ascending.
pub(crate) fn difference<T: Ord + Copy>(a: &[T], b: &[T], out: &mut Vec<T>) {
    let mut rest = b;
    for &x in a {
        while rest.first().is_some_and(|&y| y < x) {
            rest = &rest[1..];
        }
        if rest.first() != Some(&x) {
            out.push(x);
        }
    }
}

#[inline]
fn stamp(position: usize, begun: bool) -> u32 {
    2 * position as u32 + u32::from(begun)
}

#[inline]
fn begins(stamp: u32) -> bool {
    stamp % 2 == 1
}

/// What happened to pairs since the last report, in the order in which it was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangeLog {
    /// Pair, and twice the position in time plus 1 for a beginning: sorting in place then keeps the order of time.
    toggles: Vec<(Pair, u32)>,
    /// Off until the first report, which lists everything.
    on: bool,
    /// A pair toggles at most once inside a phase, so that one phase needs no bookkeeping.
    phases: u32,
    tidy_at: usize,
}

impl ChangeLog {
    #[inline]
    pub(crate) fn push(&mut self, pair: Pair, begun: bool) {
        if self.on {
            self.toggles.push((pair, stamp(self.toggles.len(), begun)));
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    pub(crate) fn begin_phase(&mut self) {
        if self.toggles.is_empty() {
            self.phases = 0;
        }
        self.phases += 1;
        if self.toggles.len() > self.tidy_at {
            self.net();
            self.tidy_at = 2 * self.toggles.len() + 4096;
        }
    }

    /// Leaves at most one toggle per pair, ascending.
    pub(crate) fn net(&mut self) {
        self.toggles.sort_unstable();
        let (mut read, mut write) = (0, 0);
        while read < self.toggles.len() {
            let (pair, first) = self.toggles[read];
            let mut last = first;
            while read < self.toggles.len() && self.toggles[read].0 == pair {
                last = self.toggles[read].1;
                read += 1;
            }
            if begins(first) == begins(last) {
                self.toggles[write] = (pair, stamp(write, begins(first)));
                write += 1;
            }
        }
        self.toggles.truncate(write);
    }

    /// Writes what happened since the last report; the first report lists all pairs, which `all` appends.
    pub(crate) fn report(&mut self, out: &mut PairChanges, all: impl FnOnce(&mut Vec<Pair>)) {
        out.begun.clear();
        out.ended.clear();
        if !self.on {
            self.on = true;
            return all(&mut out.begun);
        }
        if self.phases > 1 {
            self.net();
        }
        for &(pair, stamp) in &self.toggles {
            if begins(stamp) { out.begun.push(pair) } else { out.ended.push(pair) }
        }
        self.toggles.clear();
        self.phases = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_sorted_lists() {
        let mut out = Vec::new();
        difference(&[1, 3, 5, 9], &[2, 3, 4, 9, 10], &mut out);
        assert_eq!(out, [1, 5]);
        out.clear();
        difference(&[1, 2], &[], &mut out);
        difference(&[], &[1, 2], &mut out);
        assert_eq!(out, [1, 2]);
    }
}
