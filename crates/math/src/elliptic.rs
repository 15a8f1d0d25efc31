//! Elliptic integrals in Carlson's symmetric form and the Jacobi functions sn, cn, dn.
//!
//! They give the motion of a torque-free rigid body and the period of a pendulum in closed form.
//!
//! # Reference
//! Carlson, *Numerical computation of real or complex elliptic integrals* (Numerical Algorithms 10, 1995);
//! *NIST Digital Library of Mathematical Functions*, 19.25 (Legendre forms), 19.36 (duplication),
//! 22.20(ii) (Jacobi functions by the arithmetic-geometric mean).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `m` | parameter k² ≤ 1 (k is the modulus) |
//! | `m1` | complementary parameter 1 − m, given apart because near m = 1 it carries the digits |
//! | `phi` | amplitude, radians |
//! | `n` | characteristic of the third kind, in 1 − n sin² φ |
//! | `a`, `b`, `c` | the sequences of the arithmetic-geometric mean |
//!
//! # Formula
//! ```text
//! R_F = ½ ∫₀^∞ dt / √((t+x)(t+y)(t+z))          R_J = 3/2 ∫₀^∞ dt / ((t+p) √((t+x)(t+y)(t+z)))
//! F(φ|m) = s R_F(c², 1 − m s², 1)               K(m) = R_F(0, 1 − m, 1),   s = sin φ, c = cos φ
//! E(φ|m) = F − m s³ R_D(c², 1 − m s², 1) / 3    Π(n; φ|m) = F + n s³ R_J(c², 1 − m s², 1, 1 − n s²) / 3
//! aᵢ₊₁ = (aᵢ+bᵢ)/2,  bᵢ₊₁ = √(aᵢbᵢ),  cᵢ₊₁ = (aᵢ−bᵢ)/2;  a₀ = 1, b₀ = √m1;  K = π / (2 a_N)
//! φ_N = 2ᴺ a_N u,  φᵢ₋₁ = (φᵢ + asin(cᵢ sin φᵢ / aᵢ)) / 2;  sn = sin φ₀, cn = cos φ₀, dn = √(cn² + m1 sn²)
//! ```
//!
//! # Cost
//! `R_F` takes 2 to 8 duplications for arguments within a few decades of each other, `R_J` the same with an arc
//! tangent each. [`Jacobi`] stores its mean sequence (about 5 levels, 14 for m1 = 1e-300) and then needs one
//! `sin_cos`, `sqrt` and `atan2` per level and argument.
//!
//! # Numerics
//! All sums are of positive terms. The step back through the means takes its arc sine as
//! `atan2(c sin φ, √(a² cos² φ + b² sin² φ))`: `asin` would lose half the digits near m = 1.
//!
//! # Failure
//! Arguments outside the domain are [`MathError::OutOfDomain`] with the value; NaN is outside every domain.
//!
//! # Tested by
//! `carlson_forms_match_reference_values`, `jacobi_functions_match_reference_values`,
//! `jacobi_functions_invert_the_incomplete_integral`, `legendre_relation_holds`,
//! `pendulum_period_from_ninety_degrees`.

use crate::{MathError, ops};
use std::f64::consts::{FRAC_PI_2, PI};

/// Series of `R_F` and `R_J` are cut after the fifth order: relative error below 3e-16 at this spread.
const SPREAD: f64 = 2e-3;

/// Bound on duplications; each divides the spread by 4, so 600 pass the range of `f64` (4⁵¹¹ = 2¹⁰²²).
const MAX_DUPLICATIONS: usize = 600;

fn domain(what: &'static str, value: f64, ok: bool, domain: &'static str) -> Result<(), MathError> {
    if ok { Ok(()) } else { Err(MathError::OutOfDomain { what, value, domain }) }
}

/// Arguments of a Carlson form: finite, not negative, at most one zero.
fn check_symmetric(x: f64, y: f64, z: f64) -> Result<(), MathError> {
    for v in [x, y, z] {
        domain("Carlson argument", v, v.is_finite() && v >= 0.0, "[0, inf)")?;
    }
    domain("second zero Carlson argument", 0.0, x + y > 0.0 && y + z > 0.0 && z + x > 0.0, "(0, inf)")
}

