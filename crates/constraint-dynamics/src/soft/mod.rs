//! Many contacts at interactive rates: substeps, each contact a stiff damped spring solved implicitly, patches of up to four points
//! as one block, four patches per instruction.
//!
//! | file | holds |
//! |---|---|
//! | `bodies` | what the solver is given |
//! | `lane` | one number or four side by side, same bits |
//! | `colour` | groups of patches that share no body |
//! | `patch` | one patch: normal block, friction block, restitution |
//! | `step` | the substeps |
//!
//! A soft contact rests a little inside the other body: how much depends on the frequency of its spring, not on the number of
//! bodies above it alone. For contacts without that use an exact solver.

mod bodies;
mod colour;
mod lane;
mod patch;
mod step;

pub use bodies::{NormalOf, Outcome, SoftBodies, SoftBody, SoftManifold};
pub use step::{SoftError, SoftParams, SoftReport, SoftSolver};
