//! Singular values, rank and pseudo-inverse of a 3x3 matrix by one-sided Jacobi rotations.
//!
//! # Reference
//! Hestenes 1958; Golub and Van Loan, *Matrix Computations*, 4th ed., 8.6.3. Used for the collision matrix of
//! constrained bodies, which may have rank 0 to 3 (Fontijne 2000, 3.9).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `w` | columns of A V, driven to be orthogonal |
//! | `u`, `sigma`, `v` | A = U diag(σ) Vᵀ |
//!
//! # Formula
//! ```text
//! ζ = (|w_q|² − |w_p|²) / (2 w_p·w_q),   t = sign ζ / (|ζ| + √(1 + ζ²))
//! w_p, w_q and v_p, v_q ← turned by atan t,   until |w_p·w_q| ≤ 4 ε |w_p||w_q|
//! σ_i = |w_i|,   u_i = w_i / σ_i,   A⁺ = V diag(σ⁺) Uᵀ  with σ⁺ = 1/σ above the tolerance, else 0
//! ```
//! # Cost
//! 3 to 5 sweeps of 3 rotations. No allocation, no transcendental function.
//!
//! # Numerics
//! The stopping test allows for the rounding of the dot product itself (up to 3 ε/2): ε alone cycles.
//! The matrix is scaled by its largest entry first, so that squares neither overflow nor vanish. U is completed
//! to an orthonormal basis where a singular value is below rounding. U and V may be reflections.
//!
//! # Failure
//! [`MathError::NonFinite`] for a bad entry; [`MathError::NotConverged`] after 40 sweeps.
//!
//! # Tested by
//! `moore_penrose_identities_hold_for_every_rank`, `factors_are_orthogonal_and_reproduce_the_matrix`,
//! `full_rank_pseudo_inverse_is_the_inverse`.

use crate::{MathError, rotation::frame_from_normal};
use glam::{DMat3, DVec3};

const MAX_SWEEPS: usize = 40;

/// A = U diag(σ) Vᵀ of a 3x3 matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Svd3 {
    /// Left singular vectors in the columns, orthogonal.
    pub u: DMat3,
    /// Singular values, descending, never negative, in the units of the matrix.
    pub sigma: DVec3,
    /// Right singular vectors in the columns, orthogonal.
    pub v: DMat3,
}

impl Svd3 {
    /// Relative tolerance for rank decisions that suits a matrix assembled from a few products: 1e-13.
    pub const RANK_TOLERANCE: f64 = 1e-13;

    /// Decomposes `a`.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] with the column-major index, or [`MathError::NotConverged`].
    pub fn compute(a: DMat3) -> Result<Self, MathError> {
        MathError::check_finite("matrix entry", &a.to_cols_array())?;
        let scale = a.to_cols_array().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        if scale == 0.0 {
            return Ok(Self { u: DMat3::IDENTITY, sigma: DVec3::ZERO, v: DMat3::IDENTITY });
        }
        let mut w = [a.x_axis / scale, a.y_axis / scale, a.z_axis / scale];
        let mut v = [DVec3::X, DVec3::Y, DVec3::Z];
        let mut sweeps = 0;
        while sweep(&mut w, &mut v) > 0 {
            sweeps += 1;
            if sweeps > MAX_SWEEPS {
                let residual = w[0].dot(w[1]).abs().max(w[0].dot(w[2]).abs()).max(w[1].dot(w[2]).abs());
                return Err(MathError::NotConverged {
                    what: "Jacobi singular values",
                    iterations: MAX_SWEEPS,
                    residual,
                });
            }
        }
        // Descending order by a three-element network; equal values keep their places.
        for (p, q) in [(0, 1), (1, 2), (0, 1)] {
            if w[q].length_squared() > w[p].length_squared() {
                w.swap(p, q);
                v.swap(p, q);
            }
        }
        let sigma = DVec3::new(w[0].length(), w[1].length(), w[2].length());
        let u = left_basis(w, sigma)?;
        Ok(Self { u, sigma: sigma * scale, v: DMat3::from_cols(v[0], v[1], v[2]) })
    }

    /// How many singular values exceed `relative_tolerance` times the largest.
    #[inline]
    #[must_use]
    pub fn rank(&self, relative_tolerance: f64) -> usize {
        let least = relative_tolerance * self.sigma.x;
        self.sigma.to_array().iter().filter(|s| **s > least).count()
    }

    /// The Moore-Penrose inverse, singular values up to `relative_tolerance` times the largest taken as zero.
    #[inline]
    #[must_use]
    pub fn pseudo_inverse(&self, relative_tolerance: f64) -> DMat3 {
        let least = relative_tolerance * self.sigma.x;
        let invert = |s: f64| if s > least { 1.0 / s } else { 0.0 };
        let scaled = DMat3::from_cols(
            self.v.x_axis * invert(self.sigma.x),
            self.v.y_axis * invert(self.sigma.y),
            self.v.z_axis * invert(self.sigma.z),
        );
        scaled * self.u.transpose()
    }
}

/// One pass over the three pairs; returns how many were turned.
#[inline]
fn sweep(w: &mut [DVec3; 3], v: &mut [DVec3; 3]) -> usize {
    let mut turned = 0;
    for (p, q) in [(0, 1), (0, 2), (1, 2)] {
        let (alpha, beta, gamma) = (w[p].length_squared(), w[q].length_squared(), w[p].dot(w[q]));
        // Columns below 1e-150 of the largest are zero for every purpose, and their squares would vanish.
        let negligible =
            gamma.abs() <= 1e-300 || gamma.abs() <= 4.0 * f64::EPSILON * alpha.sqrt() * beta.sqrt();
        if negligible {
            continue;
        }
        turned += 1;
        let zeta = (beta - alpha) / (2.0 * gamma);
        let t = if zeta.abs() > 1e100 {
            0.5 / zeta
        } else {
            zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt())
        };
        let c = 1.0 / (1.0 + t * t).sqrt();
        let s = t * c;
        (w[p], w[q]) = (w[p] * c - w[q] * s, w[p] * s + w[q] * c);
        (v[p], v[q]) = (v[p] * c - v[q] * s, v[p] * s + v[q] * c);
    }
    turned
}

