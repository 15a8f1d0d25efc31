//! Exact friction cones by sweeps over contacts, with the velocities of bodies in place of the Delassus operator.
//!
//! # Reference
//!
//! As [`gauss_seidel`](crate::gauss_seidel); the change of velocities kept beside the impulses is the sequential impulses of game engines.
//! `order` says in which order contacts are swept, `extrapolate` what happens between pairs of sweeps.
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
//! contact:  u = b + J w;   p' = exact solution of the contact alone, sticking at p − W_cc⁻¹ u;   w += M⁻¹ Jᵀ (p' − p)
//! sweep:    forward, then backward, in the order of the later body;   then p and w extrapolated
//! ```
//!
//! # Cost
//!
//! Some seventy multiplications per contact and visit, however many share its bodies, and the root where it slides. Contacts whose bodies hardly
//! moved since, and open ones that cannot have closed, are passed by. No allocation once grown.
//!
//! # Numerics
//!
//! All in world axes: a contact that sticks needs W⁻¹ alone. w is summed up anew from the impulses before they are measured; if they are not good enough then,
//! every contact is visited again.
//!
//! # Failure
//!
//! None: the certificate says how good the impulses are.
//!
//! # Tested by
//!
//! `bodies_stand_for_rows`, `newton_conforms`

use crate::{
    cone::{LocalContact, Sliding},
    extrapolate::{BodyTrack, Moved, Pace, Track},
    order::SweepOrder,
    sided::SidedSweeps,
};
use sim_math::{
    Sym3,
    glam::{DMat3, DVec3},
};
use sim_traits::{Groups, RowCertificate, RowProblem};

/// Share of the tolerance by which bodies may be stirred before a contact is solved again.
const CALM: f64 = 0.1;
/// Share of the velocity at which an open contact parts by which its bodies may be stirred before it is solved again. Impulses across move bodies more than
/// their size along the normal tells, by a factor of six at most for all but odd bodies.
const OPEN: f64 = 0.15;

/// Limits of sweeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Pairs of sweeps.
    pub(crate) pairs: u32,
    /// Contacts solved.
    pub(crate) visits: u32,
    /// Share of the largest change of the sweep before by which bodies may be stirred before a contact is solved again: most visits then go where most is
    /// left to do. Above a tenth the extrapolation suffers.
    pub(crate) focus: f64,
}

/// A body and the change of its velocity.
#[derive(Debug, Clone, Copy)]
struct Body {
    moved: Moved,
    inverse_mass: f64,
    inverse_inertia: Sym3,
}

/// What sweeps change of a contact: kept apart, so that a contact that need not be solved again costs little.
#[derive(Debug, Clone, Copy)]
struct State {
    /// World axes.
    impulse: DVec3,
    bodies: [u32; 2],
    /// What its bodies had been stirred when it was solved last, m/s.
    seen: f64,
    /// Slip over friction of the last solution.
    alpha: f64,
}

/// What a visit needs of a contact, in world axes.
#[derive(Debug, Clone, Copy)]
struct Point {
    arms: [DVec3; 2],
    /// Velocity without impulses.
    free: DVec3,
    normal: DVec3,
    /// W n.
    lift: DVec3,
    /// W⁻¹.
    inverse: Sym3,
    softness: f64,
    friction: f64,
    w_zz: f64,
}

/// What a visit needs besides where the contact slides.
#[derive(Debug, Clone, Copy)]
struct Slope {
    /// Eigenvectors of S, world axes.
    axes: [DVec3; 2],
    sliding: Sliding,
}

/// Where the contact is among those of the problem.
#[derive(Debug, Clone, Copy)]
struct Origin {
    contact: u32,
    frame: DMat3,
}

impl AsRef<Moved> for Body {
    #[inline]
    fn as_ref(&self) -> &Moved {
        &self.moved
    }
}

impl AsMut<Moved> for Body {
    #[inline]
    fn as_mut(&mut self) -> &mut Moved {
        &mut self.moved
    }
}

impl Point {
    #[inline]
    fn velocity(&self, state: &State, bodies: &[Body]) -> DVec3 {
        let [a, b] = state.bodies.map(|k| &bodies[k as usize].moved);
        let apart = (a.linear + a.angular.cross(self.arms[0])) - (b.linear + b.angular.cross(self.arms[1]));
        self.free + apart + self.softness * state.impulse
    }

