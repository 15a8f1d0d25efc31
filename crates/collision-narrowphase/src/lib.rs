//! Distance, depth and contacts: convex shapes by several algorithms that agree, and compounds, meshes and height fields
//! made of convex parts.
//!
//! ```
//! use collision_narrowphase::{Polyhedron, vclip::vclip};
//! use sim_math::{Pose, glam::DVec3};
//! use sim_traits::PairCache;
//!
//! let cube = Polyhedron::cuboid(DVec3::ONE)?;
//! let ball = Polyhedron::icosphere(0.5, 2)?;
//! let a_from_b = Pose::from_translation(DVec3::new(0.0, 0.0, 2.0));
//! let mut cache = PairCache::default();
//! let found = vclip(&cube, &ball, &a_from_b, &mut cache)?;
//! assert!((found.separation.distance - 0.5).abs() < 0.01);
//! // The cache makes the next query cheap: one state instead of a walk.
//! assert_eq!(vclip(&cube, &ball, &a_from_b, &mut cache)?.iterations, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is here
//!
//! | module | what it does |
//! |---|---|
//! | [`polyhedron`] | convex polyhedra: hulls, generators, boundary representation with Voronoi planes |
//! | [`vclip`] | closest features by V-Clip, depth by separating axes or EPA |
//! | [`lin_canny`] | the classic closest-feature walk |
//! | [`gjk`] | distance and depth of anything with a support map |
//! | [`sat`], [`brute_force`] | separating axes; every pair of features: the oracles |
//! | [`pairs`] | closed forms |
//! | [`shapes`] | frustum, cone, ellipsoid, rounded shapes |
//! | [`tracking`] | is an old contact still one? |
//! | [`ray`], [`contain`] | ray casts and containment for every shape |
//! | [`compound`] | bodies of convex pieces in a tree of hulls; making them from simple parts |
//! | [`mesh`], [`height_field`] | triangles: checks, repair, rays, closest points, contact |
//! | [`cast`] | time of impact and shape casts under given motions |
//! | [`decompose`] | convex pieces that cover a mesh |
//! | [`curved`] | smooth bodies: a mesh is tracked, a root finder ends on the surface |
//! | [`rolling`] | contact of smooth bodies with planes and how it wanders |
//! | [`fn@reduce`] | contacts of many parts to few |
//!
//! Use it alone by calling the functions; swap algorithms by boxing the adapters [`VClip`], [`LinCanny`], [`Gjk`],
//! [`Analytic`], [`BruteForce`] and [`Composite`], which implement `sim_traits::NarrowPhase`; [`default_chain`] combines them.
//!
//! # Conventions
//!
//! SI units. Results are in A's frame; the normal is a unit vector from B to A; separations are negative in overlap.
//! No query allocates (`NarrowPhase::manifolds` grows the caller's vector only); building shapes does.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | reserved: the crate always links `std` today |
//! | `libm` | no | the same bits on every target |
//!
//! # What it does not do
//!
//! No contact between two meshes; no soft shapes; no broad phase.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod adapter;
mod closest;
mod composite;
mod convex;
pub mod curved;
mod error;
mod manifold;
mod sharpen;
mod surface;
mod witness;

pub mod brute_force;
pub mod cast;
pub mod compound;
pub mod contain;
pub mod decompose;
pub mod gjk;
pub mod height_field;
pub mod lin_canny;
pub mod mesh;
pub mod pairs;
pub mod polyhedron;
pub mod ray;
mod reduce;
pub mod relative;
pub mod rolling;
pub mod sat;
pub mod shapes;
pub mod tracking;
pub mod vclip;

pub use adapter::{Analytic, BruteForce, Gjk, LinCanny, VClip, as_polyhedron, default_chain};
pub use composite::{Composite, intersects};
pub use error::PolyhedronError;
pub use polyhedron::Polyhedron;
pub use reduce::reduce;

/// Vectors, poses and boxes, which this crate speaks in.
pub use sim_math as math;
/// The traits that this crate implements or takes, and their plain data.
pub use sim_traits as traits;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
