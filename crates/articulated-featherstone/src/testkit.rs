//! Random trees and the reader of the workload models (feature `testkit`).

use crate::{DofParams, Joint, Link, Model, ModelBuilder, State};
use sim_math::{
    Pose, Sym3,
    glam::{DMat3, DVec3},
    spatial::{Force, Motion},
    testkit::SplitMix64,
};

/// What a random tree may look like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeParams {
    /// Number of links.
    pub links: usize,
    /// Chance that a link hangs on the one before it instead of on any earlier one.
    pub chain: f64,
    /// The first joint is free.
    pub floating: bool,
    /// Links have rotor inertias.
    pub armature: bool,
    /// The base moves and is turned.
    pub moving_base: bool,
    /// Only hinges and sliders, plus the free joint.
    pub simple_joints: bool,
    /// Links have frames of their own.
    pub frames: bool,
}

impl Default for TreeParams {
    fn default() -> Self {
        Self {
            links: 8,
            chain: 0.6,
            floating: false,
            armature: false,
            moving_base: false,
            simple_joints: false,
            frames: false,
        }
    }
}

/// A joint of any kind with random axes.
pub fn random_joint(random: &mut SplitMix64) -> Joint {
    let axis = random.unit_vec3();
    match random.below(9) {
        0 => Joint::Fixed,
        1 => Joint::Prismatic { axis },
        2 => Joint::Helical { axis, pitch: random.range(-0.3, 0.3) },
        3 => Joint::Cylindrical { axis },
        4 => {
            let second =
                (random.unit_vec3().cross(axis).normalize() + axis * random.range(-0.5, 0.5)).normalize();
            Joint::Universal { first: axis, second }
        }
        5 => Joint::Spherical,
        6 => Joint::Planar,
        7 if random.below(4) == 0 => Joint::Free,
        _ => Joint::Revolute { axis },
    }
}

/// Mass, centre of mass and tensor of a random box at a random place.
pub fn random_inertia(random: &mut SplitMix64) -> (f64, DVec3, Sym3) {
    let mass = random.range(0.2, 3.0);
    let h = DVec3::new(random.range(0.05, 0.5), random.range(0.05, 0.5), random.range(0.05, 0.5));
    let s = h * h;
    let moments = DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 3.0);
    let axes = DMat3::from_quat(random.unit_quat());
    (mass, random.vec3(0.4), Sym3::from_diagonal(moments).congruence(axes))
}

/// A random tree of links with mass.
///
/// # Panics
/// Never, unless the builder refuses a good tree.
#[allow(clippy::expect_used, reason = "test support: a refused tree is a failed test")]
pub fn random_tree(random: &mut SplitMix64, params: TreeParams) -> Model {
    let mut builder = ModelBuilder::new().gravity(random.vec3(6.0) - DVec3::Z * 6.0);
    for i in 0..params.links {
        let joint = if i == 0 && params.floating {
            Joint::Free
        } else if params.simple_joints {
            let axis = random.unit_vec3();
            if random.below(3) == 0 { Joint::Prismatic { axis } } else { Joint::Revolute { axis } }
        } else {
            random_joint(random)
        };
        let (mass, com, inertia) = random_inertia(random);
        let mut link = Link::new(format!("link{i}"), joint)
            .at(Pose::new(random.vec3(0.5), random.unit_quat()))
            .mass(mass, com, inertia);
        if i > 0 && (params.floating || random.below(20) > 0) {
            let parent = if random.unit() < params.chain { i - 1 } else { random.below(i) };
            link = link.on(format!("link{parent}"));
        }
        if params.frames && random.below(2) == 0 {
            link = link.frame(Pose::new(random.vec3(0.4), random.unit_quat()));
        }
        if params.armature {
            link = link.all_dofs(DofParams { armature: random.range(0.0, 0.1), ..DofParams::default() });
        }
        builder = builder.link(link);
    }
    builder.build().expect("a random tree is a good tree")
}

