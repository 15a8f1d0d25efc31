//! Closest point of a simplex to the origin, by the best of its faces.
//!
//! # Reference
//! Ericson 2005 §5.1; Montanari et al. 2017 on why the sub-simplex must be chosen by measured distances.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `weights` | barycentric coordinates of the closest point |
//!
//! # Formula
//! ```text
//! triangle interior: v = n (n·p) / n²;   edge interior: v = p − d (d·p) / d²
//! v is closest ⇔ v·(p − s) ≥ 0 for all corners p and the corners s that carry v
//! ```
//!
//! # Cost
//! At most four triangles, six edges, four corners.
//!
//! # Numerics
//! The choice among candidates of nearly equal length looks at angles: v may lie beside the right place by the square root
//! of its rounding before its length tells. Projecting on the normal keeps the direction of v exact where v is short; slivers fall back to their edges.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `closest_point_beats_random_points_of_the_simplex`

use super::clear::{Clear, clear};
use crate::polyhedron::orient::orient;
use sim_math::glam::DVec3;

/// Closest point of (part of) a simplex: which corners and with what weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nearest {
    pub(super) v: DVec3,
    pub(super) squared: f64,
    pub(super) weights: [f64; 4],
    /// Sine of the angle by which the worst corner lies on the wrong side of the plane through v; 0 if none does.
    slack: f64,
}

/// Relative difference up to which squares count as equal.
const SAME: f64 = 1e-10;
/// Angles below this are rounding.
const ANGLE: f64 = 4e-16;

impl Nearest {
    fn none() -> Self {
        Self { v: DVec3::ZERO, squared: f64::INFINITY, weights: [0.0; 4], slack: f64::NEG_INFINITY }
    }

    /// The shorter one wins; among nearly equal ones that which no corner contradicts; among those the interior of the larger
    /// face, whose direction is exact.
    fn offer(&mut self, points: &[DVec3], v: DVec3, weights: [f64; 4]) {
        let squared = v.length_squared();
        let length = squared.sqrt();
        let mut slack = 0.0_f64;
        for (i, p) in points.iter().enumerate() {
            if weights[i] > 0.0 {
                continue;
            }
            // v·p ≥ v·s, by the difference of the corners: products as such have lost the digits that matter.
            let mut side = (DVec3::ZERO, f64::INFINITY);
            for (s, w) in points.iter().zip(weights) {
                let apart = (*p - *s).length_squared();
                if w > 0.0 && apart < side.1 {
                    side = (*p - *s, apart);
                }
            }
            let angle = v.dot(side.0) / (length * side.1.sqrt());
            // A repeated corner, or a point at the origin, contradicts nothing.
            if angle < -ANGLE {
                slack = slack.min(angle);
            }
        }
        let corners = |w: &[f64; 4]| w.iter().filter(|x| **x > 0.0).count();
        let larger = corners(&weights) > corners(&self.weights);
        let shorter = squared < self.squared || (larger && squared <= self.squared * (1.0 + 1e-13));
        // Lengths decide where they differ, angles among those that are equal but for the digits a square loses.
        let (clearly, hardly) =
            (squared < self.squared * (1.0 - SAME), squared <= self.squared * (1.0 + SAME));
        if clearly || (hardly && (slack > self.slack || (slack >= self.slack && shorter))) {
            *self = Self { v, squared, weights, slack };
        }
    }
}

/// Closest point to the origin of the hull of up to four points; `None` if a tetrahedron contains it.
#[inline]
pub(super) fn nearest(points: &[DVec3]) -> Option<Nearest> {
    match clear(points) {
        Clear::Point(v, weights) => Some(Nearest { v, squared: v.length_squared(), weights, slack: 0.0 }),
        Clear::Inside => None,
        Clear::No => careful(points),
    }
}

/// The same by all faces, edges and corners.
#[inline(never)]
fn careful(points: &[DVec3]) -> Option<Nearest> {
    let n = points.len();
    if n == 4 && contains_origin(points) {
        return None;
    }
    let mut best = Nearest::none();
    for i in 0..n {
        let mut weights = [0.0; 4];
        weights[i] = 1.0;
        best.offer(points, points[i], weights);
        for j in i + 1..n {
            edge(points, i, j, &mut best);
            for k in j + 1..n {
                triangle(points, i, j, k, &mut best);
            }
        }
    }
    Some(best)
}

fn edge(points: &[DVec3], i: usize, j: usize, best: &mut Nearest) {
    let (p, d) = (points[i], points[j] - points[i]);
    let (along, squared) = (-d.dot(p), d.length_squared());
    if along <= 0.0 || along >= squared {
        return;
    }
    let t = along / squared;
    let mut weights = [0.0; 4];
    (weights[i], weights[j]) = (1.0 - t, t);
    // From the nearer end, so that a long edge does not blur a short distance.
    let v = if t <= 0.5 { p + t * d } else { points[j] - (1.0 - t) * d };
    // Once more: the rounding of a long edge, seen from a short v, would be an angle.
    let v = v - (d.dot(v) / squared) * d;
    best.offer(points, v, weights);
}

