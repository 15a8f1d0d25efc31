//! Files that a command writes: all of them whole, or none.

use crate::CliError;
use std::{
    ffi::OsString,
    io::ErrorKind,
    path::{Path, PathBuf},
};

fn fail(path: &Path, source: std::io::Error) -> CliError {
    CliError::Write { path: path.display().to_string(), source }
}

fn refuse(path: &Path, kind: ErrorKind, what: impl Into<String>) -> CliError {
    fail(path, std::io::Error::new(kind, what.into()))
}

/// Looks whether a file could be written, before something takes long: its folder must be there, and it must not be one.
///
/// # Errors
/// [`CliError::Write`] with the path.
pub fn can_write(path: &Path) -> Result<(), CliError> {
    let folder = folder(path);
    if !folder.is_dir() {
        let what = format!("there is no folder {}", folder.display());
        return Err(refuse(path, ErrorKind::NotFound, what));
    }
    if path.is_dir() {
        return Err(refuse(path, ErrorKind::IsADirectory, "it is a folder"));
    }
    Ok(())
}

/// As [`can_write`] for all files of a command, which must be different files and none of those that it reads.
///
/// # Errors
/// [`CliError::Write`] with the path.
pub fn can_write_all<'p>(
    outputs: impl IntoIterator<Item = &'p Path>,
    inputs: &[impl AsRef<Path>],
) -> Result<(), CliError> {
    let read: Vec<PathBuf> = inputs.iter().filter_map(|input| input.as_ref().canonicalize().ok()).collect();
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in outputs {
        can_write(path)?;
        let place = place(path);
        if read.contains(&place) {
            return Err(refuse(path, ErrorKind::AlreadyExists, "it is what is read"));
        }
        if seen.contains(&place) {
            return Err(refuse(path, ErrorKind::AlreadyExists, "it is given for two outputs"));
        }
        seen.push(place);
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// One name for one file, whether it is there or not.
fn place(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| match (folder(path).canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    })
}

/// Writes a file completely or not at all: first beside it, then in its place.
///
/// # Errors
/// [`CliError::Write`] with the path.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    write_files(&[(path, bytes)])
}

/// Writes all files, or none if one of them cannot be: all beside their places first, then each in its place. Only if the system refuses the last, a
/// change of names, do those that already have their place stay.
///
/// # Errors
/// [`CliError::Write`] with the path of the first that failed.
pub fn write_files(files: &[(&Path, &[u8])]) -> Result<(), CliError> {
    let beside: Vec<OsString> = files
        .iter()
        .map(|(path, _)| {
            let mut name = path.as_os_str().to_owned();
            name.push(".part");
            name
        })
        .collect();
    let written = (|| {
        for ((path, bytes), beside) in files.iter().zip(&beside) {
            std::fs::write(beside, bytes).map_err(|e| fail(path, e))?;
        }
        for ((path, _), beside) in files.iter().zip(&beside) {
            std::fs::rename(beside, path).map_err(|e| fail(path, e))?;
        }
        Ok(())
    })();
    if written.is_err() {
        // The error that matters is the first one.
        for beside in &beside {
            let _ = std::fs::remove_file(beside);
        }
    }
    written
}
