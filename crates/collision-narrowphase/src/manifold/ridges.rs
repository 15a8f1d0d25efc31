//! Parallel edges that touch: one normal, whatever rounding says.
//!
//! # Reference
//! Own. The directions in which two convex bodies may push each other at a point are the common part of their normal cones there.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | ridge | an edge of a solid, with the normals of its two faces |
//! | near | distance that counts as touching: a millionth of the size |
//! | `out` | direction from A to B |
//!
//! # Formula
//! ```text
//! cone of a ridge: directions between the normals of its faces
//! out = middle of (cone of A's ridge) ∩ −(cone of B's ridge)
//! contacts at both ends of the length that the ridges have in common
//! ```
//!
//! # Cost
//! One height for each end of each edge, where solids touch; a handful of comparisons for ridges at that height.
//!
//! # Numerics
//! Either end of the common cone is as far out of the way as the other, so that a search for the deepest axis picks one by rounding: two cards that lean
//! on each other would be pushed along the one face or the other, and fall. Solids that touch with a face are left alone, and so are cones that
//! have less than 0.01 rad in common.
//!
//! # Failure
//! None.
//!
//! # Tested by
//! `edges_that_touch_have_the_middle_normal`, `tests/time_statics.rs` of `sim-steppers`

use crate::{Polyhedron, relative::Frame};
use sim_math::glam::DVec3;
use sim_traits::{ContactPoint, FeatureId, Manifold};

/// Distance at which parallel edges touch, of the size.
const TOUCHING: f64 = 1e-6;
/// Sine of the angle up to which edges are parallel.
const PARALLEL: f64 = 1e-6;
/// Cosine of the angle below which faces are not parallel, 0.01 rad.
const ASKEW: f64 = 1.0 - 5e-5;
/// 1 − cos of the least width of the directions that two edges allow, 0.01 rad.
const NARROW: f64 = 5e-5;
/// Most ridges at the height of a contact; a face with more corners is met by a face.
const MOST: usize = 12;

/// A body with flat faces.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Solid<'a> {
    /// Half extents.
    Cuboid(DVec3),
    Polyhedron(&'a Polyhedron),
}

/// In A's frame.
#[derive(Debug, Clone, Copy, Default)]
struct Ridge {
    ends: [DVec3; 2],
    normals: [DVec3; 2],
    name: u32,
}

/// The ridges of a solid whose ends are highest along a direction.
#[derive(Debug, Default)]
struct Ridges {
    all: [Ridge; MOST],
    len: usize,
}

impl Solid<'_> {
    /// Those within `near` of the greatest height, in the solid's frame.
    fn highest(&self, direction: DVec3, near: f64) -> Ridges {
        let mut found = Ridges::default();
        match self {
            Self::Cuboid(half) => {
                // An edge is level only if its ends are.
                if (2.0 * *half * direction.abs()).min_element() > near {
                    return found;
                }
                let top = half.dot(direction.abs()) - near;
                for axis in 0..3 {
                    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
                    for corner in 0..4_u32 {
                        let sign = |bit: u32| if corner & bit > 0 { 1.0 } else { -1.0 };
                        let (mut normals, mut end) = ([DVec3::ZERO; 2], *half);
                        (normals[0][j], normals[1][k]) = (sign(2), sign(1));
                        (end[j], end[k]) = (sign(2) * half[j], sign(1) * half[k]);
                        let mut other = end;
                        other[axis] = -other[axis];
                        let ridge = Ridge { ends: [end, other], normals, name: 4 * axis as u32 + corner };
                        found.push(ridge, direction, top);
                    }
                }
            }
            Self::Polyhedron(p) => {
                let vertex = p.support_vertex(direction);
                let top = p.position(vertex).dot(direction) - near;
                // Vertices at a height are joined by edges: with none beside the highest there are no others.
                if !p.spokes(vertex).iter().any(|s| p.position(s.neighbour).dot(direction) >= top) {
                    return found;
                }
                for (name, edge) in (0..).zip(p.edges()) {
                    let ends = edge.ends.map(|v| p.position(v));
                    let normals = edge.faces.map(|f| p.faces()[f as usize].normal);
                    found.push(Ridge { ends, normals, name }, direction, top);
                }
            }
        }
        found
    }
}

