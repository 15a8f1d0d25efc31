//! Angle triples: rotations as three turns about given axes, composed and decomposed.
//!
//! # Reference
//! Cline 2002, 2.1.2 and 4.4.1 (decomposition about the axes of a joint); Shoemake, *Euler angle conversion*,
//! Graphics Gems IV (1994).
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `i`, `j`, `k` | first axis, second axis, the remaining one | – |
//! | `e` | +1 if (i, j, k) is an even permutation of (x, y, z), else −1 | – |
//! | `first`, `second`, `third` | angles α, β, γ | rad |
//!
//! # Formula
//! ```text
//! R = rot(a₁, α) rot(a₂, β) rot(a₃, γ), each turn about the axes as already turned (intrinsic)
//! three axes   sin β = e r_ik,    α = atan2(−e r_jk, r_kk)
//! two axes     cos β = r_ii,      α = atan2(r_ji, −e r_ki)
//! γ from row j of rot(a₁, −α) R, which is row j of rot(a₃, γ) alone
//! ```
//! # Cost
//! Three arc tangents, one sine and cosine, one square root to decompose.
//!
//! # Numerics
//! γ is read after α has been taken out, so that the triple reproduces R to rounding arbitrarily close to the
//! singularity, although α and γ separately lose digits there. Where cos β (three axes) or sin β (two axes) is
//! below 1e-9 the triple is flagged singular and α is set to 0: only the sum or the difference of the outer
//! angles exists, and γ holds it; R is then reproduced to 1e-9.
//!
//! # Failure
//! [`MathError::NotRotation`] and [`MathError::NonFinite`] for matrices that are no rotation. A singularity is
//! a report, not a failure.
//!
//! # Tested by
//! `every_sequence_round_trips`, `singular_triples_keep_the_sum_or_difference`,
//! `joint_decomposition_matches_the_printed_formula`.

use super::check_rotation;
use crate::{MathError, ops};
use glam::{DMat3, DQuat, DVec3};

/// Below this cosine (three axes) or sine (two axes) of the middle angle the outer angles are not separable.
const SINGULAR: f64 = 1e-9;

/// Three turns R = rot(first axis, α) rot(second axis, β) rot(third axis, γ), each about the turned axes.
///
/// Read from right to left, the same product turns about fixed axes. Roll, pitch and yaw are `Zyx`: yaw α
/// about z, pitch β about y, roll γ about x. The classical Euler angles are `Zxz`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs, reason = "the name is the definition: the three axes in order")]
pub enum AngleSequence {
    Xyz,
    Xzy,
    Yxz,
    Yzx,
    Zxy,
    Zyx,
    Xyx,
    Xzx,
    Yxy,
    Yzy,
    Zxz,
    Zyz,
}

/// Three angles in radians, in the order of their sequence, and whether the outer two are separable.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AngleTriple {
    /// α, β, γ in radians: α and γ in [-π, π]; β in [-π/2, π/2] for three axes, [0, π] for two.
    pub angles: [f64; 3],
    /// True at the singular middle angle: α is 0 and γ holds the sum or difference of the outer angles.
    pub singular: bool,
}

impl AngleSequence {
    /// All twelve.
    pub const ALL: [Self; 12] = [
        Self::Xyz,
        Self::Xzy,
        Self::Yxz,
        Self::Yzx,
        Self::Zxy,
        Self::Zyx,
        Self::Xyx,
        Self::Xzx,
        Self::Yxy,
        Self::Yzy,
        Self::Zxz,
        Self::Zyz,
    ];

    /// Indices of the three axes, x = 0.
    #[inline]
    #[must_use]
    pub const fn axes(self) -> [usize; 3] {
        match self {
            Self::Xyz => [0, 1, 2],
            Self::Xzy => [0, 2, 1],
            Self::Yxz => [1, 0, 2],
            Self::Yzx => [1, 2, 0],
            Self::Zxy => [2, 0, 1],
            Self::Zyx => [2, 1, 0],
            Self::Xyx => [0, 1, 0],
            Self::Xzx => [0, 2, 0],
            Self::Yxy => [1, 0, 1],
            Self::Yzy => [1, 2, 1],
            Self::Zxz => [2, 0, 2],
            Self::Zyz => [2, 1, 2],
        }
    }

    /// True if the third axis repeats the first (singular at β = 0 and π); else three axes (at ±π/2).
    #[inline]
    #[must_use]
    pub const fn repeats_axis(self) -> bool {
        let axes = self.axes();
        axes[0] == axes[2]
    }

    /// The rotation of three angles, radians.
    #[inline]
    #[must_use]
    pub fn compose(self, angles: [f64; 3]) -> DQuat {
        self.compose_about(DMat3::IDENTITY, angles)
    }

