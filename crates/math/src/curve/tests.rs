//! All curves against finite differences, dense sampling and their defining formulas.

use super::*;
use crate::assert_close;
use crate::testkit::SplitMix64;

fn random_points(random: &mut SplitMix64, n: usize) -> Vec<DVec3> {
    (0..n).map(|_| random.vec3(3.0)).collect()
}

/// One of each kind, random.
fn curves(random: &mut SplitMix64) -> Vec<Box<dyn Curve>> {
    let p = random_points(random, 9);
    let four = [p[0], p[1], p[2], p[3]];
    vec![
        Box::new(Line::new(p[0], p[1]).unwrap()),
        Box::new(Segment::new(p[0], p[1]).unwrap()),
        Box::new(Circle::new(p[0], p[1], random.range(0.1, 3.0)).unwrap()),
        Box::new(BSplineSegment::new(four).unwrap()),
        Box::new(BSpline::open(&p).unwrap()),
        Box::new(BSpline::closed(&p[..5]).unwrap()),
        Box::new(CSplineSegment::new(four, DEFAULT_TENSION).unwrap()),
        Box::new(CSpline::open(&p, DEFAULT_TENSION).unwrap()),
        Box::new(CSpline::open(&p[..2], 1.0).unwrap()),
        Box::new(CSpline::closed(&p[..6], 0.8).unwrap()),
        // Loops and cusps: several local minima in one piece.
        Box::new(CSpline::open(&p[..4], 8.0).unwrap()),
    ]
}

fn finite_interval(curve: &dyn Curve) -> (f64, f64) {
    let domain = curve.domain();
    (domain.start.max(-5.0), domain.end.min(5.0))
}

// proves: DYN-83
#[test]
fn derivatives_agree_with_finite_differences() {
    let mut random = SplitMix64(83);
    for _ in 0..200 {
        for curve in curves(&mut random) {
            let (start, end) = finite_interval(&*curve);
            let h = 1e-5;
            // Away from knots, where second derivatives may jump.
            let s = random.range(start, end).floor() + random.range(2.0 * h, 1.0 - 2.0 * h);
            if s + h > end {
                continue;
            }
            let (before, here, after) = (curve.point(s - h), curve.point(s), curve.point(s + h));
            let first = (after - before) / (2.0 * h);
            let second = (after - 2.0 * here + before) / (h * h);
            let (d1, d2) = (curve.derivative(s), curve.second_derivative(s));
            // Truncation, h²/6 times the third derivative, and rounding of values and parameters.
            let third =
                (curve.second_derivative(s + h) - curve.second_derivative(s - h)).length() / (2.0 * h);
            let rounding = 1e-15 * (1.0 + here.length() + d1.length());
            assert!((first - d1).length() < 1.1 * h * h / 6.0 * third + rounding / h, "{curve:?} at {s}");
            assert!((second - d2).length() < 1e-8 + 4.0 * rounding / (h * h), "{curve:?} at {s}");
            let slope = (curve.derivative(s + h) - curve.derivative(s - h)) / (2.0 * h);
            assert!(
                (slope - d2).length() < 1e-8 + 1e-15 * (d1.length() + d2.length()) / h,
                "{curve:?} at {s}"
            );
        }
    }
}

// proves: DYN-83
#[test]
fn closest_is_never_beaten_by_dense_sampling() {
    let mut random = SplitMix64(84);
    for round in 0..150 {
        for curve in curves(&mut random) {
            let (start, end) = finite_interval(&*curve);
            let target = match round % 3 {
                0 => random.vec3(3.0),
                1 => random.vec3(30.0),
                // On the curve itself.
                _ => curve.point(random.range(start, end)),
            };
            let found = curve.closest(target).unwrap();
            let domain = curve.domain();
            assert!(domain.contains(found.parameter), "{found:?}");
            assert!((curve.point(found.parameter) - found.point).length() == 0.0);
            assert_close!((target - found.point).length(), found.distance, abs = 0.0);
            let samples = 1000;
            for k in 0..=samples {
                let s = start + (end - start) * f64::from(k) / f64::from(samples);
                let sampled = (curve.point(s) - target).length();
                assert!(found.distance <= sampled + 1e-13, "{curve:?}: {target}: {s} beats {found:?}");
            }
            if round % 3 == 2 {
                assert!(found.distance < 1e-14, "{curve:?}: {target} {found:?}");
            }
            // Inside the domain the offset is perpendicular to the curve.
            let inside = domain.closed || (found.parameter > domain.start && found.parameter < domain.end);
            if inside {
                let d = curve.derivative(found.parameter);
                let along = (target - found.point).dot(d);
                assert!(along.abs() < 1e-11 * d.length() * (1.0 + found.distance), "{curve:?} {along:e}");
            }
        }
    }
}

