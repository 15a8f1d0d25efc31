//! The ten volume integrals of a closed polyhedron: 1, x, y, z, their squares and their products.
//!
//! # Reference
//! Mirtich, *Impulse-based Dynamic Simulation of Rigid Body Systems* (1996), chapter 6, equations 6.3 to
//! 6.14; also *Journal of Graphics Tools* 1(2), 1996.
//!
//! # Symbols
//! | code | chapter 6 | meaning |
//! |---|---|---|
//! | `volume`, `first`, `squares`, `products` | T1; Tx, Ty, Tz; Txx ..; Txy, Tyz, Tzx | integrals over the body |
//! | α, β, γ | α, β, γ | x, y, z in cyclic order, such that the normal is longest along γ |
//! | `Projection` | π | integrals over the shadow of a face on the α-β plane |
//! | `a`, `b`, `w` | `n_α/n_γ`, `n_β/n_γ`, `w/n_γ` | plane of the face: γ = -(a α + b β + w) |
//!
//! # Formula
//! ```text
//! ∫ ∂f/∂x dV = Σ_faces n_x ∫ f dF          divergence theorem, one primitive f per integral
//! n_γ ∫ f(α, β, γ) dF = ∫ f(α, β, -(aα + bβ + w)) dΠ    projection along γ
//! ∫ ∂g/∂α dΠ = Σ_edges Δβ ∫ g dλ           Green's theorem, polynomials in the end points
//! ```
//! The factor `1/n_γ` of each face integral cancels against the n of the divergence theorem, so that only the
//! slopes a and b are left: no normal is made unit, no sign is taken.
//!
//! # Cost
//! O(corners), two passes over the data, no allocation. About 45 ns per triangle (bench `math/mass`).
//!
//! # Numerics
//! Coordinates are taken relative to the middle of the bounding box, so a body far from the origin keeps
//! its digits. |a|, |b| ≤ 1 by the choice of γ. Sums over faces are compensated by blocks of 64: the error
//! does not grow with the number of faces. T1 is the mean of its three expressions (along x, y and z), which are equal
//! for a closed surface.
//!
//! # Failure
//! None here: the surface was checked. [`VolumeIntegrals::check_volume`] refuses bodies that are inside out
//! or flat. A face without area adds nothing.
//!
//! # Tested by
//! `mass/tests.rs`: `cube_and_tetrahedron_of_table_6_1`, `icospheres_of_table_6_2`,
//! `affine_images_transform_as_they_must`, `far_bodies_keep_their_digits`

use super::mesh::doubled_area;
use super::{ClosedSurface, Faces, MassError};
use glam::{DVec2, DVec3, Vec2Swizzles, Vec3Swizzles};

/// Volume integrals of a body in the axes of its vertices, about the point `origin`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VolumeIntegrals {
    /// The point from which coordinates are measured, metres.
    pub origin: DVec3,
    /// ∫ dV, m³; negative if the surface is inside out.
    pub volume: f64,
    /// ∫ x, ∫ y, ∫ z, m⁴.
    pub first: DVec3,
    /// ∫ x², ∫ y², ∫ z², m⁵.
    pub squares: DVec3,
    /// ∫ xy, ∫ yz, ∫ zx, m⁵.
    pub products: DVec3,
    /// A volume of this size cannot be told from zero, m³.
    pub noise: f64,
}

impl VolumeIntegrals {
    /// The ten integrals of a checked surface, about the middle of its box.
    #[must_use]
    pub fn of(surface: &ClosedSurface<'_>) -> Self {
        let vertices = surface.vertices();
        let origin = surface.bounds().center();
        let mut sums = [Sums::default(); 3];
        match surface.faces() {
            Faces::Triangles(triangles) => {
                for block in triangles.chunks(BLOCK) {
                    for &[i, j, k] in block {
                        let p = [i, j, k].map(|v| vertices[v as usize] - origin);
                        let normal = (p[1] - p[0]).cross(p[2] - p[0]);
                        add_face(normal, p[0], 3, |corner| p[corner], &mut sums);
                    }
                    sums.iter_mut().for_each(Sums::close_block);
                }
            }
            Faces::Polygons { counts, corners } => {
                let mut rest = corners;
                for block in counts.chunks(BLOCK) {
                    for &count in block {
                        let (face, tail) = rest.split_at(count as usize);
                        rest = tail;
                        let at = |corner: usize| vertices[face[corner] as usize] - origin;
                        let mean = (0..face.len()).fold(DVec3::ZERO, |s, c| s + at(c)) / face.len() as f64;
                        add_face(doubled_area(vertices, face), mean, face.len(), at, &mut sums);
                    }
                    sums.iter_mut().for_each(Sums::close_block);
                }
            }
        }
        Self::from_sums(origin, &sums)
    }

