//! Bounces, at the time at which they happen.
//!
//! # Reference
//!
//! [`constraint_dynamics::restitution`]: all contacts that hit at one time, as one impact.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | g | gap of a contact | m |
//! | u | velocity along the normal | m/s |
//! | a | acceleration along the normal without contact | m/s² |
//!
//! # Formula
//!
//! ```text
//! step cut at the first t with g + u t + ½ a t² = 0, for contacts that bounce
//! while a touching contact that bounces approaches: impact of all touching contacts
//! joints of the bodies take part: what they hold keeps its velocity, limits that are reached bounce
//! rest speed = max(min(g h/8, √(g r/50)), r/(10⁴ h)): slower approaches do not bounce
//! after the last cut: contacts that would be hit in what is left of the step are answered as if they touched
//! ```
//!
//! r is the radius of the smaller body. An impact before its time keeps all energy: neither heights nor speeds change by it.
//!
//! # Cost
//!
//! A look at every contact per round, and a small contact problem for those that approach; a cut step costs as much as a whole one.
//!
//! # Numerics
//!
//! Between impacts bodies are on exact parabolas, so that a bounce is as exact as its time: to rounding for balls, to half the touching distance for
//! others (Illinois' method on the distance, where the parabola of the contact point would overlap). An impact takes no time and no gravity.
//!
//! # Failure
//!
//! That of the impact law, which bounds its rounds. What it leaves is left to the contact problem, which does not bounce.
//!
//! # Tested by
//!
//! `tests/time_bouncing.rs`, `tests/flat.rs`

use super::{
    contact::{self, Entry},
    foresee::Ahead,
    joined,
    params::Scaled,
    sites::Site,
    state::{Books, Detection, Problem, Setup, StepBodies},
    travel::Travels,
};
use constraint_dynamics::{
    PoolBody, PoolContact,
    restitution::{Bounce, ImpactJoints},
};
use rigid_impulse::CollisionKind;
use sim_math::{glam::DVec3, spatial::Motion};
use sim_world::{Body, Piece, Rest, StepError, StepperAccess, World};

/// How often contacts that would be hit later in the step are looked for anew, and most distances for the root of a bounce.
const MAX_LOOKS: u32 = 16;

/// What an impact needs.
#[derive(Debug, Default)]
pub(super) struct Impacts {
    pub(super) law: constraint_dynamics::restitution::Impact,
    /// Sites of the impact, and whether a site is one.
    sites: Vec<u32>,
    known: Vec<bool>,
    contacts: Vec<PoolContact>,
    bounces: Vec<Bounce>,
    pub(super) joints: ImpactJoints,
    /// Which block and row of the step each row of `joints` is: what is held, then limits.
    pub(super) joint_rows: [Vec<[u32; 2]>; 2],
    /// Velocities of the bodies before it.
    pub(super) before: Vec<Motion>,
    /// The same of both ends of each contact, m/s.
    ends: Vec<[DVec3; 2]>,
}

/// Velocity of a contact along its normal, m/s.
pub(super) fn normal_velocity(bodies: &StepBodies, site: &Site) -> f64 {
    site.normal_velocity(&bodies.pool)
}

/// Time until a contact that bounces is hit, s; `None` if it does not bounce or is not hit within `h`.
pub(super) fn time_of_bounce(setup: &Setup, bodies: &StepBodies, site: &Site, h: f64) -> Option<f64> {
    if site.restitution <= 0.0 || bodies.trees.has_link(site.bodies) {
        return None;
    }
    let (g, u) = (site.gap.max(0.0), normal_velocity(bodies, site));
    // One that touches has bounced already if it leaves, and rests if it does not.
    if site.gap <= setup.params.touch && u <= site.rest_speed {
        return None;
    }
    let n = site.frame.z_axis;
    let of = |k: u32| bodies.body_steps[k as usize].acceleration;
    let a = n.dot(of(site.bodies[0]) - of(site.bodies[1]));
    // The smallest positive root of g + u t + ½ a t², without cancellation.
    let discriminant = u * u - 2.0 * a * g;
    if discriminant < 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    let t = if u <= 0.0 { 2.0 * g / (root - u) } else { -(u + root) / a };
    let speed = -(u + a * t);
    (t > 0.0 && t <= h && speed > site.rest_speed).then_some(t)
}

