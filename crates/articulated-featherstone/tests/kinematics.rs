//! Poses, velocities, accelerations, Jacobians and steps against finite differences.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    Joint, Link, ModelBuilder, State, Workspace, body_jacobian, center_of_mass, centroidal_matrix,
    compute_accelerations, compute_poses, compute_velocities, crba, difference, integrate, kinetic_energy,
    momentum_about, point_jacobian, position_rate,
    testkit::{TreeParams, random_numbers},
    world_jacobian,
};
use common::{case, dense_mul, distance, dot, norm, random_params};
use sim_math::{
    Pose, Sym3,
    glam::DVec3,
    rotation::quat_exp,
    spatial::{Motion, SpatialTransform},
    testkit::{SplitMix64, soak},
};

/// The state after `dt` of constant joint and base acceleration, to second order.
fn moved(model: &articulated_featherstone::Model, state: &State, qdd: &[f64], dt: f64) -> State {
    let mut next = state.clone();
    let middle: Vec<f64> = state.v.iter().zip(qdd).map(|(v, a)| v + 0.5 * a * dt).collect();
    integrate(model, &mut next.q, &middle, dt).unwrap();
    for (v, a) in next.v.iter_mut().zip(qdd) {
        *v += a * dt;
    }
    let base = &state.base;
    let twist = base.velocity + base.acceleration * (0.5 * dt);
    let rotation = base.world_from_base.rotation;
    // Body twist to second order: shift along the axes at half the turn.
    let half = rotation * quat_exp(twist.angular * (0.5 * dt));
    next.base.world_from_base = Pose::new(
        base.world_from_base.translation + half * twist.linear * dt,
        (rotation * quat_exp(twist.angular * dt)).normalize(),
    );
    next.base.velocity = base.velocity + base.acceleration * dt;
    next
}

// proves: MIR-57, ARN-15, ARN-26, MIR-59
#[test]
fn soak_velocities_and_accelerations_are_derivatives() {
    let mut random = soak::random(11);
    for _ in 0..soak::cases(300) {
        let params = random_params(&mut random);
        let (model, state, mut ws) = case(&mut random, params);
        let qdd = random_numbers(&mut random, model.v_len());
        compute_accelerations(&model, &state, &qdd, &mut ws).unwrap();
        let h = 1e-5;
        let (ahead, behind) = (moved(&model, &state, &qdd, h), moved(&model, &state, &qdd, -h));
        let (mut wa, mut wb) = (Workspace::new(&model), Workspace::new(&model));
        compute_velocities(&model, &ahead, &mut wa).unwrap();
        compute_velocities(&model, &behind, &mut wb).unwrap();
        for i in 0..model.link_count() {
            let size = 1.0 + norm(&ws.velocities()[i].to_array()).powi(2);
            // Body twist from the relative pose: rotation vector and shift over 2 h.
            let relative = wb.world_from_links()[i].inverse() * wa.world_from_links()[i];
            let pose = relative.to_pose();
            let turn = sim_math::rotation::quat_log(pose.rotation);
            let twist = Motion::new(turn, quat_exp(turn * -0.5) * pose.translation) * (0.5 / h);
            assert!(distance(&twist.to_array(), &ws.velocities()[i].to_array()) < 1e-8 * size);
            // The six numbers of the velocity in link axes change at the rate a.
            let rate = (wa.velocities()[i] - wb.velocities()[i]) * (0.5 / h);
            let expected = ws.acceleration_in_space(&model, i as u32).unwrap();
            let size = 1.0 + norm(&expected.to_array()) * size;
            assert!(distance(&rate.to_array(), &expected.to_array()) < 1e-7 * size);
        }
    }
}

#[test]
fn jacobians_times_velocity_are_velocities() {
    let mut random = SplitMix64(12);
    for _ in 0..300 {
        let mut params = random_params(&mut random);
        params.moving_base = false;
        let (model, mut state, mut ws) = case(&mut random, params);
        state.base.world_from_base = Pose::new(random.vec3(1.0), random.unit_quat());
        let nv = model.v_len();
        let (mut body, mut world, mut point) = (vec![0.0; 6 * nv], vec![0.0; 6 * nv], vec![0.0; 3 * nv]);
        assert!(body_jacobian(&model, &ws, 0, &mut body).is_err());
        compute_velocities(&model, &state, &mut ws).unwrap();
        let link = random.below(model.link_count()) as u32;
        let x = random.vec3(2.0);
        body_jacobian(&model, &ws, link, &mut body).unwrap();
        world_jacobian(&model, &ws, link, &mut world).unwrap();
        point_jacobian(&model, &ws, link, x, &mut point).unwrap();
        let v = ws.velocities()[link as usize];
        let in_world = ws.world_from_links()[link as usize].motion(v);
        let size = 1.0 + norm(&in_world.to_array());
        if nv > 0 {
            assert!(distance(&dense_mul(&body, &state.v), &v.to_array()) < 1e-12 * size);
            assert!(distance(&dense_mul(&world, &state.v), &in_world.to_array()) < 1e-12 * size);
            assert!(
                distance(&dense_mul(&point, &state.v), &in_world.velocity_at(x).to_array())
                    < 1e-12 * size * 4.0
            );
        }
        assert!(point_jacobian(&model, &ws, 999, x, &mut point).is_err());
    }
}

