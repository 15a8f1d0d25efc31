//! Articulated-body algorithm for packed trees.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), table 7.1, split as in 6.1: bias forces first, then M q̈ = τ − bias.
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | `kin` | velocity, and acceleration at q̈ = 0 with gravity | link |
//! | `n`, `f` | bias wrench, moment and force | link |
//! | `art` | articulated inertia before the joint is taken out | link |
//! | δa | acceleration due to q̈ alone | link |
//!
//! # Formula
//! ```text
//! hinge on axis A:  U = (J column A; H row A),  D = J_AA,  u = τ − n_A;  after the update row A of J and H is zero: 15 numbers are turned
//! slider on axis A: U = (H column A; M column A),  D = M_AA,  u = τ − f_A
//! free root:        Schur complement of the 3x3 block M
//! ```
//! Bias forces are those of RNEA at q̈ = 0, so Iᴬ c never appears.
//!
//! # Cost
//! O(n), no allocation; see bench `articulated/aba`.
//!
//! # Numerics
//! As [`crate::aba`]; it agrees with it to rounding, not bit for bit. Lanes agree with the single run bit for bit.
//!
//! # Failure
//! Wrong lengths, numbers that are not finite, `Singular` with the link.
//!
//! # Tested by
//! `soak_packed_agrees_with_general`,
//! `four_lanes_have_the_bits_of_one`.

use super::{
    Eliminated, Kin, Kind, Lane, PackedLink, PackedTree, PackedWorkspace, Part, body_force, check_numbers,
    check_wrenches, dispatch, forward, forward_free,
    kernels::{Articulated, V3, add, at, dot, scale, splat3, sym_inverse, sym_mul, v3, zero},
    to_link, to_parent,
};
use crate::BaseMotion;
use sim_traits::{DynamicsError, PartId};

/// Joint accelerations of a packed tree into `qdd`; order, units and frames of all numbers as in [`crate::aba`].
/// `wrenches` act on the links, moment first, or are empty.
///
/// # Errors
/// Wrong length, a number that is not finite, [`DynamicsError::Singular`] naming the link.
pub fn packed_aba<L: Lane>(
    tree: &PackedTree,
    base: &BaseMotion,
    q: &[L],
    v: &[L],
    tau: &[L],
    wrenches: &[[L; 6]],
    ws: &mut PackedWorkspace<L>,
    qdd: &mut [L],
) -> Result<(), DynamicsError> {
    ws.check(tree)?;
    check_numbers("coordinates", q, tree.q_len)?;
    check_numbers("velocities", v, tree.v_len)?;
    check_numbers("joint forces", tau, tree.v_len)?;
    check_wrenches(tree, wrenches)?;
    crate::algorithm::check_len("joint accelerations", qdd.len(), tree.v_len)?;
    for part in 0..L::PARTS {
        run(tree, base, (q, v, tau), wrenches, part, ws, qdd)?;
    }
    check_numbers("joint accelerations", qdd, tree.v_len)
}

