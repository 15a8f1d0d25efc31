//! Impacts: all contacts that hit at one time, as one.
//!
//! # Reference
//!
//! Smith, Kaufman, Vouga, Tamstorf and Grinspun (2012), "Reflections on simultaneous impact": generalized reflections, round after round, of the
//! contacts that approach. Which contacts of a round wait for others is ours; so are friction and the limit on energy, in `reflect`.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | a | speed of approach of a contact | m/s |
//! | A | the largest a of the contacts of the same two bodies | m/s |
//! | V | contacts that are answered in a round | - |
//! | rest | approach up to which a contact needs no answer of its own | m/s |
//!
//! # Formula
//!
//! ```text
//! while a contact has a > rest:
//!   V ← contacts with a > 0, but one that opposes another of the same body with a larger A waits: their normals, as pushes on
//!       that body, have a negative product
//!   V ← V and all contacts without restitution that were struck before: these pass on what they bear
//!   each group of V that shares bodies is reflected, if one of its contacts has a > rest
//! after the last round: all contacts without restitution, at most `LAST` times
//! joints: bodies that hang together are one group, whose limits are in it; what joints hold keeps its velocity (`jointed`)
//! ```
//!
//! Contacts that push a body the same way (the corners of a box, the balls under a plate) are answered together, and so are equal ones that
//! oppose each other: what is symmetric stays so. Unequal ones that oppose each other are waves in a chain, which pass through each other one after the
//! other: balls that touch exchange their velocities exactly, however many come in from whichever side.
//!
//! # Cost
//!
//! Each round looks at every contact and solves small problems for those that approach; at most `64 + 4 n` rounds of n contacts, and at most
//! `SOLVED` n solutions of single contacts. No allocation once grown.
//!
//! # Numerics
//!
//! An approach below `NONE` of the fastest, or below rounding of the velocities, counts as none. What is equal to `TIE` does not wait.
//! Velocities change by the same numbers with opposite signs: momentum is kept to rounding.
//!
//! # Failure
//!
//! That of the contact problem, with the number of a contact within its group. Rounds without end (inelastic collapse, a light body between
//! heavy ones) are cut off; the report says so.
//!
//! # Tested by
//!
//! `tests/impacts.rs`, `tests/impacts_with_joints.rs`

use crate::{
    islands::Islands,
    jointed::Reduced,
    pool::{self, PoolBody, PoolContact},
    reflect::Reflection,
};
use sim_math::glam::DVec3;
use sim_traits::RowError;

pub use crate::{
    jointed::{ImpactJoints, ResponseScratch},
    reflect::{energy_limit, work},
};

/// Approach that counts as none, as a share of the fastest.
const NONE: f64 = 1e-12;
/// Approach that counts as none, as a share of the speeds of the two bodies.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Approaches that differ by less than this share are equal.
const TIE: f64 = 1e-9;
/// Cosine from which on two pushes on a body oppose each other.
const OPPOSED: f64 = -1e-9;
/// Most solutions per contact.
const SOLVED: usize = 64;
/// Rounds that any impact may have.
const ROUNDS: usize = 64;
/// Most rounds without restitution in the end: each leaves a small share of what the one before left.
const LAST: u32 = 4;
/// Nobody.
const NOBODY: u32 = u32::MAX;

/// How a contact bounces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounce {
    /// Coefficient of restitution, 0 to 1.
    pub restitution: f64,
    /// Approaches up to this speed need no answer of their own, m/s: 0 for every one.
    pub rest: f64,
}

/// What an impact did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImpactReport {
    /// Rounds.
    pub rounds: u32,
    /// Iterations of all solutions.
    pub iterations: u32,
    /// Contacts visited in them.
    pub visits: u64,
    /// Smallest share of the restitution that was kept in a group: below 1 where Poisson's rule would have made energy.
    pub kept: f64,
    /// Work of the impulses, J; at most 0 up to rounding.
    pub work: f64,
    /// Largest residual of a solution, m/s: what may be left of an approach.
    pub residual: f64,
    /// Rounds had no end: what was left was answered without restitution.
    pub cut_off: bool,
}

