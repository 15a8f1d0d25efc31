//! Contacts without friction by sweeps over bodies: overlaps of heaps.
//!
//! # Reference
//!
//! As [`gauss_seidel`](crate::gauss_seidel), with a cone that is a ray: projected Gauss-Seidel.
//! `order` says in which order contacts are swept, `extrapolate` what happens between pairs of sweeps.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | n | normal, from B to A | - |
//! | t | arm × n of a side | m |
//! | g | gap, or the velocity that the contact is short of | m or m/s |
//! | v, ω | velocities of the bodies, of the start and by the impulses | m/s, rad/s |
//! | λ | impulse along the normal | N·s |
//!
//! # Formula
//!
//! ```text
//! contact:  u = g + n·(v_A − v_B) + t_A·ω_A − t_B·ω_B;   λ' = max(0, λ − u/W);   v, ω += ± (n/m, I⁻¹ t) (λ' − λ)
//! sweep:    forward, then backward, in the order of the later body;   then λ, v and ω extrapolated
//! ```
//!
//! # Cost
//!
//! Some 25 multiplications per contact and visit, on one record of it. Contacts that are open, and those whose bodies hardly moved since, are passed by. No
//! allocation once grown.
//!
//! # Numerics
//!
//! Velocities are summed up anew from the impulses before they are measured and returned.
//!
//! # Failure
//!
//! None: the residual says how good the impulses are.
//!
//! # Tested by
//!
//! `normals_are_cones_without_friction`, `contacts_of_the_ground_with_itself_change_nothing`

use crate::{
    extrapolate::{BodyTrack, Moved, Pace, Track},
    order::SweepOrder,
    pool::PoolBody,
};
use sim_math::{glam::DVec3, spatial::Motion};

/// Share of the accuracy by which bodies may be stirred before a contact is solved again.
const CALM: f64 = 0.1;
/// Share of the velocity at which an open contact parts by which its bodies may be stirred before it is solved again.
const OPEN: f64 = 0.15;
/// The same as a share of the largest change of the sweep before: most visits go where most is left to do. Above a tenth the extrapolation suffers.
const FOCUS: f64 = 0.05;

/// A contact without friction between two bodies of a pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalContact {
    /// A, which the normal points to, and B; numbers beyond the pool are the ground.
    pub bodies: [u32; 2],
    /// Where, world, m.
    pub point: DVec3,
    /// World axes.
    pub normal: DVec3,
    /// Added to the velocity along the normal, m/s; for corrections of places the gap, m.
    pub gap: f64,
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalGoal {
    /// Residual that is good enough, m/s.
    pub accuracy: f64,
    /// Most pairs of sweeps.
    pub pairs: u32,
    /// Most contacts solved, or eight times as many as there are.
    pub visits: u32,
    /// Share of W by which contacts give way more than their bodies do: problems without a solution have one then.
    pub softness: f64,
}

/// How far the sweeps came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalReport {
    /// Pairs of sweeps.
    pub iterations: u32,
    /// Largest distance of a contact from obeying the law, m/s.
    pub residual: f64,
    /// Largest velocity of approach without impulses, m/s.
    pub scale: f64,
}

/// All that a visit needs of a contact.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    bodies: [u32; 2],
    impulse: f64,
    /// What its bodies had been stirred when it was solved last, m/s.
    seen: f64,
    gap: f64,
    /// What it gives way by itself.
    softness: f64,
    /// W and its inverse.
    response: f64,
    inverse: f64,
    normal: DVec3,
    /// Arm × normal.
    turns: [DVec3; 2],
    /// I⁻¹ times that, and 1/m.
    spins: [DVec3; 2],
    inverse_masses: [f64; 2],
}

impl Row {
    #[inline]
    fn velocity(&self, [a, b]: [&Moved; 2]) -> f64 {
        let apart = self.normal.dot(a.linear - b.linear);
        self.gap
            + self.softness * self.impulse
            + apart
            + (self.turns[0].dot(a.angular) - self.turns[1].dot(b.angular))
    }

    #[inline]
    fn push(&self, bodies: &mut [Moved], impulse: f64, stir: f64) {
        for (k, sign) in [(0, 1.0), (1, -1.0)] {
            if self.inverse_masses[k] > 0.0 {
                let body = &mut bodies[self.bodies[k] as usize];
                body.linear += self.normal * (sign * impulse * self.inverse_masses[k]);
                body.angular += self.spins[k] * (sign * impulse);
                body.stir += stir;
            }
        }
    }

