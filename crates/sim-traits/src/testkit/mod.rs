//! Conformance kits: what any implementation of a seam must pass (feature `testkit`).
//!
//! Each kit takes an implementation, feeds it random but repeatable input, compares it with a naive oracle or a
//! certificate, and returns the first violation as text. Random input comes from [`sim_math::testkit`].
//!
//! ```
//! use sim_traits::testkit::{lcp, oracle::EnumerationLcp};
//!
//! lcp::conformance(&mut EnumerationLcp::default(), &lcp::Bounds { max_len: 8, ..Default::default() }).unwrap();
//! ```

pub mod broad_phase;
pub mod executor;
pub mod impact;
pub mod lcp;
pub mod mechanism;
pub mod narrow_phase;
pub mod oracle;
pub mod row_solver;
pub mod velocity_system;

pub use sim_math::testkit::*;
