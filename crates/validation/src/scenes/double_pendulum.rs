//! Two rods hinged end to end, released from the horizontal: chaotic, but its energy is not.

use super::trees::{GRAVITY, energy, run as integrate};
use crate::{Failed, Row, Scene};
use articulated_featherstone::{Joint, Link, Model, ModelBuilder, State, Workspace};
use sim_math::{Pose, Sym3, glam::DVec3};

pub(super) const SCENE: Scene = Scene {
    name: "double pendulum",
    about: "Two uniform rods of 1 m and 1 kg, released from the horizontal; energy is counted from the lowest \
            position, 19.62 J.",
    run,
};

const SCALE: f64 = 19.62;

pub(super) fn model() -> Result<Model, Failed> {
    let rod = |link: Link| {
        let across = 1.0 / 12.0;
        link.mass(1.0, DVec3::X * 0.5, Sym3::from_diagonal(DVec3::new(0.0, across, across)))
    };
    let hinge = Joint::Revolute { axis: DVec3::Y };
    Ok(ModelBuilder::new()
        .gravity(GRAVITY)
        .link(rod(Link::new("upper", hinge)))
        .link(rod(Link::new("lower", hinge).on("upper").at(Pose::from_translation(DVec3::X))))
        .build()?)
}

fn run() -> Result<Vec<Row>, Failed> {
    let model = model()?;
    let start = State::new(&model);
    let mut ws = Workspace::new(&model);
    let e0 = energy(&model, &start, &mut ws)?;
    let mut worst = 0.0_f64;
    integrate(&model, &start, 1e-4, 600_000, |step, now| {
        if step % 100 == 0 {
            worst = worst.max((energy(&model, now, &mut ws)? - e0).abs() / SCALE);
        }
        Ok(())
    })?;
    Ok(vec![Row::at_most("articulated body, RK4 0.1 ms", "energy over 60 s, relative", "", worst, 1e-9)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_double_pendulum_keeps_its_energy() {
        crate::assert_holds(&SCENE);
    }
}
