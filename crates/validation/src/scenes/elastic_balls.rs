//! Balls that bounce for ever, and balls that hit each other: energy and momentum.

use crate::{
    Bound, Failed, Row, Scene,
    methods::{Kind, Method, Setup, under_each},
    scenes::worlds::{G, earth, momentum_scale},
};
use sim_core::prelude::{Body, Cuboid, DVec3, Sphere, World};

pub(super) const FALLING: Scene = Scene {
    name: "49 elastic balls",
    about: "Seven by seven balls of 10 kg and radius 0.2 m, 1 m apart, dropped 5 m onto a floor, without friction and \
            with restitution 1, for 20 s: the energy, counted from the floor, is 49 m g h = 24 034.5 J throughout.",
    run: || under_each(falling),
};

pub(super) const MEETING: Scene = Scene {
    name: "momentum in collisions",
    about: "27 balls and boxes of 1 to 27 kg in free space, thrown at each other: the sums of momentum and angular \
            momentum do not change, with friction and restitution of any size.",
    run: || under_each(meeting),
};

fn falling(method: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let (mass, radius, drop) = (10.0, 0.2, 5.0);
    let mut world = earth(0.0)?;
    for k in 0..49 {
        let at = [f64::from(k % 7), f64::from(k / 7), drop + radius];
        let ball = Body::free().shape(Sphere::new(radius)?).mass(mass).at(at);
        world.add(ball.friction(0.0).restitution(1.0))?;
    }
    let energy = |world: &World| world.kinetic_energy() + world.potential_energy() - 49.0 * mass * G * radius;
    let exact = 49.0 * mass * G * drop;
    let mut run = method.run(world, &Setup::IMPACTS)?;
    let (mut worst, mut collisions) = (0.0_f64, 0);
    for _ in 0..80 {
        collisions += run.advance(0.25)?.collisions;
        worst = worst.max((energy(&run.world) / exact - 1.0).abs());
    }
    // One fall, then bounces every twice as long.
    let fall = (2.0 * drop / G).sqrt();
    let bounces = ((20.0 - fall) / (2.0 * fall)).floor() + 1.0;
    let (name, end) = (method.name, energy(&run.world));
    if method.kind == Kind::Soft {
        // Springs never add energy; what they lose at e = 1 is in their nature.
        rows.push(Row::at_most(name, "energy after 20 s / energy at the start", "", end / exact, 1.0 + 1e-6));
        rows.push(Row::reported(name, "energy, largest relative error", "", worst));
        return Ok(());
    }
    rows.extend([
        Row::new(name, "energy after 20 s", "J", end, exact, Bound::Relative(1e-9)),
        Row::at_most(name, "energy, largest relative error", "", worst, 1e-9),
        Row::new(name, "impacts", "", collisions as f64, 49.0 * bounces, Bound::Absolute(0.0)),
    ]);
    Ok(())
}

fn meeting(method: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let mut world = World::new(DVec3::ZERO)?;
    for k in 0..27_u32 {
        let at = DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)) - 1.0;
        let velocity = -at + DVec3::new(0.1, -0.2, 0.05) * f64::from(k % 5);
        let body = if k % 2 == 0 {
            Body::free().shape(Sphere::new(0.2)?)
        } else {
            Body::free().shape(Cuboid::new(DVec3::new(0.2, 0.15, 0.1))?).spinning(velocity.cross(DVec3::ONE))
        };
        let restitution = [1.0, 0.5, 0.0][(k % 3) as usize];
        let body = body.mass(1.0 + f64::from(k)).at(at).moving(velocity);
        world.add(body.restitution(restitution).friction(0.4))?;
    }
    let (momentum, spin, scale) = (world.momentum(), world.angular_momentum(), momentum_scale(&world));
    let mut run = method.run(world, &Setup::PLAIN)?;
    let (mut linear, mut angular, mut collisions) = (0.0_f64, 0.0_f64, 0);
    for _ in 0..30 {
        let report = run.advance(0.1)?;
        collisions += report.collisions;
        linear = linear.max((run.world.momentum() - momentum).length() / scale);
        // The lever arms are about a metre.
        angular = angular.max((run.world.angular_momentum() - spin).length() / scale);
    }
    // Impulses of a step act at the places that contacts had at its start. With laws that is of first order: 3.9e-5, 1.3e-5, 5.9e-6 and 2.8e-6 in steps of
    // 1/60, 1/240, 1/480 and 1/960 s. Springs act across the gap or overlap of the points that they hold together, fifty times that.
    rows.extend([
        Row::at_most(method.name, "momentum, of Σ m|v|", "", linear, 1e-13),
        Row::at_most(
            method.name,
            "angular momentum, of Σ m|v| × 1 m",
            "",
            angular,
            method.bar(1e-13, 1e-4, 5e-3),
        ),
        Row::new(method.name, "impacts", "", collisions as f64, 30.0, Bound::AtLeast),
    ]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falling_balls_keep_their_energy() {
        crate::assert_holds(&FALLING);
    }

    #[test]
    fn colliding_bodies_keep_their_momentum() {
        crate::assert_holds(&MEETING);
    }
}
