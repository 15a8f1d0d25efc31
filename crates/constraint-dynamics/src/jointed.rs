//! Impacts of bodies that joints hold: contacts and limits with what joints answer taken out of the problem.
//!
//! # Reference
//!
//! Schur complement of the rows that hold: Cline (2002), section 3.3, for one problem of joints and contacts.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | J, A | rows that hold, and their response J M⁻¹ Jᵀ = L Lᵀ | 1/kg |
//! | C | rows of contacts and limits | - |
//! | Z | L⁻¹ J M⁻¹ Cᵀ | - |
//! | p, λ | impulses of C, of J | N·s |
//!
//! # Formula
//!
//! ```text
//! J v⁺ = J v:   W = C M⁻¹ Cᵀ − Zᵀ Z     λ = −L⁻ᵀ Z p
//! ```
//!
//! W is the response of contacts with the joints: the law of impacts has no joints in it, and no sweep over them. Kinetic energy changes by pᵀ (C v) + ½ pᵀ W p, for λ does
//! no work on J v = 0.
//!
//! # Cost
//!
//! A forward substitution for each contact, and a dense W for each group of contacts. No allocation once grown.
//!
//! # Numerics
//!
//! What joints hold keeps the velocity that it had, so that errors there do not grow to blows. A direction in which joints let nothing move has W = 0: `LEAST` of the response
//! without joints is added, which gives a finite impulse to nothing.
//!
//! # Failure
//!
//! A contact along whose normal joints let nothing move gets no impulse.
//!
//! # Tested by
//!
//! `a_reduced_response_is_that_of_all_rows`, `tests/impacts_with_joints.rs`

use crate::{
    delassus::Delassus,
    held::{Held, HeldSide, RowList},
    pool::{self, PoolBody, PoolContact, PoolSide, velocity_of},
    restitution::Bounce,
};
use sim_math::{
    glam::{DMat3, DVec3},
    spatial::Motion,
};
use std::ops::Range;

/// Response that is added, as a share of that without joints.
const LEAST: f64 = 1e-13;
/// Response along a normal that counts as none, in the same unit.
const NOTHING: f64 = 1e-10;
/// Share of the determinant without joints up to which there is a direction in which nothing moves.
const FLAT: f64 = 1e-9;

/// What joints do in an impact: rows that hold, and limits that are reached.
#[derive(Debug, Clone, Default)]
pub struct ImpactJoints {
    /// Rows that hold.
    pub held: Held,
    /// Rows that only push: their velocity is not to be negative.
    pub limits: RowList,
    /// How each limit bounces.
    pub bounces: Vec<Bounce>,
}

impl ImpactJoints {
    /// No joints, in a pool of so many bodies.
    pub fn clear(&mut self, bodies: usize) {
        self.held.clear(bodies);
        self.limits.clear();
        self.bounces.clear();
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && self.limits.is_empty()
    }

    /// Adds a limit.
    pub fn limit(&mut self, sides: impl Iterator<Item = HeldSide>, bounce: Bounce) {
        self.limits.add(sides);
        self.bounces.push(bounce);
    }

    /// To be called when all rows are there, and again when there are more of them or more bodies.
    pub fn finish(&mut self, bodies: &[PoolBody]) {
        self.held.part(bodies.len());
        let movable = |k: u32| bodies.get(k as usize).is_some_and(PoolBody::is_movable);
        for row in 0..self.limits.len() {
            let mut moving = self.limits.of(row).iter().map(|s| s.body).filter(|k| movable(*k));
            if let Some(first) = moving.next() {
                moving.for_each(|k| self.held.join(first, k));
            }
        }
        self.held.factor(bodies);
    }

    /// Changes of velocity of some bodies by unit impulses along the axes of a contact, joints and all.
    pub fn respond(
        &self,
        bodies: &[PoolBody],
        contact: &PoolContact,
        of: &[Range<u32>],
        scratch: &mut ResponseScratch,
        out: &mut Vec<[Motion; 3]>,
    ) {
        let start = out.len();
        let count = of.iter().map(ExactSizeIterator::len).sum::<usize>();
        out.resize(start + count, [Motion::ZERO; 3]);
        for (axis, unit) in DVec3::AXES.into_iter().enumerate() {
            let ResponseScratch { bodies: all, lambda } = scratch;
            all.clear();
            all.extend(bodies.iter().map(|b| PoolBody { velocity: Motion::ZERO, ..*b }));
            pool::apply(all, std::slice::from_ref(contact), &[unit]);
            let spans = contact.bodies.iter().filter(|k| self.held.holds(**k)).map(|k| self.held.span_of(*k));
            let from = spans.clone().map(|span| span[0]).min().unwrap_or(0);
            let to = spans.map(|span| span[1]).max().unwrap_or(0);
            lambda.clear();
            lambda.extend((from..to).map(|row| -self.held.rows.velocity(row, all)));
            self.held.forward(from, lambda);
            self.held.backward(from, lambda);
            for (row, p) in (from..to).zip(lambda.iter()) {
                self.held.rows.push(all, row, *p);
            }
            let found = of.iter().cloned().flatten();
            for (place, k) in out[start..].iter_mut().zip(found) {
                place[axis] = all[k as usize].velocity;
            }
        }
    }

