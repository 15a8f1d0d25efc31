//! Parametrised curves: position, derivatives and the closest point.
//!
//! ```
//! use sim_math::curve::{BSpline, Curve};
//! use sim_math::glam::DVec3;
//!
//! let track = BSpline::closed(&[DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.5), DVec3::Y])?;
//! let near = track.closest(DVec3::new(2.0, 0.3, 0.0))?;
//! let offset = DVec3::new(2.0, 0.3, 0.0) - near.point;
//! assert!(offset.dot(track.derivative(near.parameter)).abs() < 1e-12);
//! # Ok::<(), sim_math::MathError>(())
//! ```
//!
//! | curve | parameter | smoothness |
//! |---|---|---|
//! | [`Line`] | any number, in lengths of its direction | all derivatives |
//! | [`Segment`] | 0 to 1 | all |
//! | [`Circle`] | 0 to 2π, closed | all |
//! | [`BSplineSegment`], [`BSpline`] | 0 to the number of segments | two continuous derivatives |
//! | [`CSplineSegment`], [`CSpline`] | 0 to the number of segments | one continuous derivative |

mod b_spline;
mod c_spline;
mod circle;
mod cubic;
mod line;

pub use b_spline::{BSpline, BSplineSegment};
pub use c_spline::{CSpline, CSplineSegment, DEFAULT_TENSION};
pub use circle::Circle;
pub use line::{Line, Segment};

use crate::MathError;
use glam::DVec3;
use std::fmt::Debug;

/// The parameters for which a curve is defined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Domain {
    /// Least parameter; may be minus infinity.
    pub start: f64,
    /// Greatest parameter; may be infinity.
    pub end: f64,
    /// True if the curve goes on from `end` at `start`.
    pub closed: bool,
}

impl Domain {
    /// An interval with two ends.
    #[inline]
    #[must_use]
    pub const fn open(start: f64, end: f64) -> Self {
        Self { start, end, closed: false }
    }

    /// A period.
    #[inline]
    #[must_use]
    pub const fn closed(start: f64, end: f64) -> Self {
        Self { start, end, closed: true }
    }

    /// True if `s` is a parameter of the curve; on a closed curve every finite number is.
    #[inline]
    #[must_use]
    pub fn contains(&self, s: f64) -> bool {
        if self.closed { s.is_finite() } else { self.start <= s && s <= self.end }
    }

    /// The parameter in the interval that means the same point: wrapped on a closed curve, clamped to the
    /// nearer end on an open one.
    #[inline]
    #[must_use]
    pub fn wrap(&self, s: f64) -> f64 {
        if !self.closed {
            return s.clamp(self.start, self.end);
        }
        let period = self.end - self.start;
        let wrapped = self.start + (s - self.start).rem_euclid(period);
        // A tiny negative number is rounded up to the period itself.
        if wrapped >= self.end { self.start } else { wrapped }
    }
}

/// Where a curve comes closest to a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosestOnCurve {
    /// Parameter on the curve, within its domain.
    pub parameter: f64,
    /// The point of the curve, metres.
    pub point: DVec3,
    /// Its distance from the given point, metres.
    pub distance: f64,
}

/// A curve in some frame (usually that of the body it is fixed to), coordinates in metres.
///
/// Functions are pure: the same arguments give the same bits. Outside its domain an open curve continues
/// by the formula of its nearest piece and a closed curve repeats; a NaN parameter gives NaN.
/// Seen from outside the crate, a new curve needs these five functions and no registration.
pub trait Curve: Debug + Send + Sync {
    /// The parameters that make sense.
    fn domain(&self) -> Domain;

    /// Position at parameter `s`, metres.
    fn point(&self, s: f64) -> DVec3;

    /// First derivative with respect to the parameter.
    fn derivative(&self, s: f64) -> DVec3;

    /// Second derivative with respect to the parameter; at a knot where it jumps, the one of the piece that
    /// begins there.
    fn second_derivative(&self, s: f64) -> DVec3;

    /// The point of the whole curve that is closest to `target`. Of several equally close points the one
    /// returned depends on the input only.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] for a target that is not finite.
    fn closest(&self, target: DVec3) -> Result<ClosestOnCurve, MathError>;
}

/// `Ok` for at least `needed` points, all finite.
fn finite_points(what: &'static str, points: &[DVec3], needed: usize) -> Result<(), MathError> {
    if points.len() < needed {
        return Err(MathError::TooFew { what: "control points", needed, got: points.len() });
    }
    MathError::check_vectors(what, points)
}

#[cfg(test)]
mod tests;
