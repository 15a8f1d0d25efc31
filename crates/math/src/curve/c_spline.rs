//! Cardinal splines: cubic, through their points.

use super::cubic::CubicChain;
use super::finite_points;
use crate::MathError;
use glam::DVec3;

/// Tension of a Catmull-Rom spline: the tangent at a point is half the chord between its neighbours.
pub const DEFAULT_TENSION: f64 = 0.5;

/// Bézier points of the piece from p1 to p2, whose tangents are t (p2 - p0) and t (p3 - p1).
fn piece(p: [DVec3; 4], tension: f64) -> [DVec3; 4] {
    let third = tension / 3.0;
    [p[1], p[1] + third * (p[2] - p[0]), p[2] - third * (p[3] - p[1]), p[2]]
}

fn check(points: &[DVec3], needed: usize, tension: f64) -> Result<(), MathError> {
    MathError::check_finite("tension", &[tension])?;
    finite_points("control point", points, needed)
}

/// One piece of a cardinal spline, from the second to the third of four points, parameter 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct CSplineSegment {
    chain: CubicChain,
}

impl CSplineSegment {
    /// From four points (metres) and a tension ([`DEFAULT_TENSION`] for Catmull-Rom, 0 for a straight piece).
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn new(points: [DVec3; 4], tension: f64) -> Result<Self, MathError> {
        check(&points, 4, tension)?;
        let chain = CubicChain { pieces: vec![piece(points, tension)], closed: false };
        Ok(Self { chain })
    }
}

/// A cardinal spline through all its points: c(i) is point i, with continuous first derivative.
#[derive(Debug, Clone, PartialEq)]
pub struct CSpline {
    chain: CubicChain,
}

impl CSpline {
    /// Open spline: n points (metres) give n - 1 pieces. Beyond an end it acts as if there were one more
    /// point, the mirror image of the last but one.
    ///
    /// # Errors
    /// Fewer than two points, or a number that is not finite.
    pub fn open(points: &[DVec3], tension: f64) -> Result<Self, MathError> {
        check(points, 2, tension)?;
        let n = points.len();
        let before = 2.0 * points[0] - points[1];
        let after = 2.0 * points[n - 1] - points[n - 2];
        let at = |i: usize| if i == 0 { before } else { points.get(i - 1).copied().unwrap_or(after) };
        let pieces = (0..n - 1).map(|i| piece([at(i), at(i + 1), at(i + 2), at(i + 3)], tension)).collect();
        Ok(Self { chain: CubicChain { pieces, closed: false } })
    }

    /// Closed spline: n points (metres) give n pieces.
    ///
    /// # Errors
    /// Fewer than three points, or a number that is not finite.
    pub fn closed(points: &[DVec3], tension: f64) -> Result<Self, MathError> {
        check(points, 3, tension)?;
        let n = points.len();
        let pieces =
            (0..n).map(|i| piece(std::array::from_fn(|k| points[(i + n + k - 1) % n]), tension)).collect();
        Ok(Self { chain: CubicChain { pieces, closed: true } })
    }
}

super::cubic::curve_of_chain!(CSpline, CSplineSegment);
