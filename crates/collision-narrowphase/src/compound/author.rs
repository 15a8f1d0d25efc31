//! Making compounds from simple parts: turned profiles, extruded outlines, and some everyday things.
//!
//! # Reference
//! Hertel and Mehlhorn 1983: triangles of an outline are joined again while the result stays convex, which leaves at most
//! four times the least number of pieces. Triangles by cutting ears.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | profile | (radius, height) pairs, each neighbouring two a frustum-shaped shell or disk |
//! | outline | simple polygon in x and y, counter-clockwise |
//!
//! # Formula
//! ```text
//! ear at k: left turn, no other corner in the triangle (k−1, k, k+1).   join across a diagonal: left turns at both ends
//! ```
//!
//! # Cost
//! O(n²) for ears, O(n) pieces.
//!
//! # Numerics
//! Turns are decided in double precision with a tolerance of 1e-12 of the square of the size.
//!
//! # Failure
//! [`OutlineError`] for outlines that cross themselves or run the wrong way, [`PolyhedronError`] for bad lengths.
//!
//! # Tested by
//! `tests/compound.rs`: `glyphs_keep_their_area_and_their_holes`, `everyday_things_have_the_right_volume`

use super::{Compound, CompoundError};
use crate::{Polyhedron, PolyhedronError};
use sim_math::{
    Pose,
    glam::{DVec2, DVec3},
    ops,
};
use sim_traits::{Cuboid, Shape, ShapeError};
use std::f64::consts::TAU;
use thiserror::Error;

