//! A warmed-up step of time does not allocate.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/timed.rs"]
mod timed;

use sim_math::{
    glam::DVec3,
    testkit::allocations::{CountingAllocator, allocations},
};
use sim_world::{Listing, Stepper, World};
use timed::{ball, cone, earth, rows, soft};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A pyramid at rest beside balls that roll.
fn scene() -> World {
    let mut world = earth(0.5, 0.0);
    world.listing = Listing::All;
    let list: Vec<(f64, usize)> = (0..5).map(|k| (0.525 * k as f64, 5 - k)).collect();
    rows(&mut world, DVec3::splat(0.5), 1.05, &list, 0.5);
    for k in 0..5 {
        world.add(ball(0.2, 0.5, 0.0).at([f64::from(k), 3.0, 0.2]).moving([0.0, 1.0, 0.0])).unwrap();
    }
    world
}

#[test]
fn a_warmed_up_step_does_not_allocate() {
    for (name, mut stepper) in [("soft", soft(|_| {})), ("cone", cone(|_| {}))] {
        let mut world = scene();
        // Longer than what is counted, so that the list of events has room.
        for duration in [1.0, 1.0, 0.5] {
            stepper.advance(&mut world, duration).unwrap();
        }
        let (count, report) = allocations(|| stepper.advance(&mut world, 0.5).unwrap());
        assert!(report.micro_collisions > 100, "{report}");
        assert_eq!(count, 0, "{name}: {report}");
    }
}
