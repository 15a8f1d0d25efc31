//! Parametrised surfaces: position, derivatives, normal and the closest point.
//!
//! ```
//! use sim_math::Pose;
//! use sim_math::glam::DVec3;
//! use sim_math::surface::{Ellipsoid, Surface};
//!
//! let egg = Ellipsoid::new(Pose::IDENTITY, DVec3::new(1.0, 1.0, 1.5))?;
//! let near = egg.closest(DVec3::new(0.0, 3.0, 0.0))?;
//! assert!((near.point - DVec3::Y).length() < 1e-15);
//! assert!((near.distance - 2.0).abs() < 1e-15);
//! # Ok::<(), sim_math::MathError>(())
//! ```

mod ellipsoid;
mod plane;

pub use ellipsoid::Ellipsoid;
pub use plane::Plane;

use crate::MathError;
use crate::curve::Domain;
use glam::DVec3;
use std::fmt::Debug;

/// Where a surface comes closest to a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosestOnSurface {
    /// First parameter.
    pub u: f64,
    /// Second parameter.
    pub v: f64,
    /// The point of the surface, metres.
    pub point: DVec3,
    /// Its distance from the given point, metres.
    pub distance: f64,
}

/// A surface in some frame (usually that of the body it is fixed to), coordinates in metres.
///
/// Functions are pure: the same arguments give the same bits. A NaN parameter gives NaN.
pub trait Surface: Debug + Send + Sync {
    /// The parameters that make sense, u and v.
    fn domain(&self) -> [Domain; 2];

    /// Position, metres.
    fn point(&self, u: f64, v: f64) -> DVec3;

    /// First derivatives by u and by v.
    fn derivatives(&self, u: f64, v: f64) -> [DVec3; 2];

    /// Second derivatives by uu, uv and vv.
    fn second_derivatives(&self, u: f64, v: f64) -> [DVec3; 3];

    /// Unit normal, on the side of ∂u × ∂v; defined also where that product vanishes (poles).
    fn normal(&self, u: f64, v: f64) -> DVec3;

    /// The point of the whole surface that is closest to `target`. Of several equally close points the one
    /// returned depends on the input only.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] for a target that is not finite.
    fn closest(&self, target: DVec3) -> Result<ClosestOnSurface, MathError>;

    /// True if (u, v) is in the domain.
    fn contains(&self, u: f64, v: f64) -> bool {
        let [du, dv] = self.domain();
        du.contains(u) && dv.contains(v)
    }
}

#[cfg(test)]
mod tests;
