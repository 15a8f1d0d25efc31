//! Evolution in generations: recombine, mutate, evaluate, select.
//!
//! # Reference
//!
//! Arnold (1997), sections 3.1 and 3.3, figure 3.1; Fontijne (2000), section 4.7.2 (elitism, relief).
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | μ, `parents` | places of the population |
//! | λ, `children` | children in a generation, 6 μ by default |
//! | `keep` | who of the parents lives on |
//!
//! # Formula
//!
//! ```text
//! generation 0: λ random genomes, or those given
//! child k of a later one: of the group of place k mod μ draw a, b;  recombine(a, b) or a alone;  mutate;  evaluate
//! comma: μ of the λ children   plus: μ of parents and children   elites n: the best n of parents and children come first, the others are selected from the children
//! ```
//!
//! # Cost
//!
//! λ breedings per generation, and one selection for each group of rivals.
//!
//! # Numerics
//!
//! Each child has a random stream of its own, by run, generation and number.
//!
//! # Failure
//!
//! Settings that make no sense are refused. If no child of a group counts, its parents stay.
//!
//! # Tested by
//!
//! `the_sphere_is_climbed`, `islands_and_lattices_stay_more_diverse`, `order_of_scores_does_not_matter`, `an_elite_is_never_lost`

use super::{Best, Child, Search, selection::Selection, topology::Topology};
use crate::{
    error::EvolutionError,
    genome::{Genome, Rates, diversity},
    random::Random,
};
use serde::{Deserialize, Serialize};

/// Who of the parents lives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Keep {
    /// None.
    Comma,
    /// Those who beat the children.
    Plus,
    /// The best so many of every group and its children come first; the others are selected from the children.
    Elites(usize),
}

/// Settings of a generational search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GenerationalParams {
    /// Places of the population, μ. Default 16.
    pub parents: usize,
    /// Children in a generation, λ. Default 6 μ.
    pub children: usize,
    /// Generations after the one at the start. Default 60.
    pub generations: u64,
    /// How parents are selected. Default truncation.
    pub selection: Selection,
    /// Who of the parents lives on. Default none.
    pub keep: Keep,
    /// Who mates and competes with whom. Default everyone.
    pub topology: Topology,
    /// Probability that a child has two parents. Default 1.
    pub recombination: f64,
    /// How genes change.
    pub rates: Rates,
    /// Number of the run: runs of different numbers have nothing in common.
    pub seed: u64,
}

impl Default for GenerationalParams {
    fn default() -> Self {
        Self::of(16)
    }
}

impl GenerationalParams {
    /// So many parents, and six times as many children.
    #[must_use]
    pub fn of(parents: usize) -> Self {
        Self {
            parents,
            children: 6 * parents,
            generations: 60,
            selection: Selection::Truncation,
            keep: Keep::Comma,
            topology: Topology::One,
            recombination: 1.0,
            rates: Rates::default(),
            seed: 0,
        }
    }

    fn check(&self) -> Result<(), EvolutionError> {
        EvolutionError::setting(self.parents > 0, "number of parents", "positive", self.parents as f64)?;
        let whole = self.children >= self.parents && self.children % self.parents == 0;
        EvolutionError::setting(
            whole,
            "number of children",
            "a multiple of the parents",
            self.children as f64,
        )?;
        let good = (0.0..=1.0).contains(&self.recombination);
        EvolutionError::setting(good, "probability of recombination", "within 0 and 1", self.recombination)?;
        if let Selection::Proportional { relief } = self.selection {
            let good = relief >= 0.0 && relief.is_finite();
            EvolutionError::setting(good, "relief of selection", "finite and not negative", relief)?;
        }
        if let Keep::Elites(count) = self.keep {
            let group = self.topology.group(0, self.parents).len();
            EvolutionError::setting(
                count < group.max(2),
                "number of elites",
                "less than a group has",
                count as f64,
            )?;
        }
        self.topology.check(self.parents)?;
        self.rates.check()
    }
}

