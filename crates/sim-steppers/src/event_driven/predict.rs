//! Lower bounds of impact times, renewed without a new distance.
//!
//! # Reference
//!
//! Mirtich (1996), sections 2.3.2 and 2.3.3. That a bound can be carried over a change of motion is ours.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `distance` | the shapes were at least this far apart along the normal at `since` | m |
//! | `travel` | A τ² + B τ: both together cannot have come closer than that | m |
//!
//! # Formula
//!
//! ```text
//! no contact before the root of A τ² + B τ = d − ε/2   (d > ε),   = d/2  (inside the envelope ε)
//! when all points part (B < 0) deep in the envelope, d < ε/8: back at d,  τ = −B/A
//!                       in collision phases anywhere in the envelope: back at d, or below ε/4 half a hop above it
//! after a change of motion at t:  d ← d − (A τ² + B τ), τ = t − since;  A, B from the new motion
//! ```
//!
//! Where the states of both bodies are at hand, the close bound of `close` serves if it lasts longer.
//!
//! The planes through the closest points of two convex shapes separate them; travel is that of the planes, so the same
//! normal serves after either body got another motion, and no distance is computed until the bound is used up.
//!
//! # Cost
//!
//! Two velocities of centres and one square root.
//!
//! # Numerics
//!
//! Time advances by a few ulps at least. Inside the envelope the gap is at least half the root tolerance: a pair in contact
//! that parts would otherwise be looked at 1e6 times before rounding lets it go.
//!
//! # Failure
//!
//! None: no meeting in sight is +∞.
//!
//! # Tested by
//!
//! the scenes in `tests/`, which check every separation by brute force

use super::{
    close,
    locate::after,
    look::Sides,
    pairs::ActivePair,
    params::{ContactHandling, DEEP, EventDrivenParams},
    touch::LOW,
};
use rigid_impulse::{
    Body as RigidState,
    bounds::{Travel, time_to_impact},
};
use sim_math::glam::DVec3;
use std::cmp::Ordering;

/// Horizons tried for each close bound, each an eighth of the one before.
const MAX_HORIZONS: u32 = 8;
/// Longest of them, s.
const MAX_HORIZON: f64 = 10.0;

/// Bound on the travel of both sides towards each other from `time` (s) on. `normal` points from B to A.
fn travel(sides: &Sides<'_>, time: f64, normal: DVec3, distance: f64) -> Travel {
    let of = |k: usize, direction: DVec3| {
        let piece = sides.bodies[k].piece();
        let radius = sides.colliders[k].extent().spin_radius;
        piece.travel(piece.center_velocity(time), direction, distance, radius)
    };
    let (a, b) = (of(0, -normal), of(1, normal));
    Travel { quadratic: a.quadratic + b.quadratic, linear: a.linear + b.linear }
}

/// Time until the gap that may be used up is, s.
fn time_left(params: &EventDrivenParams, distance: f64, travel: Travel) -> f64 {
    let Travel { quadratic, linear } = travel;
    let envelope = params.envelope();
    if params.contact_handling == ContactHandling::Improved && distance <= envelope && linear < 0.0 {
        if quadratic <= 0.0 {
            return f64::INFINITY;
        }
        // Back at this distance; a low one gains half the height of its hop.
        let apex = linear * linear / (4.0 * quadratic);
        let climb = (LOW * envelope - distance).clamp(0.0, 0.5 * apex);
        return ((linear * linear - 4.0 * quadratic * climb).sqrt() - linear) / (2.0 * quadratic);
    }
    if distance < DEEP * params.envelope() && linear < 0.0 {
        // Back at this distance, not before: half of it, hop after hop, would end in rounding.
        return if quadratic > 0.0 { -linear / quadratic } else { f64::INFINITY };
    }
    time_to_impact(distance.max(params.root_tolerance), params.envelope(), travel, Travel::NONE)
}

impl ActivePair {
    /// Sets the bound from a distance known at `time` (s); returns when to look again. With the states at that time the
    /// bound is closer.
    pub(super) fn predict(
        &mut self,
        sides: &Sides<'_>,
        params: &EventDrivenParams,
        time: f64,
        distance: f64,
        normal: DVec3,
        states: Option<&[RigidState; 2]>,
    ) -> f64 {
        self.since = time;
        self.distance = distance;
        self.normal = normal;
        self.travel = travel(sides, time, normal, distance.max(params.envelope()));
        self.aimed = false;
        let mut left = time_left(params, distance, self.travel);
        if let Some(states) = states {
            let gap = distance.max(params.root_tolerance);
            let shortest = 2.0 * left;
            for reference in 0..2 {
                let longest = close::longest_horizon(sides, states, reference, gap);
                let mut horizon = longest.min(MAX_HORIZON);
                for _ in 0..MAX_HORIZONS {
                    // Also false for NaN and for nothing to gain.
                    if horizon.partial_cmp(&shortest.max(left)) != Some(Ordering::Greater) {
                        break;
                    }
                    let Some(close) = close::travel(sides, states, normal, reference, horizon) else { break };
                    let later = time_left(params, distance, close).min(horizon);
                    if later > left {
                        (left, self.travel) = (later, close);
                    }
                    horizon *= 0.125;
                }
            }
        }
        (time + left).max(after(time))
    }

    /// The date, or earlier: when a pair in contact that parts is about to be apart, so that the end of the contact is
    /// noticed.
    pub(super) fn before_parting(
        &self,
        params: &EventDrivenParams,
        time: f64,
        distance: f64,
        closing: f64,
        date: f64,
    ) -> f64 {
        if !self.touching || closing >= 0.0 {
            return date;
        }
        let gap = (2.05 * params.envelope() - distance).max(0.05 * params.envelope());
        date.min(time + gap / -closing)
    }

    /// Lower bound of the distance at a time (s), m.
    pub(super) fn distance_left(&self, time: f64) -> f64 {
        self.distance - self.travel.at(time - self.since)
    }

    /// Renews the bound after one of the two got another motion at `time` (s); returns when to look again: at once if nothing
    /// is left of it.
    pub(super) fn carry_over(&mut self, sides: &Sides<'_>, params: &EventDrivenParams, time: f64) -> f64 {
        let left = self.distance_left(time);
        let date = self.predict(sides, params, time, left, self.normal, None);
        if left > params.root_tolerance { date } else { time }
    }
}
