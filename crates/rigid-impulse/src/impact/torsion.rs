//! Torsional friction in a collision: resistance against spin about the normal.
//!
//! # Reference
//!
//! Mirtich (1996), section 5.3.1, leaves room for a torsional impulse (a six-vector in place of three); the friction model is
//! Coulomb's, with a lever: |τ| ≤ μ ρ p, where ρ is the effective radius of the contact patch.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `k` | K, collision matrix of the three translations | 1/kg |
//! | `coupling` | `k_s`, velocity change per torsional impulse = spin change per impulse | 1/(kg·m) |
//! | `spin_inverse` | `K_ss`, spin change per torsional impulse | 1/(kg·m²) |
//! | `lever` | ρ, torsional impulse per friction impulse | m |
//!
//! # Formula
//!
//! ```text
//! d(u, ω)/dp_z = [K k_s; k_sᵀ K_ss] (ξ, τ′),   τ′ = −μ ρ sign ω   while it spins
//! ω = 0 holds if |k_s·ξ| ≤ μ ρ K_ss, with τ′ = −k_s·ξ/K_ss
//! ```
//!
//! # Cost
//!
//! About a thousand small implicit steps in the normal impulse: some hundred microseconds. Without lever the fast law is
//! used.
//!
//! # Numerics
//!
//! Each step is implicit in friction, so that sticking needs no switching, and takes the sliding direction at its middle:
//! the impulse is right to 2 parts in 1000 at worst, usually much better. Impulses stay inside both cones by construction.
//!
//! # Failure
//!
//! What [`Impact::validate`](sim_traits::Impact::validate) finds, a lever or spin that is not finite, or a spin inertia that
//! is not positive.
//!
//! # Tested by
//!
//! `without_lever_it_is_the_integrated_law`, `a_spinning_ball_is_braked`, `energy_never_grows_and_both_cones_hold`

use super::{
    checked,
    flow::SlidingFlow,
    integrate::{Integrated, integrate},
};
use sim_math::glam::{DVec2, DVec3};
use sim_traits::{Impact, ImpactError};

/// Normal impulse of a step, relative to that of a frictionless compression.
const STEP: f64 = 1.0 / 512.0;

/// Most steps before giving up.
const MAX_STEPS: u32 = 1_000_000;

/// What a collision needs to know about spin, in the contact frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Torsion {
    /// Relative spin about the normal, `ω_A` − `ω_B` along z, rad/s.
    pub spin: f64,
    /// Change of the relative velocity per torsional impulse, 1/(kg·m).
    pub coupling: DVec3,
    /// Change of the relative spin per torsional impulse, 1/(kg·m²); positive.
    pub spin_inverse: f64,
    /// Effective radius of the contact patch, m; zero for none.
    pub lever: f64,
}

/// Impulses of a collision with torsional friction.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TorsionReport {
    /// Impulse on A, contact frame, N·s.
    pub impulse: DVec3,
    /// Torsional impulse on A about the normal, N·m·s.
    pub torsion: f64,
    /// Relative velocity afterwards, m/s.
    pub velocity: DVec3,
    /// Relative spin afterwards, rad/s.
    pub spin: f64,
    /// Work on both bodies, J.
    pub work: f64,
}

/// Velocity, spin, normal work, impulse, torsional impulse.
#[derive(Clone, Copy, Default)]
struct State {
    u: DVec3,
    spin: f64,
    w: f64,
    p: DVec3,
    tau: f64,
}

/// Change of the state by a normal impulse `h`, friction implicit: it stops what it can stop, and else opposes the velocity
/// at the middle of the step.
fn change(flow: &SlidingFlow, torsion: &Torsion, s: &State, h: f64) -> State {
    let m = |v: DVec2| DVec2::new(flow.a * v.x + flow.f * v.y, flow.f * v.x + flow.b * v.y);
    let det = flow.a * flow.b - flow.f * flow.f;
    let (u, k_s) = (s.u.truncate(), torsion.coupling.truncate());
    let push = DVec2::new(flow.e, flow.d) * h;
    let (mut p_t, mut tau) = (DVec2::ZERO, 0.0);
    for _ in 0..6 {
        let drift = push + k_s * tau;
        let left = u + drift;
        let stop = DVec2::new(flow.f * left.y - flow.b * left.x, flow.f * left.x - flow.a * left.y) / det;
        p_t = if stop.length() <= flow.mu * h {
            stop
        } else {
            (u + (drift + m(p_t)) * 0.5).normalize_or_zero() * (-flow.mu * h)
        };
        let left = s.spin + torsion.coupling.z * h + k_s.dot(p_t);
        let most = flow.mu * torsion.lever * h;
        tau = (-left / torsion.spin_inverse).clamp(-most, most);
    }
    let p = p_t.extend(h);
    let u = flow.apply(p) + torsion.coupling * tau;
    let spin = torsion.coupling.dot(p) + torsion.spin_inverse * tau;
    State { u, spin, w: h * (s.u.z + 0.5 * u.z), p, tau }
}

