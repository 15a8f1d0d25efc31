//! A thousand spinning boxes in flight, their states brought to the present on one thread and on two.
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

/// Least time of many rounds, ms: on a busy machine that is the one that was not disturbed.
fn least(world: &mut World, executor: &dyn Executor) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for frame in 1..=6_u32 {
        let start = Instant::now();
        world.set_time_by(executor, f64::from(frame) / 60.0)?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = World::new([0.0, 0.0, -9.81])?;
    let shape = Cuboid::new(DVec3::new(0.3, 0.2, 0.1))?;
    for k in 0..1000 {
        let (x, y) = (f64::from(k % 40), f64::from(k / 40));
        let body = Body::free().shape(shape).at([3.0 * x, 3.0 * y, 0.0]);
        world.add(body.spinning([1.0 + 0.1 * x, 2.0, 0.5 + 0.1 * y]).moving([0.3, -0.2, 5.0]))?;
    }
    let mut times = [f64::INFINITY; 2];
    for _ in 0..100 {
        times[0] = times[0].min(least(&mut world, &Serial)?);
        let one = world.digest();
        times[1] = times[1].min(least(&mut world, &Threads::new(2))?);
        assert_eq!(world.digest(), one, "the same bits on any number of threads");
    }
    println!(
        "one thread {:.3} ms, two threads {:.3} ms: {:.2} times as fast",
        times[0],
        times[1],
        times[0] / times[1]
    );
    Ok(())
}
