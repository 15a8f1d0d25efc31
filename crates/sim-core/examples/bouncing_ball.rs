//! A ball dropped from 1 m with restitution 0.8, beside its closed form.
//!
//! ```sh
//! cargo run -p sim-core --example bouncing_ball            # prints a table
//! cargo run -p sim-core --example bouncing_ball ball.svg   # and draws the path into a file
//! ```
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use sim_core::{prelude::*, world::Collision};
use std::error::Error;

const GRAVITY: f64 = 9.81;
const HEIGHT: f64 = 1.0;
const RESTITUTION: f64 = 0.8;
const RADIUS: f64 = 0.1;

fn drop_a_ball() -> Result<(Simulation, BodyId), Box<dyn Error>> {
    let mut world = World::new([0.0, 0.0, -GRAVITY])?;
    world.add(Body::fixed().shape(HalfSpace::up()))?;
    let ball = Body::free().shape(Sphere::new(RADIUS)?).mass(1.0).at([0.0, 0.0, HEIGHT + RADIUS]);
    let ball = world.add(ball.restitution(RESTITUTION))?;
    Ok((Simulation::new(world), ball))
}

/// The first collision of the last advance, with its time.
fn first_collision(world: &World) -> Option<(f64, Collision)> {
    world.events().iter().find_map(|event| match event.kind {
        EventKind::Collision(collision) => Some((event.time, collision)),
        _ => None,
    })
}

fn energy(world: &World) -> f64 {
    world.kinetic_energy() + world.potential_energy() - GRAVITY * RADIUS
}

/// Height over time as a picture, the accumulation point of the closed form marked.
fn draw(end: f64) -> Result<String, Box<dyn Error>> {
    let (mut sim, ball) = drop_a_ball()?;
    let (x, y) = (|t: f64| 50.0 + 130.0 * t, |h: f64| 270.0 - 240.0 * h);
    let mut path = format!("M{:.1},{:.1}", x(0.0), y(HEIGHT));
    for k in 1..=1250 {
        sim.advance(0.004)?;
        let height = sim.world()[ball].position().z - RADIUS;
        path += &format!("L{:.1},{:.1}", x(0.004 * f64::from(k)), y(height));
    }
    let mut svg = String::from(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 730 310' font-family='sans-serif' font-size='12'>\n\
         <rect width='730' height='310' fill='white'/>\n",
    );
    for k in 0..=5 {
        let (t, h) = (f64::from(k), 0.2 * f64::from(k));
        svg += &format!("<text x='{:.1}' y='290' text-anchor='middle'>{k} s</text>\n", x(t));
        svg += &format!("<text x='40' y='{:.1}' text-anchor='end'>{h:.1} m</text>\n", y(h) + 4.0);
        svg += &format!("<path d='M50,{:.1}H700' stroke='#ddd'/>\n", y(h));
    }
    svg += &format!("<path d='M{:.1},20V270' stroke='#c33' stroke-dasharray='4 3'/>\n", x(end));
    let label = format!("closed form: all bounces end at {end:.4} s");
    svg += &format!("<text x='{:.1}' y='34' fill='#c33' text-anchor='end'>{label}</text>\n", x(end) - 6.0);
    svg += &format!("<path d='{path}' fill='none' stroke='#247' stroke-width='1.6'/>\n</svg>\n");
    Ok(svg)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (g, e) = (GRAVITY, RESTITUTION);
    let (mut sim, ball) = drop_a_ball()?;
    let start = energy(sim.world());

    println!("A ball of 1 kg falls {HEIGHT} m and bounces with e = {e}.");
    println!();
    println!("bounce |    time [s]  error [s] |  apex [m]  error [m] | energy [J] | contact root [m]");
    println!("-------|------------------------|----------------------|------------|-----------------");
    let (mut speed, mut now) = ((2.0 * g * HEIGHT).sqrt(), 0.0);
    let mut impact = speed / g;
    for bounce in 1..=12 {
        // To the top of the arc that follows the bounce.
        let apex_time = impact + e * speed / g;
        sim.advance(apex_time - now)?;
        now = apex_time;
        let (time, collision) = first_collision(sim.world()).ok_or("no collision")?;
        let apex = sim.world()[ball].position().z - RADIUS;
        let exact_apex = (e * speed) * (e * speed) / (2.0 * g);
        let energy = energy(sim.world());
        println!(
            "{bounce:6} | {:11.6}  {:9.1e} | {apex:9.6}  {:9.1e} | {energy:10.6} | {:9.1e}",
            time,
            (time - impact).abs(),
            (apex - exact_apex).abs(),
            collision.separation
        );
        impact += 2.0 * e * speed / g;
        speed *= e;
    }
    let end = (1.0 + e) / (1.0 - e) * (2.0 * HEIGHT / g).sqrt();
    sim.advance(6.0 - now)?;
    println!();
    println!(
        "Closed form: the bounces pile up at t = {end:.4} s. Beyond it the ball hops within its contact envelope:"
    );
    println!("{}", sim.report());
    println!("Energy: {start:.6} J at the start, {:.6} J now", energy(sim.world()));
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(&path, draw(end)?)?;
        println!("Drawn into {path}.");
    }
    Ok(())
}
