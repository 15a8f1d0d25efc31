//! Fixed steps of time, all contacts of an island solved together.
//!
//! | file | concern |
//! |---|---|
//! | `params` | tunables |
//! | `trails` | how far bodies have come since something was found of them |
//! | `detect` | boxes and pairs |
//! | `watched` | one pair: its contacts within reach of a step |
//! | `sites` | contact points as rows, for contact laws |
//! | `patches` | manifolds kept for the soft solver |
//! | `soft` | a step with soft contacts |
//! | `flight` | velocities without contact, and the pieces that bodies are put on |
//! | `forces` | springs, drag and torques |
//! | `impact` | bounces, at the time at which they happen |
//! | `turning` | steps cut where bodies turn far |
//! | `rest` | piles that the impulses of the step before hold still |
//! | `contact` | the contact problem of a step |
//! | `correct` | overlaps opened without touching velocities |
//! | `sleep` | islands that lie still |
//! | `normals` | normals that know their neighbours |
//! | `notice` | contact events, forces, sensors |
//! | `saved` | tables as bytes |
//! | `stepper` | the loop |

mod contact;
mod correct;
mod detect;
mod flight;
mod forces;
mod impact;
mod normals;
mod notice;
mod params;
mod patches;
mod rest;
mod saved;
mod sites;
mod sleep;
mod soft;
mod stepper;
mod trails;
mod turning;
mod watched;

pub use params::{Stabilization, TimeSteppingParams};
pub use sleep::TimeSleepParams;
pub use stepper::{ContactMethod, Stage, TimeParts, TimeStepping};
