//! The collision phase of improved contact handling: every contact that approaches inside the envelope, wherever an impulse has
//! made it approach, until none does.
//!
//! # Reference
//!
//! Fontijne (2000), sections 3.8.2 and 3.10: impulses at all contacts of a pair, in an order that changes, for all pairs
//! until no contact closer than ε approaches. His contacts are features that had impulses lately; here they are the
//! whole manifold of each pair. That impulses add up over sweeps, and begin with what contacts bore lately, is ours.
//! Steps between sweeps: Silcowitz, Niebe, Erleben (2010), nonsmooth nonlinear conjugate gradients.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | member, link, touch | a body, a pair, a contact that the phase has reached | - |
//! | p | sum of the impulses at a contact so far, contact axes | N·s |
//! | bearing | mean force of a contact between its last two phases | N |
//!
//! # Formula
//!
//! ```text
//! begin:  the contacts of the pair that collided, each with p = bearing × time since its last phase
//! grow:   pairs of bodies that got an impulse join, if they can be inside the envelope
//! sweep:  visit every contact (see `touch`), forwards and backwards in turn
//! step:   r = what a sweep changed,  β = |r|²/|r before|² < 1:   p ← p + β s,  s ← β s + r
//! lend:   p ← λ p, so that its work is no more than what its bodies may still borrow (see `lend`)
//! until no velocity changes by more than `SETTLED` of a hop; or no approach is left, and
//!         a sweep changes less than `FINE` of the most that one did, or it is stuck, or there were `PLENTY`
//! ```
//!
//! # Cost
//!
//! One distance and one manifold for each pair that an impulse can reach, and some 200 multiplications per contact and
//! sweep; a stack at rest needs two to twenty sweeps. No allocation once the lists have grown.
//!
//! # Numerics
//!
//! Sums of impulses converge to a result that does not depend on the order of visiting; what sweeps leave over is an
//! approach of a small share of a hop, which the next phase answers. Pairs join in the order of their names, so that the
//! order of tables does not show.
//!
//! # Failure
//!
//! What distances and frames report, naming the pair. Sweeps end at [`MAX_SWEEPS`]. A sleeper that is approached wakes, and
//! the pair is looked at again.
//!
//! # Tested by
//!
//! `tests/every_event.rs`, `tests/support.rs`, `resting` of the validation scenes

use super::{
    check, clusters, lend,
    look::{Look, Sides, look_from},
    respond::{Outcome, Site},
    sleep,
    state::{Books, Response, Setup, Tables},
    touch::{ContactName, LEFT, Member, Pressing, Shared, Touch, shared_change, sites},
};
use crate::pooled::pooled;
use constraint_dynamics::{
    PoolBody, PoolContact,
    restitution::{ImpactJoints, ResponseScratch},
};
use rigid_impulse::{BodyModel, BodyState, ContactFrame};
use sim_math::{glam::DVec3, spatial::Motion};
use sim_traits::BodyId;
use sim_world::{Body, JointWork, Rest, RowScratch, StepError, StepperAccess, World};
use smallvec::SmallVec;

/// Most sweeps over all contacts.
const MAX_SWEEPS: u32 = 1000;
/// From this sweep on it is enough that no contact approaches by more than twice [`LEFT`] of a hop.
const PLENTY: u32 = 20;
/// The same is enough when a sweep changes no less than this share of what one [`LOOKBACK`] sweeps before did: contacts of a body that leans
/// ask for velocities that no motion of a rigid body has, and no number of sweeps finds one.
const STUCK: f64 = 0.8;
const LOOKBACK: u32 = 4;
/// And it is enough when a sweep changes less than this share of what the first ones did: who is being thrown about needs less care than
/// who rests.
const FINE: f64 = 2e-3;
/// Change of velocity in one sweep that counts as none, as a share of the speed of a hop.
const SETTLED: f64 = 5e-5;
/// Longest time for which the forces of contacts are remembered, as a multiple of half a hop.
const MEMORY: f64 = 20.0;
/// Shortest time over which a mean force is taken, in the same unit.
const BRIEF: f64 = 0.1;
/// Most contacts of a pair whose forces are remembered: no list grows in a step.
const MAX_FORCES: usize = 4;
/// Not a member.
const NONE: u32 = u32::MAX;

