//! Two algorithms, one answer, on random trees of all joints.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    Joint, Model, State, Workspace, aba, aba_with_reactions, bias_forces, compute_accelerations, crba,
    factorize, rnea, solve_mass,
    testkit::{TreeParams, random_numbers, random_wrenches, read_tree},
};
use common::{case, dense_mul, dense_solve, distance, dot, norm, random_params};
use sim_math::{
    spatial::{Force, Motion},
    testkit::{SplitMix64, soak},
};

fn mass_matrix(model: &Model, state: &State, ws: &mut Workspace) -> Vec<f64> {
    let nv = model.v_len();
    let mut m = vec![0.0; nv * nv];
    crba(model, &state.q, ws, &mut m).unwrap();
    m
}

// proves: MIR-60, FON-66, MIR-62
#[test]
fn soak_aba_equals_crba_and_solve_and_rnea_undoes_it() {
    let mut random = soak::random(1);
    let (mut worst, mut worst_rnea) = (0.0_f64, 0.0_f64);
    for _ in 0..soak::cases(10_000) {
        let params = random_params(&mut random);
        let (model, state, mut ws) = case(&mut random, params);
        let tau = random_numbers(&mut random, model.v_len());
        let external = if random.below(2) == 0 { random_wrenches(&mut random, &model) } else { Vec::new() };
        let m = mass_matrix(&model, &state, &mut ws);
        bias_forces(&model, &state, &external, &mut ws).unwrap();
        let right: Vec<f64> = tau.iter().zip(ws.tau()).map(|(t, b)| t - b).collect();
        let expected = dense_solve(&m, &right);
        aba(&model, &state, &tau, &external, &mut ws).unwrap();
        let qdd = ws.qdd().to_vec();
        worst = worst.max(distance(&qdd, &expected) / norm(&expected).max(1e-300));
        let size = norm(&dense_mul(&m, &qdd)).max(norm(ws.tau())).max(norm(&tau));
        rnea(&model, &state, &qdd, &external, &mut ws).unwrap();
        if model.v_len() > 0 {
            worst_rnea = worst_rnea.max(distance(ws.tau(), &tau) / size);
        }
    }
    println!("aba against crba {worst:e}, rnea of aba {worst_rnea:e}");
    assert!(worst < 1e-10, "{worst:e}");
    assert!(worst_rnea < 1e-10, "{worst_rnea:e}");
}

#[test]
fn soak_crba_columns_are_rnea_and_solve_undoes_the_mass_matrix() {
    let mut random = soak::random(2);
    for _ in 0..soak::cases(10_000) {
        let params = random_params(&mut random);
        let (model, state, mut ws) = case(&mut random, params);
        let nv = model.v_len();
        let m = mass_matrix(&model, &state, &mut ws);
        bias_forces(&model, &state, &[], &mut ws).unwrap();
        let bias = ws.tau().to_vec();
        let size = m.iter().fold(norm(&bias), |s, x| s.max(x.abs()));
        for k in 0..nv {
            let mut unit = vec![0.0; nv];
            unit[k] = 1.0;
            rnea(&model, &state, &unit, &[], &mut ws).unwrap();
            for j in 0..nv {
                let column = ws.tau()[j] - bias[j];
                assert!((column - m[j * nv + k]).abs() < 1e-12 * size);
                assert_eq!(m[j * nv + k], m[k * nv + j]);
            }
        }
        factorize(&model, &state.q, &mut ws).unwrap();
        let x = random_numbers(&mut random, nv);
        let mut y = vec![0.0; nv];
        solve_mass(&model, &mut ws, &dense_mul(&m, &x), &mut y).unwrap();
        assert!(distance(&x, &y) < 1e-10 * norm(&x).max(1.0), "{:e}", distance(&x, &y));
    }
}

