//! A sphere against a sphere, a capsule and a box.
//!
//! # Reference
//! Ericson 2005 §5.1.3.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `c` | centre of the sphere in the other shape's frame |
//!
//! # Formula
//! ```text
//! distance = |c − nearest point of the other core| − radii;   inside a box: minus the way out through the nearest face
//! ```
//!
//! # Cost
//! One square root.
//!
//! # Numerics
//! Where the centres coincide the normal is +z, or the nearest face's for a box.
//!
//! # Failure
//! None for finite poses.
//!
//! # Tested by
//! `tests/conformance.rs`

use sim_math::{Pose, glam::DVec3};
use sim_traits::{Capsule, Cuboid, Separation, Sphere};

/// From nearest points of two cores and the radii around them: `gap` from B's core point to A's.
pub(super) fn inflate(core_a: DVec3, core_b: DVec3, ra: f64, rb: f64, fallback: DVec3) -> Separation {
    let gap = core_a - core_b;
    let length = gap.length();
    let normal = if length > 1e-300 { gap / length } else { fallback };
    let distance = length - ra - rb;
    let point_a = core_a - ra * normal;
    Separation { distance, normal, point_a, point_b: point_a - distance * normal }
}

/// Two spheres.
#[must_use]
pub fn sphere_sphere(a: &Sphere, b: &Sphere, a_from_b: &Pose) -> Separation {
    inflate(DVec3::ZERO, a_from_b.translation, a.radius(), b.radius(), DVec3::Z)
}

/// Sphere and capsule.
#[must_use]
pub fn sphere_capsule(a: &Sphere, b: &Capsule, a_from_b: &Pose) -> Separation {
    let axis = a_from_b.transform_vector(DVec3::Z);
    let along = (-a_from_b.translation).dot(axis).clamp(-b.half_height(), b.half_height());
    let on_axis = a_from_b.translation + along * axis;
    inflate(DVec3::ZERO, on_axis, a.radius(), b.radius(), axis.any_orthonormal_vector())
}

/// Sphere and box.
#[must_use]
pub fn sphere_cuboid(a: &Sphere, b: &Cuboid, a_from_b: &Pose) -> Separation {
    let h = b.half_extents();
    let c = a_from_b.inverse_transform_point(DVec3::ZERO);
    let nearest = c.clamp(-h, h);
    if nearest != c {
        return inflate(DVec3::ZERO, a_from_b.transform_point(nearest), a.radius(), 0.0, DVec3::Z);
    }
    // Centre inside: out through the nearest face.
    let room = h - c.abs();
    let axis = if room.x <= room.y && room.x <= room.z {
        0
    } else if room.y <= room.z {
        1
    } else {
        2
    };
    let mut face = DVec3::ZERO;
    face[axis] = 1.0_f64.copysign(c[axis]);
    let normal = a_from_b.transform_vector(face);
    let distance = -room[axis] - a.radius();
    let point_a = -a.radius() * normal;
    Separation { distance, normal, point_a, point_b: point_a - distance * normal }
}
