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
//! F empty: solved.   else exchange all of F, as long as |F| reaches a new minimum within five rounds;
//!                    if that makes M_CC singular, only the most negative of F, once
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
use crate::kernels::{SHORT, grow, listed_rows_times, max_abs, rows_times_plus};
use crate::small::{SMALL, Small};
use crate::tiny::{TINY, solve_tiny};
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
    /// the answer does not pass, and LU follows. The smallest blocks go to LU at once.
    Unknown,
}

/// Memory of the method.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockPivoting {
    cholesky: Cholesky,
    lu: Lu,
    small: Small,
    active: Vec<u32>,
    resting: Vec<u32>,
    inside: Vec<bool>,
    part: Vec<f64>,
    w: Vec<f64>,
    /// What the last round exchanged, and the one of them that was most negative.
    exchanged: Vec<u32>,
    worst: u32,
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
        // The last to grow: if it is long enough, all are.
        if self.active.len() > n {
            return;
        }
        self.cholesky.reserve(n);
        self.lu.reserve(n);
        // One more than there can be: the lists are written before they are known to grow.
        grow(&mut self.resting, n + 1);
        grow(&mut self.inside, n);
        grow(&mut self.part, n);
        grow(&mut self.w, n);
        self.exchanged.reserve(n.saturating_sub(self.exchanged.len()));
        grow(&mut self.active, n + 1);
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
        let (mut least, mut patience, mut one_alone) = (usize::MAX, PATIENCE, false);
        self.exchanged.clear();
        for rounds in 1.. {
            let Some(m) = self.solve_active(problem, symmetry, z) else {
                // Exchanging all made the block singular, as when two friction directions that oppose each other
                // come in together: take the worst alone, once.
                if one_alone || self.exchanged.len() < 2 {
                    return None;
                }
                one_alone = true;
                for &i in &self.exchanged {
                    self.inside[i as usize] ^= i != self.worst;
                }
                continue;
            };
            let infeasible = self.exchange(problem, m, z);
            if infeasible == 0 {
                if n >= SHORT {
                    listed_rows_times(&mut self.w, problem.m(), &self.active[..m], z, problem.q());
                }
                let certificate = Certificate::of_slacks(problem, z, &self.w[..n]);
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
        let (mut m, mut rest) = (0, 0);
        for (i, inside) in self.inside[..problem.len()].iter().enumerate() {
            // Both lists are written, one advances: no branch to predict.
            self.active[m] = i as u32;
            self.resting[rest] = i as u32;
            m += usize::from(*inside);
            rest += usize::from(!*inside);
        }
        let active = &self.active[..m];
        let gather = |a: usize, columns: &[u32], out: &mut [f64]| {
            let i = active[a] as usize;
            let row = problem.row(i);
            for (o, &j) in out.iter_mut().zip(columns) {
                *o = row[j as usize];
            }
            out[columns.len()] = -problem.q()[i];
        };
        let part = &mut self.part[..m];
        let regular = if m <= TINY {
            // So few rows are not worth a look at their symmetry.
            let row = |a: usize, out: &mut [f64]| gather(a, active, out);
            if symmetry == Symmetry::Yes {
                solve_tiny::<true>(part, row)
            } else {
                solve_tiny::<false>(part, row)
            }
        } else {
            let same = match symmetry {
                Symmetry::Yes => true,
                Symmetry::No => false,
                Symmetry::Unknown => last_row_is_symmetric(problem, active),
            };
            match (same, m <= SMALL) {
                (true, true) => self.small.solve_definite(part, |a, out| gather(a, &active[a..], out)),
                (true, false) => self.cholesky.solve_riding(part, |a, out| gather(a, &active[a..], out)),
                (false, true) => self.small.solve(part, active, gather),
                (false, false) => self.lu.solve_riding(part, |a, out| gather(a, active, out)),
            }
        };
        if !regular {
            return None;
        }
        // What is negative by rounding is 0; it shows in w, which is computed from z.
        let floor = -1e-13 * max_abs(part);
        z.fill(0.0);
        for (&i, v) in active.iter().zip(part) {
            *v = if *v < 0.0 && *v >= floor { 0.0 } else { *v };
            z[i as usize] = *v;
        }
        Some(m)
    }

    /// Exchanges all infeasible unknowns and returns how many there were. Computes w of those at rest, and of all
    /// where that is as quick.
    fn exchange(&mut self, problem: &LcpProblem<'_>, m: usize, z: &[f64]) -> usize {
        let n = z.len();
        if n < SHORT {
            rows_times_plus(&mut self.w[..n], problem.m(), z, problem.q());
        } else {
            listed_rows_times(&mut self.w, problem.m(), &self.resting[..n - m], z, problem.q());
        }
        let w_floor = -1e-13 * max_abs(problem.q());
        let mut worst = 0.0;
        self.exchanged.clear();
        for (&i, v) in self.active[..m].iter().zip(&self.part) {
            if *v < 0.0 {
                self.inside[i as usize] = false;
                self.exchanged.push(i);
                (worst, self.worst) = if *v < worst { (*v, i) } else { (worst, self.worst) };
            }
        }
        for &i in &self.resting[..n - m] {
            let v = self.w[i as usize];
            if v < w_floor {
                self.inside[i as usize] = true;
                self.exchanged.push(i);
                (worst, self.worst) = if v < worst { (v, i) } else { (worst, self.worst) };
            }
        }
        self.exchanged.len()
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

    /// The guess of a changed friction problem whose first exchange takes in two directions that oppose each other.
    #[test]
    fn opposing_directions_come_in_one_at_a_time() {
        let (p, near) = changed_pair(Family::Friction4, 50, 1e-3, &mut SplitMix64(42));
        let (mut z, mut guess, mut lemke) = (vec![0.0; p.q.len()], vec![false; p.q.len()], Lemke::default());
        lemke.solve(&p.problem().unwrap(), &mut z).unwrap();
        lemke.workspace.active(&mut guess);
        let mut method = BlockPivoting::default();
        let found = method.run(&near.problem().unwrap(), Symmetry::Unknown, |i| guess[i], 1e-10, &mut z);
        assert_eq!(found.map(|found| found.rounds), Some(3));
    }

    #[test]
    fn a_misleading_last_row_is_found_out() {
        for (n, rounds) in [(TINY, 1), (TINY + 1, 2)] {
            let mut m = vec![0.0; n * n];
            (0..n).for_each(|i| m[i * n + i] = 1.0);
            (m[0], m[1], m[n], m[n + 1]) = (2.0, 1.0, -1.0, 2.0);
            let q = vec![-1.0; n];
            let problem = LcpProblem::new(&m, &q).unwrap();
            let (mut method, mut z) = (BlockPivoting::default(), vec![0.0; n]);
            let found = method.run(&problem, Symmetry::Unknown, |_| true, 1e-10, &mut z).unwrap();
            assert_eq!(found.rounds, rounds);
            let expected = [0.2, 0.6].into_iter().chain(std::iter::repeat(1.0));
            let distance = z.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(distance < 1e-15, "{z:?}");
        }
    }
}
