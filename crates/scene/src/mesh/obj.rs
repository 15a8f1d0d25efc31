//! Wavefront OBJ: `v` and `f` lines; everything else is skipped.

use super::{MAX_ITEMS, Mesh, MeshError, number};
use sim_math::glam::DVec3;

/// Reads an OBJ file.
///
/// Faces may be `i`, `i/t`, `i/t/n` or `i//n`; negative indices count from the last point.
///
/// # Errors
/// Text that is no OBJ file, naming the line; an index of a point that is not there; no face at all.
pub fn read_obj(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| MeshError::File(format!("not text (byte {})", e.valid_up_to())))?;
    let mut mesh = Mesh::default();
    for (k, line) in text.lines().enumerate() {
        let row = k + 1;
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                if mesh.points.len() >= MAX_ITEMS {
                    return Err(MeshError::line(row, format!("more than {MAX_ITEMS} points")));
                }
                let mut point = DVec3::ZERO;
                for axis in 0..3 {
                    point[axis] = number(words.next(), row)?;
                }
                mesh.points.push(point);
            }
            Some("f") => {
                if mesh.faces.len() >= MAX_ITEMS {
                    return Err(MeshError::line(row, format!("more than {MAX_ITEMS} faces")));
                }
                let face: Vec<u32> =
                    words.map(|word| corner(word, mesh.points.len(), row)).collect::<Result<_, _>>()?;
                if face.len() < 3 {
                    return Err(MeshError::line(row, format!("a face has {} corners", face.len())));
                }
                mesh.faces.push(face);
            }
            _ => {}
        }
    }
    if mesh.faces.is_empty() {
        return Err(MeshError::File(format!("no faces ({} points)", mesh.points.len())));
    }
    Ok(mesh)
}

fn corner(word: &str, points: usize, line: usize) -> Result<u32, MeshError> {
    let index = word.split('/').next().unwrap_or_default();
    let shown = || index.chars().take(40).collect::<String>();
    let n: i64 = index
        .parse()
        .map_err(|_| MeshError::line(line, format!("`{}` is not the index of a point", shown())))?;
    let zero_based = if n < 0 { points as i64 + n } else { n - 1 };
    u32::try_from(zero_based)
        .ok()
        .filter(|&i| (i as usize) < points)
        .ok_or_else(|| MeshError::line(line, format!("point {n} of {points} so far")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: &str = "# four points\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n\
        g side\nf 1/1/1 3/2/1 2/3/1\nf 1//2 2//2 4//2\nf -4 -1 -2\nf 2 3 4\n";

    #[test]
    fn all_ways_to_name_a_corner_are_understood() {
        let mesh = read_obj(TETRAHEDRON.as_bytes()).unwrap();
        assert_eq!(mesh.points.len(), 4);
        assert_eq!(mesh.faces, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, message) in [
            ("v 0 0\n", "line 1: a number is missing"),
            ("v 0 0 NaN\n", "line 1: `NaN` is not a finite number"),
            ("v 0 0 0\nf 1 2 3\n", "line 2: point 2 of 1 so far"),
            ("v 0 0 0\nf 1 0 1\n", "line 2: point 0 of 1 so far"),
            ("v 0 0 0\nf 1 -2 1\n", "line 2: point -2 of 1 so far"),
            ("v 0 0 0\nf 1 1\n", "line 2: a face has 2 corners"),
            ("v 0 0 0\nf a b c\n", "line 2: `a` is not the index of a point"),
            ("hello\n", "no faces (0 points)"),
        ] {
            assert_eq!(read_obj(text.as_bytes()).unwrap_err().to_string(), message);
        }
        assert_eq!(read_obj(&[0xff, 0xfe]).unwrap_err().to_string(), "not text (byte 0)");
    }
}
