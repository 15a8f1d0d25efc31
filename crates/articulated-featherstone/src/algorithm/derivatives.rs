//! Analytic derivatives of inverse and forward dynamics.
//!
//! # Reference
//! Singh, Russell, Wensing, *Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra* (2022);
//! Carpentier, Mansard, *Analytical derivatives of rigid body dynamics algorithms* (2018).
//!
//! # Symbols
//! All in world axes at the world origin.
//! | code | paper | meaning |
//! |---|---|---|
//! | `s` | S | axis of a velocity |
//! | `psi_dot` | Ψ̇ | `v_before` × S |
//! | `psi_ddot` | Ψ̈ | `a_before` × S + `v_before` × Ψ̇ |
//! | `s_dot` | Ṡ | rate of S |
//! | `ic`, `bc`, `fc` | Iᶜ, Bᶜ, fᶜ | inertia, velocity matrix and force, summed over the subtree |
//!
//! # Formula
//! ```text
//! 2 B = (v×*) I − I (v×) + (I v)×̄*
//! j up to i:        ∂τ_i/∂q_j = S_iᵀ (2Bᶜ_i Ψ̇_j + Iᶜ_i Ψ̈_j)         ∂τ_i/∂v_j = S_iᵀ (2Bᶜ_i S_j + Iᶜ_i (Ψ̇_j + Ṡ_j))
//! j strictly above: ∂τ_j/∂q_i = S_jᵀ (2Bᶜ_i Ψ̇_i + Iᶜ_i Ψ̈_i + S_i ×* fᶜ_i)
//! forward dynamics: ∂q̈ = −M⁻¹ ∂τ
//! ```
//! "Before" is what carries the axis: the parent and, for joints that act as a sequence, the axes in front of it.
//! Derivatives by q are along the velocities: q ⊕ δ as in [`crate::integrate`]. External wrenches turn with their links.
//!
//! # Cost
//! O(n depth) for inverse dynamics, O(n²) for forward dynamics; no allocation.
//!
//! # Numerics
//! World coordinates: digits are lost when the tree is far from the world origin.
//!
//! # Failure
//! As [`crate::rnea`] and [`crate::aba`].
//!
//! # Tested by
//! `soak_derivatives_of_rnea_and_aba_are_finite_differences`.

use super::{
    aba::aba, check_len, kinematics::compute_accelerations, mass_solve::solve_mass, rnea::check_external,
};
use crate::{Model, State, Workspace};
use sim_math::{
    rotation::cross_matrix,
    small::{Mat6, mul, mul_vec, transpose},
    spatial::{Force, Motion, RigidInertia},
};
use sim_traits::DynamicsError;

/// Scratch of the derivatives, sized from the model.
#[derive(Debug, Clone)]
pub struct DerivativeWorkspace {
    s: Vec<Motion>,
    psi_dot: Vec<Motion>,
    psi_ddot: Vec<Motion>,
    /// Ψ̇ + Ṡ.
    rate: Vec<Motion>,
    ic: Vec<RigidInertia>,
    bc: Vec<Mat6>,
    fc: Vec<Force>,
    column: Vec<f64>,
    solved: Vec<f64>,
}

impl DerivativeWorkspace {
    /// Allocates for `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let (n, nv) = (model.link_count(), model.v_len());
        Self {
            s: vec![Motion::ZERO; nv],
            psi_dot: vec![Motion::ZERO; nv],
            psi_ddot: vec![Motion::ZERO; nv],
            rate: vec![Motion::ZERO; nv],
            ic: vec![RigidInertia::ZERO; n],
            bc: vec![[[0.0; 6]; 6]; n],
            fc: vec![Force::ZERO; n],
            column: vec![0.0; nv],
            solved: vec![0.0; nv],
        }
    }
}

