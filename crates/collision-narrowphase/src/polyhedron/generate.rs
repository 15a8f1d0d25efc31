//! Ready-made polyhedra.

use super::Polyhedron;
use crate::PolyhedronError;
use sim_math::{glam::DVec3, ops};
use std::f64::consts::{PI, TAU};

fn positive(what: &'static str, value: f64) -> Result<f64, PolyhedronError> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(PolyhedronError::BadLength { what, value }) }
}

fn count(what: &'static str, n: usize, least: usize) -> Result<usize, PolyhedronError> {
    const LIMIT: usize = 1 << 24;
    if n < least {
        Err(PolyhedronError::TooFew { what, got: n })
    } else if n > LIMIT {
        Err(PolyhedronError::TooMany { what, got: n, limit: LIMIT })
    } else {
        Ok(n)
    }
}

fn ring(n: usize, radius: f64, z: f64) -> impl Iterator<Item = DVec3> {
    (0..n).map(move |k| {
        let (s, c) = ops::sin_cos(TAU * k as f64 / n as f64);
        DVec3::new(radius * c, radius * s, z)
    })
}

impl Polyhedron {
    /// Box around the origin with the given half extents, metres.
    ///
    /// Corner k has the sign of bit i of k on axis i; faces are −x, +x, −y, +y, −z, +z.
    ///
    /// # Errors
    /// An extent that is not positive and finite, or too small or large to compute with.
    pub fn cuboid(half_extents: DVec3) -> Result<Self, PolyhedronError> {
        for extent in half_extents.to_array() {
            positive("half extent", extent)?;
        }
        let corner = |k: u32| {
            let sign = |bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            half_extents * DVec3::new(sign(0), sign(1), sign(2))
        };
        let points: Vec<DVec3> = (0..8).map(corner).collect();
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Self::from_faces(&points, &faces)
    }

    /// Regular tetrahedron with corners on the sphere of the given radius, metres.
    ///
    /// # Errors
    /// A radius that is not positive and finite.
    pub fn tetrahedron(radius: f64) -> Result<Self, PolyhedronError> {
        let r = positive("radius", radius)? / 3.0_f64.sqrt();
        let points = [(1.0, 1.0, 1.0), (1.0, -1.0, -1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0)];
        Self::hull(&points.map(|(x, y, z)| r * DVec3::new(x, y, z)))
    }