#[test]
fn degenerate_splines_end_their_search() {
    let p = DVec3::new(1.0, 2.0, 3.0);
    // A point, a straight line run back and forth, and a nearly perfect circle seen from its centre.
    let dot = BSpline::open(&[p; 6]).unwrap();
    assert!(dot.closest(p).unwrap().distance < 1e-15);
    assert_close!(dot.closest(p + DVec3::X).unwrap().distance, 1.0, rel = 1e-14);
    let noisy: Vec<DVec3> = (0..6).map(|i| p + 1e-16 * f64::from(i) * DVec3::X).collect();
    assert_close!(
        CSpline::open(&noisy, 0.5).unwrap().closest(DVec3::ZERO).unwrap().distance,
        p.length(),
        rel = 1e-14
    );
    // The same point to the last bits, at random: the distance is constant but for rounding.
    let mut random = SplitMix64(9);
    for _ in 0..300 {
        let jitter: Vec<DVec3> = (0..5).map(|_| p + random.vec3(1e-15)).collect();
        let found = BSpline::open(&jitter).unwrap().closest(DVec3::ZERO).unwrap();
        assert_close!(found.distance, p.length(), rel = 1e-14);
    }
    let zigzag: Vec<DVec3> = (0..9).map(|i| f64::from(i % 2) * DVec3::X).collect();
    let track = CSpline::open(&zigzag, 0.5).unwrap();
    assert_close!(track.closest(DVec3::new(0.3, 0.4, 0.0)).unwrap().distance, 0.4, rel = 1e-14);
    let ring: Vec<DVec3> = (0..720)
        .map(|k| crate::ops::sin_cos(f64::from(k).to_radians() / 2.0))
        .map(|(s, c)| DVec3::new(c, s, 0.0))
        .collect();
    let ring = CSpline::closed(&ring, 0.5).unwrap();
    assert_close!(ring.closest(DVec3::ZERO).unwrap().distance, 1.0, abs = 1e-8);
}

#[test]
fn b_spline_matches_its_basis_functions_and_is_smooth_at_knots() {
    let mut random = SplitMix64(5);
    let p = random_points(&mut random, 7);
    let spline = BSpline::open(&p).unwrap();
    for i in 0..4 {
        for k in 0..10 {
            let u = f64::from(k) / 10.0;
            let c = ((1.0 - u) * (1.0 - u) * (1.0 - u) * p[i]
                + (3.0 * u * u * u - 6.0 * u * u + 4.0) * p[i + 1]
                + (-3.0 * u * u * u + 3.0 * u * u + 3.0 * u + 1.0) * p[i + 2]
                + u * u * u * p[i + 3])
                / 6.0;
            assert!((spline.point(i as f64 + u) - c).length() < 1e-14);
        }
    }
    let closed = BSpline::closed(&p).unwrap();
    for curve in [&spline, &closed] {
        for knot in 1..4 {
            let (before, after) = (f64::from(knot) - 1e-12, f64::from(knot));
            assert!((curve.point(before) - curve.point(after)).length() < 1e-10);
            assert!((curve.derivative(before) - curve.derivative(after)).length() < 1e-10);
            assert!((curve.second_derivative(before) - curve.second_derivative(after)).length() < 1e-10);
        }
    }
    assert!((closed.point(0.0) - closed.point(7.0 - 1e-13)).length() < 1e-11);
    assert_eq!(closed.point(0.25), closed.point(7.25));
}

