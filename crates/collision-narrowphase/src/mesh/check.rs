//! What makes triangles a mesh: every fault is found and named.
//!
//! # Reference
//! Own; the orientation of nested shells by winding numbers (van Oosterom and Strackee 1983 for the solid angle).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | directed edge | (tail, head) as a triangle runs through it, counter-clockwise seen from outside |
//! | shell | triangles connected over edges |
//!
//! # Formula
//! ```text
//! closed: each directed edge once, its reverse once.   outside: shell volume > 0 if it lies in an even number of others
//! tan(Ω/2) = a·(b×c) / (|a||b||c| + a·b |c| + b·c |a| + c·a |b|);   winding number = Σ Ω / 4π
//! ```
//!
//! # Cost
//! O(n log n), and O(shells · n) for the orientation of shells.
//!
//! # Numerics
//! A triangle counts as zero area if its height is below 1e-12 of its longest side. Coordinates up to 1e30 m.
//!
//! # Failure
//! [`MeshError`] with the triangle.
//!
//! # Tested by
//! `tests/mesh.rs`: `every_fault_is_named`, `faults_are_repaired_where_asked`

use super::{MeshError, NONE};
use sim_math::{glam::DVec3, ops};

/// Largest coordinate, metres: boxes are kept in single precision.
const REACH: f64 = 1e30;
/// Least height of a triangle, relative to its longest side.
const FLAT: f64 = 1e-12;

/// A directed edge and where it is: tail, head, triangle, which of its three.
type Directed = (u32, u32, u32, u8);

/// Faults of single triangles: bad corners, no area.
pub(super) fn corners(points: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), MeshError> {
    if triangles.is_empty() {
        return Err(MeshError::Empty);
    }
    if triangles.len() > super::bvh::MAX_ITEMS {
        return Err(MeshError::TooMany { triangles: triangles.len(), limit: super::bvh::MAX_ITEMS });
    }
    for (triangle, corners) in triangles.iter().enumerate() {
        for &index in corners {
            let Some(&value) = points.get(index as usize) else {
                return Err(MeshError::BadIndex { triangle, index, points: points.len() });
            };
            if !value.is_finite() || value.abs().max_element() > REACH {
                return Err(MeshError::NonFinite { triangle, index, value });
            }
        }
    }
    Ok(())
}

/// First triangle without area.
pub(super) fn areas(points: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), MeshError> {
    match triangles.iter().position(|t| is_flat(points, t)) {
        Some(triangle) => Err(MeshError::ZeroArea { triangle }),
        None => Ok(()),
    }
}

pub(super) fn is_flat(points: &[DVec3], t: &[u32; 3]) -> bool {
    let [a, b, c] = t.map(|i| points[i as usize]);
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    // Comparing this way round also catches NaN from overflow.
    let tall = (b - a).cross(c - a).length() > FLAT * longest;
    !tall || t[0] == t[1] || t[1] == t[2] || t[2] == t[0]
}

/// First triangle that has the same three corners as an earlier one.
pub(super) fn duplicates(triangles: &[[u32; 3]]) -> Result<(), MeshError> {
    match duplicate_pairs(triangles).into_iter().min() {
        Some((triangle, first)) => Err(MeshError::Duplicate { triangle, first }),
        None => Ok(()),
    }
}

/// Later and earlier triangle with the same corners.
pub(super) fn duplicate_pairs(triangles: &[[u32; 3]]) -> Vec<(usize, usize)> {
    let mut keys: Vec<([u32; 3], usize)> = triangles
        .iter()
        .enumerate()
        .map(|(i, t)| {
            let mut key = *t;
            key.sort_unstable();
            (key, i)
        })
        .collect();
    keys.sort_unstable();
    keys.windows(2).filter(|w| w[0].0 == w[1].0).map(|w| (w[1].1, w[0].1)).collect()
}

pub(super) fn directed_edges(triangles: &[[u32; 3]]) -> Vec<Directed> {
    let mut edges = Vec::with_capacity(3 * triangles.len());
    for (i, t) in (0..).zip(triangles) {
        for k in 0..3_u8 {
            let (tail, head) = (t[usize::from(k)], t[usize::from((k + 1) % 3)]);
            edges.push((tail, head, i, k));
        }
    }
    edges.sort_unstable();
    edges
}

