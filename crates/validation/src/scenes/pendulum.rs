//! Pendulums released from the horizontal: their periods are complete elliptic integrals.

use super::trees::{G, GRAVITY, energy, run as integrate};
use crate::{Bound, Failed, Row, Scene};
use articulated_featherstone::{Joint, Link, Model, ModelBuilder, State, Workspace};
use sim_math::{Sym3, elliptic::complete_k, glam::DVec3};
use std::f64::consts::FRAC_PI_2;

pub(super) const SCENE: Scene = Scene {
    name: "pendulum",
    about: "A point on 1 m and a uniform rod of 1 m, released from the horizontal: \
            T = 4 √(I/(m g l)) K(½), and the energy of the start.",
    run,
};

const METHOD: &str = "articulated body, RK4 0.1 ms";
const DT: f64 = 1e-4;

fn run() -> Result<Vec<Row>, Failed> {
    let mut rows = Vec::new();
    for (what, com, moment) in [("point", 1.0, 0.0), ("rod", 0.5, 1.0 / 12.0)] {
        let model = pendulum(com, moment)?;
        let period = 4.0 * complete_k(0.5)? * ((moment + com * com) / (G * com)).sqrt();
        let measured = 4.0 * time_to_lowest_point(&model)?;
        rows.push(Row::new(METHOD, &format!("{what}: period"), "s", measured, period, Bound::Relative(1e-9)));
        let drift = energy_drift(&model, G * com)?;
        rows.push(Row::at_most(METHOD, &format!("{what}: energy over 10 s, relative"), "", drift, 1e-12));
    }
    Ok(rows)
}

/// One link hinged about y, horizontal along x at rest, its centre of mass at `com`.
fn pendulum(com: f64, moment: f64) -> Result<Model, Failed> {
    let inertia = Sym3::from_diagonal(DVec3::new(0.0, moment, moment));
    let link = Link::new("bob", Joint::Revolute { axis: DVec3::Y }).mass(1.0, DVec3::X * com, inertia);
    Ok(ModelBuilder::new().gravity(GRAVITY).link(link).build()?)
}

/// The first passage of the lowest point, by Newton's method from the step before it.
fn time_to_lowest_point(model: &Model) -> Result<f64, Failed> {
    let mut crossing = f64::NAN;
    integrate(model, &State::new(model), DT, 8000, |step, now| {
        if crossing.is_nan() && now.q[0] >= FRAC_PI_2 {
            // The angular acceleration vanishes at the lowest point: the error of this line is of third order.
            crossing = step as f64 * DT - (now.q[0] - FRAC_PI_2) / now.v[0];
        }
        Ok(())
    })?;
    Ok(crossing)
}

/// Largest change of energy in 10 s, relative to the energy of the swing.
fn energy_drift(model: &Model, scale: f64) -> Result<f64, Failed> {
    let start = State::new(model);
    let mut ws = Workspace::new(model);
    let e0 = energy(model, &start, &mut ws)?;
    let mut worst = 0.0_f64;
    integrate(model, &start, DT, 100_000, |step, now| {
        if step % 10 == 0 {
            worst = worst.max((energy(model, now, &mut ws)? - e0).abs() / scale);
        }
        Ok(())
    })?;
    Ok(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pendulums_keep_their_elliptic_periods_and_their_energy() {
        crate::assert_holds(&SCENE);
    }
}
