//! Aligned axes, massless links and extreme mass ratios.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    Joint, Link, Model, ModelBuilder, State, Workspace, aba, bias_forces, crba, rnea,
    testkit::{TreeParams, random_joint, random_numbers, random_state},
};
use common::{
    dense_solve, distance,
    motion::{G, hinge},
    norm,
};
use sim_math::{
    Pose, Sym3,
    glam::DVec3,
    testkit::{SplitMix64, soak},
};
use sim_traits::DynamicsError;

// proves: FON-76
#[test]
fn aligned_axes_of_massless_links_are_an_error_naming_the_link() {
    // Three hinges about one point: the outer two coincide when the middle one is at 0.
    let build = |outer: DVec3, middle: DVec3| {
        ModelBuilder::new()
            .gravity(G)
            .chain(
                &[hinge(outer), hinge(middle)],
                Link::new("bob", hinge(outer)).mass(
                    1.0,
                    DVec3::new(0.3, 0.2, 0.5),
                    Sym3::from_diagonal(DVec3::new(0.1, 0.2, 0.25)),
                ),
            )
            .build()
            .unwrap()
    };
    let mut random = SplitMix64(39);
    for round in 0..400 {
        // About x, y, x they coincide exactly; about other axes only to rounding, and that is as bad.
        let axes = if round % 2 == 0 {
            [DVec3::X, DVec3::Y]
        } else {
            let outer = random.unit_vec3();
            [outer, random.unit_vec3().cross(outer).normalize()]
        };
        let model = build(axes[0], axes[1]);
        let mut ws = Workspace::new(&model);
        let mut state = State::new(&model);
        state.q = vec![random.range(-3.0, 3.0), 0.0, random.range(-3.0, 3.0)];
        let error = aba(&model, &state, &[0.0; 3], &[], &mut ws).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("part 0") && text.contains("singular"), "{text}");
    }
    let model = build(DVec3::X, DVec3::Y);
    let mut ws = Workspace::new(&model);
    // Nearly aligned is still right: compare with the dense solve where that has digits.
    for exponent in 1..6 {
        let mut state = State::new(&model);
        state.q = vec![0.3, 10.0_f64.powi(-exponent), 0.5];
        state.v = vec![0.1, 0.2, -0.3];
        aba(&model, &state, &[0.1, 0.2, 0.3], &[], &mut ws).unwrap();
        let qdd = ws.qdd().to_vec();
        bias_forces(&model, &state, &[], &mut ws).unwrap();
        let right: Vec<f64> = [0.1, 0.2, 0.3].iter().zip(ws.tau()).map(|(t, b)| t - b).collect();
        let mut m = vec![0.0; 9];
        crba(&model, &state.q, &mut ws, &mut m).unwrap();
        let expected = dense_solve(&m, &right);
        // The condition number is about 10^(2 exponent).
        let allowed = 1e-14 * 10.0_f64.powi(2 * exponent + 1);
        assert!(
            distance(&qdd, &expected) < allowed * norm(&expected),
            "1e-{exponent}: {:e}",
            distance(&qdd, &expected) / norm(&expected)
        );
    }
}

#[test]
fn mass_ratios_of_a_million_are_solved() {
    let mut random = SplitMix64(40);
    for round in 0..400 {
        let heavy_first = round % 2 == 0;
        let mut builder = ModelBuilder::new().gravity(G);
        for i in 0..6 {
            let heavy = (i == 0) == heavy_first && (i == 0 || i == 5);
            let scale = if heavy { 1e6 } else { 1.0 };
            let (mass, com, inertia) = articulated_featherstone::testkit::random_inertia(&mut random);
            let joint = if i == 0 { Joint::Free } else { random_joint(&mut random) };
            let mut link = Link::new(format!("{i}"), joint)
                .at(Pose::new(random.vec3(0.5), random.unit_quat()))
                .mass(mass * scale, com, inertia * scale);
            if i > 0 {
                link = link.on(format!("{}", i - 1));
            }
            builder = builder.link(link);
        }
        let model = builder.build().unwrap();
        let state = random_state(&mut random, &model, TreeParams::default());
        let tau = random_numbers(&mut random, model.v_len());
        let mut ws = Workspace::new(&model);
        aba(&model, &state, &tau, &[], &mut ws).unwrap();
        let qdd = ws.qdd().to_vec();
        rnea(&model, &state, &qdd, &[], &mut ws).unwrap();
        // Backward error: the forces are met relative to the forces that act.
        let wrenches: f64 = ws.joint_wrenches().iter().map(|f| norm(&f.to_array())).fold(1.0, f64::max);
        let size = wrenches + model.total_mass() * 9.81;
        assert!(distance(ws.tau(), &tau) < 1e-12 * size, "{:e} of {size:e}", distance(ws.tau(), &tau));
    }
}

