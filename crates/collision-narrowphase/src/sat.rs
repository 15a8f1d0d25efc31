//! Separating axes of two polyhedra: signed separation, exact in depth and direction when they overlap.
//!
//! # Reference
//! Gottschalk, Lin, Manocha 1996 (axes); the Gauss-map test that keeps only edge pairs which form a face of the
//! Minkowski difference is standard (Gregorius, *The separating axis test*, 2013).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `n` | axis, pointing out of A |
//! | `u1`, `u2` | directions of an edge of A and one of B, in A's frame |
//! | `separation` | gap between the projections along the best axis; negative: minus the depth |
//!
//! # Formula
//! ```text
//! separation = max over n of ( min over b of n·b − max over a of n·a ),   n ∈ faces of A, −faces of B, ±u1 × u2
//! edges form a face ⇔ (n_l2·u1)(n_r2·u1) < 0, (n_l1·u2)(n_r1·u2) < 0, (n_l2·u1)(n_r1·u2) < 0
//! ```
//!
//! # Cost
//! One support query per face and one sign test per pair of edges. No allocation.
//!
//! # Numerics
//! An edge axis that would win is re-measured by the support functions, so rounding in the sign tests cannot
//! overstate the separation. Face axes win ties within 1e-12 of the scale.
//!
//! # Failure
//! None: two polyhedra always have a best axis.
//!
//! # Tested by
//! `pruned_axes_equal_all_axes`, `boxes_overlapping_by_delta_return_delta`, `tests/hostile.rs`

use crate::{Polyhedron, relative::Frame};
use sim_math::glam::DVec3;

/// The pair of features that gives the best axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Face of A and the vertex of B deepest below it.
    FaceA {
        /// Face of A.
        face: u32,
        /// Vertex of B.
        vertex: u32,
    },
    /// Face of B and the vertex of A deepest below it.
    FaceB {
        /// Face of B.
        face: u32,
        /// Vertex of A.
        vertex: u32,
    },
    /// Edge of A and edge of B.
    Edges {
        /// Edge of A.
        edge_a: u32,
        /// Edge of B.
        edge_b: u32,
    },
}

/// Best separating axis of two polyhedra.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SatResult {
    /// Metres: the largest gap along any axis; negative is minus the penetration depth.
    pub separation: f64,
    /// Unit vector from B to A, in A's frame.
    pub normal: DVec3,
    /// What gives the axis.
    pub axis: Axis,
}

/// Signed separation of two polyhedra. Exact depth and direction when they overlap; when they do not, a lower bound
/// of the distance.
#[must_use]
pub fn sat(a: &Polyhedron, b: &Polyhedron, a_from_b: &Frame) -> SatResult {
    let b_from_a = a_from_b.inverse();
    let (face_a, vertex_b, gap_a) = best_face(a, b, &b_from_a);
    let (face_b, vertex_a, gap_b) = best_face(b, a, a_from_b);
    let tie = 1e-12 * (a.extent() + b.extent());
    // The same choice whichever shape is called A matters less than one that does not flicker: A wins ties.
    let best = if gap_b > gap_a + tie {
        let normal = a_from_b.vector(b.faces()[face_b as usize].normal);
        SatResult { separation: gap_b, normal, axis: Axis::FaceB { face: face_b, vertex: vertex_a } }
    } else {
        let normal = -a.faces()[face_a as usize].normal;
        SatResult { separation: gap_a, normal, axis: Axis::FaceA { face: face_a, vertex: vertex_b } }
    };
    best_edges(a, b, a_from_b, best, tie)
}

/// Face of `p` above which `q` rises most, with the lowest vertex of `q` and its height.
fn best_face(p: &Polyhedron, q: &Polyhedron, q_from_p: &Frame) -> (u32, u32, f64) {
    let mut best = (0, 0, f64::NEG_INFINITY);
    let mut vertex = q.support_vertex(q_from_p.vector(-p.faces()[0].normal));
    for (f, plane) in (0..).zip(p.faces()) {
        let direction = q_from_p.vector(-plane.normal);
        vertex = q.support_vertex_from(direction, vertex);
        let height = plane.height(q_from_p.point_back(q.position(vertex)));
        if height > best.2 {
            best = (f, vertex, height);
        }
    }
    best
}

