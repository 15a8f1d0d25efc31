//! Clipping of an incident patch by the sides of a reference face.
//!
//! # Reference
//! Sutherland and Hodgman 1974.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `outgoing` | what the polygon's edge after a point lies on: an incident edge or a reference side |
//!
//! # Formula
//! ```text
//! side k: m = (c[k+1] − c[k]) × out;   keep m · (x − c[k]) ≤ 0
//! ```
//!
//! # Cost
//! O(n m) for n and m corners. No allocation.
//!
//! # Numerics
//! Points on a side are kept; cut points are interpolated from the inside end, the same for both directions.
//!
//! # Failure
//! None; patches that do not overlap give an empty polygon.
//!
//! # Tested by
//! `clipping_squares_gives_their_intersection`, `names_tell_what_crosses_what`

use super::patch::{MAX, Patch};
use sim_math::glam::DVec3;
use sim_traits::FeatureId;

const REFERENCE: u32 = 1 << 31;
const NONE: u32 = u32::MAX;

/// A corner of a clipped polygon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClipPoint {
    pub(crate) position: DVec3,
    /// Vertex of the incident patch, if it is one.
    corner: u32,
    /// Incident edge, or reference side with the top bit set.
    outgoing: u32,
}

/// The part of the incident patch inside the reference prism.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Polygon<const C: usize = { 2 * MAX }> {
    points: [ClipPoint; C],
    len: usize,
}

impl<const C: usize> Polygon<C> {
    const EMPTY: Self =
        Self { points: [ClipPoint { position: DVec3::ZERO, corner: NONE, outgoing: 0 }; C], len: 0 };

    #[inline]
    pub(crate) fn points(&self) -> &[ClipPoint] {
        &self.points[..self.len]
    }

    #[inline]
    fn push(&mut self, point: ClipPoint) {
        if let Some(slot) = self.points.get_mut(self.len) {
            *slot = point;
            self.len += 1;
        }
    }

    /// Features of the reference and of the incident patch that make point `k`.
    pub(crate) fn features<const N: usize>(
        &self,
        k: usize,
        reference: &Patch<N>,
        incident: &Patch<N>,
    ) -> [FeatureId; 2] {
        let point = &self.points[k];
        if point.corner != NONE {
            return [FeatureId::face(reference.face), FeatureId::vertex(point.corner)];
        }
        let before = self.points[if k == 0 { self.len - 1 } else { k - 1 }].outgoing;
        let edge_of = |tag: u32| reference.corners()[(tag & !REFERENCE) as usize].edge;
        match (before & REFERENCE != 0, point.outgoing & REFERENCE != 0) {
            (true, true) => {
                let corner = reference.corners()[(point.outgoing & !REFERENCE) as usize];
                [FeatureId::vertex(corner.vertex), FeatureId::face(incident.face)]
            }
            (true, false) => [FeatureId::edge(edge_of(before)), FeatureId::edge(point.outgoing)],
            (false, true) => [FeatureId::edge(edge_of(point.outgoing)), FeatureId::edge(before)],
            (false, false) => [FeatureId::face(reference.face), FeatureId::edge(point.outgoing)],
        }
    }
}

/// Cuts `incident` (same frame) by the prism over the face `reference` along `out`, a direction out of the face.
pub(crate) fn clip<const N: usize, const C: usize>(
    reference: &Patch<N>,
    incident: &Patch<N>,
    out: DVec3,
) -> Polygon<C> {
    let (mut first, mut second) = (Polygon::EMPTY, Polygon::EMPTY);
    for corner in incident.corners() {
        first.push(ClipPoint { position: corner.position, corner: corner.vertex, outgoing: corner.edge });
    }
    let (mut from_polygon, mut to_polygon) = (&mut first, &mut second);
    let corners = reference.corners();
    for (k, corner) in corners.iter().enumerate() {
        let next = corners.get(k + 1).unwrap_or(&corners[0]);
        let m = (next.position - corner.position).cross(out);
        let offset = m.dot(corner.position);
        to_polygon.len = 0;
        cut(from_polygon, m, offset, k as u32 | REFERENCE, to_polygon);
        std::mem::swap(&mut from_polygon, &mut to_polygon);
        if from_polygon.len == 0 {
            break;
        }
    }
    *from_polygon
}

