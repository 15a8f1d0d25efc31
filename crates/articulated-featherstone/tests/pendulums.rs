//! Closed forms of pendulums, tops, sliders and hanging chains.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    Joint, Link, ModelBuilder, State, TreeMotion, Workspace, aba, aba_with_reactions, momentum_about,
};
use common::{
    dense_solve, distance,
    motion::{G, double_pendulum, energy, hinge, run},
    norm,
};
use sim_math::{
    Pose, Sym3, assert_close,
    glam::{DQuat, DVec3},
    integrate::{AdaptiveParams, DormandPrince, Integrator, OdeScratch, SecondOrder},
    testkit::SplitMix64,
};

// proves: FON-67, ARN-08
#[test]
fn double_pendulum_keeps_energy_for_a_minute() {
    // W7 dpend: RK4 at 0.1 ms, energy within 1e-9 of 19.62 J over 60 s.
    let model = double_pendulum();
    let state = State::new(&model);
    let mut ws = Workspace::new(&model);
    let start = energy(&model, &state, &mut ws);
    let mut worst = 0.0_f64;
    run(&model, &state, 1e-4, 600_000, |i, now| {
        if i % 100 == 0 {
            worst = worst.max((energy(&model, now, &mut ws) - start).abs());
        }
    });
    println!("double pendulum: energy off by {worst:e} J");
    assert!(worst < 1e-9 * 19.62, "{worst:e}");
}

// proves: MIR-60, FON-67, ARN-08
#[test]
fn double_pendulum_agrees_with_lagrange_and_with_order_four() {
    let model = double_pendulum();
    let mut random = SplitMix64(31);
    let mut ws = Workspace::new(&model);
    for _ in 0..1000 {
        let mut state = State::new(&model);
        state.q = vec![random.range(-3.0, 3.0), random.range(-3.0, 3.0)];
        state.v = vec![random.range(-3.0, 3.0), random.range(-3.0, 3.0)];
        aba(&model, &state, &[0.0, 0.0], &[], &mut ws).unwrap();
        // Lagrange in absolute angles a, b below the horizontal: T = (I/2 + m/2) a'^2 + I b'^2/2 + m/2 a' b' cos(a - b), I = J + m/4.
        let (a, b) = (state.q[0], state.q[0] + state.q[1]);
        let (da, db) = (state.v[0], state.v[0] + state.v[1]);
        let i = 0.084_166_666_666_666_67 + 0.25;
        let (c, s) = ((a - b).cos(), (a - b).sin());
        let m = [i + 1.0, 0.5 * c, 0.5 * c, i];
        let right = [1.5 * 9.81 * a.cos() - 0.5 * s * db * db, 0.5 * 9.81 * b.cos() + 0.5 * s * da * da];
        let expected = dense_solve(&m, &right);
        let got = [ws.qdd()[0], ws.qdd()[0] + ws.qdd()[1]];
        assert!(distance(&got, &expected) < 1e-12 * (1.0 + norm(&expected)));
    }
    // Order of the method on the tip after 2 s against an adaptive method of order 5.
    let state = State::new(&model);
    let mut y: Vec<f64> = state.q.iter().chain(&state.v).copied().collect();
    let fine = DormandPrince::new(AdaptiveParams::with_tolerance(1e-13, 1e-13));
    let mut scratch = OdeScratch::new(&fine, 4);
    fine.advance(&mut SecondOrder::new(TreeMotion::new(&model, &state)), 0.0, 2.0, &mut y, &mut scratch)
        .unwrap();
    let error = |dt: f64| {
        let end = run(&model, &state, dt, (2.0 / dt).round() as usize, |_, _| {});
        distance(&end.q, &y[..2])
    };
    let (coarse, half) = (error(1.0 / 240.0), error(1.0 / 480.0));
    println!("double pendulum at 2 s: {coarse:e} at 1/240 s, {half:e} at 1/480 s");
    assert!((coarse / half).log2() > 3.7, "{}", (coarse / half).log2());
}

