use super::*;
use crate::elliptic::complete_k;
use crate::integrate::{
    AdaptiveParams, DormandPrince, IntegrateError, Integrator, OdeScratch, Rk4, SecondOrder,
};
use crate::rotation::{quat_exp, rotation_angle as angle};
use crate::testkit::{SpdInertia, SplitMix64, UnitQuat, UnitVec, Vector, check};
use crate::{assert_close, ops};
use glam::{DMat3, DQuat, DVec3};

fn body(x: f64, y: f64, z: f64) -> TorqueFreeBody {
    TorqueFreeBody::new(DVec3::new(x, y, z)).unwrap()
}

/// Attitude and body rates by Dormand-Prince on the quaternion equations: shares no formula with the rest.
fn reference(body: &TorqueFreeBody, q: DQuat, w: DVec3, t: f64) -> (DQuat, DVec3) {
    let mut system = SecondOrder::new(RigidRotation::new(*body, |_, _, _| DVec3::ZERO));
    let integrator = DormandPrince::new(AdaptiveParams::with_tolerance(1e-13, 1e-14));
    let mut y = RigidRotation::<fn(f64, DQuat, DVec3) -> DVec3>::state(q, q * w);
    integrator.advance(&mut system, 0.0, t, &mut y, &mut OdeScratch::default()).unwrap();
    let (q, omega) = RigidRotation::<fn(f64, DQuat, DVec3) -> DVec3>::split(&y);
    (q, q.conjugate() * omega)
}

#[test]
fn exponential_matches_axis_angle_for_all_sizes() {
    let mut random = SplitMix64(3);
    for _ in 0..20_000 {
        let (axis, size) = (random.unit_vec3(), ops::exp(random.range(-40.0, 3.0)));
        let (s, c) = ops::sin_cos(0.5 * size);
        let q = quat_exp(axis * size);
        assert!((q.xyz() - axis * s).length() <= 4e-16 * (1.0 + size), "{size}");
        // Relative accuracy of a small angle.
        assert!(
            (q.xyz() - axis * s).length() <= 1e-15 * (1.0 + size) * s.abs() + 4e-16 * (size - 1.0).max(0.0)
        );
        assert!((q.w - c).abs() <= 3e-16 * (1.0 + size));
    }
    assert_eq!(quat_exp(DVec3::ZERO), DQuat::IDENTITY);
}

#[test]
fn body_and_world_steps_agree() {
    fn agree(q: UnitQuat, w: Vector) -> bool {
        let (q, w) = (q.0, w.0);
        angle(rotate_body(q, w, 0.01), rotate_world(q, q * w, 0.01)) < 1e-14
    }
    check(5, 2_000, agree as fn(UnitQuat, Vector) -> bool);
}

#[test]
fn a_million_steps_keep_the_norm_and_a_turn_returns() {
    let axis = DVec3::new(2.0, -1.0, 2.0) / 3.0;
    let start = DQuat::from_xyzw(0.5, 0.5, -0.5, 0.5);
    let mut q = start;
    let mut worst = 0.0_f64;
    // 1000 turns of 1000 steps.
    for _ in 0..1_000_000 {
        q = rotate_body(q, axis * std::f64::consts::TAU, 1e-3);
        worst = worst.max((q.length() - 1.0).abs());
    }
    assert!(worst < 1e-15, "{worst:e}");
    // 6283 rad with 1e-16 relative error in the angle of each step.
    assert!(angle(q, start) < 2e-12, "{:e}", angle(q, start));
}

// proves: MIR-86
#[test]
fn quaternion_equation_under_rk4_matches_constant_spin() {
    let (w, start) = (DVec3::new(0.0, 0.0, 3.0), DQuat::from_xyzw(0.5, 0.5, -0.5, 0.5));
    let mut system = SecondOrder::new(RigidRotation::new(body(1.0, 2.0, 3.0), |_, _, _| DVec3::ZERO));
    let mut y = RigidRotation::<fn(f64, DQuat, DVec3) -> DVec3>::state(start, start * w);
    let mut scratch = OdeScratch::new(&Rk4, 7);
    for _ in 0..2000 {
        Rk4.advance(&mut system, 0.0, 1e-3, &mut y, &mut scratch).unwrap();
    }
    let q = DQuat::from_slice(&y);
    assert!((q.length() - 1.0).abs() < 1e-15);
    assert!(angle(q, start * DQuat::from_rotation_z(6.0)) < 1e-11);
}

