//! Motion between collisions: a parabola and a constant spin.

use sim_math::{Aabb, MathError, Pose, glam::DVec3, integrate::rotation::rotate_world, swept};

/// How one member moves until the next collision.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight {
    pub(super) pose: Pose,
    pub(super) velocity: DVec3,
    pub(super) acceleration: DVec3,
    pub(super) omega: DVec3,
    /// Radius by which spin can move a point of the shape; 0 for a ball about its own centre.
    pub(super) spin_radius: f64,
    /// Radius of the shape about the centre; may be infinite.
    pub(super) radius: f64,
}

impl Flight {
    /// Position after `tau` seconds.
    pub(super) fn position(&self, tau: f64) -> DVec3 {
        self.pose.translation + self.velocity * tau + self.acceleration * (0.5 * tau * tau)
    }

    /// Pose after `tau` seconds.
    pub(super) fn pose(&self, tau: f64) -> Pose {
        Pose::new(self.position(tau), rotate_world(self.pose.rotation, self.omega, tau))
    }

    /// Velocity of the centre after `tau` seconds.
    pub(super) fn velocity(&self, tau: f64) -> DVec3 {
        self.velocity + self.acceleration * tau
    }

    /// Coefficients (A, B) such that no point of the shape travels more than A s² + B s along `direction` (unit)
    /// within the next s seconds, seen from `tau` (Mirtich 1996, section 2.3.2).
    pub(super) fn travel_bound(&self, tau: f64, direction: DVec3) -> (f64, f64) {
        let spin = self.spin_radius * self.omega.length();
        let spin = if spin > 0.0 { spin } else { 0.0 };
        (0.5 * self.acceleration.dot(direction), self.velocity(tau).dot(direction) + spin)
    }

    /// Box that contains the shape at all times from 0 to `tau`.
    pub(super) fn swept_box(&self, tau: f64) -> Result<Aabb, MathError> {
        swept::ballistic_box(self.pose.translation, self.velocity, self.acceleration, tau, self.radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn swept_boxes_and_travel_bounds_hold_for_sampled_points() {
        let mut random = SplitMix64(5);
        for _ in 0..200 {
            let corner = random.vec3(0.5);
            let flight = Flight {
                pose: Pose::new(random.vec3(2.0), random.unit_quat()),
                velocity: random.vec3(5.0),
                acceleration: random.vec3(10.0),
                omega: random.vec3(20.0),
                spin_radius: corner.length(),
                radius: corner.length(),
            };
            let direction = random.unit_vec3();
            let (a, b) = flight.travel_bound(0.0, direction);
            let aabb = flight.swept_box(1.0).unwrap().grown(1e-12);
            let start = flight.pose(0.0).transform_point(corner);
            for k in 0..=100 {
                let tau = f64::from(k) / 100.0;
                let p = flight.pose(tau).transform_point(corner);
                assert!(aabb.contains(p));
                assert!((p - start).dot(direction) <= a * tau * tau + b * tau + 1e-12);
            }
        }
    }
}
