//! Distance, depth and contacts of convex shapes.
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod adapter;
mod closest;

mod error;
mod manifold;
mod witness;

pub mod brute_force;
pub mod gjk;
pub mod lin_canny;
pub mod pairs;
pub mod polyhedron;
pub mod ray;
pub mod relative;
pub mod sat;
pub mod shapes;
pub mod tracking;
pub mod vclip;

pub use adapter::{Analytic, BruteForce, Gjk, LinCanny, VClip, as_polyhedron, default_chain};
pub use error::PolyhedronError;
pub use polyhedron::Polyhedron;
