//! Mass properties as a value: parallel axes, rotation, validation.
//!
//! # Reference
//! Mirtich (1996), section 6.1; Fontijne (2000), section 3.5, whose printed products in the parallel-axis
//! rule are wrong (sums instead of products).
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `mass` | m | kg |
//! | `center_of_mass` | c | m |
//! | `inertia` | I about c, user axes; off-diagonal entries are -∫ xy dm | kg·m² |
//!
//! # Formula
//! ```text
//! I_p = I + m (|d|² 1 - d dᵀ),   d = c - p        parallel axes (Steiner)
//! I_a = R I_b Rᵀ,  c_a = R c_b + t                change of frame
//! ```
//!
//! # Cost
//! A few dozen operations each; [`MassProperties::try_new`] and [`MassProperties::principal`] run Jacobi sweeps.
//!
//! # Numerics
//! [`MassProperties::from_inertia_at`] subtracts: with |d| many times the size of the body, digits are lost.
//!
//! # Failure
//! Constructors return [`MassError`] for what no body has.
//!
//! # Tested by
//! `steiner_there_and_back`, `world_tensor_is_r_i_rt`, `unphysical_tensors_are_refused`

use super::principal::diagonalize;
use super::{ClosedSurface, MassError, PrincipalFrame, VolumeIntegrals};
use crate::{MathError, Pose};
use glam::{DMat3, DVec3};

/// How much matter a solid has: by density or by total mass.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Amount {
    /// Mass per volume, kg/m³.
    Density(f64),
    /// Total mass, kg.
    Mass(f64),
}

impl Amount {
    /// Density of water, kg/m³: what animals and people float in.
    pub const WATER: Self = Self::Density(1000.0);

    /// Mass of a solid with this volume, kg.
    ///
    /// # Errors
    /// A density, mass or result that is not positive and finite.
    pub fn mass_of(self, volume: f64) -> Result<f64, MassError> {
        let (what, given) = match self {
            Self::Density(density) => ("density", density),
            Self::Mass(mass) => ("mass", mass),
        };
        let given = positive(what, 0, given)?;
        match self {
            Self::Density(density) => positive("mass", 0, density * volume),
            Self::Mass(_) => Ok(given),
        }
    }
}

/// `Ok(value)` if it is positive and finite, else the error naming it.
pub(super) fn positive(what: &'static str, index: usize, value: f64) -> Result<f64, MassError> {
    if !value.is_finite() {
        return Err(MathError::NonFinite { what, index, value }.into());
    }
    if value <= 0.0 {
        return Err(MathError::NotPositive { what, index, value }.into());
    }
    Ok(value)
}

pub(super) fn finite_vector(what: &'static str, v: DVec3) -> Result<DVec3, MassError> {
    MathError::check_finite(what, &v.to_array())?;
    Ok(v)
}

/// |d|² 1 - d dᵀ: inertia of a unit point mass at d.
#[inline]
pub(super) fn unit_point_inertia(d: DVec3) -> DMat3 {
    let s = d * d;
    // Subtracted from zero, not negated: no -0 appears in tables.
    let (xy, xz, yz) = (0.0 - d.x * d.y, 0.0 - d.x * d.z, 0.0 - d.y * d.z);
    DMat3::from_cols(
        DVec3::new(s.y + s.z, xy, xz),
        DVec3::new(xy, s.z + s.x, yz),
        DVec3::new(xz, yz, s.x + s.y),
    )
}

/// Mass, centre of mass and inertia tensor of a body.
///
/// The fields are plain data; functions of this module return physical values only, and
/// [`MassProperties::try_new`] checks values from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MassProperties {
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass, metres, in the user's frame.
    pub center_of_mass: DVec3,
    /// Inertia tensor about the centre of mass, in the user's axes, kg·m². Symmetric.
    pub inertia: DMat3,
}

impl MassProperties {
    /// From given numbers: mass in kg, centre of mass in metres, tensor about it in kg·m².
    ///
    /// # Errors
    /// A mass that is not positive, a number that is not finite, a tensor that is not symmetric (1e-12 of
    /// its largest entry), or moments that no body has (negative, or one above the sum of the other two by
    /// more than 1e-9 of the largest).
    pub fn try_new(mass: f64, center_of_mass: DVec3, inertia: DMat3) -> Result<Self, MassError> {
        positive("mass", 0, mass)?;
        finite_vector("center of mass", center_of_mass)?;
        let m = inertia.to_cols_array_2d();
        MathError::check_finite("inertia entry", m.as_flattened())?;
        let largest = m.iter().flatten().fold(0.0_f64, |l, x| l.max(x.abs()));
        for (row, column) in [(0, 1), (0, 2), (1, 2)] {
            let difference = (m[row][column] - m[column][row]).abs();
            if difference > 1e-12 * largest {
                return Err(MassError::NotSymmetric { row, column, difference });
            }
        }
        let inertia = (inertia + inertia.transpose()) * 0.5;
        let (_, moments) = diagonalize(inertia);
        let excess = 2.0 * moments - DVec3::splat(moments.element_sum());
        if excess.max_element() > 1e-9 * largest {
            return Err(MassError::Unphysical { moments });
        }
        Ok(Self { mass, center_of_mass, inertia })
    }

