//! Exact motion of a rigid body without torque, stepped: Jacobi functions by their addition theorem.
//!
//! # Reference
//! Landau, Lifshitz, *Mechanics* (1976), §37, for the body rates; the attitude follows from the conserved
//! angular momentum and one angle, as in van Zon, Schofield, *Numerical implementation of the exact dynamics
//! of free rigid bodies* (J. Comp. Phys. 225, 2007), here with the shortest rotation between two momentum
//! directions instead of Euler angles, which has no pole on a short step.
//!
//! # Symbols
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | a, b, c | principal axes: b the intermediate one, c the one that the momentum circles, a the third | body | |
//! | `w` | angular velocity ω | body | rad/s |
//! | `u` | direction of the angular momentum | body | |
//! | `l` | its magnitude ℓ | | kg·m²/s |
//! | `amplitude` | C, largest rate about axis c | | rad/s |
//! | `lambda` | λ, rate of the argument of the elliptic functions | | rad/s |
//! | `m`, `m1` | parameter k² and 1 − k² | | |
//! | `theta` | θ, turn about the momentum beyond the shortest rotation | | rad |
//!
//! # Formula
//! ```text
//! α = I₁(I₂−I₁)ω₁²,  γ = I₃(I₃−I₂)ω₃²  (I₁ ≤ I₂ ≤ I₃);   c = 3 if γ ≥ α, else 1
//! κ = I_b|I_b−I_a| / (I_c|I_c−I_a|)      C² = ω_c² + κ ω_b²      λ² = C² |I_c−I_a||I_c−I_b| / (I_a I_b)
//! m1 = |γ−α| / (I_c|I_c−I_b| C²)
//! with s, c, d = sn, cn, dn of λt and D = 1 − (κ ω_b²/C²) s²:
//! ω_a' = (ω_a c + (ω̇_a/λ) s d)/D     ω_b' = (ω_b c d + (ω̇_b/λ) s)/D     ω_c' = (ω_c d + (ω̇_c/λ) s c)/D
//! q' = q Rot(u, θ) P,   P the shortest rotation from u' to u,   θ̇ = (2E/ℓ + ω·u₀)/(1 + u·u₀)
//! ```
//!
//! # Cost
//! Four short series for λ dt ≤ 1/64 (see the bench `integrate`), one Gauss node more up to 1/16, up to 5
//! sub-steps until 5/16; beyond, the constant cost of [`TorqueFreeArc`].
//!
//! # Numerics
//! α − γ is the only cancellation; it is the true conditioning of the motion near the separatrix, where a
//! change of one bit in the rates moves the next flip. Symmetric and spherical bodies, spin about an axis
//! and the separatrix need no limit processes: m = 0, λ = 0, ω̇ = 0, m1 = 0 are ordinary values here.
//! θ is a Gauss-Legendre sum of an integrand smooth on the scale 1/λ, at round-off for the steps used.
//!
//! # Failure
//! [`IntegrateError::Input`] for moments, rates, attitude or step that are not usable,
//! [`IntegrateError::NonFinite`] if the result overflows. Nothing is changed then.
//!
//! # Tested by
//! `tumbling_top_keeps_momentum_and_energy_for_a_million_steps`, `tumbling_top_has_the_elliptic_period`,
//! `dzhanibekov_attitude_after_100_s`, `step_agrees_with_the_closed_form`,
//! `degenerate_tops_agree_with_their_closed_forms`, `sn_series_agrees_with_the_mean_sequence`.

use super::TorqueFreeArc;
use super::exponential::{renormalize, rotate_body};
use crate::MathError;
use crate::integrate::IntegrateError;
use crate::integrate::integrator::check_state;
use crate::rotation::{check_unit_quat, quat_exp};
use glam::{DQuat, DVec3};

