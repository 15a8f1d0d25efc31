//! Hits that the soft solver missed, answered at their time within the step.
//!
//! # Reference
//!
//! Mirtich (1996), conservative advancement; [`constraint_dynamics::restitution`], the law of impact.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | h, t | length of the step, time since its start | s |
//! | course | where a body is at every t: first as the solver says, after a hit as it flies on | - |
//! | travel | the most that a point of the body moves in the step | m |
//! | r | radius of the smaller body of a pair | m |
//! | d(t), d₀ | distance of the two on their courses; at the start of them | m |
//! | τ | time of a hit | s |
//!
//! # Formula
//!
//! ```text
//! pairs with travel above r/4:   t ← t + max(d(t), r/10)/(speed of closing at most), until d(t) < min(−r/50, d₀ − r/200);   −r/20 for contacts that the solver had
//! hit            the last t before it with d = 0, or if d₀ < 0 the last that is less deep
//! at τ           all points of the pair as one impact: v_τ ← v_τ + Δv;   if it was hit before in the step, with all other pairs that were and touch
//! from τ on      x = v_τ (h − τ) + ½ a (h − τ)²,   v = v_τ + a (h − τ);   a = 0 for what contacts carried slowly
//! the first hit of all pairs first; then the pairs of both bodies anew
//! ```
//!
//! The solver knows contacts that the velocities of before may reach, and the planes of these contacts. What flies several sizes in a step meets others,
//! or passes beside a plane that had an end.
//!
//! # Cost
//!
//! One comparison per body, and per pair where a body is fast; distances for pairs of fast bodies that come near each other. Nothing else where all is slow.
//!
//! # Numerics
//!
//! Impulses make no energy; what the new course changes against gravity is booked. First order in h for bodies that contacts had carried.
//!
//! # Failure
//!
//! More hits than a budget that grows with the number of bodies: what would be hit then stays where it is until the end of the step, and keeps its velocity.
//!
//! # Tested by
//!
//! `tests/time_soft_fast.rs`, `soak_random_scenes_with_soft_contacts`

use super::{
    candidate::Candidate, contact_events::Push, guard::Arrival, impact::rest_speed, look::Look,
    stepper::TimeStepping, travel::swing,
};
use crate::pooled::pooled;
use constraint_dynamics::{
    PoolBody, PoolContact,
    restitution::{Bounce, Impact},
    stabilize::moved,
};
use rigid_impulse::{BodyKind, CollisionKind};
use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
    rotation::{frame_from_normal, quat_log},
    spatial::Motion,
};
use sim_traits::{Manifold, Pair};
use sim_world::{Body, ContactWork, Event, EventKind, Rest, StepError, StepperAccess, World};

/// Strides below this share of the radius of the smaller body need no look.
const FAST: f64 = 0.25;
/// Shares of the radius of the smaller body: slack of reaches, overlap that is a hit, and by how much it has to grow where it was there before.
const LEAST_STEP: f64 = 0.1;
const SINK: f64 = 0.02;
pub(super) const DEEPER: f64 = 0.005;
/// Overlap of a contact that the solver has answered from which on its pair is looked at, however slow, share of the radius of the smaller body.
const PRESSED: f64 = 0.05;
/// Most pairs of an impact.
const MEMBERS: usize = 16;
/// Hits of a step: so many, and so many for every body that is fast.
const HITS: [usize; 2] = [12, 6];

/// Where a body is during the step.
#[derive(Debug, Clone, Copy)]
pub(super) enum Course {
    /// On its piece.
    Piece,
    /// From a pose at a time (s since the start) evenly to the end of the step.
    Even { since: f64, pose: Pose, way: Motion },
}

/// Workspace.
#[derive(Debug, Default)]
pub(super) struct Missed {
    /// By slot.
    pub(super) courses: Vec<Course>,
    travel: Vec<f64>,
    /// By slot: velocity at the end of the step, and acceleration from a hit on.
    ends: Vec<Motion>,
    pub(super) falls: Vec<DVec3>,
    /// By slot: was hit.
    hit: Vec<bool>,
    /// By pair: time of its next hit, s since the start; infinite if there is none.
    times: Vec<f64>,
    /// Pairs that were hit in the step, and their bodies.
    struck: Vec<Pair>,
    pub(super) joined: Vec<[u32; 2]>,
    law: Impact,
    /// Of an impact: its pairs, with the first of their contacts; slots, poses, velocities before it and bodies.
    members: Vec<(u32, u32)>,
    slots: Vec<u32>,
    poses: Vec<Pose>,
    before: Vec<Motion>,
    pool: Vec<PoolBody>,
    contacts: Vec<PoolContact>,
    bounces: Vec<Bounce>,
    manifolds: Vec<Manifold>,
}

