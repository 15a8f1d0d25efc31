//! Polyhedra and hulls: what is built is closed, convex, complete; what cannot be built is an error.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "tests report, and compare with std")]

use collision_narrowphase::{Polyhedron, PolyhedronError, polyhedron::torus};
use sim_math::{
    glam::{DQuat, DVec3},
    mass::{Amount, ClosedSurface, MassProperties, combine, solid},
    testkit::SplitMix64,
};

fn check_rep(p: &Polyhedron) {
    let (v, e, f) = (p.vertices().len(), p.edges().len(), p.faces().len());
    assert_eq!(v + f, e + 2, "Euler");
    let size = p.extent();
    for (k, edge) in p.edges().iter().enumerate() {
        let [t, h] = p.segment(k as u32);
        assert!(((h - t) - edge.direction * edge.length).length() <= 1e-14 * size);
        for face in edge.faces {
            assert_eq!(p.sides(face).iter().filter(|s| s.edge == k as u32).count(), 1);
        }
        for end in edge.ends {
            assert_eq!(p.spokes(end).iter().filter(|s| s.edge == k as u32).count(), 1);
        }
        let n = edge.faces.map(|f| p.faces()[f as usize].normal);
        assert!(n[0].cross(n[1]).dot(edge.direction) > 0.0, "edge {k} is reflex");
    }
    for vertex in 0..v as u32 {
        assert!(p.spokes(vertex).len() >= 3);
    }
    for face in 0..f as u32 {
        assert!(p.sides(face).len() >= 3);
        let plane = p.faces()[face as usize];
        for side in p.sides(face) {
            assert!(plane.height(p.position(side.corner)).abs() <= 1e-12 * size);
            assert!(side.plane.height(p.position(side.corner)).abs() <= 1e-12 * size);
        }
    }
    for vertex in p.vertices() {
        for plane in p.faces() {
            assert!(plane.height(vertex.position) <= 1e-12 * size);
        }
    }
    assert!(p.contains(p.center()));
    assert!(p.volume() > 0.0);
}

fn all_inside(p: &Polyhedron, points: &[DVec3], tolerance: f64) {
    for point in points {
        for plane in p.faces() {
            assert!(plane.height(*point) <= tolerance * p.extent(), "{} outside", plane.height(*point));
        }
    }
}

// proves: MIR-05, FON-10
#[test]
fn every_generator_makes_a_sound_boundary_representation() {
    for p in [
        Polyhedron::cuboid(DVec3::new(1.0, 2.0, 0.01)).unwrap(),
        Polyhedron::tetrahedron(0.3).unwrap(),
        Polyhedron::dodecahedron(2.0).unwrap(),
        Polyhedron::icosphere(1.0, 2).unwrap(),
        Polyhedron::cone(1.0, 0.5, 17).unwrap(),
        Polyhedron::pyramid(1.0, 0.5).unwrap(),
        Polyhedron::tube(0.2, 3.0, 32).unwrap(),
        Polyhedron::random(50, 4).unwrap(),
        Polyhedron::fibonacci(1.0, 500).unwrap(),
    ] {
        check_rep(&p);
    }
    for piece in torus(2.0, 0.5, 12, 8).unwrap() {
        check_rep(&piece);
    }
    let counts = |p: &Polyhedron| (p.vertices().len(), p.edges().len(), p.faces().len());
    assert_eq!(counts(&Polyhedron::dodecahedron(1.0).unwrap()), (20, 30, 12));
    assert_eq!(counts(&Polyhedron::icosphere(1.0, 2).unwrap()), (162, 480, 320));
    assert_eq!(counts(&Polyhedron::tube(1.0, 1.0, 9).unwrap()), (18, 27, 11));
}

