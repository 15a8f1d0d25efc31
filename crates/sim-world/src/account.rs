//! Energy and momentum account of an advance: what every cause did, and what is left over.
//!
//! # Reference
//!
//! Work-energy theorem; for impulses Fontijne (2000), section 3.4: the work of an impulse is its product with the mean of
//! the velocities before and after it.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | T | kinetic energy of all free bodies | J |
//! | P, L | momentum and angular momentum about the world's origin of all free bodies | kg·m/s, kg·m²/s |
//! | p | impulse on A at a contact | N·s |
//! | u, u⁺ | velocity of A relative to B at the contact, after a step; ū its mean over a collision | m/s |
//! | v, v⁺ | velocities of a body before and after a step of h seconds | m/s, rad/s |
//! | V | energy of springs between free bodies and what stands still | J |
//! | M, I | masses and inertias | kg, kg·m² |
//!
//! # Formula
//!
//! ```text
//! T₁ − T₀ = gravity + springs + forces + scripted + impact + micro + friction + joints + drives + stepping + correction + sleep + outside + remainder
//! gravity     Σ m g·Δx over all that moved a body: flights, steps, corrections
//! springs     V₀ − V₁ of ½ k (l − l₀)²; what the user changes of V is not counted
//! forces      constant force F·Δx;   all others but springs in V: ∫ (F·v + τ·ω) dt by Gauss's rule of order six
//! scripted    p·u_B, −p·u_A, with the velocity of a moving surface in u;   what a script that moved into a body has lifted, and the body did not pay for
//! sleep, outside   change of T when a body is stopped, or pushed by the user; what is lifted out of an overlap that the user made
//!
//! collision   at an instant:   normal p_n ū_n (impact or micro);   friction p_t·ū_t
//! step        v⁺ = v + h a + M⁻¹ (Jᵀ p + P_s + P_f),   x⁺ = x + h v⁺,   P_s of springs, P_f of other forces that depend on the state:
//!   T₁ − T₀ = m a·(x⁺ − x) + p·u⁺ + P_s·v⁺ + P_f·v⁺ − ½ |v⁺ − v|²_M,    turning without torque keeps T
//!   impact     p_n u_n⁺ of fast approaches, − ½ |v⁺ − v|²_M of their bodies
//!   micro      p_n u_n⁺ of all other contacts: −p_n g/h where a gap g closes
//!   friction   p_t·u_t⁺            forces   P_f·v⁺
//!   stepping   − ½ |v⁺ − v|²_M of all other bodies, and P_s·v⁺ − (V₀ − V₁): what the length of the step costs
//!   joints     p·(u + u⁺)/2 of what joints hold, p u⁺ of limits: with velocities that turn, stepping takes less by p·(u⁺ − u)/2
//!   drives     p u⁺ of motors, springs and dampers
//! correction  bodies put right by Δx: − m a·Δx + ΔV, less what is taken from T for it, what stepping and impact took in the same step, and what micro took
//!             when contacts gave way (−p_n (u_n⁺ + g/h)), which go back there
//!
//! P₁ − P₀ = m g Δt + F Δt + p of fixed and scripted bodies + correction + sleep + outside + remainder;   L the same with x ×
//! ∫ x dt of a flight: x₀ τ + ½ v₀ τ² + a τ³/6
//! ```
//!
//! The terms come from positions, forces and impulses, the left sides from velocities: the remainder measures the integration
//! of motion and the response to impulses. The equation of a step is an identity, so that there the remainder is rounding.
//! Impact and friction together, micro, stepping and correction never give where contacts obey their law: a positive sum is energy from nowhere.
//!
//! # Cost
//!
//! Some fifty multiplications per flight, two impulses per collision; one pass over all bodies per advance.
//!
//! # Numerics
//!
//! Sums of as many terms as there are collisions, in their order: the remainder grows by an ulp of the largest per term.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `tests/account.rs` of `sim-steppers`

use crate::{
    access::StepperAccess,
    body::Body,
    events::Collision,
    force::Exerted,
    piece::{Law, Piece},
    work::{ContactWork, ForceWork, JointWork},
    world::World,
};
use rigid_impulse::{BodyKind, BodyModel, BodyState, CollisionKind};
use sim_math::{glam::DVec3, spatial::Motion};

