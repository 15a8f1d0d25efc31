//! Motion vectors: twists, spatial velocities and accelerations.

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
