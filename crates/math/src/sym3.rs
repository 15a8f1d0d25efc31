//! Symmetric 3x3 matrices as six numbers: inertia tensors, their blocks, covariance.

use crate::{
    MathError,
    small::{Cholesky, checked_solution},
};
use glam::{DMat3, DVec3};
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A symmetric 3x3 matrix, entries in the order xx, yy, zz, xy, xz, yz.
///
/// Units and axes are those of the quantity it holds; an inertia tensor is in kg·m².
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sym3 {
    /// Entry (0, 0).
    pub xx: f64,
    /// Entry (1, 1).
    pub yy: f64,
    /// Entry (2, 2).
    pub zz: f64,
    /// Entries (0, 1) and (1, 0).
    pub xy: f64,
    /// Entries (0, 2) and (2, 0).
    pub xz: f64,
    /// Entries (1, 2) and (2, 1).
    pub yz: f64,
}

impl Sym3 {
    /// All entries zero.
    pub const ZERO: Self = Self::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    /// The identity matrix.
    pub const IDENTITY: Self = Self::new(1.0, 1.0, 1.0, 0.0, 0.0, 0.0);

    /// From its six entries.
    #[inline]
    #[must_use]
    pub const fn new(xx: f64, yy: f64, zz: f64, xy: f64, xz: f64, yz: f64) -> Self {
        Self { xx, yy, zz, xy, xz, yz }
    }

    /// Diagonal matrix.
    #[inline]
    #[must_use]
    pub const fn from_diagonal(d: DVec3) -> Self {
        Self::new(d.x, d.y, d.z, 0.0, 0.0, 0.0)
    }

    /// `s` times the identity.
    #[inline]
    #[must_use]
    pub const fn from_scalar(s: f64) -> Self {
        Self::new(s, s, s, 0.0, 0.0, 0.0)
    }

    /// From six numbers in the order xx, yy, zz, xy, xz, yz.
    #[inline]
    #[must_use]
    pub const fn from_array(s: [f64; 6]) -> Self {
        Self::new(s[0], s[1], s[2], s[3], s[4], s[5])
    }

    /// Six numbers in the order xx, yy, zz, xy, xz, yz.
    #[inline]
    #[must_use]
    pub const fn to_array(self) -> [f64; 6] {
        [self.xx, self.yy, self.zz, self.xy, self.xz, self.yz]
    }

    /// The symmetric part (M + Mᵀ)/2 of a matrix.
    #[inline]
    #[must_use]
    pub fn from_mat3(m: DMat3) -> Self {
        Self::new(
            m.x_axis.x,
            m.y_axis.y,
            m.z_axis.z,
            0.5 * (m.y_axis.x + m.x_axis.y),
            0.5 * (m.z_axis.x + m.x_axis.z),
            0.5 * (m.z_axis.y + m.y_axis.z),
        )
    }

    /// A matrix that is symmetric to 1e-12 of its largest entry, as tables and files give it.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] with the column-major index; [`MathError::NotSymmetric`].
    pub fn try_from_mat3(what: &'static str, m: DMat3) -> Result<Self, MathError> {
        let entries = m.to_cols_array();
        MathError::check_finite(what, &entries)?;
        let largest = entries.iter().fold(0.0_f64, |l, x| l.max(x.abs()));
        for (row, column) in [(0, 1), (0, 2), (1, 2)] {
            let difference = (m.col(column)[row] - m.col(row)[column]).abs();
            if difference > 1e-12 * largest {
                return Err(MathError::NotSymmetric { what, row, column, difference });
            }
        }
        Ok(Self::from_mat3(m))
    }

    /// All nine entries.
    #[inline]
    #[must_use]
    pub const fn to_mat3(self) -> DMat3 {
        DMat3::from_cols(self.col_x(), self.col_y(), self.col_z())
    }

    /// Rows (equally columns) as arrays, for the routines of [`crate::small`].
    #[inline]
    #[must_use]
    pub const fn to_rows(self) -> [[f64; 3]; 3] {
        [[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]]
    }

