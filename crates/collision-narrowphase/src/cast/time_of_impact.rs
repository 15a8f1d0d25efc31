//! Time of impact by conservative advancement: never late.
//!
//! # Reference
//! Mirtich 1996 §2.3 (lower bounds on the time of impact); Zhang, Lee, Kim 2006 (directional motion bounds).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `d`, `n` | distance of two convex parts and the direction from B to A |
//! | `μ` | bound on how fast any two points of them approach along n |
//! | `r` | distance of the farthest point from the axis of spin |
//! | `κ` | bound on the growth of that speed |
//!
//! # Formula
//! ```text
//! for the rest of the way:  d(t + h) ≥ d − μ h,   μ = max −n·(v_A − v_B) + |n × ω_A| r_A + |n × ω_B| r_B
//! from this moment:         d(t + h) ≥ d − μ₀ h − ½ κ h²,   μ₀ = −n·(v_A − v_B) + farthest points along n × ω,
//!                           κ = −n·(a_A − a_B) + ω_A² r_A + ω_B² r_B
//! step: the longer of the two; over several parts the shortest; parts beyond reach by a bound on all speeds
//! ```
//!
//! # Cost
//! A distance query per step; a handful of steps for plain motions, some per revolution for fast spin.
//!
//! # Numerics
//! Steps end half a tolerance before contact could be, so rounding cannot make them late. The answer is the first
//! time found with a distance up to the tolerance: shapes that pass that near count as touching.
//!
//! # Failure
//! [`CastError`]: bad numbers, a turning half-space, pairs without a distance. Out of steps: the time reached so far,
//! before the impact, marked as not converged; that is so for a solid of revolution (other than a ball or a capsule) that
//! spins fast about its axis within a hair of the other shape.
//!
//! # Tested by
//! `tests/casts.rs`

use super::{
    Motion,
    part::{Part, near_parts, radius_about},
};
use crate::{
    Composite,
    convex::{self, Convex},
};
use sim_math::glam::DVec3;
use sim_traits::{NarrowPhase, NarrowPhaseError, PairCache, Separation, Shape};
use std::ops::ControlFlow;
use thiserror::Error;

/// How a cast is done.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CastParams {
    /// End of the interval, seconds; default 1. May not be infinite.
    pub t_max: f64,
    /// Distance that counts as touching, metres; default 1e-6. Smaller is later by up to that distance over the speed of
    /// approach, and takes more steps.
    pub tolerance: f64,
    /// Most steps; default 10 000.
    pub max_steps: u32,
}

impl Default for CastParams {
    fn default() -> Self {
        Self { t_max: 1.0, tolerance: 1e-6, max_steps: 10_000 }
    }
}

impl CastParams {
    /// With the end of the interval, seconds.
    #[must_use]
    pub fn until(t_max: f64) -> Self {
        Self { t_max, ..Self::default() }
    }

    /// The same with another tolerance, metres.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }
}

