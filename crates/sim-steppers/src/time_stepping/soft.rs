//! A step with soft contacts.
//!
//! # Reference
//!
//! [`constraint_dynamics::soft`]; Catto (2024), `Solver2D`.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | h | length of the step | s |
//! | x, v | displacement over the step and velocity at its end, by the solver | m, rad; m/s, rad/s |
//!
//! # Formula
//!
//! ```text
//! read bodies   forces → a   solver: substeps of h → x, v, impulses   pushed: pose moved by x; others: their parabola   detect
//! work of contacts on a body = Σ over substeps  M Δv · (v₀ + v₁)/2;   of each patch = impulse · (u₀ + u₁)/2, what is left between both is booked as micro
//! ```
//!
//! # Cost
//!
//! The solver, and some hundred operations per body and pair; manifolds of a pile at rest are not found anew. No allocation once warmed up.
//!
//! # Numerics
//!
//! Bodies that no contact pushes fly exactly. The work of contacts that change within a step is of
//! first order in h: what it misses is in the remainder of the account.
//!
//! # Failure
//!
//! [`StepError::Body`] for numbers that are not finite; a body whose velocity stops being finite is frozen.
//!
//! # Tested by
//!
//! `tests/time_soft.rs`

use super::{
    contact_events::{self, Push},
    flight, forces,
    guard::{Arrival, Guard},
    missed::Missed,
    patches::Patches,
    quarantine, sleep,
    stepper::{Stage, TimeStepping},
    turning::{Turning, arrive_from_rest, parts},
};
use crate::parts::ContactMethod;
use constraint_dynamics::soft::{SoftBodies, SoftBody, SoftError, SoftManifold, SoftSolver, Territories};
use rigid_impulse::{BodyError, BodyKind, CollisionKind};
use sim_math::{
    Sym3,
    glam::{DMat3, DVec3},
    spatial::Motion,
};
use sim_world::{Body, ContactWork, Event, EventKind, Listing, Rest, StepError, StepperAccess, World};

/// What the soft solver keeps from step to step.
#[derive(Debug, Default)]
pub(super) struct SoftContacts {
    pub(super) solver: SoftSolver,
    pub(super) bodies: SoftBodies,
    pub(super) patches: Patches,
    /// By slot: has contacts, and how it turns without them.
    touched: Vec<bool>,
    turnings: Vec<Option<Turning>>,
    /// Of the last step.
    substeps: u32,
    pub(super) guard: Guard,
    /// By slot: where bodies that contacts push come to.
    pub(super) arrivals: Vec<Option<Arrival>>,
    pub(super) missed: Missed,
}

impl SoftContacts {
    /// If contacts are answered by the soft solver.
    pub(super) fn of(method: &ContactMethod) -> Option<Self> {
        let ContactMethod::Soft(params) = method else { return None };
        Some(Self { solver: SoftSolver::new(*params), ..Self::default() })
    }
}

impl TimeStepping {
    /// One step that ends at `end`, or earlier where bodies in contact turn fast, with soft contacts.
    pub(super) fn soft_step(&mut self, world: &mut StepperAccess<'_>, end: f64) -> Result<(), StepError> {
        let end = self.soft_end(world, end);
        let h = end - world.time();
        self.books.report.solver.steps += 1;
        sleep::wake_disturbed(&self.setup, &self.found, &mut self.books, &mut self.sleep, world, h);
        self.books.trace(Stage::Read);
        forces::read_bodies_of_forces(&mut self.bodies, world);
        let runaways = quarantine::freeze_runaways(&self.bodies, &mut self.books, world)?;
        if quarantine::freeze_forced(&mut self.bodies, &mut self.books, world)? || runaways {
            // Their boxes reached everybody.
            self.found.detect.invalidate_pairs();
            self.find_contacts(world)?;
            forces::read_bodies_of_forces(&mut self.bodies, world);
            forces::read_wrenches(&mut self.bodies, world);
        }
        self.books.trace(Stage::Forces);
        self.problem.joined.drop_extras();
        forces::force_changes(&mut self.bodies, &mut self.problem, world, h);
        forces::solve_alone(&mut self.bodies, &mut self.problem, world)?;
        self.books.trace(Stage::Solve);
        self.solve_softly(world, h)?;
        self.book_patches(world, h);
        self.books.trace(Stage::Move);
        self.find_arrivals(world);
        self.answer_missed(world, h)?;
        self.guard_arrivals(world, h);
        self.carry(world, end)?;
        contact_events::fire_timers(&mut self.books, world, end);
        world.set_time(end).map_err(StepError::from)?;
        self.books.trace(Stage::Detect);
        self.find_contacts(world)?;
        contact_events::record(&self.setup, &mut self.found, &mut self.books, world);
        sleep::settle(
            &self.setup,
            &self.found,
            &self.problem.joined,
            &mut self.books,
            &mut self.sleep,
            world,
        )?;
        self.books.report.events += 1;
        self.control(world)
    }