impl State {
    /// The state after a fraction of a change.
    fn moved(&self, by: &Self, fraction: f64) -> Self {
        Self {
            u: self.u + by.u * fraction,
            spin: self.spin + by.spin * fraction,
            w: self.w + by.p.z * fraction * (self.u.z + 0.5 * fraction * by.u.z),
            p: self.p + by.p * fraction,
            tau: self.tau + by.tau * fraction,
        }
    }
}

/// Resolves a collision with torsional friction under Stronge's restitution.
///
/// # Errors
/// What [`Impact::validate`] finds, a matrix that is not positive semi-definite, or bad numbers in `torsion`.
pub fn integrate_torsion(impact: &Impact, torsion: &Torsion) -> Result<TorsionReport, ImpactError> {
    let flow = checked(impact)?;
    let numbers = [
        ("spin", torsion.spin),
        ("coupling", torsion.coupling.dot(DVec3::ONE)),
        ("spin inertia", torsion.spin_inverse),
        ("lever", torsion.lever),
    ];
    for (what, value) in numbers {
        if !value.is_finite() {
            return Err(ImpactError::NonFinite { what, value });
        }
    }
    if torsion.lever < 0.0 {
        return Err(ImpactError::Negative { what: "lever", value: torsion.lever });
    }
    if torsion.spin_inverse <= 0.0 {
        return Err(ImpactError::Negative { what: "inverse spin inertia", value: torsion.spin_inverse });
    }
    if impact.velocity.z >= 0.0 || torsion.lever * flow.mu == 0.0 {
        let report = integrate(impact, &Integrated::default())?;
        return Ok(finish(impact, torsion, report.impulse, 0.0));
    }
    let mut state = State { u: impact.velocity, spin: torsion.spin, ..State::default() };
    let h = STEP * -impact.velocity.z / flow.c;
    let e = impact.restitution;
    let mut goal: Option<f64> = None;
    for _ in 0..MAX_STEPS {
        let by = change(&flow, torsion, &state, h);
        let next = state.moved(&by, 1.0);
        let Some(goal) = goal else {
            if next.u.z < 0.0 {
                state = next;
                continue;
            }
            // Compression ends within the step.
            state = state.moved(&by, -state.u.z / by.u.z);
            if e == 0.0 {
                return Ok(finish(impact, torsion, state.p, state.tau));
            }
            goal = Some((1.0 - e * e) * state.w);
            continue;
        };
        if next.w < goal {
            state = next;
            continue;
        }
        // Restitution ends within the step: fraction f with f h (u_z + ½ f Δu_z) = what is left.
        let left = goal - state.w;
        let root = (state.u.z * state.u.z + 2.0 * left * by.u.z / h).max(0.0).sqrt();
        let fraction = (2.0 * left / (h * (state.u.z + root))).clamp(0.0, 1.0);
        state = state.moved(&by, fraction);
        return Ok(finish(impact, torsion, state.p, state.tau));
    }
    // No end, which only a singular matrix brings about: without torsion there always is one.
    let report = integrate(impact, &Integrated::default())?;
    Ok(finish(impact, torsion, report.impulse, 0.0))
}