    /// The body that stands for those of a limit.
    pub(crate) fn stands_for_limit(&self, row: usize, bodies: &[PoolBody]) -> Option<u32> {
        let movable = |s: &&HeldSide| bodies.get(s.body as usize).is_some_and(PoolBody::is_movable);
        self.limits.of(row).iter().find(movable).map(|s| self.held.stands_for(s.body))
    }
}

/// Memory of [`ImpactJoints::respond`].
#[derive(Debug, Clone, Default)]
pub struct ResponseScratch {
    bodies: Vec<PoolBody>,
    lambda: Vec<f64>,
}

/// A contact or a limit of a group.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Into the sides.
    sides: [u32; 2],
    /// Rows of Z, and where they begin in its list.
    rows: [usize; 2],
    z: usize,
}

/// A group with its joints taken out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reduced {
    pub(crate) problem: Delassus,
    entries: Vec<Entry>,
    sides: Vec<PoolSide>,
    z: Vec<DVec3>,
    /// Per entry: joints let something move there.
    moves: Vec<bool>,
    lambda: Vec<f64>,
}

impl Reduced {
    /// Begins a group.
    pub(crate) fn clear(&mut self) {
        self.problem.clear();
        self.entries.clear();
        self.sides.clear();
        self.z.clear();
        self.moves.clear();
    }

    /// Adds a contact.
    pub(crate) fn contact(&mut self, bodies: &[PoolBody], contact: &PoolContact) {
        let first = self.sides.len() as u32;
        for (body, sign) in contact.bodies.into_iter().zip([1.0, -1.0]) {
            let Some(state) = bodies.get(body as usize).filter(|b| b.is_movable()) else { continue };
            let (arm, frame) = (contact.point - state.center, contact.frame * sign);
            let cross = |axis: DVec3| arm.cross(axis);
            let moments = DMat3::from_cols(cross(frame.x_axis), cross(frame.y_axis), cross(frame.z_axis));
            self.sides.push(PoolSide { body, moments, forces: frame });
        }
        self.entry(first);
        self.problem.velocity.push(velocity_of(bodies, contact));
        self.problem.friction.push(contact.friction);
    }

    /// Adds a limit: a contact without friction.
    pub(crate) fn limit(&mut self, bodies: &[PoolBody], limits: &RowList, row: usize) {
        let first = self.sides.len() as u32;
        for side in limits.of(row) {
            if bodies.get(side.body as usize).is_some_and(PoolBody::is_movable) {
                let column = |x: DVec3| DMat3::from_cols(DVec3::ZERO, DVec3::ZERO, x);
                let (moments, forces) = (column(side.moment), column(side.force));
                self.sides.push(PoolSide { body: side.body, moments, forces });
            }
        }
        self.entry(first);
        self.problem.velocity.push(DVec3::Z * limits.velocity(row, bodies));
        self.problem.friction.push(0.0);
    }

    fn entry(&mut self, first: u32) {
        let sides = [first, self.sides.len() as u32];
        self.entries.push(Entry { sides, rows: [0; 2], z: 0 });
    }

    /// Builds W. An entry at which joints let nothing move is taken for one that has nothing to answer.
    pub(crate) fn assemble(&mut self, bodies: &[PoolBody], held: &Held) {
        for k in 0..self.entries.len() {
            self.substitute(k, bodies, held);
        }
        let n = self.entries.len();
        for a in 0..n {
            for b in 0..n {
                let w = self.free_response(a, b, bodies) - self.answered(a, b);
                self.problem.columns.push(b as u32);
                self.problem.blocks.push(w);
            }
            self.problem.starts.push(self.problem.columns.len() as u32);
            let own = self.free_response(a, a, bodies);
            let w = &mut self.problem.blocks[a * n + a];
            let moves = w.z_axis.z > NOTHING * own.z_axis.z;
            *w = (*w + w.transpose()) * 0.5;
            if own.x_axis.x <= 0.0 {
                // Across a limit there is nothing.
                (w.x_axis.x, w.y_axis.y) = (w.z_axis.z, w.z_axis.z);
            } else if w.determinant() <= FLAT * own.determinant() {
                *w += own * LEAST;
            }
            if !moves {
                *w = own;
                self.problem.velocity[a] = DVec3::ZERO;
                (0..n).filter(|b| *b != a).for_each(|b| self.problem.blocks[a * n + b] = DMat3::ZERO);
            }
            self.moves.push(moves);
        }
        for a in (0..n).filter(|a| !self.moves[*a]) {
            (0..n).filter(|b| *b != a).for_each(|b| self.problem.blocks[b * n + a] = DMat3::ZERO);
        }
    }

