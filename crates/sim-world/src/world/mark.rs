//! Which world this is, and how far its changes have been seen: by this a stepper knows its world again.

use super::World;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of a world among all that this process made. A clone is another world: it may go elsewhere from now on.
#[derive(Debug)]
pub(super) struct Identity(u64);

impl Identity {
    /// Of a new world. Numbers are only ever compared, so that who comes first has no influence on results.
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self::new()
    }
}

/// A world and the number of its changes, to be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    world: u64,
    revision: u64,
}

impl World {
    /// What a stepper keeps that has seen all changes.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { world: self.identity.0, revision: self.revision }
    }

    /// The mark before [`World::changes`]: a stepper that kept another one, or that left the world at another time, does not know this world and
    /// starts afresh.
    #[must_use]
    pub fn mark_before_changes(&self) -> Mark {
        Mark { revision: self.revision - self.changes.len() as u64, ..self.mark() }
    }
}