#[inline(always)]
fn run<T: Part, L: Lane<Part = T>>(
    tree: &PackedTree,
    base: &BaseMotion,
    (q, v, tau): (&[L], &[L], &[L]),
    wrenches: &[[L; 6]],
    part: usize,
    ws: &mut PackedWorkspace<L>,
    qdd: &mut [L],
) -> Result<(), DynamicsError> {
    ws.place_joints(tree, q, part);
    let ground = ws.place_base(tree, base);
    for (i, link) in tree.links.iter().enumerate() {
        let (front, rest) = ws.kin.split_at_mut(i + 1);
        let (parent, out) = (&front[link.parent_slot], &mut rest[0]);
        let wrench = &mut ws.wrench[i + 1];
        if link.kind == Kind::Free {
            *out = forward_free(
                link,
                &ground,
                std::array::from_fn(|k| q[link.q + k].part(part)),
                std::array::from_fn(|k| v[link.v + k].part(part)),
                [T::splat(0.0); 6],
            );
            *wrench = body_force(link, out);
        } else {
            let (sc, qd) = ((ws.sin[i], ws.cos[i]), v[link.v].part(part) * T::splat(link.sign));
            dispatch!(link, start, (), (link, parent, sc, qd, out, wrench));
        }
    }
    if !wrenches.is_empty() {
        ws.take_wrenches(tree, wrenches, part);
    }
    for (i, link) in tree.links.iter().enumerate().rev() {
        let (front, rest) = ws.wrench.split_at_mut(i + 1);
        let (own, parent) = (rest[0], &mut front[link.parent_slot]);
        let (sums, rest) = ws.art.split_at_mut(i + 1);
        let children = &rest[0];
        let pivot = if link.kind == Kind::Free {
            let tau = std::array::from_fn(|k| tau[link.v + k].part(part));
            let ((w, v), good) = solve_free(tau, own, &joined(link, children));
            for k in 0..3 {
                qdd[link.v + k].set_part(part, w[k]);
                qdd[link.v + 3 + k].set_part(part, v[k]);
            }
            ws.delta[i + 1] = (w, v);
            T::splat(if good { 1.0 } else { 0.0 })
        } else {
            let sc = (ws.sin[i], ws.cos[i]);
            let tau = tau[link.v].part(part) * T::splat(link.sign);
            let (sum, out) = (&mut sums[link.parent_slot], &mut ws.eliminated[i]);
            dispatch!(link, eliminate, T::splat(0.0), (link, sc, tau, own, children, parent, sum, out))
        };
        if !pivot.all_positive() {
            return Err(DynamicsError::Singular { part: PartId(i as u32), pivot: pivot.first() });
        }
    }
    for (i, link) in tree.links.iter().enumerate() {
        if link.kind == Kind::Free {
            continue;
        }
        let (front, rest) = ws.delta.split_at_mut(i + 1);
        let (parent, out) = (&front[link.parent_slot], &mut rest[0]);
        let sc = (ws.sin[i], ws.cos[i]);
        let a = dispatch!(link, finish, T::splat(0.0), (link, sc, parent, &ws.eliminated[i], out));
        qdd[link.v].set_part(part, a * T::splat(link.sign));
    }
    Ok(())
}

#[inline(never)]
fn start<T: Part, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    parent: &Kin<T>,
    sc: (T, T),
    qd: T,
    out: &mut Kin<T>,
    wrench: &mut (V3<T>, V3<T>),
) {
    let kin = forward::<T, A, HINGE, FIX>(link, parent, sc, qd, T::splat(0.0));
    *wrench = body_force(link, &kin);
    *out = kin;
}

/// U of the joint: moment and force.
#[inline(always)]
fn u_column<T: Part, const A: usize, const HINGE: bool>(art: &Articulated<T>) -> (V3<T>, V3<T>) {
    if HINGE {
        ([art.j[at(0, A)], art.j[at(1, A)], art.j[at(2, A)]], art.h[A])
    } else {
        ([art.h[0][A], art.h[1][A], art.h[2][A]], [art.m[at(0, A)], art.m[at(1, A)], art.m[at(2, A)]])
    }
}

/// The link joined to what its children leave to it. Its constants are added here and not in the first pass, and in registers: what is not
/// stored need not be loaded.
#[inline(always)]
fn joined<T: Part>(link: &PackedLink, children: &Articulated<T>) -> Articulated<T> {
    if link.leaf {
        Articulated::from_rigid(link.mass, link.h, &link.inertia)
    } else {
        children.with_rigid(link.mass, link.h, &link.inertia)
    }
}

/// Hands what is left of the link to its parent; returns D, which is positive unless the joint moves nothing.
#[inline(never)]
fn eliminate<T: Part, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    sc: (T, T),
    tau: T,
    (n, f): (V3<T>, V3<T>),
    children: &Articulated<T>,
    parent: &mut (V3<T>, V3<T>),
    sum: &mut Articulated<T>,
    out: &mut Eliminated<T>,
) -> T {
    let art = joined(link, children);
    let (un, uf) = u_column::<T, A, HINGE>(&art);
    let d = if HINGE { un[A] } else { uf[A] } + T::splat(link.armature);
    let d_inv = T::splat(1.0) / d;
    let u = tau - if HINGE { n[A] } else { f[A] };
    *out = Eliminated { un, uf, d_inv, u };
    if link.parent_slot > 0 {
        let step = u * d_inv;
        let n: V3<T> = v3!(k => n[k] + un[k] * step);
        let f: V3<T> = v3!(k => f[k] + uf[k] * step);
        let (n, f) = to_parent::<T, A, HINGE, FIX>(link, sc, n, f);
        parent.0 = add(parent.0, n);
        parent.1 = add(parent.1, f);
        let rest = if HINGE && link.armature == 0.0 {
            art.without_hinge::<A>(d_inv, sc)
        } else if HINGE {
            art.without_geared_hinge::<A>(d_inv, sc)
        } else {
            let mut along = zero();
            along[A] = sc.1;
            art.without_slider::<A>(d_inv).shift(along)
        };
        let rest = if FIX { rest.rotate(&link.e) } else { rest };
        let rest = rest.shift(splat3(link.r));
        if link.last {
            *sum = rest;
        } else {
            sum.add_assign(&rest);
        }
    }
    d
}

