//! Iterative solvers that touch the matrix only by multiplication.
//!
//! They solve redundant systems as long as these are consistent, where a factorisation meets a zero pivot.

mod bicgstab;
mod cgls;
mod conjugate_gradient;

pub use bicgstab::bicgstab;
pub use cgls::cgls;
pub use conjugate_gradient::conjugate_gradient;

use super::kernels::norm;
use super::matrix::check_len;
use super::operator::LinearOperator;
use crate::MathError;

/// When an iteration stops.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct IterativeParams {
    /// Stop at ‖b − A x‖ ≤ tolerance · ‖b‖. Default 1e-10; inside a Newton loop 0.01 to 0.1 is enough, and
    /// raising it saves iterations.
    pub tolerance: f64,
    /// Give up after this many products with the matrix. Default 0, which means 10 n + 50.
    pub max_iterations: usize,
}

impl Default for IterativeParams {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 0 }
    }
}

impl IterativeParams {
    /// The defaults with another tolerance.
    #[must_use]
    pub fn with_tolerance(tolerance: f64) -> Self {
        Self { tolerance, ..Self::default() }
    }

    /// Checks the values.
    ///
    /// # Errors
    /// [`MathError::NotPositive`] or [`MathError::NonFinite`] for the tolerance.
    pub fn validate(&self) -> Result<(), MathError> {
        MathError::check_positive("tolerance", 0, self.tolerance).map(drop)
    }

    fn limit(&self, n: usize) -> usize {
        if self.max_iterations == 0 { 10 * n + 50 } else { self.max_iterations }
    }
}

/// How an iteration went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterationReport {
    /// Iterations made.
    pub iterations: usize,
    /// ‖b − A x‖ / ‖b‖, computed from `x`; 0 for b = 0.
    pub residual: f64,
}

/// Vectors of the iterations, kept between calls.
#[derive(Debug, Clone, Default)]
pub struct IterativeWorkspace {
    vectors: [Vec<f64>; 8],
    inverse_diagonal: Vec<f64>,
}

impl IterativeWorkspace {
    fn resize(&mut self, n: usize) {
        for v in self.vectors.iter_mut().chain([&mut self.inverse_diagonal]) {
            v.clear();
            v.resize(n, 0.0);
        }
    }
}

/// Checks shapes and numbers, sizes the workspace, fills the preconditioner; gives ‖b‖.
fn begin(
    a: &dyn LinearOperator,
    b: &[f64],
    x: &[f64],
    params: &IterativeParams,
    ws: &mut IterativeWorkspace,
) -> Result<f64, MathError> {
    params.validate()?;
    let n = a.order();
    check_len("right-hand side", b.len(), n)?;
    check_len("solution", x.len(), n)?;
    MathError::check_finite("right-hand side", b)?;
    MathError::check_finite("first guess", x)?;
    ws.resize(n);
    a.diagonal(&mut ws.inverse_diagonal)?;
    MathError::check_finite("diagonal entry", &ws.inverse_diagonal)?;
    for d in &mut ws.inverse_diagonal {
        // A zero diagonal, or one whose inverse overflows, is left unscaled.
        let inverse = 1.0 / d.abs();
        *d = if inverse.is_finite() { inverse } else { 1.0 };
    }
    Ok(norm(b))
}

/// `r = b − A x`, and its norm.
fn true_residual(a: &dyn LinearOperator, b: &[f64], x: &[f64], r: &mut [f64]) -> Result<f64, MathError> {
    a.apply(x, r)?;
    for (r, b) in r.iter_mut().zip(b) {
        *r = b - *r;
    }
    Ok(norm(r))
}

fn precondition(inverse_diagonal: &[f64], r: &[f64], z: &mut [f64]) {
    for ((z, r), d) in z.iter_mut().zip(r).zip(inverse_diagonal) {
        *z = r * d;
    }
}

/// Judges the iterate by its true residual.
fn finish(
    what: &'static str,
    iterations: usize,
    residual: f64,
    size: f64,
    params: &IterativeParams,
) -> Result<IterationReport, MathError> {
    let relative = if size == 0.0 { 0.0 } else { residual / size };
    if relative <= params.tolerance {
        Ok(IterationReport { iterations, residual: relative })
    } else {
        Err(MathError::NotConverged { what, iterations, residual: relative })
    }
}
