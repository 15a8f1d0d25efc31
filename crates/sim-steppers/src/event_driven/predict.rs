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
//! when all points part (B < 0) deep in the envelope, d < ε/8, in collision phases anywhere in it: back at d, τ = −B/A, or when
//!   what presses the two together brings them back, if half the distance lasts until then
//!   (in collision phases below ε/4 half a hop above d)
//! after a change of motion at t:  d ← d − (A τ² + B τ), τ = t − since;  A, B from the new motion
//! at the root and approaching fast again, because others hit the two at the same time: now
//! ```
//!
//! Simultaneous impacts are answered one after the other at one time. Were each left until half the root tolerance is used up, a
//! light body between two heavy ones would sink into both: hundreds of impacts are needed to turn them round.
//!
//! Where the states of both bodies are at hand, the close bounds of `close` serve if they last longer: planes that turn with one
//! of the two, and between two edges one that stays along both.
//!
//! The planes through the closest points of two convex shapes separate them; travel is that of the planes, so the same
//! normal serves after either body got another motion, and no distance is computed until the bound is used up.
//! A mesh, a height field or a compound has no such plane: its next facet may lie anywhere at the same distance. There travel is
//! that of any two points in any direction ([`Sides::any_travel`]), and where that does not last each near part has a plane of its own (see `near`).
//!
//! # Cost
//!
//! Two velocities of centres and one square root.
//!
//! # Numerics
//!
//! Time advances by a few ulps at least. Inside the envelope the gap is at least half the root tolerance: a pair in contact
//! that parts would otherwise be looked at 1e6 times before rounding lets it go. An approach below [`DUST`] of the speeds of the
//! two is what an impact without restitution leaves of them: it is not answered again at the same time.
//!
//! # Failure
//!
//! None: no meeting in sight is +∞.
//!
//! # Tested by
//!
//! `a_pair_that_parts_is_left_until_it_can_be_back_or_has_used_up_half_its_distance`,
//! `what_presses_two_together_brings_them_back_at_their_distance`, `tests/simultaneous.rs`, `tests/concave.rs`; the scenes in `tests/`, which check
//! every separation by brute force

use super::{
    close::{Close, Plane, Swerve, between_edges},
    hull::Couple,
    locate::after,
    look::Sides,
    near::{Gap, Question},
    pairs::ActivePair,
    params::{ContactHandling, DEEP, Scaled},
    respond::Site,
    touch::LOW,
};
use rigid_impulse::{
    BodyState,
    bounds::{Travel, time_to_impact},
};
use sim_math::glam::DVec3;
use sim_world::Body;
use std::cmp::Ordering;

/// Horizons tried for each close bound, each an eighth of the one before.
const MAX_HORIZONS: u32 = 8;
/// Longest of them, s.
const MAX_HORIZON: f64 = 10.0;
/// Share of a window below which a bound by the motion of any two points is too short: parts are looked at one by one.
const SOON: f64 = 0.125;
/// Approach that counts as none, as a share of the speeds of the two.
const DUST: f64 = 1e-9;

/// Bound on the travel of two convex parts towards each other from `time` (s) on. `normal` points from B to A.
fn travel(couple: &Couple<'_>, time: f64, normal: DVec3, distance: f64) -> Travel {
    let of = |k: usize, direction: DVec3| {
        let piece = couple.bodies[k].piece();
        let (hull, spin) = (&couple.hulls[k], piece.max_spin());
        let slower = hull.turning.spin < spin;
        // A part that turns more slowly than its body is like one of smaller radius.
        let radius = if slower { hull.turning.spin / spin * hull.spin_radius } else { hull.spin_radius };
        piece.travel(piece.center_velocity(time), direction, distance, radius)
    };
    let (a, b) = (of(0, -normal), of(1, normal));
    Travel { quadratic: a.quadratic + b.quadratic, linear: a.linear + b.linear }
}

/// Acceleration that presses two bodies together along a normal from B to A, m/s².
fn press(bodies: [&Body; 2], normal: DVec3) -> f64 {
    let [a, b] = bodies.map(|body| body.piece().uniform_acceleration());
    (b - a).dot(normal)
}

