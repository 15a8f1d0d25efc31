//! Depth of two smooth cores, from a polytope that has run out of vertices.
//!
//! # Reference
//! As in [`polish`](super::polish); Rockafellar 1976 for the proximal step.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `height` | h(n) = n · s(n), how far A − B reaches along n: never less than the depth |
//! | `a`, `b` | points of the cores that should span it: a − b = h n |
//! | `aside` | how far they fail to, metres |
//!
//! # Formula
//! ```text
//! lowest h(n), by Newton's method where h is smooth, else by   n ← argmin h(u) + s |u − n|² / 2
//! ```
//!
//! # Cost
//! Some 50 support queries by Newton; a GJK query for every proximal step, at most a hundred of these in a round.
//!
//! # Numerics
//! h is known to rounding ρ, n therefore to its root only if GJK did not give both points: `aside` judges the answer,
//! not the change of h.
//!
//! # Failure
//! `None` if the best points fail by more than 1e-5 of the size: the support map is wrong by more than 1e-10 of it.
//!
//! # Tested by
//! `a_saddle_is_left_for_the_valley`, `tests/depth.rs`, `a_depth_with_nine_equal_directions_is_found`

use super::{
    core::{Cores, Difference},
    distance,
    polish::polish,
    simplex,
};
use sim_math::{glam::DVec3, ops};
use sim_traits::Separation;

/// Turns of Newton's method and of descent, and steps of one descent.
const ROUNDS: u32 = 3;
const STEPS: u32 = 100;
/// How far the points may fail to span the depth, of the size: where search ends, and at most.
const FINE: f64 = 1e-10;
const COARSE: f64 = 1e-5;

/// Depth of the cores, from the normals and offsets of a polytope inside A − B.
pub(super) fn depth(cores: &Cores<'_>, faces: impl Iterator<Item = (DVec3, f64)>) -> Option<Separation> {
    let mut best: Option<Candidate> = None;
    // Where a face is farther than the lowest direction known, no direction near its normal is lower.
    for (normal, offset) in faces.filter(|(_, offset)| *offset < f64::INFINITY) {
        if best.is_none_or(|b| offset < b.height) {
            let here = Candidate::at(cores, normal);
            best = best.filter(|b| b.height <= here.height).or(Some(here));
        }
    }
    let mut best = lowest_around(cores, best?);
    for _ in 0..ROUNDS {
        // Between mirror images of a valley the ground is level, too.
        let Some(lower) = lower_beside(cores, &best) else { break };
        best = lowest_around(cores, lower);
    }
    let (distance, normal) = (-best.height, -best.n);
    let middle = 0.5 * (best.a + best.b);
    let half = 0.5 * distance * normal;
    (best.aside <= COARSE * cores.size()).then_some(Separation {
        distance,
        normal,
        point_a: middle + half,
        point_b: middle - half,
    })
}

fn lowest_around(cores: &Cores<'_>, mut best: Candidate) -> Candidate {
    for _ in 0..ROUNDS {
        best = newton(cores, best.n).or(best, cores);
        if best.aside <= FINE * cores.size() {
            break;
        }
        best = descent(cores, best);
        if best.aside <= FINE * cores.size() {
            break;
        }
    }
    best
}

/// The lowest of some directions beside one, if it is lower.
fn lower_beside(cores: &Cores<'_>, best: &Candidate) -> Option<Candidate> {
    let (e1, e2) = best.n.any_orthonormal_pair();
    let mut lower = None;
    let mut least = best.height - FINE * cores.size();
    for angle in [1e-1, 1e-2, 1e-3] {
        for k in 0..16 {
            let (sin, cos) = ops::sin_cos(f64::from(k) * (std::f64::consts::TAU / 16.0));
            let here = Candidate::at(cores, (best.n + angle * (cos * e1 + sin * e2)).normalize());
            if here.height < least {
                (least, lower) = (here.height, Some(here));
            }
        }
    }
    lower
}

/// A direction, how far A − B reaches along it, and points that should span this height.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    n: DVec3,
    height: f64,
    a: DVec3,
    b: DVec3,
    aside: f64,
}

impl Candidate {
    fn at(cores: &Cores<'_>, n: DVec3) -> Self {
        let reached = cores.support(n);
        let height = n.dot(reached.w);
        Self { n, height, a: reached.a, b: reached.b, aside: (reached.w - height * n).length() }
    }

