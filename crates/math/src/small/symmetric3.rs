//! Closed-form solution of a symmetric 3x3 system of any signature.
//!
//! # Reference
//! Cramer's rule with the six cofactors of a symmetric matrix.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `s` | the matrix S |
//! | `c` | its cofactors C, symmetric |
//! | `size` | Σ of the magnitudes of the terms of the determinant |
//!
//! # Formula
//! ```text
//! S⁻¹ = C / det S,   det S = s_xx c_xx + s_xy c_xy + s_xz c_xz
//! ```
//! # Cost
//! About 30 multiplications and one division, no branch but the test. No allocation.
//!
//! # Numerics
//! The error grows with the square of the condition number in the worst case, where Cholesky and LU are
//! linear in it. Meant for 3x3 blocks of effective mass and articulated inertia (conditions to about 1e5);
//! for worse ones use [`super::Lu`] or [`super::Svd3`].
//!
//! # Failure
//! [`MathError::Singular`] with the determinant as value (pivot 2, the last) if it has no digit;
//! [`MathError::NonFinite`] for a bad entry.
//!
//! # Tested by
//! `closed_form_agrees_with_lu`, `singular_and_bad_input_is_refused`.

use super::checked_solution;
use crate::{MathError, Sym3};
use glam::DVec3;

/// Inverse of a symmetric matrix of any signature, in closed form.
///
/// # Errors
/// [`MathError::Singular`] with the determinant, [`MathError::NonFinite`].
#[inline]
pub fn inverse_symmetric3(s: Sym3) -> Result<Sym3, MathError> {
    let c = s.cofactors();
    let (x, y, z) = (s.xx * c.xx, s.xy * c.xy, s.xz * c.xz);
    let determinant = x + y + z;
    // Each cofactor is a difference of two products: its own rounding counts too.
    let size = s.xx.abs() * ((s.yy * s.zz).abs() + s.yz * s.yz)
        + s.xy.abs() * ((s.xz * s.yz).abs() + (s.xy * s.zz).abs())
        + s.xz.abs() * ((s.xy * s.yz).abs() + (s.xz * s.yy).abs());
    let has_digits = determinant.abs() > 4.0 * f64::EPSILON * size;
    if !has_digits || !determinant.is_finite() || !c.is_finite() {
        MathError::check_finite("matrix entry", &s.to_array())?;
        return Err(MathError::Singular { what: "symmetric 3x3 matrix", pivot: 2, value: determinant });
    }
    Ok(c * (1.0 / determinant))
}

/// The x of S x = b for a symmetric matrix of any signature, in closed form.
///
/// # Errors
/// [`MathError::Singular`] with the determinant, [`MathError::NonFinite`].
#[inline]
pub fn solve_symmetric3(s: Sym3, b: DVec3) -> Result<DVec3, MathError> {
    let x = inverse_symmetric3(s)? * b;
    checked_solution(b.to_array(), x.to_array()).map(DVec3::from_array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        small::{Lu, samples},
        testkit::SplitMix64,
    };

    #[test]
    fn closed_form_agrees_with_lu() {
        let mut random = SplitMix64(31);
        for _ in 0..20_000 {
            let rows = samples::symmetric::<3>(&mut random);
            let s = Sym3::new(rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2]);
            let b = random.vec3(1.0);
            let lu = Lu::factor(&rows).unwrap();
            let condition = 1.0 / lu.reciprocal_condition(&rows);
            let reference = DVec3::from_array(lu.solve(b.to_array()));
            let x = solve_symmetric3(s, b).unwrap();
            assert!((x - reference).length() < 1e-14 * condition * condition, "{s:?}");
        }
    }

    #[test]
    fn singular_and_bad_input_is_refused() {
        let rank_two = Sym3::outer(DVec3::new(1.0, 2.0, 3.0)) + Sym3::outer(DVec3::new(0.0, 1.0, -1.0));
        for s in [Sym3::ZERO, rank_two, Sym3::outer(DVec3::new(0.3, -0.7, 0.9))] {
            let result = inverse_symmetric3(s);
            assert!(matches!(result, Err(MathError::Singular { pivot: 2, .. })), "{result:?}");
        }
        for bad in [f64::NAN, f64::INFINITY] {
            for k in 0..6 {
                let mut entries = Sym3::IDENTITY.to_array();
                entries[k] = bad;
                let result = inverse_symmetric3(Sym3::from_array(entries));
                assert!(matches!(result, Err(MathError::NonFinite { .. })), "{k}: {result:?}");
            }
        }
        // Finite entries whose determinant overflows are refused, not turned into zeros.
        assert!(inverse_symmetric3(Sym3::from_scalar(1e200)).is_err());
    }
}
