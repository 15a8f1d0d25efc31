//! Position and orientation of one frame in another.

use glam::{DMat3, DMat4, DQuat, DVec3};
use std::ops::Mul;

/// A rigid transform x ↦ R x + p, named `a_from_b` where it maps coordinates in b to coordinates in a.
///
/// Composition reads by eye: `a_from_c = a_from_b * b_from_c`. The rotation is expected to be a unit
/// quaternion; [`Pose::renormalized`] repairs the drift of long products.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// Origin of b in a's coordinates, metres.
    pub translation: DVec3,
    /// Rotation from b's axes to a's axes, unit quaternion.
    pub rotation: DQuat,
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// The transform that changes nothing.
    pub const IDENTITY: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// Pose with the given origin and orientation.
    #[inline]
    #[must_use]
    pub const fn new(translation: DVec3, rotation: DQuat) -> Self {
        Self { translation, rotation }
    }

    /// Pure translation.
    #[inline]
    #[must_use]
    pub const fn from_translation(translation: DVec3) -> Self {
        Self { translation, rotation: DQuat::IDENTITY }
    }

    /// Pure rotation.
    #[inline]
    #[must_use]
    pub const fn from_rotation(rotation: DQuat) -> Self {
        Self { translation: DVec3::ZERO, rotation }
    }

    /// Coordinates in a of a point given in b.
    #[inline]
    #[must_use]
    pub fn transform_point(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// Coordinates in a of a direction given in b.
    #[inline]
    #[must_use]
    pub fn transform_vector(&self, vector: DVec3) -> DVec3 {
        self.rotation * vector
    }

    /// Coordinates in b of a point given in a: Rᵀ (x − p), without forming the inverse.
    #[inline]
    #[must_use]
    pub fn inverse_transform_point(&self, point: DVec3) -> DVec3 {
        self.rotation.conjugate() * (point - self.translation)
    }

    /// Coordinates in b of a direction given in a.
    #[inline]
    #[must_use]
    pub fn inverse_transform_vector(&self, vector: DVec3) -> DVec3 {
        self.rotation.conjugate() * vector
    }

    /// `b_from_a` for this `a_from_b`.
    #[inline]
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { translation: rotation * -self.translation, rotation }
    }

    /// `self⁻¹ * other`: the pose of `other` seen from `self`.
    #[inline]
    #[must_use]
    pub fn inverse_mul(&self, other: &Self) -> Self {
        let inverse = self.rotation.conjugate();
        Self {
            translation: inverse * (other.translation - self.translation),
            rotation: inverse * other.rotation,
        }
    }

    /// Rotation as a matrix whose columns are b's axes in a.
    #[inline]
    #[must_use]
    pub fn rotation_matrix(&self) -> DMat3 {
        DMat3::from_quat(self.rotation)
    }

    /// Homogeneous 4x4 matrix.
    #[inline]
    #[must_use]
    pub fn to_mat4(&self) -> DMat4 {
        DMat4::from_rotation_translation(self.rotation, self.translation)
    }

    /// The same pose with a unit quaternion again.
    #[inline]
    #[must_use]
    pub fn renormalized(&self) -> Self {
        Self { translation: self.translation, rotation: self.rotation.normalize() }
    }

    /// True if all seven numbers are finite.
    #[inline]
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite()
    }
}

impl Mul for Pose {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self {
            translation: self.transform_point(other.translation),
            rotation: self.rotation * other.rotation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(k: f64) -> Pose {
        Pose::new(
            DVec3::new(k, -2.0 * k, 0.5),
            DQuat::from_axis_angle(DVec3::new(1.0, k, -k).normalize(), 0.7 * k),
        )
    }

    #[test]
    fn inverse_undoes_and_composition_associates() {
        let (f, g, h) = (sample(0.3), sample(-1.1), sample(2.4));
        let x = DVec3::new(0.2, 3.0, -0.7);
        assert!((f.inverse().transform_point(f.transform_point(x)) - x).length() < 1e-14);
        assert!((f.inverse_transform_point(f.transform_point(x)) - x).length() < 1e-14);
        let left = ((f * g) * h).transform_point(x);
        let right = (f * (g * h)).transform_point(x);
        assert!((left - right).length() < 1e-14);
        assert!(
            (f.inverse_mul(&g).transform_point(x) - (f.inverse() * g).transform_point(x)).length() < 1e-14
        );
    }

    #[test]
    fn matrix_form_agrees() {
        let f = sample(1.7);
        let x = DVec3::new(0.2, 3.0, -0.7);
        assert!((f.to_mat4().transform_point3(x) - f.transform_point(x)).length() < 1e-14);
        assert!((f.rotation_matrix() * x - f.transform_vector(x)).length() < 1e-14);
    }
}
