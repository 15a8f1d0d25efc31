//! Vectors of real numbers as genomes, with the recombinations of evolution strategies.
//!
//! # Reference
//!
//! Arnold (1997), sections 3.1.3 and 3.1.4; Bäck (1996), *Evolutionary Algorithms in Theory and Practice*, section 2.1.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | x | values, one for each gene |
//! | a, b | the parents of a gene |
//!
//! # Formula
//!
//! ```text
//! discrete      x_i = a_i or b_i, each with probability ½
//! intermediate  x_i = (a_i + b_i)/2
//! two parents: a, b the same for all genes;   global: a fixed, another b for each gene
//! mutation      x_i += strength · scale · N(0, 1), back from the bounds like a ball from a wall
//! ```
//!
//! # Cost
//!
//! One pass over the genes.
//!
//! # Numerics
//!
//! Reflection at bounds keeps the mean of mutations zero except beside a bound, where a cut would pile genes up.
//!
//! # Failure
//!
//! Values that are not finite or beyond the bounds are refused by the check.
//!
//! # Tested by
//!
//! `genes_come_from_both_parents_alike`, `global_recombination_takes_a_new_parent_for_each_gene`, `mutation_has_mean_zero`, `reflection_stays_within_bounds`

use crate::{
    error::EvolutionError,
    genome::{Genome, Rates},
    random::Random,
};
use serde::{Deserialize, Serialize};

/// How values of parents become those of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mixing {
    /// From one parent or the other.
    Discrete,
    /// The mean of both.
    Intermediate,
}

/// Where the parents of a gene come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mates {
    /// The same two for all genes.
    Two,
    /// The first is the same for all genes, the second drawn anew for each.
    Global,
}

/// A child of parents that have as many values each.
#[must_use]
pub fn mix(parents: &[&[f64]], mixing: Mixing, mates: Mates, random: &mut Random) -> Vec<f64> {
    let Some(len) = parents.first().map(|p| p.len()) else { return Vec::new() };
    let (first, second) = (random.below(parents.len()), random.below(parents.len()));
    (0..len)
        .map(|i| {
            let other = if mates == Mates::Global { random.below(parents.len()) } else { second };
            let (a, b) = (parents[first][i], parents[other][i]);
            match mixing {
                Mixing::Discrete => {
                    if random.chance(0.5) {
                        a
                    } else {
                        b
                    }
                }
                Mixing::Intermediate => 0.5 * (a + b),
            }
        })
        .collect()
}

/// `value` back within the bounds, like a ball from a wall. Both bounds may be infinite; equal ones give their value.
#[must_use]
pub fn reflect(value: f64, low: f64, high: f64) -> f64 {
    if (low..=high).contains(&value) {
        return value;
    }
    let width = high - low;
    if width.is_finite() {
        if width <= 0.0 || !value.is_finite() {
            return low;
        }
        let turns = (value - low).rem_euclid(2.0 * width);
        return (low + turns.min(2.0 * width - turns)).clamp(low, high);
    }
    // One bound alone.
    if value < low { 2.0 * low - value } else { 2.0 * high - value }
}

/// What the vectors of a run have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorDesign {
    /// How many values.
    pub len: usize,
    /// Least value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// Standard deviation of a mutation of strength 1.
    pub scale: f64,
    /// How values of parents become those of a child.
    pub mixing: Mixing,
}

/// Real numbers; their class of mutation is `value`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RealVector(pub Vec<f64>);

impl Genome for RealVector {
    type Design = VectorDesign;

    fn random(design: &VectorDesign, random: &mut Random) -> Self {
        Self((0..design.len).map(|_| random.range(design.low, design.high)).collect())
    }

    fn mutate(&mut self, design: &VectorDesign, rates: &Rates, random: &mut Random) {
        let rate = rates.of("value");
        for x in &mut self.0 {
            if let Some(change) = rate.draw(random) {
                *x = reflect(*x + design.scale * change, design.low, design.high);
            }
        }
    }

    fn recombine(&self, other: &Self, design: &VectorDesign, random: &mut Random) -> Self {
        Self(mix(&[&self.0, &other.0], design.mixing, Mates::Two, random))
    }

    fn check(&self, design: &VectorDesign) -> Result<(), EvolutionError> {
        let bad = |item: String, what, must, value| EvolutionError::Genome { item, what, must, value };
        if self.0.len() != design.len {
            return Err(bad("vector".into(), "length", "that of its design", self.0.len() as f64));
        }
        match self.0.iter().position(|x| !(design.low..=design.high).contains(x)) {
            Some(k) => Err(bad(format!("gene {k}"), "value", "within its bounds", self.0[k])),
            None => Ok(()),
        }
    }

    fn distance(&self, other: &Self) -> f64 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::genome::{Rate, conformance};

    const DESIGN: VectorDesign =
        VectorDesign { len: 5, low: -1.0, high: 2.0, scale: 0.3, mixing: Mixing::Discrete };

