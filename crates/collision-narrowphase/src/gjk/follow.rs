//! Contact along a direction that is nearly known: the features near it give candidates, and the best is proven.
//!
//! # Reference
//! The support function h of A − B (see [`smooth`](super::smooth)); Newton's method on its stationary directions, as in
//! [`curved`](crate::curved). The proof is in [`certify`](super::certify).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `u` | unit direction out of A − B, from A to B |
//! | `w` | support point of A − B along u |
//! | `h` | u · w: the gap is −h, the depth h |
//! | `e` | direction of a straight line on A or B |
//! | `K` | change of w with u |
//!
//! # Formula
//! ```text
//! face: u = its normal     two lines: u = e1 × e2     one line: u ⊥ e,  (t·K t − h) δ = −t·w,  t = u × e
//! no line: (K − h 1) δ = −(w − h u) in the plane at right angles to u
//! ```
//!
//! # Cost
//! Two to six support points of A − B, and those of the proof.
//!
//! # Numerics
//! No candidate is a difference of nearly equal points, so that directions are exact however short the gap or the overlap is.
//!
//! # Failure
//! `None` where no candidate could be proven: the direction was too far off, or the overlap is deep.
//!
//! # Tested by
//! `soak_following_finds_what_searching_finds`

use super::{certify::proven, core::Cores};
use sim_math::glam::{DMat2, DVec2, DVec3};
use sim_traits::Separation;

/// Most steps of Newton's method.
const STEPS: u32 = 24;
/// What is left of a residual when it is rounding, of the size.
const EXACT: f64 = 1e-14;
/// Residual at which one more step is enough, of the size.
const DONE: f64 = 1e-9;
/// Most that a step may turn the direction.
const TURN: f64 = 0.3;

/// Closest or deepest points of the cores, near a direction from B to A.
pub(super) fn follow(cores: &Cores<'_>, normal: DVec3) -> Option<Separation> {
    let u = -normal.try_normalize()?;
    let (a, b, frame) = cores.parts();
    let w = cores.support(u).w;
    let h = u.dot(w);
    // No direction that is right reaches farther than a wrong one.
    let most = h + 1e-12 * cores.size();
    let try_along = |u: DVec3, along: Option<DVec3>| proven(cores, u, along, most);
    let near_a = a.near(u);
    if let Some(n) = near_a.face
        && let Some(found) = try_along(n, None)
    {
        return Some(found);
    }
    let near_b = b.near(frame.back(-u));
    if let Some(n) = near_b.face
        && let Some(found) = try_along(-frame.vector(n), None)
    {
        return Some(found);
    }
    // From the support point to where A − B should have a point.
    let (toward, slack) = (h * u - w, 1e-3 * cores.size());
    for e in near_a.lines() {
        for f in near_b.lines() {
            let f = frame.vector(*f);
            // That is s e − t f, if the point is on both lines.
            let cross = e.cross(f);
            let squared = cross.length_squared();
            let (s, t) = (toward.cross(f).dot(cross), toward.cross(*e).dot(cross));
            if s > -slack * squared
                && t > -slack * squared
                && let Some(n) = across_both(cores, u, *e, f)
                && let Some(found) = try_along(n, Some(*e))
            {
                return Some(found);
            }
        }
    }
    let of_a = near_a.lines().iter().map(|e| (*e, toward, true));
    let of_b = near_b.lines().iter().map(|f| (frame.vector(*f), -toward, false));
    for (e, toward, of_a) in of_a.chain(of_b) {
        if toward.dot(e) > -slack
            && let Some((n, e)) = across_one(cores, u, e, of_a)
            && let Some(found) = try_along(n, Some(e))
        {
            return Some(found);
        }
    }
    let (n, principal) = around(cores, u)?;
    try_along(n, Some(principal))
}

