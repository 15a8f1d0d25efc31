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
use crate::kernels::{least_ratio, max_abs};

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

/// Result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Leaving {
    pub(super) place: Place,
    pub(super) step: f64,
}

/// Finds the leaving variable; `None` for a ray.
pub(super) fn ratio_test(basis: &Basis, params: &LemkeParams, ties: &mut Vec<(Place, f64)>) -> Option<Leaving> {
    let (m, n) = (basis.len, basis.rows());
    let (delta, slack_delta) = (&basis.delta[..m], &basis.slack_delta[..n]);
    let largest = max_abs(delta).max(max_abs(slack_delta));
    let floor = -params.pivot_tolerance * largest.max(1.0);
    let (value, slack) = (&basis.value[..m], &basis.slack[..n]);
    let theta = least_ratio(value, delta, floor).min(least_ratio(slack, slack_delta, floor));
    if theta == f64::INFINITY {
        return None;
    }
    let bound = theta + params.tie_tolerance * (1.0 + theta);
    if let Some(p) = basis.artificial().filter(|_| params.prefer_artificial) {
        if delta[p] < floor && basis.value[p].max(0.0) <= bound * -delta[p] {
            let step = (basis.value[p] / -delta[p]).max(0.0);
            return Some(Leaving { place: Place::Slot(p as u32), step });
        }
    }
    ties.clear();
    // Not negated: a product that is NaN is no tie.
    let tied = |x: f64, d: f64| d < floor && x <= bound * -d;
    for p in 0..m {
        if tied(value[p], delta[p]) {
            ties.push((Place::Slot(p as u32), -delta[p]));
        }
    }
    for i in 0..n {
        if tied(slack[i], slack_delta[i]) {
            ties.push((Place::Row(i as u32), -slack_delta[i]));
        }
    }
    if ties.len() > 1 {
        match params.tie_rule {
            TieRule::Lexicographic => lexicographic(basis, params.tie_tolerance, ties),
            TieRule::FirstIndex => ties.sort_by_key(|(place, _)| basis.line(*place)),
        }
    }
    let first_index = params.tie_rule == TieRule::FirstIndex;
    let (place, _) = if first_index {
        *ties.first()?
    } else {
        ties.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })?
    };
    Some(Leaving { place, step: theta })
}

fn lexicographic(basis: &Basis, tolerance: f64, ties: &mut Vec<(Place, f64)>) {
    for k in 0..basis.rows() as u32 {
        if basis.row_active[k as usize] == NONE {
            // Column k of B⁻¹ is the unit vector of w_k: only its own row is positive, all others are 0.
            if let Some(at) = ties.iter().position(|(place, _)| *place == Place::Row(k)) {
                ties.remove(at);
            }
        } else {
            let level = |(place, dv): &(Place, f64)| basis.inverse_entry(*place, k) / dv;
            let least = ties.iter().map(level).fold(f64::INFINITY, f64::min);
            let bound = least + tolerance * (1.0 + least.abs());
            ties.retain(|tie| level(tie) <= bound);
        }
        if ties.len() <= 1 {
            return;
        }
    }
}
