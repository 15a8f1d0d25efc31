//! Mixed problems whose free block P has a fast solver: only columns of P⁻¹Q are formed, by that solver.
//!
//! # Reference
//! Baraff, *Linear-time dynamics using Lagrange multipliers* (1996), section on auxiliary constraints;
//! generalised as in Cline (2002), 4.8.2, with `x_base` = −P⁻¹u.
//! # Symbols
//! P, Q, R, S, u, v as for mixed problems; Y = P⁻¹Q, one column for each of the k complementary unknowns.
//! # Formula
//! ```text
//! x_base = −P⁻¹u,  P y_j = column j of Q,  M = S − R Y,  q = v + R x_base,  z from the pure problem
//! x = x_base − Y z        or, more accurately, x = −P⁻¹(u + Q z)
//! ```
//! # Cost
//! k + 1 fast solves (one more when refined) and k²·(entries in a row of R): O(N k) for a chain of N links with
//! k contacts, plus a pure problem of size k.
//! # Numerics
//! As accurate as the fast solver; ask for refinement when x must satisfy its equations to the last digit.
//! # Failure
//! What the fast solver or the pure problem says.
//! # Tested by
//! `fast_factored_equals_dense_schur`, `chain_with_contacts_costs_one_solve_a_contact`.

use crate::kernels::grow;
use sim_traits::{LcpError, LcpProblem, LcpReport, LcpSolver};
use std::fmt::Debug;

/// A matrix with a fast way to solve P x = b, for example a sparse factorisation.
pub trait FastFactored: Debug {
    /// Size of P.
    fn len(&self) -> usize;

    /// True for the empty matrix.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// x ← P⁻¹ x.
    ///
    /// # Errors
    /// P is singular.
    fn solve(&self, x: &mut [f64]) -> Result<(), LcpError>;
}

/// Sparse vectors of one length: the columns of Q, or the rows of R.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseVectors {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl SparseVectors {
    /// Without any vector.
    #[must_use]
    pub fn new() -> Self {
        Self { starts: vec![0], entries: Vec::new() }
    }

    /// Adds a vector from its entries (index, value); entries with the same index add up.
    pub fn push(&mut self, entries: &[(u32, f64)]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.entries.extend_from_slice(entries);
        self.starts.push(self.entries.len());
    }

    /// Number of vectors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// True without any vector.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries of vector `k`.
    #[must_use]
    pub fn get(&self, k: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[k]..self.starts[k + 1]]
    }

    fn dot(&self, k: usize, x: &[f64]) -> f64 {
        self.get(k).iter().map(|&(i, v)| v * x[i as usize]).sum()
    }

    fn check(&self, what: &'static str, vectors: usize, len: usize) -> Result<(), LcpError> {
        if self.len() != vectors {
            return Err(LcpError::WrongLength { what, expected: vectors, got: self.len() });
        }
        for (index, &(i, value)) in self.entries.iter().enumerate() {
            if i as usize >= len {
                return Err(LcpError::NotAllowed { what, index, value: f64::from(i) });
            }
            if !value.is_finite() {
                return Err(LcpError::NonFinite { what, index, value });
            }
        }
        Ok(())
    }
}

/// The sparse and dense parts of a problem with a fast-factored P.
#[derive(Debug, Clone, Copy)]
pub struct FastMixedLcp<'a> {
    /// P with its solver, size N.
    pub p: &'a dyn FastFactored,
    /// Columns of Q: k vectors of length N.
    pub q_columns: &'a SparseVectors,
    /// Rows of R: k vectors of length N.
    pub r_rows: &'a SparseVectors,
    /// S, k x k, row-major.
    pub s: &'a [f64],
    /// Right-hand side of the equations, length N.
    pub u: &'a [f64],
    /// Right-hand side of the slacks, length k.
    pub v: &'a [f64],
}

/// Memory for [`solve_fast_factored`].
#[derive(Debug, Clone, Default)]
pub struct FastMixedWorkspace {
    y: Vec<f64>,
    m: Vec<f64>,
    q: Vec<f64>,
}

/// Solves the problem; with `refine`, x is found by one more fast solve instead of combining columns.
///
/// # Errors
/// Sizes that do not fit, an index out of range, a number that is not finite, or what the solvers say.
pub fn solve_fast_factored(
    problem: &FastMixedLcp<'_>,
    solver: &mut dyn LcpSolver,
    refine: bool,
    ws: &mut FastMixedWorkspace,
    x: &mut [f64],
    z: &mut [f64],
) -> Result<LcpReport, LcpError> {
    let (n, k) = (problem.p.len(), problem.v.len());
    for (what, got, expected) in [
        ("x", x.len(), n),
        ("z", z.len(), k),
        ("block S", problem.s.len(), k * k),
        ("right-hand side u", problem.u.len(), n),
    ] {
        if got != expected {
            return Err(LcpError::WrongLength { what, expected, got });
        }
    }
    problem.q_columns.check("column of Q", k, n)?;
    problem.r_rows.check("row of R", k, n)?;
    grow(&mut ws.y, n * k);
    grow(&mut ws.m, k * k);
    grow(&mut ws.q, k);
    for (x, u) in x.iter_mut().zip(problem.u) {
        *x = -u;
    }
    problem.p.solve(x)?;
    for j in 0..k {
        let y = &mut ws.y[j * n..][..n];
        y.fill(0.0);
        for &(i, v) in problem.q_columns.get(j) {
            y[i as usize] += v;
        }
        problem.p.solve(y)?;
    }
    for i in 0..k {
        for j in 0..k {
            ws.m[i * k + j] = problem.s[i * k + j] - problem.r_rows.dot(i, &ws.y[j * n..][..n]);
        }
        ws.q[i] = problem.v[i] + problem.r_rows.dot(i, x);
    }
    let report = solver.solve(&LcpProblem::new(&ws.m[..k * k], &ws.q[..k])?, z)?;
    if refine {
        for (x, u) in x.iter_mut().zip(problem.u) {
            *x = -u;
        }
        for (j, z) in z.iter().enumerate() {
            for &(i, v) in problem.q_columns.get(j) {
                x[i as usize] -= v * z;
            }
        }
        problem.p.solve(x)?;
    } else {
        for (j, z) in z.iter().enumerate() {
            for (x, y) in x.iter_mut().zip(&ws.y[j * n..][..n]) {
                *x -= y * z;
            }
        }
    }
    Ok(report)
}
