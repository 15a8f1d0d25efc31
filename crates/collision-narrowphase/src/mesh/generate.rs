//! Meshes of known shape: from polyhedra, tori, floors.

use super::{MeshError, TriMesh};
use crate::Polyhedron;
use sim_math::{glam::DVec3, ops};
use std::f64::consts::TAU;

impl TriMesh {
    /// The surface of a convex polyhedron, faces cut into fans.
    ///
    /// # Errors
    /// Slivers that have no area in the fans.
    pub fn from_polyhedron(polyhedron: &Polyhedron) -> Result<Self, MeshError> {
        let (points, faces) = polyhedron.to_faces();
        let triangles: Vec<[u32; 3]> =
            faces.iter().flat_map(|f| f[1..].windows(2).map(|w| [f[0], w[0], w[1]])).collect();
        Self::closed(&points, &triangles)
    }

    /// A torus around z: `segments` around the axis, `sides` around the tube.
    ///
    /// # Errors
    /// Fewer than three segments or sides, lengths that are not positive or do not leave a hole: some triangle has no area
    /// or the mesh is inside out.
    pub fn torus(major: f64, minor: f64, segments: u32, sides: u32) -> Result<Self, MeshError> {
        if segments < 3 || sides < 3 {
            return Err(MeshError::Empty);
        }
        let mut points = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..segments {
            let (s, c) = ops::sin_cos(TAU * f64::from(i) / f64::from(segments));
            for j in 0..sides {
                let (sj, cj) = ops::sin_cos(TAU * f64::from(j) / f64::from(sides));
                let r = major + minor * cj;
                points.push(DVec3::new(r * c, r * s, minor * sj));
                let at = |i: u32, j: u32| (i % segments) * sides + j % sides;
                let (p, q, u, v) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
                triangles.extend([[p, q, u], [p, u, v]]);
            }
        }
        Self::closed(&points, &triangles)
    }

    /// A sheet over a rectangular grid in x and y, `cells` squares of side `pitch` (metres) each way around the origin,
    /// with the heights that `height` gives for x and y. Normals point to +z.
    ///
    /// # Errors
    /// No cells; a pitch or heights that are not finite or leave no area.
    pub fn terrain(cells: u32, pitch: f64, height: impl Fn(f64, f64) -> f64) -> Result<Self, MeshError> {
        let side = cells + 1;
        let mut points = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..side {
            for j in 0..side {
                let at = |k: u32| (f64::from(k) - 0.5 * f64::from(cells)) * pitch;
                points.push(DVec3::new(at(i), at(j), height(at(i), at(j))));
                if i < cells && j < cells {
                    let p = i * side + j;
                    triangles.extend([[p, p + side, p + side + 1], [p, p + side + 1, p + 1]]);
                }
            }
        }
        Self::sheet(&points, &triangles)
    }
}
