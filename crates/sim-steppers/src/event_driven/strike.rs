//! All contacts that hit at one time, of whatever pairs, answered as one impact.
//!
//! # Reference
//!
//! [`constraint_dynamics::restitution`], the law of all steppers. Which contacts take part is ours.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | ε | collision envelope | m |
//! | d | distance of a pair, or of one of its contacts | m |
//!
//! # Formula
//!
//! ```text
//! begin:  the contacts of the pair at its root
//! grow:   pairs of bodies that got an impulse join, if they are at their root too (d ≤ `ROOTS` root tolerances),
//!         or if they were in contact before and are inside the envelope (d ≤ ε), or if one of them is in contact with a third
//!         body, both are convex and d ≤ `LOW` ε: hops leave it no nearer to where it rests
//! round:  a round of the law; until there is nothing to answer and nobody joined
//! ```
//!
//! A contact that is alone is left to the impact law of the stepper, which follows the slip through the impact.
//! Approaches below the micro-collision threshold need no answer of their own: the collision phase, or the next look, has one.
//!
//! # Cost
//!
//! One distance and one manifold for each pair that can take part. No allocation once the lists have grown.
//!
//! # Numerics
//!
//! What joins inside the envelope is answered before its root, by less than ε; that changes no energy.
//!
//! # Failure
//!
//! What distances, frames and the law report, naming pair or body. Rounds without end are counted in the report as unsolved.
//! A sleeper that is reached wakes, and the pair is looked at again.
//!
//! # Tested by
//!
//! `tests/flat.rs`, `tests/together.rs`

use super::{
    locate::resolution,
    look::{Look, Sides, look_from},
    respond::{Changed, Outcome, Site},
    state::{Books, Response, Setup, Tables},
    touch::{ContactName, LOW, sites},
};
use crate::{pooled::pooled, push::Push};
use constraint_dynamics::{
    PoolBody, PoolContact,
    restitution::{Bounce, Impact, ImpactJoints},
};
use rigid_impulse::{BodyModel, BodyState, CollisionKind, ContactFrame};
use sim_math::glam::DVec3;
use sim_world::{Rest, StepError, World};

/// Contacts count as hit at one time if they are within this many root tolerances of the closest.
const ROOTS: f64 = 8.0;
/// Not a member.
const NONE: u32 = u32::MAX;

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Struck {
    /// One contact alone: nothing was done.
    Alone,
    /// The outcome has it.
    Together,
    /// Nothing was done: this sleeper has to wake first.
    Asleep(u32),
}

/// A body that the impact has reached.
#[derive(Debug, Clone, Copy)]
struct Member {
    slot: u32,
    state: BodyState,
    /// Its pairs are in the impact, or need not be.
    spread: bool,
}

/// Lists of an impact; kept for their memory.
#[derive(Debug, Default)]
pub(super) struct Strike {
    law: Impact,
    members: Vec<Member>,
    /// Member of a body slot.
    index: Vec<u32>,
    pool: Vec<PoolBody>,
    links: Vec<u32>,
    /// Pair and place of each contact.
    places: Vec<(u32, Site)>,
    contacts: Vec<PoolContact>,
    bounces: Vec<Bounce>,
    joints: ImpactJoints,
    found: Vec<u32>,
    sites: Vec<(Site, ContactName)>,
}

impl Strike {
    fn clear(&mut self) {
        for member in self.members.drain(..) {
            self.index[member.slot as usize] = NONE;
        }
        self.pool.clear();
        self.links.clear();
        self.places.clear();
        self.contacts.clear();
        self.bounces.clear();
    }

    /// The member of a body slot, which becomes one with the state given if it is none.
    fn join(
        &mut self,
        slot: u32,
        model: &BodyModel,
        state: impl FnOnce() -> Result<BodyState, StepError>,
    ) -> Result<u32, StepError> {
        if self.index.len() <= slot as usize {
            self.index.resize(slot as usize + 1, NONE);
        }
        if self.index[slot as usize] != NONE {
            return Ok(self.index[slot as usize]);
        }
        let (state, k) = (state()?, self.members.len() as u32);
        self.index[slot as usize] = k;
        let body = pooled(model, &state);
        self.members.push(Member { slot, state, spread: body.inverse_mass == 0.0 });
        self.pool.push(body);
        Ok(k)
    }
}