    /// The outer product v vᵀ.
    #[inline]
    #[must_use]
    pub fn outer(v: DVec3) -> Self {
        Self::new(v.x * v.x, v.y * v.y, v.z * v.z, v.x * v.y, v.x * v.z, v.y * v.z)
    }

    /// The symmetric outer product a bᵀ + b aᵀ.
    #[inline]
    #[must_use]
    pub fn outer_pair(a: DVec3, b: DVec3) -> Self {
        Self::new(
            2.0 * a.x * b.x,
            2.0 * a.y * b.y,
            2.0 * a.z * b.z,
            a.x * b.y + a.y * b.x,
            a.x * b.z + a.z * b.x,
            a.y * b.z + a.z * b.y,
        )
    }

    /// (r·r) 1 − r rᵀ = r̃ᵀ r̃: the inertia of a unit point mass at `r`, about the origin.
    #[inline]
    #[must_use]
    pub fn point_inertia(r: DVec3) -> Self {
        let s = r * r;
        // Subtracted from zero, not negated: no -0 appears in tables.
        Self::new(s.y + s.z, s.x + s.z, s.x + s.y, 0.0 - r.x * r.y, 0.0 - r.x * r.z, 0.0 - r.y * r.z)
    }

    /// 2(a·b) 1 − a bᵀ − b aᵀ: the mixed term when a point inertia at a + b is expanded.
    #[inline]
    #[must_use]
    pub fn point_inertia_pair(a: DVec3, b: DVec3) -> Self {
        let s = a * b;
        Self::new(
            2.0 * (s.y + s.z),
            2.0 * (s.x + s.z),
            2.0 * (s.x + s.y),
            -(a.x * b.y + a.y * b.x),
            -(a.x * b.z + a.z * b.x),
            -(a.y * b.z + a.z * b.y),
        )
    }

    /// First column.
    #[inline]
    #[must_use]
    pub const fn col_x(self) -> DVec3 {
        DVec3::new(self.xx, self.xy, self.xz)
    }

    /// Second column.
    #[inline]
    #[must_use]
    pub const fn col_y(self) -> DVec3 {
        DVec3::new(self.xy, self.yy, self.yz)
    }

    /// Third column.
    #[inline]
    #[must_use]
    pub const fn col_z(self) -> DVec3 {
        DVec3::new(self.xz, self.yz, self.zz)
    }

    /// Diagonal entries.
    #[inline]
    #[must_use]
    pub const fn diagonal(self) -> DVec3 {
        DVec3::new(self.xx, self.yy, self.zz)
    }

    /// Sum of the diagonal.
    #[inline]
    #[must_use]
    pub fn trace(self) -> f64 {
        self.xx + self.yy + self.zz
    }

    /// Determinant.
    #[inline]
    #[must_use]
    pub fn determinant(self) -> f64 {
        self.xx * (self.yy * self.zz - self.yz * self.yz)
            + self.xy * (self.xz * self.yz - self.xy * self.zz)
            + self.xz * (self.xy * self.yz - self.xz * self.yy)
    }

    /// Matrix of cofactors; S · cofactors = det · 1.
    #[inline]
    #[must_use]
    pub fn cofactors(self) -> Self {
        Self::new(
            self.yy * self.zz - self.yz * self.yz,
            self.xx * self.zz - self.xz * self.xz,
            self.xx * self.yy - self.xy * self.xy,
            self.xz * self.yz - self.xy * self.zz,
            self.xy * self.yz - self.xz * self.yy,
            self.xy * self.xz - self.xx * self.yz,
        )
    }

    /// Largest magnitude among the entries.
    #[inline]
    #[must_use]
    pub fn max_abs(self) -> f64 {
        let d = self.diagonal().abs().max_element();
        let o = DVec3::new(self.xy, self.xz, self.yz).abs().max_element();
        d.max(o)
    }

