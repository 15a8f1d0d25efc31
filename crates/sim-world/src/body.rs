//! Bodies of a world, and how they are made.

use crate::{
    collider::{Collider, ColliderBuilder, Surface},
    error::WorldError,
    locked::LockedAxes,
    piece::{Extent, Piece},
    script::Script,
    solid::mass_of,
};
use rigid_impulse::{BodyError, BodyKind, BodyModel, BodyState, Material, MaterialTable, PrincipalMass};
use sim_math::{
    Pose,
    glam::{DMat3, DQuat, DVec3},
    mass::{self, MassProperties},
    spatial::Motion,
};
use sim_traits::{BodyId, ColliderId, Shape, TreeId};
use smallvec::SmallVec;
use std::sync::Arc;

/// Density of a shape that nobody gave one, kg/m³.
pub const DEFAULT_DENSITY: f64 = 1000.0;
/// Friction of a surface that nobody gave one.
pub const DEFAULT_FRICTION: f64 = 0.5;
/// Restitution of a surface that nobody gave one.
pub const DEFAULT_RESTITUTION: f64 = 0.0;

/// A body in a world: a model, which does not change while it moves, and a state, which does. Its present state is that of the world's time; poses are of the
/// frame the user modelled in.
#[derive(Debug, Clone)]
pub struct Body {
    pub(crate) model: BodyModel,
    pub(crate) piece: Piece,
    pub(crate) now: BodyState,
    pub(crate) colliders: SmallVec<[ColliderId; 4]>,
    /// Acceleration by constant forces, m/s².
    pub(crate) pull: DVec3,
    /// Slots of the forces that act on it or hold on to it, sorted.
    pub(crate) forces: SmallVec<[u32; 4]>,
    /// Its motion ended at the present time, and begins anew before a stepper looks.
    pub(crate) outdated: bool,
    /// The bodies it is integrated with, if forces act that have no closed form.
    pub(crate) cluster: Option<u32>,
    /// Length of the next step of integration, s.
    pub(crate) step_hint: Option<f64>,
    pub(crate) tag: u64,
    pub(crate) locked: LockedAxes,
    pub(crate) rest: Rest,
    /// Time at which a step of time last put it where it is, s; NaN if none did.
    pub(crate) arrived: f64,
    /// The tree that it is a link of, and which.
    pub(crate) link: Option<(TreeId, u32)>,
}

/// Whether a body takes part in motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Rest {
    /// It moves.
    #[default]
    Awake,
    /// Settled: it stays where it is until something touches or pushes it.
    Asleep,
    /// Its state stopped being finite: it stays at the last finite one until the user moves it.
    Quarantined,
}

impl Rest {
    #[cfg(feature = "serde")]
    pub(crate) fn to_byte(self) -> u8 {
        self as u8
    }

    #[cfg(feature = "serde")]
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Awake, Self::Asleep, Self::Quarantined].get(usize::from(byte)).copied()
    }
}

impl Body {
    /// A body that moves under forces and impulses.
    pub fn free() -> BodyBuilder {
        BodyBuilder::new(Kind::Free)
    }

    /// A body that never moves: floors, walls, ramps.
    pub fn fixed() -> BodyBuilder {
        BodyBuilder::new(Kind::Fixed)
    }

    /// A body that follows a script: it pushes, and nothing pushes it.
    pub fn scripted(script: impl Script + 'static) -> BodyBuilder {
        BodyBuilder::new(Kind::Scripted(Arc::new(script)))
    }

    /// A body that follows a script that others may follow too.
    pub fn scripted_by(script: Arc<dyn Script>) -> BodyBuilder {
        BodyBuilder::new(Kind::Scripted(script))
    }

    /// Whether it is awake, asleep or quarantined.
    #[inline]
    #[must_use]
    pub fn rest(&self) -> Rest {
        self.rest
    }

