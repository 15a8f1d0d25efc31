//! Linear complementarity problems: find z ≥ 0 with w = M z + q ≥ 0 and zᵀw = 0, with a certificate.
//!
//! ```
//! use lcp_lemke::{Driver, DriverParams, LcpProblem, Method};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A sequence of similar problems: the driver starts from the last basis when asked to.
//! let mut params = DriverParams::default();
//! params.warm_start = true;
//! let mut driver = Driver::new(params);
//! let (m, mut z) = ([2.0, 1.0, 1.0, 2.0], [0.0; 2]);
//! assert_eq!(driver.run(&LcpProblem::new(&m, &[-5.0, -6.0])?, &mut z)?.method, Method::Interior);
//! assert_eq!(driver.run(&LcpProblem::new(&m, &[-5.1, -6.0])?, &mut z)?.method, Method::Warm);
//!
//! // No solution: the reason, and the ray that shows it.
//! let failure = driver.run(&LcpProblem::new(&[-1.0], &[-1.0])?, &mut z[..1]).unwrap_err();
//! println!("{failure}");
//! assert!(driver.ray().is_some());
//! # Ok(())
//! # }
//! ```
//!
//! Use [`Driver`] unless you know better; the README has a table of all solvers. Through `sim-core` the same
//! solvers work behind [`LcpSolver`]. Numbers have whatever units the caller gives them; tolerances are relative.
//! Every solver reuses its memory: after a first solve of some size, or after `reserve`, nothing is allocated.
//! Same calls, same bits. MSRV 1.85; features are listed in the README.
#![allow(clippy::needless_range_loop, reason = "several arrays are indexed by the letters of the formula")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod basis;
mod block_pivoting;
mod block_sparse;
mod boxed;
mod certificate;
mod dense;
mod driver;
pub mod enumerate;
mod fast_factored;
mod kernels;
mod lemke;
mod mixed;
mod newton;
mod pivoting;
mod projected_gauss_seidel;
mod scaling;
mod small;
mod text;
mod tiny;
mod wide;

#[cfg(any(test, feature = "testkit"))]
pub mod families;

pub use block_sparse::BlockRows;
pub use boxed::{Bound, BoxedLcp, BoxedSolver};
pub use certificate::Certificate;
pub use driver::{Driver, DriverParams, Failure, Method, Solution};
pub use enumerate::Enumeration;
pub use fast_factored::{FastFactored, FastMixedLcp, FastMixedWorkspace, SparseVectors, solve_fast_factored};
pub use lemke::{Lemke, LemkeEnd, LemkeParams, LemkeReport, LemkeWorkspace, Ray, Start, TieRule, lemke};
pub use mixed::{MixedLcp, MixedSolver};
pub use newton::Newton;
pub use pivoting::{PrincipalPivoting, check_symmetric};
pub use projected_gauss_seidel::{GaussSeidel, GaussSeidelParams, projected_gauss_seidel};
pub use sim_traits::{LcpError, LcpProblem, LcpReport, LcpSolver};
pub use text::{OwnedLcp, TextError, from_text, to_text};

/// Vectors, poses and boxes, which this crate speaks in.
pub use sim_math as math;
/// The traits that this crate implements or takes, and their plain data.
pub use sim_traits as traits;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
