//! Closed forms and conservation laws.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    BaseMotion, DofParams, Joint, Link, Model, ModelBuilder, State, TreeMotion, Workspace, aba,
    aba_with_reactions, bias_forces, compute_velocities, crba, kinetic_energy, momentum_about,
    passive_forces, potential_energy, rnea,
    testkit::{TreeParams, random_joint, random_numbers, random_state, random_wrenches},
};
use common::{case, dense_solve, distance, norm, random_params, soak};
use sim_math::{
    Pose, Sym3, assert_close,
    glam::{DMat3, DQuat, DVec3},
    integrate::{AdaptiveParams, DormandPrince, Integrator, OdeScratch, Rk4, SecondOrder},
    spatial::{Force, Motion},
    testkit::SplitMix64,
};

const G: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// Runs RK4 with step `dt` for `steps` steps, calling `watch` after each.
fn run(model: &Model, state: &State, dt: f64, steps: usize, mut watch: impl FnMut(usize, &State)) -> State {
    let mut system = SecondOrder::new(TreeMotion::new(model, state));
    let mut y: Vec<f64> = state.q.iter().chain(&state.v).copied().collect();
    let mut scratch = OdeScratch::new(&Rk4, y.len());
    let mut now = state.clone();
    for i in 0..steps {
        Rk4.advance(&mut system, i as f64 * dt, dt, &mut y, &mut scratch).unwrap();
        now.q.copy_from_slice(&y[..model.q_len()]);
        now.v.copy_from_slice(&y[model.q_len()..]);
        watch(i, &now);
    }
    now
}

fn energy(model: &Model, state: &State, ws: &mut Workspace) -> f64 {
    compute_velocities(model, state, ws).unwrap();
    kinetic_energy(model, state, ws).unwrap() + potential_energy(model, ws).unwrap()
}

fn hinge(axis: DVec3) -> Joint {
    Joint::Revolute { axis }
}

/// Rod of 1 m and 1 kg along x with the box inertia of the workload.
fn rod(link: Link) -> Link {
    link.mass(
        1.0,
        DVec3::X * 0.5,
        Sym3::from_diagonal(DVec3::new(
            0.001_666_666_666_666_667,
            0.084_166_666_666_666_67,
            0.084_166_666_666_666_67,
        )),
    )
}

fn double_pendulum() -> Model {
    ModelBuilder::new()
        .gravity(G)
        .link(rod(Link::new("upper", hinge(DVec3::Y))))
        .link(rod(Link::new("lower", hinge(DVec3::Y)).on("upper").at(Pose::from_translation(DVec3::X))))
        .build()
        .unwrap()
}

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

