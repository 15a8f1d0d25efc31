//! Reaction forces through the integrator: the experiments of Barenbrug (2000), with the figures of the thesis beside ours.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "common/frames.rs"]
mod frames;

use constraint_dynamics::reaction::JacobianKind;
use frames::{Mechanism, chain};
use sim_math::{
    Pose,
    dense::SolveMethod,
    glam::DVec3,
    integrate::{Euler, Heun, IntegrateError, IntegrateReport, Integrator, OdeScratch, OdeSystem, Rk4},
    ops,
};

/// The cube of experiment E1: side 300, masses at its corners, hung by a corner.
fn cube() -> Mechanism {
    let distance = 150.0 * 3.0_f64.sqrt();
    // 0.1087 rad per frame of 1 s for small swings: as the printed end position has it.
    let gravity = 0.1087 * 0.1087 * (360_000.0 + 8.0 * 67_500.0) / (8.0 * distance);
    let mut m = Mechanism::new(DVec3::Y * gravity);
    let body = m.body(8.0, DVec3::splat(360_000.0), Pose::from_translation(DVec3::new(150.0, 150.0, -150.0)));
    m.pin(None, body, DVec3::ZERO);
    m.params.max_error = 1e-3;
    m.params.velocity_share = 0.0;
    m.integrator = Box::new(Rk4);
    m
}

/// Mean iterations, mean error and mean evaluations of 500 frames.
fn swing(m: &mut Mechanism) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for _ in 0..500 {
        let report = m.step(1.0);
        assert_eq!(report.unsolved, 0);
        let evaluations = report.evaluations as f64;
        for (sum, x) in sums.iter_mut().zip([f64::from(report.iterations), report.error, evaluations]) {
            *sum += x / 500.0;
        }
    }
    sums
}

// proves: DYN-101, DYN-100
// Thesis, test 1 (RK4 for test forces too): 1 iteration, 4.1e-5, 28 evaluations. Test 2 (Euler for test forces): 1.6 iterations, 1.9e-4, 12.4 evaluations, at
// (92.927, 224.119, −92.927). We look at the first guess as well, which is one integration more per frame.
#[test]
fn a_cube_on_its_corner_as_in_the_first_experiment() {
    let mut rows = Vec::new();
    for (kind, test) in [
        (JacobianKind::Empirical { central: true }, false),
        (JacobianKind::Empirical { central: true }, true),
        (JacobianKind::Empirical { central: false }, false),
        (JacobianKind::Analytic, false),
    ] {
        let mut m = cube();
        m.params.jacobian = kind;
        if test {
            m.test = Some(Box::new(Euler::MODIFIED));
        }
        let start = m.energy();
        let [iterations, error, evaluations] = swing(&mut m);
        let at = m.at(0);
        println!(
            "{kind:?}, Euler for tests {test}: {iterations} iterations, error {error:e}, {evaluations} evaluations, at {at}"
        );
        // A swing loses its height: one part in ten thousand of what flows.
        assert!((m.energy() / start - 1.0).abs() < 2e-4);
        assert!((at - DVec3::new(92.927, 224.119, -92.927)).length() < 1.5, "{at}");
        assert!((at.x + at.z).abs() < 1e-3, "in the plane x = −z");
        rows.push([iterations, error, evaluations]);
    }
    assert!(rows[0][0] < 1.1 && rows[1][0] > 1.2 && rows[1][0] < 1.8 && rows[3][0] < 2.0, "{rows:?}");
    // Half of the evaluations, and more iterations.
    assert!(rows[1][2] < 0.5 * rows[0][2], "{rows:?}");
    // Central differences gain nothing that is worth as many test forces again.
    assert!((rows[2][0] - rows[0][0]).abs() < 0.05 && rows[2][2] < rows[0][2], "{rows:?}");
    assert!(rows[3][2] < rows[1][2], "derivatives by factors need no test forces");
}

/// A method that the crate does not know: explicit midpoint.
#[derive(Debug)]
struct Midpoint;

