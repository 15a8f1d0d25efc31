//! Piles at rest: the impulses of the step before are tried first, and kept where they hold everything still.
//!
//! # Reference
//!
//! Static equilibrium; Cline (2002), section 2.7, for what a solution is.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | p | impulses of the last step, each in its cone | N·s |
//! | v | velocities before the step with the change by forces, `force_change` | m/s, rad/s |
//! | r | size of a body | m |
//!
//! # Formula
//!
//! ```text
//! |v + M⁻¹ Jᵀ p| ≤ ε |force_change|,  ε = 1e-6, turns times r:   v⁺ = 0 with p is a solution, but for a force of ε times the weight
//! ```
//!
//! Contacts that carry load must touch, and what is not free must not move.
//!
//! # Cost
//!
//! Some thirty multiplications per contact; rows, Delassus operator and solver are not needed.
//!
//! # Numerics
//!
//! Bodies at rest keep their poses to the bit: a pile that has come to rest does not drift at all. What is not balanced is reported as imbalance.
//!
//! # Failure
//!
//! None: islands that do not pass are solved.
//!
//! # Tested by
//!
//! `a_stack_of_ten_stands_still`, `a_held_pile_falls_when_its_support_goes`

use super::{
    contact_events::Push,
    joined::Joined,
    sites::Previous,
    state::{Books, Detection, Memory, Setup, StepBodies},
    traction::SiteTraction,
};
use rigid_impulse::CollisionKind;
use sim_math::{glam::DVec3, spatial::Motion};
use sim_world::{Event, EventKind, Listing, StepperAccess};

/// Share of the weight that may be left unbalanced.
const BALANCE: f64 = 1e-6;

/// What is known of bodies in a try.
#[derive(Debug, Default)]
pub(super) struct Resting {
    /// By body: velocity with the impulses of the step before.
    trial: Vec<Motion>,
    /// By body: has contacts.
    in_contact: Vec<bool>,
    /// By body: stays where it is.
    pub(super) still: Vec<bool>,
    /// By site of the present problem: its island stays where it is.
    pub(super) held: Vec<bool>,
}

/// Finds the bodies that the impulses of the last step hold still; true if all bodies in contact are. The pool has the velocities with the change by
/// forces.
pub(super) fn try_rest(
    setup: &Setup,
    found: &Detection,
    bodies: &StepBodies,
    joined: &Joined,
    tractions: &[SiteTraction],
    memory: &mut Memory,
    h: f64,
) -> bool {
    let (count, sites) = (bodies.pool.len(), &found.sites);
    let resting = &mut memory.resting;
    resting.still.clear();
    resting.still.resize(count, false);
    if memory.last_step <= 0.0 {
        return false;
    }
    let scale = h / memory.last_step;
    resting.trial.clear();
    resting.trial.extend(bodies.pool.iter().map(|body| body.velocity));
    resting.in_contact.clear();
    resting.in_contact.resize(count, false);
    resting.still.fill(true);
    for (site, previous) in sites.all.iter().zip(&sites.impulses) {
        let impulse = if previous.anew { DVec3::ZERO } else { previous.impulse };
        let loaded = impulse != DVec3::ZERO;
        let open = loaded && site.gap > setup.params.slop;
        for (side, k) in site.bodies.into_iter().enumerate() {
            let body = &bodies.pool[k as usize];
            resting.in_contact[k as usize] = true;
            if body.is_movable() {
                if loaded {
                    let p = if side == 0 { impulse * scale } else { -impulse * scale };
                    let trial = &mut resting.trial[k as usize];
                    trial.linear += p * body.inverse_mass;
                    trial.angular += body.inverse_inertia * (site.point - body.center).cross(p);
                }
                resting.still[k as usize] &= !open && !previous.anew;
            } else if body.velocity != Motion::ZERO {
                // What a script moves carries others along.
                resting.still[site.bodies[1 - side] as usize] = false;
            }
        }
    }
    // What lies on a surface that moves is carried along.
    for (site, _) in sites.all.iter().zip(tractions).filter(|(_, t)| t.belt != DVec3::ZERO) {
        site.bodies.iter().for_each(|slot| resting.still[*slot as usize] = false);
    }
    // What forces drive is solved.
    for (k, _) in bodies.body_steps.iter().enumerate().filter(|(_, body_step)| body_step.driven) {
        (resting.in_contact[k], resting.still[k]) = (true, false);
    }
    // What joints hold is solved.
    for k in (0..count).filter(|k| bodies.trees.is_link(*k as u32)) {
        (resting.in_contact[k], resting.still[k]) = (true, false);
    }
    for (k, _) in joined.held.iter().enumerate().filter(|(_, held)| **held) {
        (resting.in_contact[k], resting.still[k]) = (true, false);
    }
    let mut all = true;
    for k in 0..count {
        let body_step = &bodies.body_steps[k];
        if !resting.in_contact[k] || !bodies.pool[k].is_movable() {
            continue;
        }
        let (left, allowed) = (resting.trial[k], BALANCE * body_step.force_change.linear.length());
        let size = found.detect.travels.radius(k as u32);
        let balanced = left.linear.length() <= allowed && left.angular.length() * size <= allowed;
        resting.still[k] &= balanced;
        all &= resting.still[k];
    }
    all
}

/// Bodies of the sites for which `held` is true stay where they are, and the impulses of the step before are entered once more.
pub(super) fn hold(
    found: &mut Detection,
    bodies: &mut StepBodies,
    memory: &Memory,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    h: f64,
    all: bool,
) {
    let scale = if memory.last_step > 0.0 { h / memory.last_step } else { 0.0 };
    let time = world.time();
    for (k, site) in found.sites.all.iter().enumerate() {
        let asleep = site.bodies.iter().all(|slot| !bodies.pool[*slot as usize].is_movable());
        if asleep || (!all && !memory.resting.held[k]) {
            continue;
        }
        for slot in site.bodies {
            if bodies.pool[slot as usize].is_movable() {
                bodies.pool[slot as usize].velocity = Motion::ZERO;
                bodies.body_steps[slot as usize].pushed = true;
            }
        }
        let previous = found.sites.impulses[k];
        let impulse = if previous.anew { DVec3::ZERO } else { previous.impulse * scale };
        found.sites.impulses[k] = Previous::solved(impulse);
        if impulse == DVec3::ZERO {
            continue;
        }
        for (slot, sign) in site.bodies.into_iter().zip([-1.0, 1.0]) {
            if !bodies.pool[slot as usize].is_movable() {
                if let Some(kind) = world.body_in_slot(slot).map(|(_, body)| *body.kind()) {
                    world.book_support(&kind, site.point, impulse * sign);
                }
            }
        }
        let pair = &mut found.detect.candidates[site.pair as usize];
        let push = Push { point: site.point, normal: site.frame.z_axis, separation: site.gap, impulse };
        found.detect.exerted.add(pair, books.advances, &push, time);
        books.report.micro_collisions += 1;
        if world.listing == Listing::All {
            let collision = push.collision(pair.rest.names, 0.0, CollisionKind::Lasting);
            world.list(Event { time, kind: EventKind::Collision(collision) });
        }
    }
}
