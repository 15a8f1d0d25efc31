//! Why a search, a genome or a journal was refused.

use thiserror::Error;

/// Why a search or its settings were refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EvolutionError {
    /// A setting that makes no sense.
    #[error("{what} must be {must}, got {value}")]
    Setting {
        /// Which setting.
        what: &'static str,
        /// What it must be.
        must: &'static str,
        /// What it is.
        value: f64,
    },
    /// An outcome of a child that was not asked for, or that came twice.
    #[error("child {child} is not awaited")]
    NotAwaited {
        /// Its number.
        child: u64,
    },
    /// A genome that is none.
    #[error("{item}: {what} must be {must}, got {value}")]
    Genome {
        /// Which part, such as `limb pair 1`.
        item: String,
        /// Which number of it.
        what: &'static str,
        /// What it must be.
        must: &'static str,
        /// What it is.
        value: f64,
    },
    /// Bytes that are no such data.
    #[error("damaged {what}: {why}")]
    Damaged {
        /// Of what.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
}

impl EvolutionError {
    /// `Ok` if a setting is within its bounds.
    pub(crate) fn setting(
        good: bool,
        what: &'static str,
        must: &'static str,
        value: f64,
    ) -> Result<(), Self> {
        if good { Ok(()) } else { Err(Self::Setting { what, must, value }) }
    }
}
