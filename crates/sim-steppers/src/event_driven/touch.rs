//! One contact of a collision phase: the speed that it is to part at, and what a visit adds to its impulse.
//!
//! # Reference
//!
//! Micro-impulses after Mirtich (1996), section 3.5, and Fontijne (2000), section 3.4.4; the speeds to reach are ours.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | ε | collision envelope | m |
//! | d | separation at the contact | m |
//! | c | speed of approach before the phase | m/s |
//! | a | acceleration of A relative to B; `a_n` its part that presses them together | m/s² |
//! | g | larger of the accelerations of the two | m/s² |
//! | e, μ | restitution and friction of the surfaces | - |
//! | η | share of the envelope that a resting body hops: [`HOP`], or less by [`STEP`] | - |
//! | p | sum of the impulses so far, contact axes | N·s |
//!
//! # Formula
//!
//! ```text
//! lift   = max(√(2 a_n η ε), √(2 g η ε) (1 − 4 d/ε))
//! s      = max(lift, e c) − γ K_nn p_n                 γ = `GIVE`, up to `LEFT` of a hop: one way only to bear a load
//! target = (−a_t min(s, hop)/a_n, s)                   a hop goes out and back along one line, so that nothing creeps
//! visit:  p ← p + K⁻¹ (target − u)                     if that is inside the cone
//!         p_n ← max(0, p_n + (s − u_n)/K_nn),  p_t ← p_t + (target_t − u_t)/k_t cut to μ p_n      else
//! ```
//!
//! Bodies in free fall do not accelerate towards each other: their contacts are held at the distance that they have, and
//! only what presses against a body that does not fall hops. A stack then hops as one.
//! A body is let fall until it has the speed of a hop: looks come earlier where bounds are loose, and an impulse at each would
//! lift it out of the envelope.
//!
//! # Cost
//!
//! One collision matrix and its inverse per contact; some 200 multiplications per visit.
//!
//! # Numerics
//!
//! Only approaches below the micro-collision threshold are answered; faster ones have impacts of their own, at their roots.
//! `k_t` is the larger tangential mobility, so that sweeps converge in any direction and none is preferred.
//!
//! # Failure
//!
//! A manifold or frame that cannot be had, naming the pair.
//!
//! # Tested by
//!
//! `tests/support.rs`, `tests/every_event.rs`

use super::{
    look::{Look, Sides},
    params::EventDrivenParams,
    respond::Site,
};
use rigid_impulse::{Body as RigidState, ContactFrame, pair_matrix};
use sim_math::{
    glam::{DMat3, DVec2, DVec3},
    spatial::Motion,
};
use sim_traits::{FeatureId, Manifold, NarrowPhase, PairCache};
use sim_world::{Collider, StepError};

/// Height of a resting body's hops as a share of the envelope.
const HOP: f64 = 1.0 / 16.0;
/// Most of it as a share of the radius of the smaller body: with a large envelope, hops would shake a wall apart.
const STEP: f64 = 5e-4;
/// Share of the envelope below which a contact is lifted.
pub(super) const LOW: f64 = 0.25;
/// Share of the envelope below which a contact must part.
const TIGHT: f64 = 1e-3;
/// Approach that counts as none, as a share of the speed of a hop.
const DUST: f64 = 1e-3;
/// Approach that a phase may leave over, and most that a contact gives way by, as shares of the speed of a hop.
pub(super) const LEFT: f64 = 0.005;
/// How much contacts give way, as a share of their mobility: the load then has one way only to spread over many contacts.
const GIVE: f64 = 2e-3;

/// A body that the phase has reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) slot: u32,
    /// Before the phase.
    pub(super) state: RigidState,
    /// After an impact that began the phase.
    pub(super) start: Motion,
    /// During the phase.
    pub(super) velocity: Motion,
    pub(super) inverse_mass: f64,
    pub(super) inverse_inertia: DMat3,
    /// Got an impulse.
    pub(super) pushed: bool,
    /// Its pairs are in the phase.
    pub(super) spread: bool,
}

