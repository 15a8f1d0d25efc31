//! A right-handed frame that depends on the normal alone, and the split of a vector by a plane.
//!
//! # Reference
//! Duff et al., *Building an orthonormal basis, revisited*, JCGT 6(1), 2017, with the sign of zero removed;
//! the need for a consistent frame: Fontijne 2000, 3.2.6.
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | `n` | unit normal, becomes the z axis bit for bit |
//! | `s` | sign of `n_z`, +1 for both zeros |
//!
//! # Formula
//! ```text
//! a = −1 / (s + n_z),  b = n_x n_y a
//! x = (1 + s n_x² a, s b, −s n_x),   y = (b, s + n_y² a, −n_y)
//! ```
//! # Cost
//! One division and ten multiplications, no square root and no branch but the test.
//!
//! # Numerics
//! Orthonormal to 4 ε for every direction. The frame jumps where `n_z` changes sign, as every frame on the
//! sphere must somewhere; equal normals (also +0 and −0) give equal bits.
//!
//! # Failure
//! [`MathError::NotUnit`] if |n|² is off by more than 1e-8, or is NaN.
//!
//! # Tested by
//! `frame_is_orthonormal_right_handed_and_repeatable`, `split_adds_up_and_is_tangential`.

use super::check_unit;
use crate::MathError;
use glam::{DMat3, DVec3};

/// The frame (x, y, n) of a unit normal `n`, as a matrix with these columns.
///
/// Right-handed and orthonormal; the same normal gives the same bits, always and on every target.
///
/// # Errors
/// [`MathError::NotUnit`].
#[inline]
pub fn frame_from_normal(n: DVec3) -> Result<DMat3, MathError> {
    check_unit("normal", n)?;
    // Adding zero turns −0 into +0: equal normals must not differ by the sign of a zero.
    let m = n + DVec3::ZERO;
    let s = if m.z >= 0.0 { 1.0 } else { -1.0 };
    let a = -1.0 / (s + m.z);
    let b = m.x * m.y * a;
    Ok(DMat3::from_cols(
        DVec3::new(1.0 + s * m.x * m.x * a, s * b, -s * m.x),
        DVec3::new(b, s + m.y * m.y * a, -m.y),
        m,
    ))
}

/// The frame of [`frame_from_normal`] for a normal of any length but zero.
///
/// # Errors
/// [`MathError::NonFinite`], or [`MathError::NotUnit`] for a normal without direction.
pub fn frame_across(normal: DVec3) -> Result<DMat3, MathError> {
    MathError::check_vector("normal", normal)?;
    let largest = normal.abs().max_element();
    if largest == 0.0 {
        return Err(MathError::NotUnit { what: "normal", length: 0.0 });
    }
    // Scaled first: squares of tiny and huge normals would vanish or overflow.
    frame_from_normal((normal / largest).normalize())
}

/// The parts of `v` along the unit normal `n` and in the plane across it: v = first + second.
#[inline]
#[must_use]
pub fn split_normal(v: DVec3, n: DVec3) -> (DVec3, DVec3) {
    let normal = n * v.dot(n);
    (normal, v - normal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{SplitMix64, UnitVec, Vector, check};

    fn is_frame(f: DMat3, n: DVec3) -> bool {
        f.z_axis == n
            && (f.transpose() * f).abs_diff_eq(DMat3::IDENTITY, 1e-15 * 2.0)
            && f.x_axis.cross(f.y_axis).abs_diff_eq(n, 1e-15 * 2.0)
    }

    // proves: FON-03
    #[test]
    fn frame_is_orthonormal_right_handed_and_repeatable() {
        fn property(n: UnitVec) -> bool {
            let (f, g) = (frame_from_normal(n.0).unwrap(), frame_from_normal(n.0).unwrap());
            let bits = |m: DMat3| m.to_cols_array().map(f64::to_bits);
            is_frame(f, n.0) && bits(f) == bits(g)
        }
        check(81, 50_000, property as fn(UnitVec) -> bool);
        let axes = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z];
        let mut random = SplitMix64(82);
        for n in axes {
            assert!(is_frame(frame_from_normal(n).unwrap(), n), "{n}");
            for k in 1..=300 {
                let near = (n + random.vec3(crate::ops::powi(10.0, -(k / 15)))).normalize();
                assert!(is_frame(frame_from_normal(near).unwrap(), near), "{near}");
            }
        }
    }

    #[test]
    fn equal_normals_with_other_zeros_give_equal_bits() {
        for n in [DVec3::X, DVec3::NEG_Y, DVec3::new(0.6, 0.8, 0.0), DVec3::NEG_Z] {
            let flipped = n.map(|x| if x == 0.0 { -0.0 } else { x });
            let bits = |n| frame_from_normal(n).unwrap().to_cols_array().map(f64::to_bits);
            assert_eq!(bits(n), bits(flipped), "{n}");
        }
    }

    #[test]
    fn a_normal_of_any_length_has_the_frame_of_its_direction() {
        let mut random = SplitMix64(84);
        for exponent in [-300, -160, -3, 0, 5, 160, 300] {
            for _ in 0..100 {
                let n = random.unit_vec3();
                let frame = frame_across(n * crate::ops::powi(10.0, exponent)).unwrap();
                // The frame turns faster than the normal only where it jumps, at n_z = 0.
                let same = frame.abs_diff_eq(frame_from_normal(n).unwrap(), 1e-14);
                assert!(same || n.z.abs() < 1e-15, "{n} times 1e{exponent}");
            }
        }
    }

    // proves: FON-03
    #[test]
    fn split_adds_up_and_is_tangential() {
        fn property(v: Vector, n: UnitVec) -> bool {
            let (normal, tangential) = split_normal(v.0, n.0);
            let scale = v.0.length();
            (normal + tangential - v.0).length() <= 1e-15 * scale
                && tangential.dot(n.0).abs() <= 1e-15 * scale
                && normal.cross(n.0).length() <= 1e-15 * scale
        }
        check(83, 50_000, property as fn(Vector, UnitVec) -> bool);
    }

    #[test]
    fn a_normal_that_is_not_unit_is_refused() {
        for n in [DVec3::ZERO, DVec3::X * 1.001, DVec3::NAN, DVec3::INFINITY, DVec3::splat(0.5)] {
            assert!(matches!(frame_from_normal(n), Err(MathError::NotUnit { .. })), "{n}");
        }
    }
}
