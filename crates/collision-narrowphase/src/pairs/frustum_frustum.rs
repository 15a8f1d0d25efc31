//! Two rounded frustums: spheres of linearly varying radius swept along two segments.
//!
//! # Reference
//! Arnold 1997 §2.4.1 names an analytic frustum distance without details; the closed form is the completion in our
//! specification: lateral surfaces as envelopes of inscribed spheres.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `s`, `t` | position of a sphere along the axes, 0 to 1 |
//! | `κ` | change of radius per length of axis |
//!
//! # Formula
//! ```text
//! minimise D(s, t) = |P(s) − Q(t)| − R_P(s) − R_Q(t);  inside: n·a_P = κ_P, n·a_Q = −κ_Q, n = (P − Q)/|P − Q|
//! n = x a_P + y a_Q ± z a_P × a_Q;  (s, t, |P − Q|) from three linear equations;  else the best border, or P = Q
//! ```
//!
//! # Cost
//! Constant: one interior solution and four borders, each a quadratic.
//!
//! # Numerics
//! Axes within 1e-4 rad of parallel use the borders only, which is exact for parallel axes.
//!
//! # Failure
//! None; a taper steeper than its own length (one end sphere inside the other) is that sphere.
//!
//! # Tested by
//! `tests/frustums.rs`

use crate::closest::{point_segment, segment_segment};
use sim_math::glam::{DMat3, DVec3};
use sim_traits::Separation;

/// Hull of two spheres: a rounded frustum, in any frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphereSweep {
    /// Centres of the end spheres, metres.
    pub ends: [DVec3; 2],
    /// Their radii, metres.
    pub radii: [f64; 2],
}

impl SphereSweep {
    fn center(&self, s: f64) -> DVec3 {
        self.ends[0] + s * (self.ends[1] - self.ends[0])
    }

    fn radius(&self, s: f64) -> f64 {
        self.radii[0] + s * (self.radii[1] - self.radii[0])
    }

    /// Parameter of the sphere nearest to a point: minimum of |x − P(s)| − R(s) over 0..=1.
    fn nearest(&self, x: DVec3) -> f64 {
        let d = self.ends[1] - self.ends[0];
        let length = d.length();
        if length == 0.0 {
            return if self.radii[0] >= self.radii[1] { 0.0 } else { 1.0 };
        }
        let axis = d / length;
        let kappa = (self.radii[1] - self.radii[0]) / length;
        if kappa.abs() >= 1.0 {
            return if kappa > 0.0 { 1.0 } else { 0.0 };
        }
        let along = axis.dot(x - self.ends[0]);
        let across = (x - self.ends[0] - along * axis).length();
        // d/ds (√(across² + (along − s)²) − κ s) = 0.
        ((along + across * kappa / (1.0 - kappa * kappa).sqrt()) / length).clamp(0.0, 1.0)
    }
}

/// Signed distance of two sphere sweeps given in one frame; exact apart. In overlap the depth is that of the two spheres
/// that overlap most, along the line of their centres; where the axes meet, across both axes.
#[must_use]
pub fn sphere_sweeps(a: &SphereSweep, b: &SphereSweep) -> Separation {
    let mut best = (f64::INFINITY, 0.0, 0.0);
    let mut consider = |s: f64, t: f64| {
        let distance = (a.center(s) - b.center(t)).length() - a.radius(s) - b.radius(t);
        if distance < best.0 {
            best = (distance, s, t);
        }
    };
    for end in [0.0, 1.0] {
        consider(end, b.nearest(a.center(end)));
        consider(a.nearest(b.center(end)), end);
    }
    for (s, t) in interior(a, b).into_iter().flatten() {
        consider(s.clamp(0.0, 1.0), t.clamp(0.0, 1.0));
    }
    // Where the axes meet, D has a kink and no derivative that vanishes.
    let (x, y) = segment_segment(a.ends[0], a.ends[1], b.ends[0], b.ends[1]);
    consider(point_segment(x, a.ends[0], a.ends[1]), point_segment(y, b.ends[0], b.ends[1]));
    let (distance, s, t) = best;
    let (p, q) = (a.center(s), b.center(t));
    let (u, v) = (a.ends[1] - a.ends[0], b.ends[1] - b.ends[0]);
    let size = a.radii[0] + a.radii[1] + b.radii[0] + b.radii[1] + u.length() + v.length();
    let normal = if (p - q).length() > 1e-14 * size {
        (p - q).normalize()
    } else {
        // Straight through each other: out across both axes.
        u.cross(v).try_normalize().unwrap_or_else(|| u.normalize_or(DVec3::Z).any_orthonormal_vector())
    };
    let point_a = p - a.radius(s) * normal;
    Separation { distance, normal, point_a, point_b: point_a - distance * normal }
}

/// Stationary points inside the square of parameters, one for each sign of the normal's third part.
fn interior(a: &SphereSweep, b: &SphereSweep) -> [Option<(f64, f64)>; 2] {
    let (da, db) = (a.ends[1] - a.ends[0], b.ends[1] - b.ends[0]);
    let (la, lb) = (da.length(), db.length());
    if la == 0.0 || lb == 0.0 {
        return [None; 2];
    }
    let (u, v) = (da / la, db / lb);
    let (ka, kb) = ((a.radii[1] - a.radii[0]) / la, (b.radii[1] - b.radii[0]) / lb);
    let cos = u.dot(v);
    let cross = u.cross(v);
    let sin2 = cross.length_squared();
    if sin2 < 1e-8 {
        return [None; 2];
    }
    // x + y cos = κ_a,  x cos + y = −κ_b.
    let x = (ka + kb * cos) / sin2;
    let y = -(kb + ka * cos) / sin2;
    let flat = x * u + y * v;
    let rest = 1.0 - flat.length_squared();
    if rest <= 0.0 {
        return [None; 2];
    }
    let z = (rest / sin2).sqrt();
    [1.0, -1.0].map(|sign| {
        let n = flat + sign * z * cross;
        // P0 + s da − Q0 − t db = g n.
        let solution = DMat3::from_cols(da, -db, -n).inverse() * (b.ends[0] - a.ends[0]);
        (solution.is_finite() && solution.z > 0.0).then_some((solution.x, solution.y))
    })
}
