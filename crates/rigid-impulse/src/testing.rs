//! Random input shared by the tests of this crate.

use sim_math::{
    glam::{DMat3, DVec3},
    ops,
    testkit::SplitMix64,
};

/// A random symmetric positive definite matrix, condition number up to `condition`, scale about one.
pub(crate) fn random_matrix(random: &mut SplitMix64, condition: f64) -> DMat3 {
    let axes = DMat3::from_quat(random.unit_quat());
    let span = ops::ln(condition);
    let eigenvalues = DVec3::new(
        ops::exp(-span * random.unit()),
        ops::exp(-span * random.unit()),
        ops::exp(-span * random.unit()),
    );
    let k = axes * DMat3::from_diagonal(eigenvalues) * axes.transpose();
    // Bitwise symmetric.
    (k + k.transpose()) * 0.5
}
