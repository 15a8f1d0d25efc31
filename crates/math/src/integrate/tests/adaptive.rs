//! Error control, dense output, abort and bad input.

use super::*;
use crate::MathError;
use crate::elliptic::complete_k;

// proves: MIR-88
#[test]
fn step_doubling_takes_eleven_evaluations_per_step() {
    let integrator = StepDoubling::new(adaptive_with_fixed_step(0.125));
    let mut system = Pendulum::plain();
    let report =
        integrator.advance(&mut system, 0.0, 1.0, &mut [0.3, 0.0], &mut OdeScratch::default()).unwrap();
    assert_eq!((report.accepted, report.rejected), (8, 0));
    assert_eq!(report.evaluations, 88);
    assert_eq!(system.system.evaluations, 88);
}

#[test]
fn reported_evaluations_are_those_the_system_counted() {
    for integrator in all_integrators(0.125) {
        let mut system = Pendulum::plain();
        let mut y = [0.3, 0.1];
        let report = integrator.advance(&mut system, 0.0, 0.25, &mut y, &mut OdeScratch::default()).unwrap();
        assert_eq!(report.evaluations, system.system.evaluations, "{}", integrator.name());
        assert_eq!(report.accepted as usize, system.system.accepted.len(), "{}", integrator.name());
        assert_close!(report.t, 0.25, rel = 0.0);
    }
    // With rejections as well.
    let params = AdaptiveParams { first_step: Some(2.0), ..AdaptiveParams::with_tolerance(1e-9, 1e-12) };
    let both: [&dyn Integrator; 2] = [&StepDoubling::new(params), &DormandPrince::new(params)];
    for integrator in both {
        let mut system = Pendulum::plain();
        let mut y = [0.3, 0.1];
        let report = integrator.advance(&mut system, 0.0, 5.0, &mut y, &mut OdeScratch::default()).unwrap();
        assert!(report.rejected > 0);
        assert_eq!(report.evaluations, system.system.evaluations, "{}", integrator.name());
    }
}

// proves: FON-09
#[test]
fn error_control_follows_a_stiffening_pendulum() {
    let stiffening = || Pendulum::new(|t| ops::exp(1.5 * t));
    let start = [1.0, 0.0];
    let mut reference = start;
    tight().advance(&mut stiffening(), 0.0, 6.0, &mut reference, &mut OdeScratch::default()).unwrap();
    let frequency = ops::exp(0.75 * 6.0);
    let mut previous = [f64::INFINITY; 2];
    for tolerance in [1e-6, 1e-8, 1e-10] {
        let params = AdaptiveParams::with_tolerance(tolerance, tolerance);
        let both: [&dyn Integrator; 2] = [&StepDoubling::new(params), &DormandPrince::new(params)];
        for (integrator, previous) in both.into_iter().zip(&mut previous) {
            let mut system = stiffening();
            let mut y = start;
            let report =
                integrator.advance(&mut system, 0.0, 6.0, &mut y, &mut OdeScratch::default()).unwrap();
            // An oscillator carries local errors along without amplifying them, so they add up at worst.
            let error = ops::hypot(y[0] - reference[0], (y[1] - reference[1]) / frequency);
            let allowed = f64::from(report.accepted) * tolerance;
            assert!(error < allowed, "{} at {tolerance:e}: {error:e} {allowed:e}", integrator.name());
            assert!(error < 0.05 * *previous, "{} at {tolerance:e}: {error:e}", integrator.name());
            *previous = error;
            // The frequency grows by exp(0.75 · 6) = 90, and the step must follow.
            let times = &system.system.accepted;
            let early = times.iter().filter(|t| **t < 1.0).count();
            let late = times.iter().filter(|t| **t > 5.0).count();
            assert!(late > 10 * early, "{} at {tolerance:e}: {early}, {late}", integrator.name());
        }
    }
}

