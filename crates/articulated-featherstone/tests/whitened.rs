//! Coordinates in which the energy of a tree is ½|x|², against the dense mass matrix and the contact matrix of impulses.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use articulated_featherstone::{
    LinkImpulse, Model, Whitened, Workspace, crba, delassus, factorize,
    testkit::{TreeParams, random_tree},
};
use common::{case, dense_mul, dense_solve, distance, dot, norm, random_params};
use sim_math::{glam::DVec3, spatial::Force, testkit::SplitMix64};

fn random_push(random: &mut SplitMix64) -> Force {
    Force::new(random.vec3(1.0), random.vec3(1.0))
}

fn mass_matrix(model: &Model, q: &[f64], ws: &mut Workspace, extra: &[f64]) -> Vec<f64> {
    let n = model.v_len();
    let mut m = vec![0.0; n * n];
    crba(model, q, ws, &mut m).unwrap();
    extra.iter().enumerate().for_each(|(k, e)| m[k * n + k] += e);
    m
}

/// `YᵀY` of blocks of three rows.
fn product(nv: usize, blocks: &[(Vec<u32>, Vec<DVec3>)]) -> Vec<f64> {
    let rows = 3 * blocks.len();
    let mut y = vec![vec![0.0; nv]; rows];
    for (b, (dofs, paths)) in blocks.iter().enumerate() {
        for (dof, path) in dofs.iter().zip(paths) {
            for i in 0..3 {
                y[3 * b + i][*dof as usize] += path[i];
            }
        }
    }
    (0..rows * rows).map(|k| dot(&y[k / rows], &y[k % rows])).collect()
}

#[test]
fn whitened_rows_are_the_contact_matrix() {
    let mut random = SplitMix64(24);
    for _ in 0..400 {
        let (model, state, mut ws) = case_of(&mut random);
        let mut whitened = Whitened::new(&model);
        whitened.factor(&model, &state.q, &[], &mut ws).unwrap();
        // Contacts on random links, more than one on some, and joints.
        let mut blocks = Vec::new();
        let mut entries = Vec::new();
        for block in 0..1 + random.below(6) as u32 {
            let link = random.below(model.link_count()) as u32;
            let pushes = [0; 3].map(|_| random_push(&mut random));
            let (mut dofs, mut paths) = (vec![], vec![]);
            whitened.rows(&model, link, pushes, &mut dofs, &mut paths).unwrap();
            assert_eq!(paths.len(), whitened.path_len(link));
            assert!(dofs.is_sorted(), "root first: {dofs:?}");
            // Two links of one tree press on each other: both paths, with their signs.
            let other = random.below(model.link_count()) as u32;
            if block % 2 == 1 {
                let back = pushes.map(|p| -p);
                whitened.rows(&model, other, back, &mut dofs, &mut paths).unwrap();
            }
            for (i, push) in (0..).zip(pushes) {
                entries.push(LinkImpulse { row: 3 * block + i, link, impulse: push });
                if block % 2 == 1 {
                    entries.push(LinkImpulse { row: 3 * block + i, link: other, impulse: -push });
                }
            }
            blocks.push((dofs, paths));
        }
        let rows = 3 * blocks.len();
        let (mut u, mut w) = (vec![0.0; rows * model.v_len()], vec![0.0; rows * rows]);
        factorize(&model, &state.q, &mut ws).unwrap();
        delassus(&model, &ws, &entries, rows, &mut u, &mut w).unwrap();
        let y = product(model.v_len(), &blocks);
        let size = norm(&w);
        assert!(distance(&y, &w) <= 1e-10 * size, "{} of {size}", distance(&y, &w));
    }
}

/// Trees with at least one velocity.
fn case_of(random: &mut SplitMix64) -> (Model, articulated_featherstone::State, Workspace) {
    loop {
        let params = random_params(random);
        let case = case(random, params);
        if case.0.v_len() > 0 {
            return case;
        }
    }
}