/// What a generation was like.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GenerationReport {
    /// Which one.
    pub generation: u64,
    /// Largest fitness of its children.
    pub best: f64,
    /// Mean fitness of those that count.
    pub mean: f64,
    /// Mean distance of the parents selected.
    pub diversity: f64,
    /// Children that do not count.
    pub refused: usize,
}

#[derive(Debug, Clone)]
struct Member<G> {
    child: Child<G>,
    score: f64,
}

/// Best first; of equals the elder.
fn sort_best_first<G>(members: &mut [&Member<G>]) {
    members.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.child.number.cmp(&b.child.number)));
}

/// Evolution in generations.
#[derive(Debug)]
pub struct Generational<G: Genome> {
    params: GenerationalParams,
    design: G::Design,
    generation: u64,
    population: Vec<Member<G>>,
    brood: Vec<Child<G>>,
    /// By child of the brood: what was told.
    scores: Vec<Option<Option<f64>>>,
    /// Number of the first child of the brood.
    first: u64,
    asked: bool,
    best: Best<G>,
    reports: Vec<GenerationReport>,
}

impl<G: Genome> Generational<G> {
    /// Begins with random genomes.
    ///
    /// # Errors
    /// Settings that make no sense.
    pub fn new(params: GenerationalParams, design: G::Design) -> Result<Self, EvolutionError> {
        Self::from_start(params, design, Vec::new())
    }

    /// Begins with these genomes, and random ones if they are fewer than the children of a generation.
    ///
    /// # Errors
    /// Settings that make no sense, more genomes than children, one that cannot be built.
    pub fn from_start(
        params: GenerationalParams,
        design: G::Design,
        mut start: Vec<G>,
    ) -> Result<Self, EvolutionError> {
        params.check()?;
        let good = start.len() <= params.children;
        EvolutionError::setting(good, "genomes at the start", "at most the children", start.len() as f64)?;
        start.iter().try_for_each(|genome| genome.check(&design))?;
        for k in start.len()..params.children {
            start.push(G::random(&design, &mut Random::of_child(params.seed, 0, k as u64)));
        }
        let child = |(number, genome)| Child { number, genome, parents: Vec::new() };
        let brood: Vec<Child<G>> = (0..).zip(start).map(child).collect();
        Ok(Self {
            scores: vec![None; brood.len()],
            params,
            design,
            generation: 0,
            population: Vec::new(),
            brood,
            first: 0,
            asked: false,
            best: Best::default(),
            reports: Vec::new(),
        })
    }

    /// What the generations so far were like.
    #[must_use]
    pub fn reports(&self) -> &[GenerationReport] {
        &self.reports
    }

    /// The parents of the next generation, with their fitness: to be saved, merged with those of other runs, or culled.
    pub fn population(&self) -> impl Iterator<Item = (&G, f64)> {
        self.population.iter().map(|member| (&member.child.genome, member.score))
    }

    fn progress(&self) -> f64 {
        self.generation as f64 / (self.params.generations.max(1)) as f64
    }

    /// All scores of the brood are known.
    fn close_generation(&mut self) {
        let scores: Vec<Option<f64>> =
            self.scores.iter().map(|s| s.flatten().filter(|f| f.is_finite())).collect();
        let known: Vec<f64> = scores.iter().copied().flatten().collect();
        let next = self.select(&scores);
        if !next.is_empty() {
            self.population = next;
        }
        if self.generation > 0 {
            self.migrate();
        }
        let genomes: Vec<G> = self.population.iter().map(|m| m.child.genome.clone()).collect();
        self.reports.push(GenerationReport {
            generation: self.generation,
            best: known.iter().copied().fold(0.0, f64::max),
            mean: if known.is_empty() { 0.0 } else { known.iter().sum::<f64>() / known.len() as f64 },
            diversity: diversity(&genomes),
            refused: scores.len() - known.len(),
        });
        if self.generation < self.params.generations {
            self.generation += 1;
            self.breed();
        } else {
            self.brood.clear();
            self.scores.clear();
        }
    }

