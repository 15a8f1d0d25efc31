//! Closed loops, joint limits and controllers.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    DofParams, FeedbackParams, Joint, Link, Loop, LoopKind, LoopWorkspace, Model, ModelBuilder, State,
    TorqueTrack, Workspace, aba, add_torque_feedback, apply_impulses, compute_velocities, computed_torque,
    factorize, kinetic_energy, limit_impulse, limit_rows, loop_accelerations, loop_error, potential_energy,
    project_loops,
    testkit::{TreeParams, random_numbers},
};
use common::{case, distance, norm, random_params};
use sim_math::{Pose, Sym3, assert_close, glam::DVec3, testkit::SplitMix64};

const G: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// Four-bar linkage in the x-z plane with hinges about y: crank 0.3, coupler 0.8, rocker 0.6, ground 0.9.
/// The crank and the coupler are one branch, the rocker another; a hinge (z axis along y) closes them.
fn four_bar() -> (Model, Loop) {
    let bar = |name: &str, length: f64| {
        let i = length * length / 12.0;
        Link::new(name, Joint::Revolute { axis: DVec3::NEG_Y }).mass(
            1.0,
            DVec3::X * (length / 2.0),
            Sym3::from_diagonal(DVec3::new(1e-3, i, i)),
        )
    };
    let model = ModelBuilder::new()
        .gravity(G)
        .link(bar("crank", 0.3))
        .link(bar("coupler", 0.8).on("crank").at(Pose::from_translation(DVec3::X * 0.3)))
        .link(bar("rocker", 0.6).at(Pose::from_translation(DVec3::X * 0.9)))
        .build()
        .unwrap();
    // Frames whose z axis is the hinge axis.
    let turn = sim_math::rotation::quat_exp(DVec3::X * std::f64::consts::FRAC_PI_2);
    let closing = Loop {
        kind: LoopKind::Hinge,
        link_a: Some(1),
        frame_a: Pose::new(DVec3::X * 0.8, turn),
        link_b: Some(2),
        frame_b: Pose::new(DVec3::X * 0.6, turn),
    };
    (model, closing)
}

/// Freudenstein: K1 cos(rocker) - K2 cos(crank) + K3 = cos(crank - rocker).
fn freudenstein(crank: f64, rocker: f64) -> f64 {
    let (a, b, c, d) = (0.3, 0.8, 0.6, 0.9);
    let (k1, k2, k3) = (d / a, d / c, (a * a - b * b + c * c + d * d) / (2.0 * a * c));
    k1 * rocker.cos() - k2 * crank.cos() + k3 - (crank - rocker).cos()
}

// proves: ARN-57
#[test]
fn four_bar_linkage_follows_freudenstein() {
    let (model, closing) = four_bar();
    let (mut ws, mut lw) = (Workspace::new(&model), LoopWorkspace::default());
    let mut state = State::new(&model);
    state.q = vec![1.0, -0.5, 1.8];
    let left = project_loops(&model, &mut state, &[closing], 1e-14, 30, &mut ws, &mut lw).unwrap();
    assert!(left < 1e-13, "{left:e}");
    assert!(freudenstein(state.q[0], state.q[2]).abs() < 1e-12);
    let energy = |state: &State, ws: &mut Workspace| {
        compute_velocities(&model, state, ws).unwrap();
        kinetic_energy(&model, state, ws).unwrap() + potential_energy(&model, ws).unwrap()
    };
    let start = energy(&state, &mut ws);
    // RK4 at 0.5 ms for 2 s of free swinging, no feedback on the error: drift is that of the integrator.
    let dt = 5e-4;
    let mut swept = 0.0_f64;
    for _ in 0..4000 {
        let mut sum_q = [0.0; 3];
        let mut sum_v = [0.0; 3];
        let mut stage = state.clone();
        for (reach, weight) in [(0.5 * dt, dt / 6.0), (0.5 * dt, dt / 3.0), (dt, dt / 3.0), (0.0, dt / 6.0)] {
            loop_accelerations(&model, &stage, &[0.0; 3], &[], &[closing], 0.0, &mut ws, &mut lw).unwrap();
            let v = stage.v.clone();
            for k in 0..3 {
                sum_q[k] += weight * v[k];
                sum_v[k] += weight * ws.qdd()[k];
                stage.q[k] = state.q[k] + reach * v[k];
                stage.v[k] = state.v[k] + reach * ws.qdd()[k];
            }
        }
        for k in 0..3 {
            state.q[k] += sum_q[k];
            state.v[k] += sum_v[k];
        }
        swept = swept.max((state.q[0] - 1.0).abs());
    }
    assert!(swept > 0.5, "the crank moved {swept} rad");
    let drift = loop_error(&model, &state, &[closing], &mut ws, &mut lw).unwrap();
    println!("four-bar after 2 s: error {drift:e}, energy off by {:e}", energy(&state, &mut ws) - start);
    assert!(drift < 1e-8, "{drift:e}");
    assert!(freudenstein(state.q[0], state.q[2]).abs() < 1e-7);
    assert_close!(energy(&state, &mut ws), start, abs = 1e-7);
    // Afterwards projection closes it to rounding.
    assert!(project_loops(&model, &mut state, &[closing], 1e-14, 10, &mut ws, &mut lw).unwrap() < 1e-13);
}

