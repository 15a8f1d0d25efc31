//! Enumeration of all complementary bases: the oracle for small problems.
//!
//! # Reference
//! Cottle, Pang, Stone, *The Linear Complementarity Problem* (1992), 1.3.
//! # Symbols
//! C = a set of columns, tried as the positive part of z.
//! # Formula
//! ```text
//! for every C: M_CC z_C = −q_C, z = 0 elsewhere; a solution if the certificate holds
//! ```
//! # Cost
//! 2ⁿ factorisations; refused above [`MAX_LEN`].
//! # Numerics
//! Singular blocks are skipped: their solutions, if any, are limits of those of other sets.
//! # Failure
//! [`LcpError::Budget`] with the best candidate when nothing passes.
//! # Tested by
//! `enumeration_conforms`, `painleve_rod_has_several_solutions`.

use crate::certificate::Certificate;
use crate::dense::Lu;
use crate::kernels::grow;
use sim_traits::{LcpError, LcpProblem, LcpReport, LcpSolver};

/// Most unknowns that enumeration accepts.
pub const MAX_LEN: usize = 12;

/// Enumeration as an [`LcpSolver`], with its memory.
#[derive(Debug, Clone)]
pub struct Enumeration {
    /// A candidate is a solution if its certificate holds at this tolerance. Default 1e-10.
    pub tolerance: f64,
    lu: Lu,
    candidate: Vec<f64>,
    part: Vec<f64>,
}

impl Default for Enumeration {
    fn default() -> Self {
        Self { tolerance: 1e-10, lu: Lu::default(), candidate: Vec::new(), part: Vec::new() }
    }
}

impl Enumeration {
    /// Makes room for problems of up to `n` unknowns (at most [`MAX_LEN`] are ever solved).
    pub fn reserve(&mut self, n: usize) {
        let n = n.min(MAX_LEN);
        self.lu.reserve(n);
        grow(&mut self.candidate, n);
        grow(&mut self.part, n);
    }

    /// Shows every basic solution to `visit`, with its set as bits, in the order of the sets. Two sets may give
    /// the same z when the solution is degenerate.
    ///
    /// # Errors
    /// [`LcpError::Budget`] for more than [`MAX_LEN`] unknowns.
    pub fn visit_solutions(
        &mut self,
        problem: &LcpProblem<'_>,
        mut visit: impl FnMut(u32, &[f64], &Certificate),
    ) -> Result<(), LcpError> {
        let tolerance = self.tolerance;
        self.visit_candidates(problem, |set, z, certificate| {
            if certificate.holds(tolerance) {
                visit(set, z, certificate);
            }
            true
        })
    }

    /// Shows every candidate until `visit` is false.
    fn visit_candidates(
        &mut self,
        problem: &LcpProblem<'_>,
        mut visit: impl FnMut(u32, &[f64], &Certificate) -> bool,
    ) -> Result<(), LcpError> {
        let n = problem.len();
        if n > MAX_LEN {
            return Err(LcpError::Budget { iterations: 0, residual: f64::INFINITY });
        }
        self.reserve(n);
        for set in 0..1_u32 << n {
            let members = || (0..n).filter(move |i| set >> i & 1 == 1);
            let k = set.count_ones() as usize;
            let fill = |a: usize, out: &mut [f64]| {
                if let Some(i) = members().nth(a) {
                    for (o, j) in out.iter_mut().zip(members()) {
                        *o = problem.row(i)[j];
                    }
                }
            };
            if !self.lu.factor(k, fill) {
                continue;
            }
            for (p, i) in self.part.iter_mut().zip(members()) {
                *p = -problem.q()[i];
            }
            self.lu.solve(&mut self.part[..k]);
            let z = &mut self.candidate[..n];
            z.fill(0.0);
            for (p, i) in self.part.iter().zip(members()) {
                z[i] = *p;
            }
            let certificate = Certificate::measure(problem, z);
            if !visit(set, z, &certificate) {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl LcpSolver for Enumeration {
    fn solve(&mut self, problem: &LcpProblem<'_>, z: &mut [f64]) -> Result<LcpReport, LcpError> {
        let n = problem.len();
        if z.len() != n {
            return Err(LcpError::WrongLength { what: "z", expected: n, got: z.len() });
        }
        let tolerance = self.tolerance;
        let (mut best, mut iterations) = (f64::INFINITY, 0);
        self.visit_candidates(problem, |_, candidate, certificate| {
            iterations += 1;
            let violation = certificate.residual.max(certificate.relative);
            if violation < best {
                best = violation;
                z.copy_from_slice(candidate);
            }
            best > tolerance
        })?;
        // A negative part within the tolerance is rounding.
        for v in z.iter_mut() {
            *v = v.max(0.0);
        }
        let residual = problem.residual(z);
        if best <= tolerance {
            Ok(LcpReport { iterations, residual })
        } else {
            Err(LcpError::Budget { iterations, residual })
        }
    }
}