impl Missed {
    /// Pose of a body at time `t`.
    pub(super) fn pose(&self, world: &World, slot: u32, body: &Body, h: f64, t: f64) -> Option<Pose> {
        match self.courses[slot as usize] {
            Course::Piece => Some(*body.at(world.time() + t).ok()?.pose()),
            Course::Even { since, pose, way } => {
                let share = if h > since { ((t - since) / (h - since)).clamp(0.0, 1.0) } else { 1.0 };
                Some(moved(&pose, way * share))
            }
        }
    }

    /// Pose and velocity of a body at time `t`: what turns keeps its angular velocity as it sees it.
    fn state(&self, world: &World, slot: u32, body: &Body, h: f64, t: f64) -> Option<(Pose, Motion)> {
        let pose = self.pose(world, slot, body, h, t)?;
        let k = slot as usize;
        if matches!(self.courses[k], Course::Piece) {
            return Some((pose, body.at(world.time() + t).ok()?.velocity));
        }
        let last = self.pose(world, slot, body, h, h)?;
        let angular = pose.rotation * (last.rotation.conjugate() * self.ends[k].angular);
        Some((pose, Motion::new(angular, self.ends[k].linear - self.falls[k] * (h - t))))
    }

    /// Since when the course of a body is the present one, s.
    pub(super) fn since(&self, slot: u32) -> f64 {
        match self.courses[slot as usize] {
            Course::Piece => 0.0,
            Course::Even { since, .. } => since,
        }
    }
}

impl TimeStepping {
    /// Finds hits that the solver missed on the ways that bodies are to go in the step, and sends them where these take them.
    pub(super) fn answer_missed(&mut self, world: &mut StepperAccess<'_>, h: f64) -> Result<(), StepError> {
        let Some(soft) = &mut self.soft else { return Ok(()) };
        let mut missed = std::mem::take(&mut soft.missed);
        missed.joined.clear();
        let is_fast = self.find_travel(world, h, &mut missed);
        let is_pressed = || self.found.detect.candidates.iter().any(|pair| self.is_deep(pair));
        let result =
            if is_fast || is_pressed() { self.follow_courses(world, h, &mut missed) } else { Ok(()) };
        if let Some(soft) = &mut self.soft {
            soft.missed = missed;
        }
        result
    }

    /// How far bodies go; false if none is fast.
    fn find_travel(&self, world: &World, h: f64, missed: &mut Missed) -> bool {
        let Some(soft) = &self.soft else { return false };
        let (travels, mut fastest) = (&self.found.detect.travels, 0.0_f64);
        missed.travel.clear();
        for (slot, body_step) in (0..).zip(&self.bodies.body_steps) {
            let travel = match (&soft.arrivals[slot as usize], world.body_in_slot(slot)) {
                (Some(_), _) => {
                    let x = soft.bodies.displacement(slot as usize);
                    x.linear.length() + swing(travels.spin(slot), x.angular.length())
                }
                (None, Some((_, body))) if body.is_free() && body.rest() == Rest::Awake => {
                    let Motion { angular, linear } = body_step.start;
                    (linear + body_step.acceleration * (0.5 * h)).length() * h
                        + swing(travels.spin(slot), angular.length() * h)
                }
                (None, Some((_, body))) if !body.is_fixed() && travels.radius(slot) < f64::INFINITY => {
                    travels.reach(slot)
                }
                _ => 0.0,
            };
            let travel = if travel.is_finite() { travel } else { 0.0 };
            missed.travel.push(travel);
            fastest = fastest.max(travel);
        }
        2.0 * fastest > FAST * self.setup.radius
    }