    /// Solves the contact, unless its bodies have been stirred by no more than `calm` since it was solved last; returns the size of its change.
    #[inline]
    fn visit(&mut self, bodies: &mut [Moved], calm: f64, visits: &mut u32) -> f64 {
        let sides = self.bodies.map(|k| &bodies[k as usize]);
        let stirred = sides[0].stir + sides[1].stir;
        if stirred - self.seen <= calm {
            return 0.0;
        }
        *visits += 1;
        let next = self.impulse - self.velocity(sides) * self.inverse;
        let parts = (-next).max(0.0) * self.response;
        let next = next.max(0.0);
        let change = next - self.impulse;
        self.seen = stirred + OPEN * parts;
        if change == 0.0 {
            return 0.0;
        }
        self.impulse = next;
        let size = change.abs() * self.response;
        self.push(bodies, change, size);
        // What it stirred itself it has seen.
        self.seen += size * self.inverse_masses.iter().filter(|m| **m > 0.0).count() as f64;
        size
    }
}

/// Memory of [`NormalSweeps::solve`].
#[derive(Debug, Clone, Default)]
pub struct NormalSweeps {
    given: Vec<NormalContact>,
    /// By body of the pool; only those in contact are up to date.
    bodies: Vec<Moved>,
    /// The movable ones of those.
    slots: Vec<u32>,
    rows: Vec<Row>,
    order: SweepOrder,
    tracks: Vec<Track<f64>>,
    /// By slot.
    body_tracks: Vec<BodyTrack>,
}

impl NormalSweeps {
    /// Changes the velocities of bodies as little as may be, in the metric of their masses, so that no contact approaches by more than its gap.
    pub fn solve(
        &mut self,
        pool: &mut [PoolBody],
        contacts: impl Iterator<Item = NormalContact>,
        goal: NormalGoal,
    ) -> NormalReport {
        self.load(pool, contacts, goal.softness);
        let scale = self.rows.iter().map(|row| -row.velocity(self.sides(row))).fold(0.0, f64::max);
        let iterations = self.run(goal);
        self.sum(pool);
        let mut residual = 0.0_f64;
        for row in &self.rows {
            let u = row.velocity(self.sides(row));
            residual =
                residual.max((row.impulse - (row.impulse - u * row.inverse).max(0.0)).abs() * row.response);
        }
        for &slot in &self.slots {
            let body = &self.bodies[slot as usize];
            pool[slot as usize].velocity = Motion::new(body.angular, body.linear);
        }
        NormalReport { iterations, residual, scale }
    }

    fn sides(&self, row: &Row) -> [&Moved; 2] {
        row.bodies.map(|k| &self.bodies[k as usize])
    }

    fn load(&mut self, pool: &[PoolBody], contacts: impl Iterator<Item = NormalContact>, softness: f64) {
        self.given.clear();
        self.given.extend(contacts);
        // The ground is the last.
        let n = pool.len();
        let place = |slot: u32| (slot as usize).min(n);
        self.bodies.resize(n + 1, Moved::default());
        self.slots.clear();
        for contact in &self.given {
            for slot in contact.bodies {
                let Motion { angular, linear } =
                    pool.get(slot as usize).map_or(Motion::ZERO, |body| body.velocity);
                // A negative reach marks those that are new.
                self.bodies[place(slot)] = Moved { angular, linear, stir: 0.0, reach: -1.0 };
            }
        }
        let moves = |slot: u32| pool.get(slot as usize).is_some_and(PoolBody::is_movable);
        self.order.sort(n, self.given.iter().map(|contact| contact.bodies), moves);
        self.rows.clear();
        self.rows.resize(self.given.len(), Row::default());
        for (contact, &at) in self.given.iter().zip(self.order.places()) {
            let mut row = Row {
                bodies: contact.bodies.map(|slot| place(slot) as u32),
                gap: contact.gap,
                normal: contact.normal,
                ..Row::default()
            };
            for (k, slot) in contact.bodies.into_iter().enumerate() {
                let Some(body) = pool.get(slot as usize) else { continue };
                let arm = contact.point - body.center;
                row.turns[k] = arm.cross(contact.normal);
                if body.is_movable() {
                    let moved = &mut self.bodies[slot as usize];
                    if moved.reach < 0.0 {
                        self.slots.push(slot);
                    }
                    moved.reach = moved.reach.max(arm.length());
                    row.spins[k] = body.inverse_inertia * row.turns[k];
                    row.inverse_masses[k] = body.inverse_mass;
                    row.response += body.inverse_mass + row.turns[k].dot(row.spins[k]);
                }
            }
            row.softness = softness * row.response;
            row.response += row.softness;
            row.inverse = if row.response > 0.0 { 1.0 / row.response } else { 0.0 };
            let parts = row.velocity(self.sides(&row));
            row.seen = if parts < 0.0 { f64::NEG_INFINITY } else { OPEN * parts };
            self.rows[at as usize] = row;
        }
    }

