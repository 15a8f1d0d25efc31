//! Joints: how a link moves in the frame its parent carries, from 0 to 6 degrees of freedom.
//!
//! # Reference
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), 4.4; Arnold (1997), 2.1.2, with the sign of the
//! rotational joint and the factor ½ of the quaternion rate repaired.
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | `q` | joint coordinates | |
//! | `v` | joint velocities | |
//! | `joint_from_link` | displacement by q: the joint frame is fixed in the parent | joint |
//! | `axes` S | one motion per velocity | link |
//! | `bias` c | Ṡ v, the part of the acceleration that is there without v̇ | link |
//!
//! # Formula
//! ```text
//! joint        q                v           S (columns)                     joint_from_link
//! fixed        -                -           -                               1
//! revolute     θ                θ̇           (a; 0)                          turn θ about a
//! prismatic    d                ḋ           (0; a)                          shift d along a
//! helical      θ                θ̇           (a; h a)                        turn θ, shift h θ
//! cylindrical  θ, d             θ̇, ḋ        (a; 0) (0; a)                   turn θ, shift d
//! universal    θ₁, θ₂           θ̇₁, θ̇₂      (R₂ᵀ a₁; 0) (a₂; 0)             R₁(θ₁) R₂(θ₂)
//! spherical    x y z w          ω           (e; 0)                          quaternion
//! planar       x, y, θ          ẋ, ẏ, θ̇     (0; Rᵀ e_x) (0; Rᵀ e_y) (e_z; 0)   shift (x, y, 0), turn θ about z
//! free         p, x y z w       ω, v        unit 6x6                        shift p, quaternion
//! ```
//! # Cost
//! One sine and cosine per angle.
//!
//! # Numerics
//! Quaternions need not be normalised: the rotation matrix divides by the squared norm.
//!
//! # Failure
//! The builder refuses axes that are not of length 1 and pitches that are not finite.
//!
//! # Tested by
//! `soak_velocities_and_accelerations_are_derivatives`,
//! `joints_composed_of_massless_links_are_the_joints_they_compose`,
//! `free_and_constrained_modes_span_all_six`.

use sim_math::{
    Pose,
    glam::{DMat3, DQuat, DVec3},
    ops,
    rotation::{quat_exp, quat_log, quat_rate_body},
    spatial::{Motion, SpatialTransform},
};

/// The kind of a joint, with its axes in the joint frame (which at q = 0 coincides with the link frame).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Joint {
    /// No motion.
    Fixed,
    /// A hinge: turns about a unit axis through the joint origin. q: angle, rad.
    Revolute {
        /// Unit axis, joint frame.
        axis: DVec3,
    },
    /// A slider: moves along a unit axis. q: distance, m.
    Prismatic {
        /// Unit axis, joint frame.
        axis: DVec3,
    },
    /// A screw: turns about a unit axis and moves along it by `pitch` metres per radian. q: angle, rad.
    Helical {
        /// Unit axis, joint frame.
        axis: DVec3,
        /// Advance, m/rad.
        pitch: f64,
    },
    /// Turns about and slides along one unit axis. q: angle, rad, then distance, m.
    Cylindrical {
        /// Unit axis, joint frame.
        axis: DVec3,
    },
    /// Turns about `first`, which is fixed in the parent, then about `second`, which is fixed in the link. q: two angles, rad.
    Universal {
        /// Unit axis carried by the parent, joint frame.
        first: DVec3,
        /// Unit axis carried by the link, link frame; not parallel to `first`.
        second: DVec3,
    },
    /// A ball joint. q: quaternion x, y, z, w that takes link axes to joint axes; v: angular velocity in link axes, rad/s.
    Spherical,
    /// Moves in the x-y plane of the joint frame and turns about its z axis. q: x, y in m, angle in rad; v: their rates.
    Planar,
    /// All six degrees of freedom. q: origin in the joint frame, m, then quaternion x, y, z, w;
    /// v: angular velocity, rad/s, then velocity of the origin, m/s, both in link axes.
    Free,
}

