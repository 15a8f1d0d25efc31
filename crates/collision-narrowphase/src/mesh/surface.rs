//! A mesh as a surface that convex shapes touch.

use super::{
    NONE, TriMesh,
    triangle::{Part, closest_point},
};
use crate::surface::Surface;
use sim_math::{Aabb, glam::DVec3};
use std::ops::ControlFlow;

impl Surface for TriMesh {
    fn name(&self) -> &'static str {
        "mesh"
    }

    fn visit_box(
        &self,
        aabb: &Aabb,
        visit: &mut dyn FnMut(u32, &[DVec3; 3]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let order = self.bvh().order();
        self.bvh().visit_box(aabb, |slot| {
            let corners = self.slot(slot);
            let [p, q, r] = corners;
            // A leaf's box holds several triangles: look at each.
            let over = p.min(*q).min(*r).cmple(aabb.max).all() && p.max(*q).max(*r).cmpge(aabb.min).all();
            if over { visit(order[slot], corners) } else { ControlFlow::Continue(()) }
        })
    }

    fn visit_nearest(
        &self,
        aabb: &Aabb,
        limit: f64,
        visit: &mut dyn FnMut(u32, &[DVec3; 3], f64) -> f64,
    ) -> f64 {
        let order = self.bvh().order();
        self.bvh().visit_nearest(aabb, limit, |slot, limit| {
            let corners = self.slot(slot);
            let [p, q, r] = corners;
            let gap = (p.min(*q).min(*r) - aabb.max).max(aabb.min - p.max(*q).max(*r)).max(DVec3::ZERO);
            if gap.length_squared() > limit * limit { limit } else { visit(order[slot], corners, limit) }
        })
    }

    fn all_around(&self, triangle: u32, part: Part, test: &mut dyn FnMut(DVec3) -> bool) -> bool {
        let corners = self.triangles()[triangle as usize];
        match part {
            Part::Face => true,
            Part::Edge(k) => {
                let other = self.neighbours(triangle)[k];
                let shared = [corners[k], corners[(k + 1) % 3]];
                other == NONE
                    || self.triangles()[other as usize]
                        .iter()
                        .filter(|p| !shared.contains(p))
                        .all(|p| test(self.points()[*p as usize]))
            }
            Part::Corner(k) => self.fan(corners[k]).iter().filter(|t| **t != triangle).all(|t| {
                self.triangles()[*t as usize]
                    .iter()
                    .filter(|p| **p != corners[k])
                    .all(|p| test(self.points()[*p as usize]))
            }),
        }
    }

    fn is_gentle(&self, triangle: u32) -> bool {
        self.gentle[triangle as usize]
    }

    fn one_sided(&self) -> bool {
        self.is_closed()
    }

    fn way_out(&self, point: DVec3) -> Option<(u32, DVec3, DVec3)> {
        if !self.is_closed() || !self.bounds().contains(point) {
            return None;
        }
        let near = self.closest_point(point, f64::INFINITY)?;
        if near.normal.dot(point - near.point) > 0.0 {
            return None;
        }
        // From inside the nearest point is never on a convex edge, so the direction to it is the outward one.
        let out = (near.point - point).try_normalize().unwrap_or(near.normal);
        debug_assert!(closest_point(point, self.triangle(near.triangle)).0 == near.point);
        Some((near.triangle, out, near.point))
    }
}
