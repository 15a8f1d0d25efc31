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
//! `packed_agrees_with_general`,
//! `four_lanes_have_the_bits_of_one`.

use super::{
    BaseKin, Kin, Kind, Lane, PackedLink, PackedTree, PackedWorkspace, Work, body_force, check_numbers,
    dispatch, forward, forward_free, free_rotation,
    kernels::{Articulated, V3, add, at, sym_inverse, sym_mul, zero},
    place_base, to_link, to_parent,
};
use crate::BaseMotion;
use sim_traits::{DynamicsError, PartId};

/// Joint accelerations of a packed tree into `qdd`; order and units of all numbers as in [`crate::aba`].
///
/// # Errors
/// Wrong length, a number that is not finite, [`DynamicsError::Singular`] naming the link.
pub fn packed_aba<T: Lane>(
    tree: &PackedTree,
    base: &BaseMotion,
    q: &[T],
    v: &[T],
    tau: &[T],
    ws: &mut PackedWorkspace<T>,
    qdd: &mut [T],
) -> Result<(), DynamicsError> {
    ws.check(tree)?;
    check_numbers("coordinates", q, tree.q_len)?;
    check_numbers("velocities", v, tree.v_len)?;
    check_numbers("joint forces", tau, tree.v_len)?;
    let ground = place_base(tree, base, ws);
    let work = &mut ws.work[..];
    for (i, link) in tree.links.iter().enumerate() {
        let parent = work[link.parent_slot].kin;
        let out = &mut work[i + 1];
        let sign = T::splat(link.sign);
        dispatch!(
            link,
            start,
            start_free(link, &ground, q, v, out),
            (link, &parent, q[link.q] * sign, v[link.v] * sign, out)
        );
    }
    for (i, link) in tree.links.iter().enumerate().rev() {
        let (front, rest) = work.split_at_mut(i + 1);
        let (own, parent) = (&mut rest[0], &mut front[link.parent_slot]);
        let good = dispatch!(
            link,
            eliminate,
            solve_free(link, tau, own, qdd),
            (link, tau[link.v] * T::splat(link.sign), own, parent)
        );
        if !good {
            let pivot = own.art.j[at(link.axis as usize, link.axis as usize)].lane(0);
            return Err(DynamicsError::Singular { part: PartId(i as u32), pivot });
        }
    }
    for (i, link) in tree.links.iter().enumerate() {
        let (w, v) = if link.parent_slot == 0 {
            (zero(), zero())
        } else {
            let p = &work[link.parent_slot].kin;
            (p.aw, p.ac)
        };
        let out = &mut work[i + 1];
        dispatch!(link, finish, (), (link, w, v, out, &mut qdd[link.v]));
    }
    check_numbers("joint accelerations", qdd, tree.v_len)
}

#[inline(always)]
fn start<T: Lane, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    parent: &Kin<T>,
    q: T,
    qd: T,
    out: &mut Work<T>,
) {
    let sc = if HINGE { q.sin_cos() } else { (T::splat(0.0), q) };
    let kin = forward::<T, A, HINGE, FIX>(link, parent, sc, qd, T::splat(0.0));
    (out.n, out.f) = body_force(link, &kin);
    out.kin = kin;
    out.sc = sc;
    out.art = Articulated::from_rigid(link.mass, link.h, &link.inertia);
}

#[inline(always)]
fn start_free<T: Lane>(link: &PackedLink, base: &BaseKin<T>, q: &[T], v: &[T], out: &mut Work<T>) {
    out.free = free_rotation(link, q);
    out.kin = forward_free(link, base, &out.free, q, v, [T::splat(0.0); 6]);
    (out.n, out.f) = body_force(link, &out.kin);
    out.art = Articulated::from_rigid(link.mass, link.h, &link.inertia);
}

/// U of the joint: moment and force.
#[inline(always)]
fn u_column<T: Lane, const A: usize, const HINGE: bool>(art: &Articulated<T>) -> (V3<T>, V3<T>) {
    if HINGE {
        ([art.j[at(0, A)], art.j[at(1, A)], art.j[at(2, A)]], art.h[A])
    } else {
        ([art.h[0][A], art.h[1][A], art.h[2][A]], [art.m[at(0, A)], art.m[at(1, A)], art.m[at(2, A)]])
    }
}

