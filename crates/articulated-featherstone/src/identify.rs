//! Mass properties of a link from its recorded motion and the wrenches on it.
//!
//! # Reference
//! Cline 2002, 5.1.1 (mass properties estimated from motion capture, named there as future work); Atkeson, An, Hollerbach,
//! *Estimation of inertial parameters of manipulator loads and links* (1986).
//!
//! # Symbols
//! | code | meaning |
//! |---|---|
//! | π | ten numbers: mass, first moment, inertia at the link origin |
//! | Y | 6x10: the wrench is linear in π |
//! | `normal`, `right` | Σ Yᵀ Y, Σ Yᵀ f |
//!
//! # Formula
//! ```text
//! f = I a + v ×* I v = Y(v, a) π,      π = (Σ Yᵀ Y)⁻¹ Σ Yᵀ f
//! ```
//! # Cost
//! 600 multiplications for each sample, one 10x10 Cholesky factorisation at the end; no allocation for samples.
//!
//! # Numerics
//! Normal equations, scaled to a unit diagonal: half the digits of the data are usable, which recorded motion does not reach.
//!
//! # Failure
//! Numbers that are not finite; a motion that leaves some of the ten numbers open; an answer that no body has.
//!
//! # Tested by
//! `a_body_is_identified_from_recorded_poses`,
//! `exact_samples_give_the_body_back`,
//! `a_motion_that_shows_too_little_is_refused`.

use sim_math::{
    MathError, Sym3,
    dense::{Cholesky, MatRef},
    glam::DVec3,
    spatial::{Force, Motion, RigidInertia},
};

/// Collects samples of a motion; [`InertiaEstimator::solve`] finds the body that moves so.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InertiaEstimator {
    normal: [[f64; 10]; 10],
    right: [f64; 10],
}

impl InertiaEstimator {
    /// Without samples.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one sample: velocity and spatial acceleration minus that of free fall, and the sum of all wrenches but gravity's on the
    /// link, all at the link origin in link axes.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn add(
        &mut self,
        velocity: Motion,
        proper_acceleration: Motion,
        wrench: Force,
    ) -> Result<(), MathError> {
        let wrench = wrench.to_array();
        MathError::check_finite("velocity of a sample", &velocity.to_array())?;
        MathError::check_finite("acceleration of a sample", &proper_acceleration.to_array())?;
        MathError::check_finite("wrench of a sample", &wrench)?;
        let columns: [[f64; 6]; 10] = std::array::from_fn(|k| {
            let unit = body_of(&std::array::from_fn(|i| if i == k { 1.0 } else { 0.0 }));
            (unit.mul_motion(proper_acceleration) + unit.bias_force(velocity)).to_array()
        });
        let dot = |a: &[f64; 6], b: &[f64; 6]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for (i, a) in columns.iter().enumerate() {
            for (j, b) in columns.iter().enumerate() {
                self.normal[i][j] += dot(a, b);
            }
            self.right[i] += dot(a, &wrench);
        }
        Ok(())
    }

    /// The body, at the link origin in link axes.
    ///
    /// # Errors
    /// [`MathError`] if the samples do not determine all ten numbers, or no body has them.
    pub fn solve(&self) -> Result<RigidInertia, MathError> {
        let scale: [f64; 10] = std::array::from_fn(|k| 1.0 / self.normal[k][k].max(f64::MIN_POSITIVE).sqrt());
        let scaled: [[f64; 10]; 10] =
            std::array::from_fn(|i| std::array::from_fn(|j| self.normal[i][j] * scale[i] * scale[j]));
        let mut x: [f64; 10] = std::array::from_fn(|k| self.right[k] * scale[k]);
        let mut factor = Cholesky::default();
        factor.factor(MatRef::new(scaled.as_flattened(), 10, 10, 10)?)?;
        factor.solve_in_place(&mut x)?;
        let body = body_of(&std::array::from_fn(|k| x[k] * scale[k]));
        RigidInertia::new(body.mass, body.center_of_mass(), body.inertia())
    }
}

fn body_of(x: &[f64; 10]) -> RigidInertia {
    RigidInertia {
        mass: x[0],
        first_moment: DVec3::new(x[1], x[2], x[3]),
        inertia_at_origin: Sym3::from_array([x[4], x[5], x[6], x[7], x[8], x[9]]),
    }
}
