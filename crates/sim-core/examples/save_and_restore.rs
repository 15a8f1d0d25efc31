//! A run is saved half way, restored, and goes on to the bit. `cargo run -p sim-core --features serde --example save_and_restore`
#![allow(clippy::print_stdout, reason = "an example prints")]

use sim_core::prelude::*;

fn pile() -> Result<World, Box<dyn std::error::Error>> {
    let mut world = World::new([0.0, 0.0, -9.81])?;
    world.add(Body::fixed().shape(HalfSpace::up()))?;
    for k in 0..5 {
        let cube = Body::free().shape(Cuboid::new(DVec3::splat(0.1))?);
        world.add(cube.at([0.03 * f64::from(k), 0.0, 0.15 + 0.25 * f64::from(k)]))?;
    }
    Ok(world)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::new();
    let mut first = Simulation::new(pile()?);
    first.advance(0.5)?;
    let bytes = first.snapshot(&registry)?;
    println!("{} bytes at t = {} s", bytes.len(), first.world().time());

    let mut second = Simulation::new(World::new([0.0; 3])?);
    second.restore(&bytes, &registry)?;
    first.advance(1.0)?;
    second.advance(1.0)?;
    assert_eq!(first.world().digest(), second.world().digest());
    println!("the same digest a second later: {:016x}", first.world().digest());
    Ok(())
}
