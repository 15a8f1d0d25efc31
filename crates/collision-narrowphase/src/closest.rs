//! Closest points of points, segments and triangles.
//!
//! # Reference
//! Ericson, *Real-Time Collision Detection* (2005), §5.1.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `s`, `t` | parameters in 0..=1 along the first and second segment |
//!
//! # Formula
//! ```text
//! minimise |p(s) − q(t)|² over the unit square: interior solution, else the better edge of the square
//! ```
//!
//! # Cost
//! Some 40 flops.
//!
//! # Numerics
//! Parallel segments give the middle of their overlap. The result is never worse than the four end points'. Of pairs whose
//! distances are equal but for rounding, the one that is normal to both segments counts.
//!
//! # Failure
//! None; a segment of zero length is a point.
//!
//! # Tested by
//! `segments_agree_with_a_fine_grid`, `parallel_segments_meet_in_the_middle`

use sim_math::glam::DVec3;

/// Parameter in 0..=1 of the point of segment `p`..`q` nearest to `x`.
#[inline]
#[must_use]
pub(crate) fn point_segment(x: DVec3, p: DVec3, q: DVec3) -> f64 {
    let d = q - p;
    let squared = d.length_squared();
    if squared > 0.0 { ((x - p).dot(d) / squared).clamp(0.0, 1.0) } else { 0.0 }
}

/// Closest points of segments `p0`..`p1` and `q0`..`q1`.
#[must_use]
pub(crate) fn segment_segment(p0: DVec3, p1: DVec3, q0: DVec3, q1: DVec3) -> (DVec3, DVec3) {
    let (d1, d2, r) = (p1 - p0, q1 - q0, p0 - q0);
    let (a, e) = (d1.length_squared(), d2.length_squared());
    let cross = d1.cross(d2);
    let denominator = cross.length_squared();
    let mut best = (p0, q0, f64::INFINITY);
    // How far two points are from being each other's feet.
    let beside = |x: DVec3, y: DVec3| {
        let (foot_p, foot_q) = (p0 + point_segment(y, p0, p1) * d1, q0 + point_segment(x, q0, q1) * d2);
        (x - foot_p).length() + (y - foot_q).length()
    };
    let mut consider = |x: DVec3, y: DVec3| {
        let squared = (x - y).length_squared();
        // A square does not see what lies beside the foot by 1e-8 of the distance.
        let same = (squared - best.2).abs() <= 1e-14 * squared;
        let nearer = if same { beside(x, y) < beside(best.0, best.1) } else { squared < best.2 };
        if nearer {
            best = (x, y, squared);
        }
    };
    if denominator > 1e-24 * a * e {
        // By cross products: the usual a e − b² cancels where the segments are nearly parallel.
        let s = (cross.cross(d2).dot(r) / denominator).clamp(0.0, 1.0);
        let t = point_segment(p0 + s * d1, q0, q1);
        // Projecting back and forth once more removes most of the cancellation in s.
        let y = q0 + t * d2;
        let x = p0 + point_segment(y, p0, p1) * d1;
        consider(x, q0 + point_segment(x, q0, q1) * d2);
    } else if a > 0.0 && e > 0.0 {
        let (u0, u1) = ((q0 - p0).dot(d1) / a, (q1 - p0).dot(d1) / a);
        let (low, high) = (u0.min(u1).max(0.0), u0.max(u1).min(1.0));
        if low <= high {
            let x = p0 + 0.5 * (low + high) * d1;
            consider(x, q0 + point_segment(x, q0, q1) * d2);
        }
    }
    consider(p0, q0 + point_segment(p0, q0, q1) * d2);
    consider(p1, q0 + point_segment(p1, q0, q1) * d2);
    consider(p0 + point_segment(q0, p0, p1) * d1, q0);
    consider(p0 + point_segment(q1, p0, p1) * d1, q1);
    (best.0, best.1)
}

/// Direction and length of a gap between interior points of two edges with unit directions `u1`, `u2`.
///
/// The gap between nearly parallel edges is normal to them only up to their angle; the common normal is better,
/// made exactly normal to the first edge, as its own error is a turn about that edge.
#[must_use]
pub(crate) fn refine_crossing(u1: DVec3, u2: DVec3, gap: DVec3) -> Option<(DVec3, f64)> {
    let cross = u1.cross(u2);
    if cross.length_squared() < 1e-18 {
        let across = gap - u1.dot(gap) * u1;
        return across.try_normalize().map(|n| (n, n.dot(gap)));
    }
    let rough = cross.normalize_or_zero();
    let n = (rough - u1.dot(rough) * u1).try_normalize()?;
    let n = if n.dot(gap) < 0.0 { -n } else { n };
    Some((n, n.dot(gap)))
}

/// True if a parameter is well inside a segment.
#[inline]
pub(crate) fn interior(parameter: f64) -> bool {
    parameter > 1e-9 && parameter < 1.0 - 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn segments_agree_with_a_fine_grid() {
        let mut random = SplitMix64(2);
        for _ in 0..300 {
            let [p0, p1, q0, q1] = [0; 4].map(|_| random.vec3(1.0));
            let (x, y) = segment_segment(p0, p1, q0, q1);
            let mut least = f64::INFINITY;
            for i in 0..=100 {
                let p = p0.lerp(p1, f64::from(i) / 100.0);
                let q = q0.lerp(q1, point_segment(p, q0, q1));
                least = least.min((p - q).length());
            }
            let found = (x - y).length();
            assert!(found <= least + 1e-15 && found > least - 0.02, "{found} {least}");
        }
    }

    #[test]
    fn parallel_segments_meet_in_the_middle() {
        let (x, y) = segment_segment(
            DVec3::ZERO,
            4.0 * DVec3::X,
            DVec3::new(1.0, 1.0, 0.0),
            DVec3::new(9.0, 1.0, 0.0),
        );
        assert_eq!((x, y), (DVec3::new(2.5, 0.0, 0.0), DVec3::new(2.5, 1.0, 0.0)));
        let (x, y) = segment_segment(DVec3::ZERO, DVec3::ZERO, DVec3::Y, DVec3::Y);
        assert_eq!((x, y), (DVec3::ZERO, DVec3::Y));
    }
}
