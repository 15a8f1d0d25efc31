//! Dense oracles and random cases shared by the tests.
#![allow(dead_code, reason = "each test program uses its own part")]

pub(crate) mod motion;

use articulated_featherstone::{
    Model, State, Workspace,
    testkit::{TreeParams, random_state, random_tree},
};
use sim_math::testkit::SplitMix64;

/// Random parameters: small trees mostly, one in 64 up to 100 links.
pub(crate) fn random_params(random: &mut SplitMix64) -> TreeParams {
    let links = if random.below(64) == 0 { 1 + random.below(100) } else { 1 + random.below(10) };
    TreeParams {
        links,
        chain: random.unit(),
        floating: random.below(2) == 0,
        armature: random.below(3) == 0,
        moving_base: random.below(2) == 0,
        simple_joints: random.below(4) == 0,
        frames: random.below(2) == 0,
    }
}

/// A tree, a state and a workspace.
pub(crate) fn case(random: &mut SplitMix64, params: TreeParams) -> (Model, State, Workspace) {
    let model = random_tree(random, params);
    let state = random_state(random, &model, params);
    let ws = Workspace::new(&model);
    (model, state, ws)
}

/// Solves A x = b by elimination with row pivoting; A is n by n, row by row.
pub(crate) fn dense_solve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let (mut a, mut x) = (a.to_vec(), b.to_vec());
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap();
        if pivot != k {
            for j in 0..n {
                a.swap(k * n + j, pivot * n + j);
            }
            x.swap(k, pivot);
        }
        let (top, bottom) = a.split_at_mut((k + 1) * n);
        let row = &top[k * n..];
        for i in 0..n - k - 1 {
            let line = &mut bottom[i * n..(i + 1) * n];
            let factor = line[k] / row[k];
            if factor != 0.0 {
                for j in k..n {
                    line[j] -= factor * row[j];
                }
                x[k + 1 + i] -= factor * x[k];
            }
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            x[k] -= a[k * n + j] * x[j];
        }
        x[k] /= a[k * n + k];
    }
    x
}

/// A x for a matrix of rows of length x.
pub(crate) fn dense_mul(a: &[f64], x: &[f64]) -> Vec<f64> {
    a.chunks(x.len().max(1)).map(|row| dot(row, x)).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
