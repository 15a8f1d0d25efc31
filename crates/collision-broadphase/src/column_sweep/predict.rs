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
//! `tol` is at least 1e-13 of the largest coordinate and way, `T` has 10 % to spare, and steps are taken early by 1e-6
//! steps: rounding cannot turn an unsure state into a sure one. Infinite corners have rate 0; a comparison
//! with NaN (difference of equal infinities) makes the state unsure, never sure.
//!
//! # Failure
//! A broken promise is normal and reported by [`Track::holds`].
//!
//! # Tested by
//! `no_flip_happens_between_looks`, `infinite_corners_keep_their_promise`.

use sim_math::Aabb;

/// Motion of a box in the present window. Lower corners are negated, so that a gap is a sum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Track {
    pub(super) start: [f64; 6],
    pub(super) rate: [f64; 6],
    pub(super) tol: f64,
    /// Last step in which the box was given anew.
    pub(super) touched: u32,
}

/// Never in this window.
pub(super) const NEVER: u32 = u32::MAX;

/// Corners, lower ones negated.
#[inline]
fn corners(aabb: &Aabb) -> [f64; 6] {
    let (lo, hi) = (aabb.min, aabb.max);
    [-lo.x, -lo.y, -lo.z, hi.x, hi.y, hi.z]
}

/// Change of the corners per step, from two boxes one step apart; 0 where it is not a number.
#[inline]
pub(super) fn rate_between(old: &Aabb, new: &Aabb) -> [f64; 6] {
    let (old, new) = (corners(old), corners(new));
    let mut rate = [0.0; 6];
    for j in 0..6 {
        let d = new[j] - old[j];
        rate[j] = if d.abs() < 1e100 { d } else { 0.0 };
    }
    rate
}

impl Track {
    pub(super) const REST: Self = Self { start: [0.0; 6], rate: [0.0; 6], tol: 0.0, touched: 0 };

    /// A promise that begins with `aabb` at step `now` and is used up to step `last`.
    pub(super) fn new(aabb: &Aabb, rate: [f64; 6], tol: f64, now: u32, last: u32) -> Self {
        let (mut start, mut rate) = (corners(aabb), rate);
        let mut largest = 0.0_f64;
        let (now, last) = (f64::from(now), f64::from(last.max(now)));
        for j in 0..6 {
            if start[j].is_finite() {
                largest = largest.max(start[j].abs() + 2.0 * last * rate[j].abs());
                start[j] -= now * rate[j];
            } else {
                rate[j] = 0.0;
            }
        }
        Self { start, rate, tol: tol.max(1e-13 * largest), touched: 0 }
    }

    /// True if the promise holds for `aabb` at step `k`.
    #[inline]
    pub(super) fn holds(&self, aabb: &Aabb, k: u32) -> bool {
        let c = corners(aabb);
        let k = f64::from(k);
        let mut broken = false;
        for j in 0..6 {
            // The NaN of equal infinities is a kept promise.
            broken |= (c[j] - (self.start[j] + k * self.rate[j])).abs() > self.tol;
        }
        !broken
    }

    /// All places of the box from step `from` to step `to`.
    #[inline]
    pub(super) fn swept(&self, from: u32, to: u32) -> Aabb {
        let (from, to, tol) = (f64::from(from), f64::from(to), 1.1 * self.tol);
        let far = |j: usize| {
            let (p, q) = (self.start[j] + from * self.rate[j], self.start[j] + to * self.rate[j]);
            tol + if p > q { p } else { q }
        };
        Aabb { min: [-far(0), -far(1), -far(2)].into(), max: [far(3), far(4), far(5)].into() }
    }
}

/// The six gaps of a pair at step 0, and their change per step.
#[inline]
fn gaps(a: &Track, b: &Track) -> ([f64; 6], [f64; 6]) {
    let (mut c, mut s) = ([0.0; 6], [0.0; 6]);
    for j in 0..3 {
        c[j] = a.start[j] + b.start[j + 3];
        c[j + 3] = a.start[j + 3] + b.start[j];
        s[j] = a.rate[j] + b.rate[j + 3];
        s[j + 3] = a.rate[j + 3] + b.rate[j];
    }
    (c, s)
}

#[inline]
fn band(a: &Track, b: &Track) -> f64 {
    1.1 * (a.tol + b.tol)
}

