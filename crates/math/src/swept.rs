//! Boxes that contain a moving point, or a body around it, during a time step.
//!
//! # Reference
//! Mirtich's thesis, sections 2.4.3 (ballistic boxes), 2.5 and 5.2 (other motions); Fontijne's thesis,
//! section 2.3.1. The sinusoidal path is ours.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `p`, `v`, `a` | position, velocity, acceleration of the centre of mass at the start | m, m/s, m/s² |
//! | `dt` | length of the step | s |
//! | `r_max` | largest distance of a point of the body from the centre of mass | m |
//! | `u`, `w` | conjugate half axes of an ellipse (a circle if perpendicular and equal) | m |
//! | θ, Ω | angle at the start, rate | rad, rad/s |
//!
//! # Formula
//! ```text
//! ballistic:  p + v t + ½ a t²; extremes at 0, dt and t* = −v/a if 0 < t* < dt, per axis
//! link:       the same with 1.1 v and 1.1 a, grown by r_max
//! cycler:     c + u cos(θ + Ω t) + w sin(θ + Ω t) = c + R cos(θ + Ω t − φ) per axis, R = |(u, w)|, φ = atan2(w, u);
//!             extremes at the ends and where θ + Ω t − φ is a multiple of π
//! sinusoid:   c + d sin(θ + Ω t), a cycler with u = 0
//! ```
//!
//! # Cost
//! A few dozen operations; no allocation.
//!
//! # Numerics
//! Each side is moved out by 8 ε times the magnitudes that were added up, so that a point computed by the same
//! formula with other rounding stays inside. Beyond that the boxes of the centre are tight: each side is reached.
//! The link box is a guess, not a bound: the acceleration may change during the step, so its user must check.
//!
//! # Failure
//! [`MathError::NonFinite`] for any number that is NaN or infinite, [`MathError::Negative`] for a negative `dt` or
//! `r_max`, [`MathError::InvertedBox`].
//!
//! # Tested by
//! `ballistic_boxes_contain_every_sample_and_touch_the_extremes`, `link_boxes_contain_the_predicted_path`,
//! `cycler_boxes_contain_every_sample_and_touch_the_extremes`, `bad_input_is_an_error`.

use crate::{Aabb, MathError, ops};
use glam::DVec3;
use std::f64::consts::{PI, TAU};

/// Factor on velocity and acceleration of a link, for the change of acceleration during the step.
pub const LINK_SLACK: f64 = 1.1;
/// Outward rounding of each side, relative to the magnitudes added up.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

