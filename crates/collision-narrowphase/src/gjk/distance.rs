//! GJK: distance of two convex cores.
//!
//! # Reference
//! Gilbert, Johnson, Keerthi 1988; van den Bergen 2003 for the stopping rules.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `v` | point of the simplex nearest to the origin, in A − B |
//! | `w` | support point of A − B along −v |
//!
//! # Formula
//! ```text
//! stop when v·(s − w) ≤ ε |v| |s − w| for the corner s nearest to w:   |v| exceeds the distance by at most v·(s − w) / |v|
//! ```
//!
//! # Cost
//! A few support queries per digit for smooth cores, a few dozen in all for polyhedra. No allocation.
//!
//! # Numerics
//! ε = 1e-16, which a repeated support point meets; stops also when v² has stalled; the simplex with the least gap
//! counts. Short gaps are found a second time with the cores moved apart.
//!
//! # Failure
//! None: after the last iteration the best simplex counts.
//!
//! # Tested by
//! `tests/hostile.rs`, `tests/conformance.rs`

use super::{
    core::{Cores, Difference},
    simplex::{self, Nearest},
};
use sim_math::glam::DVec3;
use sim_traits::Separation;

const MAX_ITERATIONS: u32 = 200;
const FEW_ITERATIONS: u32 = 6;
const EPSILON: f64 = 1e-16;

/// Points of A − B whose mixture is nearest to the origin.
#[derive(Debug, Clone, Copy)]
struct Mixture {
    corners: [Difference; 4],
    weights: [f64; 4],
    len: usize,
    v: DVec3,
}

impl Mixture {
    const EMPTY: Self = Self { corners: [Difference::ZERO; 4], weights: [0.0; 4], len: 0, v: DVec3::ZERO };

    fn begin(&mut self, corner: Difference) {
        (self.corners[0], self.weights[0], self.len, self.v) = (corner, 1.0, 1, corner.w);
    }

    /// Leaves those corners, of these and the one after them, that carry the closest point.
    fn carry(&mut self, found: &Nearest) {
        let mut kept = 0;
        for k in 0..=self.len {
            if found.weights[k] > 0.0 {
                (self.corners[kept], self.weights[kept]) = (self.corners[k], found.weights[k]);
                kept += 1;
            }
        }
        (self.len, self.v) = (kept.clamp(1, 3), found.v);
    }

    /// The same into another mixture.
    fn carry_to(&self, found: &Nearest, into: &mut Self) {
        let mut kept = 0;
        for (corner, weight) in self.corners[..=self.len].iter().zip(found.weights) {
            if weight > 0.0 {
                (into.corners[kept], into.weights[kept]) = (*corner, weight);
                kept += 1;
            }
        }
        (into.len, into.v) = (kept.clamp(1, 3), found.v);
    }

    /// The points of A and of B.
    fn points(&self) -> (DVec3, DVec3) {
        let (mut point_a, mut point_b) = (DVec3::ZERO, DVec3::ZERO);
        for (s, weight) in self.corners[..self.len].iter().zip(self.weights) {
            point_a += weight * s.a;
            point_b += weight * s.b;
        }
        (point_a, point_b)
    }

    fn separation(&self) -> Separation {
        let (point_a, point_b) = self.points();
        let distance = self.v.length();
        let normal = if distance > 0.0 { self.v / distance } else { DVec3::Z };
        // v has the better direction, the points the better place.
        let middle = 0.5 * (point_a + point_b);
        let half = 0.5 * distance * normal;
        Separation { distance, normal, point_a: middle + half, point_b: middle - half }
    }
}

/// Closest points of the cores, and whether they are farther apart than `touch`.
pub(super) fn closest(cores: &Cores<'_>, start: DVec3, touch: f64) -> (Separation, bool) {
    closest_within(cores, start, touch, f64::INFINITY)
}

/// The same after a few steps: where a search on smooth cores has come before it gets slow.
pub(super) fn rough(cores: &Cores<'_>, start: DVec3, touch: f64) -> (Separation, bool) {
    let mut pair = Pair::EMPTY;
    let apart = descend(cores, start, touch, f64::INFINITY, FEW_ITERATIONS, &mut pair);
    (pair.found().separation(), apart)
}

/// The same for cores that matter only up to `limit` metres apart: what is returned for others is just farther apart
/// than that, by a margin above rounding.
pub(super) fn closest_within(cores: &Cores<'_>, start: DVec3, touch: f64, limit: f64) -> (Separation, bool) {
    let mut pair = Pair::EMPTY;
    let apart = descend(cores, start, touch, limit + 10.0 * touch, MAX_ITERATIONS, &mut pair);
    (pair.found().separation(), apart)
}

