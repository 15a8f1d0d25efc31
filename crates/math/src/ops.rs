//! Transcendental functions: the one place that chooses between the platform and `libm`.
//!
//! IEEE 754 fixes `+ - * /` and `sqrt` to the last bit, but not these functions: they differ between
//! operating systems and compiler versions. With the feature `libm` they come from one portable
//! implementation, and a run gives the same bits on every target. `clippy.toml` forbids the methods of
//! `f64` elsewhere.
#![allow(clippy::disallowed_methods, reason = "this module is the door the lint points to")]

/// Sine of an angle in radians.
#[inline]
#[must_use]
pub fn sin(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.sin();
    #[cfg(feature = "libm")]
    return libm::sin(x);
}

/// Cosine of an angle in radians.
#[inline]
#[must_use]
pub fn cos(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.cos();
    #[cfg(feature = "libm")]
    return libm::cos(x);
}

/// Tangent of an angle in radians.
#[inline]
#[must_use]
pub fn tan(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.tan();
    #[cfg(feature = "libm")]
    return libm::tan(x);
}

/// Arc sine in radians; NaN outside [-1, 1].
#[inline]
#[must_use]
pub fn asin(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.asin();
    #[cfg(feature = "libm")]
    return libm::asin(x);
}

/// Arc cosine in radians; NaN outside [-1, 1].
#[inline]
#[must_use]
pub fn acos(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.acos();
    #[cfg(feature = "libm")]
    return libm::acos(x);
}

/// Arc tangent in radians.
#[inline]
#[must_use]
pub fn atan(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.atan();
    #[cfg(feature = "libm")]
    return libm::atan(x);
}

/// Hyperbolic sine.
#[inline]
#[must_use]
pub fn sinh(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.sinh();
    #[cfg(feature = "libm")]
    return libm::sinh(x);
}

/// Hyperbolic cosine.
#[inline]
#[must_use]
pub fn cosh(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.cosh();
    #[cfg(feature = "libm")]
    return libm::cosh(x);
}

/// Hyperbolic tangent.
#[inline]
#[must_use]
pub fn tanh(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.tanh();
    #[cfg(feature = "libm")]
    return libm::tanh(x);
}

/// Inverse hyperbolic sine.
#[inline]
#[must_use]
pub fn asinh(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.asinh();
    #[cfg(feature = "libm")]
    return libm::asinh(x);
}

/// Inverse hyperbolic cosine; NaN below 1.
#[inline]
#[must_use]
pub fn acosh(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.acosh();
    #[cfg(feature = "libm")]
    return libm::acosh(x);
}

/// Inverse hyperbolic tangent.
#[inline]
#[must_use]
pub fn atanh(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.atanh();
    #[cfg(feature = "libm")]
    return libm::atanh(x);
}

/// e to the power x.
#[inline]
#[must_use]
pub fn exp(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.exp();
    #[cfg(feature = "libm")]
    return libm::exp(x);
}

/// 2 to the power x.
#[inline]
#[must_use]
pub fn exp2(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.exp2();
    #[cfg(feature = "libm")]
    return libm::exp2(x);
}

/// e to the power x, minus 1, accurate near 0.
#[inline]
#[must_use]
pub fn exp_m1(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.exp_m1();
    #[cfg(feature = "libm")]
    return libm::expm1(x);
}

/// Natural logarithm.
#[inline]
#[must_use]
pub fn ln(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.ln();
    #[cfg(feature = "libm")]
    return libm::log(x);
}

/// Natural logarithm of 1 + x, accurate near 0.
#[inline]
#[must_use]
pub fn ln_1p(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.ln_1p();
    #[cfg(feature = "libm")]
    return libm::log1p(x);
}

/// Logarithm to base 2.
#[inline]
#[must_use]
pub fn log2(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.log2();
    #[cfg(feature = "libm")]
    return libm::log2(x);
}

/// Logarithm to base 10.
#[inline]
#[must_use]
pub fn log10(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.log10();
    #[cfg(feature = "libm")]
    return libm::log10(x);
}

/// Cube root.
#[inline]
#[must_use]
pub fn cbrt(x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.cbrt();
    #[cfg(feature = "libm")]
    return libm::cbrt(x);
}

/// Sine and cosine of an angle in radians.
#[inline]
#[must_use]
pub fn sin_cos(x: f64) -> (f64, f64) {
    #[cfg(not(feature = "libm"))]
    return x.sin_cos();
    #[cfg(feature = "libm")]
    return libm::sincos(x);
}

/// Angle of the point (x, y) in radians, in [-π, π].
#[inline]
#[must_use]
pub fn atan2(y: f64, x: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return y.atan2(x);
    #[cfg(feature = "libm")]
    return libm::atan2(y, x);
}

/// Length of (x, y) without overflow.
#[inline]
#[must_use]
pub fn hypot(x: f64, y: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.hypot(y);
    #[cfg(feature = "libm")]
    return libm::hypot(x, y);
}

/// x to the power y.
#[inline]
#[must_use]
pub fn powf(x: f64, y: f64) -> f64 {
    #[cfg(not(feature = "libm"))]
    return x.powf(y);
    #[cfg(feature = "libm")]
    return libm::pow(x, y);
}

/// x to an integer power by repeated squaring, in a fixed order: the same bits on every target.
#[inline]
#[must_use]
pub fn powi(x: f64, n: i32) -> f64 {
    let mut base = if n < 0 { 1.0 / x } else { x };
    let mut rest = n.unsigned_abs();
    let mut result = 1.0;
    while rest > 0 {
        if rest & 1 == 1 {
            result *= base;
        }
        base *= base;
        rest >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_agree_with_their_inverses() {
        for i in 1..100 {
            let x = f64::from(i) / 101.0;
            for (name, back) in [
                ("sin", asin(sin(x))),
                ("cos", acos(cos(x))),
                ("tan", atan(tan(x))),
                ("sinh", asinh(sinh(x))),
                ("tanh", atanh(tanh(x))),
                ("exp", ln(exp(x))),
                ("exp_m1", ln_1p(exp_m1(x))),
                ("exp2", log2(exp2(x))),
                ("cbrt", powi(cbrt(x), 3)),
                ("atan2", atan2(sin(x), cos(x))),
                ("hypot", hypot(3.0 * x, 4.0 * x) / 5.0),
                ("powf", powf(powf(x, 0.3), 1.0 / 0.3)),
                ("log10", powf(10.0, log10(x))),
                ("acosh", acosh(cosh(x))),
            ] {
                assert!((back - x).abs() < 1e-13, "{name} at {x}: {back}");
            }
            let (s, c) = sin_cos(x);
            assert!((s - sin(x)).abs() <= f64::EPSILON && (c - cos(x)).abs() <= f64::EPSILON);
        }
    }

    #[test]
    fn powi_handles_negative_and_extreme_exponents() {
        assert_eq!(powi(2.0, 10).to_bits(), 1024.0_f64.to_bits());
        assert_eq!(powi(2.0, -2).to_bits(), 0.25_f64.to_bits());
        assert_eq!(powi(7.5, 0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(powi(1.0, i32::MIN).to_bits(), 1.0_f64.to_bits());
    }
}