/// `R_C(1, 1 + e) = atan(√e)/√e`, continued to −1 < e ≤ 0; 1 + e is given apart for its digits near e = −1.
fn rc_one(e: f64, one_plus_e: f64) -> f64 {
    if e.abs() < 1e-3 {
        1.0 - e * (1.0 / 3.0 - e * (1.0 / 5.0 - e * (1.0 / 7.0 - e * (1.0 / 9.0 - e / 11.0))))
    } else if e > 0.0 {
        let r = e.sqrt();
        ops::atan(r) / r
    } else {
        let r = (-e).sqrt();
        ops::ln((1.0 + r) / one_plus_e.sqrt()) / r
    }
}

/// Carlson's degenerate form `R_C(x, y) = R_F(x, y, y)`.
///
/// # Errors
/// [`MathError::OutOfDomain`] unless x ≥ 0 and y > 0, both finite.
pub fn carlson_rc(x: f64, y: f64) -> Result<f64, MathError> {
    domain("Carlson argument", x, x.is_finite() && x >= 0.0, "[0, inf)")?;
    domain("Carlson argument", y, y.is_finite() && y > 0.0, "(0, inf)")?;
    if x == 0.0 {
        return Ok(FRAC_PI_2 / y.sqrt());
    }
    Ok(rc_one((y - x) / x, y / x) / x.sqrt())
}

/// Carlson's integral of the first kind `R_F(x, y, z)`.
///
/// # Errors
/// [`MathError::OutOfDomain`] unless the arguments are finite, not negative, and at most one is zero.
pub fn carlson_rf(x: f64, y: f64, z: f64) -> Result<f64, MathError> {
    check_symmetric(x, y, z)?;
    Ok(rf(x, y, z))
}

fn rf(mut x: f64, mut y: f64, mut z: f64) -> f64 {
    let mut mean = (x + y + z) / 3.0;
    for _ in 0..MAX_DUPLICATIONS {
        let spread = (mean - x).abs().max((mean - y).abs()).max((mean - z).abs());
        if spread <= SPREAD * mean {
            break;
        }
        let (rx, ry, rz) = (x.sqrt(), y.sqrt(), z.sqrt());
        let lambda = rx * ry + ry * rz + rz * rx;
        x = (x + lambda) * 0.25;
        y = (y + lambda) * 0.25;
        z = (z + lambda) * 0.25;
        mean = (x + y + z) / 3.0;
    }
    let (dx, dy) = ((mean - x) / mean, (mean - y) / mean);
    let dz = -dx - dy;
    let e2 = dx * dy - dz * dz;
    let e3 = dx * dy * dz;
    (1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0 - 3.0 * e2 * e3 / 44.0) / mean.sqrt()
}

/// Carlson's integral of the third kind `R_J(x, y, z, p)` for p > 0.
///
/// # Errors
/// [`MathError::OutOfDomain`] unless x, y, z are finite, not negative, at most one zero, and p > 0 is finite.
pub fn carlson_rj(x: f64, y: f64, z: f64, p: f64) -> Result<f64, MathError> {
    check_symmetric(x, y, z)?;
    domain("Carlson argument p", p, p.is_finite() && p > 0.0, "(0, inf)")?;
    Ok(rj(x, y, z, p))
}

fn rj(mut x: f64, mut y: f64, mut z: f64, mut p: f64) -> f64 {
    let mut mean = (x + y + z + 2.0 * p) / 5.0;
    let mut scale = 1.0;
    let mut sum = 0.0;
    for _ in 0..MAX_DUPLICATIONS {
        let spread = (mean - x).abs().max((mean - y).abs()).max((mean - z).abs()).max((mean - p).abs());
        if spread <= SPREAD * mean {
            break;
        }
        let (rx, ry, rz, rp) = (x.sqrt(), y.sqrt(), z.sqrt(), p.sqrt());
        let lambda = rx * ry + ry * rz + rz * rx;
        let d = (rp + rx) * (rp + ry) * (rp + rz);
        // The differences shrink by 4 with every duplication, so δ / (64ⁿ d²) is this quotient. Taken
        // factor by factor: d² alone overflows for p beyond 1e102.
        let e = (rp - rx) / (rp + rx) * ((rp - ry) / (rp + ry)) * ((rp - rz) / (rp + rz));
        sum += scale / d * rc_one(e, 2.0 * rp * (p + lambda) / d);
        scale *= 0.25;
        x = (x + lambda) * 0.25;
        y = (y + lambda) * 0.25;
        z = (z + lambda) * 0.25;
        p = (p + lambda) * 0.25;
        mean = (x + y + z + 2.0 * p) / 5.0;
    }
    let (dx, dy, dz) = ((mean - x) / mean, (mean - y) / mean, (mean - z) / mean);
    let dp = -0.5 * (dx + dy + dz);
    let xyz = dx * dy * dz;
    let e2 = dx * dy + dy * dz + dz * dx - 3.0 * dp * dp;
    let e3 = xyz + 2.0 * e2 * dp + 4.0 * dp * dp * dp;
    let e4 = (2.0 * xyz + e2 * dp + 3.0 * dp * dp * dp) * dp;
    let e5 = xyz * dp * dp;
    let series =
        1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0 - 3.0 * e4 / 22.0 - 9.0 * e2 * e3 / 52.0
            + 3.0 * e5 / 26.0;
    scale * series / (mean * mean.sqrt()) + 6.0 * sum
}

