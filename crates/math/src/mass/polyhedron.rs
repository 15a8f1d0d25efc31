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
//! | `a`, `b`, `w` | n_α/n_γ, n_β/n_γ, w/n_γ | plane of the face: γ = -(a α + b β + w) |
//!
//! # Formula
//! ```text
//! ∫ ∂f/∂x dV = Σ_faces n_x ∫ f dF          divergence theorem, one primitive f per integral
//! n_γ ∫ f(α, β, γ) dF = ∫ f(α, β, -(aα + bβ + w)) dΠ    projection along γ
//! ∫ ∂g/∂α dΠ = Σ_edges Δβ ∫ g dλ           Green's theorem, polynomials in the end points
//! ```
//! The factor 1/n_γ of each face integral cancels against the n of the divergence theorem, so that only the
//! slopes a and b are left: no normal is made unit, no sign is taken.
//!
//! # Cost
//! O(corners), two passes over the data, no allocation. About 33 ns per triangle (bench `math/mass`).
//!
//! # Numerics
//! Coordinates are taken relative to the middle of the bounding box, so a body far from the origin keeps
//! its digits. |a|, |b| ≤ 1 by the choice of γ. Sums over faces are compensated: the error does not grow
//! with the number of faces. T1 is the mean of its three expressions (along x, y and z), which are equal
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
use glam::{DVec3, Vec3Swizzles};

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
                for &[i, j, k] in triangles {
                    let p = [i, j, k].map(|v| vertices[v as usize] - origin);
                    let normal = (p[1] - p[0]).cross(p[2] - p[0]);
                    add_face(normal, p[0], 3, |corner| p[corner], &mut sums);
                }
            }
            Faces::Polygons { counts, corners } => {
                let mut rest = corners;
                for &count in counts {
                    let (face, tail) = rest.split_at(count as usize);
                    rest = tail;
                    let at = |corner: usize| vertices[face[corner] as usize] - origin;
                    let mean = (0..face.len()).fold(DVec3::ZERO, |s, c| s + at(c)) / face.len() as f64;
                    add_face(doubled_area(vertices, face), mean, face.len(), at, &mut sums);
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
        crate::MathError::check_finite(
            "volume integral",
            &[v, f.x, f.y, f.z, s.x, s.y, s.z, p.x, p.y, p.z],
        )?;
        if v.abs() <= self.noise {
            return Err(MassError::NoVolume { volume: v, noise: self.noise });
        }
        if v < 0.0 {
            return Err(MassError::InsideOut { volume: v });
        }
        Ok(())
    }
}

/// Twelve running sums in the order (α, β, γ) of: T1 by each axis, first moments, squares, products
/// (αβ, βγ, γα); with the rounding errors kept aside.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    sum: [f64; 12],
    lost: [f64; 12],
    magnitude: f64,
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, terms: [f64; 12]) {
        for (i, &x) in terms.iter().enumerate() {
            // Knuth's two-sum: `lost` gets exactly what the addition rounds off.
            let old = self.sum[i];
            let new = old + x;
            let part = new - old;
            self.lost[i] += (old - (new - part)) + (x - part);
            self.sum[i] = new;
        }
        self.magnitude += terms[0].abs() + terms[1].abs() + terms[2].abs();
    }

    fn total(&self) -> [f64; 12] {
        std::array::from_fn(|i| self.sum[i] + self.lost[i])
    }
}

/// Integrals over the shadow of a face.
#[derive(Debug, Clone, Copy, Default)]
struct Projection {
    one: f64,
    a: f64,
    b: f64,
    aa: f64,
    ab: f64,
    bb: f64,
    aaa: f64,
    aab: f64,
    abb: f64,
    bbb: f64,
}

impl Projection {
    /// Adds the edge from (a0, b0) to (a1, b1), equations 6.14 without their constants.
    #[inline(always)]
    fn add_edge(&mut self, a0: f64, b0: f64, a1: f64, b1: f64) {
        let (da, db) = (a1 - a0, b1 - b0);
        let (a0_2, b0_2, a1_2, b1_2) = (a0 * a0, b0 * b0, a1 * a1, b1 * b1);
        let (a0_3, b0_3, a1_3, b1_3) = (a0_2 * a0, b0_2 * b0, a1_2 * a1, b1_2 * b1);
        let ca = a1 * (a1 + a0) + a0_2;
        let caa = a1 * ca + a0_3;
        let cb = b1 * (b1 + b0) + b0_2;
        let cbb = b1 * cb + b0_3;
        let cab = 3.0 * a1_2 + 2.0 * (a1 * a0) + a0_2;
        let kab = a1_2 + 2.0 * (a1 * a0) + 3.0 * a0_2;
        let cabb = 4.0 * b1_3 + b0 * (3.0 * b1_2 + 2.0 * (b1 * b0) + b0_2);
        let kabb = b1 * (b1_2 + 2.0 * (b1 * b0) + 3.0 * b0_2) + 4.0 * b0_3;
        self.one += db * (a1 + a0);
        self.a += db * ca;
        self.aa += db * caa;
        self.aaa += db * (a1 * caa + a0_2 * a0_2);
        self.b += da * cb;
        self.bb += da * cbb;
        self.bbb += da * (b1 * cbb + b0_2 * b0_2);
        self.ab += db * (b1 * cab + b0 * kab);
        self.aab += db * (b1 * (a0 * cab + 4.0 * a1_3) + b0 * (a1 * kab + 4.0 * a0_3));
        self.abb += da * (a1 * cabb + a0 * kabb);
    }

    #[inline(always)]
    fn finish(&mut self) {
        self.one *= 1.0 / 2.0;
        self.a *= 1.0 / 6.0;
        self.b *= -1.0 / 6.0;
        self.aa *= 1.0 / 12.0;
        self.bb *= -1.0 / 12.0;
        self.ab *= 1.0 / 24.0;
        self.aaa *= 1.0 / 20.0;
        self.bbb *= -1.0 / 20.0;
        self.aab *= 1.0 / 60.0;
        self.abb *= -1.0 / 60.0;
    }

    /// Contributions of the face in the plane γ = -(a α + b β + w), in the order of [`Sums`].
    #[inline(always)]
    fn terms(&self, a: f64, b: f64, w: f64) -> [f64; 12] {
        let (aa, ab, bb) = (a * a, a * b, b * b);
        let linear = a * self.a + b * self.b;
        let square = aa * self.aa + 2.0 * ab * self.ab + bb * self.bb;
        let cube = a * (aa * self.aaa + 3.0 * ab * self.aab) + b * (3.0 * ab * self.abb + bb * self.bbb);
        let w_one = w * self.one;
        [
            a * self.a,
            b * self.b,
            -(linear + w_one),
            a * self.aa,
            b * self.bb,
            square + w * (2.0 * linear + w_one),
            a * self.aaa,
            b * self.bbb,
            -(cube + w * (3.0 * square + w * (3.0 * linear + w_one))),
            a * self.aab,
            -b * (a * self.abb + b * self.bbb + w * self.bb),
            aa * self.aaa
                + 2.0 * ab * self.aab
                + bb * self.abb
                + w * (2.0 * (a * self.aa + b * self.ab) + w * self.a),
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
        projection.add_edge(from.x, from.y, to.x, to.y);
        from = to;
    }
    projection.finish();
    sums[gamma].add(projection.terms(a, b, w));
}
