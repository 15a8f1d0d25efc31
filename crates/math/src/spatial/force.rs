//! Force vectors: wrenches, impulses and momenta.

use glam::DVec3;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A force vector (n; f), moment first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Force {
    /// Moment n about the reference point, N·m (or N·m·s for an impulse).
    pub moment: DVec3,
    /// Force f, N (or N·s for an impulse).
    pub linear: DVec3,
}

impl Force {
    /// All six numbers zero.
    pub const ZERO: Self = Self { moment: DVec3::ZERO, linear: DVec3::ZERO };

    /// From its two halves.
    #[inline]
    #[must_use]
    pub const fn new(moment: DVec3, linear: DVec3) -> Self {
        Self { moment, linear }
    }

    /// From six numbers, angular part first.
    #[inline]
    #[must_use]
    pub const fn from_array(x: [f64; 6]) -> Self {
        Self { moment: DVec3::new(x[0], x[1], x[2]), linear: DVec3::new(x[3], x[4], x[5]) }
    }

    /// Six numbers, angular part first.
    #[inline]
    #[must_use]
    pub const fn to_array(self) -> [f64; 6] {
        [self.moment.x, self.moment.y, self.moment.z, self.linear.x, self.linear.y, self.linear.z]
    }

    /// True if all six numbers are finite.
    #[inline]
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.moment.is_finite() && self.linear.is_finite()
    }

    /// A pure force acting at `offset` from the reference point.
    #[inline]
    #[must_use]
    pub fn at_offset(offset: DVec3, force: DVec3) -> Self {
        Self { moment: offset.cross(force), linear: force }
    }

    /// The same wrench with moments about the point at `offset` from the present one, same axes.
    #[inline]
    #[must_use]
    pub fn shifted(self, offset: DVec3) -> Self {
        Self { moment: self.moment - offset.cross(self.linear), linear: self.linear }
    }

    /// Power n·ω + f·v delivered along a motion given at the same point in the same axes, W.
    #[inline]
    #[must_use]
    pub fn dot(self, motion: crate::spatial::Motion) -> f64 {
        self.moment.dot(motion.angular) + self.linear.dot(motion.linear)
    }
}

impl Add for Force {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self { moment: self.moment + other.moment, linear: self.linear + other.linear }
    }
}

impl AddAssign for Force {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Force {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { moment: self.moment - other.moment, linear: self.linear - other.linear }
    }
}

impl SubAssign for Force {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Neg for Force {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self { moment: -self.moment, linear: -self.linear }
    }
}

impl Mul<f64> for Force {
    type Output = Self;

    #[inline]
    fn mul(self, s: f64) -> Self {
        Self { moment: self.moment * s, linear: self.linear * s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spatial::Motion;

    #[test]
    fn power_does_not_depend_on_the_reference_point() {
        let force = Force::new(DVec3::new(0.3, -1.0, 2.0), DVec3::new(4.0, 0.1, -0.7));
        let motion = Motion::new(DVec3::new(-0.2, 0.9, 1.1), DVec3::new(0.5, 2.0, -3.0));
        let offset = DVec3::new(0.7, -0.4, 1.3);
        let here = force.dot(motion);
        let there = force.shifted(offset).dot(motion.shifted(offset));
        assert!((here - there).abs() < 1e-14 * here.abs().max(1.0));
    }

    #[test]
    fn a_force_at_an_offset_has_no_moment_there() {
        let offset = DVec3::new(0.7, -0.4, 1.3);
        let force = Force::at_offset(offset, DVec3::new(1.0, 2.0, 3.0)).shifted(offset);
        assert!(force.moment.length() < 1e-15);
    }
}
