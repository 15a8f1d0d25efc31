//! An oracle that shares nothing with the library but the data: every axis, every pair of features, plain scans.

use collision_narrowphase::{Polyhedron, relative::Frame};
use sim_math::{Pose, glam::DVec3};
use sim_traits::Separation;

/// Corners and planes of both polyhedra, in A's frame.
pub(crate) struct Oracle<'a> {
    a: &'a Polyhedron,
    b: &'a Polyhedron,
    frame: Frame,
    in_a: [Vec<DVec3>; 2],
    /// Sum of the extents: what errors are relative to, metres.
    pub(crate) size: f64,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(a: &'a Polyhedron, b: &'a Polyhedron, pose: &Pose) -> Self {
        let frame = Frame::from_pose(pose);
        let of_a = a.vertices().iter().map(|v| v.position).collect();
        let of_b = b.vertices().iter().map(|v| frame.point(v.position)).collect();
        Self { a, b, frame, in_a: [of_a, of_b], size: a.extent() + b.extent() }
    }

    /// Gap along a unit direction out of A, by scanning all corners.
    pub(crate) fn gap(&self, n: DVec3) -> f64 {
        self.gap_above(n, f64::NEG_INFINITY)
    }

    /// The gap, or anything not above `least` as soon as it is known to be no wider.
    fn gap_above(&self, n: DVec3, least: f64) -> f64 {
        let [a, b] = &self.in_a;
        let low = b.iter().map(|p| n.dot(*p)).fold(f64::INFINITY, f64::min);
        let mut top = f64::NEG_INFINITY;
        for p in a {
            top = top.max(n.dot(*p));
            if low - top <= least {
                break;
            }
        }
        low - top
    }

    /// Widest gap over all face normals and all cross products of edges: minus the depth in overlap.
    pub(crate) fn all_axes(&self) -> f64 {
        self.axes_above(f64::NEG_INFINITY)
    }

    /// The same if it is wider than `least`, else anything not above `least`.
    pub(crate) fn axes_above(&self, least: f64) -> f64 {
        let mut best = least;
        let faces_a = self.a.faces().iter().map(|f| f.normal);
        let faces_b = self.b.faces().iter().map(|f| -self.frame.vector(f.normal));
        for n in faces_a.chain(faces_b) {
            best = best.max(self.gap_above(n, best));
        }
        let edges = |p: &Polyhedron, k: usize| -> Vec<(DVec3, DVec3)> {
            let corner = |v: u32| self.in_a[k][v as usize];
            let edge = |e: [u32; 2]| (corner(e[0]), (corner(e[1]) - corner(e[0])).normalize());
            p.edges().iter().map(|e| edge(e.ends)).collect()
        };
        let (of_a, of_b) = (edges(self.a, 0), edges(self.b, 1));
        let (in_a, in_b) = (self.a.center(), self.frame.point(self.b.center()));
        for (p, u) in &of_a {
            for (q, v) in &of_b {
                // Two points of each bound the gap, one way and the other. Compared by squares: roots only for what may win.
                let cross = u.cross(*v);
                let squared = cross.length_squared();
                let [p, ca, q, cb] = [*p, in_a, *q, in_b].map(|x| cross.dot(x));
                let bound = (q.min(cb) - p.max(ca)).max(p.min(ca) - q.max(cb));
                if squared > 1e-12 && bound * bound.abs() <= best * best.abs() * squared {
                    continue;
                }
                // Of nearly parallel edges the cross product has few digits: what is wrong may only be a turn about one.
                let Some(rough) = cross.try_normalize() else { continue };
                let Some(n) = (rough - u.dot(rough) * *u).try_normalize() else { continue };
                best = best.max(self.gap_above(n, best));
                best = best.max(self.gap_above(-n, best));
            }
        }
        best
    }

    /// Least distance over all corners above faces and all pairs of edges, by formulas of their own.
    pub(crate) fn all_features(&self) -> f64 {
        let [of_a, of_b] = &self.in_a;
        let mut least = f64::INFINITY;
        // Rounding may put a touching corner a little below its face.
        let slack = 1e-12 * self.size;
        for y in of_b {
            least = least.min(above_faces(self.a, *y, slack));
        }
        for x in of_a {
            least = least.min(above_faces(self.b, self.frame.point_back(*x), slack));
        }
        for e in self.a.edges() {
            let [p0, p1] = e.ends.map(|v| of_a[v as usize]);
            for f in self.b.edges() {
                let [q0, q1] = f.ends.map(|v| of_b[v as usize]);
                least = least.min(segments(p0, p1, q0, q1));
            }
        }
        least
    }

    /// How far a point of A and one of B (both in A's frame) lie outside their polyhedra.
    pub(crate) fn outside(&self, point_a: DVec3, point_b: DVec3) -> f64 {
        let beyond = |p: &Polyhedron, x: DVec3| {
            p.faces().iter().map(|f| f.height(x)).fold(f64::NEG_INFINITY, f64::max)
        };
        beyond(self.a, point_a).max(beyond(self.b, self.frame.point_back(point_b)))
    }

    /// Signed distance: minus the depth in overlap.
    pub(crate) fn signed_distance(&self) -> f64 {
        let axes = self.all_axes();
        if axes > 0.0 { self.all_features() } else { axes }
    }

    /// Everything a separation claims, to 1e-9 of the size without exception.
    ///
    /// Distance or depth is the oracle's. The normal is right if the gap along it is the distance: where several
    /// directions are equally good any will do, and the direction of a short gap may be vague as long as the shapes do not
    /// notice. The witnesses lie in the shapes and span the distance. The last two together bound the distance from below
    /// and from above, whatever the oracle thinks.
    pub(crate) fn judge(&self, found: &Separation) -> Result<(), String> {
        self.judge_against(found, self.signed_distance())
    }

    /// The same for long runs: a distance is proven by its normal and witnesses, and only a depth needs the axes.
    pub(crate) fn judge_by_certificate(&self, found: &Separation) -> Result<(), String> {
        let apart = found.distance > 1e-10 * self.size;
        self.judge_against(found, if apart { found.distance } else { self.axes_above(found.distance) })
    }

    fn judge_against(&self, found: &Separation, truth: f64) -> Result<(), String> {
        let tolerance = 1e-9 * self.size;
        let wrong =
            |what: &str, x: f64| Err(format!("{what}: {x:e}, distance {truth:e}, size {}", self.size));
        if exceeds((truth - found.distance).abs(), tolerance) {
            return wrong("distance", found.distance);
        }
        if truth.abs() > 1e-10 * self.size && (truth > 0.0) != (found.distance > 0.0) {
            return wrong("verdict", found.distance);
        }
        if exceeds((found.normal.length() - 1.0).abs(), 1e-12) {
            return wrong("length of the normal", found.normal.length());
        }
        let gap = self.gap(-found.normal);
        if exceeds((gap - found.distance).abs(), tolerance) {
            return wrong("gap along the normal", gap);
        }
        let span = (found.point_a - found.point_b - found.distance * found.normal).length();
        if exceeds(span, 1e-12 * self.size) {
            return wrong("witnesses do not span the distance", span);
        }
        let outside = self.outside(found.point_a, found.point_b);
        if exceeds(outside, tolerance) {
            return wrong("witness outside", outside);
        }
        Ok(())
    }
}

