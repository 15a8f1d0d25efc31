//! Bad input is an error that names the item and the value.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    DofParams, Joint, Link, ModelBuilder, ModelError, State, Workspace, aba, crba, integrate, rnea,
    testkit::TreeParams,
};
use common::case;
use sim_math::{
    Pose, Sym3,
    glam::{DQuat, DVec3},
    spatial::Force,
    testkit::SplitMix64,
};

fn good(name: &str) -> Link {
    Link::new(name, Joint::Revolute { axis: DVec3::X }).mass(1.0, DVec3::Y, Sym3::from_scalar(1.0))
}

fn refused(link: Link) -> ModelError {
    ModelBuilder::new().link(good("root")).link(link.on("root")).build().unwrap_err()
}

// proves: MIR-14, ARN-13
#[test]
fn trees_that_are_none_are_refused() {
    assert_eq!(ModelBuilder::new().build().unwrap_err(), ModelError::Empty);
    let cycle = ModelBuilder::new()
        .link(good("root"))
        .link(good("a").on("c"))
        .link(good("b").on("a"))
        .link(good("c").on("b"))
        .link(good("tail").on("c"))
        .build()
        .unwrap_err();
    assert!(matches!(&cycle, ModelError::Cycle { path, .. } if path.matches("->").count() == 3), "{cycle}");
    let own = ModelBuilder::new().link(good("self").on("self")).build().unwrap_err();
    assert_eq!(own.to_string(), "link \"self\" is its own ancestor: self -> self");
    let twice = ModelBuilder::new().link(good("a")).link(good("a")).build().unwrap_err();
    assert_eq!(twice, ModelError::DuplicateName { name: "a".into() });
    let orphan = ModelBuilder::new().link(good("a").on("nobody")).build().unwrap_err();
    assert_eq!(orphan.to_string(), "link \"a\": there is no parent \"nobody\"");
}

#[test]
fn bad_numbers_are_refused_with_the_name_of_the_link() {
    let nan = f64::NAN;
    let dof = |p: DofParams| good("bad").dof(0, p);
    let d = DofParams::default;
    let cases = vec![
        Link::new("bad", Joint::Revolute { axis: DVec3::X * 2.0 }).mass(
            1.0,
            DVec3::ZERO,
            Sym3::from_scalar(1.0),
        ),
        Link::new("bad", Joint::Prismatic { axis: DVec3::ZERO }).mass(
            1.0,
            DVec3::ZERO,
            Sym3::from_scalar(1.0),
        ),
        Link::new("bad", Joint::Cylindrical { axis: DVec3::splat(nan) }).mass(1.0, DVec3::ZERO, Sym3::ZERO),
        Link::new("bad", Joint::Helical { axis: DVec3::X, pitch: f64::INFINITY }).mass(
            1.0,
            DVec3::ZERO,
            Sym3::ZERO,
        ),
        Link::new("bad", Joint::Universal { first: DVec3::X, second: DVec3::X }).mass(
            1.0,
            DVec3::ZERO,
            Sym3::ZERO,
        ),
        good("bad").at(Pose::from_translation(DVec3::new(nan, 0.0, 0.0))),
        good("bad").at(Pose::from_rotation(DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0))),
        good("bad").mass(0.0, DVec3::ZERO, Sym3::from_scalar(1.0)),
        good("bad").mass(-1.0, DVec3::ZERO, Sym3::from_scalar(1.0)),
        good("bad").mass(nan, DVec3::ZERO, Sym3::from_scalar(1.0)),
        good("bad").mass(1.0, DVec3::ZERO, Sym3::from_scalar(-1.0)),
        good("bad").mass(1.0, DVec3::ZERO, Sym3::from_diagonal(DVec3::new(1.0, 1.0, 5.0))),
        Link::new("bad", Joint::Revolute { axis: DVec3::X }),
        good("bad").dof(1, d()),
        dof(DofParams { armature: -1.0, ..d() }),
        dof(DofParams { damping: nan, ..d() }),
        dof(DofParams { dry_friction: -1.0, ..d() }),
        dof(DofParams { stiffness: f64::INFINITY, ..d() }),
        dof(DofParams { lower: 1.0, upper: 0.0, ..d() }),
        dof(DofParams { upper: nan, ..d() }),
        dof(DofParams { max_force: -1.0, ..d() }),
        Link::new("bad", Joint::Spherical)
            .mass(1.0, DVec3::ZERO, Sym3::from_scalar(1.0))
            .dof(0, DofParams { stiffness: 1.0, ..d() }),
    ];
    for (i, link) in cases.into_iter().enumerate() {
        let text = refused(link).to_string();
        assert!(text.contains("\"bad\""), "case {i}: {text}");
    }
    assert!(ModelBuilder::new().gravity(DVec3::splat(nan)).link(good("a")).build().is_err());
}

#[test]
fn bad_states_are_refused_and_never_panic() {
    let mut random = SplitMix64(91);
    for _ in 0..200 {
        let params = TreeParams { links: 1 + random.below(6), floating: true, ..TreeParams::default() };
        let (model, state, mut ws) = case(&mut random, params);
        let nv = model.v_len();
        let tau = vec![0.0; nv];
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut s = state.clone();
            let k = random.below(s.q.len());
            s.q[k] = bad;
            let text = aba(&model, &s, &tau, &[], &mut ws).unwrap_err().to_string();
            assert!(text.starts_with(&format!("coordinate {k}")), "{text}");
            assert!(rnea(&model, &s, &tau, &[], &mut ws).is_err());
            let mut m = vec![0.0; nv * nv];
            assert!(crba(&model, &s.q, &mut ws, &mut m).is_err());
            let mut s = state.clone();
            let k = random.below(nv);
            s.v[k] = bad;
            assert!(aba(&model, &s, &tau, &[], &mut ws).is_err());
            let mut t = tau.clone();
            t[k] = bad;
            assert!(aba(&model, &state, &t, &[], &mut ws).is_err());
            let mut s = state.clone();
            s.base.velocity.linear.x = bad;
            assert!(aba(&model, &s, &tau, &[], &mut ws).is_err());
            let wrench = Force::new(DVec3::splat(bad), DVec3::ZERO);
            let external = vec![wrench; model.link_count()];
            assert!(aba(&model, &state, &tau, &external, &mut ws).is_err());
        }
        let mut s = state.clone();
        s.q[3..7].fill(0.0);
        assert!(aba(&model, &s, &tau, &[], &mut ws).is_err());
        assert!(integrate(&model, &mut s.q, &s.v, 0.1).is_err());
        assert!(aba(&model, &state, &tau[1..], &[], &mut ws).is_err());
        assert!(aba(&model, &state, &tau, &[Force::ZERO; 99], &mut ws).is_err());
        let (other, ..) = case(&mut random, TreeParams { links: 9, ..TreeParams::default() });
        assert!(aba(&model, &state, &tau, &[], &mut Workspace::new(&other)).is_err());
        // Numbers near the end of the range overflow: an error, not a panic and not infinity.
        let mut s = state.clone();
        s.v.fill(1e200);
        assert!(aba(&model, &s, &tau, &[], &mut ws).is_err());
    }
}

#[test]
fn states_tell_themselves_apart() {
    let mut random = SplitMix64(92);
    let (model, state, _) = case(&mut random, TreeParams::default());
    assert_eq!(state.digest(), state.clone().digest());
    let mut other = state.clone();
    other.v[0] += 1e-16 + other.v[0].abs() * 1e-15;
    assert_ne!(state.digest(), other.digest());
    assert!(State::new(&model).check(&model).is_ok());
}
