//! The driver: tries methods in a stated order, checks every answer, and says who found it.
//!
//! # Reference
//! Cline (2002), 4.8.3, for what goes wrong; the order is this project's.
//! # Symbols
//! See [`Method`].
//! # Formula
//! ```text
//! 1 trivial            q ≥ 0
//! 2 guess              block pivoting from its active set, then Lemke's method from it
//! 3 block pivoting     M symmetric: from { q < 0 }; interior if the first Cholesky factorisation gives z > 0
//! 4 Lemke              from the start; if it fails and a row has q < 0 and nothing positive, there is no solution
//! 5 Lemke, loose       tolerances × 100 and refactorisation at every sign of error
//! 6 Lemke, perturbed   q_i + 1e-8 (i + 1)/n · |q|∞, then its basis and Newton on the true problem
//! 7 Lemke, shifted     M + 1e-8 · (trace/n) I, then its basis and Newton on the true problem
//! 8 principal pivoting if M is symmetric
//! 9 enumeration        if n ≤ 12
//! 10 Newton            from the best iterate so far
//! ```
//! # Cost
//! That of the method that succeeds, nearly always one of the first four.
//! # Numerics
//! Every answer is measured on the original numbers; nothing unverified is called solved.
//! # Failure
//! [`Failure`] with the reason of the first cold Lemke run; `z` has the best iterate of all methods.
//! # Tested by
//! `driver_conforms`, `soak_solvable_problems_are_solved_and_none_wrongly`, `fallbacks_each_solve_something`.

use crate::block_pivoting::{BlockPivoting, Rounds, Symmetry};
use crate::certificate::Certificate;
use crate::enumerate::{Enumeration, MAX_LEN};
use crate::kernels::grow;
use crate::lemke::{LemkeEnd, LemkeParams, LemkeReport, LemkeWorkspace, Ray, Start, lemke, lemke_after};
use crate::newton::Newton;
use crate::pivoting::{PrincipalPivoting, check_symmetric};
use sim_traits::{LcpError, LcpProblem, LcpReport, LcpSolver};
use thiserror::Error;

/// Which method found an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// q ≥ 0, so z = 0.
    Trivial,
    /// Strictly inside: z > 0 and w = 0, by one Cholesky factorisation.
    Interior,
    /// Block pivoting from the active set of the guess.
    Warm,
    /// Block pivoting from the rows with q < 0.
    BlockPivoting,
    /// Lemke's method from the guess.
    LemkeWarm,
    /// Lemke's method from the start.
    Lemke,
    /// Lemke's method with wider tolerances.
    LemkeLoose,
    /// Lemke's method on a perturbed right-hand side, then corrected.
    LemkePerturbed,
    /// Lemke's method on a shifted matrix, then corrected.
    LemkeShifted,
    /// Principal pivoting.
    PrincipalPivoting,
    /// Enumeration of all bases.
    Enumeration,
    /// Semismooth Newton.
    Newton,
}

/// A verified answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solution {
    /// Who found it.
    pub method: Method,
    /// Pivots or iterations of that method.
    pub iterations: u32,
    /// The answer, measured on the original numbers.
    pub certificate: Certificate,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{reason} (best iterate has residual {})", best.residual)]
pub struct Failure {
    /// What the first cold run of Lemke's method said, or what is wrong with the input.
    pub reason: LcpError,
    /// The best iterate of all methods, which is in `z`.
    pub best: Certificate,
}

/// Tunables of [`Driver`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DriverParams {
    /// Those of Lemke's method; its tolerance is that of all methods.
    pub lemke: LemkeParams,
    /// Try block pivoting, and with it the interior short-cut, before Lemke's method. Default true.
    pub block_pivoting: bool,
    /// Start from the solution of the last call with as many unknowns. Default false.
    pub warm_start: bool,
    /// Go beyond Lemke's method when it fails. Default true.
    pub fallbacks: bool,
}

impl Default for DriverParams {
    fn default() -> Self {
        Self { lemke: LemkeParams::default(), block_pivoting: true, warm_start: false, fallbacks: true }
    }
}

