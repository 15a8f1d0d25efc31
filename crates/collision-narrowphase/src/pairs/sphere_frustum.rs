//! A sphere against a cylinder, a frustum or a cone: a point and a trapezoid in the plane through the axis.
//!
//! # Reference
//! Ericson 2005 §5.1.2, three times.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `c` | centre of the sphere in the plane through the axis: distance from it, height |
//! | `m` | outward normal of a side of the trapezoid, in that plane |
//!
//! # Formula
//! ```text
//! outside: the nearest of the nearest points of bottom, slant and top;   inside: out through the nearest of them
//! ```
//!
//! # Cost
//! Three segments, three square roots.
//!
//! # Numerics
//! Above a side the direction is that side's normal, whatever the height. On the axis, where all directions are equally
//! good, it is towards +x.
//!
//! # Failure
//! None for finite poses.
//!
//! # Tested by
//! `tests/conformance.rs`, `spheres_touch_solids_of_revolution_where_gjk_finds_it`

use sim_math::{
    Pose,
    glam::{DVec2, DVec3},
};
use sim_traits::{Separation, Sphere};

/// Sphere and the solid between two disks around the z axis, of radii `bottom` at −h and `top` at +h, metres.
#[must_use]
pub fn sphere_frustum(a: &Sphere, [bottom, top, h]: [f64; 3], a_from_b: &Pose) -> Separation {
    let center = a_from_b.inverse_transform_point(DVec3::ZERO);
    let around = center.with_z(0.0);
    let c = DVec2::new(around.length(), center.z);
    let radial = if c.x > 0.0 { around / c.x } else { DVec3::X };
    // Outside on the right hand.
    let rim = [DVec2::new(0.0, -h), DVec2::new(bottom, -h), DVec2::new(top, h), DVec2::new(0.0, h)];
    let mut outside: Option<Foot> = None;
    let mut inside: Option<Foot> = None;
    for k in 0..3 {
        let Some(foot) = Foot::on(c, rim[k], rim[k + 1]) else { continue };
        let best = if foot.above { &mut outside } else { &mut inside };
        if best.is_none_or(|b| foot.distance.abs() < b.distance.abs()) {
            *best = Some(foot);
        }
    }
    let foot = outside.or(inside).unwrap_or(Foot { normal: DVec2::X, distance: c.x, above: true });
    let normal = a_from_b.transform_vector((radial * foot.normal.x).with_z(foot.normal.y));
    let (distance, point_a) = (foot.distance - a.radius(), -a.radius() * normal);
    Separation { distance, normal, point_a, point_b: point_a - distance * normal }
}

/// How a point lies to a side of the trapezoid.
#[derive(Clone, Copy)]
struct Foot {
    /// From the side to the point, or out of the solid if the point is below.
    normal: DVec2,
    distance: f64,
    above: bool,
}

impl Foot {
    /// `None` for a side without length.
    fn on(c: DVec2, from: DVec2, to: DVec2) -> Option<Self> {
        let u = (to - from).try_normalize()?;
        let m = DVec2::new(u.y, -u.x);
        let height = m.dot(c - from);
        let along = u.dot(c - from);
        if height <= 0.0 {
            return Some(Self { normal: m, distance: height, above: false });
        }
        let gap = if along < 0.0 {
            c - from
        } else if along > u.dot(to - from) {
            c - to
        } else {
            return Some(Self { normal: m, distance: height, above: true });
        };
        let distance = gap.length();
        Some(Self { normal: gap / distance, distance, above: true })
    }
}
