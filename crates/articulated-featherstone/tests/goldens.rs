//! Accelerations and bias forces against Pinocchio and MuJoCo (see `golden/make.py`).
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{Joint, Link, Model, ModelBuilder, State, Workspace, aba, bias_forces};
use common::{distance, norm};
use sim_math::{
    Pose, Sym3,
    glam::{DQuat, DVec3},
};

#[derive(Default)]
struct Golden {
    name: String,
    links: Vec<(i64, String, Vec<f64>)>,
    arrays: Vec<(String, Vec<f64>)>,
}

impl Golden {
    fn array(&self, key: &str) -> Option<&[f64]> {
        self.arrays.iter().find(|(k, _)| k == key).map(|(_, x)| x.as_slice())
    }

    fn model(&self) -> Model {
        let mut builder = ModelBuilder::new().gravity(DVec3::new(0.0, 0.0, -9.81));
        for (i, (parent, kind, x)) in self.links.iter().enumerate() {
            let axis = DVec3::from_slice(&x[0..3]);
            let joint = match kind.as_str() {
                "rev" => Joint::Revolute { axis },
                "pri" => Joint::Prismatic { axis },
                "sph" => Joint::Spherical,
                _ => Joint::Free,
            };
            let mut link = Link::new(i.to_string(), joint)
                .at(Pose::new(DVec3::from_slice(&x[3..6]), DQuat::from_slice(&x[6..10])))
                .mass(x[10], DVec3::from_slice(&x[11..14]), Sym3::from_array(x[14..20].try_into().unwrap()));
            if *parent >= 0 {
                link = link.on(parent.to_string());
            }
            builder = builder.link(link);
        }
        let model = builder.build().unwrap();
        assert!((0..self.links.len()).all(|i| model.name(i as u32) == i.to_string()), "numbered alike");
        model
    }
}

fn read(text: &str) -> Vec<Golden> {
    let mut cases: Vec<Golden> = Vec::new();
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let mut words = line.split_whitespace();
        let key = words.next().unwrap();
        if key == "case" {
            cases.push(Golden { name: words.next().unwrap().to_owned(), ..Golden::default() });
            continue;
        }
        let case = cases.last_mut().unwrap();
        if key == "link" {
            let parent = words.next().unwrap().parse().unwrap();
            let kind = words.next().unwrap().to_owned();
            case.links.push((parent, kind, words.map(|w| w.parse().unwrap()).collect()));
        } else {
            case.arrays.push((key.to_owned(), words.map(|w| w.parse().unwrap()).collect()));
        }
    }
    cases
}

fn check(text: &str, tolerance: f64) {
    let cases = read(text);
    assert_eq!(cases.len(), 17);
    for case in cases {
        let model = case.model();
        let mut state = State::new(&model);
        state.q = case.array("q").unwrap().to_vec();
        state.v = case.array("v").unwrap().to_vec();
        let mut ws = Workspace::new(&model);
        aba(&model, &state, case.array("tau").unwrap(), &[], &mut ws).unwrap();
        let expected = case.array("qdd").unwrap();
        let error = distance(ws.qdd(), expected) / norm(expected);
        assert!(error < tolerance, "{}: accelerations off by {error:e}", case.name);
        if let Some(bias) = case.array("bias") {
            bias_forces(&model, &state, &[], &mut ws).unwrap();
            let error = distance(ws.tau(), bias) / (1.0 + norm(bias));
            assert!(error < tolerance, "{}: bias forces off by {error:e}", case.name);
        }
    }
}

#[test]
fn pinocchio_gives_the_same_accelerations_and_bias_forces() {
    check(include_str!("golden/pinocchio.txt"), 1e-10);
}

#[test]
fn mujoco_gives_the_same_accelerations() {
    check(include_str!("golden/mujoco.txt"), 1e-10);
}
