//! M⁻¹ x without M: one factorisation of the tree, then O(n) for each right-hand side.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), 7.1 and 6.5: the articulated-body passes without velocities are a
//! factorisation M = Lᵀ D L whose factors have the pattern of the tree.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `residual` u | L⁻ᵀ x, found tips to base |
//! | `d_inv` | D⁻¹ |
//!
//! # Formula
//! ```text
//! tips to base:  u = x − sᵀ p,  p ← p + U u/D         base to tips:  y = (u − Uᵀ a)/D,  a ← a + s y
//! ```
//! # Cost
//! [`factorize`] O(n); each [`solve_mass`] O(n); no allocation.
//!
//! # Numerics
//! As [`crate::aba`].
//!
//! # Failure
//! `DynamicsError::Singular` naming the link, `NotPrepared` without a factorisation.
//!
//! # Tested by
//! `soak_crba_columns_are_rnea_and_solve_undoes_the_mass_matrix`.

use super::{
    aba::{eliminate, pass_inertia},
    check_len,
    kinematics::place_all,
};
use crate::{Model, Workspace, state::check_finite};
use sim_math::spatial::{Force, Motion};
use sim_traits::DynamicsError;

/// Factorises the mass matrix at configuration `q` for [`solve_mass`] and the impulse functions.
///
/// # Errors
/// Wrong length, a number that is not finite, [`DynamicsError::Singular`] naming the link.
pub fn factorize(model: &Model, q: &[f64], ws: &mut Workspace) -> Result<(), DynamicsError> {
    place_all(model, q, ws)?;
    for (i, link) in model.links.iter().enumerate() {
        ws.articulated[i + 1] = link.inertia.into();
        ws.noise[i + 1] = [0.0; 2];
    }
    for (i, link) in model.links.iter().enumerate().rev() {
        let inertia = eliminate(&model.armature, i, link, ws)?;
        if link.parent_slot > 0 {
            pass_inertia(i, link, &inertia, ws);
        }
    }
    ws.factored = true;
    Ok(())
}

/// Writes M⁻¹ `x` into `y` at the configuration last factorised.
///
/// # Errors
/// [`DynamicsError::NotPrepared`], wrong length, a number that is not finite.
pub fn solve_mass(model: &Model, ws: &mut Workspace, x: &[f64], y: &mut [f64]) -> Result<(), DynamicsError> {
    ws.check(model)?;
    if !ws.factored {
        return Err(DynamicsError::NotPrepared);
    }
    check_len("right-hand side", x.len(), model.v_len())?;
    check_len("solution", y.len(), model.v_len())?;
    check_finite("right-hand side", x)?;
    ws.force.fill(Force::ZERO);
    for (i, link) in model.links.iter().enumerate().rev() {
        let mut p = ws.force[i + 1];
        for k in (link.v..link.v_end).rev() {
            let u = x[k] - ws.axes[k].dot(p);
            y[k] = u;
            p += ws.u_column[k] * (u * ws.d_inv[k]);
        }
        let to_parent = ws.parent_from_link[i].force(p);
        ws.force[link.parent_slot] += to_parent;
    }
    ws.acceleration[0] = Motion::ZERO;
    for (i, link) in model.links.iter().enumerate() {
        let mut a = ws.parent_from_link[i].inverse_motion(ws.acceleration[link.parent_slot]);
        for k in link.v..link.v_end {
            y[k] = (y[k] - ws.u_column[k].dot(a)) * ws.d_inv[k];
            a += ws.axes[k] * y[k];
        }
        ws.acceleration[i + 1] = a;
    }
    Ok(())
}