    /// Free with its mass, fixed, or scripted.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> &BodyKind {
        self.model.kind()
    }

    /// True if forces and impulses move it.
    #[inline]
    #[must_use]
    pub fn is_free(&self) -> bool {
        matches!(self.kind(), BodyKind::Free(_))
    }

    /// True if it never moves.
    #[inline]
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        matches!(self.kind(), BodyKind::Fixed)
    }

    /// Axes of the world along or about which it does not move.
    #[inline]
    #[must_use]
    pub fn locked_axes(&self) -> &LockedAxes {
        &self.locked
    }

    /// The tree that it is a link of, and the number of the link in its model.
    #[inline]
    #[must_use]
    pub fn tree(&self) -> Option<(TreeId, u32)> {
        self.link
    }

    /// Mass, kg; infinite if it is not free.
    #[must_use]
    pub fn mass(&self) -> f64 {
        match self.kind() {
            BodyKind::Free(m) => m.mass(),
            BodyKind::Fixed | BodyKind::Scripted => f64::INFINITY,
        }
    }

    /// 1/m, or zero if it is not free, 1/kg.
    #[inline]
    #[must_use]
    pub fn inverse_mass(&self) -> f64 {
        self.model.inverse_mass()
    }

    /// Present inverse inertia in world axes, or zero if it is not free, 1/(kg·m²).
    #[inline]
    #[must_use]
    pub fn inverse_inertia(&self) -> DMat3 {
        self.now.inverse_inertia(&self.model)
    }

    /// Present position of the origin of the user's frame, world, m.
    #[must_use]
    pub fn position(&self) -> DVec3 {
        self.user_pose().translation
    }

    /// Present pose of the user's frame.
    #[must_use]
    pub fn user_pose(&self) -> Pose {
        self.now.user_pose(&self.model)
    }

    /// Present pose of the user's frame: [`Body::user_pose`].
    #[must_use]
    pub fn pose(&self) -> Pose {
        self.now.user_pose(&self.model)
    }

    /// Present position of the centre of mass, world, m.
    #[inline]
    #[must_use]
    pub fn center(&self) -> DVec3 {
        self.now.pose().translation
    }

    /// Present angular and linear velocity at the centre of mass, world axes, rad/s and m/s.
    #[inline]
    #[must_use]
    pub fn velocity(&self) -> Motion {
        self.now.velocity
    }

    /// Present velocity of the body point at a world point, m/s.
    #[must_use]
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.now.velocity_at(point)
    }

    /// What of it does not change while it moves: kind, mass, moments, user's frame.
    #[inline]
    #[must_use]
    pub fn model(&self) -> &BodyModel {
        &self.model
    }

    /// Present state as the engine keeps it: centre of mass, principal axes.
    #[inline]
    #[must_use]
    pub fn state(&self) -> &BodyState {
        &self.now
    }

    /// State at a time (s) not before the start of the motion that the body is on.
    ///
    /// # Errors
    /// The time or the state is not finite.
    #[inline]
    pub fn at(&self, time: f64) -> Result<BodyState, BodyError> {
        self.piece.at(&self.model, time)
    }

    /// Present kinetic energy, J; zero if it is not free.
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        self.now.kinetic_energy(&self.model)
    }

    /// Present angular momentum about the centre of mass, world axes, kg·m²/s; zero if it is not free.
    #[must_use]
    pub fn spin(&self) -> DVec3 {
        self.now.spin(&self.model)
    }

    /// The motion that the body is on. If the user changed something since the last advance, the next one begins with another.
    #[inline]
    #[must_use]
    pub fn piece(&self) -> &Piece {
        &self.piece
    }

    /// Its shapes, in the order in which they were given.
    #[inline]
    #[must_use]
    pub fn colliders(&self) -> &[ColliderId] {
        &self.colliders
    }

    /// A number that the user attached.
    #[must_use]
    pub fn tag(&self) -> u64 {
        self.tag
    }

    /// Acceleration of the centre of mass by constant forces, without gravity, m/s². Summed afresh when a stepper looks; until then changes leave rounding.
    #[inline]
    #[must_use]
    pub fn pull(&self) -> DVec3 {
        self.pull
    }

    /// True if forces that depend on the state, or torques, act on it.
    #[inline]
    #[must_use]
    pub fn has_stateful_forces(&self) -> bool {
        self.cluster.is_some()
    }

    /// The cluster of bodies that it is integrated with: for steppers.
    #[inline]
    #[must_use]
    pub fn cluster(&self) -> Option<u32> {
        self.cluster
    }
}

#[derive(Debug, Clone)]
enum Kind {
    Free,
    Fixed,
    Scripted(Arc<dyn Script>),
}

/// A body to be added to a world.
///
/// ```
/// use sim_math::glam::DVec3;
/// use sim_traits::{HalfSpace, Sphere};
/// use sim_world::{Body, World};
///
/// let mut world = World::new(DVec3::new(0.0, 0.0, -9.81))?;
/// world.add(Body::fixed().shape(HalfSpace::up()))?;
/// let ball = world.add(Body::free().shape(Sphere::new(0.1)?).density(7800.0).at([0.0, 0.0, 1.0]).restitution(0.8))?;
/// assert!((world[ball].mass() - 32.67).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a body does nothing until it is added to a world"]
pub struct BodyBuilder {
    kind: Kind,
    shapes: Vec<ColliderBuilder>,
    pose: Pose,
    velocity: Motion,
    density: f64,
    mass: Option<f64>,
    properties: Option<MassProperties>,
    friction: f64,
    restitution: f64,
    rolling_friction: Option<f64>,
    torsional_friction: Option<f64>,
    locked: LockedAxes,
    tag: u64,
}

