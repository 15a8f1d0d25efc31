//! An archive that keeps the best of every kind: quality and diversity together.
//!
//! # Reference
//!
//! Mouret and Clune (2015), "Illuminating search spaces by mapping elites", arXiv 1504.04909; Pugh, Soros and Stanley (2016), the QD score.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | measures | what kinds a genome is of: numbers within stated bounds |
//! | cell | a box of a regular grid over the measures |
//!
//! # Formula
//!
//! ```text
//! parent: any elite;  child: mutated (or bred from two);  it takes its cell if the cell is empty or its fitness larger
//! QD score = Σ over cells of fitness;   coverage = cells filled / cells
//! ```
//!
//! # Cost
//!
//! Constant per child.
//!
//! # Numerics
//!
//! Measures beyond the bounds count in the outermost cells. Of equals the first stays.
//!
//! # Failure
//!
//! Settings that make no sense are refused; measures of the wrong number or that are not finite are an error of the child that has them.
//!
//! # Tested by
//!
//! `coverage_and_quality_beat_random_search`, `order_of_outcomes_does_not_matter`, `soak_sphere_benchmark`

use super::Child;
use crate::{
    error::EvolutionError,
    genome::{Genome, Rates},
    random::Random,
};
use std::collections::BTreeMap;

/// One measure: its bounds, and into how many cells they are cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// How many cells.
    pub cells: usize,
}

/// Settings.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MapElitesParams {
    /// What kinds there are.
    pub measures: Vec<Measure>,
    /// Children of a batch. Default 96.
    pub batch: usize,
    /// Batches. Default 100.
    pub batches: u64,
    /// Probability that a child has two parents. Default 0.
    pub recombination: f64,
    /// How genes change.
    pub rates: Rates,
    /// Number of the run.
    pub seed: u64,
}

impl MapElitesParams {
    /// With these measures.
    #[must_use]
    pub fn new(measures: Vec<Measure>) -> Self {
        Self { measures, batch: 96, batches: 100, recombination: 0.0, rates: Rates::default(), seed: 0 }
    }
}

/// The best of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Elite<G> {
    /// Who it is.
    pub child: Child<G>,
    /// Its fitness.
    pub fitness: f64,
    /// Its measures.
    pub measures: Vec<f64>,
}

/// Fitness and measures of a child that counts.
type Told = Option<(f64, Vec<f64>)>;

/// The search. It is told measures beside fitness, so it has its own `ask` and `tell`; their contract is that of [`super::Search`].
#[derive(Debug)]
pub struct MapElites<G: Genome> {
    params: MapElitesParams,
    design: G::Design,
    cells: BTreeMap<u64, Elite<G>>,
    batch: u64,
    brood: Vec<Child<G>>,
    told: Vec<Option<Told>>,
}

impl<G: Genome> MapElites<G> {
    /// An empty archive.
    ///
    /// # Errors
    /// Settings that make no sense.
    pub fn new(params: MapElitesParams, design: G::Design) -> Result<Self, EvolutionError> {
        EvolutionError::setting(params.batch > 0, "batch", "positive", params.batch as f64)?;
        let count = params.measures.len() as f64;
        EvolutionError::setting(count > 0.0, "number of measures", "positive", count)?;
        for Measure { low, high, cells } in &params.measures {
            let good = low.is_finite() && high.is_finite() && low < high;
            EvolutionError::setting(
                good,
                "upper bound of a measure",
                "finite and above the lower one",
                *high,
            )?;
            EvolutionError::setting(*cells > 0, "cells of a measure", "positive", *cells as f64)?;
        }
        params.rates.check()?;
        let (cells, brood, told) = (BTreeMap::new(), Vec::new(), Vec::new());
        Ok(Self { params, design, cells, batch: 0, brood, told })
    }

    /// The elites, in the order of their cells.
    pub fn elites(&self) -> impl Iterator<Item = &Elite<G>> {
        self.cells.values()
    }

    /// Sum of the fitness of all elites.
    #[must_use]
    pub fn qd_score(&self) -> f64 {
        self.elites().map(|e| e.fitness).sum()
    }

