//! What can be wrong with the input of a mathematical routine.

use glam::DVec3;
use thiserror::Error;

/// Input that a routine of this crate refuses, with the item and the value.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum MathError {
    /// A number is NaN or infinite.
    #[error("{what} {index} is not finite: {value}")]
    NonFinite {
        /// What kind of item was read ("vertex", "mass", "matrix entry").
        what: &'static str,
        /// Its position in the input.
        index: usize,
        /// The offending number.
        value: f64,
    },
    /// A number that must be positive is not.
    #[error("{what} {index} must be positive, got {value}")]
    NotPositive {
        /// What kind of item was read.
        what: &'static str,
        /// Its position in the input.
        index: usize,
        /// The offending number.
        value: f64,
    },
    /// Nothing was given where at least `needed` items are required.
    #[error("needs at least {needed} {what}, got {got}")]
    TooFew {
        /// What kind of item is counted.
        what: &'static str,
        /// The least number that makes sense.
        needed: usize,
        /// What was given.
        got: usize,
    },
    /// A slice has the wrong length.
    #[error("{what} has length {got}, expected {expected}")]
    WrongLength {
        /// Which argument.
        what: &'static str,
        /// The length it must have.
        expected: usize,
        /// The length it has.
        got: usize,
    },
    /// A number outside the interval in which it makes sense.
    #[error("{what} {index} is {value}, outside {low} to {high}")]
    OutsideInterval {
        /// What kind of item was read.
        what: &'static str,
        /// Its position in the input.
        index: usize,
        /// The offending number.
        value: f64,
        /// Least value that is allowed.
        low: f64,
        /// Greatest value that is allowed.
        high: f64,
    },
    /// A box whose lower corner is above its upper corner.
    #[error("inverted box: min {min} is above max {max}")]
    InvertedBox {
        /// Lower corner as given.
        min: DVec3,
        /// Upper corner as given.
        max: DVec3,
    },
    /// A number lies outside the domain of a function.
    #[error("{what} {value} is outside {domain}")]
    OutOfDomain {
        /// Which argument.
        what: &'static str,
        /// The offending number.
        value: f64,
        /// The domain, as an interval.
        domain: &'static str,
    },
    /// A matrix has no inverse to working precision.
    #[error("{what} is singular: pivot {pivot} is {value}")]
    Singular {
        /// Which matrix.
        what: &'static str,
        /// The elimination step that found nothing to divide by.
        pivot: usize,
        /// The pivot it found, in the units of the matrix.
        value: f64,
    },
    /// A vector or quaternion that must have length 1 has another length.
    #[error("{what} must have length 1, got {length}")]
    NotUnit {
        /// Which argument.
        what: &'static str,
        /// Its length.
        length: f64,
    },
    /// A matrix that must be a rotation (orthonormal, right-handed) is not.
    #[error("{what} is not a rotation: it is off by {deviation}")]
    NotRotation {
        /// Which argument.
        what: &'static str,
        /// Largest entry of |`RᵀR` − 1|, or the determinant if it is not positive.
        deviation: f64,
    },
    /// An iteration stopped before it reached its tolerance.
    #[error("{what} did not converge in {iterations} iterations, residual {residual}")]
    NotConverged {
        /// Which routine.
        what: &'static str,
        /// Iterations made.
        iterations: usize,
        /// What was left, in the routine's own measure.
        residual: f64,
    },
    /// An index or a range end lies outside its container.
    #[error("{what} {index} is out of range, the limit is {limit}")]
    OutOfRange {
        /// What is indexed.
        what: &'static str,
        /// The index or range end asked for.
        index: usize,
        /// The largest length or id allowed.
        limit: usize,
    },
    /// A solve was asked for before a successful factorisation.
    #[error("{what} holds no factorisation")]
    NotPrepared {
        /// Which solver.
        what: &'static str,
    },
    /// A number that must not be negative is.
    #[error("{what} {index} must not be negative, got {value}")]
    Negative {
        /// What kind of item was read.
        what: &'static str,
        /// Its position in the input.
        index: usize,
        /// The offending number.
        value: f64,
    },
    /// A matrix that must be symmetric is not.
    #[error("entries ({row}, {column}) and ({column}, {row}) of {what} differ by {difference}")]
    NotSymmetric {
        /// Which matrix.
        what: &'static str,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// By how much the two entries differ.
        difference: f64,
    },
    /// Principal moments that no distribution of positive mass has: one is negative or exceeds the sum of
    /// the other two.
    #[error("no body has the principal moments {moments}")]
    Unphysical {
        /// Principal moments, kg·m².
        moments: DVec3,
    },
    /// The box of an item has a NaN corner or is inverted.
    #[error("item {item} has an invalid box: min {min}, max {max}")]
    InvalidItemBox {
        /// The item.
        item: u32,
        /// Lower corner as given.
        min: DVec3,
        /// Upper corner as given.
        max: DVec3,
    },
    /// An item is not there, or is there already.
    #[error("item {item} is {state}")]
    Item {
        /// The item.
        item: u32,
        /// "not in the tree" or "already in the tree".
        state: &'static str,
    },
}

impl MathError {
    /// `Ok` if every number of `values` is finite, else the error naming the first that is not.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] with the index of the first bad number.
    pub fn check_finite(what: &'static str, values: &[f64]) -> Result<(), MathError> {
        match values.iter().position(|x| !x.is_finite()) {
            Some(index) => Err(MathError::NonFinite { what, index, value: values[index] }),
            None => Ok(()),
        }
    }

    /// The vector itself if its three numbers are finite.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] with the index 0, 1 or 2 of the first bad number.
    #[inline]
    pub fn check_vector(what: &'static str, v: DVec3) -> Result<DVec3, MathError> {
        MathError::check_finite(what, &v.to_array())?;
        Ok(v)
    }

    /// `Ok` if every vector of a list is finite, else the error with the index of the first that is not.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] with the position in the list.
    pub fn check_vectors(what: &'static str, list: &[DVec3]) -> Result<(), MathError> {
        for (index, v) in list.iter().enumerate() {
            if let Some(value) = v.to_array().into_iter().find(|x| !x.is_finite()) {
                return Err(MathError::NonFinite { what, index, value });
            }
        }
        Ok(())
    }

    /// The number itself if it is positive and finite.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] or [`MathError::NotPositive`], with the index given.
    #[inline]
    pub fn check_positive(what: &'static str, index: usize, value: f64) -> Result<f64, MathError> {
        if value > 0.0 && value < f64::INFINITY {
            return Ok(value);
        }
        Err(if value.is_finite() {
            MathError::NotPositive { what, index, value }
        } else {
            MathError::NonFinite { what, index, value }
        })
    }

    /// The number itself if it is finite and not below zero.
    ///
    /// # Errors
    /// [`MathError::NonFinite`] or [`MathError::Negative`], with the index given.
    #[inline]
    pub fn check_not_negative(what: &'static str, index: usize, value: f64) -> Result<f64, MathError> {
        if !value.is_finite() {
            return Err(MathError::NonFinite { what, index, value });
        }
        if value < 0.0 {
            return Err(MathError::Negative { what, index, value });
        }
        Ok(value)
    }
}
