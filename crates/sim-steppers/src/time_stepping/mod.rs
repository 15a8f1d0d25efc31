//! Fixed steps of time, all contacts of an island solved together.
//!
//! | file | concern |
//! |---|---|
//! | `params` | tunables |
//! | `detect` | boxes, pairs, contacts within reach of a step |
//! | `flight` | velocities without contact, and the pieces that bodies are put on |
//! | `forces` | springs, drag and torques |
//! | `impact` | bounces, at the time at which they happen |
//! | `contact` | the contact problem of a step |
//! | `correct` | overlaps opened without touching velocities |
//! | `notice` | contact events, forces, sensors |
//! | `saved` | tables as bytes |
//! | `stepper` | the loop |

mod contact;
mod correct;
mod detect;
mod flight;
mod forces;
mod impact;
mod notice;
mod params;
mod saved;
mod stepper;

pub use params::{Stabilization, TimeSteppingParams};
pub use stepper::{Stage, TimeParts, TimeStepping};