    /// Finds the bodies that have contacts, and when the step is to end for their rotation.
    fn soft_end(&mut self, world: &World, end: f64) -> f64 {
        let (time, whole) = (world.time(), end - world.time());
        let Some(soft) = &mut self.soft else { return end };
        soft.touched.clear();
        soft.touched.resize(world.body_slots(), false);
        for manifold in soft.patches.manifolds.iter().filter(|m| !m.is_empty()) {
            for slot in manifold.bodies() {
                if let Some(touched) = soft.touched.get_mut(slot as usize) {
                    *touched = true;
                }
            }
        }
        let touched = (0..).zip(&soft.touched).filter(|(_, touched)| **touched);
        let bodies = touched.filter_map(|(slot, _)| world.body_in_slot(slot)).map(|(_, body)| body);
        let turning = bodies.filter(|body| body.is_free() && body.rest() == Rest::Awake);
        let count = turning.map(|body| parts(body.state(), whole)).fold(1.0, f64::max);
        let part = time + whole / count;
        if count > 1.0 && part > time { part } else { end }
    }

    fn solve_softly(&mut self, world: &World, h: f64) -> Result<(), StepError> {
        let Some(soft) = &mut self.soft else { return Ok(()) };
        let parts = Territories::worth(soft.patches.len(), self.setup.parts.executor.parallelism());
        soft.bodies.divide(self.bodies.body_steps.len(), parts, &|slot| {
            let (_, body) = world.body_in_slot(slot)?;
            (body.is_free() && body.rest() == Rest::Awake).then(|| body.center())
        });
        let rate = 1.0 / h;
        soft.turnings.clear();
        for ((slot, body_step), touched) in self.bodies.body_steps.iter().enumerate().zip(&soft.touched) {
            let found = world.body_in_slot(slot as u32).map(|(_, body)| body);
            let turns = found.filter(|body| *touched && body.rest() == Rest::Awake);
            let turning = turns
                .and_then(|body| Turning::new(body.model(), body.state(), body_step.force_change.angular, h));
            let body = found.map_or(SoftBody::IDLE, |body| {
                soft_body(body, turning.as_ref(), body_step.force_change * rate)
            });
            soft.bodies.set(slot, &body);
            soft.turnings.push(turning);
        }
        let report = soft.solver.step_by(
            self.setup.parts.executor.as_ref(),
            &mut soft.bodies,
            &mut soft.patches.manifolds,
            h,
        );
        soft.substeps = match report {
            Ok(report) => report.substeps,
            Err(error) => return Err(soft_error(world, &soft.patches.manifolds, error)),
        };
        self.books.report.solver.islands += 1;
        let patches = soft.patches.len() as u64;
        self.books.report.solver.largest = self.books.report.solver.largest.max(patches);
        self.books.report.solver.count(soft.substeps, soft.patches.len());
        self.books.report.solver.points = self.books.report.solver.points.max(patches);
        Ok(())
    }