/// 2 B of one link.
fn velocity_matrix(inertia: &RigidInertia, v: Motion) -> Mat6 {
    let (i, cross) = (inertia.to_mat6(), v.cross_mat6());
    let (left, right) = (mul(&transpose(&cross), &i), mul(&i, &cross));
    let h = inertia.mul_motion(v);
    let (n, f) = (cross_matrix(h.moment), cross_matrix(h.linear));
    std::array::from_fn(|r| {
        std::array::from_fn(|c| {
            let bar = match (r < 3, c < 3) {
                (true, true) => -n.col(c)[r],
                (true, false) => -f.col(c - 3)[r],
                (false, true) => -f.col(c)[r - 3],
                (false, false) => 0.0,
            };
            bar - left[r][c] - right[r][c]
        })
    })
}

/// Writes ∂τ/∂q and ∂τ/∂v of inverse dynamics at accelerations `qdd`, nv rows of nv numbers each.
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn rnea_derivatives(
    model: &Model,
    state: &State,
    qdd: &[f64],
    external: &[Force],
    ws: &mut Workspace,
    dws: &mut DerivativeWorkspace,
    dtau_dq: &mut [f64],
    dtau_dv: &mut [f64],
) -> Result<(), DynamicsError> {
    let nv = model.v_len();
    check_len("derivative by q", dtau_dq.len(), nv * nv)?;
    check_len("derivative by v", dtau_dv.len(), nv * nv)?;
    check_len("derivative workspace", dws.s.len(), nv)?;
    check_len("derivative workspace", dws.ic.len(), model.link_count())?;
    check_external(model, external)?;
    compute_accelerations(model, state, qdd, ws)?;
    dtau_dq.fill(0.0);
    dtau_dv.fill(0.0);
    write_axes(model, state, qdd, ws, dws);
    for (i, link) in model.links.iter().enumerate() {
        let pose = &ws.world_from_link[i + 1];
        let (v, a) = (ws.velocity[i + 1], ws.acceleration[i + 1]);
        let mut f = link.inertia.mul_motion(a) + link.inertia.bias_force(v);
        if let Some(e) = external.get(i) {
            f -= *e;
        }
        dws.ic[i] = pose.rigid_inertia(&link.inertia);
        dws.bc[i] = velocity_matrix(&dws.ic[i], pose.motion(v));
        dws.fc[i] = pose.force(f);
    }
    for (i, link) in model.links.iter().enumerate().rev() {
        for k in link.v..link.v_end {
            write_column(model, dws, i, k, dtau_dq, dtau_dv);
        }
        if link.parent_slot > 0 {
            let (p, b) = (link.parent_slot - 1, dws.bc[i]);
            let (inertia, f) = (dws.ic[i], dws.fc[i]);
            dws.ic[p] += inertia;
            dws.fc[p] += f;
            for (row, from) in dws.bc[p].iter_mut().zip(b) {
                for (x, y) in row.iter_mut().zip(from) {
                    *x += y;
                }
            }
        }
    }
    Ok(())
}

/// Axes and their rates in the world.
fn write_axes(model: &Model, state: &State, qdd: &[f64], ws: &Workspace, dws: &mut DerivativeWorkspace) {
    for (i, link) in model.links.iter().enumerate() {
        let (parent, own) = (&ws.world_from_link[link.parent_slot], &ws.world_from_link[i + 1]);
        let mut v = parent.motion(ws.velocity[link.parent_slot]);
        let mut a = parent.motion(ws.acceleration[link.parent_slot]);
        let after = own.motion(ws.velocity[i + 1]);
        for k in link.v..link.v_end {
            let s = own.motion(ws.axes[k]);
            let psi_dot = v.cross(s);
            dws.s[k] = s;
            dws.psi_dot[k] = psi_dot;
            dws.psi_ddot[k] = a.cross(s) + v.cross(psi_dot);
            if link.joint.is_sequence() {
                dws.rate[k] = psi_dot + psi_dot;
                a += s * qdd[k] + psi_dot * state.v[k];
                v += s * state.v[k];
            } else {
                dws.rate[k] = psi_dot + after.cross(s);
            }
        }
    }
}

