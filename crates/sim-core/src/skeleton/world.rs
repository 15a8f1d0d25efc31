//! The world as plain data: bodies, trees, gravity.

use super::error::SkeletonError;
use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
};
use sim_traits::{BodyId, Shape};
use std::fmt;

/// Mass and moment of inertia. The skeleton knows isotropic bodies only: their spin is constant in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertia {
    /// Mass, kg.
    pub mass: f64,
    /// Moment of inertia about any axis through the centre, kg·m².
    pub moment: f64,
}

/// One body with one shape centred on it.
#[derive(Debug, Clone)]
pub struct Body {
    pub(super) shape: Shape,
    /// `None` for a fixed body.
    pub(super) inertia: Option<Inertia>,
    pub(super) pose: Pose,
    pub(super) velocity: DVec3,
    pub(super) omega: DVec3,
    pub(super) restitution: f64,
}

impl Body {
    /// A body that never moves.
    #[must_use]
    pub fn fixed(shape: impl Into<Shape>) -> Self {
        Self::new(shape.into(), None)
    }

    /// A body that flies: mass in kg, moment of inertia in kg·m² about every axis.
    #[must_use]
    pub fn free(shape: impl Into<Shape>, mass: f64, moment: f64) -> Self {
        Self::new(shape.into(), Some(Inertia { mass, moment }))
    }

    fn new(shape: Shape, inertia: Option<Inertia>) -> Self {
        let (velocity, omega) = (DVec3::ZERO, DVec3::ZERO);
        Self { shape, inertia, pose: Pose::IDENTITY, velocity, omega, restitution: 1.0 }
    }

    /// Position of the centre, metres.
    #[must_use]
    pub fn at(mut self, position: DVec3) -> Self {
        self.pose.translation = position;
        self
    }

    /// Orientation; made a unit quaternion.
    #[must_use]
    pub fn turned(mut self, rotation: DQuat) -> Self {
        self.pose.rotation = rotation.normalize();
        self
    }

    /// Velocity of the centre, m/s, and angular velocity, rad/s, world axes.
    #[must_use]
    pub fn moving(mut self, velocity: DVec3, omega: DVec3) -> Self {
        self.velocity = velocity;
        self.omega = omega;
        self
    }

    /// Coefficient of restitution; the smaller of two bodies counts.
    #[must_use]
    pub fn restitution(mut self, e: f64) -> Self {
        self.restitution = e;
        self
    }

    fn check(&self, owner: &dyn fmt::Display) -> Result<(), SkeletonError> {
        if !self.pose.is_finite() {
            return Err(non_finite(owner, "pose", &format_args!("{:?}", self.pose)));
        }
        for (what, vector) in [("velocity", self.velocity), ("angular velocity", self.omega)] {
            if !vector.is_finite() {
                return Err(non_finite(owner, what, &vector));
            }
        }
        if let Some(inertia) = self.inertia {
            positive(owner, "mass", inertia.mass)?;
            positive(owner, "moment of inertia", inertia.moment)?;
        }
        not_negative(owner, "restitution", self.restitution)
    }
}

/// Two links that slide: the first along a fixed rail, the second along a rail on the first.
///
/// Its mass matrix is constant and couples the two joints unless the rails are perpendicular.
#[derive(Debug, Clone)]
pub struct Tree {
    /// Position of each link at joint coordinates zero, metres.
    pub anchors: [DVec3; 2],
    /// Unit directions of the two rails, world axes.
    pub rails: [DVec3; 2],
    /// Mass of each link, kg.
    pub masses: [f64; 2],
    /// Shape of each link, not turning.
    pub shapes: [Shape; 2],
    /// Joint coordinates, metres.
    pub q: [f64; 2],
    /// Joint velocities, m/s.
    pub v: [f64; 2],
    /// Coefficient of restitution of both links.
    pub restitution: f64,
}

