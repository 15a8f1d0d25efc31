//! The rotation of one body as a [`SecondOrderSystem`], for every integrator of this module.
//!
//! # Reference
//! Barenbrug (2000), 3.1 and appendix B, with the sign of the quaternion rate that agrees with ṗ = v + ω × r.
//!
//! # Symbols
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | `q` | attitude, x, y, z, w | world from body | |
//! | `v` | angular velocity ω | world | rad/s |
//! | `torque` | M(t, q, ω) | world | N·m |
//!
//! # Formula
//! ```text
//! q̇ = ½ (ω, 0) ⊗ q        ω̇ = A J⁻¹ Aᵀ (M − ω × A J Aᵀ ω)
//! ```
//!
//! # Cost
//! One torque and four vector rotations per evaluation.
//!
//! # Numerics
//! The state is (q, ω) with ω in world axes, as *Dynamo* has it; [`super::TorqueFreeBody`] and
//! [`super::lie_rk4`] keep the momentum better.
//!
//! # Failure
//! None of its own; a torque that is not finite makes the integrator report the state component.
//!
//! # Tested by
//! `euler_variants_have_order_one`, `torque_turns_the_body_in_one_modified_euler_step`.

use super::TorqueFreeBody;
use crate::integrate::{Abort, SecondOrderSystem};
use crate::rotation::quat_rate_world;
use glam::{DQuat, DVec3};

/// One body that turns under a torque; state (q, ω), seven numbers.
#[derive(Debug, Clone)]
pub struct RigidRotation<F> {
    body: TorqueFreeBody,
    torque: F,
}

impl<F: FnMut(f64, DQuat, DVec3) -> DVec3> RigidRotation<F> {
    /// Body with its principal moments and `torque(t, q, omega)`, N·m, both in world axes.
    pub fn new(body: TorqueFreeBody, torque: F) -> Self {
        Self { body, torque }
    }

    /// The state of an attitude and an angular velocity in world axes, rad/s.
    #[must_use]
    pub fn state(q: DQuat, omega: DVec3) -> [f64; 7] {
        [q.x, q.y, q.z, q.w, omega.x, omega.y, omega.z]
    }

    /// Attitude and angular velocity in world axes, rad/s, of a state of length 7.
    #[must_use]
    pub fn split(y: &[f64; 7]) -> (DQuat, DVec3) {
        (DQuat::from_slice(y), DVec3::from_slice(&y[4..]))
    }
}

impl<F: FnMut(f64, DQuat, DVec3) -> DVec3> SecondOrderSystem for RigidRotation<F> {
    fn position_dim(&self) -> usize {
        4
    }

    fn velocity_dim(&self) -> usize {
        3
    }

    fn acceleration(&mut self, t: f64, q: &[f64], v: &[f64], a: &mut [f64]) -> Result<(), Abort> {
        let (q, omega) = (DQuat::from_slice(q), DVec3::from_slice(v));
        let torque = (self.torque)(t, q, omega);
        let inverse = q.conjugate();
        let alpha = q * self.body.acceleration(inverse * omega, inverse * torque);
        alpha.write_to_slice(a);
        Ok(())
    }

    fn position_rate(&mut self, q: &[f64], v: &[f64], q_dot: &mut [f64]) {
        quat_rate_world(DQuat::from_slice(q), DVec3::from_slice(v)).write_to_slice(q_dot);
    }

    fn project(&mut self, q: &mut [f64]) {
        let squared: f64 = q.iter().map(|x| x * x).sum();
        let scale = 1.0 / squared.sqrt();
        q.iter_mut().for_each(|x| *x *= scale);
    }
}
