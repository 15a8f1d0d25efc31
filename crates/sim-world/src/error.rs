//! What can be wrong with a world and its contents.

use crate::{ControllerId, ForceId, TimerId};
use articulated_featherstone::ModelError;
use rigid_impulse::{BodyError, MaterialId};
use sim_math::{glam::DVec3, mass::MassError};
use sim_traits::{BodyId, ColliderId, DynamicsError, JointId, TreeId, joint::JointError};
use thiserror::Error;

/// Input that a world refuses; the world is then what it was before the call.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum WorldError {
    /// A body that was removed, or never was.
    #[error("{id} does not exist")]
    UnknownBody {
        /// Which body.
        id: BodyId,
    },
    /// A collider that was removed, or never was.
    #[error("{id} does not exist")]
    UnknownCollider {
        /// Which collider.
        id: ColliderId,
    },
    /// A force that was removed, or never was.
    #[error("{id} does not exist")]
    UnknownForce {
        /// Which force.
        id: ForceId,
    },
    /// A timer that was stopped, or never was.
    #[error("{id} does not exist")]
    UnknownTimer {
        /// Which timer.
        id: TimerId,
    },
    /// A controller that was removed, or never was.
    #[error("{id} does not exist")]
    UnknownController {
        /// Which controller.
        id: ControllerId,
    },
    /// A controller that is acting at the moment: it cannot be changed from within.
    #[error("{id} is acting")]
    ControllerActing {
        /// Which controller.
        id: ControllerId,
    },
    /// A controller has no number of that name.
    #[error("{id} has no {what:?}")]
    UnknownSetting {
        /// Which controller.
        id: ControllerId,
        /// The name.
        what: &'static str,
    },
    /// A vector of all bodies has the wrong length.
    #[error("{what} has {got} numbers, expected {expected}")]
    WrongLength {
        /// Which vector.
        what: &'static str,
        /// How many numbers it must have.
        expected: usize,
        /// How many it has.
        got: usize,
    },
    /// A number of the world itself is NaN or infinite.
    #[error("world: {what} is not finite: {value}")]
    NonFinite {
        /// Which quantity.
        what: &'static str,
        /// Its value.
        value: DVec3,
    },
    /// A number that must be positive and finite is not.
    #[error("world: {what} must be positive and finite, got {value}")]
    NotPositive {
        /// Which quantity.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A quantity of a body cannot be.
    #[error("{body}: {source}")]
    Body {
        /// Which body: for one that is being added, the id that it would have got.
        body: BodyId,
        /// What is wrong.
        source: BodyError,
    },
    /// A shape of a body has no mass that could be computed.
    #[error("{body}, shape {index} ({shape}): {source}")]
    Mass {
        /// Which body.
        body: BodyId,
        /// Position among the body's shapes.
        index: usize,
        /// Kind of shape.
        shape: &'static str,
        /// What is wrong.
        source: MassError,
    },
    /// A free body whose mass follows neither from its shapes nor from the user.
    #[error("{body}: no mass: shape {index} ({shape}) is not a solid of known mass; give mass properties")]
    NoMass {
        /// Which body.
        body: BodyId,
        /// Position among the body's shapes.
        index: usize,
        /// Kind of shape.
        shape: &'static str,
    },
    /// A free body without shapes and without mass.
    #[error("{body}: no mass: it has neither shapes nor mass properties")]
    Massless {
        /// Which body.
        body: BodyId,
    },
    /// An operation for free bodies on another kind.
    #[error("{body} is not free: {what}")]
    NotFree {
        /// Which body.
        body: BodyId,
        /// What was asked.
        what: &'static str,
    },
    /// A body that only a fixed or scripted body can be made of.
    #[error("{body}, shape {index}: a {shape} has no bounds, and only a fixed or scripted body can have it")]
    Unbounded {
        /// Which body.
        body: BodyId,
        /// Position among the body's shapes.
        index: usize,
        /// Kind of shape.
        shape: &'static str,
    },
    /// A material whose numbers cannot be.
    #[error("material {id}: {source}", id = .material.0)]
    Material {
        /// Which material.
        material: MaterialId,
        /// What is wrong.
        source: BodyError,
    },
    /// A material that the world's table does not have.
    #[error("{body}: material {id} does not exist", id = .material.0)]
    UnknownMaterial {
        /// Which body.
        body: BodyId,
        /// Which material.
        material: MaterialId,
    },
    /// A joint that was removed, or never was.
    #[error("{id} does not exist")]
    UnknownJoint {
        /// Which joint.
        id: JointId,
    },
    /// A number or setting of a joint that cannot be.
    #[error("{joint} ({kind}): {source}")]
    Joint {
        /// Which joint: for one that is being added, the id that it would have got.
        joint: JointId,
        /// Its kind.
        kind: &'static str,
        /// What is wrong.
        source: JointError,
    },
    /// A joint none of whose partners is free.
    #[error("{joint} ({kind}): none of its partners is a free body")]
    JointFixed {
        /// Which joint.
        joint: JointId,
        /// Its kind.
        kind: &'static str,
    },
    /// A tree that was removed, or never was.
    #[error("{id} does not exist")]
    UnknownTree {
        /// Which tree.
        id: TreeId,
    },
    /// Links and joints that make no tree.
    #[error("{tree}: {source}")]
    TreeModel {
        /// Which tree: for one that is being added, the id that it would have got.
        tree: TreeId,
        /// What is wrong, and at which link.
        source: ModelError,
    },
    /// A link whose body cannot be.
    #[error("{tree}, link {link:?}: {source}")]
    TreeLink {
        /// Which tree.
        tree: TreeId,
        /// Which link.
        link: String,
        /// What is wrong.
        source: Box<WorldError>,
    },
    /// A number of a tree that cannot be.
    #[error("{tree}, link {link:?}: {what}, number {index}: {value}")]
    TreeNumber {
        /// Which tree.
        tree: TreeId,
        /// Which link; empty for the tree itself.
        link: String,
        /// What kind of number.
        what: &'static str,
        /// Its place.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// What the algorithms of trees refuse.
    #[error("{tree}: {source}")]
    Tree {
        /// Which tree.
        tree: TreeId,
        /// Why.
        source: DynamicsError,
    },
    /// A link of a tree cannot be moved on its own.
    #[error("{body} is a link of {tree}: {what}")]
    Linked {
        /// Which body.
        body: BodyId,
        /// Its tree.
        tree: TreeId,
        /// What was asked.
        what: &'static str,
    },
    /// A joint of a body with itself.
    #[error("{joint} ({kind}): both partners are {body}")]
    JointSameBody {
        /// Which joint.
        joint: JointId,
        /// Its kind.
        kind: &'static str,
        /// The body.
        body: BodyId,
    },
    /// An axis without direction.
    #[error("{joint} ({kind}): an axis must be a finite non-zero vector, got {axis}")]
    JointAxis {
        /// Which joint.
        joint: JointId,
        /// Its kind.
        kind: &'static str,
        /// What was given.
        axis: DVec3,
    },
    /// Bodies that are not where the joint would hold them.
    #[error("{joint} ({kind}): what it holds is off by {error}, more than {tolerance}")]
    JointApart {
        /// Which joint.
        joint: JointId,
        /// Its kind.
        kind: &'static str,
        /// m or rad.
        error: f64,
        /// m or rad.
        tolerance: f64,
    },
}
