//! Contact problems that may have no solution.
//!
//! # Reference
//!
//! This project's own: regularisation in the sense of Tikhonov, used only where the exact law fails.
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | residual | how far the best impulses are from obeying the law, m/s |
//!
//! # Formula
//!
//! ```text
//! solve;  if what is left is more than half of what was asked:  W_cc + W_zz/10 · 1 instead of W_cc, from nothing
//! ```
//!
//! # Cost
//!
//! That of the solver; twice where the first try fails.
//!
//! # Numerics
//!
//! Impulses of a body between two walls that close grow without bound in any exact method. Softened, they are at most ten times what one wall alone would exert, and the
//! walls sink in.
//!
//! # Failure
//!
//! That of the solver on the softened problem.
//!
//! # Tested by
//!
//! `closing_walls_exert_bounded_impulses`

use sim_math::glam::{DMat3, DVec3};
use sim_traits::{RowError, RowProblem, RowSolver};

/// How a problem was solved that may have no solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settled {
    /// Iterations of all tries.
    pub iterations: u32,
    /// Of the impulses, on the given problem, m/s.
    pub residual: f64,
    /// Of the impulses, N·s.
    pub cone_violation: f64,
    /// The solver met its tolerance on the given problem.
    pub solved: bool,
    /// The blocks were softened.
    pub soft: bool,
    /// Equalities contradict each other: the block that is farthest from obeying its law.
    pub contradictory: Option<usize>,
}

/// Memory of [`Softener::solve`].
#[derive(Debug, Clone, Default)]
pub struct Softener {
    blocks: Vec<DMat3>,
}

/// Share of the normal entry that softened contacts give way more.
const SHARE: f64 = 0.1;
/// Share of the largest velocity that may be left.
const LEFT: f64 = 0.5;

impl Softener {
    /// Solves, and softens where that fails.
    ///
    /// # Errors
    /// What the solver says of the softened problem, a budget used up excepted.
    pub fn solve(
        &mut self,
        problem: &RowProblem<'_>,
        solver: &mut dyn RowSolver,
        p: &mut [DVec3],
    ) -> Result<Settled, RowError> {
        let first = match solver.solve(problem, p) {
            Ok(report) => {
                return Ok(Settled {
                    iterations: report.iterations,
                    residual: report.certificate.residual,
                    cone_violation: report.certificate.cone_violation,
                    solved: true,
                    soft: false,
                    contradictory: None,
                });
            }
            Err(RowError::Budget { iterations, residual }) if residual <= LEFT * problem.scale() => {
                return Ok(Settled {
                    iterations,
                    residual,
                    cone_violation: 0.0,
                    solved: false,
                    soft: false,
                    contradictory: None,
                });
            }
            Err(RowError::Contradictory { block, iterations, residual, .. }) => {
                return Ok(Settled {
                    iterations,
                    residual,
                    cone_violation: 0.0,
                    solved: false,
                    soft: false,
                    contradictory: Some(block),
                });
            }
            Err(RowError::Budget { iterations, .. } | RowError::NoSolution { iterations }) => iterations,
            Err(other) => return Err(other),
        };
        p.fill(DVec3::ZERO);
        let more = match solver.solve(&problem.softened(SHARE, &mut self.blocks), p) {
            Ok(report) => report.iterations,
            Err(RowError::Budget { iterations, .. } | RowError::Contradictory { iterations, .. }) => {
                iterations
            }
            Err(other) => return Err(other),
        };
        let found = solver.measure(problem, p);
        Ok(Settled {
            iterations: first + more,
            residual: found.residual,
            cone_violation: found.cone_violation,
            solved: false,
            soft: true,
            contradictory: None,
        })
    }
}