// proves: FON-69
#[test]
fn power_balances_for_random_trees() {
    let mut random = SplitMix64(32);
    for _ in 0..soak(2000) {
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
fn momentum_of_a_free_tree_is_constant_without_gravity() {
    let mut random = SplitMix64(34);
    // The rate, exactly: sum of I a + v x* I v in the world.
    for _ in 0..soak(1000) {
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

/// The same tree without gravity.
fn weightless(model: &Model) -> Model {
    let mut builder = ModelBuilder::new();
    for i in 0..model.link_count() as u32 {
        let inertia = model.inertia(i).unwrap();
        let mut link = Link::new(model.name(i), model.joint(i).unwrap())
            .at(model.parent_from_joint(i).unwrap())
            .mass(inertia.mass, inertia.center_of_mass(), inertia.inertia());
        if let Some(p) = model.parent(i) {
            link = link.on(model.name(p));
        }
        builder = builder.link(link);
    }
    builder.build().unwrap()
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

// proves: ARN-18
#[test]
fn gravity_is_the_same_as_a_weight_on_each_link() {
    let mut random = SplitMix64(35);
    for _ in 0..300 {
        let params = TreeParams { moving_base: false, armature: false, ..random_params(&mut random) };
        let (model, state, mut ws) = case(&mut random, params);
        let tau = random_numbers(&mut random, model.v_len());
        compute_velocities(&model, &state, &mut ws).unwrap();
        let weights: Vec<Force> = (0..model.link_count())
            .map(|i| {
                let inertia = model.inertia(i as u32).unwrap();
                let down = ws.world_from_links()[i].rotation.transpose() * model.gravity();
                Force::new(inertia.first_moment.cross(down), down * inertia.mass)
            })
            .collect();
        aba(&model, &state, &tau, &[], &mut ws).unwrap();
        let expected = ws.qdd().to_vec();
        let free = weightless(&model);
        aba(&free, &state, &tau, &weights, &mut ws).unwrap();
        assert!(distance(ws.qdd(), &expected) < 1e-10 * (1.0 + norm(&expected)));
    }
}

// proves: ARN-07
#[test]
fn a_rigid_joint_is_a_weld() {
    let mut random = SplitMix64(36);
    for _ in 0..200 {
        let (axis_1, axis_2) = (random.unit_vec3(), random.unit_vec3());
        let pose = Pose::new(random.vec3(0.5), random.unit_quat());
        let inertias: Vec<_> =
            (0..3).map(|_| articulated_featherstone::testkit::random_inertia(&mut random)).collect();
        let at = Pose::new(random.vec3(0.5), random.unit_quat());
        let link = |name: &str, joint, k: usize| {
            Link::new(name, joint).mass(inertias[k].0, inertias[k].1, inertias[k].2)
        };
        let apart = ModelBuilder::new()
            .gravity(G)
            .link(link("a", hinge(axis_1), 0))
            .link(link("b", Joint::Fixed, 1).on("a").at(pose))
            .link(link("c", hinge(axis_2), 2).on("b").at(at))
            .build()
            .unwrap();
        let rotation = DMat3::from_quat(pose.rotation);
        let whole = {
            use sim_math::spatial::{RigidInertia, SpatialTransform};
            let a = RigidInertia::from_com(inertias[0].0, inertias[0].1, inertias[0].2);
            let b = RigidInertia::from_com(inertias[1].0, inertias[1].1, inertias[1].2);
            a + SpatialTransform::new(rotation, pose.translation).rigid_inertia(&b)
        };
        let merged = ModelBuilder::new()
            .gravity(G)
            .link(Link::new("ab", hinge(axis_1)).mass(whole.mass, whole.center_of_mass(), whole.inertia()))
            .link(link("c", hinge(axis_2), 2).on("ab").at(pose * at))
            .build()
            .unwrap();
        let mut state = State::new(&apart);
        state.q = random_numbers(&mut random, 2);
        state.v = random_numbers(&mut random, 2);
        let (mut wa, mut wm) = (Workspace::new(&apart), Workspace::new(&merged));
        aba(&apart, &state, &[0.3, -0.2], &[], &mut wa).unwrap();
        aba(&merged, &state, &[0.3, -0.2], &[], &mut wm).unwrap();
        assert!(distance(wa.qdd(), wm.qdd()) < 1e-11 * (1.0 + norm(wm.qdd())));
    }
}

#[test]
fn joints_composed_of_massless_links_are_the_joints_they_compose() {
    let mut random = SplitMix64(37);
    for round in 0..300 {
        let (mass, com, inertia) = articulated_featherstone::testkit::random_inertia(&mut random);
        let pose = Pose::new(random.vec3(0.5), random.unit_quat());
        let axis = random.unit_vec3();
        let (joint, parts): (Joint, Vec<Joint>) = match round % 3 {
            0 => {
                let second = random.unit_vec3().cross(axis).normalize();
                (Joint::Universal { first: axis, second }, vec![hinge(axis), hinge(second)])
            }
            1 => (Joint::Cylindrical { axis }, vec![hinge(axis), Joint::Prismatic { axis }]),
            _ => (
                Joint::Planar,
                vec![
                    Joint::Prismatic { axis: DVec3::X },
                    Joint::Prismatic { axis: DVec3::Y },
                    hinge(DVec3::Z),
                ],
            ),
        };
        let (last, front) = parts.split_last().unwrap();
        let tail = Link::new("tail", hinge(DVec3::X)).on("body").mass(0.5, DVec3::Y, Sym3::from_scalar(0.1));
        let whole = ModelBuilder::new()
            .gravity(G)
            .link(Link::new("body", joint).at(pose).mass(mass, com, inertia))
            .link(tail.clone())
            .build()
            .unwrap();
        let chain = ModelBuilder::new()
            .gravity(G)
            .chain(front, Link::new("body", *last).at(pose).mass(mass, com, inertia))
            .link(tail)
            .build()
            .unwrap();
        let mut state = State::new(&whole);
        state.q = random_numbers(&mut random, whole.q_len());
        state.v = random_numbers(&mut random, whole.v_len());
        let tau = random_numbers(&mut random, whole.v_len());
        let (mut ww, mut wc) = (Workspace::new(&whole), Workspace::new(&chain));
        aba(&whole, &state, &tau, &[], &mut ww).unwrap();
        aba(&chain, &state, &tau, &[], &mut wc).unwrap();
        assert!(distance(ww.qdd(), wc.qdd()) < 1e-10 * (1.0 + norm(ww.qdd())), "{joint:?}");
    }
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

#[test]
fn a_scripted_base_acts_like_a_joint_that_follows_the_script() {
    let mut random = SplitMix64(38);
    for _ in 0..200 {
        // The same tree hung on a free link whose acceleration is prescribed by the forces RNEA finds.
        let axis = [random.unit_vec3(), random.unit_vec3()];
        let at = [
            Pose::new(random.vec3(0.5), random.unit_quat()),
            Pose::new(random.vec3(0.5), random.unit_quat()),
        ];
        let arm = |b: ModelBuilder, root: Option<&str>| {
            let mut first =
                Link::new("a", hinge(axis[0])).at(at[0]).mass(1.0, DVec3::X, Sym3::from_scalar(0.1));
            if let Some(root) = root {
                first = first.on(root);
            }
            b.link(first)
                .link(Link::new("b", hinge(axis[1])).at(at[1]).on("a").mass(
                    0.5,
                    DVec3::Y,
                    Sym3::from_scalar(0.2),
                ))
                .build()
                .unwrap()
        };
        let scripted = arm(ModelBuilder::new().gravity(G), None);
        let carried = arm(
            ModelBuilder::new().gravity(G).link(Link::new("base", Joint::Free).mass(
                1.0,
                DVec3::ZERO,
                Sym3::from_scalar(1.0),
            )),
            Some("base"),
        );
        let mut s = State::new(&scripted);
        s.q = random_numbers(&mut random, 2);
        s.v = random_numbers(&mut random, 2);
        s.base = BaseMotion {
            world_from_base: Pose::new(random.vec3(1.0), random.unit_quat()),
            velocity: Motion::new(random.vec3(1.0), random.vec3(1.0)),
            acceleration: Motion::new(random.vec3(1.0), random.vec3(1.0)),
        };
        let mut c = State::new(&carried);
        c.q[..7].copy_from_slice(&articulated_featherstone::free_coordinates(&s.base.world_from_base));
        c.q[7..].copy_from_slice(&s.q);
        c.v[..6].copy_from_slice(&s.base.velocity.to_array());
        c.v[6..].copy_from_slice(&s.v);
        let qdd = random_numbers(&mut random, 2);
        let mut full = s.base.acceleration.to_array().to_vec();
        full.extend(&qdd);
        let (mut ws, mut wc) = (Workspace::new(&scripted), Workspace::new(&carried));
        rnea(&scripted, &s, &qdd, &[], &mut ws).unwrap();
        rnea(&carried, &c, &full, &[], &mut wc).unwrap();
        assert!(distance(ws.tau(), &wc.tau()[6..]) < 1e-11 * (1.0 + norm(ws.tau())));
    }
}

// proves: MIR-74
#[test]
fn damped_oscillator_follows_the_closed_form() {
    // m x'' + c x' + k x = 0 from x = 1 at rest.
    let (m, c, k) = (2.0, 0.6, 50.0_f64);
    let params = DofParams { damping: c, stiffness: k, rest: 0.3, ..DofParams::default() };
    let model = ModelBuilder::new()
        .link(
            Link::new("mass", Joint::Prismatic { axis: DVec3::X })
                .mass(m, DVec3::ZERO, Sym3::ZERO)
                .dof(0, params),
        )
        .build()
        .unwrap();
    let mut state = State::new(&model);
    state.q[0] = 1.3;
    let (decay, omega0) = (c / (2.0 * m), (k / m).sqrt());
    let omega = (omega0 * omega0 - decay * decay).sqrt();
    let mut worst = 0.0_f64;
    run(&model, &state, 1e-3, 5000, |i, now| {
        let t = (i + 1) as f64 * 1e-3;
        let exact = 0.3 + (-decay * t).exp() * ((omega * t).cos() + decay / omega * (omega * t).sin());
        worst = worst.max((now.q[0] - exact).abs());
    });
    assert!(worst < 1e-9, "{worst:e}");
    // Driven: the force of an actuator adds to the passive ones.
    let mut tau = [0.0];
    state.v[0] = 0.5;
    passive_forces(&model, &state, &mut tau).unwrap();
    assert_close!(tau[0], -k * 1.0 - c * 0.5, rel = 1e-15);
}

#[test]
fn dry_friction_stops_a_slider_where_the_closed_form_says() {
    // v0^2 / (2 F/m) = 1 m for v0 = 2, F/m = 2; the ramp below 1 mm/s adds about 1e-6 m.
    let params = DofParams { dry_friction: 6.0, ..DofParams::default() };
    let model = ModelBuilder::new()
        .link(
            Link::new("mass", Joint::Prismatic { axis: DVec3::X })
                .mass(3.0, DVec3::ZERO, Sym3::ZERO)
                .dof(0, params),
        )
        .build()
        .unwrap();
    let mut state = State::new(&model);
    state.v[0] = 2.0;
    let end = run(&model, &state, 1e-4, 12_000, |_, _| {});
    assert_close!(end.q[0], 1.0, abs = 1e-6);
    assert!(end.v[0].abs() < 1e-12);
}

#[test]
fn hard_springs_never_let_a_joint_through() {
    let params = DofParams { hard_stiffness: -5.0, hard_position: -1.0, ..DofParams::default() };
    let model = ModelBuilder::new()
        .gravity(G)
        .link(
            Link::new("mass", Joint::Prismatic { axis: DVec3::Z })
                .mass(1.0, DVec3::ZERO, Sym3::ZERO)
                .dof(0, params),
        )
        .build()
        .unwrap();
    let mut lowest = 0.0_f64;
    run(&model, &State::new(&model), 1e-5, 120_000, |_, now| lowest = lowest.min(now.q[0]));
    // Turning point: what gravity gives, 9.81 h, is what the spring takes, -5 ln(1 - h).
    assert_close!(9.81 * -lowest, -5.0 * (1.0 + lowest).ln(), abs = 1e-6);
    let mut state = State::new(&model);
    state.q[0] = -1.0;
    assert!(passive_forces(&model, &state, &mut [0.0]).is_err());
}

// proves: FON-76
#[test]
fn aligned_axes_of_massless_links_are_an_error_naming_the_link() {
    // Three hinges about one point: the outer two coincide when the middle one is at 0 (about x, y, x).
    let build = || {
        ModelBuilder::new()
            .gravity(G)
            .chain(
                &[hinge(DVec3::X), hinge(DVec3::Y)],
                Link::new("bob", hinge(DVec3::X)).mass(
                    1.0,
                    DVec3::new(0.3, 0.2, 0.5),
                    Sym3::from_diagonal(DVec3::new(0.1, 0.2, 0.25)),
                ),
            )
            .build()
            .unwrap()
    };
    let model = build();
    let mut ws = Workspace::new(&model);
    let mut random = SplitMix64(39);
    for _ in 0..200 {
        let mut state = State::new(&model);
        state.q = vec![random.range(-3.0, 3.0), 0.0, random.range(-3.0, 3.0)];
        let error = aba(&model, &state, &[0.0; 3], &[], &mut ws).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("part 0") && text.contains("singular"), "{text}");
    }
    // Nearly aligned is still right: compare with the dense solve where that has digits.
    for exponent in 1..6 {
        let mut state = State::new(&model);
        state.q = vec![0.3, 10.0_f64.powi(-exponent), 0.5];
        state.v = vec![0.1, 0.2, -0.3];
        aba(&model, &state, &[0.1, 0.2, 0.3], &[], &mut ws).unwrap();
        let qdd = ws.qdd().to_vec();
        bias_forces(&model, &state, &[], &mut ws).unwrap();
        let right: Vec<f64> = [0.1, 0.2, 0.3].iter().zip(ws.tau()).map(|(t, b)| t - b).collect();
        let mut m = vec![0.0; 9];
        crba(&model, &state.q, &mut ws, &mut m).unwrap();
        let expected = dense_solve(&m, &right);
        // The condition number is about 10^(2 exponent).
        let allowed = 1e-14 * 10.0_f64.powi(2 * exponent + 1);
        assert!(
            distance(&qdd, &expected) < allowed * norm(&expected),
            "1e-{exponent}: {:e}",
            distance(&qdd, &expected) / norm(&expected)
        );
    }
}

#[test]
fn mass_ratios_of_a_million_are_solved() {
    let mut random = SplitMix64(40);
    for round in 0..400 {
        let heavy_first = round % 2 == 0;
        let mut builder = ModelBuilder::new().gravity(G);
        for i in 0..6 {
            let heavy = (i == 0) == heavy_first && (i == 0 || i == 5);
            let scale = if heavy { 1e6 } else { 1.0 };
            let (mass, com, inertia) = articulated_featherstone::testkit::random_inertia(&mut random);
            let joint = if i == 0 { Joint::Free } else { random_joint(&mut random) };
            let mut link = Link::new(format!("{i}"), joint)
                .at(Pose::new(random.vec3(0.5), random.unit_quat()))
                .mass(mass * scale, com, inertia * scale);
            if i > 0 {
                link = link.on(format!("{}", i - 1));
            }
            builder = builder.link(link);
        }
        let model = builder.build().unwrap();
        let state = random_state(&mut random, &model, TreeParams::default());
        let tau = random_numbers(&mut random, model.v_len());
        let mut ws = Workspace::new(&model);
        aba(&model, &state, &tau, &[], &mut ws).unwrap();
        let qdd = ws.qdd().to_vec();
        rnea(&model, &state, &qdd, &[], &mut ws).unwrap();
        // Backward error: the forces are met relative to the forces that act.
        let wrenches: f64 = ws.joint_wrenches().iter().map(|f| norm(&f.to_array())).fold(1.0, f64::max);
        let size = wrenches + model.total_mass() * 9.81;
        assert!(distance(ws.tau(), &tau) < 1e-12 * size, "{:e} of {size:e}", distance(ws.tau(), &tau));
    }
}
