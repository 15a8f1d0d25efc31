//! One solver object with a choice of method: set the method, prepare once, solve many times.
//!
//! # Reference
//! Barenbrug's thesis, section 3.4.6: the matrix object itself falls back from LU to conjugate gradients when it
//! meets a singular pivot. The policy over frames (try the fast method again later, go on to SVD) belongs to
//! the caller.
//!
//! # Symbols
//! `A` square matrix of order `n`, `kl` and `ku` its bandwidths.
//!
//! # Formula
//! ```text
//! Lu:  banded if kl + ku + 1 < n/2, else dense; singular pivot → ConjugateGradient, reported as Switch
//! ConjugateGradient:  stored sparse if fewer than a quarter of the entries are non-zero;
//!                     CG if symmetric, then BiCGSTAB, then CGLS, each only if the one before failed
//! Svd: truncated least squares
//! ```
//!
//! # Cost
//! That of the method, plus n² to look at the band. Storage is kept: preparing again at the same order
//! allocates nothing.
//!
//! # Numerics
//! See the modules of the methods. The iteration starts from x = 0, so a solve does not depend on earlier ones.
//!
//! # Failure
//! [`MathError::NotConverged`] if the iteration fails (a contradictory system): `x` then holds its last iterate.
//! [`MathError::NonFinite`], [`MathError::WrongLength`], [`MathError::NotPrepared`].
//!
//! # Tested by
//! `a_singular_pivot_switches_to_conjugate_gradients_and_says_so`, `a_narrow_band_is_noticed`,
//! `all_methods_agree_on_a_regular_system`.

use super::iterative::{IterativeParams, IterativeWorkspace, bicgstab, cgls, conjugate_gradient};
use super::kernels::norm;
use super::matrix::check_len;
use super::operator::{LinearOperator, SparseMatrix};
use super::{BandMatrix, BandedLu, IterationReport, Lu, MatRef, Matrix, Svd, residual};
use crate::MathError;

/// What the caller asks for, fastest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum SolveMethod {
    /// Elimination, banded or dense; falls back to the iteration on a singular pivot.
    #[default]
    Lu,
    /// Iteration: redundant systems, if consistent.
    ConjugateGradient,
    /// Least squares: contradictory systems too.
    Svd,
}

/// What a matrix was prepared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factorisation {
    /// Dense LU.
    DenseLu,
    /// Band LU.
    BandedLu,
    /// Iteration with the dense matrix.
    DenseIteration,
    /// Iteration with the non-zero entries.
    SparseIteration,
    /// Singular value decomposition.
    Svd,
}

/// A fall-back from LU to the iteration, with the pivot that caused it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Switch {
    /// Elimination step.
    pub pivot: usize,
    /// Pivot found there, in the units of the matrix.
    pub value: f64,
}

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveReport {
    /// What was used.
    pub used: Factorisation,
    /// The fall-back made when the matrix was prepared, if any.
    pub switch: Option<Switch>,
    /// Iterations; 0 for a direct method.
    pub iterations: usize,
    /// ‖b − A x‖ / ‖b‖; 0 for b = 0.
    pub residual: f64,
}

/// A square system with a choice of method and all storage that the methods need.
#[derive(Debug, Clone, Default)]
pub struct LinearSolver {
    method: SolveMethod,
    /// When the iteration stops.
    pub iterative: IterativeParams,
    matrix: Matrix,
    lu: Lu,
    band_matrix: BandMatrix,
    banded: BandedLu,
    sparse: SparseMatrix,
    symmetric: bool,
    svd: Svd,
    workspace: IterativeWorkspace,
    scratch: Vec<f64>,
    prepared: Option<Factorisation>,
    switch: Option<Switch>,
}

impl LinearSolver {
    /// A solver that starts with the given method.
    #[must_use]
    pub fn new(method: SolveMethod) -> Self {
        Self { method, ..Self::default() }
    }

    /// The method asked for.
    #[inline]
    #[must_use]
    pub fn method(&self) -> SolveMethod {
        self.method
    }