/// Largest λ dt of one series step, and below which three Gauss nodes suffice.
const SERIES_LIMIT: f64 = 1.0 / 16.0;
const THREE_NODE_LIMIT: f64 = 1.0 / 64.0;
/// λ dt above which the closed form is cheaper than series sub-steps (bench `integrate`).
const ARC_LIMIT: f64 = 5.0 * SERIES_LIMIT;

/// Gauss-Legendre nodes and weights on [0, 1].
const GAUSS_3: [(f64, f64); 3] =
    [(0.112_701_665_379_258_31, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];
const GAUSS_4: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_9, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];

/// A rigid body that moves without torque: principal moments, validated and sorted once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TorqueFreeBody {
    moments: DVec3,
    /// Axes of the smallest, the middle and the largest moment.
    order: [usize; 3],
}

/// The constants of one motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Motion {
    /// Axes a, b, c.
    pub(super) axes: [usize; 3],
    pub(super) amplitude: f64,
    pub(super) lambda: f64,
    pub(super) m1: f64,
    /// κ / C²: times the square of the rate about b it is m sn².
    pub(super) kappa: f64,
}

impl TorqueFreeBody {
    /// Body with principal moments of inertia about its centre of mass, kg·m², in any order.
    ///
    /// # Errors
    /// [`MathError`] for a moment that is not finite and positive.
    pub fn new(moments: DVec3) -> Result<Self, MathError> {
        for index in 0..3 {
            MathError::check_positive("principal moment", index, moments[index])?;
        }
        let mut order = [0, 1, 2];
        order.sort_by(|i, j| moments[*i].total_cmp(&moments[*j]));
        Ok(Self { moments, order })
    }

    /// Principal moments, kg·m², body axes.
    #[inline]
    #[must_use]
    pub fn moments(&self) -> DVec3 {
        self.moments
    }

    /// Angular momentum in body axes, kg·m²/s.
    #[inline]
    #[must_use]
    pub fn momentum_body(&self, omega_body: DVec3) -> DVec3 {
        self.moments * omega_body
    }

    /// Rotational kinetic energy, J.
    #[inline]
    #[must_use]
    pub fn energy(&self, omega_body: DVec3) -> f64 {
        0.5 * omega_body.dot(self.moments * omega_body)
    }

    /// Euler's equations: angular acceleration in body axes, rad/s², under `torque_body`, N·m.
    #[inline]
    #[must_use]
    pub fn acceleration(&self, omega_body: DVec3, torque_body: DVec3) -> DVec3 {
        let (i, w) = (self.moments, omega_body);
        // Differences of moments rather than ω × Iω: exactly zero where it should be.
        let gyro = DVec3::new((i.y - i.z) * w.y * w.z, (i.z - i.x) * w.z * w.x, (i.x - i.y) * w.x * w.y);
        (gyro + torque_body) / i
    }

    /// Attitude and body rates after `dt` seconds of free motion; `dt` may be negative and of any size.
    ///
    /// # Errors
    /// [`IntegrateError`] for input that is not finite, a quaternion that is not of unit length to 1e-6, or
    /// a result that overflows.
    pub fn step(&self, q: DQuat, omega_body: DVec3, dt: f64) -> Result<(DQuat, DVec3), IntegrateError> {
        check_unit_quat("attitude quaternion", q)?;
        MathError::check_finite("angular velocity", &omega_body.to_array())?;
        MathError::check_finite("step", &[dt])?;
        let (q, w) = self.step_unchecked(q, omega_body, dt)?;
        check_result(q, w)?;
        Ok((q, w))
    }

    /// Whether [`TorqueFreeBody::step`] over `dt` would use the series, for a motion of the given λ.
    pub(super) fn is_short(lambda: f64, dt: f64) -> bool {
        lambda * dt.abs() <= SERIES_LIMIT
    }