impl Default for ImpactReport {
    fn default() -> Self {
        Self { rounds: 0, iterations: 0, visits: 0, kept: 1.0, work: 0.0, residual: 0.0, cut_off: false }
    }
}

/// Bodies by numbers of their own, so that cost does not grow with the pool.
#[derive(Debug, Clone, Default)]
struct Numbers {
    of: Vec<u32>,
    slots: Vec<u32>,
}

impl Numbers {
    fn clear(&mut self, bodies: usize) {
        for slot in self.slots.drain(..) {
            self.of[slot as usize] = NOBODY;
        }
        if self.of.len() < bodies {
            self.of.resize(bodies, NOBODY);
        }
    }

    /// The number of a body, which gets one; nobody's for what is not in the pool.
    fn number(&mut self, slot: u32) -> u32 {
        let Some(entry) = self.of.get_mut(slot as usize) else { return NOBODY };
        if *entry == NOBODY {
            *entry = self.slots.len() as u32;
            self.slots.push(slot);
        }
        *entry
    }
}

/// An impact, and its memory.
#[derive(Debug, Clone, Default)]
pub struct Impact {
    /// Sums of impulses by contact, contact frames, N·s.
    impulses: Vec<DVec3>,
    /// Approach of a contact when it was first struck, m/s.
    approaches: Vec<f64>,
    /// Sums of impulses of limits and of rows that hold, N·s, N·m·s.
    limit_impulses: Vec<f64>,
    held_impulses: Vec<f64>,
    report: ImpactReport,
    scale: f64,
    solved: usize,
    /// Rounds without restitution.
    last: u32,
    // Of a round, by contact: approach, zero where it is none; the largest of the same two bodies.
    speeds: Vec<f64>,
    strength: Vec<f64>,
    chosen: Vec<u32>,
    /// Bodies of the chosen, their contacts as lists from `heads` on, and both sides of each chosen contact.
    numbers: Numbers,
    heads: Vec<u32>,
    next: Vec<[u32; 2]>,
    sides: Vec<[u32; 2]>,
    /// Approaches of limits; those who stand for both sides of each chosen contact, and for each limit.
    limit_speeds: Vec<f64>,
    links: Vec<[u32; 2]>,
    islands: Islands,
    // Of a group.
    reflection: Reflection,
    local: Numbers,
    bodies: Vec<PoolBody>,
    contacts: Vec<PoolContact>,
    restitution: Vec<f64>,
    given: Vec<DVec3>,
    reduced: Reduced,
}

impl Impact {
    /// Forgets the last impact.
    pub fn begin(&mut self) {
        self.impulses.clear();
        self.approaches.clear();
        self.limit_impulses.clear();
        self.held_impulses.clear();
        self.report = ImpactReport::default();
        (self.scale, self.solved, self.last) = (0.0, 0, 0);
    }

    /// Sums of impulses so far by contact, contact frames, N·s.
    #[must_use]
    pub fn impulses(&self) -> &[DVec3] {
        &self.impulses
    }

    /// Speed of approach of each contact when it was first struck, m/s; 0 for those that were not.
    #[must_use]
    pub fn approaches(&self) -> &[f64] {
        &self.approaches
    }

    /// Sums of impulses so far by limit, N·s or N·m·s.
    #[must_use]
    pub fn limit_impulses(&self) -> &[f64] {
        &self.limit_impulses
    }

    /// Sums of impulses so far by row that holds, N·s or N·m·s.
    #[must_use]
    pub fn held_impulses(&self) -> &[f64] {
        &self.held_impulses
    }

    /// What was done so far.
    #[must_use]
    pub fn report(&self) -> ImpactReport {
        self.report
    }

