//! Closed surfaces: polygon faces over shared vertices, checked once.

use super::MassError;
use crate::{Aabb, MathError};
use glam::DVec3;

/// How far a corner may be off the plane of its face, relative to the size of the face: what coordinates
/// in single precision need, with a margin.
pub const DEFAULT_PLANARITY: f64 = 1e-6;

/// Corners of the faces as vertex indices, counter-clockwise seen from outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Faces<'a> {
    /// Three corners each.
    Triangles(&'a [[u32; 3]]),
    /// Any number of corners each: `counts[f]` corners of face f, one face after the other in `corners`.
    Polygons {
        /// Number of corners of each face.
        counts: &'a [u32],
        /// Vertex indices of all faces.
        corners: &'a [u32],
    },
}

impl<'a> Faces<'a> {
    /// Number of faces.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Triangles(triangles) => triangles.len(),
            Self::Polygons { counts, .. } => counts.len(),
        }
    }

    /// True if there is no face.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `visit` with the index and the corners of each face in order, until it fails.
    pub(crate) fn try_each<E>(
        &self,
        mut visit: impl FnMut(usize, &'a [u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        match *self {
            Self::Triangles(triangles) => {
                triangles.iter().enumerate().try_for_each(|(f, corners)| visit(f, corners.as_slice()))
            }
            Self::Polygons { counts, corners } => {
                let mut rest = corners;
                for (f, &count) in counts.iter().enumerate() {
                    let (face, tail) = rest.split_at(count as usize);
                    visit(f, face)?;
                    rest = tail;
                }
                Ok(())
            }
        }
    }
}

/// A polyhedral surface that was checked to be closed and consistently oriented; borrows its data.
///
/// It may be non-convex, of any genus, and may consist of several shells; an inner shell whose faces turn
/// the other way is a cavity. That the surface does not cross itself is not checked.
#[derive(Debug, Clone, Copy)]
pub struct ClosedSurface<'a> {
    vertices: &'a [DVec3],
    faces: Faces<'a>,
    bounds: Aabb,
}

impl<'a> ClosedSurface<'a> {
    /// Checks a triangle mesh. Vertices are in metres.
    ///
    /// # Errors
    /// See [`ClosedSurface::try_new`].
    pub fn from_triangles(vertices: &'a [DVec3], triangles: &'a [[u32; 3]]) -> Result<Self, MassError> {
        Self::try_new(vertices, Faces::Triangles(triangles), DEFAULT_PLANARITY)
    }

    /// Checks a mesh of polygons, `counts[f]` corners of face f one after the other in `corners`.
    ///
    /// # Errors
    /// See [`ClosedSurface::try_new`].
    pub fn from_polygons(
        vertices: &'a [DVec3],
        counts: &'a [u32],
        corners: &'a [u32],
    ) -> Result<Self, MassError> {
        Self::try_new(vertices, Faces::Polygons { counts, corners }, DEFAULT_PLANARITY)
    }

    /// Checks a surface: vertices in metres, corners counter-clockwise seen from outside, `planarity` the
    /// greatest distance of a corner from the plane of its face, relative to the size of the face.
    ///
    /// # Errors
    /// The first fault found: a non-finite vertex or planarity, fewer than two faces, corner counts that do
    /// not add up, a short face, a vertex out of range or repeated in a face, a face that is not planar, an
    /// edge that does not occur exactly once in each direction.
    pub fn try_new(vertices: &'a [DVec3], faces: Faces<'a>, planarity: f64) -> Result<Self, MassError> {
        MathError::check_vectors("vertex", vertices)?;
        MathError::check_finite("planarity", &[planarity])?;
        if faces.len() < 2 {
            return Err(MathError::TooFew { what: "faces", needed: 2, got: faces.len() }.into());
        }
        if let Faces::Polygons { counts, corners } = faces {
            let expected = counts.iter().map(|&c| c as usize).sum();
            if corners.len() != expected {
                return Err(MathError::WrongLength { what: "corners", expected, got: corners.len() }.into());
            }
        }
        check_faces(vertices, faces, planarity)?;
        check_edges(faces)?;
        Ok(Self { vertices, faces, bounds: bounds_of(vertices, faces) })
    }

