//! Random collisions, shared by the integration tests.

#![allow(dead_code, reason = "each test file uses its part")]

use sim_math::{
    glam::{DMat3, DVec3},
    ops,
    testkit::SplitMix64,
};
use sim_traits::Impact;

/// A random symmetric positive definite matrix, condition number up to `condition`, largest eigenvalue about one.
pub(crate) fn random_matrix(random: &mut SplitMix64, condition: f64) -> DMat3 {
    let axes = DMat3::from_quat(random.unit_quat());
    let span = ops::ln(condition);
    let mut eigenvalue = || ops::exp(-span * random.unit());
    let eigenvalues = DVec3::new(eigenvalue(), eigenvalue(), eigenvalue());
    let k = axes * DMat3::from_diagonal(eigenvalues) * axes.transpose();
    (k + k.transpose()) * 0.5
}

/// A random approaching collision.
pub(crate) fn random_impact(random: &mut SplitMix64, condition: f64, max_friction: f64) -> Impact {
    let k = random_matrix(random, condition);
    let mut velocity = random.vec3(1.0);
    velocity.z = -velocity.z.abs().max(1e-3);
    Impact { k, velocity, friction: random.range(0.0, max_friction), restitution: random.unit() }
}

/// Total work done on the bodies, from the change of ½ uᵀK⁻¹u.
pub(crate) fn energy_change(impact: &Impact, after: DVec3) -> f64 {
    let energy = |u: DVec3| 0.5 * u.dot(impact.k.inverse() * u);
    energy(after) - energy(impact.velocity)
}