/// The first touch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impact {
    /// Seconds; not later than the first contact.
    pub time: f64,
    /// Distance and witnesses then, world frame.
    pub separation: Separation,
    /// Steps taken.
    pub steps: u32,
    /// False if the steps ran out: the impact is later than `time`, if there is one.
    pub converged: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum CastError {
    /// A motion has a number that is not finite.
    #[error("motion of {shape}: {what} is not finite: {value}")]
    BadMotion {
        /// Name of the shape.
        shape: &'static str,
        /// Which part of the motion.
        what: &'static str,
        /// The vector as given; for a rotation its imaginary part.
        value: DVec3,
    },
    /// A parameter that cannot be.
    #[error("{what} must be positive and finite, got {value}")]
    BadParameter {
        /// Name of the parameter.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// An unbounded shape that turns sweeps all of space.
    #[error("{shape} turns with {spin} rad/s but has no end")]
    TurningUnbounded {
        /// Name of the shape.
        shape: &'static str,
        /// Its spin.
        spin: DVec3,
    },
    /// No distance between the shapes.
    #[error(transparent)]
    Distance(#[from] NarrowPhaseError),
}

/// A moving shape with what the bounds need.
struct Mover<'a> {
    shape: &'a Shape,
    motion: &'a Motion,
    /// Distance of the farthest point from the axis of spin, metres; 0 without spin.
    radius: f64,
}

impl<'a> Mover<'a> {
    fn new(shape: &'a Shape, motion: &'a Motion) -> Result<Self, CastError> {
        if let Some((what, value)) = motion.fault() {
            return Err(CastError::BadMotion { shape: shape.name(), what, value });
        }
        let mut radius = 0.0;
        if motion.spin != DVec3::ZERO {
            let axis = motion.start.inverse_transform_vector(motion.spin);
            radius = radius_about(shape, motion.center, axis);
            if !radius.is_finite() {
                return Err(CastError::TurningUnbounded { shape: shape.name(), spin: motion.spin });
            }
        }
        Ok(Self { shape, motion, radius })
    }

    /// Largest speed along `direction` that spin gives to a point of a part now: `sense` · direction · (ω × ρ).
    fn spin_speed(&self, part: &Part<'_>, direction: DVec3, t: f64) -> f64 {
        let spin = self.motion.spin;
        if spin == DVec3::ZERO {
            return 0.0;
        }
        // direction · (ω × ρ) = (direction × ω) · ρ
        let along = direction.cross(spin);
        let pose = self.motion.pose(t);
        let local = pose.inverse_transform_vector(along);
        part.support(local).map_or(along.length() * self.radius, |p| {
            (pose.transform_vector(p - self.motion.center)).dot(along)
        })
    }
}

/// Distance of A and B at a time, A's frame.
fn distance_at(a: &Mover<'_>, b: &Mover<'_>, t: f64, cache: &mut PairCache) -> Result<Separation, CastError> {
    let a_from_b = a.motion.pose(t).inverse_mul(&b.motion.pose(t));
    let custom = |s: &Shape| matches!(s, Shape::Custom(_));
    Ok(if custom(a.shape) || custom(b.shape) {
        Composite.separation(a.shape, b.shape, &a_from_b, cache)?
    } else {
        Convex.separation(a.shape, b.shape, &a_from_b, cache)?
    })
}

/// How long two parts at distance `d` along `n` (world, from B to A) stay apart at least, seconds.
fn safe_time(
    a: &Mover<'_>,
    b: &Mover<'_>,
    pair: (&Part<'_>, &Part<'_>),
    d: f64,
    n: DVec3,
    t: f64,
    end: f64,
) -> f64 {
    let (wa, wb) = (a.motion.spin, b.motion.spin);
    let relative = |t: f64| -n.dot(a.motion.center_velocity(t) - b.motion.center_velocity(t));
    // Velocities of the centres change linearly, so the ends of the interval hold the extremes.
    let over_all =
        relative(t).max(relative(end)) + n.cross(wa).length() * a.radius + n.cross(wb).length() * b.radius;
    let by_speed = if over_all > 0.0 { d / over_all } else { f64::INFINITY };
    let now = relative(t) + a.spin_speed(pair.0, -n, t) + b.spin_speed(pair.1, n, t);
    let growth = -n.dot(a.motion.acceleration - b.motion.acceleration)
        + wa.length_squared() * a.radius
        + wb.length_squared() * b.radius;
    let by_growth = if growth > 0.0 {
        2.0 * d / (now + (now * now + 2.0 * growth * d).sqrt())
    } else if now > 0.0 {
        d / now
    } else {
        f64::INFINITY
    };
    by_speed.max(by_growth)
}

/// First time in 0..=`t_max` at which two moving shapes are within the tolerance; `None` if there is none.
///
/// Never later than the first contact. A pair that overlaps at the start has its impact at 0.
///
/// # Errors
/// See [`CastError`].
pub fn time_of_impact(
    a: &Shape,
    motion_a: &Motion,
    b: &Shape,
    motion_b: &Motion,
    params: &CastParams,
) -> Result<Option<Impact>, CastError> {
    for (what, value) in [("t_max", params.t_max), ("tolerance", params.tolerance)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(CastError::BadParameter { what, value });
        }
    }
    let (a, b) = (Mover::new(a, motion_a)?, Mover::new(b, motion_b)?);
    let simple = !matches!((a.shape, b.shape), (Shape::Custom(_), _) | (_, Shape::Custom(_)));
    let end = params.t_max;
    let mut cache = PairCache::default();
    let mut t = 0.0;
    for steps in 1..=params.max_steps.max(1) {
        let found = distance_at(&a, &b, t, &mut cache)?;
        let pose = motion_a.pose(t);
        let impact = |converged: bool| Impact {
            time: t,
            separation: crate::composite::moved(&found, &pose),
            steps,
            converged,
        };
        if found.distance <= params.tolerance {
            return Ok(Some(impact(true)));
        }
        if steps == params.max_steps.max(1) {
            return Ok(Some(impact(false)));
        }
        let margin = 0.5 * params.tolerance;
        let step = if simple {
            let parts = (part_of(a.shape), part_of(b.shape));
            let n = pose.transform_vector(found.normal);
            safe_time(&a, &b, (&parts.0, &parts.1), found.distance - margin, n, t, end)
        } else {
            composite_step(&a, &b, found.distance, margin, t, end)?
        };
        t += step;
        if t.is_nan() || t > end {
            return Ok(None);
        }
    }
    Ok(None)
}

