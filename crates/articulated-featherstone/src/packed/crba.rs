//! Composite-rigid-body algorithm for packed trees.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), table 6.2, with the columns in the frame of the root link.
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | `Composite` | mass, first moment, inertia at the origin of a subtree | link |
//! | `Placed` | rotation and origin of a link | root link |
//! | s | joint axis, sign folded in | root link |
//! | F | wrench that moves a subtree along s | root link |
//!
//! # Formula
//! ```text
//! F of a hinge on axis A:  (I column A; e_A × h)        of a slider:  (h × e_A; m e_A), then turned and shifted to the root
//! M_jk = s_jᵀ F_k for all k in the subtree of j, which depth-first order makes one run of memory
//! ```
//! The root's own joint moves the frame along with everything, so neither its coordinates nor a walk along the tree is needed.
//!
//! # Cost
//! O(n depth) with a small constant, no allocation; see bench `articulated/crba`.
//!
//! # Numerics
//! Inertias are summed at the links, near the masses; only columns are carried to the root. Symmetric by construction.
//!
//! # Failure
//! Wrong lengths, numbers that are not finite.
//!
//! # Tested by
//! `soak_packed_agrees_with_general`,
//! `four_lanes_have_the_bits_of_one`.

use super::{
    Kind, Lane, PackedLink, PackedTree, PackedWorkspace, Part, check_numbers, dispatch,
    kernels::{
        V3, add, at, cross, double_angle, rotate, rotate_sym, scale, splat3, splat6, turn, turn_sym, v3, zero,
    },
};
use sim_traits::DynamicsError;

/// Rows of the matrix that are mirrored together: as many numbers as a cache line has.
const BLOCK: usize = 8;

/// Mass, first moment and inertia of a subtree at the link origin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Composite<T> {
    mass: T,
    h: V3<T>,
    inertia: [T; 6],
}

/// Columns of the rotation and origin of a link in the frame of its root.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<T> {
    axes: [V3<T>; 3],
    origin: V3<T>,
}

impl<T: Part> Composite<T> {
    pub(super) fn empty() -> Self {
        Self { mass: T::splat(0.0), h: zero(), inertia: [T::splat(0.0); 6] }
    }

    /// The link joined to what its children hand over.
    #[inline(always)]
    fn joined(&self, link: &PackedLink) -> Self {
        let own = Self { mass: T::splat(link.mass), h: splat3(link.h), inertia: splat6(&link.inertia) };
        if link.leaf { own } else { self.add(&own) }
    }

    /// Moment that a turn about axis A needs.
    #[inline(always)]
    fn axis_column<const A: usize>(&self) -> V3<T> {
        [self.inertia[at(0, A)], self.inertia[at(1, A)], self.inertia[at(2, A)]]
    }

    #[inline(always)]
    fn add(&self, o: &Self) -> Self {
        Self {
            mass: self.mass + o.mass,
            h: add(self.h, o.h),
            inertia: {
                let (a, b) = (&self.inertia, &o.inertia);
                [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]]
            },
        }
    }
}

impl<T: Part> Placed<T> {
    pub(super) fn at_root() -> Self {
        let (o, one) = (T::splat(0.0), T::splat(1.0));
        Self { axes: [[one, o, o], [o, one, o], [o, o, one]], origin: zero() }
    }

    #[inline(always)]
    fn turn(&self, x: V3<T>) -> V3<T> {
        let a = &self.axes;
        v3!(k => a[0][k] * x[0] + a[1][k] * x[1] + a[2][k] * x[2])
    }
}

/// Writes the mass matrix of a packed tree, nv rows of nv numbers; as [`crate::crba`].
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn packed_crba<L: Lane>(
    tree: &PackedTree,
    q: &[L],
    ws: &mut PackedWorkspace<L>,
    m: &mut [L],
) -> Result<(), DynamicsError> {
    if !tree.chain {
        m.fill(L::splat(0.0));
    }
    packed_crba_upper(tree, q, ws, m)?;
    mirror(tree, m);
    Ok(())
}

