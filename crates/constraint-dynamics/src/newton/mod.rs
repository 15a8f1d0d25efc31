//! Exact friction cones for deep piles, and joints, limits and motors with them: multipliers outside, Newton's method inside.
//!
//! # Reference
//!
//! Augmented Lagrangians with semismooth Newton steps (Rockafellar 1976; Qi and Sun 1993); De Saxcé's change of variables, with the slip of the round before.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | w | change of velocities by the impulses, six per body | rad/s, m/s |
//! | ρ | penalty of a contact | kg |
//! | Π | projection on the friction cone, D its derivative | - |
//! | s | μ times the slip of the round before | m/s |
//!
//! # Formula
//!
//! Sweeps over the bodies come first (`sweeps`). For a problem that says which accuracy is enough, a bounded number of Newton steps follows where the
//! sweeps did not reach it; large ones, and those whose factorisation would take too long, are swept only.
//!
//! ```text
//! round:   u = J w + b + s n,  p(w) = Π(p − ρ u);   w minimises ½ wᵀ M w + Σ |p(w)|²/(2ρ)
//! Newton:  (M + Jᵀ ρ D J) dw = Jᵀ p(w) − M w,  shortened until the minimum is approached
//! then     p = p(w),  s = μ |u_t| extrapolated by Anderson's rule,  ρ grows tenfold up to its limit
//! ```
//!
//! # Cost
//!
//! A factorisation per Newton step, with bodies ordered along the pile: n b² for n velocities and an envelope of b. A pile at rest costs less than one
//! sweep. Heaps in motion cost a bounded number of sweeps, whatever they do.
//!
//! # Numerics
//!
//! The error shrinks per round by about 1/(1 + ρ λ), λ the softest mode of W: by orders of magnitude with the largest penalty, however deep the pile.
//! That is what sweeps from contact to contact cannot do. Equalities, as those of joints, are unknowns of the linear systems (`system`): one round solves
//! what has no other rows.
//!
//! # Failure
//!
//! Without groups Gauss-Seidel takes over, and its errors apply. [`RowError::Budget`] with the best impulses found, and their residual.
//! [`RowError::Contradictory`] where a second round leaves more than half of what the first left of equalities, with the impulses of the first.
//!
//! # Tested by
//!
//! `newton_conforms`, `bodies_stand_for_rows`, `newton_solves_what_sweeps_cannot`, `the_derivative_of_the_projection_is_right`

mod system;

use self::system::System;
use crate::{
    anderson::Anderson,
    gauss_seidel::{ConeGaussSeidel, ConeParams, SURE},
    sweeps::{BodySweeps, Budget},
};
use sim_math::glam::DVec3;
use sim_traits::{Groups, Law, RowCertificate, RowError, RowProblem, RowReport, RowSolver};

/// Tunables of [`ConeNewton`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct NewtonParams {
    /// Largest residual, relative to the largest velocity of slip or approach. Default 1e-8. Problems of less than 200 contacts are solved more
    /// tightly, by the fourth power of their share of that, down to a millionth, where rounding lets them.
    pub tolerance: f64,
    /// Pairs of sweeps before Newton's method. Default 10.
    pub sweeps: u32,
    /// Most rounds. Default 30.
    pub rounds: u32,
    /// Most Newton steps in a round, and ten times as many in all. Default 30.
    pub steps: u32,
    /// Largest penalty, in units of 1/`W_zz`. Default 1e5; larger ones take more Newton steps, and lose digits.
    pub penalty: f64,
    /// Pairs of sweeps when Newton's method does not help. Default 20.
    pub fallback: u32,
    /// Most pairs of sweeps for a problem that says which accuracy is enough. Default 30.
    pub rough: u32,
    /// Most contacts solved in them, or eight times as many as there are. Default 36 000.
    pub visits: u32,
    /// Most contacts of such a problem that is not left to sweeps alone: Newton's method goes on where they do not reach its accuracy. Default 512.
    pub rough_newton: u32,
    /// Most multiplications of a factorisation: problems that need more are swept. Default 3e8.
    pub work: f64,
    /// Most multiplications of all factorisations of a problem with equalities, or of eight of them. Default 1e7: what is jammed costs a bounded time.
    pub jointed_work: f64,
}

