//! Triangle meshes: checked surfaces with a tree of boxes, for rays, closest points, containment and contact.

pub(crate) mod bvh;
mod check;
mod closest;
mod generate;
mod ray;
mod repair;
mod surface;
pub(crate) mod triangle;

pub use closest::MeshPoint;
pub use ray::MeshHit;
pub use repair::{MeshRepair, RepairReport};

use bvh::Bvh;
use sim_math::{
    Aabb, Pose,
    glam::DVec3,
    mass::{Amount, ClosedSurface, MassError, MassProperties},
};
use sim_traits::{CustomShape, Shape};
use std::{any::Any, sync::Arc};
use thiserror::Error;

/// No triangle.
pub(crate) const NONE: u32 = u32::MAX;

/// Triangles that are not a mesh, with the first that is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// There is no triangle.
    #[error("a mesh needs at least one triangle")]
    Empty,
    /// More triangles than can be numbered.
    #[error("{triangles} triangles are more than {limit}")]
    TooMany {
        /// What was given.
        triangles: usize,
        /// The most that can be handled.
        limit: usize,
    },
    /// A corner is NaN, infinite or beyond 1e30 m.
    #[error("triangle {triangle} has corner {index} at {value}")]
    NonFinite {
        /// Index of the triangle.
        triangle: usize,
        /// Index of the point.
        index: u32,
        /// The point as given.
        value: DVec3,
    },
    /// A corner that does not exist.
    #[error("triangle {triangle} names point {index}, but there are {points} points")]
    BadIndex {
        /// Index of the triangle.
        triangle: usize,
        /// The index it names.
        index: u32,
        /// Number of points.
        points: usize,
    },
    /// The corners lie on a line.
    #[error("triangle {triangle} has no area")]
    ZeroArea {
        /// Index of the triangle.
        triangle: usize,
    },
    /// The same three corners as an earlier triangle.
    #[error("triangle {triangle} has the same corners as triangle {first}")]
    Duplicate {
        /// Index of the later triangle.
        triangle: usize,
        /// Index of the earlier one.
        first: usize,
    },
    /// An edge of a closed mesh without a second triangle.
    #[error("triangle {triangle} has no neighbour at the edge from point {tail} to point {head}")]
    Open {
        /// Index of the triangle.
        triangle: usize,
        /// First end of the edge.
        tail: u32,
        /// Second end.
        head: u32,
    },
    /// An edge of more than two triangles.
    #[error("triangle {triangle} shares the edge from point {tail} to point {head} with more than one other")]
    NonManifold {
        /// Index of the triangle.
        triangle: usize,
        /// First end of the edge.
        tail: u32,
        /// Second end.
        head: u32,
    },
    /// Two neighbours of which one is turned over.
    #[error("triangles {triangle} and {other} run through their common edge the same way")]
    Orientation {
        /// Index of the triangle.
        triangle: usize,
        /// Index of its neighbour.
        other: usize,
    },
    /// A closed shell whose normals point inwards.
    #[error("the shell of triangle {triangle} is inside out: signed volume {volume} m³")]
    InsideOut {
        /// First triangle of the shell.
        triangle: usize,
        /// Signed volume of the shell, cubic metres.
        volume: f64,
    },
    /// A welding distance that is negative or NaN.
    #[error("welding distance must not be negative, got {value}")]
    BadWeld {
        /// What was given, metres.
        value: f64,
    },
}

/// A triangle mesh in its own frame, static geometry or the skin of a body.
///
/// A *closed* mesh is solid: it has an inside, and contacts push out of it. A *sheet* may have borders and is touched from
/// both sides. Triangles keep their numbers.
///
/// ```
/// use collision_narrowphase::mesh::TriMesh;
/// use sim_math::glam::DVec3;
///
/// let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
/// let mesh = TriMesh::closed(&corners, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])?;
/// assert!(mesh.contains(DVec3::splat(0.2)) && !mesh.contains(DVec3::splat(0.4)));
/// // A fault is named.
/// let open = TriMesh::closed(&corners, &[[0, 2, 1], [0, 1, 3], [1, 2, 3]]).unwrap_err();
/// assert_eq!(open.to_string(), "triangle 0 has no neighbour at the edge from point 0 to point 2");
/// # Ok::<(), collision_narrowphase::mesh::MeshError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TriMesh {
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    neighbours: Vec<[u32; 3]>,
    /// Triangles around each point: those of point p are `fans[fan_start[p]..fan_start[p + 1]]`.
    fan_start: Vec<u32>,
    fans: Vec<u32>,
    bvh: Bvh,
    /// Corners in the order of the tree's leaves.
    corners: Vec<[DVec3; 3]>,
    /// Per triangle: no edge is a border or a ridge of more than 15°, from whichever side it is touched.
    gentle: Vec<bool>,
    bounds: Aabb,
    radius: f64,
    closed: bool,
}

/// Cosine of the angle up to which an edge is gentle.
pub(crate) const GENTLE: f64 = 0.966;

impl TriMesh {
    /// A solid with a closed surface; corners counter-clockwise seen from outside. Cavities are shells that face inwards.
    /// That the surface does not cross itself is not checked.
    ///
    /// # Errors
    /// The first fault found, with the triangle.
    pub fn closed(points: &[DVec3], triangles: &[[u32; 3]]) -> Result<Self, MeshError> {
        Self::build(points, triangles, true)
    }

    /// A surface that may have borders and is touched from both sides.
    ///
    /// # Errors
    /// The first fault found, with the triangle; borders are none.
    pub fn sheet(points: &[DVec3], triangles: &[[u32; 3]]) -> Result<Self, MeshError> {
        Self::build(points, triangles, false)
    }