    #[inline]
    fn push(&self, state: &State, bodies: &mut [Body], f: DVec3) {
        let a = &mut bodies[state.bodies[0] as usize];
        a.moved.linear += f * a.inverse_mass;
        a.moved.angular += a.inverse_inertia * self.arms[0].cross(f);
        let b = &mut bodies[state.bodies[1] as usize];
        b.moved.linear -= f * b.inverse_mass;
        b.moved.angular -= b.inverse_inertia * self.arms[1].cross(f);
    }

    /// Solves the contact with the others as they are; returns the size of its change as a velocity, and the velocity at which it parts without impulse.
    #[inline]
    fn relax(&self, slope: &Slope, state: &mut State, bodies: &mut [Body]) -> (f64, f64) {
        let u = self.velocity(state, bodies);
        let p = state.impulse;
        // The velocity along the normal without its own impulse.
        let q_z = self.normal.dot(u) - self.lift.dot(p);
        let next = if q_z >= 0.0 {
            DVec3::ZERO
        } else if self.friction == 0.0 {
            self.normal * (-q_z / self.w_zz)
        } else {
            self.solve(slope, p - self.inverse * u, q_z, &mut state.alpha)
        };
        let change = next - p;
        if change == DVec3::ZERO {
            return (0.0, q_z.max(0.0));
        }
        state.impulse = next;
        self.push(state, bodies, change);
        (change.length() * self.w_zz, q_z.max(0.0))
    }

    /// The impulse of the contact alone, given the one with which it would stick.
    #[inline]
    fn solve(&self, slope: &Slope, stick: DVec3, q_z: f64, alpha: &mut f64) -> DVec3 {
        let z = self.normal.dot(stick);
        let most = self.friction * z;
        if z >= 0.0 && (stick - self.normal * z).length_squared() <= most * most {
            return stick;
        }
        // With p = −W⁻¹ q the right side of sliding is −S p_t.
        let Slope { axes, sliding } = slope;
        let r = [0, 1].map(|k| -sliding.values[k] * axes[k].dot(stick));
        let (t, z) = sliding.solve(r, q_z, alpha);
        axes[0] * t[0] + axes[1] * t[1] + self.normal * z
    }
}

impl State {
    #[inline]
    fn stirred(&self, bodies: &[Body]) -> f64 {
        let [a, b] = self.bodies.map(|k| bodies[k as usize].moved.stir);
        a + b
    }

    /// Solves the contact, unless its bodies have been stirred by no more than `calm` since it was solved last; returns the size of its change.
    #[inline]
    fn visit(
        &mut self,
        (point, slope): (&Point, &Slope),
        bodies: &mut [Body],
        calm: f64,
        visits: &mut u32,
    ) -> f64 {
        if self.stirred(bodies) - self.seen <= calm {
            return 0.0;
        }
        *visits += 1;
        let (size, parts) = point.relax(slope, self, bodies);
        if size > 0.0 {
            for k in self.bodies {
                let body = &mut bodies[k as usize];
                body.moved.stir += if body.inverse_mass > 0.0 { size } else { 0.0 };
            }
        }
        // What it stirred itself it has seen.
        self.seen = self.stirred(bodies) + OPEN * parts;
        size
    }
}

/// How many points there are, and the normal impulse of each as the problem numbers them.
fn loads<'a>(
    points: &'a [Point],
    states: &'a [State],
    order: &'a SweepOrder,
) -> (usize, impl Fn(usize) -> f64 + 'a) {
    let normal = |contact: usize| {
        let place = order.places()[contact] as usize;
        points[place].normal.dot(states[place].impulse)
    };
    (points.len(), normal)
}

/// Sweeps over the contacts of a problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodySweeps {
    /// The bodies, and the ground as the last.
    bodies: Vec<Body>,
    points: Vec<Point>,
    slopes: Vec<Slope>,
    origins: Vec<Origin>,
    states: Vec<State>,
    order: SweepOrder,
    /// Of the contacts as they are swept.
    tracks: Vec<Track<DVec3>>,
    body_tracks: Vec<BodyTrack>,
    /// Joints, limits, motors.
    sided: SidedSweeps,
}

