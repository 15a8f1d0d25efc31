//! What the `sim` program does, for use from Rust.
//!
//! [`commands`] run scenes; the others make something of a recording:
//!
//! | module | makes of a recording |
//! |---|---|
//! | [`page`] | one web page that plays it without a network |
//! | [`gltf`] | an animated model for any glTF viewer |
//! | [`still`] | a picture, without a browser or a graphics card |
//! | [`server`] | the page on a port of this machine, while the run goes on |
//!
#![doc = include_str!("../README.md")]

pub mod commands;
mod error;
pub mod gltf;
mod look;
mod mesh;
mod output;
pub mod page;
pub mod server;
pub mod still;

pub use error::CliError;
pub use output::{can_write, can_write_all, write_file, write_files};
