//! A bridge of planks on hinges, and a car that is dropped on it: joints, contact and friction in one problem.
//!
//! ```sh
//! cargo run --release -p sim-core --example bridge
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use sim_core::prelude::*;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = World::builder().gravity([0.0, 0.0, -9.81]).build()?;
    let plank = Cuboid::new(DVec3::new(0.19, 0.5, 0.03))?;
    // Twenty planks along x; each turns about the edge that it shares with the one before. The ends are fixed to the world.
    let mut before = JointPartner::World;
    for k in 0..20 {
        let x = 0.4 * f64::from(k);
        let next = world.add(Body::free().shape(plank).density(600.0).at([x + 0.2, 0.0, 0.0]))?;
        world.add_joint(Joint::hinge(before, next).anchor([x, 0.0, 0.0]).axis([0.0, 1.0, 0.0]))?;
        before = next.into();
    }
    // The last hinge may give way, like a spring of 5 Hz: a chain that is straight and fixed at both ends could not sag.
    let last = Joint::hinge(before, JointPartner::World).anchor([8.0, 0.0, 0.0]).axis([0.0, 1.0, 0.0]);
    let rope = world.add_joint(last.frequency(5.0, 1.0))?;
    let load =
        world.add(Body::free().shape(Cuboid::new(DVec3::splat(0.25))?).density(800.0).at([4.0, 0.0, 0.5]))?;
    let mut sim = Simulation::new(world);
    for second in 1..=6 {
        sim.advance(1.0)?;
        let pull = sim.world().joint(rope)?.reaction().linear.length();
        let height = sim.world()[load].position().z;
        println!("{second} s: the load is at {height:.3} m, the last hinge pulls with {pull:.0} N");
    }
    println!("{}", sim.report());
    Ok(())
}
