//! A fifth-order Runge-Kutta step whose weights are not negative.
//!
//! # Reference
//!
//! Cash and Karp, *A variable order Runge-Kutta method for initial value problems with rapidly varying right-hand
//! sides* (1990).
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | `slopes` | k₁ … k₆ |
//! | `A`, `B`, `E` | stage weights, step weights, weights of the error |
//!
//! # Formula
//!
//! ```text
//! k_i = f(y + h Σ_{j<i} a_ij k_j)     y⁺ = y + h Σ b_i k_i     error = h Σ (b_i − b*_i) k_i
//! ```
//!
//! # Cost
//!
//! Six evaluations.
//!
//! # Numerics
//!
//! The right sides here do not contain the independent variable. All b ≥ 0, so a sum of impulse rates that each
//! lie in the friction cone lies in the cone: that is why it is not Dormand and Prince's method.
//!
//! # Failure
//!
//! None; a right side that is not finite gives an error that is not finite, and the step is refused.
//!
//! # Tested by
//!
//! `the_step_has_fifth_order`

const A: [&[f64]; 6] = [
    &[],
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[3.0 / 10.0, -9.0 / 10.0, 6.0 / 5.0],
    &[-11.0 / 54.0, 5.0 / 2.0, -70.0 / 27.0, 35.0 / 27.0],
    &[1631.0 / 55296.0, 175.0 / 512.0, 575.0 / 13824.0, 44275.0 / 110_592.0, 253.0 / 4096.0],
];
const B: [f64; 6] = [37.0 / 378.0, 0.0, 250.0 / 621.0, 125.0 / 594.0, 0.0, 512.0 / 1771.0];
const E: [f64; 6] = [
    37.0 / 378.0 - 2825.0 / 27648.0,
    0.0,
    250.0 / 621.0 - 18575.0 / 48384.0,
    125.0 / 594.0 - 13525.0 / 55296.0,
    -277.0 / 14336.0,
    512.0 / 1771.0 - 0.25,
];

/// One step of y′ = f(y): the new state and the largest component of the estimated error.
pub(crate) fn step<const N: usize>(
    f: &impl Fn(&[f64; N]) -> [f64; N],
    y: &[f64; N],
    h: f64,
) -> ([f64; N], f64) {
    let mut slopes = [[0.0; N]; 6];
    for i in 0..6 {
        let mut at = *y;
        for (j, weight) in A[i].iter().enumerate() {
            for n in 0..N {
                at[n] += h * weight * slopes[j][n];
            }
        }
        slopes[i] = f(&at);
    }
    let mut next = *y;
    let mut error = 0.0_f64;
    for n in 0..N {
        let (mut sum, mut difference) = (0.0, 0.0);
        for i in 0..6 {
            sum += B[i] * slopes[i][n];
            difference += E[i] * slopes[i][n];
        }
        next[n] += h * sum;
        let difference = (h * difference).abs();
        if difference.is_nan() {
            return (next, f64::INFINITY);
        }
        error = error.max(difference);
    }
    (next, error)
}

/// Factor for the next step length from an error and what is allowed.
#[inline]
pub(crate) fn factor(error: f64, tolerance: f64) -> f64 {
    if error <= 0.0 {
        return 5.0;
    }
    (0.9 * sim_math::ops::powf(tolerance / error, 0.2)).clamp(0.1, 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::ops;

    // proves: ARN-45
    #[test]
    fn the_step_has_fifth_order() {
        // Rotation with growth: y = e^{t/2} (cos t, sin t).
        let f = |y: &[f64; 2]| [0.5 * y[0] - y[1], y[0] + 0.5 * y[1]];
        let error = |steps: u32| {
            let h = 1.0 / f64::from(steps);
            let y = (0..steps).fold([1.0, 0.0], |y, _| step(&f, &y, h).0);
            let growth = ops::exp(0.5);
            ops::hypot(y[0] - growth * ops::cos(1.0), y[1] - growth * ops::sin(1.0))
        };
        let order = ops::log2(error(8) / error(16));
        assert!((order - 5.0).abs() < 0.2, "order {order}");
        assert!((B.iter().sum::<f64>() - 1.0).abs() < 1e-15 && E.iter().sum::<f64>().abs() < 1e-15);
        assert!(B.iter().all(|&b| b >= 0.0));
    }
}
