//! Projected Gauss-Seidel with over-relaxation, for bounds, warm starts and quick approximate answers.
//!
//! # Reference
//! Cottle, Pang, Stone (1992), 5.2 (projected SOR); Cryer (1971).
//! # Symbols
//! ω = relaxation, lo and hi = bounds of z (0 and ∞ for a pure problem).
//! # Formula
//! ```text
//! z_i ← clamp(z_i − ω (M_i z + q_i) / m_ii, lo_i, hi_i)          i = 0, 1, …, repeated
//! ```
//! # Cost
//! n² a sweep; linear convergence.
//! # Numerics
//! Converges for symmetric positive definite M and 0 < ω < 2, and for symmetric semidefinite M with positive
//! diagonal if a solution exists. Not for friction with slip speeds, whose diagonal has zeros.
//! # Failure
//! [`LcpError::NotPositive`] for a diagonal entry that is not; [`LcpError::Budget`] with the iterate.
//! # Tested by
//! `gauss_seidel_agrees_with_lemke`, `over_relaxation_and_warm_start_save_sweeps`.

use crate::certificate::Certificate;
use crate::kernels::dot;
use sim_traits::{LcpError, LcpProblem, LcpReport, LcpSolver};

/// Tunables of [`projected_gauss_seidel`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct GaussSeidelParams {
    /// Relaxation ω in (0, 2). Default 1. Above 1 usually needs fewer sweeps.
    pub relaxation: f64,
    /// Most sweeps over all unknowns. Default 10 000.
    pub max_sweeps: u32,
    /// Sweeps stop when [`Certificate::holds`] at this tolerance. Default 1e-10.
    pub tolerance: f64,
    /// Start from the z given by the caller instead of 0. Default false.
    pub warm_start: bool,
}

impl Default for GaussSeidelParams {
    fn default() -> Self {
        Self { relaxation: 1.0, max_sweeps: 10_000, tolerance: 1e-10, warm_start: false }
    }
}

/// Sweeps until the answer passes or the sweeps run out.
///
/// # Errors
/// Wrong length, relaxation outside (0, 2), a diagonal entry that is not positive, or no convergence.
pub fn projected_gauss_seidel(
    problem: &LcpProblem<'_>,
    params: &GaussSeidelParams,
    z: &mut [f64],
) -> Result<LcpReport, LcpError> {
    let n = problem.len();
    if z.len() != n {
        return Err(LcpError::WrongLength { what: "z", expected: n, got: z.len() });
    }
    if !(params.relaxation > 0.0 && params.relaxation < 2.0) {
        return Err(LcpError::NotPositive { what: "relaxation", index: 0, value: params.relaxation });
    }
    if let Some(index) = (0..n).find(|&i| problem.row(i)[i] <= 0.0) {
        return Err(LcpError::NotPositive {
            what: "diagonal entry",
            index,
            value: problem.row(index)[index],
        });
    }
    if !params.warm_start {
        z.fill(0.0);
    } else if let Some(index) = z.iter().position(|v| !v.is_finite()) {
        return Err(LcpError::NonFinite { what: "warm start", index, value: z[index] });
    }
    let mut sweeps = 0_u32;
    loop {
        // The check costs as much as a sweep: made after 0, 1, 2, 4, 8, … and every eighth sweep.
        if sweeps % 8 == 0 || sweeps.is_power_of_two() || sweeps >= params.max_sweeps {
            let certificate = Certificate::measure(problem, z);
            if certificate.holds(params.tolerance) {
                return Ok(LcpReport { iterations: sweeps, residual: certificate.residual });
            }
            if sweeps >= params.max_sweeps {
                return Err(LcpError::Budget { iterations: sweeps, residual: certificate.residual });
            }
        }
        for i in 0..n {
            let row = problem.row(i);
            let w = dot(row, z) + problem.q()[i];
            z[i] = (z[i] - params.relaxation * w / row[i]).max(0.0);
        }
        sweeps += 1;
    }
}

/// [`projected_gauss_seidel`] as an [`LcpSolver`]; it starts from 0 unless its parameters ask for a warm start.
#[derive(Debug, Clone, Default)]
pub struct GaussSeidel {
    /// Tunables.
    pub params: GaussSeidelParams,
}

impl LcpSolver for GaussSeidel {
    fn solve(&mut self, problem: &LcpProblem<'_>, z: &mut [f64]) -> Result<LcpReport, LcpError> {
        projected_gauss_seidel(problem, &self.params, z)
    }
}
