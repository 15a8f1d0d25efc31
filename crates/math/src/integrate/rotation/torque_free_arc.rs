//! Exact motion of a rigid body without torque as a function of time: build once, evaluate anywhere.
//!
//! # Reference
//! Landau, Lifshitz, *Mechanics* (1976), §37; the precession angle in Carlson's form of the third elliptic
//! integral, *NIST Digital Library of Mathematical Functions*, 19.25.14, with its parameter changed by
//! 19.21.12.
//!
//! # Symbols
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | a, b, c, `l`, `lambda`, `m1` | as for [`TorqueFreeBody`] | | |
//! | `v` | argument of the elliptic functions, v = λt + v₀ | | rad |
//! | `r` | `(I_b/I_a) · abs(I_c−I_a)/abs(I_c−I_b)`, never below 1 | | |
//! | φ | azimuth of body axis c about the momentum | world | rad |
//! | `M(u)` | rotation from body axes to axes with z along the momentum and c at azimuth 0 | | |
//!
//! # Formula
//! ```text
//! ω_a = A cn v,  ω_b = ± B sn v,  ω_c = ± C dn v         sn v₀ : cn v₀ = ω_b/B : ω_a/A at the start
//! φ̇ = ℓ (2E − I_c ω_c²)/(ℓ² − I_c² ω_c²) = ℓ/I_b + ℓ (1/I_a − 1/I_b) cn²/(cn² + r sn²)
//! G(v) = ∫₀ᵛ cn²/(cn² + r sn²) = m1 sn³/(3r) · R_J(cn², dn², 1, cn² + m1 sn²/r) + atan(√κ sn cn/dn)/√κ
//! κ = (r − 1)(1 − m1/r);      |v| ≤ K, and 2 G(K) for every half period 2K
//! q(t) = q₀ M(u₀)ᵀ Rot(z, φ(t) − φ(0)) M(u(t))
//! ```
//!
//! # Cost
//! Building: one mean sequence and three integrals. Evaluating: one pass of the Jacobi functions and one
//! integral, whatever the time.
//!
//! # Numerics
//! Errors do not add up: the phase is one product, so the error grows like 1e-16 times the angle turned.
//! G is a sum of positive terms; the plain third integral ∫ sn²/(cn² + r sn²) = (v − G)/r would cancel for
//! nearly symmetric bodies, where r is large. On the separatrix (m1 = 0) only the arc tangent is left. Times
//! so short that [`TorqueFreeBody::step`] takes its series are left to it, so the arc begins at its start.
//!
//! # Failure
//! [`IntegrateError`] for unusable input or a time so long that the result is not finite.
//!
//! # Tested by
//! `arc_agrees_with_dormand_prince_on_random_tops`, `arc_starts_at_its_start`,
//! `step_agrees_with_the_closed_form`, `separatrix_arc_is_the_hyperbolic_motion`.

use super::TorqueFreeBody;
use super::torque_free::check_result;
use crate::elliptic::{Jacobi, carlson_rf, carlson_rj};
use crate::integrate::IntegrateError;
use crate::rotation::check_unit_quat;
use crate::{MathError, ops};
use glam::{DMat3, DQuat, DVec3};

/// A stretch of torque-free motion from a known start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TorqueFreeArc {
    body: TorqueFreeBody,
    start: DQuat,
    omega_start: DVec3,
    wave: Option<Wave>,
}

/// The part that is needed when the body rates change.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Wave {
    axes: [usize; 3],
    /// A, ±B, ±C.
    amplitudes: [f64; 3],
    lambda: f64,
    jacobi: Jacobi,
    /// Argument at the start, and the integral G there and over a quarter period.
    v0: f64,
    g0: f64,
    g_quarter: f64,
    r: f64,
    /// φ̇ = steady + swing · cn²/(cn² + r sn²), rad/s.
    steady: f64,
    swing: f64,
    /// q₀ M(u₀)ᵀ.
    world_from_momentum: DQuat,
}