/// I = (1, 2, 3), ω₀ = (0.01, 1, 0.01) over 1e6 steps of 1 ms.
fn tumbling_top() -> (TorqueFreeBody, DVec3) {
    (body(1.0, 2.0, 3.0), DVec3::new(0.01, 1.0, 0.01))
}

#[test]
fn tumbling_top_keeps_momentum_and_energy_for_a_million_steps() {
    let (top, w0) = tumbling_top();
    let (mut q, mut w) = (DQuat::IDENTITY, w0);
    let (l0, e0) = (top.momentum_body(w0), top.energy(w0));
    let (mut worst_l, mut worst_e) = (0.0_f64, 0.0_f64);
    let (mut first_half, mut second_half) = (0.0, 0.0);
    for step in 0..1_000_000 {
        (q, w) = top.step(q, w, 1e-3).unwrap();
        worst_l = worst_l.max((q * top.momentum_body(w) - l0).length() / l0.length());
        let energy = top.energy(w) / e0 - 1.0;
        worst_e = worst_e.max(energy.abs());
        if step < 500_000 { first_half += energy } else { second_half += energy }
    }
    // The bars are 1e-12 and 1e-8; energy does a random walk of the last bits and no more.
    assert!(worst_l < 1e-12, "momentum {worst_l:e}");
    assert!(worst_e < 1e-12, "energy {worst_e:e}");
    let drift: f64 = (second_half - first_half) / 500_000.0;
    assert!(drift.abs() < 5e-13, "mean energy moves by {drift:e} between the halves");
    assert!((q.length() - 1.0).abs() < 1e-15);
    // 1000 s by a Taylor series of order 34 with 40 digits.
    let q_end = DQuat::from_xyzw(
        0.512_280_852_610_463_8,
        0.002_173_866_353_657_082,
        0.858_809_963_114_952,
        -0.003_008_256_682_439_062_7,
    );
    let w_end = DVec3::new(0.015_766_758_006_671_25, -0.999_925_701_910_876_5, 0.012_228_254_959_190_92);
    assert!(angle(q, q_end) < 1e-8, "{:e}", angle(q, q_end));
    assert!((w - w_end).length() < 1e-8, "{:e}", (w - w_end).length());
    let (q, w) = TorqueFreeArc::new(&top, DQuat::IDENTITY, w0).unwrap().at(1000.0).unwrap();
    assert!(angle(q, q_end) < 1e-11, "{:e}", angle(q, q_end));
    assert!((w - w_end).length() < 1e-12, "{:e}", (w - w_end).length());
}

#[test]
fn tumbling_top_has_the_elliptic_period() {
    // 4 K(m)/λ with 1 − m = 1.9994e-4 and λ = 0.57744: 39.10573419726872 s.
    let (top, w0) = tumbling_top();
    let arc = TorqueFreeArc::new(&top, DQuat::IDENTITY, w0).unwrap();
    assert_close!(arc.rate_period(), 39.105_734_197_268_72, rel = 1e-14);
    let m1 = 0.000_199_940_017_994_601_63;
    assert_close!(
        arc.rate_period(),
        4.0 * complete_k(1.0 - m1).unwrap() / 0.577_436_865_235_787_8,
        rel = 1e-12
    );
    // Stepped: upward zero crossings of ω₂, interpolated linearly between two steps.
    let (mut q, mut w) = (DQuat::IDENTITY, w0);
    let mut crossings = Vec::new();
    for step in 0..200_000 {
        let before = w.y;
        (q, w) = top.step(q, w, 1e-3).unwrap();
        if before < 0.0 && w.y >= 0.0 {
            crossings.push((f64::from(step) - before / (w.y - before)) * 1e-3);
        }
    }
    assert!(crossings.len() >= 4);
    for pair in crossings.windows(2) {
        assert_close!(pair[1] - pair[0], 39.105_734_197, rel = 1e-8);
    }
}

