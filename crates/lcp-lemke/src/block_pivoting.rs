//! Block principal pivoting: guess the active set, solve for it, exchange all that is infeasible, repeat.
//!
//! # Reference
//! Júdice and Pires, *A block principal pivoting algorithm for large-scale strictly monotone linear
//! complementarity problems* (1994); Kostreva (1978).
//! # Symbols
//! C = active set: z solved for on C and 0 elsewhere, w = 0 on C.
//! # Formula
//! ```text
//! M_CC z_C = −q_C,  w = M z + q,  F = { i in C: z_i < 0 } ∪ { i not in C: w_i < 0 }
//! F empty: solved.   else exchange all of F, as long as |F| reaches a new minimum within five rounds
//! ```
//! # Cost
//! One Cholesky (M symmetric) or LU factorisation of the active block a round; usually three to six rounds from
//! C = { q < 0 }, one or two from the active set of a similar problem.
//! # Numerics
//! Every round starts afresh, so there are no errors to accumulate.
//! # Failure
//! Gives up when the block is singular or |F| does not fall: the caller goes on with Lemke's method.
//! # Tested by
//! `block_pivoting_equals_lemke`, `warm_starts_take_a_round_or_two`.

use crate::certificate::Certificate;
use crate::dense::{Cholesky, Lu};
use crate::kernels::{dot, grow, max_abs};
use sim_traits::LcpProblem;

/// Rounds without a new minimum of |F| before giving up.
const PATIENCE: u32 = 5;

/// What is known of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symmetry {
    /// It is symmetric: Cholesky.
    Yes,
    /// It is not: LU.
    No,
    /// Not looked at: the last row of each active block tells (that of friction problems does). If it misleads,
    /// the answer does not pass, and LU follows.
    Unknown,
}

/// Memory of the method.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockPivoting {
    cholesky: Cholesky,
    lu: Lu,
    active: Vec<u32>,
    inside: Vec<bool>,
    part: Vec<f64>,
}

/// How an answer was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rounds {
    pub(crate) rounds: u32,
    /// All unknowns are active.
    pub(crate) interior: bool,
    pub(crate) certificate: Certificate,
}

impl BlockPivoting {
    /// Makes room for problems of up to `n` unknowns.
    pub(crate) fn reserve(&mut self, n: usize) {
        self.cholesky.reserve(n);
        self.lu.reserve(n);
        grow(&mut self.active, n);
        grow(&mut self.inside, n);
        grow(&mut self.part, n);
    }

    /// Iterates from the set of those i for which `start(i)`; `None` if it does not come to an answer that
    /// passes at `tolerance`.
    pub(crate) fn run(
        &mut self,
        problem: &LcpProblem<'_>,
        symmetry: Symmetry,
        start: impl Fn(usize) -> bool,
        tolerance: f64,
        z: &mut [f64],
    ) -> Option<Rounds> {
        let n = problem.len();
        self.reserve(n);
        for (i, inside) in self.inside[..n].iter_mut().enumerate() {
            *inside = start(i);
        }
        let mut symmetry = symmetry;
        let (mut least, mut patience) = (usize::MAX, PATIENCE);
        for rounds in 1.. {
            let m = self.solve_active(problem, symmetry, z)?;
            let infeasible = self.exchange(problem, z);
            if infeasible == 0 {
                for v in z.iter_mut() {
                    *v = v.max(0.0);
                }
                let certificate = Certificate::measure(problem, z);
                if certificate.holds(tolerance) {
                    return Some(Rounds { rounds, interior: m == n, certificate });
                }
                if symmetry != Symmetry::Unknown {
                    return None;
                }
                symmetry = Symmetry::No;
            } else if infeasible < least {
                (least, patience) = (infeasible, PATIENCE);
            } else if patience == 0 {
                return None;
            } else {
                patience -= 1;
            }
        }
        None
    }

    /// Writes the marks of the last set.
    pub(crate) fn active(&self, marks: &mut [bool]) {
        let n = marks.len().min(self.inside.len());
        marks[..n].copy_from_slice(&self.inside[..n]);
    }