/// As [`packed_crba`], but only on and above the diagonal, which is all that a Cholesky factorisation reads; what is below is unspecified.
///
/// # Errors
/// Wrong length, a number that is not finite.
pub fn packed_crba_upper<L: Lane>(
    tree: &PackedTree,
    q: &[L],
    ws: &mut PackedWorkspace<L>,
    m: &mut [L],
) -> Result<(), DynamicsError> {
    let nv = tree.v_len;
    ws.check(tree)?;
    check_numbers("coordinates", q, tree.q_len)?;
    crate::algorithm::check_len("mass matrix", m.len(), nv * nv)?;
    for part in 0..L::PARTS {
        ws.place_joints(tree, q, part);
        place(tree, ws);
        collect(tree, ws);
        multiply(tree, ws, part, m);
    }
    Ok(())
}

/// Links in the frame of their root.
#[inline(always)]
fn place<T: Part, L: Lane<Part = T>>(tree: &PackedTree, ws: &mut PackedWorkspace<L>) {
    let joints = ws.sin.iter().zip(&ws.cos);
    for (i, (link, (s, c))) in tree.links.iter().zip(joints).enumerate() {
        let (front, rest) = ws.placed.split_at_mut(i + 1);
        let out = &mut rest[0];
        if link.parent_slot == 0 {
            *out = Placed::at_root();
        } else {
            dispatch!(link, place_link, (), (link, &front[link.parent_slot], (*s, *c), out));
        }
    }
}

#[inline(never)]
fn place_link<T: Part, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    parent: &Placed<T>,
    sc: (T, T),
    out: &mut Placed<T>,
) {
    let (b, c) = ((A + 1) % 3, (A + 2) % 3);
    let mut origin = add(parent.origin, parent.turn(splat3(link.r)));
    let mut axes = if FIX { v3!(k => parent.turn(splat3(link.e[k]))) } else { parent.axes };
    if HINGE {
        let (u, v) = (axes[b], axes[c]);
        axes[b] = v3!(k => sc.1 * u[k] + sc.0 * v[k]);
        axes[c] = v3!(k => sc.1 * v[k] - sc.0 * u[k]);
    } else {
        origin = v3!(k => origin[k] + axes[A][k] * sc.1);
    }
    *out = Placed { axes, origin };
}

/// The six rows of numbers of the columns F.
#[inline(always)]
fn rows<T>(columns: &[T], nv: usize) -> [&[T]; 6] {
    let (a, rest) = columns.split_at(nv);
    let (b, rest) = rest.split_at(nv);
    let (c, rest) = rest.split_at(nv);
    let (d, rest) = rest.split_at(nv);
    let (e, f) = rest.split_at(nv);
    [a, b, c, d, e, f]
}

#[inline(always)]
fn put<T: Part>(columns: &mut [T], nv: usize, k: usize, n: V3<T>, f: V3<T>) {
    // One check for the six places, which are nv apart.
    let columns = &mut columns[k..=k + 5 * nv];
    columns[0] = n[0];
    columns[nv] = n[1];
    columns[2 * nv] = n[2];
    columns[3 * nv] = f[0];
    columns[4 * nv] = f[1];
    columns[5 * nv] = f[2];
}

/// Composite inertias from the leaves inwards, and the columns F.
#[inline(always)]
fn collect<T: Part, L: Lane<Part = T>>(tree: &PackedTree, ws: &mut PackedWorkspace<L>) {
    let nv = tree.v_len;
    let out = &mut ws.columns[..];
    for (i, link) in tree.links.iter().enumerate().rev() {
        let (front, rest) = ws.composite.split_at_mut(i + 1);
        let children = &rest[0];
        if link.kind == Kind::Free {
            let own = children.joined(link);
            let (i6, [x, y, z]) = (&own.inertia, own.h);
            let (o, m) = (T::splat(0.0), own.mass);
            put(out, nv, link.v, [i6[0], i6[3], i6[4]], [o, -z, y]);
            put(out, nv, link.v + 1, [i6[3], i6[1], i6[5]], [z, o, -x]);
            put(out, nv, link.v + 2, [i6[4], i6[5], i6[2]], [-y, x, o]);
            put(out, nv, link.v + 3, [o, z, -y], [m, o, o]);
            put(out, nv, link.v + 4, [-z, o, x], [o, m, o]);
            put(out, nv, link.v + 5, [y, -x, o], [o, o, m]);
            continue;
        }
        let (sc, sum, placed) = ((ws.sin[i], ws.cos[i]), &mut front[link.parent_slot], &ws.placed[i + 1]);
        dispatch!(link, collect_link, (), (link, sc, children, placed, sum, out, nv));
    }
}

