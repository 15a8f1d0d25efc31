//! Collision shapes: a closed set with two open doors.
//!
//! A closed enum makes a pair table exhaustive and fast. What it does not name comes in by
//! [`Shape::Convex`] (anything with a support map) or [`Shape::Custom`] (anything at all, with a narrow phase
//! of its own). Parameters are checked by the constructors and cannot be changed afterwards.

use sim_math::{
    Aabb, Pose,
    glam::DVec3,
    mass::{Amount, MassError, MassProperties},
};
use std::{any::Any, fmt::Debug, sync::Arc};
use thiserror::Error;

/// A shape parameter that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A length that must be positive and finite is not.
    #[error("{shape}: {parameter} must be positive and finite, got {value}")]
    BadLength {
        /// Kind of shape.
        shape: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// What was given, metres.
        value: f64,
    },
    /// A direction that cannot be normalised.
    #[error("{shape}: {parameter} must be a finite non-zero vector, got {value}")]
    BadDirection {
        /// Kind of shape.
        shape: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// What was given.
        value: DVec3,
    },
}

fn length(shape: &'static str, parameter: &'static str, value: f64) -> Result<f64, ShapeError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(ShapeError::BadLength { shape, parameter, value })
    }
}

/// A convex body described by its farthest point in each direction.
pub trait SupportMap: Debug + Send + Sync {
    /// A point of the shape farthest along `direction` (not zero, any length), in the shape's frame, metres.
    ///
    /// Deterministic: the same direction gives the same point, also where several are equally far.
    fn support(&self, direction: DVec3) -> DVec3;

    /// Radius r ≥ 0 of a ball rolled around a core, metres, if the shape is such a sum; else 0.
    ///
    /// Distance algorithms then work on the core and subtract the radius, which is exact and robust at contact.
    fn core_radius(&self) -> f64 {
        0.0
    }

    /// A point of the core farthest along `direction`; the shape's own support if `core_radius` is 0.
    fn core_support(&self, direction: DVec3) -> DVec3 {
        self.support(direction)
    }

    /// Largest distance of a point of the shape from the origin of its frame, metres.
    fn bounding_radius(&self) -> f64;

    /// Mass, centre of mass and inertia of the solid in its own frame, if the shape knows them.
    fn mass_properties(&self, _amount: Amount) -> Option<Result<MassProperties, MassError>> {
        None
    }

    /// For algorithms that know the concrete type and can use more than the support map.
    fn as_any(&self) -> &dyn Any;

    /// Short name for messages.
    fn name(&self) -> &'static str;
}

/// A shape only its own narrow phase understands.
pub trait CustomShape: Debug + Send + Sync {
    /// Box around the shape at a pose.
    fn aabb(&self, world_from_shape: &Pose) -> Aabb;

    /// Largest distance of a point of the shape from the origin of its frame, metres; may be infinite.
    fn bounding_radius(&self) -> f64;

    /// For the narrow phase that knows the concrete type.
    fn as_any(&self) -> &dyn Any;

    /// Short name for messages.
    fn name(&self) -> &'static str;
}

macro_rules! lengths {
    ($(#[$doc:meta])* $name:ident, $noun:literal { $($(#[$field_doc:meta])* $field:ident),+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name { $($field: f64),+ }

        impl $name {
            /// From its lengths in metres.
            ///
            /// # Errors
            /// [`ShapeError::BadLength`] for a length that is not positive and finite.
            pub fn new($($field: f64),+) -> Result<Self, ShapeError> {
                Ok(Self { $($field: length($noun, stringify!($field), $field)?),+ })
            }

            $(
                $(#[$field_doc])*
                #[inline]
                #[must_use]
                pub const fn $field(&self) -> f64 {
                    self.$field
                }
            )+
        }
    };
}

lengths! {
    /// Ball around the origin.
    Sphere, "sphere" {
        /// Metres.
        radius
    }
}
lengths! {
    /// All points within `radius` of the segment from −h to +h on the z axis.
    Capsule, "capsule" {
        /// Metres.
        radius,
        /// Half length h of the inner segment, metres.
        half_height
    }
}
lengths! {
    /// Circular cylinder around the z axis, from −h to +h.
    Cylinder, "cylinder" {
        /// Metres.
        radius,
        /// Half height h, metres.
        half_height
    }
}

/// Box around the origin, sides parallel to the axes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cuboid {
    half_extents: DVec3,
}

impl Cuboid {
    /// From half of each side, metres.
    ///
    /// # Errors
    /// [`ShapeError::BadLength`] for an extent that is not positive and finite.
    pub fn new(half_extents: DVec3) -> Result<Self, ShapeError> {
        for (value, parameter) in
            half_extents.to_array().into_iter().zip(["half_extents.x", "half_extents.y", "half_extents.z"])
        {
            length("cuboid", parameter, value)?;
        }
        Ok(Self { half_extents })
    }

    /// Half of each side, metres.
    #[inline]
    #[must_use]
    pub const fn half_extents(&self) -> DVec3 {
        self.half_extents
    }
}

/// Everything on or below the plane through the origin: normal · x ≤ 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HalfSpace {
    normal: DVec3,
}

