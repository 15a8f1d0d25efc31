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
//! `steiner_there_and_back`, `world_tensor_is_r_i_rt`, `unphysical_tensors_are_refused`,
//! `spatial_inertia_there_and_back`

use super::principal::diagonalize;
use super::{ClosedSurface, MassError, PrincipalFrame, VolumeIntegrals};
use crate::{MathError, Pose, Sym3, spatial::RigidInertia};
use glam::DVec3;

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
        MathError::check_positive(what, 0, given)?;
        Ok(match self {
            Self::Density(density) => MathError::check_positive("mass", 0, density * volume)?,
            Self::Mass(mass) => mass,
        })
    }
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
    /// Inertia tensor about the centre of mass, in the user's axes, kg·m².
    pub inertia: Sym3,
}

impl MassProperties {
    /// From given numbers: mass in kg, centre of mass in metres, tensor about it in kg·m².
    ///
    /// For a tensor as nine numbers see [`Sym3::try_from_mat3`].
    ///
    /// # Errors
    /// A mass that is not positive, a number that is not finite, or moments that no body has (negative, or
    /// one above the sum of the other two, by more than 1e-9 of the largest).
    pub fn try_new(mass: f64, center_of_mass: DVec3, inertia: Sym3) -> Result<Self, MassError> {
        check_body(mass, center_of_mass, inertia)?;
        Ok(Self { mass, center_of_mass, inertia })
    }

    /// A point mass: kg, metres.
    ///
    /// # Errors
    /// A mass that is not positive, or a position that is not finite.
    pub fn point(mass: f64, position: DVec3) -> Result<Self, MassError> {
        MathError::check_positive("mass", 0, mass)?;
        MathError::check_vector("position", position)?;
        Ok(Self { mass, center_of_mass: position, inertia: Sym3::ZERO })
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
        let at_origin = Sym3::new(s.y + s.z, s.z + s.x, s.x + s.y, xy, xz, yz);
        let inertia = at_origin - Sym3::point_inertia(c) * mass;
        MathError::check_finite("inertia entry", &inertia.to_array())?;
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
        inertia_at_point: Sym3,
    ) -> Result<Self, MassError> {
        let d = MathError::check_vector("point", point)? - center_of_mass;
        Self::try_new(mass, center_of_mass, inertia_at_point - Sym3::point_inertia(d) * mass)
    }

    /// Inertia tensor about any point, same axes, kg·m² (parallel-axis rule).
    #[inline]
    #[must_use]
    pub fn inertia_at(&self, point: DVec3) -> Sym3 {
        self.inertia + Sym3::point_inertia(self.center_of_mass - point) * self.mass
    }

    /// Moment of inertia about the axis through `point` along the unit vector `axis`, kg·m².
    #[inline]
    #[must_use]
    pub fn moment_about(&self, point: DVec3, axis: DVec3) -> f64 {
        self.inertia_at(point).quadratic(axis)
    }

    /// The same body in another frame: R I Rᵀ and R c + t.
    #[must_use]
    pub fn transformed(&self, a_from_b: &Pose) -> Self {
        Self {
            mass: self.mass,
            center_of_mass: a_from_b.transform_point(self.center_of_mass),
            inertia: self.inertia.congruence(a_from_b.rotation_matrix()),
        }
    }

    /// The same shape and distribution with another total mass, kg.
    ///
    /// # Errors
    /// A mass that is not positive and finite.
    pub fn with_mass(&self, mass: f64) -> Result<Self, MassError> {
        MathError::check_positive("mass", 0, mass)?;
        Ok(Self { mass, center_of_mass: self.center_of_mass, inertia: self.inertia * (mass / self.mass) })
    }

    /// The body frame: centre of mass, principal axes, right-handed; and the principal moments.
    ///
    /// Axes stay as they are where the tensor is diagonal already (to 1e-12 of its largest entry).
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn principal(&self) -> Result<PrincipalFrame, MassError> {
        MathError::check_vector("center of mass", self.center_of_mass)?;
        MathError::check_finite("inertia entry", &self.inertia.to_array())?;
        let (rotation, moments) = diagonalize(self.inertia)?;
        Ok(PrincipalFrame { user_from_body: Pose::new(self.center_of_mass, rotation), moments })
    }
}

/// `Ok` if a body can have these numbers: a positive mass and moments that satisfy the triangle inequality.
/// The slack of 1e-9 of the largest moment admits tables and files with ten digits.
pub(crate) fn check_body(mass: f64, center_of_mass: DVec3, inertia: Sym3) -> Result<(), MathError> {
    MathError::check_positive("mass", 0, mass)?;
    MathError::check_vector("center of mass", center_of_mass)?;
    MathError::check_finite("inertia entry", &inertia.to_array())?;
    let (_, moments) = diagonalize(inertia)?;
    // The largest moment minus the other two. For a negative moment this is positive too: with a + b ≥ c for
    // each order of the three, each is at least zero.
    let excess = 2.0 * moments - DVec3::splat(moments.element_sum());
    if excess.max_element() > 1e-9 * inertia.max_abs() {
        return Err(MathError::Unphysical { moments });
    }
    Ok(())
}

