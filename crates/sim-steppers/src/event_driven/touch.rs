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
//! | a | acceleration of A relative to B; `a_n` its part that presses them together; `a_t` as measured since the last hop, if any | m/s² |
//! | g | larger of the accelerations of the two | m/s² |
//! | f | at least `a_n`; the acceleration of the last hop, if that was larger: turning can bring a contact back faster | m/s² |
//! | e, μ | restitution and friction of the surfaces | - |
//! | η | share of the envelope that a resting body hops: [`HOP`], or less by [`STEP`] | - |
//! | p | sum of the impulses so far, contact axes | N·s |
//!
//! # Formula
//!
//! ```text
//! lift   = max(√(2 f η ε), √(2 g η ε) (1 − 4 d/ε)), at most √(c² + 2 K_nn E) or `BACK` of it: who may borrow no energy E is turned back (see `lend`)
//! s      = max(lift, e c) − γ K_nn p_n                 γ = `GIVE`, up to `LEFT` of a hop: one way only to bear a load
//! target = (−a_t min(s, hop)/f, s)                     a hop goes out and back along one line, so that nothing creeps; |a_t|/f cut to μ:
//!                                                      who cannot stick is not thrown uphill, which would add energy
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
//! `tests/support.rs`, `tests/every_event.rs`, `a_slow_bounce_off_a_steep_wall_adds_no_energy`

use super::{
    look::{Look, Sides},
    params::Scaled,
    respond::Site,
};
use rigid_impulse::{BodyKind, BodyModel, BodyState, ContactFrame};
use sim_math::{
    glam::{DMat3, DVec2, DVec3},
    spatial::Motion,
};
use sim_traits::{FeatureId, Manifold, NarrowPhase, PairCache};
use sim_world::{Collider, StepError};

/// Height of a resting body's hops as a share of the envelope.
pub(super) const HOP: f64 = 1.0 / 16.0;
/// Most of it as a share of the radius of the smaller body: with a large envelope, hops would shake a wall apart.
const STEP: f64 = 5e-4;
/// Most of the acceleration of a fall that is measured, as a multiple of that of the bodies.
const STEEPEST: f64 = 8.0;
/// Share of the envelope below which a contact is lifted.
pub(super) const LOW: f64 = 0.25;
/// Share of the envelope below which a contact must part.
const TIGHT: f64 = 1e-3;
/// Approach that counts as none, as a share of the speed of a hop.
const DUST: f64 = 1e-3;
/// Approach that a phase may leave over, and most that a contact gives way by, as shares of the speed of a hop.
pub(super) const LEFT: f64 = 0.005;
/// Least speed of parting where a body may not borrow energy for a whole hop, as a share of it.
const CREEP: f64 = 0.0625;
/// Share of the speed of a hop that a body falls back with before it is answered, and with which it parts at least if it may borrow no energy.
const BACK: f64 = 0.7;
/// Least speed of parting at rounding distance, as a multiple of that below which it is too close to be left alone.
const AWAY: f64 = 1.25;
/// Share of the mobility without joints that contacts of jointed bodies give way by besides.
const STIFF: f64 = 1e-6;
/// How much contacts give way, as a share of their mobility: the load then has one way only to spread over many contacts.
const GIVE: f64 = 2e-3;

/// A body that the phase has reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) slot: u32,
    pub(super) kind: BodyKind,
    /// Before the phase.
    pub(super) state: BodyState,
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
    /// It sleeps, and wakes if it is to get an impulse.
    pub(super) asleep: bool,
}

impl Member {
    pub(super) fn new(slot: u32, model: &BodyModel, state: BodyState, asleep: bool) -> Self {
        let inverse_mass = model.inverse_mass();
        Self {
            slot,
            kind: *model.kind(),
            state,
            start: state.velocity,
            velocity: state.velocity,
            inverse_mass,
            inverse_inertia: state.inverse_inertia(model),
            pushed: false,
            spread: inverse_mass == 0.0,
            asleep,
        }
    }

    /// True if a phase did work on it.
    pub(super) fn borrows(&self) -> bool {
        self.pushed && self.inverse_mass > 0.0
    }

    /// Angular velocity for a unit impulse along each of the axes at `arm` (m) from the centre, 1/(kg·m).
    fn turn(&self, arm: DVec3, axes: &DMat3) -> DMat3 {
        if self.inverse_mass == 0.0 {
            return DMat3::ZERO;
        }
        let moments =
            DMat3::from_cols(arm.cross(axes.x_axis), arm.cross(axes.y_axis), arm.cross(axes.z_axis));
        self.inverse_inertia * moments
    }