    /// Enters what the contacts did in the account, the list of events and the contacts of their pairs.
    fn book_patches(&mut self, world: &mut StepperAccess<'_>, h: f64) {
        let Some(soft) = &self.soft else { return };
        let fast = 0.125 * h * world.gravity().length();
        let (mut work, mut deepest) = (ContactWork::default(), 0.0_f64);
        let time = world.time();
        for pair in &mut self.found.detect.candidates {
            let [start, count] = pair.span.map(|k| k as usize);
            if count == 0 {
                continue;
            }
            let [a, b] = pair.bodies;
            let moves = [a, b].map(|slot| soft.bodies.is_movable(slot as usize));
            if moves == [false; 2] {
                // Both sleep, or lie on what does not move.
                continue;
            }
            pair.distance = f64::INFINITY;
            for patch in &soft.patches.manifolds[start..start + count] {
                pair.distance = patch.gaps().iter().fold(pair.distance, |least, gap| least.min(*gap));
                let outcome = patch.outcome();
                if outcome.impulse == DVec3::ZERO {
                    continue;
                }
                self.bodies.body_steps[a as usize].pushed = true;
                self.bodies.body_steps[b as usize].pushed = true;
                // What gravity alone gives in a step is no impact; asked for only where the approach is fast at all.
                let pull = || {
                    self.bodies.body_steps[a as usize].acceleration
                        - self.bodies.body_steps[b as usize].acceleration
                };
                let ordinary = outcome.approach > fast && outcome.approach > fast + 2.0 * h * pull().length();
                *(if ordinary { &mut work.impact } else { &mut work.micro }) += outcome.normal_work;
                work.friction += outcome.friction_work;
                let push = Push {
                    point: soft.bodies.center(a as usize) + outcome.arm,
                    normal: outcome.normal,
                    separation: pair.distance,
                    impulse: outcome.impulse,
                };
                let sides = [(a, -outcome.impulse, -outcome.moment), (b, outcome.impulse, outcome.moment)];
                for ((slot, impulse, moment), _) in sides.into_iter().zip(moves).filter(|(_, moves)| !moves) {
                    let Some((_, body)) = world.body_in_slot(slot) else { continue };
                    let (kind, velocity) = (*body.kind(), body.state().velocity_at(push.point));
                    if kind == BodyKind::Scripted {
                        work.scripted += impulse.dot(velocity) + moment.dot(body.state().velocity.angular);
                    }
                    world.book_support(&kind, push.point, impulse);
                }
                self.found.detect.exerted.add(pair, self.books.advances, &push, time);
                *(if ordinary {
                    &mut self.books.report.collisions
                } else {
                    &mut self.books.report.micro_collisions
                }) += 1;
                if !pair.touching {
                    pair.touching = true;
                    world.list(Event { time, kind: pair.event(true) });
                }
                if ordinary || world.listing == Listing::All {
                    let kind = if ordinary { CollisionKind::Ordinary } else { CollisionKind::Lasting };
                    let collision = push.collision(pair.rest.names, outcome.approach, kind);
                    world.list(Event { time, kind: EventKind::Collision(collision) });
                }
            }
            deepest = deepest.max(-pair.distance);
        }
        // Patches are answered one after the other, and what later ones did to the velocities of earlier ones is in no patch.
        let alone = work.impact + work.friction + work.micro + work.scripted;
        work.micro += self.gifts(world, h) - alone;
        work.micro += self.lifts(world, h);
        world.book_contact_work(&work);
        self.books.report.solver.deepest = self.books.report.solver.deepest.max(deepest);
        let mut imbalance = 0.0_f64;
        for (k, body_step) in self.bodies.body_steps.iter().enumerate().filter(|(_, f)| f.pushed) {
            if soft.bodies.is_movable(k) {
                let change = soft.bodies.velocity(k).linear - body_step.start.linear;
                imbalance = imbalance.max(change.length_squared());
            }
        }
        self.books.report.solver.imbalance = imbalance.sqrt() / h;
        forces::book_forces(&self.bodies, &self.problem, world, h, |slot| self.mean_way(slot, h) * (1.0 / h));
    }

    /// Velocity of a body before the contacts of the step, as the solver was given it.
    fn velocity_before(&self, slot: usize) -> Motion {
        let start = self.bodies.body_steps[slot].start;
        let turning = self.soft.as_ref().and_then(|soft| soft.turnings.get(slot)?.as_ref());
        turning.map_or(start, |turning| Motion::new(turning.velocity, start.linear))
    }