/// A contact of the phase.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch {
    pub(super) link: u32,
    pub(super) members: [u32; 2],
    pub(super) frame: ContactFrame,
    /// From the centres of both bodies.
    pub(super) arms: [DVec3; 2],
    pub(super) inverse: DMat3,
    /// Normal and tangential inverse mobility, kg.
    pub(super) masses: [f64; 2],
    /// [`GIVE`] times the normal mobility, 1/kg.
    pub(super) give: f64,
    /// Change of velocity by an impulse as a share of a hop, 1/(N·s).
    pub(super) weight: f64,
    pub(super) separation: f64,
    pub(super) friction: f64,
    /// Speed to part at, m/s.
    pub(super) speed: f64,
    /// Tangential velocity for each unit of it, up to a hop: on a steep wall a bounce would otherwise be driven sideways.
    pub(super) lean: DVec2,
    /// Speed of approach before the phase, m/s.
    pub(super) approach: f64,
    /// Approaches from this speed on are impacts, m/s.
    pub(super) slow: f64,
    /// It gets impulses only if it parts slower than this, m/s.
    pub(super) idle: f64,
    /// Speed of a hop, the unit of what counts as none, m/s.
    pub(super) unit: f64,
    /// Half the time of a hop, s.
    pub(super) beat: f64,
    pub(super) impulse: DVec3,
    pub(super) name: ContactName,
    /// It approached once: it gets impulses.
    pub(super) active: bool,
}

/// Which contact of a pair: convex pieces and features of both sides.
pub(super) type ContactName = ([u32; 2], [FeatureId; 2]);

/// What a touch needs to know of its pair.
pub(super) struct Pressing {
    /// Acceleration of A relative to B, m/s².
    pub(super) acceleration: DVec3,
    /// Largest acceleration of the two, m/s².
    pub(super) pressure: f64,
    pub(super) friction: f64,
    pub(super) restitution: f64,
}

impl Touch {
    pub(super) fn new(
        all: &[Member],
        (site, name): &(Site, ContactName),
        link: u32,
        members: [u32; 2],
        pressing: &Pressing,
        params: &EventDrivenParams,
        sides: &Sides<'_>,
    ) -> Result<Self, StepError> {
        let frame = ContactFrame::new(site.point, site.normal)
            .map_err(|source| StepError::Contact { pair: sides.name, source })?;
        let [a, b] = members.map(|k| &all[k as usize].state);
        let mut k = pair_matrix(a, b, &frame);
        let give = GIVE * k.z_axis.z;
        k.z_axis.z += give;
        // The larger of the two principal tangential mobilities: the sweeps then converge in any direction.
        let (mean, half) = (0.5 * (k.x_axis.x + k.y_axis.y), 0.5 * (k.x_axis.x - k.y_axis.y));
        let slip = mean + (half * half + k.x_axis.y * k.x_axis.y).sqrt();
        let arms = [a, b].map(|s| site.point - s.pose().translation);
        let envelope = params.envelope();
        let pull = frame.to_contact(pressing.acceleration);
        let press = -pull.z;
        let height = height(sides, params);
        let hop = |acceleration: f64| (2.0 * height * acceleration.max(0.0)).sqrt();
        let unit = hop(pressing.pressure);
        let low = unit * (1.0 - site.separation.max(0.0) / (LOW * envelope));
        let mut touch = Self {
            link,
            members,
            frame,
            arms,
            inverse: k.inverse(),
            masses: [1.0 / k.z_axis.z, 1.0 / slip],
            give,
            weight: k.z_axis.z.max(slip) / unit,
            separation: site.separation,
            friction: pressing.friction,
            speed: 0.0,
            lean: DVec2::ZERO,
            approach: 0.0,
            slow: params.micro.as_ref().map_or(0.0, |m| m.threshold(pressing.pressure)),
            idle: idle(site.separation, unit, envelope),
            unit,
            beat: unit / pressing.pressure,
            impulse: DVec3::ZERO,
            name: *name,
            active: false,
        };
        touch.approach = touch.first_approach(all);
        touch.speed = hop(press).max(low).max(pressing.restitution * touch.approach);
        // A contact that is hardly pressed has no flight to return from.
        if press > 0.05 * pressing.acceleration.length() {
            touch.lean = pull.truncate() / -press;
        }
        Ok(touch)
    }
}

impl Touch {
    /// Speed of approach when the phase began, m/s.
    fn first_approach(&self, members: &[Member]) -> f64 {
        let of = |k: usize| members[self.members[k] as usize].start.velocity_at(self.arms[k]);
        self.frame.axes.z_axis.dot(of(1) - of(0))
    }

    /// Velocity of A relative to B, contact axes.
    #[inline]
    pub(super) fn velocity(&self, members: &[Member]) -> DVec3 {
        let of = |k: usize| members[self.members[k] as usize].velocity.velocity_at(self.arms[k]);
        self.frame.to_contact(of(0) - of(1))
    }

