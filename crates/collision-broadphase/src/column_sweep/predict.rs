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
//! Tracks are `f32` relative to an origin near the boxes, 64 bytes, one cache line, in lanes of four. A promise
//! is checked with `tol`, at least 2e-6 of the largest coordinate or way; pairs are scheduled with `band`, larger
//! by 1e-6 of it: more than all rounding (a check and the share of a pair err by less than 6e-7 together), so an
//! unsure state is never taken for a sure one. Far from the origin (1e9 of a box size) certificates get weak
//! and pairs are looked at more often; the result is the same.
//! Infinite corners have rate 0; a comparison with NaN (sum of opposite infinities) makes the state unsure.
//! A track moved to a later origin of time is the same line: its new start is the very number that the check at
//! that step has compared with.
//!
//! # Failure
//! A broken promise is normal and reported by [`Track::holds`].
//!
//! # Tested by
//! `no_flip_happens_between_looks`, `infinite_corners_keep_their_promise`.

use super::columns::Fat;
use sim_math::{Aabb, glam::DVec3};

/// Motion of a box in the present window: lanes x, y, z of the lower corner (negated, so that a gap is a sum), then
/// of the upper corner.
///
/// The fourth lanes of `start` hold the certainty band and those of `rate` the promised deviation, which is not
/// negative: in the sum of two tracks the fourth lane starts as the band of the pair, and along the way it passes
/// every comparison with it.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Track {
    start: [Lanes; 2],
    pub(super) rate: [Lanes; 2],
}

type Lanes = [f32; 4];

/// Rates of the six corner coordinates, in the lanes of a track.
pub(super) type Rate = [Lanes; 2];

/// Never in this window.
pub(super) const NEVER: u32 = u32::MAX;

#[inline]
fn lanes(f: impl FnMut(usize) -> f32) -> Lanes {
    std::array::from_fn(f)
}

/// `x + k y` by lanes.
#[inline]
fn along(x: &Lanes, k: f32, y: &Lanes) -> Lanes {
    [x[0] + k * y[0], x[1] + k * y[1], x[2] + k * y[2], x[3] + k * y[3]]
}

#[inline]
fn all_at_least(x: &Lanes, limit: f32) -> bool {
    (x[0] >= limit) & (x[1] >= limit) & (x[2] >= limit) & (x[3] >= limit)
}

#[inline]
fn any_below(x: &Lanes, limit: f32) -> bool {
    (x[0] < limit) | (x[1] < limit) | (x[2] < limit) | (x[3] < limit)
}

/// Corners relative to `origin`, lower one negated; the fourth lanes are zero.
#[inline]
fn corners(aabb: &Aabb, origin: DVec3) -> [Lanes; 2] {
    let (lo, hi) = (origin - aabb.min, aabb.max - origin);
    [[lo.x as f32, lo.y as f32, lo.z as f32, 0.0], [hi.x as f32, hi.y as f32, hi.z as f32, 0.0]]
}

/// Change of the corners per step, from two boxes one step apart; 0 where it is not a usable number.
#[inline]
pub(super) fn rate_between(old: &Aabb, new: &Aabb) -> Rate {
    let (lo, hi) = (old.min - new.min, new.max - old.max);
    let usable = |d: f64| if d.abs() < 1e30 { d as f32 } else { 0.0 };
    [[usable(lo.x), usable(lo.y), usable(lo.z), 0.0], [usable(hi.x), usable(hi.y), usable(hi.z), 0.0]]
}

/// Largest difference of two rates.
#[inline]
pub(super) fn turn(a: &Rate, b: &Rate) -> f32 {
    let d = |h: usize| lanes(|i| (a[h][i] - b[h][i]).abs());
    let (x, y) = (d(0), d(1));
    let m = lanes(|i| if x[i] > y[i] { x[i] } else { y[i] });
    m[0].max(m[1]).max(m[2])
}

impl Track {
    pub(super) const REST: Self = Self { start: [[0.0; 4]; 2], rate: [[0.0; 4]; 2] };