    /// The vertices, metres.
    #[inline]
    #[must_use]
    pub fn vertices(&self) -> &'a [DVec3] {
        self.vertices
    }

    /// The faces.
    #[inline]
    #[must_use]
    pub fn faces(&self) -> Faces<'a> {
        self.faces
    }

    /// Smallest box around the vertices that faces use, metres.
    #[inline]
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }
}

/// Twice the vector area of a polygon (Newell), from differences so that it does not depend on the origin.
#[inline]
pub(super) fn doubled_area(vertices: &[DVec3], corners: &[u32]) -> DVec3 {
    let first = vertices[corners[0] as usize];
    let mut area = DVec3::ZERO;
    let mut previous = vertices[corners[1] as usize] - first;
    for &corner in &corners[2..] {
        let next = vertices[corner as usize] - first;
        area += previous.cross(next);
        previous = next;
    }
    area
}

/// Vertices that no face uses do not count: they may be anywhere.
fn bounds_of(vertices: &[DVec3], faces: Faces<'_>) -> Aabb {
    let corners = match faces {
        Faces::Triangles(triangles) => triangles.as_flattened(),
        Faces::Polygons { corners, .. } => corners,
    };
    let empty = Aabb { min: DVec3::INFINITY, max: DVec3::NEG_INFINITY };
    corners.iter().fold(empty, |bounds, &c| {
        let p = vertices[c as usize];
        Aabb { min: bounds.min.min(p), max: bounds.max.max(p) }
    })
}

fn check_faces(vertices: &[DVec3], faces: Faces<'_>, planarity: f64) -> Result<(), MassError> {
    // Which face saw a vertex last, plus one: finds repetitions in O(1) per corner.
    let mut seen_by = vec![0_usize; vertices.len()];
    faces.try_each(|face, corners| {
        if corners.len() < 3 {
            return Err(MassError::ShortFace { face, corners: corners.len() });
        }
        for &vertex in corners {
            let Some(seen) = seen_by.get_mut(vertex as usize) else {
                return Err(MassError::VertexOutOfRange { face, vertex, vertices: vertices.len() });
            };
            if *seen == face + 1 {
                return Err(MassError::RepeatedVertex { face, vertex });
            }
            *seen = face + 1;
        }
        if corners.len() > 3 { check_planar(vertices, face, corners, planarity) } else { Ok(()) }
    })
}

fn check_planar(vertices: &[DVec3], face: usize, corners: &[u32], planarity: f64) -> Result<(), MassError> {
    let normal = doubled_area(vertices, corners).normalize_or_zero();
    let first = vertices[corners[0] as usize];
    let offset = |vertex: u32| vertices[vertex as usize] - first;
    let mean = corners.iter().fold(DVec3::ZERO, |sum, &v| sum + offset(v)) / corners.len() as f64;
    let size = corners.iter().fold(0.0_f64, |size, &v| size.max(offset(v).length()));
    // Coordinates far from the origin carry the rounding of their own size.
    let allowed = planarity * size + 4.0 * f64::EPSILON * first.abs().max_element();
    for &vertex in corners {
        let distance = normal.dot(offset(vertex) - mean).abs();
        if distance > allowed {
            return Err(MassError::NonPlanarFace { face, vertex, distance, allowed });
        }
    }
    Ok(())
}

