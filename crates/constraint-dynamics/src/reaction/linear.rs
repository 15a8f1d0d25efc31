//! The linear system of one part, by elimination in a band or dense, iteration, or least squares.
//!
//! # Reference
//!
//! Barenbrug (2000), 3.4.6; Broyden, *A class of methods for solving nonlinear simultaneous equations* (1965).
//!
//! # Symbols
//!
//! | code | meaning |
//! |---|---|
//! | J | derivative of errors by values |
//! | s, y | step of the values, and change of the errors that it made |
//! | H | what is used as J⁻¹ |
//!
//! # Formula
//!
//! ```text
//! solve    (J + λ diag J) d = −C,   λ = 1e-8, or 1e-5 after a step that was refused
//! update   H ← H + (s − H y) sᵀ H / (sᵀ H y)
//! ```
//!
//! # Cost
//!
//! n b² for a band, n³/3 dense, once per frame; n b or n² per solution.
//!
//! # Numerics
//!
//! λ lets elimination pass where constraints are there twice. It changes the speed of the Newton method and not its answer; the larger one keeps
//! values small that bodies do not feel. Constraints that contradict each other make steps of a size that the Newton method refuses; then least
//! squares.
//!
//! # Failure
//!
//! [`MathError`] if no factors or no solution are found.
//!
//! # Tested by
//!
//! `band_and_dense_give_the_same_frames`, `two_points_for_one_body_meet_in_the_middle`

use sim_math::{
    MathError,
    dense::{BandMatrix, BandedLu, LinearSolver, Matrix, SolveMethod},
};

/// Share of the diagonal that is added: at first, and after a step that was refused.
pub(super) const LIFTS: [f64; 2] = [1e-8, 1e-5];
/// Most unknowns for which a singular value decomposition is worth its time.
pub(super) const MOST_FOR_SVD: usize = 600;

/// J of one part.
#[derive(Debug, Clone)]
pub(super) enum Storage {
    Dense(Matrix),
    Band(BandMatrix),
}

/// One step of Broyden's update.
#[derive(Debug, Clone, Default)]
struct Update {
    step: Vec<f64>,
    factor: Vec<f64>,
}

/// J of one part with its factors.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    pub(super) size: usize,
    matrix: Storage,
    lifted: Matrix,
    lifted_band: BandMatrix,
    banded: BandedLu,
    solver: LinearSolver,
    /// Whether the factors are those of the band.
    by_band: bool,
    pub(super) ready: bool,
    pub(super) lift: f64,
    updates: Vec<Update>,
    used: usize,
}

/// Most of Broyden's updates between two Jacobians.
const UPDATES: usize = 10;

impl Linear {
    pub(super) fn new() -> Self {
        let mut solver = LinearSolver::default();
        solver.iterative.tolerance = 1e-2;
        // Both are in range.
        let _ = solver.set_truncation(1e-7);
        Self {
            size: 0,
            matrix: Storage::Dense(Matrix::default()),
            lifted: Matrix::default(),
            lifted_band: BandMatrix::zeros(0, 0, 0),
            banded: BandedLu::default(),
            solver,
            by_band: false,
            ready: false,
            lift: LIFTS[0],
            updates: Vec::new(),
            used: 0,
        }
    }

