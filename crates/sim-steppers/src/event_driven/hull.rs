//! Convex parts of colliders, as bounds on their motion need them.

use super::turning::Turning;
use collision_narrowphase::cast::Part;
use sim_math::{Pose, glam::DVec3};
use sim_traits::Shape;
use sim_world::{Body, Collider};

/// A convex part of a collider, or all of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hull<'a> {
    pub(super) part: Part<'a>,
    pub(super) body_from_shape: Pose,
    /// The centre of mass from the origin of the shape, reversed, in the shape's frame, m.
    offset: DVec3,
    /// Largest distance of a point of its core from the centre of mass, m; may be infinite.
    pub(super) spin_radius: f64,
    /// How it turns along the piece of its body.
    pub(super) turning: Turning,
}

impl<'a> Hull<'a> {
    fn new(body: &Body, collider: &Collider, part: Part<'a>, spin_radius: f64) -> Self {
        let body_from_shape = collider.extent().body_from_shape;
        let offset = body_from_shape.translation;
        let offset =
            if offset == DVec3::ZERO { offset } else { body_from_shape.inverse_transform_vector(offset) };
        let turning = Turning::of(body, &part, &body_from_shape, spin_radius);
        Self { part, body_from_shape, offset, spin_radius, turning }
    }

    /// All of a collider whose shape is convex; of another one nothing is known but its size.
    pub(super) fn whole(body: &Body, collider: &'a Collider) -> Self {
        let part = match collider.shape() {
            Shape::HalfSpace(_) | Shape::Custom(_) => Part::Unknown,
            shape => Part::Solid(shape, Pose::IDENTITY),
        };
        let radius = collider.extent().spin_radius;
        // Of what is rounded, turning moves the core alone.
        let round = match collider.shape() {
            Shape::Convex(s) => s.core_radius(),
            _ => 0.0,
        };
        Self::new(body, collider, part, radius - round)
    }

    /// A part of a collider.
    pub(super) fn part(body: &Body, collider: &Collider, part: Part<'a>) -> Self {
        let extent = collider.extent();
        let far = |p: DVec3| extent.body_from_shape.transform_point(p).length();
        let radius = match &part {
            Part::Solid(shape, pose) => {
                let core = match shape {
                    Shape::Sphere(_) => 0.0,
                    Shape::Capsule(c) => c.half_height(),
                    Shape::Convex(s) => s.bounding_radius() - s.core_radius(),
                    shape => shape.bounding_radius(),
                };
                far(pose.translation) + core
            }
            Part::Triangle(corners) => corners.iter().map(|p| far(*p)).fold(0.0, f64::max),
            Part::Unknown => f64::INFINITY,
        };
        Self::new(body, collider, part, radius.min(extent.spin_radius))
    }

    /// A world direction in the frame of the shape.
    pub(super) fn in_shape(&self, world_from_body: &Pose, direction: DVec3) -> DVec3 {
        self.body_from_shape.inverse_transform_vector(world_from_body.inverse_transform_vector(direction))
    }

    /// How far the core reaches along a direction of any length in the shape's frame, measured from the centre of mass and times that length, m.
    pub(super) fn core_height(&self, along: DVec3) -> Option<f64> {
        Some(along.dot(self.part.support(along)? + self.offset))
    }
}

/// Two convex parts, one of each body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Couple<'a> {
    pub(super) bodies: [&'a Body; 2],
    pub(super) hulls: [Hull<'a>; 2],
}