    /// The rotation of three angles about the axes of `basis`, whose columns stand for x, y and z.
    #[inline]
    #[must_use]
    pub fn compose_about(self, basis: DMat3, angles: [f64; 3]) -> DQuat {
        let axes = self.axes();
        let turn = |n: usize| {
            let (sine, cosine) = ops::sin_cos(0.5 * angles[n]);
            DQuat::from_vec4((basis.col(axes[n]) * sine).extend(cosine))
        };
        turn(0) * turn(1) * turn(2)
    }

    /// The three angles of a rotation.
    ///
    /// # Errors
    /// [`MathError::NonFinite`], [`MathError::NotRotation`].
    #[inline]
    pub fn decompose(self, r: DMat3) -> Result<AngleTriple, MathError> {
        check_rotation("rotation matrix", r)?;
        Ok(self.decompose_checked(r))
    }

    /// The three angles of a rotation about the axes of `basis`, whose columns stand for x, y and z.
    ///
    /// For joints: with `Zyx` and basis (e₁, e₂, e₃) the angles are (γ, β, α) of
    /// N = rot(e₃, γ) rot(e₂, β) rot(e₁, α).
    ///
    /// # Errors
    /// [`MathError::NonFinite`], [`MathError::NotRotation`] for a matrix or a basis that is none.
    #[inline]
    pub fn decompose_about(self, basis: DMat3, r: DMat3) -> Result<AngleTriple, MathError> {
        check_rotation("basis", basis)?;
        check_rotation("rotation matrix", r)?;
        Ok(self.decompose_checked(basis.transpose() * r * basis))
    }

    #[inline]
    fn decompose_checked(self, r: DMat3) -> AngleTriple {
        let [i, j, last] = self.axes();
        let k = 3 - i - j;
        let e = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
        let entry = |row: usize, column: usize| r.col(column)[row];
        let repeats = last == i;
        // (sine, cosine) of α times the factor that vanishes at the singularity, and the angle β.
        let (sine, cosine, second) = if repeats {
            let sine_second = ops::hypot(entry(i, j), entry(i, k));
            (entry(j, i), -e * entry(k, i), ops::atan2(sine_second, entry(i, i)))
        } else {
            let cosine_second = ops::hypot(entry(i, i), entry(i, j));
            (-e * entry(j, k), entry(k, k), ops::atan2(e * entry(i, k), cosine_second))
        };
        let singular = ops::hypot(sine, cosine) < SINGULAR;
        let first = if singular { 0.0 } else { ops::atan2(sine, cosine) };
        let (s, c) = if singular { (0.0, 1.0) } else { ops::sin_cos(first) };
        let row_j = |column: usize| c * entry(j, column) + e * s * entry(k, column);
        let third =
            if repeats { ops::atan2(-e * row_j(k), row_j(j)) } else { ops::atan2(e * row_j(i), row_j(j)) };
        AngleTriple { angles: [first, second, third], singular }
    }
}

