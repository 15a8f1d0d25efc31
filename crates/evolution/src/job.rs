//! What is evaluated and what came out, as data: an evaluation is a pure function of its job.

use serde::{Deserialize, Serialize};
use sim_traits::FixedState;
use std::hash::{BuildHasher, Hasher};

/// One evaluation: everything that its outcome depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Name of the task.
    pub task: String,
    /// Raised whenever the task gives other outcomes for the same genome.
    pub version: u32,
    /// Parameters of the task, as the task writes them.
    pub params: Vec<u8>,
    /// The genome, as it writes itself.
    pub genome: Vec<u8>,
    /// Seed of what the task draws at random.
    pub seed: u64,
}

/// Number of a job: a hash of all that it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u64);

impl Job {
    /// The number of this job; equal jobs have equal numbers in every run and on every machine.
    #[must_use]
    pub fn id(&self) -> JobId {
        let mut hasher = FixedState.build_hasher();
        hasher.write(self.task.as_bytes());
        hasher.write_u32(self.version);
        hasher.write(&self.params);
        hasher.write(&self.genome);
        hasher.write_u64(self.seed);
        JobId(hasher.finish())
    }
}

/// How much an evaluation may cost: counted in steps, never in seconds, so that it ends at the same place on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Steps of simulation.
    pub steps: u64,
}

/// What became of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Verdict {
    /// It counts.
    Valid,
    /// A rule of the task was broken, such as a body that does not lie still before the start.
    Disqualified {
        /// Which rule.
        rule: String,
    },
    /// Its distance was paid for by the simulation instead of by its actuators.
    Dishonest {
        /// By which cause of the energy account.
        cause: String,
        /// Share of the work of its actuators.
        share: f64,
    },
    /// It could not be built or simulated.
    Faulty {
        /// What went wrong.
        flaw: String,
    },
}

/// What came out of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether it counts.
    pub verdict: Verdict,
    /// The larger the better, never negative; 0 unless valid.
    pub fitness: f64,
    /// What else was measured, by name.
    pub measures: Vec<(String, f64)>,
    /// Digest of the last state, to compare runs.
    pub digest: u64,
    /// Steps done.
    pub steps: u64,
}

impl Outcome {
    /// One that counts. A fitness that is negative or no number makes it faulty.
    #[must_use]
    pub fn valid(fitness: f64) -> Self {
        let finite = fitness.is_finite() && fitness >= 0.0;
        if finite {
            return Self { verdict: Verdict::Valid, fitness, measures: Vec::new(), digest: 0, steps: 0 };
        }
        Self::refused(Verdict::Faulty { flaw: format!("fitness {fitness}") })
    }

    /// One that does not count.
    #[must_use]
    pub fn refused(verdict: Verdict) -> Self {
        Self { verdict, fitness: 0.0, measures: Vec::new(), digest: 0, steps: 0 }
    }

    /// The fitness, if it counts.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        (self.verdict == Verdict::Valid && self.fitness.is_finite()).then_some(self.fitness)
    }

    /// The worst of several evaluations of one genome: the first that does not count, else the least fitness. `None` if there are none.
    #[must_use]
    pub fn worst(outcomes: &[Self]) -> Option<&Self> {
        let refused = outcomes.iter().find(|o| o.score().is_none());
        refused.or_else(|| outcomes.iter().min_by(|a, b| a.fitness.total_cmp(&b.fitness)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job { task: "walk".into(), version: 1, params: vec![1], genome: vec![2, 3], seed: 4 }
    }

    #[test]
    fn every_part_of_a_job_changes_its_number() {
        let changed = [
            Job { task: "jump".into(), ..job() },
            Job { version: 2, ..job() },
            Job { params: vec![2], ..job() },
            Job { genome: vec![2, 3, 0], ..job() },
            Job { seed: 5, ..job() },
        ];
        assert_eq!(job().id(), job().id());
        assert!(changed.iter().all(|other| other.id() != job().id()));
    }

    // proves: FON-131
    #[test]
    fn of_repeated_evaluations_the_least_counts() {
        let [a, b] = [Outcome::valid(3.0), Outcome::valid(2.0)];
        assert_eq!(Outcome::worst(&[a.clone(), b.clone(), a.clone()]), Some(&b));
        let rule = Outcome::refused(Verdict::Disqualified { rule: "moves before the start".into() });
        assert_eq!(Outcome::worst(&[a, rule.clone(), b]), Some(&rule));
        assert_eq!(Outcome::worst(&[]), None);
    }

    #[test]
    fn a_fitness_that_is_no_number_or_negative_is_faulty() {
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Outcome::valid(bad).score(), None, "{bad}");
        }
        assert_eq!(Outcome::valid(0.0).score(), Some(0.0));
    }
}
