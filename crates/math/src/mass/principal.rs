//! Principal frame of an inertia tensor by cyclic Jacobi rotations.
//!
//! # Reference
//! Mirtich (1996), section 6.1. The rotations are those of [`crate::small::SymmetricEigen`], left unsorted.
//!
//! # Symbols
//! | code | meaning | frame | unit |
//! |---|---|---|---|
//! | `tensor` | I, inertia about the centre of mass | user axes | kg·m² |
//! | `axes` | R, columns are the principal axes, `user_from_body` | | |
//! | `moments` | diagonal of Rᵀ I R | body axes | kg·m² |
//!
//! # Formula
//! ```text
//! I = R diag(moments) Rᵀ,  R = Π J_k,  each J_k turns two axes by at most 45°
//! ```
//! Small rotations keep the axes near those of the user and the determinant at +1, so the moments are not
//! sorted; use [`crate::small::symmetric_eigen3`] for ascending ones.
//!
//! # Cost
//! At most a few sweeps of three rotations; meant for building bodies, not for the step.
//!
//! # Numerics
//! Backward stable. A tensor that is diagonal to 1e-12 of its largest entry is left alone, so a cube does
//! not get axes made of rounding errors.
//!
//! # Failure
//! A number that is not finite.
//!
//! # Tested by
//! `principal_frame_diagonalises_and_is_a_rotation`, `a_diagonal_tensor_keeps_its_axes`

use crate::{MathError, Pose, Sym3, small};
use glam::{DMat3, DQuat, DVec3};

/// Where the principal axes of a body are, and its moments about them.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PrincipalFrame {
    /// Maps coordinates in the body frame (centre of mass, principal axes) to those of the user.
    pub user_from_body: Pose,
    /// Principal moments about the x, y and z axis of the body frame, kg·m². Not sorted.
    pub moments: DVec3,
}

/// Off-diagonal entries up to this fraction of the largest entry count as zero.
const ALREADY_DIAGONAL: f64 = 1e-12;

/// Rotation R and diagonal d with `tensor` = R diag(d) Rᵀ, det R = +1.
pub(super) fn diagonalize(tensor: Sym3) -> Result<(DQuat, DVec3), MathError> {
    let off = tensor.xy.abs().max(tensor.xz.abs()).max(tensor.yz.abs());
    if off <= ALREADY_DIAGONAL * tensor.max_abs() {
        return Ok((DQuat::IDENTITY, tensor.diagonal()));
    }
    let eigen = small::diagonalize(&tensor.to_rows())?;
    let axes = DMat3::from_cols_array_2d(&eigen.vectors).transpose();
    Ok((DQuat::from_mat3(&axes).normalize(), DVec3::from_array(eigen.values)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{SpdInertia, UnitQuat, check};

    // proves: MIR-84
    #[test]
    fn principal_frame_diagonalises_and_is_a_rotation() {
        fn diagonal(body: SpdInertia, turn: UnitQuat) -> bool {
            let sym = Sym3::from_diagonal(body.moments).congruence(DMat3::from_quat(turn.0));
            let (rotation, moments) = diagonalize(sym).unwrap();
            let tensor = sym.to_mat3();
            let axes = DMat3::from_quat(rotation);
            let d = axes.transpose() * tensor * axes;
            let off = DVec3::new(d.x_axis.y, d.x_axis.z, d.y_axis.z).abs().max_element();
            let size = body.moments.max_element();
            let sorted = |v: DVec3| {
                let mut a = v.to_array();
                a.sort_by(f64::total_cmp);
                DVec3::from_array(a)
            };
            (axes.determinant() - 1.0).abs() < 1e-14
                && off <= 2e-12 * size
                && (sorted(moments) - sorted(body.moments)).abs().max_element() <= 2e-14 * size
        }
        check(84, 20_000, diagonal as fn(SpdInertia, UnitQuat) -> bool);
    }

    #[test]
    fn a_generic_tensor_is_diagonal_to_rounding() {
        let r = DMat3::from_quat(DQuat::from_xyzw(0.1, -0.5, 0.3, 0.8).normalize());
        let sym = Sym3::from_diagonal(DVec3::new(3.0, 2.0, 1.5)).congruence(r);
        let (rotation, _) = diagonalize(sym).unwrap();
        let tensor = sym.to_mat3();
        let axes = DMat3::from_quat(rotation);
        let d = axes.transpose() * tensor * axes;
        assert!(DVec3::new(d.x_axis.y, d.x_axis.z, d.y_axis.z).abs().max_element() < 3e-15);
    }

    #[test]
    fn a_diagonal_tensor_keeps_its_axes() {
        let moments = DVec3::new(3.0, 1.0, 2.0);
        let tensor = Sym3 { xy: 1e-13, ..Sym3::from_diagonal(moments) };
        assert_eq!(diagonalize(tensor), Ok((DQuat::IDENTITY, moments)));
        assert_eq!(diagonalize(Sym3::ZERO), Ok((DQuat::IDENTITY, DVec3::ZERO)));
    }
}
