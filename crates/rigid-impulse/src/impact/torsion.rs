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
//! | `coupling` | k_s, velocity change per torsional impulse = spin change per impulse | 1/(kg·m) |
//! | `spin_inverse` | K_ss, spin change per torsional impulse | 1/(kg·m²) |
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
//! Steps of order five in the normal impulse: some ten microseconds. Without lever the fast law is used.
//!
//! # Numerics
//!
//! Signs are smoothed: friction directions are taken as v/√(|v|² + ε²) with ε of 1e-6 of the initial speed, so that sticking
//! creeps at that rate instead of switching. Impulses stay inside both cones.
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
    stepper::{factor, step},
};
use sim_math::glam::{DVec2, DVec3};
use sim_traits::{Impact, ImpactError};

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

/// `u`, ω, `W_z`, p, τ.
type State = [f64; 9];

fn slope(flow: &SlidingFlow, torsion: &Torsion, smooth: [f64; 2], y: &State) -> State {
    let u = DVec2::new(y[0], y[1]);
    let dir = u / (u.length_squared() + smooth[0] * smooth[0]).sqrt();
    let turn = y[3] / (y[3] * y[3] + smooth[1] * smooth[1]).sqrt();
    let xi = DVec3::new(-flow.mu * dir.x, -flow.mu * dir.y, 1.0);
    let tau = -flow.mu * torsion.lever * turn;
    let du = flow.apply(xi) + torsion.coupling * tau;
    let spin = torsion.coupling.dot(xi) + torsion.spin_inverse * tau;
    [du.x, du.y, du.z, spin, y[2], xi.x, xi.y, 1.0, tau]
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
    let u0 = impact.velocity;
    let scale = u0.length() + torsion.lever * torsion.spin.abs();
    // Creep of sticking, as a velocity and as a spin.
    let smooth = [1e-6 * scale, 1e-6 * scale / torsion.lever];
    let f = |y: &State| slope(&flow, torsion, smooth, y);
    let tolerance = 1e-9 * scale;
    let mut y = [u0.x, u0.y, u0.z, torsion.spin, 0.0, 0.0, 0.0, 0.0, 0.0];
    let mut goal: Option<f64> = None;
    let mut h = 1e-2 * scale / flow.c;
    for _ in 0..100_000 {
        let (next, error) = step(&f, &y, h);
        if error > tolerance {
            h *= factor(error, tolerance);
            continue;
        }
        // Compression ends at u_z = 0, restitution at the work that Stronge asks for.
        let gap = |s: &State| goal.map_or(s[2], |w| s[4] - w);
        if gap(&next) >= 0.0 {
            let (mut lo, mut hi) = (0.0, h);
            for _ in 0..60 {
                let middle = 0.5 * (lo + hi);
                if gap(&step(&f, &y, middle).0) < 0.0 {
                    lo = middle;
                } else {
                    hi = middle;
                }
            }
            y = step(&f, &y, hi).0;
            if goal.is_some() || impact.restitution == 0.0 {
                return Ok(finish(impact, torsion, DVec3::new(y[5], y[6], y[7]), y[8]));
            }
            goal = Some((1.0 - impact.restitution * impact.restitution) * y[4]);
            continue;
        }
        y = next;
        h *= factor(error, tolerance);
    }
    // No end: without torsion there always is one.
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
        assert_close!(report.torsion, -0.3 * 0.1 * 1.5, rel = 1e-6);
        assert_close!(report.spin, 10.0 - 2.5 * 0.045, rel = 1e-6);
        assert_close!(report.impulse.z, 1.5, rel = 1e-6);
        // Slow: it stops spinning.
        let (impact, torsion) = ball(0.05, 0.1);
        let report = integrate_torsion(&impact, &torsion).unwrap();
        assert!(report.spin.abs() < 1e-4, "{report:?}");
        assert_close!(report.torsion, -0.05 / 2.5, abs = 1e-4);
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
        assert!((close.impulse - report.impulse).length() < 1e-4);
    }

    #[test]
    fn energy_never_grows_and_both_cones_hold() {
        let mut random = SplitMix64(17);
        for _ in 0..300 {
            let k = random_matrix(&mut random, 20.0);
            let mut velocity = random.vec3(1.0);
            velocity.z = -velocity.z.abs().max(0.05);
            let impact = Impact { k, velocity, friction: random.range(0.05, 1.0), restitution: random.unit() };
            // The four by four matrix stays positive definite.
            let coupling = random.vec3(0.05);
            let spin_inverse = coupling.dot(k.inverse() * coupling) + random.range(0.1, 3.0);
            let torsion =
                Torsion { spin: random.range(-5.0, 5.0), coupling, spin_inverse, lever: random.range(0.01, 0.3) };
            let report = integrate_torsion(&impact, &torsion).unwrap();
            let p = report.impulse;
            assert!(report.work <= 1e-9, "{report:?}");
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