/// The same with the two points as they are: their difference is along the normal only as far as rounding lets it.
pub(super) fn closest_points(cores: &Cores<'_>, start: DVec3) -> (DVec3, DVec3, DVec3) {
    let mut pair = Pair::EMPTY;
    descend(cores, start, 0.0, f64::INFINITY, MAX_ITERATIONS, &mut pair);
    let found = pair.found();
    let (point_a, point_b) = found.points();
    (point_a, point_b, found.v)
}

/// Closest points of cores that are a short gap apart, of which `guess` has a normal that is nearly right.
///
/// Along a gap of d the corners of A − B stand at angles known to rounding / d only, and descent goes astray. Moved
/// apart by `shift` metres along the normal the same corners are nearest, and their mixture at the true place is what
/// is wanted. `None` if that is no shorter than the guess.
pub(super) fn closest_of_near(cores: &Cores<'_>, guess: &Separation, shift: f64) -> Option<Separation> {
    let apart = cores.shifted(shift * guess.normal);
    let mut pair = Pair::EMPTY;
    descend(&apart, guess.normal, 0.0, f64::INFINITY, MAX_ITERATIONS, &mut pair);
    let far = *pair.found();
    let points = far.corners.map(|c| c.a - c.b);
    let found = simplex::nearest(&points[..far.len])?;
    let near = Mixture { weights: found.weights, v: found.v, ..far }.separation();
    (near.distance < guess.distance).then_some(near)
}

/// Two mixtures that take turns, so that the best one need not be copied at every step.
struct Pair {
    mixtures: [Mixture; 2],
    /// Which one is the result.
    index: usize,
}

impl Pair {
    const EMPTY: Self = Self { mixtures: [Mixture::EMPTY; 2], index: 0 };

    fn found(&self) -> &Mixture {
        &self.mixtures[self.index]
    }
}

/// The closest points in `pair`, and whether they are farther apart than `touch`. Ends early where a plane between the cores
/// shows that they are farther apart than `limit`.
fn descend(cores: &Cores<'_>, start: DVec3, touch: f64, limit: f64, most: u32, pair: &mut Pair) -> bool {
    let direction = if start.length_squared() > 0.0 { -start } else { DVec3::X };
    let Pair { mixtures: [first, second], index } = pair;
    // The mixture at hand and the best one before it, of which `swapped` tells the places.
    let (mut now, mut held) = (first, second);
    let mut swapped = false;
    now.begin(cores.support(direction));
    let mut least = f64::INFINITY;
    let mut stalls = 0;
    let limit = limit * limit * (1.0 + 1e-9);
    for _ in 0..most {
        let squared = now.v.length_squared();
        if squared <= touch * touch {
            *index = usize::from(swapped);
            return false;
        }
        let new = cores.support(-now.v);
        // v² − v·w through the nearest corner, at which v·s = v²: the difference of corners has digits that products lose.
        let near = nearest_corner(&now.corners[..now.len], new.w);
        let gap = now.v.dot(near - new.w);
        // The first is better than none, also if it is not a number.
        let better = gap < least || least == f64::INFINITY;
        if better {
            least = gap;
        }
        *index = usize::from(swapped == better);
        if gap <= EPSILON * squared.sqrt() * (near - new.w).length() {
            return true;
        }
        let along = now.v.dot(new.w);
        if along > 0.0 && along * along > limit * squared {
            *index = usize::from(swapped);
            return true;
        }
        now.corners[now.len] = new;
        let points = now.corners.map(|c| c.w);
        let Some(found) = simplex::nearest(&points[..=now.len]) else {
            // The origin is inside: any combination that gives it is a common point of both cores.
            (now.weights, now.len, now.v) = (simplex::inside(&points), 4, DVec3::ZERO);
            *index = usize::from(swapped);
            return false;
        };
        // Half the digits of v's direction are below the last digit of v²: go on a little when v² stalls.
        if found.squared >= squared {
            stalls += 1;
            if stalls > 16 || found.squared > squared * (1.0 + 1e-12) {
                return true;
            }
        }
        if better {
            now.carry_to(&found, held);
            std::mem::swap(&mut now, &mut held);
            swapped = !swapped;
        } else {
            now.carry(&found);
        }
    }
    *index = usize::from(!swapped);
    true
}

fn nearest_corner(simplex: &[Difference], w: DVec3) -> DVec3 {
    let mut best = (DVec3::ZERO, f64::INFINITY);
    for s in simplex {
        let squared = (s.w - w).length_squared();
        if squared < best.1 {
            best = (s.w, squared);
        }
    }
    best.0
}