    /// Chooses the method of the next [`LinearSolver::prepare`]; what is prepared stays usable.
    pub fn set_method(&mut self, method: SolveMethod) {
        self.method = method;
    }

    /// Singular values up to this fraction of the largest count as zero; see [`Svd::truncation`].
    ///
    /// # Errors
    /// [`MathError::Negative`] below 0, [`MathError::NonFinite`].
    pub fn set_truncation(&mut self, truncation: f64) -> Result<(), MathError> {
        MathError::check_not_negative("truncation", 0, truncation)?;
        self.svd.truncation = truncation;
        Ok(())
    }

    /// Factorises, or gets ready to iterate; says what the matrix is prepared for.
    ///
    /// # Errors
    /// [`MathError::NonFinite`], [`MathError::WrongLength`] unless square, [`MathError::NotConverged`] from the
    /// singular value decomposition. A singular pivot is not an error: see [`LinearSolver::switch`].
    pub fn prepare(&mut self, a: MatRef<'_>) -> Result<Factorisation, MathError> {
        self.prepared = None;
        self.switch = None;
        let n = a.check_square()?;
        self.matrix.copy_from(a);
        self.scratch.clear();
        self.scratch.resize(n, 0.0);
        let prepared = match self.method {
            SolveMethod::Lu => match self.prepare_lu(a) {
                Err(MathError::Singular { pivot, value, .. }) => {
                    self.switch = Some(Switch { pivot, value });
                    self.prepare_iteration(a)?
                }
                other => other?,
            },
            SolveMethod::ConjugateGradient => self.prepare_iteration(a)?,
            SolveMethod::Svd => {
                self.svd.factor(a)?;
                Factorisation::Svd
            }
        };
        self.prepared = Some(prepared);
        Ok(prepared)
    }

    fn prepare_lu(&mut self, a: MatRef<'_>) -> Result<Factorisation, MathError> {
        let (lower, upper) = a.bandwidth();
        if 2 * (lower + upper + 1) < a.rows() {
            self.band_matrix.copy_from_dense(a, lower, upper)?;
            self.banded.factor(&self.band_matrix)?;
            Ok(Factorisation::BandedLu)
        } else {
            self.lu.factor(a)?;
            Ok(Factorisation::DenseLu)
        }
    }

    fn prepare_iteration(&mut self, a: MatRef<'_>) -> Result<Factorisation, MathError> {
        let n = a.rows();
        self.symmetric = a.is_symmetric(1e-12);
        let filled: usize = (0..n).map(|i| a.row(i).iter().filter(|&&x| x != 0.0).count()).sum();
        if 4 * filled < n * n {
            self.sparse.copy_from_dense(a)?;
            Ok(Factorisation::SparseIteration)
        } else {
            Ok(Factorisation::DenseIteration)
        }
    }

    /// The fall-back of the last [`LinearSolver::prepare`], if it made one.
    #[inline]
    #[must_use]
    pub fn switch(&self) -> Option<Switch> {
        self.switch
    }

    /// Solves `A x = b` with the matrix last prepared.
    ///
    /// # Errors
    /// [`MathError::NotPrepared`], [`MathError::NotConverged`], [`MathError::WrongLength`],
    /// [`MathError::NonFinite`].
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) -> Result<SolveReport, MathError> {
        let Some(used) = self.prepared else {
            return Err(MathError::NotPrepared { what: "linear solver" });
        };
        check_len("right-hand side", b.len(), self.matrix.rows())?;
        check_len("solution", x.len(), self.matrix.rows())?;
        MathError::check_finite("right-hand side", b)?;
        let mut iterations = 0;
        match used {
            Factorisation::DenseLu => self.lu.solve(b, x)?,
            Factorisation::BandedLu => self.banded.solve(b, x)?,
            Factorisation::Svd => self.svd.solve(b, x)?,
            Factorisation::DenseIteration | Factorisation::SparseIteration => {
                let operator: &dyn LinearOperator =
                    if used == Factorisation::SparseIteration { &self.sparse } else { &self.matrix };
                let report = iterate(operator, self.symmetric, b, x, &self.iterative, &mut self.workspace)?;
                iterations = report.iterations;
            }
        }
        residual(self.matrix.as_ref(), x, b, &mut self.scratch)?;
        let size = norm(b);
        let relative = if size == 0.0 { 0.0 } else { norm(&self.scratch) / size };
        Ok(SolveReport { used, switch: self.switch, iterations, residual: relative })
    }
}