/// Finds the contacts that fly to a bounce, if the step may be cut there, with the velocities in the pool: the time until the first one, s. `whole`
/// is the length of the step; bounces of the next one count too: what flies there is left alone.
pub(super) fn find_bounces(
    setup: &Setup,
    found: &Detection,
    bodies: &StepBodies,
    problem: &mut Problem,
    whole: Option<f64>,
) -> f64 {
    let mut bouncing = std::mem::take(&mut problem.bouncing);
    bouncing.clear();
    let mut first = f64::INFINITY;
    for site in &found.sites.all {
        let date = whole.and_then(|whole| time_of_bounce(setup, bodies, site, 2.0 * whole));
        bouncing.push(date.is_some());
        first = first.min(date.unwrap_or(f64::INFINITY));
    }
    problem.bouncing = bouncing;
    first
}

/// What flies to a bounce may be pushed there sooner: the time (s) up to `h` at which the first contact is hit with the velocities in the pool, which
/// are those of the end of the step. Those that touch already are left to the contact problem, and all of them where `stop` says so; true if there
/// are any.
pub(super) fn sooner_bounce(
    setup: &Setup,
    found: &Detection,
    bodies: &StepBodies,
    problem: &mut Problem,
    h: f64,
    stop: bool,
) -> (f64, bool) {
    let (mut first, mut any) = (h, false);
    for k in 0..found.sites.all.len() {
        let site = &found.sites.all[k];
        let u = normal_velocity(bodies, site);
        if !problem.bouncing[k] || site.gap + u * h >= -setup.params.touch {
            continue;
        }
        if stop || site.gap <= setup.params.touch {
            (problem.bouncing[k], any) = (false, true);
        } else {
            first = first.min(site.gap / -u);
        }
    }
    (first, any)
}

/// The first time (s) up to `h` at which two bodies that turn and bounce touch. The parabolas of contact points do not know how bodies turn.
pub(super) fn first_root(
    setup: &Setup,
    found: &mut Detection,
    bodies: &StepBodies,
    world: &World,
    mut h: f64,
) -> f64 {
    let mut last = u32::MAX;
    for k in 0..found.sites.all.len() {
        let site = found.sites.all[k];
        let bounces = site.restitution > 0.0
            && site.gap > setup.params.touch
            && site.pair != last
            && !bodies.trees.has_link(site.bodies);
        if bounces && may_swing_in(bodies, &site, h) {
            last = site.pair;
            h = root_of_bounce(setup, found, bodies, world, site.pair, h);
        }
    }
    h
}

/// True if turning may close the gap of a contact within `h` seconds.
fn may_swing_in(bodies: &StepBodies, site: &Site, h: f64) -> bool {
    let mut swing = 0.0;
    let mut speeds = [DVec3::ZERO; 2];
    let mut spin = 0.0_f64;
    for (k, slot) in site.bodies.into_iter().enumerate() {
        let (body, body_step) = (&bodies.pool[slot as usize], &bodies.body_steps[slot as usize]);
        let turning = body.velocity.angular.length();
        spin = spin.max(turning);
        swing += body_step.acceleration.length();
        if turning > 0.0 {
            swing += turning * turning * (site.point - body.center).length();
        }
        speeds[k] = body.velocity_at(site.point);
    }
    let across = (speeds[0] - speeds[1]).length();
    // The direction of the normal turns with either body.
    swing += 2.0 * spin * across;
    spin > 0.0 && site.gap + normal_velocity(bodies, site) * h < 0.5 * swing * h * h
}

