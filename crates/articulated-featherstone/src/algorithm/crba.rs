//! Composite-rigid-body algorithm: the mass matrix, O(n depth).
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), table 6.2.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `composite` Iᶜ | inertia of a link and all below it as one rigid body, link axes |
//! | `m` M | mass matrix, row by row |
//!
//! # Formula
//! ```text
//! Iᶜ_i = I_i + Σ_children X_c Iᶜ_c,      F = Iᶜ_i S_i,      M_ji = S_jᵀ (F moved to j) for j on the way to the base
//! ```
//! # Cost
//! O(n depth), no allocation; the matrix is cleared first, O(nv²).
//!
//! # Numerics
//! Symmetric by construction. Condition grows like the fourth power of the length of a chain.
//!
//! # Failure
//! Wrong lengths, numbers that are not finite.
//!
//! # Tested by
//! `soak_crba_columns_are_rnea_and_solve_undoes_the_mass_matrix`,
//! `soak_aba_equals_crba_and_solve_and_rnea_undoes_it`.

use super::{check_len, kinematics::place_all};
use crate::{Model, Workspace};
use sim_math::spatial::RigidInertia;
use sim_traits::DynamicsError;

/// Writes the mass matrix at configuration `q` into `m`, nv rows of nv numbers. Rotor inertias are on its diagonal.
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn crba(model: &Model, q: &[f64], ws: &mut Workspace, m: &mut [f64]) -> Result<(), DynamicsError> {
    let nv = model.v_len();
    check_len("mass matrix", m.len(), nv * nv)?;
    place_all(model, q, ws)?;
    m.fill(0.0);
    ws.composite[0] = RigidInertia::ZERO;
    for (i, link) in model.links.iter().enumerate() {
        ws.composite[i + 1] = link.inertia;
    }
    for (i, link) in model.links.iter().enumerate().rev() {
        let composite = ws.composite[i + 1];
        if link.parent_slot > 0 {
            let moved = ws.parent_from_link[i].rigid_inertia(&composite);
            ws.composite[link.parent_slot] += moved;
        }
        for k in link.v..link.v_end {
            let mut f = composite.mul_motion(ws.axes[k]);
            for j in link.v..=k {
                let entry = ws.axes[j].dot(f);
                m[k * nv + j] = entry;
                m[j * nv + k] = entry;
            }
            m[k * nv + k] += model.armature[k];
            let mut at = i;
            while model.links[at].parent_slot > 0 {
                f = ws.parent_from_link[at].force(f);
                at = model.links[at].parent_slot - 1;
                for j in model.links[at].v..model.links[at].v_end {
                    let entry = ws.axes[j].dot(f);
                    m[k * nv + j] = entry;
                    m[j * nv + k] = entry;
                }
            }
        }
    }
    Ok(())
}
