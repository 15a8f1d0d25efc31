//! Overlaps opened without touching velocities.
//!
//! # Reference
//!
//! Cline (2002), section 3.3: post-stabilisation as a complementarity problem with contacts.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | g | gaps | m |
//! | dp | change of configuration | m, rad |
//!
//! # Formula
//!
//! ```text
//! J_n dp + g ≥ 0 ⊥ λ ≥ 0,   dp = M⁻¹ J_nᵀ λ;   again at the new configuration while something overlaps
//! ```
//!
//! # Cost
//!
//! One frictionless contact problem and one detection per repetition; nothing if nothing overlaps. Islands of a few contacts are solved by the contact law,
//! others by sweeps of their own ([`constraint_dynamics::normals`]), and by the law after all where these do not get on and there are 100 contacts at most. Contacts of heaps in motion whose bodies were moved by a little only are followed.
//!
//! # Numerics
//!
//! A repetition squares the error. Overlaps are opened by at most a fifth of the smaller body and a tenth of a radian at a time. Heaps
//! in motion of more than 32 contacts may overlap by a hundredth of their way in a step, 10⁻⁴ of the smallest radius at most; repetitions that do not halve an overlap below twice that are not gone on with.
//!
//! # Failure
//!
//! A contact law that finds nothing leaves the bodies where they are; the overlap stays in the report.
//!
//! # Tested by
//!
//! `overlaps_are_opened_by_their_depth`, `large_overlaps_open_in_steps`, `tests/time_falling.rs`

use super::{
    super::errors,
    contact::members_of,
    impact::contact_at,
    params::Stabilization,
    sites::Site,
    stepper::{Stage, TimeStepping},
};
use constraint_dynamics::{
    normals::{NormalContact, NormalGoal},
    pool::{self, PoolBlocks},
    stabilize::moved,
};
use rigid_impulse::Body as RigidState;
use sim_math::{glam::DVec3, spatial::Motion};
use sim_traits::RowProblem;
use sim_world::{StepError, World};

/// Share of the overlap that is left alone to which gaps are met.
const ACCURACY: f64 = 0.4;
/// Share of the way of bodies in a step that they may overlap while they move, and the most, share of the smallest radius.
const PATH_SHARE: f64 = 1e-2;
const MOST: f64 = 1e-4;
/// Contacts are followed, not found anew, where a correction moved bodies by less than this much of the overlap left alone.
const FOLLOWED: f64 = 2.0;
/// Overlap that is opened as far as may be within one step, share of the smallest radius.
const DEEP: f64 = 2e-4;
/// Islands of so few contacts are put right by the contact law.
const FEW: usize = 8;
/// Those of more contacts, up to so many, if sweeps do not get on: a heavy body that lies on a light one.
const MANY_FOR_LAW: usize = 100;
/// Most contacts of an island that is put right to the overlap left alone, however fast it moves.
const LARGE: usize = 32;
/// Contacts from which on there are half as many repetitions: each costs more, and large heaps come apart over several steps anyway.
const MANY: usize = 1000;
/// Most pairs of sweeps of a correction of a heap, and most contacts solved in them.
const PAIRS: u32 = 30;
const VISITS: u32 = 30_000;
/// Share by which its contacts give way more, where they do not come apart otherwise.
const SOFTNESS: f64 = 0.1;
/// Largest turn of one correction, rad.
const MAX_TURN: f64 = 0.1;

impl TimeStepping {
    /// Moves overlapping bodies apart at the world's time, and finds the contacts anew; `user` where it was the user who put them there.
    pub(super) fn correct(&mut self, world: &mut World, user: bool) -> Result<(), StepError> {
        let Stabilization::PostStep(most) = self.params.stabilization else { return Ok(()) };
        if self.soft.is_some() {
            return Ok(());
        }
        let most = if self.sites.all.len() > MANY { most.div_ceil(2) } else { most };
        if user {
            self.debts.clear(world.body_slots());
        }
        if self.open_overlaps(world, user, most)? && !user && self.repay(world) {
            // Where they are now is not above where they were, wherever that is opened.
            world.set_time(world.time()).map_err(errors::of_world)?;
            self.find_contacts(world)?;
            self.open_overlaps(world, user, most)?;
        }
        Ok(())
    }

