//! Vectors, rotations about coordinate axes and inertias in plain arrays, for the packed algorithms.
//!
//! `A` is the axis of a joint (0, 1, 2 for x, y, z); B and C follow it cyclically. A symmetric 3x3 is six numbers xx, yy, zz, xy, xz, yz.

use super::lane::Part;

pub(super) type V3<T> = [T; 3];

/// The three values of an expression in an index. `std::array::from_fn` and `map` say the same, but leave calls in large kernels.
macro_rules! v3 {
    ($i:ident => $value:expr) => {{
        [
            {
                let $i = 0;
                $value
            },
            {
                let $i = 1;
                $value
            },
            {
                let $i = 2;
                $value
            },
        ]
    }};
}
pub(super) use v3;

#[inline(always)]
pub(super) fn splat3<T: Part>(x: [f64; 3]) -> V3<T> {
    [T::splat(x[0]), T::splat(x[1]), T::splat(x[2])]
}

#[inline(always)]
pub(super) fn splat6<T: Part>(x: &[f64; 6]) -> [T; 6] {
    [T::splat(x[0]), T::splat(x[1]), T::splat(x[2]), T::splat(x[3]), T::splat(x[4]), T::splat(x[5])]
}

#[inline(always)]
pub(super) fn scale<T: Part>(v: V3<T>, s: T) -> V3<T> {
    [v[0] * s, v[1] * s, v[2] * s]
}

#[inline(always)]
pub(super) fn dot<T: Part>(a: V3<T>, b: V3<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn zero<T: Part>() -> V3<T> {
    [T::splat(0.0); 3]
}

#[inline(always)]
pub(super) fn add<T: Part>(a: V3<T>, b: V3<T>) -> V3<T> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(super) fn sub<T: Part>(a: V3<T>, b: V3<T>) -> V3<T> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(super) fn cross<T: Part>(a: V3<T>, b: V3<T>) -> V3<T> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Cross product with a constant vector.
#[inline(always)]
pub(super) fn cross_const<T: Part>(r: [f64; 3], b: V3<T>) -> V3<T> {
    cross([T::splat(r[0]), T::splat(r[1]), T::splat(r[2])], b)
}

/// Place of entry (i, j) of a symmetric 3x3.
pub(super) const fn at(i: usize, j: usize) -> usize {
    if i == j { i } else { i + j + 2 }
}

#[inline(always)]
pub(super) fn sym_mul<T: Part>(s: &[T; 6], v: V3<T>) -> V3<T> {
    [
        s[0] * v[0] + s[3] * v[1] + s[4] * v[2],
        s[3] * v[0] + s[1] * v[1] + s[5] * v[2],
        s[4] * v[0] + s[5] * v[1] + s[2] * v[2],
    ]
}

/// Constant rotation (columns) times vector.
#[inline(always)]
pub(super) fn rotate<T: Part>(e: &[[f64; 3]; 3], v: V3<T>) -> V3<T> {
    v3!(r => T::splat(e[0][r]) * v[0] + T::splat(e[1][r]) * v[1] + T::splat(e[2][r]) * v[2])
}

/// Transposed constant rotation (columns) times vector.
#[inline(always)]
pub(super) fn rotate_back<T: Part>(e: &[[f64; 3]; 3], v: V3<T>) -> V3<T> {
    v3!(c => T::splat(e[c][0]) * v[0] + T::splat(e[c][1]) * v[1] + T::splat(e[c][2]) * v[2])
}

/// Turns a vector from link axes to joint axes: by the joint angle about axis A.
#[inline(always)]
pub(super) fn turn<T: Part, const A: usize>(sc: (T, T), v: V3<T>) -> V3<T> {
    let (b, c) = ((A + 1) % 3, (A + 2) % 3);
    let mut out = v;
    out[b] = sc.1 * v[b] - sc.0 * v[c];
    out[c] = sc.0 * v[b] + sc.1 * v[c];
    out
}

/// Turns a vector from joint axes to link axes.
#[inline(always)]
pub(super) fn turn_back<T: Part, const A: usize>(sc: (T, T), v: V3<T>) -> V3<T> {
    let (b, c) = ((A + 1) % 3, (A + 2) % 3);
    let mut out = v;
    out[b] = sc.1 * v[b] + sc.0 * v[c];
    out[c] = sc.1 * v[c] - sc.0 * v[b];
    out
}

/// Products of sine and cosine that turn a symmetric block: s², s c, c² − s².
#[inline(always)]
pub(super) fn double_angle<T: Part>(sc: (T, T)) -> (T, T, T) {
    let (s2, cs) = (sc.0 * sc.0, sc.0 * sc.1);
    (s2, cs, sc.1 * sc.1 - s2)
}

/// Turns a symmetric 3x3 from link axes to joint axes.
#[inline(always)]
pub(super) fn turn_sym<T: Part, const A: usize>(sc: (T, T), d: (T, T, T), m: &[T; 6]) -> [T; 6] {
    let (b, c) = ((A + 1) % 3, (A + 2) % 3);
    let (s2, cs, c2) = d;
    let mut out = *m;
    let apart = m[at(b, b)] - m[at(c, c)];
    let moved = s2 * apart + (cs + cs) * m[at(b, c)];
    out[at(b, b)] = m[at(b, b)] - moved;
    out[at(c, c)] = m[at(c, c)] + moved;
    out[at(b, c)] = cs * apart + c2 * m[at(b, c)];
    out[at(A, b)] = sc.1 * m[at(A, b)] - sc.0 * m[at(A, c)];
    out[at(A, c)] = sc.0 * m[at(A, b)] + sc.1 * m[at(A, c)];
    out
}

/// Constant rotation of a symmetric 3x3: E M Eᵀ.
#[inline(always)]
pub(super) fn rotate_sym<T: Part>(e: &[[f64; 3]; 3], m: &[T; 6]) -> [T; 6] {
    let full = [[m[0], m[3], m[4]], [m[3], m[1], m[5]], [m[4], m[5], m[2]]];
    // Rows of M Eᵀ from rows of M, then columns.
    let right = v3!(r => rotate(e, full[r]));
    let columns: [V3<T>; 3] = v3!(c => rotate(e, [right[0][c], right[1][c], right[2][c]]));
    [columns[0][0], columns[1][1], columns[2][2], columns[1][0], columns[2][0], columns[2][1]]
}

/// Constant rotation of a 3x3 given by rows: E H Eᵀ.
#[inline(always)]
pub(super) fn rotate_mat<T: Part>(e: &[[f64; 3]; 3], h: &[V3<T>; 3]) -> [V3<T>; 3] {
    let right = v3!(r => rotate(e, h[r]));
    let columns: [V3<T>; 3] = v3!(c => rotate(e, [right[0][c], right[1][c], right[2][c]]));
    v3!(r => [columns[0][r], columns[1][r], columns[2][r]])
}

/// Articulated inertia [J H; Hᵀ M], H by rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Articulated<T> {
    pub(super) j: [T; 6],
    pub(super) h: [V3<T>; 3],
    pub(super) m: [T; 6],
}

