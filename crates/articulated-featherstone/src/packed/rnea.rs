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
//! `packed_agrees_with_general`,
//! `four_lanes_have_the_bits_of_one`.

use super::{
    BaseKin, Kin, Kind, Lane, PackedLink, PackedTree, PackedWorkspace, Work, body_force, check_numbers,
    dispatch, forward, forward_free, free_rotation, kernels::add, place_base, to_parent,
};
use crate::BaseMotion;
use sim_traits::DynamicsError;

/// Joint forces of a packed tree for accelerations `qdd`; order and units of all numbers as in [`crate::rnea`].
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn packed_rnea<T: Lane>(
    tree: &PackedTree,
    base: &BaseMotion,
    q: &[T],
    v: &[T],
    qdd: &[T],
    ws: &mut PackedWorkspace<T>,
    tau: &mut [T],
) -> Result<(), DynamicsError> {
    ws.check(tree)?;
    check_numbers("coordinates", q, tree.q_len)?;
    check_numbers("velocities", v, tree.v_len)?;
    check_numbers("accelerations", qdd, tree.v_len)?;
    crate::algorithm::check_len("joint forces", tau.len(), tree.v_len)?;
    let ground = place_base(tree, base, ws);
    let work = &mut ws.work[..];
    for (i, link) in tree.links.iter().enumerate() {
        let parent = work[link.parent_slot].kin;
        let out = &mut work[i + 1];
        let sign = T::splat(link.sign);
        dispatch!(
            link,
            start,
            start_free(link, &ground, q, v, qdd, out),
            (link, &parent, q[link.q] * sign, v[link.v] * sign, qdd[link.v] * sign, out)
        );
    }
    for (i, link) in tree.links.iter().enumerate().rev() {
        let (front, rest) = work.split_at_mut(i + 1);
        let (own, parent) = (&rest[0], &mut front[link.parent_slot]);
        dispatch!(
            link,
            collect,
            collect_free(link, own, tau),
            (link, own, parent, qdd[link.v], &mut tau[link.v])
        );
    }
    check_numbers("joint forces", tau, tree.v_len)
}

#[inline(always)]
fn start<T: Lane, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    parent: &Kin<T>,
    q: T,
    qd: T,
    qdd: T,
    out: &mut Work<T>,
) {
    let sc = if HINGE { q.sin_cos() } else { (T::splat(0.0), q) };
    let kin = forward::<T, A, HINGE, FIX>(link, parent, sc, qd, qdd);
    (out.n, out.f) = body_force(link, &kin);
    out.kin = kin;
    out.sc = sc;
}

#[inline(always)]
fn start_free<T: Lane>(link: &PackedLink, base: &BaseKin<T>, q: &[T], v: &[T], qdd: &[T], out: &mut Work<T>) {
    out.free = free_rotation(link, q);
    let own = std::array::from_fn(|k| qdd[link.v + k]);
    out.kin = forward_free(link, base, &out.free, q, v, own);
    (out.n, out.f) = body_force(link, &out.kin);
}

#[inline(always)]
fn collect<T: Lane, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    own: &Work<T>,
    parent: &mut Work<T>,
    qdd: T,
    tau: &mut T,
) {
    let along = if HINGE { own.n[A] } else { own.f[A] };
    *tau = along * T::splat(link.sign) + T::splat(link.armature) * qdd;
    if link.parent_slot > 0 {
        let (n, f) = to_parent::<T, A, HINGE, FIX>(link, own.sc, own.n, own.f);
        parent.n = add(parent.n, n);
        parent.f = add(parent.f, f);
    }
}

#[inline(always)]
fn collect_free<T: Lane>(link: &PackedLink, own: &Work<T>, tau: &mut [T]) {
    tau[link.v..link.v + 3].copy_from_slice(&own.n);
    tau[link.v + 3..link.v + 6].copy_from_slice(&own.f);
}
