//! Colliders: shapes on bodies, with their surface and what they may touch.

use crate::{body::Body, piece::Extent};
use rigid_impulse::{BodyError, MaterialId, check_turning_friction};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{BodyId, Shape};

/// Which colliders meet: two of them do if each is in a group that the other's mask has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Groups {
    /// Groups that the collider is in, one bit each.
    pub member: u32,
    /// Groups that it meets.
    pub mask: u32,
}

impl Default for Groups {
    /// In every group, meets all.
    fn default() -> Self {
        Self { member: u32::MAX, mask: u32::MAX }
    }
}

impl Groups {
    /// True if both agree to meet.
    #[inline]
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.member & other.mask != 0 && other.member & self.mask != 0
    }
}

/// Friction and restitution of a surface before they are combined with those of the other one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Surface {
    /// Numbers of its own: friction μ ≥ 0, restitution 0 ≤ e ≤ 1.
    Own {
        /// Coefficient of friction.
        friction: f64,
        /// Coefficient of restitution.
        restitution: f64,
    },
    /// A material of the world's table.
    Named(MaterialId),
}

/// How a surface resists turning, and how it moves along itself. The default does neither.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Traction {
    /// Rolling friction, m: see [`Material`](rigid_impulse::Material). `None` for the material's, or 0 without one.
    pub rolling_friction: Option<f64>,
    /// Torsional friction, m: the same.
    pub torsional_friction: Option<f64>,
    /// Velocity of the surface against its body, in the user's frame of the body, m/s: a conveyor belt. What is along the normal of a contact does not count.
    pub surface_velocity: DVec3,
}

impl Traction {
    /// `Ok` for numbers that can be.
    pub(crate) fn check(&self) -> Result<(), BodyError> {
        let [rolling, torsional] =
            [self.rolling_friction, self.torsional_friction].map(Option::unwrap_or_default);
        check_turning_friction(rolling, torsional)?;
        match self.surface_velocity.to_array().into_iter().find(|x| !x.is_finite()) {
            Some(value) => Err(BodyError::NonFinite { what: "surface velocity", value }),
            None => Ok(()),
        }
    }

    /// True if it changes nothing.
    pub(crate) fn is_plain(&self) -> bool {
        let none = |length: Option<f64>| length.unwrap_or_default() == 0.0;
        none(self.rolling_friction) && none(self.torsional_friction) && self.surface_velocity == DVec3::ZERO
    }
}

/// Rolling and torsional friction of two surfaces together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TurningFriction {
    /// m.
    pub rolling: f64,
    /// m.
    pub torsional: f64,
}

/// A shape to be put on a body, before it is.
///
/// ```
/// use sim_math::{Pose, glam::DVec3};
/// use sim_traits::Sphere;
/// use sim_world::ColliderBuilder;
///
/// let knob = ColliderBuilder::new(Sphere::new(0.1)?).at(Pose::from_translation(DVec3::X)).friction(0.8);
/// # Ok::<(), sim_traits::ShapeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ColliderBuilder {
    pub(crate) shape: Shape,
    pub(crate) user_from_shape: Pose,
    pub(crate) friction: Option<f64>,
    pub(crate) restitution: Option<f64>,
    pub(crate) density: Option<f64>,
    pub(crate) material: Option<MaterialId>,
    pub(crate) groups: Groups,
    pub(crate) sensor: bool,
    pub(crate) traction: Traction,
}

impl ColliderBuilder {
    /// A shape at the origin of the body's user frame.
    #[must_use]
    pub fn new(shape: impl Into<Shape>) -> Self {
        Self {
            shape: shape.into(),
            user_from_shape: Pose::IDENTITY,
            friction: None,
            restitution: None,
            density: None,
            material: None,
            groups: Groups::default(),
            sensor: false,
            traction: Traction::default(),
        }
    }

