//! Ellipsoids, with a closest point that holds for every point of space.
//!
//! # Reference
//! Eberly, *Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid* (2013): the bracket and
//! the treatment of the centre and the planes of symmetry. The iteration is that of the trust-region
//! subproblem, Conn, Gould and Toint, *Trust-Region Methods* (2000), section 7.3.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | e, `radii` | semi-axes, m |
//! | y | target in the ellipsoid's frame, by magnitude |
//! | `z_i = y_i / e_i`, `r_i = (e_i / e_min)²` | scaled target, squared axis ratio |
//! | `rz`, `gap` | `r_i z_i`, `r_i - 1` |
//! | σ | multiplier, shifted so that it is 0 where the smallest axis becomes singular |
//! | `m_i = x_i / e_i` | closest point on the unit sphere |
//!
//! # Formula
//! ```text
//! m_i = r_i z_i / (σ + r_i - 1),   G(σ) = Σ m_i² = 1,   σ > 0        (the largest root is the closest point)
//! φ(σ) = G^(-1/2) - 1 is nearly linear: Newton on φ, kept in a bracket
//! point(u, v) = (a cos v cos u, b cos v sin u, c sin v),  normal ∝ (x/a², y/b², z/c²)
//! ```
//!
//! # Cost
//! About five iterations of three divisions; at most 200.
//!
//! # Numerics
//! `r_i - 1` is formed as `(e_i - e_min)(e_i + e_min)/e_min²`, so flat ellipsoids and points near their plane of
//! symmetry keep their digits. The result is scaled back onto the surface.
//!
//! # Failure
//! Construction refuses radii that are not positive and ratios above 1e100.
//!
//! # Tested by
//! `closest_is_never_beaten_by_sampling`, `centre_axes_and_focal_disc_are_handled`,
//! `very_flat_and_very_long_ellipsoids_have_perpendicular_offsets`

use super::{ClosestOnSurface, Surface};
use crate::curve::Domain;
use crate::rotation::check_unit_quat;
use crate::{MathError, Pose, ops};
use glam::DVec3;
use std::f64::consts::{FRAC_PI_2, TAU};

/// An ellipsoid; u is the longitude, closed, v the latitude, both in radians of the scaled sphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ellipsoid {
    frame: Pose,
    radii: DVec3,
}

/// Ratio of the radii up to which squares of squares stay finite.
const MAX_RATIO: f64 = 1e100;
const MAX_ITERATIONS: usize = 200;

impl Ellipsoid {
    /// Ellipsoid with its centre and axes at `frame` and semi-axes `radii` (m).
    ///
    /// # Errors
    /// A number that is not finite, a radius that is not positive, radii with a ratio above 1e100.
    pub fn new(frame: Pose, radii: DVec3) -> Result<Self, MathError> {
        MathError::check_vector("center", frame.translation)?;
        check_unit_quat("orientation", frame.rotation)?;
        let largest = radii.max_element();
        for (index, value) in radii.to_array().into_iter().enumerate() {
            MathError::check_positive("radius", index, value)?;
            if value * MAX_RATIO < largest {
                let (low, high) = (largest / MAX_RATIO, largest);
                return Err(MathError::OutsideInterval { what: "radius", index, value, low, high });
            }
        }
        Ok(Self { frame: frame.renormalized(), radii })
    }

    /// Semi-axes, metres.
    #[inline]
    #[must_use]
    pub fn radii(&self) -> DVec3 {
        self.radii
    }

    /// Sine and cosine of u, then of v.
    fn angles(u: f64, v: f64) -> (f64, f64, f64, f64) {
        let ((su, cu), (sv, cv)) = (ops::sin_cos(u), ops::sin_cos(v));
        (su, cu, sv, cv)
    }

    fn world(&self, scaled: DVec3) -> DVec3 {
        self.frame.transform_vector(self.radii * scaled)
    }
}

impl Surface for Ellipsoid {
    fn domain(&self) -> [Domain; 2] {
        [Domain::closed(0.0, TAU), Domain::open(-FRAC_PI_2, FRAC_PI_2)]
    }

    fn point(&self, u: f64, v: f64) -> DVec3 {
        let (su, cu, sv, cv) = Self::angles(u, v);
        self.frame.transform_point(self.radii * DVec3::new(cv * cu, cv * su, sv))
    }