    /// True if all six entries are finite.
    #[inline]
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.to_array().iter().all(|x| x.is_finite())
    }

    /// vᵀ S v.
    #[inline]
    #[must_use]
    pub fn quadratic(self, v: DVec3) -> f64 {
        v.dot(self * v)
    }

    /// S M for a general matrix M.
    #[inline]
    #[must_use]
    pub fn mul_mat3(self, m: DMat3) -> DMat3 {
        DMat3::from_cols(self * m.x_axis, self * m.y_axis, self * m.z_axis)
    }

    /// The product S T of two symmetric matrices, which is not symmetric in general.
    #[inline]
    #[must_use]
    pub fn mul_sym3(self, other: Self) -> DMat3 {
        self.mul_mat3(other.to_mat3())
    }

    /// R S Rᵀ for any matrix R: the same tensor in the axes that R rotates to.
    #[inline]
    #[must_use]
    pub fn congruence(self, r: DMat3) -> Self {
        // Columns of R S, then the upper half of (R S) Rᵀ.
        let tx = r.x_axis * self.xx + r.y_axis * self.xy + r.z_axis * self.xz;
        let ty = r.x_axis * self.xy + r.y_axis * self.yy + r.z_axis * self.yz;
        let tz = r.x_axis * self.xz + r.y_axis * self.yz + r.z_axis * self.zz;
        Self::new(
            tx.x * r.x_axis.x + ty.x * r.y_axis.x + tz.x * r.z_axis.x,
            tx.y * r.x_axis.y + ty.y * r.y_axis.y + tz.y * r.z_axis.y,
            tx.z * r.x_axis.z + ty.z * r.y_axis.z + tz.z * r.z_axis.z,
            tx.x * r.x_axis.y + ty.x * r.y_axis.y + tz.x * r.z_axis.y,
            tx.x * r.x_axis.z + ty.x * r.y_axis.z + tz.x * r.z_axis.z,
            tx.y * r.x_axis.z + ty.y * r.y_axis.z + tz.y * r.z_axis.z,
        )
    }

    /// Rᵀ S R: undoes [`Sym3::congruence`] for a rotation R.
    #[inline]
    #[must_use]
    pub fn congruence_transposed(self, r: DMat3) -> Self {
        let (sx, sy, sz) = (self * r.x_axis, self * r.y_axis, self * r.z_axis);
        Self::new(
            r.x_axis.dot(sx),
            r.y_axis.dot(sy),
            r.z_axis.dot(sz),
            r.x_axis.dot(sy),
            r.x_axis.dot(sz),
            r.y_axis.dot(sz),
        )
    }

    /// The x of S x = b for a positive definite S, by Cholesky.
    ///
    /// For an indefinite S see [`crate::small::solve_symmetric3`].
    ///
    /// # Errors
    /// [`MathError::NonFinite`] for a bad entry, [`MathError::NotPositive`] with the pivot that is not.
    #[inline]
    pub fn solve(self, b: DVec3) -> Result<DVec3, MathError> {
        let x = Cholesky::factor(&self.to_rows())?.solve(b.to_array());
        checked_solution(b.to_array(), x).map(DVec3::from_array)
    }

    /// Inverse of a positive definite matrix, by Cholesky.
    ///
    /// # Errors
    /// As [`Sym3::solve`].
    #[inline]
    pub fn inverse(self) -> Result<Self, MathError> {
        let m = Cholesky::factor(&self.to_rows())?.inverse();
        Ok(Self::new(m[0][0], m[1][1], m[2][2], m[1][0], m[2][0], m[2][1]))
    }
}

impl Mul<DVec3> for Sym3 {
    type Output = DVec3;

    #[inline]
    fn mul(self, v: DVec3) -> DVec3 {
        DVec3::new(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }
}

impl Mul<f64> for Sym3 {
    type Output = Self;

    #[inline]
    fn mul(self, s: f64) -> Self {
        Self::new(self.xx * s, self.yy * s, self.zz * s, self.xy * s, self.xz * s, self.yz * s)
    }
}

impl Add for Sym3 {
    type Output = Self;

    #[inline]
    fn add(self, o: Self) -> Self {
        Self::new(
            self.xx + o.xx,
            self.yy + o.yy,
            self.zz + o.zz,
            self.xy + o.xy,
            self.xz + o.xz,
            self.yz + o.yz,
        )
    }
}

impl Sub for Sym3 {
    type Output = Self;

