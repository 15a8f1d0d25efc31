//! Mixed problems: free unknowns and equations beside the complementary ones.
//!
//! # Reference
//! Cline (2002), 2.7.2 (both forms), with x = −P⁻¹(u + Q z).
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | x, u | m free unknowns, right-hand side of their m equations |
//! | z, w, v | n complementary unknowns, their slacks and right-hand side |
//! | P, Q, R, S | m x m, m x n, n x m, n x n, row-major |
//! # Formula
//! ```text
//! 0 = P x + Q z + u,   w = R x + S z + v,   z, w ≥ 0, zᵀw = 0
//! Schur:   (S − R P⁻¹ Q) z + (v − R P⁻¹ u)  is a pure problem
//! direct:  Lemke on both blocks, starting from the basis {x, w}; x never leaves and never blocks
//! ```
//! # Cost
//! Schur: m³ + m²n + mn² once, then a pure problem of size n. Direct: O((m + n)²) a pivot, nothing formed.
//! # Numerics
//! Both make the same pivots in exact arithmetic. The lexicographic rule compares only the columns of the
//! complementary equations. The answer is measured on all four blocks.
//! # Failure
//! [`LcpError::Singular`] if P has no inverse; else as the pure problem.
//! # Tested by
//! `schur_and_direct_forms_agree`, `mixed_problems_without_free_part_are_pure`.

use crate::basis::{Basis, NONE, Place, Var};
use crate::dense::Lu;
use crate::kernels::{dot, grow, max_abs};
use crate::lemke::{LemkeParams, Tie, ratio_test};
use crate::scaling::power_of_two;
use sim_traits::{LcpError, LcpProblem, LcpReport, LcpSolver};

/// A mixed problem, borrowed and checked.
#[derive(Debug, Clone, Copy)]
pub struct MixedLcp<'a> {
    p: &'a [f64],
    q: &'a [f64],
    r: &'a [f64],
    s: &'a [f64],
    u: &'a [f64],
    v: &'a [f64],
}

impl<'a> MixedLcp<'a> {
    /// From the four blocks, row-major, and the two right-hand sides.
    ///
    /// # Errors
    /// A block does not fit the lengths of `u` and `v`, or a number is not finite.
    pub fn new(
        p: &'a [f64],
        q: &'a [f64],
        r: &'a [f64],
        s: &'a [f64],
        u: &'a [f64],
        v: &'a [f64],
    ) -> Result<Self, LcpError> {
        let (m, n) = (u.len(), v.len());
        let blocks = [
            ("block P", p, m * m),
            ("block Q", q, m * n),
            ("block R", r, n * m),
            ("block S", s, n * n),
            ("right-hand side u", u, m),
            ("right-hand side v", v, n),
        ];
        for (what, values, expected) in blocks {
            if values.len() != expected {
                return Err(LcpError::WrongLength { what, expected, got: values.len() });
            }
            if let Some(index) = values.iter().position(|x| !x.is_finite()) {
                return Err(LcpError::NonFinite { what, index, value: values[index] });
            }
        }
        Ok(Self { p, q, r, s, u, v })
    }

    /// Number of free unknowns.
    #[must_use]
    pub fn free_len(&self) -> usize {
        self.u.len()
    }

    /// Number of complementary unknowns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.v.len()
    }

    /// True without complementary unknowns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.v.is_empty()
    }

    /// Largest |equation| and |min(`z_i`, `w_i`)|, relative to max(1, |u|∞, |v|∞). NaN counts as infinite.
    #[must_use]
    pub fn residual(&self, x: &[f64], z: &[f64]) -> f64 {
        let (m, n) = (self.free_len(), self.len());
        if x.len() != m || z.len() != n {
            return f64::INFINITY;
        }
        let mut worst = 0.0_f64;
        for i in 0..m {
            let e = dot(&self.p[i * m..][..m], x) + dot(&self.q[i * n..][..n], z) + self.u[i];
            worst = if e.is_nan() { f64::INFINITY } else { worst.max(e.abs()) };
        }
        for i in 0..n {
            let w = dot(&self.r[i * m..][..m], x) + dot(&self.s[i * n..][..n], z) + self.v[i];
            worst = if w.is_nan() || z[i].is_nan() { f64::INFINITY } else { worst.max(z[i].min(w).abs()) };
        }
        worst / max_abs(self.u).max(max_abs(self.v)).max(1.0)
    }

    fn check_output(&self, x: &[f64], z: &[f64]) -> Result<(), LcpError> {
        for (what, got, expected) in [("x", x.len(), self.free_len()), ("z", z.len(), self.len())] {
            if got != expected {
                return Err(LcpError::WrongLength { what, expected, got });
            }
        }
        Ok(())
    }
}