#[test]
fn whitened_joints_and_added_diagonals_are_those_of_the_dense_matrix() {
    let mut random = SplitMix64(25);
    for _ in 0..300 {
        let (model, state, mut ws) = case_of(&mut random);
        let n = model.v_len();
        let damped: Vec<f64> = (0..n).map(|_| random.range(0.0, 2.0)).collect();
        for extra in [&[][..], &damped] {
            let m = mass_matrix(&model, &state.q, &mut ws, extra);
            let mut whitened = Whitened::new(&model);
            whitened.factor(&model, &state.q, extra, &mut ws).unwrap();
            let dof = random.below(n);
            let (mut dofs, mut paths) = (vec![], vec![]);
            whitened.dof_rows(&model, dof as u32, DVec3::X, &mut dofs, &mut paths).unwrap();
            let mut unit = vec![0.0; n];
            unit[dof] = 1.0;
            let wanted = dense_solve(&m, &unit)[dof];
            let got: f64 = paths.iter().map(|y| y.x * y.x).sum();
            assert!((got - wanted).abs() <= 1e-10 * wanted, "{got} {wanted}");
            // The same coordinates as those of the joint force itself.
            let mut x = vec![0.0; n];
            whitened.forces(&model, &unit, &[], &mut x).unwrap();
            for (dof, y) in dofs.iter().zip(&paths) {
                assert!((x[*dof as usize] - y.x).abs() <= 1e-12 * norm(&x));
            }
        }
    }
}

#[test]
fn whitened_forces_and_velocities_undo_the_mass_matrix() {
    let mut random = SplitMix64(26);
    for _ in 0..300 {
        let (model, state, mut ws) = case_of(&mut random);
        let n = model.v_len();
        let extra: Vec<f64> = (0..n).map(|_| random.range(0.0, 1.0)).collect();
        let m = mass_matrix(&model, &state.q, &mut ws, &extra);
        let tau: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
        let mut whitened = Whitened::new(&model);
        whitened.factor(&model, &state.q, &extra, &mut ws).unwrap();
        let (mut x, mut v) = (vec![0.0; n], vec![0.0; n]);
        whitened.forces(&model, &tau, &[], &mut x).unwrap();
        whitened.add_velocity(&model, &x, &mut v).unwrap();
        assert!(distance(&dense_mul(&m, &v), &tau) <= 1e-10 * norm(&tau));
        // Energy of the change is ½|x|².
        let energy = dot(&v, &dense_mul(&m, &v));
        assert!((energy - dot(&x, &x)).abs() <= 1e-10 * energy);
        // Forces on links are rows with their wrenches.
        let link = random.below(model.link_count());
        let push = random_push(&mut random);
        let mut on_links = vec![Force::ZERO; model.link_count()];
        on_links[link] = push;
        whitened.forces(&model, &vec![0.0; n], &on_links, &mut x).unwrap();
        let (mut dofs, mut paths) = (vec![], vec![]);
        whitened.rows(&model, link as u32, [push; 3], &mut dofs, &mut paths).unwrap();
        let mut y = vec![0.0; n];
        dofs.iter().zip(&paths).for_each(|(d, p)| y[*d as usize] = p.x);
        assert!(distance(&x, &y) <= 1e-12 * (1.0 + norm(&x)));
    }
}

#[test]
fn whitened_input_is_checked() {
    let mut random = SplitMix64(27);
    let model = random_tree(&mut random, TreeParams { links: 3, floating: true, ..TreeParams::default() });
    let (mut ws, mut whitened) = (Workspace::new(&model), Whitened::new(&model));
    let q = articulated_featherstone::State::new(&model).q;
    let mut extra = vec![0.0; model.v_len()];
    assert!(whitened.factor(&model, &q[1..], &[], &mut ws).is_err());
    assert!(whitened.factor(&model, &q, &extra[1..], &mut ws).is_err());
    extra[2] = -1.0;
    assert!(whitened.factor(&model, &q, &extra, &mut ws).unwrap_err().to_string().contains("-1"));
    extra[2] = f64::NAN;
    assert!(whitened.factor(&model, &q, &extra, &mut ws).unwrap_err().to_string().contains("NaN"));
    let (mut dofs, mut paths) = (vec![], vec![]);
    assert!(whitened.rows(&model, 3, [Force::ZERO; 3], &mut dofs, &mut paths).is_err());
    assert!(whitened.dof_rows(&model, 1000, DVec3::X, &mut dofs, &mut paths).is_err());
    assert!(whitened.forces(&model, &[], &[], &mut []).is_err());
}