    /// A promise that begins with `aabb` at step `now` (before or after step 0) and is used up to step `last`.
    #[inline]
    pub(super) fn new(aabb: &Aabb, origin: DVec3, rate: Rate, tol: f32, now: i32, last: u32) -> Self {
        let mut track = Self { start: corners(aabb, origin), rate };
        debug_assert!(rate.iter().flatten().all(|r| r.is_finite()), "{rate:?}");
        for (x, rate) in track.start.iter().flatten().zip(track.rate.iter_mut().flatten()) {
            if x.abs() >= 1e30 {
                *rate = 0.0;
            }
        }
        if now != 0 {
            for h in 0..2 {
                track.start[h] = along(&track.start[h], -(now as f32), &track.rate[h]);
            }
        }
        track.promise(tol, last.max(now.unsigned_abs()));
        track
    }

    /// Sets the deviation allowed, and the band, for use up to step `last`.
    #[inline]
    fn promise(&mut self, tol: f32, last: u32) {
        let way = 2.0 * last as f32;
        let size = |x: &Lanes, rate: &Lanes| {
            let s = lanes(|i| if x[i].abs() < 1e30 { x[i].abs() + way * rate[i].abs() } else { 0.0 });
            s[0].max(s[1]).max(s[2])
        };
        let largest = size(&self.start[0], &self.rate[0]).max(size(&self.start[1], &self.rate[1]));
        let tol = tol.max(2e-6 * largest);
        for h in 0..2 {
            self.start[h][3] = 1.001 * tol + 1e-6 * largest;
            self.rate[h][3] = tol;
        }
    }

    /// The same line for a window of `last` steps whose step 0 is step `by` of this one.
    #[inline]
    pub(super) fn later(&self, by: u32, last: u32) -> Self {
        let mut track = *self;
        if by > 0 {
            for h in 0..2 {
                track.start[h] = along(&self.start[h], by as f32, &self.rate[h]);
            }
        }
        track.promise(self.tol(), last);
        track
    }

    /// For a box that trembles at rest and is `aabb` at step `now`: the same place with less motion, moved and
    /// widened by a little more than needed if the box has left it; otherwise with the tolerance `tol`.
    pub(super) fn resting(
        &self,
        aabb: &Aabb,
        origin: DVec3,
        now: u32,
        tol: f32,
        speed: f32,
        last: u32,
    ) -> Self {
        let (c, k) = (corners(aabb, origin), now as f32);
        let (mut track, mut beyond) = (*self, 0.0_f32);
        for (h, corner) in c.iter().enumerate() {
            for (i, coordinate) in corner.iter().take(3).enumerate() {
                let p = self.start[h][i] + k * self.rate[h][i];
                let off = coordinate - p;
                let excess = (off.abs() - self.tol()).max(0.0);
                if excess < 1e30 {
                    beyond = beyond.max(excess);
                    track.rate[h][i] *= 0.7;
                    track.start[h][i] = p + 0.5 * excess.copysign(off) - k * track.rate[h][i];
                }
            }
        }
        track.promise(if beyond > 0.0 { self.tol() + 0.5 * beyond + 0.5 * speed } else { tol }, last);
        track
    }

    /// Deviation allowed to the box, metres.
    #[inline]
    pub(super) fn tol(&self) -> f32 {
        self.rate[0][3]
    }

    /// What rounding alone makes of [`tol`](Self::tol), metres.
    #[inline]
    pub(super) fn least_tol(&self) -> f32 {
        2.0 * (self.start[0][3] - 1.001 * self.rate[0][3])
    }

    /// Mean rate since step 0, if the box is `aabb` at step `now`.
    #[inline]
    pub(super) fn mean_rate(&self, aabb: &Aabb, origin: DVec3, now: u32) -> Rate {
        let (c, inv) = (corners(aabb, origin), 1.0 / now.max(1) as f32);
        [0, 1].map(|h| {
            let usable = |d: f32| if d.abs() < 1e30 { d * inv } else { 0.0 };
            let mut mean = lanes(|i| usable(c[h][i] - self.start[h][i]));
            mean[3] = 0.0;
            mean
        })
    }

    /// Distances of the corners from the line at step `k`; NaN where both are infinite.
    #[inline]
    fn off(&self, aabb: &Aabb, origin: DVec3, k: i32) -> [Lanes; 2] {
        let (c, k) = (corners(aabb, origin), k as f32);
        let apart =
            |x: &Lanes, y: Lanes| [(x[0] - y[0]).abs(), (x[1] - y[1]).abs(), (x[2] - y[2]).abs(), 0.0];
        [
            apart(&c[0], along(&self.start[0], k, &self.rate[0])),
            apart(&c[1], along(&self.start[1], k, &self.rate[1])),
        ]
    }

