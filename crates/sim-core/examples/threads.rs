//! A thousand spinning boxes in flight on one thread and on two: whole advances of a frame, and their states alone.
//!
//! ```sh
//! cargo run --release -p sim-core --example threads
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use sim_core::{
    Threads,
    prelude::*,
    traits::{Executor, Serial},
};
use std::{error::Error, time::Instant};

/// Frames of a round: a window of the broad phase begins in every third.
const FRAMES: usize = 12;
const ROUNDS: usize = 200;

/// Spinning boxes far from each other.
fn thrown() -> Result<World, Box<dyn Error>> {
    let mut world = World::new([0.0, 0.0, -9.81])?;
    let shape = Cuboid::new(DVec3::new(0.3, 0.2, 0.1))?;
    for k in 0..1000 {
        let (x, y) = (f64::from(k % 40), f64::from(k / 40));
        let body = Body::free().shape(shape).at([3.0 * x, 3.0 * y, 0.0]);
        world.add(body.spinning([1.0 + 0.1 * x, 2.0, 0.5 + 0.1 * y]).moving([0.3, -0.2, 5.0]))?;
    }
    Ok(world)
}

/// Least times of each frame (ms): on a busy machine these are the ones that were not disturbed.
#[derive(Clone, Copy)]
struct Least([f64; FRAMES]);

impl Least {
    fn note(&mut self, frame: usize, since: Instant) {
        self.0[frame] = self.0[frame].min(since.elapsed().as_secs_f64() * 1e3);
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / FRAMES as f64
    }
}

/// One round of frames by the stepper; returns the digest at the end.
fn advance(executor: impl Executor + 'static, least: &mut Least) -> Result<u64, Box<dyn Error>> {
    let mut sim = Simulation::builder(thrown()?).executor(executor).build()?;
    for frame in 0..FRAMES {
        let start = Instant::now();
        sim.advance(1.0 / 60.0)?;
        least.note(frame, start);
    }
    Ok(sim.world().digest())
}

/// One round of states only.
fn states(world: &mut World, executor: &dyn Executor, least: &mut Least) -> Result<u64, Box<dyn Error>> {
    for frame in 0..FRAMES {
        let start = Instant::now();
        world.set_time_by(executor, (frame + 1) as f64 / 60.0)?;
        least.note(frame, start);
    }
    Ok(world.digest())
}

fn main() -> Result<(), Box<dyn Error>> {
    let none = Least([f64::INFINITY; FRAMES]);
    let (mut whole, mut phase) = ([none; 2], [none; 2]);
    let mut world = thrown()?;
    for _ in 0..ROUNDS {
        let digests = [advance(Serial, &mut whole[0])?, advance(Threads::new(2), &mut whole[1])?];
        assert_eq!(digests[0], digests[1], "the same bits on any number of threads");
        let digests = [
            states(&mut world, &Serial, &mut phase[0])?,
            states(&mut world, &Threads::new(2), &mut phase[1])?,
        ];
        assert_eq!(digests[0], digests[1], "the same bits on any number of threads");
    }
    for (what, [one, two]) in [("whole advance", whole), ("states alone", phase)] {
        let (one, two) = (one.mean(), two.mean());
        println!("{what}: one thread {one:.3} ms, two threads {two:.3} ms, {:.2} times as fast", one / two);
    }
    Ok(())
}
