//! Eigenvalues and eigenvectors of a small symmetric matrix by cyclic Jacobi rotations.
//!
//! # Reference
//! Jacobi 1846; Golub and Van Loan, *Matrix Computations*, 4th ed., 8.5; relative accuracy for definite
//! matrices: Demmel and Veselić 1992. Used for the principal frame of a body (Mirtich 1996, 6.1).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `a` | the matrix, driven to diagonal form |
//! | `v` | product of the rotations, eigenvectors in its columns |
//! | `t`, `c`, `s` | tangent, cosine, sine of the rotation that zeroes `a_pq` |
//!
//! # Formula
//! ```text
//! θ = (a_qq − a_pp) / (2 a_pq),   t = sign θ / (|θ| + √(θ² + 1)),   c = 1/√(t² + 1),   s = t c
//! A ← JᵀAJ,   V ← V J,   until  |a_pq| ≤ ε √|a_pp a_qq| / 4  for all p < q
//! ```
//! # Cost
//! 3 to 5 sweeps of N(N−1)/2 rotations, 6 N multiplications each. No allocation. No transcendental function:
//! the same bits on every target.
//!
//! # Numerics
//! Small eigenvalues of a definite matrix come out with relative accuracy. Values are sorted in ascending
//! order and equal ones keep the order of their axes, so a diagonal matrix with sorted entries (a cube, a
//! sphere) returns the identity rotation.
//!
//! # Failure
//! [`MathError::NonFinite`] for a bad entry; [`MathError::NotConverged`] after 30 sweeps, which no matrix of
//! the tests comes near.
//!
//! # Tested by
//! `principal_frame_diagonalises_and_is_right_handed`, `degenerate_tensors_give_a_rotation`,
//! `six_by_six_reconstructs`, `tiny_moments_keep_their_digits`.

use super::{check_finite, identity, max_abs};
use crate::{MathError, Sym3};
use glam::{DMat3, DVec3};

const MAX_SWEEPS: usize = 30;

/// A = V diag(values) Vᵀ of an N by N symmetric matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SymmetricEigen<const N: usize> {
    /// Eigenvalues, ascending, in the units of the matrix.
    pub values: [f64; N],
    /// Rows of V: column j is the unit eigenvector of `values[j]`.
    pub vectors: [[f64; N]; N],
    /// Sweeps over all off-diagonal entries that were needed.
    pub sweeps: usize,
}

impl<const N: usize> SymmetricEigen<N> {
    /// Decomposes `a`, of which the upper triangle is read.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] or [`MathError::NotConverged`].
    #[inline]
    pub fn compute(a: &[[f64; N]; N]) -> Result<Self, MathError> {
        let Self { values: a, vectors: v, sweeps } = diagonalize(a)?;
        let mut order: [usize; N] = std::array::from_fn(|i| i);
        // Insertion sort: stable, and no allocation.
        for i in 1..N {
            let mut k = i;
            while k > 0 && a[order[k]] < a[order[k - 1]] {
                order.swap(k, k - 1);
                k -= 1;
            }
        }
        Ok(Self {
            values: std::array::from_fn(|j| a[order[j]]),
            vectors: std::array::from_fn(|i| std::array::from_fn(|j| v[i][order[j]])),
            sweeps,
        })
    }
}

/// Eigenvalues and eigenvectors in the order in which the rotations leave them: not sorted, so that each axis
/// stays next to the one it came from, and det V = +1 as for every product of rotations.
///
/// # Errors
/// [`MathError::NonFinite`] or [`MathError::NotConverged`].
#[inline]
pub(crate) fn diagonalize<const N: usize>(a: &[[f64; N]; N]) -> Result<SymmetricEigen<N>, MathError> {
    check_finite(a)?;
    let mut a = *a;
    let mut v = identity::<N>();
    let negligible = f64::EPSILON * f64::EPSILON * max_abs(&a);
    let mut sweeps = 0;
    loop {
        let mut rotations = 0;
        for p in 0..N {
            for q in p + 1..N {
                let size = a[p][q].abs();
                let scale = a[p][p].abs().sqrt() * a[q][q].abs().sqrt();
                if size > negligible && size > 0.25 * f64::EPSILON * scale {
                    rotate(&mut a, &mut v, p, q);
                    rotations += 1;
                }
            }
        }
        if rotations == 0 {
            break;
        }
        sweeps += 1;
        if sweeps > MAX_SWEEPS {
            let residual = (0..N).flat_map(|p| (p + 1..N).map(move |q| (p, q)));
            let residual = residual.fold(0.0, |m: f64, (p, q)| m.max(a[p][q].abs()));
            return Err(MathError::NotConverged {
                what: "Jacobi eigenvalues",
                iterations: MAX_SWEEPS,
                residual,
            });
        }
    }
    Ok(SymmetricEigen { values: std::array::from_fn(|i| a[i][i]), vectors: v, sweeps })
}

