//! What a core offers near a direction: flat faces, straight lines, and how its lowest point moves.
//!
//! # Reference
//! Differential geometry of support functions: a support point moves with its direction by the radii of curvature.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `d` | unit direction in which the core is asked for its farthest points |
//! | face | flat part with a normal near d |
//! | line | straight part nearly at right angles to d |
//! | rate | ds/dd: change of the support point with the direction |
//!
//! # Formula
//! ```text
//! rim and side of radius r: rate = r t tᵀ / |d_⊥|,  t = z × d / |d_⊥|
//! ellipsoid: Q = diag(a², b², c²), h = √(dᵀQd), s = Q d / h, rate = (Q − s sᵀ) / h;   corners: 0
//! ```
//!
//! # Cost
//! A few flops; for a polyhedron the edges at its support vertex.
//!
//! # Numerics
//! Near means within 0.1 rad.
//!
//! # Failure
//! `None` where there is no such part, and for support maps that the library does not know.
//!
//! # Tested by
//! `rates_are_what_differences_say`, `soak_following_finds_what_searching_finds`

use super::core::{Core, Kind};
use sim_math::glam::DVec3;

/// Sine of the angle that is near.
const NEAR: f64 = 0.1;
/// Cosine of about the same angle.
const ALIGNED: f64 = 0.995;

/// What a core offers near a direction, in its frame.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Near {
    /// Outward unit normal of a face.
    pub(super) face: Option<DVec3>,
    lines: [DVec3; Near::LINES],
    len: usize,
}

impl Near {
    const LINES: usize = 3;

    /// Unit vectors along lines that lead away from the support point.
    pub(super) fn lines(&self) -> &[DVec3] {
        &self.lines[..self.len]
    }

    /// Those most nearly at right angles come first.
    fn push(&mut self, line: DVec3, d: DVec3) {
        let along = line.dot(d).abs();
        if along >= NEAR {
            return;
        }
        let place = self.lines().iter().position(|other| along < other.dot(d).abs()).unwrap_or(self.len);
        if place < Self::LINES {
            self.len = (self.len + 1).min(Self::LINES);
            self.lines.copy_within(place..self.len - 1, place + 1);
            self.lines[place] = line;
        }
    }
}

/// The rate of a circle about the z axis.
#[inline]
fn around(radius: f64, d: DVec3, t: DVec3) -> DVec3 {
    let across = d.x * d.x + d.y * d.y;
    if across > 0.0 {
        let slide = (d.x * t.y - d.y * t.x) * radius / (across * across.sqrt());
        DVec3::new(-d.y * slide, d.x * slide, 0.0)
    } else {
        DVec3::ZERO
    }
}

impl Core<'_> {
    /// The face that looks along a unit vector, and lines nearly at right angles to it.
    pub(super) fn near(&self, d: DVec3) -> Near {
        let mut near = Near::default();
        let face = match self.kind {
            Kind::Polyhedron(p) => {
                let mut face = (DVec3::ZERO, ALIGNED);
                for spoke in p.spokes(p.support_vertex(d)) {
                    for f in p.edges()[spoke.edge as usize].faces {
                        let n = p.faces()[f as usize].normal;
                        let along = n.dot(d);
                        if along > face.1 {
                            face = (n, along);
                        }
                    }
                    near.push(spoke.direction, d);
                }
                (face.0 != DVec3::ZERO).then_some(face.0)
            }
            Kind::Triangle([p, q, r]) => {
                let top = self.support(d);
                for corner in [p, q, r] {
                    if let Some(side) = (corner - top).try_normalize() {
                        near.push(side, d);
                    }
                }
                let normal = (q - p).cross(r - p).try_normalize();
                normal.map(|n| n * 1.0_f64.copysign(n.dot(d)))
            }
            Kind::Cuboid(_) => {
                // Zeros have signs, too, which the support point follows.
                let away = -DVec3::ONE.copysign(d);
                for (k, axis) in DVec3::AXES.into_iter().enumerate() {
                    near.push(axis * away[k], d);
                }
                self.face(d).map(|face| face.normal)
            }
            Kind::Segment(_) | Kind::Cylinder(..) => {
                near.push(DVec3::Z * -1.0_f64.copysign(d.z), d);
                self.face(d).map(|face| face.normal)
            }
            Kind::Frustum(_) => {
                if let Some(line) = self.slant(d) {
                    near.push(line * -1.0_f64.copysign(self.support(d).z), d);
                }
                self.face(d).map(|face| face.normal)
            }
            Kind::Point | Kind::Ellipsoid(_) | Kind::Map(_) => None,
        };
        near.face = face.filter(|n| n.dot(d) > ALIGNED);
        near
    }

    /// The line on the side of a frustum that faces a direction.
    pub(super) fn slant(&self, d: DVec3) -> Option<DVec3> {
        let Kind::Frustum(f) = self.kind else { return None };
        let outward = d.with_z(0.0).try_normalize()?;
        Some(((f.top() - f.bottom()) * outward).with_z(2.0 * f.half_height()).normalize())
    }

    /// Change of the nearest point of the slant for a change `t` of the unit direction `d`, at a height.
    pub(super) fn slant_rate(&self, d: DVec3, t: DVec3, z: f64) -> Option<DVec3> {
        let Kind::Frustum(f) = self.kind else { return None };
        let up = (0.5 * (z / f.half_height() + 1.0)).clamp(0.0, 1.0);
        Some(around(f.bottom() + up * (f.top() - f.bottom()), d, t))
    }

    /// Change of the support point for a change `t` of the unit direction `d`; `None` if unknown.
    #[inline]
    pub(super) fn rate(&self, d: DVec3, t: DVec3) -> Option<DVec3> {
        match self.kind {
            Kind::Cylinder(radius, _) => Some(around(radius, d, t)),
            Kind::Frustum(f) => {
                let s = self.support(d);
                Some(around(if s.z > 0.0 { f.top() } else { f.bottom() }, d, t))
            }
            Kind::Ellipsoid(radii) => {
                let q = radii * radii;
                let h = d.dot(q * d).sqrt();
                let s = q * d / h;
                Some((q * t - s * s.dot(t)) / h)
            }
            Kind::Map(_) => None,
            _ => Some(DVec3::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{Ellipsoid, Frustum};
    use sim_math::testkit::SplitMix64;
    use sim_traits::{Cylinder, Shape};

    #[test]
    fn rates_are_what_differences_say() {
        let shapes: [Shape; 3] = [
            Cylinder::new(0.4, 0.2).unwrap().into(),
            Frustum::new(0.5, 0.2, 0.3).unwrap().into(),
            Ellipsoid::new(DVec3::new(0.5, 0.4, 0.3)).unwrap().into(),
        ];
        let mut random = SplitMix64(3);
        for _ in 0..3000 {
            let core = Core::of(&shapes[random.below(3)]).unwrap();
            let (d, h) = (random.unit_vec3(), 1e-6);
            let t = d.cross(random.unit_vec3());
            let (p, q) = (core.support((d + h * t).normalize()), core.support((d - h * t).normalize()));
            if d.with_z(0.0).length() < 0.1 || (p - q).length() > 1e-4 {
                continue;
            }
            let rate = core.rate(d, t).unwrap();
            assert!(((p - q) / (2.0 * h) - rate).length() < 1e-7, "{rate} {}", (p - q) / (2.0 * h));
        }
    }
}