    fn derivatives(&self, u: f64, v: f64) -> [DVec3; 2] {
        let (su, cu, sv, cv) = Self::angles(u, v);
        [self.world(DVec3::new(-cv * su, cv * cu, 0.0)), self.world(DVec3::new(-sv * cu, -sv * su, cv))]
    }

    fn second_derivatives(&self, u: f64, v: f64) -> [DVec3; 3] {
        let (su, cu, sv, cv) = Self::angles(u, v);
        [
            self.world(DVec3::new(-cv * cu, -cv * su, 0.0)),
            self.world(DVec3::new(sv * su, -sv * cu, 0.0)),
            self.world(DVec3::new(-cv * cu, -cv * su, -sv)),
        ]
    }

    /// From the gradient of the implicit equation, which does not vanish at the poles.
    fn normal(&self, u: f64, v: f64) -> DVec3 {
        let (su, cu, sv, cv) = Self::angles(u, v);
        // Scaled by the smallest radius so that nothing overflows.
        let scale = self.radii.min_element() / self.radii;
        self.frame.transform_vector((scale * DVec3::new(cv * cu, cv * su, sv)).normalize())
    }

    fn closest(&self, target: DVec3) -> Result<ClosestOnSurface, MathError> {
        let local = self.frame.inverse_transform_point(MathError::check_vector("target", target)?);
        let m = closest_on_scaled_sphere(local, self.radii);
        let u = self.domain()[0].wrap(ops::atan2(m.y, m.x));
        let v = ops::atan2(m.z, ops::hypot(m.x, m.y));
        let point = self.frame.transform_point(self.radii * m);
        Ok(ClosestOnSurface { u, v, point, distance: (target - point).length() })
    }
}

/// Unit vector m such that radii · m is closest to `y`.
fn closest_on_scaled_sphere(y: DVec3, radii: DVec3) -> DVec3 {
    let smallest = radii.min_element();
    let thin = (0..3).find(|&i| radii[i] <= smallest).unwrap_or(0);
    let ratio = radii / smallest;
    let secular = Secular {
        rz: ratio * (y.abs() / smallest),
        gap: ((radii - smallest) / smallest) * ((radii + smallest) / smallest),
    };
    let mut m = secular.m(0.0);
    let inside = m.length_squared();
    if secular.rz[thin] == 0.0 && inside < 1.0 {
        // On the plane across the shortest axis, within the focal disc: the closest point leaves the plane.
        m[thin] = (1.0 - inside).sqrt();
    } else {
        m = secular.m(secular.root());
    }
    let m = m.normalize();
    let side = |y: f64, m: f64| if y < 0.0 { -m } else { m };
    DVec3::new(side(y.x, m.x), side(y.y, m.y), side(y.z, m.z))
}

/// The equation |m(σ)| = 1 with `m_i = rz_i / (σ + gap_i)`.
struct Secular {
    rz: DVec3,
    gap: DVec3,
}

impl Secular {
    fn m(&self, sigma: f64) -> DVec3 {
        let part = |rz: f64, gap: f64| if rz == 0.0 { 0.0 } else { rz / (sigma + gap) };
        DVec3::new(part(self.rz.x, self.gap.x), part(self.rz.y, self.gap.y), part(self.rz.z, self.gap.z))
    }

    /// The root σ ≥ 0. No `m_i` exceeds 1 there, and the largest is at least 1/√3: that is the bracket.
    fn root(&self) -> f64 {
        let mut low = (self.rz - self.gap).max_element().max(0.0);
        let mut high = (3.0_f64.sqrt() * self.rz - self.gap).max_element().max(low);
        let mut sigma = if low > 0.0 { low } else { 0.5 * high };
        for _ in 0..MAX_ITERATIONS {
            let m = self.m(sigma);
            let norm = m.length();
            if norm > 1.0 {
                low = sigma;
            } else {
                high = sigma;
            }
            // Newton for φ = 1/|m| - 1, with φ' = Σ m_i²/(σ + gap_i) / |m|³.
            let pull = m * m / (DVec3::splat(sigma) + self.gap);
            let newton = sigma + (norm - 1.0) * norm * norm / pull.element_sum();
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - sigma).abs() <= f64::EPSILON * sigma {
                return next;
            }
            sigma = next;
        }
        sigma
    }
}
