//! Steps of time in which the force of every joint is found so that the joint holds at the end of the step, through the integrator that moves the bodies.
//!
//! | file | concern |
//! |---|---|
//! | `stepper` | the loop, and the [`Stepper`](sim_world::Stepper) |
//! | `params` | settings |
//! | `read` | bodies, forces and joints of the world, as the kernels see them |
//! | `book` | what comes out, into the world: poses, loads, accounts |
//! | `saved` | its tables as bytes |
//!
//! The kernels are [`constraint_dynamics::reaction`].

mod book;
mod params;
mod read;
mod saved;
mod stepper;

pub use params::{Collisions, ReactionForceParams};
pub use stepper::{ReactionForce, SolverNote};
