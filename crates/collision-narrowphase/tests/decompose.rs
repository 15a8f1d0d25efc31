//! Convex decomposition: the pieces cover the mesh, and the excess reported bounds the true one.
#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "a test that fails must say so")]

use collision_narrowphase::{
    Polyhedron,
    decompose::{DecomposeError, DecomposeParams, Decomposition, decompose},
    mesh::TriMesh,
};
use sim_math::testkit::soak::random as seeded;
use sim_math::{glam::DVec3, testkit::icosphere};

/// A prism over an outline (given with triangles of its area), closed.
fn prism(outline: &[(f64, f64)], area: &[[u32; 3]], height: f64) -> TriMesh {
    let n = outline.len() as u32;
    let mut points: Vec<DVec3> = outline.iter().map(|(x, y)| DVec3::new(*x, *y, 0.0)).collect();
    points.extend(outline.iter().map(|(x, y)| DVec3::new(*x, *y, height)));
    let mut triangles: Vec<[u32; 3]> = area.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    triangles.extend(area.iter().map(|t| t.map(|i| i + n)));
    for k in 0..n {
        let l = (k + 1) % n;
        triangles.extend([[k, l, l + n], [k, l + n, k + n]]);
    }
    TriMesh::closed(&points, &triangles).unwrap()
}

fn l_shape() -> TriMesh {
    let outline = [(0.0, 0.0), (3.0, 0.0), (3.0, 1.0), (1.0, 1.0), (1.0, 4.0), (0.0, 4.0)];
    prism(&outline, &[[0, 1, 2], [0, 2, 3], [0, 3, 5], [3, 4, 5]], 0.7)
}

/// Points of the mesh are in pieces; points of pieces that are not in the mesh are as few as the bound says.
fn check(mesh: &TriMesh, found: &Decomposition, seed: u64) {
    let mut random = seeded(seed);
    let b = mesh.bounds();
    let (mut inside, mut extra) = (0_u32, 0_u32);
    for _ in 0..20_000 {
        let p = b.min + b.size() * DVec3::new(random.unit(), random.unit(), random.unit());
        // A piece may end a rounding error inside the surface.
        let covered = found.pieces.iter().any(|q| q.faces().iter().all(|f| f.height(p) <= 1e-9));
        if mesh.contains(p) {
            inside += 1;
            assert!(covered, "{p} is in no piece");
        } else if covered {
            extra += 1;
        }
    }
    let measured = f64::from(extra) / f64::from(inside);
    let noise = 3.0 * (f64::from(extra) + 1.0).sqrt() / f64::from(inside);
    assert!(measured <= found.excess() + noise, "{measured} {}", found.excess());
}

#[test]
fn a_convex_mesh_is_one_piece() {
    let cube = TriMesh::from_polyhedron(&Polyhedron::cuboid(DVec3::new(1.0, 2.0, 0.5)).unwrap()).unwrap();
    let (points, triangles) = icosphere(3);
    let ball = TriMesh::closed(&points, &triangles).unwrap();
    for mesh in [cube, ball] {
        let found = decompose(&mesh, &DecomposeParams::default()).unwrap();
        assert_eq!(found.pieces.len(), 1);
        assert!(found.excess().abs() < 1e-9, "{}", found.excess());
        check(&mesh, &found, 1);
    }
}

#[test]
fn blocky_shapes_are_cut_where_they_bend() {
    let l = l_shape();
    let found = decompose(&l, &DecomposeParams::default()).unwrap();
    assert_eq!(found.pieces.len(), 2);
    assert!(found.excess().abs() < 1e-9, "{}", found.excess());
    check(&l, &found, 2);
    // A table: a plate on four legs, seen from the side as an arch in both directions.
    let outline =
        [(0.0, 0.0), (1.0, 0.0), (1.0, 3.0), (3.0, 3.0), (3.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)];
    let arch = prism(&outline, &[[0, 1, 2], [0, 2, 7], [2, 3, 6], [2, 6, 7], [3, 4, 5], [3, 5, 6]], 1.0);
    let found = decompose(&arch, &DecomposeParams::default()).unwrap();
    assert_eq!(found.pieces.len(), 3);
    assert!(found.excess().abs() < 1e-9);
    check(&arch, &found, 3);
}

#[test]
fn a_torus_gets_better_with_more_pieces() {
    let torus = TriMesh::torus(1.0, 0.3, 12, 6).unwrap();
    let mut last: Option<Decomposition> = None;
    for max_pieces in [1, 5, 9] {
        let params = DecomposeParams { max_pieces, max_excess: 0.0, resolution: 10 };
        let found = decompose(&torus, &params).unwrap();
        assert!(found.pieces.len() <= max_pieces);
        let before = last.map_or(f64::INFINITY, |d| d.excess());
        assert!(found.excess() < before && found.excess() >= 0.0, "{max_pieces}: {}", found.excess());
        check(&torus, &found, 4);
        last = Some(found);
    }
    let last = last.unwrap();
    assert!(last.excess() < 0.25, "{}", last.excess());
    // As a compound it has its hole.
    let ring = last.into_compound().unwrap();
    assert!(!ring.contains(DVec3::ZERO) && ring.contains(DVec3::X));
}

#[test]
fn bad_parameters_are_errors() {
    let sheet = TriMesh::terrain(3, 1.0, |_, _| 0.0).unwrap();
    let params = DecomposeParams::default();
    assert_eq!(decompose(&sheet, &params).unwrap_err(), DecomposeError::NotClosed);
    let l = l_shape();
    for bad in [
        DecomposeParams { resolution: 1, ..params },
        DecomposeParams { resolution: 1000, ..params },
        DecomposeParams { max_pieces: 0, ..params },
        DecomposeParams { max_excess: f64::NAN, ..params },
        DecomposeParams { max_excess: -1.0, ..params },
    ] {
        assert!(matches!(decompose(&l, &bad), Err(DecomposeError::BadParameter { .. })), "{bad:?}");
    }
}
