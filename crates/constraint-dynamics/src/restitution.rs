//! Impacts: Newton's restitution at every contact, limited so that no energy is made.
//!
//! # Reference
//!
//! Newton's rule at each contact (Cline 2002, section 2.7.3), which is known to add energy with friction or several contacts
//! (Kane and Levinson 1985); the limit is this project's.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | b | velocities before the impact | m/s |
//! | e | coefficients of restitution | - |
//! | p₀, p₁ | impulses without and with restitution | N·s |
//! | E(p) | work of the impulses | J |
//!
//! # Formula
//!
//! ```text
//! p₁ solves the problem with b_z + e b_z where b_z < −threshold
//! E(p) = pᵀ b + ½ pᵀ W p;   p = p₀ + s (p₁ − p₀),  the largest s in [0, 1] with E(p) ≤ 0
//! ```
//!
//! E(p₀) ≤ 0 for every solution without bias, and E is a quadratic in s: the limit is a root in closed form. p is inside the cones because they are convex.
//!
//! # Cost
//!
//! Two solutions and two products with W; one solution if e = 0 everywhere.
//!
//! # Numerics
//!
//! E is measured with the velocities before and after, so what is limited is what the energy account will find.
//!
//! # Failure
//!
//! That of the solver. If the problem with restitution has no solution or none is found (friction may jam what must open), p₀ is used and the report says so.
//!
//! # Tested by
//!
//! `no_restitution_up_to_one_adds_energy`, `a_single_ball_bounces_as_newton_says`, `kane_and_levinson_gain_nothing`

use crate::{delassus::Delassus, soften::Softener};
use sim_math::glam::DVec3;
use sim_traits::{ContactCertificate, ContactError, ContactProblem, ContactSolver};

/// What an impact did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImpactReport {
    /// Iterations of both solutions.
    pub iterations: u32,
    /// Share of the restitution that was kept: below 1 where Newton's rule would have made energy.
    pub kept: f64,
    /// Work of the impulses, J; at most 0 up to rounding.
    pub work: f64,
    /// The solution without restitution, measured.
    pub certificate: ContactCertificate,
}

/// Memory of [`impact`].
#[derive(Debug, Clone, Default)]
pub struct ImpactWorkspace {
    biased: Vec<DVec3>,
    bounced: Vec<DVec3>,
    softener: Softener,
}

/// Work of impulses on bodies that had the velocities of the problem, J.
#[must_use]
pub fn work(problem: &ContactProblem<'_>, p: &[DVec3]) -> f64 {
    let mean = |c: usize| 0.5 * (problem.velocity()[c] + problem.relative_velocity(c, p));
    p.iter().enumerate().map(|(c, p)| p.dot(mean(c))).sum()
}

/// Largest share s in [0, 1] of `to` − `from` that may be added to `from` without making energy.
#[must_use]
pub fn energy_limit(problem: &ContactProblem<'_>, from: &[DVec3], to: &[DVec3]) -> f64 {
    // E(s) = e0 + e1 s + e2 s².
    let (mut e1, mut e2) = (0.0, 0.0);
    for c in 0..problem.len() {
        let d = to[c] - from[c];
        let u = problem.relative_velocity(c, from);
        let w_d = problem.row(c).fold(DVec3::ZERO, |sum, (k, block)| sum + *block * (to[k] - from[k]));
        e1 += d.dot(u);
        e2 += 0.5 * d.dot(w_d);
    }
    let e0 = work(problem, from).min(0.0);
    if e0 + e1 + e2 <= 0.0 {
        return 1.0;
    }
    // E(0) ≤ 0 < E(1): one root between, found without cancellation.
    let root = (e1 * e1 - 4.0 * e2 * e0).max(0.0).sqrt();
    let s = if e1 >= 0.0 { -2.0 * e0 / (e1 + root) } else { (root - e1) / (2.0 * e2) };
    if s.is_finite() { s.clamp(0.0, 1.0) } else { 0.0 }
}

/// Impulses of an instantaneous impact. `delassus` has the velocities before it, without bias; `impulses` is output only.
///
/// # Errors
/// See [`ContactSolver::solve`]; a budget used up is none, the certificate shows it.
pub fn impact(
    delassus: &mut Delassus,
    restitution: &[f64],
    threshold: f64,
    solver: &mut dyn ContactSolver,
    workspace: &mut ImpactWorkspace,
    impulses: &mut [DVec3],
) -> Result<ImpactReport, ContactError> {
    let n = delassus.len();
    if restitution.len() != n {
        return Err(ContactError::WrongLength { what: "restitution", expected: n, got: restitution.len() });
    }
    let ImpactWorkspace { biased, bounced, softener } = workspace;
    impulses.fill(DVec3::ZERO);
    let first = softener.solve(&delassus.problem()?, solver, impulses)?;
    let mut iterations = first.iterations;
    biased.clear();
    biased.extend(
        delassus
            .velocity
            .iter()
            .zip(restitution)
            .map(|(b, e)| if b.z < -threshold { *b + DVec3::new(0.0, 0.0, e * b.z) } else { *b }),
    );
    let mut kept = if first.soft { 0.0 } else { 1.0 };
    if biased != &delassus.velocity && !first.soft {
        bounced.clear();
        bounced.extend_from_slice(impulses);
        std::mem::swap(&mut delassus.velocity, biased);
        let result = delassus.problem().and_then(|problem| settled(solver, &problem, bounced));
        std::mem::swap(&mut delassus.velocity, biased);
        match result {
            Ok((more, good)) => {
                iterations += more;
                kept = if good { energy_limit(&delassus.problem()?, impulses, bounced) } else { 0.0 };
                for (p, q) in impulses.iter_mut().zip(bounced.iter()) {
                    *p = (1.0 - kept) * *p + kept * *q;
                }
            }
            Err(ContactError::NoSolution { .. }) => kept = 0.0,
            Err(other) => return Err(other),
        }
    }
    let problem = delassus.problem()?;
    Ok(ImpactReport {
        iterations,
        kept,
        work: work(&problem, impulses),
        certificate: problem.certificate(impulses),
    })
}

/// Iterations, and whether the answer is worth something: a budget used up leaves impulses that can be used if they are near one.
fn settled(
    solver: &mut dyn ContactSolver,
    problem: &ContactProblem<'_>,
    p: &mut [DVec3],
) -> Result<(u32, bool), ContactError> {
    let scale = problem.scale();
    match solver.solve(problem, p) {
        Ok(report) => Ok((report.iterations, true)),
        Err(ContactError::Budget { iterations, residual }) => Ok((iterations, residual <= 1e-6 * scale)),
        Err(other) => Err(other),
    }
}
