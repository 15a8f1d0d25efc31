//! Proof that a direction is that of the distance or of the least depth, with the points that span it.
//!
//! # Reference
//! Own. A closed surface of triangles with corners in the convex set A − B that surrounds the origin at a distance of at least r
//! shows that a ball of radius r fits in: no way out is shorter. EPA finds such a surface by search; here the direction tells
//! where its corners must be, and [`Shell`] goes on where that does not do.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `u` | unit direction out of A − B |
//! | `h` | how far A − B reaches along u |
//! | `center` | h u, a point of A − B if there are witnesses that span h |
//! | ring | support points of A − B along directions tilted from u by one angle |
//! | `bottom` | support point along −u |
//!
//! # Formula
//! ```text
//! apart: |a − b| = −h proves the distance         overlap: h bounds the depth from above
//! h − ε ≤ offset of every triangle of  center → ring → bottom  proves it from below
//! ```
//!
//! # Cost
//! One support point of A − B apart, seven more on a flat part; in overlap eight to 14, and twelve triangles.
//!
//! # Numerics
//! ε is 1e-10 of the size. The ring is so small that the triangles at the center lose less than ε where A − B is curved: along a tilt
//! of θ they lose h θ² / 8, and more if the ring is askew to the principal directions. On a flat part the ring has its corners.
//! A triangle that is next to nothing wide needs no offset, as its neighbour has one.
//!
//! # Failure
//! `None`: not the least depth, or too deep.
//!
//! # Tested by
//! `soak_following_finds_what_searching_finds`, `a_wrong_direction_has_no_proof`

use super::{
    core::{Cores, Difference},
    shell::Shell,
};
use sim_math::glam::{DVec2, DVec3};
use sim_traits::Separation;

/// Corners of a ring, as multiples of 60 degrees.
const RING: [DVec2; 6] = {
    const S: f64 = 0.866_025_403_784_438_6;
    [
        DVec2::new(1.0, 0.0),
        DVec2::new(0.5, S),
        DVec2::new(-0.5, S),
        DVec2::new(-1.0, 0.0),
        DVec2::new(-0.5, -S),
        DVec2::new(0.5, -S),
    ]
};
/// Most corners of a ring with those that are looked for one by one.
const CORNERS: usize = 12;
/// Tilt that finds the corners of a flat part and leaves a curved one where it is.
const TINY: f64 = 1e-10;
/// Depth that may be missed, of the size.
pub(super) const SLACK: f64 = 1e-10;
/// How far the points may fail to span the distance, of the size.
const ASIDE: f64 = 1e-13;
/// Area of a flat part, of the square of the size, from which on it is not just a line.
const WIDE: f64 = 1e-5;

/// The separation along `u` if it can be proven; `None` if A − B reaches farther than `most` along it. Where A − B is straight, or
/// curved most or least, along a vector, `along` tells it: rings cut off least where they follow that.
pub(super) fn proven(cores: &Cores<'_>, u: DVec3, along: Option<DVec3>, most: f64) -> Option<Separation> {
    let size = cores.size();
    let top = cores.support(u);
    let h = u.dot(top.w);
    if h.is_nan() || h > most {
        return None;
    }
    let x = match along.and_then(|e| (e - u.dot(e) * u).try_normalize()) {
        Some(x) => x,
        None => u.any_orthonormal_vector(),
    };
    let around = Around { cores, u, x, y: u.cross(x) };
    let near = ASIDE * (size + h.abs());
    let mut flat = None;
    let (point_a, point_b) = if (top.w - h * u).length_squared() <= near * near {
        (top.a, top.b)
    } else {
        let mut ring = around.ring(TINY);
        let span = around.spanning(&mut ring, &top, h * u, 10.0 * near)?;
        flat = Some(ring);
        span
    };
    // Moved by −h along the normal, A would touch.
    let (middle, half) = (0.5 * (point_a + point_b), 0.5 * h * u);
    let found = Separation { distance: -h, normal: -u, point_a: middle + half, point_b: middle - half };
    if h <= SLACK * size {
        return Some(found);
    }
    let bottom = cores.support(-u).w;
    let floor = h - SLACK * size;
    let tilt = (SLACK * size / h).sqrt().min(0.3);
    let ring = match flat {
        Some(ring) if surround(ring.corners(), h * u, bottom, floor, size) => return Some(found),
        Some(ring) if around.area(&ring) > WIDE * size * size => ring,
        // Curved across: the corners of a ring without width are at different heights from those of a wider one.
        _ => {
            let ring = around.ring(tilt);
            if surround(ring.corners(), h * u, bottom, floor, size) {
                return Some(found);
            }
            ring
        }
    };
    let mut points = [bottom; CORNERS + 2 + 3 * RING.len()];
    points[1] = h * u;
    let mut len = 2;
    let mut note = |ring: &Ring| {
        for (slot, corner) in points[len..].iter_mut().zip(ring.corners()) {
            *slot = corner.w;
            len += 1;
        }
    };
    // Wide ones first: what comes later has fewer faces to remove.
    let factor = (0.5 * size / h).max(4.0);
    for wider in [tilt * factor * factor * factor, tilt * factor * factor, tilt * factor] {
        if wider < 1.5 {
            note(&around.ring(wider));
        }
    }
    note(&ring);
    let mut shell = Shell::new(&points[..len], size)?;
    shell.encloses(|d| cores.support(d).w, floor).then_some(found)
}

