//! Impulses on trees: velocity changes, contact matrices and the Delassus operator from one factorisation.
//!
//! # Reference
//! Arnold 1997, 2.4.2 to 2.4.4 (cross inertia, contact matrices of one and two links); Mirtich 1996, 5.3; Fontijne 2000,
//! 3.6.7 and 3.6.8 (impulses on links and at joints).
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | `p` | impulse of a row not yet taken up by joints | link |
//! | `u` | L⁻ᵀ Jᵀ: what each joint on the way to the base takes up | |
//! | `d_inv` | D⁻¹ of the factorisation M = Lᵀ D L | |
//! | ϰ | cross inertia: motion of link i per impulse on link j | |
//!
//! # Formula
//! ```text
//! up the path of a row:  u_k = −s_kᵀ p,   p ← p + U_k u_k/D_k            (p = −Jᵀ at the struck link)
//! W_rs = Σ_k u_k^r u_k^s / D_k   over the joints common to both paths:  those above the lowest common ancestor
//! M⁻¹Jᵀ: base to tips  y = (u − Uᵀ a)/D,  a ← a + s y
//! ```
//! Two links of one tree touch by two entries in one row, so that their cross terms are there.
//! A `W_rs` of links that share no joint is exactly zero.
//!
//! # Cost
//! O(depth) for each entry of a row, O(depth) for each entry of W, O(n) for a response of the whole tree.
//!
//! # Numerics
//! W is a sum of squares with positive weights: symmetric by construction, positive semi-definite to rounding. It is rank
//! deficient when fewer joints than rows lie on the paths; nothing here divides by it.
//!
//! # Failure
//! `NotPrepared` without a factorisation, unknown link or row, wrong length.
//!
//! # Tested by
//! `soak_delassus_is_j_m_inverse_jt`,
//! `impulse_changes_momentum_by_itself_and_energy_by_its_work`,
//! `cross_inertia_is_the_difference_of_two_aba_runs`.

use super::{check_len, jacobian::check_link};
use crate::{Model, Workspace};
use sim_math::{
    Sym3,
    glam::DVec3,
    small::Mat6,
    spatial::{Force, Motion},
};
use sim_traits::DynamicsError;

/// An impulse (or a unit wrench of a row) on a link, at the link origin in link axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkImpulse {
    /// Which row it belongs to.
    pub row: u32,
    /// The link it acts on.
    pub link: u32,
    /// Moment about the link origin and force, link axes.
    pub impulse: Force,
}

/// Carries `p` (at `link`, sign as an impulse) to the base and adds what the joints take up to `u`.
#[inline]
fn take_up(model: &Model, ws: &Workspace, link: usize, impulse: Force, u: &mut [f64]) {
    let mut f = impulse;
    let mut slot = link + 1;
    while slot > 0 {
        let data = &model.links[slot - 1];
        for k in (data.v..data.v_end).rev() {
            let taken = ws.axes[k].dot(f);
            u[k] += taken;
            f -= ws.u_column[k] * (taken * ws.d_inv[k]);
        }
        if data.parent_slot > 0 {
            f = ws.parent_from_link[slot - 1].force(f);
        }
        slot = data.parent_slot;
    }
}

/// As [`take_up`] for a unit impulse at velocity `dof` of the joint of `link`.
pub(crate) fn take_up_joint(model: &Model, ws: &Workspace, link: usize, dof: usize, u: &mut [f64]) {
    u[dof] += 1.0;
    let mut f = -ws.u_column[dof] * ws.d_inv[dof];
    let data = &model.links[link];
    for k in (data.v..dof).rev() {
        let taken = ws.axes[k].dot(f);
        u[k] += taken;
        f -= ws.u_column[k] * (taken * ws.d_inv[k]);
    }
    if data.parent_slot > 0 {
        f = ws.parent_from_link[link].force(f);
        take_up(model, ws, data.parent_slot - 1, f, u);
    }
}

/// Completes a response: `y` holds u on entry and M⁻¹ x on return. `motion` has room for every slot.
#[inline]
pub(crate) fn finish_response(model: &Model, ws: &Workspace, motion: &mut [Motion], y: &mut [f64]) {
    motion[0] = Motion::ZERO;
    for (i, link) in model.links.iter().enumerate() {
        let mut a = ws.parent_from_link[i].inverse_motion(motion[link.parent_slot]);
        for k in link.v..link.v_end {
            y[k] = (y[k] - ws.u_column[k].dot(a)) * ws.d_inv[k];
            a += ws.axes[k] * y[k];
        }
        motion[i + 1] = a;
    }
}

