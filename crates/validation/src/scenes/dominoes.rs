//! A row of dominoes.

use crate::{
    Bound, Failed, Row, Scene,
    methods::{Method, Setup, under_each},
    scenes::worlds::{G, earth},
};
use sim_core::prelude::{Body, Cuboid, DQuat, DVec3};

pub(super) const SCENE: Scene = Scene {
    name: "dominoes",
    about: "Fifteen dominoes of 48 x 24 x 7 mm, 22 mm apart, friction 0.35; the first one is tilted past its balance. \
            All fall; the speed of the wave is reported, also in units of √(g × height) as van Leeuwen (2010) plots it.",
    run: || under_each(fall),
};

const COUNT: usize = 15;

fn fall(method: &Method, rows: &mut Vec<Row>) -> Result<(), Failed> {
    let (half, step, lean) = (DVec3::new(0.0035, 0.012, 0.024), 0.022, 10.0_f64.to_radians());
    let mut world = earth(0.35)?;
    let mut tiles = Vec::new();
    for k in 0..COUNT {
        let x = step * k as f64;
        let (sin, cos) = sim_math::ops::sin_cos(if k == 0 { lean } else { 0.0 });
        let z = half.z * cos + half.x * sin + 1e-5;
        let turn = DQuat::from_rotation_y(if k == 0 { lean } else { 0.0 });
        let tile = Body::free().shape(Cuboid::new(half)?).density(1500.0).at([x, 0.0, z]).turned(turn);
        tiles.push(world.add(tile.friction(0.35).restitution(0.3))?);
    }
    let mut run = method.run(world, &Setup { size: 0.05, all_contacts: true, ..Setup::PLAIN })?;
    // When each one leans by ten degrees, between two looks by the line between the angles.
    let mut dates = [f64::NAN; COUNT];
    let mut angles = [0.0; COUNT];
    let look = method.look(1e-3);
    while run.world.time() < 1.5 {
        run.advance(look)?;
        for ((date, angle), &tile) in dates.iter_mut().zip(&mut angles).zip(&tiles) {
            let up = (run.world[tile].user_pose().rotation * DVec3::Z).z;
            let now = sim_math::ops::acos(up.clamp(-1.0, 1.0));
            if date.is_nan() && now > lean {
                *date = run.world.time() - look * (now - lean) / (now - *angle);
            }
            *angle = now;
        }
        if dates.iter().all(|d| d.is_finite()) && run.world.time() > dates[COUNT - 1] + 0.15 {
            break;
        }
    }
    let fallen = tiles
        .iter()
        .filter(|&&tile| (run.world[tile].user_pose().rotation * DVec3::Z).z < sim_math::ops::cos(1.0))
        .count();
    let speed = step * 8.0 / (dates[12] - dates[4]);
    let name = method.name;
    rows.extend([
        Row::new(name, "fallen", "", fallen as f64, COUNT as f64, Bound::Absolute(0.0)),
        Row::reported(name, "wave speed, 5th to 13th", "m/s", speed),
        Row::reported(name, "wave speed / √(g × height)", "", speed / (G * 2.0 * half.z).sqrt()),
    ]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::METHODS;

    #[test]
    fn all_dominoes_fall() {
        // The page has all methods; picks and pivots take half a minute where dominoes lean on each other in one long island.
        for method in METHODS.iter().filter(|m| !["time, greedy", "time, lemke"].contains(&m.name)) {
            let mut rows = Vec::new();
            fall(method, &mut rows).unwrap();
            rows.iter().for_each(|row| println!("{row}"));
            rows.iter().for_each(|row| assert!(row.holds(), "{row}"));
        }
    }
}
