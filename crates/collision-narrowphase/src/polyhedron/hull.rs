//! Quickhull: the triangles of the convex hull of a set of points.
//!
//! # Reference
//! Barber, Dobkin, Huhdanpaa, *The quickhull algorithm for convex hulls* (1996); Fontijne 2000 §2.4.2. Instead of
//! their facet merging, visibility is decided by an exact predicate: the horizon is then always one simple
//! cycle, and coplanar triangles are merged afterwards (`merge.rs`).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `conflicts` | points above a triangle, each listed under one triangle only |
//! | `horizon` | edges between triangles the new point sees and those it does not |
//! | `eps` | points nearer than this to the hull count as inside |
//!
//! # Formula
//! ```text
//! visible(p, abc)  ⇔  orient(a, b, c, p) > 0  (exact)
//! height(p, abc)   =  orient(a, b, c, p) / |(b−a) × (c−a)|
//! ```
//!
//! # Cost
//! O(n log n) expected.
//!
//! # Numerics
//! Points within 1e-12 of the size outside a plane are dropped, so the hull may miss input by that much.
//!
//! # Failure
//! `Flat` for points in a plane, on a line or in one spot; `BadScale`, `NonFinite`, `TooFew`, `TooMany`.
//!
//! # Tested by
//! `hostile_point_sets_give_a_sound_hull_or_an_error`, `flat_input_is_an_error`,
//! `a_hundred_thousand_points_are_no_problem`

use super::orient::orient;
use crate::PolyhedronError;
use sim_math::glam::DVec3;

/// Points outside by less than this part of the size are taken to be on the hull.
const DROP: f64 = 1e-12;
/// Thinnest hull that still counts as solid, relative to its size.
const FLAT: f64 = 1e-7;
const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Tri {
    corners: [u32; 3],
    /// Triangle across the edge from corner k to corner k + 1.
    neighbours: [u32; 3],
    inv_area: f64,
    alive: bool,
    conflicts: Vec<u32>,
    farthest: u32,
    height: f64,
    /// Number of the point that last tested this triangle, and whether it saw it.
    stamp: u32,
    visible: bool,
}

/// Oriented triangles (counter-clockwise from outside) of the hull of `points`.
pub(super) fn hull_triangles(points: &[DVec3]) -> Result<Vec<[u32; 3]>, PolyhedronError> {
    let size = check(points)?;
    let seed = first_tetrahedron(points, size)?;
    let mut hull = Hull { points, eps: DROP * size, tris: Vec::new(), pending: Vec::new() };
    hull.start(seed);
    hull.grow();
    Ok(hull.tris.iter().filter(|t| t.alive).map(|t| t.corners).collect())
}

/// Size (half the longest side of the box); errors for input no hull can be made of.
pub(super) fn check(points: &[DVec3]) -> Result<f64, PolyhedronError> {
    const LIMIT: usize = 1 << 28;
    if points.len() < 4 {
        return Err(PolyhedronError::TooFew { what: "points", got: points.len() });
    }
    if points.len() > LIMIT {
        return Err(PolyhedronError::TooMany { what: "points", got: points.len(), limit: LIMIT });
    }
    if let Some(index) = points.iter().position(|p| !p.is_finite()) {
        return Err(PolyhedronError::NonFinite { index, value: points[index] });
    }
    let low = points.iter().fold(points[0], |m, p| m.min(*p));
    let high = points.iter().fold(points[0], |m, p| m.max(*p));
    let middle = 0.5 * low + 0.5 * high;
    let size = (high * 0.5 - low * 0.5).max_element();
    let offset = middle.abs().max_element();
    if size == 0.0 {
        return Err(PolyhedronError::Flat { dimension: 0, thickness: 0.0 });
    }
    // Far from the origin the coordinates themselves no longer carry nine digits of the shape.
    if !(1e-50..1e50).contains(&size) || offset > 1e6 * size || !offset.is_finite() {
        return Err(PolyhedronError::BadScale { size, offset });
    }
    Ok(size)
}

fn first_tetrahedron(points: &[DVec3], size: f64) -> Result<[u32; 4], PolyhedronError> {
    let farthest = |measure: &dyn Fn(DVec3) -> f64| {
        let mut best = (0, -1.0);
        for (i, p) in points.iter().enumerate() {
            let m = measure(*p);
            if m > best.1 {
                best = (i, m);
            }
        }
        best
    };
    let (a, _) = farthest(&|p| (p - points[0]).length());
    let (b, length) = farthest(&|p| (p - points[a]).length());
    if length < FLAT * size {
        return Err(PolyhedronError::Flat { dimension: 0, thickness: length });
    }
    let along = (points[b] - points[a]) / length;
    let (c, width) = farthest(&|p| (p - points[a]).cross(along).length());
    if width < FLAT * size {
        return Err(PolyhedronError::Flat { dimension: 1, thickness: width });
    }
    let across = along.cross(points[c] - points[a]).normalize_or_zero();
    let (d, thickness) = farthest(&|p| across.dot(p - points[a]).abs());
    let volume = orient(points[a], points[b], points[c], points[d]);
    if thickness < FLAT * size || volume == 0.0 {
        return Err(PolyhedronError::Flat { dimension: 2, thickness });
    }
    let [a, b, c, d] = [a, b, c, d].map(|i| i as u32);
    // The fourth point must lie below the triangle of the first three.
    Ok(if volume > 0.0 { [a, c, b, d] } else { [a, b, c, d] })
}

