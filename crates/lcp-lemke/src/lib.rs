//! Linear complementarity problems: find z ≥ 0 with w = M z + q ≥ 0 and zᵀw = 0, with a certificate.
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
mod text;

#[cfg(any(test, feature = "testkit"))]
pub mod families;

pub use block_sparse::BlockRows;
pub use boxed::{Bound, BoxedLcp, BoxedSolver};
pub use certificate::Certificate;
pub use driver::{Driver, DriverParams, Failure, Method, Solution};
pub use enumerate::Enumeration;
pub use fast_factored::{
    FastFactored, FastMixedLcp, FastMixedWorkspace, SparseVectors, solve_fast_factored,
};
pub use lemke::{Lemke, LemkeEnd, LemkeParams, LemkeReport, LemkeWorkspace, Ray, Start, TieRule, lemke};
pub use mixed::{MixedLcp, MixedSolver};
pub use newton::Newton;
pub use pivoting::{PrincipalPivoting, check_symmetric};
pub use projected_gauss_seidel::{GaussSeidel, GaussSeidelParams, projected_gauss_seidel};
pub use sim_traits::{LcpError, LcpProblem, LcpReport, LcpSolver};
pub use text::{OwnedLcp, TextError, from_text, to_text};
