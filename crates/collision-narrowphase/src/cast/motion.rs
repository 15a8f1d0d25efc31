//! A rigid motion with known bounds: a point of the body on a parabola, and a constant spin about it.
//!
//! # Reference
//! Mirtich 1996 §2.3 (ballistic motion between collisions); a screw is the special case of a point on its axis.
//!
//! # Symbols
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | `center` | point that travels on the parabola | body | m |
//! | `velocity`, `acceleration` | of that point at t = 0 | world | m/s, m/s² |
//! | `spin` ω | angular velocity, constant | world | rad/s |
//!
//! # Formula
//! ```text
//! c(t) = c₀ + v t + ½ a t²,   R(t) = exp(ω t) R₀,   x(t) = c(t) + R(t) (x_body − center)
//! ```
//!
//! # Cost
//! One rotation by an axis and an angle per pose.
//!
//! # Numerics
//! Exact up to rounding for any t.
//!
//! # Failure
//! Non-finite numbers are found by the casts that use a motion.
//!
//! # Tested by
//! `tests/casts.rs`: `motions_do_what_they_say`

use sim_math::{
    Pose,
    glam::{DQuat, DVec3},
};

/// Where a body is at each time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Motion {
    /// Pose at t = 0.
    pub start: Pose,
    /// The point that moves on a parabola, in the body's frame, metres.
    pub center: DVec3,
    /// Velocity of that point at t = 0, world axes, m/s.
    pub velocity: DVec3,
    /// Its acceleration, world axes, m/s².
    pub acceleration: DVec3,
    /// Angular velocity, world axes, rad/s; constant.
    pub spin: DVec3,
}

impl Motion {
    /// At rest.
    #[must_use]
    pub const fn still(start: Pose) -> Self {
        Self {
            start,
            center: DVec3::ZERO,
            velocity: DVec3::ZERO,
            acceleration: DVec3::ZERO,
            spin: DVec3::ZERO,
        }
    }

    /// Straight on without turning, m/s.
    #[must_use]
    pub const fn linear(start: Pose, velocity: DVec3) -> Self {
        Self { velocity, ..Self::still(start) }
    }

    /// Free flight: the body frame's origin (its centre of mass) on a parabola, with a constant spin.
    #[must_use]
    pub const fn ballistic(start: Pose, velocity: DVec3, acceleration: DVec3, spin: DVec3) -> Self {
        Self { velocity, acceleration, spin, ..Self::still(start) }
    }

    /// A screw: turning with `spin` (rad/s) about an axis through `point` (world, metres) and moving along with
    /// `velocity` (m/s).
    #[must_use]
    pub fn screw(start: Pose, point: DVec3, spin: DVec3, velocity: DVec3) -> Self {
        Self { velocity, spin, center: start.inverse_transform_point(point), ..Self::still(start) }
    }

    /// Pose at a time, seconds.
    #[must_use]
    pub fn pose(&self, t: f64) -> Pose {
        let center =
            self.start.transform_point(self.center) + t * self.velocity + (0.5 * t * t) * self.acceleration;
        let rotation = if self.spin == DVec3::ZERO {
            self.start.rotation
        } else {
            (DQuat::from_scaled_axis(t * self.spin) * self.start.rotation).normalize()
        };
        Pose::new(center - rotation * self.center, rotation)
    }

    /// Velocity of the centre at a time, m/s.
    #[inline]
    #[must_use]
    pub fn center_velocity(&self, t: f64) -> DVec3 {
        self.velocity + t * self.acceleration
    }

    /// Name and value of the first part that is not finite.
    #[must_use]
    pub fn fault(&self) -> Option<(&'static str, DVec3)> {
        let rotation = if self.start.rotation.is_finite() { DVec3::ZERO } else { DVec3::NAN };
        [
            ("start.translation", self.start.translation),
            ("start.rotation", rotation),
            ("center", self.center),
            ("velocity", self.velocity),
            ("acceleration", self.acceleration),
            ("spin", self.spin),
        ]
        .into_iter()
        .find(|(_, v)| !v.is_finite())
    }
}