fn finish(impact: &Impact, torsion: &Torsion, impulse: DVec3, tau: f64) -> TorsionReport {
    let velocity = impact.velocity + impact.k * impulse + torsion.coupling * tau;
    let spin = torsion.spin + torsion.coupling.dot(impulse) + torsion.spin_inverse * tau;
    let work = 0.5 * (impact.velocity + velocity).dot(impulse) + 0.5 * (torsion.spin + spin) * tau;
    TorsionReport { impulse, torsion: tau, velocity, spin, work }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_matrix;
    use sim_math::{assert_close, glam::DMat3, testkit::SplitMix64};

    fn ball(spin: f64, lever: f64) -> (Impact, Torsion) {
        // 1 kg, radius 1 m: the spin inertia is 2/5.
        let k = DMat3::from_diagonal(DVec3::new(3.5, 3.5, 1.0));
        let impact = Impact { k, velocity: DVec3::new(0.4, 0.0, -1.0), friction: 0.3, restitution: 0.5 };
        (impact, Torsion { spin, coupling: DVec3::ZERO, spin_inverse: 2.5, lever })
    }

    // proves: MIR-106
    #[test]
    fn a_spinning_ball_is_braked() {
        // Fast: the whole torsional friction is used, τ = −μ ρ p_z.
        let (impact, torsion) = ball(10.0, 0.1);
        let report = integrate_torsion(&impact, &torsion).unwrap();
        assert_close!(report.torsion, -0.3 * 0.1 * 1.5, rel = 1e-12);
        assert_close!(report.spin, 10.0 - 2.5 * 0.045, rel = 1e-12);
        assert_close!(report.impulse.z, 1.5, rel = 1e-12);
        // Slow: it stops spinning.
        let (impact, torsion) = ball(0.05, 0.1);
        let report = integrate_torsion(&impact, &torsion).unwrap();
        assert!(report.spin.abs() < 1e-12, "{report:?}");
        assert_close!(report.torsion, -0.05 / 2.5, rel = 1e-12);
    }

    #[test]
    fn without_lever_it_is_the_integrated_law() {
        let (impact, torsion) = ball(10.0, 0.0);
        let report = integrate_torsion(&impact, &torsion).unwrap();
        assert_eq!(report.impulse, integrate(&impact, &Integrated::default()).unwrap().impulse);
        assert_eq!((report.torsion, report.spin), (0.0, 10.0));
        // A tiny lever changes little.
        let (impact, torsion) = ball(10.0, 1e-6);
        let close = integrate_torsion(&impact, &torsion).unwrap();
        assert!((close.impulse - report.impulse).length() < 1e-5);
    }

    #[test]
    fn with_a_tiny_lever_it_agrees_with_the_integrated_law() {
        let mut random = SplitMix64(18);
        for _ in 0..200 {
            let k = random_matrix(&mut random, 20.0);
            let mut velocity = random.vec3(1.0);
            velocity.z = -velocity.z.abs().max(0.1);
            let impact =
                Impact { k, velocity, friction: random.range(0.05, 1.0), restitution: random.unit() };
            let torsion = Torsion { spin: 1.0, coupling: DVec3::ZERO, spin_inverse: 1.0, lever: 1e-9 };
            let found = integrate_torsion(&impact, &torsion).unwrap();
            let exact = integrate(&impact, &Integrated::default()).unwrap();
            let error = (found.impulse - exact.impulse).length() / exact.impulse.length();
            assert!(error < 2e-3, "{error:e} {impact:?}");
        }
    }

    #[test]
    fn energy_never_grows_and_both_cones_hold() {
        let mut random = SplitMix64(17);
        for _ in 0..300 {
            let k = random_matrix(&mut random, 20.0);
            let mut velocity = random.vec3(1.0);
            velocity.z = -velocity.z.abs().max(0.05);
            let impact =
                Impact { k, velocity, friction: random.range(0.05, 1.0), restitution: random.unit() };
            // The four by four matrix stays positive definite.
            let coupling = random.vec3(0.05);
            let spin_inverse = coupling.dot(k.inverse() * coupling) + random.range(0.1, 3.0);
            let torsion = Torsion {
                spin: random.range(-5.0, 5.0),
                coupling,
                spin_inverse,
                lever: random.range(0.01, 0.3),
            };
            let report = integrate_torsion(&impact, &torsion).unwrap();
            let p = report.impulse;
            assert!(report.work <= 1e-6, "{report:?}");
            assert!(p.truncate().length() <= impact.friction * p.z * (1.0 + 1e-9));
            assert!(report.torsion.abs() <= impact.friction * torsion.lever * p.z * (1.0 + 1e-9));
            assert!(report.velocity.z > -1e-9, "{report:?}");
        }
    }

    #[test]
    fn bad_numbers_are_refused() {
        let (impact, torsion) = ball(1.0, 0.1);
        for bad in [
            Torsion { spin: f64::NAN, ..torsion },
            Torsion { lever: -0.1, ..torsion },
            Torsion { lever: f64::INFINITY, ..torsion },
            Torsion { spin_inverse: 0.0, ..torsion },
            Torsion { coupling: DVec3::NAN, ..torsion },
        ] {
            assert!(integrate_torsion(&impact, &bad).is_err(), "{bad:?}");
        }
        let apart = Impact { velocity: DVec3::Z, ..impact };
        assert_eq!(integrate_torsion(&apart, &torsion).unwrap().impulse, DVec3::ZERO);
    }
}
