//! Motion vectors: twists, spatial velocities and accelerations.

use super::Force;
use glam::DVec3;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A motion vector (ω; v), angular part first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Motion {
    /// Angular velocity ω, rad/s (or angular acceleration, rad/s²).
    pub angular: DVec3,
    /// Velocity of the body point at the reference point, m/s (or its acceleration, m/s²).
    pub linear: DVec3,
}

impl Motion {
    /// All six numbers zero.
    pub const ZERO: Self = Self { angular: DVec3::ZERO, linear: DVec3::ZERO };

    /// From its two halves.
    #[inline]
    #[must_use]
    pub const fn new(angular: DVec3, linear: DVec3) -> Self {
        Self { angular, linear }
    }

    /// From six numbers, angular part first.
    #[inline]
    #[must_use]
    pub const fn from_array(x: [f64; 6]) -> Self {
        Self { angular: DVec3::new(x[0], x[1], x[2]), linear: DVec3::new(x[3], x[4], x[5]) }
    }

    /// Six numbers, angular part first.
    #[inline]
    #[must_use]
    pub const fn to_array(self) -> [f64; 6] {
        [self.angular.x, self.angular.y, self.angular.z, self.linear.x, self.linear.y, self.linear.z]
    }

    /// Unit turning rate about an axis through the point at `offset` from the reference point: a hinge.
    ///
    /// `axis` is a unit vector; the result times an angular speed in rad/s is a velocity.
    #[inline]
    #[must_use]
    pub fn about_axis(axis: DVec3, offset: DVec3) -> Self {
        Self { angular: axis, linear: offset.cross(axis) }
    }

    /// Unit speed along an axis: a slider. The result times a speed in m/s is a velocity.
    #[inline]
    #[must_use]
    pub const fn along_axis(axis: DVec3) -> Self {
        Self { angular: DVec3::ZERO, linear: axis }
    }

    /// True if all six numbers are finite.
    #[inline]
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.angular.is_finite() && self.linear.is_finite()
    }

    /// Velocity of the body point at `offset` from the reference point: v + ω × r.
    #[inline]
    #[must_use]
    pub fn velocity_at(self, offset: DVec3) -> DVec3 {
        self.linear + self.angular.cross(offset)
    }

    /// The same motion referred to the point at `offset`, same axes.
    #[inline]
    #[must_use]
    pub fn shifted(self, offset: DVec3) -> Self {
        Self { angular: self.angular, linear: self.velocity_at(offset) }
    }

    /// Motion product v × m: the rate of change of a motion vector `m` that moves along with velocity `self`.
    ///
    /// (ω × `m_ω`; ω × `m_v` + v × `m_ω`), both at the same point in the same axes.
    #[inline]
    #[must_use]
    pub fn cross(self, m: Self) -> Self {
        Self {
            angular: self.angular.cross(m.angular),
            linear: self.angular.cross(m.linear) + self.linear.cross(m.angular),
        }
    }

    /// Force product v ×* f: the rate of change of a force vector `f` that moves along with velocity `self`.
    ///
    /// (ω × n + v × f; ω × f), both at the same point in the same axes. It is −(v×)ᵀ f.
    #[inline]
    #[must_use]
    pub fn cross_force(self, f: Force) -> Force {
        Force {
            moment: self.angular.cross(f.moment) + self.linear.cross(f.linear),
            linear: self.angular.cross(f.linear),
        }
    }

    /// Power f·v of a force given at the same point in the same axes, W.
    #[inline]
    #[must_use]
    pub fn dot(self, force: Force) -> f64 {
        force.dot(self)
    }
}

impl Add for Motion {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self { angular: self.angular + other.angular, linear: self.linear + other.linear }
    }
}

impl AddAssign for Motion {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Motion {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { angular: self.angular - other.angular, linear: self.linear - other.linear }
    }
}

impl SubAssign for Motion {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Neg for Motion {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self { angular: -self.angular, linear: -self.linear }
    }
}

impl Mul<f64> for Motion {
    type Output = Self;

    #[inline]
    fn mul(self, s: f64) -> Self {
        Self { angular: self.angular * s, linear: self.linear * s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{SplitMix64, Vector, check};

    #[test]
    fn products_are_dual_and_antisymmetric() {
        fn property(a: Vector, b: Vector, c: Vector, d: Vector, e: Vector, f: Vector) -> bool {
            let (v, m) = (Motion::new(a.0, b.0), Motion::new(c.0, d.0));
            let force = Force::new(e.0, f.0);
            // (v × m)·f = −m·(v ×* f), and v × v = 0.
            (force.dot(v.cross(m)) + v.cross_force(force).dot(m)).abs() < 1e-11
                && v.cross(m) == -m.cross(v)
                && v.cross(v) == Motion::ZERO
        }
        check(131, 10_000, property as fn(Vector, Vector, Vector, Vector, Vector, Vector) -> bool);
    }

    // proves: FON-05
    #[test]
    fn joint_axes_move_points_as_a_hinge_and_a_slider_do() {
        let mut random = SplitMix64(133);
        for _ in 0..1000 {
            let (axis, on_axis, x) = (random.unit_vec3(), random.vec3(2.0), random.vec3(2.0));
            let hinge = Motion::about_axis(axis, on_axis);
            assert!(hinge.velocity_at(on_axis + axis * 0.7).length() < 1e-15 * 8.0);
            assert!((hinge.velocity_at(x) - axis.cross(x - on_axis)).length() < 1e-15 * 8.0);
            assert_eq!(Motion::along_axis(axis).velocity_at(x), axis);
        }
    }

    #[test]
    fn products_obey_jacobi_and_commute_with_shifting() {
        let mut random = SplitMix64(132);
        for _ in 0..1000 {
            let mut any = || Motion::new(random.vec3(1.0), random.vec3(1.0));
            let (a, b, c) = (any(), any(), any());
            let jacobi = a.cross(b.cross(c)) + b.cross(c.cross(a)) + c.cross(a.cross(b));
            assert!(jacobi.angular.length() + jacobi.linear.length() < 1e-14);
            let (r, f) = (c.angular, Force::new(c.linear, b.linear));
            let moved = a.shifted(r).cross(b.shifted(r)) - a.cross(b).shifted(r);
            assert!(moved.angular.length() + moved.linear.length() < 1e-14);
            let moved = a.shifted(r).cross_force(f.shifted(r)) - a.cross_force(f).shifted(r);
            assert!(moved.moment.length() + moved.linear.length() < 1e-14);
        }
    }
}
