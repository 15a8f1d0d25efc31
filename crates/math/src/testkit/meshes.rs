//! Meshes with known properties.

use glam::DVec3;
use std::collections::BTreeMap;

/// Sphere of radius 1 by repeated halving of an icosahedron's edges: level 1 is the icosahedron with 20
/// faces, each further level has four times as many. Counter-clockwise seen from outside.
#[must_use]
pub fn icosphere(level: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let g = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut vertices: Vec<DVec3> = [
        [-1.0, g, 0.0],
        [1.0, g, 0.0],
        [-1.0, -g, 0.0],
        [1.0, -g, 0.0],
        [0.0, -1.0, g],
        [0.0, 1.0, g],
        [0.0, -1.0, -g],
        [0.0, 1.0, -g],
        [g, 0.0, -1.0],
        [g, 0.0, 1.0],
        [-g, 0.0, -1.0],
        [-g, 0.0, 1.0],
    ]
    .map(|p| DVec3::from_array(p).normalize())
    .to_vec();
    let mut faces: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 1..level {
        let mut middles = BTreeMap::new();
        let mut middle = |i: u32, j: u32| {
            *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                vertices.push((vertices[i as usize] + vertices[j as usize]).normalize());
                vertices.len() as u32 - 1
            })
        };
        faces = faces
            .iter()
            .flat_map(|&[i, j, k]| {
                let (a, b, c) = (middle(i, j), middle(j, k), middle(k, i));
                [[i, a, c], [j, b, a], [k, c, b], [a, b, c]]
            })
            .collect();
    }
    (vertices, faces)
}
