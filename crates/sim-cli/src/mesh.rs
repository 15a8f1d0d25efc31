//! Shapes as triangles, shared by the model and the picture.

use scene::recording::ShapeInfo;
use sim_math::glam::DVec3;
use sim_math::ops;
use std::f64::consts::{PI, TAU};

/// Triangles with a normal at each corner, in the frame of the shape; anticlockwise from outside.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mesh {
    pub(crate) positions: Vec<DVec3>,
    pub(crate) normals: Vec<DVec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Both sides are to be seen.
    pub(crate) two_sided: bool,
}

impl Mesh {
    /// Of a shape with `sides` sides where it is round; half-spaces become a square with half side `ground`.
    pub(crate) fn of(shape: &ShapeInfo, sides: u32, ground: f64) -> Self {
        match shape {
            ShapeInfo::Sphere { radius } => {
                let rings = sides / 2;
                Self::lathe(
                    sides,
                    (0..=rings).map(|i| {
                        let (s, c) = ops::sin_cos(PI * f64::from(i) / f64::from(rings));
                        Ring { radius: radius * s, z: -radius * c, out: s, up: -c }
                    }),
                )
            }
            ShapeInfo::Capsule { radius, half_height } => {
                let rings = (sides / 2) | 1;
                Self::lathe(
                    sides,
                    (0..=rings).map(|i| {
                        // The middle is doubled: one ring at each end of the straight part.
                        let (s, c) = ops::sin_cos(
                            PI * f64::from(if 2 * i > rings { i - 1 } else { i }) / f64::from(rings - 1),
                        );
                        let end = if 2 * i > rings { *half_height } else { -half_height };
                        Ring { radius: radius * s, z: end - radius * c, out: s, up: -c }
                    }),
                )
            }
            ShapeInfo::Cylinder { radius, half_height } => {
                Self::frustum(*radius, *radius, *half_height, sides)
            }
            ShapeInfo::Frustum { bottom, top, half_height } => {
                Self::frustum(*bottom, *top, *half_height, sides)
            }
            ShapeInfo::Cuboid { half_extents } => Self::cuboid(*half_extents),
            ShapeInfo::HalfSpace { normal } => Self::square(*normal, ground),
            ShapeInfo::Mesh { vertices, faces } => Self::faces(vertices, faces),
        }
    }

    /// Surface of revolution around z, from the lowest ring to the highest.
    fn lathe(sides: u32, rings: impl Iterator<Item = Ring>) -> Self {
        let mut mesh = Self::default();
        for (i, ring) in rings.enumerate() {
            let first = mesh.positions.len() as u32;
            for k in 0..=sides {
                let (s, c) = ops::sin_cos(TAU * f64::from(k) / f64::from(sides));
                mesh.positions.push(DVec3::new(ring.radius * c, ring.radius * s, ring.z));
                mesh.normals.push(DVec3::new(ring.out * c, ring.out * s, ring.up).normalize_or(DVec3::Z));
            }
            for k in (0..sides).filter(|_| i > 0) {
                let (a, b) = (first + k, first + k - sides - 1);
                mesh.triangles.extend([[b, b + 1, a + 1], [b, a + 1, a]]);
            }
        }
        mesh.without_slivers()
    }

    fn frustum(bottom: f64, top: f64, h: f64, sides: u32) -> Self {
        let (out, up) = (2.0 * h, bottom - top);
        let flat = |radius, z: f64| Ring { radius, z, out: 0.0, up: z.signum() };
        let slope = |radius, z| Ring { radius, z, out, up };
        let rings =
            [flat(0.0, -h), flat(bottom, -h), slope(bottom, -h), slope(top, h), flat(top, h), flat(0.0, h)];
        Self::lathe(sides, rings.into_iter())
    }

    fn cuboid(h: DVec3) -> Self {
        let mut mesh = Self::default();
        for (u, v, n) in
            [(DVec3::X, DVec3::Y, DVec3::Z), (DVec3::Y, DVec3::Z, DVec3::X), (DVec3::Z, DVec3::X, DVec3::Y)]
        {
            for side in [1.0, -1.0] {
                mesh.quad(
                    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
                        .map(|[a, b]| (u * a * side + v * b + n * side) * h),
                    n * side,
                );
            }
        }
        mesh
    }

    fn square(normal: DVec3, half: f64) -> Self {
        let (u, v) = normal.any_orthonormal_pair();
        let mut mesh = Self::default();
        mesh.quad(
            [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[a, b]| (u * a + v * b) * half),
            normal,
        );
        mesh
    }

