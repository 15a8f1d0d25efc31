//! Repair of broken meshes, one fault at a time, only where asked.
//!
//! # Reference
//! Own.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `weld` | points at most so far apart per axis cell become one, metres |
//! | loop | borders of a hole, head to tail |
//!
//! # Formula
//! ```text
//! weld → drop flat → drop duplicates → turn neighbours alike → close holes by fans → turn shells outwards
//! ```
//!
//! # Cost
//! O(n log n).
//!
//! # Numerics
//! Welding sorts points along x and joins those within the distance: chains of near points become one.
//!
//! # Failure
//! What cannot be repaired, or was not asked for, is the [`MeshError`] of the check that follows.
//!
//! # Tested by
//! `tests/mesh.rs`: `faults_are_repaired_where_asked`

use super::{MeshError, TriMesh, check};
use sim_math::glam::DVec3;

/// What may be changed to make a closed mesh.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeshRepair {
    /// Join points at most this far apart, metres; `None` keeps all, 0 joins equal ones.
    pub weld: Option<f64>,
    /// Leave out triangles without area.
    pub drop_flat: bool,
    /// Leave out all but the first of triangles with the same corners.
    pub drop_duplicates: bool,
    /// Turn triangles so that neighbours agree and shells face outwards.
    pub reorient: bool,
    /// Close holes by fans around their middle.
    pub close_holes: bool,
}

impl MeshRepair {
    /// Everything; points are joined if equal.
    #[must_use]
    pub fn all() -> Self {
        Self { weld: Some(0.0), drop_flat: true, drop_duplicates: true, reorient: true, close_holes: true }
    }
}

/// What was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RepairReport {
    /// Points joined to others.
    pub welded: usize,
    /// Triangles without area left out.
    pub flat: usize,
    /// Duplicates left out.
    pub duplicates: usize,
    /// Triangles turned.
    pub turned: usize,
    /// Holes closed.
    pub holes: usize,
}

impl TriMesh {
    /// A closed mesh from triangles that may be broken.
    ///
    /// # Errors
    /// A fault that is left after the repairs asked for; corners that are not finite or do not exist.
    pub fn repaired(
        points: &[DVec3],
        triangles: &[[u32; 3]],
        repair: &MeshRepair,
    ) -> Result<(Self, RepairReport), MeshError> {
        check::corners(points, triangles)?;
        let mut report = RepairReport::default();
        let (mut points, mut triangles) = (points.to_vec(), triangles.to_vec());
        if let Some(distance) = repair.weld {
            report.welded = weld(&points, &mut triangles, distance)?;
        }
        if repair.drop_flat {
            let before = triangles.len();
            triangles.retain(|t| !check::is_flat(&points, t));
            report.flat = before - triangles.len();
        }
        if repair.drop_duplicates {
            let mut drop: Vec<usize> = check::duplicate_pairs(&triangles).into_iter().map(|p| p.0).collect();
            drop.sort_unstable();
            report.duplicates = drop.len();
            let mut index = 0;
            triangles.retain(|_| {
                index += 1;
                drop.binary_search(&(index - 1)).is_err()
            });
        }
        if repair.reorient {
            report.turned += agree(&mut triangles);
        }
        if repair.close_holes {
            report.holes = close_holes(&mut points, &mut triangles);
        }
        if repair.reorient && !triangles.is_empty() {
            let neighbours = check::neighbours(&triangles, true)?;
            let (shell, count) = check::shells(&neighbours);
            let wrong = check::inside_out(&points, &triangles, &shell, count);
            for (t, s) in triangles.iter_mut().zip(&shell) {
                if wrong.iter().any(|w| w.0 == *s) {
                    t.swap(1, 2);
                    report.turned += 1;
                }
            }
        }
        Ok((Self::closed(&points, &triangles)?, report))
    }
}

