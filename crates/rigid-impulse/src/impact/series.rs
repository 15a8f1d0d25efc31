//! Taylor series of the sliding flow, in the variable that keeps it smooth.
//!
//! # Reference
//!
//! Taylor recurrences as in Jorba and Zou, *A software package for the numerical integration of ODEs by means of
//! high-order Taylor methods* (2005), applied to the sliding equations of Mirtich (1996), section 3.2.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | σ | integration variable, dp = (−μ `u_t`, \|`u_t`\|) dσ | kg |
//! | `x y r` | Taylor coefficients of `u_x`, `u_y`, \|`u_t`\| | - |
//!
//! # Formula
//!
//! ```text
//! du/dσ = K (−μ u_x, −μ u_y, r),  r² = u_x² + u_y²
//! x_{k+1} = (e r_k − μ (a x_k + f y_k))/(k+1)
//! r_n = (Σ_{i=0}^{n} (x_i x_{n−i} + y_i y_{n−i}) − Σ_{i=1}^{n−1} r_i r_{n−i}) / 2          with r_0 = 1
//! ```
//!
//! # Cost
//!
//! 0.15 µs for 14 orders: the loops are unrolled at compile time.
//!
//! # Numerics
//!
//! The right side is homogeneous in `u_t`: nothing becomes stiff as sliding slows down.
//!
//! # Failure
//!
//! None; a unit direction is the caller's duty.
//!
//! # Tested by
//!
//! `series_agrees_with_small_steps`

use super::flow::SlidingFlow;
use sim_math::glam::DVec2;

/// Order of the series.
pub(crate) const ORDER: usize = 14;

/// Order of the series of |`u_t`|²: a product of two series, it needs more terms than either.
const SQUARE_ORDER: usize = 22;

/// What every order needs: μ M, s, and both seen along the present direction.
struct Constants {
    a: f64,
    b: f64,
    d: f64,
    e: f64,
    f: f64,
    along: f64,
    row: [f64; 2],
}

/// Taylor coefficients of `u_t`, |`u_t`| and of their integrals over σ, from one point of the flow. The flow is
/// homogeneous: the coefficients are those of `u_t` over its present length.
#[repr(C, align(16))] // rows of two are loaded at once
pub(crate) struct Series {
    /// `u_x` and `u_y`.
    v: [[f64; 2]; ORDER + 1],
    /// ∫`u_x`, ∫`u_y`, ∫|`u_t`|, ∫|`u_t`|².
    integrals: [[f64; 4]; ORDER + 1],
    /// |`u_t`|.
    r: [f64; ORDER + 1],
    /// ∫|`u_t`|² beyond `ORDER`.
    squares: [f64; SQUARE_ORDER - ORDER - 1],
    /// |`u_t`| at the start.
    speed: f64,
    /// Largest of the last two velocity coefficients, brought to the last order.
    pub(crate) last: f64,
}

impl Series {
    /// Room for a series.
    pub(crate) const EMPTY: Self = Self {
        v: [[0.0; 2]; ORDER + 1],
        integrals: [[0.0; 4]; ORDER + 1],
        r: [0.0; ORDER + 1],
        squares: [0.0; SQUARE_ORDER - ORDER - 1],
        speed: 0.0,
        last: 0.0,
    };

    /// Coefficient `N` from those below it. A function per order, so that every loop has constant bounds.
    #[inline(always)]
    fn level<const N: usize>(&mut self, c: &Constants) {
        let inv = const { 1.0 / N as f64 };
        let (v, r) = (&mut self.v, &mut self.r);
        let ([x, y], speed) = (v[N - 1], r[N - 1]);
        v[N] = [(c.e * speed - (c.a * x + c.f * y)) * inv, (c.d * speed - (c.f * x + c.b * y)) * inv];
        // Terms i and N−i at once; the middle one of an even order by itself. The term v₀·v_N, which belongs to
        // the sum as well, is written through the level below: r_N does not wait for v_N. The newest terms come
        // last, so that the sum of the older ones does not wait for them. The order of these sums also decides how
        // well the compiler pairs them: measure before changing it.
        let (mut pairs, mut radii) = ([0.0; 2], 0.0);
        if N % 2 == 0 {
            let [x, y] = v[N / 2];
            pairs = [0.5 * x * x, 0.5 * y * y];
            radii = 0.5 * r[N / 2] * r[N / 2];
        }
        for i in (1..const { N.div_ceil(2) }).rev() {
            for lane in 0..2 {
                pairs[lane] += v[i][lane] * v[N - i][lane];
            }
            radii += r[i] * r[N - i];
        }
        for lane in 0..2 {
            pairs[lane] -= c.row[lane] * inv * v[N - 1][lane];
        }
        r[N] = (pairs[0] + pairs[1]) + (c.along * inv * speed - radii);
        let inv = const { 1.0 / (N + 1) as f64 };
        self.integrals[N] = [v[N][0] * inv, v[N][1] * inv, r[N] * inv, (r[N] + radii) * (2.0 * inv)];
    }

