//! Witness points of a penetration whose axis is known.

use crate::{
    Polyhedron,
    brute_force::closest_features,
    closest::segment_segment,
    manifold::{Patch, Polygon, clip},
    relative::Frame,
    sat::{Axis, SatResult},
};
use sim_math::glam::DVec3;
use sim_traits::{FeatureId, Separation};

/// Deepest points along the best separating axis, in A's frame, with the features that hold them.
#[must_use]
pub(crate) fn penetration(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Frame,
    axis: &SatResult,
) -> (Separation, [FeatureId; 2]) {
    let (normal, distance) = (axis.normal, axis.separation);
    let tolerance = 1e-11 * (a.extent() + b.extent());
    match axis.axis {
        Axis::FaceA { face, vertex } => {
            let Some((point_b, id)) = deepest(a, face, b, vertex, &a_from_b.inverse(), tolerance) else {
                return touching(a, b, a_from_b, axis);
            };
            let point_b = a_from_b.point(point_b);
            let point_a = point_b + distance * normal;
            (Separation { distance, normal, point_a, point_b }, [FeatureId::face(face), id])
        }
        Axis::FaceB { face, vertex } => {
            let Some((point_a, id)) = deepest(b, face, a, vertex, a_from_b, tolerance) else {
                return touching(a, b, a_from_b, axis);
            };
            let point_b = point_a - distance * normal;
            (Separation { distance, normal, point_a, point_b }, [id, FeatureId::face(face)])
        }
        Axis::Edges { edge_a, edge_b } => {
            let [p0, p1] = a.segment(edge_a);
            let [q0, q1] = b.segment(edge_b).map(|q| a_from_b.point(q));
            // Closest along the axis is what counts, so the lines are compared in the plane normal to it.
            let flat = |x: DVec3| x - normal.dot(x) * normal;
            let (p, q) = segment_segment(flat(p0), flat(p1), flat(q0), flat(q1));
            if (p - q).length() > tolerance {
                return touching(a, b, a_from_b, axis);
            }
            let middle = 0.5 * (p + q);
            let point_a = middle + 0.5 * (normal.dot(p0) + normal.dot(q0) + distance) * normal;
            let point_b = point_a - distance * normal;
            let features = [FeatureId::edge(edge_a), FeatureId::edge(edge_b)];
            (Separation { distance, normal, point_a, point_b }, features)
        }
    }
}

/// Where several axes are equally good up to rounding, the one chosen may have no witness of its own. Moved apart along
/// it the shapes touch, and their closest features give the place.
#[cold]
fn touching(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Frame,
    axis: &SatResult,
) -> (Separation, [FeatureId; 2]) {
    let (normal, distance) = (axis.normal, axis.separation);
    let apart = Frame { translation: a_from_b.translation + distance * normal, ..*a_from_b };
    let (p, q, features) = closest_features(a, b, &apart);
    let point_a = 0.5 * (p + q);
    (Separation { distance, normal, point_a, point_b: point_a - distance * normal }, features)
}

/// Point of `q` (in q's frame) deepest below a face of `p` and inside the face's prism, starting from the deepest
/// vertex. Where an edge or a face of `q` is parallel to the face, that vertex may lie outside the prism, and
/// another point at the same depth is the witness. `None` if there is no such point.
fn deepest(
    p: &Polyhedron,
    face: u32,
    q: &Polyhedron,
    vertex: u32,
    q_from_p: &Frame,
    tolerance: f64,
) -> Option<(DVec3, FeatureId)> {
    let position = q.position(vertex);
    let x = q_from_p.point_back(position);
    if p.sides(face).iter().all(|s| s.plane.height(x) <= 0.0) {
        return Some((position, FeatureId::vertex(vertex)));
    }
    let plane = &p.faces()[face as usize];
    let lowest = plane.height(x);
    let mut best = (position, FeatureId::vertex(vertex), lowest + tolerance);
    let mut found = false;
    let reference: Patch = Patch::of_face(p, face);
    let p_from_q = q_from_p.inverse();
    for spoke in q.spokes(vertex) {
        for incident in q.edges()[spoke.edge as usize].faces {
            let polygon: Polygon = clip(&reference, &Patch::of_face_in(q, incident, &p_from_q), plane.normal);
            for point in polygon.points() {
                let height = plane.height(point.position);
                if height < best.2 {
                    best = (q_from_p.point(point.position), FeatureId::face(incident), height);
                    found = true;
                }
            }
        }
    }
    found.then_some((best.0, best.1))
}
