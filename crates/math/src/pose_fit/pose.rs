//! Poses as functions of time from samples, with spatial velocity and acceleration.
//!
//! # Reference
//! Cline (2002), section 5.1: a smooth curve through motion-capture data, differentiated twice. The kind
//! of curve is not given there.
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | p(t) | position, three quintic splines | world |
//! | s(t) | four quintic splines through the quaternions, not of unit length between samples | |
//! | q = s/abs(s) | orientation, `world_from_body` | |
//! | ω, α | angular velocity and acceleration | world axes |
//!
//! # Formula
//! ```text
//! w = ṡ s⁻¹ = a + ω/2            a the real part: rate of change of |s|, which drops out
//! ω = 2 Im(ṡ s⁻¹)
//! α = 2 Im(s̈ s⁻¹ - w²) = 2 Im(s̈ s⁻¹) - 2 a ω
//! ```
//! The fit is linear in the quaternions and multiplication by a constant quaternion is linear too, so the
//! result does not depend on the choice of world axes or of body axes. A spline of rotation vectors would,
//! and it fails at a full turn; this one turns as often as the samples do.
//!
//! # Cost
//! O(n) to fit; a sample takes one binary search and no allocation.
//!
//! # Numerics
//! Signs are chosen so that neighbours are closer than 180°. |s| stays near 1 for samples up to some
//! 60 degrees apart; 120 degrees are refused.
//!
//! # Failure
//! As [`QuinticSpline`]; also quaternions that are not unit, or neighbours more than 120 degrees apart.
//!
//! # Tested by
//! `a_spinning_swinging_body_has_its_exact_accelerations`, `the_fit_does_not_depend_on_frames`

use super::QuinticSpline;
use crate::rotation::omega_world_from_rate;
use crate::spatial::Motion;
use crate::{MathError, Pose};
use glam::{DQuat, DVec3};

/// Pose, velocity and acceleration of a body at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoseSample {
    /// `world_from_body`.
    pub pose: Pose,
    /// Angular velocity (rad/s) and velocity of the body's origin (m/s), world axes.
    pub velocity: Motion,
    /// Angular acceleration (rad/s²) and acceleration of the body's origin (m/s²), world axes.
    pub acceleration: Motion,
}

/// Smooth motion through, or near, sampled poses.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseFit {
    /// Position x, y, z and quaternion x, y, z, w.
    spline: QuinticSpline<7>,
}

/// Half the cosine of the least similar neighbours: |q₁ · q₂| = cos(angle / 2).
const LEAST_SIMILARITY: f64 = 0.5;

impl PoseFit {
    /// Motion through all samples: times in seconds, increasing; poses `world_from_body`.
    ///
    /// # Errors
    /// Fewer than six samples, different lengths, times that do not increase, numbers that are not finite,
    /// quaternions that are not unit (1e-6), neighbours turned by more than 120 degrees.
    pub fn interpolate(times: &[f64], poses: &[Pose]) -> Result<Self, MathError> {
        Self::smooth(times, poses, 0.0)
    }

    /// Motion near the samples; `penalty` in s⁵ as in [`QuinticSpline::smooth`].
    ///
    /// # Errors
    /// As [`PoseFit::interpolate`]; also a penalty that is negative or not finite.
    pub fn smooth(times: &[f64], poses: &[Pose], penalty: f64) -> Result<Self, MathError> {
        let mut values = Vec::with_capacity(poses.len());
        let mut previous: Option<DQuat> = None;
        for (index, pose) in poses.iter().enumerate() {
            let numbers = pose.translation.to_array().into_iter().chain(pose.rotation.to_array());
            if let Some(value) = numbers.into_iter().find(|x| !x.is_finite()) {
                return Err(MathError::NonFinite { what: "pose", index, value });
            }
            let length = pose.rotation.length();
            if (length - 1.0).abs() > 1e-6 {
                let (low, high) = (1.0 - 1e-6, 1.0 + 1e-6);
                return Err(MathError::OutsideInterval {
                    what: "quaternion length",
                    index,
                    value: length,
                    low,
                    high,
                });
            }
            let mut q = pose.rotation * (1.0 / length);
            if let Some(before) = previous {
                let similarity = before.dot(q);
                if similarity.abs() < LEAST_SIMILARITY {
                    return Err(MathError::OutsideInterval {
                        what: "cosine of half the turn before pose",
                        index,
                        value: similarity.abs(),
                        low: LEAST_SIMILARITY,
                        high: 1.0,
                    });
                }
                if similarity < 0.0 {
                    q = -q;
                }
            }
            previous = Some(q);
            let p = pose.translation;
            values.push([p.x, p.y, p.z, q.x, q.y, q.z, q.w]);
        }
        Ok(Self { spline: QuinticSpline::smooth(times, &values, penalty)? })
    }