    #[inline]
    fn sub(self, o: Self) -> Self {
        Self::new(
            self.xx - o.xx,
            self.yy - o.yy,
            self.zz - o.zz,
            self.xy - o.xy,
            self.xz - o.xz,
            self.yz - o.yz,
        )
    }
}

impl Neg for Sym3 {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl AddAssign for Sym3 {
    #[inline]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl SubAssign for Sym3 {
    #[inline]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl From<Sym3> for DMat3 {
    fn from(s: Sym3) -> Self {
        s.to_mat3()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rotation::cross_matrix, testkit::SplitMix64};

    fn any(random: &mut SplitMix64) -> Sym3 {
        let (d, o) = (random.vec3(3.0), random.vec3(3.0));
        Sym3::new(d.x, d.y, d.z, o.x, o.y, o.z)
    }

    fn near(a: DMat3, b: DMat3, tolerance: f64) -> bool {
        a.abs_diff_eq(b, tolerance)
    }

    #[test]
    fn every_product_equals_the_one_of_full_matrices() {
        let mut random = SplitMix64(3);
        for _ in 0..1000 {
            let (s, t) = (any(&mut random), any(&mut random));
            let (a, b) = (random.vec3(2.0), random.vec3(2.0));
            let r = DMat3::from_cols(random.vec3(1.0), random.vec3(1.0), random.vec3(1.0));
            let (full, full_t) = (s.to_mat3(), t.to_mat3());
            assert!((s * a - full * a).length() < 1e-14 * 30.0);
            assert!(near(s.mul_sym3(t), full * full_t, 1e-13));
            assert!(near(s.congruence(r).to_mat3(), r * full * r.transpose(), 1e-13));
            assert!(near(s.congruence_transposed(r).to_mat3(), r.transpose() * full * r, 1e-13));
            assert!(near((s + t).to_mat3(), full + full_t, 1e-15));
            assert!(near((s - t).to_mat3(), full - full_t, 1e-15));
            assert!(near((s * 0.3).to_mat3(), full * 0.3, 1e-15));
            assert!((s.determinant() - full.determinant()).abs() < 1e-12);
            assert!(near(s.mul_sym3(s.cofactors()), DMat3::IDENTITY * s.determinant(), 1e-12));
            let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
            assert!(near(Sym3::outer(a).to_mat3(), outer(a, a), 1e-15));
            assert!(near(Sym3::outer_pair(a, b).to_mat3(), outer(a, b) + outer(b, a), 1e-14));
            assert!((s.quadratic(a) - a.dot(full * a)).abs() < 1e-12);
            assert_eq!(Sym3::from_mat3(full), s);
            assert_eq!(Sym3::from_array(s.to_array()), s);
            assert_eq!(-s + s, Sym3::ZERO);
        }
    }

    #[test]
    fn point_inertia_is_minus_the_squared_cross_matrix() {
        let mut random = SplitMix64(4);
        for _ in 0..1000 {
            let (a, b) = (random.vec3(2.0), random.vec3(2.0));
            let squared = |v: DVec3| cross_matrix(v).transpose() * cross_matrix(v);
            assert!(near(Sym3::point_inertia(a).to_mat3(), squared(a), 1e-14));
            let mixed = Sym3::point_inertia(a + b) - Sym3::point_inertia(a) - Sym3::point_inertia(b);
            assert!(near(Sym3::point_inertia_pair(a, b).to_mat3(), mixed.to_mat3(), 1e-13));
        }
    }

    #[test]
    fn cholesky_solve_and_inverse_agree_with_the_residual() {
        let mut random = SplitMix64(5);
        for _ in 0..1000 {
            let d = random.vec3(1.0).abs() + DVec3::splat(0.1);
            let s = Sym3::from_diagonal(d).congruence(DMat3::from_quat(random.unit_quat()));
            let b = random.vec3(2.0);
            let x = s.solve(b).unwrap();
            assert!((s * x - b).length() < 1e-14 * 20.0);
            assert!(near(s.mul_sym3(s.inverse().unwrap()), DMat3::IDENTITY, 1e-13));
        }
    }