    /// Largest distance of a corner from the line at step `k`, metres.
    #[inline]
    pub(super) fn deviation(&self, aabb: &Aabb, origin: DVec3, k: i32) -> f32 {
        self.off(aabb, origin, k).iter().fold(0.0, |m, d| d[0].max(d[1]).max(d[2]).max(m))
    }

    /// True if the promise holds for `aabb` at step `k`.
    #[inline]
    pub(super) fn holds(&self, aabb: &Aabb, origin: DVec3, k: i32) -> bool {
        let (d, tol) = (self.off(aabb, origin, k), self.tol());
        // The NaN of equal infinities is a kept promise; the fourth lane says nothing.
        let broken = |d: &Lanes| (d[0] > tol) | (d[1] > tol) | (d[2] > tol);
        !(broken(&d[0]) | broken(&d[1]))
    }

    /// All places of the box from step `from` to step `to`, relative to the origin, in an order of axes.
    #[inline]
    pub(super) fn swept(&self, from: u32, to: u32, axes: [usize; 3]) -> Fat {
        let (from, to, band) = (from as f32, to as f32, self.start[0][3]);
        let far = [0, 1].map(|h: usize| {
            let (p, q) =
                (along(&self.start[h], from, &self.rate[h]), along(&self.start[h], to, &self.rate[h]));
            lanes(|i| band + if p[i] > q[i] { p[i] } else { q[i] })
        });
        Fat {
            lo: [-far[0][axes[0]], -far[0][axes[1]], -far[0][axes[2]]],
            hi: [far[1][axes[0]], far[1][axes[1]], far[1][axes[2]]],
        }
    }

    /// The same as a box in the world.
    pub(super) fn swept_box(&self, from: u32, to: u32, origin: DVec3) -> Aabb {
        let fat = self.swept(from, to, [0, 1, 2]);
        let pad = 1e-9 * origin.abs();
        let world = |x: [f32; 3]| DVec3::from(x.map(f64::from)) + origin;
        Aabb { min: world(fat.lo) - pad, max: world(fat.hi) + pad }
    }
}

/// The six gaps of a pair at step 0 and their change per step, and in the fourth lanes the band and zero.
#[inline]
fn gaps(a: &Track, b: &Track) -> ([Lanes; 2], [Lanes; 2]) {
    let add = |x: &Lanes, y: &Lanes| [x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]];
    let sum = |x: &[Lanes; 2], y: &[Lanes; 2]| [add(&x[0], &y[1]), add(&x[1], &y[0])];
    (sum(&a.start, &b.start), sum(&a.rate, &b.rate))
}

/// State of a pair at step 0, as far as it is sure, and the step of the next look: 0 if it is not.
#[inline]
pub(super) fn classify(a: &Track, b: &Track, last: u32) -> (bool, u32) {
    let (c, s) = gaps(a, b);
    let (band, end) = (c[0][3], last as f32);
    if all_at_least(&c[0], band) & all_at_least(&c[1], band) {
        let then = [along(&c[0], end, &s[0]), along(&c[1], end, &s[1])];
        if all_at_least(&then[0], band) & all_at_least(&then[1], band) {
            return (true, NEVER);
        }
        return (true, next_unsure(&c, &s, 1, last, true));
    }
    if any_below(&c[0], -band) | any_below(&c[1], -band) {
        return (false, next_unsure(&c, &s, 1, last, false));
    }
    (false, 0)
}

/// First step after `now`, up to `last`, at which the state `overlap` of the pair is not sure.
#[inline]
pub(super) fn next_look(a: &Track, b: &Track, now: u32, last: u32, overlap: bool) -> u32 {
    if now >= last {
        return NEVER;
    }
    let (c, s) = gaps(a, b);
    next_unsure(&c, &s, now + 1, last, overlap)
}