pub(crate) fn check_factored(model: &Model, ws: &Workspace) -> Result<(), DynamicsError> {
    ws.check(model)?;
    if ws.factored { Ok(()) } else { Err(DynamicsError::NotPrepared) }
}

/// Adds L⁻ᵀ Jᵀ, one column of nv numbers for each row, to `u`.
pub(crate) fn add_taken(
    model: &Model,
    ws: &Workspace,
    entries: &[LinkImpulse],
    u: &mut [f64],
) -> Result<(), DynamicsError> {
    let nv = model.v_len();
    let rows = u.len().checked_div(nv).unwrap_or(0);
    for (index, e) in entries.iter().enumerate() {
        let row = e.row as usize;
        if nv > 0 && row >= rows {
            return Err(DynamicsError::UnknownRow { entry: index, row: e.row, rows });
        }
        let slot = check_link(model, e.link)?;
        if !e.impulse.is_finite() {
            return Err(DynamicsError::NonFinite { what: "impulse", index, value: f64::NAN });
        }
        if nv > 0 {
            take_up(model, ws, slot - 1, e.impulse, &mut u[row * nv..(row + 1) * nv]);
        }
    }
    Ok(())
}

/// Writes the change of all joint velocities by impulses on links and at joints, all acting at once.
///
/// `joint_impulses` has one number for each velocity or is empty; rows of `impulses` are ignored.
/// Needs [`crate::factorize`] or [`crate::aba`] at this configuration.
///
/// # Errors
/// Not prepared, unknown link, wrong length, a number that is not finite.
pub fn apply_impulses(
    model: &Model,
    ws: &mut Workspace,
    impulses: &[LinkImpulse],
    joint_impulses: &[f64],
    dv: &mut [f64],
) -> Result<(), DynamicsError> {
    check_factored(model, ws)?;
    check_len("velocity changes", dv.len(), model.v_len())?;
    if !joint_impulses.is_empty() {
        check_len("joint impulses", joint_impulses.len(), model.v_len())?;
        crate::state::check_finite("joint impulse", joint_impulses)?;
    }
    ws.force.fill(Force::ZERO);
    for (index, e) in impulses.iter().enumerate() {
        let slot = check_link(model, e.link)?;
        if !e.impulse.is_finite() {
            return Err(DynamicsError::NonFinite { what: "impulse", index, value: f64::NAN });
        }
        ws.force[slot] += e.impulse;
    }
    for (i, link) in model.links.iter().enumerate().rev() {
        let mut f = ws.force[i + 1];
        for k in (link.v..link.v_end).rev() {
            let own = joint_impulses.get(k).copied().unwrap_or(0.0);
            let taken = own + ws.axes[k].dot(f);
            dv[k] = taken;
            f -= ws.u_column[k] * (taken * ws.d_inv[k]);
        }
        let to_parent = ws.parent_from_link[i].force(f);
        ws.force[link.parent_slot] += to_parent;
    }
    let mut motion = std::mem::take(&mut ws.acceleration);
    finish_response(model, ws, &mut motion, dv);
    ws.acceleration = motion;
    Ok(())
}

/// Writes the Delassus operator W = J M⁻¹ Jᵀ of `rows` rows into `w`, row by row. `u` is scratch for rows · nv numbers
/// and leaves with L⁻ᵀ Jᵀ. Needs [`crate::factorize`] or [`crate::aba`] at this configuration.
///
/// Blocks of three rows are the contact matrices of one contact and between contacts.
///
/// # Errors
/// Not prepared, unknown link or row, wrong length.
pub fn delassus(
    model: &Model,
    ws: &Workspace,
    entries: &[LinkImpulse],
    rows: usize,
    u: &mut [f64],
    w: &mut [f64],
) -> Result<(), DynamicsError> {
    check_factored(model, ws)?;
    let nv = model.v_len();
    check_len("delassus scratch", u.len(), rows * nv)?;
    check_len("delassus matrix", w.len(), rows * rows)?;
    if let Some((entry, e)) = entries.iter().enumerate().find(|(_, e)| e.row as usize >= rows) {
        return Err(DynamicsError::UnknownRow { entry, row: e.row, rows });
    }
    u.fill(0.0);
    add_taken(model, ws, entries, u)?;
    for r in 0..rows {
        for s in 0..=r {
            let (a, b) = (&u[r * nv..(r + 1) * nv], &u[s * nv..(s + 1) * nv]);
            let mut sum = 0.0;
            for k in 0..nv {
                sum += a[k] * ws.d_inv[k] * b[k];
            }
            w[r * rows + s] = sum;
            w[s * rows + r] = sum;
        }
    }
    Ok(())
}