impl Default for NewtonParams {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            sweeps: 10,
            rounds: 30,
            steps: 30,
            penalty: 1e5,
            fallback: 20,
            rough: 30,
            visits: 36_000,
            rough_newton: 512,
            work: 3e8,
            jointed_work: 1e7,
        }
    }
}

/// Exact cones by an augmented Lagrangian.
#[derive(Debug, Clone, Default)]
pub struct ConeNewton {
    /// Tunables.
    pub params: NewtonParams,
    rows: ConeGaussSeidel,
    sweeps: BodySweeps,
    system: System,
    trial: Vec<f64>,
    slips: Vec<f64>,
    anderson: Anderson,
    best: Vec<DVec3>,
    best_w: Vec<f64>,
    base: Vec<DVec3>,
    /// Impulses of the first round.
    first: Vec<DVec3>,
    gradient: Vec<f64>,
}

/// So few contacts are swept first, from any guess: that is quicker than a factorisation, and exact.
const FEW: usize = 16;
/// Of sweeps within a budget, see [`Budget::focus`].
const FOCUS: f64 = 0.05;
/// Newton steps times contacts of a problem that says which accuracy is enough, and the fewest and most steps: its cost stays bounded.
const ROUGH_STEPS: usize = 4000;
const ROUGH_RANGE: [usize; 2] = [8, 60];
/// Share of the largest violation from which on an equality is one of those that contradict each other.
const CONCERNED: f64 = 1e-3;
/// Fewest Newton steps of such a problem.
const FEWEST: u32 = 8;
/// Share of what the first round left of equalities that contradict each other, at least, after another.
const STAYS: f64 = 0.5;

impl ConeNewton {
    /// With parameters.
    #[must_use]
    pub fn new(params: NewtonParams) -> Self {
        Self { params, ..Self::default() }
    }

    /// One round: Newton steps to the minimum. Returns the steps done.
    fn round(
        &mut self,
        problem: &RowProblem<'_>,
        groups: &Groups<'_>,
        base: &[DVec3],
        penalty: f64,
        tolerance: f64,
    ) -> Option<u32> {
        let Self { system, trial, gradient, params, .. } = self;
        let mut before = f64::INFINITY;
        system.load(problem, groups.points(), base);
        for k in 0..params.steps {
            let w = std::mem::take(&mut system.w);
            let value = system.evaluate(problem, groups, base, penalty, &w);
            let size = system.gradient(problem, groups, base, &w);
            system.w = w;
            // At the limit of rounding steps do not help any more.
            if size <= tolerance || (size > 0.5 * before && size < 1e4 * tolerance) {
                return Some(k);
            }
            before = size;
            if !system.factor(problem, groups, base, penalty) {
                return None;
            }
            let mut step = std::mem::take(&mut system.step);
            gradient.clone_from(&step);
            system.solve(&mut step);
            trial.clear();
            trial.extend(system.w.iter().zip(&step).map(|(w, s)| w + s));
            let line = system.line(problem, groups, gradient, &step, trial);
            let mut share = 1.0;
            for _ in 0..30 {
                let next = system.evaluate(problem, groups, base, penalty, trial);
                let gain = share * (line.slope * 1e-4 - line.held);
                if next <= value - gain + 1e-14 * value.abs() {
                    break;
                }
                share *= 0.5;
                trial.clear();
                trial.extend(system.w.iter().zip(&step).map(|(w, s)| w + share * s));
            }
            system.step = step;
            std::mem::swap(&mut system.w, trial);
        }
        let w = std::mem::take(&mut system.w);
        system.evaluate(problem, groups, base, penalty, &w);
        system.w = w;
        Some(params.steps)
    }
}

