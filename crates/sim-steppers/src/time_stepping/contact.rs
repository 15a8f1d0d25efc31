//! The contact problem of a step.
//!
//! # Reference
//!
//! Stewart and Trinkle (1996); Cline (2002), sections 2.7.3 and 4.3.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | h | length of the step | s |
//! | v, v⁺ | velocities before and after | m/s, rad/s |
//! | g | gap of a contact | m |
//!
//! # Formula
//!
//! ```text
//! v⁺ = v + h a + M⁻¹ Jᵀ p,    g/h + J_n v⁺ ≥ 0 ⊥ p_n ≥ 0  (0 in place of g < 0, or its share by Baumgarte),    friction: Coulomb's law
//! x⁺ = x + h v⁺ for bodies that a contact pushes, the exact parabola for all others
//! energy: ΔE = p · J v⁺ − ½ |v⁺ − v|²_M: contacts take (p_n J_n v⁺ = −p_n g/h, friction opposes J_t v⁺), and so does the length of the step
//! ```
//!
//! # Cost
//!
//! One assembly for all contacts (of the diagonal alone, for laws that need no rows), one solution per island; starts from the impulses of the last step.
//!
//! # Numerics
//!
//! First order in h. Contacts at a distance act only if the bodies would meet within the step. Islands of a few contacts and islands that hardly move are
//! solved as well as the law can; heaps in motion to a thousandth of their speed or of what forces add to it in a step, or as far as the law's budget goes:
//! the report has the residual that was left, and counts the problems that were left unsolved.
//!
//! # Failure
//!
//! [`StepError::ContactLaw`] naming a body of the island. A budget used up is counted, and the impulses used.
//!
//! # Tested by
//!
//! `tests/time_resting.rs`, `tests/time_friction.rs`, `tests/time_falling.rs`

use super::{
    impact::contact_at,
    notice::Push,
    params::Stabilization,
    sites::Sites,
    stepper::{IslandSpan, Mixed, Stage, TimeStepping},
    struck,
};
use constraint_dynamics::{
    Delassus, Islands, Remembered,
    pool::{self, PoolBlocks},
    soften::Settled,
};
use rigid_impulse::{BodyKind, CollisionKind};
use sim_math::{glam::DVec3, spatial::Motion};
use sim_traits::{RowError, RowProblem};
use sim_world::{Body, ContactWork, Event, EventKind, Listing, StepError, World};
use std::ops::Range;

/// Islands of so few contacts are solved as well as rounding allows, however fast they move.
const FEW: usize = 32;
/// Islands with joints of so many contacts are solved as well as the law can.
const MANY_JOINTED: usize = 64;
/// Slower ones too, as a share of the speed that forces give in a step: they come to rest.
const SLOW: f64 = 0.0125;
/// What may be left of the velocities that contacts have to answer: this share of the speed of bodies, of the speed that forces give in a step, or of a
/// tenth of the smallest body in a step, whichever is least.
const SHARE: f64 = 1e-3;
const SIZE_SHARE: f64 = 0.1;

impl TimeStepping {
    /// Groups the chosen sites by islands.
    pub(super) fn islands_of_chosen(&mut self) {
        let (sites, pool) = (&self.sites.all, &self.pool);
        let pairs = self.chosen.iter().map(|&k| sites[k as usize].bodies);
        let pairs = pairs.chain(self.joined.pairs.iter().copied());
        self.islands.find(pool.len(), pairs, |k| pool[k as usize].is_movable());
    }

