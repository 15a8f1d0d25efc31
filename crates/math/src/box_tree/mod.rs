//! Binary trees of axis-aligned boxes, shared by broad phases, meshes and bounds.
//!
//! Items are dense `u32` ids that the caller owns (a collider, a triangle); the tree keeps one leaf per item in
//! a flat array. It is built at once from many boxes, or grows and changes one item at a time; queries only
//! read, take a closure, and allocate nothing.
//!
//! ```
//! use sim_math::{Aabb, box_tree::BoxTree, glam::DVec3};
//! use std::ops::ControlFlow;
//!
//! let boxes: Vec<Aabb> = (0..100)
//!     .map(|i| Aabb::from_center_half_extents(DVec3::X * f64::from(i), DVec3::splat(0.4)))
//!     .collect();
//! let tree = BoxTree::build(&boxes)?;
//! let mut found = Vec::new();
//! let probe = Aabb::from_center_half_extents(DVec3::X * 7.5, DVec3::splat(0.3));
//! let _ = tree.visit_overlaps(&probe, |item| {
//!     found.push(item);
//!     ControlFlow::Continue(())
//! });
//! found.sort_unstable();
//! assert_eq!(found, [7, 8]);
//! # Ok::<(), sim_math::MathError>(())
//! ```
//!
//! Order of visits: first the unbounded items by id, then the tree in an order that depends only on the calls
//! made before.

mod build;
mod check;
mod distance;
mod overlap;
mod pairs;
mod ray;
#[cfg(test)]
mod tests;
mod tree;

pub use check::BoxTreeFault;
pub use tree::BoxTree;
