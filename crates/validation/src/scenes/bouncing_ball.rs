//! One ball that bounces infinitely often in a finite time.

use crate::{
    Bound, Failed, Row, Scene,
    methods::{Kind, Method, Setup, under_each},
    scenes::worlds::{G, earth},
};
use sim_core::prelude::{Body, Sphere};

pub(super) const SCENE: Scene = Scene {
    name: "bouncing ball",
    about: "Dropped 1 m with restitution 0.8: the n-th apex is e²ⁿ h, and all bounces are over after \
            (1 + e)/(1 − e) √(2h/g) = 4.0637 s. Apexes above ten times the collision envelope of 1 mm are asked for.",
    run,
};

const H: f64 = 1.0;
const E: f64 = 0.8;
const RADIUS: f64 = 0.1;
const ENVELOPE: f64 = 1e-3;

fn run() -> Result<Vec<Row>, Failed> {
    under_each(bounces)
}

fn bounces(method: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let mut world = earth(0.5)?;
    let ball =
        world.add(Body::free().shape(Sphere::new(RADIUS)?).at([0.0, 0.0, H + RADIUS]).restitution(E))?;
    let mut run = method.run(world, &Setup::PLAIN)?;
    let (mut speed, mut apexes) = ((2.0 * G * H).sqrt(), 0);
    let (mut impact, mut worst, mut off, mut root) = (speed / G, 0.0_f64, 0.0_f64, 0.0_f64);
    let mut collisions = 0;
    loop {
        let height = (E * speed) * (E * speed) / (2.0 * G);
        if height < 10.0 * ENVELOPE {
            break;
        }
        let report = run.advance_to(impact + E * speed / G)?;
        collisions += report.collisions;
        root = root.max(report.worst_root);
        let error = (run.world[ball].position().z - RADIUS - height).abs();
        (worst, off) = (worst.max(error / height), off.max(error));
        impact += 2.0 * E * speed / G;
        speed *= E;
        apexes += 1;
    }
    // Past the accumulation point, and on to 10 s.
    let end = (1.0 + E) / (1.0 - E) * (2.0 * H / G).sqrt();
    let (from, mut events, mut highest, mut lowest) = (run.world.time(), 0, 0.0_f64, 0.0_f64);
    while run.world.time() < 10.0 {
        events += run.advance(0.1)?.events;
        let height = run.world[ball].position().z - RADIUS;
        lowest = lowest.min(height);
        if run.world.time() > end + 0.1 {
            highest = highest.max(height);
        }
    }
    let name = method.name;
    // Steps of time are cut at a bounce, so its time is exact; soft contacts meet the floor at the end of a substep, and each bounce is off by that
    // much: their nature.
    if method.kind == Kind::Soft {
        rows.push(Row::reported(name, "apexes, largest error / drop", "", off / H));
    } else {
        rows.push(Row::at_most(name, "apexes, largest relative error", "", worst, 1e-9));
    }
    if !method.steps() {
        let impacts = "impacts up to the last apex asked for";
        rows.push(Row::new(name, impacts, "", collisions as f64, f64::from(apexes), Bound::Absolute(0.0)));
        rows.push(Row::at_most(name, "distance at which impacts are answered", "m", root, 1e-12));
    }
    rows.push(Row::at_most(name, "height after 4.16 s", "m", highest, 2.0 * ENVELOPE));
    // Overlaps below a millionth of the size are left to steps of time; springs carry the weight and the last bounces at a hundredth of it.
    let deepest = method.bar(1e-10, 1e-6 * RADIUS, 0.01 * RADIUS);
    rows.push(Row::at_most(name, "depth below the floor at any time", "m", -lowest, deepest));
    if !method.steps() {
        let rate = events as f64 / (10.0 - from);
        rows.push(Row::at_most(name, "events per second after the last apex", "1/s", rate, 500.0));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_apex_is_right_and_the_ball_comes_to_rest() {
        crate::assert_holds(&SCENE);
    }
}
