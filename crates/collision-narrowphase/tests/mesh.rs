//! Triangle meshes: faults, repairs, rays, closest points, containment, each against a slow oracle.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]

use collision_narrowphase::{
    Polyhedron,
    mesh::{MeshError, MeshRepair, TriMesh},
};
use sim_math::testkit::soak::{cases as soaked, random as seeded};
use sim_math::{
    glam::DVec3,
    mass::Amount,
    ops,
    testkit::{SplitMix64, icosphere},
};
use sim_traits::{Ray, Serial};

fn cube() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mesh = TriMesh::from_polyhedron(&Polyhedron::cuboid(DVec3::ONE).unwrap()).unwrap();
    (mesh.points().to_vec(), mesh.triangles().to_vec())
}

/// Closed meshes with dents, holes and a cavity, few triangles each.
fn zoo() -> Vec<TriMesh> {
    let (mut points, mut triangles) = icosphere(2);
    let ball = TriMesh::closed(&points, &triangles).unwrap();
    // The same with a cavity: a smaller ball turned inside out.
    let (n, m) = (points.len() as u32, triangles.len());
    for k in 0..points.len() {
        points.push(points[k] * 0.5);
    }
    for k in 0..m {
        let [a, b, c] = triangles[k];
        triangles.push([a + n, c + n, b + n]);
    }
    let hollow = TriMesh::closed(&points, &triangles).unwrap();
    // A star with deep dents.
    let (mut star, faces) = icosphere(2);
    for (k, p) in star.iter_mut().enumerate() {
        *p *= if k % 3 == 0 { 0.35 } else { 1.0 };
    }
    let star = TriMesh::closed(&star, &faces).unwrap();
    let torus = TriMesh::torus(1.0, 0.3, 12, 7).unwrap();
    let (points, triangles) = cube();
    vec![ball, hollow, star, torus, TriMesh::closed(&points, &triangles).unwrap()]
}

#[test]
fn every_fault_is_named() {
    let (points, triangles) = cube();
    let closed = |p: &[DVec3], t: &[[u32; 3]]| TriMesh::closed(p, t).map(drop);
    assert_eq!(closed(&points, &triangles), Ok(()));
    assert_eq!(closed(&points, &[]), Err(MeshError::Empty));
    // Open: each triangle in turn taken away.
    for k in 0..triangles.len() {
        let mut fewer = triangles.clone();
        fewer.remove(k);
        assert!(matches!(closed(&points, &fewer), Err(MeshError::Open { .. })));
    }
    for k in 0..triangles.len() {
        let mut twice = triangles.clone();
        twice.push(triangles[k]);
        assert_eq!(closed(&points, &twice), Err(MeshError::Duplicate { triangle: 12, first: k }));
        // Also with the corners in another order.
        let [a, b, c] = triangles[k];
        twice[12] = [c, b, a];
        assert_eq!(closed(&points, &twice), Err(MeshError::Duplicate { triangle: 12, first: k }));
        let mut flat = triangles.clone();
        flat[k] = [a, b, b];
        assert_eq!(closed(&points, &flat), Err(MeshError::ZeroArea { triangle: k }));
        let mut line = points.clone();
        line.push(points[a as usize].lerp(points[b as usize], 0.3));
        flat[k] = [a, b, 8];
        assert_eq!(closed(&line, &flat), Err(MeshError::ZeroArea { triangle: k }));
        let mut turned = triangles.clone();
        turned[k].swap(0, 1);
        assert!(matches!(closed(&points, &turned), Err(MeshError::Orientation { .. })));
        let mut range = triangles.clone();
        range[k][1] = 8;
        assert_eq!(closed(&points, &range), Err(MeshError::BadIndex { triangle: k, index: 8, points: 8 }));
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e31] {
        let mut broken = points.clone();
        broken[3].y = bad;
        let first = triangles.iter().position(|t| t.contains(&3)).unwrap();
        match closed(&broken, &triangles) {
            Err(MeshError::NonFinite { triangle, index: 3, .. }) => assert_eq!(triangle, first),
            other => panic!("{other:?}"),
        }
    }
    let inside_out: Vec<[u32; 3]> = triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
    match closed(&points, &inside_out) {
        Err(MeshError::InsideOut { triangle: 0, volume }) => assert!((volume + 8.0).abs() < 1e-12),
        other => panic!("{other:?}"),
    }
    // Two cubes side by side, the second inside out.
    let mut two = points.clone();
    two.extend(points.iter().map(|p| *p + 5.0 * DVec3::X));
    let mut both = triangles.clone();
    both.extend(triangles.iter().map(|t| [t[0] + 8, t[2] + 8, t[1] + 8]));
    match closed(&two, &both) {
        Err(MeshError::InsideOut { triangle: 12, volume }) => assert!((volume + 8.0).abs() < 1e-12),
        other => panic!("{other:?}"),
    }
    // Three triangles at an edge.
    let mut fin = points.clone();
    fin.push(DVec3::splat(3.0));
    let mut third = triangles.clone();
    third.push([triangles[0][0], triangles[0][1], 8]);
    assert!(matches!(closed(&fin, &third), Err(MeshError::NonManifold { .. })));
    // A sheet may be open, but not broken.
    assert!(TriMesh::sheet(&points, &triangles[..5]).is_ok());
    assert!(TriMesh::sheet(&points, &inside_out).is_ok());
    assert!(TriMesh::sheet(&points, &[[0, 1, 1]]).is_err());
    assert!(TriMesh::torus(1.0, 0.3, 2, 7).is_err() && TriMesh::torus(1.0, f64::NAN, 5, 7).is_err());
}

