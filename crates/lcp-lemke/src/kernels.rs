//! Loops over contiguous numbers that all solvers share, written so that the compiler vectorises them.
//!
//! The order of every sum is fixed by the code, so results do not depend on the target's vector width. Four numbers
//! at a time and no more: rows have a few dozen, and what is left over goes one by one.

use crate::wide::wide;

/// aᵀb for vectors of the same length.
///
/// One row at a time: four rows at once would read b less often, but the compiler then transposes them.
#[inline(always)]
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
#[inline(always)]
pub(crate) fn axpy(y: &mut [f64], s: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += s * x;
    }
}

wide! { y.len();
/// y += Σ `s_k` · row k of `a`, where row k starts at k·`stride` and has `y.len()` numbers.
///
/// Four rows at a time: y is read and written once for each four.
pub(crate) fn combine_rows(y: &mut [f64], a: &[f64], stride: usize, s: &[f64]) {
    let n = y.len();
    let row = |at: usize| &a[at..at + n];
    let mut at = 0;
    let quads = s.chunks_exact(4);
    let rest = quads.remainder();
    for s in quads {
        let (r0, r1) = (row(at), row(at + stride));
        let (r2, r3) = (row(at + 2 * stride), row(at + 3 * stride));
        let s = [s[0], s[1], s[2], s[3]];
        let columns = r0.chunks_exact(4).zip(r1.chunks_exact(4)).zip(r2.chunks_exact(4)).zip(r3.chunks_exact(4));
        for (y, (((a, b), c), d)) in y.chunks_exact_mut(4).zip(columns) {
            for l in 0..4 {
                y[l] += (s[0] * a[l] + s[1] * b[l]) + (s[2] * c[l] + s[3] * d[l]);
            }
        }
        for i in n - n % 4..n {
            y[i] += (s[0] * r0[i] + s[1] * r1[i]) + (s[2] * r2[i] + s[3] * r3[i]);
        }
        at += 4 * stride;
    }
    match *rest {
        [s0, s1, s2] => {
            let (r0, r1, r2) = (row(at), row(at + stride), row(at + 2 * stride));
            let columns = r0.chunks_exact(4).zip(r1.chunks_exact(4)).zip(r2.chunks_exact(4));
            for (y, ((a, b), c)) in y.chunks_exact_mut(4).zip(columns) {
                for l in 0..4 {
                    y[l] += (s0 * a[l] + s1 * b[l]) + s2 * c[l];
                }
            }
            for i in n - n % 4..n {
                y[i] += (s0 * r0[i] + s1 * r1[i]) + s2 * r2[i];
            }
        }
        [s0, s1] => {
            let (r0, r1) = (row(at), row(at + stride));
            for (y, (a, b)) in y.chunks_exact_mut(4).zip(r0.chunks_exact(4).zip(r1.chunks_exact(4))) {
                for l in 0..4 {
                    y[l] += s0 * a[l] + s1 * b[l];
                }
            }
            for i in n - n % 4..n {
                y[i] += s0 * r0[i] + s1 * r1[i];
            }
        }
        [s0] => axpy(y, s0, row(at)),
        _ => {}
    }
}
}

wide! { x.len();
/// `out_i` = row i of `a` · x, where row i starts at i·`stride`.
pub(crate) fn rows_times(out: &mut [f64], a: &[f64], stride: usize, x: &[f64]) {
    let n = x.len();
    // Plain loops: a closure would be a function of its own, made once.
    if n < SHORT {
        for i in 0..out.len() {
            out[i] = short_dot(&a[i * stride..][..n], x);
        }
    } else {
        for i in 0..out.len() {
            out[i] = dot(&a[i * stride..][..n], x);
        }
    }
}
}

/// Rows of fewer numbers are multiplied by [`short_dot`].
pub(crate) const SHORT: usize = 32;

