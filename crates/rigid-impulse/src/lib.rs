//! Collisions of rigid bodies resolved exactly: frictional impact laws, free-body motion, time-of-impact bounds, event
//! queue.
//!
//! ```
//! use rigid_impulse::{Body, ContactFrame, PrincipalMass, collide_pair, impact::Integrated};
//! use sim_math::{Pose, glam::DVec3};
//!
//! // A spinning 1 kg ball of radius 0.1 m falls on the ground.
//! let mut ball = Body::free(PrincipalMass::ball(1.0, 0.1)?, Pose::from_translation(DVec3::Z * 0.1))?;
//! ball.state.velocity.linear = DVec3::new(0.0, 0.0, -2.0);
//! ball.state.velocity.angular = DVec3::new(0.0, 30.0, 0.0);
//! let mut ground = Body::fixed(Pose::IDENTITY)?;
//!
//! let contact = ContactFrame::new(DVec3::ZERO, DVec3::Z)?; // normal from the ground to the ball
//! collide_pair(&mut ball, &mut ground, &contact, &Integrated::default(), 0.8, 0.5)?;
//! assert!((ball.state.velocity.linear.z - 1.0).abs() < 1e-12); // bounces at half its speed
//! assert!((ball.state.velocity.linear.x - 6.0 / 7.0).abs() < 1e-12); // and the spin carries it off, rolling
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | what | where |
//! |---|---|
//! | laws: integrated, algebraic, frictionless | [`impact`] |
//! | free, fixed, scripted bodies: what they are, where they are | [`BodyModel`], [`BodyState`], both in [`Body`] |
//! | the pool as a velocity system | [`FreeBodies`] |
//! | collision matrix of any two parts of any two systems | [`Contact`] |
//! | resting contact as tiny collisions | [`MicroParams`] |
//! | travel and time-of-impact bounds, kinds of motion | [`bounds`], [`motion`] |
//! | event queue | [`EventQueue`] |
//! | materials and how pairs combine | [`MaterialTable`] |
//!
//! # Conventions
//!
//! SI units; the contact normal points from B to A; in contact axes z is the normal; impulses act on A. The repository's
//! `docs/conventions.md` has them all on one page.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | reserved: the crate always links `std` today |
//! | `libm` | no | the same bits on every target |
//! | `serde` | no | `Serialize` and `Deserialize` for plain data |
//!
//! # What it does not do
//!
//! It finds no contacts and keeps no world: those are the business of the collision crates and of `sim-world`.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

pub mod bounds;
pub mod impact;
pub mod motion;

mod body;
mod collision_matrix;
mod error;
mod events;
mod free_bodies;
mod material;
mod micro;
mod model;
mod pseudo_inverse;
#[cfg(test)]
mod testing;

pub use body::{Body, BodyState};
pub use collision_matrix::{
    CollisionError, CollisionWorkspace, Contact, ContactFrame, Sides, collide_pair, pair_matrix,
};
pub use error::BodyError;
pub use events::{EventError, EventId, EventQueue};
pub use free_bodies::FreeBodies;
pub use material::{Combine, Material, MaterialId, MaterialTable, SurfacePair, check_turning_friction};
pub use micro::{CollisionKind, MicroParams, Profile};
pub use model::{BodyKind, BodyModel, PrincipalMass};
pub use pseudo_inverse::pseudo_inverse;

/// Vectors, poses and boxes, which this crate speaks in.
pub use sim_math as math;
/// The traits that this crate implements or takes, and their plain data.
pub use sim_traits as traits;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
