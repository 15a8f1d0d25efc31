//! Springs, dampers and friction at the joints.
#![allow(
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests compare exactly on purpose, index oracles by hand and may use the platform's functions"
)]

mod common;

use articulated_featherstone::TreeMotion;
use articulated_featherstone::{DofParams, Joint, Link, ModelBuilder, State, passive_forces};
use common::motion::{G, run};
use sim_math::integrate::{Integrator, OdeScratch, Rk4, SecondOrder};
use sim_math::{Sym3, assert_close, glam::DVec3};

// proves: MIR-74
#[test]
fn damped_oscillator_follows_the_closed_form() {
    // m x'' + c x' + k x = 0 from x = 1 at rest.
    let (m, c, k) = (2.0, 0.6, 50.0_f64);
    let params = DofParams { damping: c, stiffness: k, rest: 0.3, ..DofParams::default() };
    let model = ModelBuilder::new()
        .link(
            Link::new("mass", Joint::Prismatic { axis: DVec3::X })
                .mass(m, DVec3::ZERO, Sym3::ZERO)
                .dof(0, params),
        )
        .build()
        .unwrap();
    let mut state = State::new(&model);
    state.q[0] = 1.3;
    let (decay, omega0) = (c / (2.0 * m), (k / m).sqrt());
    let omega = (omega0 * omega0 - decay * decay).sqrt();
    let mut worst = 0.0_f64;
    run(&model, &state, 1e-3, 5000, |i, now| {
        let t = (i + 1) as f64 * 1e-3;
        let exact = 0.3 + (-decay * t).exp() * ((omega * t).cos() + decay / omega * (omega * t).sin());
        worst = worst.max((now.q[0] - exact).abs());
    });
    assert!(worst < 1e-9, "{worst:e}");
    // Driven: the force of an actuator adds to the passive ones.
    let mut tau = [0.0];
    state.v[0] = 0.5;
    passive_forces(&model, &state, &mut tau).unwrap();
    assert_close!(tau[0], -k * 1.0 - c * 0.5, rel = 1e-15);
}

#[test]
fn dry_friction_stops_a_slider_where_the_closed_form_says() {
    // v0^2 / (2 F/m) = 1 m for v0 = 2, F/m = 2; the ramp below 1 mm/s adds about 1e-6 m.
    let params = DofParams { dry_friction: 6.0, ..DofParams::default() };
    let model = ModelBuilder::new()
        .link(
            Link::new("mass", Joint::Prismatic { axis: DVec3::X })
                .mass(3.0, DVec3::ZERO, Sym3::ZERO)
                .dof(0, params),
        )
        .build()
        .unwrap();
    let mut state = State::new(&model);
    state.v[0] = 2.0;
    let end = run(&model, &state, 1e-4, 12_000, |_, _| {});
    assert_close!(end.q[0], 1.0, abs = 1e-6);
    assert!(end.v[0].abs() < 1e-12);
}

#[test]
fn hard_springs_never_let_a_joint_through() {
    let params = DofParams { hard_stiffness: -5.0, hard_position: -1.0, ..DofParams::default() };
    let model = ModelBuilder::new()
        .gravity(G)
        .link(
            Link::new("mass", Joint::Prismatic { axis: DVec3::Z })
                .mass(1.0, DVec3::ZERO, Sym3::ZERO)
                .dof(0, params),
        )
        .build()
        .unwrap();
    let mut lowest = 0.0_f64;
    run(&model, &State::new(&model), 1e-5, 120_000, |_, now| lowest = lowest.min(now.q[0]));
    // Turning point: what gravity gives, 9.81 h, is what the spring takes, -5 ln(1 - h).
    assert_close!(9.81 * -lowest, -5.0 * (1.0 + lowest).ln(), abs = 1e-6);
    let mut state = State::new(&model);
    state.q[0] = -1.0;
    assert!(passive_forces(&model, &state, &mut [0.0]).is_err());
}

// proves: ARN-23
#[test]
fn a_driven_damped_oscillator_follows_the_closed_form() {
    // m x'' + c x' + k x = F cos(w t) from rest: the steady oscillation plus the decaying part that starts it.
    let (m, c, k, force, w) = (1.5, 0.9, 40.0_f64, 6.0, 3.7_f64);
    let params = DofParams { damping: c, stiffness: k, ..DofParams::default() };
    let model = ModelBuilder::new()
        .link(
            Link::new("mass", Joint::Prismatic { axis: DVec3::Y })
                .mass(m, DVec3::ZERO, Sym3::ZERO)
                .dof(0, params),
        )
        .build()
        .unwrap();
    let state = State::new(&model);
    let motion = TreeMotion::new(&model, &state).with_control(|s, tau| tau[0] = force * (w * s.t).cos());
    let mut system = SecondOrder::new(motion);
    let mut y = vec![0.0, 0.0];
    let mut scratch = OdeScratch::new(&Rk4, 2);
    let (re, im) = (k - m * w * w, c * w);
    let square = re * re + im * im;
    let (a, b) = (force * re / square, force * im / square);
    let decay = c / (2.0 * m);
    let own = (k / m - decay * decay).sqrt();
    let mut worst = 0.0_f64;
    for i in 0..5000 {
        let dt = 1e-3;
        Rk4.advance(&mut system, f64::from(i) * dt, dt, &mut y, &mut scratch).unwrap();
        let t = f64::from(i + 1) * dt;
        let steady = a * (w * t).cos() + b * (w * t).sin();
        let start = (-decay * t).exp() * (-a * (own * t).cos() - (b * w + decay * a) / own * (own * t).sin());
        worst = worst.max((y[0] - steady - start).abs());
    }
    assert!(worst < 1e-10, "{worst:e}");
}