/// The direction at right angles to a line of A and one of B.
fn across_both(cores: &Cores<'_>, mut u: DVec3, mut e: DVec3, mut f: DVec3) -> Option<DVec3> {
    let (a, b, frame) = cores.parts();
    for _ in 0..STEPS {
        let cross = e.cross(f);
        let length = cross.length();
        if length < 1e-9 {
            return None;
        }
        let n = cross * (1.0_f64.copysign(cross.dot(u)) / length);
        if n.dot(u) < 0.9 {
            return None;
        }
        // Lines on cones turn with the direction.
        let slants = [a.slant(n), b.slant(frame.back(-n)).map(|f| frame.vector(f))];
        if slants == [None; 2] || (n - u).length_squared() < 1e-30 {
            return Some(n);
        }
        u = n;
        (e, f) = (slants[0].unwrap_or(e), slants[1].unwrap_or(f));
    }
    Some(u)
}

/// The direction at right angles to one line along which the points are the ends of no slope, and the line; it is A's or B's.
/// Steps that leave the interval in which the slope changes its sign are replaced by halving it.
fn across_one(cores: &Cores<'_>, u: DVec3, mut e: DVec3, of_a: bool) -> Option<(DVec3, DVec3)> {
    let (a, b, frame) = cores.parts();
    let slant = |u: DVec3| {
        if of_a { a.slant(u) } else { b.slant(frame.back(-u)).map(|e| frame.vector(e)) }
    };
    let mut u = (u - e.dot(u) * e).try_normalize()?;
    let (mut beyond, mut done) = ([None; 2], false);
    for _ in 0..STEPS {
        let t = u.cross(e);
        let s = cores.support(u);
        let slope = t.dot(s.w);
        if slope.abs() <= EXACT * cores.size() {
            return Some((u, e));
        }
        // On a cone the curvature is that of the place along the line.
        let along = e.dot(u.dot(s.w) * u - s.w);
        let slant_a = if of_a { a.slant_rate(u, t, s.a.z + along * e.z) } else { None };
        let (behind, aside) = (frame.back(-u), frame.back(t));
        let slant_b = if of_a {
            None
        } else {
            b.slant_rate(behind, aside, frame.point_back(s.b).z - along * frame.back(e).z)
        };
        let rate_a = slant_a.or_else(|| a.rate(u, t))?;
        let moved = rate_a + frame.vector(slant_b.or_else(|| b.rate(behind, aside))?);
        let stiffness = t.dot(moved) - u.dot(s.w);
        let step = if stiffness > 0.0 { (slope.abs() / stiffness).min(TURN) } else { TURN };
        let mut next = (u - step.copysign(slope) * t).normalize();
        let side = usize::from(slope > 0.0);
        beyond[side] = Some(u);
        if let Some(end) = beyond[1 - side]
            && t.dot(next - end) * slope < 0.0
        {
            next = (u + end).normalize();
        }
        u = next;
        if let Some(turned) = slant(u) {
            e = turned;
            u = (u - e.dot(u) * e).try_normalize()?;
        } else if slope.abs() <= DONE * cores.size() && stiffness > 0.1 * cores.size() {
            return Some((u, e));
        }
        done = slope.abs() <= DONE * cores.size();
    }
    // An interval that shrinks about a jump has another line.
    done.then_some((u, e))
}