    #[test]
    fn bad_matrices_are_refused_with_the_pivot() {
        let indefinite = Sym3::from_diagonal(DVec3::new(1.0, -2.0, 3.0));
        assert_eq!(
            indefinite.inverse(),
            Err(MathError::NotPositive { what: "Cholesky pivot", index: 1, value: -2.0 })
        );
        assert!(matches!(Sym3::ZERO.solve(DVec3::ONE), Err(MathError::NotPositive { index: 0, .. })));
        assert!(matches!(Sym3::from_scalar(f64::NAN).solve(DVec3::ONE), Err(MathError::NonFinite { .. })));
    }

    #[test]
    fn matrices_that_are_not_symmetric_are_refused_with_the_entry() {
        let s = Sym3::new(1.0, 2.0, 3.0, 0.5, 0.25, 0.75);
        assert_eq!(Sym3::try_from_mat3("tensor", s.to_mat3()), Ok(s));
        for (row, column) in [(0, 1), (0, 2), (1, 2)] {
            let mut skew = s.to_mat3();
            skew.col_mut(column)[row] += 0.25;
            let text = Sym3::try_from_mat3("tensor", skew).unwrap_err().to_string();
            assert!(
                text.starts_with(&format!(
                    "entries ({row}, {column}) and ({column}, {row}) of tensor differ"
                ))
            );
            assert!(text.contains("0.25"), "{text}");
            skew.col_mut(column)[row] = f64::NAN;
            assert!(matches!(Sym3::try_from_mat3("tensor", skew), Err(MathError::NonFinite { .. })));
        }
        // Rounding of a rotated tensor passes and is averaged away.
        let mut rounded = s.to_mat3();
        rounded.y_axis.x += 1e-15;
        assert!((Sym3::try_from_mat3("tensor", rounded).unwrap() - s).max_abs() < 1e-15);
    }

    // proves: CLI-14
    #[test]
    fn particle_inertia_matches_dumbbell_and_box_and_turns_with_the_body() {
        // Two masses m at ±d on the x axis: (0, 2md², 2md²).
        let (m, d) = (1.7, 0.6);
        let dumbbell = Sym3::point_inertia(DVec3::X * d) * m + Sym3::point_inertia(DVec3::NEG_X * d) * m;
        let closed = Sym3::from_diagonal(DVec3::new(0.0, 2.0 * m * d * d, 2.0 * m * d * d));
        assert!((dumbbell - closed).max_abs() < 1e-15);
        // R I Rᵀ of the turned body equals the sum over its turned particles.
        let mut random = SplitMix64(6);
        for _ in 0..1000 {
            let q = random.unit_quat();
            let r = DMat3::from_quat(q);
            let points: Vec<DVec3> = (0..5).map(|_| random.vec3(1.0)).collect();
            let sum = |turn: bool| {
                points
                    .iter()
                    .fold(Sym3::ZERO, |s, &p| s + Sym3::point_inertia(if turn { q * p } else { p }) * m)
            };
            assert!((sum(false).congruence(r) - sum(true)).max_abs() < 1e-13);
        }
        // A box sampled at n³ cell centres converges to m(b² + c²)/12 with order 2.
        let sides = DVec3::new(0.4, 1.0, 1.8);
        let s = sides * sides / 12.0;
        let exact = Sym3::from_diagonal(DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * m);
        let error = |n: i32| {
            let mut sum = Sym3::ZERO;
            let at = |i: i32| (f64::from(i) + 0.5) / f64::from(n) - 0.5;
            for (i, j, k) in (0..n * n * n).map(|c| (c % n, c / n % n, c / (n * n))) {
                sum += Sym3::point_inertia(DVec3::new(at(i), at(j), at(k)) * sides);
            }
            (sum * (m / f64::from(n * n * n)) - exact).max_abs()
        };
        let (coarse, fine) = (error(8), error(16));
        assert!(fine < 0.004 * exact.max_abs() && (coarse / fine - 4.0).abs() < 1e-6);
    }
}
