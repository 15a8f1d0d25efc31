//! Who pays for what opening overlaps has lifted: bodies slow down or go less far, so that energy does not rise.
//!
//! # Reference
//!
//! This project's own; the energy of a step is that of [`super::contact`].
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | w | what corrections of the step added to the potential of a body | J |
//! | d | ½ \|v⁺ − v\|²_M, what the length of the step took from it | J |
//! | A | fall of its potential on its straight way of the step, h v⁺, before corrections | J |
//! | u | velocity of the script that carries an island, 0 if there is none | m/s, rad/s |
//! | x₀, c | place at the start of the step; change of place by corrections | m |
//!
//! # Formula
//!
//! ```text
//! islands of bodies that touched or overlapped;   owed = Σ (w − d),   T = Σ ½ |v − u|²_M
//! 0 < owed ≤ T   v ← u + √(1 − owed/T) (v − u)
//! T < owed       v ← u,   x ← x₀ + α h v⁺ + α² c,   α = A/(2 w) within 0 and 1: where −A α + w α² is least
//! ```
//!
//! A body whose surface is curved moves along the tangent of its way and is lifted at the end of the step by w = ½ H″ (h ω)², with H its potential over the turn.
//! Without payment a rocking body would gain that much. All velocities of an island are scaled alike, so that contacts that stick, roll or last still do. Where
//! a step is too long for the rocking (h Ω above 2, Ω its frequency), the body would swing higher with every step: it goes down to the lowest place of its way instead, and
//! so comes to rest.
//!
//! # Cost
//!
//! One search for islands where something was lifted, one more detection where bodies go less far; nothing otherwise.
//!
//! # Numerics
//!
//! Payment is exact. First order in h, as the step: a rocking body loses energy at the rate h Ω² at most.
//!
//! # Failure
//!
//! What is not held by anything, and what several scripts hold, does not pay: the account has it as correction.
//!
//! # Tested by
//!
//! `tests/time_energy.rs`

use super::{sites::Site, stepper::TimeStepping};
use rigid_impulse::BodyKind;
use sim_math::{Pose, glam::DVec3, spatial::Motion};
use sim_world::World;

/// A body that contacts moved in the step.
#[derive(Debug, Clone, Copy)]
struct Moved {
    /// Pose of the centre of mass at the start of the step.
    start: Pose,
    /// h v⁺, m.
    way: DVec3,
}

/// What bodies owe after a step, by slot.
#[derive(Debug, Default)]
pub(super) struct Debts {
    /// w − d and w, J.
    owed: Vec<[f64; 2]>,
    moved: Vec<Option<Moved>>,
    /// Pairs of bodies that touched or overlapped.
    met: Vec<[u32; 2]>,
    /// Bodies of the present island.
    pub(super) members: Vec<u32>,
    /// Is one of an island that was looked at.
    seen: Vec<bool>,
}

impl Debts {
    /// Nobody of so many owes anything.
    pub(super) fn clear(&mut self, slots: usize) {
        self.owed.clear();
        self.owed.resize(slots, [0.0; 2]);
        self.moved.clear();
        self.moved.resize(slots, None);
        self.met.clear();
    }

    /// A body was moved by its contacts from its pose at the start of the step along its way (m), and lost energy (J) to the length of the step.
    pub(super) fn carried(&mut self, slot: usize, start: Pose, way: DVec3, lost: f64) {
        self.owed[slot][0] -= lost;
        self.moved[slot] = Some(Moved { start, way });
    }

    /// A body was lifted by this energy, J.
    pub(super) fn lifted(&mut self, slot: u32, energy: f64) {
        if let Some(owed) = self.owed.get_mut(slot as usize) {
            owed[0] += energy;
            owed[1] += energy;
        }
    }

    /// Remembers who is closer than `touch` (m).
    pub(super) fn meet(&mut self, sites: &[Site], touch: f64) {
        self.met.extend(sites.iter().filter(|site| site.gap <= touch).map(|site| site.bodies));
    }
}

