//! Vector kernels that every dense routine is made of, each in one fixed order of operations.
//!
//! # Reference
//! Fixed-order reduction with four partial sums, as usual for loops that a compiler may vectorise without
//! being allowed to re-associate.
//!
//! # Symbols
//! `x`, `y` vectors; `a` scalar; `s0..s3` partial sums.
//!
//! # Formula
//! ```text
//! dot:  s_k = Σ_i x[4i+k] y[4i+k],  k = 0..3;  t = Σ tail in ascending order
//!       result = ((s0 + s1) + (s2 + s3)) + t
//! axpy: y[i] ← y[i] + a x[i]
//! sub4: y[i] ← y[i] − ((a0 x0[i] + a1 x1[i]) + (a2 x2[i] + a3 x3[i]))
//! ```
//!
//! # Cost
//! One pass over the data, no allocation. The partial sums are independent, so two-lane and four-lane
//! instructions give the same bits as scalar ones.
//!
//! # Numerics
//! Four partial sums have a rounding error about a quarter of the plain sum's bound. No fused operations.
//!
//! # Failure
//! None. Slices of different lengths are read over their common prefix; callers check lengths at their entry.
//!
//! # Tested by
//! `dot_is_the_documented_order_bit_for_bit`, `norm_survives_overflow_and_underflow`.

/// Scalar product over the common prefix, in the fixed order of the module.
#[inline]
#[must_use]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    let (x4, y4) = (x[..n].chunks_exact(4), y[..n].chunks_exact(4));
    let (x_tail, y_tail) = (x4.remainder(), y4.remainder());
    let mut s = [0.0_f64; 4];
    for (a, b) in x4.zip(y4) {
        for k in 0..4 {
            s[k] += a[k] * b[k];
        }
    }
    let mut tail = 0.0;
    for (a, b) in x_tail.iter().zip(y_tail) {
        tail += a * b;
    }
    ((s[0] + s[1]) + (s[2] + s[3])) + tail
}

/// `y += a x` over the common prefix.
#[inline]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `y -= a0 x0 + a1 x1 + a2 x2 + a3 x3`: four eliminations in one pass over `y`.
#[inline]
pub(crate) fn sub4(a: [f64; 4], x: [&[f64]; 4], y: &mut [f64]) {
    let n = y.len().min(x[0].len()).min(x[1].len()).min(x[2].len()).min(x[3].len());
    let (x0, x1, x2, x3) = (&x[0][..n], &x[1][..n], &x[2][..n], &x[3][..n]);
    let y = &mut y[..n];
    for i in 0..n {
        y[i] -= (a[0] * x0[i] + a[1] * x1[i]) + (a[2] * x2[i] + a[3] * x3[i]);
    }
}

/// Multiplies every entry by `a`.
#[inline]
pub fn scale(a: f64, x: &mut [f64]) {
    for x in x {
        *x *= a;
    }
}

/// Largest magnitude; 0 for an empty slice, NaN entries are skipped.
#[inline]
#[must_use]
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// Euclidean length; scaled only when the plain sum of squares overflows or underflows.
#[inline]
#[must_use]
pub fn norm(x: &[f64]) -> f64 {
    let squared = dot(x, x);
    if squared > 1e-280 && squared < 1e300 {
        return squared.sqrt();
    }
    let largest = max_abs(x);
    if largest == 0.0 || !largest.is_finite() {
        return if squared.is_nan() { squared } else { largest };
    }
    let sum: f64 = x.iter().map(|x| (x / largest) * (x / largest)).sum();
    largest * sum.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::SplitMix64;

    #[test]
    fn dot_is_the_documented_order_bit_for_bit() {
        let mut random = SplitMix64(1);
        for n in 0..40 {
            let x: Vec<f64> = (0..n).map(|_| random.range(-3.0, 3.0)).collect();
            let y: Vec<f64> = (0..n).map(|_| random.range(-3.0, 3.0)).collect();
            let whole = n / 4 * 4;
            let part = |k: usize| (k..whole).step_by(4).fold(0.0, |s, i| s + x[i] * y[i]);
            let tail = (whole..n).fold(0.0, |s, i| s + x[i] * y[i]);
            let expected = ((part(0) + part(1)) + (part(2) + part(3))) + tail;
            assert_eq!(dot(&x, &y).to_bits(), expected.to_bits(), "length {n}");
        }
    }

    #[test]
    fn sub4_subtracts_all_four() {
        let x: Vec<Vec<f64>> = (0..4).map(|k| (0..7).map(|i| f64::from(k * 10 + i)).collect()).collect();
        let mut y = vec![1000.0; 7];
        sub4([1.0, 2.0, 3.0, 4.0], [&x[0], &x[1], &x[2], &x[3]], &mut y);
        for (i, y) in y.iter().enumerate() {
            let i = i as f64;
            let expected = 1000.0 - (i + 2.0 * (10.0 + i) + 3.0 * (20.0 + i) + 4.0 * (30.0 + i));
            assert_eq!(y.to_bits(), expected.to_bits());
        }
    }

    #[test]
    fn norm_survives_overflow_and_underflow() {
        assert_close!(norm(&[3e200, 4e200]), 5e200, rel = 1e-15);
        assert_close!(norm(&[3e-200, 4e-200]), 5e-200, rel = 1e-15);
        assert_eq!(norm(&[]).to_bits(), 0.0_f64.to_bits());
        assert_eq!(norm(&[0.0, 0.0]).to_bits(), 0.0_f64.to_bits());
        assert!(norm(&[f64::NAN, 1.0]).is_nan());
        assert!(norm(&[f64::INFINITY, 1.0]).is_infinite());
    }

    use crate::assert_close;
}
