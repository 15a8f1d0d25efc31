//! One group of contacts that hit at one time: compression without restitution, then restitution, with friction in both.
//!
//! # Reference
//!
//! Poisson's hypothesis for every contact of the group at once; without friction and with one coefficient it is Moreau's law and the reflection
//! of Smith, Kaufman, Vouga, Tamstorf and Grinspun (2012). The limit on energy is this project's: Poisson's rule can make some with friction
//! (Kane and Levinson 1985) or with coefficients that differ.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | b, u₀ | velocities at the contacts before, and after compression | m/s |
//! | W | response of the contacts | 1/kg |
//! | p₀ | impulses of compression | N·s |
//! | q | impulses of restitution | N·s |
//! | e, μ | restitution and friction of a contact | - |
//! | E | work of the impulses | J |
//!
//! # Formula
//!
//! ```text
//! compression:  p₀ solves Coulomb's law without restitution
//! restitution:  q_n = e p₀_n;   q_t in the disk of radius μ q_n, with the largest loss of energy: ½ q_tᵀ W_tt q_t + q_tᵀ (u₀ + W q_n)_t → min
//! p = p₀ + s q,   the largest s in [0, 1] with E(p) = pᵀ b + ½ pᵀ W p ≤ 0
//! ```
//!
//! p is inside the cones: its tangential part is at most μ (1 + s e) times the normal part of p₀. The impulses of p₀ may have
//! many solutions, its velocities have one without friction: a box that lands flat bounces flat, whatever the order of its corners.
//!
//! # Cost
//!
//! One small contact problem, by sweeps, and where these do not settle by Newton's method; sweeps over the tangents where there is
//! friction. One contact alone is solved in closed form. No allocation once grown.
//!
//! # Numerics
//!
//! To `TOLERANCE` of the velocities, where rounding lets it. E is measured with the velocities before and after, so what is limited is what the
//! energy account will find.
//!
//! # Failure
//!
//! That of the contact problem. A problem without solution (walls that close on a body) is softened, and then does not bounce.
//!
//! # Tested by
//!
//! `tests/impacts.rs`

use crate::{
    cone::LocalContact,
    delassus::Delassus,
    gauss_seidel::{ConeGaussSeidel, ConeParams},
    newton::ConeNewton,
    pool::{self, PoolBlocks, PoolBody, PoolContact, PoolWorkspace, PreparedPool},
    soften::Softener,
};
use sim_math::{
    glam::{DVec2, DVec3},
    spatial::Motion,
};
use sim_traits::{RowError, RowProblem, RowSolver};

/// Residual of a compression and of the sweeps of restitution, as a share of the velocities.
const TOLERANCE: f64 = 1e-14;
/// Most visits of contacts by the sweeps of a compression, and most sweeps.
const VISITS: usize = 10_000;
const MAX_SWEEPS: usize = 200;
const MIN_SWEEPS: usize = 10;
/// Residual of a compression by sweeps that says that there is no answer, if something is driven, as a share of the velocities.
const HOPELESS: f64 = 0.1;
/// Residual of a compression that is good enough where sweeps are the only method, as a share of the velocities.
const GOOD: f64 = 1e-9;
/// Most sweeps of a restitution.
const TANGENT_SWEEPS: u32 = 200;

/// What the group did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reflected {
    pub(crate) iterations: u32,
    /// Share of the restitution that was kept.
    pub(crate) kept: f64,
    /// J; at most 0 up to rounding.
    pub(crate) work: f64,
    /// Largest residual of the compression, m/s.
    pub(crate) residual: f64,
    /// There was no solution.
    pub(crate) soft: bool,
}

/// Memory of [`Reflection::answer`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Reflection {
    sweeps: ConeGaussSeidel,
    newton: ConeNewton,
    prepared: PreparedPool,
    softener: Softener,
    pool: PoolWorkspace,
    delassus: Delassus,
    none: Vec<DVec3>,
    more: Vec<DVec3>,
}

impl Reflection {
    /// Impulses of a group of contacts, without bias, in a pool that has no others. `impulses` is output only.
    pub(crate) fn answer(
        &mut self,
        bodies: &[PoolBody],
        contacts: &[PoolContact],
        restitution: &[f64],
        impulses: &mut [DVec3],
    ) -> Result<Reflected, RowError> {
        let mut delassus = std::mem::take(&mut self.delassus);
        pool::assemble(bodies, contacts, &mut self.pool, &mut delassus);
        let result = delassus
            .problem()
            .and_then(|problem| self.reflect(&problem, bodies, contacts, restitution, impulses));
        self.delassus = delassus;
        result
    }

    /// The same for a group whose joints are taken out: there are no bodies to fall back to.
    pub(crate) fn answer_reduced(
        &mut self,
        problem: &RowProblem<'_>,
        restitution: &[f64],
        impulses: &mut [DVec3],
    ) -> Result<Reflected, RowError> {
        self.reflect(problem, &[], &[], restitution, impulses)
    }

