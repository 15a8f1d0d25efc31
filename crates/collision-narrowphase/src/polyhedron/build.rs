//! Building and checking the boundary representation.
//!
//! # Reference
//! Mirtich 1996 §2.1.1; Fontijne 2000 §2.2, §2.4 (requirements), Mirtich 1998 (Voronoi planes).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `u` | unit direction of an edge, counter-clockwise in its left face |
//! | `n` | outward unit normal of a face |
//! | `m` | u × n: in the plane of the face, out of it |
//!
//! # Formula
//! ```text
//! V − E + F = 2;   every corner on its faces' planes;   every neighbour below a face's plane
//! ```
//! A closed surface of Euler characteristic 2 that is convex at each edge is convex.
//!
//! # Cost
//! O(n log n) for n corners of faces.
//!
//! # Numerics
//! Normals by Newell's rule; flatness and convexity within 1e-10 of the size.
//!
//! # Failure
//! Every way of not being a convex polyhedron has its own [`PolyhedronError`].
//!
//! # Tested by
//! `bad_surfaces_are_errors_with_reasons`, `every_generator_makes_a_sound_boundary_representation`

use super::{Edge, Plane, Polyhedron, Range, Side, Spoke, Vertex, hull, merge};
use crate::PolyhedronError;
use sim_math::glam::DVec3;
use sim_traits::FixedMap;

/// How far a corner may lie off its plane, or a neighbour above it, relative to the size.
const SHAPE: f64 = 1e-10;

pub(super) fn from_hull(points: &[DVec3]) -> Result<Polyhedron, PolyhedronError> {
    let triangles = hull::hull_triangles(points)?;
    from_faces(points, triangles.iter().map(|t| t.to_vec()).collect())
}

pub(super) fn from_faces(points: &[DVec3], faces: Vec<Vec<u32>>) -> Result<Polyhedron, PolyhedronError> {
    let size = hull::check(points)?;
    if faces.len() < 4 {
        return Err(PolyhedronError::TooFew { what: "faces", got: faces.len() });
    }
    for (f, face) in faces.iter().enumerate() {
        if let Some(&index) = face.iter().find(|&&i| i as usize >= points.len()) {
            return Err(PolyhedronError::BadIndex { face: f, index, points: points.len() });
        }
        let mut sorted = face.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if face.len() < 3 || sorted.len() != face.len() {
            return Err(PolyhedronError::BadFace { face: f });
        }
    }
    let merged = merge::merge_coplanar(points, &faces, Polyhedron::COPLANAR * size)?;
    if merged.len() < 4 {
        return Err(PolyhedronError::TooFew { what: "faces", got: merged.len() });
    }
    let (points, faces) = compact(points, merged);
    let mut polyhedron = assemble(points, &faces)?;
    check_shape(&polyhedron, &faces, SHAPE * size)?;
    polyhedron.build_support_table();
    Ok(polyhedron)
}

/// Keeps the points that are corners, in their order.
fn compact(points: &[DVec3], mut faces: Vec<Vec<u32>>) -> (Vec<DVec3>, Vec<Vec<u32>>) {
    let mut renumber = vec![u32::MAX; points.len()];
    for &v in faces.iter().flatten() {
        renumber[v as usize] = 0;
    }
    let mut kept = Vec::new();
    for (new, point) in renumber.iter_mut().zip(points).filter(|(new, _)| **new == 0) {
        *new = kept.len() as u32;
        kept.push(*point);
    }
    for v in faces.iter_mut().flatten() {
        *v = renumber[*v as usize];
    }
    (kept, faces)
}

fn assemble(points: Vec<DVec3>, faces: &[Vec<u32>]) -> Result<Polyhedron, PolyhedronError> {
    let owners = merge::edge_owners(faces)?;
    let characteristic = points.len() as i64 - owners.len() as i64 / 2 + faces.len() as i64;
    if characteristic != 2 {
        return Err(PolyhedronError::Euler { characteristic });
    }
    let planes: Vec<Plane> = faces.iter().map(|f| plane_of(&points, f)).collect();
    let (edges, numbers) = make_edges(&points, faces, &owners, &planes);

    let mut loops = Vec::with_capacity(faces.len());
    let mut sides = Vec::with_capacity(owners.len());
    for (f, face) in faces.iter().enumerate() {
        loops.push(Range { first: sides.len() as u32, count: face.len() as u32 });
        for (k, &corner) in face.iter().enumerate() {
            let edge = numbers[&(corner, face[(k + 1) % face.len()])];
            let e = &edges[edge as usize];
            let plane = e.sides[usize::from(e.faces[0] != f as u32)];
            sides.push(Side { plane, edge, corner });
        }
    }
    let (vertices, spokes) = make_spokes(&points, faces, &owners, &edges, &numbers)?;
    let center = points.iter().sum::<DVec3>() / points.len() as f64;
    let farthest = |from: DVec3| points.iter().map(|p| (*p - from).length()).fold(0.0, f64::max);
    Ok(Polyhedron {
        radius: farthest(DVec3::ZERO),
        extent: farthest(center),
        center,
        vertices,
        spokes,
        edges,
        planes,
        loops,
        sides,
        support_table: Vec::new(),
    })
}

