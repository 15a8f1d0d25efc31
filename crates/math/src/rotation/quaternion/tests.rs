//! Claims about quaternion kinematics.

use super::*;
use crate::{
    Pose,
    rotation::cross_matrix,
    testkit::{AnyPose, SplitMix64, UnitQuat, UnitVec, Vector, check},
};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// a + s b, as four plain numbers.
fn plus(a: DQuat, b: DQuat, s: f64) -> DQuat {
    a + b * s
}

/// One turn at |ω| about a fixed axis by classical Runge-Kutta on q̇ alone.
fn runge_kutta_turn(q: DQuat, omega: DVec3, rate: fn(DQuat, DVec3) -> DQuat, steps: u32) -> DQuat {
    let h = TAU / omega.length() / f64::from(steps);
    let mut q = q;
    for _ in 0..steps {
        let k1 = rate(q, omega);
        let k2 = rate(plus(q, k1, 0.5 * h), omega);
        let k3 = rate(plus(q, k2, 0.5 * h), omega);
        let k4 = rate(plus(q, k3, h), omega);
        let sum = plus(plus(plus(k1, k2, 2.0), k3, 2.0), k4, 1.0);
        q = renormalize(plus(q, sum, h / 6.0)).unwrap();
    }
    q
}

// proves: CLI-13, MIR-86
#[test]
fn rates_round_trip_and_match_the_printed_rows() {
    fn property(q: UnitQuat, w: Vector) -> bool {
        let (q, w) = (q.0, w.0);
        let scale = 1e-15 * 8.0 * (1.0 + w.length());
        let (world, body) = (quat_rate_world(q, w), quat_rate_body(q, w));
        // Mirtich A.4, scalar part s, ω in body axes.
        let (s, x, y, z) = (q.w, q.x, q.y, q.z);
        let rows = DQuat::from_xyzw(
            0.5 * (s * w.x - z * w.y + y * w.z),
            0.5 * (z * w.x + s * w.y - x * w.z),
            0.5 * (-y * w.x + x * w.y + s * w.z),
            0.5 * (-x * w.x - y * w.y - z * w.z),
        );
        // ½ (ω|0) ⊗ q by glam's product.
        let product = DQuat::from_xyzw(w.x, w.y, w.z, 0.0) * q * 0.5;
        let off_unit = q * 1.3;
        body.abs_diff_eq(rows, scale)
            && world.abs_diff_eq(product, scale)
            && (omega_world_from_rate(q, world) - w).length() < scale
            && (omega_body_from_rate(q, body) - w).length() < scale
            && (omega_world_from_rate(q, body) - q * w).length() < scale
            && (omega_body_from_rate(q, world) - q.conjugate() * w).length() < scale
            // Runge-Kutta stages: not unit, and q̇ with a part along q.
            && (omega_world_from_rate(off_unit, quat_rate_world(off_unit, w)) - w).length() < scale
            && (omega_world_from_rate(q, plus(world, q, 0.7)) - w).length() < scale
    }
    check(121, 20_000, property as fn(UnitQuat, Vector) -> bool);
}

// proves: DYN-06, DYN-05, ARN-05, FON-04
#[test]
fn matrix_rate_is_omega_cross_matrix() {
    let mut random = SplitMix64(122);
    for _ in 0..2000 {
        let (q, w) = (random.unit_quat(), random.vec3(3.0));
        let h = 1e-5;
        let central =
            |rate: DQuat| (mat3_from_quat(plus(q, rate, h)) - mat3_from_quat(plus(q, rate, -h))) * (0.5 / h);
        let r = mat3_from_quat(q);
        // World ω: Ṙ = ω̃ R. Error h² |ω|³ / 24 and rounding ε/h.
        assert!(central(quat_rate_world(q, w)).abs_diff_eq(cross_matrix(w) * r, 1e-8));
        // Body ω: Ṙ = R ω̃; for A = Rᵀ (Arnold's base-to-moving matrix) that is Ȧ = −ω̃ A.
        let rate = central(quat_rate_body(q, w));
        assert!(rate.abs_diff_eq(r * cross_matrix(w), 1e-8));
        let a = r.transpose();
        assert!(rate.transpose().abs_diff_eq(cross_matrix(w) * a * -1.0, 1e-8));
        // Orthonormal, and q and −q (and any multiple) give the same matrix.
        assert!((a * a.transpose()).abs_diff_eq(DMat3::IDENTITY, 1e-15 * 4.0));
        assert_eq!(mat3_from_quat(-q), r);
        assert!(mat3_from_quat(q * 3.0).abs_diff_eq(r, 1e-15 * 4.0));
        assert!(r.abs_diff_eq(DMat3::from_quat(q), 1e-15 * 4.0));
        let back = quat_from_mat3(r).unwrap();
        assert!(same_rotation(back, q, 1e-15 * 8.0) && back.w >= 0.0);
        assert!(mat3_from_quat(back).abs_diff_eq(r, 1e-15 * 8.0));
    }
}

