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
//! For polyhedra the result is exact up to rounding; smooth cores converge quadratically in the mesh width.
//!
//! # Failure
//! `None` if the vertices run out and Newton's method does not end where the support point lies along the direction.
//!
//! # Tested by
//! `tests/hostile.rs`, `tests/conformance.rs`

use super::{
    core::{Cores, Difference},
    distance,
    polish::polish,
    simplex,
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
    let mut polytope = match start(cores, size, closest) {
        Ok(polytope) => polytope,
        Err(flat) => return Some(flat),
    };
    loop {
        let (nearest, _) = polytope.nearest(1e-13 * size)?;
        let face = polytope.faces[nearest];
        let new = cores.support(face.normal);
        let gain = face.normal.dot(new.w) - face.offset;
        let done = gain <= 1e-12 * size;
        if done || polytope.len == MAX_VERTICES || !polytope.expand(new) {
            if gain <= 1e-10 * size {
                return Some(polytope.answer(&face, closest, 1e-9 * size));
            }
            return smooth(cores, face.normal);
        }
    }
}

/// Out of vertices: a smooth difference, whose nearest direction Newton's method finds from here.
fn smooth(cores: &Cores<'_>, start: DVec3) -> Option<Separation> {
    let (n, reached) = polish(cores, start);
    let depth = n.dot(reached.w);
    let across = |p: &Difference| p.w - n.dot(p.w) * n;
    // Where a ridge or a flat part faces the direction, many points are equally far: find them by tilting a little.
    let (e1, e2) = n.any_orthonormal_pair();
    let tilted = [e1, -e1, e2, -e2].map(|e| cores.support(n + 1e-8 * e));
    let mut best = (across(&reached).length(), reached.a, reached.b);
    for corners in [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]].map(|c| c.map(|i| tilted[i])) {
        if let Some(found) = simplex::nearest(&corners.map(|p| across(&p)))
            && found.squared.sqrt() < best.0
        {
            let [u, v, w, _] = found.weights;
            let mix =
                |f: fn(&Difference) -> DVec3| u * f(&corners[0]) + v * f(&corners[1]) + w * f(&corners[2]);
            best = (found.squared.sqrt(), mix(|p| p.a), mix(|p| p.b));
        }
    }
    let (distance, normal) = (-depth, -n);
    let middle = 0.5 * (best.1 + best.2);
    let half = 0.5 * distance * normal;
    (best.0 <= 1e-5 * cores.size()).then_some(Separation {
        distance,
        normal,
        point_a: middle + half,
        point_b: middle - half,
    })
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
fn start(cores: &Cores<'_>, size: f64, closest: &Separation) -> Result<Polytope, Separation> {
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
    Ok(Polytope::tetrahedron([p0, p1, p2.0, p3]))
}

impl Polytope {
    fn tetrahedron(p: [Difference; 4]) -> Self {
        let empty = Face { corners: [0; 3], normal: DVec3::ZERO, offset: f64::INFINITY };
        let mut polytope = Self {
            vertices: [Difference::ZERO; MAX_VERTICES],
            len: 4,
            faces: [empty; MAX_FACES],
            faces_len: 0,
        };
        polytope.vertices[..4].copy_from_slice(&p);
        let below = (p[1].w - p[0].w).cross(p[2].w - p[0].w).dot(p[3].w - p[0].w) < 0.0;
        let faces = if below {
            [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]
        } else {
            [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
        };
        for corners in faces {
            polytope.add(corners);
        }
        polytope
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

    fn answer(&self, face: &Face, closest: &Separation, slack: f64) -> Separation {
        let weights = self.weights(face);
        if face.offset < 0.0 && weights.iter().any(|x| *x < -1e-9) {
            // Barely apart at a corner: the face gives the direction, GJK the place.
            let (distance, normal) = (-face.offset, -face.normal);
            let middle = 0.5 * (closest.point_a + closest.point_b);
            let half = 0.5 * distance * normal;
            return Separation { distance, normal, point_a: middle + half, point_b: middle - half };
        }
        // The projection may lie in a neighbour that is coplanar up to rounding.
        let least = |w: &[f64; 3]| w[0].min(w[1]).min(w[2]);
        let (mut host, mut weights) = (*face, weights);
        for other in &self.faces[..self.faces_len] {
            let flush = other.normal.dot(face.normal) > 1.0 - 1e-9 && other.offset < face.offset + slack;
            if flush && least(&self.weights(other)) > least(&weights) {
                (host, weights) = (*other, self.weights(other));
            }
        }
        let [u, v, w] = weights.map(|x| x.clamp(0.0, 1.0));
        let sum = u + v + w;
        let [a, b, c] = host.corners.map(|i| self.vertices[usize::from(i)]);
        let point = |f: fn(&Difference) -> DVec3| (u * f(&a) + v * f(&b) + w * f(&c)) / sum;
        let middle = 0.5 * (point(|d| d.a) + point(|d| d.b));
        let (distance, normal) = (-face.offset, -face.normal);
        Separation {
            distance,
            normal,
            point_a: middle + 0.5 * distance * normal,
            point_b: middle - 0.5 * distance * normal,
        }
    }
}
