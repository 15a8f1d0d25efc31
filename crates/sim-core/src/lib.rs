//! Facade of the Tumblestone physics engine: a [`Simulation`](skeleton::Simulation) built from parts, each of them a
//! trait object that can be swapped.
//!
//! ```
//! use sim_core::prelude::*;
//!
//! let mut world = World::new(DVec3::new(0.0, 0.0, -9.81));
//! world.add(Body::fixed(HalfSpace::up()));
//! let ball = world.add(Body::free(Sphere::new(0.1)?, 1.0, 0.004).at(DVec3::new(0.0, 0.0, 1.1)).restitution(0.8));
//!
//! let mut sim = Simulation::new(world, Parts::default())?;
//! sim.advance(4.0)?;
//! assert!(sim.position(ball).unwrap().z < 1.1);
//! println!("{}", sim.report());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Today the facade holds the [walking skeleton](skeleton): small stand-ins behind the real seams. They are replaced
//! one by one by the algorithm crates.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | reserved: the crate always links `std` today |
//! | `libm` | no | the same bits on every target |

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

pub mod skeleton;

pub use sim_math as math;
pub use sim_traits as traits;

/// What most programs need.
pub mod prelude {
    pub use crate::skeleton::{Body, Parts, Simulation, Tree, World};
    pub use sim_math::{
        Pose,
        glam::{DQuat, DVec3},
    };
    pub use sim_traits::{Cuboid, HalfSpace, Shape, Sphere};
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