impl Integrator for Midpoint {
    fn name(&self) -> &'static str {
        "midpoint"
    }
    fn order(&self) -> u32 {
        2
    }
    fn scratch_rows(&self) -> usize {
        0
    }
    fn advance(
        &self,
        system: &mut dyn OdeSystem,
        t: f64,
        dt: f64,
        y: &mut [f64],
        _: &mut OdeScratch,
    ) -> Result<IntegrateReport, IntegrateError> {
        let (mut slope, mut middle) = ([0.0; 7], [0.0; 7]);
        let stopped = |_| IntegrateError::Aborted { t, code: 0 };
        system.derivative(t, y, &mut slope).map_err(stopped)?;
        middle.iter_mut().zip(y.iter()).zip(slope).for_each(|((m, y), k)| *m = y + 0.5 * dt * k);
        system.project(&mut middle);
        system.derivative(t + 0.5 * dt, &middle, &mut slope).map_err(stopped)?;
        y.iter_mut().zip(slope).for_each(|(y, k)| *y += dt * k);
        system.project(y);
        Ok(IntegrateReport { t: t + dt, evaluations: 2, accepted: 1, ..Default::default() })
    }
}

// proves: DYN-17
#[test]
fn an_integrator_of_ones_own_moves_the_bodies() {
    let mut m = cube();
    m.integrator = Box::new(Midpoint);
    m.params.max_error = 1e-6;
    let (start, mut evaluations) = (m.energy(), 0);
    for _ in 0..500 {
        let report = m.step(1.0);
        assert!(report.error < 1e-6 && report.evaluations % 2 == 0);
        evaluations += report.evaluations;
    }
    assert!(evaluations >= 2000);
    // Its own energy error, of order two, and not that of another method.
    let drift = m.energy() / start - 1.0;
    println!("midpoint: energy off by {drift:e}");
    assert!(drift.abs() > 1e-4 && drift.abs() < 0.2);
}

/// Frames until the chain is lost, iterations per frame, and the energy.
fn ten_cubes(share: f64, every: u32, rk4: bool, frames: u32) -> (u32, f64, f64, u32) {
    let mut m = chain(10);
    (m.params.velocity_share, m.params.velocity_every) = (share, every);
    m.integrator = if rk4 { Box::new(Rk4) } else { Box::new(Heun) };
    let (mut iterations, mut unsolved) = (0, 0);
    for k in 0..frames {
        let Ok(report) = m.try_step(0.1) else { return (k, 0.0, m.energy(), unsolved) };
        iterations += report.iterations;
        unsolved += report.unsolved;
        if report.error > 1.0 {
            return (k, 0.0, m.energy(), unsolved);
        }
    }
    (frames, f64::from(iterations) / f64::from(frames), m.energy(), unsolved)
}

// proves: DYN-117
// Thesis: without velocity terms the chain is lost shortly after frame 70; with them the forces are smooth.
#[test]
fn ten_cubes_oscillate_without_velocity_terms_and_not_with_them() {
    let (lost, ..) = ten_cubes(0.0, 1, false, 400);
    println!("without velocity terms lost at frame {lost}");
    assert!(lost < 100);
    for rk4 in [false, true] {
        let (frames, iterations, energy, unsolved) = ten_cubes(0.5, 1, rk4, 400);
        println!("with them: {iterations} iterations a frame, energy 85 -> {energy}");
        assert_eq!((frames, unsolved), (400, 0));
        assert!(iterations < 2.6 && (energy - 85.0).abs() < 1.0, "{iterations} {energy}");
    }
}

