//! A turntable, a shaker and a thrown box, looked at every tenth of a second: motion in closed form, without contacts.
//!
//! ```sh
//! cargo run -p sim-world --example scripted_motion
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use rigid_impulse::motion::Shaker;
use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_traits::{Cuboid, Cylinder};
use sim_world::{Body, Screw, World};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new([0.0, 0.0, -9.81])?;
    let spin = Motion::new(DVec3::new(0.0, 0.0, 2.0), DVec3::ZERO);
    let table = world.add(
        Body::scripted(Screw { start: Pose::IDENTITY, velocity: spin }).shape(Cylinder::new(1.0, 0.1)?),
    )?;
    let sieve = Shaker {
        center: DVec3::new(3.0, 0.0, 0.0),
        amplitude: DVec3::new(0.0, 0.1, 0.0),
        rate: 20.0,
        phase: 0.0,
        radius: 0.0,
    };
    let sieve = world.add(Body::scripted(sieve).shape(Cuboid::new(DVec3::new(1.0, 1.0, 0.05))?))?;
    let brick = world.add(
        Body::free()
            .shape(Cuboid::new(DVec3::new(0.1, 0.05, 0.03))?)
            .at([0.0, 0.0, 2.0])
            .moving([1.0, 0.0, 4.0])
            .spinning([0.1, 8.0, 0.1]),
    )?;
    let bodies = [table, sieve, brick];
    println!("time [s] | table turned [rad] | sieve at y [m] | brick at z [m] | its energy [J]");
    for k in 0..=8 {
        let time = 0.1 * f64::from(k);
        let [table, sieve, brick] = bodies.map(|id| world[id].at(time));
        let models = bodies.map(|id| world[id].model());
        let (brick, turned) = (brick?, table?.user_pose(models[0]).rotation.to_scaled_axis().z);
        let height = brick.pose().translation.z;
        println!(
            "{:8.1} | {turned:18.6} | {:14.6} | {:14.6} | {:14.9}",
            time,
            sieve?.user_pose(models[1]).translation.y,
            height,
            brick.kinetic_energy(models[2]) + world[bodies[2]].mass() * 9.81 * height
        );
    }
    Ok(())
}
