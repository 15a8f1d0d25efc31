//! Evolves animals of four legs for a few generations, and says how far they come.
//!
//! ```sh
//! cargo run --release -p evolution --example walkers
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use evolution::{
    Budget, EvolutionError, Journal, Outcome, Unwatched,
    arnold::{Creature, CreatureDesign},
    evolve,
    search::{
        Search,
        generational::{Generational, GenerationalParams},
    },
    task::{Locomotion, LocomotionParams},
};
use sim_core::Threads;

fn main() -> Result<(), EvolutionError> {
    let mut params = LocomotionParams::default();
    (params.settle, params.measure) = (2.0, 4.0);
    let task = Locomotion { params, design: CreatureDesign::quadruped() };
    let mut settings = GenerationalParams::of(6);
    settings.generations = 6;
    let mut search = Generational::<Creature>::new(settings, CreatureDesign::quadruped())?;
    let evaluate = |child: u64, creature: &Creature| -> Outcome {
        task.evaluate(creature, child, Budget { steps: 100_000 })
    };
    let new_run = Journal::read(&[], 0)?;
    evolve(&mut search, &evaluate, &Threads::new(2), &new_run, &mut Unwatched)?;
    for report in search.reports() {
        println!(
            "generation {}: best {:.2} m in 4 s, mean {:.2} m, {} do not count",
            report.generation, report.best, report.mean, report.refused
        );
    }
    if let Some((best, _)) = search.best() {
        let outcome = task.evaluate(&best.genome, best.number, Budget { steps: 100_000 });
        println!("the best, number {}:", best.number);
        for (name, value) in &outcome.measures {
            println!("  {name:<20} {value:.4}");
        }
    }
    Ok(())
}