/// The two of a pair may overlap in `guess` seconds: that time if they do not, else an earlier one, found on the paths that they fly.
fn root_of_bounce(
    setup: &Setup,
    found: &mut Detection,
    bodies: &StepBodies,
    world: &World,
    pair: u32,
    guess: f64,
) -> f64 {
    let pair = &mut found.detect.candidates[pair as usize];
    let way = |slot: u32, body: &Body| {
        let body_step = &bodies.body_steps[slot as usize];
        let mut state = *body.state();
        state.velocity = body_step.start;
        Some(Piece::ballistic(world.time(), body.model(), state, body_step.acceleration))
    };
    let Some(ahead) = Ahead::new(world, pair, way) else { return guess };
    let narrow = setup.parts.narrow_phase.as_ref();
    let (cache, distances) = (&mut pair.rest.cache, &mut found.detect.distances);
    let mut distance = |t: f64| {
        *distances += 1;
        ahead.distance(narrow, cache, t)
    };
    let target = 0.5 * setup.params.touch;
    // Before and after it; the value of an end that stays is halved (Illinois).
    let (mut low, mut f_low) = (0.0, distance(0.0).unwrap_or(0.0) - target);
    let (mut high, mut f_high) = (guess, distance(guess).unwrap_or(-f64::INFINITY) - target);
    if f_high >= -target || f_low <= 0.0 {
        return guess;
    }
    for _ in 0..MAX_LOOKS {
        let share = f_low / (f_low - f_high);
        let t = low + (high - low) * if share > 0.0 && share < 1.0 { share } else { 0.5 };
        if t <= low || t >= high {
            break;
        }
        match distance(t).map(|d| d - target) {
            Some(f) if f.abs() <= target => return t,
            Some(f) if f > 0.0 => {
                (low, f_low) = (t, f);
                f_high *= 0.5;
            }
            f => {
                (high, f_high) = (t, f.unwrap_or(-f64::INFINITY));
                f_low *= 0.5;
            }
        }
    }
    if low > 0.0 { low } else { guess }
}

/// Answers all impacts at the world's time, and those within `early` seconds, which have no other chance.
pub(super) fn impacts(
    setup: &Setup,
    found: &mut Detection,
    bodies: &mut StepBodies,
    problem: &mut Problem,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    early: f64,
) -> Result<(), StepError> {
    if !found.sites.bouncy {
        return Ok(());
    }
    let mut impacts = std::mem::take(&mut problem.impacts);
    impacts.law.begin();
    impacts.sites.clear();
    impacts.contacts.clear();
    impacts.bounces.clear();
    impacts.known.clear();
    impacts.known.resize(found.sites.all.len(), false);
    let mut result = Ok(());
    for look in 0..MAX_LOOKS {
        if !gather_impacts(setup, found, bodies, &mut impacts, early, look == 0) {
            break;
        }
        if look == 0 {
            impacts.before.clear();
            impacts.before.extend(bodies.pool.iter().map(|body| body.velocity));
            joined::gather_for_impact(setup, bodies, &problem.joined, &mut impacts);
        }
        result = loop {
            match impacts.law.round(&mut bodies.pool, &impacts.contacts, &impacts.bounces, &impacts.joints) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(source) => break Err(source),
            }
        };
        if result.is_err() || early <= 0.0 {
            break;
        }
    }
    let result = result.map_err(|source| {
        let slots = impacts.sites.iter().flat_map(|&k| found.sites.all[k as usize].bodies);
        contact::law_error(bodies, world, slots.collect(), source)
    });
    if result.is_ok() && !impacts.sites.is_empty() {
        book_impacts(found, bodies, books, world, &mut impacts);
        joined::book_blow(bodies, &mut problem.joined, books, world, &impacts);
    }
    problem.impacts = impacts;
    result
}

