//! Lin-Canny closest features: the classic walk, for comparison and as a second opinion.
//!
//! # Reference
//! Lin 1993; Mirtich 1996 §2.2 (principle and data), case table completed in our specification.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | feature | vertex, edge or face with its Voronoi region |
//! | `flare` | how far a point may lie outside a region and still count as inside, metres |
//!
//! # Formula
//! ```text
//! a ∈ V(F_b) and b ∈ V(F_a) for the closest points a, b of the features ⇔ a, b globally closest (disjoint shapes)
//! ```
//!
//! # Cost
//! As V-Clip when coherent, somewhat more per state: closest points are computed before every test.
//!
//! # Numerics
//! Regions are flared by 1e-13 of the scale. The walk has no notion of depth: a vertex inside or an edge through a face
//! ends it. A walk that does not end, or whose answer does not leave the gap free, starts again from other features and
//! with narrower flares, up to five times; what is then still open, separating axes and at last all pairs of
//! features settle (one disjoint hostile pair in thousands).
//!
//! # Failure
//! `Overlapping` when the shapes overlap or touch, `NonFinitePose`.
//!
//! # Tested by
//! `tests/hostile.rs`

use crate::{
    Polyhedron, brute_force,
    closest::{point_segment, segment_segment},
    relative::Frame,
    sat,
    sharpen::sharpen_polyhedra,
    vclip::Closest,
};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{FeatureId, NarrowPhaseError, PairCache, Separation};

enum Move {
    To(FeatureId, FeatureId),
    Done(DVec3, DVec3),
    /// One shape reaches into the other, beyond rounding.
    Overlap,
    /// The walk cannot go on: touching, or a case that exact arithmetic excludes.
    Undecided,
}

/// Closest points and features of two disjoint polyhedra.
///
/// # Errors
/// [`NarrowPhaseError::Overlapping`], [`NarrowPhaseError::NonFinitePose`].
pub fn lin_canny(
    a: &Polyhedron,
    b: &Polyhedron,
    a_from_b: &Pose,
    cache: &mut PairCache,
) -> Result<Closest, NarrowPhaseError> {
    let name = "polyhedron";
    if !a_from_b.is_finite() {
        return Err(NarrowPhaseError::NonFinitePose { a: name, b: name, pose: *a_from_b });
    }
    let frame = Frame::from_pose(a_from_b);
    let size = a.extent() + b.extent();
    let flare = 1e-13 * (size + frame.translation.length());
    let mut walk = Walk { a, b, frame, flare };
    let (mut iterations, mut remedies) = (0, 0);
    let mut way = frame.point(b.center()) - a.center();
    for attempt in 0..ATTEMPTS {
        let features = if attempt == 0 { walk.start(cache.features, way) } else { walk.facing(way) };
        match walk.run(features, &mut iterations) {
            End::Apart(p, q, features) => {
                let distance = (p - q).length();
                let rough = Separation { distance, normal: (p - q) / distance, point_a: p, point_b: q };
                if distance > 1e-10 * size {
                    // Flaring could hide an overlap, and the points of nearly parallel edges blur the normal: the gap is measured.
                    let tolerance = 1e-11 * size;
                    let (separation, gap) = sharpen_polyhedra(a, b, &frame, &rough, tolerance);
                    if gap >= distance - tolerance {
                        cache.features = features;
                        return Ok(Closest { separation, features, iterations, remedies, searches: 0 });
                    }
                    way = -separation.normal;
                }
            }
            End::Overlap => return Err(NarrowPhaseError::Overlapping { a: name, b: name }),
            // From elsewhere: first from the line of centres, then from the other side, then along the axes.
            End::Lost => {
                way = if attempt == 1 {
                    -way
                } else {
                    [way, DVec3::X, DVec3::Y, DVec3::Z][attempt as usize % 4]
                }
            }
        }
        remedies += 1;
        // Regions that overlap less, then not at all: what one width hides another shows.
        walk.flare *= 0.1;
    }
    if sat::sat(a, b, &frame).separation <= 1e-10 * size {
        return Err(NarrowPhaseError::Overlapping { a: name, b: name });
    }
    let (separation, features) = brute_force::brute_force(a, b, &frame);
    if separation.distance <= 1e-10 * size {
        return Err(NarrowPhaseError::Overlapping { a: name, b: name });
    }
    cache.features = features;
    Ok(Closest { separation, features, iterations, remedies, searches: 1 })
}

/// Walks from different features before every pair is tried.
const ATTEMPTS: u32 = 6;

/// How a walk ends.
enum End {
    /// At these points of these features.
    Apart(DVec3, DVec3, [FeatureId; 2]),
    /// A vertex inside, or an edge through a face.
    Overlap,
    /// In circles, or at features that exact arithmetic excludes.
    Lost,
}

struct Walk<'a> {
    a: &'a Polyhedron,
    b: &'a Polyhedron,
    frame: Frame,
    flare: f64,
}

