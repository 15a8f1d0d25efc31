//! Impulses, contact matrices and the seam `VelocitySystem`.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    Joint, Link, LinkImpulse, Model, ModelBuilder, State, TreeSystem, Workspace, aba, apply_impulses,
    body_jacobian, compute_poses, compute_velocities, contact_matrix, crba, cross_inertia, delassus,
    factorize, kinetic_energy, momentum_about,
    testkit::{TreeParams, random_numbers},
};
use common::{case, dense_mul, dense_solve, distance, dot, norm, random_params};
use sim_math::{
    glam::DVec3,
    small::SymmetricEigen,
    spatial::{Force, Motion},
    testkit::{SplitMix64, soak},
};
use sim_traits::{ColumnsMut, DynamicsError, Entry, PartId, Scratch, VelocitySystem};
use std::sync::Arc;

fn random_force(random: &mut SplitMix64) -> Force {
    Force::new(random.vec3(1.0), random.vec3(1.0))
}

// proves: MIR-69, MIR-70, MIR-72, ARN-35, ARN-39, ARN-38
#[test]
fn soak_delassus_is_j_m_inverse_jt() {
    let mut random = soak::random(21);
    for _ in 0..soak::cases(10_000) {
        let params = random_params(&mut random);
        let (model, state, mut ws) = case(&mut random, params);
        let (nv, n) = (model.v_len(), model.link_count());
        if nv == 0 {
            continue;
        }
        let rows = 1 + random.below(7);
        let entries: Vec<LinkImpulse> = (0..2 * rows)
            .map(|e| LinkImpulse {
                row: (e / 2) as u32,
                link: random.below(n) as u32,
                impulse: random_force(&mut random),
            })
            .collect();
        // Dense J.
        compute_poses(&model, &state, &mut ws).unwrap();
        let mut j = vec![0.0; rows * nv];
        let mut body = vec![0.0; 6 * nv];
        for e in &entries {
            body_jacobian(&model, &ws, e.link, &mut body).unwrap();
            for k in 0..nv {
                let column: Vec<f64> = (0..6).map(|r| body[r * nv + k]).collect();
                j[e.row as usize * nv + k] += dot(&column, &e.impulse.to_array());
            }
        }
        let mut m = vec![0.0; nv * nv];
        crba(&model, &state.q, &mut ws, &mut m).unwrap();
        let columns: Vec<Vec<f64>> = j.chunks(nv).map(|row| dense_solve(&m, row)).collect();
        factorize(&model, &state.q, &mut ws).unwrap();
        let (mut u, mut w) = (vec![0.0; rows * nv], vec![0.0; rows * rows]);
        delassus(&model, &ws, &entries, rows, &mut u, &mut w).unwrap();
        for r in 0..rows {
            for s in 0..rows {
                let expected = dot(&j[r * nv..(r + 1) * nv], &columns[s]);
                let size = (w[r * rows + r] * w[s * rows + s]).sqrt();
                assert!(
                    (w[r * rows + s] - expected).abs() <= 1e-10 * size,
                    "{:e}",
                    w[r * rows + s] - expected
                );
            }
        }
        // All rows together as impulses, superposed.
        let size: Vec<f64> = random_numbers(&mut random, rows);
        let scaled: Vec<LinkImpulse> =
            entries.iter().map(|e| LinkImpulse { impulse: e.impulse * size[e.row as usize], ..*e }).collect();
        let mut dv = vec![0.0; nv];
        apply_impulses(&model, &mut ws, &scaled, &[], &mut dv).unwrap();
        let mut expected = vec![0.0; nv];
        for (column, s) in columns.iter().zip(&size) {
            for (e, c) in expected.iter_mut().zip(column) {
                *e += s * c;
            }
        }
        assert!(distance(&dv, &expected) < 1e-10 * norm(&expected).max(1e-3));
    }
}