// proves: FON-04, CLI-13, MIR-86, ARN-05
#[test]
fn constant_spin_returns_after_one_turn() {
    let mut random = SplitMix64(123);
    for _ in 0..20 {
        let (start, omega) = (random.unit_quat(), random.unit_vec3() * random.range(0.5, 20.0));
        for rate in [quat_rate_world as fn(DQuat, DVec3) -> DQuat, quat_rate_body] {
            // One turn brings q to −q: the same rotation on the other sheet.
            let end = runge_kutta_turn(start, omega, rate, 2000);
            assert!(same_rotation(end, start, 1e-11), "{:e}", rotation_angle(end, start));
            assert!(end.dot(start) < -0.999);
            // Fourth order: half the steps, sixteen times the error.
            let coarse = rotation_angle(runge_kutta_turn(start, omega, rate, 50), start);
            let fine = rotation_angle(runge_kutta_turn(start, omega, rate, 100), start);
            assert!((coarse / fine - 16.0).abs() < 0.5, "{coarse:e} {fine:e}");
        }
        // Closed form at any time: exp(ω t) in world axes from the left, in body axes from the right.
        let t = random.range(0.0, 3.0) / omega.length();
        let axis = omega.normalize();
        let exact = quat_from_axis_angle(axis, omega.length() * t).unwrap();
        let (mut world, mut body) = (start, start);
        for _ in 0..1000 {
            world = quat_exp(omega * (t / 1000.0)) * world;
            body *= quat_exp(omega * (t / 1000.0));
        }
        assert!(same_rotation(world, exact * start, 1e-13));
        assert!(same_rotation(body, start * exact, 1e-13));
        let turn = quat_exp(axis * TAU) * start;
        assert!(same_rotation(turn, start, 1e-15 * 8.0));
    }
}

// proves: CLI-04, FON-04
#[test]
fn axis_angle_fixes_its_axis_and_turns_x_to_y() {
    let quarter = quat_from_axis_angle(DVec3::Z, FRAC_PI_2).unwrap();
    assert!((quarter * DVec3::X - DVec3::Y).length() < 1e-15);
    assert!((quarter.z - ops::sin(0.5 * FRAC_PI_2)).abs() < 1e-16 && quarter.x == 0.0 && quarter.y == 0.0);
    fn property(axis: UnitVec, angle: UnitQuat) -> bool {
        let angle = angle.0.w * 7.0;
        let q = quat_from_axis_angle(axis.0 * 3.7, angle).unwrap();
        (q * axis.0 - axis.0).length() < 1e-15 * 4.0
            && (q.length() - 1.0).abs() < 1e-15 * 4.0
            && (q.inverse() * (q * DVec3::ONE) - DVec3::ONE).length() < 1e-15 * 8.0
    }
    check(124, 20_000, property as fn(UnitVec, UnitQuat) -> bool);
}