    /// z for the present set; the size of the set.
    fn solve_active(&mut self, problem: &LcpProblem<'_>, symmetry: Symmetry, z: &mut [f64]) -> Option<usize> {
        let mut m = 0;
        for (i, inside) in self.inside[..problem.len()].iter().enumerate() {
            if *inside {
                self.active[m] = i as u32;
                self.part[m] = -problem.q()[i];
                m += 1;
            }
        }
        let active = &self.active[..m];
        let same = match symmetry {
            Symmetry::Yes => true,
            Symmetry::No => false,
            Symmetry::Unknown => last_row_is_symmetric(problem, active),
        };
        let fill = |a: usize, first: usize, out: &mut [f64]| {
            let row = problem.row(active[a] as usize);
            for (o, &j) in out.iter_mut().zip(&active[first..]) {
                *o = row[j as usize];
            }
        };
        let part = &mut self.part[..m];
        if same {
            if !self.cholesky.factor(m, |a, out| fill(a, a, out)) {
                return None;
            }
            self.cholesky.solve(part);
        } else {
            if !self.lu.factor(m, |a, out| fill(a, 0, out)) {
                return None;
            }
            self.lu.solve(part);
        }
        z.fill(0.0);
        for (&i, &v) in active.iter().zip(&self.part) {
            z[i as usize] = v;
        }
        Some(m)
    }

    /// Exchanges all infeasible unknowns and returns how many there were.
    fn exchange(&mut self, problem: &LcpProblem<'_>, z: &[f64]) -> usize {
        let (z_floor, w_floor) = (-1e-13 * max_abs(z), -1e-13 * max_abs(problem.q()));
        let mut infeasible = 0;
        for (i, inside) in self.inside[..z.len()].iter_mut().enumerate() {
            let bad =
                if *inside { z[i] < z_floor } else { dot(problem.row(i), z) + problem.q()[i] < w_floor };
            if bad {
                *inside = !*inside;
                infeasible += 1;
            }
        }
        infeasible
    }
}

/// Whether the last row of the active block equals its last column.
fn last_row_is_symmetric(problem: &LcpProblem<'_>, active: &[u32]) -> bool {
    let Some(&last) = active.last() else { return true };
    let row = problem.row(last as usize);
    active.iter().all(|&j| {
        let (v, mirror) = (row[j as usize], problem.row(j as usize)[last as usize]);
        (v - mirror).abs() <= 1e-14 * v.abs()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{Family, changed_pair};
    use crate::{LcpSolver, Lemke};
    use sim_math::testkit::SplitMix64;

    #[test]
    fn block_pivoting_equals_lemke() {
        let mut random = SplitMix64(60);
        let mut method = BlockPivoting::default();
        let (mut solved, mut rounds) = (0, 0);
        for _ in 0..400 {
            let p = Family::PositiveDefinite.draw(1 + random.below(40), &mut random);
            let problem = p.problem().unwrap();
            let (mut a, mut b) = (vec![0.0; p.q.len()], vec![0.0; p.q.len()]);
            Lemke::default().solve(&problem, &mut a).unwrap();
            if let Some(found) = method.run(&problem, Symmetry::Yes, |i| p.q[i] < 0.0, 1e-10, &mut b) {
                solved += 1;
                rounds += found.rounds;
                let distance = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(distance < 1e-10, "{distance}");
            }
        }
        assert!(solved > 390 && rounds < 5 * solved, "{solved} solved in {rounds} rounds");
    }

    #[test]
    fn warm_starts_take_a_round_or_two() {
        let mut random = SplitMix64(61);
        let mut method = BlockPivoting::default();
        for family in [Family::PositiveDefinite, Family::Contact, Family::Friction4, Family::Friction8] {
            let (mut tried, mut solved, mut rounds) = (0, 0, 0);
            for _ in 0..100 {
                let (p, near) = changed_pair(family, 10 + random.below(50), 1e-3, &mut random);
                let mut z = vec![0.0; p.q.len()];
                let mut lemke = Lemke::default();
                lemke.solve(&p.problem().unwrap(), &mut z).unwrap();
                let mut guess = vec![false; p.q.len()];
                lemke.workspace.active(&mut guess);
                tried += 1;
                let near = near.problem().unwrap();
                if let Some(found) = method.run(&near, Symmetry::Unknown, |i| guess[i], 1e-10, &mut z) {
                    solved += 1;
                    rounds += found.rounds;
                }
            }
            println!("{family:?}: {solved} of {tried} in {rounds} rounds");
            assert!(
                10 * solved >= 9 * tried && rounds < 2 * solved,
                "{family:?}: {solved} of {tried}, {rounds}"
            );
        }
    }
}