#[test]
fn centroidal_matrix_times_velocity_is_momentum_and_energy_is_half_v_m_v() {
    let mut random = SplitMix64(13);
    for _ in 0..300 {
        let mut params = random_params(&mut random);
        params.moving_base = false;
        let (model, mut state, mut ws) = case(&mut random, params);
        state.base.world_from_base = Pose::new(random.vec3(1.0), random.unit_quat());
        let nv = model.v_len();
        compute_velocities(&model, &state, &mut ws).unwrap();
        let center = center_of_mass(&model, &ws).unwrap();
        let momentum = momentum_about(&model, &ws, center).unwrap();
        let energy = kinetic_energy(&model, &state, &ws).unwrap();
        let mut a = vec![0.0; 6 * nv];
        centroidal_matrix(&model, &mut ws, &mut a).unwrap();
        if nv > 0 {
            let size = 1.0 + norm(&a);
            assert!(distance(&dense_mul(&a, &state.v), &momentum.to_array()) < 1e-12 * size);
        }
        let mut m = vec![0.0; nv * nv];
        crba(&model, &state.q, &mut ws, &mut m).unwrap();
        let expected = 0.5 * dot(&dense_mul(&m, &state.v), &state.v);
        assert!((energy - expected).abs() < 1e-12 * (1.0 + expected.abs()) * nv.max(1) as f64);
        // The centre of mass moves with the linear momentum.
        compute_poses(&model, &moved(&model, &state, &vec![0.0; nv], 1e-5), &mut ws).unwrap();
        let ahead = center_of_mass(&model, &ws).unwrap();
        compute_poses(&model, &moved(&model, &state, &vec![0.0; nv], -1e-5), &mut ws).unwrap();
        let rate = (ahead - center_of_mass(&model, &ws).unwrap()) * 0.5e5;
        let expected = momentum.linear / model.total_mass();
        assert!((rate - expected).length() < 1e-7 * (1.0 + expected.length()));
    }
}

#[test]
fn difference_undoes_integrate_and_rate_is_its_derivative() {
    let mut random = SplitMix64(14);
    for _ in 0..1000 {
        let params = random_params(&mut random);
        let (model, state, _) = case(&mut random, params);
        let nv = model.v_len();
        let scale = [1e-6, 0.05, 1.0][random.below(3)];
        let v: Vec<f64> = random_numbers(&mut random, nv).iter().map(|x| x * scale).collect();
        let mut to = state.q.clone();
        integrate(&model, &mut to, &v, 1.0).unwrap();
        let mut back = vec![0.0; nv];
        difference(&model, &state.q, &to, &mut back).unwrap();
        assert!(distance(&v, &back) < 1e-13 * (1.0 + norm(&v)), "{:e}", distance(&v, &back));
        // Two halves of a steady motion make the whole.
        let mut halves = state.q.clone();
        integrate(&model, &mut halves, &v, 0.5).unwrap();
        integrate(&model, &mut halves, &v, 0.5).unwrap();
        assert!(distance(&halves, &to) < 1e-14 * (1.0 + norm(&to)) * 4.0);
        let mut rate = vec![0.0; model.q_len()];
        position_rate(&model, &state.q, &v, &mut rate).unwrap();
        let (mut ahead, mut behind) = (state.q.clone(), state.q.clone());
        integrate(&model, &mut ahead, &v, 1e-4).unwrap();
        integrate(&model, &mut behind, &v, -1e-4).unwrap();
        let measured: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) * 0.5e4).collect();
        assert!(distance(&measured, &rate) < 1e-7 * (norm(&v) + 1e-4));
    }
}