fn cut<const C: usize>(polygon: &Polygon<C>, m: DVec3, offset: f64, tag: u32, out: &mut Polygon<C>) {
    let points = polygon.points();
    // A segment has one edge, a polygon as many as corners.
    let open = points.len() == 2 && !points.iter().any(|p| p.outgoing & REFERENCE != 0 && p.corner == NONE);
    let mut h0 = m.dot(points[0].position) - offset;
    let first = h0;
    for (i, here) in points.iter().enumerate() {
        let last = i + 1 == points.len();
        let there = if last { &points[0] } else { &points[i + 1] };
        let h1 = if last { first } else { m.dot(there.position) - offset };
        if h0 <= 0.0 {
            out.push(*here);
        }
        let crossing = (h0 <= 0.0) != (h1 <= 0.0) && points.len() > 1 && !(open && last);
        // A cut exactly through a kept end would repeat that end.
        let through_end = h0 == 0.0 || h1 == 0.0;
        if crossing && !through_end {
            // Interpolating from the inside end gives the same point whichever way the edge runs.
            let (inside, outside, hi, ho) =
                if h0 <= 0.0 { (here, there, h0, h1) } else { (there, here, h1, h0) };
            let t = hi / (hi - ho);
            let position = inside.position + t * (outside.position - inside.position);
            let outgoing = if h0 <= 0.0 && points.len() > 2 { tag } else { here.outgoing };
            out.push(ClipPoint { position, corner: NONE, outgoing });
        } else if crossing && h0 == 0.0 && points.len() > 2 && out.len > 0 {
            // Leaving exactly at a corner: what follows lies on the reference side.
            out.points[out.len - 1].outgoing = tag;
        }
        h0 = h1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(half: f64, center: DVec3, face: u32) -> Patch {
        let mut patch = Patch::new(DVec3::Z, face);
        for (k, (x, y)) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].into_iter().enumerate() {
            patch.push(center + half * DVec3::new(x, y, 0.0), k as u32, 10 + k as u32);
        }
        patch
    }

    fn area(points: &[ClipPoint]) -> f64 {
        let mut sum = DVec3::ZERO;
        for pair in points.windows(2) {
            sum += (pair[0].position - points[0].position).cross(pair[1].position - points[0].position);
        }
        0.5 * sum.z
    }

    #[test]
    fn clipping_squares_gives_their_intersection() {
        let reference = square(1.0, DVec3::ZERO, 0);
        let shifted: Polygon = clip(&reference, &square(1.0, DVec3::new(0.5, 0.25, 0.1), 1), DVec3::Z);
        assert_eq!(shifted.points().len(), 4);
        assert!((area(shifted.points()) - 1.5 * 1.75).abs() < 1e-15);
        let same: Polygon = clip(&reference, &square(1.0, DVec3::ZERO, 1), DVec3::Z);
        assert_eq!(same.points().len(), 4);
        let far: Polygon = clip(&reference, &square(1.0, 3.0 * DVec3::X, 1), DVec3::Z);
        assert!(far.points().is_empty());
        let large: Polygon = clip(&reference, &square(9.0, DVec3::ZERO, 1), DVec3::Z);
        assert!((area(large.points()) - 4.0).abs() < 1e-14);
        // A diamond in the square: an octagon.
        let mut diamond = Patch::new(DVec3::Z, 2);
        for (k, p) in [DVec3::X, DVec3::Y, DVec3::NEG_X, DVec3::NEG_Y].into_iter().enumerate() {
            diamond.push(1.5 * p, k as u32, k as u32);
        }
        let octagon: Polygon = clip(&reference, &diamond, DVec3::Z);
        assert_eq!(octagon.points().len(), 8);
        assert!((area(octagon.points()) - (4.0 - 4.0 * 0.125)).abs() < 1e-14);
    }

    #[test]
    fn segments_are_cut_at_both_ends_and_points_kept_or_dropped() {
        let reference = square(1.0, DVec3::ZERO, 0);
        let mut segment = Patch::new(DVec3::Z, 0);
        segment.push(DVec3::new(-3.0, 0.5, 0.2), 0, 0);
        segment.push(DVec3::new(3.0, 0.5, 0.2), 1, 0);
        let cut: Polygon = clip(&reference, &segment, DVec3::Z);
        let xs: Vec<f64> = cut.points().iter().map(|p| p.position.x).collect();
        assert_eq!(xs, [-1.0, 1.0]);
        let mut point = Patch::new(DVec3::Z, 0);
        point.push(DVec3::new(0.2, 0.2, 0.0), 0, 0);
        let kept: Polygon = clip(&reference, &point, DVec3::Z);
        assert_eq!(kept.points().len(), 1);
    }

    #[test]
    fn names_tell_what_crosses_what() {
        let reference = square(1.0, DVec3::ZERO, 7);
        let incident = square(1.0, DVec3::new(0.5, 0.25, 0.1), 8);
        let polygon: Polygon = clip(&reference, &incident, DVec3::Z);
        let mut names: Vec<[FeatureId; 2]> =
            (0..4).map(|k| polygon.features(k, &reference, &incident)).collect();
        names.sort_unstable();
        let expected = [
            [FeatureId::vertex(0), FeatureId::face(8)],
            [FeatureId::edge(10), FeatureId::edge(11)],
            [FeatureId::edge(13), FeatureId::edge(12)],
            [FeatureId::face(7), FeatureId::vertex(2)],
        ];
        assert_eq!(names, expected);
    }
}