/// CG if it applies, then the two that always do; each starts from zero.
fn iterate(
    a: &dyn LinearOperator,
    symmetric: bool,
    b: &[f64],
    x: &mut [f64],
    params: &IterativeParams,
    ws: &mut IterativeWorkspace,
) -> Result<IterationReport, MathError> {
    let methods = [conjugate_gradient, bicgstab, cgls];
    let mut spent = 0;
    let mut last = None;
    for method in methods.into_iter().skip(usize::from(!symmetric)) {
        x.fill(0.0);
        match method(a, b, x, params, ws) {
            Ok(report) => {
                return Ok(IterationReport { iterations: spent + report.iterations, ..report });
            }
            Err(MathError::NotConverged { what, iterations, residual }) => {
                spent += iterations;
                last = Some(MathError::NotConverged { what, iterations: spent, residual });
            }
            Err(other) => return Err(other),
        }
    }
    Err(last.unwrap_or(MathError::NotPrepared { what: "linear solver" }))
}

#[cfg(test)]
mod tests {
    use super::super::mul_vec;
    use super::*;
    use crate::assert_close;
    use crate::testkit::SplitMix64;

    // proves: DYN-114
    #[test]
    fn a_singular_pivot_switches_to_conjugate_gradients_and_says_so() {
        let mut solver = LinearSolver::new(SolveMethod::Lu);
        // A constraint given twice: pivot 2 vanishes, the system stays consistent.
        let a = Matrix::from_rows(&[[2.0, 1.0, 1.0], [1.0, 3.0, 3.0], [1.0, 3.0, 3.0]]);
        let b = [4.0, 7.0, 7.0];
        assert_eq!(solver.prepare(a.as_ref()).unwrap(), Factorisation::DenseIteration);
        let switch = solver.switch().unwrap();
        assert_eq!(switch.pivot, 2);
        assert!(switch.value.abs() < 1e-14);
        let mut x = [0.0; 3];
        let report = solver.solve(&b, &mut x).unwrap();
        assert_eq!((report.used, report.switch), (Factorisation::DenseIteration, Some(switch)));
        assert!(report.iterations > 0 && report.residual <= 1e-10);
        // What is returned is the answer of conjugate gradients, bit for bit.
        let mut direct = [0.0; 3];
        let mut ws = IterativeWorkspace::default();
        conjugate_gradient(&a, &b, &mut direct, &solver.iterative, &mut ws).unwrap();
        assert_eq!(x.map(f64::to_bits), direct.map(f64::to_bits));
        // The fall-back is local: the method asked for stays, and a regular matrix goes back to LU.
        assert_eq!(solver.method(), SolveMethod::Lu);
        let regular = Matrix::from_rows(&[[2.0, 1.0, 1.0], [1.0, 3.0, 3.0], [1.0, 3.0, 4.0]]);
        assert_eq!(solver.prepare(regular.as_ref()).unwrap(), Factorisation::DenseLu);
        assert_eq!(solver.switch(), None);
        assert_eq!(solver.solve(&b, &mut x).unwrap().switch, None);
    }

    #[test]
    fn singular_unsymmetric_and_nilpotent_systems_are_still_solved() {
        let mut solver = LinearSolver::default();
        let mut stream = SplitMix64(8);
        for n in [2, 4, 9] {
            let mut a =
                Matrix::from_fn(n, n, |i, j| stream.range(-1.0, 1.0) + if i == j { 3.0 } else { 0.0 });
            for j in 0..n {
                a[(n - 1, j)] = a[(0, j)];
            }
            let y: Vec<f64> = (0..n).map(|i| i as f64 - 1.0).collect();
            let (mut b, mut x) = (vec![0.0; n], vec![0.0; n]);
            mul_vec(a.as_ref(), &y, &mut b).unwrap();
            solver.prepare(a.as_ref()).unwrap();
            let report = solver.solve(&b, &mut x).unwrap();
            assert!(report.switch.is_some() && report.residual <= 1e-10, "{report:?}");
        }
        solver.prepare(Matrix::from_rows(&[[0.0, 1.0], [0.0, 0.0]]).as_ref()).unwrap();
        let mut x = [0.0; 2];
        solver.solve(&[1.0, 0.0], &mut x).unwrap();
        assert_close!(x[1], 1.0, abs = 1e-12);
    }

