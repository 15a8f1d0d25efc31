//! EPA: depth of two overlapping convex cores.
//!
//! # Reference
//! van den Bergen, *Proximity queries and penetration depth computation on 3D game objects* (2001). The start does not
//! need GJK's simplex: face distances are signed, so any tetrahedron of the difference will do.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `offset` | signed distance of a face's plane from the origin, positive if the origin is below |
//! | `gain` | how far the support point lies beyond the nearest face |
//!
//! # Formula
//! ```text
//! nearest face of a polytope inside A − B: offset ≤ depth ≤ offset + gain;   stop when gain ≤ 1e-12 of the size
//! ```
//!
//! # Cost
//! O(n) per added vertex; at most 200 vertices. No allocation, 40 kB of stack.
//!
//! # Numerics
//! Which faces a new vertex sees is decided exactly: with rounding, flat differences fold over themselves.
//! For polyhedra the result is exact up to rounding. Smooth cores converge with the square of the mesh width only, and
//! where many directions are nearly as good the vertices run out: [`smooth`](super::smooth) goes on from there.
//! Weights in a sliver have few digits, so points that do not span the depth are found once more with the cores apart.
//!
//! # Failure
//! `None` where `smooth` gives none.
//!
//! # Tested by
//! `tests/hostile.rs`, `tests/conformance.rs`, `tests/depth.rs`,
//! `a_millimetre_body_that_touches_a_large_one_holds_its_witness`

use super::{
    core::{Cores, Difference},
    distance, smooth,
};
use crate::polyhedron::orient::orient;
use sim_math::glam::DVec3;
use sim_traits::Separation;

/// Most vertices of the polytope.
pub(crate) const MAX_VERTICES: usize = 200;
const MAX_FACES: usize = 3 * MAX_VERTICES;

#[derive(Debug, Clone, Copy)]
struct Face {
    corners: [u16; 3],
    normal: DVec3,
    offset: f64,
}

struct Polytope {
    vertices: [Difference; MAX_VERTICES],
    len: usize,
    faces: [Face; MAX_FACES],
    faces_len: usize,
}

/// Depth of the cores: a separation with distance ≤ 0 (or a gap too small to tell). `closest` is what GJK found.
#[cold]
#[inline(never)]
pub(super) fn depth(cores: &Cores<'_>, closest: &Separation) -> Option<Separation> {
    let size = cores.size();
    let corners = match start(cores, size, closest) {
        Ok(corners) => corners,
        Err(flat) => return Some(flat),
    };
    let mut polytope = Polytope::EMPTY;
    polytope.begin(corners);
    loop {
        let (nearest, _) = polytope.nearest(1e-13 * size)?;
        let face = polytope.faces[nearest];
        let new = cores.support(face.normal);
        let gain = face.normal.dot(new.w) - face.offset;
        let done = gain <= 1e-12 * size;
        let full = polytope.len == MAX_VERTICES;
        if done || full || !polytope.expand(new) {
            if gain <= 1e-10 * size {
                return Some(polytope.answer(cores, &face, closest));
            }
            if full {
                let faces = polytope.faces[..polytope.faces_len].iter();
                return smooth::depth(cores, faces.map(|f| (f.normal, f.offset)));
            }
            // A vertex that is exactly no higher than any face, and seems so only along a sliver's poor normal.
            polytope.faces[nearest].offset = f64::INFINITY;
        }
    }
}

/// Depth of two polyhedra by EPA.
pub(crate) fn polyhedra(
    a: &crate::Polyhedron,
    b: &crate::Polyhedron,
    frame: &crate::relative::Frame,
) -> Option<Separation> {
    let cores = Cores::new(super::Core::polyhedron(a), super::Core::polyhedron(b), *frame);
    let direction = a.center() - frame.point(b.center());
    let (closest, _) = distance::closest(&cores, direction, 1e-10 * cores.size());
    depth(&cores, &closest)
}