    /// A point mass: kg, metres.
    ///
    /// # Errors
    /// A mass that is not positive, or a position that is not finite.
    pub fn point(mass: f64, position: DVec3) -> Result<Self, MassError> {
        positive("mass", 0, mass)?;
        Ok(Self { mass, center_of_mass: finite_vector("position", position)?, inertia: DMat3::ZERO })
    }

    /// A solid of uniform density bounded by a closed surface.
    ///
    /// # Errors
    /// A surface that is inside out or without volume, or an amount that is not positive and finite.
    pub fn from_polyhedron(surface: &ClosedSurface<'_>, amount: Amount) -> Result<Self, MassError> {
        Self::from_integrals(&VolumeIntegrals::of(surface), amount)
    }

    /// A solid of uniform density with known volume integrals.
    ///
    /// # Errors
    /// A volume that is not positive, or an amount that is not positive and finite.
    pub fn from_integrals(integrals: &VolumeIntegrals, amount: Amount) -> Result<Self, MassError> {
        integrals.check_volume()?;
        let mass = amount.mass_of(integrals.volume)?;
        let c = integrals.first / integrals.volume;
        let density = mass / integrals.volume;
        let s = density * integrals.squares;
        let p = density * integrals.products;
        // Subtracted from zero, not negated: no -0 appears in tables.
        let [xy, yz, xz] = (DVec3::ZERO - p).to_array();
        let at_origin = DMat3::from_cols(
            DVec3::new(s.y + s.z, xy, xz),
            DVec3::new(xy, s.z + s.x, yz),
            DVec3::new(xz, yz, s.x + s.y),
        );
        let inertia = at_origin - unit_point_inertia(c) * mass;
        MathError::check_finite("inertia entry", &inertia.to_cols_array())?;
        Ok(Self { mass, center_of_mass: integrals.origin + c, inertia })
    }

    /// From an inertia tensor about another `point` (metres), as tables often give it.
    ///
    /// # Errors
    /// As [`MassProperties::try_new`], of which it is the inverse parallel-axis rule.
    pub fn from_inertia_at(
        mass: f64,
        center_of_mass: DVec3,
        point: DVec3,
        inertia_at_point: DMat3,
    ) -> Result<Self, MassError> {
        let d = finite_vector("point", point)? - center_of_mass;
        Self::try_new(mass, center_of_mass, inertia_at_point - unit_point_inertia(d) * mass)
    }

    /// Inertia tensor about any point, same axes, kg·m² (parallel-axis rule).
    #[inline]
    #[must_use]
    pub fn inertia_at(&self, point: DVec3) -> DMat3 {
        self.inertia + unit_point_inertia(self.center_of_mass - point) * self.mass
    }

    /// Moment of inertia about the axis through `point` along the unit vector `axis`, kg·m².
    #[inline]
    #[must_use]
    pub fn moment_about(&self, point: DVec3, axis: DVec3) -> f64 {
        axis.dot(self.inertia_at(point) * axis)
    }

    /// The same body in another frame: R I Rᵀ and R c + t.
    #[must_use]
    pub fn transformed(&self, a_from_b: &Pose) -> Self {
        let r = a_from_b.rotation_matrix();
        let inertia = r * self.inertia * r.transpose();
        Self {
            mass: self.mass,
            center_of_mass: a_from_b.transform_point(self.center_of_mass),
            // Exactly symmetric again: rounding differs between the two halves of the product.
            inertia: (inertia + inertia.transpose()) * 0.5,
        }
    }

    /// The same shape and distribution with another total mass, kg.
    ///
    /// # Errors
    /// A mass that is not positive and finite.
    pub fn with_mass(&self, mass: f64) -> Result<Self, MassError> {
        positive("mass", 0, mass)?;
        Ok(Self { mass, center_of_mass: self.center_of_mass, inertia: self.inertia * (mass / self.mass) })
    }