    /// Regular dodecahedron (20 corners, 12 pentagons) with corners on the sphere of the given radius, metres.
    ///
    /// # Errors
    /// A radius that is not positive and finite.
    pub fn dodecahedron(radius: f64) -> Result<Self, PolyhedronError> {
        let r = positive("radius", radius)? / 3.0_f64.sqrt();
        let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
        let mut points = Vec::with_capacity(20);
        for k in 0..8 {
            let sign = |bit: u32| if k >> bit & 1 == 1 { r } else { -r };
            points.push(DVec3::new(sign(0), sign(1), sign(2)));
        }
        for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let (p, q) = (a * r / golden, b * r * golden);
            points.extend([DVec3::new(0.0, p, q), DVec3::new(p, q, 0.0), DVec3::new(q, 0.0, p)]);
        }
        Self::hull(&points)
    }

    /// Ball of triangles: an icosahedron whose faces are cut into four, `subdivisions` times (at most 7).
    ///
    /// # Errors
    /// A radius that is not positive and finite; more than 7 subdivisions.
    pub fn icosphere(radius: f64, subdivisions: u32) -> Result<Self, PolyhedronError> {
        let radius = positive("radius", radius)?;
        if subdivisions > 7 {
            let got = subdivisions as usize;
            return Err(PolyhedronError::TooMany { what: "subdivisions", got, limit: 7 });
        }
        let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
        let mut points = Vec::with_capacity(12);
        for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let (p, q) = (a, b * golden);
            points.extend([DVec3::new(0.0, p, q), DVec3::new(p, q, 0.0), DVec3::new(q, 0.0, p)]);
        }
        for p in &mut points {
            *p = p.normalize() * radius;
        }
        let mut ball = Self::hull(&points)?;
        for _ in 0..subdivisions {
            let (mut points, _) = ball.to_faces();
            let middles = ball.edges.iter().map(|e| {
                let [t, h] = e.ends.map(|v| ball.position(v));
                (t + h).normalize() * radius
            });
            points.extend(middles);
            ball = Self::hull(&points)?;
        }
        Ok(ball)
    }

    /// Cone around z with `segments` sides: base at −`half_height`, apex at +`half_height`.
    ///
    /// # Errors
    /// Fewer than three segments; lengths that are not positive and finite.
    pub fn cone(radius: f64, half_height: f64, segments: usize) -> Result<Self, PolyhedronError> {
        let (radius, half) = (positive("radius", radius)?, positive("half height", half_height)?);
        let mut points: Vec<DVec3> = ring(count("segments", segments, 3)?, radius, -half).collect();
        points.push(DVec3::new(0.0, 0.0, half));
        Self::hull(&points)
    }

    /// Pyramid: a cone with a square base of the given half side, its sides parallel to the axes.
    ///
    /// # Errors
    /// Lengths that are not positive and finite.
    pub fn pyramid(half_side: f64, half_height: f64) -> Result<Self, PolyhedronError> {
        let (s, h) = (positive("half side", half_side)?, positive("half height", half_height)?);
        let base = [(s, s), (-s, s), (-s, -s), (s, -s)].map(|(x, y)| DVec3::new(x, y, -h));
        Self::hull(&[base[0], base[1], base[2], base[3], DVec3::new(0.0, 0.0, h)])
    }

    /// Tube (prism) around z with `segments` sides from −`half_height` to +`half_height`.
    ///
    /// # Errors
    /// Fewer than three segments; lengths that are not positive and finite.
    pub fn tube(radius: f64, half_height: f64, segments: usize) -> Result<Self, PolyhedronError> {
        let (radius, half) = (positive("radius", radius)?, positive("half height", half_height)?);
        let n = count("segments", segments, 3)?;
        let points: Vec<DVec3> = ring(n, radius, -half).chain(ring(n, radius, half)).collect();
        Self::hull(&points)
    }

    /// Hull of `n` random points of the unit sphere; a function of `n` and `seed` alone.
    ///
    /// # Errors
    /// Fewer than four points; for very few points also the (unlikely) flat case.
    pub fn random(n: usize, seed: u64) -> Result<Self, PolyhedronError> {
        let mut state = seed;
        // splitmix64, as in the workload definitions.
        let mut unit = move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
        };
        let mut points = Vec::with_capacity(count("points", n, 4)?);
        while points.len() < n {
            let p = 2.0 * DVec3::new(unit(), unit(), unit()) - DVec3::ONE;
            if (1e-4..=1.0).contains(&p.length_squared()) {
                points.push(p.normalize());
            }
        }
        Self::hull(&points)
    }

    /// Hull of the Fibonacci lattice of `n` points on the sphere of the given radius, metres.
    ///
    /// # Errors
    /// Fewer than four points; a radius that is not positive and finite.
    pub fn fibonacci(radius: f64, n: usize) -> Result<Self, PolyhedronError> {
        let radius = positive("radius", radius)?;
        let n = count("points", n, 4)?;
        let turn = PI * (3.0 - 5.0_f64.sqrt());
        let point = |k: usize| {
            let z = 1.0 - (2.0 * k as f64 + 1.0) / n as f64;
            let r = (1.0 - z * z).sqrt();
            let (s, c) = ops::sin_cos(turn * k as f64);
            radius * DVec3::new(r * c, r * s, z)
        };
        let points: Vec<DVec3> = (0..n).map(point).collect();
        Self::hull(&points)
    }
}

/// A torus around z as a ring of convex wedges: `segments` pieces whose cross-section has `sides` corners.
///
/// # Errors
/// Fewer than three segments or sides; lengths that are not positive; `minor` not below `major`.
pub fn torus(
    major: f64,
    minor: f64,
    segments: usize,
    sides: usize,
) -> Result<Vec<Polyhedron>, PolyhedronError> {
    let (major, minor) = (positive("major radius", major)?, positive("minor radius", minor)?);
    positive("major minus minor radius", major - minor)?;
    let (segments, sides) = (count("segments", segments, 3)?, count("sides", sides, 3)?);
    let section = |k: usize| {
        let (s, c) = ops::sin_cos(TAU * k as f64 / segments as f64);
        ring(sides, minor, 0.0)
            .map(move |p| DVec3::new((major + p.x) * c, (major + p.x) * s, p.y))
            .collect::<Vec<_>>()
    };
    (0..segments).map(|k| Polyhedron::hull(&[section(k), section((k + 1) % segments)].concat())).collect()
}
