//! Several contacts of a pair that hit at one time, answered as one impact.
//!
//! # Reference
//!
//! Smith, Kaufman, Vouga, Tamstorf, Grinspun (2012), "Reflections on simultaneous impact": generalized reflections. Friction in the
//! first part of an impact, and the limit on energy that it needs, are ours.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | V | contacts that approach | - |
//! | p₀ | impulses that end all approach in V without restitution, inside the cones of friction | N·s |
//! | v⁻, v₀ | velocities before, and after p₀ | m/s |
//! | e | restitution | - |
//!
//! # Formula
//!
//! ```text
//! while a contact approaches:
//!   V ← all that do;  p₀ of V by sweeps;  p = p₀ + s e p₀ₙ n,   s = 1, or less: the work of p is at most zero
//! ```
//!
//! Without friction p gives v₀ + e (v₀ − v⁻), and s = 1. The impulses of p₀ may have many solutions, its velocity has one: a box that
//! lands flat bounces flat, whatever the order of its corners.
//!
//! # Cost
//!
//! One collision matrix for each contact, some 20 to 200 sweeps; no allocation up to eight contacts.
//!
//! # Numerics
//!
//! Sweeps go on until none changes a velocity by more than [`SETTLED`] of the approach. What is left after [`MAX_ROUNDS`] is
//! answered by the next look, as an impact of its own.
//!
//! # Failure
//!
//! A contact frame that cannot be had, naming the pair.
//!
//! # Tested by
//!
//! `tests/flat.rs`

use super::{
    look::Sides,
    respond::{Outcome, Site},
};
use rigid_impulse::{Body as RigidState, CollisionKind, ContactFrame, pair_matrix};
use sim_math::glam::{DMat3, DVec3};
use sim_world::{Collision, StepError};
use smallvec::SmallVec;

/// Most sweeps for the impulses without restitution.
const MAX_SWEEPS: u32 = 2000;
/// Most reflections of one impact.
const MAX_ROUNDS: u32 = 100;
/// Change of velocity in a sweep that counts as none, as a share of the fastest approach.
const SETTLED: f64 = 1e-14;
/// Approach that counts as none, in the same unit.
const NONE: f64 = 1e-12;

/// One contact of the impact.
struct Hit {
    site: Site,
    frame: ContactFrame,
    /// K and its inverse.
    mobility: DMat3,
    inverse: DMat3,
    /// Inverse of the larger tangential mobility, kg.
    slip: f64,
    /// Approach before the impact, m/s.
    approach: f64,
    /// Of the present reflection, contact axes, N·s.
    p: DVec3,
    /// Of all, world, N·s.
    sum: DVec3,
    active: bool,
}

impl Hit {
    fn new(sides: &Sides<'_>, states: &[RigidState; 2], site: Site) -> Result<Self, StepError> {
        let frame = ContactFrame::new(site.point, site.normal)
            .map_err(|source| StepError::Contact { pair: sides.name, source })?;
        let mobility = pair_matrix(&states[0], &states[1], &frame);
        let (x, y) = (mobility.x_axis, mobility.y_axis);
        let (mean, half) = (0.5 * (x.x + y.y), 0.5 * (x.x - y.y));
        let slip = 1.0 / (mean + (half * half + x.y * x.y).sqrt());
        let mut hit = Self {
            site,
            frame,
            mobility,
            inverse: mobility.inverse(),
            slip,
            approach: 0.0,
            p: DVec3::ZERO,
            sum: DVec3::ZERO,
            active: false,
        };
        hit.approach = -hit.velocity(states).z;
        Ok(hit)
    }

    /// Velocity of A relative to B, contact axes.
    fn velocity(&self, states: &[RigidState; 2]) -> DVec3 {
        let [a, b] = states;
        self.frame.to_contact(a.velocity_at(self.site.point) - b.velocity_at(self.site.point))
    }

    /// Gives an impulse, contact axes.
    fn push(&mut self, states: &mut [RigidState; 2], impulse: DVec3) {
        let impulse = self.frame.to_world(impulse);
        self.sum += impulse;
        states[0].apply_impulse(self.site.point, impulse);
        states[1].apply_impulse(self.site.point, -impulse);
    }

