//! What can be wrong with bodies, motions and queues.

use sim_math::{MathError, glam::DVec3, integrate::IntegrateError, mass::MassError};
use thiserror::Error;

/// A body, material or motion that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A number is NaN or infinite.
    #[error("{what} is not finite: {value}")]
    NonFinite {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number that must be positive is not.
    #[error("{what} must be positive, got {value}")]
    NotPositive {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number that must not be negative is.
    #[error("{what} must not be negative, got {value}")]
    Negative {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number that must be at most 1 is larger.
    #[error("{what} must be at most 1, got {value}")]
    AboveOne {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Moments that violate the triangle inequality.
    #[error("no body has principal moments {moments}: one exceeds the sum of the others")]
    ImpossibleMoments {
        /// The moments, kg·m².
        moments: DVec3,
    },
    /// A quaternion or direction that is not of unit length.
    #[error("{what}: quaternion has length {length}, not 1")]
    NotUnit {
        /// Which one.
        what: &'static str,
        /// Its length.
        length: f64,
    },
    /// The rotation of a body could not be advanced.
    #[error(transparent)]
    Rotation(#[from] IntegrateError),
    /// Mass properties that no body has.
    #[error(transparent)]
    Mass(#[from] MassError),
    /// A mathematical routine refused its input.
    #[error(transparent)]
    Math(#[from] MathError),
}
