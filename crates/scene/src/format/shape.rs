//! Shapes as they are written in a scene.

use super::{body::RotationSpec, is_default, vector::Triple};
use serde::{Deserialize, Serialize};

/// A shape; lengths in metres, in the frame of the body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ShapeSpec {
    /// A shape of the scene's `shapes`, by its name.
    Named(String),
    /// Ball around the origin.
    Sphere {
        /// Radius, m.
        radius: f64,
    },
    /// Box around the origin, sides along the axes.
    Cuboid {
        /// Full lengths of the sides, m.
        size: Triple,
    },
    /// All points within `radius` of a segment on the z axis, the origin in its middle.
    Capsule {
        /// Radius, m.
        radius: f64,
        /// Length of the segment, m: the capsule is `height + 2 radius` long.
        height: f64,
    },
    /// Circular cylinder around z, the origin in its middle.
    Cylinder {
        /// Radius, m.
        radius: f64,
        /// Full height, m.
        height: f64,
    },
    /// Cone around z: base at −`height`/2, apex at +`height`/2.
    Cone {
        /// Radius of the base, m.
        radius: f64,
        /// Full height, m.
        height: f64,
    },
    /// Truncated cone around z.
    Frustum {
        /// Radius at −`height`/2, m; may be 0.
        bottom: f64,
        /// Radius at +`height`/2, m; may be 0.
        top: f64,
        /// Full height, m.
        height: f64,
    },
    /// Ellipsoid around the origin, axes along x, y, z.
    Ellipsoid {
        /// Semi-axes, m.
        radii: Triple,
    },
    /// Everything on or below the plane through the origin; fixed and scripted bodies only.
    HalfSpace {
        /// Outward normal, any length.
        #[serde(default = "up", skip_serializing_if = "is_up")]
        normal: Triple,
    },
    /// Convex hull of points.
    Hull {
        /// At least four points that are not in a plane, m.
        points: Vec<Triple>,
    },
    /// Polygon in the xy plane, made thick along z, the origin in the middle of its height.
    Prism {
        /// Corners (x, y), m: convex, in any order.
        points: Vec<(f64, f64)>,
        /// Full height along z, m.
        height: f64,
    },
    /// Shell of a sphere, open at the top, in convex pieces; the origin is its lowest inner point.
    Dish {
        /// Radius of the inner sphere, m.
        curvature: f64,
        /// Radius of the rim seen from above, m; below `curvature`.
        rim: f64,
        /// Thickness at the bottom, m.
        thickness: f64,
        /// Pieces from the middle to the rim. Default 4.
        #[serde(default = "four")]
        rings: u32,
        /// Pieces around. Default 24.
        #[serde(default = "twenty_four")]
        sectors: u32,
    },
    /// Ring around z in convex pieces.
    Torus {
        /// Radius of the middle line, m.
        major: f64,
        /// Radius of the ring's cross-section, m.
        minor: f64,
        /// Pieces around. Default 24.
        #[serde(default = "twenty_four")]
        segments: u32,
        /// Corners of the cross-section. Default 12.
        #[serde(default = "twelve")]
        sides: u32,
    },
    /// A polyhedron of triangles inside the unit sphere times a radius: how older programs drew a ball.
    Icosphere {
        /// Radius of the corners, m.
        radius: f64,
        /// How often each triangle is cut into four, 0 to 5. Default 2.
        #[serde(default = "two")]
        subdivisions: u32,
    },
    /// Mesh of an OBJ or STL file.
    Mesh {
        /// Path, relative to the scene file.
        file: String,
        /// What the triangles stand for. Default `hull`.
        #[serde(default, skip_serializing_if = "is_default")]
        solid: MeshSolid,
        /// Factor to metres. Default 1.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        scale: f64,
    },
    /// Several shapes that move as one.
    Compound(Vec<PartSpec>),
}

/// What the triangles of a mesh file stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeshSolid {
    /// The convex hull of all points.
    #[default]
    Hull,
    /// One convex solid for each connected piece of surface; each piece must be closed and convex.
    Pieces,
}

/// A shape of a compound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSpec {
    /// The shape.
    pub shape: ShapeSpec,
    /// Position of its origin in the frame of the compound, m.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Triple,
    /// Orientation in the frame of the compound.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rotation: RotationSpec,
    /// Material of this part; that of the body otherwise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub material: Option<String>,
    /// Density of this part, kg/m³; that of the body otherwise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub density: Option<f64>,
}

fn up() -> Triple {
    Triple::new(0.0, 0.0, 1.0)
}

fn is_up(v: &Triple) -> bool {
    *v == up()
}

fn one() -> f64 {
    1.0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_one(x: &f64) -> bool {
    x.to_bits() == 1.0_f64.to_bits()
}

fn two() -> u32 {
    2
}

fn four() -> u32 {
    4
}

fn twelve() -> u32 {
    12
}

fn twenty_four() -> u32 {
    24
}
