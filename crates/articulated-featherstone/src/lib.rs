//! Trees of joints in reduced coordinates: forward and inverse dynamics, impulses and contact matrices in O(n).
//!
//! ```
//! use articulated_featherstone::{Joint, Link, ModelBuilder, State, Workspace, aba};
//! use sim_math::{Sym3, glam::DVec3};
//!
//! // A uniform rod of 1 m and 1 kg on a hinge, held out horizontally and let go: 3/2 g / L.
//! let rod = Sym3::from_diagonal(DVec3::new(0.0, 1.0 / 12.0, 1.0 / 12.0));
//! let model = ModelBuilder::new()
//!     .gravity(DVec3::new(0.0, 0.0, -9.81))
//!     .link(Link::new("rod", Joint::Revolute { axis: DVec3::Y }).mass(1.0, DVec3::X * 0.5, rod))
//!     .build()?;
//! let (state, mut ws) = (State::new(&model), Workspace::new(&model));
//! aba(&model, &state, &[0.0], &[], &mut ws)?;
//! assert!((ws.qdd()[0] - 1.5 * 9.81).abs() < 1e-13);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Used alone: build a [`Model`], keep a [`State`] and a [`Workspace`], call the functions. Used through contacts:
//! [`TreeSystem`] answers as a [`sim_traits::VelocitySystem`].
//!
//! # Conventions
//!
//! SI units; the frame of a link is the one its joint moves, unless [`Link::frame`] gives another; spatial vectors angular first, at the link origin
//! in link axes, accelerations spatial (Featherstone's), gravity entering as an acceleration of the base. The repository's `docs/conventions.md` has
//! them all on one page.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | reserved: the crate always links `std` today |
//! | `libm` | no | the same bits on every target |
//! | `serde` | no | `Serialize` and `Deserialize` for states and joints |
//! | `testkit` | no | random trees, the reader of workload models |
//!
//! # What it does not do
//!
//! No shapes and no contact detection; no time stepping of contacts.

#![allow(
    clippy::needless_range_loop,
    reason = "kernels index several arrays over links and velocities by one number"
)]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod algorithm;
mod builder;
mod error;
mod identify;
mod inverse;
mod joint;
mod model;
mod packed;
mod passive;
mod state;
mod system;
#[cfg(feature = "testkit")]
pub mod testkit;
mod workspace;

pub use algorithm::{
    aba::{aba, aba_with_reactions},
    crba::crba,
    derivatives::{DerivativeWorkspace, aba_derivatives, rnea_derivatives},
    impulse::{LinkImpulse, apply_impulses, contact_matrix, cross_inertia, delassus},
    integrate::{Control, TreeMotion, difference, integrate, position_rate, step_semi_implicit},
    jacobian::{body_jacobian, point_jacobian, world_jacobian},
    kinematics::{compute_accelerations, compute_poses, compute_velocities},
    limits::{LimitRow, dof_mobility, limit_impulse, limit_rows},
    loops::{Loop, LoopKind, LoopWorkspace, loop_accelerations, loop_error, project_loops},
    mass_solve::{factorize, solve_mass},
    momentum::{center_of_mass, centroidal_matrix, kinetic_energy, momentum_about, potential_energy},
    rnea::{bias_forces, rnea},
    whitened::Whitened,
};
pub use builder::{Link, ModelBuilder};
pub use error::ModelError;
pub use identify::InertiaEstimator;
pub use inverse::{FeedbackParams, TorqueTrack, add_torque_feedback, computed_torque};
pub use joint::{Joint, free_coordinates};
pub use model::{DofParams, Model};
pub use packed::{
    Lane, Lanes2, Lanes4, NotPackable, PackedTree, PackedWorkspace, Part, packed_aba, packed_crba,
    packed_crba_upper, packed_rnea,
};
pub use passive::{DRY_SPEED, passive_forces, spring_energy};
pub use state::{BaseMotion, State};
pub use system::TreeSystem;
pub use workspace::Workspace;

/// Vectors, poses and boxes, which this crate speaks in.
pub use sim_math as math;
/// The traits that this crate implements or takes, and their plain data.
pub use sim_traits as traits;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
