//! Contact tracking: are two features still a contact after a small motion?
//!
//! # Reference
//! Fontijne 2000 §2.4.2, §3.11: the improved contact handling keeps the features that touched and asks again.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `features` | one feature of A and one of B, from an earlier query |
//! | valid | each closest point lies in the other feature's Voronoi region |
//!
//! # Formula
//! ```text
//! closest points p, q of the two features;   valid ⇔ q ∈ VR(f_A) and p ∈ VR(f_B)
//! ```
//!
//! # Cost
//! Constant, plus the planes of two regions.
//!
//! # Numerics
//! Regions are flared by 1e-9 of the size, so that a contact on a border does not flicker. Contacts may be below a
//! face: separations are signed along the normal.
//!
//! # Failure
//! `None` for features that do not exist, are both faces, or an edge against a face: these are no contacts.
//!
//! # Tested by
//! `tests/tracking.rs`

use crate::{
    Polyhedron,
    closest::{point_segment, refine_crossing, segment_segment},
    relative::Frame,
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{ContactPoint, FeatureId};

/// What became of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tracked {
    /// Closest points of the features, in A's frame.
    pub contact: ContactPoint,
    /// Unit vector from B to A.
    pub normal: DVec3,
    /// True while each point lies in the Voronoi region of the other feature.
    pub valid: bool,
}

/// Closest points of two given features at a new pose, and whether they still make a contact.
#[must_use]
pub fn track(a: &Polyhedron, b: &Polyhedron, a_from_b: &Pose, features: [FeatureId; 2]) -> Option<Tracked> {
    let frame = Frame::from_pose(a_from_b);
    let [fa, fb] = features;
    let (i, j) = (fa.index(), fb.index());
    let vertex_a = || a.vertices().get(i as usize).map(|v| v.position);
    let vertex_b = || b.vertices().get(j as usize).map(|v| frame.point(v.position));
    let (point_a, point_b, normal) = match (fa.dimension()?, fb.dimension()?) {
        (0, 2) => {
            let plane = b.faces().get(j as usize)?;
            let x = frame.point_back(vertex_a()?);
            let foot = x - plane.height(x) * plane.normal;
            (vertex_a()?, frame.point(foot), frame.vector(plane.normal))
        }
        (2, 0) => {
            let plane = a.faces().get(i as usize)?;
            let x = vertex_b()?;
            (x - plane.height(x) * plane.normal, x, -plane.normal)
        }
        (0, 0) => (vertex_a()?, vertex_b()?, DVec3::ZERO),
        (0, 1) => {
            b.edges().get(j as usize)?;
            let [t, h] = b.segment(j).map(|q| frame.point(q));
            let x = vertex_a()?;
            (x, t + point_segment(x, t, h) * (h - t), DVec3::ZERO)
        }
        (1, 0) => {
            a.edges().get(i as usize)?;
            let [t, h] = a.segment(i);
            let x = vertex_b()?;
            (t + point_segment(x, t, h) * (h - t), x, DVec3::ZERO)
        }
        (1, 1) => {
            let (e1, e2) = (a.edges().get(i as usize)?, b.edges().get(j as usize)?);
            let [q0, q1] = b.segment(j).map(|q| frame.point(q));
            let [p0, p1] = a.segment(i);
            let (p, q) = segment_segment(p0, p1, q0, q1);
            // Out of A's edge, so that edges which have crossed count as overlapping.
            let out: DVec3 = e1.faces.map(|f| a.faces()[f as usize].normal).iter().sum();
            let normal = refine_crossing(e1.direction, frame.vector(e2.direction), -out).map(|n| n.0);
            (p, q, normal?)
        }
        _ => return None,
    };
    let gap = point_a - point_b;
    let normal = if normal == DVec3::ZERO { gap.try_normalize()? } else { normal };
    let flare = 1e-9 * (a.extent() + b.extent());
    let valid = in_region(a, fa, point_b, flare) && in_region(b, fb, frame.point_back(point_a), flare);
    let contact = ContactPoint { point_a, point_b, separation: gap.dot(normal), features };
    Some(Tracked { contact, normal, valid })
}

/// True if a point (in the polyhedron's frame) lies in the Voronoi region of a feature, flared by `flare` metres.
/// For a face the region includes what lies below it; a feature that does not exist has no region.
#[must_use]
pub fn in_region(p: &Polyhedron, feature: FeatureId, point: DVec3, flare: f64) -> bool {
    let index = feature.index();
    match feature.dimension() {
        Some(0) if (index as usize) < p.vertices().len() => {
            let x = point - p.position(index);
            p.spokes(index).iter().all(|s| s.direction.dot(x) <= flare)
        }
        Some(1) if (index as usize) < p.edges().len() => {
            let edge = &p.edges()[index as usize];
            let along = edge.direction.dot(point - p.position(edge.ends[0]));
            let beside = edge.sides.iter().all(|s| s.height(point) >= -flare);
            along >= -flare && along <= edge.length + flare && beside
        }
        Some(2) if (index as usize) < p.faces().len() => {
            p.sides(index).iter().all(|s| s.plane.height(point) <= flare)
        }
        _ => false,
    }
}
