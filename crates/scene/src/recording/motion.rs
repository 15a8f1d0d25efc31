//! Motion of one body as small whole numbers: predict from the frame before, store the rounded difference.
//!
//! # Reference
//! Differential pulse-code modulation with the quantiser inside the loop. Modified Rodrigues parameters:
//! Schaub and Junkins, *Analytical Mechanics of Space Systems*, section 3.5.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | `x`, `q`, `v`, `w` | decoded position, orientation, velocity, angular velocity; world frame | m, -, m/s, rad/s |
//! | `dt` | time since the frame before | s |
//! | `r` | residuals: 3 of v, 3 of w, 3 of x, 3 of q | steps |
//! | `s` | steps of the header | |
//! | `rot(p)` | quaternion (2p, 1 − p²) / (1 + p²), a turn about p by 4 atan abs(p) | |
//!
//! # Formula
//! ```text
//! v = pred_v + s.velocity r[0..3]      pred: 0 hold v₁ | 1 fall v₁ + g dt | 2 line 2 v₁ − v₂
//! w = pred_w + s.spin r[3..6]          pred: 0 hold w₁ |                  | 2 line 2 w₁ − w₂
//! x = x₁ + dt (v₁ + v)/2 + s.position r[6..9]
//! θ = dt (w₁ + w)/2,  p = θ/4 (1 + θ²/48)
//! q = rot(s.rotation/4 r[9..12]) rot(p) q₁
//! ```
//! A body that was not there before is coded with dt = 0 and all predictions zero (q₁ = 1): a key frame is a
//! frame before which nothing was there.
//!
//! # Cost
//! About 200 flops for each body and frame; no allocation.
//!
//! # Numerics
//! The encoder runs the decoder, so that rounding does not add up: each number is off by at most half a step,
//! and an orientation by an angle of at most √3/2 steps.
//! The decoder never rounds, so a reader with slightly different arithmetic gets slightly different numbers and
//! no more. p is tan(|θ|/4) to the fifth order: 2e-5 rad at half a radian a frame.
//!
//! # Failure
//! `None` if a residual is beyond 2^53 steps (writing) or the result is not finite (reading).
//!
//! # Tested by
//! `every_number_is_within_half_a_step`, `free_flight_costs_nothing`, `a_turn_is_the_exponential_of_its_spin`

use super::frame::BodyState;
use super::model::Steps;
use sim_math::{Pose, glam::DQuat, glam::DVec3};

/// The body exists.
pub(super) const PRESENT: u8 = 1;
/// Everything as in the frame before; no residuals are stored.
pub(super) const STILL: u8 = 2;
/// A box is stored for it.
pub(super) const BOXED: u8 = 64;
/// All bits that have a meaning.
pub(super) const ALL_BITS: u8 = 127;

const HOLD: u8 = 0;
const FALL: u8 = 1;
const LINE: u8 = 2;

/// Decoded state of a body with what prediction needs beyond it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Motion {
    pub(super) state: BodyState,
    velocity_before: DVec3,
    spin_before: DVec3,
}

/// What prediction needs to know of the frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// Seconds since the frame before; not used for bodies that were not there.
    pub(super) dt: f64,
    pub(super) gravity: DVec3,
}

/// Rotation by the angle 4 atan |p| about p.
fn rot(p: DVec3) -> DQuat {
    let squared = p.length_squared();
    let v = 2.0 * p / (1.0 + squared);
    DQuat::from_xyzw(v.x, v.y, v.z, (1.0 - squared) / (1.0 + squared))
}

/// The p of a rotation, of the two the one with |p| ≤ 1.
fn rodrigues(q: DQuat) -> DVec3 {
    let q = if q.w < 0.0 { -q } else { q };
    DVec3::new(q.x, q.y, q.z) / (1.0 + q.w)
}

fn predict(mode: u8, now: DVec3, before: DVec3, fall: DVec3) -> DVec3 {
    match mode {
        FALL => now + fall,
        LINE => 2.0 * now - before,
        _ => now,
    }
}

fn vec(r: &[i64; 12], first: usize, step: f64) -> DVec3 {
    DVec3::new(r[first] as f64 * step, r[first + 1] as f64 * step, r[first + 2] as f64 * step)
}