impl<T: Part> Articulated<T> {
    #[inline(always)]
    pub(super) fn from_rigid(mass: f64, h: [f64; 3], inertia: &[f64; 6]) -> Self {
        let (o, m) = (T::splat(0.0), T::splat(mass));
        let [x, y, z]: V3<T> = splat3(h);
        Self { j: splat6(inertia), h: [[o, -z, y], [z, o, -x], [-y, x, o]], m: [m, m, m, o, o, o] }
    }

    /// The same with a rigid body joined to it.
    #[inline(always)]
    pub(super) fn with_rigid(&self, mass: f64, h: [f64; 3], inertia: &[f64; 6]) -> Self {
        let m = T::splat(mass);
        let [x, y, z]: V3<T> = splat3(h);
        let mut out = *self;
        for k in 0..6 {
            out.j[k] += T::splat(inertia[k]);
        }
        for k in 0..3 {
            out.m[k] += m;
        }
        out.h[0][1] -= z;
        out.h[0][2] += y;
        out.h[1][0] += z;
        out.h[1][2] -= x;
        out.h[2][0] -= y;
        out.h[2][1] += x;
        out
    }

    #[inline(always)]
    pub(super) fn add_assign(&mut self, o: &Self) {
        for k in 0..6 {
            self.j[k] += o.j[k];
            self.m[k] += o.m[k];
        }
        for r in 0..3 {
            for c in 0..3 {
                self.h[r][c] += o.h[r][c];
            }
        }
    }

    /// The same at the point −r, same axes.
    #[inline(always)]
    pub(super) fn shift(&self, r: V3<T>) -> Self {
        let [x, y, z] = r;
        let m = &self.m;
        let rows = [[m[0], m[3], m[4]], [m[3], m[1], m[5]], [m[4], m[5], m[2]]];
        let h = &self.h;
        // G = H + r̃ M.
        let g: [V3<T>; 3] = [
            v3!(c => h[0][c] + (y * rows[2][c] - z * rows[1][c])),
            v3!(c => h[1][c] + (z * rows[0][c] - x * rows[2][c])),
            v3!(c => h[2][c] + (x * rows[1][c] - y * rows[0][c])),
        ];
        // J + (r × row of H) + (r × row of G)ᵀ, the symmetric part being exact.
        let j = &self.j;
        Self {
            j: [
                j[0] + (y * h[0][2] - z * h[0][1]) + (y * g[0][2] - z * g[0][1]),
                j[1] + (z * h[1][0] - x * h[1][2]) + (z * g[1][0] - x * g[1][2]),
                j[2] + (x * h[2][1] - y * h[2][0]) + (x * g[2][1] - y * g[2][0]),
                j[3] + (z * h[0][0] - x * h[0][2]) + (y * g[1][2] - z * g[1][1]),
                j[4] + (x * h[0][1] - y * h[0][0]) + (y * g[2][2] - z * g[2][1]),
                j[5] + (x * h[1][1] - y * h[1][0]) + (z * g[2][0] - x * g[2][2]),
            ],
            h: g,
            m: self.m,
        }
    }

