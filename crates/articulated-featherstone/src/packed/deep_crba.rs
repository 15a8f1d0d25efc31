//! Composite-rigid-body algorithm in the base frame, for deep packed trees.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), 6.2; all columns in one frame as in 5.3's base-coordinate variant.
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | `axes` s | joint axes, sign folded in | base |
//! | `art.j`, `n`, `u` | composite inertia, first moment, mass | base |
//!
//! # Formula
//! ```text
//! F_k = Iᶜ_k s_k,      M_jk = s_jᵀ F_k: six multiplications for each entry, nothing is moved from link to link
//! ```
//! # Cost
//! O(n depth) with a small constant, no allocation.
//!
//! # Numerics
//! Inertias about the base origin: digits are lost with the square of the distance, as in every base-frame method.
//!
//! # Failure
//! None of its own.
//!
//! # Tested by
//! `packed_agrees_with_general`.

use super::{
    Kind, Lane, PackedTree, PackedWorkspace,
    crba::{free_block, put, shift_composite},
    free_rotation,
    kernels::{V3, add, cross, rotate, sym_mul},
};

/// Fills the cleared matrix `m`.
pub(super) fn fill<T: Lane>(tree: &PackedTree, q: &[T], ws: &mut PackedWorkspace<T>, m: &mut [T]) {
    place(tree, q, ws);
    let nv = tree.v_len;
    for (i, link) in tree.links.iter().enumerate().rev() {
        let own = &ws.work[i + 1];
        let (inertia, h, mass) = (own.art.j, own.n, own.u);
        if link.kind == Kind::Free {
            // The block of the root is wanted in its own axes at its own origin.
            let back = |x: V3<T>| own.free.map(|c| c[0] * x[0] + c[1] * x[1] + c[2] * x[2]);
            let (j, h) = shift_composite(&inertia, h, mass, own.kin.ac.map(|x| -x));
            let j = congruence(&transposed(&own.free), &j);
            free_block(link, &j, back(h), mass, nv, m);
            continue;
        }
        if link.parent_slot > 0 {
            let parent = &mut ws.work[link.parent_slot];
            for k in 0..6 {
                parent.art.j[k] += inertia[k];
            }
            parent.n = add(parent.n, h);
            parent.u += mass;
        }
        let s = ws.axes[i + 1];
        let (w, v) = ([s[0], s[1], s[2]], [s[3], s[4], s[5]]);
        let (hv, hw) = (cross(h, v), cross(h, w));
        let n = add(sym_mul(&inertia, w), hv);
        let f: V3<T> = std::array::from_fn(|k| mass * v[k] - hw[k]);
        let dot = |s: &[T; 6]| {
            (s[0] * n[0] + s[1] * n[1] + s[2] * n[2]) + (s[3] * f[0] + s[4] * f[1] + s[5] * f[2])
        };
        let k = link.v;
        m[k * nv + k] = dot(&s) + T::splat(link.armature);
        let mut slot = link.parent_slot;
        while slot > 0 {
            let [next, j] = tree.walk[slot];
            if j == u32::MAX {
                let root = &ws.work[slot];
                let back = |x: V3<T>| root.free.map(|c| c[0] * x[0] + c[1] * x[1] + c[2] * x[2]);
                let arm = cross(root.kin.ac, f);
                let (n, f) = (back(std::array::from_fn(|k| n[k] - arm[k])), back(f));
                let j = tree.links[slot - 1].v;
                for r in 0..3 {
                    put(m, nv, j + r, k, n[r]);
                    put(m, nv, j + 3 + r, k, f[r]);
                }
            } else {
                put(m, nv, j as usize, k, dot(&ws.axes[slot]));
            }
            slot = next as usize;
        }
    }
}

/// Writes rotation and origin of every link, its inertia and its joint axis in the base frame.
fn place<T: Lane>(tree: &PackedTree, q: &[T], ws: &mut PackedWorkspace<T>) {
    let (o, one) = (T::splat(0.0), T::splat(1.0));
    ws.work[0].free = [[one, o, o], [o, one, o], [o, o, one]];
    ws.work[0].kin.ac = [o; 3];
    for (i, link) in tree.links.iter().enumerate() {
        let parent = &ws.work[link.parent_slot];
        let (turn, origin) = (parent.free, parent.kin.ac);
        let in_base = |x: V3<T>| -> V3<T> {
            std::array::from_fn(|k| turn[0][k] * x[0] + turn[1][k] * x[1] + turn[2][k] * x[2])
        };
        let mut p = add(origin, in_base(link.r.map(T::splat)));
        let mut axes = turn;
        if link.turned {
            axes = link.e.map(|column| in_base(column.map(T::splat)));
        }
        let a = link.axis as usize;
        let x = q[link.q] * T::splat(link.sign);
        match link.kind {
            Kind::Hinge => {
                let (s, c) = x.sin_cos();
                let (b, d) = ((a + 1) % 3, (a + 2) % 3);
                let (u, v) = (axes[b], axes[d]);
                axes[b] = std::array::from_fn(|k| c * u[k] + s * v[k]);
                axes[d] = std::array::from_fn(|k| c * v[k] - s * u[k]);
            }
            Kind::Slider => p = std::array::from_fn(|k| p[k] + axes[a][k] * x),
            Kind::Free => {
                axes = free_rotation(link, q);
                let shift = rotate(&link.e, [q[link.q], q[link.q + 1], q[link.q + 2]]);
                p = add(link.r.map(T::splat), shift);
            }
        }
        let sign = T::splat(link.sign);
        let axis = axes[a].map(|x| x * sign);
        ws.axes[i + 1] = match link.kind {
            Kind::Hinge => {
                let v = cross(p, axis);
                [axis[0], axis[1], axis[2], v[0], v[1], v[2]]
            }
            _ => [o, o, o, axis[0], axis[1], axis[2]],
        };
        let out = &mut ws.work[i + 1];
        let (h, mass) = (link.h.map(T::splat), T::splat(link.mass));
        let h = std::array::from_fn(|k| axes[0][k] * h[0] + axes[1][k] * h[1] + axes[2][k] * h[2]);
        let j = congruence(&axes, &link.inertia.map(T::splat));
        (out.art.j, out.n) = shift_composite(&j, h, mass, p);
        out.u = mass;
        out.free = axes;
        out.kin.ac = p;
    }
}

fn transposed<T: Lane>(r: &[V3<T>; 3]) -> [V3<T>; 3] {
    std::array::from_fn(|i| [r[0][i], r[1][i], r[2][i]])
}

/// R S Rᵀ for R given by columns.
#[inline(always)]
fn congruence<T: Lane>(r: &[V3<T>; 3], s: &[T; 6]) -> [T; 6] {
    let rows = transposed(r);
    // Columns of S Rᵀ are S times the rows of R.
    let half = rows.map(|row| sym_mul(s, row));
    let dot = |a: &V3<T>, b: &V3<T>| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    [
        dot(&rows[0], &half[0]),
        dot(&rows[1], &half[1]),
        dot(&rows[2], &half[2]),
        dot(&rows[0], &half[1]),
        dot(&rows[0], &half[2]),
        dot(&rows[1], &half[2]),
    ]
}