    /// Way of a body by the mean velocities of the substeps.
    fn mean_way(&self, slot: usize, h: f64) -> Motion {
        let Some(soft) = &self.soft else { return Motion::ZERO };
        soft.bodies.mean_displacement(slot, self.velocity_before(slot), h / f64::from(soft.substeps))
    }

    /// Work of the impulses of all contacts on all bodies, J: by body, what contacts gave it times the mean of its velocities in each substep.
    fn gifts(&self, world: &World, h: f64) -> f64 {
        let Some(soft) = &self.soft else { return 0.0 };
        let mut work = 0.0;
        for (slot, body_step) in self.bodies.body_steps.iter().enumerate().filter(|(_, f)| f.pushed) {
            let Some((_, body)) = world.body_in_slot(slot as u32) else { continue };
            let BodyKind::Free(mass) = *body.kind() else { continue };
            if !soft.bodies.is_movable(slot) {
                continue;
            }
            let rotation = soft.turnings[slot].as_ref().map_or(body.state().pose().rotation, |t| t.rotation);
            let inertia = mass.inertia(rotation);
            let (before, after) = (self.velocity_before(slot), soft.bodies.velocity(slot));
            // Half the change times the sum of both: a difference of squares without cancellation.
            let (change, sum) = (after - before, after + before);
            let way = self.mean_way(slot, h) * (1.0 / h);
            let linear = 0.5 * change.linear.dot(sum.linear) - body_step.force_change.linear.dot(way.linear);
            let spin = inertia * change.angular;
            let turn =
                0.5 * spin.dot(sum.angular) - (inertia * body_step.force_change.angular).dot(way.angular);
            let part = mass.mass() * linear + turn;
            work += if part.is_finite() { part } else { 0.0 };
        }
        work
    }

    /// Work of the springs that moved bodies without giving them speed, against gravity and constant forces, J.
    fn lifts(&self, world: &World, h: f64) -> f64 {
        let Some(soft) = &self.soft else { return 0.0 };
        let mut work = 0.0;
        for (slot, body_step) in self.bodies.body_steps.iter().enumerate().filter(|(_, f)| f.pushed) {
            let Some((_, body)) = world.body_in_slot(slot as u32) else { continue };
            if soft.bodies.is_movable(slot) {
                let moved = soft.bodies.displacement(slot).linear;
                work -= body.mass() * body_step.acceleration.dot(moved - self.mean_way(slot, h).linear);
            }
        }
        work
    }

    /// Finds where the bodies that contacts or forces pushed come to.
    fn find_arrivals(&mut self, world: &mut StepperAccess<'_>) {
        let Some(soft) = &mut self.soft else { return };
        let mut stepping = 0.0;
        soft.arrivals.clear();
        for (slot, body_step) in self.bodies.body_steps.iter().enumerate() {
            let found = world.body_in_slot(slot as u32).map(|(_, body)| body);
            let pushed =
                found.filter(|body| body.is_free() && body_step.pushed && soft.bodies.is_movable(slot));
            let arrival = pushed.map(|body| {
                let (x, v) = (soft.bodies.displacement(slot), soft.bodies.velocity(slot));
                let mut free = body_step.start + body_step.force_change;
                let (pose, velocity) = match &soft.turnings[slot] {
                    Some(turning) => {
                        free.angular = turning.velocity + body_step.force_change.angular;
                        let arrived = turning.arrive(body.model(), body.state(), x, v);
                        if let BodyKind::Free(mass) = body.kind() {
                            let energy = |q, spin: DVec3| 0.5 * (mass.inertia(q) * spin).dot(spin);
                            let (pose, velocity) = arrived;
                            let change =
                                energy(pose.rotation, velocity.angular) - energy(turning.rotation, v.angular);
                            stepping += if change.is_finite() { change } else { 0.0 };
                        }
                        arrived
                    }
                    None => arrive_from_rest(body.model(), body.state(), x, v),
                };
                Arrival { pose, velocity, change: v - free }
            });
            // What is not finite is frozen, and no part of any sum.
            let is_sound = |a: &Arrival| {
                a.pose.translation.is_finite() && a.velocity.to_array().iter().all(|x| x.is_finite())
            };
            soft.arrivals.push(arrival.filter(is_sound));
        }
        // What spins keeps its angular momentum, at the cost of energy.
        world.book_contact_work(&ContactWork { stepping, ..ContactWork::default() });
    }

