//! Repair of matrices that have drifted away from a rotation.
//!
//! # Reference
//! Higham, *Computing the polar decomposition, with applications* (1986); Cline 2002, 2.1.1 and spec 3.1.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `x` | iterate, converges to the rotation nearest to the input in the Frobenius norm |
//! | `gamma` | scaling that makes the first steps short |
//!
//! # Formula
//! ```text
//! Newton          X ← ½ (γ X + X⁻ᵀ / γ),   γ = (‖X⁻¹‖₁ ‖X⁻¹‖∞ / ‖X‖₁ ‖X‖∞)^¼
//! Newton-Schulz   R ← ½ R (3·1 − RᵀR)
//! ```
//! # Cost
//! [`polar_step`] two matrix products; [`polar_rotation`] 3 to 8 inversions of a 3x3; [`gram_schmidt`] two
//! square roots and a cross product.
//!
//! # Numerics
//! `polar_step` squares the error, 3/8 e² to first order, and needs no division: right after a few thousand
//! products. `polar_rotation` accepts any matrix with positive determinant. `gram_schmidt` is cheapest and
//! keeps the first column's direction, so it favours one axis and is not the nearest rotation.
//!
//! # Failure
//! [`MathError::NotRotation`] for a determinant that is not positive (a reflection, a flat matrix), or columns
//! without direction; [`MathError::NonFinite`].
//!
//! # Tested by
//! `a_million_products_are_repaired`, `polar_rotation_is_the_nearest`, `reflections_and_flat_matrices_are_refused`.

use super::orthonormality_error;
use crate::MathError;
use glam::{DMat3, DVec3};

const MAX_ITERATIONS: usize = 30;

/// One Newton-Schulz step towards the nearest rotation, for matrices that have drifted a little.
#[inline]
#[must_use]
pub fn polar_step(r: DMat3) -> DMat3 {
    r * ((DMat3::IDENTITY * 3.0 - r.transpose() * r) * 0.5)
}

/// The rotation nearest to `m`, which may be any matrix with positive determinant.
///
/// # Errors
/// [`MathError::NonFinite`], [`MathError::NotRotation`] with the determinant, [`MathError::NotConverged`].
pub fn polar_rotation(m: DMat3) -> Result<DMat3, MathError> {
    MathError::check_finite("matrix entry", &m.to_cols_array())?;
    let largest = m.to_cols_array().iter().fold(0.0, |s: f64, x| s.max(x.abs()));
    let mut x = if largest > 0.0 { m * (1.0 / largest) } else { m };
    let determinant = x.determinant();
    // Entries are at most 1, so a determinant below 1e-15 has no digit.
    if determinant < 1e-15 {
        return Err(MathError::NotRotation { what: "matrix", deviation: determinant });
    }
    for _ in 0..MAX_ITERATIONS {
        let inverse = x.inverse();
        let gamma = ((norms(inverse) / norms(x)).sqrt()).sqrt();
        // Scaling near the solution would spoil the quadratic end game.
        let gamma = if (gamma - 1.0).abs() < 0.01 { 1.0 } else { gamma };
        let next = (x * gamma + inverse.transpose() * (1.0 / gamma)) * 0.5;
        let change = (next - x).to_cols_array().iter().fold(0.0, |s: f64, d| s.max(d.abs()));
        x = next;
        // The error after this step is about the square of the change.
        if change < 1e-8 {
            return Ok(x);
        }
    }
    let residual = orthonormality_error(x);
    Err(MathError::NotConverged { what: "polar rotation", iterations: MAX_ITERATIONS, residual })
}

/// Product of the largest column sum and the largest row sum.
#[inline]
fn norms(m: DMat3) -> f64 {
    let columns = [m.x_axis, m.y_axis, m.z_axis].map(|c| c.abs().element_sum());
    let rows = m.x_axis.abs() + m.y_axis.abs() + m.z_axis.abs();
    columns[0].max(columns[1]).max(columns[2]) * rows.max_element()
}