    fn step_unchecked(&self, q: DQuat, w: DVec3, dt: f64) -> Result<(DQuat, DVec3), IntegrateError> {
        let Some(motion) = self.motion(w) else {
            return Ok((rotate_body(q, w, dt), w));
        };
        let reach = motion.lambda * dt.abs();
        if reach <= SERIES_LIMIT {
            return Ok(self.series_step(&motion, q, w, dt));
        }
        if reach <= ARC_LIMIT {
            let (mut q, mut w) = (q, w);
            let count = (reach / SERIES_LIMIT).ceil();
            for _ in 0..count as u32 {
                (q, w) = self.series_step(&motion, q, w, dt / count);
            }
            return Ok((q, w));
        }
        let (next, w) = TorqueFreeArc::new(self, q, w)?.closed_form(dt)?;
        Ok((if next.dot(q) < 0.0 { -next } else { next }, w))
    }

    /// Constants of the motion that starts with rates `w`; `None` if the rates stay constant.
    pub(super) fn motion(&self, w: DVec3) -> Option<Motion> {
        let [first, b, third] = self.order;
        let i = self.moments;
        let (below, above) = (i[b] - i[first], i[third] - i[b]);
        let alpha = i[first] * below * (w[first] * w[first]);
        let gamma = i[third] * above * (w[third] * w[third]);
        // `gap` lies between b and c, `far` between a and b.
        let (a, c, gap, far) =
            if gamma >= alpha { (first, third, above, below) } else { (third, first, below, above) };
        // The momentum circles c; without a part across c, or with nothing to tell the axes apart, all is still.
        // A part across below 1e-150 cannot be seen in any digit, and rates below 1e-120 cannot change by a
        // digit in any time that a simulation knows; both would underflow when squared.
        let across = w[a].abs().max(w[b].abs());
        if alpha.max(gamma) <= 0.0 || across <= 1e-150 * w[c].abs() || w.abs().max_element() < 1e-120 {
            return None;
        }
        let span = below + above;
        let kappa = i[b] * far / (i[c] * span);
        let squared = w[c] * w[c] + kappa * (w[b] * w[b]);
        Some(Motion {
            axes: [a, b, c],
            amplitude: squared.sqrt(),
            lambda: (squared * (span / i[a]) * (gap / i[b])).sqrt(),
            m1: ((gamma - alpha).abs() / (i[c] * gap * squared)).min(1.0),
            kappa: kappa / squared,
        })
    }

    /// One step of λ dt ≤ [`SERIES_LIMIT`].
    fn series_step(&self, motion: &Motion, q: DQuat, w: DVec3, dt: f64) -> (DQuat, DVec3) {
        // Everything but the last line is the same in the order a, b, c as in the order of the axes.
        let sorted = |v: DVec3| DVec3::new(v[motion.axes[0]], v[motion.axes[1]], v[motion.axes[2]]);
        let start = sorted(w);
        let rate = sorted(self.acceleration(w, DVec3::ZERO)) / motion.lambda;
        let moments = sorted(self.moments);
        let mu = motion.kappa * (start.y * start.y);
        let change = |v: f64| change_of_rates(1.0 - motion.m1, mu, start, rate, v);
        let v = motion.lambda * dt;

        let l = (moments * start).length();
        let u = moments * start / l;
        let spin = 2.0 * start.dot(u);
        let pull = moments * u / l;
        // θ̇ in terms of the change since the start.
        let turn_rate = |dw: DVec3| (spin + dw.dot(u)) / (2.0 + dw.dot(pull));
        let mut mean = 0.0;
        if v.abs() <= THREE_NODE_LIMIT {
            for (node, weight) in GAUSS_3 {
                mean += weight * turn_rate(change(node * v));
            }
        } else {
            for (node, weight) in GAUSS_4 {
                mean += weight * turn_rate(change(node * v));
            }
        }
        let end = change(v);
        let mut next = w;
        for (axis, change) in motion.axes.into_iter().zip(end.to_array()) {
            next[axis] += change;
        }
        // What was really added after rounding: the attitude must match these rates, not the exact ones.
        (attach(q, self.moments * w / l, self.moments * (next - w) / l, mean * dt), next)
    }
}

