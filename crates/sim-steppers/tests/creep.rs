//! How far blocks creep under the event-driven stepper as it comes, at sizes from 1 cm to 10 m.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{G, cuboid, parts};
use sim_math::{
    glam::{DQuat, DVec3},
    ops,
};
use sim_steppers::{ContactHandling, EventDriven, EventDrivenParams};
use sim_traits::HalfSpace;
use sim_world::{Body, Stepper, World};

#[test]
fn improved_handling_is_the_default() {
    assert_eq!(EventDrivenParams::default().contact_handling, ContactHandling::Improved);
    assert_eq!(EventDrivenParams::for_size(0.01).contact_handling, ContactHandling::Improved);
    assert_eq!(ContactHandling::default(), ContactHandling::Improved);
}

/// Way of a cube on a slope in 10 s, as a share of its size, with a share of the friction that it needs in reserve.
fn creep(size: f64, reserve: f64, params: EventDrivenParams) -> f64 {
    let mut world = World::new(DVec3::Z * -G).unwrap();
    let friction = 0.5;
    let slope = DQuat::from_rotation_y(ops::atan2(friction * (1.0 - reserve), 1.0));
    let up = slope * DVec3::Z;
    world.add(Body::fixed().shape(HalfSpace::new(up).unwrap()).friction(friction)).unwrap();
    let half = 0.5 * size;
    let body = Body::free().shape(cuboid(half, half, half)).at(up * (half * (1.0 + 1e-4))).turned(slope);
    let id = world.add(body.friction(friction).restitution(0.0)).unwrap();
    let from = world[id].center();
    EventDriven::with(parts(), params).advance(&mut world, 10.0).unwrap();
    (world[id].center() - from).length() / size
}

#[test]
fn blocks_on_a_slope_creep_little() {
    for size in [0.01, 0.1, 1.0, 10.0] {
        let [near, far] = [0.02, 0.2].map(|reserve| creep(size, reserve, EventDrivenParams::for_size(size)));
        let plain = creep(size, 0.2, EventDrivenParams::default());
        println!("{size} m: {near:e} of the size at 2 %, {far:e} at 20 %, {plain:e} with the defaults");
        assert!(near < 1e-2 && far < 1e-2, "{size} m: {near}, {far} of the size");
        // An envelope of 1 mm is a tenth of the smallest.
        assert!(plain < 5e-2, "{size} m: {plain} of the size with the defaults");
    }
}
