//! Analytic derivatives against finite differences, and inverse dynamics of recorded motions.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    DerivativeWorkspace, Model, State, Workspace, aba, aba_derivatives, integrate, rnea, rnea_derivatives,
    testkit::{TreeParams, random_numbers, random_wrenches},
};
use common::{case, norm, random_params};
use sim_math::testkit::soak;

/// Central differences of `f` along the velocities: by q if `position`, else by v. Rows like the derivatives.
fn differences(
    model: &Model,
    state: &State,
    position: bool,
    mut f: impl FnMut(&State) -> Vec<f64>,
) -> Vec<f64> {
    let nv = model.v_len();
    let h = 1e-5;
    let mut out = vec![0.0; nv * nv];
    for k in 0..nv {
        let mut at = |step: f64| {
            let mut moved = state.clone();
            let mut unit = vec![0.0; nv];
            unit[k] = 1.0;
            if position {
                integrate(model, &mut moved.q, &unit, step).unwrap();
            } else {
                moved.v[k] += step;
            }
            f(&moved)
        };
        let (a, b) = (at(h), at(-h));
        for r in 0..nv {
            out[r * nv + k] = (a[r] - b[r]) * (0.5 / h);
        }
    }
    out
}

#[test]
fn soak_derivatives_of_rnea_and_aba_are_finite_differences() {
    let mut random = soak::random(51);
    let mut worst = [0.0_f64; 4];
    for _ in 0..soak::cases(10_000) {
        let params = TreeParams { links: 1 + random.below(8), ..random_params(&mut random) };
        let (model, state, mut ws) = case(&mut random, params);
        let nv = model.v_len();
        let external = random_wrenches(&mut random, &model);
        let qdd = random_numbers(&mut random, nv);
        let tau = random_numbers(&mut random, nv);
        let mut dws = DerivativeWorkspace::new(&model);
        let (mut dq, mut dv, mut dt) = (vec![0.0; nv * nv], vec![0.0; nv * nv], vec![0.0; nv * nv]);
        rnea_derivatives(&model, &state, &qdd, &external, &mut ws, &mut dws, &mut dq, &mut dv).unwrap();
        let mut other = Workspace::new(&model);
        let mut inverse = |s: &State| {
            rnea(&model, s, &qdd, &external, &mut other).unwrap();
            other.tau().to_vec()
        };
        for (slot, analytic, position) in [(0, &dq, true), (1, &dv, false)] {
            let measured = differences(&model, &state, position, &mut inverse);
            let size = norm(&measured) + 1.0;
            for (a, b) in analytic.iter().zip(&measured) {
                worst[slot] = worst[slot].max((a - b).abs() / size);
            }
        }
        aba_derivatives(&model, &state, &tau, &external, &mut ws, &mut dws, &mut dq, &mut dv, &mut dt)
            .unwrap();
        let mut forward = |s: &State| {
            aba(&model, s, &tau, &external, &mut other).unwrap();
            other.qdd().to_vec()
        };
        for (slot, analytic, position) in [(2, &dq, true), (3, &dv, false)] {
            let measured = differences(&model, &state, position, &mut forward);
            let size = norm(&measured) + 1.0;
            for (a, b) in analytic.iter().zip(&measured) {
                worst[slot] = worst[slot].max((a - b).abs() / size);
            }
        }
    }
    println!("derivatives against differences: {worst:?}");
    assert!(worst.iter().all(|w| *w < 1e-6), "{worst:?}");
}
