//! Reaction forces through the integrator: accuracy, iterations, oscillation, methods of solution.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "common/frames.rs"]
mod frames;

use constraint_dynamics::reaction::{JacobianKind, WarmStart};
use frames::{Mechanism, chain};
use sim_math::{
    Pose,
    glam::DVec3,
    integrate::{DoubleEuler, Euler, Heun, Integrator, Rk4},
};

/// The cube of experiment E1: side 300, masses at its corners, hung by a corner.
fn cube() -> (Mechanism, f64) {
    let (h, distance) = (1.0, 150.0 * 3.0_f64.sqrt());
    // 0.1087 rad per frame for small swings: as the printed end position has it.
    let gravity = 0.1087 * 0.1087 * (360_000.0 + 8.0 * 67_500.0) / (8.0 * distance);
    let mut m = Mechanism::new(DVec3::Y * gravity);
    let body = m.body(8.0, DVec3::splat(360_000.0), Pose::from_translation(DVec3::new(150.0, 150.0, -150.0)));
    m.pin(None, body, DVec3::ZERO);
    m.params.max_error = 1e-3;
    m.params.velocity_share = 0.0;
    (m, h)
}

#[test]
fn experiment_1() {
    let runs: [(&str, Box<dyn Integrator>, Option<Box<dyn Integrator>>); 4] = [
        ("RK4/RK4", Box::new(Rk4), None),
        ("Euler/RK4", Box::new(Rk4), Some(Box::new(Euler::MODIFIED))),
        ("Heun/Heun", Box::new(Heun), None),
        ("double", Box::new(DoubleEuler), None),
    ];
    for (name, integrator, test) in runs {
        for jacobian in [JacobianKind::Empirical { central: true }, JacobianKind::Empirical { central: false }, JacobianKind::Analytic] {
            let (mut m, h) = cube();
            m.params.jacobian = jacobian;
            let boxed = |i: &dyn Fn() -> Box<dyn Integrator>| i();
            m.integrator = match name {
                "double" => Box::new(DoubleEuler),
                "Heun/Heun" => Box::new(Heun),
                _ => boxed(&|| Box::new(Rk4)),
            };
            if name == "Euler/RK4" {
                m.test = Some(Box::new(Euler::MODIFIED));
            }
            let start = m.energy();
            let (mut iterations, mut error, mut evaluations) = (0, 0.0, 0);
            for _ in 0..500 {
                let report = m.step(h);
                iterations += report.total_iterations;
                error += report.error;
                evaluations += report.evaluations;
            }
            println!(
                "{name} {jacobian:?}: at {:?}, iterations {}, error {:e}, evaluations {}, energy {start} -> {}",
                m.at(0), f64::from(iterations) / 500.0, error / 500.0, evaluations as f64 / 500.0, m.energy()
            );
        }
        let _ = (integrator, test);
    }
}

#[test]
fn experiment_8() {
    for n in [1, 2, 5, 10, 15] {
        let mut m = chain(n);
        let start = m.energy();
        let (mut iterations, mut most) = (0, 0);
        for _ in 0..250 {
            let report = m.step(0.02);
            iterations += report.iterations;
            most = most.max(report.iterations);
        }
        println!("N = {n}: {} iterations a frame, {most} at most, energy {start} -> {}", f64::from(iterations) / 250.0, m.energy());
    }
}

#[test]
fn experiment_2() {
    for (share, rk4) in [(0.0, false), (0.0, true), (0.5, false), (0.5, true)] {
        let mut m = chain(10);
        m.params.velocity_share = share;
        if rk4 { m.integrator = Box::new(Rk4); }
        let start = m.energy();
        let (mut iterations, mut k) = (0, 0);
        while k < 400 {
            let report = m.step(0.1);
            iterations += report.iterations;
            if report.unsolved > 0 { println!("  frame {k}: error {} {:?}", report.error, m.workspace.events); }
            if report.error > 1.0 { break; }
            k += 1;
        }
        println!("a = {share} rk4 {rk4}: {k} frames, {} iterations, energy {start} -> {}", f64::from(iterations) / f64::from(k), m.energy());
    }
    let _ = WarmStart::Cold;
}
