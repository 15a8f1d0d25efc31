//! A convex shape against triangles that are part of a surface: distance, and contacts that inner edges do not disturb.
//!
//! # Reference
//! Own; the criterion is that of closest features: a contact is genuine if the surface has no nearer point around it.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `n` | normal of the triangle, turned to the side from which it is touched |
//! | `m` | direction from the triangle to the shape by GJK or EPA |
//! | `q` | points of the surface next to the feature that holds the closest point `p` |
//!
//! # Formula
//! ```text
//! genuine: m · (q − p) ≤ 0 for the corner across an edge, for all corners around a point
//! genuine or m = n: contact along m.   else: contact along n, only within the prism over the triangle
//! in overlap, where all edges of the triangle are gentle (below 15°): along n without asking
//! ```
//!
//! # Cost
//! One distance query per triangle near the shape.
//!
//! # Numerics
//! Directions within 1e-6 rad of n are made n exactly, so that a flat floor has one normal to the last bit.
//!
//! # Failure
//! [`NarrowPhaseError::Budget`] if EPA does not converge on a custom support map.
//!
//! # Tested by
//! `soak_contacts_equal_brute_force_over_triangles_on_random_poses`,
//! `soak_distance_equals_the_least_over_all_pairs_of_features`, `inner_edges_of_a_flat_floor_leave_one_normal`,
//! `tests/sliding.rs`

mod sphere;
#[cfg(test)]
mod tests;

use crate::{
    gjk::{Core, Cores},
    manifold::{Patch, patch_manifold, sized_manifold},
    mesh::triangle::{Part, closest_point},
    relative::Frame,
};
use sim_math::{Aabb, Pose, glam::DVec3};
use sim_traits::{FeatureId, Manifold, NarrowPhaseError, Separation, Shape};
use std::ops::ControlFlow;

/// 1 − cos of the angle below which a direction is taken to be the triangle's normal.
const SNAP: f64 = 5e-13;
/// Cosine of an angle to the normal that does not tell front from back.
const SIDEWAYS: f64 = 1e-6;
/// Slope towards a neighbour that still counts as level.
const LEVEL: f64 = 1e-7;

/// Triangles in space that know their neighbours.
pub(crate) trait Surface {
    /// Name for messages.
    fn name(&self) -> &'static str;

    /// Calls `visit` with number and corners of every triangle whose box overlaps `aabb`.
    fn visit_box(
        &self,
        aabb: &Aabb,
        visit: &mut dyn FnMut(u32, &[DVec3; 3]) -> ControlFlow<()>,
    ) -> ControlFlow<()>;

    /// Calls `visit(number, corners, limit)` for every triangle whose box is within `limit` of `aabb`; it returns the new
    /// limit. Near ones come first.
    fn visit_nearest(
        &self,
        aabb: &Aabb,
        limit: f64,
        visit: &mut dyn FnMut(u32, &[DVec3; 3], f64) -> f64,
    ) -> f64;

    /// True if `test` holds for all points of the surface next to a part of a triangle, those of the triangle left out.
    fn all_around(&self, triangle: u32, part: Part, test: &mut dyn FnMut(DVec3) -> bool) -> bool;

    /// True if no edge of a triangle is a sharp ridge or a border: its contacts may all go along its normal.
    fn is_gentle(&self, triangle: u32) -> bool;

    /// True if only the front of triangles is touched, the other side being solid.
    fn one_sided(&self) -> bool;

    /// A triangle near a point that is inside, with the outward unit normal there and a point of the surface; `None` if
    /// the point is not inside.
    fn way_out(&self, point: DVec3) -> Option<(u32, DVec3, DVec3)>;
}

/// A bounded convex shape next to a surface.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neighbour<'a> {
    shape: &'a Shape,
    core: Core<'a>,
    /// Maps the surface's frame to the shape's.
    frame: Frame,
    /// Radius of a sphere around the shape's origin, if the shape is one.
    sphere: Option<f64>,
    /// Box around the shape in the surface's frame.
    aabb: Aabb,
    size: f64,
    /// Box around the shape in its own frame.
    local: Aabb,
    /// A point inside the shape, in its frame.
    middle: DVec3,
    /// The same in the surface's frame, and the distance of the farthest point of the shape from it.
    center: DVec3,
    extent: f64,
    /// Name of the surface, for messages.
    other: &'static str,
}

