//! What GJK sees of a shape: a core with a support map, and a radius around it.

use super::{above_face::above_face, approach::approach, distance, epa, follow::follow, project::projected};
use crate::{
    Polyhedron,
    relative::Frame,
    shapes::{Ellipsoid, Frustum, Rounded},
    sharpen::sharpen,
};
use sim_math::glam::DVec3;
use sim_traits::{Separation, Shape, SupportMap};

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind<'a> {
    Point,
    Segment(f64),
    Cuboid(DVec3),
    Cylinder(f64, f64),
    Frustum(&'a Frustum),
    Ellipsoid(DVec3),
    Polyhedron(&'a Polyhedron),
    Triangle([DVec3; 3]),
    Map(&'a dyn SupportMap),
}

impl<'a> Kind<'a> {
    /// What a map is, if it is known, and the radius around it.
    fn of(map: &'a dyn SupportMap) -> (Self, f64) {
        let any = map.as_any();
        if let Some(p) = any.downcast_ref::<Polyhedron>() {
            (Self::Polyhedron(p), 0.0)
        } else if let Some(f) = any.downcast_ref::<Frustum>() {
            (Self::Frustum(f), 0.0)
        } else if let Some(e) = any.downcast_ref::<Ellipsoid>() {
            (Self::Ellipsoid(e.radii()), 0.0)
        } else if let Some(rounded) = any.downcast_ref::<Rounded>() {
            let (kind, radius) = Self::of(rounded.core().as_ref());
            (kind, radius + rounded.radius())
        } else {
            (Self::Map(map), map.core_radius())
        }
    }
}

/// A shape as core plus radius: exact for spheres, capsules and rounded shapes, also at contact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Core<'a> {
    pub(super) kind: Kind<'a>,
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
            Shape::Convex(s) => Kind::of(s.as_ref()),
            _ => return None,
        };
        Some(Self { kind, radius, size })
    }

    pub(crate) fn polyhedron(p: &'a Polyhedron) -> Self {
        Self { kind: Kind::Polyhedron(p), radius: 0.0, size: p.bounding_radius() }
    }

    /// A triangle without thickness; corners relative to a point near it.
    pub(crate) fn triangle(corners: [DVec3; 3]) -> Self {
        let squared = corners.iter().map(|p| p.length_squared()).fold(0.0, f64::max);
        Self { kind: Kind::Triangle(corners), radius: 0.0, size: squared.sqrt() }
    }

    /// Without corners whose directions could tell a normal.
    fn is_smooth(&self) -> bool {
        matches!(self.kind, Kind::Cylinder(..) | Kind::Frustum(_) | Kind::Ellipsoid(_) | Kind::Map(_))
    }

    /// Point of the shape (core and radius) farthest against a unit vector.
    pub(crate) fn lowest(&self, normal: DVec3) -> DVec3 {
        self.support(-normal) - self.radius * normal
    }

    /// True if [`nearest`](Self::nearest) gives the nearest point.
    pub(super) fn is_projective(&self) -> bool {
        matches!(self.kind, Kind::Cuboid(_) | Kind::Cylinder(..) | Kind::Frustum(_))
    }

    /// The point of a projective core nearest to a point.
    #[inline]
    pub(super) fn nearest(&self, x: DVec3) -> DVec3 {
        match self.kind {
            Kind::Cuboid(h) => x.clamp(-h, h),
            Kind::Cylinder(r, h) => {
                let squared = x.x * x.x + x.y * x.y;
                let scale = if squared > r * r { r / squared.sqrt() } else { 1.0 };
                DVec3::new(scale * x.x, scale * x.y, x.z.clamp(-h, h))
            }
            Kind::Frustum(f) => f.nearest(x),
            _ => x,
        }
    }

    /// The flat face that looks most along a direction, where that takes no search.
    pub(super) fn face(&self, d: DVec3) -> Option<Flat> {
        let disk = |radius: f64, h: f64| {
            let normal = DVec3::new(0.0, 0.0, 1.0_f64.copysign(d.z));
            Some(Flat { normal, offset: h, half: DVec3::ZERO, radius })
        };
        match self.kind {
            Kind::Cuboid(half) => {
                let axis = crate::mesh::bvh::longest_axis(d.abs());
                let (mut normal, mut open) = (DVec3::ZERO, half);
                normal[axis] = 1.0_f64.copysign(d[axis]);
                open[axis] = f64::INFINITY;
                Some(Flat { normal, offset: half[axis], half: open, radius: f64::INFINITY })
            }
            Kind::Cylinder(radius, h) => disk(radius, h),
            Kind::Frustum(f) => disk(if d.z < 0.0 { f.bottom() } else { f.top() }, f.half_height()),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn support(&self, d: DVec3) -> DVec3 {
        match self.kind {
            Kind::Point => DVec3::ZERO,
            Kind::Segment(h) => DVec3::new(0.0, 0.0, h.copysign(d.z)),
            Kind::Cuboid(h) => h.copysign(d),
            Kind::Cylinder(r, h) => (d.with_z(0.0).normalize_or_zero() * r).with_z(h.copysign(d.z)),
            Kind::Polyhedron(p) => p.position(p.support_vertex(d)),
            Kind::Triangle([p, q, r]) => {
                let (hp, hq, hr) = (d.dot(p), d.dot(q), d.dot(r));
                if hp >= hq && hp >= hr {
                    p
                } else if hq >= hr {
                    q
                } else {
                    r
                }
            }
            Kind::Frustum(f) => f.support(d),
            Kind::Ellipsoid(radii) => {
                let scaled = radii * d;
                radii * scaled.normalize_or_zero()
            }
            Kind::Map(m) => m.core_support(d),
        }
    }
}

/// A flat face around an axis of its shape's frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flat {
    /// Outward unit vector.
    pub(super) normal: DVec3,
    /// How far out the face is, metres.
    pub(super) offset: f64,
    /// Half extents of a rectangle; not used for a disk.
    half: DVec3,
    /// Radius of a disk; infinite for a rectangle.
    radius: f64,
}

