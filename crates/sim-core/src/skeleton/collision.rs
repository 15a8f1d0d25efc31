//! One collision through the seams: rows in, collision matrix and velocity out, impulse applied.

use super::{error::SkeletonError, impact_time::Hit};
use sim_math::{
    glam::{DMat3, DVec3},
    rotation::frame_from_normal,
};
use sim_traits::{ColumnsMut, Entry, PartId, Scratch, VelocitySystem};

/// A velocity system with its configuration and velocities.
#[derive(Debug)]
pub(super) struct SystemState {
    pub(super) system: Box<dyn VelocitySystem>,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
}

/// Where a member lives: which system, which part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seat {
    pub(super) system: usize,
    pub(super) part: PartId,
}

/// Buffers of a collision, kept between collisions.
#[derive(Debug, Default)]
pub(super) struct CollisionWorkspace {
    sides: [Side; 2],
    scratch: Scratch,
}

/// The rows as one of the systems sees them; the second side is empty when both members share a system.
#[derive(Debug, Default)]
struct Side {
    system: usize,
    rows: Vec<Entry>,
    responses: Vec<f64>,
}

/// Collision matrix and relative velocity in the contact frame, whose z axis is the normal.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContactDynamics {
    pub(super) k: DMat3,
    pub(super) velocity: DVec3,
}

impl CollisionWorkspace {
    /// Assembles K = J M⁻¹ Jᵀ and u = J v for a contact between two seats.
    pub(super) fn assemble(
        &mut self,
        systems: &mut [SystemState],
        seats: [Seat; 2],
        hit: &Hit,
    ) -> Result<ContactDynamics, SkeletonError> {
        let frame = frame_from_normal(hit.normal)?;
        for (side, seat) in self.sides.iter_mut().zip(seats) {
            side.rows.clear();
            side.system = seat.system;
        }
        for (k, (seat, sign)) in seats.into_iter().zip([1.0, -1.0]).enumerate() {
            let side = if seats[0].system == seats[1].system { 0 } else { k };
            self.sides[side].rows.extend(
                (0..3).map(|row| Entry::push(row, seat.part, hit.point, sign * frame.col(row as usize))),
            );
        }
        let (mut k, mut velocity) = ([[0.0; 3]; 3], [0.0; 3]);
        for side in self.sides.iter_mut().filter(|s| !s.rows.is_empty()) {
            let state = &mut systems[side.system];
            state.system.prepare(&state.q)?;
            let len = state.system.velocity_len();
            side.responses.resize(3 * len, 0.0);
            state.system.row_velocities(&state.v, &side.rows, &mut velocity)?;
            let mut columns = ColumnsMut::new(&mut side.responses, len)?;
            state.system.response(&side.rows, &mut self.scratch, &mut columns)?;
            for (column, k) in side.responses.chunks_exact(len).zip(&mut k) {
                state.system.row_velocities(column, &side.rows, k)?;
            }
        }
        Ok(ContactDynamics { k: DMat3::from_cols_array_2d(&k), velocity: DVec3::from_array(velocity) })
    }

    /// v += M⁻¹ Jᵀ p on both sides, for the contact assembled last.
    pub(super) fn apply(&self, systems: &mut [SystemState], impulse: DVec3) {
        for side in self.sides.iter().filter(|s| !s.rows.is_empty()) {
            let v = &mut systems[side.system].v;
            for (column, p) in side.responses.chunks_exact(v.len()).zip(impulse.to_array()) {
                v.iter_mut().zip(column).for_each(|(v, response)| *v += response * p);
            }
        }
    }
}