#[test]
fn feedback_makes_errors_decay() {
    let (model, closing) = four_bar();
    let (mut ws, mut lw) = (Workspace::new(&model), LoopWorkspace::default());
    let mut state = State::new(&model);
    state.q = vec![1.0, -0.5, 1.8];
    project_loops(&model, &mut state, &[closing], 1e-14, 30, &mut ws, &mut lw).unwrap();
    state.q[2] += 1e-3;
    let before = loop_error(&model, &state, &[closing], &mut ws, &mut lw).unwrap();
    for _ in 0..2000 {
        loop_accelerations(&model, &state, &[0.0; 3], &[], &[closing], 50.0, &mut ws, &mut lw).unwrap();
        articulated_featherstone::step_semi_implicit(&model, &mut state, &ws, 1e-4).unwrap();
    }
    let after = loop_error(&model, &state, &[closing], &mut ws, &mut lw).unwrap();
    assert!(after < 0.01 * before, "{before:e} -> {after:e}");
}

#[test]
fn a_welded_chain_is_a_rigid_body() {
    // Two links on one free base, welded to each other by a loop: they move as one with it if the joint cannot turn.
    let mut random = SplitMix64(61);
    for _ in 0..50 {
        let at = [
            Pose::new(random.vec3(0.5), random.unit_quat()),
            Pose::new(random.vec3(0.5), random.unit_quat()),
        ];
        let part = |name: &str, joint, k: usize| {
            Link::new(name, joint).at(at[k]).on("base").mass(
                1.0 + k as f64,
                DVec3::X * 0.2,
                Sym3::from_scalar(0.1),
            )
        };
        let build = |joint: [Joint; 2]| {
            ModelBuilder::new()
                .gravity(G)
                .link(Link::new("base", Joint::Free).mass(2.0, DVec3::Y * 0.1, Sym3::from_scalar(0.3)))
                .link(part("a", joint[0], 0))
                .link(part("b", joint[1], 1))
                .build()
                .unwrap()
        };
        let rigid = build([Joint::Fixed, Joint::Fixed]);
        let loose = build([Joint::Revolute { axis: DVec3::Z }, Joint::Revolute { axis: DVec3::X }]);
        // The relative pose at q = 0, closed by a weld: hinge axes that are not collinear cannot turn.
        let (mut ws, mut lw) = (Workspace::new(&loose), LoopWorkspace::default());
        let mut state = State::new(&loose);
        state.v[..6].copy_from_slice(&random_numbers(&mut random, 6));
        compute_velocities(&loose, &state, &mut ws).unwrap();
        let relative = (ws.world_from_links()[1].inverse() * ws.world_from_links()[2]).to_pose();
        let weld = Loop {
            kind: LoopKind::Weld,
            link_a: Some(1),
            frame_a: relative,
            link_b: Some(2),
            frame_b: Pose::default(),
        };
        loop_accelerations(&loose, &state, &[0.0; 8], &[], &[weld], 0.0, &mut ws, &mut lw).unwrap();
        let mut fixed = State::new(&rigid);
        fixed.v.copy_from_slice(&state.v[..6]);
        let mut wr = Workspace::new(&rigid);
        aba(&rigid, &fixed, &[0.0; 6], &[], &mut wr).unwrap();
        assert!(distance(&ws.qdd()[..6], wr.qdd()) < 1e-9 * (1.0 + norm(wr.qdd())));
        assert!(norm(&ws.qdd()[6..]) < 1e-9 * (1.0 + norm(wr.qdd())));
    }
}

