//! Everything that acts on bodies as rows: contacts with friction, joints, limits, motors, and the seam to the solvers of such problems.
//!
//! | file | concern |
//! |---|---|
//! | `law` | what impulse and velocity of a block of rows obey |
//! | `groups` | the bodies and trees behind the rows |
//! | `problem` | many blocks that share bodies |
//! | `certificate` | how well impulses obey their laws |
//! | `solver` | the trait of solvers, their reports and errors |

mod certificate;
mod groups;
mod law;
mod problem;
mod solver;

pub use certificate::RowCertificate;
pub use groups::{BlockSide, FreeBody, Groups, SidedBlocks};
pub use law::{Bounds, Law, Turning, project_on_cone};
pub use problem::RowProblem;
pub use solver::{RowError, RowReport, RowSolver};
