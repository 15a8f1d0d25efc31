//! Exact friction cones by sweeps over contacts, with the velocities of bodies in place of the Delassus operator.
//!
//! # Reference
//!
//! As [`gauss_seidel`](crate::gauss_seidel); the change of velocities kept beside the impulses is the sequential impulses of game engines.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | w | change of the velocities by the impulses | rad/s, m/s |
//! | p, s, d | as in [`gauss_seidel`](crate::gauss_seidel) | N·s |
//!
//! # Formula
//!
//! ```text
//! contact:  q = b + J w − W_cc p;   p' = exact solution of the contact alone;   w += M⁻¹ Jᵀ (p' − p)
//! sweep:    forward, then backward, in the order of the later body;   then p and w extrapolated as in gauss_seidel
//! ```
//!
//! # Cost
//!
//! Some seventy multiplications per contact, however many share its bodies, and the local solution. No allocation once grown.
//!
//! # Numerics
//!
//! w is summed up anew from the impulses before they are measured.
//!
//! # Failure
//!
//! None: the certificate says how good the impulses are.
//!
//! # Tested by
//!
//! `bodies_stand_for_rows`, `newton_conforms`

use crate::cone::LocalContact;
use sim_math::glam::{DMat3, DVec3};
use sim_traits::{ContactCertificate, ContactProblem, FreeContacts};

/// Share of the tolerance by which bodies may be stirred before a contact is solved again.
const CALM: f64 = 0.1;

/// A body and the change of its velocity.
#[derive(Debug, Clone, Copy)]
struct Moved {
    angular: DVec3,
    linear: DVec3,
    inverse_mass: f64,
    inverse_inertia: DMat3,
    /// Sum of the sizes of all changes, m/s.
    stir: f64,
    /// Largest arm of a contact, m.
    reach: f64,
}

/// What sweeps change of a contact: kept apart, so that a contact that need not be solved again costs little.
#[derive(Debug, Clone, Copy)]
struct State {
    impulse: DVec3,
    bodies: [u32; 2],
    /// What its bodies had been stirred when it was solved last, m/s.
    seen: f64,
    /// Slip over friction of the last solution.
    alpha: f64,
}

/// A contact in the order of sweeps.
#[derive(Debug, Clone, Copy)]
struct Point {
    contact: u32,
    arms: [DVec3; 2],
    frame: DMat3,
    /// Velocity without impulses.
    free: DVec3,
    /// Block of W of the contact with itself.
    response: DMat3,
    softness: f64,
    friction: f64,
    local: LocalContact,
}

impl Point {
    #[inline]
    fn velocity(&self, state: &State, bodies: &[Moved]) -> DVec3 {
        let [a, b] = state.bodies.map(|k| &bodies[k as usize]);
        let apart = (a.linear + a.angular.cross(self.arms[0])) - (b.linear + b.angular.cross(self.arms[1]));
        self.free + self.frame.transpose() * apart + self.softness * state.impulse
    }

    #[inline]
    fn push(&self, state: &State, bodies: &mut [Moved], impulse: DVec3) {
        self.push_along(state, bodies, self.frame * impulse);
    }

    /// The same for an impulse in world axes.
    #[inline]
    fn push_along(&self, state: &State, bodies: &mut [Moved], f: DVec3) {
        let a = &mut bodies[state.bodies[0] as usize];
        a.linear += f * a.inverse_mass;
        a.angular += a.inverse_inertia * self.arms[0].cross(f);
        let b = &mut bodies[state.bodies[1] as usize];
        b.linear -= f * b.inverse_mass;
        b.angular -= b.inverse_inertia * self.arms[1].cross(f);
    }

    /// Solves the contact with the others as they are; returns the size of its change as a velocity.
    #[inline]
    fn relax(&self, state: &mut State, bodies: &mut [Moved]) -> f64 {
        if self.friction == 0.0 {
            return self.relax_normal(state, bodies);
        }
        let q = self.velocity(state, bodies) - self.response * state.impulse;
        let next = self.local.solve_from(q, &mut state.alpha);
        let change = next - state.impulse;
        if change == DVec3::ZERO {
            return 0.0;
        }
        state.impulse = next;
        self.push(state, bodies, change);
        change.length() * self.response.z_axis.z
    }

