//! Mathematics of rigid and articulated bodies, in `f64`, concrete types on top of [`glam`].
//!
//! ```
//! use sim_math::{Aabb, Pose, glam::{DQuat, DVec3}};
//!
//! // `world_from_body` maps body coordinates to world coordinates.
//! let world_from_body = Pose::new(DVec3::new(1.0, 0.0, 0.0), DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2));
//! let tip = world_from_body.transform_point(DVec3::X);
//! assert!((tip - DVec3::new(1.0, 1.0, 0.0)).length() < 1e-15);
//! assert!(Aabb::from_points([DVec3::ZERO, tip]).unwrap().contains(DVec3::new(0.5, 0.5, 0.0)));
//! ```
//!
//! # Conventions
//!
//! SI units and radians; right-handed frames; column vectors; quaternions in memory order x, y, z, w;
//! spatial vectors angular part first; `a_from_b` maps coordinates in b to coordinates in a.
//! The repository's `docs/conventions.md` has them all on one page.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | reserved: the crate always links `std` today |
//! | `libm` | no | [`ops`] and glam use the `libm` crate: the same bits on every target |
//! | `serde` | no | `Serialize` and `Deserialize` for plain data |
//! | `testkit` | no | random input for tests: `testkit` module, `assert_close!` |
//!
//! # What it does not do
//!
//! No ids, no shapes, no contacts, no world: those begin in `sim-traits`.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

pub use glam;

pub mod box_tree;
pub mod curve;
pub mod dense;
pub mod elliptic;
pub mod integrate;
pub mod mass;
pub mod ops;
pub mod pose_fit;
pub mod rotation;
pub mod small;
pub mod spatial;
pub mod surface;
pub mod swept;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;

mod aabb;
mod error;
mod pose;
mod sym3;

pub use aabb::Aabb;
pub use error::MathError;
pub use pose::Pose;
pub use sym3::Sym3;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