/// The root: I a = τ − p by the Schur complement. Returns its accelerations, and false if I is not positive.
#[inline(never)]
fn solve_free<T: Part>(tau: [T; 6], (n, f): (V3<T>, V3<T>), art: &Articulated<T>) -> ((V3<T>, V3<T>), bool) {
    let n: V3<T> = v3!(k => tau[k] - n[k]);
    let f: V3<T> = v3!(k => tau[k + 3] - f[k]);
    let (inv, linear_good) = sym_inverse(&art.m);
    // Rows of H M⁻¹.
    let hm = v3!(r => sym_mul(&inv, art.h[r]));
    let h = &art.h;
    let schur = [
        art.j[0] - dot(hm[0], h[0]),
        art.j[1] - dot(hm[1], h[1]),
        art.j[2] - dot(hm[2], h[2]),
        art.j[3] - dot(hm[0], h[1]),
        art.j[4] - dot(hm[0], h[2]),
        art.j[5] - dot(hm[1], h[2]),
    ];
    let (schur_inv, angular_good) = sym_inverse(&schur);
    let right: V3<T> = v3!(r => n[r] - dot(hm[r], f));
    let w = sym_mul(&schur_inv, right);
    let rest: V3<T> = v3!(c => f[c] - (h[0][c] * w[0] + h[1][c] * w[1] + h[2][c] * w[2]));
    ((w, sym_mul(&inv, rest)), linear_good && angular_good)
}

#[inline(never)]
fn finish<T: Part, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    sc: (T, T),
    parent: &(V3<T>, V3<T>),
    own: &Eliminated<T>,
    out: &mut (V3<T>, V3<T>),
) -> T {
    let mut residual = own.u;
    let (mut w, mut v) = (zero(), zero());
    if link.parent_slot > 0 {
        (w, v) = to_link::<T, A, HINGE, FIX>(link, sc, parent.0, parent.1);
        let (un, uf) = (own.un, own.uf);
        residual -=
            (un[0] * w[0] + un[1] * w[1] + un[2] * w[2]) + (uf[0] * v[0] + uf[1] * v[1] + uf[2] * v[2]);
    }
    let a = residual * own.d_inv;
    if HINGE {
        w[A] += a;
    } else {
        v[A] += a;
    }
    *out = (w, v);
    a
}

impl<T: Part> Articulated<T> {
    /// As `without_hinge` for a joint with rotor inertia, where row A does not vanish.
    #[inline(never)]
    fn without_geared_hinge<const A: usize>(&self, d_inv: T, sc: (T, T)) -> Self {
        let (un, uf) = u_column::<T, A, true>(self);
        let (sn, sf) = (scale(un, d_inv), scale(uf, d_inv));
        let mut out = *self;
        for r in 0..3 {
            for c in 0..3 {
                out.h[r][c] -= sn[r] * uf[c];
            }
            for c in r..3 {
                out.j[at(r, c)] -= sn[r] * un[c];
                out.m[at(r, c)] -= sf[r] * uf[c];
            }
        }
        let d = super::kernels::double_angle(sc);
        let turned = v3!(r => super::kernels::turn::<T, A>(sc, out.h[r]));
        let mut h = [zero(); 3];
        for k in 0..3 {
            let column = super::kernels::turn::<T, A>(sc, [turned[0][k], turned[1][k], turned[2][k]]);
            for r in 0..3 {
                h[r][k] = column[r];
            }
        }
        Self {
            j: super::kernels::turn_sym::<T, A>(sc, d, &out.j),
            h,
            m: super::kernels::turn_sym::<T, A>(sc, d, &out.m),
        }
    }
}
