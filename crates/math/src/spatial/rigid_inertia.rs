//! Inertia of one rigid body as ten numbers: mass, first moment and inertia tensor at the origin.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), 2.13; Arnold 1997, eq. 2.1.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `mass` m | | kg |
//! | `first_moment` h = m c | c is the centre of mass seen from the origin | kg·m |
//! | `inertia_at_origin` I | `I_com` + m (c·c 1 − ccᵀ) | kg·m² |
//!
//! # Formula
//! ```text
//! [n; f] = [ I   h̃  ] [ω; v]      n = I ω + h × v      f = m v − h × ω
//!          [ h̃ᵀ  m1 ]
//! inverse: with the wrench moved to the centre of mass, α = I_com⁻¹ n_c, a_c = f/m, moved back
//! ```
//! # Cost
//! Product with a motion 24 multiplications; sum of two 10 additions; solve one Cholesky of a 3x3.
//!
//! # Numerics
//! `I_com` = I − m(c·c 1 − ccᵀ) cancels when the origin is far away from the body: keep origins within a few
//! body lengths if the inverse is needed.
//!
//! # Failure
//! [`RigidInertia::new`] refuses what no body can have: mass not positive, a moment below zero, the sum of two
//! principal moments below the third. [`RigidInertia::solve`] refuses a tensor that is only semi-definite.
//!
//! # Tested by
//! `both_constructions_agree_and_energy_splits`, `solve_inverts_the_product`, `impossible_bodies_are_refused`,
//! `sum_is_the_inertia_of_the_union`.

use super::{ArticulatedInertia, Force, Motion, transform::blocks};
use crate::{
    MathError, Sym3,
    mass::check_body,
    rotation::cross_matrix,
    small::{Cholesky, Mat6, checked_solution},
};
use glam::{DMat3, DVec3};
use std::ops::{Add, AddAssign, Mul, Sub};

/// Spatial inertia of a rigid body, at the origin of some frame and in its axes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RigidInertia {
    /// Mass m, kg.
    pub mass: f64,
    /// First moment h = m c, kg·m, with c the centre of mass.
    pub first_moment: DVec3,
    /// Inertia tensor about the origin, kg·m².
    pub inertia_at_origin: Sym3,
}

impl RigidInertia {
    /// No mass: the neutral element of addition.
    pub const ZERO: Self = Self { mass: 0.0, first_moment: DVec3::ZERO, inertia_at_origin: Sym3::ZERO };

    /// From mass (kg), centre of mass (m) and inertia tensor about the centre of mass (kg·m²).
    ///
    /// # Errors
    /// [`MathError::NonFinite`]; [`MathError::NotPositive`] for the mass; [`MathError::Unphysical`] if a principal
    /// moment is below zero or above the sum of the other two. Zero moments are allowed: a rod has one, a point
    /// three.
    pub fn new(mass: f64, center_of_mass: DVec3, inertia: Sym3) -> Result<Self, MathError> {
        check_body(mass, center_of_mass, inertia)?;
        Ok(Self::from_com(mass, center_of_mass, inertia))
    }

    /// As [`RigidInertia::new`] for values known to be good.
    #[inline]
    #[must_use]
    pub fn from_com(mass: f64, center_of_mass: DVec3, inertia: Sym3) -> Self {
        Self {
            mass,
            first_moment: center_of_mass * mass,
            inertia_at_origin: inertia + Sym3::point_inertia(center_of_mass) * mass,
        }
    }

    /// From mass (kg), centre of mass (m) and inertia tensor about the origin (kg·m²), known to be good.
    #[inline]
    #[must_use]
    pub fn from_origin(mass: f64, center_of_mass: DVec3, inertia_at_origin: Sym3) -> Self {
        Self { mass, first_moment: center_of_mass * mass, inertia_at_origin }
    }

    /// A point mass, kg, at `position`.
    #[inline]
    #[must_use]
    pub fn from_point(mass: f64, position: DVec3) -> Self {
        Self::from_com(mass, position, Sym3::ZERO)
    }

    /// Centre of mass, m; not finite without mass.
    #[inline]
    #[must_use]
    pub fn center_of_mass(&self) -> DVec3 {
        self.first_moment / self.mass
    }

    /// Inertia tensor about the centre of mass, kg·m²; not finite without mass.
    #[inline]
    #[must_use]
    pub fn inertia(&self) -> Sym3 {
        self.inertia_at_origin - Sym3::point_inertia(self.first_moment) * (1.0 / self.mass)
    }

    /// Momentum of a body with velocity `v`, or the force for an acceleration.
    #[inline]
    #[must_use]
    pub fn mul_motion(&self, v: Motion) -> Force {
        Force {
            moment: self.inertia_at_origin * v.angular + self.first_moment.cross(v.linear),
            linear: v.linear * self.mass - self.first_moment.cross(v.angular),
        }
    }

    /// v ×* I v: the force that keeps velocity `v` constant in moving axes.
    #[inline]
    #[must_use]
    pub fn bias_force(&self, v: Motion) -> Force {
        v.cross_force(self.mul_motion(v))
    }

