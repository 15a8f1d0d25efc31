//! Energy that collision phases lend to bodies, and the books of their impulses.
//!
//! # Reference
//!
//! Ours. Micro-collisions do not obey a law of impact (Mirtich 1996, section 3.5): each may add energy, and what a body was given it is to give back.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | p | impulse of a contact in a phase, `p_n` along its normal | N·s |
//! | u, v | relative velocity at the contact before and after the phase | m/s |
//! | ε | collision envelope | m |
//! | `lent` | work that phases have done on a body, all of it and that along normals; at least −C | J |
//! | C | most of it: `CREDIT` m g ε of all work, `NORMAL` times that along normals | J |
//!
//! # Formula
//!
//! ```text
//! work:    Σ p·(u + v)/2, the change of kinetic energy to the bit;   along normals:  Σ p_n (u_n + v_n)/2
//! limit:   p ← λ p with the largest λ ≤ 1 for which both are at most what bodies may borrow:  Σ (C − lent) over bodies that got impulses
//!          and no smaller than parting allows
//! room:    E = Σ (`ROOM` `CREDIT` m g ε − lent, or 0) over the two bodies of a pair: no contact is lifted by more (see `touch`)
//! note:    work ≥ 0 goes to the bodies in proportion to C − lent, work < 0 to C + lent, what is beyond the sum of them to their masses, or to nobody
//! ```
//!
//! Both, because what slides loses energy by friction: were that to pay back what hops gave, hops could give without end. What rocks without slip gains along
//! normals what friction takes at the same time, and the other way round: the sum keeps that in bounds.
//!
//! # Cost
//!
//! Two relative velocities for each contact of a phase.
//!
//! # Numerics
//!
//! All impulses of a phase act at once, and work at the mean of the velocities before and after all of them. One after the other, what they do to each other
//! would be work along the normal or of friction by their order alone: what slides would seem to gain energy along its normals in every hop.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `tests/lent.rs`, `tests/sliding.rs`, `the_largest_share_does_the_work_that_is_left`

use super::{
    check,
    phase::Phase,
    respond::Outcome,
    state::{Books, Response, Setup, Tables},
    touch::{HOP, LOW, Member, Touch},
};
use crate::push::Push;
use rigid_impulse::{BodyState, CollisionKind};
use sim_math::glam::DVec3;
use sim_world::{Collision, StepperAccess, World};

/// Most energy that phases lend to a body, as a share of what lifts it through the envelope: it is lifted from contact to where contacts are no longer
/// low, and hops there. Less would leave it to creep where it is, at sixteen times the number of events.
const CREDIT: f64 = LOW + 2.0 * HOP;
/// The same of work along normals, as a multiple of it: what sticks on a slope hops uphill and back, and would creep with less.
const NORMAL: f64 = 2.0;
/// From here on contacts are turned back, not lifted, in the same unit. What is held within a phase keeps all of its impulses, whatever the work, and
/// so a limit of the work alone does not hold for stacks.
const ROOM: f64 = 1.5;

/// Of all work, and of that along normals.
const LIMITS: [f64; 2] = [1.0, NORMAL];

/// Work that phases did on bodies, by slot, J: all of it, and that along normals.
#[derive(Debug, Clone, Default)]
pub(super) struct Lent(pub(super) Vec<[f64; 2]>);

impl Lent {
    /// What a body has to give back; nothing is known of one that no phase had.
    fn of(&self, slot: u32) -> [f64; 2] {
        self.0.get(slot as usize).copied().unwrap_or_default()
    }

    /// What two bodies have to give back, J; at least zero.
    pub(super) fn of_pair(&self, slots: [u32; 2]) -> f64 {
        let [a, b] = slots.map(|slot| self.of(slot));
        (a[0] + b[0]).max(a[1] + b[1]).max(0.0)
    }

