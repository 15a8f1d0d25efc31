//! A dish of convex pieces.

use super::rotation::radians;
use collision_narrowphase::{Polyhedron, PolyhedronError};
use sim_math::{glam::DVec3, ops};

/// Shell of a sphere of inner radius `curvature` (m) around (0, 0, curvature), cut off where it is `rim` (m) from the axis.
///
/// Each piece spans a cell between two circles of latitude and two meridians. The four inner corners of a cell lie in a
/// plane (two parallel chords), so the inside is a surface of flat cells whose corners are on the sphere; a ball on it is at
/// most curvature (1 − cos(half a cell)) away from where the sphere would be.
pub(crate) fn dish(
    (curvature, rim, thickness): (f64, f64, f64),
    rings: usize,
    sectors: usize,
) -> Result<Vec<Polyhedron>, PolyhedronError> {
    let steepest = ops::asin(rim / curvature);
    let point = |radius: f64, ring: usize, sector: usize| {
        let (s, c) = ops::sin_cos(steepest * ring as f64 / rings as f64);
        let (sy, cx) = ops::sin_cos(radians(360.0 * (sector % sectors) as f64 / sectors as f64));
        DVec3::new(radius * s * cx, radius * s * sy, curvature - radius * c)
    };
    let mut out = Vec::with_capacity(rings * sectors);
    let mut corners = Vec::with_capacity(8);
    for ring in 0..rings {
        for sector in 0..sectors {
            corners.clear();
            for radius in [curvature, curvature + thickness] {
                for (r, s) in [(ring, sector), (ring, sector + 1), (ring + 1, sector + 1), (ring + 1, sector)]
                {
                    // Around the pole two corners are one.
                    if r > 0 || s == sector {
                        corners.push(point(radius, r, s));
                    }
                }
            }
            out.push(Polyhedron::hull(&corners)?);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inside_is_within_one_cell_of_the_sphere_and_pieces_fill_the_shell() {
        let (curvature, rim, thickness) = (1.0, 0.5, 0.05);
        let pieces = dish((curvature, rim, thickness), 6, 48).unwrap();
        assert_eq!(pieces.len(), 6 * 48);
        let center = DVec3::Z * curvature;
        for piece in &pieces {
            for v in piece.vertices() {
                let r = v.position.distance(center);
                assert!((r - curvature).abs() < 1e-12 || (r - curvature - thickness).abs() < 1e-12);
            }
        }
        // Volume of a spherical cap sector between two radii: 2π/3 (1 − cos θ) (R³ − r³).
        let cap = 1.0 - (1.0 - rim * rim).sqrt();
        let exact = std::f64::consts::TAU / 3.0 * cap * (1.05 * 1.05 * 1.05 - 1.0);
        let sum: f64 = pieces.iter().map(Polyhedron::volume).sum();
        assert!((sum / exact - 1.0).abs() < 0.01, "{sum} {exact}");
    }
}
