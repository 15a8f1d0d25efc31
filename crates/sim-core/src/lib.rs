//! Facade of the Tumblestone physics engine: a [`Simulation`] built from parts, each of them a trait object that can be swapped.
//!
//! ```
//! use sim_core::prelude::*;
//!
//! let mut world = World::builder().gravity([0.0, 0.0, -9.81]).build()?;
//! world.add(Body::fixed().shape(HalfSpace::up()))?;
//! let ball = world.add(Body::free().shape(Sphere::new(0.1)?).density(7800.0).at([0.0, 0.0, 1.1]).restitution(0.8))?;
//!
//! let mut sim = Simulation::new(world); // sensible defaults for every seam
//! sim.advance(4.0)?; // seconds
//! assert!(sim.world()[ball].position().z < 0.2);
//! println!("{:?}  {}", sim.world()[ball].position(), sim.report());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same world with other parts:
//!
//! ```
//! use sim_core::{broadphase::DynamicTree, prelude::*, rigid::impact::Algebraic};
//!
//! let mut world = World::new([0.0, 0.0, -9.81])?;
//! world.add(Body::fixed().shape(HalfSpace::up()))?;
//! world.add(Body::free().shape(Sphere::new(0.1)?).at([0.0, 0.0, 1.1]))?;
//! let mut sim = Simulation::builder(world).broad_phase(DynamicTree::default()).impact(Algebraic::default()).build()?;
//! sim.advance(1.0)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same world by fixed steps, all contacts solved together: piles, stacks, walls.
//!
//! ```
//! use sim_core::prelude::*;
//!
//! let mut world = World::new([0.0, 0.0, -9.81])?;
//! world.add(Body::fixed().shape(HalfSpace::up()))?;
//! for k in 0..5 {
//!     world.add(Body::free().shape(Cuboid::new(DVec3::splat(0.5))?).at([0.0, 0.0, 0.5 + f64::from(k)]))?;
//! }
//! let params = TimeSteppingParams::default().dt(0.01);
//! let mut sim = Simulation::builder(world).params(params).contact_law(ConeNewton::default()).build()?;
//! let report = sim.advance(2.0)?;
//! assert!(report.solver.deepest < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It knows all other crates and has no logic of its own; each of them can be used alone.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | reserved: the crate always links `std` today |
//! | `serde` | no | snapshots ([`Simulation::snapshot`]) |
//! | `libm` | no | the same bits on every target |
//! | `testkit` | no | conformance kits for parts of one's own: `traits::testkit`, `world::testkit` |

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod builder;
pub mod parts;
mod queries;
mod simulation;
mod threads;

pub use articulated_featherstone as articulated;
pub use collision_broadphase as broadphase;
pub use collision_narrowphase as narrowphase;
pub use constraint_dynamics as constraints;
pub use lcp_lemke as lcp;
pub use rigid_impulse as rigid;
pub use sim_math as math;
pub use sim_steppers as steppers;
pub use sim_traits as traits;
pub use sim_world as world;

pub use builder::{BuildError, SimulationBuilder, StepperParams, soft_stepping, time_stepping};
pub use simulation::Simulation;
pub use threads::Threads;

/// What most programs need.
pub mod prelude {
    pub use crate::{
        BuildError, Simulation, SimulationBuilder, StepperParams, Threads, soft_stepping, time_stepping,
    };
    pub use collision_narrowphase::{
        Polyhedron, compound::Compound, height_field::HeightField, mesh::TriMesh,
    };
    pub use constraint_dynamics::{ConeGaussSeidel, ConeNewton, Greedy, PolyhedralCone, soft::SoftParams};
    pub use rigid_impulse::{Combine, Material, MaterialId, MaterialTable, SurfacePair};
    pub use sim_math::{
        Pose,
        glam::{DQuat, DVec3},
        spatial::Motion,
    };
    pub use sim_steppers::{
        Collisions, ContactHandling, ContactMethod, EventDriven, EventDrivenParams, Micro, Parts,
        ReactionForce, ReactionForceParams, SleepParams, Stabilization, TimeSleepParams, TimeStepping,
        TimeSteppingParams,
    };
    pub use sim_traits::{
        BodyId, Capsule, ColliderId, Cuboid, Cylinder, HalfSpace, JointId, Ray, Serial, Shape, ShapeError,
        Sphere,
    };
    pub use sim_world::{
        Anchor, Body, Callback, Closest, Collider, ColliderBuilder, Collision, Contact, Controller, Event,
        EventKind, ForceGenerator, Groups, Joint, JointMotor, JointPartner, Listing, OpenLoop, Part, Pid,
        Quantity, QueryError, QueryFilter, QueryIndex, RayCast, Registry, ShapeCast, SnapshotError,
        StepError, StepReport, Stepper, StepperAccess, World, WorldError,
    };
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