#[inline(always)]
fn eliminate<T: Lane, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    tau: T,
    own: &mut Work<T>,
    parent: &mut Work<T>,
) -> bool {
    let (un, uf) = u_column::<T, A, HINGE>(&own.art);
    let pivot = if HINGE { un[A] } else { uf[A] };
    let d = pivot + T::splat(link.armature);
    let d_inv = T::splat(1.0) / d;
    let u = tau - if HINGE { own.n[A] } else { own.f[A] };
    own.d_inv = d_inv;
    own.u = u;
    if link.parent_slot > 0 {
        let step = u * d_inv;
        let n: V3<T> = std::array::from_fn(|k| own.n[k] + un[k] * step);
        let f: V3<T> = std::array::from_fn(|k| own.f[k] + uf[k] * step);
        let (n, f) = to_parent::<T, A, HINGE, FIX>(link, own.sc, n, f);
        parent.n = add(parent.n, n);
        parent.f = add(parent.f, f);
        let rest = if HINGE && link.armature == 0.0 {
            own.art.without_hinge::<A>(d_inv, own.sc)
        } else if HINGE {
            own.art.without_geared_hinge::<A>(d_inv, own.sc)
        } else {
            let mut along = zero();
            along[A] = own.sc.1;
            own.art.without_slider::<A>(d_inv).shift(along)
        };
        let rest = if FIX { rest.rotate(&link.e) } else { rest };
        parent.art.add_assign(&rest.shift(link.r.map(T::splat)));
    }
    d.all_positive()
}

/// The root: I a = τ − p by the Schur complement. Writes the accelerations.
#[inline(always)]
fn solve_free<T: Lane>(link: &PackedLink, tau: &[T], own: &mut Work<T>, qdd: &mut [T]) -> bool {
    let tau = &tau[link.v..link.v + 6];
    let n: V3<T> = std::array::from_fn(|k| tau[k] - own.n[k]);
    let f: V3<T> = std::array::from_fn(|k| tau[k + 3] - own.f[k]);
    let art = &own.art;
    let (inv, linear_good) = sym_inverse(&art.m);
    // Rows of H M⁻¹.
    let hm = art.h.map(|row| sym_mul(&inv, row));
    let dot = |a: V3<T>, b: V3<T>| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
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
    let right: V3<T> = std::array::from_fn(|r| n[r] - dot(hm[r], f));
    let w = sym_mul(&schur_inv, right);
    let rest: V3<T> = std::array::from_fn(|c| f[c] - (h[0][c] * w[0] + h[1][c] * w[1] + h[2][c] * w[2]));
    let v = sym_mul(&inv, rest);
    qdd[link.v..link.v + 3].copy_from_slice(&w);
    qdd[link.v + 3..link.v + 6].copy_from_slice(&v);
    own.kin.aw = w;
    own.kin.ac = v;
    linear_good && angular_good
}

#[inline(always)]
fn finish<T: Lane, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    w: V3<T>,
    v: V3<T>,
    out: &mut Work<T>,
    qdd: &mut T,
) {
    let mut residual = out.u;
    let (mut w, mut v) = (w, v);
    if link.parent_slot > 0 {
        (w, v) = to_link::<T, A, HINGE, FIX>(link, out.sc, w, v);
        let (un, uf) = u_column::<T, A, HINGE>(&out.art);
        residual -=
            (un[0] * w[0] + un[1] * w[1] + un[2] * w[2]) + (uf[0] * v[0] + uf[1] * v[1] + uf[2] * v[2]);
    }
    let a = residual * out.d_inv;
    *qdd = a * T::splat(link.sign);
    if HINGE {
        w[A] += a;
    } else {
        v[A] += a;
    }
    out.kin.aw = w;
    out.kin.ac = v;
}

impl<T: Lane> Articulated<T> {
    /// As `without_hinge` for a joint with rotor inertia, where row A does not vanish.
    #[inline(never)]
    fn without_geared_hinge<const A: usize>(&self, d_inv: T, sc: (T, T)) -> Self {
        let (un, uf) = u_column::<T, A, true>(self);
        let (sn, sf) = (un.map(|x| x * d_inv), uf.map(|x| x * d_inv));
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
        let turned = out.h.map(|row| super::kernels::turn::<T, A>(sc, row));
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
