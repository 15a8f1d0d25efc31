//! All surfaces against finite differences, sampling and symmetry.

use super::*;
use crate::testkit::SplitMix64;
use crate::{Pose, assert_close};
use glam::Vec3Swizzles;
use std::f64::consts::{FRAC_PI_2, TAU};

fn random_pose(random: &mut SplitMix64) -> Pose {
    Pose::new(random.vec3(3.0), random.unit_quat())
}

fn random_radii(random: &mut SplitMix64) -> DVec3 {
    DVec3::new(random.range(0.1, 3.0), random.range(0.1, 3.0), random.range(0.1, 3.0))
}

fn surfaces(random: &mut SplitMix64) -> Vec<Box<dyn Surface>> {
    vec![
        Box::new(Plane::from_axes(random.vec3(3.0), random.vec3(2.0), random.vec3(2.0)).unwrap()),
        Box::new(Plane::from_normal(random.vec3(3.0), random.vec3(2.0)).unwrap()),
        Box::new(Ellipsoid::new(random_pose(random), random_radii(random)).unwrap()),
    ]
}

// proves: DYN-84
#[test]
fn derivatives_and_normals_agree_with_finite_differences() {
    let mut random = SplitMix64(84);
    let h = 1e-5;
    for _ in 0..500 {
        for s in surfaces(&mut random) {
            let (u, v) = (random.range(0.0, 6.0), random.range(-1.5, 1.5));
            let [du, dv] = s.derivatives(u, v);
            let by_u = (s.point(u + h, v) - s.point(u - h, v)) / (2.0 * h);
            let by_v = (s.point(u, v + h) - s.point(u, v - h)) / (2.0 * h);
            assert!((by_u - du).length() < 1e-8 && (by_v - dv).length() < 1e-8, "{s:?}");
            let [uu, uv, vv] = s.second_derivatives(u, v);
            let by = |a: [DVec3; 2], b: [DVec3; 2], i: usize| (a[i] - b[i]) / (2.0 * h);
            let (right, left) = (s.derivatives(u + h, v), s.derivatives(u - h, v));
            let (up, down) = (s.derivatives(u, v + h), s.derivatives(u, v - h));
            for (exact, difference) in [
                (uu, by(right, left, 0)),
                (uv, by(right, left, 1)),
                (uv, by(up, down, 0)),
                (vv, by(up, down, 1)),
            ] {
                assert!((exact - difference).length() < 1e-8, "{s:?}");
            }
            let n = s.normal(u, v);
            assert_close!(n.length(), 1.0, rel = 1e-15);
            assert!(n.dot(du.cross(dv).normalize()) > 1.0 - 1e-12, "{s:?} at {u} {v}");
        }
    }
}

fn assert_perpendicular(s: &dyn Surface, target: DVec3, found: &ClosestOnSurface, scale: f64) {
    let offset = target - found.point;
    let n = s.normal(found.u, found.v);
    let across = offset - offset.dot(n) * n;
    assert!(across.length() <= 1e-13 * scale, "{s:?} {target} {found:?}: off by {:e}", across.length());
}

// proves: DYN-84
#[test]
fn closest_is_never_beaten_by_sampling() {
    let mut random = SplitMix64(85);
    for round in 0..200 {
        for s in surfaces(&mut random) {
            let target = match round % 3 {
                0 => random.vec3(3.0),
                1 => random.vec3(1000.0),
                _ => s.point(random.range(0.0, 6.0), random.range(-1.5, 1.5)),
            };
            let found = s.closest(target).unwrap();
            assert!(s.contains(found.u, found.v));
            assert!(
                (s.point(found.u, found.v) - found.point).length() < 1e-14 * (1.0 + found.point.length())
            );
            assert_close!((target - found.point).length(), found.distance, abs = 0.0);
            assert_perpendicular(&*s, target, &found, 10.0 + target.length());
            if round % 3 == 2 {
                assert!(found.distance < 3e-15 * (10.0 + target.length()), "{s:?} {found:?}");
            }
            for i in 0..40 {
                for j in 0..=20 {
                    let u = TAU * f64::from(i) / 40.0;
                    let v = -FRAC_PI_2 + 2.0 * FRAC_PI_2 * f64::from(j) / 20.0;
                    let sampled = (s.point(u, v) - target).length();
                    assert!(found.distance <= sampled * (1.0 + 1e-14) + 1e-14, "{s:?} {target} {found:?}");
                }
            }
        }
    }
}

