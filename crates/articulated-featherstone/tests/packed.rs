//! The packed algorithms against the general ones.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    Joint, Lanes4, Link, Model, ModelBuilder, PackedTree, PackedWorkspace, State, Workspace, aba, crba,
    packed_aba, packed_crba, packed_crba_upper, packed_rnea, rnea,
    testkit::{TreeParams, random_numbers, random_state, random_wrenches, read_tree, read_turned_tree},
};
use common::{case, distance, norm, random_params};
use sim_math::{
    Pose, Sym3,
    glam::DVec3,
    spatial::Force,
    testkit::{SplitMix64, soak},
};

const MODELS: [&str; 5] = [
    include_str!("models/arm6.tree"),
    include_str!("models/chain10.tree"),
    include_str!("models/humanoid30.tree"),
    include_str!("models/chain50.tree"),
    include_str!("models/chain100.tree"),
];

fn compare(model: &Model, state: &State, tau: &[f64], wrenches: &[Force], ws: &mut Workspace) {
    let nv = model.v_len();
    let flat: Vec<[f64; 6]> = wrenches.iter().map(|f| f.to_array()).collect();
    let tree = PackedTree::new(model).unwrap();
    let mut pw = PackedWorkspace::new(&tree);
    let mut got = vec![0.0; nv];
    aba(model, state, tau, wrenches, ws).unwrap();
    let qdd = ws.qdd().to_vec();
    packed_aba(&tree, &state.base, &state.q, &state.v, tau, &flat, &mut pw, &mut got).unwrap();
    let error = distance(&got, &qdd) / norm(&qdd);
    assert!(error < 1e-10, "aba {error:e}");
    rnea(model, state, &qdd, wrenches, ws).unwrap();
    let size: f64 = 1.0 + ws.joint_wrenches().iter().map(|f| norm(&f.to_array())).fold(0.0, f64::max);
    packed_rnea(&tree, &state.base, &state.q, &state.v, &qdd, &flat, &mut pw, &mut got).unwrap();
    assert!(distance(&got, ws.tau()) < 1e-11 * size, "rnea {:e}", distance(&got, ws.tau()));
    let (mut a, mut b) = (vec![0.0; nv * nv], vec![0.0; nv * nv]);
    crba(model, &state.q, ws, &mut a).unwrap();
    packed_crba(&tree, &state.q, &mut pw, &mut b).unwrap();
    assert!(distance(&a, &b) < 1e-12 * norm(&a), "crba {:e}", distance(&a, &b) / norm(&a));
    // The upper half alone, over what another configuration left behind.
    let mut upper = vec![f64::NAN; nv * nv];
    packed_crba_upper(&tree, &state.q, &mut pw, &mut upper).unwrap();
    assert!((0..nv).all(|r| (r..nv).all(|c| upper[r * nv + c].to_bits() == b[r * nv + c].to_bits())));
    assert!((0..nv).all(|r| (0..r).all(|c| b[r * nv + c].to_bits() == b[c * nv + r].to_bits())));
}

#[test]
fn soak_packed_agrees_with_general() {
    let mut random = soak::random(81);
    for _ in 0..soak::cases(10_000) {
        let params = TreeParams { simple_joints: true, ..random_params(&mut random) };
        let (model, state, mut ws) = case(&mut random, params);
        if PackedTree::new(&model).is_err() {
            assert!(params.floating && params.armature, "only rotors on the free root are refused");
            continue;
        }
        let tau = random_numbers(&mut random, model.v_len());
        let wrenches = random_wrenches(&mut random, &model);
        compare(&model, &state, &tau, &wrenches[..wrenches.len() * random.below(2)], &mut ws);
    }
    // Deep trees, where the mass matrix is made in the base frame.
    for round in 0..50 {
        let params = TreeParams {
            links: 20 + random.below(60),
            chain: 0.95,
            floating: round % 2 == 0,
            simple_joints: true,
            ..TreeParams::default()
        };
        let (model, state, mut ws) = case(&mut random, params);
        let tau = random_numbers(&mut random, model.v_len());
        let wrenches = random_wrenches(&mut random, &model);
        compare(&model, &state, &tau, &wrenches[..wrenches.len() * random.below(2)], &mut ws);
    }
    for text in MODELS {
        let (model, state, tau) = read_tree(text).unwrap();
        compare(&model, &state, &tau, &[], &mut Workspace::new(&model));
        // The same with every joint turned.
        let (model, state, tau) = read_turned_tree(text, &mut random).unwrap();
        let wrenches = random_wrenches(&mut random, &model);
        compare(&model, &state, &tau, &wrenches, &mut Workspace::new(&model));
    }
}

#[test]
fn packed_handles_axes_on_and_against_the_coordinate_axes() {
    let mut random = SplitMix64(82);
    for _ in 0..500 {
        let mut builder = ModelBuilder::new().gravity(random.vec3(9.0));
        for i in 0..6 {
            let axis = [DVec3::X, DVec3::Y, DVec3::Z][random.below(3)]
                * if random.below(2) == 0 { 1.0 } else { -1.0 };
            let joint =
                if random.below(3) == 0 { Joint::Prismatic { axis } } else { Joint::Revolute { axis } };
            let (mass, com, inertia) = articulated_featherstone::testkit::random_inertia(&mut random);
            let mut link = Link::new(format!("{i}"), joint)
                .at(Pose::from_translation(random.vec3(0.5)))
                .mass(mass, com, inertia);
            if i > 0 {
                link = link.on(format!("{}", random.below(i)));
            }
            builder = builder.link(link);
        }
        let model = builder.build().unwrap();
        let state =
            random_state(&mut random, &model, TreeParams { moving_base: true, ..TreeParams::default() });
        let tau = random_numbers(&mut random, 6);
        let wrenches = random_wrenches(&mut random, &model);
        compare(&model, &state, &tau, &wrenches, &mut Workspace::new(&model));
    }
}