/// Carlson's integral of the second kind `R_D(x, y, z) = R_J(x, y, z, z)`.
///
/// # Errors
/// [`MathError::OutOfDomain`] unless x, y are finite, not negative, not both zero, and z > 0 is finite.
pub fn carlson_rd(x: f64, y: f64, z: f64) -> Result<f64, MathError> {
    carlson_rj(x, y, z, z)
}

fn check_below_one(m: f64) -> Result<(), MathError> {
    domain("elliptic parameter m", m, m.is_finite() && m < 1.0, "(-inf, 1)")
}

/// Complete integral of the first kind K(m), m = k². The quarter period of sn and cn.
///
/// # Errors
/// [`MathError::OutOfDomain`] unless m < 1 is finite.
pub fn complete_k(m: f64) -> Result<f64, MathError> {
    check_below_one(m)?;
    Ok(rf(0.0, 1.0 - m, 1.0))
}

/// Complete integral of the second kind E(m), m = k².
///
/// # Errors
/// [`MathError::OutOfDomain`] unless m ≤ 1 is finite.
pub fn complete_e(m: f64) -> Result<f64, MathError> {
    domain("elliptic parameter m", m, m.is_finite() && m <= 1.0, "(-inf, 1]")?;
    if m >= 1.0 {
        return Ok(1.0);
    }
    Ok(rf(0.0, 1.0 - m, 1.0) - m / 3.0 * rj(0.0, 1.0 - m, 1.0, 1.0))
}

/// Splits φ = π·turns + rest with |rest| ≤ π/2.
fn split_half_turns(phi: f64) -> (f64, f64) {
    let turns = (phi / PI).round();
    (turns, phi - turns * PI)
}

/// Incomplete integral of the first kind F(φ|m), φ in radians, any number of turns.
///
/// # Errors
/// [`MathError::OutOfDomain`] unless φ is finite and m < 1.
pub fn incomplete_f(phi: f64, m: f64) -> Result<f64, MathError> {
    domain("amplitude", phi, phi.is_finite(), "(-inf, inf)")?;
    check_below_one(m)?;
    let (turns, rest) = split_half_turns(phi);
    let (s, c) = ops::sin_cos(rest);
    let whole = if turns == 0.0 { 0.0 } else { 2.0 * turns * rf(0.0, 1.0 - m, 1.0) };
    Ok(whole + s * rf(c * c, c * c + (1.0 - m) * s * s, 1.0))
}

/// Incomplete integral of the second kind E(φ|m), φ in radians, any number of turns.
///
/// # Errors
/// [`MathError::OutOfDomain`] unless φ is finite and m < 1.
pub fn incomplete_e(phi: f64, m: f64) -> Result<f64, MathError> {
    domain("amplitude", phi, phi.is_finite(), "(-inf, inf)")?;
    check_below_one(m)?;
    let (turns, rest) = split_half_turns(phi);
    let (s, c) = ops::sin_cos(rest);
    let whole = if turns == 0.0 { 0.0 } else { 2.0 * turns * complete_e(m)? };
    let d2 = c * c + (1.0 - m) * s * s;
    Ok(whole + s * (rf(c * c, d2, 1.0) - m / 3.0 * s * s * rj(c * c, d2, 1.0, 1.0)))
}

