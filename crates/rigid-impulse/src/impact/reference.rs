//! Reference collision integrator: slow, plain, and independent of the fast one.
//!
//! # Reference
//!
//! Mirtich (1996), section 3.2.2: the sliding equations in the normal impulse.
//!
//! # Symbols
//!
//! | code | paper | meaning | unit |
//! |---|---|---|---|
//! | `y` | u, `W_z`, p | velocity, normal work, tangential impulse | m/s, J, N·s |
//! | `p_z` | `p_z` | independent variable | N·s |
//!
//! # Formula
//!
//! ```text
//! du/dp_z = K ξ(û)    dW_z/dp_z = u_z    dp/dp_z = ξ(û)
//! ```
//!
//! # Cost
//!
//! Hundreds of steps: for tests.
//!
//! # Numerics
//!
//! Steps of order five under error control. The end of a phase is bracketed on the cubic through both ends of the
//! step (dense output), then polished by stepping exactly there. Sliding stops at 1e-12 of the initial speed.
//!
//! # Failure
//!
//! What [`Impact::validate`] finds; a matrix that is not positive definite is refused.
//!
//! # Tested by
//!
//! `sliding_to_the_end` in `tests/golden.rs`, and all comparisons with the fast law.

use super::{
    checked,
    flow::SlidingFlow,
    integrate::{Ending, ImpactReport},
    rays::{Ray, rays},
    restitution::Restitution,
    stepper::{factor, step},
};
use sim_math::glam::{DVec2, DVec3};
use sim_traits::{Impact, ImpactError};

const STEPS: u32 = 200_000;

/// State by normal impulse: `u_x`, `u_y`, `u_z`, `W_z`, `p_x`, `p_y`, `p_z`.
type State = [f64; 7];

fn slope(flow: &SlidingFlow, y: &State) -> State {
    let dir = DVec2::new(y[0], y[1]).normalize_or_zero();
    let xi = flow.xi(dir);
    let du = flow.apply(xi);
    [du.x, du.y, du.z, y[2], xi.x, xi.y, 1.0]
}

/// What must become zero for the phase to end, by the state.
type Gap<'a> = &'a dyn Fn(&State) -> f64;

/// How a phase ended.
enum End {
    Reached(State),
    Stopped(State),
    Budget,
}

/// Integrates sliding until `gap` rises through zero or sliding stops.
fn slide(flow: &SlidingFlow, mut y: State, gap: Gap<'_>, small: f64, tolerance: f64, steps: &mut u32) -> End {
    let f = |y: &State| slope(flow, y);
    let mut h = 1e-3 / flow.c;
    while *steps < STEPS {
        *steps += 1;
        let speed = DVec2::new(y[0], y[1]).length();
        if speed <= small {
            return End::Stopped(y);
        }
        let rate = f(&y);
        // Never step over the place where sliding stops.
        let turn = DVec2::new(rate[0], rate[1]).length();
        h = h.min(0.5 * speed / turn.max(f64::MIN_POSITIVE));
        let (next, error) = step(&f, &y, h);
        if error > tolerance {
            h *= factor(error, tolerance);
            continue;
        }
        if gap(&next) >= 0.0 {
            return End::Reached(locate(&f, &y, &next, h, gap));
        }
        y = next;
        h *= factor(error, tolerance);
    }
    End::Budget
}

/// The state within a step where the gap is zero.
fn locate(f: &impl Fn(&State) -> State, y: &State, next: &State, h: f64, gap: Gap<'_>) -> State {
    // Dense output: the cubic with the right values and slopes at both ends.
    let (start, end) = (f(y), f(next));
    let cubic = |t: f64| {
        let (a, b) = ((1.0 + 2.0 * t) * (1.0 - t) * (1.0 - t), t * t * (3.0 - 2.0 * t));
        let (c, d) = (h * t * (1.0 - t) * (1.0 - t), h * t * t * (t - 1.0));
        let mut at = [0.0; 7];
        for n in 0..7 {
            at[n] = a * y[n] + b * next[n] + c * start[n] + d * end[n];
        }
        at
    };
    let bisect = |gap_at: &dyn Fn(f64) -> f64, mut lo: f64, mut hi: f64| {
        for _ in 0..60 {
            let middle = 0.5 * (lo + hi);
            if gap_at(middle) < 0.0 {
                lo = middle;
            } else {
                hi = middle;
            }
        }
        0.5 * (lo + hi)
    };
    let near = bisect(&|t| gap(&cubic(t)), 0.0, 1.0);
    let (mut lo, mut hi) = ((near - 1e-3).max(0.0), (near + 1e-3).min(1.0));
    let exact = |t: f64| gap(&step(f, y, h * t).0);
    if exact(lo) >= 0.0 {
        lo = 0.0;
    }
    if exact(hi) < 0.0 {
        hi = 1.0;
    }
    step(f, y, h * bisect(&exact, lo, hi)).0
}