fn turn(dt: f64, from: &Motion, spin: DVec3) -> DQuat {
    let theta = dt * 0.5 * (from.state.spin + spin);
    let squared = theta.length_squared();
    rot(theta * (0.25 * (1.0 + squared / 48.0))) * from.state.pose.rotation
}

/// Decodes one body: `before` is `None` if it was not there.
pub(super) fn decode(
    before: Option<&Motion>,
    mode: u8,
    r: &[i64; 12],
    clock: Clock,
    s: &Steps,
) -> Option<Motion> {
    let dt = if before.is_some() { clock.dt } else { 0.0 };
    let from = before.copied().unwrap_or_default();
    if mode & STILL != 0 {
        return Some(Motion { velocity_before: from.state.velocity, spin_before: from.state.spin, ..from });
    }
    let velocity = predict(mode >> 2 & 3, from.state.velocity, from.velocity_before, clock.gravity * dt)
        + vec(r, 0, s.velocity);
    let spin = predict(mode >> 4 & 3, from.state.spin, from.spin_before, DVec3::ZERO) + vec(r, 3, s.spin);
    let translation =
        from.state.pose.translation + dt * 0.5 * (from.state.velocity + velocity) + vec(r, 6, s.position);
    let rotation = rot(vec(r, 9, s.rotation * 0.25)) * turn(dt, &from, spin);
    let pose = Pose { translation, rotation };
    let state = BodyState { pose, velocity, spin };
    let finite = pose.is_finite() && velocity.is_finite() && spin.is_finite();
    finite.then_some(Motion { state, velocity_before: from.state.velocity, spin_before: from.state.spin })
}

/// Whole steps nearest to a difference.
fn round(difference: DVec3, step: f64, r: &mut [i64]) -> Option<u64> {
    let mut size = 0;
    for (slot, d) in r.iter_mut().zip(difference.to_array()) {
        let whole = (d / step + 0.5).floor();
        if !whole.is_finite() || whole.abs() >= 9_007_199_254_740_992.0 {
            return None;
        }
        *slot = whole as i64;
        size += slot.unsigned_abs();
    }
    Some(size)
}