#[test]
fn centre_axes_and_focal_disc_are_handled() {
    let egg = Ellipsoid::new(Pose::IDENTITY, DVec3::new(3.0, 2.0, 1.0)).unwrap();
    let at = |x: f64, y: f64, z: f64| egg.closest(DVec3::new(x, y, z)).unwrap();
    assert!((at(0.0, 0.0, 0.0).point - DVec3::Z).length() < 1e-15);
    // The sign of a zero does not matter: the side is always the positive one.
    assert_eq!(at(-0.0, 0.0, -0.0).point, at(0.0, 0.0, 0.0).point);
    assert!((at(9.0, 0.0, 0.0).point - DVec3::new(3.0, 0.0, 0.0)).length() < 1e-15);
    assert!((at(0.0, -9.0, 0.0).point - DVec3::new(0.0, -2.0, 0.0)).length() < 1e-15);
    assert!((at(0.0, 0.0, 0.3).point - DVec3::Z).length() < 1e-15);
    // On the long axis, within (a² - c²)/a = 8/3 of the centre, the closest point leaves the axis:
    // x = a² p / (a² - c²).
    let p = 1.6;
    let x = 9.0 * p / 8.0;
    let z = (1.0 - x * x / 9.0_f64).sqrt();
    assert!((at(p, 0.0, 0.0).point - DVec3::new(x, 0.0, z)).length() < 1e-15);
    // At and beyond the focal distance it is the tip.
    assert!((at(8.0 / 3.0, 0.0, 0.0).point - DVec3::new(3.0, 0.0, 0.0)).length() < 1e-7);
    assert!((at(2.9, 0.0, 0.0).point - DVec3::new(3.0, 0.0, 0.0)).length() < 1e-15);
    // Continuous from above the plane, down to the smallest numbers.
    for exponent in [3, 8, 16, 100, 300] {
        let above = at(p, 0.4, crate::ops::powi(0.1, exponent));
        assert!((above.point - at(p, 0.4, 0.0).point).length() < 1e-3);
        assert_perpendicular(&egg, DVec3::new(p, 0.4, 0.0), &above, if exponent < 16 { 1e10 } else { 1.0 });
    }
    // A ball, seen from its centre and from elsewhere.
    let ball = Ellipsoid::new(Pose::IDENTITY, DVec3::splat(2.0)).unwrap();
    assert_close!(ball.closest(DVec3::ZERO).unwrap().distance, 2.0, rel = 1e-15);
    let d = DVec3::new(1e-200, 3e-200, -2e-200);
    assert!((ball.closest(d).unwrap().point.normalize() - (d * 1e200).normalize()).length() < 1e-14);
    assert_close!(ball.closest(DVec3::new(0.0, 5.0, 0.0)).unwrap().distance, 3.0, rel = 1e-15);
    // Nearly a ball: the focal disc is 1e-12 m wide, and a point in it has its closest point far off.
    let nearly = 1.0 + crate::ops::powi(0.5, 40);
    let almost = Ellipsoid::new(Pose::IDENTITY, DVec3::new(nearly, 1.0, 1.0)).unwrap();
    let p = 0.3 * crate::ops::powi(0.5, 40);
    let x = nearly * nearly * p / (crate::ops::powi(0.5, 40) * (nearly + 1.0));
    assert_close!(almost.closest(DVec3::new(p, 0.0, 0.0)).unwrap().point.x, x, rel = 1e-14);
    // A disc of revolution, on its axis and in its plane.
    let coin = Ellipsoid::new(Pose::IDENTITY, DVec3::new(1.0, 1.0, 0.01)).unwrap();
    assert_close!(coin.closest(DVec3::new(0.0, 0.0, 5.0)).unwrap().distance, 4.99, rel = 1e-15);
    assert_close!(coin.closest(DVec3::new(3.0, 4.0, 0.0)).unwrap().distance, 4.0, rel = 1e-15);
    // A rod.
    let rod = Ellipsoid::new(Pose::IDENTITY, DVec3::new(0.01, 0.01, 1.0)).unwrap();
    assert_close!(rod.closest(DVec3::ZERO).unwrap().distance, 0.01, rel = 1e-14);
}

#[test]
fn very_flat_and_very_long_ellipsoids_have_perpendicular_offsets() {
    let mut random = SplitMix64(86);
    for _ in 0..5000 {
        let exponents = [0, 1, 2].map(|_| random.below(13) as i32);
        let radii = DVec3::from_array(exponents.map(|e| crate::ops::powi(0.1, e)));
        let s = Ellipsoid::new(Pose::IDENTITY, radii).unwrap();
        let target = match random.below(3) {
            0 => random.vec3(2.0),
            1 => random.vec3(1.0) * radii,
            _ => random.vec3(1.0) * radii.yzx(),
        };
        let found = s.closest(target).unwrap();
        // Compared with itself and its images: never farther than the axis tips, and on the surface.
        let m = found.point / radii;
        assert_close!(m.length(), 1.0, rel = 1e-14);
        for axis in DVec3::AXES {
            assert!(found.distance <= (target - radii * axis).length() * (1.0 + 1e-14));
            assert!(found.distance <= (target + radii * axis).length() * (1.0 + 1e-14));
        }
        // First-order condition: offset = t (x/a², y/b², z/c²) for one t, compared where it is well
        // conditioned, by the gradient's direction.
        let offset = target - found.point;
        let gradient = (m / radii).normalize();
        let across = (offset - offset.dot(gradient) * gradient).length();
        assert!(
            across <= 1e-13 * (target.length() + found.point.length()),
            "{radii} {target} {found:?} {across:e}"
        );
    }
}

#[test]
fn bad_input_is_refused() {
    let nan = DVec3::new(0.0, f64::NAN, 0.0);
    let radii = |r: DVec3| Ellipsoid::new(Pose::IDENTITY, r);
    assert_eq!(radii(DVec3::new(1.0, 0.0, 1.0)).unwrap_err().to_string(), "radius 1 must be positive, got 0");
    assert!(radii(DVec3::new(1.0, -1.0, 1.0)).is_err() && radii(nan).is_err());
    assert!(radii(DVec3::new(1.0, 1e-120, 1.0)).is_err());
    assert!(Ellipsoid::new(Pose::from_translation(nan), DVec3::ONE).is_err());
    let stretched = Pose::from_rotation(glam::DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0));
    assert!(Ellipsoid::new(stretched, DVec3::ONE).is_err());
    assert!(Plane::from_axes(DVec3::ZERO, DVec3::X, 2.0 * DVec3::X).is_err());
    assert!(Plane::from_axes(DVec3::ZERO, DVec3::X, DVec3::ZERO).is_err());
    assert!(Plane::from_axes(nan, DVec3::X, DVec3::Y).is_err());
    assert!(Plane::from_normal(DVec3::ZERO, DVec3::ZERO).is_err());
    let mut random = SplitMix64(1);
    for s in surfaces(&mut random) {
        assert!(s.closest(nan).is_err());
        assert!(s.point(f64::NAN, 0.0).is_nan());
    }
}
