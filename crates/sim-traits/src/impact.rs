//! What impulse a collision exerts: the seam between contact geometry and collision laws.

use sim_math::glam::{DMat3, DVec3};
use std::fmt::Debug;
use thiserror::Error;

/// One collision in its contact frame: z is the normal from B to A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impact {
    /// Collision matrix K: an impulse p on A (and −p on B) changes the relative velocity by K p. 1/kg, symmetric,
    /// positive semi-definite.
    pub k: DMat3,
    /// Relative velocity u = `u_A` − `u_B` before the collision, m/s; approaching when u.z < 0.
    pub velocity: DVec3,
    /// Coefficient of friction μ ≥ 0.
    pub friction: f64,
    /// Coefficient of restitution e ≥ 0.
    pub restitution: f64,
}

/// Why an impact law gives no impulse.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum ImpactError {
    /// A number of the impact is NaN or infinite.
    #[error("{what} is not finite: {value}")]
    NonFinite {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A coefficient is negative.
    #[error("{what} must not be negative, got {value}")]
    Negative {
        /// Which coefficient.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The collision matrix is not symmetric positive semi-definite, or gives way nowhere along the normal.
    #[error("collision matrix cannot resist along the normal: K_zz = {k_zz}")]
    BadMatrix {
        /// Its normal entry, 1/kg.
        k_zz: f64,
    },
}

impl Impact {
    /// Checks what every law relies on.
    ///
    /// # Errors
    /// A non-finite number, a negative coefficient, or `K_zz` ≤ 0.
    pub fn validate(&self) -> Result<(), ImpactError> {
        let numbers = [
            ("collision matrix", self.k.to_cols_array().as_slice()),
            ("velocity", &self.velocity.to_array()),
        ]
        .into_iter()
        .find_map(|(what, values)| values.iter().find(|x| !x.is_finite()).map(|&value| (what, value)));
        if let Some((what, value)) = numbers {
            return Err(ImpactError::NonFinite { what, value });
        }
        for (what, value) in [("friction", self.friction), ("restitution", self.restitution)] {
            if !value.is_finite() {
                return Err(ImpactError::NonFinite { what, value });
            }
            if value < 0.0 {
                return Err(ImpactError::Negative { what, value });
            }
        }
        let k_zz = self.k.z_axis.z;
        if k_zz > 0.0 { Ok(()) } else { Err(ImpactError::BadMatrix { k_zz }) }
    }
}

/// A collision law: collision matrix, relative velocity, friction and restitution in, impulse out.
///
/// **Contract.** The impulse (N·s, contact frame, on A) pushes: p.z ≥ 0. Bodies that do not approach (u.z ≥ 0) get
/// none. Laws with friction keep |`p_t`| ≤ μ p.z.
///
/// **Determinism.** A function of its argument.
pub trait ImpactLaw: Debug + Send + Sync {
    /// Impulse on A.
    ///
    /// # Errors
    /// What [`Impact::validate`] finds.
    fn impulse(&self, impact: &Impact) -> Result<DVec3, ImpactError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_impacts_are_named() {
        let good = Impact { k: DMat3::IDENTITY, velocity: DVec3::NEG_Z, friction: 0.3, restitution: 0.5 };
        assert_eq!(good.validate(), Ok(()));
        let nan = Impact { velocity: DVec3::new(0.0, f64::NAN, 0.0), ..good };
        assert_eq!(nan.validate().unwrap_err().to_string(), "velocity is not finite: NaN");
        let infinite = Impact { k: DMat3::from_diagonal(DVec3::new(1.0, f64::INFINITY, 1.0)), ..good };
        assert_eq!(infinite.validate().unwrap_err().to_string(), "collision matrix is not finite: inf");
        let negative = Impact { friction: -0.1, ..good };
        assert_eq!(negative.validate().unwrap_err().to_string(), "friction must not be negative, got -0.1");
        let locked = Impact { k: DMat3::ZERO, ..good };
        assert_eq!(locked.validate(), Err(ImpactError::BadMatrix { k_zz: 0.0 }));
    }
}