/// Incomplete integral of the third kind Π(n; φ|m) with 1 − n sin² φ, φ in radians, any number of turns.
///
/// # Errors
/// [`MathError::OutOfDomain`] unless φ is finite, m < 1 and n < 1.
pub fn incomplete_pi(n: f64, phi: f64, m: f64) -> Result<f64, MathError> {
    domain("amplitude", phi, phi.is_finite(), "(-inf, inf)")?;
    domain("characteristic n", n, n.is_finite() && n < 1.0, "(-inf, 1)")?;
    check_below_one(m)?;
    let (m1, n1) = (1.0 - m, 1.0 - n);
    let (turns, rest) = split_half_turns(phi);
    let (s, c) = ops::sin_cos(rest);
    let mut whole = 0.0;
    if turns != 0.0 {
        whole = 2.0 * turns * (rf(0.0, m1, 1.0) + n / 3.0 * rj(0.0, m1, 1.0, n1));
    }
    let (c2, s2) = (c * c, s * s);
    let d2 = c2 + m1 * s2;
    Ok(whole + s * (rf(c2, d2, 1.0) + n / 3.0 * s2 * rj(c2, d2, 1.0, c2 + n1 * s2)))
}

/// Levels of the arithmetic-geometric mean that suffice for every positive `f64` as m1.
const LEVELS: usize = 20;

/// The Jacobi functions of one parameter 0 ≤ m ≤ 1, with the mean sequence computed once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jacobi {
    m1: f64,
    quarter_period: f64,
    levels: usize,
    top: f64,
    a: [f64; LEVELS],
    b: [f64; LEVELS],
    c: [f64; LEVELS],
}

impl Jacobi {
    /// Functions with parameter m = 1 − m1, from the complementary parameter m1 in [0, 1].
    ///
    /// # Errors
    /// [`MathError::OutOfDomain`] unless 0 ≤ m1 ≤ 1.
    pub fn from_complement(m1: f64) -> Result<Self, MathError> {
        domain("complementary parameter m1", m1, (0.0..=1.0).contains(&m1), "[0, 1]")?;
        let mut this = Self {
            m1,
            quarter_period: f64::INFINITY,
            levels: 0,
            top: 0.0,
            a: [0.0; LEVELS],
            b: [0.0; LEVELS],
            c: [0.0; LEVELS],
        };
        if m1 == 0.0 {
            return Ok(this);
        }
        let (mut a, mut b) = (1.0, m1.sqrt());
        while this.levels < LEVELS && (a - b).abs() > 2.0 * f64::EPSILON * a {
            let c = 0.5 * (a - b);
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
            let i = this.levels;
            (this.a[i], this.b[i], this.c[i]) = (a, b, c);
            this.levels += 1;
        }
        this.top = a * f64::from(1_u32 << this.levels);
        this.quarter_period = FRAC_PI_2 / a;
        Ok(this)
    }

    /// Functions with parameter m = k² in [0, 1]. Near 1 prefer [`Jacobi::from_complement`].
    ///
    /// # Errors
    /// [`MathError::OutOfDomain`] unless 0 ≤ m ≤ 1.
    pub fn new(m: f64) -> Result<Self, MathError> {
        domain("elliptic parameter m", m, (0.0..=1.0).contains(&m), "[0, 1]")?;
        Self::from_complement(1.0 - m)
    }

    /// K(m), infinite at m = 1.
    #[inline]
    #[must_use]
    pub fn quarter_period(&self) -> f64 {
        self.quarter_period
    }

    /// The complementary parameter 1 − m.
    #[inline]
    #[must_use]
    pub fn complement(&self) -> f64 {
        self.m1
    }

