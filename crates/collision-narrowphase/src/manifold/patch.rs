//! The part of a shape that faces a direction: a polygon, a segment or a point.

use crate::{
    Polyhedron,
    relative::Frame,
    shapes::{Frustum, Rounded},
};
use sim_math::glam::DVec3;
use sim_traits::{FeatureId, Shape};

/// A corner of a patch and the edge that leaves it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Corner {
    pub(crate) position: DVec3,
    pub(crate) vertex: u32,
    pub(crate) edge: u32,
}

impl Corner {
    pub(crate) const EMPTY: Self = Self { position: DVec3::ZERO, vertex: 0, edge: 0 };
}

/// Faces with more corners contribute this many, evenly spread.
pub(crate) const MAX: usize = 32;

/// Cosine and sine of multiples of 45 degrees.
const OCTAGON: [[f64; 2]; 8] = {
    use std::f64::consts::FRAC_1_SQRT_2 as D;
    [[1.0, 0.0], [D, D], [0.0, 1.0], [-D, D], [-1.0, 0.0], [-D, -D], [0.0, -1.0], [D, -D]]
};

/// A convex polygon counter-clockwise about `normal`, or a segment, or a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patch<const N: usize = MAX> {
    corners: [Corner; N],
    len: usize,
    /// Outward unit normal of the face; for a segment or a point, the direction asked for.
    pub(crate) normal: DVec3,
    /// Number of the face.
    pub(crate) face: u32,
}

impl<const N: usize> Patch<N> {
    pub(crate) fn new(normal: DVec3, face: u32) -> Self {
        Self { corners: [Corner::EMPTY; N], len: 0, normal, face }
    }

    pub(crate) fn push(&mut self, position: DVec3, vertex: u32, edge: u32) {
        if let Some(slot) = self.corners.get_mut(self.len) {
            *slot = Corner { position, vertex, edge };
            self.len += 1;
        }
    }

    #[inline]
    pub(crate) fn corners(&self) -> &[Corner] {
        &self.corners[..self.len]
    }

    #[inline]
    pub(crate) fn corners_mut(&mut self) -> &mut [Corner] {
        &mut self.corners[..self.len]
    }

    /// The same patch with less room, if its corners fit.
    pub(crate) fn resized<const M: usize>(&self) -> Option<Patch<M>> {
        let mut small = Patch::new(self.normal, self.face);
        for corner in self.corners() {
            small.push(corner.position, corner.vertex, corner.edge);
        }
        (self.len <= M).then_some(small)
    }

    #[inline]
    pub(crate) fn is_face(&self) -> bool {
        self.len >= 3
    }

    /// The face of a box that faces `direction`, with the corners and faces numbered as those of
    /// [`Polyhedron::cuboid`]. Edge 4k + b runs along axis k, b telling the signs of the next two axes.
    pub(crate) fn of_cuboid(half: DVec3, direction: DVec3) -> Self {
        let d = direction.abs();
        let axis = if d.x >= d.y && d.x >= d.z {
            0
        } else if d.y >= d.z {
            1
        } else {
            2
        };
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let positive = direction[axis] >= 0.0;
        let mut normal = DVec3::ZERO;
        normal[axis] = if positive { 1.0 } else { -1.0 };
        let mut patch = Self::new(normal, 2 * axis as u32 + u32::from(positive));
        // Counter-clockwise about +axis; the other way round for the negative face.
        let signs = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
        for k in 0..4 {
            let (su, sv) = signs[if positive { k } else { 3 - k }];
            let (nu, _) = signs[if positive { (k + 1) & 3 } else { (6 - k) & 3 }];
            let mut position = half * normal;
            (position[u], position[v]) = (half[u] * su, half[v] * sv);
            let bit = |x: f64| u32::from(x > 0.0);
            let vertex = bit(position.x) + 2 * bit(position.y) + 4 * bit(position.z);
            // The edge to the next corner runs along u if the sign of u changes, else along v.
            let edge = if bit(nu) != bit(su) {
                4 * u as u32 + 2 * bit(sv) + bit(normal[axis])
            } else {
                4 * v as u32 + 2 * bit(normal[axis]) + bit(su)
            };
            patch.push(position, vertex, edge);
        }
        patch
    }

    /// A face of a polyhedron, in its frame.
    pub(crate) fn of_face(polyhedron: &Polyhedron, face: u32) -> Self {
        Self::placed(polyhedron, face, polyhedron.faces()[face as usize].normal, |p| p)
    }

    /// A face of a polyhedron, in the frame that `frame` maps to.
    pub(crate) fn of_face_in(polyhedron: &Polyhedron, face: u32, frame: &Frame) -> Self {
        let normal = frame.vector(polyhedron.faces()[face as usize].normal);
        Self::placed(polyhedron, face, normal, |p| frame.point(p))
    }

