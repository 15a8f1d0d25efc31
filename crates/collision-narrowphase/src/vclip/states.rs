//! The five states of V-Clip: each decides that its two features are closest, or moves to a neighbour.
//!
//! # Reference
//! Mirtich 1998, figures 3 to 7, as restated and checked in Fontijne 2000 §2.4. In vertex-edge and edge-edge the
//! answer is accepted by the optimality conditions before anything is clipped, which is the common case.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | P, Q | the polyhedron of the lower and of the higher feature; B and A if `FLIP` |
//! | `band` | violation below which a move to a higher dimension is rounding, metres |
//! | `gap` | from the point on Q to the point on P, in Q's frame |
//!
//! # Formula
//! ```text
//! features X, Y with nearest points x, y are closest ⇔ x ∈ VR(Y) and y ∈ VR(X)
//! ```
//!
//! # Cost
//! O(spokes of a vertex, sides of a face); O(faces) only in the scan out of a local minimum.
//!
//! # Numerics
//! Moves that raise the dimension need a violation above `band`, moves that lower it need any: without that,
//! flush faces cycle.
//!
//! # Failure
//! None; a state always moves or decides.
//!
//! # Tested by
//! `tests/hostile.rs`

use super::clip::{Clip, face_slope, vertex_slope};
use crate::{Polyhedron, closest::segment_segment, polyhedron::Edge, relative::Frame};
use sim_math::glam::DVec3;
use sim_traits::{FeatureId, Separation};

/// What a state decides.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Go on with these features of A and B.
    Move(FeatureId, FeatureId),
    /// The features are closest.
    Apart(Separation),
    /// The features seem closest, but the gap is too short for its direction to have enough digits.
    Doubtful(Separation),
    /// The polyhedra overlap or touch.
    Overlap,
}

/// The query: both polyhedra, where B is in A, and what counts as zero.
#[derive(Debug)]
pub(super) struct Query<'a> {
    pub(super) a: &'a Polyhedron,
    pub(super) b: &'a Polyhedron,
    pub(super) a_from_b: Frame,
    pub(super) size: f64,
    pub(super) scale: f64,
    pub(super) band: f64,
    pub(super) touch: f64,
    /// Gaps below this are too short to be trusted as a direction.
    pub(super) short: f64,
    /// Follow the closest points (Lin-Canny's rule, cheaper) instead of clipping; off once the walk is long.
    pub(super) hasty: bool,
}

