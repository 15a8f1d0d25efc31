//! Twists as 4x4 brackets, and the change between the centre of mass and the world origin as reference point.
//!
//! # Reference
//! Cline 2002, 2.4.1; Murray, Li and Sastry, *A Mathematical Introduction to Robotic Manipulation* (1994), 2.4.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `bracket` | \[ω̃ v; 0 0\], times a homogeneous point gives its velocity |
//! | spatial twist | linear part is the velocity of the body point now at the world origin |
//! | COM twist | linear part is the velocity of the centre of mass, world axes |
//!
//! # Formula
//! ```text
//! ġ = [V] g,    v_origin = v_com − ω × c,    a_spatial = a_classical − (0; ω × v)
//! ```
//! # Cost
//! A cross product; the bracket is a view for tests and users.
//!
//! # Numerics
//! `v_origin` grows with the distance to the origin and so does its rounding: the engine keeps COM twists.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `bracket_times_point_is_its_velocity`, `both_twists_give_every_point_the_same_velocity`,
//! `spatial_acceleration_is_the_derivative_of_the_spatial_velocity`.

use super::{Motion, transform::blocks};
use crate::{
    rotation::{cross_matrix, cross_vector},
    small::Mat6,
};
use glam::{DMat3, DMat4, DVec3};

impl Motion {
    /// The 4x4 bracket \[ω̃ v; 0 0\] of a twist: times a homogeneous point it gives the point's velocity.
    #[must_use]
    pub fn bracket(self) -> DMat4 {
        let w = cross_matrix(self.angular);
        DMat4::from_cols(
            w.x_axis.extend(0.0),
            w.y_axis.extend(0.0),
            w.z_axis.extend(0.0),
            self.linear.extend(0.0),
        )
    }

    /// The twist of a bracket: undoes [`Motion::bracket`].
    #[must_use]
    pub fn from_bracket(bracket: DMat4) -> Self {
        let angular = cross_vector(DMat3::from_mat4(bracket));
        Self { angular, linear: bracket.w_axis.truncate() }
    }

    /// The 6x6 of the motion product `self` ×; minus its transpose is that of the force product.
    #[must_use]
    pub fn cross_mat6(self) -> Mat6 {
        let w = cross_matrix(self.angular);
        blocks(w, DMat3::ZERO, cross_matrix(self.linear), w)
    }

    /// Spatial twist (reference point: world origin) of a COM twist; world axes, `center_of_mass` in the world.
    #[inline]
    #[must_use]
    pub fn origin_from_com(self, center_of_mass: DVec3) -> Self {
        self.shifted(-center_of_mass)
    }

    /// COM twist of a spatial twist (reference point: world origin); world axes, `center_of_mass` in the world.
    #[inline]
    #[must_use]
    pub fn com_from_origin(self, center_of_mass: DVec3) -> Self {
        self.shifted(center_of_mass)
    }

    /// Classical acceleration (α; acceleration of the body point at the origin) of a spatial acceleration.
    ///
    /// `self` is the rate of the six numbers (ω; v) at a fixed point of space, as Featherstone uses it; `velocity`
    /// is the motion at the same point. Arnold's recursions use the classical one.
    #[inline]
    #[must_use]
    pub fn classical_from_spatial(self, velocity: Self) -> Self {
        Self { angular: self.angular, linear: self.linear + velocity.angular.cross(velocity.linear) }
    }

    /// Spatial acceleration of a classical one: undoes [`Motion::classical_from_spatial`].
    #[inline]
    #[must_use]
    pub fn spatial_from_classical(self, velocity: Self) -> Self {
        Self { angular: self.angular, linear: self.linear - velocity.angular.cross(velocity.linear) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pose,
        rotation::quat_exp,
        testkit::{SplitMix64, Vector, check},
    };

    // proves: CLI-16
    #[test]
    fn bracket_times_point_is_its_velocity() {
        fn property(w: Vector, v: Vector, x: Vector) -> bool {
            let twist = Motion::new(w.0, v.0);
            let product = twist.bracket() * x.0.extend(1.0);
            (product.truncate() - twist.velocity_at(x.0)).length() < 1e-13
                && product.w == 0.0
                && Motion::from_bracket(twist.bracket()) == twist
        }
        check(161, 10_000, property as fn(Vector, Vector, Vector) -> bool);
        // ġ = [V] g along a real motion, by central differences.
        let mut random = SplitMix64(162);
        for _ in 0..500 {
            let (com_twist, c, q) =
                (Motion::new(random.vec3(2.0), random.vec3(2.0)), random.vec3(3.0), random.unit_quat());
            let at =
                |t: f64| Pose::new(c + com_twist.linear * t, quat_exp(com_twist.angular * t) * q).to_mat4();
            let h = 1e-5;
            let rate = (at(h) - at(-h)) * (0.5 / h);
            let spatial = com_twist.origin_from_com(c);
            assert!(rate.abs_diff_eq(spatial.bracket() * at(0.0), 1e-8));
        }
    }

    // proves: CLI-19
    #[test]
    fn both_twists_give_every_point_the_same_velocity() {
        fn property(w: Vector, v: Vector, c: Vector, x: Vector) -> bool {
            let com = Motion::new(w.0, v.0);
            let origin = com.origin_from_com(c.0);
            let size = v.0.length() + w.0.length() * (c.0.length() + x.0.length());
            (com.velocity_at(x.0 - c.0) - origin.velocity_at(x.0)).length() <= 1e-15 * 4.0 * size
                && (origin.linear - (v.0 - w.0.cross(c.0))).length() <= 1e-15 * 4.0 * size
                && (origin.com_from_origin(c.0).linear - v.0).length() <= 1e-15 * 4.0 * size
        }
        check(163, 20_000, property as fn(Vector, Vector, Vector, Vector) -> bool);
    }

    #[test]
    fn spatial_acceleration_is_the_derivative_of_the_spatial_velocity() {
        // A body turning steadily about the z axis: its spatial velocity at the world origin is constant, so
        // its spatial acceleration is zero, and the classical one is centripetal at every other point.
        let spin = Motion::new(DVec3::Z * 3.0, DVec3::ZERO);
        let r = DVec3::X * 2.0;
        let classical = Motion::ZERO.shifted(r).classical_from_spatial(spin.shifted(r));
        assert!((classical.linear - DVec3::X * -18.0).length() < 1e-14);
        // General case: x(t) of a body point, its velocity and acceleration by finite differences.
        let mut random = SplitMix64(164);
        for _ in 0..500 {
            let (omega, alpha) = (random.vec3(1.0), random.vec3(1.0));
            let (v0, a0) = (random.vec3(1.0), random.vec3(1.0));
            // World velocity of a reference point moving as v0 + a0 t, ω = ω0 + α t, at fixed space point 0.
            let velocity = |t: f64| Motion::new(omega + alpha * t, v0 + a0 * t);
            let h = 1e-4;
            // Path of the reference point: p(t) = v0 t + a0 t²/2; spatial velocity at the origin is v − ω × p.
            let path = |t: f64| v0 * t + a0 * (0.5 * t * t);
            let at_origin = |t: f64| velocity(t).shifted(-path(t));
            let rate = (at_origin(h) - at_origin(-h)) * (0.5 / h);
            let expected = Motion::new(alpha, a0).spatial_from_classical(velocity(0.0));
            assert!((rate.linear - expected.linear).length() < 1e-7);
            assert!((rate.angular - expected.angular).length() < 1e-11);
            let back = expected.classical_from_spatial(velocity(0.0));
            assert!((back.linear - a0).length() < 1e-15);
        }
    }
}