/// Column of the joint on axis A, in the frame of the root; and the inertia handed to the parent.
#[inline(never)]
fn collect_link<T: Part, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    sc: (T, T),
    children: &Composite<T>,
    placed: &Placed<T>,
    sum: &mut Composite<T>,
    columns: &mut [T],
    nv: usize,
) {
    let own = children.joined(link);
    let (b, c) = ((A + 1) % 3, (A + 2) % 3);
    let (axes, h) = (&placed.axes, &own.h);
    if link.parent_slot == 0 {
        // The frame of the root is its own: neither turned nor shifted, and nothing to hand over.
        let (mut n, mut f, sign) = (zero(), zero(), T::splat(link.sign));
        if HINGE {
            n = scale(own.axis_column::<A>(), sign);
            (f[b], f[c]) = (-(sign * h[c]), sign * h[b]);
        } else {
            (n[b], n[c]) = (sign * h[c], -(sign * h[b]));
            f[A] = sign * own.mass;
        }
        put(columns, nv, link.v, n, f);
        return;
    }
    // Force e_A × h and moment h × e_A have no component along A.
    let (n, f) = if HINGE {
        (placed.turn(own.axis_column::<A>()), v3!(k => axes[c][k] * h[b] - axes[b][k] * h[c]))
    } else {
        (v3!(k => axes[b][k] * h[c] - axes[c][k] * h[b]), scale(axes[A], own.mass))
    };
    let (n, sign) = (add(n, cross(placed.origin, f)), T::splat(link.sign));
    put(columns, nv, link.v, scale(n, sign), scale(f, sign));
    let moved = move_composite::<T, A, HINGE, FIX>(link, sc, &own);
    *sum = if link.last { moved } else { sum.add(&moved) };
}

/// The rows `s_jᵀ F` over the subtree of each joint.
#[inline(always)]
fn multiply<T: Part, L: Lane<Part = T>>(
    tree: &PackedTree,
    ws: &PackedWorkspace<L>,
    part: usize,
    m: &mut [L],
) {
    let nv = tree.v_len;
    let f = rows(&ws.columns, nv);
    for (link, placed) in tree.links.iter().zip(&ws.placed[1..]) {
        let (j, end) = (link.v, tree.v_ends[link.v] as usize);
        let sign = T::splat(link.sign);
        if link.parent_slot > 0 {
            let w = scale(placed.axes[link.axis as usize], sign);
            let s = match link.kind {
                Kind::Hinge => (w, cross(placed.origin, w)),
                _ => (zero(), w),
            };
            let f =
                [&f[0][j..end], &f[1][j..end], &f[2][j..end], &f[3][j..end], &f[4][j..end], &f[5][j..end]];
            multiply_row(s, f, part, &mut m[j * nv + j..j * nv + end]);
        } else if link.kind == Kind::Free {
            for c in 0..6 {
                let row = m[(j + c) * nv + j + c..(j + c) * nv + end].iter_mut();
                for (out, x) in row.zip(&f[c][j + c..end]) {
                    out.set_part(part, *x);
                }
                m[(j + c) * nv + end..(j + c + 1) * nv].fill(L::splat(0.0));
            }
        } else {
            let c = link.axis as usize + if link.kind == Kind::Hinge { 0 } else { 3 };
            for (out, x) in m[j * nv + j..j * nv + end].iter_mut().zip(&f[c][j..end]) {
                out.set_part(part, *x * sign);
            }
        }
        if link.armature != 0.0 {
            let diagonal = &mut m[j * nv + j];
            diagonal.set_part(part, diagonal.part(part) + T::splat(link.armature));
        }
        if end < nv {
            // Hidden from the compiler, which would call a function for these few numbers.
            m[j * nv + end..(j + 1) * nv].fill(std::hint::black_box(L::splat(0.0)));
        }
    }
}

