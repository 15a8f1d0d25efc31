//! Files of the engine: what goes in and what comes out.
//!
//! | module | what it does |
//! |---|---|
//! | [`format`](mod@format) | scenes as text: types, RON and JSON, includes, errors with file and path |
//! | [`lower`] | a scene as a world, with stepper, parts and controllers |
//! | [`mesh`] | OBJ and STL |
//! | [`run`] | a scene on its way |
//! | [`builtin`] | scenes that come with the crate |
//! | [`recording`] | a run as frames, compact enough for a web page |
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests state exact results on purpose"))]

pub mod builtin;
pub mod format;
pub mod lower;
pub mod mesh;
pub mod recording;
pub mod run;

pub use format::{Scene, SceneError};
pub use recording::{Frame, Recorder, Recording, RecordingError};
