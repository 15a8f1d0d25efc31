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
//! A cofactor inverse when K is well conditioned, else a Jacobi diagonalisation (some 30 rotations at most).
//!
//! # Numerics
//!
//! Eigenvalues below 1e-9 of the largest count as zero.
//!
//! # Failure
//!
//! None on finite input.
//!
//! # Tested by
//!
//! `agrees_with_the_inverse_where_there_is_one`, `penrose_conditions_hold_at_every_rank`

use sim_math::glam::{DMat3, DVec3};

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
    by_eigenvalues(k)
}

fn by_eigenvalues(k: &DMat3) -> DMat3 {
    let (vectors, values) = diagonalise(k);
    let cut = RANK_CUTOFF * values.abs().max_element();
    let mut result = DMat3::ZERO;
    for axis in 0..3 {
        if values[axis] > cut {
            let v = vectors.col(axis);
            let scaled = v / values[axis];
            result += DMat3::from_cols(scaled * v.x, scaled * v.y, scaled * v.z);
        }
    }
    result
}

/// Cyclic Jacobi: eigenvectors as columns, and eigenvalues.
fn diagonalise(k: &DMat3) -> (DMat3, DVec3) {
    let mut a = k.to_cols_array_2d();
    let mut v = DMat3::IDENTITY.to_cols_array_2d();
    for _ in 0..30 {
        let off = a[0][1].abs() + a[0][2].abs() + a[1][2].abs();
        let diagonal = a[0][0].abs() + a[1][1].abs() + a[2][2].abs();
        if off <= 1e-17 * diagonal {
            break;
        }
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            if a[i][j] == 0.0 {
                continue;
            }
            // The smaller rotation that makes a_ij vanish.
            let theta = (a[j][j] - a[i][i]) / (2.0 * a[i][j]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let t = if t.is_finite() { t } else { 0.0 };
            let cos = 1.0 / (t * t + 1.0).sqrt();
            let sin = t * cos;
            for row in &mut a {
                let (p, q) = (row[i], row[j]);
                (row[i], row[j]) = (cos * p - sin * q, sin * p + cos * q);
            }
            for col in 0..3 {
                let (p, q) = (a[i][col], a[j][col]);
                (a[i][col], a[j][col]) = (cos * p - sin * q, sin * p + cos * q);
            }
            (a[i][j], a[j][i]) = (0.0, 0.0);
            for axis in 0..3 {
                let (p, q) = (v[i][axis], v[j][axis]);
                (v[i][axis], v[j][axis]) = (cos * p - sin * q, sin * p + cos * q);
            }
        }
    }
    (DMat3::from_cols_array_2d(&v), DVec3::new(a[0][0], a[1][1], a[2][2]))
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
            assert!((by_eigenvalues(&k) - inverse).to_cols_array().iter().all(|x| x.abs() < 1e-10));
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