    /// Share of the cells that have an elite.
    #[must_use]
    pub fn coverage(&self) -> f64 {
        self.cells.len() as f64 / self.params.measures.iter().map(|m| m.cells as f64).product::<f64>()
    }

    /// True if it asks for no more.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.batch >= self.params.batches
    }

    /// Children to be evaluated; empty while it waits, and when it is done.
    pub fn ask(&mut self) -> Vec<Child<G>> {
        if !self.brood.is_empty() || self.is_done() {
            return Vec::new();
        }
        let elites: Vec<&Child<G>> = self.cells.values().map(|e| &e.child).collect();
        let count = self.params.batch as u64;
        self.brood = (0..count)
            .map(|k| {
                let mut random = Random::of_child(self.params.seed, self.batch, k);
                let number = self.batch * count + k;
                if elites.is_empty() {
                    return Child {
                        number,
                        genome: G::random(&self.design, &mut random),
                        parents: Vec::new(),
                    };
                }
                let a = elites[random.below(elites.len())];
                let mut parents = vec![a.number];
                let mut genome = a.genome.clone();
                if self.params.recombination > 0.0 && random.chance(self.params.recombination) {
                    let b = elites[random.below(elites.len())];
                    parents.push(b.number);
                    genome = genome.recombine(&b.genome, &self.design, &mut random);
                }
                genome.mutate(&self.design, &self.params.rates, &mut random);
                Child { number, genome, parents }
            })
            .collect();
        self.told = vec![None; self.brood.len()];
        self.brood.clone()
    }

    /// What came out of a child: fitness and measures, or `None` if it does not count.
    ///
    /// # Errors
    /// A child that was not asked for, or is told twice; measures of the wrong number, or a number that is not finite.
    pub fn tell(&mut self, child: u64, outcome: Told) -> Result<(), EvolutionError> {
        let place = self.brood.iter().position(|c| c.number == child).filter(|k| self.told[*k].is_none());
        let Some(place) = place else { return Err(EvolutionError::NotAwaited { child }) };
        if let Some((fitness, measures)) = &outcome {
            let (given, wanted) = (measures.len(), self.params.measures.len());
            EvolutionError::setting(
                given == wanted,
                "number of measures",
                "that of the settings",
                given as f64,
            )?;
            for value in measures.iter().chain([fitness]) {
                EvolutionError::setting(value.is_finite(), "measure or fitness", "finite", *value)?;
            }
        }
        self.told[place] = Some(outcome);
        if self.told.iter().all(Option::is_some) {
            let told = std::mem::take(&mut self.told);
            for (child, outcome) in std::mem::take(&mut self.brood).into_iter().zip(told) {
                if let Some(Some((fitness, measures))) = outcome {
                    self.include(Elite { child, fitness, measures });
                }
            }
            self.batch += 1;
        }
        Ok(())
    }

    fn include(&mut self, elite: Elite<G>) {
        let mut cell = 0;
        for (value, Measure { low, high, cells }) in elite.measures.iter().zip(&self.params.measures) {
            let place = ((value - low) / (high - low) * *cells as f64).floor();
            cell = cell * *cells as u64 + place.clamp(0.0, *cells as f64 - 1.0) as u64;
        }
        match self.cells.get_mut(&cell) {
            Some(known) if elite.fitness <= known.fitness => {}
            Some(known) => *known = elite,
            None => drop(self.cells.insert(cell, elite)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::vector::{Mixing, RealVector, VectorDesign};

    /// The sphere of n values that pyribs measures with: best at 0.4 · 5.12, fitness 0 to 100; measures are sums of the two halves, folded at the bounds.
    fn sphere(x: &[f64]) -> (f64, Vec<f64>) {
        let (shift, n) = (5.12 * 0.4, x.len() as f64);
        let worst = n * (-5.12 - shift) * (-5.12 - shift);
        let raw: f64 = x.iter().map(|v| (v - shift) * (v - shift)).sum();
        let folded = |v: &f64| if v.abs() > 5.12 { 5.12 / v } else { *v };
        let (a, b) = x.split_at(x.len() / 2);
        let half = |part: &[f64]| part.iter().map(folded).sum::<f64>();
        ((worst - raw) / worst * 100.0, vec![half(a), half(b)])
    }

    fn archive(n: usize, batches: u64, batch: usize, cells: usize) -> MapElites<RealVector> {
        let bound = n as f64 / 2.0 * 5.12;
        let measure = Measure { low: -bound, high: bound, cells };
        let params = MapElitesParams { batches, batch, ..MapElitesParams::new(vec![measure; 2]) };
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut start = MapElites::<RealVector>::new(
            params,
            VectorDesign { len: n, low, high, scale: 0.5, mixing: Mixing::Discrete },
        )
        .unwrap();
        // It begins at the origin, as the benchmark does.
        let zero = Child { number: u64::MAX, genome: RealVector(vec![0.0; n]), parents: Vec::new() };
        let (fitness, measures) = sphere(&zero.genome.0);
        start.include(Elite { child: zero, fitness, measures });
        start
    }

    fn fill(archive: &mut MapElites<RealVector>) {
        while !archive.is_done() {
            for child in archive.ask() {
                archive.tell(child.number, Some(sphere(&child.genome.0))).unwrap();
            }
        }
    }

    #[test]
    fn coverage_and_quality_beat_random_search() {
        let mut map = archive(10, 300, 64, 20);
        fill(&mut map);
        let mut blind = archive(10, 1, 64, 20);
        let mut random = Random::new(3);
        for number in 0..300 * 64 {
            let genome = RealVector((0..10).map(|_| random.range(-5.12, 5.12)).collect());
            let (fitness, measures) = sphere(&genome.0);
            blind.include(Elite { child: Child { number, genome, parents: Vec::new() }, fitness, measures });
        }
        assert!(map.coverage() > blind.coverage(), "{} {}", map.coverage(), blind.coverage());
        assert!(map.qd_score() > 1.1 * blind.qd_score(), "{} {}", map.qd_score(), blind.qd_score());
        assert!(map.elites().all(|e| sphere(&e.child.genome.0) == (e.fitness, e.measures.clone())));
    }

    /// 10 000 iterations of 15 emitters of 37 children in 100 dimensions: pyribs reaches a QD score of 416 112 and 50.7 % of 100 x 100 cells.
    #[test]
    fn soak_sphere_benchmark() {
        // CI does a hundredth of it.
        let factor = sim_math_cases();
        let mut map = archive(100, factor, 555, 100);
        fill(&mut map);
        assert!(map.coverage() > 0.0);
        if factor >= 10_000 {
            assert!((map.qd_score() / 416_112.0 - 1.0).abs() < 0.1, "{}", map.qd_score());
            assert!((map.coverage() - 0.507).abs() < 0.05, "{}", map.coverage());
        }
    }

    fn sim_math_cases() -> u64 {
        sim_math::testkit::soak::cases(20)
    }

    #[test]
    fn order_of_outcomes_does_not_matter() {
        let (mut straight, mut backwards) = (archive(6, 20, 30, 10), archive(6, 20, 30, 10));
        fill(&mut straight);
        while !backwards.is_done() {
            for child in backwards.ask().into_iter().rev() {
                backwards.tell(child.number, Some(sphere(&child.genome.0))).unwrap();
                assert!(backwards.tell(child.number, None).is_err());
            }
        }
        assert!(straight.elites().eq(backwards.elites()));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let make = |measures| {
            let design = VectorDesign { len: 2, low: 0.0, high: 1.0, scale: 0.1, mixing: Mixing::Discrete };
            MapElites::<RealVector>::new(MapElitesParams::new(measures), design)
        };
        assert!(make(vec![]).is_err());
        assert!(make(vec![Measure { low: 1.0, high: 1.0, cells: 3 }]).is_err());
        assert!(make(vec![Measure { low: 0.0, high: f64::NAN, cells: 3 }]).is_err());
        assert!(make(vec![Measure { low: 0.0, high: 1.0, cells: 0 }]).is_err());
        let mut map = make(vec![Measure { low: 0.0, high: 1.0, cells: 3 }]).unwrap();
        let child = map.ask()[0].number;
        assert!(map.tell(child, Some((1.0, vec![]))).is_err());
        assert!(map.tell(child, Some((f64::NAN, vec![0.5]))).is_err());
        assert!(map.tell(child, Some((1.0, vec![0.5]))).is_ok());
    }
}