impl<'a> Neighbour<'a> {
    /// `shape_from_surface` must be finite. `None` for shapes without a support map.
    pub(crate) fn new(shape: &'a Shape, shape_from_surface: &Pose, surface: &impl Surface) -> Option<Self> {
        let sphere = if let Shape::Sphere(s) = shape { Some(s.radius()) } else { None };
        let polyhedron = crate::as_polyhedron(shape);
        let middle = polyhedron.map_or(DVec3::ZERO, crate::Polyhedron::center);
        let frame = Frame::from_pose(shape_from_surface);
        Some(Self {
            shape,
            core: Core::of(shape)?,
            frame,
            center: frame.point_back(middle),
            extent: polyhedron.map_or_else(|| shape.bounding_radius(), crate::Polyhedron::extent),
            middle,
            sphere,
            aabb: shape.aabb(&shape_from_surface.inverse()),
            size: shape.bounding_radius(),
            local: match polyhedron {
                Some(p) => p.local_aabb(),
                None => shape.aabb(&Pose::IDENTITY),
            },
            other: surface.name(),
        })
    }

    fn budget(&self) -> NarrowPhaseError {
        let iterations = crate::gjk::epa::MAX_VERTICES as u32;
        NarrowPhaseError::Budget { a: self.shape.name(), b: self.other, iterations }
    }

    /// Signed distance from one triangle without thickness, in the shape's frame.
    pub(crate) fn separation(&self, triangle: &[DVec3; 3]) -> Result<Separation, NarrowPhaseError> {
        if let Some(radius) = self.sphere {
            return Ok(self.sphere_separation(radius, triangle));
        }
        self.cores(triangle).separation(DVec3::ZERO).ok_or_else(|| self.budget())
    }

    /// Box around the shape in the surface's frame.
    #[inline]
    pub(crate) fn aabb(&self) -> &Aabb {
        &self.aabb
    }

    /// Distance without depth, for the nearest of many: one beyond `limit` is just found to be that. The guess is a
    /// direction towards the shape, or zero.
    pub(crate) fn gap(&self, triangle: &[DVec3; 3], guess: DVec3, limit: f64) -> (Separation, bool) {
        if let Some(radius) = self.sphere {
            let found = self.sphere_separation(radius, triangle);
            return (found, found.distance > 0.0);
        }
        self.cores(triangle).gap_within(guess, limit)
    }

    /// How far the shape is above a triangle along a unit vector in the shape's frame: at most their distance.
    fn gap_along(&self, [p, q, r]: &[DVec3; 3], normal: DVec3) -> f64 {
        let n = self.frame.back(normal);
        let top = n.dot(*p).max(n.dot(*q)).max(n.dot(*r)) + normal.dot(self.frame.translation);
        normal.dot(self.core.lowest(normal)) - top
    }

