//! The torque-free top that flips: I = (1, 2, 3) kg·m² spun about its middle axis, under three integrators.
//!
//! Prints how far the world-frame angular momentum and the energy drift, and the period of the body rates,
//! which the elliptic closed form puts at 39.10573 s.

use sim_math::glam::{DQuat, DVec3};
use sim_math::integrate::rotation::{RigidRotation, TorqueFreeArc, TorqueFreeBody, lie_rk4};
use sim_math::integrate::{Euler, IntegrateError, Integrator, OdeScratch, SecondOrder};

const DT: f64 = 1e-3;
const STEPS: u32 = 200_000;

type Advance<'a> = dyn FnMut(DQuat, DVec3) -> Result<(DQuat, DVec3), IntegrateError> + 'a;

/// Runs one integrator and returns one line of the table.
fn measure(
    name: &str,
    body: &TorqueFreeBody,
    start: DVec3,
    advance: &mut Advance<'_>,
) -> Result<String, IntegrateError> {
    let (mut q, mut w) = (DQuat::IDENTITY, start);
    let (momentum, energy) = (body.momentum_body(start), body.energy(start));
    let (mut momentum_drift, mut energy_drift) = (0.0_f64, 0.0_f64);
    let (mut first, mut last, mut turns) = (None, 0.0, 0);
    for step in 0..STEPS {
        let before = w.y;
        (q, w) = advance(q, w)?;
        momentum_drift =
            momentum_drift.max((q * body.momentum_body(w) - momentum).length() / momentum.length());
        energy_drift = energy_drift.max((body.energy(w) / energy - 1.0).abs());
        if before < 0.0 && w.y >= 0.0 {
            last = (f64::from(step) - before / (w.y - before)) * DT;
            match first {
                None => first = Some(last),
                Some(_) => turns += 1,
            }
        }
    }
    let period = (last - first.unwrap_or(0.0)) / f64::from(turns.max(1));
    Ok(format!("{name:<22} {momentum_drift:>12.1e} {energy_drift:>12.1e} {period:>12.6} s"))
}

#[allow(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Result<(), IntegrateError> {
    let body = TorqueFreeBody::new(DVec3::new(1.0, 2.0, 3.0))?;
    let start = DVec3::new(0.01, 1.0, 0.01);

    println!("{:<22} {:>12} {:>12} {:>14}", "integrator", "momentum", "energy", "period");
    let mut system = SecondOrder::new(RigidRotation::new(body, |_, _, _| DVec3::ZERO));
    let mut scratch = OdeScratch::new(&Euler::SEMI_IMPLICIT, 7);
    let line = measure("semi-implicit Euler", &body, start, &mut |q, w| {
        let omega = q * w;
        let mut y = [q.x, q.y, q.z, q.w, omega.x, omega.y, omega.z];
        Euler::SEMI_IMPLICIT.advance(&mut system, 0.0, DT, &mut y, &mut scratch)?;
        let q = DQuat::from_slice(&y);
        Ok((q, q.conjugate() * DVec3::from_slice(&y[4..])))
    })?;
    println!("{line}");
    let line = measure("Lie-group RK4", &body, start, &mut |q, w| {
        lie_rk4(&body, q, w, 0.0, DT, &mut |_, _, _| DVec3::ZERO)
    })?;
    println!("{line}");
    println!("{}", measure("exact step", &body, start, &mut |q, w| body.step(q, w, DT))?);
    let arc = TorqueFreeArc::new(&body, DQuat::IDENTITY, start)?;
    println!("{:<22} {:>12} {:>12} {:>12.6} s", "closed form", "", "", arc.rate_period());
    Ok(())
}
