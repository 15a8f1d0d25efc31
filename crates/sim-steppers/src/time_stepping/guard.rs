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
//! | c | factor of the velocities | - |
//!
//! # Formula
//!
//! ```text
//! contacts give       G = T₁ − T₀ − W
//! G ≤ B               B ← min(B − G, Σ F d)
//! G > B               u = v − v̄,   v ← v̄ + c u,   c² = 1 − (G − B)/T(u);   what no velocity has left is owed: B ← −rest
//! v̄                   zero on what stands still; without it the rigid motion that has the momentum and angular momentum of the island
//! ```
//!
//! An island is what the contacts of the step join. B is kept by the contacts, in the ratio of F d, so that it stays with them when islands part. E + B of all
//! bodies never rises but by work from outside, B is never above what was taken before, and starts at zero: so E(t) ≤ E(0) + work. All velocities of an
//! island change by one factor: where nothing approached nothing approaches afterwards, and what stuck sticks.
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

use super::flight::Flyer;
use constraint_dynamics::soft::{SoftBodies, SoftManifold};
use rigid_impulse::{Body as RigidState, BodyKind};
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    spatial::Motion,
};
use sim_world::World;

/// Rounding, as a share of the kinetic energy.
const ROUNDING: f64 = 1e-12;

/// Where a body comes to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) pose: Pose,
    pub(super) velocity: Motion,
}

/// Sums over an island.
#[derive(Debug, Clone, Copy, Default)]
struct Island {
    /// Kinetic energy at the end, and what contacts gave.
    kinetic: f64,
    given: f64,
    stored: f64,
    capacity: f64,
    /// It rests on what stands still; it touches what moves by itself.
    is_held: bool,
    is_driven: bool,
    mass: f64,
    momentum: DVec3,
    moment: DVec3,
    /// Angular momentum about the origin, then about the centre; inertia alike.
    angular: DVec3,
    inertia: DMat3,
    /// What becomes of velocities: factor, centre, v̄ there and its rotation.
    factor: f64,
    center: DVec3,
    linear: DVec3,
    turn: DVec3,
}

/// Workspace.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// By slot: another slot of the island.
    parents: Vec<u32>,
    islands: Vec<Island>,
}

impl Guard {
    fn root(&self, mut slot: u32) -> usize {
        while self.parents[slot as usize] != slot {
            slot = self.parents[slot as usize];
        }
        slot as usize
    }

    /// Takes from velocities what contacts gave too much, and returns how much, J. `arrivals`: by slot, of bodies that contacts push.
    pub(super) fn check(
        &mut self,
        world: &World,
        flyers: &[Flyer],
        bodies: &SoftBodies,
        manifolds: &mut [SoftManifold],
        arrivals: &mut [Option<Arrival>],
        h: f64,
    ) -> f64 {
        self.parents.clear();
        self.parents.extend(0..flyers.len() as u32);
        self.islands.clear();
        self.islands.resize(flyers.len(), Island::default());
        let acts = |m: &SoftManifold| !m.is_empty() && m.outcome().impulse != DVec3::ZERO;
        let movable = |m: &SoftManifold| m.bodies().map(|slot| bodies.is_movable(slot as usize));
        for m in manifolds.iter().filter(|m| acts(m) && movable(m) == [true; 2]) {
            let [a, b] = m.bodies().map(|slot| self.root(slot) as u32);
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
                let moving = bodies.velocity(m.bodies()[1 - side] as usize) != Motion::ZERO;
                *(if moving { &mut island.is_driven } else { &mut island.is_held }) = true;
            }
        }
        for (slot, arrival) in arrivals.iter().enumerate() {
            let (Some(arrival), Some((_, body))) = (arrival, world.body_in_slot(slot as u32)) else {
                continue;
            };
            let island = self.root(slot as u32);
            self.islands[island].add(body.state(), &flyers[slot], arrival, h);
        }
        let mut taken = 0.0;
        for island in &mut self.islands {
            taken += island.settle();
        }
        for (slot, arrival) in arrivals.iter_mut().enumerate() {
            let Some(arrival) = arrival else { continue };
            let island = &self.islands[self.root(slot as u32)];
            if island.factor < 1.0 {
                let rigid = island.linear + island.turn.cross(arrival.pose.translation - island.center);
                let v = &mut arrival.velocity;
                v.linear = rigid + (v.linear - rigid) * island.factor;
                v.angular = island.turn + (v.angular - island.turn) * island.factor;
            }
        }
        for m in manifolds.iter_mut().filter(|m| acts(m)) {
            let Some(side) = movable(m).iter().position(|moves| *moves) else { continue };
            let island = &self.islands[self.root(m.bodies()[side])];
            let share = if island.capacity > 0.0 { capacity(m, h) / island.capacity } else { 0.0 };
            m.set_stored(share * island.stored);
        }
        taken
    }
}