    /// Sets the sum of impulses, contact axes, and moves the bodies by the difference.
    #[inline]
    pub(super) fn push(&mut self, members: &mut [Member], p: DVec3) {
        let impulse = self.frame.to_world(p - self.impulse);
        self.impulse = p;
        for (side, impulse) in [(0, impulse), (1, -impulse)] {
            let member = &mut members[self.members[side] as usize];
            if member.inverse_mass > 0.0 {
                member.velocity.linear += impulse * member.inverse_mass;
                member.velocity.angular += member.inverse_inertia * self.arms[side].cross(impulse);
                member.pushed = true;
            }
        }
    }

    /// Sum of impulses after a visit at relative velocity `u`, contact axes.
    #[inline]
    pub(super) fn solve(&self, u: DVec3) -> DVec3 {
        let speed = self.speed - (self.give * self.impulse.z).min(LEFT * self.unit);
        let missing = (self.lean * speed.min(self.unit)).extend(speed) - u;
        let stick = self.impulse + self.inverse * missing;
        if stick.z >= 0.0 && stick.truncate().length() <= self.friction * stick.z {
            return stick;
        }
        let normal = (self.impulse.z + missing.z * self.masses[0]).max(0.0);
        let mut tangent = self.impulse.truncate() + missing.truncate() * self.masses[1];
        let (size, most) = (tangent.length(), self.friction * normal);
        if size > most {
            tangent *= most / size;
        }
        tangent.extend(normal)
    }
}

/// Contacts of a pair inside the envelope, world.
pub(super) fn sites(
    sides: &Sides<'_>,
    narrow: &dyn NarrowPhase,
    cache: &mut PairCache,
    manifolds: &mut Vec<Manifold>,
    look: &Look,
    envelope: f64,
    out: &mut Vec<(Site, ContactName)>,
) -> Result<(), StepError> {
    out.clear();
    let [a, b] = sides.colliders.map(Collider::shape);
    manifolds.clear();
    narrow
        .manifolds(a, b, &look.a_from_b, envelope, cache, manifolds)
        .map_err(|source| StepError::NarrowPhase { pair: sides.name, source: Box::new(source) })?;
    let mut least = f64::INFINITY;
    for manifold in manifolds.iter() {
        let normal = look.world_from_a.transform_vector(manifold.normal);
        for contact in manifold.points().iter().filter(|c| c.separation <= envelope) {
            let point = look.world_from_a.transform_point(0.5 * (contact.point_a + contact.point_b));
            least = least.min(contact.separation);
            let site = Site { point, normal, separation: contact.separation };
            out.push((site, (manifold.pieces, contact.features)));
        }
    }
    if least > look.distance + 1e-3 * envelope {
        out.push((look.closest(), ContactName::default()));
    }
    Ok(())
}

/// Speed (m/s) at which a contact must part not to get impulses: dust does not count as approach, and who is at rounding
/// distance must get away from it, because the bounds of its motion are used up at once there.
fn idle(separation: f64, hop: f64, envelope: f64) -> f64 {
    if separation < TIGHT * envelope { 0.5 * hop } else { -DUST * hop }
}

/// True if a pair that does not approach is too close to be left alone.
pub(super) fn cramped(sides: &Sides<'_>, look: &Look, params: &EventDrivenParams) -> bool {
    let (envelope, hop) = (params.envelope(), hop(sides, params));
    let near = params.together() && look.distance < TIGHT * envelope;
    near && hop > 0.0 && -look.closing < idle(look.distance, hop, envelope)
}

/// Speed of a hop, m/s.
fn hop(sides: &Sides<'_>, params: &EventDrivenParams) -> f64 {
    (2.0 * height(sides, params) * sides.pressure()).sqrt()
}

/// Height of a hop, m.
fn height(sides: &Sides<'_>, params: &EventDrivenParams) -> f64 {
    let [a, b] = sides.colliders.map(|c| c.extent().radius);
    (HOP * params.envelope()).min(STEP * a.min(b))
}

/// Longest time (s) for which a pair that approaches inside the envelope can be left to fall: until it has the speed of a hop.
/// Looks come earlier than that where bounds are loose, and an impulse at each of them would lift the body out of the envelope.
pub(super) fn leave(sides: &Sides<'_>, look: &Look, params: &EventDrivenParams) -> Option<f64> {
    let pressure = sides.pressure();
    let envelope = params.envelope();
    let hop = hop(sides, params);
    let falls = look.closing < 0.7 * hop && look.distance > LOW * envelope;
    falls.then(|| (hop - look.closing) / pressure)
}
