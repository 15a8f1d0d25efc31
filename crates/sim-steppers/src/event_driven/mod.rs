//! From collision to collision, each at its exact time; resting contact as micro-collisions.
//!
//! | file | concern |
//! |---|---|
//! | `params` | tunables |
//! | `pairs` | the table of active pairs, and who is in which |
//! | `lifetimes` | which pairs are watched, and for how long |
//! | `look` | poses, distance and closing speed of a pair at a time |
//! | `hull` | convex parts of colliders |
//! | `turning` | how fast convex parts turn, by their symmetry |
//! | `near` | bounds for shapes that are not convex, by their parts |
//! | `close` | travel bounds that know where the closest points are |
//! | `predict` | lower bounds of impact times, renewed without a new distance |
//! | `locate` | the root of the distance of a fast impact |
//! | `halting` | bodies at rounding distance that neither part nor collide |
//! | `respond` | impulses of one pair: micro or ordinary, at one contact or at all |
//! | `strike` | several contacts of a pair that hit at one time, as one impact |
//! | `phase` | impulses of all contacts that one collision makes approach: improved handling |
//! | `touch` | one contact of such a phase |
//! | `lend` | energy that phases lend, and the books of their impulses |
//! | `sense` | sensors, and what is listed of contacts |
//! | `sleep` | islands that fall asleep and wake up |
//! | `quarantine` | bodies whose state stops being finite |
//! | `saved` | tables as bytes |
//! | `boxes` | swept boxes, windows, the broad phase |
//! | `clusters` | bodies under forces |
//! | `control` | timers and controllers |
//! | `sync` | changes by the user |
//! | `check` | a look at a pair that may collide now, and what follows |
//! | `state` | what events read and write, as structs |
//! | `stepper` | the event loop |

mod boxes;
mod check;
mod close;
mod clusters;
mod control;
mod halting;
mod hull;
mod lend;
mod lifetimes;
mod locate;
mod look;
mod near;
mod pairs;
mod params;
mod phase;
mod predict;
mod quarantine;
mod respond;
mod saved;
mod sense;
mod sleep;
mod state;
mod stepper;
mod strike;
mod sync;
mod touch;
mod turning;

pub use params::{ContactHandling, EventDrivenParams, Micro};
pub use sleep::SleepParams;
pub use stepper::EventDriven;

/// Sizes of a body and a contact in a collision phase, bytes.
#[cfg(test)]
pub(crate) const SIZES: [usize; 2] = [size_of::<touch::Member>(), size_of::<touch::Touch>()];
