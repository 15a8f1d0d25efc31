//! How velocities respond to impulses: the seam through which all contact physics reaches dynamics.
//!
//! A *system* is anything with velocities and inertia: the pool of free bodies, or one articulated tree. Contact
//! laws speak to it in rows. A row is a generalised direction, given as unit wrenches on parts of the system;
//! its velocity is J v, and an impulse λ along it changes the velocities by M⁻¹ Jᵀ λ. Collision matrices and
//! Delassus operators W = J M⁻¹ Jᵀ are built from these two calls alone, so every contact law works for
//! every kind of body.

use crate::ids::PartId;
use sim_math::{glam::DVec3, spatial::Force};
use std::fmt::Debug;
use thiserror::Error;

/// Why a dynamics routine gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum DynamicsError {
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
    /// A number is NaN or infinite.
    #[error("{what} {index} is not finite: {value}")]
    NonFinite {
        /// What kind of number.
        what: &'static str,
        /// Its position.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A part that the system does not have.
    #[error("{part} does not exist: the system has {count} parts")]
    UnknownPart {
        /// Which part was named.
        part: PartId,
        /// How many there are.
        count: usize,
    },
    /// A row beyond the output.
    #[error("entry {entry} names row {row}, but there are {rows} rows")]
    UnknownRow {
        /// Position of the entry.
        entry: usize,
        /// The row it names.
        row: u32,
        /// How many rows there are.
        rows: usize,
    },
    /// A system that is not in the list.
    #[error("entry {entry} names system {system}, but there are {systems} systems")]
    UnknownSystem {
        /// Position of the entry.
        entry: usize,
        /// The system it names.
        system: u32,
        /// How many systems there are.
        systems: usize,
    },
    /// A velocity that the system does not have.
    #[error("degree of freedom {dof} does not exist: the system has {count} velocities")]
    UnknownDof {
        /// Which one was named.
        dof: u32,
        /// How many there are.
        count: usize,
    },
    /// The inertia seen at a part cannot be inverted.
    #[error("{part}: singular inertia, pivot {pivot:e}")]
    Singular {
        /// Which part.
        part: PartId,
        /// The pivot that vanished.
        pivot: f64,
    },
    /// Used before [`VelocitySystem::prepare`] succeeded at the present configuration.
    #[error("the system is not prepared at this configuration")]
    NotPrepared,
}

/// A unit wrench on a part, contributing to a row. Entries with the same row add up: that is how two links
/// of one tree touch each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Which row.
    pub row: u32,
    /// Which part the wrench acts on.
    pub part: PartId,
    /// Reference point of the wrench in world coordinates, metres: the contact point.
    pub point: DVec3,
    /// Moment about `point` and force, world axes. (0; n) for a push along n, (n; 0) for spin about n.
    pub wrench: Force,
}

impl Entry {
    /// A push along `direction` at a world point.
    #[inline]
    #[must_use]
    pub fn push(row: u32, part: PartId, point: DVec3, direction: DVec3) -> Self {
        Self { row, part, point, wrench: Force::new(DVec3::ZERO, direction) }
    }
}

/// Columns of numbers in one caller-owned slice, column after column.
#[derive(Debug)]
pub struct ColumnsMut<'a> {
    data: &'a mut [f64],
    column_len: usize,
}

impl<'a> ColumnsMut<'a> {
    /// Splits `data` into columns of `column_len` numbers.
    ///
    /// # Errors
    /// The length of `data` is not a multiple of a non-zero `column_len`.
    pub fn new(data: &'a mut [f64], column_len: usize) -> Result<Self, DynamicsError> {
        let columns = data.len().checked_div(column_len).unwrap_or(0);
        if columns * column_len == data.len() {
            Ok(Self { data, column_len })
        } else {
            Err(DynamicsError::WrongLength {
                what: "columns",
                expected: columns * column_len,
                got: data.len(),
            })
        }
    }