#[test]
fn faults_are_repaired_where_asked() {
    let (points, triangles) = cube();
    let volume = |mesh: &TriMesh| {
        let one = mesh.mass_properties(Amount::Density(1.0)).unwrap();
        one.mass
    };
    let all = MeshRepair::all();
    // A soup: every triangle has its own corners; some are turned, one is missing, one is double, one is flat.
    let mut random = SplitMix64(1);
    for _ in 0..200 {
        let mut soup = Vec::new();
        let mut faces = Vec::new();
        let missing = random.below(12);
        for (k, t) in triangles.iter().enumerate().filter(|(k, _)| *k != missing) {
            let n = soup.len() as u32;
            soup.extend(t.map(|i| points[i as usize]));
            faces.push(if random.below(3) == 0 { [n, n + 2, n + 1] } else { [n, n + 1, n + 2] });
            if k == (missing + 1) % 12 {
                faces.push([n + 1, n + 2, n]);
                faces.push([n, n, n + 1]);
            }
        }
        assert!(TriMesh::closed(&soup, &faces).is_err());
        let (mesh, report) = TriMesh::repaired(&soup, &faces, &all).unwrap();
        assert_eq!((report.welded, report.flat, report.duplicates, report.holes), (25, 1, 1, 1));
        assert!((volume(&mesh) - 8.0).abs() < 1e-12, "{}", volume(&mesh));
        // What is not asked for is not done.
        for partial in [
            MeshRepair { weld: None, ..all },
            MeshRepair { drop_flat: false, ..all },
            MeshRepair { drop_duplicates: false, ..all },
            MeshRepair { close_holes: false, ..all },
        ] {
            assert!(TriMesh::repaired(&soup, &faces, &partial).is_err(), "{partial:?}");
        }
    }
    let inside_out: Vec<[u32; 3]> = triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
    let (mesh, report) = TriMesh::repaired(&points, &inside_out, &all).unwrap();
    assert_eq!((volume(&mesh).round(), report.turned), (8.0, 12));
    // A hole of four corners is closed by a fan.
    let side: Vec<[u32; 3]> =
        triangles.iter().copied().filter(|t| t.iter().any(|i| points[*i as usize].z < 0.0)).collect();
    let (mesh, report) = TriMesh::repaired(&points, &side, &all).unwrap();
    assert_eq!((report.holes, mesh.triangles().len()), (1, 14));
    assert!((volume(&mesh) - 8.0).abs() < 1e-12);
    assert!(TriMesh::repaired(&points, &triangles, &MeshRepair { weld: Some(-1.0), ..all }).is_err());
    let near: Vec<DVec3> = points.iter().map(|p| *p + random.vec3(1e-9)).collect();
    let mut close = points.clone();
    close.extend(near);
    let mixed: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|i| i + 8 * random.below(2) as u32)).collect();
    let (mesh, _) = TriMesh::repaired(&close, &mixed, &MeshRepair { weld: Some(1e-8), ..all }).unwrap();
    assert!((volume(&mesh) - 8.0).abs() < 1e-7);
}