/// State at step 0 of two tracks that began at step 0, and the step of the next look. `None`: not decidable
/// from the gaps (infinite corners).
#[inline]
pub(super) fn classify(a: &Track, b: &Track, last: u32) -> Option<(bool, u32)> {
    let (c, s) = gaps(a, b);
    let (band, end) = (band(a, b), f64::from(last));
    let (mut sure, mut overlap, mut apart) = (true, true, false);
    for j in 0..6 {
        sure &= (c[j] >= band) & (c[j] + end * s[j] >= band);
        overlap &= c[j] >= 0.0;
        apart |= c[j] < 0.0;
    }
    if sure {
        return Some((true, NEVER));
    }
    if !overlap && !apart {
        return None;
    }
    let due = if overlap {
        next_unsure_overlap(&c, &s, band, 1.0, end)
    } else {
        next_possible(&c, &s, band, 1.0, end)
    };
    Some((overlap, due))
}

/// First step after `now`, up to `last`, at which the state `overlap` of the pair is not sure.
#[inline]
pub(super) fn next_look(a: &Track, b: &Track, now: u32, last: u32, overlap: bool) -> u32 {
    if now >= last {
        return NEVER;
    }
    let (c, s) = gaps(a, b);
    let (band, first, end) = (band(a, b), f64::from(now + 1), f64::from(last));
    if overlap {
        next_unsure_overlap(&c, &s, band, first, end)
    } else {
        next_possible(&c, &s, band, first, end)
    }
}

fn next_unsure_overlap(c: &[f64; 6], s: &[f64; 6], band: f64, first: f64, end: f64) -> u32 {
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
    ((until - 1e-6).max(first - 1.0) as u32 + 1).min(end as u32)
}

fn next_possible(c: &[f64; 6], s: &[f64; 6], band: f64, first: f64, end: f64) -> u32 {
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
    let from = (from - 1e-6).ceil().max(first);
    if from > until + 1e-6 { NEVER } else { from as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::glam::DVec3;
    use sim_traits::testkit::SplitMix64;

    /// Walks random tracks and compares with the true state at every step.
    #[test]
    fn no_flip_happens_between_looks() {
        let mut random = SplitMix64(3);
        let (mut looks, mut flips, mut steps) = (0, 0, 0);
        for case in 0..20_000 {
            let scale = [1.0, 1e-3, 1e6][case % 3];
            let mut make = || {
                let base = random.vec3(2.0) * scale;
                let aabb = Aabb::from_center_half_extents(base, random.vec3(1.0) * scale);
                let tol = random.unit() * 0.05 * scale;
                let mut moved = aabb;
                moved.min += random.vec3(0.1) * scale;
                moved.max = moved.min.max(moved.max + random.vec3(0.1) * scale);
                (aabb, Track::new(&aabb, rate_between(&aabb, &moved), tol, 0, 16))
            };
            let ((_, a), (_, b)) = (make(), make());
            let at = |t: &Track, k: u32, wobble: DVec3| {
                let p = |j: usize| t.start[j] + f64::from(k) * t.rate[j];
                let w = wobble * t.tol * 0.999;
                Aabb {
                    min: -DVec3::new(p(0), p(1), p(2)) + w,
                    max: DVec3::new(p(3), p(4), p(5)) - w,
                }
            };
            let mut wobble = || random.vec3(1.0);
            let overlap = |x: &Aabb, y: &Aabb| x.overlaps(y);
            let mut state = overlap(&at(&a, 0, wobble()), &at(&b, 0, wobble()));
            let mut look = next_look(&a, &b, 0, 16, state);
            let (exact, due) = classify(&a, &b, 16).unwrap();
            let still = |t| at(t, 0, DVec3::ZERO);
            assert_eq!(exact, overlap(&still(&a), &still(&b)));
            assert_eq!(due, next_look(&a, &b, 0, 16, exact));
            for k in 1..=16 {
                let (x, y) = (at(&a, k, wobble()), at(&b, k, wobble()));
                assert!(a.holds(&x, k) && b.holds(&y, k));
                assert!(a.swept(0, 16).contains_box(&x) || !x.is_valid());
                let now = overlap(&x, &y);
                steps += 1;
                if look == k {
                    flips += u32::from(now != state);
                    looks += 1;
                    state = now;
                    look = next_look(&a, &b, k, 16, state);
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
        let track = Track::new(&half_space, rate_between(&half_space, &half_space), 0.0, 0, 16);
        assert!(track.holds(&half_space, 5));
        assert!(!track.holds(&Aabb { max: DVec3::INFINITY, ..half_space }, 5));
        let unit = Aabb::from_center_half_extents(DVec3::ZERO, DVec3::ONE);
        let other = Track::new(&unit, [0.0; 6], 0.01, 0, 16);
        assert_eq!(next_look(&track, &other, 0, 16, true), NEVER);
    }
}
