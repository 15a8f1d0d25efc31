//! Vectors that carry their own step sizes: the self-adaptation of evolution strategies.
//!
//! # Reference
//!
//! Arnold (1997), section 3.1.3; Schwefel (1977); Bäck (1996), section 2.1.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | x, σ | values and their step sizes |
//! | τ, τ′ | learning rates |
//! | N, `N_i` | normal numbers: one for the vector, one for each gene |
//!
//! # Formula
//!
//! ```text
//! σ_i ← σ_i exp(τ′ N + τ N_i),   x_i ← x_i + σ_i N_i′,   τ′ = 1/√(2n),   τ = 1/√(2√n)
//! recombination: discrete for x, intermediate for σ
//! ```
//!
//! # Cost
//!
//! Three normal numbers per gene.
//!
//! # Numerics
//!
//! Step sizes stay between 1e-150 and 1e150, so that they neither vanish nor overflow.
//!
//! # Failure
//!
//! Values or step sizes that are not finite, or lengths that differ, are refused by the check.
//!
//! # Tested by
//!
//! `step_sizes_follow_the_distance_to_the_top`, `strategies_conform`

use super::vector::{Mates, Mixing, mix, reflect};
use crate::{
    error::EvolutionError,
    genome::{Genome, Rates},
    random::Random,
};
use serde::{Deserialize, Serialize};
use sim_math::ops;

/// What the vectors of a run have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyDesign {
    /// How many values.
    pub len: usize,
    /// Least value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// Step size at the start.
    pub step: f64,
}

/// Values with their step sizes. Their class of mutation is `value`; its probability is that of the whole vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Strategy {
    /// What is evaluated.
    pub values: Vec<f64>,
    /// Standard deviation of the next change of each.
    pub steps: Vec<f64>,
}

/// Least and largest step size.
const STEPS: [f64; 2] = [1e-150, 1e150];

impl Genome for Strategy {
    type Design = StrategyDesign;

    fn random(design: &StrategyDesign, random: &mut Random) -> Self {
        let values = (0..design.len).map(|_| random.range(design.low, design.high)).collect();
        Self { values, steps: vec![design.step; design.len] }
    }

    fn mutate(&mut self, design: &StrategyDesign, rates: &Rates, random: &mut Random) {
        let rate = rates.of("value");
        if rate.probability <= 0.0 || !random.chance(rate.probability) {
            return;
        }
        let n = self.values.len() as f64;
        let (common, own) = (1.0 / (2.0 * n).sqrt(), 1.0 / (2.0 * n.sqrt()).sqrt());
        let all = common * random.normal();
        for (x, step) in self.values.iter_mut().zip(&mut self.steps) {
            *step = (*step * ops::exp(all + own * random.normal())).clamp(STEPS[0], STEPS[1]);
            *x = reflect(*x + rate.strength * *step * random.normal(), design.low, design.high);
        }
    }

    fn recombine(&self, other: &Self, _: &StrategyDesign, random: &mut Random) -> Self {
        let values = mix(&[&self.values, &other.values], Mixing::Discrete, Mates::Two, random);
        let steps = self.steps.iter().zip(&other.steps).map(|(a, b)| 0.5 * (a + b)).collect();
        Self { values, steps }
    }

    fn check(&self, design: &StrategyDesign) -> Result<(), EvolutionError> {
        let bad = |item: String, what, must, value| EvolutionError::Genome { item, what, must, value };
        for (what, list) in [("number of values", &self.values), ("number of steps", &self.steps)] {
            if list.len() != design.len {
                return Err(bad("strategy".into(), what, "that of its design", list.len() as f64));
            }
        }
        for (k, (x, step)) in self.values.iter().zip(&self.steps).enumerate() {
            if !(design.low..=design.high).contains(x) {
                return Err(bad(format!("gene {k}"), "value", "within its bounds", *x));
            }
            if !(STEPS[0]..=STEPS[1]).contains(step) {
                return Err(bad(format!("gene {k}"), "step", "between 1e-150 and 1e150", *step));
            }
        }
        Ok(())
    }

    fn distance(&self, other: &Self) -> f64 {
        self.values.iter().zip(&other.values).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        genome::conformance,
        search::{
            Search,
            generational::{Generational, GenerationalParams},
        },
    };

    const DESIGN: StrategyDesign = StrategyDesign { len: 10, low: -100.0, high: 100.0, step: 1.0 };

    #[test]
    fn strategies_conform() {
        conformance::<Strategy>(&DESIGN, 100);
    }

    // proves: ARN-69
    #[test]
    fn step_sizes_follow_the_distance_to_the_top() {
        let params = GenerationalParams { generations: 400, ..GenerationalParams::of(15) };
        let mut search = Generational::<Strategy>::new(params, DESIGN).unwrap();
        let far = |g: &Strategy| g.values.iter().map(|v| v * v).sum::<f64>().sqrt();
        let mut ratios = Vec::new();
        let mut reached = f64::INFINITY;
        while !search.is_done() {
            for child in search.ask() {
                // Fitness is not negative, and has to tell 1e-8 from 1e-9.
                let score = -ops::ln(far(&child.genome).max(1e-300)) + 1000.0;
                search.tell(child.number, Some(score)).unwrap();
            }
            let Some((best, _)) = search.population().next() else { continue };
            let step = best.steps.iter().sum::<f64>() / 10.0;
            reached = far(best);
            ratios.push(step / reached);
        }
        assert!(reached < 1e-6, "{reached}");
        // From a distance of hundreds to below 1e-6 the step stays a like share of it.
        let late = &ratios[50..];
        let (least, most) = late.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), r| (l.min(*r), m.max(*r)));
        assert!(least > 0.005 && most < 3.0, "{least} to {most}");
    }
}