// proves: FON-70, ARN-36
#[test]
fn impulse_changes_momentum_by_itself_and_energy_by_its_work() {
    let mut random = SplitMix64(22);
    for _ in 0..500 {
        let params =
            TreeParams { floating: true, moving_base: false, armature: false, ..random_params(&mut random) };
        let (model, mut state, mut ws) = case(&mut random, params);
        let link = random.below(model.link_count()) as u32;
        compute_velocities(&model, &state, &mut ws).unwrap();
        let pose = ws.world_from_links()[link as usize];
        let (before, energy, v_before) = (
            momentum_about(&model, &ws, DVec3::ZERO).unwrap(),
            kinetic_energy(&model, &state, &ws).unwrap(),
            ws.velocities()[link as usize],
        );
        let (point, push) = (random.vec3(1.0), random.vec3(1.0));
        let in_world = Force::at_offset(point, push);
        let impulse = pose.inverse_force(in_world);
        factorize(&model, &state.q, &mut ws).unwrap();
        let mut dv = vec![0.0; model.v_len()];
        apply_impulses(&model, &mut ws, &[LinkImpulse { row: 0, link, impulse }], &[], &mut dv).unwrap();
        for (v, d) in state.v.iter_mut().zip(&dv) {
            *v += d;
        }
        compute_velocities(&model, &state, &mut ws).unwrap();
        let change = momentum_about(&model, &ws, DVec3::ZERO).unwrap() - before;
        let size = 1.0 + norm(&before.to_array());
        assert!(distance(&change.to_array(), &in_world.to_array()) < 1e-11 * size);
        let gained = kinetic_energy(&model, &state, &ws).unwrap() - energy;
        let mean = (v_before + ws.velocities()[link as usize]) * 0.5;
        assert!((gained - impulse.dot(mean)).abs() < 1e-11 * (1.0 + energy.abs()));
    }
}

// proves: FON-72
#[test]
fn joint_impulse_leaves_momentum_and_does_its_own_work() {
    let mut random = SplitMix64(23);
    for _ in 0..500 {
        let params =
            TreeParams { floating: true, moving_base: false, armature: false, ..random_params(&mut random) };
        let (model, mut state, mut ws) = case(&mut random, params);
        if model.v_len() == 6 {
            continue;
        }
        compute_velocities(&model, &state, &mut ws).unwrap();
        let before = momentum_about(&model, &ws, DVec3::ZERO).unwrap();
        let energy = kinetic_energy(&model, &state, &ws).unwrap();
        let dof = 6 + random.below(model.v_len() - 6);
        let mut joint = vec![0.0; model.v_len()];
        joint[dof] = random.range(-1.0, 1.0);
        factorize(&model, &state.q, &mut ws).unwrap();
        let mut dv = vec![0.0; model.v_len()];
        apply_impulses(&model, &mut ws, &[], &joint, &mut dv).unwrap();
        let work = joint[dof] * (state.v[dof] + 0.5 * dv[dof]);
        for (v, d) in state.v.iter_mut().zip(&dv) {
            *v += d;
        }
        compute_velocities(&model, &state, &mut ws).unwrap();
        let change = momentum_about(&model, &ws, DVec3::ZERO).unwrap() - before;
        assert!(norm(&change.to_array()) < 1e-11 * (1.0 + norm(&before.to_array())));
        let gained = kinetic_energy(&model, &state, &ws).unwrap() - energy;
        assert!((gained - work).abs() < 1e-11 * (1.0 + energy.abs()));
    }
}

// proves: ARN-35
#[test]
fn cross_inertia_is_the_difference_of_two_aba_runs() {
    let mut random = SplitMix64(24);
    for _ in 0..300 {
        let params = random_params(&mut random);
        let (model, state, mut ws) = case(&mut random, params);
        let n = model.link_count();
        let (i, j) = (random.below(n), random.below(n));
        let tau = random_numbers(&mut random, model.v_len());
        let mut external = vec![Force::ZERO; n];
        aba(&model, &state, &tau, &external, &mut ws).unwrap();
        let before = ws.proper_accelerations()[i];
        let kappa = cross_inertia(&model, &ws, i as u32, j as u32).unwrap();
        let mirror = cross_inertia(&model, &ws, j as u32, i as u32).unwrap();
        external[j] = random_force(&mut random) * 100.0;
        aba(&model, &state, &tau, &external, &mut ws).unwrap();
        let change = (ws.proper_accelerations()[i] - before).to_array();
        let expected = sim_math::small::mul_vec(&kappa, external[j].to_array());
        let size = norm(&before.to_array()) + norm(&expected) + 1.0;
        assert!(distance(&change, &expected) < 1e-10 * size, "{:e}", distance(&change, &expected));
        let scale = sim_math::small::max_abs(&kappa);
        for r in 0..6 {
            for c in 0..6 {
                assert!((kappa[r][c] - mirror[c][r]).abs() <= 1e-13 * scale);
            }
        }
    }
}