impl Joint {
    /// Number of coordinates q.
    #[inline]
    #[must_use]
    pub const fn q_len(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute { .. } | Self::Prismatic { .. } | Self::Helical { .. } => 1,
            Self::Cylindrical { .. } | Self::Universal { .. } => 2,
            Self::Planar => 3,
            Self::Spherical => 4,
            Self::Free => 7,
        }
    }

    /// Number of velocities: degrees of freedom.
    #[inline]
    #[must_use]
    pub const fn v_len(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute { .. } | Self::Prismatic { .. } | Self::Helical { .. } => 1,
            Self::Cylindrical { .. } | Self::Universal { .. } => 2,
            Self::Planar | Self::Spherical => 3,
            Self::Free => 6,
        }
    }

    /// True if each velocity is the rate of the coordinate of the same number, so that limits and springs make sense.
    #[inline]
    #[must_use]
    pub const fn has_plain_coordinates(&self) -> bool {
        !matches!(self, Self::Spherical | Self::Free)
    }

    /// Writes the coordinates at which the link frame coincides with the joint frame.
    pub fn write_neutral(&self, q: &mut [f64]) {
        q.fill(0.0);
        if matches!(self, Self::Spherical | Self::Free) {
            if let Some(w) = q.last_mut() {
                *w = 1.0;
            }
        }
    }

    /// Pose of the link in the joint frame.
    #[inline]
    #[must_use]
    pub(crate) fn joint_from_link(&self, q: &[f64]) -> SpatialTransform {
        match *self {
            Self::Fixed => SpatialTransform::IDENTITY,
            Self::Revolute { axis } => SpatialTransform::new(turn(axis, q[0]), DVec3::ZERO),
            Self::Prismatic { axis } => SpatialTransform::new(DMat3::IDENTITY, axis * q[0]),
            Self::Helical { axis, pitch } => SpatialTransform::new(turn(axis, q[0]), axis * (pitch * q[0])),
            Self::Cylindrical { axis } => SpatialTransform::new(turn(axis, q[0]), axis * q[1]),
            Self::Universal { first, second } => {
                SpatialTransform::new(turn(first, q[0]) * turn(second, q[1]), DVec3::ZERO)
            }
            Self::Spherical => SpatialTransform::new(matrix(quat(q)), DVec3::ZERO),
            Self::Planar => SpatialTransform::new(turn(DVec3::Z, q[2]), DVec3::new(q[0], q[1], 0.0)),
            Self::Free => SpatialTransform::new(matrix(quat(&q[3..])), DVec3::new(q[0], q[1], q[2])),
        }
    }

    /// Writes S; only for joints whose S changes is it needed at every configuration.
    #[inline]
    pub(crate) fn write_axes(&self, joint_from_link: &SpatialTransform, q: &[f64], s: &mut [Motion]) {
        match *self {
            Self::Fixed => {}
            Self::Revolute { axis } => s[0] = Motion::new(axis, DVec3::ZERO),
            Self::Prismatic { axis } => s[0] = Motion::along_axis(axis),
            Self::Helical { axis, pitch } => s[0] = Motion::new(axis, axis * pitch),
            Self::Cylindrical { axis } => {
                s[0] = Motion::new(axis, DVec3::ZERO);
                s[1] = Motion::along_axis(axis);
            }
            Self::Universal { first, second } => {
                s[0] = Motion::new(turn(second, -q[1]) * first, DVec3::ZERO);
                s[1] = Motion::new(second, DVec3::ZERO);
            }
            Self::Spherical => {
                for (s, e) in s.iter_mut().zip(DMat3::IDENTITY.to_cols_array_2d()) {
                    *s = Motion::new(e.into(), DVec3::ZERO);
                }
            }
            Self::Planar => {
                let rows = joint_from_link.rotation.transpose();
                s[0] = Motion::along_axis(rows.x_axis);
                s[1] = Motion::along_axis(rows.y_axis);
                s[2] = Motion::new(DVec3::Z, DVec3::ZERO);
            }
            Self::Free => {
                for (k, s) in s.iter_mut().enumerate() {
                    let mut e = [0.0; 6];
                    e[k] = 1.0;
                    *s = Motion::from_array(e);
                }
            }
        }
    }

    /// True if S depends on q.
    #[inline]
    pub(crate) const fn axes_move(&self) -> bool {
        matches!(self, Self::Universal { .. } | Self::Planar)
    }

    /// True if the degrees of freedom act one after the other, each carrying the next; false if they act together.
    #[inline]
    pub(crate) const fn is_sequence(&self) -> bool {
        !matches!(self, Self::Spherical | Self::Free)
    }

    /// Ṡ v in link axes.
    #[inline]
    pub(crate) fn bias(&self, s: &[Motion], v: &[f64]) -> Motion {
        match *self {
            Self::Universal { second, .. } => {
                Motion::new(s[0].angular.cross(second) * (v[0] * v[1]), DVec3::ZERO)
            }
            Self::Planar => {
                Motion::new(DVec3::ZERO, (s[0].linear * v[0] + s[1].linear * v[1]).cross(DVec3::Z) * v[2])
            }
            _ => Motion::ZERO,
        }
    }

    /// Writes q̇ for velocities `v`.
    #[inline]
    pub(crate) fn write_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) {
        match self {
            Self::Spherical => write_quat(rate, quat_rate_body(quat(q), DVec3::new(v[0], v[1], v[2]))),
            Self::Free => {
                let linear = matrix(quat(&q[3..])) * DVec3::new(v[3], v[4], v[5]);
                rate[..3].copy_from_slice(&linear.to_array());
                write_quat(&mut rate[3..], quat_rate_body(quat(&q[3..]), DVec3::new(v[0], v[1], v[2])));
            }
            _ => rate.copy_from_slice(v),
        }
    }

    /// Moves q by the velocity `v` held for `dt`: exact on the rotation group and on rigid motions.
    #[inline]
    pub(crate) fn integrate(&self, q: &mut [f64], v: &[f64], dt: f64) {
        match self {
            Self::Spherical => {
                let turned = quat(q) * quat_exp(DVec3::new(v[0], v[1], v[2]) * dt);
                write_quat(q, turned.normalize());
            }
            Self::Free => {
                let (omega, linear) = (DVec3::new(v[0], v[1], v[2]) * dt, DVec3::new(v[3], v[4], v[5]) * dt);
                let rotation = quat(&q[3..]).normalize();
                let shift = rotation * translation_of_twist(omega, linear);
                for (q, d) in q.iter_mut().zip(shift.to_array()) {
                    *q += d;
                }
                write_quat(&mut q[3..], (rotation * quat_exp(omega)).normalize());
            }
            _ => {
                for (q, v) in q.iter_mut().zip(v) {
                    *q += v * dt;
                }
            }
        }
    }

    /// The velocity that, held for 1 s, moves `from` to `to`.
    #[inline]
    pub(crate) fn difference(&self, from: &[f64], to: &[f64], v: &mut [f64]) {
        match self {
            Self::Spherical => {
                let turn = quat_log((quat(from).normalize().conjugate() * quat(to)).normalize());
                v.copy_from_slice(&turn.to_array());
            }
            Self::Free => {
                let start = quat(&from[3..]).normalize();
                let omega = quat_log((start.conjugate() * quat(&to[3..])).normalize());
                let shift = DVec3::new(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
                let linear = twist_of_translation(omega, start.conjugate() * shift);
                v[..3].copy_from_slice(&omega.to_array());
                v[3..].copy_from_slice(&linear.to_array());
            }
            _ => {
                for ((v, a), b) in v.iter_mut().zip(from).zip(to) {
                    *v = b - a;
                }
            }
        }
    }

    /// Scales the quaternion among the coordinates to length 1.
    #[inline]
    pub(crate) fn normalize(&self, q: &mut [f64]) {
        let start = match self {
            Self::Spherical => 0,
            Self::Free => 3,
            _ => return,
        };
        let unit = quat(&q[start..]).normalize();
        write_quat(&mut q[start..], unit);
    }

    /// Where the quaternion starts among the coordinates.
    #[inline]
    pub(crate) const fn quaternion_start(&self) -> Option<usize> {
        match self {
            Self::Spherical => Some(0),
            Self::Free => Some(3),
            _ => None,
        }
    }
}

