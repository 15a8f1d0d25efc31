//! Saving a world and continuing it elsewhere, to the bit.
//!
//! | file | concern |
//! |---|---|
//! | `envelope` | kind, version and checksum around the bytes |
//! | `registry` | shapes and scripts that have no form as data |
//! | `data` | a world as plain data, and the checks on the way back |

#[cfg(feature = "serde")]
mod data;
mod envelope;
mod registry;
#[cfg(feature = "serde")]
mod tree;

pub use envelope::SnapshotError;
#[cfg(feature = "serde")]
pub use envelope::{open, seal};
pub use registry::Registry;

use crate::World;

/// Version of the format of worlds.
#[cfg(feature = "serde")]
const VERSION: u32 = 6;
#[cfg(feature = "serde")]
const KIND: &str = "world";

impl World {
    /// Everything that influences the continuation, as bytes. Needs feature `serde`.
    ///
    /// Bit-identical continuation also needs the tables of the stepper: see [`Stepper::save`](crate::Stepper::save).
    ///
    /// # Errors
    /// A custom shape or a script that is neither built in nor in the registry, naming the body; feature `serde` is off.
    pub fn snapshot(&self, registry: &Registry) -> Result<Vec<u8>, SnapshotError> {
        #[cfg(feature = "serde")]
        {
            seal(KIND, VERSION, &data::WorldData::of(self, registry)?)
        }
        #[cfg(not(feature = "serde"))]
        {
            let _ = registry;
            Err(SnapshotError::NoSerde)
        }
    }

    /// The world that was saved.
    ///
    /// # Errors
    /// Bytes of another kind or version, damaged ones, numbers that no world has, names that the registry does not know.
    pub fn restore(bytes: &[u8], registry: &Registry) -> Result<Self, SnapshotError> {
        #[cfg(feature = "serde")]
        {
            let data: data::WorldData = open(KIND, VERSION, bytes)?;
            data.world(registry)
        }
        #[cfg(not(feature = "serde"))]
        {
            let _ = (bytes, registry);
            Err(SnapshotError::NoSerde)
        }
    }
}
