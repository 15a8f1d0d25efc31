//! Polyhedra against closed forms, printed tables and an independent sum over tetrahedra.

use super::*;
use crate::ops::{cos, sin};
use crate::testkit::{AnyPose, SplitMix64, Vector, check, icosphere};
use crate::{Pose, Sym3, assert_close};
use glam::{DMat3, DVec3};
use std::f64::consts::PI;

/// Corners of a box and its six quadrilaterals.
const BOX_COUNTS: [u32; 6] = [4; 6];
const BOX_CORNERS: [u32; 24] = [0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4, 2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5];

fn box_vertices(center: DVec3, half: DVec3) -> Vec<DVec3> {
    (0..8)
        .map(|i| {
            let sign = |bit: u32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
            center + half * DVec3::new(sign(0), sign(1), sign(2))
        })
        .collect()
}

const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

/// Sum over the tetrahedra between a point and the triangles: the oracle (Fontijne, section 3.5).
fn tetrahedron_sum(vertices: &[DVec3], faces: &[[u32; 3]], origin: DVec3) -> VolumeIntegrals {
    let mut sums = [[0.0_f64; 2]; 10];
    for face in faces {
        let [a, b, c] = face.map(|v| vertices[v as usize] - origin);
        let d = a.dot(b.cross(c));
        let s = a + b + c;
        let square = |x: fn(DVec3) -> f64, y: fn(DVec3) -> f64| {
            d / 120.0 * (x(a) * y(a) + x(b) * y(b) + x(c) * y(c) + x(s) * y(s))
        };
        let (x, y, z) = (|v: DVec3| v.x, |v: DVec3| v.y, |v: DVec3| v.z);
        let terms = [
            d / 6.0,
            d * s.x / 24.0,
            d * s.y / 24.0,
            d * s.z / 24.0,
            square(x, x),
            square(y, y),
            square(z, z),
            square(x, y),
            square(y, z),
            square(z, x),
        ];
        for (sum, term) in sums.iter_mut().zip(terms) {
            // Compensated, so that the oracle is no worse than what it judges.
            let t = sum[0] + term;
            sum[1] += if sum[0].abs() >= term.abs() { (sum[0] - t) + term } else { (term - t) + sum[0] };
            sum[0] = t;
        }
    }
    let t = sums.map(|s| s[0] + s[1]);
    VolumeIntegrals {
        origin,
        volume: t[0],
        first: DVec3::new(t[1], t[2], t[3]),
        squares: DVec3::new(t[4], t[5], t[6]),
        products: DVec3::new(t[7], t[8], t[9]),
        noise: 0.0,
    }
}

/// Greatest difference of any of the ten integrals, relative to the scale of its kind.
fn difference(a: &VolumeIntegrals, b: &VolumeIntegrals, size: f64) -> f64 {
    let b = b.about(a.origin);
    let volume = b.volume.abs();
    ((a.volume - b.volume).abs() / volume)
        .max((a.first - b.first).abs().max_element() / (volume * size))
        .max((a.squares - b.squares).abs().max_element() / (volume * size * size))
        .max((a.products - b.products).abs().max_element() / (volume * size * size))
}

fn integrals(vertices: &[DVec3], faces: &[[u32; 3]]) -> VolumeIntegrals {
    VolumeIntegrals::of(&ClosedSurface::from_triangles(vertices, faces).unwrap())
}

fn solid_of(vertices: &[DVec3], faces: &[[u32; 3]], amount: Amount) -> Result<MassProperties, MassError> {
    MassProperties::from_polyhedron(&ClosedSurface::from_triangles(vertices, faces)?, amount)
}

fn assert_vector(a: DVec3, b: DVec3, rel: f64) {
    let scale = b.abs().max_element();
    for axis in 0..3 {
        assert_close!(a[axis], b[axis], abs = rel * scale);
    }
}

fn assert_body(a: &MassProperties, b: &MassProperties, rel: f64, size: f64) {
    assert_close!(a.mass, b.mass, rel = rel);
    assert!((a.center_of_mass - b.center_of_mass).length() <= rel * size, "{a:?} {b:?}");
    for (x, y) in a.inertia.to_array().into_iter().zip(b.inertia.to_array()) {
        assert_close!(x, y, abs = rel * b.inertia.max_abs());
    }
}

