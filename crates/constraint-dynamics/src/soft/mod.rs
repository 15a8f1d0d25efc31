//! Many contacts at interactive rates: substeps, each contact a stiff damped spring solved implicitly, patches of up to four points
//! as one block, eight patches side by side.
//!
//! | file | holds |
//! |---|---|
//! | `bodies` | what the solver is given |
//! | `lane` | one number or several side by side, same bits |
//! | `territories` | parts of space, one for a thread |
//! | `colour` | patches that share no body |
//! | `share` | the bodies and patches of one thread |
//! | `shares` | all of them, and what they have in common |
//! | `team` | threads that wait for each other |
//! | `shelf` | a slice that threads share item by item |
//! | `patch` | one patch: normal block, friction block, restitution |
//! | `joints` | joints: all rows as one linear system in each substep |
//! | `substeps` | how many substeps loads and sizes need |
//! | `step` | the substeps |
//!
//! A soft contact rests a little inside the other body: how much depends on the frequency of its spring, not on the number of
//! bodies above it alone. For contacts without that use an exact solver.

mod bodies;
mod colour;
mod joints;
mod lane;
mod patch;
mod share;
mod shares;
mod shelf;
mod step;
mod substeps;
mod team;
mod territories;

pub use bodies::{NormalOf, Outcome, SoftBodies, SoftBody, SoftManifold};
pub use joints::{JointSource, SoftJoints};
pub use step::{SoftError, SoftParams, SoftReport, SoftSolver};
pub use territories::Territories;
