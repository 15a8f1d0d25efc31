//! Distance, depth and contacts of convex shapes.
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod error;
pub mod polyhedron;

pub use error::PolyhedronError;
pub use polyhedron::Polyhedron;
