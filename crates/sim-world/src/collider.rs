//! Colliders: shapes on bodies, with their surface and what they may touch.

use crate::{
    body::{Body, DEFAULT_FRICTION, DEFAULT_RESTITUTION, check_density, check_surface},
    error::WorldError,
    piece::Extent,
};
use rigid_impulse::{BodyError, BodyState, MaterialId, MaterialTable};
use sim_math::Pose;
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

    /// The collider, checked: `place` is its number among the shapes of its body, whether that is free, and the pose of the user's frame in the body's;
    /// `usual` are friction and restitution if it has none of its own.
    pub(crate) fn build(
        self,
        body: BodyId,
        (index, is_free, body_from_user): (usize, bool, Pose),
        usual: Option<[f64; 2]>,
        materials: &MaterialTable,
    ) -> Result<Collider, WorldError> {
        let named = |source: BodyError| WorldError::Body { body, source };
        BodyState::at_rest(self.user_from_shape).map_err(named)?;
        let shape = self.shape;
        if is_free && !shape.bounding_radius().is_finite() {
            return Err(WorldError::Unbounded { body, index, shape: shape.name() });
        }
        if let Some(value) = self.density {
            check_density(value).map_err(named)?;
        }
        let [friction, restitution] = usual.unwrap_or([DEFAULT_FRICTION, DEFAULT_RESTITUTION]);
        let surface = match self.material {
            Some(material) => Surface::Named(material),
            None => Surface::Own {
                friction: self.friction.unwrap_or(friction),
                restitution: self.restitution.unwrap_or(restitution),
            },
        };
        check_surface(body, surface, materials)?;
        let extent = Extent::new(&shape, body_from_user * self.user_from_shape);
        Ok(Collider { body, shape, extent, surface, groups: self.groups, sensor: self.sensor })
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
