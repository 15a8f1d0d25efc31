//! The contact that is worst off first.
//!
//! # Reference
//!
//! Arnold (1997), section 2.6 (static contacts), in the projected form: force may be taken back. Add-only, as printed, violates
//! complementarity.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | u | velocities with the impulses so far | m/s |
//! | r | change that would satisfy a contact alone | N·s |
//!
//! # Formula
//!
//! ```text
//! pick c with the largest |W_cc r_c|;   p_c += r_c;   u_d += W_dc r_c for all d
//! ```
//!
//! # Cost
//!
//! A row of blocks and a pass over all contacts per pick.
//!
//! # Numerics
//!
//! The velocities are updated, not recomputed; the certificate at the end is computed afresh, and picking goes on if it is not good enough.
//! The direction of friction is that of the remaining slip, found exactly for each contact and free to change from pick to pick.
//!
//! # Failure
//!
//! [`RowError::Budget`] with the last impulses, which are inside their cones.
//!
//! # Tested by
//!
//! `cones_conform`, `a_box_at_rest_is_carried`

use crate::{contradiction, gauss_seidel::SURE, local::LocalBlock};
use sim_math::glam::{DMat3, DVec3};
use sim_traits::{RowError, RowProblem, RowReport, RowSolver};

/// Tunables of [`Greedy`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct GreedyParams {
    /// Largest residual, relative to the largest velocity of slip or approach. Default 1e-9.
    pub tolerance: f64,
    /// Most picks per contact. Default 4000.
    pub max_picks: u32,
}

impl Default for GreedyParams {
    fn default() -> Self {
        Self { tolerance: 1e-9, max_picks: 4000 }
    }
}

/// Picks contacts by need.
#[derive(Debug, Clone, Default)]
pub struct Greedy {
    /// Tunables.
    pub params: GreedyParams,
    local: Vec<LocalBlock>,
    diagonal: Vec<DMat3>,
    velocity: Vec<DVec3>,
    wanted: Vec<DVec3>,
    need: Vec<f64>,
    /// Contacts with the blocks whose laws name them, in the order of contacts.
    named: Vec<(u32, u32)>,
}

impl Greedy {
    fn renew(&mut self, c: usize, p: &[DVec3]) {
        let q = self.velocity[c] - self.diagonal[c] * p[c];
        self.wanted[c] = self.local[c].solve(q, self.local[c].load(p));
        self.need[c] = (self.diagonal[c] * (self.wanted[c] - p[c])).length();
    }

    fn start(&mut self, problem: &RowProblem<'_>, p: &[DVec3]) {
        let n = problem.len();
        self.velocity.clear();
        self.velocity.extend((0..n).map(|c| problem.relative_velocity(c, p)));
        self.wanted.resize(n, DVec3::ZERO);
        self.need.resize(n, 0.0);
        (0..n).for_each(|c| self.renew(c, p));
    }
}

impl RowSolver for Greedy {
    fn kind(&self) -> &'static str {
        "greedy"
    }

    fn solve(&mut self, problem: &RowProblem<'_>, p: &mut [DVec3]) -> Result<RowReport, RowError> {
        RowError::check_guess(problem, p)?;
        let n = problem.len();
        self.named.clear();
        for c in 0..n {
            // Contacts come first: their impulses are admissible already where a law asks for them.
            p[c] = problem.law(c).project(p[c], problem.load(c, p));
            self.named.extend(problem.law(c).contact().map(|contact| (contact as u32, c as u32)));
        }
        self.named.sort_unstable();
        self.diagonal.clear();
        self.diagonal.extend((0..n).map(|c| problem.diagonal(c)));
        self.local.clear();
        self.local.extend((0..n).map(|c| LocalBlock::of(problem, c)));
        self.start(problem, p);
        let scale = problem.scale();
        let tolerance = self.params.tolerance * scale;
        let limit = self.params.max_picks.saturating_mul(n as u32).max(1);
        // What is asked of single contacts, sharpened while the whole is not good enough.
        let mut threshold = 0.1 * tolerance;
        for picks in 0..=limit {
            let worst = (0..n).fold(0, |best, c| if self.need[c] > self.need[best] { c } else { best });
            if n == 0 || self.need[worst] <= threshold || picks == limit {
                let certificate = problem.certificate(p);
                if certificate.residual <= tolerance {
                    return Ok(RowReport { iterations: picks, certificate });
                }
                if picks == limit || threshold < 1e-6 * tolerance {
                    if let Some(error) = contradiction::find(problem, SURE * scale, picks, p) {
                        return Err(error);
                    }
                    return Err(RowError::Budget { iterations: picks, residual: certificate.residual });
                }
                threshold *= 0.1;
                self.start(problem, p);
                continue;
            }
            let change = self.wanted[worst] - p[worst];
            p[worst] = self.wanted[worst];
            for (d, block) in problem.row(worst) {
                self.velocity[d] += block.transpose() * change;
            }
            for (d, _) in problem.row(worst) {
                self.renew(d, p);
            }
            let mut next = self.named.partition_point(|(contact, _)| (*contact as usize) < worst);
            while let Some(&(_, d)) = self.named.get(next).filter(|(contact, _)| *contact as usize == worst) {
                self.renew(d as usize, p);
                next += 1;
            }
        }
        Err(RowError::Budget { iterations: limit, residual: f64::INFINITY })
    }
}
