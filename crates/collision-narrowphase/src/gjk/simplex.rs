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
//! triangle interior: v = n (n·p) / n²;   edge interior: v = p − d (d·p) / d²;   the shortest v wins
//! ```
//!
//! # Cost
//! At most four triangles, six edges, four corners.
//!
//! # Numerics
//! Projecting on the normal keeps the direction of v exact where v is short; slivers fall back to their edges.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `closest_point_beats_random_points_of_the_simplex`

use crate::polyhedron::orient::orient;
use sim_math::glam::DVec3;

/// Closest point of (part of) a simplex: which corners and with what weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nearest {
    pub(super) v: DVec3,
    pub(super) squared: f64,
    pub(super) weights: [f64; 4],
}

impl Nearest {
    fn none() -> Self {
        Self { v: DVec3::ZERO, squared: f64::INFINITY, weights: [0.0; 4] }
    }

    /// The shorter one wins; among equals up to rounding the interior of the larger face, whose direction is exact.
    fn offer(&mut self, v: DVec3, weights: [f64; 4]) {
        let squared = v.length_squared();
        let corners = |w: &[f64; 4]| w.iter().filter(|x| **x > 0.0).count();
        let larger = corners(&weights) > corners(&self.weights);
        if squared < self.squared || (larger && squared <= self.squared * (1.0 + 1e-13)) {
            *self = Self { v, squared, weights };
        }
    }
}

/// Closest point to the origin of the hull of up to four points; `None` if a tetrahedron contains it.
pub(super) fn nearest(points: &[DVec3]) -> Option<Nearest> {
    let n = points.len();
    if n == 4 && contains_origin(points) {
        return None;
    }
    let mut best = Nearest::none();
    for i in 0..n {
        let mut weights = [0.0; 4];
        weights[i] = 1.0;
        best.offer(points[i], weights);
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
    best.offer(v, weights);
}

fn triangle(points: &[DVec3], i: usize, j: usize, k: usize, best: &mut Nearest) {
    let (a, b, c) = (points[i], points[j], points[k]);
    let n = (b - a).cross(c - a);
    let squared = n.length_squared();
    let longest = (b - a).length_squared().max((c - a).length_squared());
    if squared <= 1e-28 * longest * longest {
        return;
    }
    // Areas seen along the normal, of the triangles with the origin.
    let (u, v, w) = (n.dot(b.cross(c)), n.dot(c.cross(a)), n.dot(a.cross(b)));
    if u <= 0.0 || v <= 0.0 || w <= 0.0 {
        return;
    }
    let sum = u + v + w;
    let mut weights = [0.0; 4];
    (weights[i], weights[j], weights[k]) = (u / sum, v / sum, w / sum);
    // The corner nearest to the origin has the least rounding in n·p.
    let near =
        [a, b, c].into_iter().fold(a, |m, p| if p.length_squared() < m.length_squared() { p } else { m });
    let v = n * (n.dot(near) / squared);
    // The normal of a sliver can be wrong; the weights then tell another point.
    let rebuilt = weights[i] * a + weights[j] * b + weights[k] * c;
    if (rebuilt - v).length_squared() <= 1e-20 * longest {
        best.offer(v, weights);
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
