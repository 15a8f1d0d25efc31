//! A polytope in A − B that grows until a ball about the origin fits in.
//!
//! # Reference
//! EPA (see [`epa`](super::epa)) with a radius that is given: only faces that are too near are moved out.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `offset` | distance of a face's plane from the origin, positive if the origin is below |
//! | `floor` | radius of the ball |
//!
//! # Formula
//! ```text
//! while a face has offset < floor:   add the support point along its normal, remove the faces that see it, close the hole
//! ```
//!
//! # Cost
//! O(n) for each added corner, at most 60 corners. No allocation, 8 kB of stack.
//!
//! # Numerics
//! The surface stays closed whichever faces are removed, as sides of the hole that come twice cancel. A closed surface
//! whose faces all have the origin below them goes around it; so nothing has to be decided exactly.
//!
//! # Failure
//! `false`: A − B reaches less far than `floor` along some direction, or there is no room for more corners.
//!
//! # Tested by
//! `a_shell_finds_the_ball_in_a_polytope`, `soak_following_finds_what_searching_finds`

use sim_math::glam::DVec3;

const CORNERS: usize = 60;
const FACES: usize = 2 * CORNERS;

#[derive(Debug, Clone, Copy)]
struct Face {
    corners: [u8; 3],
    normal: DVec3,
    offset: f64,
}

impl Face {
    const EMPTY: Self = Self { corners: [0; 3], normal: DVec3::ZERO, offset: f64::INFINITY };
}

/// A closed surface of triangles.
pub(super) struct Shell {
    corners: [DVec3; CORNERS],
    len: usize,
    faces: [Face; FACES],
    count: usize,
    size: f64,
    full: bool,
}

impl Shell {
    /// The hull of some points; `None` if it is flat.
    pub(super) fn new(points: &[DVec3], size: f64) -> Option<Self> {
        let first = *points.first()?;
        let farthest = |score: &dyn Fn(DVec3) -> f64| {
            let mut best = (first, 1e-9 * size);
            for p in points {
                let here = score(*p);
                if here > best.1 {
                    best = (*p, here);
                }
            }
            (best.0 != first).then_some(best.0)
        };
        let second = farthest(&|p| (p - first).length())?;
        let along = (second - first).normalize();
        let third = farthest(&|p| (p - first).cross(along).length())?;
        let across = along.cross(third - first).normalize();
        let fourth = farthest(&|p| (p - first).dot(across).abs())?;
        let corners = if (fourth - first).dot(across) < 0.0 {
            [first, second, third, fourth]
        } else {
            [first, third, second, fourth]
        };
        let mut shell = Self {
            corners: [DVec3::ZERO; CORNERS],
            len: 4,
            faces: [Face::EMPTY; FACES],
            count: 0,
            size,
            full: false,
        };
        shell.corners[..4].copy_from_slice(&corners);
        for face in [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]] {
            shell.close(face);
        }
        for p in points {
            shell.add(*p);
        }
        Some(shell)
    }

    fn close(&mut self, corners: [u8; 3]) {
        let [p, q, r] = corners.map(|i| self.corners[usize::from(i)]);
        let (e, f) = (q - p, r - p);
        let n = e.cross(f);
        let length = n.length();
        let longest = e.length_squared().max(f.length_squared());
        // A sliver closes the surface; where it is, its neighbours tell.
        let face = if length * length > 1e-24 * self.size * self.size * longest {
            let normal = n / length;
            Face { corners, normal, offset: normal.dot(p) }
        } else {
            Face { corners, ..Face::EMPTY }
        };
        match self.faces.get_mut(self.count) {
            Some(slot) => {
                *slot = face;
                self.count += 1;
            }
            None => self.full = true,
        }
    }

    /// Takes in a point of A − B that lies beyond some faces.
    pub(super) fn add(&mut self, corner: DVec3) {
        let above = 1e-13 * self.size;
        let mut hole = [[0_u8; 2]; 3 * CORNERS];
        let (mut sides, mut kept) = (0, 0);
        if self.len == CORNERS {
            self.full = true;
            return;
        }
        for i in 0..self.count {
            let face = self.faces[i];
            if face.normal.dot(corner) <= face.offset + above {
                self.faces[kept] = face;
                kept += 1;
                continue;
            }
            let [p, q, r] = face.corners;
            for [tail, head] in [[p, q], [q, r], [r, p]] {
                if let Some(twin) = hole[..sides].iter().position(|side| *side == [head, tail]) {
                    sides -= 1;
                    hole[twin] = hole[sides];
                } else if let Some(slot) = hole.get_mut(sides) {
                    *slot = [tail, head];
                    sides += 1;
                } else {
                    self.full = true;
                }
            }
        }
        if kept == self.count {
            return;
        }
        self.count = kept;
        self.corners[self.len] = corner;
        let apex = self.len as u8;
        self.len += 1;
        for [tail, head] in &hole[..sides] {
            self.close([*tail, *head, apex]);
        }
    }

    /// Adds support points until a ball of radius `floor` fits in.
    pub(super) fn encloses(&mut self, support: impl Fn(DVec3) -> DVec3, floor: f64) -> bool {
        while !self.full {
            let mut nearest = (0, f64::INFINITY);
            for (i, face) in self.faces[..self.count].iter().enumerate() {
                if face.offset < nearest.1 {
                    nearest = (i, face.offset);
                }
            }
            if nearest.1 >= floor {
                return nearest.1 < f64::INFINITY;
            }
            let face = self.faces[nearest.0];
            let corner = support(face.normal);
            let reach = face.normal.dot(corner);
            if reach < floor || reach - face.offset <= 1e-12 * self.size {
                return false;
            }
            self.add(corner);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Polyhedron;

    #[test]
    fn a_shell_finds_the_ball_in_a_polytope() {
        for (p, radius) in [
            (Polyhedron::cuboid(DVec3::new(0.5, 0.7, 0.9)).unwrap(), 0.5),
            (Polyhedron::dodecahedron(1.0).unwrap(), 0.794_654_472_291_766_1),
        ] {
            let support = |d: DVec3| p.position(p.support_vertex(d));
            let axes = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Y, DVec3::NEG_Z].map(support);
            let shell = || Shell::new(&axes, 1.0).unwrap();
            assert!(shell().encloses(support, radius - 1e-9), "{radius}");
            assert!(!shell().encloses(support, radius + 1e-9), "{radius}");
        }
    }
}