// proves: CLI-05, CLI-06, CLI-07, FON-04
#[test]
fn product_inverse_and_sandwich_equal_matrices() {
    let mut random = SplitMix64(125);
    for _ in 0..100_000 {
        let (p, q, v) = (random.unit_quat(), random.unit_quat(), random.unit_vec3());
        let (rp, rq) = (mat3_from_quat(p), mat3_from_quat(q));
        assert!(mat3_from_quat(p * q).abs_diff_eq(rp * rq, 1e-14));
        // The sandwich by plain products, glam's rotation and the matrix.
        let sandwich = (q * DQuat::from_xyzw(v.x, v.y, v.z, 0.0) * q.conjugate()).xyz();
        assert!((sandwich - rq * v).length() < 1e-14);
        assert!((q * v - rq * v).length() < 1e-14);
        // Both sign forms of the inverse: (−v|s) and (v|−s).
        let (plus_form, minus_form) = (q.conjugate(), -q.conjugate());
        assert!((q * plus_form).abs_diff_eq(DQuat::IDENTITY, 1e-15 * 4.0));
        assert!((q * minus_form).abs_diff_eq(-DQuat::IDENTITY, 1e-15 * 4.0));
        assert!((minus_form * (q * v) - v).length() < 1e-14);
    }
    let (x, z) = (
        quat_from_axis_angle(DVec3::X, FRAC_PI_2).unwrap(),
        quat_from_axis_angle(DVec3::Z, FRAC_PI_2).unwrap(),
    );
    assert!(!same_rotation(x * z, z * x, 1.0), "turns about x and z do not commute");
}

// proves: CLI-08, ARN-05
#[test]
fn a_million_spin_steps_stay_unit() {
    let (omega, h) = (DVec3::new(3.0, -5.0, 8.0), 1e-3);
    let mut q = DQuat::from_xyzw(0.1, 0.2, -0.3, 0.9).normalize();
    let mut worst: f64 = 0.0;
    for _ in 0..1_000_000 {
        q = renormalize(plus(q, quat_rate_world(q, omega), h)).unwrap();
        worst = worst.max((q.length() - 1.0).abs());
    }
    assert!(worst < 1e-15 * 4.0, "{worst:e}");
    // Products drift without help: the exponential map alone, then one repair.
    let turn = quat_exp(omega * h);
    for _ in 0..1_000_000 {
        q = turn * q;
    }
    assert!((renormalize(q).unwrap().length() - 1.0).abs() < 1e-12);
    assert!(same_rotation(q, -q, 1e-15) && !same_rotation(q, turn * q, 1e-3));
}

#[test]
fn exponential_and_logarithm_are_inverse() {
    let mut random = SplitMix64(126);
    for k in 0..40_000 {
        // Angles from 1e-300 to π, dense around the switch to the series.
        let size = match k % 4 {
            0 => random.range(0.0, PI),
            1 => ops::powf(10.0, random.range(-300.0, 0.0)),
            2 => 2.0 * SERIES.sqrt() * random.range(0.999, 1.001),
            _ => PI - ops::powf(10.0, random.range(-15.0, 0.0)),
        };
        let phi = random.unit_vec3() * size;
        let q = quat_exp(phi);
        assert!((q.length() - 1.0).abs() < 1e-15 * 4.0);
        // Near a half turn the axis is known, and its sign decides between φ and φ − 2π.
        let (back, other) = (quat_log(q), quat_log(-q));
        assert!((back - phi).length() <= 1e-15 * 8.0 * size, "{phi} {back}");
        assert!((other - phi).length() <= 1e-15 * 8.0 * size, "{phi} {other}");
    }
    assert_eq!(quat_exp(DVec3::ZERO), DQuat::IDENTITY);
    assert_eq!(quat_log(DQuat::IDENTITY), DVec3::ZERO);
    assert_eq!(quat_log(-DQuat::IDENTITY), DVec3::ZERO);
}

#[test]
fn the_series_joins_the_closed_form() {
    // Just below and just above the switch, against the closed form on both sides.
    for factor in [0.5, 0.99, 1.01] {
        let angle = 2.0 * SERIES.sqrt() * factor;
        let q = quat_exp(DVec3::Y * angle);
        assert!((q.y - ops::sin(0.5 * angle)).abs() < 1e-18 * 2.0, "{:e}", q.y - ops::sin(0.5 * angle));
        assert!((q.w - ops::cos(0.5 * angle)).abs() < 1e-15 * 0.3);
        assert!((quat_log(q).y / angle - 1.0).abs() < 1e-15 * 0.6);
    }
}

