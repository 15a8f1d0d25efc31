//! Jacobians: how joint velocities move a link or a point of it.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), 2.10 and example 4.9; Mirtich 1996, 5.3.1.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `j` J | rows of nv numbers: 6 for a link (angular first), 3 for a point |
//!
//! # Formula
//! ```text
//! column k of J = S_k, moved from the link of k to the frame asked for, if that link is on the way to the base
//! ```
//! # Cost
//! O(depth) filled columns; the matrix is cleared first.
//!
//! # Numerics
//! Products of rotations only.
//!
//! # Failure
//! `NotPrepared` unless [`crate::compute_poses`] was the last to place the links, unknown link, wrong length.
//!
//! # Tested by
//! `jacobians_times_velocity_are_velocities`.

use super::check_len;
use crate::{Model, Workspace};
use sim_math::{
    glam::DVec3,
    spatial::{Motion, SpatialTransform},
};
use sim_traits::{DynamicsError, PartId};

/// `Ok` with the slot of a link that exists.
#[inline]
pub(crate) fn check_link(model: &Model, link: u32) -> Result<usize, DynamicsError> {
    if (link as usize) < model.link_count() {
        Ok(link as usize + 1)
    } else {
        Err(DynamicsError::UnknownPart { part: PartId(link), count: model.link_count() })
    }
}

fn check(model: &Model, ws: &Workspace, link: u32, len: usize, rows: usize) -> Result<usize, DynamicsError> {
    ws.check(model)?;
    if !ws.posed {
        return Err(DynamicsError::NotPrepared);
    }
    check_len("jacobian", len, rows * model.v_len())?;
    check_link(model, link)
}

/// Calls `visit` with each velocity on the way from a link to the base and its axis in world axes at the world origin.
fn visit_axes(model: &Model, ws: &Workspace, link: u32, mut visit: impl FnMut(usize, Motion)) {
    let mut slot = link as usize + 1;
    while slot > 0 {
        let data = &model.links[slot - 1];
        for k in data.v..data.v_end {
            visit(k, ws.world_from_link[slot].motion(ws.axes[k]));
        }
        slot = data.parent_slot;
    }
}

fn write_link(model: &Model, ws: &Workspace, link: u32, frame_from_world: &SpatialTransform, j: &mut [f64]) {
    let nv = model.v_len();
    j.fill(0.0);
    visit_axes(model, ws, link, |k, s| {
        for (r, x) in frame_from_world.motion(s).to_array().into_iter().enumerate() {
            j[r * nv + k] = x;
        }
    });
}

/// Writes the 6 by nv Jacobian of a link at its origin in link axes. Needs [`crate::compute_poses`].
///
/// # Errors
/// Not prepared, wrong length, unknown link.
pub fn body_jacobian(model: &Model, ws: &Workspace, link: u32, j: &mut [f64]) -> Result<(), DynamicsError> {
    let slot = check(model, ws, link, j.len(), 6)?;
    write_link(model, ws, link, &ws.world_from_link[slot].inverse(), j);
    Ok(())
}

/// Writes the 6 by nv Jacobian of a link at the world origin in world axes. Needs [`crate::compute_poses`].
///
/// # Errors
/// Not prepared, wrong length, unknown link.
pub fn world_jacobian(model: &Model, ws: &Workspace, link: u32, j: &mut [f64]) -> Result<(), DynamicsError> {
    check(model, ws, link, j.len(), 6)?;
    write_link(model, ws, link, &SpatialTransform::IDENTITY, j);
    Ok(())
}

/// Writes the 3 by nv Jacobian of the velocity, in world axes, of the point of a link that is now at the world point `point`.
/// Needs [`crate::compute_poses`].
///
/// # Errors
/// Not prepared, wrong length, unknown link.
pub fn point_jacobian(
    model: &Model,
    ws: &Workspace,
    link: u32,
    point: DVec3,
    j: &mut [f64],
) -> Result<(), DynamicsError> {
    check(model, ws, link, j.len(), 3)?;
    let nv = model.v_len();
    j.fill(0.0);
    visit_axes(model, ws, link, |k, s| {
        for (r, x) in s.velocity_at(point).to_array().into_iter().enumerate() {
            j[r * nv + k] = x;
        }
    });
    Ok(())
}
