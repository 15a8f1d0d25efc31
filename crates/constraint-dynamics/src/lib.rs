//! Contact with friction at many points as one problem, for any system with velocities.
//!
//! ```
//! use constraint_dynamics::{ConeGaussSeidel, Delassus, PoolBody, PoolContact, pool};
//! use sim_math::{glam::{DMat3, DVec3}, spatial::Motion};
//! use sim_traits::RowSolver;
//!
//! // A ball of 2 kg falls on the ground at 3 m/s and slides at 1 m/s.
//! let ball = PoolBody {
//!     center: DVec3::new(0.0, 0.0, 0.1),
//!     inverse_mass: 0.5,
//!     inverse_inertia: DMat3::from_diagonal(DVec3::splat(125.0)),
//!     velocity: Motion::new(DVec3::ZERO, DVec3::new(1.0, 0.0, -3.0)),
//! };
//! let contact = PoolContact {
//!     bodies: [0, u32::MAX], // the ground is no body of the pool
//!     point: DVec3::ZERO,
//!     frame: DMat3::IDENTITY,
//!     friction: 0.5,
//!     bias: DVec3::ZERO,
//! };
//! let (mut bodies, contacts) = ([ball], [contact]);
//! let mut problem = Delassus::default();
//! pool::assemble(&bodies, &contacts, &mut pool::PoolWorkspace::default(), &mut problem);
//! let mut impulses = [DVec3::ZERO];
//! ConeGaussSeidel::default().solve(&problem.problem()?, &mut impulses)?;
//! pool::apply(&mut bodies, &contacts, &impulses);
//! assert!(bodies[0].velocity_at(DVec3::ZERO).length() < 1e-12); // it rolls
//! # Ok::<(), sim_traits::RowError>(())
//! ```
//!
//! | module | concern |
//! |---|---|
//! | [`rows`] | rows and Delassus operator of any velocity systems |
//! | [`pool`] | the same for free bodies, block by block |
//! | [`grouped`] | the same for blocks on bodies and trees |
//! | [`islands`] | contacts that have to be solved together |
//! | [`cone`] | one contact, exactly |
//! | [`local`] | one block of rows, exactly |
//! | [`rolling`] | rolling and torsional friction of one contact, exactly |
//! | [`gauss_seidel`] | [`ConeGaussSeidel`]: exact cones |
//! | [`newton`] | [`ConeNewton`]: exact cones for deep piles |
//! | [`normals`] | contacts without friction: overlaps of heaps |
//! | [`polyhedral`] | [`PolyhedralCone`]: flat-sided cones through any [`LcpSolver`](sim_traits::LcpSolver) |
//! | [`greedy`] | [`Greedy`]: the worst contact first |
//! | [`held`] | what joints answer to any impulse, as one linear system |
//! | [`restitution`] | impacts of all contacts that hit at one time |
//! | [`soften`] | problems that may have no solution |
//! | [`stabilize`] | drift: Baumgarte's bias and steps of the configuration alone |
//! | [`joints`] | rows of all kinds of joints |
//! | [`reaction`] | reaction forces of joints found through the integrator |
//! | [`soft`] | [`SoftSolver`](soft::SoftSolver): substeps of stiff springs, for large scenes |
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | reserved: the crate always links `std` today |
//! | `libm` | no | the same bits on every target |
//!
//! # What it does not do
//!
//! It finds no contacts and moves nothing: `sim-steppers` does.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod anderson;
pub mod cone;
mod contradiction;
mod delassus;
mod envelope;
mod extrapolate;
pub mod gauss_seidel;
pub mod greedy;
pub mod grouped;
pub mod held;
pub mod islands;
mod jointed;
pub mod joints;
pub mod local;
pub mod newton;
pub mod normals;
mod order;
pub mod polyhedral;
pub mod pool;
pub mod reaction;
mod reflect;
pub mod restitution;
pub mod rolling;
pub mod rows;
mod sided;
mod sides;
pub mod soft;
pub mod soften;
pub mod stabilize;
mod sweeps;
pub use delassus::Delassus;
pub use gauss_seidel::{ConeGaussSeidel, ConeParams};
pub use greedy::{Greedy, GreedyParams};
pub use islands::Islands;
pub use newton::{ConeNewton, NewtonParams};
pub use polyhedral::{PolyhedralCone, PolyhedralParams};
pub use pool::{PoolBody, PoolContact};

/// Vectors, poses and boxes, which this crate speaks in.
pub use sim_math as math;
/// The traits that this crate implements or takes, and their plain data.
pub use sim_traits as traits;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