/// Some corners of A − B in the order in which they lie around a direction.
struct Ring {
    corners: [Difference; CORNERS],
    len: usize,
}

impl Ring {
    fn corners(&self) -> &[Difference] {
        &self.corners[..self.len]
    }

    fn insert(&mut self, at: usize, corner: Difference) -> bool {
        if self.len == CORNERS {
            return false;
        }
        self.corners.copy_within(at..self.len, at + 1);
        self.corners[at] = corner;
        self.len += 1;
        true
    }
}

/// A − B and a direction, with a basis across it.
struct Around<'a> {
    cores: &'a Cores<'a>,
    u: DVec3,
    x: DVec3,
    y: DVec3,
}

impl Around<'_> {
    fn toward(&self, tilt: f64, c: DVec2) -> Difference {
        self.cores.support(self.u + tilt * (c.x * self.x + c.y * self.y))
    }

    fn ring(&self, tilt: f64) -> Ring {
        let mut ring = Ring { corners: [Difference::ZERO; CORNERS], len: 6 };
        for (corner, c) in ring.corners.iter_mut().zip(RING) {
            *corner = self.toward(tilt, c);
        }
        ring
    }

    /// A point's place across the direction.
    fn flat(&self, w: DVec3) -> DVec2 {
        DVec2::new(self.x.dot(w), self.y.dot(w))
    }

    fn area(&self, ring: &Ring) -> f64 {
        let corners = ring.corners();
        let first = self.flat(corners[0].w);
        let twice: f64 = corners
            .windows(2)
            .map(|pair| (self.flat(pair[0].w) - first).perp_dot(self.flat(pair[1].w) - first))
            .sum();
        0.5 * twice
    }

    /// Points of A and B that span `goal`, mixed from corners of a flat part of A − B. Corners that are missing between it
    /// and the ring are added to the ring.
    fn spanning(&self, ring: &mut Ring, top: &Difference, goal: DVec3, near: f64) -> Option<(DVec3, DVec3)> {
        while let Some(k) = self.beyond(ring, near) {
            let [p, q] = [k, if k + 1 == ring.len { 0 } else { k + 1 }].map(|i| self.flat(ring.corners[i].w));
            // Out of the ring across this side; two equal corners have none.
            let out = DVec2::new(q.y - p.y, p.x - q.x).try_normalize()?;
            let corner = self.toward(TINY, out);
            if out.dot(self.flat(corner.w) - p) <= near || !ring.insert(k + 1, corner) {
                break;
            }
        }
        self.mixed(ring, top, goal, near)
    }

    /// The side of the ring that has the middle most outside, by more than `near`.
    fn beyond(&self, ring: &Ring, near: f64) -> Option<usize> {
        let mut worst = (None, near);
        for k in 0..ring.len {
            let [p, q] = [k, if k + 1 == ring.len { 0 } else { k + 1 }].map(|i| self.flat(ring.corners[i].w));
            let outside = -p.perp_dot(q) / (q - p).length();
            if outside > worst.1 {
                worst = (Some(k), outside);
            }
        }
        worst.0
    }

    fn mixed(&self, ring: &Ring, top: &Difference, goal: DVec3, near: f64) -> Option<(DVec3, DVec3)> {
        let corners = ring.corners();
        let p = self.flat(top.w);
        // The mix that is nearest so far: its square, and what it is made of.
        let mut best = (f64::INFINITY, [0, 0], [1.0, 0.0, 0.0]);
        for k in 0..corners.len() {
            let j = if k + 1 == corners.len() { 0 } else { k + 1 };
            let (q, r) = (self.flat(corners[k].w), self.flat(corners[j].w));
            let parts = [q.perp_dot(r), r.perp_dot(p), p.perp_dot(q)];
            let area = parts[0] + parts[1] + parts[2];
            if parts.iter().all(|part| *part >= 0.0) && area > 0.0 {
                best = (0.0, [k, j], parts.map(|part| part / area));
                break;
            }
            // On a line the middle may lie beside every triangle by rounding.
            for (i, from) in [(0, p), (1, r)] {
                let along = q - from;
                let squared = along.length_squared();
                if squared == 0.0 {
                    continue;
                }
                let t = (-from.dot(along) / squared).clamp(0.0, 1.0);
                let here = (from + t * along).length_squared();
                if here < best.0 {
                    let weights = if i == 0 { [1.0 - t, t, 0.0] } else { [0.0, t, 1.0 - t] };
                    best = (here, [k, j], weights);
                }
            }
        }
        let (_, [k, j], [s, t, v]) = best;
        let mix = |f: fn(&Difference) -> DVec3| s * f(top) + t * f(&corners[k]) + v * f(&corners[j]);
        let (a, b) = (mix(|d| d.a), mix(|d| d.b));
        ((mix(|d| d.w) - goal).length_squared() <= near * near).then_some((a, b))
    }
}

