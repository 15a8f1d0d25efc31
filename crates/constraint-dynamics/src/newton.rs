//! Exact friction cones for deep piles: multipliers outside, Newton's method inside.
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
//! That is what sweeps from contact to contact cannot do.
//!
//! # Failure
//!
//! Without bodies Gauss-Seidel takes over, and its errors apply. [`ContactError::Budget`] with the best impulses found, and their residual.
//!
//! # Tested by
//!
//! `newton_conforms`, `bodies_stand_for_rows`, `newton_solves_what_sweeps_cannot`, `the_derivative_of_the_projection_is_right`

use crate::{
    anderson::Anderson,
    envelope::Envelope,
    gauss_seidel::{ConeGaussSeidel, ConeParams},
    sides::sides,
    sweeps::{BodySweeps, Budget},
};
use sim_math::{
    dense::CuthillMcKee,
    glam::{DMat3, DVec3},
};
use sim_traits::{
    ContactCertificate, ContactError, ContactProblem, ContactReport, ContactSolver, FreeBody, FreeContacts,
    project_on_cone,
};

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
    ordering: CuthillMcKee,
    edges: Vec<(u32, u32)>,
    /// Position of each body in the order.
    place: Vec<u32>,
    lowest: Vec<u32>,
    matrix: Envelope,
    w: Vec<f64>,
    trial: Vec<f64>,
    step: Vec<f64>,
    rho: Vec<f64>,
    shift: Vec<f64>,
    slips: Vec<f64>,
    anderson: Anderson,
    p: Vec<DVec3>,
    best: Vec<DVec3>,
    best_w: Vec<f64>,
    base: Vec<DVec3>,
    gradient: Vec<f64>,
}

/// So few contacts are swept first, from any guess: that is quicker than a factorisation, and exact.
const FEW: usize = 16;
/// Of sweeps within a budget, see [`Budget::focus`].
const FOCUS: f64 = 0.05;
/// Newton steps times contacts of a problem that says which accuracy is enough, and the fewest and most steps: its cost stays bounded.
const ROUGH_STEPS: usize = 4000;
const ROUGH_RANGE: [usize; 2] = [8, 60];

/// Derivative of the projection on the cone at x.
fn derivative(x: DVec3, mu: f64) -> DMat3 {
    let t = x.truncate().length();
    if mu == 0.0 {
        return DMat3::from_diagonal(DVec3::new(0.0, 0.0, if x.z > 0.0 { 1.0 } else { 0.0 }));
    }
    if t <= mu * x.z {
        return DMat3::IDENTITY;
    }
    if mu * t <= -x.z {
        return DMat3::ZERO;
    }
    let d = x.truncate() / t;
    let edge = (mu * d).extend(1.0);
    let z = (x.z + mu * t) / (1.0 + mu * mu);
    let across = DVec3::new(-d.y, d.x, 0.0);
    let outer =
        |v: DVec3, scale: f64| DMat3::from_cols(v * (v.x * scale), v * (v.y * scale), v * (v.z * scale));
    outer(edge, 1.0 / (1.0 + mu * mu)) + outer(across, mu * z / t)
}

impl ConeNewton {
    /// With parameters.
    #[must_use]
    pub fn new(params: NewtonParams) -> Self {
        Self { params, ..Self::default() }
    }

    /// Orders the bodies, and starts from the velocities that the impulses give.
    fn prepare(&mut self, problem: &ContactProblem<'_>, free: &FreeContacts<'_>, p: &[DVec3]) -> bool {
        let n = free.bodies.len();
        let inside = |k: u32| (k as usize) < n;
        self.edges.clear();
        let both = free.sides.iter().filter(|[a, b]| inside(*a) && inside(*b) && a != b);
        self.edges.extend(both.map(|[a, b]| (*a, *b)));
        self.edges.sort_unstable();
        self.edges.dedup();
        if self.ordering.compute(n, &self.edges).is_err() {
            return false;
        }
        self.place.clear();
        self.place.resize(n, 0);
        for (k, &body) in self.ordering.order().iter().enumerate() {
            self.place[body as usize] = k as u32;
        }
        self.lowest.clear();
        self.lowest.extend(0..n as u32);
        for &(a, b) in &self.edges {
            let (x, y) = (self.place[a as usize], self.place[b as usize]);
            let slot = &mut self.lowest[x.max(y) as usize];
            *slot = (*slot).min(x.min(y));
        }
        let rows = (0..).zip(&self.lowest).map(|(k, &first)| f64::from(k + 1 - first));
        if 108.0 * rows.map(|b: f64| b * b).sum::<f64>() > self.params.work {
            return false;
        }
        self.w.clear();
        self.w.resize(6 * n, 0.0);
        for (c, &impulse) in p.iter().enumerate() {
            for side in sides(free, c) {
                let (moment, force) = side.wrench(impulse);
                let body = &free.bodies[side.body];
                let at = 6 * self.place[side.body] as usize;
                let turn = body.inverse_inertia * moment;
                for i in 0..3 {
                    self.w[at + i] += turn[i];
                    self.w[at + 3 + i] += force[i] / body.mass;
                }
            }
        }
        self.rho.clear();
        self.shift.clear();
        self.shift.resize(problem.len(), 0.0);
        for c in 0..problem.len() {
            let u = self.velocity(problem, free, c, &self.w);
            self.rho.push(1.0 / problem.diagonal(c).z_axis.z);
            self.shift[c] = problem.friction()[c] * u.truncate().length();
        }
        true
    }

