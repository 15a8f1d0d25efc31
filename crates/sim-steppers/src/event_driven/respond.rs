//! Impulses of one pair: micro or ordinary, at the closest points; ordinary ones at every contact that is at its root.
//!
//! Slow contacts under improved handling are the business of `phase`.
//!
//! # Reference
//!
//! Mirtich (1996), section 3.5; Fontijne (2000), section 3.4.4.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | ε | collision envelope | m |
//! | d | separation at the contact | m |
//! | c | speed of approach | m/s |
//! | g | acceleration that presses the bodies together | m/s² |
//!
//! # Formula
//!
//! ```text
//! micro if c < √(2 g ε);   lift = √(2 g (ε/2 − d)): the speed that carries a body back to the middle of the envelope
//! d < ε/8 and c < lift:    restitution boosted up to lift/c, whatever that is, and no reversal
//! else:                    reversal if inside the cone, or restitution boosted by depth up to min(e_max, lift/c)
//! ```
//!
//! The specifications reverse first at any depth. Reversal conserves energy, and the next look aims at half the
//! distance: a body at rest then sinks by halves to the rounding limit, where any fixed largest restitution needs thousands
//! of collisions to get it out. The rule for depths below ε/8 lifts it before that, and never out of the envelope.
//!
//! # Cost
//!
//! One collision matrix and one law per impulse; no allocation once the scratch has grown.
//!
//! # Numerics
//!
//! An ordinary impact is answered at its root; other contacts of the pair only if they are slow or as close.
//!
//! # Failure
//!
//! [`StepError::Impact`] and [`StepError::Contact`] naming the pair.
//!
//! # Tested by
//!
//! `tests/resting.rs`

use super::{
    look::{Look, Sides},
    params::{ContactHandling, DEEP, EventDrivenParams},
};
use rigid_impulse::{Body as RigidState, CollisionKind, ContactFrame, MicroParams, pair_matrix};
use sim_math::glam::DVec3;
use sim_traits::{Impact, ImpactLaw, Manifold, NarrowPhase, PairCache};
use sim_world::{Collider, Collision, StepError, World};
use smallvec::SmallVec;

/// Most sweeps over the contacts of one pair at one time.
pub(super) const MAX_SWEEPS: u32 = 8;

/// One place where impulses may act, world.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub(super) point: DVec3,
    pub(super) normal: DVec3,
    pub(super) separation: f64,
}

/// What is needed besides the pair.
#[derive(Debug)]
pub(super) struct Means<'a> {
    pub(super) narrow: &'a dyn NarrowPhase,
    pub(super) law: &'a dyn ImpactLaw,
    pub(super) params: &'a EventDrivenParams,
    pub(super) manifolds: &'a mut Vec<Manifold>,
}

/// Impulses given, and the states after them.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) states: [RigidState; 2],
    pub(super) collisions: SmallVec<[Collision; 8]>,
}

impl Look {
    /// The closest points as a place for impulses.
    pub(super) fn closest(&self) -> Site {
        Site { point: self.point, normal: self.normal, separation: self.distance }
    }
}