/// The direction near `u` along which the points of A and B lie, and the one in which A − B is curved most there. Steps along which
/// A − B reaches farther are halved.
fn around(cores: &Cores<'_>, u: DVec3) -> Option<(DVec3, DVec3)> {
    let (a, b, frame) = cores.parts();
    let size = cores.size();
    let (mut u, mut principal) = (u, DVec3::ZERO);
    let mut w = cores.support(u).w;
    for _ in 0..STEPS {
        let h = u.dot(w);
        let (x, y) = u.any_orthonormal_pair();
        let aside = DVec2::new(x.dot(w), y.dot(w));
        if aside.length() <= EXACT * size {
            break;
        }
        let behind = frame.back(-u);
        let column = |t: DVec3| {
            let moved = a.rate(u, t)? + frame.vector(b.rate(behind, frame.back(t))?);
            Some(DVec2::new(x.dot(moved), y.dot(moved)) - h * DVec2::new(x.dot(t), y.dot(t)))
        };
        let m = DMat2::from_cols(column(x)?, column(y)?);
        let determinant = m.determinant();
        if !(determinant > 0.0 && m.x_axis.x > 0.0) {
            return None;
        }
        let (p, q, r) = (m.x_axis.x, 0.5 * (m.x_axis.y + m.y_axis.x), m.y_axis.y);
        let half = 0.5 * (p - r);
        let (c, s) = (half + (half * half + q * q).sqrt(), q);
        principal = if c.abs() + s.abs() > 1e-9 * (p + r) {
            c * x + s * y
        } else if p > r {
            x
        } else {
            y
        };
        let mut step = (m.inverse() * -aside).clamp_length_max(TURN);
        let mut halvings = 0;
        loop {
            let next = (u + step.x * x + step.y * y).normalize();
            let there = cores.support(next).w;
            let reach = next.dot(there);
            // Near the end the height no longer tells.
            if reach <= h || (there - reach * next).length_squared() < aside.length_squared() {
                (u, w) = (next, there);
                break;
            }
            halvings += 1;
            if halvings > 8 {
                return None;
            }
            step *= 0.5;
        }
    }
    Some((u, principal))
}

#[cfg(test)]
mod tests {
    use super::{super::core::Core, *};
    use crate::{
        Polyhedron,
        relative::Frame,
        shapes::{Ellipsoid, Frustum, Rounded},
    };
    use sim_math::{
        Pose,
        glam::DQuat,
        testkit::{SplitMix64, soak},
    };
    use sim_traits::{Capsule, Cuboid, Cylinder, Shape, Sphere};
    use std::{f64::consts::FRAC_PI_2, sync::Arc};

    fn shapes() -> Vec<Shape> {
        let half = DVec3::new(0.45, 0.4, 0.35);
        vec![
            Cuboid::new(half).unwrap().into(),
            Sphere::new(0.4).unwrap().into(),
            Capsule::new(0.3, 0.3).unwrap().into(),
            Cylinder::new(0.4, 0.4).unwrap().into(),
            Cylinder::new(0.05, 0.7).unwrap().into(),
            Cylinder::new(0.6, 0.03).unwrap().into(),
            Frustum::cone(0.5, 0.4).unwrap().into(),
            Frustum::new(0.5, 0.3, 0.4).unwrap().into(),
            Ellipsoid::new(DVec3::new(0.5, 0.4, 0.3)).unwrap().into(),
            Rounded::new(Arc::new(Polyhedron::cuboid(half).unwrap()), 0.05).unwrap().into(),
            Polyhedron::random(10, 1).unwrap().into(),
            Polyhedron::random(30, 2).unwrap().into(),
            Polyhedron::tube(0.4, 0.4, 9).unwrap().into(),
        ]
    }

    /// Any pose, and those in which faces are flush, axes parallel or one, rims on edges.
    fn pose(random: &mut SplitMix64) -> (DVec3, DVec3, DQuat) {
        let quarter = |random: &mut SplitMix64| FRAC_PI_2 * random.below(4) as f64;
        let (way, shift, turn) = match random.below(6) {
            0 | 1 => (random.unit_vec3(), random.vec3(0.3), random.unit_quat()),
            // On one axis, or beside it.
            2 => (DVec3::Z, DVec3::ZERO, DQuat::from_rotation_z(random.range(0.0, 6.3))),
            3 => (DVec3::Z, random.vec3(0.4), DQuat::from_rotation_z(quarter(random))),
            // On its side.
            4 => (
                DVec3::Z,
                random.vec3(0.4),
                DQuat::from_rotation_x(FRAC_PI_2) * DQuat::from_rotation_y(quarter(random)),
            ),
            _ => (DVec3::X, random.vec3(0.4), DQuat::from_rotation_y(random.range(0.0, 6.3))),
        };
        let tilt = [0.0, 1e-12, 1e-7, 1e-3][random.below(4)];
        (way, shift, (DQuat::from_scaled_axis(random.vec3(tilt)) * turn).normalize())
    }

