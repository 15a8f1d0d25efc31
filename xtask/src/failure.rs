//! Why a command ended badly, and with which exit code.

use std::fmt;

/// Exit code for a command line that was not understood.
pub(crate) const USAGE: u8 = 2;

/// A message for a person and the exit code of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What went wrong, and where possible what to do.
    pub(crate) message: String,
    /// Exit code of `xtask`; a failed child's own code where there is one.
    pub(crate) code: u8,
}

impl Failure {
    /// A check failed or something could not be read.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }

    /// The command line was wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: USAGE }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