impl HalfSpace {
    /// With an outward normal of any length.
    ///
    /// # Errors
    /// [`ShapeError::BadDirection`] if the normal is zero or not finite.
    pub fn new(normal: DVec3) -> Result<Self, ShapeError> {
        match normal.try_normalize() {
            Some(normal) if normal.is_finite() => Ok(Self { normal }),
            _ => Err(ShapeError::BadDirection { shape: "half-space", parameter: "normal", value: normal }),
        }
    }

    /// With an outward normal that has been normalised before, kept to the bit: doing it again may move its last one.
    ///
    /// # Errors
    /// [`ShapeError::BadDirection`] unless the length is 1 within 1e-12.
    pub fn from_unit(normal: DVec3) -> Result<Self, ShapeError> {
        if (normal.length() - 1.0).abs() < 1e-12 {
            Ok(Self { normal })
        } else {
            Err(ShapeError::BadDirection { shape: "half-space", parameter: "unit normal", value: normal })
        }
    }

    /// The ground: solid below, normal +z.
    #[inline]
    #[must_use]
    pub const fn up() -> Self {
        Self { normal: DVec3::Z }
    }

    /// Outward unit normal.
    #[inline]
    #[must_use]
    pub const fn normal(&self) -> DVec3 {
        self.normal
    }
}

/// Any collision shape, in its own frame.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Shape {
    /// Ball.
    Sphere(Sphere),
    /// Segment with a radius.
    Capsule(Capsule),
    /// Box.
    Cuboid(Cuboid),
    /// Circular cylinder.
    Cylinder(Cylinder),
    /// Solid half of space.
    HalfSpace(HalfSpace),
    /// Open door: any convex body with a support map.
    Convex(Arc<dyn SupportMap>),
    /// Open door: anything with a narrow phase of its own.
    Custom(Arc<dyn CustomShape>),
}