// proves: FON-01, DYN-03, CLI-01
#[test]
fn points_and_vectors_go_to_world_and_back() {
    fn property(f: AnyPose, g: AnyPose, h: AnyPose, x: Vector) -> bool {
        let (f, g, h, x) = (f.0, g.0, h.0, x.0);
        let scale = 1.0 + x.length() + f.translation.length();
        let m = f.rotation_matrix();
        let by_matrix = m * x + f.translation;
        let world = f.transform_point(x);
        let near = Pose::new(f.translation * 0.05, f.rotation);
        let identity = (near * near.inverse()).to_mat4();
        let homogeneous = f.to_mat4() * x.extend(1.0);
        let left = ((f * g) * h).to_mat4();
        let right = (f * (g * h)).to_mat4();
        let span = scale + g.translation.length() + h.translation.length();
        (f.inverse_transform_point(world) - x).length() < 1e-15 * 2.0 * scale
            && (m.transpose() * (world - f.translation) - x).length() < 1e-15 * 2.0 * scale
            && (f.inverse_transform_vector(f.transform_vector(x)) - x).length() < 1e-15 * 2.0 * scale
            && (world - by_matrix).length() < 1e-15 * 2.0 * scale
            && (homogeneous.truncate() - world).length() < 1e-15 * 2.0 * scale
            && identity.abs_diff_eq(glam::DMat4::IDENTITY, 1e-14)
            // Away from the origin the translation is known to rounding of its own size.
            && (f * f.inverse()).to_mat4().abs_diff_eq(glam::DMat4::IDENTITY, 1e-15 * 2.0 * scale)
            && (f.inverse() * f).to_mat4().abs_diff_eq(glam::DMat4::IDENTITY, 1e-15 * 2.0 * scale)
            && left.abs_diff_eq(right, 1e-15 * 4.0 * span)
    }
    check(127, 20_000, property as fn(AnyPose, AnyPose, AnyPose, Vector) -> bool);
}

// proves: CLI-12, DYN-04
#[test]
fn point_velocity_and_direction_rate_match_finite_differences() {
    let mut random = SplitMix64(128);
    for _ in 0..2000 {
        let pose = Pose::new(random.vec3(5.0), random.unit_quat());
        let motion = crate::spatial::Motion::new(random.vec3(3.0), random.vec3(3.0));
        let (rho, psi) = (random.vec3(2.0), random.unit_vec3());
        // The exact motion for constant world velocities.
        let at = |t: f64| {
            Pose::new(pose.translation + motion.linear * t, quat_exp(motion.angular * t) * pose.rotation)
        };
        let h = 1e-5;
        let velocity = (at(h).transform_point(rho) - at(-h).transform_point(rho)) / (2.0 * h);
        let expected = motion.velocity_at(pose.transform_vector(rho));
        assert!((velocity - expected).length() < 1e-8, "{:e}", (velocity - expected).length());
        let rate = (at(h).transform_vector(psi) - at(-h).transform_vector(psi)) / (2.0 * h);
        assert!((rate - motion.angular.cross(pose.transform_vector(psi))).length() < 1e-8);
    }
}

#[test]
fn bad_input_is_an_error() {
    assert!(matches!(renormalize(DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)), Err(MathError::NotUnit { .. })));
    assert!(matches!(
        renormalize(DQuat::from_xyzw(0.0, f64::NAN, 0.0, 1.0)),
        Err(MathError::NonFinite { index: 1, .. })
    ));
    for size in [1e-310, 1e-200, 1e200, 1e308] {
        let q = renormalize(DQuat::from_xyzw(size, 0.0, -size, 0.0)).unwrap();
        assert!((q.length() - 1.0).abs() < 1e-15 * 4.0, "{size:e}: {q}");
    }
    assert!(matches!(quat_from_axis_angle(DVec3::ZERO, 1.0), Err(MathError::NotUnit { .. })));
    assert!(matches!(quat_from_axis_angle(DVec3::X, f64::NAN), Err(MathError::NonFinite { .. })));
    assert!(matches!(quat_from_axis_angle(DVec3::INFINITY, 1.0), Err(MathError::NonFinite { .. })));
    assert!(matches!(quat_from_mat3(DMat3::ZERO), Err(MathError::NotRotation { .. })));
    assert!(matches!(quat_from_mat3(DMat3::IDENTITY * -1.0), Err(MathError::NotRotation { .. })));
}

#[test]
fn half_turn_matrices_give_a_canonical_quaternion() {
    for axis in [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Z, DVec3::new(0.6, -0.8, 0.0)] {
        let q = quat_from_axis_angle(axis, PI).unwrap();
        let back = quat_from_mat3(mat3_from_quat(q)).unwrap();
        assert!(same_rotation(back, q, 1e-7));
        assert!(back.w >= 0.0);
    }
}