/// Why a compound could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum OutlineError {
    /// Fewer than three corners.
    #[error("an outline needs at least 3 corners, got {got}")]
    TooFew {
        /// What was given.
        got: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("corner {index} is not finite: {value}")]
    NonFinite {
        /// Index of the corner.
        index: usize,
        /// The corner as given.
        value: DVec2,
    },
    /// The outline is clockwise, flat or crosses itself.
    #[error("outline is not a simple counter-clockwise polygon: {left} corners are left without an ear")]
    NotSimple {
        /// Corners that could not be cut off.
        left: usize,
    },
    /// Two edges of the outline cross.
    #[error("edges {first} and {second} of the outline cross")]
    Crossing {
        /// Edge from corner `first` to the next.
        first: usize,
        /// The other edge.
        second: usize,
    },
    /// A length that is not positive and finite.
    #[error("{what} must be positive and finite, got {value}")]
    BadLength {
        /// Name of the parameter.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A piece is degenerate.
    #[error(transparent)]
    Polyhedron(#[from] PolyhedronError),
    /// A piece has bad lengths.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The pieces do not make a compound.
    #[error(transparent)]
    Compound(#[from] CompoundError),
}

/// Collects pieces.
///
/// ```
/// use collision_narrowphase::compound::CompoundBuilder;
///
/// let chair = CompoundBuilder::chair(0.45, 0.9, 0.04)?.build()?;
/// assert_eq!(chair.pieces().len(), 6);
/// # Ok::<(), collision_narrowphase::compound::OutlineError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CompoundBuilder {
    pieces: Vec<(Shape, Pose)>,
}

fn positive(what: &'static str, value: f64) -> Result<f64, OutlineError> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(OutlineError::BadLength { what, value }) }
}

impl CompoundBuilder {
    /// Without pieces.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a convex shape at a place.
    #[must_use]
    pub fn add(mut self, shape: impl Into<Shape>, body_from_piece: Pose) -> Self {
        self.pieces.push((shape.into(), body_from_piece));
        self
    }

    /// Adds all pieces of another, moved.
    #[must_use]
    pub fn add_all(mut self, other: Self, body_from_other: Pose) -> Self {
        self.pieces.extend(other.pieces.into_iter().map(|(s, p)| (s, body_from_other * p)));
        self
    }

    /// Adds a shell turned about z: between consecutive points (radius, height) of the inner and the outer profile, cut
    /// into `segments` wedges. Both profiles have the same number of points; an inner radius may be zero.
    ///
    /// # Errors
    /// Profiles of different length or fewer than two points, fewer than three segments, degenerate wedges.
    pub fn lathe(mut self, inner: &[DVec2], outer: &[DVec2], segments: u32) -> Result<Self, OutlineError> {
        if inner.len() != outer.len() || inner.len() < 2 {
            return Err(OutlineError::TooFew { got: inner.len().min(outer.len()) });
        }
        if segments < 3 {
            return Err(OutlineError::TooFew { got: segments as usize });
        }
        for (index, value) in inner.iter().chain(outer).enumerate() {
            if !value.is_finite() {
                return Err(OutlineError::NonFinite { index, value: *value });
            }
        }
        for k in 1..inner.len() {
            let ring = [inner[k - 1], outer[k - 1], outer[k], inner[k]];
            for s in 0..segments {
                let at = |p: DVec2, s: u32| {
                    let (sin, cos) = ops::sin_cos(TAU * f64::from(s) / f64::from(segments));
                    DVec3::new(p.x * cos, p.x * sin, p.y)
                };
                let corners: Vec<DVec3> = ring.iter().flat_map(|p| [at(*p, s), at(*p, s + 1)]).collect();
                self.pieces.push((Polyhedron::hull(&corners)?.into(), Pose::IDENTITY));
            }
        }
        Ok(self)
    }

    /// Adds an outline in x and y (counter-clockwise, may be concave) as a plate from z = 0 to `thickness`.
    ///
    /// # Errors
    /// An outline that is not a simple counter-clockwise polygon, a thickness that is not positive.
    pub fn extrude(mut self, outline: &[DVec2], thickness: f64) -> Result<Self, OutlineError> {
        let thickness = positive("thickness", thickness)?;
        for part in convex_parts(outline)? {
            let corners: Vec<DVec3> =
                part.iter().flat_map(|p| [p.extend(0.0), p.extend(thickness)]).collect();
            self.pieces.push((Polyhedron::hull(&corners)?.into(), Pose::IDENTITY));
        }
        Ok(self)
    }

    /// A bottle cap: a disk with a rim, open below. Outer radius, height and thickness of the wall, metres.
    ///
    /// # Errors
    /// Lengths that are not positive, a wall as thick as the cap.
    pub fn cap(radius: f64, height: f64, wall: f64, segments: u32) -> Result<Self, OutlineError> {
        let (r, h, w) = (positive("radius", radius)?, positive("height", height)?, positive("wall", wall)?);
        positive("radius minus wall", r - w)?;
        positive("height minus wall", h - w)?;
        let p = DVec2::new;
        Self::new().lathe(&[p(r - w, 0.0), p(r - w, h - w)], &[p(r, 0.0), p(r, h - w)], segments)?.disk(
            r,
            h - w,
            h,
            segments,
        )
    }

    /// A dish: part of a ball's shell with a flat bottom. Radius of the ball, half angle of the opening (rad), thickness.
    ///
    /// # Errors
    /// Lengths that are not positive, an angle outside 0..=π/2.
    pub fn dish(radius: f64, angle: f64, wall: f64, segments: u32) -> Result<Self, OutlineError> {
        let (r, w) = (positive("radius", radius)?, positive("wall", wall)?);
        if !(angle > 0.0 && angle <= 0.5 * std::f64::consts::PI) {
            return Err(OutlineError::BadLength { what: "angle", value: angle });
        }
        positive("radius minus wall", r - w)?;
        let rings = (segments / 4).max(2);
        let at = |r: f64, k: u32| {
            let (s, c) = ops::sin_cos(angle * f64::from(k) / f64::from(rings));
            DVec2::new(r * s, r * (1.0 - c))
        };
        let inner: Vec<DVec2> = (1..=rings).map(|k| at(r - w, k) + DVec2::new(0.0, w)).collect();
        let outer: Vec<DVec2> = (1..=rings).map(|k| at(r, k)).collect();
        // The middle is one convex lid: hull of the two first rings.
        let ring = |p: DVec2| {
            (0..segments).map(move |s| {
                let (sin, cos) = ops::sin_cos(TAU * f64::from(s) / f64::from(segments));
                DVec3::new(p.x * cos, p.x * sin, p.y)
            })
        };
        let bottom: Vec<DVec3> = ring(inner[0]).chain(ring(outer[0])).chain([DVec3::ZERO]).collect();
        let lid = Polyhedron::hull(&bottom)?;
        Self::new().add(lid, Pose::IDENTITY).lathe(&inner, &outer, segments)
    }

    /// A chair: seat, back and four legs. Width of the seat, height of the back, thickness of the legs, metres.
    ///
    /// # Errors
    /// Lengths that are not positive, legs thicker than half the seat.
    pub fn chair(width: f64, height: f64, leg: f64) -> Result<Self, OutlineError> {
        let (w, h, t) = (positive("width", width)?, positive("height", height)?, positive("leg", leg)?);
        positive("half width minus leg", 0.5 * w - t)?;
        let seat = 0.5 * h;
        let cuboid = |x: f64, y: f64, z: f64| Cuboid::new(0.5 * DVec3::new(x, y, z));
        let at = |x: f64, y: f64, z: f64| Pose::from_translation(DVec3::new(x, y, z));
        let mut chair = Self::new()
            .add(cuboid(w, w, t)?, at(0.0, 0.0, seat + 0.5 * t))
            .add(cuboid(t, w, h - seat - t)?, at(-0.5 * (w - t), 0.0, 0.5 * (h + seat + t)));
        for (x, y) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
            let off = 0.5 * (w - t);
            chair = chair.add(cuboid(t, t, seat)?, at(x * off, y * off, 0.5 * seat));
        }
        Ok(chair)
    }

    /// Adds a flat disk around z between two heights.
    fn disk(self, radius: f64, low: f64, high: f64, segments: u32) -> Result<Self, OutlineError> {
        let disk = Polyhedron::tube(radius, 0.5 * (high - low), segments as usize)?;
        Ok(self.add(disk, Pose::from_translation(DVec3::Z * 0.5 * (low + high))))
    }

    /// The compound.
    ///
    /// # Errors
    /// As [`Compound::new`].
    pub fn build(self) -> Result<Compound, OutlineError> {
        Ok(Compound::new(self.pieces)?)
    }

    /// The pieces collected so far.
    #[must_use]
    pub fn pieces(&self) -> &[(Shape, Pose)] {
        &self.pieces
    }
}

fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - b)
}

/// First two edges that cross.
fn crossings(outline: &[DVec2]) -> Result<(), OutlineError> {
    let n = outline.len();
    for first in 0..n {
        let (a, b) = (outline[first], outline[(first + 1) % n]);
        for second in first + 2..n {
            let (c, d) = (outline[second], outline[(second + 1) % n]);
            let side = |p: DVec2, q: DVec2, x: DVec2| (q - p).perp_dot(x - p);
            if side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0 {
                return Err(OutlineError::Crossing { first, second });
            }
        }
    }
    Ok(())
}

/// Convex parts of a simple polygon: triangles joined while they stay convex.
pub(crate) fn convex_parts(outline: &[DVec2]) -> Result<Vec<Vec<DVec2>>, OutlineError> {
    if outline.len() < 3 {
        return Err(OutlineError::TooFew { got: outline.len() });
    }
    if let Some(index) = outline.iter().position(|p| !p.is_finite()) {
        return Err(OutlineError::NonFinite { index, value: outline[index] });
    }
    crossings(outline)?;
    let size = outline.iter().map(|p| (*p - outline[0]).length_squared()).fold(0.0, f64::max);
    let level = 1e-12 * size;
    let mut left: Vec<usize> = (0..outline.len()).collect();
    let mut parts: Vec<Vec<usize>> = Vec::new();
    while left.len() > 3 {
        let n = left.len();
        let ear = (0..n).find(|&k| {
            let [i, j, l] = [left[(k + n - 1) % n], left[k], left[(k + 1) % n]];
            let [a, b, c] = [outline[i], outline[j], outline[l]];
            turn(a, b, c) > level
                && !left.iter().filter(|q| ![i, j, l].contains(q)).any(|q| {
                    let p = outline[*q];
                    turn(a, b, p) >= -level && turn(b, c, p) >= -level && turn(c, a, p) >= -level
                })
        });
        // A corner on a straight line is no ear but may go.
        let straight = || {
            (0..n).find(|&k| {
                let [a, b, c] = [left[(k + n - 1) % n], left[k], left[(k + 1) % n]].map(|i| outline[i]);
                turn(a, b, c).abs() <= level && (b - a).dot(c - b) > 0.0
            })
        };
        if let Some(k) = ear {
            parts.push(vec![left[(k + n - 1) % n], left[k], left[(k + 1) % n]]);
            left.remove(k);
        } else if let Some(k) = straight() {
            left.remove(k);
        } else {
            return Err(OutlineError::NotSimple { left: n });
        }
    }
    let [a, b, c] = [left[0], left[1], left[2]].map(|i| outline[i]);
    if turn(a, b, c) > level {
        parts.push(left);
    } else if parts.is_empty() {
        return Err(OutlineError::NotSimple { left: 3 });
    }
    join(outline, &mut parts, level);
    Ok(parts.into_iter().map(|p| p.into_iter().map(|i| outline[i]).collect()).collect())
}

/// Joins parts over common edges while both ends of the edge stay convex.
fn join(outline: &[DVec2], parts: &mut Vec<Vec<usize>>, level: f64) {
    let mut i = 0;
    'outer: while i < parts.len() {
        for j in 0..parts.len() {
            if i == j {
                continue;
            }
            if let Some(joined) = joined(outline, &parts[i], &parts[j], level) {
                parts[i] = joined;
                parts.remove(j);
                i = 0;
                continue 'outer;
            }
        }
        i += 1;
    }
}

fn joined(outline: &[DVec2], p: &[usize], q: &[usize], level: f64) -> Option<Vec<usize>> {
    for k in 0..p.len() {
        let (tail, head) = (p[k], p[(k + 1) % p.len()]);
        let Some(l) = (0..q.len()).find(|&l| q[l] == head && q[(l + 1) % q.len()] == tail) else {
            continue;
        };
        // Around p from head to tail, then around q from behind tail to before head.
        let mut all: Vec<usize> = (0..p.len()).map(|s| p[(k + 1 + s) % p.len()]).collect();
        all.extend((2..q.len()).map(|s| q[(l + s) % q.len()]));
        let n = all.len();
        let convex = (0..n).all(|s| {
            let [a, b, c] = [all[s], all[(s + 1) % n], all[(s + 2) % n]].map(|i| outline[i]);
            turn(a, b, c) >= -level
        });
        return convex.then_some(all);
    }
    None
}
