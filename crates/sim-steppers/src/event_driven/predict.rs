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
//!   in collision phases anywhere in the envelope: back at d, or below ε/4 half a hop above it; above ε/8 not before what
//!   presses the two together brings them back, unless half the distance can be used up earlier
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
//! `a_pair_that_parts_is_left_until_it_can_be_back_or_has_used_up_half_its_distance`,
//! `deep_in_the_envelope_distance_is_not_used_up`; the scenes in `tests/`, which check every separation by brute force

use super::{
    close::{Close, Swerve},
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

/// Time until the gap that may be used up is, s. `press` is the acceleration that presses the two together, m/s².
fn time_left(params: &EventDrivenParams, distance: f64, travel: Travel, press: f64) -> f64 {
    let safe = time_to_impact(distance.max(params.root_tolerance), params.envelope(), travel, Travel::NONE);
    let together = params.contact_handling == ContactHandling::Improved;
    let inside = distance <= if together { params.envelope() } else { DEEP * params.envelope() };
    if !(inside && travel.linear < 0.0) {
        return safe;
    }
    // Back at this distance, not before: half of it, hop after hop, would end in rounding.
    let back = |quadratic: f64| {
        if quadratic <= 0.0 {
            return f64::INFINITY;
        }
        let square = travel.linear * travel.linear;
        // In a collision phase a low one gains half the height of its hop.
        let climb = if together { LOW * params.envelope() - distance } else { 0.0 };
        let climb = climb.clamp(0.0, square / (8.0 * quadratic));
        ((square - 4.0 * quadratic * climb).sqrt() - travel.linear) / (2.0 * quadratic)
    };
    let bound = back(travel.quadratic);
    if distance < DEEP * params.envelope() {
        return bound;
    }
    // Where bodies spin most of the bound is doubt: what presses them brings them back later, and half the distance is safe.
    bound.max(safe.min(back(0.5 * press)))
}

impl ActivePair {
    /// Sets the bound from a distance known at `time` (s); returns when to look again. With the states at that time, and the
    /// speed of approach of the closest points (m/s), the bound is closer.
    pub(super) fn predict(
        &mut self,
        sides: &Sides<'_>,
        params: &EventDrivenParams,
        time: f64,
        distance: f64,
        normal: DVec3,
        states: Option<(&[RigidState; 2], f64)>,
    ) -> f64 {
        self.since = time;
        self.distance = distance;
        self.normal = normal;
        self.travel = travel(sides, time, normal, distance.max(params.envelope()));
        self.aimed = false;
        let [a, b] = sides.bodies.map(|body| body.piece().uniform_acceleration());
        let press = (b - a).dot(normal);
        let mut left = time_left(params, distance, self.travel, press);
        if let Some((states, closing)) = states {
            let gap = distance.max(params.root_tolerance);
            let shortest = 2.0 * left;
            let parting = if params.together() { (-closing).max(0.0) } else { 0.0 };
            for reference in 0..2 {
                let swerve = Swerve::of(sides, states, reference);
                let mut horizon = swerve.longest_horizon(gap, parting).min(MAX_HORIZON);
                // Also false for NaN and for nothing to gain.
                let gains = |horizon: f64, left: f64| {
                    horizon.partial_cmp(&shortest.max(left)) == Some(Ordering::Greater)
                };
                if !gains(horizon, left) {
                    continue;
                }
                let Some(bounds) = Close::new(sides, states, normal, reference, swerve) else { continue };
                for _ in 0..MAX_HORIZONS {
                    if !gains(horizon, left) {
                        break;
                    }
                    let Some(close) = bounds.travel(horizon) else { break };
                    let later = time_left(params, distance, close, press).min(horizon);
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
    /// noticed. Not for a hop, from which what presses the two together brings them back before.
    pub(super) fn before_parting(
        &self,
        sides: &Sides<'_>,
        params: &EventDrivenParams,
        time: f64,
        closing: f64,
        date: f64,
    ) -> f64 {
        if !self.touching || closing >= 0.0 {
            return date;
        }
        let gap = (2.05 * params.envelope() - self.distance).max(0.05 * params.envelope());
        let [a, b] = sides.bodies.map(|body| body.piece().uniform_acceleration());
        let press = (b - a).dot(self.normal);
        let hops = params.together() && closing * closing < 2.0 * press * gap;
        if hops { date } else { date.min(time + gap / -closing) }
    }

    /// Lower bound of the distance at a time (s), m.
    pub(super) fn distance_left(&self, time: f64) -> f64 {
        self.distance - self.travel.at(time - self.since)
    }

    /// Renews the bound after one of the two got another motion at `time` (s); returns when to look again: at once if nothing
    /// is left of it.
    pub(super) fn carry_over(&mut self, sides: &Sides<'_>, params: &EventDrivenParams, time: f64) -> f64 {
        let left = self.distance_left(time);
        self.parted = None;
        let date = self.predict(sides, params, time, left, self.normal, None);
        if left > params.root_tolerance { date } else { time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::assert_close;

    fn improved() -> EventDrivenParams {
        EventDrivenParams { contact_handling: ContactHandling::Improved, ..EventDrivenParams::default() }
    }

    /// Two bodies that part at 0.1 mm/s in the middle of the envelope; rotation leaves ±50 m/s² open.
    const DOUBT: Travel = Travel { quadratic: 25.0, linear: -1e-4 };

    #[test]
    fn a_pair_that_parts_is_left_until_it_can_be_back_or_has_used_up_half_its_distance() {
        let params = improved();
        let half = time_left(&params, 5e-4, DOUBT, 0.0);
        assert_close!(DOUBT.at(half), 2.5e-4, rel = 1e-9);
        // Pressed, it is back at its distance after 2 v/a.
        assert_close!(time_left(&params, 5e-4, DOUBT, 9.81), 2e-4 / 9.81, rel = 1e-9);
        // Never before the bound itself is back.
        assert_close!(time_left(&params, 5e-4, DOUBT, 1e3), 2e-4 / 50.0, rel = 1e-9);
    }

    #[test]
    fn deep_in_the_envelope_distance_is_not_used_up() {
        for handling in [ContactHandling::Standard, ContactHandling::Improved] {
            let params = EventDrivenParams { contact_handling: handling, ..EventDrivenParams::default() };
            let left = time_left(&params, 1e-5, DOUBT, 0.0);
            assert!(DOUBT.at(left) <= 1e-18, "{handling:?}: {}", DOUBT.at(left));
        }
    }
}