/// All entries that pair velocity k of link i with the velocities in front of it.
fn write_column(
    model: &Model,
    dws: &DerivativeWorkspace,
    i: usize,
    k: usize,
    dq: &mut [f64],
    dv: &mut [f64],
) {
    let nv = model.v_len();
    let (ic, bc) = (&dws.ic[i], &dws.bc[i]);
    let s = dws.s[k];
    let by_b = |m: Motion| Force::from_array(mul_vec(bc, m.to_array()));
    let turned = s.cross_force(dws.fc[i]);
    let column_q = by_b(dws.psi_dot[k]) + ic.mul_motion(dws.psi_ddot[k]) + turned;
    let column_v = by_b(s) + ic.mul_motion(dws.rate[k]);
    let row_i = ic.mul_motion(s);
    let row_b = Force::from_array(mul_vec(&transpose(bc), s.to_array()));
    let row = |j: usize| {
        (row_b.dot(dws.psi_dot[j]) + row_i.dot(dws.psi_ddot[j]), row_b.dot(dws.s[j]) + row_i.dot(dws.rate[j]))
    };
    let own = &model.links[i];
    (dq[k * nv + k], dv[k * nv + k]) = row(k);
    for j in own.v..k {
        (dq[k * nv + j], dv[k * nv + j]) = row(j);
        dv[j * nv + k] = dws.s[j].dot(column_v);
        // Axes that act together turn with the link: the force they carry turns along.
        let f = if own.joint.is_sequence() { column_q } else { column_q - turned };
        dq[j * nv + k] = dws.s[j].dot(f);
    }
    let mut slot = own.parent_slot;
    while slot > 0 {
        let link = &model.links[slot - 1];
        for j in link.v..link.v_end {
            (dq[k * nv + j], dv[k * nv + j]) = row(j);
            dq[j * nv + k] = dws.s[j].dot(column_q);
            dv[j * nv + k] = dws.s[j].dot(column_v);
        }
        slot = link.parent_slot;
    }
}

/// Writes ∂q̈/∂q, ∂q̈/∂v and ∂q̈/∂τ = M⁻¹ of forward dynamics, nv rows of nv numbers each.
///
/// # Errors
/// As [`crate::aba`].
pub fn aba_derivatives(
    model: &Model,
    state: &State,
    tau: &[f64],
    external: &[Force],
    ws: &mut Workspace,
    dws: &mut DerivativeWorkspace,
    dqdd_dq: &mut [f64],
    dqdd_dv: &mut [f64],
    dqdd_dtau: &mut [f64],
) -> Result<(), DynamicsError> {
    let nv = model.v_len();
    check_len("derivative by tau", dqdd_dtau.len(), nv * nv)?;
    check_len("derivative workspace", dws.column.len(), nv)?;
    aba(model, state, tau, external, ws)?;
    let qdd = std::mem::take(&mut ws.qdd);
    // The accelerations are read while the workspace is written: hand them over and back.
    dws.solved.copy_from_slice(&qdd);
    ws.qdd = qdd;
    let qdd = std::mem::take(&mut dws.solved);
    let result = rnea_derivatives(model, state, &qdd, external, ws, dws, dqdd_dq, dqdd_dv);
    dws.solved = qdd;
    result?;
    super::mass_solve::factorize(model, &state.q, ws)?;
    let (mut column, mut solved) = (std::mem::take(&mut dws.column), std::mem::take(&mut dws.solved));
    for k in 0..nv {
        for matrix in [&mut *dqdd_dq, &mut *dqdd_dv] {
            for r in 0..nv {
                column[r] = -matrix[r * nv + k];
            }
            solve_mass(model, ws, &column, &mut solved)?;
            for r in 0..nv {
                matrix[r * nv + k] = solved[r];
            }
        }
        column.fill(0.0);
        column[k] = 1.0;
        solve_mass(model, ws, &column, &mut solved)?;
        for r in 0..nv {
            dqdd_dtau[r * nv + k] = solved[r];
        }
    }
    (dws.column, dws.solved) = (column, solved);
    Ok(())
}
