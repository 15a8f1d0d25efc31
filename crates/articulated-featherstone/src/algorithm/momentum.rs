//! Centre of mass, momentum and energies of a whole tree.
//!
//! # Reference
//! Orin, Goswami, Lee, *Centroidal dynamics of a humanoid robot* (2013); Featherstone (2008), 2.13.
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | `momentum` h | Σ I v | world axes, at a stated point |
//! | `a` A | centroidal momentum matrix, h = A v | world axes, at the centre of mass |
//!
//! # Formula
//! ```text
//! c = Σ m_i c_i / Σ m_i      h = Σ X_i I_i v_i      A column k = Iᶜ S_k      T = ½ Σ vᵀ I v + ½ Σ armature q̇²      V = −Σ m g·c
//! ```
//! # Cost
//! O(n), no allocation.
//!
//! # Numerics
//! Plain sums in the order of the links.
//!
//! # Failure
//! `NotPrepared` unless [`crate::compute_velocities`] or [`crate::compute_poses`] was the last to place the links.
//!
//! # Tested by
//! `centroidal_matrix_times_velocity_is_momentum_and_energy_is_half_v_m_v`,
//! `energy_changes_at_the_rate_of_the_power`,
//! `soak_power_balances_for_random_trees`.

use super::check_len;
use crate::{Model, State, Workspace};
use sim_math::{
    glam::DVec3,
    spatial::{Force, RigidInertia, SpatialTransform},
};
use sim_traits::DynamicsError;

fn check(model: &Model, ws: &Workspace) -> Result<(), DynamicsError> {
    ws.check(model)?;
    if ws.posed { Ok(()) } else { Err(DynamicsError::NotPrepared) }
}

/// Centre of mass of the tree in the world, m. Needs [`crate::compute_poses`].
///
/// # Errors
/// Not prepared.
pub fn center_of_mass(model: &Model, ws: &Workspace) -> Result<DVec3, DynamicsError> {
    check(model, ws)?;
    let (mut mass, mut moment) = (0.0, DVec3::ZERO);
    for (i, link) in model.links.iter().enumerate() {
        let pose = &ws.world_from_link[i + 1];
        mass += link.inertia.mass;
        moment += pose.rotation * link.inertia.first_moment + pose.translation * link.inertia.mass;
    }
    // A tree of rotors alone has no mass: its centre is then the world origin.
    Ok(if mass > 0.0 { moment / mass } else { DVec3::ZERO })
}

/// Momentum of all links about a world point, world axes: N·m·s, N·s. Needs [`crate::compute_velocities`].
///
/// # Errors
/// Not prepared.
pub fn momentum_about(model: &Model, ws: &Workspace, point: DVec3) -> Result<Force, DynamicsError> {
    check(model, ws)?;
    let mut sum = Force::ZERO;
    for (i, link) in model.links.iter().enumerate() {
        sum += ws.world_from_link[i + 1].force(link.inertia.mul_motion(ws.velocity[i + 1]));
    }
    Ok(sum.shifted(point))
}

/// Writes the centroidal momentum matrix: 6 rows of nv numbers, angular first, about the centre of mass in world axes.
/// With a base at rest, A v is the momentum. Needs [`crate::compute_poses`].
///
/// # Errors
/// Not prepared, wrong length.
pub fn centroidal_matrix(model: &Model, ws: &mut Workspace, a: &mut [f64]) -> Result<(), DynamicsError> {
    let center = center_of_mass(model, ws)?;
    let nv = model.v_len();
    check_len("centroidal matrix", a.len(), 6 * nv)?;
    ws.composite[0] = RigidInertia::ZERO;
    for (i, link) in model.links.iter().enumerate() {
        ws.composite[i + 1] = link.inertia;
    }
    let to_center = SpatialTransform::new(sim_math::glam::DMat3::IDENTITY, -center);
    for (i, link) in model.links.iter().enumerate().rev() {
        let composite = ws.composite[i + 1];
        let moved = ws.parent_from_link[i].rigid_inertia(&composite);
        ws.composite[link.parent_slot] += moved;
        let center_from_link = to_center * ws.world_from_link[i + 1];
        for k in link.v..link.v_end {
            let column = center_from_link.force(composite.mul_motion(ws.axes[k])).to_array();
            for (r, x) in column.into_iter().enumerate() {
                a[r * nv + k] = x;
            }
        }
    }
    Ok(())
}

/// Kinetic energy, rotors included, J. Needs [`crate::compute_velocities`] of the same state.
///
/// # Errors
/// Not prepared, wrong length.
pub fn kinetic_energy(model: &Model, state: &State, ws: &Workspace) -> Result<f64, DynamicsError> {
    check(model, ws)?;
    check_len("velocities", state.v.len(), model.v_len())?;
    let links: f64 =
        model.links.iter().zip(&ws.velocity[1..]).map(|(l, v)| l.inertia.kinetic_energy(*v)).sum();
    let rotors: f64 = model.armature.iter().zip(&state.v).map(|(a, v)| 0.5 * a * v * v).sum();
    Ok(links + rotors)
}

/// Potential energy in the field of gravity, zero with the centre of mass at the world origin, J.
/// Needs [`crate::compute_poses`]. Springs: [`crate::spring_energy`].
///
/// # Errors
/// Not prepared.
pub fn potential_energy(model: &Model, ws: &Workspace) -> Result<f64, DynamicsError> {
    Ok(-model.total_mass() * model.gravity.dot(center_of_mass(model, ws)?))
}