impl Ridges {
    fn push(&mut self, ridge: Ridge, direction: DVec3, top: f64) {
        if self.len < MOST && ridge.ends.iter().all(|x| x.dot(direction) >= top) {
            self.all[self.len] = ridge;
            self.len += 1;
        }
    }
}

/// The manifold of two solids whose parallel edges touch, if that is how they touch; `normal` and `distance` are those of the closest or deepest points.
pub(crate) fn touching_ridges(
    [a, b]: [Solid<'_>; 2],
    frame: &Frame,
    normal: DVec3,
    distance: f64,
    [size, margin]: [f64; 2],
) -> Option<Manifold> {
    let near = TOUCHING * size;
    if distance.abs() > near {
        return None;
    }
    // The normal may be at the end of the common directions: heights differ by what the edges are apart.
    let of_a = a.highest(-normal, 4.0 * near);
    if of_a.len == 0 {
        return None;
    }
    let of_b = b.highest(frame.back(normal), 4.0 * near);
    for p in &of_a.all[..of_a.len] {
        for q in &of_b.all[..of_b.len] {
            let q = Ridge {
                ends: q.ends.map(|x| frame.point(x)),
                normals: q.normals.map(|n| frame.vector(n)),
                name: q.name,
            };
            let direction = (p.ends[1] - p.ends[0]).normalize_or_zero();
            let other = (q.ends[1] - q.ends[0]).normalize_or_zero();
            if direction.cross(other).length_squared() > PARALLEL * PARALLEL {
                continue;
            }
            let across = q.ends[0] - p.ends[0];
            if (across - direction * across.dot(direction)).length_squared() > near * near {
                continue;
            }
            // Solids that touch with a face rest on it.
            if p.normals.iter().any(|m| q.normals.iter().any(|n| -m.dot(*n) > ASKEW)) {
                return None;
            }
            let out = middle_of_cones(direction, p.normals, q.normals.map(|n| -n))?;
            let along = |x: DVec3| direction.dot(x - p.ends[0]);
            let ([s0, s1], length) = (q.ends.map(along), along(p.ends[1]));
            let (low, high) = (s0.min(s1).max(0.0), s0.max(s1).min(length));
            if low >= high {
                continue;
            }
            let features = [FeatureId::edge(p.name), FeatureId::edge(q.name)];
            let mut manifold = Manifold::new(-out);
            for s in [low, high] {
                let point_a = p.ends[0] + s * direction;
                let point_b = q.ends[0] + (s - s0) / (s1 - s0) * (q.ends[1] - q.ends[0]);
                let separation = (point_b - point_a).dot(out);
                if separation <= margin {
                    manifold.push(ContactPoint { point_a, point_b, separation, features });
                }
            }
            return Some(manifold);
        }
    }
    None
}

/// The middle of the directions within two angles below 180°, each given by its sides, about an axis; `None` where they have next to none in common.
fn middle_of_cones(axis: DVec3, one: [DVec3; 2], other: [DVec3; 2]) -> Option<DVec3> {
    let turn = |x: DVec3, y: DVec3| axis.dot(x.cross(y));
    let inside = |v: DVec3, [p, q]: [DVec3; 2]| {
        let sense = turn(p, q).signum();
        sense * turn(p, v) >= 0.0 && sense * turn(v, q) >= 0.0
    };
    // The sides of the common part are those sides that lie in the other one.
    let mut sides =
        one.into_iter().filter(|v| inside(*v, other)).chain(other.into_iter().filter(|v| inside(*v, one)));
    let (first, second) = (sides.next()?, sides.next()?);
    if first.dot(second) > 1.0 - NARROW {
        return None;
    }
    let middle = first + second;
    (middle - axis * axis.dot(middle)).try_normalize()
}
