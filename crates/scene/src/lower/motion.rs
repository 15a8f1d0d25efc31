//! Prescribed motions of scene files as scripts.

use super::rotation::{radians, rotation};
use crate::format::{
    MotionSpec,
    error::{Place, SceneError},
};
use sim_math::{Pose, glam::DVec3, ops, spatial::Motion};
use sim_world::{Limits, Screw, Script};
use std::f64::consts::TAU;

/// A motion about a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prescribed {
    /// Constant velocities.
    Steady(Screw),
    /// Round a circle without turning.
    Cycle {
        /// Pose at time 0.
        start: Pose,
        /// Unit normal of the circle.
        axis: DVec3,
        /// From the centre to the start, across the axis, m.
        arm: DVec3,
        /// rad/s.
        rate: f64,
    },
    /// Along a line.
    Shake {
        /// Pose in the middle.
        middle: Pose,
        /// m.
        amplitude: DVec3,
        /// rad/s.
        rate: f64,
        /// rad.
        phase: f64,
    },
    /// About an axis at a constant rate.
    Turn {
        /// Pose at time 0.
        start: Pose,
        /// Unit vector.
        axis: DVec3,
        /// A point of the axis, m.
        pivot: DVec3,
        /// rad/s.
        rate: f64,
    },
    /// About an axis, to and fro.
    Rock {
        /// Pose in the middle.
        middle: Pose,
        /// Unit vector.
        axis: DVec3,
        /// Largest angle, rad.
        angle: f64,
        /// rad/s.
        rate: f64,
        /// rad.
        phase: f64,
    },
}

impl Prescribed {
    /// The motion that a scene asks for, from the pose at time 0.
    pub(crate) fn new(spec: &MotionSpec, start: Pose, place: &Place) -> Result<Self, SceneError> {
        let rate = |frequency: f64| place.finite("frequency", frequency).map(|f| TAU * f);
        Ok(match spec {
            MotionSpec::Steady { velocity, angular_velocity } => Self::Steady(Screw {
                start,
                velocity: Motion::new(
                    place.vector("angular_velocity", *angular_velocity)?,
                    place.vector("velocity", *velocity)?,
                ),
            }),
            MotionSpec::Cycle { axis, arm, frequency } => {
                let axis = place.direction("axis", *axis)?;
                let arm = place.vector("arm", *arm)?;
                Self::Cycle { start, axis, arm: arm - axis * axis.dot(arm), rate: rate(*frequency)? }
            }
            MotionSpec::Shake { amplitude, frequency, phase } => Self::Shake {
                middle: start,
                amplitude: place.vector("amplitude", *amplitude)?,
                rate: rate(*frequency)?,
                phase: radians(place.finite("phase", *phase)?),
            },
            MotionSpec::Turn { axis, pivot, frequency } => Self::Turn {
                start,
                axis: place.direction("axis", *axis)?,
                pivot: match pivot {
                    Some(pivot) => place.vector("pivot", *pivot)?,
                    None => start.translation,
                },
                rate: rate(*frequency)?,
            },
            MotionSpec::Rock { axis, degrees, frequency, phase } => Self::Rock {
                middle: start,
                axis: place.direction("axis", *axis)?,
                angle: radians(place.finite("degrees", *degrees)?),
                rate: rate(*frequency)?,
                phase: radians(place.finite("phase", *phase)?),
            },
        })
    }
}

/// Rotation by `angle` (rad) about a unit vector.
fn turned(axis: DVec3, angle: f64) -> sim_math::glam::DQuat {
    let (s, c) = ops::sin_cos(0.5 * angle);
    sim_math::glam::DQuat::from_xyzw(axis.x * s, axis.y * s, axis.z * s, c)
}

impl Script for Prescribed {
    fn pose(&self, t: f64) -> Pose {
        match *self {
            Self::Steady(screw) => screw.pose(t),
            Self::Cycle { start, axis, arm, rate } => {
                Pose::new(start.translation + (turned(axis, rate * t) * arm - arm), start.rotation)
            }
            Self::Shake { middle, amplitude, rate, phase } => {
                Pose::new(middle.translation + amplitude * ops::sin(rate * t + phase), middle.rotation)
            }
            Self::Turn { start, axis, pivot, rate } => {
                let turn = turned(axis, rate * t);
                Pose::new(pivot + turn * (start.translation - pivot), (turn * start.rotation).normalize())
            }
            Self::Rock { middle, axis, angle, rate, phase } => {
                let turn = turned(axis, angle * ops::sin(rate * t + phase));
                Pose::new(middle.translation, (turn * middle.rotation).normalize())
            }
        }
    }

