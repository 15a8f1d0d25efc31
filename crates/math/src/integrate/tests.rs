use super::rotation::{RigidRotation, TorqueFreeBody};
use super::*;
use crate::{assert_close, ops};
use glam::{DQuat, DVec3};
use std::f64::consts::FRAC_PI_2;

mod adaptive;

/// θ̈ = −k(t) sin θ, with counters and an abort.
struct Pendulum {
    stiffness: fn(f64) -> f64,
    evaluations: u32,
    abort_at_evaluation: Option<u32>,
    abort_at_accepted: Option<u32>,
    stop_at: f64,
    accepted: Vec<f64>,
}

const GRAVITY: f64 = 9.81;

impl Pendulum {
    fn new(stiffness: fn(f64) -> f64) -> SecondOrder<Self> {
        SecondOrder::new(Self {
            stiffness,
            evaluations: 0,
            abort_at_evaluation: None,
            abort_at_accepted: None,
            stop_at: f64::INFINITY,
            accepted: Vec::new(),
        })
    }

    /// L = 1 m under standard gravity.
    fn plain() -> SecondOrder<Self> {
        Self::new(|_| GRAVITY)
    }
}

impl SecondOrderSystem for Pendulum {
    fn position_dim(&self) -> usize {
        1
    }

    fn velocity_dim(&self) -> usize {
        1
    }

    fn acceleration(&mut self, t: f64, q: &[f64], _v: &[f64], a: &mut [f64]) -> Result<(), Abort> {
        self.evaluations += 1;
        a[0] = -(self.stiffness)(t) * ops::sin(q[0]);
        if self.abort_at_evaluation == Some(self.evaluations) { Err(Abort { code: 7 }) } else { Ok(()) }
    }

    fn accepted(&mut self, t: f64, _q: &[f64], _v: &[f64]) -> Result<Flow, Abort> {
        self.accepted.push(t);
        if self.abort_at_accepted == Some(self.accepted.len() as u32) {
            return Err(Abort { code: 8 });
        }
        Ok(if t >= self.stop_at { Flow::Stop } else { Flow::Continue })
    }
}

fn pendulum_energy(y: &[f64; 2]) -> f64 {
    0.5 * y[1] * y[1] + GRAVITY * (1.0 - ops::cos(y[0]))
}

fn adaptive_with_fixed_step(dt: f64) -> AdaptiveParams {
    let mut params = AdaptiveParams::with_tolerance(0.0, f64::INFINITY);
    params.first_step = Some(dt);
    params.max_step = dt;
    params
}

fn tight() -> DormandPrince {
    DormandPrince::new(AdaptiveParams::with_tolerance(1e-14, 1e-15))
}

fn all_integrators(dt: f64) -> Vec<Box<dyn Integrator>> {
    let params = adaptive_with_fixed_step(dt);
    vec![
        Box::new(Euler::EXPLICIT),
        Box::new(Euler::MODIFIED),
        Box::new(Euler::SEMI_IMPLICIT),
        Box::new(DoubleEuler),
        Box::new(Heun),
        Box::new(Rk4),
        Box::new(StepDoubling::new(params)),
        Box::new(StepDoubling { extrapolate: false, ..StepDoubling::new(params) }),
        Box::new(DormandPrince::new(params)),
    ]
}

/// Fixed steps over `[0, end]`.
fn run<const N: usize>(
    integrator: &dyn Integrator,
    system: &mut dyn OdeSystem,
    mut y: [f64; N],
    end: f64,
    steps: u32,
) -> [f64; N] {
    let dt = end / f64::from(steps);
    let mut scratch = OdeScratch::new(integrator, N);
    for i in 0..steps {
        integrator.advance(system, f64::from(i) * dt, dt, &mut y, &mut scratch).unwrap();
    }
    y
}

fn distance<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// A body with three different moments under a torque that depends on time, attitude and rates.
fn forced_body() -> SecondOrder<RigidRotation<impl FnMut(f64, DQuat, DVec3) -> DVec3>> {
    let body = TorqueFreeBody::new(DVec3::new(1.0, 2.0, 2.5)).unwrap();
    SecondOrder::new(RigidRotation::new(body, |t, q, omega| {
        DVec3::new(0.5 * ops::sin(2.0 * t), 0.3, 0.1) + (q * DVec3::X).cross(DVec3::Z) * 2.0 - omega * 0.1
    }))
}

const FORCED_START: [f64; 7] = [0.0, 0.6, 0.0, 0.8, 0.7, -0.4, 1.1];

