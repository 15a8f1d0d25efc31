//! Convex polyhedra: boundary representation, hulls, generators, and the layout that closest-feature walks read.

mod build;
mod generate;
mod hull;
mod merge;
pub(crate) mod orient;
mod support;

use crate::PolyhedronError;
use sim_math::{
    Aabb,
    glam::DVec3,
    mass::{Amount, ClosedSurface, MassError, MassProperties},
};
use sim_traits::SupportMap;
use std::any::Any;

pub use generate::torus;

/// A corner, with where its spokes begin in [`Polyhedron::spokes`]. 32 bytes: two to a cache line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vertex {
    /// Metres.
    pub position: DVec3,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// An edge seen from one of its ends: the Voronoi plane between the vertex and that edge is normal to `direction`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spoke {
    /// Unit vector away from the vertex.
    pub direction: DVec3,
    /// The edge.
    pub edge: u32,
    /// Vertex at its other end.
    pub neighbour: u32,
}

/// A plane normal · x = offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    /// Unit vector.
    pub normal: DVec3,
    /// Metres.
    pub offset: f64,
}

impl Plane {
    /// Signed distance of a point, metres.
    #[inline]
    #[must_use]
    pub fn height(&self, point: DVec3) -> f64 {
        self.normal.dot(point) - self.offset
    }
}

/// An edge with its Voronoi planes: 128 bytes, two cache lines.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub struct Edge {
    /// Vertices at both ends.
    pub ends: [u32; 2],
    /// Faces to the left and to the right, looking from the first end to the second with the outside up.
    pub faces: [u32; 2],
    /// Unit vector from the first end to the second.
    pub direction: DVec3,
    /// Metres.
    pub length: f64,
    /// Planes through the edge normal to the left and to the right face, positive outside the face.
    pub sides: [Plane; 2],
}

/// A side of a face: the Voronoi plane between the face and one of its edges, positive outside the face.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// Contains the edge, normal to the face.
    pub plane: Plane,
    /// The edge.
    pub edge: u32,
    /// Corner where the side begins, going counter-clockwise.
    pub corner: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Range {
    first: u32,
    count: u32,
}

/// A convex polyhedron with polygonal faces, in its own frame.
///
/// Faces are numbered as given (merged coplanar neighbours take one number), vertices too, except that points which
/// are not corners are left out. Everything a closest-feature walk needs is computed once: the planes that bound
/// the Voronoi region of each feature, and the neighbour across each plane.
///
/// ```
/// use collision_narrowphase::Polyhedron;
/// use sim_math::glam::DVec3;
///
/// let cube = Polyhedron::cuboid(DVec3::ONE)?;
/// assert_eq!((cube.vertices().len(), cube.edges().len(), cube.faces().len()), (8, 12, 6));
/// assert!((cube.volume() - 8.0).abs() < 1e-14);
/// # Ok::<(), collision_narrowphase::PolyhedronError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Polyhedron {
    vertices: Vec<Vertex>,
    spokes: Vec<Spoke>,
    edges: Vec<Edge>,
    planes: Vec<Plane>,
    loops: Vec<Range>,
    sides: Vec<Side>,
    /// Vertex nearest to the support in each cell of a cube map; empty for small polyhedra.
    support_table: Vec<u32>,
    center: DVec3,
    radius: f64,
    extent: f64,
}

impl Polyhedron {
    /// Relative size of what counts as coplanar when faces are merged.
    pub const COPLANAR: f64 = 1e-12;

    /// Convex hull of points, in any order; points inside, on faces and on edges are left out.
    ///
    /// # Errors
    /// Fewer than four points, a non-finite one, or points that (nearly) lie in a plane.
    pub fn hull(points: &[DVec3]) -> Result<Self, PolyhedronError> {
        build::from_hull(points)
    }

    /// From corners and polygonal faces, counter-clockwise seen from outside. Coplanar neighbours are merged.
    ///
    /// # Errors
    /// Bad indices, a surface that is not closed, not one sphere, not flat in its faces or not convex.
    pub fn from_faces<F: AsRef<[u32]>>(points: &[DVec3], faces: &[F]) -> Result<Self, PolyhedronError> {
        let faces: Vec<Vec<u32>> = faces.iter().map(|f| f.as_ref().to_vec()).collect();
        build::from_faces(points, faces)
    }