/// Fast form of [`delassus`] for one contact: three pushes (or any three entries) on one link. Walks its path only.
///
/// # Errors
/// Not prepared, unknown link.
pub fn contact_matrix(
    model: &Model,
    ws: &Workspace,
    link: u32,
    pushes: [Force; 3],
) -> Result<Sym3, DynamicsError> {
    check_factored(model, ws)?;
    let mut slot = check_link(model, link)?;
    let mut f = pushes;
    let mut w = Sym3::ZERO;
    while slot > 0 {
        let data = &model.links[slot - 1];
        for k in (data.v..data.v_end).rev() {
            let (s, u, d_inv) = (ws.axes[k], ws.u_column[k], ws.d_inv[k]);
            let taken = DVec3::new(s.dot(f[0]), s.dot(f[1]), s.dot(f[2]));
            w += Sym3::outer(taken) * d_inv;
            for (f, t) in f.iter_mut().zip(taken.to_array()) {
                *f -= u * (t * d_inv);
            }
        }
        if data.parent_slot > 0 {
            let x = &ws.parent_from_link[slot - 1];
            f = f.map(|f| x.force(f));
        }
        slot = data.parent_slot;
    }
    Ok(w)
}

/// Arnold's cross inertia ϰ: the change of motion of link `i` by an impulse on link `j`, each at its own origin in its own
/// axes; rows angular first. Zero if the links share no joint; transposed when i and j change places.
///
/// # Errors
/// Not prepared, unknown link.
pub fn cross_inertia(model: &Model, ws: &Workspace, i: u32, j: u32) -> Result<Mat6, DynamicsError> {
    check_factored(model, ws)?;
    let (slot_i, slot_j) = (check_link(model, i)?, check_link(model, j)?);
    let mut left = unit_forces();
    let mut right = unit_forces();
    let mut kappa = [[0.0; 6]; 6];
    // Carry both sets of six unit impulses to the common ancestor, then together to the base.
    let (mut a, mut b) = (slot_i, slot_j);
    while a > 0 && b > 0 {
        if a == b {
            let data = &model.links[a - 1];
            for k in (data.v..data.v_end).rev() {
                let (s, u, d_inv) = (ws.axes[k], ws.u_column[k], ws.d_inv[k]);
                let (x, y) = (left.map(|f| s.dot(f)), right.map(|f| s.dot(f)));
                for r in 0..6 {
                    for c in 0..6 {
                        kappa[r][c] += x[r] * d_inv * y[c];
                    }
                    left[r] -= u * (x[r] * d_inv);
                    right[r] -= u * (y[r] * d_inv);
                }
            }
            let x = &ws.parent_from_link[a - 1];
            (left, right) = (left.map(|f| x.force(f)), right.map(|f| x.force(f)));
            (a, b) = (data.parent_slot, data.parent_slot);
        } else if a > b {
            a = carry(model, ws, a, &mut left);
        } else {
            b = carry(model, ws, b, &mut right);
        }
    }
    Ok(kappa)
}

fn unit_forces() -> [Force; 6] {
    std::array::from_fn(|c| {
        let mut unit = [0.0; 6];
        unit[c] = 1.0;
        Force::from_array(unit)
    })
}

/// Carries impulses over one joint towards the base; returns the slot of the parent.
fn carry(model: &Model, ws: &Workspace, slot: usize, f: &mut [Force; 6]) -> usize {
    let data = &model.links[slot - 1];
    for k in (data.v..data.v_end).rev() {
        for f in f.iter_mut() {
            *f -= ws.u_column[k] * (ws.axes[k].dot(*f) * ws.d_inv[k]);
        }
    }
    let x = &ws.parent_from_link[slot - 1];
    *f = f.map(|f| x.force(f));
    data.parent_slot
}