    /// Undoes the cyclic renaming of the axes and divides by the constants of the primitives.
    fn from_sums(origin: DVec3, sums: &[Sums; 3]) -> Self {
        let [along_x, along_y, along_z] = [sums[0].total(), sums[1].total(), sums[2].total()];
        // With γ = x the order is (y, z, x); with γ = y it is (z, x, y).
        let group = |g: usize| {
            let pick = |t: &[f64; 12]| DVec3::new(t[3 * g], t[3 * g + 1], t[3 * g + 2]);
            pick(&along_z) + pick(&along_x).zxy() + pick(&along_y).yzx()
        };
        let volumes = group(0);
        let magnitude = sums.iter().map(|s| s.magnitude).sum::<f64>();
        Self {
            origin,
            volume: (volumes.x + volumes.y + volumes.z) / 3.0,
            first: group(1) / 2.0,
            squares: group(2) / 3.0,
            products: group(3) / 2.0,
            noise: 16.0 * f64::EPSILON * magnitude,
        }
    }

    /// The same integrals with coordinates measured from another point.
    #[must_use]
    pub fn about(&self, origin: DVec3) -> Self {
        let d = self.origin - origin;
        let f = self.first;
        Self {
            origin,
            volume: self.volume,
            first: f + d * self.volume,
            squares: self.squares + 2.0 * d * f + d * d * self.volume,
            products: self.products + d * f.yzx() + d.yzx() * f + d * d.yzx() * self.volume,
            noise: self.noise,
        }
    }

    /// `Ok` if the body has a volume that rounding cannot explain.
    ///
    /// # Errors
    /// [`MassError::NoVolume`], [`MassError::InsideOut`], or a non-finite integral (coordinates beyond 1e60).
    pub fn check_volume(&self) -> Result<(), MassError> {
        let (v, f, s, p) = (self.volume, self.first, self.squares, self.products);
        crate::MathError::check_finite("volume integral", &[v, f.x, f.y, f.z, s.x, s.y, s.z, p.x, p.y, p.z])?;
        if v.abs() <= self.noise {
            return Err(MassError::NoVolume { volume: v, noise: self.noise });
        }
        if v < 0.0 {
            return Err(MassError::InsideOut { volume: v });
        }
        Ok(())
    }
}

/// Faces whose contributions are added plainly before the sum goes into the compensated total.
const BLOCK: usize = 64;

/// Twelve running sums in the order (α, β, γ) of: T1 by each axis, first moments, squares, products
/// (αβ, βγ, γα); with the rounding errors kept aside.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    block: [f64; 12],
    sum: [f64; 12],
    lost: [f64; 12],
    magnitude: f64,
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, terms: [f64; 12]) {
        for (sum, term) in self.block.iter_mut().zip(terms) {
            *sum += term;
        }
        self.magnitude += terms[0].abs() + terms[1].abs() + terms[2].abs();
    }

    fn close_block(&mut self) {
        for i in 0..12 {
            // Knuth's two-sum: `lost` gets exactly what the addition rounds off.
            let (old, x) = (self.sum[i], self.block[i]);
            let new = old + x;
            let part = new - old;
            self.lost[i] += (old - (new - part)) + (x - part);
            self.sum[i] = new;
        }
        self.block = [0.0; 12];
    }

    fn total(&self) -> [f64; 12] {
        std::array::from_fn(|i| self.sum[i] + self.lost[i])
    }
}

/// Integrals over the shadow of a face. What is symmetric in α and β is one pair, so that both halves go
/// through one vector instruction.
#[derive(Debug, Clone, Copy, Default)]
struct Projection {
    one: f64,
    /// ∫ α, ∫ β
    first: DVec2,
    /// ∫ α², ∫ β²
    square: DVec2,
    /// ∫ α³, ∫ β³
    cube: DVec2,
    /// ∫ αβ
    ab: f64,
    /// ∫ α²β, ∫ αβ²
    mixed: DVec2,
}

