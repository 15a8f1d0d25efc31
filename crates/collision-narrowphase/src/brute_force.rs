//! Exhaustive closest points of two polyhedra: the oracle for everything faster.
//!
//! # Reference
//! Closest points of disjoint polyhedra lie on a vertex and a face, or on two edges.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `foot` | projection of a vertex on the plane of a face |
//!
//! # Formula
//! ```text
//! min( vertex above face with its foot inside,  segment to segment )  over all pairs
//! ```
//!
//! # Cost
//! O(V F + E²). No allocation.
//!
//! # Numerics
//! Whether the shapes overlap is decided by [`sat`](crate::sat::sat); distances carry rounding only.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `tests/hostile.rs`

use crate::{
    Polyhedron,
    closest::{interior, point_segment, refine_crossing, segment_segment},
    relative::Frame,
    sat,
    sharpen::sharpen_polyhedra,
    witness,
};
use sim_math::glam::DVec3;
use sim_traits::{FeatureId, Separation};

/// Closest points of two polyhedra by trying every pair of features, with the features that hold them; minus the
/// depth by separating axes when they overlap.
#[must_use]
pub fn brute_force(a: &Polyhedron, b: &Polyhedron, a_from_b: &Frame) -> (Separation, [FeatureId; 2]) {
    let axis = sat::sat(a, b, a_from_b);
    if axis.separation <= 0.0 {
        return witness::penetration(a, b, a_from_b, &axis);
    }
    let (found, features) = apart(a, b, a_from_b, &axis);
    // The direction of a short gap needs the corners around it.
    let (sharp, _) = sharpen_polyhedra(a, b, a_from_b, &found, 1e-13 * (a.extent() + b.extent()));
    (sharp, features)
}

/// Of all pairs as near as the nearest, up to rounding, the one whose normal leaves the widest gap: the distance of
/// a corner from a point a little beside its foot is the same to the last digit, the direction is not.
fn apart(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Frame,
    axis: &sat::SatResult,
) -> (Separation, [FeatureId; 2]) {
    let rounding = 1e-14 * (a.extent() + b.extent());
    let mut least = f64::INFINITY;
    every_pair(a, b, a_from_b, |p, q, _| least = least.min((p - q).length_squared()));
    let least = least.sqrt();
    if least <= 1e-10 * (a.extent() + b.extent()) {
        // Touching: points tell no direction, the best axis does.
        let (p, q, features) = closest_features(a, b, a_from_b);
        let (normal, distance) = (axis.normal, axis.separation);
        let (middle, half) = (0.5 * (p + q), 0.5 * distance * normal);
        return (Separation { distance, normal, point_a: middle + half, point_b: middle - half }, features);
    }
    let enough = (least + rounding) * (least + rounding);
    let mut best = (f64::NEG_INFINITY, None);
    every_pair(a, b, a_from_b, |p, q, features| {
        // The first that is as good as can be is kept.
        if (p - q).length_squared() > enough || best.0 >= least - 0.1 * rounding {
            return;
        }
        let (found, features) = refined(a, b, a_from_b, (p, q, features), axis.normal);
        let gap = sat::gap_along(a, b, a_from_b, -found.normal);
        if gap > best.0 {
            best = (gap, Some((found, features)));
        }
    });
    best.1.unwrap_or_else(|| {
        let (p, q, features) = closest_features(a, b, a_from_b);
        refined(a, b, a_from_b, (p, q, features), axis.normal)
    })
}

/// Direction and distance from the kind of features where that has more digits than the points.
fn refined(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Frame,
    (point_a, point_b, features): (DVec3, DVec3, [FeatureId; 2]),
    fallback: DVec3,
) -> (Separation, [FeatureId; 2]) {
    let features = [lowered(a, features[0], point_a), lowered(b, features[1], a_from_b.point_back(point_b))];
    let gap = point_a - point_b;
    let crossing = crossing_edges(a, b, a_from_b, point_a, point_b, features);
    if let Some((normal, distance)) = crossing.and_then(|(u1, u2)| refine_crossing(u1, u2, gap)) {
        return (Separation { distance, normal, point_a: point_b + distance * normal, point_b }, features);
    }
    // Above a face the normal is known better than the points can tell.
    let face_normal = match features.map(FeatureId::dimension) {
        [Some(2), _] => Some(-a.faces()[features[0].index() as usize].normal),
        [_, Some(2)] => Some(a_from_b.vector(b.faces()[features[1].index() as usize].normal)),
        _ => None,
    };
    if let Some(normal) = face_normal {
        let distance = normal.dot(gap);
        return (Separation { distance, normal, point_a: point_b + distance * normal, point_b }, features);
    }
    let distance = gap.length();
    let normal = if distance > 0.0 { gap / distance } else { fallback };
    (Separation { distance, normal, point_a, point_b }, features)
}

