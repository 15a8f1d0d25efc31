//! Merging of coplanar neighbours: the polygons of a polyhedron given by any subdivision of them.
//!
//! # Reference
//! Fontijne 2000 §2.4, §2.8: V-Clip loops on coplanar triangles, so neighbours in one plane must become one face.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `group` | merged face to which an input face belongs |
//! | `tolerance` | distance of a corner from the plane of the group's seed, metres |
//!
//! # Formula
//! ```text
//! Seeds in order of falling area; a neighbour joins if all its corners lie within the tolerance of the seed's plane
//! ```
//! Measuring distances, not angles, keeps the shape to within the tolerance however small a face is, and measuring
//! from the seed keeps long chains from drifting.
//!
//! # Cost
//! O(n log n) for n corners.
//!
//! # Numerics
//! Area normals by Newell's rule, relative to a corner of the face.
//!
//! # Failure
//! `NotClosed` for an open or badly oriented surface; `BadFace` where merging leaves no polygon.
//!
//! # Tested by
//! `a_triangulated_cube_becomes_six_quads`, `tests/hull.rs`

use crate::PolyhedronError;
use sim_math::glam::DVec3;
use sim_traits::FixedMap;

const NONE: u32 = u32::MAX;

/// Twice the area times the unit normal of a polygon (Newell).
pub(super) fn area_normal(points: &[DVec3], corners: &[u32]) -> DVec3 {
    let origin = points[corners[0] as usize];
    let mut sum = DVec3::ZERO;
    for pair in corners[1..].windows(2) {
        sum += (points[pair[0] as usize] - origin).cross(points[pair[1] as usize] - origin);
    }
    sum
}

/// For each directed edge the face to its left.
pub(super) fn edge_owners(faces: &[Vec<u32>]) -> Result<FixedMap<(u32, u32), u32>, PolyhedronError> {
    let mut owners = FixedMap::default();
    for (f, face) in faces.iter().enumerate() {
        for (k, &tail) in face.iter().enumerate() {
            let head = face[(k + 1) % face.len()];
            if owners.insert((tail, head), f as u32).is_some() {
                return Err(PolyhedronError::NotClosed { tail, head });
            }
        }
    }
    for face in faces {
        for (k, &tail) in face.iter().enumerate() {
            let head = face[(k + 1) % face.len()];
            if !owners.contains_key(&(head, tail)) {
                return Err(PolyhedronError::NotClosed { tail, head });
            }
        }
    }
    Ok(owners)
}

/// Merges neighbours whose corners lie within `tolerance` of one plane, and drops corners left on straight edges.
pub(super) fn merge_coplanar(
    points: &[DVec3],
    faces: &[Vec<u32>],
    tolerance: f64,
) -> Result<Vec<Vec<u32>>, PolyhedronError> {
    let owners = edge_owners(faces)?;
    let group = assign_groups(points, faces, &owners, tolerance);
    let groups = group.iter().copied().max().map_or(0, |g| g as usize + 1);
    // Edges between different groups, by group: next corner after each corner.
    let mut borders: Vec<Vec<(u32, u32)>> = vec![Vec::new(); groups];
    let mut degree: FixedMap<u32, u32> = FixedMap::default();
    for (f, face) in faces.iter().enumerate() {
        for (k, &tail) in face.iter().enumerate() {
            let head = face[(k + 1) % face.len()];
            if group[owners[&(head, tail)] as usize] != group[f] {
                borders[group[f] as usize].push((tail, head));
                *degree.entry(tail).or_insert(0) += 1;
            }
        }
    }
    let mut merged = Vec::with_capacity(groups);
    for (g, border) in borders.iter().enumerate() {
        let mut cycle = chain(border).ok_or(PolyhedronError::BadFace { face: g })?;
        cycle.retain(|v| degree.get(v).is_some_and(|d| *d > 2));
        if cycle.len() < 3 {
            return Err(PolyhedronError::BadFace { face: g });
        }
        merged.push(cycle);
    }
    Ok(merged)
}

fn assign_groups(
    points: &[DVec3],
    faces: &[Vec<u32>],
    owners: &FixedMap<(u32, u32), u32>,
    tolerance: f64,
) -> Vec<u32> {
    let normals: Vec<DVec3> = faces.iter().map(|f| area_normal(points, f)).collect();
    let mut order: Vec<u32> = (0..faces.len() as u32).collect();
    order.sort_by(|&f, &g| {
        normals[g as usize].length_squared().total_cmp(&normals[f as usize].length_squared()).then(f.cmp(&g))
    });
    let mut group = vec![NONE; faces.len()];
    let mut groups = 0;
    let mut stack = Vec::new();
    for &seed in &order {
        if group[seed as usize] != NONE {
            continue;
        }
        group[seed as usize] = groups;
        let normal = normals[seed as usize].normalize_or_zero();
        let origin = points[faces[seed as usize][0] as usize];
        stack.push(seed);
        while let Some(f) = stack.pop() {
            let face = &faces[f as usize];
            for (k, &tail) in face.iter().enumerate() {
                let other = owners[&(face[(k + 1) % face.len()], tail)] as usize;
                let flat = |v: &u32| normal.dot(points[*v as usize] - origin).abs() <= tolerance;
                // A sliver may face anywhere; anything larger must face the same way.
                let sliver = normals[other].length() <= tolerance * normals[seed as usize].length().sqrt();
                if group[other] == NONE
                    && (sliver || normals[other].dot(normal) > 0.0)
                    && faces[other].iter().all(flat)
                {
                    group[other] = groups;
                    stack.push(other as u32);
                }
            }
        }
        groups += 1;
    }
    // Number the groups in the order of the input faces.
    let mut renumber = vec![NONE; groups as usize];
    let mut next = 0;
    for g in &mut group {
        let new = &mut renumber[*g as usize];
        if *new == NONE {
            *new = next;
            next += 1;
        }
        *g = *new;
    }
    group
}

/// One closed walk through all directed edges; `None` if they form anything else.
fn chain(border: &[(u32, u32)]) -> Option<Vec<u32>> {
    let mut next: FixedMap<u32, u32> = FixedMap::default();
    for &(tail, head) in border {
        if next.insert(tail, head).is_some() {
            return None;
        }
    }
    // Starting at the smallest index makes the result independent of how the input was cut up.
    let start = border.iter().map(|e| e.0).min()?;
    let mut cycle = vec![start];
    let mut at = *next.get(&start)?;
    while at != start {
        if cycle.len() > border.len() {
            return None;
        }
        cycle.push(at);
        at = *next.get(&at)?;
    }
    (cycle.len() == border.len()).then_some(cycle)
}