    /// The body frame: centre of mass, principal axes, right-handed; and the principal moments.
    ///
    /// Axes stay as they are where the tensor is diagonal already (to 1e-12 of its largest entry).
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn principal(&self) -> Result<PrincipalFrame, MassError> {
        finite_vector("center of mass", self.center_of_mass)?;
        MathError::check_finite("inertia entry", &self.inertia.to_cols_array())?;
        let (rotation, moments) = diagonalize(self.inertia);
        Ok(PrincipalFrame { user_from_body: Pose::new(self.center_of_mass, rotation), moments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{AnyPose, SpdInertia, Vector, check};

    fn body(i: SpdInertia, pose: AnyPose) -> MassProperties {
        let at_home = MassProperties::try_new(i.mass, DVec3::ZERO, DMat3::from_diagonal(i.moments)).unwrap();
        at_home.transformed(&pose.0)
    }

    fn error(a: DMat3, b: DMat3) -> f64 {
        (a - b).to_cols_array().iter().fold(0.0_f64, |l, x| l.max(x.abs()))
    }

    #[test]
    fn steiner_there_and_back() {
        fn back(i: SpdInertia, pose: AnyPose, point: Vector) -> bool {
            let b = body(i, pose);
            let at = b.inertia_at(point.0);
            let again = MassProperties::from_inertia_at(b.mass, b.center_of_mass, point.0, at);
            let scale = at.to_cols_array().iter().fold(0.0_f64, |l, x| l.max(x.abs()));
            // Subtraction leaves 1e-16 of the shifted tensor, which can be 1e5 times the original.
            again.map_or(1e-9 * i.moments.max_element() < 1e-15 * scale, |a| {
                error(a.inertia, b.inertia) <= 1e-15 * scale
            })
        }
        check(83, 10_000, back as fn(SpdInertia, AnyPose, Vector) -> bool);
    }

    // proves: CLI-14
    #[test]
    fn world_tensor_is_r_i_rt() {
        fn kinetic(i: SpdInertia, pose: AnyPose, omega: Vector) -> bool {
            // The kinetic energy of a spin does not depend on the frame in which it is computed.
            let b = body(i, pose);
            let omega_body = pose.0.inverse_transform_vector(omega.0);
            let in_body = omega_body.dot(i.moments * omega_body);
            let in_world = omega.0.dot(b.inertia * omega.0);
            (in_body - in_world).abs() <= 1e-13 * in_body.abs().max(i.moments.max_element())
        }
        check(14, 10_000, kinetic as fn(SpdInertia, AnyPose, Vector) -> bool);
    }

    #[test]
    fn principal_frame_rebuilds_the_tensor() {
        fn rebuild(i: SpdInertia, pose: AnyPose) -> bool {
            let b = body(i, pose);
            let frame = b.principal().unwrap();
            let home = MassProperties {
                mass: b.mass,
                center_of_mass: DVec3::ZERO,
                inertia: DMat3::from_diagonal(frame.moments),
            };
            let again = home.transformed(&frame.user_from_body);
            error(again.inertia, b.inertia) <= 2e-12 * i.moments.max_element()
                && (again.center_of_mass - b.center_of_mass).length() == 0.0
        }
        check(85, 10_000, rebuild as fn(SpdInertia, AnyPose) -> bool);
    }

    #[test]
    fn unphysical_tensors_are_refused() {
        let diagonal = |x, y, z| DMat3::from_diagonal(DVec3::new(x, y, z));
        let fails = |mass, com, inertia| MassProperties::try_new(mass, com, inertia).unwrap_err().to_string();
        let (zero, one) = (DVec3::ZERO, DMat3::IDENTITY);
        assert_eq!(fails(0.0, zero, one), "mass 0 must be positive, got 0");
        assert_eq!(fails(-2.0, zero, one), "mass 0 must be positive, got -2");
        assert_eq!(fails(f64::NAN, zero, one), "mass 0 is not finite: NaN");
        assert_eq!(
            fails(1.0, DVec3::new(0.0, f64::INFINITY, 0.0), one),
            "center of mass 1 is not finite: inf"
        );
        assert_eq!(fails(1.0, zero, diagonal(1.0, 1.0, f64::NAN)), "inertia entry 8 is not finite: NaN");
        assert_eq!(
            fails(1.0, zero, diagonal(1.0, 1.0, 2.5)),
            "no body has the principal moments [1, 1, 2.5]"
        );
        assert_eq!(
            fails(1.0, zero, diagonal(1.0, 1.0, -0.5)),
            "no body has the principal moments [1, 1, -0.5]"
        );
        let mut skew = DMat3::IDENTITY;
        skew.y_axis.x = 0.25;
        assert_eq!(fails(1.0, zero, skew), "inertia entries (0, 1) and (1, 0) differ by 0.25");
        // Flat plates and rods are bodies.
        assert!(MassProperties::try_new(1.0, zero, diagonal(1.0, 1.0, 2.0)).is_ok());
        assert!(MassProperties::try_new(1.0, zero, diagonal(1.0, 1.0, 0.0)).is_ok());
        assert!(MassProperties::point(1.0, DVec3::NAN).is_err());
        assert!(MassProperties::point(-1.0, zero).is_err());
        let fine = MassProperties::try_new(1.0, zero, one).unwrap();
        assert!(fine.with_mass(0.0).is_err());
        assert!(MassProperties::from_inertia_at(1.0, zero, DVec3::NAN, one).is_err());
        assert!(MassProperties { inertia: one * f64::NAN, ..fine }.principal().is_err());
        for amount in
            [Amount::Density(0.0), Amount::Mass(-1.0), Amount::Density(f64::INFINITY), Amount::Mass(f64::NAN)]
        {
            assert!(amount.mass_of(1.0).is_err(), "{amount:?}");
        }
    }
}
