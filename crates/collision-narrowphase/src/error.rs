//! Why a polyhedron cannot be built.

use sim_math::glam::DVec3;
use thiserror::Error;

/// Input that does not describe a convex polyhedron, with the item and the value.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum PolyhedronError {
    /// Fewer than four points, or fewer than four faces.
    #[error("a polyhedron needs at least 4 {what}, got {got}")]
    TooFew {
        /// "points" or "faces".
        what: &'static str,
        /// What was given.
        got: usize,
    },
    /// More features than an index can name.
    #[error("{got} {what} are more than {limit}")]
    TooMany {
        /// "points", "faces" or "segments".
        what: &'static str,
        /// What was given.
        got: usize,
        /// The most that can be handled.
        limit: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("point {index} is not finite: {value}")]
    NonFinite {
        /// Index of the point.
        index: usize,
        /// The point as given.
        value: DVec3,
    },
    /// A length parameter is not positive and finite.
    #[error("{what} must be positive and finite, got {value}")]
    BadLength {
        /// Name of the parameter.
        what: &'static str,
        /// What was given, metres.
        value: f64,
    },
    /// The points are so small, so large or so far out that squares of coordinates lose their meaning.
    #[error("size {size} m at distance {offset} m from the origin is out of range")]
    BadScale {
        /// Half the longest side of the box around the points, metres.
        size: f64,
        /// Largest coordinate of the middle of that box, metres.
        offset: f64,
    },
    /// All points lie (nearly) in a point, on a line or in a plane.
    #[error("the points span only {dimension} dimensions: {thickness} m thick")]
    Flat {
        /// Dimension that the points span: 0, 1 or 2.
        dimension: u32,
        /// Extent in the first missing dimension, metres.
        thickness: f64,
    },
    /// A face has fewer than three corners, or names a corner twice.
    #[error("face {face} is not a polygon with distinct corners")]
    BadFace {
        /// Index of the face.
        face: usize,
    },
    /// A face names a point that does not exist.
    #[error("face {face} names point {index}, but there are {points} points")]
    BadIndex {
        /// Index of the face.
        face: usize,
        /// The index it names.
        index: u32,
        /// Number of points.
        points: usize,
    },
    /// The directed edge is used twice, or its reverse by no face: the surface is not closed and oriented.
    #[error("edge from point {tail} to point {head} is not shared by exactly two faces of opposite sense")]
    NotClosed {
        /// First end.
        tail: u32,
        /// Second end.
        head: u32,
    },
    /// V − E + F is not 2: the surface is not one sphere.
    #[error("Euler characteristic {characteristic} instead of 2")]
    Euler {
        /// V − E + F as found.
        characteristic: i64,
    },
    /// A corner of a face lies off the plane of the face.
    #[error("face {face} is not flat: a corner is {distance} m off its plane")]
    NotPlanar {
        /// Index of the face (after merging).
        face: usize,
        /// Distance of the worst corner, metres.
        distance: f64,
    },
    /// A neighbouring face rises above the plane of a face: there is a dent, or faces are wound inwards.
    #[error("not convex at face {face}: a neighbour rises {distance} m above it")]
    NotConvex {
        /// Index of the face (after merging).
        face: usize,
        /// Height of the worst corner, metres.
        distance: f64,
    },
}
