//! Recursive Newton-Euler algorithm for packed trees.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), table 5.1.
//!
//! # Symbols
//! As [`crate::packed_aba`].
//!
//! # Formula
//! ```text
//! f = I a + v ×* I v + Σ children,      τ = n_A (hinge), f_A (slider), all six (free root), plus armature q̈
//! ```
//! # Cost
//! O(n), no allocation; see bench `articulated/rnea`.
//!
//! # Numerics
//! No division.
//!
//! # Failure
//! Wrong lengths, numbers that are not finite.
//!
//! # Tested by
//! `soak_packed_agrees_with_general`,
//! `four_lanes_have_the_bits_of_one`.

use super::{
    Kin, Kind, Lane, PackedLink, PackedTree, PackedWorkspace, Part, body_force, check_numbers,
    check_wrenches, dispatch, forward, forward_free,
    kernels::{V3, add},
    to_parent,
};
use crate::BaseMotion;
use sim_traits::DynamicsError;

/// Joint forces of a packed tree for accelerations `qdd`; order, units and frames of all numbers as in [`crate::rnea`].
/// `wrenches` act on the links, moment first, or are empty.
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn packed_rnea<L: Lane>(
    tree: &PackedTree,
    base: &BaseMotion,
    q: &[L],
    v: &[L],
    qdd: &[L],
    wrenches: &[[L; 6]],
    ws: &mut PackedWorkspace<L>,
    tau: &mut [L],
) -> Result<(), DynamicsError> {
    ws.check(tree)?;
    check_numbers("coordinates", q, tree.q_len)?;
    check_numbers("velocities", v, tree.v_len)?;
    check_numbers("accelerations", qdd, tree.v_len)?;
    check_wrenches(tree, wrenches)?;
    crate::algorithm::check_len("joint forces", tau.len(), tree.v_len)?;
    for part in 0..L::PARTS {
        run(tree, base, (q, v, qdd), wrenches, part, ws, tau);
    }
    check_numbers("joint forces", tau, tree.v_len)
}

#[inline(always)]
fn run<T: Part, L: Lane<Part = T>>(
    tree: &PackedTree,
    base: &BaseMotion,
    (q, v, qdd): (&[L], &[L], &[L]),
    wrenches: &[[L; 6]],
    part: usize,
    ws: &mut PackedWorkspace<L>,
    tau: &mut [L],
) {
    ws.place_joints(tree, q, part);
    let ground = ws.place_base(tree, base);
    for (i, link) in tree.links.iter().enumerate() {
        let (front, rest) = ws.kin.split_at_mut(i + 1);
        let (parent, out) = (&front[link.parent_slot], &mut rest[0]);
        let sc = (ws.sin[i], ws.cos[i]);
        let sign = T::splat(link.sign);
        let wrench = &mut ws.wrench[i + 1];
        if link.kind == Kind::Free {
            *out = forward_free(
                link,
                &ground,
                std::array::from_fn(|k| q[link.q + k].part(part)),
                std::array::from_fn(|k| v[link.v + k].part(part)),
                std::array::from_fn(|k| qdd[link.v + k].part(part)),
            );
            *wrench = body_force(link, out);
        } else {
            let (qd, a) = (v[link.v].part(part) * sign, qdd[link.v].part(part) * sign);
            dispatch!(link, start, (), (link, parent, sc, qd, a, out, wrench));
        }
    }
    if !wrenches.is_empty() {
        ws.take_wrenches(tree, wrenches, part);
    }
    for (i, link) in tree.links.iter().enumerate().rev() {
        let (front, rest) = ws.wrench.split_at_mut(i + 1);
        let (own, parent) = (rest[0], &mut front[link.parent_slot]);
        if link.kind == Kind::Free {
            let (n, f) = own;
            for k in 0..3 {
                tau[link.v + k].set_part(part, n[k]);
                tau[link.v + 3 + k].set_part(part, f[k]);
            }
        } else {
            let sc = (ws.sin[i], ws.cos[i]);
            let along = dispatch!(link, collect, T::splat(0.0), (link, sc, own, parent));
            let rotor = T::splat(link.armature) * qdd[link.v].part(part);
            tau[link.v].set_part(part, along * T::splat(link.sign) + rotor);
        }
    }
}

#[inline(never)]
fn start<T: Part, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    parent: &Kin<T>,
    sc: (T, T),
    qd: T,
    qdd: T,
    out: &mut Kin<T>,
    wrench: &mut (V3<T>, V3<T>),
) {
    let kin = forward::<T, A, HINGE, FIX>(link, parent, sc, qd, qdd);
    *wrench = body_force(link, &kin);
    *out = kin;
}

/// Adds the wrench to the parent's; returns its part along the joint.
#[inline(never)]
fn collect<T: Part, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    sc: (T, T),
    (n, f): (V3<T>, V3<T>),
    parent: &mut (V3<T>, V3<T>),
) -> T {
    if link.parent_slot > 0 {
        let (pn, pf) = to_parent::<T, A, HINGE, FIX>(link, sc, n, f);
        parent.0 = add(parent.0, pn);
        parent.1 = add(parent.1, pf);
    }
    if HINGE { n[A] } else { f[A] }
}
