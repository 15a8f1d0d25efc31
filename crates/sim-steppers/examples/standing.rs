//! What should stand still: a stack of 10, a wall of 34 bricks, a pyramid of 20 rows, under time stepping and from event to event, with impulses at the
//! closest points and at all contacts.
//!
//! ```sh
//! cargo run --release -p sim-steppers --example standing            # 2 s to settle, 10 s more
//! cargo run --release -p sim-steppers --example standing 58         # a minute in all
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use sim_math::glam::DVec3;
use sim_steppers::{ContactHandling, EventDriven, EventDrivenParams, Parts, TimeStepping};
use sim_traits::{Cuboid, HalfSpace};
use sim_world::{Body, Stepper, World};
use std::{error::Error, time::Instant};

fn rows(half: DVec3, pitch: f64, rows: &[(f64, usize)], lift: f64) -> Result<World, Box<dyn Error>> {
    let mut world = World::new([0.0, 0.0, -9.81])?;
    world.add(Body::fixed().shape(HalfSpace::up()))?;
    for (k, &(x, count)) in rows.iter().enumerate() {
        for n in 0..count {
            let z = half.z * (2 * k + 1) as f64 + lift * (k + 1) as f64;
            world.add(Body::free().shape(Cuboid::new(half)?).at([x + pitch * n as f64, 0.0, z]))?;
        }
    }
    Ok(world)
}

fn places(world: &World) -> Vec<DVec3> {
    world.bodies().map(|(_, b)| b.position()).collect()
}

fn drift(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (*x - *y).length()).fold(0.0, f64::max)
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds: f64 = std::env::args().nth(1).map_or(Ok(10.0), |s| s.parse())?;
    let quarter = |k: usize| if k % 2 == 0 { 0.125 } else { -0.125 };
    let wall: Vec<(f64, usize)> = (0..7).map(|k| (quarter(k), if k == 6 { 4 } else { 5 })).collect();
    let pyramid: Vec<(f64, usize)> = (0..20).map(|k| (0.525 * k as f64, 20 - k)).collect();
    let brick = DVec3::new(0.5, 0.25, 0.25);
    let scenes = [
        ("stack of 10", DVec3::splat(0.5), 1.0, vec![(0.0, 1); 10]),
        ("wall of 34", brick, 1.01, wall),
        ("pyramid of 20 rows", DVec3::splat(0.5), 1.05, pyramid),
    ];
    println!("| scene | stepper | settles by, m | then drifts by, m | in, s | deepest, m | computing, s |");
    println!("|---|---|---|---|---|---|---|");
    let handlings = [None, Some(ContactHandling::Standard), Some(ContactHandling::Improved)];
    for (name, half, pitch, list) in scenes {
        for handling in handlings {
            // From event to event bodies must not overlap: a small gap.
            let lift = if handling.is_none() { 0.0 } else { 1e-4 };
            let mut world = rows(half, pitch, &list, lift)?;
            let mut stepper: Box<dyn Stepper> = if let Some(handling) = handling {
                let mut params = EventDrivenParams::default();
                params.max_events = 20_000_000;
                params.contact_handling = handling;
                let parts = Parts::default();
                Box::new(EventDriven::with(parts, params))
            } else {
                Box::new(TimeStepping::new(Parts::default()))
            };
            let seconds = if handling.is_none() { seconds } else { seconds.min(2.0) };
            let start = places(&world);
            let clock = Instant::now();
            let kind =
                handling.map_or("time".to_owned(), |handling| format!("event, {handling:?}").to_lowercase());
            let result = stepper.advance(&mut world, 2.0).and_then(|first| {
                let settled = places(&world);
                let later = stepper.advance(&mut world, seconds)?;
                Ok((settled, first.then(&later)))
            });
            match result {
                Ok((settled, report)) => println!(
                    "| {name} | {kind} | {:.1e} | {:.1e} | {seconds} | {:.1e} | {:.1} |",
                    drift(&start, &settled),
                    drift(&settled, &places(&world)),
                    report.solver.deepest,
                    clock.elapsed().as_secs_f64()
                ),
                Err(error) => {
                    println!("| {name} | {kind} | {error} | | | | {:.1} |", clock.elapsed().as_secs_f64());
                }
            }
        }
    }
    Ok(())
}
