//! Who pays for what opening overlaps has lifted: bodies slow down, so that energy does not rise.
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
//! | u | velocity of the script that carries an island, 0 if there is none | m/s, rad/s |
//!
//! # Formula
//!
//! ```text
//! island of bodies that touch:   owed = Σ (w − d),   T = Σ ½ |v − u|²_M,   v ← u + √(1 − min(owed, T)/T) (v − u)   if owed > 0
//! ```
//!
//! A body whose surface is curved moves along the tangent of its way and is lifted at the end of the step by ½ H″ (h ω)², with H its height over the turn: without
//! payment a rocking body would gain as much as it loses. All velocities of an island are scaled alike, so that contacts that stick, roll or
//! last still do.
//!
//! # Cost
//!
//! One search for islands where something was lifted; nothing otherwise.
//!
//! # Numerics
//!
//! Exact. First order in h, as the step: a rocking body loses energy at the rate h Ω² at most, Ω its frequency.
//!
//! # Failure
//!
//! What is lifted beyond the kinetic energy of an island, and what is not held by anything or by several scripts, is not paid: the account has it as correction.
//!
//! # Tested by
//!
//! `tests/time_energy.rs`

use super::stepper::TimeStepping;
use rigid_impulse::BodyKind;
use sim_math::{glam::DVec3, spatial::Motion};
use sim_world::World;

/// What bodies owe, J, by slot.
#[derive(Debug, Default)]
pub(super) struct Debts {
    owed: Vec<f64>,
    /// Bodies of the present island.
    members: Vec<u32>,
    /// By slot: is one of an island that was looked at.
    seen: Vec<bool>,
}

impl Debts {
    /// Nobody of so many owes anything.
    pub(super) fn clear(&mut self, slots: usize) {
        self.owed.clear();
        self.owed.resize(slots, 0.0);
    }

    pub(super) fn owe(&mut self, slot: u32, energy: f64) {
        if let Some(owed) = self.owed.get_mut(slot as usize) {
            *owed += energy;
        }
    }
}

/// Velocity at a place (m) of what a body with this centre (m) and velocity carries.
fn carried(center: DVec3, velocity: Motion, place: DVec3) -> Motion {
    Motion::new(velocity.angular, velocity.linear + velocity.angular.cross(place - center))
}

impl TimeStepping {
    /// Slows down the islands in which more was lifted than the step took.
    pub(super) fn repay(&mut self, world: &mut World) {
        let movable = |slot: &u32| self.pool[*slot as usize].is_movable();
        self.chosen.clear();
        let sites = (0..).zip(&self.sites.all);
        let touching =
            sites.filter(|(_, s)| s.gap <= self.params.touch && s.bodies.iter().any(movable));
        self.chosen.extend(touching.map(|(k, _)| k));
        self.islands_of_chosen();
        self.debts.seen.clear();
        self.debts.seen.resize(self.pool.len(), false);
        for island in 0..self.islands.len() {
            self.repay_island(world, island);
        }
    }

    fn repay_island(&mut self, world: &mut World, island: usize) {
        let (sites, debts) = (&self.sites.all, &mut self.debts);
        debts.members.clear();
        let mut owed = 0.0;
        let (mut held, mut carrier) = (false, None);
        for m in self.islands.contacts(island) {
            for slot in sites[self.chosen[*m as usize] as usize].bodies {
                if self.pool[slot as usize].is_movable() {
                    if !std::mem::replace(&mut debts.seen[slot as usize], true) {
                        debts.members.push(slot);
                        owed += debts.owed.get(slot as usize).copied().unwrap_or(0.0);
                    }
                    continue;
                }
                held = true;
                let Some((_, body)) = world.body_in_slot(slot) else { continue };
                let moves = *body.kind() == BodyKind::Scripted && body.state().velocity != Motion::ZERO;
                if moves && carrier.is_some_and(|other| other != slot) {
                    return;
                }
                carrier = carrier.or(moves.then_some(slot));
            }
        }
        if !(held && owed > 0.0) {
            return;
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
        let left = (1.0 - owed / kinetic).max(0.0).sqrt();
        if !left.is_finite() {
            return;
        }
        for &slot in &debts.members {
            let Some((id, body)) = world.body_in_slot(slot) else { continue };
            let carrier = at(body.state().pose().translation);
            world.slow_down(id, carrier + (body.state().velocity - carrier) * left, carrier);
        }
    }
}
