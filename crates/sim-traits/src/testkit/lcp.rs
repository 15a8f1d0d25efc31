//! Conformance of [`LcpSolver`]s: known answers, random solvable problems, problems without solution, bad input.

use super::SplitMix64;
use crate::{LcpError, LcpProblem, LcpSolver};

/// What to demand.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Largest number of unknowns to try.
    pub max_len: usize,
    /// Problems per family.
    pub count: u32,
    /// Largest residual of an answer, relative as in [`LcpProblem::residual`].
    pub residual: f64,
    /// Ask only for symmetric matrices.
    pub symmetric_only: bool,
    /// First number of the random stream.
    pub seed: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { max_len: 10, count: 200, residual: 1e-9, symmetric_only: false, seed: 1 }
    }
}

/// A matrix, a right-hand side and, where it is unique and known, the solution.
type Known = (&'static str, &'static [f64], &'static [f64], &'static [f64]);

/// Small problems with exact answers: a 2x2, Kostreva's (cycles under careless tie-breaking), Murty's
/// exponential family at n = 3, and one with four unknowns.
const KNOWN: [Known; 4] = [
    ("two unknowns", &[2., 1., 1., 2.], &[-5., -6.], &[4. / 3., 7. / 3.]),
    ("Kostreva", &[1., 2., 0., 0., 1., 2., 2., 0., 1.], &[-1., -1., -1.], &[1. / 3., 1. / 3., 1. / 3.]),
    ("Murty", &[1., 0., 0., 2., 1., 0., 2., 2., 1.], &[-8., -12., -14.], &[8., 0., 0.]),
    (
        "four unknowns",
        &[1., -1., -1., -1., -1., 1., -1., -1., 1., 1., 2., 0., 1., 1., 0., 2.],
        &[3., 5., -9., -5.],
        &[2., 1., 3., 1.],
    ),
];

/// Families of random problems that have a solution by construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// A Aᵀ/n + 0.1 I, any right-hand side.
    PositiveDefinite,
    /// A Aᵀ of half rank, right-hand side made from a complementary pair.
    SemiDefinite,
    /// Positive definite plus a skew part: a P-matrix that is not symmetric.
    PMatrix,
    /// Positive definite with a solution where `z_i` = `w_i` = 0 for some i.
    Degenerate,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::PositiveDefinite, Self::SemiDefinite, Self::PMatrix, Self::Degenerate];

    /// A random member with `n` unknowns: row-major matrix and right-hand side.
    #[must_use]
    pub fn draw(self, n: usize, random: &mut SplitMix64) -> (Vec<f64>, Vec<f64>) {
        let rank = if self == Self::SemiDefinite { n.div_ceil(2) } else { n };
        let a: Vec<f64> = (0..n * rank).map(|_| random.range(-1.0, 1.0)).collect();
        let mut m = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let product: f64 = (0..rank).map(|k| a[i * rank + k] * a[j * rank + k]).sum();
                m[i * n + j] = product / n as f64;
            }
            if self != Self::SemiDefinite {
                m[i * n + i] += 0.1;
            }
        }
        if self == Self::PMatrix {
            for i in 0..n {
                for j in 0..i {
                    let skew = random.range(-1.0, 1.0);
                    m[i * n + j] += skew;
                    m[j * n + i] -= skew;
                }
            }
        }
        let q = match self {
            Self::PositiveDefinite | Self::PMatrix => (0..n).map(|_| random.range(-1.0, 1.0)).collect(),
            Self::SemiDefinite | Self::Degenerate => {
                // Choose a complementary pair (z, w) and let q = w − M z.
                let zeros_in_both = self == Self::Degenerate;
                let pair: Vec<(f64, f64)> = (0..n)
                    .map(|_| match random.below(if zeros_in_both { 3 } else { 2 }) {
                        0 => (random.range(0.1, 2.0), 0.0),
                        1 => (0.0, random.range(0.1, 2.0)),
                        _ => (0.0, 0.0),
                    })
                    .collect();
                (0..n).map(|i| pair[i].1 - (0..n).map(|j| m[i * n + j] * pair[j].0).sum::<f64>()).collect()
            }
        };
        (m, q)
    }
}

/// Runs the kit; the first violation as text.
///
/// # Errors
/// What the solver did wrong, and on which problem.
pub fn conformance(solver: &mut dyn LcpSolver, bounds: &Bounds) -> Result<(), String> {
    known_answers(solver, bounds)?;
    random_problems(solver, bounds)?;
    if !bounds.symmetric_only {
        infeasible_problems(solver)?;
    }
    bad_input(solver)
}

fn is_symmetric(m: &[f64], n: usize) -> bool {
    (0..n).all(|i| (0..i).all(|j| m[i * n + j].to_bits() == m[j * n + i].to_bits()))
}

