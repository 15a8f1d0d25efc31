//! A point that stays on a curve.
//!
//! # Reference
//!
//! Barenbrug (2000), 4.1.3 (point-to-curve); the parameter is solved for, not shifted once.
//!
//! # Symbols
//!
//! | code | meaning | unit |
//! |---|---|---|
//! | c(s) | curve in the frame of a; c′, c″ its derivatives; t = c′/|c′| | m |
//! | e | `p_b` − c(s), with e·t = 0 | m |
//! | n₁, n₂ | unit vectors across t that are carried along without spin | - |
//! | σ | arc from where the joint began | m |
//!
//! # Formula
//!
//! ```text
//! hold    x = (n₁·e, n₂·e)
//! rates   ẋᵢ = nᵢ·(velocity of p_b − velocity of the point of a at p_b)      ṅᵢ is along t, where e has no part
//! free    σ,  σ̇ = t·(the same velocity)/(1 − e·c″/|c′|²)
//! ends    x = (s − s_end) |c′(s_end)|, to the inside ≥ 0                    unless the curve is closed
//! ```
//!
//! # Cost
//!
//! Two rows, and two for the ends; Newton's method for s, and a quadrature of the arc between two calls.
//!
//! # Numerics
//!
//! Newton's method begins at the parameter of before, so that a point on a curve that crosses itself keeps its branch; steps that lead away are
//! halved. Memory: s, σ, n₁.
//!
//! # Failure
//!
//! Where the point is at the centre of curvature the rate of σ has no bound: it is cut at 1000 times. A curve whose derivative vanishes holds nothing there.
//!
//! # Tested by
//!
//! `rates_of_a_point_on_a_curve`, `a_bead_on_a_wire_falls_with_g_sin`,
//! `a_curve_of_ones_own_leads_a_point`, `the_arc_of_a_circle_goes_on_for_turns`

use super::{
    RowLaw, axis,
    write::{Placed, Writer},
};
use sim_math::{curve::Curve, glam::DVec3, rotation::frame_across};
use sim_traits::joint::{JointAnchor, JointCurve};

/// Most steps of Newton's method.
const STEPS: usize = 50;

pub(super) fn begin(path: &JointCurve, out: &Writer<'_>, anchors: &[JointAnchor], memory: &mut [f64]) {
    let (a, b) = (out.place(&anchors[0]), out.place(&anchors[1]));
    if let Ok(near) = path.get().closest(a.local(b.origin)) {
        memory[0] = near.parameter;
    }
}

pub(super) fn rows(a: &Placed, b: &Placed, path: &JointCurve, memory: &mut [f64], out: &mut Writer<'_>) {
    let curve = path.get();
    let p = a.local(b.origin);
    let before = memory[0];
    let s = follow(curve, p, before);
    let slope = curve.derivative(s);
    let speed = slope.length();
    if !(speed > 0.0 && speed.is_finite()) {
        return;
    }
    let t = slope / speed;
    memory[0] = s;
    memory[1] += arc(curve, before, s);
    let n1 = across(DVec3::new(memory[2], memory[3], memory[4]), t);
    memory[2..5].copy_from_slice(&n1.to_array());
    let e = p - curve.point(s);
    if !out.values_only {
        let block = out.start();
        let n2 = t.cross(n1);
        for (row, n) in [n1, n2].into_iter().enumerate() {
            out.shift(block, row, a, b, b.origin, a.axes * n);
        }
        out.hold(block, 2, DVec3::new(n1.dot(e), n2.dot(e), 0.0));
    }
    let stretch = (1.0 - e.dot(curve.second_derivative(s)) / (speed * speed)).max(1e-3);
    let along = a.axes * (t / stretch);
    axis::rows(out, 0, memory[1], &|out, block, sign| out.shift(block, 0, a, b, b.origin, along * sign));
    let domain = curve.domain();
    if domain.closed || out.values_only {
        return;
    }
    for (end, sign) in [(domain.start, 1.0), (domain.end, -1.0)] {
        if end.is_finite() {
            let scale = sign * curve.derivative(end).length();
            let block = out.start();
            out.shift(block, 0, a, b, b.origin, along * (scale / speed));
            let x = DVec3::new((s - end) * scale, 0.0, 0.0);
            out.finish(block, &[RowLaw::Limit { restitution: 0.0 }], x, DVec3::ZERO);
        }
    }
}

