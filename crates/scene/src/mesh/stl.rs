//! STL, text and binary. Normals are ignored, equal corners are joined.

use super::{MAX_ITEMS, Mesh, MeshError, number};
use sim_math::glam::DVec3;
use sim_traits::FixedMap;

const HEADER: usize = 84;
const TRIANGLE: usize = 50;

/// Reads an STL file. Binary if its length fits its triangle count, else text.
///
/// # Errors
/// Neither kind, naming line or byte; a number that is not finite; no triangle at all.
pub fn read_stl(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let mut corners = Corners::default();
    match binary_count(bytes) {
        Some(count) => read_binary(bytes, count, &mut corners)?,
        None if bytes.trim_ascii_start().starts_with(b"solid") => read_text(bytes, &mut corners)?,
        None => {
            let problem = format!("{} bytes are neither binary nor text STL", bytes.len());
            return Err(MeshError::File(problem));
        }
    }
    if corners.mesh.faces.is_empty() {
        return Err(MeshError::File("no triangles".to_owned()));
    }
    Ok(corners.mesh)
}

fn binary_count(bytes: &[u8]) -> Option<usize> {
    let field: [u8; 4] = bytes.get(80..HEADER)?.try_into().ok()?;
    let count = u32::from_le_bytes(field) as usize;
    (count.checked_mul(TRIANGLE)?.checked_add(HEADER)? == bytes.len()).then_some(count)
}

fn read_binary(bytes: &[u8], count: usize, corners: &mut Corners) -> Result<(), MeshError> {
    if count > MAX_ITEMS {
        return Err(MeshError::File(format!("{count} triangles are more than {MAX_ITEMS}")));
    }
    for (k, record) in bytes[HEADER..].chunks_exact(TRIANGLE).enumerate() {
        let mut points = [DVec3::ZERO; 3];
        for (p, point) in points.iter_mut().enumerate() {
            for axis in 0..3 {
                // The normal comes first: 12 bytes.
                let at = 12 + 12 * p + 4 * axis;
                let field = [record[at], record[at + 1], record[at + 2], record[at + 3]];
                point[axis] = f64::from(f32::from_le_bytes(field));
            }
            if !point.is_finite() {
                return Err(MeshError::File(format!("triangle {k}: corner {p} is not finite: {point}")));
            }
        }
        corners.triangle(points);
    }
    Ok(())
}

fn read_text(bytes: &[u8], corners: &mut Corners) -> Result<(), MeshError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| MeshError::File(format!("not text (byte {})", e.valid_up_to())))?;
    let mut points = Vec::with_capacity(3);
    for (k, line) in text.lines().enumerate() {
        let row = k + 1;
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("vertex") => {
                let mut point = DVec3::ZERO;
                for axis in 0..3 {
                    point[axis] = number(words.next(), row)?;
                }
                if points.len() == 3 {
                    return Err(MeshError::line(row, "a facet has more than three corners"));
                }
                points.push(point);
            }
            Some("endloop") => {
                let Ok(three) = <[DVec3; 3]>::try_from(points.as_slice()) else {
                    return Err(MeshError::line(row, format!("a facet has {} corners", points.len())));
                };
                if corners.mesh.faces.len() >= MAX_ITEMS {
                    return Err(MeshError::line(row, format!("more than {MAX_ITEMS} triangles")));
                }
                corners.triangle(three);
                points.clear();
            }
            _ => {}
        }
    }
    if points.is_empty() { Ok(()) } else { Err(MeshError::File("the last facet does not end".to_owned())) }
}

/// Joins equal corners.
#[derive(Default)]
struct Corners {
    mesh: Mesh,
    index: FixedMap<[u64; 3], u32>,
}

impl Corners {
    fn triangle(&mut self, points: [DVec3; 3]) {
        let face: Vec<u32> = points
            .iter()
            .map(|point| {
                // Adding zero makes both zeros one.
                let key = (*point + DVec3::ZERO).to_array().map(f64::to_bits);
                let next = self.mesh.points.len() as u32;
                let index = *self.index.entry(key).or_insert(next);
                if index == next {
                    self.mesh.points.push(*point);
                }
                index
            })
            .collect();
        // A sliver between equal corners bounds nothing.
        if face[0] != face[1] && face[1] != face[2] && face[2] != face[0] {
            self.mesh.faces.push(face);
        }
    }
}

/// Writes a mesh as binary STL, in single precision; polygons become fans of triangles.
#[must_use]
pub fn write_stl(mesh: &Mesh) -> Vec<u8> {
    let triangles: Vec<[u32; 3]> =
        mesh.faces.iter().flat_map(|f| (2..f.len()).map(move |k| [f[0], f[k - 1], f[k]])).collect();
    let mut bytes = vec![0_u8; 80];
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for corners in triangles {
        let point = |k: u32| mesh.points.get(k as usize).copied().unwrap_or_default();
        let [a, b, c] = corners.map(point);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for v in [normal, a, b, c] {
            bytes.extend(v.to_array().into_iter().flat_map(|x| (x as f32).to_le_bytes()));
        }
        bytes.extend([0, 0]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> Mesh {
        let points =
            (0..8).map(|k| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2))).collect();
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Mesh { points, faces: faces.iter().map(|f| f.to_vec()).collect() }
    }

    #[test]
    fn binary_files_come_back_with_joined_corners() {
        let mesh = read_stl(&write_stl(&cube())).unwrap();
        assert_eq!((mesh.points.len(), mesh.faces.len()), (8, 12));
    }

    #[test]
    fn text_files_are_read_and_errors_name_the_line() {
        let facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 -0.0\nendloop\nendfacet\n";
        let mesh = read_stl(format!("solid x\n{facet}{facet}endsolid\n").as_bytes()).unwrap();
        assert_eq!((mesh.points.len(), mesh.faces.len()), (3, 2));
        for (text, message) in [
            ("solid\nvertex 0 0 x\n", "line 2: `x` is not a finite number"),
            ("solid\nvertex 0 0 0\nendloop\n", "line 3: a facet has 1 corners"),
            ("solid\nvertex 0 0 0\n", "the last facet does not end"),
            ("solid\n", "no triangles"),
            ("sold\n", "5 bytes are neither binary nor text STL"),
        ] {
            assert_eq!(read_stl(text.as_bytes()).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn truncated_binary_files_are_errors() {
        let whole = write_stl(&cube());
        for n in 0..whole.len() {
            assert!(read_stl(&whole[..n]).is_err(), "{n} bytes");
        }
    }
}
