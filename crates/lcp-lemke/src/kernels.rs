//! Loops over contiguous numbers that all solvers share, written so that the compiler vectorises them.
//!
//! The order of every sum is fixed by the code, so results do not depend on the target's vector width.

/// aᵀb for vectors of the same length.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0_f64; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for l in 0..8 {
            lanes[l] += x[l] * y[l];
        }
    }
    let half = [lanes[0] + lanes[4], lanes[1] + lanes[5], lanes[2] + lanes[6], lanes[3] + lanes[7]];
    ((half[0] + half[2]) + (half[1] + half[3])) + tail
}

/// y += s x.
#[inline]
pub(crate) fn axpy(y: &mut [f64], s: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += s * x;
    }
}

/// y += Σ `s_k` · row k of `a`, where row k starts at k·`stride` and has `y.len()` numbers.
///
/// Four rows at a time: y is read and written once for each four.
#[inline]
pub(crate) fn combine_rows(y: &mut [f64], a: &[f64], stride: usize, s: &[f64]) {
    let n = y.len();
    let mut k = 0;
    while k + 4 <= s.len() {
        let r0 = &a[k * stride..][..n];
        let r1 = &a[(k + 1) * stride..][..n];
        let r2 = &a[(k + 2) * stride..][..n];
        let r3 = &a[(k + 3) * stride..][..n];
        let (s0, s1, s2, s3) = (s[k], s[k + 1], s[k + 2], s[k + 3]);
        for i in 0..n {
            y[i] += (s0 * r0[i] + s1 * r1[i]) + (s2 * r2[i] + s3 * r3[i]);
        }
        k += 4;
    }
    while k < s.len() {
        axpy(y, s[k], &a[k * stride..][..n]);
        k += 1;
    }
}

/// `out_i` = row i of `a` · x, where row i starts at i·`stride`.
#[inline]
pub(crate) fn rows_times(out: &mut [f64], a: &[f64], stride: usize, x: &[f64]) {
    let n = x.len();
    for (i, out) in out.iter_mut().enumerate() {
        *out = dot(&a[i * stride..][..n], x);
    }
}

/// The larger of two numbers; the first if one is NaN. Unlike `f64::max` it is one instruction.
#[inline]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Largest |x|; 0 for nothing. NaN is passed over.
#[inline]
pub(crate) fn max_abs(x: &[f64]) -> f64 {
    let mut lanes = [0.0_f64; 4];
    let chunks = x.chunks_exact(4);
    let tail = chunks.remainder().iter().fold(0.0, |m, v| larger(m, v.abs()));
    for c in chunks {
        for l in 0..4 {
            lanes[l] = larger(lanes[l], c[l].abs());
        }
    }
    larger(larger(larger(lanes[0], lanes[1]), larger(lanes[2], lanes[3])), tail)
}

/// Σ |x|.
#[inline]
pub(crate) fn sum_abs(x: &[f64]) -> f64 {
    let mut lanes = [0.0_f64; 4];
    let chunks = x.chunks_exact(4);
    let tail: f64 = chunks.remainder().iter().map(|v| v.abs()).sum();
    for c in chunks {
        for l in 0..4 {
            lanes[l] += c[l].abs();
        }
    }
    ((lanes[0] + lanes[2]) + (lanes[1] + lanes[3])) + tail
}

/// x += step · rate; returns the smallest new x, ∞ for nothing.
#[inline]
pub(crate) fn advance(x: &mut [f64], step: f64, rate: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; 4];
    let mut tail = f64::INFINITY;
    let mut chunks = x.chunks_exact_mut(4);
    let rates = rate.chunks_exact(4);
    let whole = rates.len().min(chunks.len()) * 4;
    for (x, r) in (&mut chunks).zip(rates) {
        for l in 0..4 {
            x[l] += step * r[l];
            lanes[l] = if x[l] < lanes[l] { x[l] } else { lanes[l] };
        }
    }
    for (x, r) in chunks.into_remainder().iter_mut().zip(&rate[whole..]) {
        *x += step * r;
        tail = if *x < tail { *x } else { tail };
    }
    lanes.into_iter().fold(tail, f64::min)
}