impl RowSolver for ConeNewton {
    fn kind(&self) -> &'static str {
        "newton"
    }

    fn needs_rows(&self) -> bool {
        false
    }

    fn measure(&mut self, problem: &RowProblem<'_>, p: &[DVec3]) -> RowCertificate {
        let fits = p.len() == problem.len() && p.iter().all(|p| p.is_finite());
        match problem.groups().filter(|_| fits) {
            Some(free) => {
                self.sweeps.load(problem, &free, p);
                self.sweeps.certificate()
            }
            None => problem.certificate(p),
        }
    }

    fn solve(&mut self, problem: &RowProblem<'_>, p: &mut [DVec3]) -> Result<RowReport, RowError> {
        RowError::check_guess(problem, p)?;
        let Some(free) = problem.groups() else { return self.sweep_rows(problem, p) };
        if problem.laws().iter().any(has_holds) {
            return self.solve_jointed(problem, &free, p);
        }
        let scale = problem.scale();
        let own = self.params.tolerance * scale;
        self.sweeps.load(problem, &free, p);
        if problem.accuracy() > own {
            return self.solve_roughly(problem, &free, p);
        }
        let share = problem.len() as f64 / 200.0;
        let tolerance = own * (share * share * share * share).clamp(1e-6, 1.0);
        let mut certificate = self.sweeps.certificate();
        let mut iterations = 0;
        if certificate.residual <= tolerance {
            return Ok(RowReport { iterations, certificate });
        }
        // Sweeps bring far guesses near, and near ones out of the way of Newton's method.
        if certificate.residual > 1e-3 * scale || problem.len() <= FEW {
            let pairs = if problem.len() <= FEW { 10 * self.params.sweeps } else { self.params.sweeps };
            let most = Budget { pairs, visits: u32::MAX, focus: 0.0 };
            (iterations, certificate) = self.sweeps.run(tolerance, own, most);
            self.sweeps.store(p);
            let slack = if problem.len() <= FEW { 100.0 } else { 1.0 };
            if certificate.residual <= own.min(slack * tolerance) {
                return Ok(RowReport { iterations, certificate });
            }
        }
        let goal = Goal { tolerance, enough: own };
        let steps = 10 * self.params.steps;
        iterations += self.newton(problem, &free, p, goal, certificate.residual, steps).0;
        certificate = self.sweeps.certificate_of(p);
        if certificate.residual <= own {
            return Ok(RowReport { iterations, certificate });
        }
        let more;
        (more, certificate) =
            self.sweeps.run(own, own, Budget { pairs: self.params.fallback, visits: u32::MAX, focus: 0.0 });
        self.sweeps.store(p);
        finish(iterations + more, certificate, own)
    }
}

/// The answer, if it is good enough.
fn finish(iterations: u32, certificate: RowCertificate, enough: f64) -> Result<RowReport, RowError> {
    if certificate.residual <= enough {
        Ok(RowReport { iterations, certificate })
    } else {
        Err(RowError::Budget { iterations, residual: certificate.residual })
    }
}

/// Share of the tolerance to which problems with equalities are solved if rounding lets them: what hangs together drifts less.
const SHARP: f64 = 1e-4;

/// True if a row of a block is an equality.
fn has_holds(law: &Law) -> bool {
    matches!(law, Law::Bounded(bounds) if (0..3).any(|row| bounds.holds(row)))
}

/// True if all of them are.
fn is_all_holds(law: &Law) -> bool {
    matches!(law, Law::Bounded(bounds) if (0..3).all(|row| bounds.holds(row) || !bounds.is_used(row)))
}

/// Residuals asked for, m/s.
#[derive(Debug, Clone, Copy)]
struct Goal {
    /// To be reached if rounding lets it.
    tolerance: f64,
    /// Good enough.
    enough: f64,
}

impl ConeNewton {
    /// Without bodies.
    fn sweep_rows(&mut self, problem: &RowProblem<'_>, p: &mut [DVec3]) -> Result<RowReport, RowError> {
        let mut params = ConeParams::default();
        // A few contacts are swept as well as rounding allows: a body that is hit flat shall not turn.
        params.tolerance = self.params.tolerance * if problem.len() <= FEW { 1e-4 } else { 1.0 };
        self.rows.params = params;
        self.rows.solve(problem, p)
    }