    // proves: DYN-108
    #[test]
    fn a_narrow_band_is_noticed() {
        let mut solver = LinearSolver::default();
        for n in [4, 7, 8, 20, 50] {
            let a = Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
                0 => 3.0,
                1 => -1.0 - 0.1 * i as f64 / n as f64,
                _ => 0.0,
            });
            let expected = if n > 6 { Factorisation::BandedLu } else { Factorisation::DenseLu };
            assert_eq!(solver.prepare(a.as_ref()).unwrap(), expected, "order {n}");
            let mut x = vec![0.0; n];
            assert!(solver.solve(&vec![1.0; n], &mut x).unwrap().residual < 1e-14);
            solver.set_method(SolveMethod::ConjugateGradient);
            let iteration =
                if n >= 20 { Factorisation::SparseIteration } else { Factorisation::DenseIteration };
            if n != 8 {
                assert_eq!(solver.prepare(a.as_ref()).unwrap(), iteration, "order {n}");
            }
            solver.set_method(SolveMethod::Lu);
        }
    }

    #[test]
    fn all_methods_agree_on_a_regular_system() {
        let mut stream = SplitMix64(6);
        let n = 12;
        let a = Matrix::from_fn(n, n, |i, j| stream.range(-1.0, 1.0) + if i == j { 9.0 } else { 0.0 });
        let b: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let mut answers = Vec::new();
        for method in [SolveMethod::Lu, SolveMethod::ConjugateGradient, SolveMethod::Svd] {
            let mut solver = LinearSolver::new(method);
            solver.iterative.tolerance = 1e-13;
            solver.prepare(a.as_ref()).unwrap();
            let mut x = vec![0.0; n];
            assert!(solver.solve(&b, &mut x).unwrap().residual <= 1e-13);
            answers.push(x);
        }
        for other in &answers[1..] {
            for (x, y) in answers[0].iter().zip(other) {
                assert_close!(*x, *y, abs = 1e-11);
            }
        }
    }

    #[test]
    fn contradictions_fail_in_the_iteration_and_pass_in_svd() {
        let a = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]);
        let mut solver = LinearSolver::default();
        let mut x = [0.0; 2];
        solver.prepare(a.as_ref()).unwrap();
        assert!(matches!(solver.solve(&[1.0, 3.0], &mut x), Err(MathError::NotConverged { .. })));
        solver.set_method(SolveMethod::Svd);
        solver.prepare(a.as_ref()).unwrap();
        solver.solve(&[1.0, 3.0], &mut x).unwrap();
        assert_close!(x[0], 1.0, abs = 1e-14);
        assert_close!(x[1], 1.0, abs = 1e-14);
        assert!(solver.set_truncation(-1.0).is_err() && solver.set_truncation(f64::NAN).is_err());
    }

    #[test]
    fn bad_input_is_an_error() {
        let mut solver = LinearSolver::default();
        assert!(matches!(solver.solve(&[], &mut []), Err(MathError::NotPrepared { .. })));
        assert!(solver.prepare(Matrix::zeros(2, 3).as_ref()).is_err());
        assert!(solver.prepare(Matrix::from_rows(&[[f64::NAN]]).as_ref()).is_err());
        solver.prepare(Matrix::identity(2).as_ref()).unwrap();
        assert!(solver.solve(&[1.0], &mut [0.0; 2]).is_err());
        assert!(solver.solve(&[1.0, f64::INFINITY], &mut [0.0; 2]).is_err());
        solver.prepare(Matrix::zeros(0, 0).as_ref()).unwrap();
        solver.solve(&[], &mut []).unwrap();
    }
}
