//! Where a box will be during a window of steps, and when a pair of boxes must be looked at again.
//!
//! # Reference
//! Own, in the spirit of kinetic data structures: a certificate per pair with a time until which it holds.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `start` | the six corner coordinates at step 0 of the window, lower ones negated | m |
//! | `rate` | their change per step | m |
//! | `tol` | promised largest deviation from the straight line | m |
//! | `c_j` | one of six gaps `b.max - a.min`, `a.max - b.min`; all ≥ 0 means overlap | m |
//! | `T` | certainty band of a pair, a bit more than `tol_a + tol_b` | m |
//!
//! # Formula
//! ```text
//! promise     |corner(k) - (start + k rate)| ≤ tol
//! c_j(k)      = c_j(0) + k s_j, known to ± T
//! overlapping for sure at k  ⇔  all c_j(k) ≥ T        (an interval of k, c_j being linear)
//! separated for sure at k    ⇔  some c_j(k) < -T      (outside an interval of k)
//! ```
//! The next look at a pair is the first step at which its present state is not sure.
//!
//! # Cost
//! A promise takes 6 multiplications, a schedule 12, and divisions only if the state may change in the window.
//!
//! # Numerics
//! Tracks are `f32` relative to an origin near the boxes, 64 bytes, one cache line. A promise is checked with
//! `tol`, which is at least 5e-7 of the largest coordinate or way; pairs are scheduled with `band`, larger by
//! 1e-6 of the same: more than all rounding, so an unsure state is never taken for a sure one. Far from the
//! origin (1e9 of a box size) certificates get weak and pairs are looked at more often; the result is the same.
//! Infinite corners have rate 0; a comparison with NaN (sum of opposite infinities) makes the state unsure.
//!
//! # Failure
//! A broken promise is normal and reported by [`Track::holds`].
//!
//! # Tested by
//! `no_flip_happens_between_looks`, `infinite_corners_keep_their_promise`.

use super::columns::Fat;
use sim_math::{Aabb, glam::DVec3};

/// Motion of a box in the present window. Lower corners are negated, so that a gap is a sum.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Track {
    pub(super) start: [f32; 6],
    pub(super) rate: [f32; 6],
    /// Deviation allowed to the box, metres.
    pub(super) tol: f32,
    /// Deviation expected by schedules, metres: more by all rounding.
    pub(super) band: f32,
}

/// Never in this window.
pub(super) const NEVER: u32 = u32::MAX;

/// Corners relative to `origin`, lower ones negated.
#[inline]
fn corners(aabb: &Aabb, origin: DVec3) -> [f64; 6] {
    let (lo, hi) = (origin - aabb.min, aabb.max - origin);
    [lo.x, lo.y, lo.z, hi.x, hi.y, hi.z]
}

/// Change of the corners per step, from two boxes one step apart; 0 where it is not a usable number.
#[inline]
pub(super) fn rate_between(old: &Aabb, new: &Aabb) -> [f32; 6] {
    let (old, new) = (corners(old, DVec3::ZERO), corners(new, DVec3::ZERO));
    let mut rate = [0.0; 6];
    for j in 0..6 {
        let d = (new[j] - old[j]) as f32;
        rate[j] = if d.abs() < 1e30 { d } else { 0.0 };
    }
    rate
}

impl Track {
    pub(super) const REST: Self = Self { start: [0.0; 6], rate: [0.0; 6], tol: 0.0, band: 0.0 };

    /// A promise that begins with `aabb` at step `now` and is used up to step `last`.
    pub(super) fn new(aabb: &Aabb, origin: DVec3, rate: [f32; 6], tol: f32, now: u32, last: u32) -> Self {
        let c = corners(aabb, origin);
        let mut track = Self { start: [0.0; 6], rate, tol, band: 0.0 };
        let mut largest = 0.0_f32;
        let (now, last) = (f64::from(now), last as f32);
        for j in 0..6 {
            if c[j].abs() < 1e30 {
                track.start[j] = (c[j] - now * f64::from(rate[j])) as f32;
                largest = largest.max(c[j].abs() as f32 + 2.0 * last * rate[j].abs());
            } else {
                (track.start[j], track.rate[j]) = (c[j] as f32, 0.0);
            }
        }
        track.tol = tol.max(5e-7 * largest);
        track.band = track.tol + 1e-6 * largest;
        track
    }