    /// Places the shape in the body's user frame.
    #[must_use]
    pub fn at(mut self, user_from_shape: Pose) -> Self {
        self.user_from_shape = user_from_shape;
        self
    }

    /// Coefficient of friction of this surface; the body's otherwise.
    #[must_use]
    pub fn friction(mut self, friction: f64) -> Self {
        self.friction = Some(friction);
        self
    }

    /// Coefficient of restitution of this surface; the body's otherwise.
    #[must_use]
    pub fn restitution(mut self, restitution: f64) -> Self {
        self.restitution = Some(restitution);
        self
    }

    /// Rolling friction of this surface, m; its material's or the body's otherwise.
    #[must_use]
    pub fn rolling_friction(mut self, length: f64) -> Self {
        self.traction.rolling_friction = Some(length);
        self
    }

    /// Torsional friction of this surface, m; its material's or the body's otherwise.
    #[must_use]
    pub fn torsional_friction(mut self, length: f64) -> Self {
        self.traction.torsional_friction = Some(length);
        self
    }

    /// Velocity of this surface against its body, in the body's user frame, m/s: a conveyor belt.
    #[must_use]
    pub fn surface_velocity(mut self, velocity: impl Into<DVec3>) -> Self {
        self.traction.surface_velocity = velocity.into();
        self
    }

    /// Density of this shape, kg/m³; the body's otherwise.
    #[must_use]
    pub fn density(mut self, density: f64) -> Self {
        self.density = Some(density);
        self
    }

    /// A material of the world's table, which decides friction, restitution and density.
    #[must_use]
    pub fn material(mut self, material: MaterialId) -> Self {
        self.material = Some(material);
        self
    }

    /// Which colliders it meets.
    #[must_use]
    pub fn groups(mut self, groups: Groups) -> Self {
        self.groups = groups;
        self
    }

    /// A sensor takes part in queries and pushes nothing; it has no mass.
    #[must_use]
    pub fn sensor(mut self) -> Self {
        self.sensor = true;
        self
    }
}

/// A shape on a body.
#[derive(Debug, Clone)]
pub struct Collider {
    pub(crate) body: BodyId,
    pub(crate) shape: Shape,
    pub(crate) extent: Extent,
    pub(crate) surface: Surface,
    pub(crate) groups: Groups,
    pub(crate) sensor: bool,
    pub(crate) traction: Traction,
}

impl Collider {
    /// Whose shape it is.
    #[inline]
    #[must_use]
    pub fn body(&self) -> BodyId {
        self.body
    }

    /// The shape, in its own frame.
    #[inline]
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Place in the body frame (centre of mass, principal axes) and size.
    #[inline]
    #[must_use]
    pub fn extent(&self) -> &Extent {
        &self.extent
    }

    /// Friction and restitution.
    #[inline]
    #[must_use]
    pub fn surface(&self) -> Surface {
        self.surface
    }

    /// Rolling and torsional friction, and the velocity of the surface.
    #[inline]
    #[must_use]
    pub fn traction(&self) -> &Traction {
        &self.traction
    }

    /// Which colliders it meets.
    #[inline]
    #[must_use]
    pub fn groups(&self) -> Groups {
        self.groups
    }

    /// Pose of the shape in the world, at the present time of its body.
    #[inline]
    #[must_use]
    pub fn world_pose(&self, body: &Body) -> Pose {
        *body.state().pose() * self.extent.body_from_shape
    }

    /// True if it pushes nothing.
    #[inline]
    #[must_use]
    pub fn is_sensor(&self) -> bool {
        self.sensor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_must_agree_to_meet() {
        let (ghost, wall) = (Groups { member: 2, mask: 0 }, Groups::default());
        assert!(!ghost.meets(wall) && !wall.meets(ghost));
        let (red, blue) = (Groups { member: 1, mask: 2 }, Groups { member: 2, mask: 1 });
        assert!(red.meets(blue) && blue.meets(red) && !red.meets(red));
    }
}
