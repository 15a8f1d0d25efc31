//! Evolution of bodies and controllers: genomes, searches, jobs and journals.
//!
//! ```
//! use evolution::{
//!     Journal, Outcome, Unwatched, evolve,
//!     search::{Search, generational::{Generational, GenerationalParams}, vector::{Mixing, RealVector, VectorDesign}},
//! };
//! use sim_traits::Serial;
//!
//! // Climbs a hill whose top is at the origin.
//! let design = VectorDesign { len: 3, low: -5.0, high: 5.0, scale: 0.2, mixing: Mixing::Intermediate };
//! let mut search = Generational::<RealVector>::new(GenerationalParams::of(8), design)?;
//! let hill = |_child: u64, x: &RealVector| Outcome::valid(1.0 / (1.0 + x.0.iter().map(|v| v * v).sum::<f64>()));
//! let new_run = Journal::read(&[], 0)?;
//! let report = evolve(&mut search, &hill, &Serial, &new_run, &mut Unwatched)?;
//! assert!(report.finished && search.best().is_some_and(|(_, fitness)| fitness > 0.9));
//! # Ok::<(), evolution::EvolutionError>(())
//! ```
//!
//! | module | what it has |
//! |---|---|
//! | [`search`] | generations (one population, islands, a lattice), steady state, evolution strategies, CMA-ES, MAP-Elites, co-evolution |
//! | [`task`] | what creatures are to do, and the judge who looks at what paid for it |
//! | [`arnold`] | the animals of Arnold (1997): genome, spectra, body plans |
//! | root | [`Genome`] and its rates of mutation, [`Job`] and [`Outcome`], [`Journal`], [`evolve`] |
//!
//! # Invariants
//!
//! - A run is a function of its settings, its seed and the outcomes. The number of threads and the order in which outcomes come change no bit.
//! - A run goes on from its journal, cut at any byte, as if it had never been stopped.
//! - No files, no clock, no threads of its own: an [`sim_traits::Executor`] gives threads, a [`Watch`] takes bytes.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `libm` | no | the same bits on every target |
//!
//! # What it does not do
//!
//! It has no simulation of its own: tasks run on `sim-core`, and anything else may evaluate a genome in their place.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

pub mod arnold;
mod error;
mod genome;
mod job;
mod journal;
mod random;
mod run;
pub mod search;
pub mod task;

pub use error::EvolutionError;
pub use genome::{Genome, Rate, Rates, diversity};
pub use job::{Budget, Job, JobId, Outcome, Verdict};
pub use journal::{Journal, journal_entry, journal_header};
pub use random::Random;
pub use run::{Evaluate, RunReport, Unwatched, Watch, evolve};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
