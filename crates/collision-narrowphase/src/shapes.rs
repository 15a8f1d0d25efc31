//! Smooth convex shapes beyond those of `sim-traits`: they enter a scene as `Shape::Convex`.

use sim_math::{
    glam::DVec3,
    mass::{Amount, MassError, MassProperties, solid},
};
use sim_traits::{Shape, ShapeError, SupportMap};
use std::{any::Any, sync::Arc};

fn length(shape: &'static str, parameter: &'static str, value: f64) -> Result<f64, ShapeError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(ShapeError::BadLength { shape, parameter, value })
    }
}

macro_rules! into_shape {
    ($($name:ident),+) => {$(
        impl From<$name> for Shape {
            fn from(shape: $name) -> Self {
                Self::Convex(Arc::new(shape))
            }
        }
    )+};
}

into_shape!(Frustum, Ellipsoid, Rounded);

impl From<crate::Polyhedron> for Shape {
    fn from(shape: crate::Polyhedron) -> Self {
        Self::Convex(Arc::new(shape))
    }
}

/// Truncated cone around the z axis: a flat disk at −h and one at +h. One of the radii may be zero: a cone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frustum {
    bottom: f64,
    top: f64,
    half_height: f64,
}

impl Frustum {
    /// From the radii at −h and +h and the half height h, metres.
    ///
    /// # Errors
    /// A negative or non-finite radius, both radii zero, a half height that is not positive and finite.
    pub fn new(bottom: f64, top: f64, half_height: f64) -> Result<Self, ShapeError> {
        let radius = |parameter: &'static str, value: f64| {
            if value == 0.0 { Ok(0.0) } else { length("frustum", parameter, value) }
        };
        let (bottom, top) = (radius("bottom", bottom)?, radius("top", top)?);
        length("frustum", "larger radius", bottom.max(top))?;
        Ok(Self { bottom, top, half_height: length("frustum", "half_height", half_height)? })
    }

    /// A cone with its base at −h and its apex at +h.
    ///
    /// # Errors
    /// Lengths that are not positive and finite.
    pub fn cone(radius: f64, half_height: f64) -> Result<Self, ShapeError> {
        Self::new(length("cone", "radius", radius)?, 0.0, half_height)
    }

    /// Radius at −h, metres.
    #[inline]
    #[must_use]
    pub const fn bottom(&self) -> f64 {
        self.bottom
    }

    /// Radius at +h, metres.
    #[inline]
    #[must_use]
    pub const fn top(&self) -> f64 {
        self.top
    }

    /// Half height h, metres.
    #[inline]
    #[must_use]
    pub const fn half_height(&self) -> f64 {
        self.half_height
    }

    /// The point nearest to `x`, which is `x` itself inside.
    #[must_use]
    pub(crate) fn nearest(&self, x: DVec3) -> DVec3 {
        let (h, across) = (self.half_height, x.with_z(0.0).length());
        // In the plane through the axis: the slant runs from the rim at the bottom, `out` is normal to it.
        let (run, rise) = (self.top - self.bottom, 2.0 * h);
        let (dx, dz) = (across - self.bottom, x.z + h);
        let squared = run * run + rise * rise;
        let (along, out) = ((run * dx + rise * dz) / squared, (rise * dx - run * dz) / squared);
        let (radius, z) = if out <= 0.0 && x.z.abs() <= h {
            return x;
        } else if out > 0.0 && (0.0..=1.0).contains(&along) {
            (self.bottom + along * run, along * rise - h)
        } else if x.z > h && across <= self.top {
            (across, h)
        } else if x.z < -h && across <= self.bottom {
            (across, -h)
        } else if along > 0.5 {
            (self.top, h)
        } else {
            (self.bottom, -h)
        };
        let scale = if across > 0.0 { radius / across } else { 0.0 };
        DVec3::new(scale * x.x, scale * x.y, z)
    }
}

impl SupportMap for Frustum {
    fn support(&self, direction: DVec3) -> DVec3 {
        let around = direction.with_z(0.0);
        let across = around.length();
        let outward = if across > 0.0 { around / across } else { DVec3::ZERO };
        let high = self.top * across + self.half_height * direction.z;
        let low = self.bottom * across - self.half_height * direction.z;
        if high >= low {
            (self.top * outward).with_z(self.half_height)
        } else {
            (self.bottom * outward).with_z(-self.half_height)
        }
    }

    fn bounding_radius(&self) -> f64 {
        let r = self.bottom.max(self.top);
        (r * r + self.half_height * self.half_height).sqrt()
    }

