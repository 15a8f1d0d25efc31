//! Motion of the coordinates: rates, exact steps on the manifold, and the tree as a system for `sim_math::integrate`.
//!
//! # Reference
//! Featherstone (2008), 4.5; Arnold 1997, 2.1.2 with the factor ½ of the quaternion rate; Mirtich 1996, 7.4.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `rate` q̇ | G(q) v |
//! | ⊕ | step along a velocity held in the moving frame |
//!
//! # Formula
//! ```text
//! hinges, sliders:  q ⊕ v dt = q + v dt      ball:  q exp(ω dt)      free:  exponential of the rigid motion
//! ```
//! # Cost
//! O(n), no allocation.
//!
//! # Numerics
//! Quaternions leave with length 1. [`difference`] finds turns up to π.
//!
//! # Failure
//! Wrong lengths, numbers that are not finite.
//!
//! # Tested by
//! `difference_undoes_integrate_and_rate_is_its_derivative`,
//! `double_pendulum_keeps_energy_for_a_minute`.

use super::{aba::aba, check_len};
use crate::{Model, State, Workspace, passive::add_passive_forces, state::check_finite};
use sim_math::integrate::{Abort, SecondOrderSystem};
use sim_math::spatial::Force;
use sim_traits::DynamicsError;

fn check_q(model: &Model, q: &[f64]) -> Result<(), DynamicsError> {
    check_len("coordinates", q.len(), model.q_len())?;
    check_finite("coordinate", q)?;
    super::kinematics::check_quaternions(model, q)
}

/// Moves q along the velocity `v` held for `dt` seconds in the moving frames of the joints.
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn integrate(model: &Model, q: &mut [f64], v: &[f64], dt: f64) -> Result<(), DynamicsError> {
    check_q(model, q)?;
    check_len("velocities", v.len(), model.v_len())?;
    check_finite("velocity", v)?;
    check_finite("time step", &[dt])?;
    for link in &model.links {
        link.joint.integrate(&mut q[link.q..link.q + link.joint.q_len()], &v[link.v..link.v_end], dt);
    }
    Ok(())
}

/// Writes the velocity that, held for one second, moves `from` to `to`.
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn difference(model: &Model, from: &[f64], to: &[f64], v: &mut [f64]) -> Result<(), DynamicsError> {
    check_q(model, from)?;
    check_q(model, to)?;
    check_len("velocities", v.len(), model.v_len())?;
    for link in &model.links {
        let q = link.q..link.q + link.joint.q_len();
        link.joint.difference(&from[q.clone()], &to[q], &mut v[link.v..link.v_end]);
    }
    Ok(())
}

/// Writes q̇ for velocities `v`.
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn position_rate(model: &Model, q: &[f64], v: &[f64], rate: &mut [f64]) -> Result<(), DynamicsError> {
    check_q(model, q)?;
    check_len("velocities", v.len(), model.v_len())?;
    check_len("rates", rate.len(), model.q_len())?;
    write_rate(model, q, v, rate);
    Ok(())
}

fn write_rate(model: &Model, q: &[f64], v: &[f64], rate: &mut [f64]) {
    for link in &model.links {
        let range = link.q..link.q + link.joint.q_len();
        link.joint.write_rate(&q[range.clone()], &v[link.v..link.v_end], &mut rate[range]);
    }
}

/// One step of the semi-implicit Euler method: v += q̈ dt, then q ⊕ v dt, with the accelerations in `ws`.
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn step_semi_implicit(
    model: &Model,
    state: &mut State,
    ws: &Workspace,
    dt: f64,
) -> Result<(), DynamicsError> {
    ws.check(model)?;
    state.check(model)?;
    check_finite("time step", &[dt])?;
    for (v, a) in state.v.iter_mut().zip(&ws.qdd) {
        *v += a * dt;
    }
    integrate(model, &mut state.q, &state.v, dt)?;
    state.t += dt;
    Ok(())
}

/// Joint forces as a function of the state: write into the last argument, which holds zeros.
pub type Control<'a> = dyn FnMut(&State, &mut [f64]) + 'a;

/// A tree as a mechanical system for the integrators of `sim_math`: passive elements and a control act in every
/// evaluation. The base keeps its pose.
pub struct TreeMotion<'a> {
    model: &'a Model,
    state: State,
    ws: Workspace,
    tau: Vec<f64>,
    external: Vec<Force>,
    control: Option<Box<Control<'a>>>,
    /// Why the last evaluation failed, if it did.
    pub error: Option<DynamicsError>,
}

impl std::fmt::Debug for TreeMotion<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeMotion")
            .field("state", &self.state)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<'a> TreeMotion<'a> {
    /// A tree without actuators on the base of `state`.
    #[must_use]
    pub fn new(model: &'a Model, state: &State) -> Self {
        Self {
            model,
            state: state.clone(),
            ws: Workspace::new(model),
            tau: vec![0.0; model.v_len()],
            external: Vec::new(),
            control: None,
            error: None,
        }
    }

    /// Adds joint forces that depend on time, coordinates and velocities.
    #[must_use]
    pub fn with_control(mut self, control: impl FnMut(&State, &mut [f64]) + 'a) -> Self {
        self.control = Some(Box::new(control));
        self
    }
}

impl SecondOrderSystem for TreeMotion<'_> {
    fn position_dim(&self) -> usize {
        self.model.q_len()
    }

    fn velocity_dim(&self) -> usize {
        self.model.v_len()
    }

    fn acceleration(&mut self, t: f64, q: &[f64], v: &[f64], a: &mut [f64]) -> Result<(), Abort> {
        self.state.t = t;
        self.state.q.copy_from_slice(q);
        self.state.v.copy_from_slice(v);
        self.tau.fill(0.0);
        if let Some(control) = &mut self.control {
            control(&self.state, &mut self.tau);
        }
        let result = add_passive_forces(self.model, &self.state, &mut self.tau)
            .and_then(|()| aba(self.model, &self.state, &self.tau, &self.external, &mut self.ws));
        if let Err(error) = result {
            self.error = Some(error);
            return Err(Abort { code: 0 });
        }
        a.copy_from_slice(&self.ws.qdd);
        Ok(())
    }

    fn position_rate(&mut self, q: &[f64], v: &[f64], q_dot: &mut [f64]) {
        write_rate(self.model, q, v, q_dot);
    }

    fn project(&mut self, q: &mut [f64]) {
        for link in &self.model.links {
            link.joint.normalize(&mut q[link.q..link.q + link.joint.q_len()]);
        }
    }
}
