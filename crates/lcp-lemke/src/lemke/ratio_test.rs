//! Which basic variable leaves: the lexicographic minimum ratio test with tolerances.
//!
//! # Reference
//! Cline (2002), 2.7.1 and 4.8.3; Cottle, Pang, Stone, *The Linear Complementarity Problem* (1992), 4.9.
//! Harris (1973) for near-ties and large pivots.
//! # Symbols
//! x = basic values, dv = −rates (positive where a basic variable falls), θ = largest feasible step.
//! # Formula
//! ```text
//! candidates   dv_i > pivot_tolerance · max(1, |dv|∞)
//! θ            min x_i / dv_i
//! ties         x_i / dv_i ≤ θ + tie_tolerance · (1 + θ)
//! choose       z₀ if tied; else level by level the signed minimum of (B⁻¹)_ik / dv_i, k = 0, 1, …; else the largest dv
//! ```
//! # Cost
//! O(n). A level costs nothing for a row whose w is basic, and O(m) for each tied row otherwise.
//! # Numerics
//! Without the threshold, rows where x and dv are both rounding noise win with meaningless ratios; without the
//! tie tolerance, true ties are broken by noise and the path runs into a false ray. Both are needed.
//! The signed minimum matters: the smallest positive value, as often printed, is a different rule.
//! # Failure
//! No candidate: the step is unbounded (a ray).
//! # Tested by
//! `kostreva_cycles_without_the_lexicographic_rule`, `tolerances_are_needed_and_suffice`.

use super::LemkeParams;
use crate::basis::{Basis, NONE, Place};
use crate::kernels::{for_each_at_most, max_abs, ratios};

/// How ties of the minimum ratio test are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TieRule {
    /// By the rows of the basis inverse: cannot cycle.
    #[default]
    Lexicographic,
    /// The first tied row: can cycle, for comparison only.
    FirstIndex,
}

/// A basic variable that reaches 0 at the step: where it is, how fast it falls, its value at the present level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tie {
    place: Place,
    dv: f64,
    level: f64,
}

/// Result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Leaving {
    pub(crate) place: Place,
    pub(crate) step: f64,
}

/// Finds the leaving variable; `None` for a ray.
pub(crate) fn ratio_test(
    basis: &Basis,
    params: &LemkeParams,
    scratch: &mut [f64],
    ties: &mut Vec<Tie>,
) -> Option<Leaving> {
    let (free, n) = (basis.free, basis.rows());
    // Free unknowns of a mixed problem may have any sign: they do not block.
    let m = basis.len - free;
    let (delta, slack_delta) = (&basis.delta[free..basis.len], &basis.slack_delta[..n]);
    let largest = max_abs(delta).max(max_abs(slack_delta));
    let floor = -params.pivot_tolerance * largest.max(1.0);
    let (value, slack) = (&basis.value[free..basis.len], &basis.slack[..n]);
    let (of_slots, of_rows) = scratch[..m + n].split_at_mut(m);
    let theta = ratios(value, delta, floor, of_slots).min(ratios(slack, slack_delta, floor, of_rows));
    if theta == f64::INFINITY {
        return None;
    }
    let bound = theta + params.tie_tolerance * (1.0 + theta);
    if let Some(p) = basis.artificial().filter(|_| params.prefer_artificial) {
        let (x, d) = (basis.value[p], basis.delta[p]);
        if d < floor && x.max(0.0) <= bound * -d {
            return Some(Leaving { place: Place::Slot(p as u32), step: (x / -d).max(0.0) });
        }
    }
    ties.clear();
    for_each_at_most(of_slots, bound, |p| push(ties, Place::Slot((free + p) as u32), delta[p]));
    for_each_at_most(of_rows, bound, |i| push(ties, Place::Row(i as u32), slack_delta[i]));
    if ties.len() > 1 {
        match params.tie_rule {
            TieRule::Lexicographic => lexicographic(basis, params.tie_tolerance, ties),
            TieRule::FirstIndex => ties.sort_unstable_by_key(|tie| basis.line(tie.place)),
        }
    }
    let first_index = params.tie_rule == TieRule::FirstIndex;
    let tie = if first_index {
        *ties.first()?
    } else {
        ties.iter().copied().reduce(|a, b| if b.dv > a.dv { b } else { a })?
    };
    Some(Leaving { place: tie.place, step: theta })
}

fn push(ties: &mut Vec<Tie>, place: Place, rate: f64) {
    ties.push(Tie { place, dv: -rate, level: 0.0 });
}

fn lexicographic(basis: &Basis, tolerance: f64, ties: &mut Vec<Tie>) {
    // Ties are in the order slots, then rows by index; both parts keep it.
    let first_row = |ties: &[Tie]| ties.iter().position(|t| matches!(t.place, Place::Row(_)));
    let mut next = first_row(ties);
    // Equations of a mixed problem come first and take no part: their columns do not start positive.
    for (k, active) in basis.row_active[..basis.rows()].iter().enumerate().skip(basis.free) {
        let k = k as u32;
        if *active == NONE {
            // Column k of B⁻¹ is the unit vector of w_k: only its own row is positive, all others are 0.
            match next {
                Some(at) if ties[at].place == Place::Row(k) => {
                    ties.remove(at);
                    next = first_row(ties);
                }
                _ => continue,
            }
        } else {
            let mut least = f64::INFINITY;
            for tie in ties.iter_mut() {
                tie.level = basis.inverse_entry(tie.place, k) / tie.dv;
                least = least.min(tie.level);
            }
            let bound = least + tolerance * (1.0 + least.abs());
            ties.retain(|tie| tie.level <= bound);
            next = first_row(ties);
        }
        if ties.len() <= 1 {
            return;
        }
    }
}
