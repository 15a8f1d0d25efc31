//! Uniform cubic B-splines.

use super::cubic::CubicChain;
use super::finite_points;
use crate::MathError;
use glam::DVec3;

/// Bézier points of the piece with B-spline control points p, from
/// c(u) = ⅙ [(1-u)³ P₀ + (3u³ - 6u² + 4) P₁ + (-3u³ + 3u² + 3u + 1) P₂ + u³ P₃].
fn piece(p: [DVec3; 4]) -> [DVec3; 4] {
    [
        (p[0] + 4.0 * p[1] + p[2]) / 6.0,
        (2.0 * p[1] + p[2]) / 3.0,
        (p[1] + 2.0 * p[2]) / 3.0,
        (p[1] + 4.0 * p[2] + p[3]) / 6.0,
    ]
}

/// One piece of a uniform cubic B-spline, parameter 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct BSplineSegment {
    chain: CubicChain,
}

impl BSplineSegment {
    /// From four control points, metres.
    ///
    /// # Errors
    /// A control point that is not finite.
    pub fn new(points: [DVec3; 4]) -> Result<Self, MathError> {
        BSpline::open(&points).map(|spline| Self { chain: spline.chain })
    }
}

/// A uniform cubic B-spline: it passes near its control points, with continuous second derivative. The
/// whole part of the parameter is the number of the piece.
#[derive(Debug, Clone, PartialEq)]
pub struct BSpline {
    chain: CubicChain,
}

impl BSpline {
    /// Open spline: n control points (metres) give n - 3 pieces.
    ///
    /// # Errors
    /// Fewer than four control points, or one that is not finite.
    pub fn open(points: &[DVec3]) -> Result<Self, MathError> {
        finite_points("control point", points, 4)?;
        let pieces = points.windows(4).map(|p| piece([p[0], p[1], p[2], p[3]])).collect();
        Ok(Self { chain: CubicChain { pieces, closed: false } })
    }

    /// Closed spline: n control points (metres) give n pieces; the first begins near point 1.
    ///
    /// # Errors
    /// Fewer than three control points, or one that is not finite.
    pub fn closed(points: &[DVec3]) -> Result<Self, MathError> {
        finite_points("control point", points, 3)?;
        let n = points.len();
        let pieces = (0..n).map(|i| piece(std::array::from_fn(|k| points[(i + k) % n]))).collect();
        Ok(Self { chain: CubicChain { pieces, closed: true } })
    }
}

super::cubic::curve_of_chain!(BSpline, BSplineSegment);
