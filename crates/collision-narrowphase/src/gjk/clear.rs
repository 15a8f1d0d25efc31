//! Closest point of a simplex to the origin where no two of its faces compete: nearly always.
//!
//! # Reference
//! Ericson 2005 §5.1.5 and §5.1.6 for the regions; the certificate is that of [`simplex`](super::simplex).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `v` | candidate, on the face that the regions name |
//! | s | a corner of that face, p one that is not |
//!
//! # Formula
//! ```text
//! v is closest ⇔ its weights are positive and v·(p − s) ≥ 0;   clear: weights and sines above 1e-6
//! ```
//!
//! # Cost
//! One triangle, or two of a tetrahedron, instead of all faces, edges and corners with an angle to each corner.
//!
//! # Numerics
//! The regions only guess. A guess counts where weights and angles are far above rounding, the triangle is no sliver and the origin
//! not on it: then no other face is as near, and v has the digits that its corners have. Everything else is left to the careful search.
//!
//! # Failure
//! [`Clear::No`] where something is close.
//!
//! # Tested by
//! `what_is_clear_is_what_the_careful_search_finds`

use sim_math::glam::DVec3;

/// Least weight, sine of an angle, and share of a tetrahedron that is no rounding.
const MARGIN: f64 = 1e-6;
/// Least distance of the origin, of that of the farthest corner.
const SHORT: f64 = 1e-9;
/// Least square of twice the area of a triangle, of the fourth power of its longest side.
const SLIVER: f64 = 1e-3;

/// What is clear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Clear {
    /// The closest point, with its weights.
    Point(DVec3, [f64; 4]),
    /// A tetrahedron holds the origin.
    Inside,
    /// Nothing.
    No,
}

/// Closest point to the origin of the hull of up to four points.
#[inline]
pub(super) fn clear(points: &[DVec3]) -> Clear {
    match *points {
        [p] => Clear::Point(p, [1.0, 0.0, 0.0, 0.0]),
        [a, b] => match on_edge(a, b) {
            Some((v, [p, q])) => accepted(points, v, [p, q, 0.0, 0.0]),
            None => Clear::No,
        },
        [a, b, c] => match on_triangle(a, b, c) {
            Some((v, [p, q, r])) => accepted(points, v, [p, q, r, 0.0]),
            None => Clear::No,
        },
        [a, b, c, d] => tetrahedron(points, [a, b, c, d]),
        _ => Clear::No,
    }
}

/// The candidate, if no corner comes near to contradict it.
#[inline]
fn accepted(points: &[DVec3], v: DVec3, weights: [f64; 4]) -> Clear {
    let squared = v.length_squared();
    // Any corner of the face will do where angles are clear.
    let Some(s) = points.iter().zip(weights).find(|(_, w)| *w > 0.0).map(|(p, _)| *p) else {
        return Clear::No;
    };
    // On which side of the face the origin lies must not be rounding either.
    let reach = points.iter().fold(0.0_f64, |most, p| most.max(p.length_squared()));
    if squared <= SHORT * SHORT * reach {
        return Clear::No;
    }
    let fine = points.iter().zip(weights).all(|(p, w)| {
        let side = *p - s;
        let along = v.dot(side);
        if w == 0.0 {
            along > 0.0 && along * along > MARGIN * MARGIN * squared * side.length_squared()
        } else {
            w > MARGIN
        }
    });
    if fine { Clear::Point(v, weights) } else { Clear::No }
}

#[inline]
fn on_edge(p: DVec3, q: DVec3) -> Option<(DVec3, [f64; 2])> {
    let d = q - p;
    let (along, squared) = (-d.dot(p), d.length_squared());
    if along <= 0.0 {
        return Some((p, [1.0, 0.0]));
    }
    if along >= squared {
        return Some((q, [0.0, 1.0]));
    }
    let t = along / squared;
    let v = if t <= 0.5 { p + t * d } else { q - (1.0 - t) * d };
    Some((v - (d.dot(v) / squared) * d, [1.0 - t, t]))
}

