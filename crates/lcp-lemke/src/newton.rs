//! Semismooth Newton method on the Fischer-Burmeister function: polishes an answer that is nearly right.
//!
//! # Reference
//! De Luca, Facchinei, Kanzow, *A semismooth equation approach to the solution of nonlinear complementarity
//! problems* (1996); Fischer (1992).
//! # Symbols
//! φ(a, b) = √(a² + b²) − a − b, zero exactly when a, b ≥ 0 and ab = 0.
//! # Formula
//! ```text
//! Φ_i = φ(z_i, w_i),  (D_a + D_b M) d = −Φ,  D_a = z/ρ − 1, D_b = w/ρ − 1, ρ = √(z² + w²)
//! z ← z + t d,  t = 1, ½, ¼, … until ½|Φ|² falls enough
//! ```
//! # Cost
//! One LU factorisation an iteration; quadratic convergence near a regular solution.
//! # Numerics
//! At ρ = 0 the element with `D_a` = `D_b` = 1/√2 − 1 is used. The matrix gets a tiny shift when it is singular.
//! # Failure
//! [`LcpError::Budget`] with the best iterate: far from a solution it may stop at a local minimum of |Φ|.
//! # Tested by
//! `newton_polishes_to_the_last_digits`, `newton_solves_p_problems_from_zero`.

use crate::certificate::Certificate;
use crate::dense::Lu;
use crate::kernels::grow;
use sim_traits::{LcpError, LcpProblem, LcpReport, LcpSolver};

/// Semismooth Newton method with its memory; starts from the z that it is given.
#[derive(Debug, Clone)]
pub struct Newton {
    /// Most iterations. Default 50.
    pub max_iterations: u32,
    /// Iterations stop when [`Certificate::holds`] at this tolerance. Default 1e-10.
    pub tolerance: f64,
    /// Start from the z given by the caller instead of 0. Default true.
    pub warm_start: bool,
    lu: Lu,
    w: Vec<f64>,
    step: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>,
}

impl Default for Newton {
    fn default() -> Self {
        Self {
            max_iterations: 50,
            tolerance: 1e-10,
            warm_start: true,
            lu: Lu::default(),
            w: Vec::new(),
            step: Vec::new(),
            trial: Vec::new(),
            best: Vec::new(),
        }
    }
}

fn fischer_burmeister(a: f64, b: f64) -> f64 {
    let rho = (a * a + b * b).sqrt();
    // For a + b > 0 the difference cancels; the quotient does not.
    if a + b > 0.0 { -2.0 * a * b / (rho + a + b) } else { rho - a - b }
}

fn merit(problem: &LcpProblem<'_>, z: &[f64], w: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    for (i, (w, z_i)) in w.iter_mut().zip(z).enumerate() {
        *w = problem.slack(i, z);
        let phi = fischer_burmeister(*z_i, *w);
        sum += phi * phi;
    }
    0.5 * sum
}

impl Newton {
    /// Makes room for problems of up to `n` unknowns.
    pub fn reserve(&mut self, n: usize) {
        self.lu.reserve(n);
        for v in [&mut self.w, &mut self.step, &mut self.trial, &mut self.best] {
            grow(v, n);
        }
    }

    /// The Newton direction at `z` with w in `self.w`; false if no shift makes the matrix regular.
    fn direction(&mut self, problem: &LcpProblem<'_>, z: &[f64]) -> bool {
        let n = problem.len();
        let w = &self.w[..n];
        for shift in [0.0, 1e-10, 1e-6] {
            let fill = |i: usize, out: &mut [f64]| {
                let rho = (z[i] * z[i] + w[i] * w[i]).sqrt();
                let (a, b) = if rho > 0.0 {
                    (z[i] / rho - 1.0, w[i] / rho - 1.0)
                } else {
                    let half = std::f64::consts::FRAC_1_SQRT_2 - 1.0;
                    (half, half)
                };
                for (o, m) in out.iter_mut().zip(problem.row(i)) {
                    *o = b * m;
                }
                out[i] += a - shift;
            };
            if self.lu.factor(n, fill) {
                for i in 0..n {
                    self.step[i] = -fischer_burmeister(z[i], w[i]);
                }
                self.lu.solve(&mut self.step[..n]);
                return self.step[..n].iter().all(|v| v.is_finite());
            }
        }
        false
    }
}

impl LcpSolver for Newton {
    fn solve(&mut self, problem: &LcpProblem<'_>, z: &mut [f64]) -> Result<LcpReport, LcpError> {
        let n = problem.len();
        if z.len() != n {
            return Err(LcpError::WrongLength { what: "z", expected: n, got: z.len() });
        }
        self.reserve(n);
        if !self.warm_start || z.iter().any(|v| !v.is_finite()) {
            z.fill(0.0);
        }
        let mut value = merit(problem, z, &mut self.w[..n]);
        let (mut least, mut iterations) = (f64::INFINITY, 0);
        loop {
            // Judged as it will be returned: rounding below zero is cut off.
            for (t, v) in self.trial.iter_mut().zip(z.iter()) {
                *t = v.max(0.0);
            }
            let certificate = Certificate::measure(problem, &self.trial[..n]);
            let violation = certificate.residual.max(certificate.relative);
            if violation < least {
                least = violation;
                self.best[..n].copy_from_slice(&self.trial[..n]);
            }
            let stop = certificate.holds(self.tolerance) || iterations >= self.max_iterations;
            if stop || !self.direction(problem, z) {
                break;
            }
            iterations += 1;
            let mut t = 1.0;
            loop {
                for i in 0..n {
                    self.trial[i] = z[i] + t * self.step[i];
                }
                let next = merit(problem, &self.trial[..n], &mut self.w[..n]);
                if next <= (1.0 - 1e-4 * t) * value || t < 1e-8 {
                    value = next;
                    break;
                }
                t *= 0.5;
            }
            z.copy_from_slice(&self.trial[..n]);
        }
        z.copy_from_slice(&self.best[..n]);
        let certificate = Certificate::measure(problem, z);
        if certificate.holds(self.tolerance) {
            Ok(LcpReport { iterations, residual: certificate.residual })
        } else {
            Err(LcpError::Budget { iterations, residual: certificate.residual })
        }
    }
}