    fn follow_courses(
        &mut self,
        world: &mut StepperAccess<'_>,
        h: f64,
        missed: &mut Missed,
    ) -> Result<(), StepError> {
        let count = self.begin_courses(world, missed, h);
        let mut left = HITS[0] + HITS[1] * count;
        let mut stops = 2 * count;
        self.meet_more(world, h, missed)?;
        self.find_hits(world, h, missed, true);
        loop {
            let first = (0..missed.times.len()).min_by(|a, b| missed.times[*a].total_cmp(&missed.times[*b]));
            let Some(pair) = first.filter(|k| missed.times[*k] < f64::INFINITY) else { break };
            let time = missed.times[pair];
            if left > 0 {
                left -= 1;
                self.answer(world, h, missed, pair, time)?;
            } else if stops > 0 {
                stops -= 1;
                self.stop(world, h, missed, pair, time);
            } else {
                break;
            }
            missed.times[pair] = f64::INFINITY;
            let changed = self.meet_more(world, h, missed)?;
            self.find_hits(world, h, missed, changed);
        }
        self.end_courses(world, h, missed);
        Ok(())
    }

    /// True if the contacts of a pair have let its bodies sink in deep.
    fn is_deep(&self, pair: &Candidate) -> bool {
        let patches = || pair.span[1] > 0 && pair.sensor.is_none();
        pair.distance < -PRESSED * self.found.detect.travels.smaller_radius(pair.bodies) && patches()
    }

    /// Courses as the solver has them; how many bodies are fast.
    fn begin_courses(&self, world: &World, missed: &mut Missed, h: f64) -> usize {
        let Some(soft) = &self.soft else { return 0 };
        missed.courses.clear();
        missed.ends.clear();
        missed.falls.clear();
        missed.hit.clear();
        missed.struck.clear();
        missed.hit.resize(self.bodies.body_steps.len(), false);
        let mut count = 0;
        for (slot, body_step) in self.bodies.body_steps.iter().enumerate() {
            let is_fast = missed.travel[slot] > FAST * self.found.detect.travels.radius(slot as u32);
            count += usize::from(is_fast);
            let falls = is_fast || !body_step.pushed;
            missed.falls.push(if falls { body_step.acceleration } else { DVec3::ZERO });
            let found = world.body_in_slot(slot as u32).map(|(_, body)| body);
            let (course, end) = match (soft.arrivals[slot], found) {
                (Some(arrival), Some(body)) => {
                    let pose = *body.state().pose();
                    let turn = arrival.pose.rotation * pose.rotation.conjugate();
                    let way = Motion::new(quat_log(turn), arrival.pose.translation - pose.translation);
                    (Course::Even { since: 0.0, pose, way }, arrival.velocity)
                }
                (None, Some(body)) => {
                    let last = body.at(world.time() + h).map(|state| state.velocity);
                    (Course::Piece, last.unwrap_or(body_step.start + body_step.force_change))
                }
                _ => (Course::Piece, body_step.start + body_step.force_change),
            };
            missed.courses.push(course);
            missed.ends.push(end);
        }
        count
    }

    /// Looks for pairs that bodies reach with the velocities that they got; true if the list of pairs has changed.
    fn meet_more(&mut self, world: &World, h: f64, missed: &Missed) -> Result<bool, StepError> {
        let mut any = false;
        for (slot, end) in (0..).zip(&missed.ends) {
            let (radius, reach) =
                (self.found.detect.travels.radius(slot), self.found.detect.travels.reach(slot));
            if missed.travel[slot as usize] <= FAST * radius {
                continue;
            }
            let pull = self.bodies.body_steps[slot as usize].acceleration.length();
            let needed = h * (end.linear.length() + swing(radius, end.angular.length()) + h * pull);
            if needed.max(missed.travel[slot as usize]) > reach + LEAST_STEP * radius {
                let [angular, linear] = [end.angular, end.linear];
                self.found.detect.travels.hasten(slot, Motion::new(angular, linear) * 1.25, pull, h);
                any = true;
            }
        }
        Ok(any && self.found.detect.meet(world, &mut self.setup.parts, self.setup.params.margin)?)
    }