    /// Gives an impulse (N·s, world) at `arm` (m) from the centre to a state of this body.
    pub(super) fn push(&self, state: &mut BodyState, arm: DVec3, impulse: DVec3) {
        if self.inverse_mass > 0.0 {
            state.velocity.linear += impulse * self.inverse_mass;
            state.velocity.angular += self.inverse_inertia * arm.cross(impulse);
        }
    }
}

/// Collision matrix K in contact axes, 1/kg: the velocity of A relative to B for unit impulses.
fn mobility(sides: [&Member; 2], arms: [DVec3; 2], turns: &[DMat3; 2], axes: &DMat3) -> DMat3 {
    let mut k = DMat3::from_diagonal(DVec3::splat(sides[0].inverse_mass + sides[1].inverse_mass));
    for (arm, turn) in arms.into_iter().zip(turns) {
        let response = |turn: DVec3| axes.transpose() * turn.cross(arm);
        k += DMat3::from_cols(response(turn.x_axis), response(turn.y_axis), response(turn.z_axis));
    }
    (k + k.transpose()) * 0.5
}

/// The same where joints hold one of the two.
fn joined_mobility(responses: &[Shared], members: [u32; 2], arms: [DVec3; 2], axes: &DMat3) -> DMat3 {
    let column = |axis: usize| {
        let of = |side: usize| {
            let own = responses.iter().find(|(k, _)| *k == members[side]);
            own.map_or(DVec3::ZERO, |(_, columns)| columns[axis].velocity_at(arms[side]))
        };
        axes.transpose() * (of(0) - of(1))
    };
    let k = DMat3::from_cols(column(0), column(1), column(2));
    (k + k.transpose()) * 0.5
}

/// A contact of the phase.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch {
    pub(super) link: u32,
    pub(super) members: [u32; 2],
    pub(super) frame: ContactFrame,
    /// From the centres of both bodies.
    pub(super) arms: [DVec3; 2],
    /// Angular velocity of each body for a unit impulse on it along each contact axis.
    pub(super) turns: [DMat3; 2],
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
    /// Tangential velocity for each unit of it, up to `hop`: on a steep wall a bounce would otherwise be driven sideways.
    pub(super) lean: DVec2,
    /// Speed of its highest hop, m/s.
    pub(super) hop: f64,
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
    /// The impulse when the present sweep began.
    pub(super) swept: DVec3,
    /// By how much the sum was to change at the end of the last sweep.
    pub(super) step: DVec3,
    pub(super) name: ContactName,
    /// It approached once: it gets impulses.
    pub(super) active: bool,
    /// Where the responses of bodies that joints hold begin and end, if there are any.
    pub(super) shared: [u32; 2],
}

/// Changes of velocity of a member by unit impulses along the axes of a contact, with what joints answer.
pub(super) type Shared = (u32, [Motion; 3]);

/// Change of velocity by an impulse, contact axes.
pub(super) fn shared_change(columns: &[Motion; 3], p: DVec3) -> Motion {
    let angular = columns[0].angular * p.x + columns[1].angular * p.y + columns[2].angular * p.z;
    let linear = columns[0].linear * p.x + columns[1].linear * p.y + columns[2].linear * p.z;
    Motion::new(angular, linear)
}

/// Which contact of a pair: convex pieces and features of both sides.
pub(super) type ContactName = ([u32; 2], [FeatureId; 2]);

/// What a touch needs to know of its pair.
pub(super) struct Pressing {
    /// Acceleration of A relative to B, m/s².
    pub(super) acceleration: DVec3,
    /// That of the contact since it last parted, world axes, m/s²: bodies that turn take their contacts along.
    pub(super) drift: Option<DVec3>,
    /// Largest acceleration of the two, m/s².
    pub(super) pressure: f64,
    /// Acceleration at which the two came back from their last hop, m/s²; zero if that is not known.
    pub(super) fall: f64,
    pub(super) friction: f64,
    pub(super) restitution: f64,
    /// Energy that phases have lent to the two, J; at least zero.
    pub(super) lent: f64,
    /// Energy that phases may still lend to the two, J; at least zero.
    pub(super) room: f64,
}

