//! Jointed trees integrated by RK4, for the scenes that swing.

use crate::Failed;
use articulated_featherstone::{
    Model, State, TreeMotion, Workspace, compute_velocities, kinetic_energy, potential_energy,
};
use sim_math::{
    glam::DVec3,
    integrate::{Integrator, OdeScratch, Rk4, SecondOrder},
};

/// Standard gravity of the scenes, m/s².
pub(super) const G: f64 = 9.81;
/// The same as a vector, z up.
pub(super) const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -G);

/// Runs RK4 with step `dt`, calling `watch` with the number of steps done and the state after each.
pub(super) fn run(
    model: &Model,
    start: &State,
    dt: f64,
    steps: usize,
    mut watch: impl FnMut(usize, &State) -> Result<(), Failed>,
) -> Result<State, Failed> {
    let mut system = SecondOrder::new(TreeMotion::new(model, start));
    let mut y: Vec<f64> = start.q.iter().chain(&start.v).copied().collect();
    let mut scratch = OdeScratch::new(&Rk4, y.len());
    let mut now = start.clone();
    for i in 0..steps {
        Rk4.advance(&mut system, i as f64 * dt, dt, &mut y, &mut scratch)?;
        now.q.copy_from_slice(&y[..model.q_len()]);
        now.v.copy_from_slice(&y[model.q_len()..]);
        watch(i + 1, &now)?;
    }
    Ok(now)
}

/// Kinetic and potential energy, J.
pub(super) fn energy(model: &Model, state: &State, ws: &mut Workspace) -> Result<f64, Failed> {
    compute_velocities(model, state, ws)?;
    Ok(kinetic_energy(model, state, ws)? + potential_energy(model, ws)?)
}