    fn sides_of(&self, k: usize) -> &[PoolSide] {
        let [start, end] = self.entries[k].sides;
        &self.sides[start as usize..end as usize]
    }

    /// Z of an entry.
    fn substitute(&mut self, k: usize, bodies: &[PoolBody], held: &Held) {
        let (mut low, mut high) = (usize::MAX, 0);
        for side in self.sides_of(k).iter().filter(|s| held.holds(s.body)) {
            let [from, to] = held.span_of(side.body);
            (low, high) = (low.min(from), high.max(to));
        }
        let rows = [low.min(high), high];
        let start = self.z.len();
        let mut z = std::mem::take(&mut self.z);
        z.resize(start + rows[1] - rows[0], DVec3::ZERO);
        for side in self.sides_of(k).iter().filter(|s| held.holds(s.body)) {
            let body = &bodies[side.body as usize];
            let changes = [0, 1, 2].map(|axis| {
                let (moment, force) = (side.moments.col(axis), side.forces.col(axis));
                Motion::new(body.inverse_inertia * moment, force * body.inverse_mass)
            });
            held.couple(side.body, &changes, rows[0], &mut z[start..]);
        }
        held.forward(rows[0], &mut z[start..]);
        self.z = z;
        (self.entries[k].rows, self.entries[k].z) = (rows, start);
    }

    fn free_response(&self, a: usize, b: usize, bodies: &[PoolBody]) -> DMat3 {
        let mut w = DMat3::ZERO;
        for s in self.sides_of(a) {
            for t in self.sides_of(b).iter().filter(|t| t.body == s.body) {
                let body = &bodies[s.body as usize];
                w += s.moments.transpose() * (body.inverse_inertia * t.moments)
                    + s.forces.transpose() * t.forces * body.inverse_mass;
            }
        }
        w
    }

    /// Zᵀ Z.
    fn answered(&self, a: usize, b: usize) -> DMat3 {
        let (a, b) = (&self.entries[a], &self.entries[b]);
        let mut sum = DMat3::ZERO;
        for row in a.rows[0].max(b.rows[0])..a.rows[1].min(b.rows[1]) {
            let (x, y) = (self.z[a.z + row - a.rows[0]], self.z[b.z + row - b.rows[0]]);
            sum += DMat3::from_cols(x * y.x, x * y.y, x * y.z);
        }
        sum
    }