/// `out_i` = max(`x_i`, 0)/−`rate_i` where rate < `floor` (which is negative or 0), else ∞; returns the least.
/// All three have the same length.
#[inline]
pub(crate) fn ratios(x: &[f64], rate: &[f64], floor: f64, out: &mut [f64]) -> f64 {
    // Dividing everywhere and selecting afterwards is faster than a branch that cannot be predicted.
    let ratio = |x: f64, d: f64| {
        let quotient = larger(0.0, x) / -d;
        if d < floor { quotient } else { f64::INFINITY }
    };
    let mut lanes = [f64::INFINITY; 4];
    let mut chunks = out.chunks_exact_mut(4);
    for ((x, r), o) in x.chunks_exact(4).zip(rate.chunks_exact(4)).zip(&mut chunks) {
        for l in 0..4 {
            let q = ratio(x[l], r[l]);
            o[l] = q;
            lanes[l] = if q < lanes[l] { q } else { lanes[l] };
        }
    }
    let tail = chunks.into_remainder();
    let whole = x.len() - tail.len();
    let mut least = f64::INFINITY;
    for ((o, x), d) in tail.iter_mut().zip(&x[whole..]).zip(&rate[whole..]) {
        *o = ratio(*x, *d);
        least = least.min(*o);
    }
    lanes.into_iter().fold(least, f64::min)
}

/// Calls `hit` for each i with `x_i` ≤ bound, in order. Hits are rare, so groups are tested first.
#[inline]
pub(crate) fn for_each_at_most(x: &[f64], bound: f64, mut hit: impl FnMut(usize)) {
    let less = |a: f64, b: f64| if b < a { b } else { a };
    let chunks = x.chunks_exact(8);
    let whole = x.len() - chunks.remainder().len();
    for (group, c) in chunks.enumerate() {
        let half = [less(c[0], c[4]), less(c[1], c[5]), less(c[2], c[6]), less(c[3], c[7])];
        if less(less(half[0], half[1]), less(half[2], half[3])) <= bound {
            (0..8).filter(|&l| c[l] <= bound).for_each(|l| hit(8 * group + l));
        }
    }
    (whole..x.len()).filter(|&i| x[i] <= bound).for_each(hit);
}

/// Makes `v` at least `len` long without ever shrinking it, so that a workspace keeps its memory.
#[inline]
pub(crate) fn grow<T: Clone + Default>(v: &mut Vec<T>, len: usize) {
    if v.len() < len {
        v.resize(len, T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_and_steps_equal_the_plain_loops() {
        let mut random = sim_math::testkit::SplitMix64(17);
        for n in 0..23 {
            let x: Vec<f64> = (0..n).map(|_| random.range(-0.1, 1.0)).collect();
            let d: Vec<f64> = (0..n).map(|_| random.range(-1.0, 1.0)).collect();
            let plain: Vec<f64> = x
                .iter()
                .zip(&d)
                .map(|(x, d)| if *d < -0.2 { x.max(0.0) / -d } else { f64::INFINITY })
                .collect();
            let mut out = vec![0.0; n];
            let least = ratios(&x, &d, -0.2, &mut out);
            assert_eq!((least, &out), (plain.iter().copied().fold(f64::INFINITY, f64::min), &plain));
            let mut hits = Vec::new();
            for_each_at_most(&out, 0.7, |i| hits.push(i));
            assert_eq!(hits, (0..n).filter(|&i| plain[i] <= 0.7).collect::<Vec<_>>());
            let moved: Vec<f64> = x.iter().zip(&d).map(|(x, d)| x + 0.3 * d).collect();
            let mut y = x.clone();
            assert_eq!(advance(&mut y, 0.3, &d), moved.iter().copied().fold(f64::INFINITY, f64::min));
            assert_eq!(y, moved);
            let plain: f64 = d.iter().map(|v| v.abs()).sum();
            assert!((sum_abs(&d) - plain).abs() <= 1e-15 * plain);
            assert_eq!(max_abs(&d), d.iter().fold(0.0, |m: f64, v| m.max(v.abs())));
        }
    }

    #[test]
    fn fast_loops_equal_the_plain_sums_for_every_remainder() {
        for n in 0..19_usize {
            for m in 0..21_usize {
                let stride = n + 2;
                let a: Vec<f64> = (0..m * stride + n).map(|k| ((k * 7 + 3) % 11) as f64 - 5.0).collect();
                let x: Vec<f64> = (0..n).map(|k| ((k * 5 + 1) % 7) as f64 - 3.0).collect();
                let s: Vec<f64> = (0..m).map(|k| k as f64 - 2.0).collect();
                let mut out = vec![0.0; m];
                rows_times(&mut out, &a, stride, &x);
                let mut y = x.clone();
                combine_rows(&mut y, &a, stride, &s);
                for i in 0..m {
                    let plain: f64 = (0..n).map(|j| a[i * stride + j] * x[j]).sum();
                    assert_eq!(out[i], plain, "row {i} of {m} x {n}");
                    assert_eq!(dot(&a[i * stride..][..n], &x), plain);
                }
                for j in 0..n {
                    let plain: f64 = (0..m).map(|i| s[i] * a[i * stride + j]).sum::<f64>() + x[j];
                    assert_eq!(y[j], plain, "column {j} of {m} x {n}");
                }
            }
        }
    }
}