/// Change of the rates, in the order a, b, c, while the argument grows by `v` = λ dt: the addition theorem.
///
/// Written for the change, not the new value: round-off is then a fraction of the change, and the only error
/// that can add up over many steps is the unbiased rounding of one sum per component.
#[inline]
fn change_of_rates(m: f64, mu: f64, w: DVec3, rate: DVec3, v: f64) -> DVec3 {
    let s = sn_series(v, m);
    let s2 = s * s;
    let (c, d) = ((1.0 - s2).sqrt(), (1.0 - m * s2).sqrt());
    let (c_less_1, d_less_1) = (-s2 / (1.0 + c), -m * s2 / (1.0 + d));
    let loss = mu * s2;
    DVec3::new(
        w.x * (c_less_1 + loss) + rate.x * (s * d),
        w.y * (c_less_1 + c * d_less_1 + loss) + rate.y * s,
        w.z * (d_less_1 + loss) + rate.z * (s * c),
    ) / (1.0 - loss)
}

/// sn(v|m) for |v| ≤ 1/16 by its Maclaurin series; the first term left out is below 1e-17 of the value.
#[inline]
fn sn_series(v: f64, m: f64) -> f64 {
    let x = v * v;
    let c3 = -(1.0 + m) / 6.0;
    let c5 = (1.0 + m * (14.0 + m)) / 120.0;
    let c7 = -(1.0 + m * (135.0 + m * (135.0 + m))) / 5040.0;
    let c9 = (1.0 + m * (1228.0 + m * (5478.0 + m * (1228.0 + m)))) / 362_880.0;
    let c11 = -(1.0 + m * (11069.0 + m * (165_826.0 + m * (165_826.0 + m * (11069.0 + m))))) / 39_916_800.0;
    v + v * x * (c3 + x * (c5 + x * (c7 + x * (c9 + x * c11))))
}

/// q Rot(u, θ) P with P the shortest rotation from u + `du` to `u`, two unit vectors that are not opposite.
#[inline]
fn attach(q: DQuat, u: DVec3, du: DVec3, theta: f64) -> DQuat {
    // Shortest rotation: (du × u, 1 + u'·u) over its length √(2 (1 + u'·u)), with 1 + u'·u = 2 − |du|²/2.
    let x = 0.25 * du.length_squared();
    let p = (1.0 - x).sqrt();
    let across = du.cross(u) * (0.5 / p);
    // Rot(u, θ) P less the identity; `across` is normal to u.
    let turn = quat_exp(u * theta);
    let along = turn.xyz();
    let vector = along * p + across * turn.w + along.cross(across);
    // cos(θ/2) p − 1 from small terms; 1 − cos = sin²/(1 + cos).
    let turn_less_1 = if turn.w > 0.0 { -along.length_squared() / (1.0 + turn.w) } else { turn.w - 1.0 };
    let scalar = turn_less_1 * p - x / (1.0 + p);
    let change = q * DQuat::from_xyzw(vector.x, vector.y, vector.z, scalar);
    renormalize(q + change)
}

/// `Ok` for a finite attitude (components 0 to 3) and finite rates (4 to 6).
pub(super) fn check_result(q: DQuat, w: DVec3) -> Result<(), IntegrateError> {
    check_state(0.0, &[q.x, q.y, q.z, q.w, w.x, w.y, w.z])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elliptic::Jacobi;

    #[test]
    fn sn_series_agrees_with_the_mean_sequence() {
        for m in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let jacobi = Jacobi::new(m).unwrap();
            // Where the step uses it, to the last bits; further out, to the first term left out, whose
            // coefficient is largest for m = 1: tanh has 0.0036 v¹³. That catches a wrong last coefficient.
            for (v, bar) in [(1e-9, 1e-24), (0.03, 1e-17), (-SERIES_LIMIT, 2e-17), (0.2, 3.5e-12)] {
                let off = (sn_series(v, m) - jacobi.sn_cn_dn(v).0).abs();
                assert!(off <= bar, "m {m} v {v}: {off:e}");
            }
        }
    }
}
