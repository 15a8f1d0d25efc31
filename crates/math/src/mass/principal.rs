//! Principal frame of an inertia tensor by cyclic Jacobi rotations.
//!
//! # Reference
//! Mirtich (1996), section 6.1; Golub and Van Loan, *Matrix Computations*, section 8.5.
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
//! t = sgn(θ) / (|θ| + √(θ² + 1)),  θ = (I_qq - I_pp) / (2 I_pq);   |angle| ≤ 45°
//! ```
//! Rotations by at most 45 degrees keep the axes near those of the user and the determinant at +1, so the
//! moments are not sorted.
//!
//! # Cost
//! At most a few sweeps of three rotations; meant for building bodies, not for the step.
//!
//! # Numerics
//! Backward stable. A tensor that is diagonal to 1e-12 of its largest entry is left alone, so a cube does
//! not get axes made of rounding errors.
//!
//! # Failure
//! None for finite symmetric input: the sweeps are bounded.
//!
//! # Tested by
//! `principal_frame_diagonalises_and_is_a_rotation`, `a_diagonal_tensor_keeps_its_axes`

use crate::Pose;
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
const MAX_SWEEPS: usize = 30;

/// Rotation R and diagonal d with `tensor` = R diag(d) Rᵀ, det R = +1.
pub(super) fn diagonalize(tensor: DMat3) -> (DQuat, DVec3) {
    let mut m = tensor.to_cols_array_2d();
    let largest = m.iter().flatten().fold(0.0_f64, |l, x| l.max(x.abs()));
    let diagonal = |m: &[[f64; 3]; 3]| DVec3::new(m[0][0], m[1][1], m[2][2]);
    let off = |m: &[[f64; 3]; 3]| m[0][1].abs().max(m[0][2].abs()).max(m[1][2].abs());
    if off(&m) <= ALREADY_DIAGONAL * largest {
        return (DQuat::IDENTITY, diagonal(&m));
    }
    let mut axes = DMat3::IDENTITY.to_cols_array_2d();
    for _ in 0..MAX_SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            rotate(&mut m, &mut axes, p, q);
        }
        if off(&m) <= f64::EPSILON * f64::EPSILON * largest {
            break;
        }
    }
    (DQuat::from_mat3(&DMat3::from_cols_array_2d(&axes)).normalize(), diagonal(&m))
}

/// One Jacobi rotation in the plane of axes p and q, which makes m[p][q] zero.
fn rotate(m: &mut [[f64; 3]; 3], axes: &mut [[f64; 3]; 3], p: usize, q: usize) {
    let apq = m[p][q];
    if apq == 0.0 {
        return;
    }
    let theta = (m[q][q] - m[p][p]) / (2.0 * apq);
    // For a huge θ its square overflows to infinity and t to zero, as it should.
    let t = 1.0_f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    m[p][p] -= t * apq;
    m[q][q] += t * apq;
    m[p][q] = 0.0;
    m[q][p] = 0.0;
    let r = 3 - p - q;
    let (arp, arq) = (m[r][p], m[r][q]);
    m[r][p] = c * arp - s * arq;
    m[p][r] = m[r][p];
    m[r][q] = s * arp + c * arq;
    m[q][r] = m[r][q];
    let (vp, vq) = (DVec3::from_array(axes[p]), DVec3::from_array(axes[q]));
    axes[p] = (c * vp - s * vq).to_array();
    axes[q] = (s * vp + c * vq).to_array();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{SpdInertia, UnitQuat, check};

    // proves: MIR-84
    #[test]
    fn principal_frame_diagonalises_and_is_a_rotation() {
        fn diagonal(body: SpdInertia, turn: UnitQuat) -> bool {
            let r = DMat3::from_quat(turn.0);
            let tensor = r * DMat3::from_diagonal(body.moments) * r.transpose();
            let (rotation, moments) = diagonalize(tensor);
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
        let tensor = r * DMat3::from_diagonal(DVec3::new(3.0, 2.0, 1.5)) * r.transpose();
        let (rotation, _) = diagonalize(tensor);
        let axes = DMat3::from_quat(rotation);
        let d = axes.transpose() * tensor * axes;
        assert!(DVec3::new(d.x_axis.y, d.x_axis.z, d.y_axis.z).abs().max_element() < 3e-15);
    }

    #[test]
    fn a_diagonal_tensor_keeps_its_axes() {
        let moments = DVec3::new(3.0, 1.0, 2.0);
        let mut tensor = DMat3::from_diagonal(moments);
        tensor.x_axis.y = 1e-13;
        tensor.y_axis.x = 1e-13;
        assert_eq!(diagonalize(tensor), (DQuat::IDENTITY, moments));
        assert_eq!(diagonalize(DMat3::ZERO), (DQuat::IDENTITY, DVec3::ZERO));
    }
}