impl AngleTriple {
    /// The angles as a vector, radians.
    #[inline]
    #[must_use]
    pub const fn to_vec3(self) -> DVec3 {
        DVec3::from_array(self.angles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        rotation::{cross_matrix, mat3_from_quat, quat_exp},
        testkit::SplitMix64,
    };
    use std::f64::consts::{FRAC_PI_2, PI, TAU};

    /// Rotation about an axis by the formula of Rodrigues: independent of quaternions.
    fn rodrigues(axis: DVec3, angle: f64) -> DMat3 {
        let k = cross_matrix(axis);
        DMat3::IDENTITY + k * ops::sin(angle) + k * k * (1.0 - ops::cos(angle))
    }

    fn wrapped(x: f64) -> f64 {
        (x - TAU * (x / TAU).round()).abs()
    }

    // proves: CLI-03
    #[test]
    fn every_sequence_round_trips() {
        let mut random = SplitMix64(111);
        for case in 0..120_000 {
            let sequence = AngleSequence::ALL[case % 12];
            let second = if sequence.repeats_axis() {
                random.range(0.0, PI)
            } else {
                random.range(-FRAC_PI_2, FRAC_PI_2)
            };
            let angles = [random.range(-PI, PI), second, random.range(-PI, PI)];
            let axes = sequence.axes().map(|n| DMat3::IDENTITY.col(n));
            let r = mat3_from_quat(sequence.compose(angles));
            let oracle =
                rodrigues(axes[0], angles[0]) * rodrigues(axes[1], angles[1]) * rodrigues(axes[2], angles[2]);
            assert!(r.abs_diff_eq(oracle, 1e-14));
            let back = sequence.decompose(r).unwrap();
            let margin = if sequence.repeats_axis() { ops::sin(second) } else { ops::cos(second) };
            assert_eq!(back.singular, margin < 1e-9);
            for n in 0..3 {
                let error = wrapped(back.angles[n] - angles[n]);
                assert!(error < 1e-15 * 8.0 / margin.abs(), "{sequence:?} {angles:?} {back:?}");
            }
            // The matrix comes back whatever the margin.
            assert!(mat3_from_quat(sequence.compose(back.angles)).abs_diff_eq(r, 1e-14));
        }
    }

    // proves: CLI-03
    #[test]
    fn singular_triples_keep_the_sum_or_difference() {
        let mut random = SplitMix64(112);
        for case in 0..24_000 {
            let sequence = AngleSequence::ALL[case % 12];
            let upper = random.below(2) == 0;
            let [i, j, _] = sequence.axes();
            let parity = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
            // What γ must hold: γ ± α, from commuting the first turn past the middle one.
            let (second, sign) = match (sequence.repeats_axis(), upper) {
                (true, true) => (PI, -1.0),
                (true, false) => (0.0, 1.0),
                (false, true) => (FRAC_PI_2, parity),
                (false, false) => (-FRAC_PI_2, -parity),
            };
            let angles = [random.range(-PI, PI), second, random.range(-PI, PI)];
            let r = mat3_from_quat(sequence.compose(angles));
            let back = sequence.decompose(r).unwrap();
            assert!(back.singular && back.angles.iter().all(|x| x.is_finite()));
            assert!(back.angles[0] == 0.0, "{back:?}");
            assert!(
                wrapped(back.angles[2] - (angles[2] + sign * angles[0])) < 1e-14,
                "{sequence:?} {back:?}"
            );
            assert!(mat3_from_quat(sequence.compose(back.angles)).abs_diff_eq(r, 1e-14));
        }
    }

    #[test]
    fn near_the_singularity_the_matrix_still_comes_back() {
        let mut random = SplitMix64(113);
        for case in 0..12_000 {
            let sequence = AngleSequence::ALL[case % 12];
            let gap = ops::powf(10.0, random.range(-16.0, -1.0));
            let second = if sequence.repeats_axis() { gap } else { FRAC_PI_2 - gap };
            let angles = [random.range(-PI, PI), second, random.range(-PI, PI)];
            let r = mat3_from_quat(sequence.compose(angles));
            let back = sequence.decompose(r).unwrap();
            let allowed = if back.singular { 2e-9 } else { 1e-14 };
            assert!(mat3_from_quat(sequence.compose(back.angles)).abs_diff_eq(r, allowed), "{gap:e}");
        }
    }

    #[test]
    fn joint_decomposition_matches_the_printed_formula() {
        let mut random = SplitMix64(114);
        for _ in 0..20_000 {
            let basis = mat3_from_quat(random.unit_quat());
            let (alpha, beta, gamma) =
                (random.range(-PI, PI), random.range(-FRAC_PI_2, FRAC_PI_2), random.range(-PI, PI));
            let n = rodrigues(basis.z_axis, gamma)
                * rodrigues(basis.y_axis, beta)
                * rodrigues(basis.x_axis, alpha);
            let p = basis.transpose() * n * basis;
            let printed = [
                ops::atan2(p.x_axis.y, p.x_axis.x),
                ops::atan2(-p.x_axis.z, ops::hypot(p.x_axis.x, p.x_axis.y)),
                ops::atan2(p.y_axis.z, p.z_axis.z),
            ];
            let back = AngleSequence::Zyx.decompose_about(basis, n).unwrap();
            let allowed = 1e-14 / ops::cos(beta).abs();
            for (k, exact) in [gamma, beta, alpha].into_iter().enumerate() {
                assert!(wrapped(back.angles[k] - printed[k]) < allowed);
                assert!(wrapped(back.angles[k] - exact) < allowed);
            }
            let composed = AngleSequence::Zyx.compose_about(basis, back.angles);
            assert!(mat3_from_quat(composed).abs_diff_eq(n, 1e-14));
        }
    }

    #[test]
    fn what_is_no_rotation_is_refused() {
        let mirror = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
        let r = mat3_from_quat(quat_exp(DVec3::new(0.1, 0.2, 0.3)));
        for sequence in AngleSequence::ALL {
            assert!(matches!(sequence.decompose(mirror), Err(MathError::NotRotation { .. })));
            assert!(matches!(sequence.decompose(r * 1.01), Err(MathError::NotRotation { .. })));
            assert!(matches!(sequence.decompose_about(mirror, r), Err(MathError::NotRotation { .. })));
            let nan = DMat3::from_cols(DVec3::X, DVec3::NAN, DVec3::Z);
            assert!(matches!(sequence.decompose(nan), Err(MathError::NonFinite { index: 3, .. })));
        }
    }
}