/// A tetrahedron of support points, or the answer if the difference is flat: no volume, no depth.
fn start(cores: &Cores<'_>, size: f64, closest: &Separation) -> Result<[Difference; 4], Separation> {
    let flat = |normal: DVec3| Separation { distance: 0.0, normal, point_b: closest.point_a, ..*closest };
    let tiny = 1e-11 * size;
    let p0 = cores.support(DVec3::X);
    let mut p1 = p0;
    for d in [DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z] {
        let p = cores.support(d);
        if (p.w - p0.w).length_squared() > (p1.w - p0.w).length_squared() {
            p1 = p;
        }
    }
    let Some(along) = (p1.w - p0.w).try_normalize().filter(|_| (p1.w - p0.w).length() > tiny) else {
        return Err(flat(closest.normal));
    };
    let (x, y) = along.any_orthonormal_pair();
    let mut p2 = (p0, 0.0);
    for d in [x, -x, y, -y, x + y, -x - y, x - y, y - x] {
        let p = cores.support(d);
        let off = (p.w - p0.w).cross(along).length();
        if off > p2.1 {
            p2 = (p, off);
        }
    }
    if p2.1 <= tiny {
        // A segment: any direction across it that keeps the old normal as far as possible.
        let across = closest.normal - along.dot(closest.normal) * along;
        return Err(flat(across.try_normalize().unwrap_or(x)));
    }
    let n = along.cross(p2.0.w - p0.w).normalize();
    let (up, down) = (cores.support(n), cores.support(-n));
    let (high, low) = (n.dot(up.w - p0.w), n.dot(down.w - p0.w));
    let p3 = if high >= -low { up } else { down };
    if high.max(-low) <= tiny {
        return Err(flat(if n.dot(closest.normal) < 0.0 { -n } else { n }));
    }
    Ok([p0, p1, p2.0, p3])
}

impl Polytope {
    const EMPTY: Self = Self {
        vertices: [Difference::ZERO; MAX_VERTICES],
        len: 0,
        faces: [Face { corners: [0; 3], normal: DVec3::ZERO, offset: 0.0 }; MAX_FACES],
        faces_len: 0,
    };