#[test]
fn four_lanes_have_the_bits_of_one() {
    let mut random = SplitMix64(83);
    for round in 0..200 {
        let params = TreeParams { simple_joints: true, armature: false, ..random_params(&mut random) };
        let (model, first) = if round < 5 {
            let (model, state, _) = read_tree(MODELS[round]).unwrap();
            (model, state)
        } else {
            let (model, state, _) = case(&mut random, params);
            (model, state)
        };
        let tree = PackedTree::new(&model).unwrap();
        let (nq, nv) = (model.q_len(), model.v_len());
        let states: Vec<State> = (0..4).map(|_| random_state(&mut random, &model, params)).collect();
        let taus: Vec<Vec<f64>> = (0..4).map(|_| random_numbers(&mut random, nv)).collect();
        let gather = |n: usize, of: &dyn Fn(usize, usize) -> f64| -> Vec<Lanes4> {
            (0..n).map(|k| Lanes4(std::array::from_fn(|lane| of(lane, k)))).collect()
        };
        let q = gather(nq, &|lane, k| states[lane].q[k]);
        let v = gather(nv, &|lane, k| states[lane].v[k]);
        let tau = gather(nv, &|lane, k| taus[lane][k]);
        let pushes: Vec<Vec<Force>> = (0..4).map(|_| random_wrenches(&mut random, &model)).collect();
        let wrenches: Vec<[Lanes4; 6]> = (0..model.link_count())
            .map(|i| {
                std::array::from_fn(|c| Lanes4(std::array::from_fn(|lane| pushes[lane][i].to_array()[c])))
            })
            .collect();
        let (mut wide, mut single) = (PackedWorkspace::new(&tree), PackedWorkspace::new(&tree));
        let (mut qdd, mut force) = (vec![Lanes4::default(); nv], vec![Lanes4::default(); nv]);
        packed_aba(&tree, &first.base, &q, &v, &tau, &wrenches, &mut wide, &mut qdd).unwrap();
        packed_rnea(&tree, &first.base, &q, &v, &tau, &wrenches, &mut wide, &mut force).unwrap();
        let mut m = vec![Lanes4::default(); nv * nv];
        packed_crba(&tree, &q, &mut wide, &mut m).unwrap();
        let (mut one, mut matrix) = (vec![0.0; nv], vec![0.0; nv * nv]);
        for lane in 0..4 {
            let alone: Vec<[f64; 6]> = pushes[lane].iter().map(|f| f.to_array()).collect();
            packed_crba(&tree, &states[lane].q, &mut single, &mut matrix).unwrap();
            assert!((0..nv * nv).all(|k| matrix[k].to_bits() == m[k].0[lane].to_bits()));
            packed_aba(
                &tree,
                &first.base,
                &states[lane].q,
                &states[lane].v,
                &taus[lane],
                &alone,
                &mut single,
                &mut one,
            )
            .unwrap();
            assert!((0..nv).all(|k| one[k].to_bits() == qdd[k].0[lane].to_bits()));
            packed_rnea(
                &tree,
                &first.base,
                &states[lane].q,
                &states[lane].v,
                &taus[lane],
                &alone,
                &mut single,
                &mut one,
            )
            .unwrap();
            assert!((0..nv).all(|k| one[k].to_bits() == force[k].0[lane].to_bits()));
        }
    }
}

#[test]
fn what_cannot_be_packed_is_named() {
    let model = ModelBuilder::new()
        .link(Link::new("body", Joint::Free).mass(1.0, DVec3::ZERO, Sym3::from_scalar(1.0)))
        .link(Link::new("ball", Joint::Spherical).on("body").mass(1.0, DVec3::ZERO, Sym3::from_scalar(1.0)))
        .build()
        .unwrap();
    let error = PackedTree::new(&model).unwrap_err();
    assert_eq!(error.link, "ball");
    let (model, state, tau) = read_tree(MODELS[0]).unwrap();
    let tree = PackedTree::new(&model).unwrap();
    let mut ws = PackedWorkspace::new(&tree);
    let mut out = vec![0.0; 6];
    assert!(packed_aba(&tree, &state.base, &state.q[1..], &state.v, &tau, &[], &mut ws, &mut out).is_err());
    let mut bad = state.q.clone();
    bad[2] = f64::NAN;
    let error = packed_aba(&tree, &state.base, &bad, &state.v, &tau, &[], &mut ws, &mut out).unwrap_err();
    assert_eq!(error.to_string(), "coordinates 2 is not finite: NaN");
    let short = [[0.0; 6]; 2];
    assert!(packed_aba(&tree, &state.base, &state.q, &state.v, &tau, &short, &mut ws, &mut out).is_err());
    let infinite = [[f64::INFINITY; 6]; 6];
    assert!(packed_rnea(&tree, &state.base, &state.q, &state.v, &tau, &infinite, &mut ws, &mut out).is_err());
}