fn triangle(points: &[DVec3], i: usize, j: usize, k: usize, best: &mut Nearest) {
    // p q is the longest side, p its end nearer to the origin, r the apex.
    let length = |x: usize, y: usize| (points[y] - points[x]).length_squared();
    let (mut p, mut q, r) = if length(i, j) >= length(j, k).max(length(i, k)) {
        (i, j, k)
    } else if length(j, k) >= length(i, k) {
        (j, k, i)
    } else {
        (k, i, j)
    };
    if points[p].length_squared() > points[q].length_squared() {
        (p, q) = (q, p);
    }
    let (a, side, apex) = (points[p], points[q] - points[p], points[r] - points[p]);
    let longest = side.length_squared();
    let (Some(u), Some(rough)) = (side.try_normalize(), side.cross(apex).try_normalize()) else { return };
    // What error the normal of a sliver has must be a turn about its long side.
    let Some(n) = (rough - u.dot(rough) * u).try_normalize() else { return };
    let m = n.cross(u);
    let height = m.dot(apex);
    if height <= 1e-14 * longest.sqrt() {
        return;
    }
    // From the foot on the long side: there the turn does no harm, since the foot is as near as can be.
    let along = -u.dot(a);
    let foot = a + along * u;
    let t = -m.dot(foot) / height;
    let s = (along - t * u.dot(apex)) / longest.sqrt();
    if s <= 0.0 || t <= 0.0 || s + t >= 1.0 {
        return;
    }
    let mut weights = [0.0; 4];
    (weights[p], weights[q], weights[r]) = (1.0 - s - t, s, t);
    let v = n * n.dot(foot);
    if (a + s * side + t * apex - v).length_squared() <= 1e-20 * longest {
        best.offer(points, v, weights);
    }
}

/// Barycentric coordinates of the origin in a tetrahedron that contains it.
pub(super) fn inside(p: &[DVec3; 4]) -> [f64; 4] {
    let o = DVec3::ZERO;
    let volumes = [
        orient(p[1], p[2], p[3], o).abs(),
        orient(p[0], p[2], p[3], o).abs(),
        orient(p[0], p[1], p[3], o).abs(),
        orient(p[0], p[1], p[2], o).abs(),
    ];
    let sum: f64 = volumes.iter().sum();
    volumes.map(|v| v / sum)
}

/// Strictly inside or on a face of a tetrahedron that is not flat. Exact: a flat tetrahedron must not seem to hold it.
fn contains_origin(p: &[DVec3]) -> bool {
    [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]].iter().all(|&[i, j, k, l]| {
        let opposite = orient(p[i], p[j], p[k], p[l]);
        let origin = orient(p[i], p[j], p[k], DVec3::ZERO);
        opposite != 0.0 && (origin == 0.0 || (origin > 0.0) == (opposite > 0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn what_is_clear_is_what_the_careful_search_finds() {
        let mut random = SplitMix64(4);
        let (mut decided, mut inside, mut total) = ([0; 4], 0, [0; 4]);
        for round in 0..400_000 {
            let n = 1 + round % 4;
            let size = [1.0, 1.0, 1e-3, 1e-7][random.below(4)];
            let far = [0.3, 1.5, 100.0][random.below(3)];
            let shift = random.vec3(far);
            let mut points: Vec<DVec3> = (0..n).map(|_| size * random.vec3(1.0) + shift).collect();
            // Often a corner repeats, lies on a side or in the plane, or the origin does, up to a little.
            let small = size * [0.0, 1e-16, 1e-12, 1e-7, 1e-3][random.below(5)];
            let spoilt = match (random.below(6), n) {
                (0, 2..) => points[0],
                (1, 3..) => points[0].lerp(points[1], random.unit()),
                (2, 4) => points[0] + (points[1] - points[0]) * random.unit() + (points[2] - points[0]) * 0.3,
                (3, _) => DVec3::ZERO,
                (4, 3..) => -points[0] - points[1],
                _ => points[n - 1],
            };
            points[n - 1] = spoilt + random.vec3(1.0) * small;
            total[n - 1] += 1;
            let careful = careful(&points);
            match clear(&points) {
                Clear::No => continue,
                Clear::Inside => {
                    inside += 1;
                    assert!(careful.is_none(), "{points:?}");
                }
                Clear::Point(v, weights) => {
                    let found = careful.unwrap();
                    let reach = points.iter().map(|p| p.length()).fold(0.0, f64::max);
                    assert!((v - found.v).length() <= 1e-14 * reach, "{points:?} {v} {found:?}");
                    let same = |k: usize| (weights[k] > 0.0) == (found.weights[k] > 0.0);
                    assert!((0..n).all(same), "{points:?} {weights:?} {found:?}");
                    let rebuilt: DVec3 = points.iter().zip(weights).map(|(p, w)| *p * w).sum();
                    assert!((rebuilt - v).length() <= 1e-14 * reach, "{points:?} {rebuilt} {v}");
                }
            }
            decided[n - 1] += 1;
        }
        assert!((0..4).all(|k| 10 * decided[k] > total[k]) && inside > 500, "{decided:?} {inside} {total:?}");
    }

    #[test]
    fn closest_point_beats_random_points_of_the_simplex() {
        let mut random = SplitMix64(3);
        for round in 0..4000 {
            let n = 1 + round % 4;
            let shift = random.vec3(1.5);
            let points: Vec<DVec3> = (0..n).map(|_| random.vec3(1.0) + shift).collect();
            let Some(found) = nearest(&points) else { continue };
            let rebuilt: DVec3 = points.iter().zip(found.weights).map(|(p, w)| *p * w).sum();
            assert!((rebuilt - found.v).length() < 1e-12);
            assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            // v is closest if and only if no corner lies nearer along v.
            for p in &points {
                assert!(found.v.dot(*p) >= found.squared - 1e-10, "{points:?}");
            }
        }
    }
}