/// Force times depth of a manifold, J.
fn capacity(m: &SoftManifold, h: f64) -> f64 {
    m.impulses().iter().zip(m.gaps()).map(|(p, gap)| p / h * (-gap).max(0.0)).sum()
}

impl Island {
    /// Adds a body.
    fn add(&mut self, state: &RigidState, flyer: &Flyer, arrival: &Arrival, h: f64) {
        let BodyKind::Free(mass) = state.kind() else { return };
        let Arrival { pose, velocity } = arrival;
        let inertia = mass.inertia(pose.rotation);
        let spin = inertia * velocity.angular;
        let kinetic = 0.5 * (mass.mass() * velocity.linear.length_squared() + spin.dot(velocity.angular));
        let moved = pose.translation - state.pose().translation;
        let mut work = mass.mass() * flyer.acceleration.dot(moved);
        if flyer.driven {
            let linear = (flyer.kick.linear - flyer.acceleration * h) * mass.mass();
            let angular = mass.inertia(state.pose().rotation) * flyer.kick.angular;
            let mean = (flyer.start + *velocity) * 0.5;
            work += linear.dot(mean.linear) + angular.dot(mean.angular);
        }
        self.kinetic += kinetic;
        self.given += kinetic - state.kinetic_energy() - work;
        let momentum = velocity.linear * mass.mass();
        let at = pose.translation;
        self.mass += mass.mass();
        self.momentum += momentum;
        self.moment += at * mass.mass();
        self.angular += at.cross(momentum) + spin;
        self.inertia += inertia + steiner(mass.mass(), at);
    }

    /// Finds the factor of the velocities and what is stored then; returns what is taken, J.
    fn settle(&mut self) -> f64 {
        self.factor = 1.0;
        let excess = self.given - self.stored;
        self.stored = (-excess).clamp(-self.capacity, self.capacity);
        if excess <= ROUNDING * self.kinetic || self.is_driven || self.mass <= 0.0 {
            self.stored = self.stored.max(0.0);
            return 0.0;
        }
        let mut inner = self.kinetic;
        if !self.is_held {
            self.center = self.moment / self.mass;
            self.linear = self.momentum / self.mass;
            let spin = self.angular - self.center.cross(self.momentum);
            let inertia = self.inertia - steiner(self.mass, self.center);
            let turn = inertia.inverse() * spin;
            self.turn = if turn.is_finite() { turn } else { DVec3::ZERO };
            inner -= 0.5 * (self.momentum.dot(self.linear) + spin.dot(self.turn));
        }
        let taken = excess.min(inner.max(0.0));
        self.factor = if inner > 0.0 { (1.0 - taken / inner).max(0.0).sqrt() } else { 1.0 };
        self.stored = (taken - excess).max(-self.capacity);
        taken
    }
}

/// Inertia of a point mass about the origin.
fn steiner(mass: f64, at: DVec3) -> DMat3 {
    let outer = DMat3::from_cols(at * at.x, at * at.y, at * at.z);
    (DMat3::from_diagonal(DVec3::splat(at.length_squared())) - outer) * mass
}
