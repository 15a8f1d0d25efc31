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
//! One support query per face that can still win and one sign test per pair of edges. No allocation.
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
use sim_traits::FeatureId;

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

impl Axis {
    /// The features of A and B that give the axis.
    #[must_use]
    pub fn features(&self) -> [FeatureId; 2] {
        match *self {
            Self::FaceA { face, vertex } => [FeatureId::face(face), FeatureId::vertex(vertex)],
            Self::FaceB { face, vertex } => [FeatureId::vertex(vertex), FeatureId::face(face)],
            Self::Edges { edge_a, edge_b } => [FeatureId::edge(edge_a), FeatureId::edge(edge_b)],
        }
    }
}

/// Signed separation of two polyhedra. Exact depth and direction when they overlap; when they do not, a lower bound
/// of the distance.
#[must_use]
pub fn sat(a: &Polyhedron, b: &Polyhedron, a_from_b: &Frame) -> SatResult {
    best_axis(a, b, a_from_b, None)
}

/// The same for polyhedra known to overlap, or to be at most `gap` metres apart: edges that lie too deep are passed over.
#[must_use]
pub(crate) fn sat_overlapping(a: &Polyhedron, b: &Polyhedron, a_from_b: &Frame, gap: f64) -> SatResult {
    best_axis(a, b, a_from_b, Some(gap))
}

fn best_axis(a: &Polyhedron, b: &Polyhedron, a_from_b: &Frame, overlap: Option<f64>) -> SatResult {
    let b_from_a = a_from_b.inverse();
    let tie = 1e-12 * (a.extent() + b.extent());
    // A vertex of B towards A bounds the height of B above every face of A.
    let towards = b_from_a.point(a.center()) - b.center();
    let first = b.support_vertex(towards);
    let (face_a, vertex_b, gap_a) =
        best_face(a, b, &b_from_a, first, f64::NEG_INFINITY).unwrap_or((0, 0, f64::NEG_INFINITY));
    // The vertex of A under that face is as good for the faces of B that could be better.
    let first = a.support_vertex(a.faces()[face_a as usize].normal);
    // The same choice whichever shape is called A matters less than one that does not flicker: A wins ties.
    let best = if let Some((face, vertex, gap)) = best_face(b, a, a_from_b, first, gap_a + tie) {
        let normal = a_from_b.vector(b.faces()[face as usize].normal);
        SatResult { separation: gap, normal, axis: Axis::FaceB { face, vertex } }
    } else {
        let normal = -a.faces()[face_a as usize].normal;
        SatResult { separation: gap_a, normal, axis: Axis::FaceA { face: face_a, vertex: vertex_b } }
    };
    let Some(gap) = overlap else {
        return best_edges(a, b, a_from_b, best, tie, 0..a.edges().len() as u32, f64::INFINITY);
    };
    // The edges whose axis is better cross within the depth found so far. All of B lies above A's top minus that depth,
    // all of A below its top.
    let reach = best.separation.abs() + gap + tie;
    let out = -best.normal;
    let top = match best.axis {
        Axis::FaceA { face, .. } => a.faces()[face as usize].offset,
        _ => out.dot(a.position(a.support_vertex(out))),
    };
    let mut near = NearEdges { edges: [0; NearEdges::MOST], len: 0 };
    if near.fill(a, out, top - 2.0 * reach) {
        let edges = near.edges[..near.len].iter().map(|i| u32::from(*i));
        best_edges(a, b, a_from_b, best, tie, edges, top + reach)
    } else {
        best_edges(a, b, a_from_b, best, tie, 0..a.edges().len() as u32, top + reach)
    }
}

/// Face of `p` above which `q` rises most, more than `bound` metres, with the lowest vertex of `q` and its height. The
/// vertex `first` of `q` tells where to begin.
fn best_face(
    p: &Polyhedron,
    q: &Polyhedron,
    q_from_p: &Frame,
    first: u32,
    bound: f64,
) -> Option<(u32, u32, f64)> {
    let mut vertex = first;
    let mut x = q_from_p.point_back(q.position(vertex));
    let center = q_from_p.point_back(q.center());
    let mut likely = (0, f64::NEG_INFINITY);
    for (f, plane) in (0..).zip(p.faces()) {
        let height = plane.height(x);
        if height > likely.1 {
            likely = (f, height);
        }
    }
    let mut best = None;
    let mut highest = bound;
    let rest = (0..p.faces().len() as u32).filter(|f| *f != likely.0);
    for f in [likely.0].into_iter().chain(rest) {
        let plane = &p.faces()[f as usize];
        // Any point of q bounds its height.
        if plane.height(x).min(plane.height(center)) <= highest {
            continue;
        }
        vertex = q.support_vertex_from(q_from_p.vector(-plane.normal), vertex);
        x = q_from_p.point_back(q.position(vertex));
        let height = plane.height(x);
        if height > highest {
            highest = height;
            best = Some((f, vertex, height));
        }
    }
    best
}

/// Edges of A that reach above a height, by number.
struct NearEdges {
    edges: [u16; NearEdges::MOST],
    len: usize,
}

impl NearEdges {
    /// Beyond this many edges nothing is left out.
    const MOST: usize = 64;

    /// False if there are too many.
    fn fill(&mut self, a: &Polyhedron, out: DVec3, height: f64) -> bool {
        for (i, edge) in (0..=u16::MAX).zip(a.edges()) {
            if out.dot(a.position(edge.ends[0])) < height && out.dot(a.position(edge.ends[1])) < height {
                continue;
            }
            let Some(slot) = self.edges.get_mut(self.len) else { return false };
            *slot = i;
            self.len += 1;
        }
        a.edges().len() <= usize::from(u16::MAX)
    }
}

/// The best of `start` and the axes of the given edges of A and those of B that reach below `height` along its direction.
fn best_edges(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Frame,
    start: SatResult,
    tie: f64,
    edges_a: impl Iterator<Item = u32> + Clone,
    height: f64,
) -> SatResult {
    let mut best = start;
    let center_a = a.center();
    for (j, e2) in (0..).zip(b.edges()) {
        let tail2 = a_from_b.point(b.position(e2.ends[0]));
        let u2 = a_from_b.vector(e2.direction);
        let low = start.normal.dot(tail2).max(start.normal.dot(tail2 + e2.length * u2));
        if -low > height {
            continue;
        }
        let [left2, right2] = e2.faces.map(|f| a_from_b.vector(b.faces()[f as usize].normal));
        for i in edges_a.clone() {
            let e1 = &a.edges()[i as usize];
            let u1 = e1.direction;
            let (below, above) = (left2.dot(u1), right2.dot(u1));
            if below * above >= 0.0 {
                continue;
            }
            let [left, right] = e1.faces.map(|f| a.faces()[f as usize].normal.dot(u2));
            if left * right >= 0.0 || below * right >= 0.0 {
                continue;
            }
            let cross = u1.cross(u2);
            let length = cross.length();
            if length < 1e-12 {
                continue;
            }
            let tail1 = a.position(e1.ends[0]);
            // Most are far from winning: that shows before any direction is made unit or exact.
            let sense = cross.dot(tail1 - center_a);
            if length > 1e-3 && cross.dot(tail2 - tail1) * sense.signum() <= best.separation * length {
                continue;
            }
            let rough = cross / length;
            let mut n = (rough - u1.dot(rough) * u1).normalize();
            if n.dot(tail1 - center_a) < 0.0 {
                n = -n;
            }
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