    /// Solves the contacts of a step of `h` seconds, or less where bodies would turn too far and `may_shorten` says so: velocities in the pool are then those of its
    /// end, whose time is returned. `bouncing` is the length of the whole step if it may be cut at bounces, s.
    pub(super) fn solve_contacts(
        &mut self,
        world: &mut World,
        mut h: f64,
        bouncing: Option<f64>,
        may_shorten: bool,
    ) -> Result<f64, StepError> {
        self.trace(Stage::Forces);
        let mut bent = false;
        let mut round = 0;
        loop {
            self.kicks(world, h)?;
            for (body, flyer) in self.pool.iter_mut().zip(&self.flyers) {
                body.velocity = flyer.start + flyer.kick;
            }
            if self.try_rest(h) {
                self.trace(Stage::Rows);
                self.trace(Stage::Solve);
                self.clear_debts();
                self.hold(world, h, true);
                self.last_step = h;
                self.report.solver.imbalance = 0.0;
                self.book_step(world, h);
                return Ok(h);
            }
            self.prepare_joints(world, h, !bent);
            let unsolved = self.report.solver.unsolved;
            self.solve_all(world, h, bouncing.is_some())?;
            // Where joints take bodies is known better now.
            if !bent && unsolved == self.report.solver.unsolved && self.joints_bend(world, h) {
                bent = true;
                continue;
            }
            bent = false;
            let late = round > struck::MOST / 2;
            if round == struck::MOST || !self.improve(world, &mut h, bouncing, [may_shorten, late])? {
                break;
            }
            round += 1;
        }
        self.clear_debts();
        self.hold(world, h, false);
        self.mark_jointed();
        self.book_contacts(world, h);
        self.book_joints(world, h);
        for (k, site) in self.sites.all.iter().enumerate() {
            // What sleeps keeps its impulses until it wakes.
            let moves = site.bodies.iter().any(|slot| self.pool[*slot as usize].is_movable());
            if !self.resting.held[k] && moves {
                self.sites.borne[k] = Some(DVec3::ZERO);
            }
        }
        for (m, &k) in self.order.iter().enumerate() {
            self.sites.borne[k as usize] = Some(self.contacts[m].frame * self.impulses[m]);
        }
        let Sites { all, keys, borne, .. } = &self.sites;
        self.warm.store((0..all.len()).map(|k| Remembered {
            key: keys[k],
            point: all[k].point,
            impulse: borne[k].unwrap_or_default(),
        }));
        self.last_step = h;
        Ok(h)
    }

    /// Looks at where the solution of a step of `h` seconds would take the bodies; true if another problem is to be solved in its place, with other contacts or a shorter step.
    fn improve(
        &mut self,
        world: &World,
        h: &mut f64,
        bouncing: Option<f64>,
        [may_shorten, stop]: [bool; 2],
    ) -> Result<bool, StepError> {
        let (first, stopped) = self.sooner_bounce(*h, stop || !may_shorten);
        let mut shorter = first;
        if may_shorten {
            shorter = self.turn_limit(shorter);
            if shorter >= *h && !stopped {
                shorter = self.foresee(world, shorter);
            }
        }
        let shorter = world.time() + shorter - world.time();
        if shorter > 0.0 && shorter < *h {
            *h = shorter;
            return Ok(true);
        }
        if stopped {
            return Ok(true);
        }
        if !self.reach_with_solution(world, *h)? {
            return Ok(false);
        }
        for (body, flyer) in self.pool.iter_mut().zip(&self.flyers) {
            body.velocity = flyer.start;
        }
        self.find_bounces(bouncing);
        Ok(true)
    }

    /// Nobody owes anything; those that overlap are noted.
    fn clear_debts(&mut self) {
        self.debts.clear(self.pool.len());
        for site in self.sites.all.iter().filter(|site| site.gap < -self.params.slop) {
            self.debts.overlapped(site.bodies);
        }
    }

    /// Solves the contact problems of a step of `h` seconds, given the velocities without contact in the pool.
    fn solve_all(&mut self, world: &World, h: f64, cut: bool) -> Result<(), StepError> {
        // What flies to a bounce is not stopped on the way: its time is not before the end of the step.
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.clear();
        chosen.extend((0..self.sites.all.len() as u32).filter(|&k| {
            let site = &self.sites.all[k as usize];
            let stuck = site.bodies.iter().all(|slot| !self.pool[*slot as usize].is_movable());
            !(cut && self.bouncing[k as usize]) && site.gap < f64::INFINITY && !stuck
        }));
        self.chosen = chosen;
        self.islands_of_chosen();
        self.trace(Stage::Rows);
        self.contacts.clear();
        self.order.clear();
        self.spans.clear();
        self.resting.held.clear();
        self.resting.held.resize(self.sites.all.len(), false);
        self.mixed.order.clear();
        for island in 0..self.islands.len() {
            if !self.is_sprung(island) {
                self.collect(island, h);
            }
        }
        // Islands with bodies that springs hold come last, as one problem if there are no joints among them.
        let (sprung, jointed) = (self.order.len(), self.mixed.order.len());
        for island in 0..self.islands.len() {
            if self.is_sprung(island) {
                self.collect(island, h);
            }
        }
        let one = self.mixed.order.len() == jointed && self.stiff.fits(self.order.len() - sprung);
        self.spans
            .retain(|span| !(one && span.contacts[0] as usize >= sprung && span.blocks[0] == span.blocks[1]));
        self.assemble();
        self.impulses.clear();
        let scale = if self.last_step > 0.0 { h / self.last_step } else { 0.0 };
        for (&k, contact) in self.order.iter().zip(&self.contacts) {
            let found =
                || self.warm.get(&self.sites.keys[k as usize], contact.point, 10.0 * self.params.margin);
            let known = if self.params.warm_start {
                self.sites.borne[k as usize].unwrap_or_else(found)
            } else {
                DVec3::ZERO
            };
            self.impulses.push(contact.frame.transpose() * known * scale);
        }
        self.trace(Stage::Solve);
        for k in 0..self.spans.len() {
            self.solve_island(world, self.spans[k], h)?;
        }
        if one && sprung < self.order.len() {
            self.solve_stiff(world, sprung, self.order.len(), h)?;
        }
        Ok(())
    }

