//! After set-up no algorithm allocates: one round of everything warms up, the rounds after it are counted.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use articulated_featherstone::{
    DerivativeWorkspace, Lanes4, LinkImpulse, Loop, LoopKind, LoopWorkspace, Model, PackedTree,
    PackedWorkspace, State, TreeSystem, Workspace, aba, aba_derivatives, aba_with_reactions, apply_impulses,
    bias_forces, body_jacobian, center_of_mass, centroidal_matrix, compute_accelerations, compute_poses,
    compute_velocities, computed_torque, contact_matrix, crba, cross_inertia, delassus, difference,
    factorize, integrate, kinetic_energy, limit_rows, loop_accelerations, momentum_about, packed_aba,
    packed_crba, packed_rnea, passive_forces, point_jacobian, position_rate, potential_energy, project_loops,
    rnea, rnea_derivatives, solve_mass, step_semi_implicit,
    testkit::{TreeParams, random_wrenches},
    world_jacobian,
};
use common::case;
use sim_math::{
    Pose,
    glam::DVec3,
    spatial::Force,
    testkit::{
        SplitMix64,
        allocations::{CountingAllocator, allocations},
    },
};
use sim_traits::{ColumnsMut, DynamicsError, Entry, PartId, Scratch, VelocitySystem};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Runs `round` once to warm up and three times counted.
fn expect_none(what: &str, mut round: impl FnMut() -> Result<(), DynamicsError>) {
    round().unwrap();
    let (count, result) = allocations(|| (0..3).try_for_each(|_| round()));
    result.unwrap();
    assert_eq!(count, 0, "{what} allocates");
}

fn tree(simple_joints: bool) -> (Model, State, Vec<Force>) {
    let mut random = SplitMix64(61);
    let params = TreeParams { links: 14, floating: true, simple_joints, ..TreeParams::default() };
    let (model, state, _) = case(&mut random, params);
    let external = random_wrenches(&mut random, &model);
    (model, state, external)
}

#[test]
fn general_algorithms_do_not_allocate() {
    let (model, mut state, external) = tree(false);
    let nv = model.v_len();
    let mut ws = Workspace::new(&model);
    let (tau, mut x, mut m) = (vec![0.1; nv], vec![0.0; nv], vec![0.0; nv * nv]);
    let mut rows = vec![0.0; 6 * nv];
    expect_none("dynamics", || {
        aba(&model, &state, &tau, &external, &mut ws)?;
        aba_with_reactions(&model, &state, &tau, &external, &mut ws)?;
        rnea(&model, &state, &tau, &external, &mut ws)?;
        bias_forces(&model, &state, &[], &mut ws)?;
        crba(&model, &state.q, &mut ws, &mut m)?;
        factorize(&model, &state.q, &mut ws)?;
        solve_mass(&model, &mut ws, &tau, &mut x)?;
        passive_forces(&model, &state, &mut x)
    });
    expect_none("kinematics", || {
        compute_poses(&model, &state, &mut ws)?;
        compute_velocities(&model, &state, &mut ws)?;
        compute_accelerations(&model, &state, &tau, &mut ws)?;
        body_jacobian(&model, &ws, 5, &mut rows)?;
        world_jacobian(&model, &ws, 5, &mut rows)?;
        point_jacobian(&model, &ws, 5, DVec3::X, &mut rows[..3 * nv])?;
        center_of_mass(&model, &ws)?;
        momentum_about(&model, &ws, DVec3::ZERO)?;
        centroidal_matrix(&model, &mut ws, &mut rows)?;
        kinetic_energy(&model, &state, &ws)?;
        potential_energy(&model, &ws).map(|_| ())
    });
    let (mut to, mut rate) = (state.q.clone(), state.q.clone());
    expect_none("integration", || {
        integrate(&model, &mut to, &tau, 1e-3)?;
        difference(&model, &state.q, &to, &mut x)?;
        position_rate(&model, &state.q, &tau, &mut rate)?;
        aba(&model, &state, &tau, &[], &mut ws)?;
        step_semi_implicit(&model, &mut state, &ws, 1e-4)
    });
    let mut derivatives = DerivativeWorkspace::new(&model);
    let (mut dq, mut dv, wanted) = (m.clone(), m.clone(), state.clone());
    let mut error = vec![0.0; nv];
    expect_none("derivatives and control", || {
        rnea_derivatives(&model, &state, &tau, &external, &mut ws, &mut derivatives, &mut dq, &mut dv)?;
        aba_derivatives(
            &model,
            &state,
            &tau,
            &external,
            &mut ws,
            &mut derivatives,
            &mut dq,
            &mut dv,
            &mut m,
        )?;
        computed_torque(&model, &state, &wanted, &tau, 10.0, 5.0, &mut error, &mut ws, &mut x)
    });
}