/// A pair of the phase.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) slot: u32,
    closest: Site,
}

/// Forces that the contacts of a pair exerted between its last two phases: where the sweeps of the next one begin.
#[derive(Debug, Clone, Default)]
pub(super) struct Bearing {
    /// The last phase, s.
    pub(super) since: f64,
    /// Contact axes, N.
    pub(super) forces: SmallVec<[(ContactName, DVec3); 4]>,
}

/// Lists of a phase; kept for their memory.
#[derive(Debug, Default)]
pub(super) struct Phase {
    pub(super) members: Vec<Member>,
    /// Member of a body slot.
    index: Vec<u32>,
    pub(super) links: Vec<Link>,
    pub(super) touches: Vec<Touch>,
    /// Members as contacts see them, at rest; which cluster of joints each is of.
    pool: Vec<PoolBody>,
    group_of: Vec<u32>,
    /// Clusters of joints with their members, and their rows.
    clusters: Vec<(u32, [u32; 2])>,
    grouped: Vec<u32>,
    joints: ImpactJoints,
    rows: RowScratch,
    responses: ResponseScratch,
    asked: Vec<u32>,
    columns: Vec<[Motion; 3]>,
    pub(super) shared: Vec<Shared>,
    changed: Vec<(BodyId, BodyState)>,
    found: Vec<u32>,
    sites: Vec<(Site, ContactName)>,
    /// Of members, after it.
    pub(super) states: Vec<BodyState>,
    /// The same before it.
    pub(super) first: Vec<BodyState>,
}

impl Phase {
    fn clear(&mut self) {
        for member in self.members.drain(..) {
            if let Some(entry) = self.index.get_mut(member.slot as usize) {
                *entry = NONE;
            }
        }
        self.links.clear();
        self.touches.clear();
        self.pool.clear();
        self.group_of.clear();
        self.clusters.clear();
        self.grouped.clear();
        self.joints.clear(0);
        self.rows.clear();
        self.shared.clear();
    }

    /// All bodies that joints connect with these members join with them, and the rows of the joints.
    fn join_linked(&mut self, world: &World, members: [u32; 2], time: f64) -> Result<(), StepError> {
        for k in members {
            let slot = self.members[k as usize].slot;
            let cluster = world.body_in_slot(slot).and_then(|(_, body)| body.cluster());
            let known = |c: &u32| self.clusters.iter().any(|(cluster, _)| cluster == c);
            let Some(cluster) = cluster.filter(|c| world.is_linked(*c as usize) && !known(c)) else {
                continue;
            };
            let (group, first) = (self.clusters.len() as u32, self.grouped.len() as u32);
            for &id in world.cluster_members(cluster) {
                let Some(body) = world.get(id).filter(|b| b.rest() == Rest::Awake) else { continue };
                let member = self.join(world, id.index(), || {
                    body.at(time).map_err(|source| StepError::Body { body: id, source })
                })?;
                self.group_of[member as usize] = group;
                self.grouped.push(member);
            }
            self.clusters.push((cluster, [first, self.grouped.len() as u32]));
            let Self { index, members, rows, joints, pool, .. } = self;
            let place = |id: BodyId| {
                let k = *index.get(id.index() as usize).filter(|k| **k != NONE)?;
                Some((k, members[k as usize].state))
            };
            world.link_rows(cluster, time, &place, rows, joints);
            joints.finish(pool);
        }
        Ok(())
    }

