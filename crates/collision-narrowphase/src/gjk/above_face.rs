//! A flat face below and the other shape's lowest point above it: the distance without a search.
//!
//! # Reference
//! Duality of distance: the face's plane is a lower bound, the lowest point and its foot are an upper one.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | n | outward normal of the face of P nearest to where Q was last, o how far out the face is |
//! | y | point of Q farthest against n |
//!
//! # Formula
//! ```text
//! distance = n·y − o   if y − (n·y − o) n is on the face
//! ```
//!
//! # Cost
//! One support query for each of the two shapes that has a flat face.
//!
//! # Numerics
//! Exact: the normal is the face's own.
//!
//! # Failure
//! `None` where the lowest point is not over the face, touches it, or no face looks that way.
//!
//! # Tested by
//! `what_is_above_a_face_is_found_as_by_search`, `tests/conformance.rs`

use super::core::{Cores, Flat};
use sim_math::glam::DVec3;
use sim_traits::Separation;

/// Closest points of the cores if one has a face that looks against (A) or along (B) the unit vector `axis`, with the
/// other above it by more than `touch` metres.
pub(super) fn above_face(cores: &Cores<'_>, axis: DVec3, touch: f64) -> Option<Separation> {
    let (a, b, frame) = cores.parts();
    if let Some(face) = a.face(-axis) {
        let y = frame.point(b.support(frame.back(-face.normal)));
        if let Some((distance, foot)) = foot(&face, y, touch) {
            return Some(Separation { distance, normal: -face.normal, point_a: foot, point_b: y });
        }
    }
    let face = b.face(frame.back(axis))?;
    let normal = frame.vector(face.normal);
    let x = a.support(-normal);
    let (distance, _) = foot(&face, frame.point_back(x), touch)?;
    Some(Separation { distance, normal, point_a: x, point_b: x - distance * normal })
}

fn foot(face: &Flat, y: DVec3, touch: f64) -> Option<(f64, DVec3)> {
    let distance = face.normal.dot(y) - face.offset;
    let foot = y - distance * face.normal;
    (distance > touch && face.holds(foot)).then_some((distance, foot))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{core::Core, distance},
        *,
    };
    use crate::{Polyhedron, relative::Frame, shapes::Frustum};
    use sim_math::{Pose, testkit::SplitMix64};
    use sim_traits::{Cuboid, Cylinder, Shape};

    #[test]
    fn what_is_above_a_face_is_found_as_by_search() {
        let shapes: [Shape; 5] = [
            Cuboid::new(DVec3::new(0.3, 0.5, 0.1)).unwrap().into(),
            Cylinder::new(0.4, 0.2).unwrap().into(),
            Frustum::new(0.5, 0.2, 0.3).unwrap().into(),
            Frustum::cone(0.4, 0.3).unwrap().into(),
            Polyhedron::random(12, 3).unwrap().into(),
        ];
        let mut random = SplitMix64(8);
        let mut found = 0;
        for case in 0..20_000 {
            let (a, b) = (&shapes[random.below(5)], &shapes[random.below(5)]);
            let pose = Pose::new(random.vec3(1.5), random.unit_quat());
            let cores = Cores::new(Core::of(a).unwrap(), Core::of(b).unwrap(), Frame::from_pose(&pose));
            let (slow, apart) = distance::closest(&cores, DVec3::ZERO, 1e-10);
            // The guess may be anything.
            let axis = if case % 2 == 0 { slow.normal } else { random.unit_vec3() };
            let Some(fast) = above_face(&cores, axis, 1e-10) else { continue };
            found += 1;
            assert!(apart && (fast.distance - slow.distance).abs() < 1e-11, "{case} {fast:?} {slow:?}");
            assert!((fast.normal - slow.normal).length() < 1e-5, "{case} {fast:?} {slow:?}");
            assert!((fast.point_a - fast.point_b - fast.distance * fast.normal).length() < 1e-15);
            let tip = |s: &Shape, x: DVec3, d: DVec3| (s.support(d).unwrap() - x).dot(d);
            let turned = pose.inverse_transform_vector(fast.normal);
            assert!(tip(a, fast.point_a, -fast.normal).abs() < 1e-14);
            assert!(tip(b, pose.inverse_transform_point(fast.point_b), turned).abs() < 1e-14);
        }
        assert!(found > 500, "{found}");
    }
}
