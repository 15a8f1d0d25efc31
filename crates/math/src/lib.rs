#![doc = include_str!("../README.md")]
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