/// A tree whose links hang on composed joints of up to two massless links, with masses a million apart.
fn uneven_tree(random: &mut SplitMix64) -> Model {
    let mut builder = ModelBuilder::new().gravity(G);
    let links = 1 + random.below(8);
    for i in 0..links {
        let scale = [1e-3, 1.0, 1e3][random.below(3)];
        let (mass, com, inertia) = articulated_featherstone::testkit::random_inertia(random);
        let last = if i == 0 && random.below(2) == 0 { Joint::Free } else { moving_joint(random) };
        let mut link = Link::new(format!("{i}"), last)
            .at(Pose::new(random.vec3(0.5), random.unit_quat()))
            .mass(mass * scale, com, inertia * scale);
        if i > 0 {
            link = link.on(format!("{}", random.below(i)));
        }
        let front: Vec<Joint> = if matches!(last, Joint::Free) {
            Vec::new()
        } else {
            (0..random.below(3)).map(|_| moving_joint(random)).collect()
        };
        builder = builder.chain(&front, link);
    }
    builder.build().unwrap()
}

/// A hinge or a slider, at times about a coordinate axis, so that the axes of massless links coincide now and then.
fn moving_joint(random: &mut SplitMix64) -> Joint {
    let axis = if random.below(3) == 0 { DVec3::AXES[random.below(3)] } else { random.unit_vec3() };
    if random.below(3) == 0 { Joint::Prismatic { axis } } else { hinge(axis) }
}

/// The least pivot of a symmetric matrix whose diagonal is scaled to one: zero if it is singular.
fn least_pivot(mut m: Vec<f64>, n: usize) -> f64 {
    let scale: Vec<f64> = (0..n).map(|k| m[k * n + k].sqrt()).collect();
    for r in 0..n {
        for c in 0..n {
            m[r * n + c] /= scale[r] * scale[c];
        }
    }
    let mut least = 1.0_f64;
    for k in 0..n {
        let pivot = m[k * n + k];
        least = least.min(pivot);
        if least <= 1e-12 {
            break;
        }
        for r in k + 1..n {
            let factor = m[r * n + k] / pivot;
            for c in k + 1..n {
                m[r * n + c] -= factor * m[k * n + c];
            }
        }
    }
    least
}

#[test]
fn soak_massless_links_and_uneven_masses_are_solved_or_refused_by_name() {
    let mut random = soak::random(41);
    let (mut solved, mut refused, mut worst, mut regular) = (0_u64, 0_u64, 0.0_f64, 0.0_f64);
    for _ in 0..soak::cases(10_000) {
        let model = uneven_tree(&mut random);
        let mut state = random_state(&mut random, &model, TreeParams::default());
        for q in &mut state.q {
            if random.below(6) == 0 {
                *q = 0.0;
            }
        }
        if matches!(model.joint(0), Some(Joint::Free)) {
            state.q[3..7].copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
        }
        let tau = random_numbers(&mut random, model.v_len());
        let mut ws = Workspace::new(&model);
        match aba(&model, &state, &tau, &[], &mut ws) {
            Ok(()) => {
                solved += 1;
                let qdd = ws.qdd().to_vec();
                assert!(qdd.iter().all(|a| a.is_finite()));
                rnea(&model, &state, &qdd, &[], &mut ws).unwrap();
                // Backward error: what the accelerations make is met relative to the forces that act.
                let mut m = vec![0.0; model.v_len() * model.v_len()];
                let got = ws.tau().to_vec();
                let wrenches = ws.joint_wrenches().iter().map(|f| norm(&f.to_array())).fold(1.0, f64::max);
                crba(&model, &state.q, &mut ws, &mut m).unwrap();
                let size = norm(&m) * norm(&qdd) + wrenches + model.total_mass() * 9.81;
                worst = worst.max(distance(&got, &tau) / size);
            }
            Err(DynamicsError::Singular { part, .. }) => {
                refused += 1;
                let link = part.0;
                assert!(model.inertia(link).unwrap().mass == 0.0, "link {link} has a mass of its own");
                let mut m = vec![0.0; model.v_len() * model.v_len()];
                crba(&model, &state.q, &mut ws, &mut m).unwrap();
                regular = regular.max(least_pivot(m, model.v_len()));
            }
            Err(other) => panic!("{other}"),
        }
    }
    println!("{solved} solved, {refused} refused (pivots below {regular:e}), backward error {worst:e}");
    assert!(solved > refused && refused > 0, "{solved} {refused}");
    assert!(worst < 1e-13, "{worst:e}");
    assert!(regular < 1e-12, "{regular:e}");
}