    /// Starts as a tetrahedron.
    fn begin(&mut self, p: [Difference; 4]) {
        self.vertices[..4].copy_from_slice(&p);
        self.len = 4;
        let below = (p[1].w - p[0].w).cross(p[2].w - p[0].w).dot(p[3].w - p[0].w) < 0.0;
        let faces = if below {
            [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]
        } else {
            [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
        };
        for corners in faces {
            self.add(corners);
        }
    }

    fn w(&self, index: u16) -> DVec3 {
        self.vertices[usize::from(index)].w
    }

    fn add(&mut self, corners: [u16; 3]) -> bool {
        let [a, b, c] = corners.map(|i| self.w(i));
        let cross = (b - a).cross(c - a);
        let longest = (b - a).length_squared().max((c - a).length_squared());
        // A sliver closes the surface but has no direction to search in.
        let (normal, offset) = if cross.length_squared() > 1e-28 * longest * longest {
            let side = [b - a, c - b, a - c]
                .into_iter()
                .fold(b - a, |m, s| if s.length_squared() > m.length_squared() { s } else { m });
            // The cross product of a thin triangle is poor along its length.
            let (along, rough) = (side.normalize(), cross.normalize());
            let n = (rough - along.dot(rough) * along).normalize();
            (n, n.dot(a).max(n.dot(b)).max(n.dot(c)))
        } else {
            (DVec3::ZERO, f64::INFINITY)
        };
        let Some(slot) = self.faces.get_mut(self.faces_len) else { return false };
        *slot = Face { corners, normal, offset };
        self.faces_len += 1;
        true
    }

    /// Face with the least offset; of equally near ones, that above which the origin lies most inside.
    fn nearest(&self, tie: f64) -> Option<(usize, f64)> {
        let faces = &self.faces[..self.faces_len];
        let least = faces.iter().map(|f| f.offset).fold(f64::INFINITY, f64::min);
        let mut best: Option<(usize, f64)> = None;
        for (i, face) in faces.iter().enumerate().filter(|(_, f)| f.offset <= least + tie) {
            let inside = self.weights(face).into_iter().fold(f64::INFINITY, f64::min);
            if best.is_none_or(|b| inside > b.1) {
                best = Some((i, inside));
            }
        }
        best
    }

    /// Barycentric coordinates of the origin's projection.
    fn weights(&self, face: &Face) -> [f64; 3] {
        let [a, b, c] = face.corners.map(|i| self.w(i));
        let n = face.normal;
        let area = n.dot((b - a).cross(c - a));
        let (u, v) = (n.dot(b.cross(c)) / area, n.dot(c.cross(a)) / area);
        [u, v, 1.0 - u - v]
    }

    /// Adds a vertex: removes the faces it sees (exactly, so that the rest is one disk) and closes the hole; false if it
    /// sees none or there is no room.
    fn expand(&mut self, new: Difference) -> bool {
        let mut horizon = [[0_u16; 2]; MAX_FACES];
        let mut edges = 0;
        let mut kept = 0;
        for i in 0..self.faces_len {
            let face = self.faces[i];
            let [a, b, c] = face.corners;
            let [p, q, r] = face.corners.map(|i| self.w(i));
            if orient(p, q, r, new.w) <= 0.0 {
                self.faces[kept] = face;
                kept += 1;
                continue;
            }
            for (tail, head) in [(a, b), (b, c), (c, a)] {
                // An edge between two visible faces comes once in each direction and cancels.
                if let Some(twin) = horizon[..edges].iter().position(|e| *e == [head, tail]) {
                    edges -= 1;
                    horizon[twin] = horizon[edges];
                } else if edges < horizon.len() {
                    horizon[edges] = [tail, head];
                    edges += 1;
                } else {
                    return false;
                }
            }
        }
        if kept == self.faces_len || edges < 3 {
            return false;
        }
        self.faces_len = kept;
        let apex = self.len as u16;
        self.vertices[self.len] = new;
        self.len += 1;
        horizon[..edges].iter().all(|[tail, head]| self.add([*tail, *head, apex]))
    }

    /// The separation along a face's normal, with points of the shapes that span it.
    fn answer(&self, cores: &Cores<'_>, face: &Face, closest: &Separation) -> Separation {
        let size = cores.size();
        let (distance, normal) = (-face.offset, -face.normal);
        let at = |a: DVec3, b: DVec3| {
            let (middle, half) = (0.5 * (a + b), 0.5 * distance * normal);
            Separation { distance, normal, point_a: middle + half, point_b: middle - half }
        };
        // The projection may lie in a neighbour that is coplanar up to rounding: the point nearest to it counts.
        let projection = face.offset * face.normal;
        let point_of = |host: &Face| {
            let [u, v, w] = self.weights(host).map(|x| x.clamp(0.0, 1.0));
            let sum = u + v + w;
            let [a, b, c] = host.corners.map(|i| self.vertices[usize::from(i)]);
            let mix = |f: fn(&Difference) -> DVec3| (u * f(&a) + v * f(&b) + w * f(&c)) / sum;
            (mix(|d| d.a), mix(|d| d.b), (mix(|d| d.w) - projection).length())
        };
        let mut best = point_of(face);
        for other in &self.faces[..self.faces_len] {
            let flush =
                other.normal.dot(face.normal) > 1.0 - 1e-9 && other.offset < face.offset + 1e-9 * size;
            if flush && best.2 > 1e-12 * size {
                let found = point_of(other);
                if found.2 < best.2 {
                    best = found;
                }
            }
        }
        // Weights of slivers have few digits, and a small body may be covered by slivers only. Moved apart along the
        // normal, the shapes are nearest where they touch.
        for shift in [1e-3, 1e-5, 1e-1, 1e-7] {
            if best.2 <= 1e-11 * size {
                break;
            }
            let apart = cores.shifted(-(face.offset + shift * size) * face.normal);
            let (a, b, _) = distance::closest_points(&apart, normal);
            let aside = (a - b - projection).length();
            if aside < best.2 {
                best = (a, b, aside);
            }
        }
        if face.offset < 0.0 && best.2 > 1e-10 * size {
            // Barely apart at a corner: the face gives the direction, GJK the place.
            return at(closest.point_a, closest.point_b);
        }
        at(best.0, best.1)
    }
}