impl BodyBuilder {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            shapes: Vec::new(),
            pose: Pose::IDENTITY,
            velocity: Motion::ZERO,
            density: DEFAULT_DENSITY,
            mass: None,
            properties: None,
            friction: DEFAULT_FRICTION,
            restitution: DEFAULT_RESTITUTION,
            rolling_friction: None,
            torsional_friction: None,
            locked: LockedAxes::default(),
            tag: 0,
        }
    }

    /// Adds a shape at the origin of the user's frame.
    pub fn shape(self, shape: impl Into<Shape>) -> Self {
        self.collider(ColliderBuilder::new(shape))
    }

    /// Adds a shape at a pose in the user's frame.
    pub fn shape_at(self, shape: impl Into<Shape>, user_from_shape: Pose) -> Self {
        self.collider(ColliderBuilder::new(shape).at(user_from_shape))
    }

    /// Adds a shape with surface, groups and the like of its own.
    pub fn collider(mut self, collider: ColliderBuilder) -> Self {
        self.shapes.push(collider);
        self
    }

    /// Density of all shapes without one of their own, kg/m³. Default [`DEFAULT_DENSITY`].
    pub fn density(mut self, density: f64) -> Self {
        self.density = density;
        self
    }

    /// Total mass, kg: the densities are then only relative.
    pub fn mass(mut self, mass: f64) -> Self {
        self.mass = Some(mass);
        self
    }

    /// Mass, centre of mass and inertia in the user's frame, whatever the shapes.
    pub fn mass_properties(mut self, properties: MassProperties) -> Self {
        self.properties = Some(properties);
        self
    }

    /// Position of the origin of the user's frame, m.
    pub fn at(mut self, position: impl Into<DVec3>) -> Self {
        self.pose.translation = position.into();
        self
    }

    /// Orientation of the user's frame.
    pub fn turned(mut self, rotation: DQuat) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// Pose of the user's frame in the world.
    pub fn pose(mut self, world_from_user: Pose) -> Self {
        self.pose = world_from_user;
        self
    }

    /// Velocity of the centre of mass, m/s.
    pub fn moving(mut self, linear: impl Into<DVec3>) -> Self {
        self.velocity.linear = linear.into();
        self
    }

    /// Angular velocity, world axes, rad/s.
    pub fn spinning(mut self, angular: impl Into<DVec3>) -> Self {
        self.velocity.angular = angular.into();
        self
    }

    /// Friction of all shapes without one of their own. Default [`DEFAULT_FRICTION`].
    pub fn friction(mut self, friction: f64) -> Self {
        self.friction = friction;
        self
    }

    /// Axes of the world along or about which it does not move. None by default.
    pub fn locked(mut self, axes: LockedAxes) -> Self {
        self.locked = axes;
        self
    }

    /// Rolling friction of all shapes without one of their own or a material, m. Default 0.
    pub fn rolling_friction(mut self, length: f64) -> Self {
        self.rolling_friction = Some(length);
        self
    }

    /// Torsional friction of all shapes without one of their own or a material, m. Default 0.
    pub fn torsional_friction(mut self, length: f64) -> Self {
        self.torsional_friction = Some(length);
        self
    }

    /// Restitution of all shapes without one of their own. Default [`DEFAULT_RESTITUTION`].
    pub fn restitution(mut self, restitution: f64) -> Self {
        self.restitution = restitution;
        self
    }

    /// A number for the user's own use.
    pub fn tag(mut self, tag: u64) -> Self {
        self.tag = tag;
        self
    }

    /// The body and its colliders, checked.
    pub(crate) fn build(
        self,
        id: BodyId,
        time: f64,
        gravity: DVec3,
        materials: &MaterialTable,
    ) -> Result<(Body, Vec<Collider>), WorldError> {
        let named = |source: BodyError| WorldError::Body { body: id, source };
        let (model, piece) = match &self.kind {
            Kind::Free => {
                let (mass, user_from_body) = self.principal_mass(id, materials)?;
                let mut state = BodyState::at_rest(self.pose)
                    .and_then(|_| BodyState::at_rest(self.pose * user_from_body))
                    .map_err(named)?;
                let model = BodyModel::new(BodyKind::Free(mass));
                let model = model.with_user_frame(user_from_body).map_err(named)?;
                check_velocity(self.velocity).map_err(named)?;
                state.velocity = self.velocity;
                (model, Piece::ballistic(time, &model, state, gravity))
            }
            Kind::Fixed => (BodyModel::FIXED, Piece::still(BodyState::at_rest(self.pose).map_err(named)?)),
            Kind::Scripted(script) => {
                let model = BodyModel::new(BodyKind::Scripted);
                (model, Piece::scripted(time, script.clone()).map_err(named)?)
            }
        };
        let now = piece.at(&model, time).map_err(named)?;
        let body_from_user = now.pose().inverse_mul(&now.user_pose(&model));
        check_density(self.density).map_err(named)?;
        let is_free = matches!(self.kind, Kind::Free);
        if !is_free && !self.locked.is_none() {
            return Err(WorldError::NotFree { body: id, what: "it has no axes to lock" });
        }
        let mut colliders = Vec::with_capacity(self.shapes.len());
        for (index, given) in self.shapes.into_iter().enumerate() {
            BodyState::at_rest(given.user_from_shape).map_err(named)?;
            let shape = given.shape;
            if is_free && !shape.bounding_radius().is_finite() {
                return Err(WorldError::Unbounded { body: id, index, shape: shape.name() });
            }
            if let Some(value) = given.density {
                check_density(value).map_err(named)?;
            }
            let surface = match given.material {
                Some(material) => Surface::Named(material),
                None => Surface::Own {
                    friction: given.friction.unwrap_or(self.friction),
                    restitution: given.restitution.unwrap_or(self.restitution),
                },
            };
            check_surface(id, surface, materials)?;
            let mut traction = given.traction;
            if given.material.is_none() {
                traction.rolling_friction = traction.rolling_friction.or(self.rolling_friction);
                traction.torsional_friction = traction.torsional_friction.or(self.torsional_friction);
            }
            traction.check().map_err(named)?;
            let extent = Extent::new(&shape, body_from_user * given.user_from_shape);
            let (groups, sensor) = (given.groups, given.sensor);
            colliders.push(Collider { body: id, shape, extent, surface, groups, sensor, traction });
        }
        let colliders_of = SmallVec::new();
        let body = Body {
            model,
            piece,
            now,
            colliders: colliders_of,
            pull: DVec3::ZERO,
            forces: SmallVec::new(),
            outdated: false,
            cluster: None,
            step_hint: None,
            tag: self.tag,
            locked: self.locked,
            rest: Rest::Awake,
            arrived: f64::NAN,
            link: None,
        };
        Ok((body, colliders))
    }

    /// Mass, and the pose of the body frame in the user's.
    fn principal_mass(
        &self,
        id: BodyId,
        materials: &MaterialTable,
    ) -> Result<(PrincipalMass, Pose), WorldError> {
        let named = |source: BodyError| WorldError::Body { body: id, source };
        if let Some(properties) = &self.properties {
            let given =
                MassProperties::try_new(properties.mass, properties.center_of_mass, properties.inertia);
            return PrincipalMass::of(&given.map_err(BodyError::from).map_err(named)?).map_err(named);
        }
        let mut parts: SmallVec<[MassProperties; 4]> = SmallVec::new();
        for (index, given) in self.shapes.iter().enumerate().filter(|(_, s)| !s.sensor) {
            let shape = given.shape.name();
            let of_material = given.material.and_then(|m| materials.get(m)).map(|m| m.density);
            let density = given.density.or(of_material).unwrap_or(self.density);
            let part = mass_of(&given.shape, density)
                .ok_or(WorldError::NoMass { body: id, index, shape })?
                .map_err(|source| WorldError::Mass { body: id, index, shape, source })?;
            parts.push(part.transformed(&given.user_from_shape));
        }
        if parts.is_empty() {
            return Err(WorldError::Massless { body: id });
        }
        let mut total = mass::combine(&parts).map_err(BodyError::from).map_err(named)?;
        if let Some(mass) = self.mass {
            total = total.with_mass(mass).map_err(BodyError::from).map_err(named)?;
        }
        PrincipalMass::of(&total).map_err(named)
    }
}

pub(crate) fn check_velocity(velocity: Motion) -> Result<(), BodyError> {
    match velocity.to_array().into_iter().find(|x| !x.is_finite()) {
        Some(value) => Err(BodyError::NonFinite { what: "velocity", value }),
        None => Ok(()),
    }
}

fn check_density(value: f64) -> Result<(), BodyError> {
    if !value.is_finite() {
        Err(BodyError::NonFinite { what: "density", value })
    } else if value <= 0.0 {
        Err(BodyError::NotPositive { what: "density", value })
    } else {
        Ok(())
    }
}

pub(crate) fn check_surface(
    id: BodyId,
    surface: Surface,
    materials: &MaterialTable,
) -> Result<(), WorldError> {
    match surface {
        // The density is not of interest here.
        Surface::Own { friction, restitution } => Material::new(friction, restitution, DEFAULT_DENSITY)
            .map(|_| ())
            .map_err(|source| WorldError::Body { body: id, source }),
        Surface::Named(material) => match materials.get(material) {
            Some(known) => {
                known.checked().map(|_| ()).map_err(|source| WorldError::Material { material, source })
            }
            None => Err(WorldError::UnknownMaterial { body: id, material }),
        },
    }
}