impl Touch {
    pub(super) fn new(
        all: &[Member],
        (site, name): &(Site, ContactName),
        link: u32,
        members: [u32; 2],
        pressing: &Pressing,
        params: &Scaled,
        sides: &Sides<'_>,
        shared: Option<([u32; 2], &[Shared])>,
    ) -> Result<Self, StepError> {
        let frame = ContactFrame::new(site.point, site.normal)
            .map_err(|source| StepError::Contact { pair: sides.name, source })?;
        let sides_of = members.map(|k| &all[k as usize]);
        let arms = sides_of.map(|m| site.point - m.state.pose().translation);
        let turns = [0, 1].map(|side| sides_of[side].turn(arms[side], &frame.axes));
        let mut k = mobility(sides_of, arms, &turns, &frame.axes);
        if let Some((_, responses)) = shared {
            // Joints may let nothing move along some axis.
            k = joined_mobility(responses, members, arms, &frame.axes) + k * STIFF;
        }
        let give = GIVE * k.z_axis.z;
        k.z_axis.z += give;
        // The larger of the two principal tangential mobilities: the sweeps then converge in any direction.
        let (mean, half) = (0.5 * (k.x_axis.x + k.y_axis.y), 0.5 * (k.x_axis.x - k.y_axis.y));
        let slip = mean + (half * half + k.x_axis.y * k.x_axis.y).sqrt();
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
            turns,
            inverse: k.inverse(),
            masses: [1.0 / k.z_axis.z, 1.0 / slip],
            give,
            weight: k.z_axis.z.max(slip) / unit,
            separation: site.separation,
            friction: pressing.friction,
            speed: 0.0,
            lean: DVec2::ZERO,
            hop: unit,
            approach: 0.0,
            slow: params.micro.as_ref().map_or(0.0, |m| m.threshold(pressing.pressure)),
            idle: idle(site.separation, unit, envelope),
            unit,
            beat: unit / pressing.pressure,
            impulse: DVec3::ZERO,
            swept: DVec3::ZERO,
            step: DVec3::ZERO,
            name: *name,
            active: false,
            shared: shared.map_or([0; 2], |(range, _)| range),
        };
        touch.approach = touch.first_approach(all);
        // A contact that is hardly pressed has no flight to return from.
        let pressed = press > 0.05 * pressing.acceleration.length();
        let fall = if pressed { press.max(steep(pressing.fall, pressing.pressure)) } else { press };
        let bounce = pressing.restitution * touch.approach;
        let kept = (bounce * bounce - 2.0 * pressing.lent * k.z_axis.z).max(0.0).sqrt();
        let approach = touch.approach.max(0.0);
        let most = (approach * approach + 2.0 * pressing.room * k.z_axis.z).sqrt();
        let lift = hop(fall).max(low);
        let lift = lift.min(most.max(AWAY * touch.idle).max(BACK * lift));
        touch.speed = lift.max(if bounce > 0.0 { kept } else { 0.0 });
        if pressed {
            touch.hop = unit.max(hop(fall));
            let drift = pressing.drift.map_or(pull, |drift| frame.to_contact(drift));
            touch.lean = (drift.truncate() / -fall).clamp_length_max(pressing.friction);
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

    /// Velocity of A relative to B when the phase began, contact axes.
    pub(super) fn first_velocity(&self, members: &[Member]) -> DVec3 {
        let of = |k: usize| members[self.members[k] as usize].start.velocity_at(self.arms[k]);
        self.frame.to_contact(of(0) - of(1))
    }

    /// Smallest share of the impulses of a phase with which it parts at [`CREEP`] of its speed, given its normal velocities before and after, m/s.
    pub(super) fn share_to_part(&self, before: f64, after: f64, envelope: f64) -> f64 {
        let wanted = if self.separation < TIGHT * envelope { after } else { (CREEP * self.speed).min(after) };
        if after > before { (wanted - before) / (after - before) } else { 1.0 }
    }

    /// False if joints let nothing move along its normal.
    pub(super) fn is_movable(&self) -> bool {
        self.masses[0].is_finite() && self.masses[0] > 0.0 && self.inverse.is_finite()
    }

    /// Velocity of A relative to B, contact axes.
    #[inline]
    pub(super) fn velocity(&self, members: &[Member]) -> DVec3 {
        let of = |k: usize| members[self.members[k] as usize].velocity.velocity_at(self.arms[k]);
        self.frame.to_contact(of(0) - of(1))
    }

    /// Sets the sum of impulses, contact axes, and moves the bodies by the difference.
    #[inline]
    pub(super) fn push(&mut self, members: &mut [Member], shared: &[Shared], p: DVec3) {
        let change = p - self.impulse;
        let impulse = self.frame.to_world(change);
        self.impulse = p;
        let [from, to] = self.shared;
        if from < to {
            for (k, columns) in &shared[from as usize..to as usize] {
                let (member, change) = (&mut members[*k as usize], shared_change(columns, change));
                member.velocity.linear += change.linear;
                member.velocity.angular += change.angular;
                member.pushed = true;
            }
            return;
        }
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let member = &mut members[self.members[side] as usize];
            if member.inverse_mass > 0.0 {
                member.velocity.linear += impulse * (sign * member.inverse_mass);
                member.velocity.angular += self.turns[side] * (sign * change);
                member.pushed = true;
            }
        }
    }

