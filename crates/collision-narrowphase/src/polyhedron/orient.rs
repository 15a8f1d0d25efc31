//! Exact orientation of four points: the sign that makes a convex hull consistent.
//!
//! # Reference
//! Shewchuk, *Adaptive precision floating-point arithmetic and fast robust geometric predicates* (1997): error
//! bound of the filter and the expansion arithmetic (here only the filter and the exact stage).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `a, b, c` | corners of a triangle, counter-clockwise seen from outside |
//! | `p` | query point |
//!
//! # Formula
//! ```text
//! det = (a−p) · ((b−p) × (c−p)),   negative above the triangle;   orient = −det
//! ```
//!
//! # Cost
//! 40 flops when the filter decides; some thousand otherwise.
//!
//! # Numerics
//! Exact sign for coordinates between about 1e-60 and 1e60; the caller guarantees the range.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `exact_sign_beats_rounding`, `filter_and_exact_stage_agree`

use sim_math::glam::DVec3;

/// Relative error bound of the plain evaluation: (7 + 56 ε) ε.
const FILTER: f64 = 7.771_561_172_376_103e-16;

/// Six times the signed volume of (a, b, c, p): positive if `p` is above the triangle, with exact sign; zero if
/// and only if the four points are coplanar.
pub(crate) fn orient(a: DVec3, b: DVec3, c: DVec3, p: DVec3) -> f64 {
    let (u, v, w) = (a - p, b - p, c - p);
    let (vw, wv) = (v.y * w.z, v.z * w.y);
    let (vx, wx) = (v.z * w.x, v.x * w.z);
    let (vz, wz) = (v.x * w.y, v.y * w.x);
    let det = u.x * (vw - wv) + u.y * (vx - wx) + u.z * (vz - wz);
    let permanent = u.x.abs() * (vw.abs() + wv.abs())
        + u.y.abs() * (vx.abs() + wx.abs())
        + u.z.abs() * (vz.abs() + wz.abs());
    if det.abs() > FILTER * permanent {
        return -det;
    }
    -exact(a, b, c, p)
}

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let bb = s - a;
    (s, (a - (s - bb)) + (b - bb))
}

fn split(a: f64) -> (f64, f64) {
    let c = 134_217_729.0 * a;
    let high = c - (c - a);
    (high, a - high)
}

fn two_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    (p, al * bl - (((p - ah * bh) - al * bh) - ah * bl))
}

/// Most terms that the determinant can have: three products of 2, 2 and 2 terms, twice over.
const TERMS: usize = 192;

/// A sum of floats without rounding error, smallest first.
#[derive(Debug, Clone, Copy)]
struct Expansion {
    terms: [f64; TERMS],
    len: usize,
}

impl Expansion {
    const ZERO: Self = Self { terms: [0.0; TERMS], len: 0 };

    fn terms(&self) -> &[f64] {
        &self.terms[..self.len]
    }

    fn difference(a: f64, b: f64) -> Self {
        let (s, e) = two_sum(a, -b);
        let mut difference = Self::ZERO;
        difference.add(e);
        difference.add(s);
        difference
    }

    /// Adds one float (Shewchuk's grow-expansion), dropping zeros.
    fn add(&mut self, mut q: f64) {
        let mut kept = 0;
        for i in 0..self.len {
            let (s, e) = two_sum(q, self.terms[i]);
            q = s;
            if e != 0.0 {
                self.terms[kept] = e;
                kept += 1;
            }
        }
        if q != 0.0 && kept < TERMS {
            self.terms[kept] = q;
            kept += 1;
        }
        self.len = kept;
    }

    fn times(&self, other: &Self) -> Self {
        let mut product = Self::ZERO;
        for &x in self.terms() {
            for &y in other.terms() {
                let (p, e) = two_product(x, y);
                product.add(e);
                product.add(p);
            }
        }
        product
    }

    fn minus(mut self, other: &Self) -> Self {
        for &x in other.terms() {
            self.add(-x);
        }
        self
    }

    /// The largest component carries the sign and the leading digits.
    fn estimate(&self) -> f64 {
        self.terms().iter().sum()
    }
}

#[cold]
#[inline(never)]
fn exact(a: DVec3, b: DVec3, c: DVec3, p: DVec3) -> f64 {
    let diff = |q: DVec3, k: usize| Expansion::difference(q[k], p[k]);
    let mut det = Expansion::ZERO;
    for k in 0..3 {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let minor = diff(b, i).times(&diff(c, j)).minus(&diff(b, j).times(&diff(c, i)));
        for &x in diff(a, k).times(&minor).terms() {
            det.add(x);
        }
    }
    det.estimate()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn filter_and_exact_stage_agree() {
        let mut random = SplitMix64(11);
        for _ in 0..2000 {
            let [a, b, c, p] = [0; 4].map(|_| random.vec3(1.0));
            let (fast, slow) = (orient(a, b, c, p), -exact(a, b, c, p));
            assert!((fast - slow).abs() <= 1e-14 && (fast > 0.0) == (slow > 0.0));
        }
    }

    #[test]
    fn exact_sign_beats_rounding() {
        // Points on a plane through dyadic coordinates, one of them moved by one unit in the last place.
        let mut random = SplitMix64(12);
        for _ in 0..2000 {
            let grid = |r: &mut SplitMix64| (r.vec3(1.0) * 1024.0).floor() / 1024.0;
            let (a, b, c) = (grid(&mut random), grid(&mut random), grid(&mut random));
            let (i, j) = (random.below(8) as f64 - 4.0, random.below(8) as f64 - 4.0);
            let p = a + i * (b - a) + j * (c - a);
            assert_eq!(orient(a, b, c, p), 0.0);
            let n = (b - a).cross(c - a);
            if n.z == 0.0 {
                continue;
            }
            let up = DVec3::new(p.x, p.y, f64::from_bits(p.z.to_bits() + 1));
            if up.z > p.z {
                assert_eq!(orient(a, b, c, up) > 0.0, n.z > 0.0);
            }
        }
    }
}