// proves: FON-11
#[test]
fn a_triangulated_cube_becomes_six_quads() {
    let (points, quads) = Polyhedron::cuboid(DVec3::ONE).unwrap().to_faces();
    let triangles: Vec<[u32; 3]> =
        quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    let cube = Polyhedron::from_faces(&points, &triangles).unwrap();
    assert_eq!((cube.vertices().len(), cube.edges().len(), cube.faces().len()), (8, 12, 6));
    check_rep(&cube);
    // Also when turned, so that coplanar is only nearly coplanar, and with extra points on edges and faces.
    let mut random = SplitMix64(3);
    for _ in 0..200 {
        let q = random.unit_quat();
        let mut many: Vec<DVec3> = points.iter().map(|p| q * *p).collect();
        for i in -2..=2 {
            for j in -2..=2 {
                for side in [-1.0, 1.0] {
                    let (x, y) = (0.5 * f64::from(i), 0.5 * f64::from(j));
                    many.extend(
                        [DVec3::new(x, y, side), DVec3::new(x, side, y), DVec3::new(side, x, y)]
                            .map(|p| q * p),
                    );
                }
            }
        }
        let cube = Polyhedron::hull(&many).unwrap();
        assert_eq!((cube.vertices().len(), cube.edges().len(), cube.faces().len()), (8, 12, 6));
        check_rep(&cube);
    }
}

// proves: FON-12, FON-14
#[test]
fn random_sphere_points_all_become_vertices_and_the_hull_of_a_hull_is_itself() {
    for (n, seed) in [(4, 1), (8, 2), (64, 3), (500, 4), (2000, 5)] {
        let hull = Polyhedron::random(n, seed).unwrap();
        assert_eq!(hull.vertices().len(), n);
        assert_eq!(hull, Polyhedron::random(n, seed).unwrap());
        for v in hull.vertices() {
            assert!((v.position.length() - 1.0).abs() < 1e-15);
        }
        let (points, _) = hull.to_faces();
        all_inside(&hull, &points, 1e-13);
        let again = Polyhedron::hull(&points).unwrap();
        assert_eq!(again.to_faces().0, points);
        assert_eq!(again.faces().len(), hull.faces().len());
    }
}

#[test]
fn a_hundred_thousand_points_are_no_problem() {
    let mut random = SplitMix64(8);
    let ball: Vec<DVec3> = (0..100_000).map(|_| random.unit_vec3()).collect();
    let hull = Polyhedron::hull(&ball).unwrap();
    assert_eq!(hull.vertices().len(), 100_000);
    let solid: Vec<DVec3> = (0..100_000).map(|_| random.vec3(1.0)).collect();
    let hull = Polyhedron::hull(&solid).unwrap();
    all_inside(&hull, &solid, 1e-12);
}

#[test]
fn hostile_point_sets_give_a_sound_hull_or_an_error() {
    let mut random = SplitMix64(21);
    let (mut built, mut flat) = (0, 0);
    for round in 0..4000 {
        let n = 4 + random.below(60);
        let q = random.unit_quat();
        let size = 10.0_f64.powi(random.below(6) as i32 - 3);
        let kind = round % 8;
        let squash = [1.0, 1e-4, 1e-8, 1e-12][random.below(4)];
        let points: Vec<DVec3> = (0..n)
            .map(|_| {
                let p = match kind {
                    0 => (random.vec3(2.0)).floor(),
                    1 => (random.vec3(2.0)).floor() + random.vec3(1e-14),
                    2 => random.vec3(1.0) * DVec3::new(1.0, 1.0, squash),
                    3 => random.vec3(1.0) * DVec3::new(1.0, squash, squash),
                    4 => random.unit_vec3(),
                    5 => DVec3::new(random.unit(), 0.0, random.below(2) as f64),
                    6 => DVec3::splat(random.below(3) as f64) + random.vec3(squash),
                    _ => (random.unit_vec3() * 3.0).round() + random.vec3(squash),
                };
                q * p * size
            })
            .collect();
        match Polyhedron::hull(&points) {
            Ok(hull) => {
                built += 1;
                all_inside(&hull, &points, 1e-10);
                assert_eq!(hull.vertices().len() + hull.faces().len(), hull.edges().len() + 2);
            }
            Err(PolyhedronError::Flat { .. }) => flat += 1,
            Err(other) => panic!("round {round}, kind {kind}: {other}"),
        }
    }
    assert!(built > 2000 && flat > 100, "{built} built, {flat} flat");
}

