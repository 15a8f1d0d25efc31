//! Linear complementarity problems: find z ≥ 0 with w = M z + q ≥ 0 and zᵀw = 0.

use std::fmt::Debug;
use thiserror::Error;

/// A dense problem, row-major, borrowed from the caller and checked once.
#[derive(Debug, Clone, Copy)]
pub struct LcpProblem<'a> {
    m: &'a [f64],
    q: &'a [f64],
}

/// Why a problem has no verified solution.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LcpError {
    /// A slice has the wrong length.
    #[error("{what} has length {got}, expected {expected}")]
    WrongLength {
        /// Which slice.
        what: &'static str,
        /// The length it must have.
        expected: usize,
        /// The length it has.
        got: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} {index} is not finite: {value}")]
    NonFinite {
        /// "matrix entry" or "right-hand side".
        what: &'static str,
        /// Position in the row-major slice.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A number that must be positive is not.
    #[error("{what} {index} must be positive, got {value}")]
    NotPositive {
        /// Which slice.
        what: &'static str,
        /// Position in it.
        index: usize,
        /// The number.
        value: f64,
    },
    /// The solver needs a symmetric matrix.
    #[error(
        "matrix is not symmetric: entries ({row}, {column}) and ({column}, {row}) differ by {difference:e}"
    )]
    NotSymmetric {
        /// Row of the entry above the diagonal.
        row: usize,
        /// Its column.
        column: usize,
        /// How much the two differ.
        difference: f64,
    },
    /// A matrix that must have an inverse has none.
    #[error("{what} is singular")]
    Singular {
        /// Which matrix.
        what: &'static str,
    },
    /// A lower bound is above the upper one, or an index points where it must not.
    #[error("{what} {index} is not allowed: {value}")]
    NotAllowed {
        /// Which item.
        what: &'static str,
        /// Its position.
        index: usize,
        /// The offending number.
        value: f64,
    },
    /// The path of the algorithm left to infinity: for most matrix classes, no solution exists.
    #[error("ray termination after {iterations} iterations")]
    Ray {
        /// Pivots done.
        iterations: u32,
    },
    /// The limit was reached; the best iterate is in `z`.
    #[error("no solution after {iterations} iterations, residual {residual:e}")]
    Budget {
        /// Iterations done.
        iterations: u32,
        /// Residual of the iterate left in `z`.
        residual: f64,
    },
}

impl<'a> LcpProblem<'a> {
    /// From a row-major matrix and a right-hand side.
    ///
    /// # Errors
    /// The matrix is not n x n for n = `q.len()`, or a number is not finite.
    pub fn new(m: &'a [f64], q: &'a [f64]) -> Result<Self, LcpError> {
        let expected = q.len() * q.len();
        if m.len() != expected {
            return Err(LcpError::WrongLength { what: "matrix", expected, got: m.len() });
        }
        for (what, values) in [("matrix entry", m), ("right-hand side", q)] {
            if let Some(index) = values.iter().position(|x| !x.is_finite()) {
                return Err(LcpError::NonFinite { what, index, value: values[index] });
            }
        }
        Ok(Self { m, q })
    }

    /// Number of unknowns.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.q.len()
    }

    /// True for the problem without unknowns.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.q.is_empty()
    }

    /// The matrix, row-major.
    #[inline]
    #[must_use]
    pub fn m(&self) -> &'a [f64] {
        self.m
    }

    /// Row `i` of the matrix.
    #[inline]
    #[must_use]
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.m[i * self.q.len()..][..self.q.len()]
    }

    /// The right-hand side.
    #[inline]
    #[must_use]
    pub fn q(&self) -> &'a [f64] {
        self.q
    }

    /// `w_i` = `M_i` z + `q_i`.
    #[inline]
    #[must_use]
    pub fn slack(&self, i: usize, z: &[f64]) -> f64 {
        self.row(i).iter().zip(z).map(|(m, z)| m * z).sum::<f64>() + self.q[i]
    }

    /// How far `z` is from solving the problem: max |`min(z_i`, `w_i`)| / max(1, |q|∞). NaN counts as infinite.
    #[must_use]
    pub fn residual(&self, z: &[f64]) -> f64 {
        if z.len() != self.len() {
            return f64::INFINITY;
        }
        let scale = self.q.iter().fold(1.0_f64, |s, q| s.max(q.abs()));
        let mut worst = 0.0_f64;
        for (i, &z_i) in z.iter().enumerate() {
            let w_i = self.slack(i, z);
            let violation = z_i.min(w_i).abs();
            if violation.is_nan() || z_i.is_nan() || w_i.is_nan() {
                return f64::INFINITY;
            }
            worst = worst.max(violation);
        }
        worst / scale
    }
}

/// How a solution was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LcpReport {
    /// Pivots or sweeps done.
    pub iterations: u32,
    /// [`LcpProblem::residual`] of the answer, measured after the solve.
    pub residual: f64,
}

/// Solves linear complementarity problems.
///
/// **Contract.** `Ok` means that `z` was checked: its residual is at most the solver's stated tolerance. On
/// [`LcpError::Budget`] `z` holds the best iterate. `z` is output only.
///
/// **Determinism.** A function of the problem and, for a solver that warm-starts, of the earlier calls.
///
/// The conformance kit is `sim_traits::testkit::lcp`.
pub trait LcpSolver: Debug + Send + Sync {
    /// Finds z.
    ///
    /// # Errors
    /// `z` has the wrong length, the problem is outside the solver's class, or no solution was found.
    fn solve(&mut self, problem: &LcpProblem<'_>, z: &mut [f64]) -> Result<LcpReport, LcpError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residual_is_zero_at_the_solution_only() {
        // w = M z + q for M = [2 1; 1 2], q = (-5, -6) is solved by z = (4/3, 7/3).
        let (m, q) = ([2.0, 1.0, 1.0, 2.0], [-5.0, -6.0]);
        let problem = LcpProblem::new(&m, &q).unwrap();
        assert!(problem.residual(&[4.0 / 3.0, 7.0 / 3.0]) < 1e-15);
        assert!(problem.residual(&[1.0, 2.0]) > 0.1);
        assert!(problem.residual(&[-1e-3, 3.0]) > 1e-4);
        assert_eq!(problem.residual(&[f64::NAN, 0.0]), f64::INFINITY);
        assert_eq!(problem.residual(&[1.0]), f64::INFINITY);
    }

    #[test]
    fn bad_problems_are_errors_with_index_and_value() {
        let wrong = LcpProblem::new(&[1.0, 2.0], &[1.0]).unwrap_err();
        assert_eq!(wrong.to_string(), "matrix has length 2, expected 1");
        let nan = LcpProblem::new(&[1.0, f64::NAN, 0.0, 1.0], &[1.0, 1.0]).unwrap_err();
        assert_eq!(nan.to_string(), "matrix entry 1 is not finite: NaN");
        let inf = LcpProblem::new(&[1.0], &[f64::INFINITY]).unwrap_err();
        assert_eq!(inf.to_string(), "right-hand side 0 is not finite: inf");
        assert!(LcpProblem::new(&[], &[]).unwrap().is_empty());
    }
}