/// Zeroes `a_pq` (p < q), keeping the upper triangle, and turns the columns p and q of `v` along.
#[inline]
fn rotate<const N: usize>(a: &mut [[f64; N]; N], v: &mut [[f64; N]; N], p: usize, q: usize) {
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    // Entries below ε² of the largest are not rotated, so θ² cannot overflow.
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    let shift = t * a[p][q];
    a[p][p] -= shift;
    a[q][q] += shift;
    a[p][q] = 0.0;
    let turn = |x: f64, y: f64| (c * x - s * y, s * x + c * y);
    for k in 0..p {
        (a[k][p], a[k][q]) = turn(a[k][p], a[k][q]);
    }
    for k in p + 1..q {
        (a[p][k], a[k][q]) = turn(a[p][k], a[k][q]);
    }
    for k in q + 1..N {
        (a[p][k], a[q][k]) = turn(a[p][k], a[q][k]);
    }
    for row in v.iter_mut() {
        (row[p], row[q]) = turn(row[p], row[q]);
    }
}

/// S = R diag(values) Rᵀ of a symmetric 3x3 matrix, with R a rotation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Eigen3 {
    /// Eigenvalues, ascending; principal moments in kg·m² for an inertia tensor.
    pub values: DVec3,
    /// Rotation whose columns are the eigenvectors: maps principal axes to the axes of S. Determinant +1.
    pub rotation: DMat3,
}

