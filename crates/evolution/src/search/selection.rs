//! Who becomes a parent.
//!
//! # Reference
//!
//! Arnold (1997), section 3.1.2; Fontijne (2000), section 4.7.2 (relief of the pressure of selection).
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | λ, μ | children, and how many of them are selected |
//! | s | relief, 0 to 1 |
//! | f, f̄ | fitness of one, mean of all |
//!
//! # Formula
//!
//! ```text
//! truncation     the best μ of λ, once each
//! proportional   each of μ draws: P(i) = w_i / Σ w,   w = f + s f̄ with s from 0.5 to 0 over the run
//! ```
//!
//! # Cost
//!
//! λ log λ, or λ + μ log λ.
//!
//! # Numerics
//!
//! Ties go to the child of smaller number. Where no weight is positive all are alike.
//!
//! # Failure
//!
//! None: children without fitness are never selected; none at all gives an empty selection.
//!
//! # Tested by
//!
//! `frequencies_are_proportional_to_fitness`, `the_best_are_kept_once_each`, `relief_makes_selection_milder`

use crate::random::Random;
use serde::{Deserialize, Serialize};

/// How parents are selected from children.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Selection {
    /// The best, once each.
    Truncation,
    /// By chance in proportion to fitness, repeats allowed.
    Proportional {
        /// Share of the mean fitness that everyone gets on top, at the first generation; it falls to zero at the last. 0.5 is Fontijne's.
        relief: f64,
    },
}

impl Selection {
    /// Chooses `count` of the children with these scores, by number; `progress` goes from 0 at the first generation to 1 at the last.
    #[must_use]
    pub fn select(
        &self,
        scores: &[Option<f64>],
        count: usize,
        progress: f64,
        random: &mut Random,
    ) -> Vec<usize> {
        let known: Vec<(usize, f64)> =
            scores.iter().enumerate().filter_map(|(k, score)| score.map(|f| (k, f))).collect();
        match self {
            Self::Truncation => {
                let mut order = known;
                order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                order.iter().take(count).map(|(k, _)| *k).collect()
            }
            Self::Proportional { relief } => {
                if known.is_empty() {
                    return Vec::new();
                }
                let mean = known.iter().map(|(_, f)| f).sum::<f64>() / known.len() as f64;
                let share = relief * (1.0 - progress.clamp(0.0, 1.0));
                let mut total = 0.0;
                let mut ends = Vec::with_capacity(known.len());
                for (_, f) in &known {
                    total += (f + share * mean).max(0.0);
                    ends.push(total);
                }
                let mut draw = || {
                    let place = if total > 0.0 && total.is_finite() {
                        let at = random.unit() * total;
                        ends.partition_point(|end| *end <= at).min(known.len() - 1)
                    } else {
                        random.below(known.len())
                    };
                    known[place].0
                };
                (0..count).map(|_| draw()).collect()
            }
        }
    }
}

/// Generations until copies of one child that is better than all others are all children, if nothing mutates or recombines: the pressure of a selection.
/// `None` if it takes more than `most`, or chance loses the best.
#[must_use]
pub fn takeover_time(
    selection: Selection,
    parents: usize,
    children: usize,
    most: u32,
    random: &mut Random,
) -> Option<u32> {
    // One of them is twice as good as all others.
    let mut scores: Vec<Option<f64>> = (0..children).map(|k| Some(if k == 0 { 2.0 } else { 1.0 })).collect();
    for generation in 0..=most {
        if scores.iter().all(|f| *f == Some(2.0)) {
            return Some(generation);
        }
        let chosen = selection.select(&scores, parents, 0.0, random);
        // Every parent has as many children, so that chance does not lose the best a second time.
        scores = (0..children).map(|k| chosen.get(k % parents).and_then(|c| scores[*c])).collect();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: ARN-64
    #[test]
    fn frequencies_are_proportional_to_fitness() {
        let scores = [Some(1.0), None, Some(2.0), Some(3.0), Some(0.0), Some(4.0)];
        let n = 100_000;
        let chosen = Selection::Proportional { relief: 0.0 }.select(&scores, n, 0.0, &mut Random::new(5));
        let mut counts = [0_u32; 6];
        chosen.iter().for_each(|k| counts[*k] += 1);
        assert_eq!((counts[1], counts[4]), (0, 0));
        let expected = |k: usize| scores[k].unwrap_or(0.0) / 10.0 * n as f64;
        let chi: f64 = [0, 2, 3, 5]
            .iter()
            .map(|&k| sim_math::ops::powi(f64::from(counts[k]) - expected(k), 2) / expected(k))
            .sum();
        // Three degrees of freedom: below 16.3 in 999 of 1000 cases.
        assert!(chi < 16.3, "{counts:?}");
    }

    #[test]
    fn relief_makes_selection_milder() {
        let scores = [Some(1.0), Some(3.0)];
        let share = |progress: f64| {
            let law = Selection::Proportional { relief: 0.5 };
            let chosen = law.select(&scores, 100_000, progress, &mut Random::new(9));
            chosen.iter().filter(|k| **k == 1).count() as f64 / 1e5
        };
        // (3 + 1) / (4 + 2), then 3/4.
        assert!((share(0.0) - 4.0 / 6.0).abs() < 0.006, "{}", share(0.0));
        assert!((share(1.0) - 0.75).abs() < 0.006, "{}", share(1.0));
    }

    // proves: ARN-63
    #[test]
    fn the_best_are_kept_once_each() {
        let mut random = Random::new(1);
        let scores = [Some(1.0), Some(5.0), None, Some(5.0), Some(2.0)];
        assert_eq!(Selection::Truncation.select(&scores, 3, 0.0, &mut random), [1, 3, 4]);
        assert_eq!(Selection::Truncation.select(&scores, 9, 0.0, &mut random), [1, 3, 4, 0]);
        assert!(Selection::Truncation.select(&[None], 2, 0.0, &mut random).is_empty());
        assert!(Selection::Proportional { relief: 0.5 }.select(&[None], 2, 0.0, &mut random).is_empty());
        // ln λ / ln (λ/μ) generations: 2.55 for 16 of 96, 3.32 for 64 of 384, each rounded up.
        assert_eq!(takeover_time(Selection::Truncation, 16, 96, 100, &mut random), Some(3));
        assert_eq!(takeover_time(Selection::Truncation, 64, 384, 100, &mut random), Some(4));
    }

    // proves: ARN-65
    #[test]
    fn truncation_takes_over_sooner_than_proportional_selection() {
        let proportional = Selection::Proportional { relief: 0.0 };
        let mut times: Vec<u32> = (0..500)
            .filter_map(|seed| takeover_time(proportional, 16, 96, 1000, &mut Random::new(seed)))
            .collect();
        times.sort_unstable();
        // Chance may lose the best: then there is no takeover.
        assert!(times.len() >= 50, "{} runs end in takeover", times.len());
        assert!(times[0] > 3 && times[times.len() / 2] >= 5, "{times:?}");
    }

    #[test]
    fn fitness_that_is_zero_everywhere_selects_anyone() {
        let mut random = Random::new(2);
        let chosen = Selection::Proportional { relief: 0.0 }.select(&[Some(0.0); 4], 400, 0.0, &mut random);
        assert!((0..4).all(|k| chosen.iter().filter(|c| **c == k).count() > 60), "{chosen:?}");
    }
}