    /// Number of columns.
    #[must_use]
    pub fn count(&self) -> usize {
        self.data.len().checked_div(self.column_len).unwrap_or(0)
    }

    /// Length of each column.
    #[must_use]
    pub fn column_len(&self) -> usize {
        self.column_len
    }

    /// Sets every number to zero.
    pub fn clear(&mut self) {
        self.data.fill(0.0);
    }

    /// Column `j`; empty if there is no such column.
    #[must_use]
    pub fn column(&mut self, j: usize) -> &mut [f64] {
        let start = j.saturating_mul(self.column_len);
        self.data.get_mut(start..start.saturating_add(self.column_len)).unwrap_or_default()
    }
}

/// Memory that a routine may use and keep between calls, so that a warmed-up step allocates nothing.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    buffer: Vec<f64>,
}

impl Scratch {
    /// `n` zeros; what they held before is lost.
    #[must_use]
    pub fn zeroed(&mut self, n: usize) -> &mut [f64] {
        self.buffer.clear();
        self.buffer.resize(n, 0.0);
        &mut self.buffer
    }
}

/// One object per system, not per body. Velocities are plain slices owned by the caller, so that two
/// systems can be changed at once.
///
/// **Contract.** Velocities are [`velocity_len`](Self::velocity_len) numbers in the system's own order. Prescribed
/// velocities (of a scripted base or body) are among them, and nothing responds there: J is one linear map, and a
/// fixed part is one whose velocity stays zero. J M⁻¹ Jᵀ is symmetric positive semi-definite.
///
/// **Determinism.** Functions of the configuration last prepared and of the arguments.
pub trait VelocitySystem: Debug + Send + Sync {
    /// Number of velocities, prescribed ones included.
    fn velocity_len(&self) -> usize;

    /// Number of configuration numbers.
    fn configuration_len(&self) -> usize;

    /// Number of parts.
    fn part_count(&self) -> usize;

    /// Computes what the other calls need at configuration `q`. On an error the system counts as not prepared.
    ///
    /// # Errors
    /// Wrong length, non-finite number, singular inertia.
    fn prepare(&mut self, q: &[f64]) -> Result<(), DynamicsError>;

    /// Adds J v to `out`, row by row: the caller clears it, and several systems may add to the same rows.
    ///
    /// # Errors
    /// Not prepared, wrong length, unknown part or row.
    fn row_velocities(&self, v: &[f64], rows: &[Entry], out: &mut [f64]) -> Result<(), DynamicsError>;

    /// Writes M⁻¹ Jᵀ, all rows in one call: column j is the change of velocities by a unit impulse along row j.
    /// [`row_velocities`](Self::row_velocities) of that column is column j of J M⁻¹ Jᵀ.
    ///
    /// # Errors
    /// Not prepared, wrong length, unknown part or row.
    fn response(
        &self,
        rows: &[Entry],
        scratch: &mut Scratch,
        out: &mut ColumnsMut<'_>,
    ) -> Result<(), DynamicsError>;

    /// Writes the change of velocities by a unit impulse on one velocity: joint limits and motors.
    ///
    /// # Errors
    /// Not prepared, wrong length, no such velocity.
    fn dof_response(&self, dof: u32, scratch: &mut Scratch, out: &mut [f64]) -> Result<(), DynamicsError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_refuse_a_length_that_does_not_divide() {
        let mut data = [0.0; 7];
        let error = ColumnsMut::new(&mut data, 3).unwrap_err();
        assert_eq!(error.to_string(), "columns has length 7, expected 6");
        let mut columns = ColumnsMut::new(&mut data[..6], 3).unwrap();
        columns.column(1)[0] = 5.0;
        assert!(columns.column(2).is_empty());
        assert_eq!(columns.count(), 2);
        assert_eq!(data[3], 5.0);
    }

    #[test]
    fn scratch_starts_at_zero_every_time() {
        let mut scratch = Scratch::default();
        scratch.zeroed(3)[1] = 4.0;
        assert_eq!(scratch.zeroed(5), [0.0; 5]);
    }
}
