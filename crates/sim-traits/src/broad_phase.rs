//! Which boxes overlap: the seam between a world and its broad phase.

use crate::ids::{Pair, ProxyId};
use sim_math::{Aabb, glam::DVec3};
use std::{fmt::Debug, ops::ControlFlow};
use thiserror::Error;

/// Whether a box is expected to move. Two fixed boxes never form a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ProxyKind {
    /// Stays where it is; moving it is allowed but may be slow.
    Fixed,
    /// Moves often.
    Moving,
}

/// Input that a broad phase refuses; its state is then what it was before the call.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum BroadPhaseError {
    /// A box with a NaN corner or with min above max.
    #[error("{id}: invalid box, min {min}, max {max}", min = .aabb.min, max = .aabb.max)]
    InvalidBox {
        /// Whose box.
        id: ProxyId,
        /// The box as given.
        aabb: Aabb,
    },
    /// The id is in use.
    #[error("{id} is already present")]
    Duplicate {
        /// Which id.
        id: ProxyId,
    },
    /// The id is not in use.
    #[error("{id} is not present")]
    Unknown {
        /// Which id.
        id: ProxyId,
    },
    /// A batch whose two slices differ in length.
    #[error("batch of {ids} ids and {boxes} boxes")]
    BatchLength {
        /// Number of ids.
        ids: usize,
        /// Number of boxes.
        boxes: usize,
    },
}

impl BroadPhaseError {
    /// `Ok` for a box that every broad phase must accept.
    ///
    /// # Errors
    /// [`BroadPhaseError::InvalidBox`] naming the id and the box.
    #[inline]
    pub fn check_box(id: ProxyId, aabb: &Aabb) -> Result<(), Self> {
        if aabb.is_valid() { Ok(()) } else { Err(Self::InvalidBox { id, aabb: *aabb }) }
    }
}

/// Pairs that began and ended since the last report, each list in the implementation's stated order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairChanges {
    /// Pairs that are reported now and were not before.
    pub begun: Vec<Pair>,
    /// Pairs that were reported before and are not now.
    pub ended: Vec<Pair>,
}

/// A ray from `origin` along `direction` (any non-zero length; `t` counts in its multiples).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// Start, metres.
    pub origin: DVec3,
    /// Direction.
    pub direction: DVec3,
    /// Largest `t` of interest; may be infinite.
    pub t_max: f64,
}

/// Finds pairs of boxes that may overlap.
///
/// **Contract.** Ids are chosen by the caller and boxes are closed (touching is overlapping). A *current pair* is
/// one that [`pairs`](Self::pairs) reports: every overlapping pair of which at least one is
/// [`ProxyKind::Moving`], each once; an implementation with [`is_exact`](Self::is_exact) reports no others.
/// Infinite boxes are legal. An `Err` leaves everything as it was; a batch is applied as a whole or not at all.
///
/// **Determinism.** Output is a function of the sequence of calls since construction, in an order that the
/// implementation documents.
///
/// The conformance kit is `sim_traits::testkit::broad_phase`.
pub trait BroadPhase: Debug + Send + Sync {
    /// Adds a box.
    ///
    /// # Errors
    /// Invalid box, or the id is in use.
    fn insert(&mut self, id: ProxyId, kind: ProxyKind, aabb: &Aabb) -> Result<(), BroadPhaseError>;

    /// Removes a box and, with it, its pairs (which the next report of changes lists as ended).
    ///
    /// # Errors
    /// The id is not in use.
    fn remove(&mut self, id: ProxyId) -> Result<(), BroadPhaseError>;

    /// Moves or resizes boxes, one batch per step. An id may occur more than once; the last box counts.
    ///
    /// # Errors
    /// Lengths differ, an id is not in use, or a box is invalid: nothing is changed then.
    fn update(&mut self, ids: &[ProxyId], boxes: &[Aabb]) -> Result<(), BroadPhaseError>;

    /// Replaces `out` by all current pairs.
    fn pairs(&mut self, out: &mut Vec<Pair>);

    /// Replaces `out` by the changes since the last call of this method (since construction for the first).
    ///
    /// Played on the earlier list of pairs the changes give the present one. A pair whose box is removed and
    /// inserted again in between may show as ended and begun, or not at all.
    fn pair_changes(&mut self, out: &mut PairChanges);

    /// Calls `visit` for every box that overlaps `aabb` (and no other, if exact) until it breaks.
    fn visit_box(&self, aabb: &Aabb, visit: &mut dyn FnMut(ProxyId) -> ControlFlow<()>);

    /// Calls `visit` for every box that the ray meets (and no other, if exact). The visitor returns the new
    /// largest `t`, by which it can shorten the ray: boxes beyond it may then be left out.
    fn visit_ray(&self, ray: &Ray, visit: &mut dyn FnMut(ProxyId) -> f64);

    /// Number of boxes.
    fn len(&self) -> usize;

    /// True if there is no box.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if pairs and visits are exactly those of the boxes given, false if there may be more.
    fn is_exact(&self) -> bool;
}
