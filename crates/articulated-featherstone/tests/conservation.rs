//! Power, energy and momentum.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    Joint, Link, ModelBuilder, State, Workspace, aba, compute_velocities, kinetic_energy, momentum_about,
    testkit::{TreeParams, random_numbers, random_state, random_wrenches},
};
use common::{
    case, distance,
    motion::{energy, run, weightless},
    norm, random_params,
};
use sim_math::{
    Sym3, assert_close,
    glam::DVec3,
    spatial::Force,
    testkit::{SplitMix64, soak},
};

// proves: FON-69
#[test]
fn soak_power_balances_for_random_trees() {
    let mut random = soak::random(32);
    for _ in 0..soak::cases(10_000) {
        let params = TreeParams { moving_base: false, ..random_params(&mut random) };
        let (model, state, mut ws) = case(&mut random, params);
        let tau = random_numbers(&mut random, model.v_len());
        let external = random_wrenches(&mut random, &model);
        aba(&model, &state, &tau, &external, &mut ws).unwrap();
        let (mut left, mut right, mut size) = (0.0, 0.0, 1.0);
        for i in 0..model.link_count() {
            let (inertia, v) = (model.inertia(i as u32).unwrap(), ws.velocities()[i]);
            let net = inertia.mul_motion(ws.proper_accelerations()[i]) + inertia.bias_force(v);
            left += net.dot(v);
            size += net.dot(v).abs();
            right += external[i].dot(v);
        }
        for k in 0..model.v_len() {
            left += model.dofs()[k].armature * ws.qdd()[k] * state.v[k];
            right += tau[k] * state.v[k];
        }
        assert!((left - right).abs() < 1e-10 * size, "{:e}", (left - right) / size);
    }
}

#[test]
fn energy_changes_at_the_rate_of_the_power() {
    let mut random = SplitMix64(33);
    for _ in 0..200 {
        let params =
            TreeParams { moving_base: false, links: 1 + random.below(8), ..random_params(&mut random) };
        let (model, state, mut ws) = case(&mut random, params);
        let tau = random_numbers(&mut random, model.v_len());
        aba(&model, &state, &tau, &[], &mut ws).unwrap();
        let qdd = ws.qdd().to_vec();
        let power: f64 = tau.iter().zip(&state.v).map(|(t, v)| t * v).sum();
        let h = 1e-5;
        let at = |dt: f64, ws: &mut Workspace| {
            let mut next = state.clone();
            let middle: Vec<f64> = state.v.iter().zip(&qdd).map(|(v, a)| v + 0.5 * a * dt).collect();
            articulated_featherstone::integrate(&model, &mut next.q, &middle, dt).unwrap();
            next.v.iter_mut().zip(&qdd).for_each(|(v, a)| *v += a * dt);
            energy(&model, &next, ws)
        };
        let rate = (at(h, &mut ws) - at(-h, &mut ws)) * (0.5 / h);
        let scale = 1.0 + norm(&qdd) * norm(&state.v) + energy(&model, &state, &mut ws).abs();
        assert!((rate - power).abs() < 1e-6 * scale, "{rate} {power}");
    }
}

