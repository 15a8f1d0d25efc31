//! The direction of a short gap, from what the shapes look like around it.
//!
//! # Reference
//! Duality of distance: the gap along any direction is at most the distance, and equal to it along the right one.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | p, q | closest points of A and B, correct up to rounding ρ |
//! | n₀ | (p − q) / d, wrong by up to ρ / d |
//! | `across` | corners that stick out along n₀, as seen from p or q: the right direction is normal to some of them |
//!
//! # Formula
//! ```text
//! n = the best of n₀, n₀ − (n₀·e) e, n₀ − (n₀·e₁) e₁ − (n₀·e₂) e₂  over directions e of corners that stick out
//! ```
//!
//! # Cost
//! Two support queries if n₀ is good, which nearly all are; a few dozen otherwise. No allocation.
//!
//! # Numerics
//! A gap of d between points known to ρ has a direction known to ρ / d, and a shape of size s then seems to reach s ρ / d
//! into the gap: at d = 1e-9 s that is a millionth of the size. Corners are far from each other, so their directions
//! have all digits, and so has a normal made normal to them. It lies within ρ / d of n₀, so the gap along it differs
//! from the distance by ρ² / d only.
//!
//! # Failure
//! The gap returned falls short of the distance if no direction leaves it free: the points were not the closest ones.
//!
//! # Tested by
//! `a_blurred_direction_becomes_exact`, `points_that_are_not_closest_show_no_gap`, `tests/hostile.rs`

use crate::{Polyhedron, relative::Frame};
use sim_math::glam::DVec3;
use sim_traits::Separation;

/// Most corners that are looked at.
const CORNERS: usize = 12;

/// The separation with a direction along which the shapes leave the whole gap free, up to `tolerance` metres, or the
/// best that was found; and the gap along that direction.
///
/// `supports` gives, for a direction n from B to A, the point of A farthest along −n and that of B farthest along n,
/// in A's frame. Corners nearer to the closest points than `tiny` metres do not count.
pub(crate) fn sharpen(
    supports: impl Fn(DVec3) -> (DVec3, DVec3),
    found: &Separation,
    tolerance: f64,
    tiny: f64,
) -> (Separation, f64) {
    let rough = found.normal;
    // What a direction lacks: gap, and agreement with the points, which must be joined by it in the end.
    let near = 0.1 * tiny;
    let lack = |n: DVec3, gap: f64| {
        let aside = 0.5 * found.distance * (n - rough).length();
        (found.distance - gap).max(0.0) + if aside > near { aside } else { 0.0 }
    };
    let gap = |n: DVec3| {
        let (a, b) = supports(n);
        (n.dot(a - b), a, b)
    };
    let (mut best, mut n) = (gap(rough), rough);
    let mut least = lack(n, best.0);
    if least <= tolerance {
        return (*found, best.0);
    }
    let mut across = [DVec3::ZERO; CORNERS];
    let mut len = 0;
    let note = |(_, a, b): (f64, DVec3, DVec3), across: &mut [DVec3; CORNERS], len: &mut usize| {
        for v in [a - found.point_a, b - found.point_b] {
            let Some(e) = v.try_normalize().filter(|_| v.length() > tiny) else { continue };
            // Corners of two nearly parallel edges count twice: their common normal may be the answer.
            if *len < CORNERS && !across[..*len].iter().any(|other| other.cross(e).length() <= 1e-15) {
                across[*len] = e;
                *len += 1;
            }
        }
    };
    note(best, &mut across, &mut len);
    let mut k = 0;
    // Every corner alone and with every earlier one; what sticks out along such a direction is the next corner.
    while k < len && least > tolerance {
        for i in 0..=k {
            let candidate = if i == k {
                without(rough, across[k])
            } else {
                // Orthonormal, so that one projection does not spoil the other.
                without(across[k], across[i]).and_then(|e| without(without(rough, across[i])?, e))
            };
            let Some(candidate) = candidate else { continue };
            let here = gap(candidate);
            note(here, &mut across, &mut len);
            let lacks = lack(candidate, here.0);
            if lacks < least {
                (best, n, least) = (here, candidate, lacks);
            }
        }
        k += 1;
    }
    let (middle, half) = (0.5 * (found.point_a + found.point_b), 0.5 * found.distance * n);
    (Separation { normal: n, point_a: middle + half, point_b: middle - half, ..*found }, best.0)
}

/// The part of `v` normal to the unit vector `e`, of unit length.
fn without(v: DVec3, e: DVec3) -> Option<DVec3> {
    (v - e.dot(v) * e).try_normalize()
}

/// The same for two polyhedra.
pub(crate) fn sharpen_polyhedra(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Frame,
    found: &Separation,
    tolerance: f64,
) -> (Separation, f64) {
    let supports = |n: DVec3| {
        let on_b = b.position(b.support_vertex(a_from_b.back(n)));
        (a.position(a.support_vertex(-n)), a_from_b.point(on_b))
    };
    sharpen(supports, found, tolerance, 1e-9 * (a.extent() + b.extent()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::{Pose, glam::DQuat, testkit::SplitMix64};

    #[test]
    fn a_blurred_direction_becomes_exact() {
        let cube = Polyhedron::cuboid(DVec3::ONE).unwrap();
        let mut random = SplitMix64(5);
        // Corner above a face, edge above a face, crossing edges: one and two corners decide.
        let tilts = [
            DQuat::from_rotation_arc(DVec3::ONE.normalize(), DVec3::Z),
            DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4),
            DQuat::from_rotation_z(0.3) * DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4),
        ];
        for k in 0..300 {
            let tilt = tilts[k % 3];
            let low = cube.vertices().iter().map(|v| (tilt * v.position).z).fold(f64::INFINITY, f64::min);
            let gap = 1e-9;
            let frame = Frame::from_pose(&Pose::new(DVec3::new(0.1, 0.2, 1.0 + gap - low), tilt));
            let bottom = cube.vertices().iter().map(|v| frame.point(v.position)).filter(|p| p.z < 1.0 + 1e-6);
            let points: Vec<DVec3> = bottom.collect();
            let point_b = points.iter().sum::<DVec3>() / points.len() as f64;
            let normal = (DVec3::NEG_Z + random.vec3(1e-6)).normalize();
            let blurred = Separation { distance: gap, normal, point_a: point_b.with_z(1.0), point_b };
            let sharp = sharpen_polyhedra(&cube, &cube, &frame, &blurred, 1e-14).0;
            assert!((sharp.normal - DVec3::NEG_Z).length() < 1e-14, "{k} {}", sharp.normal);
        }
    }

    #[test]
    fn points_that_are_not_closest_show_no_gap() {
        let cube = Polyhedron::cuboid(DVec3::ONE).unwrap();
        // Overlapping boxes whose corners are a little apart.
        let frame = Frame::from_pose(&Pose::from_translation(DVec3::new(1.5, 1.5, 1.5)));
        let gap = 1e-8 * DVec3::X;
        let claimed =
            Separation { distance: 1e-8, normal: DVec3::X, point_a: DVec3::ONE + gap, point_b: DVec3::ONE };
        assert!(sharpen_polyhedra(&cube, &cube, &frame, &claimed, 1e-12).1 < -0.4);
    }
}