    /// Notes the work of a phase (J): who may borrow more or has more to give back has more of it. `kind` 0 is all work, 1 that along normals.
    fn note(&mut self, phase: &Phase, kind: usize, work: f64, credit: &dyn Fn(&Member) -> f64) {
        let sign = if work < 0.0 { -1.0 } else { 1.0 };
        let borrowers = || phase.members.iter().filter(|m| m.borrows());
        let room =
            |lent: &Self, m: &Member| (LIMITS[kind] * credit(m) - sign * lent.of(m.slot)[kind]).max(0.0);
        let total: f64 = borrowers().map(|m| room(self, m)).sum();
        let part = if total > 0.0 { (work.abs() / total).min(1.0) } else { 0.0 };
        let mass: f64 = borrowers().map(|m| 1.0 / m.inverse_mass).sum();
        // Only what parting asks for goes beyond what they may borrow; nobody saves up more than it may borrow.
        let beyond = if sign > 0.0 { (work - total).max(0.0) / mass } else { 0.0 };
        for member in borrowers() {
            let noted = sign * part * room(self, member) + beyond / member.inverse_mass;
            self.0[member.slot as usize][kind] += noted;
        }
    }

    /// What two bodies may still borrow, J; at least zero.
    pub(super) fn room(&self, world: &World, slots: [u32; 2], envelope: f64) -> f64 {
        let of = |slot: u32| {
            let [all, normal] = self.of(slot);
            (ROOM * credit(world, slot, envelope) - all.max(normal)).max(0.0)
        };
        slots.into_iter().map(of).sum()
    }

    /// Nothing is known of a body any more.
    pub(super) fn forget(&mut self, slot: u32) {
        if let Some(lent) = self.0.get_mut(slot as usize) {
            *lent = [0.0; 2];
        }
    }
}

/// Most energy that phases lend to a body, J: none to one that does not move freely.
fn credit(world: &World, slot: u32, envelope: f64) -> f64 {
    let Some((_, body)) = world.body_in_slot(slot).filter(|(_, b)| b.is_free()) else { return 0.0 };
    let weight = body.mass() * body.piece().acceleration();
    if weight.is_finite() { CREDIT * envelope * weight } else { 0.0 }
}

/// Work of a share λ of the impulses of a phase: `first` λ + `second` λ², J.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    first: f64,
    second: f64,
}

impl Work {
    fn at(&self, share: f64) -> f64 {
        (self.first + self.second * share) * share
    }

    /// The largest share up to 1 that does no more work than `left` ≥ 0, J.
    fn share(&self, left: f64) -> f64 {
        let Self { first, second } = *self;
        if first + second <= left {
            return 1.0;
        }
        let root = (first * first + 4.0 * second * left).max(0.0).sqrt();
        // Without a difference of equal numbers in either branch.
        let share = if first >= 0.0 { 2.0 * left / (first + root) } else { (root - first) / (2.0 * second) };
        // Also for NaN: no work at all.
        if share > 0.0 { share.min(1.0) } else { 0.0 }
    }
}

/// The impulse of a contact as the books have it.
fn push_of(touch: &Touch) -> Push {
    Push {
        point: touch.frame.point,
        normal: touch.frame.axes.z_axis,
        separation: touch.separation,
        impulse: touch.frame.to_world(touch.impulse),
    }
}

/// Gives an impulse (N·s) at a point (m) to the first of two members, and the opposite one to the second.
fn apply(states: &mut [BodyState], phase: &Phase, members: [u32; 2], point: DVec3, impulse: DVec3) {
    for (k, impulse) in members.into_iter().zip([impulse, -impulse]) {
        let state = &mut states[k as usize];
        let arm = point - state.pose().translation;
        phase.members[k as usize].push(state, arm, impulse);
    }
}