#[test]
fn near_stops_are_found_and_a_stop_reverses_the_joint_velocity() {
    let mut random = SplitMix64(62);
    let limits = DofParams { lower: -0.5, upper: 0.7, ..DofParams::default() };
    let model = ModelBuilder::new()
        .link(
            Link::new("a", Joint::Revolute { axis: DVec3::Z })
                .mass(1.0, DVec3::X, Sym3::from_scalar(0.1))
                .dof(0, limits),
        )
        .link(Link::new("b", Joint::Revolute { axis: DVec3::Y }).on("a").mass(
            1.0,
            DVec3::X,
            Sym3::from_scalar(0.1),
        ))
        .build()
        .unwrap();
    let mut rows = Vec::new();
    limit_rows(&model, &[0.0, 5.0], 0.1, &mut rows).unwrap();
    assert!(rows.is_empty());
    limit_rows(&model, &[0.75, 5.0], 0.1, &mut rows).unwrap();
    assert_eq!((rows.len(), rows[0].dof, rows[0].direction), (1, 0, -1.0));
    assert_close!(rows[0].gap, -0.05, abs = 1e-15);
    let (mut ws, mut u, mut dv) = (Workspace::new(&model), vec![0.0; 2], vec![0.0; 2]);
    for _ in 0..100 {
        let q = [0.75, random.range(-3.0, 3.0)];
        let v = [random.range(-1.0, 1.0), random.range(-1.0, 1.0)];
        factorize(&model, &q, &mut ws).unwrap();
        let impulse = limit_impulse(&model, &ws, rows[0], &v, 0.4, &mut u).unwrap();
        apply_impulses(&model, &mut ws, &[], &[impulse, 0.0], &mut dv).unwrap();
        let expected = if v[0] > 0.0 { -0.4 * v[0] } else { v[0] };
        assert_close!(v[0] + dv[0], expected, abs = 1e-13);
    }
}

// proves: CLI-85
#[test]
fn recorded_torques_replay_the_motion() {
    let mut random = SplitMix64(63);
    for _ in 0..100 {
        let params = random_params(&mut random);
        let (model, mut state, mut ws) = case(&mut random, params);
        let nv = model.v_len();
        let (mut states, mut accelerations) = (Vec::new(), Vec::new());
        for i in 0..5 {
            state.t = f64::from(i) * 0.1;
            state.v = random_numbers(&mut random, nv);
            states.push(state.clone());
            accelerations.extend(random_numbers(&mut random, nv));
        }
        let track = TorqueTrack::record(&model, &states, &accelerations, &mut ws).unwrap();
        let mut tau = vec![0.0; nv];
        for (i, s) in states.iter().enumerate() {
            track.sample(s.t, &mut tau).unwrap();
            aba(&model, s, &tau, &[], &mut ws).unwrap();
            let expected = &accelerations[i * nv..(i + 1) * nv];
            assert!(distance(ws.qdd(), expected) < 1e-9 * (1.0 + norm(expected)));
        }
        states.swap(0, 1);
        assert!(TorqueTrack::record(&model, &states, &accelerations, &mut ws).is_err());
    }
}

