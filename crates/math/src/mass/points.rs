//! Mass properties of particles and of weighted vertex clouds.
//!
//! # Reference
//! Cline (2002), section 2.3 (particles); Barenbrug (2000), appendix D (vertex clouds), whose printed
//! inertia sum lacks the square of the distance.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | `positions` | `p_i` | m |
//! | `masses` | `m_i`, 1 kg each if not given | kg |
//!
//! # Formula
//! ```text
//! m = Σ m_i,   c = Σ m_i p_i / m,   I = Σ m_i (|r_i|² 1 - r_i r_iᵀ),   r_i = p_i - c
//! ```
//!
//! # Cost
//! O(points), two passes, no allocation.
//!
//! # Numerics
//! Positions are taken relative to the first point, and the tensor about the centre in the second pass:
//! a cloud far from the origin keeps its digits.
//!
//! # Failure
//! No points, masses of another length, a mass that is not positive, a position that is not finite. A
//! cloud on a line, or a single point, has zero moments: [`super::PrincipalFrame::moments`] shows them.
//!
//! # Tested by
//! `eight_masses_on_a_box`, `dumbbell_has_its_reduced_mass_times_length_squared`,
//! `sampled_box_converges_to_the_solid_box`

use super::{MassError, MassProperties};
use crate::{MathError, Sym3};
use glam::DVec3;

impl MassProperties {
    /// Mass properties of points: positions in metres, masses in kg (1 kg each if `None`).
    ///
    /// A mesh taken as a cloud of its vertices is heavy where its vertices are dense.
    ///
    /// # Errors
    /// No points, masses of another length, a mass that is not positive, a position that is not finite.
    pub fn from_points(positions: &[DVec3], masses: Option<&[f64]>) -> Result<Self, MassError> {
        let Some(&first) = positions.first() else {
            return Err(MathError::TooFew { what: "points", needed: 1, got: 0 }.into());
        };
        if let Some(masses) = masses {
            if masses.len() != positions.len() {
                let (expected, got) = (positions.len(), masses.len());
                return Err(MathError::WrongLength { what: "masses", expected, got }.into());
            }
        }
        MathError::check_vectors("position", positions)?;
        let mass_of = |index: usize| masses.map_or(1.0, |m| m[index]);
        let mut mass = 0.0;
        let mut moment = DVec3::ZERO;
        for (index, &p) in positions.iter().enumerate() {
            let m = MathError::check_positive("mass", index, mass_of(index))?;
            mass += m;
            moment += m * (p - first);
        }
        let offset = moment / mass;
        let mut inertia = Sym3::ZERO;
        for (index, &p) in positions.iter().enumerate() {
            inertia += Sym3::point_inertia((p - first) - offset) * mass_of(index);
        }
        MathError::check_finite("inertia entry", &inertia.to_array())?;
        Ok(Self { mass, center_of_mass: first + offset, inertia })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{AnyPose, check};
    use crate::{assert_close, mass::solid};

    fn corners(h: DVec3) -> Vec<DVec3> {
        (0..8)
            .map(|i| {
                let sign = |bit: u32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
                h * DVec3::new(sign(0), sign(1), sign(2))
            })
            .collect()
    }

    // proves: DYN-29
    #[test]
    fn eight_masses_on_a_box() {
        let h = DVec3::new(1.0, 2.0, 3.0);
        let cloud = MassProperties::from_points(&corners(h), None).unwrap();
        let s = h * h;
        assert_close!(cloud.mass, 8.0, abs = 0.0);
        assert_eq!(cloud.center_of_mass, DVec3::ZERO);
        let moments = 8.0 * DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y);
        assert_eq!(cloud.inertia, Sym3::from_diagonal(moments));

        // Any rotated and moved copy has the same principal moments, and its principal frame maps the
        // corners back onto a box.
        fn rotated(pose: AnyPose) -> bool {
            let h = DVec3::new(1.0, 2.0, 3.0);
            let points: Vec<DVec3> = corners(h).into_iter().map(|p| pose.0.transform_point(p)).collect();
            let frame = MassProperties::from_points(&points, None).unwrap().principal().unwrap();
            let mut moments = frame.moments.to_array();
            moments.sort_by(f64::total_cmp);
            let equal = moments.iter().zip([40.0, 80.0, 104.0]).all(|(m, e)| (m - e).abs() < 1e-11);
            let back = points.iter().all(|&p| {
                let mut q = frame.user_from_body.inverse_transform_point(p).abs().to_array();
                q.sort_by(f64::total_cmp);
                q.iter().zip([1.0, 2.0, 3.0]).all(|(a, e)| (a - e).abs() < 1e-10)
            });
            let r = frame.user_from_body.rotation_matrix();
            equal && back && (r.determinant() - 1.0).abs() < 1e-13
        }
        check(29, 5_000, rotated as fn(AnyPose) -> bool);
    }