    /// Finds the next hits of all pairs, or of those whose bodies the last impact sent elsewhere.
    fn find_hits(&mut self, world: &World, h: f64, missed: &mut Missed, all: bool) {
        let mut times = std::mem::take(&mut missed.times);
        times.resize(self.found.detect.candidates.len(), f64::INFINITY);
        let (parts, detect) = (&self.setup.parts, &mut self.found.detect);
        let travels = &detect.travels;
        for (pair, time) in detect.candidates.iter_mut().zip(&mut times) {
            let has_turned = |k: &u32| missed.slots.contains(k) && missed.hit[*k as usize];
            if !all && !pair.bodies.iter().any(has_turned) {
                continue;
            }
            *time = f64::INFINITY;
            let travel: f64 = pair.bodies.iter().map(|k| missed.travel[*k as usize]).sum();
            let radius = travels.smaller_radius(pair.bodies);
            let was_hit = pair.bodies.iter().any(|k| missed.hit[*k as usize]);
            let is_slow = travel <= FAST * radius && !was_hit && pair.distance >= -PRESSED * radius;
            if is_slow || pair.sensor.is_some() {
                continue;
            }
            let spins = pair.bodies.map(|k| travels.spin(k));
            let radii = pair.bodies.map(|k| travels.radius(k));
            // What the solver has answered is its business, unless it failed.
            let known = pair.pushed || travel <= FAST * radius;
            let sink = if known { PRESSED } else { SINK } * radius;
            let look =
                Look { sink, world, missed, narrow: parts.narrow_phase.as_ref(), h, radius, spins, radii };
            *time = look.next_hit(pair, &mut detect.distances).unwrap_or(f64::INFINITY);
        }
        missed.times = times;
    }

    /// Answers a hit by the law of impact, together with all that was hit before in the step and touches.
    fn answer(
        &mut self,
        world: &mut StepperAccess<'_>,
        h: f64,
        missed: &mut Missed,
        pair: usize,
        t: f64,
    ) -> Result<(), StepError> {
        missed.members.clear();
        missed.slots.clear();
        missed.pool.clear();
        missed.contacts.clear();
        missed.bounces.clear();
        let key = self.found.detect.candidates[pair].key;
        if !self.add_member(world, h, missed, pair, t)? {
            return Ok(());
        }
        let mut first = 0;
        while first < missed.slots.len() && missed.struck.contains(&key) {
            let (slot, is_movable) = (missed.slots[first], missed.pool[first].is_movable());
            first += 1;
            if !is_movable || missed.members.len() > MEMBERS {
                continue;
            }
            for other in 0..self.found.detect.candidates.len() {
                let candidates = &self.found.detect.candidates[other];
                let known = || missed.members.iter().any(|m| m.0 as usize == other);
                let was_hit = || missed.struck.contains(&candidates.key);
                if candidates.bodies.contains(&slot) && was_hit() && !known() {
                    self.add_member(world, h, missed, other, t)?;
                }
            }
        }
        if !missed.struck.contains(&key) {
            missed.struck.push(key);
            missed.joined.push(self.found.detect.candidates[pair].bodies);
        }
        missed.before.clear();
        missed.before.extend(missed.pool.iter().map(|body| body.velocity));
        let report = match missed.law.run(&mut missed.pool, &missed.contacts, &missed.bounces) {
            Ok(report) => report,
            Err(source) => {
                let Some((body, _)) = missed.slots.iter().find_map(|slot| world.body_in_slot(*slot)) else {
                    return Ok(());
                };
                let others = missed.slots.len() - 1;
                return Err(StepError::ContactLaw { body, others, time: world.time(), source });
            }
        };
        self.books.report.solver.iterations += u64::from(report.iterations);
        self.books.report.solver.visits += report.visits;
        self.book_missed(world, missed);
        for k in 0..missed.slots.len() {
            let (slot, body) = (missed.slots[k], missed.pool[k]);
            // The two that were hit follow their velocities from now on, whatever the solver had in mind.
            if !body.is_movable() || (k > 1 && body.velocity == missed.before[k]) {
                continue;
            }
            let (pose, rest, fall) = (missed.poses[k], h - t, missed.falls[slot as usize]);
            let Motion { angular, linear } = body.velocity;
            let way = body.velocity * rest + Motion::new(DVec3::ZERO, fall * (0.5 * rest * rest));
            self.set_course(world, h, missed, slot, t, (pose, way, linear + fall * rest, angular));
        }
        Ok(())
    }