// proves: MIR-81
#[test]
fn cube_and_tetrahedron_of_table_6_1() {
    let vertices = box_vertices(DVec3::ZERO, DVec3::splat(10.0));
    let surface = ClosedSurface::from_polygons(&vertices, &BOX_COUNTS, &BOX_CORNERS).unwrap();
    let cube = VolumeIntegrals::of(&surface).about(DVec3::ZERO);
    assert_close!(cube.volume, 8000.0, rel = 1e-15);
    assert_vector(cube.squares, DVec3::splat(800_000.0 / 3.0), 1e-15);
    assert_eq!((cube.first, cube.products), (DVec3::ZERO, DVec3::ZERO));

    let vertices =
        [DVec3::ZERO, DVec3::new(5.0, 0.0, 0.0), DVec3::new(0.0, 4.0, 0.0), DVec3::new(0.0, 0.0, 3.0)];
    let tetrahedron = integrals(&vertices, &TETRAHEDRON).about(DVec3::ZERO);
    for (got, printed) in [
        (tetrahedron.volume, 10.0),
        (tetrahedron.first.x, 12.5),
        (tetrahedron.first.y, 10.0),
        (tetrahedron.first.z, 7.5),
        (tetrahedron.squares.x, 25.0),
        (tetrahedron.squares.y, 16.0),
        (tetrahedron.squares.z, 9.0),
        (tetrahedron.products.x, 10.0),
        (tetrahedron.products.y, 6.0),
        (tetrahedron.products.z, 7.5),
    ] {
        assert_close!(got, printed, rel = 1e-15);
    }
}

// proves: MIR-81
#[test]
fn icospheres_of_table_6_2() {
    let printed = [
        (12, 20, 2.536, 0.3670),
        (42, 80, 3.659, 0.6692),
        (162, 320, 4.047, 0.7911),
        (642, 1280, 4.153, 0.8258),
        (2562, 5120, 4.180, 0.8347),
        (10242, 20480, 4.187, 0.8370),
    ];
    for (level, (n_vertices, n_faces, volume, square)) in (1..).zip(printed) {
        let (vertices, faces) = icosphere(level);
        assert_eq!((vertices.len(), faces.len()), (n_vertices, n_faces));
        let t = integrals(&vertices, &faces).about(DVec3::ZERO);
        assert!((t.volume - volume).abs() < 5e-4, "level {level}: {}", t.volume);
        assert!((t.squares.x - square).abs() < 5e-5, "level {level}: {}", t.squares.x);
        assert!(t.first.abs().max_element() < 1e-15, "level {level}: {}", t.first);
        assert!(t.products.abs().max_element() < 1e-15, "level {level}: {}", t.products);
        let oracle = tetrahedron_sum(&vertices, &faces, DVec3::ZERO);
        let error = difference(&t, &oracle, 1.0);
        assert!(error < 1e-14, "level {level}: {error:e}");
        assert_close!(t.volume, oracle.volume, rel = 1e-14);
        assert_vector(t.squares, oracle.squares, 1e-14);
    }
}

/// Ring with a square cross section: genus 1, not convex, quadrilaterals only.
fn square_ring(n: u32, inner: f64, outer: f64, half_height: f64) -> (Vec<DVec3>, Vec<u32>, Vec<u32>) {
    let mut vertices = Vec::new();
    for k in 0..n {
        let angle = 2.0 * PI * f64::from(k) / f64::from(n);
        let (c, s) = (cos(angle), sin(angle));
        for (r, z) in
            [(inner, -half_height), (outer, -half_height), (outer, half_height), (inner, half_height)]
        {
            vertices.push(DVec3::new(r * c, r * s, z));
        }
    }
    let mut corners = Vec::new();
    for k in 0..n {
        for side in 0..4 {
            let next = (side + 1) % 4;
            let (here, there) = (4 * k, 4 * ((k + 1) % n));
            corners.extend([here + side, there + side, there + next, here + next]);
        }
    }
    (vertices, vec![4; 4 * n as usize], corners)
}