/// The driver with all its memory.
#[derive(Debug, Clone, Default)]
pub struct Driver {
    /// Tunables.
    pub params: DriverParams,
    main: LemkeWorkspace,
    spare: LemkeWorkspace,
    block: BlockPivoting,
    newton: Newton,
    pivoting: PrincipalPivoting,
    enumeration: Enumeration,
    previous: Vec<bool>,
    previous_len: Option<usize>,
    candidate: Vec<f64>,
    shifted: Vec<f64>,
}

/// The best iterate so far.
struct Best<'z> {
    z: &'z mut [f64],
    certificate: Certificate,
}

impl Best<'_> {
    fn offer(&mut self, problem: &LcpProblem<'_>, candidate: &[f64]) -> bool {
        let certificate = Certificate::measure(problem, candidate);
        let worst = |c: &Certificate| c.residual.max(c.relative);
        let better = worst(&certificate) < worst(&self.certificate);
        if better {
            self.certificate = certificate;
            self.z.copy_from_slice(candidate);
        }
        better
    }
}

impl Driver {
    /// With these parameters.
    #[must_use]
    pub fn new(params: DriverParams) -> Self {
        Self { params, ..Self::default() }
    }

    /// Makes room for problems of up to `n` unknowns: after this, solving them allocates nothing.
    pub fn reserve(&mut self, n: usize) {
        self.main.reserve(n);
        self.spare.reserve(n);
        self.block.reserve(n);
        self.newton.reserve(n);
        self.pivoting.reserve(n);
        self.enumeration.reserve(n);
        grow(&mut self.previous, n);
        grow(&mut self.candidate, n);
        grow(&mut self.shifted, n * n);
    }

    /// Forgets the last solution, so that the next call starts cold.
    pub fn forget(&mut self) {
        self.previous_len = None;
    }