/// The parameter near `s` where the curve is closest to `p`.
fn follow(curve: &dyn Curve, p: DVec3, mut s: f64) -> f64 {
    let mut square = (p - curve.point(s)).length_squared();
    let mut before = f64::INFINITY;
    for _ in 0..STEPS {
        let (q, slope) = (curve.point(s), curve.derivative(s));
        let (e, length) = (p - q, slope.length_squared());
        // Beyond the centre of curvature Newton's method would look for the farthest point.
        let steepness = (length - e.dot(curve.second_derivative(s))).max(0.1 * length);
        let mut step = e.dot(slope) / steepness;
        // Squares of distances tell nothing about steps below this one.
        let rounding = 1e-14 * (p.length_squared() + q.length_squared() + square);
        let small = step * step * length <= rounding;
        if !step.is_finite() || (small && step.abs() >= 0.5 * before) {
            return s;
        }
        // Who asks twice gets the same bits.
        let least = 4.0 * f64::EPSILON;
        if step * step * length <= least * least * (p.length_squared() + q.length_squared()) {
            return s;
        }
        before = step.abs();
        let mut better = small;
        for _ in 0..40 {
            let next = (p - curve.point(s + step)).length_squared();
            if small || next <= square {
                (square, better) = (next, true);
                break;
            }
            step *= 0.5;
        }
        if !better || step.abs() <= f64::EPSILON * s.abs() {
            return s;
        }
        s += step;
    }
    s
}

