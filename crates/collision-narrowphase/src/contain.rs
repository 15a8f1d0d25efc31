//! Is a point in a shape?
//!
//! # Reference
//! Closed forms; distance of a point by GJK for other support maps; signed distance for meshes.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `point` | in the shape's frame, metres |
//!
//! # Formula
//! ```text
//! sphere |x| ≤ r;  capsule: distance from the segment ≤ r;  box |x| ≤ h per axis;  cylinder: both;
//! frustum: r(z) linear;  ellipsoid |x / radii| ≤ 1;  half-space n·x ≤ 0;  polyhedron: below all planes
//! ```
//!
//! # Cost
//! A few flops; O(faces), a distance query or a tree walk where there is no closed form.
//!
//! # Numerics
//! The surface belongs to the shape, exactly for closed forms, within 1e-10 of the size for general support maps.
//!
//! # Failure
//! A point that is not finite is in no shape; a custom shape that is not of this crate contains nothing.
//!
//! # Tested by
//! `tests/queries.rs`: `containment_agrees_with_distance`

use crate::{
    Polyhedron,
    compound::Compound,
    gjk::{Core, Cores},
    height_field::HeightField,
    mesh::TriMesh,
    relative::Frame,
    shapes::{Ellipsoid, Frustum},
};
use sim_math::glam::{DMat3, DVec3};
use sim_traits::Shape;

/// True if a point of the shape's frame (metres) lies inside or on the surface.
#[must_use]
pub fn contains_point(shape: &Shape, point: DVec3) -> bool {
    if !point.is_finite() {
        return false;
    }
    match shape {
        Shape::Sphere(s) => point.length_squared() <= s.radius() * s.radius(),
        Shape::Capsule(c) => {
            let on_axis = point.z.clamp(-c.half_height(), c.half_height());
            (point - on_axis * DVec3::Z).length_squared() <= c.radius() * c.radius()
        }
        Shape::Cuboid(c) => point.abs().cmple(c.half_extents()).all(),
        Shape::Cylinder(c) => {
            point.z.abs() <= c.half_height()
                && point.x * point.x + point.y * point.y <= c.radius() * c.radius()
        }
        Shape::HalfSpace(h) => h.normal().dot(point) <= 0.0,
        Shape::Convex(s) => {
            if let Some(p) = s.as_any().downcast_ref::<Polyhedron>() {
                p.contains(point)
            } else if let Some(f) = s.as_any().downcast_ref::<Frustum>() {
                let up = 0.5 * (point.z / f.half_height() + 1.0);
                let r = f.bottom() + up * (f.top() - f.bottom());
                (0.0..=1.0).contains(&up) && point.x * point.x + point.y * point.y <= r * r
            } else if let Some(e) = s.as_any().downcast_ref::<Ellipsoid>() {
                (point / e.radii()).length_squared() <= 1.0
            } else {
                by_distance(shape, point)
            }
        }
        Shape::Custom(s) => {
            let any = s.as_any();
            any.downcast_ref::<Compound>().is_some_and(|c| c.contains(point))
                || any.downcast_ref::<TriMesh>().is_some_and(|m| m.contains(point))
                || any.downcast_ref::<HeightField>().is_some_and(|f| f.contains(point))
        }
        _ => by_distance(shape, point),
    }
}

fn by_distance(shape: &Shape, point: DVec3) -> bool {
    let Some(core) = Core::of(shape) else { return false };
    let frame = Frame { rotation: DMat3::IDENTITY, translation: point };
    let (found, apart) = Cores::new(core, Core::POINT, frame).gap(DVec3::ZERO);
    !apart || found.distance <= 1e-10 * shape.bounding_radius()
}