/// Prism over a polygon in the x-y plane, counter-clockwise: two n-gons and n quadrilaterals.
fn prism(base: &[(f64, f64)], height: f64) -> (Vec<DVec3>, Vec<u32>, Vec<u32>) {
    let n = base.len() as u32;
    let mut vertices: Vec<DVec3> = base.iter().map(|&(x, y)| DVec3::new(x, y, 0.0)).collect();
    vertices.extend(base.iter().map(|&(x, y)| DVec3::new(x, y, height)));
    let mut counts = vec![n, n];
    let mut corners: Vec<u32> = (0..n).rev().chain(n..2 * n).collect();
    for k in 0..n {
        let next = (k + 1) % n;
        counts.push(4);
        corners.extend([k, next, n + next, n + k]);
    }
    (vertices, counts, corners)
}

// proves: FON-55
#[test]
fn box_tetrahedron_and_prism_have_their_closed_forms_wherever_they_are() {
    fn anywhere(pose: AnyPose, size: Vector) -> bool {
        let half = size.0.abs() + DVec3::splat(0.1);
        let amount = Amount::Density(2.5);
        let home = solid::cuboid(half, amount).unwrap();
        let close = |got: MassProperties, home: MassProperties| {
            let expected = home.transformed(&pose.0);
            let worst = (got.inertia - expected.inertia).max_abs();
            (got.mass - expected.mass).abs() <= 1e-12 * expected.mass
                && (got.center_of_mass - expected.center_of_mass).length() <= 1e-12 * 20.0
                && worst <= 1e-12 * expected.inertia.max_abs()
        };
        let moved: Vec<DVec3> =
            box_vertices(DVec3::ZERO, half).into_iter().map(|p| pose.0.transform_point(p)).collect();
        let surface = ClosedSurface::from_polygons(&moved, &BOX_COUNTS, &BOX_CORNERS).unwrap();
        let a_box = close(MassProperties::from_polyhedron(&surface, amount).unwrap(), home);

        // Right-angled tetrahedron with legs a, b, c: ∫ x² = V a²/10, ∫ xy = V ab/20.
        let s = 2.0 * half;
        let legs =
            [DVec3::ZERO, DVec3::new(s.x, 0.0, 0.0), DVec3::new(0.0, s.y, 0.0), DVec3::new(0.0, 0.0, s.z)];
        let volume = s.x * s.y * s.z / 6.0;
        let exact = VolumeIntegrals {
            origin: DVec3::ZERO,
            volume,
            first: s * (volume / 4.0),
            squares: s * s * (volume / 10.0),
            products: DVec3::new(s.x * s.y, s.y * s.z, s.z * s.x) * (volume / 20.0),
            noise: 0.0,
        };
        let moved = legs.map(|p| pose.0.transform_point(p));
        let tetrahedron = close(
            solid_of(&moved, &TETRAHEDRON, amount).unwrap(),
            MassProperties::from_integrals(&exact, amount).unwrap(),
        );

        // Regular hexagonal prism, centred: J/A = R²/6 (2 + cos 60°).
        let (r, h) = (half.x, half.z);
        let base: Vec<(f64, f64)> =
            (0..6).map(|k| PI / 3.0 * f64::from(k)).map(|a| (r * cos(a), r * sin(a))).collect();
        let (vertices, counts, corners) = prism(&base, 2.0 * h);
        let moved: Vec<DVec3> =
            vertices.into_iter().map(|p| pose.0.transform_point(p - DVec3::new(0.0, 0.0, h))).collect();
        let surface = ClosedSurface::from_polygons(&moved, &counts, &corners).unwrap();
        let mass = 2.5 * 1.5 * 3.0_f64.sqrt() * r * r * 2.0 * h;
        let along = mass * r * r / 6.0 * 2.5;
        let across = 0.5 * along + mass * h * h / 3.0;
        let exact = MassProperties {
            mass,
            center_of_mass: DVec3::ZERO,
            inertia: Sym3::from_diagonal(DVec3::new(across, across, along)),
        };
        a_box && tetrahedron && close(MassProperties::from_polyhedron(&surface, amount).unwrap(), exact)
    }
    check(55, 2_000, anywhere as fn(AnyPose, Vector) -> bool);
}

