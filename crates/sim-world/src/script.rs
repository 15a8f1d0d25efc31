//! Scripted motion: bodies that go where they are told, push, and are not pushed.
//!
//! A script is a function of time alone. What the event queue needs beside poses and velocities is a bound on how fast things
//! can change; a script that exceeds its own limits may be missed by collision detection.

use rigid_impulse::{
    BodyError,
    bounds::Travel,
    motion::{Cycler, Shaker},
};
use sim_math::{Pose, glam::DVec3, integrate::rotation::rotate_world, spatial::Motion};
use std::fmt::Debug;

/// How fast a script can be, at any time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Largest speed of the origin of its frame, m/s.
    pub speed: f64,
    /// Largest acceleration of that origin, m/s²; infinite if velocities jump.
    pub acceleration: f64,
    /// Largest angular speed, rad/s.
    pub angular: f64,
    /// Largest angular acceleration, rad/s²; infinite if it is not known or angular velocities jump. Bounds on its travel are
    /// much closer with a finite one.
    pub angular_acceleration: f64,
}

impl Limits {
    /// Bound on the travel along `direction` of any point within `radius` (m) of the origin, which moves at `velocity` now
    /// (m/s), for a collision at `distance` (m): linear or quadratic, whichever takes longer.
    #[must_use]
    pub fn travel(&self, velocity: DVec3, direction: DVec3, distance: f64, radius: f64) -> Travel {
        let turning = if self.angular > 0.0 { radius * self.angular } else { 0.0 };
        let toward = velocity.dot(direction).min(self.speed);
        // The two bounds meet after 2 (speed − toward)/acceleration.
        let meet = (self.speed + turning) * 2.0 * (self.speed - toward) / self.acceleration;
        if self.acceleration.is_finite() && (self.acceleration <= 0.0 || meet > distance) {
            Travel { quadratic: 0.5 * self.acceleration, linear: toward + turning }
        } else {
            Travel { quadratic: 0.0, linear: self.speed + turning }
        }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// A speed that is not finite and at least zero; an acceleration or angular acceleration that is negative or NaN.
    pub fn validate(&self) -> Result<(), BodyError> {
        for (what, value) in [("speed limit", self.speed), ("angular speed limit", self.angular)] {
            if !value.is_finite() {
                return Err(BodyError::NonFinite { what, value });
            }
        }
        let accelerations = [
            ("acceleration limit", self.acceleration),
            ("angular acceleration limit", self.angular_acceleration),
        ];
        for (what, value) in accelerations {
            if value.is_nan() {
                return Err(BodyError::NonFinite { what, value });
            }
        }
        let speeds = [("speed limit", self.speed), ("angular speed limit", self.angular)];
        for (what, value) in speeds.into_iter().chain(accelerations) {
            if value < 0.0 {
                return Err(BodyError::Negative { what, value });
            }
        }
        Ok(())
    }
}

/// A motion given in closed form.
///
/// **Contract.** Functions of time alone, finite for every finite time, within the limits stated; the velocity is the
/// derivative of the pose, except where it jumps.
pub trait Script: Debug + Send + Sync {
    /// Pose of the body's user frame in the world at world time `t` (s).
    fn pose(&self, t: f64) -> Pose;

    /// Velocity at the origin of that frame, world axes, rad/s and m/s.
    fn velocity(&self, t: f64) -> Motion;

    /// How fast it can be.
    fn limits(&self) -> Limits;

    /// The script as data, if it is one of those that a snapshot knows; others are saved by name.
    fn record(&self) -> Option<ScriptRecord> {
        None
    }
}

/// Scripts that a snapshot knows as data.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ScriptRecord {
    /// Round a circle.
    Cycler(Cycler),
    /// To and fro.
    Shaker(Shaker),
    /// Constant velocity.
    Screw(Screw),
}

/// Goes round a circle without turning; world time 0 is its start. The radius of the body in [`Cycler`] is not used.
impl Script for Cycler {
    fn pose(&self, t: f64) -> Pose {
        Pose::from_translation(self.position(t))
    }

    fn velocity(&self, t: f64) -> Motion {
        Motion::new(DVec3::ZERO, Self::velocity(self, t))
    }

    fn record(&self) -> Option<ScriptRecord> {
        Some(ScriptRecord::Cycler(*self))
    }

    fn limits(&self) -> Limits {
        let speed = (self.circle * self.rate).abs();
        Limits { speed, acceleration: speed * self.rate.abs(), angular: 0.0, angular_acceleration: 0.0 }
    }
}