/// A ray that is random, aimed at a corner or an edge, along a face, or starts inside.
fn hostile_ray(mesh: &TriMesh, random: &mut SplitMix64) -> Ray {
    let corner = |random: &mut SplitMix64| mesh.points()[random.below(mesh.points().len())];
    let t = mesh.triangle(random.below(mesh.triangles().len()) as u32);
    let k = random.below(3);
    let on_edge = t[k].lerp(t[(k + 1) % 3], random.unit());
    let (origin, direction) = match random.below(8) {
        0 | 1 => (random.vec3(3.0), random.vec3(1.0)),
        2 => {
            let o = random.vec3(3.0);
            (o, corner(random) - o)
        }
        3 => {
            let o = random.vec3(3.0);
            (o, on_edge - o)
        }
        // Along an edge, and in the plane of a triangle.
        4 => (on_edge - 2.0 * (t[1] - t[0]), t[1] - t[0]),
        5 => (t[0] + random.range(-3.0, 3.0) * (t[1] - t[0]), t[2] - t[0] + random.unit() * (t[1] - t[0])),
        // Grazing: past a corner at right angles to its direction from the middle.
        6 => {
            let c = corner(random);
            let d = c.cross(random.unit_vec3());
            (c - d * random.range(0.5, 2.0), d)
        }
        _ => {
            let axis = [DVec3::X, DVec3::Y, DVec3::Z][random.below(3)];
            (random.vec3(0.9), if random.below(2) == 0 { axis } else { random.vec3(1.0) })
        }
    };
    let scale = [1.0, 1e-3, 1e3][random.below(3)];
    let t_max = if random.below(4) == 0 { random.range(0.0, 3.0) / scale } else { f64::INFINITY };
    let direction = if direction.length_squared() < 1e-12 { DVec3::X } else { direction };
    Ray { origin, direction: direction * scale, t_max }
}

/// Another formula on every triangle: plane, then areas. `None` where rounding decides.
fn brute_force(mesh: &TriMesh, ray: &Ray) -> Option<Option<f64>> {
    let mut best: Option<f64> = None;
    for k in 0..mesh.triangles().len() as u32 {
        let t = mesh.triangle(k);
        let n = mesh.normal(k);
        let speed = n.dot(ray.direction) / ray.direction.length();
        let height = n.dot(t[0] - ray.origin);
        if speed.abs() < 1e-9 {
            if height.abs() < 1e-9 {
                return None;
            }
            continue;
        }
        let way = height / n.dot(ray.direction);
        let x = ray.origin + way * ray.direction;
        let least = (0..3)
            .map(|e| n.dot((t[(e + 1) % 3] - t[e]).cross(x - t[e])) / (t[(e + 1) % 3] - t[e]).length())
            .fold(f64::INFINITY, f64::min);
        let length = ray.direction.length();
        if least < -1e-9 || way * length < -1e-9 || (way - ray.t_max) * length > 1e-9 {
            continue;
        }
        if least < 1e-9 || (way * length).abs() < 1e-9 || ((way - ray.t_max) * length).abs() < 1e-9 {
            return None;
        }
        best = Some(best.map_or(way, |b| b.min(way)));
    }
    Some(best)
}

#[test]
fn soak_rays_equal_brute_force_on_a_million_hostile_rays() {
    let mut random = seeded(11);
    let zoo = zoo();
    let (mut sure, mut hits, mut inside) = (0_u64, 0_u64, 0_u64);
    let total = soaked(1_000_000);
    for round in 0..total {
        let mesh = &zoo[random.below(zoo.len())];
        let ray = hostile_ray(mesh, &mut random);
        let found = mesh.ray_cast(&ray).unwrap();
        // The tree finds what the same test finds on all triangles, to the bit.
        assert_eq!(found, mesh.ray_cast_scan(&ray), "{ray:?}");
        // And the same test finds what another formula finds, where rounding does not decide.
        if round % 16 == 0
            && let Some(expected) = brute_force(mesh, &ray)
        {
            sure += 1;
            assert_eq!(found.is_some(), expected.is_some(), "{ray:?} {found:?} {expected:?}");
            if let (Some(hit), Some(t)) = (found, expected) {
                hits += 1;
                inside += u64::from(hit.from_inside(&ray));
                assert!((hit.t - t).abs() * ray.direction.length() < 1e-8, "{ray:?} {hit:?} {t}");
            }
        }
    }
    let checked = total / 16;
    assert!(sure > checked / 3 && hits > checked / 12 && inside > checked / 50, "{sure} {hits} {inside}");
}