impl Query<'_> {
    #[inline(always)]
    fn p<const FLIP: bool>(&self) -> &Polyhedron {
        if FLIP { self.b } else { self.a }
    }

    #[inline(always)]
    fn q<const FLIP: bool>(&self) -> &Polyhedron {
        if FLIP { self.a } else { self.b }
    }

    #[inline(always)]
    fn point_to_q<const FLIP: bool>(&self, p: DVec3) -> DVec3 {
        if FLIP { self.a_from_b.point(p) } else { self.a_from_b.point_back(p) }
    }

    #[inline(always)]
    fn vector_to_p<const FLIP: bool>(&self, v: DVec3) -> DVec3 {
        if FLIP { self.a_from_b.back(v) } else { self.a_from_b.vector(v) }
    }

    #[inline(always)]
    fn moved<const FLIP: bool>(p: FeatureId, q: FeatureId) -> Step {
        if FLIP { Step::Move(q, p) } else { Step::Move(p, q) }
    }

    /// Closest points, given in Q's frame, as a separation in A's frame.
    #[inline(always)]
    fn separation<const FLIP: bool>(&self, on_q: DVec3, distance: f64, p_from_q: DVec3) -> Separation {
        if FLIP {
            let point_b = on_q + distance * p_from_q;
            Separation { distance, normal: -p_from_q, point_a: on_q, point_b }
        } else {
            let point_b = self.a_from_b.point(on_q);
            let normal = self.a_from_b.vector(p_from_q);
            Separation { distance, normal, point_a: point_b + distance * normal, point_b }
        }
    }

    /// The same for a gap whose direction comes from the points alone.
    #[inline(always)]
    fn apart<const FLIP: bool>(&self, on_q: DVec3, gap: DVec3) -> Step {
        let distance = gap.length();
        if distance <= self.touch {
            return Step::Overlap;
        }
        self.judged(self.separation::<FLIP>(on_q, distance, gap / distance))
    }

    #[inline(always)]
    fn judged(&self, separation: Separation) -> Step {
        if separation.distance < self.short { Step::Doubtful(separation) } else { Step::Apart(separation) }
    }

    #[inline]
    pub(super) fn vertex_vertex(&self, va: u32, vb: u32) -> Step {
        let point_a = self.a.position(va);
        let point_b = self.a_from_b.point(self.b.position(vb));
        let gap = point_a - point_b;
        let up_a = steepest(self.a, va, -gap, self.band);
        let up_b = steepest(self.b, vb, self.a_from_b.back(gap), self.band);
        if up_a.is_none() && up_b.is_none() {
            let distance = gap.length();
            if distance <= self.touch {
                return Step::Overlap;
            }
            return self.judged(Separation { distance, normal: gap / distance, point_a, point_b });
        }
        Step::Move(
            up_a.map_or(FeatureId::vertex(va), FeatureId::edge),
            up_b.map_or(FeatureId::vertex(vb), FeatureId::edge),
        )
    }

    #[inline]
    pub(super) fn vertex_edge<const FLIP: bool>(&self, v: u32, e: u32) -> Step {
        let edge = &self.q::<FLIP>().edges()[e as usize];
        let tail = self.q::<FLIP>().position(edge.ends[0]);
        let x = self.point_to_q::<FLIP>(self.p::<FLIP>().position(v));
        let along = edge.direction.dot(x - tail);
        let vertex = FeatureId::vertex(v);
        if along < 0.0 {
            return Self::moved::<FLIP>(vertex, FeatureId::vertex(edge.ends[0]));
        }
        if along > edge.length {
            return Self::moved::<FLIP>(vertex, FeatureId::vertex(edge.ends[1]));
        }
        let (left, right) = (edge.sides[0].height(x), edge.sides[1].height(x));
        if left.min(right) < -self.band {
            return Self::moved::<FLIP>(vertex, FeatureId::face(edge.faces[usize::from(right < left)]));
        }
        let foot = tail + along * edge.direction;
        let gap = x - foot;
        let seen = self.vector_to_p::<FLIP>(-gap);
        let Some(up) = steepest(self.p::<FLIP>(), v, seen, self.band) else {
            return self.apart::<FLIP>(foot, gap);
        };
        if self.hasty {
            // The foot is nearer to that edge than to the vertex.
            return Self::moved::<FLIP>(FeatureId::edge(up), FeatureId::edge(e));
        }
        self.vertex_edge_clipped::<FLIP>(v, e, x, foot, gap)
    }

    /// The foot on the edge is not in the vertex's region: clip the edge by that region and follow the slope.
    #[inline(never)]
    fn vertex_edge_clipped<const FLIP: bool>(
        &self,
        v: u32,
        e: u32,
        x: DVec3,
        foot: DVec3,
        gap: DVec3,
    ) -> Step {
        let edge = &self.q::<FLIP>().edges()[e as usize];
        let [tail, head] = edge.ends.map(|end| self.q::<FLIP>().position(end));
        let [to_tail, to_head] = [tail, head].map(|y| self.vector_to_p::<FLIP>(y - x));
        let mut clip = Clip::WHOLE;
        for spoke in self.p::<FLIP>().spokes(v) {
            let [d_t, d_h] = [to_tail, to_head].map(|y| self.band - spoke.direction.dot(y));
            if !clip.cut(d_t, d_h, FeatureId::edge(spoke.edge)) {
                break;
            }
        }
        let here = FeatureId::edge(e);
        if clip.simply_excluded() {
            return Self::moved::<FLIP>(clip.low_by, here);
        }
        let slope = |lambda| vertex_slope(tail, head, edge.direction, lambda, x);
        if clip.low_by != FeatureId::NONE && slope(clip.low) > self.band {
            return Self::moved::<FLIP>(clip.low_by, here);
        }
        if clip.high_by != FeatureId::NONE && slope(clip.high) < -self.band {
            return Self::moved::<FLIP>(clip.high_by, here);
        }
        self.apart::<FLIP>(foot, gap)
    }

    #[inline]
    pub(super) fn vertex_face<const FLIP: bool>(&self, v: u32, f: u32) -> Step {
        let (p, q) = (self.p::<FLIP>(), self.q::<FLIP>());
        let x = self.point_to_q::<FLIP>(p.position(v));
        let mut worst = (0, 0.0);
        for side in q.sides(f) {
            let height = side.plane.height(x);
            if height > worst.1 {
                worst = (side.edge, height);
            }
        }
        let vertex = FeatureId::vertex(v);
        if worst.1 > 0.0 {
            return Self::moved::<FLIP>(vertex, FeatureId::edge(worst.0));
        }
        let plane = &q.faces()[f as usize];
        let height = plane.height(x);
        let slack = self.band / self.scale;
        // Towards the plane: down from above, up from below.
        let towards = self.vector_to_p::<FLIP>(if height < 0.0 { plane.normal } else { -plane.normal });
        if let Some(edge) = steepest(p, v, towards, slack) {
            return Self::moved::<FLIP>(FeatureId::edge(edge), FeatureId::face(f));
        }
        if height > self.touch {
            let foot = x - height * plane.normal;
            return Step::Apart(self.separation::<FLIP>(foot, height, plane.normal));
        }
        if height >= 0.0 {
            return Step::Overlap;
        }
        self.escape::<FLIP>(v, f, x)
    }

    /// Vertex below a face and no edge leads up: either inside, or in front of another face.
    #[inline(never)]
    fn escape<const FLIP: bool>(&self, v: u32, f: u32, x: DVec3) -> Step {
        let q = self.q::<FLIP>();
        if q.inside_by_walk(x, f) {
            return Step::Overlap;
        }
        let mut best = (0, f64::NEG_INFINITY);
        for (face, plane) in (0..).zip(q.faces()) {
            let height = plane.height(x);
            if height > best.1 {
                best = (face, height);
            }
        }
        if best.1 <= 0.0 {
            return Step::Overlap;
        }
        Self::moved::<FLIP>(FeatureId::vertex(v), FeatureId::face(best.0))
    }

    #[inline]
    pub(super) fn edge_edge(&self, ea: u32, eb: u32) -> Step {
        let (e1, e2) = (&self.a.edges()[ea as usize], &self.b.edges()[eb as usize]);
        // Everything in A's frame.
        let tail1 = self.a.position(e1.ends[0]);
        let tail2 = self.a_from_b.point(self.b.position(e2.ends[0]));
        let u2 = self.a_from_b.vector(e2.direction);
        let u1 = e1.direction;
        let r = tail1 - tail2;
        // The common normal has all its digits even where the gap is short.
        let cross = u1.cross(u2);
        let denominator = cross.length_squared();
        if denominator > 1e-17 {
            let inverse = 1.0 / denominator;
            let s1 = cross.cross(u2).dot(r) * inverse;
            let s2 = cross.cross(u1).dot(r) * inverse;
            if s1 >= 0.0 && s1 <= e1.length && s2 >= 0.0 && s2 <= e2.length {
                let mut n = cross * inverse.sqrt();
                if denominator < 1e-6 {
                    // Nearly parallel: what error the normal has must be a turn about an edge.
                    n = (n - u1.dot(n) * u1).normalize();
                }
                let height = n.dot(r);
                let (distance, normal) = if height < 0.0 { (-height, -n) } else { (height, n) };
                let seen = self.a_from_b.back(normal);
                // The normal lies outside both faces of B's edge, and its reverse outside both of A's.
                let least_b = e2.sides[0].normal.dot(seen).min(e2.sides[1].normal.dot(seen));
                let most_a = e1.sides[0].normal.dot(normal).max(e1.sides[1].normal.dot(normal));
                let slack = self.band / self.scale;
                if least_b >= -slack && most_a <= slack {
                    if distance <= self.touch {
                        return Step::Overlap;
                    }
                    let point_b = tail2 + s2 * u2;
                    let point_a = point_b + distance * normal;
                    return Step::Apart(Separation { distance, normal, point_a, point_b });
                }
                if self.hasty && distance > self.short {
                    // The other edge's point is nearer to the face across the violated side.
                    let [left, right] = e1.sides.map(|s| s.normal.dot(normal));
                    if most_a > slack {
                        let face = e1.faces[usize::from(right > left)];
                        return Step::Move(FeatureId::face(face), FeatureId::edge(eb));
                    }
                    let [left, right] = e2.sides.map(|s| s.normal.dot(seen));
                    let face = e2.faces[usize::from(right < left)];
                    return Step::Move(FeatureId::edge(ea), FeatureId::face(face));
                }
            } else if self.hasty {
                // An end is closest: clamp the worse parameter, project, clamp.
                let c1 = s1.clamp(0.0, e1.length);
                let c2 = u2.dot(r + c1 * u1).clamp(0.0, e2.length);
                let c1 = u1.dot(c2 * u2 - r).clamp(0.0, e1.length);
                let at = |s: f64, edge: &Edge, index: u32| {
                    if s <= 0.0 {
                        FeatureId::vertex(edge.ends[0])
                    } else if s >= edge.length {
                        FeatureId::vertex(edge.ends[1])
                    } else {
                        FeatureId::edge(index)
                    }
                };
                let (fa, fb) = (at(c1, e1, ea), at(c2, e2, eb));
                if fa.dimension() == Some(0) || fb.dimension() == Some(0) {
                    return Step::Move(fa, fb);
                }
            }
        }
        self.edge_edge_clipped(ea, eb)
    }

    #[inline(never)]
    fn edge_edge_clipped(&self, ea: u32, eb: u32) -> Step {
        let (e1, e2) = (&self.a.edges()[ea as usize], &self.b.edges()[eb as usize]);
        let segment_a = self.a.segment(ea);
        let segment_b = self.b.segment(eb).map(|y| self.a_from_b.point(y));
        let u2 = self.a_from_b.vector(e2.direction);
        match leave_edge(self.a, e1, segment_b, u2, self.band) {
            Leave::To(feature) => return Step::Move(feature, FeatureId::edge(eb)),
            Leave::Touch => return Step::Overlap,
            Leave::Stay => {}
        }
        let a_in_b = segment_a.map(|x| self.a_from_b.point_back(x));
        let u1 = self.a_from_b.back(e1.direction);
        match leave_edge(self.b, e2, a_in_b, u1, self.band) {
            Leave::To(feature) => return Step::Move(FeatureId::edge(ea), feature),
            Leave::Touch => return Step::Overlap,
            Leave::Stay => {}
        }
        let (p, q) = segment_segment(segment_a[0], segment_a[1], segment_b[0], segment_b[1]);
        let distance = (p - q).length();
        if distance <= self.touch {
            return Step::Overlap;
        }
        Step::Doubtful(Separation { distance, normal: (p - q) / distance, point_a: p, point_b: q })
    }

    #[inline(never)]
    pub(super) fn edge_face<const FLIP: bool>(&self, e: u32, f: u32) -> Step {
        let (p, q) = (self.p::<FLIP>(), self.q::<FLIP>());
        let ends = p.edges()[e as usize].ends;
        let [tail, head] = ends.map(|v| self.point_to_q::<FLIP>(p.position(v)));
        let mut clip = Clip::WHOLE;
        for side in q.sides(f) {
            let [d_t, d_h] = [tail, head].map(|x| -side.plane.height(x));
            if !clip.cut(d_t, d_h, FeatureId::edge(side.edge)) {
                break;
            }
        }
        let edge = FeatureId::edge(e);
        if clip.empty {
            return Self::moved::<FLIP>(edge, FeatureId::edge(nearest_side(q, f, tail, head)));
        }
        let plane = &q.faces()[f as usize];
        let (d_t, d_h) = (plane.height(tail), plane.height(head));
        let height = |lambda: f64| d_t + lambda * (d_h - d_t);
        if height(clip.low) * height(clip.high) <= 0.0 {
            return Step::Overlap;
        }
        let (by, end) = if face_slope(d_t, d_h, clip.low) >= 0.0 {
            (clip.low_by, ends[0])
        } else {
            (clip.high_by, ends[1])
        };
        if by == FeatureId::NONE {
            Self::moved::<FLIP>(FeatureId::vertex(end), FeatureId::face(f))
        } else {
            Self::moved::<FLIP>(edge, by)
        }
    }
}

