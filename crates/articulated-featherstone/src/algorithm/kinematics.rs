//! Forward kinematics: poses, velocities and accelerations of all links, base to tips.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), 4.4 and 5.3; Mirtich 1996, 4.2; Arnold 1997, (2.4), (2.5)
//! with its ζ repaired.
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | `parent_from_link` X | pose of link i in its parent | parent |
//! | `axes` S | joint axes | link |
//! | `velocity` v, `acceleration` a | spatial, at the link origin | link |
//! | `bias` c | velocity product | link |
//!
//! # Formula
//! ```text
//! X_i = X_joint X_q(q_i)      v_i = X_i⁻¹ v_p + S_i q̇_i      c_i = v_i × S_i q̇_i + Ṡ_i q̇_i
//! a_i = X_i⁻¹ a_p + c_i + S_i q̈_i,      a_base = acceleration of the base − gravity
//! ```
//! # Cost
//! O(n), no allocation.
//!
//! # Numerics
//! Spatial accelerations: the linear part is the rate of v at a fixed point of space, not the acceleration of the
//! link origin. `Motion::classical_from_spatial` converts.
//!
//! # Failure
//! Wrong lengths, numbers that are not finite, a quaternion of length zero.
//!
//! # Tested by
//! `soak_velocities_and_accelerations_are_derivatives`.

use super::check_len;
use crate::{Model, State, Workspace, model::LinkData, state::check_finite};
use sim_math::spatial::{Motion, SpatialTransform};
use sim_traits::DynamicsError;

/// Writes X and S of one link.
#[inline]
pub(crate) fn place_link(
    link: &LinkData,
    q: &[f64],
    parent_from_link: &mut SpatialTransform,
    axes: &mut [Motion],
) {
    let q = &q[link.q..link.q + link.joint.q_len()];
    let joint_from_link = link.joint_from_link(q, &mut axes[link.v..link.v_end], false);
    *parent_from_link = link.parent_from_joint * joint_from_link;
}

/// S q̇ of one link.
#[inline]
pub(crate) fn joint_velocity(link: &LinkData, axes: &[Motion], v: &[f64]) -> Motion {
    let mut sum = Motion::ZERO;
    for k in link.v..link.v_end {
        sum += axes[k] * v[k];
    }
    sum
}

/// A quaternion of length zero has no rotation.
pub(crate) fn check_quaternions(model: &Model, q: &[f64]) -> Result<(), DynamicsError> {
    for link in &model.links {
        if let Some(start) = link.joint.quaternion_start() {
            let index = link.q + start;
            let squared: f64 = q[index..index + 4].iter().map(|x| x * x).sum();
            let usable = squared > 1e-200 && squared < 1e200;
            if !usable {
                return Err(DynamicsError::NonFinite {
                    what: "inverse of the quaternion at",
                    index,
                    value: 1.0 / squared,
                });
            }
        }
    }
    Ok(())
}

/// Checks q and writes X and S of all links.
pub(crate) fn place_all(model: &Model, q: &[f64], ws: &mut Workspace) -> Result<(), DynamicsError> {
    ws.check(model)?;
    check_len("coordinates", q.len(), model.q_len())?;
    check_finite("coordinate", q)?;
    check_quaternions(model, q)?;
    ws.posed = false;
    ws.factored = false;
    for (i, link) in model.links.iter().enumerate() {
        place_link(link, q, &mut ws.parent_from_link[i], &mut ws.axes);
    }
    Ok(())
}

/// Writes the pose of every link in the world: [`Workspace::world_from_links`].
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn compute_poses(model: &Model, state: &State, ws: &mut Workspace) -> Result<(), DynamicsError> {
    state.check(model)?;
    place_all(model, &state.q, ws)?;
    ws.world_from_link[0] = SpatialTransform::from_pose(&state.base.world_from_base);
    for (i, link) in model.links.iter().enumerate() {
        ws.world_from_link[i + 1] = ws.world_from_link[link.parent_slot] * ws.parent_from_link[i];
    }
    ws.posed = true;
    Ok(())
}

/// Writes poses and velocities of every link: [`Workspace::velocities`].
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn compute_velocities(model: &Model, state: &State, ws: &mut Workspace) -> Result<(), DynamicsError> {
    compute_poses(model, state, ws)?;
    ws.velocity[0] = state.base.velocity;
    for (i, link) in model.links.iter().enumerate() {
        let own = joint_velocity(link, &ws.axes, &state.v);
        let v = ws.parent_from_link[i].inverse_motion(ws.velocity[link.parent_slot]) + own;
        ws.velocity[i + 1] = v;
        ws.bias[i] = v.cross(own) + link.bias(&ws.axes[link.v..link.v_end], &state.v[link.v..link.v_end]);
    }
    Ok(())
}

/// Writes poses, velocities and accelerations of every link for joint accelerations `qdd`:
/// [`Workspace::proper_accelerations`], [`Workspace::acceleration_in_space`].
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn compute_accelerations(
    model: &Model,
    state: &State,
    qdd: &[f64],
    ws: &mut Workspace,
) -> Result<(), DynamicsError> {
    check_len("accelerations", qdd.len(), model.v_len())?;
    check_finite("acceleration", qdd)?;
    compute_velocities(model, state, ws)?;
    ws.acceleration[0] = state.base.acceleration_with_gravity(model.gravity);
    for (i, link) in model.links.iter().enumerate() {
        let own = joint_velocity(link, &ws.axes, qdd);
        let carried = ws.parent_from_link[i].inverse_motion(ws.acceleration[link.parent_slot]);
        ws.acceleration[i + 1] = carried + ws.bias[i] + own;
    }
    ws.qdd.copy_from_slice(qdd);
    Ok(())
}