    /// Impulses at velocities w into `self.p`; returns the value of the minimum sought.
    fn evaluate(
        &mut self,
        problem: &ContactProblem<'_>,
        free: &FreeContacts<'_>,
        base: &[DVec3],
        penalty: f64,
        w: &[f64],
    ) -> f64 {
        let mut value = 0.0;
        for (body, FreeBody { mass, inertia, .. }) in free.bodies.iter().enumerate() {
            let (turn, move_) = self.of(w, body);
            value += 0.5 * (mass * move_.length_squared() + turn.dot(*inertia * turn));
        }
        self.p.clear();
        for (c, base) in base.iter().enumerate() {
            let rho = self.rho[c] * penalty;
            let x = *base - rho * self.velocity(problem, free, c, w);
            let p = project_on_cone(x, problem.friction()[c]);
            value += p.length_squared() / (2.0 * rho);
            self.p.push(p);
        }
        value
    }

    fn of(&self, w: &[f64], body: usize) -> (DVec3, DVec3) {
        let at = 6 * self.place[body] as usize;
        let w = &w[at..at + 6];
        (DVec3::new(w[0], w[1], w[2]), DVec3::new(w[3], w[4], w[5]))
    }

    /// u = J w + b + s n of a contact.
    fn velocity(&self, problem: &ContactProblem<'_>, free: &FreeContacts<'_>, c: usize, w: &[f64]) -> DVec3 {
        let mut u = problem.velocity()[c] + DVec3::new(0.0, 0.0, self.shift[c]);
        for side in sides(free, c) {
            let (turn, move_) = self.of(w, side.body);
            u += side.sign * (side.frame.transpose() * (move_ + turn.cross(side.arm)));
        }
        u
    }

    /// Jᵀ p − M w into `self.step`; returns its size as a velocity.
    fn gradient(&mut self, free: &FreeContacts<'_>, w: &[f64]) -> f64 {
        self.step.clear();
        self.step.resize(w.len(), 0.0);
        for c in 0..self.p.len() {
            for side in sides(free, c) {
                let (moment, force) = side.wrench(self.p[c]);
                let at = 6 * self.place[side.body] as usize;
                for i in 0..3 {
                    self.step[at + i] += moment[i];
                    self.step[at + 3 + i] += force[i];
                }
            }
        }
        let mut size = 0.0_f64;
        for (body, FreeBody { mass, inertia, .. }) in free.bodies.iter().enumerate() {
            let (turn, move_) = self.of(w, body);
            let at = 6 * self.place[body] as usize;
            let (momentum, moment) = (*mass * move_, *inertia * turn);
            for i in 0..3 {
                self.step[at + i] -= moment[i];
                self.step[at + 3 + i] -= momentum[i];
            }
            let linear = DVec3::new(self.step[at + 3], self.step[at + 4], self.step[at + 5]).length() / mass;
            let angular = DVec3::new(self.step[at], self.step[at + 1], self.step[at + 2]);
            // A turn counts as the speed at the radius of gyration.
            let scale = ((inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z) / 3.0 * mass).sqrt();
            size = size.max(linear).max(angular.length() / scale);
        }
        size
    }