// The alternating part is multiplied by (2a−1)/(2a+1) from frame to frame.
#[test]
fn the_hidden_oscillation_has_its_growth_rate() {
    for share in [0.1_f64, 0.25, 0.5, 0.75, 1.0] {
        let mut m = Mechanism::new(DVec3::ZERO);
        let body = m.body(1.0, DVec3::ONE, Pose::IDENTITY);
        m.pin(None, body, DVec3::ZERO);
        m.params.velocity_share = share;
        m.params.max_error = 1e-14;
        // The point has no error, and a rate.
        m.bodies[0].state.velocity.linear.x = 1.0;
        let mut rates = vec![];
        for _ in 0..4 {
            m.step(0.01);
            rates.push(m.bodies[0].state.velocity.linear.x);
        }
        let kappa = (2.0 * share - 1.0) / (2.0 * share + 1.0);
        // The first frame begins without an error: −1/(2a + 1).
        assert!((rates[0] + 1.0 / (2.0 * share + 1.0)).abs() < 1e-9, "{share}: {rates:?}");
        for pair in rates.windows(2) {
            assert!((pair[1] - kappa * pair[0]).abs() < 1e-9, "{share}: {rates:?}");
        }
    }
}

// proves: DYN-118
// What is held gives way under velocity terms: the error of places is what the rate is. Every n-th frame they act less, and end the oscillation more slowly.
#[test]
fn velocity_terms_every_few_frames_hold_harder_and_damp_less() {
    let mut softness = vec![];
    let mut left = vec![];
    for every in [1, 2, 4] {
        // A pendulum that turns fast: its pin is off by ½ h times the rate of the pin at the ends of frames with velocity terms.
        let mut m = Mechanism::new(DVec3::ZERO);
        let body = m.body(1.0, DVec3::splat(0.1), Pose::from_translation(DVec3::X));
        m.pin(None, body, DVec3::ZERO);
        m.bodies[0].state.velocity = sim_math::spatial::Motion::new(DVec3::Z * 3.0, DVec3::Y * 3.0);
        (m.params.velocity_every, m.params.max_error) = (every, 1e-12);
        let mut sum = 0.0;
        for _ in 0..200 {
            m.step(0.02);
            sum += m.bodies[0].state.pose.transform_point(DVec3::NEG_X).length() / 200.0;
        }
        softness.push(sum);
        let mut m = Mechanism::new(DVec3::ZERO);
        let body = m.body(1.0, DVec3::ONE, Pose::IDENTITY);
        m.pin(None, body, DVec3::ZERO);
        (m.params.velocity_every, m.params.max_error) = (every, 1e-14);
        m.bodies[0].state.velocity.linear.x = 1.0;
        m.state.frames = 1;
        for _ in 0..2 {
            m.step(0.01);
        }
        left.push(m.bodies[0].state.velocity.linear.x.abs());
    }
    println!("mean error of the pin {softness:?}, rate left after two frames {left:?}");
    assert!(softness[1] < softness[0] && softness[2] < softness[1], "{softness:?}");
    assert!(left[0] < 1e-9 && left[1] > 0.1 && left[2] > 0.5, "{left:?}");
}

// proves: DYN-137
// Experiment E8: mean iterations over 250 frames; the lower half is let go and falls while it goes on turning.
#[test]
fn a_chain_of_cubes_swings_and_is_released() {
    for n in [1, 2, 5, 10, 15] {
        let mut m = chain(n);
        let start = m.energy();
        let mut iterations = 0;
        for _ in 0..250 {
            let report = m.step(0.02);
            assert!(report.error <= 1e-4 && report.iterations <= 1);
            iterations += report.iterations;
        }
        let mean = f64::from(iterations) / 250.0;
        println!("{n} cubes: {mean} iterations a frame, energy {start} -> {}", m.energy());
        assert!(mean < 0.9 && (m.energy() / start - 1.0).abs() < 1e-5);
    }
    let mut m = chain(15);
    let h = 0.02;
    let damp = ops::powf(0.995, h);
    let frame = |m: &mut Mechanism| {
        let report = m.step(h);
        for body in &mut m.bodies {
            body.state.velocity.linear *= damp;
            body.state.velocity.angular *= damp;
        }
        assert!(report.error <= 1e-4);
        report
    };
    for _ in 0..3500 {
        frame(&mut m);
    }
    // At t = 70 the constraint of cube 7 goes.
    let fall = |m: &Mechanism| (7..15).map(|k| m.at(k)).sum::<DVec3>() / 8.0;
    let speed = (7..15).map(|k| m.bodies[k].state.velocity.linear).sum::<DVec3>() / 8.0;
    let (before, spin) = (fall(&m), m.bodies[14].state.velocity.angular);
    m.joints.joints.remove(7);
    m.state.reorder((0..14).map(|k| Some(if k < 7 { k } else { k + 1 })));
    let mut upper = 0.0_f64;
    for _ in 0..100 {
        let report = frame(&mut m);
        assert_eq!(report.parts, 2);
        upper = upper.max((m.at(6) - m.at(0)).length());
    }
    // Free fall of the centre, with the damping of velocities: v' = v ln d + g.
    let rate = 0.995_f64.ln();
    let grown = (2.0 * rate).exp();
    let expected = before.y + speed.y * (grown - 1.0) / rate - ((grown - 1.0) / (rate * rate) - 2.0 / rate);
    println!("after release at {}, {expected} expected, spin {spin}", fall(&m).y);
    assert!((fall(&m).y - expected).abs() < 2e-2);
    assert!(upper < 21.0 && m.bodies[14].state.velocity.angular.length() > 0.0 && spin.length() > 1e-3);
}