    /// Begins a new J.
    pub(super) fn reset(&mut self, size: usize, band: Option<usize>) {
        self.size = size;
        self.ready = false;
        self.used = 0;
        self.lift = LIFTS[0];
        match (&mut self.matrix, band) {
            (Storage::Band(m), Some(b)) => m.reset(size, b, b),
            (Storage::Dense(m), None) => m.reset(size, size),
            (place, Some(b)) => *place = Storage::Band(BandMatrix::zeros(size, b, b)),
            (place, None) => *place = Storage::Dense(Matrix::zeros(size, size)),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, i: usize, j: usize, value: f64) {
        match &mut self.matrix {
            Storage::Dense(m) => m[(i, j)] += value,
            // Entries of an edge are inside the band.
            Storage::Band(m) => {
                let _ = m.add(i, j, value);
            }
        }
    }

    pub(super) fn get(&self, i: usize, j: usize) -> f64 {
        match &self.matrix {
            Storage::Dense(m) => m[(i, j)],
            Storage::Band(m) => m.get(i, j),
        }
    }

    /// Forgets Broyden's updates and factors.
    pub(super) fn forget(&mut self) {
        (self.ready, self.used) = (false, 0);
    }

    /// Factorises for a method; a row that is `fixed` asks for no change of its own value. Gives the method that is used: a singular pivot leads to iteration.
    pub(super) fn prepare(
        &mut self,
        method: SolveMethod,
        fixed: &dyn Fn(usize) -> bool,
    ) -> Result<SolveMethod, MathError> {
        self.ready = false;
        self.used = 0;
        let n = self.size;
        if matches!(self.matrix, Storage::Band(_)) && method == SolveMethod::Lu {
            self.lift_band(fixed)?;
            if self.banded.factor(&self.lifted_band).is_ok() {
                (self.by_band, self.ready) = (true, true);
                return Ok(method);
            }
        }
        if method == SolveMethod::Svd && n > MOST_FOR_SVD {
            return Err(MathError::OutOfRange { what: "unknowns", index: n, limit: MOST_FOR_SVD });
        }
        let lift = if method == SolveMethod::Lu { self.lift } else { 0.0 };
        self.lifted.reset(n, n);
        for i in 0..n {
            let (diagonal, fixed) = (self.get(i, i), fixed(i));
            for j in 0..n {
                if !fixed {
                    self.lifted[(i, j)] = self.get(i, j);
                }
            }
            self.lifted[(i, i)] = lifted(diagonal, fixed, lift);
        }
        self.solver.set_method(method);
        self.solver.prepare(self.lifted.as_ref())?;
        (self.by_band, self.ready) = (false, true);
        Ok(if self.solver.switch().is_some() { SolveMethod::ConjugateGradient } else { method })
    }

    fn lift_band(&mut self, fixed: &dyn Fn(usize) -> bool) -> Result<(), MathError> {
        let Storage::Band(matrix) = &self.matrix else { return Ok(()) };
        let ((lower, upper), n) = (matrix.bandwidth(), self.size);
        self.lifted_band.reset(n, lower, upper);
        for i in 0..n {
            let fixed = fixed(i);
            for j in i.saturating_sub(lower)..(i + upper + 1).min(n) {
                if i == j {
                    self.lifted_band.add(i, i, lifted(matrix.get(i, i), fixed, self.lift))?;
                } else if !fixed {
                    self.lifted_band.add(i, j, matrix.get(i, j))?;
                }
            }
        }
        Ok(())
    }

    /// `x` = H `b`.
    pub(super) fn solve(&mut self, b: &[f64], x: &mut [f64]) -> Result<(), MathError> {
        if self.by_band {
            self.banded.solve(b, x)?;
        } else {
            self.solver.solve(b, x)?;
        }
        for update in &self.updates[..self.used] {
            let along: f64 = update.step.iter().zip(x.iter()).map(|(s, x)| s * x).sum();
            x.iter_mut().zip(&update.factor).for_each(|(x, f)| *x += f * along);
        }
        Ok(())
    }

    /// Learns from a step of the values and the change of the errors that it made.
    pub(super) fn learn(&mut self, step: &[f64], change: &[f64], scratch: &mut Vec<f64>) {
        if self.used >= UPDATES {
            return;
        }
        scratch.clear();
        scratch.resize(self.size, 0.0);
        if self.solve(change, scratch).is_err() {
            return;
        }
        let divisor: f64 = step.iter().zip(scratch.iter()).map(|(s, x)| s * x).sum();
        let size: f64 = step.iter().map(|s| s * s).sum();
        if divisor.abs() <= 1e-3 * size || !divisor.is_finite() {
            return;
        }
        if self.updates.len() <= self.used {
            self.updates.push(Update::default());
        }
        let update = &mut self.updates[self.used];
        update.step.clear();
        update.step.extend_from_slice(step);
        update.factor.clear();
        update.factor.extend(step.iter().zip(scratch.iter()).map(|(s, x)| (s - x) / divisor));
        self.used += 1;
    }
}

/// A diagonal entry as it is factorised; a row that is fixed has nothing else.
fn lifted(diagonal: f64, fixed: bool, lift: f64) -> f64 {
    match (fixed, diagonal == 0.0) {
        (true, true) => 1.0,
        (true, false) => diagonal,
        (false, _) => diagonal * (1.0 + lift),
    }
}