impl Tree {
    fn check(&self, owner: &dyn fmt::Display) -> Result<(), SkeletonError> {
        for mass in self.masses {
            positive(owner, "mass", mass)?;
        }
        for (what, values) in [("joint coordinate", self.q), ("joint velocity", self.v)] {
            if let Some(value) = values.iter().find(|x| !x.is_finite()) {
                return Err(non_finite(owner, what, value));
            }
        }
        for (what, vectors) in [("anchor", self.anchors), ("rail", self.rails)] {
            if let Some(vector) = vectors.iter().find(|v| !v.is_finite()) {
                return Err(non_finite(owner, what, vector));
            }
        }
        for rail in self.rails {
            positive(
                owner,
                "rail length",
                if (rail.length() - 1.0).abs() < 1e-9 { 1.0 } else { -rail.length() },
            )?;
        }
        not_negative(owner, "restitution", self.restitution)
    }
}

/// Something with a shape: a body or a link of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Member {
    /// A body.
    Body(BodyId),
    /// Link 0 or 1 of a tree.
    Link {
        /// Number of the tree.
        tree: u32,
        /// Number of the link.
        link: u32,
    },
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(id) => id.fmt(f),
            Self::Link { tree, link } => write!(f, "link {link} of tree {tree}"),
        }
    }
}

/// Bodies, trees and gravity.
#[derive(Debug, Clone)]
pub struct World {
    pub(super) gravity: DVec3,
    pub(super) bodies: Vec<Body>,
    pub(super) trees: Vec<Tree>,
}

impl World {
    /// Empty, with a gravitational acceleration in m/s².
    #[must_use]
    pub fn new(gravity: DVec3) -> Self {
        Self { gravity, bodies: Vec::new(), trees: Vec::new() }
    }

    /// Adds a body. It is checked when a simulation is made.
    pub fn add(&mut self, body: Body) -> BodyId {
        self.bodies.push(body);
        BodyId::new(self.bodies.len() as u32 - 1, 0)
    }

    /// Adds a tree and returns its number.
    pub fn add_tree(&mut self, tree: Tree) -> u32 {
        self.trees.push(tree);
        self.trees.len() as u32 - 1
    }

    /// Checks every number.
    ///
    /// # Errors
    /// The first bad one, with its owner; or an empty world.
    pub fn check(&self) -> Result<(), SkeletonError> {
        if !self.gravity.is_finite() {
            return Err(non_finite(&"world", "gravity", &self.gravity));
        }
        if self.trees.is_empty() && self.bodies.iter().all(|b| b.inertia.is_none()) {
            return Err(SkeletonError::Empty { bodies: self.bodies.len(), trees: 0 });
        }
        for (i, body) in self.bodies.iter().enumerate() {
            body.check(&Member::Body(BodyId::new(i as u32, 0)))?;
        }
        for (i, tree) in self.trees.iter().enumerate() {
            tree.check(&format_args!("tree {i}"))?;
        }
        Ok(())
    }
}

fn non_finite(owner: &dyn fmt::Display, what: &'static str, value: &dyn fmt::Display) -> SkeletonError {
    SkeletonError::NonFinite { owner: owner.to_string(), what, value: value.to_string() }
}

fn positive(owner: &dyn fmt::Display, what: &'static str, value: f64) -> Result<(), SkeletonError> {
    if !value.is_finite() {
        return Err(non_finite(owner, what, &value));
    }
    if value > 0.0 {
        Ok(())
    } else {
        Err(SkeletonError::NotPositive { owner: owner.to_string(), what, value })
    }
}

pub(super) fn not_negative(
    owner: &dyn fmt::Display,
    what: &'static str,
    value: f64,
) -> Result<(), SkeletonError> {
    if !value.is_finite() {
        return Err(non_finite(owner, what, &value));
    }
    if value >= 0.0 { Ok(()) } else { Err(SkeletonError::Negative { owner: owner.to_string(), what, value }) }
}
