//! Two boxes that are apart: projections find the features, and a plane between the boxes proves them.
//!
//! # Reference
//! Alternating projections (Cheney and Goldstein 1959); duality of distance for the proof.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `x`, `y` | points of A and B, in A's frame |
//! | `fixed` | per axis of a box, on which of its two faces a point is pressed: −1, 1, or 0 for neither |
//! | `out` | unit vector from A to B |
//!
//! # Formula
//! ```text
//! y ← nearest point of B to x,  x ← nearest point of A to y,  until `fixed` stays;   then the two features' own closest points
//! closest ⇔ |x − y| = out·t − Σ h_A,i |out_i| − Σ h_B,j |r_j·out|
//! ```
//!
//! # Cost
//! Some 40 flops per projection, of which most pairs need four. No allocation.
//!
//! # Numerics
//! The features are right after a few projections even where the points converge slowly. Normals of faces and of crossing edges
//! have all digits; one that is the difference of two points is used only above 1e-5 of the size.
//!
//! # Failure
//! `None` where the proof fails: parallel faces and edges, short gaps between corners, overlap.
//!
//! # Tested by
//! `soak_boxes_equal_the_oracle_at_hostile_poses`, `boxes_apart_hardly_ever_need_a_search`

use crate::relative::Frame;
use sim_math::glam::DVec3;
use sim_traits::Separation;

/// Projections before a search takes over.
const ROUNDS: u32 = 12;
/// How far a point that slides along is moved on, in steps.
const AHEAD: f64 = 10.0;
/// Gap below which the difference of two points is no direction, of the size.
const SHORT: f64 = 1e-5;

/// Two boxes, the second one in the frame of the first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Boxes<'a> {
    pub(super) ha: DVec3,
    pub(super) hb: DVec3,
    pub(super) frame: &'a Frame,
}

/// A point of a box, and the faces that it is pressed against.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pressed {
    point: DVec3,
    fixed: DVec3,
}

impl Pressed {
    /// Point of a box nearest to `x`, in the box's frame.
    #[inline]
    fn nearest(x: DVec3, half: DVec3) -> Self {
        let fixed = DVec3::select(x.abs().cmpge(half), DVec3::ONE.copysign(x), DVec3::ZERO);
        Self { point: x.clamp(-half, half), fixed }
    }

    /// 3 for a corner, 2 for an edge, 1 for a face.
    #[inline]
    fn faces(&self) -> u32 {
        (self.fixed.length_squared() + 0.5) as u32
    }
}

impl Boxes<'_> {
    fn size(&self) -> f64 {
        self.ha.max_element() + self.hb.max_element()
    }

    /// Gap along a unit vector from A to B: at most the distance.
    #[inline]
    fn gap_along(&self, out: DVec3) -> f64 {
        let turned = self.frame.back(out);
        out.dot(self.frame.translation) - self.ha.dot(out.abs()) - self.hb.dot(turned.abs())
    }

    /// The closest points, where they are proven to be that.
    pub(super) fn separation(&self) -> Option<Separation> {
        let Self { ha, hb, frame } = *self;
        let mut a = Pressed::nearest(frame.translation, ha);
        let mut before = None;
        let mut from = a.point;
        for _ in 0..ROUNDS {
            let b = Pressed::nearest(frame.point_back(from), hb);
            let y = frame.point(b.point);
            let last = a.point;
            a = Pressed::nearest(y, ha);
            let features = (a.fixed, b.fixed);
            from = a.point;
            if before == Some(features) {
                let proven = match (a.faces(), b.faces()) {
                    (_, 3) => self.joined(a.point, y),
                    (3, _) => {
                        let foot = Pressed::nearest(frame.point_back(a.point), hb);
                        self.joined(a.point, frame.point(foot.point))
                    }
                    (2, 2) => self.crossing(a.fixed, b.fixed),
                    _ => None,
                };
                if proven.is_some() {
                    return proven;
                }
                // Sliding along: each step is shorter than the last, and the end of the feature may be far.
                from += AHEAD * (a.point - last);
            }
            before = Some(features);
        }
        None
    }

    /// A corner and its foot, or two corners.
    #[inline]
    fn joined(&self, x: DVec3, y: DVec3) -> Option<Separation> {
        let gap = y - x;
        let (distance, size) = (gap.length(), self.size());
        if distance <= SHORT * size {
            return None;
        }
        let out = gap / distance;
        let rounding = 1e-15 * size * (1.0 + size / distance);
        (self.gap_along(out) >= distance - rounding).then_some(Separation {
            distance,
            normal: -out,
            point_a: x,
            point_b: y,
        })
    }

    /// Two edges that pass each other.
    fn crossing(&self, fixed_a: DVec3, fixed_b: DVec3) -> Option<Separation> {
        let along = |fixed: DVec3| DVec3::ONE - fixed.abs();
        let (u1, axis_b) = (along(fixed_a), along(fixed_b));
        let u2 = self.frame.vector(axis_b);
        let (pa, pb) = (self.ha * fixed_a, self.frame.point(self.hb * fixed_b));
        let r = pa - pb;
        let cross = u1.cross(u2);
        let denominator = cross.length_squared();
        if denominator < 1e-6 {
            return None;
        }
        let inverse = 1.0 / denominator;
        let (s1, s2) = (cross.cross(u2).dot(r) * inverse, cross.cross(u1).dot(r) * inverse);
        if s1.abs() > self.ha.dot(u1) || s2.abs() > self.hb.dot(axis_b) {
            return None;
        }
        let n = cross * inverse.sqrt();
        let height = n.dot(r);
        let (distance, normal) = if height < 0.0 { (-height, -n) } else { (height, n) };
        if self.gap_along(-normal) < distance - 1e-15 * self.size() * (1.0 + inverse) {
            return None;
        }
        let point_b = pb + s2 * u2;
        Some(Separation { distance, normal, point_a: point_b + distance * normal, point_b })
    }
}
