//! Scenes as text: RON, or JSON with the same names.
//!
//! | module | what it does |
//! |---|---|
//! | [`model`], [`body`], [`joint`], [`shape`] | what can be written, as plain types |
//! | [`text`] | text to [`Scene`] and back, errors with place |
//! | [`mod@load`] | files, includes, limits |
//!
//! `docs/scene-format.md` lists every field with its unit and default.

pub mod body;
pub mod error;
pub mod joint;
pub mod load;
pub mod model;
pub mod shape;
pub mod text;
pub mod vector;

mod suggest;

pub use body::{BodySpec, KindSpec, MotionSpec, RepeatSpec, RotationSpec};
pub use error::SceneError;
pub use load::{Disk, Files, Loaded, Memory, load};
pub use model::{Scene, StepperSpec};
pub use shape::{PartSpec, ShapeSpec};
pub use suggest::nearest;
pub use vector::Triple;

/// For serde: leave out what need not be written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