fn check(vectors: &[(&'static str, DVec3)], dt: f64, r_max: f64) -> Result<(), MathError> {
    for (what, v) in vectors {
        MathError::check_vector(what, *v)?;
    }
    MathError::check_not_negative("time step", 0, dt)?;
    MathError::check_not_negative("radius", 0, r_max).map(drop)
}

/// The box from the ends per axis, grown by radius and rounding; overflow is an error.
fn grow(low: DVec3, high: DVec3, size: DVec3, r_max: f64) -> Result<Aabb, MathError> {
    let margin = DVec3::splat(r_max) + ROUNDING * (size + r_max);
    let aabb = Aabb { min: low - margin, max: high + margin };
    MathError::check_finite("swept box", &aabb.min.to_array())?;
    MathError::check_finite("swept box", &aabb.max.to_array())?;
    Ok(aabb)
}

/// Box of a body that does not move: checked and returned.
///
/// # Errors
/// [`MathError::InvertedBox`] for a NaN or inverted box.
pub fn fixed_box(aabb: Aabb) -> Result<Aabb, MathError> {
    Aabb::new(aabb.min, aabb.max)
}

/// Box of a body in free flight under constant acceleration during `dt`, whatever its rotation.
///
/// # Errors
/// See the module's *Failure*.
pub fn ballistic_box(p: DVec3, v: DVec3, a: DVec3, dt: f64, r_max: f64) -> Result<Aabb, MathError> {
    check(&[("position", p), ("velocity", v), ("acceleration", a)], dt, r_max)?;
    let end = p + v * dt + a * (0.5 * dt * dt);
    let (mut low, mut high) = (p.min(end), p.max(end));
    for axis in 0..3 {
        let (v, a) = (v[axis], a[axis]);
        // The apex is inside the step iff the velocity changes sign in it.
        if a != 0.0 && v * (v + a * dt) < 0.0 {
            let apex = p[axis] - 0.5 * v * (v / a);
            low[axis] = low[axis].min(apex);
            high[axis] = high[axis].max(apex);
        }
    }
    let size = p.abs() + v.abs() * dt + a.abs() * (0.5 * dt * dt);
    grow(low, high, size, r_max)
}

/// Predicted box of a link of an articulated body: second order, with [`LINK_SLACK`] on velocity and
/// acceleration. Not a bound; see the module's *Numerics*.
///
/// # Errors
/// See the module's *Failure*.
pub fn link_box(p: DVec3, v: DVec3, a: DVec3, dt: f64, r_max: f64) -> Result<Aabb, MathError> {
    ballistic_box(p, LINK_SLACK * v, LINK_SLACK * a, dt, r_max)
}

/// Box of a body whose centre runs along `center + u cos(θ + Ω t) + w sin(θ + Ω t)` during `dt`.
///
/// `angle` (rad) is θ, `rate` (rad/s) is Ω and may be negative. A circle of radius ρ has `u` and `w`
/// perpendicular, both of length ρ.
///
/// # Errors
/// See the module's *Failure*.
pub fn cycler_box(
    center: DVec3,
    u: DVec3,
    w: DVec3,
    angle: f64,
    rate: f64,
    dt: f64,
    r_max: f64,
) -> Result<Aabb, MathError> {
    check(&[("center", center), ("half axis u", u), ("half axis w", w)], dt, r_max)?;
    MathError::check_finite("angle", &[angle, rate])?;
    let turn = rate * dt;
    let (first, last) = (angle.min(angle + turn), angle.max(angle + turn));
    let at = |theta: f64| {
        let (sin, cos) = ops::sin_cos(theta);
        center + u * cos + w * sin
    };
    let (start, end) = (at(first), at(last));
    let (mut low, mut high) = (start.min(end), start.max(end));
    let mut size = center.abs();
    for axis in 0..3 {
        let radius = ops::hypot(u[axis], w[axis]);
        // An angle is known to ε |θ|, which moves the point by up to that times the radius.
        size[axis] += radius * (1.0 + first.abs().max(last.abs()));
        let phase = ops::atan2(w[axis], u[axis]);
        for (extreme, offset) in [(radius, 0.0), (-radius, PI)] {
            // Is some φ + offset + 2πk inside [first, last]?
            let turns = ((first - phase - offset) / TAU).ceil();
            let inside = last - first >= TAU || phase + offset + turns * TAU <= last;
            if inside {
                low[axis] = low[axis].min(center[axis] + extreme);
                high[axis] = high[axis].max(center[axis] + extreme);
            }
        }
    }
    grow(low, high, size, r_max)
}

/// Box of a body whose centre oscillates along `center + amplitude sin(angle + rate t)` during `dt`.
///
/// # Errors
/// See the module's *Failure*.
pub fn sinusoid_box(
    center: DVec3,
    amplitude: DVec3,
    angle: f64,
    rate: f64,
    dt: f64,
    r_max: f64,
) -> Result<Aabb, MathError> {
    cycler_box(center, DVec3::ZERO, amplitude, angle, rate, dt, r_max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{Coord, Positive, SplitMix64, UnitQuat, Vector, check};

    const SAMPLES: u32 = 400;

    /// All samples inside; `slack` (m, per axis) is how far a side may be from the nearest sample.
    fn contains_tightly(aabb: &Aabb, at: impl Fn(f64) -> DVec3, dt: f64, slack: DVec3) -> bool {
        let samples: Vec<DVec3> = (0..=SAMPLES).map(|i| at(dt * f64::from(i) / f64::from(SAMPLES))).collect();
        let Some(reached) = Aabb::from_points(samples.iter().copied()) else { return false };
        samples.iter().all(|p| aabb.contains(*p))
            && (reached.min - aabb.min).cmple(slack).all()
            && (aabb.max - reached.max).cmple(slack).all()
    }

    #[test]
    fn ballistic_boxes_contain_every_sample_and_touch_the_extremes() {
        fn property(p: Vector, v: Vector, a: Vector, dt: Positive) -> bool {
            let (p, v, a, dt) = (p.0, v.0, a.0, dt.0.min(20.0));
            let aabb = ballistic_box(p, v, a, dt, 0.0).unwrap();
            // Between samples the parabola departs from its highest sample by at most ½ |a| (step/2)².
            let step = 0.5 * dt / f64::from(SAMPLES);
            let size = p.abs() + v.abs() * dt + a.abs() * dt * dt;
            let slack = a.abs() * (0.5 * step * step) + 1e-14 * size;
            contains_tightly(&aabb, |t| p + v * t + a * (0.5 * t * t), dt, slack)
        }
        check(11, 3000, property as fn(Vector, Vector, Vector, Positive) -> bool);
        // A throw straight up: the apex is exact.
        let up = ballistic_box(DVec3::ZERO, DVec3::Z * 4.0, DVec3::Z * -8.0, 1.0, 0.0).unwrap();
        crate::assert_close!(up.max.z, 1.0, abs = 1e-13);
        crate::assert_close!(up.min.z, 0.0, abs = 1e-13);
        // Apex outside the step: the end counts.
        let early = ballistic_box(DVec3::ZERO, DVec3::Z * 4.0, DVec3::Z * -8.0, 0.25, 0.0).unwrap();
        crate::assert_close!(early.max.z, 0.75, abs = 1e-13);
    }

    // proves: MIR-30
    #[test]
    fn a_tumbling_body_stays_inside_its_swept_box() {
        fn property(p: Vector, v: Vector, spin: Vector, q: UnitQuat, dt: Positive, seed: u64) -> bool {
            let (p, v, dt) = (p.0, v.0, dt.0.min(3.0));
            let gravity = DVec3::new(0.0, 0.0, -9.81);
            let mut random = SplitMix64(seed);
            let vertices: Vec<DVec3> = (0..8).map(|_| random.vec3(1.0)).collect();
            let r_max = vertices.iter().map(|r| r.length()).fold(0.0, f64::max);
            let aabb = ballistic_box(p, v, gravity, dt, r_max).unwrap();
            (0..=200).all(|i| {
                let t = dt * f64::from(i) / 200.0;
                let turned = glam::DQuat::from_scaled_axis(spin.0 * t) * q.0;
                let center = p + v * t + gravity * (0.5 * t * t);
                vertices.iter().all(|r| aabb.contains(center + turned * *r))
            })
        }
        check(12, 2000, property as fn(Vector, Vector, Vector, UnitQuat, Positive, u64) -> bool);
        // Tight: a vertex at r_max that points up at the apex touches the box.
        let aabb = ballistic_box(DVec3::ZERO, DVec3::Z * 4.0, DVec3::Z * -8.0, 1.0, 0.25).unwrap();
        crate::assert_close!(aabb.max.z, 1.25, abs = 1e-13);
    }

    #[test]
    fn link_boxes_contain_the_predicted_path() {
        fn property(p: Vector, v: Vector, a: Vector, dt: Positive, r: Positive) -> bool {
            let (p, v, a, dt, r) = (p.0, v.0, a.0, dt.0.min(2.0), r.0);
            let aabb = link_box(p, v, a, dt, r).unwrap();
            let plain = ballistic_box(p, v, a, dt, r).unwrap();
            // Displacement scales with the factor, so the padded path contains the plain one.
            let scaled = |t: f64| p + LINK_SLACK * (v * t + a * (0.5 * t * t));
            let size = p.abs() + v.abs() * dt + a.abs() * dt * dt + r;
            let step = 0.5 * dt / f64::from(SAMPLES);
            let slack = a.abs() * step * step + DVec3::splat(r) + 1e-14 * size;
            aabb.grown(1e-13 * size.max_element()).contains_box(&plain)
                && contains_tightly(&aabb, scaled, dt, slack)
        }
        check(13, 2000, property as fn(Vector, Vector, Vector, Positive, Positive) -> bool);
    }

    #[test]
    fn cycler_boxes_contain_every_sample_and_touch_the_extremes() {
        fn property(c: Vector, u: Vector, w: Vector, angle: Coord, rate: Coord, dt: Positive) -> bool {
            let (c, u, w, angle, rate, dt) = (c.0, u.0, w.0, angle.0, rate.0, dt.0.min(3.0));
            let aabb = cycler_box(c, u, w, angle, rate, dt, 0.0).unwrap();
            let at = |t: f64| {
                let (sin, cos) = ops::sin_cos(angle + rate * t);
                c + u * cos + w * sin
            };
            let half_step = 0.5 * rate.abs() * dt / f64::from(SAMPLES);
            let radius = u.abs() + w.abs();
            // The acceleration along the path is at most R Ω².
            let slack = radius * (0.5 * half_step * half_step) + 1e-12 * (c.abs() + radius);
            contains_tightly(&aabb, at, dt, slack)
        }
        check(14, 3000, property as fn(Vector, Vector, Vector, Coord, Coord, Positive) -> bool);
        // A quarter turn of the unit circle from the x axis: exactly the unit square.
        let quarter = cycler_box(DVec3::ZERO, DVec3::X, DVec3::Y, 0.0, 1.0, 0.5 * PI, 0.0).unwrap();
        for (side, expected) in
            [(quarter.max.x, 1.0), (quarter.max.y, 1.0), (quarter.min.x, 0.0), (quarter.min.y, 0.0)]
        {
            crate::assert_close!(side, expected, abs = 1e-14);
        }
        let full = cycler_box(DVec3::ZERO, DVec3::X, DVec3::Y, 0.3, -100.0, 1.0, 0.5).unwrap();
        crate::assert_close!(full.min.x, -1.5, abs = 1e-12);
        crate::assert_close!(full.max.y, 1.5, abs = 1e-12);
    }

    #[test]
    fn sinusoid_boxes_contain_every_sample_and_touch_the_extremes() {
        fn property(c: Vector, d: Vector, angle: Coord, rate: Coord, dt: Positive) -> bool {
            let (c, d, angle, rate, dt) = (c.0, d.0, angle.0, rate.0, dt.0.min(3.0));
            let aabb = sinusoid_box(c, d, angle, rate, dt, 0.0).unwrap();
            let half_step = 0.5 * rate.abs() * dt / f64::from(SAMPLES);
            let slack = d.abs() * (0.5 * half_step * half_step) + 1e-12 * (c.abs() + d.abs());
            contains_tightly(&aabb, |t| c + d * ops::sin(angle + rate * t), dt, slack)
        }
        check(15, 3000, property as fn(Vector, Vector, Coord, Coord, Positive) -> bool);
    }

    #[test]
    fn a_step_of_no_length_gives_the_point() {
        let p = DVec3::new(1.0, -2.0, 3.0);
        let aabb = ballistic_box(p, DVec3::ONE * 5.0, DVec3::ONE, 0.0, 0.0).unwrap();
        assert!(aabb.contains(p) && aabb.size().max_element() < 1e-13);
        let still = ballistic_box(p, DVec3::ZERO, DVec3::ZERO, 1.0, 0.5).unwrap();
        crate::assert_close!(still.size().x, 1.0, abs = 1e-13);
    }

    #[test]
    fn bad_input_is_an_error() {
        let (zero, nan) = (DVec3::ZERO, DVec3::new(0.0, f64::NAN, 0.0));
        for dt in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(ballistic_box(zero, zero, zero, dt, 0.0).is_err());
            assert!(link_box(zero, zero, zero, dt, 0.0).is_err());
            assert!(cycler_box(zero, zero, zero, 0.0, 1.0, dt, 0.0).is_err());
            assert!(sinusoid_box(zero, zero, 0.0, 1.0, dt, 0.0).is_err());
            assert!(ballistic_box(zero, zero, zero, 1.0, dt).is_err());
        }
        assert_eq!(
            ballistic_box(zero, zero, zero, -0.5, 0.0),
            Err(MathError::Negative { what: "time step", index: 0, value: -0.5 })
        );
        for (p, v, a) in [(nan, zero, zero), (zero, nan, zero), (zero, zero, nan)] {
            assert!(ballistic_box(p, v, a, 1.0, 0.0).is_err() && link_box(p, v, a, 1.0, 0.0).is_err());
            assert!(cycler_box(p, v, a, 0.0, 1.0, 1.0, 0.0).is_err());
        }
        assert!(cycler_box(zero, zero, zero, f64::NAN, 1.0, 1.0, 0.0).is_err());
        assert!(cycler_box(zero, zero, zero, 0.0, f64::INFINITY, 1.0, 0.0).is_err());
        // Overflow is not hidden.
        assert!(ballistic_box(zero, DVec3::splat(1e300), zero, 1e10, 0.0).is_err());
        assert!(fixed_box(Aabb { min: DVec3::ONE, max: zero }).is_err());
        assert!(fixed_box(Aabb::EVERYWHERE).is_ok());
    }
}