#[test]
fn impulses_and_loops_do_not_allocate() {
    let (model, mut state, external) = tree(false);
    let nv = model.v_len();
    let mut ws = Workspace::new(&model);
    let pushes: Vec<LinkImpulse> =
        (0..6).map(|k| LinkImpulse { row: k / 2, link: 2 * k + 1, impulse: external[k as usize] }).collect();
    let (mut u, mut w, mut dv) = (vec![0.0; 3 * nv], vec![0.0; 9], vec![0.0; nv]);
    let axes = DVec3::AXES.map(|e| Force::at_offset(DVec3::Y, e));
    let mut limits = Vec::new();
    expect_none("impulses", || {
        factorize(&model, &state.q, &mut ws)?;
        apply_impulses(&model, &mut ws, &pushes, &[], &mut dv)?;
        delassus(&model, &ws, &pushes, 3, &mut u, &mut w)?;
        contact_matrix(&model, &ws, 9, axes)?;
        cross_inertia(&model, &ws, 3, 12)?;
        limit_rows(&model, &state.q, 1e-3, &mut limits)
    });
    let mut system = TreeSystem::new(Arc::new(model.clone()), Pose::IDENTITY);
    let entries: Vec<Entry> =
        (0..6).map(|k| Entry::push(k / 2, PartId(2 * k + 1), DVec3::X, DVec3::new(0.1, 0.2, 0.3))).collect();
    let (mut scratch, mut out) = (Scratch::default(), [0.0; 3]);
    expect_none("the seam", || {
        system.prepare(&state.q)?;
        system.row_velocities(&state.v, &entries, &mut out)?;
        system.response(&entries, &mut scratch, &mut ColumnsMut::new(&mut u, nv)?)?;
        system.dof_response(1, &mut scratch, &mut dv)
    });
    let closing = [Loop {
        kind: LoopKind::Ball,
        link_a: Some(13),
        frame_a: Pose::IDENTITY,
        link_b: None,
        frame_b: Pose::IDENTITY,
    }];
    let mut lws = LoopWorkspace::default();
    let tau = vec![0.0; nv];
    expect_none("loops", || {
        loop_accelerations(&model, &state, &tau, &external, &closing, 10.0, &mut ws, &mut lws)?;
        project_loops(&model, &mut state, &closing, 1e-9, 1, &mut ws, &mut lws).map(|_| ())
    });
}

#[test]
fn packed_algorithms_do_not_allocate() {
    let (model, state, external) = tree(true);
    let tree = PackedTree::new(&model).unwrap();
    let nv = model.v_len();
    let wide = |x: &[f64]| x.iter().map(|x| Lanes4([*x; 4])).collect::<Vec<_>>();
    let flat: Vec<[f64; 6]> = external.iter().map(|f| f.to_array()).collect();
    let (q4, v4) = (wide(&state.q), wide(&state.v));
    let (mut one, mut four) = (PackedWorkspace::<f64>::new(&tree), PackedWorkspace::<Lanes4>::new(&tree));
    let (mut out, mut m) = (vec![0.0; nv], vec![0.0; nv * nv]);
    let (mut out4, mut m4) = (wide(&out), wide(&m));
    expect_none("packed dynamics", || {
        packed_aba(&tree, &state.base, &state.q, &state.v, &state.v, &flat, &mut one, &mut out)?;
        packed_rnea(&tree, &state.base, &state.q, &state.v, &state.v, &flat, &mut one, &mut out)?;
        packed_crba(&tree, &state.q, &mut one, &mut m)?;
        packed_aba(&tree, &state.base, &q4, &v4, &v4, &[], &mut four, &mut out4)?;
        packed_rnea(&tree, &state.base, &q4, &v4, &v4, &[], &mut four, &mut out4)?;
        packed_crba(&tree, &q4, &mut four, &mut m4)
    });
}
