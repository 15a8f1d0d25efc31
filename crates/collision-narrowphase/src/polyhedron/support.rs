//! Support vertex of a polyhedron: cube-map table and a short climb.
//!
//! # Reference
//! Hill climbing on convex polytopes; the table of directions is what makes unrelated queries cheap.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `support_table` | per cell of a cube map, the support vertex of the cell's middle |
//!
//! # Formula
//! ```text
//! climb: while some spoke has direction · s > slack |direction|, go to its neighbour
//! ```
//!
//! # Cost
//! O(1) plus a climb of a few vertices, each of a few spokes; a scan for up to 16 vertices.
//!
//! # Numerics
//! The result is within 1e-15 of the size of the true maximum per step of the last, flat part of the climb.
//!
//! # Failure
//! None. A zero direction gives some vertex.
//!
//! # Tested by
//! `support_equals_scan`

use super::Polyhedron;
use sim_math::glam::DVec3;

const CELLS: u32 = 8;
const SCAN: usize = 16;
/// Slopes below this are rounding.
const SLACK: f64 = 1e-15;

impl Polyhedron {
    /// A vertex farthest along `direction` (any length).
    #[must_use]
    pub fn support_vertex(&self, direction: DVec3) -> u32 {
        if self.support_table.is_empty() {
            return self.scan_support(direction);
        }
        self.climb(direction, self.support_table[cell(direction)])
    }

    /// As [`support_vertex`](Self::support_vertex), starting the climb at a vertex expected to be near.
    #[must_use]
    pub fn support_vertex_from(&self, direction: DVec3, start: u32) -> u32 {
        if (start as usize) < self.vertices.len() {
            self.climb(direction, start)
        } else {
            self.support_vertex(direction)
        }
    }

    pub(super) fn build_support_table(&mut self) {
        if self.vertices.len() <= SCAN {
            return;
        }
        let mut table = Vec::with_capacity((6 * CELLS * CELLS) as usize);
        let mut vertex = 0;
        for index in 0..6 * CELLS * CELLS {
            vertex = self.climb(cell_middle(index), vertex);
            table.push(vertex);
        }
        self.support_table = table;
    }

    fn scan_support(&self, direction: DVec3) -> u32 {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, v) in (0..).zip(&self.vertices) {
            let h = direction.dot(v.position);
            if h > best.1 {
                best = (i, h);
            }
        }
        best.0
    }

    /// True if a walk over faces finds the point to be inside: the face that the ray from the centre through the point
    /// leaves by maximises n·(x − c) / (d − n·c), and that ratio has no other local maximum. A point near the
    /// surface may be called outside.
    pub(crate) fn inside_by_walk(&self, point: DVec3, start: u32) -> bool {
        let x = point - self.center;
        let ratio = |face: u32| {
            let plane = &self.planes[face as usize];
            plane.normal.dot(x) / (plane.offset - plane.normal.dot(self.center))
        };
        let (mut face, mut value) = (start, ratio(start));
        for _ in 0..self.planes.len() {
            let mut best = (face, value);
            for side in self.sides(face) {
                let edge = &self.edges[side.edge as usize];
                let other = edge.faces[usize::from(edge.faces[0] == face)];
                let r = ratio(other);
                if r > best.1 {
                    best = (other, r);
                }
            }
            if best.0 == face {
                break;
            }
            (face, value) = best;
        }
        value < 1.0 - 1e-12
    }

    /// Steepest ascent. The number of steps is bounded, so that rounding cannot make it run in circles.
    pub(crate) fn climb(&self, direction: DVec3, start: u32) -> u32 {
        let slack = SLACK * direction.abs().max_element();
        let mut vertex = start;
        for _ in 0..self.vertices.len() {
            let mut best = (vertex, slack);
            for spoke in self.spokes(vertex) {
                let slope = direction.dot(spoke.direction);
                if slope > best.1 {
                    best = (spoke.neighbour, slope);
                }
            }
            if best.0 == vertex {
                break;
            }
            vertex = best.0;
        }
        vertex
    }
}

#[inline]
fn cell(direction: DVec3) -> usize {
    let a = direction.abs();
    let (axis, major, u, v) = if a.x >= a.y && a.x >= a.z {
        (0, direction.x, direction.y, direction.z)
    } else if a.y >= a.z {
        (1, direction.y, direction.z, direction.x)
    } else {
        (2, direction.z, direction.x, direction.y)
    };
    let inverse = 0.5 * f64::from(CELLS) / major.abs();
    // `as` saturates and takes NaN (zero direction) to 0.
    let to_cell = |t: f64| ((t * inverse + 0.5 * f64::from(CELLS)) as u32).min(CELLS - 1);
    let side = 2 * axis + u32::from(major < 0.0);
    ((side * CELLS + to_cell(u)) * CELLS + to_cell(v)) as usize
}

fn cell_middle(index: u32) -> DVec3 {
    let (side, u, v) = (index / (CELLS * CELLS), index / CELLS % CELLS, index % CELLS);
    let to_coordinate = |c: u32| (f64::from(c) + 0.5) * 2.0 / f64::from(CELLS) - 1.0;
    let (u, v) = (to_coordinate(u), to_coordinate(v));
    let major = if side % 2 == 0 { 1.0 } else { -1.0 };
    match side / 2 {
        0 => DVec3::new(major, u, v),
        1 => DVec3::new(v, major, u),
        _ => DVec3::new(u, v, major),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    #[test]
    fn cells_contain_their_middles() {
        for index in 0..6 * CELLS * CELLS {
            assert_eq!(cell(cell_middle(index) * 3.7), index as usize);
        }
        assert!(cell(DVec3::ZERO) < (6 * CELLS * CELLS) as usize);
    }

    #[test]
    fn support_equals_scan() {
        let mut random = SplitMix64(5);
        for n in [8, 20, 100, 700] {
            let hull = Polyhedron::random(n, n as u64).unwrap();
            for _ in 0..5000 {
                let direction = random.unit_vec3();
                let (found, best) = (hull.support_vertex(direction), hull.scan_support(direction));
                let difference = direction.dot(hull.position(best) - hull.position(found));
                assert!(difference.abs() < 1e-14, "{difference}");
                let from = random.below(n) as u32;
                let climbed = hull.position(hull.support_vertex_from(direction, from));
                assert!(direction.dot(hull.position(best) - climbed).abs() < 1e-14);
            }
        }
    }
}
