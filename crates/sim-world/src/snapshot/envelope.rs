//! Kind, version and checksum around the bytes of a snapshot.
//!
//! ```text
//! kind length u8 · kind · version u32 LE · checksum of the payload u64 LE · payload (postcard)
//! ```

use crate::WorldError;
use sim_traits::BodyId;
use thiserror::Error;
#[cfg(feature = "serde")]
use {
    sim_traits::FixedState,
    std::hash::{BuildHasher, Hasher},
};

/// Why nothing was saved or restored.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The crate was built without feature `serde`.
    #[error("snapshots need feature `serde`")]
    NoSerde,
    /// A controller is acting: nobody saves from inside it.
    #[error("a controller is acting")]
    Acting,
    /// Bytes of another kind.
    #[error("a snapshot of kind {found:?}, not {expected:?}")]
    Kind {
        /// What was asked for.
        expected: &'static str,
        /// What the bytes say.
        found: String,
    },
    /// Bytes of another version.
    #[error("version {found} of kind {kind:?}, not {expected}")]
    Version {
        /// Which kind.
        kind: &'static str,
        /// What this program writes and reads.
        expected: u32,
        /// What the bytes say.
        found: u32,
    },
    /// The bytes are damaged.
    #[error("damaged snapshot: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// A shape, script or force field that has no form as data, and no name in the registry.
    #[error("{body}: {what} {name:?} is not in the registry")]
    Unregistered {
        /// Which body.
        body: BodyId,
        /// Shape, script or force field.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A kind of controller that is neither built in nor in the registry.
    #[error("controller of kind {kind:?} is not in the registry")]
    UnknownKind {
        /// Its kind.
        kind: String,
    },
    /// The snapshot does not fit what it is loaded into.
    #[error("the snapshot is of another {what}")]
    Mismatch {
        /// What differs.
        what: &'static str,
    },
    /// Numbers that no world has.
    #[error(transparent)]
    World(#[from] WorldError),
}

#[cfg(feature = "serde")]
fn checksum(payload: &[u8]) -> u64 {
    let mut hasher = FixedState.build_hasher();
    hasher.write(payload);
    hasher.finish()
}

/// Puts data into bytes with kind and version.
///
/// # Errors
/// Data that cannot be written: a defect.
#[cfg(feature = "serde")]
pub fn seal<T: serde::Serialize>(kind: &str, version: u32, data: &T) -> Result<Vec<u8>, SnapshotError> {
    let payload =
        postcard::to_allocvec(data).map_err(|_| SnapshotError::Damaged { what: "data cannot be written" })?;
    let mut bytes = Vec::with_capacity(payload.len() + kind.len() + 16);
    bytes.push(kind.len() as u8);
    bytes.extend_from_slice(kind.as_bytes());
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&checksum(&payload).to_le_bytes());
    bytes.extend_from_slice(&payload);
    Ok(bytes)
}

/// Takes data out of bytes of a kind and version.
///
/// # Errors
/// Another kind or version; a checksum that is wrong; bytes that are no such data.
#[cfg(feature = "serde")]
pub fn open<T: serde::de::DeserializeOwned>(
    kind: &'static str,
    version: u32,
    bytes: &[u8],
) -> Result<T, SnapshotError> {
    let short = SnapshotError::Damaged { what: "too short" };
    let (&length, rest) = bytes.split_first().ok_or(short.clone())?;
    let (found, rest) = rest.split_at_checked(usize::from(length)).ok_or(short.clone())?;
    if found != kind.as_bytes() {
        let found = String::from_utf8_lossy(found).into_owned();
        return Err(SnapshotError::Kind { expected: kind, found });
    }
    let (number, rest) = rest.split_first_chunk::<4>().ok_or(short.clone())?;
    let found = u32::from_le_bytes(*number);
    if found != version {
        return Err(SnapshotError::Version { kind, expected: version, found });
    }
    let (sum, payload) = rest.split_first_chunk::<8>().ok_or(short)?;
    if u64::from_le_bytes(*sum) != checksum(payload) {
        return Err(SnapshotError::Damaged { what: "checksum" });
    }
    match postcard::take_from_bytes(payload) {
        Ok((data, [])) => Ok(data),
        Ok(_) => Err(SnapshotError::Damaged { what: "bytes left over" }),
        Err(_) => Err(SnapshotError::Damaged { what: "not this kind of data" }),
    }
}
