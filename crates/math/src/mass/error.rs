//! What can be wrong with a body whose mass properties are asked for.

use crate::MathError;
use thiserror::Error;

/// A surface, tensor or number from which no mass properties follow.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum MassError {
    /// A number is not finite, not positive or unphysical, or a slice has the wrong length.
    #[error(transparent)]
    Input(#[from] MathError),
    /// A face with fewer than three corners.
    #[error("face {face} has {corners} corners, needs at least 3")]
    ShortFace {
        /// Index of the face.
        face: usize,
        /// Its number of corners.
        corners: usize,
    },
    /// A corner that names a vertex which does not exist.
    #[error("face {face} names vertex {vertex}, but there are {vertices}")]
    VertexOutOfRange {
        /// Index of the face.
        face: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A face that visits a vertex twice.
    #[error("face {face} visits vertex {vertex} twice")]
    RepeatedVertex {
        /// Index of the face.
        face: usize,
        /// The vertex it repeats.
        vertex: u32,
    },
    /// A directed edge that no face, or more than one, has in the opposite direction: the surface is open,
    /// or two of its faces disagree about which side is outside.
    #[error("edge {from}-{to} of face {face} is matched {matches} times in the opposite direction, not once")]
    UnmatchedEdge {
        /// A face with this edge.
        face: usize,
        /// Start of the edge.
        from: u32,
        /// End of the edge.
        to: u32,
        /// How often the edge occurs in the opposite direction.
        matches: usize,
    },
    /// A directed edge that several faces have.
    #[error("edge {from}-{to} of face {face} occurs {uses} times in the same direction")]
    RepeatedEdge {
        /// A face with this edge.
        face: usize,
        /// Start of the edge.
        from: u32,
        /// End of the edge.
        to: u32,
        /// How often the edge occurs in this direction.
        uses: usize,
    },
    /// A corner too far from the plane of its face.
    #[error("vertex {vertex} is {distance} m off the plane of face {face}, allowed {allowed}")]
    NonPlanarFace {
        /// Index of the face.
        face: usize,
        /// The vertex that is off the plane.
        vertex: u32,
        /// How far, metres.
        distance: f64,
        /// How far it may be, metres.
        allowed: f64,
    },
    /// The faces turn clockwise seen from outside.
    #[error("the surface is inside out: volume {volume}")]
    InsideOut {
        /// Signed volume, m³.
        volume: f64,
    },
    /// The volume is zero as far as rounding lets one see.
    #[error("the surface encloses no volume: {volume}, noise {noise}")]
    NoVolume {
        /// Signed volume, m³.
        volume: f64,
        /// The size below which a volume counts as zero, m³.
        noise: f64,
    },
}
