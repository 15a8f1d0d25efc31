//! The same bits: again, in pieces, with other threads.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{ball, cuboid, earth, parts};
use sim_math::testkit::SplitMix64;
use sim_steppers::{ContactHandling, EventDriven, EventDrivenParams};
use sim_traits::Executor;
use sim_world::{Body, Stepper, World};
use std::sync::atomic::{AtomicUsize, Ordering};

fn scene() -> World {
    let mut world = earth();
    let mut random = SplitMix64(21);
    for k in 0..24 {
        let at = [0.5 * f64::from(k % 4), 0.5 * f64::from(k / 4 % 3), 0.4 + 0.5 * f64::from(k / 12)];
        let body = if k % 2 == 0 { ball(0.15) } else { Body::free().shape(cuboid(0.15, 0.1, 0.12)) };
        let body = body.at(at).turned(random.unit_quat()).moving(random.vec3(1.0)).spinning(random.vec3(3.0));
        world.add(body.restitution(0.4)).unwrap();
    }
    // Enough to be cut into pieces for threads.
    for k in 0..200 {
        let at = [10.0 + f64::from(k % 20), f64::from(k / 20), 30.0];
        let body = Body::free().shape(cuboid(0.15, 0.1, 0.12)).at(at);
        world.add(body.turned(random.unit_quat()).spinning(random.vec3(3.0)).restitution(0.4)).unwrap();
    }
    world
}

fn bits(world: &World) -> Vec<u64> {
    let numbers = |body: &Body| {
        let pose = *body.state().pose();
        let mut all = pose.translation.to_array().to_vec();
        all.extend(pose.rotation.to_array());
        all.extend(body.velocity().to_array());
        all
    };
    world.bodies().flat_map(|(_, b)| numbers(b)).map(f64::to_bits).collect()
}

#[derive(Debug)]
struct Threads(usize);

/// Phases that really were cut into pieces.
static PHASES: AtomicUsize = AtomicUsize::new(0);

impl Executor for Threads {
    fn for_each(&self, n: usize, work: &(dyn Fn(usize) + Sync)) {
        PHASES.fetch_add(usize::from(n > 1), Ordering::Relaxed);
        std::thread::scope(|scope| {
            for thread in 0..self.0 {
                scope.spawn(move || (thread..n).step_by(self.0).for_each(work));
            }
        });
    }

    fn parallelism(&self) -> usize {
        self.0
    }
}

fn run(handling: ContactHandling, executor: Option<usize>, pieces: u32) -> (Vec<u64>, u64) {
    let mut world = scene();
    let mut parts = parts();
    if let Some(n) = executor {
        parts.executor = Box::new(Threads(n));
    }
    let mut params = EventDrivenParams::default();
    params.contact_handling = handling;
    let mut stepper = EventDriven::with(parts, params);
    let mut collisions = 0;
    for _ in 0..pieces {
        // A power of two: the pieces add up exactly.
        let report = stepper.advance(&mut world, 2.0 / f64::from(pieces)).unwrap();
        collisions += report.collisions + report.micro_collisions;
    }
    (bits(&world), collisions)
}

// proves: FON-92, MIR-89, MIR-101
#[test]
fn runs_repeat_to_the_bit_in_pieces_and_on_threads() {
    for handling in [ContactHandling::Standard, ContactHandling::Improved] {
        let (straight, collisions) = run(handling, None, 1);
        assert!(collisions > 500, "{collisions}");
        assert_eq!(run(handling, None, 1).0, straight, "again");
        // Bodies have times of their own; here all of them are brought to one time every millisecond.
        assert_eq!(run(handling, None, 2048).0, straight, "in lock-step");
        for n in [2, 3] {
            assert_eq!(run(handling, Some(n), 1).0, straight, "{n} threads");
        }
    }
    // The boxes of every window, and the states at the end.
    assert!(PHASES.load(Ordering::Relaxed) > 2 * 30);
}
