//! What is known in closed form, under steps of time: friction, rolling, bounces, piles.

use crate::{
    Bound, Failed, Row, Scene,
    methods::{Kind, METHODS, Method, Run, Setup},
    scenes::worlds::G,
};
use sim_core::prelude::{Body, BodyId, Cuboid, DQuat, DVec3, HalfSpace, Sphere, World};
use sim_math::ops;

pub(super) const SCENE: Scene = Scene {
    name: "steps of time",
    about: "Blocks, balls and piles under time stepping at 1/60 s, with every contact law and with soft contacts: velocities of sliding and rolling are exact \
            at any step, places are of first order. How far soft contacts creep, sink and bounce is their nature, and is reported.",
    run,
};

impl Method {
    /// A number that has to be met by contact laws to `fine`, and by soft contacts to `coarse`; reported only without one.
    fn row(
        &self,
        quantity: &str,
        unit: &'static str,
        measured: f64,
        reference: f64,
        bars: (f64, Option<f64>),
    ) -> Row {
        match (self.kind, bars) {
            (Kind::Soft, (_, None)) => Row::reported(self.name, quantity, unit, measured),
            (Kind::Soft, (_, Some(bar))) | (_, (bar, _)) => {
                Row::new(self.name, quantity, unit, measured, reference, Bound::Absolute(bar))
            }
        }
    }

    /// Moves a world on by so many seconds.
    fn advanced(&self, world: World, duration: f64) -> Result<Run, Failed> {
        let mut run = self.run(world, &Setup::PLAIN)?;
        run.advance(duration)?;
        Ok(run)
    }
}

fn floor(normal: DVec3, mu: f64, e: f64) -> Result<World, Failed> {
    let mut world = World::new([0.0, 0.0, -G])?;
    world.add(Body::fixed().shape(HalfSpace::new(normal)?).friction(mu).restitution(e))?;
    Ok(world)
}

/// A block on a slope of this tangent; also the direction downhill.
fn slope(tangent: f64, mu: f64) -> Result<(World, BodyId, DVec3), Failed> {
    let turn = DQuat::from_rotation_z(0.3) * DQuat::from_rotation_y(ops::atan(tangent));
    let mut world = floor(turn * DVec3::Z, mu, 0.0)?;
    let shape = Cuboid::new(DVec3::new(0.5, 0.4, 0.3))?;
    let block = Body::free().shape(shape).at(turn * DVec3::Z * 0.3).turned(turn).friction(mu);
    let id = world.add(block)?;
    Ok((world, id, turn * DVec3::X))
}

fn run() -> Result<Vec<Row>, Failed> {
    let mut rows = Vec::new();
    for way in METHODS.iter().filter(|method| method.steps()) {
        friction(way, &mut rows)?;
        bounces(way, &mut rows)?;
        stack(way, &mut rows)?;
    }
    Ok(rows)
}