#[test]
fn dormand_prince_error_follows_the_tolerance() {
    // One period of a pendulum released at 90 degrees returns to the start.
    let period = 4.0 / GRAVITY.sqrt() * complete_k(0.5).unwrap();
    let mut previous = f64::INFINITY;
    for tolerance in [1e-5, 1e-7, 1e-9, 1e-11] {
        let integrator = DormandPrince::new(AdaptiveParams::with_tolerance(tolerance, tolerance));
        let mut y = [FRAC_PI_2, 0.0];
        integrator.advance(&mut Pendulum::plain(), 0.0, period, &mut y, &mut OdeScratch::default()).unwrap();
        let error = distance(&y, &[FRAC_PI_2, 0.0]);
        assert!(error < 50.0 * tolerance && error < 0.2 * previous, "{tolerance:e}: {error:e}");
        previous = error;
    }
}

#[test]
fn dense_output_finds_the_pendulum_period() {
    // T = 4 √(L/g) K(sin² 45°) = 2.36784 s; the angle crosses zero after a quarter of it.
    let integrator = DormandPrince::new(AdaptiveParams::with_tolerance(1e-13, 1e-13));
    let mut crossing = None;
    let mut y = [FRAC_PI_2, 0.0];
    let mut visit = |step: &DenseStep<'_>| {
        if step.start[0] > 0.0 && step.end[0] <= 0.0 {
            let (mut lo, mut hi, mut out) = (step.t, step.t + step.h, [0.0; 2]);
            for _ in 0..60 {
                let middle = 0.5 * (lo + hi);
                step.evaluate(middle, &mut out).unwrap();
                if out[0] > 0.0 { lo = middle } else { hi = middle }
            }
            crossing = Some(lo);
        }
    };
    let mut scratch = OdeScratch::default();
    integrator
        .advance_dense(&mut Pendulum::plain(), 0.0, 1.0, &mut y, &mut None, &mut scratch, &mut visit)
        .unwrap();
    assert_close!(4.0 * crossing.unwrap(), 2.367_841_947_576_237_4, rel = 1e-11);
}

#[test]
fn dense_output_has_order_four_and_meets_both_ends() {
    let start = [1.0, 0.5];
    let mut errors = [0.0; 3];
    for (error, h) in errors.iter_mut().zip([0.04, 0.02, 0.01]) {
        let integrator = DormandPrince::new(adaptive_with_fixed_step(h));
        let mut y = start;
        let mut visit = |step: &DenseStep<'_>| {
            let mut out = [0.0; 2];
            step.evaluate(step.t, &mut out).unwrap();
            assert!(distance(&out, &start) < 1e-15);
            step.evaluate(step.t + step.h, &mut out).unwrap();
            assert!(distance(&out, &[step.end[0], step.end[1]]) < 1e-15);
            assert!(step.evaluate(step.t - 0.1 * step.h, &mut out).is_err());
            assert!(step.evaluate(step.t, &mut [0.0]).is_err());
            let mut exact = start;
            tight()
                .advance(&mut Pendulum::plain(), 0.0, 0.3 * h, &mut exact, &mut OdeScratch::default())
                .unwrap();
            step.evaluate(0.3 * h, &mut out).unwrap();
            *error = distance(&out, &exact);
        };
        let mut scratch = OdeScratch::default();
        integrator
            .advance_dense(&mut Pendulum::plain(), 0.0, h, &mut y, &mut Some(h), &mut scratch, &mut visit)
            .unwrap();
    }
    // Order 4 as a one-step method: local error of fifth order.
    assert_order("dense output", errors, 5.0);
}

// proves: FON-09
#[test]
fn abort_restores_the_state_bit_for_bit() {
    let start = [0.1 + 0.2, -1.0 / 3.0];
    for integrator in all_integrators(0.125) {
        let mut scratch = OdeScratch::new(&*integrator, 2);
        let mut straight = start;
        let report =
            integrator.advance(&mut Pendulum::plain(), 0.0, 0.5, &mut straight, &mut scratch).unwrap();
        for n in 1..=report.evaluations + report.accepted {
            let mut system = Pendulum::plain();
            if n <= report.evaluations {
                system.system.abort_at_evaluation = Some(n);
            } else {
                system.system.abort_at_accepted = Some(n - report.evaluations);
            }
            let mut y = start;
            let outcome = integrator.advance(&mut system, 0.0, 0.5, &mut y, &mut scratch);
            let code = if n <= report.evaluations { 7 } else { 8 };
            assert!(matches!(outcome, Err(IntegrateError::Aborted { code: c, t }) if c == code && t <= 0.5));
            assert_eq!(y.map(f64::to_bits), start.map(f64::to_bits), "{} at {n}", integrator.name());
            // Restart: the same bits as a run that was never disturbed.
            system.system.abort_at_evaluation = None;
            system.system.abort_at_accepted = None;
            integrator.advance(&mut system, 0.0, 0.5, &mut y, &mut scratch).unwrap();
            assert_eq!(y.map(f64::to_bits), straight.map(f64::to_bits), "{} at {n}", integrator.name());
        }
    }
}

