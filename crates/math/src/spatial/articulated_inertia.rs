//! Inertia of a body with joints below it: 21 numbers, the symmetric 6x6 in three blocks.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), 7.1 and A.4; Mirtich 1996, 4.3, block form
//! \[\[G, M\], \[J, Gᵀ\]\] for his (f; τ) order.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `angular` J | moment per angular acceleration, symmetric | kg·m² |
//! | `coupling` H | moment per linear acceleration | kg·m |
//! | `linear` M | force per linear acceleration, symmetric | kg |
//!
//! # Formula
//! ```text
//! [n; f] = [J H; Hᵀ M] [α; a]
//! joint elimination  I − U Uᵀ / d,   U = I s,  d = sᵀ I s
//! solve              S = J − H M⁻¹ Hᵀ,   α = S⁻¹ (n − H M⁻¹ f),   a = M⁻¹ (f − Hᵀ α)
//! ```
//! # Cost
//! Product 36 multiplications, rank-one update 27, solve two 3x3 Cholesky factorisations; no allocation.
//!
//! # Numerics
//! The Schur complement on M needs M positive definite, which every inertia of a floating base is; it keeps
//! kg and kg·m² in separate factorisations. After a joint is eliminated the matrix is only semi-definite in the
//! joint direction: it is added to the parent's inertia before it is ever solved with.
//!
//! # Failure
//! [`ArticulatedInertia::solve`] returns [`MathError::NotPositive`] with the pivot if it is not definite.
//!
//! # Tested by
//! `blocks_multiply_like_the_6x6`, `solve_agrees_with_the_6x6_cholesky`,
//! `eliminated_joint_direction_carries_no_force`.

use super::{Force, Motion, transform::blocks};
use crate::{
    MathError, Sym3,
    small::{Cholesky, Mat6, checked_solution},
};
use glam::{DMat3, DVec3};
use std::ops::{Add, AddAssign, Mul, Sub};

/// Symmetric spatial inertia of any kind, at the origin of some frame and in its axes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ArticulatedInertia {
    /// J: moment per angular acceleration, kg·m².
    pub angular: Sym3,
    /// H: moment per linear acceleration, kg·m; its transpose gives force per angular acceleration.
    pub coupling: DMat3,
    /// M: force per linear acceleration, kg.
    pub linear: Sym3,
}

impl ArticulatedInertia {
    /// All entries zero.
    pub const ZERO: Self = Self { angular: Sym3::ZERO, coupling: DMat3::ZERO, linear: Sym3::ZERO };

    /// The force for an acceleration: I a.
    #[inline]
    #[must_use]
    pub fn mul_motion(&self, a: Motion) -> Force {
        let h = self.coupling;
        let transposed =
            DVec3::new(h.x_axis.dot(a.angular), h.y_axis.dot(a.angular), h.z_axis.dot(a.angular));
        Force { moment: self.angular * a.angular + h * a.linear, linear: transposed + self.linear * a.linear }
    }

    /// I − s U Uᵀ: takes a joint out when U = I S and s = 1 / (Sᵀ I S).
    #[inline]
    #[must_use]
    pub fn minus_outer(&self, u: Force, s: f64) -> Self {
        let (n, f) = (u.moment * s, u.linear);
        Self {
            angular: self.angular - Sym3::outer(u.moment) * s,
            coupling: self.coupling - DMat3::from_cols(n * f.x, n * f.y, n * f.z),
            linear: self.linear - Sym3::outer(f) * s,
        }
    }

    /// The acceleration a with I a = f, for a floating base or a free body with joints below it.
    ///
    /// # Errors
    /// [`MathError::NotPositive`] with the pivot of the block that is not definite, [`MathError::NonFinite`].
    #[inline]
    pub fn solve(&self, f: Force) -> Result<Motion, MathError> {
        let h = self.coupling;
        let inverse = self.linear.inverse()?;
        // H M⁻¹, whose rows times the rows of H give the Schur complement.
        let hm = DMat3::from_cols(h * inverse.col_x(), h * inverse.col_y(), h * inverse.col_z());
        let schur = self.angular - Sym3::from_mat3(hm * h.transpose());
        let factors = Cholesky::factor(&schur.to_rows())?;
        let angular = DVec3::from_array(factors.solve((f.moment - hm * f.linear).to_array()));
        let transposed = DVec3::new(h.x_axis.dot(angular), h.y_axis.dot(angular), h.z_axis.dot(angular));
        let x = Motion { angular, linear: inverse * (f.linear - transposed) };
        checked_solution(f.to_array(), x.to_array()).map(Motion::from_array)
    }

    /// All 36 entries, angular first.
    #[must_use]
    pub fn to_mat6(&self) -> Mat6 {
        blocks(self.angular.to_mat3(), self.coupling, self.coupling.transpose(), self.linear.to_mat3())
    }