    fn mass_properties(&self, amount: Amount) -> Option<Result<MassProperties, MassError>> {
        Some(solid::frustum(self.bottom, self.top, self.half_height, amount))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        "frustum"
    }
}

/// Ellipsoid around the origin with its axes along x, y, z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ellipsoid {
    radii: DVec3,
}

impl Ellipsoid {
    /// From the three semi-axes, metres.
    ///
    /// # Errors
    /// A semi-axis that is not positive and finite.
    pub fn new(radii: DVec3) -> Result<Self, ShapeError> {
        for (value, parameter) in radii.to_array().into_iter().zip(["radii.x", "radii.y", "radii.z"]) {
            length("ellipsoid", parameter, value)?;
        }
        Ok(Self { radii })
    }

    /// Semi-axes, metres.
    #[inline]
    #[must_use]
    pub const fn radii(&self) -> DVec3 {
        self.radii
    }
}

impl SupportMap for Ellipsoid {
    fn support(&self, direction: DVec3) -> DVec3 {
        let scaled = self.radii * direction;
        self.radii * scaled.normalize_or_zero()
    }

    fn bounding_radius(&self) -> f64 {
        self.radii.max_element()
    }

    fn mass_properties(&self, amount: Amount) -> Option<Result<MassProperties, MassError>> {
        Some(solid::ellipsoid(self.radii, amount))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        "ellipsoid"
    }
}

/// A convex core with a ball rolled around it.
#[derive(Debug, Clone)]
pub struct Rounded {
    core: Arc<dyn SupportMap>,
    radius: f64,
}

impl Rounded {
    /// Around a core; a core that is rounded itself adds its radius.
    ///
    /// # Errors
    /// A radius that is not positive and finite.
    pub fn new(core: Arc<dyn SupportMap>, radius: f64) -> Result<Self, ShapeError> {
        Ok(Self { core, radius: length("rounded", "radius", radius)? })
    }

    /// What the ball is rolled around.
    #[must_use]
    pub fn core(&self) -> &Arc<dyn SupportMap> {
        &self.core
    }

    /// Of the ball, metres.
    #[inline]
    #[must_use]
    pub const fn radius(&self) -> f64 {
        self.radius
    }
}

impl SupportMap for Rounded {
    fn support(&self, direction: DVec3) -> DVec3 {
        self.core.support(direction) + self.radius * direction.normalize_or_zero()
    }

    fn core_radius(&self) -> f64 {
        self.core.core_radius() + self.radius
    }

    fn core_support(&self, direction: DVec3) -> DVec3 {
        self.core.core_support(direction)
    }

    fn bounding_radius(&self) -> f64 {
        self.core.bounding_radius() + self.radius
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        "rounded"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn bad_parameters_are_errors() {
        assert!(Frustum::new(1.0, 0.0, 1.0).is_ok());
        assert!(Frustum::new(0.0, 0.0, 1.0).is_err());
        assert!(Frustum::new(-1.0, 1.0, 1.0).is_err());
        assert!(Frustum::new(1.0, f64::NAN, 1.0).is_err());
        assert!(Frustum::cone(0.0, 1.0).is_err());
        assert!(Ellipsoid::new(DVec3::new(1.0, 0.0, 1.0)).is_err());
        assert!(Rounded::new(Arc::new(Frustum::cone(1.0, 1.0).unwrap()), -0.1).is_err());
    }

    #[test]
    fn support_points_lie_on_the_surface_and_are_extreme() {
        let mut random = SplitMix64(4);
        let ellipsoid = Ellipsoid::new(DVec3::new(0.5, 1.0, 2.0)).unwrap();
        let frustum = Frustum::new(0.7, 0.3, 0.5).unwrap();
        for _ in 0..2000 {
            let d = random.unit_vec3();
            let p = ellipsoid.support(d);
            assert!(((p / ellipsoid.radii).length() - 1.0).abs() < 1e-14);
            // The gradient of the surface there is along the direction.
            assert!((p / (ellipsoid.radii * ellipsoid.radii)).cross(d).length() < 1e-12);
            let x = random.unit_vec3() * ellipsoid.radii * random.unit();
            assert!(d.dot(x) <= d.dot(p) + 1e-12);
            let z = random.range(-0.5, 0.5);
            let r = (0.5 - 0.4 * z) * random.unit();
            let y = (random.unit_vec3().with_z(0.0).normalize() * r).with_z(z);
            assert!(d.dot(y) <= d.dot(frustum.support(d)) + 1e-12);
        }
    }
}
