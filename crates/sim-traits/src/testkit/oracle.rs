//! Naive implementations that are right because they are simple. Slow on purpose.

use crate::{LcpError, LcpProblem, LcpReport, LcpSolver};

/// Tries every set of basic variables: exact up to rounding, exponential in the number of unknowns.
#[derive(Debug, Clone, Default)]
pub struct EnumerationLcp {
    system: Vec<f64>,
    candidate: Vec<f64>,
}

impl EnumerationLcp {
    /// Problems with more unknowns are refused as over budget.
    pub const MAX_LEN: usize = 16;

    /// Residual up to which a candidate counts as a solution.
    pub const TOLERANCE: f64 = 1e-9;

    /// Solves `M_ss` `z_s` = −`q_s` for the chosen set by Gauss-Jordan with full row pivoting; `None` if singular.
    fn solve_subset(&mut self, problem: &LcpProblem<'_>, set: u32) -> Option<&[f64]> {
        let chosen: Vec<usize> = (0..problem.len()).filter(|i| set >> i & 1 == 1).collect();
        let (k, width) = (chosen.len(), chosen.len() + 1);
        self.system.clear();
        for &i in &chosen {
            self.system.extend(chosen.iter().map(|&j| problem.row(i)[j]));
            self.system.push(-problem.q()[i]);
        }
        for column in 0..k {
            let size = |r: usize| self.system[r * width + column].abs();
            let pivot_row = (column..k).max_by(|&a, &b| size(a).total_cmp(&size(b)))?;
            if size(pivot_row) < 1e-12 {
                return None;
            }
            for c in 0..width {
                self.system.swap(pivot_row * width + c, column * width + c);
            }
            for r in (0..k).filter(|&r| r != column) {
                let factor = self.system[r * width + column] / self.system[column * width + column];
                for c in column..width {
                    self.system[r * width + c] -= factor * self.system[column * width + c];
                }
            }
        }
        self.candidate.clear();
        self.candidate.resize(problem.len(), 0.0);
        for (r, &i) in chosen.iter().enumerate() {
            self.candidate[i] = self.system[r * width + k] / self.system[r * width + r];
        }
        Some(&self.candidate)
    }
}

impl LcpSolver for EnumerationLcp {
    fn solve(&mut self, problem: &LcpProblem<'_>, z: &mut [f64]) -> Result<LcpReport, LcpError> {
        let n = problem.len();
        if z.len() != n {
            return Err(LcpError::WrongLength { what: "z", expected: n, got: z.len() });
        }
        let mut best = f64::INFINITY;
        let mut iterations = 0;
        if n <= Self::MAX_LEN {
            for set in 0..1_u32 << n {
                iterations += 1;
                let Some(candidate) = self.solve_subset(problem, set) else { continue };
                let residual = problem.residual(candidate);
                if residual < best {
                    best = residual;
                    z.copy_from_slice(candidate);
                }
            }
        }
        if best <= Self::TOLERANCE {
            Ok(LcpReport { iterations, residual: best })
        } else {
            Err(LcpError::Budget { iterations, residual: best })
        }
    }
}