    /// First and last time, s.
    #[inline]
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        self.spline.interval()
    }

    /// Pose, velocity and acceleration at `time`.
    ///
    /// # Errors
    /// A time that is not finite or outside the interval; a fit so coarse that the orientation vanishes.
    pub fn sample(&self, time: f64) -> Result<PoseSample, MathError> {
        let parts = self.spline.sample(time)?;
        let [p, v, a] = parts.map(|x| DVec3::new(x[0], x[1], x[2]));
        let [s, s1, s2] = parts.map(|x| DQuat::from_xyzw(x[3], x[4], x[5], x[6]));
        let squared = s.length_squared();
        // A convex mean of neighbours less than 120 degrees apart is no shorter than 1/2.
        if squared < 1e-3 {
            return Err(MathError::NotPositive {
                what: "squared length of fitted quaternion",
                index: 0,
                value: squared,
            });
        }
        let omega = omega_world_from_rate(s, s1);
        // The second term takes away the change of length, of which a rate knows nothing but its own.
        let alpha = omega_world_from_rate(s, s2) - 2.0 * (s.dot(s1) / squared) * omega;
        Ok(PoseSample {
            pose: Pose::new(p, s * (1.0 / squared.sqrt())),
            velocity: Motion::new(omega, v),
            acceleration: Motion::new(alpha, a),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{cos, sin, sin_cos};
    use crate::testkit::SplitMix64;

    fn times(rate: f64, n: u32) -> Vec<f64> {
        (0..n).map(|i| f64::from(i) / rate).collect()
    }

    /// Precession with angle φ = 2t about z of a body that swings by θ = sin t about its x axis.
    fn exact(t: f64) -> PoseSample {
        let theta = DQuat::from_rotation_x(sin(t));
        let phi = DQuat::from_rotation_z(2.0 * t);
        let (s, c) = sin_cos(2.0 * t);
        let axis = DVec3::new(c, s, 0.0);
        let axis_rate = 2.0 * DVec3::new(-s, c, 0.0);
        PoseSample {
            pose: Pose::new(DVec3::new(sin(t), cos(3.0 * t), t * t), phi * theta),
            velocity: Motion::new(
                2.0 * DVec3::Z + cos(t) * axis,
                DVec3::new(cos(t), -3.0 * sin(3.0 * t), 2.0 * t),
            ),
            acceleration: Motion::new(
                cos(t) * axis_rate - sin(t) * axis,
                DVec3::new(-sin(t), -9.0 * cos(3.0 * t), 2.0),
            ),
        }
    }

    // proves: CLI-87
    #[test]
    fn a_spinning_swinging_body_has_its_exact_accelerations() {
        // Six turns: the signs of the quaternions wrap many times; flip some on purpose.
        let times = times(30.0, 601);
        let poses: Vec<Pose> = times
            .iter()
            .enumerate()
            .map(|(i, &t)| {
                let pose = exact(t).pose;
                if i % 7 == 0 { Pose::new(pose.translation, -pose.rotation) } else { pose }
            })
            .collect();
        let fit = PoseFit::interpolate(&times, &poses).unwrap();
        for k in 0..2000 {
            let t = f64::from(k) * 0.01;
            let (got, want) = (fit.sample(t).unwrap(), exact(t));
            let inside = (8.0 / 30.0..=20.0 - 8.0 / 30.0).contains(&t);
            // Errors of the second derivative are h⁴/720 times the sixth derivative inside, 0.6 h⁴ times it
            // near the ends; cos 3t has 729, the quaternion components about 2.5⁶/4.
            let h4 = crate::ops::powi(1.0 / 30.0, 4) * if inside { 1.0 / 700.0 } else { 0.6 };
            let angular = (got.acceleration.angular - want.acceleration.angular).length();
            let linear = (got.acceleration.linear - want.acceleration.linear).length();
            assert!(linear < 730.0 * h4, "at {t}: {linear:e}");
            assert!(angular < 60.0 * h4, "at {t}: {angular:e}");
            // Velocities and poses are better by about h and h².
            assert!((got.velocity.linear - want.velocity.linear).length() < 730.0 * h4 / 30.0, "at {t}");
            assert!((got.velocity.angular - want.velocity.angular).length() < 60.0 * h4 / 30.0, "at {t}");
            assert!((got.pose.translation - want.pose.translation).length() < 730.0 * h4 / 900.0, "at {t}");
            assert!(got.pose.rotation.dot(want.pose.rotation).abs() > 1.0 - 1e-15, "at {t}");
        }
    }

    #[test]
    fn velocities_are_those_of_the_fitted_poses() {
        // Coarse data, so that the length of the quaternion spline really varies.
        let times = times(4.0, 20);
        let poses: Vec<Pose> = times.iter().map(|&t| exact(t).pose).collect();
        let fit = PoseFit::interpolate(&times, &poses).unwrap();
        let h = 1e-5;
        for k in 1..45 {
            let t = f64::from(k) * 0.1;
            let at = |t: f64| fit.sample(t).unwrap();
            let (before, here, after) = (at(t - h), at(t), at(t + h));
            let turn = after.pose.rotation * before.pose.rotation.conjugate();
            let omega = turn.xyz() / h * turn.w.signum();
            assert!((omega - here.velocity.angular).length() < 1e-8, "at {t}");
            let alpha = (after.velocity.angular - before.velocity.angular) / (2.0 * h);
            assert!((alpha - here.acceleration.angular).length() < 1e-7, "at {t}");
        }
    }

    #[test]
    fn the_fit_does_not_depend_on_frames() {
        let mut random = SplitMix64(15);
        let times = times(5.0, 15);
        let poses: Vec<Pose> = times.iter().map(|&t| exact(t).pose).collect();
        let left = Pose::new(random.vec3(2.0), random.unit_quat());
        let right = Pose::from_rotation(random.unit_quat());
        let moved: Vec<Pose> = poses.iter().map(|&p| left * p * right).collect();
        let (fit, other) =
            (PoseFit::smooth(&times, &poses, 1e-6).unwrap(), PoseFit::smooth(&times, &moved, 1e-6).unwrap());
        for k in 0..28 {
            let t = f64::from(k) * 0.1;
            let (a, b) = (fit.sample(t).unwrap(), other.sample(t).unwrap());
            let expected = left * a.pose * right;
            assert!((b.pose.translation - expected.translation).length() < 1e-12);
            assert!(b.pose.rotation.dot(expected.rotation).abs() > 1.0 - 1e-13);
            let turned = left.transform_vector(a.acceleration.angular);
            assert!((b.acceleration.angular - turned).length() < 1e-10);
        }
    }

    #[test]
    fn bad_samples_are_named() {
        let times = times(1.0, 8);
        let poses = vec![Pose::IDENTITY; 8];
        let fails = |p: &[Pose]| PoseFit::interpolate(&times, p).unwrap_err().to_string();
        assert_eq!(fails(&poses[..7]), "values has length 7, expected 8");
        let mut bad = poses.clone();
        bad[4].rotation = DQuat::from_rotation_y(2.5);
        assert!(
            fails(&bad).starts_with("cosine of half the turn before pose 4 is 0.31532"),
            "{}",
            fails(&bad)
        );
        bad[4].rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 1.5);
        assert!(fails(&bad).starts_with("quaternion length 4 is 1.5"));
        bad[4].rotation = DQuat::from_xyzw(0.0, 0.0, f64::NAN, 1.0);
        assert_eq!(fails(&bad), "pose 4 is not finite: NaN");
        let fit = PoseFit::interpolate(&times, &poses).unwrap();
        assert!(fit.sample(8.0).is_err() && fit.sample(f64::NAN).is_err());
        assert_eq!(fit.sample(3.3).unwrap().acceleration, Motion::ZERO);
    }
}
