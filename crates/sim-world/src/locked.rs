//! Axes of the world along or about which a body does not move: planar worlds, bodies that do not turn.

use crate::{error::WorldError, stepper::StepError, world::World};
use sim_traits::BodyId;

/// Axes of the world along or about which a free body does not move. The default locks none.
///
/// A stepper holds them as it holds joints: velocities along and about them are zero at the end of every step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LockedAxes {
    /// Along x, y, z.
    pub translations: [bool; 3],
    /// About x, y, z.
    pub rotations: [bool; 3],
}

impl LockedAxes {
    /// Motion in the plane across an axis of the world (0 for x, 1 for y, 2 for z): the bodies of a two-dimensional world.
    #[must_use]
    pub fn plane(normal: usize) -> Self {
        let across = [0, 1, 2].map(|axis| axis == normal);
        Self { translations: across, rotations: across.map(|along| !along) }
    }

    /// A body that does not turn.
    #[must_use]
    pub fn upright() -> Self {
        Self { translations: [false; 3], rotations: [true; 3] }
    }

    /// True if nothing is locked.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl World {
    /// Locks axes of a free body, and frees all others: from the next advance on. Sleepers wake.
    ///
    /// # Errors
    /// There is no such body, or it is not free.
    pub fn set_locked_axes(&mut self, id: BodyId, axes: LockedAxes) -> Result<(), WorldError> {
        let body = self.body(id)?;
        if !body.is_free() || body.tree().is_some() {
            return Err(WorldError::NotFree { body: id, what: "it has no axes to lock" });
        }
        self.lock(id, axes)
    }

    /// True if a body may have locked axes. Quick.
    #[inline]
    #[must_use]
    pub fn has_locked_axes(&self) -> bool {
        self.locked
    }

    /// `Ok` if no body has locked axes: for steppers that do not know them.
    ///
    /// # Errors
    /// [`StepError::Unsupported`] for the first body that has.
    pub fn refuse_locked_axes(&self, what: &'static str) -> Result<(), StepError> {
        if !self.locked {
            return Ok(());
        }
        match self.bodies().find(|(_, body)| !body.locked_axes().is_none()) {
            Some((body, _)) => Err(StepError::Unsupported { body, what }),
            None => Ok(()),
        }
    }
}
