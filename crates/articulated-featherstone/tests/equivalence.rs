//! The same mechanism described in two ways.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    BaseMotion, Joint, Link, ModelBuilder, State, Workspace, aba, compute_velocities, rnea,
    testkit::{TreeParams, random_numbers},
};
use common::{
    case, distance,
    motion::{G, hinge, run, weightless},
    norm, random_params,
};
use sim_math::{
    Pose, Sym3,
    glam::{DMat3, DQuat, DVec3},
    spatial::{Force, Motion},
    testkit::SplitMix64,
};

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

// proves: FON-75
#[test]
fn a_root_without_children_moves_as_a_free_body() {
    // Newton and Euler in the world: position, quaternion, linear and angular momentum, under gravity.
    let (mass, moments, g) = (2.0, DVec3::new(0.3, 0.5, 0.7), DVec3::new(0.3, -0.2, -9.81));
    let model = ModelBuilder::new()
        .gravity(g)
        .link(Link::new("body", Joint::Free).mass(mass, DVec3::ZERO, Sym3::from_diagonal(moments)))
        .build()
        .unwrap();
    let mut state = State::new(&model);
    let (omega, velocity) = (DVec3::new(0.8, 2.0, -1.1), DVec3::new(1.0, -0.5, 2.0));
    state.v[..3].copy_from_slice(&omega.to_array());
    state.v[3..].copy_from_slice(&velocity.to_array());
    let (dt, steps) = (1e-4, 5000);
    let end = run(&model, &state, dt, steps, |_, _| {});
    let spin = moments * omega;
    let rate = |q: DQuat| {
        let turn = DMat3::from_quat(q.normalize());
        let omega = turn * ((turn.transpose() * spin) / moments);
        DQuat::from_xyzw(omega.x, omega.y, omega.z, 0.0) * q * 0.5
    };
    let mut q = DQuat::IDENTITY;
    for _ in 0..steps {
        let a = rate(q);
        let b = rate(q + a * (0.5 * dt));
        let c = rate(q + b * (0.5 * dt));
        let d = rate(q + c * dt);
        q = (q + (a + b * 2.0 + c * 2.0 + d) * (dt / 6.0)).normalize();
    }
    let t = dt * steps as f64;
    let p = velocity * t + g * (0.5 * t * t);
    let got = DQuat::from_slice(&end.q[3..]).normalize();
    let off = (got - q).length().min((got + q).length());
    println!("place off by {:e}, turn by {off:e}", (DVec3::from_slice(&end.q) - p).length());
    assert!((DVec3::from_slice(&end.q) - p).length() < 1e-12);
    assert!(off < 1e-12, "{off:e}");
}