// proves: CLI-86
#[test]
fn bodies_of_water_have_their_closed_forms() {
    let half = DVec3::new(0.1, 0.2, 0.3);
    let vertices = box_vertices(DVec3::ZERO, half);
    let surface = ClosedSurface::from_polygons(&vertices, &BOX_COUNTS, &BOX_CORNERS).unwrap();
    let a_box = MassProperties::from_polyhedron(&surface, Amount::WATER).unwrap();
    assert_close!(a_box.mass, 48.0, rel = 1e-15);
    assert_body(&a_box, &solid::cuboid(half, Amount::WATER).unwrap(), 1e-15, 1.0);

    // A right-angled tetrahedron with legs 1 m: 1000/6 kg, about the centre ∫ x² = 3/80 m, ∫ xy = -1/80 m.
    let legs = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let t = solid_of(&legs, &TETRAHEDRON, Amount::WATER).unwrap();
    assert_close!(t.mass, 1000.0 / 6.0, rel = 1e-15);
    assert!((t.center_of_mass - DVec3::splat(0.25)).length() < 1e-16);
    assert_close!(t.inertia.xx, t.mass * 6.0 / 80.0, rel = 1e-14);
    assert_close!(t.inertia.xy, t.mass / 80.0, rel = 1e-14);

    // A limb: meshes of an ellipsoid approach it by a factor of four per level.
    let radii = DVec3::new(0.05, 0.06, 0.2);
    let exact = solid::ellipsoid(radii, Amount::WATER).unwrap();
    let errors: Vec<DVec3> = [4, 5, 6]
        .map(|level| {
            let (vertices, faces) = icosphere(level);
            let stretched: Vec<DVec3> = vertices.into_iter().map(|p| p * radii).collect();
            let mesh = solid_of(&stretched, &faces, Amount::WATER).unwrap();
            DVec3::new(
                mesh.mass / exact.mass,
                mesh.inertia.xx / exact.inertia.xx,
                mesh.inertia.zz / exact.inertia.zz,
            ) - DVec3::ONE
        })
        .to_vec();
    assert!(errors[2].abs().max_element() < 1.1e-3, "{errors:?}");
    for pair in errors.windows(2) {
        assert_vector(pair[0] / pair[1], DVec3::splat(4.0), 0.01);
    }
}

#[test]
fn affine_images_transform_as_they_must() {
    // Second moments of the image under A about the image of the origin are |det A| A S Aᵀ: exact for any
    // body, here a bumpy non-convex one whose integrals come from the tetrahedron sum.
    let (mut vertices, faces) = icosphere(3);
    let mut random = SplitMix64(7);
    for v in &mut vertices {
        *v *= random.range(0.4, 1.6);
    }
    for _ in 0..500 {
        let map = DMat3::from_cols(random.vec3(2.0), random.vec3(2.0), random.vec3(2.0));
        let shift = random.vec3(5.0);
        if map.determinant() < 0.5 {
            continue;
        }
        let image: Vec<DVec3> = vertices.iter().map(|&p| map * p + shift).collect();
        let t = integrals(&image, &faces);
        let oracle = tetrahedron_sum(&image, &faces, t.origin);
        assert!(difference(&t, &oracle, 8.0) < 1e-14);
        let home = tetrahedron_sum(&vertices, &faces, DVec3::ZERO);
        let t = t.about(shift);
        assert_close!(t.volume, map.determinant() * home.volume, rel = 1e-13);
        assert_vector(t.first, map.determinant() * (map * home.first), 1e-11);
        let second = |t: &VolumeIntegrals| {
            let (s, p) = (t.squares, t.products);
            DMat3::from_cols(DVec3::new(s.x, p.x, p.z), DVec3::new(p.x, s.y, p.y), DVec3::new(p.z, p.y, s.z))
        };
        let expected = map * second(&home) * map.transpose() * map.determinant();
        let scale = expected.to_cols_array().iter().fold(0.0_f64, |l, x| l.max(x.abs()));
        for (x, y) in second(&t).to_cols_array().into_iter().zip(expected.to_cols_array()) {
            assert_close!(x, y, abs = 1e-12 * scale);
        }
    }
}