/// Eigenvalues and a right-handed frame of eigenvectors: the principal axes of an inertia tensor.
///
/// # Errors
/// [`MathError::NonFinite`] or [`MathError::NotConverged`].
#[inline]
pub fn symmetric_eigen3(s: Sym3) -> Result<Eigen3, MathError> {
    let eigen = SymmetricEigen::compute(&s.to_rows())?;
    let [x, y, z] = eigen.vectors.map(DVec3::from_array);
    let mut rotation = DMat3::from_cols(x, y, z).transpose();
    if rotation.determinant() < 0.0 {
        rotation.z_axis = -rotation.z_axis;
    }
    Ok(Eigen3 { values: DVec3::from_array(eigen.values), rotation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        small::{mul, samples, transpose},
        testkit::{SpdInertia, SplitMix64, UnitQuat, check},
    };

    fn is_rotation(r: DMat3) -> bool {
        (r.transpose() * r).abs_diff_eq(DMat3::IDENTITY, 1e-14) && (r.determinant() - 1.0).abs() < 1e-14
    }

    // proves: MIR-84, FON-07
    #[test]
    fn principal_frame_diagonalises_and_is_right_handed() {
        fn property(body: SpdInertia, q: UnitQuat) -> bool {
            let s = Sym3::from_diagonal(body.moments).congruence(DMat3::from_quat(q.0));
            let e = symmetric_eigen3(s).unwrap();
            let scale = body.moments.max_element();
            let mut sorted = body.moments.to_array();
            sorted.sort_by(f64::total_cmp);
            let diagonal = s.congruence_transposed(e.rotation) - Sym3::from_diagonal(e.values);
            let rebuilt = Sym3::from_diagonal(e.values).congruence(e.rotation) - s;
            is_rotation(e.rotation)
                && diagonal.max_abs() < 1e-14 * scale
                && rebuilt.max_abs() < 1e-14 * scale
                && (e.values - DVec3::from_array(sorted)).abs().max_element() < 1e-14 * scale
        }
        check(41, 20_000, property as fn(SpdInertia, UnitQuat) -> bool);
    }

    // proves: FON-07
    #[test]
    fn degenerate_tensors_give_a_rotation() {
        // Cube and sphere: any frame is principal, and the given one is kept.
        for s in [Sym3::IDENTITY, Sym3::from_scalar(1e-30), Sym3::from_scalar(1e30), Sym3::ZERO] {
            let e = symmetric_eigen3(s).unwrap();
            assert_eq!((e.rotation, e.values), (DMat3::IDENTITY, s.diagonal()));
        }
        // Two equal moments, unsorted diagonals, rank one, one tiny coupling.
        let cases = [
            Sym3::from_diagonal(DVec3::new(2.0, 1.0, 1.0)),
            Sym3::from_diagonal(DVec3::new(3.0, 2.0, 1.0)),
            Sym3::from_diagonal(DVec3::new(1.0, 3.0, 2.0)),
            Sym3::outer(DVec3::new(1.0, -2.0, 0.5)),
            Sym3::new(1.0, 1.0, 1.0, 1e-17, 0.0, 0.0),
            Sym3::new(1.0, 1.0, 1.0, 1e-9, 1e-9, 1e-9),
            Sym3::new(0.0, 0.0, 0.0, 1.0, 1.0, 1.0),
            Sym3::new(1.0, 1e-200, 0.0, 1e-150, 1e-300, 0.0),
        ];
        for s in cases {
            let e = symmetric_eigen3(s).unwrap();
            assert!(is_rotation(e.rotation), "{s:?}");
            assert!(e.values.x <= e.values.y && e.values.y <= e.values.z);
            let rebuilt = Sym3::from_diagonal(e.values).congruence(e.rotation);
            assert!((rebuilt - s).max_abs() < 1e-15 * 4.0 * s.max_abs(), "{s:?} {rebuilt:?}");
        }
        let nan = Sym3::new(1.0, f64::NAN, 1.0, 0.0, 0.0, 0.0);
        assert!(matches!(symmetric_eigen3(nan), Err(MathError::NonFinite { index: 4, .. })));
    }

    #[test]
    fn six_by_six_reconstructs() {
        let mut random = SplitMix64(42);
        let mut most = 0;
        for _ in 0..3000 {
            let a = samples::symmetric::<6>(&mut random);
            let e = SymmetricEigen::compute(&a).unwrap();
            let v = e.vectors;
            assert!(samples::distance(&mul(&transpose(&v), &v), &identity()) < 1e-14);
            let vd = std::array::from_fn(|i| std::array::from_fn(|j| v[i][j] * e.values[j]));
            assert!(samples::distance(&mul(&vd, &transpose(&v)), &a) < 1e-14);
            assert!(e.values.windows(2).all(|w| w[0] <= w[1]));
            most = most.max(e.sweeps);
        }
        assert!(most <= 8, "{most} sweeps");
    }

    #[test]
    fn tiny_moments_keep_their_digits() {
        // D B D with a well conditioned B: eigenvalues spread over 16 decades, all to relative accuracy.
        let units = DVec3::new(1e-8, 1e-4, 1.0);
        let b = Sym3::new(2.0, 3.0, 4.0, 0.5, -0.4, 0.3);
        let s = Sym3::new(
            b.xx * units.x * units.x,
            b.yy * units.y * units.y,
            b.zz * units.z * units.z,
            b.xy * units.x * units.y,
            b.xz * units.x * units.z,
            b.yz * units.y * units.z,
        );
        let e = symmetric_eigen3(s).unwrap();
        // The product of the eigenvalues is det B · 1e-24, which the smallest one decides.
        let product = e.values.x * e.values.y * e.values.z;
        assert!((product / (b.determinant() * 1e-24) - 1.0).abs() < 1e-14);
        // Sum of inverses = trace of the inverse, dominated by the smallest eigenvalue.
        let inverse = b.cofactors().xx / b.determinant() * 1e16;
        assert!((1.0 / e.values.x / inverse - 1.0).abs() < 1e-7);
    }
}