    /// The lower one; of equally low ones that whose points lie along the direction.
    fn or(self, other: Self, cores: &Cores<'_>) -> Self {
        let slack = FINE * cores.size();
        let lower = self.height < other.height - slack;
        if lower || (self.height <= other.height + slack && self.aside <= other.aside) { self } else { other }
    }
}

fn newton(cores: &Cores<'_>, start: DVec3) -> Candidate {
    let (n, _) = polish(cores, start);
    let mut best = Candidate::at(cores, n);
    let across = |p: &Difference| p.w - n.dot(p.w) * n;
    // Where a ridge or a flat part faces the direction, many points are equally far: find them by tilting a little.
    let (e1, e2) = n.any_orthonormal_pair();
    let tilted = [e1, -e1, e2, -e2].map(|e| cores.support(n + 1e-8 * e));
    for corners in [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]].map(|c| c.map(|i| tilted[i])) {
        if let Some(found) = simplex::nearest(&corners.map(|p| across(&p))) {
            let [u, v, w, _] = found.weights;
            let mix =
                |f: fn(&Difference) -> DVec3| u * f(&corners[0]) + v * f(&corners[1]) + w * f(&corners[2]);
            let (a, b) = (mix(|p| p.a), mix(|p| p.b));
            best = Candidate { a, b, aside: (a - b - best.height * n).length(), ..best }.or(best, cores);
        }
    }
    best
}

/// Moved apart along −n by s, the shapes are nearest along the direction u that minimises h(u) + s |u − n|² / 2: a
/// proximal step, which ridges do not stop. GJK gives it, with the points. Along a ridge that hardly falls the steps
/// are short. Where each is shorter by the same factor their sum is foreseen, where they grow they are doubled; the
/// next proximal step leads back to the ridge, and a height that rose is taken back.
fn descent(cores: &Cores<'_>, mut best: Candidate) -> Candidate {
    let (mut n, mut height) = (best.n, best.height);
    let (mut before, mut ahead, mut doubling): (Option<DVec3>, Option<DVec3>, bool) = (None, None, false);
    for _ in 0..STEPS {
        let from = (n + ahead.unwrap_or(DVec3::ZERO)).normalize();
        let shift = 1.05 * from.dot(cores.support(from).w).max(0.0) + 1e-3 * cores.size();
        let (a, b, v) = distance::closest_points(&cores.shifted(-shift * from), -from);
        let Some(next) = (-v).try_normalize() else { break };
        let h = next.dot(cores.support(next).w);
        let aside = (a - b - h * next).length();
        best = Candidate { n: next, height: h, a, b, aside }.or(best, cores);
        if best.aside <= FINE * cores.size() {
            break;
        }
        if ahead.is_some() && h > height {
            // Too far: the other way to foresee may do.
            (before, ahead, doubling) = (None, None, !doubling);
            continue;
        }
        let step = next - n;
        (n, height) = (next, h);
        ahead = match (ahead, before.take()) {
            (Some(_), _) => doubling.then_some(2.0 * step),
            (None, Some(last)) if step.dot(last) > 0.5 * last.length_squared() => {
                let factor = step.length() / last.length();
                doubling |= factor >= 1.0;
                Some(if doubling { 2.0 * step } else { step * (factor / (1.0 - factor)).min(1e5) })
            }
            _ => {
                before = Some(step);
                None
            }
        };
        ahead = ahead.map(|step| step.clamp_length_max(0.5));
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{super::core::Core, *};
    use crate::{relative::Frame, shapes::Ellipsoid};
    use sim_math::Pose;
    use sim_traits::Shape;

    #[test]
    fn a_saddle_is_left_for_the_valley() {
        let egg: Shape = Ellipsoid::new(DVec3::new(1.0, 2.0, 3.0)).unwrap().into();
        let core = Core::of(&egg).unwrap();
        let cores = Cores::new(core, core, Frame::from_pose(&Pose::IDENTITY));
        // Along y and z the ground is level.
        for level in [DVec3::Y, DVec3::Z] {
            let found = depth(&cores, [(level, 0.0)].into_iter()).unwrap();
            assert!((found.distance + 2.0).abs() < 1e-9 && found.normal.x.abs() > 1.0 - 1e-9, "{found:?}");
        }
    }
}