    /// Corrects until nothing overlaps any more, `most` times at most; true if something did.
    fn open_overlaps(&mut self, world: &mut World, user: bool, most: u32) -> Result<bool, StepError> {
        let mut before = f64::NEG_INFINITY;
        for _ in 0..most {
            let deepest = self.sites.all.iter().map(|s| s.gap).fold(0.0, f64::min);
            let deepest = deepest.min(-self.joints_off(world));
            // Heaps come apart over several steps, except where something has sunk in deep.
            let stays = deepest < 0.5 * before && deepest > -DEEP * self.radius;
            if deepest >= -self.params.slop || stays {
                break;
            }
            before = deepest;
            self.trace(Stage::Correct);
            self.mixed.jammed = false;
            let Some(allowed) = self.correct_once(world, user) else { break };
            self.follow_contacts(world, FOLLOWED * allowed)?;
            // What joints and contacts hold apart comes apart over several steps, if at all.
            if self.mixed.jammed {
                break;
            }
        }
        Ok(before.is_finite())
    }

    /// How far joints are from what they hold where the bodies are, m or rad.
    fn joints_off(&mut self, world: &mut World) -> f64 {
        if world.joint_count() == 0 {
            return 0.0;
        }
        self.read_bodies(world);
        self.read_joints(world);
        self.joint_error()
    }

    /// One correction: the least overlap that it leaves alone in an island, m; nothing if there was none.
    fn correct_once(&mut self, world: &mut World, user: bool) -> Option<f64> {
        self.read_bodies(world);
        self.pool.iter_mut().for_each(|body| body.velocity = Motion::ZERO);
        self.correct_joints();
        // Only islands in which something overlaps.
        self.chosen.clear();
        let moves = |slot: &u32| self.pool[*slot as usize].is_movable();
        let sites = (0..).zip(&self.sites.all).filter(|(_, site)| site.bodies.iter().any(moves));
        self.chosen.extend(sites.map(|(k, _)| k));
        self.islands_of_chosen();
        let mut least = f64::INFINITY;
        for island in 0..self.islands.len() {
            let sites = &self.sites.all;
            let count = self.chosen.len();
            let (members, pairs) = members_of(&self.islands, count, island);
            let pairs = pairs.iter().map(|m| *m as usize - count);
            self.mixed.order.clear();
            self.mixed.order.extend(self.joined.blocks_of(pairs));
            let jointed = !self.mixed.order.is_empty();
            let site_of = |m: &u32| &sites[self.chosen[*m as usize] as usize];
            let deepest = members.iter().map(|m| site_of(m).gap).fold(0.0, f64::min);
            let deepest = deepest.min(-self.joint_error_of(&self.mixed.order));
            if deepest >= -self.params.slop {
                continue;
            }
            // Heaps that move fast are not followed closer than their way tells.
            let (mut allowed, mut accuracy) = (self.params.slop, 1e-3 * self.params.slop);
            if members.len() > LARGE {
                let way = self.params.step() * self.fastest(members.iter().flat_map(|m| site_of(m).bodies));
                allowed = allowed.max((PATH_SHARE * way).min(MOST * self.radius));
                accuracy = ACCURACY * allowed;
            }
            if deepest >= -allowed {
                continue;
            }
            if members.len() > FEW && !jointed {
                let contacts = || members.iter().map(|m| normal_at(site_of(m)));
                let mut goal = NormalGoal { accuracy, pairs: PAIRS, visits: VISITS, softness: 0.0 };
                let mut found = self.normals.solve(&mut self.pool, contacts(), goal);
                self.report.solver.count(found.iterations, members.len());
                let failed = found.residual > accuracy && found.residual >= 0.5 * found.scale;
                if failed {
                    for slot in contacts().flat_map(|c| c.bodies) {
                        self.pool[slot as usize].velocity = Motion::ZERO;
                    }
                }
                if failed && members.len() > MANY_FOR_LAW {
                    // Better than nothing: the next step goes on.
                    goal.softness = SOFTNESS;
                    found = self.normals.solve(&mut self.pool, contacts(), goal);
                    self.report.solver.count(found.iterations, members.len());
                }
                if !failed || members.len() > MANY_FOR_LAW {
                    least = least.min(allowed);
                    continue;
                }
            }
            self.contacts.clear();
            self.contacts.extend(members.iter().map(|m| {
                let mut contact = contact_at(site_of(m), site_of(m).gap);
                contact.friction = 0.0;
                contact
            }));
            if jointed {
                least = least.min(self.correct_mixed(accuracy, allowed));
                continue;
            }
            self.assemble();
            self.impulses.clear();
            self.impulses.resize(self.contacts.len(), DVec3::ZERO);
            self.prepared.gather(&self.pool, &self.contacts, &PoolBlocks::default());
            let solver = self.parts.contacts.solver()?;
            let (all, bodies) = (&self.delassus, self.prepared.view());
            let problem = if solver.needs_rows() {
                all.problem().and_then(|problem| problem.with_groups(bodies))
            } else {
                RowProblem::of_groups(bodies, &all.blocks, &all.velocity, &all.friction, &[])
            };
            let Ok(problem) = problem.map(|problem| problem.with_accuracy(accuracy)) else {
                continue;
            };
            // What is not quite solved is better than nothing: the next step goes on.
            if let Ok(found) = self.softener.solve(&problem, solver, &mut self.impulses) {
                self.report.solver.count(found.iterations, self.contacts.len());
                pool::apply(&mut self.pool, &self.contacts, &self.impulses);
                least = least.min(allowed);
            }
        }
        self.joined.pairs.iter().for_each(|pair| self.debts.meet(*pair));
        for site in &self.sites.all {
            // Before or after the correction, whose twists are in the pool.
            if site.gap + self.normal_velocity(site).min(0.0) <= self.params.touch {
                self.debts.meet(site.bodies);
            }
        }
        (least < f64::INFINITY && self.shift(world, user)).then_some(least)
    }

