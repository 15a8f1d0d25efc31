//! Two shapes onto which points can be projected: projections taken in turns, hurried on by secants, and a plane that proves
//! the result.
//!
//! # Reference
//! Alternating projections (Cheney and Goldstein 1959) with Anderson's acceleration (1965) of depth one; duality of
//! distance for the proof.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `x`, `y` | points of A and B, in A's frame |
//! | g | where both projections take x; f = g − x |
//! | Δ | change of a quantity since the step before |
//!
//! # Formula
//! ```text
//! g = P_A(P_B(x)),   x ← P_A(g − (f·Δf / Δf²) Δg)   until f is rounding
//! closest ⇔ |x − y| is the gap of the support functions along x − y
//! ```
//!
//! # Cost
//! Some six pairs of projections; GJK on a rim takes dozens of support points, each in a thinner simplex.
//!
//! # Numerics
//! Away from parallel flats one of the two points moves on a line or a circle, where a secant converges faster than
//! linearly. What has converged but is not proven, or is closer than 1e-5 of the size, is left to GJK.
//!
//! # Failure
//! `None`: no projection known, no proof, too many steps.
//!
//! # Tested by
//! `projections_find_what_gjk_finds`, `tests/conformance.rs`

use super::core::Cores;
use sim_math::glam::DVec3;
use sim_traits::Separation;

const STEPS: u32 = 32;
/// Most steps that a secant looks ahead.
const FAR: f64 = 100.0;
/// Gap below which the difference of two points is no direction, of the size.
const SHORT: f64 = 1e-5;
/// Move that is rounding, of the size and the distance.
const STILL: f64 = 1e-15;

/// Closest points of the cores, where projections find and prove them.
pub(super) fn projected(cores: &Cores<'_>) -> Option<Separation> {
    let (a, b, frame) = cores.parts();
    if !(a.is_projective() && b.is_projective()) {
        return None;
    }
    let size = cores.size();
    let still = STILL * (size + frame.translation.length());
    let mut x = a.nearest(frame.translation);
    let mut before: Option<(DVec3, DVec3)> = None;
    for _ in 0..STEPS {
        let y = frame.point(b.nearest(frame.point_back(x)));
        let g = a.nearest(y);
        let f = g - x;
        let gap = g - y;
        let distance = gap.length();
        if distance <= SHORT * size {
            return None;
        }
        if f.length_squared() <= still * still {
            let normal = gap / distance;
            let rounding = 1e-15 * size * (1.0 + size / distance);
            let proven = cores.core_gap(normal) >= distance - rounding;
            return proven.then_some(Separation { distance, normal, point_a: g, point_b: y });
        }
        // A step longer than the last comes from other features: no secant through both.
        before = before.filter(|(last_f, _)| f.length_squared() <= last_f.length_squared());
        x = g;
        if let Some((last_f, last_g)) = before {
            let change = f - last_f;
            let along = f.dot(change) / change.length_squared();
            // Where x slides along a flat at the same pace there is no secant: then far ahead, to where the flat ends.
            let along = if along.is_finite() { along.clamp(-FAR, FAR) } else { -FAR };
            x = a.nearest(g - along * (g - last_g));
        }
        before = Some((f, g));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{
        super::{core::Core, distance},
        *,
    };
    use crate::{relative::Frame, shapes::Frustum};
    use sim_math::{Pose, testkit::SplitMix64};
    use sim_traits::{Cuboid, Cylinder, Shape};

    #[test]
    fn projections_find_what_gjk_finds() {
        let shapes: [Shape; 5] = [
            Cuboid::new(DVec3::new(0.3, 0.5, 0.1)).unwrap().into(),
            Cylinder::new(0.4, 0.2).unwrap().into(),
            Cylinder::new(0.1, 0.8).unwrap().into(),
            Frustum::new(0.5, 0.2, 0.3).unwrap().into(),
            Frustum::cone(0.4, 0.3).unwrap().into(),
        ];
        let mut random = SplitMix64(10);
        let (mut found, mut apart) = (0, 0);
        for case in 0..20_000 {
            let (a, b) = (&shapes[random.below(5)], &shapes[random.below(5)]);
            let pose = Pose::new(random.vec3(1.5), random.unit_quat());
            let cores = Cores::new(Core::of(a).unwrap(), Core::of(b).unwrap(), Frame::from_pose(&pose));
            let (slow, is_apart) = distance::closest(&cores, DVec3::ZERO, 1e-10);
            apart += u32::from(is_apart);
            let Some(fast) = projected(&cores) else { continue };
            found += 1;
            assert!(is_apart && (fast.distance - slow.distance).abs() < 1e-12, "{case} {fast:?} {slow:?}");
            assert!((fast.normal - slow.normal).length() < 1e-6, "{case} {fast:?} {slow:?}");
            assert!((fast.point_a - slow.point_a).length() < 1e-6, "{case} {fast:?} {slow:?}");
        }
        assert!(apart > 15_000 && 10 * found > 9 * apart, "{found} of {apart}");
    }
}
