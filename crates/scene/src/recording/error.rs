//! What can be wrong with a recording or with what is recorded.

use thiserror::Error;

/// Why a recording could not be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// Reading or writing failed.
    #[error("{what}: {source}")]
    Io {
        /// What was done.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The file is not a recording, or of another version.
    #[error("not a recording: the file does not begin with `tumble1`")]
    NotARecording,
    /// The file ends in the middle.
    #[error("truncated at byte {at}: {what}")]
    Truncated {
        /// Position in the file, bytes.
        at: usize,
        /// What is missing.
        what: String,
    },
    /// The bytes are there but make no sense.
    #[error("corrupt at byte {at}: {what}")]
    Corrupt {
        /// Position of the record in the file, bytes.
        at: usize,
        /// What is wrong.
        what: String,
    },
    /// Something that was to be recorded cannot be.
    #[error("{item}: {what}")]
    Invalid {
        /// Which header field, shape, body or contact.
        item: String,
        /// What is wrong with it, with the value.
        what: String,
    },
    /// There is no such frame.
    #[error("frame {index} of {count}")]
    NoFrame {
        /// Asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
}

/// Shorthand for [`RecordingError::Invalid`].
pub(crate) fn invalid(item: impl Into<String>, what: impl Into<String>) -> RecordingError {
    RecordingError::Invalid { item: item.into(), what: what.into() }
}
