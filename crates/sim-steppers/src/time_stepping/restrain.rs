//! Impulses that are not quite those of the contact law, and would give energy, are scaled back.
//!
//! # Reference
//!
//! This project's own; the energy of a step is that of [`super::contact`].
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | p | impulses of an island that its law left unsolved, or as well as was asked | N·s |
//! | c | change of velocity by forces | m/s, rad/s |
//! | u, u₁, u⁺ | velocities of contacts before the step, with c, and with the impulses | m/s |
//!
//! # Formula
//!
//! ```text
//! ΔE(s) = s p·u + ½ s² p·(u⁺ − u₁) − ½ |c|²_M,   with s p in place of p;   ΔE(0) ≤ 0
//! ΔE(1) > 0:   s = (−b + √(b² + w k))/w,   b = p·u,  w = p·(u⁺ − u₁),  k = |c|²_M:   ΔE(s) = 0
//! ```
//!
//! # Cost
//!
//! Some fifty multiplications per contact; nothing for islands that the law solved.
//!
//! # Numerics
//!
//! Gains below 10⁻¹⁰ of the energy of the island are rounding and left alone. Impulses in their cones stay there.
//!
//! # Failure
//!
//! None: contacts that push less overlap, which is put right afterwards.
//!
//! # Tested by
//!
//! `tests/time_energy.rs`

use super::state::{Problem, StepBodies};
use constraint_dynamics::pool;
use sim_math::spatial::Motion;
use sim_world::World;

/// Share of the energy of an island that is rounding.
const ROUNDING: f64 = 1e-10;

/// Scales back the impulses of contacts `start..end`, which are an island and have been applied, if they give energy.
pub(super) fn restrain(
    bodies: &mut StepBodies,
    problem: &mut Problem,
    world: &World,
    start: usize,
    end: usize,
) {
    let (mut b, mut w) = (0.0, 0.0);
    for m in start..end {
        let (contact, p) = (&problem.contacts[m], problem.impulses[m]);
        // What surfaces that move give is no gain.
        b += p.truncate().dot(contact.bias.truncate());
        let p = contact.frame * p;
        let relative = |of: &dyn Fn(usize) -> Motion| {
            let at = |slot: u32| {
                let v = of(slot as usize);
                v.linear + v.angular.cross(contact.point - bodies.pool[slot as usize].center)
            };
            at(contact.bodies[0]) - at(contact.bodies[1])
        };
        let before = |slot: usize| bodies.body_steps[slot].start;
        let pushed = |slot: usize| {
            bodies.pool[slot].velocity - bodies.body_steps[slot].start - bodies.body_steps[slot].force_change
        };
        b += p.dot(relative(&before));
        w += p.dot(relative(&pushed));
    }
    let (mut k, mut energy) = (0.0, 0.0);
    let mut members = std::mem::take(&mut problem.memory.debts.members);
    members.clear();
    members.extend(problem.contacts[start..end].iter().flat_map(|c| c.bodies));
    members.sort_unstable();
    members.dedup();
    for &slot in members.iter().filter(|slot| bodies.pool[**slot as usize].is_movable()) {
        let Some((_, body)) = world.body_in_slot(slot) else { continue };
        let (body_step, mut state) = (&bodies.body_steps[slot as usize], *body.state());
        state.velocity = body_step.start;
        energy += state.kinetic_energy(body.model());
        state.velocity = body_step.force_change;
        k += 2.0 * state.kinetic_energy(body.model());
    }
    problem.memory.debts.members = members;
    let gain = b + 0.5 * w - 0.5 * k;
    if !(gain > ROUNDING * (energy + k) && w > 0.0) {
        return;
    }
    let share = ((b * b + w * k).sqrt() - b) / w;
    for m in start..end {
        let p = &mut problem.impulses[m];
        pool::apply(&mut bodies.pool, &problem.contacts[m..=m], &[*p * (share - 1.0)]);
        *p *= share;
    }
}
