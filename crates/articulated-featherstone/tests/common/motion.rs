//! Runs and mechanisms shared by the tests of physics.

use articulated_featherstone::{
    Joint, Link, Model, ModelBuilder, State, TreeMotion, Workspace, compute_velocities, kinetic_energy,
    potential_energy,
};
use sim_math::{
    Pose, Sym3,
    glam::DVec3,
    integrate::{Integrator, OdeScratch, Rk4, SecondOrder},
};

pub(crate) const G: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// Runs RK4 with step `dt` for `steps` steps, calling `watch` after each.
pub(crate) fn run(
    model: &Model,
    state: &State,
    dt: f64,
    steps: usize,
    mut watch: impl FnMut(usize, &State),
) -> State {
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

pub(crate) fn energy(model: &Model, state: &State, ws: &mut Workspace) -> f64 {
    compute_velocities(model, state, ws).unwrap();
    kinetic_energy(model, state, ws).unwrap() + potential_energy(model, ws).unwrap()
}

pub(crate) fn hinge(axis: DVec3) -> Joint {
    Joint::Revolute { axis }
}

/// Rod of 1 m and 1 kg along x with the box inertia of the workload.
pub(crate) fn rod(link: Link) -> Link {
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

pub(crate) fn double_pendulum() -> Model {
    ModelBuilder::new()
        .gravity(G)
        .link(rod(Link::new("upper", hinge(DVec3::Y))))
        .link(rod(Link::new("lower", hinge(DVec3::Y)).on("upper").at(Pose::from_translation(DVec3::X))))
        .build()
        .unwrap()
}

/// The same tree without gravity.
pub(crate) fn weightless(model: &Model) -> Model {
    let mut builder = ModelBuilder::new();
    for i in 0..model.link_count() as u32 {
        let inertia = model.inertia(i).unwrap();
        let mut link = Link::new(model.name(i), model.joint(i).unwrap())
            .at(model.parent_from_joint(i).unwrap())
            .frame(model.link_frame(i).unwrap())
            .mass(inertia.mass, inertia.center_of_mass(), inertia.inertia());
        if let Some(p) = model.parent(i) {
            link = link.on(model.name(p));
        }
        builder = builder.link(link);
    }
    builder.build().unwrap()
}
