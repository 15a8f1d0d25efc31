//! What GJK sees of a shape: a core with a support map, and a radius around it.

use super::{distance, epa};
use crate::{Polyhedron, relative::Frame};
use sim_math::glam::DVec3;
use sim_traits::{Separation, Shape, SupportMap};

#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Point,
    Segment(f64),
    Cuboid(DVec3),
    Cylinder(f64, f64),
    Polyhedron(&'a Polyhedron),
    Map(&'a dyn SupportMap),
}

/// A shape as core plus radius: exact for spheres, capsules and rounded shapes, also at contact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Core<'a> {
    kind: Kind<'a>,
    pub(crate) radius: f64,
    size: f64,
}

impl<'a> Core<'a> {
    /// A point at the origin of its frame.
    pub(crate) const POINT: Self = Self { kind: Kind::Point, radius: 0.0, size: 0.0 };

    pub(crate) fn of(shape: &'a Shape) -> Option<Self> {
        let size = shape.bounding_radius();
        let (kind, radius) = match shape {
            Shape::Sphere(s) => (Kind::Point, s.radius()),
            Shape::Capsule(c) => (Kind::Segment(c.half_height()), c.radius()),
            Shape::Cuboid(c) => (Kind::Cuboid(c.half_extents()), 0.0),
            Shape::Cylinder(c) => (Kind::Cylinder(c.radius(), c.half_height()), 0.0),
            Shape::Convex(s) => match s.as_any().downcast_ref::<Polyhedron>() {
                Some(p) => (Kind::Polyhedron(p), 0.0),
                None => (Kind::Map(s.as_ref()), s.core_radius()),
            },
            _ => return None,
        };
        Some(Self { kind, radius, size })
    }

    pub(crate) fn polyhedron(p: &'a Polyhedron) -> Self {
        Self { kind: Kind::Polyhedron(p), radius: 0.0, size: p.bounding_radius() }
    }

    #[inline]
    fn support(&self, d: DVec3) -> DVec3 {
        match self.kind {
            Kind::Point => DVec3::ZERO,
            Kind::Segment(h) => DVec3::new(0.0, 0.0, h.copysign(d.z)),
            Kind::Cuboid(h) => h.copysign(d),
            Kind::Cylinder(r, h) => (d.with_z(0.0).normalize_or_zero() * r).with_z(h.copysign(d.z)),
            Kind::Polyhedron(p) => p.position(p.support_vertex(d)),
            Kind::Map(m) => m.core_support(d),
        }
    }
}

/// A point of the Minkowski difference A − B with its two parts, in A's frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Difference {
    pub(crate) w: DVec3,
    pub(crate) a: DVec3,
    pub(crate) b: DVec3,
}

impl Difference {
    pub(crate) const ZERO: Self = Self { w: DVec3::ZERO, a: DVec3::ZERO, b: DVec3::ZERO };
}

/// Two cores at a relative pose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cores<'a> {
    a: Core<'a>,
    b: Core<'a>,
    a_from_b: Frame,
}

impl<'a> Cores<'a> {
    pub(crate) fn new(a: Core<'a>, b: Core<'a>, a_from_b: Frame) -> Self {
        Self { a, b, a_from_b }
    }

    /// Size to which tolerances are relative, metres.
    pub(crate) fn size(&self) -> f64 {
        self.a.size + self.b.size
    }

    /// Support of A − B.
    #[inline]
    pub(crate) fn support(&self, direction: DVec3) -> Difference {
        let a = self.a.support(direction);
        let b = self.a_from_b.point(self.b.support(-self.a_from_b.back(direction)));
        Difference { w: a - b, a, b }
    }

    /// Signed distance with witnesses of the shapes (cores and radii); `None` if EPA does not converge.
    pub(crate) fn separation(&self, guess: DVec3) -> Option<Separation> {
        let touch = 1e-10 * self.size();
        let start = if guess.length_squared() > 0.25 { guess } else { -self.a_from_b.translation };
        let (found, mut apart) = distance::closest(self, start, touch);
        let mut core = found;
        if apart && found.distance < 1e-6 * self.size() {
            // So short a gap may be one that rounding kept from closing: try again from the best plane between.
            let plane = epa::depth(self, &found)?;
            let (again, still) = distance::closest(self, plane.normal, touch);
            // A polytope of support points that holds the origin proves an overlap.
            apart = still && plane.distance >= 0.0;
            if again.distance < found.distance {
                core = again;
            }
        }
        if !apart {
            core = epa::depth(self, &core)?;
        }
        let (ra, rb) = (self.a.radius, self.b.radius);
        Some(Separation {
            distance: core.distance - ra - rb,
            normal: core.normal,
            point_a: core.point_a - ra * core.normal,
            point_b: core.point_b + rb * core.normal,
        })
    }
}
