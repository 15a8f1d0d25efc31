//! What can go wrong in a command.

use scene::{RecordingError, SceneError};
use std::path::Path;
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

/// Looks whether a file could be written, before something takes long: its folder must be there, and it must not be one.
///
/// # Errors
/// [`CliError::Write`] with the path.
pub fn can_write(path: &Path) -> Result<(), CliError> {
    let fail = |kind: std::io::ErrorKind, what: &str| CliError::Write {
        path: path.display().to_string(),
        source: std::io::Error::new(kind, what.to_owned()),
    };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let what = format!("there is no folder {}", folder.display());
        return Err(fail(std::io::ErrorKind::NotFound, &what));
    }
    if path.is_dir() {
        return Err(fail(std::io::ErrorKind::IsADirectory, "it is a folder"));
    }
    Ok(())
}

/// Writes a file completely or not at all: first beside it, then in its place.
///
/// # Errors
/// [`CliError::Write`] with the path.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let fail = |source| CliError::Write { path: path.display().to_string(), source };
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let written = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|source| {
        // The error that matters is the first one.
        let _ = std::fs::remove_file(&beside);
        fail(source)
    })
}