    /// Corners.
    #[inline]
    #[must_use]
    pub fn vertices(&self) -> &[Vertex] {
        &self.vertices
    }

    /// Edges.
    #[inline]
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Planes of the faces, normals outwards.
    #[inline]
    #[must_use]
    pub fn faces(&self) -> &[Plane] {
        &self.planes
    }

    /// Edges at a vertex, counter-clockwise seen from outside.
    #[inline]
    #[must_use]
    pub fn spokes(&self, vertex: u32) -> &[Spoke] {
        let v = &self.vertices[vertex as usize];
        &self.spokes[v.first as usize..(v.first + v.count) as usize]
    }

    /// Sides of a face, counter-clockwise seen from outside.
    #[inline]
    #[must_use]
    pub fn sides(&self, face: u32) -> &[Side] {
        let range = &self.loops[face as usize];
        &self.sides[range.first as usize..(range.first + range.count) as usize]
    }

    /// Position of a vertex, metres.
    #[inline]
    #[must_use]
    pub fn position(&self, vertex: u32) -> DVec3 {
        self.vertices[vertex as usize].position
    }

    /// Positions of both ends of an edge, metres.
    #[inline]
    #[must_use]
    pub fn segment(&self, edge: u32) -> [DVec3; 2] {
        self.edges[edge as usize].ends.map(|v| self.position(v))
    }

    /// A point inside: the mean of the corners, metres.
    #[inline]
    #[must_use]
    pub fn center(&self) -> DVec3 {
        self.center
    }

    /// Largest distance of a corner from [`center`](Self::center), metres.
    #[inline]
    #[must_use]
    pub fn extent(&self) -> f64 {
        self.extent
    }

    /// Enclosed volume, cubic metres.
    #[must_use]
    pub fn volume(&self) -> f64 {
        let mut six = 0.0;
        for face in 0..self.loops.len() as u32 {
            let sides = self.sides(face);
            let origin = self.position(sides[0].corner) - self.center;
            for pair in sides[1..].windows(2) {
                let [p, q] = [pair[0].corner, pair[1].corner].map(|v| self.position(v) - self.center);
                six += origin.dot(p.cross(q));
            }
        }
        six / 6.0
    }

    /// True if the point lies inside or on the surface.
    #[must_use]
    pub fn contains(&self, point: DVec3) -> bool {
        self.planes.iter().all(|f| f.height(point) <= 0.0)
    }

    /// Smallest axis-aligned box in the polyhedron's own frame.
    #[must_use]
    pub fn local_aabb(&self) -> Aabb {
        let first = self.position(0);
        self.vertices.iter().fold(Aabb { min: first, max: first }, |b, v| Aabb {
            min: b.min.min(v.position),
            max: b.max.max(v.position),
        })
    }

    /// Vertices and polygonal faces, as [`from_faces`](Self::from_faces) takes them.
    #[must_use]
    pub fn to_faces(&self) -> (Vec<DVec3>, Vec<Vec<u32>>) {
        let points = self.vertices.iter().map(|v| v.position).collect();
        let faces =
            (0..self.loops.len() as u32).map(|f| self.sides(f).iter().map(|s| s.corner).collect()).collect();
        (points, faces)
    }
}

impl SupportMap for Polyhedron {
    fn support(&self, direction: DVec3) -> DVec3 {
        self.position(self.support_vertex(direction))
    }

    fn bounding_radius(&self) -> f64 {
        self.radius
    }

    fn mass_properties(&self, amount: Amount) -> Option<Result<MassProperties, MassError>> {
        let points: Vec<DVec3> = self.vertices.iter().map(|v| v.position).collect();
        let mut triangles = Vec::new();
        for face in 0..self.loops.len() as u32 {
            let sides = self.sides(face);
            for k in 2..sides.len() {
                triangles.push([sides[0].corner, sides[k - 1].corner, sides[k].corner]);
            }
        }
        let surface = ClosedSurface::from_triangles(&points, &triangles);
        Some(surface.and_then(|surface| MassProperties::from_polyhedron(&surface, amount)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        "polyhedron"
    }
}
