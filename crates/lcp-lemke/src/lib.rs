//! Linear complementarity problems: find z ≥ 0 with w = M z + q ≥ 0 and zᵀw = 0, with a certificate.
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

mod certificate;
mod dense;
mod kernels;
mod lemke;
mod scaling;

#[cfg(any(test, feature = "testkit"))]
pub mod families;

pub use certificate::Certificate;
pub use lemke::{Lemke, LemkeEnd, LemkeParams, LemkeReport, LemkeWorkspace, Ray, Start, TieRule, lemke};
pub use sim_traits::{LcpError, LcpProblem, LcpReport, LcpSolver};
