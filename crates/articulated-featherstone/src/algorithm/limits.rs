//! Joint limits as one-dimensional contacts: which stops are near, and what impulse a stop exerts.
//!
//! # Reference
//! Fontijne 2000, 3.6.8 (joint impulses); Mirtich 1996, 5.3 (joint impulse passes, the thesis leaves limits open).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `gap` | distance to the stop, negative beyond it, rad or m |
//! | `direction` | +1 at the lower stop, −1 at the upper: the sign of the force of the stop |
//! | g | velocity change of the joint by a unit joint impulse, (M⁻¹)_kk |
//!
//! # Formula
//! ```text
//! λ = −(1 + e) q̇ / g  if the joint moves towards the stop, else 0
//! ```
//! # Cost
//! O(nv) to find the rows, O(depth) for g.
//!
//! # Numerics
//! g is a sum of squares over D: positive.
//!
//! # Failure
//! `NotPrepared`, unknown velocity, wrong length.
//!
//! # Tested by
//! `near_stops_are_found_and_a_stop_reverses_the_joint_velocity`.

use super::{
    check_len,
    impulse::{check_factored, take_up_joint},
};
use crate::{Model, Workspace, state::check_finite};
use sim_traits::DynamicsError;

/// A stop within reach of a joint: a row with unit entry `direction` at velocity `dof`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitRow {
    /// Which velocity.
    pub dof: u32,
    /// Sign of the force of the stop: +1 for a lower limit, −1 for an upper.
    pub direction: f64,
    /// Distance to the stop, rad or m; negative beyond it.
    pub gap: f64,
}

/// Replaces `rows` by all stops closer than `margin`, in the order of the velocities, lower before upper.
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn limit_rows(
    model: &Model,
    q: &[f64],
    margin: f64,
    rows: &mut Vec<LimitRow>,
) -> Result<(), DynamicsError> {
    check_len("coordinates", q.len(), model.q_len())?;
    check_finite("coordinate", q)?;
    rows.clear();
    for link in model.links.iter().filter(|l| l.joint.has_plain_coordinates()) {
        for k in link.v..link.v_end {
            let (p, q) = (&model.dofs[k], q[link.q + (k - link.v)]);
            if q - p.lower < margin {
                rows.push(LimitRow { dof: k as u32, direction: 1.0, gap: q - p.lower });
            }
            if p.upper - q < margin {
                rows.push(LimitRow { dof: k as u32, direction: -1.0, gap: p.upper - q });
            }
        }
    }
    Ok(())
}

/// (M⁻¹)_kk: the change of velocity `dof` by a unit impulse at it. `u` is scratch for nv numbers.
/// Needs [`crate::factorize`] or [`crate::aba`] at this configuration.
///
/// # Errors
/// Not prepared, unknown velocity, wrong length.
pub fn dof_mobility(model: &Model, ws: &Workspace, dof: u32, u: &mut [f64]) -> Result<f64, DynamicsError> {
    check_factored(model, ws)?;
    check_len("scratch", u.len(), model.v_len())?;
    let Some(link) = model.dof_link(dof) else {
        return Err(DynamicsError::UnknownDof { dof, count: model.v_len() });
    };
    u.fill(0.0);
    take_up_joint(model, ws, link as usize, dof as usize, u);
    Ok(u.iter().zip(&ws.d_inv).map(|(u, d)| u * u * d).sum())
}

/// The joint impulse that turns the velocity of a joint at its stop into −`restitution` times itself; zero if it already
/// moves away. Apply it with [`crate::apply_impulses`].
///
/// # Errors
/// As [`dof_mobility`].
pub fn limit_impulse(
    model: &Model,
    ws: &Workspace,
    row: LimitRow,
    v: &[f64],
    restitution: f64,
    u: &mut [f64],
) -> Result<f64, DynamicsError> {
    check_len("velocities", v.len(), model.v_len())?;
    check_finite("restitution", &[restitution])?;
    let mobility = dof_mobility(model, ws, row.dof, u)?;
    let approach = row.direction * v[row.dof as usize];
    Ok(if approach < 0.0 { -(1.0 + restitution) * v[row.dof as usize] / mobility } else { 0.0 })
}
