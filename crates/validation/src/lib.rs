//! Scenes whose answer is known, each run under every method that applies, with the error of every number.
//!
//! ```
//! let top = validation::scene("torque-free top").expect("it is in the list");
//! for row in top.rows()? {
//!     assert!(row.holds(), "{row}");
//! }
//! # Ok::<(), validation::Failed>(())
//! ```
//!
//! A scene is one file in `src/scenes`: a function that runs it and returns a [`Row`] for each number, beside the
//! closed form or the published figure it is compared with. Its test asserts every row, and `cargo xtask validate`
//! writes all rows to `docs/validation.md`.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests fail by panicking"))]

mod methods;
mod row;
mod scenes;
mod table;

pub use row::{Bound, Row};
pub use scenes::{SCENES, scene};
pub use table::{Outcome, markdown};

/// Why a scene could not be run to its end; whatever part of the engine refused says so.
pub type Failed = Box<dyn std::error::Error + Send + Sync>;

/// One scene with a known answer.
#[derive(Debug, Clone, Copy)]
pub struct Scene {
    /// Short name, unique.
    pub name: &'static str,
    /// What happens, and where the reference comes from, in a sentence or two.
    pub about: &'static str,
    run: fn() -> Result<Vec<Row>, Failed>,
}

impl Scene {
    /// Runs the scene under every method that applies.
    ///
    /// # Errors
    /// A part of the engine gave no answer.
    pub fn rows(&self) -> Result<Vec<Row>, Failed> {
        (self.run)()
    }
}

/// Runs a scene and asserts that every row holds: what each scene's test does.
#[cfg(test)]
fn assert_holds(scene: &Scene) {
    let rows = scene.rows().unwrap();
    assert!(!rows.is_empty(), "{} measures nothing", scene.name);
    for row in &rows {
        println!("{row}");
    }
    for row in &rows {
        assert!(row.holds(), "{}: {row}", scene.name);
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
