//! Soft contacts give back no more energy than they took.
//!
//! # Reference
//!
//! Own.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | T₀, T₁ | kinetic energy of the bodies of an island before and after the step | J |
//! | W | work of gravity, constant forces, springs and dampers on them in the step | J |
//! | B | energy stored in the contacts of the island: what they took before, at most force times depth | J |
//! | Δ | what the contacts of the step changed velocities by | m/s, rad/s |
//! | α | share of their impulses that is taken back | - |
//!
//! # Formula
//!
//! ```text
//! contacts give       G = T₁ − T₀ − W
//! G ≤ B               B ← min(B − G, Σ F d)
//! G > B               v ← v − α Δ,   T₁ − α v·MΔ + α² Δ·MΔ/2 = T₁ − (G − B);   α ≤ v·MΔ/Δ·MΔ and 1
//! what is left        ω ← c ω, v_g ← c v_g,  c² = 1 − rest/T(ω, v_g),  where the island lies on what stands still; v_g is along gravity
//! what is left then   is owed by the bodies, B ← −rest, until contacts take or can give it
//! ```
//!
//! An island is what the contacts of the step join. B is kept by the contacts, in the ratio of F d, so that it stays with them when islands part. E + B of all
//! bodies never rises but by work from outside, and B starts at zero: E(t) ≤ E(0) + work, but for what is owed. Contacts get the same share of
//! their impulses less: momentum is kept, and what slides without friction keeps its speed. Where that is not enough, rocking and spinning are slowed.
//!
//! # Cost
//!
//! Some hundred operations per body that contacts push.
//!
//! # Numerics
//!
//! An excess below 10⁻¹² of T₁ is rounding, and left.
//!
//! # Failure
//!
//! None. Islands that touch a scripted body that moves are left alone: what it gives is not known to be too much.
//!
//! # Tested by
//!
//! `tests/time_soft_energy.rs`

use super::flight::BodyStep;
use constraint_dynamics::soft::{SoftBodies, SoftManifold};
use rigid_impulse::BodyKind;
use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_world::{Body, World};

/// Rounding, as a share of the kinetic energy.
const ROUNDING: f64 = 1e-12;

/// Where a body comes to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) pose: Pose,
    pub(super) velocity: Motion,
    /// Δ.
    pub(super) change: Motion,
}

/// Sums over an island.
#[derive(Debug, Clone, Copy, Default)]
struct Island {
    /// Kinetic energy at the end, and what contacts gave.
    kinetic: f64,
    given: f64,
    stored: f64,
    capacity: f64,
    /// It touches what stands still; what moves by itself.
    is_held: bool,
    is_driven: bool,
    /// Energy of rotation and of motion along gravity, once impulses are taken back.
    inner: f64,
    factor: f64,
    bodies: f64,
    /// v·MΔ and Δ·MΔ.
    along: f64,
    squared: f64,
    share: f64,
}

/// Workspace.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// By slot: another slot of the island.
    parents: Vec<u32>,
    islands: Vec<Island>,
    /// By slot: what the body owes, J.
    pub(super) owed: Vec<f64>,
}

impl Guard {
    fn root(&self, mut slot: u32) -> usize {
        while self.parents[slot as usize] != slot {
            slot = self.parents[slot as usize];
        }
        slot as usize
    }