fn best_edges(a: &Polyhedron, b: &Polyhedron, a_from_b: &Frame, start: SatResult, tie: f64) -> SatResult {
    let b_from_a = a_from_b.inverse();
    let mut best = start;
    let center_a = a.center();
    for (i, e1) in (0..).zip(a.edges()) {
        let u1 = e1.direction;
        let u1_b = b_from_a.vector(u1);
        let [left1, right1] = e1.faces.map(|f| b_from_a.vector(a.faces()[f as usize].normal));
        let tail1 = a.position(e1.ends[0]);
        for (j, e2) in (0..).zip(b.edges()) {
            let left = left1.dot(e2.direction);
            let right = right1.dot(e2.direction);
            if left * right >= 0.0 {
                continue;
            }
            let [left2, right2] = e2.faces.map(|f| b.faces()[f as usize].normal.dot(u1_b));
            if left2 * right2 >= 0.0 || left2 * right >= 0.0 {
                continue;
            }
            let cross = u1.cross(a_from_b.vector(e2.direction));
            let length = cross.length();
            if length < 1e-12 {
                continue;
            }
            let rough = cross / length;
            let mut n = (rough - u1.dot(rough) * u1).normalize();
            if n.dot(tail1 - center_a) < 0.0 {
                n = -n;
            }
            let tail2 = a_from_b.point(b.position(e2.ends[0]));
            let gap = n.dot(tail2 - tail1);
            if gap > best.separation + tie {
                let true_gap = measure(a, b, a_from_b, n, e1.ends[0], e2.ends[0]).min(gap);
                if true_gap > best.separation + tie {
                    let axis = Axis::Edges { edge_a: i, edge_b: j };
                    best = SatResult { separation: true_gap, normal: -n, axis };
                }
            }
        }
    }
    best
}

/// Gap along `n` (out of A, in A's frame) by support functions; climbs start at the given vertices.
fn measure(a: &Polyhedron, b: &Polyhedron, a_from_b: &Frame, n: DVec3, start_a: u32, start_b: u32) -> f64 {
    let top = a.position(a.support_vertex_from(n, start_a));
    let bottom = a_from_b.point(b.position(b.support_vertex_from(-a_from_b.back(n), start_b)));
    n.dot(bottom) - n.dot(top)
}

/// Signed gap along a unit direction out of A, in A's frame: positive if the direction separates.
#[must_use]
pub fn gap_along(a: &Polyhedron, b: &Polyhedron, a_from_b: &Frame, direction: DVec3) -> f64 {
    let top = a.position(a.support_vertex(direction));
    let bottom = a_from_b.point(b.position(b.support_vertex(-a_from_b.back(direction))));
    direction.dot(bottom - top)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::{Pose, testkit::SplitMix64};

    /// All axes, all vertices, no pruning.
    fn exhaustive(a: &Polyhedron, b: &Polyhedron, a_from_b: &Frame) -> f64 {
        let spread = |n: DVec3| {
            let top = a.vertices().iter().map(|v| n.dot(v.position)).fold(f64::NEG_INFINITY, f64::max);
            let low =
                b.vertices().iter().map(|v| n.dot(a_from_b.point(v.position))).fold(f64::INFINITY, f64::min);
            low - top
        };
        let faces_a = a.faces().iter().map(|f| f.normal);
        let faces_b = b.faces().iter().map(|f| -a_from_b.vector(f.normal));
        let mut best = faces_a.chain(faces_b).map(spread).fold(f64::NEG_INFINITY, f64::max);
        for e1 in a.edges() {
            for e2 in b.edges() {
                if let Some(n) = e1.direction.cross(a_from_b.vector(e2.direction)).try_normalize() {
                    best = best.max(spread(n)).max(spread(-n));
                }
            }
        }
        best
    }

    #[test]
    fn pruned_axes_equal_all_axes() {
        let mut random = SplitMix64(6);
        let shapes = [
            Polyhedron::cuboid(DVec3::new(0.5, 1.0, 0.7)).unwrap(),
            Polyhedron::dodecahedron(1.0).unwrap(),
            Polyhedron::cone(0.8, 0.6, 7).unwrap(),
            Polyhedron::random(16, 3).unwrap(),
        ];
        for _ in 0..600 {
            let (a, b) = (&shapes[random.below(4)], &shapes[random.below(4)]);
            let frame = Frame::from_pose(&Pose::new(random.vec3(1.3), random.unit_quat()));
            let found = sat(a, b, &frame);
            // Apart, axes that are no face of the Minkowski difference may show a wider gap; the sign is the same.
            let all = exhaustive(a, b, &frame);
            assert!(if all < 0.0 { (found.separation - all).abs() < 1e-12 } else { found.separation > 0.0 });
            assert!((gap_along(a, b, &frame, -found.normal) - found.separation).abs() < 1e-12);
        }
    }

    // proves: CLI-98
    #[test]
    fn boxes_overlapping_by_delta_return_delta() {
        let cube = Polyhedron::cuboid(DVec3::ONE).unwrap();
        for delta in [1e-9, 1e-3, 0.1, 0.7] {
            let frame = Frame::from_pose(&Pose::from_translation(DVec3::new(0.3, 2.0 - delta, -0.2)));
            let found = sat(&cube, &cube, &frame);
            assert!((found.separation + delta).abs() < 1e-15);
            assert_eq!(found.normal, DVec3::NEG_Y);
        }
    }
}
