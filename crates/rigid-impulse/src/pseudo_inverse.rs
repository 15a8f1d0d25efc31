//! Inverse of a collision matrix that may have lost rank.
//!
//! # Reference
//!
//! Mirtich (1996), section 5.3.4: multibodies have positive semi-definite collision matrices.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `k` | symmetric positive semi-definite matrix | 1/kg |
//! | `lambda` | eigenvalue | 1/kg |
//!
//! # Formula
//!
//! ```text
//! K = Σ λ v vᵀ     K⁺ = Σ_{λ > cut} v vᵀ / λ
//! ```
//!
//! # Cost
//!
//! A cofactor inverse when K is well conditioned, else a singular value decomposition.
//!
//! # Numerics
//!
//! Eigenvalues below 1e-9 of the largest count as zero.
//!
//! # Failure
//!
//! None: a matrix that is not finite gives zero.
//!
//! # Tested by
//!
//! `agrees_with_the_inverse_where_there_is_one`, `penrose_conditions_hold_at_every_rank`

use sim_math::{glam::DMat3, small::Svd3};

/// Eigenvalues below this part of the largest count as zero.
pub(crate) const RANK_CUTOFF: f64 = 1e-9;

/// K⁻¹, or the pseudo-inverse K⁺ if K is singular or nearly so: K⁺ u is the shortest impulse that brings K p nearest
/// to u. `k` is symmetric positive semi-definite, 1/kg; the result is in kg.
#[must_use]
pub fn pseudo_inverse(k: &DMat3) -> DMat3 {
    let (x, y, z) = (k.x_axis, k.y_axis, k.z_axis);
    let (cx, cy, cz) = (y.cross(z), z.cross(x), x.cross(y));
    let det = x.dot(cx);
    let trace = x.x + y.y + z.z;
    // det ≥ λ_min λ_max²/27·…: this test passes only if the smallest eigenvalue is well above the cut-off.
    if det > 1e-8 * trace * trace * trace {
        let inv = 1.0 / det;
        // Symmetric: rows and columns are the same.
        return DMat3::from_cols(cx * inv, cy * inv, cz * inv);
    }
    match Svd3::compute(*k) {
        Ok(svd) => svd.pseudo_inverse(RANK_CUTOFF),
        Err(_) => DMat3::ZERO, // not finite: no impulse answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_matrix;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn agrees_with_the_inverse_where_there_is_one() {
        let mut random = SplitMix64(2);
        for _ in 0..10_000 {
            let k = random_matrix(&mut random, 100.0);
            let inverse = k.inverse();
            assert!((pseudo_inverse(&k) - inverse).to_cols_array().iter().all(|x| x.abs() < 1e-10));
            // And where the cofactors would be refused: a small multiple takes the same branch, a flat one the other.
            assert!(
                (pseudo_inverse(&(k * 1e-9)) * 1e-9 - inverse)
                    .to_cols_array()
                    .iter()
                    .all(|x| x.abs() < 1e-10)
            );
        }
    }

    #[test]
    fn penrose_conditions_hold_at_every_rank() {
        let mut random = SplitMix64(3);
        for n in 0..3000 {
            let rank = n % 4;
            let mut k = DMat3::ZERO;
            for _ in 0..rank {
                let v = random.vec3(1.0);
                k += DMat3::from_cols(v * v.x, v * v.y, v * v.z);
            }
            let inverse = pseudo_inverse(&k);
            let size = inverse.to_cols_array().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            // Rounding of K's zero eigenvalue is not told from a true one of 1e-9: skip that band.
            if size > 1e6 {
                continue;
            }
            let close = |p: DMat3, q: DMat3, scale: f64| {
                (p - q).to_cols_array().iter().all(|x| x.abs() <= 1e-9 * scale.max(1.0))
            };
            assert!(close(k * inverse * k, k, size), "rank {rank}: {k:?}");
            assert!(close(inverse * k * inverse, inverse, size * size), "rank {rank}: {k:?}");
            assert!(close(k * inverse, (k * inverse).transpose(), size), "rank {rank}: {k:?}");
        }
    }
}
