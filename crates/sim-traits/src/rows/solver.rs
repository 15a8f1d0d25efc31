//! The seam to solvers of row problems.

use super::{certificate::RowCertificate, problem::RowProblem};
use sim_math::glam::DVec3;
use std::fmt::Debug;
use thiserror::Error;

/// Why a problem was refused or not solved.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum RowError {
    /// A slice has the wrong length.
    #[error("{what} has length {got}, expected {expected}")]
    WrongLength {
        /// Which argument.
        what: &'static str,
        /// The length it must have.
        expected: usize,
        /// The length it has.
        got: usize,
    },
    /// A number is NaN or infinite.
    #[error("block {block}: {what} is not finite: {value}")]
    NonFinite {
        /// What kind of number.
        what: &'static str,
        /// Of which block.
        block: usize,
        /// The number.
        value: f64,
    },
    /// A coefficient of friction or a compliance below zero.
    #[error("block {block}: {what} must not be negative, got {value}")]
    Negative {
        /// What kind of number.
        what: &'static str,
        /// Of which block.
        block: usize,
        /// Its value.
        value: f64,
    },
    /// Bounds in the wrong order, or that do not admit a zero impulse.
    #[error("block {block}, row {row}: bounds {low} to {high} must be in order and have 0 between them")]
    BadBounds {
        /// Of which block.
        block: usize,
        /// Of which of its rows.
        row: usize,
        /// The lower one.
        low: f64,
        /// The upper one.
        high: f64,
    },
    /// The columns of a row of blocks are not ascending, lack the diagonal, or lie outside.
    #[error("block {block}: its row of W is out of order or lacks the diagonal")]
    BadRow {
        /// Which block.
        block: usize,
    },
    /// A law names a contact that is none.
    #[error("block {block}: its contact {contact} is not one of the {contacts} contacts")]
    NotAContact {
        /// Which block.
        block: usize,
        /// The contact that it names.
        contact: usize,
        /// How many contacts there are.
        contacts: usize,
    },
    /// Nothing gives way: along the normal of a contact, or along any row of another block.
    #[error("block {block}: nothing gives way, response {value}")]
    Immovable {
        /// Which block.
        block: usize,
        /// The entry of W.
        value: f64,
    },
    /// More blocks than the solver takes.
    #[error("{blocks} blocks, but this solver takes {limit}")]
    TooLarge {
        /// How many there are.
        blocks: usize,
        /// How many it takes.
        limit: usize,
    },
    /// The limit was reached; the best impulses found are in the output, admissible.
    #[error("no solution after {iterations} iterations, residual {residual:e} m/s")]
    Budget {
        /// Iterations done.
        iterations: u32,
        /// Residual of the impulses left in the output, m/s.
        residual: f64,
    },
    /// Rows that no velocity can obey together; the output has bounded impulses, which make the velocities of these rows as small as they can all be.
    #[error("block {block} and {others} others contradict each other: {residual:e} m/s are left")]
    Contradictory {
        /// The block that is farthest from obeying its law.
        block: usize,
        /// How many others do not obey theirs.
        others: usize,
        /// Iterations done.
        iterations: u32,
        /// What is left, m/s.
        residual: f64,
    },
    /// The method says that there is no solution.
    #[error("no solution exists, or the method cannot find it (after {iterations} iterations)")]
    NoSolution {
        /// Iterations done.
        iterations: u32,
    },
}

/// How impulses were found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowReport {
    /// Sweeps, picks or pivots done.
    pub iterations: u32,
    /// The impulses, measured after the solve.
    pub certificate: RowCertificate,
}

/// A way to solve many blocks of rows at once: contacts with friction, joints, limits, motors.
///
/// **Contract.** `impulses` holds a guess on entry (zeros if there is none) and the answer on return. `Ok` means that the
/// answer was measured and is as good as the solver's own tolerance, up to [`cone_error`](Self::cone_error). On
/// [`RowError::Budget`] and [`RowError::Contradictory`] the best impulses found are in the output, admissible, and may be used. After any other error
/// the output is not to be used.
///
/// **Determinism.** A function of the problem and the guess.
///
/// The conformance kit is `sim_traits::testkit::row_solver`.
pub trait RowSolver: Debug + Send + Sync {
    /// Short name, such as `"cone"`.
    fn kind(&self) -> &'static str;

    /// By which share of μ the solver's cone may fall short of the exact one: 0, or 1 − cos(π/m) for an inscribed cone of m sides.
    fn cone_error(&self) -> f64 {
        0.0
    }

    /// False if the solver is as well served by the bodies behind the rows ([`RowProblem::of_groups`]).
    fn needs_rows(&self) -> bool {
        true
    }

    /// Measures impulses as [`RowProblem::certificate`] does; solvers that need no rows are quicker at it.
    fn measure(&mut self, problem: &RowProblem<'_>, impulses: &[DVec3]) -> RowCertificate {
        problem.certificate(impulses)
    }

    /// Finds the impulses, N·s and N·m·s.
    ///
    /// # Errors
    /// `impulses` has the wrong length or holds a number that is not finite; too many blocks; no solution found.
    fn solve(&mut self, problem: &RowProblem<'_>, impulses: &mut [DVec3]) -> Result<RowReport, RowError>;
}

impl RowError {
    /// `Ok` for a guess that every solver must accept.
    ///
    /// # Errors
    /// Wrong length, or a number that is not finite.
    pub fn check_guess(problem: &RowProblem<'_>, impulses: &[DVec3]) -> Result<(), Self> {
        let (expected, got) = (problem.len(), impulses.len());
        if expected != got {
            return Err(Self::WrongLength { what: "impulses", expected, got });
        }
        for (block, p) in impulses.iter().enumerate() {
            if let Some(value) = p.to_array().into_iter().find(|x| !x.is_finite()) {
                return Err(Self::NonFinite { what: "guess", block, value });
            }
        }
        Ok(())
    }
}
