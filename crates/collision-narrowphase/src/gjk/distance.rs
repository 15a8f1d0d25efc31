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
    simplex,
};
use sim_math::glam::DVec3;
use sim_traits::Separation;

const MAX_ITERATIONS: u32 = 200;
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
    let (found, apart) = descend(cores, start, touch);
    (found.separation(), apart)
}

/// The same with the two points as they are: their difference is along the normal only as far as rounding lets it.
pub(super) fn closest_points(cores: &Cores<'_>, start: DVec3) -> (DVec3, DVec3, DVec3) {
    let found = descend(cores, start, 0.0).0;
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
    let (far, _) = descend(&apart, guess.normal, 0.0);
    let points = far.corners.map(|c| c.a - c.b);
    let found = simplex::nearest(&points[..far.len])?;
    let near = Mixture { weights: found.weights, v: found.v, ..far }.separation();
    (near.distance < guess.distance).then_some(near)
}

fn descend(cores: &Cores<'_>, start: DVec3, touch: f64) -> (Mixture, bool) {
    let direction = if start.length_squared() > 0.0 { -start } else { DVec3::X };
    let mut simplex = [Difference::ZERO; 4];
    simplex[0] = cores.support(direction);
    let mut now = Mixture { corners: simplex, weights: [1.0, 0.0, 0.0, 0.0], len: 1, v: simplex[0].w };
    let mut best = (f64::INFINITY, now);
    let mut stalls = 0;
    for _ in 0..MAX_ITERATIONS {
        let squared = now.v.length_squared();
        if squared <= touch * touch {
            return (now, false);
        }
        let new = cores.support(-now.v);
        // v² − v·w through the nearest corner, at which v·s = v²: the difference of corners has digits that products lose.
        let near = nearest_corner(&now.corners[..now.len], new.w);
        let gap = now.v.dot(near - new.w);
        if gap < best.0 {
            best = (gap, now);
        }
        if gap <= EPSILON * squared.sqrt() * (near - new.w).length() {
            break;
        }
        let mut candidate = now.corners;
        candidate[now.len] = new;
        let points = candidate.map(|c| c.w);
        let Some(found) = simplex::nearest(&points[..=now.len]) else {
            // The origin is inside: any combination that gives it is a common point of both cores.
            let weights = simplex::inside(&points);
            return (Mixture { corners: candidate, weights, len: 4, v: DVec3::ZERO }, false);
        };
        // Half the digits of v's direction are below the last digit of v²: go on a little when v² stalls.
        if found.squared >= squared {
            stalls += 1;
            if stalls > 16 || found.squared > squared * (1.0 + 1e-12) {
                break;
            }
        }
        // Keep the corners that carry the closest point.
        let mut kept = 0;
        for (corner, weight) in candidate[..=now.len].iter().zip(found.weights) {
            if weight > 0.0 {
                (now.corners[kept], now.weights[kept]) = (*corner, weight);
                kept += 1;
            }
        }
        now.len = kept.clamp(1, 3);
        now.v = found.v;
    }
    if best.0 < f64::INFINITY { (best.1, true) } else { (now, true) }
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