impl BodySweeps {
    /// Takes the problem and a guess of its impulses.
    pub(crate) fn load(&mut self, problem: &RowProblem<'_>, free: &Groups<'_>, p: &[DVec3]) {
        let n = free.bodies.len();
        self.bodies.clear();
        self.bodies.extend(free.bodies.iter().map(|body| Body {
            moved: Moved::default(),
            inverse_mass: 1.0 / body.mass,
            inverse_inertia: Sym3::from_mat3(body.inverse_inertia),
        }));
        self.bodies.push(Body { moved: Moved::default(), inverse_mass: 0.0, inverse_inertia: Sym3::ZERO });
        for (sides, arms) in free.sides.iter().zip(free.arms) {
            for (k, arm) in sides.iter().zip(arms) {
                if let Some(Body { moved, .. }) = self.bodies[..n].get_mut(*k as usize) {
                    moved.reach = moved.reach.max(arm.length());
                }
            }
        }
        self.origins.clear();
        self.origins.resize(free.points(), Origin { contact: 0, frame: DMat3::ZERO });
        self.order.sort(n, free.sides.iter().copied(), |k| (k as usize) < n);
        for ((contact, &place), &frame) in (0..).zip(self.order.places()).zip(free.frames) {
            self.origins[place as usize] = Origin { contact, frame };
        }
        self.points.clear();
        self.slopes.clear();
        self.states.clear();
        for Origin { contact, frame } in &self.origins {
            let c = *contact as usize;
            let (response, friction) = (problem.diagonal(c), problem.friction()[c]);
            let local = LocalContact::new(&response, friction);
            let (inverse, axes, sliding) = local.parts();
            self.points.push(Point {
                arms: free.arms[c],
                free: *frame * problem.velocity()[c],
                normal: frame.z_axis,
                lift: *frame * response.z_axis,
                inverse: Sym3::from_mat3(*inverse).congruence(*frame),
                softness: problem.softness(c),
                friction,
                w_zz: response.z_axis.z,
            });
            let axes = axes.map(|axis| frame.x_axis * axis.x + frame.y_axis * axis.y);
            self.slopes.push(Slope { axes, sliding: *sliding });
            self.states.push(State {
                impulse: *frame * p[c],
                bodies: free.sides[c].map(|k| k.min(n as u32)),
                seen: f64::NEG_INFINITY,
                alpha: 0.0,
            });
        }
        self.sided.load(problem, free, p);
    }

    /// Sums the velocities up from the impulses.
    pub(crate) fn sum(&mut self) {
        for Body { moved, .. } in &mut self.bodies {
            (moved.angular, moved.linear) = (DVec3::ZERO, DVec3::ZERO);
        }
        for (point, state) in self.points.iter().zip(&self.states) {
            if state.impulse != DVec3::ZERO {
                point.push(state, &mut self.bodies, state.impulse);
            }
        }
        self.sided.sum(&mut self.bodies);
    }

    /// Measures the impulses, with velocities that are summed up anew.
    pub(crate) fn certificate(&mut self) -> RowCertificate {
        self.sum();
        let mut all = RowCertificate::default();
        for ((point, state), Origin { frame, .. }) in self.points.iter().zip(&self.states).zip(&self.origins)
        {
            let u = point.velocity(state, &self.bodies);
            let axes = frame.transpose();
            all.include(axes * state.impulse, axes * u, point.friction, point.w_zz);
        }
        self.sided.measure(&self.bodies, loads(&self.points, &self.states, &self.order), &mut all);
        all
    }

    /// Measures other impulses, which are kept.
    pub(crate) fn certificate_of(&mut self, p: &[DVec3]) -> RowCertificate {
        for (state, Origin { contact, frame }) in self.states.iter_mut().zip(&self.origins) {
            state.impulse = *frame * p[*contact as usize];
        }
        self.sided.set(&p[self.points.len()..]);
        self.certificate()
    }

    /// The impulses.
    pub(crate) fn store(&self, p: &mut [DVec3]) {
        for (state, Origin { contact, frame }) in self.states.iter().zip(&self.origins) {
            p[*contact as usize] = frame.transpose() * state.impulse;
        }
        self.sided.store(&mut p[self.points.len()..]);
    }

