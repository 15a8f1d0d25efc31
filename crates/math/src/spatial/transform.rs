//! Change of point and axes for motions, forces and inertias, without 6x6 matrices.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), 2.8 and table A.4; Cline 2002, 2.4.3 (adjoint);
//! Arnold 1997, 2.1.1, whose inertia rule has source and target exchanged in print. Fontijne and Mirtich write
//! forces as (f; τ) with one X for both kinds; here the kinds are types and the order is angular first.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `rotation` R | columns are b's axes in a | – |
//! | `translation` p | origin of b in a | m |
//! | Arnold's `X_αβ` = (A, b) | `b_from_a` with A = Rᵀ, b = p: α is a, β is b | – |
//!
//! # Formula
//! ```text
//! motion   ω_a = R ω_b           v_a = R v_b + p × ω_a             X  = [R 0; p̃R R]
//! force    f_a = R f_b           n_a = R n_b + p × f_a             X* = X⁻ᵀ
//! rigid    m,  h_a = R h + m p,  I_a = R I Rᵀ + 2(p·Rh)1 − p(Rh)ᵀ − (Rh)pᵀ + m(p·p 1 − ppᵀ)
//! articulated, with J H M rotated first:
//!          M_a = M,   H_a = H + p̃M,   J_a = J − H p̃ + p̃ H_aᵀ
//! ```
//! # Cost
//! Motion and force 24 multiplications, rigid inertia about 80, articulated inertia about 190; no allocation.
//!
//! # Numerics
//! Backward stable. Inertias stay exactly symmetric because only one triangle exists.
//!
//! # Failure
//! None; the rotation is expected to be one.
//!
//! # Tested by
//! `structured_products_equal_the_6x6`, `power_is_invariant_and_inverse_undoes`,
//! `composition_is_transitive`, `inertia_congruence_equals_parallel_axis`.

use super::{ArticulatedInertia, Force, Motion, RigidInertia};
use crate::{Pose, Sym3, rotation::cross_times_mat3, small::Mat6};
use glam::{DMat3, DVec3};
use std::ops::Mul;

/// `a_from_b` for spatial quantities: the same meaning as a [`Pose`], with the rotation as a matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SpatialTransform {
    /// Rotation from b's axes to a's axes.
    pub rotation: DMat3,
    /// Origin of b in a's coordinates, metres.
    pub translation: DVec3,
}

impl Default for SpatialTransform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl SpatialTransform {
    /// The transform that changes nothing.
    pub const IDENTITY: Self = Self { rotation: DMat3::IDENTITY, translation: DVec3::ZERO };

    /// From its parts: b's axes in a as columns, b's origin in a.
    #[inline]
    #[must_use]
    pub const fn new(rotation: DMat3, translation: DVec3) -> Self {
        Self { rotation, translation }
    }

    /// The spatial transform of a pose with a unit quaternion.
    #[inline]
    #[must_use]
    pub fn from_pose(a_from_b: &Pose) -> Self {
        Self { rotation: a_from_b.rotation_matrix(), translation: a_from_b.translation }
    }

    /// The pose with a quaternion again, unit to rounding.
    #[inline]
    #[must_use]
    pub fn to_pose(&self) -> Pose {
        Pose::new(self.translation, glam::DQuat::from_mat3(&self.rotation).normalize())
    }

    /// From Arnold's pair: `rotation` takes a's coordinates to b's, `origin` is b's origin in a.
    ///
    /// His `X_αβ` maps motions from α = a to β = b; here it is the inverse of the returned `a_from_b`, so
    /// `X_αβ` v = `inverse_motion(v)` and `X_αβᵀ` f = `force(f)`.
    #[inline]
    #[must_use]
    pub fn from_arnold(rotation: DMat3, origin: DVec3) -> Self {
        Self { rotation: rotation.transpose(), translation: origin }
    }

