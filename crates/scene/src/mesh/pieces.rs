//! Connected pieces of a surface.

use super::Mesh;

/// The mesh as separate meshes, one for each set of faces that hang together by shared points, in the order of their first
/// face.
#[must_use]
pub fn pieces(mesh: &Mesh) -> Vec<Mesh> {
    // Union of points by faces, smallest index as the root.
    let mut parent: Vec<u32> = (0..mesh.points.len() as u32).collect();
    fn root(parent: &mut [u32], mut k: u32) -> u32 {
        while parent[k as usize] != k {
            parent[k as usize] = parent[parent[k as usize] as usize];
            k = parent[k as usize];
        }
        k
    }
    for face in &mesh.faces {
        for pair in face.windows(2) {
            let (a, b) = (root(&mut parent, pair[0]), root(&mut parent, pair[1]));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let mut piece_of = vec![u32::MAX; mesh.points.len()];
    let mut renamed = vec![u32::MAX; mesh.points.len()];
    let mut out: Vec<Mesh> = Vec::new();
    for face in &mesh.faces {
        let Some(&first) = face.first() else { continue };
        let r = root(&mut parent, first) as usize;
        if piece_of[r] == u32::MAX {
            piece_of[r] = out.len() as u32;
            out.push(Mesh::default());
        }
        let piece = &mut out[piece_of[r] as usize];
        let face = face
            .iter()
            .map(|&k| {
                let k = k as usize;
                if renamed[k] == u32::MAX {
                    renamed[k] = piece.points.len() as u32;
                    piece.points.push(mesh.points[k]);
                }
                renamed[k]
            })
            .collect();
        piece.faces.push(face);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::glam::DVec3;

    #[test]
    fn faces_that_share_no_point_are_separate_pieces() {
        let points = (0..9).map(|k| DVec3::X * f64::from(k)).collect();
        let faces = vec![vec![0, 1, 2], vec![6, 7, 8], vec![2, 3, 4], vec![8, 5, 7]];
        let found = pieces(&Mesh { points, faces });
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].faces, [[0, 1, 2], [2, 3, 4]]);
        assert_eq!(found[1].points.len(), 4);
        assert_eq!(found[1].points[0].x, 6.0);
    }
}
