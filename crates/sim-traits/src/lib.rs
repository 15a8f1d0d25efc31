//! The contracts between the parts of Tumblestone: ids, plain data, and the object-safe traits that let each
//! algorithm be swapped.
//!
//! ```
//! use sim_traits::{LcpProblem, Shape, Sphere};
//! use sim_math::{Pose, glam::DVec3};
//!
//! // Shapes are checked when they are made ...
//! let ball = Shape::from(Sphere::new(0.1)?);
//! assert!(ball.aabb(&Pose::from_translation(DVec3::Z)).contains(DVec3::new(0.0, 0.0, 1.1)));
//! assert!(Sphere::new(-0.1).is_err());
//!
//! // ... and so are complementarity problems, which also measure any answer.
//! let problem = LcpProblem::new(&[2.0], &[-4.0])?;
//! assert_eq!(problem.residual(&[2.0]), 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | seam | trait | virtual calls |
//! |---|---|---|
//! | which boxes overlap | [`BroadPhase`] | one per step or query |
//! | where two shapes touch | [`NarrowPhase`] | one per pair |
//! | how velocities answer impulses | [`VelocitySystem`] | one per system and contact set |
//! | what impulse a collision exerts | [`ImpactLaw`] | one per collision |
//! | complementarity problems | [`LcpSolver`] | one per problem |
//! | contacts with friction, joints, limits and motors together | [`RowSolver`] | one per island |
//! | threads | [`Executor`] | one per parallel phase |
//!
//! Rules for all of them: arguments are plain data, output goes into buffers of the caller, results do not depend
//! on threads, bad input is an `Err` that names the item and the value. A function that takes a part takes `impl Into<Box<dyn Trait>>`:
//! a value of any type with the trait, or a box chosen at run time. Feature `testkit` has a conformance kit
//! for each seam whose contract can be checked from outside.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | reserved: the crate always links `std` today |
//! | `libm` | no | the same bits on every target |
//! | `serde` | no | `Serialize` and `Deserialize` for ids, contacts and caches |
//! | `testkit` | no | conformance kits, naive oracles, random input |
//!
//! # What it does not do
//!
//! No algorithms: those live in the crates that implement the traits. No file formats, no clocks, no threads.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod boxed;
mod broad_phase;
mod contact;
mod executor;
mod hash;
mod ids;
mod impact;
pub mod joint;
mod lcp;
mod narrow_phase;
mod rows;
mod shape;
mod velocity_system;

#[cfg(any(test, feature = "testkit"))]
pub mod testkit;

pub use broad_phase::{BroadPhase, BroadPhaseError, PairChanges, ProxyKind, Ray};
pub use contact::{ContactPoint, FeatureId, Manifold, PairCache, Separation};
pub use executor::{Executor, Serial, for_each_mut};
pub use hash::{FixedHasher, FixedMap, FixedSet, FixedState};
pub use ids::{BodyId, ColliderId, JointId, Pair, PartId, ProxyId, SystemId, TreeId};
pub use impact::{Impact, ImpactError, ImpactLaw};
pub use lcp::{LcpError, LcpProblem, LcpReport, LcpSolver};
pub use narrow_phase::{Chain, NarrowPhase, NarrowPhaseError};
pub use rows::{
    BlockSide, Bounds, FreeBody, Groups, Law, RowCertificate, RowError, RowProblem, RowReport, RowSolver,
    SidedBlocks, Turning, project_on_cone,
};
pub use shape::{Capsule, Cuboid, CustomShape, Cylinder, HalfSpace, Shape, ShapeError, Sphere, SupportMap};
pub use velocity_system::{ColumnsMut, DynamicsError, Entry, Scratch, VelocitySystem};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