#[test]
fn dzhanibekov_attitude_after_100_s() {
    // Workload `dzhani`. The reference is a Taylor series of order 34 with 40 digits, step 0.1 s, whose
    // quaternion norm ends within 1e-26 of 1.
    let (top, w0) = (body(0.1, 0.2, 0.3), DVec3::new(0.01, 5.0, 0.01));
    let q_end = DQuat::from_xyzw(
        -0.000_335_320_247_010_694,
        0.694_676_186_619_342,
        0.006_569_624_425_820_657,
        0.719_292_515_837_086,
    );
    let w_end = DVec3::new(0.060_217_835_439_234_1, 4.999_647_368_794_625, 0.035_712_685_444_561_944);
    let (mut q, mut w) = (DQuat::IDENTITY, w0);
    for _ in 0..24_000 {
        (q, w) = top.step(q, w, 1.0 / 240.0).unwrap();
    }
    assert!(angle(q, q_end) < 1e-9, "{:e}", angle(q, q_end));
    assert!((w - w_end).length() < 1e-8, "{:e}", (w - w_end).length());
    let (q, w) = TorqueFreeArc::new(&top, DQuat::IDENTITY, w0).unwrap().at(100.0).unwrap();
    assert!(angle(q, q_end) < 1e-11, "{:e}", angle(q, q_end));
    assert!((w - w_end).length() < 1e-12, "{:e}", (w - w_end).length());
    // Dormand-Prince comes as near as its round-off lets it on this unstable axis.
    let (q, _) = reference(&top, DQuat::IDENTITY, w0, 100.0);
    assert!(angle(q, q_end) < 1e-7, "{:e}", angle(q, q_end));
}

#[test]
fn arc_agrees_with_dormand_prince_on_random_tops() {
    fn agree(inertia: SpdInertia, q: UnitQuat, axis: UnitVec) -> bool {
        let top = TorqueFreeBody::new(inertia.moments).unwrap();
        let w = axis.0 * 2.0;
        let arc = TorqueFreeArc::new(&top, q.0, w).unwrap();
        [-3.0, 0.3, 6.0].into_iter().all(|t| {
            let (qa, wa) = arc.closed_form(t).unwrap();
            let (qr, wr) = reference(&top, q.0, w, t);
            angle(qa, qr) < 2e-10 && (wa - wr).length() < 2e-10
        })
    }
    check(21, 1_000, agree as fn(SpdInertia, UnitQuat, UnitVec) -> bool);
}

#[test]
fn step_agrees_with_the_closed_form() {
    // All orders of the axes, near-equal moments, and rates near and on the axes.
    let mut random = SplitMix64(22);
    for case in 0..30_000 {
        let mut i = DVec3::new(random.range(0.1, 3.0), random.range(0.1, 3.0), random.range(0.1, 3.0));
        let near = ops::exp(random.range(-36.0, 0.0));
        match case % 4 {
            0 => i.y = i.x * (1.0 + near),
            1 => i = DVec3::new(i.x, i.x * (1.0 + near), i.x * (1.0 - 0.5 * near)),
            2 => i.z = i.y * (1.0 - 0.5 * near),
            _ => {}
        }
        let mut w = random.vec3(3.0);
        w[random.below(3)] *= ops::exp(random.range(-40.0, 0.0));
        if case % 3 == 0 {
            w[random.below(3)] *= ops::exp(random.range(-40.0, 0.0));
        }
        let (top, q) = (TorqueFreeBody::new(i).unwrap(), random.unit_quat());
        let arc = TorqueFreeArc::new(&top, q, w).unwrap();
        for dt in [0.01, -0.1, 0.2] {
            let (qs, ws) = top.step(q, w, dt).unwrap();
            let (qa, wa) = arc.closed_form(dt).unwrap();
            let off = angle(qs, qa).max((ws - wa).length() / w.length());
            assert!(off < 1e-13, "dt {dt}: {off:e} for moments {i:?} rates {w:?}");
            let l = q * top.momentum_body(w);
            assert!((qs * top.momentum_body(ws) - l).length() < 2e-15 * l.length());
            let (qb, wb) = top.step(qs, ws, -dt).unwrap();
            assert!(angle(qb, q) < 1e-14 * (1.0 + w.length()) && (wb - w).length() < 1e-14 * w.length());
        }
    }
}