/// The end of an edge if the point is there.
fn lowered(p: &Polyhedron, feature: FeatureId, point: DVec3) -> FeatureId {
    if feature.dimension() != Some(1) {
        return feature;
    }
    let [t, h] = p.segment(feature.index());
    let s = point_segment(point, t, h);
    let ends = p.edges()[feature.index() as usize].ends;
    if interior(s) { feature } else { FeatureId::vertex(ends[usize::from(s > 0.5)]) }
}

/// Directions of both edges, in A's frame, if the closest points are interior to two edges.
fn crossing_edges(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Frame,
    point_a: DVec3,
    point_b: DVec3,
    features: [FeatureId; 2],
) -> Option<(DVec3, DVec3)> {
    let [Some(1), Some(1)] = features.map(FeatureId::dimension) else { return None };
    let [i, j] = features.map(FeatureId::index);
    let [p0, p1] = a.segment(i);
    let [q0, q1] = b.segment(j).map(|q| a_from_b.point(q));
    let both = interior(point_segment(point_a, p0, p1)) && interior(point_segment(point_b, q0, q1));
    both.then(|| (a.edges()[i as usize].direction, a_from_b.vector(b.edges()[j as usize].direction)))
}

/// Closest pair of features of the surfaces, in A's frame.
pub(crate) fn closest_features(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Frame,
) -> (DVec3, DVec3, [FeatureId; 2]) {
    let mut best = (DVec3::ZERO, DVec3::ZERO, [FeatureId::NONE; 2]);
    let mut least = f64::INFINITY;
    // Of equally near pairs a face is the better: its normal has all its digits.
    let bonus = 2e-15 * (a.extent() + b.extent());
    every_pair(a, b, a_from_b, |p, q, features| {
        let distance = (p - q).length();
        let face = features.iter().any(|f| f.dimension() == Some(2));
        if distance < least + if face { bonus } else { 0.0 } {
            least = distance;
            best = (p, q, features);
        }
    });
    best
}

/// Calls `visit` with the closest points, in A's frame, of all pairs of edges and of corners above faces.
fn every_pair(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Frame,
    mut visit: impl FnMut(DVec3, DVec3, [FeatureId; 2]),
) {
    let slack = 1e-12 * (a.extent() + b.extent());
    for (v, vertex) in (0..).zip(b.vertices()) {
        let x = a_from_b.point(vertex.position);
        for f in 0..a.faces().len() as u32 {
            if let Some(foot) = foot_inside(a, f, x, slack) {
                visit(foot, x, [FeatureId::face(f), FeatureId::vertex(v)]);
            }
        }
    }
    for (v, vertex) in (0..).zip(a.vertices()) {
        let x = a_from_b.point_back(vertex.position);
        for f in 0..b.faces().len() as u32 {
            if let Some(foot) = foot_inside(b, f, x, slack) {
                visit(vertex.position, a_from_b.point(foot), [FeatureId::vertex(v), FeatureId::face(f)]);
            }
        }
    }
    for (i, _) in (0..).zip(a.edges()) {
        let [p0, p1] = a.segment(i);
        for (j, _) in (0..).zip(b.edges()) {
            let [q0, q1] = b.segment(j).map(|q| a_from_b.point(q));
            let (p, q) = segment_segment(p0, p1, q0, q1);
            visit(p, q, [FeatureId::edge(i), FeatureId::edge(j)]);
        }
    }
}

/// Foot of a point above a face, if it lies in the face.
fn foot_inside(p: &Polyhedron, face: u32, x: DVec3, slack: f64) -> Option<DVec3> {
    let plane = &p.faces()[face as usize];
    let height = plane.height(x);
    // Rounding may put a touching vertex a little below.
    let inside = height >= -slack && p.sides(face).iter().all(|s| s.plane.height(x) <= 0.0);
    inside.then(|| x - height * plane.normal)
}