impl Projection {
    /// Adds the edge from p to q, equations 6.14 without their constants.
    #[inline(always)]
    fn add_edge(&mut self, p: DVec2, q: DVec2) {
        let d = (q - p).yx();
        let (pp, pq, qq) = (p * p, p * q, q * q);
        let (ppp, qqq) = (pp * p, qq * q);
        let c1 = qq + pq + pp;
        let c2 = q * c1 + ppp;
        let c3 = q * c2 + pp * pp;
        let c = 3.0 * qq + 2.0 * pq + pp;
        let k = qq + 2.0 * pq + 3.0 * pp;
        self.one += d.x * (q.x + p.x);
        self.first += d * c1;
        self.square += d * c2;
        self.cube += d * c3;
        self.ab += d.x * (q.y * c.x + p.y * k.x);
        self.mixed += d * (q.yx() * (p * c + 4.0 * qqq) + p.yx() * (q * k + 4.0 * ppp));
    }

    #[inline(always)]
    fn finish(&mut self) {
        const SIGN: DVec2 = DVec2::new(1.0, -1.0);
        self.one *= 1.0 / 2.0;
        self.first *= SIGN * (1.0 / 6.0);
        self.square *= SIGN * (1.0 / 12.0);
        self.ab *= 1.0 / 24.0;
        self.cube *= SIGN * (1.0 / 20.0);
        self.mixed *= SIGN * (1.0 / 60.0);
    }

    /// Contributions of the face in the plane γ = -(a α + b β + w), in the order of [`Sums`].
    #[inline(always)]
    fn terms(&self, a: f64, b: f64, w: f64) -> [f64; 12] {
        let slope = DVec2::new(a, b);
        let (aa, ab, bb) = (a * a, a * b, b * b);
        let (first, square, cube) = (slope * self.first, slope * self.square, slope * self.cube);
        let linear = first.x + first.y;
        let quadratic = a * square.x + 2.0 * ab * self.ab + b * square.y;
        let cubic = aa * cube.x + 3.0 * ab * slope.dot(self.mixed) + bb * cube.y;
        let w_one = w * self.one;
        [
            first.x,
            first.y,
            -(linear + w_one),
            square.x,
            square.y,
            quadratic + w * (2.0 * linear + w_one),
            cube.x,
            cube.y,
            -(cubic + w * (3.0 * quadratic + w * (3.0 * linear + w_one))),
            a * self.mixed.x,
            -b * (a * self.mixed.y + cube.y + w * self.square.y),
            a * cube.x
                + 2.0 * ab * self.mixed.x
                + bb * self.mixed.y
                + w * (2.0 * (square.x + b * self.ab) + w * self.first.x),
        ]
    }
}

/// Adds a face with `count` corners and the (not unit) normal `normal` through the point `on_plane`.
#[inline(always)]
fn add_face(normal: DVec3, on_plane: DVec3, count: usize, at: impl Fn(usize) -> DVec3, sums: &mut [Sums; 3]) {
    let size = normal.abs();
    let gamma = if size.x > size.y && size.x > size.z {
        0
    } else if size.y > size.z {
        1
    } else {
        2
    };
    let renamed = |v: DVec3| match gamma {
        0 => v.yzx(),
        1 => v.zxy(),
        _ => v,
    };
    let n = renamed(normal);
    if n.z == 0.0 {
        return;
    }
    let inverse = 1.0 / n.z;
    let (a, b, w) = (n.x * inverse, n.y * inverse, -normal.dot(on_plane) * inverse);
    let mut projection = Projection::default();
    let mut from = renamed(at(count - 1));
    for corner in 0..count {
        let to = renamed(at(corner));
        projection.add_edge(from.xy(), to.xy());
        from = to;
    }
    projection.finish();
    sums[gamma].add(projection.terms(a, b, w));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_blocks_lose_nothing() {
        let mut sums = Sums::default();
        for x in [1e16, 1.0, 1.0, -1e16] {
            sums.add([x; 12]);
            sums.close_block();
        }
        assert_eq!(sums.total(), [2.0; 12]);
    }
}
