//! Smooth bodies: a mesh inside the surface is tracked, and its closest features start a root finder on the surface.
//!
//! # Reference
//! Mirtich 1996 §2.2.2 describes the idea; the equation solved is ours.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `n` | unit normal from B to A, in A's frame |
//! | `w(n)` | A's support along −n minus B's along n: between the points that face each other along n |
//! | `g(n)` | n·w(n), the gap along n; the distance is its greatest value |
//! | `D` | sum of the derivatives of both support points with their directions |
//!
//! # Formula
//! ```text
//! w − g n = 0,   by Newton in the plane at right angles to n:   (D + g 1) δ = w − g n,   n ← (n + δ) / |n + δ|
//! ```
//!
//! # Cost
//! A V-Clip query, one state when coherent, and some three Newton steps whatever the number of facets.
//!
//! # Numerics
//! g is concave along rays of directions, so apart there is one root, and a step that is halved until g grows finds it.
//! The error of the distance is the square of that of n. The facets only have to be fine enough for a good start.
//!
//! # Failure
//! Where D + g 1 is not positive (deep overlap) GJK and EPA answer, and so they do if the meshes overlap.
//!
//! # Tested by
//! `tests/curved.rs`

use crate::{
    Polyhedron, PolyhedronError,
    gjk::gjk,
    relative::Frame,
    shapes::Ellipsoid,
    vclip::{intersects, vclip},
};
use sim_math::{
    Pose,
    glam::{DMat2, DMat3, DVec2, DVec3},
};
use sim_traits::{NarrowPhaseError, PairCache, Separation, Shape, SupportMap};
use std::sync::Arc;

const MAX_STEPS: u32 = 40;

/// A convex body whose surface is smooth and nowhere flat: each direction has one support point, which moves smoothly.
pub trait SmoothSupport: SupportMap {
    /// Derivative of the support point with a unit direction, metres: symmetric, zero along the direction; its other
    /// eigenvalues are the radii of curvature.
    fn support_rate(&self, direction: DVec3) -> DMat3;
}

impl SmoothSupport for Ellipsoid {
    fn support_rate(&self, direction: DVec3) -> DMat3 {
        let q = self.radii() * self.radii();
        let h = direction.dot(q * direction).sqrt();
        let s = q * direction / h;
        (DMat3::from_diagonal(q) - DMat3::from_cols(s * s.x, s * s.y, s * s.z)) * (1.0 / h)
    }
}

/// A smooth body with a mesh inside it.
#[derive(Debug, Clone)]
pub struct Curved {
    surface: Arc<dyn SmoothSupport>,
    shape: Shape,
    mesh: Polyhedron,
}

impl Curved {
    /// With a mesh of 20·4^`levels` facets or so, whose corners lie on the surface.
    ///
    /// # Errors
    /// [`PolyhedronError`] for too many levels, and for a body so thin that its mesh is flat.
    pub fn new<S: SmoothSupport + 'static>(surface: S, levels: u32) -> Result<Self, PolyhedronError> {
        let ball = Polyhedron::icosphere(1.0, levels)?;
        let points: Vec<DVec3> = ball.vertices().iter().map(|v| surface.support(v.position)).collect();
        let mesh = Polyhedron::hull(&points)?;
        let surface = Arc::new(surface);
        Ok(Self { shape: Shape::Convex(surface.clone()), surface, mesh })
    }

    /// The body as a shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The mesh inside.
    #[must_use]
    pub fn mesh(&self) -> &Polyhedron {
        &self.mesh
    }
}

/// Distance of two smooth bodies, with the effort.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvedDistance {
    /// Of the true surfaces, in A's frame.
    pub separation: Separation,
    /// States of the walk over the meshes.
    pub iterations: u32,
    /// Steps of the root finder; `None` if GJK and EPA answered.
    pub steps: Option<u32>,
}

/// Signed distance of two smooth bodies. The cache remembers the features of the meshes.
///
/// # Errors
/// As [`vclip`] and [`gjk`].
pub fn curved_distance(
    a: &Curved,
    b: &Curved,
    a_from_b: &Pose,
    cache: &mut PairCache,
) -> Result<CurvedDistance, NarrowPhaseError> {
    if !intersects(&a.mesh, &b.mesh, a_from_b, cache)? {
        let start = vclip(&a.mesh, &b.mesh, a_from_b, cache)?;
        let bodies = Bodies { a: &*a.surface, b: &*b.surface, a_from_b: Frame::from_pose(a_from_b) };
        if let Some((separation, steps)) = bodies.root(start.separation.normal) {
            cache.axis = separation.normal;
            return Ok(CurvedDistance { separation, iterations: start.iterations, steps: Some(steps) });
        }
    }
    let separation = gjk(&a.shape, &b.shape, a_from_b, cache)?;
    Ok(CurvedDistance { separation, iterations: 0, steps: None })
}

struct Bodies<'a> {
    a: &'a dyn SmoothSupport,
    b: &'a dyn SmoothSupport,
    a_from_b: Frame,
}

/// A direction with what lies along it.
#[derive(Clone, Copy)]
struct Along {
    n: DVec3,
    point_a: DVec3,
    gap: f64,
    /// Part of w at right angles to n.
    aside: DVec3,
}

impl Bodies<'_> {
    fn along(&self, n: DVec3) -> Along {
        let point_a = self.a.support(-n);
        let w = point_a - self.a_from_b.point(self.b.support(self.a_from_b.back(n)));
        let gap = n.dot(w);
        Along { n, point_a, gap, aside: w - gap * n }
    }

    /// Newton's step in the plane at right angles to n; `None` where the gap along n has no maximum nearby.
    fn step(&self, at: &Along) -> Option<DVec3> {
        let (e, f) = at.n.any_orthonormal_pair();
        let rate_a = self.a.support_rate(-at.n);
        let rate_b = self.b.support_rate(self.a_from_b.back(at.n));
        let column = |u: DVec3| {
            let moved = rate_a * u + self.a_from_b.vector(rate_b * self.a_from_b.back(u)) + at.gap * u;
            DVec2::new(e.dot(moved), f.dot(moved))
        };
        let m = DMat2::from_cols(column(e), column(f));
        let determinant = m.determinant();
        if !(determinant > 0.0 && m.x_axis.x > 0.0) {
            return None;
        }
        let delta = m.inverse() * DVec2::new(e.dot(at.aside), f.dot(at.aside));
        Some(delta.x * e + delta.y * f)
    }

    fn root(&self, start: DVec3) -> Option<(Separation, u32)> {
        let scale = self.a.bounding_radius() + self.b.bounding_radius() + self.a_from_b.translation.length();
        let mut at = self.along(start);
        let mut steps = 0;
        while at.aside.length() > 1e-14 * scale && steps < MAX_STEPS {
            let mut step = self.step(&at)?;
            steps += 1;
            let mut better = None;
            for _ in 0..30 {
                let next = self.along((at.n + step).normalize());
                // Near the root the gap no longer tells, and the part aside still does.
                if next.gap > at.gap || next.aside.length_squared() < at.aside.length_squared() {
                    better = Some(next);
                    break;
                }
                step *= 0.5;
            }
            match better {
                Some(next) => at = next,
                None => break,
            }
        }
        // What is left aside is rounding, or this was no root.
        if at.aside.length() > 1e-12 * scale {
            return None;
        }
        self.step(&at)?;
        let Along { n: normal, point_a, gap: distance, .. } = at;
        Some((Separation { distance, normal, point_a, point_b: point_a - distance * normal }, steps))
    }
}