/// Answers an impact of a pair at its root, as seen at `time` (s), together with all contacts that are hit with it.
pub(super) fn strike(
    setup: &Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    world: &World,
    slot: u32,
    time: f64,
    seen: &Look,
    outcome: &mut Outcome,
) -> Result<Struck, StepError> {
    let mut strike = std::mem::take(&mut response.strike);
    let result = strike_with(setup, tables, response, books, &mut strike, world, slot, time, seen, outcome);
    strike.clear();
    response.strike = strike;
    result
}

fn strike_with(
    setup: &Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    strike: &mut Strike,
    world: &World,
    slot: u32,
    time: f64,
    seen: &Look,
    outcome: &mut Outcome,
) -> Result<Struck, StepError> {
    reach(setup, tables, response, books, strike, world, slot, time, Some(seen))?;
    if let Some(sleeper) = grow(setup, tables, response, books, strike, world, time)? {
        return Ok(Struck::Asleep(sleeper));
    }
    if strike.contacts.len() < 2 {
        return Ok(Struck::Alone);
    }
    strike.law.begin();
    loop {
        let Strike { law, pool, contacts, bounces, joints, members, .. } = strike;
        let round = law.round(pool, contacts, bounces, joints);
        let more = round.map_err(|source| {
            let free = || members.iter().zip(&*pool).filter(|(_, body)| body.inverse_mass > 0.0);
            let named = free().next().and_then(|(m, _)| world.body_in_slot(m.slot));
            match named {
                Some((body, _)) => StepError::ContactLaw { body, others: free().count() - 1, time, source },
                None => StepError::EmptySlot {
                    what: "free body",
                    slot: members.first().map_or(u32::MAX, |m| m.slot),
                    time,
                },
            }
        })?;
        let known = strike.contacts.len();
        if let Some(sleeper) = grow(setup, tables, response, books, strike, world, time)? {
            return Ok(Struck::Asleep(sleeper));
        }
        if !more && strike.contacts.len() == known {
            break;
        }
    }
    let report = strike.law.report();
    if report.rounds == 0 {
        // Nothing but the closest points approaches.
        return Ok(Struck::Alone);
    }
    books.report.solver.unsolved += u64::from(report.cut_off);
    outcome.clear();
    outcome.bodies.extend(strike.members.iter().zip(&strike.pool).map(|(member, body)| {
        let mut after = member.state;
        after.velocity = body.velocity;
        Changed { slot: member.slot, before: member.state, after }
    }));
    for (k, p) in strike.law.impulses().iter().enumerate().filter(|(_, p)| **p != DVec3::ZERO) {
        let (link, Site { point, normal, separation }) = strike.places[k];
        let Some(pair) = tables.pairs.get(link) else { continue };
        let push = Push { point, normal, separation, impulse: strike.contacts[k].frame * *p };
        let collision = push.collision(pair.names, strike.law.approaches()[k], CollisionKind::Ordinary);
        outcome.collisions.push((link, collision));
    }
    Ok(Struck::Together)
}

/// Brings in the pairs of all bodies that are struck, in the order of their names; the slot of a sleeper if one is reached.
fn grow(
    setup: &Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    strike: &mut Strike,
    world: &World,
    time: f64,
) -> Result<Option<u32>, StepError> {
    let mut found = std::mem::take(&mut strike.found);
    found.clear();
    let first = strike.links.len() == 1;
    for (member, body) in strike.members.iter_mut().zip(&strike.pool) {
        if !member.spread && (first || body.velocity != member.state.velocity) {
            member.spread = true;
            found.extend_from_slice(tables.pairs.of_body(member.slot));
        }
    }
    let key = |slot: &u32| tables.pairs.get(*slot).map(|p| p.key);
    found.sort_unstable_by_key(key);
    found.dedup();
    let mut result = Ok(None);
    for &slot in &found {
        if strike.links.contains(&slot) {
            continue;
        }
        result = reach(setup, tables, response, books, strike, world, slot, time, None);
        if !matches!(result, Ok(None)) {
            break;
        }
    }
    strike.found = found;
    result
}

/// True if a body of a pair is in contact with a third one.
fn rests(tables: &Tables, world: &World, slot: u32) -> bool {
    let Some(pair) = tables.pairs.get(slot) else { return false };
    let touches =
        |k: &u32| *k != slot && tables.pairs.get(*k).is_some_and(|p| p.touching && p.sensor.is_none());
    let free = |body: &&u32| world.body_in_slot(**body).is_some_and(|(_, b)| b.is_free());
    pair.bodies.iter().filter(free).any(|body| tables.pairs.of_body(*body).iter().any(touches))
}