/// Velocity at a place (m) of what a body with this centre (m) and velocity carries.
fn carried(center: DVec3, velocity: Motion, place: DVec3) -> Motion {
    Motion::new(velocity.angular, velocity.linear + velocity.angular.cross(place - center))
}

impl TimeStepping {
    /// Slows down the islands in which more was lifted than the step took; true if bodies were moved.
    pub(super) fn repay(&mut self, world: &mut World) -> bool {
        let (pool, debts) = (&self.pool, &mut self.debts);
        self.islands.find(pool.len(), debts.met.iter().copied(), |slot| pool[slot as usize].is_movable());
        debts.seen.clear();
        debts.seen.resize(pool.len(), false);
        let mut any = false;
        for island in 0..self.islands.len() {
            any |= self.repay_island(world, island);
        }
        any
    }

    fn repay_island(&mut self, world: &mut World, island: usize) -> bool {
        let debts = &mut self.debts;
        debts.members.clear();
        let (mut owed, mut held, mut carrier) = (0.0, false, None);
        for m in self.islands.contacts(island) {
            for slot in debts.met[*m as usize] {
                if self.pool[slot as usize].is_movable() {
                    if !std::mem::replace(&mut debts.seen[slot as usize], true) {
                        debts.members.push(slot);
                        owed += debts.owed[slot as usize][0];
                    }
                    continue;
                }
                held = true;
                let Some((_, body)) = world.body_in_slot(slot) else { continue };
                let moves = *body.kind() == BodyKind::Scripted && body.state().velocity != Motion::ZERO;
                if moves && carrier.is_some_and(|other| other != slot) {
                    return false;
                }
                carrier = carrier.or(moves.then_some(slot));
            }
        }
        if !(held && owed > 0.0) {
            return false;
        }
        let field = carrier.and_then(|slot| world.body_in_slot(slot)).map(|(_, body)| {
            let state = body.state();
            (state.pose().translation, state.velocity)
        });
        let at = |place: DVec3| field.map_or(Motion::ZERO, |(center, v)| carried(center, v, place));
        let mut kinetic = 0.0;
        for &slot in &debts.members {
            let Some((_, body)) = world.body_in_slot(slot) else { continue };
            let mut state = *body.state();
            state.velocity -= at(state.pose().translation);
            kinetic += state.kinetic_energy();
        }
        let left = if kinetic > 0.0 { (1.0 - owed / kinetic).max(0.0).sqrt() } else { 0.0 };
        if !left.is_finite() {
            return false;
        }
        for &slot in &debts.members {
            let Some((id, body)) = world.body_in_slot(slot) else { continue };
            let carrier = at(body.state().pose().translation);
            world.slow_down(id, carrier + (body.state().velocity - carrier) * left, carrier);
        }
        left <= 0.0 && carrier.is_none() && self.go_back(world)
    }

    /// Takes the bodies of an island back to the lowest place of their way.
    fn go_back(&mut self, world: &mut World) -> bool {
        let debts = &self.debts;
        let (mut lifted, mut fallen) = (0.0, 0.0);
        for &slot in &debts.members {
            let Some((_, body)) = world.body_in_slot(slot) else { continue };
            lifted += debts.owed[slot as usize][1];
            if let Some(moved) = debts.moved[slot as usize] {
                fallen += body.mass() * (world.gravity() + body.pull()).dot(moved.way);
            }
        }
        let share = (fallen / (2.0 * lifted)).clamp(0.0, 1.0);
        for &slot in &debts.members {
            let Some(Moved { start, way }) = debts.moved[slot as usize] else { continue };
            let Some((id, body)) = world.body_in_slot(slot) else { continue };
            let mut state = *body.state();
            let now = *state.pose();
            let put = now.translation - start.translation - way;
            let near = if start.rotation.dot(now.rotation) < 0.0 { -now.rotation } else { now.rotation };
            let pose = Pose::new(
                start.translation + way * share + put * (share * share),
                (start.rotation * (1.0 - share) + near * share).normalize(),
            );
            if state.set_pose(pose).is_ok() {
                self.report.solver.lifted += world.put_right(id, state, false);
            }
        }
        true
    }
}