#[test]
fn a_system_can_stop_early_and_keep_the_state() {
    let params = AdaptiveParams::with_tolerance(1e-8, 1e-8);
    let both: [&dyn Integrator; 2] = [&StepDoubling::new(params), &DormandPrince::new(params)];
    for integrator in both {
        let mut system = Pendulum::plain();
        system.system.stop_at = 0.4;
        let mut y = [1.0, 0.0];
        let report = integrator.advance(&mut system, 0.0, 10.0, &mut y, &mut OdeScratch::default()).unwrap();
        assert!(report.t >= 0.4 && report.t < 1.0);
        let mut exact = [1.0, 0.0];
        tight()
            .advance(&mut Pendulum::plain(), 0.0, report.t, &mut exact, &mut OdeScratch::default())
            .unwrap();
        assert!(distance(&y, &exact) < 1e-6);
    }
}

#[test]
fn split_runs_with_a_hint_repeat_and_scratch_does_not_matter() {
    let integrator = StepDoubling::new(AdaptiveParams::with_tolerance(1e-8, 1e-8));
    let mut dirty = OdeScratch::new(&integrator, 2);
    let go = |scratch: &mut OdeScratch| {
        let (mut y, mut hint) = ([1.0, 0.0], None);
        for i in 0..20 {
            let t = f64::from(i) * 0.05;
            integrator.advance_from(&mut Pendulum::plain(), t, 0.05, &mut y, &mut hint, scratch).unwrap();
        }
        (y.map(f64::to_bits), hint)
    };
    let capacity = dirty.capacity();
    let first = go(&mut dirty);
    assert_eq!(first, go(&mut dirty));
    assert_eq!(first, go(&mut OdeScratch::default()));
    assert_eq!(dirty.capacity(), capacity, "scratch made for the integrator never grows");
    for integrator in all_integrators(0.1) {
        let mut scratch = OdeScratch::new(&*integrator, 2);
        let capacity = scratch.capacity();
        integrator.advance(&mut Pendulum::plain(), 0.0, 0.1, &mut [1.0, 0.0], &mut scratch).unwrap();
        assert_eq!(scratch.capacity(), capacity, "{}", integrator.name());
    }
}

/// ẏ = rate(y), one component.
struct Scalar(fn(f64) -> f64);

impl OdeSystem for Scalar {
    fn dim(&self) -> usize {
        1
    }

    fn derivative(&mut self, _t: f64, y: &[f64], dydt: &mut [f64]) -> Result<(), Abort> {
        dydt[0] = (self.0)(y[0]);
        Ok(())
    }
}