#[inline(always)]
fn multiply_row<T: Part, L: Lane<Part = T>>(
    (w, v): (V3<T>, V3<T>),
    f: [&[T]; 6],
    part: usize,
    out: &mut [L],
) {
    let n = out.len();
    let [a, b, c, d, e, g] = f;
    let (a, b, c, d, e, g) = (&a[..n], &b[..n], &c[..n], &d[..n], &e[..n], &g[..n]);
    for k in 0..n {
        let x = (w[0] * a[k] + w[1] * b[k] + w[2] * c[k]) + (v[0] * d[k] + v[1] * e[k] + v[2] * g[k]);
        out[k].set_part(part, x);
    }
}

/// Copies the upper half to the lower one, a few rows at a time so that their cache lines are used while they are there.
#[inline(never)]
fn mirror<L: Lane>(tree: &PackedTree, m: &mut [L]) {
    let nv = tree.v_len;
    for first in (0..nv).step_by(BLOCK) {
        let last = (first + BLOCK).min(nv);
        let end = tree.v_ends[first..last].iter().fold(last, |end, e| end.max(*e as usize));
        let (top, bottom) = m.split_at_mut(last * nv);
        let top = &mut top[first * nv..];
        for r in 1..last - first {
            for c in 0..r {
                top[r * nv + first + c] = top[c * nv + first + r];
            }
        }
        if last - first < BLOCK {
            continue;
        }
        let mut rows = top.chunks_exact(nv).map(|row| &row[last..end]);
        let block: [&[L]; BLOCK] = std::array::from_fn(|_| rows.next().unwrap_or_default());
        let [a, b, c, d, e, f, g, h] = block.map(|row| &row[..end - last]);
        for (k, row) in bottom.chunks_exact_mut(nv).take(end - last).enumerate() {
            row[first..last].copy_from_slice(&[a[k], b[k], c[k], d[k], e[k], f[k], g[k], h[k]]);
        }
    }
}

/// Composite inertia in the parent's axes at the parent's origin.
#[inline(always)]
fn move_composite<T: Part, const A: usize, const HINGE: bool, const FIX: bool>(
    link: &PackedLink,
    sc: (T, T),
    own: &Composite<T>,
) -> Composite<T> {
    let mut out = *own;
    if HINGE {
        out.inertia = turn_sym::<T, A>(sc, double_angle(sc), &out.inertia);
        out.h = turn::<T, A>(sc, out.h);
    } else {
        let mut along = zero();
        along[A] = sc.1;
        out = shift_composite(&out, along);
    }
    if FIX {
        out.inertia = rotate_sym(&link.e, &out.inertia);
        out.h = rotate(&link.e, out.h);
    }
    shift_composite(&out, splat3(link.r))
}

/// Inertia and first moment at the point −r.
#[inline(always)]
fn shift_composite<T: Part>(own: &Composite<T>, r: V3<T>) -> Composite<T> {
    // I + 2 (r·h) 1 − r hᵀ − h rᵀ + m (r² 1 − r rᵀ) = I + (k·r) 1 − sym(k rᵀ) with k = 2 h + m r.
    let (two, half) = (T::splat(2.0), T::splat(0.5));
    let k: V3<T> = v3!(i => two * own.h[i] + own.mass * r[i]);
    let d: V3<T> = v3!(i => k[i] * r[i]);
    let off = |a: usize, b: usize| half * (k[a] * r[b] + k[b] * r[a]);
    let mut inertia = own.inertia;
    inertia[0] += d[1] + d[2];
    inertia[1] += d[0] + d[2];
    inertia[2] += d[0] + d[1];
    inertia[at(0, 1)] -= off(0, 1);
    inertia[at(0, 2)] -= off(0, 2);
    inertia[at(1, 2)] -= off(1, 2);
    Composite { mass: own.mass, h: v3!(i => own.h[i] + own.mass * r[i]), inertia }
}