    /// `b_from_a` for this `a_from_b`.
    #[inline]
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self { rotation, translation: rotation * -self.translation }
    }

    /// Coordinates in a of a point given in b.
    #[inline]
    #[must_use]
    pub fn point(&self, b: DVec3) -> DVec3 {
        self.rotation * b + self.translation
    }

    /// Coordinates in b of a point given in a.
    #[inline]
    #[must_use]
    pub fn inverse_point(&self, a: DVec3) -> DVec3 {
        transpose_mul(self.rotation, a - self.translation)
    }

    /// A motion at b's origin in b's axes, given at a's origin in a's axes.
    #[inline]
    #[must_use]
    pub fn motion(&self, b: Motion) -> Motion {
        let angular = self.rotation * b.angular;
        Motion { angular, linear: self.rotation * b.linear + self.translation.cross(angular) }
    }

    /// A motion given in a, expressed in b.
    #[inline]
    #[must_use]
    pub fn inverse_motion(&self, a: Motion) -> Motion {
        Motion {
            angular: transpose_mul(self.rotation, a.angular),
            linear: transpose_mul(self.rotation, a.linear - self.translation.cross(a.angular)),
        }
    }

    /// A force with moments about b's origin in b's axes, given about a's origin in a's axes.
    #[inline]
    #[must_use]
    pub fn force(&self, b: Force) -> Force {
        let linear = self.rotation * b.linear;
        Force { moment: self.rotation * b.moment + self.translation.cross(linear), linear }
    }

    /// A force given in a, expressed in b.
    #[inline]
    #[must_use]
    pub fn inverse_force(&self, a: Force) -> Force {
        Force {
            moment: transpose_mul(self.rotation, a.moment - self.translation.cross(a.linear)),
            linear: transpose_mul(self.rotation, a.linear),
        }
    }

    /// A rigid inertia given in b, expressed in a.
    #[inline]
    #[must_use]
    pub fn rigid_inertia(&self, b: &RigidInertia) -> RigidInertia {
        let (p, h) = (self.translation, self.rotation * b.first_moment);
        RigidInertia {
            mass: b.mass,
            first_moment: h + p * b.mass,
            inertia_at_origin: b.inertia_at_origin.congruence(self.rotation) + shift_terms(b.mass, h, p),
        }
    }

    /// A rigid inertia given in a, expressed in b.
    #[inline]
    #[must_use]
    pub fn inverse_rigid_inertia(&self, a: &RigidInertia) -> RigidInertia {
        let (p, h) = (-self.translation, a.first_moment);
        let shifted = a.inertia_at_origin + shift_terms(a.mass, h, p);
        RigidInertia {
            mass: a.mass,
            first_moment: transpose_mul(self.rotation, h + p * a.mass),
            inertia_at_origin: shifted.congruence_transposed(self.rotation),
        }
    }

    /// An articulated inertia given in b, expressed in a.
    #[inline]
    #[must_use]
    pub fn articulated_inertia(&self, b: &ArticulatedInertia) -> ArticulatedInertia {
        let r = self.rotation;
        let rotated = ArticulatedInertia {
            angular: b.angular.congruence(r),
            coupling: r * b.coupling * r.transpose(),
            linear: b.linear.congruence(r),
        };
        shift_articulated(&rotated, self.translation)
    }

    /// An articulated inertia given in a, expressed in b.
    #[inline]
    #[must_use]
    pub fn inverse_articulated_inertia(&self, a: &ArticulatedInertia) -> ArticulatedInertia {
        let r = self.rotation;
        let shifted = shift_articulated(a, -self.translation);
        ArticulatedInertia {
            angular: shifted.angular.congruence_transposed(r),
            coupling: r.transpose() * shifted.coupling * r,
            linear: shifted.linear.congruence_transposed(r),
        }
    }

    /// The adjoint as a 6x6 that maps motions from b to a. A view: the structured methods are cheaper.
    #[must_use]
    pub fn adjoint(&self) -> Mat6 {
        let lower = cross_times_mat3(self.translation, self.rotation);
        blocks(self.rotation, DMat3::ZERO, lower, self.rotation)
    }

    /// The 6x6 that maps forces from b to a: the inverse transpose of [`SpatialTransform::adjoint`].
    #[must_use]
    pub fn force_adjoint(&self) -> Mat6 {
        let upper = cross_times_mat3(self.translation, self.rotation);
        blocks(self.rotation, upper, DMat3::ZERO, self.rotation)
    }
}

/// Inertia at a point displaced by −p from the one that (m, h) refers to, minus the inertia there.
#[inline]
fn shift_terms(mass: f64, h: DVec3, p: DVec3) -> Sym3 {
    Sym3::point_inertia_pair(p, h) + Sym3::point_inertia(p) * mass
}

/// The inertia at the point −p from the present one, same axes.
#[inline]
fn shift_articulated(i: &ArticulatedInertia, p: DVec3) -> ArticulatedInertia {
    let ArticulatedInertia { angular: j, coupling: h, linear: m } = *i;
    let g = h + cross_times_mat3(p, m.to_mat3());
    // J − H p̃ + p̃ Gᵀ: entry (r, c) is J + (p × row r of H)_c + (p × row c of G)_r.
    let (h, g) = (h.transpose(), g.transpose());
    let (hx, hy, hz) = (p.cross(h.x_axis), p.cross(h.y_axis), p.cross(h.z_axis));
    let (gx, gy, gz) = (p.cross(g.x_axis), p.cross(g.y_axis), p.cross(g.z_axis));
    let angular = Sym3 {
        xx: j.xx + hx.x + gx.x,
        yy: j.yy + hy.y + gy.y,
        zz: j.zz + hz.z + gz.z,
        xy: j.xy + hx.y + gy.x,
        xz: j.xz + hx.z + gz.x,
        yz: j.yz + hy.z + gz.y,
    };
    ArticulatedInertia { angular, coupling: g.transpose(), linear: m }
}

/// Rᵀ v without forming Rᵀ.
#[inline]
fn transpose_mul(r: DMat3, v: DVec3) -> DVec3 {
    DVec3::new(r.x_axis.dot(v), r.y_axis.dot(v), r.z_axis.dot(v))
}

/// [[a, b], [c, d]] as rows.
#[inline]
pub(super) fn blocks(a: DMat3, b: DMat3, c: DMat3, d: DMat3) -> Mat6 {
    std::array::from_fn(|i| {
        let (left, right, row) = if i < 3 { (a, b, i) } else { (c, d, i - 3) };
        std::array::from_fn(|j| if j < 3 { left.col(j)[row] } else { right.col(j - 3)[row] })
    })
}

impl Mul for SpatialTransform {
    type Output = Self;

    /// `a_from_c = a_from_b * b_from_c`.
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self { rotation: self.rotation * other.rotation, translation: self.point(other.translation) }
    }
}

impl From<Pose> for SpatialTransform {
    fn from(a_from_b: Pose) -> Self {
        Self::from_pose(&a_from_b)
    }
}

#[cfg(test)]
mod tests;
