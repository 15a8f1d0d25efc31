//! Closed forms for solids of uniform density. Centred on the origin, axis of revolution along z.
//!
//! # Reference
//! Elementary integrals; each is checked against the polyhedron integrals of a fine mesh.
//!
//! # Symbols
//! | code | meaning | unit |
//! |---|---|---|
//! | r, `radii`, `half_extents` | radius, semi-axes, half sides | m |
//! | h | half height along z | m |
//!
//! # Formula
//! ```text
//! sphere       2/5 m r²
//! ellipsoid    m (b² + c²) / 5
//! box          m (b² + c²) / 3                       half sides
//! cylinder     m (r²/4 + h²/3), axial m r²/2
//! frustum      axial 3/10 m (a⁴ + a³b + a²b² + ab³ + b⁴) / (a² + ab + b²), see the code for the rest
//! capsule      cylinder plus two half balls at ±h
//! ```
//!
//! # Cost
//! A few dozen operations.
//!
//! # Numerics
//! Sums of positive terms only; the frustum shifts its tensor by at most a quarter of its height.
//!
//! # Failure
//! A size, density or mass that is not positive and finite; one radius of a frustum may be zero.
//!
//! # Tested by
//! `closed_forms_agree_with_fine_meshes`, `special_cases_agree`, `bad_sizes_are_refused`

use super::{Amount, MassError, MassProperties};
use crate::{MathError, Sym3};
use glam::DVec3;
use std::f64::consts::PI;

fn positive(what: &'static str, value: f64) -> Result<f64, MathError> {
    MathError::check_positive(what, 0, value)
}

fn positive_vector(what: &'static str, v: DVec3) -> Result<(), MathError> {
    (0..3).try_for_each(|axis| MathError::check_positive(what, axis, v[axis]).map(drop))
}

/// Body with the given moments; refuses what overflowed.
fn centred(mass: f64, z: f64, moments: DVec3) -> Result<MassProperties, MassError> {
    MathError::check_vector("moment of inertia", moments)?;
    let center_of_mass = DVec3::new(0.0, 0.0, z);
    Ok(MassProperties { mass, center_of_mass, inertia: Sym3::from_diagonal(moments) })
}

/// Solid ball of radius `radius` (m).
///
/// # Errors
/// A radius or amount that is not positive and finite.
pub fn sphere(radius: f64, amount: Amount) -> Result<MassProperties, MassError> {
    let r = positive("radius", radius)?;
    ellipsoid(DVec3::splat(r), amount)
}

/// Solid ellipsoid with semi-axes `radii` (m) along x, y and z.
///
/// # Errors
/// A semi-axis or amount that is not positive and finite.
pub fn ellipsoid(radii: DVec3, amount: Amount) -> Result<MassProperties, MassError> {
    positive_vector("radius", radii)?;
    let mass = amount.mass_of(4.0 / 3.0 * PI * radii.x * radii.y * radii.z)?;
    let s = radii * radii;
    centred(mass, 0.0, DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 5.0))
}

/// Solid box with half sides `half_extents` (m).
///
/// # Errors
/// A side or amount that is not positive and finite.
pub fn cuboid(half_extents: DVec3, amount: Amount) -> Result<MassProperties, MassError> {
    positive_vector("half extent", half_extents)?;
    let h = half_extents;
    let mass = amount.mass_of(8.0 * h.x * h.y * h.z)?;
    let s = h * h;
    centred(mass, 0.0, DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 3.0))
}

/// Solid cylinder of radius `radius` between z = ±`half_height` (m).
///
/// # Errors
/// A size or amount that is not positive and finite.
pub fn cylinder(radius: f64, half_height: f64, amount: Amount) -> Result<MassProperties, MassError> {
    let r = positive("radius", radius)?;
    let h = positive("half height", half_height)?;
    let mass = amount.mass_of(2.0 * PI * r * r * h)?;
    let across = mass * (r * r / 4.0 + h * h / 3.0);
    centred(mass, 0.0, DVec3::new(across, across, 0.5 * mass * r * r))
}

/// Solid capsule: all points within `radius` of the segment between z = ±`half_height` (m).
///
/// # Errors
/// A size or amount that is not positive and finite.
pub fn capsule(radius: f64, half_height: f64, amount: Amount) -> Result<MassProperties, MassError> {
    let r = positive("radius", radius)?;
    let h = positive("half height", half_height)?;
    let (barrel, ball) = (2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r * r * r);
    let mass = amount.mass_of(barrel + ball)?;
    let m_barrel = mass * (barrel / (barrel + ball));
    let m_ball = mass * (ball / (barrel + ball));
    // In a half ball on its base the mean of x² and z² is r²/5 and that of z is 3/8 r; it is shifted by h.
    let across = m_barrel * (r * r / 4.0 + h * h / 3.0) + m_ball * (0.4 * r * r + 0.75 * r * h + h * h);
    let along = m_barrel * 0.5 * r * r + m_ball * 0.4 * r * r;
    centred(mass, 0.0, DVec3::new(across, across, along))
}