/// Encodes one body: mode bits, residuals and what the reader will see.
pub(super) fn encode(
    before: Option<&Motion>,
    state: &BodyState,
    clock: Clock,
    s: &Steps,
) -> Option<(u8, [i64; 12], Motion)> {
    let mut r = [0; 12];
    let dt = if before.is_some() { clock.dt } else { 0.0 };
    let from = before.copied().unwrap_or_default();
    let turned = |from: DQuat| 4.0 * rodrigues(state.pose.rotation * from.conjugate());
    if before.is_some() {
        let old = &from.state;
        let moved = round(state.pose.translation - old.pose.translation, s.position, &mut r[6..9])?
            + round(turned(old.pose.rotation), s.rotation, &mut r[9..12])?
            + round(state.velocity - old.velocity, s.velocity, &mut r[0..3])?
            + round(state.spin - old.spin, s.spin, &mut r[3..6])?;
        if moved == 0 {
            let mode = PRESENT | STILL;
            return Some((mode, r, decode(before, mode, &r, clock, s)?));
        }
    }
    let mut best =
        |modes: &[u8], actual: DVec3, now: DVec3, old: DVec3, fall: DVec3, step: f64, first: usize| {
            let mut choice = (u64::MAX, HOLD, [0; 3]);
            for &mode in modes {
                let mut trial = [0; 3];
                let size = round(actual - predict(mode, now, old, fall), step, &mut trial)?;
                if size < choice.0 {
                    choice = (size, mode, trial);
                }
            }
            r[first..first + 3].copy_from_slice(&choice.2);
            Some(choice.1)
        };
    let modes: &[u8] = if before.is_some() { &[HOLD, FALL, LINE] } else { &[HOLD] };
    let fall = clock.gravity * dt;
    let v = best(modes, state.velocity, from.state.velocity, from.velocity_before, fall, s.velocity, 0)?;
    let modes: &[u8] = if before.is_some() { &[HOLD, LINE] } else { &[HOLD] };
    let w = best(modes, state.spin, from.state.spin, from.spin_before, DVec3::ZERO, s.spin, 3)?;
    let mode = PRESENT | v << 2 | w << 4;
    // What remains is measured from where the decoder will be without it.
    r[6..12].fill(0);
    let predicted = decode(before, mode, &r, clock, s)?.state.pose;
    round(state.pose.translation - predicted.translation, s.position, &mut r[6..9])?;
    round(turned(predicted.rotation), s.rotation, &mut r[9..12])?;
    Some((mode, r, decode(before, mode, &r, clock, s)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::ops;
    use sim_math::testkit::SplitMix64;

    const CLOCK: Clock = Clock { dt: 1.0 / 60.0, gravity: DVec3::new(0.0, 0.0, -9.81) };

    fn random(random: &mut SplitMix64) -> BodyState {
        BodyState {
            pose: Pose::new(random.vec3(10.0), random.unit_quat()),
            velocity: random.vec3(20.0),
            spin: random.vec3(30.0),
        }
    }

    fn assert_half_a_step(state: &BodyState, seen: &BodyState, s: &Steps) {
        let half = |d: DVec3, step: f64| assert!(d.abs().max_element() <= 0.5001 * step, "{d} of {step}");
        half(state.pose.translation - seen.pose.translation, s.position);
        half(state.velocity - seen.velocity, s.velocity);
        half(state.spin - seen.spin, s.spin);
        // Rounding is per parameter, and the error turns with the residual: its length is what is bounded, √3/2.
        let angle = 4.0 * rodrigues(state.pose.rotation * seen.pose.rotation.conjugate()).length();
        assert!(angle <= 0.8661 * s.rotation, "{angle} of {}", s.rotation);
    }

    #[test]
    fn every_number_is_within_half_a_step() {
        let (mut draw, s) = (SplitMix64(11), Steps::default());
        let mut before: Option<Motion> = None;
        for _ in 0..20_000 {
            let state = random(&mut draw);
            let (mode, r, seen) = encode(before.as_ref(), &state, CLOCK, &s).unwrap();
            assert_half_a_step(&state, &seen.state, &s);
            let again = decode(before.as_ref(), mode, &r, CLOCK, &s).unwrap();
            assert_eq!(again.state, seen.state);
            before = (draw.below(10) > 0).then_some(seen);
        }
    }

    #[test]
    fn free_flight_costs_nothing() {
        let s = Steps::default();
        let (v, w) = (DVec3::new(3.0, -1.0, 4.0), DVec3::new(2.0, 5.0, -3.0));
        let mut before = None;
        let mut total = 0;
        for i in 0..600 {
            let t = f64::from(i) / 60.0;
            let state = BodyState {
                pose: Pose::new(v * t + 0.5 * CLOCK.gravity * t * t, DQuat::from_scaled_axis(w * t)),
                velocity: v + CLOCK.gravity * t,
                spin: w,
            };
            let (_, r, seen) = encode(before.as_ref(), &state, CLOCK, &s).unwrap();
            if i > 0 {
                total += r.iter().map(|r| r.unsigned_abs()).sum::<u64>();
            }
            before = Some(seen);
        }
        // A hundred metres and sixty radians, with less than one unit of residual for each frame.
        assert!(total < 600, "{total}");
    }

    #[test]
    fn a_turn_is_the_exponential_of_its_spin() {
        let w = DVec3::new(10.0, -20.0, 15.0);
        let from = Motion { state: BodyState { spin: w, ..BodyState::default() }, ..Motion::default() };
        let exact = DQuat::from_scaled_axis(w / 60.0);
        let p = rodrigues(turn(1.0 / 60.0, &from, w) * exact.conjugate());
        let angle = 4.0 * ops::atan(p.length());
        assert!(angle < 2e-5, "{angle}");
    }

    #[test]
    fn rotations_and_parameters_are_inverse_of_each_other() {
        let mut draw = SplitMix64(5);
        for _ in 0..1000 {
            let q = draw.unit_quat();
            assert!(q.dot(rot(rodrigues(q))).abs() > 1.0 - 1e-14);
        }
        assert_eq!(rodrigues(DQuat::from_xyzw(0.0, 0.0, 0.0, -1.0)), DVec3::ZERO);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let far = BodyState { pose: Pose::from_translation(DVec3::X * 1e30), ..BodyState::default() };
        assert!(encode(None, &far, CLOCK, &Steps::default()).is_none());
        let endless = Clock { dt: f64::MAX, ..CLOCK };
        let fast = [i64::MAX; 12];
        let before = decode(None, PRESENT, &fast, CLOCK, &Steps::default()).unwrap();
        assert!(decode(Some(&before), PRESENT, &fast, endless, &Steps::default()).is_none());
    }
}
