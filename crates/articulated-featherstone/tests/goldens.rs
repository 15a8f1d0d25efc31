//! Accelerations and bias forces against Pinocchio and MuJoCo (see `golden/make.py`).
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    Joint, Link, Model, ModelBuilder, PackedTree, PackedWorkspace, State, Workspace, aba, bias_forces,
    packed_aba,
};
use common::{distance, norm};
use serde::Deserialize;
use sim_math::{
    Pose, Sym3,
    glam::{DQuat, DVec3},
};

#[derive(Deserialize)]
struct File {
    tool: String,
    cases: Vec<Golden>,
}

#[derive(Deserialize)]
struct GoldenLink {
    parent: i64,
    joint: String,
    axis: [f64; 3],
    position: [f64; 3],
    rotation: [f64; 4],
    mass: f64,
    com: [f64; 3],
    inertia: [f64; 6],
}

#[derive(Deserialize)]
struct Golden {
    name: String,
    links: Vec<GoldenLink>,
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
    qdd: Vec<f64>,
    bias: Option<Vec<f64>>,
}

impl Golden {
    fn model(&self) -> Model {
        let mut builder = ModelBuilder::new().gravity(DVec3::new(0.0, 0.0, -9.81));
        for (i, l) in self.links.iter().enumerate() {
            let axis = l.axis.into();
            let joint = match l.joint.as_str() {
                "rev" => Joint::Revolute { axis },
                "pri" => Joint::Prismatic { axis },
                "sph" => Joint::Spherical,
                "free" => Joint::Free,
                other => panic!("unknown joint {other}"),
            };
            let mut link = Link::new(i.to_string(), joint)
                .at(Pose::new(l.position.into(), DQuat::from_array(l.rotation)))
                .mass(l.mass, l.com.into(), Sym3::from_array(l.inertia));
            if l.parent >= 0 {
                link = link.on(l.parent.to_string());
            }
            builder = builder.link(link);
        }
        let model = builder.build().unwrap();
        assert!((0..self.links.len()).all(|i| model.name(i as u32) == i.to_string()), "numbered alike");
        model
    }
}

fn check(text: &str, tool: &str, tolerance: f64) {
    let file: File = serde_json::from_str(text).unwrap();
    assert!(file.tool.starts_with(tool), "{}", file.tool);
    assert_eq!(file.cases.len(), 17);
    for case in file.cases {
        let model = case.model();
        let mut state = State::new(&model);
        (state.q, state.v) = (case.q.clone(), case.v.clone());
        let mut ws = Workspace::new(&model);
        aba(&model, &state, &case.tau, &[], &mut ws).unwrap();
        let error = distance(ws.qdd(), &case.qdd) / norm(&case.qdd);
        assert!(error < tolerance, "{}: accelerations off by {error:e}", case.name);
        if let Some(bias) = &case.bias {
            bias_forces(&model, &state, &[], &mut ws).unwrap();
            let error = distance(ws.tau(), bias) / (1.0 + norm(bias));
            assert!(error < tolerance, "{}: bias forces off by {error:e}", case.name);
        }
        // The packed form, where there is one.
        if let Ok(tree) = PackedTree::new(&model) {
            let (mut pw, mut qdd) = (PackedWorkspace::new(&tree), vec![0.0; model.v_len()]);
            packed_aba(&tree, &state.base, &case.q, &case.v, &case.tau, &[], &mut pw, &mut qdd).unwrap();
            let error = distance(&qdd, &case.qdd) / norm(&case.qdd);
            assert!(error < tolerance, "{}: packed accelerations off by {error:e}", case.name);
        }
    }
}

#[test]
fn pinocchio_gives_the_same_accelerations_and_bias_forces() {
    check(include_str!("golden/pinocchio.json"), "Pinocchio", 1e-10);
}

#[test]
fn mujoco_gives_the_same_accelerations() {
    check(include_str!("golden/mujoco.json"), "MuJoCo", 1e-10);
}