    /// Responses of all bodies that joints connect with the two of a contact, where it is in `shared`.
    fn respond(&mut self, members: [u32; 2], frame: &ContactFrame) -> Option<[u32; 2]> {
        let groups = members.map(|k| self.group_of[k as usize]);
        if groups == [NONE; 2] {
            return None;
        }
        self.asked.clear();
        for (side, group) in groups.into_iter().enumerate() {
            match self.clusters.get(group as usize) {
                Some(_) if side == 1 && group == groups[0] => {}
                Some((_, [from, to])) => {
                    self.asked.extend_from_slice(&self.grouped[*from as usize..*to as usize]);
                }
                None => self.asked.push(members[side]),
            }
        }
        let contact = PoolContact {
            bodies: members,
            point: frame.point,
            frame: frame.axes,
            friction: 0.0,
            bias: DVec3::ZERO,
        };
        self.columns.clear();
        let Self { joints, pool, responses, asked, columns, .. } = self;
        joints.respond(pool, &contact, asked, responses, columns);
        let first = self.shared.len() as u32;
        self.shared.extend(self.asked.iter().copied().zip(self.columns.iter().copied()));
        Some([first, self.shared.len() as u32])
    }

    /// Gives the impulse of a contact to states.
    pub(super) fn apply(&self, touch: &Touch, states: &mut [BodyState]) {
        let [from, to] = touch.shared;
        for (k, columns) in &self.shared[from as usize..to as usize] {
            let change = shared_change(columns, touch.impulse);
            let velocity = &mut states[*k as usize].velocity;
            velocity.linear += change.linear;
            velocity.angular += change.angular;
        }
    }

    /// What joints gave to their bodies between two lists of states of members, besides the contacts.
    pub(super) fn joint_work(&self, before: &[BodyState], after: &[BodyState]) -> Option<JointWork> {
        if self.clusters.is_empty() {
            return None;
        }
        let mut work = JointWork::default();
        for &k in &self.grouped {
            let (from, to, body) = (&before[k as usize], &after[k as usize], &self.pool[k as usize]);
            let linear = (to.velocity.linear - from.velocity.linear) / body.inverse_mass;
            let spin = body.inverse_inertia.inverse() * (to.velocity.angular - from.velocity.angular);
            work.impulse += linear;
            work.moment += from.pose().translation.cross(linear) + spin;
        }
        for touch in &self.touches {
            let impulse = touch.frame.to_world(touch.impulse);
            for (member, impulse) in touch.members.into_iter().zip([impulse, -impulse]) {
                if self.group_of[member as usize] != NONE {
                    work.impulse -= impulse;
                    work.moment -= touch.frame.point.cross(impulse);
                }
            }
        }
        Some(work)
    }

    /// True if a body got an impulse and its pairs are not in the phase yet.
    fn may_grow(&self) -> bool {
        self.members.iter().any(|m| m.pushed && !m.spread)
    }

    pub(super) fn member(&self, slot: u32) -> Option<usize> {
        self.index.get(slot as usize).filter(|k| **k != NONE).map(|k| *k as usize)
    }

    /// The member of a body slot, which becomes one with the state given if it is none.
    fn join(
        &mut self,
        world: &World,
        slot: u32,
        state: impl FnOnce() -> Result<BodyState, StepError>,
    ) -> Result<u32, StepError> {
        if let Some(k) = self.member(slot) {
            return Ok(k as u32);
        }
        if self.index.len() <= slot as usize {
            self.index.resize(slot as usize + 1, NONE);
        }
        let (state, k) = (state()?, self.members.len() as u32);
        self.index[slot as usize] = k;
        let body = world.body_in_slot(slot).map(|(_, body)| body);
        let asleep = body.is_some_and(|body| body.rest() == Rest::Asleep);
        let model = body.map_or(&BodyModel::FIXED, Body::model);
        self.members.push(Member::new(slot, model, state, asleep));
        self.pool.push(pooled(model, &state));
        self.group_of.push(NONE);
        Ok(k)
    }