/// Where the kinetic energy of an advance came from and went to, J.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct EnergyAccount {
    /// Kinetic energy at the start.
    pub start: f64,
    /// Kinetic energy at the end.
    pub end: f64,
    /// Work of gravity.
    pub gravity: f64,
    /// Energy that springs between free bodies and what stands still gave back: the fall of their potential.
    pub springs: f64,
    /// Work of all other forces: dampers, drag, motors, constant forces, springs that hold on to scripted bodies.
    pub forces: f64,
    /// Work of scripted bodies, and of surfaces that move along themselves.
    pub scripted: f64,
    /// What ordinary collisions took: at most 0 but for restitution above 1.
    pub impact: f64,
    /// Work along the normal of micro-collisions, of either sign, and of contacts that last, at most 0.
    pub micro: f64,
    /// Work of friction in all collisions and joints.
    pub friction: f64,
    /// Work of what joints hold, and of their limits: none but what numbers leave, and what limits take.
    pub joints: f64,
    /// Work of motors, springs and dampers in joints.
    pub drives: f64,
    /// What steps of finite length took from bodies in contact and on springs, at most 0: it shrinks with the step. 0 from event to event.
    pub stepping: f64,
    /// What moving overlapping bodies apart gave: what it lifted, less what they paid for it with their motion.
    pub correction: f64,
    /// Energy of bodies put to sleep or frozen, negative.
    pub sleep: f64,
    /// Changes by the user, between or during advances.
    pub outside: f64,
    /// Energy that flowed: the sizes of all causes, summed advance by advance.
    pub flowed: f64,
}

impl EnergyAccount {
    fn causes(&self) -> [f64; 13] {
        [
            self.gravity,
            self.springs,
            self.forces,
            self.scripted,
            self.impact,
            self.micro,
            self.friction,
            self.joints,
            self.drives,
            self.stepping,
            self.correction,
            self.sleep,
            self.outside,
        ]
    }

    /// What no cause explains: the numerical error.
    #[must_use]
    pub fn remainder(&self) -> f64 {
        self.end - self.start - self.causes().into_iter().sum::<f64>()
    }

    /// Energy that came from nowhere, J, never negative: a positive remainder, and positive sums of causes that can only take
    /// (collisions with their friction, contacts at rest, the length of steps, corrections).
    #[must_use]
    pub fn gain(&self) -> f64 {
        // Restitution may turn the slip of a collision around: its friction gives then, and its impact takes more.
        let takers = [self.impact + self.friction, self.micro, self.stepping, self.correction];
        takers.into_iter().chain([self.remainder()]).map(|x| x.max(0.0)).sum()
    }

    /// Account of this advance and a later one.
    #[must_use]
    pub fn then(self, later: &Self) -> Self {
        // A default account has seen nothing: it has no end that a user could have changed.
        let between = if self == Self::default() { 0.0 } else { later.start - self.end };
        Self {
            start: if self == Self::default() { later.start } else { self.start },
            end: later.end,
            gravity: self.gravity + later.gravity,
            springs: self.springs + later.springs,
            forces: self.forces + later.forces,
            scripted: self.scripted + later.scripted,
            impact: self.impact + later.impact,
            micro: self.micro + later.micro,
            friction: self.friction + later.friction,
            joints: self.joints + later.joints,
            drives: self.drives + later.drives,
            stepping: self.stepping + later.stepping,
            correction: self.correction + later.correction,
            sleep: self.sleep + later.sleep,
            outside: self.outside + later.outside + between,
            flowed: self.flowed + later.flowed + between.abs(),
        }
    }
}

/// Linear and angular part of a momentum or impulse, the angular part about the world's origin.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Momentum {
    /// kg·m/s.
    pub linear: DVec3,
    /// kg·m²/s.
    pub angular: DVec3,
}

impl Momentum {
    fn of(model: &BodyModel, state: &BodyState) -> Self {
        let BodyKind::Free(mass) = model.kind() else { return Self::default() };
        let linear = state.velocity.linear * mass.mass();
        Self { linear, angular: state.pose().translation.cross(linear) + state.spin(model) }
    }