    fn cores<'a>(a: &'a Shape, b: &'a Shape, pose: &Pose) -> Cores<'a> {
        Cores::new(Core::of(a).unwrap(), Core::of(b).unwrap(), Frame::from_pose(pose))
    }

    /// How well a fast answer stands beside the slow one, and on its own: distance, gap along the normal, witnesses.
    fn judge(cores: &Cores<'_>, fast: &Separation, slow: &Separation) -> Result<(), String> {
        let tolerance = 1e-9 * cores.size();
        let gap = cores.lower_bound(fast.normal);
        let span = (fast.point_a - fast.point_b - fast.distance * fast.normal).length();
        let (a, b, frame) = cores.parts();
        let beyond = |core: &Core<'_>, x: DVec3, d: DVec3| d.dot(x) - d.dot(core.lowest(-d));
        let ends = beyond(a, fast.point_a, -fast.normal).abs()
            + beyond(b, frame.point_back(fast.point_b), frame.back(fast.normal)).abs();
        // A slow answer that is worse by its own measure is no measure.
        let better = slow.distance - cores.lower_bound(slow.normal) > tolerance;
        let off = (fast.distance - slow.distance).abs();
        let fine = (off < tolerance || better)
            && (gap - fast.distance).abs() < tolerance
            && span < tolerance
            && ends < tolerance;
        if fine {
            Ok(())
        } else {
            Err(format!("off {off:e} gap {gap} span {span:e} ends {ends:e} {fast:?} {slow:?}"))
        }
    }

    #[test]
    fn soak_following_finds_what_searching_finds() {
        let shapes = shapes();
        let mut random = soak::random(31);
        let (mut asked, mut followed) = (0, 0);
        for case in 0..soak::cases(6000) {
            let (i, j) = (random.below(shapes.len()), random.below(shapes.len()));
            let (a, b) = (&shapes[i], &shapes[j]);
            let (way, shift, turn) = pose(&mut random);
            let gap = [1e-3, 1e-6, 1e-9, 0.0, -1e-12, -1e-9, -1e-6, -1e-4, -1e-2][random.below(9)];
            let mut height = 1.5;
            let mut placed = None;
            for _ in 0..6 {
                let pose = Pose::new(shift + height * way, turn);
                let cores = cores(a, b, &pose);
                let Some(slow) = cores.searched(DVec3::ZERO, false) else { break };
                height += (gap - slow.distance) / (-slow.normal.dot(way)).max(0.3);
                placed = Some((pose, slow));
            }
            let Some((pose, slow)) = placed else { continue };
            let cores = cores(a, b, &pose);
            asked += 1;
            // From nearly the right direction, as after a step; from any; and all ways in turn.
            let off = [0.0, 1e-6, 0.01][random.below(3)];
            let near = (slow.normal + random.vec3(off)).normalize();
            let answers = [follow(&cores, near), follow(&cores, random.unit_vec3())];
            followed += u32::from(answers[0].is_some());
            let answers = answers.map(|found| found.map(|core| cores.inflated(&core)));
            let all =
                [cores.separation(near), cores.separation(DVec3::ZERO), cores.separation(random.unit_vec3())];
            for fast in answers.into_iter().flatten().chain(all.map(Option::unwrap)) {
                let say =
                    |error| format!("case {case} shapes {i} {j} gap {gap:e} {pose:?} near {near}: {error}");
                judge(&cores, &fast, &slow).map_err(say).unwrap();
            }
        }
        assert!(10 * followed > 9 * asked, "{followed} of {asked}");
    }
}