#[test]
fn long_steps_take_the_closed_form_and_keep_the_sign_near() {
    let (top, w0) = tumbling_top();
    let q0 = DQuat::from_xyzw(0.5, -0.5, 0.5, 0.5);
    let (q, w) = top.step(q0, w0, 100.0).unwrap();
    let (mut qs, mut ws) = (q0, w0);
    for _ in 0..1000 {
        (qs, ws) = top.step(qs, ws, 0.1).unwrap();
    }
    assert!(angle(q, qs) < 1e-10 && (w - ws).length() < 1e-10);
    assert!(q.dot(q0) >= 0.0);
}

#[test]
fn arc_starts_at_its_start() {
    fn same(inertia: SpdInertia, q: UnitQuat, w: Vector) -> bool {
        let top = TorqueFreeBody::new(inertia.moments).unwrap();
        let arc = TorqueFreeArc::new(&top, q.0, w.0).unwrap();
        let (q1, w1) = arc.closed_form(0.0).unwrap();
        let (q2, w2) = arc.at(0.0).unwrap();
        let start = q.0;
        let near = |q: DQuat, w1: DVec3, bar: f64| {
            angle(q, start) <= bar && (w1 - w.0).length() <= bar * w.0.length()
        };
        near(q1, w1, 4e-15) && near(q2, w2, 4e-16)
    }
    check(23, 20_000, same as fn(SpdInertia, UnitQuat, Vector) -> bool);
}

#[test]
fn degenerate_tops_agree_with_their_closed_forms() {
    let q0 = SplitMix64(24).unit_quat();
    for t in [0.01, 0.3, 50.0] {
        // Sphere: constant rates.
        let w = DVec3::new(0.3, -1.0, 2.0);
        let (q, w1) = body(2.0, 2.0, 2.0).step(q0, w, t).unwrap();
        assert!(w1 == w && angle(q, rotate_body(q0, w, t)) < 1e-13);
        // Spin about each axis of an asymmetric top, both ways.
        for axis in [DVec3::X, DVec3::NEG_Y, DVec3::Z] {
            let (q, w1) = body(1.0, 2.0, 3.0).step(q0, axis * 4.0, t).unwrap();
            assert!(w1 == axis * 4.0 && angle(q, rotate_body(q0, axis * 4.0, t)) < 1e-13);
        }
        // Rest.
        let (q, w1) = body(1.0, 2.0, 3.0).step(q0, DVec3::ZERO, t).unwrap();
        assert!(w1 == DVec3::ZERO && angle(q, q0) < 1e-15);
        // Symmetric top about each axis, prolate and oblate: in body axes the rates turn about the axis at
        // (I − I_s)/I ω_s; in world axes the body turns about the momentum at ℓ/I.
        for axis in 0..3 {
            for special in [0.5, 3.0] {
                let mut moments = DVec3::splat(1.5);
                moments[axis] = special;
                let top = TorqueFreeBody::new(moments).unwrap();
                let e = DMat3::IDENTITY.col(axis);
                let slow = (1.5 - special) / 1.5 * w[axis];
                let (q, w1) = top.step(q0, w, t).unwrap();
                let expected_w = DQuat::from_axis_angle(e, -slow * t) * w;
                let expected_q = q0 * quat_exp(top.momentum_body(w) / 1.5 * t) * quat_exp(e * (slow * t));
                assert!((w1 - expected_w).length() < 1e-13 * (1.0 + t), "{axis} {special} {t}");
                assert!(
                    angle(q, expected_q) < 1e-13 * (1.0 + t),
                    "{axis} {special} {t}: {:e}",
                    angle(q, expected_q)
                );
            }
        }
    }
}