    /// From the 36 entries of a symmetric 6x6, angular first; the symmetric part is taken.
    #[must_use]
    pub fn from_mat6(m: &Mat6) -> Self {
        let block = |r: usize, c: usize| {
            DMat3::from_cols_array_2d(&std::array::from_fn(|j| std::array::from_fn(|i| m[r + i][c + j])))
        };
        Self {
            angular: Sym3::from_mat3(block(0, 0)),
            coupling: (block(0, 3) + block(3, 0).transpose()) * 0.5,
            linear: Sym3::from_mat3(block(3, 3)),
        }
    }

    /// True if all 21 numbers are finite.
    #[inline]
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.angular.is_finite() && self.coupling.is_finite() && self.linear.is_finite()
    }
}

impl Add for ArticulatedInertia {
    type Output = Self;

    #[inline]
    fn add(self, o: Self) -> Self {
        Self {
            angular: self.angular + o.angular,
            coupling: self.coupling + o.coupling,
            linear: self.linear + o.linear,
        }
    }
}

impl AddAssign for ArticulatedInertia {
    #[inline]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl Sub for ArticulatedInertia {
    type Output = Self;

    #[inline]
    fn sub(self, o: Self) -> Self {
        Self {
            angular: self.angular - o.angular,
            coupling: self.coupling - o.coupling,
            linear: self.linear - o.linear,
        }
    }
}

impl Mul<Motion> for ArticulatedInertia {
    type Output = Force;

    #[inline]
    fn mul(self, a: Motion) -> Force {
        self.mul_motion(a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        small::{Lu, mul_vec, samples},
        spatial::RigidInertia,
        testkit::SplitMix64,
    };

    fn any(random: &mut SplitMix64) -> (ArticulatedInertia, Mat6) {
        let m = samples::positive_definite::<6>(random);
        (ArticulatedInertia::from_mat6(&m), m)
    }

    #[test]
    fn blocks_multiply_like_the_6x6() {
        let mut random = SplitMix64(151);
        for _ in 0..2000 {
            let (i, m) = any(&mut random);
            assert!(samples::distance(&i.to_mat6(), &m) < 1e-15 * 4.0);
            let a = Motion::new(random.vec3(1.0), random.vec3(1.0));
            let (x, y) = ((i * a).to_array(), mul_vec(&m, a.to_array()));
            assert!((0..6).all(|k| (x[k] - y[k]).abs() < 1e-14));
            let rigid = RigidInertia::from_com(2.0, random.vec3(1.0), Sym3::from_scalar(0.7));
            let (x, y) = ((ArticulatedInertia::from(rigid) * a).to_array(), (rigid * a).to_array());
            assert!((0..6).all(|k| (x[k] - y[k]).abs() < 1e-14));
            assert_eq!(ArticulatedInertia::from(rigid).to_mat6(), rigid.to_mat6());
            assert_eq!((i + rigid.into()) - i + i, i + rigid.into());
        }
    }

    // proves: FON-06
    #[test]
    fn solve_agrees_with_the_6x6_cholesky() {
        let mut random = SplitMix64(152);
        for _ in 0..5000 {
            let (i, m) = any(&mut random);
            let f = Force::new(random.vec3(1.0), random.vec3(1.0));
            let condition = 1.0 / Lu::factor(&m).unwrap().reciprocal_condition(&m);
            let a = i.solve(f).unwrap();
            let reference = Cholesky::factor(&m).unwrap().solve(f.to_array());
            let residual = i * a - f;
            assert!(residual.moment.length() + residual.linear.length() < 1e-14 * condition);
            assert!((0..6).all(|k| (a.to_array()[k] - reference[k]).abs() < 1e-13 * condition));
        }
        let (i, _) = any(&mut random);
        let flat = ArticulatedInertia { linear: Sym3::ZERO, ..i };
        assert!(matches!(flat.solve(Force::ZERO), Err(MathError::NotPositive { index: 0, .. })));
        let bad = ArticulatedInertia { linear: Sym3::from_scalar(f64::NAN), ..i };
        assert!(matches!(bad.solve(Force::ZERO), Err(MathError::NonFinite { .. })));
        let bad = ArticulatedInertia { coupling: DMat3::from_diagonal(DVec3::NAN), ..i };
        assert!(bad.solve(Force::ZERO).is_err());
    }

    #[test]
    fn eliminated_joint_direction_carries_no_force() {
        let mut random = SplitMix64(153);
        for _ in 0..2000 {
            let (i, m) = any(&mut random);
            let s = Motion::new(random.unit_vec3(), random.vec3(1.0));
            let u = i * s;
            let d = u.dot(s);
            let reduced = i.minus_outer(u, 1.0 / d);
            let left = reduced * s;
            assert!(left.moment.length() + left.linear.length() < 1e-13);
            let u = u.to_array();
            let full = std::array::from_fn(|r| std::array::from_fn(|c| m[r][c] - u[r] * u[c] / d));
            assert!(samples::distance(&reduced.to_mat6(), &full) < 1e-13);
        }
    }
}