    /// An impulse (N·s) at a world point (m).
    fn at(point: DVec3, impulse: DVec3) -> Self {
        Self { linear: impulse, angular: point.cross(impulse) }
    }

    fn add(&mut self, other: Self) {
        self.linear += other.linear;
        self.angular += other.angular;
    }

    fn minus(self, other: Self) -> Self {
        Self { linear: self.linear - other.linear, angular: self.angular - other.angular }
    }

    fn plus(self, other: Self) -> Self {
        Self { linear: self.linear + other.linear, angular: self.angular + other.angular }
    }
}

/// Where the momentum of an advance came from and went to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct MomentumAccount {
    /// Momentum at the start.
    pub start: Momentum,
    /// Momentum at the end.
    pub end: Momentum,
    /// Impulse of gravity.
    pub gravity: Momentum,
    /// Impulse of forces.
    pub forces: Momentum,
    /// Impulses from fixed bodies.
    pub fixed: Momentum,
    /// Impulses from scripted bodies.
    pub scripted: Momentum,
    /// Momentum that bodies lost or got when overlaps were opened.
    pub correction: Momentum,
    /// Momentum taken from bodies that were put to sleep or frozen.
    pub sleep: Momentum,
    /// Changes by the user, between or during advances.
    pub outside: Momentum,
}

impl MomentumAccount {
    /// What no cause explains: the numerical error.
    #[must_use]
    pub fn remainder(&self) -> Momentum {
        let mut left = self.end.minus(self.start);
        let others = [self.correction, self.sleep, self.outside];
        for cause in [self.gravity, self.forces, self.fixed, self.scripted].into_iter().chain(others) {
            left = left.minus(cause);
        }
        left
    }

    /// Account of this advance and a later one.
    #[must_use]
    pub fn then(self, later: &Self) -> Self {
        let fresh = self == Self::default();
        let between = if fresh { Momentum::default() } else { later.start.minus(self.end) };
        Self {
            start: if fresh { later.start } else { self.start },
            end: later.end,
            gravity: self.gravity.plus(later.gravity),
            forces: self.forces.plus(later.forces),
            fixed: self.fixed.plus(later.fixed),
            scripted: self.scripted.plus(later.scripted),
            correction: self.correction.plus(later.correction),
            sleep: self.sleep.plus(later.sleep),
            outside: self.outside.plus(later.outside).plus(between),
        }
    }
}

/// The books of the advance that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Account {
    /// Start of the advance while there is one, s.
    open: Option<f64>,
    energy: EnergyAccount,
    momentum: MomentumAccount,
    /// Potential of springs at the start of the advance, with what the user changed of it since, J.
    pub(crate) springs: f64,
    /// Work of springs in steps, and what corrections added to their potential, J.
    elastic: Option<f64>,
    /// What the last one closed with.
    closed: Option<Closed>,
}

/// Sums at the end of an account: those of the next one begin with them, if nothing has happened in between.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Closed {
    revision: u64,
    time: f64,
    energy: f64,
    momentum: Momentum,
}

impl Account {
    /// True during an advance.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Books the flight of a free body on its present piece until `time` (s), when another piece begins.
    pub(crate) fn flight(&mut self, body: &Body, gravity: DVec3, time: f64) {
        let (Some(open), BodyKind::Free(mass)) = (self.open, body.kind()) else { return };
        let (piece, mass) = (&body.piece, mass.mass());
        let from = piece.start().max(open);
        if from >= time || body.outdated {
            return;
        }
        match piece.law() {
            // What is integrated is booked with its cluster.
            Law::Still | Law::Integrated(_) | Law::Scripted { .. } => {}
            Law::Ballistic { acceleration, .. } => {
                self.ballistic(piece, *acceleration, [from, time], gravity * mass, body.pull * mass);
            }
        }
    }

    fn ballistic(&mut self, piece: &Piece, acceleration: DVec3, span: [f64; 2], weight: DVec3, force: DVec3) {
        let (x0, v0) = (piece.state().pose().translation, piece.state().velocity.linear);
        let [s, t] = span.map(|t| t - piece.start());
        let (tau, mean) = (t - s, 0.5 * (t + s));
        let moved = (v0 + acceleration * mean) * tau;
        // ∫ x dt from s to t; the cubes are factored so that a short span loses no digits.
        let moment = (x0 + v0 * mean + acceleration * ((t * t + t * s + s * s) / 6.0)) * tau;
        self.energy.gravity += weight.dot(moved);
        self.energy.forces += force.dot(moved);
        self.momentum.gravity.add(Momentum { linear: weight * tau, angular: moment.cross(weight) });
        self.momentum.forces.add(Momentum { linear: force * tau, angular: moment.cross(force) });
    }