#[test]
fn separatrix_arc_is_the_hyperbolic_motion() {
    // I₁(I₂−I₁) ω₁² = I₃(I₃−I₂) ω₃² exactly in binary: 2·1·1.5² = 6·3·0.5².
    let (top, w0) = (body(2.0, 3.0, 6.0), DVec3::new(1.5, 0.0, 0.5));
    let q0 = SplitMix64(25).unit_quat();
    for signs in
        [DVec3::ONE, DVec3::new(-1.0, 1.0, 1.0), DVec3::new(1.0, 1.0, -1.0), DVec3::new(-1.0, 1.0, -1.0)]
    {
        let arc = TorqueFreeArc::new(&top, q0, w0 * signs).unwrap();
        assert!(arc.rate_period().is_infinite());
        let lambda = 0.5 * (4.0_f64 * 3.0 / 6.0).sqrt();
        for t in [-2.0, 0.4, 3.0, 1000.0, -1e6] {
            let (q, w) = arc.at(t).unwrap();
            let sech = 1.0 / ops::cosh(lambda * t);
            // ω₂ grows with the sign of ω₃ω₁ to |L|/I₂.
            let l = top.momentum_body(w0).length();
            let expected =
                DVec3::new(1.5 * sech, ops::tanh(lambda * t) * signs.x * signs.z * l / 3.0, 0.5 * sech);
            let expected = DVec3::new(expected.x * signs.x, expected.y, expected.z * signs.z);
            assert!((w - expected).length() < 1e-14, "{t}: {w} {expected}");
            let momentum = q0 * top.momentum_body(w0 * signs);
            assert!((q * top.momentum_body(w) - momentum).length() < 1e-14 * l);
            if t.abs() < 10.0 {
                let (qr, _) = reference(&top, q0, w0 * signs, t);
                assert!(angle(q, qr) < 1e-10, "{t}: {:e}", angle(q, qr));
            }
        }
        // Off the start of the orbit, and towards the far end of it.
        let (q1, w1) = arc.at(2.0).unwrap();
        let (q2, _) = top.step(q1, w1, 1.5).unwrap();
        assert!(angle(q2, arc.at(3.5).unwrap().0) < 1e-12);
    }
}

/// Heavy top pivoted at its tip, m g l = 3 N·m: its torque, axis × weight, and its total energy.
fn heavy_torque(_t: f64, q: DQuat, _w: DVec3) -> DVec3 {
    (q * DVec3::Z).cross(DVec3::new(0.0, 0.0, -3.0))
}

fn heavy_energy(top: &TorqueFreeBody, q: DQuat, w: DVec3) -> f64 {
    top.energy(w) + 3.0 * (q * DVec3::Z).z
}

type Method = fn(
    &TorqueFreeBody,
    DQuat,
    DVec3,
    f64,
    f64,
    &mut dyn FnMut(f64, DQuat, DVec3) -> DVec3,
) -> Result<(DQuat, DVec3), IntegrateError>;

fn drift_kick(
    b: &TorqueFreeBody,
    q: DQuat,
    w: DVec3,
    t: f64,
    h: f64,
    f: &mut dyn FnMut(f64, DQuat, DVec3) -> DVec3,
) -> Result<(DQuat, DVec3), IntegrateError> {
    drift_kick_drift(b, q, w, t, h, f)
}

fn lie(
    b: &TorqueFreeBody,
    q: DQuat,
    w: DVec3,
    t: f64,
    h: f64,
    f: &mut dyn FnMut(f64, DQuat, DVec3) -> DVec3,
) -> Result<(DQuat, DVec3), IntegrateError> {
    lie_rk4(b, q, w, t, h, f)
}

#[test]
fn drift_kick_drift_has_order_two_and_lie_rk4_order_four() {
    let top = body(1.0, 2.0, 2.5);
    let mut torque = |t: f64, q: DQuat, w: DVec3| {
        DVec3::new(0.5 * ops::sin(2.0 * t), 0.3, 0.1) + (q * DVec3::X).cross(DVec3::Z) * 2.0 - q * w * 0.1
    };
    let (q0, w0) = (DQuat::from_xyzw(0.0, 0.6, 0.0, 0.8), DVec3::new(0.7, -0.4, 1.1));
    // Reference: the quaternion equations under Dormand-Prince, whose torque takes ω in world axes.
    let mut system = SecondOrder::new(RigidRotation::new(top, |t: f64, q: DQuat, omega: DVec3| {
        DVec3::new(0.5 * ops::sin(2.0 * t), 0.3, 0.1) + (q * DVec3::X).cross(DVec3::Z) * 2.0 - omega * 0.1
    }));
    let omega = q0 * w0;
    let mut y = [q0.x, q0.y, q0.z, q0.w, omega.x, omega.y, omega.z];
    DormandPrince::new(AdaptiveParams::with_tolerance(1e-14, 1e-15))
        .advance(&mut system, 0.0, 1.0, &mut y, &mut OdeScratch::default())
        .unwrap();
    let q_end = DQuat::from_slice(&y);
    let w_end = q_end.conjugate() * DVec3::from_slice(&y[4..]);
    for (method, order, steps) in [(drift_kick as Method, 2.0, 40), (lie as Method, 4.0, 40)] {
        let errors = [1, 2, 4].map(|refine| {
            let n = steps * refine;
            let h = 1.0 / f64::from(n);
            let (mut q, mut w) = (q0, w0);
            for step in 0..n {
                (q, w) = method(&top, q, w, f64::from(step) * h, h, &mut torque).unwrap();
            }
            ops::hypot(angle(q, q_end), (w - w_end).length())
        });
        for pair in errors.windows(2) {
            let observed = ops::log2(pair[0] / pair[1]);
            assert!((observed - order).abs() < 0.1, "order {observed} for {order}: {errors:?}");
        }
    }
}

