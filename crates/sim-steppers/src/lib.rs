//! How a world moves on in time: from event to event, or by fixed steps.
//!
//! ```
//! use sim_steppers::{EventDriven, Parts};
//! use sim_traits::{HalfSpace, Sphere};
//! use sim_world::{Body, Stepper, World};
//!
//! let mut world = World::builder().gravity([0.0, 0.0, -9.81]).build()?;
//! world.add(Body::fixed().shape(HalfSpace::up()))?;
//! let ball = world.add(Body::free().shape(Sphere::new(0.1)?).at([0.0, 0.0, 1.1]).restitution(0.8))?;
//!
//! let mut stepper = EventDriven::new(Parts::default());
//! let report = stepper.advance(&mut world, 1.0)?;
//! assert_eq!(report.collisions, 1);
//! assert!(world[ball].position().z > 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | stepper | what it does |
//! |---|---|
//! | [`EventDriven`] | from collision to collision, each at its exact time; resting contact as micro-collisions |
//! | [`TimeStepping`] | fixed steps, all contacts of an island solved together: piles, stacks, fixed frame rates |
//! | [`ReactionForce`] | fixed steps of the chosen integrator, joints held to a stated error; no contacts |
//!
//! [`Parts`] is one set of parts for all steppers, with defaults; each part can be exchanged.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | reserved: the crate always links `std` today |
//! | `serde` | no | the tables of a stepper as bytes, for snapshots |
//! | `libm` | no | the same bits on every target |
//!
//! # What it does not do
//!
//! [`EventDriven`] and soft contacts run no joints; they refuse them by name. [`TimeStepping`] knows springs, drag, constant forces and torques, and
//! refuses other forces that depend on the state.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod anchor;
mod errors;
pub mod event_driven;
mod parts;
mod pooled;
mod push;
pub mod reaction_force;
mod scale;
mod setters;
#[cfg(test)]
mod sizes;
pub mod time_stepping;

pub use event_driven::{ContactHandling, EventDriven, EventDrivenParams, Micro, SleepParams};
pub use parts::{ContactMethod, Parts};
pub use reaction_force::{Collisions, ReactionForce, ReactionForceParams};
pub use time_stepping::{Stabilization, TimeSleepParams, TimeStepping, TimeSteppingParams};

/// Contact laws and the soft solver.
pub use constraint_dynamics as constraints;
/// Vectors, poses and boxes, which this crate speaks in.
pub use sim_math as math;
/// The traits that this crate implements or takes, and their plain data.
pub use sim_traits as traits;
/// Worlds, which steppers move on.
pub use sim_world as world;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