    /// True if springs, drag or torques act on a body of an island.
    fn is_sprung(&self, island: usize) -> bool {
        let bodies = |m: &u32| self.sites.all[self.chosen[*m as usize] as usize].bodies;
        !self.stiff.is_empty() && {
            let count = self.chosen.len();
            let (sites, pairs) = members_of(&self.islands, count, island);
            let pair = |m: &u32| self.joined.pairs[*m as usize - count];
            sites.iter().flat_map(bodies).any(|slot| self.stiff.has(slot))
                || pairs.iter().flat_map(pair).any(|slot| self.stiff.has(slot))
        }
    }

    /// Appends an island to the problem, unless it stays where it is.
    fn collect(&mut self, island: usize, h: f64) {
        let count = self.chosen.len();
        let (members, pairs) = members_of(&self.islands, count, island);
        let site_of = |m: &u32| self.chosen[*m as usize] as usize;
        let still = |m: &u32| {
            let movable = self.sites.all[site_of(m)].bodies.map(|k| k as usize);
            movable.into_iter().all(|k| self.resting.still[k] || !self.pool[k].is_movable())
        };
        if pairs.is_empty() && members.iter().all(still) {
            members.iter().for_each(|m| self.resting.held[site_of(m)] = true);
            return;
        }
        let (start, first) = (self.order.len() as u32, self.mixed.order.len() as u32);
        for m in members {
            let k = self.chosen[*m as usize];
            let site = &self.sites.all[k as usize];
            let bias = match self.params.stabilization {
                Stabilization::Baumgarte(share) if site.gap < 0.0 => share * site.gap / h,
                _ => site.gap.max(0.0) / h,
            };
            self.order.push(k);
            self.contacts.push(contact_at(site, bias));
        }
        let pairs = pairs.iter().map(|m| *m as usize - count);
        self.mixed.order.extend(self.joined.blocks_of(pairs));
        let contacts = [start, self.order.len() as u32];
        self.spans.push(IslandSpan { contacts, blocks: [first, self.mixed.order.len() as u32] });
    }

    /// What the contact law needs of the contacts.
    pub(super) fn assemble(&mut self) {
        if self.parts.contacts.solver().is_some_and(|law| law.needs_rows()) {
            pool::assemble(&self.pool, &self.contacts, &mut self.pool_workspace, &mut self.delassus);
        } else {
            pool::assemble_diagonal(&self.pool, &self.contacts, &mut self.delassus);
        }
    }

    /// Residual that is good enough for an island, m/s: far less than what the length of the step does to its bodies.
    fn accuracy(&self, start: usize, end: usize, h: f64) -> f64 {
        if end - start <= FEW {
            return 0.0;
        }
        let slots = self.contacts[start..end].iter().flat_map(|c| c.bodies);
        let fastest = self.fastest(slots.clone());
        let (mut pull, mut size) = (0.0_f64, f64::INFINITY);
        for slot in slots.filter(|slot| self.pool[*slot as usize].is_movable()) {
            pull = pull.max(self.flyers[slot as usize].kick.linear.length());
            size = size.min(self.detect.trails.radius(slot));
        }
        let pulled = if pull > 0.0 { fastest.min(pull) } else { fastest };
        if fastest < SLOW * pull { 0.0 } else { SHARE * pulled.min(SIZE_SHARE * size / h) }
    }

    /// Largest speed of a point of these bodies at the start of the step, m/s; of those that impulses move.
    pub(super) fn fastest(&self, slots: impl Iterator<Item = u32>) -> f64 {
        let speed = |slot: u32| {
            let velocity = self.flyers[slot as usize].start;
            let turning = velocity.angular.length();
            let radius = if turning > 0.0 { self.detect.trails.radius(slot) } else { 0.0 };
            velocity.linear.length() + turning * radius
        };
        slots.filter(|slot| self.pool[*slot as usize].is_movable()).map(speed).fold(0.0, f64::max)
    }