    /// The members of the next population, by place.
    fn select(&self, scores: &[Option<f64>]) -> Vec<Member<G>> {
        let (places, topology) = (self.params.parents, self.params.topology);
        let mut random = Random::of_child(self.params.seed, self.generation, u64::MAX);
        let mut next: Vec<Member<G>> = Vec::with_capacity(places);
        let mut place = 0;
        while place < places {
            let group = topology.rivals(place, places);
            let wanted = group.len();
            let mut old: Vec<&Member<G>> = group.iter().filter_map(|p| self.population.get(*p)).collect();
            sort_best_first(&mut old);
            let mut pool: Vec<Member<G>> = Vec::new();
            for (child, score) in self.brood.iter().zip(scores) {
                let home = (child.number - self.first) as usize % places;
                if let Some(score) = score.filter(|_| group.binary_search(&home).is_ok()) {
                    pool.push(Member { child: child.clone(), score });
                }
            }
            let mut chosen: Vec<Member<G>> = Vec::new();
            match self.params.keep {
                Keep::Comma => {}
                Keep::Plus => pool.extend(old.iter().map(|m| (*m).clone())),
                Keep::Elites(count) => {
                    let mut all: Vec<&Member<G>> = old.iter().copied().chain(&pool).collect();
                    sort_best_first(&mut all);
                    chosen.extend(all.into_iter().take(count.min(wanted)).cloned());
                    if self.params.selection == Selection::Truncation {
                        pool.retain(|m| chosen.iter().all(|c| c.child.number != m.child.number));
                    }
                }
            }
            let pool_scores: Vec<Option<f64>> = pool.iter().map(|m| Some(m.score)).collect();
            let rest = wanted - chosen.len();
            let picked = self.params.selection.select(&pool_scores, rest, self.progress(), &mut random);
            chosen.extend(picked.into_iter().map(|k| pool[k].clone()));
            // Where too few children count, old members fill the places.
            chosen.extend(old.iter().cycle().take(wanted - chosen.len()).map(|m| (*m).clone()));
            next.extend(chosen.into_iter().take(wanted));
            place += wanted;
        }
        next
    }

    /// The best of each island take the place of the worst of the next one.
    fn migrate(&mut self) {
        let Topology::Islands { count, interval, migrants } = self.params.topology else { return };
        let full = self.population.len() == self.params.parents;
        if !full || count < 2 || migrants == 0 || self.generation % interval != 0 {
            return;
        }
        let size = self.population.len() / count;
        let ranked = |island: usize, population: &[Member<G>]| {
            let mut order: Vec<usize> = (island * size..(island + 1) * size).collect();
            order.sort_by(|a, b| population[*b].score.total_cmp(&population[*a].score).then(a.cmp(b)));
            order
        };
        let before = self.population.clone();
        for island in 0..count {
            let (from, to) = (ranked(island, &before), ranked((island + 1) % count, &before));
            for k in 0..migrants {
                self.population[to[size - 1 - k]] = before[from[k]].clone();
            }
        }
    }

    fn breed(&mut self) {
        self.first += self.params.children as u64;
        self.asked = false;
        let (places, seed, generation) = (self.population.len(), self.params.seed, self.generation);
        self.brood = (0..self.params.children as u64)
            .map(|k| {
                let mut random = Random::of_child(seed, generation, k);
                let number = self.first + k;
                if places == 0 {
                    // Nobody has counted yet.
                    return Child {
                        number,
                        genome: G::random(&self.design, &mut random),
                        parents: Vec::new(),
                    };
                }
                let home = k as usize % self.params.parents;
                let group = self.params.topology.group(home, self.params.parents);
                let mut member = || &self.population[group[random.below(group.len())] % places].child;
                let (a, b) = (member(), member());
                let both = random.chance(self.params.recombination);
                let mut genome = if both {
                    a.genome.recombine(&b.genome, &self.design, &mut random)
                } else {
                    a.genome.clone()
                };
                genome.mutate(&self.design, &self.params.rates, &mut random);
                let parents = if both { vec![a.number, b.number] } else { vec![a.number] };
                Child { number, genome, parents }
            })
            .collect();
        self.scores = vec![None; self.brood.len()];
    }
}