/// Closest point of a triangle by regions; `None` for a sliver.
#[inline]
fn on_triangle(a: DVec3, b: DVec3, c: DVec3) -> Option<(DVec3, [f64; 3])> {
    let (ab, ac, bc) = (b - a, c - a, c - b);
    // How far the origin's foot lies along each side, from both ends.
    let (ab_a, ac_a) = (-ab.dot(a), -ac.dot(a));
    if ab_a <= 0.0 && ac_a <= 0.0 {
        return Some((a, [1.0, 0.0, 0.0]));
    }
    let (ab_b, bc_b) = (ab.dot(b), -bc.dot(b));
    if ab_b <= 0.0 && bc_b <= 0.0 {
        return Some((b, [0.0, 1.0, 0.0]));
    }
    let (ac_c, bc_c) = (ac.dot(c), bc.dot(c));
    if ac_c <= 0.0 && bc_c <= 0.0 {
        return Some((c, [0.0, 0.0, 1.0]));
    }
    let n = ab.cross(ac);
    let squared = n.length_squared();
    let longest = ab.length_squared().max(ac.length_squared()).max(bc.length_squared());
    // Areas that the foot cuts off.
    let (w, u, v) = (n.dot(a.cross(b)), n.dot(b.cross(c)), n.dot(c.cross(a)));
    if w <= 0.0 && ab_a > 0.0 && ab_b > 0.0 {
        return on_edge(a, b).map(|(x, [p, q])| (x, [p, q, 0.0]));
    }
    if u <= 0.0 && bc_b > 0.0 && bc_c > 0.0 {
        return on_edge(b, c).map(|(x, [p, q])| (x, [0.0, p, q]));
    }
    if v <= 0.0 && ac_a > 0.0 && ac_c > 0.0 {
        return on_edge(a, c).map(|(x, [p, q])| (x, [p, 0.0, q]));
    }
    if squared <= SLIVER * longest * longest {
        return None;
    }
    let inverse = 1.0 / squared;
    let x = n * (n.dot(a) * inverse);
    // From the corner: products of the corners lose digits where the triangle is far.
    let from = x - a;
    let (t, s) = (n.dot(ab.cross(from)) * inverse, n.dot(from.cross(ac)) * inverse);
    Some((x, [1.0 - s - t, s, t]))
}

/// The faces at the last corner, which the search has just added; the origin lies beyond the first three from the start.
#[inline]
fn tetrahedron(points: &[DVec3], [a, b, c, d]: [DVec3; 4]) -> Clear {
    let (da, db, dc) = (a - d, b - d, c - d);
    let normals = [da.cross(db), db.cross(dc), dc.cross(da)];
    // Six times the volume of the whole, and of the parts between the origin and each face at d.
    let volume = normals[0].dot(dc);
    let parts = normals.map(|n| -n.dot(d));
    let sense = 1.0_f64.copysign(volume);
    if parts.iter().all(|part| part * sense > 0.0) {
        let size = da.length_squared().max(db.length_squared()).max(dc.length_squared());
        let rest = volume - parts[0] - parts[1] - parts[2];
        let least = parts.into_iter().fold(rest * sense, |least, part| least.min(part * sense));
        let solid = volume * volume > 1e-6 * size * size * size && least > MARGIN * volume.abs();
        return if solid { Clear::Inside } else { Clear::No };
    }
    let faces = [(0, 1, a, b), (1, 2, b, c), (2, 0, c, a)];
    for (part, (i, j, p, q)) in parts.into_iter().zip(faces) {
        if part * sense >= 0.0 {
            continue;
        }
        let Some((v, [w, x, y])) = on_triangle(d, p, q) else { continue };
        let mut weights = [0.0, 0.0, 0.0, w];
        (weights[i], weights[j]) = (x, y);
        let found = accepted(points, v, weights);
        if found != Clear::No {
            return found;
        }
    }
    Clear::No
}
