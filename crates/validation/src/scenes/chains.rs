//! Rows of balls that hand an impact on: Newton's cradle, and two balls dropped on each other.

use crate::{
    Bound, Failed, Row, Scene,
    methods::{Kind, Method, Setup, under_each},
    scenes::worlds::{G, earth},
};
use sim_core::prelude::{Body, DVec3, Sphere, World};

pub(super) const CRADLE: Scene = Scene {
    name: "Newton's cradle",
    about: "Five equal elastic balls in a row, four of them touching, one or two sent in at 2 m/s: as many leave on the \
            other side at that speed, and the others stay.",
    run: || under_each(cradle),
};

pub(super) const DROP: Scene = Scene {
    name: "two-ball drop",
    about: "A ball on one of ten times its mass, dropped together by 1 m with restitution 1: the small one leaves at \
            (3M − m)/(M + m) of the impact speed and rises to (29/11)² = 6.950 times the height.",
    run: || under_each(drop),
};

fn cradle(method: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    for sent in [1_usize, 2] {
        let mut world = World::new(DVec3::ZERO)?;
        let mut balls = Vec::new();
        for k in 0..5_u32 {
            let moves = (k as usize) < sent;
            let x = 0.2 * f64::from(k) - if moves { 0.5 } else { 0.0 };
            let ball = Body::free().shape(Sphere::new(0.1)?).at([x, 0.0, 0.0]);
            let ball = ball.moving([if moves { 2.0 } else { 0.0 }, 0.0, 0.0]);
            balls.push(world.add(ball.restitution(1.0).friction(0.0))?);
        }
        let mut run = method.run(world, &Setup::PLAIN)?;
        run.advance(0.5)?;
        let mut worst = 0.0_f64;
        for (k, &ball) in balls.iter().enumerate() {
            let exact = if k + sent >= 5 { 2.0 } else { 0.0 };
            worst = worst.max((run.world[ball].velocity().linear - DVec3::X * exact).length());
        }
        let quantity = format!("{sent} sent: velocities, largest error");
        // Springs share out an impact over all balls at once.
        rows.push(match method.kind {
            Kind::Soft => Row::reported(method.name, &quantity, "m/s", worst),
            _ => Row::at_most(method.name, &quantity, "m/s", worst, 1e-6),
        });
    }
    Ok(())
}

fn drop(method: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    // The gap lets the lower one bounce first; the reference is its limit at zero.
    let (h, large, small, gap) = (1.0, 0.2, 0.1, 1e-9);
    let mut world = earth(0.0)?;
    let ball = |radius: f64, mass: f64, z: f64| -> Result<_, Failed> {
        Ok(Body::free()
            .shape(Sphere::new(radius)?)
            .mass(mass)
            .at([0.0, 0.0, z])
            .restitution(1.0)
            .friction(0.0))
    };
    world.add(ball(large, 10.0, h + large)?)?;
    let floor = 2.0 * large + small;
    let top = world.add(ball(small, 1.0, h + floor + gap)?)?;
    let speed = (2.0 * G * h).sqrt();
    let rise = 29.0 / 11.0 * speed;
    let mut run = method.run(world, &Setup::IMPACTS)?;
    run.advance_to(speed / G + rise / G)?;
    let height = (run.world[top].position().z - floor) / h;
    let (what, exact) = ("height of the small ball / drop", 29.0 * 29.0 / (11.0 * 11.0));
    rows.push(match method.kind {
        Kind::Soft => Row::reported(method.name, what, "", height),
        _ => Row::new(method.name, what, "", height, exact, Bound::Relative(1e-6)),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cradle_hands_velocities_through() {
        crate::assert_holds(&CRADLE);
    }

    #[test]
    fn the_small_ball_rises_to_seven_times_its_height() {
        crate::assert_holds(&DROP);
    }
}
