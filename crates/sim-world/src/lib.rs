//! State of a simulated world: bodies, colliders, scripts, forces, events; and the [`Stepper`] trait of what moves it on.
//!
//! ```
//! use sim_math::glam::DVec3;
//! use sim_traits::{HalfSpace, Sphere};
//! use sim_world::{Body, World};
//!
//! let mut world = World::builder().gravity([0.0, 0.0, -9.81]).build()?;
//! world.add(Body::fixed().shape(HalfSpace::up()))?;
//! let ball = world.add(Body::free().shape(Sphere::new(0.1)?).density(7800.0).at([0.0, 0.0, 1.0]))?;
//! assert_eq!(world[ball].position(), DVec3::new(0.0, 0.0, 1.0));
//!
//! // Time is a stepper's business. What a body does until its next event has a closed form.
//! let later = world[ball].at(0.1)?;
//! assert!((later.pose().translation.z - (1.0 - 0.5 * 9.81 * 0.01)).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | what | where |
//! |---|---|
//! | bodies, colliders, time, gravity, changes | [`World`], [`Body`], [`Collider`] |
//! | motion between events | [`Piece`], [`Law`] |
//! | prescribed motion | [`Script`], [`Screw`] |
//! | forces | [`ForceGenerator`], [`ForceField`] |
//! | control | [`Controller`], [`Pid`], [`OpenLoop`], [`Callback`]; [`SetGravity`], [`Push`], [`SetVelocity`], [`HoldForce`], [`HoldAt`], [`RemoveBelow`] |
//! | what holds bodies together | [`Joint`], [`JointBuilder`], [`JointAxis`] |
//! | articulated bodies | [`Tree`], [`TreeBuilder`], [`LinkBuilder`] |
//! | what happened | [`Event`], [`EnergyAccount`], [`MomentumAccount`] |
//! | questions | [`QueryIndex`] |
//! | saving and going on elsewhere | [`World::snapshot`], [`World::restore`], [`World::digest`] |
//! | moving on in time | [`Stepper`], [`StepperAccess`], [`StepReport`], [`StepError`] |
//!
//! Use it through `sim-core`, which adds a stepper; or alone, to describe a world to a stepper of your own.
//!
//! # Conventions
//!
//! SI units. The user's frame of a body is the one its shapes were given in; inside, bodies are kept at the centre of mass
//! with principal axes. The repository's `docs/conventions.md` has all conventions on one page.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | reserved: the crate always links `std` today |
//! | `serde` | no | snapshots ([`World::snapshot`]) |
//! | `libm` | no | the same bits on every target |
//! | `testkit` | no | conformance kit for steppers (`testkit::stepper`) |
//!
//! # What it does not do
//!
//! It finds no contacts and handles none: that is a stepper's business.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod access;
mod account;
mod acts;
mod body;
mod collider;
mod control;
mod dense;
mod digest;
mod error;
mod events;
mod force;
mod interpolate;
mod joint;
mod locked;
mod measure;
mod part;
mod piece;
mod query;
mod script;
mod slots;
pub mod snapshot;
mod solid;
mod stability;
mod stepper;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
mod tree;
mod work;
mod world;

pub use access::StepperAccess;
pub use account::{EnergyAccount, Momentum, MomentumAccount};
pub use acts::{HoldAt, HoldForce, Push, RemoveBelow, SetGravity, SetVelocity};
pub use articulated_featherstone::{DofParams, Joint as TreeJoint};
pub use body::{Body, BodyBuilder, DEFAULT_DENSITY, DEFAULT_FRICTION, DEFAULT_RESTITUTION, Rest};
pub use collider::{Collider, ColliderBuilder, Groups, Surface, Traction, TurningFriction};
pub use control::{Action, Callback, Controller, ControllerId, OpenLoop, Pid, Quantity};
pub use dense::Dense;
pub use error::WorldError;
pub use events::{Collision, Contact, Event, EventKind, Listing, Timer, TimerId};
pub use force::{Anchor, Field, ForceField, ForceGenerator, ForceId};
pub use interpolate::PoseHistory;
pub use joint::{Breaking, Joint, JointBuilder, JointMiss, JointPartner};
pub use locked::LockedAxes;
pub use part::{AsAny, Part};
pub use piece::{Extent, Law, Piece};
pub use query::{Closest, QueryError, QueryFilter, QueryIndex, RayCast, ShapeCast};
pub use script::{Limits, Screw, Script, ScriptRecord};
pub use sim_traits::{
    JointId, TreeId,
    joint::{JointAxis, JointDrive, JointLimits, JointMotor, JointSoftness},
};
pub use snapshot::{Registry, SnapshotError};
pub use solid::mass_of;
pub use stability::Stability;
pub use stepper::{PairName, SolverReport, StepError, StepReport, Stepper};
pub use tree::{LinkBuilder, LinkState, Tree, TreeBuilder};
pub use work::{ContactWork, ForceWork, JointWork};
pub use world::{Change, Mark, World, WorldBuilder};

/// Collision laws, materials and states of bodies.
pub use rigid_impulse as rigid;
/// Vectors, poses and boxes, which this crate speaks in.
pub use sim_math as math;
/// The traits that this crate implements or takes, and their plain data.
pub use sim_traits as traits;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