/// A random configuration, velocity and base.
pub fn random_state(random: &mut SplitMix64, model: &Model, params: TreeParams) -> State {
    let mut state = State::new(model);
    for link in 0..model.link_count() as u32 {
        let range = model.q_range(link);
        match model.joint(link) {
            Some(Joint::Spherical) => state.q[range].copy_from_slice(&random.unit_quat().to_array()),
            Some(Joint::Free) => {
                let pose = Pose::new(random.vec3(1.0), random.unit_quat());
                state.q[range].copy_from_slice(&crate::free_coordinates(&pose));
            }
            _ => state.q[range].iter_mut().for_each(|q| *q = random.range(-1.5, 1.5)),
        }
    }
    state.v.iter_mut().for_each(|v| *v = random.range(-1.0, 1.0));
    if params.moving_base {
        state.base.world_from_base = Pose::new(random.vec3(1.0), random.unit_quat());
        state.base.velocity = Motion::new(random.vec3(1.0), random.vec3(1.0));
        state.base.acceleration = Motion::new(random.vec3(1.0), random.vec3(1.0));
    }
    state
}

/// Random numbers in [-1, 1).
pub fn random_numbers(random: &mut SplitMix64, count: usize) -> Vec<f64> {
    (0..count).map(|_| random.range(-1.0, 1.0)).collect()
}

/// A random wrench on each link.
pub fn random_wrenches(random: &mut SplitMix64, model: &Model) -> Vec<Force> {
    (0..model.link_count()).map(|_| Force::new(random.vec3(1.0), random.vec3(1.0))).collect()
}

/// Reads a workload model: `link id parent rev|free axis jointpos mass com Ixx Iyy Izz`, then `q`, `v`, `tau`.
/// Quaternions in the file are w, x, y, z and free velocities linear first.
///
/// Returns the model, its state and the joint forces; `None` if the text is not of that form.
#[must_use]
pub fn read_tree(text: &str) -> Option<(Model, State, Vec<f64>)> {
    read_changed_tree(text, |_, pose| pose)
}

/// As [`read_tree`], with a random rotation of the frame and a random axis at every hinge.
#[must_use]
pub fn read_turned_tree(text: &str, random: &mut SplitMix64) -> Option<(Model, State, Vec<f64>)> {
    read_changed_tree(text, |axis, pose| {
        *axis = random.unit_vec3();
        Pose::new(pose.translation, random.unit_quat())
    })
}

/// `change` may replace the axis of a hinge and the pose of its frame.
fn read_changed_tree(
    text: &str,
    mut change: impl FnMut(&mut DVec3, Pose) -> Pose,
) -> Option<(Model, State, Vec<f64>)> {
    let mut builder = ModelBuilder::new().gravity(DVec3::new(0.0, 0.0, -9.81));
    let (mut q, mut v, mut tau) = (Vec::new(), Vec::new(), Vec::new());
    let mut floating = false;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let key = words.next();
        if key == Some("link") {
            let (id, parent) = (words.next()?, words.next()?);
            let free = words.next()? == "free";
            let x: Vec<f64> = words.map(|w| w.parse().ok()).collect::<Option<_>>()?;
            let &[ax, ay, az, px, py, pz, mass, cx, cy, cz, ixx, iyy, izz] = x.as_slice() else {
                return None;
            };
            let mut axis = DVec3::new(ax, ay, az);
            let mut pose = Pose::from_translation(DVec3::new(px, py, pz));
            if !free {
                pose = change(&mut axis, pose);
            }
            let joint = if free { Joint::Free } else { Joint::Revolute { axis } };
            floating |= free;
            let inertia = Sym3::from_diagonal(DVec3::new(ixx, iyy, izz));
            let mut link = Link::new(id, joint).at(pose).mass(mass, DVec3::new(cx, cy, cz), inertia);
            if parent != "-1" {
                link = link.on(parent);
            }
            builder = builder.link(link);
        } else {
            let numbers: Vec<f64> = words.map(|w| w.parse().ok()).collect::<Option<_>>()?;
            match key {
                Some("q") => q = numbers,
                Some("v") => v = numbers,
                Some("tau") => tau = numbers,
                _ => {}
            }
        }
    }
    let model = builder.build().ok()?;
    let mut state = State::new(&model);
    if floating {
        q.get_mut(3..7)?.rotate_left(1);
        v.get_mut(..6)?.rotate_left(3);
        tau.get_mut(..6)?.rotate_left(3);
    }
    if q.len() != state.q.len() || v.len() != state.v.len() || tau.len() != state.v.len() {
        return None;
    }
    (state.q, state.v) = (q, v);
    Some((model, state, tau))
}