    /// Fastest approach that is not an impact, as a share of a hop.
    fn largest_approach(&self) -> f64 {
        let approach = |t: &Touch| {
            Some(-t.velocity(&self.members).z).filter(|c| t.active || *c < t.slow).map(|c| c / t.unit)
        };
        self.touches.iter().filter_map(approach).fold(0.0, f64::max)
    }

    /// Goes on in the direction of the last sweeps, as conjugate gradients do: what a sweep changed, plus β times the step before.
    /// `before` is the residual of the sweep before, zero to begin anew; returns that of the last sweep.
    fn extrapolate(&mut self, before: f64) -> f64 {
        let Self { members, touches, shared, .. } = self;
        let change = |t: &Touch| (t.impulse - t.swept) * t.weight;
        let residual: f64 = touches.iter().map(|t| change(t).length_squared()).sum();
        // Where sweeps do not converge there is no direction to go on in.
        let beta = if residual < before { residual / before } else { 0.0 };
        for touch in touches.iter_mut() {
            let step = beta * touch.step;
            touch.step = step + (touch.impulse - touch.swept);
            if step != DVec3::ZERO {
                touch.push(members, shared, touch.impulse + step);
            }
            touch.swept = touch.impulse;
        }
        residual
    }

    /// One visit to a contact. Returns the change of its velocity as a share of a hop; `None` if it needs no impulse.
    #[inline]
    fn visit(&mut self, k: usize) -> Option<f64> {
        let Self { members, touches, shared, .. } = self;
        let touch = &mut touches[k];
        let u = touch.velocity(members);
        if !touch.active {
            if u.z >= touch.idle || -u.z >= touch.slow {
                return None;
            }
            touch.active = true;
        }
        let p = touch.solve(u);
        let change = (p - touch.impulse).length();
        if change > 0.0 {
            touch.push(members, shared, p);
        }
        Some(change * touch.weight)
    }
}

/// Answers the collision of a pair, as seen at `time` (s), together with all contacts that it makes approach. `before` has
/// the impulses that an impact has given already.
pub(super) fn collision_phase(
    setup: &mut Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    slot: u32,
    time: f64,
    seen: &Look,
    before: &Outcome,
) -> Result<(), StepError> {
    let mut phase = std::mem::take(&mut response.phase);
    let end = sweep(setup, tables, response, books, &mut phase, world, slot, time, seen, before);
    let result = match end {
        Ok(None) => finish_phase(setup, tables, books, &mut phase, world, time, before),
        Ok(Some(sleeper)) => {
            // Nothing has been done yet: once it is awake the pair is looked at again.
            sleep::wake_island(setup, tables, books, world, sleeper, time)
                .and_then(|_| check::check(setup, tables, response, books, world, slot, time))
        }
        Err(error) => Err(error),
    };
    phase.clear();
    response.phase = phase;
    result
}