    /// Takes from velocities what contacts gave too much, and returns how much, J. `joined`: bodies of hits that no manifold tells of; `arrivals`: by
    /// slot, of bodies that contacts push.
    #[allow(clippy::too_many_arguments, reason = "all that a step has")]
    pub(super) fn check(
        &mut self,
        world: &World,
        body_steps: &[BodyStep],
        bodies: &SoftBodies,
        manifolds: &mut [SoftManifold],
        joined: &[[u32; 2]],
        arrivals: &mut [Option<Arrival>],
        h: f64,
    ) -> f64 {
        self.parents.clear();
        self.parents.extend(0..body_steps.len() as u32);
        self.owed.resize(body_steps.len(), 0.0);
        self.islands.clear();
        self.islands.resize(body_steps.len(), Island::default());
        let acts = |m: &SoftManifold| !m.is_empty() && m.outcome().impulse != DVec3::ZERO;
        let are_movable = |pair: [u32; 2]| pair.map(|slot| bodies.is_movable(slot as usize));
        let movable = |m: &SoftManifold| are_movable(m.bodies());
        let acting = manifolds.iter().filter(|m| acts(m)).map(SoftManifold::bodies);
        for pair in acting.chain(joined.iter().copied()).filter(|pair| are_movable(*pair) == [true; 2]) {
            let [a, b] = pair.map(|slot| self.root(slot) as u32);
            self.parents[a.max(b) as usize] = a.min(b);
        }
        for m in manifolds.iter().filter(|m| acts(m)) {
            let (Some(side), moves) = (movable(m).iter().position(|moves| *moves), movable(m)) else {
                continue;
            };
            let island = self.root(m.bodies()[side]);
            let island = &mut self.islands[island];
            island.stored += m.stored();
            island.capacity += capacity(m, h);
            if moves != [true; 2] {
                island.lies_on(bodies, m.bodies()[1 - side]);
            }
        }
        for pair in joined {
            let moves = are_movable(*pair);
            let Some(side) = moves.iter().position(|moves| *moves).filter(|_| moves != [true; 2]) else {
                continue;
            };
            let island = self.root(pair[side]);
            self.islands[island].lies_on(bodies, pair[1 - side]);
        }
        for (slot, arrival) in arrivals.iter().enumerate() {
            let (Some(arrival), Some((_, body))) = (arrival, world.body_in_slot(slot as u32)) else {
                continue;
            };
            let island = self.root(slot as u32);
            self.islands[island].add(body, &body_steps[slot], arrival, h);
            self.islands[island].stored -= self.owed[slot];
            self.islands[island].bodies += 1.0;
        }
        let mut taken = 0.0;
        for island in &mut self.islands {
            taken += island.settle();
        }
        let down = world.gravity().normalize_or_zero();
        for (slot, arrival) in arrivals.iter_mut().enumerate() {
            let Some(arrival) = arrival else { continue };
            let root = self.root(slot as u32);
            let island = &mut self.islands[root];
            arrival.velocity -= arrival.change * island.share;
            let kind = world.body_in_slot(slot as u32).map(|(_, body)| *body.kind());
            if let (true, Some(BodyKind::Free(mass))) = (island.stored < 0.0 && island.is_held, kind) {
                let Motion { angular, linear } = arrival.velocity;
                let (spin, along) = (mass.inertia(arrival.pose.rotation) * angular, linear.dot(down));
                island.inner += 0.5 * (spin.dot(angular) + mass.mass() * along * along);
            }
        }
        for island in self.islands.iter_mut().filter(|island| island.inner > 0.0) {
            let more = (-island.stored).min(island.inner);
            island.factor = (1.0 - more / island.inner).max(0.0).sqrt();
            island.stored += more;
            taken += more;
        }
        for (slot, arrival) in arrivals.iter_mut().enumerate() {
            let Some(arrival) = arrival else { continue };
            let island = &self.islands[self.root(slot as u32)];
            if island.inner > 0.0 {
                let v = &mut arrival.velocity;
                v.angular *= island.factor;
                v.linear -= down * (v.linear.dot(down) * (1.0 - island.factor));
            }
            self.owed[slot] = if island.stored < 0.0 { -island.stored / island.bodies } else { 0.0 };
        }
        for m in manifolds.iter_mut().filter(|m| acts(m)) {
            let Some(side) = movable(m).iter().position(|moves| *moves) else { continue };
            let island = &self.islands[self.root(m.bodies()[side])];
            let share = if island.capacity > 0.0 { capacity(m, h) / island.capacity } else { 0.0 };
            m.set_stored(share * island.stored.max(0.0));
        }
        taken
    }
}

/// Force times depth of a manifold, J.
fn capacity(m: &SoftManifold, h: f64) -> f64 {
    m.impulses().iter().zip(m.gaps()).map(|(p, gap)| p / h * (-gap).max(0.0)).sum()
}

impl Island {
    /// It touches a body that nothing moves.
    fn lies_on(&mut self, bodies: &SoftBodies, slot: u32) {
        let moving = bodies.velocity(slot as usize) != Motion::ZERO;
        *(if moving { &mut self.is_driven } else { &mut self.is_held }) = true;
    }

    /// Adds a body.
    fn add(&mut self, body: &Body, body_step: &BodyStep, arrival: &Arrival, h: f64) {
        let (BodyKind::Free(mass), state) = (body.kind(), body.state()) else { return };
        let Arrival { pose, velocity, change } = arrival;
        let inertia = mass.inertia(pose.rotation);
        let spin = inertia * velocity.angular;
        let kinetic = 0.5 * (mass.mass() * velocity.linear.length_squared() + spin.dot(velocity.angular));
        let moved = pose.translation - state.pose().translation;
        let mut work = mass.mass() * body_step.acceleration.dot(moved);
        if body_step.driven {
            let linear = (body_step.force_change.linear - body_step.acceleration * h) * mass.mass();
            let angular = mass.inertia(state.pose().rotation) * body_step.force_change.angular;
            let mean = (body_step.start + *velocity) * 0.5;
            work += linear.dot(mean.linear) + angular.dot(mean.angular);
        }
        self.kinetic += kinetic;
        self.given += kinetic - body.kinetic_energy() - work;
        let turned = inertia * change.angular;
        self.along += mass.mass() * velocity.linear.dot(change.linear) + velocity.angular.dot(turned);
        self.squared += mass.mass() * change.linear.length_squared() + change.angular.dot(turned);
    }

    /// Finds the share that is taken back and what is stored then; returns what is taken, J.
    fn settle(&mut self) -> f64 {
        let excess = self.given - self.stored;
        self.stored = (-excess).clamp(0.0, self.capacity);
        if excess <= ROUNDING * self.kinetic || self.is_driven {
            return 0.0;
        }
        if self.along > 0.0 && self.squared > 0.0 {
            // The lesser root; at most the least energy, and at most all impulses.
            let root = (self.along * self.along - 2.0 * self.squared * excess).max(0.0).sqrt();
            self.share = (2.0 * excess / (self.along + root)).min(self.along / self.squared).min(1.0);
        }
        let taken = self.share * (self.along - 0.5 * self.share * self.squared);
        self.stored = (taken - excess).min(0.0);
        taken
    }
}
