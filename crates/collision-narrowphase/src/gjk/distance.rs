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
//! stop when v² − v·w ≤ ε v²:   then |v| exceeds the distance by at most (v² − v·w) / |v|
//! ```
//!
//! # Cost
//! A few support queries per digit for smooth cores, a few dozen in all for polyhedra. No allocation.
//!
//! # Numerics
//! ε = 1e-15; stops also when a support point repeats or v² has stalled; the simplex with the least gap
//! v² − v·w counts.
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

/// Closest points of the cores, and whether they are farther apart than `touch`.
pub(super) fn closest(cores: &Cores<'_>, start: DVec3, touch: f64) -> (Separation, bool) {
    let direction = if start.length_squared() > 0.0 { -start } else { DVec3::X };
    let mut simplex = [Difference::ZERO; 4];
    simplex[0] = cores.support(direction);
    let mut len = 1;
    let mut weights = [1.0, 0.0, 0.0, 0.0];
    let mut v = simplex[0].w;
    let mut apart = true;
    let mut best = (f64::INFINITY, simplex, len, weights, v);
    let mut stalls = 0;
    for _ in 0..MAX_ITERATIONS {
        let squared = v.length_squared();
        if squared <= touch * touch {
            apart = false;
            break;
        }
        let new = cores.support(-v);
        let gap = squared - v.dot(new.w);
        if gap < best.0 {
            best = (gap, simplex, len, weights, v);
        }
        if gap <= 1e-15 * squared || simplex[..len].iter().any(|s| s.w == new.w) {
            break;
        }
        let mut points = [DVec3::ZERO; 4];
        let mut candidate = simplex;
        candidate[len] = new;
        for (p, s) in points.iter_mut().zip(&candidate) {
            *p = s.w;
        }
        let Some(found) = simplex::nearest(&points[..=len]) else {
            // The origin is inside: any combination that gives it is a common point of both cores.
            (simplex, len, weights, v) = (candidate, 4, simplex::inside(&points), DVec3::ZERO);
            apart = false;
            break;
        };
        // Half the digits of v's direction are below the last digit of v²: go on a little when v² stalls.
        if found.squared >= squared {
            stalls += 1;
            if stalls > 8 || found.squared > squared * (1.0 + 1e-12) {
                break;
            }
        }
        // Keep the corners that carry the closest point.
        let mut kept = 0;
        for (corner, weight) in candidate[..=len].iter().zip(found.weights) {
            if weight > 0.0 {
                (simplex[kept], weights[kept]) = (*corner, weight);
                kept += 1;
            }
        }
        len = kept.clamp(1, 3);
        v = found.v;
    }
    if apart && best.0 < f64::INFINITY {
        (_, simplex, len, weights, v) = best;
    }
    let mut point_a = DVec3::ZERO;
    let mut point_b = DVec3::ZERO;
    for (s, weight) in simplex[..len].iter().zip(weights) {
        point_a += weight * s.a;
        point_b += weight * s.b;
    }
    let distance = v.length();
    let normal = if distance > 0.0 { v / distance } else { DVec3::Z };
    // v has the better direction, the points the better place.
    let middle = 0.5 * (point_a + point_b);
    let separation = Separation {
        distance,
        normal,
        point_a: middle + 0.5 * distance * normal,
        point_b: middle - 0.5 * distance * normal,
    };
    (separation, apart)
}
