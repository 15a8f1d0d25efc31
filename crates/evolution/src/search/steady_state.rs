//! One child after the other, with the same bits for any number of workers.
//!
//! # Reference
//!
//! Syswerda (1989), steady state; the window is our own.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | W, `window` | how many children are under way at most |
//! | i | number of a child |
//!
//! # Formula
//!
//! ```text
//! child i is bred from the population that the outcomes 0 … i − W made, whatever else is known by then
//! outcome i, taken in the order of numbers: takes the place of the worst if it is better
//! ```
//!
//! # Cost
//!
//! One breeding and a search for the worst per child. A slow child delays only those more than W after it.
//!
//! # Numerics
//!
//! As [`super::generational`].
//!
//! # Failure
//!
//! Settings that make no sense are refused.
//!
//! # Tested by
//!
//! `order_of_scores_does_not_matter`, `the_sphere_is_climbed`

use super::{Best, Child, Search, selection::Selection};
use crate::{
    error::EvolutionError,
    genome::{Genome, Rates},
    random::Random,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of a steady-state search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SteadyStateParams {
    /// Places of the population. Default 32.
    pub parents: usize,
    /// Children in all. Default 4000.
    pub children: u64,
    /// Children under way at most. Default 16; more keep more workers busy, and breed from older outcomes.
    pub window: u64,
    /// How the two parents of a child are selected. Default in proportion to fitness.
    pub selection: Selection,
    /// How genes change.
    pub rates: Rates,
    /// Number of the run.
    pub seed: u64,
}

impl Default for SteadyStateParams {
    fn default() -> Self {
        Self {
            parents: 32,
            children: 4000,
            window: 16,
            selection: Selection::Proportional { relief: 0.0 },
            rates: Rates::default(),
            seed: 0,
        }
    }
}

/// One child after the other.
#[derive(Debug)]
pub struct SteadyState<G: Genome> {
    params: SteadyStateParams,
    design: G::Design,
    population: Vec<(Child<G>, f64)>,
    /// Asked for, not yet taken into the population; with the score once it is told.
    under_way: BTreeMap<u64, (Child<G>, Option<Option<f64>>)>,
    /// Next child to be bred, and next outcome to be taken.
    next: u64,
    taken: u64,
    best: Best<G>,
}

impl<G: Genome> SteadyState<G> {
    /// Begins with random genomes.
    ///
    /// # Errors
    /// Settings that make no sense.
    pub fn new(params: SteadyStateParams, design: G::Design) -> Result<Self, EvolutionError> {
        EvolutionError::setting(params.parents > 0, "number of parents", "positive", params.parents as f64)?;
        EvolutionError::setting(params.window > 0, "window", "positive", params.window as f64)?;
        params.rates.check()?;
        Ok(Self {
            params,
            design,
            population: Vec::new(),
            under_way: BTreeMap::new(),
            next: 0,
            taken: 0,
            best: Best::default(),
        })
    }

    fn breed(&self, number: u64) -> Child<G> {
        let mut random = Random::of_child(self.params.seed, 0, number);
        if number < self.params.parents as u64 || self.population.is_empty() {
            return Child { number, genome: G::random(&self.design, &mut random), parents: Vec::new() };
        }
        let scores: Vec<Option<f64>> = self.population.iter().map(|(_, f)| Some(*f)).collect();
        let chosen = self.params.selection.select(&scores, 2, 0.0, &mut random);
        let parent = |k: usize| &self.population[chosen[k % chosen.len()]].0;
        let mut genome = parent(0).genome.recombine(&parent(1).genome, &self.design, &mut random);
        genome.mutate(&self.design, &self.params.rates, &mut random);
        Child { number, genome, parents: vec![parent(0).number, parent(1).number] }
    }

    fn take(&mut self, child: Child<G>, score: Option<f64>) {
        let Some(score) = score.filter(|s| s.is_finite()) else { return };
        if self.population.len() < self.params.parents {
            self.population.push((child, score));
            return;
        }
        // Of equals the oldest goes.
        let worst = self
            .population
            .iter()
            .enumerate()
            .min_by(|(_, a), (_, b)| a.1.total_cmp(&b.1).then(a.0.number.cmp(&b.0.number)));
        if let Some((k, (_, least))) = worst
            && score >= *least
        {
            self.population[k] = (child, score);
        }
    }
}

impl<G: Genome> Search for SteadyState<G> {
    type Genome = G;

    fn ask(&mut self) -> Vec<Child<G>> {
        let mut children = Vec::new();
        while self.next < self.params.children {
            // As many outcomes as the window says, and no more, however many are known.
            let needed = (self.next + 1).saturating_sub(self.params.window);
            while self.taken < needed {
                let Some((_, Some(_))) = self.under_way.get(&self.taken) else { return children };
                if let Some((child, Some(score))) = self.under_way.remove(&self.taken) {
                    self.take(child, score);
                }
                self.taken += 1;
            }
            let child = self.breed(self.next);
            self.under_way.insert(self.next, (child.clone(), None));
            children.push(child);
            self.next += 1;
        }
        children
    }

    fn tell(&mut self, child: u64, score: Option<f64>) -> Result<(), EvolutionError> {
        match self.under_way.get_mut(&child) {
            Some((known, told @ None)) => {
                *told = Some(score);
                self.best.include(known, score);
            }
            _ => return Err(EvolutionError::NotAwaited { child }),
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.next >= self.params.children && self.under_way.values().all(|(_, told)| told.is_some())
    }

    fn best(&self) -> Option<(&Child<G>, f64)> {
        self.best.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{
        run,
        testing::order_does_not_matter,
        vector::{Mixing, RealVector, VectorDesign},
    };

    const DESIGN: VectorDesign =
        VectorDesign { len: 3, low: -5.0, high: 5.0, scale: 0.2, mixing: Mixing::Intermediate };

    fn hill(x: &RealVector) -> Option<f64> {
        Some(1.0 / (1.0 + x.0.iter().map(|v| v * v).sum::<f64>()))
    }

    #[test]
    fn order_of_scores_does_not_matter() {
        let params = SteadyStateParams { children: 400, ..Default::default() };
        order_does_not_matter(
            || SteadyState::<RealVector>::new(params.clone(), DESIGN).unwrap(),
            |x| hill(x).filter(|_| x.0[1] < 4.5),
        );
    }

    #[test]
    fn the_sphere_is_climbed() {
        let mut search = SteadyState::<RealVector>::new(SteadyStateParams::default(), DESIGN).unwrap();
        run(&mut search, hill).unwrap();
        assert!(search.best().unwrap().1 > 0.97, "{}", search.best().unwrap().1);
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let bad = [
            SteadyStateParams { parents: 0, ..Default::default() },
            SteadyStateParams { window: 0, ..Default::default() },
        ];
        assert!(bad.into_iter().all(|params| SteadyState::<RealVector>::new(params, DESIGN).is_err()));
    }
}