wide! { 2 * x.len();
/// `out_i` = row i of the square `a` · x + `b_i` for all rows, which are shorter than [`SHORT`].
pub(crate) fn rows_times_plus(out: &mut [f64], a: &[f64], x: &[f64], b: &[f64]) {
    for ((out, row), b) in out.iter_mut().zip(a.chunks_exact(x.len().max(1))).zip(b) {
        *out = b + short_dot(row, x);
    }
}
}

wide! { 2 * x.len();
/// `out_i` = row i of the square `a` · x + `b_i` for each i of the list; x is as long as a row. Many rows share a
/// call, so shorter ones pay too.
pub(crate) fn listed_rows_times(out: &mut [f64], a: &[f64], list: &[u32], x: &[f64], b: &[f64]) {
    let n = x.len();
    for &i in list {
        let i = i as usize;
        let row = &a[i * n..][..n];
        out[i] = b[i] + if n < SHORT { short_dot(row, x) } else { dot(row, x) };
    }
}
}

wide! { x.len();
/// Row i of `a` += `s_i` · scale · x, where row i starts at i·`stride`.
pub(crate) fn add_to_rows(a: &mut [f64], stride: usize, s: &[f64], scale: f64, x: &[f64]) {
    for (row, s) in a.chunks_exact_mut(stride).zip(s) {
        axpy(&mut row[..x.len()], scale * s, x);
    }
}
}

wide! { x.len();
/// Row i of `a` −= f · x and its entry `at` = f, where f is that entry times `scale`, for the first `rows` rows.
pub(crate) fn replace_in_rows(a: &mut [f64], stride: usize, rows: usize, at: usize, scale: f64, x: &[f64]) {
    for row in a.chunks_exact_mut(stride).take(rows) {
        let f = row[at] * scale;
        axpy(&mut row[..x.len()], -f, x);
        row[at] = f;
    }
}
}

/// As [`dot`], with fewer sums to join: quicker for a few dozen numbers.
#[inline(always)]
pub(crate) fn short_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0_f64; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let tail: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a4.zip(b4) {
        for l in 0..4 {
            lanes[l] += x[l] * y[l];
        }
    }
    ((lanes[0] + lanes[2]) + (lanes[1] + lanes[3])) + tail
}

/// The larger of two numbers; the first if one is NaN. Unlike `f64::max` it is one instruction.
#[inline]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

wide! { x.len();
/// Largest |x|; 0 for nothing. NaN is passed over.
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

wide! { x.len();
/// x += step · rate; returns the smallest new x, ∞ for nothing.
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
}

wide! { x.len();
/// `out_i` = max(`x_i`, 0)/−`rate_i` where rate < `floor` (which is negative or 0), else ∞; returns the least.
/// All three have the same length.
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
        for n in 0..45 {
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
        for n in 0..41_usize {
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
                let at = n / 2;
                let (mut added, mut replaced) = (a.clone(), a.clone());
                add_to_rows(&mut added, stride, &s, 2.0, &x);
                if n > 0 {
                    replace_in_rows(&mut replaced, stride, m, at, 3.0, &x);
                }
                for i in 0..m {
                    let f = 3.0 * a[i * stride + at];
                    for j in 0..n {
                        let old = a[i * stride + j];
                        assert_eq!(added[i * stride + j], old + 2.0 * s[i] * x[j], "row {i} of {m} x {n}");
                        let new = if j == at { f } else { old - f * x[j] };
                        assert_eq!(replaced[i * stride + j], new, "row {i} of {m} x {n}");
                    }
                }
                if n > 0 && m >= n {
                    let mut some = vec![f64::NAN; n];
                    let square: Vec<f64> = (0..n * n).map(|k| a[k / n * stride + k % n]).collect();
                    listed_rows_times(&mut some, &square, &[at as u32], &x, &x);
                    assert_eq!(some[at], out[at] + x[at]);
                    assert!((0..n).all(|i| i == at || some[i].is_nan()));
                }
            }
        }
    }
}