/// Sweeps until no contact approaches; the slot of a sleeper if one is approached.
fn sweep(
    setup: &Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    phase: &mut Phase,
    world: &World,
    slot: u32,
    time: f64,
    seen: &Look,
    before: &Outcome,
) -> Result<Option<u32>, StepError> {
    let Some(pair) = tables.pairs.get_mut(slot) else { return Ok(None) };
    let turn = pair.next_turn();
    for body in &before.bodies {
        let joined = phase.join(world, body.slot, || Ok(body.before))? as usize;
        phase.members[joined].start = body.after.velocity;
        phase.members[joined].velocity = body.after.velocity;
        phase.members[joined].pushed = body.after.velocity != body.before.velocity;
    }
    for k in 0..phase.members.len() as u32 {
        phase.join_linked(world, [k, k], time)?;
    }
    add_link(setup, tables, response, books, phase, world, slot, time, Some(seen))?;
    if before.collisions.is_empty() {
        // The pair was found approaching: that is no dust.
        for touch in &mut phase.touches {
            touch.active |= touch.approach > -touch.idle.max(0.0) && touch.approach < touch.slow;
        }
    }
    // Whoever bore something lately is part of it from the start.
    while spread(setup, tables, response, books, phase, world, time)? {}
    let (mut residual, mut mark, mut most) = (0.0, f64::INFINITY, 0.0_f64);
    for sweep in 0..MAX_SWEEPS {
        spread(setup, tables, response, books, phase, world, time)?;
        let (count, mut worst) = (phase.touches.len(), 0.0_f64);
        for k in 0..count {
            let k = if turn.wrapping_add(sweep) % 2 == 0 { k } else { count - 1 - k };
            let Some(change) = phase.visit(k) else { continue };
            worst = worst.max(change);
            let [a, b] = phase.touches[k].members.map(|m| &phase.members[m as usize]);
            if let Some(sleeper) = [a, b].into_iter().find(|m| m.asleep) {
                return Ok(Some(sleeper.slot));
            }
        }
        books.report.sweeps += 1;
        let stuck = sweep > 0 && sweep % LOOKBACK == 0 && {
            let mark = std::mem::replace(&mut mark, worst);
            worst > STUCK * mark
        };
        most = most.max(worst);
        let enough = sweep >= PLENTY || stuck || worst <= FINE * most;
        let settled = worst <= SETTLED || (enough && phase.largest_approach() <= 2.0 * LEFT);
        let grows = phase.may_grow();
        if settled && !grows {
            break;
        }
        residual = phase.extrapolate(if grows { 0.0 } else { residual });
    }
    lend::lend(setup, response, phase, world);
    Ok(None)
}

/// Brings in the pairs of all bodies that got impulses since the last call, in the order of their names. True if there were any.
fn spread(
    setup: &Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    phase: &mut Phase,
    world: &World,
    time: f64,
) -> Result<bool, StepError> {
    let mut found = std::mem::take(&mut phase.found);
    found.clear();
    for member in phase.members.iter_mut().filter(|m| m.pushed && !m.spread) {
        member.spread = true;
        found.extend_from_slice(tables.pairs.of_body(member.slot));
    }
    let key = |slot: &u32| tables.pairs.get(*slot).map(|p| p.key);
    found.sort_unstable_by_key(key);
    found.dedup();
    let mut grown = false;
    let mut result = Ok(());
    for &slot in &found {
        let Some(pair) = tables.pairs.get(slot) else { continue };
        let known = pair.sensor.is_some() || phase.links.iter().any(|l| l.slot == slot);
        if known || pair.distance_left(time) > setup.params.envelope() {
            continue;
        }
        grown = true;
        result = add_link(setup, tables, response, books, phase, world, slot, time, None);
        if result.is_err() {
            break;
        }
    }
    phase.found = found;
    result.map(|()| grown)
}