impl TorqueFreeArc {
    /// Arc of `body` that starts with attitude `q` and body rates `omega_body`, rad/s.
    ///
    /// # Errors
    /// [`IntegrateError`] for input that is not finite or a quaternion that is not of unit length to 1e-6.
    pub fn new(body: &TorqueFreeBody, q: DQuat, omega_body: DVec3) -> Result<Self, IntegrateError> {
        check_unit_quat("attitude quaternion", q)?;
        MathError::check_finite("angular velocity", &omega_body.to_array())?;
        let q = q.normalize();
        let i = body.moments();
        let mut arc = Self { body: *body, start: q, omega_start: omega_body, wave: None };
        let Some(motion) = body.motion(omega_body) else {
            return Ok(arc);
        };
        let [a, b, c] = motion.axes;
        let w = omega_body;
        // (B/A)²; the gap between b and c is positive wherever a motion exists.
        let ratio = i[a] * (i[c] - i[a]).abs() / (i[b] * (i[c] - i[b]).abs());
        let big_a = (w[a] * w[a] + w[b] * w[b] / ratio).sqrt();
        let big_b = (w[b] * w[b] + w[a] * w[a] * ratio).sqrt();
        let sign_c = if w[c] < 0.0 { -1.0 } else { 1.0 };
        // Sign of ω̇_b / (ω_c ω_a): the order of the axes may be a left-handed one.
        let sign_b = if i[(b + 1) % 3] > i[(b + 2) % 3] { sign_c } else { -sign_c };
        let (s, k) = (sign_b * w[b] / big_b, w[a] / big_a);
        // First quadrant or fourth; a negative cosine is half a period away.
        let norm = ops::hypot(s, k);
        let (mut s, mut k) = (s / norm, k / norm);
        let half_period_off = k < 0.0;
        if half_period_off {
            (s, k) = (-s, -k);
        }
        let jacobi = Jacobi::from_complement(motion.m1)?;
        let l = (i * w).length();
        let mut wave = Wave {
            axes: motion.axes,
            amplitudes: [big_a, sign_b * big_b, sign_c * motion.amplitude],
            lambda: motion.lambda,
            jacobi,
            v0: 0.0,
            g0: 0.0,
            g_quarter: 0.0,
            r: i[b] * (i[c] - i[a]).abs() / (i[a] * (i[c] - i[b]).abs()),
            steady: l / i[b],
            swing: l * ((i[b] - i[a]) / (i[a] * i[b])),
            world_from_momentum: DQuat::IDENTITY,
        };
        if motion.m1 > 0.0 {
            wave.v0 = s * carlson_rf(k * k, k * k + motion.m1 * s * s, 1.0)?;
            wave.g_quarter = wave.integral(1.0, 0.0)?;
            wave.g0 = wave.integral(s, k)?;
            if half_period_off {
                wave.v0 += 2.0 * jacobi.quarter_period();
                wave.g0 += 2.0 * wave.g_quarter;
            }
        } else {
            // Half an infinite period cannot be added: carry the sign of cn in the amplitudes instead.
            if half_period_off {
                wave.amplitudes[0] = -wave.amplitudes[0];
                wave.amplitudes[1] = -wave.amplitudes[1];
            }
            wave.v0 = ops::asinh(s / k.max(f64::MIN_POSITIVE));
            wave.g0 = wave.integral(s, k)?;
        }
        wave.world_from_momentum = q * momentum_from_body(i * w, c).conjugate();
        arc.wave = Some(wave);
        Ok(arc)
    }

    /// Attitude and body rates `t` seconds after the start; `t` may be negative. The sign of the quaternion
    /// is that of either of the two equal rotations.
    ///
    /// # Errors
    /// [`IntegrateError`] for a time that is not finite or a state that overflows.
    pub fn at(&self, t: f64) -> Result<(DQuat, DVec3), IntegrateError> {
        MathError::check_finite("time", &[t])?;
        match &self.wave {
            Some(wave) if !TorqueFreeBody::is_short(wave.lambda, t) => self.closed_form(t),
            _ => self.body.step(self.start, self.omega_start, t),
        }
    }