    /// Adds the contacts of a pair at time `t` to an impact; false if it has none.
    fn add_member(
        &mut self,
        world: &World,
        h: f64,
        missed: &mut Missed,
        pair: usize,
        t: f64,
    ) -> Result<bool, StepError> {
        let candidates = &mut self.found.detect.candidates[pair];
        let slots = candidates.bodies;
        let Some((colliders, bodies)) = candidates.sides(world) else { return Ok(false) };
        let surface = world.surface_pair(colliders[0], colliders[1]);
        let states = [0, 1].map(|k| missed.state(world, slots[k], bodies[k], h, t));
        let [Some(a), Some(b)] = states else { return Ok(false) };
        let places =
            [a.0 * colliders[0].extent().body_from_shape, b.0 * colliders[1].extent().body_from_shape];
        let a_from_b = places[0].inverse_mul(&places[1]);
        let is_first = missed.members.is_empty();
        let margin = if is_first { DEEPER } else { SINK } * self.found.detect.travels.smaller_radius(slots);
        missed.manifolds.clear();
        let shapes = colliders.map(sim_world::Collider::shape);
        self.found.detect.distances += 1;
        let (narrow, cache) = (self.setup.parts.narrow_phase.as_ref(), &mut candidates.rest.cache);
        let found = narrow.manifolds(shapes[0], shapes[1], &a_from_b, margin, cache, &mut missed.manifolds);
        if found.is_err() || missed.manifolds.iter().all(|m| m.points().is_empty()) {
            return Ok(false);
        }
        let mut sides = [0; 2];
        for (k, (pose, velocity)) in [a, b].into_iter().enumerate() {
            let known = missed.slots.iter().position(|slot| *slot == slots[k]);
            sides[k] = known.unwrap_or(missed.slots.len()) as u32;
            if known.is_some() {
                continue;
            }
            let mut state = *bodies[k].state();
            if state.set_pose(pose).is_err() {
                return Ok(false);
            }
            state.velocity = velocity;
            let mut body = pooled(bodies[k].model(), &state);
            if !(bodies[k].is_free() && bodies[k].rest() == Rest::Awake) {
                (body.inverse_mass, body.inverse_inertia) = (0.0, DMat3::ZERO);
            }
            missed.slots.push(slots[k]);
            missed.pool.push(body);
            missed.poses.truncate(missed.slots.len() - 1);
            missed.poses.push(pose);
        }
        let (start, mut fastest) = (missed.contacts.len(), 0.0_f64);
        for manifold in &missed.manifolds {
            let normal = places[0].transform_vector(manifold.normal).normalize_or_zero();
            let frame = match (frame_from_normal(normal), candidates.name(world)) {
                (Ok(frame), _) => frame,
                (Err(source), Some(pair)) => return Err(StepError::Contact { pair, source }),
                (Err(_), None) => continue,
            };
            for point in manifold.points() {
                let point = places[0].transform_point(0.5 * (point.point_a + point.point_b));
                let [u, v] = sides.map(|k| missed.pool[k as usize].velocity_at(point));
                fastest = fastest.max(normal.dot(v - u));
                let friction = surface.friction;
                missed.contacts.push(PoolContact {
                    bodies: sides,
                    point,
                    frame,
                    friction,
                    bias: DVec3::ZERO,
                });
            }
        }
        let bounces = fastest > rest_speed(world, &self.found.detect.travels, &self.setup.params, slots);
        let bounce = Bounce { restitution: if bounces { surface.restitution } else { 0.0 }, rest: 0.0 };
        missed.bounces.resize(missed.contacts.len(), bounce);
        missed.members.push((pair as u32, start as u32));
        Ok(true)
    }

    /// Puts a body on another course from time `t` on, and books what that changes against gravity and constant forces.
    fn set_course(
        &self,
        world: &mut StepperAccess<'_>,
        h: f64,
        missed: &mut Missed,
        slot: u32,
        t: f64,
        (pose, way, linear, angular): (Pose, Motion, DVec3, DVec3),
    ) {
        let k = slot as usize;
        let Some((_, body)) = world.body_in_slot(slot) else { return };
        let Some((last, _)) = missed.state(world, slot, body, h, h) else { return };
        let (mass, acceleration) = (body.mass(), self.bodies.body_steps[k].acceleration);
        let lift = mass * acceleration.dot(pose.translation + way.linear - last.translation);
        // Velocities at the end differ from those of the hit by the same fall as before: its work on the change of velocity is no work of contacts.
        let fall = mass * (linear - missed.ends[k].linear).dot(missed.falls[k]) * (h - t);
        world.book_contact_work(&ContactWork { micro: fall - lift, ..ContactWork::default() });
        missed.courses[k] = Course::Even { since: t, pose, way };
        missed.ends[k] = Motion::new(angular, linear);
        let travel = way.linear.length() + swing(self.found.detect.travels.spin(slot), way.angular.length());
        missed.travel[k] = missed.travel[k].max(travel);
        missed.hit[k] = true;
    }

