//! Straight lines and segments.

use super::{ClosestOnCurve, Curve, Domain};
use crate::MathError;
use glam::DVec3;

/// An infinite straight line, origin + s direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    origin: DVec3,
    direction: DVec3,
}

impl Line {
    /// Line through `origin` (m) along `direction` (m per unit of the parameter, any length but zero).
    ///
    /// # Errors
    /// A number that is not finite, or a direction without length.
    pub fn new(origin: DVec3, direction: DVec3) -> Result<Self, MathError> {
        MathError::check_vector("origin", origin)?;
        MathError::check_vector("direction", direction)?;
        let value = direction.length_squared();
        if !(value > 0.0 && value.is_finite()) {
            return Err(MathError::NotPositive { what: "squared length of direction", index: 0, value });
        }
        Ok(Self { origin, direction })
    }

    /// Parameter of the point of the infinite line that is closest.
    fn foot(&self, target: DVec3) -> f64 {
        (target - self.origin).dot(self.direction) / self.direction.length_squared()
    }
}

impl Curve for Line {
    fn domain(&self) -> Domain {
        Domain::open(f64::NEG_INFINITY, f64::INFINITY)
    }

    fn point(&self, s: f64) -> DVec3 {
        self.origin + s * self.direction
    }

    fn derivative(&self, _s: f64) -> DVec3 {
        self.direction
    }

    fn second_derivative(&self, _s: f64) -> DVec3 {
        DVec3::ZERO
    }

    fn closest(&self, target: DVec3) -> Result<ClosestOnCurve, MathError> {
        let parameter = self.foot(MathError::check_vector("target", target)?);
        let point = self.point(parameter);
        Ok(ClosestOnCurve { parameter, point, distance: (target - point).length() })
    }
}

/// A straight segment from a (s = 0) to b (s = 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    line: Line,
    end: DVec3,
}

impl Segment {
    /// Segment from `a` to `b`, metres.
    ///
    /// # Errors
    /// A number that is not finite, or ends that coincide.
    pub fn new(a: DVec3, b: DVec3) -> Result<Self, MathError> {
        MathError::check_vector("end b", b)?;
        Ok(Self { line: Line::new(a, b - a)?, end: b })
    }
}

impl Curve for Segment {
    fn domain(&self) -> Domain {
        Domain::open(0.0, 1.0)
    }

    fn point(&self, s: f64) -> DVec3 {
        // From the nearer end, so that s = 1 gives b exactly.
        if s <= 0.5 { self.line.point(s) } else { self.end - (1.0 - s) * self.line.direction }
    }

    fn derivative(&self, _s: f64) -> DVec3 {
        self.line.direction
    }

    fn second_derivative(&self, _s: f64) -> DVec3 {
        DVec3::ZERO
    }

    fn closest(&self, target: DVec3) -> Result<ClosestOnCurve, MathError> {
        let parameter = self.line.foot(MathError::check_vector("target", target)?).clamp(0.0, 1.0);
        let point = self.point(parameter);
        Ok(ClosestOnCurve { parameter, point, distance: (target - point).length() })
    }
}