#[test]
fn bad_input_is_an_error_and_leaves_the_state() {
    for integrator in all_integrators(0.1) {
        let mut scratch = OdeScratch::new(&*integrator, 2);
        for (t, dt, start) in [
            (f64::NAN, 0.1, vec![1.0, 0.0]),
            (0.0, f64::INFINITY, vec![1.0, 0.0]),
            (0.0, 0.1, vec![1.0, f64::NAN]),
            (0.0, 0.1, vec![1.0]),
            (0.0, 0.1, vec![]),
        ] {
            let mut y = start.clone();
            let outcome = integrator.advance(&mut Pendulum::plain(), t, dt, &mut y, &mut scratch);
            assert!(matches!(outcome, Err(IntegrateError::Input(_))), "{} {outcome:?}", integrator.name());
            assert!(y.iter().zip(&start).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
        let mut y = [1.0, 0.0];
        let report = integrator.advance(&mut Pendulum::plain(), 0.0, 0.0, &mut y, &mut scratch).unwrap();
        assert_eq!((report.evaluations, y[0].to_bits()), (0, 1.0_f64.to_bits()));
        let mut y = [1.0];
        let outcome = integrator.advance(&mut Scalar(|_| f64::NAN), 0.0, 0.1, &mut y, &mut scratch);
        assert!(matches!(outcome, Err(IntegrateError::NonFinite { index: 0, .. })), "{outcome:?}");
        assert_eq!(y[0].to_bits(), 1.0_f64.to_bits());
    }
}

#[test]
fn adaptive_limits_are_reported_with_time_and_value() {
    let base = AdaptiveParams::with_tolerance(1e-10, 1e-10);
    // ẏ = y² from 1 reaches infinity at t = 1.
    let blow_up = |params: AdaptiveParams, y: &mut [f64]| {
        let both: [&dyn Integrator; 2] = [&StepDoubling::new(params), &DormandPrince::new(params)];
        both.map(|integrator| {
            integrator.advance(&mut Scalar(|y| y * y), 0.0, 2.0, y, &mut OdeScratch::default())
        })
    };
    let mut y = [1.0];
    for outcome in blow_up(base, &mut y) {
        let failed_at = match outcome {
            Err(IntegrateError::StepTooSmall { t, .. } | IntegrateError::NonFinite { t, .. }) => t,
            other => panic!("{other:?}"),
        };
        assert!((failed_at - 1.0).abs() < 1e-6, "{failed_at}");
    }
    for outcome in blow_up(AdaptiveParams { min_step: 1e-3, ..base }, &mut y) {
        assert!(
            matches!(outcome, Err(IntegrateError::StepTooSmall { step, .. }) if step < 1e-3),
            "{outcome:?}"
        );
    }
    for outcome in blow_up(AdaptiveParams { max_steps: 5, ..base }, &mut y) {
        assert!(matches!(outcome, Err(IntegrateError::MaxSteps { steps: 5, t }) if t < 1.0), "{outcome:?}");
    }
    assert_eq!(y[0].to_bits(), 1.0_f64.to_bits());
    for bad in [
        AdaptiveParams { relative: -1.0, ..base },
        AdaptiveParams { absolute: f64::NAN, ..base },
        AdaptiveParams { relative: 0.0, absolute: 0.0, ..base },
        AdaptiveParams { first_step: Some(0.0), ..base },
        AdaptiveParams { min_step: f64::INFINITY, ..base },
        AdaptiveParams { max_step: 0.0, ..base },
        AdaptiveParams { max_steps: 0, ..base },
        AdaptiveParams { safety: 1.0, ..base },
        AdaptiveParams { max_growth: 1.0, ..base },
        AdaptiveParams { max_shrink: 0.0, ..base },
    ] {
        assert!(bad.validate().is_err());
        for outcome in blow_up(bad, &mut y) {
            // As text: a NaN is not equal to itself.
            assert_eq!(outcome.unwrap_err().to_string(), bad.validate().unwrap_err().to_string());
        }
    }
    let mut hint = Some(f64::NAN);
    let outcome = StepDoubling::new(base).advance_from(
        &mut Scalar(|y| -y),
        0.0,
        1.0,
        &mut y,
        &mut hint,
        &mut OdeScratch::default(),
    );
    assert!(matches!(outcome, Err(IntegrateError::Input(MathError::OutOfDomain { what: "step hint", .. }))));
}

#[test]
fn stiff_decay_is_solved_with_many_steps_and_backwards_time_works() {
    let integrator = DormandPrince::new(AdaptiveParams::with_tolerance(1e-8, 1e-10));
    let mut y = [1.0];
    let mut scratch = OdeScratch::default();
    let report = integrator.advance(&mut Scalar(|y| -1e4 * y), 0.0, 1.0, &mut y, &mut scratch).unwrap();
    assert!(report.accepted > 2000 && y[0].abs() < 1e-7, "{report:?} {y:?}");
    // There and back.
    let mut y = [1.0];
    integrator.advance(&mut Scalar(|y| y), 0.0, 1.0, &mut y, &mut scratch).unwrap();
    assert_close!(y[0], std::f64::consts::E, rel = 1e-7);
    integrator.advance(&mut Scalar(|y| y), 1.0, -1.0, &mut y, &mut scratch).unwrap();
    assert_close!(y[0], 1.0, rel = 1e-7);
}
