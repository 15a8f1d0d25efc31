//! Meshes of OBJ and STL files.
//!
//! Only what a solid needs: points and faces. Readers are total: any bytes give a mesh or an error with the line or byte,
//! in memory in proportion to the file.

mod obj;
mod pieces;
mod stl;

pub use obj::read_obj;
pub use pieces::pieces;
pub use stl::{read_stl, write_stl};

use sim_math::glam::DVec3;
use thiserror::Error;

/// Most points or faces of a mesh.
pub const MAX_ITEMS: usize = 2_000_000;

/// Points and polygons.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mesh {
    /// Corners, in the units of the file.
    pub points: Vec<DVec3>,
    /// Indices of corners, at least three for each face, anticlockwise seen from outside.
    pub faces: Vec<Vec<u32>>,
}

/// Why a file is not a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A line of a text file.
    #[error("line {line}: {problem}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// The file as a whole.
    #[error("{0}")]
    File(String),
}

impl MeshError {
    fn line(line: usize, problem: impl Into<String>) -> Self {
        Self::Line { line, problem: problem.into() }
    }
}

/// Reads a mesh by the ending of the file name, `.obj` or `.stl`.
///
/// # Errors
/// Another ending, or what the readers say.
pub fn read(name: &str, bytes: &[u8]) -> Result<Mesh, MeshError> {
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "obj" => read_obj(bytes),
        "stl" => read_stl(bytes),
        _ => Err(MeshError::File(format!("`.{ending}` is no mesh format, known are .obj and .stl"))),
    }
}

/// A number of a text mesh.
fn number(word: Option<&str>, line: usize) -> Result<f64, MeshError> {
    let word = word.ok_or_else(|| MeshError::line(line, "a number is missing"))?;
    match word.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => {
            let shown: String = word.chars().take(40).collect();
            Err(MeshError::line(line, format!("`{shown}` is not a finite number")))
        }
    }
}