    /// Takes from bodies what contacts gave them too much.
    fn guard_arrivals(&mut self, world: &mut StepperAccess<'_>, h: f64) {
        let Some(soft) = &mut self.soft else { return };
        let SoftContacts { guard, bodies, patches, arrivals, missed, .. } = soft;
        let joined = &missed.joined[..];
        let taken =
            guard.check(world, &self.bodies.body_steps, bodies, &mut patches.manifolds, joined, arrivals, h);
        if taken > 0.0 {
            world.book_contact_work(&ContactWork { micro: -taken, ..ContactWork::default() });
        }
    }

    /// Moves the bodies that contacts or forces pushed; others fly on.
    fn carry(&mut self, world: &mut StepperAccess<'_>, end: f64) -> Result<(), StepError> {
        let time = world.time();
        for slot in 0..self.bodies.body_steps.len() as u32 {
            let Some((id, body)) = world.body_in_slot(slot) else { continue };
            let Some(soft) = &self.soft else { return Ok(()) };
            if !body.is_free() || !soft.bodies.is_movable(slot as usize) {
                continue;
            }
            let (x, v) = (soft.bodies.displacement(slot as usize), soft.bodies.velocity(slot as usize));
            let finite = |m: Motion| m.to_array().iter().all(|x| x.is_finite());
            if !(finite(x) && finite(v)) {
                world.quarantine(id, time).map_err(StepError::from)?;
                self.books.report.quarantined += 1;
                self.found.detect.invalidate_pairs();
            } else if let Some(Arrival { pose, velocity, .. }) = soft.arrivals[slot as usize] {
                world.arrive(slot, end, pose, velocity).map_err(StepError::from)?;
            } else if !flight::flies_on(&self.bodies, body, slot) {
                let state = *body.state();
                world.relaunch(id, time, state).map_err(StepError::from)?;
            }
        }
        Ok(())
    }
}

/// A body as the solver sees it.
fn soft_body(body: &Body, turning: Option<&Turning>, acceleration: Motion) -> SoftBody {
    let state = body.state();
    let mut velocity = state.velocity;
    let mut rotation = state.pose().rotation;
    if let Some(turning) = turning {
        (rotation, velocity.angular) = (turning.rotation, turning.velocity);
    }
    let (inv_mass, inv_inertia) = match body.kind() {
        BodyKind::Free(mass) if body.rest() == Rest::Awake => {
            let [x, y, z] = DMat3::from_quat(rotation).to_cols_array_2d().map(DVec3::from);
            let inverse = 1.0 / mass.moments();
            let diagonal = x * x * inverse.x + y * y * inverse.y + z * z * inverse.z;
            let turned = |v: DVec3| DVec3::new(v.x * v.y, v.x * v.z, v.y * v.z);
            let rest = turned(x) * inverse.x + turned(y) * inverse.y + turned(z) * inverse.z;
            (1.0 / mass.mass(), Sym3::new(diagonal.x, diagonal.y, diagonal.z, rest.x, rest.y, rest.z))
        }
        BodyKind::Free(_) | BodyKind::Fixed | BodyKind::Scripted => (0.0, Sym3::ZERO),
    };
    SoftBody { inv_mass, inv_inertia, pose: *state.pose(), velocity, acceleration }
}

/// The stepper's error for what the solver refuses.
fn soft_error(world: &World, patches: &[SoftManifold], error: SoftError) -> StepError {
    let named = |slot: u32, what: &'static str| match world.body_in_slot(slot) {
        Some((body, _)) => StepError::Body { body, source: BodyError::NonFinite { what, value: f64::NAN } },
        None => StepError::EmptySlot { what: "body", slot, time: world.time() },
    };
    match error {
        SoftError::Parameter { what, value } => StepError::Parameter { what, value },
        SoftError::Body { body, what } => named(body as u32, what),
        SoftError::Manifold { manifold, what } => {
            named(patches.get(manifold).map_or(u32::MAX, |m| m.bodies()[0]), what)
        }
        _ => StepError::Parameter { what: "bodies of a contact", value: f64::NAN },
    }
}