    #[inline(never)]
    pub(super) fn rotate(&self, e: &[[f64; 3]; 3]) -> Self {
        Self { j: rotate_sym(e, &self.j), h: rotate_mat(e, &self.h), m: rotate_sym(e, &self.m) }
    }

    /// Takes out a hinge about axis A and turns the rest to joint axes. U = (J column A; H row A), `d_inv` = 1/D.
    #[inline(always)]
    pub(super) fn without_hinge<const A: usize>(&self, d_inv: T, sc: (T, T)) -> Self {
        let (b, c) = ((A + 1) % 3, (A + 2) % 3);
        let o = T::splat(0.0);
        let (jb, jc) = (self.j[at(A, b)], self.j[at(A, c)]);
        let (kb, kc) = (jb * d_inv, jc * d_inv);
        let top = self.h[A];
        let mut j = [o; 6];
        j[at(b, b)] = self.j[at(b, b)] - kb * jb;
        j[at(c, c)] = self.j[at(c, c)] - kc * jc;
        j[at(b, c)] = self.j[at(b, c)] - kb * jc;
        let mut h = [zero(); 3];
        for k in 0..3 {
            h[b][k] = self.h[b][k] - kb * top[k];
            h[c][k] = self.h[c][k] - kc * top[k];
        }
        let scaled = scale(top, d_inv);
        let mut m = self.m;
        for r in 0..3 {
            for s in r..3 {
                m[at(r, s)] -= scaled[r] * top[s];
            }
        }
        // Turn: the row and column A of J and the row A of H stay zero.
        let d = double_angle(sc);
        let apart = j[at(b, b)] - j[at(c, c)];
        let moved = d.0 * apart + (d.1 + d.1) * j[at(b, c)];
        let mut turned = [o; 6];
        turned[at(b, b)] = j[at(b, b)] - moved;
        turned[at(c, c)] = j[at(c, c)] + moved;
        turned[at(b, c)] = d.1 * apart + d.2 * j[at(b, c)];
        let mut rows = [zero(); 3];
        let row_b = turn::<T, A>(sc, h[b]);
        let row_c = turn::<T, A>(sc, h[c]);
        for k in 0..3 {
            rows[b][k] = sc.1 * row_b[k] - sc.0 * row_c[k];
            rows[c][k] = sc.0 * row_b[k] + sc.1 * row_c[k];
        }
        Self { j: turned, h: rows, m: turn_sym::<T, A>(sc, d, &m) }
    }

    /// Takes out a slider along axis A. U = (H column A; M column A).
    #[inline(always)]
    pub(super) fn without_slider<const A: usize>(&self, d_inv: T) -> Self {
        let n = [self.h[0][A], self.h[1][A], self.h[2][A]];
        let f = [self.m[at(0, A)], self.m[at(1, A)], self.m[at(2, A)]];
        let (sn, sf) = (scale(n, d_inv), scale(f, d_inv));
        let mut out = *self;
        for r in 0..3 {
            for c in 0..3 {
                out.h[r][c] -= sn[r] * f[c];
            }
            for c in r..3 {
                out.j[at(r, c)] -= sn[r] * n[c];
                out.m[at(r, c)] -= sf[r] * f[c];
            }
        }
        out
    }
}

/// Inverse of a symmetric positive 3x3 by cofactors, and its leading minors for the check.
#[inline(always)]
pub(super) fn sym_inverse<T: Part>(s: &[T; 6]) -> ([T; 6], bool) {
    let cof = [
        s[1] * s[2] - s[5] * s[5],
        s[0] * s[2] - s[4] * s[4],
        s[0] * s[1] - s[3] * s[3],
        s[4] * s[5] - s[3] * s[2],
        s[3] * s[5] - s[4] * s[1],
        s[3] * s[4] - s[5] * s[0],
    ];
    let det = s[0] * cof[0] + s[3] * cof[3] + s[4] * cof[4];
    let good = s[0].all_positive() && cof[2].all_positive() && det.all_positive();
    let inv = T::splat(1.0) / det;
    ([cof[0] * inv, cof[1] * inv, cof[2] * inv, cof[3] * inv, cof[4] * inv, cof[5] * inv], good)
}
