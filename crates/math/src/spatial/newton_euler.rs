//! Newton and Euler's equations of one body, in world axes at the centre of mass and in body axes.
//!
//! # Reference
//! Cline 2002, 2.4.4; Featherstone, *Rigid Body Dynamics Algorithms* (2008), 2.14 for the frame-free form
//! f = I a + v ×* I v, which [`RigidInertia`](super::RigidInertia) provides.
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | `inertia` | R `I_body` Rᵀ or `I_body`, kg·m² | that of the function |
//! | `velocity` | (ω; v) with v the velocity of the centre of mass | that of the function |
//! | result | rates of the six numbers of `velocity` | that of the function |
//!
//! # Formula
//! ```text
//! COM frame    ω̇ = I⁻¹ (n − ω × I ω)     v̇ = f / m
//! body frame   ω̇ = I⁻¹ (n − ω × I ω)     v̇ = f / m − ω × v       (rates seen in the turning axes)
//! α_world = R ω̇_body,   a_world = R (v̇_body + ω × v)
//! ```
//! # Cost
//! One 3x3 Cholesky; with an inverse tensor at hand, multiply by it instead.
//!
//! # Numerics
//! The gyroscopic moment taken explicitly adds energy at large h|ω|: integrators deal with that.
//!
//! # Failure
//! [`MathError::NotPositive`] for the mass or a pivot of the tensor.
//!
//! # Tested by
//! `both_frames_give_the_same_acceleration`, `forces_undo_accelerations`.

use super::{Force, Motion};
use crate::{
    MathError, Sym3,
    small::{Cholesky, checked_solution},
};
use glam::DVec3;

/// (α; a) in world axes at the centre of mass; `inertia` is the world tensor R I Rᵀ, kg·m², `mass` in kg.
///
/// # Errors
/// [`MathError::NotPositive`] for the mass or a pivot of the tensor, [`MathError::NonFinite`].
#[inline]
pub fn com_frame_acceleration(
    mass: f64,
    inertia: Sym3,
    velocity: Motion,
    force: Force,
) -> Result<Motion, MathError> {
    MathError::check_positive("mass", 0, mass)?;
    let gyroscopic = velocity.angular.cross(inertia * velocity.angular);
    let factors = Cholesky::factor(&inertia.to_rows())?;
    let angular = DVec3::from_array(factors.solve((force.moment - gyroscopic).to_array()));
    let x = Motion { angular, linear: force.linear / mass };
    checked_solution(force.to_array(), x.to_array()).map(Motion::from_array)
}

/// The wrench at the centre of mass, world axes, that makes the acceleration (α; a).
#[inline]
#[must_use]
pub fn com_frame_force(mass: f64, inertia: Sym3, velocity: Motion, acceleration: Motion) -> Force {
    let gyroscopic = velocity.angular.cross(inertia * velocity.angular);
    Force { moment: inertia * acceleration.angular + gyroscopic, linear: acceleration.linear * mass }
}

/// Rates (ω̇; v̇) of the body-frame velocity at the centre of mass; `inertia` is constant in these axes, kg·m².
///
/// The rates are those seen in the turning axes: the true acceleration is v̇ + ω × v, as
/// [`Motion::classical_from_spatial`] adds it.
///
/// # Errors
/// [`MathError::NotPositive`] for the mass or a pivot of the tensor, [`MathError::NonFinite`].
#[inline]
pub fn body_frame_acceleration(
    mass: f64,
    inertia: Sym3,
    velocity_body: Motion,
    force_body: Force,
) -> Result<Motion, MathError> {
    let classical = com_frame_acceleration(mass, inertia, velocity_body, force_body)?;
    Ok(classical.spatial_from_classical(velocity_body))
}

