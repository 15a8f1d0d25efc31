//! Bodies made of parts: solids and point masses, each with its own density or mass.
//!
//! # Reference
//! Mirtich (1996), section 6.1.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `m_i`, `c_i`, `I_i` | mass, centre of mass and tensor of part i, all in one frame |
//!
//! # Formula
//! ```text
//! m = Σ m_i,   c = Σ m_i c_i / m,   I = Σ (I_i + m_i (|d_i|² 1 - d_i d_iᵀ)),   d_i = c_i - c
//! ```
//!
//! # Cost
//! O(parts), no allocation.
//!
//! # Numerics
//! Centres are taken relative to the first part, and tensors about the common centre: nothing large is
//! subtracted, so a composite far from the origin keeps its digits.
//!
//! # Failure
//! No parts, or a part whose mass is not positive or whose numbers are not finite.
//!
//! # Tested by
//! `rattleback_is_ellipsoid_plus_point_mass`, `a_cut_box_is_the_sum_of_its_halves`

use super::{MassError, MassProperties};
use crate::{MathError, Sym3};
use glam::DVec3;

/// Mass properties of several parts that move as one body. All are given in one frame; use
/// [`MassProperties::transformed`] to bring a part there. Parts that overlap count twice where they do.
///
/// # Errors
/// No parts; a part with a mass that is not positive, or with a number that is not finite (with its index).
pub fn combine(parts: &[MassProperties]) -> Result<MassProperties, MassError> {
    let Some(first) = parts.first() else {
        return Err(MathError::TooFew { what: "parts", needed: 1, got: 0 }.into());
    };
    let mut mass = 0.0;
    let mut moment = DVec3::ZERO;
    for (index, part) in parts.iter().enumerate() {
        MathError::check_positive("mass of part", index, part.mass)?;
        let numbers = part.center_of_mass.to_array().into_iter().chain(part.inertia.to_array());
        for value in numbers {
            if !value.is_finite() {
                return Err(MathError::NonFinite { what: "part", index, value }.into());
            }
        }
        mass += part.mass;
        moment += part.mass * (part.center_of_mass - first.center_of_mass);
    }
    let offset = moment / mass;
    let mut inertia = Sym3::ZERO;
    for part in parts {
        let d = (part.center_of_mass - first.center_of_mass) - offset;
        inertia += part.inertia + Sym3::point_inertia(d) * part.mass;
    }
    let result = MassProperties { mass, center_of_mass: first.center_of_mass + offset, inertia };
    MathError::check_finite("composite inertia entry", &inertia.to_array())?;
    MathError::check_finite("composite mass or center", &[mass, offset.x, offset.y, offset.z])?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pose;
    use crate::assert_close;
    use crate::mass::{Amount, solid};

    fn assert_tensor(a: Sym3, b: Sym3, rel: f64) {
        for (x, y) in a.to_array().into_iter().zip(b.to_array()) {
            assert_close!(x, y, rel = 0.0, abs = rel * b.max_abs());
        }
    }

    // proves: MIR-82
    #[test]
    fn rattleback_is_ellipsoid_plus_point_mass() {
        // 500 g of ellipsoid, 30 g on its surface, away from the planes of symmetry.
        let (m, p) = (0.5, 0.03);
        let radii = DVec3::new(0.1, 0.03, 0.02);
        let direction = DVec3::new(0.8, 0.6, 0.0);
        let r = radii * direction;
        let hull = solid::ellipsoid(radii, Amount::Mass(m)).unwrap();
        let top = combine(&[hull, MassProperties::point(p, r).unwrap()]).unwrap();
        assert_close!(top.mass, m + p, rel = 1e-15);
        assert!((top.center_of_mass - r * (p / (m + p))).length() < 1e-17);
        // Two bodies about their common centre: the second term has the reduced mass.
        let reduced = m * p / (m + p);
        let s = radii * radii;
        let closed = Sym3::from_diagonal(DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (m / 5.0))
            + Sym3::point_inertia(r) * reduced;
        assert_tensor(top.inertia, closed, 1e-15);
        // The principal axes are skewed in the horizontal plane by a closed-form angle, and nowhere else.
        let frame = top.principal().unwrap();
        let (i, x) = (closed, frame.user_from_body.transform_vector(DVec3::X));
        let angle = 0.5 * crate::ops::atan2(2.0 * i.xy, i.xx - i.yy);
        let skew = crate::ops::atan(x.y / x.x);
        let off = (skew - angle).rem_euclid(std::f64::consts::FRAC_PI_2);
        assert!(off.min(std::f64::consts::FRAC_PI_2 - off) < 1e-13, "skew {skew}, expected {angle}");
        assert!(skew.abs() > 0.01 && x.z == 0.0);
    }

    // proves: MIR-83
    #[test]
    fn translated_cube_has_the_tensor_of_the_parallel_axis_rule() {
        let side = 2.0;
        let cube = solid::cuboid(DVec3::splat(0.5 * side), Amount::Mass(3.0)).unwrap();
        let shift = DVec3::new(1.0, -2.0, 4.0);
        let moved = cube.transformed(&Pose::from_translation(shift));
        assert_tensor(moved.inertia, cube.inertia, 0.0);
        let own = 3.0 * side * side / 6.0;
        let (diagonal, off) = (DVec3::new(20.0, 17.0, 5.0), DVec3::new(2.0, -4.0, 8.0));
        let expected =
            Sym3::from_scalar(own) + Sym3::new(diagonal.x, diagonal.y, diagonal.z, off.x, off.y, off.z) * 3.0;
        assert_tensor(moved.inertia_at(DVec3::ZERO), expected, 1e-15);
        let back = MassProperties::from_inertia_at(3.0, shift, DVec3::ZERO, expected).unwrap();
        assert_tensor(back.inertia, cube.inertia, 1e-13);
    }

    #[test]
    fn a_cut_box_is_the_sum_of_its_halves() {
        let whole = solid::cuboid(DVec3::new(2.0, 0.5, 0.25), Amount::Density(700.0)).unwrap();
        let half = solid::cuboid(DVec3::new(1.0, 0.5, 0.25), Amount::Density(700.0)).unwrap();
        for far in [0.0, 1e6] {
            let at = |x: f64| half.transformed(&Pose::from_translation(DVec3::new(x, far, 0.0)));
            let sum = combine(&[at(-1.0), at(1.0)]).unwrap();
            assert_close!(sum.mass, whole.mass, rel = 1e-15);
            assert!((sum.center_of_mass - DVec3::new(0.0, far, 0.0)).length() == 0.0);
            assert_tensor(sum.inertia, whole.inertia, 1e-15);
        }
    }

    // proves: MIR-82
    #[test]
    fn densities_differ_per_part() {
        // A steel head on a wooden handle.
        let head = solid::cuboid(DVec3::new(0.02, 0.02, 0.05), Amount::Density(7800.0)).unwrap();
        let handle = solid::cuboid(DVec3::new(0.15, 0.01, 0.01), Amount::Density(700.0)).unwrap();
        let head = head.transformed(&Pose::from_translation(DVec3::new(0.17, 0.0, 0.0)));
        let hammer = combine(&[handle, head]).unwrap();
        let (m_head, m_handle) = (7800.0 * 0.04 * 0.04 * 0.1, 700.0 * 0.3 * 0.02 * 0.02);
        assert_close!(hammer.mass, m_head + m_handle, rel = 1e-14);
        assert_close!(hammer.center_of_mass.x, 0.17 * m_head / (m_head + m_handle), rel = 1e-14);
    }

    #[test]
    fn bad_parts_are_named() {
        let good = MassProperties::point(1.0, DVec3::ZERO).unwrap();
        let negative = MassProperties { mass: -1.0, ..good };
        let lost = MassProperties { center_of_mass: DVec3::new(0.0, f64::NAN, 0.0), ..good };
        assert_eq!(combine(&[]).unwrap_err().to_string(), "needs at least 1 parts, got 0");
        assert_eq!(
            combine(&[good, negative]).unwrap_err().to_string(),
            "mass of part 1 must be positive, got -1"
        );
        assert_eq!(combine(&[good, good, lost]).unwrap_err().to_string(), "part 2 is not finite: NaN");
        let huge = MassProperties { mass: 1e308, ..good };
        assert!(combine(&[huge, huge, huge]).is_err());
    }
}
