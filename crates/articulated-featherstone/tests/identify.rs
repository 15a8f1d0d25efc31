//! Bodies found from their motion.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::disallowed_methods,
    reason = "tests may panic, compare exactly on purpose and use the platform's functions"
)]

mod common;

use articulated_featherstone::{
    InertiaEstimator, Joint, Link, ModelBuilder, State, TreeMotion, Workspace, aba, difference,
    testkit::random_inertia,
};
use sim_math::{
    glam::DVec3,
    integrate::{Integrator, OdeScratch, Rk4, SecondOrder},
    spatial::{Force, Motion, RigidInertia},
    testkit::SplitMix64,
};

/// Relative error of mass, centre and inertia about the centre.
fn error(got: &RigidInertia, real: &RigidInertia) -> f64 {
    let tensor = |b: &RigidInertia| b.inertia().to_array();
    let size = tensor(real).iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    let off = tensor(got).iter().zip(tensor(real)).fold(0.0_f64, |s, (a, b)| s.max((a - b).abs()));
    let center = (got.center_of_mass() - real.center_of_mass()).length() / real.center_of_mass().length();
    (off / size).max(center).max((got.mass - real.mass).abs() / real.mass)
}

#[test]
fn exact_samples_give_the_body_back() {
    let mut random = SplitMix64(111);
    for _ in 0..100 {
        let (mass, com, inertia) = random_inertia(&mut random);
        let real = RigidInertia::from_com(mass, com, inertia);
        let mut estimator = InertiaEstimator::new();
        for _ in 0..10 {
            let (v, a) = (
                Motion::new(random.vec3(2.0), random.vec3(2.0)),
                Motion::new(random.vec3(5.0), random.vec3(5.0)),
            );
            estimator.add(v, a, real.mul_motion(a) + real.bias_force(v)).unwrap();
        }
        let got = estimator.solve().unwrap();
        assert!(error(&got, &real) < 1e-9, "{:e}", error(&got, &real));
    }
}

// proves: CLI-100
#[test]
fn a_body_is_identified_from_recorded_poses() {
    let mut random = SplitMix64(112);
    let (mass, com, inertia) = random_inertia(&mut random);
    let real = RigidInertia::from_com(mass, com, inertia);
    let gravity = DVec3::new(0.0, 0.0, -9.81);
    let model = ModelBuilder::new()
        .gravity(gravity)
        .link(Link::new("limb", Joint::Free).mass(mass, com, inertia))
        .build()
        .unwrap();
    let mut state = State::new(&model);
    state.v = vec![0.4, -0.3, 0.6, 0.1, 0.2, -0.1];
    // A known push on the limb, held up against gravity, recorded every 5 ms as poses alone.
    let push = |t: f64| {
        let wave = |k: f64, phase: f64| (k * t + phase).sin();
        [
            0.3 * wave(5.0, 0.0),
            0.2 * wave(7.0, 1.0),
            0.3 * wave(6.0, 2.0),
            4.0 * wave(4.0, 0.5),
            5.0 * wave(5.5, 1.5),
            6.0 * wave(3.0, 2.5),
        ]
    };
    let (h, fine) = (5e-3, 10);
    let mut poses = vec![state.q.clone()];
    let motion = TreeMotion::new(&model, &state).with_control(|s, tau| tau.copy_from_slice(&push(s.t)));
    let mut system = SecondOrder::new(motion);
    let mut y: Vec<f64> = state.q.iter().chain(&state.v).copied().collect();
    let mut scratch = OdeScratch::new(&Rk4, y.len());
    for i in 0..400 * fine {
        let dt = h / f64::from(fine);
        Rk4.advance(&mut system, f64::from(i) * dt, dt, &mut y, &mut scratch).unwrap();
        if (i + 1) % fine == 0 {
            poses.push(y[..7].to_vec());
        }
    }
    // Central differences, as one would do with recorded markers.
    let twist = |a: &[f64], b: &[f64]| {
        let mut v = [0.0; 6];
        difference(&model, a, b, &mut v).unwrap();
        v.map(|x| x / (2.0 * h))
    };
    let velocities: Vec<[f64; 6]> = poses.windows(3).map(|w| twist(&w[0], &w[2])).collect();
    let mut estimator = InertiaEstimator::new();
    let mut ws = Workspace::new(&model);
    for (k, w) in velocities.windows(3).enumerate() {
        // velocities[k] belongs to pose k + 1, so the middle one to pose k + 2.
        let a: [f64; 6] = std::array::from_fn(|c| (w[2][c] - w[0][c]) / (2.0 * h));
        state.q.copy_from_slice(&poses[k + 2]);
        articulated_featherstone::compute_poses(&model, &state, &mut ws).unwrap();
        let up = ws.world_from_links()[0].rotation.transpose() * -gravity;
        let a = Motion::from_array(a) + Motion::new(DVec3::ZERO, up);
        estimator.add(Motion::from_array(w[1]), a, Force::from_array(push((k + 2) as f64 * h))).unwrap();
    }
    let got = estimator.solve().unwrap();
    println!("identified within {:e}", error(&got, &real));
    assert!(error(&got, &real) < 1e-2, "{:e}", error(&got, &real));
    aba(&model, &state, &[0.0; 6], &[], &mut ws).unwrap();
}

#[test]
fn a_motion_that_shows_too_little_is_refused() {
    assert!(InertiaEstimator::new().solve().is_err());
    // Falling without turning says nothing about the inertia.
    let mut estimator = InertiaEstimator::new();
    for k in 0..20 {
        let a = Motion::new(DVec3::ZERO, DVec3::new(f64::from(k), 1.0, 2.0));
        estimator.add(Motion::ZERO, a, Force::new(DVec3::ZERO, a.linear * 2.0)).unwrap();
    }
    assert!(estimator.solve().is_err());
    assert!(estimator.add(Motion::ZERO, Motion::ZERO, Force::new(DVec3::NAN, DVec3::ZERO)).is_err());
}