/// The raw system in (a, f), 12 numbers for each link: Newton-Euler for each link, τ along the free modes and
/// no relative acceleration along the constrained ones. Returns q̈.
fn dense_multipliers(
    model: &Model,
    state: &State,
    tau: &[f64],
    external: &[Force],
    ws: &mut Workspace,
) -> Vec<f64> {
    let n = model.link_count();
    let size = 12 * n;
    let (mut a, mut b) = (vec![0.0; size * size], vec![0.0; size]);
    // Accelerations at q̈ = 0 give the velocity products; poses give the transforms.
    compute_accelerations(model, state, &vec![0.0; model.v_len()], ws).unwrap();
    let parent_from = |i: usize| {
        let world = ws.world_from_links()[i];
        match model.parent(i as u32) {
            Some(p) => ws.world_from_links()[p as usize].inverse() * world,
            None => {
                sim_math::spatial::SpatialTransform::from_pose(&state.base.world_from_base).inverse() * world
            }
        }
    };
    let mut row = 6 * n;
    let base = {
        let up = state.base.world_from_base.inverse_transform_vector(-model.gravity());
        state.base.acceleration + Motion::new(sim_math::glam::DVec3::ZERO, up)
    };
    for i in 0..n {
        let (x, inertia, v) = (parent_from(i), model.inertia(i as u32).unwrap(), ws.velocities()[i]);
        let to_parent = x.force_adjoint();
        for (r, line) in inertia.to_mat6().iter().enumerate() {
            for (c, entry) in line.iter().enumerate() {
                a[(6 * i + r) * size + 6 * i + c] = *entry;
            }
            a[(6 * i + r) * size + 6 * (n + i) + r] = -1.0;
        }
        let right = external[i] - inertia.bias_force(v);
        b[6 * i..6 * i + 6].copy_from_slice(&right.to_array());
        let parent = model.parent(i as u32).map(|p| p as usize);
        if let Some(p) = parent {
            for r in 0..6 {
                for c in 0..6 {
                    a[(6 * p + r) * size + 6 * (n + i) + c] = to_parent[r][c];
                }
            }
        }
        // c_i from the accelerations at q̈ = 0.
        let before = parent.map_or(base, |p| ws.proper_accelerations()[p]);
        let carried = x.inverse_motion(before);
        let c_i = ws.proper_accelerations()[i] - carried;
        let axes = ws.joint_axes(model, i as u32).to_vec();
        for (k, s) in axes.iter().enumerate() {
            for (c, entry) in s.to_array().iter().enumerate() {
                a[row * size + 6 * (n + i) + c] = *entry;
            }
            b[row] = tau[model.v_range(i as u32).start + k];
            row += 1;
        }
        for mode in complement(&axes) {
            for (c, entry) in mode.iter().enumerate() {
                a[row * size + 6 * i + c] = *entry;
            }
            let mode_force = Force::from_array(mode);
            b[row] = mode_force.dot(c_i);
            match parent {
                Some(p) => {
                    let on_parent = x.force(mode_force).to_array();
                    for (c, entry) in on_parent.iter().enumerate() {
                        a[row * size + 6 * p + c] = -entry;
                    }
                }
                None => b[row] += mode_force.dot(x.inverse_motion(base)),
            }
            row += 1;
        }
    }
    assert_eq!(row, size);
    let solution = dense_solve(&a, &b);
    let acceleration = |i: usize| Motion::from_array(solution[6 * i..6 * i + 6].try_into().unwrap());
    let mut qdd = Vec::new();
    for i in 0..n {
        let before = model.parent(i as u32).map_or(base, |p| acceleration(p as usize));
        let zero_before = model.parent(i as u32).map_or(base, |p| ws.proper_accelerations()[p as usize]);
        let x = parent_from(i);
        let c_i = ws.proper_accelerations()[i] - x.inverse_motion(zero_before);
        let relative = acceleration(i) - x.inverse_motion(before) - c_i;
        qdd.extend(coordinates(ws.joint_axes(model, i as u32), relative));
    }
    qdd
}

/// An orthonormal basis of what is perpendicular to the axes, as six numbers each.
fn complement(axes: &[Motion]) -> Vec<[f64; 6]> {
    let mut basis: Vec<[f64; 6]> = Vec::new();
    let mut push = |mut x: [f64; 6], keep: f64| -> bool {
        for _ in 0..2 {
            for b in &basis {
                let d = dot(&x, b);
                for c in 0..6 {
                    x[c] -= d * b[c];
                }
            }
        }
        let length = norm(&x);
        if length <= keep {
            return false;
        }
        basis.push(x.map(|c| c / length));
        true
    };
    for s in axes {
        assert!(push(s.to_array(), 1e-9));
    }
    for threshold in [0.4, 1e-6] {
        for c in 0..6 {
            let mut unit = [0.0; 6];
            unit[c] = 1.0;
            push(unit, threshold);
        }
    }
    assert_eq!(basis.len(), 6);
    basis.split_off(axes.len())
}

/// The least-squares coordinates of a motion along the axes.
fn coordinates(axes: &[Motion], m: Motion) -> Vec<f64> {
    let k = axes.len();
    let mut gram = vec![0.0; k * k];
    let mut right = vec![0.0; k];
    for i in 0..k {
        right[i] = dot(&axes[i].to_array(), &m.to_array());
        for j in 0..k {
            gram[i * k + j] = dot(&axes[i].to_array(), &axes[j].to_array());
        }
    }
    dense_solve(&gram, &right)
}

