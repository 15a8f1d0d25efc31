//! Sensors: pairs that are watched and never pushed.
//!
//! # Reference
//!
//! Ours; conservative advancement as for impacts (Mirtich 1996, section 2.3), from both sides.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | d | distance, negative inside | m |
//! | c | closing speed of the closest points | m/s |
//! | V, A | bounds on relative speed and acceleration in any direction | m/s, m/s² |
//!
//! # Formula
//!
//! ```text
//! outside: not before the bound of impacts;   inside: not before ½ A τ² + V τ = |d|
//! nearer than `COARSE`: d/c if that is where it goes, at least `FINE`; `COARSE` otherwise
//! ```
//!
//! # Cost
//!
//! One distance per look; at most one look per `COARSE` unless something is on its way in or out.
//!
//! # Numerics
//!
//! Entering and leaving are reported within `FINE` of their times when the surfaces meet or part at speed, and within
//! `COARSE` when they graze: an overlap shorter than that may be missed.
//!
//! # Failure
//!
//! None but what a distance reports.
//!
//! # Tested by
//!
//! `tests/events.rs`

use super::{
    look::{Sides, look},
    pairs::ActivePair,
    state::{Books, Setup, Tables},
};
use rigid_impulse::bounds::{Travel, time_to_impact};
use sim_world::{Event, EventKind, StepError, StepperAccess, World};

/// Longest time between looks at a pair that is about to change, s.
const COARSE: f64 = 1e-4;
/// Shortest, s.
const FINE: f64 = 1e-8;

impl ActivePair {
    /// What is to be listed when a pair begins or ceases to touch.
    pub(super) fn event(&self, began: bool) -> EventKind {
        let [a, b] = self.names;
        match (self.sensor, began) {
            (None, true) => EventKind::ContactBegan { a, b },
            (None, false) => EventKind::ContactEnded { a, b },
            (Some(side), _) => {
                let (sensor, other) = if side == 0 { (a, b) } else { (b, a) };
                if began {
                    EventKind::SensorEntered { sensor, other }
                } else {
                    EventKind::SensorLeft { sensor, other }
                }
            }
        }
    }
}

/// A look at a pair with a sensor.
pub(super) fn sense(
    setup: &Setup,
    tables: &mut Tables,
    books: &mut Books,
    world: &mut StepperAccess<'_>,
    slot: u32,
    time: f64,
) -> Result<(), StepError> {
    let Setup { parts, params, .. } = setup;
    let Tables { pairs, queue, .. } = tables;
    let Books { report, .. } = books;
    let Some(pair) = pairs.get_mut(slot) else { return Ok(()) };
    let Some(sides) = Sides::of(world, pair) else { return Ok(()) };
    report.distances += 1;
    let seen = look(&sides, parts.narrow_phase.as_ref(), &mut pair.cache, time)?;
    let inside = seen.is_none_or(|s| s.distance <= 0.0);
    let (distance, closing) = seen.map_or((0.0, 0.0), |s| (s.distance, s.closing));
    let safe = match seen {
        Some(s) if !inside => {
            pair.predict(&sides, params, time, distance, s.normal, Some((&s.states, s.closing))) - time
        }
        _ => {
            // Twice the depth, because the bound of impacts uses half of a gap this small.
            let gap = -2.0 * distance;
            time_to_impact(gap, f64::INFINITY, sides.any_travel(time, gap), Travel::NONE)
        }
    };
    let changing = if inside { -closing } else { closing };
    let near = if changing > 0.0 { (distance.abs() / changing).clamp(FINE, COARSE) } else { COARSE };
    queue.reschedule_ranked(pair.event, time + if safe > near { safe } else { near })?;
    if inside != pair.touching {
        pair.touching = inside;
        let kind = pair.event(inside);
        world.list(Event { time, kind });
    }
    Ok(())
}

/// When to look at a sensor pair again, one of whose bodies got another motion at `time` (s).
pub(super) fn sense_later(
    setup: &Setup,
    tables: &mut Tables,
    world: &World,
    slot: u32,
    time: f64,
) -> Result<(), StepError> {
    let Some(pair) = tables.pairs.get_mut(slot) else { return Ok(()) };
    let Some(sides) = Sides::of(world, pair) else { return Ok(()) };
    let date = if pair.touching {
        tables.queue.time(pair.event).unwrap_or(time).min(time + COARSE)
    } else {
        pair.carry_over(&sides, &setup.params, time).max(time + FINE)
    };
    tables.queue.reschedule_ranked(pair.event, date)?;
    Ok(())
}
