//! One thread and two: a thousand spinning boxes in flight, whole advances of a frame and their states alone; a thousand balls in a block, the solver of soft
//! contacts alone. And how long it takes one thread to answer the other: on processors without a common cache that is what limits them.
//!
//! ```sh
//! cargo run --release -p sim-core --example threads
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use sim_core::{
    Threads,
    constraints::soft::{NormalOf, SoftBodies, SoftBody, SoftManifold, SoftSolver},
    math::{Pose, Sym3, spatial::Motion},
    prelude::*,
    traits::{Executor, Serial},
};
use std::{
    error::Error,
    hint::spin_loop,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Instant,
};

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

/// A stepper without contacts: states alone, on the threads of an executor.
#[derive(Debug)]
struct Flight(Box<dyn Executor>);

impl Stepper for Flight {
    fn kind(&self) -> &'static str {
        "flight"
    }

    fn prepare_with(&mut self, world: &mut StepperAccess<'_>) -> Result<(), StepError> {
        world.forget_changes();
        Ok(())
    }

    fn advance_with(
        &mut self,
        world: &mut StepperAccess<'_>,
        duration: f64,
    ) -> Result<StepReport, StepError> {
        self.prepare_with(world)?;
        world.set_time_by(self.0.as_ref(), world.time() + duration)?;
        Ok(StepReport::default())
    }
}

/// One round of states only.
fn states(
    world: &mut World,
    executor: impl Executor + 'static,
    least: &mut Least,
) -> Result<u64, Box<dyn Error>> {
    let mut flight = Flight(executor.into());
    for frame in 0..FRAMES {
        let start = Instant::now();
        flight.advance(world, 1.0 / 60.0)?;
        least.note(frame, start);
    }
    Ok(world.digest())
}

/// Balls along each edge of a block.
const EDGE: u32 = 10;

/// A block of balls that touch, on the ground, and their contacts.
fn block() -> (Vec<SoftBody>, Vec<SoftManifold>) {
    let number = |x: u32, y: u32, z: u32| (z * EDGE + y) * EDGE + x;
    let (mut bodies, mut contacts) = (Vec::new(), Vec::new());
    let mut touch = |a: u32, b: u32, normal: DVec3| {
        let mut contact = SoftManifold::new([a, b], normal, NormalOf::World, 0.5, 0.0);
        contact.push(normal * -0.5, normal * 0.5, 0.1);
        contacts.push(contact);
    };
    for k in 0..EDGE.pow(3) {
        let (x, y, z) = (k % EDGE, k / EDGE % EDGE, k / EDGE.pow(2));
        bodies.push(SoftBody {
            inv_mass: 1.0,
            inv_inertia: Sym3::from_diagonal(DVec3::splat(10.0)),
            pose: Pose::from_translation(DVec3::new(f64::from(x), f64::from(y), f64::from(z))),
            acceleration: Motion::new(DVec3::ZERO, DVec3::NEG_Z * 9.81),
            ..SoftBody::IDLE
        });
        for (along, normal, before) in [(x, DVec3::X, 1), (y, DVec3::Y, EDGE), (z, DVec3::Z, EDGE.pow(2))] {
            if along > 0 {
                touch(k, k - before, normal);
            } else if normal == DVec3::Z {
                touch(k, number(0, 0, EDGE), normal);
            }
        }
    }
    bodies.push(SoftBody::IDLE);
    (bodies, contacts)
}

/// Steps of the soft solver; the least time of one (ms), and the last velocities.
fn pile(executor: &dyn Executor) -> Result<(f64, Vec<Motion>), Box<dyn Error>> {
    let (given, mut contacts) = block();
    let (mut bodies, mut solver, mut least) = (SoftBodies::default(), SoftSolver::default(), f64::INFINITY);
    for _ in 0..ROUNDS {
        let centers =
            |k: u32| Some(given[k as usize].pose.translation).filter(|_| given[k as usize].inv_mass > 0.0);
        bodies.divide(given.len(), executor.parallelism(), &centers);
        for (k, body) in given.iter().enumerate() {
            bodies.set(k, body);
        }
        let start = Instant::now();
        solver.step_by(executor, &mut bodies, &mut contacts, 1.0 / 60.0)?;
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok((least, (0..given.len()).map(|k| bodies.velocity(k)).collect()))
}

/// Time for a word to another thread and back, ns.
fn round_trip() -> f64 {
    const TIMES: u32 = 100_000;
    let word = AtomicU32::new(0);
    let wait_for = |number: u32| {
        while word.load(Ordering::Acquire) != number {
            spin_loop();
        }
    };
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            for k in 0..TIMES {
                wait_for(2 * k + 1);
                word.store(2 * k + 2, Ordering::Release);
            }
        });
        for k in 0..TIMES {
            word.store(2 * k + 1, Ordering::Release);
            wait_for(2 * k + 2);
        }
    });
    start.elapsed().as_secs_f64() / f64::from(TIMES) * 1e9
}

fn main() -> Result<(), Box<dyn Error>> {
    let none = Least([f64::INFINITY; FRAMES]);
    let (mut whole, mut phase) = ([none; 2], [none; 2]);
    let mut world = thrown()?;
    for _ in 0..ROUNDS {
        let digests = [advance(Serial, &mut whole[0])?, advance(Threads::new(2), &mut whole[1])?];
        assert_eq!(digests[0], digests[1], "the same bits on any number of threads");
        let digests =
            [states(&mut world, Serial, &mut phase[0])?, states(&mut world, Threads::new(2), &mut phase[1])?];
        assert_eq!(digests[0], digests[1], "the same bits on any number of threads");
    }
    let ((one, alone), (two, shared)) = (pile(&Serial)?, pile(&Threads::new(2))?);
    assert_eq!(alone, shared, "the same bits on any number of threads");
    let [whole, phase] = [whole, phase].map(|both| both.map(|least| least.mean()));
    for (what, [one, two]) in [
        ("flight, whole advance", whole),
        ("flight, states alone", phase),
        ("soft contacts alone", [one, two]),
    ] {
        println!("{what}: one thread {one:.3} ms, two threads {two:.3} ms, {:.2} times as fast", one / two);
    }
    println!("a word to the other thread and back: {:.0} ns", round_trip());
    Ok(())
}