    fn build(points: &[DVec3], triangles: &[[u32; 3]], closed: bool) -> Result<Self, MeshError> {
        check::corners(points, triangles)?;
        check::areas(points, triangles)?;
        check::duplicates(triangles)?;
        let neighbours = check::neighbours(triangles, closed)?;
        if closed {
            let (shell, count) = check::shells(&neighbours);
            if let Some(&(_, triangle, volume)) = check::inside_out(points, triangles, &shell, count).first()
            {
                return Err(MeshError::InsideOut { triangle, volume });
            }
        }
        let corners_of = |t: &[u32; 3]| t.map(|i| points[i as usize]);
        let boxes: Vec<Aabb> = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = corners_of(t);
                Aabb { min: a.min(b).min(c), max: a.max(b).max(c) }
            })
            .collect();
        let bounds = boxes.iter().fold(boxes[0], |all, b| all.merged(b));
        let bvh = Bvh::build(&boxes);
        let corners = bvh.order().iter().map(|&i| corners_of(&triangles[i as usize])).collect();
        let radius = triangles.iter().flatten().map(|&i| points[i as usize].length()).fold(0.0, f64::max);
        let (fan_start, fans) = fans(points.len(), triangles);
        let normals: Vec<DVec3> =
            triangles.iter().map(|t| crate::surface::normal_of(&corners_of(t))).collect();
        let gentle = (0..triangles.len())
            .map(|t| {
                neighbours[t].iter().all(|&other| {
                    other != NONE && {
                        let across = normals[other as usize];
                        // A sheet is touched from both sides, so a valley is a ridge too.
                        let [p, _, _] = corners_of(&triangles[t]);
                        let valley = closed
                            && corners_of(&triangles[other as usize])
                                .iter()
                                .all(|q| normals[t].dot(*q - p) >= -1e-12 * (*q - p).length());
                        valley || normals[t].dot(across) >= GENTLE
                    }
                })
            })
            .collect();
        Ok(Self {
            points: points.to_vec(),
            triangles: triangles.to_vec(),
            neighbours,
            fan_start,
            fans,
            bvh,
            corners,
            gentle,
            bounds,
            radius,
            closed,
        })
    }

    /// Points, metres.
    #[inline]
    #[must_use]
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// Corners of the triangles, as indices of points.
    #[inline]
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// True if the mesh was built as a solid.
    #[inline]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Corners of a triangle, metres.
    #[inline]
    #[must_use]
    pub fn triangle(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles[triangle as usize].map(|i| self.points[i as usize])
    }

    /// Unit normal of a triangle.
    #[must_use]
    pub fn normal(&self, triangle: u32) -> DVec3 {
        let [a, b, c] = self.triangle(triangle);
        (b - a).cross(c - a).normalize_or_zero()
    }

    /// Triangles that share an edge: entry k across the edge from corner k to corner k + 1, `u32::MAX` at a border.
    #[inline]
    #[must_use]
    pub fn neighbours(&self, triangle: u32) -> [u32; 3] {
        self.neighbours[triangle as usize]
    }

    /// Triangles at a point.
    #[must_use]
    pub fn fan(&self, point: u32) -> &[u32] {
        let at = |p: u32| self.fan_start[p as usize] as usize;
        &self.fans[at(point)..at(point + 1)]
    }

    /// Smallest box in the mesh's own frame, metres.
    #[inline]
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }

    #[inline]
    pub(crate) fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    /// Corners of the triangle in a slot of the tree.
    #[inline]
    pub(crate) fn slot(&self, slot: usize) -> &[DVec3; 3] {
        &self.corners[slot]
    }

    /// Largest coordinate, metres: what rounding is relative to.
    #[inline]
    pub(crate) fn reach(&self) -> f64 {
        self.bounds.min.abs().max(self.bounds.max.abs()).max_element()
    }

    /// Mass, centre and inertia of the solid inside a closed mesh.
    ///
    /// # Errors
    /// A sheet; a mass or density that is not positive.
    pub fn mass_properties(&self, amount: Amount) -> Result<MassProperties, MassError> {
        MassProperties::from_polyhedron(
            &ClosedSurface::from_triangles(&self.points, &self.triangles)?,
            amount,
        )
    }
}

fn fans(points: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut start = vec![0_u32; points + 1];
    for &i in triangles.iter().flatten() {
        start[i as usize + 1] += 1;
    }
    for k in 1..start.len() {
        start[k] += start[k - 1];
    }
    let mut next = start.clone();
    let mut fans = vec![0; 3 * triangles.len()];
    for (t, corners) in (0..).zip(triangles) {
        for &i in corners {
            fans[next[i as usize] as usize] = t;
            next[i as usize] += 1;
        }
    }
    (start, fans)
}

impl CustomShape for TriMesh {
    fn aabb(&self, world_from_shape: &Pose) -> Aabb {
        moved_box(&self.bounds, world_from_shape)
    }

    fn bounding_radius(&self) -> f64 {
        self.radius
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        "mesh"
    }
}

impl From<TriMesh> for Shape {
    fn from(mesh: TriMesh) -> Self {
        Self::Custom(Arc::new(mesh))
    }
}

/// Box around a moved box.
pub(crate) fn moved_box(aabb: &Aabb, pose: &Pose) -> Aabb {
    let r = pose.rotation_matrix();
    let h = aabb.half_extents();
    let half = r.x_axis.abs() * h.x + r.y_axis.abs() * h.y + r.z_axis.abs() * h.z;
    Aabb::from_center_half_extents(pose.transform_point(aabb.center()), half)
}
