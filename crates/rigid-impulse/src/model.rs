//! What of a body does not change: mass, principal moments, the user's frame, and what moves it.

use crate::{body::check_pose, error::BodyError};
use sim_math::{
    Pose,
    glam::{DMat3, DQuat, DVec3},
    mass,
};

/// What a body does in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BodyKind {
    /// Moves under forces and impulses.
    Free(PrincipalMass),
    /// Never moves: floors, walls, ramps.
    Fixed,
    /// Follows a script: it pushes, and nothing pushes it.
    Scripted,
}

/// Mass and principal moments of a body about its centre of mass.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PrincipalMass {
    mass: f64,
    moments: DVec3,
}

impl PrincipalMass {
    /// Mass in kg and principal moments in kg·m².
    ///
    /// # Errors
    /// A number that is not finite and positive, or moments that violate the triangle inequality (by more than
    /// rounding): no distribution of mass has them.
    pub fn new(mass: f64, moments: DVec3) -> Result<Self, BodyError> {
        for (what, value) in
            [("mass", mass), ("moment x", moments.x), ("moment y", moments.y), ("moment z", moments.z)]
        {
            if !value.is_finite() {
                return Err(BodyError::NonFinite { what, value });
            }
            if value <= 0.0 {
                return Err(BodyError::NotPositive { what, value });
            }
        }
        let sum = moments.x + moments.y + moments.z;
        if 2.0 * moments.max_element() > sum * (1.0 + 1e-9) {
            return Err(BodyError::ImpossibleMoments { moments });
        }
        Ok(Self { mass, moments })
    }

    /// The principal form of general mass properties, and the pose of the body frame (centre of mass, principal
    /// axes) in the user's.
    ///
    /// # Errors
    /// As [`PrincipalMass::new`]: a point or a thin rod has moments of zero, and cannot turn freely here.
    pub fn of(properties: &mass::MassProperties) -> Result<(Self, Pose), BodyError> {
        let frame = properties.principal()?;
        Ok((Self::new(properties.mass, frame.moments)?, frame.user_from_body))
    }

    /// A solid ball of the given mass (kg) and radius (m).
    ///
    /// # Errors
    /// As [`PrincipalMass::new`].
    pub fn ball(mass: f64, radius: f64) -> Result<Self, BodyError> {
        Self::new(mass, DVec3::splat(0.4 * mass * radius * radius))
    }

    /// A solid box of the given mass (kg) and half extents (m).
    ///
    /// # Errors
    /// As [`PrincipalMass::new`].
    pub fn cuboid(mass: f64, half: DVec3) -> Result<Self, BodyError> {
        let s = half * half;
        Self::new(mass, DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 3.0))
    }

    /// Mass, kg.
    #[inline]
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Principal moments, kg·m².
    #[inline]
    #[must_use]
    pub fn moments(&self) -> DVec3 {
        self.moments
    }

    /// Inverse inertia about the centre of mass in world axes, 1/(kg·m²).
    #[inline]
    #[must_use]
    pub fn inverse_inertia(&self, rotation: DQuat) -> DMat3 {
        let axes = DMat3::from_quat(rotation);
        let inverse = DVec3::ONE / self.moments;
        DMat3::from_cols(axes.x_axis * inverse.x, axes.y_axis * inverse.y, axes.z_axis * inverse.z)
            * axes.transpose()
    }

    /// Inertia about the centre of mass in world axes, kg·m².
    #[must_use]
    pub fn inertia(&self, rotation: DQuat) -> DMat3 {
        let axes = DMat3::from_quat(rotation);
        let m = self.moments;
        DMat3::from_cols(axes.x_axis * m.x, axes.y_axis * m.y, axes.z_axis * m.z) * axes.transpose()
    }
}

/// What of a body does not change while it moves.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyModel {
    kind: BodyKind,
    user_from_body: Pose,
}

impl BodyModel {
    /// A body that never moves, modelled in its own frame.
    pub const FIXED: Self = Self { kind: BodyKind::Fixed, user_from_body: Pose::IDENTITY };

    /// A body of this kind, modelled in its own frame.
    #[must_use]
    pub fn new(kind: BodyKind) -> Self {
        Self { kind, user_from_body: Pose::IDENTITY }
    }

    /// The same body, whose user models in another frame: `user_from_body` is the pose of the centre of mass with principal
    /// axes in that frame.
    ///
    /// # Errors
    /// The pose is not finite or its quaternion not of unit length.
    pub fn with_user_frame(mut self, user_from_body: Pose) -> Result<Self, BodyError> {
        check_pose("user frame", &user_from_body)?;
        self.user_from_body = user_from_body;
        Ok(self)
    }

    /// What the body does.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> &BodyKind {
        &self.kind
    }

    /// Pose of the centre of mass with principal axes in the frame that the user modelled in.
    #[inline]
    #[must_use]
    pub fn user_from_body(&self) -> &Pose {
        &self.user_from_body
    }

    /// 1/m, or zero for bodies that impulses do not move, 1/kg.
    #[inline]
    #[must_use]
    pub fn inverse_mass(&self) -> f64 {
        match &self.kind {
            BodyKind::Free(m) => 1.0 / m.mass,
            BodyKind::Fixed | BodyKind::Scripted => 0.0,
        }
    }

    /// Inverse inertia in world axes of the body turned like this, or zero, 1/(kg·m²).
    #[inline]
    #[must_use]
    pub fn inverse_inertia(&self, rotation: DQuat) -> DMat3 {
        match &self.kind {
            BodyKind::Free(m) => m.inverse_inertia(rotation),
            BodyKind::Fixed | BodyKind::Scripted => DMat3::ZERO,
        }
    }
}