/// Triangle across each edge, [`NONE`] at a border.
///
/// # Errors
/// An edge of more than two triangles, or two neighbours that run through it the same way; a border if `closed`.
pub(super) fn neighbours(triangles: &[[u32; 3]], closed: bool) -> Result<Vec<[u32; 3]>, MeshError> {
    let edges = directed_edges(triangles);
    let run = |tail: u32, head: u32| {
        let start = edges.partition_point(|e| (e.0, e.1) < (tail, head));
        let len = edges[start..].iter().take_while(|e| (e.0, e.1) == (tail, head)).count();
        &edges[start..start + len]
    };
    let mut result = vec![[NONE; 3]; triangles.len()];
    for (i, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (tail, head) = (t[k], t[(k + 1) % 3]);
            let (same, reverse) = (run(tail, head), run(head, tail));
            if same.len() + reverse.len() > 2 {
                return Err(MeshError::NonManifold { triangle: i, tail, head });
            }
            if same.len() == 2 {
                let other = same[usize::from(same[0].2 as usize == i)].2 as usize;
                return Err(MeshError::Orientation { triangle: i, other });
            }
            match reverse {
                [(_, _, other, _)] => result[i][k] = *other,
                _ if closed => return Err(MeshError::Open { triangle: i, tail, head }),
                _ => {}
            }
        }
    }
    Ok(result)
}

/// Number of the shell of each triangle, and the number of shells.
pub(super) fn shells(neighbours: &[[u32; 3]]) -> (Vec<u32>, u32) {
    let mut shell = vec![NONE; neighbours.len()];
    let mut count = 0;
    let mut stack = Vec::new();
    for start in 0..neighbours.len() {
        if shell[start] != NONE {
            continue;
        }
        shell[start] = count;
        stack.push(start);
        while let Some(t) = stack.pop() {
            for &n in &neighbours[t] {
                if n != NONE && shell[n as usize] == NONE {
                    shell[n as usize] = count;
                    stack.push(n as usize);
                }
            }
        }
        count += 1;
    }
    (shell, count)
}

/// Shells of a closed mesh that face the wrong way: first triangle and signed volume of each.
pub(super) fn inside_out(
    points: &[DVec3],
    triangles: &[[u32; 3]],
    shell: &[u32],
    count: u32,
) -> Vec<(u32, usize, f64)> {
    let mut first = vec![usize::MAX; count as usize];
    let mut volume = vec![0.0; count as usize];
    for i in (0..triangles.len()).rev() {
        first[shell[i] as usize] = i;
    }
    for (i, t) in triangles.iter().enumerate() {
        let s = shell[i] as usize;
        // From a point of the shell itself, so that shells far out keep their digits.
        let origin = points[triangles[first[s]][0] as usize];
        let [a, b, c] = t.map(|p| points[p as usize] - origin);
        volume[s] += a.dot(b.cross(c)) / 6.0;
    }
    let mut wrong = Vec::new();
    for s in 0..count {
        let probe = points[triangles[first[s as usize]][0] as usize];
        let mut around = vec![0.0; count as usize];
        if count > 1 {
            for (i, t) in triangles.iter().enumerate().filter(|(i, _)| shell[*i] != s) {
                around[shell[i] as usize] += solid_angle(t.map(|p| points[p as usize] - probe));
            }
        }
        let nested = around.iter().filter(|w| w.abs() > std::f64::consts::TAU).count();
        let outward = if nested % 2 == 0 { volume[s as usize] } else { -volume[s as usize] };
        if outward.is_nan() || outward <= 0.0 {
            wrong.push((s, first[s as usize], volume[s as usize]));
        }
    }
    wrong
}

/// Signed solid angle of a triangle seen from the origin, steradians.
pub(super) fn solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let numerator = a.dot(b.cross(c));
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * ops::atan2(numerator, denominator)
}
