//! Box tests within a budget: close pairs are tested in turn, and what was not tested keeps its last verdict.
//!
//! # Reference
//! Asked for by Cline (2002), section 6.1, as graceful degradation under a time budget; own method.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | close pairs | pairs of an inexact broad phase, such as [`CoherentHash`](crate::CoherentHash) without `exact` | - |
//! | budget | box tests that one step may spend | tests |
//! | age | steps since a pair was tested; new pairs are the oldest of all | steps |
//!
//! # Formula
//! ```text
//! believed(p) = verdict of the last test of p, true before the first
//! each step:  test the `budget` oldest close pairs, ties by ascending pair
//! ```
//! With a budget of all close pairs the result is exact; with none it is the list of close pairs.
//!
//! # Cost
//! O(close pairs) bookkeeping and at most `budget` tests per step.
//!
//! # Numerics
//! None.
//!
//! # Failure
//! None; [`BudgetReport`] says how many pairs went without a test.
//!
//! # Tested by
//! `more_budget_means_fewer_errors_and_it_is_never_exceeded`.

use sim_traits::{FixedMap, Pair};

/// What a step spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetReport {
    /// Box tests made, never more than the budget.
    pub tests: usize,
    /// Close pairs that were not tested in this step.
    pub stale: usize,
}

#[derive(Debug, Clone, Copy)]
struct Verdict {
    overlap: bool,
    tested: u64,
}

/// Remembers verdicts about close pairs and renews the oldest.
#[derive(Debug, Clone, Default)]
pub struct BudgetedTests {
    verdicts: FixedMap<Pair, Verdict>,
    next: FixedMap<Pair, Verdict>,
    queue: Vec<(u64, Pair)>,
    step: u64,
}

impl BudgetedTests {
    /// One step: tests at most `budget` of the `close` pairs (each listed once) by `overlap`, and leaves in `close`
    /// those believed to overlap, in their order.
    pub fn refine(
        &mut self,
        close: &mut Vec<Pair>,
        budget: usize,
        mut overlap: impl FnMut(Pair) -> bool,
    ) -> BudgetReport {
        self.step += 1;
        self.queue.clear();
        self.next.clear();
        for &pair in close.iter() {
            let verdict = self.verdicts.get(&pair).copied().unwrap_or(Verdict { overlap: true, tested: 0 });
            self.next.insert(pair, verdict);
            self.queue.push((verdict.tested, pair));
        }
        let tests = budget.min(self.queue.len());
        if tests > 0 && tests < self.queue.len() {
            self.queue.select_nth_unstable(tests - 1);
        }
        for &(_, pair) in &self.queue[..tests] {
            self.next.insert(pair, Verdict { overlap: overlap(pair), tested: self.step });
        }
        // Pairs that are no longer close are forgotten with the old table.
        std::mem::swap(&mut self.verdicts, &mut self.next);
        let stale = close.len() - tests;
        close.retain(|pair| self.verdicts.get(pair).is_none_or(|v| v.overlap));
        BudgetReport { tests, stale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BruteForce, CoherentHash, CoherentHashParams};
    use sim_math::{Aabb, glam::DVec3};
    use sim_traits::{BroadPhase, ProxyId, ProxyKind, testkit::SplitMix64};

    /// Wrong pairs, summed over a run, when each step may spend this share of the close pairs.
    fn errors(share: f64) -> usize {
        let mut random = SplitMix64(8);
        let params = CoherentHashParams { exact: false, ..CoherentHashParams::default() };
        let (mut hash, mut brute) = (CoherentHash::new(params), BruteForce::default());
        let mut bodies: Vec<(DVec3, DVec3)> =
            (0..150).map(|_| (random.vec3(4.0), random.vec3(0.03))).collect();
        let aabb = |p: DVec3| Aabb::from_center_half_extents(p, DVec3::splat(0.4));
        let ids: Vec<_> = (0..150).map(ProxyId).collect();
        for (&id, body) in ids.iter().zip(&bodies) {
            hash.insert(id, ProxyKind::Moving, &aabb(body.0)).unwrap();
            brute.insert(id, ProxyKind::Moving, &aabb(body.0)).unwrap();
        }
        let (mut tests, mut wrong) = (BudgetedTests::default(), 0);
        let (mut close, mut truth) = (Vec::new(), Vec::new());
        for _ in 0..200 {
            for (p, v) in &mut bodies {
                if p.abs().max_element() > 4.0 {
                    *v = -p.normalize() * v.length();
                }
                *p += *v;
            }
            let boxes: Vec<_> = bodies.iter().map(|b| aabb(b.0)).collect();
            hash.update(&ids, &boxes).unwrap();
            brute.update(&ids, &boxes).unwrap();
            hash.pairs(&mut close);
            brute.pairs(&mut truth);
            let (count, budget) = (close.len(), (share * close.len() as f64) as usize);
            let mut made = 0;
            let report = tests.refine(&mut close, budget, |pair| {
                made += 1;
                boxes[pair.a.index()].overlaps(&boxes[pair.b.index()])
            });
            assert!(made <= budget && report.tests == made && report.stale == count - made);
            close.sort_unstable();
            wrong += truth.iter().filter(|p| close.binary_search(p).is_err()).count();
            wrong += close.iter().filter(|p| truth.binary_search(p).is_err()).count();
        }
        wrong
    }

    // proves: CLI-97
    #[test]
    fn more_budget_means_fewer_errors_and_it_is_never_exceeded() {
        let wrong: Vec<usize> = [0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0].map(errors).into();
        assert!(wrong.windows(2).all(|w| w[1] < w[0]), "{wrong:?}");
        assert_eq!(wrong[6], 0);
    }
}
