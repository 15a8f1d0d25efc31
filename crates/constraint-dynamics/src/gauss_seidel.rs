//! Exact friction cones by block Gauss-Seidel.
//!
//! # Reference
//!
//! Moreau and Jean's non-smooth Gauss-Seidel; acceleration after Silcowitz-Hansen, Niebe and Erleben (2010), nonlinear conjugate gradients.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | p | impulses | N·s |
//! | s | change of p by one forward and one backward sweep | N·s |
//! | d | direction of the acceleration | N·s |
//!
//! # Formula
//!
//! ```text
//! sweep, forward then backward:  q_c = b_c + Σ_{d≠c} W_cd p_d;   p_c = exact solution of the contact alone
//! β = |s|²/|s_before|²;  β ≤ 1: p += β d, d = β d + s;  else d = 0
//! stop when the residual after a sweep is below the tolerance times the largest |b|
//! ```
//!
//! # Cost
//!
//! Two products with W per iteration, and a local solution per contact. No allocation once grown.
//!
//! # Numerics
//!
//! The answer is what a sweep left, so it is inside the cones. Deep piles converge slowly: what is left of the residual is reported, and the
//! next step, which starts from this one's impulses, goes on where this one stopped.
//!
//! # Failure
//!
//! [`RowError::Budget`] with the last impulses.
//!
//! # Tested by
//!
//! `cones_conform`, `acceleration_pays_on_a_tower`

use crate::{contradiction, local::LocalBlock};
use sim_math::glam::DVec3;
use sim_traits::{RowError, RowProblem, RowReport, RowSolver};

/// Share of the velocities that must be left of equalities for them to contradict each other.
pub(crate) const SURE: f64 = 1e-6;

/// Tunables of [`ConeGaussSeidel`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ConeParams {
    /// Largest residual, relative to the largest velocity of slip or approach. Default 1e-10.
    pub tolerance: f64,
    /// Most pairs of sweeps. Default 1000.
    pub max_iterations: u32,
    /// Accelerate by nonlinear conjugate gradients. Default true.
    pub accelerate: bool,
}

impl Default for ConeParams {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 1000, accelerate: true }
    }
}

/// Exact cones, one contact after the other, until nothing moves.
///
/// ```
/// use constraint_dynamics::ConeGaussSeidel;
/// use sim_math::glam::{DMat3, DVec3};
/// use sim_traits::{RowProblem, RowSolver};
///
/// // A unit mass that lands at 1 m/s and slides at 2 m/s, friction ½.
/// let (w, b) = ([DMat3::IDENTITY], [DVec3::new(2.0, 0.0, -1.0)]);
/// let problem = RowProblem::new(&[0, 1], &[0], &w, &b, &[0.5], &[])?;
/// let mut p = [DVec3::ZERO];
/// ConeGaussSeidel::default().solve(&problem, &mut p)?;
/// assert!((p[0] - DVec3::new(-0.5, 0.0, 1.0)).length() < 1e-12);
/// # Ok::<(), sim_traits::RowError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ConeGaussSeidel {
    /// Tunables.
    pub params: ConeParams,
    local: Vec<LocalBlock>,
    before: Vec<DVec3>,
    direction: Vec<DVec3>,
}

impl ConeGaussSeidel {
    /// With parameters.
    #[must_use]
    pub fn new(params: ConeParams) -> Self {
        Self { params, ..Self::default() }
    }
}

/// Solves one contact with the others as they are; returns the size of its change as a velocity.
#[inline]
fn relax(problem: &RowProblem<'_>, local: &LocalBlock, c: usize, p: &mut [DVec3]) -> f64 {
    let mut q = problem.velocity()[c];
    let mut scale = 0.0;
    for (d, block) in problem.row(c) {
        if d == c {
            scale = problem.law(c).size(block);
        } else {
            q += *block * p[d];
        }
    }
    let next = local.solve(q, local.load(p));
    let change = (next - p[c]).length() * scale;
    p[c] = next;
    change
}

impl RowSolver for ConeGaussSeidel {
    fn kind(&self) -> &'static str {
        "cone"
    }

    fn solve(&mut self, problem: &RowProblem<'_>, p: &mut [DVec3]) -> Result<RowReport, RowError> {
        RowError::check_guess(problem, p)?;
        let n = problem.len();
        let Self { params, local, before, direction } = self;
        local.clear();
        local.extend((0..n).map(|c| LocalBlock::of(problem, c)));
        let scale = problem.scale();
        let tolerance = params.tolerance * scale;
        before.clear();
        before.resize(n, DVec3::ZERO);
        direction.clear();
        direction.resize(n, DVec3::ZERO);
        let mut last = f64::INFINITY;
        let mut iterations = 0;
        // A pile at rest is solved by the impulses of the last step.
        let certificate = problem.certificate(p);
        if certificate.residual <= tolerance {
            return Ok(RowReport { iterations, certificate });
        }
        loop {
            iterations += 1;
            before.copy_from_slice(p);
            let mut change = 0.0_f64;
            for (c, local) in local.iter().enumerate() {
                relax(problem, local, c, p);
            }
            for (c, local) in local.iter().enumerate().rev() {
                change = change.max(relax(problem, local, c, p));
            }
            let spent = iterations >= params.max_iterations;
            // The change of a sweep is a cheap sign of the residual, which alone decides.
            if change <= 2.0 * tolerance || spent || n < 2 || iterations == 1 {
                let certificate = problem.certificate(p);
                if certificate.residual <= tolerance {
                    return Ok(RowReport { iterations, certificate });
                }
                if spent {
                    if let Some(error) = contradiction::find(problem, SURE * scale, iterations, p) {
                        return Err(error);
                    }
                    return Err(RowError::Budget { iterations, residual: certificate.residual });
                }
            }
            if params.accelerate {
                let size: f64 = p.iter().zip(before.iter()).map(|(p, b)| (*p - *b).length_squared()).sum();
                let beta = if last > 0.0 { size / last } else { f64::INFINITY };
                last = size;
                let keeps = beta <= 1.0;
                for ((p, b), d) in p.iter_mut().zip(before.iter()).zip(direction.iter_mut()) {
                    let step = *p - *b;
                    if keeps {
                        *p += beta * *d;
                        *d = beta * *d + step;
                    } else {
                        *d = step;
                    }
                }
            }
        }
    }
}
