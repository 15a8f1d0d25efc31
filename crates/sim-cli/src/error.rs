//! What can go wrong in a command.

use scene::{RecordingError, SceneError};
use thiserror::Error;

/// Why a command failed; the text is for a person.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CliError {
    /// A scene that is wrong.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A run that could not go on.
    #[error("the run failed: {0}")]
    Run(SceneError),
    /// The recording cannot be read.
    #[error("{path}: {source}")]
    Recording {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        source: RecordingError,
    },
    /// A frame cannot be read.
    #[error(transparent)]
    Frame(#[from] RecordingError),
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Where it was to be.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The recording has no frames.
    #[error("the recording has no frames")]
    Empty,
    /// An argument that cannot be.
    #[error("{item}: {what}")]
    Argument {
        /// Its name.
        item: String,
        /// What is wrong, with the value.
        what: String,
    },
    /// A picture or model cannot be encoded.
    #[error("cannot encode: {0}")]
    Encode(String),
}

impl CliError {
    /// Exit code of the program: 1 if a run failed, 2 if what was given is wrong.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Run(_) => 1,
            _ => 2,
        }
    }
}