/// Adds a pair and its contacts inside the envelope.
fn add_link(
    setup: &Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    phase: &mut Phase,
    world: &World,
    slot: u32,
    time: f64,
    seen: Option<&Look>,
) -> Result<(), StepError> {
    let Setup { parts, params, .. } = setup;
    let Tables { pairs, .. } = tables;
    let Response { manifolds, lent, .. } = response;
    let Books { report, .. } = books;
    let Some(pair) = pairs.get_mut(slot) else { return Ok(()) };
    let Some(sides) = Sides::of(world, pair) else { return Ok(()) };
    let narrow = parts.narrow_phase.as_ref();
    let mut members = [0; 2];
    for (k, member) in members.iter_mut().enumerate() {
        *member = phase.join(world, pair.bodies[k], || {
            let body = sides.name.bodies[k];
            sides.bodies[k].at(time).map_err(|source| StepError::Body { body, source })
        })?;
    }
    phase.join_linked(world, members, time)?;
    let fresh;
    let seen = if let Some(seen) = seen {
        seen
    } else {
        report.distances += 1;
        let states = members.map(|k| phase.members[k as usize].state);
        let look = look_from(states, &sides, narrow, &mut pair.cache)?;
        fresh = look.filter(|s| s.distance >= -params.overlap_tolerance).ok_or_else(|| {
            let depth = look.map_or(f64::NAN, |s| -s.distance);
            StepError::Overlap { pair: sides.name, depth, time }
        })?;
        &fresh
    };
    let link = phase.links.len() as u32;
    phase.links.push(Link { slot, closest: seen.closest() });
    if seen.distance > params.envelope() {
        return Ok(());
    }
    let mut places = std::mem::take(&mut phase.sites);
    let envelope = params.envelope();
    let mut result = sites(&sides, narrow, &mut pair.cache, manifolds, seen, envelope, &mut places);
    let surface = world.surface_pair(sides.colliders[0], sides.colliders[1]);
    let [a, b] = sides.bodies.map(|body| body.piece().uniform_acceleration());
    let mut pressing = Pressing {
        acceleration: a - b,
        drift: None,
        pressure: sides.pressure(),
        fall: pair.fall(time, seen.closing),
        friction: surface.friction,
        restitution: surface.restitution,
        lent: lent.of_pair(pair.bodies),
        room: lent.room(world, pair.bodies, params.envelope()),
    };
    if result.is_ok() {
        let elapsed = time - pair.bearing.since;
        for site in &places {
            let at = members.map(|k| phase.members[k as usize].state.velocity_at(site.0.point));
            pressing.drift = pair.drift(time, &site.1, at[0] - at[1]);
            let frame = ContactFrame::new(site.0.point, site.0.normal);
            let range = frame.ok().and_then(|frame| phase.respond(members, &frame));
            let shared = range.map(|r| (r, &phase.shared[r[0] as usize..r[1] as usize]));
            match Touch::new(&phase.members, site, link, members, &pressing, params, &sides, shared) {
                // Where joints let nothing move there is nothing to answer.
                Ok(touch) if !touch.is_movable() => {}
                Ok(mut touch) => {
                    let force = pair.bearing.forces.iter().find(|(name, _)| *name == touch.name);
                    // After a long flight the last forces say nothing, and a fast approach has an impact of its own.
                    let recent = elapsed < MEMORY * touch.beat && touch.approach < touch.slow;
                    let guess = force.filter(|_| recent).map(|(_, f)| *f * elapsed);
                    touch.active = guess.is_some();
                    if let Some(guess) = guess {
                        touch.push(&mut phase.members, &phase.shared, guess);
                        touch.swept = guess;
                    }
                    phase.touches.push(touch);
                }
                Err(error) => result = Err(error),
            }
        }
    }
    phase.sites = places;
    result
}

