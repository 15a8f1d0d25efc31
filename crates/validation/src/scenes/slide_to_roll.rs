//! A ball thrown without spin slides, and then rolls.

use crate::{
    Bound, Failed, Row, Scene,
    methods::{H, Method, Setup, under_each},
    scenes::worlds::{G, earth, heading},
};
use sim_core::prelude::{Body, DVec3, Sphere};

pub(super) const SCENE: Scene = Scene {
    name: "sliding to rolling",
    about: "A ball thrown at 5 m/s without spin, friction 0.2: it rolls after 2v₀/(7μg) = 0.72812 s and \
            12v₀²/(49μg) = 3.1205 m, at 5/7 v₀, whatever its heading.",
    run: || under_each(slide),
};

/// Height that it is dropped from, m.
const DROP: f64 = 5e-4;

fn slide(method: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let (v0, mu, radius) = (5.0, 0.2, 0.1);
    let time = 2.0 * v0 / (7.0 * mu * G);
    let exact = 12.0 * v0 * v0 / (49.0 * mu * G);
    let (mut speeds, mut slips, mut lengths, mut aside) = ([0.0; 4], 0.0_f64, [0.0; 4], 0.0_f64);
    for (k, degrees) in [0.0, 30.0, 45.0, 77.0].into_iter().enumerate() {
        let ahead = heading(degrees);
        let mut world = earth(mu)?;
        let start = DVec3::new(0.0, 0.0, radius + DROP);
        let ball =
            world.add(Body::free().shape(Sphere::new(radius)?).at(start).moving(ahead * v0).friction(mu))?;
        let mut run = method.run(world, &Setup::PLAIN)?;
        run.advance_to(time)?;
        lengths[k] = run.world[ball].position().dot(ahead);
        aside = aside.max(run.world[ball].position().dot(ahead.cross(DVec3::Z)).abs());
        run.advance(0.3)?;
        let body = &run.world[ball];
        speeds[k] = body.velocity().linear.dot(ahead);
        let touching = body.position() - DVec3::Z * radius;
        slips = slips.max(body.velocity_at(touching).reject_from(DVec3::Z).length());
    }
    let worst = |all: [f64; 4], exact: f64| {
        all.into_iter().fold(exact, |w, x| if (x - exact).abs() > (w - exact).abs() { x } else { w })
    };
    let name = method.name;
    // The event-driven ball hops on its envelope of a thousandth; steps of time slow it down by μ g h a step, exactly, and are late by half a step on the way.
    // In the step in which it lands, friction acts at an arm that is off by the height of the drop: of μ g h, that share of the radius.
    let speed = method.bar(0.01, DROP / radius * mu * G * H / (5.0 / 7.0 * v0), 0.003);
    let way = 0.5 * mu * G * H * time / exact;
    let way = method.bar(0.01, 1.1 * way, 1.1 * way + 0.003);
    let rolls = 5.0 / 7.0 * v0;
    let (fast, far) = (worst(speeds, rolls), worst(lengths, exact));
    rows.extend([
        Row::new(name, "speed when rolling, worst of 4 headings", "m/s", fast, rolls, Bound::Relative(speed)),
        Row::new(name, "distance slid, worst of 4 headings", "m", far, exact, Bound::Relative(way)),
        Row::at_most(name, "slip of the touching point when rolling", "m/s", slips, v0 * speed),
        Row::at_most(name, "distance aside of the heading", "m", aside, 1e-9),
    ]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ball_rolls_when_and_where_it_should() {
        crate::assert_holds(&SCENE);
    }
}
