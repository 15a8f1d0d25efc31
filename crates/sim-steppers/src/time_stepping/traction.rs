//! Rolling and torsional friction of contacts as blocks of the problem of a step, and surfaces that move along themselves.
//!
//! # Reference
//!
//! [`Turning`] for the law. A moving surface is Coulomb's law with its velocity in the slip.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `rolling`, `torsional` | lengths ρ of the pair | m |
//! | s | velocity of A's surface less that of B's, against their bodies | m/s |
//! | ℓ | lever: radius of the smaller body | m |
//!
//! # Formula
//!
//! ```text
//! slip      u_t = (v_A − v_B + s)_t                     rows of turning  u = ℓ Rᵀ (ω_A − ω_B),  p = moment/ℓ,  |p| ≤ ρ/ℓ p_n
//! account   friction: p·u⁺ of slip and turning;         moving surfaces: −p_t·s
//! ```
//!
//! # Cost
//!
//! A block for every contact point with rolling or torsional friction; nothing where no surface of the world has any.
//!
//! # Numerics
//!
//! With the lever rows of turning are velocities of the size of the others, so that one tolerance fits all. Impulses of turning start from zero in every step.
//!
//! # Failure
//!
//! None.
//!
//! # Tested by
//!
//! `tests/time_traction.rs`

use super::{
    joined::Joined,
    state::{Detection, Problem, StepBodies},
};
use constraint_dynamics::{
    PoolBody, PoolContact,
    pool::{PoolBlock, PoolSide},
};
use rigid_impulse::BodyKind;
use sim_math::glam::{DMat3, DVec3};
use sim_traits::{Law, Turning};
use sim_world::{Collider, ContactWork, StepperAccess, TurningFriction, World};

/// What the surfaces of a contact do besides Coulomb friction.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct SiteTraction {
    pub(super) friction: TurningFriction,
    /// s, world axes, m/s.
    pub(super) belt: DVec3,
}

impl SiteTraction {
    pub(super) const NONE: Self =
        Self { friction: TurningFriction { rolling: 0.0, torsional: 0.0 }, belt: DVec3::ZERO };

    fn resists_turning(&self) -> bool {
        self.friction.rolling > 0.0 || self.friction.torsional > 0.0
    }
}

/// Reads what the surfaces of all sites do, site by site; nothing if no surface of the world does anything.
pub(super) fn read_traction(found: &Detection, tractions: &mut Vec<SiteTraction>, world: &World) {
    tractions.clear();
    if !world.has_traction() {
        return;
    }
    let mut known = (u32::MAX, SiteTraction::NONE);
    for site in &found.sites.all {
        if site.pair != known.0 {
            known = (site.pair, SiteTraction::NONE);
            if let Some((colliders, bodies)) = found.detect.candidates[site.pair as usize].sides(world) {
                let velocity = |c: &Collider, k: usize| {
                    let velocity: DVec3 = c.traction().surface_velocity;
                    if velocity == DVec3::ZERO {
                        velocity
                    } else {
                        bodies[k].user_pose().transform_vector(velocity)
                    }
                };
                let [a, b] = colliders;
                known.1.friction = world.turning_friction(a, b);
                known.1.belt = velocity(a, 0) - velocity(b, 1);
            }
        }
        tractions.push(known.1);
    }
}

/// What the surfaces of a site do.
pub(super) fn of_site(tractions: &[SiteTraction], site: usize) -> SiteTraction {
    tractions.get(site).copied().unwrap_or(SiteTraction::NONE)
}

/// Adds the surfaces of a site to the contact that was appended last, as number `m` of the problem: its block of turning, if it has one.
pub(super) fn add_traction(
    found: &Detection,
    bodies: &StepBodies,
    joined: &mut Joined,
    contact: &mut PoolContact,
    m: usize,
    traction: SiteTraction,
) -> Option<u32> {
    if traction.belt != DVec3::ZERO {
        let s = contact.frame.transpose() * traction.belt;
        (contact.bias.x, contact.bias.y) = (s.x, s.y);
    }
    if !traction.resists_turning() {
        return None;
    }
    let movable = |slot: &u32| bodies.pool[*slot as usize].is_movable();
    let radius = |slot: u32| found.detect.travels.radius(slot);
    let lever = contact.bodies.into_iter().filter(movable).map(radius).fold(f64::INFINITY, f64::min);
    let lever = if lever > 0.0 && lever.is_finite() { lever } else { 1.0 };
    let sides = [1.0, -1.0].map(|sign| contact.frame * (sign * lever));
    let TurningFriction { rolling, torsional } = traction.friction;
    let law = Turning { contact: m as u32, rolling: rolling / lever, torsional: torsional / lever };
    let sides = [0, 1].map(|k| PoolSide { body: contact.bodies[k], moments: sides[k], forces: DMat3::ZERO });
    Some(joined.append(&sides, Law::Turning(law), DVec3::ZERO, DVec3::ZERO))
}

/// The block as an island has it whose contacts start at `start`: laws name contacts of the island.
pub(super) fn of_island(block: PoolBlock, start: usize) -> PoolBlock {
    match block.law {
        Law::Turning(turning) => {
            let contact = turning.contact - start as u32;
            PoolBlock { law: Law::Turning(Turning { contact, ..turning }), ..block }
        }
        _ => block,
    }
}

/// Enters the work of friction against turning in the account, with the velocities of the end of the step in the pool, and the moments on bodies that
/// do not move.
pub(super) fn book_turning(bodies: &StepBodies, problem: &Problem, world: &mut StepperAccess<'_>) {
    let mut work = ContactWork::default();
    for (k, block) in problem.joined.extras() {
        let p = problem.joined.impulses[k];
        if !matches!(block.law, Law::Turning(_)) || p == DVec3::ZERO {
            continue;
        }
        let (mut dissipated, mut scripted) = (0.0, 0.0);
        for side in problem.joined.view().of(block) {
            let body: &PoolBody = &bodies.pool[side.body as usize];
            let part = p.dot(side.velocity(body.velocity));
            dissipated += part;
            if !body.is_movable() {
                // What a script turns does the work on the other.
                scripted -= part;
                // What sleeps stands firm.
                let kind = world.body_in_slot(side.body).map(|(_, body)| *body.kind());
                let kind = kind.filter(|kind| !matches!(kind, BodyKind::Free(_))).unwrap_or(BodyKind::Fixed);
                world.book_support_moment(&kind, -(side.moments * p));
            }
        }
        work.friction += dissipated;
        work.scripted += scripted;
    }
    world.book_contact_work(&work);
}
