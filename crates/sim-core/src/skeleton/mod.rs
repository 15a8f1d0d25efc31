//! A walking skeleton: the smallest simulator that uses every seam, with stand-ins behind each.
//!
//! Balls and boxes of isotropic inertia fly and bounce over half-spaces without friction; a tree of two sliding links
//! takes part through [`VelocitySystem`](sim_traits::VelocitySystem) like everything else. Time advances from
//! collision to collision. Each part is a boxed trait object in [`Parts`]:
//!
//! | seam | stand-in |
//! |---|---|
//! | `BroadPhase` | [`BruteForce`] |
//! | `NarrowPhase` | [`AnalyticPairs`] |
//! | `ImpactLaw` | [`Frictionless`] |
//! | `VelocitySystem` | [`FreeBodies`], [`SlidingTree`] |
//! | `Executor` | [`Serial`](sim_traits::Serial) |
//!
//! It exists to prove the seams before they are filled, and goes when the event-driven world has taken its place.

mod analytic_pairs;
mod brute_force;
mod collision;
mod error;
mod event_loop;
mod flight;
mod free_bodies;
mod frictionless;
mod impact_time;
mod report;
mod sliding_tree;
mod world;

pub use analytic_pairs::AnalyticPairs;
pub use brute_force::BruteForce;
pub use error::SkeletonError;
pub use event_loop::{FreeBodiesMaker, Params, Parts, Simulation};
pub use free_bodies::FreeBodies;
pub use frictionless::Frictionless;
pub use report::{CollisionEvent, Report};
pub use sliding_tree::SlidingTree;
pub use world::{Body, Inertia, Member, Tree, World};