    /// With equalities: sweeps hardly move what hangs together, so they only bring contacts near.
    fn solve_jointed(
        &mut self,
        problem: &RowProblem<'_>,
        groups: &Groups<'_>,
        p: &mut [DVec3],
    ) -> Result<RowReport, RowError> {
        let own = (self.params.tolerance * problem.scale()).max(problem.accuracy());
        let tolerance = if problem.accuracy() > 0.0 { own } else { own * SHARP };
        self.sweeps.load(problem, groups, p);
        let mut certificate = self.sweeps.certificate();
        let mut iterations = 0;
        if certificate.residual <= tolerance {
            return Ok(RowReport { iterations, certificate });
        }
        let others = groups.points() > 0 || !problem.laws().iter().all(is_all_holds);
        if problem.len() == 1 || (others && certificate.residual > 1e-3 * problem.scale()) {
            let visits = self.params.visits.max(8 * problem.len() as u32);
            let most = Budget { pairs: self.params.sweeps, visits, focus: 0.0 };
            (iterations, certificate) = self.sweeps.run(tolerance, own, most);
            self.sweeps.store(p);
            if certificate.residual <= tolerance {
                return Ok(RowReport { iterations, certificate });
            }
        }
        let steps = match problem.accuracy() {
            a if a > 0.0 => (ROUGH_STEPS / problem.len().max(1)).clamp(ROUGH_RANGE[0], ROUGH_RANGE[1]) as u32,
            _ => 10 * self.params.steps,
        };
        let goal = Goal { tolerance, enough: own };
        let (more, contradictory) = self.newton(problem, groups, p, goal, certificate.residual, steps);
        iterations += more;
        certificate = self.sweeps.certificate_of(p);
        if contradictory {
            return Err(self.contradiction(problem, p, own, iterations));
        }
        if certificate.residual > own {
            let visits = self.params.visits.max(8 * problem.len() as u32);
            let most = Budget { pairs: self.params.fallback, visits, focus: 0.0 };
            let (more, found) = self.sweeps.run(own, own, most);
            iterations += more;
            if found.residual < certificate.residual {
                certificate = found;
                self.sweeps.store(p);
            }
        }
        finish(iterations, certificate, own)
    }

    /// Names the blocks that do not obey their equalities.
    fn contradiction(&self, problem: &RowProblem<'_>, p: &[DVec3], enough: f64, iterations: u32) -> RowError {
        let first = problem.friction().len();
        let left = |c: usize| match problem.law(c) {
            Law::Bounded(bounds) => {
                let u = problem.relative_velocity(c, p);
                (0..3).filter(|&row| bounds.holds(row)).fold(0.0, |most: f64, row| most.max(u[row].abs()))
            }
            _ => 0.0,
        };
        let blocks = first..problem.len();
        let worst = blocks.clone().fold((first, 0.0), |w, c| if left(c) > w.1 { (c, left(c)) } else { w });
        // Their large impulses leave a little of others too.
        let others = blocks.filter(|&c| c != worst.0 && left(c) > enough.max(CONCERNED * worst.1)).count();
        RowError::Contradictory { block: worst.0, others, iterations, residual: worst.1 }
    }

    /// As good as the problem asks for, or as a bounded number of sweeps and Newton steps makes it.
    fn solve_roughly(
        &mut self,
        problem: &RowProblem<'_>,
        free: &Groups<'_>,
        p: &mut [DVec3],
    ) -> Result<RowReport, RowError> {
        let enough = problem.accuracy();
        self.sweeps.sum();
        let most = Budget {
            pairs: self.params.rough.max(4),
            visits: self.params.visits.max(8 * problem.len() as u32),
            focus: FOCUS,
        };
        let (mut iterations, mut certificate) = self.sweeps.run(enough, enough, most);
        self.sweeps.store(p);
        let n = problem.len();
        if certificate.residual > enough && n <= self.params.rough_newton as usize {
            let goal = Goal { tolerance: enough, enough };
            let [fewest, steps] = ROUGH_RANGE;
            let steps = (ROUGH_STEPS / n.max(1)).clamp(fewest, steps) as u32;
            iterations += self.newton(problem, free, p, goal, certificate.residual, steps).0;
            certificate = self.sweeps.certificate_of(p);
        }
        finish(iterations, certificate, enough)
    }

