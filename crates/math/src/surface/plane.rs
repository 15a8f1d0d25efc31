//! Planes.

use super::{ClosestOnSurface, Surface};
use crate::MathError;
use crate::curve::Domain;
use crate::rotation::frame_across;
use glam::DVec3;

/// An infinite plane, origin + u U + v V.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    origin: DVec3,
    u: DVec3,
    v: DVec3,
    normal: DVec3,
}

/// Smallest sine of the angle between the axes that still gives a plane.
const LEAST_SINE: f64 = 1e-12;

impl Plane {
    /// Plane through `origin` (m) spanned by `u` and `v` (m per unit of parameter), which need be neither
    /// unit nor perpendicular.
    ///
    /// # Errors
    /// A number that is not finite, or axes that are zero or parallel (sine of the angle below 1e-12).
    pub fn from_axes(origin: DVec3, u: DVec3, v: DVec3) -> Result<Self, MathError> {
        MathError::check_vector("origin", origin)?;
        MathError::check_vector("u axis", u)?;
        MathError::check_vector("v axis", v)?;
        let what = "sine of the angle between the plane's axes";
        let (Some(u_unit), Some(v_unit)) = (u.try_normalize(), v.try_normalize()) else {
            return Err(MathError::NotPositive { what, index: 0, value: 0.0 });
        };
        let cross = u_unit.cross(v_unit);
        let value = cross.length();
        if value < LEAST_SINE {
            return Err(MathError::NotPositive { what, index: 0, value });
        }
        Ok(Self { origin, u, v, normal: cross / value })
    }

    /// Plane through `origin` (m) across `normal` (any length but zero), with unit axes that depend on the
    /// normal only.
    ///
    /// # Errors
    /// A number that is not finite, or a normal without length.
    pub fn from_normal(origin: DVec3, normal: DVec3) -> Result<Self, MathError> {
        MathError::check_vector("origin", origin)?;
        let frame = frame_across(normal)?;
        Ok(Self { origin, u: frame.x_axis, v: frame.y_axis, normal: frame.z_axis })
    }
}

impl Surface for Plane {
    fn domain(&self) -> [Domain; 2] {
        [Domain::open(f64::NEG_INFINITY, f64::INFINITY); 2]
    }

    fn point(&self, u: f64, v: f64) -> DVec3 {
        self.origin + u * self.u + v * self.v
    }

    fn derivatives(&self, _u: f64, _v: f64) -> [DVec3; 2] {
        [self.u, self.v]
    }

    fn second_derivatives(&self, _u: f64, _v: f64) -> [DVec3; 3] {
        [DVec3::ZERO; 3]
    }

    fn normal(&self, _u: f64, _v: f64) -> DVec3 {
        self.normal
    }

    fn closest(&self, target: DVec3) -> Result<ClosestOnSurface, MathError> {
        let e = MathError::check_vector("target", target)? - self.origin;
        // Dual basis: U* = V × n / (U · (V × n)) has U* · U = 1 and U* · V = 0.
        let (u_dual, v_dual) = (self.v.cross(self.normal), self.normal.cross(self.u));
        let u = e.dot(u_dual) / self.u.dot(u_dual);
        let v = e.dot(v_dual) / self.v.dot(v_dual);
        let point = self.point(u, v);
        Ok(ClosestOnSurface { u, v, point, distance: (target - point).length() })
    }
}
