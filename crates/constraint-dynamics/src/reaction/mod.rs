//! Reaction forces found through the integrator: values of all rows so that nothing that constraints hold has an error at the end of the frame.
//!
//! The integrator is the one that moves the bodies, of any kind: [`sim_math::integrate::Integrator`]. Because errors are looked at through it, what
//! is held stays held to the given error for any number of frames, and every force that holds it can be read.
//!
//! | file | concern |
//! |---|---|
//! | `body` | one body over one frame |
//! | `derivatives` | how it answers a push |
//! | `constraint` | what is to vanish: the seam for constraints of one's own |
//! | `joint` | joints as such constraints |
//! | `graph` | what interacts, in which order, what can be solved apart |
//! | `jacobian` | derivatives of errors, by factors and by trying |
//! | `linear` | the linear system, its methods, Broyden's updates |
//! | `frame` | the Newton method, bounds, change of method |
//! | `workspace` | what a frame writes, and what can be read of it |
//! | `params` | settings, state, report, errors |
//!
//! ```
//! use constraint_dynamics::reaction::*;
//! use sim_math::{Pose, glam::DVec3, integrate::Heun, spatial::{Force, Motion}};
//! use sim_traits::joint::{JointAnchor, JointKind, JointModel};
//!
//! // A ball of 2 kg hangs 1 m below the origin.
//! let below = Pose::from_translation(DVec3::NEG_Z);
//! let mut ball = ReactionBody::free(2.0, DVec3::splat(0.01), BodyState { pose: below, velocity: Motion::ZERO });
//! ball.given = Force::new(DVec3::ZERO, DVec3::NEG_Z * 19.62);
//! let anchor = JointAnchor::new(0, Pose::from_translation(DVec3::Z));
//! let model = JointModel::new(JointKind::Ball { drive: None }, [JointAnchor::world(Pose::IDENTITY), anchor]);
//! let mut joints = JointConstraints::new(vec![JointConstraint::new(model, vec![0], &[below])]);
//! let (mut state, mut workspace) = (ReactionState::default(), ReactionWorkspace::default());
//! let params = ReactionParams::default();
//! solve_frame(&[ball], &mut joints, &mut state, &params, &Heun, None, 0.01, &mut workspace)?;
//! // The joint bears its weight.
//! assert!((workspace.exerted(0, 0).linear - DVec3::Z * 19.62).length() < 1e-3);
//! # Ok::<(), ReactionError>(())
//! ```

mod body;
mod constraint;
mod derivatives;
mod frame;
mod graph;
mod jacobian;
mod joint;
mod linear;
mod params;
mod workspace;

pub use body::{BodyState, Mobility, PointForce, ReactionBody, integrate};
pub use constraint::{Constraints, ReactionRow, RowSide, RowTable, Site};
pub use derivatives::{BodyResponse, Property, Push};
pub use frame::solve_frame;
pub use graph::Graph;
pub use joint::{JointConstraint, JointConstraints, bounces};
pub use params::{
    Bound, JacobianKind, PartMemory, ReactionError, ReactionParams, ReactionReport, ReactionState, RowMemory,
    SolverEvent, WarmStart,
};
pub use workspace::ReactionWorkspace;