    /// Impulse without restitution after a visit at relative velocity `u`, both in contact axes.
    fn solve(&self, u: DVec3, friction: f64) -> DVec3 {
        let stick = self.p - self.inverse * u;
        if friction > 0.0 && stick.z >= 0.0 && stick.truncate().length() <= friction * stick.z {
            return stick;
        }
        let normal = (self.p.z - u.z / self.mobility.z_axis.z).max(0.0);
        let mut tangent = self.p.truncate() - u.truncate() * self.slip;
        let (size, most) = (tangent.length(), friction * normal);
        if size > most {
            tangent *= most / size;
        }
        tangent.extend(normal)
    }
}

/// Ends the approach of the active contacts without restitution.
fn compress(hits: &mut [Hit], states: &mut [RigidState; 2], friction: f64, scale: f64) {
    for sweep in 0..MAX_SWEEPS {
        let mut worst = 0.0_f64;
        let count = hits.len();
        for k in 0..count {
            let hit = &mut hits[if sweep % 2 == 0 { k } else { count - 1 - k }];
            if !hit.active {
                continue;
            }
            let change = hit.solve(hit.velocity(states), friction) - hit.p;
            if change != DVec3::ZERO {
                hit.p += change;
                hit.push(states, change);
                worst = worst.max((hit.mobility * change).length());
            }
        }
        if worst <= SETTLED * scale {
            break;
        }
    }
}

/// Answers all contacts in `sites` as one impact. `friction` and `restitution` are those of the pair.
pub(super) fn strike(
    sides: &Sides<'_>,
    before: &[RigidState; 2],
    sites: &[Site],
    friction: f64,
    restitution: f64,
) -> Result<Outcome, StepError> {
    let mut states = *before;
    let mut hits: SmallVec<[Hit; 8]> = SmallVec::new();
    for site in sites {
        hits.push(Hit::new(sides, before, *site)?);
    }
    let scale = hits.iter().map(|h| h.approach).fold(0.0, f64::max);
    for _ in 0..MAX_ROUNDS {
        let start = states;
        let mut any = false;
        for hit in &mut hits {
            hit.p = DVec3::ZERO;
            hit.active = -hit.velocity(&states).z > NONE * scale;
            any |= hit.active;
        }
        if !any {
            break;
        }
        compress(&mut hits, &mut states, friction, scale);
        if restitution <= 0.0 {
            continue;
        }
        let middle = states;
        for hit in &mut hits {
            hit.push(&mut states, DVec3::Z * (restitution * hit.p.z));
        }
        // Without friction none can be made.
        if friction > 0.0 {
            let kept = kept(&hits, [&start, &middle, &states], restitution);
            if kept < 1.0 {
                states = middle;
                for hit in &mut hits {
                    let whole = DVec3::Z * (restitution * hit.p.z);
                    hit.sum -= hit.frame.to_world(whole);
                    hit.push(&mut states, whole * kept);
                }
            }
        }
    }
    let mut outcome = Outcome { states, collisions: SmallVec::new() };
    let [a, b] = sides.name.colliders;
    outcome.collisions.extend(hits.iter().filter(|h| h.sum != DVec3::ZERO).map(|hit| Collision {
        a,
        b,
        point: hit.site.point,
        normal: hit.site.normal,
        impulse: hit.sum,
        approach: hit.approach,
        separation: hit.site.separation,
        kind: CollisionKind::Ordinary,
    }));
    Ok(outcome)
}

/// Largest share of the restitution with which an impact makes no energy. States before it, after p₀ and after p.
fn kept(hits: &[Hit], [start, middle, end]: [&[RigidState; 2]; 3], restitution: f64) -> f64 {
    // Work w0 + w1 s + w2 s².
    let (mut w0, mut w1, mut w2) = (0.0, 0.0, 0.0);
    for hit in hits {
        let [u, v, w] = [start, middle, end].map(|states| hit.velocity(states));
        let more = restitution * hit.p.z;
        w0 += 0.5 * hit.p.dot(u + v);
        w1 += more * v.z;
        w2 += 0.5 * more * (w.z - v.z);
    }
    let w0 = f64::min(w0, 0.0);
    if w0 + w1 + w2 <= 0.0 {
        return 1.0;
    }
    let root = (w1 * w1 - 4.0 * w2 * w0).max(0.0).sqrt();
    let share = if w1 >= 0.0 { -2.0 * w0 / (w1 + root) } else { (root - w1) / (2.0 * w2) };
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}