/// Length of the curve from one parameter to another near it, negative backwards: Gauss's rule of five points.
fn arc(curve: &dyn Curve, from: f64, to: f64) -> f64 {
    const NODES: [(f64, f64); 5] = [
        (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
        (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
        (0.0, 0.568_888_888_888_888_9),
        (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
        (0.906_179_845_938_664, 0.236_926_885_056_189_1),
    ];
    let (half, middle) = (0.5 * (to - from), 0.5 * (to + from));
    half * NODES.iter().fold(0.0, |sum, (x, w)| sum + w * curve.derivative(middle + half * x).length())
}

/// A unit vector across `t`, as near as possible to the one of before.
fn across(before: DVec3, t: DVec3) -> DVec3 {
    let (along, least) = (before.dot(t), 4.0 * f64::EPSILON);
    if along.abs() <= least && (before.length_squared() - 1.0).abs() <= least {
        return before;
    }
    let n = before - t * along;
    if n.length_squared() > 1e-6 { n.normalize() } else { frame_across(t).map_or(DVec3::X, |f| f.x_axis) }
}

#[cfg(test)]
mod tests {
    use super::super::{JointRows, begin, coordinates, testkit};
    use sim_math::{
        MathError, Pose,
        curve::{ClosestOnCurve, Curve, Domain},
        glam::{DMat3, DVec3},
        ops,
    };
    use sim_traits::joint::{JointAnchor, JointAxis, JointCurve, JointKind, JointModel, JointPath};
    use std::sync::Arc;

    fn circle(radius: f64) -> JointKind {
        let path = JointPath::Circle { center: DVec3::ZERO, normal: DVec3::Y, radius };
        JointKind::Curve { curve: JointCurve::new(path).unwrap() }
    }

    #[test]
    fn rates_of_a_point_on_a_curve() {
        let points = vec![
            DVec3::new(-2.0, 0.0, 0.3),
            DVec3::new(-1.0, 0.5, -0.3),
            DVec3::new(0.0, -0.4, 0.1),
            DVec3::new(1.0, 0.3, 0.4),
            DVec3::new(2.0, 0.0, -0.2),
        ];
        let paths = [
            JointPath::Line { origin: DVec3::ZERO, direction: DVec3::new(1.0, 2.0, 0.5) },
            JointPath::Segment { a: DVec3::new(-1.0, 0.0, 0.0), b: DVec3::new(1.0, 0.4, 0.0) },
            JointPath::Circle { center: DVec3::new(0.0, 1.5, 0.0), normal: DVec3::Z, radius: 1.5 },
            JointPath::BSpline { points: points.clone(), closed: false },
            JointPath::CSpline { points, tension: 0.2, closed: false },
        ];
        for path in paths {
            let curve = JointCurve::new(path).unwrap();
            testkit::check_rates(JointKind::Curve { curve }, &[testkit::busy_axis()]);
        }
    }

    /// A curve of one's own.
    #[derive(Debug)]
    struct Helix;

    impl Curve for Helix {
        fn domain(&self) -> Domain {
            Domain::open(f64::NEG_INFINITY, f64::INFINITY)
        }
        fn point(&self, s: f64) -> DVec3 {
            DVec3::new(ops::cos(s) - 1.0, ops::sin(s), 0.3 * s)
        }
        fn derivative(&self, s: f64) -> DVec3 {
            DVec3::new(-ops::sin(s), ops::cos(s), 0.3)
        }
        fn second_derivative(&self, s: f64) -> DVec3 {
            DVec3::new(-ops::cos(s), -ops::sin(s), 0.0)
        }
        fn closest(&self, target: DVec3) -> Result<ClosestOnCurve, MathError> {
            // Near enough to begin with.
            let parameter = ops::atan2(target.y, target.x + 1.0);
            let point = self.point(parameter);
            Ok(ClosestOnCurve { parameter, point, distance: point.distance(target) })
        }
    }

    // proves: DYN-85
    #[test]
    fn a_curve_of_ones_own_leads_a_point() {
        let curve = JointCurve::custom(Arc::new(Helix));
        testkit::check_rates(JointKind::Curve { curve: curve.clone() }, &[testkit::busy_axis()]);
        // A bead glides along the thread with g sin of its slope.
        let pose = Pose::from_translation(Helix.point(0.7));
        let kind = JointKind::Curve { curve };
        let body = (2.0, DMat3::IDENTITY);
        let gravity = DVec3::NEG_Z * (2.0 * 9.81);
        let motion =
            testkit::acceleration(kind, &[JointAxis::default()], Pose::IDENTITY, pose, body, gravity);
        let sine = 0.3 / 1.09_f64.sqrt();
        assert!((motion.linear + Helix.derivative(0.7).normalize() * (9.81 * sine)).length() < 1e-12);
    }

    #[test]
    fn a_bead_on_a_wire_falls_with_g_sin() {
        let (m, g, r) = (0.3, 9.81, 0.8);
        for psi in [0.0, 0.4, 1.5, 3.0] {
            let pose = Pose::from_translation(DVec3::new(ops::sin(psi), 0.0, -ops::cos(psi)) * r);
            let body = (m, DMat3::IDENTITY);
            let motion = testkit::acceleration(
                circle(r),
                &[JointAxis::default()],
                Pose::IDENTITY,
                pose,
                body,
                DVec3::new(0.0, 0.0, -m * g),
            );
            let tangent = DVec3::new(ops::cos(psi), 0.0, ops::sin(psi));
            assert!((motion.linear + tangent * (g * ops::sin(psi))).length() < 1e-12, "{psi}: {motion:?}");
        }
    }

    #[test]
    fn the_arc_of_a_circle_goes_on_for_turns() {
        let joint = JointModel::new(
            circle(0.5),
            [JointAnchor::world(Pose::IDENTITY), JointAnchor::new(0, Pose::IDENTITY)],
        );
        let place =
            |angle: f64| [Pose::from_translation(DVec3::new(ops::cos(angle), 0.0, -ops::sin(angle)) * 0.6)];
        let mut memory = [0.0; 5];
        begin(&joint, &place(0.0), &mut memory);
        for k in 0..60 {
            let angle = f64::from(k) * 0.5;
            let mut out = JointRows::default();
            coordinates(&joint, &place(angle), &mut memory, &mut out);
            assert!((out.blocks[0].position.x.abs() - 0.5 * angle).abs() < 1e-12, "{k}: {:?}", out.blocks);
        }
    }
}
