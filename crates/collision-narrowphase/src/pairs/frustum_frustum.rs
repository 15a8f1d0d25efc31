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
//! n = x a_P + y a_Q ± z a_P × a_Q;  (s, t, |P − Q|) from three linear equations;  else the best border
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
//! `rounded_frustums_equal_gjk`

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

/// Signed distance of two sphere sweeps given in one frame; exact apart and while the axes do not meet.
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
        consider(end, nearest_inflated(b, a.center(end)));
        consider(nearest_inflated(a, b.center(end)), end);
    }
    for (s, t) in interior(a, b).into_iter().flatten() {
        consider(s.clamp(0.0, 1.0), t.clamp(0.0, 1.0));
    }
    let (distance, s, t) = best;
    let (p, q) = (a.center(s), b.center(t));
    let normal = (p - q).normalize_or(DVec3::Z);
    let point_a = p - a.radius(s) * normal;
    Separation { distance, normal, point_a, point_b: point_a - distance * normal }
}

fn nearest_inflated(sweep: &SphereSweep, x: DVec3) -> f64 {
    sweep.nearest(x)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gjk::gjk;
    use sim_math::{Pose, testkit::SplitMix64};
    use sim_traits::{PairCache, Shape, SupportMap};
    use std::{any::Any, sync::Arc};

    #[derive(Debug)]
    struct Hull(SphereSweep);

    impl SupportMap for Hull {
        fn support(&self, d: DVec3) -> DVec3 {
            let n = d.normalize_or_zero();
            let ends = [0, 1].map(|k| self.0.ends[k] + self.0.radii[k] * n);
            if n.dot(ends[0]) >= n.dot(ends[1]) { ends[0] } else { ends[1] }
        }
        fn bounding_radius(&self) -> f64 {
            (0..2).map(|k| self.0.ends[k].length() + self.0.radii[k]).fold(0.0, f64::max)
        }
        fn as_any(&self) -> &dyn Any {
            self
        }
        fn name(&self) -> &'static str {
            "sphere sweep"
        }
    }

    // proves-part: ARN-29
    #[test]
    fn rounded_frustums_equal_gjk() {
        let mut random = SplitMix64(5);
        let mut sweep = |k: usize| {
            let mut ends = [random.vec3(1.0), random.vec3(1.0)];
            if k % 8 == 1 {
                // Parallel axes, side by side or end on.
                ends = [DVec3::new(ends[0].x, ends[0].y, -0.5), DVec3::new(ends[0].x, ends[0].y, 0.7)];
            }
            SphereSweep { ends, radii: [random.range(0.01, 0.3), random.range(0.01, 0.3)] }
        };
        let mut checked = 0;
        for k in 0..100_000 {
            let (a, b) = (sweep(k), sweep(k));
            let found = sphere_sweeps(&a, &b);
            if found.distance < 1e-3 {
                continue;
            }
            checked += 1;
            let shapes = [a, b].map(|s| Shape::Convex(Arc::new(Hull(s))));
            let other = gjk(&shapes[0], &shapes[1], &Pose::IDENTITY, &mut PairCache::default()).unwrap();
            assert!((found.distance - other.distance).abs() < 1e-6, "{k} {found:?} {other:?} {a:?} {b:?}");
            let gap = found.point_a - found.point_b - found.distance * found.normal;
            assert!(gap.length() < 1e-12);
        }
        assert!(checked > 50_000, "{checked}");
    }
}