impl From<MassProperties> for RigidInertia {
    /// The spatial inertia at the origin of the user's frame, in its axes.
    #[inline]
    fn from(body: MassProperties) -> Self {
        Self::from_com(body.mass, body.center_of_mass, body.inertia)
    }
}

impl TryFrom<RigidInertia> for MassProperties {
    type Error = MassError;

    /// Mass, centre of mass and the tensor about it; refuses what no body has, such as a massless inertia.
    fn try_from(inertia: RigidInertia) -> Result<Self, MassError> {
        MathError::check_positive("mass", 0, inertia.mass)?;
        Self::try_new(inertia.mass, inertia.center_of_mass(), inertia.inertia())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{AnyPose, SpdInertia, Vector, check};

    fn body(i: SpdInertia, pose: AnyPose) -> MassProperties {
        let at_home = MassProperties::try_new(i.mass, DVec3::ZERO, Sym3::from_diagonal(i.moments)).unwrap();
        at_home.transformed(&pose.0)
    }

    fn error(a: Sym3, b: Sym3) -> f64 {
        (a - b).max_abs()
    }

    #[test]
    fn steiner_there_and_back() {
        fn back(i: SpdInertia, pose: AnyPose, point: Vector) -> bool {
            let b = body(i, pose);
            let at = b.inertia_at(point.0);
            let again = MassProperties::from_inertia_at(b.mass, b.center_of_mass, point.0, at);
            let scale = at.max_abs();
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
                inertia: Sym3::from_diagonal(frame.moments),
            };
            let again = home.transformed(&frame.user_from_body);
            error(again.inertia, b.inertia) <= 2e-12 * i.moments.max_element()
                && (again.center_of_mass - b.center_of_mass).length() == 0.0
        }
        check(85, 10_000, rebuild as fn(SpdInertia, AnyPose) -> bool);
    }

    #[test]
    fn unphysical_tensors_are_refused() {
        let diagonal = |x, y, z| Sym3::from_diagonal(DVec3::new(x, y, z));
        let fails = |mass, com, inertia| MassProperties::try_new(mass, com, inertia).unwrap_err().to_string();
        let (zero, one) = (DVec3::ZERO, Sym3::IDENTITY);
        assert_eq!(fails(0.0, zero, one), "mass 0 must be positive, got 0");
        assert_eq!(fails(-2.0, zero, one), "mass 0 must be positive, got -2");
        assert_eq!(fails(f64::NAN, zero, one), "mass 0 is not finite: NaN");
        assert_eq!(
            fails(1.0, DVec3::new(0.0, f64::INFINITY, 0.0), one),
            "center of mass 1 is not finite: inf"
        );
        assert_eq!(fails(1.0, zero, diagonal(1.0, 1.0, f64::NAN)), "inertia entry 2 is not finite: NaN");
        assert_eq!(
            fails(1.0, zero, diagonal(1.0, 1.0, 2.5)),
            "no body has the principal moments [1, 1, 2.5]"
        );
        assert_eq!(
            fails(1.0, zero, diagonal(1.0, 1.0, -0.5)),
            "no body has the principal moments [1, 1, -0.5]"
        );
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

    #[test]
    fn spatial_inertia_there_and_back() {
        fn back(i: SpdInertia, pose: AnyPose) -> bool {
            let b = body(i, pose);
            let spatial = RigidInertia::from(b);
            let scale = b.inertia_at(DVec3::ZERO).max_abs();
            let at_origin = error(spatial.inertia_at_origin, b.inertia_at(DVec3::ZERO)) <= 1e-15 * scale;
            // As in `steiner_there_and_back`, the subtraction leaves rounding of the shifted tensor.
            at_origin
                && MassProperties::try_from(spatial).map_or(
                    1e-9 * i.moments.max_element() < 2e-15 * scale,
                    |again| {
                        error(again.inertia, b.inertia) <= 2e-15 * scale
                            && (again.center_of_mass - b.center_of_mass).length() <= 1e-14
                            && again.mass == b.mass
                    },
                )
        }
        check(86, 10_000, back as fn(SpdInertia, AnyPose) -> bool);
        let massless = MassProperties::try_from(RigidInertia::ZERO).unwrap_err();
        assert_eq!(massless.to_string(), "mass 0 must be positive, got 0");
        let doughnut = RigidInertia::from_com(1.0, DVec3::X, Sym3::from_diagonal(DVec3::new(1.0, 1.0, 3.0)));
        assert!(MassProperties::try_from(doughnut).is_err());
    }
}
