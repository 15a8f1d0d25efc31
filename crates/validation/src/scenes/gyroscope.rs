//! A fast top with a horizontal axis, started in exact steady precession.

use super::trees::{G, GRAVITY, run as integrate};
use crate::{Bound, Failed, Row, Scene};
use articulated_featherstone::{Joint, Link, ModelBuilder, State};
use sim_math::{
    Sym3,
    glam::{DQuat, DVec3},
    ops,
};

pub(super) const SCENE: Scene = Scene {
    name: "gyroscope",
    about: "A top of 1 kg on an arm of 0.5 m, spinning at 50 rad/s with its axis horizontal, in exact steady \
            precession Ω = m g l/(I₃ ω₃) for 10 s: the axis must neither sink nor nod.",
    run,
};

fn run() -> Result<Vec<Row>, Failed> {
    let (mass, arm, axial, spin) = (1.0, 0.5, 0.125, 50.0);
    let across = axial / 2.0 + 0.000_208_333_333_333_333;
    let inertia = Sym3::from_diagonal(DVec3::new(axial, across, across));
    let link = Link::new("top", Joint::Spherical).mass(mass, DVec3::X * arm, inertia);
    let model = ModelBuilder::new().gravity(GRAVITY).link(link).build()?;
    let rate = mass * G * arm / (axial * spin);
    let mut state = State::new(&model);
    state.v.copy_from_slice(&[spin, 0.0, rate]);
    let (mut nutation, mut turned, mut previous) = (0.0_f64, 0.0, DVec3::X);
    integrate(&model, &state, 1e-4, 100_000, |_, now| {
        let axis = DQuat::from_slice(&now.q) * DVec3::X;
        nutation = nutation.max(axis.z.abs());
        turned += ops::atan2(previous.cross(axis).z, previous.dot(axis));
        previous = axis;
        Ok(())
    })?;
    const METHOD: &str = "articulated body, RK4 0.1 ms";
    Ok(vec![
        Row::new(METHOD, "precession", "rad/s", turned / 10.0, rate, Bound::Relative(1e-8)),
        Row::at_most(METHOD, "nutation", "rad", nutation, 1e-6),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gyroscope_precesses_without_nodding() {
        crate::assert_holds(&SCENE);
    }
}
