//! Forces of the passive elements at the joints: friction, springs, and stiff stops.
//!
//! # Reference
//! Mirtich 1996, 5.4.1; Arnold 1997, chapter 3 (joint forces).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `DRY_SPEED` | speed at which dry friction has grown to its full value |
//!
//! # Formula
//! ```text
//! τ = −damping v − stiffness (q − rest) − hard/(q − hard_position) − dry clamp(v / DRY_SPEED, −1, 1)
//! ```
//! # Cost
//! O(nv).
//!
//! # Numerics
//! Dry friction is a steep ramp around v = 0 instead of a jump, so that Runge-Kutta stages see a function. It creeps: for
//! friction that holds exactly, make it a row of a contact problem.
//!
//! # Failure
//! Wrong lengths; a hard spring at its own position.
//!
//! # Tested by
//! `damped_oscillator_follows_the_closed_form`,
//! `dry_friction_stops_a_slider_where_the_closed_form_says`.

use crate::{Model, State, algorithm::check_len};
use sim_traits::DynamicsError;

/// Speed at which dry friction is fully developed, rad/s or m/s. Smaller holds better and is stiffer.
pub const DRY_SPEED: f64 = 1e-3;

/// Writes the forces of all passive elements into `tau`.
///
/// # Errors
/// Wrong length; [`DynamicsError::NonFinite`] if a coordinate sits on the pole of a hard spring.
pub fn passive_forces(model: &Model, state: &State, tau: &mut [f64]) -> Result<(), DynamicsError> {
    check_len("joint forces", tau.len(), model.v_len())?;
    tau.fill(0.0);
    add_passive_forces(model, state, tau)
}

/// Adds the forces of all passive elements to `tau`.
pub(crate) fn add_passive_forces(model: &Model, state: &State, tau: &mut [f64]) -> Result<(), DynamicsError> {
    check_len("coordinates", state.q.len(), model.q_len())?;
    check_len("velocities", state.v.len(), model.v_len())?;
    for link in &model.links {
        for k in link.v..link.v_end {
            let (p, v) = (&model.dofs[k], state.v[k]);
            let mut force = -p.damping * v - p.dry_friction * (v / DRY_SPEED).clamp(-1.0, 1.0);
            if link.joint.has_plain_coordinates() {
                let q = state.q[link.q + (k - link.v)];
                force -= p.stiffness * (q - p.rest);
                if p.hard_stiffness != 0.0 {
                    let push = p.hard_stiffness / (q - p.hard_position);
                    if !push.is_finite() {
                        return Err(DynamicsError::NonFinite { what: "hard spring", index: k, value: push });
                    }
                    force -= push;
                }
            }
            tau[k] += force;
        }
    }
    Ok(())
}

/// Energy in the springs, J. Hard springs have none that is bounded and do not count.
///
/// # Errors
/// Wrong length.
pub fn spring_energy(model: &Model, state: &State) -> Result<f64, DynamicsError> {
    check_len("coordinates", state.q.len(), model.q_len())?;
    let mut sum = 0.0;
    for link in model.links.iter().filter(|l| l.joint.has_plain_coordinates()) {
        for k in link.v..link.v_end {
            let stretch = state.q[link.q + (k - link.v)] - model.dofs[k].rest;
            sum += 0.5 * model.dofs[k].stiffness * stretch * stretch;
        }
    }
    Ok(sum)
}