#[test]
fn heavy_top_keeps_energy_under_both_methods() {
    let top = body(1.0, 1.2, 0.4);
    for (method, h, bar) in [(drift_kick as Method, 2e-3, 2e-4), (lie as Method, 2e-3, 1e-7)] {
        let (mut q, mut w) = (DQuat::from_rotation_x(0.5), DVec3::new(0.3, 0.1, 12.0));
        let start = heavy_energy(&top, q, w);
        let (mut early, mut late) = (0.0_f64, 0.0_f64);
        for step in 0..50_000 {
            (q, w) = method(&top, q, w, 0.0, h, &mut heavy_torque).unwrap();
            let off = (heavy_energy(&top, q, w) - start).abs() / start;
            if step < 10_000 { early = early.max(off) } else { late = late.max(off) }
        }
        assert!(late < bar, "{late:e}");
        if method as usize == drift_kick as Method as usize {
            assert!(late < 1.5 * early, "the error of a symmetric method stays: {early:e} {late:e}");
        }
    }
}

#[test]
fn lie_rk4_keeps_free_momentum() {
    let (top, w0) = tumbling_top();
    let (mut q, mut w) = (DQuat::IDENTITY, w0);
    let l = top.momentum_body(w0);
    for _ in 0..10_000 {
        (q, w) = lie_rk4(&top, q, w, 0.0, 0.01, &mut |_, _, _| DVec3::ZERO).unwrap();
    }
    assert!((q * top.momentum_body(w) - l).length() < 1e-12 * l.length());
    let arc = TorqueFreeArc::new(&top, DQuat::IDENTITY, w0).unwrap();
    assert!(angle(q, arc.at(100.0).unwrap().0) < 1e-4);
    // And the splitting method is the free motion itself.
    let (qk, wk) = drift_kick_drift(&top, q, w, 0.0, 0.3, &mut |_, _, _| DVec3::ZERO).unwrap();
    let (qf, wf) = top.step(q, w, 0.3).unwrap();
    assert!(angle(qk, qf) < 1e-14 && (wk - wf).length() < 1e-14);
}

#[test]
fn implicit_gyroscopic_never_gains_energy() {
    let mut random = SplitMix64(26);
    for _ in 0..5_000 {
        let i = DVec3::new(random.range(0.1, 3.0), random.range(0.1, 3.0), random.range(0.1, 3.0));
        let (top, mut w) = (TorqueFreeBody::new(i).unwrap(), random.vec3(3.0));
        for _ in 0..20 {
            let next = implicit_gyroscopic(&top, w, 0.05, 8).unwrap();
            assert!(top.energy(next) <= top.energy(w) * (1.0 + 1e-14));
            w = next;
        }
    }
    // Where the explicit term explodes, one Newton step stays bounded: h ω = 2.
    let (top, w0) = (body(1.0, 2.0, 3.0), DVec3::new(1.0, 100.0, 1.0));
    let (mut explicit, mut w) = (w0, w0);
    for _ in 0..500 {
        explicit += top.acceleration(explicit, DVec3::ZERO) * 0.02;
        w = implicit_gyroscopic(&top, w, 0.02, 1).unwrap();
    }
    assert!(top.energy(w) <= 1.0001 * top.energy(w0), "{:e}", top.energy(w) / top.energy(w0));
    let grown = top.energy(explicit) / top.energy(w0);
    assert!(grown.is_nan() || grown > 10.0, "{grown}");
}