/// Errors on the forced body at dt, dt/2, dt/4.
fn forced_errors(make: &dyn Fn(f64) -> Box<dyn Integrator>, steps: u32) -> [f64; 3] {
    let mut reference = FORCED_START;
    let mut scratch = OdeScratch::default();
    tight().advance(&mut forced_body(), 0.0, 1.0, &mut reference, &mut scratch).unwrap();
    [1, 2, 4].map(|refine| {
        let n = steps * refine;
        let integrator = make(1.0 / f64::from(n));
        distance(&run(&*integrator, &mut forced_body(), FORCED_START, 1.0, n), &reference)
    })
}

#[track_caller]
fn assert_order(name: &str, errors: [f64; 3], order: f64) {
    for pair in errors.windows(2) {
        let observed = ops::log2(pair[0] / pair[1]);
        assert!((observed - order).abs() < 0.1, "{name}: order {observed}, errors {errors:?}");
    }
}

// proves: DYN-13, DYN-14
#[test]
fn euler_variants_have_order_one() {
    let modified = forced_errors(&|_| Box::new(Euler::MODIFIED), 400);
    let double = forced_errors(&|_| Box::new(DoubleEuler), 400);
    assert_order("modified", modified, 1.0);
    assert_order("double", double, 1.0);
    assert_order("explicit", forced_errors(&|_| Box::new(Euler::EXPLICIT), 400), 1.0);
    assert_order("semi-implicit", forced_errors(&|_| Box::new(Euler::SEMI_IMPLICIT), 400), 1.0);
    for (double, modified) in double.iter().zip(modified) {
        assert!(*double < 0.6 * modified, "double {double}, modified {modified}");
    }
}

// proves: DYN-15
#[test]
fn heun_has_order_two() {
    assert_order("Heun", forced_errors(&|_| Box::new(Heun), 100), 2.0);
}

// proves: DYN-16
#[test]
fn rk4_has_order_four() {
    assert_order("RK4", forced_errors(&|_| Box::new(Rk4), 40), 4.0);
}

// proves: MIR-88, FON-09
#[test]
fn step_doubling_has_order_five_and_four_without_extrapolation() {
    let five = |dt| -> Box<dyn Integrator> { Box::new(StepDoubling::new(adaptive_with_fixed_step(dt))) };
    assert_order("extrapolated", forced_errors(&five, 12), 5.0);
    let four = |dt| -> Box<dyn Integrator> {
        Box::new(StepDoubling { extrapolate: false, ..StepDoubling::new(adaptive_with_fixed_step(dt)) })
    };
    assert_order("two half steps", forced_errors(&four, 20), 4.0);
}

#[test]
fn dormand_prince_has_order_five() {
    let start = [2.0, 0.5];
    let mut reference = start;
    tight().advance(&mut Pendulum::plain(), 0.0, 2.0, &mut reference, &mut OdeScratch::default()).unwrap();
    let errors = [100, 200, 400].map(|steps| {
        let integrator = DormandPrince::new(adaptive_with_fixed_step(2.0 / f64::from(steps)));
        distance(&run(&integrator, &mut Pendulum::plain(), start, 2.0, steps), &reference)
    });
    assert_order("Dormand-Prince", errors, 5.0);
}

// proves: DYN-13, DYN-14
#[test]
fn torque_turns_the_body_in_one_modified_euler_step() {
    // At rest, constant torque about a principal axis: angle ½ (M/I) h², rate (M/I) h.
    let (h, torque, moment) = (0.01, 3.0, 2.0);
    for (integrator, angle, evaluations) in [
        (&Euler::EXPLICIT as &dyn Integrator, 0.0, 1),
        (&Euler::MODIFIED, 0.5 * torque / moment * h * h, 1),
        (&DoubleEuler, 0.5 * torque / moment * h * h, 2),
        (&Euler::SEMI_IMPLICIT, torque / moment * h * h, 1),
    ] {
        let body = TorqueFreeBody::new(DVec3::new(1.0, moment, 3.0)).unwrap();
        let mut system = SecondOrder::new(RigidRotation::new(body, |_, _, _| DVec3::new(0.0, torque, 0.0)));
        let mut y = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        let report = integrator.advance(&mut system, 0.0, h, &mut y, &mut OdeScratch::default()).unwrap();
        assert_eq!(report.evaluations, evaluations, "{}", integrator.name());
        assert_close!(2.0 * ops::asin(y[1]), angle, rel = 1e-7);
        assert_close!(y[5], torque / moment * h, rel = 1e-14);
    }
}