impl Flat {
    /// True if a point of the face's plane is on the face.
    pub(super) fn holds(&self, point: DVec3) -> bool {
        if self.radius == f64::INFINITY {
            point.abs().cmple(self.half).all()
        } else {
            point.x * point.x + point.y * point.y <= self.radius * self.radius
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
    /// Added to every point of A − B, metres.
    shift: DVec3,
}

impl<'a> Cores<'a> {
    pub(crate) fn new(a: Core<'a>, b: Core<'a>, a_from_b: Frame) -> Self {
        Self { a, b, a_from_b, shift: DVec3::ZERO }
    }

    /// Both cores, and where B is.
    pub(super) fn parts(&self) -> (&Core<'a>, &Core<'a>, &Frame) {
        (&self.a, &self.b, &self.a_from_b)
    }

    /// Size to which tolerances are relative, metres.
    pub(crate) fn size(&self) -> f64 {
        self.a.size + self.b.size
    }

    /// The same cores, A moved by `shift`.
    pub(super) fn shifted(&self, shift: DVec3) -> Self {
        Self { shift, ..*self }
    }

    /// Support of A − B.
    #[inline]
    pub(crate) fn support(&self, direction: DVec3) -> Difference {
        let a = self.a.support(direction);
        let b = self.a_from_b.point(self.b.support(-self.a_from_b.back(direction)));
        Difference { w: a - b + self.shift, a, b }
    }

    /// Improves a short gap until the gap along its normal is as wide as the distance. Each is a bound of the other.
    fn near(&self, found: Separation, plane: DVec3) -> Separation {
        let mut best = self.sharpened(&found);
        // Far apart finds the corners whatever the normal, a little apart those that matter here.
        for shift in [1e-3, 1e-5, 1e-4, 1e-6, 1e-2] {
            for along in [best.0.normal, plane] {
                if best.1 >= best.0.distance - 1e-12 * self.size() {
                    return best.0;
                }
                let guess = Separation { normal: along, ..best.0 };
                if let Some(shorter) = distance::closest_of_near(self, &guess, shift * self.size()) {
                    best = self.sharpened(&shorter);
                }
            }
        }
        best.0
    }

    fn sharpened(&self, core: &Separation) -> (Separation, f64) {
        let supports = |n: DVec3| {
            let found = self.support(-n);
            (found.a, found.b)
        };
        sharpen(supports, core, 1e-13 * self.size(), 1e-9 * self.size())
    }

    /// How far the shapes are apart along a unit direction from B to A at most: never more than their distance.
    pub(crate) fn lower_bound(&self, normal: DVec3) -> f64 {
        self.core_gap(normal) - self.a.radius - self.b.radius
    }

    /// The same for the cores.
    pub(super) fn core_gap(&self, normal: DVec3) -> f64 {
        normal.dot(self.support(-normal).w)
    }

    /// Distance of the shapes with witnesses, and whether the cores are apart; if not, the distance is no depth.
    pub(crate) fn gap(&self, guess: DVec3) -> (Separation, bool) {
        self.gap_within(guess, f64::INFINITY)
    }

    /// The same for shapes that matter only up to `limit` metres apart: others are just found to be farther.
    pub(crate) fn gap_within(&self, guess: DVec3, limit: f64) -> (Separation, bool) {
        let start = if guess.length_squared() > 0.25 { guess } else { -self.a_from_b.translation };
        let reach = limit.max(0.0) + self.a.radius + self.b.radius;
        let (core, apart) = distance::closest_within(self, start, 1e-10 * self.size(), reach);
        (self.inflated(&core), apart)
    }

    /// The same cores, A moved by `shift` relative to B, all points in A's frame.
    pub(super) fn moved(&self, shift: DVec3) -> Self {
        let translation = self.a_from_b.translation - shift;
        Self { a_from_b: Frame { translation, ..self.a_from_b }, ..*self }
    }

    /// Signed distance with witnesses of the shapes (cores and radii); `None` if EPA does not converge.
    pub(crate) fn separation(&self, guess: DVec3) -> Option<Separation> {
        let known = guess.length_squared() > 0.25;
        if known {
            let above = above_face(self, guess, 1e-10 * self.size());
            if let Some(found) = above.or_else(|| follow(self, guess)).or_else(|| approach(self, guess)) {
                return Some(self.inflated(&found));
            }
        }
        self.searched(guess, true)
    }

    /// The same by search alone; with `ways`, what the search finds may be improved and proven by shorter ways.
    pub(super) fn searched(&self, guess: DVec3, ways: bool) -> Option<Separation> {
        let touch = 1e-10 * self.size();
        let start = if guess.length_squared() > 0.25 { guess } else { -self.a_from_b.translation };
        if let Some(found) = above_face(self, start, touch) {
            return Some(self.inflated(&found));
        }
        if let Some(found) = projected(self) {
            return Some(self.inflated(&found));
        }
        if ways && (self.a.is_smooth() || self.b.is_smooth()) {
            let (rough, apart) = distance::rough(self, start, touch);
            if apart && let Some(found) = follow(self, rough.normal) {
                return Some(self.inflated(&found));
            }
        }
        let (found, mut apart) = distance::closest(self, start, touch);
        let mut core = found;
        if ways {
            let start = if apart { found.normal } else { start };
            let proven = if apart { follow(self, start) } else { approach(self, start) };
            if let Some(proven) = proven {
                return Some(self.inflated(&proven));
            }
        }
        if apart && found.distance < 1e-5 * self.size() {
            // So short a gap may be one that rounding kept from closing: try again from the best plane between.
            // Where EPA finds none, GJK's own normal must do.
            let plane = epa::depth(self, &found).unwrap_or(found);
            let (again, still) = distance::closest(self, plane.normal, touch);
            // A polytope of support points that holds the origin proves an overlap, beyond rounding.
            apart = still && plane.distance >= -1e-13 * self.size();
            if again.distance < found.distance {
                core = again;
            }
            if apart {
                core = self.near(core, plane.normal);
                // Within rounding a gap must show: planes along a needle pass by a point beyond its end.
                apart = plane.distance >= 0.0 || self.core_gap(core.normal) > touch;
            }
        } else if apart && !(self.a.is_smooth() || self.b.is_smooth()) {
            core = self.sharpened(&core).0;
        }
        if !apart || core.distance <= touch {
            core = epa::depth(self, &core)?;
        }
        Some(self.inflated(&core))
    }

    /// The separation of the shapes, from that of their cores.
    pub(super) fn inflated(&self, core: &Separation) -> Separation {
        let (ra, rb) = (self.a.radius, self.b.radius);
        Separation {
            distance: core.distance - ra - rb,
            normal: core.normal,
            point_a: core.point_a - ra * core.normal,
            point_b: core.point_b + rb * core.normal,
        }
    }
}
