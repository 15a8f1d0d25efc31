//! Cross products as matrices: ṽ w = v × w.

use glam::{DMat3, DVec3};

/// The matrix ṽ with ṽ w = v × w; ṽᵀ = −ṽ.
#[inline]
#[must_use]
pub const fn cross_matrix(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

/// The vector v of the antisymmetric part of `m`: undoes [`cross_matrix`].
#[inline]
#[must_use]
pub fn cross_vector(m: DMat3) -> DVec3 {
    DVec3::new(m.y_axis.z - m.z_axis.y, m.z_axis.x - m.x_axis.z, m.x_axis.y - m.y_axis.x) * 0.5
}

/// ṽ M: v × each column, without forming ṽ.
#[inline]
#[must_use]
pub fn cross_times_mat3(v: DVec3, m: DMat3) -> DMat3 {
    DMat3::from_cols(v.cross(m.x_axis), v.cross(m.y_axis), v.cross(m.z_axis))
}

/// M ṽ, without forming ṽ: each row crossed with v.
#[inline]
#[must_use]
pub fn mat3_times_cross(m: DMat3, v: DVec3) -> DMat3 {
    DMat3::from_cols(
        m.y_axis * v.z - m.z_axis * v.y,
        m.z_axis * v.x - m.x_axis * v.z,
        m.x_axis * v.y - m.y_axis * v.x,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{UnitQuat, Vector, check};

    // proves: FON-02, CLI-11, ARN-01
    #[test]
    fn cross_matrix_multiplies_like_the_cross_product() {
        fn property(v: Vector, w: Vector, q: UnitQuat) -> bool {
            let (v, w, m) = (v.0, w.0, cross_matrix(v.0));
            let r = DMat3::from_quat(q.0);
            let general = DMat3::from_cols(w, v, v + w * 2.0);
            (m * w - v.cross(w)).abs().max_element() == 0.0
                && m.transpose() == m * -1.0
                && cross_vector(m) == v
                && cross_times_mat3(v, general).abs_diff_eq(m * general, 1e-12)
                && mat3_times_cross(general, v).abs_diff_eq(general * m, 1e-12)
                // (R v)~ = R ṽ Rᵀ
                && cross_matrix(r * v).abs_diff_eq(r * m * r.transpose(), 1e-13)
        }
        check(61, 20_000, property as fn(Vector, Vector, UnitQuat) -> bool);
    }
}
