//! A run: a search, what evaluates its children, and the journal from which it goes on.
//!
//! A run is a function of its search and of the outcomes. What was journalled is told to the search again instead of being evaluated
//! again, so a run that was stopped makes the children, the journal entries and the result that it would have made without the stop.

use crate::{
    error::EvolutionError,
    job::Outcome,
    journal::{Journal, journal_entry},
    search::Search,
};
use sim_traits::Executor;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// Evaluates a genome: pure and total, the same outcome for the same genome and child, whenever and wherever.
pub trait Evaluate<G>: Sync {
    /// What comes out. A panic inside is a defect; what cannot be simulated is a [`crate::Verdict::Faulty`].
    fn evaluate(&self, child: u64, genome: &G) -> Outcome;
}

impl<G, F: Fn(u64, &G) -> Outcome + Sync> Evaluate<G> for F {
    fn evaluate(&self, child: u64, genome: &G) -> Outcome {
        self(child, genome)
    }
}

/// What a run tells while it goes on.
pub trait Watch {
    /// Bytes to be appended to the journal, before the search is told: write them in one call. An error ends the run.
    ///
    /// # Errors
    /// Why they could not be written.
    fn append(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// A child was evaluated, or taken from the journal.
    fn evaluated(&mut self, child: u64, outcome: &Outcome, from_journal: bool) {
        let _ = (child, outcome, from_journal);
    }

    /// True if the run is to stop here; it can go on later.
    fn stop(&mut self) -> bool {
        false
    }
}

/// Nobody watches, nothing is written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn append(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunReport {
    /// Evaluations done now.
    pub evaluated: u64,
    /// Outcomes taken from the journal.
    pub known: u64,
    /// False if it was told to stop before its end.
    pub finished: bool,
}