    /// M + Jᵀ ρ D J, factorised.
    fn factor(
        &mut self,
        problem: &ContactProblem<'_>,
        free: &FreeContacts<'_>,
        base: &[DVec3],
        penalty: f64,
    ) -> bool {
        self.matrix.reset(self.lowest.iter().flat_map(|&f| std::iter::repeat_n(6 * f, 6)));
        for (body, FreeBody { mass, inertia, .. }) in free.bodies.iter().enumerate() {
            let at = 6 * self.place[body] as usize;
            for i in 0..3 {
                for j in 0..=i {
                    self.matrix.add(at + i, at + j, inertia.col(j)[i]);
                }
                self.matrix.add(at + 3 + i, at + 3 + i, *mass);
            }
        }
        for (c, base) in base.iter().enumerate() {
            let rho = self.rho[c] * penalty;
            let x = *base - rho * self.velocity(problem, free, c, &self.w);
            let d = derivative(x, problem.friction()[c]) * rho;
            if d == DMat3::ZERO {
                continue;
            }
            for a in sides(free, c) {
                // Rows of Jᵀ of this side times D: moments and forces.
                let rows = a.columns();
                let left = [rows[0] * d, rows[1] * d];
                for b in sides(free, c) {
                    let (p, q) = (self.place[a.body] as usize, self.place[b.body] as usize);
                    if q > p {
                        continue;
                    }
                    let right = b.columns();
                    let sign = a.sign * b.sign;
                    for (i, left) in left.iter().enumerate() {
                        for (j, right) in right.iter().enumerate() {
                            let block = *left * right.transpose();
                            for r in 0..3 {
                                for s in 0..3 {
                                    let (row, column) = (6 * p + 3 * i + r, 6 * q + 3 * j + s);
                                    if column <= row {
                                        self.matrix.add(row, column, sign * block.col(s)[r]);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        self.matrix.factor()
    }

    /// One round: Newton steps to the minimum. Returns the steps done.
    fn round(
        &mut self,
        problem: &ContactProblem<'_>,
        free: &FreeContacts<'_>,
        base: &[DVec3],
        penalty: f64,
        tolerance: f64,
    ) -> Option<u32> {
        let mut before = f64::INFINITY;
        for k in 0..self.params.steps {
            let w = std::mem::take(&mut self.w);
            let value = self.evaluate(problem, free, base, penalty, &w);
            let size = self.gradient(free, &w);
            self.w = w;
            // At the limit of rounding steps do not help any more.
            if size <= tolerance || (size > 0.5 * before && size < 1e4 * tolerance) {
                return Some(k);
            }
            before = size;
            if !self.factor(problem, free, base, penalty) {
                return None;
            }
            let slope: f64;
            {
                let mut step = std::mem::take(&mut self.step);
                self.gradient.clone_from(&step);
                self.matrix.solve(&mut step);
                slope = self.gradient.iter().zip(&step).map(|(g, s)| g * s).sum();
                self.step = step;
            }
            let mut share = 1.0;
            for _ in 0..30 {
                let mut trial = std::mem::take(&mut self.trial);
                trial.clear();
                trial.extend(self.w.iter().zip(&self.step).map(|(w, s)| w + share * s));
                let step = std::mem::take(&mut self.step);
                let next = self.evaluate(problem, free, base, penalty, &trial);
                self.step = step;
                self.trial = trial;
                if next <= value - 1e-4 * share * slope + 1e-14 * value.abs() {
                    break;
                }
                share *= 0.5;
            }
            std::mem::swap(&mut self.w, &mut self.trial);
        }
        let w = std::mem::take(&mut self.w);
        self.evaluate(problem, free, base, penalty, &w);
        self.w = w;
        Some(self.params.steps)
    }
}

impl ContactSolver for ConeNewton {
    fn kind(&self) -> &'static str {
        "newton"
    }

    fn needs_rows(&self) -> bool {
        false
    }

    fn measure(&mut self, problem: &ContactProblem<'_>, p: &[DVec3]) -> ContactCertificate {
        let fits = p.len() == problem.len() && p.iter().all(|p| p.is_finite());
        match problem.bodies().filter(|_| fits) {
            Some(free) => {
                self.sweeps.load(problem, &free, p);
                self.sweeps.certificate()
            }
            None => problem.certificate(p),
        }
    }

    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        p: &mut [DVec3],
    ) -> Result<ContactReport, ContactError> {
        ContactError::check_guess(problem, p)?;
        let Some(free) = problem.bodies() else { return self.sweep_rows(problem, p) };
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
            return Ok(ContactReport { iterations, certificate });
        }
        // Sweeps bring far guesses near, and near ones out of the way of Newton's method.
        if certificate.residual > 1e-3 * scale || problem.len() <= FEW {
            let pairs = if problem.len() <= FEW { 10 * self.params.sweeps } else { self.params.sweeps };
            let most = Budget { pairs, visits: u32::MAX, focus: 0.0 };
            (iterations, certificate) = self.sweeps.run(tolerance, own, most);
            self.sweeps.store(p);
            let slack = if problem.len() <= FEW { 100.0 } else { 1.0 };
            if certificate.residual <= own.min(slack * tolerance) {
                return Ok(ContactReport { iterations, certificate });
            }
        }
        let goal = Goal { tolerance, enough: own };
        let steps = 10 * self.params.steps;
        iterations += self.newton(problem, &free, p, goal, certificate.residual, steps);
        certificate = self.sweeps.certificate_of(p);
        if certificate.residual <= own {
            return Ok(ContactReport { iterations, certificate });
        }
        let more;
        (more, certificate) =
            self.sweeps.run(own, own, Budget { pairs: self.params.fallback, visits: u32::MAX, focus: 0.0 });
        self.sweeps.store(p);
        finish(iterations + more, certificate, own)
    }
}

/// The answer, if it is good enough.
fn finish(
    iterations: u32,
    certificate: ContactCertificate,
    enough: f64,
) -> Result<ContactReport, ContactError> {
    if certificate.residual <= enough {
        Ok(ContactReport { iterations, certificate })
    } else {
        Err(ContactError::Budget { iterations, residual: certificate.residual })
    }
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
    fn sweep_rows(
        &mut self,
        problem: &ContactProblem<'_>,
        p: &mut [DVec3],
    ) -> Result<ContactReport, ContactError> {
        let mut params = ConeParams::default();
        // A few contacts are swept as well as rounding allows: a body that is hit flat shall not turn.
        params.tolerance = self.params.tolerance * if problem.len() <= FEW { 1e-4 } else { 1.0 };
        self.rows.params = params;
        self.rows.solve(problem, p)
    }

    /// As good as the problem asks for, or as a bounded number of sweeps and Newton steps makes it.
    fn solve_roughly(
        &mut self,
        problem: &ContactProblem<'_>,
        free: &FreeContacts<'_>,
        p: &mut [DVec3],
    ) -> Result<ContactReport, ContactError> {
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
            iterations += self.newton(problem, free, p, goal, certificate.residual, steps);
            certificate = self.sweeps.certificate_of(p);
        }
        finish(iterations, certificate, enough)
    }

    /// Rounds of Newton's method from impulses with a residual, until so many steps are done; the best impulses found. Returns the steps done.
    fn newton(
        &mut self,
        problem: &ContactProblem<'_>,
        free: &FreeContacts<'_>,
        p: &mut [DVec3],
        goal: Goal,
        residual: f64,
        most: u32,
    ) -> u32 {
        let mut iterations = 0;
        let mut best = residual;
        let Goal { tolerance, enough } = goal;
        let scale = problem.scale();
        self.best.clear();
        self.best.extend_from_slice(p);
        if !self.prepare(problem, free, p) {
            return 0;
        }
        // A penalty that moves impulses by no more than their own size.
        let mut penalty = (0.1 * scale / best).max(1e3).min(self.params.penalty);
        let mut limit = self.params.penalty;
        let mut base = std::mem::take(&mut self.base);
        base.clear();
        base.extend_from_slice(p);
        self.best_w.clone_from(&self.w);
        self.anderson.restart();
        let (mut poor, mut last) = (0, residual);
        for _ in 0..self.params.rounds {
            let Some(steps) = self.round(problem, free, &base, penalty, 0.03 * tolerance) else { break };
            iterations += steps;
            base.copy_from_slice(&self.p);
            let certificate = self.sweeps.certificate_of(&base);
            // Rounds that do not help any more: rounding, or a problem without solution.
            poor = if certificate.residual < 0.5 * best { 0 } else { poor + 1 };
            if certificate.residual < best {
                best = certificate.residual;
                self.best.copy_from_slice(&base);
                self.best_w.clone_from(&self.w);
            } else if steps >= self.params.steps {
                // The penalty was too large for this guess: back, and on with a smaller one.
                base.copy_from_slice(&self.best);
                self.w.clone_from(&self.best_w);
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
            self.slips.clear();
            for c in 0..problem.len() {
                let u = self.velocity(problem, free, c, &self.w);
                self.slips.push(problem.friction()[c] * u.truncate().length());
            }
            if certificate.residual > last {
                self.anderson.restart();
            }
            last = certificate.residual;
            self.anderson.next(&mut self.shift, &self.slips);
            self.shift.iter_mut().for_each(|s| *s = s.max(0.0));
            penalty = (10.0 * penalty).min(limit);
        }
        self.base = base;
        p.copy_from_slice(&self.best);
        iterations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn the_derivative_of_the_projection_is_right() {
        let mut random = SplitMix64(6);
        for k in 0..2000 {
            let (x, mu) = (random.vec3(1.0), [0.0, 0.3, 1.0][k % 3]);
            let d = derivative(x, mu);
            for axis in 0..3 {
                let step = DVec3::AXES[axis] * 1e-6;
                let slope = (project_on_cone(x + step, mu) - project_on_cone(x - step, mu)) / 2e-6;
                // Steps across an edge of the pieces do not count.
                let same = derivative(x + step, mu).abs_diff_eq(d, 1e-3)
                    && derivative(x - step, mu).abs_diff_eq(d, 1e-3);
                assert!(
                    !same || (slope - d.col(axis)).length() < 1e-4,
                    "{x}: {slope} against {}",
                    d.col(axis)
                );
            }
        }
    }
}