#[test]
fn c_spline_passes_through_its_points_smoothly() {
    let mut random = SplitMix64(6);
    let p = random_points(&mut random, 6);
    let open = CSpline::open(&p, DEFAULT_TENSION).unwrap();
    let closed = CSpline::closed(&p, DEFAULT_TENSION).unwrap();
    assert_eq!((open.domain(), closed.domain()), (Domain::open(0.0, 5.0), Domain::closed(0.0, 6.0)));
    for (i, &point) in p.iter().enumerate() {
        assert!((open.point(i as f64) - point).length() < 1e-15);
        assert!((closed.point(i as f64) - point).length() < 1e-15);
    }
    for i in 1..5 {
        let tangent = 0.5 * (p[i + 1] - p[i - 1]);
        assert!((open.derivative(i as f64) - tangent).length() < 1e-14);
        assert!((open.derivative(i as f64 - 1e-13) - tangent).length() < 1e-11);
    }
    assert!((closed.derivative(0.0) - 0.5 * (p[1] - p[5])).length() < 1e-14);
    // Four points of a parabola: Catmull-Rom reproduces it.
    let parabola = |t: f64| DVec3::new(t, t * t, 1.0);
    let piece = CSplineSegment::new([-1.0, 0.0, 1.0, 2.0].map(parabola), DEFAULT_TENSION).unwrap();
    assert!((piece.point(0.3) - parabola(0.3)).length() < 1e-15);
}

#[test]
fn a_circle_turns_counter_clockwise_about_its_normal() {
    let mut random = SplitMix64(7);
    for _ in 0..200 {
        let (center, normal, radius) = (random.vec3(3.0), random.vec3(3.0), random.range(0.1, 3.0));
        let circle = Circle::new(center, normal, radius).unwrap();
        let s = random.range(-7.0, 7.0);
        // Angle as parameter: speed ω × r with ω the unit normal.
        let expected = normal.normalize().cross(circle.point(s) - center);
        assert!((circle.derivative(s) - expected).length() < 1e-14 * (1.0 + radius));
    }
}

#[test]
fn circle_closest_handles_its_axis_and_wraps() {
    let circle = Circle::new(DVec3::ONE, DVec3::new(0.0, 0.0, 2.0), 2.0).unwrap();
    let on_axis = circle.closest(DVec3::new(1.0, 1.0, 5.0)).unwrap();
    assert_close!(on_axis.parameter, 0.0, abs = 0.0);
    assert_close!(on_axis.distance, 20.0_f64.sqrt(), rel = 1e-15);
    let behind = circle.point(-0.5);
    assert_close!(circle.closest(behind).unwrap().parameter, std::f64::consts::TAU - 0.5, rel = 1e-15);
    assert_close!(circle.domain().wrap(-1e-300), 0.0, abs = 0.0);
}

#[test]
fn bad_input_is_refused() {
    let nan = DVec3::new(0.0, f64::NAN, 0.0);
    assert!(Line::new(nan, DVec3::X).is_err() && Line::new(DVec3::ZERO, DVec3::ZERO).is_err());
    assert!(Line::new(DVec3::ZERO, nan).is_err() && Line::new(DVec3::ZERO, DVec3::splat(1e200)).is_err());
    assert!(Segment::new(DVec3::X, DVec3::X).is_err() && Segment::new(DVec3::X, nan).is_err());
    assert!(Circle::new(DVec3::ZERO, DVec3::ZERO, 1.0).is_err());
    assert!(Circle::new(DVec3::ZERO, DVec3::Z, 0.0).is_err());
    assert!(Circle::new(DVec3::ZERO, DVec3::Z, f64::INFINITY).is_err());
    let few = BSpline::open(&[DVec3::ZERO; 3]).unwrap_err();
    assert_eq!(few.to_string(), "needs at least 4 control points, got 3");
    assert!(BSpline::closed(&[DVec3::ZERO; 2]).is_err() && CSpline::open(&[DVec3::ZERO], 0.5).is_err());
    assert!(CSpline::closed(&[DVec3::ZERO; 2], 0.5).is_err());
    assert!(CSpline::open(&[DVec3::ZERO; 2], f64::NAN).is_err());
    let bad = BSpline::open(&[DVec3::ZERO, DVec3::X, nan, DVec3::Y]).unwrap_err();
    assert_eq!(bad.to_string(), "control point 2 is not finite: NaN");
    let mut random = SplitMix64(1);
    for curve in curves(&mut random) {
        assert!(curve.closest(nan).is_err());
        assert!(curve.point(f64::NAN).is_nan(), "{curve:?}");
    }
}
