//! Searches: who is bred from whom.
//!
//! | file | search |
//! |---|---|
//! | `generational` | generations, with truncation or proportional selection, one population, islands or a lattice |
//! | `steady_state` | one child after the other, with a fixed window so that threads change nothing |
//! | `success_rule` | one parent, steps by the share of successes |
//! | `cma_es` | covariance matrix adaptation |
//! | `map_elites` | an archive of the best of every kind |
//! | `coevolution` | two populations that are each other's task |

pub mod cma_es;
pub mod coevolution;
pub mod generational;
pub mod gray;
pub mod map_elites;
pub mod selection;
pub mod steady_state;
pub mod strategy;
pub mod success_rule;
pub mod topology;
pub mod vector;

use crate::{error::EvolutionError, genome::Genome};

/// A genome to be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Child<G> {
    /// Its number in the run: the first is 0.
    pub number: u64,
    /// What it is.
    pub genome: G,
    /// Numbers of the children that it was bred from; none for those of the start.
    pub parents: Vec<u64>,
}

/// A search: asks for evaluations, and is told what came out, in any order.
///
/// **Contract.** The children that it asks for depend on its settings, its seed and the scores told, and on nothing else: not on the order of
/// [`tell`](Search::tell), nor on how often [`ask`](Search::ask) is called. So a run continues from the list of its scores: they are told again.
pub trait Search {
    /// What it breeds.
    type Genome: Genome;

    /// Children that can be bred now and were not asked for before, in the order of their numbers. Empty while it waits, and when it is done.
    fn ask(&mut self) -> Vec<Child<Self::Genome>>;

    /// What came out of a child: its fitness, or `None` if it does not count.
    ///
    /// # Errors
    /// A child that was not asked for, or is told twice; the search is as before.
    fn tell(&mut self, child: u64, score: Option<f64>) -> Result<(), EvolutionError>;

    /// True if it asks for no more.
    fn is_done(&self) -> bool;

    /// The best so far with its fitness; of equals the first.
    fn best(&self) -> Option<(&Child<Self::Genome>, f64)>;
}

/// Runs a search to its end, one child after the other.
///
/// # Errors
/// As [`Search::tell`]: a defect of the search.
pub fn run<S: Search>(
    search: &mut S,
    mut fitness: impl FnMut(&S::Genome) -> Option<f64>,
) -> Result<(), EvolutionError> {
    while !search.is_done() {
        let children = search.ask();
        if children.is_empty() {
            break;
        }
        for child in children {
            search.tell(child.number, fitness(&child.genome))?;
        }
    }
    Ok(())
}

/// The best of all that were told.
#[derive(Debug, Clone)]
pub(crate) struct Best<G>(Option<(Child<G>, f64)>);

impl<G> Default for Best<G> {
    fn default() -> Self {
        Self(None)
    }
}

impl<G: Clone> Best<G> {
    /// Takes one more in; of equals the one of smaller number stays, in whatever order they come.
    pub(crate) fn include(&mut self, child: &Child<G>, score: Option<f64>) {
        let Some(score) = score.filter(|s| s.is_finite()) else { return };
        let better = self.0.as_ref().is_none_or(|(known, best)| {
            score > *best || (score.total_cmp(best).is_eq() && child.number < known.number)
        });
        if better {
            self.0 = Some((child.clone(), score));
        }
    }

    pub(crate) fn get(&self) -> Option<(&Child<G>, f64)> {
        self.0.as_ref().map(|(child, score)| (child, *score))
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::random::Random;

    /// The scores of a search, told in two orders and with two ways of asking, give the same children.
    pub(crate) fn order_does_not_matter<S: Search>(
        make: impl Fn() -> S,
        fitness: impl Fn(&S::Genome) -> Option<f64>,
    ) {
        let mut straight = make();
        let mut all = Vec::new();
        run(&mut straight, |genome| {
            all.push(genome.clone());
            fitness(genome)
        })
        .unwrap();
        let (mut shuffled, mut random) = (make(), Random::new(17));
        let mut waiting = Vec::new();
        let mut seen = vec![None; all.len()];
        loop {
            waiting.extend(shuffled.ask());
            assert!(shuffled.ask().is_empty(), "asked twice");
            if waiting.is_empty() {
                break;
            }
            let child = waiting.swap_remove(random.below(waiting.len()));
            seen[child.number as usize] = Some(child.genome.clone());
            shuffled.tell(child.number, fitness(&child.genome)).unwrap();
            assert!(shuffled.tell(child.number, None).is_err(), "told twice");
        }
        assert!(shuffled.is_done() && straight.is_done());
        assert!(seen.into_iter().map(Option::unwrap).eq(all));
        let (a, b) = (straight.best().unwrap(), shuffled.best().unwrap());
        assert_eq!((a.0.number, a.1), (b.0.number, b.1));
        assert!(shuffled.tell(u64::MAX, None).is_err(), "unknown child");
    }
}
