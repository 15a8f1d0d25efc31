//! Articulated-body algorithm: joint accelerations of a tree in O(n).
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), table 7.1; Mirtich 1996, 4.4 to 4.6; Fontijne 2000, 3.6;
//! Arnold 1997, algorithm 2.1 (printed with a minus where the inertia of the parent needs a plus).
//!
//! # Symbols
//! | code | paper | meaning | frame |
//! |---|---|---|---|
//! | `articulated` | Iᴬ | inertia of the subtree with its joints loose | link |
//! | `force` | pᴬ | wrench needed to keep the link unaccelerated | link |
//! | `u_column` | U | Iᴬ s | link |
//! | `d_inv` | D⁻¹ | 1 / (sᵀ U + armature) | |
//! | `residual` | u | τ − sᵀ pᴬ | |
//!
//! # Formula
//! ```text
//! tips to base, for the axes s of a joint from the last to the first:
//!     U = Iᴬ s     D = sᵀ U + armature     u = τ − sᵀ pᴬ     Iᴬ ← Iᴬ − U Uᵀ/D     pᴬ ← pᴬ + U u/D
//! then  Iᴬ_p += X Iᴬ Xᵀ     pᴬ_p += X (pᴬ + Iᴬ c)
//! base to tips:  a = X⁻¹ a_p + c,  for the axes from the first to the last:  q̈ = (u − Uᵀ a)/D,  a ← a + s q̈
//! ```
//! A joint with several axes is eliminated one axis at a time: the `LDLᵀ` factorisation of its block, without ever forming it.
//!
//! # Cost
//! O(n), no allocation.
//!
//! # Numerics
//! D is a Schur complement of a positive definite matrix. For a link whose own inertia is small next to what
//! hangs on it D can be pure rounding; each link carries a bound of the rounding noise in its inertia (two numbers), and D must
//! exceed it.
//!
//! # Failure
//! `DynamicsError::Singular` with the link and D; wrong lengths; numbers that are not finite.
//!
//! # Tested by
//! `soak_aba_equals_crba_and_solve_and_rnea_undoes_it`,
//! `soak_aba_equals_the_dense_multiplier_system`,
//! `aligned_axes_of_massless_links_are_an_error_naming_the_link`.

use super::{
    check_len,
    kinematics::{check_quaternions, joint_velocity, place_link},
    rnea::check_external,
};
use crate::{Model, State, Workspace, model::LinkData, state::check_finite};
use sim_math::{
    Sym3,
    spatial::{ArticulatedInertia, Force},
};
use sim_traits::{DynamicsError, PartId};

/// D must exceed so many units of rounding of what was subtracted to get it. Chosen, not tuned: the noise bound adds up traces, so
/// it is itself an over-estimate by the number of links.
const NOISE: f64 = 4.0 * f64::EPSILON;

/// Joint accelerations under joint forces `tau` and external wrenches: [`Workspace::qdd`].
///
/// `external` has one wrench for each link, at the link origin in link axes, or is empty.
/// Afterwards the workspace is also factorised at this configuration, see [`crate::factorize`].
///
/// # Errors
/// Wrong length, a number that is not finite, [`DynamicsError::Singular`] naming the link.
pub fn aba(
    model: &Model,
    state: &State,
    tau: &[f64],
    external: &[Force],
    ws: &mut Workspace,
) -> Result<(), DynamicsError> {
    ws.check(model)?;
    state.check(model)?;
    check_len("joint forces", tau.len(), model.v_len())?;
    check_finite("joint force", tau)?;
    check_quaternions(model, &state.q)?;
    check_external(model, external)?;
    ws.posed = false;
    ws.factored = false;
    ws.velocity[0] = state.base.velocity;
    for (i, link) in model.links.iter().enumerate() {
        place_link(link, &state.q, &mut ws.parent_from_link[i], &mut ws.axes);
        let own = joint_velocity(link, &ws.axes, &state.v);
        let v = ws.parent_from_link[i].inverse_motion(ws.velocity[link.parent_slot]) + own;
        ws.bias[i] = v.cross(own) + link.bias(&ws.axes[link.v..link.v_end], &state.v[link.v..link.v_end]);
        ws.velocity[i + 1] = v;
        ws.articulated[i + 1] = link.inertia.into();
        ws.noise[i + 1] = [0.0; 2];
        let p = link.inertia.bias_force(v);
        ws.force[i + 1] = match external.get(i) {
            Some(e) => p - *e,
            None => p,
        };
    }
    for (i, link) in model.links.iter().enumerate().rev() {
        let mut p = ws.force[i + 1];
        let inertia = eliminate(&model.armature, i, link, ws)?;
        for k in (link.v..link.v_end).rev() {
            let u = tau[k] - ws.axes[k].dot(p);
            ws.residual[k] = u;
            p += ws.u_column[k] * (u * ws.d_inv[k]);
        }
        if link.parent_slot > 0 {
            p += inertia.mul_motion(ws.bias[i]);
            pass_inertia(i, link, &inertia, ws);
            let to_parent = ws.parent_from_link[i].force(p);
            ws.force[link.parent_slot] += to_parent;
        }
    }
    ws.acceleration[0] = state.base.acceleration_with_gravity(model.gravity);
    for (i, link) in model.links.iter().enumerate() {
        let mut a = ws.parent_from_link[i].inverse_motion(ws.acceleration[link.parent_slot]) + ws.bias[i];
        for k in link.v..link.v_end {
            let qdd = (ws.residual[k] - ws.u_column[k].dot(a)) * ws.d_inv[k];
            ws.qdd[k] = qdd;
            a += ws.axes[k] * qdd;
        }
        ws.acceleration[i + 1] = a;
    }
    ws.factored = true;
    // An overflow on the way is an error, not an answer.
    check_finite("joint acceleration", &ws.qdd)
}