// proves: MIR-63, FON-68
#[test]
fn soak_momentum_of_a_free_tree_is_constant_without_gravity() {
    let mut random = soak::random(34);
    // The rate, exactly: sum of I a + v x* I v in the world.
    for _ in 0..soak::cases(10_000) {
        let params = TreeParams { floating: true, moving_base: false, ..random_params(&mut random) };
        let (model, state, mut ws) = case(&mut random, params);
        let mut tau = random_numbers(&mut random, model.v_len());
        tau[..6].fill(0.0);
        if model.dofs()[0].armature > 0.0 {
            continue; // A rotor on a floating base stores momentum of its own.
        }
        compute_velocities(&model, &state, &mut ws).unwrap();
        let poses = ws.world_from_links().to_vec();
        aba(&model, &state, &tau, &[], &mut ws).unwrap();
        let (mut sum, mut size) = (Force::ZERO, 1.0);
        for (i, pose) in poses.iter().enumerate() {
            let inertia = model.inertia(i as u32).unwrap();
            let f = inertia.mul_motion(ws.proper_accelerations()[i]) + inertia.bias_force(ws.velocities()[i]);
            let f = pose.force(f);
            sum += f;
            size += norm(&f.to_array());
        }
        assert!(norm(&sum.to_array()) < 1e-12 * size, "{:e}", norm(&sum.to_array()) / size);
    }
    // Along a run: conserved to the order of the integrator.
    let params = TreeParams { links: 6, floating: true, ..TreeParams::default() };
    let tree = articulated_featherstone::testkit::random_tree(&mut random, params);
    let model = weightless(&tree);
    let state = random_state(&mut random, &model, params);
    let mut ws = Workspace::new(&model);
    compute_velocities(&model, &state, &mut ws).unwrap();
    let before = momentum_about(&model, &ws, DVec3::ZERO).unwrap();
    let end = run(&model, &state, 1e-3, 500, |_, _| {});
    compute_velocities(&model, &end, &mut ws).unwrap();
    let after = momentum_about(&model, &ws, DVec3::ZERO).unwrap();
    let error = distance(&before.to_array(), &after.to_array()) / norm(&before.to_array());
    println!("momentum after 0.5 s: off by {error:e}");
    assert!(error < 1e-10, "{error:e}");
}

// proves: ARN-11, ARN-17
#[test]
fn a_free_link_alone_is_a_free_body() {
    let moments = DVec3::new(1.0, 2.0, 3.0);
    let com = DVec3::new(0.2, -0.1, 0.3);
    let model = ModelBuilder::new()
        .link(Link::new("body", Joint::Free).mass(2.0, com, Sym3::from_diagonal(moments)))
        .build()
        .unwrap();
    let mut state = State::new(&model);
    let omega = DVec3::new(0.3, 1.0, -0.4);
    state.v[..3].copy_from_slice(&omega.to_array());
    state.v[3..].copy_from_slice(&[0.5, -0.2, 0.1]);
    let mut ws = Workspace::new(&model);
    // Euler's equations of the spin.
    aba(&model, &state, &[0.0; 6], &[], &mut ws).unwrap();
    let expected = -omega.cross(moments * omega) / moments;
    assert!((DVec3::from_slice(&ws.qdd()[..3]) - expected).length() < 1e-14);
    // The centre of mass flies straight; angular momentum and energy stay.
    compute_velocities(&model, &state, &mut ws).unwrap();
    let momentum = momentum_about(&model, &ws, DVec3::ZERO).unwrap();
    let start = kinetic_energy(&model, &state, &ws).unwrap();
    let end = run(&model, &state, 1e-3, 2000, |_, _| {});
    compute_velocities(&model, &end, &mut ws).unwrap();
    let straight = com + momentum.linear / 2.0 * 2.0;
    let center = articulated_featherstone::center_of_mass(&model, &ws).unwrap();
    assert!((center - straight).length() < 1e-11, "{:e}", (center - straight).length());
    let after = momentum_about(&model, &ws, DVec3::ZERO).unwrap();
    assert!(distance(&momentum.to_array(), &after.to_array()) < 1e-11);
    assert_close!(kinetic_energy(&model, &end, &ws).unwrap(), start, rel = 1e-12);
}

// proves: ARN-16
#[test]
fn a_weightless_free_tree_keeps_momentum_and_energy_along_its_run() {
    let mut random = SplitMix64(41);
    for links in [2, 4, 6, 8] {
        let params = TreeParams { links, floating: true, frames: true, ..TreeParams::default() };
        let model = weightless(&articulated_featherstone::testkit::random_tree(&mut random, params));
        let state = random_state(&mut random, &model, params);
        let mut ws = Workspace::new(&model);
        let start = energy(&model, &state, &mut ws);
        let before = momentum_about(&model, &ws, DVec3::ZERO).unwrap();
        let end = run(&model, &state, 1e-4, 3000, |_, _| {});
        let gained = (energy(&model, &end, &mut ws) - start) / start;
        let after = momentum_about(&model, &ws, DVec3::ZERO).unwrap();
        let error = distance(&before.to_array(), &after.to_array()) / norm(&before.to_array());
        println!("{links} links: momentum off by {error:e}, energy by {gained:e}");
        assert!(error < 1e-10 && gained.abs() < 1e-10, "{error:e} {gained:e}");
    }
}