/// Unit left vectors, completed by cross products where a singular value is below rounding.
#[inline]
fn left_basis(w: [DVec3; 3], sigma: DVec3) -> Result<DMat3, MathError> {
    let least = 4.0 * f64::EPSILON * sigma.x;
    let x = w[0] / sigma.x;
    let y = if sigma.y > least {
        let y = w[1] / sigma.y;
        (y - x * x.dot(y)).normalize()
    } else {
        frame_from_normal(x)?.x_axis
    };
    let z = x.cross(y).normalize();
    // The third direction is known up to its sign.
    let z = if z.dot(w[2]) < 0.0 { -z } else { z };
    Ok(DMat3::from_cols(x, y, z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::SplitMix64;

    fn outer(a: DVec3, b: DVec3) -> DMat3 {
        DMat3::from_cols(a * b.x, a * b.y, a * b.z)
    }

    fn of_rank(random: &mut SplitMix64, rank: usize) -> DMat3 {
        (0..rank).fold(DMat3::ZERO, |m, _| m + outer(random.vec3(1.0), random.vec3(1.0)))
    }

    fn is_orthogonal(m: DMat3) -> bool {
        (m.transpose() * m).abs_diff_eq(DMat3::IDENTITY, 1e-14)
    }

    // proves: FON-08
    #[test]
    fn moore_penrose_identities_hold_for_every_rank() {
        let mut random = SplitMix64(51);
        for case in 0..20_000 {
            let rank = case % 4;
            let a = of_rank(&mut random, rank);
            let svd = Svd3::compute(a).unwrap();
            let p = svd.pseudo_inverse(Svd3::RANK_TOLERANCE);
            // Rounding of σ_min is relative to σ_max: that ratio is the condition of the identities.
            let sigma = svd.sigma.to_array();
            let condition = if rank == 0 { 1.0 } else { sigma[0] / sigma[rank - 1] };
            assert_eq!(svd.rank(Svd3::RANK_TOLERANCE), rank, "{:?}", svd.sigma);
            let small = 1e-14 * condition;
            let p_scale = p.to_cols_array().iter().fold(1e-300, |m: f64, x| m.max(x.abs()));
            assert!((a * p * a).abs_diff_eq(a, small), "A P A = A");
            assert!((p * a * p).abs_diff_eq(p, small * p_scale), "P A P = P");
            assert!((a * p).abs_diff_eq((a * p).transpose(), small), "A P symmetric");
            assert!((p * a).abs_diff_eq((p * a).transpose(), small), "P A symmetric");
        }
    }

    #[test]
    fn factors_are_orthogonal_and_reproduce_the_matrix() {
        let mut random = SplitMix64(52);
        let mut cases: Vec<DMat3> = (0..5000).map(|i| of_rank(&mut random, i % 4)).collect();
        cases.extend([
            DMat3::IDENTITY,
            DMat3::from_diagonal(DVec3::new(1.0, -3.0, 2.0)),
            DMat3::from_diagonal(DVec3::new(0.0, 0.0, -5.0)),
            outer(DVec3::X, DVec3::Z),
            DMat3::from_diagonal(DVec3::new(1e-200, 1.0, 1e200)),
            // Nearly parallel columns of very different length: ζ² overflows.
            DMat3::from_cols(DVec3::X, DVec3::new(1e-200, 1e-250, 0.0), DVec3::Z),
            of_rank(&mut random, 3) * 1e-300,
            of_rank(&mut random, 2) * 1e300,
        ]);
        for a in cases {
            let Svd3 { u, sigma, v } = Svd3::compute(a).unwrap();
            let scale = a.to_cols_array().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            assert!(is_orthogonal(u) && is_orthogonal(v), "{a:?} {u:?}");
            assert!(sigma.x >= sigma.y && sigma.y >= sigma.z && sigma.z >= 0.0);
            let rebuilt = u * DMat3::from_diagonal(sigma) * v.transpose();
            assert!(rebuilt.abs_diff_eq(a, 1e-14 * scale), "{a:?}");
        }
    }

    #[test]
    fn full_rank_pseudo_inverse_is_the_inverse() {
        let mut random = SplitMix64(53);
        for _ in 0..1000 {
            let a = of_rank(&mut random, 3) + DMat3::IDENTITY * 3.0;
            let p = Svd3::compute(a).unwrap().pseudo_inverse(Svd3::RANK_TOLERANCE);
            assert!(p.abs_diff_eq(a.inverse(), 1e-13));
        }
    }

    #[test]
    fn a_hundred_thousand_matrices_converge() {
        let mut random = SplitMix64(54);
        for case in 0..100_000 {
            let scale = DVec3::new(1.0, random.unit(), crate::ops::powf(10.0, random.range(-20.0, 0.0)));
            let a = of_rank(&mut random, 3);
            let a = if case % 2 == 0 { a } else { a * DMat3::from_diagonal(scale) };
            assert!(Svd3::compute(a).is_ok(), "{a:?}");
        }
    }

    #[test]
    fn a_bad_entry_is_refused() {
        let a = DMat3::from_diagonal(DVec3::new(1.0, f64::INFINITY, 0.0));
        assert!(matches!(Svd3::compute(a), Err(MathError::NonFinite { index: 4, .. })));
    }
}