/// True if the surface over center, ring and bottom surrounds the origin at a distance of at least `floor`.
fn surround(ring: &[Difference], center: DVec3, bottom: DVec3, floor: f64, size: f64) -> bool {
    let sliver = 1e-12 * size;
    // Slivers alone are no surface.
    let mut solid = false;
    let mut outside = |p: DVec3, q: DVec3, r: DVec3| {
        let (e, f) = (q - p, r - p);
        let n = e.cross(f);
        let squared = n.length_squared();
        let longest = e.length_squared().max(f.length_squared());
        if squared <= sliver * sliver * longest {
            return true;
        }
        solid = true;
        let volume = n.dot(p);
        volume > 0.0 && volume * volume >= floor * floor * squared
    };
    let all = (0..ring.len()).all(|k| {
        let (p, q) = (ring[k].w, ring[if k + 1 == ring.len() { 0 } else { k + 1 }].w);
        outside(p, bottom, q) && outside(center, p, q)
    });
    all && solid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gjk::Core, relative::Frame};
    use sim_math::Pose;
    use sim_traits::{Cuboid, Cylinder, Shape};

    #[test]
    fn a_wrong_direction_has_no_proof() {
        let cube: Shape = Cuboid::new(DVec3::ONE).unwrap().into();
        let tin: Shape = Cylinder::new(1.0, 1.0).unwrap().into();
        for other in [&cube, &tin] {
            let frame = Frame::from_pose(&Pose::from_translation(DVec3::new(0.1, 0.2, 1.9)));
            let cores = Cores::new(Core::of(&cube).unwrap(), Core::of(other).unwrap(), frame);
            let along = |u: DVec3| proven(&cores, u.normalize(), None, f64::INFINITY);
            let found = along(DVec3::Z).unwrap();
            assert!((found.distance + 0.1).abs() < 1e-15 && found.normal == DVec3::NEG_Z, "{found:?}");
            // Stationary, too: sides, corners and edges of the difference.
            for wrong in
                [DVec3::X, DVec3::Y, DVec3::NEG_X, DVec3::NEG_Z, DVec3::ONE, DVec3::new(0.0, 1.0, 1.0)]
            {
                assert!(along(wrong).is_none(), "{wrong}");
            }
        }
        // Straight through each other the corners lie along the diagonal, which is the farthest way out.
        let core = Core::of(&cube).unwrap();
        let cores = Cores::new(core, core, Frame::from_pose(&Pose::IDENTITY));
        assert!(proven(&cores, DVec3::ONE.normalize(), None, f64::INFINITY).is_none());
    }
}
