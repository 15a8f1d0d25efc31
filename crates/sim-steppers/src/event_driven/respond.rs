//! Impulses of one pair at its closest points: micro or ordinary.
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
//! An ordinary impact is answered at its root; where it is not alone there, `strike` has it.
//!
//! # Failure
//!
//! [`StepError::Impact`] and [`StepError::Contact`] naming the pair.
//!
//! # Tested by
//!
//! `tests/resting.rs`, `tests/flat.rs`

use super::{
    look::{Look, Sides},
    params::{DEEP, Scaled},
};
use crate::push::Push;
use rigid_impulse::{BodyState, CollisionKind, ContactFrame, MicroParams, pair_matrix};
use sim_math::glam::DVec3;
use sim_traits::{Impact, ImpactLaw, JointId, Manifold, NarrowPhase, PairCache};
use sim_world::{Collider, Collision, JointWork, StepError, World};
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
    pub(super) params: &'a Scaled,
    pub(super) manifolds: &'a mut Vec<Manifold>,
}

/// A body before and after impulses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changed {
    pub(super) slot: u32,
    pub(super) before: BodyState,
    pub(super) after: BodyState,
}

/// Impulses given, and the bodies that may have got some; kept for its memory.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) bodies: Vec<Changed>,
    /// By slots of pairs.
    pub(super) collisions: Vec<(u32, Collision)>,
    /// What joints did, if joints hold one of the bodies: all impulses then act at once.
    pub(super) joints: Option<JointWork>,
    /// Joints that the impact breaks, and the impulses on them, N·s.
    pub(super) broken: Vec<(JointId, f64)>,
}

impl Outcome {
    pub(super) fn clear(&mut self) {
        self.bodies.clear();
        self.collisions.clear();
        self.joints = None;
        self.broken.clear();
    }

    /// Begins anew with a pair that got nothing yet.
    pub(super) fn of_pair(&mut self, bodies: [u32; 2], look: &Look) {
        self.clear();
        let pair = bodies.into_iter().zip(look.states);
        self.bodies.extend(pair.map(|(slot, state)| Changed { slot, before: state, after: state }));
    }

    /// Gives an impulse to the two of a pair.
    pub(super) fn push(
        &mut self,
        slot: u32,
        push: &Push,
        sides: &Sides<'_>,
        approach: f64,
        kind: CollisionKind,
    ) {
        let impulses = [push.impulse, -push.impulse].into_iter().zip(sides.models());
        for (body, (impulse, model)) in self.bodies.iter_mut().zip(impulses) {
            body.after.apply_impulse(model, push.point, impulse);
        }
        self.collisions.push((slot, push.collision(sides.name.colliders, approach, kind)));
    }
}

impl Look {
    /// The closest points as a place for impulses.
    pub(super) fn closest(&self) -> Site {
        Site { point: self.point, normal: self.normal, separation: self.distance }
    }
}

/// Answers the collision of a pair at its closest points as seen in `look`. `at_root` says that it is an impact at its root.
pub(super) fn respond(
    world: &World,
    sides: &Sides<'_>,
    means: &Means<'_>,
    slot: u32,
    look: &Look,
    at_root: bool,
    outcome: &mut Outcome,
) -> Result<(), StepError> {
    let surface = world.surface_pair(sides.colliders[0], sides.colliders[1]);
    let site = look.closest();
    let [a, b] = &look.states;
    let contact = ContactFrame::new(site.point, site.normal)
        .map_err(|source| StepError::Contact { pair: sides.name, source })?;
    let velocity = contact.to_contact(a.velocity_at(site.point) - b.velocity_at(site.point));
    if velocity.z >= 0.0 {
        return Ok(());
    }
    let (friction, restitution) = (surface.friction, surface.restitution);
    let impact = Impact { k: pair_matrix(sides.models(), [a, b], &contact), velocity, friction, restitution };
    let answer = answer(means, &impact, site.separation, sides.pressure(), at_root)
        .map_err(|source| StepError::Impact { pair: sides.name, source })?;
    if let Some((impulse, kind)) = answer {
        let Site { point, normal, separation } = site;
        let push = Push { point, normal, separation, impulse: contact.to_world(impulse) };
        outcome.push(slot, &push, sides, -velocity.z, kind);
    }
    Ok(())
}

/// Manifolds of a pair up to a margin (m).
fn manifold(
    sides: &Sides<'_>,
    means: &mut Means<'_>,
    cache: &mut PairCache,
    look: &Look,
    margin: f64,
) -> Result<(), StepError> {
    let [a, b] = sides.colliders.map(Collider::shape);
    means.manifolds.clear();
    means
        .narrow
        .manifolds(a, b, &look.a_from_b, margin, cache, means.manifolds)
        .map_err(|source| StepError::NarrowPhase { pair: sides.name, source: Box::new(source) })
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
    let envelope = means.params.envelope();
    manifold(sides, means, cache, look, envelope)?;
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