    /// An island is one problem.
    fn solve_island(&mut self, world: &World, span: IslandSpan, h: f64) -> Result<(), StepError> {
        let [start, end] = span.contacts.map(|x| x as usize);
        if span.blocks[0] < span.blocks[1] {
            return self.solve_jointed(world, span, h);
        }
        self.prepared.gather(&self.pool, &self.contacts[start..end], &PoolBlocks::default());
        let accuracy = self.accuracy(start, end, h);
        let all = &self.delassus;
        let (first, last) = (all.starts[start] as usize, all.starts[end] as usize);
        let (blocks, velocity, friction) =
            (&all.blocks[first..last], &all.velocity[start..end], &all.friction[start..end]);
        let problem = if self.parts.contacts.solver().is_some_and(|law| law.needs_rows()) {
            self.local_starts.clear();
            self.local_starts.extend(all.starts[start..=end].iter().map(|s| s - first as u32));
            self.local_columns.clear();
            self.local_columns.extend(all.columns[first..last].iter().map(|c| c - start as u32));
            RowProblem::new(&self.local_starts, &self.local_columns, blocks, velocity, friction, &[])
                .and_then(|problem| problem.with_groups(self.prepared.view()))
        } else {
            RowProblem::of_groups(self.prepared.view(), blocks, velocity, friction, &[])
        };
        let problem = problem.map(|problem| problem.with_accuracy(accuracy));
        let impulses = &mut self.impulses[start..end];
        let Some(solver) = self.parts.contacts.solver() else { return Ok(()) };
        let solved = problem.and_then(|problem| self.softener.solve(&problem, solver, impulses));
        let exact = self.count_solved(world, span, solved)? && accuracy <= 0.0;
        pool::apply(&mut self.pool, &self.contacts[start..end], &self.impulses[start..end]);
        if !exact {
            self.restrain(world, start, end);
        }
        Ok(())
    }

    /// The same with joints in it.
    fn solve_jointed(&mut self, world: &World, span: IslandSpan, h: f64) -> Result<(), StepError> {
        let [start, end] = span.contacts.map(|x| x as usize);
        let accuracy = if end - start > MANY_JOINTED { self.accuracy(start, end, h) } else { 0.0 };
        let scale = if self.last_step > 0.0 && self.params.warm_start { h / self.last_step } else { 0.0 };
        let mut p = std::mem::take(&mut self.mixed.impulses);
        p.clear();
        p.extend_from_slice(&self.impulses[start..end]);
        let members = span.blocks[0] as usize..span.blocks[1] as usize;
        p.extend(self.mixed.order[members.clone()].iter().map(|&k| self.joined.impulses[k as usize] * scale));
        let solved = self.solve_mixed(members.clone(), start..end, accuracy, &mut p);
        self.count_solved(world, span, solved)?;
        self.apply_mixed(members.clone(), start..end, &p);
        let (of_contacts, of_blocks) = p.split_at(end - start);
        self.impulses[start..end].copy_from_slice(of_contacts);
        for (&k, p) in self.mixed.order[members].iter().zip(of_blocks) {
            self.joined.impulses[k as usize] = *p;
        }
        self.mixed.impulses = p;
        Ok(())
    }

    /// Solves contacts and blocks of joints, `members` in the order of islands, from the impulses `p`.
    pub(super) fn solve_mixed(
        &mut self,
        members: Range<usize>,
        contacts: Range<usize>,
        accuracy: f64,
        p: &mut [DVec3],
    ) -> Result<Settled, RowError> {
        let Mixed { order, blocks, delassus, .. } = &mut self.mixed;
        blocks.clear();
        blocks.extend(order[members].iter().map(|&k| self.joined.blocks[k as usize]));
        let view = PoolBlocks { blocks, sides: &self.joined.sides };
        let contacts = &self.contacts[contacts];
        let Some(solver) = self.parts.contacts.solver() else {
            return Err(RowError::NoSolution { iterations: 0 });
        };
        self.prepared.gather(&self.pool, contacts, &view);
        let problem = if solver.needs_rows() {
            pool::assemble_with(&self.pool, contacts, &view, &mut self.pool_workspace, delassus);
            delassus.problem()?.with_groups(self.prepared.view())?
        } else {
            pool::assemble_diagonal(&self.pool, contacts, delassus);
            pool::assemble_diagonal_of(&self.pool, &view, delassus);
            let Delassus { blocks, velocity, friction, laws, .. } = &*delassus;
            RowProblem::of_groups(self.prepared.view(), blocks, velocity, friction, laws)?
        };
        self.softener.solve(&problem.with_accuracy(accuracy), solver, p)
    }