    // proves: FON-121
    #[test]
    fn vectors_conform() {
        conformance::<RealVector>(&DESIGN, 100);
        conformance::<RealVector>(&VectorDesign { mixing: Mixing::Intermediate, ..DESIGN }, 100);
    }

    #[test]
    fn genes_come_from_both_parents_alike() {
        let (a, b) = ([0.0; 4000], [1.0; 4000]);
        let mut random = Random::new(3);
        // Two draws may be the same parent twice; those children say nothing.
        let mut ones = Vec::new();
        while ones.len() < 10 {
            let child = mix(&[&a, &b], Mixing::Discrete, Mates::Two, &mut random);
            let share = child.iter().sum::<f64>() / 4000.0;
            if share > 0.0 && share < 1.0 {
                ones.push(share);
            }
        }
        // Four standard errors of 4000 coins.
        assert!(ones.iter().all(|share| (share - 0.5).abs() < 4.0 * 0.5 / 4000_f64.sqrt()), "{ones:?}");
        let middle = mix(&[&a, &b], Mixing::Intermediate, Mates::Global, &mut random);
        let quarter = |x: &f64| *x == 0.0 || *x == 0.5 || *x == 1.0;
        assert!(middle.iter().all(quarter));
    }

    // proves: ARN-70
    #[test]
    fn global_recombination_takes_a_new_parent_for_each_gene() {
        let parents: Vec<Vec<f64>> = (0..10).map(|k| vec![f64::from(k); 2000]).collect();
        let views: Vec<&[f64]> = parents.iter().map(Vec::as_slice).collect();
        let mut random = Random::new(4);
        let kinds = |child: &[f64]| {
            let set: std::collections::BTreeSet<u64> = child.iter().map(|x| x.to_bits()).collect();
            set.len()
        };
        for _ in 0..20 {
            assert!(kinds(&mix(&views, Mixing::Discrete, Mates::Two, &mut random)) <= 2);
            assert!(kinds(&mix(&views, Mixing::Intermediate, Mates::Two, &mut random)) == 1);
            let child = mix(&views, Mixing::Discrete, Mates::Global, &mut random);
            assert_eq!(kinds(&child), 10);
            // Half of the genes come from the first parent, the others from all alike.
            let mut counts = [0.0; 10];
            child.iter().for_each(|x| counts[*x as usize] += 1.0 / 2000.0);
            let most = counts.iter().copied().fold(0.0, f64::max);
            assert!((most - 0.55).abs() < 0.05, "{counts:?}");
            assert_eq!(kinds(&mix(&views, Mixing::Intermediate, Mates::Global, &mut random)), 10);
        }
        assert!(mix(&[], Mixing::Discrete, Mates::Two, &mut random).is_empty());
    }

    #[test]
    fn mutation_has_mean_zero() {
        let design = VectorDesign { len: 1, low: f64::NEG_INFINITY, high: f64::INFINITY, ..DESIGN };
        let mut random = Random::new(6);
        let n = 100_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let mut x = RealVector(vec![0.0]);
            x.mutate(&design, &Rates::default(), &mut random);
            sum += x.0[0];
            squares += x.0[0] * x.0[0];
        }
        let n = f64::from(n);
        assert!((sum / n).abs() < 4.0 * 0.3 / n.sqrt());
        assert!((squares / n - 0.09).abs() < 4.0 * 0.09 * (2.0 / n).sqrt());
        // A gene in ten.
        let rates = Rates::all(Rate { probability: 0.1, strength: 1.0 });
        let mut x = RealVector(vec![0.0; 100_000]);
        x.mutate(&design, &rates, &mut random);
        let share = x.0.iter().filter(|v| **v != 0.0).count() as f64 / 1e5;
        assert!((share - 0.1).abs() < 0.004, "{share}");
    }

    #[test]
    fn reflection_stays_within_bounds() {
        assert_eq!(reflect(2.5, 0.0, 2.0), 1.5);
        assert_eq!(reflect(-0.5, 0.0, 2.0), 0.5);
        assert_eq!(reflect(9.0, 0.0, 2.0), 1.0);
        assert_eq!(reflect(-3.0, 1.0, f64::INFINITY), 5.0);
        assert_eq!(reflect(5.0, 2.0, 2.0), 2.0);
        let mut random = Random::new(8);
        for _ in 0..1000 {
            let x = reflect(random.range(-1e6, 1e6), -0.3, 0.7);
            assert!((-0.3..=0.7).contains(&x), "{x}");
        }
    }

    #[test]
    fn bad_vectors_are_named() {
        let text = |x: Vec<f64>| RealVector(x).check(&DESIGN).unwrap_err().to_string();
        assert_eq!(text(vec![0.0; 4]), "vector: length must be that of its design, got 4");
        assert_eq!(
            text(vec![0.0, f64::NAN, 0.0, 0.0, 0.0]),
            "gene 1: value must be within its bounds, got NaN"
        );
    }
}
