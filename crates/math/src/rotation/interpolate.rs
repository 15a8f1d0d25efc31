//! Interpolation between two orientations at constant angular speed.

use super::{quat_exp, quat_log};
use glam::DQuat;

/// The orientation a fraction `t` of the way from `a` to `b`, along the shorter arc at constant speed.
///
/// Both are unit quaternions. `t` outside [0, 1] goes on along the same axis. The result has the sign of `a`:
/// at `t = 1` it is `b` or `-b`. Orientations exactly half a turn apart have two arcs; one is taken, always the
/// same for the same bits.
#[inline]
#[must_use]
pub fn slerp(a: DQuat, b: DQuat, t: f64) -> DQuat {
    // Through the logarithm instead of sines of both weights: no loss near zero and near half a turn.
    a * quat_exp(quat_log(a.conjugate() * b) * t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        rotation::{rotation_angle, same_rotation},
        testkit::{UnitQuat, check},
    };
    use glam::DVec3;

    // proves: CLI-09
    #[test]
    fn slerp_has_its_end_points_constant_speed_and_the_short_arc() {
        fn property(a: UnitQuat, b: UnitQuat) -> bool {
            let (a, b) = (a.0, b.0);
            let whole = rotation_angle(a, b);
            let ends =
                same_rotation(slerp(a, b, 0.0), a, 1e-15 * 4.0) && same_rotation(slerp(a, b, 1.0), b, 1e-14);
            // Equal parts of the way take equal angles, and together no more than the direct way.
            let speed = (0..10).all(|k| {
                let (t, u) = (f64::from(k) / 10.0, f64::from(k + 1) / 10.0);
                (rotation_angle(slerp(a, b, t), slerp(a, b, u)) - 0.1 * whole).abs() < 1e-14
            });
            let unit = (slerp(a, b, 0.37).length() - 1.0).abs() < 1e-14;
            // The other cover of the same orientation changes nothing, but for the choice at half a turn.
            let cover = (std::f64::consts::PI - whole < 1e-9)
                || same_rotation(slerp(a, -b, 0.3), slerp(a, b, 0.3), 1e-14);
            ends && speed && unit && cover && whole <= std::f64::consts::PI
        }
        check(71, 20_000, property as fn(UnitQuat, UnitQuat) -> bool);
    }

    #[test]
    fn halfway_to_ninety_degrees_is_forty_five() {
        let b = DQuat::from_axis_angle(DVec3::Z, std::f64::consts::FRAC_PI_2);
        let v = slerp(DQuat::IDENTITY, b, 0.5) * DVec3::X;
        let r = std::f64::consts::FRAC_1_SQRT_2;
        assert!((v - DVec3::new(r, r, 0.0)).length() < 1e-15);
        // A glam slerp with the short arc chosen is the second opinion.
        let mut random = crate::testkit::SplitMix64(72);
        for _ in 0..1000 {
            let (p, q) = (random.unit_quat(), random.unit_quat());
            assert!(same_rotation(slerp(p, q, 0.3), p.slerp(q, 0.3), 1e-7));
        }
    }
}