    /// Sum of impulses after a visit at relative velocity `u`, contact axes.
    #[inline]
    pub(super) fn solve(&self, u: DVec3) -> DVec3 {
        let speed = self.speed - (self.give * self.impulse.z).min(LEFT * self.unit);
        let missing = (self.lean * speed.min(self.hop)).extend(speed) - u;
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
pub(super) fn cramped(sides: &Sides<'_>, look: &Look, params: &Scaled) -> bool {
    let (envelope, hop) = (params.envelope(), hop(sides, params));
    let near = params.together() && look.distance < TIGHT * envelope;
    near && hop > 0.0 && -look.closing < idle(look.distance, hop, envelope)
}

/// Speed of a hop, m/s.
fn hop(sides: &Sides<'_>, params: &Scaled) -> f64 {
    (2.0 * height(sides, params) * sides.pressure()).sqrt()
}

/// Height of a hop, m.
fn height(sides: &Sides<'_>, params: &Scaled) -> f64 {
    let [a, b] = sides.colliders.map(|c| c.extent().radius);
    (HOP * params.envelope()).min(STEP * a.min(b))
}

/// Longest time (s) for which a pair that approaches inside the envelope can be left to fall: until it has the speed of a hop.
/// Looks come earlier than that where bounds are loose, and an impulse at each of them would lift the body out of the envelope.
/// `fall` is the acceleration of its flight so far, m/s².
pub(super) fn leave(sides: &Sides<'_>, look: &Look, params: &Scaled, fall: f64) -> Option<f64> {
    let pressure = sides.pressure();
    let fall = pressure.max(steep(fall, pressure));
    let hop = (2.0 * height(sides, params) * fall).sqrt();
    let falls = look.closing < BACK * hop && look.distance > LOW * params.envelope();
    falls.then(|| (hop - look.closing) / fall)
}

/// The acceleration of a flight (m/s²) that a hop is made for.
fn steep(fall: f64, pressure: f64) -> f64 {
    fall.min(STEEPEST * pressure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rigid_impulse::{Body, PrincipalMass, pair_matrix};
    use sim_math::{Pose, testkit::SplitMix64};

    #[test]
    fn mobilities_and_pushes_are_those_of_the_collision_matrix() {
        let mut random = SplitMix64(40);
        for k in 0..500 {
            let body = |random: &mut SplitMix64| {
                let half = DVec3::new(random.range(0.1, 1.0), random.range(0.1, 1.0), random.range(0.1, 1.0));
                let mass = PrincipalMass::cuboid(random.range(0.1, 3.0), half).unwrap();
                Body::free(mass, Pose::new(random.vec3(2.0), random.unit_quat())).unwrap()
            };
            let a = body(&mut random);
            let b = if k % 3 == 0 { Body::fixed(Pose::IDENTITY).unwrap() } else { body(&mut random) };
            let frame = ContactFrame::new(random.vec3(1.0), random.unit_quat() * DVec3::Z).unwrap();
            let members = [a, b].map(|body| Member::new(0, &body.model, body.state, false));
            let arms = [a, b].map(|s| frame.point - s.pose().translation);
            let turns = [0, 1].map(|side| members[side].turn(arms[side], &frame.axes));
            let found = mobility([&members[0], &members[1]], arms, &turns, &frame.axes);
            let expected = pair_matrix([&a.model, &b.model], [&a.state, &b.state], &frame);
            assert!(found.abs_diff_eq(expected, 1e-12 * expected.z_axis.length()), "{found} {expected}");
            // An impulse changes the velocity at the contact by K p.
            let p = random.vec3(1.0);
            let mut states = [a.state, b.state];
            for (side, impulse) in [(0, frame.to_world(p)), (1, -frame.to_world(p))] {
                members[side].push(&mut states[side], arms[side], impulse);
            }
            let change =
                frame.to_contact(states[0].velocity_at(frame.point) - states[1].velocity_at(frame.point));
            assert!((change - expected * p).length() < 1e-11 * expected.z_axis.length(), "{change}");
        }
    }
}
