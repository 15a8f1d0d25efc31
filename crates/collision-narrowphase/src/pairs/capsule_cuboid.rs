//! Capsule and box: the point of a segment nearest to a box, or the way out of it.
//!
//! # Reference
//! The squared distance of a box from a point that runs along a line is convex and made of parabolas; the way out is the
//! best of six separating axes (Gottschalk, Lin, Manocha 1996).
//!
//! # Symbols
//! | code | meaning | frame |
//! |---|---|---|
//! | `c`, `d` | middle of the capsule's segment, and the way from there to one end | box |
//! | `h` | half extents | box |
//! | `t` | place on the segment, −1..=1 | |
//!
//! # Formula
//! ```text
//! x(t) = c + t d;   f(t) = Σ max(|x_i| − h_i, 0)²;   a parabola between two t where x_i = ±h_i: the lowest of their minima
//! inside:  gap(L) = |c·L| − Σ h_k |L_k| − |d·L|,   L ∈ e_i, e_i × d / |e_i × d|;   the widest gap wins
//! ```
//!
//! # Cost
//! Up to seven parabolas. No allocation, no iteration.
//!
//! # Numerics
//! The slope is not evaluated: at a bend it is all rounding. Where a whole piece of the segment
//! is nearest, its middle counts. An axis `e_i` × d is exactly normal to the
//! box edge and gaps are measured with all terms, so nearly parallel edges need no exception. Segments nearer than
//! 1e-5 of the size to the box take their direction from the corners around, below 1e-10 from the axes.
//!
//! # Failure
//! None for finite poses.
//!
//! # Tested by
//! `soak_capsule_and_box_agree_with_search_and_certificate`, `tests/conformance.rs`

use crate::{closest::segment_segment, relative::Frame, sharpen::sharpen};
use sim_math::{Pose, glam::DVec3};
use sim_traits::{Capsule, Cuboid, Separation};

/// Capsule and box.
#[must_use]
pub fn capsule_cuboid(a: &Capsule, b: &Cuboid, a_from_b: &Pose) -> Separation {
    let frame = Frame::from_pose(a_from_b);
    let h = b.half_extents();
    let (c, d) = (frame.point_back(DVec3::ZERO), frame.back(a.half_height() * DVec3::Z));
    let x = c + nearest(c, d, h) * d;
    let on_box = x.clamp(-h, h);
    let gap = x - on_box;
    let distance = gap.length();
    let size = h.max_element() + a.half_height();
    // From the box to the segment.
    let (distance, normal, on_box) = if distance > 1e-5 * size {
        (distance, gap / distance, on_box)
    } else if distance > 1e-10 * size {
        let short = Separation { distance, normal: gap / distance, point_a: x, point_b: on_box };
        let supports = |n: DVec3| (c - 1.0_f64.copysign(n.dot(d)) * d, h.copysign(n));
        let (sharp, _) = sharpen(supports, &short, 1e-13 * size, 1e-9 * size);
        (distance, sharp.normal, sharp.point_b)
    } else {
        way_out(c, d, h)
    };
    // `on_box` lies on the box, the segment a distance away along the normal, the capsule's surface nearer by its radius.
    let (normal, point_b) = (frame.vector(normal), frame.point(on_box));
    let distance = distance - a.radius();
    Separation { distance, normal, point_a: point_b + distance * normal, point_b }
}

/// Where a segment is nearest to a box.
fn nearest(c: DVec3, d: DVec3, h: DVec3) -> f64 {
    // Between these places the nearest part of the box is one face, edge or corner.
    let mut places = [-1.0; 8];
    let mut len = 1;
    for i in 0..3 {
        for side in [-h[i], h[i]] {
            let t = (side - c[i]) / d[i];
            if t > -1.0 && t < 1.0 {
                places[len] = t;
                len += 1;
            }
        }
    }
    places[len] = 1.0;
    let places = &mut places[..=len];
    places.sort_unstable_by(f64::total_cmp);
    let mut best = (0.0, f64::INFINITY);
    for pair in places.windows(2) {
        let middle = c + 0.5 * (pair[0] + pair[1]) * d;
        // (slope, bend) of the parabola: only coordinates outside the box count.
        let (mut slope, mut bend) = (0.0, 0.0);
        for i in 0..3 {
            if middle[i].abs() > h[i] {
                slope += d[i] * (c[i] - h[i].copysign(middle[i]));
                bend += d[i] * d[i];
            }
        }
        let t = if bend > 0.0 {
            // A parabola that is lowest within its piece is lowest of all.
            let lowest = -slope / bend;
            if lowest >= pair[0] && lowest <= pair[1] {
                return lowest;
            }
            lowest.clamp(pair[0], pair[1])
        } else {
            // Level: its middle.
            0.5 * (pair[0] + pair[1])
        };
        let x = c + t * d;
        let squared = (x - x.clamp(-h, h)).length_squared();
        if squared < best.1 {
            best = (t, squared);
        }
    }
    best.0
}

/// Least way out of a box for a segment that passes through it: minus the depth, the direction, and the point of the
/// box's surface there.
fn way_out(c: DVec3, d: DVec3, h: DVec3) -> (f64, DVec3, DVec3) {
    let gap_along = |l: DVec3| l.dot(c).abs() - h.dot(l.abs()) - l.dot(d).abs();
    let mut best = (f64::NEG_INFINITY, DVec3::Z, None);
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        let gap = gap_along(axis);
        if gap > best.0 {
            best = (gap, axis, None);
        }
    }
    let tie = 1e-12 * (h.max_element() + d.length());
    for (i, axis) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
        let Some(l) = axis.cross(d).try_normalize() else { continue };
        let gap = gap_along(l);
        if gap > best.0 + tie {
            best = (gap, l, Some(i));
        }
    }
    let (gap, axis, edge) = best;
    let normal = if axis.dot(c) < 0.0 { -axis } else { axis };
    // The part of the box that reaches farthest along the normal: a face, or an edge.
    let corner =
        h * DVec3::new(1.0_f64.copysign(normal.x), 1.0_f64.copysign(normal.y), 1.0_f64.copysign(normal.z));
    let on_box = match edge {
        Some(i) => {
            let (mut p, mut q) = (corner, corner);
            (p[i], q[i]) = (-h[i], h[i]);
            let flat = |x: DVec3| x - normal.dot(x) * normal;
            let (on_edge, _) = segment_segment(flat(p), flat(q), flat(c - d), flat(c + d));
            on_edge + normal.dot(corner) * normal
        }
        None => {
            // The deepest point of the segment above the face.
            let (mut low, mut high) = (-1.0, 1.0);
            for k in (0..3).filter(|k| normal[*k] == 0.0 && d[*k] != 0.0) {
                let (s, t) = ((-h[k] - c[k]) / d[k], (h[k] - c[k]) / d[k]);
                (low, high) = (s.min(t).max(low), s.max(t).min(high));
            }
            let slope = normal.dot(d);
            let t = if slope > 0.0 {
                low
            } else if slope < 0.0 {
                high
            } else {
                0.5 * (low + high)
            };
            // A segment that only just touches may miss the face by rounding.
            let x = c + t.clamp(-1.0, 1.0) * d;
            (x + (normal.dot(corner) - normal.dot(x)) * normal).clamp(-h, h)
        }
    };
    (gap, normal, on_box)
}