#[test]
fn cross_inertia_of_one_free_link_is_its_inverse_inertia() {
    let mut random = SplitMix64(25);
    for _ in 0..100 {
        let params = TreeParams { links: 1, floating: true, ..TreeParams::default() };
        let (model, state, mut ws) = case(&mut random, params);
        factorize(&model, &state.q, &mut ws).unwrap();
        let kappa = cross_inertia(&model, &ws, 0, 0).unwrap();
        let f = random_force(&mut random);
        let expected: Motion = model.inertia(0).unwrap().solve(f).unwrap();
        let got = sim_math::small::mul_vec(&kappa, f.to_array());
        assert!(distance(&got, &expected.to_array()) < 1e-12 * norm(&got));
    }
}

// proves: MIR-68
#[test]
fn contact_matrix_is_the_block_of_delassus_and_psd() {
    let mut random = SplitMix64(26);
    for _ in 0..500 {
        let params = random_params(&mut random);
        let (model, state, mut ws) = case(&mut random, params);
        let link = random.below(model.link_count()) as u32;
        let point = random.vec3(0.5);
        let pushes = [DVec3::X, DVec3::Y, DVec3::Z].map(|e| Force::at_offset(point, e));
        factorize(&model, &state.q, &mut ws).unwrap();
        let fast = contact_matrix(&model, &ws, link, pushes).unwrap();
        let entries: Vec<LinkImpulse> =
            (0..3).map(|r| LinkImpulse { row: r, link, impulse: pushes[r as usize] }).collect();
        let (mut u, mut w) = (vec![0.0; 3 * model.v_len()], vec![0.0; 9]);
        delassus(&model, &ws, &entries, 3, &mut u, &mut w).unwrap();
        let scale = fast.max_abs();
        for r in 0..3 {
            for c in 0..3 {
                assert!((w[r * 3 + c] - fast.to_rows()[r][c]).abs() <= 1e-13 * scale);
            }
        }
        let eigen = SymmetricEigen::compute(&fast.to_rows()).unwrap();
        assert!(eigen.values.iter().all(|x| *x >= -1e-13 * scale));
        // A free base can move anywhere: the matrix is definite.
        if model.joint(0) == Some(Joint::Free) && model.is_ancestor(0, link) {
            assert!(eigen.values.iter().all(|x| *x > 1e-9 * scale));
        }
        // Velocity change of the struck point is the matrix times the impulse.
        let p = random.vec3(1.0);
        let mut dv = vec![0.0; model.v_len()];
        let impulse = Force::at_offset(point, p);
        apply_impulses(&model, &mut ws, &[LinkImpulse { row: 0, link, impulse }], &[], &mut dv).unwrap();
        let mut jumped = state.clone();
        jumped.base.velocity = Motion::ZERO;
        jumped.v.copy_from_slice(&dv);
        compute_velocities(&model, &jumped, &mut ws).unwrap();
        let change = ws.velocities()[link as usize].velocity_at(point);
        assert!((change - fast * p).length() < 1e-10 * (scale + 1e-3));
    }
}

#[test]
fn two_links_of_one_tree_need_both_entries_in_one_row() {
    // Relative push between two links equals the dense J_rel M^-1 J_rel^T (checked above) and differs from the sum of both halves.
    let mut random = SplitMix64(27);
    let params =
        TreeParams { links: 6, floating: true, chain: 1.0, simple_joints: true, ..TreeParams::default() };
    let (model, state, mut ws) = case(&mut random, params);
    factorize(&model, &state.q, &mut ws).unwrap();
    let f = random_force(&mut random);
    let run = |entries: &[LinkImpulse]| {
        let (mut u, mut w) = (vec![0.0; model.v_len()], vec![0.0; 1]);
        delassus(&model, &ws, entries, 1, &mut u, &mut w).unwrap();
        w[0]
    };
    let a = LinkImpulse { row: 0, link: 2, impulse: f };
    let b = LinkImpulse { row: 0, link: 5, impulse: -f };
    assert!((run(&[a, b]) - (run(&[a]) + run(&[b]))).abs() > 1e-3);
}