// proves: ARN-22, ARN-21
#[test]
fn soak_aba_equals_the_dense_multiplier_system() {
    let mut random = soak::random(3);
    let mut worst = 0.0_f64;
    for _ in 0..soak::cases(10_000) {
        let params =
            TreeParams { links: 1 + random.below(12), armature: false, ..random_params(&mut random) };
        let (model, state, mut ws) = case(&mut random, params);
        let tau = random_numbers(&mut random, model.v_len());
        let external = random_wrenches(&mut random, &model);
        let expected = dense_multipliers(&model, &state, &tau, &external, &mut ws);
        aba(&model, &state, &tau, &external, &mut ws).unwrap();
        worst = worst.max(distance(ws.qdd(), &expected) / norm(&expected).max(1e-300));
    }
    assert!(worst < 1e-10, "{worst:e}");
}

// proves: ARN-06, CLI-84
#[test]
fn free_and_constrained_modes_span_all_six() {
    let mut random = SplitMix64(4);
    for _ in 0..500 {
        let (model, _, ws) = case(&mut random, TreeParams { links: 3, ..TreeParams::default() });
        for link in 0..3 {
            let axes = ws.joint_axes(&model, link);
            let rest = complement(axes);
            assert_eq!(axes.len() + rest.len(), 6);
            for mode in &rest {
                for s in axes {
                    assert!(dot(&s.to_array(), mode).abs() < 1e-14);
                }
            }
        }
    }
}

// proves: ARN-12
#[test]
fn reactions_carry_tau_along_the_free_modes_exactly() {
    let mut random = SplitMix64(5);
    for _ in 0..500 {
        let params = TreeParams { armature: false, ..random_params(&mut random) };
        let (model, state, mut ws) = case(&mut random, params);
        let tau = random_numbers(&mut random, model.v_len());
        let external = random_wrenches(&mut random, &model);
        aba_with_reactions(&model, &state, &tau, &external, &mut ws).unwrap();
        for link in 0..model.link_count() as u32 {
            let f = ws.joint_wrenches()[link as usize];
            for (k, s) in model.v_range(link).zip(ws.joint_axes(&model, link)) {
                let size = norm(&f.to_array()) + 1.0;
                assert!((s.dot(f) - tau[k]).abs() < 1e-9 * size, "{:e}", s.dot(f) - tau[k]);
            }
        }
    }
}

#[test]
fn workload_models_give_the_published_norms() {
    for (text, expected) in [
        (include_str!("models/chain10.tree"), 129.630_636_1),
        (include_str!("models/arm6.tree"), 3_119.652_186),
        (include_str!("models/humanoid30.tree"), 348.480_800_7),
    ] {
        let (model, state, tau) = read_tree(text).unwrap();
        let mut ws = Workspace::new(&model);
        aba(&model, &state, &tau, &[], &mut ws).unwrap();
        let got = norm(ws.qdd());
        assert!((got - expected).abs() < 1e-9 * expected, "{got} instead of {expected}");
    }
}

#[test]
fn reused_workspaces_give_the_same_bits() {
    let mut random = SplitMix64(6);
    for _ in 0..100 {
        let params = random_params(&mut random);
        let (model, state, mut ws) = case(&mut random, params);
        let other = articulated_featherstone::testkit::random_state(&mut random, &model, params);
        let tau = random_numbers(&mut random, model.v_len());
        aba(&model, &other, &tau, &[], &mut ws).unwrap();
        mass_matrix(&model, &other, &mut ws);
        aba(&model, &state, &tau, &[], &mut ws).unwrap();
        let mut fresh = Workspace::new(&model);
        aba(&model, &state, &tau, &[], &mut fresh).unwrap();
        assert_eq!(ws.qdd(), fresh.qdd());
    }
    assert_eq!(Joint::Free.v_len(), 6);
}