    /// Answers all contacts until none approaches faster than its rest speed; velocities of bodies change. Biases of contacts do not count.
    ///
    /// # Errors
    /// Lists of different lengths; what the contact problem reports.
    pub fn run(
        &mut self,
        bodies: &mut [PoolBody],
        contacts: &[PoolContact],
        bounces: &[Bounce],
    ) -> Result<ImpactReport, RowError> {
        self.run_with(bodies, contacts, bounces, &ImpactJoints::default())
    }

    /// The same for bodies that joints hold.
    ///
    /// # Errors
    /// As [`Impact::run`].
    pub fn run_with(
        &mut self,
        bodies: &mut [PoolBody],
        contacts: &[PoolContact],
        bounces: &[Bounce],
        joints: &ImpactJoints,
    ) -> Result<ImpactReport, RowError> {
        self.begin();
        while self.round(bodies, contacts, bounces, joints)? {}
        Ok(self.report)
    }

    /// One round of an impact that has begun: false if there was nothing to answer any more. Contacts may be added at the end of the lists between
    /// rounds, and rows at the end of those of joints.
    ///
    /// # Errors
    /// As [`Impact::run`].
    pub fn round(
        &mut self,
        bodies: &mut [PoolBody],
        contacts: &[PoolContact],
        bounces: &[Bounce],
        joints: &ImpactJoints,
    ) -> Result<bool, RowError> {
        let n = contacts.len() + joints.limits.len();
        self.limit_impulses.resize(joints.limits.len(), 0.0);
        self.held_impulses.resize(joints.held.len(), 0.0);
        if bounces.len() != contacts.len() {
            let (expected, got) = (contacts.len(), bounces.len());
            return Err(RowError::WrongLength { what: "restitution", expected, got });
        }
        self.impulses.resize(contacts.len(), DVec3::ZERO);
        self.approaches.resize(contacts.len(), 0.0);
        if self.last == LAST || !self.measure(bodies, contacts, bounces, joints) {
            return Ok(false);
        }
        let spent = self.report.rounds as usize >= ROUNDS + 4 * n || self.solved >= SOLVED * n;
        self.report.cut_off |= spent;
        self.last += u32::from(self.report.cut_off);
        self.report.rounds += 1;
        self.choose(bodies, contacts, bounces);
        let Self { numbers, chosen, links, islands, .. } = self;
        let movable = |k: &u32| bodies.get(*k as usize).is_some_and(PoolBody::is_movable);
        links.clear();
        for c in chosen.iter() {
            let of = |k: u32| if movable(&k) { joints.held.stands_for(k) } else { k };
            links.push(contacts[*c as usize].bodies.map(|slot| numbers.number(of(slot))));
        }
        for row in 0..joints.limits.len() {
            let k = joints.stands_for_limit(row, bodies).map_or(NOBODY, |slot| numbers.number(slot));
            links.push([k; 2]);
        }
        let slots = &numbers.slots;
        islands.find(slots.len(), links.iter().copied(), |k| bodies[slots[k as usize] as usize].is_movable());
        for island in 0..self.islands.len() {
            self.strike(island, bodies, contacts, bounces, joints)?;
        }
        Ok(true)
    }

    /// Finds the approach of every contact; true if one is faster than its rest speed.
    fn measure(
        &mut self,
        bodies: &[PoolBody],
        contacts: &[PoolContact],
        bounces: &[Bounce],
        joints: &ImpactJoints,
    ) -> bool {
        self.speeds.clear();
        for contact in contacts {
            let [a, b] = contact.bodies.map(|k| bodies.get(k as usize));
            let at = |body: Option<&PoolBody>| body.map_or(DVec3::ZERO, |b| b.velocity_at(contact.point));
            let (u, v) = (at(a), at(b));
            let approach = contact.frame.z_axis.dot(v - u);
            let noise = ROUNDING * (u.length() + v.length());
            let counts = approach > noise && [a, b].into_iter().flatten().any(PoolBody::is_movable);
            self.speeds.push(if counts { approach } else { 0.0 });
        }
        self.limit_speeds.clear();
        for row in 0..joints.limits.len() {
            let (mut approach, mut noise) = (0.0, 0.0);
            for side in joints.limits.of(row) {
                let u = bodies.get(side.body as usize).map_or(0.0, |b| side.velocity(b.velocity));
                approach -= u;
                noise += ROUNDING * u.abs();
            }
            let counts = approach > noise && joints.stands_for_limit(row, bodies).is_some();
            self.limit_speeds.push(if counts { approach } else { 0.0 });
        }
        let both = || self.speeds.iter().chain(&self.limit_speeds);
        self.scale = both().copied().fold(self.scale, f64::max);
        let none = NONE * self.scale;
        let all = self.speeds.iter_mut().chain(&mut self.limit_speeds);
        all.filter(|a| **a <= none).for_each(|a| *a = 0.0);
        let both = self.speeds.iter().zip(bounces).chain(self.limit_speeds.iter().zip(&joints.bounces));
        both.into_iter().any(|(a, b)| *a > b.rest)
    }

