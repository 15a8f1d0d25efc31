//! Distance, depth and contacts of convex shapes.
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod closest;

mod error;
mod manifold;
mod witness;

pub mod brute_force;
pub mod gjk;
pub mod polyhedron;
pub mod relative;
pub mod sat;
pub mod shapes;
pub mod vclip;

pub use error::PolyhedronError;
pub use polyhedron::Polyhedron;