// proves: ARN-19
#[test]
fn wrenches_on_links_superpose_and_act_through_the_cross_inertia() {
    let mut random = SplitMix64(7);
    for _ in 0..300 {
        let params = random_params(&mut random);
        let (model, state, mut ws) = case(&mut random, params);
        let (nv, n) = (model.v_len(), model.link_count());
        let tau = random_numbers(&mut random, nv);
        let (f, g) = (random_wrenches(&mut random, &model), random_wrenches(&mut random, &model));
        let both: Vec<Force> = f.iter().zip(&g).map(|(f, g)| *f + *g * 2.0).collect();
        let mut qdd = |external: &[Force]| {
            aba(&model, &state, &tau, external, &mut ws).unwrap();
            ws.qdd().to_vec()
        };
        let (none, of_f, of_g, of_both) = (qdd(&[]), qdd(&f), qdd(&g), qdd(&both));
        let sum: Vec<f64> =
            (0..nv).map(|k| none[k] + (of_f[k] - none[k]) + 2.0 * (of_g[k] - none[k])).collect();
        let size = 1.0 + norm(&none) + norm(&of_f) + norm(&of_g);
        assert!(distance(&of_both, &sum) < 1e-10 * size);
        // One wrench alone: a_i changes by the cross inertia times f_j.
        let (i, j) = (random.below(n), random.below(n));
        let mut single = vec![Force::ZERO; n];
        single[j] = f[j];
        compute_accelerations(&model, &state, &none, &mut ws).unwrap();
        let before = ws.proper_accelerations()[i];
        aba(&model, &state, &tau, &single, &mut ws).unwrap();
        let after = ws.qdd().to_vec();
        compute_accelerations(&model, &state, &after, &mut ws).unwrap();
        let change = (ws.proper_accelerations()[i] - before).to_array();
        factorize(&model, &state.q, &mut ws).unwrap();
        let kappa = articulated_featherstone::cross_inertia(&model, &ws, i as u32, j as u32).unwrap();
        let expected: Vec<f64> = kappa.iter().map(|row| dot(row, &f[j].to_array())).collect();
        let size = size + norm(&before.to_array());
        assert!(distance(&change, &expected) < 1e-9 * size, "{:e}", distance(&change, &expected) / size);
    }
}

// proves: ARN-20
#[test]
fn articulated_inertias_are_positive_and_both_forms_of_what_passes_a_joint_agree() {
    let mut random = SplitMix64(8);
    for _ in 0..300 {
        let params = TreeParams { armature: false, ..random_params(&mut random) };
        let (model, state, mut ws) = case(&mut random, params);
        factorize(&model, &state.q, &mut ws).unwrap();
        for link in 0..model.link_count() as u32 {
            let inertia = ws.articulated_inertias()[link as usize].to_mat6();
            // Positive: all pivots of elimination are.
            let mut pivots = inertia;
            for k in 0..6 {
                assert!(pivots[k][k] > 0.0, "{}", pivots[k][k]);
                for r in k + 1..6 {
                    let factor = pivots[r][k] / pivots[k][k];
                    for c in k..6 {
                        pivots[r][c] -= factor * pivots[k][c];
                    }
                }
            }
            // Orthonormal free modes and their complement.
            let mut basis: Vec<Vec<f64>> = Vec::new();
            let free = ws.joint_axes(&model, link).iter().map(|s| s.to_array().to_vec());
            let units = (0..6).map(|k| (0..6).map(|i| f64::from(u8::from(i == k))).collect::<Vec<f64>>());
            let count = free.len();
            for mut x in free.chain(units) {
                for _ in 0..2 {
                    for b in &basis {
                        let along = dot(&x, b);
                        x.iter_mut().zip(b).for_each(|(x, b)| *x -= along * b);
                    }
                }
                let length = norm(&x);
                if length > 1e-6 {
                    basis.push(x.iter().map(|x| x / length).collect());
                }
            }
            assert_eq!(basis.len(), 6);
            let flat = inertia.as_flattened();
            let times = |x: &[f64]| dense_mul(flat, x);
            let (phi, bar) = basis.split_at(count);
            // N = I - I phi (phi' I phi)^-1 phi' I, column by column, and N = bar (bar' I^-1 bar)^-1 bar'.
            let small: Vec<f64> =
                phi.iter().flat_map(|a| phi.iter().map(|b| dot(a, &times(b))).collect::<Vec<_>>()).collect();
            let inverse: Vec<Vec<f64>> = bar.iter().map(|b| dense_solve(flat, b)).collect();
            let other: Vec<f64> =
                bar.iter().flat_map(|a| inverse.iter().map(|b| dot(a, b)).collect::<Vec<_>>()).collect();
            let size = norm(flat);
            for k in 0..6 {
                let e: Vec<f64> = (0..6).map(|i| f64::from(u8::from(i == k))).collect();
                let column = times(&e);
                let mut first = column.clone();
                if count > 0 {
                    let along = dense_solve(&small, &phi.iter().map(|p| dot(p, &column)).collect::<Vec<_>>());
                    for (p, a) in phi.iter().zip(&along) {
                        first.iter_mut().zip(times(p)).for_each(|(x, t)| *x -= a * t);
                    }
                }
                let mut second = vec![0.0; 6];
                if count < 6 {
                    let across = dense_solve(&other, &bar.iter().map(|b| b[k]).collect::<Vec<_>>());
                    for (b, a) in bar.iter().zip(&across) {
                        second.iter_mut().zip(b).for_each(|(x, b)| *x += a * b);
                    }
                }
                assert!(distance(&first, &second) < 1e-9 * size, "{:e}", distance(&first, &second) / size);
                // N phi = 0, N being symmetric.
                assert!(phi.iter().all(|p| dot(p, &first).abs() < 1e-10 * size));
            }
        }
    }
}