fn known_answers(solver: &mut dyn LcpSolver, bounds: &Bounds) -> Result<(), String> {
    for (name, m, q, expected) in KNOWN {
        if q.len() > bounds.max_len || (bounds.symmetric_only && !is_symmetric(m, q.len())) {
            continue;
        }
        let problem = LcpProblem::new(m, q).map_err(|e| e.to_string())?;
        let mut z = vec![f64::NAN; q.len()];
        solver.solve(&problem, &mut z).map_err(|e| format!("{name}: {e}"))?;
        let error = z.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if error.is_nan() || error > 1e3 * bounds.residual {
            return Err(format!("{name}: z = {z:?}, expected {expected:?}"));
        }
    }
    Ok(())
}

fn random_problems(solver: &mut dyn LcpSolver, bounds: &Bounds) -> Result<(), String> {
    let mut random = SplitMix64(bounds.seed);
    for family in Family::ALL {
        if bounds.symmetric_only && family == Family::PMatrix {
            continue;
        }
        for k in 0..bounds.count {
            let n = 1 + random.below(bounds.max_len);
            let (m, q) = family.draw(n, &mut random);
            let problem = LcpProblem::new(&m, &q).map_err(|e| e.to_string())?;
            let mut z = vec![f64::NAN; n];
            let report = solver
                .solve(&problem, &mut z)
                .map_err(|e| format!("{family:?} problem {k} (n = {n}) has a solution, but: {e}"))?;
            let residual = problem.residual(&z);
            if residual > bounds.residual {
                return Err(format!("{family:?} problem {k} (n = {n}): residual {residual:e} called solved"));
            }
            if (report.residual - residual).abs() > bounds.residual {
                return Err(format!(
                    "{family:?} problem {k}: reported residual {:e}, is {residual:e}",
                    report.residual
                ));
            }
        }
    }
    Ok(())
}

/// Problems that no z solves must never come back as solved.
fn infeasible_problems(solver: &mut dyn LcpSolver) -> Result<(), String> {
    let impossible: [(&[f64], &[f64]); 3] =
        [(&[0., -1., 1., 0.], &[-1., -1.]), (&[0.], &[-1.]), (&[-1., 0., 0., 1.], &[-1., 1.])];
    for (m, q) in impossible {
        let problem = LcpProblem::new(m, q).map_err(|e| e.to_string())?;
        let mut z = vec![0.0; q.len()];
        if let Ok(report) = solver.solve(&problem, &mut z) {
            return Err(format!("{problem:?} has no solution, but got {z:?} with {report:?}"));
        }
    }
    Ok(())
}

fn bad_input(solver: &mut dyn LcpSolver) -> Result<(), String> {
    let problem = LcpProblem::new(&[1.0], &[-1.0]).map_err(|e| e.to_string())?;
    match solver.solve(&problem, &mut [0.0, 0.0]) {
        Err(LcpError::WrongLength { .. }) => {}
        other => return Err(format!("z of length 2 for one unknown: expected WrongLength, got {other:?}")),
    }
    let empty = LcpProblem::new(&[], &[]).map_err(|e| e.to_string())?;
    solver.solve(&empty, &mut []).map_err(|e| format!("the empty problem is solved by nothing, but: {e}"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LcpReport, testkit::oracle::EnumerationLcp};

    #[test]
    fn enumeration_conforms() {
        conformance(&mut EnumerationLcp::default(), &Bounds { max_len: 8, ..Bounds::default() }).unwrap();
    }

    /// Wrong in one way each; the kit must notice every one of them.
    #[derive(Debug)]
    enum Broken {
        AlwaysZero,
        IgnoresLength,
        LiesAboutResidual(EnumerationLcp),
        GivesUp,
    }

    impl LcpSolver for Broken {
        fn solve(&mut self, problem: &LcpProblem<'_>, z: &mut [f64]) -> Result<LcpReport, LcpError> {
            match self {
                Self::AlwaysZero => {
                    z.fill(0.0);
                    Ok(LcpReport { iterations: 0, residual: 0.0 })
                }
                Self::IgnoresLength => {
                    let n = z.len().min(problem.len());
                    EnumerationLcp::default().solve(problem, &mut z[..n])
                }
                Self::LiesAboutResidual(honest) => {
                    let report = honest.solve(problem, z)?;
                    Ok(LcpReport { residual: 1.0, ..report })
                }
                Self::GivesUp => Err(LcpError::Ray { iterations: 0 }),
            }
        }
    }

    #[test]
    fn broken_solvers_are_found_out() {
        let bounds = Bounds { max_len: 6, count: 20, ..Bounds::default() };
        for mut broken in [
            Broken::AlwaysZero,
            Broken::IgnoresLength,
            Broken::LiesAboutResidual(EnumerationLcp::default()),
            Broken::GivesUp,
        ] {
            assert!(conformance(&mut broken, &bounds).is_err(), "{broken:?} passed");
        }
    }
}