/// Answers the collision of a pair as seen in `look`. `located` says that it is an impact at its root.
pub(super) fn respond(
    world: &World,
    sides: &Sides<'_>,
    means: &mut Means<'_>,
    cache: &mut PairCache,
    look: &Look,
    located: bool,
    turn: u32,
) -> Result<Outcome, StepError> {
    let sites = match means.params.contact_handling {
        ContactHandling::Standard => SmallVec::from_elem(look.closest(), 1),
        ContactHandling::Improved => {
            // Slow ones are the business of the collision phase.
            let mut sites = all_sites(sides, means, cache, look)?;
            let mut first = true;
            sites.retain(|s| std::mem::take(&mut first) || s.separation <= means.params.root_tolerance);
            sites
        }
    };
    let surface = world.surface_pair(sides.colliders[0], sides.colliders[1]);
    let pressure = sides.pressure();
    let mut outcome = Outcome { states: look.states, collisions: SmallVec::new() };
    for sweep in 0..MAX_SWEEPS {
        let mut any = false;
        let count = sites.len();
        for k in 0..count {
            // The closest contact first; the others in an order that alternates from one collision to the next.
            let k = match (k, turn.wrapping_add(sweep) % 2) {
                (0, _) => 0,
                (k, 0) => k,
                (k, _) => count - k,
            };
            let site = sites[k];
            let at_root = k == 0 && located || site.separation <= means.params.root_tolerance;
            let [a, b] = &mut outcome.states;
            let contact = ContactFrame::new(site.point, site.normal)
                .map_err(|source| StepError::Contact { pair: sides.name, source })?;
            let velocity = contact.to_contact(a.velocity_at(site.point) - b.velocity_at(site.point));
            if velocity.z >= 0.0 || (sweep > 0 && -velocity.z <= 1e-12 * velocity.length().max(1e-3)) {
                continue;
            }
            let (friction, restitution) = (surface.friction, surface.restitution);
            let impact = Impact { k: pair_matrix(a, b, &contact), velocity, friction, restitution };
            let answer = answer(means, &impact, site.separation, pressure, at_root)
                .map_err(|source| StepError::Impact { pair: sides.name, source })?;
            let Some((impulse, kind)) = answer else { continue };
            let impulse = contact.to_world(impulse);
            a.apply_impulse(site.point, impulse);
            b.apply_impulse(site.point, -impulse);
            any = true;
            outcome.collisions.push(Collision {
                a: sides.name.colliders[0],
                b: sides.name.colliders[1],
                point: site.point,
                normal: site.normal,
                impulse,
                approach: -velocity.z,
                separation: site.separation,
                kind,
            });
        }
        if !any || count == 1 {
            break;
        }
    }
    Ok(outcome)
}

/// Impulse at one contact, contact axes; `None` for a fast approach that is not at its root yet.
fn answer(
    means: &Means<'_>,
    impact: &Impact,
    separation: f64,
    pressure: f64,
    at_root: bool,
) -> Result<Option<(DVec3, CollisionKind)>, sim_traits::ImpactError> {
    let speed = -impact.velocity.z;
    match &means.params.micro {
        Some(micro) if speed < micro.threshold(pressure) => {
            let micro = lifting(micro, separation, speed, pressure);
            // Just outside the envelope by rounding is inside.
            let inside = separation.min(0.999 * micro.envelope);
            let (impulse, kind) = micro.resolve(impact, inside, pressure, means.law)?;
            Ok((kind != CollisionKind::None).then_some((impulse, kind)))
        }
        _ if at_root => Ok(Some((means.law.impulse(impact)?, CollisionKind::Ordinary))),
        _ => Ok(None),
    }
}

/// Micro-collision parameters at a depth: deep and slow bodies are lifted to the middle of the envelope.
fn lifting(micro: &MicroParams, separation: f64, speed: f64, pressure: f64) -> MicroParams {
    let height = 0.5 * micro.envelope - separation.max(0.0);
    let lift = (2.0 * pressure * height.max(0.0)).sqrt();
    let mut lifted = *micro;
    if separation < DEEP * micro.envelope && speed < lift {
        // A body that was caught just after its highest point has next to no speed: no fixed factor would lift it.
        lifted.max_restitution = lift / speed;
        lifted.reversing = false;
    } else {
        lifted.max_restitution = micro.max_restitution.min(lift / speed);
    }
    lifted
}

/// The closest points, and the contacts of the manifold besides them.
pub(super) fn all_sites(
    sides: &Sides<'_>,
    means: &mut Means<'_>,
    cache: &mut PairCache,
    look: &Look,
) -> Result<SmallVec<[Site; 8]>, StepError> {
    let mut sites: SmallVec<[Site; 8]> = SmallVec::from_elem(look.closest(), 1);
    let [a, b] = sides.colliders.map(Collider::shape);
    let envelope = means.params.envelope();
    means.manifolds.clear();
    means
        .narrow
        .manifolds(a, b, &look.a_from_b, envelope, cache, means.manifolds)
        .map_err(|source| StepError::NarrowPhase { pair: sides.name, source: Box::new(source) })?;
    for manifold in means.manifolds.iter() {
        let normal = look.world_from_a.transform_vector(manifold.normal);
        for contact in manifold.points() {
            let point = look.world_from_a.transform_point(0.5 * (contact.point_a + contact.point_b));
            let known = sites.iter().any(|s| (s.point - point).length() < 0.5 * envelope);
            if !known && contact.separation < envelope {
                sites.push(Site { point, normal, separation: contact.separation });
            }
        }
    }
    Ok(sites)
}