struct Hull<'a> {
    points: &'a [DVec3],
    eps: f64,
    tris: Vec<Tri>,
    pending: Vec<u32>,
}

impl Hull<'_> {
    fn p(&self, index: u32) -> DVec3 {
        self.points[index as usize]
    }

    fn add(&mut self, corners: [u32; 3], neighbours: [u32; 3]) -> u32 {
        let [a, b, c] = corners.map(|i| self.p(i));
        let area = (b - a).cross(c - a).length();
        self.tris.push(Tri {
            corners,
            neighbours,
            inv_area: if area > 0.0 { 1.0 / area } else { 0.0 },
            alive: true,
            conflicts: Vec::new(),
            farthest: NONE,
            height: 0.0,
            stamp: NONE,
            visible: false,
        });
        (self.tris.len() - 1) as u32
    }

    fn orient(&self, tri: u32, point: u32) -> f64 {
        let [a, b, c] = self.tris[tri as usize].corners.map(|i| self.p(i));
        orient(a, b, c, self.p(point))
    }

    fn start(&mut self, [a, b, c, d]: [u32; 4]) {
        self.add([a, b, c], [3, 1, 2]);
        self.add([c, b, d], [0, 3, 2]);
        self.add([a, c, d], [0, 1, 3]);
        self.add([b, a, d], [0, 2, 1]);
        for point in 0..self.points.len() as u32 {
            if ![a, b, c, d].contains(&point) {
                self.assign(point, 0);
            }
        }
        self.pending = vec![3, 2, 1, 0];
    }

    /// Lists the point under the triangle, among those from `first` on, above which it is highest.
    fn assign(&mut self, point: u32, first: usize) {
        let mut best = (NONE, self.eps);
        for tri in first..self.tris.len() {
            if self.tris[tri].alive {
                let height = self.orient(tri as u32, point) * self.tris[tri].inv_area;
                if height > best.1 {
                    best = (tri as u32, height);
                }
            }
        }
        if best.0 != NONE {
            let tri = &mut self.tris[best.0 as usize];
            tri.conflicts.push(point);
            if best.1 > tri.height {
                (tri.farthest, tri.height) = (point, best.1);
            }
        }
    }

    fn grow(&mut self) {
        let mut horizon: Vec<(u32, u32, u32, u32)> = Vec::new();
        let mut orphans: Vec<u32> = Vec::new();
        while let Some(tri) = self.pending.pop() {
            let apex = self.tris[tri as usize].farthest;
            if !self.tris[tri as usize].alive || apex == NONE {
                continue;
            }
            horizon.clear();
            orphans.clear();
            self.collect_horizon(tri, apex, &mut horizon, &mut orphans);
            let first = self.tris.len();
            let count = horizon.len() as u32;
            for (k, &(tail, head, outer, side)) in (0..count).zip(&horizon) {
                let base = first as u32;
                let (next, previous) = (base + (k + 1) % count, base + (k + count - 1) % count);
                let new = self.add([tail, head, apex], [outer, next, previous]);
                self.tris[outer as usize].neighbours[side as usize] = new;
                self.pending.push(new);
            }
            for &point in orphans.iter().filter(|&&p| p != apex) {
                self.assign(point, first);
            }
        }
    }

    fn sees(&mut self, tri: u32, apex: u32) -> bool {
        if self.tris[tri as usize].stamp != apex {
            let visible = self.orient(tri, apex) > 0.0;
            let t = &mut self.tris[tri as usize];
            (t.stamp, t.visible) = (apex, visible);
        }
        self.tris[tri as usize].visible
    }

    /// Depth-first over visible triangles; visiting edges counter-clockwise yields the horizon in order.
    fn collect_horizon(
        &mut self,
        start: u32,
        apex: u32,
        horizon: &mut Vec<(u32, u32, u32, u32)>,
        orphans: &mut Vec<u32>,
    ) {
        // (triangle, first edge, edges left)
        let mut stack = vec![(start, 0_usize, 3_usize)];
        self.sees(start, apex);
        self.bury(start, orphans);
        while let Some(top) = stack.last_mut() {
            if top.2 == 0 {
                stack.pop();
                continue;
            }
            let (tri, edge) = (top.0, top.1);
            *top = (tri, (edge + 1) % 3, top.2 - 1);
            let other = self.tris[tri as usize].neighbours[edge];
            if self.sees(other, apex) {
                if self.tris[other as usize].alive {
                    self.bury(other, orphans);
                    let back = self.side(other, tri);
                    stack.push((other, (back + 1) % 3, 2));
                }
            } else {
                let corners = self.tris[tri as usize].corners;
                let side = self.side(other, tri) as u32;
                horizon.push((corners[edge], corners[(edge + 1) % 3], other, side));
            }
        }
    }

    fn side(&self, tri: u32, neighbour: u32) -> usize {
        self.tris[tri as usize].neighbours.iter().position(|&n| n == neighbour).unwrap_or(0)
    }

    fn bury(&mut self, tri: u32, orphans: &mut Vec<u32>) {
        let t = &mut self.tris[tri as usize];
        t.alive = false;
        orphans.append(&mut t.conflicts);
        t.conflicts = Vec::new();
    }
}
