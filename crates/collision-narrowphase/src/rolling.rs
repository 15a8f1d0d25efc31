//! Smooth bodies on a plane: contact point, curvature, and how the contact wanders as the body rolls.
//!
//! # Reference
//! Arnold 1997 §2.4.1 (ground contact of ellipsoids and frustums), in closed form; Montana 1988 (kinematics of contact).
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | `n` | unit normal of the plane, out of it | body |
//! | `s` | lowest point of the body: support along −n | body |
//! | `D` | derivative of the lowest point with the direction −n: the inverse of the shape operator | body |
//! | `ω` | angular velocity | body |
//!
//! # Formula
//! ```text
//! ellipsoid: Q = diag(a², b², c²),  h = √(nᵀQn),  s = −Q n / h,  D = (Q − s sᵀ) / h
//! rim of a frustum (radius r at height z): u = n_⊥ / |n_⊥|,  s = −r u + z e_z,  D = r (e_z × u)(e_z × u)ᵀ / |n_⊥|
//! over the body: ds/dt = D · (ω × n)   (n turns with −ω in the body's frame, so −n with ω × n)
//! rolling without slip: the centre moves with v = −ω × s; the contact moves over the plane with v + ω × s + ds/dt = ds/dt
//! ```
//!
//! # Cost
//! Some dozen flops.
//!
//! # Numerics
//! D has rank 2 for an ellipsoid, its eigenvalues are the radii of curvature; rank 1 for a rim, whose curvature across is
//! infinite. A frustum standing on its end, or lying on its side, has no single lowest point: see the manifolds.
//!
//! # Failure
//! [`RollingError`] for a normal that is zero or not finite, and for a frustum whose contact is not a point.
//!
//! # Tested by
//! `lowest_points_and_their_derivatives_agree_with_differences`, `an_ellipsoid_rolls_its_circumference`,
//! `a_cone_rolls_in_a_circle_around_its_apex`

use crate::shapes::{Ellipsoid, Frustum};
use sim_math::glam::{DMat3, DVec3};
use thiserror::Error;

/// No single point of contact.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum RollingError {
    /// The normal is zero or not finite.
    #[error("normal must be a finite non-zero vector, got {normal}")]
    BadNormal {
        /// What was given.
        normal: DVec3,
    },
    /// A flat end or a line of the side touches: the contact is no point.
    #[error("the frustum touches along a disk or a line for normal {normal}")]
    NotAPoint {
        /// Unit normal in the body's frame.
        normal: DVec3,
    },
}

/// Contact of a smooth body with a plane, all in the body's frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RollingContact {
    /// Lowest point, metres.
    pub point: DVec3,
    /// Unit normal of the plane, out of it.
    pub normal: DVec3,
    /// Change of the lowest point with the direction −normal, metres; symmetric, normal to the normal. Its eigenvalues are
    /// the principal radii of curvature.
    pub radii: DMat3,
}

impl RollingContact {
    /// Velocity of the contact point over the body's surface, m/s, for an angular velocity in the body's frame, rad/s.
    #[inline]
    #[must_use]
    pub fn point_rate(&self, omega_body: DVec3) -> DVec3 {
        self.radii * omega_body.cross(self.normal)
    }

    /// Velocity of the body's origin when it rolls without slip, m/s, body axes.
    #[inline]
    #[must_use]
    pub fn rolling_velocity(&self, omega_body: DVec3) -> DVec3 {
        -omega_body.cross(self.point)
    }
}