// proves: CLI-88
#[test]
fn a_rotated_character_needs_the_same_joint_torques_and_resampling_is_linear() {
    let mut random = SplitMix64(64);
    for _ in 0..100 {
        let params = TreeParams { moving_base: false, ..random_params(&mut random) };
        let (model, mut state, mut ws) = case(&mut random, params);
        let nv = model.v_len();
        let qdd = random_numbers(&mut random, 2 * nv);
        let mut states = vec![state.clone(), state.clone()];
        states[1].t = 0.1;
        let plain = TorqueTrack::record(&model, &states, &qdd, &mut ws).unwrap();
        let turn = sim_math::rotation::quat_exp(model.gravity().normalize() * 1.3);
        for s in &mut states {
            s.base.world_from_base = Pose::new(DVec3::new(3.0, -2.0, 1.0), turn);
        }
        let rotated = TorqueTrack::record(&model, &states, &qdd, &mut ws).unwrap();
        let (mut a, mut b, mut c) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
        plain.sample(0.03, &mut a).unwrap();
        rotated.sample(0.03, &mut b).unwrap();
        assert!(distance(&a, &b) < 1e-11 * (1.0 + norm(&a)));
        plain.sample(0.0, &mut b).unwrap();
        plain.sample(0.1, &mut c).unwrap();
        let blend: Vec<f64> = b.iter().zip(&c).map(|(b, c)| 0.7 * b + 0.3 * c).collect();
        assert!(distance(&a, &blend) < 1e-12 * (1.0 + norm(&a)));
        state.t = 0.0;
    }
}

// proves: CLI-89
#[test]
fn feedback_is_zero_on_the_path_and_restores_off_it() {
    let mut random = SplitMix64(65);
    for _ in 0..200 {
        let params = random_params(&mut random);
        let (model, state, _) = case(&mut random, params);
        let nv = model.v_len();
        let feed = random_numbers(&mut random, nv);
        let (mut tau, mut scratch) = (feed.clone(), vec![0.0; nv]);
        add_torque_feedback(&model, &state, &state, FeedbackParams::default(), &mut scratch, &mut tau)
            .unwrap();
        assert!(distance(&tau, &feed) < 1e-12);
        let mut off = state.clone();
        let step = random_numbers(&mut random, nv);
        articulated_featherstone::integrate(&model, &mut off.q, &step, 0.1).unwrap();
        add_torque_feedback(&model, &off, &state, FeedbackParams::default(), &mut scratch, &mut tau).unwrap();
        for k in 0..nv {
            assert!((tau[k] - feed[k]) * step[k] <= 1e-12, "pushes back");
        }
    }
}

#[test]
fn computed_torque_gives_linear_error_dynamics() {
    let mut random = SplitMix64(66);
    for _ in 0..200 {
        let params = random_params(&mut random);
        let (model, state, mut ws) = case(&mut random, params);
        let nv = model.v_len();
        let mut desired = state.clone();
        let offset: Vec<f64> = random_numbers(&mut random, nv).iter().map(|x| 0.1 * x).collect();
        articulated_featherstone::integrate(&model, &mut desired.q, &offset, 1.0).unwrap();
        desired.v = random_numbers(&mut random, nv);
        let acceleration = random_numbers(&mut random, nv);
        let (mut command, mut tau) = (vec![0.0; nv], vec![0.0; nv]);
        computed_torque(
            &model,
            &state,
            &desired,
            &acceleration,
            100.0,
            20.0,
            &mut command,
            &mut ws,
            &mut tau,
        )
        .unwrap();
        aba(&model, &state, &tau, &[], &mut ws).unwrap();
        let expected: Vec<f64> = (0..nv)
            .map(|k| acceleration[k] + 100.0 * offset[k] + 20.0 * (desired.v[k] - state.v[k]))
            .collect();
        assert!(
            distance(ws.qdd(), &expected) < 1e-8 * (1.0 + norm(&expected)),
            "{:e}",
            distance(ws.qdd(), &expected)
        );
    }
}
