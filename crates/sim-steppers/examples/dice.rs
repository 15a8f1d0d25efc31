//! Dice thrown on a floor, until they lie: how many events it takes.
//!
//! ```sh
//! cargo run --release -p sim-steppers --example dice            # 27 dice
//! cargo run --release -p sim-steppers --example dice 100 10     # 100 dice for 10 s
//! cargo run --release -p sim-steppers --example dice 100 10 improved
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use sim_math::glam::{DQuat, DVec3};
use sim_steppers::{ContactHandling, EventDriven, EventDrivenParams, Parts};
use sim_traits::{Cuboid, HalfSpace};
use sim_world::{Body, Stepper, World};
use std::{error::Error, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: u32 = arguments.next().map_or(Ok(27), |s| s.parse())?;
    let seconds: u32 = arguments.next().map_or(Ok(2), |s| s.parse())?;
    let improved = arguments.next().is_some_and(|s| s == "improved");

    let mut world = World::new([0.0, 0.0, -9.81])?;
    world.add(Body::fixed().shape(HalfSpace::up()))?;
    let die = Cuboid::new(DVec3::splat(0.05))?;
    let side = f64::from(count).sqrt().ceil() as u32;
    for k in 0..count {
        let (x, y) = (f64::from(k % side), f64::from(k / side));
        let turned = DQuat::from_scaled_axis(DVec3::new(0.3 * x, 0.7 * y, 0.1 * f64::from(k)));
        let body =
            Body::free().shape(die).at([0.2 * x, 0.2 * y, 0.5 + 0.1 * f64::from(k % 3)]).turned(turned);
        let spin = DVec3::new(3.0, -2.0 + f64::from(k % 4), 1.0);
        world.add(body.spinning(spin).moving([0.5, -0.2, 0.0]).restitution(0.3))?;
    }
    let mut params = EventDrivenParams::default();
    if improved {
        params.contact_handling = ContactHandling::Improved;
    }
    let parts = Parts::default();
    let mut stepper = EventDriven::with(parts, params);
    let (start, mut events) = (Instant::now(), 0);
    println!("time [s] |   events | distances | collisions |   micro | energy [J] | pairs");
    for _ in 0..4 * seconds {
        let report = stepper.advance(&mut world, 0.25)?;
        events += report.events;
        let base: f64 =
            world.bodies().filter(|(_, b)| b.is_free()).map(|(_, b)| b.mass() * 9.81 * 0.05).sum();
        println!(
            "{:8.2} | {:8} | {:9} | {:10} | {:7} | {:10.4} | {:5}",
            world.time(),
            report.events,
            report.distances,
            report.collisions,
            report.micro_collisions,
            world.kinetic_energy() + world.potential_energy() - base,
            stepper.active_pairs()
        );
    }
    let wall = start.elapsed().as_secs_f64();
    println!(
        "{count} dice, {seconds} s: {events} events in {wall:.3} s, {:.0} events/s",
        events as f64 / wall
    );
    Ok(())
}