// proves: DYN-93
#[test]
fn a_hundred_links_take_a_handful_of_iterations() {
    let mut m = chain(100);
    m.params.max_error = 1e-6;
    let (mut most, mut sum) = (0, 0);
    for _ in 0..50 {
        let report = m.step(0.02);
        assert!(report.error <= 1e-6 && report.unsolved == 0);
        most = most.max(report.iterations);
        sum += report.iterations;
    }
    let (size, band) = m.workspace.graph().part(0).unwrap();
    println!(
        "100 links: {} iterations a frame, {most} at most, {size} unknowns in a band of {band}",
        f64::from(sum) / 50.0
    );
    assert!(most <= 4 && size == 300 && band == 5);
}

// Methods of solution make no difference to the frames.
#[test]
fn band_and_dense_give_the_same_frames() {
    let at = |method| {
        let mut m = chain(12);
        m.params.method = method;
        m.params.max_error = 1e-9;
        for _ in 0..40 {
            m.step(0.02);
        }
        m.at(11)
    };
    let (lu, cg, svd) = (at(SolveMethod::Lu), at(SolveMethod::ConjugateGradient), at(SolveMethod::Svd));
    println!("{lu} {cg} {svd}");
    assert!((lu - cg).length() < 1e-5 && (lu - svd).length() < 1e-5);
}

// proves: DYN-28
// A rod without moment about its axis: T = 2π √(2l/3g) for small swings, and no spin about itself.
#[test]
fn a_rod_swings_as_a_line() {
    let (g, length) = (9.81, 1.2);
    let mut m = Mechanism::new(DVec3::NEG_Z * g);
    let moment = length * length / 12.0;
    let angle = 0.01;
    let center = DVec3::new(0.5 * length * ops::sin(angle), 0.0, -0.5 * length * ops::cos(angle));
    let turned = sim_math::glam::DQuat::from_rotation_y(-angle);
    let rod = m.body(1.0, DVec3::new(moment, moment, 0.0), Pose::new(center, turned));
    m.pin(None, rod, DVec3::ZERO);
    m.params.max_error = 1e-9;
    let exact = std::f64::consts::FRAC_PI_2 * (2.0 * length / (3.0 * g)).sqrt();
    let h = 1e-3;
    let (mut time, mut x) = (0.0, center.x);
    loop {
        m.step(h);
        let next = m.at(0).x;
        let along = m.bodies[0].state.pose.rotation * DVec3::Z;
        assert!(m.bodies[0].state.velocity.angular.dot(along).abs() < 1e-15);
        if next <= 0.0 {
            time += h * x / (x - next);
            break;
        }
        (time, x) = (time + h, next);
    }
    println!("quarter period {time}, exact {exact}");
    assert!((time / exact - 1.0).abs() < 1e-4);
}