    /// The ray of the first cold run of Lemke's method in the last call, if it ended in one.
    #[must_use]
    pub fn ray(&self) -> Option<Ray<'_>> {
        self.main.ray()
    }

    /// Solves the problem, from the last solution if the parameters say so.
    ///
    /// # Errors
    /// [`Failure`], with the best iterate in `z`.
    pub fn run(&mut self, problem: &LcpProblem<'_>, z: &mut [f64]) -> Result<Solution, Failure> {
        let n = problem.len();
        grow(&mut self.previous, n);
        let guess = std::mem::take(&mut self.previous);
        let warm = self.params.warm_start && self.previous_len == Some(n);
        let result = self.run_from(problem, warm.then_some(&guess[..n]), z);
        self.previous = guess;
        self.previous_len = None;
        if let Ok(solution) = &result {
            self.previous_len = Some(n);
            let marks = &mut self.previous[..n];
            match solution.method {
                Method::Warm | Method::BlockPivoting | Method::Interior => self.block.active(marks),
                Method::Lemke | Method::LemkeWarm => self.main.active(marks),
                Method::LemkeLoose => self.spare.active(marks),
                _ => marks.iter_mut().zip(z.iter()).for_each(|(mark, z)| *mark = *z > 0.0),
            }
        }
        result
    }

    /// Marks of the basic z in the last answer of [`Driver::run`]; empty if there was none.
    #[must_use]
    pub fn active(&self) -> &[bool] {
        self.previous_len.map_or(&[], |n| &self.previous[..n])
    }

    /// Solves the problem, from a guess of the basic z if there is one: n marks, as from [`Driver::active`].
    ///
    /// # Errors
    /// [`Failure`], with the best iterate in `z`.
    pub fn run_from(
        &mut self,
        problem: &LcpProblem<'_>,
        guess: Option<&[bool]>,
        z: &mut [f64],
    ) -> Result<Solution, Failure> {
        let n = problem.len();
        let sizes_fit = z.len() == n && guess.is_none_or(|g| g.len() == n);
        if self.params.block_pivoting && sizes_fit && problem.q().iter().any(|q| *q < 0.0) {
            if let Some(solution) = self.block_pivoting(problem, guess, z) {
                return Ok(solution);
            }
        }
        let params = self.params.lemke;
        if let Some(guess) = guess {
            let tried = self.params.block_pivoting;
            match lemke_after(problem, &params, Start::Warm(guess), tried, &mut self.main, z) {
                Ok(report) => return Ok(solution(Method::LemkeWarm, &report)),
                Err(LcpError::Ray { .. } | LcpError::Budget { .. }) => {}
                Err(reason) => return Err(failure(problem, reason, z)),
            }
        }
        let reason = match lemke(problem, &params, Start::Cold, &mut self.main, z) {
            Ok(report) => return Ok(solution(Method::Lemke, &report)),
            Err(reason) => reason,
        };
        let input_is_bad = !matches!(reason, LcpError::Ray { .. } | LcpError::Budget { .. });
        if input_is_bad || !self.params.fallbacks || hopeless_row(problem).is_some() {
            return Err(failure(problem, reason, z));
        }
        self.fall_back(problem, reason, z)
    }

    /// Active sets by Cholesky or LU: the quick way for a good guess and for symmetric matrices.
    fn block_pivoting(
        &mut self,
        problem: &LcpProblem<'_>,
        guess: Option<&[bool]>,
        z: &mut [f64],
    ) -> Option<Solution> {
        let tolerance = self.params.lemke.tolerance;
        let (mut method, found) = match guess {
            Some(guess) => {
                (Method::Warm, self.block.run(problem, Symmetry::Unknown, |i| guess[i], tolerance, z)?)
            }
            None => {
                check_symmetric(problem, 1e-14).ok()?;
                let start = |i: usize| problem.q()[i] < 0.0;
                (Method::BlockPivoting, self.block.run(problem, Symmetry::Yes, start, tolerance, z)?)
            }
        };
        let Rounds { rounds, interior, certificate } = found;
        if interior && rounds == 1 && guess.is_none() {
            method = Method::Interior;
        }
        Some(Solution { method, iterations: rounds, certificate })
    }

    fn fall_back(
        &mut self,
        problem: &LcpProblem<'_>,
        reason: LcpError,
        z: &mut [f64],
    ) -> Result<Solution, Failure> {
        let n = problem.len();
        grow(&mut self.candidate, n);
        let mut candidate = std::mem::take(&mut self.candidate);
        let certificate = Certificate::measure(problem, z);
        let mut best = Best { z, certificate };
        let found = self.methods(problem, &mut candidate[..n], &mut best);
        self.candidate = candidate;
        match found {
            Some((method, iterations)) => Ok(Solution { method, iterations, certificate: best.certificate }),
            None => Err(Failure { reason, best: best.certificate }),
        }
    }

    /// Steps 5 to 10; the answer ends up in `best`.
    fn methods(
        &mut self,
        problem: &LcpProblem<'_>,
        x: &mut [f64],
        best: &mut Best<'_>,
    ) -> Option<(Method, u32)> {
        let tolerance = self.params.lemke.tolerance;
        self.newton.tolerance = tolerance;
        let mut loose = self.params.lemke;
        loose.pivot_tolerance *= 100.0;
        loose.tie_tolerance = (100.0 * loose.tie_tolerance).max(1e-9);
        loose.prefer_artificial = true;
        loose.accept_solved_ray = true;
        loose.refactor_error = loose.refactor_error.min(1e-11);
        let outcome = lemke(problem, &loose, Start::Cold, &mut self.spare, x);
        best.offer(problem, x);
        if let Ok(report) = outcome {
            return Some((Method::LemkeLoose, report.pivots));
        }
        for method in [Method::LemkePerturbed, Method::LemkeShifted] {
            let iterations = self.nearby(problem, method, x);
            best.offer(problem, x);
            if best.certificate.holds(tolerance) {
                return Some((method, iterations));
            }
        }
        if let Ok(report) = self.pivoting.solve(problem, x) {
            best.offer(problem, x);
            return Some((Method::PrincipalPivoting, report.iterations));
        }
        best.offer(problem, x);
        if problem.len() <= MAX_LEN {
            let outcome = self.enumeration.solve(problem, x);
            best.offer(problem, x);
            if let Ok(report) = outcome {
                return Some((Method::Enumeration, report.iterations));
            }
        }
        x.copy_from_slice(best.z);
        let outcome = self.newton.solve(problem, x);
        best.offer(problem, x);
        Some((Method::Newton, outcome.ok()?.iterations))
    }

    /// Solves a problem near by and corrects its answer: first by its basis, then by Newton.
    fn nearby(&mut self, problem: &LcpProblem<'_>, method: Method, x: &mut [f64]) -> u32 {
        let n = problem.len();
        grow(&mut self.shifted, n * n);
        let largest = problem.q().iter().fold(0.0_f64, |s, q| s.max(q.abs()));
        let outcome = if method == Method::LemkePerturbed {
            for (i, (s, q)) in self.shifted.iter_mut().zip(problem.q()).enumerate() {
                *s = q + 1e-8 * (i + 1) as f64 / n as f64 * largest;
            }
            LcpProblem::new(problem.m(), &self.shifted[..n])
        } else {
            self.shifted[..n * n].copy_from_slice(problem.m());
            let trace: f64 = (0..n).map(|i| problem.row(i)[i].abs()).sum();
            for i in 0..n {
                self.shifted[i * n + i] += 1e-8 * trace / n as f64;
            }
            LcpProblem::new(&self.shifted[..n * n], problem.q())
        };
        let Ok(near) = outcome else { return 0 };
        let mut params = self.params.lemke;
        // The answer need not be exact, only its basis right.
        params.tolerance = 1e-6;
        let outcome = lemke(&near, &params, Start::Cold, &mut self.spare, x);
        let pivots = outcome.map_or(0, |report| report.pivots);
        self.newton.warm_start = true;
        let polished = self.newton.solve(problem, x);
        pivots + polished.map_or(0, |report| report.iterations)
    }
}