#[test]
fn implicit_gyroscopic_has_order_one() {
    let (top, w0) = (body(1.0, 2.0, 2.5), DVec3::new(0.7, -0.4, 1.1));
    let (_, end) = TorqueFreeArc::new(&top, DQuat::IDENTITY, w0).unwrap().at(1.0).unwrap();
    for newton_steps in [1, 3] {
        let errors = [400_u32, 800, 1600].map(|n| {
            let w = (0..n)
                .fold(w0, |w, _| implicit_gyroscopic(&top, w, 1.0 / f64::from(n), newton_steps).unwrap());
            (w - end).length()
        });
        for pair in errors.windows(2) {
            assert!((ops::log2(pair[0] / pair[1]) - 1.0).abs() < 0.1, "{errors:?}");
        }
    }
}

#[test]
fn unusable_bodies_states_and_steps_are_errors() {
    for moments in [
        DVec3::new(0.0, 1.0, 1.0),
        DVec3::new(1.0, -1.0, 1.0),
        DVec3::new(1.0, 1.0, f64::NAN),
        DVec3::INFINITY,
    ] {
        assert!(TorqueFreeBody::new(moments).is_err(), "{moments}");
    }
    let (top, w) = tumbling_top();
    let q = DQuat::IDENTITY;
    let bad_w = DVec3::new(f64::NAN, 0.0, 0.0);
    let bad_q = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.5);
    let mut none = |_: f64, _: DQuat, _: DVec3| DVec3::ZERO;
    for (q, w, dt) in [
        (bad_q, w, 0.1),
        (q, bad_w, 0.1),
        (q, w, f64::NAN),
        (q, w, f64::INFINITY),
        (DQuat::from_xyzw(0.0, f64::NAN, 0.0, 1.0), w, 0.1),
    ] {
        assert!(matches!(top.step(q, w, dt), Err(IntegrateError::Input(_))));
        assert!(matches!(drift_kick_drift(&top, q, w, 0.0, dt, &mut none), Err(IntegrateError::Input(_))));
        assert!(matches!(lie_rk4(&top, q, w, 0.0, dt, &mut none), Err(IntegrateError::Input(_))));
        let arc = TorqueFreeArc::new(&top, q, w).and_then(|arc| arc.at(dt));
        assert!(matches!(arc, Err(IntegrateError::Input(_))));
    }
    assert!(implicit_gyroscopic(&top, bad_w, 0.1, 1).is_err());
    assert!(implicit_gyroscopic(&top, w, f64::NAN, 1).is_err());
    assert!(implicit_gyroscopic(&top, w, 0.1, 0).is_err());
    // Overflow is found, not passed on.
    let huge = DVec3::new(1e200, 2e200, 1e200);
    assert!(top.step(q, huge, 0.1).is_err());
    let mut blow = |_: f64, _: DQuat, _: DVec3| DVec3::splat(f64::NAN);
    assert!(lie_rk4(&top, q, w, 0.0, 0.1, &mut blow).is_err());
    assert!(drift_kick_drift(&top, q, w, 0.0, 0.1, &mut blow).is_err());
    // Rates that underflow when squared.
    for tiny in [1e-160, 1e-310, 5e-324] {
        let (q1, w1) = top.step(q, DVec3::new(tiny, 1.0, tiny), 0.1).unwrap();
        assert!(angle(q1, DQuat::from_rotation_y(0.1)) < 1e-15 && (w1 - DVec3::Y).length() < 1e-15);
        let (q1, w1) = top.step(q, DVec3::splat(tiny), 10.0).unwrap();
        assert!(angle(q1, q) < 1e-15 && w1.is_finite());
        let (q1, w1) = top.step(q, DVec3::new(tiny, tiny, 1.0), 10.0).unwrap();
        assert!(angle(q1, DQuat::from_rotation_z(10.0)) < 1e-14 && (w1 - DVec3::Z).length() < 1e-15);
    }
}
