//! The part of a shape that faces a direction: a polygon, a segment or a point.

use crate::Polyhedron;
use sim_math::glam::DVec3;
use sim_traits::FeatureId;

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

/// A convex polygon counter-clockwise about `normal`, or a segment, or a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patch {
    corners: [Corner; Self::MAX],
    len: usize,
    /// Outward unit normal of the face; for a segment or a point, the direction asked for.
    pub(crate) normal: DVec3,
    /// Number of the face.
    pub(crate) face: u32,
}

impl Patch {
    /// Faces with more corners contribute this many, evenly spread.
    pub(crate) const MAX: usize = 32;

    pub(crate) fn new(normal: DVec3, face: u32) -> Self {
        Self { corners: [Corner::EMPTY; Self::MAX], len: 0, normal, face }
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

    #[inline]
    pub(crate) fn is_face(&self) -> bool {
        self.len >= 3
    }

    /// A face of a polyhedron, in its frame.
    pub(crate) fn of_face(polyhedron: &Polyhedron, face: u32) -> Self {
        let mut patch = Self::new(polyhedron.faces()[face as usize].normal, face);
        let sides = polyhedron.sides(face);
        let stride = sides.len().div_ceil(Self::MAX).max(1);
        for side in sides.iter().step_by(stride) {
            patch.push(polyhedron.position(side.corner), side.corner, side.edge);
        }
        patch
    }

    /// The face of a polyhedron, among those at the support vertex or the given feature, that faces `direction`
    /// best. Direction and result in the polyhedron's frame.
    pub(crate) fn facing(polyhedron: &Polyhedron, direction: DVec3, feature: FeatureId) -> Self {
        let alignment = |f: u32| polyhedron.faces()[f as usize].normal.dot(direction);
        let face = match feature.dimension() {
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
        };
        Self::of_face(polyhedron, face)
    }
}
