//! Recursive Newton-Euler algorithm: joint forces for given accelerations, O(n).
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), table 5.1; Cline 2002, 5.1.1 (inverse dynamics of a
//! recorded motion); Arnold 1997, (2.6).
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | `force` f | wrench of the joint on its link | link |
//! | `external` | wrench from outside on a link, at its origin | link |
//! | `tau` τ | joint forces | |
//!
//! # Formula
//! ```text
//! f_i = I_i a_i + v_i ×* I_i v_i − f_ext + Σ_children X_c f_c,      τ_i = S_iᵀ f_i + armature q̈_i
//! ```
//! # Cost
//! O(n), no allocation.
//!
//! # Numerics
//! Backward stable; no division.
//!
//! # Failure
//! Wrong lengths, numbers that are not finite.
//!
//! # Tested by
//! `soak_aba_equals_crba_and_solve_and_rnea_undoes_it`,
//! `hanging_chain_at_rest_carries_the_weight_below`,
//! `pinocchio_gives_the_same_accelerations_and_bias_forces`.

use super::{
    check_len,
    kinematics::{check_quaternions, joint_velocity, place_link},
};
use crate::{Model, State, Workspace, state::check_finite};
use sim_math::spatial::{Force, Motion};
use sim_traits::DynamicsError;

/// Joint forces for the accelerations `qdd`: [`Workspace::tau`] and [`Workspace::joint_wrenches`].
///
/// `external` has one wrench for each link, at the link origin in link axes, or is empty.
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn rnea(
    model: &Model,
    state: &State,
    qdd: &[f64],
    external: &[Force],
    ws: &mut Workspace,
) -> Result<(), DynamicsError> {
    check_len("accelerations", qdd.len(), model.v_len())?;
    check_finite("acceleration", qdd)?;
    ws.check(model)?;
    let base_acceleration = state.base.acceleration_with_gravity(model.gravity);
    state.check(model)?;
    check_quaternions(model, &state.q)?;
    check_external(model, external)?;
    ws.qdd.copy_from_slice(qdd);
    newton_euler(model, state, base_acceleration, external, ws);
    Ok(())
}

/// Joint forces that balance velocities, gravity and external wrenches at zero joint acceleration: [`Workspace::tau`].
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn bias_forces(
    model: &Model,
    state: &State,
    external: &[Force],
    ws: &mut Workspace,
) -> Result<(), DynamicsError> {
    ws.check(model)?;
    state.check(model)?;
    check_quaternions(model, &state.q)?;
    check_external(model, external)?;
    ws.qdd.fill(0.0);
    newton_euler(model, state, state.base.acceleration_with_gravity(model.gravity), external, ws);
    Ok(())
}

/// `Ok` if there is a finite wrench for each link or none at all.
#[inline]
pub(crate) fn check_external(model: &Model, external: &[Force]) -> Result<(), DynamicsError> {
    if external.is_empty() {
        return Ok(());
    }
    check_len("external wrenches", external.len(), model.link_count())?;
    match external.iter().position(|f| !f.is_finite()) {
        Some(index) => {
            let value = external[index].to_array().into_iter().find(|x| !x.is_finite()).unwrap_or(f64::NAN);
            Err(DynamicsError::NonFinite { what: "external wrench", index, value })
        }
        None => Ok(()),
    }
}

/// Both passes; the joint accelerations are in `ws.qdd`.
fn newton_euler(model: &Model, state: &State, base: Motion, external: &[Force], ws: &mut Workspace) {
    ws.posed = false;
    ws.factored = false;
    ws.velocity[0] = state.base.velocity;
    ws.acceleration[0] = base;
    for (i, link) in model.links.iter().enumerate() {
        place_link(link, &state.q, &mut ws.parent_from_link[i], &mut ws.axes);
        let x = &ws.parent_from_link[i];
        let own = joint_velocity(link, &ws.axes, &state.v);
        let v = x.inverse_motion(ws.velocity[link.parent_slot]) + own;
        let c = v.cross(own) + link.bias(&ws.axes[link.v..link.v_end], &state.v[link.v..link.v_end]);
        let a =
            x.inverse_motion(ws.acceleration[link.parent_slot]) + c + joint_velocity(link, &ws.axes, &ws.qdd);
        let f = link.inertia.mul_motion(a) + link.inertia.bias_force(v);
        ws.velocity[i + 1] = v;
        ws.bias[i] = c;
        ws.acceleration[i + 1] = a;
        ws.force[i + 1] = match external.get(i) {
            Some(e) => f - *e,
            None => f,
        };
    }
    for (i, link) in model.links.iter().enumerate().rev() {
        let f = ws.force[i + 1];
        for k in link.v..link.v_end {
            ws.tau[k] = ws.axes[k].dot(f) + model.armature[k] * ws.qdd[k];
        }
        let to_parent = ws.parent_from_link[i].force(f);
        ws.force[link.parent_slot] += to_parent;
    }
    ws.force[0] = Force::ZERO;
}