/// Adds contacts that touch, if one of them is hit, and those that are hit within `early` seconds; false if there is nothing new to answer.
fn gather_impacts(
    setup: &Setup,
    found: &Detection,
    bodies: &StepBodies,
    impacts: &mut Impacts,
    early: f64,
    first: bool,
) -> bool {
    let touches = |site: &Site| site.gap <= setup.params.touch;
    let bounces = |site: &Site| {
        site.restitution > 0.0
            && touches(site)
            && normal_velocity(bodies, site) < -site.rest_speed
            && !bodies.trees.has_link(site.bodies)
    };
    let late = |known: &[bool], k: usize, site: &Site| {
        early > 0.0 && !known[k] && time_of_bounce(setup, bodies, site, early).is_some()
    };
    let all = &found.sites.all;
    if !all.iter().enumerate().any(|(k, site)| late(&impacts.known, k, site) || (first && bounces(site))) {
        return false;
    }
    for (k, site) in all.iter().enumerate() {
        let early = late(&impacts.known, k, site);
        let movable = site.bodies.iter().any(|slot| bodies.pool[*slot as usize].is_movable());
        // What hits a link is answered with the contacts of its tree.
        let linked = bodies.trees.has_link(site.bodies);
        if !movable || linked || impacts.known[k] || !(early || touches(site)) {
            continue;
        }
        impacts.known[k] = true;
        impacts.sites.push(k as u32);
        impacts.contacts.push(contact_at(site, 0.0));
        let rest = match site.restitution {
            _ if early => 0.0,
            // The contact problem of the step stops it.
            e if e <= 0.0 => f64::INFINITY,
            _ => site.rest_speed,
        };
        impacts.bounces.push(Bounce { restitution: site.restitution, rest });
    }
    true
}

/// Enters the impulses in the account.
fn book_impacts(
    found: &mut Detection,
    bodies: &mut StepBodies,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    impacts: &mut Impacts,
) {
    let report = impacts.law.report();
    books.report.solver.iterations += u64::from(report.iterations);
    books.report.solver.visits += report.visits;
    books.report.solver.unsolved += u64::from(report.cut_off);
    // Their work is that of the mean velocity over all of them.
    let Impacts { before, contacts, ends, .. } = impacts;
    let body_before = |slot: u32| PoolBody { velocity: before[slot as usize], ..bodies.pool[slot as usize] };
    ends.clear();
    ends.extend(contacts.iter().map(|c| c.bodies.map(|slot| body_before(slot).velocity_at(c.point))));
    for m in 0..impacts.sites.len() {
        let p = impacts.law.impulses()[m];
        if p == DVec3::ZERO {
            continue;
        }
        for slot in impacts.contacts[m].bodies {
            bodies.body_steps[slot as usize].struck = true;
        }
        let (site, impulse) = (impacts.sites[m] as usize, impacts.contacts[m].frame * p);
        let approach = impacts.law.approaches()[m];
        let (kind, before) = (CollisionKind::Ordinary, impacts.ends[m]);
        let entry = Entry { site, impulse, approach, kind, before };
        contact::book(found, bodies, books, world, entry);
    }
    for (slot, before) in (0..).zip(&impacts.before) {
        let (body, body_step) = (&bodies.pool[slot as usize], &mut bodies.body_steps[slot as usize]);
        // Joints pass blows on to bodies that nothing touches.
        body_step.struck |= body.velocity != *before;
        if body_step.struck {
            body_step.start = body.velocity;
        }
    }
}

/// Speed of approach below which contacts of two bodies do not bounce, m/s.
pub(super) fn rest_speed(world: &World, travels: &Travels, params: &Scaled, bodies: [u32; 2]) -> f64 {
    let h = params.step();
    let pull = |slot: u32| {
        let body = world.body_in_slot(slot).map(|(_, body)| body);
        let moves = body.filter(|body| body.is_free() && body.rest() == Rest::Awake);
        moves.map_or(0.0, |body| (world.gravity() + body.pull()).length())
    };
    let pull = bodies.map(pull).into_iter().fold(0.0, f64::max);
    let radius = travels.smaller_radius(bodies);
    let pulled = (0.125 * pull * h).min((0.02 * pull * radius).sqrt());
    params.rest_speed * pulled.max(1e-4 * radius.min(f64::MAX) / h)
}

/// A contact for the solver, with a bias along the normal, m/s.
pub(super) fn contact_at(site: &Site, bias: f64) -> PoolContact {
    PoolContact {
        bodies: site.bodies,
        point: site.point,
        frame: site.frame,
        friction: site.friction,
        bias: DVec3::new(0.0, 0.0, bias),
    }
}