    /// [`TorqueFreeArc::at`] by the closed form, however short the time.
    pub(super) fn closed_form(&self, t: f64) -> Result<(DQuat, DVec3), IntegrateError> {
        let Some(wave) = &self.wave else {
            return self.body.step(self.start, self.omega_start, t);
        };
        let v = wave.v0 + wave.lambda * t;
        let quarter = wave.jacobi.quarter_period();
        let halves = if quarter.is_finite() { (v / (2.0 * quarter)).round() } else { 0.0 };
        let rest = if halves == 0.0 { v } else { v - halves * (2.0 * quarter) };
        let (s, k, d) = wave.jacobi.sn_cn_dn(rest);
        let sign = if (0.5 * halves).fract() == 0.0 { 1.0 } else { -1.0 };
        let [a, b, c] = wave.axes;
        let mut w = DVec3::ZERO;
        w[a] = wave.amplitudes[0] * k * sign;
        w[b] = wave.amplitudes[1] * s * sign;
        w[c] = wave.amplitudes[2] * d;
        let g = 2.0 * halves * wave.g_quarter + wave.integral(s, k)? - wave.g0;
        let azimuth = wave.steady * t + wave.swing * g / wave.lambda;
        let (sin, cos) = ops::sin_cos(0.5 * azimuth);
        let turn = DQuat::from_xyzw(0.0, 0.0, sin, cos);
        let q =
            (wave.world_from_momentum * turn * momentum_from_body(self.body.momentum_body(w), c)).normalize();
        check_result(q, w)?;
        Ok((q, w))
    }

    /// Period of the body rates, s; infinite if they are constant or on the separatrix.
    #[must_use]
    pub fn rate_period(&self) -> f64 {
        self.wave.as_ref().map_or(f64::INFINITY, |wave| 4.0 * wave.jacobi.quarter_period() / wave.lambda)
    }
}

impl Wave {
    /// G(v) for |v| ≤ K, from sn v and cn v.
    fn integral(&self, s: f64, k: f64) -> Result<f64, MathError> {
        // Round-off at |v| = K can make cn negative, where the formula would be off by twice the arc tangent.
        let k = k.max(0.0);
        let (s2, k2) = (s * s, k * k);
        let (m1, r) = (self.jacobi.complement(), self.r);
        let d2 = k2 + m1 * s2;
        let kappa = (r - 1.0).max(0.0) * (1.0 - m1 / r);
        // Far out on the separatrix cn and dn underflow together; their quotient is 1.
        let x = if d2 > 0.0 { s * k / d2.sqrt() } else { s };
        let bend = x * x * kappa;
        let arc = if bend < 1e-5 {
            x * (1.0 - bend * (1.0 / 3.0 - bend * (1.0 / 5.0 - bend / 7.0)))
        } else {
            ops::atan(bend.sqrt()) / kappa.sqrt() * x.signum()
        };
        if m1 == 0.0 || s == 0.0 {
            return Ok(arc);
        }
        Ok(m1 * s * s2 / (3.0 * r) * carlson_rj(k2, d2, 1.0, k2 + m1 * s2 / r)? + arc)
    }
}

/// Rotation from body axes to axes with z along the momentum and body axis `c` in the half plane y = 0, x > 0.
fn momentum_from_body(momentum: DVec3, c: usize) -> DQuat {
    let u = momentum / momentum.length();
    let (a, b) = ((c + 1) % 3, (c + 2) % 3);
    let across = ops::hypot(u[a], u[b]);
    // x = (e_c − u_c u)/ρ and y = z × x = u × e_c/ρ, by components so that a small ρ costs no digits.
    let (mut x, mut y) = (DVec3::ZERO, DVec3::ZERO);
    x[c] = across;
    x[a] = -u[c] * u[a] / across;
    x[b] = -u[c] * u[b] / across;
    y[a] = u[b] / across;
    y[b] = -u[a] / across;
    DQuat::from_mat3(&DMat3::from_cols(x, y, u).transpose())
}