    fn cores(&self, [p, q, r]: &[DVec3; 3]) -> Cores<'a> {
        let middle = (*p + *q + *r) / 3.0;
        let frame = Frame { rotation: self.frame.rotation, translation: self.frame.point(middle) };
        Cores::new(self.core, Core::triangle([*p - middle, *q - middle, *r - middle]), frame)
    }

    fn sphere_separation(&self, radius: f64, triangle: &[DVec3; 3]) -> Separation {
        let center = self.frame.point_back(DVec3::ZERO);
        let (x, _) = closest_point(center, *triangle);
        let gap = center - x;
        let length = gap.length();
        let normal = if length > 1e-300 { gap / length } else { normal_of(triangle) };
        let (normal, distance) = (self.frame.vector(normal), length - radius);
        let point_a = -radius * normal;
        Separation { distance, normal, point_a, point_b: point_a - distance * normal }
    }

    /// Least distance from the triangles of a surface, if it is at most `limit`, and the triangle; in overlap that of the
    /// deepest contact. The distance of a shape that is wholly inside is negative too.
    pub(crate) fn nearest(
        &self,
        surface: &impl Surface,
        limit: f64,
    ) -> Result<Option<(Separation, u32)>, NarrowPhaseError> {
        let mut best: Option<(Separation, u32)> = None;
        let mut touched = None;
        surface.visit_nearest(&self.aabb, limit, &mut |id, triangle, limit| {
            // The plane between the shape and the nearest triangle so far often leaves this one behind it.
            if let Some((near, _)) = best
                && self.gap_along(triangle, near.normal) > limit * (1.0 + 1e-9) + 1e-9 * self.size
            {
                return limit;
            }
            let (found, apart) = self.gap(triangle, DVec3::ZERO, limit);
            if !apart || found.distance <= 0.0 {
                // Touching: depth is another matter.
                touched = Some((id, *triangle));
                return -1.0;
            }
            if found.distance <= limit && best.is_none_or(|b| (found.distance, id) < (b.0.distance, b.1)) {
                best = Some((found, id));
            }
            limit.min(found.distance * (1.0 + 1e-14))
        });
        if let Some((id, triangle)) = touched {
            let mut deepest: Option<(Separation, u32)> = None;
            self.contacts(surface, 0.0, &mut |id, manifold| {
                if let Some(p) = manifold.deepest()
                    && deepest.is_none_or(|d| (p.separation, id) < (d.0.distance, d.1))
                {
                    let found = Separation {
                        distance: p.separation,
                        normal: manifold.normal,
                        point_a: p.point_a,
                        point_b: p.point_b,
                    };
                    deepest = Some((found, id));
                }
            })?;
            // Touching within rounding may leave no contact: then the plain distance to the triangle counts.
            if deepest.is_some() {
                return Ok(deepest);
            }
            let least = self.least_of_all(surface)?;
            // Boxes may be apart where the search for a distance was at its limit.
            return if least.is_some() { Ok(least) } else { Ok(Some((self.separation(&triangle)?, id))) };
        }
        if let Some(found) = self.inside(surface) {
            return Ok(Some(found));
        }
        Ok(best)
    }

    /// True if the shape touches a triangle or lies inside.
    pub(crate) fn touches(&self, surface: &impl Surface) -> bool {
        let found = surface.visit_box(&self.aabb, &mut |_, triangle| {
            let (found, apart) = self.gap(triangle, DVec3::ZERO, 0.0);
            if apart && found.distance > 0.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        found.is_break() || surface.way_out(self.frame.point_back(self.middle)).is_some()
    }

    /// Least signed distance over the triangles that the shape touches, each by itself.
    fn least_of_all(&self, surface: &impl Surface) -> Result<Option<(Separation, u32)>, NarrowPhaseError> {
        let mut best: Option<(Separation, u32)> = None;
        let mut fault = None;
        let _ = surface.visit_box(&self.aabb.grown(1e-9 * self.size), &mut |id, triangle| {
            match self.separation(triangle) {
                Ok(found) if best.is_none_or(|b| found.distance < b.0.distance) => best = Some((found, id)),
                Ok(_) => {}
                Err(e) => fault = Some(e),
            }
            ControlFlow::Continue(())
        });
        fault.map_or(Ok(best), Err)
    }

    /// A shape wholly inside: the way along the normal at the surface point nearest to its origin.
    fn inside(&self, surface: &impl Surface) -> Option<(Separation, u32)> {
        let middle = self.frame.point_back(self.middle);
        let (id, normal, on_surface) = surface.way_out(middle)?;
        let normal = self.frame.vector(normal);
        let point_a = self.shape.support(-normal)?;
        let on_surface = self.frame.point(on_surface);
        let distance = normal.dot(point_a - on_surface);
        Some((Separation { distance, normal, point_a, point_b: point_a - distance * normal }, id))
    }

    /// Calls `visit(triangle, manifold)` with the contacts up to `margin` apart, in the surface's order.
    pub(crate) fn contacts(
        &self,
        surface: &impl Surface,
        margin: f64,
        visit: &mut dyn FnMut(u32, Manifold),
    ) -> Result<(), NarrowPhaseError> {
        let mut fault = None;
        let (mut any, mut behind) = (false, false);
        let reach = margin.max(0.0) + 1e-9 * self.size;
        let _ = surface.visit_box(&self.aabb.grown(reach), &mut |id, triangle| {
            match self.triangle_contact(surface, id, triangle, margin, &mut behind) {
                Ok(Some(manifold)) => {
                    any = true;
                    visit(id, manifold);
                }
                Ok(None) => {}
                Err(e) => {
                    fault = Some(e);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        if let Some(e) = fault {
            return Err(e);
        }
        if any {
            return Ok(());
        }
        // Wholly inside, or overlapping from behind only: one contact rather than none.
        let mut deepest = self.inside(surface);
        if deepest.is_none() && behind {
            deepest = self.least_of_all(surface)?;
        }
        if let Some((found, id)) = deepest {
            let mut manifold = Manifold::at_closest(&found, [FeatureId::NONE, FeatureId::face(id)]);
            manifold.pieces[1] = id;
            visit(id, manifold);
        }
        Ok(())
    }

    /// Contact with one triangle of a surface; `behind` is set if the shape overlaps it from behind.
    pub(crate) fn triangle_contact(
        &self,
        surface: &impl Surface,
        id: u32,
        triangle: &[DVec3; 3],
        margin: f64,
        behind: &mut bool,
    ) -> Result<Option<Manifold>, NarrowPhaseError> {
        // A ball around the shape rules out most triangles at little cost.
        let nearest = closest_point(self.center, *triangle);
        let reach = self.extent + margin;
        if (nearest.0 - self.center).length_squared() > reach * reach * (1.0 + 1e-12) {
            return Ok(None);
        }
        if let Some(radius) = self.sphere {
            return Ok(self.sphere_contact(surface, (id, triangle), (radius, margin), nearest, behind));
        }
        let corners = triangle.map(|p| self.frame.point(p));
        let [p, q, r] = corners;
        // The shape's own box is tighter than the one along the surface's axes.
        let out =
            p.min(q).min(r).cmpgt(self.local.max + margin) | p.max(q).max(r).cmplt(self.local.min - margin);
        if out.any() {
            return Ok(None);
        }
        let mut n = self.frame.vector(normal_of(triangle));
        let above = n.dot(self.middle - p);
        if above < 0.0 && !surface.one_sided() {
            n = -n;
        }
        let Some(lowest) = self.shape.support(-n) else { return Ok(None) };
        let along_n = n.dot(lowest - p);
        if along_n > margin {
            return Ok(None);
        }
        let contact = Contact { id, triangle, corners, margin };
        // Over the triangle, and not through it: the lowest point is the closest, whatever the shape.
        if along_n >= 0.0 && is_over(lowest, &corners, n) {
            return Ok(self.along(&contact, n, Some((along_n, lowest))));
        }
        let (mut found, apart) = self.gap(triangle, n, margin);
        if apart && found.distance > margin {
            return Ok(None);
        }
        if !apart {
            // Where the edges are gentle, the way out is along the normal up to their angle; no need to search for it.
            if above.abs() > 0.0 && (above > 0.0 || !surface.one_sided()) && surface.is_gentle(id) {
                let manifold = self.over(&contact, n, lowest);
                if manifold.is_some() {
                    return Ok(manifold);
                }
            }
            found = self.separation(triangle)?;
            if found.distance > margin {
                return Ok(None);
            }
        }
        let facing = found.normal.dot(n);
        if surface.one_sided() {
            if facing < -SIDEWAYS {
                *behind |= found.distance <= 0.0;
                return Ok(None);
            }
        } else if apart && facing < -SIDEWAYS {
            // The sheet is touched from the side where the middle is not.
            return Ok(self.settle(surface, &contact, -n, &found));
        }
        Ok(self.settle(surface, &contact, n, &found))
    }

    /// The contact for a known closest pair: along its direction if that is genuine, else along n.
    fn settle(
        &self,
        surface: &impl Surface,
        contact: &Contact<'_>,
        n: DVec3,
        found: &Separation,
    ) -> Option<Manifold> {
        let lowest = self.shape.support(-n)?;
        let along_n = n.dot(lowest - contact.corners[0]);
        if 1.0 - found.normal.dot(n) <= SNAP {
            let distance = if found.distance < 0.0 { along_n } else { found.distance.min(along_n.max(0.0)) };
            let middle = 0.5 * (found.point_a + found.point_b);
            return self.along(contact, n, Some((distance, middle + 0.5 * distance * n)));
        }
        if self.is_genuine(surface, contact.id, contact.triangle, found) {
            return self.clipped(contact, n, found);
        }
        // Along n only what lies over the triangle counts.
        if along_n <= contact.margin { self.over(contact, n, lowest) } else { None }
    }

    /// Contacts along the triangle's normal of what lies over the triangle: the corners of the patch, and the lowest point, which is between them where a rim
    /// is round.
    fn over(&self, contact: &Contact<'_>, n: DVec3, lowest: DVec3) -> Option<Manifold> {
        let is_over = is_over(lowest, &contact.corners, n);
        self.along(contact, n, is_over.then(|| (n.dot(lowest - contact.corners[0]), lowest)))
    }

    /// Contacts along the triangle's normal: those over the triangle, and the closest pair if one is given by its
    /// distance and A's point.
    fn along(&self, contact: &Contact<'_>, n: DVec3, closest: Option<(f64, DVec3)>) -> Option<Manifold> {
        let (distance, point_a) = closest.unwrap_or((f64::INFINITY, DVec3::ZERO));
        let closest = Separation { distance, normal: n, point_a, point_b: point_a - distance * n };
        self.clipped(contact, n, &closest)
    }

    /// The patch of the shape that faces the direction, cut to the triangle.
    fn clipped(&self, contact: &Contact<'_>, n: DVec3, closest: &Separation) -> Option<Manifold> {
        let features = [FeatureId::NONE, FeatureId::face(contact.id)];
        let mut manifold = if let Shape::Cuboid(c) = self.shape {
            // Small patches spare most of the copying.
            let patch_a: Patch<4> = Patch::of_cuboid(c.half_extents(), -closest.normal);
            let patch_b = contact.patch(n);
            sized_manifold::<4, 8, 10>(&patch_a, &patch_b, closest, features, contact.margin, self.size)
        } else {
            let full = Patch::of_shape(self.shape, -closest.normal);
            match full.resized::<8>() {
                Some(small) => {
                    let patch_b = contact.patch(n);
                    sized_manifold::<8, 16, 18>(
                        &small,
                        &patch_b,
                        closest,
                        features,
                        contact.margin,
                        self.size,
                    )
                }
                None => {
                    patch_manifold(&full, &contact.patch(n), closest, features, contact.margin, self.size)
                }
            }
        };
        manifold.pieces = [0, contact.id];
        (!manifold.points().is_empty()).then_some(manifold)
    }

    /// True if no point of the surface next to the closest one is nearer to the shape.
    fn is_genuine(&self, surface: &impl Surface, id: u32, triangle: &[DVec3; 3], found: &Separation) -> bool {
        let mut p = self.frame.point_back(found.point_b);
        let m = self.frame.back(found.normal);
        let part = part_of(p, triangle);
        if let Part::Corner(k) = part {
            p = triangle[k];
        }
        // Inside the face only the normal is genuine, and that is dealt with before.
        part != Part::Face
            && surface.all_around(id, part, &mut |q| {
                let to = q - p;
                m.dot(to) <= LEVEL * to.length()
            })
    }
}

/// A triangle that is near.
struct Contact<'t> {
    id: u32,
    triangle: &'t [DVec3; 3],
    /// In the shape's frame.
    corners: [DVec3; 3],
    margin: f64,
}

impl Contact<'_> {
    /// The triangle as a patch in the shape's frame, seen along n.
    fn patch<const N: usize>(&self, n: DVec3) -> Patch<N> {
        let [p, q, r] = self.corners;
        let mut patch = Patch::new(n, self.id);
        // Seen from behind the corners run the other way.
        let order = if (q - p).cross(r - p).dot(n) < 0.0 { [2, 1, 0] } else { [0, 1, 2] };
        for k in order {
            let name = 3 * self.id + k;
            patch.push(self.corners[k as usize], name, name);
        }
        patch
    }
}

/// True if a point lies over or under a triangle, seen along n (either way round).
fn is_over(x: DVec3, [p, q, r]: &[DVec3; 3], n: DVec3) -> bool {
    let side = |from: DVec3, to: DVec3| n.dot((to - from).cross(x - from));
    let (u, v, w) = (side(*p, *q), side(*q, *r), side(*r, *p));
    (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0)
}

/// Unit normal of a triangle, counter-clockwise.
#[inline]
pub(crate) fn normal_of([p, q, r]: &[DVec3; 3]) -> DVec3 {
    (*q - *p).cross(*r - *p).normalize_or_zero()
}

/// The part of a triangle on which a point lies, up to 1e-5 of its size: witnesses of round shapes know their place along
/// a flat only to the square root of rounding.
fn part_of(x: DVec3, triangle: &[DVec3; 3]) -> Part {
    let (near, part) = closest_point(x, *triangle);
    part_at(near, part, triangle)
}

/// The same for a point of the triangle that is known to lie on a part.
fn part_at(near: DVec3, part: Part, triangle: &[DVec3; 3]) -> Part {
    let size = triangle.iter().map(|p| (*p - near).length_squared()).fold(0.0, f64::max).sqrt();
    let tolerance = 1e-5 * size;
    if let Some(k) = triangle.iter().position(|p| (*p - near).length() <= tolerance) {
        return Part::Corner(k);
    }
    if part == Part::Face {
        let n = normal_of(triangle);
        for k in 0..3 {
            let d = triangle[(k + 1) % 3] - triangle[k];
            if n.dot(d.cross(near - triangle[k])) <= tolerance * d.length() {
                return Part::Edge(k);
            }
        }
    }
    part
}
