//! A look along the courses of two bodies within a step: when they are hit next. [`super::missed`] says what for.

use super::{
    candidate::Candidate,
    missed::{Course, DEEPER, Missed},
    travel::swing,
};
use sim_math::rotation::quat_log;
use sim_traits::{NarrowPhase, PairCache, Shape};
use sim_world::World;

/// Least step of a look, share of the radius of the smaller body.
const LEAST_STEP: f64 = 0.1;
/// Most looks at a pair along its courses, and to find the time of a hit.
const LOOKS: u32 = 64;
const HALVINGS: u32 = 24;

/// A look along the courses of a pair.
pub(super) struct Look<'a> {
    pub(super) world: &'a World,
    pub(super) missed: &'a Missed,
    pub(super) narrow: &'a dyn NarrowPhase,
    pub(super) h: f64,
    pub(super) radius: f64,
    /// Overlap that is a hit, m.
    pub(super) sink: f64,
    pub(super) spins: [f64; 2],
    pub(super) radii: [f64; 2],
}

impl Look<'_> {
    /// When the two of a pair are hit next, s.
    pub(super) fn next_hit(&self, pair: &mut Candidate, distances: &mut u64) -> Option<f64> {
        let (h, missed) = (self.h, self.missed);
        let (colliders, bodies) = pair.sides(self.world)?;
        let from = missed.since(pair.bodies[0]).max(missed.since(pair.bodies[1]));
        if from >= h {
            return None;
        }
        let pose = |k: usize, t: f64| missed.pose(self.world, pair.bodies[k], bodies[k], h, t);
        let ends = [0, 1].map(|k| Some([pose(k, from)?, pose(k, h)?]));
        let ([Some([a, a_end]), Some([b, b_end])], rest) = (ends, h - from) else { return None };
        // How fast surfaces come closer, at most.
        let way = (a_end.translation - a.translation) - (b_end.translation - b.translation);
        let (mut stray, mut sweeps) = (0.0, false);
        for k in [0, 1] {
            let (start, end) = if k == 0 { (a, a_end) } else { (b, b_end) };
            let turn = match missed.courses[pair.bodies[k] as usize] {
                Course::Even { way, .. } => way.angular.length(),
                Course::Piece if bodies[k].is_free() => bodies[k].state().velocity.angular.length() * rest,
                Course::Piece => quat_log(end.rotation * start.rotation.conjugate()).length(),
            };
            sweeps |= turn > 0.0 && self.spins[k] == f64::INFINITY;
            stray += swing(self.spins[k], turn);
            if matches!(missed.courses[pair.bodies[k] as usize], Course::Piece) && !bodies[k].is_fixed() {
                let pull = if bodies[k].is_free() {
                    missed.falls[pair.bodies[k] as usize].length()
                } else {
                    bodies[k].piece().unsteady_acceleration()
                };
                stray += pull * rest * rest;
            }
        }
        let closing = way.length() + stray;
        if closing <= DEEPER * self.radius {
            return None;
        }
        // Balls around them that stay apart.
        if self.radii[0] + self.radii[1] < f64::INFINITY {
            let apart = a.translation - b.translation;
            let share = (-apart.dot(way) / way.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let bulge = if stray > 0.0 { stray } else { 0.0 };
            if (apart + way * share).length() > self.radii[0] + self.radii[1] + bulge {
                return None;
            }
        }
        let [shape_a, shape_b] = colliders.map(sim_world::Collider::shape);
        let cache: &mut PairCache = &mut pair.rest.cache;
        let mut distance = |t: f64| {
            let place = |k: usize| Some(pose(k, t)? * colliders[k].extent().body_from_shape);
            let (a, b) = (place(0)?, place(1)?);
            *distances += 1;
            let found = self.narrow.separation(shape_a, shape_b, &a.inverse_mul(&b), cache);
            Some(found.map_or(f64::NEG_INFINITY, |found| found.distance))
        };
        let start = distance(from)?;
        if start == f64::NEG_INFINITY || start > closing {
            return None;
        }
        let limit = (-self.sink).min(start - DEEPER * self.radius);
        let is_plane = [shape_a, shape_b].iter().any(|s| matches!(s, Shape::HalfSpace(_)));
        let (mut t, mut d) = (from, start);
        for look in 1..=LOOKS {
            // Nothing is beyond a plane.
            let next = if is_plane || sweeps || look == LOOKS {
                h
            } else {
                (t + d.max(LEAST_STEP * self.radius) * rest / closing).min(h)
            };
            let found = distance(next)?;
            if found < limit {
                return Some(self.root(&mut distance, [t, next], start, limit));
            }
            (t, d) = (next, found);
            if t >= h || d - closing * (h - t) / rest > limit {
                break;
            }
        }
        None
    }

    /// The last time between one that is clear and one that is not.
    fn root(
        &self,
        distance: &mut dyn FnMut(f64) -> Option<f64>,
        [mut clear, mut hit]: [f64; 2],
        start: f64,
        limit: f64,
    ) -> f64 {
        let target = if start > 0.0 { 0.0 } else { limit };
        for _ in 0..HALVINGS {
            let middle = 0.5 * (clear + hit);
            match distance(middle) {
                Some(d) if d >= target => {
                    clear = middle;
                    if d - target < 0.2 * DEEPER * self.radius {
                        break;
                    }
                }
                _ => hit = middle,
            }
        }
        clear
    }
}