    /// Rounds of Newton's method from impulses with a residual, until so many steps are done; the best impulses found. Returns the steps done, and
    /// whether equalities contradict each other.
    fn newton(
        &mut self,
        problem: &RowProblem<'_>,
        free: &Groups<'_>,
        p: &mut [DVec3],
        goal: Goal,
        residual: f64,
        most: u32,
    ) -> (u32, bool) {
        let mut iterations = 0;
        let mut best = residual;
        let Goal { tolerance, enough } = goal;
        let scale = problem.scale();
        self.best.clear();
        self.best.extend_from_slice(p);
        if !self.system.prepare(problem, free, p, self.params.work) {
            return (0, false);
        }
        let most = if self.system.has_holds() {
            most.min((self.params.jointed_work / self.system.work()).max(f64::from(FEWEST)) as u32)
        } else {
            most
        };
        // A penalty that moves impulses by no more than their own size.
        let mut penalty = (0.1 * scale / best).max(1e3).min(self.params.penalty);
        let mut limit = self.params.penalty;
        let mut base = std::mem::take(&mut self.base);
        base.clear();
        base.extend_from_slice(p);
        self.best_w.clone_from(&self.system.w);
        self.anderson.restart();
        let (mut poor, mut last) = (0, residual);
        let (mut at_first, mut contradictory) = (f64::INFINITY, false);
        for round in 0..self.params.rounds {
            let Some(steps) = self.round(problem, free, &base, penalty, 0.03 * tolerance) else { break };
            iterations += steps;
            base.copy_from_slice(&self.system.p);
            let certificate = self.sweeps.certificate_of(&base);
            if self.system.has_holds() {
                let now = self.system.violation(problem, free);
                if round == 0 {
                    self.first.clone_from(&base);
                    at_first = now;
                } else if at_first > enough.max(SURE * scale)
                    && now > STAYS * at_first
                    && at_first > STAYS * now
                {
                    // Impulses that grow, as those of what is jammed, leave more and more.
                    contradictory = true;
                    break;
                }
            }
            // Rounds that do not help any more: rounding, or a problem without solution.
            poor = if certificate.residual < 0.5 * best { 0 } else { poor + 1 };
            if certificate.residual < best {
                best = certificate.residual;
                self.best.copy_from_slice(&base);
                self.best_w.clone_from(&self.system.w);
            } else if steps >= self.params.steps {
                // The penalty was too large for this guess: back, and on with a smaller one.
                base.copy_from_slice(&self.best);
                self.system.w.clone_from(&self.best_w);
                limit = 0.1 * penalty;
                penalty *= 0.01;
                self.anderson.restart();
            }
            // A little better than asked for, if it is to be had: the next step then begins with an answer.
            if best <= 0.1 * tolerance || (best <= enough && poor > 0) {
                break;
            }
            if poor > if best <= 100.0 * tolerance { 3 } else { 10 } || iterations >= most {
                break;
            }
            self.system.slips(problem, free, &mut self.slips);
            if certificate.residual > last {
                self.anderson.restart();
            }
            last = certificate.residual;
            self.anderson.next(&mut self.system.shift, &self.slips);
            self.system.shift.iter_mut().for_each(|s| *s = s.max(0.0));
            penalty = (10.0 * penalty).min(limit);
        }
        self.base = base;
        p.copy_from_slice(if contradictory { &self.first } else { &self.best });
        (iterations, contradictory)
    }
}