    /// Books a step of `h` seconds that moved a free body from one place to another, m.
    pub(crate) fn carried(&mut self, body: &Body, gravity: DVec3, [from, to]: [DVec3; 2], h: f64) {
        let (Some(_), BodyKind::Free(mass)) = (self.open, body.kind()) else { return };
        let (weight, force) = (gravity * mass.mass(), body.pull * mass.mass());
        let (moved, moment) = (to - from, (from + to) * (0.5 * h));
        self.energy.gravity += weight.dot(moved);
        self.energy.forces += force.dot(moved);
        self.momentum.gravity.add(Momentum { linear: weight * h, angular: moment.cross(weight) });
        self.momentum.forces.add(Momentum { linear: force * h, angular: moment.cross(force) });
    }

    /// Books what gravity and forces did to a body on an integrated piece over a span of time.
    pub(crate) fn exerted(&mut self, body: &Body, weight: DVec3, span: [f64; 2], sum: &Exerted) {
        let (Ok(a), Ok(b)) = (body.at(span[0]), body.at(span[1])) else { return };
        self.energy.gravity += weight.dot(b.pose().translation - a.pose().translation);
        self.energy.forces += sum.work;
        let angular = sum.place.cross(weight);
        self.momentum.gravity.add(Momentum { linear: weight * (span[1] - span[0]), angular });
        self.momentum.forces.add(Momentum { linear: sum.impulse, angular: sum.moment });
    }

    /// Books one impulse, given the velocities of both bodies at its point before and after, m/s.
    pub(crate) fn collision(
        &mut self,
        c: &Collision,
        kinds: [BodyKind; 2],
        before: [DVec3; 2],
        after: [DVec3; 2],
    ) {
        if self.open.is_none() || !c.impulse.is_finite() {
            return;
        }
        let mean = 0.5 * ((before[0] - before[1]) + (after[0] - after[1]));
        let along = c.normal * c.impulse.dot(c.normal);
        let normal_work = along.dot(mean);
        if c.kind == CollisionKind::Ordinary {
            self.energy.impact += normal_work;
        } else {
            self.energy.micro += normal_work;
        }
        self.energy.friction += (c.impulse - along).dot(mean);
        for (k, impulse) in [(0, -c.impulse), (1, c.impulse)] {
            // What a body that is not free exerts on the free one.
            match kinds[k] {
                BodyKind::Free(_) => {}
                BodyKind::Fixed => self.momentum.fixed.add(Momentum::at(c.point, impulse)),
                BodyKind::Scripted => {
                    self.energy.scripted += impulse.dot(before[k]);
                    self.momentum.scripted.add(Momentum::at(c.point, impulse));
                }
            }
        }
    }

    /// Time up to which the motion on a piece is booked, s; `None` if no account is open.
    pub(crate) fn since(&self, piece: &Piece) -> Option<f64> {
        self.open.map(|open| piece.start().max(open))
    }

    /// Books that a free body was stopped.
    pub(crate) fn stopped(&mut self, model: &BodyModel, [before, after]: [&BodyState; 2]) {
        if self.open.is_some() {
            self.energy.sleep += after.kinetic_energy(model) - before.kinetic_energy(model);
            self.momentum.sleep.add(Momentum::of(model, after).minus(Momentum::of(model, before)));
        }
    }

