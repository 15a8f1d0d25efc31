//! Pair changes for broad phases that know only the present list: the difference of two sorted lists.

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
