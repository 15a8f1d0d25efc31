//! The relative pose of two shapes as the walks use it: a matrix, both ways, checked or repaired.

use sim_math::{
    Pose,
    glam::{DMat3, DVec3},
};
use thiserror::Error;

/// Columns that are not of unit length or not at right angles, by the worst deviation.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("matrix is not a rotation: RᵀR differs from the identity by {deviation}, determinant {determinant}")]
pub struct NotRotation {
    /// Largest entry of Rᵀ R − 1 by magnitude.
    pub deviation: f64,
    /// Determinant, 1 for a rotation.
    pub determinant: f64,
}

/// x ↦ R x + t with R as a matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Rotation.
    pub rotation: DMat3,
    /// Metres.
    pub translation: DVec3,
}

impl Frame {
    /// From a pose. The quaternion is normalised first: closest-feature walks can cycle in skewed frames.
    #[inline]
    #[must_use]
    pub fn from_pose(pose: &Pose) -> Self {
        // Rotation matrix of an unnormalised quaternion: s = 2 / |q|² removes any drift without a square root.
        let q = pose.rotation;
        let s = 2.0 / q.length_squared();
        let (x, y, z) = (q.x * s, q.y * s, q.z * s);
        let (xx, yy, zz) = (q.x * x, q.y * y, q.z * z);
        let (xy, xz, yz) = (q.x * y, q.x * z, q.y * z);
        let (wx, wy, wz) = (q.w * x, q.w * y, q.w * z);
        Self {
            rotation: DMat3::from_cols(
                DVec3::new(1.0 - (yy + zz), xy + wz, xz - wy),
                DVec3::new(xy - wz, 1.0 - (xx + zz), yz + wx),
                DVec3::new(xz + wy, yz - wx, 1.0 - (xx + yy)),
            ),
            translation: pose.translation,
        }
    }

    /// From a matrix that must be a rotation to within 1e-9.
    ///
    /// # Errors
    /// [`NotRotation`] with the deviation, also for a reflection or non-finite entries.
    pub fn from_matrix(rotation: DMat3, translation: DVec3) -> Result<Self, NotRotation> {
        let gram = rotation.transpose() * rotation - DMat3::IDENTITY;
        let deviation = gram.to_cols_array().iter().fold(0.0_f64, |m, x| {
            // `max` would swallow a NaN.
            if x.abs() <= m { m } else { x.abs() }
        });
        let determinant = rotation.determinant();
        if deviation <= 1e-9 && determinant > 0.0 {
            Ok(Self { rotation, translation })
        } else {
            Err(NotRotation { deviation, determinant })
        }
    }

    /// The same transform as a pose.
    #[must_use]
    pub fn to_pose(&self) -> Pose {
        Pose::new(self.translation, sim_math::glam::DQuat::from_mat3(&self.rotation).normalize())
    }

    /// Transforms a point.
    #[inline]
    #[must_use]
    pub fn point(&self, p: DVec3) -> DVec3 {
        self.rotation * p + self.translation
    }

    /// Rotates a vector.
    #[inline]
    #[must_use]
    pub fn vector(&self, v: DVec3) -> DVec3 {
        self.rotation * v
    }

    /// Rotates a vector back: Rᵀ v.
    #[inline]
    #[must_use]
    pub fn back(&self, v: DVec3) -> DVec3 {
        let r = &self.rotation;
        DVec3::new(r.x_axis.dot(v), r.y_axis.dot(v), r.z_axis.dot(v))
    }

    /// Transforms a point back: Rᵀ (p − t).
    #[inline]
    #[must_use]
    pub fn point_back(&self, p: DVec3) -> DVec3 {
        self.back(p - self.translation)
    }

    /// The inverse transform.
    #[inline]
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self { rotation: self.rotation.transpose(), translation: -self.back(self.translation) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::{glam::DQuat, testkit::SplitMix64};

    // proves: FON-44
    #[test]
    fn quaternion_and_matrix_agree_and_skew_is_rejected_or_repaired() {
        let mut random = SplitMix64(1);
        for _ in 0..1000 {
            let pose = Pose::new(random.vec3(3.0), random.unit_quat());
            let frame = Frame::from_pose(&pose);
            let same = Frame::from_matrix(pose.rotation_matrix(), pose.translation).unwrap();
            let p = random.vec3(2.0);
            assert!((frame.point(p) - pose.transform_point(p)).length() < 1e-14);
            assert!((frame.point(p) - same.point(p)).length() < 1e-14);
            assert!((frame.inverse().point(frame.point(p)) - p).length() < 1e-14);
            assert!((frame.point_back(frame.point(p)) - p).length() < 1e-14);
            assert!((frame.to_pose().transform_point(p) - frame.point(p)).length() < 1e-14);
            // A quaternion that has drifted describes the same rotation.
            let drifted = Pose::new(pose.translation, pose.rotation * 1.001);
            assert!((Frame::from_pose(&drifted).point(p) - frame.point(p)).length() < 1e-14);
            let mut skewed = pose.rotation_matrix();
            skewed.x_axis += 1e-3 * skewed.y_axis;
            assert!(Frame::from_matrix(skewed, DVec3::ZERO).is_err());
        }
        assert!(Frame::from_matrix(-DMat3::IDENTITY, DVec3::ZERO).is_err());
        assert!(Frame::from_matrix(DMat3::NAN, DVec3::ZERO).is_err());
        assert!(Frame::from_matrix(DMat3::from_quat(DQuat::IDENTITY), DVec3::X).is_ok());
    }
}