    /// ½ vᵀ I v, J.
    #[inline]
    #[must_use]
    pub fn kinetic_energy(&self, v: Motion) -> f64 {
        0.5 * self.mul_motion(v).dot(v)
    }

    /// The motion x with I x = f: acceleration for a force, velocity change for an impulse.
    ///
    /// # Errors
    /// [`MathError::NotPositive`] for a mass or a Cholesky pivot of the central tensor, [`MathError::NonFinite`].
    #[inline]
    pub fn solve(&self, f: Force) -> Result<Motion, MathError> {
        MathError::check_positive("mass", 0, self.mass)?;
        let c = self.center_of_mass();
        let at_com = f.shifted(c);
        let factors = Cholesky::factor(&self.inertia().to_rows())?;
        let angular = DVec3::from_array(factors.solve(at_com.moment.to_array()));
        let x = Motion { angular, linear: f.linear / self.mass }.shifted(-c);
        checked_solution(f.to_array(), x.to_array()).map(Motion::from_array)
    }

    /// All 36 entries, angular first.
    #[must_use]
    pub fn to_mat6(&self) -> Mat6 {
        let h = cross_matrix(self.first_moment);
        blocks(
            self.inertia_at_origin.to_mat3(),
            h,
            h.transpose(),
            DMat3::from_diagonal(DVec3::splat(self.mass)),
        )
    }

    /// True if all ten numbers are finite.
    #[inline]
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.mass.is_finite() && self.first_moment.is_finite() && self.inertia_at_origin.is_finite()
    }
}

impl Add for RigidInertia {
    type Output = Self;

    /// Two bodies welded together, both given in the same frame.
    #[inline]
    fn add(self, o: Self) -> Self {
        Self {
            mass: self.mass + o.mass,
            first_moment: self.first_moment + o.first_moment,
            inertia_at_origin: self.inertia_at_origin + o.inertia_at_origin,
        }
    }
}

impl AddAssign for RigidInertia {
    #[inline]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl Sub for RigidInertia {
    type Output = Self;

    /// One body cut out of another, both given in the same frame.
    #[inline]
    fn sub(self, o: Self) -> Self {
        Self {
            mass: self.mass - o.mass,
            first_moment: self.first_moment - o.first_moment,
            inertia_at_origin: self.inertia_at_origin - o.inertia_at_origin,
        }
    }
}

impl Mul<Motion> for RigidInertia {
    type Output = Force;

    #[inline]
    fn mul(self, v: Motion) -> Force {
        self.mul_motion(v)
    }
}