#[test]
fn the_seam_answers_like_the_free_functions() {
    let mut random = SplitMix64(28);
    for round in 0..300 {
        let params = random_params(&mut random);
        let (model, mut state, mut ws) = case(&mut random, params);
        let scripted = round % 2 == 0;
        let (nv, n) = (model.v_len(), model.link_count());
        let model = Arc::new(model);
        let base = state.base.world_from_base;
        let mut system = if scripted {
            TreeSystem::with_scripted_base(Arc::clone(&model))
        } else {
            state.base.velocity = Motion::ZERO;
            TreeSystem::new(Arc::clone(&model), base)
        };
        let (mut q, mut v) = (state.q.clone(), state.v.clone());
        if scripted {
            q.extend(articulated_featherstone::free_coordinates(&base));
            v.extend(state.base.velocity.to_array());
        }
        let mut out = vec![0.0; 2];
        let entries: Vec<Entry> = (0..4)
            .map(|e| Entry {
                row: e / 2,
                part: PartId(random.below(n) as u32),
                point: random.vec3(1.0),
                wrench: random_force(&mut random),
            })
            .collect();
        assert_eq!(system.row_velocities(&v, &entries, &mut out), Err(DynamicsError::NotPrepared));
        system.prepare(&q).unwrap();
        assert_eq!(
            (system.velocity_len(), system.configuration_len(), system.part_count()),
            (v.len(), q.len(), n)
        );
        system.row_velocities(&v, &entries, &mut out).unwrap();
        // Power of the wrenches on the moving links.
        compute_velocities(&model, &state, &mut ws).unwrap();
        let mut expected = [0.0; 2];
        for e in &entries {
            let link = e.part.0 as usize;
            let in_world = ws.world_from_links()[link].motion(ws.velocities()[link]);
            expected[e.row as usize] += e.wrench.dot(in_world.shifted(e.point));
        }
        assert!(distance(&out, &expected) < 1e-11 * (1.0 + norm(&expected)));
        if nv == 0 {
            continue;
        }
        let mut scratch = Scratch::default();
        let mut data = vec![0.0; 2 * v.len()];
        system.response(&entries, &mut scratch, &mut ColumnsMut::new(&mut data, v.len()).unwrap()).unwrap();
        // W from the seam is symmetric and equals the dense one.
        let mut m = vec![0.0; nv * nv];
        crba(&model, &state.q, &mut ws, &mut m).unwrap();
        for c in 0..2 {
            let column = &data[c * v.len()..(c + 1) * v.len()];
            assert!(column[nv..].iter().all(|x| *x == 0.0));
            // M y = J^T: check through random velocities, y^T M x = J x.
            let x = random_numbers(&mut random, nv);
            let mut full = x.clone();
            full.resize(v.len(), 0.0);
            let mut j = vec![0.0; 2];
            system.row_velocities(&full, &entries, &mut j).unwrap();
            let through_m = dot(&dense_mul(&m, &x), &column[..nv]);
            assert!((through_m - j[c]).abs() < 1e-9 * (1.0 + j[c].abs()), "{through_m} {}", j[c]);
        }
        let dof = random.below(nv);
        let mut response = vec![0.0; v.len()];
        system.dof_response(dof as u32, &mut scratch, &mut response).unwrap();
        let mut unit = vec![0.0; nv];
        unit[dof] = 1.0;
        let expected = dense_solve(&m, &unit);
        assert!(distance(&response[..nv], &expected) < 1e-10 * norm(&expected));
        // Bad input.
        let bad = [Entry::push(5, PartId(0), DVec3::ZERO, DVec3::X)];
        assert!(system.row_velocities(&v, &bad, &mut out).is_err());
        assert!(
            system.response(&bad, &mut scratch, &mut ColumnsMut::new(&mut data, v.len()).unwrap()).is_err()
        );
        let bad = [Entry::push(0, PartId(n as u32), DVec3::ZERO, DVec3::X)];
        assert!(system.row_velocities(&v, &bad, &mut out).is_err());
        assert!(system.dof_response(v.len() as u32, &mut scratch, &mut response).is_err());
        q[0] = f64::NAN;
        assert!(system.prepare(&q).is_err());
        assert_eq!(system.row_velocities(&v, &entries, &mut out), Err(DynamicsError::NotPrepared));
    }
}

#[test]
fn impulses_need_a_factorisation_at_this_configuration() {
    let mut random = SplitMix64(29);
    let (model, state, mut ws) = case(&mut random, TreeParams::default());
    let mut dv = vec![0.0; model.v_len()];
    assert_eq!(apply_impulses(&model, &mut ws, &[], &[], &mut dv), Err(DynamicsError::NotPrepared));
    factorize(&model, &state.q, &mut ws).unwrap();
    assert!(apply_impulses(&model, &mut ws, &[], &[], &mut dv).is_ok());
    compute_poses(&model, &state, &mut ws).unwrap();
    assert_eq!(apply_impulses(&model, &mut ws, &[], &[], &mut dv), Err(DynamicsError::NotPrepared));
    let mut other = Workspace::new(&model);
    assert!(factorize(&model, &state.q[1..], &mut other).is_err());
}