#[test]
fn constant_force_is_exact_for_modified_and_double_euler() {
    struct Fall;
    impl SecondOrderSystem for Fall {
        fn position_dim(&self) -> usize {
            1
        }
        fn velocity_dim(&self) -> usize {
            1
        }
        fn acceleration(&mut self, _t: f64, _q: &[f64], _v: &[f64], a: &mut [f64]) -> Result<(), Abort> {
            a[0] = -GRAVITY;
            Ok(())
        }
    }
    for integrator in [&Euler::MODIFIED as &dyn Integrator, &DoubleEuler, &Heun, &Rk4] {
        let y = run(integrator, &mut SecondOrder::new(Fall), [1.0, 3.0], 2.0, 7);
        assert_close!(y[0], 1.0 + 3.0 * 2.0 - 0.5 * GRAVITY * 4.0, rel = 1e-14);
        assert_close!(y[1], 3.0 - GRAVITY * 2.0, rel = 1e-14);
    }
}

#[test]
fn semi_implicit_euler_keeps_oscillator_energy_bounded() {
    let start = [0.3, 0.0];
    let energy = pendulum_energy(&start);
    let mut worst = 0.0_f64;
    let mut y = start;
    let mut scratch = OdeScratch::default();
    let mut system = Pendulum::plain();
    for _ in 0..100_000 {
        Euler::SEMI_IMPLICIT.advance(&mut system, 0.0, 0.01, &mut y, &mut scratch).unwrap();
        worst = worst.max((pendulum_energy(&y) / energy - 1.0).abs());
        system.system.accepted.clear();
    }
    // Amplitude of the modified energy: h ω / 2 = 0.0157.
    assert!(worst < 0.02, "{worst}");
    let drifted = run(&Euler::EXPLICIT, &mut Pendulum::plain(), start, 10.0, 1000);
    assert!(pendulum_energy(&drifted) > 2.0 * energy);
}

#[test]
fn stages_are_evaluated_at_their_times() {
    struct Ramp;
    impl OdeSystem for Ramp {
        fn dim(&self) -> usize {
            1
        }
        fn derivative(&mut self, t: f64, _y: &[f64], dydt: &mut [f64]) -> Result<(), Abort> {
            dydt[0] = t;
            Ok(())
        }
    }
    // ∫ t from 0 to 1 with the left ends of one step, of two steps, and with the trapezoid.
    let methods: [(&dyn Integrator, f64); 4] =
        [(&Euler::EXPLICIT, 0.0), (&DoubleEuler, 0.25), (&Heun, 0.5), (&Rk4, 0.5)];
    for (integrator, expected) in methods {
        assert_close!(run(integrator, &mut Ramp, [0.0], 1.0, 1)[0], expected, rel = 1e-15);
    }
}

#[test]
fn rk4_is_exact_for_cubic_quadrature() {
    struct Cubic;
    impl OdeSystem for Cubic {
        fn dim(&self) -> usize {
            1
        }
        fn derivative(&mut self, t: f64, _y: &[f64], dydt: &mut [f64]) -> Result<(), Abort> {
            dydt[0] = 1.0 + t * (2.0 + t * (3.0 + t * 4.0));
            Ok(())
        }
    }
    assert_close!(run(&Rk4, &mut Cubic, [0.5], 2.0, 1)[0], 30.5, rel = 1e-15);
    // Backwards in time to the start again.
    let mut y = [30.5];
    Rk4.advance(&mut Cubic, 2.0, -2.0, &mut y, &mut OdeScratch::default()).unwrap();
    assert_close!(y[0], 0.5, rel = 1e-14);
}

#[test]
fn rk4_pendulum_keeps_energy_to_1e_12() {
    // The bar: 1e-12 of the energy scale at dt = 0.1 ms, released at 90 degrees.
    let start = [FRAC_PI_2, 0.0];
    let y = run(&Rk4, &mut Pendulum::plain(), start, 10.0, 100_000);
    assert_close!(pendulum_energy(&y), pendulum_energy(&start), rel = 1e-12);
}

// proves: DYN-19
#[test]
fn integrators_say_where_in_the_step_they_sample() {
    let fractions: [(&dyn Integrator, f64); 4] =
        [(&Euler::MODIFIED, 0.0), (&DoubleEuler, 0.25), (&Heun, 0.5), (&Rk4, 0.5)];
    // A derivative that is the time itself: its mean over the step is the mean of the samples.
    struct Clock;
    impl OdeSystem for Clock {
        fn dim(&self) -> usize {
            1
        }
        fn derivative(&mut self, t: f64, _: &[f64], dydt: &mut [f64]) -> Result<(), Abort> {
            dydt[0] = t;
            Ok(())
        }
    }
    for (integrator, fraction) in fractions {
        assert_eq!(integrator.sample_fraction(), fraction, "{}", integrator.name());
        let mut y = [0.0];
        integrator.advance(&mut Clock, 0.0, 1.0, &mut y, &mut OdeScratch::default()).unwrap();
        assert_eq!(y[0], fraction, "{}", integrator.name());
    }
}