    /// The same without friction, along the normal alone.
    #[inline]
    fn relax_normal(&self, state: &mut State, bodies: &mut [Moved]) -> f64 {
        let normal = self.frame.z_axis;
        let [a, b] = state.bodies.map(|k| &bodies[k as usize]);
        let apart = (a.linear + a.angular.cross(self.arms[0])) - (b.linear + b.angular.cross(self.arms[1]));
        let w = self.response.z_axis.z;
        let approach = self.free.z + normal.dot(apart) + self.softness * state.impulse.z;
        let next = (state.impulse.z - approach / w).max(0.0);
        let change = next - state.impulse.z;
        state.impulse = DVec3::new(0.0, 0.0, next);
        if change == 0.0 {
            return 0.0;
        }
        self.push_along(state, bodies, normal * change);
        change.abs() * w
    }
}

impl State {
    #[inline]
    fn stirred(&self, bodies: &[Moved]) -> f64 {
        let [a, b] = self.bodies.map(|k| bodies[k as usize].stir);
        a + b
    }

    /// Solves the contact, unless its bodies have been stirred by no more than `calm` since it was solved last; returns the size of its change.
    #[inline]
    fn visit(&mut self, point: &Point, bodies: &mut [Moved], calm: f64) -> f64 {
        if self.stirred(bodies) - self.seen <= calm {
            return 0.0;
        }
        let size = point.relax(self, bodies);
        if size > 0.0 {
            for k in self.bodies {
                let body = &mut bodies[k as usize];
                body.stir += if body.inverse_mass > 0.0 { size } else { 0.0 };
            }
        }
        // What it stirred itself it has seen.
        self.seen = self.stirred(bodies);
        size
    }
}

/// Sweeps over the contacts of a problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodySweeps {
    /// The bodies, and the ground as the last.
    bodies: Vec<Moved>,
    points: Vec<Point>,
    states: Vec<State>,
    starts: Vec<u32>,
    before: Vec<DVec3>,
    direction: Vec<DVec3>,
    bodies_before: Vec<[DVec3; 2]>,
    bodies_direction: Vec<[DVec3; 2]>,
}

impl BodySweeps {
    /// Takes the problem and a guess of its impulses.
    pub(crate) fn load(&mut self, problem: &ContactProblem<'_>, free: &FreeContacts<'_>, p: &[DVec3]) {
        let n = free.bodies.len();
        self.bodies.clear();
        self.bodies.extend(free.bodies.iter().map(|body| Moved {
            angular: DVec3::ZERO,
            linear: DVec3::ZERO,
            inverse_mass: 1.0 / body.mass,
            inverse_inertia: body.inverse_inertia,
            stir: 0.0,
            reach: 0.0,
        }));
        self.bodies.push(Moved {
            angular: DVec3::ZERO,
            linear: DVec3::ZERO,
            inverse_mass: 0.0,
            inverse_inertia: DMat3::ZERO,
            stir: 0.0,
            reach: 0.0,
        });
        let point = |c: usize| Point {
            contact: c as u32,
            arms: free.arms[c],
            frame: free.frames[c],
            free: problem.velocity()[c],
            response: problem.diagonal(c),
            softness: problem.softness(c),
            friction: problem.friction()[c],
            local: LocalContact::new(&problem.diagonal(c), problem.friction()[c]),
        };
        // Counting sort by the later body: what hangs together is swept together.
        let later =
            |c: usize| free.sides[c].into_iter().filter(|&k| (k as usize) < n).max().unwrap_or(0) as usize;
        self.starts.clear();
        self.starts.resize(n + 1, 0);
        (0..p.len()).for_each(|c| self.starts[later(c) + 1] += 1);
        for k in 1..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        self.points.clear();
        if let Some(first) = (!p.is_empty()).then(|| point(0)) {
            self.points.resize(p.len(), first);
        }
        for (sides, arms) in free.sides.iter().zip(free.arms) {
            for (k, arm) in sides.iter().zip(arms) {
                if let Some(body) = self.bodies[..n].get_mut(*k as usize) {
                    body.reach = body.reach.max(arm.length());
                }
            }
        }
        for c in 0..p.len() {
            let slot = &mut self.starts[later(c)];
            self.points[*slot as usize] = point(c);
            *slot += 1;
        }
        self.states.clear();
        self.states.extend(self.points.iter().map(|point| State {
            impulse: p[point.contact as usize],
            bodies: free.sides[point.contact as usize].map(|k| k.min(n as u32)),
            seen: f64::NEG_INFINITY,
            alpha: 0.0,
        }));
    }

    /// Sums the velocities up from the impulses.
    pub(crate) fn sum(&mut self) {
        for body in &mut self.bodies {
            (body.angular, body.linear) = (DVec3::ZERO, DVec3::ZERO);
        }
        for (point, state) in self.points.iter().zip(&self.states) {
            if state.impulse != DVec3::ZERO {
                point.push(state, &mut self.bodies, state.impulse);
            }
        }
    }

