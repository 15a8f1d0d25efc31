//! Orientations of scene files, where angles are degrees.

use crate::format::{
    RotationSpec,
    error::{Place, SceneError},
};
use sim_math::{
    glam::{DQuat, DVec3},
    ops,
};
use std::f64::consts::PI;

/// Radians of an angle in degrees.
pub(crate) fn radians(degrees: f64) -> f64 {
    degrees * (PI / 180.0)
}

/// Sine and cosine of an angle in degrees, exact at multiples of 90: grids that are turned stay grids.
pub(crate) fn sin_cos(degrees: f64) -> (f64, f64) {
    let turned = degrees % 360.0;
    let quarter = (turned / 90.0).round();
    let (s, c) = ops::sin_cos(radians(turned - 90.0 * quarter));
    match (quarter as i64).rem_euclid(4) {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

/// Rotation about a unit vector, degrees.
pub(crate) fn about(axis: DVec3, degrees: f64) -> DQuat {
    let (s, c) = sin_cos(0.5 * (degrees % 720.0));
    DQuat::from_xyzw(axis.x * s, axis.y * s, axis.z * s, c)
}

/// The rotation that a scene asks for.
pub(crate) fn rotation(spec: &RotationSpec, place: &Place) -> Result<DQuat, SceneError> {
    match *spec {
        RotationSpec::None => Ok(DQuat::IDENTITY),
        RotationSpec::AxisAngle { axis, degrees } => {
            Ok(about(place.direction("axis", axis)?, place.finite("degrees", degrees)?))
        }
        RotationSpec::Euler(x, y, z) => {
            for value in [x, y, z] {
                if !value.is_finite() {
                    return Err(place.error(format_args!("angles must be finite, got ({x}, {y}, {z})")));
                }
            }
            Ok((about(DVec3::Z, z) * about(DVec3::Y, y) * about(DVec3::X, x)).normalize())
        }
        RotationSpec::Quaternion(x, y, z, w) => {
            let q = DQuat::from_xyzw(x, y, z, w);
            let length = q.length();
            // Far from unit length is a mistake rather than rounding.
            if (0.5..2.0).contains(&length) {
                Ok(q.normalize())
            } else {
                Err(place.error(format_args!("must have length 1, ({x}, {y}, {z}, {w}) has {length}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Triple;

    #[test]
    fn right_angles_are_exact_and_all_others_agree_with_radians() {
        for (degrees, s, c) in [(0.0, 0.0, 1.0), (90.0, 1.0, 0.0), (180.0, 0.0, -1.0), (-90.0, -1.0, 0.0)] {
            assert_eq!(sin_cos(degrees), (s, c), "{degrees}");
            assert_eq!(sin_cos(degrees + 720.0), (s, c), "{degrees}");
        }
        for k in -1000..1000 {
            let degrees = f64::from(k) * 0.77;
            let (s, c) = sin_cos(degrees);
            assert!((s - ops::sin(radians(degrees))).abs() < 1e-14);
            assert!((c - ops::cos(radians(degrees))).abs() < 1e-14);
        }
    }

    #[test]
    fn angles_turn_the_way_the_documentation_says() {
        let place = Place::new("x.ron");
        let turn = |spec| rotation(&spec, &place).unwrap();
        let axis = Triple::new(0.0, 0.0, 5.0);
        let left = turn(RotationSpec::AxisAngle { axis, degrees: 90.0 });
        assert!((left * DVec3::X - DVec3::Y).length() < 1e-15);
        // About fixed axes: first x, then z.
        let both = turn(RotationSpec::Euler(90.0, 0.0, 90.0));
        assert!((both * DVec3::Y - DVec3::Z).length() < 1e-15);
        assert!((both * DVec3::X - DVec3::Y).length() < 1e-15);
        let wrong = rotation(&RotationSpec::Quaternion(0.0, 0.0, 0.0, 0.0), &place).unwrap_err();
        assert_eq!(wrong.to_string(), "x.ron: must have length 1, (0, 0, 0, 0) has 0");
    }
}