/// Time for which a gap of two convex parts lasts from `time` (s) on, and the bound that says so. `time_of` says how long what a bound leaves of
/// a distance lasts. With the states at that time the bound is closer.
pub(super) fn convex_bound(
    gap: &Gap<'_>,
    params: &Scaled,
    time: f64,
    states: Option<&[BodyState; 2]>,
    time_of: &dyn Fn(Travel) -> f64,
) -> (f64, Travel) {
    let Gap { couple, distance, normal, closing } = gap;
    let mut best = travel(couple, time, *normal, distance.max(params.envelope()));
    let mut left = time_of(best);
    let Some(states) = states else { return (left, best) };
    let size = distance.max(params.root_tolerance);
    let shortest = 2.0 * left;
    let parting = if params.together() { (-closing).max(0.0) } else { 0.0 };
    // Bounds by a plane are asked for horizons, the longest first.
    let mut ask = |swerve: &Swerve, best: &mut Travel, bound: &mut dyn FnMut(f64) -> Option<Travel>| {
        let mut horizon = swerve.longest_horizon(size, parting).min(MAX_HORIZON);
        for _ in 0..MAX_HORIZONS {
            // Also false for NaN and for nothing to gain.
            if horizon.partial_cmp(&shortest.max(left)) != Some(Ordering::Greater) {
                break;
            }
            let Some(close) = bound(horizon) else { break };
            let later = time_of(close).min(horizon);
            if later > left {
                (left, *best) = (later, close);
            }
            horizon *= 0.125;
        }
    };
    // Reversals at single contacts come out even only if bodies are looked at many times while they rock.
    let about = params.together().then_some(*normal);
    let swerves = [0, 1].map(|k| Swerve::of(couple, states, Plane::With(k), about));
    for (k, swerve) in swerves.iter().enumerate() {
        let mut close = None;
        ask(swerve, &mut best, &mut |horizon| {
            if close.is_none() {
                close = Close::new(couple, states, *normal, Plane::With(k), *swerve);
            }
            close.as_ref()?.travel(horizon)
        });
    }
    // Far from how the closest points move: two edges, along which no plane of one body stays.
    if *distance <= params.envelope() && best.linear > 2.0 * closing.abs() {
        ask(&swerves[0], &mut best, &mut |horizon| {
            let plane = between_edges(couple, states, *normal, horizon)?;
            Close::new(couple, states, *normal, plane, Swerve::of(couple, states, plane, about))?
                .travel(horizon)
        });
    }
    (left, best)
}

/// Time until the gap that may be used up is, s. `press` is the acceleration that presses the two together, m/s².
fn time_left(params: &Scaled, distance: f64, travel: Travel, press: f64) -> f64 {
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
    // Where bodies spin most of the bound is doubt: what presses them brings them back later, and half the distance is safe.
    bound.max(safe.min(back(0.5 * press)))
}

impl ActivePair {
    /// Sets the bound from a distance known at `time` (s); returns when to look again. With the states at that time, and the
    /// speed of approach of the closest points (m/s), the bound is closer.
    pub(super) fn predict(
        &mut self,
        sides: &Sides<'_>,
        params: &Scaled,
        time: f64,
        distance: f64,
        normal: DVec3,
        states: Option<(&[BodyState; 2], f64)>,
    ) -> f64 {
        self.since = time;
        self.distance = distance;
        self.normal = normal;
        self.aimed = false;
        let left;
        if sides.convex() {
            let closing = states.map_or(0.0, |(_, closing)| closing);
            let gap = Gap { couple: sides.whole(), distance, normal, closing };
            let press = press(sides.bodies, normal);
            let time_of = |travel| time_left(params, distance, travel, press);
            (left, self.travel) = convex_bound(&gap, params, time, states.map(|s| s.0), &time_of);
        } else {
            left = self.predict_by_parts(sides, params, time, states.map(|s| s.0));
        }
        (time + left).max(after(time))
    }