    /// True if the promise holds for `aabb` at step `k`.
    #[inline]
    pub(super) fn holds(&self, aabb: &Aabb, origin: DVec3, k: u32) -> bool {
        let c = corners(aabb, origin);
        let k = k as f32;
        let mut broken = false;
        for j in 0..6 {
            // The NaN of equal infinities is a kept promise.
            broken |= (c[j] as f32 - (self.start[j] + k * self.rate[j])).abs() > self.tol;
        }
        !broken
    }

    /// All places of the box from step `from` to step `to`, relative to the origin, in an order of axes.
    #[inline]
    pub(super) fn swept(&self, from: u32, to: u32, axes: [usize; 3]) -> Fat {
        let (from, to) = (from as f32, to as f32);
        let far = |j: usize| {
            let (p, q) = (self.start[j] + from * self.rate[j], self.start[j] + to * self.rate[j]);
            self.band + if p > q { p } else { q }
        };
        Fat { lo: axes.map(|d| -far(d)), hi: axes.map(|d| far(d + 3)) }
    }

    /// The same as a box in the world.
    pub(super) fn swept_box(&self, from: u32, to: u32, origin: DVec3) -> Aabb {
        let fat = self.swept(from, to, [0, 1, 2]);
        let pad = 1e-9 * origin.abs();
        let world = |x: [f32; 3]| DVec3::from(x.map(f64::from)) + origin;
        Aabb { min: world(fat.lo) - pad, max: world(fat.hi) + pad }
    }
}

/// The six gaps of a pair at step 0, and their change per step.
#[inline]
fn gaps(a: &Track, b: &Track) -> ([f32; 6], [f32; 6]) {
    let (mut c, mut s) = ([0.0; 6], [0.0; 6]);
    for j in 0..3 {
        c[j] = a.start[j] + b.start[j + 3];
        c[j + 3] = a.start[j + 3] + b.start[j];
        s[j] = a.rate[j] + b.rate[j + 3];
        s[j + 3] = a.rate[j + 3] + b.rate[j];
    }
    (c, s)
}

/// State at step 0 of two tracks that begin there, and the step of the next look.
#[inline]
pub(super) fn classify(a: &Track, b: &Track, last: u32, exact: impl FnOnce() -> bool) -> (bool, u32) {
    let (c, s) = gaps(a, b);
    let (band, end) = (a.band + b.band, last as f32);
    let (mut sure, mut overlap, mut apart) = (true, true, false);
    for j in 0..6 {
        let later = c[j] + end * s[j];
        overlap &= c[j] >= band;
        apart |= c[j] < -band;
        sure &= later >= band;
    }
    if overlap && sure {
        return (true, NEVER);
    }
    let overlap = overlap || (!apart && exact());
    let due = if overlap {
        next_unsure_overlap(&c, &s, band, 1.0, end)
    } else {
        next_possible(&c, &s, band, 1.0, end)
    };
    (overlap, due)
}

/// First step after `now`, up to `last`, at which the state `overlap` of the pair is not sure.
#[inline]
pub(super) fn next_look(a: &Track, b: &Track, now: u32, last: u32, overlap: bool) -> u32 {
    if now >= last {
        return NEVER;
    }
    let (c, s) = gaps(a, b);
    let (band, first, end) = (a.band + b.band, (now + 1) as f32, last as f32);
    if overlap {
        next_unsure_overlap(&c, &s, band, first, end)
    } else {
        next_possible(&c, &s, band, first, end)
    }
}

fn next_unsure_overlap(c: &[f32; 6], s: &[f32; 6], band: f32, first: f32, end: f32) -> u32 {
    let (mut sure_now, mut sure_later) = (true, true);
    for j in 0..6 {
        sure_now &= c[j] + first * s[j] >= band;
        sure_later &= c[j] + end * s[j] >= band;
    }
    if sure_now && sure_later {
        return NEVER;
    }
    if !sure_now {
        return first as u32;
    }
    let mut until = end;
    for j in 0..6 {
        if s[j] < 0.0 {
            until = until.min((band - c[j]) / s[j]);
        }
    }
    ((until - 1e-3).max(first - 1.0) as u32 + 1).min(end as u32)
}

