//! A wheel that rolls without slip.
//!
//! # Reference
//!
//! Barenbrug (2000), 4.1.13, with the lowest point of the rim found exactly.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | c, `z_b`, w | centre, axle and radius of the wheel | m, -, m |
//! | n | normal of the surface, to the side of c | - |
//! | g | down along the wheel: −n without its part along the axle, of length one | - |
//! | ρ | c + w g, the lowest point of the rim | m |
//! | τ | `z_b` × g, along the rim | - |
//!
//! # Formula
//!
//! ```text
//! hold    x₀ = n·(ρ − q),   q the closest point of the surface to ρ;     ẋ₀ = n·u
//! hold    x₁ = x₂ = 0 on velocities alone:  τ·u = 0,  (n × τ)·u = 0
//!         u = velocity of the wheel at ρ − velocity of a at ρ
//! ```
//!
//! # Cost
//!
//! Three rows; a few searches of the closest point, one on a plane.
//!
//! # Numerics
//!
//! The rim point slides along τ as the wheel turns, across n: the rate of x₀ is exact. ρ, q and n are iterated until they agree to rounding.
//!
//! # Failure
//!
//! A wheel whose axle is within 15° of n holds nothing.
//!
//! # Tested by
//!
//! `rates_of_a_wheel`, `a_disc_rolls_down_an_incline`

use super::{
    RowLaw,
    write::{Placed, Writer},
};
use sim_math::glam::DVec3;
use sim_traits::joint::JointSurface;

/// Most rounds of closest point and rim.
const ROUNDS: usize = 50;
/// Cosine of 15 degrees.
const FLAT: f64 = 0.965_925_826_289_068_3;

pub(super) fn rows(a: &Placed, b: &Placed, patch: &JointSurface, radius: f64, out: &mut Writer<'_>) {
    if out.values_only {
        return;
    }
    let surface = patch.get();
    let (c, axle) = (a.local(b.origin), a.axes.transpose() * b.axes.z_axis);
    let mut target = c;
    let mut down = DVec3::ZERO;
    let mut contact = None;
    for _ in 0..ROUNDS {
        let Ok(near) = surface.closest(target) else { return };
        let normal = surface.normal(near.u, near.v);
        let n = if normal.dot(c - near.point) < 0.0 { -normal } else { normal };
        if n.dot(axle).abs() > FLAT {
            return;
        }
        let g = (axle * n.dot(axle) - n).normalize();
        let rim = c + g * radius;
        contact = Some((n, rim, n.dot(rim - near.point)));
        // The last round looks from the rim itself.
        if target != c && (g - down).length_squared() < 1e-30 {
            break;
        }
        (down, target) = (g, rim);
    }
    let Some((n, rim, gap)) = contact else { return };
    let along = axle.cross(down);
    let block = out.start();
    let point = a.world(rim);
    for (row, direction) in [n, along, n.cross(along)].into_iter().enumerate() {
        out.shift(block, row, a, b, point, a.axes * direction);
    }
    out.finish(block, &[RowLaw::Hold; 3], DVec3::new(gap, 0.0, 0.0), DVec3::ZERO);
}

#[cfg(test)]
mod tests {
    use super::super::testkit;
    use sim_math::{
        Pose,
        glam::{DMat3, DQuat, DVec3},
        ops,
    };
    use sim_traits::joint::{JointKind, JointPatch, JointSurface};

    fn wheel(patch: JointPatch, radius: f64) -> JointKind {
        JointKind::Wheel { surface: JointSurface::new(patch).unwrap(), radius }
    }

    #[test]
    fn rates_of_a_wheel() {
        let frame = Pose::from_translation(DVec3::new(-2.0, 0.2, 0.3));
        testkit::check_rates(
            wheel(JointPatch::Plane { origin: DVec3::ZERO, normal: DVec3::new(0.9, 0.1, 0.2) }, 0.4),
            &[],
        );
        testkit::check_rates(
            wheel(JointPatch::Plane { origin: DVec3::ZERO, normal: DVec3::new(-0.4, 1.0, 0.2) }, 0.4),
            &[],
        );
        testkit::check_rates(
            wheel(
                JointPatch::Ellipsoid {
                    frame: frame * Pose::from_rotation(DQuat::from_rotation_x(1.2)),
                    radii: DVec3::new(1.5, 1.0, 1.8),
                },
                0.2,
            ),
            &[],
        );
    }

    #[test]
    fn a_disc_rolls_down_an_incline() {
        let (m, r, slope, g) = (1.3, 0.25, 0.35, 9.81);
        let inertia = 0.5 * m * r * r;
        // The axle is y: z of the anchor turned about x. Gravity is inclined.
        let anchor = Pose::from_rotation(DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2));
        let pose = Pose::from_translation(DVec3::new(0.4, 0.1, r));
        let body = (m, DMat3::from_diagonal(DVec3::new(0.5 * inertia, inertia, 0.5 * inertia)));
        let force = DVec3::new(ops::sin(slope), 0.0, -ops::cos(slope)) * (m * g);
        let plane = JointPatch::Plane { origin: DVec3::ZERO, normal: DVec3::Z };
        let motion = testkit::acceleration(wheel(plane, r), &[], anchor, pose, body, force);
        let expected = g * ops::sin(slope) / (1.0 + inertia / (m * r * r));
        assert!((motion.linear - DVec3::X * expected).length() < 1e-13, "{motion:?}");
        assert!((motion.angular - DVec3::Y * (expected / r)).length() < 1e-12);
    }
}