/// Edge at a vertex along which `direction` rises most, if it rises by more than `slack`.
#[inline(always)]
fn steepest(polyhedron: &Polyhedron, vertex: u32, direction: DVec3, slack: f64) -> Option<u32> {
    let mut best = (u32::MAX, slack);
    for spoke in polyhedron.spokes(vertex) {
        let slope = spoke.direction.dot(direction);
        if slope > best.1 {
            best = (spoke.edge, slope);
        }
    }
    (best.0 != u32::MAX).then_some(best.0)
}

enum Leave {
    Stay,
    To(FeatureId),
    Touch,
}

/// Clips the other edge (in the frame of `edge`'s polyhedron) by the region of `edge`: first the ends, then the faces.
fn leave_edge(
    polyhedron: &Polyhedron,
    edge: &Edge,
    [tail, head]: [DVec3; 2],
    direction: DVec3,
    band: f64,
) -> Leave {
    let origin = polyhedron.position(edge.ends[0]);
    let [s_t, s_h] = [tail, head].map(|x| edge.direction.dot(x - origin));
    let [first, second] = edge.ends.map(FeatureId::vertex);
    let mut clip = Clip::WHOLE;
    let _ = clip.cut(s_t, s_h, first) && clip.cut(edge.length - s_t, edge.length - s_h, second);
    if clip.simply_excluded() {
        return Leave::To(clip.low_by);
    }
    let slope =
        |by: FeatureId, lambda| vertex_slope(tail, head, direction, lambda, polyhedron.position(by.index()));
    if clip.low_by != FeatureId::NONE && slope(clip.low_by, clip.low) > 0.0 {
        return Leave::To(clip.low_by);
    }
    if clip.high_by != FeatureId::NONE && slope(clip.high_by, clip.high) < 0.0 {
        return Leave::To(clip.high_by);
    }

    let mut clip = Clip::WHOLE;
    for (side, face) in edge.sides.iter().zip(edge.faces) {
        let [d_t, d_h] = [tail, head].map(|x| side.height(x) + band);
        if !clip.cut(d_t, d_h, FeatureId::face(face)) {
            break;
        }
    }
    if clip.simply_excluded() {
        return Leave::To(clip.low_by);
    }
    for (by, lambda, sense) in [(clip.low_by, clip.low, 1.0), (clip.high_by, clip.high, -1.0)] {
        if by != FeatureId::NONE {
            let plane = &polyhedron.faces()[by.index() as usize];
            let slope = face_slope(plane.height(tail), plane.height(head), lambda);
            if slope.is_nan() {
                return Leave::Touch;
            }
            if sense * slope > band {
                return Leave::To(by);
            }
        }
    }
    Leave::Stay
}

/// Edge of a face nearest to a segment that misses the face's prism.
fn nearest_side(q: &Polyhedron, face: u32, tail: DVec3, head: DVec3) -> u32 {
    let mut best = (0, f64::INFINITY);
    for side in q.sides(face) {
        let [y0, y1] = q.segment(side.edge);
        let (p, r) = segment_segment(tail, head, y0, y1);
        let squared = (p - r).length_squared();
        if squared < best.1 {
            best = (side.edge, squared);
        }
    }
    best.0
}