/// Swings along a line without turning; world time 0 is its start. The radius of the body in [`Shaker`] is not used.
impl Script for Shaker {
    fn pose(&self, t: f64) -> Pose {
        Pose::from_translation(self.position(t))
    }

    fn velocity(&self, t: f64) -> Motion {
        Motion::new(DVec3::ZERO, Self::velocity(self, t))
    }

    fn record(&self) -> Option<ScriptRecord> {
        Some(ScriptRecord::Shaker(*self))
    }

    fn limits(&self) -> Limits {
        let speed = self.amplitude.length() * self.rate.abs();
        Limits { speed, acceleration: speed * self.rate.abs(), angular: 0.0, angular_acceleration: 0.0 }
    }
}

/// Constant linear and angular velocity: conveyor belts, turntables, pistons, mills.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Screw {
    /// Pose of the user frame at world time 0.
    pub start: Pose,
    /// Constant velocity of its origin, m/s, and angular velocity, rad/s, world axes.
    pub velocity: Motion,
}

impl Script for Screw {
    fn pose(&self, t: f64) -> Pose {
        Pose::new(
            self.start.translation + self.velocity.linear * t,
            rotate_world(self.start.rotation, self.velocity.angular, t),
        )
    }

    fn velocity(&self, _t: f64) -> Motion {
        self.velocity
    }

    fn record(&self) -> Option<ScriptRecord> {
        Some(ScriptRecord::Screw(*self))
    }

    fn limits(&self) -> Limits {
        Limits {
            speed: self.velocity.linear.length(),
            acceleration: 0.0,
            angular: self.velocity.angular.length(),
            angular_acceleration: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    fn scripts() -> [Box<dyn Script>; 3] {
        [
            Box::new(Cycler {
                center: DVec3::new(1.0, 2.0, 3.0),
                plane: [DVec3::X, DVec3::Z],
                circle: 0.7,
                rate: 3.0,
                phase: 0.4,
                radius: 0.0,
            }),
            Box::new(Shaker {
                center: DVec3::Y,
                amplitude: DVec3::new(0.2, 0.0, 0.5),
                rate: 9.0,
                phase: 1.0,
                radius: 0.0,
            }),
            Box::new(Screw {
                start: Pose::from_translation(DVec3::X),
                velocity: Motion::new(DVec3::new(0.0, 2.0, 1.0), DVec3::new(0.3, 0.0, -1.0)),
            }),
        ]
    }

    #[test]
    fn velocities_are_derivatives_and_travel_bounds_hold() {
        let mut random = SplitMix64(5);
        for script in scripts() {
            let limits = script.limits();
            limits.validate().unwrap();
            for _ in 0..2000 {
                let (t, tau) = (random.range(0.0, 10.0), random.range(0.0, 1.0));
                let (direction, arm) = (random.unit_vec3(), random.unit_vec3() * 0.3);
                let step = 1e-6;
                let point = |t: f64| script.pose(t).transform_point(arm);
                let slope = (point(t + step) - point(t - step)) / (2.0 * step);
                let pose = script.pose(t);
                let exact = script.velocity(t).velocity_at(pose.transform_vector(arm));
                assert!((slope - exact).length() < 1e-7, "{script:?}: {slope} against {exact}");
                let distance = random.range(0.0, 2.0);
                let bound = limits.travel(script.velocity(t).linear, direction, distance, 0.3).at(tau);
                let travelled = (point(t + tau) - point(t)).dot(direction);
                assert!(travelled <= bound + 1e-12, "{script:?}: {travelled} beyond {bound}");
            }
        }
    }

    #[test]
    fn limits_that_cannot_be_are_named() {
        let bad = Limits { speed: f64::NAN, acceleration: 0.0, angular: 0.0, angular_acceleration: 0.0 };
        assert_eq!(bad.validate().unwrap_err().to_string(), "speed limit is not finite: NaN");
        let fine = Limits { speed: 1.0, acceleration: 0.0, angular: 0.0, angular_acceleration: 0.0 };
        let bad = Limits { acceleration: -1.0, ..fine };
        assert_eq!(
            bad.validate().unwrap_err().to_string(),
            "acceleration limit must not be negative, got -1"
        );
        let bad = Limits { angular_acceleration: f64::NAN, ..fine };
        assert_eq!(bad.validate().unwrap_err().to_string(), "angular acceleration limit is not finite: NaN");
        let jumps = Limits { acceleration: f64::INFINITY, ..fine };
        assert!(jumps.validate().is_ok());
        assert_eq!(jumps.travel(DVec3::ZERO, DVec3::X, 1.0, 0.5).at(2.0), 2.0);
    }
}