    /// Measures the impulses, with velocities that are summed up anew.
    pub(crate) fn certificate(&mut self) -> ContactCertificate {
        self.sum();
        let mut all = ContactCertificate::default();
        for (point, state) in self.points.iter().zip(&self.states) {
            let u = point.velocity(state, &self.bodies);
            all.include(state.impulse, u, point.friction, point.response.z_axis.z);
        }
        all
    }

    /// Measures other impulses, which are kept.
    pub(crate) fn certificate_of(&mut self, p: &[DVec3]) -> ContactCertificate {
        for (point, state) in self.points.iter().zip(&mut self.states) {
            state.impulse = p[point.contact as usize];
        }
        self.certificate()
    }

    /// The impulses.
    pub(crate) fn store(&self, p: &mut [DVec3]) {
        for (point, state) in self.points.iter().zip(&self.states) {
            p[point.contact as usize] = state.impulse;
        }
    }

    /// At most `count` pairs of sweeps, until the residual is at most `tolerance`, or at most `enough` and no pair makes it smaller. Returns how many it took.
    /// [`BodySweeps::sum`] has been called before.
    pub(crate) fn run(&mut self, tolerance: f64, enough: f64, count: u32) -> (u32, ContactCertificate) {
        let n = self.points.len();
        self.direction.clear();
        self.direction.resize(n, DVec3::ZERO);
        self.bodies_direction.clear();
        self.bodies_direction.resize(self.bodies.len(), [DVec3::ZERO; 2]);
        let mut last = f64::INFINITY;
        let mut least = f64::INFINITY;
        let mut iterations = 0;
        let calm = CALM * tolerance;
        loop {
            iterations += 1;
            self.before.clear();
            self.before.extend(self.states.iter().map(|state| state.impulse));
            self.bodies_before.clear();
            self.bodies_before.extend(self.bodies.iter().map(|body| [body.angular, body.linear]));
            let mut change = 0.0_f64;
            for (state, point) in self.states.iter_mut().zip(&self.points) {
                state.visit(point, &mut self.bodies, calm);
            }
            for (state, point) in self.states.iter_mut().zip(&self.points).rev() {
                change = change.max(state.visit(point, &mut self.bodies, calm));
            }
            let spent = iterations >= count;
            // At the limit of rounding sweeps do not help any more.
            let stuck = change <= enough && change >= least;
            least = least.min(change);
            // The change of a sweep is a cheap sign of the residual, which alone decides.
            if change <= 2.0 * tolerance || spent || n < 2 || stuck {
                self.enter_cones();
                let certificate = self.certificate();
                let good = certificate.residual <= if stuck { enough } else { tolerance };
                if good || spent {
                    return (iterations, certificate);
                }
            }
            self.extrapolate(&mut last);
        }
    }

    /// Contacts that were not solved again after they were extrapolated may be a little outside.
    fn enter_cones(&mut self) {
        for (State { impulse: p, .. }, Point { friction, .. }) in self.states.iter_mut().zip(&self.points) {
            let (across, most) = (p.truncate(), friction.max(0.0) * p.z.max(0.0));
            let size = across.length();
            if p.z < 0.0 || size > most {
                let shorter = if size > 0.0 { most / size } else { 0.0 };
                *p = (across * shorter).extend(p.z.max(0.0));
            }
        }
    }

    fn extrapolate(&mut self, last: &mut f64) {
        let size: f64 =
            self.states.iter().zip(&self.before).map(|(x, b)| (x.impulse - *b).length_squared()).sum();
        let beta = if *last > 0.0 { size / *last } else { f64::INFINITY };
        *last = size;
        let beta = if beta <= 1.0 { beta } else { 0.0 };
        for ((state, b), d) in self.states.iter_mut().zip(&self.before).zip(&mut self.direction) {
            let step = state.impulse - *b;
            state.impulse += beta * *d;
            *d = beta * *d + step;
        }
        let bodies = self.bodies.iter_mut().zip(&self.bodies_before).zip(&mut self.bodies_direction);
        for ((body, b), d) in bodies {
            let step = [body.angular - b[0], body.linear - b[1]];
            body.angular += beta * d[0];
            body.linear += beta * d[1];
            body.stir += beta * (d[0].length() * body.reach + d[1].length());
            *d = [beta * d[0] + step[0], beta * d[1] + step[1]];
        }
    }
}