    /// The contacts of a round.
    fn choose(&mut self, bodies: &[PoolBody], contacts: &[PoolContact], bounces: &[Bounce]) {
        let Self { speeds, strength, chosen, numbers, heads, next, sides, impulses, report, .. } = self;
        chosen.clear();
        chosen.extend((0..contacts.len() as u32).filter(|&c| speeds[c as usize] > 0.0));
        // The largest of the same two bodies.
        let pair = |c: &u32| {
            let [a, b] = contacts[*c as usize].bodies;
            [a.min(b), a.max(b)]
        };
        strength.clone_from(speeds);
        chosen.sort_unstable_by_key(|c| (pair(c), *c));
        for same in chosen.chunk_by(|c, d| pair(c) == pair(d)) {
            let most = same.iter().map(|c| speeds[*c as usize]).fold(0.0, f64::max);
            same.iter().for_each(|c| strength[*c as usize] = most);
        }
        chosen.sort_unstable_by(|c, d| {
            strength[*d as usize]
                .total_cmp(&strength[*c as usize])
                .then_with(|| pair(c).cmp(&pair(d)))
                .then(c.cmp(d))
        });
        numbers.clear(bodies.len());
        heads.clear();
        next.clear();
        sides.clear();
        let movable = |k: u32| bodies.get(k as usize).is_some_and(PoolBody::is_movable);
        // Who stays moves to the front.
        let mut kept = 0;
        for at in 0..chosen.len() {
            let c = chosen[at] as usize;
            let side = contacts[c].bodies.map(|slot| numbers.number(slot));
            heads.resize(numbers.slots.len(), NOBODY);
            let waits = !report.cut_off
                && (0..2).filter(|&k| movable(contacts[c].bodies[k])).any(|k| {
                    let mut other = heads[side[k] as usize];
                    while other != NOBODY {
                        let d = chosen[other as usize] as usize;
                        let of_d = usize::from(sides[other as usize][0] != side[k]);
                        let cosine = contacts[c].frame.z_axis.dot(contacts[d].frame.z_axis);
                        let push = if k == of_d { cosine } else { -cosine };
                        let stronger = strength[c] < (1.0 - TIE) * strength[d];
                        if stronger && push < OPPOSED && pair(&(c as u32)) != pair(&(d as u32)) {
                            return true;
                        }
                        other = next[other as usize][of_d];
                    }
                    false
                });
            if waits {
                continue;
            }
            let link = side.map(|k| heads.get(k as usize).copied().unwrap_or(NOBODY));
            side.iter().filter(|k| **k != NOBODY).for_each(|k| heads[*k as usize] = kept);
            next.push(link);
            sides.push(side);
            chosen[kept as usize] = c as u32;
            kept += 1;
        }
        chosen.truncate(kept as usize);
        // Those without restitution that were struck before; all of them in the last round.
        for (c, contact) in contacts.iter().enumerate() {
            let bears = bounces[c].restitution <= 0.0 && impulses[c] != DVec3::ZERO;
            if speeds[c] == 0.0 && (bears || report.cut_off) && contact.bodies.iter().any(|k| movable(*k)) {
                chosen.push(c as u32);
                sides.push(contact.bodies.map(|slot| numbers.number(slot)));
            }
        }
    }

