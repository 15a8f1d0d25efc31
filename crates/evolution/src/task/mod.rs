//! Tasks: what a creature is to do, and how well it did it.
//!
//! A task is one file: a world, a creature in it, rules, a measure. It evaluates by steps of simulation and by nothing else, so that an
//! evaluation is a function of genome and seed.

mod judge;
mod locomotion;

pub use judge::{Judge, Spent};
pub use locomotion::{Locomotion, LocomotionParams, Terms, Track};