fn part_of(shape: &Shape) -> Part<'_> {
    if convex::is_convex(shape) { Part::Solid(shape, sim_math::Pose::IDENTITY) } else { Part::Unknown }
}

/// Safe time of shapes with many parts: each near pair by its own direction, the rest by speed alone.
fn composite_step(
    a: &Mover<'_>,
    b: &Mover<'_>,
    distance: f64,
    margin: f64,
    t: f64,
    end: f64,
) -> Result<f64, CastError> {
    let reach = 4.0 * distance;
    let relative = |t: f64| (a.motion.center_velocity(t) - b.motion.center_velocity(t)).length();
    let fastest = relative(t).max(relative(end))
        + a.motion.spin.length() * a.radius
        + b.motion.spin.length() * b.radius;
    if fastest <= 0.0 {
        return Ok(f64::INFINITY);
    }
    let mut step = (reach - margin) / fastest;
    let pose_a = a.motion.pose(t);
    let a_from_b = pose_a.inverse_mul(&b.motion.pose(t));
    near_parts(a.shape, b.shape, &a_from_b, reach, &mut |s, x, y| {
        let n = pose_a.transform_vector(s.normal);
        step = step.min(safe_time(a, b, (x, y), s.distance - margin, n, t, end));
        ControlFlow::Continue(())
    })?;
    Ok(step)
}

/// Two-sided search: the time at which the signed distance passes through zero, between an impact and the next time
/// at which the shapes overlap, to within `resolution` seconds; `None` if they do not overlap up to `t_max`.
///
/// The one-sided search ends a tolerance before contact; where penetration depth is known the contact itself can be
/// found, from both sides.
///
/// # Errors
/// See [`CastError`].
pub fn crossing_time(
    a: &Shape,
    motion_a: &Motion,
    b: &Shape,
    motion_b: &Motion,
    impact: &Impact,
    params: &CastParams,
    resolution: f64,
) -> Result<Option<f64>, CastError> {
    if !(resolution > 0.0 && resolution.is_finite()) {
        return Err(CastError::BadParameter { what: "resolution", value: resolution });
    }
    let (a, b) = (Mover::new(a, motion_a)?, Mover::new(b, motion_b)?);
    let mut cache = PairCache::default();
    let mut signed = |t: f64| distance_at(&a, &b, t, &mut cache).map(|s| s.distance);
    let (mut low, mut d_low) = (impact.time, signed(impact.time)?);
    if d_low <= 0.0 {
        return Ok(Some(low));
    }
    // Step on with growing steps until the other side is found.
    let mut step = resolution;
    let (mut high, mut d_high);
    loop {
        high = (low + step).min(params.t_max);
        d_high = signed(high)?;
        if d_high <= 0.0 {
            break;
        }
        if high >= params.t_max {
            return Ok(None);
        }
        (low, d_low) = (high, d_high);
        step *= 1.5;
    }
    for _ in 0..200 {
        if high - low <= resolution {
            break;
        }
        // Secant, kept well inside the bracket.
        let guess = low + (high - low) * (d_low / (d_low - d_high)).clamp(0.05, 0.95);
        let d = signed(guess)?;
        if d > 0.0 {
            (low, d_low) = (guess, d);
        } else {
            (high, d_high) = (guess, d);
        }
    }
    Ok(Some(low))
}