    #[test]
    fn weights_shift_the_centre() {
        let points = [DVec3::ZERO, DVec3::X];
        let cloud = MassProperties::from_points(&points, Some(&[1.0, 3.0])).unwrap();
        assert_eq!(cloud.center_of_mass, DVec3::new(0.75, 0.0, 0.0));
    }

    // proves: CLI-14
    #[test]
    fn dumbbell_has_its_reduced_mass_times_length_squared() {
        let (a, b) = (DVec3::new(1.0, 2.0, 3.0), DVec3::new(2.0, 4.0, 5.0));
        let (m, n) = (2.0, 6.0);
        let dumbbell = MassProperties::from_points(&[a, b], Some(&[m, n])).unwrap();
        let d = b - a;
        let reduced = m * n / (m + n);
        for axis in [DVec3::X, DVec3::new(0.0, 0.6, 0.8), d.normalize()] {
            let closed = reduced * d.cross(axis).length_squared();
            assert_close!(dumbbell.moment_about(dumbbell.center_of_mass, axis), closed, abs = 1e-14);
        }
        let mut moments = dumbbell.principal().unwrap().moments.to_array();
        moments.sort_by(f64::total_cmp);
        assert_close!(moments[0], 0.0, abs = 1e-14);
        assert_close!(moments[1], reduced * 9.0, rel = 1e-14);
        assert_close!(moments[2], reduced * 9.0, rel = 1e-14);
    }

    // proves: CLI-14
    #[test]
    fn sampled_box_converges_to_the_solid_box() {
        let (size, mass) = (DVec3::new(1.0, 2.0, 3.0), 5.0);
        let exact = solid::cuboid(size * 0.5, crate::mass::Amount::Mass(mass)).unwrap();
        assert_close!(exact.inertia.xx, mass * (4.0 + 9.0) / 12.0, rel = 1e-15);
        let error = |n: usize| {
            let cell = |i: usize| (i as f64 + 0.5) / n as f64 - 0.5;
            let points: Vec<DVec3> = (0..n * n * n)
                .map(|i| size * DVec3::new(cell(i % n), cell(i / n % n), cell(i / n / n)))
                .collect();
            let share = vec![mass / (n * n * n) as f64; n * n * n];
            let sampled = MassProperties::from_points(&points, Some(&share)).unwrap();
            exact.inertia.xx - sampled.inertia.xx
        };
        // Second order: cells of half the size lack a quarter as much.
        let (coarse, fine) = (error(8), error(16));
        assert_close!(coarse / fine, 4.0, rel = 1e-9);
        assert_close!(fine, mass * 13.0 / 12.0 / 256.0, rel = 1e-9);
    }

    #[test]
    fn bad_points_are_named() {
        let fails =
            |p: &[DVec3], m: Option<&[f64]>| MassProperties::from_points(p, m).unwrap_err().to_string();
        let two = [DVec3::ZERO, DVec3::X];
        assert_eq!(fails(&[], None), "needs at least 1 points, got 0");
        assert_eq!(fails(&two, Some(&[1.0])), "masses has length 1, expected 2");
        assert_eq!(fails(&two, Some(&[1.0, 0.0])), "mass 1 must be positive, got 0");
        assert_eq!(fails(&two, Some(&[1.0, f64::NAN])), "mass 1 is not finite: NaN");
        assert_eq!(fails(&[DVec3::ZERO, DVec3::NAN], None), "position 1 is not finite: NaN");
    }

    #[test]
    fn far_clouds_keep_their_digits() {
        let far = DVec3::new(1e7, -3e7, 2e7);
        let h = DVec3::new(0.5, 0.25, 1.0);
        let points: Vec<DVec3> = corners(h).into_iter().map(|p| p + far).collect();
        let near = MassProperties::from_points(&corners(h), None).unwrap();
        let there = MassProperties::from_points(&points, None).unwrap();
        assert_eq!(there.inertia, near.inertia);
        assert_eq!(there.center_of_mass, far);
    }
}
