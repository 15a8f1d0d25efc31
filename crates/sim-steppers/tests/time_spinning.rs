//! Bodies that turn by radians in a step: at their size, a fall of centimetres is enough.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they found"
)]

#[path = "common/timed.rs"]
mod timed;

use collision_narrowphase::shapes::Ellipsoid;
use sim_math::{glam::DVec3, testkit::SplitMix64};
use sim_traits::Cuboid;
use sim_world::{Body, Stepper, World};
use timed::{G, cone};

#[test]
fn small_things_that_fall_on_a_plate_stay_above_it() {
    let mut random = SplitMix64(7);
    let mut through = 0;
    for k in 0..40 {
        let mut world = World::new([0.0, 0.0, -G]).unwrap();
        let plate = Cuboid::new(DVec3::new(1.0, 1.0, 1e-3)).unwrap();
        world.add(Body::fixed().shape(plate).at([0.0, 0.0, -1e-3]).friction(0.0)).unwrap();
        let grain = Ellipsoid::new(DVec3::new(1.2e-3, 0.6e-3, 0.6e-3)).unwrap();
        let e = if k % 2 == 0 { 0.0 } else { 0.5 };
        let grain = Body::free().shape(grain).friction(0.3).restitution(e).turned(random.unit_quat());
        let id = world.add(grain.at([0.0, 0.0, random.range(0.01, 0.05)])).unwrap();
        let mut stepper = cone(|_| {});
        stepper.advance(&mut world, 0.5).unwrap();
        through += u32::from(world[id].center().z < 0.0);
    }
    assert_eq!(through, 0, "of 40");
}