/// Solid frustum of a cone: radius `bottom` at z = -`half_height`, radius `top` at z = +`half_height` (m).
/// One of the radii may be zero: a cone. The centre of mass is not at the origin.
///
/// # Errors
/// A height or amount that is not positive, a negative or non-finite radius, or both radii zero.
pub fn frustum(bottom: f64, top: f64, half_height: f64, amount: Amount) -> Result<MassProperties, MassError> {
    let half = positive("half height", half_height)?;
    MathError::check_not_negative("radius", 0, bottom)?;
    MathError::check_not_negative("radius", 1, top)?;
    positive("larger radius", bottom.max(top))?;
    let (a, b, h) = (bottom, top, 2.0 * half);
    let area = a * a + a * b + b * b;
    let mass = amount.mass_of(PI * h / 3.0 * area)?;
    // Heights from the bottom: mean and mean square, then about the centre of mass.
    let mean = h * (a * a + 2.0 * a * b + 3.0 * b * b) / (4.0 * area);
    let mean_square = h * h * (a * a + 3.0 * a * b + 6.0 * b * b) / (10.0 * area);
    let fourth = a * a * a * a + a * a * a * b + a * a * b * b + a * b * b * b + b * b * b * b;
    let along = 0.3 * mass * fourth / area;
    let across = 0.5 * along + mass * (mean_square - mean * mean);
    centred(mass, mean - half, DVec3::new(across, across, along))
}