/// Solves mixed problems, with its memory.
#[derive(Debug, Clone, Default)]
pub struct MixedSolver {
    /// Tunables of the direct form, and the tolerance of both.
    pub params: LemkeParams,
    lu: Lu,
    columns: Vec<f64>,
    schur: Vec<f64>,
    rhs: Vec<f64>,
    basis: Basis,
    ratios: Vec<f64>,
    ties: Vec<Tie>,
}

impl MixedSolver {
    /// Eliminates x, solves the pure problem by `solver`, and gets x back.
    ///
    /// # Errors
    /// P is singular, `solver` fails, or the answer does not pass the check; then `z` and `x` have the iterate.
    pub fn solve_schur(
        &mut self,
        problem: &MixedLcp<'_>,
        solver: &mut dyn LcpSolver,
        x: &mut [f64],
        z: &mut [f64],
    ) -> Result<LcpReport, LcpError> {
        problem.check_output(x, z)?;
        let (m, n) = (problem.free_len(), problem.len());
        if !self.lu.factor(m, |i, out| out.copy_from_slice(&problem.p[i * m..][..m])) {
            return Err(LcpError::Singular { what: "block P" });
        }
        grow(&mut self.columns, m * n);
        grow(&mut self.schur, n * n);
        grow(&mut self.rhs, n);
        // Columns of P⁻¹ Q, one after the other, and P⁻¹ u in x.
        for j in 0..n {
            let column = &mut self.columns[j * m..][..m];
            for (i, c) in column.iter_mut().enumerate() {
                *c = problem.q[i * n + j];
            }
            self.lu.solve(column);
        }
        x.copy_from_slice(problem.u);
        self.lu.solve(x);
        for i in 0..n {
            let row = &problem.r[i * m..][..m];
            for j in 0..n {
                self.schur[i * n + j] = problem.s[i * n + j] - dot(row, &self.columns[j * m..][..m]);
            }
            self.rhs[i] = problem.v[i] - dot(row, x);
        }
        let pure = LcpProblem::new(&self.schur[..n * n], &self.rhs[..n])?;
        let outcome = solver.solve(&pure, z);
        // x from the equations themselves, which is more accurate than combining columns.
        for i in 0..m {
            x[i] = -(problem.u[i] + dot(&problem.q[i * n..][..n], z));
        }
        self.lu.solve(x);
        let report = outcome?;
        self.check(problem, x, z, report.iterations)
    }

    /// Lemke's method on the mixed problem itself.
    ///
    /// # Errors
    /// P is singular, the path ends in a ray, the pivots run out, or the answer does not pass the check.
    pub fn solve_direct(
        &mut self,
        problem: &MixedLcp<'_>,
        x: &mut [f64],
        z: &mut [f64],
    ) -> Result<LcpReport, LcpError> {
        problem.check_output(x, z)?;
        let (m, n) = (problem.free_len(), problem.len());
        let total = m + n;
        grow(&mut self.rhs, total);
        grow(&mut self.ratios, 2 * total + 1);
        let scale = power_of_two(max_abs(problem.u).max(max_abs(problem.v)));
        for (out, v) in self.rhs.iter_mut().zip(problem.u.iter().chain(problem.v)) {
            *out = v / scale;
        }
        self.basis.reset(total);
        for j in 0..m {
            self.basis.push_raw(j as u32, j as u32, |out| column(problem, j, out));
        }
        self.basis.free = m;
        if !self.basis.refactor() {
            return Err(LcpError::Singular { what: "block P" });
        }
        self.basis.recompute_values(&self.rhs);
        let pivots = self.follow(problem);
        self.basis.refine_values(&self.rhs, 1);
        x.fill(0.0);
        z.fill(0.0);
        for slot in 0..self.basis.len {
            let value = self.basis.value[slot] * scale;
            match self.basis.slot_column[slot] as usize {
                j if j < m => x[j] = value,
                j if j < total => z[j - m] = value.max(0.0),
                _ => {}
            }
        }
        self.check(problem, x, z, pivots?)
    }