/// Limits the work of a phase to what its bodies may borrow, and notes what they did.
pub(super) fn lend(setup: &Setup, response: &mut Response, phase: &mut Phase, world: &World) {
    let envelope = setup.params.envelope();
    let credit = |m: &Member| credit(world, m.slot, envelope);
    if response.lent.0.len() < world.body_slots() {
        response.lent.0.resize(world.body_slots(), [0.0; 2]);
    }
    let mut left = [0.0; 2];
    for member in phase.members.iter().filter(|m| m.borrows()) {
        let (lent, credit) = (response.lent.of(member.slot), credit(member));
        for k in 0..2 {
            left[k] += (LIMITS[k] * credit - lent[k]).max(0.0);
        }
    }
    let mut works = [Work::default(); 2];
    let mut least = 0.0_f64;
    for touch in phase.touches.iter().filter(|t| t.active) {
        let (u, v) = (touch.first_velocity(&phase.members), touch.velocity(&phase.members));
        let p = touch.impulse;
        for (work, p) in works.iter_mut().zip([p, DVec3::Z * p.z]) {
            work.first += p.dot(u);
            work.second += 0.5 * p.dot(v - u);
        }
        least = least.max(touch.share_to_part(u.z, v.z, envelope));
    }
    let share = works[0].share(left[0]).min(works[1].share(left[1])).max(least).min(1.0);
    if share < 1.0 {
        for k in 0..phase.touches.len() {
            let touch = &mut phase.touches[k];
            let p = touch.impulse * share;
            touch.push(&mut phase.members, p);
        }
    }
    for (k, work) in works.iter().enumerate() {
        response.lent.note(phase, k, work.at(share), &credit);
    }
}

/// Books the impulses of a phase, and of the impact that began it; `phase.states` are those of its members afterwards.
pub(super) fn book_phase(
    tables: &mut Tables,
    books: &mut Books,
    phase: &mut Phase,
    world: &mut StepperAccess<'_>,
    time: f64,
    before: &Outcome,
) {
    let mut states = std::mem::take(&mut phase.states);
    states.clear();
    states.extend(phase.members.iter().map(|m| m.state));
    let at = |states: &[BodyState], members: [u32; 2], point: DVec3| {
        members.map(|k| states[k as usize].velocity_at(point))
    };
    let mut book = |tables: &mut Tables,
                    books: &mut Books,
                    (slot, collision): (u32, &Collision),
                    members: [u32; 2],
                    velocities: [[DVec3; 2]; 2]| {
        let kinds = members.map(|k| phase.members[k as usize].kind);
        let [from, to] = velocities;
        world.book_collision(collision, kinds, from, to);
        check::note_collision(tables, books, world, slot, time, collision);
    };
    // The impact came first: impulse after impulse, so that the books follow each.
    for (slot, collision) in &before.collisions {
        let Some(pair) = tables.pairs.get(*slot) else { continue };
        let members = pair.bodies.map(|b| phase.member(b).unwrap_or(0) as u32);
        let point = collision.point;
        let from = at(&states, members, point);
        apply(&mut states, phase, members, point, collision.impulse);
        book(tables, books, (*slot, collision), members, [from, at(&states, members, point)]);
    }
    let mut first = std::mem::take(&mut phase.first);
    first.clear();
    first.extend_from_slice(&states);
    let pushed = || phase.touches.iter().filter(|t| t.impulse != DVec3::ZERO);
    for touch in pushed() {
        let Push { point, impulse, .. } = push_of(touch);
        apply(&mut states, phase, touch.members, point, impulse);
    }
    for touch in pushed() {
        let slot = phase.links[touch.link as usize].slot;
        let Some(pair) = tables.pairs.get(slot) else { continue };
        let push = push_of(touch);
        let collision = push.collision(pair.names, touch.approach, CollisionKind::Boosted);
        let velocities = [&first, &states].map(|s| at(s, touch.members, push.point));
        book(tables, books, (slot, &collision), touch.members, velocities);
    }
    (phase.states, phase.first) = (states, first);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn the_largest_share_does_the_work_that_is_left() {
        let mut random = SplitMix64(12);
        let (mut cut, mut whole) = (0, 0);
        for k in 0..10_000 {
            let work = Work { first: random.range(-1.0, 1.0), second: random.range(-1.0, 1.0) };
            let left = if k % 10 == 0 { 0.0 } else { random.range(0.0, 1.0) };
            let share = work.share(left);
            if work.at(1.0) <= left {
                assert_eq!(share, 1.0);
                whole += 1;
                continue;
            }
            cut += 1;
            assert!((0.0..1.0).contains(&share) && work.at(share) <= left + 1e-12, "{work:?} {left} {share}");
            // No larger one up to the first that does too much.
            assert!(work.at(share + 1e-6) > left - 1e-12, "{work:?} {left} {share}");
        }
        assert!(cut > 1000 && whole > 1000);
    }
}
