//! Reduction of many contacts to at most four that carry the same patch.
//!
//! # Reference
//! Cline 2002 §6.1 leaves the overflow of contacts open; deepest point and largest area is the usual answer.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `kept` | candidates, all of them up to 16, extreme ones beyond |
//!
//! # Formula
//! ```text
//! p0 = deepest;  p1 = farthest from p0;  p2 = farthest from the line p0 p1;  p3 = largest area outside p0 p1 p2
//! ```
//!
//! # Cost
//! O(n). No allocation.
//!
//! # Numerics
//! Ties go to the earlier candidate, whose order follows the feature numbers, so the choice is repeatable.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `four_corners_of_a_many_sided_patch_remain`, `duplicates_and_lines_reduce_further`

use super::patch::MAX;
use sim_math::glam::{DVec2, DVec3};
use sim_traits::{ContactPoint, Manifold};

/// Collects contacts of one normal and keeps four.
#[derive(Debug)]
pub(crate) struct Reducer<const C: usize = { 2 * MAX + 2 }> {
    normal: DVec3,
    merge: f64,
    points: [ContactPoint; C],
    len: usize,
    deepest: f64,
}

impl<const C: usize> Reducer<C> {
    /// Points of A nearer than a millionth of `scale` (metres) to each other count as one.
    pub(crate) fn new(normal: DVec3, scale: f64) -> Self {
        let merge = 1e-12 * scale * scale;
        Self { normal, merge, points: [ContactPoint::default(); C], len: 0, deepest: f64::INFINITY }
    }

    /// Separation of the deepest point so far; infinite if there is none.
    pub(crate) fn deepest(&self) -> f64 {
        self.deepest
    }

    /// Adds a candidate. Beyond the capacity the deepest ones replace the shallowest.
    pub(crate) fn push(&mut self, point: ContactPoint) {
        self.deepest = self.deepest.min(point.separation);
        let near = |p: &&mut ContactPoint| (p.point_a - point.point_a).length_squared() < self.merge;
        if let Some(twin) = self.points[..self.len].iter_mut().find(near) {
            if point.separation < twin.separation {
                *twin = point;
            }
            return;
        }
        if let Some(slot) = self.points.get_mut(self.len) {
            *slot = point;
            self.len += 1;
        } else if let Some(worst) =
            self.points.iter_mut().max_by(|p, q| p.separation.total_cmp(&q.separation))
            && worst.separation > point.separation
        {
            *worst = point;
        }
    }

    pub(crate) fn finish(&self) -> Manifold {
        let mut manifold = Manifold::new(self.normal);
        let points = &self.points[..self.len];
        if points.len() <= Manifold::CAPACITY {
            for point in points {
                manifold.push(*point);
            }
            return manifold;
        }
        for index in self.choose(points).into_iter().flatten() {
            manifold.push(points[index]);
        }
        manifold
    }

    fn choose(&self, points: &[ContactPoint]) -> [Option<usize>; 4] {
        let mut first = (0, f64::INFINITY);
        for (i, p) in points.iter().enumerate() {
            if p.separation < first.1 {
                first = (i, p.separation);
            }
        }
        let first = first.0;
        // In the plane, from the deepest point.
        let (x, y) = self.normal.any_orthonormal_pair();
        let mut flat = [DVec2::ZERO; C];
        for (f, p) in flat.iter_mut().zip(points) {
            let d = p.point_a - points[first].point_a;
            *f = DVec2::new(x.dot(d), y.dot(d));
        }
        let flat = &flat[..points.len()];
        let Some(second) = best(flat, 0.0, DVec2::length_squared) else {
            return [Some(first), None, None, None];
        };
        let d1 = flat[second];
        // Twice the signed area of p0 p1 p, and a millionth of p1's square as what is worth a point.
        let worth = 1e-6 * d1.length_squared();
        let Some(third) = best(flat, worth, |p| d1.perp_dot(p).abs()) else {
            return [Some(first), Some(second), None, None];
        };
        let d2 = flat[third];
        let sense = d1.perp_dot(d2).signum();
        // Outside the triangle: across p0 p1, p1 p2 or p2 p0, whichever gains most.
        let gain = |p: DVec2| {
            let across = |from: DVec2, to: DVec2| -sense * (to - from).perp_dot(p - from);
            across(DVec2::ZERO, d1).max(across(d1, d2)).max(across(d2, DVec2::ZERO))
        };
        [Some(first), Some(second), Some(third), best(flat, worth, gain)]
    }
}

/// The first point with the highest score above `least`.
#[inline]
fn best(points: &[DVec2], least: f64, score: impl Fn(DVec2) -> f64) -> Option<usize> {
    let mut found = (None, least);
    for (i, p) in points.iter().enumerate() {
        let s = score(*p);
        if s > found.1 {
            found = (Some(i), s);
        }
    }
    found.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::ops;

    fn contact(p: DVec3, separation: f64) -> ContactPoint {
        ContactPoint { point_a: p, point_b: p - separation * DVec3::Z, separation, ..Default::default() }
    }

    #[test]
    fn four_corners_of_a_many_sided_patch_remain() {
        let mut reducer: Reducer = Reducer::new(DVec3::Z, 1.0);
        for k in 0..32 {
            let (s, c) = ops::sin_cos(f64::from(k) * std::f64::consts::TAU / 32.0);
            reducer.push(contact(DVec3::new(c, s, 0.0), 1e-3 * s));
        }
        let manifold = reducer.finish();
        assert_eq!(manifold.points().len(), 4);
        assert_eq!(manifold.points()[0].point_a.y, -1.0);
        let mut area = 0.0;
        let p = |k: usize| manifold.points()[k].point_a;
        for (i, j, k) in [(0, 1, 2), (0, 1, 3)] {
            area += 0.5 * (p(j) - p(i)).cross(p(k) - p(i)).length();
        }
        assert!(area > 1.9, "{area}");
    }

    #[test]
    fn duplicates_and_lines_reduce_further() {
        let mut line: Reducer = Reducer::new(DVec3::Z, 1.0);
        for k in 0..9 {
            line.push(contact(DVec3::X * f64::from(k), 0.0));
        }
        assert_eq!(line.finish().points().len(), 2);
        let mut same: Reducer = Reducer::new(DVec3::Z, 1.0);
        for _ in 0..9 {
            same.push(contact(DVec3::ONE, -0.1));
        }
        assert_eq!(same.finish().points().len(), 1);
    }
}
