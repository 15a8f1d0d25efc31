//! Two populations that are each other's task.
//!
//! # Reference
//!
//! Arnold (1997), section 3.1.2 (fitness by competition); Hillis (1990), "Co-evolving parasites improve simulated evolution as an optimization procedure".
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | a, b | a child of the first and of the second population |
//! | m | how many opponents each child meets |
//!
//! # Formula
//!
//! ```text
//! child k of one side meets opponents k, k + s, k + 2 s, … of the other, s = λ/m;   fitness = mean of its results, in 0 to 1
//! result of b against a = 1 − result of a against b
//! ```
//!
//! # Cost
//!
//! λ m contests per generation.
//!
//! # Numerics
//!
//! Who meets whom depends on the numbers alone.
//!
//! # Failure
//!
//! Sides with different numbers of children, or a result outside 0 to 1.
//!
//! # Tested by
//!
//! `both_sides_of_a_race_go_on_getting_better`

use super::{Search, generational::Generational};
use crate::{error::EvolutionError, genome::Genome};

/// Runs two generational searches against each other to their end. `contest` says how well the first does against the second: 0 loses, 1 wins.
///
/// # Errors
/// Sides that do not have as many children each, a number of opponents that does not divide them, a result outside 0 to 1.
pub fn coevolve<A: Genome, B: Genome>(
    first: &mut Generational<A>,
    second: &mut Generational<B>,
    opponents: usize,
    mut contest: impl FnMut(&A, &B) -> f64,
) -> Result<(), EvolutionError> {
    while !first.is_done() && !second.is_done() {
        let (a, b) = (first.ask(), second.ask());
        let n = a.len();
        EvolutionError::setting(
            b.len() == n,
            "children of the second side",
            "as many as the first has",
            b.len() as f64,
        )?;
        let good = opponents > 0 && n % opponents == 0;
        EvolutionError::setting(good, "number of opponents", "a divisor of the children", opponents as f64)?;
        let (mut wins, mut losses) = (vec![0.0; n], vec![0.0; n]);
        for (i, one) in a.iter().enumerate() {
            for k in 0..opponents {
                let j = (i + k * (n / opponents)) % n;
                let result = contest(&one.genome, &b[j].genome);
                EvolutionError::setting(
                    (0.0..=1.0).contains(&result),
                    "result of a contest",
                    "within 0 and 1",
                    result,
                )?;
                wins[i] += result / opponents as f64;
                losses[j] += (1.0 - result) / opponents as f64;
            }
        }
        for k in 0..n {
            first.tell(a[k].number, Some(wins[k]))?;
            second.tell(b[k].number, Some(losses[k]))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{
        generational::GenerationalParams,
        vector::{Mixing, RealVector, VectorDesign},
    };

    // proves: ARN-74
    #[test]
    fn both_sides_of_a_race_go_on_getting_better() {
        let design =
            || VectorDesign { len: 3, low: 0.0, high: 100.0, scale: 0.5, mixing: Mixing::Intermediate };
        let params = |seed| GenerationalParams { seed, generations: 40, ..GenerationalParams::of(8) };
        let start = || vec![RealVector(vec![1.0; 3]); 48];
        let mut runs = [
            Generational::from_start(params(1), design(), start()).unwrap(),
            Generational::from_start(params(2), design(), start()).unwrap(),
        ];
        let [a, b] = &mut runs;
        let sum = |x: &RealVector| x.0.iter().sum::<f64>();
        let mut contests = 0;
        // The larger sum wins: there is no fixed top, only the other side.
        coevolve(a, b, 6, |x, y| {
            contests += 1;
            if sum(x) > sum(y) {
                1.0
            } else if sum(x) < sum(y) {
                0.0
            } else {
                0.5
            }
        })
        .unwrap();
        assert_eq!(contests, 41 * 48 * 6);
        for side in &runs {
            let reached = side.population().map(|(g, _)| sum(g)).fold(f64::INFINITY, f64::min);
            assert!(reached > 30.0, "{reached}");
        }
        let [a, b] = &mut runs.map(|_| Generational::from_start(params(3), design(), start()).unwrap());
        assert!(coevolve(a, b, 5, |_, _| 0.5).is_err());
        let [a, b] =
            &mut [4, 5].map(|seed| Generational::from_start(params(seed), design(), start()).unwrap());
        assert!(coevolve(a, b, 6, |_, _| f64::NAN).is_err());
    }
}