/// Runs a search to its end or until it is told to stop, evaluating children side by side, and going on from a journal.
///
/// # Errors
/// A journal with children that the search does not ask for; a journal that cannot be written.
pub fn evolve<S: Search>(
    search: &mut S,
    evaluate: &dyn Evaluate<S::Genome>,
    executor: &dyn Executor,
    journal: &Journal,
    watch: &mut dyn Watch,
) -> Result<RunReport, EvolutionError> {
    let mut known: BTreeMap<u64, &Outcome> = BTreeMap::new();
    for (child, outcome) in &journal.entries {
        if known.insert(*child, outcome).is_some_and(|earlier| earlier != outcome) {
            let why = format!("child {child} has two outcomes");
            return Err(EvolutionError::Damaged { what: "journal", why });
        }
    }
    let mut report = RunReport { evaluated: 0, known: 0, finished: false };
    loop {
        let children = search.ask();
        if children.is_empty() {
            break;
        }
        let mut fresh = Vec::new();
        for child in children {
            match known.remove(&child.number) {
                Some(outcome) => {
                    watch.evaluated(child.number, outcome, true);
                    search.tell(child.number, outcome.score())?;
                    report.known += 1;
                }
                None => fresh.push(child),
            }
        }
        // In pieces, so that a stop loses little.
        for piece in fresh.chunks(executor.parallelism().max(1) * 4) {
            if watch.stop() {
                return Ok(report);
            }
            let outcomes: Vec<Mutex<Option<Outcome>>> = piece.iter().map(|_| Mutex::new(None)).collect();
            executor.for_each(piece.len(), &|k| {
                let outcome = evaluate.evaluate(piece[k].number, &piece[k].genome);
                *outcomes[k].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            });
            for (child, outcome) in piece.iter().zip(outcomes) {
                let outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
                let Some(outcome) = outcome else { continue };
                let failed = |why| EvolutionError::Damaged { what: "writing of the journal", why };
                watch.append(&journal_entry(child.number, &outcome)?).map_err(failed)?;
                watch.evaluated(child.number, &outcome, false);
                search.tell(child.number, outcome.score())?;
                report.evaluated += 1;
            }
        }
    }
    if let Some(child) = known.keys().next() {
        let why = format!("child {child} was never asked for");
        return Err(EvolutionError::Damaged { what: "journal", why });
    }
    report.finished = search.is_done();
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        journal::journal_header,
        random::Random,
        search::{
            generational::{Generational, GenerationalParams},
            steady_state::{SteadyState, SteadyStateParams},
            vector::{Mixing, RealVector, VectorDesign},
        },
    };
    use sim_traits::Serial;

    const DESIGN: VectorDesign =
        VectorDesign { len: 3, low: -5.0, high: 5.0, scale: 0.2, mixing: Mixing::Intermediate };

    fn hill(_: u64, x: &RealVector) -> Outcome {
        Outcome::valid(1.0 / (1.0 + x.0.iter().map(|v| v * v).sum::<f64>()))
    }

    /// Threads that take pieces in no order.
    #[derive(Debug)]
    struct Threaded(usize);

    impl Executor for Threaded {
        fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
            let next = std::sync::atomic::AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..self.0 {
                    scope.spawn(|| {
                        loop {
                            let k = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                            if k >= n {
                                break;
                            }
                            work(n - 1 - k);
                        }
                    });
                }
            });
        }

        fn parallelism(&self) -> usize {
            self.0
        }
    }

    /// A file that is killed after so many bytes, perhaps within an entry.
    #[derive(Default)]
    struct File {
        bytes: Vec<u8>,
        most: usize,
        fresh: u64,
    }

    impl Watch for File {
        fn append(&mut self, bytes: &[u8]) -> Result<(), String> {
            let left = self.most - self.bytes.len().min(self.most);
            self.bytes.extend_from_slice(&bytes[..bytes.len().min(left)]);
            if bytes.len() > left { Err("killed".into()) } else { Ok(()) }
        }

        fn evaluated(&mut self, _: u64, _: &Outcome, from_journal: bool) {
            self.fresh += u64::from(!from_journal);
        }
    }

    fn search() -> Generational<RealVector> {
        let params = GenerationalParams { generations: 4, ..GenerationalParams::of(5) };
        Generational::new(params, DESIGN).unwrap()
    }

    fn whole(executor: &dyn Executor) -> (Vec<u8>, Vec<(RealVector, f64)>) {
        let mut file = File { bytes: journal_header(1), most: usize::MAX, fresh: 0 };
        let mut search = search();
        let journal = Journal::read(&file.bytes, 1).unwrap();
        let report = evolve(&mut search, &hill, executor, &journal, &mut file).unwrap();
        assert_eq!(report, RunReport { evaluated: 150, known: 0, finished: true });
        (file.bytes, search.population().map(|(g, f)| (g.clone(), f)).collect())
    }

    #[test]
    fn one_two_and_eight_workers_give_the_same_run() {
        let serial = whole(&Serial);
        for count in [1, 2, 8] {
            let threaded = whole(&Threaded(count));
            assert!(threaded == serial, "{count} workers");
        }
    }

    // proves: FON-139
    #[test]
    fn a_run_that_is_killed_a_hundred_times_ends_as_if_it_had_not_been() {
        let (bytes, population) = whole(&Serial);
        let mut random = Random::new(4);
        for _ in 0..20 {
            let mut file = File { bytes: journal_header(1), ..File::default() };
            let mut evaluated = 0;
            let mut kills = 0_u64;
            loop {
                // A new process: the file is read, its torn tail is cut, a new search is made.
                let journal = Journal::read(&file.bytes, 1).unwrap();
                file.bytes.truncate(journal.whole.max(24));
                let mut search = search();
                file.most = if kills < 100 { file.bytes.len() + random.below(400) } else { usize::MAX };
                let ended = evolve(&mut search, &hill, &Serial, &journal, &mut file);
                evaluated += std::mem::take(&mut file.fresh);
                if let Ok(report) = ended {
                    assert!(report.finished);
                    assert!(search.population().map(|(g, f)| (g.clone(), f)).eq(population.iter().cloned()));
                    break;
                }
                kills += 1;
            }
            assert!(file.bytes == bytes, "the journal is another");
            // Only what was under way is done again.
            assert!(kills > 10 && evaluated <= 150 + kills, "{kills} kills, {evaluated} evaluations");
        }
    }

    #[test]
    fn a_run_that_is_told_to_stop_goes_on_later() {
        struct Once(u32);
        impl Watch for Once {
            fn append(&mut self, _: &[u8]) -> Result<(), String> {
                Ok(())
            }
            fn stop(&mut self) -> bool {
                self.0 += 1;
                self.0 > 3
            }
        }
        let mut search = search();
        let empty = Journal::read(&[], 1).unwrap();
        let report = evolve(&mut search, &hill, &Serial, &empty, &mut Once(0)).unwrap();
        assert_eq!(report, RunReport { evaluated: 12, known: 0, finished: false });
    }

    #[test]
    fn a_journal_of_another_search_is_refused() {
        let mut file = File { bytes: journal_header(1), most: usize::MAX, fresh: 0 };
        let empty = Journal::read(&[], 1).unwrap();
        evolve(&mut search(), &hill, &Serial, &empty, &mut file).unwrap();
        let journal = Journal::read(&file.bytes, 1).unwrap();
        let params = SteadyStateParams { children: 20, ..Default::default() };
        let mut other = SteadyState::<RealVector>::new(params, DESIGN).unwrap();
        let text = evolve(&mut other, &hill, &Serial, &journal, &mut Unwatched).unwrap_err().to_string();
        assert_eq!(text, "damaged journal: child 20 was never asked for");
        let mut twice = journal.clone();
        twice.entries.push((0, Outcome::valid(5.0)));
        let text = evolve(&mut search(), &hill, &Serial, &twice, &mut Unwatched).unwrap_err().to_string();
        assert_eq!(text, "damaged journal: child 0 has two outcomes");
    }
}
