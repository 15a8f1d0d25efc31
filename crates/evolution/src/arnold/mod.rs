//! Arnold's animals: an ellipsoid with two or three pairs of limbs, driven by functions of time given as spectra.
//!
//! | file | part |
//! |---|---|
//! | `spectrum` | functions of time as a few Fourier coefficients |
//! | `creature` | the genome: body and drives |
//! | `body_plan` | what grows from it: parts, joints, masses |

mod body_plan;
mod creature;
mod spectrum;

pub use body_plan::{BodyPlan, Form, Part};
pub use creature::{Creature, CreatureDesign, LimbPair};
pub use spectrum::{Course, Spectrum, SpectrumDesign};