/// Adds the contacts of a pair, if they are hit with the others; the slot of a sleeper if that is one of its bodies.
fn reach(
    setup: &Setup,
    tables: &mut Tables,
    response: &mut Response,
    books: &mut Books,
    strike: &mut Strike,
    world: &World,
    slot: u32,
    time: f64,
    seen: Option<&Look>,
) -> Result<Option<u32>, StepError> {
    let rests = rests(tables, world, slot);
    let Setup { parts, params, .. } = setup;
    let Tables { pairs, .. } = tables;
    let Response { manifolds, .. } = response;
    let Books { report, .. } = books;
    let Some(pair) = pairs.get_mut(slot) else { return Ok(None) };
    let touched = pair.touching && seen.is_none();
    let roots = ROOTS * params.root_tolerance;
    // Rounding of time matters for fast bodies, whose pairs the bound lets through.
    if pair.sensor.is_some() || (seen.is_none() && pair.distance_left(time) > params.envelope()) {
        return Ok(None);
    }
    let Some(sides) = Sides::of(world, pair) else { return Ok(None) };
    // Facets of other shapes that are near need not be hit.
    let rests = rests && sides.convex();
    let most = match (touched, rests) {
        (true, _) => params.envelope(),
        (false, true) => LOW * params.envelope(),
        (false, false) => roots,
    };
    let narrow = parts.narrow_phase.as_ref();
    let state = |strike: &Strike, k: usize| {
        let member = strike.index.get(pair.bodies[k] as usize).filter(|m| **m != NONE);
        match member {
            Some(m) => Ok(strike.members[*m as usize].state),
            None => {
                let body = sides.name.bodies[k];
                sides.bodies[k].at(time).map_err(|source| StepError::Body { body, source })
            }
        }
    };
    let fresh;
    let look = if let Some(seen) = seen {
        seen
    } else {
        report.distances += 1;
        let look = look_from([state(strike, 0)?, state(strike, 1)?], &sides, narrow, &mut pair.cache)?;
        fresh = look.filter(|s| s.distance >= -params.overlap_tolerance).ok_or_else(|| {
            let depth = look.map_or(f64::NAN, |s| -s.distance);
            StepError::Overlap { pair: sides.name, depth, time }
        })?;
        &fresh
    };
    let most = most.max(ROOTS * resolution(params, time, look.closing));
    if seen.is_none() && look.distance > most {
        return Ok(None);
    }
    let sleeps = |slot: &u32| world.body_in_slot(*slot).is_some_and(|(_, b)| b.rest() == Rest::Asleep);
    if let Some(sleeper) = pair.bodies.iter().find(|b| sleeps(b)) {
        return Ok(Some(*sleeper));
    }
    let near = if touched || rests { most } else { look.distance.max(0.0) + roots };
    let mut places = std::mem::take(&mut strike.sites);
    let result = sites(&sides, narrow, &mut pair.cache, manifolds, look, near, &mut places);
    // The contact at its root is one of them, whatever the manifold has.
    if seen.is_some() && !places.iter().any(|(site, _)| site.separation <= look.distance + roots) {
        places.push((look.closest(), ContactName::default()));
    }
    strike.sites = places;
    result?;
    let bodies = pair.bodies;
    let models = sides.models();
    let first = strike.join(bodies[0], models[0], || Ok(look.states[0]))?;
    let members = [first, strike.join(bodies[1], models[1], || Ok(look.states[1]))?];
    let surface = world.surface_pair(sides.colliders[0], sides.colliders[1]);
    // The pair that began it is answered at any speed.
    let rest = if seen.is_some() { 0.0 } else { params.slow(&sides) };
    strike.links.push(slot);
    for k in 0..strike.sites.len() {
        let site = strike.sites[k].0;
        let frame = ContactFrame::new(site.point, site.normal)
            .map_err(|source| StepError::Contact { pair: sides.name, source })?;
        strike.places.push((slot, site));
        strike.contacts.push(PoolContact {
            bodies: members,
            point: site.point,
            frame: frame.axes,
            friction: surface.friction,
            bias: DVec3::ZERO,
        });
        strike.bounces.push(Bounce { restitution: surface.restitution, rest });
    }
    Ok(None)
}