// proves: ARN-10
#[test]
fn gyroscope_precesses_steadily_without_nutation() {
    // W7 gyro: rate error at most 1e-8, nutation at most 1e-6 rad with RK4 at 0.1 ms over 10 s.
    let moments = DVec3::new(0.125, 0.062_708_333_333_333_3, 0.062_708_333_333_333_3);
    let model = ModelBuilder::new()
        .gravity(G)
        .link(Link::new("top", Joint::Spherical).mass(1.0, DVec3::X * 0.5, Sym3::from_diagonal(moments)))
        .build()
        .unwrap();
    let mut state = State::new(&model);
    let rate = 9.81 * 0.5 / (0.125 * 50.0);
    state.v = vec![50.0, 0.0, rate];
    let (mut nutation, mut turned, mut previous) = (0.0_f64, 0.0, DVec3::X);
    run(&model, &state, 1e-4, 100_000, |_, now| {
        let axis = DQuat::from_slice(&now.q) * DVec3::X;
        nutation = nutation.max(axis.z.abs());
        turned += previous.cross(axis).z.atan2(previous.dot(axis));
        previous = axis;
    });
    println!("gyro: nutation {nutation:e} rad, rate off by {:e}", turned / 10.0 / rate - 1.0);
    assert!(nutation < 1e-6, "{nutation:e}");
    assert!((turned / 10.0 - rate).abs() < 1e-8 * rate, "{}", turned / 10.0 - rate);
}

#[test]
fn pendulum_periods_are_elliptic_integrals() {
    // Point on 1 m from 90 degrees: 2.36784 s; uniform rod of 1 m: 1.933335 s. A quarter period ends at the lowest point.
    let quarter = |com: f64, moment: f64| {
        let inertia = Sym3::from_diagonal(DVec3::new(0.0, moment, moment));
        let model = ModelBuilder::new()
            .gravity(G)
            .link(Link::new("bob", hinge(DVec3::Y)).mass(1.0, DVec3::X * com, inertia))
            .build()
            .unwrap();
        let (dt, mut crossing, mut before) = (1e-3, 0.0, 0.0);
        run(&model, &State::new(&model), dt, 700, |i, now| {
            let lowest = std::f64::consts::FRAC_PI_2;
            if crossing == 0.0 && now.q[0] >= lowest {
                // Third-order accurate root between two steps: the speed is stationary there.
                crossing = i as f64 * dt + dt * (lowest - before) / (now.q[0] - before);
            }
            before = now.q[0];
        });
        crossing
    };
    let k = sim_math::elliptic::complete_k(0.5).unwrap();
    assert_close!(4.0 * quarter(1.0, 0.0), 4.0 * k / 9.81_f64.sqrt(), abs = 1e-7);
    assert_close!(4.0 * quarter(1.0, 0.0), 2.36784, abs = 1e-5);
    assert_close!(4.0 * quarter(0.5, 1.0 / 12.0), 1.933_335, abs = 1e-6);
}

// proves: ARN-09, FON-65
#[test]
fn sliders_follow_their_closed_forms() {
    // Mass on an inclined slide: g sin(theta).
    let theta = 0.4_f64;
    let down = DVec3::new(theta.cos(), 0.0, -theta.sin());
    let slide = ModelBuilder::new()
        .gravity(G)
        .link(Link::new("block", Joint::Prismatic { axis: down }).mass(3.0, DVec3::Z, Sym3::from_scalar(0.2)))
        .build()
        .unwrap();
    let mut ws = Workspace::new(&slide);
    aba(&slide, &State::new(&slide), &[0.0], &[], &mut ws).unwrap();
    assert_close!(ws.qdd()[0], 9.81 * theta.sin(), rel = 1e-14);
    // Bead on a rod that turns in a horizontal plane: r'' = r w^2 and w' = -2 m r r' w / (I + m r^2).
    let bead = ModelBuilder::new()
        .link(Link::new("rod", hinge(DVec3::Z)).mass(1.0, DVec3::ZERO, Sym3::from_scalar(0.3)))
        .link(Link::new("bead", Joint::Prismatic { axis: DVec3::X }).on("rod").mass(
            2.0,
            DVec3::ZERO,
            Sym3::ZERO,
        ))
        .build()
        .unwrap();
    let mut state = State::new(&bead);
    (state.q, state.v) = (vec![0.7, 0.9], vec![1.5, -0.4]);
    let mut ws = Workspace::new(&bead);
    aba(&bead, &state, &[0.0, 0.0], &[], &mut ws).unwrap();
    assert_close!(ws.qdd()[1], 0.9 * 1.5 * 1.5, rel = 1e-13);
    assert_close!(ws.qdd()[0], -2.0 * 2.0 * 0.9 * -0.4 * 1.5 / (0.3 + 2.0 * 0.81), rel = 1e-13);
    // A screw under gravity: m h g / (J + m h^2).
    let screw = ModelBuilder::new()
        .gravity(G)
        .link(Link::new("nut", Joint::Helical { axis: DVec3::NEG_Z, pitch: 0.1 }).mass(
            2.0,
            DVec3::ZERO,
            Sym3::from_scalar(0.05),
        ))
        .build()
        .unwrap();
    let mut ws = Workspace::new(&screw);
    aba(&screw, &State::new(&screw), &[0.0], &[], &mut ws).unwrap();
    assert_close!(ws.qdd()[0], 2.0 * 0.1 * 9.81 / (0.05 + 2.0 * 0.01), rel = 1e-13);
}