    #[inline]
    fn placed(polyhedron: &Polyhedron, face: u32, normal: DVec3, place: impl Fn(DVec3) -> DVec3) -> Self {
        let mut patch = Self::new(normal, face);
        let sides = polyhedron.sides(face);
        let stride = sides.len().div_ceil(N).max(1);
        for side in sides.iter().step_by(stride) {
            patch.push(place(polyhedron.position(side.corner)), side.corner, side.edge);
        }
        patch
    }
}

/// Corners of the largest patch of a shape that is no polyhedron.
pub(crate) const FEW: usize = 8;

/// True if [`FEW`] corners are enough for any patch of the shape.
pub(crate) fn has_few_corners(shape: &Shape) -> bool {
    matches!(shape, Shape::Sphere(_) | Shape::Capsule(_) | Shape::Cuboid(_) | Shape::Cylinder(_))
}

impl<const N: usize> Patch<N> {
    /// What faces `direction` (unit length) on any bounded convex shape, in its frame.
    pub(crate) fn of_shape(shape: &Shape, direction: DVec3) -> Self {
        match shape {
            Shape::Cuboid(c) => Self::of_cuboid(c.half_extents(), direction),
            Shape::Capsule(c) => {
                let mut patch = Self::new(direction, 0);
                for (k, z) in [c.half_height(), -c.half_height()].into_iter().enumerate() {
                    patch.push(DVec3::new(0.0, 0.0, z) + c.radius() * direction, k as u32, 0);
                }
                patch
            }
            Shape::Cylinder(c) => Self::of_frustum(c.radius(), c.radius(), c.half_height(), direction),
            Shape::Convex(s) => {
                let (core, radius) = match s.as_any().downcast_ref::<Rounded>() {
                    Some(rounded) => (rounded.core().as_any(), s.core_radius()),
                    None => (s.as_any(), 0.0),
                };
                let mut patch = if let Some(p) = core.downcast_ref::<Polyhedron>() {
                    Self::of_face(p, facing(p, direction, FeatureId::NONE))
                } else if let Some(f) = core.downcast_ref::<Frustum>() {
                    Self::of_frustum(f.bottom(), f.top(), f.half_height(), direction)
                } else {
                    return Self::of_point(s.support(direction), direction);
                };
                // A ball rolled around the core moves its faces out by the radius.
                let out = radius * patch.normal;
                patch.corners_mut().iter_mut().for_each(|c| c.position += out);
                patch
            }
            _ => Self::of_point(shape.support(direction).unwrap_or(DVec3::ZERO), direction),
        }
    }

    pub(crate) fn of_point(position: DVec3, direction: DVec3) -> Self {
        let mut patch = Self::new(direction, 0);
        patch.push(position, 0, 0);
        patch
    }

    /// A disk (as an octagon at fixed angles) where a frustum's end faces the direction, else a line of its side.
    fn of_frustum(bottom: f64, top: f64, half_height: f64, direction: DVec3) -> Self {
        let up = direction.z >= 0.0;
        let (radius, z) = if up { (top, half_height) } else { (bottom, -half_height) };
        // The end faces the direction better than the side does.
        let slope = (bottom - top) / (2.0 * half_height);
        let side = DVec3::new(1.0, 0.0, slope).normalize();
        let around = direction.with_z(0.0).length();
        if direction.z.abs() >= side.x * around + side.z * direction.z && radius > 0.0 {
            let mut patch = Self::new(if up { DVec3::Z } else { DVec3::NEG_Z }, u32::from(up));
            for (k, [c, s]) in (0..).zip(OCTAGON) {
                // Counter-clockwise about the normal.
                let s = if up { s } else { -s };
                patch.push(DVec3::new(radius * c, radius * s, z), k, k);
            }
            return patch;
        }
        let outward = direction.with_z(0.0).normalize_or(DVec3::X);
        let mut patch = Self::new(direction, 2);
        patch.push((top * outward).with_z(half_height), 8, 8);
        patch.push((bottom * outward).with_z(-half_height), 9, 8);
        patch
    }
}

/// The face of a polyhedron, among those at the support vertex or the given feature, that faces `direction`
/// best. Direction in the polyhedron's frame.
pub(crate) fn facing(polyhedron: &Polyhedron, direction: DVec3, feature: FeatureId) -> u32 {
    let alignment = |f: u32| polyhedron.faces()[f as usize].normal.dot(direction);
    match feature.dimension() {
        Some(2) => feature.index(),
        Some(1) => {
            let [left, right] = polyhedron.edges()[feature.index() as usize].faces;
            if alignment(left) >= alignment(right) { left } else { right }
        }
        _ => {
            let vertex = match feature.dimension() {
                Some(0) => feature.index(),
                _ => polyhedron.support_vertex(direction),
            };
            let mut best = (0, f64::NEG_INFINITY);
            for spoke in polyhedron.spokes(vertex) {
                for f in polyhedron.edges()[spoke.edge as usize].faces {
                    let score = alignment(f);
                    if score > best.1 {
                        best = (f, score);
                    }
                }
            }
            best.0
        }
    }
}