    /// What joints answer to the impulses of the group: adds to `all`, and pushes the bodies.
    pub(crate) fn answer(
        &mut self,
        bodies: &mut [PoolBody],
        held: &Held,
        impulses: &[DVec3],
        all: &mut [f64],
    ) {
        let low = self.entries.iter().filter(|e| e.rows[0] < e.rows[1]).map(|e| e.rows[0]).min();
        let (Some(low), high) = (low, self.entries.iter().map(|e| e.rows[1]).max().unwrap_or(0)) else {
            return;
        };
        self.lambda.clear();
        self.lambda.resize(high - low, 0.0);
        for (entry, p) in self.entries.iter().zip(impulses) {
            for row in entry.rows[0]..entry.rows[1] {
                self.lambda[row - low] -= self.z[entry.z + row - entry.rows[0]].dot(*p);
            }
        }
        held.backward(low, &mut self.lambda);
        for (row, p) in (low..).zip(&self.lambda) {
            held.rows.push(bodies, row, *p);
            all[row] += *p;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    fn body(random: &mut SplitMix64) -> PoolBody {
        let turn = DMat3::from_quat(random.unit_quat());
        let moments = DVec3::new(random.range(1.0, 9.0), random.range(1.0, 9.0), random.range(1.0, 9.0));
        PoolBody {
            center: random.vec3(1.0),
            inverse_mass: random.range(0.2, 4.0),
            inverse_inertia: turn * DMat3::from_diagonal(moments) * turn.transpose(),
            velocity: Motion::new(random.vec3(1.0), random.vec3(1.0)),
        }
    }

    fn sides(random: &mut SplitMix64, bodies: &[u32]) -> Vec<HeldSide> {
        let side = |body: u32, random: &mut SplitMix64| HeldSide {
            body,
            moment: random.vec3(1.0),
            force: random.vec3(1.0),
        };
        bodies.iter().map(|&k| side(k, random)).collect()
    }

    /// A chain of bodies with two rows from each to the next, one to the ground, and one that is there twice.
    fn chain(random: &mut SplitMix64, count: u32) -> (Vec<PoolBody>, Held) {
        let bodies: Vec<_> = (0..count).map(|_| body(random)).collect();
        let mut held = Held::default();
        held.clear(bodies.len());
        held.rows.add(sides(random, &[0, count]).into_iter());
        for k in 1..count {
            let twice = sides(random, &[k - 1, k]);
            held.rows.add(twice.iter().copied());
            held.rows.add(sides(random, &[k - 1, k]).into_iter());
            held.rows.add(twice.iter().map(|s| HeldSide {
                moment: s.moment * 2.0,
                force: s.force * 2.0,
                ..*s
            }));
        }
        (bodies, held)
    }

    #[test]
    fn what_is_held_does_not_move() {
        let mut random = SplitMix64(7);
        for count in [1, 2, 5, 30] {
            let (mut bodies, mut held) = chain(&mut random, count);
            assert_eq!(held.factor(&bodies), count as usize - 1);
            let mut x: Vec<f64> = (0..held.len()).map(|row| -held.rows.velocity(row, &bodies)).collect();
            held.solve(&mut x);
            for (row, p) in x.iter().enumerate() {
                held.rows.push(&mut bodies, row, *p);
            }
            for row in 0..held.len() {
                let left = held.rows.velocity(row, &bodies);
                assert!(left.abs() < 1e-11, "{count} bodies, row {row}: {left}");
            }
        }
    }

    #[test]
    fn rows_that_are_there_twice_change_nothing() {
        let mut random = SplitMix64(8);
        let bodies = [body(&mut random), body(&mut random)];
        let row = sides(&mut random, &[0, 1]);
        let solved = |times: usize| {
            let (mut held, mut after) = (Held::default(), bodies);
            held.clear(2);
            (0..times).for_each(|_| held.rows.add(row.iter().copied()));
            held.factor(&bodies);
            let mut x: Vec<f64> = (0..times).map(|k| -held.rows.velocity(k, &bodies)).collect();
            held.solve(&mut x);
            (0..times).for_each(|k| held.rows.push(&mut after, k, x[k]));
            after
        };
        assert_eq!(solved(1), solved(4));
    }

    #[test]
    fn a_reduced_response_is_that_of_all_rows() {
        let mut random = SplitMix64(9);
        for count in [2, 4, 12] {
            let (bodies, mut held) = chain(&mut random, count);
            held.factor(&bodies);
            let contacts: Vec<_> = (0..3)
                .map(|k| PoolContact {
                    bodies: [k % count, k % count + 1],
                    point: random.vec3(1.0),
                    frame: DMat3::from_quat(random.unit_quat()),
                    friction: 0.3,
                    bias: DVec3::ZERO,
                })
                .collect();
            let mut limits = RowList::default();
            limits.add(sides(&mut random, &[0, count - 1]).into_iter());
            let mut reduced = Reduced::default();
            reduced.clear();
            contacts.iter().for_each(|c| reduced.contact(&bodies, c));
            reduced.limit(&bodies, &limits, 0);
            reduced.assemble(&bodies, &held);
            let p =
                [random.vec3(1.0), random.vec3(1.0), random.vec3(1.0), DVec3::Z * random.range(-1.0, 1.0)];
            let mut after = bodies.clone();
            pool::apply(&mut after, &contacts, &p[..3]);
            limits.push(&mut after, 0, p[3].z);
            let mut lambda = vec![0.0; held.len()];
            reduced.answer(&mut after, &held, &p, &mut lambda);
            // What is held has the velocity that it had.
            for row in 0..held.len() {
                let change = held.rows.velocity(row, &after) - held.rows.velocity(row, &bodies);
                assert!(change.abs() < 1e-12, "row {row}: {change}");
            }
            // W is the response to the impulses, joints and all.
            let problem = reduced.problem.problem().unwrap();
            for (c, contact) in contacts.iter().enumerate() {
                let (found, real) = (problem.relative_velocity(c, &p), velocity_of(&after, contact));
                assert!((found - real).length() < 1e-11, "contact {c}: {found} {real}");
            }
            let (found, real) = (problem.relative_velocity(3, &p).z, limits.velocity(0, &after));
            assert!((found - real).abs() < 1e-11, "{found} {real}");
        }
    }
}