// proves: MIR-81, FON-55
#[test]
fn mass_properties_equal_a_sum_over_tetrahedra_about_the_centre_of_mass() {
    let mut random = SplitMix64(8);
    for round in 0..200 {
        let (mut vertices, faces) = icosphere(1 + round % 4);
        // Bumpy, stretched, turned, and up to five metres away.
        let pose = Pose::new(random.vec3(5.0), random.unit_quat());
        let stretch = DVec3::new(random.range(0.5, 2.0), random.range(0.5, 2.0), random.range(0.5, 2.0));
        for v in &mut vertices {
            *v = pose.transform_point(*v * random.range(0.6, 1.4) * stretch);
        }
        let density = 3.0;
        let body = solid_of(&vertices, &faces, Amount::Density(density)).unwrap();
        // The oracle takes its centre from a first sum and its moments directly about that centre.
        let first = tetrahedron_sum(&vertices, &faces, pose.translation);
        let center = pose.translation + first.first / first.volume;
        let t = tetrahedron_sum(&vertices, &faces, center);
        let (s, p) = (t.squares * density, t.products * density);
        let inertia = Sym3::new(s.y + s.z, s.z + s.x, s.x + s.y, -p.x, -p.z, -p.y);
        assert_close!(body.mass, density * t.volume, rel = 1e-14);
        assert!((body.center_of_mass - center).length() <= 1e-14, "{} {center}", body.center_of_mass);
        let off = (body.inertia - inertia).max_abs() / inertia.max_abs();
        assert!(off <= 1e-14, "round {round}: {off:e}");
    }
}

#[test]
fn a_ring_and_an_l_need_no_convexity() {
    let (n, inner, outer, h) = (400, 0.7, 1.0, 0.1);
    let (vertices, counts, corners) = square_ring(n, inner, outer, h);
    let surface = ClosedSurface::from_polygons(&vertices, &counts, &corners).unwrap();
    let ring = MassProperties::from_polyhedron(&surface, Amount::Density(1.0)).unwrap();
    // Difference of two regular prisms.
    let step = 2.0 * PI / f64::from(n);
    let disc = |r: f64| {
        let mass = 0.5 * f64::from(n) * r * r * sin(step) * 2.0 * h;
        (mass, mass * r * r / 6.0 * (2.0 + cos(step)))
    };
    let ((big, j_big), (small, j_small)) = (disc(outer), disc(inner));
    assert_close!(ring.mass, big - small, rel = 1e-13);
    assert_close!(ring.inertia.zz, j_big - j_small, rel = 1e-13);
    let across = 0.5 * (j_big - j_small) + (big - small) * h * h / 3.0;
    assert_close!(ring.inertia.xx, across, rel = 1e-13);
    assert!(ring.center_of_mass.length() < 1e-15);

    // An L of three unit squares, 1 high, as an octahedron with two hexagons; and as two boxes.
    let (vertices, counts, corners) =
        prism(&[(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)], 1.0);
    let surface = ClosedSurface::from_polygons(&vertices, &counts, &corners).unwrap();
    let l = MassProperties::from_polyhedron(&surface, Amount::Density(3.0)).unwrap();
    let at = |half: DVec3, c: DVec3| {
        solid::cuboid(half, Amount::Density(3.0)).unwrap().transformed(&Pose::from_translation(c))
    };
    let boxes = [
        at(DVec3::new(1.0, 0.5, 0.5), DVec3::new(1.0, 0.5, 0.5)),
        at(DVec3::splat(0.5), DVec3::new(0.5, 1.5, 0.5)),
    ];
    assert_body(&l, &combine(&boxes).unwrap(), 1e-15, 1.0);
}

#[test]
fn an_inner_shell_turned_inside_out_is_a_cavity() {
    let (outer, inner) = (DVec3::splat(1.0), DVec3::splat(0.5));
    let mut vertices = box_vertices(DVec3::ZERO, outer);
    vertices.extend(box_vertices(DVec3::ZERO, inner));
    let mut corners = BOX_CORNERS.to_vec();
    corners.extend(BOX_CORNERS.iter().rev().map(|c| c + 8));
    let surface = ClosedSurface::from_polygons(&vertices, &[4; 12], &corners).unwrap();
    let hollow = MassProperties::from_polyhedron(&surface, Amount::Density(1.0)).unwrap();
    assert_close!(hollow.mass, 8.0 - 1.0, rel = 1e-15);
    assert_close!(hollow.inertia.xx, 8.0 * 2.0 / 3.0 - 0.5 / 3.0, rel = 1e-15);
}