impl<G: Genome> Search for Generational<G> {
    type Genome = G;

    fn ask(&mut self) -> Vec<Child<G>> {
        if std::mem::replace(&mut self.asked, true) { Vec::new() } else { self.brood.clone() }
    }

    fn tell(&mut self, child: u64, score: Option<f64>) -> Result<(), EvolutionError> {
        let place = child.checked_sub(self.first).filter(|k| self.asked && *k < self.brood.len() as u64);
        let place = place.map(|k| k as usize).filter(|k| self.scores[*k].is_none());
        let Some(place) = place else { return Err(EvolutionError::NotAwaited { child }) };
        self.scores[place] = Some(score);
        self.best.include(&self.brood[place], score);
        if self.scores.iter().all(Option::is_some) {
            self.close_generation();
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.brood.is_empty()
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
        VectorDesign { len: 4, low: -5.0, high: 5.0, scale: 0.2, mixing: Mixing::Intermediate };

    /// Highest, 100, at the origin.
    fn hill(x: &RealVector) -> Option<f64> {
        Some(100.0 / (1.0 + x.0.iter().map(|v| v * v).sum::<f64>()))
    }

    fn search(params: GenerationalParams) -> Generational<RealVector> {
        Generational::new(params, DESIGN).unwrap()
    }

    // proves: ARN-62, ARN-71
    #[test]
    fn the_sphere_is_climbed() {
        assert_eq!(GenerationalParams::default().children, 6 * GenerationalParams::default().parents);
        for keep in [Keep::Comma, Keep::Plus, Keep::Elites(1)] {
            for selection in [Selection::Truncation, Selection::Proportional { relief: 0.5 }] {
                let mut search = search(GenerationalParams { keep, selection, ..Default::default() });
                run(&mut search, hill).unwrap();
                let (_, best) = search.best().unwrap();
                let first = search.reports()[0].best;
                assert!(best > 80.0 && best > first, "{keep:?} {selection:?}: {first} to {best}");
                assert_eq!(search.reports().len(), 61);
            }
        }
    }

    #[test]
    fn order_of_scores_does_not_matter() {
        let topologies = [
            Topology::One,
            Topology::Islands { count: 4, interval: 2, migrants: 1 },
            Topology::Lattice { width: 4, radius: 1 },
        ];
        for topology in topologies {
            for selection in [Selection::Truncation, Selection::Proportional { relief: 0.5 }] {
                let params = GenerationalParams { topology, selection, generations: 5, ..Default::default() };
                // Some do not count.
                order_does_not_matter(|| search(params.clone()), |x| hill(x).filter(|_| x.0[0] < 4.0));
            }
        }
    }

    // proves: ARN-72, ARN-73
    #[test]
    fn islands_and_lattices_stay_more_diverse() {
        // Two hills of the same height: one population forgets one of them.
        let twins = |x: &RealVector| {
            let near = |c: f64| 1.0 / (1.0 + x.0.iter().map(|v| (v - c) * (v - c)).sum::<f64>());
            Some(near(2.5).max(near(-2.5)))
        };
        let discrete = || VectorDesign { mixing: Mixing::Discrete, ..DESIGN };
        let mean = |topology: Topology| {
            let of = |seed| {
                let params =
                    GenerationalParams { topology, seed, generations: 12, ..GenerationalParams::of(100) };
                let mut search = Generational::<RealVector>::new(params, discrete()).unwrap();
                run(&mut search, twins).unwrap();
                search.reports().iter().map(|r| r.diversity).sum::<f64>() / 13.0
            };
            (0..3).map(of).sum::<f64>() / 3.0
        };
        let one = mean(Topology::One);
        let islands = mean(Topology::Islands { count: 10, interval: 10, migrants: 1 });
        let lattice = mean(Topology::Lattice { width: 10, radius: 1 });
        assert!(islands > 1.2 * one && lattice > 1.2 * one, "{one} {islands} {lattice}");
    }

    #[test]
    fn an_elite_is_never_lost() {
        let mut search = search(GenerationalParams {
            keep: Keep::Elites(1),
            selection: Selection::Proportional { relief: 0.5 },
            generations: 40,
            ..Default::default()
        });
        let mut best = 0.0_f64;
        while !search.is_done() {
            for child in search.ask() {
                let score = hill(&child.genome);
                best = best.max(score.unwrap());
                search.tell(child.number, score).unwrap();
            }
            let kept = search.population().map(|(_, score)| score).fold(0.0, f64::max);
            assert_eq!(kept, best);
        }
    }

    #[test]
    fn a_generation_without_survivors_keeps_its_parents_and_a_run_without_any_ends() {
        let mut search = search(GenerationalParams { generations: 3, ..Default::default() });
        let mut round = 0;
        let mut before = Vec::new();
        while !search.is_done() {
            for child in search.ask() {
                search.tell(child.number, hill(&child.genome).filter(|_| round == 0)).unwrap();
            }
            let now: Vec<RealVector> = search.population().map(|(g, _)| g.clone()).collect();
            assert!(round == 0 || now == before);
            (before, round) = (now, round + 1);
        }
        let mut none = Generational::<RealVector>::new(GenerationalParams::of(4), DESIGN).unwrap();
        run(&mut none, |_| None).unwrap();
        assert!(none.is_done() && none.best().is_none());
    }

    // proves: ARN-92
    #[test]
    fn hand_made_genomes_begin_a_run() {
        let start = vec![RealVector(vec![0.1; 4]); 3];
        let params = GenerationalParams { generations: 2, ..Default::default() };
        let mut search = Generational::from_start(params.clone(), DESIGN, start).unwrap();
        let children = search.ask();
        assert!(children[..3].iter().all(|c| c.genome.0 == [0.1; 4]) && children[3].genome.0 != [0.1; 4]);
        let bad = vec![RealVector(vec![9.0; 4])];
        let text = Generational::from_start(params, DESIGN, bad).unwrap_err().to_string();
        assert_eq!(text, "gene 0: value must be within its bounds, got 9");
    }

    // proves: ARN-93
    #[test]
    fn merged_populations_go_on_getting_better() {
        let short = |seed| GenerationalParams { seed, generations: 2, ..Default::default() };
        let mut merged = Vec::new();
        let mut best = 0.0_f64;
        for seed in 1..5 {
            let mut search = search(short(seed));
            run(&mut search, hill).unwrap();
            // The worse half is deleted, what is left goes through bytes and back.
            let mut members: Vec<(RealVector, f64)> =
                search.population().map(|(g, f)| (g.clone(), f)).collect();
            members.sort_by(|a, b| b.1.total_cmp(&a.1));
            best = best.max(members[0].1);
            for (genome, _) in &members[..8] {
                merged.push(RealVector::retrieve(&genome.store().unwrap(), &DESIGN).unwrap());
            }
        }
        let params = GenerationalParams { generations: 15, ..short(9) };
        let mut search = Generational::from_start(params, DESIGN, merged).unwrap();
        run(&mut search, hill).unwrap();
        assert!(search.reports()[0].best >= best);
        // What is missing to the top is at most half as much.
        assert!(100.0 - search.best().unwrap().1 < 0.5 * (100.0 - best), "{best}");
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let bad = [
            GenerationalParams { parents: 0, ..Default::default() },
            GenerationalParams { children: 17, ..Default::default() },
            GenerationalParams { recombination: f64::NAN, ..Default::default() },
            GenerationalParams { selection: Selection::Proportional { relief: -1.0 }, ..Default::default() },
            GenerationalParams { keep: Keep::Elites(16), ..Default::default() },
        ];
        for params in bad {
            assert!(Generational::<RealVector>::new(params.clone(), DESIGN).is_err(), "{params:?}");
        }
    }
}
