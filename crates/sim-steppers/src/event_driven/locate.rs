//! The root of the distance of a fast impact, from the outside.
//!
//! # Reference
//!
//! Conservative advancement brings the pair into the envelope (Mirtich 1996, section 2.3); from there a safeguarded secant
//! method on the signed distance along the closed-form pieces.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `low` | latest time known to be before contact, distance > target | s |
//! | `high` | earliest time known to be after it | s |
//! | target | half the tolerance: the answer lies on the outer side | m |
//!
//! # Formula
//!
//! ```text
//! first guess: d − c τ + ½ a_n τ² = target,  c closing speed, a_n relative acceleration along the normal
//! leap only if the closing speed keeps its sign on the way: τ |dc/dt| < c, so that the first root is the only one
//! then secant steps inside [low, high], with the value of an end halved when it stays (Illinois)
//! ```
//!
//! Where a shape is not convex no leap is longer than the bounds of its parts allow (see `near`), so that no facet is skipped.
//!
//! # Cost
//!
//! One distance for balls; four to six for tumbling bodies.
//!
//! # Numerics
//!
//! The tolerance is raised to a few ulps of time at the closing speed: nothing finer can be represented.
//!
//! # Failure
//!
//! No root (the bodies part or slow down before they touch), or not known to be the first one: the result says up to when
//! there is no contact.
//!
//! # Tested by
//!
//! `tests/bouncing.rs`, `tests/fast.rs`, `tests/concave.rs`

use super::{
    close::closing_rate,
    look::{Look, Sides, look},
    near::{Gap, Question},
    params::Scaled,
    predict::convex_bound,
};
use rigid_impulse::bounds::{Travel, time_to_impact};
use sim_traits::{NarrowPhase, PairCache};
use sim_world::{Body, StepError};

/// Most distances per root.
const MAX_ITERATIONS: u32 = 80;

/// What the search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Found {
    /// Contact at this time, s.
    Impact(f64),
    /// No contact up to this time, s, and no longer a fast approach then.
    Nothing(f64),
}

/// A time a few ulps later, s.
#[inline]
pub(super) fn after(time: f64) -> f64 {
    time + 4.0 * f64::EPSILON * time.abs().max(f64::MIN_POSITIVE)
}

/// Finest distance that can be told apart at a time (s) and closing speed (m/s), m.
#[inline]
pub(super) fn resolution(params: &Scaled, time: f64, closing: f64) -> f64 {
    params.root_tolerance.max(4.0 * f64::EPSILON * time.abs() * closing.abs())
}

/// Looks for the contact of a pair that approaches inside the envelope. Also returns the number of distances computed.
pub(super) fn locate(
    sides: &Sides<'_>,
    narrow: &dyn NarrowPhase,
    params: &Scaled,
    cache: &mut PairCache,
    time: f64,
    start: &Look,
    slow: f64,
) -> Result<(Found, u64), StepError> {
    let pieces = sides.bodies.map(Body::piece);
    let pull = (pieces[0].uniform_acceleration() - pieces[1].uniform_acceleration()).dot(start.normal);
    let (mut low, mut f_low, mut closing) = (time, start.distance, start.closing);
    let (mut states, mut normal) = (start.states, start.normal);
    let mut high: Option<f64> = None;
    // Weights of the ends for the secant: distance beyond the target, halved while an end stays.
    let (mut w_low, mut w_high) = (start.distance, 0.0);
    let mut low_moved = true;
    for count in 0..MAX_ITERATIONS {
        let tolerance = resolution(params, low, closing);
        let target = 0.5 * tolerance;
        if f_low <= tolerance {
            return Ok((Found::Impact(low), u64::from(count)));
        }
        let guess = match high {
            None => low + first_time(f_low - target, closing, pull),
            Some(high) => {
                let share = w_low / (w_low - w_high);
                // NaN where the narrow phase gave no depth: bisect.
                let share = if share > 0.0 && share < 1.0 { share } else { 0.5 };
                low + share * (high - low)
            }
        };
        // Another part of a shape that is not convex may come first: no farther than the two can have come.
        let (guess, free) = if sides.convex() {
            (guess, false)
        } else {
            let any = sides.any_travel(low, f_low);
            let time_of =
                |distance: f64, travel| time_to_impact(distance - target, 0.0, travel, Travel::NONE);
            let mut safe = time_of(f_low, any);
            if low + safe < guess {
                let question = Question {
                    sides,
                    states: &states,
                    distance: f_low,
                    normal,
                    margin: f_low,
                    enough: guess - low,
                };
                let of_parts = |gap: &Gap<'_>| {
                    convex_bound(gap, params, low, Some(&states), &|travel| time_of(gap.distance, travel))
                };
                let found = question.answer(any, &of_parts, &|distance| time_of(distance, any));
                safe = found.map_or(safe, |(left, ..)| left.max(safe));
            }
            (guess.min(low + safe), true)
        };
        // A step too small to represent: `low` is as close as it gets.
        if guess <= low || high.is_some_and(|high| guess >= high) {
            let next = after(low);
            return Ok((
                if high.is_some() || free { Found::Impact(low) } else { Found::Nothing(next) },
                u64::from(count),
            ));
        }
        // A leap over a time in which the bodies might touch and part again would miss the contact.
        let leap = guess - low;
        if high.is_none() && !free && leap * closing_rate(&sides.whole(), &states, leap) >= closing {
            return Ok((Found::Nothing(low), u64::from(count)));
        }
        match look(sides, narrow, cache, guess)? {
            Some(seen) if seen.distance > 0.0 => {
                if high.is_none() && (seen.closing <= 0.0 || seen.closing < slow) {
                    return Ok((Found::Nothing(guess), u64::from(count) + 1));
                }
                (low, f_low, closing) = (guess, seen.distance, seen.closing.abs());
                (states, normal) = (seen.states, seen.normal);
                w_low = f_low - target;
                if low_moved {
                    w_high *= 0.5;
                }
                low_moved = true;
            }
            seen => {
                // NaN where the narrow phase gives no depth.
                w_high = seen.map_or(f64::NAN, |s| s.distance) - target;
                if high.is_some() && !low_moved {
                    w_low *= 0.5;
                }
                high = Some(guess);
                low_moved = false;
            }
        }
    }
    // `low` is before contact: looking again from there is safe.
    Ok((Found::Nothing(after(low)), u64::from(MAX_ITERATIONS)))
}

/// Smallest positive τ with d = c τ − ½ a τ², c > 0; the linear one if there is none.
fn first_time(d: f64, c: f64, a: f64) -> f64 {
    let square = c * c - 2.0 * a * d;
    if square >= 0.0 { 2.0 * d / (c + square.sqrt()) } else { d / c }
}