#[test]
fn far_bodies_keep_their_digits() {
    let half = DVec3::new(0.5, 0.25, 1.0);
    let near = solid::cuboid(half, Amount::Density(1000.0)).unwrap();
    let center = DVec3::new(1e6, -2e6, 3e6);
    let vertices = box_vertices(center, half);
    let surface = ClosedSurface::from_polygons(&vertices, &BOX_COUNTS, &BOX_CORNERS).unwrap();
    let far = MassProperties::from_polyhedron(&surface, Amount::Density(1000.0)).unwrap();
    assert_body(&far, &near.transformed(&Pose::from_translation(center)), 1e-15, 1.0);
}

#[test]
fn orders_of_faces_and_vertices_do_not_matter() {
    let (vertices, faces) = icosphere(3);
    let reference = integrals(&vertices, &faces);
    let mut turned = faces.clone();
    turned.reverse();
    for (k, face) in turned.iter_mut().enumerate() {
        face.rotate_left(k % 3);
    }
    assert!(difference(&integrals(&vertices, &turned), &reference, 1.0) < 1e-15);
}

#[test]
fn inside_out_and_flat_bodies_are_refused_with_their_volume() {
    let (vertices, faces) = icosphere(2);
    let reversed: Vec<[u32; 3]> = faces.iter().map(|&[i, j, k]| [k, j, i]).collect();
    let error = solid_of(&vertices, &reversed, Amount::Density(1.0)).unwrap_err();
    let MassError::InsideOut { volume } = error else { panic!("{error}") };
    assert_close!(volume, -integrals(&vertices, &faces).volume, rel = 1e-14);

    // A sphere pressed flat, in a skew plane.
    let pose = Pose::new(DVec3::new(3.0, 1.0, 2.0), glam::DQuat::from_xyzw(0.1, 0.2, -0.3, 0.9).normalize());
    let flat: Vec<DVec3> =
        vertices.iter().map(|&p| pose.transform_point(DVec3::new(p.x, p.y, 0.0))).collect();
    let error = solid_of(&flat, &faces, Amount::Density(1.0)).unwrap_err();
    assert!(matches!(error, MassError::NoVolume { .. }), "{error}");
    // A thin plate is still a body.
    let thin: Vec<DVec3> =
        vertices.iter().map(|&p| pose.transform_point(DVec3::new(p.x, p.y, 1e-9 * p.z))).collect();
    assert!(solid_of(&thin, &faces, Amount::Density(1.0)).is_ok());
    // All vertices in one place, and coordinates whose fourth power overflows.
    let point = vec![DVec3::ONE; vertices.len()];
    assert!(matches!(solid_of(&point, &faces, Amount::Density(1.0)), Err(MassError::NoVolume { .. })));
    let huge: Vec<DVec3> = vertices.iter().map(|&p| 1e90 * p).collect();
    assert!(solid_of(&huge, &faces, Amount::Density(1.0)).is_err());
    for amount in [Amount::Density(0.0), Amount::Density(-1.0), Amount::Mass(f64::NAN)] {
        assert!(solid_of(&vertices, &faces, amount).is_err());
    }
}

#[test]
fn faces_without_area_add_nothing() {
    // A cube face split by a sliver whose three corners are on one line.
    let mut vertices =
        vec![DVec3::ZERO, DVec3::new(2.0, 0.0, 0.0), DVec3::new(0.0, 2.0, 0.0), DVec3::new(0.0, 0.0, 2.0)];
    vertices.push(DVec3::new(1.0, 1.0, 0.0));
    let faces = [[0, 4, 1], [0, 2, 4], [1, 4, 2], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let t = integrals(&vertices, &faces);
    assert_close!(t.volume, 8.0 / 6.0, rel = 1e-15);
}