    /// The pivots of the direct form, from the basis {x, w}.
    fn follow(&mut self, problem: &MixedLcp<'_>) -> Result<u32, LcpError> {
        let (m, total) = (problem.free_len(), problem.free_len() + problem.len());
        let basis = &mut self.basis;
        let mut t = None;
        for i in m..total {
            if basis.slack[i] < 0.0 && t.is_none_or(|t: usize| basis.slack[i] <= basis.slack[t]) {
                t = Some(i);
            }
        }
        let Some(t) = t else { return Ok(0) };
        // The cover is 0 on the equations, so x does not move with it.
        basis.entering[..m].fill(0.0);
        basis.entering[m..total].fill(1.0);
        basis.delta[..m].fill(0.0);
        basis.slack_delta[..total].copy_from_slice(&basis.entering[..total]);
        let step = -basis.slack[t];
        basis.advance(step);
        basis.pivot(Var::Artificial, Place::Row(t as u32), step);
        let mut entering = Var::Z(t as u32);
        let limit = if self.params.max_pivots > 0 { self.params.max_pivots } else { 50 * total as u32 + 50 };
        for pivots in 1..=limit {
            for attempt in 0..2 {
                let error = match entering {
                    Var::W(row) => basis.rates_of_w(row),
                    Var::Z(j) => {
                        column(problem, j as usize, &mut basis.entering[..total]);
                        basis.rates_of_z()
                    }
                    Var::Artificial => 0.0,
                };
                if attempt == 1 || error <= self.params.refactor_error || !basis.refactor() {
                    break;
                }
                basis.recompute_values(&self.rhs);
            }
            let Some(leaving) = ratio_test(basis, &self.params, &mut self.ratios, &mut self.ties) else {
                let done = basis.artificial().is_none_or(|p| basis.value[p] <= 1e-12);
                return if done { Ok(pivots) } else { Err(LcpError::Ray { iterations: pivots }) };
            };
            basis.advance(leaving.step);
            let left = basis.var(leaving.place);
            basis.pivot(entering, leaving.place, leaving.step);
            entering = match left {
                Var::Z(i) => Var::W(i),
                Var::W(i) => Var::Z(i),
                Var::Artificial => return Ok(pivots),
            };
            debug_assert!(
                (0..m).all(|i| basis.row_active[i] != NONE),
                "an equation of the mixed problem became inactive"
            );
        }
        Err(LcpError::Budget { iterations: limit, residual: f64::INFINITY })
    }

    fn check(
        &self,
        problem: &MixedLcp<'_>,
        x: &[f64],
        z: &[f64],
        iterations: u32,
    ) -> Result<LcpReport, LcpError> {
        let residual = problem.residual(x, z);
        if residual <= self.params.tolerance {
            Ok(LcpReport { iterations, residual })
        } else {
            Err(LcpError::Budget { iterations, residual })
        }
    }
}

/// Column j of [P Q; R S].
fn column(problem: &MixedLcp<'_>, j: usize, out: &mut [f64]) {
    let (m, n) = (problem.free_len(), problem.len());
    let (upper, lower, width, at) =
        if j < m { (problem.p, problem.r, m, j) } else { (problem.q, problem.s, n, j - m) };
    let (first, second) = out.split_at_mut(m);
    for (i, o) in first.iter_mut().enumerate() {
        *o = upper[i * width + at];
    }
    for (i, o) in second.iter_mut().enumerate() {
        *o = lower[i * width + at];
    }
}
