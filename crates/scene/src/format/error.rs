//! What is wrong with a scene, and where.

use std::fmt;
use thiserror::Error;

/// One problem of a scene: file, place, and what is wrong there.
///
/// Shown as `file:line:column: path: problem`, as much of it as is known:
/// `pool.ron: bodies[2].shape.radius: must be positive, got -1`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct SceneError {
    /// File as the user named it.
    pub file: String,
    /// Line and column from 1, for problems of the text.
    pub line: Option<(usize, usize)>,
    /// Path of the value, such as `bodies[2].shape.radius`; empty for the file as a whole.
    pub path: String,
    /// What is wrong, with the value.
    pub problem: String,
}

impl SceneError {
    /// A problem of a whole file.
    #[must_use]
    pub fn file(file: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, path: String::new(), problem: problem.into() }
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.line {
            write!(f, ":{line}:{column}")?;
        }
        if !self.path.is_empty() {
            write!(f, ": {}", self.path)?;
        }
        write!(f, ": {}", self.problem)
    }
}

/// Shortest time between two acts, steps or windows, s.
pub(crate) const SHORTEST: f64 = 1e-6;

/// A number for a message: not three hundred digits.
pub(crate) fn short(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1e-5..1e7).contains(&value.abs());
    if plain { format!("{value}") } else { format!("{value:e}") }
}

/// A place in a scene while it is walked: file and path.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    file: String,
    path: String,
}

impl Place {
    pub(crate) fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), path: String::new() }
    }

    /// A field of the value here.
    pub(crate) fn field(&self, name: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self { file: self.file.clone(), path: format!("{}{dot}{name}", self.path) }
    }

    /// An item of the list here.
    pub(crate) fn item(&self, index: usize) -> Self {
        Self { file: self.file.clone(), path: format!("{}[{index}]", self.path) }
    }

    /// An entry of the map here.
    pub(crate) fn key(&self, key: &str) -> Self {
        Self { file: self.file.clone(), path: format!("{}[{key:?}]", self.path) }
    }

    /// `file: path`.
    pub(crate) fn name(&self) -> &str {
        &self.path
    }

    pub(crate) fn error(&self, problem: impl fmt::Display) -> SceneError {
        SceneError {
            file: self.file.clone(),
            line: None,
            path: self.path.clone(),
            problem: problem.to_string(),
        }
    }

    /// A number that must be positive and finite.
    pub(crate) fn positive(&self, name: &str, value: f64) -> Result<f64, SceneError> {
        self.finite(name, value)?;
        if value > 0.0 {
            Ok(value)
        } else {
            Err(self.field(name).error(format_args!("must be positive, got {}", short(value))))
        }
    }

    /// A time between two acts: positive, and long enough that a clock of many years still moves on.
    pub(crate) fn period(&self, name: &str, value: f64) -> Result<f64, SceneError> {
        self.positive(name, value)?;
        if value >= SHORTEST {
            Ok(value)
        } else {
            Err(self.field(name).error(format_args!(
                "must be at least {} s, got {}",
                short(SHORTEST),
                short(value)
            )))
        }
    }

    /// A number that must be finite and at most `limit`, for people.
    pub(crate) fn at_most(&self, name: &str, value: f64, limit: f64, unit: &str) -> Result<f64, SceneError> {
        if value <= limit {
            Ok(value)
        } else {
            let (limit, value) = (short(limit), short(value));
            Err(self.field(name).error(format_args!("must be at most {limit} {unit}, got {value}")))
        }
    }

    /// A number that must be finite and not negative.
    pub(crate) fn natural(&self, name: &str, value: f64) -> Result<f64, SceneError> {
        self.finite(name, value)?;
        if value >= 0.0 {
            Ok(value)
        } else {
            Err(self.field(name).error(format_args!("must not be negative, got {}", short(value))))
        }
    }

    /// A number that must be from 0 to 1.
    pub(crate) fn share(&self, name: &str, value: f64) -> Result<f64, SceneError> {
        self.natural(name, value)?;
        if value <= 1.0 {
            Ok(value)
        } else {
            Err(self.field(name).error(format_args!("must be at most 1, got {}", short(value))))
        }
    }

    /// A number that must be finite.
    pub(crate) fn finite(&self, name: &str, value: f64) -> Result<f64, SceneError> {
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.field(name).error(format_args!("must be finite, got {value}")))
        }
    }

    /// A vector that must be finite.
    pub(crate) fn vector(
        &self,
        name: &str,
        value: super::Triple,
    ) -> Result<sim_math::glam::DVec3, SceneError> {
        if value.0.is_finite() {
            Ok(value.0)
        } else {
            let [x, y, z] = value.0.to_array();
            Err(self.field(name).error(format_args!("must be finite, got ({x}, {y}, {z})")))
        }
    }

    /// A vector that must have a direction; normalised.
    pub(crate) fn direction(
        &self,
        name: &str,
        value: super::Triple,
    ) -> Result<sim_math::glam::DVec3, SceneError> {
        let v = self.vector(name, value)?;
        // Scaled first, so that tiny and huge vectors have a direction too.
        let largest = v.abs().max_element();
        match (v / largest).try_normalize() {
            Some(unit) if largest > 0.0 && unit.is_finite() => Ok(unit),
            _ => Err(self.field(name).error("must not be the zero vector")),
        }
    }

    /// A count from 1 to a limit.
    pub(crate) fn count(&self, name: &str, value: u64, limit: u64) -> Result<usize, SceneError> {
        if (1..=limit).contains(&value) {
            Ok(value as usize)
        } else {
            Err(self.field(name).error(format_args!("must be from 1 to {limit}, got {value}")))
        }
    }
}