    /// Sums the velocities up from the impulses.
    fn sum(&mut self, pool: &[PoolBody]) {
        for &slot in &self.slots {
            let Motion { angular, linear } = pool[slot as usize].velocity;
            let body = &mut self.bodies[slot as usize];
            (body.angular, body.linear) = (angular, linear);
        }
        for row in &mut self.rows {
            // Contacts that were not solved again after they were extrapolated may pull a little.
            row.impulse = row.impulse.max(0.0);
            if row.impulse > 0.0 {
                row.push(&mut self.bodies, row.impulse, 0.0);
            }
        }
    }

    fn run(&mut self, goal: NormalGoal) -> u32 {
        self.tracks.clear();
        self.tracks.resize(self.rows.len(), Track::default());
        self.body_tracks.clear();
        self.body_tracks.resize(self.slots.len(), BodyTrack::default());
        let (mut pace, mut visits) = (Pace::START, 0);
        let most = goal.visits.max(8 * self.rows.len() as u32);
        let mut calm = CALM * goal.accuracy;
        let mut pairs = 0;
        loop {
            pairs += 1;
            self.mark();
            let change = self.pair(calm, &mut visits);
            // Contacts that were passed by have to be seen once more.
            let careful = calm <= CALM * goal.accuracy;
            if (change <= goal.accuracy && careful) || pairs >= goal.pairs || visits >= most {
                return pairs;
            }
            calm = (CALM * goal.accuracy).max(FOCUS * change);
            self.extrapolate(&mut pace);
        }
    }

    /// A sweep forward and one backward; returns the largest change of the second.
    fn pair(&mut self, calm: f64, visits: &mut u32) -> f64 {
        for row in &mut self.rows {
            row.visit(&mut self.bodies, calm, visits);
        }
        let mut change = 0.0_f64;
        for row in self.rows.iter_mut().rev() {
            change = change.max(row.visit(&mut self.bodies, calm, visits));
        }
        change
    }

    /// A pair of sweeps begins.
    fn mark(&mut self) {
        for (track, row) in self.tracks.iter_mut().zip(&self.rows) {
            track.mark(row.impulse);
        }
        for (track, &slot) in self.body_tracks.iter_mut().zip(&self.slots) {
            track.mark(&self.bodies[slot as usize]);
        }
    }

    fn extrapolate(&mut self, pace: &mut Pace) {
        let beta =
            pace.beta(self.tracks.iter().zip(&self.rows).map(|(track, row)| track.change(row.impulse)));
        for (track, row) in self.tracks.iter_mut().zip(&mut self.rows) {
            track.extrapolate_contact(&mut row.impulse, &mut row.seen, beta);
        }
        for (track, &slot) in self.body_tracks.iter_mut().zip(&self.slots) {
            track.extrapolate(&mut self.bodies[slot as usize], beta);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_of_the_ground_with_itself_change_nothing() {
        let contact =
            NormalContact { bodies: [u32::MAX; 2], point: DVec3::ZERO, normal: DVec3::Z, gap: -1.0 };
        let goal = NormalGoal { accuracy: 1e-6, pairs: 10, visits: 100, softness: 0.0 };
        for contacts in [vec![], vec![contact], vec![contact; 2]] {
            let found = NormalSweeps::default().solve(&mut [], contacts.iter().copied(), goal);
            // Nothing can be moved, so nothing is left to do.
            assert_eq!(found.residual, 0.0);
            assert_eq!(found.scale, if contacts.is_empty() { 0.0 } else { 1.0 });
        }
    }
}
