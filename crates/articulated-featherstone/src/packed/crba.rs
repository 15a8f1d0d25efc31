//! Composite-rigid-body algorithm for packed trees.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), table 6.2.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `Composite` | mass, first moment, inertia at the origin of a subtree, link axes |
//!
//! # Formula
//! ```text
//! column of a hinge on axis A:  (I column A; e_A × h)        of a slider:  (h × e_A; m e_A)
//! ```
//! # Cost
//! O(n depth), no allocation; see bench `articulated/crba`.
//!
//! # Numerics
//! Symmetric by construction.
//!
//! # Failure
//! Wrong lengths, numbers that are not finite.
//!
//! # Tested by
//! `packed_agrees_with_general`.

use super::{
    Kind, Lane, PackedLink, PackedTree, PackedWorkspace, check_numbers, dispatch, free_rotation,
    kernels::{V3, add, at, cross, double_angle, rotate, rotate_sym, sym_mul, turn, turn_sym, zero},
    to_parent,
};
use sim_traits::DynamicsError;

/// Longest way to the base for which columns are carried from link to link; beyond, all work is done in the base frame.
/// Chosen, not tuned: the W4 trees of depth 50 and 100 gain, those up to 10 keep the walk.
const DEEP: usize = 12;

/// Writes the mass matrix of a packed tree, nv rows of nv numbers; as [`crate::crba`].
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn packed_crba<T: Lane>(
    tree: &PackedTree,
    q: &[T],
    ws: &mut PackedWorkspace<T>,
    m: &mut [T],
) -> Result<(), DynamicsError> {
    let nv = tree.v_len;
    ws.check(tree)?;
    check_numbers("coordinates", q, tree.q_len)?;
    crate::algorithm::check_len("mass matrix", m.len(), nv * nv)?;
    m.fill(T::splat(0.0));
    if tree.depth > DEEP {
        super::deep_crba::fill(tree, q, ws, m);
        return Ok(());
    }
    for (i, link) in tree.links.iter().enumerate() {
        let out = &mut ws.work[i + 1];
        let x = q[link.q] * T::splat(link.sign);
        out.sc = match link.kind {
            Kind::Hinge => x.sin_cos(),
            _ => (T::splat(0.0), x),
        };
        if link.kind == Kind::Free {
            out.free = free_rotation(link, q);
        }
        // The composite inertia lives where the articulated one would be: mass, moment and tensor.
        out.art.j = link.inertia.map(T::splat);
        out.n = link.h.map(T::splat);
        out.u = T::splat(link.mass);
    }
    for (i, link) in tree.links.iter().enumerate().rev() {
        let own = &ws.work[i + 1];
        let (inertia, h, mass) = (own.art.j, own.n, own.u);
        if link.kind == Kind::Free {
            free_block(link, &inertia, h, mass, nv, m);
            continue;
        }
        if link.parent_slot > 0 {
            let (j, h, mass) =
                dispatch!(link, move_composite, (inertia, h, mass), (link, own.sc, &inertia, h, mass));
            let parent = &mut ws.work[link.parent_slot];
            for k in 0..6 {
                parent.art.j[k] += j[k];
            }
            parent.n = add(parent.n, h);
            parent.u += mass;
        }
        let own = &ws.work[i + 1];
        let axis = link.axis as usize;
        let mut e = zero();
        e[axis] = T::splat(1.0);
        let (mut n, mut f) = match link.kind {
            Kind::Hinge => (sym_mul(&inertia, e), cross(e, h)),
            _ => {
                let mut f = zero();
                f[axis] = mass;
                (cross(h, e), f)
            }
        };
        let k = link.v;
        m[k * nv + k] = if link.kind == Kind::Hinge { n[axis] } else { f[axis] } + T::splat(link.armature);
        let (mut at_link, mut sc) = (link, own.sc);
        while at_link.parent_slot > 0 {
            (n, f) = dispatch!(at_link, to_parent, (n, f), (at_link, sc, n, f));
            let slot = at_link.parent_slot;
            at_link = &tree.links[slot - 1];
            sc = ws.work[slot].sc;
            let axis = at_link.axis as usize;
            let j = at_link.v;
            match at_link.kind {
                Kind::Free => {
                    let sign = T::splat(link.sign);
                    for r in 0..3 {
                        put(m, nv, j + r, k, n[r] * sign);
                        put(m, nv, j + 3 + r, k, f[r] * sign);
                    }
                }
                kind => {
                    let along = if kind == Kind::Hinge { n[axis] } else { f[axis] };
                    put(m, nv, j, k, along * T::splat(at_link.sign * link.sign));
                }
            }
        }
    }
    Ok(())
}

#[inline(always)]
pub(super) fn put<T: Lane>(m: &mut [T], nv: usize, r: usize, c: usize, x: T) {
    m[r * nv + c] = x;
    m[c * nv + r] = x;
}

/// Composite inertia in the parent's axes at the parent's origin.
#[inline(always)]
fn move_composite<T: Lane, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    sc: (T, T),
    inertia: &[T; 6],
    h: V3<T>,
    mass: T,
) -> ([T; 6], V3<T>, T) {
    let (mut j, mut h) = if HINGE {
        (turn_sym::<T, A>(sc, double_angle(sc), inertia), turn::<T, A>(sc, h))
    } else {
        let mut along = zero();
        along[A] = sc.1;
        shift_composite(inertia, h, mass, along)
    };
    if FIX {
        j = rotate_sym(&link.e, &j);
        h = rotate(&link.e, h);
    }
    let (j, h) = shift_composite(&j, h, mass, link.r.map(T::splat));
    (j, h, mass)
}

/// Inertia and first moment at the point −r.
#[inline(always)]
pub(super) fn shift_composite<T: Lane>(j: &[T; 6], h: V3<T>, mass: T, r: V3<T>) -> ([T; 6], V3<T>) {
    // I + 2 (r·h) 1 − r hᵀ − h rᵀ + m (r² 1 − r rᵀ) = I + (k·r) 1 − sym(k rᵀ) with k = 2 h + m r.
    let two = T::splat(2.0);
    let half = T::splat(0.5);
    let k: V3<T> = std::array::from_fn(|i| two * h[i] + mass * r[i]);
    let d: V3<T> = std::array::from_fn(|i| k[i] * r[i]);
    let off = |a: usize, b: usize| half * (k[a] * r[b] + k[b] * r[a]);
    let mut out = *j;
    out[0] += d[1] + d[2];
    out[1] += d[0] + d[2];
    out[2] += d[0] + d[1];
    out[at(0, 1)] -= off(0, 1);
    out[at(0, 2)] -= off(0, 2);
    out[at(1, 2)] -= off(1, 2);
    (out, std::array::from_fn(|i| h[i] + mass * r[i]))
}

/// The 6x6 of a free root.
pub(super) fn free_block<T: Lane>(
    link: &PackedLink,
    inertia: &[T; 6],
    h: V3<T>,
    mass: T,
    nv: usize,
    m: &mut [T],
) {
    let k = link.v;
    for c in 0..3 {
        let mut e = zero();
        e[c] = T::splat(1.0);
        let (n, f) = (sym_mul(inertia, e), cross(e, h));
        for r in 0..3 {
            m[(k + r) * nv + k + c] = n[r];
            put(m, nv, k + 3 + r, k + c, f[r]);
        }
        m[(k + 3 + c) * nv + k + 3 + c] = mass;
    }
}