fn solution(method: Method, report: &LemkeReport) -> Solution {
    let method = match report.end {
        LemkeEnd::Trivial => Method::Trivial,
        LemkeEnd::WarmBasis => Method::Warm,
        LemkeEnd::Solved | LemkeEnd::SolvedRay => method,
    };
    Solution { method, iterations: report.pivots, certificate: report.certificate }
}

/// A row whose w is negative for every z ≥ 0: no entry is positive, and q is negative. Exact, so it proves that there
/// is no solution.
fn hopeless_row(problem: &LcpProblem<'_>) -> Option<usize> {
    (0..problem.len()).find(|&i| problem.q()[i] < 0.0 && problem.row(i).iter().all(|v| *v <= 0.0))
}

fn failure(problem: &LcpProblem<'_>, reason: LcpError, z: &[f64]) -> Failure {
    Failure { reason, best: Certificate::measure(problem, z) }
}

impl LcpSolver for Driver {
    fn solve(&mut self, problem: &LcpProblem<'_>, z: &mut [f64]) -> Result<LcpReport, LcpError> {
        match self.run(problem, z) {
            Ok(s) => Ok(LcpReport { iterations: s.iterations, residual: s.certificate.residual }),
            Err(Failure { reason: LcpError::Budget { iterations, .. }, best }) => {
                Err(LcpError::Budget { iterations, residual: best.residual })
            }
            Err(failure) => Err(failure.reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_that_no_z_can_lift_are_hopeless() {
        let row = |m: [f64; 4], q: [f64; 2]| hopeless_row(&LcpProblem::new(&m, &q).unwrap());
        assert_eq!(row([1.0, 0.0, -1.0, 0.0], [1.0, -1e-9]), Some(1));
        assert_eq!(row([1.0, 0.0, 0.0, 0.0], [1.0, -1.0]), Some(1));
        // w = 0 will do; and one positive entry can lift it.
        assert_eq!(row([1.0, 0.0, -1.0, 0.0], [1.0, 0.0]), None);
        assert_eq!(row([1.0, 0.0, -1.0, 1e-300], [1.0, -1.0]), None);
    }
}