/// Gives near points one number; the number of points that lost theirs.
fn weld(points: &[DVec3], triangles: &mut [[u32; 3]], distance: f64) -> Result<usize, MeshError> {
    if distance.is_nan() || distance < 0.0 {
        return Err(MeshError::BadWeld { value: distance });
    }
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    let at = |i: u32| points[i as usize];
    order.sort_by(|a, b| at(*a).x.total_cmp(&at(*b).x).then(a.cmp(b)));
    let mut target: Vec<u32> = (0..points.len() as u32).collect();
    for (k, &i) in order.iter().enumerate() {
        if target[i as usize] != i || !at(i).is_finite() {
            continue;
        }
        for &j in &order[k + 1..] {
            // Points that are NaN sort last or first and never compare near.
            if at(j).x - at(i).x > distance {
                break;
            }
            if target[j as usize] == j && (at(j) - at(i)).length() <= distance {
                target[j as usize] = i;
            }
        }
    }
    for corner in triangles.iter_mut().flatten() {
        *corner = target[*corner as usize];
    }
    Ok((0..).zip(&target).filter(|(i, t)| i != *t).count())
}

/// Turns triangles so that neighbours run through their common edge in opposite directions; the number turned.
fn agree(triangles: &mut [[u32; 3]]) -> usize {
    // Undirected edges with their two triangles; edges of more than two join nothing.
    let mut edges: Vec<(u32, u32, u32)> = Vec::with_capacity(3 * triangles.len());
    for (i, t) in (0..).zip(triangles.iter()) {
        for k in 0..3 {
            let (p, q) = (t[k], t[(k + 1) % 3]);
            edges.push((p.min(q), p.max(q), i));
        }
    }
    edges.sort_unstable();
    let mut links: Vec<Vec<u32>> = vec![Vec::new(); triangles.len()];
    for run in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        if let [first, second] = run {
            links[first.2 as usize].push(second.2);
            links[second.2 as usize].push(first.2);
        }
    }
    let mut seen = vec![false; triangles.len()];
    let mut turned = 0;
    let mut stack = Vec::new();
    for start in 0..triangles.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        stack.push(start);
        while let Some(i) = stack.pop() {
            for &j in &links[i] {
                let j = j as usize;
                if std::mem::replace(&mut seen[j], true) {
                    continue;
                }
                if same_sense(&triangles[i], &triangles[j]) {
                    triangles[j].swap(1, 2);
                    turned += 1;
                }
                stack.push(j);
            }
        }
    }
    turned
}

fn same_sense(a: &[u32; 3], b: &[u32; 3]) -> bool {
    (0..3).any(|i| (0..3).any(|j| (a[i], a[(i + 1) % 3]) == (b[j], b[(j + 1) % 3])))
}

/// Fans over loops of borders; the number of holes closed. Loops that meet in a point are left open.
fn close_holes(points: &mut Vec<DVec3>, triangles: &mut Vec<[u32; 3]>) -> usize {
    let edges = check::directed_edges(triangles);
    let has = |tail: u32, head: u32| {
        let at = edges.partition_point(|e| (e.0, e.1) < (tail, head));
        edges.get(at).is_some_and(|e| (e.0, e.1) == (tail, head))
    };
    // What is missing: the reverse of each border, by its tail.
    let mut missing: Vec<(u32, u32)> = edges.iter().filter(|e| !has(e.1, e.0)).map(|e| (e.1, e.0)).collect();
    missing.sort_unstable();
    let mut used = vec![false; missing.len()];
    let mut holes = 0;
    for start in 0..missing.len() {
        if used[start] {
            continue;
        }
        let mut ring = Vec::new();
        let mut at = start;
        let closed = loop {
            used[at] = true;
            ring.push(missing[at].0);
            let head = missing[at].1;
            if head == missing[start].0 {
                break true;
            }
            let next = missing.partition_point(|e| e.0 < head);
            match missing.get(next) {
                Some(e) if e.0 == head && !used[next] => at = next,
                _ => break false,
            }
        };
        if !closed || ring.len() < 3 {
            continue;
        }
        holes += 1;
        if let [a, b, c] = ring[..] {
            triangles.push([a, b, c]);
            continue;
        }
        let middle = ring.iter().map(|i| points[*i as usize]).sum::<DVec3>() / ring.len() as f64;
        let apex = points.len() as u32;
        points.push(middle);
        for (k, &p) in ring.iter().enumerate() {
            triangles.push([p, ring[(k + 1) % ring.len()], apex]);
        }
    }
    holes
}