#[test]
fn flat_input_is_an_error() {
    let one = vec![DVec3::ONE; 10];
    assert!(matches!(Polyhedron::hull(&one), Err(PolyhedronError::Flat { dimension: 0, .. })));
    let line: Vec<DVec3> = (0..10).map(|k| DVec3::splat(f64::from(k))).collect();
    assert!(matches!(Polyhedron::hull(&line), Err(PolyhedronError::Flat { dimension: 1, .. })));
    let plane: Vec<DVec3> = (0..9).map(|k| DVec3::new(f64::from(k % 3), f64::from(k / 3), 0.1)).collect();
    assert!(matches!(Polyhedron::hull(&plane), Err(PolyhedronError::Flat { dimension: 2, .. })));
    assert!(matches!(Polyhedron::hull(&one[..3]), Err(PolyhedronError::TooFew { what: "points", got: 3 })));
    let bad = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.0, f64::NAN, 1.0)];
    assert!(matches!(Polyhedron::hull(&bad), Err(PolyhedronError::NonFinite { index: 3, .. })));
    let tiny = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|p| p * 1e-200);
    assert!(matches!(Polyhedron::hull(&tiny), Err(PolyhedronError::BadScale { .. })));
    let far = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|p| p + DVec3::splat(1e12));
    assert!(matches!(Polyhedron::hull(&far), Err(PolyhedronError::BadScale { .. })));
}

#[test]
fn bad_surfaces_are_errors_with_reasons() {
    let (points, faces) = Polyhedron::cuboid(DVec3::ONE).unwrap().to_faces();
    let build = |p: &[DVec3], f: &[Vec<u32>]| Polyhedron::from_faces(p, f).unwrap_err();
    assert!(matches!(build(&points, &faces[..5]), PolyhedronError::NotClosed { .. }));
    let flipped: Vec<Vec<u32>> = faces.iter().map(|f| f.iter().rev().copied().collect()).collect();
    assert!(matches!(build(&points, &flipped), PolyhedronError::NotConvex { .. }));
    let mut one_flipped = faces.clone();
    one_flipped[2].reverse();
    assert!(matches!(build(&points, &one_flipped), PolyhedronError::NotClosed { .. }));
    let mut far_index = faces.clone();
    far_index[0][1] = 8;
    assert!(matches!(build(&points, &far_index), PolyhedronError::BadIndex { face: 0, index: 8, points: 8 }));
    let mut twice = faces.clone();
    twice[3] = vec![2, 2, 7, 3];
    assert!(matches!(build(&points, &twice), PolyhedronError::BadFace { face: 3 }));
    let mut bent = points.clone();
    bent[7] *= 0.9;
    assert!(matches!(build(&bent, &faces), PolyhedronError::NotPlanar { .. }));
    let triangles: Vec<Vec<u32>> =
        faces.iter().flat_map(|q| [vec![q[0], q[1], q[2]], vec![q[0], q[2], q[3]]]).collect();
    let mut dented = points.clone();
    dented[0] *= 0.5;
    dented[7] *= 0.4;
    assert!(matches!(
        build(&dented, &triangles),
        PolyhedronError::NotConvex { .. } | PolyhedronError::BadFace { .. }
    ));
    // Two separate cubes: closed and convex everywhere, but not one sphere.
    let both: Vec<DVec3> = points.iter().copied().chain(points.iter().map(|p| *p + 5.0)).collect();
    let shifted = faces.iter().map(|f| f.iter().map(|v| v + 8).collect::<Vec<u32>>());
    let two: Vec<Vec<u32>> = faces.iter().cloned().chain(shifted).collect();
    assert_eq!(build(&both, &two), PolyhedronError::Euler { characteristic: 4 });
    assert!(Polyhedron::cuboid(DVec3::new(1.0, 0.0, 1.0)).is_err());
    assert!(Polyhedron::cuboid(DVec3::new(1.0, f64::NAN, 1.0)).is_err());
    assert!(Polyhedron::cone(1.0, 1.0, 2).is_err());
    assert!(Polyhedron::tube(-1.0, 1.0, 8).is_err());
    assert!(Polyhedron::random(3, 0).is_err());
    assert!(Polyhedron::icosphere(1.0, 20).is_err());
    assert!(torus(1.0, 2.0, 8, 8).is_err());
}