    fn quad(&mut self, corners: [DVec3; 4], normal: DVec3) {
        let first = self.positions.len() as u32;
        self.positions.extend(corners);
        self.normals.extend([normal; 4]);
        let up = (corners[1] - corners[0]).cross(corners[2] - corners[0]).dot(normal) > 0.0;
        let flip = |t: [u32; 3]| if up { t } else { [t[0], t[2], t[1]] };
        self.triangles.extend([flip([first, first + 1, first + 2]), flip([first, first + 2, first + 3])]);
    }

    /// Flat faces; corners where neighbours nearly agree are shaded smooth.
    fn faces(vertices: &[DVec3], faces: &[Vec<u32>]) -> Self {
        let at = |i: u32| vertices.get(i as usize).copied().unwrap_or_default();
        let normal = |face: &[u32]| {
            // Newell's sum: twice the area along the normal, for any polygon.
            let next = face.iter().cycle().skip(1);
            face.iter().zip(next).fold(DVec3::ZERO, |n, (&a, &b)| n + at(a).cross(at(b)))
        };
        let mut smooth = vec![DVec3::ZERO; vertices.len()];
        for face in faces {
            let area = normal(face);
            face.iter().for_each(|&i| smooth[i as usize] += area);
        }
        let mut mesh = Self { two_sided: true, ..Self::default() };
        for face in faces {
            let flat = normal(face).normalize_or(DVec3::Z);
            let first = mesh.positions.len() as u32;
            for &i in face {
                let round = smooth[i as usize].normalize_or(flat);
                mesh.positions.push(at(i));
                mesh.normals.push(if round.dot(flat) > 0.966 { round } else { flat });
            }
            mesh.triangles.extend((1..face.len() as u32 - 1).map(|k| [first, first + k, first + k + 1]));
        }
        mesh.without_slivers()
    }

    /// Without triangles that have no area, as at the poles.
    fn without_slivers(mut self) -> Self {
        let at = |i: u32| self.positions[i as usize];
        let area = |t: &[u32; 3]| (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])).length();
        let largest = self.triangles.iter().map(area).fold(0.0, f64::max);
        let kept = self.triangles.iter().filter(|t| area(t) > 1e-9 * largest).copied().collect();
        self.triangles = kept;
        self
    }
}

/// A circle of a surface of revolution, with its normal in the plane of the axis.
struct Ring {
    radius: f64,
    z: f64,
    out: f64,
    up: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<(ShapeInfo, f64)> {
        let cube = ShapeInfo::Mesh {
            vertices: (0..8)
                .map(|i| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)))
                .collect(),
            faces: vec![
                vec![0, 2, 3, 1],
                vec![4, 5, 7, 6],
                vec![0, 1, 5, 4],
                vec![2, 6, 7, 3],
                vec![0, 4, 6, 2],
                vec![1, 3, 7, 5],
            ],
        };
        vec![
            (ShapeInfo::Sphere { radius: 0.5 }, 4.0 / 3.0 * PI * 0.125),
            (ShapeInfo::Cuboid { half_extents: DVec3::new(0.5, 1.0, 1.5) }, 6.0),
            (ShapeInfo::Capsule { radius: 0.5, half_height: 1.0 }, PI * 0.25 * 2.0 + 4.0 / 3.0 * PI * 0.125),
            (ShapeInfo::Cylinder { radius: 0.5, half_height: 1.0 }, PI * 0.25 * 2.0),
            (ShapeInfo::Frustum { bottom: 1.0, top: 0.0, half_height: 1.5 }, PI),
            (ShapeInfo::Frustum { bottom: 0.5, top: 1.0, half_height: 1.5 }, PI * 1.75),
            (cube, 1.0),
        ]
    }

    #[test]
    fn triangles_enclose_the_volume_of_the_shape_and_face_outwards() {
        for (shape, volume) in shapes() {
            let mesh = Mesh::of(&shape, 256, 1.0);
            let at = |i: u32| mesh.positions[i as usize];
            let six: f64 = mesh.triangles.iter().map(|t| at(t[0]).dot(at(t[1]).cross(at(t[2])))).sum();
            assert!((six / 6.0 / volume - 1.0).abs() < 1e-3, "{shape:?}: {} of {volume}", six / 6.0);
            for t in &mesh.triangles {
                let flat = (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0]));
                for &corner in t {
                    let normal = mesh.normals[corner as usize];
                    assert!((normal.length() - 1.0).abs() < 1e-9);
                    assert!(flat.dot(normal) > 0.0, "{shape:?}: a normal points inwards");
                }
            }
        }
    }

    #[test]
    fn a_half_space_is_a_square_with_its_normal() {
        let mesh = Mesh::of(&ShapeInfo::HalfSpace { normal: DVec3::Y }, 8, 3.0);
        assert!(mesh.positions.iter().all(|p| p.y.abs() < 1e-12 && p.length() < 4.3));
        assert_eq!(mesh.triangles.len(), 2);
    }
}