fn friction(way: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let mu = 0.5;
    let (world, block, _) = slope(mu * 0.999, mu)?;
    let mut run = way.advanced(world, 1.0)?;
    let settled = run.world[block].position();
    run.advance(59.0)?;
    let crept = (run.world[block].position() - settled).length();
    rows.push(way.row("creep at 0.1 % below the threshold, 59 s", "m", crept, 0.0, (1e-12, None)));

    let (world, block, down) = slope(2.0 * mu, mu)?;
    let world = way.advanced(world, 1.0)?.world;
    let theta = ops::atan(2.0 * mu);
    let exact = G * (ops::sin(theta) - mu * ops::cos(theta));
    let speed = world[block].velocity().linear.dot(down);
    rows.push(way.row("speed after sliding for 1 s", "m/s", speed, exact, (1e-7, Some(0.01 * exact))));

    let mut lengths = [f64::INFINITY, 0.0_f64];
    for k in 0..12 {
        let (s, c) = ops::sin_cos(0.52 * f64::from(k));
        let mut world = floor(DVec3::Z, mu, 0.0)?;
        let puck = Body::free().shape(Cuboid::new(DVec3::new(0.5, 0.5, 0.02))?).friction(mu);
        let puck = world.add(puck.at([0.0, 0.0, 0.02]).moving([2.0 * c, 2.0 * s, 0.0]))?;
        let world = way.advanced(world, 1.0)?.world;
        let length = world[puck].position().truncate().length();
        lengths = [lengths[0].min(length), lengths[1].max(length)];
    }
    let spread = lengths[1] / lengths[0] - 1.0;
    rows.push(way.row("spread of stopping distances over all headings", "", spread, 0.0, (1e-6, Some(1e-2))));

    let mut world = floor(DVec3::Z, 0.2, 0.0)?;
    let ball =
        Body::free().shape(Sphere::new(0.5)?).friction(0.2).at([0.0, 0.0, 0.5]).moving([5.0, 0.0, 0.0]);
    let ball = world.add(ball)?;
    let world = way.advanced(world, 2.0)?.world;
    let rolls = world[ball].velocity().linear.x;
    rows.push(way.row(
        "speed of a ball that slid at 5 m/s and rolls",
        "m/s",
        rolls,
        25.0 / 7.0,
        (1e-8, Some(1e-2)),
    ));
    Ok(())
}

fn bounces(way: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let e = 0.8;
    let mut world = floor(DVec3::Z, 0.0, e)?;
    let ball = Body::free().shape(Sphere::new(0.1)?).friction(0.0).restitution(e).at([0.0, 0.0, 1.1]);
    let ball = world.add(ball)?;
    let fall = (2.0 / G).sqrt();
    let world = way.advanced(world, fall * (1.0 + e))?.world;
    let apex = world[ball].position().z - 0.1;
    rows.push(way.row("first apex of a ball dropped from 1 m, e = 0.8", "m", apex, e * e, (1e-9, None)));

    // Five balls in a row, the first comes in at 1 m/s.
    let mut world = World::new([0.0; 3])?;
    let mut last = None;
    for k in 0..5 {
        let (x, v) = if k == 0 { (-1.0, 1.0) } else { (0.2 * f64::from(k), 0.0) };
        let ball = Body::free().shape(Sphere::new(0.1)?).friction(0.0).restitution(1.0);
        last = Some(world.add(ball.at([x, 0.0, 0.0]).moving([v, 0.0, 0.0]))?);
    }
    let world = way.advanced(world, 2.0)?.world;
    let speed = last.map_or(f64::NAN, |id| world[id].velocity().linear.x);
    rows.push(way.row("speed of the last ball of a cradle", "m/s", speed, 1.0, (1e-9, None)));
    Ok(())
}

fn stack(way: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let mut world = floor(DVec3::Z, 0.5, 0.0)?;
    let mut ids = Vec::new();
    for k in 0..10 {
        let block = Body::free().shape(Cuboid::new(DVec3::splat(0.5))?).friction(0.5);
        ids.push(world.add(block.at([0.0, 0.0, 0.5 + f64::from(k)]))?);
    }
    let mut run = way.advanced(world, 2.0)?;
    let settled: Vec<DVec3> = ids.iter().map(|id| run.world[*id].position()).collect();
    let report = run.advance(58.0)?;
    let moved = ids.iter().zip(&settled).map(|(id, x)| (run.world[*id].position() - *x).length());
    let drift = moved.fold(0.0, f64::max);
    rows.push(way.row("drift of a stack of ten in 58 s", "m", drift, 0.0, (1e-6, Some(1e-2))));
    rows.push(way.row("deepest overlap in it", "m", report.solver.deepest, 0.0, (1e-6, None)));
    let made = report.energy.end - report.energy.start;
    rows.push(Row::at_most(way.name, "energy made in it", "J", made, 1e-3));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_time_meet_the_closed_forms() {
        crate::assert_holds(&SCENE);
    }
}