fn next_possible(c: &[f32; 6], s: &[f32; 6], band: f32, first: f32, end: f32) -> u32 {
    let (mut apart, mut possible_now) = (false, true);
    for j in 0..6 {
        let (x, y) = (c[j] + first * s[j] < -band, c[j] + end * s[j] < -band);
        apart |= x & y;
        possible_now &= !x;
    }
    if apart {
        return NEVER;
    }
    if possible_now {
        return first as u32;
    }
    let (mut from, mut until) = (first, end);
    for j in 0..6 {
        let k = (-band - c[j]) / s[j];
        if s[j] > 0.0 {
            from = from.max(k);
        } else if s[j] < 0.0 {
            until = until.min(k);
        }
    }
    let from = (from - 1e-3).ceil().max(first);
    if from > until + 1e-3 { NEVER } else { from as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_traits::testkit::SplitMix64;

    /// Walks random tracks and compares with the true state at every step.
    #[test]
    fn no_flip_happens_between_looks() {
        let mut random = SplitMix64(3);
        let (mut looks, mut flips, mut steps) = (0, 0, 0);
        for case in 0..30_000 {
            let scale = [1.0, 1e-3, 1e6][case % 3];
            let origin = random.vec3([0.0, 3.0, 100.0][case / 3 % 3]) * scale;
            let base = origin * [0.0, 1.0][case / 9 % 2];
            let mut make = || {
                let aabb = Aabb::from_center_half_extents(base + random.vec3(2.0) * scale, random.vec3(1.0) * scale);
                let slide = random.vec3(0.1) * scale;
                let moved = Aabb { min: aabb.min + slide, max: aabb.max + slide + random.vec3(0.01) * scale };
                let tol = (random.unit() * 0.05 * scale) as f32;
                let rate = rate_between(&aabb, &moved);
                (aabb, Track::new(&aabb, origin, rate, tol, 0, 16))
            };
            let (a, b) = (make(), make());
            let mut at = |(aabb, t): &(Aabb, Track), k: u32| {
                let w = random.vec3(1.0) * f64::from(t.tol) * if k == 0 { 0.0 } else { 0.99 };
                let r = t.rate.map(|r| f64::from(r) * f64::from(k));
                Aabb {
                    min: aabb.min - DVec3::new(r[0], r[1], r[2]) + w,
                    max: (aabb.max + DVec3::new(r[3], r[4], r[5]) - w),
                }
            };
            let mut overlap = |k: u32| {
                let (x, y) = (at(&a, k), at(&b, k));
                assert!(!x.is_valid() || k == 0 || a.1.swept_box(0, 16, origin).contains_box(&x));
                // The promise may be judged broken within rounding of its limit only.
                assert!(a.1.holds(&x, origin, k) || f64::from(a.1.tol) < 0.01 * scale);
                x.overlaps(&y)
            };
            let mut state = overlap(0);
            let (exact, mut look) = classify(&a.1, &b.1, 16, || state);
            assert_eq!(exact, state, "case {case}");
            assert_eq!(look, next_look(&a.1, &b.1, 0, 16, state));
            for k in 1..=16 {
                let now = overlap(k);
                steps += 1;
                if look == k {
                    flips += u32::from(now != state);
                    looks += 1;
                    state = now;
                    look = next_look(&a.1, &b.1, k, 16, state);
                }
                assert_eq!(now, state, "case {case}, step {k}");
                assert!(look > k);
            }
        }
        assert!(flips > 1000, "the test must meet flips: {flips}");
        assert!(looks * 3 < steps, "looks should be rare: {looks} of {steps}");
    }

    #[test]
    fn infinite_corners_keep_their_promise() {
        let half_space = Aabb { min: DVec3::NEG_INFINITY, max: DVec3::new(f64::INFINITY, f64::INFINITY, 0.0) };
        let o = DVec3::ZERO;
        let track = Track::new(&half_space, o, rate_between(&half_space, &half_space), 0.0, 0, 16);
        assert!(track.holds(&half_space, o, 5));
        assert!(!track.holds(&Aabb { max: DVec3::INFINITY, ..half_space }, o, 5));
        let unit = Aabb::from_center_half_extents(DVec3::ZERO, DVec3::ONE);
        let other = Track::new(&unit, o, [0.0; 6], 0.01, 0, 16);
        assert_eq!(next_look(&track, &other, 0, 16, true), NEVER);
    }
}
