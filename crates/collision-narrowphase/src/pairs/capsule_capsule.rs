//! Two capsules: closest points of two segments, minus the radii.
//!
//! # Reference
//! Ericson 2005 §5.1.9.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `p`, `q` | closest points of the inner segments |
//!
//! # Formula
//! ```text
//! distance = |p − q| − radii
//! ```
//!
//! # Cost
//! Constant.
//!
//! # Numerics
//! Parallel capsules touch in the middle of their overlap. Crossing axes give the normal of both.
//!
//! # Failure
//! None for finite poses.
//!
//! # Tested by
//! `tests/conformance.rs`

use super::sphere::inflate;
use crate::closest::segment_segment;
use sim_math::{Pose, glam::DVec3};
use sim_traits::{Capsule, Separation};

/// Two capsules.
#[must_use]
pub fn capsule_capsule(a: &Capsule, b: &Capsule, a_from_b: &Pose) -> Separation {
    let (end_a, end_b) = (a.half_height() * DVec3::Z, b.half_height() * DVec3::Z);
    let [q0, q1] = [-end_b, end_b].map(|q| a_from_b.transform_point(q));
    let (p, q) = segment_segment(-end_a, end_a, q0, q1);
    let cross = DVec3::Z.cross(q1 - q0).normalize_or(DVec3::X);
    // Axes that all but meet: the points no longer tell the direction.
    let q = if (p - q).length() < 1e-12 * (a.half_height() + b.half_height()) { p } else { q };
    inflate(p, q, a.radius(), b.radius(), cross)
}