/// Resolves a collision with K positive definite, to about 1e-11 of the approach speed.
///
/// # Errors
/// What [`Impact::validate`] finds, or a matrix that is not positive definite.
pub fn reference(impact: &Impact, restitution: Restitution) -> Result<ImpactReport, ImpactError> {
    let flow = checked(impact)?;
    let k_inverse = impact.k.inverse();
    if !k_inverse.is_finite() {
        return Err(ImpactError::BadMatrix { k_zz: flow.c });
    }
    let (u0, e) = (impact.velocity, impact.restitution);
    if u0.z >= 0.0 {
        return Ok(ImpactReport { velocity: u0, ..ImpactReport::default() });
    }
    let scale = u0.length();
    let (small, tolerance) = (1e-12 * scale, 1e-14 * scale);
    let mut y = [u0.x, u0.y, u0.z, 0.0, 0.0, 0.0, 0.0];
    let mut steps = 0;
    // Once sliding has stopped the impulse keeps this direction to the end.
    let mut held: Option<(DVec3, Ending)> = None;
    let mut compressed = [0.0; 7];
    for phase in 0..2 {
        let gap: Box<dyn Fn(&State) -> f64> = match (phase, restitution) {
            (0, _) => Box::new(|y: &State| y[2]),
            (_, Restitution::Stronge) => {
                let goal = (1.0 - e * e) * compressed[3];
                Box::new(move |y: &State| y[3] - goal)
            }
            (_, Restitution::Newton) => Box::new(move |y: &State| y[2] + e * u0.z),
            (_, Restitution::Poisson) => {
                let goal = (1.0 + e) * compressed[6];
                Box::new(move |y: &State| y[6] - goal)
            }
        };
        if held.is_none() {
            match slide(&flow, y, &gap, small, tolerance, &mut steps) {
                End::Reached(at) => y = at,
                End::Stopped(at) => {
                    y = at;
                    (y[0], y[1]) = (0.0, 0.0);
                    let column = k_inverse.z_axis / k_inverse.z_axis.z;
                    held = Some(if column.truncate().length() <= flow.mu {
                        (column, Ending::Stuck)
                    } else {
                        let ray = rays(&flow).as_slice().iter().copied().find(Ray::diverges);
                        let Some(ray) = ray else { return Err(ImpactError::BadMatrix { k_zz: flow.c }) };
                        (flow.xi(ray.direction), Ending::Diverged)
                    });
                }
                End::Budget => return Err(ImpactError::BadMatrix { k_zz: flow.c }),
            }
        }
        if let Some((xi, _)) = held {
            y = straight(&flow, xi, y, &gap);
        }
        if phase == 0 {
            compressed = y;
            if e == 0.0 {
                break;
            }
        }
    }
    let impulse = DVec3::new(y[4], y[5], y[6]);
    let velocity = u0 + flow.apply(impulse);
    Ok(ImpactReport {
        impulse,
        velocity,
        compression_work: compressed[3],
        compression_impulse: compressed[6],
        work: 0.5 * (u0 + velocity).dot(impulse),
        ending: held.map_or(Ending::Sliding, |(_, ending)| ending),
        steps,
    })
}

/// Constant impulse direction until the gap closes: doubling, then bisection, on the exact parabola.
fn straight(flow: &SlidingFlow, xi: DVec3, y: State, gap: Gap<'_>) -> State {
    let rate = flow.apply(xi);
    let at = |h: f64| {
        let mut next = y;
        for (value, slope) in next.iter_mut().zip([rate.x, rate.y, rate.z, 0.0, xi.x, xi.y, 1.0]) {
            *value += h * slope;
        }
        next[3] += h * (y[2] + 0.5 * h * rate.z);
        next
    };
    if gap(&y) >= 0.0 {
        return y;
    }
    let mut hi = 1e-3 / flow.c;
    while gap(&at(hi)) < 0.0 && hi.is_finite() {
        hi *= 2.0;
    }
    let mut lo = 0.0;
    for _ in 0..110 {
        let middle = 0.5 * (lo + hi);
        if gap(&at(middle)) < 0.0 {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    at(hi)
}
