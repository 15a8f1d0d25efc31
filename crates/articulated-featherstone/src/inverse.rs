//! Inverse dynamics of recorded motions and the controllers built on it.
//!
//! # Reference
//! Cline 2002, 5.1.1 (feed-forward torques, stiffness in proportion to the torque); Mirtich 1996, 5.4 (computed torque).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `tau` τ | feed-forward torque |
//! | `stiffness` `k_s`, `damping` `k_d` | feedback per unit of torque, 1/rad and s/rad |
//!
//! # Formula
//! ```text
//! feed forward     τ = RNEA(q, v, a)
//! feedback         γ = max(|τ|, τ_min) (k_s (q_d ⊖ q) + k_d (v_d − v))
//! computed torque  τ = RNEA(q, v, a_d + k_p (q_d ⊖ q) + k_v (v_d − v))
//! ```
//! # Cost
//! One RNEA for each sample.
//!
//! # Numerics
//! Samples between two recorded ones are linear in τ.
//!
//! # Failure
//! Wrong lengths, numbers that are not finite, times that do not increase.
//!
//! # Tested by
//! `recorded_torques_replay_the_motion`,
//! `computed_torque_gives_linear_error_dynamics`,
//! `feedback_is_zero_on_the_path_and_restores_off_it`.

use crate::{
    Model, State, Workspace,
    algorithm::{check_len, integrate::difference, rnea::rnea},
    state::check_finite,
};
use sim_traits::DynamicsError;

/// Feed-forward torques at recorded times.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TorqueTrack {
    times: Vec<f64>,
    tau: Vec<f64>,
    v_len: usize,
}

impl TorqueTrack {
    /// Torques for recorded states and their joint accelerations (nv numbers after nv numbers).
    ///
    /// # Errors
    /// As [`crate::rnea`]; times that do not increase.
    pub fn record(
        model: &Model,
        states: &[State],
        accelerations: &[f64],
        ws: &mut Workspace,
    ) -> Result<Self, DynamicsError> {
        let nv = model.v_len();
        check_len("recorded accelerations", accelerations.len(), states.len() * nv)?;
        let mut track = Self { times: Vec::new(), tau: Vec::new(), v_len: nv };
        for (i, state) in states.iter().enumerate() {
            let later = track.times.last().is_none_or(|t| state.t > *t) && state.t.is_finite();
            if !later {
                return Err(DynamicsError::NonFinite {
                    what: "time after the one before at sample",
                    index: i,
                    value: state.t,
                });
            }
            rnea(model, state, &accelerations[i * nv..(i + 1) * nv], &[], ws)?;
            track.times.push(state.t);
            track.tau.extend_from_slice(ws.tau());
        }
        Ok(track)
    }

    /// Writes the torques at time `t`: linear between samples, constant outside. Zero if nothing was recorded.
    ///
    /// # Errors
    /// Wrong length.
    pub fn sample(&self, t: f64, tau: &mut [f64]) -> Result<(), DynamicsError> {
        check_len("joint forces", tau.len(), self.v_len)?;
        check_finite("time", &[t])?;
        if self.times.is_empty() {
            tau.fill(0.0);
            return Ok(());
        }
        let next = self.times.partition_point(|x| *x <= t);
        let (a, b) = (next.saturating_sub(1), next.min(self.times.len() - 1));
        let span = self.times[b] - self.times[a];
        let s = if span > 0.0 { (t - self.times[a]) / span } else { 0.0 };
        for (k, out) in tau.iter_mut().enumerate() {
            let (x, y) = (self.tau[a * self.v_len + k], self.tau[b * self.v_len + k]);
            *out = x + (y - x) * s;
        }
        Ok(())
    }
}

/// Gains of the feedback in proportion to the torque.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeedbackParams {
    /// `k_s`, 1/rad or 1/m: larger holds the path more stiffly. Default 10.
    pub stiffness: f64,
    /// `k_d`, s/rad or s/m. Default 1.
    pub damping: f64,
    /// `τ_min`: torque below which a joint keeps its stiffness, N·m or N. Default 0.1.
    pub floor: f64,
}

impl Default for FeedbackParams {
    fn default() -> Self {
        Self { stiffness: 10.0, damping: 1.0, floor: 0.1 }
    }
}

/// Adds to the feed-forward torques `tau` the feedback towards `desired`, stiff in proportion to the torque.
/// `offset` is scratch for nv numbers.
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn add_torque_feedback(
    model: &Model,
    state: &State,
    desired: &State,
    params: FeedbackParams,
    offset: &mut [f64],
    tau: &mut [f64],
) -> Result<(), DynamicsError> {
    check_len("joint forces", tau.len(), model.v_len())?;
    check_len("desired velocities", desired.v.len(), model.v_len())?;
    check_len("velocities", state.v.len(), model.v_len())?;
    difference(model, &state.q, &desired.q, offset)?;
    for (k, tau) in tau.iter_mut().enumerate() {
        let muscle = tau.abs().max(params.floor);
        *tau += muscle * (params.stiffness * offset[k] + params.damping * (desired.v[k] - state.v[k]));
    }
    Ok(())
}

/// Writes the torques that make the error of the joints obey `ë + k_v ė + k_p e = 0` about the `desired` state and its
/// accelerations. `command` is scratch for nv numbers.
///
/// # Errors
/// As [`crate::rnea`].
pub fn computed_torque(
    model: &Model,
    state: &State,
    desired: &State,
    desired_acceleration: &[f64],
    k_p: f64,
    k_v: f64,
    command: &mut [f64],
    ws: &mut Workspace,
    tau: &mut [f64],
) -> Result<(), DynamicsError> {
    check_len("desired accelerations", desired_acceleration.len(), model.v_len())?;
    check_len("desired velocities", desired.v.len(), model.v_len())?;
    check_len("velocities", state.v.len(), model.v_len())?;
    check_len("joint forces", tau.len(), model.v_len())?;
    difference(model, &state.q, &desired.q, command)?;
    for (k, x) in command.iter_mut().enumerate() {
        *x = desired_acceleration[k] + k_p * *x + k_v * (desired.v[k] - state.v[k]);
    }
    rnea(model, state, command, &[], ws)?;
    tau.copy_from_slice(ws.tau());
    Ok(())
}