#[test]
fn volumes_converge_to_closed_forms_under_refinement() {
    use std::f64::consts::PI;
    let volume = |p: Result<Polyhedron, PolyhedronError>| p.unwrap().volume();
    let exact_prism = |n: f64| 0.5 * n * (2.0 * PI / n).sin();
    assert!((volume(Polyhedron::tube(1.0, 0.5, 32)) - exact_prism(32.0)).abs() < 1e-13);
    assert!((volume(Polyhedron::cone(1.0, 1.5, 32)) - exact_prism(32.0)).abs() < 1e-13);
    assert!((volume(Polyhedron::pyramid(1.0, 1.5)) - 4.0).abs() < 1e-13);
    let errors: Vec<f64> = (1..4).map(|k| 4.0 / 3.0 * PI - volume(Polyhedron::icosphere(1.0, k))).collect();
    assert!(errors[0] / errors[1] > 3.5 && errors[1] / errors[2] > 3.8, "{errors:?}");
    let ring = |n| torus(2.0, 0.5, n, n).unwrap().iter().map(Polyhedron::volume).sum::<f64>();
    let exact = 2.0 * PI * PI * 2.0 * 0.25;
    let (coarse, fine) = (exact - ring(12), exact - ring(24));
    assert!(coarse > 0.0 && coarse / fine > 3.8, "{coarse} {fine}");
}

// proves: FON-13
#[test]
fn inertia_converges_to_closed_forms_under_refinement() {
    let properties = |p: &Polyhedron| {
        let (points, faces) = p.to_faces();
        let counts: Vec<u32> = faces.iter().map(|f| f.len() as u32).collect();
        let corners = faces.concat();
        let surface = ClosedSurface::from_polygons(&points, &counts, &corners).unwrap();
        MassProperties::from_polyhedron(&surface, Amount::Density(1000.0)).unwrap()
    };
    let density = Amount::Density(1000.0);
    let error = |p: &Polyhedron, exact: &MassProperties| {
        let found = properties(p);
        assert!((found.mass - 1000.0 * p.volume()).abs() < 1e-9 * found.mass);
        ((found.mass - exact.mass) / exact.mass).abs()
            + (found.inertia - exact.inertia).to_array().iter().map(|x| x.abs()).sum::<f64>()
                / exact.inertia.xx
    };
    for size in [0.1, 1.0, 10.0] {
        let cube = Polyhedron::cuboid(DVec3::new(1.0, 2.0, 0.5) * size).unwrap();
        assert!(error(&cube, &solid::cuboid(DVec3::new(1.0, 2.0, 0.5) * size, density).unwrap()) < 1e-12);
        let ball = solid::sphere(size, density).unwrap();
        let at = |k| error(&Polyhedron::icosphere(size, k).unwrap(), &ball);
        assert!(at(2) / at(3) > 3.7 && at(3) < 0.06, "{} {}", at(2), at(3));
        let tube = solid::cylinder(size, size, density).unwrap();
        let at = |n| error(&Polyhedron::tube(size, size, n).unwrap(), &tube);
        assert!(at(16) / at(32) > 3.9, "{} {}", at(16), at(32));
        let cone = solid::frustum(size, 0.0, size, density).unwrap();
        let at = |n| error(&Polyhedron::cone(size, size, n).unwrap(), &cone);
        assert!(at(16) / at(32) > 3.9, "{} {}", at(16), at(32));
        // A torus of wedges: mass and the moment about its axis, m (R² + ¾ r²).
        let moment = |n: usize| {
            let parts = torus(2.0 * size, 0.5 * size, n, n).unwrap();
            let parts: Vec<MassProperties> = parts.iter().map(properties).collect();
            let whole = combine(&parts).unwrap();
            whole.inertia.zz / whole.mass / (size * size) - (4.0 + 0.75 * 0.25)
        };
        assert!(moment(12).abs() / moment(24).abs() > 3.5, "{} {}", moment(12), moment(24));
    }
}

#[test]
fn three_sizes_and_poses_scale_exactly() {
    for size in [1e-3, 1.0, 100.0] {
        let q = DQuat::from_rotation_x(0.3);
        let (points, _) = Polyhedron::random(30, 9).unwrap().to_faces();
        let scaled: Vec<DVec3> = points.iter().map(|p| q * *p * size).collect();
        let hull = Polyhedron::hull(&scaled).unwrap();
        check_rep(&hull);
        assert_eq!(hull.vertices().len(), 30);
    }
}
