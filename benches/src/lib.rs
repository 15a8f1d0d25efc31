//! What all benchmarks are registered through, so that one source serves time and instruction counts.
//!
//! ```no_run
//! use std::hint::black_box;
//! use tumblestone_benches::Suite;
//!
//! fn sums(suite: &mut Suite) {
//!     let numbers = vec![1.0; 1000];
//!     suite.case("example/sum").elements(1000).run(|| black_box(&numbers).iter().sum::<f64>());
//! }
//!
//! tumblestone_benches::main!(sums);
//! ```
//!
//! An id is `crate/what/case`. A program made by [`main!`] is a usual criterion program; with the variable
//! `TUMBLESTONE_COUNT` set to an id it runs that case alone, a fixed number of times and without criterion.
//! `cargo xtask bench --count` runs it so under callgrind.

pub mod bounce;
pub mod boxes;
pub mod scn;

use criterion::{BatchSize, Criterion, Throughput};
use std::fmt;
use std::hint::black_box;

/// Iterations in one round of counting unless [`Case::iterations`] says otherwise: counts are exact, so few do.
const ITERATIONS: u64 = 100;

/// Receives the cases of one program.
#[derive(Debug)]
pub struct Suite {
    mode: Mode,
}

enum Mode {
    Time(Box<Criterion>),
    /// The one case to run, for so many rounds.
    Count {
        id: String,
        rounds: u64,
    },
}

impl fmt::Debug for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(_) => f.write_str("Time"),
            Self::Count { id, rounds } => write!(f, "Count({id}, {rounds})"),
        }
    }
}

impl Suite {
    /// Reads the command line and the environment.
    #[must_use]
    pub fn from_env() -> Self {
        let mode = match std::env::var("TUMBLESTONE_COUNT") {
            Ok(id) => {
                let rounds = std::env::var("TUMBLESTONE_COUNT_ROUNDS").ok().and_then(|n| n.parse().ok());
                Mode::Count { id, rounds: rounds.unwrap_or(1) }
            }
            Err(_) => Mode::Time(Box::new(Criterion::default().configure_from_args())),
        };
        Self { mode }
    }

    /// A case to be run; nothing happens before [`Case::run`] or [`Case::run_with`].
    pub fn case<'s>(&'s mut self, id: &'s str) -> Case<'s> {
        Case { suite: self, id, elements: None, samples: None, iterations: ITERATIONS }
    }

    /// Criterion's last words.
    pub fn finish(self) {
        if let Mode::Time(criterion) = self.mode {
            criterion.final_summary();
        }
    }
}

/// One benchmark with its options.
#[derive(Debug)]
#[must_use = "a case does nothing until it is run"]
pub struct Case<'s> {
    suite: &'s mut Suite,
    id: &'s str,
    elements: Option<u64>,
    samples: Option<usize>,
    iterations: u64,
}

impl Case<'_> {
    /// Number of things one iteration works on, shown as throughput.
    pub fn elements(mut self, count: u64) -> Self {
        self.elements = Some(count);
        self
    }

    /// Samples that criterion takes, at least 10; for cases that are slow.
    pub fn samples(mut self, count: usize) -> Self {
        self.samples = Some(count.max(10));
        self
    }

    /// Iterations in one round of counting; for cases that are slow.
    pub fn iterations(mut self, count: u64) -> Self {
        self.iterations = count.max(1);
        self
    }

    /// Runs the same routine over and over.
    pub fn run<O>(self, mut routine: impl FnMut() -> O) {
        match &self.suite.mode {
            Mode::Count { id, rounds } => {
                if id == self.id {
                    let total = rounds * self.iterations;
                    for _ in 0..total {
                        black_box(routine());
                    }
                    report(total);
                }
            }
            Mode::Time(_) => self.with_criterion(|bencher| bencher.iter(&mut routine)),
        }
    }

    /// Runs the routine on fresh input each time; neither making the input nor dropping the result counts.
    pub fn run_with<I, O>(self, mut setup: impl FnMut() -> I, mut routine: impl FnMut(I) -> O) {
        match &self.suite.mode {
            Mode::Count { id, rounds } => {
                if id == self.id {
                    let total = rounds * self.iterations;
                    // The same input is made for one round as for two, so its cost cancels. Nothing is
                    // dropped, as that would not.
                    let made = 2 * self.iterations.max(total / 2);
                    let mut inputs: Vec<I> = (0..made).map(|_| setup()).collect();
                    for input in inputs.drain(..usize::try_from(total).unwrap_or(usize::MAX)) {
                        std::mem::forget(black_box(routine(input)));
                    }
                    std::mem::forget(inputs);
                    report(total);
                }
            }
            Mode::Time(_) => self.with_criterion(|bencher| {
                bencher.iter_batched(&mut setup, &mut routine, BatchSize::SmallInput);
            }),
        }
    }

    fn with_criterion(self, mut body: impl FnMut(&mut criterion::Bencher<'_>)) {
        let Mode::Time(criterion) = &mut self.suite.mode else { return };
        let (group, name) = self.id.rsplit_once('/').unwrap_or(("misc", self.id));
        let mut group = criterion.benchmark_group(group);
        if let Some(elements) = self.elements {
            group.throughput(Throughput::Elements(elements));
        }
        if let Some(samples) = self.samples {
            group.sample_size(samples);
        }
        group.bench_function(name, |bencher| body(bencher));
        group.finish();
    }
}

/// Tells `cargo xtask bench --count` how often the case ran.
#[allow(clippy::print_stdout, reason = "the answer to the program that counts")]
fn report(iterations: u64) {
    println!("iterations: {iterations}");
}

/// `fn main` of a bench program: each argument is a `fn(&mut Suite)`.
#[macro_export]
macro_rules! main {
    ($($function:path),+ $(,)?) => {
        fn main() {
            let mut suite = $crate::Suite::from_env();
            $($function(&mut suite);)+
            suite.finish();
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(rounds: u64) -> Suite {
        Suite { mode: Mode::Count { id: "a/b".to_owned(), rounds } }
    }

    #[test]
    fn counting_runs_the_named_case_alone_and_so_often() {
        for (id, rounds, expected) in [("a/b", 1, 7), ("a/b", 2, 14), ("a/c", 1, 0)] {
            let (mut ran, mut ran_with) = (0, 0);
            counting(rounds).case(id).iterations(7).run(|| ran += 1);
            counting(rounds).case(id).iterations(7).run_with(|| 1, |one| ran_with += one);
            assert_eq!((ran, ran_with), (expected, expected), "{id} {rounds}");
        }
    }

    #[test]
    fn one_and_two_rounds_make_the_same_input() {
        let made = [1, 2].map(|rounds| {
            let mut made = 0;
            counting(rounds).case("a/b").iterations(5).run_with(|| made += 1, |()| ());
            made
        });
        assert_eq!(made, [10, 10]);
    }
}