// proves: ARN-14
#[test]
fn accelerations_do_not_depend_on_where_the_world_origin_is() {
    let mut random = SplitMix64(15);
    for _ in 0..300 {
        let params = TreeParams { moving_base: false, ..random_params(&mut random) };
        let (model, mut state, mut ws) = case(&mut random, params);
        let tau = random_numbers(&mut random, model.v_len());
        articulated_featherstone::aba(&model, &state, &tau, &[], &mut ws).unwrap();
        let first = ws.qdd().to_vec();
        // Shifted and turned about the direction of gravity.
        let turn = quat_exp(model.gravity().normalize() * random.range(-3.0, 3.0));
        state.base.world_from_base = Pose::new(random.vec3(100.0), turn);
        articulated_featherstone::aba(&model, &state, &tau, &[], &mut ws).unwrap();
        assert!(
            distance(&first, ws.qdd()) < 1e-10 * (1.0 + norm(&first)),
            "{:e}",
            distance(&first, ws.qdd())
        );
    }
}

#[test]
fn a_tree_may_be_given_in_any_order_and_comes_out_depth_first() {
    let point =
        |name: &str| Link::new(name, Joint::Revolute { axis: DVec3::X }).mass(1.0, DVec3::Y, Sym3::ZERO);
    let model = ModelBuilder::new()
        .link(point("hand").on("arm"))
        .link(point("leg").on("body"))
        .link(point("body"))
        .link(point("foot").on("leg"))
        .link(point("arm").on("body"))
        .build()
        .unwrap();
    let names: Vec<&str> = (0..5).map(|i| model.name(i)).collect();
    assert_eq!(names, ["body", "leg", "foot", "arm", "hand"]);
    assert_eq!(model.parent(4), Some(3));
    assert_eq!(model.subtree_end(1), 3);
    assert_eq!(model.common_ancestor(2, 4), Some(0));
    assert!(model.is_ancestor(0, 4) && !model.is_ancestor(1, 3));
    assert_eq!(SpatialTransform::IDENTITY.point(DVec3::X), DVec3::X);
}

// proves: MIR-61, FON-64
#[test]
fn parents_come_before_children_and_subtrees_are_contiguous() {
    let mut random = SplitMix64(16);
    for _ in 0..300 {
        let params = random_params(&mut random);
        let (model, ..) = case(&mut random, params);
        for i in 0..model.link_count() as u32 {
            assert!(model.parent(i).is_none_or(|p| p < i));
            for j in 0..model.link_count() as u32 {
                let mut at = Some(j);
                while at.is_some_and(|k| k != i) {
                    at = at.and_then(|k| model.parent(k));
                }
                assert_eq!(at.is_some(), model.is_ancestor(i, j));
            }
        }
    }
}

// proves: MIR-64
#[test]
fn exported_accelerations_predict_where_links_go() {
    let mut random = SplitMix64(17);
    for _ in 0..100 {
        let params = TreeParams { moving_base: false, ..random_params(&mut random) };
        let (model, mut state, mut ws) = case(&mut random, params);
        // Held for the step, so that the motion is smooth and its third derivative bounded.
        let qdd = random_numbers(&mut random, model.v_len());
        compute_accelerations(&model, &state, &qdd, &mut ws).unwrap();
        let link = random.below(model.link_count());
        let pose = ws.world_from_links()[link];
        let (v, a) = (ws.velocities()[link], ws.acceleration_in_space(&model, link as u32).unwrap());
        let p = pose.translation;
        let velocity = pose.rotation * v.linear;
        let acceleration = pose.rotation * (a.linear + v.angular.cross(v.linear));
        let start = state.clone();
        let mut after = |dt: f64| {
            // q at v dt + qdd dt^2 / 2: right to third order on every joint.
            let mean: Vec<f64> = start.v.iter().zip(&qdd).map(|(v, a)| v + 0.5 * dt * a).collect();
            state.q.copy_from_slice(&start.q);
            integrate(&model, &mut state.q, &mean, dt).unwrap();
            compute_poses(&model, &state, &mut ws).unwrap();
            ws.world_from_links()[link].translation
        };
        let mut error = |dt: f64| (after(dt) - (p + velocity * dt + acceleration * (0.5 * dt * dt))).length();
        let (coarse, fine) = (error(2e-2), error(1e-2));
        assert!(fine <= coarse / 6.0 + 1e-12 * (1.0 + p.length()), "{coarse:e} {fine:e}: not of third order");
        // The padded box of a link holds its origin during the step, which is what the broad phase asks.
        let dt = 5e-3;
        let swept = sim_math::swept::link_box(p, velocity, acceleration, dt, 1e-3).unwrap();
        for k in 0..=4 {
            let x = after(dt * f64::from(k) / 4.0);
            assert!(swept.min.cmple(x).all() && swept.max.cmpge(x).all());
        }
    }
}
