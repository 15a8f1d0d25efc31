//! Anything with a support map against a half-space.
//!
//! # Reference
//! Arnold 1997 §2.4.1 (ground contact of frustums and ellipsoids), in the form of support points.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `n` | normal of the half-space, in A's frame |
//!
//! # Formula
//! ```text
//! distance = n · (s(−n) − o);   contacts: the corners of the patch that faces the plane
//! ```
//!
//! # Cost
//! One support query.
//!
//! # Numerics
//! Exact up to rounding, apart and in overlap.
//!
//! # Failure
//! `None` for shapes without a support map.
//!
//! # Tested by
//! `tests/conformance.rs`, `tests/manifold.rs`

use crate::{
    manifold::{FEW, MAX, Patch, Reducer, has_few_corners},
    relative::Frame,
};
use sim_math::Pose;
use sim_traits::{ContactPoint, FeatureId, HalfSpace, Manifold, Separation, Shape};

/// Signed distance of a bounded convex shape from a half-space.
#[must_use]
pub fn convex_half_space(a: &Shape, b: &HalfSpace, a_from_b: &Pose) -> Option<Separation> {
    let normal = Frame::from_pose(a_from_b).vector(b.normal());
    let point_a = a.support(-normal)?;
    let distance = normal.dot(point_a - a_from_b.translation);
    Some(Separation { distance, normal, point_a, point_b: point_a - distance * normal })
}

/// Contacts of a bounded convex shape with a half-space up to `margin` metres apart, at most four.
#[must_use]
pub fn half_space_manifold(a: &Shape, b: &HalfSpace, a_from_b: &Pose, margin: f64) -> Option<Manifold> {
    // Large arrays cost more to clear than to use.
    if has_few_corners(a) {
        sized::<FEW, { FEW + 2 }>(a, b, a_from_b, margin)
    } else {
        sized::<MAX, { MAX + 2 }>(a, b, a_from_b, margin)
    }
}

fn sized<const N: usize, const R: usize>(
    a: &Shape,
    b: &HalfSpace,
    a_from_b: &Pose,
    margin: f64,
) -> Option<Manifold> {
    let closest = convex_half_space(a, b, a_from_b)?;
    let normal = closest.normal;
    let mut reducer: Reducer<R> = Reducer::new(normal, a.bounding_radius());
    if closest.distance <= margin {
        for corner in Patch::<N>::of_shape(a, -normal).corners() {
            let separation = normal.dot(corner.position - a_from_b.translation);
            if separation <= margin {
                reducer.push(ContactPoint {
                    point_a: corner.position,
                    point_b: corner.position - separation * normal,
                    separation,
                    features: [FeatureId::vertex(corner.vertex), FeatureId::face(0)],
                });
            }
        }
        if reducer.deepest() > closest.distance + 1e-9 * a.bounding_radius() {
            reducer.push(ContactPoint {
                point_a: closest.point_a,
                point_b: closest.point_b,
                separation: closest.distance,
                features: [FeatureId::NONE, FeatureId::face(0)],
            });
        }
    }
    Some(reducer.finish())
}
