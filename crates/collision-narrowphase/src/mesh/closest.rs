//! Closest point of a mesh, and whether a point is inside a closed one.
//!
//! # Reference
//! Bærentzen and Aanæs 2005: the sign of the distance by angle-weighted normals of the nearest feature.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `pseudo-normal` | Σ over the triangles at the feature of angle · normal |
//!
//! # Formula
//! ```text
//! inside ⇔ (p − nearest) · pseudo-normal < 0;   angles: 2π for a face, π for each side of an edge, corner angles at a point
//! ```
//!
//! # Cost
//! O(log n) boxes.
//!
//! # Numerics
//! A point on the surface counts as inside. Right at any distance for closed meshes that do not cross themselves.
//!
//! # Failure
//! A point that is not finite has no nearest point and is in no mesh.
//!
//! # Tested by
//! `tests/mesh.rs`: `containment_equals_the_winding_number`, `closest_point_equals_brute_force`

use super::{
    TriMesh,
    triangle::{Part, closest_point},
};
use sim_math::{Aabb, glam::DVec3, ops};

/// A point of the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeshPoint {
    /// Metres.
    pub point: DVec3,
    /// Distance from the query, metres.
    pub distance: f64,
    /// A triangle that holds it.
    pub triangle: u32,
    /// Outward normal of the feature that holds it (mean of its triangles by angle), unit length.
    pub normal: DVec3,
}

impl TriMesh {
    /// Point of the surface nearest to `point`, if it is not farther than `limit` (metres); the lowest triangle where
    /// several are equally near.
    #[must_use]
    pub fn closest_point(&self, point: DVec3, limit: f64) -> Option<MeshPoint> {
        if !point.is_finite() || limit.is_nan() {
            return None;
        }
        let mut best: Option<(DVec3, Part, u32)> = None;
        let mut least = limit;
        let order = self.bvh().order();
        self.bvh().visit_nearest(&Aabb { min: point, max: point }, limit, |slot, _| {
            let (x, part) = closest_point(point, *self.slot(slot));
            let distance = (x - point).length();
            let triangle = order[slot];
            let nearer = match best {
                None => distance <= least,
                Some(b) => distance < least || (distance <= least && triangle < b.2),
            };
            if nearer {
                (best, least) = (Some((x, part, triangle)), distance);
            }
            // A touch wider, so that rounding of box distances hides no equally near triangle.
            least * (1.0 + 1e-14)
        });
        best.map(|(x, part, triangle)| MeshPoint {
            point: x,
            distance: least,
            triangle,
            normal: self.pseudo_normal(triangle, part),
        })
    }

    /// True if a point lies in the solid of a closed mesh or on its surface; false for a sheet.
    #[must_use]
    pub fn contains(&self, point: DVec3) -> bool {
        if !self.is_closed() || !self.bounds().contains(point) {
            return false;
        }
        self.closest_point(point, f64::INFINITY)
            .is_some_and(|near| near.normal.dot(point - near.point) <= 0.0)
    }

    /// Angle-weighted unit normal of a part of a triangle.
    pub(crate) fn pseudo_normal(&self, triangle: u32, part: Part) -> DVec3 {
        let own = self.normal(triangle);
        let sum = match part {
            Part::Face => own,
            Part::Edge(k) => match self.neighbours(triangle)[k] {
                super::NONE => own,
                other => own + self.normal(other),
            },
            Part::Corner(k) => {
                let point = self.triangles()[triangle as usize][k];
                self.fan(point).iter().map(|&t| self.corner_angle(t, point) * self.normal(t)).sum()
            }
        };
        sum.try_normalize().unwrap_or(own)
    }

    fn corner_angle(&self, triangle: u32, point: u32) -> f64 {
        let corners = self.triangles()[triangle as usize];
        let k = corners.iter().position(|c| *c == point).unwrap_or(0);
        let at = |k: usize| self.points()[corners[k % 3] as usize];
        let (u, v) = (at(k + 1) - at(k), at(k + 2) - at(k));
        ops::atan2(u.cross(v).length(), u.dot(v))
    }
}