    /// Applies the impulses of such a problem to the pool.
    pub(super) fn apply_mixed(&mut self, members: Range<usize>, contacts: Range<usize>, p: &[DVec3]) {
        let (of_contacts, of_blocks) = p.split_at(contacts.len());
        pool::apply(&mut self.pool, &self.contacts[contacts], of_contacts);
        for (&k, p) in self.mixed.order[members].iter().zip(of_blocks) {
            let block = self.joined.blocks[k as usize];
            self.joined.view().push(&mut self.pool, &block, *p);
        }
    }

    /// Enters in the report how an island was solved; true if the law met its tolerance.
    pub(super) fn count_solved(
        &mut self,
        world: &World,
        span: IslandSpan,
        solved: Result<Settled, RowError>,
    ) -> Result<bool, StepError> {
        let [start, end] = span.contacts.map(|x| x as usize);
        let size = end - start + (span.blocks[1] - span.blocks[0]) as usize;
        let report = &mut self.report.solver;
        report.islands += 1;
        report.largest = report.largest.max(size as u64);
        let found = solved.map_err(|source| {
            let sites = self.order[start..end].iter().flat_map(|&k| self.sites.all[k as usize].bodies);
            let blocks = &self.mixed.order[span.blocks[0] as usize..span.blocks[1] as usize];
            let sides = blocks.iter().flat_map(|&k| self.joined.view().of(&self.joined.blocks[k as usize]));
            let slots = sites.chain(sides.map(|side| side.body)).collect();
            self.law_error(world, slots, source)
        })?;
        let report = &mut self.report.solver;
        report.count(found.iterations, size);
        report.residual = report.residual.max(found.residual);
        report.cone_violation = report.cone_violation.max(found.cone_violation);
        report.unsolved += u64::from(!found.solved);
        Ok(found.solved)
    }

    /// Enters the impulses in the account, with their work at the end of the step: the pool has its velocities.
    fn book_contacts(&mut self, world: &mut World, h: f64) {
        for m in 0..self.order.len() {
            if self.impulses[m] != DVec3::ZERO {
                for slot in self.contacts[m].bodies {
                    self.flyers[slot as usize].pushed = true;
                }
            }
        }
        for m in 0..self.order.len() {
            if self.impulses[m] == DVec3::ZERO {
                continue;
            }
            let site = self.order[m] as usize;
            let approach = -(self.delassus.velocity[m].z - self.contacts[m].bias.z);
            let kind = if approach > self.sites.all[site].rest_speed + 2.0 * self.gravity_speed(site, h) {
                CollisionKind::Ordinary
            } else {
                CollisionKind::Lasting
            };
            if kind == CollisionKind::Ordinary {
                for slot in self.contacts[m].bodies {
                    self.flyers[slot as usize].struck = true;
                }
            }
            let impulse = self.contacts[m].frame * self.impulses[m];
            let ends = self.ends_of(m);
            let closing = -self.contacts[m].frame.z_axis.dot(ends[0] - ends[1]);
            let gave_way = closing - self.sites.all[site].gap.max(0.0) / h;
            // Parting under load, which no exact solution does, has given energy.
            let taken = self.impulses[m].z * if closing < 0.0 { closing } else { gave_way.max(0.0) };
            let along = self.contacts[m].frame.z_axis * self.impulses[m].z;
            let friction = (impulse - along).dot(ends[0] - ends[1]);
            let bodies = self.contacts[m].bodies;
            let movable = bodies.map(|slot| self.pool[slot as usize].is_movable());
            self.debts.gave_way(bodies, movable, [taken, friction]);
            self.book(world, site, impulse, approach, kind, ends);
        }
        let mut imbalance = 0.0_f64;
        for (body, flyer) in self.pool.iter().zip(&self.flyers) {
            if flyer.pushed && body.is_movable() {
                imbalance = imbalance.max((body.velocity.linear - flyer.start.linear).length() / h);
            }
        }
        self.report.solver.imbalance = imbalance;
        self.book_step(world, h);
    }