    /// Books that a free body was put right without motion, under its weight and constant force (N): what that added to the potential of its springs, J,
    /// and whether the user had put it wrong. Gives what it added to all potentials, J.
    pub(crate) fn moved(
        &mut self,
        model: &BodyModel,
        [before, after]: [&BodyState; 2],
        pulls: [DVec3; 2],
        springs: f64,
        user: bool,
    ) -> f64 {
        let shift = after.pose().translation - before.pose().translation;
        let [weight, force] = pulls.map(|pull| pull.dot(shift));
        let lifted = springs - weight - force;
        if self.open.is_some() {
            let change = Momentum::of(model, after).minus(Momentum::of(model, before));
            self.energy.gravity += weight;
            self.energy.forces += force;
            if springs != 0.0 {
                // The fall of their potential has it, but it is no work on a motion.
                *self.elastic.get_or_insert(0.0) -= springs;
            }
            let turned = after.kinetic_energy(model) - before.kinetic_energy(model);
            let (energy, momentum) = if user {
                (&mut self.energy.outside, &mut self.momentum.outside)
            } else {
                (&mut self.energy.correction, &mut self.momentum.correction)
            };
            *energy += lifted + turned;
            momentum.add(change);
        }
        lifted
    }

    /// Books that a free body was slowed down to pay for a correction; `carrier` is the velocity of a script that carries it.
    pub(crate) fn slowed(&mut self, model: &BodyModel, [before, after]: [&BodyState; 2], carrier: Motion) {
        if self.open.is_some() {
            let change = Momentum::of(model, after).minus(Momentum::of(model, before));
            let spin = after.spin(model) - before.spin(model);
            let carried = carrier.linear.dot(change.linear) + carrier.angular.dot(spin);
            self.energy.scripted += carried;
            self.energy.correction += after.kinetic_energy(model) - before.kinetic_energy(model) - carried;
            self.momentum.correction.add(change);
        }
    }

    /// Books what the user changed of the energy of rotors, J.
    pub(crate) fn pushed_rotors(&mut self, energy: f64) {
        if self.open.is_some() {
            self.energy.outside += energy;
        }
    }

    /// Books what a correction added to the energy of springs in the joints of a tree, J.
    pub(crate) fn stretched(&mut self, springs: f64, user: bool) {
        if self.open.is_some() && springs != 0.0 {
            // The fall of their potential has it, but it is no work on a motion.
            *self.elastic.get_or_insert(0.0) -= springs;
            let account = if user { &mut self.energy.outside } else { &mut self.energy.correction };
            *account += springs;
        }
    }

    /// Books a change of velocity by the user.
    pub(crate) fn pushed(&mut self, model: &BodyModel, [before, after]: [&BodyState; 2]) {
        if self.open.is_some() {
            self.energy.outside += after.kinetic_energy(model) - before.kinetic_energy(model);
            self.momentum.outside.add(Momentum::of(model, after).minus(Momentum::of(model, before)));
        }
    }
}

impl World {
    /// Kinetic energy and momentum of all free bodies, in one pass.
    fn motion(&self) -> (f64, Momentum) {
        let (mut energy, mut sum) = (0.0, Momentum::default());
        for (_, body) in self.bodies() {
            let BodyKind::Free(mass) = body.kind() else { continue };
            let (pose, velocity) = (body.now.pose(), body.now.velocity);
            let linear = velocity.linear * mass.mass();
            let turning = pose.inverse_transform_vector(velocity.angular);
            let spin = mass.moments() * turning;
            // As `BodyState::kinetic_energy` has it, to the bit.
            energy += 0.5 * mass.mass() * velocity.linear.length_squared() + 0.5 * spin.dot(turning);
            let angular = pose.translation.cross(linear) + pose.transform_vector(spin);
            sum.add(Momentum { linear, angular });
        }
        energy += self.trees().map(|(_, tree)| tree.rotor_energy()).sum::<f64>();
        (energy, sum)
    }
}