fn plane_of(points: &[DVec3], face: &[u32]) -> Plane {
    // The area normal of a sliver is poor along its length: make it normal to the longest side.
    let span = |k: usize| points[face[(k + 1) % face.len()] as usize] - points[face[k] as usize];
    let longest = (0..face.len())
        .map(span)
        .fold(DVec3::ZERO, |best, s| if s.length_squared() > best.length_squared() { s } else { best });
    let along = longest.normalize_or_zero();
    let rough = merge::area_normal(points, face).normalize_or_zero();
    let normal = (rough - along.dot(rough) * along).normalize_or_zero();
    let origin = points[face[0] as usize];
    let lift: f64 = face.iter().map(|&v| normal.dot(points[v as usize] - origin)).sum();
    Plane { normal, offset: normal.dot(origin) + lift / face.len() as f64 }
}

fn make_edges(
    points: &[DVec3],
    faces: &[Vec<u32>],
    owners: &FixedMap<(u32, u32), u32>,
    planes: &[Plane],
) -> (Vec<Edge>, FixedMap<(u32, u32), u32>) {
    let mut edges = Vec::with_capacity(owners.len() / 2);
    let mut numbers = FixedMap::default();
    for (f, face) in faces.iter().enumerate() {
        for (k, &tail) in face.iter().enumerate() {
            let head = face[(k + 1) % face.len()];
            if numbers.contains_key(&(tail, head)) {
                continue;
            }
            let right = owners[&(head, tail)];
            let [t, h] = [tail, head].map(|v| points[v as usize]);
            let length = (h - t).length();
            let direction = (h - t) / length;
            let side = |normal: DVec3, sense: f64| {
                let m = (sense * direction).cross(normal).normalize_or_zero();
                Plane { normal: m, offset: 0.5 * (m.dot(t) + m.dot(h)) }
            };
            let number = edges.len() as u32;
            numbers.insert((tail, head), number);
            numbers.insert((head, tail), number);
            edges.push(Edge {
                ends: [tail, head],
                faces: [f as u32, right],
                direction,
                length,
                sides: [side(planes[f].normal, 1.0), side(planes[right as usize].normal, -1.0)],
            });
        }
    }
    (edges, numbers)
}

/// Spokes in cyclic order: from one edge across its left face to the next.
fn make_spokes(
    points: &[DVec3],
    faces: &[Vec<u32>],
    owners: &FixedMap<(u32, u32), u32>,
    edges: &[Edge],
    numbers: &FixedMap<(u32, u32), u32>,
) -> Result<(Vec<Vertex>, Vec<Spoke>), PolyhedronError> {
    let mut previous: FixedMap<(u32, u32), u32> = FixedMap::default();
    let mut first_out = vec![u32::MAX; points.len()];
    let mut degree = vec![0_u32; points.len()];
    for face in faces {
        for (k, &v) in face.iter().enumerate() {
            let next = face[(k + 1) % face.len()];
            previous.insert((v, next), face[(k + face.len() - 1) % face.len()]);
            degree[v as usize] += 1;
            first_out[v as usize] = first_out[v as usize].min(next);
        }
    }
    let mut vertices = Vec::with_capacity(points.len());
    let mut spokes: Vec<Spoke> = Vec::with_capacity(owners.len());
    for (v, position) in (0..).zip(points) {
        let first = spokes.len() as u32;
        let start = first_out[v as usize];
        let mut at = start;
        loop {
            let edge = numbers[&(v, at)];
            let e = &edges[edge as usize];
            let sense = if e.ends[0] == v { 1.0 } else { -1.0 };
            spokes.push(Spoke { direction: sense * e.direction, edge, neighbour: at });
            // The corner before v in the face left of (v, at) is the next neighbour counter-clockwise.
            at = previous[&(v, at)];
            if at == start {
                break;
            }
            if spokes.len() as u32 - first > degree[v as usize] {
                return Err(PolyhedronError::NotClosed { tail: v, head: at });
            }
        }
        let count = spokes.len() as u32 - first;
        if count != degree[v as usize] || count < 3 {
            return Err(PolyhedronError::NotClosed { tail: v, head: start });
        }
        vertices.push(Vertex { position: *position, first, count });
    }
    Ok((vertices, spokes))
}

fn check_shape(polyhedron: &Polyhedron, faces: &[Vec<u32>], tolerance: f64) -> Result<(), PolyhedronError> {
    for (face, (plane, corners)) in polyhedron.planes.iter().zip(faces).enumerate() {
        for &v in corners {
            let distance = plane.height(polyhedron.position(v));
            if distance.abs() > tolerance || plane.normal == DVec3::ZERO {
                return Err(PolyhedronError::NotPlanar { face, distance });
            }
        }
    }
    for edge in &polyhedron.edges {
        for (face, other) in [(edge.faces[0], edge.faces[1]), (edge.faces[1], edge.faces[0])] {
            let plane = &polyhedron.planes[face as usize];
            let heights = faces[other as usize].iter().map(|&v| plane.height(polyhedron.position(v)));
            let distance = heights.fold(f64::NEG_INFINITY, f64::max);
            if distance > tolerance {
                return Err(PolyhedronError::NotConvex { face: face as usize, distance });
            }
        }
    }
    // A surface wound inwards is locally convex nowhere except when it is nearly flat; the volume tells.
    let volume = polyhedron.volume();
    if volume <= 0.0 {
        return Err(PolyhedronError::NotConvex { face: 0, distance: volume });
    }
    Ok(())
}