    /// Keeps the faster body of a pair where it is at time `t` until the end of the step.
    fn stop(&self, world: &mut StepperAccess<'_>, h: f64, missed: &mut Missed, pair: usize, t: f64) {
        let slots = self.found.detect.candidates[pair].bodies;
        missed.slots.clear();
        missed.slots.extend(slots);
        let travel = |slot: u32| {
            let found = world.body_in_slot(slot).map(|(_, body)| body);
            let free = found.is_some_and(|body| body.is_free() && body.rest() == Rest::Awake);
            let moves =
                !matches!(missed.courses[slot as usize], Course::Even { way, .. } if way == Motion::ZERO);
            if free && moves { missed.travel[slot as usize] } else { -1.0 }
        };
        let slot = if travel(slots[1]) > travel(slots[0]) { slots[1] } else { slots[0] };
        if travel(slot) < 0.0 {
            return;
        }
        let Some((_, body)) = world.body_in_slot(slot) else { return };
        let Some((pose, velocity)) = missed.state(world, slot, body, h, t) else { return };
        let linear = missed.ends[slot as usize].linear;
        self.set_course(world, h, missed, slot, t, (pose, Motion::ZERO, linear, velocity.angular));
    }

    /// Enters the impulses of an impact.
    fn book_missed(&mut self, world: &mut StepperAccess<'_>, missed: &Missed) {
        let (time, mut work) = (world.time(), ContactWork::default());
        for (m, contact) in missed.contacts.iter().enumerate() {
            let (p, point) = (missed.law.impulses()[m], contact.point);
            let member = missed.members.iter().rfind(|member| member.1 as usize <= m);
            let (Some(&(pair, _)), true) = (member, p != DVec3::ZERO) else { continue };
            let candidates = &mut self.found.detect.candidates[pair as usize];
            let (impulse, normal) = (contact.frame * p, contact.frame.z_axis);
            let bodies = contact.bodies.map(|k| missed.pool[k as usize]);
            let mean = [0, 1].map(|k: usize| {
                let velocity = missed.before[contact.bodies[k] as usize];
                let before = PoolBody { velocity, ..bodies[k] };
                0.5 * (before.velocity_at(point) + bodies[k].velocity_at(point))
            });
            let all = impulse.dot(mean[0] - mean[1]);
            let along = impulse.dot(normal) * normal.dot(mean[0] - mean[1]);
            work.impact += along;
            work.friction += all - along;
            let push = Push { point, normal, separation: 0.0, impulse };
            for (k, impulse) in [(0, -impulse), (1, impulse)] {
                let Some((_, body)) = world.body_in_slot(candidates.bodies[k]) else { continue };
                let kind = *body.kind();
                if bodies[k].is_movable() {
                    continue;
                }
                if kind == BodyKind::Scripted {
                    work.scripted += impulse.dot(mean[k]);
                }
                world.book_support(&kind, point, impulse);
            }
            self.found.detect.exerted.add(candidates, self.books.advances, &push, time);
            self.books.report.collisions += 1;
            let (names, approach) = (candidates.rest.names, missed.law.approaches()[m]);
            if !candidates.touching {
                candidates.touching = true;
                world.list(Event { time, kind: candidates.event(true) });
            }
            let collision = push.collision(names, approach, CollisionKind::Ordinary);
            world.list(Event { time, kind: EventKind::Collision(collision) });
        }
        world.book_contact_work(&work);
    }

    /// Where bodies that were hit come to.
    fn end_courses(&mut self, world: &World, h: f64, missed: &Missed) {
        for slot in 0..missed.hit.len() {
            if !missed.hit[slot] {
                continue;
            }
            let Some((_, body)) = world.body_in_slot(slot as u32) else { continue };
            let Some((pose, velocity)) = missed.state(world, slot as u32, body, h, h) else { continue };
            let free = body.at(world.time() + h).map_or(velocity, |state| state.velocity);
            self.bodies.body_steps[slot].pushed = true;
            if let Some(soft) = &mut self.soft {
                let before = soft.arrivals[slot].map_or((free, Motion::ZERO), |a| (a.velocity, a.change));
                let change = before.1 + (velocity - before.0);
                soft.arrivals[slot] = Some(Arrival { pose, velocity, change });
            }
        }
    }
}