/// A rotation whose first column keeps its direction and whose second stays in the plane of the first two.
///
/// # Errors
/// [`MathError::NonFinite`], [`MathError::NotRotation`] with the determinant.
#[inline]
pub fn gram_schmidt(m: DMat3) -> Result<DMat3, MathError> {
    MathError::check_finite("matrix entry", &m.to_cols_array())?;
    // Columns are scaled first: their lengths do not matter, only their directions do.
    let unit = |v: DVec3| {
        let largest = v.abs().max_element();
        if largest > 0.0 { (v / largest).normalize() } else { DVec3::ZERO }
    };
    let (x, y, z) = (unit(m.x_axis), unit(m.y_axis), unit(m.z_axis));
    let determinant = x.cross(y).dot(z);
    if determinant < 1e-15 {
        return Err(MathError::NotRotation { what: "matrix", deviation: determinant });
    }
    // Twice is enough: the second pass removes what cancellation left in the first.
    let y = (y - x * x.dot(y)).normalize();
    let y = (y - x * x.dot(y)).normalize();
    Ok(DMat3::from_cols(x, y, x.cross(y)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rotation::quat_exp, small::Svd3, testkit::SplitMix64};

    fn frobenius(m: DMat3) -> f64 {
        m.to_cols_array().iter().fold(0.0, |s, x| s + x * x).sqrt()
    }

    // proves: CLI-02
    #[test]
    fn a_million_products_are_repaired() {
        let mut random = SplitMix64(101);
        let turns: Vec<DMat3> = (0..64).map(|_| DMat3::from_quat(quat_exp(random.vec3(0.3)))).collect();
        let mut r = DMat3::IDENTITY;
        for step in 0..1_000_000 {
            r *= turns[step % 64];
        }
        let drift = orthonormality_error(r);
        assert!(drift > 1e-14, "nothing to repair: {drift:e}");
        for repaired in [polar_step(r), polar_rotation(r).unwrap(), gram_schmidt(r).unwrap()] {
            let error = frobenius(repaired.transpose() * repaired - DMat3::IDENTITY);
            assert!(error < 1e-14, "{error:e} from {drift:e}");
            assert!((repaired.determinant() - 1.0).abs() < 1e-14);
            assert!(repaired.abs_diff_eq(r, 2.0 * drift));
        }
    }

    #[test]
    fn polar_rotation_is_the_nearest() {
        let mut random = SplitMix64(102);
        for _ in 0..5000 {
            let m = DMat3::from_cols(random.vec3(1.0), random.vec3(1.0), random.vec3(1.0));
            let m = if m.determinant() < 0.0 { m * -1.0 } else { m };
            let svd = Svd3::compute(m).unwrap();
            if svd.sigma.z < 1e-4 * svd.sigma.x {
                continue;
            }
            let r = polar_rotation(m).unwrap();
            assert!(orthonormality_error(r) < 1e-15 * 8.0 && r.determinant() > 0.0);
            // U Vᵀ of the singular value decomposition is the same rotation.
            let reference = svd.u * svd.v.transpose();
            assert!(r.abs_diff_eq(reference, 1e-15 * 8.0 * svd.sigma.x / svd.sigma.z));
            // And no rotation nearby is nearer.
            let turned = r * DMat3::from_quat(quat_exp(random.vec3(1e-3)));
            assert!(frobenius(m - turned) >= frobenius(m - r));
        }
    }

    #[test]
    fn one_step_squares_the_error() {
        let mut random = SplitMix64(103);
        for _ in 0..1000 {
            let exact = DMat3::from_quat(random.unit_quat());
            let noise = DMat3::from_cols(random.vec3(1e-5), random.vec3(1e-5), random.vec3(1e-5));
            let before = orthonormality_error(exact + noise);
            assert!(orthonormality_error(polar_step(exact + noise)) < 3.0 * before * before + 1e-15);
        }
    }

    #[test]
    fn size_does_not_matter_but_direction_does() {
        let r = DMat3::from_quat(SplitMix64(104).unit_quat());
        for scale in [1e-200, 1e-3, 7.0, 1e200] {
            assert!(polar_rotation(r * scale).unwrap().abs_diff_eq(r, 1e-14));
            assert!(gram_schmidt(r * scale).unwrap().abs_diff_eq(r, 1e-14));
        }
    }

    #[test]
    fn reflections_and_flat_matrices_are_refused() {
        let mirror = DMat3::from_diagonal(DVec3::new(1.0, -1.0, 1.0));
        let flat = DMat3::from_cols(DVec3::X, DVec3::Y, DVec3::X + DVec3::Y);
        for m in [mirror, flat, DMat3::ZERO] {
            assert!(matches!(polar_rotation(m), Err(MathError::NotRotation { .. })));
            assert!(matches!(gram_schmidt(m), Err(MathError::NotRotation { .. })));
        }
        let nan = DMat3::from_diagonal(DVec3::new(1.0, 1.0, f64::NAN));
        assert!(matches!(polar_rotation(nan), Err(MathError::NonFinite { index: 8, .. })));
        assert!(matches!(gram_schmidt(nan), Err(MathError::NonFinite { index: 8, .. })));
    }
}
