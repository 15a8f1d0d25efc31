//! Clipping of a segment against the planes of a Voronoi region, and the one place where derivatives get a sign.
//!
//! # Reference
//! Mirtich, *V-Clip: fast and robust polyhedral collision detection* (1998), algorithm 1; Fontijne 2000 §2.4, §2.8.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `low`, `high` | λ range of the segment inside the region, 0 at the tail, 1 at the head |
//! | `low_by`, `high_by` | neighbour across the plane that cut the range at that end |
//!
//! # Formula
//! ```text
//! plane with signed distances d_t, d_h (positive inside):  λ = d_t / (d_t − d_h)
//! D'(vertex v, λ) = (h − t) · (e(λ) − v);     D'(face, λ) = ±(D(h) − D(t)), + where D(e(λ)) > 0
//! ```
//!
//! # Cost
//! Two flops and a comparison per plane that does not cut; one division per plane that does.
//!
//! # Numerics
//! Both derivative signs are taken in functions that are never inlined, from the same two end distances
//! everywhere: the walk would cycle if two places rounded differently.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `clipping_agrees_with_sampling`

use sim_math::glam::DVec3;
use sim_traits::FeatureId;

/// What is left of a segment inside a Voronoi region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clip {
    /// Lower end of the range, 0 to 1.
    pub low: f64,
    /// Upper end of the range, 0 to 1.
    pub high: f64,
    /// Neighbour that cut the lower end; `NONE` if the tail is inside.
    pub low_by: FeatureId,
    /// Neighbour that cut the upper end; `NONE` if the head is inside.
    pub high_by: FeatureId,
    /// True if nothing is left.
    pub empty: bool,
}

impl Clip {
    /// The whole segment.
    pub const WHOLE: Self =
        Self { low: 0.0, high: 1.0, low_by: FeatureId::NONE, high_by: FeatureId::NONE, empty: false };

    /// True if one plane alone excludes the whole segment.
    #[inline]
    #[must_use]
    pub fn simply_excluded(&self) -> bool {
        self.empty && self.low_by == self.high_by
    }

    /// Cuts by one plane, given the signed distances of tail and head, positive inside; false once empty.
    #[inline]
    pub fn cut(&mut self, tail: f64, head: f64, neighbour: FeatureId) -> bool {
        if tail < 0.0 {
            if head < 0.0 {
                (self.low_by, self.high_by, self.empty) = (neighbour, neighbour, true);
                return false;
            }
            let lambda = tail / (tail - head);
            if lambda > self.low {
                (self.low, self.low_by) = (lambda, neighbour);
            }
        } else if head < 0.0 {
            let lambda = tail / (tail - head);
            if lambda < self.high {
                (self.high, self.high_by) = (lambda, neighbour);
            }
        }
        self.empty = self.low > self.high;
        !self.empty
    }
}

/// Derivative of the distance from `vertex` to the point at λ of the segment, up to a positive factor: metres.
#[inline(never)]
#[must_use]
pub fn vertex_slope(tail: DVec3, head: DVec3, direction: DVec3, lambda: f64, vertex: DVec3) -> f64 {
    direction.dot(tail + lambda * (head - tail) - vertex)
}

/// Derivative of the distance from a face's plane along a segment with end heights `tail` and `head`, at λ, times
/// the segment's length: metres. Zero height gives NaN: the segment touches the plane there.
#[inline(never)]
#[must_use]
pub fn face_slope(tail: f64, head: f64, lambda: f64) -> f64 {
    let height = tail + lambda * (head - tail);
    if height > 0.0 {
        head - tail
    } else if height < 0.0 {
        tail - head
    } else {
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Polyhedron;
    use sim_math::testkit::SplitMix64;

    // proves: FON-35
    #[test]
    fn clipping_agrees_with_sampling() {
        let mut random = SplitMix64(9);
        let hull = Polyhedron::random(30, 2).unwrap();
        let mut nonempty = 0;
        for _ in 0..3000 {
            let (t, h) = (random.vec3(2.0), random.vec3(2.0));
            let face = random.below(hull.faces().len()) as u32;
            let mut clip = Clip::WHOLE;
            for side in hull.sides(face) {
                let [d_t, d_h] = [t, h].map(|x| -side.plane.height(x));
                if !clip.cut(d_t, d_h, FeatureId::edge(side.edge)) {
                    break;
                }
            }
            let inside = |l: f64| hull.sides(face).iter().all(|s| s.plane.height(t.lerp(h, l)) <= 0.0);
            let samples: Vec<f64> =
                (0..=1000).map(|k| f64::from(k) / 1000.0).filter(|l| inside(*l)).collect();
            if clip.empty {
                assert!(samples.is_empty());
                continue;
            }
            nonempty += 1;
            for l in &samples {
                assert!(clip.low <= l + 1e-12 && *l <= clip.high + 1e-12);
            }
            assert!(inside(0.5 * (clip.low + clip.high)));
            for (end, by) in [(clip.low, clip.low_by), (clip.high, clip.high_by)] {
                if by != FeatureId::NONE {
                    let side = hull.sides(face).iter().find(|s| s.edge == by.index()).unwrap();
                    assert!(side.plane.height(t.lerp(h, end)).abs() < 1e-13);
                }
            }
        }
        assert!(nonempty > 50);
    }
}