/// The wrench at the centre of mass, body axes, that makes the rates (ω̇; v̇) of the body-frame velocity.
#[inline]
#[must_use]
pub fn body_frame_force(mass: f64, inertia: Sym3, velocity_body: Motion, rates: Motion) -> Force {
    com_frame_force(mass, inertia, velocity_body, rates.classical_from_spatial(velocity_body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        rotation::{mat3_from_quat, quat_exp},
        spatial::{RigidInertia, SpatialTransform},
        testkit::{SpdInertia, SplitMix64, UnitQuat, Vector, check},
    };

    // proves: CLI-20
    #[test]
    fn both_frames_give_the_same_acceleration() {
        fn property(body: SpdInertia, q: UnitQuat, w: Vector, v: Vector, n: Vector, f: Vector) -> bool {
            let r = mat3_from_quat(q.0);
            let tensor_body = Sym3::from_diagonal(body.moments);
            let (velocity, force) = (Motion::new(w.0, v.0), Force::new(n.0, f.0));
            let to_body = |x: DVec3| r.transpose() * x;
            let velocity_body = Motion::new(to_body(w.0), to_body(v.0));
            let force_body = Force::new(to_body(n.0), to_body(f.0));
            let world =
                com_frame_acceleration(body.mass, tensor_body.congruence(r), velocity, force).unwrap();
            let rates = body_frame_acceleration(body.mass, tensor_body, velocity_body, force_body).unwrap();
            let (angular, linear) =
                (r * rates.angular, r * (rates.linear + velocity_body.angular.cross(velocity_body.linear)));
            // ω × I ω / I can be as large as |ω|² times the ratio of moments.
            let ratio = body.moments.max_element() / body.moments.min_element();
            let size = w.0.length_squared() * ratio + n.0.length() / body.moments.min_element();
            let linear_size = f.0.length() / body.mass + w.0.length() * v.0.length();
            // The frame-free form f = I a + v ×* I v, at a point that is not the centre of mass.
            let at = SpatialTransform::new(r, DVec3::new(0.3, -0.4, 0.5));
            let inertia = RigidInertia::from_com(body.mass, DVec3::ZERO, tensor_body);
            let (i, vo, fo) = (at.rigid_inertia(&inertia), at.motion(velocity_body), at.force(force_body));
            let ao = at.motion(rates);
            let frame_free = i.mul_motion(ao) + i.bias_force(vo) - fo;
            let force_size = fo.moment.length()
                + fo.linear.length()
                + i.mass * (linear_size + size + vo.linear.length() * w.0.length())
                + body.moments.max_element() * (size + w.0.length_squared());
            (angular - world.angular).length() <= 1e-13 * size
                && (linear - world.linear).length() <= 1e-14 * linear_size
                && frame_free.moment.length() + frame_free.linear.length() <= 1e-13 * force_size
        }
        type Property = fn(SpdInertia, UnitQuat, Vector, Vector, Vector, Vector) -> bool;
        check(171, 20_000, property as Property);
    }

    #[test]
    fn forces_undo_accelerations() {
        let mut random = SplitMix64(172);
        for _ in 0..2000 {
            let tensor = Sym3::from_diagonal(random.vec3(1.0).abs() + DVec3::splat(1.0))
                .congruence(mat3_from_quat(random.unit_quat()));
            let mut any = || (random.vec3(2.0), random.vec3(2.0));
            let ((w, v), (n, f)) = (any(), any());
            let (velocity, force) = (Motion::new(w, v), Force::new(n, f));
            let a = com_frame_acceleration(1.7, tensor, velocity, force).unwrap();
            let b = body_frame_acceleration(1.7, tensor, velocity, force).unwrap();
            for back in
                [com_frame_force(1.7, tensor, velocity, a), body_frame_force(1.7, tensor, velocity, b)]
            {
                assert!((back.moment - n).length() + (back.linear - f).length() < 1e-13);
            }
        }
    }

    #[test]
    fn without_moment_the_angular_momentum_stands_still() {
        // dL/dt = ω × Iω + I α = 0 along the motion, by a finite difference of the world tensor.
        let mut random = SplitMix64(173);
        for _ in 0..500 {
            let moments = random.vec3(1.0).abs() + DVec3::splat(1.0);
            let (q, w) = (random.unit_quat(), random.vec3(2.0));
            let tensor = |q| Sym3::from_diagonal(moments).congruence(mat3_from_quat(q));
            let a = com_frame_acceleration(1.0, tensor(q), Motion::new(w, DVec3::ZERO), Force::ZERO).unwrap();
            let h = 1e-5;
            let momentum = |t: f64| tensor(quat_exp(w * t) * q) * (w + a.angular * t);
            assert!(((momentum(h) - momentum(-h)) * (0.5 / h)).length() < 1e-8);
        }
    }

    #[test]
    fn bad_bodies_are_refused() {
        let go = |mass, inertia| com_frame_acceleration(mass, inertia, Motion::ZERO, Force::ZERO);
        for mass in [0.0, -1.0] {
            assert!(matches!(go(mass, Sym3::IDENTITY), Err(MathError::NotPositive { what: "mass", .. })));
        }
        for mass in [f64::NAN, f64::INFINITY] {
            assert!(matches!(go(mass, Sym3::IDENTITY), Err(MathError::NonFinite { what: "mass", .. })));
        }
        assert!(matches!(go(1.0, Sym3::ZERO), Err(MathError::NotPositive { .. })));
        assert!(body_frame_acceleration(0.0, Sym3::IDENTITY, Motion::ZERO, Force::ZERO).is_err());
    }
}