    /// Coefficient `N` > `ORDER` of |`u_t`|², from the terms at hand.
    #[inline(always)]
    fn square_level<const N: usize>(&mut self) {
        let r = &self.r;
        let mut pairs = 0.0;
        for i in const { N - ORDER }..const { N.div_ceil(2) } {
            pairs += r[i] * r[N - i];
        }
        let mut square = 2.0 * pairs;
        if N % 2 == 0 {
            square += r[N / 2] * r[N / 2];
        }
        self.squares[N - ORDER - 1] = square * const { 1.0 / (N + 1) as f64 };
    }

    /// Computes the series at the tangential velocity of direction `dir` and length `speed`.
    #[inline]
    pub(crate) fn compute(&mut self, flow: &SlidingFlow, dir: DVec2, speed: f64) {
        let (a, b, f) = (flow.mu * flow.a, flow.mu * flow.b, flow.mu * flow.f);
        let (d, e) = (flow.d, flow.e);
        let constants = Constants {
            a,
            b,
            d,
            e,
            f,
            along: dir.x * e + dir.y * d,
            row: [dir.x * a + dir.y * f, dir.x * f + dir.y * b],
        };
        self.integrals[0] = [dir.x, dir.y, 1.0, 1.0];
        (self.v[0], self.r[0]) = (dir.to_array(), 1.0);
        macro_rules! levels {
            ($($n:literal)* ; $($m:literal)*) => {
                $( self.level::<$n>(&constants); )* $( self.square_level::<$m>(); )*
            };
        }
        levels!(1 2 3 4 5 6 7 8 9 10 11 12 13 14; 15 16 17 18 19 20 21);
        let size = |k: usize| self.v[k][0].abs() + self.v[k][1].abs() + self.r[k].abs();
        self.last = size(ORDER).max(0.15 * size(ORDER - 1)) * speed;
        self.speed = speed;
    }

    /// Integrals from 0 to σ of `u_x`, `u_y`, |`u_t`| and |`u_t`|².
    #[inline]
    pub(crate) fn at(&self, sigma: f64) -> [f64; 4] {
        // Even and odd terms apart: two chains of half the length.
        let two = sigma * sigma;
        let (mut even, mut odd) = ([0.0; 4], [0.0; 4]);
        for pair in self.squares[1..].chunks_exact(2).rev() {
            even[3] = even[3] * two + pair[0];
            odd[3] = odd[3] * two + pair[1];
        }
        even[3] *= two;
        odd[3] = odd[3] * two + self.squares[0];
        for (sum, term) in even.iter_mut().zip(&self.integrals[ORDER]) {
            *sum += term;
        }
        for pair in self.integrals[..ORDER].chunks_exact(2).rev() {
            for n in 0..4 {
                even[n] = even[n] * two + pair[0][n];
                odd[n] = odd[n] * two + pair[1][n];
            }
        }
        let factor = sigma * self.speed;
        [
            (even[0] + odd[0] * sigma) * factor,
            (even[1] + odd[1] * sigma) * factor,
            (even[2] + odd[2] * sigma) * factor,
            (even[3] + odd[3] * sigma) * (factor * self.speed),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{impact::stepper::step, testing::random_matrix};
    use sim_math::testkit::SplitMix64;

    #[test]
    fn series_agrees_with_small_steps() {
        let mut random = SplitMix64(8);
        for _ in 0..200 {
            let flow = SlidingFlow::new(&random_matrix(&mut random, 30.0), random.range(0.1, 1.0));
            let u = DVec2::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0));
            let mut series = Series::EMPTY;
            series.compute(&flow, u.normalize(), u.length());
            let sigma = 0.2 / (flow.mu * (flow.a + flow.b) + DVec2::new(flow.e, flow.d).length());
            // y: u_x, u_y and the four integrals.
            let rhs = |y: &[f64; 6]| {
                let r = (y[0] * y[0] + y[1] * y[1]).sqrt();
                [
                    flow.e * r - flow.mu * (flow.a * y[0] + flow.f * y[1]),
                    flow.d * r - flow.mu * (flow.f * y[0] + flow.b * y[1]),
                    y[0],
                    y[1],
                    r,
                    r * r,
                ]
            };
            let mut y = [u.x, u.y, 0.0, 0.0, 0.0, 0.0];
            for _ in 0..100 {
                y = step(&rhs, &y, sigma / 100.0).0;
            }
            for (found, expected) in series.at(sigma).iter().zip(&y[2..]) {
                assert!((found - expected).abs() < 1e-13 * sigma, "{found} {expected}");
            }
        }
    }
}