fn next_unsure(c: &[Lanes; 2], s: &[Lanes; 2], first: u32, last: u32, overlap: bool) -> u32 {
    let (band, from, to) = (c[0][3], first as f32, last as f32);
    let at = |k: f32| [along(&c[0], k, &s[0]), along(&c[1], k, &s[1])];
    let (now, then) = (at(from), at(to));
    if overlap {
        if !(all_at_least(&now[0], band) & all_at_least(&now[1], band)) {
            return first;
        }
        if all_at_least(&then[0], band) & all_at_least(&then[1], band) {
            return NEVER;
        }
        let mut until = to;
        for (c, s) in c.iter().flatten().zip(s.iter().flatten()) {
            if *s < 0.0 {
                until = until.min((band - c) / s);
            }
        }
        return ((until - 1e-3).max(from - 1.0) as u32 + 1).min(last);
    }
    // Separated on one side all the time, the common case of boxes that pass each other.
    let lost = |x: &Lanes, y: &Lanes| (0..4).fold(false, |any, i| any | ((x[i] < -band) & (y[i] < -band)));
    if lost(&now[0], &then[0]) | lost(&now[1], &then[1]) {
        return NEVER;
    }
    if !(any_below(&now[0], -band) | any_below(&now[1], -band)) {
        return first;
    }
    let (mut begin, mut until) = (from, to);
    for (c, s) in c.iter().flatten().zip(s.iter().flatten()) {
        let k = (-band - c) / s;
        if *s > 0.0 {
            begin = begin.max(k);
        } else if *s < 0.0 {
            until = until.min(k);
        }
    }
    let begin = (begin - 1e-3).ceil().max(from);
    if begin > until + 1e-3 { NEVER } else { begin as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_traits::testkit::SplitMix64;

    /// Walks random tracks and compares with the true state at every step.
    #[test]
    fn no_flip_happens_between_looks() {
        let mut random = SplitMix64(3);
        let (mut looks, mut flips, mut steps, mut unsure) = (0, 0, 0, 0);
        for case in 0..30_000 {
            let scale = [1.0, 1e-3, 1e6][case % 3];
            let origin = random.vec3([0.0, 3.0, 100.0][case / 3 % 3]) * scale;
            let base = origin * [0.0, 1.0][case / 9 % 2];
            let mut make = || {
                let aabb =
                    Aabb::from_center_half_extents(base + random.vec3(2.0) * scale, random.vec3(1.0) * scale);
                let slide = random.vec3(0.1) * scale;
                let moved = Aabb { min: aabb.min + slide, max: aabb.max + slide + random.vec3(0.01) * scale };
                let tol = (random.unit() * 0.05 * scale) as f32;
                let rate = rate_between(&aabb, &moved);
                (aabb, Track::new(&aabb, origin, rate, tol, 0, 16))
            };
            let (a, b) = (make(), make());
            let mut at = |(aabb, t): &(Aabb, Track), k: u32| {
                let w = random.vec3(1.0) * f64::from(t.tol()) * if k == 0 { 0.0 } else { 0.99 };
                let way = |r: Lanes| DVec3::new(r[0].into(), r[1].into(), r[2].into()) * f64::from(k);
                Aabb { min: aabb.min - way(t.rate[0]) + w, max: aabb.max + way(t.rate[1]) - w }
            };
            let mut overlap = |k: u32| {
                let (x, y) = (at(&a, k), at(&b, k));
                assert!(!x.is_valid() || k == 0 || a.1.swept_box(0, 16, origin).contains_box(&x));
                // The promise may be judged broken within rounding of its limit only.
                assert!(a.1.holds(&x, origin, k as i32) || f64::from(a.1.tol()) < 0.01 * scale);
                x.overlaps(&y)
            };
            let mut state = overlap(0);
            let (sure, mut look) = classify(&a.1, &b.1, 16);
            if look == 0 {
                unsure += 1;
                look = next_look(&a.1, &b.1, 0, 16, state);
            } else {
                assert_eq!(sure, state, "case {case}");
                assert_eq!(look, next_look(&a.1, &b.1, 0, 16, state));
            }
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
        assert!(unsure > 100 && unsure < 10_000, "{unsure}");
        assert!(looks * 3 < steps, "looks should be rare: {looks} of {steps}");
    }

    #[test]
    fn infinite_corners_keep_their_promise() {
        let half_space =
            Aabb { min: DVec3::NEG_INFINITY, max: DVec3::new(f64::INFINITY, f64::INFINITY, 0.0) };
        let o = DVec3::ZERO;
        let track = Track::new(&half_space, o, rate_between(&half_space, &half_space), 0.0, 0, 16);
        assert!(track.holds(&half_space, o, 5));
        assert!(!track.holds(&Aabb { max: DVec3::INFINITY, ..half_space }, o, 5));
        let unit = Aabb::from_center_half_extents(DVec3::ZERO, DVec3::ONE);
        let other = Track::new(&unit, o, [[0.0; 4]; 2], 0.01, 0, 16);
        assert_eq!(next_look(&track, &other, 0, 16, true), NEVER);
    }
}