    /// At most so many sweeps, until the residual is at most `tolerance`, or at most `enough` and no pair makes it smaller. Returns how many pairs it took.
    /// [`BodySweeps::sum`] has been called before.
    pub(crate) fn run(&mut self, tolerance: f64, enough: f64, most: Budget) -> (u32, RowCertificate) {
        let n = self.points.len();
        self.tracks.clear();
        self.tracks.resize(n, Track::default());
        self.body_tracks.clear();
        self.body_tracks.resize(self.bodies.len(), BodyTrack::default());
        self.sided.restart();
        let jointed = !self.sided.is_empty();
        let mut pace = Pace::START;
        let mut least = f64::INFINITY;
        let mut iterations = 0;
        let mut calm = CALM * tolerance;
        let mut visits = 0;
        loop {
            iterations += 1;
            self.mark();
            let mut change = 0.0_f64;
            let points = || self.points.iter().zip(&self.slopes);
            if jointed {
                let loads = loads(&self.points, &self.states, &self.order);
                self.sided.sweep(&mut self.bodies, true, loads);
            }
            for (state, point) in self.states.iter_mut().zip(points()) {
                state.visit(point, &mut self.bodies, calm, &mut visits);
            }
            for (state, point) in self.states.iter_mut().zip(points()).rev() {
                change = change.max(state.visit(point, &mut self.bodies, calm, &mut visits));
            }
            if jointed {
                let loads = loads(&self.points, &self.states, &self.order);
                change = change.max(self.sided.sweep(&mut self.bodies, false, loads));
            }
            let spent = iterations >= most.pairs || visits >= most.visits;
            // Contacts that were passed by have to be seen once more.
            let careful = calm <= CALM * tolerance;
            calm = (CALM * tolerance).max(most.focus * change);
            // At the limit of rounding sweeps do not help any more.
            let stuck = careful && change <= enough && change >= least;
            least = least.min(change);
            // The change of a sweep is a cheap sign of the residual, which alone decides.
            if (careful && change <= 2.0 * tolerance) || spent || (n < 2 && !jointed) || stuck {
                self.enter_cones();
                let certificate = self.certificate();
                let good = certificate.residual <= if stuck { enough } else { tolerance };
                if good || spent {
                    return (iterations, certificate);
                }
                self.states.iter_mut().for_each(|state| state.seen = f64::NEG_INFINITY);
            }
            self.extrapolate(&mut pace);
        }
    }

    /// Contacts that were not solved again after they were extrapolated may be a little outside.
    fn enter_cones(&mut self) {
        for (State { impulse: p, .. }, Point { friction, normal, .. }) in
            self.states.iter_mut().zip(&self.points)
        {
            let z = normal.dot(*p);
            let (across, most) = (*p - *normal * z, friction * z.max(0.0));
            let size = across.length();
            if z < 0.0 || size > most {
                let shorter = if size > 0.0 { most / size } else { 0.0 };
                *p = across * shorter + *normal * z.max(0.0);
            }
        }
        self.sided.enter_bounds(loads(&self.points, &self.states, &self.order));
    }

    /// A pair of sweeps begins.
    fn mark(&mut self) {
        for (track, state) in self.tracks.iter_mut().zip(&self.states) {
            track.mark(state.impulse);
        }
        for (track, body) in self.body_tracks.iter_mut().zip(&self.bodies) {
            track.mark(&body.moved);
        }
        self.sided.mark();
    }

    fn extrapolate(&mut self, pace: &mut Pace) {
        let points = self.tracks.iter().zip(&self.states).map(|(track, s)| track.change(s.impulse));
        let beta = pace.beta(points.chain(self.sided.changes()));
        for (track, state) in self.tracks.iter_mut().zip(&mut self.states) {
            track.extrapolate_contact(&mut state.impulse, &mut state.seen, beta);
        }
        for (track, body) in self.body_tracks.iter_mut().zip(&mut self.bodies) {
            track.extrapolate(&mut body.moved, beta);
        }
        self.sided.extrapolate(beta);
    }
}
