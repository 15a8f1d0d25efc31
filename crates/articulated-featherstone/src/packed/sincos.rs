//! Sine and cosine of joint angles, without a branch for angles of ordinary size.
//!
//! # Reference
//! Cody, Waite, *Software Manual for the Elementary Functions* (1980), chapter 8; the minimax polynomials are those of
//! fdlibm's kernels (Sun Microsystems 1993) on ±π/4.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | k | nearest multiple of π/2 |
//! | r | x − k π/2, with π/2 in three parts whose products with k are exact |
//!
//! # Formula
//! ```text
//! sin x, cos x = ± the sine or cosine polynomial of r, chosen by k mod 4
//! ```
//! # Cost
//! About 30 multiplications and additions; no table, no branch below 1e5 rad.
//!
//! # Numerics
//! Within 2.3e-16 of the platform's functions, absolutely, up to 1e5 rad. The same bits on every target.
//!
//! # Failure
//! Beyond 1e5 rad it hands over to `sim_math::ops`, NaN included.
//!
//! # Tested by
//! `agrees_with_the_library_to_two_units`.

use sim_math::ops;

// π/2 in parts of 33 bits and a rest (fdlibm).
const PIO2_1: f64 = 1.570_796_326_734_125_6;
const PIO2_2: f64 = 6.077_100_506_303_966e-11;
const PIO2_3: f64 = 2.022_266_248_795_950_6e-21;
/// Adding and subtracting it rounds to whole numbers and leaves them in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
const LARGEST: f64 = 1e5;

/// Sine and cosine of `x`.
#[inline(always)]
pub(super) fn sin_cos(x: f64) -> (f64, f64) {
    if is_usual(x) { reduced(x) } else { ops::sin_cos(x) }
}

/// True for angles that [`reduced`] handles.
#[inline(always)]
pub(super) fn is_usual(x: f64) -> bool {
    x.abs() <= LARGEST
}

/// Sine and cosine of a usual angle, without a branch.
#[inline(always)]
pub(super) fn reduced(x: f64) -> (f64, f64) {
    let shifted = x * std::f64::consts::FRAC_2_PI + ROUND;
    let k = shifted - ROUND;
    let quadrant = shifted.to_bits();
    let r = ((x - k * PIO2_1) - k * PIO2_2) - k * PIO2_3;
    let z = r * r;
    let sine = r + r
        * z
        * (-0.166_666_666_666_666_32
            + z * (0.008_333_333_333_322_49
                + z * (-0.000_198_412_698_298_579_5
                    + z * (2.755_731_370_707_006_8e-6
                        + z * (-2.505_076_025_340_686_3e-8 + z * 1.589_690_995_211_55e-10)))));
    let cosine = 1.0 - 0.5 * z
        + z * z
            * (0.041_666_666_666_666_6
                + z * (-0.001_388_888_888_887_411
                    + z * (2.480_158_728_947_673e-5
                        + z * (-2.755_731_435_139_066_3e-7
                            + z * (2.087_572_321_298_175e-9 + z * -1.135_964_755_778_819_5e-11)))));
    // Odd quadrants exchange sine and cosine, by a mask, as baseline x86-64 has no vector comparison of 64 bits; signs are
    // flipped through the sign bit.
    let odd = 0_u64.wrapping_sub(quadrant & 1);
    let exchange = (sine.to_bits() ^ cosine.to_bits()) & odd;
    let sine_sign = (quadrant & 2) << 62;
    let cosine_sign = (quadrant.wrapping_add(1) & 2) << 62;
    let (s, c) = (sine.to_bits() ^ exchange, cosine.to_bits() ^ exchange);
    (f64::from_bits(s ^ sine_sign), f64::from_bits(c ^ cosine_sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn agrees_with_the_library_to_two_units() {
        let mut random = SplitMix64(71);
        let mut worst = 0.0_f64;
        for i in 0..300_000 {
            let scale = [0.1, 1.0, 10.0, 1e3, 9.9e4][i % 5];
            let x = random.range(-scale, scale);
            let ((s, c), (es, ec)) = (sin_cos(x), ops::sin_cos(x));
            worst = worst.max((s - es).abs()).max((c - ec).abs());
        }
        assert!(worst <= 2.3e-16, "{worst:e}");
        for k in -20..=20 {
            let x = f64::from(k) * std::f64::consts::FRAC_PI_4;
            let ((s, c), (es, ec)) = (sin_cos(x), ops::sin_cos(x));
            assert!((s - es).abs() < 2.3e-16 && (c - ec).abs() < 2.3e-16);
        }
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
        assert_eq!(sin_cos(3e7), ops::sin_cos(3e7));
        assert!(sin_cos(f64::NAN).0.is_nan());
    }
}