impl Shape {
    /// Short name for messages and pair tables.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sphere(_) => "sphere",
            Self::Capsule(_) => "capsule",
            Self::Cuboid(_) => "cuboid",
            Self::Cylinder(_) => "cylinder",
            Self::HalfSpace(_) => "half-space",
            Self::Convex(shape) => shape.name(),
            Self::Custom(shape) => shape.name(),
        }
    }

    /// Farthest point along `direction` in the shape's frame; `None` where there is no such point.
    ///
    /// Ties go to the positive side of an axis, so the result is a function of the direction alone.
    #[must_use]
    pub fn support(&self, direction: DVec3) -> Option<DVec3> {
        match self {
            Self::Sphere(s) => Some(direction.normalize_or_zero() * s.radius),
            Self::Capsule(c) => {
                let tip = DVec3::new(0.0, 0.0, c.half_height.copysign(direction.z));
                Some(tip + direction.normalize_or_zero() * c.radius)
            }
            Self::Cuboid(c) => Some(c.half_extents.copysign(direction)),
            Self::Cylinder(c) => {
                let rim = direction.with_z(0.0).normalize_or_zero() * c.radius;
                Some(rim.with_z(c.half_height.copysign(direction.z)))
            }
            Self::Convex(shape) => Some(shape.support(direction)),
            Self::HalfSpace(_) | Self::Custom(_) => None,
        }
    }

    /// Largest distance of a point from the origin of the shape's frame, metres; infinite for a half-space.
    #[must_use]
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Self::Sphere(s) => s.radius,
            Self::Capsule(c) => c.half_height + c.radius,
            Self::Cuboid(c) => c.half_extents.length(),
            Self::Cylinder(c) => (c.radius * c.radius + c.half_height * c.half_height).sqrt(),
            Self::HalfSpace(_) => f64::INFINITY,
            Self::Convex(shape) => shape.bounding_radius(),
            Self::Custom(shape) => shape.bounding_radius(),
        }
    }

    /// Smallest axis-aligned box around the shape at a pose. A half-space fills all of space, except when its
    /// normal is an axis of the world.
    #[must_use]
    pub fn aabb(&self, world_from_shape: &Pose) -> Aabb {
        match self {
            Self::Sphere(s) => {
                Aabb::from_center_half_extents(world_from_shape.translation, DVec3::splat(s.radius))
            }
            Self::Cuboid(c) => {
                let r = world_from_shape.rotation_matrix();
                let h = c.half_extents;
                let half = r.x_axis.abs() * h.x + r.y_axis.abs() * h.y + r.z_axis.abs() * h.z;
                Aabb::from_center_half_extents(world_from_shape.translation, half)
            }
            Self::Capsule(c) => {
                let axis = world_from_shape.rotation * DVec3::Z;
                let half = axis.abs() * c.half_height + c.radius;
                Aabb::from_center_half_extents(world_from_shape.translation, half)
            }
            Self::Cylinder(c) => {
                let axis = world_from_shape.rotation * DVec3::Z;
                // How far a disk reaches along each axis of the world; 1 − a² would lose digits.
                let s = axis * axis;
                let rim = DVec3::new((s.y + s.z).sqrt(), (s.z + s.x).sqrt(), (s.x + s.y).sqrt());
                let half = axis.abs() * c.half_height + rim * c.radius;
                Aabb::from_center_half_extents(world_from_shape.translation, half)
            }
            Self::HalfSpace(h) => half_space_aabb(h, world_from_shape),
            Self::Custom(shape) => shape.aabb(world_from_shape),
            Self::Convex(_) => self.aabb_by_support(world_from_shape),
        }
    }

    fn aabb_by_support(&self, world_from_shape: &Pose) -> Aabb {
        let extent = |axis: DVec3| {
            let local = world_from_shape.inverse_transform_vector(axis);
            self.support(local).map_or(f64::INFINITY, |p| axis.dot(world_from_shape.transform_point(p)))
        };
        Aabb {
            min: DVec3::new(-extent(DVec3::NEG_X), -extent(DVec3::NEG_Y), -extent(DVec3::NEG_Z)),
            max: DVec3::new(extent(DVec3::X), extent(DVec3::Y), extent(DVec3::Z)),
        }
    }
}

fn half_space_aabb(half_space: &HalfSpace, world_from_shape: &Pose) -> Aabb {
    let normal = world_from_shape.transform_vector(half_space.normal);
    let height = normal.dot(world_from_shape.translation);
    let mut aabb = Aabb::EVERYWHERE;
    for axis in 0..3 {
        if normal[axis] >= 1.0 {
            aabb.max[axis] = height;
        } else if normal[axis] <= -1.0 {
            aabb.min[axis] = -height;
        }
    }
    aabb
}

macro_rules! into_shape {
    ($($name:ident),+) => {$(
        impl From<$name> for Shape {
            fn from(shape: $name) -> Self {
                Self::$name(shape)
            }
        }
    )+};
}