/// Books the impulses, begins new pieces, and says when to look again.
fn finish_phase(
    setup: &mut Setup,
    tables: &mut Tables,
    books: &mut Books,
    phase: &mut Phase,
    world: &mut StepperAccess<'_>,
    time: f64,
    before: &Outcome,
) -> Result<(), StepError> {
    lend::book_phase(tables, books, phase, world, time, before);
    let mut states = std::mem::take(&mut phase.states);
    phase.changed.clear();
    for (member, state) in phase.members.iter().zip(&states).filter(|(m, _)| m.pushed) {
        phase.changed.extend(launchable(world, member.slot, state)?.map(|id| (id, *state)));
    }
    world.relaunch_all(&phase.changed, time).map_err(StepError::from)?;
    // Limits may have been hit at once.
    for &k in &phase.grouped {
        if let Some((_, body)) =
            world.body_in_slot(phase.members[k as usize].slot).filter(|_| phase.members[k as usize].pushed)
        {
            states[k as usize] = *body.piece().state();
        }
    }
    for link in &phase.links {
        if let Some(pair) = tables.pairs.get_mut(link.slot) {
            pair.in_phase = true;
        }
    }
    for (k, member) in phase.members.iter().enumerate().filter(|(_, m)| m.pushed) {
        if phase.group_of[k] == NONE {
            check::motion_changed(setup, tables, books, world, member.slot, None, time)?;
            clusters::neighbours_changed(setup, tables, books, world, member.slot, time)?;
        }
    }
    for &(cluster, [from, to]) in &phase.clusters {
        let pushed = |k: &u32| phase.members[*k as usize].pushed;
        if phase.grouped[from as usize..to as usize].iter().any(pushed) {
            clusters::cluster_changed(setup, tables, books, world, cluster, None, time)?;
        }
    }
    remember_forces(tables, phase, time);
    // All these have an exact distance.
    for (k, link) in phase.links.iter().enumerate() {
        let Some(pair) = tables.pairs.get_mut(link.slot) else { continue };
        pair.in_phase = false;
        let Some(sides) = Sides::of(world, pair) else { continue };
        let now = pair.bodies.map(|b| phase.member(b).map(|k| states[k]));
        let [Some(a), Some(b)] = now else { continue };
        let Site { point, normal, .. } = link.closest;
        pair.parted = Some((time, (a.velocity_at(point) - b.velocity_at(point)).dot(normal)));
        pair.slips.clear();
        let touches = phase.touches.iter().filter(|t| t.link == k as u32);
        pair.slips.extend(touches.take(MAX_FORCES).map(|t| {
            let point = t.frame.point;
            (t.name, a.velocity_at(point) - b.velocity_at(point))
        }));
        let date = pair.next_look(&sides, &setup.params, time, &link.closest, &[a, b]);
        tables.queue.reschedule_ranked(pair.event, date)?;
    }
    phase.states = states;
    Ok(())
}

/// Keeps the mean forces since the last phase of each pair. A phase that follows at once says nothing; a contact that had a
/// rest may bear again, so that half of its force is kept.
fn remember_forces(tables: &mut Tables, phase: &Phase, time: f64) {
    let mut first = 0;
    while let Some(head) = phase.touches.get(first) {
        let count = phase.touches[first..].iter().take_while(|t| t.link == head.link).count();
        let touches = &phase.touches[first..first + count];
        first += count;
        let Some(pair) = tables.pairs.get_mut(phase.links[head.link as usize].slot) else { continue };
        let elapsed = time - pair.bearing.since;
        if elapsed <= BRIEF * head.beat {
            continue;
        }
        let old = std::mem::take(&mut pair.bearing.forces);
        let known = |t: &Touch| old.iter().find(|(name, _)| *name == t.name).map(|(_, f)| *f * 0.5);
        let force = |t: &Touch| if t.active { Some(t.impulse / elapsed) } else { known(t) };
        let forces = touches.iter().filter_map(|t| Some((t.name, force(t)?)));
        pair.bearing = Bearing { since: time, forces: forces.take(MAX_FORCES).collect() };
    }
}

/// Begins a new piece of a free body, if the state is finite.
pub(super) fn relaunch(
    world: &mut StepperAccess<'_>,
    slot: u32,
    time: f64,
    state: &BodyState,
) -> Result<(), StepError> {
    match launchable(world, slot, state)? {
        Some(id) => world.relaunch(id, time, *state).map_err(StepError::from),
        None => Ok(()),
    }
}

/// The free body of a slot, if it can go on with a state.
fn launchable(world: &World, slot: u32, state: &BodyState) -> Result<Option<BodyId>, StepError> {
    let Some((id, _)) = world.body_in_slot(slot).filter(|(_, b)| b.is_free()) else { return Ok(None) };
    if let Some(&value) = state.velocity.to_array().iter().find(|x| !x.is_finite()) {
        let source = rigid_impulse::BodyError::NonFinite { what: "velocity after impact", value };
        return Err(StepError::Body { body: id, source });
    }
    Ok(Some(id))
}