    /// The same where the next part to be hit may lie in any direction: sets the bound for the distance that there is; returns the time that is left, s.
    fn predict_by_parts(
        &mut self,
        sides: &Sides<'_>,
        params: &Scaled,
        time: f64,
        states: Option<&[BodyState; 2]>,
    ) -> f64 {
        let any = sides.any_travel(time, self.distance.max(params.envelope()));
        let far = |distance| time_left(params, distance, any, 0.0);
        let left = far(self.distance);
        self.travel = any;
        let Some(states) = states.filter(|_| left < SOON * params.window) else { return left };
        let Self { distance, normal, .. } = *self;
        let (margin, enough) = (params.envelope(), params.window);
        let question = Question { sides, states, distance, normal, margin, enough };
        let of_parts = |gap: &Gap<'_>| {
            let press = press(sides.bodies, gap.normal);
            let time_of = |travel| time_left(params, gap.distance, travel, press);
            convex_bound(gap, params, time, Some(states), &time_of)
        };
        match question.answer(any, &of_parts, &far) {
            Some((later, distance, travel)) if later > left => {
                (self.distance, self.travel) = (distance.min(self.distance), travel);
                later
            }
            _ => left,
        }
    }

    /// When to look again at a pair whose closest points were seen at `time` (s), with the states that it has now: at once if it is
    /// at its root and approaches fast.
    pub(super) fn next_look(
        &mut self,
        sides: &Sides<'_>,
        params: &Scaled,
        time: f64,
        seen: &Site,
        states: &[BodyState; 2],
    ) -> f64 {
        let [a, b] = [0, 1].map(|k| states[k].velocity_at(seen.point));
        let closing = (b - a).dot(seen.normal);
        let date = self.predict(sides, params, time, seen.separation, seen.normal, Some((states, closing)));
        let fast = closing >= params.slow(sides) && closing > DUST * (a.length() + b.length());
        if fast && seen.separation <= params.root_tolerance {
            return time;
        }
        self.before_parting(sides, params, time, closing, date)
    }

    /// The date, or earlier: when a pair in contact that parts is about to be apart, so that the end of the contact is
    /// noticed. Not for a hop, from which what presses the two together brings them back before.
    fn before_parting(&self, sides: &Sides<'_>, params: &Scaled, time: f64, closing: f64, date: f64) -> f64 {
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
    pub(super) fn carry_over(&mut self, sides: &Sides<'_>, params: &Scaled, time: f64) -> f64 {
        let left = self.distance_left(time);
        self.parted = None;
        let date = self.predict(sides, params, time, left, self.normal, None);
        if left > params.root_tolerance { date } else { time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{event_driven::params::EventDrivenParams, scale::Scale};
    use sim_math::assert_close;

    fn handling(contact_handling: ContactHandling) -> Scaled {
        EventDrivenParams { contact_handling, ..EventDrivenParams::default() }.in_metres(&Scale::default())
    }

    /// Two bodies that part at 0.1 mm/s in the middle of the envelope; rotation leaves ±50 m/s² open.
    const DOUBT: Travel = Travel { quadratic: 25.0, linear: -1e-4 };

    #[test]
    fn a_pair_that_parts_is_left_until_it_can_be_back_or_has_used_up_half_its_distance() {
        let params = handling(ContactHandling::Improved);
        let half = time_left(&params, 5e-4, DOUBT, 0.0);
        assert_close!(DOUBT.at(half), 2.5e-4, rel = 1e-9);
        // Pressed, it is back at its distance after 2 v/a.
        assert_close!(time_left(&params, 5e-4, DOUBT, 9.81), 2e-4 / 9.81, rel = 1e-9);
        // Never before the bound itself is back.
        assert_close!(time_left(&params, 5e-4, DOUBT, 1e3), 2e-4 / 50.0, rel = 1e-9);
    }

    #[test]
    fn what_presses_two_together_brings_them_back_at_their_distance() {
        // A hop under gravity, deep in the envelope and nothing in doubt: half the distance, hop after hop, would end in rounding.
        let hop = Travel { quadratic: 0.5 * 9.81, linear: -0.01 };
        for kind in [ContactHandling::Standard, ContactHandling::Improved] {
            let params = handling(kind);
            for distance in [1e-12, 1e-8, 1e-5] {
                let left = time_left(&params, distance, hop, 9.81);
                assert!(hop.at(left) <= 1e-18, "{kind:?} at {distance}: {}", hop.at(left));
            }
            // In doubt half of it may go, but only if they can be pressed back no earlier.
            let left = time_left(&params, 1e-5, DOUBT, 9.81);
            assert!(DOUBT.at(left) <= 0.5e-5 * (1.0 + 1e-9), "{kind:?}: {}", DOUBT.at(left));
            assert!(left > 4.0 * -DOUBT.linear / DOUBT.quadratic, "{kind:?}: {left}");
        }
    }
}