/// Distance to the faces that have the point in their prism.
fn above_faces(p: &Polyhedron, x: DVec3, slack: f64) -> f64 {
    let mut least = f64::INFINITY;
    for (f, plane) in (0..).zip(p.faces()) {
        let height = plane.normal.dot(x) - plane.offset;
        if height < -slack || height.abs() >= least {
            continue;
        }
        let corners = p.sides(f);
        let inside = (0..corners.len()).all(|k| {
            let [c, d] = [k, (k + 1) % corners.len()].map(|k| p.position(corners[k].corner));
            plane.normal.dot((d - c).cross(x - c)) >= 0.0
        });
        if inside {
            least = height.abs();
        }
    }
    least
}

/// Distance of two segments: the best of the four ends and the point nearest to the other line.
pub(crate) fn segments(p0: DVec3, p1: DVec3, q0: DVec3, q1: DVec3) -> f64 {
    let (d, e, r) = (p1 - p0, q1 - q0, p0 - q0);
    let end = |x: DVec3, t: DVec3, along: DVec3| {
        let s = ((x - t).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        // From the nearer end, which keeps the digits of a long edge.
        let h = t + along;
        if s <= 0.5 { (x - (t + s * along)).length() } else { (x - (h - (1.0 - s) * along)).length() }
    };
    let mut least = end(p0, q0, e).min(end(p1, q0, e)).min(end(q0, p0, d)).min(end(q1, p0, d));
    let cross = d.cross(e);
    let squared = cross.length_squared();
    if squared > 0.0 {
        // Nearly parallel, s has few digits, but the distance then hardly depends on it; and it is always that of two points.
        let s = (cross.dot(e.cross(r)) / squared).clamp(0.0, 1.0);
        least = least.min(end(p0 + s * d, q0, e));
    }
    least
}

/// True also for a NaN.
pub(crate) fn exceeds(error: f64, bound: f64) -> bool {
    error.is_nan() || error > bound
}