fn unit(normal: DVec3) -> Result<DVec3, RollingError> {
    normal.try_normalize().filter(|n| n.is_finite()).ok_or(RollingError::BadNormal { normal })
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// An ellipsoid on a plane with the given outward normal, body frame.
///
/// # Errors
/// [`RollingError::BadNormal`].
pub fn ellipsoid_on_plane(ellipsoid: &Ellipsoid, normal: DVec3) -> Result<RollingContact, RollingError> {
    let n = unit(normal)?;
    let q = ellipsoid.radii() * ellipsoid.radii();
    let h = n.dot(q * n).sqrt();
    let point = -(q * n) / h;
    let radii = (DMat3::from_diagonal(q) - outer(point)) * (1.0 / h);
    Ok(RollingContact { point, normal: n, radii })
}

/// A frustum on the rim of one of its ends, on a plane with the given outward normal, body frame.
///
/// # Errors
/// [`RollingError::BadNormal`]; [`RollingError::NotAPoint`] where an end or the side lies flat (to 1e-9 rad).
pub fn frustum_on_plane(frustum: &Frustum, normal: DVec3) -> Result<RollingContact, RollingError> {
    let n = unit(normal)?;
    let across = n.with_z(0.0);
    let length = across.length();
    let (top, bottom, h) = (frustum.top(), frustum.bottom(), frustum.half_height());
    // Heights of the lowest points of both rims, relative to the origin.
    let low_top = -top * length + h * n.z;
    let low_bottom = -bottom * length - h * n.z;
    let size = h + top.max(bottom);
    if length < 1e-9 || (low_top - low_bottom).abs() < 1e-9 * size {
        return Err(RollingError::NotAPoint { normal: n });
    }
    let u = across / length;
    let (radius, z) = if low_top < low_bottom { (top, h) } else { (bottom, -h) };
    let around = DVec3::Z.cross(u);
    Ok(RollingContact { point: (-radius * u).with_z(z), normal: n, radii: outer(around) * (radius / length) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::{glam::DQuat, testkit::SplitMix64};
    use sim_traits::SupportMap;

    #[test]
    fn lowest_points_and_their_derivatives_agree_with_differences() {
        let mut random = SplitMix64(1);
        let ellipsoid = Ellipsoid::new(DVec3::new(0.5, 1.0, 2.0)).unwrap();
        let frustum = Frustum::new(0.7, 0.3, 0.5).unwrap();
        let mut checked = 0;
        for _ in 0..3000 {
            let n = random.unit_vec3();
            let omega = random.vec3(1.0);
            let h = 1e-6;
            // The plane's normal seen from the turning body.
            let turned = |t: f64| DQuat::from_scaled_axis(-omega * t) * n;
            let c = ellipsoid_on_plane(&ellipsoid, n).unwrap();
            assert!((c.point - ellipsoid.support(-n)).length() < 1e-12);
            let at = |t: f64| ellipsoid_on_plane(&ellipsoid, turned(t)).unwrap().point;
            assert!(((at(h) - at(-h)) / (2.0 * h) - c.point_rate(omega)).length() < 1e-7);
            // Radii of curvature: product of the two is 1/K, K = h⁴ / (a b c)² with h the height of the tangent plane.
            let height = -n.dot(c.point);
            let trace = c.radii.x_axis.x + c.radii.y_axis.y + c.radii.z_axis.z;
            let square = c.radii * c.radii;
            let product = 0.5 * (trace * trace - (square.x_axis.x + square.y_axis.y + square.z_axis.z));
            assert!((product * height * height * height * height - 1.0).abs() < 1e-9, "{product}");
            let Ok(c) = frustum_on_plane(&frustum, n) else { continue };
            let (Ok(p), Ok(q)) =
                (frustum_on_plane(&frustum, turned(h)), frustum_on_plane(&frustum, turned(-h)))
            else {
                continue;
            };
            if n.with_z(0.0).length() < 0.05 || (p.point - q.point).length() > 1e-4 {
                continue;
            }
            checked += 1;
            assert!((c.point - frustum.support(-n)).length() < 1e-12);
            assert!(((p.point - q.point) / (2.0 * h) - c.point_rate(omega)).length() < 1e-6);
        }
        assert!(checked > 2000);
        assert!(ellipsoid_on_plane(&ellipsoid, DVec3::ZERO).is_err());
        assert!(ellipsoid_on_plane(&ellipsoid, DVec3::NAN).is_err());
        assert!(matches!(frustum_on_plane(&frustum, DVec3::Z), Err(RollingError::NotAPoint { .. })));
        // Lying on its side.
        let side = DVec3::new(1.0, 0.0, 0.4).normalize();
        assert!(matches!(frustum_on_plane(&frustum, -side), Err(RollingError::NotAPoint { .. })));
    }

    /// Rolls a body over the plane z = 0 with a steady angular velocity (world), by the midpoint rule; returns the path of
    /// the contact and the last height error.
    fn roll(
        contact: &dyn Fn(DVec3) -> RollingContact,
        start: DQuat,
        omega: DVec3,
        turns: f64,
        steps: u32,
    ) -> (DVec3, DVec3, f64) {
        let dt = turns * std::f64::consts::TAU / omega.length() / f64::from(steps);
        let at = |q: DQuat| contact(q.inverse() * DVec3::Z);
        let mut q = start;
        let first = -(q * at(q).point);
        let mut center = first.with_x(0.0).with_y(0.0);
        let mut worst = 0.0_f64;
        for _ in 0..steps {
            let half = DQuat::from_scaled_axis(0.5 * dt * omega) * q;
            let local = half.inverse() * omega;
            center += dt * (half * at(half).rolling_velocity(local));
            q = (DQuat::from_scaled_axis(dt * omega) * q).normalize();
            // The body stays on the plane: a consequence of rolling, not an input.
            worst = worst.max((center.z + (q * at(q).point).z).abs());
        }
        let begin = first.with_x(0.0).with_y(0.0) + start * at(start).point;
        (center + q * at(q).point - begin, center, worst)
    }

    #[test]
    fn an_ellipsoid_rolls_its_circumference() {
        // About a principal axis: the contact covers the circumference of the ellipse with axes b, c.
        let (b, c) = (0.4, 0.9);
        let ellipsoid = Ellipsoid::new(DVec3::new(0.7, b, c)).unwrap();
        let (way, _, worst) =
            roll(&|n| ellipsoid_on_plane(&ellipsoid, n).unwrap(), DQuat::IDENTITY, DVec3::X, 1.0, 20_000);
        let steps = 100_000;
        let circumference: f64 = (0..steps)
            .map(|k| {
                let t = std::f64::consts::TAU * (f64::from(k) + 0.5) / f64::from(steps);
                let (s, co) = sim_math::ops::sin_cos(t);
                (b * b * s * s + c * c * co * co).sqrt() * std::f64::consts::TAU / f64::from(steps)
            })
            .sum();
        assert!((way.length() - circumference).abs() < 1e-6, "{} {circumference}", way.length());
        assert!(way.x.abs() < 1e-12 && worst < 1e-7, "{way} {worst}");
    }

    #[test]
    fn a_cone_rolls_in_a_circle_around_its_apex() {
        // A cone on its side rolls about its apex: the instantaneous axis is the line of contact. The rim of a frustum held
        // at a slightly steeper angle moves the same way in the limit; here the closed form of the rim is compared:
        // a disk of radius r whose axis is tilted by α rolls in a circle of radius r / tan α.
        let (r, h) = (0.5, 0.01);
        let disk = Frustum::new(r, r, h).unwrap();
        let tilt = 0.6_f64;
        let (sin, cos) = sim_math::ops::sin_cos(tilt);
        // Axis of the disk tilted from the vertical by π/2 − tilt; the plane's normal in the body's frame.
        let start = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2 - tilt);
        let c = frustum_on_plane(&disk, start.inverse() * DVec3::Z).unwrap();
        let z = c.point.z;
        // Steady rolling: the body turns about the line from the fixed point on its axis to the contact. The fixed point
        // is where the axis meets the plane: at distance r / tan(tilt') along the axis.
        let axis = start * DVec3::Z;
        let point = start * c.point;
        // Centre such that the contact is on the plane.
        let center = DVec3::new(0.0, 0.0, -point.z);
        let apex = center - axis * (center.z / axis.z);
        let contact = center + point;
        let line = (contact - apex).normalize();
        let velocity_center = start * c.rolling_velocity(start.inverse() * line);
        // Turning about the line through apex and contact keeps both at rest.
        let expected = line.cross(center - contact);
        assert!((velocity_center - expected).length() < 1e-12);
        assert!(line.cross(apex - contact).length() < 1e-12);
        // So the centre circles the vertical through the apex at constant height, and the contact runs over the rim with
        // rate r φ', where φ' is the spin about the axis relative to the precession.
        assert!(velocity_center.z.abs() < 1e-12);
        let reach = (contact - apex).length();
        let precession = velocity_center.length() / (center - apex).with_z(0.0).length();
        let rate = c.point_rate(start.inverse() * line).length();
        assert!((rate - precession * reach).abs() < 1e-12, "{rate} {}", precession * reach);
        assert!((sin * sin + cos * cos - 1.0).abs() < 1e-15 && z.abs() == h);
    }
}