    /// Reflects a group of the chosen and of limits.
    fn strike(
        &mut self,
        island: usize,
        bodies: &mut [PoolBody],
        contacts: &[PoolContact],
        bounces: &[Bounce],
        joints: &ImpactJoints,
    ) -> Result<(), RowError> {
        let group = self.islands.contacts(island);
        let count = group.partition_point(|m| (*m as usize) < self.chosen.len());
        let of = |m: &u32| self.chosen[*m as usize] as usize;
        let limit = |m: &u32| *m as usize - self.chosen.len();
        let cut_off = self.report.cut_off;
        let due = |speed: f64, bounce: &Bounce| speed > if cut_off { 0.0 } else { bounce.rest };
        let contact_due = |m: &u32| due(self.speeds[of(m)], &bounces[of(m)]);
        let limit_due = |m: &u32| due(self.limit_speeds[limit(m)], &joints.bounces[limit(m)]);
        if !group[..count].iter().any(contact_due) && !group[count..].iter().any(limit_due) {
            return Ok(());
        }
        let restitution = |bounce: &Bounce| if cut_off { 0.0 } else { bounce.restitution };
        self.restitution.clear();
        self.restitution.extend(group[..count].iter().map(|m| restitution(&bounces[of(m)])));
        self.restitution.extend(group[count..].iter().map(|m| restitution(&joints.bounces[limit(m)])));
        self.given.clear();
        self.given.resize(group.len(), DVec3::ZERO);
        let held =
            group[..count].iter().any(|m| contacts[of(m)].bodies.iter().any(|k| joints.held.holds(*k)));
        let jointed = held || count < group.len();
        let done = if jointed {
            self.reduced.clear();
            group[..count].iter().for_each(|m| self.reduced.contact(bodies, &contacts[of(m)]));
            group[count..].iter().for_each(|m| self.reduced.limit(bodies, &joints.limits, limit(m)));
            self.reduced.assemble(bodies, &joints.held);
            let problem = self.reduced.problem.problem()?;
            self.reflection.answer_reduced(&problem, &self.restitution, &mut self.given)?
        } else {
            self.local.clear(bodies.len());
            self.bodies.clear();
            self.contacts.clear();
            for m in group {
                let c = of(m);
                let sides = contacts[c].bodies.map(|slot| self.local.number(slot));
                self.contacts.push(PoolContact { bodies: sides, bias: DVec3::ZERO, ..contacts[c] });
            }
            self.bodies.extend(self.local.slots.iter().map(|slot| bodies[*slot as usize]));
            self.reflection.answer(&self.bodies, &self.contacts, &self.restitution, &mut self.given)?
        };
        for (m, p) in group[..count].iter().zip(&self.given) {
            let c = of(m);
            if self.impulses[c] == DVec3::ZERO && *p != DVec3::ZERO {
                self.approaches[c] = self.speeds[c];
            }
            self.impulses[c] += *p;
            pool::apply(bodies, &contacts[c..=c], std::slice::from_ref(p));
        }
        for (m, p) in group[count..].iter().zip(&self.given[count..]) {
            self.limit_impulses[limit(m)] += p.z;
            joints.limits.push(bodies, limit(m), p.z);
        }
        if jointed {
            self.reduced.answer(bodies, &joints.held, &self.given, &mut self.held_impulses);
        }
        self.solved += self.given.len();
        self.report.iterations += done.iterations;
        self.report.visits += u64::from(done.iterations) * self.given.len() as u64;
        self.report.work += done.work;
        self.report.residual = self.report.residual.max(done.residual);
        if done.soft {
            // More rounds find no answer either.
            (self.report.cut_off, self.last) = (true, LAST);
        }
        self.report.kept = self.report.kept.min(done.kept);
        Ok(())
    }
}