/// Coordinates of a free joint for a pose of the link in the joint frame.
#[must_use]
pub fn free_coordinates(joint_from_link: &Pose) -> [f64; 7] {
    let (p, q) = (joint_from_link.translation, joint_from_link.rotation);
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w]
}

#[inline]
fn quat(q: &[f64]) -> DQuat {
    DQuat::from_xyzw(q[0], q[1], q[2], q[3])
}

#[inline]
fn write_quat(out: &mut [f64], q: DQuat) {
    out[..4].copy_from_slice(&q.to_array());
}

/// Rotation matrix of a quaternion of any length but zero.
#[inline]
fn matrix(q: DQuat) -> DMat3 {
    let s = 2.0 / q.length_squared();
    let (x, y, z, w) = (q.x, q.y, q.z, q.w);
    DMat3::from_cols(
        DVec3::new(1.0 - s * (y * y + z * z), s * (x * y + z * w), s * (x * z - y * w)),
        DVec3::new(s * (x * y - z * w), 1.0 - s * (x * x + z * z), s * (y * z + x * w)),
        DVec3::new(s * (x * z + y * w), s * (y * z - x * w), 1.0 - s * (x * x + y * y)),
    )
}

/// Rotation by `angle` about a unit axis (Rodrigues).
#[inline]
fn turn(axis: DVec3, angle: f64) -> DMat3 {
    let (s, c) = ops::sin_cos(angle);
    let (sa, ca) = (axis * s, axis * (1.0 - c));
    DMat3::from_cols(
        DVec3::new(c + ca.x * axis.x, ca.x * axis.y + sa.z, ca.x * axis.z - sa.y),
        DVec3::new(ca.y * axis.x - sa.z, c + ca.y * axis.y, ca.y * axis.z + sa.x),
        DVec3::new(ca.z * axis.x + sa.y, ca.z * axis.y - sa.x, c + ca.z * axis.z),
    )
}

