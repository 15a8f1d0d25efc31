//! Spatial (six-dimensional) algebra: motions and forces as distinct types, angular part first.
//!
//! A [`Motion`] and a [`Force`] refer to a point and to axes that the surrounding code names: world axes at
//! the contact point in contact code, link axes at the link origin in articulated code. Their product
//! [`Force::dot`] is power and does not depend on the choice.
//!
//! | type | numbers | what |
//! |---|---|---|
//! | [`Motion`] | 6 | twist, velocity, acceleration (ω; v) |
//! | [`Force`] | 6 | wrench, impulse, momentum (n; f) |
//! | [`RigidInertia`] | 10 | mass, first moment, inertia at the origin |
//! | [`ArticulatedInertia`] | 21 | inertia of a body with joints below it |
//! | [`SpatialTransform`] | 12 | rotation matrix and translation, never a 6x6 |
//!
//! 6x6 matrices appear only as views for tests and users: [`SpatialTransform::adjoint`], `to_mat6`.
//!
//! ```
//! use sim_math::{Pose, glam::{DQuat, DVec3}, spatial::{Force, Motion, SpatialTransform}};
//!
//! let a_from_b = SpatialTransform::from_pose(&Pose::new(DVec3::X, DQuat::from_rotation_z(0.3)));
//! let (v_b, f_b) = (Motion::new(DVec3::Z, DVec3::Y), Force::new(DVec3::X, DVec3::ONE));
//! let (v_a, f_a) = (a_from_b.motion(v_b), a_from_b.force(f_b));
//! assert!((f_a.dot(v_a) - f_b.dot(v_b)).abs() < 1e-15);
//! ```

mod articulated_inertia;
mod force;
mod motion;
mod newton_euler;
mod rigid_inertia;
mod transform;
mod twist;

pub use articulated_inertia::ArticulatedInertia;
pub use force::Force;
pub use motion::Motion;
pub use newton_euler::{body_frame_acceleration, body_frame_force, com_frame_acceleration, com_frame_force};
pub use rigid_inertia::RigidInertia;
pub use transform::SpatialTransform;

#[cfg(all(test, feature = "serde"))]
mod tests {
    #[test]
    fn plain_data_can_be_stored() {
        fn stored<T: serde::Serialize + serde::de::DeserializeOwned>() {}
        stored::<super::Motion>();
        stored::<super::Force>();
        stored::<super::RigidInertia>();
        stored::<super::ArticulatedInertia>();
        stored::<super::SpatialTransform>();
        stored::<crate::Sym3>();
        stored::<crate::small::Eigen3>();
        stored::<crate::rotation::AngleTriple>();
        stored::<crate::rotation::AngleSequence>();
    }
}