impl From<RigidInertia> for ArticulatedInertia {
    #[inline]
    fn from(i: RigidInertia) -> Self {
        Self {
            angular: i.inertia_at_origin,
            coupling: cross_matrix(i.first_moment),
            linear: Sym3::from_scalar(i.mass),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        assert_close,
        small::mul_vec,
        testkit::{SpdInertia, SplitMix64, UnitQuat, Vector, check},
    };

    fn body(i: SpdInertia, c: Vector, q: UnitQuat) -> (DVec3, Sym3) {
        // Centres within a metre or so: far origins are a question of cancellation, tested apart.
        (c.0 * 0.1, Sym3::from_diagonal(i.moments).congruence(DMat3::from_quat(q.0)))
    }

    // proves: ARN-03
    #[test]
    fn both_constructions_agree_and_energy_splits() {
        fn property(i: SpdInertia, c: Vector, q: UnitQuat, w: Vector, v: Vector) -> bool {
            let (c, tensor) = body(i, c, q);
            let m = i.mass;
            let from_com = RigidInertia::new(m, c, tensor).unwrap();
            // I = I_com + m d̃ d̃ᵀ by full matrices.
            let d = cross_matrix(c);
            let at_origin = Sym3::from_mat3(tensor.to_mat3() + d * d.transpose() * m);
            let from_origin = RigidInertia::from_origin(m, c, at_origin);
            let scale = at_origin.max_abs();
            let same = (from_com.inertia_at_origin - from_origin.inertia_at_origin).max_abs() < 1e-14 * scale
                && (from_com.inertia() - tensor).max_abs() < 1e-14 * scale
                && (from_com.center_of_mass() - c).length() < 1e-15 * 4.0 * (1.0 + c.length());
            let motion = Motion::new(w.0, v.0);
            let v_com = motion.velocity_at(c);
            let split = 0.5 * m * v_com.length_squared() + 0.5 * tensor.quadratic(w.0);
            // Terms of the size of m|v|² cancel between the blocks.
            let speed = v.0.length() + w.0.length() * c.length();
            let size = m * speed * speed + scale * w.0.length_squared();
            let energy = (from_com.kinetic_energy(motion) - split).abs() <= 1e-14 * size;
            let matrix = from_com.to_mat6();
            let product = mul_vec(&matrix, motion.to_array());
            let direct = from_com.mul_motion(motion).to_array();
            let products = (0..6).all(|k| (product[k] - direct[k]).abs() <= 1e-13 * (1.0 + size));
            same && energy && products && Cholesky::factor(&matrix).is_ok()
        }
        check(141, 20_000, property as fn(SpdInertia, Vector, UnitQuat, Vector, Vector) -> bool);
    }

    #[test]
    fn solve_inverts_the_product() {
        fn property(i: SpdInertia, c: Vector, q: UnitQuat, n: Vector, f: Vector) -> bool {
            let (c, tensor) = body(i, c, q);
            let inertia = RigidInertia::new(i.mass, c, tensor).unwrap();
            let force = Force::new(n.0, f.0);
            let motion = inertia.solve(force).unwrap();
            let reference = Cholesky::factor(&inertia.to_mat6()).unwrap().solve(force.to_array());
            let size = motion.to_array().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            // Moments of a plate are as small as 1e-4 of m c²: that is the condition of the 6x6.
            let agrees = (0..6).all(|k| (reference[k] - motion.to_array()[k]).abs() <= 1e-10 * size);
            let back = inertia.mul_motion(motion) - force;
            agrees && back.moment.length() + back.linear.length() < 1e-11 * (n.0.length() + f.0.length())
        }
        check(142, 20_000, property as fn(SpdInertia, Vector, UnitQuat, Vector, Vector) -> bool);
    }

    #[test]
    fn bias_force_vanishes_for_steady_spin_about_a_principal_axis() {
        let ball = RigidInertia::new(2.0, DVec3::ZERO, Sym3::from_scalar(0.3)).unwrap();
        let top =
            RigidInertia::new(2.0, DVec3::ZERO, Sym3::from_diagonal(DVec3::new(1.0, 2.0, 2.5))).unwrap();
        assert_eq!(ball.bias_force(Motion::new(DVec3::new(1.0, 2.0, 3.0), DVec3::ZERO)), Force::ZERO);
        assert_eq!(top.bias_force(Motion::new(DVec3::Y * 3.0, DVec3::ZERO)), Force::ZERO);
        let spin = DVec3::new(1.0, 2.0, 3.0);
        let bias = top.bias_force(Motion::new(spin, DVec3::ZERO)).moment;
        assert!((bias - spin.cross(top.inertia() * spin)).length() < 1e-15);
        // A point mass on a string: the centripetal force m ω² r towards the origin.
        let point = RigidInertia::from_point(3.0, DVec3::X * 2.0);
        let pull = point.bias_force(Motion::new(DVec3::Z * 5.0, DVec3::ZERO)).linear;
        assert_close!(pull.x, -3.0 * 25.0 * 2.0, rel = 1e-15);
    }

    #[test]
    fn sum_is_the_inertia_of_the_union() {
        let mut random = SplitMix64(143);
        for _ in 0..500 {
            let particles: Vec<_> =
                (0..12).map(|_| RigidInertia::from_point(random.range(0.1, 2.0), random.vec3(1.0))).collect();
            let all = particles.iter().fold(RigidInertia::ZERO, |s, p| s + *p);
            let (left, right) = particles.split_at(5);
            let part = |s: &[RigidInertia]| s.iter().fold(RigidInertia::ZERO, |s, p| s + *p);
            let difference = part(left) + part(right) - all;
            assert!(difference.inertia_at_origin.max_abs() < 1e-14 && difference.mass.abs() < 1e-14);
            let v = Motion::new(random.vec3(1.0), random.vec3(1.0));
            let energy = particles.iter().fold(0.0, |s, p| s + p.kinetic_energy(v));
            assert_close!(all.kinetic_energy(v), energy, rel = 1e-14);
        }
    }

    #[test]
    fn impossible_bodies_are_refused() {
        let good = Sym3::from_diagonal(DVec3::new(1.0, 1.0, 2.0));
        assert!(RigidInertia::new(1.0, DVec3::ZERO, good).is_ok());
        assert!(RigidInertia::new(1.0, DVec3::ONE, Sym3::ZERO).is_ok(), "a point mass");
        let rod = Sym3::from_diagonal(DVec3::new(0.0, 1.0, 1.0));
        let rod = rod.congruence(DMat3::from_quat(SplitMix64(144).unit_quat()));
        assert!(RigidInertia::new(1.0, DVec3::ONE, rod).is_ok(), "a rod");
        for mass in [0.0, -1.0] {
            let result = RigidInertia::new(mass, DVec3::ZERO, good);
            assert_eq!(result, Err(MathError::NotPositive { what: "mass", index: 0, value: mass }));
        }
        let negative = Sym3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
        let skewed = Sym3::from_diagonal(DVec3::new(1.0, 1.0, 2.1));
        for tensor in [negative, skewed] {
            let result = RigidInertia::new(1.0, DVec3::ZERO, tensor);
            assert_eq!(result, Err(MathError::Unphysical { moments: tensor.diagonal() }));
        }
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(RigidInertia::new(bad, DVec3::ZERO, good).is_err());
            assert!(RigidInertia::new(1.0, DVec3::splat(bad), good).is_err());
            assert!(RigidInertia::new(1.0, DVec3::ZERO, Sym3::from_scalar(bad)).is_err());
        }
        assert!(RigidInertia::ZERO.solve(Force::ZERO).is_err());
        assert!(RigidInertia::from_point(1.0, DVec3::X).solve(Force::ZERO).is_err());
    }
}
