//! A block on a slope: sliding, and creep where it should stick.

use crate::{
    Bound, Failed, Row, Scene,
    methods::{Kind, Method, Setup, under_each},
    scenes::worlds::{G, heading},
};
use sim_core::prelude::{Body, BodyId, Cuboid, DQuat, DVec3, HalfSpace, Pose, World};
use sim_math::ops;

pub(super) const SLIDING: Scene = Scene {
    name: "block on an incline",
    about: "A block of 0.4 x 0.4 x 0.2 m on slopes of 30 and 40 degrees with friction 0.4, falling off towards \
            several headings and set at several angles: it slides at g (sin θ − μ cos θ).",
    run: || under_each(sliding),
};

pub(super) const CREEPING: Scene = Scene {
    name: "creep below the threshold",
    about: "The same block where tan θ is below μ: it should stay. The event-driven method hops it along; how fast, \
            over 60 s, is its nature, and is reported; so is the creep of springs.",
    run: || under_each(creeping),
};

const HALF: DVec3 = DVec3::new(0.2, 0.2, 0.1);

/// A slope that falls off at `angle` (rad) towards a heading, and a block on it, turned by `yaw` (degrees).
fn slope(mu: f64, angle: f64, downhill: DVec3, yaw: f64) -> Result<(World, BodyId, DVec3), Failed> {
    let (sin, cos) = ops::sin_cos(angle);
    let normal = DVec3::Z * cos + downhill * sin;
    let along = downhill * cos - DVec3::Z * sin;
    let mut world = World::new([0.0, 0.0, -G])?;
    world.add(Body::fixed().shape(HalfSpace::new(normal)?).friction(mu))?;
    let lay = DQuat::from_rotation_arc(DVec3::Z, normal) * DQuat::from_rotation_z(yaw.to_radians());
    let pose = Pose::new(normal * (HALF.z + 5e-4), lay);
    let block = world.add(Body::free().shape(Cuboid::new(HALF)?).pose(pose).friction(mu))?;
    Ok((world, block, along))
}

fn sliding(method: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let (mu, time, settled) = (0.4, 1.0, 0.2);
    // Steps of time always see all contacts. Their velocities are exact under constant forces.
    let bar = method.bar(0.02, 1e-6, 0.01);
    for (slope_degrees, all) in [(30.0_f64, false), (30.0, true), (40.0, true)] {
        if method.steps() && !all {
            continue;
        }
        let angle = slope_degrees.to_radians();
        let (sin, cos) = ops::sin_cos(angle);
        let exact = G * (sin - mu * cos);
        let (mut worst, mut aside) = (exact, 0.0_f64);
        for (towards, yaw) in [(0.0, 0.0), (45.0, 0.0), (17.0, 30.0), (90.0, 45.0), (200.0, 10.0)] {
            let downhill = heading(towards);
            let (world, block, along) = slope(mu, angle, downhill, yaw)?;
            let mut run = method.run(world, &Setup { all_contacts: all, ..Setup::PLAIN })?;
            // The first moments are the drop onto the slope.
            run.advance_to(settled)?;
            let before = run.world[block].velocity().linear.dot(along);
            run.advance_to(time)?;
            let body = &run.world[block];
            let rate = (body.velocity().linear.dot(along) - before) / (time - settled);
            let sideways = downhill.cross(DVec3::Z);
            aside = aside.max((body.position().dot(sideways) / body.position().dot(along)).abs());
            if (rate - exact).abs() > (worst - exact).abs() || !rate.is_finite() {
                worst = rate;
            }
        }
        let handling = if all { "all contacts" } else { "closest points" };
        let quantity = format!("{slope_degrees}°, {handling}: acceleration, worst of 5 headings");
        rows.push(Row::new(method.name, &quantity, "m/s²", worst, exact, Bound::Relative(bar)));
        let quantity = format!("{slope_degrees}°, {handling}: way aside of the way down");
        rows.push(Row::at_most(method.name, &quantity, "", aside, bar));
    }
    Ok(())
}

fn creeping(method: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let mu = 0.4;
    for (share, all) in [(0.5, false), (0.5, true), (0.9, true), (0.999, true)] {
        if method.steps() && !all {
            continue;
        }
        let (world, block, along) = slope(mu, ops::atan(share * mu), heading(17.0), 30.0)?;
        let mut run = method.run(world, &Setup { all_contacts: all, ..Setup::PLAIN })?;
        run.advance_to(1.0)?;
        let before = run.world[block].position().dot(along);
        run.advance_to(61.0)?;
        let speed = (run.world[block].position().dot(along) - before) / 60.0;
        let handling = if all { "all contacts" } else { "closest points" };
        let quantity = format!("tan θ = {share} μ, {handling}: creep");
        // With a contact law it stands still, to rounding.
        rows.push(match method.kind {
            Kind::Cone | Kind::Pyramid => Row::at_most(method.name, &quantity, "m/s", speed.abs(), 1e-12),
            Kind::Events | Kind::Soft => Row::reported(method.name, &quantity, "m/s", speed),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_slides_at_the_same_rate_in_any_heading() {
        crate::assert_holds(&SLIDING);
    }

    #[test]
    fn creep_is_measured() {
        crate::assert_holds(&CREEPING);
    }
}