into_shape!(Sphere, Capsule, Cuboid, Cylinder, HalfSpace);

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::{glam::DQuat, testkit::SplitMix64};

    fn shapes() -> Vec<Shape> {
        vec![
            Sphere::new(0.7).unwrap().into(),
            Capsule::new(0.3, 1.2).unwrap().into(),
            Cuboid::new(DVec3::new(0.2, 0.9, 1.4)).unwrap().into(),
            Cylinder::new(0.8, 0.4).unwrap().into(),
        ]
    }

    #[test]
    fn boxes_in_closed_form_are_those_of_the_support_map() {
        let mut random = SplitMix64(31);
        for k in 0..1000 {
            let (radius, half) = (random.range(0.01, 2.0), random.range(0.01, 2.0));
            let rotation = if k == 0 { DQuat::IDENTITY } else { random.unit_quat() };
            let pose = Pose::new(random.vec3(3.0), rotation);
            let shapes: [Shape; 2] =
                [Cylinder::new(radius, half).unwrap().into(), Capsule::new(radius, half).unwrap().into()];
            for shape in shapes {
                let (found, expected) = (shape.aabb(&pose), shape.aabb_by_support(&pose));
                let apart = (found.min - expected.min).abs().max((found.max - expected.max).abs());
                assert!(apart.max_element() < 1e-14 * (10.0 + radius + half), "{shape:?}: {apart}");
            }
        }
    }

    #[test]
    fn a_unit_normal_is_kept_to_the_bit_and_no_other_is_taken() {
        let normal = HalfSpace::new(DVec3::new(0.05, -0.02, 1.0)).unwrap().normal();
        for k in 0..100 {
            let other = HalfSpace::new(DVec3::new(0.3, f64::from(k), 1.0)).unwrap().normal();
            assert_eq!(HalfSpace::from_unit(other).unwrap().normal(), other);
        }
        for bad in [normal * 1.001, DVec3::ZERO, DVec3::NAN, DVec3::splat(f64::INFINITY)] {
            assert!(matches!(HalfSpace::from_unit(bad), Err(ShapeError::BadDirection { .. })), "{bad}");
        }
    }

    #[test]
    fn boxes_touch_the_shape_on_all_six_sides_and_contain_its_support_points() {
        let mut random = SplitMix64(3);
        for shape in shapes() {
            for _ in 0..100 {
                let pose = Pose::new(random.vec3(3.0), random.unit_quat());
                let aabb = shape.aabb(&pose);
                for _ in 0..100 {
                    let direction = random.unit_vec3();
                    let p = pose
                        .transform_point(shape.support(pose.inverse_transform_vector(direction)).unwrap());
                    assert!(aabb.grown(1e-12).contains(p), "{} leaves its box", shape.name());
                }
                for (axis, bound) in [(DVec3::X, aabb.max.x), (DVec3::NEG_Z, -aabb.min.z)] {
                    let p = pose.transform_point(shape.support(pose.inverse_transform_vector(axis)).unwrap());
                    assert!((axis.dot(p) - bound).abs() < 1e-12, "{} does not touch its box", shape.name());
                }
            }
        }
    }

    #[test]
    fn bounding_radius_is_reached_and_never_exceeded() {
        let mut random = SplitMix64(4);
        for shape in shapes() {
            let farthest = (0..20_000)
                .map(|_| shape.support(random.unit_vec3()).unwrap().length())
                .fold(0.0_f64, f64::max);
            assert!(farthest <= shape.bounding_radius() * (1.0 + 1e-12), "{}", shape.name());
            assert!(farthest > shape.bounding_radius() * 0.999, "{}", shape.name());
        }
    }

    #[test]
    fn bad_parameters_are_errors_with_name_and_value() {
        assert_eq!(
            Sphere::new(-1.0).unwrap_err().to_string(),
            "sphere: radius must be positive and finite, got -1"
        );
        assert!(Sphere::new(f64::NAN).is_err());
        assert!(Capsule::new(1.0, f64::INFINITY).is_err());
        assert!(Cylinder::new(0.0, 1.0).is_err());
        let flat = Cuboid::new(DVec3::new(1.0, 0.0, 1.0)).unwrap_err();
        assert_eq!(flat.to_string(), "cuboid: half_extents.y must be positive and finite, got 0");
        assert!(HalfSpace::new(DVec3::ZERO).is_err());
        assert!(HalfSpace::new(DVec3::NAN).is_err());
    }

    #[test]
    fn a_level_half_space_has_a_top() {
        let shape = Shape::from(HalfSpace::up());
        let level = shape.aabb(&Pose::from_translation(DVec3::new(0.0, 0.0, 2.0)));
        assert_eq!(level.max.z, 2.0);
        assert_eq!(level.max.x, f64::INFINITY);
        let tilted = shape.aabb(&Pose::from_rotation(DQuat::from_rotation_x(0.1)));
        assert_eq!(tilted, Aabb::EVERYWHERE);
    }
}