// proves: ARN-12
#[test]
fn hanging_chain_at_rest_carries_the_weight_below() {
    let mut builder = ModelBuilder::new().gravity(G);
    for i in 0..10 {
        let mut link = Link::new(format!("{i}"), hinge(if i % 2 == 0 { DVec3::X } else { DVec3::Y }))
            .at(Pose::from_translation(DVec3::NEG_Z * if i == 0 { 0.0 } else { 0.2 }))
            .mass(1.0 + i as f64, DVec3::NEG_Z * 0.1, Sym3::from_scalar(0.01));
        if i > 0 {
            link = link.on(format!("{}", i - 1));
        }
        builder = builder.link(link);
    }
    let model = builder.build().unwrap();
    let mut ws = Workspace::new(&model);
    aba_with_reactions(&model, &State::new(&model), &[0.0; 10], &[], &mut ws).unwrap();
    assert!(norm(ws.qdd()) < 1e-14);
    for i in 0..10 {
        let below: f64 = (i..10).map(|k| 1.0 + k as f64).sum();
        assert!((ws.joint_wrenches()[i].linear - DVec3::Z * below * 9.81).length() < 1e-12 * below);
    }
}

// proves: ARN-10
#[test]
fn spherical_pendulum_keeps_energy_and_vertical_momentum() {
    let model = ModelBuilder::new()
        .gravity(G)
        .link(Link::new("bob", Joint::Spherical).mass(1.0, DVec3::X, Sym3::from_scalar(0.01)))
        .build()
        .unwrap();
    let mut state = State::new(&model);
    state.v = vec![0.2, -0.5, 1.5];
    let mut ws = Workspace::new(&model);
    let start = energy(&model, &state, &mut ws);
    let vertical = momentum_about(&model, &ws, DVec3::ZERO).unwrap().moment.z;
    let end = run(&model, &state, 1e-4, 20_000, |_, _| {});
    assert_close!(energy(&model, &end, &mut ws), start, abs = 1e-11);
    assert_close!(momentum_about(&model, &ws, DVec3::ZERO).unwrap().moment.z, vertical, abs = 1e-11);
}

// proves: FON-74
#[test]
fn a_ball_joint_of_massless_hinges_keeps_energy_and_vertical_momentum() {
    // Two and three hinges through one point, the supports without mass.
    for in_front in [vec![hinge(DVec3::Z)], vec![hinge(DVec3::Z), hinge(DVec3::X)]] {
        let model = ModelBuilder::new()
            .gravity(G)
            .chain(&in_front, Link::new("bob", hinge(DVec3::Y)).mass(1.0, DVec3::X, Sym3::from_scalar(0.01)))
            .build()
            .unwrap();
        let mut state = State::new(&model);
        state.q[0] = 0.4;
        state.v = (0..model.v_len()).map(|k| [1.2, -0.5, 0.3][k]).collect();
        let mut ws = Workspace::new(&model);
        let start = energy(&model, &state, &mut ws);
        let vertical = momentum_about(&model, &ws, DVec3::ZERO).unwrap().moment.z;
        let end = run(&model, &state, 1e-4, 10_000, |_, _| {});
        assert_close!(energy(&model, &end, &mut ws), start, abs = 1e-11);
        assert_close!(momentum_about(&model, &ws, DVec3::ZERO).unwrap().moment.z, vertical, abs = 1e-11);
        assert!(distance(&end.q, &state.q) > 0.3, "it moved");
    }
}