/// Solid cone with its base of radius `radius` at z = -`half_height` and its tip at z = +`half_height` (m).
///
/// # Errors
/// A size or amount that is not positive and finite.
pub fn cone(radius: f64, half_height: f64, amount: Amount) -> Result<MassProperties, MassError> {
    frustum(positive("radius", radius)?, 0.0, half_height, amount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assert_close;
    use crate::mass::{ClosedSurface, combine};
    use crate::ops::{cos, sin};

    /// Solid of revolution about z: profile points (radius, height) from bottom to top, first and last on
    /// the axis, `n` facets around.
    fn lathe(profile: &[(f64, f64)], n: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let rings = &profile[1..profile.len() - 1];
        let mut vertices = vec![DVec3::new(0.0, 0.0, profile[0].1)];
        for &(r, z) in rings {
            for k in 0..n {
                let angle = 2.0 * PI * f64::from(k) / f64::from(n);
                vertices.push(DVec3::new(r * cos(angle), r * sin(angle), z));
            }
        }
        vertices.push(DVec3::new(0.0, 0.0, profile[profile.len() - 1].1));
        let last = vertices.len() as u32 - 1;
        let at = |ring: u32, k: u32| 1 + ring * n + k % n;
        let mut faces = Vec::new();
        for k in 0..n {
            faces.push([0, at(0, k + 1), at(0, k)]);
            for ring in 0..rings.len() as u32 - 1 {
                faces.push([at(ring, k), at(ring, k + 1), at(ring + 1, k + 1)]);
                faces.push([at(ring, k), at(ring + 1, k + 1), at(ring + 1, k)]);
            }
            faces.push([at(rings.len() as u32 - 1, k), at(rings.len() as u32 - 1, k + 1), last]);
        }
        (vertices, faces)
    }

    /// Mass properties of meshes with n and 2n facets, extrapolated to infinitely many.
    fn extrapolated(profile: impl Fn(u32) -> Vec<(f64, f64)>, n: u32) -> (f64, f64, DVec3) {
        let at = |n: u32| {
            let (vertices, faces) = lathe(&profile(n), n);
            let surface = ClosedSurface::from_triangles(&vertices, &faces).unwrap();
            let body = MassProperties::from_polyhedron(&surface, Amount::Density(2.0)).unwrap();
            let i = body.inertia;
            (body.mass, body.center_of_mass.z, i.diagonal())
        };
        let ((m1, z1, i1), (m2, z2, i2)) = (at(n), at(2 * n));
        (m2 + (m2 - m1) / 3.0, z2 + (z2 - z1) / 3.0, i2 + (i2 - i1) / 3.0)
    }

    fn arc(r: f64, z: f64, from: f64, to: f64, n: u32) -> Vec<(f64, f64)> {
        (0..=n)
            .map(|k| from + (to - from) * f64::from(k) / f64::from(n))
            .map(|a| (r * cos(a), z + r * sin(a)))
            .collect()
    }

    fn agrees(exact: MassProperties, mesh: (f64, f64, DVec3), rel: f64) {
        assert_close!(exact.mass, mesh.0, rel = rel);
        assert_close!(exact.center_of_mass.z, mesh.1, abs = rel);
        for axis in 0..3 {
            assert_close!(exact.inertia.diagonal()[axis], mesh.2[axis], rel = rel);
        }
    }

    #[test]
    fn closed_forms_agree_with_fine_meshes() {
        let amount = Amount::Density(2.0);
        let (r, h) = (0.7, 1.1);
        let tube = extrapolated(|_| vec![(0.0, -h), (r, -h), (r, h), (0.0, h)], 128);
        agrees(cylinder(r, h, amount).unwrap(), tube, 1e-6);
        let cut = extrapolated(|_| vec![(0.0, -h), (1.3, -h), (0.4, h), (0.0, h)], 128);
        agrees(frustum(1.3, 0.4, h, amount).unwrap(), cut, 1e-6);
        let turned = extrapolated(|_| vec![(0.0, -h), (0.4, -h), (1.3, h), (0.0, h)], 128);
        agrees(frustum(0.4, 1.3, h, amount).unwrap(), turned, 1e-6);
        let pill = |n: u32| {
            let mut profile = arc(r, -h, -PI / 2.0, 0.0, n / 4);
            profile.extend(arc(r, h, 0.0, PI / 2.0, n / 4));
            profile
        };
        agrees(capsule(r, h, amount).unwrap(), extrapolated(pill, 64), 1e-5);
        let ball = extrapolated(|n| arc(r, 0.0, -PI / 2.0, PI / 2.0, n / 2), 64);
        agrees(sphere(r, amount).unwrap(), ball, 1e-5);
        // An ellipsoid is a stretched ball.
        let stretched =
            |n| arc(1.0, 0.0, -PI / 2.0, PI / 2.0, n / 2).into_iter().map(|(r, z)| (r, 2.5 * z)).collect();
        agrees(ellipsoid(DVec3::new(1.0, 1.0, 2.5), amount).unwrap(), extrapolated(stretched, 64), 1e-5);
    }

    #[test]
    fn special_cases_agree() {
        let amount = Amount::Mass(3.0);
        let straight = frustum(0.5, 0.5, 0.8, amount).unwrap();
        let tube = cylinder(0.5, 0.8, amount).unwrap();
        for axis in 0..3 {
            assert_close!(straight.inertia.diagonal()[axis], tube.inertia.diagonal()[axis], rel = 1e-14);
        }
        // A cone of height H: centre a quarter up, axial 3/10 m r², across 3/20 m r² + 3/80 m H².
        let tip = cone(0.5, 1.0, amount).unwrap();
        assert_close!(tip.center_of_mass.z, -0.5, rel = 1e-15);
        assert_close!(tip.inertia.zz, 0.3 * 3.0 * 0.25, rel = 1e-15);
        assert_close!(tip.inertia.xx, 3.0 * (0.15 * 0.25 + 3.0 / 80.0 * 4.0), rel = 1e-14);
        // A cone cut in two is a frustum and a small cone.
        let whole = cone(1.0, 1.0, Amount::Density(5.0)).unwrap();
        let low = frustum(1.0, 0.5, 0.5, Amount::Density(5.0)).unwrap();
        let high = cone(0.5, 0.5, Amount::Density(5.0)).unwrap();
        let at = |z| crate::Pose::from_translation(DVec3::new(0.0, 0.0, z));
        let sum = combine(&[low.transformed(&at(-0.5)), high.transformed(&at(0.5))]).unwrap();
        assert_close!(sum.mass, whole.mass, rel = 1e-14);
        assert_close!(sum.center_of_mass.z, whole.center_of_mass.z, rel = 1e-14);
        assert_close!(sum.inertia.xx, whole.inertia.xx, rel = 1e-14);
        assert_close!(sum.inertia.zz, whole.inertia.zz, rel = 1e-14);
        // A very short capsule is a ball.
        let short = capsule(1.0, 1e-12, amount).unwrap();
        assert_close!(short.inertia.xx, sphere(1.0, amount).unwrap().inertia.xx, rel = 1e-11);
    }

    #[test]
    fn bad_sizes_are_refused() {
        let one = Amount::Mass(1.0);
        for x in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(sphere(x, one).is_err());
            assert!(sphere(1.0, Amount::Density(x)).is_err());
            assert!(cylinder(x, 1.0, one).is_err() && cylinder(1.0, x, one).is_err());
            assert!(capsule(x, 1.0, one).is_err() && capsule(1.0, x, one).is_err());
            assert!(cone(x, 1.0, one).is_err() && frustum(1.0, 1.0, x, one).is_err());
            assert!(cuboid(DVec3::new(1.0, x, 1.0), one).is_err());
            assert!(ellipsoid(DVec3::new(1.0, 1.0, x), one).is_err());
        }
        assert!(frustum(0.0, 0.0, 1.0, one).is_err());
        assert!(frustum(-1.0, 1.0, 1.0, one).is_err());
        assert!(frustum(1.0, f64::NAN, 1.0, one).is_err());
        assert!(sphere(1e200, one).is_err(), "overflow is not a body");
        let error = ellipsoid(DVec3::new(1.0, -2.0, 1.0), one).unwrap_err();
        assert_eq!(error.to_string(), "radius 1 must be positive, got -2");
    }
}