impl StepperAccess<'_> {
    /// Opens the account of an advance.
    pub fn open_account(&mut self) {
        let same =
            |c: &Closed| c.revision == self.world.revision && c.time.to_bits() == self.world.time().to_bits();
        let (energy, momentum) = match self.world.account.closed.filter(same) {
            Some(closed) => {
                debug_assert_eq!(closed.energy.to_bits(), self.world.motion().0.to_bits(), "a change unseen");
                (closed.energy, closed.momentum)
            }
            None => self.world.motion(),
        };
        let springs = self.world.held_energy();
        self.world.account = Account {
            springs,
            elastic: None,
            open: Some(self.world.time()),
            energy: EnergyAccount { start: energy, end: energy, ..EnergyAccount::default() },
            momentum: MomentumAccount { start: momentum, end: momentum, ..MomentumAccount::default() },
            closed: None,
        };
    }

    /// Closes it at the world's present time, when all states are of that time.
    pub fn close_account(&mut self) -> (EnergyAccount, MomentumAccount) {
        let mut scratch = std::mem::take(&mut self.world.scratch);
        for cluster in 0..self.world.clusters.len() {
            self.world.book_cluster(cluster, self.world.time(), &mut scratch);
        }
        self.world.scratch = scratch;
        let mut account = self.world.account;
        let (gravity, time) = (self.world.gravity(), self.world.time());
        self.world.bodies().for_each(|(_, body)| account.flight(body, gravity, time));
        let (energy, momentum) = self.world.motion();
        (account.energy.end, account.momentum.end) = (energy, momentum);
        account.energy.springs = account.springs - self.world.held_energy();
        if let Some(elastic) = account.elastic {
            account.energy.stepping += elastic - account.energy.springs;
        }
        account.energy.flowed = account.energy.causes().into_iter().map(f64::abs).sum();
        let closed = Closed { revision: self.world.revision, time, energy, momentum };
        self.world.account = Account { closed: Some(closed), ..Account::default() };
        (account.energy, account.momentum)
    }

    /// Books what forces did in a step to a free body whose centre of mass is at `center` (m) in the open account.
    pub fn book_force(&mut self, center: DVec3, work: &ForceWork) {
        let account = &mut self.world.account;
        if account.open.is_some() {
            account.energy.forces += work.others;
            *account.elastic.get_or_insert(0.0) += work.springs;
            let mut both = Momentum::at(center, work.impulse);
            both.angular += work.moment;
            account.momentum.forces.add(both);
        }
    }

    /// Books the work of all contacts of a step in the open account, for those that know no single collisions.
    pub fn book_contact_work(&mut self, work: &ContactWork) {
        if self.world.account.open.is_some() {
            let energy = &mut self.world.account.energy;
            energy.impact += work.impact;
            energy.micro += work.micro;
            energy.friction += work.friction;
            energy.scripted += work.scripted;
            energy.stepping += work.stepping;
            energy.correction += work.correction;
        }
    }

    /// Books what the joints of a step did in the open account.
    pub fn book_joint_work(&mut self, work: &JointWork) {
        if self.world.account.open.is_some() {
            let Account { energy, momentum, elastic, .. } = &mut self.world.account;
            energy.joints += work.joints + work.limits;
            energy.drives += work.drives;
            energy.friction += work.friction;
            energy.stepping += work.stepping;
            if work.springs != 0.0 {
                *elastic.get_or_insert(0.0) += work.springs;
            }
            momentum.fixed.add(Momentum { linear: work.impulse, angular: work.moment });
        }
    }

    /// Books the impulse (N·s, at a point, m) that a fixed or scripted body exerted on a free one in the open account.
    pub fn book_support(&mut self, by: &BodyKind, point: DVec3, impulse: DVec3) {
        if self.world.account.open.is_some() {
            let exerted = Momentum::at(point, impulse);
            match by {
                BodyKind::Free(_) => {}
                BodyKind::Fixed => self.world.account.momentum.fixed.add(exerted),
                BodyKind::Scripted => self.world.account.momentum.scripted.add(exerted),
            }
        }
    }

    /// Books the moment of impulses (N·m·s) without force that a fixed or scripted body exerted on a free one.
    pub fn book_support_moment(&mut self, by: &BodyKind, moment: DVec3) {
        if self.world.account.open.is_some() {
            let exerted = Momentum { linear: DVec3::ZERO, angular: moment };
            match by {
                BodyKind::Free(_) => {}
                BodyKind::Fixed => self.world.account.momentum.fixed.add(exerted),
                BodyKind::Scripted => self.world.account.momentum.scripted.add(exerted),
            }
        }
    }

    /// Books one impulse in the open account, given what the two bodies are and their velocities at its point before and
    /// after it, m/s, for those that know these.
    pub fn book_collision(
        &mut self,
        collision: &Collision,
        kinds: [BodyKind; 2],
        before: [DVec3; 2],
        after: [DVec3; 2],
    ) {
        self.world.account.collision(collision, kinds, before, after);
    }
}
