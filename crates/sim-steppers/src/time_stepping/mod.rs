//! Fixed steps of time, all contacts of an island solved together.
//!
//! | file | concern |
//! |---|---|
//! | `params` | tunables |
//! | `travel` | how far bodies have come since something was found of them |
//! | `detect` | boxes and pairs |
//! | `candidate` | one pair: its contacts within reach of a step |
//! | `sites` | contact points as rows, for contact laws |
//! | `patches` | manifolds kept for the soft solver |
//! | `soft` | a step with soft contacts |
//! | `missed` | hits that the soft solver missed |
//! | `look` | when two bodies on given courses are hit |
//! | `turning` | bodies in soft contact turn as Euler's equations say |
//! | `guard` | soft contacts give no energy |
//! | `flight` | velocities without contact, and the pieces that bodies are put on |
//! | `forces` | springs, muscles, servos and drag as blocks of the problem; other forces |
//! | `impact` | bounces, at the time at which they happen |
//! | `struck` | contacts that bodies reach with the velocities that contacts gave them |
//! | `foresee` | steps shortened where bodies that turn would sink in deep |
//! | `turn_limit` | steps cut where bodies turn far |
//! | `rest` | piles that the impulses of the step before hold still |
//! | `contact` | the contact problem of a step |
//! | `joined` | joints as blocks of the problem |
//! | `traction` | rolling and torsional friction as blocks, surfaces that move |
//! | `trees` | trees of joints, whose links are bodies |
//! | `restrain` | impulses of a law that gave up give no energy |
//! | `correct` | overlaps opened without touching velocities |
//! | `repay` | what that lifts is paid for by motion |
//! | `sleep` | islands that lie still |
//! | `normals` | normals that know their neighbours |
//! | `contact_events` | contact events, forces, sensors |
//! | `quarantine` | bodies whose numbers cannot be gone on with |
//! | `saved` | tables as bytes |
//! | `state` | what a step reads and writes, as structs |
//! | `stepper` | the loop |

mod candidate;
mod contact;
mod contact_events;
mod correct;
mod detect;
mod flight;
mod forces;
mod foresee;
mod guard;
mod impact;
mod joined;
mod look;
mod missed;
mod normals;
mod params;
mod patches;
mod quarantine;
mod repay;
mod rest;
mod restrain;
mod saved;
mod sites;
mod sleep;
mod soft;
mod state;
mod stepper;
mod struck;
mod traction;
mod travel;
mod trees;
mod turn_limit;
mod turning;

pub use params::{Stabilization, TimeSteppingParams};
pub use sleep::TimeSleepParams;
pub use stepper::{Stage, TimeStepping};

/// Sizes of a body and a contact in a step, bytes.
#[cfg(test)]
pub(crate) const SIZES: [usize; 2] = [size_of::<flight::BodyStep>(), size_of::<sites::Site>()];
