//! A ball dropped from 1 m with restitution 0.8, beside its closed form.
//!
//! ```sh
//! cargo run -p sim-core --example bouncing_ball
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use sim_core::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (g, height, e, radius): (f64, f64, f64, f64) = (9.81, 1.0, 0.8, 0.1);
    let mut world = World::new(DVec3::new(0.0, 0.0, -g));
    world.add(Body::fixed(HalfSpace::up()));
    let ball =
        Body::free(Sphere::new(radius)?, 1.0, 0.004).at(DVec3::new(0.0, 0.0, height + radius)).restitution(e);
    let ball = world.add(ball);
    let mut sim = Simulation::new(world, Parts::default())?;
    let start = *sim.report();

    println!("A ball of 1 kg falls {height} m and bounces with e = {e}.");
    println!();
    println!("bounce |    time [s]  error [s] |  apex [m]  error [m] | energy [J] | contact root [m]");
    println!("-------|------------------------|----------------------|------------|-----------------");
    let (mut speed, mut now) = ((2.0 * g * height).sqrt(), 0.0);
    let mut impact = speed / g;
    for bounce in 1..=12 {
        // To the top of the arc that follows the bounce.
        let apex_time = impact + e * speed / g;
        sim.advance(apex_time - now)?;
        now = apex_time;
        let event = sim.events()[bounce - 1];
        let apex = sim.position(ball).map_or(f64::NAN, |p| p.z - radius);
        let exact_apex = (e * speed) * (e * speed) / (2.0 * g);
        let energy = sim.report().kinetic + sim.report().potential - g * radius;
        println!(
            "{bounce:6} | {:11.6}  {:9.1e} | {apex:9.6}  {:9.1e} | {energy:10.6} | {:9.1e}",
            event.time,
            (event.time - impact).abs(),
            (apex - exact_apex).abs(),
            event.distance
        );
        impact += 2.0 * e * speed / g;
        speed *= e;
    }
    let end = (1.0 + e) / (1.0 - e) * (2.0 * height / g).sqrt();
    sim.advance(6.0 - now)?;
    println!();
    println!(
        "Closed form: the bounces pile up at t = {end:.4} s. Beyond it the ball hops within its contact envelope:"
    );
    println!("{}", sim.report());
    println!("Energy at the start: {:.6} J", start.kinetic + start.potential);
    Ok(())
}