    /// (sn u, cn u, dn u). NaN for an argument that is not finite.
    #[must_use]
    pub fn sn_cn_dn(&self, u: f64) -> (f64, f64, f64) {
        if self.m1 == 0.0 {
            let sech = 1.0 / ops::cosh(u);
            return (ops::tanh(u), sech, sech);
        }
        // One half period changes the sign of sn and cn and leaves dn.
        let halves = (u / (2.0 * self.quarter_period)).round();
        let sign = if (0.5 * halves).fract() == 0.0 { 1.0 } else { -1.0 };
        let mut phi = self.top * (u - halves * 2.0 * self.quarter_period);
        for i in (0..self.levels).rev() {
            let (s, c) = ops::sin_cos(phi);
            let (ac, bs) = (self.a[i] * c, self.b[i] * s);
            phi = 0.5 * (phi + ops::atan2(self.c[i] * s, (ac * ac + bs * bs).sqrt()));
        }
        let (s, c) = ops::sin_cos(phi);
        (sign * s, sign * c, (c * c + self.m1 * s * s).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assert_close;
    use crate::testkit::SplitMix64;

    // Reference values of these tests: mpmath with 30 digits.

    #[test]
    fn carlson_forms_match_reference_values() {
        for (got, want) in [
            (carlson_rf(1.0, 2.0, 0.0), 1.311_028_777_146_059_9),
            (carlson_rf(0.5, 1.0, 0.0), 1.854_074_677_301_371_9),
            (carlson_rf(2.0, 3.0, 4.0), 0.584_082_841_677_151_7),
            (carlson_rc(0.0, 0.25), PI),
            (carlson_rc(2.25, 2.0), std::f64::consts::LN_2),
            (carlson_rc(1.0, 1e-300), 346.080_911_129_666_8),
            (carlson_rj(0.0, 1.0, 2.0, 3.0), 0.776_886_237_785_823_3),
            (carlson_rj(2.0, 3.0, 4.0, 5.0), 0.142_975_796_671_567_54),
            (carlson_rj(0.001, 0.5, 1.0, 40.0), 0.119_399_655_580_100_17),
            (carlson_rj(1.0, 2.0, 3.0, 1e-10), 14.052192082571138),
            (carlson_rd(0.0, 2.0, 1.0), 1.797_210_352_103_388_3),
            (carlson_rd(2.0, 3.0, 4.0), 0.165_105_272_942_610_53),
        ] {
            assert_close!(got.unwrap(), want, rel = 1e-15);
        }
    }

    #[test]
    fn legendre_forms_match_reference_values() {
        for (m, k, e) in [
            (0.0, FRAC_PI_2, FRAC_PI_2),
            (0.5, 1.854_074_677_301_371_9, 1.350_643_881_047_675_5),
            (0.9, 2.578_092_113_348_173, 1.104_774_732_704_073_3),
        ] {
            assert_close!(complete_k(m).unwrap(), k, rel = 1e-15);
            assert_close!(complete_e(m).unwrap(), e, rel = 1e-15);
        }
        for (phi, m, f, e, p) in [
            (0.7, 0.5, 0.728_770_305_718_190_3, 0.673_189_174_547_128_8, 0.662_663_984_007_231_2),
            (1.5, 0.99, 3.036_014_097_339_71, 1.008_366_245_703_958_3, 2.125_642_583_994_688_6),
            (4.0, 0.8, 5.467_873_527_678_046, 3.136_236_487_674_675_6, 4.122_745_149_627_461),
        ] {
            assert_close!(incomplete_f(phi, m).unwrap(), f, rel = 2e-15);
            assert_close!(incomplete_e(phi, m).unwrap(), e, rel = 2e-15);
            assert_close!(incomplete_pi(-0.7, phi, m).unwrap(), p, rel = 2e-15);
        }
    }

    #[test]
    fn jacobi_functions_match_reference_values() {
        for (u, m, s, c, d) in [
            (0.3, 0.5, 0.293_412_733_168_455_4, 0.955_985_861_827_787_1, 0.978_240_504_174_361_2),
            (1.7, 0.9, 0.952_230_542_108_018_7, 0.305_380_082_318_197_2, 0.428_872_119_878_410_86),
            (-2.5, 0.3, -0.779_797_385_170_883_1, -0.626_031_978_480_854_7, 0.904_198_435_866_926_3),
            (1.2, 0.0, 0.932_039_085_967_226_3, 0.362_357_754_476_673_6, 1.0),
        ] {
            let (sn, cn, dn) = Jacobi::new(m).unwrap().sn_cn_dn(u);
            for (got, want) in [(sn, s), (cn, c), (dn, d)] {
                assert_close!(got, want, abs = 5e-16);
            }
        }
        // Near m = 1 the complement carries the digits.
        let (sn, cn, dn) = Jacobi::from_complement(4e-6).unwrap().sn_cn_dn(5.0);
        assert_close!(sn, 0.999_910_200_513_332, abs = 3e-16);
        assert_close!(cn, 0.013_401_153_285_753_38, rel = 1e-13);
        assert_close!(dn, 0.013_549_545_786_653_554, rel = 1e-13);
        let (sn, cn, dn) = Jacobi::from_complement(0.01).unwrap().sn_cn_dn(20.0);
        assert_close!(sn, 0.976_571_496_491_884_9, abs = 4e-15);
        assert_close!(cn, -0.215_193_197_475_200_23, abs = 4e-15);
        assert_close!(dn, 0.236_315_532_957_959_66, abs = 4e-15);
    }

    #[test]
    fn jacobi_functions_invert_the_incomplete_integral() {
        let mut random = SplitMix64(11);
        for _ in 0..20_000 {
            let m1 = ops::exp(random.range(-30.0, 0.0));
            let jacobi = Jacobi::from_complement(m1).unwrap();
            let phi = random.range(-FRAC_PI_2, FRAC_PI_2);
            let (s, c) = ops::sin_cos(phi);
            let u = s * rf(c * c, c * c + m1 * s * s, 1.0);
            let (sn, cn, dn) = jacobi.sn_cn_dn(u);
            assert!((sn - s).abs() < 4e-15 && (cn - c).abs() < 4e-15, "m1 {m1:e} phi {phi}: {sn} {cn}");
            assert!((dn * dn - (c * c + m1 * s * s)).abs() < 8e-15);
            assert_close!(jacobi.quarter_period(), rf(0.0, m1, 1.0), rel = 2e-15);
        }
    }

    #[test]
    fn limits_are_circular_and_hyperbolic_functions() {
        for u in [-3.0, -0.1, 0.0, 0.7, 40.0] {
            let (sn, cn, dn) = Jacobi::new(0.0).unwrap().sn_cn_dn(u);
            assert!((sn - ops::sin(u)).abs() < 1e-14 && (cn - ops::cos(u)).abs() < 1e-14);
            assert!((dn - 1.0).abs() < 1e-15);
            for m1 in [0.0, 1e-300] {
                let (sn, cn, dn) = Jacobi::from_complement(m1).unwrap().sn_cn_dn(u);
                assert!((sn - ops::tanh(u)).abs() < 1e-13, "{m1} {u} {sn}");
                assert!((cn - 1.0 / ops::cosh(u)).abs() < 1e-13 && (cn - dn).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn legendre_relation_holds() {
        let mut random = SplitMix64(12);
        for _ in 0..5_000 {
            let m = random.range(1e-6, 1.0 - 1e-6);
            let (k, e) = (complete_k(m).unwrap(), complete_e(m).unwrap());
            let (k1, e1) = (complete_k(1.0 - m).unwrap(), complete_e(1.0 - m).unwrap());
            assert_close!(e * k1 + e1 * k - k * k1, FRAC_PI_2, abs = 1e-14);
        }
    }

    #[test]
    fn pendulum_period_from_ninety_degrees() {
        // T = 4 √(L/g) K(sin² 45°), L = 1 m, g = 9.81 m/s².
        let period = 4.0 / 9.81_f64.sqrt() * complete_k(0.5).unwrap();
        assert_close!(period, 2.367_841_947_576_237_4, rel = 2e-16);
    }

    #[test]
    fn arguments_outside_the_domain_are_errors_with_the_value() {
        for bad in [
            carlson_rf(-1.0, 1.0, 1.0),
            carlson_rf(0.0, 0.0, 1.0),
            carlson_rf(f64::NAN, 1.0, 1.0),
            carlson_rc(1.0, 0.0),
            carlson_rj(1.0, 1.0, 1.0, 0.0),
            carlson_rj(1.0, 1.0, f64::INFINITY, 1.0),
            carlson_rd(1.0, 1.0, -2.0),
            complete_k(1.0),
            complete_k(f64::NAN),
            complete_e(1.5),
            incomplete_f(f64::INFINITY, 0.5),
            incomplete_e(1.0, 2.0),
            incomplete_pi(1.0, 1.0, 0.5),
        ] {
            assert!(matches!(bad, Err(MathError::OutOfDomain { .. })), "{bad:?}");
        }
        assert!(
            Jacobi::new(-0.1).is_err()
                && Jacobi::new(1.1).is_err()
                && Jacobi::from_complement(f64::NAN).is_err()
        );
        assert!(matches!(complete_k(2.5), Err(MathError::OutOfDomain { value, .. }) if value > 2.0));
    }
}