impl Walk<'_> {
    fn start(&self, cached: [FeatureId; 2], way: DVec3) -> [FeatureId; 2] {
        let valid = |p: &Polyhedron, f: FeatureId| {
            let count = [p.vertices().len(), p.edges().len(), p.faces().len()];
            f.dimension().is_some_and(|d| (f.index() as usize) < count[d as usize])
        };
        // Two faces are no state of the walk.
        let faces = cached.iter().all(|f| f.dimension() == Some(2));
        if !faces && valid(self.a, cached[0]) && valid(self.b, cached[1]) { cached } else { self.facing(way) }
    }

    /// The vertices farthest along a direction from A to B, and back.
    fn facing(&self, way: DVec3) -> [FeatureId; 2] {
        [
            FeatureId::vertex(self.a.support_vertex(way)),
            FeatureId::vertex(self.b.support_vertex(self.frame.back(-way))),
        ]
    }

    /// From these features to the end.
    fn run(&self, mut features: [FeatureId; 2], iterations: &mut u32) -> End {
        let count = |p: &Polyhedron| p.vertices().len() + p.edges().len() + p.faces().len();
        for _ in 0..2 * (count(self.a) + count(self.b)) {
            *iterations += 1;
            match self.state(features) {
                Move::To(fa, fb) => features = [fa, fb],
                Move::Done(p, q) => return End::Apart(p, q, features),
                Move::Overlap => return End::Overlap,
                Move::Undecided => return End::Lost,
            }
        }
        End::Lost
    }

    /// Every state works in the frame of the higher feature; `flip` tells that this is A's.
    fn state(&self, [fa, fb]: [FeatureId; 2]) -> Move {
        let flip = fa.dimension() > fb.dimension();
        let inverse = self.frame.inverse();
        let (p, q, q_from_p) = if flip { (self.b, self.a, &self.frame) } else { (self.a, self.b, &inverse) };
        let (low, high) = if flip { (fb, fa) } else { (fa, fb) };
        let (i, j) = (low.index(), high.index());
        let found = match (low.dimension(), high.dimension()) {
            (Some(0), Some(0)) => self.vertex_vertex(p, q, q_from_p, i, j),
            (Some(0), Some(1)) => self.vertex_edge(p, q, q_from_p, i, j),
            (Some(0), Some(2)) => self.vertex_face(p, q, q_from_p, i, j),
            (Some(1), Some(1)) => self.edge_edge(p, q, q_from_p, i, j),
            (Some(1), Some(2)) => edge_face(p, q, q_from_p, i, j, self.flare),
            _ => Move::Undecided,
        };
        match found {
            Move::To(low, high) if flip => Move::To(high, low),
            Move::Done(on_p, on_q) if flip => Move::Done(on_q, on_p),
            Move::Done(on_p, on_q) => Move::Done(self.frame.point(on_p), self.frame.point(on_q)),
            other => other,
        }
    }

    /// Edge at a vertex whose plane the point violates most.
    fn leave_vertex(&self, p: &Polyhedron, v: u32, point: DVec3) -> Option<FeatureId> {
        let mut worst = (None, self.flare);
        for spoke in p.spokes(v) {
            let beyond = spoke.direction.dot(point - p.position(v));
            if beyond > worst.1 {
                worst = (Some(FeatureId::edge(spoke.edge)), beyond);
            }
        }
        worst.0
    }

    /// Neighbour of an edge in whose direction the point leaves the edge's region.
    fn leave_edge(&self, p: &Polyhedron, e: u32, point: DVec3) -> Option<FeatureId> {
        let edge = &p.edges()[e as usize];
        let along = edge.direction.dot(point - p.position(edge.ends[0]));
        if along < -self.flare {
            return Some(FeatureId::vertex(edge.ends[0]));
        }
        if along > edge.length + self.flare {
            return Some(FeatureId::vertex(edge.ends[1]));
        }
        let (left, right) = (edge.sides[0].height(point), edge.sides[1].height(point));
        (left.min(right) < -self.flare).then(|| FeatureId::face(edge.faces[usize::from(right < left)]))
    }

    fn vertex_vertex(&self, p: &Polyhedron, q: &Polyhedron, to_q: &Frame, i: u32, j: u32) -> Move {
        let x = to_q.point(p.position(i));
        let y = q.position(j);
        if let Some(edge) = self.leave_vertex(p, i, to_q.point_back(y)) {
            return Move::To(edge, FeatureId::vertex(j));
        }
        match self.leave_vertex(q, j, x) {
            Some(edge) => Move::To(FeatureId::vertex(i), edge),
            None => Move::Done(x, y),
        }
    }

    fn vertex_edge(&self, p: &Polyhedron, q: &Polyhedron, to_q: &Frame, i: u32, j: u32) -> Move {
        let x = to_q.point(p.position(i));
        if let Some(feature) = self.leave_edge(q, j, x) {
            return Move::To(FeatureId::vertex(i), feature);
        }
        let [t, h] = q.segment(j);
        let foot = t + point_segment(x, t, h) * (h - t);
        match self.leave_vertex(p, i, to_q.point_back(foot)) {
            Some(edge) => Move::To(edge, FeatureId::edge(j)),
            None => Move::Done(x, foot),
        }
    }

    fn vertex_face(&self, p: &Polyhedron, q: &Polyhedron, to_q: &Frame, i: u32, j: u32) -> Move {
        let x = to_q.point(p.position(i));
        let mut worst = (None, self.flare);
        for side in q.sides(j) {
            let beyond = side.plane.height(x);
            if beyond > worst.1 {
                worst = (Some(FeatureId::edge(side.edge)), beyond);
            }
        }
        if let Some(edge) = worst.0 {
            return Move::To(FeatureId::vertex(i), edge);
        }
        let plane = &q.faces()[j as usize];
        let height = plane.height(x);
        if height < 0.0 {
            // Local minimum behind the shape, or inside it.
            let highest = q.faces().iter().enumerate().max_by(|f, g| f.1.height(x).total_cmp(&g.1.height(x)));
            return match highest {
                Some((f, plane)) if plane.height(x) > 0.0 => {
                    Move::To(FeatureId::vertex(i), FeatureId::face(f as u32))
                }
                Some((_, plane)) if plane.height(x) < -self.flare => Move::Overlap,
                _ => Move::Undecided,
            };
        }
        // Down an edge towards the face: slopes need no foot point and keep their digits at any height.
        let down = -to_q.back(plane.normal);
        let mut steepest = (None, 1e-14);
        for spoke in p.spokes(i) {
            let slope = spoke.direction.dot(down);
            if slope > steepest.1 {
                steepest = (Some(FeatureId::edge(spoke.edge)), slope);
            }
        }
        match steepest.0 {
            Some(edge) => Move::To(edge, FeatureId::face(j)),
            None => Move::Done(x, x - height * plane.normal),
        }
    }

    fn edge_edge(&self, p: &Polyhedron, q: &Polyhedron, to_q: &Frame, i: u32, j: u32) -> Move {
        let [p0, p1] = p.segment(i).map(|x| to_q.point(x));
        let [q0, q1] = q.segment(j);
        let (x, y) = segment_segment(p0, p1, q0, q1);
        // An end that is closest is a vertex: the lower feature decides.
        let at = |point: DVec3, t: DVec3, h: DVec3, ends: [u32; 2]| {
            let s = point_segment(point, t, h);
            if s <= 0.0 {
                Some(FeatureId::vertex(ends[0]))
            } else if s >= 1.0 {
                Some(FeatureId::vertex(ends[1]))
            } else {
                None
            }
        };
        let low = at(x, p0, p1, p.edges()[i as usize].ends);
        let high = at(y, q0, q1, q.edges()[j as usize].ends);
        if low.is_some() || high.is_some() {
            return Move::To(low.unwrap_or(FeatureId::edge(i)), high.unwrap_or(FeatureId::edge(j)));
        }
        if let Some(feature) = self.leave_edge(q, j, x) {
            return Move::To(FeatureId::edge(i), feature);
        }
        match self.leave_edge(p, i, to_q.point_back(y)) {
            Some(feature) => Move::To(feature, FeatureId::edge(j)),
            None => Move::Done(x, y),
        }
    }
}

