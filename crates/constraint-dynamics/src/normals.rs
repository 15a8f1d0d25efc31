//! Contacts without friction by sweeps over bodies: overlaps of heaps.
//!
//! # Reference
//!
//! As [`gauss_seidel`](crate::gauss_seidel), with a cone that is a ray: projected Gauss-Seidel.
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
//! sweep:    forward, then backward, in the order of the later body;   then λ, v and ω extrapolated as in gauss_seidel
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
//! `normals_are_cones_without_friction`

use crate::pool::PoolBody;
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

/// A body in the sweeps.
#[derive(Debug, Clone, Copy, Default)]
struct Moved {
    angular: DVec3,
    linear: DVec3,
    /// Sum of the sizes of all changes, m/s.
    stir: f64,
    /// Largest arm of a contact, m.
    reach: f64,
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
    slots: Vec<u32>,
    rows: Vec<Row>,
    starts: Vec<u32>,
    before: Vec<f64>,
    direction: Vec<f64>,
    bodies_before: Vec<[DVec3; 2]>,
    bodies_direction: Vec<[DVec3; 2]>,
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
        let movable = |slot: u32| pool.get(slot as usize).filter(|body| body.is_movable());
        self.bodies.resize(n + 1, Moved::default());
        self.slots.clear();
        // Counting sort by the later body: what hangs together is swept together.
        let later = |contact: &NormalContact| {
            contact.bodies.into_iter().filter(|&k| movable(k).is_some()).max().unwrap_or(0) as usize
        };
        self.starts.clear();
        self.starts.resize(n + 1, 0);
        for contact in &self.given {
            self.starts[(later(contact) + 1).min(n)] += 1;
            for slot in contact.bodies {
                let Motion { angular, linear } =
                    pool.get(slot as usize).map_or(Motion::ZERO, |body| body.velocity);
                // A negative reach marks those that are new.
                self.bodies[place(slot)] = Moved { angular, linear, stir: 0.0, reach: -1.0 };
            }
        }
        for k in 1..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        self.rows.clear();
        self.rows.resize(self.given.len(), Row::default());
        for contact in &self.given {
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
            let place = &mut self.starts[later(contact)];
            self.rows[*place as usize] = row;
            *place += 1;
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
        self.direction.clear();
        self.direction.resize(self.rows.len(), 0.0);
        self.bodies_direction.clear();
        self.bodies_direction.resize(self.slots.len(), [DVec3::ZERO; 2]);
        let (mut last, mut visits) = (f64::INFINITY, 0);
        let most = goal.visits.max(8 * self.rows.len() as u32);
        let mut calm = CALM * goal.accuracy;
        let mut pairs = 0;
        loop {
            pairs += 1;
            self.before.clear();
            self.before.extend(self.rows.iter().map(|row| row.impulse));
            self.bodies_before.clear();
            let bodies = self.slots.iter().map(|&slot| &self.bodies[slot as usize]);
            self.bodies_before.extend(bodies.map(|body| [body.angular, body.linear]));
            let change = self.pair(calm, &mut visits);
            // Contacts that were passed by have to be seen once more.
            let careful = calm <= CALM * goal.accuracy;
            if (change <= goal.accuracy && careful) || pairs >= goal.pairs || visits >= most {
                return pairs;
            }
            calm = (CALM * goal.accuracy).max(FOCUS * change);
            self.extrapolate(&mut last);
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

    fn extrapolate(&mut self, last: &mut f64) {
        let size: f64 =
            self.rows.iter().zip(&self.before).map(|(row, b)| (row.impulse - b) * (row.impulse - b)).sum();
        let beta = if *last > 0.0 { size / *last } else { f64::INFINITY };
        *last = size;
        let beta = if beta <= 1.0 { beta } else { 0.0 };
        for ((row, b), d) in self.rows.iter_mut().zip(&self.before).zip(&mut self.direction) {
            let step = row.impulse - b;
            if row.impulse == 0.0 && *d != 0.0 {
                // Open, and yet moved on: to be solved again in any case.
                row.seen = f64::NEG_INFINITY;
            }
            row.impulse += beta * *d;
            *d = beta * *d + step;
        }
        let bodies = self.slots.iter().zip(&self.bodies_before).zip(&mut self.bodies_direction);
        for ((&slot, b), d) in bodies {
            let body = &mut self.bodies[slot as usize];
            let step = [body.angular - b[0], body.linear - b[1]];
            body.angular += beta * d[0];
            body.linear += beta * d[1];
            body.stir += beta * (d[0].length() * body.reach + d[1].length());
            *d = [beta * d[0] + step[0], beta * d[1] + step[1]];
        }
    }
}