#[test]
fn no_ray_slips_through_an_edge_or_a_corner() {
    let mut random = seeded(12);
    for mesh in zoo().iter().filter(|m| m.contains(DVec3::new(0.01, 0.02, 0.03))) {
        for _ in 0..20_000 {
            let origin = DVec3::new(0.01, 0.02, 0.03) + random.vec3(0.01);
            let t = mesh.triangle(random.below(mesh.triangles().len()) as u32);
            let target = if random.below(2) == 0 { t[0] } else { t[0].lerp(t[1], random.unit()) };
            let ray = Ray { origin, direction: target - origin, t_max: f64::INFINITY };
            assert!(mesh.ray_cast(&ray).unwrap().is_some(), "{ray:?}");
        }
    }
}

#[test]
fn a_batch_of_rays_is_the_rays_one_by_one() {
    let mesh = TriMesh::torus(1.0, 0.3, 30, 20).unwrap();
    let mut random = SplitMix64(4);
    let mut rays: Vec<Ray> = (0..3000).map(|_| hostile_ray(&mesh, &mut random)).collect();
    let mut hits = vec![None; rays.len()];
    mesh.ray_cast_batch(&rays, &mut hits, &Serial).unwrap();
    for (ray, hit) in rays.iter().zip(&hits) {
        assert_eq!(mesh.ray_cast(ray).unwrap(), *hit);
    }
    assert!(mesh.ray_cast_batch(&rays, &mut hits[1..], &Serial).is_err());
    rays[7].direction = DVec3::ZERO;
    assert!(mesh.ray_cast_batch(&rays, &mut hits, &Serial).is_err());
}

#[test]
fn closest_point_equals_brute_force() {
    let mut random = seeded(13);
    for mesh in zoo() {
        for _ in 0..2000 {
            let p = random.vec3(2.0);
            let near = mesh.closest_point(p, f64::INFINITY).unwrap();
            // Distance to a triangle by another way: the plane if its foot is inside, else the edges.
            let mut least = f64::INFINITY;
            for k in 0..mesh.triangles().len() as u32 {
                let t = mesh.triangle(k);
                let n = mesh.normal(k);
                let foot = p - n.dot(p - t[0]) * n;
                if (0..3).all(|e| n.dot((t[(e + 1) % 3] - t[e]).cross(foot - t[e])) >= 0.0) {
                    least = least.min((p - foot).length());
                }
                for e in 0..3 {
                    let d = t[(e + 1) % 3] - t[e];
                    let s = ((p - t[e]).dot(d) / d.length_squared()).clamp(0.0, 1.0);
                    least = least.min((t[e] + s * d - p).length());
                }
            }
            assert!((near.distance - least).abs() < 1e-12, "{} {least}", near.distance);
            assert!(((near.point - p).length() - near.distance).abs() < 1e-15);
            assert!(mesh.closest_point(p, 0.99 * least).is_none());
        }
        assert!(mesh.closest_point(DVec3::NAN, 1.0).is_none() && !mesh.contains(DVec3::NAN));
    }
}

#[test]
fn containment_equals_the_winding_number() {
    let mut random = seeded(14);
    let mut inside = 0;
    for mesh in zoo() {
        for round in 0..4000 {
            // Every other point close to a corner, where the sign is easiest to get wrong.
            let p = if round % 2 == 0 {
                random.vec3(1.2)
            } else {
                mesh.points()[random.below(mesh.points().len())] + random.vec3(1e-3)
            };
            let mut angle = 0.0;
            for k in 0..mesh.triangles().len() as u32 {
                let [a, b, c] = mesh.triangle(k).map(|x| x - p);
                let (la, lb, lc) = (a.length(), b.length(), c.length());
                let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
                angle += 2.0 * ops::atan2(a.dot(b.cross(c)), below);
            }
            let winding = angle / (4.0 * std::f64::consts::PI);
            assert!((winding - winding.round()).abs() < 1e-9);
            assert_eq!(mesh.contains(p), winding > 0.5, "{p} {winding}");
            inside += u32::from(winding > 0.5);
        }
    }
    assert!(inside > 3000, "{inside}");
}