/// The coefficients (1 − cos t)/t² and (t − sin t)/t³ of the exponential of rigid motions.
#[inline]
fn twist_coefficients(t2: f64) -> (f64, f64) {
    if t2 < 1e-2 {
        // Taylor to t⁸: the closed forms cancel below t ≈ 0.1.
        (
            0.5 - t2 / 24.0 * (1.0 - t2 / 30.0 * (1.0 - t2 / 56.0 * (1.0 - t2 / 90.0))),
            1.0 / 6.0 - t2 / 120.0 * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0 * (1.0 - t2 / 110.0))),
        )
    } else {
        let t = t2.sqrt();
        let (s, c) = ops::sin_cos(t);
        ((1.0 - c) / t2, (t - s) / (t2 * t))
    }
}

/// Displacement of the origin under a constant body twist held for one unit of time, in the axes at its start.
#[inline]
fn translation_of_twist(omega: DVec3, linear: DVec3) -> DVec3 {
    let (b, c) = twist_coefficients(omega.length_squared());
    let cross = omega.cross(linear);
    linear + cross * b + omega.cross(cross) * c
}

/// Undoes [`translation_of_twist`].
#[inline]
fn twist_of_translation(omega: DVec3, shift: DVec3) -> DVec3 {
    let t2 = omega.length_squared();
    // V⁻¹ = 1 − ω̃/2 + (1/t² − (1 + cos t)/(2 t sin t)) ω̃², with the last factor (1 − a/(2b))/t², a = sin t / t.
    let (b, c) = twist_coefficients(t2);
    let factor = if t2 < 1e-2 {
        1.0 / 12.0 + t2 / 720.0 * (1.0 + t2 / 42.0 * (1.0 + t2 / 40.0))
    } else {
        (1.0 - (1.0 - t2 * c) / (2.0 * b)) / t2
    };
    let cross = omega.cross(shift);
    shift - cross * 0.5 + omega.cross(cross) * factor
}