    fn velocity(&self, t: f64) -> Motion {
        match *self {
            Self::Steady(screw) => screw.velocity(t),
            Self::Cycle { axis, arm, rate, .. } => {
                Motion::new(DVec3::ZERO, (axis * rate).cross(turned(axis, rate * t) * arm))
            }
            Self::Shake { amplitude, rate, phase, .. } => {
                Motion::new(DVec3::ZERO, amplitude * (rate * ops::cos(rate * t + phase)))
            }
            Self::Turn { start, axis, pivot, rate } => {
                let arm = turned(axis, rate * t) * (start.translation - pivot);
                Motion::new(axis * rate, (axis * rate).cross(arm))
            }
            Self::Rock { axis, angle, rate, phase, .. } => {
                Motion::new(axis * (angle * rate * ops::cos(rate * t + phase)), DVec3::ZERO)
            }
        }
    }

    fn limits(&self) -> Limits {
        let circle = |arm: f64, rate: f64| (arm * rate.abs(), arm * rate * rate);
        match *self {
            Self::Steady(screw) => screw.limits(),
            Self::Cycle { arm, rate, .. } => {
                let (speed, acceleration) = circle(arm.length(), rate);
                Limits { speed, acceleration, angular: 0.0, angular_acceleration: 0.0 }
            }
            Self::Shake { amplitude, rate, .. } => {
                let (speed, acceleration) = circle(amplitude.length(), rate);
                Limits { speed, acceleration, angular: 0.0, angular_acceleration: 0.0 }
            }
            Self::Turn { start, axis, pivot, rate } => {
                let (speed, acceleration) = circle((start.translation - pivot).cross(axis).length(), rate);
                Limits { speed, acceleration, angular: rate.abs(), angular_acceleration: 0.0 }
            }
            Self::Rock { angle, rate, .. } => {
                let angular = (angle * rate).abs();
                Limits { speed: 0.0, acceleration: 0.0, angular, angular_acceleration: angular * rate.abs() }
            }
        }
    }
}

/// Pose of a body as its spec says.
pub(crate) fn pose(
    position: crate::format::Triple,
    turn: &crate::format::RotationSpec,
    names: [&str; 2],
    place: &Place,
) -> Result<Pose, SceneError> {
    Ok(Pose::new(place.vector(names[0], position)?, rotation(turn, &place.field(names[1]))?))
}

#[cfg(test)]
mod tests {
    use super::{super::rotation::about, *};
    use crate::format::Triple;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn velocities_are_derivatives_and_limits_hold() {
        let place = Place::new("x.ron");
        let axis = Triple::new(1.0, 2.0, 0.5);
        let specs = [
            MotionSpec::Steady {
                velocity: Triple::new(1.0, 0.0, 0.0),
                angular_velocity: Triple::new(0.0, 2.0, 1.0),
            },
            MotionSpec::Cycle { axis, arm: Triple::new(0.3, 0.1, 0.0), frequency: 0.7 },
            MotionSpec::Shake { amplitude: Triple::new(0.1, 0.0, 0.2), frequency: 2.0, phase: 30.0 },
            MotionSpec::Turn { axis, pivot: Some(Triple::new(0.0, 1.0, 0.0)), frequency: -0.4 },
            MotionSpec::Rock { axis, degrees: 20.0, frequency: 0.5, phase: 90.0 },
        ];
        let mut random = SplitMix64(8);
        let start = Pose::new(DVec3::new(1.0, 2.0, 3.0), about(DVec3::Y, 33.0));
        for spec in &specs {
            let script = Prescribed::new(spec, start, &place).unwrap();
            let limits = script.limits();
            limits.validate().unwrap();
            for _ in 0..500 {
                let (t, h) = (random.range(0.0, 5.0), 1e-6);
                let arm = random.unit_vec3() * 0.4;
                let point = |t: f64| script.pose(t).transform_point(arm);
                let slope = (point(t + h) - point(t - h)) / (2.0 * h);
                let motion = script.velocity(t);
                let exact = motion.velocity_at(script.pose(t).transform_vector(arm));
                assert!((slope - exact).length() < 1e-7, "{spec:?}");
                assert!(motion.linear.length() <= limits.speed * (1.0 + 1e-12), "{spec:?}");
                assert!(motion.angular.length() <= limits.angular * (1.0 + 1e-12), "{spec:?}");
                let acceleration =
                    (script.velocity(t + h).linear - script.velocity(t - h).linear) / (2.0 * h);
                assert!(acceleration.length() <= limits.acceleration * (1.0 + 1e-6) + 1e-6, "{spec:?}");
            }
        }
        let still = Prescribed::new(&specs[1], start, &place).unwrap();
        assert!((still.pose(0.0).translation - start.translation).length() < 1e-15);
    }
}
