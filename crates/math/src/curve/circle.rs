//! Circles in space.

use super::{ClosestOnCurve, Curve, Domain};
use crate::{MathError, ops, rotation::frame_across};
use glam::DVec3;

/// A circle; the parameter is the angle in radians, counter-clockwise about its normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circle {
    center: DVec3,
    /// From the centre to the points at angle 0 and 90°, of length radius.
    x: DVec3,
    y: DVec3,
}

impl Circle {
    /// Circle around `center` (m) in the plane across `normal` (any length but zero), with `radius` (m).
    /// The direction of angle 0 depends on the normal only.
    ///
    /// # Errors
    /// A number that is not finite, a normal without length, a radius that is not positive.
    pub fn new(center: DVec3, normal: DVec3, radius: f64) -> Result<Self, MathError> {
        MathError::check_vector("center", center)?;
        MathError::check_positive("radius", 0, radius)?;
        let frame = frame_across(normal)?;
        Ok(Self { center, x: radius * frame.x_axis, y: radius * frame.y_axis })
    }
}

impl Curve for Circle {
    fn domain(&self) -> Domain {
        Domain::closed(0.0, std::f64::consts::TAU)
    }

    fn point(&self, s: f64) -> DVec3 {
        let (sin, cos) = ops::sin_cos(s);
        self.center + cos * self.x + sin * self.y
    }

    fn derivative(&self, s: f64) -> DVec3 {
        let (sin, cos) = ops::sin_cos(s);
        cos * self.y - sin * self.x
    }

    fn second_derivative(&self, s: f64) -> DVec3 {
        let (sin, cos) = ops::sin_cos(s);
        -cos * self.x - sin * self.y
    }

    /// On the axis all points are equally close; angle 0 is returned.
    fn closest(&self, target: DVec3) -> Result<ClosestOnCurve, MathError> {
        let offset = MathError::check_vector("target", target)? - self.center;
        let parameter = self.domain().wrap(ops::atan2(offset.dot(self.y), offset.dot(self.x)));
        let point = self.point(parameter);
        Ok(ClosestOnCurve { parameter, point, distance: (target - point).length() })
    }
}
