//! Rotations: quaternion kinematics, frames from directions, angle triples, repair of drifted matrices.
//!
//! Functions on glam's types; quaternions are x, y, z, w with the active meaning `q * v`, matrices have the
//! turned axes as columns. World forms take ω in world axes, body forms in the axes that turn.
//!
//! ```
//! use sim_math::{glam::{DQuat, DVec3}, rotation};
//!
//! // Half a second at 2 rad/s about z, by the exponential map.
//! let q = rotation::quat_exp(DVec3::Z * 2.0 * 0.5) * DQuat::IDENTITY;
//! assert!((rotation::quat_log(q) - DVec3::Z).length() < 1e-15);
//! // A contact frame: z is the normal, and depends on nothing else.
//! let frame = rotation::frame_from_normal(DVec3::Y)?;
//! assert_eq!(frame.z_axis, DVec3::Y);
//! # Ok::<(), sim_math::MathError>(())
//! ```

mod angles;
mod cross;
mod interpolate;
mod minimal;
mod normal;
mod orthonormalize;
mod quaternion;

pub use angles::{AngleSequence, AngleTriple};
pub use cross::{cross_matrix, cross_times_mat3, cross_vector, mat3_times_cross};
pub use interpolate::slerp;
pub use minimal::{minimal_rotation, rebase_frame};
pub use normal::{frame_across, frame_from_normal, split_normal};
pub use orthonormalize::{gram_schmidt, polar_rotation, polar_step};
pub use quaternion::{
    mat3_from_quat, omega_body_from_rate, omega_world_from_rate, quat_exp, quat_from_axis_angle,
    quat_from_mat3, quat_log, quat_rate_body, quat_rate_world, renormalize, rotation_angle, same_rotation,
};

use crate::MathError;
use glam::{DMat3, DQuat, DVec3};

/// How far the squared length of a "unit" vector may be from 1.
const UNIT_TOLERANCE: f64 = 1e-8;
/// How far an entry of `RᵀR` may be from the identity for R to count as a rotation.
const ROTATION_TOLERANCE: f64 = 1e-6;

fn check_unit(what: &'static str, v: DVec3) -> Result<(), MathError> {
    let squared = v.length_squared();
    if (squared - 1.0).abs() <= UNIT_TOLERANCE {
        Ok(())
    } else {
        Err(MathError::NotUnit { what, length: squared.sqrt() })
    }
}

/// `Ok` for a finite quaternion whose length is 1 to within 1e-6.
pub(crate) fn check_unit_quat(what: &'static str, q: DQuat) -> Result<(), MathError> {
    MathError::check_finite(what, &q.to_array())?;
    let length = q.length();
    if (length - 1.0).abs() <= 1e-6 { Ok(()) } else { Err(MathError::NotUnit { what, length }) }
}

/// Largest entry of |`RᵀR` − 1|.
fn orthonormality_error(r: DMat3) -> f64 {
    let (x, y, z) = (r.x_axis, r.y_axis, r.z_axis);
    let lengths = DVec3::new(x.dot(x) - 1.0, y.dot(y) - 1.0, z.dot(z) - 1.0).abs().max_element();
    let angles = DVec3::new(x.dot(y), x.dot(z), y.dot(z)).abs().max_element();
    lengths.max(angles)
}

fn check_rotation(what: &'static str, r: DMat3) -> Result<(), MathError> {
    MathError::check_finite(what, &r.to_cols_array())?;
    let deviation = orthonormality_error(r);
    let determinant = r.determinant();
    if determinant <= 0.0 {
        return Err(MathError::NotRotation { what, deviation: determinant });
    }
    if deviation <= ROTATION_TOLERANCE { Ok(()) } else { Err(MathError::NotRotation { what, deviation }) }
}