    /// `bodies` is empty if there are only rows.
    fn reflect(
        &mut self,
        problem: &RowProblem<'_>,
        bodies: &[PoolBody],
        contacts: &[PoolContact],
        restitution: &[f64],
        impulses: &mut [DVec3],
    ) -> Result<Reflected, RowError> {
        let Self { sweeps, newton, prepared, softener, none, more, .. } = self;
        impulses.fill(DVec3::ZERO);
        let (mut iterations, mut soft, mut residual) = (1, false, 0.0);
        if let ([p], [b], [mu]) = (&mut *impulses, problem.velocity(), problem.friction()) {
            *p = LocalContact::new(&problem.diagonal(0), *mu).solve(*b);
        } else {
            let most = if bodies.is_empty() { 10 * MAX_SWEEPS } else { MAX_SWEEPS };
            let most = (VISITS / problem.len().max(1)).clamp(MIN_SWEEPS, most) as u32;
            sweeps.params = ConeParams { tolerance: TOLERANCE, max_iterations: most, accelerate: true };
            match sweeps.solve(problem, impulses) {
                Ok(report) => (iterations, residual) = (report.iterations, report.certificate.residual),
                // Without joints, which are hard to sweep over, sweeps do it.
                Err(RowError::Budget { iterations: before, residual: left })
                    if bodies.is_empty() && left <= GOOD * problem.scale() =>
                {
                    (iterations, residual) = (before, left);
                }
                // Masses that differ by much, or many contacts: from the bodies' side, and from where the sweeps came to if that is any good.
                Err(RowError::Budget { iterations: before, residual: left }) => {
                    if left > problem.scale() {
                        impulses.fill(DVec3::ZERO);
                    }
                    let settled = if bodies.is_empty()
                        || left > HOPELESS * problem.scale() && driven(bodies, contacts)
                    {
                        // Walls that close on a body: no method has an answer.
                        softener.solve(problem, sweeps, impulses)?
                    } else {
                        prepared.gather(bodies, contacts, &PoolBlocks::default());
                        softener.solve(&problem.with_groups(prepared.view())?, newton, impulses)?
                    };
                    (iterations, soft, residual) =
                        (before + settled.iterations, settled.soft, settled.residual);
                }
                Err(other) => return Err(other),
            }
        }
        none.clear();
        none.resize(problem.len(), DVec3::ZERO);
        // What sweeps left unsolved may do work.
        let share = energy_limit(problem, none, impulses);
        if share < 1.0 {
            impulses.iter_mut().for_each(|p| *p *= share);
        }
        let mut kept = 1.0;
        let bounces = |p: &[DVec3]| p.iter().zip(restitution).any(|(p, e)| p.z > 0.0 && *e > 0.0);
        if soft {
            kept = 0.0;
        } else if bounces(impulses) {
            rebound(problem, restitution, impulses, more);
            none.copy_from_slice(impulses);
            impulses.iter_mut().zip(more.iter()).for_each(|(p, q)| *p += *q);
            kept = energy_limit(problem, none, impulses);
            if kept < 1.0 {
                for ((p, p0), q) in impulses.iter_mut().zip(none.iter()).zip(more.iter()) {
                    *p = *p0 + kept * *q;
                }
            }
        }
        Ok(Reflected { iterations, kept, work: work(problem, impulses), residual, soft })
    }
}

/// True if one side of a contact is driven: nothing stops it.
fn driven(bodies: &[PoolBody], contacts: &[PoolContact]) -> bool {
    let drives = |body: &PoolBody| !body.is_movable() && body.velocity != Motion::ZERO;
    contacts.iter().flat_map(|c| c.bodies).any(|k| bodies.get(k as usize).is_some_and(drives))
}

/// Impulses of restitution after those of compression.
fn rebound(problem: &RowProblem<'_>, restitution: &[f64], first: &[DVec3], more: &mut Vec<DVec3>) {
    more.clear();
    let contacts = problem.friction().len();
    // Of a contact its normal part, of a limit its one row.
    let along = |c: usize| if c < contacts { DVec3::Z } else { DVec3::X };
    more.extend(
        first.iter().zip(restitution).enumerate().map(|(c, (p, e))| along(c) * (e * p.dot(along(c)))),
    );
    let tolerance = TOLERANCE * problem.scale();
    for _ in 0..TANGENT_SWEEPS {
        let mut worst = 0.0_f64;
        for c in 0..more.len() {
            let most = problem.friction()[c] * more[c].z;
            if most <= 0.0 {
                continue;
            }
            let mut u = problem.relative_velocity(c, first);
            for (d, block) in problem.row(c) {
                u += *block * more[d];
            }
            let w = problem.diagonal(c);
            let (x, y) = (w.x_axis.truncate(), w.y_axis.truncate());
            let (old, slip, determinant) = (more[c].truncate(), u.truncate(), x.perp_dot(y));
            let inverse = DVec2::new(y.y * slip.x - y.x * slip.y, x.x * slip.y - x.y * slip.x) / determinant;
            let (mean, half) = (0.5 * (x.x + y.y), 0.5 * (x.x - y.y));
            let largest = mean + (half * half + x.y * x.y).sqrt();
            let mut next = old - inverse;
            // Not a number where nothing gives way along a tangent.
            let sticks = next.length() <= most;
            if !sticks {
                next = old - slip / largest;
                let size = next.length();
                if size > most {
                    next *= most / size;
                }
            }
            more[c] = next.extend(more[c].z);
            worst = worst.max((next - old).length() * largest);
        }
        if worst <= tolerance {
            break;
        }
    }
}

/// Work of impulses on bodies that had the velocities of the problem, J.
#[must_use]
pub fn work(problem: &RowProblem<'_>, p: &[DVec3]) -> f64 {
    let mean = |c: usize| 0.5 * (problem.velocity()[c] + problem.relative_velocity(c, p));
    p.iter().enumerate().map(|(c, p)| p.dot(mean(c))).sum()
}

/// Largest share s in [0, 1] of `to` − `from` that may be added to `from` without making energy.
#[must_use]
pub fn energy_limit(problem: &RowProblem<'_>, from: &[DVec3], to: &[DVec3]) -> f64 {
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