    /// Enters what forces that depend on the state did in the step, and what its length took: half the square of its change of velocity, of every body that was pushed.
    fn book_step(&mut self, world: &mut World, h: f64) {
        self.book_forces(world, h, |slot| self.pool[slot].velocity);
        let mut work = ContactWork::default();
        for (slot, flyer) in self.flyers.iter().enumerate() {
            let movable = self.pool[slot].is_movable();
            let Some((_, body)) = world.body_in_slot(slot as u32).filter(|_| movable) else { continue };
            let mut state = *body.state();
            if !flyer.pushed {
                // On its parabola.
                let change = Motion::new(DVec3::ZERO, flyer.acceleration * h);
                let way = (flyer.start.linear + change.linear * 0.5) * h;
                self.debts.carried(slot, *state.pose(), way, change, [0.0; 2]);
                continue;
            }
            let end = self.pool[slot].velocity;
            state.velocity = end - flyer.start;
            let taken = state.kinetic_energy();
            let lost = if flyer.struck { [0.0, taken] } else { [taken, 0.0] };
            work.stepping -= lost[0];
            work.impact -= lost[1];
            // Joints turn velocities: that is no loss.
            let lost = if self.joined.holds(slot as u32) { [0.0; 2] } else { lost };
            // What a contact turned, as the motion of a top, is not taken back.
            self.debts.carried(slot, *state.pose(), end.linear * h, Motion::ZERO, lost);
        }
        world.book_contact_work(&work);
    }

    /// Velocities of both bodies of a contact at its point, m/s.
    pub(super) fn ends_of(&self, m: usize) -> [DVec3; 2] {
        let contact = &self.contacts[m];
        contact.bodies.map(|slot| self.pool[slot as usize].velocity_at(contact.point))
    }

    /// Speed that forces give a contact within a step, m/s.
    fn gravity_speed(&self, site: usize, h: f64) -> f64 {
        let [a, b] = self.sites.all[site].bodies.map(|k| self.flyers[k as usize].acceleration);
        (a - b).length() * h
    }

    /// Enters one impulse (world axes, on A, N·s) in the account, the list of events and the contact of its pair. The pool has the velocities after it,
    /// `before` are those of both bodies at its point with which it began to work, m/s.
    pub(super) fn book(
        &mut self,
        world: &mut World,
        site: usize,
        impulse: DVec3,
        approach: f64,
        kind: CollisionKind,
        before: [DVec3; 2],
    ) {
        let site = self.sites.all[site];
        let pair = &mut self.detect.watched[site.pair as usize];
        let push = Push { point: site.point, normal: site.frame.z_axis, separation: site.gap, impulse };
        let collision = push.collision(pair.rest.names, approach, kind);
        let after = site.bodies.map(|slot| self.pool[slot as usize].velocity_at(site.point));
        // What sleeps stands firm.
        let kinds = site.bodies.map(|slot| {
            let body = world.body_in_slot(slot).map(|(_, body)| body);
            let firm = |body: &&Body| !body.is_free() || self.pool[slot as usize].is_movable();
            body.filter(firm).map_or(BodyKind::Fixed, |body| *body.kind())
        });
        world.book_collision(&collision, [&kinds[0], &kinds[1]], before, after);
        let time = world.time();
        self.detect.exerted.add(pair, self.advances, &push, time);
        if kind == CollisionKind::Ordinary {
            self.report.collisions += 1;
        } else {
            self.report.micro_collisions += 1;
        }
        if impulse != DVec3::ZERO && !pair.touching {
            pair.touching = true;
            world.list(Event { time, kind: pair.notice(true) });
        }
        if kind == CollisionKind::Ordinary || world.listing == Listing::All {
            world.list(Event { time, kind: EventKind::Collision(collision) });
        }
    }

    /// The error of a contact law, naming a body of the island.
    pub(super) fn law_error(&self, world: &World, mut slots: Vec<u32>, source: RowError) -> StepError {
        slots.retain(|&slot| self.pool[slot as usize].is_movable());
        slots.sort_unstable();
        slots.dedup();
        let time = world.time();
        match slots.first().and_then(|&slot| world.body_in_slot(slot)) {
            Some((body, _)) => StepError::ContactLaw { body, others: slots.len() - 1, time, source },
            None => StepError::Duration { value: time },
        }
    }
}

/// Members of an island: chosen sites, of which there are `count`, by their number, and pairs of joints, counted on from there.
pub(super) fn members_of(islands: &Islands, count: usize, island: usize) -> (&[u32], &[u32]) {
    let all = islands.contacts(island);
    all.split_at(all.partition_point(|m| (*m as usize) < count))
}