// proves: FON-71, ARN-37
#[test]
fn contact_matrix_of_a_free_body_is_the_closed_form() {
    let mut random = SplitMix64(30);
    for _ in 0..200 {
        let (mass, com, inertia) = articulated_featherstone::testkit::random_inertia(&mut random);
        let model = ModelBuilder::new()
            .link(Link::new("root", Joint::Free).mass(mass, com, inertia))
            .build()
            .unwrap();
        let mut ws = Workspace::new(&model);
        factorize(&model, &State::new(&model).q, &mut ws).unwrap();
        let r = random.vec3(1.0);
        let k = contact_matrix(&model, &ws, 0, DVec3::AXES.map(|e| Force::at_offset(r, e))).unwrap();
        // (1/m) 1 - r~ I^-1 r~ with r from the centre of mass.
        let arm = r - com;
        let tensor = inertia.to_mat3();
        for e in DVec3::AXES {
            let expected = e / mass + (tensor.inverse() * arm.cross(e)).cross(arm);
            assert!((k.to_mat3() * e - expected).length() < 1e-10 * (1.0 + expected.length()));
        }
    }
}

// proves: FON-71, ARN-37
#[test]
fn relative_velocity_changes_by_the_contact_matrix_times_the_impulse() {
    let mut random = SplitMix64(31);
    for round in 0..300 {
        // Two links of one tree (four terms), or of two trees (two), touching at one point of the world.
        let params = random_params(&mut random);
        let trees: Vec<(Model, State, Workspace)> = (0..2).map(|_| case(&mut random, params)).collect();
        let same = round % 2 == 0;
        let (point, p) = (random.vec3(1.0), random.vec3(1.0));
        let places = [0, usize::from(!same)];
        let links = places.map(|t| random.below(trees[t].0.link_count()) as u32);
        let mut a = [[0.0; 3]; 3];
        let mut change = [DVec3::ZERO; 2];
        for t in 0..2 {
            let (model, state, mut ws) = trees[t].clone();
            compute_velocities(&model, &state, &mut ws).unwrap();
            let poses = ws.world_from_links().to_vec();
            let mine: Vec<(u32, f64)> =
                (0..2).filter(|s| places[*s] == t).map(|s| (links[s], [1.0, -1.0][s])).collect();
            if mine.is_empty() {
                continue;
            }
            let at = |link: u32, f: DVec3| poses[link as usize].inverse_force(Force::at_offset(point, f));
            let entries: Vec<LinkImpulse> = DVec3::AXES
                .iter()
                .enumerate()
                .flat_map(|(row, e)| {
                    mine.iter().map(move |(link, sign)| (row, *link, *e * *sign)).collect::<Vec<_>>()
                })
                .map(|(row, link, f)| LinkImpulse { row: row as u32, link, impulse: at(link, f) })
                .collect();
            factorize(&model, &state.q, &mut ws).unwrap();
            let (mut u, mut w) = (vec![0.0; 3 * model.v_len()], [0.0; 9]);
            delassus(&model, &ws, &entries, 3, &mut u, &mut w).unwrap();
            for (k, x) in w.iter().enumerate() {
                a[k / 3][k % 3] += x;
            }
            let pushes: Vec<LinkImpulse> = mine
                .iter()
                .map(|(link, sign)| LinkImpulse { row: 0, link: *link, impulse: at(*link, p * *sign) })
                .collect();
            let mut dv = vec![0.0; model.v_len()];
            apply_impulses(&model, &mut ws, &pushes, &[], &mut dv).unwrap();
            let mut moved = state.clone();
            moved.v.iter_mut().zip(&dv).for_each(|(v, d)| *v += d);
            let mut at_point = |s: &State| {
                compute_velocities(&model, s, &mut ws).unwrap();
                mine.iter()
                    .map(|(link, sign)| {
                        let world = poses[*link as usize].motion(ws.velocities()[*link as usize]);
                        world.velocity_at(point) * *sign
                    })
                    .sum::<DVec3>()
            };
            change[t] = at_point(&moved) - at_point(&state);
        }
        let got = change[0] + change[1];
        let expected = DVec3::from_array(a.map(|row| DVec3::from_array(row).dot(p)));
        let size = 1.0 + a.as_flattened().iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        assert!((got - expected).length() < 1e-10 * size, "{:e}", (got - expected).length());
        // Symmetric, and a push does not do negative work.
        assert!((0..3).all(|r| (0..3).all(|c| (a[r][c] - a[c][r]).abs() < 1e-11 * size)));
        assert!(p.dot(expected) > -1e-11 * size);
    }
}