/// Sorts the edges by their ends: the two directions of one edge become neighbours.
fn check_edges(faces: Faces<'_>) -> Result<(), MassError> {
    let mut edges: Vec<(u32, u32, bool, usize)> = Vec::new();
    faces.try_each(|face, corners| {
        let mut from = corners[corners.len() - 1];
        for &to in corners {
            edges.push((from.min(to), from.max(to), from > to, face));
            from = to;
        }
        Ok::<(), MassError>(())
    })?;
    edges.sort_unstable();
    for group in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let down = group.iter().filter(|e| e.2).count();
        let up = group.len() - down;
        if up == 1 && down == 1 {
            continue;
        }
        let (low, high, falling, face) = group[0];
        let (from, to) = if falling { (high, low) } else { (low, high) };
        let (uses, matches) = if falling { (down, up) } else { (up, down) };
        return Err(if uses > 1 {
            MassError::RepeatedEdge { face, from, to, uses }
        } else {
            MassError::UnmatchedEdge { face, from, to, matches }
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [DVec3; 4] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    #[test]
    fn a_tetrahedron_is_closed() {
        let surface = ClosedSurface::from_triangles(&CORNERS, &TETRAHEDRON).unwrap();
        assert_eq!(surface.bounds(), Aabb { min: DVec3::ZERO, max: DVec3::ONE });
        let mut with_stray = CORNERS.to_vec();
        with_stray.push(DVec3::splat(1e9));
        let stray = ClosedSurface::from_triangles(&with_stray, &TETRAHEDRON).unwrap();
        assert_eq!(stray.bounds(), surface.bounds());
        assert_eq!(surface.faces().len(), 4);
    }

    #[test]
    fn every_fault_is_named_with_its_place_and_value() {
        let err = |vertices: &[DVec3], faces: &[[u32; 3]]| {
            ClosedSurface::from_triangles(vertices, faces).unwrap_err().to_string()
        };
        let mut bad = CORNERS;
        bad[2].y = f64::NAN;
        assert_eq!(err(&bad, &TETRAHEDRON), "vertex 2 is not finite: NaN");
        assert_eq!(err(&CORNERS, &[]), "needs at least 2 faces, got 0");
        assert_eq!(err(&[], &TETRAHEDRON), "face 0 names vertex 0, but there are 0");

        let mut faces = TETRAHEDRON;
        faces[3][1] = 9;
        assert_eq!(err(&CORNERS, &faces), "face 3 names vertex 9, but there are 4");
        faces[3] = [1, 2, 1];
        assert_eq!(err(&CORNERS, &faces), "face 3 visits vertex 1 twice");
        faces[3] = [1, 3, 2];
        assert_eq!(err(&CORNERS, &faces), "edge 2-1 of face 0 occurs 2 times in the same direction");
        assert_eq!(
            err(&CORNERS, &TETRAHEDRON[..3]),
            "edge 2-1 of face 0 is matched 0 times in the opposite direction, not once"
        );

        let short = ClosedSurface::from_polygons(&CORNERS, &[3, 2], &[0, 1, 2, 0, 1]).unwrap_err();
        assert_eq!(short, MassError::ShortFace { face: 1, corners: 2 });
        let length = ClosedSurface::from_polygons(&CORNERS, &[3, 3], &[0, 1, 2, 0, 1]).unwrap_err();
        assert_eq!(length.to_string(), "corners has length 5, expected 6");
        let planarity = ClosedSurface::try_new(&CORNERS, Faces::Triangles(&TETRAHEDRON), f64::NAN);
        assert_eq!(planarity.unwrap_err().to_string(), "planarity 0 is not finite: NaN");
    }

    #[test]
    fn two_solids_that_share_an_edge_are_refused() {
        // Which of the four faces at the edge belong together is ambiguous.
        let mut vertices = CORNERS.to_vec();
        vertices.extend([DVec3::NEG_Y, DVec3::NEG_Z]);
        let mut faces = TETRAHEDRON.to_vec();
        faces.extend(TETRAHEDRON.map(|face| face.map(|v| if v < 2 { v } else { v + 2 })));
        let error = ClosedSurface::from_triangles(&vertices, &faces).unwrap_err();
        assert_eq!(error.to_string(), "edge 0-1 of face 1 occurs 2 times in the same direction");
    }

    #[test]
    fn a_bent_quadrilateral_is_refused_and_a_rounded_one_is_not() {
        // Two faces over the same four corners, one the back of the other.
        let faces = Faces::Polygons { counts: &[4, 4], corners: &[0, 1, 2, 3, 3, 2, 1, 0] };
        let quad = |lift: f64| [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, lift), DVec3::Y];
        assert!(ClosedSurface::try_new(&quad(1e-7), faces, DEFAULT_PLANARITY).is_ok());
        let bent = quad(1e-3);
        let error = ClosedSurface::try_new(&bent, faces, DEFAULT_PLANARITY).unwrap_err();
        let MassError::NonPlanarFace { face, distance, .. } = error else { panic!("{error}") };
        assert_eq!(face, 0);
        assert!((distance - 2.5e-4).abs() < 1e-6, "{distance}");
        assert!(ClosedSurface::try_new(&bent, faces, 1e-2).is_ok());
    }
}