/// Edge against face: to the lower end if it is above the face, else to the side that cuts the edge there.
fn edge_face(p: &Polyhedron, q: &Polyhedron, to_q: &Frame, i: u32, j: u32, flare: f64) -> Move {
    let ends = p.edges()[i as usize].ends;
    let [t, h] = ends.map(|v| to_q.point(p.position(v)));
    let plane = &q.faces()[j as usize];
    let (mut low, mut high) = ((0.0, None), (1.0, None));
    for side in q.sides(j) {
        let (d_t, d_h) = (side.plane.height(t), side.plane.height(h));
        if d_t > 0.0 && d_h > 0.0 {
            low.0 = 2.0;
            break;
        }
        let lambda = d_t / (d_t - d_h);
        if d_t > 0.0 && lambda > low.0 {
            low = (lambda, Some(side.edge));
        } else if d_h > 0.0 && lambda < high.0 {
            high = (lambda, Some(side.edge));
        }
    }
    if low.0 > high.0 {
        // The edge misses the prism: the nearest side of the face.
        let nearest = q.sides(j).iter().min_by(|a, b| {
            let squared = |e: u32| {
                let [y0, y1] = q.segment(e);
                let (x, y) = segment_segment(t, h, y0, y1);
                (x - y).length_squared()
            };
            squared(a.edge).total_cmp(&squared(b.edge))
        });
        return nearest.map_or(Move::Undecided, |s| Move::To(FeatureId::edge(i), FeatureId::edge(s.edge)));
    }
    let height = |l: f64| plane.height(t) + l * (plane.height(h) - plane.height(t));
    let (first, last) = (height(low.0), height(high.0));
    if first * last <= 0.0 {
        // Through the face, or along it.
        return if first.abs().min(last.abs()) > flare { Move::Overlap } else { Move::Undecided };
    }
    let (by, end) = if first.abs() <= last.abs() { (low.1, ends[0]) } else { (high.1, ends[1]) };
    match by {
        Some(edge) => Move::To(FeatureId::edge(i), FeatureId::edge(edge)),
        None => Move::To(FeatureId::vertex(end), FeatureId::face(j)),
    }
}