    /// Corrects an island with joints, whose contacts and blocks are chosen: the overlap left alone, if it was solved.
    fn correct_mixed(&mut self, accuracy: f64, allowed: f64) -> f64 {
        let count = self.contacts.len();
        let mut p = std::mem::take(&mut self.mixed.impulses);
        p.clear();
        p.resize(count + self.mixed.order.len(), DVec3::ZERO);
        let solved = self.solve_mixed(0..self.mixed.order.len(), 0..count, accuracy, &mut p);
        let found = solved.is_ok_and(|found| {
            self.report.solver.count(found.iterations, p.len());
            self.mixed.jammed |= !found.solved;
            true
        });
        if found {
            self.apply_mixed(0..self.mixed.order.len(), 0..count, &p);
        }
        self.mixed.impulses = p;
        if found { allowed } else { f64::INFINITY }
    }

    /// Moves the bodies by the twists in the pool.
    fn shift(&mut self, world: &mut World, user: bool) -> bool {
        let time = world.time();
        let mut any = false;
        for slot in 0..self.pool.len() as u32 {
            let twist = self.pool[slot as usize].velocity;
            let Some((id, body)) = world.body_in_slot(slot) else { continue };
            let finite = twist.to_array().iter().all(|x| x.is_finite());
            if !body.is_free() || twist == Motion::ZERO || !finite {
                continue;
            }
            let sizes = body.colliders().iter().filter_map(|c| world.collider(*c).ok());
            let size = sizes.map(|c| c.extent().radius).fold(f64::INFINITY, f64::min);
            let shrink = (0.2 * size / twist.linear.length()).min(MAX_TURN / twist.angular.length()).min(1.0);
            let twist = twist * shrink;
            let before: RigidState = *body.state();
            let mut state = before;
            if state.set_pose(moved(state.pose(), twist)).is_err() {
                continue;
            }
            any = true;
            // The body turns with its velocity, so that its kinetic energy stays.
            let turning = before.pose().rotation.conjugate() * before.velocity.angular;
            state.velocity.angular = state.pose().rotation * turning;
            let lifted = world.put_right(id, state, user);
            self.report.solver.lifted += lifted;
            if !user {
                self.debts.lifted(slot, lifted);
            }
        }
        any && world.set_time(time).is_ok()
    }
}

/// A site without friction.
fn normal_at(site: &Site) -> NormalContact {
    NormalContact { bodies: site.bodies, point: site.point, normal: site.frame.z_axis, gap: site.gap }
}