/// As [`aba`], and writes what each joint exerts on its link: [`Workspace::joint_wrenches`].
///
/// # Errors
/// As [`aba`].
pub fn aba_with_reactions(
    model: &Model,
    state: &State,
    tau: &[f64],
    external: &[Force],
    ws: &mut Workspace,
) -> Result<(), DynamicsError> {
    aba(model, state, tau, external, ws)?;
    for (i, link) in model.links.iter().enumerate() {
        let f = link.inertia.mul_motion(ws.acceleration[i + 1]) + link.inertia.bias_force(ws.velocity[i + 1]);
        ws.force[i + 1] = match external.get(i) {
            Some(e) => f - *e,
            None => f,
        };
    }
    for (i, link) in model.links.iter().enumerate().rev() {
        let to_parent = ws.parent_from_link[i].force(ws.force[i + 1]);
        ws.force[link.parent_slot] += to_parent;
    }
    Ok(())
}

/// Takes the joint of link i out of its articulated inertia and writes U and 1/D of its axes; `rotors` is what joints add to the diagonal of the mass matrix.
/// Returns what is left.
#[inline]
pub(crate) fn eliminate(
    rotors: &[f64],
    i: usize,
    link: &LinkData,
    ws: &mut Workspace,
) -> Result<ArticulatedInertia, DynamicsError> {
    let mut inertia = ws.articulated[i + 1];
    let [angular, linear] = &mut ws.noise[i + 1];
    *angular += trace(&inertia.angular);
    *linear += trace(&inertia.linear);
    for k in (link.v..link.v_end).rev() {
        let s = ws.axes[k];
        let u = inertia.mul_motion(s);
        let d = s.dot(u) + rotors[k];
        let noise = s.angular.length_squared() * *angular + s.linear.length_squared() * *linear;
        let has_digits = d > NOISE * noise && d.is_finite();
        if !has_digits {
            return Err(DynamicsError::Singular { part: PartId(i as u32), pivot: d });
        }
        let d_inv = 1.0 / d;
        ws.u_column[k] = u;
        ws.d_inv[k] = d_inv;
        inertia = inertia.minus_outer(u, d_inv);
    }
    Ok(inertia)
}

/// Adds what is left of link i to its parent, and the rounding that came with it.
#[inline]
pub(crate) fn pass_inertia(i: usize, link: &LinkData, inertia: &ArticulatedInertia, ws: &mut Workspace) {
    let x = &ws.parent_from_link[i];
    ws.articulated[link.parent_slot] += x.articulated_inertia(inertia);
    let [angular, linear] = ws.noise[i + 1];
    let [parent_angular, parent_linear] = &mut ws.noise[link.parent_slot];
    *parent_angular += angular + 2.0 * x.translation.length_squared() * linear;
    *parent_linear += linear;
}

#[inline]
fn trace(s: &Sym3) -> f64 {
    s.xx + s.yy + s.zz
}
