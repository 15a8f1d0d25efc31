//! Links described in a frame of their own.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::disallowed_methods,
    reason = "tests may panic, compare exactly on purpose and use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    Joint, Link, Model, ModelBuilder, ModelError, State, Workspace, aba, compute_accelerations,
    point_jacobian, rnea,
    testkit::{random_inertia, random_joint, random_numbers, random_state},
};
use common::{distance, norm};
use sim_math::{
    Pose, Sym3,
    glam::{DQuat, DVec3},
    spatial::{Force, RigidInertia, SpatialTransform},
    testkit::SplitMix64,
};

/// One mechanism twice: all in the frames of the joints, and with a frame for every link.
fn twice(random: &mut SplitMix64, links: usize) -> (Model, Model, Vec<SpatialTransform>) {
    let gravity = random.vec3(9.0);
    let mut plain = ModelBuilder::new().gravity(gravity);
    let mut framed = ModelBuilder::new().gravity(gravity);
    let mut frames: Vec<Pose> = Vec::new();
    for i in 0..links {
        let joint = random_joint(random);
        let frame = Pose::new(random.vec3(0.5), random.unit_quat());
        let (mass, com, inertia) = random_inertia(random);
        let at = Pose::new(random.vec3(0.5), random.unit_quat());
        // The joint frame as the parent's own frame sees it, and the inertia as the link's own frame sees it.
        let mut a = Link::new(i.to_string(), joint).at(at).mass(mass, com, inertia);
        let own = SpatialTransform::from_pose(&frame)
            .inverse_rigid_inertia(&RigidInertia::from_com(mass, com, inertia));
        let mut b =
            Link::new(i.to_string(), joint).frame(frame).mass(mass, own.center_of_mass(), own.inertia());
        if i > 0 {
            let parent = i - 1 - random.below(i.min(2));
            a = a.on(parent.to_string());
            b = b.on(parent.to_string()).at(frames[parent].inverse() * at);
        } else {
            b = b.at(at);
        }
        plain = plain.link(a);
        framed = framed.link(b);
        frames.push(frame);
    }
    let (plain, framed) = (plain.build().unwrap(), framed.build().unwrap());
    let order = |link: u32| frames[plain.name(link).parse::<usize>().unwrap()];
    let frames = (0..links as u32).map(|i| SpatialTransform::from_pose(&order(i))).collect();
    (plain, framed, frames)
}

#[test]
fn a_frame_of_its_own_changes_what_is_seen_and_not_what_happens() {
    let mut random = SplitMix64(101);
    for round in 0..300 {
        let (plain, framed, frames) = twice(&mut random, 1 + round % 8);
        let state = random_state(&mut random, &plain, Default::default());
        let (mut wp, mut wf) = (Workspace::new(&plain), Workspace::new(&framed));
        let tau = random_numbers(&mut random, plain.v_len());
        // The same wrenches, each in its link's frame.
        let there: Vec<Force> =
            frames.iter().map(|_| Force::new(random.vec3(1.0), random.vec3(1.0))).collect();
        let here: Vec<Force> = there.iter().zip(&frames).map(|(f, x)| x.force(*f)).collect();
        aba(&plain, &state, &tau, &here, &mut wp).unwrap();
        aba(&framed, &state, &tau, &there, &mut wf).unwrap();
        let qdd = wp.qdd().to_vec();
        assert!(distance(wf.qdd(), &qdd) < 1e-10 * (1.0 + norm(&qdd)), "{:e}", distance(wf.qdd(), &qdd));
        rnea(&plain, &state, &qdd, &here, &mut wp).unwrap();
        rnea(&framed, &state, &qdd, &there, &mut wf).unwrap();
        let size = 1.0 + wp.joint_wrenches().iter().map(|f| norm(&f.to_array())).fold(0.0, f64::max);
        assert!(distance(wf.tau(), wp.tau()) < 1e-11 * size);
        compute_accelerations(&plain, &state, &qdd, &mut wp).unwrap();
        compute_accelerations(&framed, &state, &qdd, &mut wf).unwrap();
        for (i, x) in frames.iter().enumerate() {
            let pose = wp.world_from_links()[i] * *x;
            let seen = wf.world_from_links()[i];
            assert!((pose.translation - seen.translation).length() < 1e-13);
            assert!((pose.rotation - seen.rotation).to_cols_array().iter().all(|e| e.abs() < 1e-13));
            let v = x.inverse_motion(wp.velocities()[i]).to_array();
            assert!(distance(&v, &wf.velocities()[i].to_array()) < 1e-12 * (1.0 + norm(&v)));
            let a = x.inverse_motion(wp.proper_accelerations()[i]).to_array();
            assert!(distance(&a, &wf.proper_accelerations()[i].to_array()) < 1e-11 * (1.0 + norm(&a)));
            // A material point has one velocity, whatever frame names it.
            let nv = plain.v_len();
            let (mut jp, mut jf) = (vec![0.0; 3 * nv], vec![0.0; 3 * nv]);
            let point = random.vec3(0.5);
            point_jacobian(&framed, &wf, i as u32, point, &mut jf).unwrap();
            point_jacobian(&plain, &wp, i as u32, point, &mut jp).unwrap();
            assert!(distance(&jp, &jf) < 1e-12 * (1.0 + norm(&jp)));
        }
    }
}

#[test]
fn frames_that_are_none_are_refused() {
    let link = |frame| {
        Link::new("arm", Joint::Spherical).frame(frame).mass(1.0, DVec3::ZERO, Sym3::from_scalar(1.0))
    };
    let build = |frame| ModelBuilder::new().link(link(frame)).build();
    let error = build(Pose::from_translation(DVec3::new(0.0, f64::NAN, 0.0))).unwrap_err();
    assert!(matches!(error, ModelError::NonFinite { what: "frame position", .. }), "{error}");
    let error = build(Pose::new(DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0))).unwrap_err();
    assert_eq!(error.to_string(), "link \"arm\": length of the frame rotation is 2, expected length 1");
    let model = build(Pose::from_translation(DVec3::X)).unwrap();
    assert_eq!(model.link_frame(0).unwrap().translation, DVec3::X);
    let mut ws = Workspace::new(&model);
    articulated_featherstone::compute_poses(&model, &State::new(&model), &mut ws).unwrap();
    assert_eq!(ws.world_from_links()[0].translation, DVec3::X);
}
