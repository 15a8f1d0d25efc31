//! Three searches on Rastrigin's function, a hill with thousands of tops: how many evaluations each needs, and how high it comes.
//!
//! ```sh
//! cargo run --release -p evolution --example strange_hill
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use evolution::{
    EvolutionError, Rate, Rates,
    search::{
        Search,
        cma_es::{CmaEs, CmaEsParams},
        generational::{Generational, GenerationalParams},
        run,
        steady_state::{SteadyState, SteadyStateParams},
        topology::Topology,
        vector::{Mixing, RealVector, VectorDesign},
    },
};
use sim_math::ops;
use std::f64::consts::TAU;

/// Between 0 and 1, highest at the origin.
fn height(x: &[f64]) -> f64 {
    let cost: f64 = x.iter().map(|v| v * v - 10.0 * ops::cos(TAU * v) + 10.0).sum();
    1.0 / (1.0 + cost)
}

/// One gene in six changes: the others keep what they have found.
fn sparse() -> Rates {
    Rates::all(Rate { probability: 0.17, strength: 1.0 })
}

fn show(name: &str, search: &mut impl Search<Genome = RealVector>) -> Result<(), EvolutionError> {
    let mut count = 0;
    run(search, |x| {
        count += 1;
        Some(height(&x.0))
    })?;
    let best = search.best().map_or(0.0, |(_, fitness)| fitness);
    println!("{name:<22} {count:>6} evaluations, best {best:.4}");
    Ok(())
}

fn main() -> Result<(), EvolutionError> {
    let design = || VectorDesign { len: 6, low: -5.12, high: 5.12, scale: 1.0, mixing: Mixing::Discrete };
    let islands = Topology::Islands { count: 4, interval: 10, migrants: 1 };
    let mut settings = GenerationalParams::of(32);
    settings.topology = islands;
    settings.rates = sparse();
    show("generations on islands", &mut Generational::new(settings, design())?)?;
    let mut slow = SteadyStateParams::default();
    slow.rates = sparse();
    slow.children = 12_000;
    show("steady state", &mut SteadyState::new(slow, design())?)?;
    let mut settings = CmaEsParams::new(vec![3.0; 6], 2.0);
    (settings.children, settings.generations) = (40, 300);
    show("CMA-ES", &mut CmaEs::new(settings)?)
}
